"""One run of Qhull and what it is worth: facets wound outward and closed, vertices that matter, points left outside.

Points are in a box of about unit size round 0, so tolerances are plain numbers. A set may live in the plane z = 0: its
facets are then segments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gjk3d.geometry.points import farthest, reaching
from gjk3d.typing import Array, Ints

SAME = 2e-15  # what lies outside by less is rounding: no vertex is kept for it
ROUND = 1e-15  # allowance for the arithmetic of the checks
THIN = 30.0  # circumradius by inradius from which face normals alone no longer tell how far a point is outside
PAIRS = 3_000_000  # of points and faces, that exact distances are worth


class Facets(NamedTuple):
    """Facets (m, 3) or (m, 2) by point, their (m, 3) outward unit normals, and Qhull's planes in mapped coordinates."""

    simplices: Ints
    normals: Array
    planes: Array


def qhull(points: Array, chosen: Ints, matrix: Array, options: str, known: Any = None) -> Facets | None:
    """Return the facets of the hull of some of the points as Qhull sees them through a linear map, or None.

    None means that Qhull refused, or that its facets are no closed surface. ``known`` is what it made of some points
    with the option Qt; of the same it is not asked again.
    """
    from scipy.spatial import ConvexHull, QhullError

    mapped = points[chosen] @ matrix.T
    again = known is not None and options == "Qt" and np.array_equal(known.points, mapped)
    try:
        hull = known if again else ConvexHull(mapped, qhull_options=options)
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
    return Facets(chosen[simplices], normals, hull.equations)


def mapped_normals(across: Array, matrix: Array) -> Array:
    """Return the unit normals of planes from theirs behind a linear map."""
    normals = across @ matrix
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return np.asarray(normals)


def is_closed(faces: Ints) -> bool:
    """Tell whether triangles are a closed oriented surface like a sphere: every edge once in each direction."""
    n = int(faces.max()) + 1
    tail, head = faces, np.roll(faces, -1, axis=1)
    there = np.sort((tail * n + head).ravel())
    back = np.sort((head * n + tail).ravel())
    used = len(corners_of(faces))
    return bool((there == back).all() and (there[1:] != there[:-1]).all() and len(faces) == 2 * used - 4)


def _rewound(faces: Ints, neighbors: Ints) -> Ints:
    """Give all triangles the winding of the first: slivers carry no sign of their own."""
    faces = faces.copy()
    seen = np.zeros(len(faces), dtype=bool)
    seen[0], todo = True, [0]
    while todo:
        f = todo.pop()
        ours = {(int(faces[f, i]), int(faces[f, (i + 1) % 3])) for i in range(3)}
        for g in neighbors[f].tolist():
            if g >= 0 and not seen[g]:
                a, b, c = faces[g].tolist()
                if {(a, b), (b, c), (c, a)} & ours:
                    faces[g] = (a, c, b)
                seen[g] = True
                todo.append(g)
    return faces


def corners_of(faces: Ints) -> Ints:
    """Return which points are corners, ascending."""
    return np.flatnonzero(np.bincount(faces.ravel()))


def edges(faces: Ints) -> tuple[Ints, Ints]:
    """Return the edges (e, 2) of a closed surface, lower index first, and the two faces (e, 2) at each."""
    tail, head = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    pairs = np.argsort(low * (int(faces.max()) + 1) + high).reshape(-1, 2)
    one, two = pairs.min(axis=1), pairs.max(axis=1)
    return np.stack([low[one], high[one]], axis=1), np.stack([one // 3, two // 3], axis=1)


def vector_areas(points: Array, faces: Ints) -> Array:
    """Return the (m, 3) area vectors of triangles."""
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    return np.asarray(0.5 * np.cross(b - a, c - a))


def corner_normals(facets: Facets, count: int) -> Array:
    """Return for each of count points the mean normal of the facets at it, zero where there are none."""
    d = facets.simplices.shape[1]
    where = facets.simplices.ravel()
    sums = [np.bincount(where, np.repeat(facets.normals[:, k], d), count) for k in range(3)]
    normals: Array = np.stack(sums, axis=1).astype(np.float64)
    return _unit_rows(normals)


def strict(points: Array, facets: Facets) -> Ints:
    """Return the vertices that stand out of their neighbours by more than rounding, one of every cluster.

    Too many may be missing, as where two points a rounding apart hide each other: `beyond` finds these again.
    """
    s = facets.simplices
    tail, head = s.T.ravel(), np.roll(s, -1, axis=1).T.ravel()  # on a closed surface each edge once either way
    step = points[tail] - points[head]
    twin = np.einsum("ij,ij->i", step, step) <= SAME**2
    lift = np.full(len(points), np.inf)
    height = np.einsum("ij,ij->i", step, corner_normals(facets, len(points))[tail])
    np.minimum.at(lift, tail, np.where(twin, np.inf, height))
    lift[np.maximum(tail, head)[twin]] = -1.0
    used = corners_of(s)
    return used[lift[used] > SAME]


def fatness(points: Array, facets: Facets) -> float:
    """Return circumradius by inradius, about the mean of the vertices: a bound on distance by excess over planes."""
    used = points[corners_of(facets.simplices)]
    inner = used.mean(axis=0)
    inradius = float((low_reach(points, facets) - facets.normals @ inner).min())
    return float(np.linalg.norm(used - inner, axis=1).max()) / inradius if inradius > 0.0 else np.inf


def low_reach(points: Array, facets: Facets) -> Array:
    """Return how far the lowest corner of each facet reaches along its normal.

    Qhull's normals may be tilted against the triangles. What is below all these heights is in the hull of the corners:
    beyond the hull, the triangle that the ray from an inner point pierces is above its own lowest corner.
    """
    return np.asarray(np.einsum("ijk,ik->ij", points[facets.simplices], facets.normals).min(axis=1))


def probes(points: Array, facets: Facets) -> tuple[Array, Array]:
    """Return directions and a reach along each: face normals, for thin sets also those of edges and corners."""
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


def beyond(points: Array, others: Ints, held: Ints, facets: Facets) -> tuple[Ints, float]:
    """Return the others, farthest along each probe, that reach beyond all held points, and the greatest excess.

    The excess is over the planes of the facets, not over the held points.
    """
    if not len(others):
        return others, -np.inf
    directions, reaches = probes(points, facets)
    excess, who = farthest(points[others], directions)
    excess -= reaches
    suspects = np.flatnonzero(excess > SAME)
    support, _ = farthest(points[held], directions[suspects])
    far = excess[suspects] - np.maximum(support - reaches[suspects], 0.0) > SAME
    return np.unique(others[who[suspects[far]]]), float(excess[: len(facets.normals)].max())


def _unit_rows(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))


def stragglers(points: Array, others: Ints, facets: Facets, excess: float) -> tuple[Ints, float]:
    """Return the others that cannot be shown to be at the hull or inside, and a bound on how far the rest is outside.

    The bound comes from the greatest excess over the planes where the hull is fat; off a sharp tip a point is far and
    yet near all planes, so in a thin one it is the distance to the nearest triangle that the point is not under.
    """
    none = others[:0]
    if excess < -10.0 * ROUND:
        return none, 0.0
    simple = fatness(points, facets) * (max(excess, 0.0) + ROUND)
    if simple <= 50.0 * ROUND:
        return none, simple
    s, normals, _ = facets
    reach = low_reach(points, facets)
    pairs, count = [], 0
    planes, rays = np.column_stack([normals, -reach]), np.insert(points[others], 3, 1.0, axis=1)
    for rows, members in reaching(planes, rays, -20.0 * ROUND):
        height = points[others[rows]] @ normals[members].T - reach[members]
        # a point on the plane of one facet may be nearest to another, slightly turned one
        near, face = np.nonzero((height > -20.0 * ROUND) & (height.max(axis=1) > -ROUND)[:, None])
        pairs.append((rows[near], members[face]))
        count += len(near)
        if count > PAIRS:
            return none, simple
    nearest = np.full(len(others), np.inf)
    for near, face in pairs:
        np.minimum.at(nearest, near, _distances(points[others[near]], points[s[face]], normals[face]))
    nearest[np.isinf(nearest)] = 0.0  # deep inside
    lost = nearest > 10.0 * ROUND
    return others[lost], float(nearest[~lost].max(initial=0.0)) + ROUND


def _distances(points: Array, simplices: Array, normals: Array) -> Array:
    """Distance of each point to its own triangle or segment."""
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
