"""The unit and the number of copies in a Collada file, which are read before trimesh reads the file."""

from __future__ import annotations

import io
import re
from math import isfinite
from typing import Any
from xml.etree import ElementTree

from gjk3d.files.headers import HeaderError, refuse_copies, shown

_FEW = 1000  #: the number of copies that are read without a check of their triangles
_NAN = re.compile(rb"(?i)\bnan\b")
_DEEPEST = 100  #: the largest depth of nodes that refer to nodes


def check_dae(data: bytes) -> tuple[bytes, int]:
    """Return a Collada file unchanged, and 0 declared triangles; raise if it has entities or places too many copies."""
    begin = data[:4096]
    if b"<COLLADA" not in begin:
        raise HeaderError(f"is not Collada, because it begins with {shown(begin[:64])}")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise HeaderError("has a DOCTYPE, which can expand to any size. Collada does not need it, so remove it.")
    if b"<instance_node" in data or data.count(b"<instance_geometry") > _FEW:
        refuse_copies(*_copies(ElementTree.fromstring(data)), len(data))
    if _NAN.search(data):
        _check_positions(ElementTree.fromstring(data))
    return data, 0


def _check_positions(root: Any) -> None:
    """Raise an error for positions that are not numbers. pycollada would replace them by 0."""
    elements = [(_tag(element), element) for element in root.iter()]
    positions = {
        element.get("source", "").removeprefix("#")
        for tag, element in elements
        if tag == "input" and element.get("semantic") == "POSITION"
    }
    for tag, source in elements:
        if tag == "source" and source.get("id") in positions:
            for array in source:
                if _tag(array) == "float_array" and "nan" in (array.text or "").lower():
                    name = shown(source.get("id", "").encode())
                    raise HeaderError(f"its positions {name} contain NaN, expected finite numbers. Repair the file.")


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


def _copies(root: Any) -> tuple[int, int]:
    """Return the number of copies of geometries in all scenes, and the number of their triangles."""
    nodes: dict[str, Any] = {}
    triangles: dict[str, int] = {}
    scenes: list[Any] = []
    counts: dict[str, tuple[int, int]] = {}  # of each node
    for element in root.iter():
        tag, ident = _tag(element), element.get("id", "")
        if tag == "node":
            nodes[ident] = element
        elif tag == "geometry":
            triangles[ident] = sum(map(_triangles, element.iter()))
        elif tag == "visual_scene":
            scenes.append(element)

    def below(element: Any, above: tuple[str, ...]) -> tuple[int, int]:
        placed = total = 0
        for child in element.iter():
            tag, ident = _tag(child), child.get("url", "").removeprefix("#")
            if tag == "instance_geometry":
                placed, total = placed + 1, total + triangles.get(ident, 0)
            elif tag == "instance_node" and ident in nodes:
                if ident in above or len(above) >= _DEEPEST:
                    raise HeaderError(
                        f"its node {ident[:40]!r} is in itself, or deeper than {_DEEPEST} levels. Flatten its nodes."
                    )
                if ident not in counts:
                    counts[ident] = below(nodes[ident], (*above, ident))
                placed, total = placed + counts[ident][0], total + counts[ident][1]
        return placed, total

    counted = [below(scene, ()) for scene in scenes]
    return sum(placed for placed, _ in counted), sum(total for _, total in counted)


def _triangles(element: Any) -> int:
    """Return the number of triangles of a primitive, or a lower bound, the number of its polygons."""
    if _tag(element) not in ("triangles", "polylist", "polygons", "tristrips", "trifans"):
        return 0
    text = element.get("count", "0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0
