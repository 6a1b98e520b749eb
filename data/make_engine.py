"""Write the engine: one cylinder with crank, rod and piston, and how it turns.

    python data/make_engine.py [--out FOLDER]

Needs numpy, trimesh and manifold3d (pip install "gjk3d[mesh]"). The same versions write the same bytes.

It is drawn in mm at top dead centre: the crank turns about z, the piston moves along y. One mistake is on purpose: the
balance plug of the crank stands out to 44 mm from the axis, and the sensor reaches in to 43.6 mm, at 37 degrees.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import parts as p
import trimesh
from assembly import METRE_GRID, mesh_of
from manifold3d import Manifold as Solid

THROW, ROD, AT = 20.0, 80.0, 37.0  # mm, mm, degrees
PLUG, SENSOR, HALF = 44.0, 43.6, 2.0  # the tips' distances from the axis, and half a width
WRIST, N = THROW + ROD, 48  # corners of a circle
COLOURS = {
    "block": (140, 150, 165), "head": (110, 120, 135), "sensor": (249, 178, 50), "crank_shaft": (70, 130, 210),
    "crank_plug": (210, 50, 45), "rod": (90, 170, 90), "piston": (200, 200, 205), "piston_pin": (120, 80, 160),
}  # fmt: skip


def rod_z(radius: float, low: float, high: float, at: tuple[float, float] = (0.0, 0.0)) -> Solid:
    """Cylinder along z."""
    return p.prism(p.circle(radius, N, at), low, high)


def rod_y(radius: float, low: float, high: float) -> Solid:
    """Cylinder along y, about the middle of the bore."""
    return p.prism(p.circle(radius, N), low, high).rotate([-90.0, 0.0, 0.0])


def box(x: float, y: tuple[float, float], z: tuple[float, float]) -> Solid:
    """Block that is as wide to either side."""
    return p.box((-x, x), y, z)


def block() -> Solid:
    """Cylinder and crankcase in one, with a window for the sensor."""
    body = box(55, (-56, 123), (-36, 36)) - box(49, (-49, 41), (-28, 28)) - rod_y(30, 40, 124)
    window = box(HALF + 0.3, (-80, -45), (8.7, 15.3)).rotate([0, 0, AT])
    return body - rod_z(12.05, -40, 40) - window


def crank_shaft() -> Solid:
    """Two journals, two webs with their counterweights, and the pin."""
    solid = rod_z(10, -10, 10, (0.0, THROW))
    for side in (-1, 1):
        low, high = sorted((8.0 * side, 16.0 * side))
        solid += box(12, (-36, 31), (low, high))
        low, high = sorted((15.0 * side, 44.0 * side))
        solid += rod_z(12, low, high)
    return solid


def crank_plug() -> Solid:
    """Square peg with an edge for a tip."""
    outline = [(-HALF, -36), (-HALF, HALF - PLUG), (0, -PLUG), (HALF, HALF - PLUG), (HALF, -36)]
    return p.prism(np.array(outline), 9, 15)


def rod() -> Solid:
    """Two eyes and a beam."""
    solid = rod_z(15, -7.5, 7.5, (0.0, THROW)) + rod_z(11, -7, 7, (0.0, WRIST))
    solid += box(5, (THROW + 12, WRIST - 9), (-5, 5))
    return solid - rod_z(10.1, -8, 8, (0.0, THROW)) - rod_z(7.1, -8, 8, (0.0, WRIST))


def piston() -> Solid:
    """Cup with a hole for its pin."""
    return rod_y(29.9, 88, 122) - rod_y(26, 87, 114) - rod_z(7.05, -31, 31, (0.0, WRIST))


MAKERS = {
    "block": block,
    "head": lambda: box(55, (123, 131), (-36, 36)),
    "sensor": lambda: box(HALF, (-70, -SENSOR), (9, 15)).rotate([0, 0, AT]),
    "crank_shaft": crank_shaft,
    "crank_plug": crank_plug,
    "rod": rod,
    "piston": piston,
    "piston_pin": lambda: rod_z(7, -25.5, 25.5, (0.0, WRIST)),
}

MOTION = f"""# How the engine turns, by the degrees of its crank: gjk3d clash engine.glb --motion engine.toml
unit = "deg"
times = [0, 360]
length = "mm"

[[joint]]
name = "main bearing"
kind = "revolute"
child = "crank_*"
axis = [0, 0, 1]
point = [0, 0, 0]
drive = [0, 360]

[[joint]]
name = "big end"
kind = "revolute"
child = "rod"
parent = "crank_*"
axis = [0, 0, 1]
point = [0, {THROW:g}, 0]

[[joint]]
name = "small end"
kind = "revolute"
child = "piston*"
parent = "rod"
axis = [0, 0, 1]
point = [0, {WRIST:g}, 0]

[[joint]]
name = "bore"
kind = "prismatic"
child = "piston*"
axis = [0, 1, 0]
"""


def half_angle() -> float:
    """Degrees on either side of 37 at which a corner of the sensor meets a slope of the plug's tip, in closed form."""
    corner = math.hypot(SENSOR, HALF)
    return math.degrees(math.atan(HALF / SENSOR) + math.pi / 4 - math.acos(PLUG / corner / math.sqrt(2)))


def main() -> None:
    """Write the GLB in metres, and the motion."""
    parser = argparse.ArgumentParser(description="write the engine of this folder and its motion")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "engine", help="folder to write to")
    out = parser.parse_args().out
    scene = trimesh.Scene(base_frame="world")
    for name, make in MAKERS.items():
        mesh = mesh_of(make(), 1e-3, METRE_GRID)
        paint = trimesh.visual.material.PBRMaterial(
            name=name, baseColorFactor=[*COLOURS[name], 255], metallicFactor=0.3, roughnessFactor=0.5
        )
        mesh.visual = trimesh.visual.TextureVisuals(material=paint)
        scene.geometry[name] = mesh
        scene.graph.update(frame_from="world", frame_to=name, matrix=np.eye(4), geometry=name)
    scene.export(out / "engine.glb")
    (out / "engine.toml").write_text(MOTION, encoding="utf-8", newline="\n")
    for path in (out / "engine.glb", out / "engine.toml"):
        print(f"{path.name:20} {path.stat().st_size:8} bytes")


if __name__ == "__main__":
    main()
