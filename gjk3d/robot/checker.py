"""Configurations checked against the robot itself and its surroundings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gjk3d.asking import check_margin, check_workers
from gjk3d.errors import RobotError
from gjk3d.families import FIRST_POINTS, arena, in_chunks, is_mapped, scratch
from gjk3d.firstcall import first_call
from gjk3d.narrow import solve as narrow
from gjk3d.narrow import warm
from gjk3d.poses import pose_rows
from gjk3d.robot.checking import FREE, UNSURE, clearance_many, free_many
from gjk3d.robot.every import FAR, every_many
from gjk3d.robot.kinematics import Array, Ints, many_point_jacobians
from gjk3d.robot.model import Robot
from gjk3d.robot.motions import MotionCheck, PathCheck, motion_free, path_free
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace

WORLD = -1


class RobotClearance(NamedTuple):
    """Answer of `Checker.clearance`, for one configuration or n.

    Attributes
    ----------
    distance : float or (n,) float
        The least signed distance of all pairs; negative is overlap, infinite where no pair is within the limit.
    lower, upper : float or (n,) float
        Bounds of it that hold for the poses as computed.
    normal : (3,) or (n, 3) float
        Unit vector from the first of the pair to the second, in world axes.
    point_a, point_b : (3,) or (n, 3) float
        The nearest points, in world axes.
    pair : (str, str) or list of such, or None
        Names: of links, or of an object of the surroundings, which stands second.
    """

    distance: Any
    lower: Any
    upper: Any
    normal: Array
    point_a: Array
    point_b: Array
    pair: Any


class Checker:
    """A robot, and what stands around it, prepared to be asked about configurations.

    Parameters
    ----------
    robot : Robot
        Its pairs of links as they are now, see `Robot.allowed`. Meshes as hulls or bodies, not as triangles.
    surroundings : mapping, optional
        Name of each object: its shape, or (shape, pose). Convex shapes; a floor is a large Box.
    touching : iterable of (str, str)
        Links and objects that may touch, such as the base and the floor.
    margin : float
        How close is too close, in the robot's unit; `set_margin` gives some pairs another.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np, pathlib, tempfile
    >>> text = '''<robot name="arm"><link name="post"/><link name="beam"><collision><origin xyz="0.5 0 0"/>
    ... <geometry><box size="1 0.1 0.1"/></geometry></collision></link><joint name="turn" type="continuous">
    ... <parent link="post"/><child link="beam"/><axis xyz="0 0 1"/></joint></robot>'''
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.urdf"
    >>> _ = path.write_text(text)
    >>> wall = np.eye(4); wall[0, 3] = 1.25
    >>> checker = gk.robot.Checker(gk.robot.Robot.from_urdf(path), {"wall": (gk.Box((0.1, 2, 2)), wall)})
    >>> checker.free([[0.0], [1.5]]).tolist()
    [True, True]
    >>> nearest = checker.clearance([0.0])
    >>> round(nearest.distance, 9), nearest.pair
    (0.2, ('beam', 'wall'))
    """

    def __init__(
        self,
        robot: Robot,
        surroundings: Mapping[str, Any] | None = None,
        *,
        touching: Any = (),
        margin: float = 0.0,
    ) -> None:
        check_margin(margin)
        self.robot, self.margin, self._lock = robot, float(margin), Lock()
        slots: list[tuple[int, Array, Shape]] = []
        wholes: list[tuple[int, int, list[int]]] = []  # of each geometry: link, slot of the hull, slots of its bodies
        for geometry in robot.geometries:
            bodies = robot.bodies[geometry.first : geometry.last]
            for body in bodies:
                _check_shape(robot.links[body.link], body.shape)
            if len(bodies) == 1:
                wholes.append((geometry.link, len(slots), []))
                slots.append((geometry.link, bodies[0].pose, bodies[0].shape))  # type: ignore[arg-type]
                continue
            wholes.append((geometry.link, len(slots), list(range(len(slots) + 1, len(slots) + 1 + len(bodies)))))
            slots.append((geometry.link, geometry.pose, geometry.hull))
            slots += [(body.link, body.pose, body.shape) for body in bodies]  # type: ignore[misc]
        self.objects: tuple[str, ...] = tuple(surroundings or ())
        around = []
        for name, given in (surroundings or {}).items():
            shape, pose = given if isinstance(given, tuple) else (given, None)
            _check_shape(name, shape)
            matrix = np.eye(4)
            rows, stacked = pose_rows(pose, f"pose of {name!r}")
            if stacked:
                raise RobotError(f"the pose of {name!r} is a stack: an object stands in one place")
            matrix[:3, :3], matrix[:3, 3] = rows[0, :9].reshape(3, 3), rows[0, 9:12]
            around.append(len(slots))
            slots.append((WORLD, matrix, shape))
        self._slots(slots)
        self._pairs(wholes, around, {tuple(each) for each in touching})

    def _slots(self, slots: list[tuple[int, Array, Shape]]) -> None:
        distinct = {id(shape): shape for _, _, shape in slots}
        number = {key: k for k, key in enumerate(distinct)}
        self._ints, self._floats, starts = arena(list(distinct.values()))
        self._starts = np.ascontiguousarray(starts[[number[id(shape)] for _, _, shape in slots]].reshape(-1, 2))
        self._link = np.array([link for link, _, _ in slots], dtype=np.int64)
        self._local = np.array([[*pose[:3, :3].ravel(), *pose[:3, 3]] for _, pose, _ in slots]).reshape(-1, 12)

    def _pairs(self, wholes: list[tuple[int, int, list[int]]], around: list[int], touching: set[Any]) -> None:
        rows: list[tuple[int, int, int, int]] = []
        subs: list[tuple[int, int]] = []
        self._names: list[tuple[str, str]] = []
        links = self.robot.links
        checked = {tuple(pair) for pair in self.robot.pairs.tolist()}

        def add(a: int, b: int, of_a: list[int], of_b: list[int], names: tuple[str, str]) -> None:
            first = len(subs)
            if of_a or of_b:
                subs.extend((i, j) for i in of_a or [a] for j in of_b or [b])
            rows.append((a, b, first, len(subs)))
            self._names.append(names)

        for k, (link, hull, bodies) in enumerate(wholes):
            for other, their_hull, theirs in wholes[k + 1 :]:
                pair = (min(link, other), max(link, other))
                if pair in checked:
                    if link <= other:
                        add(hull, their_hull, bodies, theirs, (links[link], links[other]))
                    else:
                        add(their_hull, hull, theirs, bodies, (links[other], links[link]))
        for link, hull, bodies in wholes:
            for slot, name in zip(around, self.objects, strict=True):
                if (links[link], name) not in touching:
                    add(hull, slot, bodies, [], (links[link], name))
        unknown = {pair for pair in touching if len(pair) != 2 or pair[0] not in links or pair[1] not in self.objects}
        if unknown:
            raise RobotError(f"touching: {sorted(unknown)[0]!r} is no link with an object of the surroundings")
        self._rows = np.array(rows, dtype=np.int64).reshape(-1, 4)
        self._subs = np.array(subs, dtype=np.int64).reshape(-1, 2)
        self._order = np.arange(len(rows), dtype=np.int64)
        self._cache = np.zeros((len(rows) + len(subs), warm.ROW))
        self._margins = np.full(len(rows), self.margin)

    def set_margin(self, a: str, b: str | None, margin: float) -> None:
        """Say how close is too close for two links, a link and an object, or for one of them and all others.

        What is said later holds. Distances are not changed by margins, only what counts as free.

        Parameters
        ----------
        a, b : str
            Names of links or objects, in any order; b None means all that a is checked against.
        margin : float
            Negative lets the two overlap by as much.
        """
        check_margin(margin)
        for name in (a, b):
            if name is not None and name not in self.robot.links and name not in self.objects:
                raise RobotError(f"set_margin: {name!r} is neither a link nor an object of the surroundings")
        at = [p for p, names in enumerate(self._names) if a in names and (b is None or (b in names and a != b))]
        if not at and b is not None:
            raise RobotError(f"set_margin: {a!r} and {b!r} are no pair that is checked")
        self._margins[at] = margin

    def free(self, q: ArrayLike, *, workers: int = 1) -> Any:
        """Tell whether the robot touches neither itself nor its surroundings, nor comes closer than the margin.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
        workers : int
            Threads for a stack.

        Returns
        -------
        bool or (n,) bool

        Raises
        ------
        RobotError
            q is no configuration, or n of them.
        """
        pairs, stacked = self._hits(q, workers)
        free: NDArray[np.bool_] = pairs == FREE
        return free if stacked else bool(free[0])

    def hit(self, q: ArrayLike, *, workers: int = 1) -> Any:
        """Return a pair that is too close, as two names, or None; a list of such for n configurations.

        Which of several it is depends on what was asked before; see `collisions` for all.
        """
        pairs, stacked = self._hits(q, workers)
        found = [None if p == FREE else self._names[p] for p in pairs.tolist()]
        return found if stacked else found[0]

    def _hits(self, q: ArrayLike, workers: int) -> tuple[Ints, bool]:
        check_workers(workers)
        rows, stacked = self.robot.configurations(q)
        answer = np.empty(len(rows), dtype=np.int64)

        def run(start: int, stop: int) -> None:
            order, cache = kept if kept is not None else (self._order.copy(), np.zeros_like(self._cache))
            free_many(
                *self.robot.chain, rows, self._link, self._local, self._ints, self._floats, self._starts, self._rows,
                self._subs, order, self._margins, cache, *self._room(), np.full(len(self._link), -1, dtype=np.int64),
                scratch(FIRST_POINTS)[2], start, stop, answer,
            )  # fmt: skip

        with self._remembered(workers) as kept, first_call("robot checker"):
            in_chunks(len(rows), workers, run)
        for k in np.flatnonzero(answer == UNSURE):
            out, which = self._every(rows[k : k + 1], self._margins)
            near = (which[0] != FAR) & ~(out[0, :, 1] > self._margins)
            answer[k] = np.argmax(near) if near.any() else FREE
        return answer, stacked

    def _every(self, rows: Array, most: Array) -> tuple[Array, Ints]:
        """Return the signed distance of every pair as far as ``most`` of it, and its sub-pair, -1 or `FAR`."""
        shape = len(rows), len(self._rows)
        out, which = np.full((*shape, narrow.FLOATS), np.nan), np.empty(shape, dtype=np.int64)
        work, table, _ = scratch(FIRST_POINTS)
        with first_call("robot collisions"):
            every_many(
                *self.robot.chain, rows, self._link, self._local, self._ints, self._floats, self._starts, self._rows,
                self._subs, most, *self._room(), work, table, FIRST_POINTS, np.empty((1, narrow.FLOATS)),
                np.zeros((1, narrow.INTS), dtype=np.int64), np.empty((0, warm.ROW)), 0, len(rows), out, which,
            )  # fmt: skip
        return out, which

    @contextmanager
    def _remembered(self, workers: int) -> Iterator[tuple[Ints, Array] | None]:
        """Lend the order and the axes to one thread; another that asks meanwhile goes without, and gets None.

        Two in the same arrays could lose a pair from the order, which would then never be asked.
        """
        if workers != 1 or not self._lock.acquire(blocking=False):
            yield None
            return
        try:
            yield self._order, self._cache
        finally:
            self._lock.release()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    def _room(self) -> tuple[Array, Array, Array, Array]:
        """Return scratch: a matrix, the poses of links, and the poses and balls of slots."""
        count = len(self._link)
        return np.empty((4, 4)), np.empty((len(self.robot.links), 4, 4)), np.empty((count, 13)), np.empty((count, 4))

    def _nearest(self, rows: Array, most: float, workers: int) -> tuple[Array, Array, Ints]:
        out, which = np.full((len(rows), narrow.FLOATS), np.nan), np.empty((len(rows), 2), dtype=np.int64)
        out[:, :3] = inf

        def run(start: int, stop: int) -> None:
            cache = kept[1] if kept is not None else np.zeros_like(self._cache)
            work, table, _ = scratch(FIRST_POINTS)
            clearance_many(
                *self.robot.chain, rows, self._link, self._local, self._ints, self._floats, self._starts, self._rows,
                self._subs, min(most, 1e50), cache, *self._room(), work, table, FIRST_POINTS,
                np.empty((1, narrow.FLOATS)), np.zeros((1, narrow.INTS), dtype=np.int64), np.empty(len(self._rows)),
                start, stop, out, which,
            )  # fmt: skip

        with self._remembered(workers) as kept, first_call("robot clearance"):
            in_chunks(len(rows), workers, run)
        return rows, out, which

    def clearance(self, q: ArrayLike, *, max_distance: float = inf, workers: int = 1) -> RobotClearance:
        """Return the least signed distance of all checked pairs, and whose it is.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
        max_distance : float
            What is farther is not looked for; the answer is then infinite.
        workers : int
            Threads for a stack.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.
        """
        check_workers(workers)
        rows, stacked = self.robot.configurations(q)
        _, out, which = self._nearest(rows, float(max_distance), workers)
        pairs = [None if p < 0 else self._names[p] for p in which[:, 0].tolist()]
        if stacked:
            return RobotClearance(out[:, 0], out[:, 1], out[:, 2], out[:, 3:6], out[:, 6:9], out[:, 9:12], pairs)
        distance, lower, upper = out[0, :3].tolist()
        return RobotClearance(distance, lower, upper, out[0, 3:6], out[0, 6:9], out[0, 9:12], pairs[0])

    def gradient(self, q: ArrayLike) -> Array:
        """Return how the clearance changes with q, (dof,) or (n, dof); zero where no pair is checked.

        The normal times how much faster the second point moves than the first; one of several where pairs tie.
        """
        rows, stacked = self.robot.configurations(q)
        _, out, which = self._nearest(rows, inf, 1)
        total, found = np.zeros((len(rows), self.robot.dof)), which[:, 0] >= 0
        for side, sign, points in ((0, -1.0, out[:, 6:9]), (1, 1.0, out[:, 9:12])):
            link = np.full(len(rows), WORLD)
            link[found] = self._link[self._rows[which[found, 0], side]]
            for each in np.unique(link[link >= 0]).tolist():
                at = np.flatnonzero(link == each)
                poses = self.robot.link_poses(rows[at])[:, each]
                local = np.einsum("nji,nj->ni", poses[:, :3, :3], points[at] - poses[:, :3, 3])
                moved = np.empty((len(at), 3, self.robot.dof))
                frames = np.empty((len(self.robot.links), 4, 4))
                many_point_jacobians(
                    *self.robot.chain, rows[at].copy(), each, local.copy(), np.empty((4, 4)), frames, moved
                )
                total[at] += sign * np.einsum("ni,nij->nj", out[at, 3:6], moved)
        return total if stacked else total[0]

    def motion_free(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        *,
        certify: bool = False,
        resolution: ArrayLike = 0.05,
        tolerance: float = 1e-6,
        workers: int = 1,
    ) -> MotionCheck:
        """Tell whether straight lines in joint space are free, and where they hit first.

        Turns are not wrapped: from 3 to -3 is the long way round.

        Parameters
        ----------
        q0, q1 : (dof,) or (n, dof) float
            From where to where; one configuration and n are n motions.
        certify : bool
            False looks at samples. True proves what is between them too: no motion is called free that is not.
        resolution : float or (dof,) float
            Of samples: the most that any number of q changes from one to the next, or the most for each of them.
        tolerance : float
            Of a proof: parameters closer than this are not told apart.
        workers : int
            Threads for a stack.

        Raises
        ------
        RobotError
            q0 or q1 is no configuration, or n of them; the stacks differ; resolution or tolerance is not above 0.
        """
        return motion_free(self, q0, q1, certify, resolution, tolerance, workers)

    def path_free(
        self,
        path: ArrayLike,
        *,
        certify: bool = False,
        resolution: ArrayLike = 0.05,
        tolerance: float = 1e-6,
        workers: int = 1,
    ) -> PathCheck:
        """Tell whether a path of straight lines between (m, dof) waypoints is free, and where it hits first.

        Parameters as those of `motion_free`.
        """
        return path_free(self, path, certify, resolution, tolerance, workers)

    def __repr__(self) -> str:
        return f"<Checker of {self.robot.name!r}: {len(self._rows)} pairs, {len(self.objects)} objects around>"


def _check_shape(name: str, shape: Any) -> None:
    if not isinstance(shape, Shape):
        raise RobotError(
            f"{name!r} has a {type(shape).__name__}: a Checker takes convex shapes; load the robot with "
            'geometry="bodies" or "hull", and give surroundings as shapes or their hull()'
        )
    if isinstance(shape, Halfspace):
        raise RobotError(f"{name!r} is a Halfspace: a Checker takes bounded shapes, give a large Box")
    if is_mapped(shape):
        raise RobotError(f"{name!r} is a Support: a Checker takes shapes that need no function of yours")
