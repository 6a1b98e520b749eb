"""Translations that part a mesh and a polytope, the shorter ones first: by branch and bound.

Each triangle that meets the polytope must be passed, by one of the planes that part the two. Of a few planes the least
translation past all of them is known, see `past_all`; where the two still meet after it, the deepest pair there is
passed by one of its own planes, so each of these is a branch. The branch with the shortest translation is followed
first. Land and Doig, An Automatic Method of Solving Discrete Programming Problems, 1960; here only planes that look
different are branched to, so the first translation that is found need not be the shortest.
"""

from __future__ import annotations

from math import inf, sqrt

from gjk3d._kernels.decorators import kernel, plain
from gjk3d.bodies.deepest import find_deepest
from gjk3d.bodies.exits import past_all
from gjk3d.bodies.facets import Solid, ways_out
from gjk3d.bodies.partings import Sides, shifted
from gjk3d.bodies.walk import Two, list_parts
from gjk3d.geometry.vec3 import Vec3, dot, row3, scale
from gjk3d.typing import Array

NODES = 64  #: branches that are kept
WALLS = 6  #: of one, at most
WAYS = 4  #: planes of a pair that are branched to
LENGTH, COUNT, WALL = 0, 1, 2  #: columns of a branch: how long its translation is, inf once followed, and its walls
COLUMNS = WALL + 4 * WALLS
_NEAR = 512  #: pairs of parts that are looked at
_MET = 1e-3  #: part of a wall's distance that a translation may be short of it
_TOUCHING = 8.0  #: overlap that is none, in units of the error of places


@kernel
def begin_branches(nodes: Array) -> int:
    """Write the branch without walls; return how many there are."""
    nodes[0, LENGTH] = nodes[0, COUNT] = 0.0
    return plain(1)


@kernel
def _least_past(nodes: Array, k: int, walls: Array) -> tuple[Vec3, float]:
    """Return the least translation past the walls of a branch and how long it is, inf where there is none."""
    count = int(nodes[k, COUNT])
    for i in range(count):
        for c in range(4):
            walls[i, c] = nodes[k, WALL + 4 * i + c]
    by = past_all(walls, count)
    for i in range(count):
        if dot(row3(walls, i), by) < walls[i, 3] - _MET * abs(walls[i, 3]):
            return by, inf
    return by, sqrt(dot(by, by))


@kernel
def _nearest(nodes: Array, count: int, most: float) -> int:
    """Return the branch with the shortest translation, -1 where none is shorter than ``most``."""
    best = -1
    for k in range(count):
        if nodes[k, LENGTH] < most:
            best, most = k, nodes[k, LENGTH]
    return best


@kernel
def _branch_to(nodes: Array, count: int, k: int, n: Vec3, far: float, walls: Array, most: float) -> int:
    """Add a branch with one wall more where its translation is shorter than ``most``; return how many there are."""
    own = int(nodes[k, COUNT])
    if count == nodes.shape[0] or own == WALLS:
        return count
    for c in range(WALL + 4 * own):
        nodes[count, c] = nodes[k, c]
    at = WALL + 4 * own
    nodes[count, at], nodes[count, at + 1], nodes[count, at + 2] = n
    nodes[count, at + 3], nodes[count, COUNT] = far, own + 1.0
    _, nodes[count, LENGTH] = _least_past(nodes, count, walls)
    return count + 1 if nodes[count, LENGTH] < most else count


@kernel
def next_parting(
    x: Two, s: Sides, solid: Solid, nodes: Array, count: int, walls: Array, ways: Array, most: float
) -> tuple[Vec3, int]:
    """Follow branches until no triangle overlaps B; return that translation, 0 where there is none, and their count.

    ``x`` are the two by their parts, ``walls`` and ``ways`` scratch.
    """
    while True:
        k = _nearest(nodes, count, most)
        if k < 0:
            return (0.0, 0.0, 0.0), count
        by, length = _least_past(nodes, k, walls)
        nodes[k, LENGTH] = inf
        there = shifted(x, by)
        pairs = min(list_parts(there, 0.0, False, s.w, s.found[:_NEAR]), _NEAR)
        way = scale(1.0 / length, by) if length > 0.0 else (0.0, 0.0, 1.0)
        best, _ = find_deepest(there, s.found, pairs, way, s.w, s.depths)
        if best < 0 or -s.depths[best, 0] <= _TOUCHING * x.error:
            return by, count
        for i in range(ways_out(there, s.found[best, 0], solid, ways)):
            n = row3(ways, i)
            # beyond what rounding leaves touching; the next translation is tested, so the error bounds nothing
            far = dot(n, by) - ways[i, 3] + _TOUCHING * x.error
            count = _branch_to(nodes, count, k, n, far, walls, most)
