"""The HTML page of a clash report, which works offline.

The page has a table of findings, a 3D view of the assembly, and the common volumes and intersection curves of overlaps.

A column of the table is defined in four places: the values in `_index` and `_texts`, the header in
``templates/page.html``, the cell in ``makeRow`` of ``templates/table.js``, and the width in ``templates/page.css``.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from math import dist, floor, hypot, isfinite, log10, nan
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from gjk3d import webpage
from gjk3d.bodies.mesh import Mesh
from gjk3d.clash.detection.assembly import upward
from gjk3d.clash.detection.clashes import KINDS, STATUSES, Clash, Clashes
from gjk3d.clash.detection.findings import Cause, causes
from gjk3d.clash.detection.parts import AssemblyPart, hex_of, order
from gjk3d.clash.motion.movement import Track
from gjk3d.clash.motion.moving import Course
from gjk3d.clash.report.baseline import readable
from gjk3d.clash.report.report import Report
from gjk3d.clash.report.wording import (
    MEANING,
    decided,
    depth,
    facts,
    gap,
    headline,
    inside,
    noise,
    shared_volume,
    translation_length,
    when,
)
from gjk3d.clash.triage import Triage
from gjk3d.errors import Gjk3dError
from gjk3d.query.overlap import intersection_curve, overlap
from gjk3d.typing import Array, Ints
from gjk3d.units import spellings
from gjk3d.webpage import deflated, to_base64, to_json
from gjk3d.wording import above, count, format_bounds, number, with_unit

# --- common volumes --------------------------------------------------------------------------------------------------

#: The largest number of findings whose common volume is computed, and of triangles of two parts together.
MOST, MOST_TRIANGLES = 100, 200_000


def pack_common(
    report: Report, count: int, center: Array, size: float, budget: int
) -> dict[int, tuple[list[int], str]]:
    """Return the packed common volumes of the worst overlaps among ``count`` findings, by the index of the finding.

    A value has a list of three counts, and a text that is packed by `gjk3d.webpage.deflated`. The counts are those of
    the vertices, the indices, and the points of the intersection curve. The text contains float32 vertices and curve
    points in the frame of the page with ``center`` and ``size``, then uint32 indices. ``budget`` is the largest number
    of characters of all texts together.
    """
    packed: dict[int, tuple[list[int], str]] = {}
    for k, vertices, faces, curve in _volumes(report, count):
        points = (np.concatenate([vertices, curve]) - center) / size
        text = deflated(points.astype("<f4").tobytes() + faces.astype("<u4").tobytes())
        if len(text) > budget:
            continue
        budget -= len(text)
        packed[k] = [len(vertices), int(faces.size), len(curve)], text
    return packed


def _volumes(report: Report, count: int) -> Iterator[tuple[int, Array, Ints, Array]]:
    """Yield the index of each overlap that has a common volume or an intersection curve, and three arrays.

    The arrays are the vertices and the faces of the volume, and the points of the curve.
    """
    parts = {} if report.assembly is None else {part.name: part for part in report.assembly.parts}
    convex = {part.name for part in report.parts if part.convex} if parts else {}
    left = MOST
    for k, clash in enumerate(report.clashes[:count]):
        pair = [(part.shape, _pose(report, clash, part)) for name in (clash.a, clash.b) if (part := parts.get(name))]
        shapes, poses = [shape for shape, _ in pair if shape is not None], [pose for _, pose in pair]
        if clash.kind != "hard" or len(shapes) < 2 or sum(len(shape.faces) for shape in shapes) > MOST_TRIANGLES:
            continue
        if left == 0:
            return
        left -= 1
        vertices, faces = _overlap(shapes, poses, clash.a in convex and clash.b in convex)
        try:
            curve = intersection_curve(shapes[0], shapes[1], poses[0], poses[1]).reshape(-1, 3)
        except Gjk3dError:
            curve = np.zeros((0, 3))
        if len(faces) or len(curve):
            yield k, vertices, faces, curve


def _pose(report: Report, clash: Clash, part: AssemblyPart) -> Array:
    pose = np.eye(4) if part.pose is None else np.array(part.pose)
    if report.motion is None or clash.time is None:
        return pose
    moved: Array = report.motion.pose(part.name, clash.time) @ pose
    return moved


def _overlap(shapes: list[Mesh], poses: list[Array], convex: bool) -> tuple[Array, Ints]:
    """Return the vertices and faces of the intersection of two shapes, or empty arrays if it cannot be computed.

    If both shapes are ``convex``, the intersection of their hulls is used if a shape is open or manifold3d is missing.
    """
    for by_hulls in (False, True) if convex else (False,):
        try:
            shape_a, shape_b = (shape.hull() if by_hulls else shape for shape in shapes)
            common: Any = overlap(shape_a, shape_b, poses[0], poses[1])
            if common is None:
                break
            vertices, faces = (common.vertices, common.faces) if isinstance(common, Mesh) else common.surface()[:2]
            return np.asarray(vertices), np.asarray(faces)
        except (Gjk3dError, ImportError):
            continue
    return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)


# --- the page --------------------------------------------------------------------------------------------------------

#: The largest number of findings that a page lists. The worst come first.
MAX_ROWS = 100_000
#: The largest size of a page in bytes. Parts whose triangles do not fit are drawn as boxes.
MAX_BYTES = 40_000_000
_SPARE = 2_000_000  #: bytes reserved for the scripts, the styles and the table
_PART, _PLACE = 92, 16  #: upper bounds of the bytes for the pose of a part and the point of a finding
_FILES = (
    "page.html", "page.css", "rows.js", "table.js", "decisions.js", "triage.js", "stage.js", "dots.js", "motion.js",
    "common.js", "view.js", "tools.js", "names.js", "cube.js", "tree.js", "page.js",
)  # fmt: skip


def write_page(report: Report, path: str | os.PathLike[str], *, token: str = "", up: str = "") -> Path:
    """Write the report as one self-contained page with a table of findings and a 3D view of the parts.

    The content security policy of the page forbids all connections. Only a page with a ``token`` may connect, and only
    to its own server. The 3D code (three.js) is taken from the installed trimesh. A page lists at most `MAX_ROWS`
    findings, the worst first, and has at most `MAX_BYTES` bytes. The common volumes of the worst overlaps are stored
    first, then the triangles of parts with findings, in the order of the findings. Copies share one shape. Notes on the
    page state how many findings and parts were left out. Findings and shapes are compressed, and the page unpacks them
    when they are shown. This requires a browser of 2023 or later.

    Parameters
    ----------
    report : Report
        The result of a clash check. The parts are drawn with their triangles if the report has its ``assembly``.
    path : path
        The file to write.
    token : str, optional
        The token of `gjk3d serve`. The page sends decisions to its server with this token.
    up : {"", "x", "y", "z"}
        The axis that points up in the picture. The default is y for glTF, and z for all other formats.

    Returns
    -------
    Path
        The written file.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gk.clash.page.write_page(gk.clash.Report(), pathlib.Path(folder) / "report.html").name
    'report.html'
    """
    worst = report.clashes[:MAX_ROWS]
    files = {name: file for c in worst for name, file in ((c.a, c.a_file), (c.b, c.b_file)) if name}
    files |= {part.name: part.file for part in report.parts}
    names = {name: k for k, name in enumerate(sorted(files, key=order))}
    frame, factor = placed(report, names), report.reading[1]
    shown = readable(report)
    explained = [cause for cause in report.causes or causes(report.clashes) if cause.part in names]
    packed = pack(shown, names, explained, factor * frame.size, MAX_ROWS)
    scene = packed.index | _data(shown, names, files, frame)
    scene["up"] = upward(report, up)
    scene |= {"center": (factor * frame.center).tolist(), "size": factor * frame.size, "served": token}
    room = MAX_BYTES - _SPARE - _PART * len(names) - _PLACE * packed.count
    room -= len(to_json(scene)) + sum(map(len, packed.blocks))
    common = pack_common(report, packed.count, frame.center, frame.size, room // 4)
    drawn = gather(report, names, frame, room - sum(len(text) for _, text in common.values()))
    scene |= {"common": {k: counts for k, (counts, _) in common.items()}}
    scene |= {"shapes": drawn.shapes, "chunks": [count for count, _ in drawn.chunks]}
    markup = {
        "tiles": "\n".join(starmap(_tile, report.counts.items())),
        "notes": "\n".join(f'<p class="note">{html.escape(note)}</p>' for note in _notes(report, frame, drawn, packed)),
        "unchecked": _unchecked(report),
        "inputs": _inputs(report),
        "settings": _settings(report),
        "scene": to_json(scene),
    }
    at = places(worst[: packed.count], names, frame)
    blocks = {"findings": "\n".join(packed.blocks), "shapes": drawn.block(frame, at)}
    blocks["common"] = "\n".join(text for _, text in common.values())
    text = {"title": headline(shown), "facts": facts(shown)}
    return webpage.write_page(
        path, "gjk3d.clash", _FILES, text=text, markup=markup, blocks=blocks, own_server=bool(token)
    )


def _tile(kind: str, count: int) -> str:
    return (
        f'<button type="button" class="tile {kind}" data-kind="{kind}" aria-pressed="false" title="{MEANING[kind]}"'
        f"{'' if count else ' disabled'}><b>{count:,}</b> <span>{kind}</span></button>"
    )


def _notes(report: Report, frame: Frame, drawn: Drawn, packed: Packed) -> list[str]:
    notes = list(report.notes)
    if not report.complete:
        notes.insert(0, "This check was stopped before its end, so pairs are missing.")
    if report.total > packed.count:
        notes.append(f"The table has the worst {packed.count:,} of {report.total:,} findings.")
    has = drawn.which >= 0
    if drawn.left_out:
        notes.append(
            f"{drawn.left_out:,} of {drawn.left_out + int(has.sum()):,} parts are drawn as boxes,"
            f" because their triangles do not fit into the {MAX_BYTES / 1e6:g} MB of this page."
        )
    elif np.isfinite(frame.boxes).any() and not has.any():
        notes.append("The parts are drawn as boxes, because this report does not contain their triangles.")
    if late := int((has & ~drawn.visible).sum()):
        words = "1 part is drawn as a box until it" if late == 1 else f"{late:,} parts are drawn as boxes until they"
        verb = "is" if late == 1 else "are"
        notes.append(f"{words} {verb} selected, because more than {MAX_TRIANGLES:,} triangles make browsers slow.")
    motion = report.motion
    if motion is not None and not motion.tracks:
        notes.append("The parts are shown in their drawn poses, because this report has no motion tracks.")
    return notes


def _unchecked(report: Report) -> str:
    parts = report.unchecked
    if not parts:
        return ""
    items = "\n".join(
        f"<li><bdi>{html.escape(part.name)}</bdi>: {html.escape(part.reason)}"
        f"{f' <small>{html.escape(part.file)}</small>' if part.file and part.file != part.name else ''}</li>"
        for part in parts
    )
    words = f"{count(len(parts), 'part', ',')} {'was' if len(parts) == 1 else 'were'} not checked"
    state = " open" if len(parts) <= 3 else ""
    return f'<details id="unchecked" class="note"{state}><summary>{words}</summary>\n<ul>{items}</ul></details>'


def _inputs(report: Report) -> str:
    return "\n".join(
        f"<li><bdi>{html.escape(item.path)}</bdi> <small>{html.escape(item.unit or 'no unit stated')}"
        f"{f', sha256 {html.escape(item.sha256)}' if item.sha256 else ''}</small></li>"
        for item in report.inputs
    )


def _settings(report: Report) -> str:
    return "\n".join(
        f"<tr><th>{html.escape(str(key).replace('_', ' '))}</th><td>"
        f"{html.escape(value if isinstance(value, str) else json.dumps(value, default=str))}</td></tr>"
        for key, value in report.settings.items()
        if value not in (None, [], "")
    )


def _data(report: Report, names: Mapping[str, int], files: Mapping[str, str], frame: Frame) -> dict[str, Any]:
    """Return the data of the parts, the motion and the triage for the scripts, with parts in the order of ``names``."""
    triangles = {part.name: part.triangles for part in report.parts}
    colour = {part.name: hex_of(part.colour) for part in report.parts if part.colour is not None}
    colours = {text: k for k, text in enumerate(dict.fromkeys(colour.values()))}
    sources = {file: k for k, file in enumerate(dict.fromkeys(files.values()))}
    moves = report.motion is not None and report.motion.tracks
    return {
        "unit": report.unit or "",
        "metres": spellings(),
        "names": list(names),
        "files": list(sources),
        "file": to_base64([sources[files[name]] for name in names], "<i4"),
        "colours": list(colours),
        "colour": to_base64([colours[colour[name]] if name in colour else -1 for name in names], "<i4"),
        "triangles": to_base64([triangles.get(name, 0) for name in names], "<f8"),
        "motion": played(report, frame.center, frame.size, names) if moves else None,
        "meaning": MEANING,
        "triage": (report.triage or Triage()).to_dict()["issues"],
        "stem": PurePath(report.inputs[0].path).stem if report.inputs else "report",  # name of the triage file
    }


#: The largest number of triangles, counted for each copy, that a page draws at once. Browsers get slow above it.
MAX_TRIANGLES = 4_000_000
#: The number of bytes of shapes that are compressed together.
CHUNK = 1 << 18
_BEST = 8  #: floats and indices are rarely compressed by a larger factor


class Frame(NamedTuple):
    """The frame of the page. A point p of the assembly is at ``(p - center) / size`` in the page.

    ``boxes`` (n, 2, 3) are the bounding boxes of the parts in the frame of the assembly, nan for parts without a box.
    """

    center: Array
    size: float
    boxes: Array


class Drawn(NamedTuple):
    """The triangles of a page.

    ``shapes`` has the numbers of vertices and of indices of each shape. ``chunks`` has the number of shapes in each
    chunk, and a text that is packed by `gjk3d.webpage.deflated`. The text contains the float32 positions of all shapes
    of the chunk, then their uint32 indices, little-endian. ``which`` (n,) has the index of the shape of each part, or
    -1 for a part without triangles in the page. ``poses`` (n, 7) has a quaternion (x, y, z, w) and a translation for
    each part. Parts that are not ``visible`` are drawn as boxes until they are selected. ``left_out`` is the number of
    parts whose triangles did not fit into the page.
    """

    shapes: list[tuple[int, int]]
    chunks: list[tuple[int, str]]
    which: Ints
    poses: Array
    visible: Any
    left_out: int

    def block(self, frame: Frame, places: Array) -> str:
        """Return the text that stores the shapes in the page.

        The first line has the boxes, the poses, ``places`` (the points of the findings), ``which`` and ``visible``.
        Each other line has a chunk of shapes.
        """
        boxes = (frame.boxes - frame.center[None, None]) / frame.size
        arrays = ((boxes, "<f4"), (self.poses, "<f4"), (places, "<f4"), (self.which, "<i4"), (self.visible, "u1"))
        first = b"".join(np.ascontiguousarray(array, dtype=kind).tobytes() for array, kind in arrays)
        return "\n".join([deflated(first), *(text for _, text in self.chunks)])


def placed(report: Report, numbers: Mapping[str, int]) -> Frame:
    """Return the frame of the page. ``numbers`` maps the name of each part to its index in `Frame.boxes`."""
    boxes = np.full((len(numbers), 2, 3), np.nan)
    members = report.assembly.parts if report.assembly is not None else ()
    every: tuple[Any, ...] = (*report.parts, *members)
    for part in every:
        k = numbers.get(part.name)
        if k is not None and np.isnan(boxes[k, 0, 0]) and part.bounds is not None and np.isfinite(part.bounds).all():
            boxes[k] = part.bounds
    finite = boxes[np.isfinite(boxes).all(axis=(1, 2))]
    low, high = (finite[:, 0].min(axis=0), finite[:, 1].max(axis=0)) if len(finite) else (np.zeros(3), np.ones(3))
    return Frame(0.5 * low + 0.5 * high, float(np.linalg.norm(0.5 * high - 0.5 * low)) or 1.0, boxes)


def gather(report: Report, numbers: Mapping[str, int], frame: Frame, budget: float) -> Drawn:
    """Return the triangles of the parts that fit into a page, those of the parts of the worst findings first.

    ``numbers`` maps the name of each part to its index in the arrays of the result. ``budget`` is the largest number of
    characters of all chunks together.
    """
    ordered = _order(report, numbers, frame)
    sizes, chunks, numbers_of_shapes = _packed({id(part.shape): part.shape for part in ordered}, frame.size, budget)
    which, visible, poses = np.full(len(numbers), -1), np.zeros(len(numbers), dtype=bool), np.zeros((len(numbers), 7))
    drawn = [part for part in ordered if id(part.shape) in numbers_of_shapes]
    if drawn:
        places = [numbers[part.name] for part in drawn]
        which[places] = [numbers_of_shapes[id(part.shape)] for part in drawn]
        poses[places] = _poses(drawn, frame)
        visible[places] = np.cumsum(np.array(sizes)[which[places], 1]) <= 3 * MAX_TRIANGLES
    return Drawn(sizes, chunks, which, poses, visible, len(ordered) - len(drawn))


def _order(report: Report, numbers: Mapping[str, int], frame: Frame) -> list[AssemblyPart]:
    """Return the parts with findings, the worst first, then the other parts, the smallest first."""
    members = report.assembly.parts if report.assembly is not None else ()
    flat: Any = np.isfinite(frame.boxes).all(axis=(1, 2))
    sizes = {
        part.name: len(part.shape.faces)
        for part in members
        if part.shape is not None and len(part.shape.vertices) and flat[numbers.get(part.name, -1)]
    }
    parts = {part.name: part for part in members}
    table = Clashes.of(report.clashes)
    pairs = table.parts.names[np.column_stack([table.columns["a"], table.columns["b"]])]
    clashing = dict.fromkeys(name for name in pairs.ravel().tolist() if name in sizes)
    free = sorted(sizes.keys() - clashing.keys(), key=lambda name: (sizes[name], name))
    return [parts[name] for name in (*clashing, *free)]


def _packed(
    shapes: Mapping[int, Any], size: float, budget: float
) -> tuple[list[tuple[int, int]], list[tuple[int, str]], dict[int, int]]:
    """Return `Drawn.shapes`, `Drawn.chunks`, and the index in `Drawn.shapes` of each stored shape.

    The indices are stored under the keys of ``shapes``. Shapes that do not fit into the ``budget`` are left out.
    """
    sizes: list[tuple[int, int]] = []
    chunks: list[tuple[int, str]] = []
    stored: dict[int, int] = {}
    waiting: list[tuple[int, bytes, bytes, tuple[int, int]]] = []
    for k, (key, shape) in enumerate(shapes.items()):
        points, faces = lean(shape)
        places = (points - shape.bounds.mean(axis=0)) / size
        counts = len(points), int(faces.size)
        waiting.append((key, places.astype("<f4").tobytes(), faces.astype("<u4").tobytes(), counts))
        if sum(len(row[1]) + len(row[2]) for row in waiting) < CHUNK and k + 1 < len(shapes):
            continue
        data = b"".join([*(row[1] for row in waiting), *(row[2] for row in waiting)])
        text = deflated(data) if len(data) < _BEST * budget else ""
        if text and len(text) <= budget:  # after a chunk that does not fit, a smaller chunk may fit
            budget -= len(text)
            chunks.append((len(waiting), text))
            stored |= {key: len(sizes) + j for j, (key, *_) in enumerate(waiting)}
            sizes += [counts for *_, counts in waiting]
        waiting = []
    return sizes, chunks, stored


def _poses(parts: Sequence[AssemblyPart], frame: Frame) -> Array:
    """Return the pose of each part in the page, (n, 7): a quaternion (x, y, z, w) and a position.

    The position is the centre of the bounding box of the part's shape, moved to the frame of the page.
    """
    matrices = np.array([np.eye(4) if part.pose is None else part.pose for part in parts])
    middles = np.array([part.shape.bounds.mean(axis=0) for part in parts if part.shape is not None])
    places = (matrices[:, :3, :3] @ middles[:, :, None])[:, :, 0] + matrices[:, :3, 3]
    turns = Rotation.from_matrix(matrices[:, :3, :3]).as_quat()
    return np.hstack([turns, (places - frame.center) / frame.size])


def lean(mesh: Mesh) -> tuple[Array, NDArray[np.int64]]:
    """Return the vertices and faces of a mesh. Equal vertices are merged if there are more vertices than faces."""
    points: Any = mesh.vertices
    faces: Any = mesh.faces
    if len(points) <= len(faces):
        return points, faces
    places = mesh._places
    merged = np.empty((int(places.max()) + 1, 3))
    merged[places] = points
    return merged, places[faces]


#: The number of findings in a block.
ROWS = 500
#: The largest number of characters of all blocks together.
MAX_CHARACTERS = 26_000_000


@dataclass(frozen=True)
class Packed:
    """The findings in the format of the page.

    ``index`` is JSON data: the ids of the findings, columns in base64, and lists of texts that the columns refer to.
    ``blocks`` are JSON texts of `ROWS` findings each, packed by `gjk3d.webpage.deflated`. ``count`` is the number of
    findings that fit into the page.
    """

    index: dict[str, Any]
    blocks: list[str]
    count: int


def pack(report: Report, names: Mapping[str, int], causes: Sequence[Cause], size: float, most: int) -> Packed:
    """Return at most ``most`` of the worst findings of a report in the format of the page.

    ``report`` is a result of `readable`. ``names`` maps the name of each part to its index. Positions are rounded to a
    billionth of ``size``, the size of the assembly.
    """
    sentences: dict[str, int] = {}
    blocks: list[str] = []
    widths = dict.fromkeys(("inside", "depth", "gap", "volume"), 0)
    room, count = MAX_CHARACTERS, 0
    worst = report.clashes[:most]
    for first in range(0, len(worst), ROWS):
        clashes = worst[first : first + ROWS]
        texts = [_texts(clash, report) for clash in clashes]
        rows = [_row(clash, size, sentences) for clash in clashes]
        text = deflated(to_json(_columns(rows) | {"told": _columns(texts)}).encode())
        room -= len(text)
        if room < 0:
            break
        blocks.append(text)
        count += len(clashes)
        widths = {name: max(most, *(len(row.get(name, "")) for row in texts)) for name, most in widths.items()}
    index = _index(report, worst[:count], names, causes)
    return Packed(index | {"decided": list(sentences), "widths": widths, "block": ROWS}, blocks, count)


def _index(report: Report, clashes: Sequence[Clash], names: Mapping[str, int], causes: Sequence[Cause]) -> Any:
    """Return the part of `Packed.index` that the page sorts and filters by. Columns without values are left out."""
    groups = {name: k for k, name in enumerate(sorted({clash.group for clash in clashes} - {""}, key=order))}
    notes = {note: k for k, note in enumerate(dict.fromkeys(clash.note for clash in clashes if clash.note))}
    cause_of = {ident: k for k, cause in enumerate(causes) for ident in cause.ids}
    pairs = report.motion.pairs if report.motion is not None else ()
    courses = {(pair.a, pair.b): k for k, pair in enumerate(pairs)}
    numbers: dict[str, Iterable[int]] = {
        "a": (names.get(clash.a, -1) for clash in clashes),
        "b": (names.get(clash.b, -1) for clash in clashes),
        "group": (groups.get(clash.group, -1) for clash in clashes),
        "note": (notes.get(clash.note, -1) for clash in clashes),
        "cause": (cause_of.get(clash.id, -1) for clash in clashes),
        "course": (courses.get((clash.a, clash.b), -1) for clash in clashes),
    }
    measures = {
        name: np.array([getattr(clash, name) for clash in clashes], dtype=float)  # None becomes nan
        for name in ("distance", "penetration", "overlap_volume", "time")
    }
    integers = {name: np.fromiter(column, dtype=np.int64) for name, column in numbers.items()}
    with np.errstate(over="ignore"):
        columns = {
            **{name: to_base64(column, "<i4") for name, column in integers.items() if (column >= 0).any()},
            **{name: to_base64(column, "<f4") for name, column in measures.items() if np.isfinite(column).any()},
        }
    kinds = to_base64([KINDS.index(clash.kind) for clash in clashes], "u1")
    statuses = to_base64([STATUSES.index(clash.status) for clash in clashes], "u1")
    return {
        "ids": [clash.id for clash in clashes],
        "columns": columns | {"kind": kinds, "status": statuses},
        "kinds": KINDS,
        "statuses": STATUSES,
        "groups": list(groups),
        "notes": list(notes),
        "causes": [[names[cause.part], len(cause.ids)] for cause in causes],
    }


def places(clashes: Sequence[Clash], names: Mapping[str, int], frame: Frame) -> Array:
    """Return the position of each finding in the frame of the page, (n, 3).

    It is the point of the finding, or else the centre of the box of its first part, or else nan.
    """
    nowhere = (nan, nan, nan)
    points = (next((p for p in (c.point, c.point_a, c.point_b) if p is not None), nowhere) for c in clashes)
    at = np.array([*points, nowhere])
    part = np.array([*(names.get(clash.a or clash.b, -1) for clash in clashes), -1])
    middles = np.vstack([frame.boxes.mean(axis=1), [nowhere]])[part]
    result: Array = (np.where(np.isfinite(at).all(axis=1)[:, None], at, middles)[:-1] - frame.center) / frame.size
    return result


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}


def _row(clash: Clash, size: float, sentences: dict[str, int]) -> dict[str, Any]:
    """Return the values of a finding for the page.

    The value "decided" is the index of the text of `decided` in ``sentences``. A new text is added to ``sentences``.
    """
    digits = min(300, max(0, 9 - floor(log10(size))))
    row: dict[str, Any] = {
        "severity": clash.severity,
        "distance": clash.distance,
        "evidence": clash.evidence,
        "decided": sentences.setdefault(decided(clash), len(sentences)),
        "time": clash.time,
        "intervals": clash.intervals or None,
        "mtv": _finite(clash.mtv if any(clash.mtv or ()) else None, lambda x: float(f"{x:.9g}")),
        "point": _finite(clash.point, lambda x: round(x, digits)),
    }
    if _consistent(clash, size):
        row["point_a"], row["point_b"] = (
            _finite(p, lambda x: round(x, digits)) for p in (clash.point_a, clash.point_b)
        )
        row["normal"] = _finite(clash.normal, lambda x: round(x, 7))
    if extent := _extent(clash):
        row["reach"] = float(f"{0.5 * hypot(*extent):.6g}")
    return row


def _consistent(clash: Clash, size: float) -> bool:
    # points on hulls show the place of the finding, but not its distance
    if clash.point_a is None or clash.point_b is None or clash.distance is None:
        return False
    gap = dist(clash.point_a, clash.point_b)
    return abs(gap - abs(clash.distance)) <= 0.01 * gap + 1e-6 * size


def _finite(vector: Sequence[float] | None, rounded: Callable[[float], float]) -> list[float] | None:
    return None if vector is None or not all(map(isfinite, vector)) else [rounded(x) for x in vector]


def _extent(clash: Clash) -> list[float] | None:
    if clash.overlap_box is None:
        return None
    low, high = clash.overlap_box
    return _finite([high[k] - low[k] for k in range(3)], float)


def _texts(clash: Clash, report: Report) -> dict[str, str]:
    """Return the numbers of a finding as texts. The page shows these texts, since its scripts must not round bounds."""
    unit, error = report.unit, noise(clash, report)
    extent = _extent(clash)
    texts = {
        "inside": inside(clash, error=error),
        "depth": depth(clash, error=error),
        "gap": gap(clash, error=error),
        "way": translation_length(clash, unit, error) if clash.depth else "",
        "error": "" if clash.error_bound is None else with_unit(above(clash.error_bound, 2), unit),
        "volume": shared_volume(clash),
        "extent": with_unit(" × ".join(number(x, 5) for x in extent), unit) if extent else "",
        "hulls": with_unit(number(clash.convex_gap, 5), unit) if clash.convex_gap else "",
        "when": when(clash, report),
    }
    return {label: text for label, text in texts.items() if text}


_LEAST, _MOST = 241, 2001  #: the smallest and the largest number of poses of a moving body
_IN_ALL = 60_000  #: the largest number of poses of all bodies together
_TURN = np.radians(2.0)  #: the largest rotation between two poses, unless this requires too many poses


def played(report: Report, center: Array, size: float, numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return the motion in the frame of the page, which ``center`` and ``size`` define.

    ``numbers`` maps the name of each part to its index in the page.
    """
    motion = report.motion
    assert motion is not None
    tracks: dict[int, tuple[Track, list[int]]] = {}
    for name, track in motion.tracks.items():
        if name in numbers:  # a file may name parts that the report lacks
            tracks.setdefault(id(track), (track, []))[1].append(numbers[name])
    turns = [float(np.linalg.norm(track.rows[:, 15:18], axis=1).sum()) for track, _ in tracks.values()]
    most = max(2, min(_MOST, _IN_ALL // max(1, len(tracks))))
    frames = int(np.clip(np.ceil(max(turns, default=0.0) / _TURN) + 1, min(_LEAST, most), most))
    times = np.linspace(motion.begin, motion.end, frames).tolist()
    bodies = []
    for track, parts in tracks.values():
        poses = np.stack([track.pose(time) for time in times])[:, :3]
        poses[:, :, 3] = (poses[:, :, :3] @ center + poses[:, :, 3] - center) / size
        bodies.append({"parts": parts, "poses": to_base64(poses, "<f4")})
    return {
        "begin": motion.begin,
        "end": motion.end,
        "unit": motion.unit,
        "frames": frames,
        "bodies": bodies,
        "courses": [_course(pair, report.unit) for pair in motion.pairs],
    }


def _course(pair: Course, unit: str | None) -> dict[str, Any]:
    words = "the parts clash" if pair.intervals else f"smallest clearance {format_bounds(*pair.least, 5, unit)}"
    # a curve on a screen needs no more than six digits
    series = [[float(f"{x:.6g}") for x in row] for row in pair.series if np.isfinite(row).all()]
    return {"intervals": pair.intervals, "series": series, "told": words}
