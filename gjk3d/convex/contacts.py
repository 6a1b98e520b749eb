"""Contact patches and times of impact of two convex shapes, for many pairs or many poses in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.addresses import raise_pending
from gjk3d.convex.batch import Rows, in_chunks
from gjk3d.convex.solve import core_row
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import cores, manifold
from gjk3d.narrow import toi as narrow
from gjk3d.narrow.solve import Packed, PairRows
from gjk3d.narrow.toi import REFERENCE, TURN
from gjk3d.narrow.workspace import per_thread
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape
from gjk3d.typing import Array, Ints

# --- patches ---------------------------------------------------------------------------------------------------------


def most_corners(shape: Shape) -> int:
    """Return the greatest number of corners of a feature of a shape. A feature is a face, an edge or a corner.

    The flat end of a cylinder or cone counts its centre as a corner.
    """
    faces = shape._faces()[0]
    if faces[0] > 0:
        return int(np.diff(faces[1 : faces[0] + 2]).max())
    curved = not shape._kind & Kind.PLANES and shape._packed[0][layout.KIND] != layout.BOX
    return cores.MOST + 1 if curved else 4


_NO_FACES = np.zeros(1, dtype=np.int64), np.empty(0)


@per_thread
def sheets_for(corners: int) -> manifold.Sheets:
    """Return scratch for features and polygons with at most this many corners."""
    return manifold.Sheets(np.empty((corners, 3)), np.empty((corners, 3)), np.empty((3, corners, 2)))


class Faces(NamedTuple):
    """The faces of shapes, one after another."""

    ints: Ints
    floats: Array
    starts: Ints  #: for each shape, the indices in both arrays at which its faces begin
    corners: Ints  #: for each shape, the greatest number of corners of a feature


def faces_of(shapes: Sequence[Any]) -> Faces:
    """Return the faces of convex shapes. Other objects in ``shapes`` have no faces."""
    parts = [shape._faces() if isinstance(shape, Shape) else _NO_FACES for shape in shapes]
    starts = np.zeros((len(parts), 2), dtype=np.int64)
    starts[1:] = np.cumsum([(len(q), len(f)) for q, f in parts], axis=0)[:-1]
    corners = np.array([most_corners(x) if isinstance(x, Shape) else 1 for x in shapes])
    return Faces(np.concatenate([q for q, _ in parts]), np.concatenate([f for _, f in parts]), starts, corners)


class FacesOfTwo(NamedTuple):
    """The faces of two shapes for the kernels."""

    lists: manifold.FaceLists
    capacity: int  #: greatest number of points of a patch


def faces_of_two(a: Shape, b: Shape) -> FacesOfTwo:
    """Return the faces of two shapes."""
    ints, floats, starts, corners = faces_of([a, b])
    return FacesOfTwo(manifold.FaceLists(ints, floats, starts), int(corners.sum()) + 4)


def patch_points(
    pairs: PairRows, faces: FacesOfTwo, answers: Array, within: float, most: int | None, workers: int
) -> tuple[Array, Ints]:
    """Return the contact points of pairs, (m, columns, 7), padded with NaN, and the number of points of each pair.

    The 7 floats of a point are the point on A, the point on B, and the gap. ``answers`` contains the signed distances
    of the m pairs. ``within`` is the greatest gap of a point. ``most`` limits the points of a pair and is the number of
    columns. If ``most`` is None, all points are returned.
    """
    limits = manifold.PatchLimits(within, faces.capacity if most is None else min(most, faces.capacity))
    total = len(answers)
    count = np.zeros(total, dtype=np.int64)
    parts: dict[int, Array] = {}

    def run(start: int, stop: int) -> None:
        points = np.full((stop - start, limits.most, manifold.POINT), np.nan)
        sheets = sheets_for(faces.capacity)
        manifold.contact_rows(pairs, faces.lists, answers, limits, start, stop, sheets, points, count)
        # the number of columns differs between chunks until all counts are known
        parts[start] = points[:, : count[start:stop].max(initial=0)] if most is None else points

    in_chunks(total, workers, run)
    columns = int(count.max(initial=0)) if most is None else most
    if len(parts) == 1 and parts[0].shape[1] == columns:
        return parts[0], count
    points = np.full((total, columns, manifold.POINT), np.nan)
    for start, part in parts.items():
        points[start : start + len(part), : part.shape[1]] = part
    return points, count


# --- times of impact -------------------------------------------------------------------------------------------------


UP = np.array([0.0, 0.0, 1.0])  #: the normal for kernels on two bounded shapes, which ignore it


def impacts(a: Any, b: Shape, rows: Rows, clearance: float, out: Array, flags: Ints) -> None:
    """Write the times of impact of A and B to ``out`` and ``flags``, see `gjk3d.narrow.toi.impact_many`.

    ``rows`` contains motion rows instead of pose rows. Only A may be a half-space or a plane.
    """
    ints, floats, row, is_plane = core_row(a, b)
    if is_plane:
        check_turn(a, rows.a)
    normal = a.normal.copy() if is_plane else UP
    shapes, motions = Packed(ints, floats, row), narrow.Motions(rows.a, rows.b)

    def task(start: int, stop: int) -> None:
        work = np.empty(narrow.WORK)
        narrow.impact_many(shapes, not is_plane, normal, motions, clearance, start, stop, work, out, flags)

    in_chunks(len(out), rows.workers, task)
    raise_pending()


def check_turn(plane: Shape, motions: Array) -> None:
    """Raise if a motion of a half-space or plane contains a rotation."""
    if motions[:, TURN:REFERENCE].any():
        raise UnsupportedPair(f"time_of_impact: a {type(plane).__name__} cannot rotate. Use a large Box instead.")
