"""Queries of a checker about configurations: free or not, collisions, contacts, distances, and the self-filter."""

from __future__ import annotations

from math import inf
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.calls import install as builtins
from gjk3d.convex.checks import check_depth, check_limits, check_margin, check_workers
from gjk3d.robot import queries, results, single
from gjk3d.robot.outside import outside
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
from gjk3d.robot.walk import FREE
from gjk3d.shapes.arguments import rows as checked_points
from gjk3d.typing import Array, Device, Ints, Row, Rows, RowsLike, Unclear


class ConfigurationChecks(PlanningScene):
    """The queries of a `gjk3d.robot.Checker` about configurations."""

    __slots__ = ()

    @overload
    def free(self, q: Unclear, *, workers: int = 1, device: Device = "cpu") -> Any: ...
    @overload
    def free(self, q: Row, *, workers: int = 1, device: Device = "cpu") -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def free(self, q: Rows, *, workers: int = 1, device: Device = "cpu") -> NDArray[np.bool_]: ...
    def free(self, q: Rows, *, workers: int = 1, device: Device = "cpu") -> Any:
        """Return whether no pair of the robot, its attached objects and its surroundings is closer than its margin.

        Limits of joints are not checked, see `Robot.within_limits`.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        workers : int
            Threads for a stack.
        device : {"cpu", "cuda"}
            As in `gjk3d.collide`. The graphics card tests convex shapes, the processor tests bodies if the convex
            shapes are free. The results are the same.

        Returns
        -------
        bool or (n,) bool
            True for free configurations. Touching is not free.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them.
        ShapeError
            ``workers`` is not a number of threads.
        DeviceUnavailableError
            ``device`` is not available. The message names the missing part and its installation.
        """
        # One plain configuration on one thread: the kernel is called directly. Its record lets the builtin skip even
        # this method at the next call, see `gjk3d.robot.single`.
        settings, cell = self._state()
        if type(workers) is int and workers == 1 and device == "cpu":
            pair = queries.quick(cell, q)
            if pair == FREE or pair >= 0:
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
        """Return which configurations are valid, and the reason for the others.

        Limits are checked first, then collisions. This filters candidates, such as solutions of inverse kinematics.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Radians, and the robot's unit of length. Rows that are not finite are invalid, without an error.
        margin : float, optional
            Margin of pairs without their own. The default is the margin of the checker.
        limits : bool
            Whether limits of joints are checked. A turn without limits is not wrapped.
        tolerance : float
            How far beyond a limit a value may be.
        workers : int
            Threads for a stack.

        Returns
        -------
        Validity
            Valid or not, the reason, and its joint or pair, for one configuration or n.

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
        >>> found = checker.valid([[0.0, 0.0], [9.0, 0.0]])
        >>> found.valid.tolist(), gk.robot.Reason(found.reason[1]).name, found.joint[1]
        ([True, False], 'LIMIT', 'shoulder')
        """
        settings, cell = self._state()
        if margin is not None:
            check_margin(margin)
        if margin is not None and margin != settings.margin:  # for this query only, so the checker keeps its cell
            cell = cell.with_margins(float(margin), settings.rules)
        return valid(cell, q, limits, tolerance, workers)

    @overload
    def hit(self, q: Unclear, *, workers: int = 1) -> Any: ...
    @overload
    def hit(self, q: Row, *, workers: int = 1) -> PairName: ...  # type: ignore[overload-overlap]
    @overload
    def hit(self, q: Rows, *, workers: int = 1) -> list[PairName]: ...
    def hit(self, q: Rows, *, workers: int = 1) -> Any:
        """Return a pair that is too close.

        If several pairs are too close, earlier queries decide which one is returned. `collisions` returns all of them.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        workers : int
            Threads for a stack.

        Returns
        -------
        (str, str) or None, or list of such
            Two names, an obstacle second. None for a free configuration.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them.
        ShapeError
            ``workers`` is not a number of threads.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.05), touching=["post", "beam"])
        >>> checker.hit([0.0, 0.0])
        ('hand', 'floor')
        """
        cell = self._cell()
        if type(workers) is int and workers == 1:
            pair = queries.quick(cell, q)
            if pair == FREE or pair >= 0:
                return None if pair == FREE else cell.names(pair)
        rows, stacked = self.robot.configurations(q)
        names = [None if p == FREE else cell.names(p) for p in queries.hits(cell, rows, workers).tolist()]
        return names if stacked else names[0]

    @overload
    def clearance(self, q: Unclear, *, max_distance: float = inf, workers: int = 1) -> RobotClearance[Any, Any]: ...
    @overload
    def clearance(self, q: Row, *, max_distance: float = inf, workers: int = 1) -> RobotClearance[float, PairName]: ...  # type: ignore[overload-overlap]
    @overload
    def clearance(
        self, q: Rows, *, max_distance: float = inf, workers: int = 1
    ) -> RobotClearance[Array, list[PairName]]: ...
    def clearance(self, q: Rows, *, max_distance: float = inf, workers: int = 1) -> RobotClearance[Any, Any]:
        """Return the least signed distance of all checked pairs, and its pair.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        max_distance : float
            The limit of the search. Beyond it the distance is infinite.
        workers : int
            Threads for a stack.

        Returns
        -------
        RobotClearance
            Distance with its bounds, normal, both nearest points and the pair, for one configuration or n.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them.
        ShapeError
            ``workers`` is not a number of threads.
        """
        check_workers(workers)
        cell = self._cell()
        nearest = queries.nearest_of_one(cell, q, max_distance) if workers == 1 else None
        if nearest is not None:
            row, p = nearest
            distance, lower, upper = row[:3].tolist()
            named = None if p < 0 else cell.names(p)
            return RobotClearance(distance, lower, upper, row[3:6], row[6:9], row[9:12], named)
        check_limits(max_distance, None)
        rows, stacked = self.robot.configurations(q)
        out, which = queries.nearest(cell, rows, float(max_distance), workers)
        pairs = [None if p < 0 else cell.names(p) for p in which[:, 0].tolist()]
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
    def contacts(self, q: Unclear, *, within: float = 0.0, max_points: int | None = 4) -> Any: ...
    @overload
    def contacts(self, q: Row, *, within: float = 0.0, max_points: int | None = 4) -> list[RobotContact]: ...  # type: ignore[overload-overlap]
    @overload
    def contacts(self, q: Rows, *, within: float = 0.0, max_points: int | None = 4) -> list[list[RobotContact]]: ...
    def contacts(self, q: Rows, *, within: float = 0.0, max_points: int | None = 4) -> Any:
        """Return the contacts between shapes of links and objects, each with a normal and points on both surfaces.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        within : float
            Pairs up to this distance apart are included, at least 0. Margins are ignored.
        max_points : int or None
            Most points of two shapes, as in `gjk3d.contact`. Meshes and other bodies have one point.

        Returns
        -------
        list of RobotContact
            One for each pair of shapes within the distance. A link may have several shapes. A list of lists for n
            configurations.

        Raises
        ------
        RobotError, ShapeError
            q is not a configuration or a stack of them, or ``within`` or ``max_points`` is not such a number.

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

    def gradient(self, q: Rows, *, depth: Literal["tight", "fast"] = "fast") -> Array:
        """Return the gradient of the clearance, or zero if no pair is checked.

        It is the normal times the velocity of the second point relative to the first. If several pairs tie, it is that
        of one of them. In overlap with a non-convex body it belongs to the separating translation that was found, so it
        may jump.

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
        self, q: Rows, within: float = inf, *, jacobians: bool = False, depth: Literal["tight", "fast"] = "fast"
    ) -> RobotDistances:
        """Return distances, nearest points and gradients of every pair within a distance.

        This is for trajectory optimisers and controllers, which need all near pairs. Margins are ignored. Pairs that
        may touch are left out.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        within : float
            Pairs that are proven farther apart are left out. All pairs by default.
        jacobians : bool
            Whether to return the Jacobians of the points too.
        depth : {"fast", "tight"}
            As in `gjk3d.signed_distance`, for overlaps with meshes and other non-convex bodies. Other rows do not
            depend on it.

        Returns
        -------
        RobotDistances
            A row for each near pair, in the order of configurations and pairs. Its ``penalty`` is a cost.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them, or ``within`` is not a number.
        ShapeError
            ``depth`` is neither "fast" nor "tight".

        Notes
        -----
        The gradient is the normal times the velocity of the second point relative to the first. If several nearest
        points tie, it belongs to one of them. In overlap with a non-convex body it belongs to the separating
        translation that was found. The depth of that row is an upper bound of the least translation, so it may jump.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"floor": gk.Halfspace((0, 0, 1), -0.3)})
        >>> found = checker.distances([[0.0, 0.0], [0.0, 2.5]], within=0.5)
        >>> found
        <RobotDistances of 2 configurations: 6 rows, 4 pairs>
        >>> [found.pairs[p] for p in found.pair[found.starts[1] :]]
        [('post', 'floor'), ('beam', 'floor'), ('hand', 'floor')]
        """
        check_depth(depth)
        rows, _ = self.robot.configurations(q)
        return distances(self._cell(), rows, within, jacobians=jacobians, depth=depth)

    @overload
    def outside(self, points: RowsLike, q: Unclear, *, margin: float = 0.0, workers: int = 1) -> Any: ...
    @overload
    def outside(self, points: RowsLike, q: Rows, *, margin: float = 0.0, workers: int = 1) -> NDArray[np.bool_]: ...
    def outside(self, points: RowsLike, q: Rows, *, margin: float = 0.0, workers: int = 1) -> Any:
        """Return which points of a camera are outside the robot and its attached objects.

        All links count, also those that may touch each other. Obstacles are ignored.

        Parameters
        ----------
        points : (n, 3) float
            In the frame of the world. Points of a camera are moved by its pose first.
        q : (dof,) or (k, dof) float
            Configurations when the points were measured: radians, and the robot's unit of length.
        margin : float
            Points up to this distance count as the robot: the error of the camera plus the radius of a later cloud.
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
        check_workers(workers)
        check_margin(margin)
        places = checked_points(points, "outside: points")
        rows, stacked = self.robot.configurations(q)
        is_outside = outside(self._cell(), rows, places, float(margin), workers)
        return is_outside if stacked else is_outside[0]


builtins.methods(ConfigurationChecks, single.methods_of(ConfigurationChecks))
