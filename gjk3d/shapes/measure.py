"""Measures: the smallest ball, a tight oriented box, volume, area and mean curvature."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gjk3d.geometry.hulls import build_hull
from gjk3d.shapes import surfaces
from gjk3d.typing import Array, Ints

NORMALS = 500  # face normals tried for an oriented box: those of the largest area, where there are more
SCANS = 2_000_000  # and fewer where the vertices are so many that normals times vertices exceed this
CROSSED = 100  # normals of two edges tried: those across which the body is thinnest
EDGES = 60  # and of no more edges than this, the longest
FLOOR = 1e-13  # extents below this part of the size count as this, so that flat boxes compare by their area


def minimal_ball(points: Array) -> tuple[Array, float]:
    """Find the smallest ball that holds all points.

    Parameters
    ----------
    points : (n, 3) float
        Finite; n >= 1, in any position.

    Returns
    -------
    center : (3,) float
        Centre.
    radius : float
        Least radius to about 1e-15, rounded up so that the ball holds all points.

    Notes
    -----
    Pivoting as in Gaertner, Fast and robust smallest enclosing balls, ESA 1999: the farthest point joins the few that
    carry the ball, and the smallest ball of these is found by trying all their subsets.
    """
    local, origin, exponent = _unit(points)
    center = np.zeros(3)
    carriers: list[int] = []
    best, best_center, reached = np.inf, center, -1.0
    for _ in range(20 + 4 * len(points)):
        squares = ((local - center) ** 2).sum(axis=1)
        far = int(squares.argmax())
        if squares[far] < best:
            best, best_center = float(squares[far]), center
        if far in carriers or best <= reached:  # nothing is outside, or only by rounding
            break
        carriers, center, radius = _carried(local, [*carriers, far])
        if radius <= reached:
            break
        reached = radius
    found = origin + np.ldexp(best_center, exponent)
    offsets = np.ldexp(points, -exponent) - np.ldexp(found, -exponent)  # from the centre as it is after rounding
    radius = float(np.sqrt((offsets**2).sum(axis=1).max()))
    return found, float(np.ldexp(radius * (1.0 + 1e-15), exponent))


def _unit(points: Array) -> tuple[Array, Array, int]:
    """Recentre and scale by a power of two to about unit size: local points, origin, exponent."""
    top = int(np.frexp(np.abs(points).max())[1])
    local = np.ldexp(points, -top)
    middle = 0.5 * (local.min(axis=0) + local.max(axis=0))
    local = local - middle
    size = int(np.frexp(np.abs(local).max())[1])
    return np.ldexp(local, -size), np.ldexp(middle, top), top + size


def _carried(points: Array, members: list[int]) -> tuple[list[int], Array, float]:
    """Smallest ball of at most five points: who carries it, its centre and squared radius."""
    best, center, carriers = np.inf, points[members[0]], members[:1]
    chosen = points[members]
    for count in range(1, min(4, len(members)) + 1):
        for subset in combinations(range(len(members)), count):
            corner = chosen[subset[0]]
            middle = corner + _circumcenter(chosen[list(subset[1:])] - corner)
            reach = float(((chosen - middle) ** 2).sum(axis=1).max())
            if reach < best:
                best, center, carriers = reach, middle, [members[i] for i in subset]
    return carriers, center, best


def _circumcenter(edges: Array) -> Array:
    """Point of the span of the edges at equal distance from 0 and all their ends; any point where there is none."""
    if not len(edges):
        return np.zeros(3)
    rows = np.linalg.norm(edges, axis=1)
    rows[rows == 0.0] = 1.0
    solution: Array = np.linalg.lstsq(edges / rows[:, None], 0.5 * (edges**2).sum(axis=1) / rows, rcond=1e-14)[0]
    return solution


def oriented_box(vertices: Array, faces: Ints) -> tuple[Array, Array]:
    """Find a small box round a convex mesh: no larger than any that lies flush with a face, or along the axes.

    Parameters
    ----------
    vertices : (n, 3) float
        Vertices; n >= 1.
    faces : (m, 3) int
        Triangles of the hull of the vertices; none where they are collinear or single.

    Returns
    -------
    pose : (4, 4) float
        Axes of the box in the columns, a rotation, and its centre.
    extents : (3,) float
        Full lengths along the axes.

    Notes
    -----
    A smallest box has two adjacent sides flush with edges, if with no face (O'Rourke, Finding minimal enclosing boxes,
    1985). So one side of a candidate is on a face, or parallel to two edges; the box is turned about the normal of
    that side until it is flush with an edge of the outline (rotating calipers). The best is turned about its three
    axes in turn while that helps. Of more than ``NORMALS`` distinct face normals, or 20 and more where there are many
    thousands of vertices, only those of the largest faces are tried, and of the edges' ``CROSSED``; so the true
    smallest may be a little smaller.
    """
    local, origin, exponent = _unit(vertices)
    axes, least = np.eye(3), _cost(np.ptp(local, axis=0))
    normals = np.concatenate([_normals(local, faces), _crossings(local, faces)])
    for candidate in [_flush(local, normal) for normal in normals] if len(faces) else [_along(local)]:
        cost = _cost(np.ptp(local @ candidate.T, axis=0))
        if cost < least * (1.0 - 1e-12):
            axes, least = candidate, cost
    turns = 0
    while len(faces) and turns < 3:  # as many in a row without gain
        candidate = _flush(local, axes[turns])
        cost = _cost(np.ptp(local @ candidate.T, axis=0))
        turns += 1
        if cost < least * (1.0 - 1e-9):
            axes, least, turns = candidate, cost, 0
    along = local @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    pose = np.eye(4)
    pose[:3, :3] = axes.T
    pose[:3, 3] = origin + np.ldexp(0.5 * (low + high) @ axes, exponent)
    return pose, np.ldexp(high - low, exponent)


def _cost(extents: Array) -> float:
    return float(np.prod(np.maximum(extents, FLOOR * extents.max())))


def _normals(points: Array, faces: Ints) -> Array:
    """Return the distinct normals of the faces, up to sign, largest faces first."""
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    areas = np.cross(b - a, c - a)
    sizes = np.linalg.norm(areas, axis=1)
    areas, sizes = areas[sizes > 0.0], sizes[sizes > 0.0]
    leading = np.take_along_axis(areas, np.abs(areas).argmax(axis=1)[:, None], axis=1)
    areas = areas * np.sign(leading)
    _, group = np.unique(np.round(areas / sizes[:, None], 9), axis=0, return_inverse=True)
    sums = np.stack([np.bincount(group.ravel(), areas[:, k]) for k in range(3)], axis=1)
    total = np.linalg.norm(sums, axis=1)
    order = np.argsort(-total, kind="stable")[: max(20, min(NORMALS, SCANS // len(points)))]
    return np.asarray(sums[order] / total[order, None])


def _crossings(points: Array, faces: Ints) -> Array:
    """Return directions at right angles to two edges each, up to sign, along which the body is thinnest."""
    ends = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    edges = points[ends[:, 1]] - points[ends[:, 0]]
    lengths = np.linalg.norm(edges, axis=1)
    longest = np.argsort(-lengths, kind="stable")[:EDGES]
    longest = longest[lengths[longest] > 0.0]
    along = edges[longest] / lengths[longest, None]
    first, second = np.triu_indices(len(along), 1)
    normals = np.cross(along[first], along[second])
    sines = np.linalg.norm(normals, axis=1)
    normals = normals[sines > 1e-6] / sines[sines > 1e-6, None]
    if len(points) * len(normals) > SCANS:
        return np.zeros((0, 3))
    widths = np.ptp(points @ normals.T, axis=0)
    chosen: Array = normals[np.argsort(widths, kind="stable")[:CROSSED]]
    return chosen


def _basis(z: Array) -> Array:
    """Return a rotation, axes in rows, whose last axis is z."""
    x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


def _along(points: Array) -> Array:
    i = int((points**2).sum(axis=1).argmax())
    step = points[((points - points[i]) ** 2).sum(axis=1).argmax()] - points[i]
    length = float(np.linalg.norm(step))
    return _basis(step / length)[[2, 0, 1]] if length > 0.0 else np.eye(3)


def _flush(points: Array, normal: Array) -> Array:
    """Return the axes of the smallest box across this normal, flush with one edge of the outline."""
    basis = _basis(normal)
    outline, edges = _outline(points @ basis[:2].T)
    lengths = np.linalg.norm(edges, axis=1)
    x = edges[lengths > 0.0] / lengths[lengths > 0.0, None]
    y = np.stack([-x[:, 1], x[:, 0]], axis=1)
    size = float(np.ptp(outline, axis=0).max())
    wide, high = np.ptp(outline @ x.T, axis=0), np.ptp(outline @ y.T, axis=0)
    best = int((np.maximum(wide, FLOOR * size) * np.maximum(high, FLOOR * size)).argmin())
    return np.array([x[best] @ basis[:2], y[best] @ basis[:2], normal])


def _outline(flat: Array) -> tuple[Array, Array]:
    """Return the corners (k, 2) of a plane point set and the edges (k, 2) between them."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        corners = flat[ConvexHull(flat).vertices]
    except QhullError:  # thinner than Qhull can work with
        hull = build_hull(np.column_stack([flat, np.zeros(len(flat))]))
        ends = hull.vertices[hull.edges[hull.angles > 0.0]][:, :, :2]
        return hull.vertices[:, :2], ends[:, 1] - ends[:, 0]
    return corners, np.roll(corners, -1, axis=0) - corners


def steiner_volume(volume: float, area: float, mean_curvature: float, radius: float) -> float:
    """Return the volume of a convex body inflated by a radius, by Steiner's formula.

    Parameters
    ----------
    volume, area : float
        Of the body; a flat body counts both of its sides.
    mean_curvature : float
        Integral of mean curvature: for polytopes half the sum of edge length times exterior angle.
    radius : float
        How far the body grows on all sides.
    """
    return volume + radius * (area + radius * (mean_curvature + radius * 4.0 / 3.0 * np.pi))


_RESOLUTION = 192  #: segments of a full turn: a sphere's volume comes out low by 2 parts in 10 000
_ROUNDS = 6


class Measures(NamedTuple):
    """Volume, surface area, and integrated mean curvature, which Steiner's formula asks for."""

    volume: float
    area: float
    curvature: float


def measured(support: Callable[[Array], Array]) -> Measures:
    """Measure the hull of support points along the directions of a fine sphere, and then along its own normals.

    The hull is scipy's: that of `gjk3d.geometry` proves every face against every point, which takes half a minute for
    18 000 points and changes a volume by rounding.

    Parameters
    ----------
    support : callable
        Takes (n, 3) directions and returns the (n, 3) farthest points along them.
    """
    from scipy.spatial import ConvexHull, QhullError

    directions = np.concatenate([np.eye(3), -np.eye(3), surfaces.sphere(1.0, _RESOLUTION).vertices])
    points = np.array(support(directions), dtype=np.float64)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    unit = float(np.abs(points - middle).max()) or 1.0
    points = (points - middle) / unit
    chord = 1.0 - np.cos(np.pi / _RESOLUTION)  # by which the sphere's own faces stay inside it
    try:
        hull = ConvexHull(points)
        for _ in range(_ROUNDS):
            normals, offsets = hull.equations[:, :3], hull.equations[:, 3]
            found = (np.asarray(support(np.ascontiguousarray(normals))) - middle) / unit
            farther = np.einsum("ij,ij->i", found, normals) + offsets > chord
            if not farther.any():
                break
            points = np.concatenate([points[hull.vertices], found[farther]])
            hull = ConvexHull(points)
    except QhullError:  # flat
        from gjk3d.geometry.hulls import build_hull

        flat = build_hull(np.ascontiguousarray(points))
        volume, area, curvature = flat.volume, flat.area, flat.mean_curvature
    else:
        volume, area, curvature = hull.volume, hull.area, _curvature(points, hull)
    return Measures(float(volume) * unit**3, float(area) * unit**2, float(curvature) * unit)


def _curvature(points: Array, hull: Any) -> float:
    """Return half the sum of length times angle over the edges."""
    faces, beside = hull.simplices, hull.neighbors
    normals = hull.equations[:, :3]
    total = 0.0
    for k in range(3):  # the edge between the other two corners, seen from both of its faces
        edge = points[faces[:, (k + 1) % 3]] - points[faces[:, (k + 2) % 3]]
        across = normals[beside[:, k]]
        sine = np.linalg.norm(np.cross(normals, across), axis=1)
        angle = np.arctan2(sine, np.einsum("ij,ij->i", normals, across))
        total += float(np.linalg.norm(edge, axis=1) @ angle)
    return 0.25 * total
