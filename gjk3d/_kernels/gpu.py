"""Entries on the GPU: the kernels of the CPU, compiled by numba-cuda, with one thread per row.

A GPU kernel has the Python code of the CPU kernel, and calls other GPU kernels. Its results have the same bits, because
it computes in float64 without fused multiply-add, which numba-cuda uses by default. There are two exceptions: the sine
and cosine of the GPU have other bits, and the GPU cannot call functions of the user. Both return NaN on the GPU, and
the CPU computes the rows that need them.

Queries with ``device="cuda"`` import this module. ``pip install "gjk3d[gpu]"`` installs numba-cuda.
"""

from __future__ import annotations

import inspect
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numba import cuda, types
from numba.core import config

from gjk3d._kernels import addresses, late
from gjk3d._kernels.alone import parameter_types
from gjk3d._kernels.decorators import MODE

Function = Callable[..., Any]

SIMULATED = bool(config.ENABLE_CUDASIM)  #: whether numba runs the threads in Python (``NUMBA_ENABLE_CUDASIM``)
BLOCK = 64  #: number of threads per block; more threads of a kernel that needs all registers do not fit
MOST_THREADS = 32768  #: greatest number of threads at a time, each with separate scratch memory
CONTRACTED = "fma.rn.f64"  #: the PTX instruction of a fused multiply-add


class PerThread(NamedTuple):
    """Scratch memory: an array like ``array`` for each thread, with its content if ``filled``."""

    array: Any
    filled: bool = False


class Rows(NamedTuple):
    """An array of arguments. Each call of an entry takes one row of it."""

    array: Any


class Output(NamedTuple):
    """An array of results, which is copied to the CPU. With ``rows``, each call of an entry takes one row of it."""

    array: Any
    rows: bool = False


def unavailable() -> str:
    """Return the reason why the GPU cannot be used, or an empty string if it can be used."""
    if SIMULATED:
        return ""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed, install it with pip install 'gjk3d[gpu]'"
    if not cuda.is_available():
        reason = " ".join(str(cuda.cuda_error() or "CUDA finds none").split())
        return f"an NVIDIA GPU or its driver is missing ({reason})"
    return ""


def run(entry: Function, arguments: Sequence[Any]) -> None:
    """Call an entry on the GPU for all rows of its longest `Output`.

    ``arguments`` are those of the entry, in order. Arguments that differ between calls or threads are a `PerThread`,
    `Rows` or `Output`.
    """
    total = max(len(argument.array) for argument in arguments if isinstance(argument, Output))
    if total == 0:
        return
    block = min(BLOCK, total)
    places = tuple(_place(argument) for argument in arguments)
    room = sum(
        array.nbytes for argument in arguments if isinstance(argument, PerThread) for array in _fields(argument.array)
    )
    free = 1 << 30 if SIMULATED else int(cuda.current_context().get_memory_info().free)
    blocks = -(-min(total, MOST_THREADS, max(free // (2 * room), 1)) // block)
    kernel = compiled(entry, places)
    sent = [_sent(argument, blocks * block) for argument in arguments]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Grid size")  # numba warns if few rows do not use the whole GPU
        kernel[blocks, block](*sent, total)
    for argument, on_card in zip(arguments, sent, strict=True):
        if isinstance(argument, Output):
            on_card.copy_to_host(argument.array)


def _place(argument: Any) -> str:
    """Return source code that indexes an argument by thread or row, or an empty text if all threads share it."""
    if isinstance(argument, PerThread):
        return "[thread]"
    return "[k]" if isinstance(argument, Rows) or (isinstance(argument, Output) and argument.rows) else ""


def _fields(arrays: Any) -> Sequence[Any]:
    """Return the arrays of a NamedTuple, or a tuple of the array itself."""
    return arrays if isinstance(arrays, tuple) else (arrays,)


def _sent(argument: Any, threads: int) -> Any:
    if isinstance(argument, PerThread) and isinstance(argument.array, tuple):
        return type(argument.array)(*(_sent(argument._replace(array=array), threads) for array in argument.array))
    if isinstance(argument, tuple) and not isinstance(argument, PerThread | Output | Rows):
        return type(argument)(*(_sent(array, threads) for array in argument))
    if isinstance(argument, PerThread):
        if argument.filled:
            return cuda.to_device(np.repeat(argument.array[None], threads, axis=0))
        return cuda.device_array((threads, *argument.array.shape), argument.array.dtype)
    if isinstance(argument, Output | Rows):
        return cuda.to_device(argument.array)
    return cuda.to_device(argument) if isinstance(argument, np.ndarray) else argument


def _signature(source: Function, places: Sequence[str]) -> tuple[Any, ...]:
    """Return numba's types of the parameters of an entry's GPU kernel. The last parameter is the number of rows."""
    stacked = [_stacked(kind) if place else kind for kind, place in zip(parameter_types(source), places, strict=True)]
    return (*stacked, types.int64)


def _stacked(kind: Any) -> Any:
    """Return the type of a stack of arguments of this type, which has one more dimension."""
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple([_stacked(field) for field in kind.types], kind.instance_class)
    return types.Array(kind.dtype, kind.ndim + 1, "C")


@cache
def compiled(entry: Function, places: tuple[str, ...]) -> Any:
    """Return the GPU kernel of an entry. ``places`` are the results of `_place` for its arguments."""
    source = source_of(entry)
    kernel = cuda.jit(_rows(source, places))
    if SIMULATED:
        return kernel
    begun = time.monotonic()
    sys.stderr.write(f"gjk3d: compiling {source.__name__} for the GPU, once per process; this takes minutes\n")
    with _uncontracted():
        compiled_kernel = kernel.compile(_signature(source, places))
    kernel.disable_compile()  # otherwise arguments of other types would start a compilation
    if CONTRACTED in compiled_kernel.library.get_asm_str():
        raise RuntimeError(
            f"numba-cuda {version('numba-cuda')} fuses products with sums, so bounds would be invalid. Run pip install "
            "'gjk3d[gpu]', which selects a version that does not."
        )
    sys.stderr.write(f"gjk3d: compiled after {time.monotonic() - begun:.0f} s\n")
    return kernel


@contextmanager
def _uncontracted() -> Iterator[None]:
    """Turn off fused multiply-add in a block. numba-cuda does not pass this option to the compiler."""
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import nvvm

    with dispatcher.global_compiler_lock:
        usual = nvvm.compile_ir
        nvvm.compile_ir = lambda ir, **options: usual(ir, **{**options, "fma": False})
        try:
            yield
        finally:
            nvvm.compile_ir = usual


def _rows(source: Function, places: Sequence[str]) -> Function:
    """Return the function that each thread runs. It calls an entry for each row of the thread."""
    names = parameters(source)
    row_arguments = {"start": "k", "stop": "k + 1"}
    kinds = {name: hint for name, hint in get_type_hints(source).items() if hasattr(hint, "_fields")}
    passed = [
        f"{kinds[name].__name__}({', '.join(f'{name}.{field}{place}' for field in kinds[name]._fields)})"
        if place and name in kinds
        else row_arguments.get(name, name + place)
        for name, place in zip(names, places, strict=True)
    ]
    text = (
        f"def rows({', '.join(names)}, total):\n"
        "    thread = cuda.grid(1)\n"
        "    for k in range(thread, total, cuda.gridsize(1)):\n"
        f"        entry({', '.join(passed)})\n"
    )
    space: dict[str, Any] = {"cuda": cuda, "entry": _twin_of(source), **{k.__name__: k for k in kinds.values()}}
    exec(text, space)
    rows: Function = space["rows"]
    return rows


def parameters(entry: Function) -> list[str]:
    """Return the names of the parameters of an entry."""
    return list(inspect.signature(source_of(entry)).parameters)


def source_of(function: Function) -> Function:
    """Return the Python function of a kernel."""
    if MODE == "object" and isinstance(function, BuiltinFunctionType | late.Late):
        return late.source(function)
    source: Function = getattr(function, "py_func", function)
    return source


def _twin_of(function: Function) -> Any:
    """Return the GPU function of a CPU kernel."""
    return _twin(source_of(function))


@cache
def _twin(source: Function) -> Any:
    space = {"__name__": source.__module__, "__builtins__": __builtins__}
    for name in _names(source.__code__):
        if name in source.__globals__:
            value = source.__globals__[name]
            space[name] = _twin_of(_REPLACED.get(value, value)) if _is_called(value) else value
    bound = FunctionType(source.__code__, space, source.__name__, source.__defaults__)
    bound.__qualname__ = source.__qualname__
    return cuda.jit(device=True)(bound)


def _names(code: CodeType) -> list[str]:
    inner = [name for constant in code.co_consts if isinstance(constant, CodeType) for name in _names(constant)]
    return [*code.co_names, *inner]


def _is_called(value: Any) -> bool:
    """Return whether the value of a global name is a kernel, or a function that is replaced on the GPU."""
    of_ours = str(getattr(value, "__module__", "")).startswith("gjk3d.")
    return callable(value) and not isinstance(value, type) and (of_ours or value in _REPLACED)


def _no_number(x: float) -> float:
    """Return NaN in place of the sine or cosine, whose last bits differ on the GPU."""
    return math.nan * x


def _no_point(address: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return NaN in place of the result of a user's function, which the GPU cannot call."""
    return (math.nan, math.nan, math.nan)


_REPLACED: dict[Any, Function] = {math.sin: _no_number, math.cos: _no_number, addresses.call_function: _no_point}
