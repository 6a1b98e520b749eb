"""The decorators of compiled code: `entry` for functions that Python calls, `kernel` and `inlined` for those below.

A `builtin` takes the addresses of objects, for single calls where a microsecond counts.

``GJK3D_KERNELS`` decides once a process where machine code comes from:

- ``object``, the default: from the object file of `store`. `late` describes what happens until there is one.
- ``jit``: numba compiles in this process, and stores the code in its own cache.
- ``python``: nothing is compiled.
- ``alone``: numba compiles each kernel without the kernels that it calls, for the builder, see `alone`.

``object`` becomes ``jit``, or ``python`` without numba, in a process whose objects differ from those that `calls`
describes. numba's own switches are respected: with ``NUMBA_DISABLE_JIT`` nothing is compiled, with
``NUMBA_BOUNDSCHECK`` numba compiles.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np

from gjk3d._kernels import calls

F = TypeVar("F", bound=Callable[..., Any])


def _mode() -> str:
    """Return how kernels run in this process; machine code needs objects that are laid out as `calls` describes."""

    def is_on(name: str) -> bool:
        return os.environ.get(name, "0") not in ("", "0")

    if is_on("NUMBA_DISABLE_JIT"):
        return "python"
    mode = os.environ.get("GJK3D_KERNELS", "object")
    if mode not in ("object", "jit", "python", "alone"):
        raise ValueError(f"GJK3D_KERNELS is {mode!r}, expected object, jit or python")
    if mode == "object" and calls.array_faults():
        return "jit" if find_spec("numba") else "python"
    return "jit" if is_on("NUMBA_BOUNDSCHECK") and mode == "object" else mode


MODE = _mode()


class Builtin(NamedTuple):
    """A function that CPython calls with addresses of objects; machine code is looked up by its name."""

    name: str


def compiled() -> bool:
    """Return whether kernels are machine code by now; until then a single query may be interpreted."""
    if MODE == "object":
        from gjk3d._kernels import late

        return late.arrived()
    return MODE == "jit"


def kernel(function: F) -> F:
    """Compile a function that entries and other kernels call."""
    return _compiled(function, {})


def inlined(function: F) -> F:
    """Compile a function as `kernel` does, and inline it everywhere: for short functions, or one caller."""
    return _compiled(function, {"forceinline": True})


def entry(function: F) -> F:
    """Compile a function that Python calls; its annotations give all types, of arrays with their dimensions."""
    return _entry(function, single=False)


def single_entry(function: F) -> F:
    """Compile a function as `entry` does; until there is machine code, queries about few items run interpreted."""
    return _entry(function, single=True)


def builtin(function: Callable[..., int]) -> Any:
    """Compile a function that CPython calls with addresses of objects; see `calls`."""
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
        return cast(F, _compile_here(function, more))
    if MODE == "alone":
        from gjk3d._kernels import alone

        return cast(F, alone.dispatcher(function, more))
    return function


_STAMP = "gjk3d-sources.sha256"
_folders: dict[str, None] = {}
_uncached = False


def _returns_arrays(function: Callable[..., Any]) -> bool:
    """Return whether a kernel returns arrays in a tuple."""

    def has_arrays(hint: Any) -> bool:
        if get_origin(hint) is tuple:
            return any(map(has_arrays, get_args(hint)))
        if hasattr(hint, "_fields"):
            return any(map(has_arrays, get_type_hints(hint, include_extras=True).values()))
        return get_origin(hint) in (Annotated, np.ndarray)

    def alone() -> None: ...

    # parameters may have types that are defined further down, so only the hint of the result is resolved
    alone.__annotations__ = {"return": function.__annotations__["return"]}
    hint = get_type_hints(alone, globalns=function.__globals__, include_extras=True)["return"]
    return (get_origin(hint) is tuple or hasattr(hint, "_fields")) and has_arrays(hint)


def _compile_here(function: Callable[..., Any], more: dict[str, Any]) -> Any:
    """Return numba's dispatcher of a kernel, cached on disk.

    numba's key of its cache is the file of the kernel, so after an edit of a called kernel in another file the old
    machine code of the caller would run. `_guard` prevents that.
    """
    global _uncached
    import numba

    # Without reference counts: kernels allocate nothing, and counting every array argument of every call up and down,
    # atomically, took most of the time of a query. Without them numba 0.68 gives a view in a returned tuple the type of
    # the whole array, so functions that return views count. Their callers pass arrays without an owner: none leaks.
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": _returns_arrays(function), **more}
    if not _uncached:
        try:
            dispatcher = numba.njit(cache=True, **options)(function)
            _guard(dispatcher.stats.cache_path)
            return dispatcher
        except (RuntimeError, OSError) as reason:  # numba: no locator available
            _uncached = True
            sys.stderr.write(
                f"gjk3d: no folder for compiled kernels ({reason}), so each process compiles them again. "
                "Set NUMBA_CACHE_DIR to a writable folder.\n"
            )
    return numba.njit(**options)(function)


def _guard(folder: str) -> None:
    """Delete numba's files of our kernels in ``folder`` unless they were compiled from the present sources.

    The key of the code of all kernels is stored in the folder. Modification times are not compared, because copies and
    hard links do not keep them.

    Raises
    ------
    OSError
        Other users may write the folder. numba's files are pickles, which run code.
    """
    if folder in _folders:
        return
    from gjk3d._kernels import files, store

    place = Path(folder)
    files.make_folder(place)
    # a folder in the package is as safe as the code of the package
    reason = "" if place.is_relative_to(Path(__file__).parents[1]) else files.distrust(place.stat())
    if reason:
        place.chmod(0o700)  # numba's folder for this file; PermissionError if it is another user's
    _folders[folder] = None
    stamp = place / _STAMP
    with contextlib.suppress(OSError):
        if not reason and stamp.read_text() == store.source_key():
            return
    for path in [*place.glob("*.nbi"), *place.glob("*.nbc")]:
        path.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(dir=place, prefix=_STAMP)
    with os.fdopen(handle, "w") as file:
        file.write(store.source_key())
    Path(name).replace(stamp)


@inlined
def plain(number: int) -> int:
    """Return an integer as it is, for calls with a literal, which has a type of its own in numba.

    If numba compiles in this process, ``f(0)`` would compile f, and all kernels that it calls, in addition to ``f(k)``.
    The builder compiles only one of them. A literal loses its type where it is stored in a NamedTuple, and where its
    variable is assigned again in a branch or a loop.
    """
    return int(np.int64(number))
