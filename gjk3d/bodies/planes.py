"""Queries of bodies against half-spaces and planes.

The distance from a half-space and the depth in it are those of the body's convex hull. Parts of a body may be on both
sides of a plane. A square replaces the plane. The square is so large that a translation past its rim is longer than a
translation through it. The depth follows from the gaps between the parts, projected onto the plane's normal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from gjk3d.bodies import distance, impact
from gjk3d.bodies.base import Body
from gjk3d.bodies.parts import parts_of
from gjk3d.convex import contacts as convex_impact
from gjk3d.convex.batch import Rows, Wanted, empty_answers, select_rows
from gjk3d.convex.checks import convex_mode
from gjk3d.convex.solve import convex_handlers
from gjk3d.errors import UnboundedShapeError, UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.toi import REFERENCE, TURN, WAY
from gjk3d.poses import ROUNDING, pose_rows, relative
from gjk3d.results import Status
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Bools, Ints
from gjk3d.wording import kind_of

Thing = Body | Shape
_WIDE = 7.0  #: half width of the square in greatest coordinates of the body, a little more than 4 sqrt(3)


class Standing(NamedTuple):
    """Two objects and pose rows with the same results as a body and a half-space or plane."""

    a: Thing
    b: Thing
    rows_a: Array
    rows_b: Array
    error: float  #: bound of the error of the positions of both objects, in addition to rounding


def standing_in(a: Thing, b: Thing, rows_a: Array, rows_b: Array, *, moving: bool = False) -> Standing:
    """Return the pair that replaces a body and a half-space or plane. With ``moving`` the rows are motions.

    Raises
    ------
    UnsupportedPair
        The body is unbounded or does not have a hull.
    """
    if not b._kind & Kind.PLANES:
        x = standing_in(b, a, rows_b, rows_a, moving=moving)
        return Standing(x.b, x.a, x.rows_b, x.rows_a, x.error)
    body, plane = cast("Body", a), cast("Halfspace", b)
    hull = parts_of(body).hull()
    if hull is None or parts_of(body).endless:
        what = "is unbounded below" if parts_of(body).endless else "has too many curved parts for a convex hull"
        raise UnsupportedPair(
            f"the {type(body).__name__} {what}, so it cannot be tested against a {type(plane).__name__}. Use a large "
            f"gjk3d.Box for the {'plane' if plane._kind == Kind.PLANE else 'half-space'}"
        )
    if plane._kind == Kind.HALFSPACE:
        return Standing(hull, plane, rows_a, rows_b, placing(body))
    square, at_square, error = _square(plane, body, rows_b, rows_a, moving)
    return Standing(body, square, rows_a, at_square, error)


def _alike(body: Body, plane: Halfspace, rows: Rows, moving: bool = False) -> list[Ints]:
    """Return groups of row indices. In a group, the squares that replace the plane have equal widths and errors.

    The result of a row therefore does not depend on the other rows of the batch.
    """
    count = max(len(rows.a), len(rows.b)) if len(rows.a) and len(rows.b) else 0
    if count < 2 or plane._kind == Kind.HALFSPACE:
        return [np.arange(count)] if count else []
    sizes = np.stack(_sizes(plane, body, rows.b, rows.a, moving), axis=1)
    kinds, which = np.unique(np.frexp(sizes)[1], axis=0, return_inverse=True)
    return [np.flatnonzero(which.ravel() == k) for k in range(len(kinds))]


def _sizes(plane: Halfspace, body: Thing, at_plane: Array, at_body: Array, moving: bool) -> tuple[Array, Array]:
    """Return for each row the reach of the body, and the size of both positions.

    With ``moving``, the reach includes the travel of both objects. The size is the greatest absolute value of the
    coordinates of both origins and of the body's height over the plane.
    """
    reach = np.full(max(len(at_plane), len(at_body)), parts_of(body).reach)
    if moving:
        travel = np.linalg.norm(at_body[:, WAY:TURN], axis=1) + np.linalg.norm(at_plane[:, WAY:TURN], axis=1)
        reach += travel + 2.0 * np.linalg.norm(at_body[:, REFERENCE:], axis=1)
    places = np.maximum(np.abs(at_plane[:, 9:12]).max(axis=1), np.abs(at_body[:, 9:12]).max(axis=1))
    return reach, np.maximum(places, np.abs(_heights(plane, at_plane, at_body)[1]))


def _heights(plane: Halfspace, at_plane: Array, at_body: Array) -> tuple[Array, Array]:
    """Return the plane's normal at each row, and the height of the body's origin over the plane."""
    normals = at_plane[:, :9].reshape(-1, 3, 3) @ plane.normal
    away = at_body[:, 9:12] - at_plane[:, 9:12]
    return normals, np.einsum("ij,ij->i", np.broadcast_to(normals, away.shape), away) - plane.offset


def _square(plane: Halfspace, body: Thing, at_plane: Array, at_body: Array, moving: bool) -> tuple[Shape, Array, float]:
    """Return a square in the plane around the projection of the body's origin, its pose rows, and its error bound."""
    reach, far = (float(x.max()) for x in _sizes(plane, body, at_plane, at_body, moving))
    # all rows of a group share these powers of two, see `_alike`
    reach, far = _power_of_two(reach) if moving else reach, _power_of_two(far)
    half = _WIDE * reach if reach > 0.0 else 1.0
    count = max(len(at_plane), len(at_body))
    normals, heights = _heights(plane, at_plane, at_body)
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = at_plane[:, :9].reshape(-1, 3, 3) @ _axes(plane.normal)
    poses[:, :3, 3] = at_body[:, 9:12] - heights[:, None] * normals
    rows = pose_rows(poses)[0]
    if moving:
        out = np.zeros((count, at_plane.shape[1]))
        out[:, :12], out[:, WAY:TURN] = rows[:, :12], at_plane[:, WAY:TURN]
        rows = out
    square = _of_width(half) if moving else body._cached("square", lambda: _of_width(half))
    return square, rows, ROUNDING * (far + abs(plane.offset))


def _power_of_two(x: float) -> float:
    return float(np.ldexp(1.0, np.frexp(x)[1])) if x > 0.0 else 0.0


def _of_width(half: float) -> Shape:
    return ConvexHull([(x, y, 0.0) for x in (-half, half) for y in (-half, half)])


def _axes(normal: Array) -> Array:
    """Return a rotation matrix whose last column is ``normal``, a unit vector."""
    u = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    u /= np.linalg.norm(u)
    return np.column_stack([u, np.cross(normal, u), normal])


def _pieces(body: Body, plane: Halfspace, rows: Rows, moving: bool = False) -> Iterator[tuple[Ints, Rows]]:
    for some in _alike(body, plane, rows, moving):
        few = rows.at(select_rows(rows.a, some), select_rows(rows.b, some), len(some))
        yield some, rows if len(some) == rows.total else few


def collide(body: Body, plane: Halfspace, rows: Rows, margin: float) -> Bools:
    """Return for each row whether a body and a half-space or plane are within a margin."""
    hits = np.empty(rows.total, dtype=bool)
    for some, few in _pieces(body, plane, rows):
        hits[some] = _collide(body, plane, few, margin)
    return hits


def _collide(body: Body, plane: Halfspace, rows: Rows, margin: float) -> Bools:
    x: Any = standing_in(body, plane, rows.a, rows.b)
    posed = rows.at(x.rows_a, x.rows_b)
    if plane._kind == Kind.HALFSPACE:
        return convex_handlers(x.a, plane).collide(x.a, plane, posed, margin + x.error)
    if margin + x.error >= 0.0:  # the signed distance decides margins below 0
        return distance.collide(body, x.b, posed, margin + x.error)
    out, flags = empty_answers(rows.total)
    _solve(body, plane, rows, Wanted(narrow.SIGNED), out, flags)
    return out[:, 1] <= margin


def solve(body: Body, plane: Halfspace, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Write the distances of a body and a half-space or plane to ``out`` and ``flags``."""
    distance.check_no_log(wanted)
    for some, few in _pieces(body, plane, rows):
        values, marks = empty_answers(len(some))
        _solve(body, plane, few, wanted, values, marks)
        out[some], flags[some] = values, marks


def impacts(body: Body, plane: Halfspace, rows: Rows, clearance: float, out: Array, flags: Ints) -> None:
    """Write the impacts of a moving body and a moving half-space or plane to ``out`` and ``flags``."""
    convex_impact.check_turn(plane, rows.b)
    for some, few in _pieces(body, plane, rows, moving=True):
        x: Any = standing_in(body, plane, few.a, few.b, moving=True)
        values, marks = out[some], flags[some]
        # the hull or the square may be off by this error; a larger clearance covers it
        posed = few.at(x.rows_a, x.rows_b)
        if plane._kind == Kind.HALFSPACE:
            convex_impact.impacts(plane, x.a, posed.swapped(), clearance + x.error, values, marks)
        else:
            impact.impacts(body, x.b, posed, clearance + x.error, values, marks)
        out[some], flags[some] = values, marks


def _solve(body: Body, plane: Halfspace, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    x: Any = standing_in(body, plane, rows.a, rows.b)
    wanted = wanted._replace(mode=convex_mode(wanted.mode))
    unsigned, most = wanted.mode == narrow.UNSIGNED, wanted.max_distance
    posed = rows.at(x.rows_a, x.rows_b)
    crossing = np.zeros(rows.total, dtype=bool)
    # Each bound moves by an error below, so a result beyond the limit must exceed it by two errors and the rounding.
    wanted = wanted._replace(max_distance=float(np.nextafter(most + 2.0 * x.error, np.inf)))
    if plane._kind == Kind.HALFSPACE:
        convex_handlers(x.a, plane).solve(x.a, plane, posed, wanted, out, flags)
    else:
        distance.solve(body, x.b, posed, wanted._replace(mode=narrow.UNSIGNED), out, flags)
        _turn(plane, rows, out)
        if not unsigned:
            crossing = ~(out[:, 1] > x.error)
    some = out[:, 2] > 0.0 if unsigned else ~crossing  # the distance is exactly 0 in overlap
    out[some, 1], out[some, 2] = out[some, 1] - x.error, out[some, 2] + x.error
    if unsigned:
        out[:, 1] = np.maximum(out[:, 1], 0.0)
    too_far = flags[:, 0] == Status.BEYOND
    out[too_far, 1] = np.maximum(out[too_far, 1], np.nextafter(most, np.inf))  # beyond the limit of the query
    separated, within = flags[:, 0] == Status.SEPARATED, flags[:, 0] == Status.OVERLAPPING
    flags[(separated & (out[:, 1] <= 0.0)) | (within & (out[:, 2] > 0.0)), 0] = Status.TOUCHING
    for k in np.flatnonzero(crossing).tolist():
        _cross(body, plane, rows.a[k % len(rows.a)], rows.b[k % len(rows.b)], out[k], flags[k])


def _turn(plane: Halfspace, rows: Rows, out: Array) -> None:
    """Replace the normals in ``out`` by that of the plane, since the points of a touch give an inexact normal."""
    normals = -(rows.b[:, :9].reshape(-1, 3, 3) @ plane.normal)
    signs = np.where(np.einsum("ij,ij->i", np.broadcast_to(normals, (len(out), 3)), out[:, 3:6]) < 0.0, -1.0, 1.0)
    out[:, 3:6] = signs[:, None] * normals
    out[:, 9:12] = out[:, 6:9] + out[:, :1] * out[:, 3:6]


# --- depth of a body in a plane ---------------------------------------------------------------------------------------


def _cross(body: Body, plane: Halfspace, at_body: Array, at_plane: Array, out: Array, flags: Ints) -> None:
    """Write the result for a body that crosses or nearly touches a plane, from the body's gap nearest to the plane."""
    parts = parts_of(body)
    m = relative(at_plane, at_body)
    turn, shift = m[:9].reshape(3, 3), m[9:]
    local_normal = plane.normal @ turn
    ends = parts.ends(local_normal)
    spans = ends @ local_normal + (plane.normal @ shift - plane.offset)
    error = ROUNDING * (parts.reach + float(np.abs(shift).max()) + abs(plane.offset))
    most, point, sign = _least_push(spans, ends, 2.0 * error)
    least = _least_push(spans, ends, -2.0 * error)[0]
    lower, upper = most - error, max(least, most) + error
    normal = sign * (at_plane[:9].reshape(3, 3) @ plane.normal)  # from the plane to the body
    on_body = at_body[:9].reshape(3, 3) @ point + at_body[9:12]
    on_plane = on_body - most * normal
    tight = upper - lower <= 4.0 * error
    out[:3] = most, lower, upper
    out[3:6], out[6:9], out[9:12] = -normal, on_body, on_plane
    flags[:] = 0
    flags[2] = tight
    flags[0] = (
        Status.OVERLAPPING if upper < 0.0 else Status.SEPARATED if lower > 0.0
        else Status.TOUCHING if tight else Status.UNDECIDED
    )  # fmt: skip


def _least_push(spans: Array, ends: Array, gap: float) -> tuple[float, Array, float]:
    """Return the signed distance of 0 from a union of intervals, the nearest end point, and the point's side.

    ``spans`` has the intervals, (k, 2), and ``ends`` their end points, (k, 2, 3). The side is 1 for a lower end and -1
    for an upper end. Intervals with a distance of at most ``gap`` are joined. With a negative ``gap``, intervals are
    joined that overlap by at least ``-gap``.
    """
    order = np.argsort(spans[:, 0], kind="stable")
    low, high = spans[order].T
    reach = np.maximum.accumulate(high)
    first = np.concatenate([[0], 1 + np.flatnonzero(low[1:] > reach[:-1] + gap)])
    last = np.append(first[1:], len(low)) - 1
    bottom, top = low[first], reach[last]
    away = np.maximum(bottom, -top)
    k = int(np.argmin(away))
    if bottom[k] >= -top[k]:
        return float(away[k]), ends[order[first[k]], 0], 1.0
    at = first[k] + int(np.argmax(high[first[k] : last[k] + 1]))
    return float(away[k]), ends[order[at], 1], -1.0


_CORNERS = np.array([(x, y, z) for x in (0, 3) for y in (1, 4) for z in (2, 5)])


def placing(body: Body | Shape) -> float:
    """Return a bound of the rounding of the corners of a body's hull, caused by the poses of the body's parts."""
    return 0.0 if body._kind == Kind.MESH else ROUNDING * parts_of(body).reach


def sharp_hulls(a: Body | Shape, b: Body | Shape) -> tuple[Shape, Shape, float]:
    """Return the hulls of two objects, which are polytopes without a radius, and a bound of their total error.

    Raises
    ------
    UnsupportedPair
        The hull of a body is not a sharp polytope, or does not exist.
    """
    hulls, error = [], 0.0
    for name, x in (("a", a), ("b", b)):
        if x._kind & Kind.SHAPES:
            hulls.append(cast("Shape", x))
            continue
        hull = parts_of(x).hull()
        if hull is None or not hull._packed[0][layout.POLYTOPE] or hull._packed[1][layout.RADIUS] != 0.0:
            what = "without a hull" if hull is None else "whose hull is not a polytope"
            raise UnsupportedPair(
                f"separating_axis needs polytopes, but {name} is {kind_of(x)} {what}. "
                "Use distance or signed_distance, whose normal is a separating axis of separated objects"
            )
        hulls.append(hull)
        error += placing(x)
    return hulls[0], hulls[1], error


def shape_round(body: Body) -> Shape:
    """Return a convex shape that contains a body: its hull, grown by the rounding error.

    If the hull is too expensive, such as for hundreds of curved parts, the shape is the hull of the parts' boxes.

    Raises
    ------
    UnboundedShapeError
        The body is a height field without a bottom.
    """
    if body._as_parts().endless:
        raise UnboundedShapeError(
            "the HeightField is unbounded below. Give it a bottom, or use its surface, gjk3d.Mesh(*field.surface())"
        )
    return body._cached("shape round", lambda: _shape_round(body))


def _shape_round(body: Body) -> Shape:
    parts = body._as_parts()
    hull = parts.hull()
    if hull is None:
        boxes: Array = parts.boxes(np.arange(parts.count))
        hull = ConvexHull(boxes[:, _CORNERS].reshape(-1, 3))
    missing = placing(body) + float(hull._packed[1][layout.SLACK])
    return hull.inflated(max(missing, layout.LEAST)) if missing > 0.0 else hull
