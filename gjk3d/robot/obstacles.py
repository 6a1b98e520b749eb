"""Obstacles and margins.

An obstacle is a named shape in the world. An attached object is a named shape that is fixed to a link. The outline of
either is the convex shape that kernels test in its place.

A margin is the distance at or below which two links or objects count as colliding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh, as_mesh
from gjk3d.convex.checks import check_margin, no_shape
from gjk3d.convex.solve import is_mapped
from gjk3d.engine.dispatch import is_collider
from gjk3d.errors import RobotError
from gjk3d.poses import pose_rows
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Bools, OnePose
from gjk3d.units import conversion, rescaling
from gjk3d.wording import expected_names, kind_of

if TYPE_CHECKING:
    from gjk3d.robot.cell import Cell
    from gjk3d.robot.model import Robot
    from gjk3d.robot.planning_scene import _Settings

# --- obstacles -------------------------------------------------------------------------------------------------------


WORLD = -1  #: number that replaces the number of a link for shapes in the world


class CollisionObject(NamedTuple):
    """An obstacle in the world, or an object that is attached to a link."""

    name: str
    shape: Any
    pose: Array  #: (4, 4), in the frame of the link, or in the world
    link: int  #: number of the link to which the object is attached, or WORLD
    touch: frozenset[str]  #: names of links and objects that the object may touch


class Outline(NamedTuple):
    """The shape that kernels use for an object: its own shape, a convex shape around it, or a half-space."""

    shape: Shape
    exact: bool  #: whether the outline is the shape itself

    @property
    def unbounded(self) -> bool:
        """Whether the outline is a half-space or a plane."""
        return isinstance(self.shape, Halfspace)


def outline(shape: Any) -> Outline:
    """Return the outline of a shape, or of any other object that `gjk3d.collide` accepts."""
    if isinstance(shape, Mesh):
        return Outline(shape.hull(), False)
    if isinstance(shape, Shape) and not is_mapped(shape):
        return Outline(shape, True)
    if getattr(shape, "bottom", None) == -np.inf:  # a height field that is unbounded below
        top = float(np.max(shape.heights) + abs(np.max(shape.heights)) * 1e-12)
        return Outline(Halfspace((0.0, 0.0, 1.0), top), False)
    low, high = shape.bounds  # these may be rounded, so the box is padded by more than the rounding error
    pad = 1e-9 * float(np.abs([low, high]).max())
    ends = np.array([low - pad, high + pad])
    box = ConvexHull([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return Outline(box, False)


def collision_object(name: Any, shape: Any, pose: Any, link: int = WORLD, touch: Iterable[str] = ()) -> CollisionObject:
    """Check a name, a shape and a pose, and return them as an object. The caller checks that the name is unused."""
    if type(name) is not str or not name:
        raise RobotError(f"the name of an object is {name!r}, expected text")
    shape = as_mesh(shape)
    if not is_collider(shape):
        raise RobotError(str(no_shape(f"the shape of {name!r}", shape)))
    shape = in_metres(shape, repr(name))
    if link != WORLD and outline(shape).unbounded:
        cure = "Attach a large Box" if isinstance(shape, Halfspace) else "Give it a finite bottom"
        raise RobotError(f"{name!r} is {kind_of(shape)}, which is unbounded and cannot be attached. {cure}")
    matrix = one_pose(pose, f"pose of {name!r}")
    return CollisionObject(name, shape, matrix, link, frozenset(names_in(touch, f"{name!r}: touch")))


def in_metres(shape: Any, what: str) -> Any:
    """Return a shape with its unit converted to metres. A shape without a unit is unchanged."""
    unit = getattr(shape, "unit", None)
    if unit is None or not (cure := rescaling(unit, "meters")):
        return shape
    factor = conversion(unit, "meters")
    if factor is None or not isinstance(shape, Mesh):
        raise RobotError(f"{what} is {kind_of(shape)} in {unit}, and robots are in metres. Convert its mesh: {cure}")
    return shape._cached("in metres", lambda: shape.scaled(factor, unit="meters"))


def names_in(value: Any, what: str) -> tuple[str, ...]:
    """Return the names of an iterable. A single text, or an item that is not a name, is a `RobotError`."""
    if isinstance(value, str):
        raise RobotError(f"{what} is the text {value!r}, expected names in a list, for example [{value!r}]")
    if not isinstance(value, Iterable):
        raise RobotError(f"{what} is {kind_of(value)}, expected names in a list")
    names = tuple(value)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise RobotError(f"{what} has {wrong[0]!r:.80}, expected names")
    return names


def one_pose(pose: OnePose, name: str) -> Array:
    """Return a copy of a pose as a matrix. A stack is a `RobotError`."""
    rows, stacked = pose_rows(pose, name, single=True)
    if stacked:
        raise RobotError(f"the {name} is a stack of poses, expected one (4, 4) pose")
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rows[0, :9].reshape(3, 3), rows[0, 9:12]
    return matrix


def taken_over(surroundings: Any) -> list[tuple[str, Any, Any]]:
    """Return (name, shape, pose) of each item of a mapping, or of each object of a `gjk3d.Scene`."""
    if surroundings is None:
        return []
    if isinstance(surroundings, Mapping):
        return [
            (name, *entry) if isinstance(entry, tuple) and len(entry) == 2 else (name, entry, None)
            for name, entry in surroundings.items()
        ]
    from gjk3d.scene import Scene

    if isinstance(surroundings, Scene):
        objects = [(name, surroundings.shape(name), surroundings.pose(name)) for name in surroundings.names]
        for name, shape, _ in objects:
            if (unit := getattr(shape, "unit", None)) and (cure := rescaling(unit, "meters")):
                raise RobotError(
                    f"the Scene is in {unit} ({name!r}), and robots are in metres. Convert its meshes, "
                    f"{cure}, and its poses, or pass a mapping with poses in metres"
                )
        return objects
    raise RobotError(
        f"surroundings is {kind_of(surroundings)}, expected a gjk3d.Scene, or a mapping of names to shapes or "
        "(shape, pose)"
    )


# --- margins ---------------------------------------------------------------------------------------------------------


OBSTACLES = ""  #: in a rule: all obstacles; no object can have this name


class Rule(NamedTuple):
    """A margin for pairs of two names. Later rules override earlier rules.

    If b is None, the rule holds for name a and all other names. If b is `OBSTACLES`, it holds for a and all obstacles.
    """

    a: str
    b: str | None
    margin: float


def margins_of(cell: Cell, margin: float, rules: Iterable[Rule]) -> Array:
    """Return the margin of each pair: the margin of the last rule for the pair, or else ``margin``."""
    margins = np.full(len(cell.slots), margin)
    for rule in rules:
        margins[pairs_of(cell, rule.a, rule.b)] = rule.margin
    return margins


def pairs_of(cell: Cell, a: str, b: str | None) -> Bools:
    """Return for each pair of the cell whether a `Rule` for the names a and b holds for it, (pairs,) bool."""
    owner = cell.owner[cell.slots]
    is_a = owner == cell.owners.index(a)
    if b is not None:
        is_b = cell.layout.link[cell.slots] == WORLD if b == OBSTACLES else owner == cell.owners.index(b)
        is_a = is_a[:, ::-1] & is_b
    selected: Bools = is_a.any(axis=1)
    return selected


class Margins:
    """The margins of a `gjk3d.robot.Checker`."""

    __slots__ = ()

    if TYPE_CHECKING:  # of `PlanningScene`
        _settings: _Settings

        @property
        def attached(self) -> dict[str, str]: ...  # noqa: D102
        @property
        def robot(self) -> Robot: ...  # noqa: D102
        def _cell(self) -> Cell: ...
        def _check_known(self, name: Any, where: str = "") -> None: ...
        def _set_margins(self, margin: float, rules: tuple[Rule, ...]) -> None: ...

    def set_margin(self, a: str, b: str | None, margin: float) -> None:
        """Set the margin of two links or objects, or the margin of one link or object to all others.

        A later call overrides earlier calls. A margin does not change distances. It only changes which configurations
        count as free.

        Parameters
        ----------
        a, b : str
            Names of links or objects, in any order. With None for b, the margin applies to all links and objects that a
            is checked against, also to objects that are added later.
        margin : float
            The margin in the robot's unit. A negative margin allows an overlap of this depth.

        Raises
        ------
        RobotError
            A link or object does not exist, or the two are not checked against each other.
        ShapeError
            The margin is not a finite number.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> wall = np.eye(4); wall[0, 3] = 1.75
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
        >>> checker.set_margin("hand", "wall", 0.3)
        >>> checker.free([0.0, 0.0])
        False
        """
        check_margin(margin, f"set_margin({a!r:.80}, {b!r:.80}): margin", " in metres")
        for name in (a,) if b is None else (a, b):
            self._check_known(name, "set_margin: ")
        if b is not None and not pairs_of(self._cell(), a, b).any():
            raise RobotError(f"set_margin: {a!r} and {b!r} are not a checked pair. Call forbid({a!r}, {b!r}) first")
        self._set_margins(self.margin, (*self._settings.rules, Rule(a, b, float(margin))))

    def set_padding(self, name: str, padding: float) -> None:
        """Set the margin between a link or an attached object and all obstacles, also obstacles that are added later.

        MoveIt calls this margin link padding. The padding does not apply between two links. Use `set_margin` for these.

        Parameters
        ----------
        name : str
            Name of a link or an attached object.
        padding : float
            The margin in the robot's unit.

        Raises
        ------
        RobotError
            The link or attached object does not exist.
        ShapeError
            The padding is not a finite number.

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
        check_margin(padding, f"set_padding({name!r:.80}): padding", " in metres")
        names = *self.robot.links, *self.attached
        if not isinstance(name, str) or name not in names:
            raise RobotError(
                f"set_padding: {name!r:.80} is not a link or attached object (for an obstacle use set_margin), "
                f"{expected_names(name, names)}"
            )
        self._set_margins(self.margin, (*self._settings.rules, Rule(name, OBSTACLES, float(padding))))

    @property
    def margin(self) -> float:
        """The margin, in the robot's unit, of all pairs without a margin from `set_margin` or `set_padding`."""
        return self._settings.margin

    @margin.setter
    def margin(self, margin: float) -> None:
        check_margin(margin)
        self._set_margins(float(margin), self._settings.rules)
