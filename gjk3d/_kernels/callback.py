"""Functions of the user that kernels call: by address, so that every kernel is compiled once for all of them.

A function that numba compiles costs some 50 ns a call, any other Python function some microseconds. What it raises is
kept and raised again when the kernels are done; meanwhile its answer is NaN.

numba stands here as well as in `jit`, since what is compiled is the user's function and no kernel of ours: it is never
kept on disk, and the guard of sources has nothing to say about it. Without numba such functions are called as they are.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import MODE

Mapping = Callable[[Any], Any]


class Callback(NamedTuple):
    """A function's address, whether it is compiled, and what keeps it alive."""

    address: int
    compiled: bool
    held: Any


_callbacks: dict[Mapping, Callback] = {}
_functions: dict[int, Mapping] = {}
_raised: list[BaseException] = []
_TYPE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


def callback(function: Mapping, *, interpreted: bool = False) -> Callback:
    """Return the callback of a function from (3,) float to three floats, made when it is first asked for."""
    if interpreted:
        return _interpreted(function)
    if function not in _callbacks:
        made = _compiled(function) or _interpreted(function)
        _callbacks[function] = made
        _functions[made.address] = function
    return _callbacks[function]


def function_at(address: int) -> Mapping:
    """Return the function that was given this address."""
    return _functions[address]


def raise_pending() -> None:
    """Raise what a function raised since the last time, if one did."""
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
        except Exception:  # what it was is found out by asking once more in Python
            out[:] = np.nan

    pointer = types.CPointer(types.float64)
    try:
        made = numba.cfunc(types.void(pointer, pointer))(outer)
    except Exception:  # whatever numba cannot compile, it says so in many ways
        return None
    return Callback(made.address, True, made)


def _interpreted(function: Mapping) -> Callback:
    def outer(direction: Any, out: Any) -> None:
        try:
            point = function(np.array(direction[:3]))
            out[0], out[1], out[2] = (float(x) for x in point)
        except BaseException as reason:  # it must not cross the kernel's frame
            out[0] = out[1] = out[2] = np.nan
            _raised.append(reason)

    held = _TYPE(outer)
    address = ctypes.cast(held, ctypes.c_void_p).value
    assert address is not None
    return Callback(address, False, held)


if MODE in ("object", "python"):

    def call(address: int, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Return what the function at an address says of (x, y, z)."""
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
        """Return what the function at an address says of (x, y, z)."""
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
