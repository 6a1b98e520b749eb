"""Prove that a motion of a robot is free, and find a contact that samples miss.

The arm of data/arm moves along its path. A wire without thickness crosses the path of the gripper. Samples of the path
miss the wire. The proof finds it, and returns the two parameters between which the first contact occurs.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

DATA = Path(__file__).parents[1] / "data" / "arm"
WIRE = gk.Segment((0, 0, -0.2), (0, 0, 0.2))  #: without thickness, in metres
PLACE = np.eye(4)
PLACE[:3, 3] = 0.36, 0.41, 0.75


def cell():
    """Return the shapes and poses of the obstacles around the arm, by name."""
    robot = gk.robot.Robot.from_urdf(DATA / "cell.urdf")
    poses = robot.link_poses([])
    return {
        f"{robot.links[body.link]} {k}": (body.shape, poses[body.link] @ body.pose)
        for k, body in enumerate(robot.bodies)
    }


def check(what, checker, path, **options):
    """Check a path; print and return the result."""
    answer = checker.path_free(path, **options)
    if answer:
        print(f"{what}: free")
    else:
        first, second = answer.pair
        edge = f"edge {answer.edge + 1} of {len(path) - 1}"
        print(f"{what}: {first} hits {second} on {edge}, at {answer.safe:.7f} to {answer.hit:.7f} of this edge")
    return answer


def picture(checker, path, file):
    """Draw the arm at its contact with the wire, and earlier positions as ghosts."""
    gk.viz.motion(checker, path, file, certify=True, title="Samples step over the wire; the proof finds it")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    robot = gk.robot.Robot.from_urdf(DATA / "arm.urdf", DATA / "arm.srdf")
    path = np.loadtxt(DATA / "path.csv", delimiter=",", skiprows=1)
    around = cell()
    touching = [("base", name) for name in around if name.startswith("table")]
    checker = gk.robot.Checker(robot, around, touching=touching)
    check("path, in steps of 0.05 rad", checker, path)
    check("path, proven", checker, path, certify=True)

    checker.add("wire", WIRE, PLACE)
    for step in (0.05, 0.02):
        check(f"with the wire, in steps of {step} rad", checker, path, resolution=step)
    contact = check("with the wire, proven", checker, path, certify=True)
    print(f"at the end of this interval they overlap by {-checker.clearance(contact.configuration).distance:.1e} m")

    out.mkdir(parents=True, exist_ok=True)
    picture(checker, path, out / "certified_motion.png")
    print(f"picture: {out / 'certified_motion.png'}", file=sys.stderr)
