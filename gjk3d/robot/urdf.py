"""URDF files (http://wiki.ros.org/urdf/XML): reading into plain values, the tree of the joints, and writing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import atan2, cos, hypot, inf, isfinite, sin
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from scipy import spatial

from gjk3d.bodies.mesh import Mesh
from gjk3d.errors import ParseError, ShapeError
from gjk3d.poses import GREATEST
from gjk3d.robot.files import Place
from gjk3d.robot.kinematics import FIXED, FLOATING, NUMBERS, PLANAR, SLIDING, TURNING, Chain
from gjk3d.shapes.base import Shape
from gjk3d.shapes.curved import Capsule, Cylinder, Ellipsoid, Sphere
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.typing import Array, Ints
from gjk3d.wording import expected_names

KINDS = {
    "fixed": FIXED,
    "revolute": TURNING,
    "continuous": TURNING,
    "prismatic": SLIDING,
    "planar": PLANAR,
    "floating": FLOATING,
}
_SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}


class Mimic(NamedTuple):
    """A joint that follows another joint, like a finger of a gripper.

    Attributes
    ----------
    joint : str
        Name of the joint that is followed.
    multiplier, offset : float
        The value of the following joint is ``multiplier`` times the value of ``joint``, plus ``offset``. The offset is
        in radians or the robot's unit of length.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.robot.Mimic("left_finger", 1.0, 0.0).joint
    'left_finger'
    """

    joint: str
    multiplier: float
    offset: float


class Joint(NamedTuple):
    """A joint of a URDF: an item of `Robot.joints`.

    Attributes
    ----------
    name : str
        The name of the joint, unique in the robot.
    type : str
        "fixed", "revolute", "continuous", "prismatic", "planar" or "floating".
    parent, child : str
        Names of the links that the joint connects.
    origin : (4, 4) float
        Pose of the joint in the frame of the parent link.
    axis : (3,) float
        Unit vector in the frame of the joint: the axis of rotation, the direction of translation, or the normal of the
        plane.
    lower, upper : float
        Limits, in radians or the robot's unit of length, infinite without a limit.
    mimic : Mimic or None
        The joint that this joint follows, with the multiplier and the offset.

    Examples
    --------
    >>> import gjk3d as gk
    >>> joint = gk.robot.Robot.example().joints[2]
    >>> joint.name, joint.type, joint.parent, joint.lower
    ('elbow', 'revolute', 'beam', -2.5)
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Array
    axis: tuple[float, float, float]
    lower: float
    upper: float
    mimic: Mimic | None


class Geometry(NamedTuple):
    """One collision geometry of a link in a URDF."""

    where: str  #: place of the geometry in the file, for error messages
    kind: str  #: box, sphere, cylinder, capsule, mesh, or ellipsoid (only from an MJCF)
    sizes: tuple[float, ...]  #: edges of a box, radius, radius and length of a cylinder or capsule, or half axes
    filename: str  #: file of a mesh, "" for a mesh that is not from a file
    scale: tuple[float, ...]  #: scale of a mesh along x, y and z
    origin: Array  #: (4, 4) pose in the frame of the link
    mesh: tuple[Array, Ints] | None = None  #: vertices and triangles of a mesh that is not from a file


class Link(NamedTuple):
    """A link of a URDF."""

    name: str
    geometries: tuple[Geometry, ...]
    only_drawn: bool = False  #: whether the link has a visual but no collision geometry


class Description(NamedTuple):
    """The content of a URDF, or of another file converted to it."""

    file: Path
    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    allowed: tuple[tuple[str, str, str], ...] = ()  #: pairs of links that need no check, each with its reason
    states: Mapping[str, dict[str, tuple[float, ...]]] = MappingProxyType({})  #: joint values of named poses
    worlds: frozenset[str] = frozenset()  #: links that belong to the surroundings and are not adjacent to any link
    left_out: tuple[str, ...] = ()  #: messages about parts of the file that are not supported, for a warning


#: values of ``collision`` in `Robot.load`: the geometry of a link that is checked
COLLISION = ("collision", "visual")


def checked_collision(collision: str) -> str:
    """Return ``collision`` if it is one of `COLLISION`; raise `ShapeError` otherwise."""
    if collision not in COLLISION:
        raise ShapeError(f"collision={collision!r}, expected one of {', '.join(map(repr, COLLISION))}")
    return collision


def described(file: Path, root: Element, collision: str) -> Description:
    """Return the content of a URDF, given by its root element, without loading meshes.

    ``collision`` is one of `COLLISION`. A malformed URDF raises `ParseError`, which names the place of the fault.
    """
    checked_collision(collision)
    top = Place(root, str(file))
    links = tuple(_link(place, collision == "visual") for place in top.children("link"))
    joints = tuple(_joint(place) for place in top.children("joint"))
    if not links:
        raise ParseError(f"{file} has 0 links, expected at least one. Export the file again")
    for what, names in (("link", [x.name for x in links]), ("joint", [x.name for x in joints])):
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise ParseError(f"{file} has more than one {what} of the name {twice[0]!r}. Rename one of them")
    return Description(file, root.get("name", ""), links, joints)


def _link(place: Place, visual: bool) -> Link:
    collisions, drawn = list(place.children("collision")), list(place.children("visual"))
    if visual:
        collisions = collisions or drawn
    return Link(place.text("name"), tuple(_geometry(item) for item in collisions), bool(drawn) and not collisions)


def _geometry(place: Place) -> Geometry:
    parts = list(place.need("geometry").element)
    if len(parts) != 1:
        raise ParseError(
            f"{place.where}: its <geometry> has {len(parts)} shapes, expected one. Write a <collision> for each shape"
        )
    kind, shape = parts[0].tag, Place(parts[0], f"{place.where}, <{parts[0].tag}>")
    origin = transform(place.child("origin"))
    if kind == "mesh":
        scale = shape.numbers("scale", 3, (1.0, 1.0, 1.0))
        if 0.0 in scale:
            raise ParseError(f"{shape.where}: scale={shape.text('scale')!r} makes the mesh flat, expected no zeros")
        return Geometry(place.where, kind, (), shape.text("filename"), scale, origin)
    if kind not in _SIZES:
        raise ParseError(f"{place.where}: <{kind}> is not a geometry, expected mesh, {', '.join(_SIZES)}")
    sizes: tuple[float, ...] = ()
    for attribute in _SIZES[kind]:
        sizes += shape.numbers(attribute, 3 if attribute == "size" else 1)
    # a cylinder or capsule may have the length 0: such a cylinder is a disc, and such a capsule is a ball
    least = sizes[:-1] if kind in ("cylinder", "capsule") and sizes[-1] == 0.0 else sizes
    if not min(least) > 0.0:
        raise ParseError(f"{shape.where}: the sizes are {sizes}, expected numbers above 0")
    return Geometry(place.where, kind, sizes, "", (), origin)


def _joint(place: Place) -> Joint:
    name, kind = place.text("name"), place.text("type")
    if kind not in KINDS:
        raise ParseError(f"{place.where} has type {kind!r}, expected one of {', '.join(KINDS)}")
    axis: Any = (1.0, 0.0, 0.0)
    axis_place = place.child("axis")
    if axis_place is not None and KINDS[kind] not in (FIXED, FLOATING):
        axis = axis_place.numbers("xyz", 3, axis)
        length = hypot(*axis)
        if not length > 0.0:
            raise ParseError(f"{axis_place.where}: xyz={axis_place.text('xyz')!r} is zero, expected a direction")
        axis = tuple(value / length for value in axis)
    lower, upper = -inf, inf
    limit = place.child("limit")
    if limit is not None and kind in ("revolute", "prismatic"):
        lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
        if lower > upper:
            raise ParseError(f"{limit.where}: lower {lower:g} is more than upper {upper:g}. Correct the limits")
    mimic = None
    follows = place.child("mimic")
    if follows is not None and kind != "fixed":
        mimic = Mimic(follows.text("joint"), follows.number("multiplier", 1.0), follows.number("offset", 0.0))
    return Joint(
        name,
        kind,
        place.need("parent").text("link"),
        place.need("child").text("link"),
        transform(place.child("origin")),
        axis,
        lower,
        upper,
        mimic,
    )


def transform(place: Place | None) -> Array:
    """Return the transform of an <origin>: a rotation about the fixed x, y and z axes by rpy, then a translation."""
    matrix = np.eye(4)
    if place is None:
        return matrix
    if place.element.get("quat_xyzw") is not None:
        raise ParseError(f"{place.where} has quat_xyzw=, which is not supported. Use rpy= instead")
    roll, pitch, yaw = place.numbers("rpy", 3, (0.0, 0.0, 0.0))
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    matrix[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    matrix[:3, 3] = place.numbers("xyz", 3, (0.0, 0.0, 0.0))
    if not np.abs(matrix[:3, 3]).max() <= GREATEST:
        raise ParseError(f"{place.where}: xyz={place.text('xyz')!r}, expected at most {GREATEST:g}. Use another unit")
    return matrix


# the tree of joints ---------------------------------------------------------------------------------------------------


class Tree(NamedTuple):
    """A robot's links, the joint above each link, the columns of q by joint, and all joints as arrays."""

    links: tuple[str, ...]
    above: tuple[Joint | None, ...]
    columns: dict[str, slice]
    chain: Chain


def tree_of(description: Description) -> Tree:
    """Return the tree of a robot. Joints that do not form a tree raise `ParseError`."""
    file = description.file
    above = _parents(description)
    order = _order(description, above)
    number = {name: k for k, name in enumerate(order)}
    # joint values in q are in the order of the joints in the file, links are in the order of the tree
    columns: dict[str, slice] = {}
    count = 0
    for joint in description.joints:
        size = NUMBERS[KINDS[joint.type]] if joint.mimic is None else 0
        if size:
            columns[joint.name] = slice(count, count + size)
            count += size
    joints = {joint.name: joint for joint in description.joints}
    n = len(order)
    chain = Chain(
        parent=np.full(n, -1, dtype=np.int64),
        kind=np.zeros(n, dtype=np.int64),
        axis=np.tile([1.0, 0.0, 0.0], (n, 1)),
        origin=np.tile(np.eye(4), (n, 1, 1)),
        source=np.full(n, -1, dtype=np.int64),
        multiplier=np.ones(n),
        offset=np.zeros(n),
    )
    for k, name in enumerate(order):
        own_joint = above.get(name)
        if own_joint is None:
            continue
        chain.parent[k] = number[own_joint.parent]
        chain.kind[k] = KINDS[own_joint.type]
        chain.axis[k] = own_joint.axis
        chain.origin[k] = own_joint.origin
        if chain.kind[k] != FIXED:
            leader, chain.multiplier[k], chain.offset[k] = _leader(own_joint, joints, str(file))
            chain.source[k] = columns[leader].start
    return Tree(order, tuple(above.get(name) for name in order), columns, chain)


def _parents(description: Description) -> dict[str, Joint]:
    names = {link.name for link in description.links}
    above: dict[str, Joint] = {}
    for joint in description.joints:
        for what, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in names:
                raise ParseError(
                    f"{description.file}, joint {joint.name!r}: its {what} {name!r} is not a link of the file, "
                    f"{expected_names(name, sorted(names))}"
                )
        if joint.child in above:
            raise ParseError(
                f"{description.file}: link {joint.child!r} is the child of two joints, {above[joint.child].name!r} and "
                f"{joint.name!r}. Remove one of them, since the joints of a URDF form a tree"
            )
        above[joint.child] = joint
    return above


def _order(description: Description, above: dict[str, Joint]) -> tuple[str, ...]:
    """Return the names of the links, depth first from the root, with branches in the order of the file."""
    roots = [link.name for link in description.links if link.name not in above]
    if len(roots) > 1:
        raise ParseError(
            f"{description.file} has {len(roots)} links without a parent joint, {', '.join(map(repr, roots[:5]))}, "
            "expected one root. Add joints above the other links"
        )
    below: dict[str, list[str]] = {}
    for joint in description.joints:
        below.setdefault(joint.parent, []).append(joint.child)
    order: list[str] = []
    waiting = roots
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting.extend(reversed(below.get(name, [])))
    if len(order) < len(description.links):
        reached = set(order)
        lost = next(link.name for link in description.links if link.name not in reached)
        raise ParseError(
            f"{description.file}: link {lost!r} is in or below a loop of joints, expected a tree. Remove one joint of "
            "the loop"
        )
    return tuple(order)


_LONGEST_MIMIC = 100  #: greatest length of a chain of joints that mimic each other


def _leader(joint: Joint, joints: dict[str, Joint], file: str) -> tuple[str, float, float]:
    """Return the name of the joint at the end of a chain of mimics, and the total multiplier and offset."""
    multiplier, offset = 1.0, 0.0
    chain = [joint.name]
    while joint.mimic is not None:
        where = f"{file}, joint {joint.name!r}: it mimics {joint.mimic.joint!r}"
        follows = joints.get(joint.mimic.joint)
        if follows is None:
            raise ParseError(
                f"{where}, which is not a joint of the file. Correct the name, or remove the <mimic> so that the joint "
                "gets its own value"
            )
        if follows.name in chain:
            raise ParseError(f"{where}, which follows {joint.name!r} in turn. Remove one <mimic> of this loop")
        if len(chain) > _LONGEST_MIMIC:
            raise ParseError(
                f"{file}, joint {chain[0]!r} follows a chain of more than {_LONGEST_MIMIC} joints that mimic each "
                "other. Let it mimic the last joint"
            )
        for member in (joint, follows):
            if NUMBERS[KINDS[member.type]] != 1:
                raise ParseError(
                    f"{where}, but {member.name!r} is {member.type}, expected a joint with one coordinate. Remove the "
                    "<mimic>"
                )
        offset += multiplier * joint.mimic.offset
        multiplier *= joint.mimic.multiplier
        chain.append(follows.name)
        joint = follows
    return joint.name, multiplier, offset


Placed = tuple[Shape | Mesh, Array]  #: a shape, and its pose in the frame of its link


def write_urdf(file: Path, name: str, links: dict[str, list[Placed]], joints: Iterable[Joint], base: Array) -> None:
    """Write a URDF. Each hull or mesh becomes an OBJ in a folder next to the file, such as a_meshes for a.urdf.

    The first link is the root, whose pose in the world is ``base``. If ``base`` is not the identity, another link is
    written above the root, since a URDF cannot store the pose of its root.
    """
    root = Element("robot", {"name": name})
    folder = file.with_name(f"{file.stem}_meshes")
    files: dict[int, str] = {}  # one file per shape, also if several links use it
    for link, placed in links.items():
        element = SubElement(root, "link", {"name": link})
        for shape, pose in (part for item in placed for part in _parts(*item)):
            collision = SubElement(element, "collision")
            _origin(collision, pose)
            inner = SubElement(collision, "geometry")
            if isinstance(shape, Box):
                SubElement(inner, "box", {"size": _words(shape.extents)})
            elif isinstance(shape, Sphere):
                SubElement(inner, "sphere", {"radius": repr(shape.radius)})
            elif isinstance(shape, Cylinder):
                SubElement(inner, "cylinder", {"radius": repr(shape.radius), "length": repr(shape.height)})
            else:
                if id(shape) not in files:
                    folder.mkdir(exist_ok=True)
                    files[id(shape)] = f"{folder.name}/{len(files)}.obj"
                    (file.parent / files[id(shape)]).write_text(_obj(shape), encoding="utf-8")
                SubElement(inner, "mesh", {"filename": files[id(shape)]})
    if not np.array_equal(base, np.eye(4)):
        stand = "stand"
        while stand in links:
            stand += "_"
        SubElement(root, "link", {"name": stand})
        below = next(iter(links))
        _joint_element(root, Joint(f"{stand}_joint", "fixed", stand, below, base, (1.0, 0.0, 0.0), -inf, inf, None))
    for joint in joints:
        _joint_element(root, joint)
    ElementTree.indent(root, "  ")
    text = ElementTree.tostring(root, encoding="unicode")
    file.write_text(f'<?xml version="1.0"?>\n{text}\n', encoding="utf-8")


def _parts(shape: Shape | Mesh, pose: Array) -> list[Placed]:
    """Return shapes that a URDF can store, with poses. Their union is the shape, or a hull around an ellipsoid."""
    if isinstance(shape, Capsule):
        if not shape.height:
            return [(Sphere(shape.radius), pose)]
        ends = [pose @ _up(side * 0.5 * shape.height) for side in (-1.0, 1.0)]
        caps: list[Placed] = [(Sphere(shape.radius), end) for end in ends]
        return [(Cylinder(shape.radius, shape.height), pose), *caps]
    if isinstance(shape, Ellipsoid):
        return [(ConvexHull(_ball_polytope() * shape.radii), pose)]
    return [(shape, pose)]


def _up(height: float) -> Array:
    matrix = np.eye(4)
    matrix[2, 3] = height
    return matrix


def _ball_polytope() -> Array:
    """Return the corners of a polytope that contains the unit ball and is at most 4 % larger."""
    rings = 12
    turns = np.arange(2 * rings) * np.pi / rings
    heights = (np.arange(rings) + 0.5) * np.pi / rings
    across, up = np.sin(heights)[:, None], np.cos(heights)[:, None]
    sides = across * np.cos(turns), across * np.sin(turns), np.broadcast_to(up, (rings, 2 * rings))
    corners = np.stack(sides, axis=2).reshape(-1, 3)
    inner = -spatial.ConvexHull(corners).equations[:, 3].max()  # distance of the nearest face from the centre
    return np.asarray(corners / inner * (1.0 + 1e-12))


def _obj(shape: Any) -> str:
    vertices, faces = np.asarray(shape.vertices), np.asarray(shape.faces)
    lines = [f"v {_words(row)}" for row in vertices]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in faces.tolist()]
    return "\n".join(lines) + "\n"


def _joint_element(root: Element, joint: Joint) -> None:
    endless = not (isfinite(joint.lower) and isfinite(joint.upper))
    kind = "continuous" if joint.type == "revolute" and endless else joint.type
    element = SubElement(root, "joint", {"name": joint.name, "type": kind})
    _origin(element, joint.origin)
    SubElement(element, "parent", {"link": joint.parent})
    SubElement(element, "child", {"link": joint.child})
    if joint.type not in ("fixed", "floating"):
        SubElement(element, "axis", {"xyz": _words(joint.axis)})
    if kind in ("revolute", "prismatic") and not endless:
        limits = {"lower": repr(joint.lower), "upper": repr(joint.upper), "effort": "0", "velocity": "0"}
        SubElement(element, "limit", limits)
    if joint.mimic is not None:
        follows = joint.mimic
        words = {"joint": follows.joint, "multiplier": repr(follows.multiplier), "offset": repr(follows.offset)}
        SubElement(element, "mimic", words)


def _origin(parent: Element, pose: Array) -> None:
    # The roll is computed from the yaw, so that the rotation is right even at a pitch of 90 degrees (gimbal lock).
    r = pose[:3, :3].tolist()
    yaw = atan2(r[1][0], r[0][0])
    c, s = cos(yaw), sin(yaw)
    pitch = atan2(-r[2][0], hypot(r[0][0], r[1][0]))
    roll = atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    SubElement(parent, "origin", {"xyz": _words(pose[:3, 3]), "rpy": _words((roll, pitch, yaw))})


def _words(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in numbers)
