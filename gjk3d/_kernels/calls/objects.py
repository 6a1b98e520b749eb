"""The functions for builtins: reads and writes of memory, and CPython's and numpy's objects by their addresses.

A builtin is a kernel that takes the addresses of objects and returns the address of one. It computes the result of the
usual call, and passes every other call to the Python function that it replaces. It holds the interpreter's lock all the
time. Between the creation of two objects no Python code runs. The functions here are written in `assembly`. They exist
for the compiler alone, so builtins are never interpreted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gjk3d._kernels.calls import BYTES as BYTES
from gjk3d._kernels.calls import CONSTANTS, DESCR, FLAGS, NDIM, PLAIN
from gjk3d._kernels.calls import DATA as DATA
from gjk3d._kernels.calls import FLOAT as FLOAT
from gjk3d._kernels.calls import LIST_ITEMS as LIST_ITEMS
from gjk3d._kernels.calls import SHAPE as SHAPE
from gjk3d._kernels.calls import SIZE as SIZE
from gjk3d._kernels.calls import TYPE as TYPE
from gjk3d._kernels.decorators import MODE, inlined, kernel

NDARRAY, FLOAT64, NONE, BOOLS, BYTES_TYPE, TUPLE_TYPE, FLOAT_TYPE, TUPLE_ITEMS, LIST_TYPE = (
    CONSTANTS.index(name)
    for name in ("ndarray", "float64", "None", "False", "bytes", "tuple", "float", "tuple items", "list")
)

if TYPE_CHECKING:

    def word(address: int) -> int: ...
    def half(address: int) -> int: ...
    def number(address: int) -> float: ...
    def write(address: int, value: int) -> None: ...
    def constant(k: int) -> int: ...
    def incref(item: int) -> int: ...
    def decref(item: int) -> None: ...
    def call(function: int, args: int, nargs: int, names: int) -> int: ...
    def call_with(function: int, first: int, args: int, nargs: int, names: int) -> int: ...
    def replaced(items: int, k: int, item: int) -> int: ...
    def new_bytes(size: int) -> int: ...
    def new_object(kind: int) -> int: ...
    def new_float(address: int) -> int: ...
    def new_int(value: int) -> int: ...
    def new_vector(address: int) -> int: ...

elif MODE == "alone":
    from numba import float64, int64
    from numba.types import ExternalFunction, void

    word, half, constant, incref, new_bytes, new_object, new_float, new_int, new_vector = (
        ExternalFunction(f"gjk3d_{name}", int64(int64))
        for name in ("word", "half", "constant", "incref", "bytes", "object", "float", "int", "vector")
    )
    replaced = ExternalFunction("gjk3d_replaced", int64(int64, int64, int64))
    number = ExternalFunction("gjk3d_number", float64(int64))
    write, decref = ExternalFunction("gjk3d_write", void(int64, int64)), ExternalFunction("gjk3d_decref", void(int64))
    call = ExternalFunction("gjk3d_call", int64(int64, int64, int64, int64))
    call_with = ExternalFunction("gjk3d_call_with", int64(int64, int64, int64, int64, int64))

else:
    word = half = number = replaced = write = constant = incref = decref = call = call_with = None
    new_bytes = new_object = new_float = new_int = new_vector = None


@inlined
def items_of(sequence: int) -> int:
    """Return the address of the items of a tuple."""
    return sequence + constant(TUPLE_ITEMS)


@inlined
def floats_in(array: int, dimensions: int) -> int:
    """Return the address of the numbers of an array of floats, 0 if kernels cannot take it unchanged."""
    if word(array + TYPE) != constant(NDARRAY) or word(array + DESCR) != constant(FLOAT64):
        return 0
    if half(array + NDIM) != dimensions or (half(array + FLAGS) & PLAIN) != PLAIN:
        return 0
    return word(array + DATA)


@kernel
def listed_pose(pose: int, copy: int) -> int:
    """Return ``copy`` after the numbers of a pose were written there, 0 unless it is four lists of four floats."""
    if word(pose + TYPE) != constant(LIST_TYPE) or word(pose + SIZE) != 4:
        return 0
    for i in range(4):
        row = word(word(pose + LIST_ITEMS) + 8 * i)
        if word(row + TYPE) != constant(LIST_TYPE) or word(row + SIZE) != 4:
            return 0
        for j in range(4):
            item = word(word(row + LIST_ITEMS) + 8 * j)
            if word(item + TYPE) != constant(FLOAT_TYPE):
                return 0
            write(copy + 32 * i + 8 * j, word(item + FLOAT))
    return copy


@inlined
def pose_in(pose: int, identity: int, copy: int) -> int:
    """Return the address of the numbers of a pose, ``identity`` for None, 0 if kernels cannot take it.

    The numbers of a list are written to ``copy``.
    """
    if pose == constant(NONE):
        return identity
    data = floats_in(pose, 2)
    if data == 0:
        return listed_pose(pose, copy)
    shape = word(pose + SHAPE)
    return data if word(shape) == 4 and word(shape + 8) == 4 else 0
