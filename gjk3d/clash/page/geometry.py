"""The triangles of an assembly as a page holds them: all in two arrays, about the middle, in units of its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash.report import Report
from gjk3d.meshes.edges import merged_places
from gjk3d.meshes.mesh import Mesh
from gjk3d.webpage import to_base64

Array = NDArray[np.float64]

#: Bytes of triangles that one page may hold; as text they take a third more, and browsers get slow beyond.
MAX_BYTES = 48_000_000


@dataclass(frozen=True)
class Drawn:
    """What a page draws.

    Attributes
    ----------
    center, size : (3,) float, float
        A point p of the assembly is at ``(p - center) / size`` in the page.
    positions, indices : str
        float32 and uint32, little-endian, in base64.
    ranges : dict of str to (first vertex, vertices, first index, indices)
        By the name of the part.
    boxes : dict of str to (lowest, highest corner)
        Of every part that has bounds.
    left_out : int
        Parts that have triangles, which are not here for their number.
    """

    center: Array
    size: float
    positions: str
    indices: str
    ranges: dict[str, tuple[int, int, int, int]]
    boxes: dict[str, tuple[list[float], list[float]]]
    left_out: int


def gather(report: Report) -> Drawn:
    """Collect the triangles of the parts, those of the worst findings first where there are too many."""
    boxes = {part.name: np.array(part.bounds) for part in report.parts if part.bounds is not None}
    meshes = _meshes(report)
    for name, mesh in meshes.items():
        boxes.setdefault(name, np.array([mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)]))
    boxes = {name: box for name, box in boxes.items() if np.isfinite(box).all()}
    corners = np.concatenate([*boxes.values(), np.zeros((0, 3))])
    low, high = (corners.min(axis=0), corners.max(axis=0)) if len(corners) else (np.zeros(3), np.ones(3))
    center = 0.5 * low + 0.5 * high
    size = float(np.linalg.norm(0.5 * high - 0.5 * low)) or 1.0

    points, triangles, ranges = [], [], {}
    vertices = indices = 0
    for name in _order(report, meshes):
        if name not in boxes:
            continue
        place, faces = _lean(meshes[name])
        if 12 * (vertices + len(place)) + 4 * (indices + faces.size) > MAX_BYTES:
            continue  # a smaller one may still go in
        points.append((place - center) / size)
        triangles.append(faces + vertices)
        ranges[name] = (vertices, len(place), indices, int(faces.size))
        vertices += len(place)
        indices += int(faces.size)
    return Drawn(
        center=center,
        size=size,
        positions=to_base64(np.concatenate([*points, np.zeros((0, 3))]), "<f4"),
        indices=to_base64(np.concatenate([*triangles, np.zeros((0, 3), dtype=np.int64)]), "<u4"),
        ranges=ranges,
        boxes={name: tuple(((box - center) / size).tolist()) for name, box in boxes.items()},
        left_out=len(meshes) - len(ranges),
    )


def _meshes(report: Report) -> dict[str, Mesh]:
    parts = report.assembly.parts if report.assembly is not None else ()
    return {part.name: part.mesh for part in parts if part.mesh is not None and len(part.mesh.vertices)}


def _order(report: Report, meshes: dict[str, Mesh]) -> list[str]:
    """Return the parts with findings, the worst first, then the others, the smallest first."""
    found = dict.fromkeys(name for clash in report.clashes for name in (clash.a, clash.b) if name in meshes)
    rest = [name for name in meshes if name not in found]
    return [*found, *sorted(rest, key=lambda name: len(meshes[name].faces))]


def _lean(mesh: Mesh) -> tuple[Array, NDArray[np.int64]]:
    """Return vertices and faces, each place once if the file gave every triangle corners of its own."""
    points: Any = mesh.vertices
    faces: Any = mesh.faces
    if len(points) <= len(faces):
        return points, faces
    places = merged_places(points)
    merged = np.empty((int(places.max()) + 1, 3))
    merged[places] = points
    return merged, places[faces]
