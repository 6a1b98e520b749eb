"""The parts of a report for its page: each shape once, where its copies are, and boxes, all compressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from gjk3d.bodies.mesh import Mesh
from gjk3d.clash.parts import AssemblyPart
from gjk3d.clash.report import Report
from gjk3d.typing import Array, Ints
from gjk3d.webpage import deflated

#: Triangles, those of each copy counted, that a page draws at once; browsers get slow beyond.
MAX_TRIANGLES = 4_000_000
#: Bytes of shapes that are compressed together.
CHUNK = 1 << 18
_BEST = 8  #: times smaller than that floats and indices hardly ever get


class Frame(NamedTuple):
    """Where the assembly is in the page: a point p of it is at ``(p - center) / size``.

    ``boxes`` (n, 2, 3) are those of the parts in the assembly, nan where one has none.
    """

    center: Array
    size: float
    boxes: Array


class Drawn(NamedTuple):
    """What a page draws.

    Attributes
    ----------
    shapes : list of (vertices, indices)
        How many of them each shape has.
    chunks : list of (shapes, text)
        How many shapes, and as `gjk3d.webpage.deflated` packs them: of each its float32 positions, then of each its
        uint32 indices, little-endian.
    which : (n,) int
        The shape of each part, -1 where it has none here.
    poses : (n, 7) float
        Quaternion, x first, and place of each of these.
    seen : (n,) bool
        Whether the part is drawn at once; the others are boxes until they are chosen.
    left_out : int
        Parts that have triangles, which are not here for their number.
    """

    shapes: list[tuple[int, int]]
    chunks: list[tuple[int, str]]
    which: Ints
    poses: Array
    seen: Any
    left_out: int

    def block(self, frame: Frame, places: Array) -> str:
        """Return the lines that scripts unpack: first where parts and findings are, then the shapes."""
        boxes = (frame.boxes - frame.center[None, None]) / frame.size
        arrays = ((boxes, "<f4"), (self.poses, "<f4"), (places, "<f4"), (self.which, "<i4"), (self.seen, "u1"))
        first = b"".join(np.ascontiguousarray(array, dtype=kind).tobytes() for array, kind in arrays)
        return "\n".join([deflated(first), *(text for _, text in self.chunks)])


def placed(report: Report, numbers: Mapping[str, int]) -> Frame:
    """Return the boxes of the parts, by number, and what is round them all."""
    boxes = np.full((len(numbers), 2, 3), np.nan)
    own = report.assembly.parts if report.assembly is not None else ()
    every: tuple[Any, ...] = (*report.parts, *own)
    for part in every:
        k = numbers.get(part.name)
        if k is not None and np.isnan(boxes[k, 0, 0]) and part.bounds is not None and np.isfinite(part.bounds).all():
            boxes[k] = part.bounds
    known = boxes[np.isfinite(boxes).all(axis=(1, 2))]
    low, high = (known[:, 0].min(axis=0), known[:, 1].max(axis=0)) if len(known) else (np.zeros(3), np.ones(3))
    return Frame(0.5 * low + 0.5 * high, float(np.linalg.norm(0.5 * high - 0.5 * low)) or 1.0, boxes)


def gather(report: Report, numbers: Mapping[str, int], frame: Frame, budget: float) -> Drawn:
    """Collect the triangles of the parts, those of the worst findings first where there are too many.

    Parameters
    ----------
    report : Report
        With its assembly, if there shall be triangles.
    numbers : dict of str to int
        The place of each part, by its name, in what is returned.
    frame : Frame
        Where they are.
    budget : float
        Characters that the chunks may have together.
    """
    ordered = _order(report, numbers, frame)
    sizes, chunks, known = _packed({id(part.shape): part.shape for part in ordered}, frame.size, budget)
    which, seen, poses = np.full(len(numbers), -1), np.zeros(len(numbers), dtype=bool), np.zeros((len(numbers), 7))
    here = [part for part in ordered if id(part.shape) in known]
    if here:
        places = [numbers[part.name] for part in here]
        which[places] = [known[id(part.shape)] for part in here]
        poses[places] = _poses(here, frame)
        seen[places] = np.cumsum(np.array(sizes)[which[places], 1]) <= 3 * MAX_TRIANGLES
    return Drawn(sizes, chunks, which, poses, seen, len(ordered) - len(here))


def _order(report: Report, numbers: Mapping[str, int], frame: Frame) -> list[AssemblyPart]:
    """Return the parts with findings, the worst first, then the others, the smallest first."""
    own = report.assembly.parts if report.assembly is not None else ()
    flat: Any = np.isfinite(frame.boxes).all(axis=(1, 2))
    sizes = {
        part.name: len(part.shape.faces)
        for part in own
        if part.shape is not None and len(part.shape.vertices) and flat[numbers.get(part.name, -1)]
    }
    parts = {part.name: part for part in own}
    found = dict.fromkeys(name for clash in report.clashes for name in (clash.a, clash.b) if name in sizes)
    others = sorted(sizes.keys() - found.keys(), key=lambda name: (sizes[name], name))
    return [parts[name] for name in (*found, *others)]


def _packed(
    shapes: Mapping[int, Any], size: float, budget: float
) -> tuple[list[tuple[int, int]], list[tuple[int, str]], dict[int, int]]:
    """Return how large each shape is, the shapes in chunks, and the number of each by its key."""
    sizes: list[tuple[int, int]] = []
    chunks: list[tuple[int, str]] = []
    known: dict[int, int] = {}
    waiting: list[tuple[int, bytes, bytes, tuple[int, int]]] = []
    for k, (key, shape) in enumerate(shapes.items()):
        points, faces = lean(shape)
        places = (points - shape.bounds.mean(axis=0)) / size
        counts = len(points), int(faces.size)
        waiting.append((key, places.astype("<f4").tobytes(), faces.astype("<u4").tobytes(), counts))
        if sum(len(one) + len(two) for _, one, two, _ in waiting) < CHUNK and k + 1 < len(shapes):
            continue
        data = b"".join([*(row[1] for row in waiting), *(row[2] for row in waiting)])
        text = deflated(data) if len(data) < _BEST * budget else ""
        if text and len(text) <= budget:  # else a smaller one may still go in
            budget -= len(text)
            chunks.append((len(waiting), text))
            known |= {key: len(sizes) + j for j, (key, *_) in enumerate(waiting)}
            sizes += [counts for *_, counts in waiting]
        waiting = []
    return sizes, chunks, known


def _poses(parts: Sequence[AssemblyPart], frame: Frame) -> Array:
    """Return the quaternions and places in the page of the middles of shapes' boxes, (n, 7)."""
    matrices = np.array([np.eye(4) if part.pose is None else part.pose for part in parts])
    middles = np.array([part.shape.bounds.mean(axis=0) for part in parts if part.shape is not None])
    places = (matrices[:, :3, :3] @ middles[:, :, None])[:, :, 0] + matrices[:, :3, 3]
    turns = Rotation.from_matrix(matrices[:, :3, :3]).as_quat()
    return np.hstack([turns, (places - frame.center) / frame.size])


def lean(mesh: Mesh) -> tuple[Array, NDArray[np.int64]]:
    """Return vertices and faces, each place once if the file gave every triangle corners of its own."""
    points: Any = mesh.vertices
    faces: Any = mesh.faces
    if len(points) <= len(faces):
        return points, faces
    places = mesh._places
    merged = np.empty((int(places.max()) + 1, 3))
    merged[places] = points
    return merged, places[faces]
