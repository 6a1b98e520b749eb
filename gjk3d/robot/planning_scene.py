"""The planning scene of a checker: a robot, the obstacles around it, the objects attached to it, and margins.

The scene stores the settings of the user. The first query after a change converts them to a cell, which the kernels
read (see `gjk3d.robot.cell`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from gjk3d.convex.checks import check_margin
from gjk3d.engine.dispatch import Collider
from gjk3d.errors import RobotError
from gjk3d.frozen import shown
from gjk3d.robot.bodies import WORLD, CollisionObject, collision_object, names_in, taken_over
from gjk3d.robot.cell import Base, Cell, build
from gjk3d.robot.margins import Margins, Rule
from gjk3d.robot.model import Robot, no_shapes
from gjk3d.robot.results import near
from gjk3d.typing import Array, OnePose, PoseLike, Row
from gjk3d.wording import count, expected_names, nearest

if TYPE_CHECKING:
    from gjk3d.robot.timed import Surroundings
    from gjk3d.scene import Scene  # loaded with the user's scene


class _Settings(NamedTuple):
    """The settings of a scene. A change makes a new object, so a query that has begun keeps the old settings."""

    objects: dict[str, CollisionObject]
    margin: float
    rules: tuple[Rule, ...]
    links: dict[tuple[str, str], bool]  #: whether pairs of links may touch; overrides `Robot.allowed`


class PlanningScene(Margins):
    """The surroundings and margins of a `gjk3d.robot.Checker`."""

    __slots__ = ("__dict__", "__weakref__", "_quick", "_quick_distances", "_settings")
    _settings: _Settings
    _quick: Any  #: arguments for `free` that `gjk3d.robot.single` prepared for the present state, or None
    _quick_distances: Any  #: arguments for `distances` that `gjk3d.robot.single` prepared, or None

    def __init__(
        self,
        robot: Robot,
        surroundings: Mapping[str, Collider | tuple[Collider, PoseLike | None]] | Scene | None = None,
        *,
        touching: Iterable[tuple[str, str]] = (),
        margin: float = 0.0,
    ) -> None:
        if not isinstance(robot, Robot):
            raise TypeError(f"robot is {type(robot).__name__}, expected a Robot. Read one with Robot.from_urdf(path)")
        check_margin(margin)
        self._robot = robot
        self._base: tuple[Any, Base] | None = None  #: ``_Settings.links`` and the base that was made from it
        self._settings = _Settings({}, float(margin), (), {})
        robot.allowed._taken_by([self])
        self._made: tuple[_Settings, Cell] | None = None
        for name, shape, pose in taken_over(surroundings):
            self.add(name, shape, pose)
        objects = dict(self._settings.objects)
        for pair in touching:
            if len(pair) != 2 or pair[0] not in robot.links or pair[1] not in objects:
                raise RobotError(
                    f"touching: {tuple(pair)!r} is not a pair of a link and an object, in this order. {self._known()}"
                )
            old = objects[pair[1]]
            objects[pair[1]] = old._replace(touch=old.touch | {pair[0]})
        self._settings = self._settings._replace(objects=objects)

    @property
    def robot(self) -> Robot:
        """The robot. `with_robot` returns a checker of another robot."""
        return self._robot

    def add(self, name: str, shape: Collider, pose: OnePose = None, *, touching: Iterable[str] = ()) -> None:
        """Add an obstacle.

        Parameters
        ----------
        name : str
            A name that no other object and no link has.
        shape : Shape, Mesh, Compound, VoxelGrid, PointCloud or HeightField
            A half-space, or a mesh of trimesh or pyvista, is accepted too. Convex shapes are fastest. A mesh with a
            unit is scaled to metres. A shape without a unit is used unchanged.
        pose : (4, 4) float, RigidTransform or None
            Pose of the shape in the world. None is the identity.
        touching : iterable of str
            Names of links and attached objects that may touch the obstacle.

        Raises
        ------
        RobotError
            The name is in use, a name in ``touching`` is unknown, the pose is a stack of poses, or the unit of the
            shape cannot be converted to metres.
        UnsupportedPair
            The shape is not supported.
        """
        self._add_object(collision_object(name, shape, pose, WORLD, touching), "touching")

    def attach(
        self,
        name: str,
        shape: Collider | None = None,
        link: str | int | None = None,
        pose: OnePose = None,
        touch_links: Iterable[str] = (),
        *,
        q: Row | None = None,
    ) -> None:
        """Attach an object to a link, such as a grasped part, so that it moves with the link.

        Without a shape, an obstacle of this name is attached. It keeps its pose in the world at the configuration
        ``q``. Each link or object that the obstacle touches at q, such as a finger or a table, is added to
        ``touch_links``.

        The object is checked against obstacles, other attached objects, and all links that can move relative to it.

        Parameters
        ----------
        name : str
            A name that no other object and no link has. Without a shape, the name of an obstacle.
        shape : Shape, Mesh, Compound, VoxelGrid, PointCloud or None
            A bounded shape, not a half-space, a plane, or a height field without a bottom. A mesh of trimesh or
            pyvista is accepted too. A mesh with a unit is scaled to metres.
        link : str or int
            Name or number of the link that carries the object.
        pose : (4, 4) float, RigidTransform or None
            Pose of the shape in the frame of the link. None is the identity. Without a shape, the pose is computed.
        touch_links : iterable of str
            Names of links and objects that the attached object may touch, such as fingers, or the table under it.
        q : (dof,) float or None
            The configuration at which an obstacle is attached: radians, and the robot's unit of length. Only without a
            shape.

        Raises
        ------
        RobotError
            The name is in use, the link or a name in ``touch_links`` is unknown, the shape is unbounded, the pose is a
            stack of poses, or the unit of the shape cannot be converted to metres. Without a shape, the obstacle does
            not exist, a pose is given, or ``q`` is missing.
        UnsupportedPair
            The shape is not supported.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.attach("cup", gk.Cylinder(0.03, 0.1), "hand", touch_links=["beam"])
        >>> checker.attached
        {'cup': 'hand'}
        >>> checker.detach("cup")
        >>> checker.add("cup", gk.Cylinder(0.03, 0.1))
        >>> checker.attach("cup", link="hand", q=[0.0, 0.0])
        """
        if link is None:
            given = repr(name) if shape is None else f"{name!r}, shape"
            raise RobotError(
                f"attach: the link for {name!r} is missing. Give one, for example attach({given}, link='hand')."
            )
        number = self.robot.link_number(link)
        if shape is None:
            self._attach_obstacle(name, number, pose, touch_links, q)
        elif q is not None:
            raise RobotError(
                f"attach: q and a shape are given for {name!r}, but q is only used to attach an obstacle. "
                "Leave out q or the shape."
            )
        else:
            self._add_object(collision_object(name, shape, pose, number, touch_links), "touch_links")

    def _attach_obstacle(self, name: str, link: int, pose: OnePose, touch_links: Iterable[str], q: Row | None) -> None:
        old = self._object(name)
        if old.link != WORLD:
            raise RobotError(
                f"attach: {name!r} is already attached to {self.robot.links[old.link]!r}. Detach it first."
            )
        if pose is not None or q is None:
            fault, cure = ("with a pose", "Leave out the pose") if pose is not None else ("without q", "Give q")
            raise RobotError(
                f"attach: the obstacle {name!r} is given without a shape and {fault}, expected q and no pose. "
                f"{cure}, or give a shape."
            )
        rows, stacked = self.robot.configurations(q)
        if stacked:
            raise RobotError(f"attach: q has shape {rows.shape}, expected one configuration ({self.robot.dof},)")
        pose = np.linalg.inv(self.robot.link_poses(rows[0])[link]) @ old.pose
        new = collision_object(name, old.shape, pose, link, {*old.touch, *names_in(touch_links, "touch_links")})
        # Contacts at q are computed for the attached object, so it is attached first. An error restores the settings.
        before = self._settings
        remaining = {key: item for key, item in before.objects.items() if key != name}
        self._settings = before._replace(objects=remaining)
        try:
            self._add_object(new, "touch_links")
            cell = self._cell()
            pairs = {pair for _, some, _ in near(cell, rows, np.zeros(len(cell.slots))) for pair in some.tolist()}
        except BaseException:
            self._settings = before
            raise
        touched = {item for pair in pairs if name in (names := cell.names[pair]) for item in names} - {name}
        self._settings = self._settings._replace(objects={**remaining, name: new._replace(touch=new.touch | touched)})

    def _add_object(self, new: CollisionObject, what: str) -> None:
        objects = self._settings.objects
        if new.name in objects or new.name in self.robot.links:
            owner, cure = "a link", "Choose another name"
            if new.name in objects:
                owner, cure = "an object", f"Use remove({new.name!r}) first, or choose another name"
            raise RobotError(f"{new.name!r} is already the name of {owner}. {cure}")
        for name in new.touch:
            if name not in self.robot.links and name not in objects:
                raise RobotError(f"{new.name!r}: {what}: {self._unknown(name)}")
        self._settings = self._settings._replace(objects={**objects, new.name: new})

    def move(self, name: str, pose: OnePose) -> None:
        """Set the pose of an obstacle in the world, or the pose of an attached object in the frame of its link.

        Parameters
        ----------
        name : str
            Name of an obstacle or an attached object.
        pose : (4, 4) float, RigidTransform or None
            The new pose. None is the identity.

        Raises
        ------
        RobotError
            The object does not exist, or the pose is a stack of poses.
        """
        old = self._object(name)
        new = collision_object(name, old.shape, pose, old.link, old.touch)
        # A move keeps all pairs, so the cell is only updated. This change must be fast in a running system.
        cell = self._cell().moved(name, new.pose)
        self._settings = self._settings._replace(objects={**self._settings.objects, name: new})
        self._made = self._settings, cell

    def remove(self, name: str) -> None:
        """Remove an obstacle or an attached object, with its margins and its allowed contacts.

        Parameters
        ----------
        name : str
            Name of an obstacle or an attached object.

        Raises
        ------
        RobotError
            The object does not exist.
        """
        self._object(name)
        objects = {
            key: item._replace(touch=item.touch - {name}) for key, item in self._settings.objects.items() if key != name
        }
        rules = tuple(rule for rule in self._settings.rules if name not in (rule.a, rule.b))
        self._settings = self._settings._replace(objects=objects, rules=rules)

    def detach(self, name: str) -> None:
        """Remove an attached object. To keep it as an obstacle, call `add` with its shape and its pose in the world.

        Parameters
        ----------
        name : str
            Name of an attached object.

        Raises
        ------
        RobotError
            The object does not exist, or is an obstacle.
        """
        if self._object(name).link == WORLD:
            raise RobotError(f"{name!r} is an obstacle and not attached. Use remove({name!r})")
        self.remove(name)

    def allow(self, a: str, b: str) -> None:
        """Allow two links or objects to touch from now on, in this checker only.

        `Robot.allowed` allows pairs of links in all checkers of a robot. MoveIt stores such pairs in its
        AllowedCollisionMatrix.

        Parameters
        ----------
        a, b : str
            Names of links or objects, in any order.

        Raises
        ------
        RobotError
            A link or object does not exist, or both names are the same.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"ball": gk.Sphere(0.3)})
        >>> checker.allow("post", "ball")
        >>> checker.allow("beam", "ball")
        >>> checker.free([0.0, 0.0])
        True
        >>> checker.forbid("post", "ball")
        >>> checker.hit([0.0, 0.0])
        ('post', 'ball')
        """
        self._set_allowed(a, b, True)

    def forbid(self, a: str, b: str) -> None:
        """Check two links or objects against each other from now on, in this checker only.

        This reverses `allow`. Pairs that never move relative to each other stay unchecked, such as two obstacles.

        Parameters
        ----------
        a, b : str
            Names of links or objects, in any order.

        Raises
        ------
        RobotError
            A link or object does not exist, or both names are the same.

        Examples
        --------
        >>> import gjk3d as gk
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.forbid("beam", "hand")  # adjacent links, which are not checked by default
        >>> checker.hit([0.0, 0.0])
        ('beam', 'hand')
        """
        self._set_allowed(a, b, False)

    def _set_allowed(self, a: str, b: str, may: bool) -> None:
        objects, links = dict(self._settings.objects), self._settings.links
        for name in (a, b):
            self._check_known(name)
        if a == b:
            raise RobotError(f"{a!r} is given twice, expected two different names")
        if a in objects or b in objects:
            for owner, partner in ((a, b), (b, a)):
                if owner in objects:
                    touch = objects[owner].touch
                    objects[owner] = objects[owner]._replace(touch=touch | {partner} if may else touch - {partner})
        else:
            first, second = sorted((a, b), key=self.robot.links.index)
            links = {**links, (first, second): may}
        self._settings = self._settings._replace(objects=objects, links=links)

    def _set_margins(self, margin: float, rules: tuple[Rule, ...]) -> None:
        cell = self._cell().with_margins(margin, rules)
        self._settings = self._settings._replace(margin=margin, rules=rules)
        self._made = self._settings, cell

    def _check_known(self, name: Any, where: str = "") -> None:
        if not isinstance(name, str) or (name not in self.robot.links and name not in self._settings.objects):
            raise RobotError(f"{where}{self._unknown(name)}")

    def _unknown(self, name: Any) -> str:
        hint = nearest(name, (*self.robot.links, *self._settings.objects))
        return f"{name!r:.80} is neither a link nor an object.{hint or ' ' + self._known()}"

    def _known(self) -> str:
        objects = ", ".join(map(repr, self._settings.objects)) or "none"
        return f"Links are {', '.join(map(repr, self.robot.links)):.300}, and objects are {objects:.300}."

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the obstacles."""
        return tuple(item.name for item in self._settings.objects.values() if item.link == WORLD)

    @property
    def attached(self) -> dict[str, str]:
        """The link of each attached object, by the name of the object."""
        return {
            item.name: self.robot.links[item.link] for item in self._settings.objects.values() if item.link != WORLD
        }

    def shape(self, name: str) -> Any:
        """Return the shape of an obstacle or an attached object.

        Parameters
        ----------
        name : str
            Name of the object.

        Returns
        -------
        Shape, Mesh, Compound, VoxelGrid, PointCloud or HeightField
            The shape as it was given. A mesh with a unit was scaled to metres.

        Raises
        ------
        RobotError
            The object does not exist.
        """
        return self._object(name).shape

    def pose(self, name: str) -> Array:
        """Return the pose of an obstacle in the world, or the pose of an attached object in the frame of its link.

        Parameters
        ----------
        name : str
            Name of the object.

        Returns
        -------
        (4, 4) float
            A copy of the pose.

        Raises
        ------
        RobotError
            The object does not exist.
        """
        return self._object(name).pose.copy()

    def _object(self, name: str) -> CollisionObject:
        objects = self._settings.objects
        if not isinstance(name, str) or name not in objects:
            raise RobotError(f"{name!r} is not an object, {expected_names(name, objects)}")
        return objects[name]

    def copy(self) -> Self:
        """Return an independent checker with the same surroundings.

        Returns
        -------
        Checker
            The copy shares all prepared data with this checker, so a copy takes little time and memory.
        """
        new = object.__new__(type(self))
        settings, cell = self._state()
        new.__dict__.update(self.__dict__, _made=(settings, cell.copy()))
        new._settings = settings
        self.robot.allowed._taken_by([new])
        return new

    __copy__ = copy

    def with_robot(self, robot: Robot) -> Self:
        """Return a checker with the same surroundings for another robot, such as a robot with another tool or base.

        Parameters
        ----------
        robot : Robot
            A robot with the same links, such as a result of `Robot.with_geometry`, `Robot.at` or `Robot.held`.

        Returns
        -------
        Checker
            The new checker has the same obstacles, attached objects, margins, and pairs that may touch.

        Raises
        ------
        RobotError
            The robot has other links.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> checker = gk.robot.Checker(gk.robot.Robot.example())
        >>> checker.add("floor", gk.Halfspace((0, 0, 1), -0.2), touching=["post"])
        >>> larger = checker.robot.with_geometry("hand", gk.Sphere(0.3))
        >>> checker.free([0.0, 0.0]), checker.with_robot(larger).hit([0.0, 0.0])
        (True, ('hand', 'floor'))
        """
        new = type(self)(robot, margin=self.margin)
        if robot.links != self.robot.links:
            raise RobotError(
                f"robot {robot.name!r} has other links than {self.robot.name!r}. Make a new Checker for it"
            )
        new._settings = self._settings
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None, "_settings": self._settings}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self.robot.allowed._taken_by([self])

    def _pairs_changed(self) -> None:
        """Discard the cell, so that the next query makes one with the changed pairs of the robot."""
        # a new dict, since `_base_of` compares by identity
        self._settings = self._settings._replace(links=dict(self._settings.links))

    def _base_of(self, settings: _Settings) -> Base:
        cached = self._base
        if cached is None or cached[0] is not settings.links:
            self._base = cached = settings.links, Base(self.robot, self.robot._pairs_with(settings.links))
        return cached[1]

    def _state(self) -> tuple[_Settings, Cell]:
        # The settings and their cell are stored as one tuple. Another thread may store a cell of older settings at the
        # same time, and such a cell must not be used for these settings.
        current, settings = self._made, self._settings
        if current is None or current[0] is not settings:
            if not self.robot.geometries and all(item.link == WORLD for item in settings.objects.values()):
                raise no_shapes(self.robot)
            self._made = current = (
                settings,
                build(self._base_of(settings), settings.objects.values(), settings.margin, settings.rules),
            )
        return current

    def _cell(self) -> Cell:
        """Return the cell of the present state. A query calls this once."""
        return self._state()[1]

    def _with_links(self, cell: Cell, links: Iterable[str] | None) -> Cell:
        """Return the cell with only the pairs that have a link or object in ``links``, or with all pairs for None."""
        if links is None:
            return cell
        names = names_in(links, "links")
        for name in names:
            self._check_known(name, "links: ")
        return cell.of_owners(frozenset(names))

    def _surroundings(self) -> Surroundings:
        from gjk3d.robot.timed import Surroundings

        settings, cell = self._state()
        return Surroundings(self._base_of(settings), settings.objects, settings.margin, settings.rules, cell)

    _repr_mimebundle_ = shown

    def __repr__(self) -> str:
        attached = f", {len(self.attached)} attached" if self.attached else ""
        pairs = count(len(self._cell().slots), "pair")
        obstacles = count(len(self.objects), "obstacle")
        return f"<Checker of {self.robot.name!r}: {pairs}, {obstacles}{attached}>"
