"""Checks of model files before a reader runs, and the nodes that a reader process returns.

A header that declares more than its file can contain would exhaust the memory of a reader. Damaged text that is split
into lines and words may exhaust it too. A truncated file may lose triangles without an error. Therefore each check
compares the declared sizes with the bytes of the file. It returns the bytes for the reader and the number of
triangles that the reader must return, or 0 if the format does not declare this number.

The unit of a Collada file and the number of its copies are read before trimesh reads the file.

A reader process returns shapes and nodes as a file of numpy arrays, see `write`.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

# --- declared sizes --------------------------------------------------------------------------------------------------


CHUNK = 1 << 22  #: number of bytes that are examined at a time
#: The number and the size in bytes of the samples of a file whose lines are examined.
WINDOWS, WINDOW = 16, 1 << 16
_NUMBERS = b"0123456789+-.eE \t\r\n\v\fnaiftyNAIFTY"  # "nan" and "infinity" too


class HeaderError(ValueError):
    """A model file that is damaged or too large. `gjk3d.files.load` adds the name of the file to the message."""


def refuse_nul(data: bytes, name: str) -> None:
    """Raise an error for text with a NUL byte, which occurs in binary files, UTF-16, and files from a full disk."""
    where = data.find(b"\0")
    if where >= 0:
        raise HeaderError(f"byte {where} is NUL, but {name} is a text format. Export the file again.")


def share_of_lines(data: bytes, pattern: re.Pattern[bytes]) -> tuple[int, int, bytes]:
    """Return the number of matching lines in samples of a text, the number of all lines in them, and an odd line.

    ``pattern`` matches the start of a line. The odd line is the first that does not match, or empty. Empty lines are
    not counted. A line that continues after a backslash is one line.
    """
    good = every = 0
    odd = b""
    step = max(WINDOW, (len(data) - WINDOW) // (WINDOWS - 1) + 1)
    for start in range(0, len(data), step):
        window = data[start : start + WINDOW].replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
        lines = window.splitlines()
        lines = lines[start > 0 : len(lines) - (start + WINDOW < len(data))]  # without truncated lines
        for line in lines:
            words = line.strip()
            if words:
                every += 1
                if pattern.match(words):
                    good += 1
                else:
                    odd = odd or words
    return good, every, odd


def rows_end(data: bytes, start: int, count: int, *, empty: bool) -> tuple[int, int]:
    """Return the position after ``count`` lines from ``start``, and the number of these lines.

    The number is less than ``count`` if the text ends earlier. With ``empty``, empty lines are counted.
    """
    rows, end = 0, start
    row = re.compile(rb"[^\n]*\n?" if empty else rb"\s*\S[^\n]*\n?")
    while rows < count and end < len(data):
        stop = data.rfind(b"\n", end, end + CHUNK) + 1 or len(data)  # the whole remainder, for a long line
        if empty:
            added = data.count(b"\n", end, stop) + (data[stop - 1 : stop] != b"\n")
        else:
            added = sum(1 for line in data[end:stop].split(b"\n") if line.strip())
        if rows + added <= count:
            rows, end = rows + added, stop
            continue
        for match in row.finditer(data, end, stop):
            rows, end = rows + 1, match.end()
            if rows == count:
                break
    return end, rows


def without_comments(data: bytes) -> bytes:
    """Return text without comments, which begin with a hash and end with the line."""
    if b"#" not in data:
        return data
    pieces, end = [], 0
    while end < len(data):
        stop = data.rfind(b"\n", end, end + CHUNK) + 1 or len(data)
        pieces.append(re.sub(rb"#[^\n]*", b"", data[end:stop]))
        end = stop
    return b"".join(pieces)


def refuse_words(data: bytes, start: int, end: int, what: str) -> None:
    """Raise an error if the text from ``start`` to ``end`` contains other words than numbers.

    ``what`` is the name of this text in the error.
    """
    for first in range(start, end, CHUNK):
        chunk = data[first : min(first + CHUNK, end)]
        strange = chunk.translate(None, _NUMBERS)
        if strange:
            where = first + chunk.index(strange[:1])
            row = data.count(b"\n", 0, where) + 1
            line = data[data.rfind(b"\n", max(0, where - 80), where) + 1 : where + 80].splitlines()[0]
            raise HeaderError(
                f"line {row}, {shown(line)}: {what} must be numbers. Repair the line, or export the file again."
            )


def shown(line: bytes) -> str:
    """Return a line in quotes, truncated to 40 characters."""
    text = line.strip().decode("latin-1")
    return repr(text if len(text) <= 40 else text[:40] + "...")


#: A file may place this number of objects, or one object for this number of bytes (the size of a transform), if that is
#: more. Without a limit, a small file could place 10^10 objects by nesting.
MAX_PLACED, BYTES_PER_PLACED = 5000, 60
#: The triangles of all copies may be this many, or this many per byte of the file if that is more, and never more than
#: the last number.
FEW_TRIANGLES, TRIANGLES_PER_BYTE, MAX_TRIANGLES = 4_000_000, 4, 100_000_000
#: A file may have this number of parts, or one part for this number of bytes, if that is more. A part takes about 1 ms.
MAX_PARTS, BYTES_PER_PART = 2000, 300


def refuse_parts(count: int, size: int) -> None:
    """Raise an error if a file of ``size`` bytes has too many parts."""
    limit = max(MAX_PARTS, size // BYTES_PER_PART)
    if count > limit:
        raise HeaderError(f"has {count} parts, expected at most {limit} in a file of {size} bytes. Join some of them.")


def refuse_copies(placed: int, triangles: int, size: int) -> None:
    """Raise an error if a file of ``size`` bytes places too many objects, or too many triangles in all copies."""
    limit = max(MAX_PLACED, size // BYTES_PER_PLACED)
    if placed > limit:
        raise HeaderError(
            f"places {placed} objects, expected at most {limit} in a file of {size} bytes. Split it, or export fewer "
            "copies."
        )
    limit = min(MAX_TRIANGLES, max(FEW_TRIANGLES, TRIANGLES_PER_BYTE * size))
    if triangles > limit:
        raise HeaderError(
            f"has {triangles} triangles in all copies, expected at most {limit} in a file of {size} bytes. Split it, "
            "or export fewer copies."
        )


#: The greatest unpacked size of an archive in bytes, and above `SMALL` bytes the greatest ratio of unpacked to packed
#: size. The ratio of models is about 10. Ratios near 1000 occur only for repeated bytes.
MAX_UNPACKED, MAX_RATIO, SMALL = 4 << 30, 100, 32 << 20


def unchecked(data: bytes) -> tuple[bytes, int]:
    """Return the output of a reader process unchanged, and 0 as its declared number of triangles."""
    return data, 0


def check_zip(data: bytes) -> tuple[bytes, int]:
    """Return a zip archive unchanged, and 0 as its declared number of triangles.

    Raise an error if it unpacks to too many bytes.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    if unpacked > MAX_UNPACKED or unpacked > max(SMALL, MAX_RATIO * len(data)):
        raise HeaderError(
            f"unpacks from {len(data)} to {unpacked} bytes, expected at most "
            f"{min(MAX_UNPACKED, max(SMALL, MAX_RATIO * len(data)))} bytes. Split it."
        )
    return data, 0


# --- Collada files ---------------------------------------------------------------------------------------------------


_FEW = 1000  #: number of copies in a file up to which their triangles are not counted
_NAN = re.compile(rb"(?i)\bnan\b")
_DEEPEST = 100  #: greatest depth of nodes that refer to nodes


def check_dae(data: bytes) -> tuple[bytes, int]:
    """Return a Collada file unchanged, and 0 as its declared number of triangles.

    Raise an error for a DOCTYPE, NaN or too many copies.
    """
    begin = data[:4096]
    if b"<COLLADA" not in begin:
        raise HeaderError(f"is not Collada, because it begins with {shown(begin[:64])}")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise HeaderError("has a DOCTYPE, whose entities can expand to any size. Remove it, Collada does not need it.")
    if b"<instance_node" in data or data.count(b"<instance_geometry") > _FEW:
        refuse_copies(*_copies(ElementTree.fromstring(data)), len(data))
    if _NAN.search(data):
        _check_positions(ElementTree.fromstring(data))
    return data, 0


def _check_positions(root: Any) -> None:
    """Raise an error for positions that are NaN. pycollada would replace them by 0."""
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
        if len(path) == 2 and path[1] not in ("asset", "extra"):  # the asset element precedes all others
            break
    return None


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _copies(root: Any) -> tuple[int, int]:
    """Return the number of copies of geometries in all scenes of a Collada file, and their number of triangles."""
    nodes: dict[str, Any] = {}
    triangles: dict[str, int] = {}
    scenes: list[Any] = []
    counts: dict[str, tuple[int, int]] = {}  # copies and triangles of each node
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
                        f"its node {ident[:40]!r} contains itself, or is deeper than {_DEEPEST} levels. Flatten the "
                        "nodes."
                    )
                if ident not in counts:
                    counts[ident] = below(nodes[ident], (*above, ident))
                placed, total = placed + counts[ident][0], total + counts[ident][1]
        return placed, total

    counted = [below(scene, ()) for scene in scenes]
    return sum(placed for placed, _ in counted), sum(total for _, total in counted)


def _triangles(element: Any) -> int:
    """Return the number of polygons of a Collada primitive, which is at most its number of triangles."""
    if _tag(element) not in ("triangles", "polylist", "polygons", "tristrips", "trifans"):
        return 0
    text = element.get("count", "0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


# --- nodes -----------------------------------------------------------------------------------------------------------


_TREE = "tree"
Colour = tuple[float, float, float]  #: red, green and blue in sRGB, from 0 to 1


class Shape(NamedTuple):
    """A triangle mesh, which several nodes may share."""

    vertices: Any  #: (n, 3)
    faces: Any  #: (m, 3)
    colour: Colour | None = None  #: the colour in the file


class Node(NamedTuple):
    """A node in the tree of a model."""

    key: str  #: the unique name of the node
    parent: str | None  #: the key of the parent, None for the root
    shape: int | None  #: the index of the shape, None for a node without triangles
    matrix: Any = None  #: (4, 4), from the frame of the shape to the frame of the model; None is the identity
    label: str = ""  #: the name of the node in the file
    guid: str = ""  #: the GlobalId in IFC
    reason: str = ""  #: the reason why the triangles of the node are missing


class Nodes(NamedTuple):
    """The shapes and the nodes of a model, and notes of its reader for the user."""

    shapes: tuple[Shape, ...]
    nodes: tuple[Node, ...]
    notes: tuple[str, ...] = ()


def write(model: Nodes, target: str | Path) -> None:
    """Write a model to a file of numpy arrays, which `scene_of` reads."""
    arrays: dict[str, Any] = {}
    for number, shape in enumerate(model.shapes):
        arrays[f"v{number}"] = np.asarray(shape.vertices, dtype=np.float64)
        arrays[f"f{number}"] = np.asarray(shape.faces, dtype=np.int64)
    nodes = [
        node._replace(matrix=None if node.matrix is None else np.asarray(node.matrix).tolist()) for node in model.nodes
    ]
    text = json.dumps({"colours": [s.colour for s in model.shapes], "nodes": nodes, "notes": model.notes})
    arrays[_TREE] = np.frombuffer(text.encode(), dtype=np.uint8)
    with open(target, "wb") as file:
        np.savez(file, **arrays)


def scene_of(data: bytes) -> Any:
    """Return the model in a file of `write` as a trimesh scene.

    The metadata of the scene map the keys of the nodes to their labels, and to their GlobalIds. They also have the
    notes.
    """
    import trimesh

    scene = trimesh.Scene()
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        tree = json.loads(arrays[_TREE].tobytes())
        for number, colour in enumerate(tree["colours"]):
            mesh = trimesh.Trimesh(arrays[f"v{number}"], arrays[f"f{number}"], process=False)
            scene.geometry[str(number)] = mesh
            if colour is not None:
                mesh.metadata["colour"] = tuple(colour)
    for node in (Node(*row) for row in tree["nodes"]):
        attributes: dict[str, Any] = {} if node.matrix is None else {"matrix": np.array(node.matrix)}
        if node.shape is not None:
            attributes["geometry"] = str(node.shape)
        elif node.reason:
            attributes["geometry"] = f"nothing {len(scene.geometry)}"
            scene.geometry[attributes["geometry"]] = trimesh.Trimesh(process=False, metadata={"reason": node.reason})
        scene.graph.update(node.key, node.parent, **attributes)
    labels = {row[0]: row[4] for row in tree["nodes"] if row[4]}
    guids = {row[0]: row[5] for row in tree["nodes"] if row[5]}
    scene.metadata.update(labels=labels, guids=guids, notes=tree["notes"])
    return scene
