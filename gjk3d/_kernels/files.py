"""The cache folder of compiled kernels: its path, owner and modes, and safe reads and writes of its files."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_NO_PLACE = Path(os.devnull) / "gjk3d"  #: a folder that cannot be created
_SUBFOLDERS = ("bitcode", "groups", "keys")
#: names of files and folders of a cache, also of older versions
_CACHED = re.compile(r"[0-9a-f]{32,64}(\.\w+)?|sources\.json|build\.\w+|\.new-\S+|" + "|".join(_SUBFOLDERS))

refused: dict[Path, str] = {}  #: files and folders of the cache that this process does not use, with the reasons


def texts() -> dict[str, bytes]:
    """Return the content of each source file of the package by its path, for example "gjk3d/poses.py"."""
    return {path.relative_to(_ROOT).as_posix(): path.read_bytes() for path in sorted((_ROOT / "gjk3d").rglob("*.py"))}


@cache
def folder() -> Path:
    """Return the folder of the cache of compiled kernels.

    Candidates are ``GJK3D_CACHE_DIR``, a folder in the user's cache, and a private folder in the system's folder
    for temporary files, which is not used on Windows. The result is the first that is not writable for other users.
    """
    usable = next(filter(_is_usable, _places()), _NO_PLACE)
    if usable != (first := next(_places())):
        _report(f"{refused[first]} Kernels are cached in {usable}. GJK3D_CACHE_DIR names another folder.")
    return usable


def _places() -> Iterator[Path]:
    """Yield the possible folders of the cache, the preferred one first."""
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
    """Return the reason why a file or folder may contain code of other users, or an empty string."""
    if os.name != "posix":
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return f"it belongs to user {status.st_uid}"
    mode = stat.S_IMODE(status.st_mode)
    return f"its mode {mode:03o} lets other users write it" if mode & 0o022 else ""


def _is_usable(place: Path) -> bool:
    """Return whether only this user can change a cache. A cache that others could change is emptied first."""
    if reason := _replaceable(place):
        refused[place] = f"The cache {place} is not used: its files are run as code, and {reason}."
        return False
    for path in (place, *(place / name for name in _SUBFOLDERS)):
        try:
            reason = distrust(os.stat(path))
        except OSError:  # the folder does not exist yet
            continue
        if reason:
            refused[place] = f"The cache {path} is not used: its files are run as code, and {reason}."
            with contextlib.suppress(OSError):  # an entry of another user
                return make_private(place) and _empty(place)
            return False
    return True


def _replaceable(place: Path) -> str:
    """Return the reason why other users can replace the folder of a cache, or an empty string.

    The owner of a folder or link above the cache can replace the cache. Other users who may write to this folder can do
    so too, unless the folder has the sticky bit. The user is assumed to be the only member of the user's group. The
    owner of the root folder is trusted, because in a container it may be another user than 0.
    """
    if os.name != "posix":
        return ""
    trusted = {0, os.geteuid(), os.stat("/").st_uid}
    given = place.absolute()
    for path in dict.fromkeys([given, *given.parents, *place.resolve().parents]):
        with contextlib.suppress(OSError):  # the folder does not exist yet
            if path.is_symlink() and (owner := path.lstat().st_uid) not in trusted:
                return f"the link {path} belongs to user {owner}, who can replace it"
            status = os.stat(path)
            if path == given or not stat.S_ISDIR(status.st_mode):
                continue
            if status.st_uid not in trusted:
                return f"the folder {path} belongs to user {status.st_uid}, who can replace it"
            not_private = 0o002 if status.st_gid == os.getegid() else 0o022
            if status.st_mode & not_private and not status.st_mode & stat.S_ISVTX:
                return f"the mode {stat.S_IMODE(status.st_mode):03o} of {path} lets other users replace it"
    return ""


def make_private(place: Path) -> bool:
    """Set the mode of a cache of this user to 700 and return True.

    Return False for a folder of another user, or one that is empty, shared (sticky), or not a cache.
    """
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
    """Return the content of a file of the cache. Raise an OSError if it is missing, or others may have written it."""
    with open(path, "rb") as file:
        if reason := distrust(os.fstat(file.fileno())):
            if not refused:
                _report(f"The cached file {path} is not used, because {reason}. It is built again.")
            refused[path] = f"The cached file {path} is not used, because {reason}."
            raise PermissionError(refused[path])
        return file.read()


def _report(message: str) -> None:
    """Print a message on stderr, except in worker processes, whose parent has printed it."""
    import multiprocessing

    if multiprocessing.parent_process() is None:
        sys.stderr.write(f"gjk3d: {message}\n")


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 700, independent of the umask."""
    for folder_path in reversed([path, *path.parents]):
        if not folder_path.exists():
            folder_path.mkdir(mode=0o700, exist_ok=True)
            folder_path.chmod(0o700)


def write_file(path: Path, content: bytes) -> None:
    """Write a file with mode 600, independent of the umask. The file is never incomplete."""
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
    """Open a file as the ``opener`` of `open`. The mode of a file of this user is set to 600."""
    descriptor = os.open(name, flags, 0o600)
    if os.name == "posix" and os.fstat(descriptor).st_uid == os.geteuid():
        os.fchmod(descriptor, 0o600)
    return descriptor
