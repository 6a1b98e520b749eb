"""Naive twins of gjk3d: slow, simple reference implementations in numpy, scipy and fractions, without its code.

A shape is a *spec*, a tuple such as ``("box", (1, 2, 3))``. `body` converts it to support points by its definition.
Strategies build the package's shape from the same spec, so the package does not define the reference shapes.

The signed distance of A and B is ``max over unit n of g(n)``, ``g(n) = -(max_a n.a - min_b n.b)``, also in overlap.
All twins follow this definition.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isqrt, nextafter, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq, nnls
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

Array = np.ndarray
Spec = tuple

# poses ------------------------------------------------------------------------------------------------------------


def pose(rotation: Any = None, translation: Any = (0.0, 0.0, 0.0)) -> Array:
    """Return the (4, 4) matrix of a (3, 3) rotation and a translation."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) if rotation is None else rotation
    matrix[:3, 3] = translation
    return matrix


def random_rotations(rng: np.random.Generator, count: int) -> Array:
    """Return (n, 3, 3) uniformly random rotations."""
    return Rotation.random(count, rng=rng).as_matrix().reshape(count, 3, 3)


def unit_vectors(rng: np.random.Generator, count: int) -> Array:
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# bodies -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Body:
    """A convex shape: a core given by its support points, and a radius around it."""

    core: Callable[[Array], Array]  #: (k, 3) directions -> (k, 3) support points of the core
    points: Array | None  #: the core's points if it is a polytope, else None
    radius: float
    center: Array  #: centre of a ball that contains the core; ``reach`` is its radius
    reach: float

    def support(self, directions: Any) -> Array:
        """Return the support points, radius included, of (k, 3) directions."""
        n = np.atleast_2d(np.asarray(directions, dtype=float))
        return self.core(n) + self.radius * n / np.linalg.norm(n, axis=1, keepdims=True)

    def height(self, directions: Any) -> Array:
        """Return the maximum of n.x over the body for (k, 3) unit directions."""
        n = np.atleast_2d(np.asarray(directions, dtype=float))
        return (self.core(n) * n).sum(axis=1) + self.radius * np.linalg.norm(n, axis=1)

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.center)) + self.reach + self.radius

    def mapped(self, matrix: Any, shift: Any = (0.0, 0.0, 0.0)) -> Body:
        """Return the image under x -> matrix x + shift. Only a similarity keeps the radius."""
        m, t = np.asarray(matrix, dtype=float), np.asarray(shift, dtype=float)
        gram = m.T @ m
        factor = sqrt(np.trace(gram) / 3)
        if self.radius and not np.allclose(gram, factor**2 * np.eye(3), rtol=1e-9, atol=1e-9 * factor**2):
            body = replace(self, core=self.support, points=None, radius=0.0, reach=self.reach + self.radius)
        else:
            body = self
        return Body(
            core=lambda n: body.core(n @ m) @ m.T + t,
            points=None if body.points is None else body.points @ m.T + t,
            radius=body.radius * factor,
            center=m @ body.center + t,
            reach=body.reach * float(np.linalg.norm(m, 2)),
        )


def body(spec: Spec, where: Any = None) -> Body:
    """Return the body of a spec, placed by a (4, 4) pose."""
    local = _local(spec)
    return local if where is None else local.mapped(np.asarray(where)[:3, :3], np.asarray(where)[:3, 3])


def bodies(spec_a: Spec, pose_a: Any, spec_b: Spec, pose_b: Any) -> tuple[Body, Body]:
    """Return both bodies in world axes relative to A's origin, so that distant poses lose no digits."""
    pose_a, pose_b = (np.eye(4) if p is None else np.array(p, dtype=float) for p in (pose_a, pose_b))
    origin = pose_a[:3, 3].copy()
    pose_a[:3, 3] -= origin
    pose_b[:3, 3] -= origin
    return body(spec_a, pose_a), body(spec_b, pose_b)


def _local(spec: Spec) -> Body:
    kind, *numbers = spec
    if kind in ("point", "segment", "triangle", "tetrahedron", "hull"):
        return _polytope(np.array(numbers if kind in ("point", "segment") else numbers[0], dtype=float))
    if kind == "sphere":
        return _polytope(np.zeros((1, 3)), numbers[0])
    if kind == "box":
        return _polytope(np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * np.asarray(numbers[0], dtype=float))
    if kind == "capsule":
        radius, height = numbers
        return _polytope(np.array([[0, 0, -height / 2], [0, 0, height / 2]]), radius)
    if kind == "inflated":
        of = _local(numbers[0])
        return replace(of, radius=of.radius + numbers[1])
    if kind == "scaled":
        return _local(numbers[0]).mapped(np.diag(np.broadcast_to(np.asarray(numbers[1], dtype=float), 3)))
    if kind == "placed":
        return body(numbers[0], numbers[1])
    if kind == "sum":
        return _sum(_local(numbers[0]), _local(numbers[1]))
    if kind == "union":
        return _union([_local(spec) for spec in numbers])
    if kind == "ellipsoid":
        radii = np.asarray(numbers[0], dtype=float)
        reach, core = float(radii.max()), lambda n: radii**2 * n / np.linalg.norm(radii * n, axis=1, keepdims=True)
    else:
        radius, height = numbers
        reach = sqrt(radius**2 + height**2 / 4)
        core = {"cylinder": _cylinder, "cone": _cone}[kind](radius, height)
    return Body(core, None, 0.0, np.zeros(3), reach)


def _sum(a: Body, b: Body) -> Body:
    points = None
    if a.points is not None and b.points is not None:
        points = (a.points[:, None] + b.points[None]).reshape(-1, 3)
    return Body(lambda n: a.core(n) + b.core(n), points, a.radius + b.radius, a.center + b.center, a.reach + b.reach)


def _union(bodies: list[Body]) -> Body:
    alike = len({of.radius for of in bodies}) == 1
    cores = [of.core if alike else of.support for of in bodies]

    def core(n: Array) -> Array:
        candidates = np.array([support(n) for support in cores])
        return candidates[np.einsum("kij,ij->ki", candidates, n).argmax(axis=0), np.arange(len(n))]

    center = np.mean([of.center for of in bodies], axis=0)
    reach = max(np.linalg.norm(of.center - center) + of.reach + (0.0 if alike else of.radius) for of in bodies)
    points = None
    if alike and all(of.points is not None for of in bodies):
        points = np.vstack([of.points for of in bodies])
    return Body(core, points, bodies[0].radius if alike else 0.0, center, float(reach))


def _polytope(points: Array, radius: float = 0.0) -> Body:
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    reach = float(np.linalg.norm(points - center, axis=1).max())
    return Body(lambda n: points[np.argmax(n @ (points - center).T, axis=1)], points, radius, center, reach)


def _rim(n: Array, radius: float) -> Array:
    """Return the point of the disk farthest along n, on the +x side if n is parallel to its axis."""
    shadow = np.linalg.norm(n[:, :2], axis=1)
    flat = np.where(shadow[:, None] > 0, n[:, :2], [1.0, 0.0])
    return radius * flat / np.where(shadow > 0, shadow, 1.0)[:, None]


def _cylinder(radius: float, height: float) -> Callable[[Array], Array]:
    return lambda n: np.column_stack([_rim(n, radius), np.where(n[:, 2] < 0, -height / 2, height / 2)])


def _cone(radius: float, height: float) -> Callable[[Array], Array]:
    def farthest(n: Array) -> Array:
        base = np.column_stack([_rim(n, radius), np.full(len(n), -height / 2)])
        apex = np.broadcast_to([0.0, 0.0, height / 2], n.shape)
        return np.where(((apex - base) * n).sum(axis=1, keepdims=True) > 0, apex, base)

    return farthest


def gap(a: Body, b: Body, directions: Any) -> Array:
    """Return g(n), the lower bound of the signed distance from one support scan, for (k, 3) unit n."""
    n = np.atleast_2d(np.asarray(directions, dtype=float))
    return -(a.height(n) + b.height(-n))


def pair_size(a: Body, b: Body) -> float:
    return a.reach + a.radius + b.reach + b.radius + float(np.linalg.norm(a.center - b.center))


# distance of the origin to a hull of points -----------------------------------------------------------------------


def johnson(points: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """Return the point of a simplex of 1 to 4 points nearest to the origin, and its weights, by Johnson's determinants.

    Gilbert, Johnson and Keerthi 1988: ``D_j(S + j) = sum over i in S of D_i(S) (y_i . (y_k - y_j))``. Of all subsets
    with positive determinants, the one with the shortest point is the result (their backup rule). Points are floats or
    fractions.
    """
    y = [list(p) for p in points]
    zero, one = y[0][0] * 0, y[0][0] * 0 + 1
    dot = [[sum((p * q for p, q in zip(v, w, strict=True)), zero) for w in y] for v in y]
    determinants = {(i,): {i: one} for i in range(len(y))}
    for count in range(2, len(y) + 1):
        for subset in itertools.combinations(range(len(y)), count):
            row = {}
            for j in subset:
                rest = tuple(i for i in subset if i != j)
                k = rest[0]
                row[j] = sum((determinants[rest][i] * (dot[i][k] - dot[i][j]) for i in rest), zero)
            determinants[subset] = row
    best = None
    for row in determinants.values():
        if not all(d > 0 for d in row.values()):
            continue
        total = sum(row.values(), zero)
        weights = [row.get(i, zero) / total for i in range(len(y))]
        v = [sum((m * p[c] for m, p in zip(weights, y, strict=True)), zero) for c in range(3)]
        length2 = sum((x * x for x in v), zero)
        if best is None or length2 < best[0]:
            best = (length2, v, weights)
    assert best is not None
    return best[1], best[2]


def closest_to_origin(points: Array) -> tuple[Array, Array]:
    """Return the point of the hull of (n, 3) points nearest to the origin, and its n weights.

    The quadratic program ``min |P'u|^2 + (sum u - 1)^2, u >= 0`` has the same minimiser up to a factor, and scipy's
    nnls solves it. The few positive weights are then recomputed in fractions, and other points are added until none is
    nearer.
    """
    points = np.asarray(points, dtype=float)
    scale = float(np.abs(points).max()) or 1.0
    near = float(np.linalg.norm(points, axis=1).min()) or scale
    try:
        guess, _ = nnls(np.vstack([points.T / near, np.ones(len(points))]), np.array([0.0, 0.0, 0.0, 1.0]))
        simplex = [int(k) for k in np.argsort(-guess)[:4] if guess[k] > 0]
    except RuntimeError:
        simplex = []
    simplex = simplex or [int(np.linalg.norm(points, axis=1).argmin())]
    shortest = None
    while True:
        v, weights = johnson([[Fraction(float(x)) for x in points[k]] for k in simplex])
        positive = [(k, w) for k, w in zip(simplex, weights, strict=True) if w > 0]
        length2 = sum(x * x for x in v)
        length = sqrt(length2)
        full = np.zeros(len(points))
        for k, w in positive:
            full[k] = float(w)
        nearest = np.array([float(x) for x in v])
        if length2 == 0:
            return nearest, full
        direction = np.array([float(x) / length for x in v])
        k = int(np.argmin(points @ direction))
        if points[k] @ direction >= length - 2e-16 * scale or (shortest is not None and length2 >= shortest):
            return nearest, full
        shortest = length2
        simplex = [i for i, _ in positive] + [k]


def facets(points: Array) -> tuple[Array, Array]:
    """Return outward unit normals of the hull of (n, 3) points, and the origin's distance to each facet's plane.

    Distances are positive inside. Qhull runs after an affine map that makes needles and plates round. Points that are
    flat to rounding have no facets.
    """
    nothing = np.zeros((0, 3)), np.zeros(0)
    if len(points) < 4:
        return nothing
    centered = points - points.mean(axis=0)
    _, extents, axes = np.linalg.svd(centered, full_matrices=False)
    if not extents[2] > 1e-14 * extents[0]:
        return nothing
    try:
        hull = ConvexHull(centered @ axes.T / extents)
    except QhullError:
        return nothing
    normals = (hull.equations[:, :3] / extents * extents[2]) @ axes
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, (points @ normals.T).max(axis=0)


def hull_signed_distance(points: Array) -> tuple[float, Array]:
    """Return the origin's signed distance to the hull of (n, 3) points, and the unit normal from hull to origin.

    Inside, it is minus the least distance to a facet. A hull that is flat to rounding has no inside.
    """
    points = np.asarray(points, dtype=float)
    normals, heights = facets(points)
    if len(heights) and heights.min() > 0:
        return -float(heights.min()), normals[heights.argmin()]
    v, _ = closest_to_origin(points)
    length = float(np.linalg.norm(v))
    if length > 1e-15 * float(np.abs(points).max()):
        return length, -v / length
    axes = np.linalg.svd(np.vstack([points - points.mean(axis=0), np.zeros((3, 3))]))[2]
    candidates = np.array([axes[2], -axes[2]])
    heights = (points @ candidates.T).max(axis=0)
    return length, candidates[heights.argmin()]


# polytopes --------------------------------------------------------------------------------------------------------


def differences(points_a: Array, points_b: Array) -> Array:
    """Return all a - b, (n m, 3)."""
    return (np.asarray(points_a)[:, None] - np.asarray(points_b)[None]).reshape(-1, 3)


def polytope_distance(points_a: Array, points_b: Array) -> tuple[float, Array, Array]:
    """Return the distance of two hulls and a witness point on each, from the hull of all differences."""
    _, weights = closest_to_origin(differences(points_a, points_b))
    table = weights.reshape(len(points_a), len(points_b))
    point_a, point_b = table.sum(axis=1) @ points_a, table.sum(axis=0) @ points_b
    return float(np.linalg.norm(point_b - point_a)), point_a, point_b


def signed_distance(a: Body, b: Body) -> tuple[float, Array]:
    """Return the signed distance of two polytopes, rounded or not, and the normal from A to B."""
    assert a.points is not None
    assert b.points is not None
    value, normal = hull_signed_distance(differences(a.points, b.points))
    return value - a.radius - b.radius, normal


def candidate_normals(points_a: Any, points_b: Any, one: Any = 1.0) -> Array:
    """Return all directions in which the difference of two hulls can have a facet, and harmless extra ones.

    They are normals of planes through three points of one hull, and of planes parallel to a line through two points of
    each hull. Points are floats or fractions (dtype object).
    """
    a, b = np.asarray(points_a) * one, np.asarray(points_b) * one
    edges = [np.array([q - p for p, q in itertools.combinations(p_all, 2)]).reshape(-1, 3) for p_all in (a, b)]
    parts = [np.zeros((0, 3)), _cross(edges[0][:, None], edges[1][None]).reshape(-1, 3)]
    for p_all in (a, b):
        for p, q, r in itertools.combinations(p_all, 3):
            parts.append(_cross(q - p, r - p)[None])
    normals = np.concatenate(parts)
    return np.concatenate([normals, -normals])


def _cross(p: Array, q: Array) -> Array:
    turns = [(1, 2), (2, 0), (0, 1)]
    return np.stack([p[..., i] * q[..., j] - p[..., j] * q[..., i] for i, j in turns], -1)


def brute_depth(points_a: Array, points_b: Array) -> tuple[float, Array]:
    """Return the depth of two solid hulls and its normal: the least height of the difference over candidate normals.

    The depth is negative if the hulls are separated along one of the normals. Then it is not a distance.
    """
    normals = candidate_normals(points_a, points_b)
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals[lengths > 1e-16 * lengths.max()]
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    heights = (points_a @ normals.T).max(axis=0) - (points_b @ normals.T).min(axis=0)
    return float(heights.min()), normals[heights.argmin()]


def inverse(m: Array) -> Array:
    """Return the inverse of a (3, 3) matrix by cofactors, in the arithmetic of its numbers."""
    rows = np.array([np.cross(m[:, 1], m[:, 2]), np.cross(m[:, 2], m[:, 0]), np.cross(m[:, 0], m[:, 1])])
    return rows / (m[:, 0] @ rows[0])


# the same in rational arithmetic ----------------------------------------------------------------------------------


def exact(points: Any) -> Array:
    """Convert floats to fractions without rounding."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(points, dtype=float))


def float_below(x: Fraction) -> float:
    """Return the greatest float that is at most x."""
    return float(x) if Fraction(float(x)) <= x else nextafter(float(x), -inf)


def float_above(x: Fraction) -> float:
    """Return the least float that is at least x."""
    return -float_below(-x)


def sqrt_above(square: Fraction) -> Fraction:
    """Return an upper bound of the square root, accurate to 2**-200."""
    return Fraction(isqrt(square.numerator * 4**200 // square.denominator) + 1, 2**200)


def exact_gap(points_a: Array, points_b: Array, normal: Any) -> tuple[Fraction, Fraction]:
    """Return (p, q) with g(n) = p / sqrt(q), for a direction n of any length."""
    n = exact(normal) if np.asarray(normal).dtype != object else np.asarray(normal)
    return min(points_b @ n) - max(points_a @ n), n @ n


def exact_distance2(points_a: Array, points_b: Array) -> Fraction:
    """Return the squared distance of two hulls of exact points by GJK in fractions, where every step shortens v."""
    simplex = [points_a[0] - points_b[0]]
    v = simplex[0]
    while any(v):
        a, b = points_a[np.argmin(points_a @ v)], points_b[np.argmax(points_b @ v)]
        if v @ (a - b) >= v @ v:
            break
        simplex.append(a - b)
        point, weights = johnson(simplex)
        simplex = [p for p, w in zip(simplex, weights, strict=True) if w > 0]
        v = np.array(point, dtype=object)
    return v @ v


def exact_signed_square(points_a: Array, points_b: Array) -> Fraction:
    """Return sd * |sd| of two hulls of exact points; 0 if they intersect and their difference is flat."""
    distance2 = exact_distance2(points_a, points_b)
    if distance2 > 0:
        return distance2
    # only normals that are nearly best in floats, or that floats do not resolve, are evaluated exactly
    a, b = points_a.astype(float), points_b.astype(float)
    normals = candidate_normals(a, b)
    if not len(normals):
        return Fraction(0)
    lengths = np.linalg.norm(normals, axis=1)
    blurred = lengths < 1e-6 * lengths.max()
    units = normals / np.where(lengths > 0, lengths, 1.0)[:, None]
    heights = (a @ units.T).max(axis=0) - (b @ units.T).min(axis=0)
    heights[blurred] = inf
    size = np.abs(differences(a, b)).max()
    wanted = np.flatnonzero(blurred | (heights <= heights.min() + 1e-6 * size))
    best = None
    exact_normals = candidate_normals(points_a, points_b, Fraction(1))
    for k in {tuple(n): None for n in exact_normals[wanted]}:
        n = np.array(k, dtype=object)
        if not any(n):
            continue
        p, q = exact_gap(points_a, points_b, n)
        square = p * abs(p) / q
        best = square if best is None else max(best, square)
    return min(best, Fraction(0)) if best is not None else Fraction(0)


# curved bodies: closed forms --------------------------------------------------------------------------------------


def point_signed_distance(spec: Spec, point: Any) -> float:
    """Return the signed distance of a point to a shape, in the shape's frame, in closed form (ellipsoid: one root)."""
    p = np.asarray(point, dtype=float)
    kind, *numbers = spec
    if kind == "halfspace":
        normal, offset = numbers
        return float(np.dot(normal, p) - offset) / float(np.linalg.norm(normal))
    if kind == "sphere":
        return float(np.linalg.norm(p)) - numbers[0]
    if kind == "box":
        beyond = np.abs(p) - np.asarray(numbers[0], dtype=float) / 2
        return float(np.linalg.norm(np.maximum(beyond, 0)) + min(beyond.max(), 0.0))
    if kind in ("capsule", "cylinder", "cone"):
        radius, height = numbers
        low, high = np.array([0, -height / 2]), np.array([0, height / 2])
        across = np.array([np.hypot(p[0], p[1]), p[2]])
        if kind == "capsule":
            return _to_segment(across, low, high) - radius
        rim = np.array([radius, 0.0])
        section = [low - rim, low + rim, high + rim, high - rim] if kind == "cylinder" else [low - rim, low + rim, high]
        return _to_polygon(across, section)
    if kind == "ellipsoid":
        return _to_ellipsoid(np.asarray(numbers[0], dtype=float), np.abs(p))
    if kind == "inflated":
        return point_signed_distance(numbers[0], p) - numbers[1]
    if kind == "placed":
        where = np.asarray(numbers[1])
        return point_signed_distance(numbers[0], where[:3, :3].T @ (p - where[:3, 3]))
    of = body(spec)
    assert of.points is not None
    return signed_distance(of, body(("point", p)))[0]


def _to_segment(p: Array, a: Array, b: Array) -> float:
    along = b - a
    t = np.clip((p - a) @ along / (along @ along), 0.0, 1.0) if along.any() else 0.0
    return float(np.linalg.norm(p - a - t * along))


def _to_polygon(p: Array, corners: list[Array]) -> float:
    """Return the signed distance of a 2D point to a convex polygon with anticlockwise corners."""
    sides = list(zip(corners, corners[1:] + corners[:1], strict=True))
    away = min(_to_segment(p, a, b) for a, b in sides)
    inside = all((b - a)[0] * (p - a)[1] - (b - a)[1] * (p - a)[0] >= 0 for a, b in sides)
    return -away if inside else away


def _to_ellipsoid(radii: Array, p: Array) -> float:
    """Return the signed distance of a point with coordinates >= 0 to an ellipsoid.

    The nearest surface point x solves x_i (1 + t / r_i^2) = p_i with the largest such t.
    """
    least = float((radii**2).min())

    def foot(s: float) -> Array:  # s = t + least > 0
        return p * radii**2 / (s + (radii**2 - least))

    def beyond(s: float) -> float:
        return float(((foot(s) / radii) ** 2).sum()) - 1.0

    top = float(np.linalg.norm(p) * radii.max()) + least
    bottom = 1e-300
    with np.errstate(divide="ignore", over="ignore"):
        flat = np.where(radii**2 > least, p * radii**2 / np.where(radii**2 > least, radii**2 - least, 1.0), 0.0)
        rest = 1.0 - float(((flat / radii) ** 2).sum())
        if not (p[radii**2 == least] > 0).any() and rest >= 0:  # near the centre: x leaves the plane of symmetry
            x = flat.copy()
            x[int(np.argmin(radii))] = sqrt(rest) * radii.min()
        else:
            bottom = 1e-12 * least
            while beyond(bottom) < 0:
                bottom *= 1e-3
            x = foot(brentq(beyond, bottom, top * (1 + 1e-9), xtol=1e-300, rtol=8.9e-16, maxiter=500))
    away = float(np.linalg.norm(p - x))
    return away if float(((p / radii) ** 2).sum()) > 1.0 else -away


def segment_distance(a0: Any, a1: Any, b0: Any, b1: Any) -> float:
    """Return the distance of two segments by their two parameters (Ericson 2005, 5.1.9, as a minimum over cases)."""
    a0, a1, b0, b1 = (np.asarray(p, dtype=float) for p in (a0, a1, b0, b1))
    u, v, w = a1 - a0, b1 - b0, a0 - b0
    ends = [_to_segment(a0, b0, b1), _to_segment(a1, b0, b1), _to_segment(b0, a0, a1), _to_segment(b1, a0, a1)]
    best = min(ends)
    det = (u @ u) * (v @ v) - (u @ v) ** 2
    if det > 0:
        s = ((u @ v) * (v @ w) - (v @ v) * (u @ w)) / det
        t = ((u @ u) * (v @ w) - (u @ v) * (u @ w)) / det
        if 0 <= s <= 1 and 0 <= t <= 1:
            best = min(best, float(np.linalg.norm(w + s * u - t * v)))
    return best


def aligned_sum(spec_a: Spec, spec_b: Spec) -> Spec:
    """Return the shape A + B (= A - B by symmetry) of two shapes of one kind in the same orientation."""
    (kind, *p), (_, *q) = spec_a, spec_b
    if kind in ("box", "ellipsoid"):
        return (kind, tuple(np.add(p[0], q[0])))  # ellipsoids must have proportional radii
    return (kind, *(x + y for x, y in zip(p, q, strict=True)))  # sphere, capsule, cylinder


# any bodies: bounds -----------------------------------------------------------------------------------------------


def bracket(a: Body, b: Body, tol: float = 1e-9, rounds: int = 80) -> tuple[float, float]:
    """Return bounds lo <= signed distance <= hi of any two bodies, from support points alone.

    Every direction gives a lower bound, g(n). The hull of all support points of A - B so far lies inside A - B, so its
    signed distance is an upper bound. New directions are the normals where that hull is nearest to the origin.
    """
    grid = np.array([d for d in itertools.product((-1, 0, 1), repeat=3) if any(d)], dtype=float)
    directions = np.vstack([grid, unit_vectors(np.random.default_rng(0), 24)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    size = pair_size(a, b)
    points = a.support(directions) - b.support(-directions)
    lo, hi = float(gap(a, b, directions).max()), inf
    for _ in range(rounds):
        value, normal = hull_signed_distance(points)
        hi = min(hi, value)
        directions = normal[None]
        if value < 0:
            normals, heights = facets(points)
            directions = np.vstack([directions, normals[np.argsort(heights)[:16]]])
        lo = max(lo, float(gap(a, b, directions).max()))
        if hi - lo <= tol * size:
            break
        points = np.vstack([points, a.support(directions) - b.support(-directions)])
    return lo, hi


def outside(of: Body, points: Any, directions: Array) -> Array:
    """Return how far (n, 3) points are beyond the body's support planes of (k, 3) directions, <= 0 if inside."""
    points = np.atleast_2d(points)
    return (points @ directions.T - of.height(directions)[None]).max(axis=1)


# stacks of poses --------------------------------------------------------------------------------------------------


def posed_height(of: Body, poses: Array, directions: Array) -> Array:
    """Return the maximum of n_k.x over the body placed by pose k: (n, 4, 4) poses, (n, 3) directions."""
    local = np.einsum("nji,nj->ni", poses[:, :3, :3], directions)
    return of.height(local) + (poses[:, :3, 3] * directions).sum(axis=1)


def posed_support(of: Body, poses: Array, directions: Array) -> Array:
    """Return the support point along n_k of the body placed by pose k."""
    local = np.einsum("nji,nj->ni", poses[:, :3, :3], directions)
    return np.einsum("nij,nj->ni", poses[:, :3, :3], of.support(local)) + poses[:, :3, 3]


def posed_gap(a: Body, poses_a: Array, b: Body, poses_b: Array, directions: Array) -> Array:
    """Return g(n_k) of the bodies placed by poses k, computed relative to A's origin."""
    seen_a, seen_b = poses_a.copy(), poses_b.copy()
    seen_a[:, :3, 3] = 0.0
    seen_b[:, :3, 3] = poses_b[:, :3, 3] - poses_a[:, :3, 3]
    return -(posed_height(a, seen_a, directions) + posed_height(b, seen_b, -directions))
