"""Configurations and motions of a robot, checked against itself, its obstacles, and what it holds.

A checker holds what the user said; the cell is what the kernels take of that, made at the first question after a
change (see `gjk3d.robot.cell`). The answers are found in `queries`, `results` and `motions`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import inf
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels import builtins
from gjk3d.convex.checks import check_margin, check_workers
from gjk3d.errors import RobotError
from gjk3d.query.dispatch import Collider
from gjk3d.robot import queries, results, single
from gjk3d.robot.all_pairs import RobotDistances, distances
from gjk3d.robot.cell import OBSTACLES, Base, Cell, Rule, build
from gjk3d.robot.model import Robot, no_shapes
from gjk3d.robot.motions import ManyMotions, MotionCheck, OneMotion, PathCheck, motion_free, path_free
from gjk3d.robot.moving import Moving
from gjk3d.robot.obstacles import WORLD, CollisionObject, collision_object, taken_over
from gjk3d.robot.outside import outside
from gjk3d.robot.results import PairName, RobotClearance, RobotCollision, RobotContact
from gjk3d.robot.safety import How, Programme, safety
from gjk3d.robot.safety_report import SafetyReport
from gjk3d.robot.swept import SweptVolume, swept
from gjk3d.robot.timed import (
    Asked,
    Surroundings,
    TrajectoryCheck,
    TrajectoryClearance,
    asked,
    trajectory_clearance,
    trajectory_free,
)
from gjk3d.robot.trajectories import Parts, as_trajectory
from gjk3d.robot.validity import Reason, Validity, valid
from gjk3d.robot.walk import FREE
from gjk3d.scene import Scene
from gjk3d.shapes.arguments import rows as checked_points
from gjk3d.shown import shown
from gjk3d.typing import Array, Device, Ints, Number, OnePose, PoseLike, Row, Rows, RowsLike, Unclear, VectorLike


class _Said(NamedTuple):
    """What a user said of the surroundings; replaced at each change, never changed."""

    objects: dict[str, CollisionObject]
    margin: float
    rules: tuple[Rule, ...]


class Checker:
    """A robot, the obstacles around it and the objects on it, prepared to be asked about configurations.

    Threads may ask one checker at the same time, also while another changes it: each question is about one state.
    Changes themselves are no business of several threads at once.

    Parameters
    ----------
    robot : Robot
        Its pairs of links as they are now, see `Robot.allowed`.
    surroundings : mapping of shapes or (shape, (4, 4) pose), or Scene, optional
        By the name of each obstacle; or a `gjk3d.Scene`, whose objects are taken over where they
        are now: later changes of it are not seen, and its groups mean nothing here. Meshes, clouds and the other
        bodies are looked at where the convex shapes say free, and cost more.
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

    __slots__ = ("__dict__", "__weakref__", "_quick", "_said")
    robot: Robot
    _said: _Said
    _quick: Any  #: what `gjk3d.robot.single` asks the present state with, if anything

    def __init__(
        self,
        robot: Robot,
        surroundings: Mapping[str, Collider | tuple[Collider, PoseLike | None]] | Scene | None = None,
        *,
        touching: Iterable[tuple[str, str]] = (),
        margin: float = 0.0,
    ) -> None:
        if not isinstance(robot, Robot):
            raise TypeError(f"robot is {type(robot).__name__}, expected a Robot: Robot.from_urdf(path) reads one")
        check_margin(margin)
        self.robot = robot
        self._base = Base(robot, robot.pairs)
        self._said = _Said({}, float(margin), ())
        self._made: tuple[_Said, Cell] | None = None
        for name, shape, pose in taken_over(surroundings):
            self.add(name, shape, pose)
        objects = dict(self._said.objects)
        for pair in touching:
            if len(pair) != 2 or pair[0] not in robot.links or pair[1] not in objects:
                raise RobotError(f"touching: {tuple(pair)!r} is no link with an object of the surroundings")
            old = objects[pair[1]]
            objects[pair[1]] = old._replace(touch=old.touch | {pair[0]})
        self._said = self._said._replace(objects=objects)

    # --- obstacles and attached objects ------------------------------------------------------------------------------

    def add(self, name: str, shape: Collider, pose: OnePose = None, *, touching: Iterable[str] = ()) -> None:
        """Add an obstacle.

        Parameters
        ----------
        name : str
            Not taken yet, by a link neither.
        shape : Shape, Mesh, Compound, VoxelGrid, PointCloud or HeightField
            Half-spaces too. Convex shapes are answered fastest.
        pose : (4, 4) float, RigidTransform or None
            World from local; None is the identity.
        touching : iterable of str
            Names of links and attached objects that may touch it.

        Raises
        ------
        RobotError
            The name is taken, one in ``touching`` is unknown, or the pose is a stack.
        UnsupportedPair
            The shape is none.
        """
        self._put(collision_object(name, shape, pose, WORLD, touching), "touching")

    def attach(
        self, name: str, shape: Collider, link: str | int, pose: OnePose = None, touch_links: Iterable[str] = ()
    ) -> None:
        """Fix an object to a link, with which it moves: something that is held.

        It is checked against obstacles, other attached objects, and links; not those that are joined to its own by
        fixed joints alone, which never move against it.

        Parameters
        ----------
        name : str
            Not taken yet, by a link neither.
        shape : Shape, Mesh, Compound, VoxelGrid or PointCloud
            What has an end: no half-space, no plane, no height field without a bottom.
        link : str or int
            What it is fixed to.
        pose : (4, 4) float, RigidTransform or None
            In the frame of the link.
        touch_links : iterable of str
            Names of links, such as fingers, that it may touch; of objects too, such as the table it is taken from.

        Raises
        ------
        RobotError
            The name is taken, one in ``touch_links`` or the link is unknown, the shape has no end, or the pose is a
            stack.
        UnsupportedPair
            The shape is none.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.attach("cup", gk.Cylinder(0.03, 0.1), "hand", touch_links=["beam"])
        >>> checker.attached
        {'cup': 'hand'}
        >>> checker.detach("cup")
        """
        self._put(collision_object(name, shape, pose, self.robot.link_number(link), touch_links), "touch_links")

    def _put(self, new: CollisionObject, what: str) -> None:
        objects = self._said.objects
        if new.name in objects or new.name in self.robot.links:
            owner = "an object" if new.name in objects else "a link of the robot"
            raise RobotError(f"{new.name!r} is the name of {owner} already")
        for name in new.touch:
            if name not in self.robot.links and name not in objects:
                raise RobotError(f"{new.name!r}: {what} has {name!r}, which is neither a link nor an object")
        self._said = self._said._replace(objects={**objects, new.name: new})

    def move(self, name: str, pose: OnePose) -> None:
        """Give an object another pose: in the world, or in the frame of its link where it is attached.

        Parameters
        ----------
        name : str
            Of an obstacle or an attached object.
        pose : (4, 4) float, RigidTransform or None
            Its new one; None is the identity.

        Raises
        ------
        RobotError
            There is no such object, or the pose is a stack.
        """
        old = self._object(name)
        new = collision_object(name, old.shape, pose, old.link, old.touch)
        cell = self._cell().moved(name, new.pose)
        self._said = self._said._replace(objects={**self._said.objects, name: new})
        self._made = self._said, cell

    def remove(self, name: str) -> None:
        """Take an object away, attached or not, and what was said of it: margins, and what may touch it.

        Parameters
        ----------
        name : str
            Of an obstacle or an attached object.

        Raises
        ------
        RobotError
            There is no such object.
        """
        self._object(name)
        objects = {
            other: each._replace(touch=each.touch - {name})
            for other, each in self._said.objects.items()
            if other != name
        }
        rules = tuple(rule for rule in self._said.rules if name not in (rule.a, rule.b))
        self._said = self._said._replace(objects=objects, rules=rules)

    def detach(self, name: str) -> None:
        """Take an attached object off its link, and out of all checks; `add` puts it where it is left.

        Parameters
        ----------
        name : str
            Of an attached object.

        Raises
        ------
        RobotError
            There is no such object, or it is an obstacle.
        """
        if self._object(name).link == WORLD:
            raise RobotError(f"{name!r} stands in the surroundings and hangs on no link: remove it instead")
        self.remove(name)

    def set_margin(self, a: str, b: str | None, margin: float) -> None:
        """Say how close is too close for two links or objects, or for one of them and all others.

        What is said later holds. Distances are not changed by margins, only what counts as free.

        Parameters
        ----------
        a, b : str
            Names of links or objects, in any order; b None means all that a is checked against, now and later.
        margin : float
            In the robot's unit. Negative lets the two overlap by as much.

        Raises
        ------
        RobotError
            There is no such link or object, or the two are not checked against each other.
        ShapeError
            The margin is no finite number.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> wall = np.eye(4); wall[0, 3] = 1.75
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
        >>> checker.set_margin("hand", "wall", 0.3)
        >>> checker.free([0.0, 0.0])
        False
        """
        check_margin(margin)
        for name in (a, b):
            if name is not None and name not in self.robot.links and name not in self._said.objects:
                raise RobotError(f"set_margin: {name!r} is neither a link nor an object")
        if b is not None and not self._cell().has(a, b):
            raise RobotError(f"set_margin: {a!r} and {b!r} are no pair that is checked")
        self._set_margins(self.margin, (*self._said.rules, Rule(a, b, float(margin))))

    def set_padding(self, name: str, padding: float) -> None:
        """Say how close is too close for a link or an attached object and all obstacles, those to come too.

        As the link padding of MoveIt, which does not count between links either: `set_margin` does.

        Parameters
        ----------
        name : str
            Of a link or an attached object.
        padding : float
            In the robot's unit.

        Raises
        ------
        RobotError
            There is no such link or attached object.
        ShapeError
            The padding is no finite number.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> wall = np.eye(4); wall[0, 3] = 1.75
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.set_padding("hand", 0.3)
        >>> checker.add("wall", gk.Box((0.1, 2, 2)), wall)
        >>> checker.free([0.0, 0.0])
        False
        """
        check_margin(padding)
        if name not in self.robot.links and name not in self.attached:
            raise RobotError(f"set_padding: {name!r} is neither a link nor an attached object")
        self._set_margins(self.margin, (*self._said.rules, Rule(name, OBSTACLES, float(padding))))

    def _set_margins(self, margin: float, rules: tuple[Rule, ...]) -> None:
        cell = self._cell().with_margins(margin, rules)
        self._said = self._said._replace(margin=margin, rules=rules)
        self._made = self._said, cell

    @property
    def margin(self) -> float:
        """How close is too close where `set_margin` said nothing else."""
        return self._said.margin

    @margin.setter
    def margin(self, margin: float) -> None:
        check_margin(margin)
        self._set_margins(float(margin), self._said.rules)

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the obstacles."""
        return tuple(each.name for each in self._said.objects.values() if each.link == WORLD)

    @property
    def attached(self) -> dict[str, str]:
        """Names of attached objects, and the link of each."""
        return {each.name: self.robot.links[each.link] for each in self._said.objects.values() if each.link != WORLD}

    def shape(self, name: str) -> Any:
        """Return the shape of an object.

        Parameters
        ----------
        name : str
            Of an obstacle or an attached object.

        Returns
        -------
        Shape, Mesh, Compound, VoxelGrid, PointCloud or HeightField
            As it was given.

        Raises
        ------
        RobotError
            There is no such object.
        """
        return self._object(name).shape

    def pose(self, name: str) -> Array:
        """Return where an object is: in the world, or in the frame of its link where it is attached.

        Parameters
        ----------
        name : str
            Of an obstacle or an attached object.

        Returns
        -------
        (4, 4) float
            A copy.

        Raises
        ------
        RobotError
            There is no such object.
        """
        return self._object(name).pose.copy()

    def _object(self, name: str) -> CollisionObject:
        objects = self._said.objects
        if name not in objects:
            raise RobotError(f"there is no object {name!r}; there is {', '.join(map(repr, objects)) or 'none'}")
        return objects[name]

    def copy(self) -> Checker:
        """Return a checker with the same surroundings, whose changes are its own; what is not changed is shared.

        Returns
        -------
        Checker
            Cheap, unlike a new one: nothing is prepared again.
        """
        other = object.__new__(type(self))
        said, cell = self._state()
        other.__dict__.update(self.__dict__, _made=(said, cell.copy()))
        other._said = said
        return other

    __copy__ = copy

    def with_robot(self, robot: Robot) -> Checker:
        """Return a checker of another robot with the same surroundings: one with another tool, or somewhere else.

        Parameters
        ----------
        robot : Robot
            With the same links, as `Robot.with_geometry`, `Robot.at` and `Robot.held` return it.

        Returns
        -------
        Checker
            With what stands around and hangs on links, margins, and what may touch.

        Raises
        ------
        RobotError
            Its links are others.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.2), touching=["post"])
        >>> larger = checker.robot.with_geometry("hand", gk.Sphere(0.3))
        >>> checker.free([0.0, 0.0]), checker.with_robot(larger).hit([0.0, 0.0])
        (True, ('hand', 'floor'))
        """
        other = type(self)(robot, margin=self.margin)
        if robot.links != self.robot.links:
            raise RobotError(
                f"robot {robot.name!r} has other links than {self.robot.name!r}: make a checker of its own for it"
            )
        other._said = self._said
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None, "_said": self._said}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def _state(self) -> tuple[_Said, Cell]:
        """Return what was said, and its cell.

        They are kept together: what another thread has made meanwhile of what was said before is not taken for it.
        """
        made, said = self._made, self._said
        if made is None or made[0] is not said:
            if not self.robot.geometries and all(each.link == WORLD for each in said.objects.values()):
                raise no_shapes(self.robot)
            self._made = made = said, build(self._base, said.objects.values(), said.margin, said.rules)
        return made

    def _cell(self) -> Cell:
        """Return what the kernels take of the present state: a question takes it once."""
        return self._state()[1]

    # --- configurations ----------------------------------------------------------------------------------------------

    @overload
    def free(self, q: Unclear, *, workers: int = 1, device: Device = "cpu") -> Any: ...
    @overload
    def free(self, q: Row, *, workers: int = 1, device: Device = "cpu") -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def free(self, q: Rows, *, workers: int = 1, device: Device = "cpu") -> NDArray[np.bool_]: ...
    def free(self, q: Rows, *, workers: int = 1, device: Device = "cpu") -> Any:
        """Tell whether the robot touches neither itself nor its surroundings, nor comes closer than the margin.

        Limits of joints are not looked at: see `Robot.within_limits`.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        workers : int
            Threads for a stack.
        device : {"cpu", "cuda"}
            As in `gjk3d.collide`: what hangs on the robot and stands around it as convex shapes is a graphics card's;
            bodies, where the convex shapes say free, are the processor's. Booleans are the same.

        Returns
        -------
        bool or (n,) bool
            True where it is free; touching is not.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.
        ShapeError
            ``workers`` is no number of threads.
        DeviceUnavailableError
            ``device`` is not there; what is missing, and what brings it.
        """
        said, cell = self._state()
        if type(workers) is int and workers == 1 and device == "cpu":
            told = queries.quick(cell, q)
            if told == FREE or told >= 0:
                self._quick = single.prepared(said, cell)
                return told == FREE
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
        """Tell which configurations may be used, and why the others may not: limits, then what is too close.

        A filter for candidates, such as many solutions of inverse kinematics.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Radians, and the robot's unit of length. Rows that are not finite are not valid, and no error.
        margin : float, optional
            How close is too close where `set_margin` said nothing else; the checker's own by default.
        limits : bool
            Whether limits of joints are looked at. A turn without limits is not wrapped.
        tolerance : float
            How far beyond a limit is still within.
        workers : int
            Threads for a stack.

        Returns
        -------
        Validity
            Valid or not, the reason, and the joint or the pair it is about; of one configuration or of n.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.
        ShapeError
            ``workers`` is no number of threads, or the margin no finite number.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), margin=0.02)
        >>> found = checker.valid([[0.0, 0.0], [9.0, 0.0]])
        >>> found.valid.tolist(), gk.robot.Reason(found.reason[1]).name, found.joint[1]
        ([True, False], 'LIMIT', 'shoulder')
        """
        said, cell = self._state()
        if margin is not None and margin != said.margin:
            check_margin(margin)
            cell = cell.with_margins(float(margin), said.rules)
        return valid(cell, q, limits, tolerance, workers)

    @overload
    def hit(self, q: Unclear, *, workers: int = 1) -> Any: ...
    @overload
    def hit(self, q: Row, *, workers: int = 1) -> PairName: ...  # type: ignore[overload-overlap]
    @overload
    def hit(self, q: Rows, *, workers: int = 1) -> list[PairName]: ...
    def hit(self, q: Rows, *, workers: int = 1) -> Any:
        """Return a pair that is too close.

        Which of several it is depends on what was asked before; see `collisions` for all.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        workers : int
            Threads for a stack.

        Returns
        -------
        (str, str) or None, or list of such
            Two names, of which an obstacle stands second; None where the robot is free.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.
        ShapeError
            ``workers`` is no number of threads.

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
            told = queries.quick(cell, q)
            if told == FREE or told >= 0:
                return None if told == FREE else cell.names(told)
        rows, stacked = self.robot.configurations(q)
        found = [None if p == FREE else cell.names(p) for p in queries.hits(cell, rows, workers).tolist()]
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
            Configurations: radians, and the robot's unit of length.
        max_distance : float
            What is farther is not looked for; the answer is then infinite.
        workers : int
            Threads for a stack.

        Returns
        -------
        RobotClearance
            Distance, bounds of it, normal, both nearest points and the pair, of one configuration or of n.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.
        ShapeError
            ``workers`` is no number of threads.
        """
        check_workers(workers)
        cell = self._cell()
        one = queries.nearest_of_one(cell, q, max_distance) if workers == 1 else None
        if one is not None:
            row, p = one
            distance, lower, upper = row[:3].tolist()
            named = None if p < 0 else cell.names(p)
            return RobotClearance(distance, lower, upper, row[3:6], row[6:9], row[9:12], named)
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
            The deepest first; one for each pair of names. A list of lists for n configurations.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.04), touching=["post"])
        >>> [(each.pair, round(each.depth, 3)) for each in checker.collisions([0.0, 0.0])]
        [(('beam', 'floor'), 0.01), (('hand', 'floor'), 0.01)]
        """
        rows, stacked = self.robot.configurations(q)
        found = results.collisions(self._cell(), rows)
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
            Configurations: radians, and the robot's unit of length.
        within : float
            At least 0: what is up to this far apart has its points too. Margins do not count here.
        max_points : int or None
            Most points of two shapes, as in `gjk3d.contact`. Meshes and other bodies have one point each.

        Returns
        -------
        list of RobotContact
            One for each two convex shapes that touch, of which a link may have several. A list of lists for n
            configurations.

        Raises
        ------
        RobotError, ShapeError
            q is no configuration, or n of them; ``within`` or ``max_points`` is no such number.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.05), touching=["post", "hand"])
        >>> checker.contacts([0.0, 0.0])
        [<RobotContact of 'beam' and 'floor': 4 points>]
        """
        rows, stacked = self.robot.configurations(q)
        found = results.contacts(self._cell(), rows, within, max_points)
        return found if stacked else found[0]

    def gradient(self, q: Rows) -> Array:
        """Return how the clearance changes with q; zero where no pair is checked.

        In overlap with what is not convex it is that of the deepest found, which another may replace any moment. The
        normal times how much faster the second point moves than the first; one of several where pairs tie.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.

        Returns
        -------
        (dof,) or (n, dof) float
            Length for each radian, or for each length of a joint that slides.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> wall = np.eye(4); wall[0, 3] = 1.75
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
        >>> checker.gradient([0.5, 0.0]).round(3).tolist()
        [0.675, 0.196]
        """
        cell = self._cell()
        one = queries.gradient_of_one(cell, q)
        if one is not None:
            return one
        rows, stacked = self.robot.configurations(q)
        found = queries.gradient(cell, rows)
        return found if stacked else found[0]

    def distances(self, q: Rows, within: float = inf, *, jacobians: bool = False) -> RobotDistances:
        """Return every pair within a distance: how far apart, where, and how that changes with q.

        For trajectory optimisers and controllers, which take all that is near, not the nearest alone. Margins do not
        count here; what may touch is left out.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        within : float
            What is proven to be farther apart is left out; all pairs by default.
        jacobians : bool
            Whether to return how each of the points moves too.

        Returns
        -------
        RobotDistances
            A row for each pair that is near, in the order of configurations and pairs; its ``penalty`` is a cost.

        Raises
        ------
        RobotError
            q is no configuration, or n of them; ``within`` is no number.

        Notes
        -----
        The gradient is the normal times how much faster the second point moves than the first; one of several where
        nearest points tie. In overlap with what is not convex it is that of the deepest found.

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
        rows, _ = self.robot.configurations(q)
        return distances(self._cell(), rows, within, jacobians=jacobians)

    @overload
    def outside(self, points: RowsLike, q: Unclear, *, margin: float = 0.0, workers: int = 1) -> Any: ...
    @overload
    def outside(self, points: RowsLike, q: Rows, *, margin: float = 0.0, workers: int = 1) -> NDArray[np.bool_]: ...
    def outside(self, points: RowsLike, q: Rows, *, margin: float = 0.0, workers: int = 1) -> Any:
        """Tell which points are neither of the robot nor of what hangs on it: what else a camera sees.

        All links count, also those that may touch each other; obstacles do not.

        Parameters
        ----------
        points : (n, 3) float
            In the frame of the world; such as those of a camera, moved by its pose.
        q : (dof,) or (k, dof) float
            Where the robot was when they were seen: radians, and the robot's unit of length.
        margin : float
            How near counts as of the robot: what the camera is off by, and the radius that the cloud will have.
        workers : int
            Threads for a stack of configurations.

        Returns
        -------
        (n,) bool or (k, n) bool
            True where a point is proven to be farther than the margin from all links and attached objects.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.
        ShapeError
            A point is not finite, the margin is no finite number, or ``workers`` is no number of threads.

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
        found = outside(self._cell(), rows, places, float(margin), workers)
        return found if stacked else found[0]

    # --- motions -----------------------------------------------------------------------------------------------------

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
            q0 or q1 is no configuration, or n of them; the stacks differ; resolution or tolerance is not above 0.
        ShapeError
            ``workers`` is no number of threads.

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
            ``workers`` is no number of threads.

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
            ``workers`` is no number of threads.

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
        return trajectory_free(self._asked(trajectory, moving), certify, resolution, tolerance, workers)

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
        return trajectory_clearance(self._asked(trajectory, moving), resolution, tolerance, workers)

    def swept(self, trajectory: Any, *, excess: float = 0.01, links: Collection[str] | None = None) -> SweptVolume:
        """Return what links and attached objects sweep along a motion, held by convex pieces: proven, nothing is out.

        For safety zones, for cells that robots share, and for pictures.

        Parameters
        ----------
        trajectory : Trajectory, or spline of scipy
            See `Trajectory`.
        excess : float
            How far pieces may reach beyond what is swept, in the robot's unit; a cylinder's prism by a little more.
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

    def _surroundings(self) -> Surroundings:
        said, cell = self._state()
        return Surroundings(self._base, said.objects, said.margin, said.rules, cell)

    def _asked(self, trajectory: Any, moving: Moving | None) -> Asked:
        return asked(self._surroundings(), trajectory, moving)

    _repr_mimebundle_ = shown

    def __repr__(self) -> str:
        attached = f", {len(self.attached)} attached" if self.attached else ""
        count = len(self._cell().slots)
        return f"<Checker of {self.robot.name!r}: {count} pairs, {len(self.objects)} objects around{attached}>"


builtins.methods(Checker, single.methods_of(Checker))
