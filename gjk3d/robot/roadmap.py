"""Roadmaps and free regions: edges and boxes of configurations that are known to be free.

A free region is a box of configurations around q that is proven free. The proof needs one distance for each pair. On
the straight line from q to another configuration of the box, joint j moves by at most its half width. The distance of a
pair decreases by at most the sum over the joints of half width times motion bound (`motion_bounds`). First all half
widths grow in proportion to the user's weights of the joints, until a pair reaches its margin. Then the half width of
each joint grows separately, until a pair reaches its margin (the bubble of Quinlan 1994, as a box).

A roadmap is a graph of configurations and edges that several queries of one cell use (PRM). The nodes are drawn once,
and edges join each node with its nearest neighbours. Nodes that collide stay in the graph, since a change of the cell
may make them free. A query joins the start and the goals with near free nodes. The shortest path in the graph is then
smoothed, proven and repaired as in `planner`.
"""

from __future__ import annotations

from collections.abc import Collection
from math import ceil, e, inf, log, pi
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from gjk3d.convex.checks import check_workers
from gjk3d.errors import RobotError
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.robot import general_pairs, queries
from gjk3d.robot.cell import Cell
from gjk3d.robot.cell_kernels import FAR, FREE
from gjk3d.robot.kinematics import LENGTHS
from gjk3d.robot.motion_bounds import curve_speeds, motion_bounds
from gjk3d.robot.motion_certified import general_motion
from gjk3d.robot.motions import steps_of
from gjk3d.robot.planner import (
    JointSpace,
    Plan,
    Planner,
    Progress,
    Request,
    check_draws,
    edges_free,
    joint_space,
    one_row,
    plan,
)
from gjk3d.typing import Array, Bools, Ints, Row, Rows
from gjk3d.wording import count

if TYPE_CHECKING:
    from gjk3d.robot.checker import Checker

# --- free regions ----------------------------------------------------------------------------------------------------


_FAR = 1e50  #: distance of a pair whose distance is not limited
_WIDEST = 1.0  #: greatest half width of a translation; the motion bounds hold in a box of this half width
_LESS = 1.0 - 2.0**-40  #: factor of the half widths, which covers the rounding of sums of motions


def free_region(cell: Cell, rows: Array, weights: Row | None, margin: float) -> Array:
    """Return the half widths (n, dof) of a free box around each configuration, all 0 if the configuration is not free.

    ``weights`` are the desired proportions of the half widths. ``margin`` is added to the margin of each pair.
    """
    dof = cell.robot.dof
    relative = np.ones(dof) if weights is None else np.array(weights, dtype=np.float64)
    if relative.shape != (dof,) or not ((relative > 0.0) & np.isfinite(relative)).all():
        raise RobotError(f"weights is {weights!r:.80}, expected {dof} numbers above 0")
    return np.array([_half_widths(cell, row, relative, margin) for row in rows]).reshape(len(rows), dof)


def _half_widths(cell: Cell, q: Array, weights: Array, margin: float) -> Array:
    room, motion = _room(cell, q, margin), _motions(cell, q)
    if not (room > 0.0).all():
        return np.zeros(len(q))
    most, chain = np.full(len(q), inf), cell.robot._chain
    for kind, source in zip(chain.kind.tolist(), chain.source.tolist(), strict=True):
        most[source : source + LENGTHS[kind]] = _WIDEST
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.nanmin(np.concatenate([room / (motion @ weights), most / weights]), initial=inf)
        half = np.minimum(scale * weights, most) if scale < inf else most
        for j in np.argsort(-motion.max(axis=0, initial=0.0), kind="stable").tolist():
            others = motion @ np.where(np.arange(len(q)) == j, 0.0, np.where(np.isfinite(half), half, 0.0))
            alone = (room - others) / motion[:, j]
            half[j] = min(most[j], max(half[j], float(np.min(alone[motion[:, j] > 0.0], initial=inf))))
    half *= _LESS
    finite = np.where(np.isfinite(half), half, 0.0)
    # rounding may let the motion of a pair exceed its distance
    return half if (motion @ finite <= room).all() else np.zeros(len(q))


def _room(cell: Cell, q: Array, margin: float) -> Array:
    """Return by how much each pair's distance at q exceeds its margin, (pairs,), as lower bounds.

    ``margin`` is added to the margin of each pair.
    """
    row, convex = np.ascontiguousarray(q[None]), len(cell.layout.pairs)
    out, which, _ = queries.every(cell, row, np.full(convex, _FAR))
    lower = np.concatenate([np.where(which[0] == FAR, _FAR, out[0, :, 1]), general_pairs.bounds(cell, row)[0][0]])
    margins = np.maximum(cell.margins + margin, 0.0)
    slack = motion_bounds(cell, _around(q)).slack
    room: Array = np.minimum(lower, _FAR) - margins * (1.0 + 8.0 * UNIT_ROUNDOFF) - slack * (len(q) + 1)
    return room


def _around(q: Array) -> Array:
    return np.array([[q - _WIDEST, q + _WIDEST]])


def _motions(cell: Cell, q: Array) -> Array:
    """Return upper bounds of the relative motion of each pair's shapes per unit of each joint value, (pairs, dof)."""
    arms, chain = motion_bounds(cell, _around(q)).arms, cell.robot._chain
    motion, joints = np.zeros((len(cell.slots), len(q))), np.zeros((6, len(chain.parent)))
    for j in range(len(q)):
        line = np.zeros((2, len(q)))
        line[1, j] = 1.0
        curve_speeds(chain, line, np.zeros(len(q)), joints)
        motion[:, j] = general_motion(arms, joints[0], joints[1])
    return motion / _LESS


# --- roadmaps --------------------------------------------------------------------------------------------------------


_JOINED = 10  #: number of near free nodes with which the start and each goal are joined


class Roadmap:
    """A graph of configurations and edges, made by `Checker.roadmap`, for many plans in one cell.

    After a change of the checker, the next call of `plan` or `update` tests all edges again. Only one thread at a time
    may use a roadmap.

    Attributes
    ----------
    nodes : (samples, dof) float
        All configurations, also those that collide at present.
    edges : (m, 2) int
        Indices of the nodes of each edge.
    free : (m,) bool
        Whether each edge was free at the last update, tested at configurations along the edge.

    Parameters
    ----------
    checker, samples, rest, request, workers
        As in `Checker.roadmap`. ``request`` contains the other options of that method.

    Raises
    ------
    RobotError
        The number of samples, the seed, the range or a bound is not valid, or a joint is unknown.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pole = np.eye(4); pole[:2, 3] = 0.0, 1.5
    >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)})
    >>> roadmap = checker.roadmap(samples=200)
    >>> roadmap.plan([0.0, 0.0], [3.0, 0.0]).status, roadmap.plan([0.0, 0.5], [2.0, -1.0]).status
    (<PlanStatus.PROVEN: 0>, <PlanStatus.PROVEN: 0>)
    """

    __slots__ = (
        "_cell", "_checker", "_free_nodes", "_joints", "_lengths", "_request", "_tree", "_workers", "edges", "free",
        "nodes",
    )  # fmt: skip
    _cell: Cell | None  #: the cell of the last update
    _free_nodes: Ints  #: indices of the free nodes at the last update
    _tree: cKDTree  #: the free nodes at the last update
    nodes: Array
    edges: Ints
    free: Bools

    def __init__(self, checker: Checker, samples: int, rest: Row | None, request: Request, workers: int) -> None:
        if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 2:
            raise RobotError(f"samples is {samples!r:.80}, expected an integer of at least 2")
        check_workers(workers)
        robot = checker.robot
        steps_of(robot, request.resolution)  # raises an error now, not in the first plan
        check_draws(request)
        self._checker, self._request, self._workers, self._cell = checker, request, workers, None
        self._joints = joint_space(robot, request.joints, request.lower, request.upper)
        columns, low, high, _ = self._joints
        fixed = np.zeros(robot.dof) if rest is None else one_row(robot, rest, "rest")
        self.nodes = np.tile(fixed, (int(samples), 1))
        draws = np.random.default_rng(request.seed).random((len(self.nodes), len(columns)))
        self.nodes[:, columns] = low + draws * (high - low)
        self.edges = self._neighbours()
        self._lengths = _lengths(*_ends(self._joints, self.nodes, self.edges))
        self.update()

    def _neighbours(self) -> Ints:
        """Return the edges (m, 2) between each node and its k nearest nodes, once each, with k of PRM*.

        PRM* is described in Karaman and Frazzoli (2011).
        """
        places = _places(self._joints, self.nodes)
        near = cKDTree(places, boxsize=_periods(self._joints)).query(places, _most(self._joints, len(places)) + 1)[1]
        ends = np.stack([np.broadcast_to(np.arange(len(near))[:, None], near.shape), near], axis=-1).reshape(-1, 2)
        edges: Ints = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0).astype(np.int64)
        return edges

    def update(self) -> bool:
        """Test all edges again if the checker has changed.

        Returns
        -------
        bool
            True if the checker had changed, and the edges were tested.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> roadmap = checker.roadmap(samples=100)
        >>> before = roadmap.free.sum()
        >>> checker.add("wall", gk.Box((0.1, 2.0, 2.0)), [[1, 0, 0, 0.8], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        >>> roadmap.update(), bool(roadmap.free.sum() < before), roadmap.update()
        (True, True, False)
        """
        cell = self._checker._cell()
        if cell is self._cell:
            return False
        is_free = queries.hits(cell, self.nodes, self._workers) == FREE
        self.free = is_free[self.edges].all(axis=1)
        first, second = _ends(self._joints, self.nodes, self.edges[self.free])
        spacing = steps_of(cell.robot, self._request.resolution)
        self.free[self.free] = edges_free(cell, first, second, spacing, certify=False, workers=self._workers)
        self._free_nodes = np.flatnonzero(is_free)
        self._tree = cKDTree(_places(self._joints, self.nodes[is_free]), boxsize=_periods(self._joints))
        self._cell = cell
        return True

    def plan(
        self,
        start: Row,
        goals: Rows,
        *,
        seconds: float = 5.0,
        touching: Collection[tuple[str, str]] = (),
        certify: bool = True,
        progress: Progress | None = None,
    ) -> Plan:
        """Return a short path from a start to one of several goals, proven free also between samples.

        The goal with the shortest path in the graph is used. The path is smoothed, proven and repaired as in
        `Checker.plan`. Without a path in the graph, or without a proof, a path is searched as in `Checker.plan`.

        Parameters
        ----------
        start : (dof,) float
            The first configuration: radians, and the robot's unit of length.
        goals : (dof,) or (g, dof) float
            The goals. In ``start`` and ``goals``, joints that the roadmap does not move must have the values of
            ``rest``.
        seconds : float
            Time limit of the search, the smoothing and the proof.
        touching, certify, progress
            As in `Checker.plan`.

        Returns
        -------
        Plan
            The path, its status, the index of the goal where the path ends, and the proof.

        Raises
        ------
        RobotError, UnsupportedPair
            As in `Checker.plan`.

        Examples
        --------
        >>> import gjk3d as gk
        >>> roadmap = gk.robot.Checker(gk.robot.Robot.example()).roadmap(samples=50)
        >>> roadmap.plan([0.0, 0.0], [[1.0, 0.5], [0.5, 0.0]]).goal
        1
        """
        self.update()
        assert self._cell is not None
        request = self._request._replace(seconds=seconds, touching=touching, certify=certify, progress=progress)
        return plan(self._cell, start, goals, request, self._path)

    def _path(self, planner: Planner, start: Array, goals: Array) -> tuple[Array, int] | None:
        """Return the shortest path in the graph from start to any goal, and this goal's index, or None without one."""
        nodes, robot, joints = len(self.nodes), planner.cell.robot, self._joints
        others = np.delete(np.arange(robot.dof), joints.columns)
        if (start[others] != self.nodes[0, others]).any():
            k = others[np.argmax(start[others] != self.nodes[0, others])]
            raise RobotError(
                f"start[{k}] is {start[k]:g}, but the roadmap was made with {self.nodes[0, k]:g}, and joint "
                f"{robot._joint_of(k)!r} does not move. Make a roadmap with rest=start"
            )
        rows = np.concatenate([self.nodes, start[None], goals])
        links = [np.column_stack([np.full(len(goals), nodes), np.arange(nodes + 1, len(rows))])]
        if most := min(_JOINED, len(self._free_nodes)):
            near = self._tree.query(_places(joints, rows[nodes:]), np.arange(1, most + 1))[1]
            ends = np.repeat(np.arange(nodes, len(rows)), most)
            links.append(np.column_stack([ends, self._free_nodes[near.ravel()]]))
        more = np.concatenate(links)
        more = more[planner.sampled(*_ends(joints, rows, more)) == FREE]
        edges = np.concatenate([self.edges[self.free], more])
        lengths = np.concatenate([self._lengths[self.free], _lengths(*_ends(joints, rows, more))])
        graph = csr_array((lengths, (edges[:, 0], edges[:, 1])), shape=(len(rows), len(rows)))
        far, before = dijkstra(graph, directed=False, indices=nodes, return_predecessors=True)
        goal = int(far[nodes + 1 :].argmin())
        if far[nodes + 1 + goal] == inf:
            return None
        back = [nodes + 1 + goal]
        while back[-1] != nodes:
            back.append(int(before[back[-1]]))
        path = rows[back[::-1]]
        turning = joints.columns[joints.wraps]
        path[:, turning] = np.unwrap(path[:, turning], axis=0)
        return path, goal

    def __repr__(self) -> str:
        edges = f"{count(len(self.edges), 'edge')}, {self.free.sum()} free"
        return f"<Roadmap of {self._checker.robot.name!r}: {count(len(self.nodes), 'node')}, {edges}>"


def _most(joints: JointSpace, nodes: int) -> int:
    """Return the number of neighbours of each of ``nodes`` nodes in PRM*, whose paths converge to the shortest path."""
    return min(ceil(e * (1.0 + 1.0 / len(joints.columns)) * log(nodes)), nodes - 1)


def _lengths(first: Array, second: Array) -> Array:
    # scipy treats an edge of length 0 as missing
    lengths: Array = np.maximum(np.linalg.norm(second - first, axis=1), np.finfo(float).tiny)
    return lengths


def _periods(joints: JointSpace) -> Array:
    periods: Array = np.where(joints.wraps, 2.0 * pi, 0.0)
    return periods


def _places(joints: JointSpace, rows: Array) -> Array:
    """Return the values of the moving joints, (n, moved), of configurations. Values that wrap are in [0, 2 pi)."""
    places = rows[:, joints.columns]
    places[:, joints.wraps] %= 2.0 * pi
    places[:, joints.wraps] *= 1.0 - np.finfo(float).eps  # the remainder of a tiny negative number is 2 pi
    return places


def _ends(joints: JointSpace, rows: Array, edges: Ints) -> tuple[Array, Array]:
    """Return the first and second configurations of edges, (m, dof) each.

    From the first to the second, a joint that wraps turns the shorter way. So its value in the second configuration
    may be out of bounds.
    """
    first, second = rows[edges[:, 0]], rows[edges[:, 1]]
    turning = joints.columns[joints.wraps]
    gap = second[:, turning] - first[:, turning]
    second[:, turning] -= 2.0 * pi * np.round(gap / (2.0 * pi))
    return first, second
