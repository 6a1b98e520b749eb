"""Margins: distances at or below which two links or objects count as colliding.

The last rule for a pair sets its margin. A pair without a rule has the margin of the checker.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d.convex.checks import check_margin
from gjk3d.errors import RobotError
from gjk3d.robot.bodies import WORLD
from gjk3d.typing import Array, Bools
from gjk3d.wording import expected_names

if TYPE_CHECKING:
    from gjk3d.robot.cell import Cell
    from gjk3d.robot.model import Robot
    from gjk3d.robot.planning_scene import _Settings


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
            raise RobotError(
                f"set_margin: {a!r} and {b!r} are not a checked pair. Call forbid({a!r}, {b!r}) first, which needs two "
                "names that can move relative to each other"
            )
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
