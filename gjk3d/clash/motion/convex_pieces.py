"""Cut a solid into convex pieces: along the planes of its faces that have the most of its dents' edges.

A dent has an edge at which two faces meet that see each other, a reflex one; the plane of either face cuts it off
(Chazelle 1984, "Convex partitions of polyhedra: a lower bound and worst-case optimal algorithm").
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import Any

import numpy as np

from gjk3d.typing import Array

_DENT = 1e-4  #: of the volume of the whole: what is filled of a piece without being cut
_FLAT = 1e-6  #: of the size: farther in front of a face's plane the next face rises from it
_BEFORE = 1e-2 * _FLAT  #: of the size: so far in front it is cut, for the part in front would keep the face itself


def convex_pieces(solid: Any, most: int) -> list[Array]:
    """Return corners of pieces, (k, 3) each, whose hulls together hold a solid of manifold3d.

    The worst dents are cut first, until there are about as many pieces as may be: what is left of dents is filled.
    """
    least = _DENT * solid.hull().volume()
    done: list[Any] = []
    todo: list[tuple[float, int, Any]] = []
    numbers = count()  # so that of equal dents no solids are compared

    def add(piece: Any) -> None:
        dent = piece.hull().volume() - piece.volume()
        if dent > least:
            heapq.heappush(todo, (-dent, next(numbers), piece))
        else:
            done.append(piece)

    for each in solid.decompose():
        add(each)
    while todo and len(todo) + len(done) < most:
        _, _, piece = heapq.heappop(todo)
        halves = _cut(piece)
        if len(halves) > 1:
            for half in halves:
                add(half)
        else:
            done.append(piece)
    return [np.array(piece.to_mesh64().vert_properties[:, :3]) for piece in [*done, *(item[2] for item in todo)]]


def _cut(piece: Any) -> list[Any]:
    """Return what a piece becomes by its best cut; itself alone where none parts it."""
    plane = _plane(piece)
    if plane is None:
        return [piece]
    return [each for half in piece.split_by_plane(*plane) for each in half.decompose() if not each.is_empty()]


def _plane(piece: Any) -> tuple[Array, float] | None:
    """Return the plane of faces, normal and offset, that has the longest reflex edges in all; None without one."""
    raw = piece.to_mesh64()
    points, faces = np.array(raw.vert_properties[:, :3]), np.array(raw.tri_verts, dtype=np.int64)
    size = float(np.ptp(points, axis=0).max())
    normals = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    lengths = np.linalg.norm(normals, axis=1)
    normals /= np.maximum(lengths, 1e-300)[:, None]
    offsets = np.einsum("ij,ij->i", normals, points[faces[:, 0]])
    # each edge from both of its faces: a closed solid has it once in either direction
    begin, end, third = faces.ravel(), np.roll(faces, -1, axis=1).ravel(), np.roll(faces, -2, axis=1).ravel()
    here, there = np.argsort(begin * len(points) + end), np.argsort(end * len(points) + begin)
    face = here // 3
    rises = np.einsum("ij,ij->i", normals[face], points[third[there]]) - offsets[face]
    reflex = (rises > _FLAT * size) & (lengths[face] > _FLAT * size * size)
    if not reflex.any():
        return None
    face, edge = face[reflex], here[reflex]
    planes = np.column_stack([normals[face], offsets[face] / size])
    _, first, which = np.unique(np.round(planes, 6), axis=0, return_index=True, return_inverse=True)
    long = np.bincount(which.ravel(), weights=np.linalg.norm(points[end[edge]] - points[begin[edge]], axis=1))
    best = face[first[int(np.argmax(long))]]
    return normals[best], float(offsets[best]) + _BEFORE * size
