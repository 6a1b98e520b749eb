"""Give CPython the functions of an object file, and put builtins in the place of Python functions, methods and fields.

Functions and methods are CPython's own kinds, so a call costs as much as a call of ``len``. An entry keeps the
interpreter's lock while it reads its arguments, and releases it while the kernel runs. LLVM's linker alone loads the
file.

Builtins are used if `is_usable`. Otherwise the Python functions stay, as they do until there is machine code. Each
builtin has words of memory for the values that it needs. The first is the Python function behind it.
"""

from __future__ import annotations

import ctypes
import inspect
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d._kernels.calls import CONSTANTS, object_faults, offset
from gjk3d._kernels.calls.assembly import CONSTANTS_AT, symbol_of, words_of
from gjk3d._kernels.decorators import MODE, Builtin

if TYPE_CHECKING:
    from gjk3d._kernels.store import Built

_FASTCALL, _KEYWORDS = 0x80, 0x2  # METH_FASTCALL, METH_KEYWORDS
_NEW_ARRAY = 93  #: place of ``PyArray_New`` in numpy's table of functions, the same since numpy 1.7
_alive: list[Any] = []  #: objects that machine code uses by address until the process ends
_CONSTANTS: dict[str, Any] = {
    "ndarray": np.ndarray, "float64": np.dtype(np.float64), "int64": np.dtype(np.int64), "uint8": np.dtype(np.uint8),
    "bool_": np.dtype(np.bool_), "float": float, "int": int, "tuple": tuple, "bool": bool, "None": None,
    "SystemError": SystemError, "False": False, "True": True, "bytes": bytes,
}  # fmt: skip

Words = Callable[[], Sequence[Any]]  #: called where builtins are used


class Place(NamedTuple):
    """The addresses of a builtin's code and of its words."""

    code: int
    words: int


class _Method(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class _GetSet(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("get", ctypes.c_void_p), ("set", ctypes.c_void_p), ("doc", ctypes.c_char_p),
        ("words", ctypes.c_void_p),
    )  # fmt: skip


def load(built: Built, fallback: Callable[[str], Callable[..., Any]]) -> dict[str, Any]:
    """Return the entries of an object file by name, ``module:function``.

    Parameters
    ----------
    built : Built
        Objects one after another, and what they need.
    fallback : callable
        Given a name, returns the function that takes calls with arguments that the entry does not take as they are.
    """
    import llvmlite.binding as llvm

    facts = built.facts
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = ctypes.CDLL(None) if os.name != "nt" else ctypes.cdll.msvcrt
    for name in facts["undefined"]:
        symbol = getattr(ctypes.pythonapi if name.startswith("Py") else library, name)
        llvm.add_symbol(name, ctypes.cast(symbol, ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True, codemodel="jitdefault")
    module = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(module, machine)
    start = 0
    for size in facts["sizes"]:
        engine.add_object_file(llvm.ObjectFileRef.from_data(built.content[start : start + size]))
        start += size
    engine.finalize_object()
    values = {**{name: id(value) for name, value in _CONSTANTS.items()}, "tuple items": tuple.__basicsize__}
    values["PyArray_New"] = _new_array()
    for number in range(len(facts["sizes"])):
        address = ctypes.CFUNCTYPE(ctypes.c_void_p)(engine.get_function_address(f"{CONSTANTS_AT}{number}"))()
        (ctypes.c_void_p * len(CONSTANTS)).from_address(address)[:] = [values[name] for name in CONSTANTS]
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    entries: dict[str, Any] = {}
    for name in facts["names"]:
        code = engine.get_function_address(symbol_of(name))
        if name in facts["builtins"]:
            entries[name] = Place(code, engine.get_global_value_address(words_of(name)))
            continue
        home, _, plain = name.partition(":")
        method = _Method(plain.encode(), code, _FASTCALL, None)
        _alive.append(method)
        entries[name] = new(ctypes.addressof(method), fallback(name), home)
    _alive.extend((engine, module, machine))
    return entries


def _new_array() -> int:
    """Return the address of numpy's ``PyArray_New``, from the table of its C interface."""
    core = import_module("numpy._core" if hasattr(np, "_core") else "numpy.core")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(core._multiarray_umath._ARRAY_API, None)
    return int(ctypes.c_void_p.from_address(table + 8 * _NEW_ARRAY).value or 0)


@cache
def is_usable() -> bool:
    """Return whether builtins are used: the switch is on, and objects are laid out as `calls` describes."""
    return MODE == "object" and os.environ.get("GJK3D_BUILTINS", "1") not in ("0", "") and not object_faults()


def function(by: Builtin, words: Words) -> Callable[[Any], Any]:
    """Decorate a function: calls go to the builtin, which passes those that it does not take to the function."""

    def decorate(slow: Any) -> Any:
        code = _fill(by, slow, words)
        if code is None:
            return slow
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        return new(_definition(slow, code, False), None, id(slow.__module__))

    return decorate


def methods(cls: type, by: dict[str, tuple[Builtin, Words]]) -> None:
    """Put builtins in the place of methods of a class."""
    new = ctypes.pythonapi.PyDescr_NewMethod
    new.restype, new.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
    for name, (builtin, words) in by.items():
        slow = cls.__dict__[name]
        code = _fill(builtin, slow, words)
        if code is not None:
            setattr(cls, name, new(cls, _definition(slow, code, True)))


def fields(cls: type, get: Builtin, set_: Builtin, words: Callable[[], dict[str, list[Any]]]) -> bool:
    """Put getters in the place of slots of a class; their first words are the offset of the slot, and its name."""
    reader, writer = _place(get), _place(set_)
    if reader is None or writer is None:
        return False
    new = ctypes.pythonapi.PyDescr_NewGetSet
    new.restype, new.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
    for name, more in words().items():
        block = (ctypes.c_int64 * (2 + len(more)))(*map(_word, (offset(cls, name), name, *more)))
        definition = _GetSet(name.encode(), reader.code, writer.code, None, ctypes.addressof(block))
        _alive.extend((block, definition))
        setattr(cls, name, new(cls, ctypes.addressof(definition)))
    return True


def _place(by: Builtin) -> Place | None:
    """Return the place of a builtin, None if builtins are not used or there is no machine code."""
    from gjk3d._kernels import late

    return late.builtin(by.name) if is_usable() else None


def _fill(by: Builtin, slow: Any, words: Words) -> int | None:
    """Fill a builtin's words; return the address of its code, None where builtins are not used."""
    place = _place(by)
    if place is None:
        return None
    for k, value in enumerate((slow, *words())):
        ctypes.c_int64.from_address(place.words + 8 * k).value = _word(value)
    return place.code


def _word(value: Any) -> int:
    """Return an integer as it is, and the address of any other object."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    _alive.append(value)
    return id(value)


def _definition(slow: Any, code: int, is_method: bool) -> int:
    """Return the address of a method's definition, with the signature and the docstring of the Python function."""
    parameters = inspect.signature(slow).parameters.values()
    texts = [_as_text(parameter) for parameter in parameters]
    if is_method:
        texts[0] = "$self"
    keywords = [parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters]
    if any(keywords):
        texts.insert(keywords.index(True), "*")
    doc = f"{slow.__name__}({', '.join(texts)})\n--\n\n{inspect.getdoc(slow) or ''}"
    definition = _Method(slow.__name__.encode(), code, _FASTCALL | _KEYWORDS, doc.encode())
    _alive.append(definition)
    return ctypes.addressof(definition)


def _as_text(parameter: inspect.Parameter) -> str:
    """Return a parameter without its annotation, as CPython reads signatures: infinity is written as a number there."""
    default = parameter.default
    if default is parameter.empty:
        return parameter.name
    return f"{parameter.name}={'1e999' if default == np.inf else repr(default)}"
