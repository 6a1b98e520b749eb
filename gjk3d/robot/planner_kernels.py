"""Kernels of the planner: RRT-Connect, shortcuts and B-spline smoothing, with the edge tests of `sampled_edges`.

RRT-Connect (Kuffner and LaValle, 2000) grows a tree from the start and a tree from the goals. A sample extends the
smaller tree by one edge. Then the other tree is extended towards the new node until an edge collides. A node that could
not be extended accepts only samples from a ball around it (dynamic domain, Jaillet, Yershova, LaValle and Siméon,
2005).

A path is shortened by straight lines between two of its points (Geraerts and Overmars, 2007). Its corners are cut as a
uniform cubic B-spline cuts them (Hauser and Ng-Thow-Hing, 2010, smooth similar paths by parabolic shortcuts).
"""

from __future__ import annotations

from math import ceil, inf, sqrt
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.robot.cell_kernels import FREE, UNSURE, Bodies
from gjk3d.robot.motion_certified import HIT, PROVEN, prove_curve
from gjk3d.robot.motion_certified import Task as ProofTask
from gjk3d.robot.sampled_edges import ANY_HIT, COARSE, Edges, Task, walk_cell
from gjk3d.typing import Array, Array1, Array2, Array3, Ints1, Ints2

CONTINUE, CONNECTED, FULL = range(3)  #: results of `grow_trees`
TOLERANCE = 1e-3  #: tolerance of a proof, as a share of the edge; it is large, since only the success matters
LOOKS = 400  #: greatest number of configurations for a proof; an edge that grazes a margin would need many more
_DOMAIN = 4.0  #: first radius of the ball of a node that could not be extended, in units of the range
_LEAST_DOMAIN = 1.0  #: least radius of this ball, in units of the range
_CHANGE = 1e-4  #: a success multiplies this radius by 1 + _CHANGE, and a failure divides it by 1 + _CHANGE
_SHORTER = 1e-2  #: a shortcut must shorten the part of the path that it replaces by at least this share
_PARTS = 64  #: greatest number of edges by which the other tree is extended towards a new node


class Space(NamedTuple):
    """The joint values that a search moves, and their bounds."""

    columns: Ints1  #: columns of q
    low: Array1
    high: Array1
    period: Array1  #: 2 pi for joints that wrap, else 0
    range: float  #: greatest length of an edge of a tree


class EdgeTest(NamedTuple):
    """The test of an edge by samples and by a proof: the pairs of the cell, and memory for one edge."""

    task: Task
    bodies: Bodies
    edge: Edges
    sample: bool  #: whether samples of edges are tested
    certify: bool  #: whether edges must be proven free
    convex: ProofTask  #: proof for the pairs of convex shapes
    trees: ProofTask  #: proof for the pairs with bodies
    curve: Array2  #: (2, dof), memory for the two ends of an edge
    loose: Array1  #: (dof,), zeros: the ends of an edge have no error


class Search(NamedTuple):
    """The state of a search: the tree of the start (index 0) and the tree of the goals (index 1)."""

    nodes: Array3  #: (2, capacity, dof), the configurations of the nodes
    parents: Ints2  #: (2, capacity), index of the parent of each node, -1 for a root
    domains: Array2  #: (2, capacity), radius of the ball from which a node accepts samples, at first infinite
    counts: Ints1  #: (2,), the number of nodes of each tree
    ends: Ints1  #: (2,), the node of each tree at which the trees are connected


class Route(NamedTuple):
    """Memory for a path that is shortened."""

    points: Array2  #: (capacity, dof), the waypoints, followed by unused rows
    spare: Array2  #: (2, dof), scratch memory for new waypoints


# configurations -------------------------------------------------------------------------------------------------------


@inlined
def _set(out: Array, q: Array) -> None:
    for j in range(q.shape[0]):
        out[j] = q[j]


@inlined
def _difference(space: Space, k: int, a: Array, b: Array) -> float:
    """Return the signed change from a to b of the joint value in column ``space.columns[k]``.

    A joint that wraps turns the shorter way.
    """
    j, period = space.columns[k], space.period[k]
    d = b[j] - a[j]
    return float(d - period * round(d / period) if period > 0.0 else d)


@kernel
def _distance(space: Space, a: Array, b: Array) -> float:
    total = 0.0
    for k in range(space.columns.shape[0]):
        d = _difference(space, k, a, b)
        total += d * d
    return sqrt(total)


@kernel
def _between(space: Space, a: Array, b: Array, t: float, out: Array) -> None:
    """Write to ``out`` the configuration at parameter t of the line from a (t = 0) to b (t = 1).

    Joints that wrap turn the shorter way. Joints that the search does not move keep their values in a.
    """
    _set(out, a)
    for k in range(space.columns.shape[0]):
        out[space.columns[k]] += t * _difference(space, k, a, b)


@kernel
def _proof(test: EdgeTest, a: Array, b: Array) -> int:
    """Return `FREE` if the edge from a to b is proven free, the number of a pair that collides, or else `UNSURE`."""
    curve, convex = test.curve, test.task.layout.pairs.shape[0]
    _set(curve[0], a)
    _set(curve[1], b)
    status, _, _, pair = prove_curve(test.convex, curve, test.loose, TOLERANCE, 1.0, plain(LOOKS), True)
    if status == PROVEN and test.trees.margins.shape[0] > 0:
        status, _, _, pair = prove_curve(test.trees, curve, test.loose, TOLERANCE, 1.0, plain(LOOKS), True)
        pair += convex
    if status == PROVEN:
        return FREE
    return int(pair) if status == HIT else UNSURE


@kernel
def _is_free(test: EdgeTest, a: Array, b: Array) -> bool:
    """Return whether the edge from a to b passes the tests that ``test`` requires: samples, a proof, or both.

    A sample that the kernels cannot decide counts as a collision.
    """
    edge = test.edge
    _set(edge.q0[0], a)
    _set(edge.q1[0], b)
    _test(test, edge, plain(0), plain(1))
    return bool(edge.which[0] == FREE)


@kernel
def _test(test: EdgeTest, edges: Edges, start: int, stop: int) -> None:
    """Write the results of the edges ``start`` to ``stop`` - 1 to ``edges.which``.

    A result is `FREE`, the number of a colliding pair, `UNSURE` if a sample or the proof is undecided, or `REFUSED` if
    the edge is not finite or has too many samples.
    If ``test`` requires a proof, only a few samples are tested, which find most collisions. The proof covers the rest.
    """
    edges.which[start:stop] = FREE
    if test.sample:
        walk_cell(test.task, test.bodies, edges, start, stop, plain(COARSE) if test.certify else plain(ANY_HIT))
    for e in range(start, stop if test.certify else start):
        if edges.which[e] == FREE:
            edges.which[e] = _proof(test, edges.q0[e], edges.q1[e])


# search ---------------------------------------------------------------------------------------------------------------


@kernel
def _nearest(space: Space, search: Search, tree: int, q: Array) -> tuple[int, float]:
    best, least = plain(0), inf
    for n in range(search.counts[tree]):
        total = 0.0
        for k in range(space.columns.shape[0]):
            d = _difference(space, k, search.nodes[tree, n], q)
            total += d * d
            if total >= least:
                break
        if total < least:
            best, least = n, total
    return best, sqrt(least)


@kernel
def _add(test: EdgeTest, space: Space, search: Search, tree: int, near: int, to: Array, t: float) -> int:
    """Add to a tree the point at parameter t of the line from its node ``near`` to the configuration ``to``.

    Return the index of the new node in the tree, or -1 if the edge from ``near`` to it is not free.
    """
    n, change = search.counts[tree], 1.0 + _CHANGE
    node, domain = search.nodes[tree, n], search.domains[tree, near]
    _between(space, search.nodes[tree, near], to, t, node)
    if not _is_free(test, search.nodes[tree, near], node):
        shrunk = _DOMAIN * space.range if domain == inf else domain / change
        search.domains[tree, near] = max(shrunk, _LEAST_DOMAIN * space.range)
        return -1
    search.domains[tree, near] = domain * change
    search.domains[tree, n], search.parents[tree, n] = inf, near
    search.counts[tree] = n + 1
    return int(n)


@kernel
def _connect(test: EdgeTest, space: Space, search: Search, tree: int, node: Array) -> int:
    """Extend a tree by edges of equal length from its nearest node to ``node``, a configuration of the other tree.

    Return the index of the last new node, or -1 if an edge is not free.
    """
    near, distance = _nearest(space, search, tree, node)
    parts = max(min(ceil(distance / space.range), _PARTS), 1)
    for part in range(parts):
        near = _add(test, space, search, tree, near, node, 1.0 / (parts - part))
        if near < 0:
            return -1
    return near


@entry
def first_edges(test: EdgeTest, space: Space, search: Search) -> int:
    """Extend the tree of the start straight to each goal. Return `CONNECTED` if it reaches a goal, else `CONTINUE`."""
    for goal in range(search.counts[1]):
        if search.counts[0] + _PARTS >= search.nodes.shape[1]:
            break  # no memory for more nodes
        node = _connect(test, space, search, plain(0), search.nodes[1, goal])
        if node >= 0:
            search.ends[0], search.ends[1] = node, goal
            return CONNECTED
    return CONTINUE


@entry
def grow_trees(test: EdgeTest, space: Space, search: Search, draws: Array2) -> int:
    """Extend both trees with n samples, or until they are connected.

    ``draws`` (n, joint values that move) contains random numbers from 0 to 1. Return `CONNECTED`, `CONTINUE` if all
    samples are used, or `FULL` if the memory of a tree is full.
    """
    memory = search.nodes.shape[1] - 1
    for s in range(draws.shape[0]):
        tree = 0 if search.counts[0] <= search.counts[1] else 1
        if max(search.counts[0], search.counts[1]) + _PARTS >= memory:
            return FULL
        sample = search.nodes[tree, memory]  # the last row, which no node uses
        _set(sample, search.nodes[0, 0])
        for k in range(space.columns.shape[0]):
            sample[space.columns[k]] = space.low[k] + draws[s, k] * (space.high[k] - space.low[k])
        near, distance = _nearest(space, search, tree, sample)
        if distance > search.domains[tree, near]:
            continue
        new = _add(test, space, search, tree, near, sample, min(space.range / max(distance, 1e-300), 1.0))
        if new < 0:
            continue
        other = _connect(test, space, search, 1 - tree, search.nodes[tree, new])
        if other >= 0:
            search.ends[tree], search.ends[1 - tree] = new, other
            return CONNECTED
    return CONTINUE


# smoothing ------------------------------------------------------------------------------------------------------------


@kernel
def _copy(points: Array, start: int, stop: int, out: Array, at: int) -> int:
    for i in range(start, stop):
        _set(out[at], points[i])
        at += 1
    return at


@kernel
def _replace(route: Route, count: int, i: int, j: int, new: int) -> int:
    """Replace the points of a path between point i and point j by the first ``new`` rows of ``route.spare``.

    ``count`` is the number of points. Return the new number of points.
    """
    points, spare = route.points, route.spare
    if new > j - i - 1:
        for n in range(count - 1, j - 1, -1):
            _set(points[n + new - (j - i - 1)], points[n])
    elif new < j - i - 1:
        _copy(points, j, count, points, i + 1 + new)
    _copy(spare, plain(0), new, points, i + 1)
    return count + new - (j - i - 1)


@kernel
def _place_on(space: Space, points: Array, count: int, length: float, out: Array) -> int:
    """Write to ``out`` the point of a path at the arc length ``length``, and return the index of the point's edge."""
    for i in range(count - 1):
        step = _distance(space, points[i], points[i + 1])
        if length <= step or i == count - 2:
            _between(space, points[i], points[i + 1], min(length / max(step, 1e-300), 1.0), out)
            return int(i)
        length -= step
    return 0


@entry
def remove_points(test: EdgeTest, route: Route, count: int) -> int:
    """Remove all points between two points that a free edge can join, and return the number of points that are left."""
    i = 0
    while i < count - 2:
        for j in range(count - 1, i + 1, -1):
            if _is_free(test, route.points[i], route.points[j]):
                count = _replace(route, count, i, j, plain(0))
                break
        i += 1
    return count


@entry
def shorten(test: EdgeTest, space: Space, route: Route, count: int, draws: Array2) -> int:
    """Replace parts of a path by free straight lines, and return the new number of points.

    ``draws`` (n, 2) contains the two ends of each part, as shares of the length of the path.
    """
    points, spare = route.points, route.spare
    for s in range(draws.shape[0]):
        if count + 1 >= points.shape[0]:
            break
        total = 0.0
        for i in range(count - 1):
            total += _distance(space, points[i], points[i + 1])
        first, last = total * min(draws[s, 0], draws[s, 1]), total * max(draws[s, 0], draws[s, 1])
        i = _place_on(space, points, count, first, spare[0])
        j = _place_on(space, points, count, last, spare[1])
        if i == j or _distance(space, spare[0], spare[1]) > (1.0 - _SHORTER) * (last - first):
            continue
        if _is_free(test, spare[0], spare[1]):
            count = _replace(route, count, i, j + 1, plain(2))
    return count


@entry
def smooth(test: EdgeTest, space: Space, route: Route, count: int, least: float) -> int:
    """Cut each corner of a path once if the new edges are free, and return the new number of points.

    The midpoints of edges are inserted, and a corner b between a and c is moved to (a + 6 b + c) / 8. This is a step of
    Lane and Riesenfeld (1980) towards the cubic B-spline. Corners that would move by less than ``least`` do not move.
    """
    points, corner = route.points, route.spare[0]
    if 2 * count > points.shape[0]:
        return count
    for i in range(count - 1, 0, -1):
        _set(points[2 * i], points[i])
        _between(space, points[i - 1], points[2 * i], 0.5, points[2 * i - 1])
    last, kept, was_moved = 2 * count - 2, plain(1), False
    for i in range(2, last + 1, 2):
        moved = False
        if i < last:
            _between(space, points[i - 1], points[i + 1], 0.5, route.spare[1])
            _between(space, points[i], route.spare[1], 0.5, corner)
            moved = (
                _distance(space, points[i], corner) >= least
                and _is_free(test, points[i - 1], corner)
                and _is_free(test, corner, points[i + 1])
            )
        if was_moved or moved:  # a midpoint between two corners that do not move is not needed
            _set(points[kept], points[i - 1])
            kept += 1
        _set(points[kept], corner if moved else points[i])
        kept += 1
        was_moved = moved
    return kept


# stacks of edges ------------------------------------------------------------------------------------------------------


@entry
def test_edges(test: EdgeTest, edges: Edges, start: int, stop: int) -> None:
    """Write `FREE`, a colliding pair, `UNSURE` or `REFUSED` for edges ``start`` to ``stop`` - 1 to ``edges.which``."""
    _test(test, edges, start, stop)
