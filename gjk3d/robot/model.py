"""A robot: links, joints and the shapes on them, and where they are at a configuration."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from numbers import Real
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import RobotError
from gjk3d.robot.allowed import AllowedPairs, State, read_srdf, srdf_text, write_srdf
from gjk3d.robot.bodies import Body, Geometry, make_bodies
from gjk3d.robot.kinematics import FIXED, Chain, many_link_poses, many_point_jacobians
from gjk3d.robot.urdf import Joint, read_urdf, tree_of
from gjk3d.typing import Array, Ints, Number, Row, Rows, Unclear

_FLOAT = np.dtype(np.float64)


class Robot:
    """A robot as a URDF describes it, made by `Robot.from_urdf`.

    A configuration is a row of ``dof`` numbers: one for a revolute, continuous (radians, not wrapped) or prismatic
    joint; three for a planar one, two along the plane and the turn about its normal; six for a floating one,
    translation and rotation vector. Joints stand in the order of the file; fixed joints and those that mimic others
    have no numbers. Limits are there to be read and are not enforced.

    Attributes
    ----------
    name : str
    source : Path
        The URDF.
    links : tuple of str
        Names of the links, parents first; everywhere else a link is its number in this tuple or its name.
    joints : tuple of Joint or None
        The joint above each link.
    columns : dict
        Name of each joint that has numbers: the slice of q that is its own.
    dof : int
        How many numbers a configuration has.
    lower, upper : (dof,) float
        Limits; infinite where there are none.
    bodies : tuple of Body
        Shapes fixed to links: (link, pose in the link, shape, number of the geometry).
    geometries : tuple of Geometry
        Which bodies make one collision geometry of the URDF, and the hull round them.
    rigid : (links,) int
        Links of the same number are joined by fixed joints alone.
    allowed : AllowedPairs
        Pairs of links that are left unchecked; edit it before a checker is made.
    states : dict
        Reference poses of the SRDF: name of the pose: name of the joint: its numbers; see `state`.

    Examples
    --------
    >>> import gjk3d as gk
    >>> robot = gk.robot.Robot.example()  # or Robot.from_urdf("arm.urdf", srdf="arm.srdf")
    >>> robot.links, robot.joint_names, robot.dof
    (('post', 'beam', 'hand'), ('shoulder', 'elbow'), 2)
    >>> q = robot.configuration({"elbow": 1.5})
    >>> q.tolist(), robot.within_limits(q)
    ([0.0, 1.5], True)
    >>> robot.link_poses(q)[robot.link_number("hand")][:3, 3].tolist()
    [1.0, 0.0, 0.0]
    >>> robot.jacobian([0.0, 0.0], "hand", (0.5, 0.0, 0.0)).tolist()
    [[0.0, 0.0], [1.5, 0.5], [0.0, 0.0]]
    >>> robot.adjacent(), robot.all_pairs().tolist(), robot.pairs.tolist()
    ([('post', 'beam', 'adjacent'), ('beam', 'hand', 'adjacent')], [[0, 1], [0, 2], [1, 2]], [[0, 2]])
    >>> robot.allowed.allow("post", "hand")
    >>> len(robot.pairs)
    0
    """

    __slots__ = (
        "_allowed", "_chain", "_others", "bodies", "columns", "dof", "geometries", "joints", "links", "lower", "name",
        "rigid", "source", "states", "upper",
    )  # fmt: skip

    _allowed: AllowedPairs
    _chain: Chain
    _others: tuple[str, ...]
    bodies: tuple[Body, ...]
    columns: dict[str, slice]
    dof: int
    geometries: tuple[Geometry, ...]
    joints: tuple[Joint | None, ...]
    links: tuple[str, ...]
    lower: Array
    name: str
    rigid: Ints
    source: Path
    states: dict[str, State]
    upper: Array

    @classmethod
    def from_urdf(
        cls,
        path: str | os.PathLike[str],
        srdf: str | os.PathLike[str] | None = None,
        *,
        package_dirs: Sequence[str | os.PathLike[str]] = (),
        geometry: str = "bodies",
    ) -> Robot:
        """Read a robot from a URDF.

        Parameters
        ----------
        path : path
            The file.
        srdf : path, optional
            Which pairs of links are left unchecked, and named poses. Without one, links are left unchecked that are
            joined by a joint, or by joints through links that have no shapes; `allow_by_sampling` finds more.
        package_dirs : sequence of paths
            Folders of packages, or that hold packages, for meshes named ``package://``; the folders above the URDF
            and those of ROS are searched too.
        geometry : str
            What a mesh becomes: ``"bodies"``, one convex hull for each connected body of it; ``"hull"``, one for all;
            ``"parts"``, each body cut into convex parts by coacd, which may take minutes, and lies near the mesh, not
            round it: each geometry has its ``error``; ``"mesh"``, its triangles. Boxes, cylinders, spheres and the
            capsules of the ``<capsule>`` extension (length between the centres of the caps) stay exact.

        Raises
        ------
        FileError
            The URDF is not there, or a mesh of it; the message says where it was looked for.
        ParseError
            The file is no URDF, or its joints make no tree.
        ShapeError
            ``geometry`` is none of those.

        Examples
        --------
        >>> import gjk3d as gk
        >>> arm = gk.robot.Robot.from_urdf("arm.urdf", srdf="arm.srdf", geometry="hull")  # doctest: +SKIP
        """
        self = cls()
        description = read_urdf(path)
        made = tree_of(description)
        self.name, self.source = description.name, description.file
        self.links, self.joints, self.columns, self._chain = made.links, made.above, made.columns, made.chain
        self.dof = sum(each.stop - each.start for each in made.columns.values())
        self.lower, self.upper = np.full(self.dof, -inf), np.full(self.dof, inf)
        for joint in description.joints:
            if joint.name in made.columns:
                self.lower[made.columns[joint.name]] = joint.lower
                self.upper[made.columns[joint.name]] = joint.upper
        self.lower.setflags(write=False)
        self.upper.setflags(write=False)
        self.bodies, self.geometries = make_bodies(description, self.links, package_dirs, geometry)
        self.rigid = _rigid(self._chain)
        if srdf is None:
            self.allowed, self.states, self._others = AllowedPairs(self.links, self.adjacent()), {}, ()
        else:
            read = read_srdf(srdf, self.links)
            self.allowed, self.states, self._others = read.allowed, read.states, read.others
        return self

    @classmethod
    def example(cls) -> Robot:
        """Return a small robot to try things with: an arm of two links that turns in the plane.

        Its links are "post", "beam" (1 m) and "hand" (0.5 m), its joints "shoulder" and "elbow"; at 0 it goes along x.

        Returns
        -------
        Robot

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.robot.Robot.example()
        <Robot 'example': 3 links, 2 dof, 3 bodies>
        """
        return cls.from_urdf(Path(__file__).with_name("example.urdf"))

    def adjacent(self) -> list[tuple[str, str, str]]:
        """Return each link that has shapes with the next one that has some on its way to the root.

        Returns
        -------
        list of (str, str, str)
            Both names, the one nearer to the root first, and the reason, "adjacent".
        """
        shaped = {each.link for each in self.geometries}
        found = []
        for link in sorted(shaped):
            other = int(self._chain.parent[link])
            while other >= 0 and other not in shaped:
                other = int(self._chain.parent[other])
            if other >= 0:
                found.append((self.links[other], self.links[link], "adjacent"))
        return found

    def all_pairs(self) -> Ints:
        """Return the pairs of links that have shapes and are not joined by fixed joints alone, (n, 2)."""
        shaped = sorted({each.link for each in self.geometries})
        rigid = self.rigid
        found = [(a, b) for k, a in enumerate(shaped) for b in shaped[k + 1 :] if rigid[a] != rigid[b]]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    @property
    def pairs(self) -> Ints:
        """Pairs of links that are checked, (n, 2), the lower number first.

        Both have shapes, they are not allowed to touch, and not joined by fixed joints alone: such links never move
        against each other.
        """
        links, allowed = self.links, self.allowed
        found = [pair for pair in self.all_pairs().tolist() if (links[pair[0]], links[pair[1]]) not in allowed]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    @property
    def allowed(self) -> AllowedPairs:
        """Pairs of links that are left unchecked.

        Set it to what `allow_by_sampling` returns, or to pairs of names, each with a reason or without: (a, b, reason)
        or (a, b). A `Checker` takes the pairs as they are when it is made.
        """
        return self._allowed

    @allowed.setter
    def allowed(self, pairs: AllowedPairs | Iterable[Sequence[str]]) -> None:
        if isinstance(pairs, AllowedPairs):
            if tuple(pairs.links) != tuple(self.links):
                raise RobotError("allowed: these pairs are of a robot with other links")
            self._allowed = pairs
            return
        found = AllowedPairs(self.links)
        for pair in pairs:
            if isinstance(pair, str) or len(pair) not in (2, 3):
                raise RobotError(f"allowed has {pair!r:.80}, expected two names of links, and a reason or none")
            found.allow(*pair)
        self._allowed = found

    def state(self, name: str, start: Row | None = None) -> Array:
        """Return a named pose of the SRDF as a configuration.

        What it says of joints that have no numbers here, fixed ones, ones that mimic, the world's virtual one, is left
        out.

        Parameters
        ----------
        name : str
            One of ``states``.
        start : (dof,) float, optional
            Of the joints that it does not name; 0 by default.

        Returns
        -------
        (dof,) float

        Raises
        ------
        RobotError
            There is no such pose, or ``start`` is no configuration.

        Examples
        --------
        >>> arm.state("home")  # doctest: +SKIP
        array([ 0. , -1.2, 1.9, 0. , 0.7, 0. ])
        """
        if name not in self.states:
            raise RobotError(
                f"robot {self.name!r} has no pose {name!r}; "
                + (f"it has {_listed(tuple(self.states))}" if self.states else "poses are read from an SRDF, srdf=...")
            )
        return self.configuration({k: v for k, v in self.states[name].items() if k in self.columns}, start)

    def to_srdf(self, path: str | os.PathLike[str]) -> None:
        """Write the allowed pairs as an SRDF, with the groups, poses and all else of the SRDF that was read.

        Parameters
        ----------
        path : path
            The file; one that is there is replaced.

        Examples
        --------
        >>> arm.to_srdf("arm.srdf")  # doctest: +SKIP
        """
        write_srdf(path, srdf_text(self.name, self.allowed, self._others))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that have numbers in q, in their order."""
        return tuple(self.columns)

    def link_number(self, link: str | int) -> int:
        """Return the number of a link.

        Parameters
        ----------
        link : str or int
            Its name, or its number, which is checked.

        Returns
        -------
        int

        Raises
        ------
        RobotError
            There is no such link.
        """
        if isinstance(link, str):
            if link not in self.links:
                raise RobotError(f"robot {self.name!r} has no link {link!r}; it has {_listed(self.links)}")
            return self.links.index(link)
        number = int(link)
        if not 0 <= number < len(self.links):
            raise RobotError(f"robot {self.name!r} has no link {number}, expected 0 to {len(self.links) - 1}")
        return number

    def configuration(self, values: Mapping[str, Number | Row], start: Row | None = None) -> Array:
        """Return a configuration by the names of joints.

        Parameters
        ----------
        values : mapping of float, (3,) float or (6,) float
            By the name of a joint, its numbers; radians, and the robot's unit of length.
        start : (dof,) float, optional
            Of the joints that are not named; 0 by default.

        Returns
        -------
        (dof,) float

        Raises
        ------
        RobotError
            There is no such joint, or it has more numbers or fewer.
        """
        q = np.zeros(self.dof) if start is None else self.configurations(start)[0][0].copy()
        for name, value in values.items():
            if name not in self.columns:
                raise RobotError(f"robot {self.name!r} has no joint {name!r} of its own; it has "
                                 + _listed(self.joint_names))  # fmt: skip
            numbers = np.asarray(value, dtype=np.float64).ravel()
            own = self.columns[name]
            if len(numbers) != own.stop - own.start:
                raise RobotError(f"joint {name!r} has {own.stop - own.start} numbers, {len(numbers)} given")
            q[own] = numbers
        checked: Array = self.configurations(q)[0][0]
        return checked

    def configurations(self, q: Rows, name: str = "q") -> tuple[Array, bool]:
        """Check configurations.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
            Radians, and the robot's unit of length.
        name : str
            What errors call it.

        Returns
        -------
        rows : (n, dof) float
            Those numbers, of one configuration too.
        stacked : bool
            Whether they were a stack.

        Raises
        ------
        RobotError
            The shape is another, or a number is not finite.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.robot.Robot.example().configurations([0.0, 1.0])
        (array([[0., 1.]]), False)
        """
        if type(q) is np.ndarray and q.dtype is _FLOAT and q.flags.carray and q.shape[-1:] == (self.dof,):
            # nothing to convert; what else is wrong is found out below
            rows: Any = q if q.ndim == 2 else q.reshape(1, -1) if q.ndim == 1 else None
            if rows is not None and np.isfinite(rows).all():
                return rows, q.ndim == 2
        try:
            raw = np.asarray(q)
        except ValueError:
            raise RobotError(f"{name} is ragged, expected ({self.dof},) or (n, {self.dof})") from None
        if raw.size and raw.dtype.kind not in "fiu":
            raise RobotError(f"{name} has dtype {raw.dtype}, expected real numbers")
        if raw.ndim not in (1, 2) or raw.shape[-1] != self.dof:
            raise RobotError(
                f"{name} has shape {raw.shape}, expected ({self.dof},) or (n, {self.dof}): "
                + (_listed(self.joint_names) or "no joints")
            )
        # one mutability for the kernels; a stack of floats in C order is taken as it is
        rows = np.require(np.atleast_2d(raw), np.float64, ["C", "W"])
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            at = f"[{row}, {column}]" if raw.ndim == 2 else f"[{column}]"
            joint = next(each for each, own in self.columns.items() if own.start <= column < own.stop)
            raise RobotError(f"{name}{at} is {rows[row, column]} (joint {joint!r}), expected a finite number")
        return rows, raw.ndim == 2

    @overload
    def within_limits(self, q: Unclear, *, tolerance: float = 0.0) -> Any: ...
    @overload
    def within_limits(self, q: Row, *, tolerance: float = 0.0) -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def within_limits(self, q: Rows, *, tolerance: float = 0.0) -> NDArray[np.bool_]: ...
    def within_limits(self, q: Rows, *, tolerance: float = 0.0) -> Any:
        """Tell whether a configuration keeps the limits of all joints; nothing else here asks for that.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
        tolerance : float
            How far beyond a limit still counts as on it, in radians or the robot's unit.

        Returns
        -------
        bool or (n,) bool

        Raises
        ------
        RobotError
            q is no configuration, or n of them; or the tolerance is no number.
        """
        if not isinstance(tolerance, Real) or not isfinite(float(tolerance)):
            raise RobotError(f"tolerance is {tolerance!r}, expected a finite number")
        rows, stacked = self.configurations(q)
        inside = ((rows >= self.lower - tolerance) & (rows <= self.upper + tolerance)).all(axis=1)
        return inside if stacked else bool(inside[0])

    def link_poses(self, q: Rows) -> Array:
        """Return where the links are in the world.

        Parameters
        ----------
        q : (dof,) or (n, dof) float

        Returns
        -------
        (links, 4, 4) or (n, links, 4, 4) float
            In the order of ``links``.

        Raises
        ------
        RobotError
            q is no configuration, or n of them.
        """
        rows, stack = self.configurations(q)
        out = np.empty((len(rows), len(self.links), 4, 4))
        many_link_poses(*self._chain, rows, np.empty((4, 4)), out)
        return out if stack else out[0]

    def jacobian(self, q: Rows, link: str | int, point: Row = (0.0, 0.0, 0.0)) -> Array:
        """Return how a point that is fixed to a link moves, in world axes, with each number of q.

        Parameters
        ----------
        q : (dof,) or (n, dof) float
        link : str or int
        point : (3,) or (n, 3) float
            In the frame of the link; its origin where none is given.

        Returns
        -------
        (3, dof) or (n, 3, dof) float
            Of linear velocity; joints that mimic count for the one they follow.

        Raises
        ------
        RobotError
            q is no configuration, or n of them; there is no such link; the point is none.
        """
        rows, stack = self.configurations(q)
        number = self.link_number(link)
        try:
            given = np.asarray(point, dtype=np.float64)
        except (TypeError, ValueError):
            raise RobotError("point: expected 3 numbers, or 3 for each configuration") from None
        if given.shape not in ((3,), (len(rows), 3)) or not np.isfinite(given).all():
            raise RobotError(f"point is {given.tolist()!r:.80}, expected (3,) or ({len(rows)}, 3) finite numbers")
        points = np.ascontiguousarray(np.broadcast_to(given, (len(rows), 3))).copy()
        out = np.empty((len(rows), 3, self.dof))
        poses = np.empty((len(self.links), 4, 4))
        many_point_jacobians(*self._chain, rows, number, points, np.empty((4, 4)), poses, out)
        return out if stack else out[0]

    def __getattr__(self, name: str) -> Any:
        if name == "chain":
            warnings.warn("Robot.chain is internal: it will go", DeprecationWarning, stacklevel=2)
            return self._chain
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {len(self.links)} links, {self.dof} dof, {len(self.bodies)} bodies>"


def _rigid(chain: Chain) -> Ints:
    """Return a number for each link, the same for links that are joined by fixed joints alone."""
    number = np.arange(len(chain.parent), dtype=np.int64)
    for k, (above, kind) in enumerate(zip(chain.parent, chain.kind, strict=True)):
        if above >= 0 and kind == FIXED:
            number[k] = number[above]
    return number


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return ", ".join(names[:12]) + more
