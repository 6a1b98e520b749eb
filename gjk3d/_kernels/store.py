"""Where compiled kernels lie: with the package or in the user's cache, by the content that they follow from."""

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
from gjk3d._kernels.files import folder, texts, write

SHIPPED = Path(__file__).parent / "objects"


@cache
def source_key() -> str:
    """Return the key of the code that machine code follows from, see `sources`, as it was when first called."""
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
    """Return the name of the file that has the key of the code in the package's files."""
    digest = hashlib.sha256()
    for name, text in package.items():
        digest.update(f"{name} {len(text)}\0".encode() + text)
    return f"{digest.hexdigest()[:32]}.key"


def _write_key(path: Path, key: str) -> None:
    write(path, f"{key} {_check(path.name, key)}".encode())


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
    """Return what this machine's processor can do: ``x86-64-v3`` or ``x86-64``, or ``generic`` where it is another."""
    import llvmlite.binding as llvm

    if not machine().endswith("x86_64"):
        return "generic"
    features = llvm.get_host_cpu_features()
    return "x86-64-v3" if all(features.get(each) for each in _V3) else "x86-64"


def object_name(kind: str, level: str) -> str:
    """Return the name of the object of these sources for a kind of machine."""
    return f"{hashlib.sha256(f'{source_key()} {kind} {level}'.encode()).hexdigest()[:32]}.o"


def shipped_bitcode() -> Path:
    """Return where a wheel has the bitcode of these sources."""
    return SHIPPED / f"{source_key()[:32]}.bitcode"


class Built(NamedTuple):
    """Machine code or bitcode, and the facts that its reader needs: names of its entries, symbols that it needs."""

    path: Path
    content: bytes
    facts: dict[str, Any]


def find(without: Sequence[Path] = ()) -> Built | None:
    """Return the object for this machine, shipped or built, but none of those given."""
    name = object_name(machine(), cpu_level())
    for place in (SHIPPED, folder()):
        if place / name not in without and (built := read(place / name)):
            return built
    return None


def read(path: Path) -> Built | None:
    """Return what `write_built` wrote, or None if it is not there, damaged, or writable by other users."""
    try:
        facts = json.loads(_content(path.with_suffix(".json")))
        content = _content(path)
        whole = facts.pop("check") == _check_of(content, facts)  # LLVM does not survive a damaged object
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return Built(path, content, facts) if whole else None


def _content(path: Path) -> bytes:
    """Return the content of a file; the package's own are as trusted as its code."""
    return path.read_bytes() if path.parent == SHIPPED else files.read(path)


def _check_of(content: bytes, facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode() + content).hexdigest()


def write_built(path: Path, content: bytes, facts: dict[str, Any]) -> None:
    """Write machine code or bitcode; last, since it is what is looked for."""
    write(path.with_suffix(".json"), json.dumps({**facts, "check": _check_of(content, facts)}).encode())
    write(path, content)


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """Hold the one lock of the builders of this machine; the system gives it back where its owner is killed."""
    files.make_folder(folder())
    with open(folder() / _LOCK, "a+b", opener=files.private) as file:
        while not _held(file):
            time.sleep(0.2)
        yield


_LOCK = "build.lock"


def _held(file: IO[bytes]) -> bool:
    """Take the lock if nobody has it, and tell whether that was so."""
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
    """Tell whether a builder is at work on this machine, of whatever process."""
    try:
        with open(folder() / _LOCK, "r+b") as file:
            return not _held(file)
    except OSError:  # there never was one, or it is another user's
        return False


_PROGRESS = "build.progress"


@contextlib.contextmanager
def progress() -> Iterator[Callable[[float], None]]:
    """Let others know how far a build is."""
    path = folder() / _PROGRESS

    def tell(part: float) -> None:
        with contextlib.suppress(OSError):
            write(path, f"{part:.4f}".encode())

    try:
        yield tell
    finally:
        path.unlink(missing_ok=True)


def how_far() -> float:
    """Return how far the build of another process is, 0 where it has not begun."""
    try:
        return float((folder() / _PROGRESS).read_text())
    except (OSError, ValueError):
        return 0.0


def describe() -> dict[str, Any]:
    """Return where objects lie and what is there."""
    found, place = find(), folder()
    return {
        "object": None if found is None else str(found.path),
        "level": cpu_level(),
        "folder": str(place),
        "refused": [*files.refused.values()],
        "writable": _can_write(place),
        "building": how_far() if is_building() else None,
    }


def _can_write(place: Path) -> bool:
    """Tell by trying whether a folder could be made there: the rights of /proc and of a device say nothing."""
    there = next(each for each in (place, *place.parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return True
    except OSError:
        return False
