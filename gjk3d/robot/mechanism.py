"""A mechanism: links and joints, their configurations, the poses of links, and Jacobians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from numbers import Real
from operator import index
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import RobotError
from gjk3d.robot.kinematics import FIXED, Chain, many_link_poses, many_point_jacobians
from gjk3d.robot.urdf import Description, Joint, tree_of
from gjk3d.typing import Array, Ints, Number, Row, Rows, Unclear
from gjk3d.wording import count, expected_names, kind_of

_FLOAT = np.dtype(np.float64)


def line_of_trajectory(path: Any) -> str:
    """Return a line of code that makes a scipy spline from a trajectory of toppra or Drake, or "" for other objects."""
    if hasattr(path, "get_segment_times"):  # pydrake.trajectories.PiecewisePolynomial
        times, values, rates = "path.get_segment_times()", "path.vector_values(t).T", "path.MakeDerivative()"
        return f"t = {times}; CubicHermiteSpline(t, {values}, {rates}.vector_values(t).T)"
    if hasattr(path, "path_interval"):  # toppra
        return "t = np.linspace(*path.path_interval, 1000); CubicHermiteSpline(t, path(t), path(t, 1))"
    return ""


class Mechanism:
    """The links and joints of a `gjk3d.robot.Robot`, without shapes."""

    __slots__ = (
        "_chain", "_order", "columns", "dof", "joints", "links", "lower", "name", "rigid", "upper",
    )  # fmt: skip

    _chain: Chain
    _order: tuple[str, ...]  #: names of the joints in the order of the file
    columns: dict[str, slice]
    dof: int
    joints: tuple[Joint | None, ...]
    links: tuple[str, ...]
    lower: Array
    name: str
    rigid: Ints
    upper: Array

    def _put_together(self, description: Description) -> None:
        """Set links and joints from a description. Raise `ParseError` if they do not form a tree."""
        tree = tree_of(description)
        self.name = description.name
        self.links, self.joints, self.columns, self._chain = tree.links, tree.above, tree.columns, tree.chain
        self._order = tuple(joint.name for joint in description.joints)
        self.dof = sum(column.stop - column.start for column in tree.columns.values())
        self.lower, self.upper = np.full(self.dof, -inf), np.full(self.dof, inf)
        for joint in description.joints:
            if joint.name in tree.columns:
                self.lower[tree.columns[joint.name]] = joint.lower
                self.upper[tree.columns[joint.name]] = joint.upper
        self.lower.setflags(write=False)
        self.upper.setflags(write=False)
        self.rigid = rigid_bodies(self._chain, frozenset())

    def _in_file_order(self) -> list[Joint]:
        """Return the joints in the order of the file, which defines the order of links and joint values."""
        by_name = {joint.name: joint for joint in self.joints if joint is not None}
        return [by_name[name] for name in self._order]

    def _joint_of(self, column: int) -> str:
        return next(name for name, columns in self.columns.items() if columns.start <= column < columns.stop)

    @property
    def base(self) -> Array:
        """Pose of the first link, (4, 4) world from link, as a copy. `at` returns a robot with another pose."""
        pose: Array = self._chain.origin[0].copy()
        return pose

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that have numbers in q, in the order of q."""
        return tuple(self.columns)

    def link_number(self, link: str | int) -> int:
        """Return the number of a link.

        Parameters
        ----------
        link : str or int
            Name or number of the link.

        Returns
        -------
        int

        Raises
        ------
        RobotError
            The link does not exist.
        """
        if isinstance(link, str):
            if link not in self.links:
                raise RobotError(f"robot {self.name!r} has no link {link!r}, {expected_names(link, self.links)}")
            return self.links.index(link)
        try:
            number = index(link)
        except TypeError:
            raise RobotError(f"a link is given as {kind_of(link)}, expected its name or its number") from None
        if not 0 <= number < len(self.links):
            raise RobotError(f"robot {self.name!r} has no link {number}, expected 0 to {len(self.links) - 1}")
        return number

    def configuration(self, values: Mapping[str, Number | Row], start: Row | None = None) -> Array:
        """Return a configuration with the given values of named joints.

        Parameters
        ----------
        values : mapping of str to float, (3,) float or (6,) float
            The values of each joint, by its name: radians, and the robot's unit of length.
        start : (dof,) float, optional
            A configuration with the values of all other joints. The default is 0 for each joint.

        Returns
        -------
        (dof,) float
            The configuration.

        Raises
        ------
        RobotError
            A joint does not exist, or the number of its values is wrong.
        """
        q = np.zeros(self.dof) if start is None else self.configurations(start)[0][0].copy()
        if not isinstance(values, Mapping):
            raise RobotError(f"values is {kind_of(values)}, expected a mapping of joint names to joint values")
        for name, value in values.items():
            if name not in self.columns:
                known = expected_names(name, self.columns)
                raise RobotError(f"robot {self.name!r} has no joint {name!r} with numbers in q, {known}")
            try:
                numbers = np.asarray(value, dtype=np.float64).ravel()
            except (TypeError, ValueError, OverflowError):
                raise RobotError(f"the value of joint {name!r} is {value!r:.80}, expected numbers") from None
            columns = self.columns[name]
            if len(numbers) != (width := columns.stop - columns.start):
                raise RobotError(f"joint {name!r} has {count(len(numbers), 'value')}, expected {width}")
            q[columns] = numbers
        checked: Array = self.configurations(q)[0][0]
        return checked

    def configurations(self, q: Rows, name: str = "q") -> tuple[Array, bool]:
        """Return configurations as an array of rows, after a check of their shape and of each number.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Radians, and the robot's unit of length.
        name : str
            Name of the argument in error messages.

        Returns
        -------
        rows : (n, dof) float
            The configurations. A single configuration becomes one row.
        stacked : bool
            Whether q was a stack of configurations.

        Raises
        ------
        RobotError
            The shape is wrong, or a number is not finite.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.robot.Robot.example().configurations([0.0, 1.0])
        (array([[0., 1.]]), False)
        """
        if type(q) is np.ndarray and q.dtype is _FLOAT and q.flags.carray and q.shape[-1:] == (self.dof,):
            # The common case, without a conversion. The code below raises the errors for such arrays.
            rows: Any = q if q.ndim == 2 else q.reshape(1, -1) if q.ndim == 1 else None
            if rows is not None and np.isfinite(rows).all():
                return rows, q.ndim == 2
        try:
            raw = np.asarray(q)
        except ValueError:
            raise RobotError(f"{name} is ragged, expected ({self.dof},) or (n, {self.dof})") from None
        if raw.size and raw.dtype.kind not in "fiu":
            kind = f"has dtype {raw.dtype}" if raw.ndim else f"is {kind_of(q)}"
            cure = "."
            if isinstance(q, Mapping):
                cure = ". Convert values by name with robot.configuration(values)."
            elif line := line_of_trajectory(q):
                cure = f". Use trajectory_free with a spline, which this line makes: {line}"
            elif callable(q):
                cure = ". For a spline use trajectory_free, or pass its waypoints spline(times)."
            raise RobotError(f"{name} {kind}, expected ({self.dof},) or (n, {self.dof}) real numbers{cure}")
        if raw.ndim not in (1, 2) or raw.shape[-1] != self.dof:
            widths = ((joint, columns.stop - columns.start) for joint, columns in self.columns.items())
            joints = [joint if width == 1 else f"{joint} ({width} numbers)" for joint, width in widths]
            raise RobotError(
                f"{name} has shape {raw.shape}, expected ({self.dof},) or (n, {self.dof}) for these joints: "
                + (listed(joints) or "none")
            )
        # Writable arrays only, so that kernels are compiled once. A float64 stack in C order is not copied.
        rows = np.require(np.atleast_2d(raw), np.float64, ["C", "W", "A"])
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            at = f"[{row}, {column}]" if raw.ndim == 2 else f"[{column}]"
            joint = self._joint_of(int(column))
            raise RobotError(f"{name}{at} is {rows[row, column]} (joint {joint!r}), expected a finite number")
        return rows, raw.ndim == 2

    @overload
    def within_limits(self, q: Unclear, *, tolerance: float = 0.0) -> Any: ...
    @overload
    def within_limits(self, q: Row, *, tolerance: float = 0.0) -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def within_limits(self, q: Rows, *, tolerance: float = 0.0) -> NDArray[np.bool_]: ...
    def within_limits(self, q: Rows, *, tolerance: float = 0.0) -> Any:
        """Return whether a configuration is within the limits of all joints. `Checker.valid` checks limits too.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        tolerance : float
            Allowed excess of a value over its limit, in radians or the robot's unit of length.

        Returns
        -------
        bool or (n,) bool
            True for configurations within all limits.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them, or the tolerance is not a number.
        """
        if not isinstance(tolerance, Real) or not isfinite(float(tolerance)):
            raise RobotError(f"tolerance is {tolerance!r}, expected a finite number")
        rows, stacked = self.configurations(q)
        inside = ((rows >= self.lower - tolerance) & (rows <= self.upper + tolerance)).all(axis=1)
        return inside if stacked else bool(inside[0])

    def link_poses(self, q: Rows) -> Array:
        """Return the poses of the links in the world.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.

        Returns
        -------
        (links, 4, 4) or (n, links, 4, 4) float
            Poses, world from link, in the order of ``links``.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them.
        """
        rows, stack = self.configurations(q)
        out = np.empty((len(rows), len(self.links), 4, 4))
        many_link_poses(self._chain, rows, np.empty((4, 4)), out)
        return out if stack else out[0]

    def jacobian(self, q: Rows, link: str | int, point: Row = (0.0, 0.0, 0.0), *, angular: bool = False) -> Array:
        """Return the Jacobian of a point that is fixed to a link, in world axes.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Configurations: radians, and the robot's unit of length.
        link : str or int
            Name or number of the link.
        point : (3,) or (n, 3) float
            The point in the frame of the link. The default is the origin of the link.
        angular : bool
            Whether to append three rows with the angular velocity of the link.

        Returns
        -------
        (3 or 6, dof) or (n, 3 or 6, dof) float
            Linear velocity of the point per unit rate of each joint value, in three rows. With ``angular``, three rows
            with the angular velocity of the link follow. If a joint mimics another joint, its motion is added to the
            column of the other joint.

        Raises
        ------
        RobotError
            q is not a configuration or a stack of them, the link does not exist, or the point has a wrong shape or is
            not finite.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.robot.Robot.example().jacobian([0.0, 0.0], "hand", angular=True).tolist()[4:]
        [[0.0, 0.0], [1.0, 1.0]]
        """
        rows, stack = self.configurations(q)
        number = self.link_number(link)
        try:
            offset = np.asarray(point, dtype=np.float64)
        except (TypeError, ValueError):
            raise RobotError(f"point is {kind_of(point)}, expected 3 numbers, or 3 for each configuration") from None
        if offset.shape not in ((3,), (len(rows), 3)) or not np.isfinite(offset).all():
            raise RobotError(f"point is {offset.tolist()!r:.80}, expected (3,) or ({len(rows)}, 3) finite numbers")
        points = np.ascontiguousarray(np.broadcast_to(offset, (len(rows), 3))).copy()
        out = np.empty((len(rows), 6 if angular else 3, self.dof))
        poses = np.empty((len(self.links), 4, 4))
        many_point_jacobians(self._chain, rows, number, points, np.empty((4, 4)), poses, out)
        return out if stack else out[0]


def rigid_bodies(chain: Chain, unwelded: frozenset[int]) -> Ints:
    """Return a number for each link. Links that are joined by fixed joints have the same number.

    A fixed joint does not count if its parent link is in ``unwelded``.
    """
    number = np.arange(len(chain.parent), dtype=np.int64)
    for k, (above, kind) in enumerate(zip(chain.parent, chain.kind, strict=True)):
        if above >= 0 and kind == FIXED and above not in unwelded:
            number[k] = number[above]
    return number


def listed(names: Sequence[str]) -> str:
    """Return a text that lists at most 12 names, and the number of further names."""
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return ", ".join(names[:12]) + more
