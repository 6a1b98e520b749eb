"""The unit and the number of copies in a Collada file, which are read before trimesh reads the file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from math import isfinite
from typing import Any
from xml.etree import ElementTree

from gjk3d.files.headers import HeaderError, refuse_copies, shown

_FEW = 1000  #: the number of copies that are read without a check of their triangles
_DEEPEST = 100  #: the largest depth of nodes that refer to nodes


def check_dae(data: bytes) -> tuple[bytes, int]:
    """Raise an error for a file that is not Collada, declares entities, or places too many copies."""
    begin = data[:4096]
    if b"<COLLADA" not in begin:
        raise HeaderError(f"is not Collada, because it begins with {shown(begin[:64])}")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise HeaderError("has a DOCTYPE, which can expand to any size. Collada does not need it, so remove it.")
    if b"<instance_node" in data or data.count(b"<instance_geometry") > _FEW:
        refuse_copies(*_Copies(ElementTree.fromstring(data)).count(), len(data))
    return data, 0


def meters(data: bytes) -> float | None:
    """Return the length of a file's unit in metres, or None if the file states no unit."""
    path: list[str] = []
    for event, element in ElementTree.iterparse(io.BytesIO(data), events=("start", "end")):
        if event == "end":
            path.pop()
            continue
        path.append(_tag(element))
        if path == ["COLLADA", "asset", "unit"]:
            if (text := element.get("meter")) is None:
                return None
            try:
                length = float(text)
            except ValueError:
                length = 0.0
            if not (isfinite(length) and length > 0.0):
                raise HeaderError(f"its unit has meter={shown(text.encode())}, expected a positive number of metres")
            return length
        if len(path) == 2 and path[1] not in ("asset", "extra"):  # the asset is the first element
            break
    return None


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


class _Copies:
    """The nodes and geometries of a document by their ids, and the number of copies below each node."""

    def __init__(self, root: Any) -> None:
        self._nodes, self._triangles = {}, {}
        self._scenes: list[Any] = []
        self._counted: dict[str, tuple[int, int]] = {}
        for element in root.iter():
            tag, ident = _tag(element), element.get("id", "")
            if tag == "node":
                self._nodes[ident] = element
            elif tag == "geometry":
                self._triangles[ident] = sum(map(_triangles, element.iter()))
            elif tag == "visual_scene":
                self._scenes.append(element)

    def count(self) -> tuple[int, int]:
        """Return the number of copies in all scenes, and the number of their triangles."""
        return _sum(self._below(scene, ()) for scene in self._scenes)

    def _below(self, element: Any, above: tuple[str, ...]) -> tuple[int, int]:
        return _sum(self._instance(child, above) for child in element.iter())

    def _instance(self, element: Any, above: tuple[str, ...]) -> tuple[int, int]:
        tag, ident = _tag(element), element.get("url", "").removeprefix("#")
        if tag == "instance_geometry":
            return 1, self._triangles.get(ident, 0)
        if tag != "instance_node" or ident not in self._nodes:
            return 0, 0
        if ident in above or len(above) >= _DEEPEST:
            raise HeaderError(f"its node {ident[:40]!r} contains itself, or is more than {_DEEPEST} levels deep")
        if ident not in self._counted:
            self._counted[ident] = self._below(self._nodes[ident], (*above, ident))
        return self._counted[ident]


def _sum(counts: Iterator[tuple[int, int]]) -> tuple[int, int]:
    placed = triangles = 0
    for count in counts:
        placed, triangles = placed + count[0], triangles + count[1]
    return placed, triangles


def _triangles(element: Any) -> int:
    """Return the number of triangles of a primitive, or at least of its polygons."""
    if _tag(element) not in ("triangles", "polylist", "polygons", "tristrips", "trifans"):
        return 0
    text = element.get("count", "0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0
