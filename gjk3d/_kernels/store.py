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
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

_ROOT = Path(__file__).parents[2]
SHIPPED = Path(__file__).parent / "objects"  #: of a wheel
_NO_PLACE = Path(os.devnull) / "gjk3d"  #: a folder that cannot be made
_SUBFOLDERS = ("bitcode", "groups", "keys")
#: what a cache contains, that of older versions included
_CACHED = re.compile(r"[0-9a-f]{32,64}(\.\w+)?|sources\.json|build\.\w+|\.new-\S+|" + "|".join(_SUBFOLDERS))

refused: dict[Path, str] = {}  #: files and folders of the cache that this process does not use, with the reasons


def texts() -> dict[str, bytes]:
    """Return the content of every source file of the package by its name, as ``gjk3d/poses.py``."""
    return {path.relative_to(_ROOT).as_posix(): path.read_bytes() for path in sorted((_ROOT / "gjk3d").rglob("*.py"))}


@cache
def folder() -> Path:
    """Return the folder of the code built on this machine: `GJK3D_CACHE_DIR`, or a folder in the user's cache.

    A folder that other users may write is not used. The next one is taken instead: the folder in the user's cache, and
    then a private folder next to the system's temporary files. On Windows, temporary files are not shared.
    """
    usable = next(filter(_is_usable, _places()), _NO_PLACE)
    if usable != (first := next(_places())):
        _report(f"{refused[first]} Kernels are cached in {usable}. GJK3D_CACHE_DIR names another folder.")
    return usable


def _places() -> Iterator[Path]:
    """Yield the folders that the cache may be in, the preferred one first."""
    if configured := os.environ.get("GJK3D_CACHE_DIR"):
        yield Path(configured)
    yield _user_folder()
    if os.name == "posix":
        with contextlib.suppress(OSError):  # the system has no folder for temporary files
            yield Path(tempfile.gettempdir()) / f"gjk3d-{os.geteuid()}"


def _user_folder() -> Path:
    try:
        home = Path.home()
    except RuntimeError:  # a user whom the system does not know, as in containers
        home = Path(os.devnull)
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "gjk3d" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "gjk3d"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "gjk3d"


def distrust(status: os.stat_result) -> str:
    """Return why a file or folder with this status may contain code of other users, or an empty string."""
    if os.name != "posix":
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return f"it belongs to user {status.st_uid}"
    mode = stat.S_IMODE(status.st_mode)
    return f"its mode {mode:03o} lets other users write it" if mode & 0o022 else ""


def _is_usable(place: Path) -> bool:
    """Return whether no other user may write or replace a cache; an older one of the user's own is made private."""
    if reason := _replaceable(place):
        refused[place] = f"The cache {place} is not used, because {reason} and its files are run as code."
        return False
    for path in (place, *(place / name for name in _SUBFOLDERS)):
        try:
            reason = distrust(os.stat(path))
        except OSError:  # not made yet
            continue
        if reason:
            refused[place] = f"The cache {path} is not used, because {reason} and its files are run as code."
            with contextlib.suppress(OSError):  # an entry of another user
                return make_private(place) and _empty(place)
            return False
    return True


def _replaceable(place: Path) -> str:
    """Return why other users may put another folder in the place of a cache, or an empty string.

    A folder with the sticky bit keeps the folders of others in place. The user's own group is taken for private.
    """
    for parent in place.resolve().parents if os.name == "posix" else ():
        with contextlib.suppress(OSError):  # not made yet
            status = os.stat(parent)
            not_private = 0o002 if status.st_gid == os.getegid() else 0o022
            if stat.S_ISDIR(status.st_mode) and status.st_mode & not_private and not status.st_mode & stat.S_ISVTX:
                return f"the mode {stat.S_IMODE(status.st_mode):03o} of {parent} lets other users replace it"
    return ""


def make_private(place: Path) -> bool:
    """Give a cache of the user's own mode 700; return False for a shared folder and one that is empty or no cache."""
    status = os.stat(place)
    if os.name != "posix" or status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX:
        return False
    names = os.listdir(place)
    if not names or not all(map(_CACHED.fullmatch, names)):
        return False
    place.chmod(0o700)
    return True


def _empty(place: Path) -> bool:
    for path in place.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    refused[place] = f"The cache {place} could be written by other users. It was emptied and has mode 700 now."
    _report(refused[place])
    return True


def read_file(path: Path) -> bytes:
    """Return the content of a file of the cache.

    Raises
    ------
    OSError
        The file does not exist, or other users may write it.
    """
    with open(path, "rb") as file:
        if reason := distrust(os.fstat(file.fileno())):
            if not refused:
                _report(f"The cached file {path} is not used, because {reason}. It is built again.")
            refused[path] = f"The cached file {path} is not used, because {reason}."
            raise PermissionError(refused[path])
        return file.read()


def _report(message: str) -> None:
    """Print a message, except in the workers of a process that has printed it."""
    import multiprocessing

    if multiprocessing.parent_process() is None:
        sys.stderr.write(f"gjk3d: {message}\n")


def make_folder(path: Path) -> None:
    """Make a folder and its parents for the user alone, with any umask."""
    for folder_path in reversed([path, *path.parents]):
        if not folder_path.exists():
            folder_path.mkdir(mode=0o700, exist_ok=True)
            folder_path.chmod(0o700)


def write_file(path: Path, content: bytes) -> None:
    """Write a file for the user alone, with any umask; the file is either complete or missing."""
    make_folder(path.parent)
    new = path.parent / f".new-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        with open(new, "xb", opener=open_private) as file:
            file.write(content)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def open_private(name: str, flags: int) -> int:
    """Open a file for `open`; a file of the user's own gets mode 600."""
    descriptor = os.open(name, flags, 0o600)
    if os.name == "posix" and os.fstat(descriptor).st_uid == os.geteuid():
        os.fchmod(descriptor, 0o600)
    return descriptor


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
        is_whole = facts.pop("check") == _check_of(content, facts)  # LLVM does not survive a damaged object
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return Built(path, content, facts) if is_whole else None


def _content(path: Path) -> bytes:
    """Return the content of a file; the package's own are as trusted as its code."""
    return path.read_bytes() if path.parent == SHIPPED else read_file(path)


def _check_of(content: bytes, facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode() + content).hexdigest()


def write_built(path: Path, content: bytes, facts: dict[str, Any]) -> None:
    """Write machine code or bitcode after its facts, since readers look for the code."""
    write_file(path.with_suffix(".json"), json.dumps({**facts, "check": _check_of(content, facts)}).encode())
    write_file(path, content)


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """Hold the lock of the builders of this machine; the system releases it if its owner is killed."""
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
    """Return the paths of objects, and their state."""
    built, place = find(), folder()
    return {
        "object": None if built is None else str(built.path),
        "level": cpu_level(),
        "folder": str(place),
        "refused": [*refused.values()],
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
