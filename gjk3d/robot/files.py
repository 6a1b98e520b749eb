"""The files of a robot: XML that is read safely, with errors that name the element, and the search for mesh files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from gjk3d.errors import FileError, ParseError
from gjk3d.wording import cut, kind_of

MAX_BYTES = 256 << 20  #: greatest size of a robot file in bytes; real files have less than a thousandth of this size
MAX_DEPTH = 500  #: greatest number of nested elements, as in MuJoCo's parser


class _Doctype(Exception):
    pass


class _Builder(ElementTree.TreeBuilder):
    """An XML tree builder that refuses a DOCTYPE, because entities can grow without bound or read other files."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise _Doctype


#: path of a robot that was given as text; its meshes are searched from the working directory
TEXT = Path("<text>")
_XACRO = ("{http://www.ros.org/wiki/xacro}", "{http://ros.org/wiki/xacro}")


def read_root(
    source: str | os.PathLike[str], tags: Sequence[str] = ("robot",), arguments: Mapping[str, str] | None = None
) -> tuple[Path, Element]:
    """Return the path and the root element of an XML file. The root must have one of ``tags``.

    If ``source`` is a string that begins with <, it is the XML itself, and the returned path is `TEXT`. A xacro is
    expanded with ``arguments`` by the package xacro.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source is {kind_of(source)}, expected a path, or the text of a file")
    text = source.strip() if isinstance(source, str) else None
    if text == "":
        raise FileError(f"{source!r} is not a file name, expected a path, or the text of a file, which begins with <")
    if text is not None and text.startswith("<"):
        file, data = TEXT, text.encode()
    else:
        file = Path(source)
        data = _bytes_of(file)
    root = _parsed(data, file, tags)
    if file.suffix == ".xacro" or any(element.tag.startswith(_XACRO) for element in root.iter()):
        root = _parsed(_expanded(file, data, arguments or {}), file, tags)
        if (first := next((item for item in root.iter() if item.tag.startswith(_XACRO)), None)) is not None:
            raise ParseError(f"{file}: xacro did not expand <{first.tag.rpartition('}')[2]}>. Correct the tag")
    elif arguments:
        raise ParseError(f"{file} is not a xacro, so it takes no arguments. Leave out {', '.join(arguments)}")
    return file, root


def _bytes_of(file: Path) -> bytes:
    if os.path.isdir(file):
        raise FileError(f"{file} is a folder, expected a file. Pass the path of a file in this folder")
    if os.path.exists(file) and not os.path.isfile(file):
        raise FileError(f"{file} is a device or a pipe, expected a file. Save its content to a file first")
    if not os.path.isfile(file):
        raise FileError(f"the file {cut(file)} ({cut(file.absolute())}) does not exist. Correct the path")
    if file.stat().st_size > MAX_BYTES:
        raise ParseError(
            f"{file} has {file.stat().st_size} bytes, expected at most {MAX_BYTES}. Store its meshes in separate files"
        )
    return file.read_bytes()


def _parsed(data: bytes, file: Path, tags: Sequence[str]) -> Element:
    parser = ElementTree.XMLParser(target=_Builder())
    try:
        parser.feed(data)
        root: Element = parser.close()
    except _Doctype:
        raise ParseError(
            f"{file} has a DOCTYPE, which is refused because its entities are unsafe. Remove the DOCTYPE"
        ) from None
    except ElementTree.ParseError as reason:
        raise ParseError(f"{file} is not well-formed XML: {reason}. Correct this line") from None
    except (LookupError, ValueError) as reason:
        raise ParseError(f"{file} has an encoding that cannot be read: {reason}. Save the file as UTF-8") from None
    # level by level without recursion, since deeply nested elements could overflow the stack
    depth, level = 1, [*root]
    while level:
        depth, level = depth + 1, [below for element in level for below in element]
        if depth > MAX_DEPTH:
            raise ParseError(
                f"{file} has more than {MAX_DEPTH} levels of nested elements, expected at most {MAX_DEPTH}. Export the "
                "file again"
            )
    if root.tag not in tags:
        raise ParseError(f"{file} has the root <{root.tag}>, expected {' or '.join(f'<{tag}>' for tag in tags)}")
    return root


class _Arguments(dict[str, str]):
    """The arguments of a xacro. ``unread`` contains the names that xacro has not read.

    The package xacro ignores arguments that a file does not use.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        super().__init__({name: str(value) for name, value in arguments.items()})
        self.unread = set(self)

    def __contains__(self, name: object) -> bool:
        self.unread.discard(name)
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.unread.discard(name)
        return super().__getitem__(name)


def _expanded(file: Path, data: bytes, arguments: Mapping[str, str]) -> bytes:
    """Return the URDF that the package xacro makes from ``file``, or from ``data`` if ``file`` is `TEXT`."""
    try:
        import xacro
    except ImportError:
        other = "" if file is TEXT else f", or expand it with `xacro {file} > robot.urdf`"
        raise ParseError(f"{file} is a xacro, which the package xacro expands. Run pip install xacro{other}") from None
    mappings = _Arguments(arguments)
    try:
        if file is TEXT:
            document = xacro.parse(data.decode())
            xacro.process_doc(document, mappings=mappings)
        else:
            document = xacro.process_file(str(file), mappings=mappings)
        expanded: bytes = document.toxml().encode()
    # A xacro can run any Python expression, so any exception can occur. The checks of xacro raise SystemExit.
    except (Exception, SystemExit) as reason:
        cure = ". Source the setup of ROS first, since $(find ...) needs its packages"
        cure = cure if "ament_index" in str(reason) else ""
        if "recursion depth" in str(reason):
            cure = ". Check for a macro that calls itself, or a file that includes itself"
        raise ParseError(f"{file}: xacro: {type(reason).__name__}: {reason}{cure}") from None
    if mappings.unread:
        raise ParseError(
            f"{file} does not use the arguments {', '.join(sorted(map(repr, mappings.unread)))}. Leave them out, or "
            "use the names in its <xacro:arg> elements"
        )
    return expanded


class Place:
    """An element, and a text that describes its place in the file, for error messages."""

    __slots__ = ("element", "where")

    def __init__(self, element: Element, where: str) -> None:
        self.element = element
        self.where = where

    def children(self, tag: str) -> Iterator[Place]:
        """Yield the children with a tag. Their ``where`` contains their attribute "name", or else their index."""
        for count, child in enumerate(self.element.findall(tag)):
            name = child.get("name")
            yield Place(child, f"{self.where}, {tag} {name!r}" if name else f"{self.where}, {tag} [{count}]")

    def child(self, tag: str) -> Place | None:
        """Return the only child with a tag, or None without such a child."""
        children = self.element.findall(tag)
        if len(children) > 1:
            raise ParseError(f"{self.where} has {len(children)} <{tag}>, expected one. Remove the others")
        return Place(children[0], f"{self.where}, <{tag}>") if children else None

    def need(self, tag: str) -> Place:
        """Return the only child with a tag. A missing child raises `ParseError`."""
        child = self.child(tag)
        if child is None:
            raise ParseError(f"{self.where} lacks the element <{tag}>. Add this element, or export the file again")
        return child

    def text(self, attribute: str) -> str:
        """Return a required attribute, which must not be empty."""
        value = self.element.get(attribute)
        if value is None or not value.strip():
            raise ParseError(
                f"{self.where} has {attribute}={value!r}, expected a value. Add the value, or export the file again"
            )
        return value.strip()

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Return the values of an attribute that has to be ``count`` finite numbers."""
        raw = self.element.get(attribute)
        if raw is None and default is not None:
            return default
        words = self.text(attribute).split()
        try:
            values = tuple(float(word) for word in words)
        except ValueError:
            values = ()
        if len(words) != count or len(values) != count:
            expected = "a number" if count == 1 else f"{count} numbers"
            raise ParseError(f"{self.where}: {attribute}={raw!r}, expected {expected}")
        for value in values:
            if not isfinite(value):
                raise ParseError(f"{self.where}: {attribute}={raw!r}, expected finite numbers")
        return values

    def number(self, attribute: str, default: float | None = None) -> float:
        """Return the value of an attribute that has to be one finite number."""
        return self.numbers(attribute, 1, None if default is None else (default,))[0]


def find(filename: str, urdf: Path, package_dirs: Sequence[str | os.PathLike[str]], where: str) -> Path:
    """Return the path of a file that is named in a URDF. ``where`` is the place of the name, for errors.

    ``package://name/rest`` is searched in ``package_dirs``, then in the folders of ROS_PACKAGE_PATH and
    AMENT_PREFIX_PATH, then in the folder of the URDF and the folders above it. Each of these is the folder of the
    package or a folder that contains the package. A relative path is searched in the folder of the URDF, then in
    ``package_dirs``.
    """
    scheme, mark, tail = filename.partition("://")
    if mark and scheme not in ("package", "model", "file"):
        raise ParseError(f"{where}: {filename} is not a local file, expected package://, model://, file:// or a path")
    tried = []
    for path in _places(scheme if mark else "", unquote(tail) if mark else filename, urdf, package_dirs):
        if os.path.isfile(path):  # False for a name that no file can have
            return path
        if path not in tried:
            tried.append(path)
    names = "".join(f"\n  {cut(path)}" for path in tried)
    raise FileError(
        f"{where}: the mesh {cut(filename)} was not found. Searched:{names}\nPass package_dirs=[...] (--package-dir on "
        "the command line) with the folder of the package, or the folder that contains it"
    )


def _places(scheme: str, tail: str, urdf: Path, package_dirs: Sequence[str | os.PathLike[str]]) -> Iterator[Path]:
    folder = urdf.absolute().parent
    folders = [Path(directory) for directory in package_dirs]
    if scheme == "file" or (not scheme and Path(tail).is_absolute()):
        yield Path(tail)
        return
    if not scheme:
        yield folder / tail
        yield from (directory / tail for directory in folders)
        return
    tail = tail.lstrip("/")  # package:///x has no package name: x is searched as a relative path
    package, _, inner = tail.partition("/")
    for directory in [*folders, *_ros_folders()]:
        yield directory / tail
        if inner and directory.name == package:
            yield directory / inner
    for directory in [folder, *folder.parents]:
        yield directory / tail
        if inner and directory.name == package:
            yield directory / inner
    # These places come last. They find a package whose folder has another name.
    if inner:
        yield from (directory / inner for directory in [*folders, folder, *folder.parents])


def _ros_folders() -> Iterator[Path]:
    for path in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if path:
            yield Path(path)
    for path in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if path:
            yield Path(path) / "share"
