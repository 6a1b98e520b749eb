"""Define a shape in ten lines: a superquadric by its support mapping, for every query."""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

RADII, POWER = np.array([1.0, 0.7, 0.5]), 6.0  #: |x/a|^p + |y/b|^p + |z/c|^p <= 1
DUAL = POWER / (POWER - 1.0)


def farthest(direction):
    """Return the farthest point of the superquadric along a direction, by Hoelder's inequality."""
    d = RADII * direction
    weights = np.abs(d) ** (DUAL - 1.0)
    return RADII * np.sign(d) * weights / np.sum(np.abs(d) ** DUAL) ** (1.0 / POWER)


PILLOW = gk.Support(farthest, center=(0.0, 0.0, 0.0), radius=float(np.linalg.norm(RADII)))
CYLINDER = gk.Cylinder(0.35, 1.4)


def draw(results, path):
    """Draw both shapes, apart and overlapping, with their witness points."""
    plotter = gk.viz.plotter((1, 2), (1200, 450), off_screen=True)
    for column, result in enumerate(results):
        plotter.subplot(0, column)
        gk.viz.plot(result, plotter, names=("superquadric, of its own mapping", "cylinder"))
    plotter.screenshot(path)
    plotter.close()


def main():
    """Compute distances of it, apart and overlapping, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    arguments = parser.parse_args()
    print(f"compiled: {PILLOW.compiled}; volume {PILLOW.volume:.4f}")
    results = []
    for place, x in (("next to the cylinder", 1.6), ("with the cylinder in it", 1.1)):
        pose = np.eye(4)
        pose[:3, 3] = x, 0.3, 0.2
        results.append(gk.signed_distance(PILLOW, CYLINDER, None, pose))
        print(f"{place}: {results[-1]}")
    grown = gk.distance(PILLOW.scaled((1, 1, 2)).inflated(0.1), CYLINDER, None, results[0].pose_b)
    print(f"scaled and inflated, next to the cylinder: {grown}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    draw(results, arguments.out / "superquadric.png")
    print(f"picture: {arguments.out / 'superquadric.png'}", file=sys.stderr)


if __name__ == "__main__":
    main()
