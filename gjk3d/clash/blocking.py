"""Whether one part stands in the straight way of another, decided for the whole way at once.

Seen along the way, a part is in the way where its outlines overlap those of the moving one and it lies ahead there:
over some place of the plane across, its highest point is above the lowest of the other. Over two triangles both
heights are linear, so it is a matter of convex polygons, and no place of the way is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gjk3d.typing import Array, Ints

_FIRST, _LOT = 200, 20_000  #: pairs of triangles that are looked at together, at first and at most
_ROWS = 4_000_000  #: pairs of boxes
_LEAST = 1e-9  #: of the size of the whole: the least tolerance, far above rounding
_FINE = 1e-3  #: of the tolerance: what polygons may be rounded by
_PAIRS = np.array(list(combinations(range(7), 2)))


class Seen(NamedTuple):
    """A part as it is seen along a way: the corners of its triangles across (n, 3, 2), their heights along it (n, 3).

    Its box is (2, 3), and the boxes of its triangles are (n, 3) each.
    """

    across: Array
    along: Array
    low: Array
    high: Array
    box: Array


def frame_of(direction: Array) -> Array:
    """Return three orthogonal unit vectors as rows, (3, 3), the last of them the direction."""
    way = direction / np.linalg.norm(direction)
    first = np.eye(3)[int(np.argmin(np.abs(way)))]
    first = first - (first @ way) * way
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(way, first), way])


def seen(vertices: Array, faces: Ints, frame: Array) -> Seen:
    """Return a part as it is seen along the last row of a frame, without what is seen edge-on."""
    points = vertices @ frame.T
    corners = points[faces]
    one, two = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
    twice = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    longest = np.maximum((one * one).sum(axis=1), (two * two).sum(axis=1))
    kept = np.abs(twice) > 1e-14 * longest
    corners = corners[kept]
    turned = twice[kept] < 0.0
    corners[turned] = corners[turned][:, ::-1]
    box = np.stack([points.min(axis=0), points.max(axis=0)])
    return Seen(corners[:, :, :2], corners[:, :, 2], corners.min(axis=1), corners.max(axis=1), box)


def blocked(a: Seen, b: Seen, tolerance: float) -> bool:
    """Tell whether b stands in the way of a: somewhere ahead of it, and wider than the tolerance.

    What a overlaps already counts, too. Narrow overlaps of single triangles are joined before they are measured.
    """
    size = float(np.abs(np.concatenate([a.box, b.box])).max())
    tolerance = max(tolerance, _LEAST * size)
    a, b = _common(a, b, tolerance), _common(b, a, tolerance)
    narrow: list[Array] = []
    for i, j in _lots(a, b, tolerance):
        origin = a.across[i, :1]
        corners = a.across[i] - origin, b.across[j] - origin
        lines = _lines(*corners, a.along[i], b.along[j], tolerance)
        some = _may_meet(lines, *corners, tolerance)
        lines, origin = (lines[0][some], lines[1][some]), origin[some]
        if _polygons(lines, 0.5 * tolerance, tolerance)[1].any():
            return True
        points, inside = _polygons(lines, 0.0, tolerance)
        some = inside.sum(axis=1) > 2
        narrow += [each[kept] for each, kept in zip(points[some] + origin[some], inside[some], strict=True)]
    return bool(narrow) and _wide(narrow, tolerance)


def _lots(a: Seen, b: Seen, tolerance: float) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of triangles whose boxes overlap, that of b being ahead: few at first, for few are often enough."""
    lot = _FIRST
    for start in range(0, len(a.across), rows := max(1, _ROWS // max(1, len(b.across)))):
        part = slice(start, start + rows)
        near = a.low[part, None, 2] + tolerance < b.high[None, :, 2]
        for k in range(2):
            near &= a.low[part, None, k] < b.high[None, :, k]
            near &= b.low[None, :, k] < a.high[part, None, k]
        first, second = np.nonzero(near)
        begin = 0
        while begin < len(first):
            yield start + first[begin : begin + lot], second[begin : begin + lot]
            begin, lot = begin + lot, min(_LOT, 4 * lot)


def _may_meet(lines: tuple[Array, Array], a: Array, b: Array, tolerance: float) -> Any:
    """Tell of which pairs no edge has all of the other triangle outside, and b is ahead at a corner of each, (m,)."""
    reaches = [np.einsum("mki,mli->mkl", lines[0], corners).max(axis=2) - lines[1] for corners in (a, b)]
    far = np.concatenate([reaches[0][:, 3:], reaches[1][:, :3], reaches[1][:, 6:]], axis=1)
    return np.logical_and.reduce(far > _FINE * tolerance, axis=1)


def _common(a: Seen, b: Seen, tolerance: float) -> Seen:
    """Return a without the triangles that lie beside all of b."""
    beside = (a.high[:, :2] < b.box[0, :2] + _FINE * tolerance) | (a.low[:, :2] > b.box[1, :2] - _FINE * tolerance)
    kept = ~beside.any(axis=1)
    return Seen(a.across[kept], a.along[kept], a.low[kept], a.high[kept], a.box)


def _heights(corners: Array, heights: Array) -> tuple[Array, Array]:
    """Return slopes (m, 2) and heights at the origin, (m,), of triangles."""
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    up_one, up_two = heights[:, 1] - heights[:, 0], heights[:, 2] - heights[:, 0]
    twice = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    slopes = np.stack([up_one * two[:, 1] - up_two * one[:, 1], up_two * one[:, 0] - up_one * two[:, 0]], axis=1)
    slopes /= twice[:, None]
    return slopes, heights[:, 0] - (slopes * corners[:, 0]).sum(axis=1)


def _lines(a: Array, b: Array, up_a: Array, up_b: Array, tolerance: float) -> tuple[Array, Array]:
    """Return unit normals (m, 7, 2) and offsets (m, 7) of what bounds where both are, and b is ahead.

    Three lines are edges of a, three of b; a point is within where its product with the normal is not below the offset.
    """
    both = np.concatenate([a, b], axis=1)
    edges = np.concatenate([np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)], axis=1) - both
    normals = np.empty((len(a), 7, 2))
    normals[:, :6, 0], normals[:, :6, 1] = -edges[:, :, 1], edges[:, :, 0]
    normals[:, :6] /= np.maximum(np.linalg.norm(edges, axis=2), 1e-300)[:, :, None]
    offsets = np.empty((len(a), 7))
    offsets[:, :6] = (normals[:, :6] * both).sum(axis=2)
    slope_a, at_a = _heights(a, up_a)
    slope_b, at_b = _heights(b, up_b)
    slope, ahead = slope_b - slope_a, at_b - at_a - tolerance
    steep = np.linalg.norm(slope, axis=1)
    flat = steep < 1e-12
    normals[:, 6] = np.where(flat[:, None], 0.0, slope / np.where(flat, 1.0, steep)[:, None])
    offsets[:, 6] = np.where(flat, np.where(ahead > 0.0, -np.inf, np.inf), -ahead / np.where(flat, 1.0, steep))
    return normals, offsets


def _polygons(lines: tuple[Array, Array], margin: float, tolerance: float) -> tuple[Array, Array]:
    """Return where lines meet, (m, 21, 2), and which of these are corners of what is within all of them, (m, 21).

    The edges of the triangles count a margin farther in.
    """
    normals, offsets = lines[0], lines[1] + margin * (np.arange(7) < 6)
    one, two = normals[:, _PAIRS[:, 0]], normals[:, _PAIRS[:, 1]]
    p, q = offsets[:, _PAIRS[:, 0]], offsets[:, _PAIRS[:, 1]]
    cross = one[:, :, 0] * two[:, :, 1] - one[:, :, 1] * two[:, :, 0]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        points = np.stack([p * two[:, :, 1] - q * one[:, :, 1], q * one[:, :, 0] - p * two[:, :, 0]], axis=2)
        points /= np.where(np.abs(cross) > 1e-12, cross, np.nan)[:, :, None]
        reach = np.einsum("mki,mli->mkl", points, normals) - offsets[:, None]
        inside = (reach >= -_FINE * tolerance).all(axis=2) & np.isfinite(points).all(axis=2)
    return points, inside


def _wide(polygons: list[Array], tolerance: float) -> bool:
    """Tell whether polygons together are anywhere wider than the tolerance."""
    import manifold3d

    outlines = []
    for corners in polygons:
        away = corners - corners.mean(axis=0)
        outlines.append(corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]))] / tolerance)
    join: Any = manifold3d.JoinType.Miter
    whole = manifold3d.CrossSection(outlines, manifold3d.FillRule.NonZero)
    # cracks between neighbours are closed first
    return not whole.offset(0.01, join).offset(-0.51, join).is_empty()
