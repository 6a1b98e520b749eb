"""Compiled kernels on disk, with the package or in the user's cache. The name of each is a hash of its sources.

The files of the cache are run as code. On POSIX only files and folders of the user or of root are used, and none that
the group or others may write. One builder works at a time on a machine, and a lock enforces that.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from gjk3d._kernels import files
from gjk3d._kernels.files import (
    folder,
    make_folder,
    open_private,
    read_file,
    texts,
    write_file,
)

SHIPPED = Path(__file__).parent / "objects"  #: of a wheel


@cache
def source_key() -> str:
    """Return the key of the code of all kernels, see `sources`, as it was at the first call."""
    return read_key()


def read_key() -> str:
    """Return the key of the code as it is now.

    It is cached by the bytes of all files, since reading the code takes a second. A wheel has its key under the same
    name, so that it does not depend on the version of Python, which decides how code is read.
    """
    package = texts()
    name = _name_of(package)
    for path in (SHIPPED / name, folder() / "keys" / name):
        with contextlib.suppress(OSError, ValueError):
            key, check = _content(path).decode().split()
            if check == _check(name, key):
                return key
    from gjk3d._kernels import sources

    key = sources.key_of(package)
    with contextlib.suppress(OSError):
        _write_key(folder() / "keys" / name, key)
    return key


def ship_key() -> None:
    """Write the key into the package, for a wheel."""
    _write_key(SHIPPED / _name_of(texts()), source_key())


def _name_of(package: dict[str, bytes]) -> str:
    """Return the name of the file that has the key of these files."""
    digest = hashlib.sha256()
    for name, text in package.items():
        digest.update(f"{name} {len(text)}\0".encode() + text)
    return f"{digest.hexdigest()[:32]}.key"


def _write_key(path: Path, key: str) -> None:
    write_file(path, f"{key} {_check(path.name, key)}".encode())


def _check(name: str, key: str) -> str:
    return hashlib.sha256(f"{name} {key}".encode()).hexdigest()


@cache
def machine() -> str:
    """Return the kind of this machine, as ``linux-x86_64``."""
    processor = platform.machine().lower()
    processor = {"amd64": "x86_64", "aarch64": "arm64"}.get(processor, processor)
    return f"{platform.system().lower()}-{processor}"


_V3 = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")


@cache
def cpu_level() -> str:
    """Return the level of this machine's processor: ``x86-64-v3`` or ``x86-64``, ``generic`` for other kinds."""
    import llvmlite.binding as llvm

    if not machine().endswith("x86_64"):
        return "generic"
    features = llvm.get_host_cpu_features()
    return "x86-64-v3" if all(features.get(feature) for feature in _V3) else "x86-64"


def object_name(kind: str, level: str) -> str:
    """Return the name of the object file of these sources for a kind of machine."""
    return f"{hashlib.sha256(f'{source_key()} {kind} {level}'.encode()).hexdigest()[:32]}.o"


def shipped_bitcode() -> Path:
    """Return the path of the bitcode of these sources in a wheel."""
    return SHIPPED / f"{source_key()[:32]}.bitcode"


class Built(NamedTuple):
    """Machine code or bitcode, and the facts that its reader needs: names of its entries, symbols that it needs."""

    path: Path
    content: bytes
    facts: dict[str, Any]


def find(without: Sequence[Path] = ()) -> Built | None:
    """Return the object file for this machine, shipped or built, or None; the paths ``without`` are skipped."""
    name = object_name(machine(), cpu_level())
    for place in (SHIPPED, folder()):
        if place / name not in without and (built := read(place / name)) and "names" in built.facts:
            return built
    return None


def read(path: Path) -> Built | None:
    """Return the code that `write_built` wrote, or None if it is missing, damaged, or writable by other users."""
    try:
        facts = json.loads(_content(path.with_suffix(".json")))
        content = _content(path)
        is_whole = facts.pop("check") == _check_of(content, facts)  # LLVM does not survive a damaged object
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return Built(path, content, facts) if is_whole else None


def _content(path: Path) -> bytes:
    """Return the content of a file; the package's own are as trusted as its code."""
    return path.read_bytes() if path.parent == SHIPPED else read_file(path)


def _check_of(content: bytes, facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode() + content).hexdigest()


def write_built(path: Path, content: bytes, facts: dict[str, Any]) -> None:
    """Write the facts, and then the machine code or bitcode, since readers look for the code."""
    write_file(path.with_suffix(".json"), json.dumps({**facts, "check": _check_of(content, facts)}).encode())
    write_file(path, content)


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """Acquire the lock of the builders of this machine; the system releases it if its owner is killed."""
    make_folder(folder())
    with open(folder() / _LOCK, "a+b", opener=open_private) as file:
        while not _try_lock(file):
            time.sleep(0.2)
        yield


_LOCK = "build.lock"


def _try_lock(file: IO[bytes]) -> bool:
    """Acquire the lock if it is free; return whether it was."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


def is_building() -> bool:
    """Return whether a builder of any process runs on this machine."""
    try:
        with open(folder() / _LOCK, "r+b") as file:
            return not _try_lock(file)
    except OSError:  # there never was one, or it is another user's
        return False


_PROGRESS = "build.progress"


@contextlib.contextmanager
def progress() -> Iterator[Callable[[float], None]]:
    """Publish the progress of a build to other processes."""
    path = folder() / _PROGRESS

    def tell(part: float) -> None:
        with contextlib.suppress(OSError):
            write_file(path, f"{part:.4f}".encode())

    try:
        yield tell
    finally:
        path.unlink(missing_ok=True)


def how_far() -> float:
    """Return the progress of the build of another process, 0 before it starts."""
    try:
        return float((folder() / _PROGRESS).read_text())
    except (OSError, ValueError):
        return 0.0


def describe() -> dict[str, Any]:
    """Return the path of the object file, and the state of its folder and of the builder."""
    built, place = find(), folder()
    return {
        "object": None if built is None else str(built.path),
        "level": cpu_level(),
        "folder": str(place),
        "refused": [*files.refused.values()],
        "writable": _can_write(place),
        "building": how_far() if is_building() else None,
    }


def _can_write(place: Path) -> bool:
    """Return whether a folder can be made there, by trying, since the rights of /proc and of devices are misleading."""
    existing = next(folder_path for folder_path in (place, *place.parents) if folder_path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return True
    except OSError:
        return False
