"""Bodies beside half-spaces and planes.

From a half-space a body is as far, and in it as deep, as its convex hull. A plane may have pieces of a body on either
side: a square stands for it, so large that no way past its rim is as short as one through it, and how deep the two are
is told by the gaps between the pieces, seen along the plane.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gjk3d.bodies import distance as parted
from gjk3d.bodies.base import Body
from gjk3d.bodies.hulls import placing
from gjk3d.bodies.parts import parts_of
from gjk3d.convex.rows import Rows, Wanted, empty_answers, take
from gjk3d.convex.solve import way
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.motion import REFERENCE, TURN, WAY
from gjk3d.poses import ROUNDING, pose_rows, relative
from gjk3d.results import Status
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace, Plane
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Bools, Ints

Thing = Body | Shape
_WIDE = 7.0  #: half of the square, in greatest coordinates of the body: 4 sqrt(3), and a little


class Standing(NamedTuple):
    """Two things that have the same answers as a body and a half-space or a plane have, and their pose rows."""

    a: Thing
    b: Thing
    rows_a: Array
    rows_b: Array
    error: float  #: by which the places of the two may be off, beside what rounding does to any two


def standing_in(a: Thing, b: Thing, rows_a: Array, rows_b: Array, *, moving: bool = False) -> Standing:
    """Return what a body and a half-space or a plane are asked about as; ``moving`` says that the rows are motions.

    Raises
    ------
    UnsupportedPair
        Where the body has no end, or no hull.
    """
    if isinstance(b, Halfspace):
        plane, body, at_plane, at_body = b, a, rows_b, rows_a
    else:
        assert isinstance(a, Halfspace)
        plane, body, at_plane, at_body = a, b, rows_a, rows_b
    hull = parts_of(body).hull()
    if hull is None or parts_of(body).endless:
        raise UnsupportedPair(
            f"{type(body).__name__} against {type(plane).__name__}: use a large gjk3d.Box in place of the "
            f"{'plane' if isinstance(plane, Plane) else 'half-space'}"
        )
    if not isinstance(plane, Plane):
        error = placing(body)
        return Standing(hull, b, rows_a, rows_b, error) if plane is b else Standing(a, hull, rows_a, rows_b, error)
    square, at_square, error = _square(plane, body, at_plane, at_body, moving)
    if plane is b:
        return Standing(body, square, rows_a, at_square, error)
    return Standing(square, body, at_square, rows_b, error)


def alike(a: Thing, b: Thing, rows_a: Array, rows_b: Array, *, moving: bool = False) -> list[Ints]:
    """Return which rows have a square of one width, off by as much: answers are those of rows asked by themselves."""
    plane, body, at_plane, at_body = (b, a, rows_b, rows_a) if isinstance(b, Halfspace) else (a, b, rows_a, rows_b)
    count = max(len(at_plane), len(at_body)) if len(at_plane) and len(at_body) else 0
    if count < 2 or not isinstance(plane, Plane):
        return [np.arange(count)] if count else []
    sizes = np.stack(_sizes(plane, body, at_plane, at_body, moving), axis=1)
    kinds, which = np.unique(np.frexp(sizes)[1], axis=0, return_inverse=True)
    return [np.flatnonzero(which.ravel() == k) for k in range(len(kinds))]


def _sizes(plane: Plane, body: Thing, at_plane: Array, at_body: Array, moving: bool) -> tuple[Array, Array]:
    """Return of each row how far the body reaches and goes, and how far off things are from the world's origin."""
    reach = np.full(max(len(at_plane), len(at_body)), parts_of(body).reach)
    if moving:
        ways = np.linalg.norm(at_body[:, WAY:TURN], axis=1) + np.linalg.norm(at_plane[:, WAY:TURN], axis=1)
        reach += ways + 2.0 * np.linalg.norm(at_body[:, REFERENCE:], axis=1)
    places = np.maximum(np.abs(at_plane[:, 9:12]).max(axis=1), np.abs(at_body[:, 9:12]).max(axis=1))
    return reach, np.maximum(places, np.abs(_heights(plane, at_plane, at_body)[1]))


def _heights(plane: Plane, at_plane: Array, at_body: Array) -> tuple[Array, Array]:
    """Return the plane's normals at each row, and how far along these the body's origin is."""
    normals = at_plane[:, :9].reshape(-1, 3, 3) @ plane.normal
    away = at_body[:, 9:12] - at_plane[:, 9:12]
    return normals, np.einsum("ij,ij->i", np.broadcast_to(normals, away.shape), away) - plane.offset


def _square(plane: Plane, body: Thing, at_plane: Array, at_body: Array, moving: bool) -> tuple[Shape, Array, float]:
    """Return a square in the plane about the foot of the body, where it is, and by how much it may be off."""
    reach, far = (float(x.max()) for x in _sizes(plane, body, at_plane, at_body, moving))
    # what rows have in common, see `alike`
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
    """Return a rotation whose last column is a unit vector."""
    u = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    u /= np.linalg.norm(u)
    return np.column_stack([u, np.cross(normal, u), normal])


def _pieces(a: Thing, b: Thing, rows: Rows) -> Iterator[tuple[Ints, Rows]]:
    for some in alike(a, b, rows.a, rows.b):
        yield (
            some,
            rows
            if len(some) == rows.total
            else rows._replace(a=take(rows.a, some), b=take(rows.b, some), total=len(some)),
        )


def collide(a: Thing, b: Thing, rows: Rows, margin: float) -> Bools:
    """Tell whether a body and a half-space or a plane meet."""
    met = np.empty(rows.total, dtype=bool)
    for some, few in _pieces(a, b, rows):
        met[some] = _collide(a, b, few, margin)
    return met


def _collide(a: Thing, b: Thing, rows: Rows, margin: float) -> Bools:
    x = standing_in(a, b, rows.a, rows.b)
    there = rows._replace(a=x.rows_a, b=x.rows_b)
    if isinstance(x.a, Shape) and isinstance(x.b, Shape):
        return way(x.a, x.b).collide(x.a, x.b, there, margin + x.error)
    if margin + x.error >= 0.0:  # the depth below has the same answer for what is between the margin and 0
        return parted.collide(x.a, x.b, there, margin + x.error)
    out, flags = empty_answers(rows.total)
    _solve(a, b, rows, Wanted(narrow.SIGNED), out, flags)
    met: Bools = out[:, 1] <= margin
    return met


def solve(a: Thing, b: Thing, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer distances of a body and a half-space or a plane."""
    parted.check_no_log(wanted)
    for some, few in _pieces(a, b, rows):
        own, marks = empty_answers(len(some))
        _solve(a, b, few, wanted, own, marks)
        out[some], flags[some] = own, marks


def _solve(a: Thing, b: Thing, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    x = standing_in(a, b, rows.a, rows.b)
    unsigned, most = wanted.mode == narrow.UNSIGNED, wanted.max_distance
    there = rows._replace(a=x.rows_a, b=x.rows_b)
    crossing = np.zeros(rows.total, dtype=bool)
    # Each bound moves by an error below, so what is told to be beyond has to be so by two; the sum is rounded, too.
    wanted = wanted._replace(max_distance=float(np.nextafter(most + 2.0 * x.error, np.inf)))
    if isinstance(x.a, Shape) and isinstance(x.b, Shape):
        way(x.a, x.b).solve(x.a, x.b, there, wanted, out, flags)
    else:
        parted.solve(x.a, x.b, there, wanted._replace(mode=narrow.UNSIGNED), out, flags)
        _turn(a, b, rows, out)
        if not unsigned:
            crossing = ~(out[:, 1] > x.error)
    some = out[:, 2] > 0.0 if unsigned else ~crossing  # where they overlap it is 0, and no number
    out[some, 1], out[some, 2] = out[some, 1] - x.error, out[some, 2] + x.error
    if unsigned:
        out[:, 1] = np.maximum(out[:, 1], 0.0)
    beyond = flags[:, 0] == Status.BEYOND
    out[beyond, 1] = np.maximum(out[beyond, 1], np.nextafter(most, np.inf))  # as was asked, and there is more
    apart, within = flags[:, 0] == Status.SEPARATED, flags[:, 0] == Status.OVERLAPPING
    flags[(apart & (out[:, 1] <= 0.0)) | (within & (out[:, 2] > 0.0)), 0] = Status.TOUCHING
    for k in np.flatnonzero(crossing).tolist():
        _cross(a, b, rows.a[k % len(rows.a)], rows.b[k % len(rows.b)], out[k], flags[k])


def _turn(a: Thing, b: Thing, rows: Rows, out: Array) -> None:
    """Make the normals those of the plane, where two points that nearly touch, or a common one, say another."""
    plane, at_plane, body, own, way = (b, rows.b, 6, 9, -1.0) if isinstance(b, Plane) else (a, rows.a, 9, 6, 1.0)
    assert isinstance(plane, Plane)
    normals = way * (at_plane[:, :9].reshape(-1, 3, 3) @ plane.normal)
    signs = np.where(np.einsum("ij,ij->i", np.broadcast_to(normals, (len(out), 3)), out[:, 3:6]) < 0.0, -1.0, 1.0)
    out[:, 3:6] = signs[:, None] * normals
    out[:, own : own + 3] = out[:, body : body + 3] - way * out[:, :1] * out[:, 3:6]


# --- how deep a body is in a plane ------------------------------------------------------------------------------------


def _cross(a: Thing, b: Thing, row_a: Array, row_b: Array, out: Array, flags: Ints) -> None:
    """Answer a body and a plane that cross, or nearly: the nearest gap between pieces is the way out."""
    plane, body, at_plane, at_body = (b, a, row_b, row_a) if isinstance(b, Plane) else (a, b, row_a, row_b)
    assert isinstance(plane, Plane)
    parts = parts_of(body)
    m = relative(at_plane, at_body)
    turn, shift = m[:9].reshape(3, 3), m[9:]
    own = plane.normal @ turn
    ends = parts.ends(own)
    spans = ends @ own + (plane.normal @ shift - plane.offset)
    error = ROUNDING * (parts.reach + float(np.abs(shift).max()) + abs(plane.offset))
    most, point, sign = _least_push(spans, ends, 2.0 * error)
    least = _least_push(spans, ends, -2.0 * error)[0]
    lower, upper = most - error, max(least, most) + error
    normal = sign * (at_plane[:9].reshape(3, 3) @ plane.normal)  # from the plane to the body
    on_body = at_body[:9].reshape(3, 3) @ point + at_body[9:12]
    on_plane = on_body - most * normal
    tight = upper - lower <= 4.0 * error
    out[:3] = most, lower, upper
    out[3:6], out[6:9], out[9:12] = normal, on_plane, on_body
    if plane is b:
        out[3:6], out[6:9], out[9:12] = -normal, on_body, on_plane
    flags[:] = 0
    flags[2] = tight
    flags[0] = (
        Status.OVERLAPPING if upper < 0.0 else Status.SEPARATED if lower > 0.0
        else Status.TOUCHING if tight else Status.UNDECIDED
    )  # fmt: skip


def _least_push(spans: Array, ends: Array, gap: float) -> tuple[float, Array, float]:
    """Return the signed distance of 0 to a union of spans, (k, 2), and what gets there: the end of one, and its side.

    Spans that are no farther apart than a gap are one; where that is negative, only those that overlap by as much.
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
