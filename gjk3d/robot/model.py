"""The robot: a mechanism with shapes on its links, and its checked pairs of links."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.errors import RobotError, RobotWarning
from gjk3d.frozen import shown
from gjk3d.robot.bodies import Body, Geometry, make_bodies, names_in, one_pose
from gjk3d.robot.derived import Shapes, joined, locked, with_shapes
from gjk3d.robot.files import read_root
from gjk3d.robot.mechanism import Mechanism, listed, rigid_bodies
from gjk3d.robot.srdf import AllowedPairs, State, read_srdf, resolved, srdf_text
from gjk3d.robot.urdf import Description, Link, checked_collision, described, tree_of, write_urdf
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Ints, OnePose, Row
from gjk3d.wording import count, expected_names

if TYPE_CHECKING:
    from gjk3d.robot.spheres import RobotSpheres


class PairedLinks(Mechanism):
    """The shapes and the checked pairs of links of a `gjk3d.robot.Robot`."""

    __slots__ = ("_allowed", "_unwelded", "_welded", "_worlds", "bodies", "geometries")

    _allowed: AllowedPairs
    _unwelded: frozenset[str]  #: links that `adjacent` treats as separate from the links fixed to them
    _welded: Ints  #: (links,), like ``rigid`` except for the links in ``_unwelded``; used by `adjacent`
    _worlds: frozenset[str]  #: links that are never adjacent to another link, such as the world of an MJCF
    bodies: tuple[Body, ...]
    geometries: tuple[Geometry, ...]

    def adjacent(self) -> list[tuple[str, str, str]]:
        """Return the pairs of links that are neighbours in the tree, if links without shapes are not counted.

        Links that are joined by fixed joints form one rigid body. All links of a rigid body are adjacent to each other.
        They are also adjacent to all links of the nearest ancestor body that has shapes, as in MuJoCo's parent filter.

        Returns
        -------
        list of (str, str, str)
            Two names and the reason, "adjacent". The name of the link nearer to the root is first.
        """
        blocks = [np.zeros((2, 0), dtype=np.int64)]
        for links, over in self._neighbours():
            blocks += [links[np.array(np.triu_indices(len(links), 1))]]
            blocks += [np.stack([np.tile(over, len(links)), np.repeat(links, len(over))])]
        pairs = np.concatenate(blocks, axis=1)
        first, second = np.array(self.links, dtype=object)[pairs[:, np.lexsort(pairs)]].tolist()
        return list(zip(first, second, repeat("adjacent")))

    def _neighbours(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield two arrays of link numbers for each rigid body: its own links and the links of an ancestor body.

        The ancestor is the nearest one that has shapes. Only links with shapes are listed.
        """
        welded: dict[int, list[int]] = {}
        for link in sorted({geometry.link for geometry in self.geometries}):
            if self.links[link] not in self._worlds:
                welded.setdefault(int(self._welded[link]), []).append(link)
        for body, links in welded.items():
            above = self._above(body)
            while above >= 0 and above not in welded:
                above = self._above(above)
            yield np.array(links), np.array(welded.get(above, ()), dtype=np.int64)

    def _above(self, body: int) -> int:
        """Return the number of the parent body of a rigid body, or -1 for the root.

        The number of a body is the number of its first link.
        """
        link = int(self._chain.parent[body])
        return link if link < 0 else int(self._welded[link])

    def all_pairs(self) -> Ints:
        """Return the pairs of links with shapes that can move relative to each other, as (n, 2) link numbers."""
        shaped = np.unique(np.array([geometry.link for geometry in self.geometries], dtype=np.int64))
        first, second = np.triu_indices(len(shaped), 1)
        pairs = np.column_stack([shaped[first], shaped[second]])
        movable: Ints = pairs[self.rigid[pairs[:, 0]] != self.rigid[pairs[:, 1]]]
        return movable

    @property
    def pairs(self) -> Ints:
        """Pairs of links that are checked, as (n, 2) link numbers, the lower number first.

        Both links have shapes and can move relative to each other, and the pair is not in ``allowed``.
        """
        return self._pairs_with({})

    def _pairs_with(self, overrides: Mapping[tuple[str, str], bool]) -> Ints:
        """Return the checked pairs of links, (n, 2).

        For the pairs of names in ``overrides``, its values replace ``allowed``. A pair with True is not checked, and a
        pair with False is checked.
        """
        pairs = self.all_pairs()
        checked = self.allowed._codes[pairs[:, 0], pairs[:, 1]] == 0
        for pair, may in overrides.items():
            checked[(pairs == self.allowed._pair(*pair)).all(axis=1)] = not may
        chosen: Ints = pairs[checked]
        return chosen

    @property
    def allowed(self) -> AllowedPairs:
        """Pairs of links that are not checked.

        This attribute can be set to the result of `allow_by_sampling`, or to a list of (a, b) or (a, b, reason) with
        names of links. A `Checker` reads the pairs at the time of each query.
        """
        return self._allowed

    @allowed.setter
    def allowed(self, pairs: AllowedPairs | Iterable[Sequence[str]]) -> None:
        new = pairs if isinstance(pairs, AllowedPairs) else self._pairs_of(pairs)
        if new.links != tuple(self.links):
            raise RobotError(
                "allowed: the pairs belong to a robot with other links, expected pairs of this robot. Pass pairs of "
                "names instead"
            )
        old = getattr(self, "_allowed", None)
        self._allowed = new
        # checkers of this robot use the new pairs from now on
        if old is not None:
            new._taken_by(old._users)
            new._changed()

    def _pairs_of(self, pairs: Iterable[Sequence[str]]) -> AllowedPairs:
        allowed = AllowedPairs(self.links)
        for pair in pairs:
            if isinstance(pair, str) or len(pair) not in (2, 3):
                raise RobotError(f"allowed has {pair!r:.80}, expected two names of links, and optionally a reason")
            allowed.allow(*pair)
        return allowed


def no_shapes(robot: PairedLinks) -> RobotError:
    """Return the error for a robot without shapes, whose every configuration would be free."""
    return RobotError(
        f"robot {robot.name!r} has no collision shapes, so it cannot be checked. Check its visual geometry with "
        'collision="visual" (--collision visual), or add shapes with Robot.with_geometry'
    )


_FLOAT = np.dtype(np.float64)


class Robot(PairedLinks):
    """A robot as a URDF describes it, made by `Robot.load`. `Robot.from_urdf` accepts only URDFs.

    A configuration q is a row of ``dof`` numbers. A revolute or continuous joint has one number, its angle in radians,
    which is not wrapped. A prismatic joint has one number. A planar joint has three: two translations in its plane, and
    the angle about the normal of the plane. A floating joint has six: a translation and a rotation vector. Joints are
    in the order of the file. Fixed joints and joints that mimic others do not have numbers. Limits are stored but not
    enforced.

    Attributes
    ----------
    name : str
        The name in the file.
    source : Path
        The file that was read: a URDF, a xacro or an MJCF.
    links : tuple of str
        Names of the links, parents first. The number of a link is its index in this tuple.
    joints : tuple of Joint or None
        The joint between each link and its parent, in the order of ``links``. None for the root.
    columns : dict
        The slice of q of each joint that has numbers, by the name of the joint.
    dof : int
        The number of values of a configuration.
    lower, upper : (dof,) float
        Limits, infinite for joints without limits.
    bodies : tuple of Body
        Shapes fixed to links: (number of the link, pose in the frame of the link, shape, number of the geometry).
    parts : dict
        The slice of q of each part of a joined robot (`join`), by the name of the part.
    geometries : tuple of Geometry
        The collision geometries of the URDF. Each has its bodies and the hull around them.
    rigid : (links,) int
        Links with the same number are joined by fixed joints only.
    allowed : AllowedPairs
        Pairs of links that are not checked. Checkers read these pairs at the time of each query.
    states : dict
        Named poses of the SRDF. Each pose is a dict of joint values by the name of the joint. See `state`.
    groups : dict
        Groups of the SRDF by name. Each group is a tuple with the names of its joints that have numbers in q, in the
        order of q. Chains, links and subgroups are resolved as in MoveIt.

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

    __slots__ = ("_srdf_elements", "groups", "parts", "source", "states")

    _srdf_elements: tuple[str, ...]
    groups: dict[str, tuple[str, ...]]
    parts: dict[str, slice]
    source: Path
    states: dict[str, State]

    @classmethod
    def from_urdf(
        cls,
        path: str | os.PathLike[str],
        srdf: str | os.PathLike[str] | None = None,
        *,
        package_dirs: Sequence[str | os.PathLike[str]] = (),
        geometry: str = "bodies",
        collision: str = "collision",
    ) -> Robot:
        """Read a robot from a URDF.

        Parameters
        ----------
        path : path or str
            The file, or the text of a URDF, which begins with ``<``.
        srdf : path, optional
            A file with allowed pairs of links, named poses, and groups of joints. Without an SRDF, the `adjacent` pairs
            are allowed, and `allow_by_sampling` finds further pairs.
        package_dirs : sequence of paths
            Folders of packages, or folders that contain packages, for meshes named ``package://``. The folders above
            the URDF and the package folders of ROS are searched too.
        geometry : str
            The representation of meshes. ``"bodies"``: one convex hull for each connected part of the mesh. ``"hull"``:
            one hull for the whole mesh. ``"parts"``: coacd divides each connected part into convex pieces, which may
            take minutes. The pieces may be smaller than the mesh by the ``error`` of the geometry. ``"mesh"``: the
            triangles. Boxes, cylinders, spheres and the capsules of the ``<capsule>`` extension (length between the
            centres of the caps) stay exact.
        collision : str
            ``"collision"``: links are checked with their collision geometry, and a `RobotWarning` names the links that
            have only a visual geometry. ``"visual"``: these links are checked with their visual geometry.

        Raises
        ------
        FileError
            The URDF or one of its meshes is missing. The message lists the searched paths.
        ParseError
            The file is not a URDF, or its joints do not form a tree.
        ShapeError
            ``geometry`` or ``collision`` is not one of the values above.

        Warns
        -----
        RobotWarning
            Links have a visual but no collision geometry, elements of the SRDF are not used, such as end effectors and
            virtual joints, or groups of the SRDF name joints or links that the robot does not have.

        Examples
        --------
        >>> import gjk3d as gk
        >>> arm = gk.robot.Robot.from_urdf("arm.urdf", srdf="arm.srdf", geometry="hull")  # doctest: +SKIP
        """
        description = described(*read_root(path), collision)
        _warn(description)
        return cls._from_description(description, srdf, package_dirs, geometry)

    @classmethod
    def load(
        cls,
        source: str | os.PathLike[str],
        srdf: str | os.PathLike[str] | None = None,
        *,
        package_dirs: Sequence[str | os.PathLike[str]] = (),
        geometry: str = "bodies",
        collision: str = "collision",
        arguments: Mapping[str, str] | None = None,
    ) -> Robot:
        """Read a robot from a URDF, xacro or MJCF, given as a file or as text.

        See also `from_urdf`. A xacro is expanded by the Python package xacro (``gjk3d[robot]``). A xacro is a program
        that can run for any time, so load only files that you trust. An MJCF is read by MuJoCo (``gjk3d[mjcf]``).
        Bodies of the MJCF become links, and its keyframes become named poses. Allowed pairs are the pairs that the file
        excludes, pairs with incompatible masks, and `adjacent` pairs. The world and bodies welded to the world are not
        adjacent to any body, as in MuJoCo. If the masks of any two geoms of two bodies are compatible, all geoms of the
        two bodies are checked, which is more than MuJoCo does. Geoms without contacts count as visuals. A free joint
        has a translation and a rotation vector relative to the pose of the body in the file. Planes, height fields, and
        equalities other than one joint following another are not supported. A `RobotWarning` names them.

        Parameters
        ----------
        source : path or str
            The file, or its text, which begins with ``<``.
        srdf, package_dirs, geometry, collision
            As in `from_urdf`. An SRDF replaces the allowed pairs and poses of an MJCF.
        arguments : mapping of str, optional
            Arguments of a xacro by name. Unknown arguments are refused.

        Returns
        -------
        Robot

        Raises
        ------
        FileError, ParseError, ShapeError
            As in `from_urdf`, or the package xacro is not installed, or xacro or MuJoCo refuses the file, or the file
            has a ball joint.
        ImportError
            MuJoCo is not installed.

        Warns
        -----
        RobotWarning
            As in `from_urdf`, or an element of the MJCF is not supported.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.robot.Robot.load('''<robot name="r"><link name="a"><collision><geometry><sphere radius="1"/>
        ... </geometry></collision></link></robot>''')
        <Robot 'r': 1 link, 0 dof, 1 body>
        """
        file, root = read_root(source, ("robot", "mujoco"), arguments)
        if root.tag == "mujoco":
            from gjk3d.robot.mjcf import read_mjcf  # loaded only for MJCF

            description = read_mjcf(file, root, checked_collision(collision))
        else:
            description = described(file, root, collision)
        _warn(description)
        return cls._from_description(description, srdf, package_dirs, geometry)

    @classmethod
    def _from_description(
        cls,
        description: Description,
        srdf: str | os.PathLike[str] | None,
        package_dirs: Sequence[str | os.PathLike[str]],
        geometry: str,
    ) -> Robot:
        links = tree_of(description).links
        shapes = make_bodies(description, links, package_dirs, geometry)
        self = cls._built(description, *shapes, worlds=description.worlds)
        if srdf is None:
            allowed = AllowedPairs(self.links, description.allowed)
            for links_of, over in self._neighbours():
                allowed._allow_all(links_of, np.concatenate([links_of, over]), "adjacent")
            self.allowed = allowed
            self.states = dict(description.states)
        else:
            read = read_srdf(srdf, self.links)
            self.allowed, self.states, self._srdf_elements = read.allowed, read.states, read.elements
            self.groups, unknown = resolved(read.groups, self)
            if unknown:
                words = f"{srdf}: the robot does not have these members of groups, which are ignored: {listed(unknown)}"
                warnings.warn(words, RobotWarning, stacklevel=3)
            if read.unused:
                warnings.warn(read.unused, RobotWarning, stacklevel=3)
        return self

    @classmethod
    def _built(
        cls, description: Description, bodies: tuple[Body, ...], geometries: tuple[Geometry, ...], *,
        unwelded: frozenset[str] = frozenset(), worlds: frozenset[str] = frozenset(),
    ) -> Robot:  # fmt: skip
        """Return a robot without allowed pairs and named poses. Raise `ParseError` if the joints do not form a tree.

        ``unwelded`` contains links that `adjacent` treats as separate from the links fixed to them. ``worlds`` contains
        links that are never adjacent to another link.
        """
        self = cls()
        self._put_together(description)
        self.source, self.parts, self.groups, self._srdf_elements = description.file, {}, {}, ()
        self.bodies, self.geometries = bodies, geometries
        self._unwelded, self._worlds = unwelded, worlds
        self._welded = rigid_bodies(self._chain, frozenset(map(self.links.index, unwelded)))
        return self

    @classmethod
    def join(
        cls, parts: Mapping[str, Robot], *, on: Mapping[str, str] | None = None,
        joints: Mapping[str, str] | None = None,
    ) -> Robot:  # fmt: skip
        """Return a robot made of several robots, which are checked against each other, moved and planned together.

        The names of links, joints, groups and poses are prefixed by the name of their part, as in "left/hand". A
        configuration consists of the configurations of the parts in their order. The attribute ``parts`` of the result
        contains the columns of each part. By default each part is attached to a link "world" at its `base`.

        Parameters
        ----------
        parts : mapping of str to Robot
            Robots by names of your choice. A robot may occur several times. `at` sets the pose of a robot, and `held`
            locks joints.
        on : mapping of str to str, optional
            Names of links, such as "cart/deck", by the name of a part. The part is attached to this link instead of the
            world, and the pose of its base is relative to the link.
        joints : mapping of str to str, optional
            Types of joints by the name of a part, for the joint between the part and the link that carries it. "fixed"
            is the default. "planar" has the numbers x, y and an angle about z, like a mobile base on a floor.
            "floating" has a translation and a rotation vector. The joint has the name of the part.

        Returns
        -------
        Robot
            The joined robot. Its allowed pairs are the allowed pairs of the parts, and adjacent pairs of links that
            belong to different parts.

        Raises
        ------
        RobotError
            A name is not valid for a part, a part is not a robot, ``on`` names an unknown part or link, or ``joints``
            has an unknown part or type.

        Notes
        -----
        Pairs that never move relative to each other are not checked, such as two fixed bases or held robots.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> arm, moved = gk.robot.Robot.example(), np.diag([-1.0, -1.0, 1.0, 1.0])
        >>> moved[0, 3] = 2.8
        >>> both = gk.robot.Robot.join({"left": arm, "right": arm.at(moved)})
        >>> both.joint_names, both.parts["right"]
        (('left/shoulder', 'left/elbow', 'right/shoulder', 'right/elbow'), slice(2, 4, None))
        >>> gk.robot.Checker(both).hit([0.0, 0.0, 0.0, 0.0])
        ('left/hand', 'right/hand')
        >>> cart = gk.robot.Robot.join({"cart": arm}, joints={"cart": "planar"})
        >>> cart.link_poses(cart.configuration({"cart": (3.0, 0.0, np.pi / 2)}))[-1][:3, 3].round(6).tolist()
        [3.0, 1.0, 0.0]
        """
        merged = joined(parts, on or {}, joints or {})
        self = cls._built(
            merged.description, merged.bodies, merged.geometries, unwelded=merged.unwelded, worlds=merged.worlds
        )
        self.parts, self.states = merged.columns, dict(merged.description.states)
        self.groups = {
            f"{part}/{name}": tuple(f"{part}/{joint}" for joint in joints)
            for part, robot in parts.items()
            for name, joints in robot.groups.items()
        }
        across = [pair for pair in self.adjacent() if pair[0].split("/")[0] != pair[1].split("/")[0]]
        evidence = "; ".join(
            f"{part}: {robot.allowed.evidence}" for part, robot in parts.items() if robot.allowed.evidence
        )
        self.allowed = AllowedPairs(self.links, (*merged.description.allowed, *across), evidence=evidence)
        self.allowed.proven = [
            (f"{part}/{a}", f"{part}/{b}") for part, robot in parts.items() for a, b in robot.allowed.proven
        ]
        return self

    @classmethod
    def example(cls) -> Robot:
        """Return a small robot for examples: an arm that moves two links in the xy-plane.

        The links are "post", "beam" (1 m long) and "hand" (0.5 m long). The joints are "shoulder" and "elbow". At
        [0, 0] the arm points along x.

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

    def _copied(self) -> Robot:
        copy = type(self)()
        for name in (*Mechanism.__slots__, *PairedLinks.__slots__, *self.__slots__):
            setattr(copy, name, getattr(self, name))
        copy.allowed = self.allowed.copy()
        return copy

    def at(self, pose: OnePose) -> Robot:
        """Return the robot at another pose of its base.

        Parameters
        ----------
        pose : (4, 4) float, RigidTransform or None
            Pose of the first link, world from link. None is the identity, as in the file.

        Returns
        -------
        Robot
            A robot that shares everything except the pose and the allowed pairs with this robot.

        Raises
        ------
        RobotError
            The pose is a stack of poses.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> table = np.eye(4); table[2, 3] = 0.8
        >>> robot = gk.robot.Robot.example().at(table)
        >>> robot.link_poses([0.0, 0.0])[-1][:3, 3].tolist(), robot.base[2, 3].item()
        ([1.0, 0.0, 0.8], 0.8)
        """
        copy = self._copied()
        origin = self._chain.origin.copy()
        origin[0] = one_pose(pose, "pose of a robot")
        copy._chain = self._chain._replace(origin=origin)
        return copy

    def held(self, q: Row, joints: Iterable[str] | None = None) -> Robot:
        """Return the robot with locked joints. The numbers of these joints are removed from q.

        Such a robot can be an obstacle for another robot (`join`), or leave fewer joints to a planner. Its links are
        still checked against all bodies that move relative to them.

        Parameters
        ----------
        q : (dof,) float
            A configuration with the values of the locked joints: radians, and the robot's unit of length.
        joints : iterable of str, optional
            Names of the joints to lock. The default is all joints. Joints that mimic a locked joint are locked too.

        Returns
        -------
        Robot

        Raises
        ------
        RobotError
            q is not a configuration, or a joint does not exist.

        Examples
        --------
        >>> import gjk3d as gk
        >>> one = gk.robot.Robot.example().held([0.5, 1.0], ["shoulder"])
        >>> one.joint_names, one.dof
        (('elbow',), 1)
        """
        names = tuple(self.columns) if joints is None else names_in(joints, "held: joints")
        for name in names:
            if name not in self.columns:
                known = expected_names(name, self.columns)
                raise RobotError(f"held: robot {self.name!r} has no joint {name!r} with numbers in q, {known}")
        rows, stacked = self.configurations(q)
        if stacked:
            raise RobotError("q is a stack, expected one configuration. Pass one row, for example q[0]")
        links = tuple(Link(name, ()) for name in self.links)
        description = Description(self.source, self.name, links, tuple(locked(self, rows[0], names)))
        copy = self._built(description, self.bodies, self.geometries, unwelded=self._unwelded, worlds=self._worlds)
        copy._chain.origin[0] = self._chain.origin[0]
        copy.allowed, copy.states, copy._srdf_elements = self.allowed.copy(), self.states, self._srdf_elements
        copy.groups = {
            name: tuple(joint for joint in joints if joint in copy.columns) for name, joints in self.groups.items()
        }
        return copy

    def with_geometry(self, link: str | int, shapes: Shapes, *, geometry: str = "bodies") -> Robot:
        """Return the robot with other shapes on a link, such as another tool, without loading files again.

        For objects that are grasped and released use `Checker.attach` instead. For a tool with joints see `join`.

        Parameters
        ----------
        link : str or int
            Name or number of the link.
        shapes : Shape, Mesh, (shape, (4, 4) pose), list of these, or None
            New shapes in the frame of the link, which replace all shapes of the link. Bounded convex shapes and meshes
            are supported. A mesh with a unit is scaled to metres.
        geometry : str
            The representation of meshes, as in `load`.

        Returns
        -------
        Robot
            A robot that shares the other links with this robot. `Checker.with_robot` makes a checker for it with the
            same surroundings.

        Raises
        ------
        RobotError
            The link does not exist, a shape is not supported, or ``geometry`` is unknown.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> tip = np.eye(4); tip[0, 3] = 0.5
        >>> robot = gk.robot.Robot.example().with_geometry("hand", [(gk.Sphere(0.2), tip)])
        >>> robot.bodies[-1].shape, gk.robot.Checker(robot).clearance([0.0, 2.5]).pair
        (Sphere(radius=0.2), ('post', 'hand'))
        """
        copy = self._copied()
        copy.bodies, copy.geometries = with_shapes(self, self.link_number(link), shapes, geometry)
        return copy

    def state(self, name: str, start: Row | None = None) -> Array:
        """Return a named pose of the SRDF as a configuration.

        Values of joints without numbers in q are ignored: fixed joints, virtual joints, and joints that mimic others.

        Parameters
        ----------
        name : str
            One of ``states``.
        start : (dof,) float, optional
            A configuration with the values of the joints that the pose does not name. The default is 0 for each joint.

        Returns
        -------
        (dof,) float

        Raises
        ------
        RobotError
            The pose does not exist, or ``start`` is not a configuration.

        Examples
        --------
        >>> arm.state("home")  # doctest: +SKIP
        array([ 0. , -1.2, 1.9, 0. , 0.7, 0. ])
        """
        if not isinstance(name, str) or name not in self.states:
            raise RobotError(
                f"robot {self.name!r} has no pose {name!r}, {expected_names(name, self.states)}"
                + ("" if self.states else " Load the robot with srdf=, the path of an SRDF with poses.")
            )
        return self.configuration({k: v for k, v in self.states[name].items() if k in self.columns}, start)

    def to_srdf(self, path: str | os.PathLike[str]) -> None:
        """Write the allowed pairs as an SRDF, with the groups, poses and other elements of the SRDF that was read.

        Parameters
        ----------
        path : path
            The file. An existing file is replaced.

        Examples
        --------
        >>> arm.to_srdf("arm.srdf")  # doctest: +SKIP
        """
        Path(path).write_text(srdf_text(self.name, self.allowed, self._srdf_elements), encoding="utf-8")

    def to_urdf(self, path: str | os.PathLike[str]) -> None:
        """Write the robot as a URDF with its checked shapes. Each hull or mesh becomes an OBJ next to the URDF.

        Joints, limits and mimics are written as they were read. Inertias, visuals, efforts and velocities are not read,
        so they are left out or written as 0. A capsule becomes a cylinder and two spheres, whose union is the capsule.
        A URDF cannot contain an ellipsoid. An ellipsoid becomes a hull around it that is up to 4 % larger.

        Parameters
        ----------
        path : path
            The file. An existing file is replaced. Files in the folder of meshes, such as ``arm_meshes`` next to
            ``arm.urdf``, are replaced too.

        Examples
        --------
        >>> import gjk3d as gk, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.urdf"
        >>> gk.robot.Robot.example().to_urdf(path)
        >>> gk.robot.Robot.load(path)
        <Robot 'example': 3 links, 2 dof, 3 bodies>
        """
        placed: dict[str, list[tuple[Shape | Mesh, Array]]] = {name: [] for name in self.links}
        for body in self.bodies:
            placed[self.links[body.link]].append((body.shape, body.pose))
        write_urdf(Path(path), self.name, placed, self._in_file_order(), self.base)

    def spheres(self, excess: float, *, progress: Callable[[float], object] | None = None) -> RobotSpheres:
        """Return spheres that cover each link, for planners that accept only spheres, such as cuRobo and VAMP.

        Each point of the shapes of a link is in a sphere of the link. No sphere reaches farther outside the shapes than
        the ``excess`` of the result. Both properties are proven, so the robot is free if the spheres are free.

        Parameters
        ----------
        excess : float
            Greatest distance of a point in a sphere from the shapes, in the robot's unit. When a small excess is
            halved, four to ten times as many spheres are needed.
        progress : callable, optional
            Called after each link with the completed share, from 0 to 1.

        Returns
        -------
        RobotSpheres
            The spheres of each link. Its methods ``to_curobo`` and ``to_urdf`` write files.

        Raises
        ------
        RobotError
            ``excess`` is not a length above 0, or is too small for the size of a link.

        Examples
        --------
        >>> import gjk3d as gk
        >>> spheres = gk.robot.Robot.example().spheres(0.05)
        >>> spheres.excess <= 0.05, len(spheres.links["beam"].radii) < 40
        (True, True)
        """
        from gjk3d.robot.spheres import cover

        return cover(self, excess, progress)

    def __getattr__(self, name: str) -> Any:
        if name == "chain":
            words = "Robot.chain is deprecated since 0.2.0, because it is internal"
            warnings.warn(words, DeprecationWarning, stacklevel=2)
            return self._chain
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    _repr_mimebundle_ = shown

    def __repr__(self) -> str:
        links, bodies = count(len(self.links), "link"), len(self.bodies)
        return f"<Robot {self.name!r}: {links}, {self.dof} dof, {bodies} {'body' if bodies == 1 else 'bodies'}>"


def _warn(description: Description) -> None:
    """Warn about unsupported parts of a file, and about links with visuals but no collision geometry."""
    for words in description.left_out:
        warnings.warn(words, RobotWarning, stacklevel=3)
    if drawn := [link.name for link in description.links if link.only_drawn]:
        warnings.warn(
            f"{description.file}: {count(len(drawn), 'link')} without collision geometry, not checked: "
            f'{listed(drawn)}. Set collision="visual" (--collision visual) to check the visual geometry',
            RobotWarning,
            stacklevel=3,
        )
