"""Functions of the user that kernels call by address, so that every kernel is compiled once for all functions.

A function that numba can compile costs about 50 ns a call, any other Python function some microseconds. If a function
raises, the kernels get NaN, and the exception is raised again after them.

numba compiles such a function in this process and never stores it on disk. Without numba, Python runs it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import MODE

Mapping = Callable[[Any], Any]


class Callback(NamedTuple):
    """A function's address, whether it is compiled, and the object that owns its code."""

    address: int
    compiled: bool
    referent: Any


_callbacks: dict[Mapping, Callback] = {}
_functions: dict[int, Mapping] = {}
_raised: list[BaseException] = []
_TYPE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


def callback(function: Mapping, *, interpreted: bool = False) -> Callback:
    """Return the callback of a function from (3,) float to three floats, created at its first use."""
    if interpreted:
        return _interpreted(function)
    if function not in _callbacks:
        new = _compiled(function) or _interpreted(function)
        _callbacks[function] = new
        _functions[new.address] = function
    return _callbacks[function]


def function_at(address: int) -> Mapping:
    """Return the function that was given this address."""
    return _functions[address]


def raise_pending() -> None:
    """Raise the first exception of the user's functions since the last call."""
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
        except Exception:  # a second call in Python finds the exception
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

    def call(address: int, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Return the result of the function at an address for (x, y, z)."""
        out = (ctypes.c_double * 3)()
        _TYPE(int(address))((ctypes.c_double * 3)(x, y, z), out)
        return (out[0], out[1], out[2])

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def call(context: Any, address: Any, x: Any, y: Any, z: Any) -> Any:
        """Return the result of the function at an address for (x, y, z)."""
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
