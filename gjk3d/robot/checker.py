"""The checker: configurations and motions of a robot, checked against itself, obstacles, and attached objects.

`planning_scene` has the surroundings, `configuration_checks` the queries about configurations, and this file those
about motions. They are computed in `queries`, `results`, `motions` and `timed`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, overload

from gjk3d.robot.configuration_checks import ConfigurationChecks
from gjk3d.robot.motions import ManyMotions, MotionCheck, OneMotion, PathCheck, motion_free, path_free
from gjk3d.robot.safety import How, Programme, SafetyReport, safety
from gjk3d.robot.swept import SweptVolume, swept
from gjk3d.robot.timed import (
    Moving,
    TimedQuery,
    TrajectoryCheck,
    TrajectoryClearance,
    timed_query,
    trajectory_clearance,
    trajectory_free,
)
from gjk3d.robot.trajectories import Parts, as_trajectory
from gjk3d.typing import Number, Row, Rows, Unclear, VectorLike


class Checker(ConfigurationChecks):
    """A robot, the obstacles around it and the objects on it, prepared to be asked about configurations.

    Threads may ask one checker at the same time, also while another changes it: each question is about one state.
    Changes themselves are no business of several threads at once.

    Parameters
    ----------
    robot : Robot
        Its pairs of links are those of `Robot.allowed`, as they are when the checker is asked.
    surroundings : mapping of shapes or (shape, (4, 4) pose), or Scene, optional
        By the name of each obstacle; or a `gjk3d.Scene`, whose objects are taken over where they
        are now: later changes of it are not seen, and its groups mean nothing here. Meshes, clouds and the other
        bodies are looked at where the convex shapes say free, and cost more. A mesh with a unit is scaled to metres.
        A Scene of meshes in another unit is refused, because its poses are in that unit too.
    touching : iterable of (str, str)
        Links and obstacles that may touch, such as the base and the floor.
    margin : float
        How close is too close, in the robot's unit; `set_margin` gives some pairs another.

    Raises
    ------
    RobotError
        A name is taken, or unknown in ``touching``; a pose is a stack.
    UnsupportedPair
        A shape is none.
    ShapeError
        The margin is no finite number.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> wall = np.eye(4); wall[0, 3] = 1.75
    >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
    >>> checker.free([[0.0, 0.0], [1.5, 0.0]]).tolist()
    [True, True]
    >>> nearest = checker.clearance([0.0, 0.0])
    >>> round(nearest.distance, 9), nearest.pair
    (0.2, ('hand', 'wall'))

    Obstacles come, move and go; a copy has its own.

    >>> other = checker.copy()
    >>> other.add("ball", gk.Sphere(0.1), touching=["post", "beam"])
    >>> other.move("ball", other.pose("wall"))
    >>> other.remove("wall")
    >>> other.objects, other.shape("ball"), checker.objects
    (('ball',), Sphere(radius=0.1), ('wall',))
    >>> checker.margin = 0.3
    >>> checker.free([0.0, 0.0])
    False
    """

    __slots__ = ()

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

        Returns
        -------
        MotionCheck
            Free or not, up to where, from where on it collides, and who; of one motion or of n.

        Raises
        ------
        RobotError
            q0 or q1 is no configuration, or n of them; the stacks differ; resolution or tolerance is not above 0; or a
            motion would take too many samples.
        ShapeError
            ``workers`` is not a number of threads.

        Notes
        -----
        Of numbers so large that rounding them alone moves a link (a turn of 1e12 is rounded by 1e-4), and of motions of
        thousands of turns, little can be proven: they are UNRESOLVED. Bring turns near 0 before asking.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pole = np.eye(4); pole[:2, 3] = 0.0, 1.0
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)})
        >>> found = checker.motion_free([0.0, 0.0], [3.0, 0.0], certify=True)
        >>> bool(found), found.status, found.pair[1], round(found.hit, 4)
        (False, <MotionStatus.HIT: 1>, 'pole', 0.4734)
        """
        return motion_free(self._cell(), q0, q1, certify, resolution, tolerance, workers)

    def path_free(
        self,
        path: Rows,
        *,
        certify: bool = False,
        resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-6,
        workers: int = 1,
    ) -> PathCheck:
        """Tell whether a path of straight lines between waypoints is free, and where it hits first.

        Parameters
        ----------
        path : (m, dof) float
            Waypoints, at least one.
        certify : bool
        resolution : float or (dof,) float
        tolerance : float
        workers : int
            As in `motion_free`.

        Returns
        -------
        PathCheck
            Free or not, and where and between whom it is not.

        Raises
        ------
        RobotError
            The path is none; resolution or tolerance is not above 0.
        ShapeError
            ``workers`` is not a number of threads.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pole = np.eye(4); pole[:2, 3] = 0.0, 1.0
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)})
        >>> found = checker.path_free([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
        >>> bool(found), found.edge
        (False, 1)
        """
        return path_free(self._cell(), path, certify, resolution, tolerance, workers)

    def trajectory_free(
        self,
        trajectory: Any,
        *,
        moving: Moving | None = None,
        certify: bool = False,
        resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-6,
        workers: int = 1,
    ) -> TrajectoryCheck:
        """Tell whether a motion over time is free, of obstacles that move too, and when it hits first.

        Parameters
        ----------
        trajectory : Trajectory, or spline of scipy
            See `Trajectory`; a spline is taken as it is.
        moving : mapping of str to Motion, or to (Motion, (float, float)), optional
            Obstacles that move, by name, instead of standing where they were added: each from the first time of the
            trajectory to its last, or between the two times given, before and after which it goes on at the same rate.
            What has no end, such as a half-space, cannot move; obstacles are not checked against each other.
        certify : bool
            False looks at samples. True proves what is between them too: nothing is called free that is not.
        resolution : float or (dof,) float
            Of samples: the most that any number of q changes from one to the next, or the most for each of them. The
            way and the turn of a moving obstacle change by no more than the least of them.
        tolerance : float
            Of a proof: how close the bracket of the first contact is, in the unit of the times.
        workers : int
            Threads.

        Returns
        -------
        TrajectoryCheck
            Free or not, up to when, from when on it collides, and who.

        Raises
        ------
        RobotError
            The trajectory is none, or of another robot; ``moving`` names no obstacle, or one that has no end;
            resolution or tolerance is not above 0.
        ShapeError
            ``workers`` is not a number of threads.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> start = np.eye(4); start[:2, 3] = 1.2, 2.0
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"crate": (gk.Box((0.2, 0.2, 0.2)), start)})
        >>> still = gk.robot.Trajectory([[0.0, 0.0], [0.0, 0.0]], times=[0.0, 10.0])
        >>> belt = gk.Motion.translation(start, (0, -4, 0))
        >>> found = checker.trajectory_free(still, moving={"crate": belt}, certify=True)
        >>> found.pair, round(found.hit, 4), found.hit - found.safe <= 1e-6
        (('hand', 'crate'), 4.625, True)
        """
        return trajectory_free(self._timed_query(trajectory, moving), certify, resolution, tolerance, workers)

    def trajectory_clearance(
        self,
        trajectory: Any,
        *,
        moving: Moving | None = None,
        resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-4,
        workers: int = 1,
    ) -> TrajectoryClearance:
        """Return how near a motion over time brings anything, with proven bounds, and when, where and whom.

        Margins do not count. Samples say who is near; then it is proven that nothing comes nearer.

        Parameters
        ----------
        trajectory : Trajectory, or spline of scipy
        moving : mapping, optional
        resolution : float or (dof,) float
            As in `trajectory_free`.
        tolerance : float
            How close the bounds are, in the robot's unit, where the proof succeeds; they hold in any case.
        workers : int
            Threads.

        Returns
        -------
        TrajectoryClearance

        Raises
        ------
        RobotError, ShapeError
            As in `trajectory_free`.

        Examples
        --------
        >>> import gjk3d as gk
        >>> way = gk.robot.Trajectory([[0.0, 0.0], [0.0, 2.4]], times=[0.0, 3.0])
        >>> nearest = gk.robot.Checker(gk.robot.Robot.example()).trajectory_clearance(way)
        >>> nearest.pair, nearest.lower <= nearest.distance <= nearest.upper
        (('post', 'hand'), True)
        """
        return trajectory_clearance(self._timed_query(trajectory, moving), resolution, tolerance, workers)

    def swept(self, trajectory: Any, *, excess: float = 0.01, links: Collection[str] | None = None) -> SweptVolume:
        """Return what links and attached objects sweep along a motion, held by convex pieces: proven, nothing is out.

        For safety zones, for cells that robots share, and for pictures.

        Parameters
        ----------
        trajectory : Trajectory, or spline of scipy
            See `Trajectory`.
        excess : float
            How far pieces may reach beyond what is swept, in the robot's unit. To that comes, and is in the excess of
            the answer, what a polytope about a curved shape has too much, and the hull about a body that is not convex.
        links : names of links or attached objects, optional
            All by default.

        Returns
        -------
        SweptVolume

        Raises
        ------
        RobotError
            The trajectory is none, the excess is not above 0, or there is no such link with shapes.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> swept = checker.swept(gk.robot.Trajectory([[0.0, 0.0], [0.5, 0.0]], times=[0.0, 1.0]), excess=0.02)
        >>> sorted(swept.compounds()), swept.excess <= 0.02
        (['beam', 'hand', 'post'], True)
        """
        cell = self._cell()
        return swept(cell, Parts(as_trajectory(trajectory, self.robot), self.robot), excess, links)

    def safety(
        self,
        programme: Programme,
        *,
        resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-4,
        workers: int = 1,
    ) -> SafetyReport:
        """Return which pairs come closer than their margins over a programme of motions: proven, none is missed.

        Parameters
        ----------
        programme : mapping of str to a motion
            By name: a trajectory, a spline of scipy, or (m, dof) waypoints, which are taken as a second apart; or a
            tuple of such and of ``moving`` as in `trajectory_free`.
        resolution : float or (dof,) float
        tolerance : float
        workers : int
            As in `trajectory_clearance`.

        Returns
        -------
        SafetyReport
            True where every margin is kept; a table, a JSON document, a page.

        Raises
        ------
        RobotError, ShapeError
            As in `trajectory_clearance`, or the programme is empty.

        Examples
        --------
        >>> import gjk3d as gk
        >>> report = gk.robot.Checker(gk.robot.Robot.example(), margin=0.6).safety({"fold": [[0.0, 0.0], [0.0, 2.4]]})
        >>> bool(report), report.rows[0].verdict
        (False, 'too close')
        """
        return safety(self.copy(), self._surroundings(), programme, How(resolution, tolerance, workers))

    def _timed_query(self, trajectory: Any, moving: Moving | None) -> TimedQuery:
        return timed_query(self._surroundings(), trajectory, moving)
