"""Configurations and motions of a robot, checked against itself, its obstacles, and what it holds.

A checker holds what the user said; the cell is what the kernels take of that, made at the first question after a
change (see `gjk3d.robot.cell`). The answers are found in `queries`, `results` and `motions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels import builtins
from gjk3d.convex.checks import check_margin, check_workers
from gjk3d.errors import RobotError
from gjk3d.query.dispatch import Collider
from gjk3d.robot import queries, results, single
from gjk3d.robot.cell import Base, Cell, Rule, build
from gjk3d.robot.model import Robot
from gjk3d.robot.motions import ManyMotions, MotionCheck, OneMotion, PathCheck, motion_free, path_free
from gjk3d.robot.obstacles import WORLD, CollisionObject, collision_object, taken_over
from gjk3d.robot.outside import outside
from gjk3d.robot.results import PairName, RobotClearance, RobotCollision, RobotContact
from gjk3d.robot.walk import FREE
from gjk3d.scene import Scene
from gjk3d.shapes.arguments import rows as checked_points
from gjk3d.typing import Array, Number, OnePose, PoseLike, Row, Rows, RowsLike, Unclear, VectorLike


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
            self._made = made = said, build(self._base, said.objects.values(), said.margin, said.rules)
        return made

    def _cell(self) -> Cell:
        """Return what the kernels take of the present state: a question takes it once."""
        return self._state()[1]

    # --- configurations ----------------------------------------------------------------------------------------------

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
            Configurations: radians, and the robot's unit of length.
        workers : int
            Threads for a stack.

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
        """
        said, cell = self._state()
        if type(workers) is int and workers == 1:
            told = queries.quick(cell, q)
            if told == FREE or told >= 0:
                self._quick = single.prepared(said, cell)
                return told == FREE
        rows, stacked = self.robot.configurations(q)
        free: NDArray[np.bool_] = queries.hits(cell, rows, workers) == FREE
        return free if stacked else bool(free[0])

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
        one = queries.nearest_of_one(cell, q) if workers == 1 and max_distance == inf else None
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

    def __repr__(self) -> str:
        attached = f", {len(self.attached)} attached" if self.attached else ""
        count = len(self._cell().slots)
        return f"<Checker of {self.robot.name!r}: {count} pairs, {len(self.objects)} objects around{attached}>"


builtins.methods(Checker, single.methods_of(Checker))
