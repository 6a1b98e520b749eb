"""What a checker knows of: a robot, what stands around it and hangs on it, and how close may be how close."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from gjk3d.convex.checks import check_margin
from gjk3d.errors import RobotError
from gjk3d.query.dispatch import Collider
from gjk3d.robot.model import Robot
from gjk3d.robot.obstacles import WORLD, Thing, taken_over, thing
from gjk3d.robot.tables import Base, Rules, Tables, build
from gjk3d.typing import Array, OnePose


class Surroundings:
    """See the module; changes are no business of several threads at once."""

    robot: Robot

    def __init__(self, robot: Robot, surroundings: Any, touching: Any, margin: float) -> None:
        check_margin(margin)
        self.robot, self._margin = robot, float(margin)
        self._base = Base(robot)
        self._things: dict[str, Thing] = {}  # replaced, never changed: see `_ready`
        self._rules: Rules = []
        self._made: tuple[dict[str, Thing], Tables] | None = None
        for name, shape, pose in taken_over(surroundings):
            self.add(name, shape, pose)
        for pair in touching:
            pair = tuple(pair)
            if len(pair) != 2 or pair[0] not in robot.links or pair[1] not in self._things:
                raise RobotError(f"touching: {pair!r} is no link with an object of the surroundings")
            old = self._things[pair[1]]
            self._things = {**self._things, pair[1]: old._replace(touch=old.touch | {pair[0]})}

    # --- changes -----------------------------------------------------------------------------------------------------

    def add(self, name: str, shape: Collider, pose: OnePose = None, *, touching: Iterable[str] = ()) -> None:
        """Add an object to the surroundings.

        Parameters
        ----------
        name : str
            Not taken yet, by a link neither.
        shape : Shape, Mesh, Compound, VoxelGrid, PointCloud or HeightField
            Half-spaces too. Convex shapes are answered fastest.
        pose : (4, 4) float, RigidTransform or None
            World from local; None is the identity.
        touching : names, optional
            Links and attached objects that may touch it.
        """
        self._put(thing(name, shape, pose, WORLD, touching), "touching")

    def attach(
        self, name: str, shape: Collider, link: str | int, pose: OnePose = None, touch_links: Iterable[str] = ()
    ) -> None:
        """Fix an object to a link, with which it moves: something that is held.

        It is checked against the surroundings, other attached objects, and links; not those that are joined to its own
        by fixed joints alone, which never move against it.

        Parameters
        ----------
        name : str
            Not taken yet, by a link neither.
        shape : Shape, Mesh, Compound, VoxelGrid or PointCloud
        link : str or int
        pose : (4, 4) float, RigidTransform or None
            In the frame of the link.
        touch_links : names, optional
            Links, such as fingers, that it may touch; objects too, such as the table it is taken from.
        """
        self._put(thing(name, shape, pose, self.robot.link_number(link), touch_links), "touch_links")

    def _put(self, new: Thing, what: str) -> None:
        if new.name in self._things or new.name in self.robot.links:
            owner = "an object" if new.name in self._things else "a link of the robot"
            raise RobotError(f"{new.name!r} is the name of {owner} already")
        for name in new.touch:
            if name not in self.robot.links and name not in self._things:
                raise RobotError(f"{new.name!r}: {what} has {name!r}, which is neither a link nor an object")
        self._things = {**self._things, new.name: new}

    def move(self, name: str, pose: OnePose) -> None:
        """Give an object another pose: in the world, or in the frame of its link where it is attached."""
        old = self._thing(name)
        new = thing(name, old.shape, pose, old.link, old.touch)
        tables = self._ready()
        self._things = {**self._things, name: new}
        slot = tables.at[name]
        tables.local[slot, :9], tables.local[slot, 9:] = new.pose[:3, :3].ravel(), new.pose[:3, 3]
        self._made = self._things, tables

    def remove(self, name: str) -> None:
        """Take an object away, attached or not, and what was said of it: margins, and what may touch it."""
        self._thing(name)
        self._rules = [rule for rule in self._rules if name not in rule[:2]]
        self._things = {
            other: each._replace(touch=each.touch - {name}) for other, each in self._things.items() if other != name
        }

    def detach(self, name: str) -> None:
        """Take an attached object off its link, and out of all checks; `add` puts it where it is left."""
        if self._thing(name).link == WORLD:
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
            Negative lets the two overlap by as much.
        """
        check_margin(margin)
        for name in (a, b):
            if name is not None and name not in self.robot.links and name not in self._things:
                raise RobotError(f"set_margin: {name!r} is neither a link nor an object")
        tables = self._ready()
        if b is not None and not tables.has(a, b):
            raise RobotError(f"set_margin: {a!r} and {b!r} are no pair that is checked")
        self._rules.append((a, b, float(margin)))
        tables.set_margins(self._margin, self._rules)

    def copy(self) -> Self:
        """Return a checker with the same surroundings, whose changes are its own; what is not changed is shared."""
        still = self._still()
        other = object.__new__(type(self))
        other.__setstate__(still.__getstate__())
        other._rules = list(still._rules)
        other._made = other._things, still._ready().copy()
        return other

    __copy__ = copy

    # --- what is known -----------------------------------------------------------------------------------------------

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the objects of the surroundings."""
        return tuple(each.name for each in self._things.values() if each.link == WORLD)

    @property
    def attached(self) -> dict[str, str]:
        """Names of attached objects, and the link of each."""
        return {each.name: self.robot.links[each.link] for each in self._things.values() if each.link != WORLD}

    @property
    def margin(self) -> float:
        """How close is too close where `set_margin` said nothing else."""
        return self._margin

    @margin.setter
    def margin(self, margin: float) -> None:
        check_margin(margin)
        self._margin = float(margin)
        self._ready().set_margins(self._margin, self._rules)

    def shape(self, name: str) -> Any:
        """Return the shape of an object."""
        return self._thing(name).shape

    def pose(self, name: str) -> Array:
        """Return where an object is, (4, 4): in the world, or in the frame of its link where it is attached."""
        return self._thing(name).pose.copy()

    def _thing(self, name: str) -> Thing:
        if name not in self._things:
            raise RobotError(f"there is no object {name!r}; there is {', '.join(map(repr, self._things)) or 'none'}")
        return self._things[name]

    def _ready(self) -> Tables:
        """Return the tables, made anew after changes.

        They are kept with the things that they were made of: what another thread has made meanwhile of older things is
        not taken for these.
        """
        made, things = self._made, self._things
        if made is None or made[0] is not things:
            made = things, build(self._base, things.values(), self._margin, list(self._rules), self.robot.links)
            self._made = made
        return made[1]

    def _still(self) -> Self:
        """Return this checker as it stands now, with the same memory.

        A question of several steps is asked of that: another thread may add and remove objects meanwhile.
        """
        self._ready()
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
