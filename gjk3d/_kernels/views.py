"""Arrays at addresses: how a kernel takes more arrays than it has parameters, without copies.

The caller keeps the memory alive. Compiled kernels build the array from its address and sizes. Interpreted ones use
ctypes.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d._kernels.decorators import MODE
from gjk3d.typing import Array1, Array2, Floats32_3, Ints1, Ints2, Ints32_2

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
        """Return the signature and the code of a function that makes an array of the numbers at an address."""

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
