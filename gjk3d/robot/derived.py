"""Robots made from robots: several robots under a common root, locked joints, other shapes, scaled links.

The result has the same form as a robot from a file: one tree, with shapes and allowed pairs. All other code therefore
treats several robots as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.convex.checks import is_finite
from gjk3d.errors import RobotError
from gjk3d.robot import urdf
from gjk3d.robot.bodies import MESH_MODES, Body, Geometry, in_metres, of_mesh, one_pose
from gjk3d.robot.kinematics import FIXED, NUMBERS, Chain, many_link_poses
from gjk3d.robot.mechanism import Mechanism
from gjk3d.robot.srdf import State
from gjk3d.robot.urdf import Description, Joint, Link
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Number
from gjk3d.wording import expected_names, kind_of

if TYPE_CHECKING:
    from gjk3d.robot.model import Robot

ROOT = "world"  #: the root link, to which parts are attached by default
_HOLDS = ("fixed", "planar", "floating")  #: types of the joint that attaches a part
_NORMAL = (0.0, 0.0, 1.0)  #: normal of the plane of a planar joint, such as the floor under a mobile base


class Joined(NamedTuple):
    """Several robots as one tree."""

    description: Description
    bodies: tuple[Body, ...]
    geometries: tuple[Geometry, ...]
    unwelded: frozenset[str]  #: links that `Robot.adjacent` treats as separate from the links fixed to them
    worlds: frozenset[str]  #: links that are never adjacent to another link, such as the world of an MJCF
    columns: dict[str, slice]  #: columns of q of each part, by the name of the part


def joined(parts: Mapping[str, Robot], on: Mapping[str, str], joints: Mapping[str, str]) -> Joined:
    """Return the tree of several robots. The arguments are those of `Robot.join`.

    Names are prefixed by the name of their part and a slash.
    """
    _check(parts, on, joints)
    # Joints are listed part by part, so the columns of a part are contiguous: the joint that attaches the part comes
    # first, then the joints of its robot.
    links: list[Link] = [Link(ROOT, ())]
    all_joints: list[Joint] = []
    columns: dict[str, slice] = {}
    states: dict[str, State] = {}
    allowed: list[tuple[str, str, str]] = []
    at = 0
    for part, robot in parts.items():
        kind = joints.get(part, "fixed")
        links += [Link(f"{part}/{name}", ()) for name in robot.links]
        below = f"{part}/{robot.links[0]}"
        holds = Joint(part, kind, on.get(part, ROOT), below, robot.base, _NORMAL, -inf, inf, None)
        all_joints += [holds, *(_prefixed(original, part) for original in robot._in_file_order())]
        size = robot.dof + NUMBERS[urdf.KINDS[kind]]
        columns[part] = slice(at, at + size)
        at += size
        allowed += [(f"{part}/{a}", f"{part}/{b}", reason) for a, b, reason in robot.allowed]
        for name, values in robot.states.items():
            states[f"{part}/{name}"] = {f"{part}/{joint}": value for joint, value in values.items()}
    source = next(iter(parts.values())).source
    description = Description(source, " and ".join(parts), tuple(links), tuple(all_joints), tuple(allowed), states)
    order = {name: k for k, name in enumerate(urdf.tree_of(description).links)}
    bodies, geometries = _shapes_of(parts, order)
    return Joined(
        description, bodies, geometries,
        frozenset([ROOT, *(f"{part}/{name}" for part, robot in parts.items() for name in robot._unwelded)]),
        frozenset(f"{part}/{name}" for part, robot in parts.items() for name in robot._worlds), columns,
    )  # fmt: skip


def _check(parts: Mapping[str, Robot], on: Mapping[str, str], joints: Mapping[str, str]) -> None:
    if not isinstance(parts, Mapping) or not parts:
        raise RobotError(f"parts is {parts!r:.80}, expected a mapping that is not empty, such as {{'left': robot}}")
    for part, robot in parts.items():
        if not isinstance(part, str) or not part or not part.isprintable() or "/" in part or part == ROOT:
            raise RobotError(f"a part has the name {part!r}, expected printable text without a slash, and not {ROOT!r}")
        if not isinstance(robot, Mechanism):
            raise RobotError(f"part {part!r} is {kind_of(robot)}, expected a Robot")
    for what, entries in (("on", on), ("joints", joints)):
        if unknown := [name for name in entries if name not in parts]:
            raise RobotError(f"{what} names {unknown[0]!r}, which is not a part, {expected_names(unknown[0], parts)}")
    for part, kind in joints.items():
        if not isinstance(kind, str) or kind not in _HOLDS:
            raise RobotError(
                f"joints: part {part!r} has the joint type {kind!r}, expected one of {', '.join(map(repr, _HOLDS))}"
            )
    for part, link in on.items():
        base, _, name = link.partition("/") if isinstance(link, str) else ("", "", "")
        if base not in parts or name not in parts[base].links:
            raise RobotError(
                f"on: part {part!r} is attached to {link!r}, expected a link of a part, such as 'arm/flange'"
            )
        chain = [part]
        while base in on:
            chain.append(base)
            base = on[base].partition("/")[0]
            if base in chain:
                raise RobotError(
                    f"on: the parts {' -> '.join(map(repr, [*chain, base]))} form a loop. Remove one of them from on="
                )


def _prefixed(joint: Joint, part: str) -> Joint:
    mimic = joint.mimic
    return joint._replace(
        name=f"{part}/{joint.name}", parent=f"{part}/{joint.parent}", child=f"{part}/{joint.child}",
        mimic=None if mimic is None else mimic._replace(joint=f"{part}/{mimic.joint}"),
    )  # fmt: skip


def _shapes_of(parts: Mapping[str, Robot], order: Mapping[str, int]) -> tuple[tuple[Body, ...], tuple[Geometry, ...]]:
    """Return the bodies and geometries of all parts, sorted by link.

    ``order`` contains the number of each link in the joined robot, by the prefixed name of the link.
    """
    geometries = []
    for part, robot in parts.items():
        for geometry in robot.geometries:
            number = order[f"{part}/{robot.links[geometry.link]}"]
            geometries.append((geometry._replace(link=number), robot.bodies[geometry.first : geometry.last]))
    return _numbered(sorted(geometries, key=lambda each: each[0].link))


def _numbered(
    items: Iterable[tuple[Geometry, tuple[Body, ...]]],
) -> tuple[tuple[Body, ...], tuple[Geometry, ...]]:
    """Return all bodies and all geometries of ``items``.

    Each body gets the index of its geometry, and each geometry the range of its bodies.
    """
    bodies: list[Body] = []
    geometries: list[Geometry] = []
    for geometry, shapes in items:
        first = len(bodies)
        bodies += [body._replace(link=geometry.link, geometry=len(geometries)) for body in shapes]
        geometries.append(geometry._replace(first=first, last=len(bodies)))
    return tuple(bodies), tuple(geometries)


def locked(robot: Robot, q: Array, names: Iterable[str]) -> list[Joint]:
    """Return the joints of a robot. The named joints, and joints that mimic them, are fixed at the configuration q."""
    locked_columns = {robot.columns[name].start for name in names}
    chain, number = robot._chain, {joint.name: k for k, joint in enumerate(robot.joints) if joint is not None}
    joints = []
    for joint in robot._in_file_order():
        k = number[joint.name]
        column = int(chain.source[k])
        if chain.kind[k] == FIXED or column not in locked_columns:
            joints.append(joint)
            continue
        pose = np.empty((1, 1, 4, 4))
        row: Any = (values[k : k + 1] for values in chain)
        # In a chain of this joint alone, attached to the world, the pose of the link is the transform of the joint.
        single = Chain(*row)._replace(parent=np.array([-1]))
        many_link_poses(single, q[None], np.empty((4, 4)), pose)
        joints.append(joint._replace(type="fixed", origin=pose[0, 0], mimic=None))
    return joints


Shapes = Any  #: a shape or mesh, a tuple (shape, pose), or a list of these


def with_shapes(robot: Robot, link: int, shapes: Shapes, mode: str) -> tuple[tuple[Body, ...], tuple[Geometry, ...]]:
    """Return the bodies and geometries of a robot with other shapes on one link. ``mode`` is one of `MESH_MODES`."""
    if mode not in MESH_MODES:
        raise RobotError(f"geometry={mode!r}, expected one of {', '.join(map(repr, MESH_MODES))}")
    name = robot.links[link]
    items = [] if shapes is None else shapes if isinstance(shapes, list) else [shapes]
    new = [_shape_of(item, name, link, mode) for item in items]
    existing = [(item, robot.bodies[item.first : item.last]) for item in robot.geometries]
    before = [item for item in existing if item[0].link < link]
    return _numbered([*before, *new, *(item for item in existing if item[0].link > link)])


def _shape_of(item: Any, name: str, link: int, mode: str) -> tuple[Geometry, tuple[Body, ...]]:
    shape, pose = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
    matrix = one_pose(pose, f"pose of a shape of {name!r}")
    matrix.setflags(write=False)
    if isinstance(shape, Mesh):
        where = f"the mesh of link {name!r}"
        mesh = in_metres(shape, where)
        hull, shapes, error = of_mesh(mesh, urdf.Geometry(where, "mesh", (), "", (1.0, 1.0, 1.0), matrix), mode)
        geometry = Geometry(link, matrix, hull, 0, 0, mode, shape.source, error)
    elif isinstance(shape, Shape) and not isinstance(shape, Halfspace):
        shapes, geometry = [shape], Geometry(link, matrix, shape, 0, 0, "exact", None, None)
    else:
        raise RobotError(
            f"the geometry of link {name!r} is {kind_of(shape)}, expected a bounded convex shape or a Mesh. Attach "
            "other bounded shapes with Checker.attach"
        )
    return geometry, tuple(Body(link, matrix, piece, 0) for piece in shapes)


def scaled(robot: Robot, factors: Mapping[str, Number]) -> Robot:
    """Return a robot with scaled shapes on the given links. Joints and the origins of links do not change.

    Each collision geometry is scaled about the middle of its axis-aligned box.

    To enlarge links by a distance, use `Checker.set_padding` or `Checker.set_margin`, which are exact and cost no time.
    Unlike MoveIt's scale, the scale factors also change the distances between two links of the robot.

    Parameters
    ----------
    robot : Robot
        The robot, which is not changed.
    factors : mapping of str to float
        Scale factors above 0, by the name of the link.

    Returns
    -------
    Robot
        A robot with the same joints and a copy of the allowed pairs.

    Raises
    ------
    RobotError
        A link does not exist, or a factor is not above 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> larger = gk.robot.scaled(gk.robot.Robot.example(), {"hand": 1.2})
    >>> larger.bodies[2].shape, larger.bodies[2].pose[:3, 3].tolist()
    (Box(extents=[0.6, 0.12, 0.12]), [0.25, 0.0, 0.0])
    """
    by_link: dict[int, float] = {}
    for name, factor in factors.items():
        if not is_finite(factor) or not factor > 0.0:
            raise RobotError(f"scaled: the factor of {name!r} is {factor!r:.80}, expected a number above 0")
        by_link[robot.link_number(name)] = float(factor)
    bodies: list[Body] = []
    geometries: list[Geometry] = []
    for geometry in robot.geometries:
        shapes = robot.bodies[geometry.first : geometry.last]
        factor = by_link.get(geometry.link, 1.0)
        if factor == 1.0:
            bodies += shapes
            geometries.append(geometry)
            continue
        middle = geometry.hull.bounds.mean(axis=0)
        bodies += [_scaled(body, factor, middle) for body in shapes]
        geometries.append(_scaled(geometry._replace(hull=geometry.hull.scaled(factor)), factor, middle))
    new = robot._copied()
    new.bodies, new.geometries = tuple(bodies), tuple(geometries)
    return new


def _scaled(item: Any, factor: float, middle: Array) -> Any:
    """Return a `Body` or a `Geometry`, scaled by ``factor`` about ``middle``, a point in its local frame.

    The hull of a geometry is not scaled.
    """
    pose = item.pose.copy()
    pose[:3, 3] += pose[:3, :3] @ middle * (1.0 - factor)
    pose.setflags(write=False)
    moved = item._replace(pose=pose)
    return moved._replace(shape=item.shape.scaled(factor)) if isinstance(item, Body) else moved
