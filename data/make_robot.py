"""Write the arm in `arm/`: URDF, SRDF, meshes, the cell around it, where it starts and ends, and two paths.

    python data/make_robot.py [--out FOLDER]

Needs numpy, scipy, trimesh and manifold3d (pip install "gjk3d[mesh]"), and gjk3d itself, which finds the pairs of links
that need no check. The same versions write the same bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import robot_parts as p
import trimesh
from assembly import mesh_of

import gjk3d as gk

GRID = 2.0**-14  # mm: float32 holds it exactly up to 1024 mm
STEEL, ORANGE, DARK, WOOD = "0.75 0.77 0.8 1", "0.93 0.55 0.13 1", "0.25 0.27 0.3 1", "0.7 0.56 0.4 1"
Rows = list[str]
# configurations in radians: the gripper deep in the bin, between the boards of the shelf, and on the way
POSES = {
    "home": (0.0, -0.9, 0.9, 0.0, 1.57, 0.0),
    "start": (-0.85, 0.78, -0.13, 0.0, 0.92, -0.85),
    "goal": (0.69, 0.36, 0.15, 1.95, 0.98, -2.19),
}
LIFTED, BACK = (-0.85, 0.3, -0.1, 0.0, 1.2, -0.85), (-0.2, -0.5, 0.6, 0.5, 1.2, -1.2)
RAISED, IN_FRONT = (0.9, -0.35, 0.5, 1.6, 1.0, -1.9), (0.31, 0.13, 0.39, 1.73, 1.3, -2.11)


def m(mm: float) -> str:
    """Millimetres as metres, without rounding noise."""
    return f"{mm / 1000:.6g}"


def mesh(name: str) -> str:
    """Name a mesh; STL files are in millimetres, a URDF in metres."""
    return f'<mesh filename="meshes/{name}.stl" scale="0.001 0.001 0.001"/>'


def cuboid(x: float, y: float, z: float) -> str:
    """Give a box by its edges in millimetres."""
    return f'<box size="{m(x)} {m(y)} {m(z)}"/>'


def rod(radius: float, length: float) -> str:
    """Give a cylinder along z by millimetres."""
    return f'<cylinder radius="{m(radius)}" length="{m(length)}"/>'


def origin(x: float = 0, y: float = 0, z: float = 0, rpy: str = "") -> str:
    """Place something, in millimetres."""
    return f'<origin xyz="{m(x)} {m(y)} {m(z)}"' + (f' rpy="{rpy}"/>' if rpy else "/>")


def link(name: str, color: str, *shapes: tuple[str, str]) -> Iterator[str]:
    """Write a link whose picture and collision geometry are the same: (origin, geometry) each."""
    if not shapes:
        yield f'  <link name="{name}"/>'
        return
    yield f'  <link name="{name}">'
    for place, shape in shapes:
        paint = f'<material name="{name}"><color rgba="{color}"/></material>'
        yield f"    <visual>{place}<geometry>{shape}</geometry>{paint}</visual>"
        yield f"    <collision>{place}<geometry>{shape}</geometry></collision>"
    yield "  </link>"


def joint(name: str, parent: str, child: str, place: str, axis: str = "", limits: tuple[float, float] = (0, 0)) -> str:
    """Write a joint; fixed without an axis. Limits in radians, speed and effort as an arm of this size has them."""
    ends = f'<parent link="{parent}"/><child link="{child}"/>{place}'
    if not axis:
        return f'  <joint name="{name}" type="fixed">{ends}</joint>'
    low, high = limits
    limit = f'<limit lower="{low:g}" upper="{high:g}" effort="150" velocity="3"/>'
    return f'  <joint name="{name}" type="revolute">{ends}<axis xyz="{axis}"/>{limit}</joint>'


def arm() -> Rows:
    """Six axes and a gripper: from the second axis to the tip it reaches 1.08 m."""
    here, along_y, along_x = origin(), "1.570796326794897 0 0", "0 1.570796326794897 0"
    return [
        *link("base", DARK, (here, mesh("base"))),
        *link("shoulder", ORANGE, (here, mesh("shoulder"))),
        *link("upper_arm", ORANGE, (here, mesh("upper_arm"))),
        *link("elbow", ORANGE, (here, mesh("elbow"))),
        *link("forearm", ORANGE, (here, mesh("forearm"))),
        *link(
            "wrist",
            DARK,
            (origin(rpy=along_y), rod(32, 64)),
            (origin(x=42, rpy=along_x), rod(28, 72)),
            (here, '<sphere radius="0.034"/>'),
        ),
        *link("flange", STEEL, (origin(x=p.FLANGE / 2, rpy=along_x), rod(31, p.FLANGE))),
        *link(
            "gripper",
            STEEL,
            (origin(x=25), cuboid(50, 110, 56)),
            *((origin(x=90, y=s * 42), cuboid(80, 12, 30)) for s in (-1, 1)),
            *((origin(x=122, y=s * 31), cuboid(16, 10, 30)) for s in (-1, 1)),
        ),
        *link("tip", STEEL),
        joint("joint_1", "base", "shoulder", origin(z=p.BASE), "0 0 1", (-2.9, 2.9)),
        joint("joint_2", "shoulder", "upper_arm", origin(z=p.SHOULDER), "0 1 0", (-1.9, 2.2)),
        joint("joint_3", "upper_arm", "elbow", origin(z=p.UPPER), "0 1 0", (-2.4, 2.6)),
        joint("joint_4", "elbow", "forearm", origin(x=p.ELBOW), "1 0 0", (-3.1, 3.1)),
        joint("joint_5", "forearm", "wrist", origin(x=p.FOREARM), "0 1 0", (-2.1, 2.1)),
        joint("joint_6", "wrist", "flange", origin(x=p.WRIST), "1 0 0", (-6.2, 6.2)),
        joint("tool_mount", "flange", "gripper", origin(x=p.FLANGE)),
        joint("tool_tip", "gripper", "tip", origin(x=130)),
    ]


def cell() -> Rows:
    """Set up what stands around: each link an object, z = 0 the top of the table."""
    legs = [(origin(x=300 + x, y=y, z=-400), rod(25, 700)) for x in (-450, 450) for y in (-640, 640)]
    width, depth, height, wall = 300, 360, 160, 12  # of the bin, inside
    sides = [(origin(y=s * (depth + wall) / 2, z=height / 2), cuboid(width, wall, height)) for s in (-1, 1)]
    sides += [(origin(x=s * (width + wall) / 2, z=height / 2), cuboid(wall, depth + 2 * wall, height)) for s in (-1, 1)]
    boards = [(origin(z=z), cuboid(420, 240, 18)) for z in (9, 320, 640)]
    boards += [(origin(x=s * 219, z=325), cuboid(18, 240, 650)) for s in (-1, 1)]
    boards.append((origin(y=124, z=325), cuboid(456, 8, 650)))
    objects = {
        "table": (WOOD, origin(), [(origin(x=300, z=-25), cuboid(1100, 1500, 50)), *legs]),
        "bin": (DARK, origin(x=420, y=-480), [(origin(z=6), cuboid(width, depth, wall)), *sides]),
        "shelf": (WOOD, origin(x=400, y=590), [*boards]),
        "pillar": (STEEL, origin(x=640, y=30), [(origin(z=450), rod(45, 900))]),
        "fixture": (DARK, origin(x=390, y=110), [(origin(), mesh("fixture"))]),
    }
    rows = ['  <link name="world"/>']
    for name, (color, place, shapes) in objects.items():
        rows += [*link(name, color, *shapes), joint(f"{name}_stands", "world", name, place)]
    return rows


def write_meshes(out: Path) -> None:
    """Write the bodies of each mesh side by side into one file."""
    (out / "meshes").mkdir(exist_ok=True)
    for name, make in p.MAKERS.items():
        whole = trimesh.util.concatenate([mesh_of(solid, 1.0, GRID) for solid in make()])
        whole.export(out / "meshes" / f"{name}.stl")


def write_urdf(path: Path, name: str, rows: Rows) -> None:
    """Write a URDF from its lines."""
    text = "\n".join(['<?xml version="1.0"?>', f'<robot name="{name}">', *rows, "</robot>", ""])
    path.write_text(text, encoding="utf-8", newline="\n")


def write_srdf(urdf: Path, path: Path) -> None:
    """Write the named poses, and the pairs of links that need no check as `allow_by_sampling` finds them."""
    names = gk.robot.Robot.from_urdf(urdf).joint_names
    rows = [
        '<?xml version="1.0"?>',
        '<robot name="arm">',
        '  <group name="all"><chain base_link="base" tip_link="tip"/></group>',
    ]
    for pose, q in POSES.items():
        values = "".join(f'<joint name="{name}" value="{value:g}"/>' for name, value in zip(names, q, strict=True))
        rows.append(f'  <group_state name="{pose}" group="all">{values}</group_state>')
    path.write_text("\n".join([*rows, "</robot>", ""]), encoding="utf-8", newline="\n")
    robot = gk.robot.Robot.from_urdf(urdf, path)
    robot.allowed = gk.robot.allow_by_sampling(robot, 10_000)
    robot.to_srdf(path)


def write_csv(path: Path, names: tuple[str, ...], rows: list[tuple[float, ...]]) -> None:
    """Write configurations in radians, a row each, below the names of the joints."""
    lines = [",".join(names), *(",".join(f"{value:g}" for value in row) for row in rows)]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")


def main() -> None:
    """Write all files."""
    parser = argparse.ArgumentParser(description="write the arm, its cell, two configurations and two paths")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "arm", help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(exist_ok=True)
    write_meshes(out)
    write_urdf(out / "arm.urdf", "arm", arm())
    write_urdf(out / "cell.urdf", "cell", cell())
    write_srdf(out / "arm.urdf", out / "arm.srdf")
    names = gk.robot.Robot.from_urdf(out / "arm.urdf").joint_names
    start, goal = POSES["start"], POSES["goal"]
    write_csv(out / "start.csv", names, [start])
    write_csv(out / "goal.csv", names, [goal])
    write_csv(out / "path.csv", names, [start, LIFTED, BACK, RAISED, IN_FRONT, goal])
    write_csv(out / "path_blocked.csv", names, [start, LIFTED, goal])


if __name__ == "__main__":
    main()
