"""Corners of the intersection of two convex polytopes: the ends of the parts of edges inside the other polytope.

A corner of the intersection is on three planes. Two or three of these belong to one of the polytopes, so the corner is
on an edge of that polytope. The method needs no inner point, and flat polytopes are not a special case.

Arrays of planes and of results are stored by coordinate, (4, f) and (3, n).
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import kernel, plain, single_entry
from gjk3d.geometry.points import principal_axes, sort_points
from gjk3d.geometry.vec3 import Vec3
from gjk3d.typing import Array, Array2, Ints, Ints2

_THIN = 0.1  #: least extent by greatest, below which corners get half-spaces too
_SHARP = -0.8  #: cosine between the normals of two faces, below which their edge gets half-spaces too


class Walls(NamedTuple):
    """A polytope as edges (e, 6), a single edge for a point, and as half-spaces (4, f): normal . x <= offset."""

    edges: Array2
    planes: Array2
    span: float  #: greatest less least number of the edges


def bevels(vertices: Array, faces: Array, arcs: Array) -> Array:
    """Return normals of half-spaces: the normals of the faces, and further ones for sharp edges and corners.

    A point just outside a sharp edge is close to the planes of both faces, and a point beyond the tip of a needle is
    close to all planes. Planes across such edges, and across the directions from the middle to the corners, bound the
    distance of such a point. ``faces`` and ``arcs`` are the output of `gjk3d.geometry.hulls.gauss_map`.
    """
    middle = vertices.mean(axis=0)
    out = vertices - middle
    sizes, axes = principal_axes(out)
    normals = [faces, axes, -axes]
    if len(sizes) < 3 or sizes[2] < _THIN * sizes[0]:
        lengths = np.linalg.norm(out, axis=1)
        normals.append(out[lengths > 0.0] / lengths[lengths > 0.0, None])
    sharp = arcs[np.einsum("ij,ij->i", arcs[:, 3:6], arcs[:, 6:]) < _SHARP]
    across = np.cross(sharp[:, :3], sharp[:, 3:6] - sharp[:, 6:])
    across /= np.linalg.norm(across, axis=1)[:, None]
    return np.concatenate([*normals, across, -across])


def corners(a: Walls, b: Walls, rows: Array, origin: Vec3, tolerance: float) -> Array:
    """Return the corners, (n, 3), of the intersection of two polytopes at pose rows (2, 13).

    Corners closer than ``tolerance`` times the size are merged. Coordinates are computed about a near ``origin``.
    """
    edges, planes = len(a.edges) + len(b.edges), a.planes.shape[1] + b.planes.shape[1]
    points, index = np.empty((3, 2 * edges)), np.empty((2, 2 * edges), dtype=np.int64)
    scratch = np.empty((6, edges)), np.empty((4, planes))
    count = common(a, b, rows, origin, tolerance, *scratch, points, index)
    return np.ascontiguousarray(points[:, :count].T)


@single_entry
def common(
    a: Walls, b: Walls, rows: Array2, origin: tuple[float, float, float], tolerance: float, edges: Array2,
    planes: Array2, points: Array2, index: Ints2,
) -> int:  # fmt: skip
    """Write the corners of the intersection and return their number. ``edges`` to ``index`` are scratch."""
    size = _move(a.edges, a.planes, rows[0], origin, edges, planes, plain(0), plain(0))
    e, f = a.edges.shape[0], a.planes.shape[1]
    size = max(size, _move(b.edges, b.planes, rows[1], origin, edges, planes, e, f))
    tol = tolerance * size
    count = _inside(edges, plain(0), e, planes, f, planes.shape[1], tol, points, plain(0))
    count = _inside(edges, e, edges.shape[1], planes, plain(0), f, tol, points, count)
    count = _distinct(points, count, tol, index)
    for k in range(count):
        for i in range(3):
            points[i, k] += origin[i]
    return count


@kernel
def _move(
    edges: Array, planes: Array, row: Array, origin: Vec3, to_edges: Array, to_planes: Array, e: int, f: int
) -> float:
    """Write a polytope at a pose row, about ``origin``, from columns e and f on; return its greatest coordinate."""
    largest = 0.0
    for k in range(edges.shape[0]):
        for i in range(3):
            a, b, c, shift = row[3 * i], row[3 * i + 1], row[3 * i + 2], row[9 + i] - origin[i]
            x = a * edges[k, 0] + b * edges[k, 1] + c * edges[k, 2] + shift
            y = a * edges[k, 3] + b * edges[k, 4] + c * edges[k, 5] + shift
            to_edges[i, e + k], to_edges[3 + i, e + k] = x, y
            largest = max(largest, abs(x), abs(y))
    for k in range(planes.shape[1]):
        offset = planes[3, k]
        for i in range(3):
            n = row[3 * i] * planes[0, k] + row[3 * i + 1] * planes[1, k] + row[3 * i + 2] * planes[2, k]
            to_planes[i, f + k] = n
            offset += n * (row[9 + i] - origin[i])
        to_planes[3, f + k] = offset
    return largest


@kernel
def _inside(
    edges: Array, e: int, e_end: int, planes: Array, f: int, f_end: int, tol: float, points: Array, count: int
) -> int:
    """Append the ends of the parts of edges inside the half-spaces; return the new number of points.

    All first ends precede all second ends. An end within ``tol`` of a plane counts as on the plane and stays unchanged.
    """
    last = count + (e_end - e)
    at = count
    for k in range(e, e_end):
        x, y, z = edges[0, k], edges[1, k], edges[2, k]
        dx, dy, dz = edges[3, k] - x, edges[4, k] - y, edges[5, k] - z
        enter, leave = _part(edges, k, planes, f, f_end, tol)
        if (enter - leave) * sqrt(dx * dx + dy * dy + dz * dz) > tol:
            continue
        _write_point(points, at, edges, k, enter)
        _write_point(points, last + (at - count), edges, k, leave)
        at += 1
    some = at - count
    for k in range(some):
        for i in range(3):
            points[i, at + k] = points[i, last + k]
    return at + some


@kernel
def _part(edges: Array, k: int, planes: Array, f: int, f_end: int, tol: float) -> tuple[float, float]:
    """Return the parameters, from 0 to 1, at which an edge enters and leaves the half-spaces; inf and 0 if outside."""
    enter, leave = 0.0, 1.0
    for j in range(f, f_end):
        start = planes[0, j] * edges[0, k] + planes[1, j] * edges[1, k] + planes[2, j] * edges[2, k] - planes[3, j]
        end = planes[0, j] * edges[3, k] + planes[1, j] * edges[4, k] + planes[2, j] * edges[5, k] - planes[3, j]
        if start > tol:
            if end > tol:
                return inf, 0.0
            enter = max(enter, start / (start - end) if end < -tol else 1.0)
        elif end > tol:
            leave = min(leave, start / (start - end) if start < -tol else 0.0)
    return enter, leave


@kernel
def _write_point(points: Array, at: int, edges: Array, k: int, t: float) -> None:
    for i in range(3):
        first, second = edges[i, k], edges[3 + i, k]
        points[i, at] = second if t == 1.0 else first + t * (second - first)


@kernel
def _distinct(points: Array, count: int, tol: float, index: Ints) -> int:
    """Merge points closer than ``tol`` into the first of them; return the number of points left."""
    order, twin = index[0], index[1]
    sort_points(points, count, order)
    for k in range(count):
        twin[k] = 0
    for k in range(count):
        i = order[k]
        for h in range(k + 1, count):
            j = order[h]
            x, y, z = points[0, j] - points[0, i], points[1, j] - points[1, i], points[2, j] - points[2, i]
            if x > tol:
                break
            if x * x + y * y + z * z <= tol * tol:
                twin[max(i, j)] = 1
    unique = 0
    for k in range(count):
        if twin[k] == 0:
            points[0, unique], points[1, unique], points[2, unique] = points[0, k], points[1, k], points[2, k]
            unique += 1
    return unique
