"""Entries on a graphics card: the same kernels, compiled by numba-cuda, a thread for a row.

A kernel of the card has the Python code of the processor's kernel, and calls other kernels of the card. Its results
have the same bits: it computes in float64 and contracts no product with a sum, which numba-cuda does by default.
Two kinds of functions differ. The card has another sine and cosine than the system, and it cannot call functions of the
user. Both return NaN on the card, and the processor computes their rows.

This module is imported by queries with a device. numba-cuda is the extra ``gpu``.
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
from importlib.util import find_spec
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numba import cuda, types
from numba.core import config

from gjk3d._kernels import callback, late
from gjk3d._kernels.decorators import MODE
from gjk3d._kernels.signatures import parameter_types

Function = Callable[..., Any]

SIMULATED = bool(config.ENABLE_CUDASIM)  #: ``NUMBA_ENABLE_CUDASIM``: numba runs the threads in Python
#: threads of a block; a kernel that needs all registers of a thread leaves room for no more
BLOCK = 64
#: threads at a time, each with scratch of its own; a card has room for no more of such kernels
MOST_THREADS = 32768
#: what PTX calls a product that is contracted with a sum
CONTRACTED = "fma.rn.f64"


class PerThread(NamedTuple):
    """Scratch: an array of this shape for each thread, with this content if ``filled``."""

    array: Any
    filled: bool = False


class Rows(NamedTuple):
    """An array whose rows an entry for one row takes one after the other."""

    array: Any


class Output(NamedTuple):
    """An array of results, which is copied back; if ``rows``, an entry for one row writes them one after the other."""

    array: Any
    rows: bool = False


def unavailable() -> str:
    """Return why no card can be used, an empty string if one can."""
    if SIMULATED:
        return ""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed: pip install 'gjk3d[gpu]' brings it"
    if not cuda.is_available():
        reason = " ".join(str(cuda.cuda_error() or "CUDA finds none").split())
        return f"there is no graphics card of NVIDIA's here, or no driver of it ({reason})"
    return ""


def run(entry: Function, arguments: Sequence[Any]) -> None:
    """Run an entry for all rows of its `Output`, with its arguments in order; see `PerThread`, `Rows` and `Output`."""
    total = max(len(argument.array) for argument in arguments if isinstance(argument, Output))
    if total == 0:
        return
    block = min(BLOCK, total)
    places = tuple(_place(argument) for argument in arguments)
    room = sum(
        array.nbytes for argument in arguments if isinstance(argument, PerThread) for array in _fields(argument.array)
    )
    blocks = -(-min(total, MOST_THREADS, max(_free_memory() // (2 * room), 1)) // block)
    kernel = compiled(entry, places)
    sent = [_sent(argument, blocks * block) for argument in arguments]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Grid size")  # few rows leave a card idle, as the caller knows
        kernel[blocks, block](*sent, total)
    for argument, on_card in zip(arguments, sent, strict=True):
        if isinstance(argument, Output):
            on_card.copy_to_host(argument.array)


def _place(argument: Any) -> str:
    """Return the index of the part of an argument that one call of the entry takes."""
    if isinstance(argument, PerThread):
        return "[thread]"
    return "[k]" if isinstance(argument, Rows) or (isinstance(argument, Output) and argument.rows) else ""


def _fields(arrays: Any) -> Sequence[Any]:
    """Return the arrays of a NamedTuple, or one array."""
    return arrays if isinstance(arrays, tuple) else (arrays,)


def _sent(argument: Any, threads: int) -> Any:
    """Return an argument as the card takes it."""
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
    """Return the types that the card's kernel of an entry takes: the number of rows is the last."""
    stacked = [_stacked(kind) if place else kind for kind, place in zip(parameter_types(source), places, strict=True)]
    return (*stacked, types.int64)


def _stacked(kind: Any) -> Any:
    """Return the type of an argument that is stacked for all threads or rows."""
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple([_stacked(field) for field in kind.types], kind.instance_class)
    return types.Array(kind.dtype, kind.ndim + 1, "C")


def _free_memory() -> int:
    """Return how many bytes of the card are free."""
    return 1 << 30 if SIMULATED else int(cuda.current_context().get_memory_info().free)


@cache
def compiled(entry: Function, places: tuple[str, ...]) -> Any:
    """Return the card's kernel of an entry; `_place` gives the part of each argument that a thread or row takes."""
    source = source_of(entry)
    kernel = cuda.jit(_rows(source, places))
    if SIMULATED:
        return kernel
    begun = time.monotonic()
    sys.stderr.write(f"gjk3d: compiling {source.__name__} for the graphics card, once a process; minutes\n")
    with _uncontracted():
        compiled_kernel = kernel.compile(_signature(source, places))
    kernel.disable_compile()  # arguments of other types would be compiled as usual
    if CONTRACTED in compiled_kernel.library.get_asm_str():
        raise RuntimeError("this numba-cuda contracts products with sums, and bounds would not hold: try another one")
    sys.stderr.write(f"gjk3d: compiled after {time.monotonic() - begun:.0f} s\n")
    return kernel


@contextmanager
def _uncontracted() -> Iterator[None]:
    """Compile without contraction meanwhile, an option of the compiler that numba-cuda does not pass on."""
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
    """Return the function of a thread, which calls an entry for one row after the other with scratch of the thread."""
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
    """Return the Python function that a kernel is made of."""
    if MODE == "object" and isinstance(function, BuiltinFunctionType | late.Late):
        return late.source(function)
    source: Function = getattr(function, "py_func", function)
    return source


def _twin_of(function: Function) -> Any:
    """Return the card's kernel of the same code."""
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
    """Return whether a global name of a kernel is a kernel, or a function that the card replaces."""
    of_ours = str(getattr(value, "__module__", "")).startswith("gjk3d.")
    return callable(value) and not isinstance(value, type) and (of_ours or value in _REPLACED)


def _no_number(x: float) -> float:
    """Replace a function of the system's library, whose last digits the card does not have."""
    return math.nan * x


def _no_point(address: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Replace a function of the user."""
    return (math.nan, math.nan, math.nan)


_REPLACED: dict[Any, Function] = {math.sin: _no_number, math.cos: _no_number, callback.call: _no_point}
