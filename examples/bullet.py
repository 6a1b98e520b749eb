"""Find the time at which a spinning dart hits a plate that is thinner than a simulation step, and prove it."""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

DART = gk.ConvexUnion(gk.Cylinder(0.02, 0.1), gk.Point((0.0, 0.0, 0.16)))
PLATE = gk.Box((0.004, 0.6, 0.5))
#: the tip points along x; the dart flies 3 m in a second, and yaws and rolls
START = np.array([[0.0, 0.0, 1.0, -1.5], [0.0, 1.0, 0.0, 0.1], [-1.0, 0.0, 0.0, -0.05], [0.0, 0.0, 0.0, 1.0]])
FLIGHT = gk.Motion(START, linear=(3.0, -0.15, 0.1), angular=(9.0, 0.4, 1.2))
SAMPLES = 6


def sampled(steps):
    """Return whether any of several evenly spaced poses collides."""
    return bool(gk.collide(DART, PLATE, FLIGHT.at(np.linspace(0.0, 1.0, steps)), None).any())


def draw(impact, path):
    """Draw the plate, the dart where it hits, and samples of the flight, all of which are free."""
    view = (-0.5, -0.8, 0.3)
    plotter = gk.viz.plot(
        impact,
        off_screen=True,
        names=("dart", "plate, 4 mm thin"),
        title="A dart at 3 m/s: samples jump over the plate, a proof does not",
        opacity=(0.85, 0.4),
        ghosts=1,
        view=view,
    )
    samples = [(DART, pose) for pose in FLIGHT.at(np.linspace(0.0, 1.0, SAMPLES))]
    gk.viz.plot([samples], plotter, colors="#CC79A7", names=f"{SAMPLES} samples, all free", path=path, view=view)
    plotter.close()


def main():
    """Check samples, then compute the time of impact, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    arguments = parser.parse_args()
    for steps in (SAMPLES, 12, 1000):
        print(f"{steps} sampled poses: {'hit' if sampled(steps) else 'free'}")
    impact = gk.time_of_impact(DART, PLATE, FLIGHT, None)
    print(f"time in s: {impact}")
    print(f"tip at {np.round(impact.point_a, 6).tolist()} m after {impact.iterations} proven steps")
    safe = gk.time_of_impact(DART, PLATE, gk.Motion(START, linear=(1.0, 0.0, 0.0), angular=(9.0, 0.4, 1.2)), None)
    print(f"a third of the speed: {safe}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    draw(impact, arguments.out / "bullet.png")
    print(f"picture: {arguments.out / 'bullet.png'}", file=sys.stderr)


if __name__ == "__main__":
    main()
