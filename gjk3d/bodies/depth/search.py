"""Search for the least translation that separates two bodies, with bounds, at many poses: the kernels of `depth`.

Directions are searched upwards from the lower bound, since a free interval may be narrow: a bolt in a hole is free only
within its clearance. The last obstacle along a direction is a wall. The least vector beyond all walls so far is the
next candidate, as in the cutting-plane methods of convex programming.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.depth.exits import past_all
from gjk3d.bodies.depth.partings import (
    Sides,
    deeper,
    find_deepest,
    is_blocked,
    listed,
    may_collide,
    outward_at,
    overlapping_first,
    past,
    shifted,
    solve_remaining,
)
from gjk3d.bodies.depth.two_surfaces import (
    FOUND_ROWS,
    INNER,
    SAME_WAY,
    GivenRoom,
    Surface,
    grow_balls,
    look_at_points,
    look_closer,
    unit_directions,
    with_points_near,
)
from gjk3d.bodies.facets import GivenSolids, Solid, separating_directions, solid_in
from gjk3d.bodies.part_tree import PartTree
from gjk3d.bodies.touching_bodies import ball_in
from gjk3d.bodies.tree_collision import HELD, PosedPair, TreeScratch, held, list_parts, parts_at, two_at
from gjk3d.bodies.triangles import common_of, placed_triangle, read, set_vec, vec_at
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3, add, dot, neg, row3, scale, sub, turn
from gjk3d.narrow.solve import UNSIGNED, solve
from gjk3d.poses import ROUNDING
from gjk3d.typing import Array, Array2, Ints, Ints2

#: columns of an answer: at least and at most how deep, along which unit vector, a point of both, all in A's frame
LEAST, MOST, NORMAL, PLACE = 0, 1, 2, 5
#: columns of the search behind these: its wall and how far it is, how many directions were tried and followed, and how
#: many pairs of parts may block one
WALL, FAR, TRIED, FOLLOWED, BLOCKING = 8, 11, 12, 13, 14
STATE = 15
_N, _POINT = 3, 6  #: columns of `gjk3d.narrow.solve`: the normal, the point on A
_SINGLE = 1
SAMPLES, LOOKS = 256, 512  #: vertices of each that are looked at first, and points of a surface in the other, at most
LOOKED_AT = 4096  #: pairs of parts that meet of which the depth is asked
TRIES = 96  #: room for directions
TURNS = 6  #: times that a way out turns to the least one past the walls that it met
_BRANCHES = 4  #: translations past walls that are tried
_FOLLOWED = 2  #: directions that lead to others, beside the best
_BY_FACES, _BY_PARTS = 12, 16  #: directions that are tried
_CROSSING = 512  #: pairs of triangles that meet, from which directions are taken
_FACES, _DIFFERENT = 16, 8  #: pairs whose normals are tried
_TIGHT = 1e-3  #: relative width of bounds at which a way out is not made shorter
_CLOSE = 1e-2  #: and at which no other is looked for
_SLIT = 4e-9  #: width of a way out that is none, in units of the size
_WORTH = 1e-4  #: part of a depth that is worth another try


class SearchScratch(NamedTuple):
    """Arrays of the search: state, inner points, directions tried and to try, walls, and depths of pairs."""

    state: Array
    inner: Array  #: as `look_at_points` writes them
    tried: Array
    todo: Array
    walls: Array
    wall: Array
    near: Array  #: points of either that are near the other
    parts: PosedPair  #: the two by their parts
    pairs: Ints  #: of these, the first of which overlap for certain
    solid: Solid  #: B, where that is a polytope which meets a mesh
    nodes: Array  #: see `branches`
    planes: Array


#: scratch arrays: pairs of parts, inner points before and after B was moved, arrays of a `SearchScratch`, spans of
#: pairs, points near the other surface, planes, branches, planes of one pair
GivenScratch = tuple[
    Ints2, Array2, Array2, Array2, Array2, Array2, Array2, Array2, Array2, Array2, Array2, Array2
]  # fmt: skip


@inlined
def _within(relative: float, error: float, state: Array) -> bool:
    """Return whether the bounds are within a relative width."""
    return bool(state[MOST] <= state[LEAST] * (1.0 + relative) + 16.0 * error)


@kernel
def _try(x: PosedPair, s: Sides, d: SearchScratch, direction: Vec3) -> tuple[bool, float]:
    """Try one direction; return whether it separates the bodies, and the distance along the last wall."""
    state, wall = d.state, d.wall
    set_vec(d.tried[int(state[TRIED])], 0, direction)
    state[TRIED] += 1.0
    moved = shifted(d.parts, scale(state[MOST], direction))
    # a quick rejection: convex pairs that overlap at both ends block the whole translation
    if is_blocked(moved, d.pairs, int(state[BLOCKING]), direction, s.w, s.spans):
        return False, 0.0
    free, by = past(x, s, direction, state[LEAST], state[MOST], wall)
    if not free:
        return False, 0.0
    far, length = dot(vec_at(wall, 0), by), sqrt(dot(by, by))
    slit = scale(_SLIT * x.error / ROUNDING, direction)  # what is free only in a slit as narrow as that is not free
    # `past` already adds three times the noise; the error covers the rounding of the length
    if length + x.error < state[MOST] and not may_collide(shifted(x, add(by, slit)), s):
        state[MOST] = length + x.error
        set_vec(state, NORMAL, scale(1.0 / length, by) if length > 0.0 else direction)
        set_vec(state, WALL, vec_at(wall, 0))
        state[FAR] = far
    return True, far


@kernel
def _follow(x: PosedPair, s: Sides, d: SearchScratch, direction: Vec3, has_wall: bool, far: float) -> None:
    """Continue from a separating translation along the least vector beyond the walls so far, repeatedly.

    If there is no wall yet, it is the normal at the deepest point after a translation by the lower bound.
    """
    by = scale(d.state[LEAST], direction)
    for k in range(TURNS):
        if not has_wall:
            has_wall, far = deeper(x, s, by, direction, d.wall)
        if not has_wall or _within(_TIGHT, x.error, d.state) or d.state[TRIED] >= TRIES:
            return
        set_vec(d.walls[k], 0, vec_at(d.wall, 0))
        d.walls[k, 3] = far
        by = past_all(d.walls, k + 1)
        length = sqrt(dot(by, by))
        if not x.error < length < d.state[MOST] * (1.0 - _WORTH):
            return
        direction = scale(1.0 / length, by)
        has_wall, far = _try(x, s, d, direction)


@kernel
def _is_new(direction: Vec3, d: SearchScratch) -> bool:
    """Return whether no similar direction was tried."""
    for k in range(int(d.state[TRIED])):  # noqa: SIM110, a generator does not compile
        if dot(direction, row3(d.tried, k)) >= SAME_WAY:
            return False
    return True


@kernel
def _go(x: PosedPair, s: Sides, d: SearchScratch, count: int, most: int) -> None:
    """Try some directions in order, and continue from the first few beyond the walls of their translations."""
    left = most
    for k in range(count):
        if left == 0 or _within(_CLOSE, x.error, d.state) or d.state[TRIED] >= TRIES:
            return
        direction = row3(d.todo, k)
        if not _is_new(direction, d):
            continue
        left -= 1
        has_wall, far = _try(x, s, d, direction)
        if d.state[FOLLOWED] < _FOLLOWED:
            d.state[FOLLOWED] += 1.0
            _follow(x, s, d, direction, has_wall, far)


@kernel
def _add(d: SearchScratch, count: int, direction: Vec3) -> int:
    """Append a direction to the list, and return its length."""
    length = sqrt(dot(direction, direction))
    if not length > NO_LENGTH:
        return count
    set_vec(d.todo[count], 0, scale(1.0 / length, direction))
    return count + 1


@kernel
def _add_normals(x: PosedPair, s: Sides, d: SearchScratch, pairs: int, count: int) -> int:
    """Add the normals of intersecting faces: their sum, and those of some pairs."""
    total = (0.0, 0.0, 0.0)
    for k in range(pairs):
        u, v = outward_at(s.outward_a, s.pairs[k, 0]), turn(x.m, outward_at(s.outward_b, s.pairs[k, 1]))
        total = add(total, sub(u, v))
    count = _add(d, count, total)
    some = min(_FACES, pairs)
    for i in range(some):
        k = i * (pairs - 1) // max(1, some - 1)
        count = _add(d, count, outward_at(s.outward_a, s.pairs[k, 0]))
        count = _add(d, count, neg(turn(x.m, outward_at(s.outward_b, s.pairs[k, 1]))))
    return count


@kernel
def _add_different(s: Sides, d: SearchScratch, pairs: int, count: int) -> int:
    """Add the normals of a few pairs of parts, the deepest first, without similar ones."""
    first = count
    for _ in range(_DIFFERENT):
        best, deepest = -1, inf
        for k in range(pairs):
            if s.depths[k, 2] < deepest:
                n, fresh = vec_at(s.depths[k], _N), True
                # similar directions give similar translations, and each trial is a full collision query
                for j in range(first, count):
                    fresh = fresh and dot(n, row3(d.todo, j)) < SAME_WAY
                if fresh:
                    best, deepest = k, s.depths[k, 2]
        if best < 0:
            break
        count = _add(d, count, vec_at(s.depths[best], _N))
    return count


@kernel
def _plan(x: PosedPair, s: Sides, d: SearchScratch, pairs: int, parted: int) -> int:
    """Write the directions to try: normals of hulls, parts and faces, and the axes; return their number."""
    count = _add(d, plain(0), vec_at(d.state, NORMAL))
    weighted, total = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(parted):
        n = vec_at(s.depths[k], _N)
        weighted, total = add(weighted, scale(max(-s.depths[k, 0], 0.0), n)), add(total, n)
    count = _add(d, _add(d, count, weighted), total)
    if s.a[8] != 0 or s.b[8] != 0 or parted == 0:
        count = _add_normals(x, s, d, pairs, count)
    # the axes are cheap candidates, and exact for parts that are aligned with them
    if parted > 0:
        count = _add_different(s, d, parted, count)
        for c in range(3):
            axis = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
            count = _add(d, _add(d, count, axis), neg(axis))
    return count


@kernel
def _common(x: PosedPair, s: Sides) -> Vec3:
    """Return a point of the first intersecting pair, or a contained point if there is none; NaN if neither is known."""
    if listed(x, s, _SINGLE) == 0:
        return vec_at(s.w.out[0], _POINT) if held(x, s.w) == HELD else (nan, nan, nan)
    if s.faces:
        return common_of(read(x.a.places, s.pairs[0, 0]), placed_triangle(x.m, x.b.places, s.pairs[0, 1]))
    return _common_of(x, s, plain(0))


@kernel
def _common_of(x: PosedPair, s: Sides, k: int) -> Vec3:
    """Return a common point of a listed pair."""
    c = parts_at(x, s.pairs[k, 0], s.pairs[k, 1], s.w)
    solve(c, UNSIGNED, inf, 0.0, s.w.workspace, s.w.workspace.simplex[:0], s.w.out, s.w.flags, 0)
    return vec_at(s.w.out[0], _POINT)


@kernel
def _by_parts(
    x: PosedPair, by_faces: PosedPair, s: Sides, all_of: Sides, d: SearchScratch, has_place: bool
) -> tuple[bool, bool, int]:
    """Bound the depth by the deepest pair; return whether the search is done, whether a point is known, and the pairs.

    If the translation of the deepest pair separates the bodies, it is the shortest one. Otherwise all pairs are solved.
    """
    state, pairs = d.state, list_parts(x, 0.0, False, s.w, s.pairs)
    k, pairs = find_deepest(x, s.pairs, min(pairs, LOOKED_AT), vec_at(state, NORMAL), s.w, s.depths)
    if k < 0:
        return False, has_place, 0
    depth, row = -s.depths[k, 2] - x.error, s.depths[k]
    if depth >= state[LEAST]:
        # only what is free there is taken; with less than the errors of the places, `may_collide` would be in doubt
        most, n = max(-row[1], 0.0) + 4.0 * x.error, vec_at(row, _N)
        if not may_collide(shifted(by_faces, scale(most, n)), all_of):
            state[LEAST], state[MOST] = min(depth, most), most
            set_vec(state, NORMAL, n)
            set_vec(state, PLACE, scale(0.5, add(vec_at(row, _POINT), vec_at(row, _POINT + 3))))
            return True, True, pairs
    if depth > state[LEAST] or not has_place:
        state[LEAST], has_place = max(state[LEAST], depth), True
        set_vec(state, PLACE, _common_of(x, s, k))
    return False, has_place, solve_remaining(x, s.pairs, pairs, d.solid, s.w, s.depths)


@kernel
def _take_inner(d: SearchScratch) -> None:
    """Raise the lower bound to the depth of the innermost point."""
    if d.inner[0, 0] > d.state[LEAST]:
        d.state[LEAST] = d.inner[0, 0]
        set_vec(d.state, PLACE, vec_at(d.inner[0], 1))


@inlined
def _near_only(x: PosedPair, s: Sides, most: float, room: Array) -> Sides:
    """Return the data for translations of at most ``most``, restricted to the points near the other surface."""
    # B is placed with an error, moved with another, and the way is as long as the most but for a few: 64 are enough
    a, b = with_points_near(x.m, most + 64.0 * x.error, s.a, s.b, room)
    return Sides(s.faces, a, b, s.outward_a, s.outward_b, s.w, s.room, s.points, s.pairs, s.spans, s.planes, s.depths)


@kernel
def enclose_depth(x: PosedPair, by_faces: PosedPair, s: Sides, all_of: Sides, d: SearchScratch) -> None:
    """Compute bounds of the depth of two intersecting bodies from a separating translation in the state.

    ``x`` and ``s`` are the bodies by their parts. ``by_faces`` and ``all_of`` are the bodies as they are moved, where a
    polytope is replaced by its faces. Whole surfaces are the most expensive step. They are searched only if the bounds
    still differ after the directions were tried.
    """
    state = d.state
    state[TRIED] = state[FOLLOWED] = state[BLOCKING] = state[WALL] = state[WALL + 1] = state[WALL + 2] = 0.0
    all_of.w.last[0] = -1
    all_of = _near_only(by_faces, all_of, state[MOST], d.near)
    inner = look_at_points(by_faces.m, by_faces.error, SAMPLES, all_of.a, all_of.b, all_of.room, d.inner)
    has_place, pairs, parted = d.inner[0, 0] >= 0.0, 0, 0
    state[LEAST] = max(d.inner[0, 0], 0.0)
    if has_place:
        set_vec(state, PLACE, vec_at(d.inner[0], 1))
    # a ball in a closed surface has a closed formula
    if not s.faces and s.a[8] != 0:
        ball = ball_in(x, True, s.a[4], s.a[5], s.a[6], s.w)
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
        if all_of.faces:  # ways out begin where these end
            grow_balls(by_faces.m, by_faces.error, all_of.a, all_of.b, all_of.room, d.inner, inner)
            _take_inner(d)
        if s.faces:
            pairs = listed(x, s, _CROSSING)
        later = _plan(x, s, d, pairs, parted)
        state[BLOCKING] = float(overlapping_first(s.pairs, parted, x.error, s.depths))
        separated = _go_branches(by_faces, all_of, d)
        _go_inner(by_faces, all_of, d, inner)
        if not separated:
            _go(by_faces, all_of, d, later, _BY_FACES if s.faces else _BY_PARTS)
        if all_of.faces and not _within(_CLOSE, by_faces.error, state):
            enough = state[MOST] / (1.0 + _CLOSE)
            d.inner[0, 0] = state[LEAST]
            inner = look_closer(
                by_faces.m, by_faces.error, float(LOOKS), enough, all_of.a, all_of.b, all_of.room, d.inner,
                inner,
            )  # fmt: skip
            _take_inner(d)
            _go_inner(by_faces, all_of, d, inner)
        _follow_best(by_faces, all_of, d)
    state[LEAST] = max(0.0, min(state[LEAST], state[MOST]))


@kernel
def _go_inner(x: PosedPair, s: Sides, d: SearchScratch, count: int) -> None:
    """Try the exit vectors of the innermost points."""
    scratch = SearchScratch(
        d.state, d.inner, d.tried, d.tried[TRIES:], d.walls, d.wall, d.near, d.parts, d.pairs, d.solid, d.nodes,
        d.planes,
    )  # fmt: skip
    _go(x, s, scratch, unit_directions(d.inner, count, scratch.todo), INNER)


@kernel
def _go_branches(x: PosedPair, s: Sides, d: SearchScratch) -> bool:
    """Try branches of translations beyond walls of a mesh and a polytope; return whether one separates them."""
    if d.solid.faces == 0:
        return False
    before, count = d.state[MOST], begin_branches(d.nodes)
    for _ in range(_BRANCHES):
        by, count = next_parting(d.parts, s, d.solid, d.nodes, count, d.walls, d.planes, d.state[MOST] * (1.0 - _WORTH))
        length = sqrt(dot(by, by))
        if not length > x.error or d.state[TRIED] >= TRIES:
            break
        _try(x, s, d, scale(1.0 / length, by))
    return bool(d.state[MOST] < before)


@kernel
def _follow_best(x: PosedPair, s: Sides, d: SearchScratch) -> None:
    """Continue from the best translation beyond its walls."""
    n = vec_at(d.state, WALL)
    if dot(n, n) > 0.0 and not _within(_CLOSE, x.error, d.state):
        set_vec(d.wall, 0, n)
        _follow(x, s, d, vec_at(d.state, NORMAL), True, d.state[FAR])


@entry
def depth_rows(
    a: PartTree, b: PartTree, skin: PartTree, surface_a: Surface, surface_b: Surface,
    normals: tuple[Array2, Array2, Array2], kind: int, solids: GivenSolids, rows_a: Array2, rows_b: Array2,
    start: int, stop: int, w: TreeScratch, room: GivenRoom, arrays: GivenScratch, out: Array2,
) -> None:  # fmt: skip
    """Compute bounds of the depth at pose rows, where a single row serves all.

    Rows of ``out`` contain the translations of `outer_translations`, and receive the results. ``b`` is the second body
    by its parts, and ``skin`` is the body that is moved. ``normals`` are those of the parts of a, b and the skin. The
    kind is the number of meshes among a and b, if the skin is a mesh too, otherwise 0. The only one of ``solids`` is b
    for kind 1.
    """
    solid = solid_in(solids, plain(0))
    inner, moved_points = arrays[1][:FOUND_ROWS], arrays[1][FOUND_ROWS:]
    s = Sides(
        kind == 2, surface_a, surface_b, normals[0], normals[1], w, room, moved_points, arrays[0][:LOOKED_AT],
        arrays[7], arrays[9], arrays[6],
    )  # fmt: skip
    all_of = Sides(
        kind > 0, surface_a, surface_b, normals[0], normals[2], w, room, moved_points, arrays[0][LOOKED_AT:],
        arrays[7], arrays[9], arrays[6],
    )  # fmt: skip
    # the scratch is shared by all rows: only the poses and the row of results differ
    for k in range(start, stop):
        p, q = rows_a[k if rows_a.shape[0] > 1 else 0], rows_b[k if rows_b.shape[0] > 1 else 0]
        x = two_at(a, b, p, q)
        d = SearchScratch(
            out[k], inner, arrays[2], arrays[3], arrays[4], arrays[5][0], arrays[8], x, s.pairs, solid, arrays[10],
            arrays[11],
        )  # fmt: skip
        enclose_depth(x, two_at(a, skin, p, q), s, all_of, d)


NODES = 64  #: branches that are kept
WALLS = 6  #: of one, at most
PLANES_PER_PAIR = 4  #: planes of a pair that are branched to
LENGTH, COUNT, FIRST_WALL = 0, 1, 2  #: columns of a branch: length of its translation (inf once followed), walls
COLUMNS = FIRST_WALL + 4 * WALLS
_NEAR = 512  #: pairs of parts that are looked at
_PAST_WALL = 1e-3  #: part of a wall's distance that a translation may be short of it
_TOUCHING = 8.0  #: overlap that is none, in units of the error of places


@kernel
def begin_branches(nodes: Array) -> int:
    """Write the branch without walls, and return the number of branches."""
    nodes[0, LENGTH] = nodes[0, COUNT] = 0.0
    return plain(1)


@kernel
def _least_past(nodes: Array, k: int, walls: Array) -> tuple[Vec3, float]:
    """Return the least translation beyond the walls of a branch and its length, inf if there is none."""
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
    """Return the branch with the shortest translation, -1 if none is shorter than ``most``."""
    best = -1
    for k in range(count):
        if nodes[k, LENGTH] < most:
            best, most = k, nodes[k, LENGTH]
    return best


@kernel
def _branch_to(nodes: Array, count: int, k: int, n: Vec3, far: float, walls: Array, most: float) -> int:
    """Add a branch with one more wall if its translation is shorter than ``most``; return the number of branches."""
    wall_count = int(nodes[k, COUNT])
    if count == nodes.shape[0] or wall_count == WALLS:
        return count
    for c in range(FIRST_WALL + 4 * wall_count):
        nodes[count, c] = nodes[k, c]
    at = FIRST_WALL + 4 * wall_count
    nodes[count, at], nodes[count, at + 1], nodes[count, at + 2] = n
    nodes[count, at + 3], nodes[count, COUNT] = far, wall_count + 1.0
    _, nodes[count, LENGTH] = _least_past(nodes, count, walls)
    return count + 1 if nodes[count, LENGTH] < most else count


@kernel
def next_parting(
    x: PosedPair, s: Sides, solid: Solid, nodes: Array, count: int, walls: Array, planes: Array, most: float
) -> tuple[Vec3, int]:
    """Expand branches until no triangle overlaps B; return that translation, 0 for none, and the number of branches.

    ``x`` are the bodies by their parts. ``walls`` and ``planes`` are scratch.
    """
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
        best, _ = find_deepest(moved, s.pairs, pairs, direction, s.w, s.depths)
        if best < 0 or -s.depths[best, 0] <= _TOUCHING * x.error:
            return by, count
        for i in range(separating_directions(moved, s.pairs[best, 0], solid, planes)):
            n = row3(planes, i)
            # beyond what rounding leaves touching; the next translation is tested, so the error bounds nothing
            far = dot(n, by) - planes[i, 3] + _TOUCHING * x.error
            count = _branch_to(nodes, count, k, n, far, walls, most)
