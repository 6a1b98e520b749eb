"""Drag a shape with the mouse, and move a robot by sliders. The results follow each move.

With --window, two windows open one after the other. Without it, the same moves are made by the program, and drawn.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import gjk3d as gk

ARM = Path(__file__).parents[1] / "data" / "arm"


def at(x, y, z):
    """Return a pose without rotation."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def checker():
    """Return the arm of data/ on a floor, with a ball as obstacle."""
    arm = gk.robot.Robot.from_urdf(ARM / "arm.urdf", ARM / "arm.srdf")
    return gk.robot.Checker(
        arm, {"floor": gk.Halfspace((0, 0, 1)), "ball": (gk.Sphere(0.2), at(0.7, 0, 0.6))}, touching=[("base", "floor")]
    )


def drag(off_screen):
    """Move a cylinder into a box from above."""
    dragged = gk.viz.drag(gk.Box((1.2, 1, 1)), gk.Cylinder(0.4, 0.8), None, at(0.4, -0.3, 1.3), off_screen=off_screen)
    if off_screen:
        for height in (1.1, 0.95, 0.8):
            print(f"cylinder at height {height} m: {dragged.move(at(0.4, -0.3, height))}")
        print(f"{dragged.contact.count} contact points")
    return dragged


def slide(off_screen):
    """Turn the shoulder of the arm until it is free of the ball."""
    slid = gk.viz.sliders(checker(), [0, 0.2, 0, 0, 0, 0], off_screen=off_screen)
    if off_screen:
        start = time.perf_counter()
        angles = np.linspace(0.2, 0.8, 13)
        for angle in angles:
            state = slid.move([0, angle, 0, 0, 0, 0])
            links = " and ".join(a if b == "ball" else b for a, b in state.pairs)
            hit = f"the ball hits {links}" if links else "free"
            print(f"joint_2 at {angle:.2f} rad: {hit}, signed distance {state.distance:+.4f} m")
        spent = (time.perf_counter() - start) / len(angles)
        print(f"{1000 * spent:.0f} ms a move, with all that is drawn", file=sys.stderr)
    return slid


def main():
    """Drag, slide, and write both pictures as one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    parser.add_argument("--window", action="store_true", help="open windows for the mouse")
    arguments = parser.parse_args()
    images = []
    for window in (drag(None if arguments.window else True), slide(None if arguments.window else True)):
        if not arguments.window:
            window.plotter.render()
            images.append(window.plotter.screenshot(None, return_img=True))
        window.plotter.close()
    if images:
        from PIL import Image

        arguments.out.mkdir(parents=True, exist_ok=True)
        small = [
            Image.fromarray(image).resize((1000, 1000 * image.shape[0] // image.shape[1]), Image.Resampling.LANCZOS)
            for image in images
        ]
        Image.fromarray(np.concatenate(small)).save(arguments.out / "interactive.png")
        print(f"picture: {arguments.out / 'interactive.png'}", file=sys.stderr)


if __name__ == "__main__":
    main()
