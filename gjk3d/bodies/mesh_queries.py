"""Meshes in the questions about two shapes: whether they meet, how far apart they are, how deep they overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np

from gjk3d._kernels.first_call import first_call
from gjk3d.bodies import surfaces
from gjk3d.bodies.bvh import BOX, tree_of
from gjk3d.bodies.meeting import APART as WIDE
from gjk3d.bodies.meeting import RADIUS, meet_many, root_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_depths import depth, hull_of
from gjk3d.bodies.traversal import APART, BOXES_MEET, MEET, NO_POSE_GIVEN, STACK, relation, roots_relation
from gjk3d.convex.rows import Rows, Wanted
from gjk3d.convex.solve import way
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.poses import ROUNDING, WIDTH, relative
from gjk3d.results import Status
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Bools, Ints

_TIGHT = 1e-12  #: width that is promised of a distance, in units of the pair's size


def _key(mesh: Mesh) -> tuple[int, int]:
    if "order" not in mesh._cache:
        mesh._cache["order"] = len(mesh.faces), crc32(mesh.vertices.tobytes(), crc32(mesh.faces.tobytes()))
    key: tuple[int, int] = mesh._cache["order"]
    return key


def turned(a: Any, b: Any) -> bool:
    """Tell whether the kernels see b first: the mesh, or of two the one that is lower in an order of their content."""
    if isinstance(a, Mesh) and isinstance(b, Mesh):
        return _key(a) > _key(b)
    return not isinstance(a, Mesh)


def collide_with_plane(a: Any, b: Any, rows: Rows, margin: float) -> Bools:
    """Tell whether a mesh and a half-space meet: the mesh is as far from it, and as deep in it, as its hull."""
    hulls = hull_of(a), hull_of(b)
    return way(*hulls).collide(*hulls, rows, margin)


def solve_with_plane(a: Any, b: Any, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer distances of a mesh and a half-space."""
    check_no_log(wanted)
    hulls = hull_of(a), hull_of(b)
    way(*hulls).solve(*hulls, rows, wanted, out, flags)


def check_no_log(wanted: Wanted) -> None:
    """Raise where steps are asked for: only convex shapes have any."""
    if wanted.log is not None:
        raise UnsupportedPair("trace and certificate are of convex shapes: a mesh has none, ask about its hull")


def collide(a: Any, b: Any, rows: Rows, margin: float) -> Bools:
    """Tell at which rows two meet, one of them a mesh, or come within a margin."""
    if turned(a, b):
        a, b, rows = b, a, rows._replace(a=rows.b, b=rows.a)
    if margin == 0.0 and isinstance(b, Mesh):
        one, two = (np.ascontiguousarray(np.broadcast_to(row, (rows.total, WIDTH))) for row in (rows.a, rows.b))
        apart: Bools = meet_many(a, b, one, two) == WIDE
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


def solve(a: Any, b: Any, rows: Rows, wanted: Wanted, out: Array, flags: Ints) -> None:
    """Answer distances of two of which one is a mesh."""
    check_no_log(wanted)
    swap = turned(a, b)
    if swap:
        a, b, rows = b, a, rows._replace(a=rows.b, b=rows.a)
    for k, m in _each(rows):
        row = rows.a[k if len(rows.a) > 1 else 0]
        flags[k] = 0
        flags[k, 0], flags[k, 2] = _answer(a, b, m, wanted, out[k])
        turn = row[:9].reshape(3, 3)
        out[k, 3:6] = turn @ out[k, 3:6]
        out[k, 6:9], out[k, 9:12] = turn @ out[k, 6:9] + row[9:12], turn @ out[k, 9:12] + row[9:12]
        if swap:
            out[k, 3:6] = 0.0 - out[k, 3:6]
            out[k, 6:12] = out[k, [9, 10, 11, 6, 7, 8]]


def _answer(a: Mesh, b: Mesh | Shape, m: Array, wanted: Wanted, out: Array) -> tuple[int, bool]:
    """Write one answer in a's frame; return its status, and whether its interval is as narrow as promised."""
    error = surfaces.noise(a, b, m)
    size = error / ROUNDING
    if not surfaces.meet(a, b, m) and surfaces.one_in_other(a, b, m) == 0:
        gap = surfaces.gap(a, b, m, wanted.max_distance)
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
    if wanted.mode == narrow.UNSIGNED:
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


def prepare(a: Any, b: Any) -> Callable[[Any, Any], bool | None] | None:
    """Return what answers `gjk3d.collide` of two meshes at two matrices, None where the long way must."""
    if not (isinstance(a, Mesh) and isinstance(b, Mesh)):
        return None
    first, second = (b, a) if turned(a, b) else (a, b)
    tree, other = tree_of(first), tree_of(second)
    reach = tree.reach + other.reach
    rows, stack, found = np.empty((2, WIDTH)), np.empty((STACK, 2), dtype=np.int64), np.empty((1, 2), dtype=np.int64)
    points = first.body_points.copy(), second.body_points.copy()
    arrays = (*tree.arrays, points[0], *other.arrays, points[1], stack, found)
    swap = first is not a
    roots = np.zeros((3, BOX))
    roots[0], roots[1] = tree.boxes[0], other.boxes[0]
    roots[2, :3] = ROUNDING, reach, root_of(first)[RADIUS] + root_of(second)[RADIUS]

    def ask(pose_a: Any, pose_b: Any) -> bool | None:
        one, two = _STANDING if pose_a is None else pose_a, _STANDING if pose_b is None else pose_b
        for pose in (one, two):
            if not (type(pose) is np.ndarray and pose.dtype is _FLOAT and pose.shape == (4, 4) and pose.flags.carray):
                return None
        if swap:
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
