"""Prove that a motion of a robot is free, and find the contact that samples step over.

The arm of data/arm goes along its path. A rod as thin as a wire hangs where the gripper passes. Samples of the path
miss it; the proof does not, and says between which two parameters the first contact lies.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

DATA = Path(__file__).parents[1] / "data" / "arm"
GREY, BLUE, ORANGE, RED = "#8C8C8C", "#56B4E9", "#E69F00", "#D55E00"
ROD = gk.Cylinder(0.0005, 0.4)  #: half a millimetre, in metres
PLACE = np.eye(4)
PLACE[:3, 3] = 0.36, 0.41, 0.75


def cell():
    """Return name, shape and pose of what stands round the arm."""
    robot = gk.robot.Robot.from_urdf(DATA / "cell.urdf")
    poses = robot.link_poses([])
    return {
        f"{robot.links[body.link]} {k}": (body.shape, poses[body.link] @ body.pose)
        for k, body in enumerate(robot.bodies)
    }


def say(what, checker, path, **how):
    """Print and return what is known of a path."""
    answer = checker.path_free(path, **how)
    if answer:
        print(f"{what}: free")
    else:
        first, second = answer.pair
        print(f"{what}: {first} meets {second} on motion {answer.edge}, at {answer.safe:.6f} to {answer.hit:.6f} of it")
    return answer


def picture(robot, around, path, hit, file):
    """Draw the arm where it starts, where it meets the rod, and where it would end."""
    import pyvista as pv

    plotter = pv.Plotter(off_screen=True, window_size=(1200, 900))
    plotter.set_background("white")
    for name, (shape, pose) in around.items():
        color, opacity = (RED, 1.0) if name == "rod" else (GREY, 0.25)
        shown = gk.Cylinder(0.004, 0.4) if name == "rod" else shape  # so that it is seen
        plotter.add_mesh(gk.viz.to_pyvista(shown).transform(pose, inplace=False), color=color, opacity=opacity)
    for q, color, opacity in ((path[0], BLUE, 0.25), (path[-1], BLUE, 0.25), (hit, ORANGE, 1.0)):
        poses = robot.link_poses(q)
        for body in robot.bodies:
            mesh = gk.viz.to_pyvista(body.shape).transform(poses[body.link] @ body.pose, inplace=False)
            plotter.add_mesh(mesh, color=color, opacity=opacity, smooth_shading=True, split_sharp_edges=True)
    plotter.camera_position = [(2.3, -1.7, 1.5), (0.3, 0.0, 0.35), (0.0, 0.0, 1.0)]
    plotter.screenshot(file)
    plotter.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    robot = gk.robot.Robot.from_urdf(DATA / "arm.urdf", DATA / "arm.srdf")
    path = np.loadtxt(DATA / "path.csv", delimiter=",", skiprows=1)
    around = cell()
    touching = [("base", name) for name in around if name.startswith("table")]
    checker = gk.robot.Checker(robot, around, touching=touching)
    say("path, in steps of 0.05 rad", checker, path)
    say("path, proven", checker, path, certify=True)

    around["rod"] = (ROD, PLACE)
    checker.add("rod", ROD, PLACE)
    for step in (0.05, 0.02):
        say(f"with the rod, in steps of {step} rad", checker, path, resolution=step)
    met = say("with the rod, proven", checker, path, certify=True)
    print(f"at the end of that bracket they overlap by {-checker.clearance(met.configuration).distance:.1e} m")

    out.mkdir(parents=True, exist_ok=True)
    picture(robot, around, path, met.configuration, out / "certified_motion.png")
    print(f"picture: {out / 'certified_motion.png'}", file=sys.stderr)
