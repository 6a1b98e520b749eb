"""The decorators for compiled code: `entry` for what Python calls, `kernel` and `inlined` for what entries call.

A `builtin` takes objects themselves, for single calls where a microsecond counts.

Where the machine code comes from is decided once a process, by ``GJK3D_KERNELS``:

- ``object``, the default: from the object file of `store`. While there is none, see `late`.
- ``jit``: numba compiles in this process, and keeps what it made in its own cache.
- ``python``: nothing is compiled.
- ``alone``: numba compiles each kernel without those that it calls, for the builder, see `alone`.

numba's own switches stand: with ``NUMBA_DISABLE_JIT`` nothing is compiled, with ``NUMBA_BOUNDSCHECK`` numba compiles.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def _mode() -> str:
    """Return the way kernels run; machine code reads objects as CPython lays them out on 64 bits, with its lock."""

    def switched(name: str) -> bool:
        return os.environ.get(name, "0") not in ("", "0")

    if switched("NUMBA_DISABLE_JIT"):
        return "python"
    said = os.environ.get("GJK3D_KERNELS", "object")
    if said not in ("object", "jit", "python", "alone"):
        raise ValueError(f"GJK3D_KERNELS is {said!r}: object, jit and python are known")
    usual = sys.implementation.name == "cpython" and sys.maxsize > 2**32
    if said == "object" and (not usual or sysconfig.get_config_var("Py_GIL_DISABLED")):
        return "jit" if find_spec("numba") else "python"
    return "jit" if switched("NUMBA_BOUNDSCHECK") and said == "object" else said


MODE = _mode()


class Builtin(NamedTuple):
    """What CPython calls with addresses of objects: its name, by which its machine code is found."""

    name: str


def compiled() -> bool:
    """Tell whether kernels are machine code by now; where they are not, a single question may be interpreted."""
    if MODE == "object":
        from gjk3d._kernels import late

        return late.arrived()
    return MODE == "jit"


def kernel(function: F) -> F:
    """Compile a function that entries and other kernels call."""
    return _compiled(function, {})


def inlined(function: F) -> F:
    """Do as `kernel` does, and make it part of whatever calls it: for a few lines, or what is called from one place."""
    return _compiled(function, {"forceinline": True})


def entry(function: F) -> F:
    """Compile a function that Python calls; its annotations say all, arrays with their dimensions."""
    return _entry(function, single=False)


def single_entry(function: F) -> F:
    """Do as `entry` does; while there is no machine code, a question about few things is answered interpreted."""
    return _entry(function, single=True)


def builtin(function: Callable[..., int]) -> Any:
    """Compile a function that CPython calls with addresses of objects; see `cpython` and `builtins`."""
    if MODE == "alone":
        from gjk3d._kernels import alone

        return alone.builtin(function)
    return Builtin(f"{function.__module__}:{function.__qualname__}")


def _entry(function: F, single: bool) -> F:
    if MODE == "object":
        from gjk3d._kernels import late

        return cast(F, late.entry(function, single))
    if MODE == "alone":
        from gjk3d._kernels import alone

        return cast(F, alone.entry(function))
    return _compiled(function, {})


def _compiled(function: F, more: dict[str, Any]) -> F:
    if MODE == "jit":
        from gjk3d._kernels import jit

        return cast(F, jit.compiled(function, more))
    if MODE == "alone":
        from gjk3d._kernels import alone

        return cast(F, alone.dispatcher(function, more))
    return function


@inlined
def plain(number: int) -> int:
    """Return an integer as it is, for calls with a literal: numba takes a literal for a type of its own.

    So where it compiles in the process, ``f(0)`` compiles f, and all that it calls, once more than ``f(k)`` has; the
    builder asks for one of them alone. What is written into a NamedTuple, or assigned again in a branch or a loop,
    loses its literal type by itself.
    """
    return int(np.int64(number))
