"""Conversion of an OBJ to the forms that trimesh reads correctly, and the colours of its objects.

trimesh 5.2 makes three errors. At a line with an unknown first word it skips a vertex, so that all later indices are
off by one. It reads wrong corners if a file has several forms of corners, such as 1 and 1/1. It counts relative indices
from the end of the file instead of from their line.
"""

from __future__ import annotations

import contextlib
import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from gjk3d.files.readers import Colour, HeaderError, refuse_nul, refuse_parts, share_of_lines, shown
from gjk3d.typing import Array, Ints

#: The first words of lines in an OBJ, including those of free-form curves and surfaces.
_WORD = (
    rb"(?:#|(?:vt?|vn|vp|fo?|l|p|o|g|s|mg|usemtl|usemap|mtllib|maplib|shadow_obj|trace_obj|bevel|c_interp|d_interp|lod"
    rb"|deg|bmat|step|cstype|curv2?|surf|parm|trim|hole|scrv|sp|end|con|csh|call|ctech|stech|res|cdc|cdp|bzp|bsp)"
    rb"(?=[ \t\n]|\Z))"
)
_NUMBER = rb"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?i:nan|inf(?:inity)?)"
_CORNER = rb"[-+]?\d+(?:/[-+]?\d*){0,2}"
_LINE = re.compile(_WORD)
_UNKNOWN = re.compile(rb"^[ \t]*(?!%s)[^ \t\n][^\n]*" % _WORD, re.MULTILINE)
_CONTINUED = re.compile(rb"^(?:[^\n]*\\\n)+[^\n]*", re.MULTILINE)
_REMARK = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)
#: Comments at the end of lines of vertices and faces. In other lines, a hash may be part of a name.
_REMARK_AFTER = re.compile(rb"^([ \t]*(?:v|fo?)[ \t][^\n#]*)(?<=[ \t])#[^\n]*", re.MULTILINE)
#: The start of a vertex or face with blanks before its word, or a tab or several blanks after it. fo is an old f.
_ODD = re.compile(rb"^(?:[ \t]+(?=(?:v|fo?)[ \t])|(?=(?:v|f)(?:\t|[ \t]{2}))|(?=fo[ \t]))(v|f)o?[ \t]+", re.MULTILINE)
_TEXTURE_NORMAL = re.compile(rb"/[^ \t\n]*")  #: the texture and the normal of a corner
_UNUSED = re.compile(rb"^[ \t]*v[tn][ \t][^\n]*", re.MULTILINE)
_VERTEX, _FACE = (re.compile(rb"^%s (?=[^\n])[^\n]*" % word, re.MULTILINE) for word in (b"v", b"f"))
_OBJECT = re.compile(rb"^o [^\n]*", re.MULTILINE)
_FACES = re.compile(rb"^(?:f [^\n]*\n?)+", re.MULTILINE)  #: consecutive lines of faces
_NO_VERTEX, _NO_FACE = (
    re.compile(rb"^%s(?! (?:%s)(?:[ \t]+(?:%s)){2,}[ \t]*$)(?:[ \t][^\n]*)?$" % (word, item, item), re.MULTILINE)
    for word, item in ((b"v", _NUMBER), (b"f", _CORNER))
)


def check_obj(data: bytes) -> tuple[bytes, int]:
    """Return an OBJ in the form that trimesh reads correctly, and the number of its faces.

    The result has only vertices, names, and faces with absolute indices of vertices. Raise an error for a line that is
    not in the format, and for a file without faces.
    """
    refuse_nul(data, "OBJ")
    size = len(data)
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    matched, lines, odd = share_of_lines(data, _LINE)
    if 2 * matched < lines:
        raise HeaderError(
            f"{lines - matched} of {lines} examined lines, such as {shown(odd)}, do not begin with a keyword of OBJ"
        )
    data = _plain(data)
    starts = [line.start() for line in _VERTEX.finditer(data)]
    if not starts or _FACE.search(data) is None:
        what = "faces ('f 1 2 3')" if starts else "vertices ('v x y z')"
        raise HeaderError(f"has 0 triangles ({size} bytes, no lines of {what}), expected a triangle mesh")
    refuse_parts(len(set(_OBJECT.findall(data))), size)
    return _with_faces(data, starts)


def _plain(data: bytes) -> bytes:
    """Return an OBJ with normalized white space. Unused lines are empty, so line numbers are unchanged."""
    if b"#" in data:
        data = _REMARK_AFTER.sub(rb"\1", _REMARK.sub(b"", data))
    if b"\\\n" in data:
        data = _CONTINUED.sub(lambda m: m[0].replace(b"\\\n", b" ") + b"\n" * m[0].count(b"\\\n"), data)
    data = _ODD.sub(rb"\1 ", _UNKNOWN.sub(_without_digits, _UNUSED.sub(b"", data)))
    wrong = _NO_VERTEX.search(data)
    if wrong is not None:
        cure = ", with a decimal point instead of a comma" if b"," in wrong[0] else ""
        raise HeaderError(f"{_where(wrong)} is not a vertex with three coordinates ('v x y z'){cure}")
    wrong = _NO_FACE.search(data)
    if wrong is not None:
        raise HeaderError(f"{_where(wrong)} is not a face with three or more vertices ('f 1 2 3', 'f 1/1 2/2 3/3')")
    return data


def _without_digits(line: re.Match[bytes]) -> bytes:
    """Return an empty line for a line with an unknown first word. Raise an error if the line contains digits."""
    if re.search(rb"\d", line[0]):
        raise HeaderError(f"{_where(line)} does not begin with a keyword of OBJ. Correct or remove the line.")
    return b""


def _where(line: re.Match[bytes]) -> str:
    row = line.string.count(b"\n", 0, line.start()) + 1
    return f"line {row}, {shown(line[0])}"


def _with_faces(data: bytes, starts: list[int]) -> tuple[bytes, int]:
    """Return an OBJ with absolute indices, and its number of faces. ``starts`` are the byte offsets of vertex lines."""
    short = _FACES.sub(lambda faces: _TEXTURE_NORMAL.sub(b"", faces[0]), data) if b"/" in data else data
    text = b"".join(_FACES.findall(short))
    indices = np.fromstring(text.replace(b"f", b" "), dtype=np.int64, sep=" ")
    if indices.min() < 1 or indices.max() > len(starts):
        short = _FACE.sub(lambda line: _absolute(line, starts), data)
    return short, text.count(b"f")


def _absolute(line: re.Match[bytes], starts: list[int]) -> bytes:
    indices = [int(word) for word in _TEXTURE_NORMAL.sub(b"", line[0])[2:].split()]
    if max(indices) > len(starts):
        raise HeaderError(f"{_where(line)} has the index {max(indices)}, but the file has {len(starts)} vertices")
    if 0 in indices:
        raise HeaderError(f"{_where(line)} has the index 0, expected indices from 1, or negative ones")
    after = bisect(starts, line.start()) + 1
    if min(indices) + after < 1:
        raise HeaderError(
            f"{_where(line)} has the relative index {min(indices)}, but only {after - 1} vertices precede it"
        )
    return b"f " + b" ".join(b"%d" % (index if index > 0 else after + index) for index in indices)


#: The least cosine of the angle between the normals of two triangles of a polygon, whose corners are rounded.
_FLAT = 0.999


def unfolded(vertices: Array, faces: Ints) -> Ints:
    """Return the triangles, with a new triangulation of each polygon that was split into overlapping triangles.

    Raise a HeaderError if such a polygon intersects itself.
    """
    if faces.min() < 0 or faces.max() >= len(vertices):
        return faces  # `Mesh` raises an error with the number of the face
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1)
    across /= np.where(length > 0.0, length, 1.0)[:, None]
    firsts, seconds = _neighbours(faces)
    cosine = np.einsum("ij,ij->i", across[firsts], across[seconds])
    if not (cosine < -_FLAT).any():
        return faces
    from gjk3d.bodies.conversions import triangulated  # only folded polygons need it

    polygons, replaced = _folded(faces, firsts, seconds, cosine)
    fresh = []
    for polygon in polygons:
        cut = triangulated(vertices, polygon)
        if cut is None:
            raise HeaderError(
                f"has a polygon of {len(polygon)} corners that intersects itself, at {vertices[polygon[0]].tolist()}."
                " Triangulate it."
            )
        fresh.append(cut)
    return np.concatenate([np.delete(faces, replaced, axis=0), *fresh])


def _neighbours(faces: Ints) -> tuple[Ints, Ints]:
    """Return the indices of the first and the second triangle of each pair that may belong to one polygon."""
    fans = np.flatnonzero((faces[:-1, 0] == faces[1:, 0]) & (faces[:-1, 2] == faces[1:, 1]))
    count = int(faces.max()) + 1
    leaving, coming = faces[:, 0] * count + faces[:, 2], faces[:, 2] * count + faces[:, 0]
    order = np.argsort(coming, kind="stable")
    at = np.minimum(np.searchsorted(coming[order], leaving), len(order) - 1)
    halves = np.flatnonzero(coming[order[at]] == leaving)
    halves = halves[halves < order[at[halves]]]
    return np.concatenate([fans, halves]), np.concatenate([fans + 1, order[at[halves]]])


def _folded(faces: Ints, firsts: Ints, seconds: Ints, cosine: Array) -> tuple[list[Ints], Ints]:
    """Return the corners of each polygon with overlapping triangles, and the indices of all triangles to replace.

    ``firsts`` and ``seconds`` are pairs of triangles, and ``cosine`` is the cosine between the normals of each pair.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    flat = np.abs(cosine) > _FLAT
    graph = coo_matrix((np.ones(flat.sum()), (firsts[flat], seconds[flat])), shape=(len(faces), len(faces)))
    label = connected_components(graph, directed=False)[1]
    polygons, replaced = [], []
    for number in np.unique(label[firsts[cosine < -_FLAT]]).tolist():
        members = np.flatnonzero(label == number)
        polygon = _outline(faces[members])
        if polygon is not None:
            polygons.append(polygon)
            replaced.append(members)
    return polygons, np.concatenate(replaced) if replaced else np.zeros(0, dtype=np.int64)


def _outline(triangles: Ints) -> Ints | None:
    """Return the corners of the polygon that the triangles form, or None if they do not form one polygon."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).tolist()
    inner = {(i, j) for i, j in sides}
    following = {i: j for i, j in sides if (j, i) not in inner}
    corner = start = next(iter(following), -1)
    loop: list[int] = []
    while corner in following and len(loop) <= len(following):
        loop.append(corner)
        corner = following[corner]
        if corner == start:
            break
    closed = corner == start and len(loop) == len(triangles) + 2 == len(following)
    return np.array(loop, dtype=np.int64) if closed else None


def colour_obj(scene: Any, data: bytes, read_neighbour: Callable[[str], bytes]) -> None:
    """Set the colour of each object of an OBJ scene to that of the material that most of its faces have.

    ``read_neighbour`` returns the content of a file in the folder of the OBJ, given its name.
    """
    text = data.decode(errors="replace")
    palette: dict[str, Colour] = {}
    for line in re.findall(r"^mtllib[ \t](.*)$", text, re.MULTILINE):
        with contextlib.suppress(OSError, ValueError):
            palette |= _library(read_neighbour(line.strip()).decode(errors="replace"))
    if not palette:
        return
    faces: dict[str | None, Counter[str]] = {}
    thing, material = None, ""
    marks = [*re.finditer(r"^(o|usemtl)[ \t](.*)$", text, re.MULTILINE)]
    for mark, end in zip(marks, [*(mark_start.start() for mark_start in marks[1:]), len(text)], strict=True):
        if mark[1] == "o":
            thing = mark[2].strip()
        else:
            material = mark[2].strip()
        faces.setdefault(thing, Counter())[material] += text.count("\nf ", mark.end(), end)
    for name, geometry in scene.geometry.items():
        counts = faces.get(name, faces.get(None) if len(scene.geometry) == 1 else None)
        colour = palette.get(counts.most_common(1)[0][0]) if counts else None
        if colour is not None:
            geometry.metadata["colour"] = colour


def _library(text: str) -> dict[str, Colour]:
    colours: dict[str, Colour] = {}
    name = ""
    for line in text.splitlines():
        key, _, value = line.strip().partition(" ")
        if key == "newmtl":
            name = value.strip()
        elif key == "Kd" and re.fullmatch(r"(?:[-+.\deE]+\s+){2}[-+.\deE]+", value.strip()):
            red, green, blue = (round(min(1.0, max(0.0, float(number))), 6) for number in value.split())
            colours[name] = red, green, blue
    return colours
