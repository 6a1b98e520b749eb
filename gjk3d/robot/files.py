"""Where the meshes of a robot lie: relative paths, ``package://`` and ``package:///``, without ROS."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from gjk3d.errors import FileError, ParseError


def find(filename: str, urdf: Path, package_dirs: Sequence[str | os.PathLike[str]], where: str) -> Path:
    """Return the file that a URDF means by a name.

    ``package://name/rest`` is looked for in the package folders (each the package itself, or the folder that holds
    it), in those of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, then from the folder of the URDF upwards; other names in
    the folder of the URDF, then in the package folders.
    """
    scheme, mark, rest = filename.partition("://")
    if mark and scheme not in ("package", "model", "file"):
        raise ParseError(f"{where}: {filename} is not fetched, expected a file: package://, file:// or a path")
    tried = []
    for path in _places(scheme if mark else "", unquote(rest) if mark else filename, urdf, package_dirs):
        if path.is_file():
            return path
        if path not in tried:
            tried.append(path)
    looked = "".join(f"\n  {path}" for path in tried)
    raise FileError(
        f"{where}: there is no mesh {filename}; looked for{looked}\npass package_dirs=[...] (--package-dir on the "
        "command line): the folder of the package, or the one that holds it"
    )


def _places(scheme: str, rest: str, urdf: Path, package_dirs: Sequence[str | os.PathLike[str]]) -> Iterator[Path]:
    folder = urdf.absolute().parent
    given = [Path(each) for each in package_dirs]
    if scheme == "file" or (not scheme and Path(rest).is_absolute()):
        yield Path(rest)
        return
    if not scheme:
        yield folder / rest
        yield from (each / rest for each in given)
        return
    rest = rest.lstrip("/")  # package:///x has no name: x is looked for as it is
    package, _, inner = rest.partition("/")
    for each in [*given, *_ros_folders()]:
        yield each / rest
        if inner and each.name == package:
            yield each / inner
    for each in [folder, *folder.parents]:
        yield each / rest
        if inner and each.name == package:
            yield each / inner
    # a package that was checked out under another name
    if inner:
        yield from (each / inner for each in [*given, folder, *folder.parents])


def _ros_folders() -> Iterator[Path]:
    for each in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if each:
            yield Path(each)
    for each in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if each:
            yield Path(each) / "share"
