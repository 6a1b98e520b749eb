"""Kernels that numba compiles in this process, kept in its cache, and the guard against stale ones.

numba keys its cache on the file a kernel stands in, so an edit in a *called* kernel of another file leaves the
caller's old machine code running. The guard keeps the key of the code of all kernels beside the cache, and
drops our cache files where it differs. It never looks at modification times: copies and hard links lie about them.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from gjk3d._kernels import files
from gjk3d._kernels.store import source_key

_PACKAGE = Path(__file__).parents[1]

_STAMP = "gjk3d-sources.sha256"
_folders: dict[str, None] = {}
_uncached = False


def compiled(function: Callable[..., Any], more: dict[str, Any]) -> Any:
    """Return numba's dispatcher of a kernel, cached on disk."""
    global _uncached
    # without reference counts: kernels allocate nothing, and counting every array argument of every call up and down,
    # atomically, took most of the time of a query
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False, **more}
    if not _uncached:
        try:
            made = numba.njit(cache=True, **options)(function)
            _guard(made.stats.cache_path)
            return made
        except (RuntimeError, OSError) as reason:  # numba: no locator available
            _uncached = True
            sys.stderr.write(
                f"gjk3d: no place to keep compiled kernels ({reason}); each process compiles them again. "
                "Set NUMBA_CACHE_DIR to a writable folder.\n"
            )
    return numba.njit(**options)(function)


def _guard(folder: str) -> None:
    """Drop our cache files in ``folder`` unless they were compiled from the sources as they are.

    Raises
    ------
    OSError
        Other users may write the folder. numba's files are pickles, which run code.
    """
    if folder in _folders:
        return
    place = Path(folder)
    files.make_folder(place)
    reason = "" if place.is_relative_to(_PACKAGE) else files.distrust(place.stat())  # beside code it is as safe as that
    if reason:
        place.chmod(0o700)  # numba's folder for this file; PermissionError if it is another user's
    _folders[folder] = None
    stamp = place / _STAMP
    with contextlib.suppress(OSError):
        if not reason and stamp.read_text() == source_key():
            return
    for path in [*place.glob("*.nbi"), *place.glob("*.nbc")]:
        path.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(dir=place, prefix=_STAMP)
    with os.fdopen(handle, "w") as file:
        file.write(source_key())
    Path(name).replace(stamp)
