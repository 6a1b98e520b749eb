"""Surfaces and measures of convex shapes.

Surfaces are closed triangle meshes, wound outward, with every vertex on the true surface.

Measures are the smallest enclosing ball, a small oriented box, volume, area and mean curvature.

Points are first recentred and scaled by a power of two to about unit size. Kernels expect directions as (3, n): all x,
then all y, then all z.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gjk3d._kernels.decorators import inlined, kernel, single_entry
from gjk3d.errors import ShapeError
from gjk3d.geometry.hulls import build_hull
from gjk3d.geometry.points import sort_points
from gjk3d.geometry.vec3 import Vec3, along, cross, dot, unit
from gjk3d.typing import Array, Array1, Array2, Ints, Ints1, Ints2

# --- surfaces --------------------------------------------------------------------------------------------------------


class Surface(NamedTuple):
    """A triangle mesh in plain arrays.

    Attributes
    ----------
    vertices : (n, 3) float
        Points in the frame and the unit of the shape or body.
    faces : (m, 3) int
        Triangles as indices of vertices, counter-clockwise seen from outside.
    """

    vertices: Array
    faces: Ints


FINEST = 4096  #: most segments of a full turn, a limit of memory


def sphere(radius: float, resolution: int = 32) -> Surface:
    """Return the mesh of a sphere about the origin. ``resolution`` is the number of segments of a full turn."""
    return ellipsoid((radius, radius, radius), resolution)


def ellipsoid(radii: ArrayLike, resolution: int = 32) -> Surface:
    """Return the mesh of an ellipsoid about the origin, with vertices on circles of latitude about z."""
    vertices, faces = _revolve(_half_circle(resolution), resolution)
    return Surface(vertices * np.asarray(radii, dtype=np.float64), faces)


def capsule(radius: float, height: float, resolution: int = 32) -> Surface:
    """Return the mesh of a capsule along z with its cap centres ``height`` apart."""
    _check(resolution)
    profile = _half_circle(resolution if resolution % 4 == 0 else resolution + 4 - resolution % 4) * radius
    if height > 0.0:
        middle = len(profile) // 2  # the equator of the sphere becomes the two rims of the cylinder
        profile = np.concatenate([profile[: middle + 1], profile[middle:]])
        profile[: middle + 1, 1] -= height / 2
        profile[middle + 1 :, 1] += height / 2
    return _revolve(profile, resolution)


def cylinder(radius: float, height: float, resolution: int = 32) -> Surface:
    """Return the mesh of a cylinder along z, centred at the origin."""
    z = height / 2
    rims = [[radius, -z], [radius, z]] if height > 0.0 else [[radius, 0.0]]
    return _revolve(np.array([[0.0, -z], *rims, [0.0, z]]), resolution)


def cone(radius: float, height: float, resolution: int = 32) -> Surface:
    """Return the mesh of a cone along z, with its base at ``-height / 2`` and its apex at ``height / 2``."""
    z = height / 2
    return _revolve(np.array([[0.0, -z], [radius, -z], [0.0, z]]), resolution)


def box(extents: ArrayLike) -> Surface:
    """Return the mesh of a box about the origin: 8 vertices, 12 triangles."""
    half = 0.5 * np.asarray(extents, dtype=np.float64)
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return Surface(corners * half, _split(quads))


def from_support(support: Callable[[Array], Array], resolution: int = 32) -> Surface:
    """Return the mesh of any bounded convex shape: the hull of its support points.

    The first directions are the vertices of a sphere of this resolution. The next directions are the normals of the
    hull's faces, in up to six rounds. The rounds end when no support point is farther outside the hull than the chord
    error of the resolution. A flat shape gives its polygon on both sides. A segment or a point gives vertices and an
    empty array of faces. ``support`` is a function of (n, 3) directions that returns the (n, 3) farthest points.
    """
    directions = np.concatenate([np.eye(3), -np.eye(3), sphere(1.0, resolution).vertices])
    points = np.ascontiguousarray(support(directions), dtype=np.float64)
    hull = build_hull(points)
    chord = 0.5 * (1.0 - np.cos(np.pi / resolution))
    for _ in range(6):
        triangles = hull.vertices[hull.faces]
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        lengths = np.linalg.norm(normals, axis=1)
        flat = ~(lengths > 0.0)
        normals[~flat] /= lengths[~flat, None]
        normals[flat] = (0.0, 0.0, 1.0)
        if not len(normals):
            break
        extremes = np.asarray(support(normals), dtype=np.float64)
        excess = np.einsum("ij,ij->i", extremes - triangles[:, 0], normals)
        farther = excess > chord * float(np.ptp(hull.vertices, axis=0).max())
        if not farther.any():
            break
        hull = build_hull(np.concatenate([hull.vertices, extremes[farther]]))
    return Surface(hull.vertices, hull.faces)


def _half_circle(resolution: int) -> Array:
    """Return points (rho, z) of a unit half circle, from the south to the north pole, symmetric to the last bit."""
    _check(resolution)
    count = max(2, (resolution + 1) // 2)
    angle = np.pi * (np.arange(count + 1) / count - 0.5)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points[[0, -1], 0] = 0.0
    return np.asarray(0.5 * (points + points[::-1] * (1.0, -1.0)))


def _check(resolution: int) -> None:
    if not isinstance(resolution, Integral) or not 3 <= resolution <= FINEST:
        raise ShapeError(
            f"resolution is {resolution!r}, expected a whole number from 3 to {FINEST}: the segments of a full turn"
        )


def _revolve(profile: Array, resolution: int) -> Surface:
    """Return the surface of revolution of a profile (rho, z) whose first and last points are on the z axis."""
    _check(resolution)
    turn = 2.0 * np.pi * np.arange(resolution) / resolution
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    inner = profile[1:-1]
    rings = np.empty((len(inner), resolution, 3))
    rings[:, :, :2] = inner[:, None, :1] * circle
    rings[:, :, 2] = inner[:, None, 1]
    poles = [(0.0, 0.0, profile[0, 1]), (0.0, 0.0, profile[-1, 1])]
    vertices = np.concatenate([rings.reshape(-1, 3), poles])
    south = len(vertices) - 2
    column = np.arange(resolution)
    next_column = (column + 1) % resolution
    last = (len(inner) - 1) * resolution
    faces = [
        np.stack([np.full(resolution, south), next_column, column], axis=1),
        np.stack([np.full(resolution, south + 1), last + column, last + next_column], axis=1),
    ]
    for start in range(0, last, resolution):
        up = start + resolution
        faces.append(_split(np.stack([start + column, start + next_column, up + next_column, up + column], axis=1)))
    return Surface(vertices, np.concatenate(faces).astype(np.int64))


def _split(quads: Ints) -> Ints:
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int64)


# --- measures --------------------------------------------------------------------------------------------------------


def about_unit_size(points: Array) -> tuple[Array, Array, int]:
    """Return points recentred and scaled by a power of two to about unit size, their former middle, and the exponent.

    The original points are ``middle + points * 2**exponent``.
    """
    top = int(np.frexp(np.abs(points).max())[1])
    local = np.ldexp(points, -top)
    middle = 0.5 * (local.min(axis=0) + local.max(axis=0))
    local = local - middle
    size = int(np.frexp(np.abs(local).max())[1])
    return np.ldexp(local, -size), np.ldexp(middle, top), top + size


_MEMBERS = 5  #: up to four points that determine a ball, and a point to be added
#: relative distance of an edge from the span of the earlier edges, below which the edge counts as in this span
_NO_PLANE = 1e-14
# A smaller value would only cost time, because the radius about each centre is measured. 0 does not define a centre.


def minimal_ball(points: Array) -> tuple[Array, float]:
    """Return the centre and the radius of the smallest ball that contains all points, (n, 3) with n >= 1.

    The radius is rounded up, so that the ball contains all points. Its relative error is about 1e-15. The pivoting is
    that of Gaertner, Fast and robust smallest enclosing balls, ESA 1999. The farthest point is added to the few points
    that determine the ball. All subsets of these points are then searched for the new smallest ball.
    """
    local, origin, exponent = about_unit_size(points)
    center = np.zeros(3)
    pivot(local.reshape(-1), center, np.empty(_MEMBERS, dtype=np.int64))
    ball_center = origin + np.ldexp(center, exponent)
    offsets = np.ldexp(points, -exponent) - np.ldexp(ball_center, -exponent)  # from the centre as it is after rounding
    radius = float(np.sqrt((offsets**2).sum(axis=1).max()))
    return ball_center, float(np.ldexp(radius * (1.0 + 1e-15), exponent))


@single_entry
def pivot(points: Array1, center: Array1, carriers: Ints1) -> None:
    """Write the centre of the smallest ball that contains all points to ``center``, which must be 0 at the start.

    ``points`` are the coordinates of one point after another, (3 n,). ``carriers`` is scratch for five indices.
    """
    count, reached, best = 0, -1.0, inf
    at = (0.0, 0.0, 0.0)
    for _ in range(20 + 4 * (len(points) // 3)):
        far, square = 0, -1.0
        for i in range(len(points) // 3):
            x, y, z = points[3 * i] - at[0], points[3 * i + 1] - at[1], points[3 * i + 2] - at[2]
            distance = x * x + y * y + z * z
            if distance > square:
                far, square = i, distance
        if square < best:
            best = square
            center[0], center[1], center[2] = at
        is_carrier = False
        for k in range(count):
            is_carrier = is_carrier or carriers[k] == far
        if is_carrier or best <= reached:  # no point is outside by more than rounding
            break
        carriers[count] = far
        count, at, radius = _smallest_ball(points, carriers, count + 1)
        if radius <= reached:
            break
        reached = radius


@kernel
def _smallest_ball(points: Array, carriers: Ints, count: int) -> tuple[int, Vec3, float]:
    """Return the smallest ball that contains all of at most five points.

    The first ``count`` entries of ``carriers`` are the indices of these points. Returns the number of points that
    determine the ball, the ball's centre, and its squared radius. The indices of the determining points are moved to
    the front of ``carriers``.
    """
    best, center, chosen = inf, (0.0, 0.0, 0.0), 1
    for size in range(1, 5):
        for subset in range(1, 1 << count):
            if _bits(subset) == size:
                good, middle = _circumcenter(points, carriers, subset)
                if good:
                    reach = 0.0
                    for k in range(count):
                        i = 3 * carriers[k]
                        x, y, z = points[i] - middle[0], points[i + 1] - middle[1], points[i + 2] - middle[2]
                        reach = max(reach, x * x + y * y + z * z)
                    if reach < best:
                        best, center, chosen = reach, middle, subset
    carrier_count = 0
    for k in range(count):
        if chosen >> k & 1:
            carriers[carrier_count] = carriers[k]
            carrier_count += 1
    return carrier_count, center, best


@kernel
def _bits(subset: int) -> int:
    count = 0
    while subset > 0:
        count += subset & 1
        subset >>= 1
    return count


@kernel
def _circumcenter(points: Array, members: Ints, subset: int) -> tuple[bool, Vec3]:
    """Return whether the affine span of a subset of points contains a point at equal distance from all, and this point.

    Bit k of ``subset`` selects the point with index ``members[k]``. The search starts at the first point of the subset.
    For each other point it moves along the component of the edge to this point that is orthogonal to earlier edges.
    """
    first, directions = -1, 0
    middle = corner = first_axis = second_axis = (0.0, 0.0, 0.0)
    for k in range(_MEMBERS):
        if subset >> k & 1:
            i = 3 * members[k]
            if first < 0:
                first = i
                corner = (points[i], points[i + 1], points[i + 2])
                continue
            edge = (points[i] - corner[0], points[i + 1] - corner[1], points[i + 2] - corner[2])
            new = edge
            for _ in range(2):  # the second pass removes the rounding error of the first
                new = along(new, first_axis, -dot(new, first_axis))
                new = along(new, second_axis, -dot(new, second_axis))
            length = sqrt(dot(new, new))
            if not length > _NO_PLANE * sqrt(dot(edge, edge)):
                return False, middle
            new = (new[0] / length, new[1] / length, new[2] / length)
            middle = along(middle, new, (0.5 * dot(edge, edge) - dot(edge, middle)) / dot(edge, new))
            directions += 1
            if directions == 1:
                first_axis = new
            else:
                second_axis = new
    return True, (corner[0] + middle[0], corner[1] + middle[1], corner[2] + middle[2])


NORMALS = 500  #: most face normals that are tried for an oriented box; the largest faces come first
SCANS = 2_000_000  #: limit of the number of normals times the number of vertices
CROSSED = 100  #: most normals of two edges that are tried; directions in which the body is thinnest come first
EDGES = 60  #: most edges for these normals; the longest edges come first
#: most rotations of the best box; for finely meshed curved shapes thousands of rotations would each gain a millionth
TURNS = 60
FLOOR = 1e-13  #: least extent of a box, relative to the greatest, in comparisons: flat boxes are compared by area
#: greatest difference of equal directions; only one of them is tried
_COINCIDENT = 1e-13
_LEVEL = 1e-6  #: sine between two edges, below which the edges count as parallel


def oriented_box(vertices: Array, faces: Ints) -> tuple[Array, Array]:
    """Return the pose and the extents of a small box that contains a convex mesh.

    The columns of the pose's rotation are the axes of the box, and its translation is the centre. The extents are full
    lengths. The box is never larger than the axis-aligned box. ``vertices`` are (n, 3) with n >= 1. ``faces``, (m, 3),
    are the closed surface of the hull, empty for collinear or single vertices.

    A smallest box has a side flush with a face, or two adjacent sides flush with edges (O'Rourke, Finding minimal
    enclosing boxes, 1985). One side of a candidate is therefore on a face, or parallel to two edges. The box is rotated
    about the normal of this side until it is flush with an edge of the outline. The best box is then rotated about each
    of its three axes while the rotation makes the box smaller, at most ``TURNS`` times. At most ``NORMALS`` face
    normals are tried, those of the largest faces. This limit falls to 20 for many thousands of vertices. At most
    ``CROSSED`` normals of two edges are tried. The true smallest box may be slightly smaller.
    """
    local, origin, exponent = about_unit_size(np.ascontiguousarray(vertices))
    axes = np.eye(3)
    areas, normals, count = _candidates(local, np.ascontiguousarray(faces)) if len(faces) else _line(local)
    most = min(count, max(20, min(NORMALS, SCANS // len(local))))
    scratch, index = np.empty((2, len(local))), np.empty((2, 2 * len(local) + 1), dtype=np.int64)
    tried = np.empty((3, normals.shape[1]))
    tightest(local, areas, np.ascontiguousarray(normals), count, most, tried, scratch, index, axes)
    coordinates = local @ axes.T
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    pose = np.eye(4)
    pose[:3, :3] = axes.T
    pose[:3, 3] = origin + np.ldexp(0.5 * (low + high) @ axes, exponent)
    return pose, np.ldexp(high - low, exponent)


def _line(points: Array) -> tuple[Array, Array, int]:
    """Return area vectors, normals to try and the number of face normals, like `_candidates`, for collinear points.

    There are no faces, so the area vectors are (3, 0), and the number is 0. The only normal is orthogonal to the line.
    If all points coincide, there is no normal.
    """
    first = points[(points**2).sum(axis=1).argmax()]
    step = points[((points - first) ** 2).sum(axis=1).argmax()] - first
    normal = np.cross(np.eye(3)[np.abs(step).argmin()], step)
    length = float(np.linalg.norm(normal))
    return np.zeros((3, 0)), (normal / length)[:, None] if length > 0.0 else np.zeros((3, 0)), 0


def _candidates(points: Array, faces: Ints) -> tuple[Array, Array, int]:
    """Return the doubled area vectors of faces (3, m), the normals to try (3, k), and the number of face normals.

    Each normal is tried as an axis of the oriented box. The face normals come first, sorted by decreasing area. Vectors
    that are orthogonal to two edges follow.
    """
    count = len(faces)
    areas, sizes = np.empty((3, count)), np.empty(count)
    edges, lengths = np.empty((3, 3 * count)), np.empty(3 * count)
    edge_count = _sides(points, faces, areas, sizes, edges, lengths)
    order = np.argsort(-sizes, kind="stable")
    order = order[: np.searchsorted(-sizes[order], 0.0)]
    normals = areas[:, order] / sizes[order]
    longest = np.argsort(-lengths[:edge_count], kind="stable")[:EDGES]
    pairs = len(longest) * (len(longest) - 1) // 2
    if points.shape[0] * pairs > SCANS:
        return areas, normals, len(order)
    crossed, widths = np.empty((3, pairs)), np.empty((2, pairs))
    width = widths[0, : _crossings(points, np.ascontiguousarray(edges[:, longest]), crossed, widths)]
    thinnest = np.argpartition(width, CROSSED)[:CROSSED] if len(width) > CROSSED else np.arange(len(width))
    thinnest = thinnest[np.argsort(width[thinnest], kind="stable")]
    return areas, np.concatenate([normals, crossed[:, thinnest]], axis=1), len(order)


@single_entry
def _sides(points: Array2, faces: Ints2, areas: Array2, sizes: Array1, edges: Array2, lengths: Array1) -> int:
    """Write the doubled area vectors of faces to ``areas``, and unit vectors along the edges to ``edges``.

    ``sizes`` gets the lengths of the area vectors, and ``lengths`` those of the edges. Returns the number of edges.
    """
    count = 0
    for k in range(faces.shape[0]):
        for i in range(3):
            j, h = faces[k, i], faces[k, (i + 1) % 3]
            x, y, z = points[h, 0] - points[j, 0], points[h, 1] - points[j, 1], points[h, 2] - points[j, 2]
            length = sqrt(x * x + y * y + z * z)
            if j < h and length > 0.0:  # the other face of an edge has it in the opposite direction
                edges[0, count], edges[1, count], edges[2, count] = x / length, y / length, z / length
                lengths[count] = length
                count += 1
        i, j, h = faces[k, 0], faces[k, 1], faces[k, 2]
        edge_a = (points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2])
        edge_b = (points[h, 0] - points[i, 0], points[h, 1] - points[i, 1], points[h, 2] - points[i, 2])
        n = cross(edge_a, edge_b)
        areas[0, k], areas[1, k], areas[2, k] = n
        sizes[k] = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    return count


@single_entry
def _crossings(points: Array2, edges: Array2, normals: Array2, widths: Array2) -> int:
    """Write a unit vector orthogonal to each pair of edges that are not parallel, and return the number of vectors.

    The vectors are written to ``normals``, and the extents of the points along the vectors to ``widths[0]``.
    """
    count = 0
    for i in range(edges.shape[1]):
        edge = (edges[0, i], edges[1, i], edges[2, i])
        for j in range(i):
            n = cross((edges[0, j], edges[1, j], edges[2, j]), edge)
            sine = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
            if sine > _LEVEL:
                normals[0, count], normals[1, count], normals[2, count] = n[0] / sine, n[1] / sine, n[2] / sine
                widths[0, count], widths[1, count] = inf, -inf
                count += 1
    low, high = widths[0], widths[1]
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        for k in range(count):
            along = normals[0, k] * x + normals[1, k] * y + normals[2, k] * z
            low[k] = min(low[k], along)
            high[k] = max(high[k], along)
    for k in range(count):
        low[k] = high[k] - low[k]
    return count


@single_entry
def tightest(
    points: Array2, areas: Array2, normals: Array2, faces: int, most: int, tried: Array2, flat: Array2, index: Ints2,
    axes: Array2,
) -> None:  # fmt: skip
    """Write the axes of the smallest box into the rows of ``axes``, which contain a rotation at the start.

    The columns of ``normals`` are tried as axes, without repeats. The first ``faces`` of them are face normals, and at
    most ``most`` of these are tried. ``areas`` are the doubled area vectors of the faces. ``tried``, ``flat`` and
    ``index`` are scratch.
    """
    least = _floored(
        _width(points, (axes[0, 0], axes[0, 1], axes[0, 2])),
        _width(points, (axes[1, 0], axes[1, 1], axes[1, 2])),
        _width(points, (axes[2, 0], axes[2, 1], axes[2, 2])),
    )
    count = 0
    for k in range(normals.shape[1]):
        z = (normals[0, k], normals[1, k], normals[2, k])
        if (k < faces and count >= most) or _was_tried(tried, count, z):
            continue
        tried[0, count], tried[1, count], tried[2, count] = z
        count += 1
        height = _width(points, z)
        # the area of the outline times the height is a lower bound of the volume of every box with axis z
        if height * _projected_area(areas, z) <= least:
            cost, x = _flush(points, z, height, flat, index)
            if cost < least * (1.0 - 1e-12):
                least = cost
                _put_axes(axes, x, z)
    axis = 0
    for _ in range(TURNS):
        if axis == 3:  # no rotation about one of the three axes made the box smaller
            return
        # axes are computed from earlier axes, so without `unit` the error of their length would double at each gain
        z = unit((axes[axis, 0], axes[axis, 1], axes[axis, 2]))
        cost, x = _flush(points, z, _width(points, z), flat, index)
        axis += 1
        if cost < least * (1.0 - 1e-9):
            least = cost
            axis = 0
            _put_axes(axes, x, z)


@inlined
def _put_axes(axes: Array, x: Vec3, z: Vec3) -> None:
    y = cross(z, x)
    axes[0, 0], axes[0, 1], axes[0, 2] = x
    axes[1, 0], axes[1, 1], axes[1, 2] = y
    axes[2, 0], axes[2, 1], axes[2, 2] = z


@kernel
def _was_tried(tried: Array, count: int, z: Vec3) -> bool:
    """Return whether one of the first ``count`` columns of ``tried`` is z or -z, up to rounding."""
    for k in range(count):
        x, y, w = tried[0, k], tried[1, k], tried[2, k]
        if abs(x - z[0]) <= _COINCIDENT and abs(y - z[1]) <= _COINCIDENT and abs(w - z[2]) <= _COINCIDENT:
            return True
        if abs(x + z[0]) <= _COINCIDENT and abs(y + z[1]) <= _COINCIDENT and abs(w + z[2]) <= _COINCIDENT:
            return True
    return False


@kernel
def _width(points: Array, d: Vec3) -> float:
    """Return the extent of points along the unit vector d."""
    low, high = inf, -inf
    for i in range(points.shape[0]):
        along = points[i, 0] * d[0] + points[i, 1] * d[1] + points[i, 2] * d[2]
        low = min(low, along)
        high = max(high, along)
    return high - low


@kernel
def _projected_area(areas: Array, z: Vec3) -> float:
    """Return the area of the projection of a convex body along z. ``areas`` are the doubled area vectors of faces."""
    total = 0.0
    for k in range(areas.shape[1]):
        total += abs(areas[0, k] * z[0] + areas[1, k] * z[1] + areas[2, k] * z[2])
    return 0.25 * total


@kernel
def _floored(x: float, y: float, z: float) -> float:
    """Return the volume of a box with extents x, y and z. Small extents are raised to `FLOOR` times the greatest."""
    least = FLOOR * max(x, y, z)
    return max(x, least) * max(y, least) * max(z, least)


@kernel
def _across(z: Vec3) -> tuple[Vec3, Vec3]:
    """Return two unit vectors that form a right-handed basis with z."""
    ax, ay, az = abs(z[0]), abs(z[1]), abs(z[2])
    if ax <= ay and ax <= az:
        length = sqrt(z[1] * z[1] + z[2] * z[2])
        x = (0.0, -z[2] / length, z[1] / length)
    elif ay <= az:
        length = sqrt(z[0] * z[0] + z[2] * z[2])
        x = (z[2] / length, 0.0, -z[0] / length)
    else:
        length = sqrt(z[0] * z[0] + z[1] * z[1])
        x = (-z[1] / length, z[0] / length, 0.0)
    return x, cross(z, x)


@kernel
def _flush(points: Array, z: Vec3, height: float, flat: Array, index: Ints) -> tuple[float, Vec3]:
    """Return the volume and the x axis of the smallest box with axis z that is flush with an edge of the outline.

    The outline is the hull of the points projected along z. ``height`` is the extent of the points along z. ``flat``
    and ``index`` are scratch.
    """
    x, y = _across(z)
    for i in range(points.shape[0]):
        flat[0, i] = points[i, 0] * x[0] + points[i, 1] * x[1] + points[i, 2] * x[2]
        flat[1, i] = points[i, 0] * y[0] + points[i, 1] * y[1] + points[i, 2] * y[2]
    sort_points(flat, flat.shape[1], index[0])
    best, c, s = _calipers(flat, index[1], _outline(flat, index), height)
    return best, (c * x[0] + s * y[0], c * x[1] + s * y[1], c * x[2] + s * y[2])


@inlined
def _turn(flat: Array, i: int, j: int, k: int) -> float:
    ax, ay = float(flat[0, j] - flat[0, i]), float(flat[1, j] - flat[1, i])
    return ax * float(flat[1, k] - flat[1, i]) - ay * float(flat[0, k] - flat[0, i])


@kernel
def _outline(flat: Array, index: Ints) -> int:
    """Write the indices of the corners of the hull of planar points to ``index[1]``; return the number of corners.

    ``flat`` contains the points (2, n), and ``index[0]`` their sorted order (Andrew's monotone chain). The corners are
    counter-clockwise.
    """
    n = flat.shape[1]
    corners = index[1]
    count = 0  # by rounding a point may be a corner of the lower and of the upper chain
    for i in range(n):
        k = index[0, i]
        while count >= 2 and _turn(flat, corners[count - 2], corners[count - 1], k) <= 0.0:
            count -= 1
        corners[count] = k
        count += 1
    below = count + 1
    for i in range(n - 2, -1, -1):
        k = index[0, i]
        while count >= below and _turn(flat, corners[count - 2], corners[count - 1], k) <= 0.0:
            count -= 1
        corners[count] = k
        count += 1
    return max(1, count - 1)  # the first corner is repeated


@kernel
def _calipers(flat: Array, corners: Ints, count: int, height: float) -> tuple[float, float, float]:
    """Return the least volume of a box of this height flush with an edge of a polygon, and this edge's unit direction.

    ``flat`` contains points (2, n). The first ``count`` of ``corners`` are the indices of the polygon's corners.
    """
    best, best_c, best_s = _floored(0.0, 0.0, height), 1.0, 0.0
    if count > 1:
        best = inf
    for i in range(count):
        a, b = corners[i], corners[(i + 1) % count]
        c, s = flat[0, b] - flat[0, a], flat[1, b] - flat[1, a]
        length = sqrt(c * c + s * s)
        if not length > 0.0:
            continue
        c, s = c / length, s / length
        # every corner is checked, since rotating calipers are not reliable for a polygon as thin as rounding
        left, right, low, high = inf, -inf, inf, -inf
        for j in range(count):
            x, y = flat[0, corners[j]], flat[1, corners[j]]
            along, across = c * x + s * y, c * y - s * x
            left, right, low, high = min(left, along), max(right, along), min(low, across), max(high, across)
        cost = _floored(right - left, high - low, height)
        if cost < best:
            best, best_c, best_s = cost, c, s
    return best, best_c, best_s


def steiner_volume(volume: float, area: float, mean_curvature: float, radius: float) -> float:
    """Return the volume of a convex body inflated by ``radius``, by Steiner's formula.

    The surface area of a flat body includes both sides. ``mean_curvature`` is the integral of the mean curvature. For a
    polytope it is half the sum of edge length times exterior angle.
    """
    return volume + radius * (area + radius * (mean_curvature + radius * 4.0 / 3.0 * np.pi))


_RESOLUTION = 192  #: segments of a full turn; with these the volume of a sphere is too small by 0.02 %
_ROUNDS = 6  #: most rounds that add support points along the normals of faces


class Measures(NamedTuple):
    """Volume, surface area, and integrated mean curvature, the inputs of Steiner's formula."""

    volume: float
    area: float
    curvature: float


def measured(support: Callable[[Array], Array]) -> Measures:
    """Return the measures of the hull of a shape's support points.

    The directions are the vertices of a fine sphere, then the normals of the hull's faces. ``support`` is a function of
    (n, 3) directions that returns the (n, 3) farthest points. scipy computes the hull, because the hull of
    `gjk3d.geometry` would also check every face with every point. This check takes half a minute for 18 000 points, and
    changes a volume only by rounding.
    """
    from scipy.spatial import ConvexHull, QhullError

    directions = np.concatenate([np.eye(3), -np.eye(3), sphere(1.0, _RESOLUTION).vertices])
    points = np.array(support(directions), dtype=np.float64)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    scale = float(np.abs(points - middle).max()) or 1.0
    points = (points - middle) / scale
    chord = 1.0 - np.cos(np.pi / _RESOLUTION)  # greatest distance of the faces of the fine sphere from the unit sphere
    try:
        hull = ConvexHull(points)
        for _ in range(_ROUNDS):
            normals, offsets = hull.equations[:, :3], hull.equations[:, 3]
            extremes = (np.asarray(support(np.ascontiguousarray(normals))) - middle) / scale
            farther = np.einsum("ij,ij->i", extremes, normals) + offsets > chord
            if not farther.any():
                break
            points = np.concatenate([points[hull.vertices], extremes[farther]])
            hull = ConvexHull(points)
    except QhullError:  # the points are coplanar
        flat = build_hull(np.ascontiguousarray(points))
        volume, area, curvature = flat.volume, flat.area, flat.mean_curvature
    else:
        volume, area, curvature = hull.volume, hull.area, _curvature(points, hull)
    return Measures(float(volume) * scale**3, float(area) * scale**2, float(curvature) * scale)


def _curvature(points: Array, hull: Any) -> float:
    """Return the integrated mean curvature of a hull: half the sum of length times exterior angle over the edges."""
    faces, neighbours = hull.simplices, hull.neighbors
    normals = hull.equations[:, :3]
    total = 0.0
    for k in range(3):  # the edge opposite corner k; each edge is counted once for each of its two faces
        edge = points[faces[:, (k + 1) % 3]] - points[faces[:, (k + 2) % 3]]
        across = normals[neighbours[:, k]]
        sine = np.linalg.norm(np.cross(normals, across), axis=1)
        angle = np.arctan2(sine, np.einsum("ij,ij->i", normals, across))
        total += float(np.linalg.norm(edge, axis=1) @ angle)
    return 0.25 * total
