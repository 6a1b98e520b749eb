"""Calls from CPython into machine code, and the layout of CPython's and numpy's objects on which they depend.

A call of a kernel takes 50 ns, because machine code reads its arguments directly from the objects. The conversions of
ctypes or numba take a microsecond. All code that depends on the layout of objects is in these files:

- this file has the offsets of fields, and the check that the offsets are valid in this process.
- `assembly` has the LLVM code of the function that CPython calls for each entry. The function reads the arguments and
  creates the result. `load` makes the functions of an object file callable.
- `gjk3d._kernels.addresses` has functions for builtins that read and create objects. A builtin is a kernel that takes
  the addresses of objects and returns the address of a new object.
- `install` replaces Python functions by builtins.

**Assumptions.** The offsets are valid for CPython 3.11 to 3.14 with the global interpreter lock (GIL) on 64-bit
processors, and for numpy 1.26 to 2.x.

======================  ===============================================================================================
object                  offset of the fields, in bytes
======================  ===============================================================================================
any object              type at 8 (``PyObject``: the reference count is at 0)
``numpy.ndarray``       data at 16, number of dimensions (32 bits) at 24, shape at 32, dtype at 56, flags (32 bits) at
                        64. numpy has one object for each of its own dtypes, so a dtype is compared by its address.
                        ``PyArray_New`` has the index 93 in the table of numpy's C functions
``float``               number at 16
``bytes``               number of bytes at 16, bytes at 32
``tuple``               number of items at 16, items at ``tuple.__basicsize__``: 24, or 32 since CPython 3.14, which
                        stores the hash before them. An object file is valid for all versions, so a kernel reads this
                        offset from a constant that `assembly.load` sets
``list``                number of items at 16, address of the items at 24
slots of a class        the offset in their ``PyMemberDef``, whose address is the fourth word of a slot's descriptor
======================  ===============================================================================================

**Check at start.** `array_faults` and `object_faults` read the fields of objects with known content, and compare the
values. They run once per process and take about 50 microseconds, before any machine code is loaded. `late` then calls
a kernel and compares its result with the known result.

- If fields of arrays differ, no machine code is loaded. Kernels run as Python functions, or numba compiles them.
- If fields of other objects differ, machine code is used without builtins. Python functions call the entries.
- PyPy, 32-bit processes and free-threaded builds use no machine code. Without the GIL, another thread could free an
  object while a kernel reads it.

**Switches.** With ``GJK3D_BUILTINS=0``, Python functions are not replaced by builtins. With ``GJK3D_KERNELS=jit`` or
``python``, nothing of this folder is used. Results have the same bits in all cases.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from types import MemberDescriptorType

import numpy as np

#: constants that `assembly.load` sets: addresses of objects and of a numpy function, and the offset of a tuple's items
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
    """Return the offset of the slot ``name`` in objects of a class. Raise a TypeError for other attributes."""
    owner = next(base for base in cls.__mro__ if name in base.__dict__)
    descriptor = owner.__dict__[name]
    if not isinstance(descriptor, MemberDescriptorType):
        raise TypeError(f"{name} is not a slot of {cls.__name__}, expected a name in its __slots__")
    # PyDescrObject: the fields of an object, the class, the name, the qualified name, then the member
    member = _Member.from_address(read_word(id(descriptor) + object.__basicsize__ + 3 * 8))
    assert member.name == name.encode()
    return int(member.offset)


def array_faults() -> list[str]:
    """Return the reasons why machine code cannot read arrays: an unsupported Python, or fields with other offsets."""
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
    """Return descriptions of the fields whose offsets builtins do not expect. Fields of arrays are not checked."""
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
    return [name for name, (read, true) in values.items() if read != true]
