"""Files of compiled kernels, in the package or in the user's cache.

The name of a file is a hash of the kernels' sources. For machine code the hash includes the kinds of machine
and processor.
The content of the cache is run as code. On POSIX a file or folder is used only if it belongs to the user or to root,
and if group and others cannot write to it. A lock prevents two builders from running on a machine at the same time.
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

SHIPPED = Path(__file__).parent / "objects"  #: the folder of compiled kernels in a wheel


@cache
def source_key() -> str:
    """Return the key of the machine code, a hash of the kernels' sources. It is computed only at the first call."""
    return read_key()


def read_key() -> str:
    """Return the key of the machine code for the present files of the package.

    The key is cached by the hash of all files, because parsing takes a second. Python's parser differs between
    versions, and so does the key. A wheel therefore contains the key with which its machine code was built.
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
    """Write the key of the machine code to the package, for a wheel."""
    _write_key(SHIPPED / _name_of(texts()), source_key())


def _name_of(package: dict[str, bytes]) -> str:
    """Return the name of the file that stores the key, from the content of the package's files by name."""
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
    """Return the system and the processor of this machine, for example "linux-x86_64"."""
    processor = platform.machine().lower()
    processor = {"amd64": "x86_64", "aarch64": "arm64"}.get(processor, processor)
    return f"{platform.system().lower()}-{processor}"


_V3 = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")


@cache
def cpu_level() -> str:
    """Return the level of this machine's processor: "x86-64-v3" or "x86-64", or "generic" for other processors."""
    import llvmlite.binding as llvm

    if not machine().endswith("x86_64"):
        return "generic"
    features = llvm.get_host_cpu_features()
    return "x86-64-v3" if all(features.get(feature) for feature in _V3) else "x86-64"


def object_name(kind: str, level: str) -> str:
    """Return the name of the object file for a kind of machine (`machine`) and a level (`cpu_level`)."""
    return f"{hashlib.sha256(f'{source_key()} {kind} {level}'.encode()).hexdigest()[:32]}.o"


def shipped_bitcode() -> Path:
    """Return the path of the bitcode in a wheel."""
    return SHIPPED / f"{source_key()[:32]}.bitcode"


class Built(NamedTuple):
    """Machine code or bitcode, and facts about it, such as the names of its entries."""

    path: Path
    content: bytes
    facts: dict[str, Any]


def find(without: Sequence[Path] = ()) -> Built | None:
    """Return the object file for this machine from the package or the cache, or None.

    The paths in ``without`` are skipped.
    """
    name = object_name(machine(), cpu_level())
    for place in (SHIPPED, folder()):
        if place / name not in without and (built := read(place / name)) and "names" in built.facts:
            return built
    return None


def read(path: Path) -> Built | None:
    """Return the code and the facts that `write_built` wrote to a file.

    Returns None if the file is missing, damaged, or writable by other users.
    """
    try:
        facts = json.loads(_content(path.with_suffix(".json")))
        content = _content(path)
        is_whole = facts.pop("check") == _check_of(content, facts)  # LLVM crashes if an object file is damaged
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return Built(path, content, facts) if is_whole else None


def _content(path: Path) -> bytes:
    """Return the content of a file. Raise an OSError if a file outside the package is writable for other users."""
    return path.read_bytes() if path.parent == SHIPPED else read_file(path)


def _check_of(content: bytes, facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode() + content).hexdigest()


def write_built(path: Path, content: bytes, facts: dict[str, Any]) -> None:
    """Write facts about machine code or bitcode to a .json file, then the code, so that no code file lacks facts."""
    write_file(path.with_suffix(".json"), json.dumps({**facts, "check": _check_of(content, facts)}).encode())
    write_file(path, content)


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """Hold the lock of this machine's builders in a ``with`` block. The system releases it if the process is killed."""
    make_folder(folder())
    with open(folder() / _LOCK, "a+b", opener=open_private) as file:
        while not _try_lock(file):
            time.sleep(0.2)
        yield


_LOCK = "build.lock"


def _try_lock(file: IO[bytes]) -> bool:
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
    """Return whether a builder runs on this machine, in any process."""
    try:
        with open(folder() / _LOCK, "r+b") as file:
            return not _try_lock(file)
    except OSError:  # no builder has run yet, or the file belongs to another user
        return False


_PROGRESS = "build.progress"


@contextlib.contextmanager
def progress() -> Iterator[Callable[[float], None]]:
    """Yield a function that publishes the progress of a build, from 0 to 1, to other processes."""
    path = folder() / _PROGRESS

    def tell(part: float) -> None:
        with contextlib.suppress(OSError):
            write_file(path, f"{part:.4f}".encode())

    try:
        yield tell
    finally:
        path.unlink(missing_ok=True)


def how_far() -> float:
    """Return the progress of a build in any process, from 0 to 1. It is 0 before the build starts."""
    try:
        return float((folder() / _PROGRESS).read_text())
    except (OSError, ValueError):
        return 0.0


def describe() -> dict[str, Any]:
    """Return the path of the object file, the processor level, the state of the cache, and the progress of a build."""
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
    """Return whether this folder, or its nearest existing parent, is writable.

    A file is written as a test, because access rights can be misleading.
    """
    existing = next(folder_path for folder_path in (place, *place.parents) if folder_path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return True
    except OSError:
        return False
