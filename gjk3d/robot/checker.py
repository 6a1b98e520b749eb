"""The checker: configurations and motions of a robot, checked against itself, obstacles, and attached objects.

`planning_scene` has the surroundings, `configuration_checks` the queries about configurations, and this file those
about motions. They are computed in `queries`, `results`, `motions` and `timed`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, overload

from gjk3d.robot.configuration_checks import ConfigurationChecks
from gjk3d.robot.motions import ManyMotions, MotionCheck, OneMotion, PathCheck, motion_free, path_free
from gjk3d.typing import Number, Row, Rows, Unclear, VectorLike

if TYPE_CHECKING:  # loaded at their first use: most programs check configurations and motions only
    from gjk3d.robot.safety import Programme, SafetyReport
    from gjk3d.robot.swept import SweptVolume
    from gjk3d.robot.timed import Moving, TimedQuery, TrajectoryCheck, TrajectoryClearance


class Checker(ConfigurationChecks):
    """A robot, the obstacles around it and the objects attached to it, prepared for collision queries.

    Several threads may query one checker at the same time, also while another thread changes it. Each query uses one
    state. Only one thread at a time may change it.

    Parameters
    ----------
    robot : Robot
        Its checked pairs of links follow `Robot.allowed` at the time of a query.
    surroundings : mapping of shapes or (shape, (4, 4) pose), or Scene, optional
        Obstacles by name, or a `gjk3d.Scene` whose objects are copied at their present poses. Later changes of the
        Scene are ignored, and so are its groups. Meshes, clouds and other bodies are tested after the convex shapes
        and cost more. A mesh with a unit is scaled to metres. A Scene of meshes in another unit is refused, because
        its poses are in that unit too.
    touching : iterable of (str, str)
        Links and obstacles that may touch, such as the base and the floor.
    margin : float
        Pairs closer than this count as colliding, in the robot's unit. `set_margin` sets the margin of single pairs.

    Raises
    ------
    RobotError
        A name is used twice, a name in ``touching`` is unknown, or a pose is a stack.
    UnsupportedPair
        A shape is not supported.
    ShapeError
        The margin is not a finite number.

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

    Obstacles can be added, moved and removed. A copy has its own obstacles.

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
        """Return whether straight lines in joint space are free, and where they collide first.

        Turns are not wrapped: from 3 to -3 a joint turns by 6 radians.

        Parameters
        ----------
        q0, q1 : (dof,) or (n, dof) float
            Ends of the motions. One configuration and n configurations give n motions.
        certify : bool
            False checks samples. True also proves the motion between them, so a result "free" is certain.
        resolution : float or (dof,) float
            The most that any number of q changes from one sample to the next, or the most for each number.
        tolerance : float
            Resolution of a proof, as a share of the motion.
        workers : int
            Threads for a stack.

        Returns
        -------
        MotionCheck
            Free or not, the parameters before and at the first collision, and its pair, for one motion or n.

        Raises
        ------
        RobotError
            q0 or q1 is not a configuration or a stack of them, the stacks differ, resolution or tolerance is not above
            0, or a motion would take too many samples.
        ShapeError
            ``workers`` is not a number of threads.

        Notes
        -----
        Little can be proven for numbers so large that their rounding moves a link (a turn of 1e12 is rounded by 1e-4),
        and for motions of thousands of turns. Their status is UNRESOLVED. Reduce turns to values near 0 first.

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
        """Return whether a path of straight lines between waypoints is free, and where it collides first.

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
            Free or not, and the edge, the parameters and the pair of the first collision.

        Raises
        ------
        RobotError
            The path is not an array of waypoints, or resolution or tolerance is not above 0.
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
        """Return whether a trajectory is free, also of moving obstacles, and when it collides first.

        Parameters
        ----------
        trajectory : Trajectory, or spline of scipy
            See `Trajectory`.
        moving : mapping of str to Motion, or to (Motion, (float, float)), optional
            Motions of obstacles by name, which replace their poses. A motion lasts from the first time of the
            trajectory to its last, or between the two given times. Before and after, it continues at the same rate.
            Unbounded shapes, such as a half-space, cannot move. Obstacles are not checked against each other.
        certify : bool
            False checks samples. True also proves the motion between them, so a result "free" is certain.
        resolution : float or (dof,) float
            The most that any number of q changes from one sample to the next, or the most for each number. The slide
            and the turn of a moving obstacle change by no more than the least of them.
        tolerance : float
            Width of the bracket of the first contact in a proof, in the unit of the times.
        workers : int
            Threads.

        Returns
        -------
        TrajectoryCheck
            Free or not, the times before and at the first collision, and its pair.

        Raises
        ------
        RobotError
            The trajectory is not a trajectory of this robot, a name in ``moving`` is not that of a bounded obstacle,
            or resolution or tolerance is not above 0.
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
        from gjk3d.robot.timed import trajectory_free

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
        """Return the least clearance of a trajectory with proven bounds, and its time, points and pair.

        Margins are ignored. Samples find a near pair. A proof then shows that no pair comes nearer.

        Parameters
        ----------
        trajectory : Trajectory, or spline of scipy
        moving : mapping, optional
        resolution : float or (dof,) float
            As in `trajectory_free`.
        tolerance : float
            Distance of the bounds, in the robot's unit, if the proof succeeds. The bounds hold in any case.
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
        from gjk3d.robot.timed import trajectory_clearance

        return trajectory_clearance(self._timed_query(trajectory, moving), resolution, tolerance, workers)

    def swept(self, trajectory: Any, *, excess: float = 0.01, links: Collection[str] | None = None) -> SweptVolume:
        """Return convex pieces that are proven to contain the swept volumes of links and attached objects.

        This is for safety zones, for cells that robots share, and for pictures.

        Parameters
        ----------
        trajectory : Trajectory, or spline of scipy
            See `Trajectory`.
        excess : float
            How far pieces may reach beyond the swept volume, in the robot's unit. The polytope around a curved shape
            and the hull of a non-convex body add to it, and are included in the ``excess`` of the result.
        links : names of links or attached objects, optional
            All by default.

        Returns
        -------
        SweptVolume

        Raises
        ------
        RobotError
            The trajectory is not a trajectory of this robot, the excess is not above 0, or a name is not that of a
            link with shapes.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> swept = checker.swept(gk.robot.Trajectory([[0.0, 0.0], [0.5, 0.0]], times=[0.0, 1.0]), excess=0.02)
        >>> sorted(swept.compounds()), swept.excess <= 0.02
        (['beam', 'hand', 'post'], True)
        """
        from gjk3d.robot.swept import swept
        from gjk3d.robot.trajectories import Parts, as_trajectory

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
        """Return the pairs that come closer than their margins in a programme of motions. The list is proven complete.

        Parameters
        ----------
        programme : mapping of str to a motion
            A trajectory, a spline of scipy, or (m, dof) waypoints one second apart. A tuple of one of these and
            ``moving``, as in `trajectory_free`, is also accepted.
        resolution : float or (dof,) float
        tolerance : float
        workers : int
            As in `trajectory_clearance`.

        Returns
        -------
        SafetyReport
            True if every margin is kept. It can be written as a table, a JSON document, or a page.

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
        from gjk3d.robot.safety import How, safety

        return safety(self.copy(), self._surroundings(), programme, How(resolution, tolerance, workers))

    def _timed_query(self, trajectory: Any, moving: Moving | None) -> TimedQuery:
        from gjk3d.robot.timed import timed_query

        return timed_query(self._surroundings(), trajectory, moving)
