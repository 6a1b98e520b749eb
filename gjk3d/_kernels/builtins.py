"""Put builtins in the place of Python functions, methods and fields; see `cpython` for what they are.

They are used in CPython with its lock, where every layout that they read by is as it should be, which is looked at on
known objects when the machine code is loaded; elsewhere, while there is no machine code, and with ``GJK3D_BUILTINS=0``,
the Python functions stay. What a builtin needs, among it the Python function behind it, is in words of its own.
"""

from __future__ import annotations

import ctypes
import inspect
import os
from collections.abc import Callable, Sequence
from types import MemberDescriptorType
from typing import Any

import numpy as np

from gjk3d._kernels.assembly import BYTES, DATA, DESCR, FLAGS, FLOAT, NDIM, PLAIN, SHAPE, SIZE, TUPLE, TYPE
from gjk3d._kernels.decorators import MODE, Builtin

_METHOD = 0x80 | 0x2  # METH_FASTCALL | METH_KEYWORDS
Words = Callable[[], Sequence[Any]]  #: called where builtins are used
_held: list[Any] = []  #: what builtins need as long as the process lives


def _filled(by: Builtin, slow: Any, words: Words) -> int | None:
    """Fill a builtin's words, integers or objects; return its address, None where builtins are not used."""
    place = _place(by)
    if place is None:
        return None
    for k, each in enumerate((slow, *words())):
        ctypes.c_int64.from_address(place.words + 8 * k).value = _word(each)
    return int(place.code)


def _place(by: Builtin) -> Any:
    from gjk3d._kernels import late

    return late.builtin(by.name) if usable() else None


def _word(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    _held.append(value)
    return id(value)


def function(by: Builtin, words: Words) -> Callable[[Any], Any]:
    """Decorate a function: calls go to the builtin, and what it does not take to the function, its first word."""

    def decorate(slow: Any) -> Any:
        code = _filled(by, slow, words)
        if code is None:
            return slow
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        return new(_definition(slow, code, False), None, id(slow.__module__))

    return decorate


def methods(cls: type, by: dict[str, tuple[Builtin, Words]]) -> None:
    """Put builtins in the place of methods of a class; the method is the first word, the others are given."""
    new = ctypes.pythonapi.PyDescr_NewMethod
    new.restype, new.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
    for name, (builtin, words) in by.items():
        slow = cls.__dict__[name]
        code = _filled(builtin, slow, words)
        if code is not None:
            setattr(cls, name, new(cls, _definition(slow, code, True)))


def fields(cls: type, get: Builtin, set_: Builtin, words: Callable[[], dict[str, list[Any]]]) -> bool:
    """Put getters in the place of slots of a class; their words begin with where the slot is, and its name."""
    reader, writer = _place(get), _place(set_)
    if reader is None:
        return False
    new = ctypes.pythonapi.PyDescr_NewGetSet
    new.restype, new.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
    for name, more in words().items():
        block = (ctypes.c_int64 * (2 + len(more)))(*map(_word, (offset(cls, name), name, *more)))
        definition = _GetSet(name.encode(), reader.code, writer.code, None, ctypes.addressof(block))
        _held.extend((block, definition))
        setattr(cls, name, new(cls, ctypes.addressof(definition)))
    return True


class _Method(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class _GetSet(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("get", ctypes.c_void_p), ("set", ctypes.c_void_p), ("doc", ctypes.c_char_p),
        ("words", ctypes.c_void_p),
    )  # fmt: skip


def _definition(slow: Any, code: int, method: bool) -> int:
    """Return the address of a method's definition, with the signature and the docstring of the Python function."""
    given = [_as_text(each) for each in inspect.signature(slow).parameters.values()]
    if method:
        given[0] = "$self"
    keywords = [each.kind is each.KEYWORD_ONLY for each in inspect.signature(slow).parameters.values()]
    if any(keywords):
        given.insert(keywords.index(True), "*")
    doc = f"{slow.__name__}({', '.join(given)})\n--\n\n{inspect.getdoc(slow) or ''}"
    made = _Method(slow.__name__.encode(), code, _METHOD, doc.encode())
    _held.append(made)
    return ctypes.addressof(made)


def _as_text(parameter: inspect.Parameter) -> str:
    """Return a parameter without its annotation, as the text of a signature has it: infinity is a number there."""
    default = parameter.default
    if default is parameter.empty:
        return parameter.name
    return f"{parameter.name}={'1e999' if default == np.inf else repr(default)}"


class _Member(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t))


def offset(cls: type, name: str) -> int:
    """Return where a slot is in objects of a class.

    Raises
    ------
    TypeError
        The class has no such slot.
    """
    owner = next(each for each in cls.__mro__ if name in each.__dict__)
    descriptor = owner.__dict__[name]
    if not isinstance(descriptor, MemberDescriptorType):
        raise TypeError(f"{name} is no slot of {cls.__name__}")
    # PyDescrObject: the object, its type, its name, its qualified name; then the member
    member = _Member.from_address(_at(id(descriptor) + object.__basicsize__ + 3 * 8))
    assert member.name == name.encode()
    return int(member.offset)


def _at(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


_usable: bool | None = None


def usable() -> bool:
    """Tell whether builtins are to be used: nobody forbade it, and objects lie in memory as they are read."""
    global _usable
    if _usable is None:
        _usable = MODE == "object" and os.environ.get("GJK3D_BUILTINS", "1") not in ("0", "") and not _unlike()
    return _usable


class _Probe:
    __slots__ = ("first", "second")
    first: object
    second: object


def _unlike() -> str:
    """Return what lies otherwise in memory than builtins read it, nothing where all is as it should be."""
    array, things, letters, probe = np.arange(12.0).reshape(4, 3), (None, "b"), b"gjk3d of words", _Probe()
    half = 0.5
    probe.first, probe.second = things, letters
    here, dimensions = id(array), _at(id(array) + SHAPE)
    as_read = {
        "the type of an object": (_at(here + TYPE), id(np.ndarray)),
        "the numbers of an array": (_at(here + DATA), array.ctypes.data),
        "the dimensions of an array": (ctypes.c_int32.from_address(here + NDIM).value, 2),
        "the shape of an array": ((_at(dimensions), _at(dimensions + 8)), (4, 3)),
        "the kind of an array": (_at(here + DESCR), id(np.dtype(np.float64))),
        "the flags of an array": (ctypes.c_int32.from_address(here + FLAGS).value & PLAIN, PLAIN),
        "the flags of a turned array": (ctypes.c_int32.from_address(id(array.T) + FLAGS).value & 1, 0),
        "the items of a tuple": ((_at(id(things) + TUPLE), _at(id(things) + TUPLE + 8)), (id(None), id(things[1]))),
        "the size of a tuple": (_at(id(things) + SIZE), 2),
        "the number of a float": (ctypes.c_double.from_address(id(half) + FLOAT).value, half),
        "the content of bytes": (ctypes.string_at(id(letters) + BYTES, len(letters)), letters),
        "the slots of an object": (
            (_at(id(probe) + offset(_Probe, "first")), _at(id(probe) + offset(_Probe, "second"))),
            (id(things), id(letters)),
        ),
    }
    return ", ".join(what for what, (read, true) in as_read.items() if read != true)
