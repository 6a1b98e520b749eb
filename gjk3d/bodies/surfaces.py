"""The surfaces of two things, one a mesh: whether they meet, how far apart they are, whether one is inside the other.

All in the frame of the mesh ``a``; ``m`` is the pose of the other in it, as twelve numbers.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from gjk3d.bodies import traversal
from gjk3d.bodies.bvh import Tree, tree_of
from gjk3d.bodies.inside import inside
from gjk3d.bodies.mesh import Mesh
from gjk3d.convex.boxes import box_round
from gjk3d.convex.pairs import Pairs
from gjk3d.convex.rows import FIRST_POINTS, NO_CACHE, NO_LOG, NO_POSE, scratch
from gjk3d.convex.solve import is_mapped
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.pairs import PAIR, collide_many, solve_many
from gjk3d.poses import IDENTITY, ROUNDING, matrices
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.simplices import Triangle
from gjk3d.typing import Array, Bools, Ints

_CHUNK = 4096
MOST_PAIRS = 2**26  #: of meeting faces that are listed: a gigabyte


class Gap(NamedTuple):
    """How far apart two surfaces are, with the nearest points and the faces that these lie on, -1 for a shape."""

    lower: float
    upper: float
    point_a: Array
    point_b: Array
    faces: tuple[int, int]


def noise(a: Mesh, b: Mesh | Shape, m: Array) -> float:
    """Bound the error of a position of b in a's frame, next to one of a."""
    reach = tree_of(b).reach if isinstance(b, Mesh) else float(np.abs(_bounds(b, _EYE)).max())
    return ROUNDING * (tree_of(a).reach + reach + float(np.abs(m[9:]).max()))


def meet(a: Mesh, b: Mesh | Shape, m: Array) -> bool:
    """Tell whether the surfaces touch or cross, or the mesh lies in the shape: as far as rounding lets one tell."""
    if isinstance(b, Mesh):
        tree, other = tree_of(a), tree_of(b)
        found = np.empty((1, 2), dtype=np.int64)
        return traversal.crossings(tuple(m.tolist()), noise(a, b, m), *tree.arrays, *other.arrays, _stack(), found) > 0
    close = _near(a, b, m, 0.0)
    return any(bool(_hits(tree_of(a).corners[close[k : k + _CHUNK]], b, m).any()) for k in range(0, len(close), _CHUNK))


def meeting_faces(a: Mesh, b: Mesh | Shape, m: Array, most: int | None = None) -> Ints:
    """Return the pairs of faces that touch or cross, in the order of their numbers; of a shape the face is 0.

    With ``most`` no more than about so many, those found first.
    """
    tree = tree_of(a)
    if isinstance(b, Mesh):
        pairs = _crossing_leaves(a, b, m, most)
        pairs = np.column_stack([tree.order[pairs[:, 0]], tree_of(b).order[pairs[:, 1]]])
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    close = _near(a, b, m, 0.0)
    some = [_hits(tree.corners[close[k : k + _CHUNK]], b, m) for k in range(0, len(close), _CHUNK)]
    faces = np.sort(tree.order[close[np.concatenate(some)]]) if some else np.zeros(0, dtype=np.int64)
    return np.column_stack([faces, np.zeros_like(faces)])


def cut(a: Mesh, b: Mesh, m: Array, most: int | None = None) -> Array:
    """Return the segments in which faces cut each other, (k, 2, 3), in a's frame; ``most`` as for `meeting_faces`."""
    pairs = _crossing_leaves(a, b, m, most)
    out = np.empty((len(pairs), 6))
    count = traversal.cuts(tuple(m.tolist()), tree_of(a).corners, tree_of(b).corners, pairs, out)
    return out[:count].reshape(-1, 2, 3)


def gap(a: Mesh, b: Mesh | Shape, m: Array, most: float = inf) -> Gap | None:
    """Return how far apart surfaces that do not meet are, None where that is more than ``most``."""
    most = min(most * (1.0 + 1e-12), 1e150)
    if not isinstance(b, Mesh):
        return _gap_to_shape(a, b, m, most)
    tree, other = tree_of(a), tree_of(b)
    seed, out = np.array([-1, -1], dtype=np.int64), np.empty(8)
    if not traversal.nearest_triangles(
        tuple(m.tolist()), most, *tree.arrays, *other.arrays, _stack(), np.empty(traversal.STACK), seed, out
    ):
        return None
    faces = int(tree.order[seed[0]]), int(other.order[seed[1]])
    error = noise(a, b, m)
    return Gap(max(0.0, float(out[0]) - error), float(out[1]) + error, out[2:5], out[5:8], faces)


def holds(a: Mesh, points: Array) -> Bools:
    """Tell which points, in a's frame, lie inside its closed surface; none where it is open."""
    answer = np.zeros(len(points), dtype=np.int64)
    if len(points) and a.is_watertight:
        tree = tree_of(a.skin)
        error = ROUNDING * (tree.reach + float(np.abs(points).max()))
        inside(np.ascontiguousarray(points), *tree.arrays, error, _stack(), answer)
    found: Bools = answer != 0
    return found


def one_in_other(a: Mesh, b: Mesh | Shape, m: Array) -> int:
    """Tell which holds a body of the other where the surfaces do not meet: 1 for a, 2 for b, 0 for neither."""
    turn, shift = m[:9].reshape(3, 3), m[9:]
    if not isinstance(b, Mesh):  # a mesh in a shape meets it
        return int(a.is_solid and holds(a, (turn @ b.support((1.0, 0.0, 0.0)) + shift)[None]).any())
    if a.is_solid and holds(a, _within_box(a, b.body_points @ turn.T + shift)).any():
        return 1
    if b.is_solid and holds(b, _within_box(b, (a.body_points - shift) @ turn)).any():
        return 2
    return 0


def _within_box(mesh: Mesh, points: Array) -> Array:
    low, high = mesh.bounds
    return np.ascontiguousarray(points[((points >= low) & (points <= high)).all(axis=1)])


def from_points(a: Mesh, points: Array) -> tuple[Array, Array, Ints]:
    """Return the distance of points from a's surface, the nearest places on it, and their faces."""
    out, which = np.empty((len(points), 4)), np.empty(len(points), dtype=np.int64)
    tree = tree_of(a)
    keys = np.empty(traversal.STACK)
    traversal.to_points(np.ascontiguousarray(points), 1e150, *tree.arrays, _stack(), keys, out, which)
    return out[:, 0], out[:, 1:], tree.order[which]


def _stack() -> Ints:
    return np.empty((traversal.STACK, 2), dtype=np.int64)


def _crossing_leaves(a: Mesh, b: Mesh, m: Array, most: int | None = None) -> Ints:
    tree, other = tree_of(a), tree_of(b)
    room, pose, error = min(1024, most or 1024), tuple(m.tolist()), noise(a, b, m)
    while True:
        found = np.empty((room, 2), dtype=np.int64)
        count = traversal.crossings(pose, error, *tree.arrays, *other.arrays, _stack(), found)
        if count <= room or room == most:
            return found[: min(count, room)]
        if room >= MOST_PAIRS:
            raise UnsupportedPair(
                f"more than {MOST_PAIRS} pairs of faces meet, too many to list: thousands lie on each other"
            )
        room = min(8 * room, most or MOST_PAIRS)


# --- a mesh and a convex shape: its triangles are shapes themselves -------------------------------------------------

_EYE = IDENTITY[0, :12]


def _bounds(b: Shape, m: Array) -> Array:
    """Return the lowest and highest corner of a shape at a pose."""
    row = IDENTITY[0].copy()
    row[:12] = m
    return box_round(b, row)


def _box(b: Shape, m: Array) -> Array:
    low, high = _bounds(b, m)
    box = np.zeros((1, 15))
    box[0, :3], box[0, 3:6] = 0.5 * (low + high), 0.5 * (high - low) * (1.0 + 1e-15)
    box[0, [6, 10, 14]] = 1.0
    return box


def _near(a: Mesh, b: Shape, m: Array, reach: float) -> Ints:
    """Return the triangles, as places in the tree, whose boxes come within reach of the shape's box."""
    tree, box = tree_of(a), _box(b, m)
    found = np.empty(1024, dtype=np.int64)
    more = reach + noise(a, b, m)
    while (count := traversal.within(box, more, *tree.arrays, _stack(), found)) > len(found):
        found = np.empty(count, dtype=np.int64)
    return found[:count]


def packed_triangles(corners: Array) -> tuple[Ints, Array]:
    """Return triangles, (n, 9), as the kernels take them: ints that serve every one, and a row of floats each."""
    v = corners.reshape(-1, 3, 3)
    low, high = v.min(axis=1), v.max(axis=1)
    center = low + (high - low) / 2
    near = np.linalg.norm(center, axis=1) <= 2.0 * np.linalg.norm(high - low, axis=1)
    center[near] = 0.0
    local = v - center[:, None]
    head = layout.FLOAT_HEAD
    floats = np.zeros((len(v), head + 9))
    floats[:, layout.CENTER : layout.CENTER + 3] = center
    floats[:, layout.RHO] = np.sqrt((local**2).sum(axis=2).max(axis=1)) * (1.0 + 1e-15)
    floats[:, head:] = local.transpose(0, 2, 1).reshape(len(v), 9)
    return _TRIANGLE, floats


def _arena(corners: Array, b: Shape) -> tuple[Ints, Array, Ints]:
    """Pack triangles and a shape behind them; return ints, floats, and the rows that ask each about the shape."""
    ints, floats = packed_triangles(corners)
    count = len(floats)
    q, f = b._packed
    table = np.zeros((count, PAIR), dtype=np.int64)
    table[:, 1] = np.arange(count) * floats.shape[1]
    table[:, 5], table[:, 6], table[:, 7], table[:, 8] = ints.size, floats.size, 1, 1
    return np.concatenate([ints, q]), np.concatenate([floats.ravel(), f]), table


_TRIANGLE = Triangle([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])._packed[0]


def _poses(m: Array) -> Array:
    rows = np.zeros((2, IDENTITY.shape[1]))
    rows[0], rows[1, :12] = IDENTITY[0], m
    return rows


def _matrices(count: int, m: Array) -> Array:
    """Return the identity for each triangle, and the pose of the shape behind them."""
    return np.concatenate([np.tile(np.eye(4), (count, 1, 1)), matrices(m)[None]])


def _hits(corners: Array, b: Shape, m: Array) -> Bools:
    """Tell which triangles the shape touches."""
    count = len(corners)
    if is_mapped(b):
        pairs = Pairs([*(Triangle(v) for v in corners.reshape(-1, 3, 3)), b])
        return pairs.collide([(k, count) for k in range(count)], _matrices(count, m))
    ints, floats, table = _arena(corners, b)
    answer = np.empty(count, dtype=np.int64)
    poses = _poses(m)
    simplex = scratch(FIRST_POINTS)[2]
    collide_many(ints, floats, table, NO_POSE, NO_POSE, poses, 0.0, 0, count, simplex, answer, NO_CACHE)
    for k in np.flatnonzero(answer == 2):
        answer[k] = not _solved(corners[k : k + 1], b, m)[0][0, 1] > 0.0
    hits: Bools = answer != 0
    return hits


def _solved(corners: Array, b: Shape, m: Array, most: float = inf) -> tuple[Array, Ints]:
    """Return the rows of distance of each triangle from the shape, and their flags."""
    count = len(corners)
    if is_mapped(b):
        pairs = Pairs([*(Triangle(v) for v in corners.reshape(-1, 3, 3)), b])
        answer = pairs.distance([(k, count) for k in range(count)], _matrices(count, m), max_distance=most)
        columns = [answer.distance[:, None], answer.lower[:, None], answer.upper[:, None], answer.normal]
        return np.hstack([*columns, answer.point_a, answer.point_b]), np.zeros((count, narrow.INTS), dtype=np.int64)
    ints, floats, table = _arena(corners, b)
    out, flags = np.empty((count, narrow.FLOATS)), np.zeros((count, narrow.INTS), dtype=np.int64)
    work, room, _ = scratch(FIRST_POINTS)
    solve_many(
        ints, floats, table, NO_POSE, NO_POSE, _poses(m), narrow.UNSIGNED, most, 0.0, 0, count, False, work, room,
        FIRST_POINTS, out, flags, NO_CACHE, NO_LOG,
    )  # fmt: skip
    return out, flags


def touching_point(face: Mesh, b: Shape, m: Array) -> Array:
    """Return a point that one triangle and a shape have in common, in the triangle's frame."""
    point: Array = _solved(tree_of(face).corners, b, m)[0][0, 6:9]
    return point


def _gap_to_shape(a: Mesh, b: Shape, m: Array, most: float) -> Gap | None:
    tree: Tree = tree_of(a)
    low, high = _bounds(b, m)
    # some triangle gives the first bound, the nearest to the middle of the shape's box
    _, _, face = from_points(a, (0.5 * (low + high))[None])
    first = int(np.flatnonzero(tree.order == face[0])[0])
    reach = min(most, float(_solved(tree.corners[first : first + 1], b, m)[0][0, 2]))
    close = _near(a, b, m, reach)
    best: tuple[Array, int] | None = None
    lower = inf
    for k in range(0, len(close), _CHUNK):
        out, _ = _solved(tree.corners[close[k : k + _CHUNK]], b, m, reach)
        lower = min(lower, float(out[:, 1].min()))
        at = int(out[:, 2].argmin())
        if best is None or out[at, 2] < best[0][2]:
            best = out[at], int(close[k + at])
            reach = min(reach, float(out[at, 2]))
    if best is None or best[0][1] > most:
        return None
    row, place = best
    return Gap(min(lower, float(row[2])), float(row[2]), row[6:9], row[9:12], (int(tree.order[place]), -1))
