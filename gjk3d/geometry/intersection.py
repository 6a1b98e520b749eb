"""The intersection of two convex polytopes: its corners, volume and centroid.

A corner of the intersection is on three planes. At least two of these belong to the same polytope, so the corner is on
an edge of this polytope. The corners are therefore the ends of the parts of edges that are inside the other polytope.
The method needs no inner point, and flat polytopes are not a special case. Arrays of planes and of results are stored
by coordinate, (4, f) and (3, n).

Volume and centroid do not need the corners. The surface of the intersection consists of the parts of the faces of each
polytope inside the other. A face is clipped by the plane of the other polytope that its worst corner violates, until no
corner violates a plane. A face is therefore clipped by only a few planes near it. Volume and centroid follow from the
divergence theorem (Cha and Lee, 2015, sum the same pieces for the overlap of voids).

The plane that a point violates belongs to the face that is hit by the ray from an inner point to the point. The search
starts at the face of a near point and crosses the edge between the face and the ray, as in a triangulation (Lawson,
1977).
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import kernel, plain, single_entry
from gjk3d.geometry import hull_facets as fc
from gjk3d.geometry.hulls import HullData
from gjk3d.geometry.points import farthest, principal_axes, sort_points
from gjk3d.geometry.vec3 import Rigid, Vec3, add, cross, dot, place, sub, turn
from gjk3d.poses import parts
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

# --- corners ---------------------------------------------------------------------------------------------------------


_THIN = 0.1  #: ratio of the least and the greatest extent, below which half-spaces are added at the corners
_SHARP = -0.8  #: cosine between the normals of two faces, below which half-spaces are added at their edge


class Walls(NamedTuple):
    """A polytope as edges and as half-spaces normal . x <= offset."""

    edges: Array2  #: both ends of each edge, (e, 6); a point has a single edge
    planes: Array2  #: normals and offsets in columns, (4, f)
    span: float  #: greatest minus least coordinate of all ends


def bevels(vertices: Array, faces: Array, arcs: Array) -> Array:
    """Return the normals of a polytope's half-spaces: those of the faces, principal axes, sharp edges and corners.

    A point just outside a sharp edge is close to the planes of both faces, and a point beyond the tip of a needle is
    close to all planes. Additional planes bound the distance of such a point. They are perpendicular to the principal
    axes, the bisectors of sharp edges, and the directions from the middle to the corners of a thin polytope. ``faces``
    and ``arcs`` are the output of `gjk3d.geometry.hulls.gauss_map`.
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
    """Return the corners, (n, 3), of the intersection of two polytopes at pose rows (2, 13), in world coordinates.

    Coordinates are computed relative to ``origin``, a point near the polytopes. Corners closer than ``tolerance``
    times the greatest of these coordinates are merged.
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
    """Write the corners of the intersection of two polytopes to columns of ``points``; return the number of corners.

    ``edges``, ``planes`` and ``index`` are scratch. See `corners` for the other arguments.
    """
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
    """Write the edges and planes of a polytope at a pose; return the greatest magnitude of an edge's coordinate.

    The edges are written from column e of ``to_edges``, and the planes from column f of ``to_planes``. All are relative
    to ``origin``.
    """
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
    """Append to ``points`` both ends of the part of each edge inside the half-spaces; return the new number of points.

    Edges e to e_end and half-spaces f to f_end are used. All first ends precede all second ends. An edge's end within
    ``tol`` of a plane counts as on the plane, and is not moved.
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
    """Return the parameters from 0 to 1 at which edge k enters and leaves half-spaces f to f_end.

    If the edge is outside a half-space, they are infinity and 0.
    """
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
    """Remove each point closer than ``tol`` to an earlier point; return the number of remaining points."""
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


# --- volume and centroid ---------------------------------------------------------------------------------------------


_SCANNED = 24  #: faces up to which a scan of all planes is faster than the search
_SAME_PLANE = 4e-15  #: greatest distance of equal planes, relative to the size
_PARALLEL = 1.0 - 1e-6  #: least cosine between the normals of equal planes
#: greatest sum of the area vectors of the pieces, relative to the squared size; it is 0 for a closed surface
_OPEN = 1e-11
_FLAT = 1e-9  #: volume relative to the cubed size, below which coplanar faces cannot be distinguished
_NO_PLANE = 1e300  #: offset of the plane of a degenerate face


class Facets(NamedTuple):
    """A polytope relative to its centre. Neighbouring triangles are near each other in the arrays."""

    vertices: Array2  #: (k, 3), relative to the centre
    faces: Ints2  #: (m, 3), wound outward
    neighbors: Ints2  #: (m, 3), the face at the edge from each corner to the next one
    sides: Array2  #: (m, 9), inward normals of the planes through the centre and these edges
    planes: Array2  #: (m, 4), normal . x <= offset
    center: Array1  #: mean of the vertices in the frame of the polytope
    size: float  #: greatest extent along the axes


def facets_of(hull: HullData) -> Facets | None:
    """Return the facets of a hull, or None if the hull is flat or nearly flat."""
    vertices = np.array(hull.vertices)
    size = float(np.ptp(vertices, axis=0).max())
    if hull.dimension < 3 or not hull.volume > _FLAT * size**3:
        return None
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    _, sides = fc.edges(hull.faces)
    count, links = len(hull.faces), np.ones(len(sides), dtype=np.int8)
    graph = csr_array((links, (sides[:, 0], sides[:, 1])), shape=(count, count))
    order = breadth_first_order(graph, 0, directed=False, return_predecessors=False)
    faces = np.ascontiguousarray(hull.faces[order])
    # each edge occurs once in each direction, and the reversed edge belongs to the neighbour
    tail, head = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    forward, backward = np.argsort(tail * len(vertices) + head), np.argsort(head * len(vertices) + tail)
    neighbors = np.empty(3 * count, dtype=np.int64)
    neighbors[backward] = forward // 3
    center = vertices.mean(axis=0)
    vertices -= center
    normals = fc.vector_areas(vertices, faces)
    lengths = np.linalg.norm(normals, axis=1)
    is_face = lengths > 0.0
    normals[is_face] /= lengths[is_face, None]
    offsets = np.where(is_face, farthest(vertices, normals)[0], _NO_PLANE)
    sides_of = np.cross(vertices[faces], vertices[np.roll(faces, -1, axis=1)]).reshape(-1, 9)
    planes = np.column_stack([normals, offsets])
    return Facets(vertices, faces, neighbors.reshape(-1, 3), sides_of, planes, center, size)


def shared_volume(a: Facets, b: Facets, rows: Array, point: Array) -> tuple[float, Array] | None:
    """Return volume and centroid of the intersection at pose rows (2, 13), or None if it is too flat for this method.

    ``point`` is in or near the intersection. The point and the centroid are in world coordinates.
    """
    (turn_a, shift_a), (turn_b, shift_b) = parts(rows[0]), parts(rows[1])
    center_a, center_b = turn_a @ a.center + shift_a, turn_b @ b.center + shift_b
    to_b = np.concatenate([(turn_b.T @ turn_a).ravel(), turn_b.T @ (center_a - center_b)])
    size, noise = min(a.size, b.size), max(a.size, b.size, float(np.abs(rows[:, 9:12]).max()))
    room = max(len(a.faces), len(b.faces)) + 8
    corners, homes = max(len(a.vertices), len(b.vertices)), np.empty((3, room), dtype=np.int64)
    out = np.empty(7)
    x, y, z = (turn_b.T @ (point - center_b)).tolist()
    clip_both(
        a, b, tuple(to_b.tolist()), (x, y, z), _SAME_PLANE * noise, np.empty((4, corners)),
        np.empty((corners,), dtype=np.int64), np.empty((8, room)), homes, out,
    )  # fmt: skip
    # the pieces of nearly parallel faces may overlap or have gaps, because rounding moves the line of both planes far
    if not out[0] > 6.0 * _FLAT * size**3 or np.abs(out[4:]).max() > _OPEN * size**2:
        return None
    return float(out[0] / 6.0), point + turn_b @ (out[1:4] / (4.0 * out[0]))


@single_entry
def clip_both(
    a: Facets, b: Facets, to_b: Rigid, origin: tuple[float, float, float], tolerance: float, places: Array2,
    found: Ints1, polygon: Array2, homes: Ints2, out: Array1,
) -> None:  # fmt: skip
    """Write integrals over the surface of the intersection of A and B to ``out``, (7,).

    They are six times the volume, 24 times its first moment about ``origin``, and twice the sum of the area vectors.
    ``to_b`` is the pose of A in B, and ``origin`` and the moment are in the frame of B. ``places``, ``found``,
    ``polygon`` and ``homes`` are scratch. If a face of A and a face of B are in the same plane, only the face of A
    counts.
    """
    m = to_b
    for k in range(7):
        out[k] = 0.0
    shift = (
        -(m[0] * m[9] + m[3] * m[10] + m[6] * m[11]),
        -(m[1] * m[9] + m[4] * m[10] + m[7] * m[11]),
        -(m[2] * m[9] + m[5] * m[10] + m[8] * m[11]),
    )
    _add_clipped(a, m, b, origin, tolerance, places, found, polygon, homes, out)
    moment, area = (out[1], out[2], out[3]), (out[4], out[5], out[6])
    to_a = (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8], shift[0], shift[1], shift[2])
    for k in range(1, 7):
        out[k] = 0.0
    _add_clipped(b, to_a, a, place(to_a, origin), -tolerance, places, found, polygon, homes, out)
    out[1], out[2], out[3] = add(moment, turn(m, (out[1], out[2], out[3])))
    out[4], out[5], out[6] = add(area, turn(m, (out[4], out[5], out[6])))


@kernel
def _height(planes: Array, f: int, p: Vec3) -> float:
    return float(planes[f, 0] * p[0] + planes[f, 1] * p[1] + planes[f, 2] * p[2] - planes[f, 3])


@kernel
def _level(planes: Array, f: int, normal: Vec3, level: float) -> float:
    """Return the height above plane f up to which a point counts as below the plane.

    It is ``level`` if the plane is parallel to a face with this normal, else 0.
    """
    cosine = planes[f, 0] * normal[0] + planes[f, 1] * normal[1] + planes[f, 2] * normal[2]
    return level if abs(cosine) > _PARALLEL else 0.0


@kernel
def _violated(b: Facets, p: Vec3, start: int) -> tuple[float, int]:
    """Return the height of p above the plane of a face of B, negative inside, and the index of this face.

    p is relative to B's centre. The face is the one that the ray from the centre to p hits, or a neighbour of it with a
    greater height. The search starts at the face ``start``. If B has few faces, it is the face of greatest height.
    """
    count = b.faces.shape[0]
    f, steps = start, 0
    most = 0 if count <= _SCANNED else count
    while steps < most:
        steps += 1
        # crossing the edge that separates most takes fewer steps than crossing the first edge that separates
        out, low = -1, 0.0
        for k in range(3):
            side = b.sides[f, 3 * k] * p[0] + b.sides[f, 3 * k + 1] * p[1] + b.sides[f, 3 * k + 2] * p[2]
            if side < low:
                out, low = k, side
        if out < 0:
            # rounding may tilt the plane of a sliver, so its neighbours are tested too
            best, which = _height(b.planes, f, p), f
            for k in range(3):
                height = _height(b.planes, b.neighbors[f, k], p)
                if height > best:
                    best, which = height, b.neighbors[f, k]
            return best, which
        f = b.neighbors[f, out]
    best, which = _height(b.planes, plain(0), p), 0
    for k in range(1, count):
        height = _height(b.planes, k, p)
        if height > best:
            best, which = height, k
    return best, which


@kernel
def _add_clipped(
    a: Facets, m: Rigid, b: Facets, origin: Vec3, level: float, places: Array, found: Ints, polygon: Array, homes: Ints,
    out: Array,
) -> None:  # fmt: skip
    """Add to ``out`` the integrals over the pieces of A's faces, at the pose m in B, that are below every plane of B.

    ``level`` is the height up to which a point counts as below a plane of B that is parallel to the face of A. It is
    negative if faces in a plane of B do not count. The other arguments are those of `clip_both`.
    """
    for i in range(a.vertices.shape[0]):
        places[0, i], places[1, i], places[2, i] = place(m, (a.vertices[i, 0], a.vertices[i, 1], a.vertices[i, 2]))
        found[i] = -1
    used = homes[2]
    for f in range(b.faces.shape[0]):
        used[f] = -1
    last = 0
    for f in range(a.faces.shape[0]):
        normal = turn(m, (a.planes[f, 0], a.planes[f, 1], a.planes[f, 2]))
        for k in range(3):  # the search starts at a face that is known to be near
            if found[a.faces[f, k]] >= 0:
                last = found[a.faces[f, k]]
        is_inside = True
        for k in range(3):
            i = a.faces[f, k]
            if found[i] < 0:
                places[3, i], last = _violated(b, (places[0, i], places[1, i], places[2, i]), last)
                found[i] = last
            is_inside = is_inside and places[3, i] <= min(level, 0.0)
            for j in range(4):
                polygon[j, k] = places[j, i]
            homes[0, k] = found[i]
        count = 3
        if not is_inside:
            count = _clip(b, f, normal, level, polygon, homes, used)
        if count >= 3:
            _add_fan(polygon, count, origin, out)


@kernel
def _clip(
    b: Facets, stamp: int, normal: Vec3, level: float, polygon: Array, homes: Ints, used: Ints
) -> int:  # fmt: skip
    """Clip a triangle by planes of B until no corner violates another plane; return the number of remaining corners.

    Column k of ``polygon`` contains a corner, and its height above the plane of the face homes[0, k] of B. Rows 4 to 7
    of ``polygon`` and row 1 of ``homes`` are scratch. ``used[f]`` is set to ``stamp`` if plane f clipped the triangle.
    """
    count = 3
    while True:
        plane, most = -1, 0.0
        on_surface = level < 0.0
        for k in range(count):
            above = polygon[3, k] - _level(b.planes, homes[0, k], normal, level)
            # a corner that a plane created is on this plane, up to rounding
            if above > most and used[homes[0, k]] != stamp:
                plane, most = homes[0, k], above
            on_surface = on_surface and polygon[3, k] > level
        if plane < 0 and on_surface:
            # every corner may be on an edge of the face of B in the same plane, but the middle is not
            above, middle = _violated(b, _middle(polygon, count), homes[0, 0])
            if above > _level(b.planes, middle, normal, level) and used[middle] != stamp:
                plane = middle
        if plane < 0:
            return count
        used[plane] = stamp
        limit = _level(b.planes, plane, normal, level)
        left = 0
        p = (polygon[0, count - 1], polygon[1, count - 1], polygon[2, count - 1])
        before = _height(b.planes, plane, p) - limit
        for k in range(count):
            q = (polygon[0, k], polygon[1, k], polygon[2, k])
            here = _height(b.planes, plane, q) - limit
            if left + 2 > polygon.shape[1]:  # only rounding makes a polygon with so many corners
                return 0
            if (before > 0.0) != (here > 0.0):
                t = before / (before - here)
                c = (p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2]))
                polygon[4, left], polygon[5, left], polygon[6, left] = c
                polygon[7, left], homes[1, left] = _violated(b, c, plane)
                left += 1
            if not here > 0.0:
                for j in range(4):
                    polygon[4 + j, left] = polygon[j, k]
                homes[1, left] = homes[0, k]
                left += 1
            p, before = q, here
        count = left
        if count < 3:
            return count
        for k in range(count):
            for j in range(4):
                polygon[j, k] = polygon[4 + j, k]
            homes[0, k] = homes[1, k]


@kernel
def _middle(polygon: Array, count: int) -> Vec3:
    x, y, z = 0.0, 0.0, 0.0
    for k in range(count):
        x, y, z = x + polygon[0, k], y + polygon[1, k], z + polygon[2, k]
    return (x / count, y / count, z / count)


@kernel
def _add_fan(polygon: Array, count: int, origin: Vec3, out: Array) -> None:
    """Add volume, moment and area vector of the pyramid from ``origin`` to a polygon to ``out``, see `clip_both`."""
    p = sub((polygon[0, 0], polygon[1, 0], polygon[2, 0]), origin)
    q = sub((polygon[0, 1], polygon[1, 1], polygon[2, 1]), origin)
    for k in range(2, count):
        r = sub((polygon[0, k], polygon[1, k], polygon[2, k]), origin)
        volume, area = dot(p, cross(q, r)), cross(sub(q, p), sub(r, p))
        out[0] += volume
        for j in range(3):
            out[1 + j] += volume * (p[j] + q[j] + r[j])
            out[4 + j] += area[j]
        q = r
