"""The checker: configurations and motions of a robot, checked against itself, obstacles, and attached objects.

`planning_scene` manages the surroundings. This file defines the query methods. `queries`, `results`, `motions` and
`timed` compute the results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.calls import install as builtins
from gjk3d.convex.checks import check_depth, check_limits, check_margin, check_workers
from gjk3d.narrow.manifold import FEW_POINTS
from gjk3d.robot import queries, results, single
from gjk3d.robot.cell_kernels import FREE
from gjk3d.robot.general_pairs import Depth
from gjk3d.robot.motions import (
    ManyMotions,
    MotionCheck,
    OneMotion,
    PathCheck,
    ends_of,
    motion_free,
    path_free,
    steps_of,
)
from gjk3d.robot.planning_scene import PlanningScene
from gjk3d.robot.results import (
    PairName,
    Reason,
    RobotClearance,
    RobotCollision,
    RobotContact,
    RobotDistances,
    Validity,
    distances,
    valid,
)
from gjk3d.shapes.base import rows as checked_points
from gjk3d.typing import Array, Device, Ints, Number, Row, Rows, RowsLike, Unclear, VectorLike

if TYPE_CHECKING:  # loaded at their first use: most programs check configurations and motions only
    from gjk3d.robot.occupancy import SweptVolume
    from gjk3d.robot.planner import Plan
    from gjk3d.robot.roadmap import Roadmap
    from gjk3d.robot.safety import Programme, SafetyReport
    from gjk3d.robot.timed import Moving, TimedQuery, TrajectoryCheck, TrajectoryClearance


Links = Collection[str] | None


class Checker(PlanningScene):
    """A robot, the obstacles around it and the objects attached to it, prepared for collision queries.

    Several threads may query one checker at the same time, also while another thread changes the checker. Each query
    uses the state of the checker at the start of the query. Only one thread at a time may change the checker.

    Parameters
    ----------
    robot : Robot
        Each query reads the allowed pairs (`Robot.allowed`) at the time of the query.
    surroundings : mapping of shapes or (shape, (4, 4) pose), or Scene, optional
        Obstacles by name, or a `gjk3d.Scene` whose objects are copied at their present poses. The groups of the Scene
        and its later changes are ignored. Meshes, clouds and other bodies are tested after the convex shapes and cost
        more. A mesh with a unit is scaled to metres. A Scene of meshes in another unit is refused, because the poses of
        the Scene are in that unit too.
    touching : iterable of (str, str)
        Pairs of a link and an obstacle that may touch, such as the base and the floor.
    margin : float
        Pairs closer than this count as colliding, in the robot's unit. `set_margin` sets the margin of single pairs.

    Raises
    ------
    RobotError
        A name is used twice, a name in ``touching`` is unknown, or a pose is a stack of poses.
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
    def free(self, q: Unclear, *, links: Links = None, workers: int = 1, device: Device = "cpu") -> Any: ...
    @overload
    def free(self, q: Row, *, links: Links = None, workers: int = 1, device: Device = "cpu") -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def free(self, q: Rows, *, links: Links = None, workers: int = 1, device: Device = "cpu") -> NDArray[np.bool_]: ...
    def free(self, q: Rows, *, links: Links = None, workers: int = 1, device: Device = "cpu") -> Any:
        """Return whether every checked pair of links, attached objects and obstacles is farther apart than its margin.

        Limits of joints are not checked, see `Robot.within_limits`.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        links : collection of str, optional
            Names of links and objects. Only pairs with one of them are checked, so an empty list checks no pair. The
            default is all pairs.
        workers : int
            Threads for a stack.
        device : {"cpu", "cuda"}
            As in `gjk3d.collide`. With "cuda" the graphics card tests the convex shapes, and the processor tests the
            other bodies. Both devices give the same results.

        Returns
        -------
        bool or (n,) bool
            True for free configurations. With a margin of 0, a configuration with touching surfaces is not free.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them, or a name in ``links`` is unknown.
        ShapeError
            ``workers`` is not a number of threads.
        DeviceUnavailableError
            ``device`` is not available. The message names the missing part and its installation.
        """
        # For one plain configuration on one thread the kernel is called directly. The arguments that
        # `gjk3d.robot.single` prepares let the next call skip this method.
        settings, cell = self._state()
        cell = self._with_links(cell, links)
        if type(workers) is int and workers == 1 and device == "cpu":
            pair = queries.quick(cell, q)
            if pair == FREE or pair >= 0:
                if links is None:
                    self._quick = single.prepared(settings, cell)
                return pair == FREE
        rows, stacked = self.robot.configurations(q)
        free: NDArray[np.bool_] = queries.hits(cell, rows, workers, device) == FREE
        return free if stacked else bool(free[0])

    @overload
    def valid(
        self, q: Unclear, *, margin: float | None = None, limits: bool = True, tolerance: float = 0.0, workers: int = 1
    ) -> Validity[Any, Any, Any]: ...
    @overload
    def valid(  # type: ignore[overload-overlap]
        self, q: Row, *, margin: float | None = None, limits: bool = True, tolerance: float = 0.0, workers: int = 1
    ) -> Validity[bool, Reason, Any]: ...
    @overload
    def valid(
        self, q: Rows, *, margin: float | None = None, limits: bool = True, tolerance: float = 0.0, workers: int = 1
    ) -> Validity[NDArray[np.bool_], Ints, Any]: ...
    def valid(
        self, q: Rows, *, margin: float | None = None, limits: bool = True, tolerance: float = 0.0, workers: int = 1
    ) -> Validity[Any, Any, Any]:
        """Return whether each configuration is valid, and the reason if not.

        Limits are checked first, then collisions. This filters candidates, such as solutions of inverse kinematics.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Radians, and the robot's unit of length. Rows that are not finite are invalid, without an error.
        margin : float, optional
            Margin of all pairs whose margin was not set by `set_margin`. The default is the margin of the checker.
        limits : bool
            Whether limits of joints are checked. Angles are compared as given: an angle is not reduced by full turns.
        tolerance : float
            Allowed excess of a value over its limit, in radians or the robot's unit of length.
        workers : int
            Threads for a stack.

        Returns
        -------
        Validity
            Whether the configuration is valid, the reason if not, and the joint or pair that violates the rule. For n
            configurations, each field has n entries.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them.
        ShapeError
            ``workers`` is not a number of threads, or the margin is not a finite number.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), margin=0.02)
        >>> result = checker.valid([[0.0, 0.0], [9.0, 0.0]])
        >>> result.valid.tolist(), gk.robot.Reason(result.reason[1]).name, result.joint[1]
        ([True, False], 'LIMIT', 'shoulder')
        """
        settings, cell = self._state()
        if margin is not None:
            check_margin(margin)
        if margin is not None and margin != settings.margin:  # for this query only, so the checker keeps its cell
            cell = cell.with_margins(float(margin), settings.rules)
        return valid(cell, q, limits, tolerance, workers)

    @overload
    def hit(self, q: Unclear, *, links: Links = None, workers: int = 1) -> Any: ...
    @overload
    def hit(self, q: Row, *, links: Links = None, workers: int = 1) -> PairName: ...  # type: ignore[overload-overlap]
    @overload
    def hit(self, q: Rows, *, links: Links = None, workers: int = 1) -> list[PairName]: ...
    def hit(self, q: Rows, *, links: Links = None, workers: int = 1) -> Any:
        """Return a pair that is closer than its margin, or None.

        If several pairs are too close, the returned pair depends on earlier queries. `collisions` returns all of them.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        links : collection of str, optional
            As in `free`.
        workers : int
            Threads for a stack.

        Returns
        -------
        (str, str) or None, or list of these
            Names of two links or objects. If one of them is an obstacle, its name is second. None for a free
            configuration.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them, or a name in ``links`` is unknown.
        ShapeError
            ``workers`` is not a number of threads.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.05), touching=["post", "beam"])
        >>> checker.hit([0.0, 0.0]), checker.hit([0.0, 0.0], links=["beam", "post"])
        (('hand', 'floor'), None)
        """
        cell = self._with_links(self._cell(), links)
        if type(workers) is int and workers == 1:
            pair = queries.quick(cell, q)
            if pair == FREE or pair >= 0:
                return None if pair == FREE else cell.names[pair]
        rows, stacked = self.robot.configurations(q)
        names = [None if p == FREE else cell.names[p] for p in queries.hits(cell, rows, workers).tolist()]
        return names if stacked else names[0]

    @overload
    def clearance(
        self, q: Unclear, *, links: Links = None, max_distance: float = inf, depth: Depth = "tight", workers: int = 1
    ) -> RobotClearance[Any, Any]: ...
    @overload
    def clearance(  # type: ignore[overload-overlap]
        self, q: Row, *, links: Links = None, max_distance: float = inf, depth: Depth = "tight", workers: int = 1
    ) -> RobotClearance[float, PairName]: ...
    @overload
    def clearance(
        self, q: Rows, *, links: Links = None, max_distance: float = inf, depth: Depth = "tight", workers: int = 1
    ) -> RobotClearance[Array, list[PairName]]: ...
    def clearance(
        self, q: Rows, *, links: Links = None, max_distance: float = inf, depth: Depth = "tight", workers: int = 1
    ) -> RobotClearance[Any, Any]:
        """Return the least signed distance of all checked pairs, and the names of the pair with this distance.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        links : collection of str, optional
            As in `free`.
        max_distance : float
            The limit of the search, at least 0. If no pair is within it, the returned distance is infinite.
        depth : {"tight", "fast"}
            As in `gjk3d.signed_distance`, for overlaps with meshes and other non-convex bodies. "fast" takes a tenth of
            the time or less, and its bounds of the depth are wider.
        workers : int
            Threads for a stack.

        Returns
        -------
        RobotClearance
            The distance and its bounds, the normal, both nearest points and the pair, for one configuration or n.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them, or a name in ``links`` is unknown.
        ShapeError
            ``max_distance`` is not a number of at least 0, ``workers`` is not a number of threads, or ``depth`` is
            neither "fast" nor "tight".
        """
        check_workers(workers)
        check_depth(depth)
        cell = self._with_links(self._cell(), links)
        nearest = queries.nearest_of_one(cell, q, max_distance) if workers == 1 else None
        if nearest is None:
            check_limits(max_distance, None)
            rows, stacked = self.robot.configurations(q)
            out, which = queries.nearest(cell, rows, float(max_distance), workers, depth)
            if stacked:
                pairs = [None if p < 0 else cell.names[p] for p in which[:, 0].tolist()]
                return RobotClearance(out[:, 0], out[:, 1], out[:, 2], out[:, 3:6], out[:, 6:9], out[:, 9:12], pairs)
            nearest = out[0], which.item(0)
        row, p = nearest
        distance, lower, upper = row[:3].tolist()
        named = None if p < 0 else cell.names[p]
        return RobotClearance(distance, lower, upper, row[3:6], row[6:9], row[9:12], named)

    @overload
    def collisions(self, q: Unclear) -> Any: ...
    @overload
    def collisions(self, q: Row) -> list[RobotCollision]: ...  # type: ignore[overload-overlap]
    @overload
    def collisions(self, q: Rows) -> list[list[RobotCollision]]: ...
    def collisions(self, q: Rows) -> Any:
        """Return every pair of links and objects that is closer than its margin.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.

        Returns
        -------
        list of RobotCollision
            One for each pair of names, the deepest first. A list of lists for n configurations.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.04), touching=["post"])
        >>> [(each.pair, round(each.depth, 3)) for each in checker.collisions([0.0, 0.0])]
        [(('beam', 'floor'), 0.01), (('hand', 'floor'), 0.01)]
        """
        rows, stacked = self.robot.configurations(q)
        collisions = results.collisions(self._cell(), rows)
        return collisions if stacked else collisions[0]

    @overload
    def contacts(self, q: Unclear, *, within: float = 0.0, max_points: int | None = ...) -> Any: ...
    @overload
    def contacts(self, q: Row, *, within: float = 0.0, max_points: int | None = ...) -> list[RobotContact]: ...  # type: ignore[overload-overlap]
    @overload
    def contacts(self, q: Rows, *, within: float = 0.0, max_points: int | None = ...) -> list[list[RobotContact]]: ...
    def contacts(self, q: Rows, *, within: float = 0.0, max_points: int | None = FEW_POINTS) -> Any:
        """Return the contacts between shapes of links and objects, each with a normal and points on both surfaces.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        within : float
            Greatest distance of a pair of shapes in the result, in the robot's unit, at least 0. Margins are ignored.
        max_points : int or None
            Greatest number of points for two shapes, as in `gjk3d.contact`. Pairs with meshes and other bodies have one
            point.

        Returns
        -------
        list of RobotContact
            One for each pair of shapes within the distance. A link may have several shapes. A list of lists for n
            configurations.

        Raises
        ------
        RobotError, ShapeError
            q is not a configuration or a stack of them, or ``within`` or ``max_points`` is out of range.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.05), touching=["post", "hand"])
        >>> checker.contacts([0.0, 0.0])
        [<RobotContact of 'beam' and 'floor': 4 points>]
        """
        rows, stacked = self.robot.configurations(q)
        contacts = results.contacts(self._cell(), rows, within, max_points)
        return contacts if stacked else contacts[0]

    def gradient(self, q: Rows, *, depth: Depth = "fast") -> Array:
        """Return the gradient of the clearance, or zero if no pair is checked.

        The entry of a joint value is the dot product of the normal and the relative velocity of the two nearest points
        (second minus first) per unit rate of that joint value. If several pairs tie, the gradient of one of them is
        returned. In overlap with a non-convex body the gradient belongs to the separating translation that was found.
        Such a gradient may jump between nearby configurations.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        depth : {"fast", "tight"}
            As in `gjk3d.signed_distance`, for overlaps with meshes and other non-convex bodies.

        Returns
        -------
        (dof,) or (n, dof) float
            Length per radian, or per length of a prismatic joint.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them.
        ShapeError
            ``depth`` is neither "fast" nor "tight".

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> wall = np.eye(4); wall[0, 3] = 1.75
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
        >>> checker.gradient([0.5, 0.0]).round(3).tolist()
        [0.675, 0.196]
        """
        check_depth(depth)
        cell = self._cell()
        quick = queries.gradient_of_one(cell, q)
        if quick is not None:
            return quick
        rows, stacked = self.robot.configurations(q)
        gradients = queries.gradient(cell, rows, depth)
        return gradients if stacked else gradients[0]

    def distances(
        self, q: Rows, within: float = inf, *, jacobians: bool = False, depth: Depth = "fast"
    ) -> RobotDistances:
        """Return distances, nearest points and gradients of every pair within a distance.

        This is for trajectory optimisers and controllers, which need all near pairs. Margins are ignored. Pairs that
        are allowed to touch are left out.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        within : float
            In the robot's unit. Pairs that are proven farther apart are left out. The default includes all pairs.
        jacobians : bool
            Whether to return the Jacobians of the nearest points too.
        depth : {"fast", "tight"}
            As in `gjk3d.signed_distance`, for overlaps with meshes and other non-convex bodies. Rows of other pairs do
            not depend on ``depth``.

        Returns
        -------
        RobotDistances
            A row for each near pair, in the order of configurations and pairs. Its method ``penalty`` returns a cost.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them, or ``within`` is not a number.
        ShapeError
            ``depth`` is neither "fast" nor "tight".

        Notes
        -----
        Each row has the gradient of its own distance, computed as in `gradient`. In overlap with a non-convex body the
        depth is an upper bound of the least translation. Depth and gradient of such a row may jump between nearby
        configurations.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"floor": gk.Halfspace((0, 0, 1), -0.3)})
        >>> result = checker.distances([[0.0, 0.0], [0.0, 2.5]], within=0.5)
        >>> result
        <RobotDistances of 2 configurations: 6 rows, 4 pairs>
        >>> [result.pairs[p] for p in result.pair[result.starts[1] :]]
        [('post', 'floor'), ('beam', 'floor'), ('hand', 'floor')]
        """
        check_depth(depth)
        settings, cell = self._state()
        result = distances(cell, q, within, jacobians=jacobians, depth=depth)
        self._quick_distances = single.prepared_distances(settings, cell)
        return result

    @overload
    def outside(self, points: RowsLike, q: Unclear, *, margin: float = 0.0, workers: int = 1) -> Any: ...
    @overload
    def outside(self, points: RowsLike, q: Rows, *, margin: float = 0.0, workers: int = 1) -> NDArray[np.bool_]: ...
    def outside(self, points: RowsLike, q: Rows, *, margin: float = 0.0, workers: int = 1) -> Any:
        """Return which points of a camera are outside the robot and its attached objects.

        All links count, also those that are allowed to touch each other. Obstacles are ignored.

        Parameters
        ----------
        points : (n, 3) float
            In world coordinates. Transform points from the frame of the camera by the pose of the camera first.
        q : (dof,) or (k, dof) float
            Configurations when the points were measured: radians, and the robot's unit of length.
        margin : float
            Points up to this distance from the robot are not outside. Use the measuring error of the camera plus the
            radius that you give to the points of the cloud.
        workers : int
            Threads for a stack of configurations.

        Returns
        -------
        (n,) bool or (k, n) bool
            True for points that are proven to be farther than the margin from all links and attached objects.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them.
        ShapeError
            A point is not finite, the margin is not a finite number, or ``workers`` is not a number of threads.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.outside([(0.5, 0, 0), (0.5, 0, 0.2)], [0.0, 0.0], margin=0.01).tolist()
        [False, True]
        """
        from gjk3d.robot.occupancy import outside

        check_workers(workers)
        check_margin(margin)
        places = checked_points(points, "outside: points")
        rows, stacked = self.robot.configurations(q)
        is_outside = outside(self._cell(), rows, places, float(margin), workers)
        return is_outside if stacked else is_outside[0]

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
        """Return whether straight lines in joint space are free, and the first collision of each line.

        Angles are not wrapped: from 3 to -3 a joint turns by 6 radians.

        Parameters
        ----------
        q0, q1 : (dof,) or (n, dof) float
            Ends of the motions. One configuration and n configurations give n motions.
        certify : bool
            False checks samples. True also proves the motion between samples, so the result "free" is certain.
        resolution : float or (dof,) float
            Greatest change of any joint value from one sample to the next, or one such number for each joint value.
        tolerance : float
            With ``certify``, the greatest width of the interval in which the first collision is proven to be, as a
            share of the motion. If the proof stops before it reaches a collision, and the end of the motion collides,
            the interval ends there.
        workers : int
            Threads for a stack.

        Returns
        -------
        MotionCheck
            Whether the motion is free, the parameters before and at the first collision, and the pair that collides.
            For n motions, each field has n entries.

        Raises
        ------
        RobotError
            q0 or q1 is not a configuration or a stack of them, the stacks differ in length, ``resolution`` or
            ``tolerance`` is not above 0, or a motion would take too many samples.
        ShapeError
            ``workers`` is not a number of threads.

        Notes
        -----
        A proof usually fails if a joint value is so large that its rounding error moves a link (an angle of 1e12
        radians is rounded by up to 1e-4), or if a joint turns thousands of times. The status is then UNRESOLVED. Reduce
        angles to values near 0 first.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pole = np.eye(4); pole[:2, 3] = 0.0, 1.0
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)})
        >>> result = checker.motion_free([0.0, 0.0], [3.0, 0.0], certify=True)
        >>> bool(result), result.status, result.pair[1], round(result.hit, 4)
        (False, <MotionStatus.HIT: 1>, 'pole', 0.4734)
        """
        return motion_free(self._cell(), q0, q1, certify, resolution, tolerance, workers)

    def edges_free(
        self,
        q0: Rows,
        q1: Rows,
        *,
        certify: bool = False,
        resolution: Number | VectorLike = 0.05,
        workers: int = 1,
    ) -> NDArray[np.bool_]:
        """Return which straight lines in joint space are free. The place of a collision is not computed.

        This is several times faster than `motion_free`. Samples are tested in an order that is likely to find a
        collision early, and a proof is tried only for edges whose samples are all free.

        Parameters
        ----------
        q0, q1 : (n, dof) or (dof,) float
            Ends of the edges. One configuration and n configurations give n edges.
        certify, resolution, workers
            As in `motion_free`.

        Returns
        -------
        (n,) bool
            True for edges that are free at all samples. With ``certify``, True for edges that are proven free.

        Raises
        ------
        RobotError
            As in `motion_free`.
        ShapeError
            ``workers`` is not a number of threads.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pole = np.eye(4); pole[:2, 3] = 0.0, 1.0
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)})
        >>> checker.edges_free([0.0, 0.0], [[0.2, 0.0], [3.0, 0.0]], certify=True).tolist()
        [True, False]
        """
        from gjk3d.robot.planner import edges_free

        check_workers(workers)
        cell = self._cell()
        first, second, _ = ends_of(cell.robot, q0, q1)
        return edges_free(cell, first, second, steps_of(cell.robot, resolution), certify=certify, workers=workers)

    def plan(
        self,
        start: Row,
        goals: Rows,
        *,
        joints: str | Sequence[str] | None = None,
        lower: Row | None = None,
        upper: Row | None = None,
        seconds: float = 5.0,
        seed: int = 0,
        margin: float = 0.0,
        touching: Collection[tuple[str, str]] = (),
        certify: bool = True,
        range: float = 1.0,
        resolution: Number | VectorLike = 0.05,
        progress: Callable[[float, int], object] | None = None,
    ) -> Plan:
        """Return a short path from a start to one of several goals, proven free also between samples.

        RRT-Connect searches for a path. The path is shortened and smoothed, and then its edges are proven free. An edge
        without a proof is replaced by a detour with proven edges. If no detour is found, the search is repeated with
        proven edges only.

        Parameters
        ----------
        start : (dof,) float
            The first configuration.
        goals : (dof,) or (g, dof) float
            Radians, and the robot's unit of length. Goals that are not free are left out.
        joints : str or sequence of str, optional
            The joints that move: a group of the SRDF (`Robot.groups`), or names. The default is all joints. The others
            keep their values in ``start``. Joints that mimic another one follow it.
        lower, upper : (moved,) float, optional
            Bounds of the joints that move. The default is the robot's limits, extended to the start and the goals.
            Turning joints without limits wrap: they turn the shorter way. Any other joint without limits needs bounds.
            Examples are a prismatic joint, and a joint that another joint mimics with a factor that is not an integer.
        seconds : float
            Time limit. A path that is not proven within this time has the status UNPROVEN.
        seed : int
            The same seed returns the same path on one machine, unless the time runs out.
        margin : float
            Distance in the robot's unit that is added to the margins of all pairs.
        touching : collection of (str, str)
            Pairs of links and objects that touch at the start or at a goal, such as a cup and its table. Along the path
            such a pair comes at most 1e-6 closer than its least distance at the start and the goals. Both must consist
            of convex shapes.
        certify : bool
            False returns the path without a proof, with the status UNPROVEN.
        range : float
            Greatest length of an edge of the search, as the Euclidean norm of the change of q.
        resolution : float or (dof,) float
            As in `motion_free`.
        progress : callable, optional
            Called with the seconds so far and the number of configurations, several times a second.

        Returns
        -------
        Plan
            The path, its status, the index of the goal where the path ends, and the proof.

        Raises
        ------
        RobotError
            The start or every goal is not free (the message names the pair), a configuration does not fit the robot,
            a joint is unknown, or bounds are missing.
        UnsupportedPair
            The kernels cannot test a pair, such as one with a support mapping that was written in Python, or a pair of
            ``touching`` with a mesh.

        Notes
        -----
        Kuffner and LaValle, RRT-Connect, 2000. Several threads may plan with one checker. Ctrl-C ends a search at once.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pole = np.eye(4); pole[:2, 3] = 0.0, 1.5
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)})
        >>> plan = checker.plan([0.0, 0.0], [3.0, 0.0])
        >>> plan.status, checker.path_free(plan.path, certify=True).free
        (<PlanStatus.PROVEN: 0>, True)
        """
        from gjk3d.robot import planner

        request = planner.Request(
            joints, lower, upper, seconds, seed, margin, touching, certify, range, resolution, progress
        )
        return planner.plan(self._cell(), start, goals, request)

    def roadmap(
        self,
        samples: int = 1000,
        *,
        seed: int = 0,
        joints: str | Sequence[str] | None = None,
        rest: Row | None = None,
        lower: Row | None = None,
        upper: Row | None = None,
        range: float = 1.0,
        resolution: Number | VectorLike = 0.05,
        workers: int = 1,
    ) -> Roadmap:
        """Return a roadmap, a graph of configurations and edges, for many plans in one cell.

        Parameters
        ----------
        samples : int
            Number of configurations, drawn uniformly within the bounds. Edges join each configuration with its nearest
            neighbours.
        seed : int
            The same seed gives the same roadmap and the same paths.
        joints : str or sequence of str, optional
            The joints that move, as in `plan`.
        rest : (dof,) float, optional
            Values of the joints that do not move. The default is 0 for each of them.
        lower, upper, range, resolution
            As in `plan`.
        workers : int
            Threads that test the edges.

        Returns
        -------
        Roadmap
            The roadmap. Its method ``plan`` returns plans, and ``update`` tests all edges again after a change of the
            checker.

        Raises
        ------
        RobotError
            ``samples`` is not an integer of at least 2, a joint is unknown, or bounds are missing.
        ShapeError
            ``workers`` is not a number of threads.

        Notes
        -----
        Kavraki, Svestka, Latombe and Overmars, Probabilistic roadmaps, 1996.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pole = np.eye(4); pole[:2, 3] = 0.0, 1.5
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)})
        >>> roadmap = checker.roadmap(samples=200, seed=1)
        >>> roadmap.plan([0.0, 0.0], [3.0, 0.0]).status
        <PlanStatus.PROVEN: 0>
        """
        from gjk3d.robot.planner import Request
        from gjk3d.robot.roadmap import Roadmap

        request = Request(joints, lower, upper, seed=seed, range=range, resolution=resolution)
        return Roadmap(self, samples, rest, request, workers)

    def prove(
        self,
        path: Rows,
        *,
        joints: str | Sequence[str] | None = None,
        lower: Row | None = None,
        upper: Row | None = None,
        seconds: float = 5.0,
    ) -> Plan:
        """Return a proven free path that follows the given path, with detours in place of edges without a proof.

        Parameters
        ----------
        path : (m, dof) float
            Waypoints with straight lines between them, at least one.
        joints, lower, upper
            The joints that detours may move and their bounds, as in `plan`.
        seconds : float
            Time limit.

        Returns
        -------
        Plan
            The path with its detours, or the given path with the status UNPROVEN. ``proof`` contains the number of
            detours and a lower bound of distance minus margin, or the pair that prevents the proof.

        Raises
        ------
        RobotError
            The path is not an array of waypoints, a joint is unknown, or bounds are missing.
        UnsupportedPair
            The kernels cannot test a pair.

        Examples
        --------
        >>> import gjk3d as gk
        >>> plan = gk.robot.Checker(gk.robot.Robot.example()).prove([[0.0, 0.0], [1.0, 1.0]])
        >>> plan.status, plan.proof.repaired, plan.proof.clearance > 0.1
        (<PlanStatus.PROVEN: 0>, 0, True)
        """
        from gjk3d.robot import planner

        return planner.prove(self._cell(), path, planner.Request(joints, lower, upper, seconds))

    def free_region(self, q: Rows, *, weights: Row | None = None, margin: float = 0.0) -> Array:
        """Return the half widths of a box of configurations around q that is proven free.

        All configurations with ``|q' - q| <= half widths`` are free. Planners grow convex regions from such boxes. A
        step within the box needs no check.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        weights : (dof,) float, optional
            Proportions of the half widths at the first growth of the box, above 0. The default is 1 for each joint
            value. Afterwards each half width grows separately up to the limit of the proof.
        margin : float
            Distance in the robot's unit that is added to the margins of all pairs.

        Returns
        -------
        (dof,) or (n, dof) float
            Half widths: radians, and lengths of at most 1 in the robot's unit. They are 0 if q is not free, and
            infinite for a joint that moves no checked pair.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them, or a weight is not above 0.

        Notes
        -----
        The half widths follow from one distance for each pair and from bounds of its motion (Quinlan 1994). Pairs of
        overlapping bodies with a negative margin count as not free.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> wall = np.eye(4); wall[0, 3] = 1.75
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
        >>> half = checker.free_region([0.0, 0.0])
        >>> bool((half > 0.05).all()), checker.free_region([0.0, 0.0], margin=0.5).tolist()
        (True, [0.0, 0.0])
        """
        from gjk3d.robot.roadmap import free_region

        check_margin(margin)
        rows, stacked = self.robot.configurations(q)
        half = free_region(self._cell(), rows, weights, float(margin))
        return half if stacked else half[0]

    def path_free(
        self,
        path: Rows,
        *,
        certify: bool = False,
        resolution: Number | VectorLike = 0.05,
        tolerance: float = 1e-6,
        workers: int = 1,
    ) -> PathCheck:
        """Return whether a path of straight lines between waypoints is free, and its first collision.

        Parameters
        ----------
        path : (m, dof) float
            Waypoints, at least one.
        certify, resolution, tolerance, workers
            As in `motion_free`. The tolerance is a share of an edge.

        Returns
        -------
        PathCheck
            Whether the path is free, and the edge, the parameters and the pair of the first collision.

        Raises
        ------
        RobotError
            The path is not an array of waypoints, or ``resolution`` or ``tolerance`` is not above 0.
        ShapeError
            ``workers`` is not a number of threads.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pole = np.eye(4); pole[:2, 3] = 0.0, 1.0
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), pole)})
        >>> result = checker.path_free([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
        >>> bool(result), result.edge
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
        """Return whether a trajectory is free, also of moving obstacles, and the time of its first collision.

        Parameters
        ----------
        trajectory : Trajectory, or spline of scipy, or mapping of str to these
            See `Trajectory`. A mapping has a trajectory for each part of a robot of `Robot.join`. A part rests before
            its first time and after its last.
        moving : mapping of str to Motion, or to (Motion, (float, float)), or to ((n, 4, 4) poses, (n,) times), optional
            Motions of obstacles by name, which replace their poses. A motion lasts from the first time of the
            trajectory to its last, or between the two given times. Before and after, it continues at the same rate.
            Poses with times are joined by `Motion.between`. Such an obstacle rests before its first time and after its
            last. Unbounded shapes, such as a half-space, cannot move. Obstacles are not checked against each other.
        certify : bool
            False checks samples. True also proves the motion between samples, so the result "free" is certain.
        resolution : float or (dof,) float
            Greatest change of any joint value from one sample to the next, or one such number for each joint value. The
            translation and the angle of a moving obstacle change by at most the least of these numbers.
        tolerance : float
            With ``certify``, the greatest width of the time interval in which the first contact is proven to be, in the
            unit of the times. Among moving obstacles it can have the width of 32 roundings of the times, which is 6e-6
            s for times of 1.7e9 s. If the proof stops before it reaches a contact, and the end of the trajectory
            collides, the interval ends there.
        workers : int
            Threads.

        Returns
        -------
        TrajectoryCheck
            Whether the trajectory is free, the times before and at the first collision, and the pair that collides.

        Raises
        ------
        RobotError
            The trajectory does not fit this robot, a name in ``moving`` is not the name of a bounded obstacle, or
            ``resolution`` or ``tolerance`` is not above 0.
        ShapeError
            ``workers`` is not a number of threads.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> start = np.eye(4); start[:2, 3] = 1.2, 2.0
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"crate": (gk.Box((0.2, 0.2, 0.2)), start)})
        >>> still = gk.robot.Trajectory([[0.0, 0.0], [0.0, 0.0]], times=[0.0, 10.0])
        >>> belt = gk.Motion.translation(start, (0, -4, 0))
        >>> result = checker.trajectory_free(still, moving={"crate": belt}, certify=True)
        >>> result.pair, round(result.hit, 4), result.hit - result.safe <= 1e-6
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
        """Return the least distance along a trajectory with proven bounds, and its time, points and pair.

        Margins are ignored. Samples find a near pair. A proof then shows that no pair comes closer.

        Parameters
        ----------
        trajectory, moving, resolution
            As in `trajectory_free`.
        tolerance : float
            Greatest difference of the two bounds, in the robot's unit, if the proof succeeds. Without a full proof the
            bounds are wider, and they still hold.
        workers : int
            Threads.

        Returns
        -------
        TrajectoryClearance
            The least clearance, its bounds, and its time, pair and nearest points.

        Raises
        ------
        RobotError, ShapeError
            As in `trajectory_free`.

        Examples
        --------
        >>> import gjk3d as gk
        >>> path = gk.robot.Trajectory([[0.0, 0.0], [0.0, 2.4]], times=[0.0, 3.0])
        >>> nearest = gk.robot.Checker(gk.robot.Robot.example()).trajectory_clearance(path)
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
        trajectory : Trajectory, or spline of scipy, or mapping
            As in `trajectory_free`.
        excess : float
            Greatest distance of a point in a piece from the swept volume, in the robot's unit. The polytope around a
            curved shape and the hull of a non-convex body reach farther. The ``excess`` of the result includes this.
        links : collection of str, optional
            Names of links or attached objects. The default is all of them.

        Returns
        -------
        SweptVolume
            The convex pieces, by link and attached object, and their excess.

        Raises
        ------
        RobotError
            The trajectory does not fit this robot, the excess is not above 0, or a name is not the name of a link with
            shapes or of an attached object.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> swept = checker.swept(gk.robot.Trajectory([[0.0, 0.0], [0.5, 0.0]], times=[0.0, 1.0]), excess=0.02)
        >>> sorted(swept.compounds()), swept.excess <= 0.02
        (['beam', 'hand', 'post'], True)
        """
        from gjk3d.robot.occupancy import swept
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
        """Return the pairs that are not proven to keep their margins in a programme of motions.

        Parameters
        ----------
        programme : mapping of str to a motion
            A trajectory as in `trajectory_free`, or (m, dof) waypoints one second apart. A tuple of one of these and
            ``moving``, as in `trajectory_free`, is also accepted.
        resolution, tolerance, workers
            As in `trajectory_clearance`.

        Returns
        -------
        SafetyReport
            As a bool, True if every margin is proven to be kept. A pair that is not in ``rows`` is proven to keep its
            margin. The report can be written as a table, a JSON document, or a page.

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
        from gjk3d.robot.safety import safety

        return safety(self.copy(), self._surroundings(), programme, resolution, tolerance, workers)

    def _timed_query(self, trajectory: Any, moving: Moving | None) -> TimedQuery:
        from gjk3d.robot.timed import timed_query

        return timed_query(self._surroundings(), trajectory, moving)


builtins.methods(Checker, single.methods_of(Checker))
