"""A shape of one's own in ten lines: a superquadric by its support mapping, in every query like any other."""

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
OTHER = gk.Cylinder(0.35, 1.4)
ORANGE, GREEN, INK = "#E69F00", "#009E73", "#202124"


def draw(results, path):
    """Save both shapes, apart and overlapping, with their witness points."""
    import pyvista as pv

    plotter = pv.Plotter(off_screen=True, window_size=[2000, 900], shape=(1, 2), border=False, lighting="light kit")
    for k, result in enumerate(results):
        plotter.subplot(0, k)
        plotter.set_background("white")
        for shape, pose, color in ((PILLOW, np.eye(4), ORANGE), (OTHER, result.pose_b, GREEN)):
            mesh = gk.viz.to_pyvista(shape).transform(pose, inplace=False)
            plotter.add_mesh(mesh, color=color, opacity=0.55, smooth_shading=True, split_sharp_edges=True)
        plotter.add_mesh(pv.Line(result.point_a, result.point_b), color=INK, line_width=8)
        for point in (result.point_a, result.point_b):
            plotter.add_mesh(pv.Sphere(radius=0.03, center=point), color=INK)
        plotter.add_text(f"{result.status.name.lower()}: {result.distance:.6f}", font_size=18, color=INK)
        plotter.camera_position = [(2.7, -5.4, 2.5), (0.55, 0.0, 0.0), (0.0, 0.0, 1.0)]
    plotter.screenshot(path)
    plotter.close()


def main():
    """Ask about it apart and overlapping; draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    arguments = parser.parse_args()
    print(f"compiled: {PILLOW.compiled}; volume {PILLOW.volume:.4f}")
    results = []
    for x in (1.6, 1.1):
        pose = np.eye(4)
        pose[:3, 3] = x, 0.3, 0.2
        results.append(gk.signed_distance(PILLOW, OTHER, None, pose))
        print(results[-1])
    print(f"grown and stretched: {gk.distance(PILLOW.scaled((1, 1, 2)).inflated(0.1), OTHER, None, results[0].pose_b)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    draw(results, arguments.out / "superquadric.png")
    print(f"picture: {arguments.out / 'superquadric.png'}", file=sys.stderr)


if __name__ == "__main__":
    main()
