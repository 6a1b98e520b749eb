"""Write the cabinet: a door with a hinge and a latch, a drawer behind it, and how they open.

    python data/make_cabinet.py [--out FOLDER]

Needs numpy, trimesh and manifold3d (pip install "gjk3d[mesh]"). The same versions write the same bytes.

It is drawn in mm, closed: z is up, the hinge is the z axis, the door opens towards -y. The latch is drawn back, the
door opens, the drawer comes out; a second each. Two mistakes are on purpose: the latch is drawn back too little for
the lip before it, and the door does not open wide enough for the drawer.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import parts as p
import trimesh
from assembly import mesh_of

GRID = 2.0**-24  # m; float32 holds it up to 1 m
LEAF, THICK, OPEN = 390.0, 18.0, 80.0  # mm, mm, degrees
TIP, DRAWN, LIP = 412.0, 7.0, 403.0  # where the latch ends, how far it is drawn back, where the lip begins
LIP_Y, LATCH_Y = (-5.0, 4.0), (5.0, 13.0)  # from front to back
LEFT, FRONT, OUT = 60.0, 30.0, 350.0  # of the drawer, and how far it comes out

PARTS = {
    "left": ((-40, -2), (20, 500), (0, 700)),
    "right": ((415, 440), (20, 500), (0, 700)),
    "back": ((-40, 440), (501, 510), (0, 700)),
    "lip": ((LIP, 440), LIP_Y, (300, 400)),
    "door": ((2, LEAF), (0, THICK), (0, 700)),
    "latch": ((LEAF + 8, TIP), LATCH_Y, (340, 360)),
    "drawer": ((LEFT, 360), (FRONT, 450), (100, 300)),
}  # fmt: skip
COLOURS = {"door": (90, 170, 90), "latch": (249, 178, 50), "lip": (120, 80, 160), "drawer": (70, 130, 210)}

MOTION = f"""# How it opens: gjk3d clash cabinet.glb --motion cabinet.toml
unit = "s"
times = [0, 3]
length = "mm"

[[joint]]
name = "hinge"
kind = "revolute"
child = "door"
axis = [0, 0, 1]
point = [0, 0, 0]
drive = [0, 0, {-OPEN:g}, {-OPEN:g}]

[[joint]]
name = "bolt"
kind = "prismatic"
child = "latch"
parent = "door"
axis = [-1, 0, 0]
drive = [0, {DRAWN:g}, {DRAWN:g}, {DRAWN:g}]

[[joint]]
name = "runner"
kind = "prismatic"
child = "drawer"
axis = [0, -1, 0]
drive = [0, 0, 0, {OUT:g}]
"""


def latch_times() -> tuple[float, float]:
    """Seconds at which the latch meets the lip, and is past it, in closed form.

    First the front edge of the latch's tip meets the back of the lip, last the front edge of the lip leaves the back
    of the latch. An edge at radius r and angle phi from the hinge is, turned by t, r sin(phi - t) from its plane.
    """
    tip, (front, back) = TIP - DRAWN, LATCH_Y
    first = math.atan2(front, tip) - math.asin(LIP_Y[1] / math.hypot(tip, front))
    last = math.asin(back / math.hypot(LIP, LIP_Y[0])) - math.atan2(LIP_Y[0], LIP)
    return 1.0 + math.degrees(first) / OPEN, 1.0 + math.degrees(last) / OPEN


def drawer_time() -> float:
    """Seconds at which the left front edge of the drawer meets the inside of the open door, in closed form."""
    turn = math.radians(OPEN)
    along = (LEFT - THICK * math.sin(turn)) / math.cos(turn)
    return 2.0 + (FRONT + along * math.sin(turn) - THICK * math.cos(turn)) / OUT


def main() -> None:
    """Write the GLB in metres, and the motion."""
    parser = argparse.ArgumentParser(description="write the cabinet of this folder and how it opens")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "cabinet", help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    scene = trimesh.Scene(base_frame="world")
    for name, sides in PARTS.items():
        mesh = mesh_of(p.box(*sides), 1e-3, GRID)
        paint = trimesh.visual.material.PBRMaterial(
            name=name, baseColorFactor=[*COLOURS.get(name, (140, 150, 165)), 255], metallicFactor=0.0
        )
        mesh.visual = trimesh.visual.TextureVisuals(material=paint)
        scene.geometry[name] = mesh
        scene.graph.update(frame_from="world", frame_to=name, matrix=np.eye(4), geometry=name)
    scene.export(out / "cabinet.glb")
    (out / "cabinet.toml").write_text(MOTION, encoding="utf-8", newline="\n")
    for path in (out / "cabinet.glb", out / "cabinet.toml"):
        print(f"{path.name:20} {path.stat().st_size:8} bytes")


if __name__ == "__main__":
    main()
