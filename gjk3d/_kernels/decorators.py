"""The decorators of compiled functions.

Python calls an `entry`. An entry calls functions that are a `kernel` or `inlined`. CPython calls a `builtin` with the
addresses of objects, which saves a microsecond per call.

The environment variable ``GJK3D_KERNELS`` selects the machine code of a process:

- ``object``, the default: the code is in the object file of `store`. See `late` for calls before the file exists.
- ``jit``: numba compiles in this process, and stores the code in numba's cache.
- ``python``: nothing is compiled.
- ``alone``: numba compiles each kernel without the kernels that it calls. Only the builder uses this mode, see `alone`.

If objects have another layout than `calls` describes, ``object`` becomes ``jit``, or ``python`` without numba. Two
variables of numba are respected: with ``NUMBA_DISABLE_JIT`` nothing is compiled, and with ``NUMBA_BOUNDSCHECK``
``object`` becomes ``jit``.
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
    """Return the mode of this process: "object", "jit", "python" or "alone"."""

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
    """A function that CPython calls with the addresses of objects. Its machine code is looked up by name."""

    name: str


def compiled() -> bool:
    """Return whether kernels are machine code. Otherwise queries of few items run interpreted."""
    if MODE == "object":
        from gjk3d._kernels import late

        return late.arrived()
    return MODE == "jit"


def kernel(function: F) -> F:
    """Compile a function that entries and other kernels call."""
    return _compiled(function, {})


def inlined(function: F) -> F:
    """Compile a function as `kernel` does, and inline every call of it. It is for short functions."""
    return _compiled(function, {"forceinline": True})


def entry(function: F) -> F:
    """Compile a function that Python calls. Annotations give the types of its parameters and its result."""
    return _entry(function, single=False)


def single_entry(function: F) -> F:
    """Compile a function as `entry` does. Without machine code, calls with few items run interpreted."""
    return _entry(function, single=True)


def builtin(function: Callable[..., int]) -> Any:
    """Compile a function that CPython calls with the addresses of objects, see `gjk3d._kernels.calls`."""
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

    # types of parameters may be defined later in the file, so only the hint of the result is resolved
    alone.__annotations__ = {"return": function.__annotations__["return"]}
    hint = get_type_hints(alone, globalns=function.__globals__, include_extras=True)["return"]
    return (get_origin(hint) is tuple or hasattr(hint, "_fields")) and has_arrays(hint)


def _compile_here(function: Callable[..., Any], more: dict[str, Any]) -> Any:
    """Return numba's dispatcher of a kernel, cached on disk.

    numba detects edits of the kernel's file, but not of the files of the kernels that it calls. `_guard` detects these.
    """
    global _uncached
    import numba

    # Kernels allocate nothing, so they do not count references: the atomic counting of all array arguments took most of
    # the time of a query. Only functions that return views count them, because numba 0.68 would otherwise give a view
    # in a returned tuple the type of the whole array. Their callers pass arrays without an owner, so no memory leaks.
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
    """Delete numba's cached files in ``folder`` if they were compiled from other sources.

    A file in the folder has the key of the code of all kernels, see `gjk3d._kernels.sources`. Modification times are
    not reliable, because copies of a file may have other times.

    numba's files are pickles, which run code. If other users may write to the folder, its files are deleted and its
    mode is set to 700. Raise a PermissionError if the folder belongs to another user.
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
    """Return an integer unchanged. In numba the result has the type int64 and not that of a literal.

    Call a kernel with ``plain(0)`` in place of ``0``. In mode "jit" a literal argument would compile the kernel, and
    all kernels that it calls, a second time. `plain` is not needed for a literal in a NamedTuple, or for a variable
    that is assigned again in a branch or a loop.
    """
    return int(np.int64(number))
