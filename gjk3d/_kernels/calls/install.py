"""Replacement of Python functions, methods and fields by builtins.

Without machine code, or if `is_usable` returns False, nothing is replaced. Each builtin has 64-bit words in memory for
the addresses and integers that it needs. If a builtin replaces a function, its first word is the address of that
function.
"""

from __future__ import annotations

import ctypes
import inspect
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from gjk3d._kernels.calls import object_faults, offset
from gjk3d._kernels.calls.assembly import FASTCALL, KEYWORDS, Method, Place, alive
from gjk3d._kernels.decorators import MODE, Builtin

Words = Callable[[], Sequence[Any]]  #: function that returns the objects and integers for the words after the first


class _GetSet(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("get", ctypes.c_void_p), ("set", ctypes.c_void_p), ("doc", ctypes.c_char_p),
        ("words", ctypes.c_void_p),
    )  # fmt: skip


@cache
def is_usable() -> bool:
    """Return whether builtins are used: they are switched on, and objects have the layout that `calls` describes."""
    return MODE == "object" and os.environ.get("GJK3D_BUILTINS", "1") not in ("0", "") and not object_faults()


def function(by: Builtin, words: Words) -> Callable[[Any], Any]:
    """Return a decorator that replaces a function by the builtin ``by``.

    The builtin passes unsupported calls to the function that it replaces. If such a call has no keywords, the function
    is called without its decorators. The undecorated function is an additional word, after those of ``words``.
    """

    def decorate(slow: Any) -> Any:
        code = _fill(by, slow, lambda: [*words(), inspect.unwrap(slow)])
        if code is None:
            return slow
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        return new(_definition(slow, code, False), None, id(slow.__module__))

    return decorate


def methods(cls: type, by: dict[str, tuple[Builtin, Words]]) -> None:
    """Replace methods of a class by builtins. ``by`` maps a method's name to its builtin and the builtin's words."""
    new = ctypes.pythonapi.PyDescr_NewMethod
    new.restype, new.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
    for name, (builtin, words) in by.items():
        slow = cls.__dict__[name]
        code = _fill(builtin, slow, words)
        if code is not None:
            setattr(cls, name, new(cls, _definition(slow, code, True)))


def fields(cls: type, get: Builtin, set_: Builtin, words: Callable[[], dict[str, list[Any]]]) -> bool:
    """Replace slots of a class by getters and setters; return whether builtins are used.

    ``words`` returns the names of the slots, and further words for each slot. The first two words of a slot are its
    offset and its name.
    """
    reader, writer = _place(get), _place(set_)
    if reader is None or writer is None:
        return False
    new = ctypes.pythonapi.PyDescr_NewGetSet
    new.restype, new.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
    for name, more in words().items():
        block = (ctypes.c_int64 * (2 + len(more)))(*map(_word, (offset(cls, name), name, *more)))
        definition = _GetSet(name.encode(), reader.code, writer.code, None, ctypes.addressof(block))
        alive.extend((block, definition))
        setattr(cls, name, new(cls, ctypes.addressof(definition)))
    return True


def _place(by: Builtin) -> Place | None:
    """Return the addresses of a builtin, or None without machine code or if builtins are not used."""
    from gjk3d._kernels import late

    return late.builtin(by.name) if is_usable() else None


def _fill(by: Builtin, slow: Any, words: Words) -> int | None:
    """Write the words of a builtin; return the address of its code, or None if builtins are not used."""
    place = _place(by)
    if place is None:
        return None
    for k, value in enumerate((slow, *words())):
        ctypes.c_int64.from_address(place.words + 8 * k).value = _word(value)
    return place.code


def _word(value: Any) -> int:
    """Return an integer unchanged, or the address of another object, which is kept alive."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    alive.append(value)
    return id(value)


def _definition(slow: Any, code: int, is_method: bool) -> int:
    """Return the address of a new ``PyMethodDef`` with the signature and the docstring of a Python function."""
    parameters = inspect.signature(slow).parameters.values()
    texts = [_as_text(parameter) for parameter in parameters]
    if is_method:
        texts[0] = "$self"
    keywords = [parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters]
    if any(keywords):
        texts.insert(keywords.index(True), "*")
    doc = f"{slow.__name__}({', '.join(texts)})\n--\n\n{inspect.getdoc(slow) or ''}"
    definition = Method(slow.__name__.encode(), code, FASTCALL | KEYWORDS, doc.encode())
    alive.append(definition)
    return ctypes.addressof(definition)


def _as_text(parameter: inspect.Parameter) -> str:
    """Return a parameter without its annotation as text for a signature in C. Infinity is written as 1e999."""
    default = parameter.default
    if default is parameter.empty:
        return parameter.name
    return f"{parameter.name}={'1e999' if default == np.inf else repr(default)}"
