"""Objects that compiled code uses by address: arrays, functions of the user, and objects of CPython and numpy.

A kernel takes the address of an array if it needs more arrays than it may have parameters, or if the number of arrays
varies. The caller keeps the memory alive. Compiled kernels create the array from its address and its sizes.
Interpreted kernels use ctypes.

Kernels call functions of the user by address, so that a kernel is compiled only once for all functions. numba compiles
a function of the user in this process, without storing it on disk. A call then takes about 50 ns. If numba is missing
or cannot compile the function, Python runs it, and a call takes some microseconds. If the function raises an exception,
the kernel gets NaN, and the exception is raised again after the kernel.

The last section has functions for builtins. A builtin is a kernel that takes the addresses of objects and returns the
address of a new object. It handles the usual calls, and passes other calls to the Python function that it replaces. It
holds the GIL, and no Python code runs between the creation of two objects. The code of these functions is in
`gjk3d._kernels.calls.assembly`. They exist only in compiled code, so builtins are never interpreted.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d._kernels.calls import BYTES as BYTES
from gjk3d._kernels.calls import CONSTANTS, DESCR, FLAGS, NDIM, PLAIN
from gjk3d._kernels.calls import DATA as DATA
from gjk3d._kernels.calls import FLOAT as FLOAT
from gjk3d._kernels.calls import LIST_ITEMS as LIST_ITEMS
from gjk3d._kernels.calls import SHAPE as SHAPE
from gjk3d._kernels.calls import SIZE as SIZE
from gjk3d._kernels.calls import TYPE as TYPE
from gjk3d._kernels.decorators import MODE, inlined, kernel
from gjk3d.typing import Array1, Array2, Floats32_3, Ints1, Ints2, Ints32_2

# --- arrays ----------------------------------------------------------------------------------------------------------


if TYPE_CHECKING:

    def floats(address: int, count: int) -> Array1: ...
    def float_rows(address: int, rows: int, columns: int) -> Array2: ...
    def ints(address: int, count: int) -> Ints1: ...
    def int_rows(address: int, rows: int, columns: int) -> Ints2: ...
    def floats32(address: int, blocks: int, rows: int, columns: int) -> Floats32_3: ...
    def ints32(address: int, rows: int, columns: int) -> Ints32_2: ...

elif MODE in ("alone", "jit"):
    from llvmlite import ir
    from numba import float32, float64, int32, int64
    from numba.extending import intrinsic
    from numba.np.arrayobj import make_array, populate_array
    from numba.types import Array

    def _view(kind: Any) -> Any:
        """Return the signature and the code of a function that returns an array of this type for an address."""

        def written(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array, shape = make_array(kind)(context, builder), list(args[1:])
            size = ir.IntType(64)(kind.dtype.bitwidth // 8)
            strides = [size]
            for length in reversed(shape[1:]):
                strides.insert(0, builder.mul(length, strides[0]))
            data = builder.inttoptr(args[0], array.data.type)
            populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
            return array._getvalue()

        return kind(*(int64,) * (1 + kind.ndim)), written

    @intrinsic
    def floats(context: Any, address: Any, count: Any) -> Any:
        return _view(Array(float64, 1, "C"))

    @intrinsic
    def float_rows(context: Any, address: Any, rows: Any, columns: Any) -> Any:
        return _view(Array(float64, 2, "C"))

    @intrinsic
    def ints(context: Any, address: Any, count: Any) -> Any:
        return _view(Array(int64, 1, "C"))

    @intrinsic
    def int_rows(context: Any, address: Any, rows: Any, columns: Any) -> Any:
        return _view(Array(int64, 2, "C"))

    @intrinsic
    def floats32(context: Any, address: Any, blocks: Any, rows: Any, columns: Any) -> Any:
        return _view(Array(float32, 3, "C"))

    @intrinsic
    def ints32(context: Any, address: Any, rows: Any, columns: Any) -> Any:
        return _view(Array(int32, 2, "C"))

else:

    def _read(address: int, shape: tuple[int, ...], item: Any) -> Any:
        size = int(np.prod(shape))
        if size == 0:  # ctypes refuses the address of an empty array
            return np.empty(shape, dtype=item)
        return np.frombuffer((item * size).from_address(int(address)), dtype=item).reshape(shape)

    def floats(address: int, count: int) -> Array1:
        return _read(address, (int(count),), ctypes.c_double)

    def float_rows(address: int, rows: int, columns: int) -> Array2:
        return _read(address, (int(rows), int(columns)), ctypes.c_double)

    def ints(address: int, count: int) -> Ints1:
        return _read(address, (int(count),), ctypes.c_int64)

    def int_rows(address: int, rows: int, columns: int) -> Ints2:
        return _read(address, (int(rows), int(columns)), ctypes.c_int64)

    def floats32(address: int, blocks: int, rows: int, columns: int) -> Floats32_3:
        return _read(address, (int(blocks), int(rows), int(columns)), ctypes.c_float)

    def ints32(address: int, rows: int, columns: int) -> Ints32_2:
        return _read(address, (int(rows), int(columns)), ctypes.c_int32)


# --- functions of the user -------------------------------------------------------------------------------------------


Mapping = Callable[[Any], Any]


class Callback(NamedTuple):
    """A function of the user, compiled or wrapped so that kernels can call it by its address."""

    address: int
    compiled: bool  #: whether numba compiled the function
    referent: Any  #: the object that owns the code at the address


_callbacks: dict[Mapping, Callback] = {}
_functions: dict[int, Mapping] = {}
_raised: list[BaseException] = []
_TYPE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


def callback(function: Mapping, *, interpreted: bool = False) -> Callback:
    """Return the callback of a function that takes a (3,) array and returns three floats.

    Each function has one callback, which is compiled if possible. With ``interpreted``, a new callback is
    returned, which calls the function in Python.
    """
    if interpreted:
        return _interpreted(function)
    if function not in _callbacks:
        new = _compiled(function) or _interpreted(function)
        _callbacks[function] = new
        _functions[new.address] = function
    return _callbacks[function]


def function_at(address: int) -> Mapping:
    """Return the function of the user whose callback has this address."""
    return _functions[address]


def raise_pending() -> None:
    """Raise the first exception of a user's function since the last call of `raise_pending`, if there is one."""
    if _raised:
        first = _raised[0]
        _raised.clear()
        raise first


def _compiled(function: Mapping) -> Callback | None:
    if MODE == "python":
        return None
    try:
        import numba
        from numba import types
    except ImportError:
        return None
    inner = function if hasattr(function, "py_func") else numba.njit(function)

    def outer(direction: Any, out: Any) -> None:
        out = numba.carray(out, (3,))
        try:
            point = inner(numba.carray(direction, (3,)))
            out[0] = point[0]
            out[1] = point[1]
            out[2] = point[2]
        except Exception:  # another call, in Python, raises the exception again
            out[:] = np.nan

    pointer = types.CPointer(types.float64)
    try:
        pointer_function = numba.cfunc(types.void(pointer, pointer))(outer)
    except Exception:  # numba raises many types for code that it cannot compile
        return None
    return Callback(pointer_function.address, True, pointer_function)


def _interpreted(function: Mapping) -> Callback:
    def outer(direction: Any, out: Any) -> None:
        try:
            point = function(np.array(direction[:3]))
            out[0], out[1], out[2] = (float(x) for x in point)
        except BaseException as reason:  # an exception must not cross the kernel's frame
            out[0] = out[1] = out[2] = np.nan
            _raised.append(reason)

    pointer_function = _TYPE(outer)
    address = ctypes.cast(pointer_function, ctypes.c_void_p).value
    assert address is not None
    return Callback(address, False, pointer_function)


if MODE in ("object", "python"):

    def call_function(address: int, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Return the result of the user's function at an address for the vector (x, y, z)."""
        out = (ctypes.c_double * 3)()
        _TYPE(int(address))((ctypes.c_double * 3)(x, y, z), out)
        return (out[0], out[1], out[2])

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def call_function(context: Any, address: Any, x: Any, y: Any, z: Any) -> Any:
        """Return the result of the user's function at an address for the vector (x, y, z)."""
        triple = types.UniTuple(types.float64, 3)
        signature = triple(types.int64, types.float64, types.float64, types.float64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number = ir.DoubleType()
            pointer = number.as_pointer()
            room = cgutils.alloca_once(builder, number, size=6)
            slots = [builder.gep(room, [ir.IntType(32)(k)]) for k in range(6)]
            for slot, value in zip(slots, (*arguments[1:], *(number(float("nan")),) * 3), strict=True):
                builder.store(value, slot)  # NaN stays where the function raises
            kind = ir.FunctionType(ir.VoidType(), [pointer, pointer]).as_pointer()
            builder.call(builder.inttoptr(arguments[0], kind), [slots[0], slots[3]])
            return context.make_tuple(builder, signature.return_type, [builder.load(slot) for slot in slots[3:]])

        return signature, generate


# --- objects of CPython and numpy ------------------------------------------------------------------------------------


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
    """Return the address of the items of a tuple, from the address of the tuple."""
    return sequence + constant(TUPLE_ITEMS)


@inlined
def floats_in(array: int, dimensions: int) -> int:
    """Return the address of the numbers of a float64 array, or 0 if the array must be converted for kernels."""
    if word(array + TYPE) != constant(NDARRAY) or word(array + DESCR) != constant(FLOAT64):
        return 0
    if half(array + NDIM) != dimensions or (half(array + FLAGS) & PLAIN) != PLAIN:
        return 0
    return word(array + DATA)


@kernel
def listed_pose(pose: int, copy: int) -> int:
    """Write a pose, a list of four lists of four floats, to the address ``copy``.

    Return ``copy``, or 0 if ``pose`` has another form.
    """
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
    """Return the address of the sixteen numbers of a pose, ``identity`` for None, or 0 if it must be converted.

    The numbers of a list are written to the address ``copy``.
    """
    if pose == constant(NONE):
        return identity
    data = floats_in(pose, 2)
    if data == 0:
        return listed_pose(pose, copy)
    shape = word(pose + SHAPE)
    return data if word(shape) == 4 and word(shape + 8) == 4 else 0
