"""Depth of two bodies: the least translation that separates them, between proven bounds.

Directions are searched upwards from the lower bound, since a free interval may be narrow: a bolt in a hole is free only
within its clearance. The last obstacle along a direction is a wall. The least vector beyond all walls so far is the
next candidate, as in the cutting-plane methods of convex programming.

For a mesh and a polytope, a best-first branch and bound comes first. For each triangle that it overlaps, the polytope
has to pass one of the planes that separate it from the triangle. After the least translation beyond some planes, the
deepest overlapping triangle adds a branch for each of its candidate planes (Land and Doig, An Automatic Method of
Solving Discrete Programming Problems, 1960). Only a few planes per triangle are candidates, so the result is an upper
bound.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.base import Parts, PartTree
from gjk3d.bodies.body_pair import BodyPair, MeshPair
from gjk3d.bodies.bvh import head_of
from gjk3d.bodies.depth.inside import COLUMNS, SAMPLED
from gjk3d.bodies.depth.partings import (
    PLANE,
    PLANES,
    POINT,
    SINGLE,
    N,
    SearchScratch,
    Sides,
    deeper,
    find_deepest,
    is_blocked,
    listed,
    may_collide,
    outward_at,
    overlapping_first,
    past,
    past_all,
    shifted,
    solve_remaining,
)
from gjk3d.bodies.depth.points import (
    FOUND_ROWS,
    INNER,
    SAME_WAY,
    Surface,
    grow_balls,
    innermost,
    look_at_points,
    look_closer,
    outward_normals,
    point_scratch,
    surface_of,
    unit_directions,
    with_points_near,
)
from gjk3d.bodies.facets import GivenSolids, Solid, separating_directions, solid_in, solids_of, with_scratch
from gjk3d.bodies.grids import Prisms
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.parts import PlacedParts, Triangles, complete
from gjk3d.bodies.touching_bodies import ball_in
from gjk3d.bodies.tree_collision import (
    HELD,
    PosedPair,
    PoseRows,
    TreeScratch,
    held,
    list_parts,
    parts_at,
    tree_scratch,
    two_at,
)
from gjk3d.bodies.triangles import common_of, placed_triangle, read, set_vec, vec_at
from gjk3d.convex.batch import in_chunks
from gjk3d.convex.solve import signed
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3, add, dot, neg, row3, scale, sub, turn
from gjk3d.narrow.solve import FLOATS, UNSIGNED, solve
from gjk3d.narrow.workspace import per_thread
from gjk3d.poses import IDENTITY, ROUNDING, matrices, moved
from gjk3d.shapes import layout
from gjk3d.shapes.base import Polytope
from gjk3d.typing import Array, Array2, Ints1

#: columns of a result: the bounds of the depth, the unit vector of the translation, a common point, all in A's frame
LEAST, MOST, NORMAL, PLACE = 0, 1, 2, 5
#: further columns of a search: the normal of the best translation's last wall and the distance along it, the numbers of
#: directions that were tried and followed, and the number of pairs of parts that may block a direction
WALL, FAR, TRIED, FOLLOWED, BLOCKING = 8, 11, 12, 13, 14
STATE = 15  #: number of columns
SAMPLES, LOOKS = 256, 512  #: most vertices of each body that are tested first, and most points of the closer search
LOOKED_AT = 4096  #: greatest number of intersecting pairs of parts whose depth is computed
TRIES = 96  #: greatest number of directions
TURNS = 6  #: greatest number of consecutive directions in `_follow`
_BRANCHES = 4  #: greatest number of translations of branches that are tried
_FOLLOWED = 2  #: number of directions from which `_follow` starts, in addition to the best
_BY_FACES, _BY_PARTS = 12, 16  #: greatest number of directions that are tried for two meshes, and for other bodies
_CROSSING = 512  #: greatest number of intersecting pairs of triangles whose normals are candidates
_FACES, _DIFFERENT = 16, 8  #: greatest number of pairs of faces, and of parts, whose normals are candidates
_TIGHT = 1e-3  #: relative width of bounds at which a translation is not shortened
_CLOSE = 1e-2  #: relative width of bounds at which the search ends
_SLIT = 4e-9  #: width of a gap that does not count as free, in units of the size
_WORTH = 1e-4  #: least relative improvement of a depth for which a direction is tried
NODES = 64  #: greatest number of stored branches
WALLS = 6  #: greatest number of walls of a branch
CANDIDATES = 4  #: greatest number of planes of a pair that add branches
LENGTH, COUNT, FIRST_WALL = 0, 1, 2  #: columns of a branch: length of its translation (inf once expanded), walls
NODE = FIRST_WALL + 4 * WALLS
_NEAR = 512  #: greatest number of pairs of parts that are tested after the translation of a branch
_PAST_WALL = 1e-3  #: share of a wall's distance by which a translation may fall short of the wall
_TOUCHING = 8.0  #: overlap that does not count, in units of the error of positions
_CHUNK = 64  #: rows per call of the kernels
_SAME_DEPTH = 1e-6  #: relative excess of the hulls' depth for bodies that are convex up to a slack
_NO_SOLIDS = solids_of([])


class Depth(NamedTuple):
    """Bounds of the depth. A translation of b by ``most`` along ``normal``, in a's frame, separates the bodies."""

    least: float
    most: float
    normal: Array
    place: Array  #: a point of both bodies, or the midpoint of their deepest points, which differ by the depth


class DepthBodies(NamedTuple):
    """Two bodies in the forms that the search needs."""

    a: PartTree
    b: PartTree
    skin: PartTree  #: the body that is moved: B, or the faces of a polytope
    surface_a: Surface
    surface_skin: Surface
    outward_a: Array2  #: normals of parts, see `outward_normals`
    outward_b: Array2
    outward_skin: Array2
    meshes: bool  #: whether both bodies are meshes
    skins: bool  #: whether A and the skin are meshes


class Search(NamedTuple):
    """The state of a search, and the pair of bodies as convex parts."""

    state: Array
    parts: PosedPair
    solid: Solid  #: B if it is a polytope and A is a mesh, otherwise empty


# branches of a mesh and a polytope ----------------------------------------------------------------------------------


@kernel
def _least_past(nodes: Array, k: int, walls: Array) -> tuple[Vec3, float]:
    """Return the least translation beyond the walls of branch k, and its length, or inf if none was found.

    A wall is a plane that B has to pass.
    """
    count = int(nodes[k, COUNT])
    for i in range(count):
        for c in range(4):
            walls[i, c] = nodes[k, FIRST_WALL + 4 * i + c]
    by = past_all(walls, count)
    for i in range(count):
        if dot(row3(walls, i), by) < walls[i, 3] - _PAST_WALL * abs(walls[i, 3]):
            return by, inf
    return by, sqrt(dot(by, by))


@kernel
def _nearest(nodes: Array, count: int, most: float) -> int:
    """Return the index of the branch with the shortest translation, -1 if no translation is shorter than ``most``."""
    best = -1
    for k in range(count):
        if nodes[k, LENGTH] < most:
            best, most = k, nodes[k, LENGTH]
    return best


@kernel
def _branch_to(nodes: Array, count: int, k: int, n: Vec3, far: float, walls: Array, most: float) -> int:
    """Add a branch that has the walls of branch k and the wall (n, far), and return the number of branches.

    A wall is a plane with normal n that B has to pass by a translation of at least ``far`` along n. The branch is added
    only if its translation is shorter than ``most``.
    """
    wall_count = int(nodes[k, COUNT])
    if count == nodes.shape[0] or wall_count == WALLS:
        return count
    for c in range(FIRST_WALL + 4 * wall_count):
        nodes[count, c] = nodes[k, c]
    at = FIRST_WALL + 4 * wall_count
    set_vec(nodes[count], at, n)
    nodes[count, at + 3], nodes[count, COUNT] = far, wall_count + 1.0
    _, nodes[count, LENGTH] = _least_past(nodes, count, walls)
    return count + 1 if nodes[count, LENGTH] < most else count


@kernel
def next_parting(x: PosedPair, s: Sides, solid: Solid, count: int, most: float) -> tuple[Vec3, int]:
    """Expand branches until the translation of one frees B of all triangles; return it, and the number of branches.

    The translation is zero if no branch has a translation shorter than ``most``. ``x`` is the pair of bodies as convex
    parts, and B is the polytope ``solid``.
    """
    nodes, walls, results, directions = s.r.nodes, s.r.walls, s.r.depths, s.r.directions
    while True:
        # best-first search: the first branch without overlap has the least translation of all open branches
        k = _nearest(nodes, count, most)
        if k < 0:
            return (0.0, 0.0, 0.0), count
        by, length = _least_past(nodes, k, walls)
        nodes[k, LENGTH] = inf
        moved = shifted(x, by)
        pairs = min(list_parts(moved, 0.0, False, s.w, s.pairs[:_NEAR]), _NEAR)
        direction = scale(1.0 / length, by) if length > 0.0 else (0.0, 0.0, 1.0)
        best, _ = find_deepest(moved, s.pairs, pairs, direction, s.w, results)
        if best < 0 or -results[best, 0] <= _TOUCHING * x.error:
            return by, count
        for i in range(separating_directions(moved, s.pairs[best, 0], solid, directions)):
            n = row3(directions, i)
            # the addition prevents a touch by rounding; the next translation is tested, so it need not be a bound
            far = dot(n, by) - directions[i, 3] + _TOUCHING * x.error
            count = _branch_to(nodes, count, k, n, far, walls, most)


# directions ---------------------------------------------------------------------------------------------------------


@inlined
def _within(relative: float, error: float, state: Array) -> bool:
    """Return whether the upper bound exceeds the lower bound by at most a relative width and rounding."""
    return bool(state[MOST] <= state[LEAST] * (1.0 + relative) + 16.0 * error)


@kernel
def _try(x: PosedPair, s: Sides, d: Search, direction: Vec3) -> tuple[bool, float]:
    """Try a direction; return whether a translation along it separates the bodies.

    The second value is the component of this translation along the normal of the last wall, the last plane that B
    passes. A translation that is shorter than the best replaces the best.
    """
    state, wall = d.state, s.r.wall
    set_vec(s.r.tried[int(state[TRIED])], 0, direction)
    state[TRIED] += 1.0
    moved = shifted(d.parts, scale(state[MOST], direction))
    # a quick rejection: convex pairs that overlap at both ends block the whole translation
    if is_blocked(moved, s.r.part_pairs, int(state[BLOCKING]), direction, s.w, s.r.spans):
        return False, 0.0
    free, by = past(x, s, direction, state[LEAST], state[MOST], wall)
    if not free:
        return False, 0.0
    far, length = dot(vec_at(wall, 0), by), sqrt(dot(by, by))
    slit = scale(_SLIT * x.error / ROUNDING, direction)  # a position that is free only in a narrow slit is not free
    # `past` already adds three times the noise; the error covers the rounding of the length
    if length + x.error < state[MOST] and not may_collide(shifted(x, add(by, slit)), s):
        state[MOST] = length + x.error
        set_vec(state, NORMAL, scale(1.0 / length, by) if length > 0.0 else direction)
        set_vec(state, WALL, vec_at(wall, 0))
        state[FAR] = far
    return True, far


@kernel
def _follow(x: PosedPair, s: Sides, d: Search, direction: Vec3, has_wall: bool, far: float) -> None:
    """Try the direction of the least vector beyond all walls so far, repeatedly. Each try adds a wall.

    A wall is a plane that B has to pass. ``s.r.wall`` has the normal of the first wall, and ``far`` is the distance
    that B has to move along this normal. Without ``has_wall``, the first wall is at the deepest point after B is moved
    along ``direction`` by the lower bound.
    """
    by = scale(d.state[LEAST], direction)
    for k in range(TURNS):
        if not has_wall:
            has_wall, far = deeper(x, s, by, direction, s.r.wall)
        if not has_wall or _within(_TIGHT, x.error, d.state) or d.state[TRIED] >= TRIES:
            return
        set_vec(s.r.walls[k], 0, vec_at(s.r.wall, 0))
        s.r.walls[k, 3] = far
        by = past_all(s.r.walls, k + 1)
        length = sqrt(dot(by, by))
        if not x.error < length < d.state[MOST] * (1.0 - _WORTH):
            return
        direction = scale(1.0 / length, by)
        has_wall, far = _try(x, s, d, direction)


@kernel
def _is_new(direction: Vec3, directions: Array, start: int, stop: int) -> bool:
    """Return whether no direction from ``start`` to ``stop - 1`` is similar to ``direction``."""
    for k in range(start, stop):  # noqa: SIM110, a generator does not compile
        if dot(direction, row3(directions, k)) >= SAME_WAY:
            return False
    return True


@kernel
def _go(x: PosedPair, s: Sides, d: Search, todo: Array, count: int, most: int) -> None:
    """Try directions in order, at most ``most`` new ones, and continue the search (`_follow`) from the first few."""
    left = most
    for k in range(count):
        if left == 0 or _within(_CLOSE, x.error, d.state) or d.state[TRIED] >= TRIES:
            return
        direction = row3(todo, k)
        if not _is_new(direction, s.r.tried, 0, int(d.state[TRIED])):
            continue
        left -= 1
        has_wall, far = _try(x, s, d, direction)
        if d.state[FOLLOWED] < _FOLLOWED:
            d.state[FOLLOWED] += 1.0
            _follow(x, s, d, direction, has_wall, far)


@kernel
def _add(todo: Array, count: int, direction: Vec3) -> int:
    """Append a nonzero direction as a unit vector, and return the length of the list."""
    length = sqrt(dot(direction, direction))
    if not length > NO_LENGTH:
        return count
    set_vec(todo[count], 0, scale(1.0 / length, direction))
    return count + 1


@kernel
def _add_normals(x: PosedPair, s: Sides, pairs: int, count: int) -> int:
    """Append the sum of the normals of intersecting faces, and the normals of some pairs, to the directions to try.

    Return the length of the list.
    """
    total, todo = (0.0, 0.0, 0.0), s.r.todo
    for k in range(pairs):
        u, v = outward_at(s.outward_a, s.pairs[k, 0]), turn(x.m, outward_at(s.outward_b, s.pairs[k, 1]))
        total = add(total, sub(u, v))
    count = _add(todo, count, total)
    some = min(_FACES, pairs)
    for i in range(some):
        k = i * (pairs - 1) // max(1, some - 1)
        count = _add(todo, count, outward_at(s.outward_a, s.pairs[k, 0]))
        count = _add(todo, count, neg(turn(x.m, outward_at(s.outward_b, s.pairs[k, 1]))))
    return count


@kernel
def _add_different(todo: Array, results: Array, pairs: int, count: int) -> int:
    """Append the normals of a few pairs of parts, deepest first, without similar ones; return the list's length."""
    first = count
    for _ in range(_DIFFERENT):
        best, deepest = -1, inf
        for k in range(pairs):
            # similar directions give similar translations, and each trial is a full collision query
            if results[k, 2] < deepest and _is_new(vec_at(results[k], N), todo, first, count):
                best, deepest = k, results[k, 2]
        if best < 0:
            break
        count = _add(todo, count, vec_at(results[best], N))
    return count


@kernel
def _plan(x: PosedPair, s: Sides, d: Search, pairs: int, parted: int) -> int:
    """Write directions to try (``s.r.todo``): normals of hulls, parts and faces, and the axes; return their number."""
    todo, results = s.r.todo, s.r.depths
    count = _add(todo, plain(0), vec_at(d.state, NORMAL))
    weighted, total = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(parted):
        n = vec_at(results[k], N)
        weighted, total = add(weighted, scale(max(-results[k, 0], 0.0), n)), add(total, n)
    count = _add(todo, _add(todo, count, weighted), total)
    if s.a.solid or s.b.solid or parted == 0:
        count = _add_normals(x, s, pairs, count)
    # the axes are cheap candidates, and exact for parts that are aligned with them
    if parted > 0:
        count = _add_different(todo, results, parted, count)
        for c in range(3):
            axis = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
            count = _add(todo, _add(todo, count, axis), neg(axis))
    return count


@kernel
def _common(x: PosedPair, s: Sides) -> Vec3:
    """Return a common point of the first intersecting pair, or a point of one body inside the other, or NaN."""
    if listed(x, s, SINGLE) == 0:
        return vec_at(s.w.out[0], POINT) if held(x, s.w) == HELD else (nan, nan, nan)
    if s.faces:
        return common_of(read(x.a.places, s.pairs[0, 0]), placed_triangle(x.m, x.b.places, s.pairs[0, 1]))
    return _common_of(x, s, plain(0))


@kernel
def _common_of(x: PosedPair, s: Sides, k: int) -> Vec3:
    c = parts_at(x, s.pairs[k, 0], s.pairs[k, 1], s.w)
    solve(c, UNSIGNED, inf, 0.0, s.w.workspace, s.w.workspace.simplex[:0], s.w.out, s.w.flags, 0)
    return vec_at(s.w.out[0], POINT)


@kernel
def _by_parts(
    x: PosedPair, by_faces: PosedPair, s: Sides, all_of: Sides, d: Search, has_place: bool
) -> tuple[bool, bool, int]:
    """Bound the depth by the deepest pair of parts.

    Return whether the bounds are final, whether a common point is known, and the number of pairs not proven apart. If
    the translation of the deepest pair separates the bodies, it is the shortest one. Otherwise all pairs are solved.
    """
    state, pairs = d.state, list_parts(x, 0.0, False, s.w, s.pairs)
    k, pairs = find_deepest(x, s.pairs, min(pairs, LOOKED_AT), vec_at(state, NORMAL), s.w, s.r.depths)
    if k < 0:
        return False, has_place, 0
    overlap, row = -s.r.depths[k, 2] - x.error, s.r.depths[k]
    if overlap >= state[LEAST]:
        # the translation is tested; with less than the errors of positions, `may_collide` would be in doubt
        most, n = max(-row[1], 0.0) + 4.0 * x.error, vec_at(row, N)
        if not may_collide(shifted(by_faces, scale(most, n)), all_of):
            state[LEAST], state[MOST] = min(overlap, most), most
            set_vec(state, NORMAL, n)
            set_vec(state, PLACE, scale(0.5, add(vec_at(row, POINT), vec_at(row, POINT + 3))))
            return True, True, pairs
    if overlap > state[LEAST] or not has_place:
        state[LEAST], has_place = max(state[LEAST], overlap), True
        set_vec(state, PLACE, _common_of(x, s, k))
    return False, has_place, solve_remaining(x, s.pairs, pairs, d.solid, s.w, s.r.depths)


@kernel
def _take_inner(state: Array, inner: Array) -> None:
    """Raise the lower bound to the depth of the innermost point, and store this point."""
    if inner[0, 0] > state[LEAST]:
        state[LEAST] = inner[0, 0]
        set_vec(state, PLACE, vec_at(inner[0], 1))


@inlined
def _near_only(x: PosedPair, s: Sides, most: float) -> Sides:
    """Return ``s`` with fewer surface points: those that a move of up to ``most`` may bring inside the other body."""
    # the pose and the move of B have errors, and B may be moved a few errors farther than ``most``
    a, b = with_points_near(x.m, most + 64.0 * x.error, s.a, s.b, s.r.near)
    return Sides(s.faces, a, b, s.outward_a, s.outward_b, s.pairs, s.w, s.r)


@kernel
def enclose_depth(x: PosedPair, by_faces: PosedPair, s: Sides, all_of: Sides, d: Search) -> None:
    """Write bounds of the depth of two intersecting bodies into ``d.state``, initially a separating translation.

    ``x`` and ``s`` have the bodies as convex parts. In ``by_faces`` and ``all_of`` the faces of a polytope replace the
    polytope, for collision queries of the moved bodies. The search of whole surfaces is the most expensive step. It
    runs only if the bounds still differ after the directions were tried.
    """
    state, r = d.state, s.r
    state[TRIED] = state[FOLLOWED] = state[BLOCKING] = state[WALL] = state[WALL + 1] = state[WALL + 2] = 0.0
    all_of.w.last[0] = -1
    all_of = _near_only(by_faces, all_of, state[MOST])
    inner = look_at_points(by_faces.m, by_faces.error, SAMPLES, all_of.a, all_of.b, r.points, r.inner)
    has_place, pairs, parted = r.inner[0, 0] >= 0.0, 0, 0
    state[LEAST] = max(r.inner[0, 0], 0.0)
    if has_place:
        set_vec(state, PLACE, vec_at(r.inner[0], 1))
    # a ball in a closed surface has a closed formula
    if not s.faces and s.a.solid:
        ball = ball_in(x, s.a.skin.wide, s.w)
        if ball.least > state[LEAST]:
            state[LEAST], has_place = ball.least, True
            set_vec(state, PLACE, ball.center)
        if ball.most < state[MOST]:
            state[MOST] = ball.most
            set_vec(state, NORMAL, ball.normal)
    if not s.faces and not (has_place and _within(_TIGHT, x.error, state)):
        settled, has_place, parted = _by_parts(x, by_faces, s, all_of, d, has_place)
        pairs = parted
        if settled:
            return
    if not has_place:
        set_vec(state, PLACE, _common(by_faces, all_of))
    if not _within(_CLOSE, by_faces.error, state) and state[MOST] < inf:
        if all_of.faces:  # exit directions start from the deepest points
            grow_balls(by_faces.m, by_faces.error, all_of.a, all_of.b, r.points, r.inner, inner)
            _take_inner(state, r.inner)
        if s.faces:
            pairs = listed(x, s, _CROSSING)
        later = _plan(x, s, d, pairs, parted)
        state[BLOCKING] = float(overlapping_first(s.pairs, parted, x.error, s.r.depths))
        separated = _go_branches(by_faces, all_of, d)
        _go_inner(by_faces, all_of, d, inner)
        if not separated:
            _go(by_faces, all_of, d, r.todo, later, _BY_FACES if s.faces else _BY_PARTS)
        if all_of.faces and not _within(_CLOSE, by_faces.error, state):
            enough = state[MOST] / (1.0 + _CLOSE)
            r.inner[0, 0] = state[LEAST]
            inner = look_closer(
                by_faces.m, by_faces.error, float(LOOKS), enough, all_of.a, all_of.b, r.points, r.inner, inner
            )
            _take_inner(state, r.inner)
            _go_inner(by_faces, all_of, d, inner)
        _follow_best(by_faces, all_of, d)
    state[LEAST] = max(0.0, min(state[LEAST], state[MOST]))


@kernel
def _go_inner(x: PosedPair, s: Sides, d: Search, count: int) -> None:
    """Try the exit directions of the innermost points."""
    _go(x, s, d, s.r.exits, unit_directions(s.r.inner, count, s.r.exits), INNER)


@kernel
def _go_branches(x: PosedPair, s: Sides, d: Search) -> bool:
    """Try translations that branch and bound finds for a mesh and a polytope.

    Return whether one of them improved the upper bound.
    """
    if d.solid.faces == 0:
        return False
    before, nodes, count = d.state[MOST], s.r.nodes, 1
    nodes[0, LENGTH] = nodes[0, COUNT] = 0.0  # the branch without walls
    for _ in range(_BRANCHES):
        by, count = next_parting(d.parts, s, d.solid, count, d.state[MOST] * (1.0 - _WORTH))
        length = sqrt(dot(by, by))
        if not length > x.error or d.state[TRIED] >= TRIES:
            break
        _try(x, s, d, scale(1.0 / length, by))
    return bool(d.state[MOST] < before)


@kernel
def _follow_best(x: PosedPair, s: Sides, d: Search) -> None:
    """Continue the search (`_follow`) from the best translation and the last plane that B passes on it."""
    n = vec_at(d.state, WALL)
    if dot(n, n) > 0.0 and not _within(_CLOSE, x.error, d.state):
        set_vec(s.r.wall, 0, n)
        _follow(x, s, d, vec_at(d.state, NORMAL), True, d.state[FAR])


@entry
def depth_rows(
    bodies: DepthBodies, solids: GivenSolids, rows: PoseRows, w: TreeScratch, r: SearchScratch, out: Array2
) -> None:
    """Compute bounds of the depth at pose rows.

    Rows of ``out`` contain the translations of `outer_translations`, and become the results. ``solids`` has the
    polytope b if a is a mesh and b is a polytope, otherwise an empty item.
    """
    t, solid = bodies, solid_in(solids, plain(0))
    s = Sides(t.meshes, t.surface_a, t.surface_skin, t.outward_a, t.outward_b, r.part_pairs, w, r)
    all_of = Sides(t.skins, t.surface_a, t.surface_skin, t.outward_a, t.outward_skin, r.pairs, w, r)
    for k in range(rows.start, rows.stop):
        p, q = rows.a[k if rows.a.shape[0] > 1 else 0], rows.b[k if rows.b.shape[0] > 1 else 0]
        x = two_at(t.a, t.b, p, q)
        enclose_depth(x, two_at(t.a, t.skin, p, q), s, all_of, Search(out[k], x, solid))


@entry
def ball_rows(a: PartTree, b: PartTree, skin: Ints1, rows: PoseRows, w: TreeScratch, out: Array2) -> None:
    """Write the depths of a ball B whose centre is in a closed surface of A. The bounds 0 and inf mean no result."""
    for k in range(rows.start, rows.stop):
        ball = ball_in(two_at(a, b, rows.a[0], rows.b[k]), skin, w)
        out[k, LEAST], out[k, MOST] = ball.least, ball.most
        set_vec(out[k], NORMAL, ball.normal)
        # half-way between the exit and the deepest point of the ball
        set_vec(out[k], PLACE, sub(ball.point, scale(0.5 * ball.known, ball.normal)))


# bodies -------------------------------------------------------------------------------------------------------------


def _balls_below(a: Parts, b: Parts, rows: Array) -> Array:
    """Return rows with the depth of a ball or point b in an unbounded height field a.

    The bounds are 0 and inf for other objects, and if the centre of the ball is not below the surface. The columns of
    the field, taken as convex parts, do not bound such a depth from below. The ball leaves at the nearest point of the
    closed surface around the columns.
    """
    out = np.zeros((len(rows), STATE))
    out[:, MOST] = inf
    if not isinstance(a, Prisms) or not isinstance(b, PlacedParts) or len(b.things) != 1 or b.any_mapped:
        return out
    thing, row = b.things[0]
    if isinstance(thing, Mesh) or thing._packed[0][layout.KIND] != layout.POINT:
        return out
    center = moved(row, thing._packed[1][None, layout.CENTER : layout.CENTER + 3])[0]
    below = np.flatnonzero(a.holds(rows[:, :9].reshape(-1, 3, 3) @ center + rows[:, 9:12]))
    if len(below):
        skin, some = np.array(head_of(a.closed)), out[below]
        poses = PoseRows(IDENTITY, np.ascontiguousarray(rows[below]), 0, len(below))
        ball_rows(complete(a), complete(b), skin, poses, tree_scratch(), some)
        out[below] = some
    return out


def depth(x: BodyPair) -> Depth:
    """Return bounds of the depth of two intersecting bodies. If no translation separates them, ``most`` is inf."""
    row = depths_at(x.a, x.b, x.rows[1])[0]
    return Depth(float(row[LEAST]), float(row[MOST]), row[NORMAL:PLACE], row[PLACE : PLACE + 3])


def depths_at(a: Parts, b: Parts, rows: Array, workers: int = 1) -> Array:
    """Return the depths of two bodies at pose rows of b in a's frame, (n, 8).

    The fields of `Depth` are in the columns LEAST, MOST, NORMAL and PLACE.
    """
    out = np.empty((len(rows), STATE))
    hulls = outer_translations(a, b, rows, out)
    slack = a.convex_slack + b.convex_slack + 2.0 * ROUNDING * (a.reach + b.reach + np.abs(rows[:, 9:12]).max(axis=1))
    convex = slack < _SAME_DEPTH * out[:, MOST] if hulls is not None else np.zeros(len(rows), dtype=bool)
    # bodies that are convex up to the slack have the depth of their hulls
    for k in np.flatnonzero(convex).tolist():
        assert hulls is not None
        out[k, LEAST] = min(max(0.0, -float(hulls[k, 2]) - slack[k]), out[k, MOST])
        out[k, PLACE : PLACE + 3] = _pair(a, b, rows[k]).place(hulls[k])
    balls = _balls_below(a, b, rows) if a.endless else out[:0]
    left = np.flatnonzero(~convex)
    if a.endless:
        exact = balls[:, MOST] <= balls[:, LEAST] * (1.0 + _TIGHT)
        out[exact], left = balls[exact], np.flatnonzero(~exact)
    if a.any_mapped or b.any_mapped:
        for k in left.tolist():
            _by_functions(_pair(a, b, rows[k]), out[k])
    elif len(left):
        out[left] = _searched(a, b, np.ascontiguousarray(rows[left]), out[left], workers)
    for k in left.tolist() if a.endless else ():
        if balls[k, MOST] < out[k, MOST]:
            out[k, MOST:PLACE] = balls[k, MOST:PLACE]
        if balls[k, LEAST] > out[k, LEAST]:
            out[k, LEAST], out[k, PLACE : PLACE + 3] = min(balls[k, LEAST], out[k, MOST]), balls[k, PLACE : PLACE + 3]
    for k in np.flatnonzero(np.isnan(out[:, PLACE])).tolist():  # the bodies touch up to rounding
        out[k, PLACE : PLACE + 3] = _pair(a, b, rows[k]).nearest().row[6:9]
    return out[:, : PLACE + 3]


def _pair(a: Parts, b: Parts, row: Array) -> BodyPair:
    meshes = isinstance(a, Triangles) and isinstance(b, Triangles)
    return (MeshPair if meshes else BodyPair)(a, b, row[:12])


def _searched(a: Parts, b: Parts, rows: Array, out: Array, workers: int) -> Array:
    skin = _skin_parts(a, b)
    meshes = isinstance(a, Triangles) and isinstance(b, Triangles)
    bodies = DepthBodies(
        complete(a), complete(b), complete(skin), surface_of(a), surface_of(skin), outward_normals(a),
        outward_normals(b), outward_normals(skin), meshes, meshes or skin is not b,
    )  # fmt: skip

    def run(start: int, stop: int) -> None:
        solids = _NO_SOLIDS if skin is b else with_scratch(_solids_of(b))
        depth_rows(bodies, solids, PoseRows(IDENTITY, rows, start, stop), tree_scratch(), search_scratch(), out)

    in_chunks(len(rows), workers, run, _CHUNK)
    return out


def _solids_of(b: Parts) -> GivenSolids:
    """Return b in the format of `gjk3d.bodies.facets`, cached. It is empty unless b is a polytope."""
    try:
        solids: GivenSolids = b._solids
    except AttributeError:
        solids = b._solids = solids_of([b])
    return solids


@per_thread
def search_scratch() -> SearchScratch:
    """Return scratch for a search."""
    return SearchScratch(
        points=point_scratch(LOOKS),
        near=np.empty((2 * SAMPLED, 3)),
        inner=np.empty((FOUND_ROWS, COLUMNS)),
        moved_inner=np.empty((FOUND_ROWS, COLUMNS)),
        part_pairs=np.zeros((LOOKED_AT, 2), dtype=np.int64),
        pairs=np.zeros((LOOKED_AT, 2), dtype=np.int64),
        spans=np.empty((LOOKED_AT, 2)),
        depths=np.empty((LOOKED_AT, FLOATS)),
        planes=np.empty((PLANES, PLANE)),
        tried=np.empty((TRIES, 3)),
        todo=np.empty((TRIES, 3)),
        exits=np.empty((INNER, 3)),
        walls=np.empty((TURNS, 5)),
        wall=np.zeros(3),
        nodes=np.empty((NODES, NODE)),
        directions=np.empty((CANDIDATES, 4)),
    )


def _by_functions(x: BodyPair, out: Array) -> None:
    """Bound the depth of bodies with support functions of users, which kernels do not call.

    The translation of the deepest pair is tried in addition to that of the hulls.
    """
    least, place = innermost(x.a, x.b, x.m, x.error, SAMPLES, 0)
    pairs, row = x.deepest()
    if len(pairs):
        overlap = -float(row[2]) - x.error
        for wider in (1.0, 4.0):  # the bounds of the moved pair are wide too, so the first translation may be too short
            most = wider * max(-float(row[1]), 0.0) + 4.0 * x.error
            if most < out[MOST] and not x.moved(most * row[3:6]).meet():
                out[MOST], out[NORMAL:PLACE] = most, row[3:6]
                break
        if overlap > least or place is None:
            least, place = max(least, overlap), x.common_point_of(pairs[0])
    out[LEAST] = max(0.0, min(least, out[MOST]))
    out[PLACE : PLACE + 3] = x.common_point()[0] if place is None else place


def outer_translations(a: Parts, b: Parts, rows: Array, out: Array) -> Array | None:
    """Write translations that certainly separate the bodies: those of the hulls or of the boxes.

    Return the rows of the hulls' signed distances, or None if the boxes are used.
    """
    error = ROUNDING * (a.reach + b.reach + np.abs(rows[:, 9:12]).max(axis=1))
    hull_a, hull_b = a.hull(), b.hull()
    if hull_a is not None and hull_b is not None:
        signed_rows = signed(hull_a, hull_b, matrices(rows))
        out[:, MOST], out[:, NORMAL:PLACE] = np.maximum(-signed_rows[:, 1], 0.0) + error, signed_rows[:, 3:6]
        return signed_rows
    for k, m in enumerate(rows):
        out[k, MOST], out[k, NORMAL:PLACE] = _past_box(a, b, m)
    out[:, MOST] += 4.0 * error
    return None


def _past_box(a: Parts, b: Parts, m: Array) -> tuple[float, Array]:
    most, normal = inf, np.eye(3)[0]
    box_a, boxes_b = a.box, b.boxes_at(np.arange(b.count), m)
    box_b = np.concatenate([boxes_b[:, :3].min(axis=0), boxes_b[:, 3:].max(axis=0)])
    for c in range(3):
        for sign, far in ((1.0, box_a[3 + c] - box_b[c]), (-1.0, box_b[3 + c] - box_a[c])):
            if far < most and not (a.endless and c == 2 and sign < 0.0):
                most, normal = max(float(far), 0.0), sign * np.eye(3)[c]
    return most, normal


def _skin_parts(a: Parts, b: Parts) -> Parts:
    """Return the faces of b, for a faster search, if b is a solid polytope and a is a mesh, otherwise b."""
    if isinstance(a, Triangles) and isinstance(a.mesh, Mesh) and isinstance(b, PlacedParts) and len(b.things) == 1:
        thing, row = b.things[0]
        if isinstance(thing, Polytope) and (row == IDENTITY[0]).all():
            skin = skin_of(thing)
            if skin.is_solid and skin.volume > 0.0:
                return skin._as_parts()
    return b


def skin_of(shape: Polytope) -> Mesh:
    """Return the faces of a polytope as a mesh, cached. The mesh is hollow for a flat polytope or a point."""
    if "skin" not in shape._cache:
        hull = shape._hull()
        faces = hull.faces if len(hull.faces) else [(0, 0, len(hull.vertices) - 1)]
        shape._cache["skin"] = Mesh(hull.vertices, faces, solid=hull.dimension == 3)
    skin: Mesh = shape._cache["skin"]
    return skin


def deepest_inside(x: MeshPair) -> float:
    """Return the greatest depth of sample points of one mesh in the other, a lower bound of `gjk3d.penetration`.

    The bound is usually within a few percent.
    """
    return innermost(x.a, x.b, x.m, x.error, SAMPLES, LOOKS)[0]
