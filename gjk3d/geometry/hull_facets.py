"""Facets of hulls: one run of Qhull with its checks, and hulls of unambiguous points.

A run of Qhull returns closed facets with outward winding. Further functions find the strictly extreme points, and the
points that remain outside. All points are in a box of about unit size around 0, so tolerances are absolute. If all
points are in the plane z = 0, the facets are segments.

Points are unambiguous if they are three-dimensional, not nearly flat, distinct, and each clearly a corner or inside.
For such points the repairs of `gjk3d.geometry.hulls` would change nothing. `clear_hull` checks this in one pass over
Qhull's facets and the points, and returns the same vertices and faces as `hulls`. If rounding could change a decision,
`clear_hull` returns None instead of a hull. `hulls` then reuses the result of Qhull.

A point is inside if it is in a ball that is below all planes, or clearly below the facet that the ray from the centre
through the point hits. Facets that are convex at each edge and closed form a convex surface, so such a point is below
all other planes too. A few points near the surface are compared with all planes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels.decorators import compiled, inlined, kernel, plain, single_entry
from gjk3d.geometry.points import farthest, reaching
from gjk3d.typing import Array, Array1, Array2, Bools, Bools1, Ints, Ints1, Ints2

# --- one run of Qhull ------------------------------------------------------------------------------------------------


COINCIDENT = 2e-15  #: distance of a point outside the hull that counts as rounding
ROUND = 1e-15  #: rounding error of the checks
#: ratio of circumradius and inradius, above which face normals alone do not bound the distance of a point outside
THIN = 30.0
PAIRS = 3_000_000  #: most pairs of a point and a face whose distances are computed


NEAR_PLANE, IN_PLANE = 1e-9, 1e-14  #: distances of the points to which a wide plane is fitted, and of points in it
MANY = 4000  #: corners of a face, above which Qhull is too slow, because it merges its triangles one by one
RAISE = 1e-8  #: greatest height by which points are raised out of a wide plane
SAMPLED = 200  #: number of points of the sample in which wide planes are searched
WIDE = 20  #: least number of triangles of a wide plane in the hull of the sample


class Facets(NamedTuple):
    """The facets of a hull."""

    simplices: Ints  #: point indices, (m, 3), or (m, 2) for a flat set
    normals: Array  #: outward unit normals, (m, 3)
    planes: Array  #: Qhull's planes, of the mapped points


def qhull(
    points: Array, chosen: Ints, matrix: Array, options: str, cached: Any = None, planes: Sequence[WidePlane] = ()
) -> Facets | None:
    """Return the facets that Qhull finds for ``points[chosen]`` mapped by ``matrix``, with indices of ``points``.

    Returns None if Qhull fails, or if its facets are not a closed surface. The very many points in a plane of
    ``planes`` are raised at random, so that Qhull does not merge facets there. ``cached`` is an earlier result of Qhull
    with the option Qt. It is reused if ``options`` is Qt and its points are equal to the mapped points.
    """
    from scipy.spatial import ConvexHull, QhullError

    mapped = points[chosen] @ matrix.T if not planes else _raised(points, planes)[chosen] @ matrix.T
    reusable = cached is not None and options == "Qt" and np.array_equal(cached.points, mapped)
    try:
        hull = cached if reusable else ConvexHull(mapped, qhull_options=options)
    except (QhullError, ValueError):
        return None
    across = hull.equations[:, :-1]
    normals = mapped_normals(across, matrix)
    simplices = hull.simplices.astype(np.int64)
    if not np.isfinite(normals).all():
        return None
    if simplices.shape[1] == 3:
        a, b, c = mapped[simplices[:, 0]], mapped[simplices[:, 1]], mapped[simplices[:, 2]]
        inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), across) < 0.0
        simplices[inward] = simplices[inward][:, [0, 2, 1]]
        if not is_closed(simplices):
            simplices = _rewound(simplices, hull.neighbors)
            if not is_closed(simplices):
                return None
    facets = Facets(chosen[simplices], normals, hull.equations)
    return _flattened(points, facets, planes) if planes else facets


class WidePlane(NamedTuple):
    """The plane of a face with very many corners, for which Qhull would take quadratic time."""

    points: Ints  #: indices of the points in the plane
    normal: Array  #: outward unit normal


def wide_planes(points: Array, matrix: Array) -> list[WidePlane]:
    """Return the planes of faces with very many corners. The faces are found in the hull of a sample of the points.

    ``matrix`` maps the points to about unit extents.
    """
    if 2 * len(points) < 3 * MANY:
        return []
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points[:: len(points) // SAMPLED] @ matrix.T, qhull_options="Qt")
    except (QhullError, ValueError):
        return []
    # triangles of one face have the same plane
    equations, counts = np.unique(hull.equations, axis=0, return_counts=True)
    planes = []
    for plane in equations[(counts >= WIDE) & (counts * len(points) >= MANY * SAMPLED)]:
        # Qhull's plane is that of one triangle, so it may be tilted
        corners = points[np.abs(points @ (plane[:3] @ matrix) + plane[3]) <= NEAR_PLANE]
        middle = corners.mean(axis=0)
        normal = np.linalg.svd(corners - middle, full_matrices=False)[2][2]
        outward = mapped_normals(plane[None, :3], matrix)[0]
        within = np.flatnonzero(np.abs((points - middle) @ normal) <= IN_PLANE)
        planes.append(WidePlane(within, normal if normal @ outward > 0.0 else -normal))
    return planes


def without_insides(points: Array, planes: Sequence[WidePlane]) -> Ints:
    """Return the indices of all points, except those in a wide plane that are not corners of the face in this plane."""
    from scipy.spatial import ConvexHull, QhullError

    is_kept = np.ones(len(points), dtype=bool)
    for plane in planes:
        axes = np.linalg.svd(plane.normal[None])[2][1:]
        with contextlib.suppress(QhullError, ValueError):
            rim = ConvexHull(points[plane.points] @ axes.T).vertices
            is_kept[plane.points] = False
            is_kept[plane.points[rim]] = True
    return np.flatnonzero(is_kept)


def _raised(points: Array, planes: Sequence[WidePlane]) -> Array:
    points, random = points.copy(), np.random.default_rng(0)
    for plane in planes:
        points[plane.points] += RAISE * random.random((len(plane.points), 1)) * plane.normal
    return points


def _flattened(points: Array, facets: Facets, planes: Sequence[WidePlane]) -> Facets:
    """Return the facets, with the normal of each triangle in a wide plane replaced by the plane's normal."""
    normals = facets.normals.copy()
    for plane in planes:
        is_in = np.zeros(len(points), dtype=bool)
        is_in[plane.points] = True
        normals[is_in[facets.simplices].all(axis=1)] = plane.normal
    return facets._replace(normals=normals)


def mapped_normals(across: Array, matrix: Array) -> Array:
    """Return the unit normals of planes before the linear map ``matrix``. ``across`` are their normals after it."""
    normals = across @ matrix
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return np.asarray(normals)


def is_closed(faces: Ints) -> bool:
    """Return whether triangles are a closed oriented surface like a sphere.

    Every edge must occur once in each direction, and the Euler characteristic must be 2.
    """
    n = int(faces.max()) + 1
    tail, head = faces, np.roll(faces, -1, axis=1)
    forward = np.sort((tail * n + head).ravel())
    backward = np.sort((head * n + tail).ravel())
    used = len(corners_of(faces))
    return bool((forward == backward).all() and (forward[1:] != forward[:-1]).all() and len(faces) == 2 * used - 4)


def _rewound(faces: Ints, neighbors: Ints) -> Ints:
    """Return the triangles wound consistently with the first one, because the normal of a sliver is not reliable."""
    faces = faces.copy()
    visited = np.zeros(len(faces), dtype=bool)
    visited[0], todo = True, [0]
    while todo:
        f = todo.pop()
        ours = {(int(faces[f, i]), int(faces[f, (i + 1) % 3])) for i in range(3)}
        for g in neighbors[f].tolist():
            if g >= 0 and not visited[g]:
                a, b, c = faces[g].tolist()
                if {(a, b), (b, c), (c, a)} & ours:
                    faces[g] = (a, c, b)
                visited[g] = True
                todo.append(g)
    return faces


def corners_of(faces: Ints) -> Ints:
    """Return the indices of the points that are corners of triangles, ascending."""
    return np.flatnonzero(np.bincount(faces.ravel()))


def edges(faces: Ints) -> tuple[Ints, Ints]:
    """Return the edges of a closed surface as point indices (e, 2), the lower first, and their face indices (e, 2)."""
    tail, head = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    pairs = np.argsort(low * (int(faces.max()) + 1) + high).reshape(-1, 2)
    first, second = pairs.min(axis=1), pairs.max(axis=1)
    return np.stack([low[first], high[first]], axis=1), np.stack([first // 3, second // 3], axis=1)


def vector_areas(points: Array, faces: Ints) -> Array:
    """Return the (m, 3) area vectors of triangles: normals whose lengths are the areas."""
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    return np.asarray(0.5 * np.cross(b - a, c - a))


def corner_normals(facets: Facets, count: int) -> Array:
    """Return the normalised mean of the facet normals at each of ``count`` points, 0 for points without facets."""
    d = facets.simplices.shape[1]
    where = facets.simplices.ravel()
    sums = [np.bincount(where, np.repeat(facets.normals[:, k], d), count) for k in range(3)]
    normals: Array = np.stack(sums, axis=1).astype(np.float64)
    return _unit_rows(normals)


def strict(points: Array, facets: Facets) -> Ints:
    """Return the indices of the corners that are higher than their neighbours by more than rounding.

    Height is measured along the mean normal of a corner. A cluster of coincident corners gives a single corner. A true
    vertex may be missing, for example if two points that differ by rounding hide each other. `points_beyond` returns
    such vertices.
    """
    s = facets.simplices
    # on a closed surface each edge occurs once in each direction
    tail, head = s.T.ravel(), np.roll(s, -1, axis=1).T.ravel()
    step = points[tail] - points[head]
    twin = np.einsum("ij,ij->i", step, step) <= COINCIDENT**2
    lift = np.full(len(points), np.inf)
    height = np.einsum("ij,ij->i", step, corner_normals(facets, len(points))[tail])
    np.minimum.at(lift, tail, np.where(twin, np.inf, height))
    lift[np.maximum(tail, head)[twin]] = -1.0
    used = corners_of(s)
    return used[lift[used] > COINCIDENT]


def fatness(points: Array, facets: Facets) -> float:
    """Return the ratio of the circumradius and the inradius of facets about the mean of their corners.

    The distance of a point from the hull is at most this ratio times the point's greatest height above a plane.
    """
    used = points[corners_of(facets.simplices)]
    inner = used.mean(axis=0)
    inradius = float((low_reach(points, facets) - facets.normals @ inner).min())
    return float(np.linalg.norm(used - inner, axis=1).max()) / inradius if inradius > 0.0 else np.inf


def low_reach(points: Array, facets: Facets) -> Array:
    """Return the height of the lowest corner of each facet along the facet's normal.

    Qhull's normals may be tilted relative to the triangles. A point below all these heights is in the hull of the
    corners. Proof: for a point outside, the segment from an inner point crosses a triangle, so the point is above the
    lowest corner of this triangle.
    """
    return np.asarray(np.einsum("ijk,ik->ij", points[facets.simplices], facets.normals).min(axis=1))


def probes(points: Array, facets: Facets) -> tuple[Array, Array]:
    """Return directions, and the height of the hull along each direction.

    The directions are the face normals, and the height along one is that of the face's lowest corner. For a thin hull
    the mean normals at edges and corners are included, with the heights of these edges and corners.
    """
    s, normals, _ = facets
    reach = low_reach(points, facets)
    if fatness(points, facets) <= THIN:
        return normals, reach
    used = corners_of(s)
    corners = corner_normals(facets, len(points))[used]
    directions, reaches = [normals, corners], [reach, np.einsum("ij,ij->i", points[used], corners)]
    if s.shape[1] == 3:
        ends, sides = edges(s)
        creases = _unit_rows(normals[sides[:, 0]] + normals[sides[:, 1]])
        directions.append(creases)
        reaches.append(np.einsum("ij,ij->i", points[ends[:, 0]], creases))
    return np.concatenate(directions), np.concatenate(reaches)


def points_beyond(points: Array, off_hull: Ints, on_hull: Ints, facets: Facets) -> tuple[Ints, float]:
    """Return points of ``off_hull`` that are outside the hull, and the greatest height above a plane of the facets.

    ``off_hull``, ``on_hull`` and the result are indices of points. For each direction of `probes`, such as a face
    normal, the farthest point of ``off_hull`` is returned if it is higher than all points of ``on_hull``. The greatest
    height is that of a point of ``off_hull``, negative if all are below all planes.
    """
    if not len(off_hull):
        return off_hull, -np.inf
    directions, reaches = probes(points, facets)
    excess, who = farthest(points[off_hull], directions)
    excess -= reaches
    suspects = np.flatnonzero(excess > COINCIDENT)
    support, _ = farthest(points[on_hull], directions[suspects])
    far = excess[suspects] - np.maximum(support - reaches[suspects], 0.0) > COINCIDENT
    return np.unique(off_hull[who[suspects[far]]]), float(excess[: len(facets.normals)].max())


def _unit_rows(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))


def stragglers(points: Array, off_hull: Ints, facets: Facets, excess: float) -> tuple[Ints, float]:
    """Return the members of ``off_hull`` outside the hull, and a bound of the other members' distances from the hull.

    For a fat hull the bound follows from ``excess``, the greatest height above the planes. A point beyond a sharp tip
    may be far away and near all planes. For a thin hull the bound is therefore the greatest distance of a point from
    the nearest triangle that this point is not below.
    """
    none = off_hull[:0]
    if excess < -10.0 * ROUND:
        return none, 0.0
    simple = fatness(points, facets) * (max(excess, 0.0) + ROUND)
    if simple <= 50.0 * ROUND:
        return none, simple
    s, normals, _ = facets
    reach = low_reach(points, facets)
    pairs, count = [], 0
    planes, rays = np.column_stack([normals, -reach]), np.insert(points[off_hull], 3, 1.0, axis=1)
    for rows, members in reaching(planes, rays, -20.0 * ROUND):
        height = points[off_hull[rows]] @ normals[members].T - reach[members]
        # a point on the plane of a facet may be nearer to another facet, which is slightly rotated
        near, face = np.nonzero((height > -20.0 * ROUND) & (height.max(axis=1) > -ROUND)[:, None])
        pairs.append((rows[near], members[face]))
        count += len(near)
        if count > PAIRS:
            return none, simple
    nearest = np.full(len(off_hull), np.inf)
    for near, face in pairs:
        np.minimum.at(nearest, near, _distances(points[off_hull[near]], points[s[face]], normals[face]))
    nearest[np.isinf(nearest)] = 0.0  # points that are deep inside
    lost = nearest > 10.0 * ROUND
    return off_hull[lost], float(nearest[~lost].max(initial=0.0)) + ROUND


def _distances(points: Array, simplices: Array, normals: Array) -> Array:
    """Return the distance of each point from the triangle or segment in the same row of ``simplices``."""
    corners = simplices.shape[1]
    nearest = np.full(len(points), np.inf)
    inside = np.full(len(points), corners == 3)
    for i in range(corners):
        a, b = simplices[:, i], simplices[:, (i + 1) % corners]
        along, offset = b - a, points - a
        square = np.einsum("ij,ij->i", along, along)
        t = np.einsum("ij,ij->i", offset, along) / np.where(square > 0.0, square, 1.0)
        gap = offset - np.clip(t, 0.0, 1.0)[:, None] * along
        nearest = np.minimum(nearest, np.linalg.norm(gap, axis=1))
        inside &= np.einsum("ij,ij->i", np.cross(along, offset), normals) >= 0.0
    height = np.abs(np.einsum("ijk,ik->ij", points[:, None] - simplices, normals)).max(axis=1)
    return np.where(inside, np.minimum(height, nearest), nearest)


# --- hulls without ambiguity -----------------------------------------------------------------------------------------


_FEW = 1024  #: number of points up to which all pairs are compared
_MOST_INTERPRETED = 256  #: most points for `clear_hull` without compiled kernels
_SAMPLED = 256  #: number of points of a sample that shows whether the points are thin
_LEAST, _GREATEST = 1e-100, 1e100  #: sizes whose squares and cubes neither overflow nor vanish
_FAT = 0.02  #: 20 times `FAT` of `hulls`, which leaves a margin for other axes of the same points
_STRAIGHT = 1e-6  #: least ratio of the least and the greatest extent along the axes
_HALF = 0.7071067811865476  #: mantissa at which the rounded binary logarithm changes
_SLIVER = 1e-12  #: sine of a triangle's corner below which its winding is not reliable
_ROUNDING = 1e-14  #: rounding error of heights in a box of unit size, five times `COINCIDENT`
_BENT = 1e-12  #: height of a corner above the plane of a neighbour, up to which their edge counts as convex
_GRID = 12  #: cells of directions along an edge of a cube
_CELLS = 6 * _GRID * _GRID
_SCANS = 64  #: most points near the surface that are compared with all planes


class ClearHull(NamedTuple):
    """A hull for which rounding changes no decision. The fields from ``local`` on are for `LateMeasures`."""

    indices: Ints  #: indices of the vertices in the given points
    faces: Ints  #: triangles of indices in ``indices``, (m, 3)
    local: Array  #: the vertices, recentred and divided by 2 ** ``exponent``
    exponent: int
    equations: Array  #: Qhull's planes of the points ``local * scales``
    scales: Array


def clear_hull(points: Array) -> tuple[ClearHull | None, Any]:
    """Return the hull of points (n, 3), and the result of Qhull from which the hull was made.

    The hull is None if rounding could change its vertices or faces. Both are None if Qhull failed or did not run.
    """
    n = len(points)
    if n < 4 or (n > _MOST_INTERPRETED and not compiled()):
        return None, None
    mapped, scales = np.empty((n, 3)), np.empty(3)
    clear, exponent = prepare(points, mapped, scales)
    if not clear:
        return None, None
    from scipy.spatial import ConvexHull, QhullError

    if wide_planes(mapped, np.eye(3)):  # points in such a plane are always ambiguous
        return None, None
    try:
        hull = ConvexHull(mapped, qhull_options="Qt")
    except (QhullError, ValueError):
        return None, None
    equations, simplices = hull.equations, hull.simplices.astype(np.int64)
    most = len(simplices) // 2 + 2
    indices, faces = np.empty(most, dtype=np.int64), np.empty_like(simplices)
    facets = QhullFacets(equations, simplices, hull.neighbors.astype(np.int64))
    scratch = np.empty((len(simplices), 4)), np.empty((most, 3)), np.zeros(n, dtype=np.bool_), np.empty(n, np.int64)
    count = judge(mapped, scales, facets, *scratch, indices, faces)
    if not count:
        return None, hull
    indices = indices[:count]
    return ClearHull(indices, faces, mapped[indices] / scales, exponent, equations, scales), hull


@inlined
def _power_above(x: float) -> tuple[float, int]:
    """Return the least power of two above the positive number x, and the exponent of this power."""
    power, exponent = 1.0, 0
    while power <= x:
        power *= 2.0
        exponent += 1
    while 0.5 * power > x:
        power *= 0.5
        exponent -= 1
    return power, exponent


@single_entry
def prepare(points: Array2, mapped: Array2, scales: Array1) -> tuple[bool, int]:
    """Write points to ``mapped``, recentred and divided by a power of two, then multiplied by ``scales``.

    The factors ``scales`` of the three axes are chosen for extents of about 1, and written too. Returns False if
    repeated points, an extreme size, a nearly flat hull or an unclear scale are found, else True, and the exponent of
    the power of two.
    """
    n = points.shape[0]
    x0, y0, z0, x1, y1, z1 = inf, inf, inf, -inf, -inf, -inf
    for i in range(n):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        x0, y0, z0 = min(x0, x), min(y0, y), min(z0, z)
        x1, y1, z1 = max(x1, x), max(y1, y), max(z1, z)
    largest = max(max(abs(x0), abs(x1)), max(abs(y0), abs(y1)), max(abs(z0), abs(z1)))
    if not _LEAST < largest < _GREATEST:
        return False, 0
    top, exponent = _power_above(largest)
    # all steps are monotone, so the extents of the mapped points follow from the extents of the given points
    shrink = 1.0 / top
    lows, highs = (x0 * shrink, y0 * shrink, z0 * shrink), (x1 * shrink, y1 * shrink, z1 * shrink)
    middles = (0.5 * (lows[0] + highs[0]), 0.5 * (lows[1] + highs[1]), 0.5 * (lows[2] + highs[2]))
    extents = (highs[0] - lows[0], highs[1] - lows[1], highs[2] - lows[2])
    extent = max(extents[0], extents[1], extents[2])
    if not extent * largest / top > _LEAST or min(extents[0], extents[1], extents[2]) < _STRAIGHT * extent:
        return False, 0
    size, more = _power_above(extent)
    for j in range(3):
        width = (highs[j] - middles[j]) / size - (lows[j] - middles[j]) / size
        power, _ = _power_above(width)
        if abs(width / power - _HALF) < 1e-9:
            return False, 0
        scales[j] = 1.0 / power if width / power > _HALF else 2.0 / power
    a, b, c = scales[0] / size, scales[1] / size, scales[2] / size
    for i in range(n):
        mapped[i, 0] = (points[i, 0] * shrink - middles[0]) * a + 0.0  # no negative zero
        mapped[i, 1] = (points[i, 1] * shrink - middles[1]) * b + 0.0
        mapped[i, 2] = (points[i, 2] * shrink - middles[2]) * c + 0.0
    if n > _FEW:
        return _extremes_are_single(mapped, n) and _is_fat(mapped, n, n // _SAMPLED), exponent + more
    return _are_distinct(mapped, n) and _is_fat(mapped, n, plain(1)), exponent + more


@kernel
def _are_distinct(points: Array, n: int) -> bool:
    for i in range(n):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        for j in range(i):
            if points[j, 0] == x and points[j, 1] == y and points[j, 2] == z:
                return False
    return True


@kernel
def _extremes_are_single(points: Array, n: int) -> bool:
    """Return whether the points with the least x, with the least y and with the least z each occur only once.

    This detects the repeated points of files such as STL.
    """
    a, b, c = 0, 0, 0
    for i in range(1, n):
        a = i if points[i, 0] < points[a, 0] else a
        b = i if points[i, 1] < points[b, 1] else b
        c = i if points[i, 2] < points[c, 2] else c
    for k in (a, b, c):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        for i in range(k + 1, n):
            if points[i, 0] == x and points[i, 1] == y and points[i, 2] == z:
                return False
    return True


@kernel
def _farthest_from(points: Array, n: int, step: int, i: int) -> int:
    ox, oy, oz = points[i, 0], points[i, 1], points[i, 2]
    best, most = i, 0.0
    for j in range(0, n, step):
        x, y, z = points[j, 0] - ox, points[j, 1] - oy, points[j, 2] - oz
        square = x * x + y * y + z * z
        if square > most:
            best, most = j, square
    return best


@kernel
def _is_fat(points: Array, n: int, step: int) -> bool:
    """Return whether n points are far from coplanar. Only every ``step``-th point is tested.

    The extents are measured along a long diagonal of the points and two directions perpendicular to it.
    """
    i = _farthest_from(points, n, step, plain(0))
    j = _farthest_from(points, n, step, i)
    ox, oy, oz = points[i, 0], points[i, 1], points[i, 2]
    x, y, z = points[j, 0] - ox, points[j, 1] - oy, points[j, 2] - oz
    square = x * x + y * y + z * z
    if not square > 0.0:
        return False
    nx, ny, nz, most = 0.0, 0.0, 0.0, 0.0
    for k in range(0, n, step):
        a, b, c = points[k, 0] - ox, points[k, 1] - oy, points[k, 2] - oz
        u, v, w = y * c - z * b, z * a - x * c, x * b - y * a
        area = u * u + v * v + w * w
        if area > most:
            nx, ny, nz, most = u, v, w, area
    if not most > (_FAT * square) ** 2:
        return False
    low, high = 0.0, 0.0
    for k in range(0, n, step):
        height = (points[k, 0] - ox) * nx + (points[k, 1] - oy) * ny + (points[k, 2] - oz) * nz
        low, high = min(low, height), max(high, height)
    return high - low > _FAT * sqrt(square * most)


class QhullFacets(NamedTuple):
    """Qhull's facets: plane equations, indices of corners, and indices of the neighbours opposite to these corners."""

    equations: Array2
    simplices: Ints2
    neighbors: Ints2


@single_entry
def judge(
    mapped: Array2, scales: Array1, facets: QhullFacets, planes: Array2, normals: Array2, is_corner: Bools1,
    rank: Ints1, indices: Ints1, faces: Ints2,
) -> int:  # fmt: skip
    """Wind Qhull's facets outward, write the vertices and faces of the hull, and return the number of vertices.

    The number is 0 if rounding could change the hull. The indices of the vertices are written to ``indices``, and the
    triangles to ``faces``, as positions in ``indices``. The other arrays after ``facets`` are scratch. A row of
    ``planes`` has a facet's normal and the height of its lowest corner, and ``normals`` are sums of facet normals at
    corners, both for the points ``mapped / scales``. ``is_corner``, False at the start, marks the points that are
    corners, and ``rank`` has their positions in ``indices``.
    """
    equations, simplices, neighbors = facets
    m = simplices.shape[0]
    for k in range(m):
        for j in range(3):
            is_corner[simplices[k, j]] = True
    count = 0
    for i in range(mapped.shape[0]):
        if is_corner[i]:
            if count == indices.shape[0]:
                return 0
            indices[count], rank[i] = i, count
            normals[count, 0], normals[count, 1], normals[count, 2] = 0.0, 0.0, 0.0
            count += 1
    # a closed surface of triangles like a sphere has 2 v - 4 faces (Euler), otherwise a facet is missing or doubled
    if m != 2 * count - 4 or not (_wind(mapped, equations, simplices, neighbors) and _is_convex(
        mapped, equations, simplices, neighbors
    )):  # fmt: skip
        return 0
    a, b, c = 1.0 / scales[0], 1.0 / scales[1], 1.0 / scales[2]
    for k in range(m):
        x, y, z = equations[k, 0] * scales[0], equations[k, 1] * scales[1], equations[k, 2] * scales[2]
        length = sqrt(x * x + y * y + z * z)
        if not 0.0 < length < inf:
            return 0
        x, y, z = x / length, y / length, z / length
        planes[k, 0], planes[k, 1], planes[k, 2], planes[k, 3] = x, y, z, inf
        for j in range(3):
            i = simplices[k, j]
            height = mapped[i, 0] * a * x + mapped[i, 1] * b * y + mapped[i, 2] * c * z
            planes[k, 3] = min(planes[k, 3], height)
            faces[k, j] = rank[i]
            normals[rank[i], 0] += x
            normals[rank[i], 1] += y
            normals[rank[i], 2] += z
    if not _stand_out(mapped, scales, simplices, faces, normals):
        return 0
    if count < mapped.shape[0] and not _are_inside(
        mapped, scales, equations, simplices, neighbors, planes, is_corner, indices[:count], rank
    ):
        return 0
    return count


@kernel
def _wind(mapped: Array, equations: Array, simplices: Ints, neighbors: Ints) -> bool:
    """Wind facets outward by exchanging corners and neighbours; return False if a facet is too thin for this."""
    for k in range(simplices.shape[0]):
        a, b, c = simplices[k, 0], simplices[k, 1], simplices[k, 2]
        ux, uy, uz = mapped[b, 0] - mapped[a, 0], mapped[b, 1] - mapped[a, 1], mapped[b, 2] - mapped[a, 2]
        vx, vy, vz = mapped[c, 0] - mapped[a, 0], mapped[c, 1] - mapped[a, 1], mapped[c, 2] - mapped[a, 2]
        side = (uy * vz - uz * vy) * equations[k, 0] + (uz * vx - ux * vz) * equations[k, 1]
        side += (ux * vy - uy * vx) * equations[k, 2]
        if not side * side > _SLIVER**2 * (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz):
            return False
        if side < 0.0:
            simplices[k, 1], simplices[k, 2] = c, b
            neighbors[k, 1], neighbors[k, 2] = neighbors[k, 2], neighbors[k, 1]
    return True


@kernel
def _over(equations: Array, k: int, mapped: Array, i: int) -> float:
    """Return the signed distance of point i from Qhull's plane k, positive outside."""
    height = equations[k, 0] * mapped[i, 0] + equations[k, 1] * mapped[i, 1] + equations[k, 2] * mapped[i, 2]
    return float(height + equations[k, 3])


@kernel
def _is_convex(mapped: Array, equations: Array, simplices: Ints, neighbors: Ints) -> bool:
    """Return whether each edge is in two facets, in opposite directions, and is convex up to rounding."""
    for k in range(simplices.shape[0]):
        for j in range(3):
            other = neighbors[k, j]  # at the edge opposite of corner j
            if other < 0:
                return False
            start, end, tip = simplices[k, (j + 1) % 3], simplices[k, (j + 2) % 3], -1
            for i in range(3):
                if (
                    neighbors[other, i] == k
                    and simplices[other, (i + 1) % 3] == end
                    and simplices[other, (i + 2) % 3] == start
                ):
                    tip = simplices[other, i]
            if tip < 0 or _over(equations, k, mapped, tip) > _BENT:
                return False
            if _over(equations, k, mapped, simplices[k, j]) < -_BENT:
                return False
    return True


@kernel
def _stand_out(mapped: Array, scales: Array, simplices: Ints, faces: Ints, normals: Array) -> bool:
    """Return whether every corner is clearly higher than its neighbours along the corner's normal in ``normals``."""
    a, b, c = 1.0 / scales[0], 1.0 / scales[1], 1.0 / scales[2]
    for k in range(simplices.shape[0]):
        for j in range(3):
            i, h = simplices[k, j], simplices[k, (j + 1) % 3]
            x, y, z = normals[faces[k, j], 0], normals[faces[k, j], 1], normals[faces[k, j], 2]
            lift = (mapped[i, 0] - mapped[h, 0]) * a * x + (mapped[i, 1] - mapped[h, 1]) * b * y
            lift += (mapped[i, 2] - mapped[h, 2]) * c * z
            if not lift > _ROUNDING * sqrt(x * x + y * y + z * z):
                return False
    return True


@kernel
def _are_inside(
    mapped: Array, scales: Array, equations: Array, simplices: Ints, neighbors: Ints, planes: Array, is_corner: Bools,
    corners: Ints, last: Ints,
) -> bool:  # fmt: skip
    """Return whether all points except the corners are clearly below all planes.

    ``last`` is scratch of any length. It stores the facet that was found last for each cell of directions. The next
    search for a direction in the cell starts at this facet.
    """
    n, m = mapped.shape[0], simplices.shape[0]
    x, y, z = 0.0, 0.0, 0.0
    for i in corners:
        x, y, z = x + mapped[i, 0], y + mapped[i, 1], z + mapped[i, 2]
    center = (x / len(corners), y / len(corners), z / len(corners))
    reach, ball = 0.0, inf
    for i in corners:
        x, y, z = mapped[i, 0] - center[0], mapped[i, 1] - center[1], mapped[i, 2] - center[2]
        reach = max(reach, x * x + y * y + z * z)
    for k in range(m):
        height = equations[k, 0] * center[0] + equations[k, 1] * center[1] + equations[k, 2] * center[2]
        ball = min(ball, -height - equations[k, 3])
    if not ball > 0.0:
        return False
    # a point that is below its facet by this height is clearly below all planes, also before the map
    low = (3.0 * _ROUNDING * max(scales[0], scales[1], scales[2]) + 2.0 * _BENT) * sqrt(reach) / ball
    if not ball > low:
        return False
    inner = (ball - low) ** 2
    scans, cells = 0, min(len(last), _CELLS)
    for k in range(cells):
        last[k] = 0
    for i in range(n):
        x, y, z = mapped[i, 0] - center[0], mapped[i, 1] - center[1], mapped[i, 2] - center[2]
        if x * x + y * y + z * z < inner or is_corner[i]:
            continue
        cell = _cell(x, y, z) % cells
        facet = _left_by(mapped, simplices, neighbors, center, (x, y, z), last[cell])
        last[cell] = max(facet, 0)
        if facet >= 0 and _over(equations, facet, mapped, i) < -low:
            continue
        scans += 1
        if scans > _SCANS or not _is_below(mapped, scales, planes, i):
            return False
    return True


@kernel
def _cell(x: float, y: float, z: float) -> int:
    """Return the index of the cell that the direction (x, y, z) hits, for a grid on the surface of a cube."""
    u, v, w, side = abs(x), y, z, 0 if x > 0.0 else 1
    if abs(y) > u:
        u, v, w, side = abs(y), z, x, 2 if y > 0.0 else 3
    if abs(z) > u:
        u, v, w, side = abs(z), x, y, 4 if z > 0.0 else 5
    f = 0.5 * _GRID * (1.0 - 1e-9) / u
    return int((side * _GRID + int((v + u) * f)) * _GRID + int((w + u) * f))


@kernel
def _left_by(
    mapped: Array, simplices: Ints, neighbors: Ints, center: tuple[float, float, float],
    ray: tuple[float, float, float], start: int,
) -> int:  # fmt: skip
    """Return the index of the facet that a ray from ``center`` hits, or -1 if the search does not find it.

    The search starts at the facet ``start``, and crosses edges between neighbouring facets.
    """
    k = start
    for _ in range(simplices.shape[0]):
        out = -1
        for j in range(3):
            a, b = simplices[k, (j + 1) % 3], simplices[k, (j + 2) % 3]
            ax, ay, az = mapped[a, 0] - center[0], mapped[a, 1] - center[1], mapped[a, 2] - center[2]
            bx, by, bz = mapped[b, 0] - center[0], mapped[b, 1] - center[1], mapped[b, 2] - center[2]
            side = (ay * bz - az * by) * ray[0] + (az * bx - ax * bz) * ray[1] + (ax * by - ay * bx) * ray[2]
            if side < 0.0:
                out = j
                break
        if out < 0:
            return k
        k = neighbors[k, out]
    return -1


@kernel
def _is_below(mapped: Array, scales: Array, planes: Array, i: int) -> bool:
    x, y, z = mapped[i, 0] / scales[0], mapped[i, 1] / scales[1], mapped[i, 2] / scales[2]
    for k in range(planes.shape[0]):
        height = planes[k, 0] * x + planes[k, 1] * y + planes[k, 2] * z - planes[k, 3]
        if not height < -2.0 * _ROUNDING:
            return False
    return True
