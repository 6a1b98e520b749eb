"""Contact patches of many pairs of convex shapes in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gjk3d.convex.pairs import Pairs
from gjk3d.convex.rows import in_chunks
from gjk3d.narrow import features, manifold
from gjk3d.narrow.pairs import PairRows
from gjk3d.narrow.workspace import per_thread
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape
from gjk3d.typing import Array, Ints


def most_corners(shape: Shape) -> int:
    """Return the greatest number of corners of a feature; the centre of a cap counts."""
    faces = shape._faces()[0]
    if faces[0] > 0:
        return int(np.diff(faces[1 : faces[0] + 2]).max())
    curved = not shape._kind & Kind.PLANES and shape._packed[0][layout.KIND] != layout.BOX
    return features.MOST + 1 if curved else 4


_NO_FACES = np.zeros(1, dtype=np.int64), np.empty(0)
_RANK = 2  #: column of a shape's half of a pair row, see `gjk3d.narrow.pairs`


@per_thread
def sheets_for(room: tuple[int, int]) -> manifold.Sheets:
    """Return scratch for the corners of features and for the corners of polygons, given their greatest numbers."""
    corners, polygon = room
    return manifold.Sheets(np.empty((corners, 3)), np.empty((corners, 3)), np.empty((3, polygon, 2)))


class Faces(NamedTuple):
    """The faces of shapes, concatenated."""

    ints: Ints
    floats: Array
    starts: Ints  #: where each shape begins in both arrays
    corners: Ints  #: for each shape, the greatest number of corners of a feature


def faces_of(shapes: Sequence[Any]) -> Faces:
    """Return the faces of shapes; objects that are not convex shapes have an empty list."""
    parts = [shape._faces() if isinstance(shape, Shape) else _NO_FACES for shape in shapes]
    starts = np.zeros((len(parts), 2), dtype=np.int64)
    starts[1:] = np.cumsum([(len(q), len(f)) for q, f in parts], axis=0)[:-1]
    corners = np.array([most_corners(x) if isinstance(x, Shape) else 1 for x in shapes])
    return Faces(np.concatenate([q for q, _ in parts]), np.concatenate([f for _, f in parts]), starts, corners)


def _faces(pairs: Pairs) -> Faces:
    if "faces" not in pairs._cache:
        pairs._cache["faces"] = faces_of(pairs.shapes)
    faces: Faces = pairs._cache["faces"]
    return faces


def patch_points(
    pairs: Pairs, shapes: Ints, table: Ints, rows: Array, out: Array, within: float, most: int | None, workers: int
) -> tuple[Array, Ints]:
    """Return the points of contact patches of convex pairs, (m, columns, 7), and the number of points of each pair."""
    count = np.zeros(len(out), dtype=np.int64)
    if not len(out):
        return np.empty((0, most or 0, manifold.POINT)), count
    faces = _faces(pairs)
    for side in range(2):  # half-spaces come first, as in the query of a single pair
        planes = np.flatnonzero(pairs.planes[shapes[:, side]])
        table[planes, 5 * side + _RANK], table[planes, 5 * (1 - side) + _RANK] = 0, 1
    packed = PairRows(*pairs._arena, table, rows)
    loops = manifold.FaceLists(faces.ints, faces.floats, faces.starts[shapes].reshape(-1, 2))
    corners = faces.corners[shapes]
    capacity = int(corners.sum(axis=1).max()) + 4
    width = capacity if most is None else min(most, capacity)
    points = np.full((len(out), width if most is None else most, manifold.POINT), np.nan)

    def run(start: int, stop: int) -> None:
        sheets, limits = sheets_for((int(corners.max()), capacity)), manifold.PatchLimits(within, width)
        manifold.contact_rows(packed, loops, out, limits, start, stop, sheets, points[start:stop], count)

    in_chunks(len(out), workers, run)
    return (points[:, : int(count.max())] if most is None else points), count
