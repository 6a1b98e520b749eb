"""Entries on a graphics card: the same kernels, compiled by numba-cuda, a thread for a row.

A kernel is bound anew for the card: the same Python code, with every kernel that it calls replaced by that one's twin.
Arithmetic is that of the processor, digit for digit: float64, and no product is contracted with a sum, which numba-cuda
does unless it is told not to. Of the system's sine and cosine the card has others, and the user's functions it has not:
what would need them is NaN there, and its row is for the processor.

Imported only where a question asks for a card; numba-cuda is the extra ``gpu``.
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
from gjk3d._kernels.signatures import taken

Function = Callable[..., Any]

SIMULATED = bool(config.ENABLE_CUDASIM)  #: ``NUMBA_ENABLE_CUDASIM``: numba runs the threads in Python
#: threads of a block; a kernel that needs all registers of a thread leaves room for no more
BLOCK = 64
#: threads at a time, each with scratch of its own; a card has room for no more of such kernels
MOST_THREADS = 32768
#: what PTX calls a product that is contracted with a sum
CONTRACTED = "fma.rn.f64"


class Own(NamedTuple):
    """Scratch: each thread has its own array of this shape, with this content where that is ``kept``."""

    array: Any
    kept: bool = False


class Rows(NamedTuple):
    """An array of which an entry that asks for one row takes row after row."""

    array: Any


class Back(NamedTuple):
    """An array that the rows are answered in, which is brought back; of ``rows`` an entry takes one after the other."""

    array: Any
    rows: bool = False


def unavailable() -> str:
    """Return why no card can be asked, nothing where one can."""
    if SIMULATED:
        return ""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed: pip install 'gjk3d[gpu]' brings it"
    if not cuda.is_available():
        said = " ".join(str(cuda.cuda_error() or "CUDA finds none").split())
        return f"there is no graphics card of NVIDIA's here, or no driver of it ({said})"
    return ""


def run(entry: Function, arguments: Sequence[Any]) -> None:
    """Answer the rows that a `Back` has of an entry; its arguments in their order, see `Own`, `Rows` and `Back`."""
    total = max(len(each.array) for each in arguments if isinstance(each, Back))
    if total == 0:
        return
    block = min(BLOCK, total)
    places = tuple(_place(each) for each in arguments)
    room = sum(array.nbytes for each in arguments if isinstance(each, Own) for array in _fields(each.array))
    blocks = -(-min(total, MOST_THREADS, max(_free_memory() // (2 * room), 1)) // block)
    kernel = compiled(entry, places)
    sent = [_sent(each, blocks * block) for each in arguments]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Grid size")  # few rows leave a card idle, which whoever asks knows
        kernel[blocks, block](*sent, total)
    for each, there in zip(arguments, sent, strict=True):
        if isinstance(each, Back):
            there.copy_to_host(each.array)


def _place(each: Any) -> str:
    """Return what of an argument one call of the entry takes."""
    if isinstance(each, Own):
        return "[thread]"
    return "[k]" if isinstance(each, Rows) or (isinstance(each, Back) and each.rows) else ""


def _fields(each: Any) -> Sequence[Any]:
    """Return the arrays of a NamedTuple, or one array."""
    return each if isinstance(each, tuple) else (each,)


def _sent(each: Any, threads: int) -> Any:
    """Return an argument as the card takes it."""
    if isinstance(each, Own) and isinstance(each.array, tuple):
        return type(each.array)(*(_sent(each._replace(array=array), threads) for array in each.array))
    if isinstance(each, tuple) and not isinstance(each, Own | Back | Rows):
        return type(each)(*(_sent(array, threads) for array in each))
    if isinstance(each, Own):
        if each.kept:
            return cuda.to_device(np.repeat(each.array[None], threads, axis=0))
        return cuda.device_array((threads, *each.array.shape), each.array.dtype)
    if isinstance(each, Back | Rows):
        return cuda.to_device(each.array)
    return cuda.to_device(each) if isinstance(each, np.ndarray) else each


def _signature(source: Function, places: Sequence[str]) -> tuple[Any, ...]:
    """Return the types that the card's kernel of an entry takes: the number of rows is the last."""
    taken_by = [_stacked(each) if place else each for each, place in zip(taken(source), places, strict=True)]
    return (*taken_by, types.int64)


def _stacked(kind: Any) -> Any:
    """Return the type of what is one behind the other for all threads or rows."""
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple([_stacked(each) for each in kind.types], kind.instance_class)
    return types.Array(kind.dtype, kind.ndim + 1, "C")


def _free_memory() -> int:
    """Return how many bytes of the card are free."""
    return 1 << 30 if SIMULATED else int(cuda.current_context().get_memory_info().free)


@cache
def compiled(entry: Function, places: tuple[str, ...]) -> Any:
    """Return the card's kernel of an entry; of some arguments each thread or row has its own: see `_place`."""
    source = source_of(entry)
    kernel = cuda.jit(_rows(source, places))
    if SIMULATED:
        return kernel
    begun = time.monotonic()
    sys.stderr.write(f"gjk3d: compiling {source.__name__} for the graphics card, once a process; minutes\n")
    with _uncontracted():
        made = kernel.compile(_signature(source, places))
    kernel.disable_compile()  # arguments of other types would be compiled as usual
    if CONTRACTED in made.library.get_asm_str():
        raise RuntimeError("this numba-cuda contracts products with sums, and bounds would not hold: try another one")
    sys.stderr.write(f"gjk3d: compiled after {time.monotonic() - begun:.0f} s\n")
    return kernel


@contextmanager
def _uncontracted() -> Iterator[None]:
    """Have what is compiled meanwhile keep its products: numba-cuda has no option for what its compiler has one for."""
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
    """Return the function of a thread: an entry, asked for one row after the other, with the thread's own scratch."""
    names = parameters(source)
    given = {"start": "k", "stop": "k + 1"}
    kinds = {name: hint for name, hint in get_type_hints(source).items() if hasattr(hint, "_fields")}
    passed = [
        f"{kinds[name].__name__}({', '.join(f'{name}.{field}{place}' for field in kinds[name]._fields)})"
        if place and name in kinds
        else given.get(name, name + place)
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
    made: Function = space["rows"]
    return made


def parameters(entry: Function) -> list[str]:
    """Return the names of what an entry takes."""
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
            space[name] = _twin_of(_OTHERS.get(value, value)) if _is_called(value) else value
    bound = FunctionType(source.__code__, space, source.__name__, source.__defaults__)
    bound.__qualname__ = source.__qualname__
    return cuda.jit(device=True)(bound)


def _names(code: CodeType) -> list[str]:
    inner = [name for each in code.co_consts if isinstance(each, CodeType) for name in _names(each)]
    return [*code.co_names, *inner]


def _is_called(value: Any) -> bool:
    """Tell whether a global name of a kernel is a kernel itself, or what the card does in another way."""
    of_ours = str(getattr(value, "__module__", "")).startswith("gjk3d.")
    return callable(value) and not isinstance(value, type) and (of_ours or value in _OTHERS)


def _no_number(x: float) -> float:
    """Stand for a function of the system's library, whose last digits the card has not."""
    return math.nan * x


def _no_point(address: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Stand for a function of the user."""
    return (math.nan, math.nan, math.nan)


_OTHERS: dict[Any, Function] = {math.sin: _no_number, math.cos: _no_number, callback.call: _no_point}
