"""Configurations checked against the robot itself and its surroundings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.checks import check_workers
from gjk3d.query.dispatch import Collider
from gjk3d.robot.answers import Answers
from gjk3d.robot.kinematics import many_point_jacobians
from gjk3d.robot.model import Robot
from gjk3d.robot.motions import ManyMotions, MotionCheck, OneMotion, PathCheck, motion_free, path_free
from gjk3d.robot.obstacles import WORLD
from gjk3d.robot.results import PairName, RobotClearance, RobotCollision, RobotContact, collisions, contacts
from gjk3d.robot.walk import FREE
from gjk3d.scene import Scene
from gjk3d.typing import Array, Number, PoseLike, Row, Rows, Unclear, VectorLike


class Checker(Answers):
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
        surroundings: Mapping[str, Collider | tuple[Collider, PoseLike | None]] | Scene | None = None,
        *,
        touching: Iterable[tuple[str, str]] = (),
        margin: float = 0.0,
    ) -> None:
        super().__init__(robot, surroundings, touching, margin)

    @overload
    def free(self, q: Unclear, *, workers: int = 1) -> Any: ...
    @overload
    def free(self, q: Row, *, workers: int = 1) -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def free(self, q: Rows, *, workers: int = 1) -> NDArray[np.bool_]: ...
    def free(self, q: Rows, *, workers: int = 1) -> Any:
        """Tell whether the robot touches neither itself nor its surroundings, nor comes closer than the margin.

        Limits of joints are not looked at: see `Robot.within_limits`.

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
        if type(workers) is int and workers == 1:
            told = self._quick(q)
            if told == FREE or told >= 0:
                return told == FREE
        pairs, stacked = self._still()._hits(q, workers)
        free: NDArray[np.bool_] = pairs == FREE
        return free if stacked else bool(free[0])

    @overload
    def hit(self, q: Unclear, *, workers: int = 1) -> Any: ...
    @overload
    def hit(self, q: Row, *, workers: int = 1) -> PairName: ...  # type: ignore[overload-overlap]
    @overload
    def hit(self, q: Rows, *, workers: int = 1) -> list[PairName]: ...
    def hit(self, q: Rows, *, workers: int = 1) -> Any:
        """Return a pair that is too close, as two names, or None; a list of such for n configurations.

        Which of several it is depends on what was asked before; see `collisions` for all.
        """
        if type(workers) is int and workers == 1:
            told = self._quick(q)
            if told == FREE or told >= 0:
                return None if told == FREE else self._names[told]
        still = self._still()
        pairs, stacked = still._hits(q, workers)
        found = [None if p == FREE else still._names[p] for p in pairs.tolist()]
        return found if stacked else found[0]

    @overload
    def clearance(self, q: Unclear, *, max_distance: float = inf, workers: int = 1) -> RobotClearance[Any, Any]: ...
    @overload
    def clearance(self, q: Row, *, max_distance: float = inf, workers: int = 1) -> RobotClearance[float, PairName]: ...  # type: ignore[overload-overlap]
    @overload
    def clearance(
        self, q: Rows, *, max_distance: float = inf, workers: int = 1
    ) -> RobotClearance[Array, list[PairName]]: ...
    def clearance(self, q: Rows, *, max_distance: float = inf, workers: int = 1) -> RobotClearance[Any, Any]:
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
        still = self._still()
        out, which = still._nearest(rows, float(max_distance), workers)
        pairs = [None if p < 0 else still._names[p] for p in which[:, 0].tolist()]
        if stacked:
            return RobotClearance(out[:, 0], out[:, 1], out[:, 2], out[:, 3:6], out[:, 6:9], out[:, 9:12], pairs)
        distance, lower, upper = out[0, :3].tolist()
        return RobotClearance(distance, lower, upper, out[0, 3:6], out[0, 6:9], out[0, 9:12], pairs[0])

    @overload
    def collisions(self, q: Unclear) -> Any: ...
    @overload
    def collisions(self, q: Row) -> list[RobotCollision]: ...  # type: ignore[overload-overlap]
    @overload
    def collisions(self, q: Rows) -> list[list[RobotCollision]]: ...
    def collisions(self, q: Rows) -> Any:
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
        found = collisions(self._still(), rows)
        return found if stacked else found[0]

    @overload
    def contacts(self, q: Unclear, *, within: float = 0.0, max_points: int | None = 4) -> Any: ...
    @overload
    def contacts(self, q: Row, *, within: float = 0.0, max_points: int | None = 4) -> list[RobotContact]: ...  # type: ignore[overload-overlap]
    @overload
    def contacts(self, q: Rows, *, within: float = 0.0, max_points: int | None = 4) -> list[list[RobotContact]]: ...
    def contacts(self, q: Rows, *, within: float = 0.0, max_points: int | None = 4) -> Any:
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
        found = contacts(self._still(), rows, within, max_points)
        return found if stacked else found[0]

    def gradient(self, q: Rows) -> Array:
        """Return how the clearance changes with q, (dof,) or (n, dof); zero where no pair is checked.

        In overlap with what is not convex it is that of the deepest found, which another may replace any moment. The
        normal times how much faster the second point moves than the first; one of several where pairs tie.
        """
        rows, stacked = self.robot.configurations(q)
        still = self._still()
        out, which = still._nearest(rows, inf, 1)
        total, found = np.zeros((len(rows), self.robot.dof)), which[:, 0] >= 0
        tables = still._ready()
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

    @overload
    def motion_free(
        self, q0: Unclear, q1: Rows, *, certify: bool = False, resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-6, workers: int = 1,
    ) -> MotionCheck[Any, Any, Any, Any]: ...  # fmt: skip
    @overload
    def motion_free(
        self, q0: Rows, q1: Unclear, *, certify: bool = False, resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-6, workers: int = 1,
    ) -> MotionCheck[Any, Any, Any, Any]: ...  # fmt: skip
    @overload
    def motion_free(  # type: ignore[overload-overlap]
        self, q0: Row, q1: Row, *, certify: bool = False, resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-6, workers: int = 1,
    ) -> OneMotion: ...  # fmt: skip
    @overload
    def motion_free(
        self, q0: Rows, q1: Rows, *, certify: bool = False, resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-6, workers: int = 1,
    ) -> ManyMotions: ...  # fmt: skip
    def motion_free(
        self,
        q0: Rows,
        q1: Rows,
        *,
        certify: bool = False,
        resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-6,
        workers: int = 1,
    ) -> MotionCheck[Any, Any, Any, Any]:
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
        return motion_free(self._still(), q0, q1, certify, resolution, tolerance, workers)

    def path_free(
        self,
        path: Rows,
        *,
        certify: bool = False,
        resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-6,
        workers: int = 1,
    ) -> PathCheck:
        """Tell whether a path of straight lines between (m, dof) waypoints is free, and where it hits first.

        Parameters as those of `motion_free`.
        """
        return path_free(self._still(), path, certify, resolution, tolerance, workers)

    def __repr__(self) -> str:
        attached = f", {len(self.attached)} attached" if self.attached else ""
        return (
            f"<Checker of {self.robot.name!r}: {len(self._names)} pairs, {len(self.objects)} objects around{attached}>"
        )
