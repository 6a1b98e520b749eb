"""Reading the XML of robot files: no entities, nothing fetched, and errors that name the file and the place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from gjk3d.errors import FileError, ParseError

#: Bytes of the largest robot file that is read; real ones have less than a thousandth.
MAX_BYTES = 256 << 20


class _Doctype(Exception):
    pass


class _Builder(ElementTree.TreeBuilder):
    """Refuses a DOCTYPE, the door to entities that grow without bound or name other files."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise _Doctype


def read_root(path: str | os.PathLike[str], tag: str = "robot") -> tuple[Path, Element]:
    """Return the file and the root element of an XML file, which must be a ``tag``."""
    file = Path(path)
    if file.is_dir():
        raise FileError(f"{file} is a folder, expected a file")
    if not file.is_file():
        raise FileError(f"no such file: {file} (looked for {file.absolute()})")
    if file.stat().st_size > MAX_BYTES:
        raise ParseError(f"{file} has {file.stat().st_size} bytes, more than the {MAX_BYTES} that are read")
    parser = ElementTree.XMLParser(target=_Builder())
    try:
        parser.feed(file.read_bytes())
        root: Element = parser.close()
    except _Doctype:
        raise ParseError(f"{file} has a DOCTYPE; robot files need none, and it is refused: remove that line") from None
    except (ElementTree.ParseError, LookupError, ValueError) as reason:
        raise ParseError(f"{file} is no well-formed XML: {reason}") from None
    if root.tag != tag:
        raise ParseError(f"{file} has the root <{root.tag}>, expected <{tag}>")
    for element in root.iter():
        if element.tag.startswith("{http://www.ros.org/wiki/xacro}") or element.tag.startswith(
            "{http://ros.org/wiki/xacro}"
        ):
            raise ParseError(f"{file} is a xacro, not yet a robot: run `xacro {file.name} > robot.urdf` first")
    return file, root


class Place:
    """An element, and the words that lead to it from the file, for error messages."""

    __slots__ = ("element", "where")

    def __init__(self, element: Element, where: str) -> None:
        self.element = element
        self.where = where

    def children(self, tag: str) -> Iterator[Place]:
        """Yield the children of a tag, by name where they have one."""
        for count, child in enumerate(self.element.findall(tag)):
            name = child.get("name")
            yield Place(child, f"{self.where}, {tag} {name!r}" if name else f"{self.where}, {tag} [{count}]")

    def child(self, tag: str) -> Place | None:
        """Return the only child of a tag, None where there is none."""
        found = self.element.findall(tag)
        if len(found) > 1:
            raise ParseError(f"{self.where} has {len(found)} <{tag}>, expected one")
        return Place(found[0], f"{self.where}, <{tag}>") if found else None

    def need(self, tag: str) -> Place:
        """Return the only child of a tag, which must be there."""
        found = self.child(tag)
        if found is None:
            raise ParseError(f"{self.where} has no <{tag}>")
        return found

    def text(self, attribute: str) -> str:
        """Return an attribute that must be there and say something."""
        value = self.element.get(attribute)
        if value is None or not value.strip():
            raise ParseError(f"{self.where} has no {attribute}=")
        return value.strip()

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Return the finite numbers of an attribute."""
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
                raise ParseError(f"{self.where}: {attribute}={raw!r} is not finite")
        return values

    def number(self, attribute: str, default: float | None = None) -> float:
        """Return the one finite number of an attribute."""
        return self.numbers(attribute, 1, None if default is None else (default,))[0]
