"""What a URDF says: links with their collision geometry, joints, as plain values; http://wiki.ros.org/urdf/XML."""

from __future__ import annotations

import os
from math import cos, hypot, inf, sin
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gjk3d.errors import ParseError
from gjk3d.robot.files import Place, read_root
from gjk3d.robot.kinematics import FIXED, FLOATING, PLANAR, SLIDING, TURNING
from gjk3d.typing import Array

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
    """A joint follows another: ``multiplier`` times its value, plus ``offset``."""

    joint: str
    multiplier: float
    offset: float


class Joint(NamedTuple):
    """A joint, as the URDF has it."""

    name: str
    type: str
    parent: str
    child: str
    origin: Array
    axis: tuple[float, float, float]  #: of length 1
    lower: float
    upper: float
    mimic: Mimic | None


class Geometry(NamedTuple):
    """One collision geometry of a link, as the URDF has it."""

    where: str  #: which one it is, in words
    kind: str  #: box, sphere, cylinder, capsule or mesh
    sizes: tuple[float, ...]  #: edges; radius; radius and length
    filename: str  #: of a mesh
    scale: tuple[float, ...]  #: of a mesh
    origin: Array


class Link(NamedTuple):
    """A link, as the URDF has it."""

    name: str
    geometries: tuple[Geometry, ...]


class Description(NamedTuple):
    """A whole URDF."""

    file: Path
    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]


def read_urdf(path: str | os.PathLike[str]) -> Description:
    """Read a URDF; nothing is loaded or placed yet.

    Raises
    ------
    FileError
        There is no such file.
    ParseError
        It is no URDF; the message says where.
    """
    file, root = read_root(path)
    top = Place(root, str(file))
    links = tuple(_link(place) for place in top.children("link"))
    joints = tuple(_joint(place) for place in top.children("joint"))
    if not links:
        raise ParseError(f"{file} has no links")
    for what, names in (("link", [x.name for x in links]), ("joint", [x.name for x in joints])):
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise ParseError(f"{file} has more than one {what} of the name {twice[0]!r}")
    return Description(file, root.get("name", ""), links, joints)


def _link(place: Place) -> Link:
    return Link(place.text("name"), tuple(_geometry(each) for each in place.children("collision")))


def _geometry(place: Place) -> Geometry:
    parts = list(place.need("geometry").element)
    if len(parts) != 1:
        raise ParseError(f"{place.where}: its <geometry> holds {len(parts)} shapes, expected one")
    kind, shape = parts[0].tag, Place(parts[0], f"{place.where}, <{parts[0].tag}>")
    origin = transform(place.child("origin"))
    if kind == "mesh":
        scale = shape.numbers("scale", 3, (1.0, 1.0, 1.0))
        if 0.0 in scale:
            raise ParseError(f"{shape.where}: scale={shape.text('scale')!r} makes it flat, expected no zero")
        return Geometry(place.where, kind, (), shape.text("filename"), scale, origin)
    if kind not in _SIZES:
        raise ParseError(f"{place.where}: <{kind}> is no geometry, expected mesh, {', '.join(_SIZES)}")
    sizes: tuple[float, ...] = ()
    for attribute in _SIZES[kind]:
        sizes += shape.numbers(attribute, 3 if attribute == "size" else 1)
    least = sizes[:-1] if kind in ("cylinder", "capsule") and sizes[-1] == 0.0 else sizes  # a disc, or a ball
    if not min(least) > 0.0:
        raise ParseError(f"{shape.where}: sizes {sizes}, expected more than 0")
    return Geometry(place.where, kind, sizes, "", (), origin)


def _joint(place: Place) -> Joint:
    name, kind = place.text("name"), place.text("type")
    if kind not in KINDS:
        raise ParseError(f"{place.where} has type {kind!r}, expected one of {', '.join(KINDS)}")
    axis: Any = (1.0, 0.0, 0.0)
    given = place.child("axis")
    if given is not None and KINDS[kind] not in (FIXED, FLOATING):
        axis = given.numbers("xyz", 3, axis)
        length = hypot(*axis)
        if not length > 0.0:
            raise ParseError(f"{given.where}: xyz={given.text('xyz')!r} has no direction")
        axis = tuple(value / length for value in axis)
    lower, upper = -inf, inf
    limit = place.child("limit")
    if limit is not None and kind in ("revolute", "prismatic"):
        lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
        if lower > upper:
            raise ParseError(f"{limit.where}: lower {lower:g} is more than upper {upper:g}")
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
    """Return the transform of an <origin>: turned about the fixed x, y and z axes by rpy, then moved by xyz."""
    matrix = np.eye(4)
    if place is None:
        return matrix
    if place.element.get("quat_xyzw") is not None:
        raise ParseError(f"{place.where} has quat_xyzw=, which is not read: write rpy=")
    roll, pitch, yaw = place.numbers("rpy", 3, (0.0, 0.0, 0.0))
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    matrix[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    matrix[:3, 3] = place.numbers("xyz", 3, (0.0, 0.0, 0.0))
    return matrix
