"""An arm in its cell: is it free, what is closest, and is a whole path free, proven between the samples too."""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

DATA = Path(__file__).parents[1] / "data" / "arm"


def cell(geometry):
    """Read the objects of the cell: each link of its URDF is one, of one shape or several."""
    room = gk.robot.Robot.from_urdf(DATA / "cell.urdf", geometry=geometry)
    poses = room.link_poses([])
    found = {}
    for number, name in enumerate(room.links):
        parts = [(body.shape, body.pose) for body in room.bodies if body.link == number]
        if parts:
            found[name] = (gk.Compound(parts), poses[number])
    return found


def named_apart(objects):
    """Give each convex part a name of its own: a checker is fastest, and certifies motions, with such."""
    return {
        f"{name} {k}": (shape, pose @ at)
        for name, (compound, pose) in objects.items()
        for k, (shape, at) in enumerate(compound.parts)
    }


def main():
    """Ask about two paths, then draw the one that hits."""
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
        found = checker.path_free(path, certify=True)
        where = (
            "" if found else f" on edge {found.edge}, free up to {found.safe:.6f} of it: {' with '.join(found.pair)}"
        )
        print(f"{name}: {found.status}{where}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    # the same with the real surfaces, for the picture
    drawn = gk.robot.Robot.from_urdf(DATA / "arm.urdf", DATA / "arm.srdf", geometry="mesh")
    shown = gk.robot.Checker(drawn, cell("mesh"), touching=[("base", "table")])
    picture = arguments.out / "robot_cell.png"
    gk.viz.motion(shown, paths["path_blocked.csv"], picture, resolution=0.01, frames=40, title="The shorter way")
    print(f"picture: {picture}", file=sys.stderr)


if __name__ == "__main__":
    main()
