"""The source files of the package, and the folder and the files of what is built from them."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def texts() -> dict[str, bytes]:
    """Return the content of every source file of the package by its name, as ``gjk3d/poses.py``."""
    return {path.relative_to(_ROOT).as_posix(): path.read_bytes() for path in sorted((_ROOT / "gjk3d").rglob("*.py"))}


@cache
def folder() -> Path:
    """Return the folder of what is built on this machine: `GJK3D_CACHE_DIR`, or a place in the user's cache."""
    if said := os.environ.get("GJK3D_CACHE_DIR"):
        return Path(said)
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()) / "gjk3d" / "Cache"
    try:
        home = Path.home()
    except RuntimeError:  # a user whom the system does not know, as in containers: no place is everybody's
        home = Path(os.devnull)
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "gjk3d"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "gjk3d"


def write(path: Path, content: bytes) -> None:
    """Write a file that is either whole or not there; others may read it as the umask says, an image's users too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.parent / f".new-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        with open(new, "xb") as file:
            file.write(content)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
