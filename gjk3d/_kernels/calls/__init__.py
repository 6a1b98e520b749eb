"""Calls from CPython into machine code, and all code that reads CPython's and numpy's objects by offset.

A call of a kernel costs 50 ns here, because machine code reads its arguments from the objects themselves. The usual
conversions of ctypes or numba cost a microsecond. This folder has the whole code that depends on the layout of objects:

- this file: the offsets, and the check that they hold in this process.
- `assembly`: LLVM code of the function that CPython calls for each entry. It reads arrays, and makes the result.
  `load` gives CPython the functions of an object file.
- `gjk3d._kernels.addresses`: the same for builtins. These are kernels that take the addresses of objects and return a
  new object.
- `install`: puts builtins in the place of Python functions.

**Assumptions.** They hold for CPython 3.11 to 3.14 with its lock on 64-bit processors, and for numpy 1.26 to 2.x.

======================  ===============================================================================================
object                  offset of the fields, in bytes
======================  ===============================================================================================
any object              its type at 8 (``PyObject``: the count of references comes first)
``numpy.ndarray``       data at 16, number of dimensions (32 bits) at 24, shape at 32, dtype at 56, flags (32 bits) at
                        64. numpy has one object for each of its own dtypes, so a dtype is compared by its address.
                        ``PyArray_New`` is number 93 in the table of numpy's C functions
``float``               its number at 16
``bytes``               number of bytes at 16, the bytes at 32
``tuple``               number of items at 16, the items at ``tuple.__basicsize__``: 24, and 32 since 3.14, which stores
                        the hash before them. One object file serves all versions, so a kernel reads this offset from a
                        constant that `install` fills in
``list``                number of items at 16, the address of the items at 24
slots of a class        the offset in their ``PyMemberDef``, whose address is the fourth word of a slot's descriptor
======================  ===============================================================================================

**Check at start.** `array_faults` and `object_faults` compare each of these with what Python reports of an object whose
content is known. They run once a process, in about 50 microseconds, before any machine code is loaded. `late` then runs
one kernel and compares its result.

- If arrays differ, no machine code is loaded: kernels run as Python functions, or compiled by numba in this process.
- If other objects differ, entries stay compiled. Builtins are not installed, so Python functions call the entries.
- PyPy, 32-bit processes and free-threaded builds are treated as if arrays differed: without the lock, another thread
  may free an object while it is read.

**Switches.** ``GJK3D_BUILTINS=0`` leaves the Python functions in place of builtins. ``GJK3D_KERNELS=jit`` or ``python``
uses nothing of this folder. Results have the same bits in all cases.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from types import MemberDescriptorType

import numpy as np

#: constants that `install` fills in: addresses of objects and of a function of numpy, and the offset of a tuple's items
CONSTANTS = (
    "ndarray", "float64", "int64", "uint8", "bool_", "float", "int", "tuple", "bool", "None", "SystemError", "False",
    "True", "bytes", "PyArray_New", "tuple items", "list", "float32", "int32",
)  # fmt: skip

TYPE = 8
DATA, NDIM, SHAPE, DESCR, FLAGS = 16, 24, 32, 56, 64
PLAIN = 0x1 | 0x100  #: flags of an array: C-contiguous, and aligned
SIZE, FLOAT, LIST_ITEMS, BYTES = 16, 16, 24, 32


def read_word(address: int) -> int:
    """Return the 64 bits at an address."""
    return ctypes.c_int64.from_address(address).value


def read_half(address: int) -> int:
    """Return the 32 bits at an address."""
    return ctypes.c_int32.from_address(address).value


class _Member(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t))


def offset(cls: type, name: str) -> int:
    """Return the offset of a slot in objects of a class.

    Raises
    ------
    TypeError
        The class has no such slot.
    """
    owner = next(base for base in cls.__mro__ if name in base.__dict__)
    descriptor = owner.__dict__[name]
    if not isinstance(descriptor, MemberDescriptorType):
        raise TypeError(f"{name} is not a slot of {cls.__name__}, expected a name in its __slots__")
    # PyDescrObject: the fields of an object, the class, the name, the qualified name, then the member
    member = _Member.from_address(read_word(id(descriptor) + object.__basicsize__ + 3 * 8))
    assert member.name == name.encode()
    return int(member.offset)


def array_faults() -> list[str]:
    """Return the reasons why entries cannot read objects: the kind of Python, or array fields at other offsets."""
    if sys.implementation.name != "cpython" or sys.maxsize <= 2**32 or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return ["this Python, which is not CPython for 64 bits with its lock"]
    array = np.arange(12.0).reshape(4, 3)
    transposed = array.T  # a name keeps the array alive until its memory is read
    address, shape = id(array), read_word(id(array) + SHAPE)
    return _differences({
        "the type of an object": (read_word(address + TYPE), id(np.ndarray)),
        "the numbers of an array": (read_word(address + DATA), array.ctypes.data),
        "the dimensions of an array": (read_half(address + NDIM), 2),
        "the shape of an array": ((read_word(shape), read_word(shape + 8)), (4, 3)),
        "the kind of an array": (read_word(address + DESCR), id(np.dtype(np.float64))),
        "the flags of an array": (read_half(address + FLAGS) & PLAIN, PLAIN),
        "the flags of a transposed array": (read_half(id(transposed) + FLAGS) & 1, 0),
    })  # fmt: skip


class _Probe:
    __slots__ = ("first", "second")
    first: object
    second: object


def object_faults() -> list[str]:
    """Return the names of fields of objects, arrays excepted, whose offsets are not those that builtins expect."""
    items, letters, half, probe = (None, "b"), b"gjk3d of words", 0.5, _Probe()
    listed = [*items, half]
    probe.first, probe.second = items, letters
    first = id(items) + tuple.__basicsize__
    slots = [id(probe) + offset(_Probe, name) for name in _Probe.__slots__]
    return _differences({
        "the items of a tuple": ((read_word(first), read_word(first + 8)), (id(None), id(items[1]))),
        "the size of a tuple": (read_word(id(items) + SIZE), 2),
        "the size of a list": (read_word(id(listed) + SIZE), 3),
        "the items of a list": (
            list.__basicsize__ == 40 and read_word(read_word(id(listed) + LIST_ITEMS) + 16), id(half)
        ),
        "the number of a float": (ctypes.c_double.from_address(id(half) + FLOAT).value, half),
        "the content of bytes": (ctypes.string_at(id(letters) + BYTES, len(letters)), letters),
        "the size of bytes": (read_word(id(letters) + SIZE), len(letters)),
        "the slots of an object": ([*map(read_word, slots)], [id(items), id(letters)]),
    })  # fmt: skip


def _differences(values: dict[str, tuple[object, object]]) -> list[str]:
    """Return the names of the values that were read incorrectly."""
    return [name for name, (read, true) in values.items() if read != true]
