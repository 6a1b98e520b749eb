"""Check an arm in its cell: the closest pair, and paths that are proven free between the samples too."""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

DATA = Path(__file__).parents[1] / "data" / "arm"


def load(geometry):
    """Return a checker of the arm among the objects of its cell; the geometry is that of all meshes."""
    arm = gk.robot.Robot.from_urdf(DATA / "arm.urdf", DATA / "arm.srdf", geometry=geometry)
    cell = gk.robot.load_cell(DATA / "cell.urdf", geometry=geometry)
    return gk.robot.Checker(arm, cell, touching=[("base", "table")])


def main():
    """Check two paths, then draw the one that collides."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    arguments = parser.parse_args()
    checker = load("bodies")  # a convex hull for each connected body of a mesh
    print(f"{checker.robot.dof} joints, {len(checker.objects)} obstacles")
    nearest = checker.clearance(checker.robot.state("start"))
    print(f"start: {nearest.distance:.4f} m between {' and '.join(nearest.pair)}")
    paths = {name: np.loadtxt(DATA / name, delimiter=",", skiprows=1) for name in ("path.csv", "path_blocked.csv")}
    for name, path in paths.items():
        check = checker.path_free(path, certify=True)
        where = ""
        if not check:
            safe = np.floor(1e6 * check.safe) / 1e6  # rounded down, so that it stays proven
            where = f" on edge {check.edge + 1} of {len(path) - 1}, free up to {safe:.6f} of this edge: "
            where += " hits ".join(check.pair)
        print(f"{name}: {check.status}{where}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    picture = arguments.out / "robot_cell.png"
    gk.viz.motion(
        load("mesh"),  # the picture shows the meshes instead of their hulls
        paths["path_blocked.csv"],
        picture,
        resolution=0.01,
        frames=40,
        title="The blocked path, up to its collision",
    )
    print(f"picture: {picture}", file=sys.stderr)


if __name__ == "__main__":
    main()
