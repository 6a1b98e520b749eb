"""Draw many values in space: a depth image, a slice of signed distances, a swept volume and self-intersections."""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

DATA = Path(__file__).parents[1] / "data"
ROWS, COLUMNS = 90, 120  #: pixels of the depth image
EYE = np.array([-60.0, -70.0, 60.0])


def camera_rays(target):
    """Return the directions of a camera that looks from EYE at a point, row by row."""
    ahead = (target - EYE) / np.linalg.norm(target - EYE)
    right = np.cross(ahead, (0, 0, 1))
    right /= np.linalg.norm(right)
    down = np.cross(ahead, right)
    u, v = np.meshgrid(np.linspace(-0.3, 0.3, COLUMNS), np.linspace(-0.225, 0.225, ROWS))
    return ahead + u.reshape(-1, 1) * right + v.reshape(-1, 1) * down


def crossed_bars():
    """Return two bars as one mesh, whose faces intersect."""
    surfaces = [gk.Box(size).surface() for size in ((4.0, 1.0, 1.0), (1.0, 4.0, 1.2))]
    return gk.Mesh(np.vstack([s.vertices for s in surfaces]), np.vstack([surfaces[0].faces, surfaces[1].faces + 8]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    bracket = gk.load(DATA / "bracket.stl")
    hits = gk.raycast(bracket, EYE, camera_rays(bracket.bounds.mean(axis=0)))
    print(f"depth image of {ROWS} x {COLUMNS} rays: {hits.hit.sum()} hit, the nearest at {hits.distance.min():.2f} mm")
    points = np.linspace(*bracket.bounds, 5)
    print("signed distances along the diagonal, in mm:", bracket.signed_distances(points).distance.round(2).tolist())
    arm = gk.robot.Checker(gk.robot.Robot.from_urdf(DATA / "arm" / "arm.urdf", DATA / "arm" / "arm.srdf"))
    start = arm.robot.state("home")
    path = gk.robot.Trajectory([start, start + (1.2, 0.5, 0.0, 0.0, 0.0, 0.0)], times=[0.0, 1.0])
    swept = arm.swept(path, excess=0.05, links=["forearm", "wrist", "gripper"])
    print(f"{len(swept.pieces)} convex pieces contain the links, with an excess of at most {swept.excess:.4f} m")
    bars = crossed_bars()
    print(f"{len(bars.self_intersections())} pairs of faces of the crossed bars intersect")

    plotter = gk.viz.plotter((2, 2), (1200, 900), off_screen=True)
    gk.viz.plot(hits, plotter, of=bracket, image=(ROWS, COLUMNS), view=(-0.2, -1.0, 0.5))
    plotter.subplot(0, 1)
    gk.viz.plot(bracket, plotter, slice="xy", title="A slice through signed distances")
    plotter.subplot(1, 0)
    gk.viz.plot(swept, plotter, colors=("#E69F00", "#009E73", "#CC79A7"), view=(0.6, -0.6, 0.4))
    gk.viz.plot(arm.robot, plotter, q=start)
    plotter.subplot(1, 1)
    gk.viz.plot(bars, plotter, self_intersections=True, names="Two crossed bars")
    out.mkdir(parents=True, exist_ok=True)
    plotter.screenshot(out / "fields.png")
    plotter.close()
    print(f"picture: {out / 'fields.png'}", file=sys.stderr)
