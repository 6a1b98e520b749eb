"""Configurations checked against the robot itself and its surroundings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gjk3d.asking import check_workers
from gjk3d.families import FIRST_POINTS, in_chunks, scratch
from gjk3d.firstcall import first_call
from gjk3d.narrow import solve as narrow
from gjk3d.narrow import warm
from gjk3d.robot.checking import FREE, UNSURE, clearance_many, free_many
from gjk3d.robot.every import FAR, every_many
from gjk3d.robot.kinematics import Array, Ints, many_point_jacobians
from gjk3d.robot.model import Robot
from gjk3d.robot.motions import MotionCheck, PathCheck, motion_free, path_free
from gjk3d.robot.reports import collisions, contacts
from gjk3d.robot.results import RobotClearance
from gjk3d.robot.solids import Solids
from gjk3d.robot.surroundings import Surroundings
from gjk3d.robot.tables import PairNames
from gjk3d.robot.things import WORLD


class Checker(Surroundings):
    """A robot, and what stands around it, prepared to be asked about configurations.

    Parameters
    ----------
    robot : Robot
        Its pairs of links as they are now, see `Robot.allowed`.
    surroundings : mapping or Scene, optional
        Name of each object: its shape, or (shape, pose); or a `gjk3d.Scene`, whose objects are taken over where they
        are now: later changes of it are not seen, and its groups mean nothing here. Half-spaces, meshes and the other
        solids are looked at where the convex shapes say free, and cost more; a `Compound` or a mesh cut into convex
        parts is worth naming part by part where speed matters.
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
        surroundings: Any = None,
        *,
        touching: Any = (),
        margin: float = 0.0,
    ) -> None:
        self._lock = Lock()
        super().__init__(robot, surroundings, touching, margin)

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
        tables = self._ready()

        def run(start: int, stop: int) -> None:
            order, cache = kept if kept is not None else (tables.order.copy(), np.zeros_like(tables.cache))
            free_many(
                *self.robot.chain, rows, tables.link, tables.local, tables.ints, tables.floats, tables.starts,
                tables.rows, tables.subs, order, tables.margins, cache, *self._room(),
                np.full(len(tables.link), -1, dtype=np.int64), scratch(FIRST_POINTS)[2], start, stop, answer,
            )  # fmt: skip

        with self._remembered(workers) as kept, first_call("robot checker"):
            in_chunks(len(rows), workers, run)
        for k in np.flatnonzero(answer == UNSURE):
            out, which = self._every(rows[k : k + 1], tables.margins)
            near = (which[0] != FAR) & ~(out[0, :, 1] > tables.margins)
            answer[k] = np.argmax(near) if near.any() else FREE
        if len(tables.solid_pairs):
            left = np.flatnonzero(answer == FREE)
            found = self.solids.hits(rows[left])
            answer[left] = np.where(found >= 0, found + len(tables.rows), FREE)
        return answer, stacked

    def _every(self, rows: Array, most: Array) -> tuple[Array, Ints]:
        """Return the signed distance of every pair as far as ``most`` of it, and its sub-pair, -1 or `FAR`."""
        tables = self._ready()
        shape = len(rows), len(tables.rows)
        out, which = np.full((*shape, narrow.FLOATS), np.nan), np.empty(shape, dtype=np.int64)
        work, table, _ = scratch(FIRST_POINTS)
        with first_call("robot collisions"):
            every_many(
                *self.robot.chain, rows, tables.link, tables.local, tables.ints, tables.floats, tables.starts,
                tables.rows, tables.subs, most, *self._room(), work, table, FIRST_POINTS, np.empty((1, narrow.FLOATS)),
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
            tables = self._ready()
            yield tables.order, tables.cache
        finally:
            self._lock.release()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    def _room(self) -> tuple[Array, Array, Array, Array]:
        """Return scratch: a matrix, the poses of links, and the poses and balls of slots."""
        count = len(self._ready().link)
        return np.empty((4, 4)), np.empty((len(self.robot.links), 4, 4)), np.empty((count, 13)), np.empty((count, 4))

    def _nearest(self, rows: Array, most: float, workers: int) -> tuple[Array, Ints]:
        """Return rows as `solve` makes them and the pairs they are of, (n, 2): see `clearance_many`."""
        out, which = np.full((len(rows), narrow.FLOATS), np.nan), np.empty((len(rows), 2), dtype=np.int64)
        out[:, :3] = inf
        tables = self._ready()

        def run(start: int, stop: int) -> None:
            cache = kept[1] if kept is not None else np.zeros_like(tables.cache)
            work, table, _ = scratch(FIRST_POINTS)
            clearance_many(
                *self.robot.chain, rows, tables.link, tables.local, tables.ints, tables.floats, tables.starts,
                tables.rows, tables.subs, min(most, 1e50), cache, *self._room(), work, table, FIRST_POINTS,
                np.empty((1, narrow.FLOATS)), np.zeros((1, narrow.INTS), dtype=np.int64), np.empty(len(tables.cache)),
                start, stop, out, which,
            )  # fmt: skip

        with self._remembered(workers) as kept, first_call("robot clearance"):
            in_chunks(len(rows), workers, run)
        if len(tables.solid_pairs):
            self.solids.nearest(rows, most, out, which)
        return out, which

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
        out, which = self._nearest(rows, float(max_distance), workers)
        pairs = [None if p < 0 else self._names[p] for p in which[:, 0].tolist()]
        if stacked:
            return RobotClearance(out[:, 0], out[:, 1], out[:, 2], out[:, 3:6], out[:, 6:9], out[:, 9:12], pairs)
        distance, lower, upper = out[0, :3].tolist()
        return RobotClearance(distance, lower, upper, out[0, 3:6], out[0, 6:9], out[0, 9:12], pairs[0])

    def collisions(self, q: ArrayLike) -> Any:
        """Return every pair of links and objects that is too close.

        Parameters
        ----------
        q : (dof,) or (n, dof) float

        Returns
        -------
        list of RobotCollision
            The deepest first; one for each pair of names. A list of lists for n configurations.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.
        """
        rows, stacked = self.robot.configurations(q)
        found = collisions(self, rows)
        return found if stacked else found[0]

    def contacts(self, q: ArrayLike, *, within: float = 0.0, max_points: int | None = 4) -> Any:
        """Return where the shapes of links and objects touch: a normal, and points on both.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
        within : float
            At least 0: what is up to this far apart has its points too. Margins do not count here.
        max_points : int or None
            Most points of two shapes, as in `gjk3d.contact`. Meshes and other solids have one point each.

        Returns
        -------
        list of RobotContact
            One for each two convex shapes that touch, of which a link may have several. A list of lists for n
            configurations.

        Raises
        ------
        RobotError, ShapeError
            q is no configuration, or n of them; ``within`` or ``max_points`` is no such number.
        """
        rows, stacked = self.robot.configurations(q)
        found = contacts(self, rows, within, max_points)
        return found if stacked else found[0]

    def gradient(self, q: ArrayLike) -> Array:
        """Return how the clearance changes with q, (dof,) or (n, dof); zero where no pair is checked.

        The normal times how much faster the second point moves than the first; one of several where pairs tie.
        """
        rows, stacked = self.robot.configurations(q)
        out, which = self._nearest(rows, inf, 1)
        total, found = np.zeros((len(rows), self.robot.dof)), which[:, 0] >= 0
        tables = self._ready()
        pairs = np.concatenate([tables.rows[:, :2], tables.solid_pairs])
        for side, sign, points in ((0, -1.0, out[:, 6:9]), (1, 1.0, out[:, 9:12])):
            link = np.full(len(rows), WORLD)
            link[found] = tables.link[pairs[which[found, 0], side]]
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
        attached = f", {len(self.attached)} attached" if self.attached else ""
        return (
            f"<Checker of {self.robot.name!r}: {len(self._names)} pairs, {len(self.objects)} objects around{attached}>"
        )

    # --- what the kernels take ---------------------------------------------------------------------------------------

    @property
    def _rows(self) -> Ints:
        return self._ready().rows

    @property
    def _subs(self) -> Ints:
        return self._ready().subs

    @property
    def _link(self) -> Ints:
        return self._ready().link

    @property
    def _local(self) -> Array:
        return self._ready().local

    @property
    def _starts(self) -> Ints:
        return self._ready().starts

    @property
    def _ints(self) -> Ints:
        return self._ready().ints

    @property
    def _floats(self) -> Array:
        return self._ready().floats

    @property
    def _margins(self) -> Array:
        return self._ready().margins

    @property
    def _order(self) -> Ints:
        return self._ready().order

    @property
    def _cache(self) -> Array:
        return self._ready().cache

    @property
    def _names(self) -> PairNames:
        return PairNames(self._ready())

    @property
    def solids(self) -> Solids:
        """The pairs that the kernels leave open: meshes, other solids, half-spaces."""
        return Solids(self.robot, self._ready())
