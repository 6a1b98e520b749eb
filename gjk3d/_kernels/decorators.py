"""The decorators for compiled code, `kernel` and `inlined`, and the guard against stale compiled code.

numba keys its cache on the file a kernel stands in, so an edit in a *called* kernel of another file leaves the
caller's old machine code running. The guard keeps a hash of the content of all kernel sources beside the cache, and
drops our cache files where it differs. It never looks at modification times: copies and hard links lie about them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
_PACKAGE = Path(__file__).parents[1]
_STAMP = "gjk3d-sources.sha256"
_folders: dict[str, None] = {}
_kernels: list[Any] = []
_uncached = False


def kernel(function: F) -> F:
    """Compile ``function`` lazily with numba, cached on disk; the only way gjk3d compiles anything."""
    return _compiled(function, {})


def inlined(function: F) -> F:
    """Do as `kernel` does, and make it part of whatever calls it: for a few lines in the innermost loop."""
    return _compiled(function, {"forceinline": True})


def _compiled(function: F, more: dict[str, Any]) -> F:
    global _uncached
    if numba.config.DISABLE_JIT:
        return function
    # without reference counts: kernels allocate nothing, and counting every array argument of every call up and down,
    # atomically, took most of the time of a query
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False, **more}
    if not _uncached:
        try:
            compiled = numba.njit(cache=True, **options)(function)
            _guard(compiled.stats.cache_path)
            _kernels.append(compiled)
            return cast(F, compiled)
        except (RuntimeError, OSError) as reason:  # numba: no locator available
            _uncached = True
            sys.stderr.write(
                f"gjk3d: no place to keep compiled kernels ({reason}); each process compiles them again. "
                "Set NUMBA_CACHE_DIR to a writable folder.\n"
            )
    compiled = numba.njit(**options)(function)
    _kernels.append(compiled)
    return cast(F, compiled)


@cache
def source_hash() -> str:
    """Return the hash of every source file that holds kernels."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        content = path.read_bytes()
        if b"@kernel" in content or b"@inlined" in content or path.name == "decorators.py":
            digest.update(str(path.relative_to(_PACKAGE)).encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def _guard(folder: str) -> None:
    """Drop our cache files in ``folder`` unless they were compiled from the sources as they are."""
    if folder in _folders:
        return
    _folders[folder] = None
    place = Path(folder)
    stamp = place / _STAMP
    try:
        if stamp.read_text() == source_hash():
            return
    except OSError:
        pass
    place.mkdir(parents=True, exist_ok=True)
    for path in [*place.glob("*.nbi"), *place.glob("*.nbc")]:
        path.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(dir=place, prefix=_STAMP)
    with os.fdopen(handle, "w") as file:
        file.write(source_hash())
    Path(name).replace(stamp)


def compiled_signatures() -> dict[str, int]:
    """Return how many signatures each kernel was compiled for in this process."""
    return {f"{k.py_func.__module__}.{k.py_func.__name__}": len(k.signatures) for k in _kernels}


def cache_info() -> dict[str, Any]:
    """Return where compiled kernels are kept, whether that is writable, and what lies there."""
    folders = []
    for folder in _folders:
        files = []
        with contextlib.suppress(OSError):
            files = [path for path in Path(folder).iterdir() if path.suffix in (".nbi", ".nbc")]
        size = sum(path.stat().st_size for path in files)
        folders.append({"path": folder, "writable": os.access(folder, os.W_OK), "files": len(files), "bytes": size})
    return {
        "enabled": not _uncached and not numba.config.DISABLE_JIT,
        "compiles": not numba.config.DISABLE_JIT,
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR"),
        "folders": folders,
    }


@inlined
def plain(number: int) -> int:
    """Return an integer as it is, for calls with a literal: numba takes a literal for a type of its own.

    So ``f(0)`` compiles f, and all that it calls, once more than ``f(k)`` has. What is written into a NamedTuple, or
    assigned again in a branch or a loop, loses its literal type by itself.
    """
    return int(np.int64(number))
