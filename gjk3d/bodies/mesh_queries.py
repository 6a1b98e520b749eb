"""Meshes in the questions about two shapes, and what only meshes can be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.first_call import first_call
from gjk3d.bodies import surfaces
from gjk3d.bodies.bvh import BOX, tree_of
from gjk3d.bodies.meeting import APART as WIDE
from gjk3d.bodies.meeting import RADIUS, meet_many, root_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_depths import depth, hull_of
from gjk3d.bodies.traversal import APART, BOXES_MEET, MEET, NO_POSE_GIVEN, STACK, relation, roots_relation
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.poses import ROUNDING, WIDTH, relative
from gjk3d.query.ask import MIXED, family_of, question
from gjk3d.query.dispatch import Family, Rows, families
from gjk3d.results import Status
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints, OnePose


def joined(segments: Array, apart: float) -> list[Array]:
    """Return polylines, (k, 3) each, of segments (n, 2, 3) whose ends lie no farther apart than said.

    A closed one ends where it began; three or more ends at one place end all lines there. Longest first.
    """
    if not len(segments):
        return []
    place, points = _places(segments.reshape(-1, 3), apart)
    ends = place.reshape(-1, 2)
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    at: dict[int, list[int]] = {}
    for k, (i, j) in enumerate(ends.tolist()):
        at.setdefault(i, []).append(k)
        at.setdefault(j, []).append(k)
    used = np.zeros(len(ends), dtype=bool)
    lines = []
    # lines with ends first; what is left are rings
    for start in [*(i for i in at if len(at[i]) != 2), *at]:
        for k in at[start]:
            if not used[k]:
                lines.append(points[_walk(start, k, ends, at, used)])
    return sorted(lines, key=lambda line: -float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()))


def _walk(start: int, k: int, ends: Ints, at: dict[int, list[int]], used: Array) -> list[int]:
    """Follow segments from a place by its segment k until a junction, an end, or the beginning."""
    line = [start]
    while True:
        used[k] = True
        i, j = ends[k].tolist()
        line.append(j if line[-1] == i else i)
        if line[-1] == start or len(at[line[-1]]) != 2:
            return line
        k = next(n for n in at[line[-1]] if n != k)


def _places(points: Array, apart: float) -> tuple[Ints, Array]:
    """Return which place each point is at, and a point of each place."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    near = cKDTree(points).query_pairs(apart, output_type="ndarray")
    count = len(points)
    graph = coo_matrix((np.ones(len(near), dtype=np.int8), (near[:, 0], near[:, 1])), shape=(count, count))
    place = connected_components(graph, directed=False)[1].astype(np.int64)
    _, first = np.unique(place, return_index=True)
    return place, points[first]


_TIGHT = 1e-12  #: width that is promised of a distance, in units of the pair's size


def meeting_faces(a: Any, b: Any, pose_a: OnePose = None, pose_b: OnePose = None) -> Ints:
    """Return which faces of two meshes touch or cross, or which faces of a mesh a shape touches.

    Parameters
    ----------
    a, b : Mesh or Shape
        At least one a mesh.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.

    Returns
    -------
    (k, 2) int
        A face of each, in ascending order; 0 for the shape.

    Raises
    ------
    PoseError, UnsupportedPair
        Naming what is wrong with the input.

    Notes
    -----
    A pair that rounding could have brought together counts, so none that meets is missed; degenerate faces count as
    the segments or points that they are.

    Examples
    --------
    >>> import gjk3d as gk
    >>> flat = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1, 2)])
    >>> upright = gk.Mesh([(0.5, 0.5, -1), (0.5, 0.5, 1), (0.5, 3, 0)], [(0, 1, 2)])
    >>> gk.meeting_faces(flat, upright).tolist()
    [[0, 0]]
    """
    first, second, m, turned, _ = _one(a, b, pose_a, pose_b)
    found = surfaces.meeting_faces(first, second, m)
    if turned:
        found = found[:, ::-1]
        found = found[np.lexsort((found[:, 1], found[:, 0]))]
    return found


@overload
def intersection_curve(
    a: Mesh, b: Mesh, pose_a: OnePose = None, pose_b: OnePose = None, *, join: Literal[False] = False
) -> Array: ...
@overload
def intersection_curve(
    a: Mesh, b: Mesh, pose_a: OnePose = None, pose_b: OnePose = None, *, join: bool
) -> Array | list[Array]: ...
def intersection_curve(
    a: Mesh, b: Mesh, pose_a: OnePose = None, pose_b: OnePose = None, *, join: bool = False
) -> Array | list[Array]:
    """Return the segments in which the surfaces of two meshes cut each other.

    Parameters
    ----------
    a, b : Mesh
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.
    join : bool
        Return polylines instead.

    Returns
    -------
    (k, 2, 3) float, or list of (n, 3) float
        The two ends of each segment, in world axes; faces in one plane cut in none. Joined, the longest line is first,
        and a closed one ends where it began.

    Examples
    --------
    >>> import gjk3d as gk
    >>> flat = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1, 2)])
    >>> upright = gk.Mesh([(0.5, 0.5, -1), (0.5, 0.5, 1), (0.5, 3, 0)], [(0, 1, 2)])
    >>> gk.intersection_curve(flat, upright).tolist()
    [[[0.5, 1.5, 0.0], [0.5, 0.5, 0.0]]]
    """
    if not (isinstance(a, Mesh) and isinstance(b, Mesh)):
        raise UnsupportedPair("intersection_curve is of two meshes: both must be gjk3d.Mesh")
    first, second, m, _, row = _one(a, b, pose_a, pose_b)
    assert isinstance(second, Mesh)
    segments = surfaces.cut(first, second, m)
    placed: Array = segments @ row[:9].reshape(3, 3).T + row[9:12]
    if not join:
        return placed
    # both faces of an edge compute where it cuts a face, each with its own rounding
    return joined(placed, 1e4 * surfaces.noise(first, second, m))


def nearest_faces(a: Any, b: Any, pose_a: OnePose = None, pose_b: OnePose = None) -> tuple[int, int]:
    """Return the faces that the nearest points of two meshes lie on, -1 for a shape; some that meet where any do.

    Examples
    --------
    >>> import gjk3d as gk
    >>> strip = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 1, 0), (2, 1, 0)], [(0, 1, 2), (1, 3, 2)])
    >>> gk.nearest_faces(strip, gk.Sphere(0.5), None, [(1, 0, 0, 3), (0, 1, 0, 1), (0, 0, 1, 0), (0, 0, 0, 1)])
    (1, -1)
    """
    first, second, m, turned, _ = _one(a, b, pose_a, pose_b)
    met = surfaces.meeting_faces(first, second, m, 64)
    if len(met):
        faces = (int(met[0, 0]), int(met[0, 1]) if isinstance(second, Mesh) else -1)
    else:
        gap = surfaces.gap(first, second, m)
        assert gap is not None
        faces = gap.faces
    return (faces[1], faces[0]) if turned else faces


def _one(a: Any, b: Any, pose_a: Any, pose_b: Any) -> tuple[Mesh, Mesh | Shape, Array, bool, Array]:
    if not isinstance(a, Mesh) and not isinstance(b, Mesh):
        raise UnsupportedPair(f"neither {type(a).__name__} nor {type(b).__name__} is a mesh: at least one must be")
    _, rows = question(a, b, pose_a, pose_b)
    if rows.stacked:
        raise ShapeError("this is for one pair of poses: pass single ones")
    turned = _turned(a, b)
    if turned:
        a, b, rows = b, a, rows._replace(a=rows.b, b=rows.a)
    if isinstance(b, Halfspace):
        raise UnsupportedPair("a half-space has no faces to meet: ask collide or signed_distance")
    return a, b, relative(rows.a[0], rows.b[0]), turned, rows.a[0]


# --- the family -----------------------------------------------------------------------------------------------------


def _matches(a: Any, b: Any) -> bool:
    if isinstance(a, Mesh) and isinstance(b, Mesh) and a.unit and b.unit and _singular(a.unit) != _singular(b.unit):
        raise UnsupportedPair(
            f"a is in {a.unit} and b in {b.unit}: bring them to one unit, as with mesh.scaled(0.001, unit='meters')"
        )
    return (isinstance(a, Mesh) and isinstance(b, (Mesh, Shape))) or (isinstance(b, Mesh) and isinstance(a, Shape))


def _singular(unit: str) -> str:
    return unit.rstrip("s")


def _key(mesh: Mesh) -> tuple[int, int]:
    if "order" not in mesh._cache:
        mesh._cache["order"] = len(mesh.faces), crc32(mesh.vertices.tobytes(), crc32(mesh.faces.tobytes()))
    key: tuple[int, int] = mesh._cache["order"]
    return key


def _turned(a: Any, b: Any) -> bool:
    """Tell whether the kernels see b first: the mesh, or of two the one that is lower in an order of their content."""
    if isinstance(a, Mesh) and isinstance(b, Mesh):
        return _key(a) > _key(b)
    return not isinstance(a, Mesh)


def _collide(a: Any, b: Any, rows: Rows, margin: float) -> NDArray[np.bool_]:
    if isinstance(a, Halfspace) or isinstance(b, Halfspace):
        hulls = hull_of(a), hull_of(b)
        return family_of(*hulls).collide(*hulls, rows, margin)
    if _turned(a, b):
        a, b, rows = b, a, rows._replace(a=rows.b, b=rows.a)
    if margin == 0.0 and isinstance(b, Mesh):
        one, two = (np.ascontiguousarray(np.broadcast_to(row, (rows.total, WIDTH))) for row in (rows.a, rows.b))
        apart: NDArray[np.bool_] = meet_many(a, b, one, two) == WIDE
        return ~apart
    answer = np.empty(rows.total, dtype=bool)
    for k, m in _each(rows):
        overlap = surfaces.meet(a, b, m) or surfaces.one_in_other(a, b, m) != 0
        if margin > 0.0 and not overlap:
            gap = surfaces.gap(a, b, m, margin)
            overlap = gap is not None and gap.lower <= margin
        elif margin < 0.0 and overlap:
            overlap = -depth(a, b, m).most <= margin
        answer[k] = overlap
    return answer


def _each(rows: Rows) -> Any:
    """Yield the number of each row and the pose of the second in the first's frame."""
    for k in range(rows.total):
        yield k, relative(rows.a[k if len(rows.a) > 1 else 0], rows.b[k if len(rows.b) > 1 else 0])


def _solve(
    a: Any, b: Any, rows: Rows, mode: int, max_distance: float, tol: float, out: Array, flags: Ints, log: Any
) -> None:
    if log is not None:
        raise UnsupportedPair("trace and certificate are of convex shapes: a mesh has none, ask about its hull")
    if isinstance(a, Halfspace) or isinstance(b, Halfspace):
        hulls = hull_of(a), hull_of(b)  # a mesh is as far from a half-space, and as deep in it, as its hull
        family_of(*hulls).solve(*hulls, rows, mode, max_distance, tol, out, flags, None)
        return
    turned = _turned(a, b)
    if turned:
        a, b, rows = b, a, rows._replace(a=rows.b, b=rows.a)
    for k, m in _each(rows):
        row = rows.a[k if len(rows.a) > 1 else 0]
        flags[k] = 0
        flags[k, 0], flags[k, 2] = _answer(a, b, m, mode, max_distance, out[k])
        turn = row[:9].reshape(3, 3)
        out[k, 3:6] = turn @ out[k, 3:6]
        out[k, 6:9], out[k, 9:12] = turn @ out[k, 6:9] + row[9:12], turn @ out[k, 9:12] + row[9:12]
        if turned:
            out[k, 3:6] = 0.0 - out[k, 3:6]
            out[k, 6:12] = out[k, [9, 10, 11, 6, 7, 8]]


def _answer(a: Mesh, b: Mesh | Shape, m: Array, mode: int, max_distance: float, out: Array) -> tuple[int, bool]:
    """Write one answer in a's frame; return its status, and whether its interval is as narrow as promised."""
    error = surfaces.noise(a, b, m)
    size = error / ROUNDING
    if not surfaces.meet(a, b, m) and surfaces.one_in_other(a, b, m) == 0:
        gap = surfaces.gap(a, b, m, max_distance)
        status = Status.SEPARATED
        if gap is None:
            status, gap = Status.BEYOND, surfaces.gap(a, b, m)
            assert gap is not None
        way = gap.point_b - gap.point_a
        length = float(np.linalg.norm(way))
        normal = way / length if length > 0.0 else _EX
        distance = min(max(length, gap.lower), gap.upper)
        out[:3] = distance, gap.lower, gap.upper
        out[3:6], out[6:9], out[9:12] = normal, gap.point_a, gap.point_a + distance * normal
        if not gap.lower > 0.0:
            status = Status.TOUCHING
        return int(status), gap.upper - gap.lower <= max(_TIGHT * size, 4.0 * error)
    if mode == narrow.UNSIGNED:
        place = _common_point(a, b, m)
        out[:3], out[3:6], out[6:9], out[9:12] = 0.0, _EX, place, place
        return int(Status.OVERLAPPING), True
    deep = depth(a, b, m)
    out[:3], out[3:6] = (-deep.most, -deep.most, 0.0 - deep.least), deep.normal
    out[6:9], out[9:12] = deep.place + 0.5 * deep.most * deep.normal, deep.place - 0.5 * deep.most * deep.normal
    narrowly = deep.most - deep.least <= max(_TIGHT * size, 8.0 * error)
    # the surfaces meet, so there is a common point, to rounding; how deep they are besides is another question
    return int(Status.TOUCHING if narrowly and not deep.least > 0.0 else Status.OVERLAPPING), narrowly


_EX = np.array([1.0, 0.0, 0.0])


def _common_point(a: Mesh, b: Mesh | Shape, m: Array) -> Array:
    """Return a point of both, in a's frame."""
    met = surfaces.meeting_faces(a, b, m, 64)
    place: Array
    if not len(met):
        if surfaces.one_in_other(a, b, m) == 1:
            own = b.body_points if isinstance(b, Mesh) else b.support((1.0, 0.0, 0.0))[None]
            own = own @ m[:9].reshape(3, 3).T + m[9:]
            place = own[np.flatnonzero(surfaces.holds(a, own))[0]]
        else:
            place = a.body_points[0]
        return place
    face = Mesh(a.vertices[a.faces[met[0, 0]]], [(0, 1, 2)])
    if not isinstance(b, Mesh):
        place = surfaces.touching_point(face, b, m)
        return place
    other = Mesh(b.vertices[b.faces[met[0, 1]]], [(0, 1, 2)])
    segments = surfaces.cut(face, other, m)
    if len(segments):
        place = segments[0].mean(axis=0)
    else:
        gap = surfaces.gap(face, other, m)
        assert gap is not None
        place = gap.point_a
    return place


_STANDING = np.eye(4)


def _quick(a: Any, b: Any) -> Callable[[Any, Any], bool | None] | None:
    """Return what answers `gjk3d.collide` of two meshes at two matrices, None where the long way must."""
    if not (isinstance(a, Mesh) and isinstance(b, Mesh)):
        return None
    first, second = (b, a) if _turned(a, b) else (a, b)
    tree, other = tree_of(first), tree_of(second)
    reach = tree.reach + other.reach
    rows, stack, found = np.empty((2, WIDTH)), np.empty((STACK, 2), dtype=np.int64), np.empty((1, 2), dtype=np.int64)
    points = first.body_points.copy(), second.body_points.copy()
    arrays = (*tree.arrays, points[0], *other.arrays, points[1], stack, found)
    turned = first is not a
    roots = np.zeros((3, BOX))
    roots[0], roots[1] = tree.boxes[0], other.boxes[0]
    roots[2, :3] = ROUNDING, reach, root_of(first)[RADIUS] + root_of(second)[RADIUS]

    def ask(pose_a: Any, pose_b: Any) -> bool | None:
        one, two = _STANDING if pose_a is None else pose_a, _STANDING if pose_b is None else pose_b
        for pose in (one, two):
            if not (type(pose) is np.ndarray and pose.dtype is _FLOAT and pose.shape == (4, 4) and pose.flags.carray):
                return None
        if turned:
            one, two = two, one
        told = roots_relation(one, two, roots, rows)
        if told == APART:
            return False
        if told == NO_POSE_GIVEN:
            return None
        with first_call("mesh"):
            told = relation(rows, ROUNDING, reach, *arrays)
        if told != BOXES_MEET:
            return bool(told == MEET)
        return surfaces.one_in_other(first, second, relative(rows[0], rows[1])) != 0

    return ask


_FLOAT = np.dtype(np.float64)

families.insert(0, Family(_matches, _solve, _collide, _quick))
MIXED.append(Mesh)
