"""The planner: a search for a path, its smoothing, and its proof with repairs, by the kernels of `planner_kernels`.

The search and the smoothing test samples of edges. Then all edges are proven. An edge without a proof is replaced by a
detour: a second search connects the ends of the edge, and proves each of its own edges. It searches in boxes around the
edge, small boxes first. If no detour is found, the whole search is repeated with proven edges.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from math import inf, pi
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from gjk3d.convex.batch import in_chunks
from gjk3d.convex.checks import check_margin
from gjk3d.errors import RobotError, UnsupportedPair
from gjk3d.results import compared
from gjk3d.robot import planner_kernels as kernels
from gjk3d.robot import queries, results
from gjk3d.robot.cell import Cell, Memory
from gjk3d.robot.cell_kernels import FREE, REFUSED, UNSURE
from gjk3d.robot.kinematics import NUMBERS, PLANAR, SLIDING, TURNING
from gjk3d.robot.model import Robot
from gjk3d.robot.motion_bounds import motion_bounds
from gjk3d.robot.motion_certified import PROVEN, certified, task_for
from gjk3d.robot.motions import PathProof, path_clearance, runs, sampled, steps_of, wider
from gjk3d.robot.planner_kernels import CONNECTED, FULL, EdgeTest, Route, Search, Space
from gjk3d.robot.sampled_edges import Edges
from gjk3d.robot.trajectories import lines
from gjk3d.typing import Array, Bools, Ints, Row, Rows
from gjk3d.wording import nearest

RANGE = 1.0  #: default length of the longest edge of a tree
_DRAWS = 64  #: greatest number of samples in a call of the search kernel; progress and time are checked between calls
_NODES = 1024  #: initial capacity of each tree, in nodes
_POINTS = 512  #: greatest number of waypoints of a path that is smoothed
_SHORTCUTS = 20  #: attempted shortcuts when a path is smoothed
_LEAST_CUT = 0.02  #: a corner that would move by less, in radians or lengths, is not cut
_SPREADS = (0.02, 0.1, 0.5)  #: margins of the boxes around a repaired edge, as shares of the range of each joint
_REPAIR_CALLS = 4  #: calls of the search kernel for each box
_TOLERANCE = 1e-6  #: tolerance of proofs by `certified`, as a share of the edge
_TOUCH = 1e-6  #: distance by which a pair that touches at an end may come closer along the path
_LONGEST = 8.0  #: greatest length of an edge that is proven without division
_MOST_PARTS = 20_000  #: greatest number of edges after long edges are divided
_TOGETHER = 32  #: edges in a call of the proof kernel; the time is checked between calls
_MOST_SAMPLES = 1e5  #: greatest number of samples of a path that is smoothed

Progress = Callable[[float, int], object]


class PlanStatus(IntEnum):
    """The status of a plan: PROVEN, UNPROVEN or TIMEOUT.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.robot.PlanStatus.PROVEN
    <PlanStatus.PROVEN: 0>
    """

    PROVEN = 0  #: the path is proven free, also between samples
    UNPROVEN = 1  #: a part of the path has no proof
    TIMEOUT = 2  #: no path was found within the time limit

    def __str__(self) -> str:
        return self.name


@compared()
class Plan(NamedTuple):
    """Result of `Checker.plan`, `Checker.prove` and `Roadmap.plan`. As a bool, it is true if the path is proven.

    Attributes
    ----------
    path : (m, dof) float or None
        Waypoints from the start to a goal, with straight lines between them. The last value of a joint that wraps may
        differ from the goal by full turns. None with TIMEOUT.
    status : PlanStatus
        PROVEN, UNPROVEN or TIMEOUT.
    goal : int or None
        The index of the goal where the path ends. None without a path, and in results of `Checker.prove`.
    proof : PathProof or None
        The proof, or the pair that prevents it. None without a path, and with ``certify=False``.

    Examples
    --------
    >>> import gjk3d as gk
    >>> plan = gk.robot.Checker(gk.robot.Robot.example()).plan([0.0, 0.0], [1.0, 1.0])
    >>> plan.status, plan.goal, plan.path[-1].tolist()
    (<PlanStatus.PROVEN: 0>, 0, [1.0, 1.0])
    """

    path: Array | None
    status: PlanStatus
    goal: int | None
    proof: PathProof | None

    def __bool__(self) -> bool:
        return self.status == PlanStatus.PROVEN

    def __repr__(self) -> str:
        points = "no path" if self.path is None else f"{len(self.path)} waypoints"
        return f"Plan({self.status}, {points}, goal={self.goal})"


# what moves -----------------------------------------------------------------------------------------------------------


class JointSpace(NamedTuple):
    """The joint values that a search varies: their columns in q, their bounds, and whether they wrap at full turns."""

    columns: Ints
    low: Array
    high: Array
    wraps: Bools  #: True for turning joints without limits


def joint_space(robot: Robot, joints: str | Sequence[str] | None, lower: Row | None, upper: Row | None) -> JointSpace:
    """Return the space of the named joints, or of all joints. A string names a group of the SRDF or a joint."""
    names = _names_of(robot, joints)
    columns = np.concatenate([np.arange(robot.dof)[robot.columns[name]] for name in names]).astype(np.int64)
    wraps, rows = _full_turns(robot)[columns], []
    turns = wraps.copy()
    for what, limits, bound, sign in (("lower", robot.lower, lower, -1.0), ("upper", robot.upper, upper, 1.0)):
        row = limits[columns].copy() if bound is None else np.array(bound, dtype=np.float64)
        if row.shape != (len(columns),) or np.isnan(row).any():
            raise RobotError(f"{what} is {bound!r:.80}, expected {len(columns)} numbers that are not NaN")
        wraps &= ~np.isfinite(row)
        for k in np.flatnonzero(~np.isfinite(row)).tolist():
            if not turns[k]:
                raise RobotError(
                    f"joint {robot._joint_of(columns[k])!r} lacks limits, but a plan needs bounds. Set lower= and "
                    f"upper= to one number for each of the {len(columns)} joint values that move"
                )
            row[k] = sign * pi
        rows.append(row)
    low, high = rows
    if (low > high).any():
        k = int(np.argmin(high - low))
        name = robot._joint_of(columns[k])
        raise RobotError(f"joint {name!r}: lower is {low[k]:g} and upper {high[k]:g}, expected lower <= upper")
    return JointSpace(columns, low, high, wraps)


def _full_turns(robot: Robot) -> Bools:
    """Return for each joint value whether a full turn leaves all links in place, also links moved by mimic joints."""
    chain, turns = robot._chain, np.zeros(robot.dof, dtype=bool)
    for kind, column in zip(chain.kind.tolist(), chain.source.tolist(), strict=True):
        if kind in (TURNING, PLANAR):
            turns[column + NUMBERS[kind] - 1] = True
    for kind, column, multiplier in zip(chain.kind, chain.source, chain.multiplier, strict=True):
        if kind == SLIDING or (kind == TURNING and multiplier != round(multiplier)):
            turns[column] = False
    return turns


def _names_of(robot: Robot, joints: str | Sequence[str] | None) -> tuple[str, ...]:
    given = robot.joint_names if joints is None else (joints,) if isinstance(joints, str) else tuple(joints)
    names = tuple(name for each in given for name in robot.groups.get(each, (each,)))
    for name in names:
        if name not in robot.columns:
            known = [*robot.groups, *robot.joint_names]
            raise RobotError(
                f"joints: robot {robot.name!r} has neither a group nor a movable joint {name!r}." + nearest(name, known)
            )
    if not names:
        raise RobotError(
            f"joints is {joints!r:.80}, expected at least one of the {len(robot.joint_names)} joints of robot "
            f"{robot.name!r}"
        )
    if len(set(names)) < len(names):
        raise RobotError(f"joints is {joints!r:.80}, expected each joint only once")
    return names


# search and smoothing -------------------------------------------------------------------------------------------------


def edge_test(cell: Cell, memory: Memory, spacing: Array, box: Array) -> EdgeTest:
    """Return a test of edges by samples. If its field ``certify`` is replaced by True, edges are also proven.

    Edges must be inside the bounding box of the configurations ``box`` (n, dof). The caller holds the lock of
    ``memory``.
    """
    dof = cell.robot.dof
    bounds = motion_bounds(cell, box[None])
    return EdgeTest(
        queries.lanes_of(cell, memory),
        queries.bodies_of(cell, memory),
        _edges(np.empty((1, dof)), np.empty((1, dof)), spacing),
        True,
        False,
        task_for(cell, False, bounds, memory),
        task_for(cell, True, bounds, memory),
        np.empty((2, dof)),
        np.zeros(dof),
    )


def _edges(first: Array, second: Array, spacing: Array) -> Edges:
    """Return the edges from each row of ``first`` to the same row of ``second``, with memory for their results."""
    return Edges(first, second, spacing, *np.zeros((4, len(first)), dtype=np.int64))


class Planner:
    """A search in the present state of a cell.

    ``rows`` (n, dof) contains the start, the goals and other configurations of the query. The motion bounds are valid
    in a box that contains these configurations and the bounds of the joints that move.
    """

    def __init__(
        self,
        cell: Cell,
        memory: Memory,
        joints: JointSpace,
        rows: Array,
        spacing: Array,
        *,
        seed: int = 0,
        range: float = RANGE,
    ) -> None:
        self.cell, self.joints, self.rng = cell, joints, np.random.default_rng(seed)
        self.until, self._begin = inf, time.perf_counter()
        self.progress: Progress | None = None
        # The motion bounds hold in this box. It includes fixed joint values: a fixed translation may be a long lever.
        box = np.stack([rows.min(axis=0), rows.max(axis=0)])
        box[0, joints.columns] = np.minimum(box[0, joints.columns], joints.low)
        box[1, joints.columns] = np.maximum(box[1, joints.columns], joints.high)
        self._test = edge_test(cell, memory, spacing, box)
        period = np.where(joints.wraps, 2.0 * pi, 0.0)
        self._space = Space(joints.columns, joints.low, joints.high, period, range)
        self._plain = self._space._replace(period=np.zeros(len(period)))
        self._route = Route(np.empty((_POINTS, cell.robot.dof)), np.empty((2, cell.robot.dof)))
        # A sample may add edges across the whole space. In a large space, fewer samples a call take the same time.
        extent = max(float(np.linalg.norm(joints.high - joints.low)), 1e-300)
        self._draws = int(np.clip(_DRAWS * _DRAWS * range / extent, 1, _DRAWS))

    def path(self, start: Array, goals: Array, certify: bool = False) -> tuple[Array, int] | None:
        """Return a path to one of ``goals`` (g, dof), and the index of this goal, or None after the time limit."""
        return self._search(self._space, start, goals, certify, None)

    def _search(
        self, space: Space, start: Array, goals: Array, certify: bool, calls: int | None
    ) -> tuple[Array, int] | None:
        test, search = self._test._replace(certify=certify), _new_search(start, goals)
        result, done = kernels.first_edges(test, space, search), 0
        while result != CONNECTED:
            spent = time.perf_counter()
            if spent > self.until or done == calls:
                return None
            if self.progress is not None:
                self.progress(spent - self._begin, int(search.counts.sum()))
            if result == FULL:
                nodes, parents, domains = (np.concatenate([each, each], axis=1) for each in search[:3])
                search = search._replace(nodes=nodes, parents=parents, domains=domains)
            draws = self.rng.random((self._draws, len(space.columns)))
            result, done = kernels.grow_trees(test, space, search, draws), done + 1
        before, after = (_branch(search, tree) for tree in (0, 1))
        # The two connected nodes are the same configuration up to rounding. The node of the goal's tree is used, since
        # it may be the goal.
        rows = np.concatenate([search.nodes[0, before[:0:-1]], search.nodes[1, after]])
        turning = space.columns[space.period > 0.0]
        rows[:, turning] = np.unwrap(rows[:, turning], axis=0)
        return rows, after[-1]

    def smoothed(self, path: Array, certify: bool = False) -> Array:
        """Return a shorter path with rounded corners. With ``certify`` its new edges are proven free.

        Return the given path if it has too many points or samples, or after the time limit.
        """
        samples = (np.abs(np.diff(path, axis=0)) / self._test.edge.spacing).max(axis=1, initial=0.0).sum()
        if len(path) > _POINTS // 2 or samples > _MOST_SAMPLES or self.is_over():
            return path
        test, route, count = self._test._replace(certify=certify), self._route, len(path)
        route.points[:count] = path
        count = kernels.remove_points(test, route, count)
        if count > 2:
            count = kernels.shorten(test, self._plain, route, count, self.rng.random((_SHORTCUTS, 2)))
            count = kernels.remove_points(test, route, count)
            count = kernels.smooth(test, self._plain, route, count, _LEAST_CUT)
        return route.points[:count].copy()

    def proven(self, path: Array) -> tuple[Array | None, PathProof]:
        """Return ``path`` with detours in place of its unproven edges, and the proof of the new path.

        If the proof fails, the first result is None.
        """
        if len(path) == 1:
            still, proof = self.proven(np.concatenate([path, path]))
            return still if still is None else path, proof
        begin, path = time.process_time(), _in_parts(path)
        which = self._proofs(path)
        pieces, copied, stretches = [path[:1]], 0, runs(which != FREE)
        for first, last in stretches:
            bridge = self._bridge(path[first], path[last])
            if bridge is None:
                return None, self._failed(path[first : first + 2], begin)
            pieces += [path[copied + 1 : first + 1], bridge[1:-1]]
            copied = last - 1
        repaired = path
        if stretches:
            repaired = np.concatenate([*pieces, path[copied + 1 :]])
            # At the connection of the two trees of a search, edges differ by rounding from the proven edges.
            which = self._proofs(repaired)
            if (which != FREE).any():
                k = int(np.argmax(which != FREE))
                return None, self._failed(repaired[k : k + 2], begin)
        if _has_more_pairs(self.cell, True):
            status = certified(self.cell, lines(repaired[:-1], repaired[1:]), _TOLERANCE, 1, self.until)[0]
            if (status != PROVEN).any():
                k = int(np.argmax(status != PROVEN))
                return None, self._failed(repaired[k : k + 2], begin)
        return repaired, PathProof(True, 0.0, len(stretches), False, None, time.process_time() - begin)

    def _proofs(self, path: Array) -> Ints:
        """Return for each edge of a path `FREE` if a proof succeeds before the time limit, else another value."""
        # Samples are not tested: a sample that collides makes the proof fail.
        test = self._test._replace(sample=False, certify=True)
        edges = _edges(path[:-1], path[1:], test.edge.spacing)
        edges.which[:] = UNSURE
        for start in range(0, len(edges.which), _TOGETHER):
            if self.is_over():
                break
            kernels.test_edges(test, edges, start, min(start + _TOGETHER, len(edges.which)))
        return edges.which

    def sampled(self, first: Array, second: Array) -> Ints:
        """Return the result of each edge from a row of ``first`` to the same row of ``second``, tested by samples.

        A result is `FREE` (free at all samples), the number of a colliding pair, `UNSURE`, or `REFUSED`.
        """
        edges = _edges(first, second, self._test.edge.spacing)
        kernels.test_edges(self._test, edges, 0, len(first))
        return edges.which

    def is_over(self) -> bool:
        """Return whether the time limit has passed."""
        return time.perf_counter() > self.until

    def _bridge(self, first: Array, last: Array) -> Array | None:
        """Return a path from ``first`` to ``last`` with proven edges, if possible near the straight line, or None."""
        columns = self.joints.columns
        if not np.array_equal(np.delete(first, columns), np.delete(last, columns)):
            return None  # a search cannot change the other joints
        for spread in () if self.is_over() else _SPREADS:
            margin = spread * (self.joints.high - self.joints.low)
            ends = np.stack([first[columns], last[columns]])
            low = np.maximum(ends.min(axis=0) - margin, np.minimum(self.joints.low, ends.min(axis=0)))
            high = np.minimum(ends.max(axis=0) + margin, np.maximum(self.joints.high, ends.max(axis=0)))
            space = self._plain._replace(low=low, high=high)
            found = self._search(space, first, last[None], True, _REPAIR_CALLS)
            if found is None:
                continue
            path = found[0]
            if len(path) > _POINTS:
                return path
            self._route.points[: len(path)] = path
            count = kernels.remove_points(self._test._replace(certify=True), self._route, len(path))
            return self._route.points[:count].copy()
        return None

    def _failed(self, edge: Array, begin: float) -> PathProof:
        """Return a failed proof, started at ``begin``, with the pair that prevents the proof of ``edge`` (2, dof)."""
        pair = FREE
        if not self.is_over():
            pair = int(certified(self.cell, lines(edge[:1], edge[1:]), _TOLERANCE, 1, self.until)[3][0])
        name = None if pair == FREE else self.cell.names[pair]
        return PathProof(False, -inf, 0, False, name, time.process_time() - begin)


def _in_parts(path: Array) -> Array:
    """Return a path whose edges longer than `_LONGEST` are divided by further waypoints."""
    lengths, most = np.linalg.norm(np.diff(path, axis=0), axis=1), max(_MOST_PARTS // len(path), 1)
    counts = np.clip(np.ceil(lengths / _LONGEST), 1, most).astype(np.int64)
    if (counts == 1).all():
        return path
    pieces = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(path, path[1:], counts.tolist(), strict=False)]
    return np.concatenate([*pieces, path[-1:]])


def _new_search(start: Array, goals: Array) -> Search:
    count = max(_NODES, 2 * len(goals) + 128)
    search = Search(
        np.empty((2, count, len(start))), np.full((2, count), -1), np.full((2, count), inf),
        np.array([1, len(goals)]), np.zeros(2, dtype=np.int64),
    )  # fmt: skip
    search.nodes[0, 0], search.nodes[1, : len(goals)] = start, goals
    return search


def _branch(search: Search, tree: int) -> list[int]:
    """Return the indices of the nodes of tree 0 or 1 from the node where the two trees meet to the root."""
    nodes = [int(search.ends[tree])]
    while (parent := int(search.parents[tree, nodes[-1]])) >= 0:
        nodes.append(parent)
    return nodes


# plans ----------------------------------------------------------------------------------------------------------------


class Request(NamedTuple):
    """The options of `Checker.plan`."""

    joints: str | Sequence[str] | None = None
    lower: Row | None = None
    upper: Row | None = None
    seconds: float = 5.0
    seed: int = 0
    margin: float = 0.0
    touching: Collection[tuple[str, str]] = ()
    certify: bool = True
    range: float = RANGE
    resolution: Any = 0.05
    progress: Progress | None = None


#: returns a path of a roadmap from a start to one of the goals, and the index of that goal, or None
FirstPath = Callable[["Planner", Array, Array], tuple[Array, int] | None]


def plan(cell: Cell, start: Row, goals: Rows, request: Request, first_path: FirstPath | None = None) -> Plan:
    """Return the result of `Checker.plan`. A path from ``first_path`` replaces the first search."""
    first = one_row(cell.robot, start, "start")
    if isinstance(goals, (Sequence, np.ndarray)) and not len(goals):
        raise RobotError("goals has no rows, expected at least one configuration")
    last = cell.robot.configurations(goals, "goals")[0]
    rows = np.concatenate([first[None], last])
    joints = _containing(cell.robot, request, rows)
    _check_others(cell.robot, joints, first, last)
    cell = _with_margins(cell, request, first, last)
    free = _free_goals(cell, first, last)
    _check_pairs(cell)
    longest = check_draws(request)
    with planner_in(cell, joints, rows, request.resolution, seed=request.seed, range=longest) as planner:
        planner.until, planner.progress = time.perf_counter() + _positive(request.seconds, "seconds"), request.progress
        found = first_path(planner, first, last[free]) if first_path else None
        return _plan(planner, found or planner.path(first, last[free]), first, last[free], free, request.certify)


def _plan(
    planner: Planner, found: tuple[Array, int] | None, start: Array, goals: Array, numbers: Ints, certify: bool
) -> Plan:
    """Smooth and prove a path, and return the plan.

    ``found`` is the path and the index of its goal in ``goals``, or None without a path. Row i of ``goals`` is row
    ``numbers[i]`` of the user's goals.
    """
    path, goal, proof, replanned = None, None, None, False
    while found is not None:
        path, goal = planner.smoothed(found[0], replanned), int(numbers[found[1]])
        if not certify:
            break
        proven, proof = planner.proven(path)
        proof = proof._replace(replanned=replanned)
        if proven is not None:
            return Plan(proven, PlanStatus.PROVEN, goal, proof)
        replanned = True
        found = None if planner.is_over() else planner.path(start, goals, certify=True)
    return Plan(path, PlanStatus.TIMEOUT if path is None else PlanStatus.UNPROVEN, goal, proof)


def prove(cell: Cell, path: Rows, request: Request) -> Plan:
    """Return the result of `Checker.prove`."""
    rows, stacked = cell.robot.configurations(path, "path")
    if not stacked or not len(rows):
        raise RobotError(
            f"path has shape {np.asarray(path).shape}, expected (m, {cell.robot.dof}) waypoints, at least one"
        )
    joints = _containing(cell.robot, request, rows)
    with planner_in(cell, joints, rows, request.resolution) as planner:
        planner.until = time.perf_counter() + _positive(request.seconds, "seconds")
        proven, proof = planner.proven(rows)
    if proven is None:
        return Plan(rows, PlanStatus.UNPROVEN, None, proof)
    return Plan(proven, PlanStatus.PROVEN, None, with_clearance(cell, proven, proof, planner.until))


def with_clearance(cell: Cell, path: Array, proof: PathProof, until: float) -> PathProof:
    """Return ``proof`` with a lower bound of distance minus margin along the path, 0 if time ``until`` passes first."""
    begin = time.process_time()
    clearance = path_clearance(cell, path, _TOLERANCE, until)
    return proof._replace(clearance=clearance, seconds=proof.seconds + time.process_time() - begin)


def edges_free(cell: Cell, first: Array, second: Array, spacing: Array, *, certify: bool, workers: int) -> Bools:
    """Return for each edge whether it is free, as `Checker.edges_free` does. Arguments are not checked."""
    edges = _edges(first, second, spacing)
    which = edges.which

    def run(start: int, stop: int) -> None:
        memory = lent or cell.memory.fresh()
        test = edge_test(cell, memory, spacing, np.concatenate([first, second]))
        kernels.test_edges(test._replace(certify=certify), edges, start, stop)

    with cell.memory.lent(workers) as lent:
        in_chunks(len(first), workers, run)
    again = (which == UNSURE) | (which == REFUSED)  # an edge with a sample that collides is never proven free
    if _has_more_pairs(cell, certify):
        again |= which == FREE
    for e in np.flatnonzero(again).tolist():  # the slower functions for one edge, which test all kinds of pairs
        if certify:
            is_free = certified(cell, lines(first[e : e + 1], second[e : e + 1]), _TOLERANCE, 1)[0][0] == PROVEN
        else:
            is_free = sampled(cell, first[e : e + 1], second[e : e + 1], spacing, 1)[0][0] == FREE
        which[e] = FREE if is_free else UNSURE
    answer: Bools = which == FREE
    return answer


def _has_more_pairs(cell: Cell, certify: bool) -> bool:
    """Return whether a cell has pairs that the kernels cannot test, or with ``certify`` cannot prove."""
    if not certify:
        return cell.walked < len(cell.slots)
    convex = len(cell.layout.pairs)
    return cell.measured < len(cell.slots) or bool((cell.margins[convex : cell.measured] < 0.0).any())


def _positive(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0.0:
        raise RobotError(f"{name} is {value!r:.80}, expected a number above 0")
    return float(value)


def check_draws(request: Request) -> float:
    """Return the greatest length of an edge of a search tree. Raise if this length or the seed is not valid."""
    if isinstance(request.seed, bool) or not isinstance(request.seed, Integral) or request.seed < 0:
        raise RobotError(f"seed is {request.seed!r:.80}, expected an integer of at least 0")
    return _positive(request.range, "range")


def one_row(robot: Robot, q: Row, name: str) -> Array:
    """Check one configuration and return it as an array (dof,). A stack of several raises `RobotError`."""
    rows, stacked = robot.configurations(q, name)
    if stacked:
        raise RobotError(f"{name} is a stack, expected one configuration. Pass one row, for example {name}[0]")
    row: Array = rows[0]
    return row


def _containing(robot: Robot, request: Request, rows: Array) -> JointSpace:
    """Return the joints that move, with bounds that contain the configurations ``rows``.

    Default bounds are extended to the configurations. A configuration outside the user's bounds raises `RobotError`.
    """
    space = joint_space(robot, request.joints, request.lower, request.upper)
    moved = rows[:, space.columns]
    least, most = moved.min(axis=0), moved.max(axis=0)
    for name, bound, outside, value in (
        ("lower", request.lower, least < space.low, least), ("upper", request.upper, most > space.high, most),
    ):  # fmt: skip
        if bound is not None and outside.any():
            k = int(np.argmax(outside))
            raise RobotError(
                f"joint {robot._joint_of(space.columns[k])!r} has the value {value[k]:g}, but {name} is "
                f"{np.asarray(bound, dtype=np.float64)[k]:g}. Extend {name}, or leave it out"
            )
    low = np.where(space.wraps, space.low, np.minimum(space.low, least))
    high = np.where(space.wraps, space.high, np.maximum(space.high, most))
    moves = low < high  # a joint with equal limits cannot move
    return JointSpace(space.columns[moves], low[moves], high[moves], space.wraps[moves])


def _check_others(robot: Robot, joints: JointSpace, start: Array, goals: Array) -> None:
    fixed = np.ones(robot.dof, dtype=bool)
    fixed[joints.columns] = False
    differ = fixed & (goals != start)
    if differ.any():
        g, k = np.argwhere(differ)[0].tolist()
        raise RobotError(
            f"goals[{g}][{k}] is {goals[g, k]:g}, but start[{k}] is {start[k]:g} and joint {robot._joint_of(k)!r} does "
            "not move. Use the value of start, or name the joint in joints="
        )


def _with_margins(cell: Cell, request: Request, start: Array, goals: Array) -> Cell:
    """Return the cell with margins increased by ``request.margin``.

    Margins of the pairs in ``request.touching`` are lowered until the pairs are free at the start and the goals.
    """
    check_margin(request.margin)
    margins = cell.margins + request.margin
    for pair in request.touching:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise RobotError(f"touching has {pair!r:.80}, expected pairs of names, such as [('cup', 'table')]")
        a, b = pair
        pairs = [k for k, names in enumerate(cell.names) if set(names) == {a, b}]
        if not pairs:
            hints = "".join(nearest(name, cell.owners) for name in pair if name not in cell.owners)
            cure = hints or " Leave this pair out"
            raise RobotError(f"touching names {a!r} and {b!r}, which are not a checked pair.{cure}")
        ends = np.concatenate([start[None], goals])
        for _, numbers, out in results.near(cell, ends, np.where(np.isin(np.arange(len(margins)), pairs), inf, -inf)):
            for k, row in zip(numbers.tolist(), out, strict=True):
                margins[k] = min(margins[k], float(row[1]) - _TOUCH)
        if any(k >= len(cell.layout.pairs) and margins[k] < 0.0 for k in pairs):
            raise UnsupportedPair(
                f"touching: {a!r} and {b!r} touch, but the planner cannot bound the depth of a non-convex body along a "
                "path. Replace the body by its hull, or by the convex pieces of mesh.decompose()"
            )
    return cell if np.array_equal(margins, cell.margins) else wider(cell, margins - cell.margins)


def _free_goals(cell: Cell, start: Array, goals: Array) -> Ints:
    """Return the indices of the free goals. Raise if the start is not free, or if no goal is free."""
    hits = queries.hits(cell, np.concatenate([start[None], goals]), 1)
    for fault, other, which in (
        ("start is not free:", "another start", hits[:1]),
        ("no goal is free: in goals[0],", "other goals", hits[1:]),
    ):
        if (which != FREE).all():
            a, b = cell.names[which[0]]
            raise RobotError(
                f"{fault} {a!r} and {b!r} are closer than their margin. Pass {other}, or name the pair in touching= if "
                "it may touch"
            )
    return np.flatnonzero(hits[1:] == FREE)


@contextmanager
def planner_in(
    cell: Cell, joints: JointSpace, rows: Array, resolution: Any, *, seed: int = 0, range: float = RANGE
) -> Iterator[Planner]:
    """Yield a planner for a cell. The planner uses the cell's memory until the context ends."""
    spacing = steps_of(cell.robot, resolution)
    with cell.memory.lent(1) as lent:
        yield Planner(cell, lent or cell.memory.fresh(), joints, rows, spacing, seed=seed, range=range)


def _check_pairs(cell: Cell) -> None:
    if _has_more_pairs(cell, False):
        a, b = cell.names[cell.walked]
        raise UnsupportedPair(
            f"plan: the kernels cannot test {a!r} against {b!r}. Plan with gjk3d.robot.ompl.Planning, or replace the "
            "shape by a mesh or by its hull"
        )
