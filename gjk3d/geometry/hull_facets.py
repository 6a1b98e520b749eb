"""One run of Qhull and its checks: closed facets with outward winding, strict vertices, and points left outside.

Points are in a box of about unit size about 0, so tolerances are absolute. A set may be in the plane z = 0, and its
facets are then segments.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gjk3d.geometry.points import farthest, reaching
from gjk3d.typing import Array, Ints

COINCIDENT = 2e-15  # points outside by less are rounding, and no vertex is kept for them
ROUND = 1e-15  # allowance for the arithmetic of the checks
THIN = 30.0  # circumradius by inradius above which face normals alone do not bound the distance of a point outside
PAIRS = 3_000_000  # pairs of a point and a face whose exact distances are computed, at most


NEAR_PLANE, IN_PLANE = 1e-9, 1e-14  # distances of points that fit a wide plane, and of those that are in it
MANY = 4000  # corners of a face, above which Qhull is too slow, because it merges its triangles one by one
RAISE = 1e-8  # greatest height by which points are raised out of a wide plane
SAMPLED = 200  # points whose hull shows such faces
WIDE = 20  # triangles in one plane of that hull, at least


class Facets(NamedTuple):
    """Facets (m, 3) or (m, 2) of point indices, their (m, 3) outward unit normals, and Qhull's planes after the map."""

    simplices: Ints
    normals: Array
    planes: Array


def qhull(
    points: Array, chosen: Ints, matrix: Array, options: str, cached: Any = None, planes: Sequence[WidePlane] = ()
) -> Facets | None:
    """Return the facets that Qhull computes for some of the points after a linear map, or None.

    Points in wide planes are raised at random, so that Qhull does not merge facets there.

    None means that Qhull failed, or that its facets are not a closed surface. ``cached`` is an earlier result for some
    points with the option Qt, which is used again for the same points.
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
    """The plane of a face with so many corners that Qhull would take a time that is quadratic in them."""

    points: Ints  #: those in the plane
    normal: Array  #: outward


def wide_planes(points: Array, matrix: Array) -> list[WidePlane]:
    """Return the wide planes of points, found from a sample; ``matrix`` maps the points to about unit extents."""
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
    """Return the indices of the points that are not inside the polygon of a wide plane."""
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
    """Return facets with one normal for all triangles in a wide plane."""
    normals = facets.normals.copy()
    for plane in planes:
        is_in = np.zeros(len(points), dtype=bool)
        is_in[plane.points] = True
        normals[is_in[facets.simplices].all(axis=1)] = plane.normal
    return facets._replace(normals=normals)


def mapped_normals(across: Array, matrix: Array) -> Array:
    """Return the unit normals of planes from their normals after a linear map."""
    normals = across @ matrix
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return np.asarray(normals)


def is_closed(faces: Ints) -> bool:
    """Return whether triangles are a closed oriented surface like a sphere: every edge once in each direction."""
    n = int(faces.max()) + 1
    tail, head = faces, np.roll(faces, -1, axis=1)
    forward = np.sort((tail * n + head).ravel())
    backward = np.sort((head * n + tail).ravel())
    used = len(corners_of(faces))
    return bool((forward == backward).all() and (forward[1:] != forward[:-1]).all() and len(faces) == 2 * used - 4)


def _rewound(faces: Ints, neighbors: Ints) -> Ints:
    """Return the triangles, all wound like the first, because the winding by the sign of a sliver is not reliable."""
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
    """Return the edges (e, 2) of a closed surface, the lower index first, and the two faces (e, 2) of each edge."""
    tail, head = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    pairs = np.argsort(low * (int(faces.max()) + 1) + high).reshape(-1, 2)
    first, second = pairs.min(axis=1), pairs.max(axis=1)
    return np.stack([low[first], high[first]], axis=1), np.stack([first // 3, second // 3], axis=1)


def vector_areas(points: Array, faces: Ints) -> Array:
    """Return the (m, 3) area vectors of triangles."""
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    return np.asarray(0.5 * np.cross(b - a, c - a))


def corner_normals(facets: Facets, count: int) -> Array:
    """Return the mean normal of the facets at each of ``count`` points, zero for points without facets."""
    d = facets.simplices.shape[1]
    where = facets.simplices.ravel()
    sums = [np.bincount(where, np.repeat(facets.normals[:, k], d), count) for k in range(3)]
    normals: Array = np.stack(sums, axis=1).astype(np.float64)
    return _unit_rows(normals)


def strict(points: Array, facets: Facets) -> Ints:
    """Return the indices of the vertices that are above their neighbours by more than rounding, one of each cluster.

    A true vertex may be missing, for example if two points that differ by rounding hide each other. `points_beyond`
    returns such vertices.
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
    """Return the ratio of circumradius and inradius about the mean of the vertices.

    The distance of a point from the hull is at most this ratio times its height above the planes.
    """
    used = points[corners_of(facets.simplices)]
    inner = used.mean(axis=0)
    inradius = float((low_reach(points, facets) - facets.normals @ inner).min())
    return float(np.linalg.norm(used - inner, axis=1).max()) / inradius if inradius > 0.0 else np.inf


def low_reach(points: Array, facets: Facets) -> Array:
    """Return the height of the lowest corner of each facet along the facet's normal.

    Qhull's normals may be tilted relative to the triangles. A point below all these heights is in the hull of the
    corners: for a point outside, the ray from an inner point crosses a triangle, and the point is above the lowest
    corner of this triangle.
    """
    return np.asarray(np.einsum("ijk,ik->ij", points[facets.simplices], facets.normals).min(axis=1))


def probes(points: Array, facets: Facets) -> tuple[Array, Array]:
    """Return face normals (of a thin set also normals of edges and corners), and the hull's height along each."""
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
    """Return the points of ``off_hull`` that are farthest outside the hull along the probes, and the greatest excess.

    The excess is the height above the planes of the facets, not above the points on the hull.
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
    """Return the points that are not proven to be at or in the hull, and a bound of the distance of the other points.

    For a fat hull the bound follows from the greatest height above the planes. A point beyond a sharp tip may be far
    away and near all planes. So for a thin hull the bound is the distance to the nearest triangle that the point is
    not below.
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
        # a point on the plane of one facet may be nearest to another, slightly turned one
        near, face = np.nonzero((height > -20.0 * ROUND) & (height.max(axis=1) > -ROUND)[:, None])
        pairs.append((rows[near], members[face]))
        count += len(near)
        if count > PAIRS:
            return none, simple
    nearest = np.full(len(off_hull), np.inf)
    for near, face in pairs:
        np.minimum.at(nearest, near, _distances(points[off_hull[near]], points[s[face]], normals[face]))
    nearest[np.isinf(nearest)] = 0.0  # deep inside
    lost = nearest > 10.0 * ROUND
    return off_hull[lost], float(nearest[~lost].max(initial=0.0)) + ROUND


def _distances(points: Array, simplices: Array, normals: Array) -> Array:
    """Return the distance of each point from its triangle or segment."""
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
