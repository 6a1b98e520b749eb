"""The common volumes and intersection curves of findings, for the page of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.detection.parts import AssemblyPart
from gjk3d.clash.report.report import Report
from gjk3d.errors import Gjk3dError
from gjk3d.query.faces import intersection_curve
from gjk3d.query.overlap import overlap
from gjk3d.typing import Array, Ints
from gjk3d.webpage import deflated

#: The largest number of findings whose common volume is computed, and of triangles of two parts together.
MOST, MOST_TRIANGLES = 100, 200_000


def pack_common(
    report: Report, count: int, center: Array, size: float, budget: int
) -> dict[int, tuple[list[int], str]]:
    """Return the common volumes of the worst overlaps of a page with ``count`` findings, by the index of the finding.

    The values are the numbers of vertices, of indices and of points of the curve, and their data, packed by
    `gjk3d.webpage.deflated`: float32 vertices and curve points in the frame of the page, then uint32 indices.
    ``budget`` is the largest number of characters of all data.
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
    """Yield the index of each overlap with a common volume or an intersection curve, and their geometry.

    The geometry is the vertices and faces of the volume, and the points of the curve.
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
    """Return the vertices and faces of the intersection of two solids, or their hulls if both are ``convex``.

    The arrays are empty if a part is open, or manifold3d is missing.
    """
    for by_hulls in (False, True) if convex else (False,):
        try:
            one, other = (shape.hull() if by_hulls else shape for shape in shapes)
            common: Any = overlap(one, other, poses[0], poses[1])
            if common is None:
                break
            vertices, faces = (common.vertices, common.faces) if isinstance(common, Mesh) else common.surface()[:2]
            return np.asarray(vertices), np.asarray(faces)
        except (Gjk3dError, ImportError):
            continue
    return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
