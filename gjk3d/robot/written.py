"""A robot as the text of a URDF, with the shapes that stand for its meshes."""

from __future__ import annotations

from collections.abc import Iterable
from math import atan2, cos, hypot, inf, isfinite, sin
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from scipy import spatial

from gjk3d.bodies.mesh import Mesh
from gjk3d.robot.urdf import Joint
from gjk3d.shapes.base import Shape
from gjk3d.shapes.curved import Capsule, Cylinder, Ellipsoid, Sphere
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.typing import Array

Placed = tuple[Shape | Mesh, Array]  #: a shape, and its pose in the frame of its link


def write_urdf(file: Path, name: str, links: dict[str, list[Placed]], joints: Iterable[Joint], base: Array) -> None:
    """Write a URDF, and an OBJ for each hull or mesh into a folder beside it, which is named after it.

    The first link is the root, which stands at ``base``: elsewhere than at the origin it hangs on one more link.
    """
    root = Element("robot", {"name": name})
    folder = file.with_name(f"{file.stem}_meshes")
    made: dict[int, str] = {}  # one file a shape, however often it stands there
    for link, placed in links.items():
        element = SubElement(root, "link", {"name": link})
        for shape, pose in (part for each in placed for part in _parts(*each)):
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
                if id(shape) not in made:
                    folder.mkdir(exist_ok=True)
                    made[id(shape)] = f"{folder.name}/{len(made)}.obj"
                    (file.parent / made[id(shape)]).write_text(_obj(shape), encoding="utf-8")
                SubElement(inner, "mesh", {"filename": made[id(shape)]})
    if not np.array_equal(base, np.eye(4)):
        stand = "stand"
        while stand in links:
            stand += "_"
        SubElement(root, "link", {"name": stand})
        below = next(iter(links))
        _joint(root, Joint(f"{stand}_joint", "fixed", stand, below, base, (1.0, 0.0, 0.0), -inf, inf, None))
    for joint in joints:
        _joint(root, joint)
    ElementTree.indent(root, "  ")
    text = ElementTree.tostring(root, encoding="unicode")
    file.write_text(f'<?xml version="1.0"?>\n{text}\n', encoding="utf-8")


def _parts(shape: Shape | Mesh, pose: Array) -> list[Placed]:
    """Return shapes that a URDF has and that are together what this one is; a hull round an ellipsoid."""
    if isinstance(shape, Capsule):
        if not shape.height:
            return [(Sphere(shape.radius), pose)]
        ends = [pose @ _up(side * 0.5 * shape.height) for side in (-1.0, 1.0)]
        caps: list[Placed] = [(Sphere(shape.radius), end) for end in ends]
        return [(Cylinder(shape.radius, shape.height), pose), *caps]
    if isinstance(shape, Ellipsoid):
        return [(ConvexHull(_round_a_ball() * shape.radii), pose)]
    return [(shape, pose)]


def _up(height: float) -> Array:
    matrix = np.eye(4)
    matrix[2, 3] = height
    return matrix


def _round_a_ball(rings: int = 12) -> Array:
    """Return corners of a polytope whose faces all lie outside the unit ball, by less than 4 %."""
    turns = np.arange(2 * rings) * np.pi / rings
    heights = (np.arange(rings) + 0.5) * np.pi / rings
    across, up = np.sin(heights)[:, None], np.cos(heights)[:, None]
    sides = across * np.cos(turns), across * np.sin(turns), np.broadcast_to(up, (rings, 2 * rings))
    corners = np.stack(sides, axis=2).reshape(-1, 3)
    inner = -spatial.ConvexHull(corners).equations[:, 3].max()  # how far the nearest face is from the middle
    return np.asarray(corners / inner * (1.0 + 1e-12))


def _obj(shape: Any) -> str:
    """Return a hull or mesh as the text of an OBJ, each number as it is."""
    vertices, faces = np.asarray(shape.vertices), np.asarray(shape.faces)
    lines = [f"v {_words(row)}" for row in vertices]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in faces.tolist()]
    return "\n".join(lines) + "\n"


def _joint(root: Element, joint: Joint) -> None:
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
    """Write a pose; the roll is what is left after yaw and pitch, so that it holds where these are not unique."""
    r = pose[:3, :3].tolist()
    yaw = atan2(r[1][0], r[0][0])
    c, s = cos(yaw), sin(yaw)
    pitch = atan2(-r[2][0], hypot(r[0][0], r[1][0]))
    roll = atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    SubElement(parent, "origin", {"xyz": _words(pose[:3, 3]), "rpy": _words((roll, pitch, yaw))})


def _words(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(each)) for each in numbers)
