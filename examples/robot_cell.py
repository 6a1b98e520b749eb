"""Check an arm in its cell: the closest pair, and paths that are proven free between the samples too."""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

DATA = Path(__file__).parents[1] / "data" / "arm"


def cell(geometry):
    """Return the objects of the cell by name; each link of its URDF is an object of one or several shapes."""
    room = gk.robot.Robot.from_urdf(DATA / "cell.urdf", geometry=geometry)
    poses = room.link_poses([])
    objects = {}
    for number, name in enumerate(room.links):
        parts = [(body.shape, body.pose) for body in room.bodies if body.link == number]
        if parts:
            objects[name] = (gk.Compound(parts), poses[number])
    return objects


def named_apart(objects):
    """Return each convex part under its own name, since a checker is fastest with convex shapes."""
    return {
        f"{name} {k}": (shape, pose @ at)
        for name, (compound, pose) in objects.items()
        for k, (shape, at) in enumerate(compound.parts)
    }


def main():
    """Check two paths, then draw the one that collides."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    arguments = parser.parse_args()
    parts = named_apart(cell("bodies"))
    arm = gk.robot.Robot.from_urdf(DATA / "arm.urdf", DATA / "arm.srdf")
    checker = gk.robot.Checker(arm, parts, touching=[("base", name) for name in parts if name.startswith("table")])
    print(checker)
    nearest = checker.clearance(arm.state("start"))
    print(f"start: {nearest.distance:.4f} m between {' and '.join(nearest.pair)}")
    paths = {name: np.loadtxt(DATA / name, delimiter=",", skiprows=1) for name in ("path.csv", "path_blocked.csv")}
    for name, path in paths.items():
        check = checker.path_free(path, certify=True)
        where = ""
        if not check:
            where = f" on edge {check.edge + 1} of {len(path) - 1}, free up to {check.safe:.6f} of it: "
            where += " with ".join(check.pair)
        print(f"{name}: {check.status}{where}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    # the picture shows the meshes instead of their hulls
    drawn = gk.robot.Robot.from_urdf(DATA / "arm.urdf", DATA / "arm.srdf", geometry="mesh")
    shown = gk.robot.Checker(drawn, cell("mesh"), touching=[("base", "table")])
    picture = arguments.out / "robot_cell.png"
    gk.viz.motion(
        shown,
        paths["path_blocked.csv"],
        picture,
        resolution=0.01,
        frames=40,
        title="The blocked path, up to its collision",
    )
    print(f"picture: {picture}", file=sys.stderr)


if __name__ == "__main__":
    main()
