"""A crate slides off a table and tips. At each step the contact patch shows whether the table still supports it."""

import argparse
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

import gjk3d as gk

TABLE, CRATE = gk.Box((0.9, 0.7, 0.04)), gk.Box((0.4, 0.3, 0.24))
TURN = Rotation.from_euler("z", 25, degrees=True)
START, STEP, TIPS = 0.16, 0.03, (3, 10, 20)  #: metres, degrees
PLUMB = "#CC79A7"


def standing(x):
    """Return the pose of the crate on the table, its centre at x."""
    return RigidTransform.from_components((x, 0, (TABLE.extents[2] + CRATE.extents[2]) / 2), TURN).as_matrix()


def tipped(pose, ends, degrees):
    """Return the pose rotated about the line through two points, so that the centre moves down."""
    along = ends[1] - ends[0]
    if np.cross(along, pose[:3, 3] - ends[0])[2] > 0:
        along = -along
    turn = Rotation.from_rotvec(np.radians(degrees) * along / np.linalg.norm(along))
    about = RigidTransform.from_components(ends[0] - turn.apply(ends[0]), turn)
    return about.as_matrix() @ pose


def area(points):
    """Return the area of a patch with its corners in order."""
    return 0.5 * np.linalg.norm(sum((np.cross(a, b) for a, b in pairwise([*points, points[0]])), np.zeros(3)))


def margin(points, center):
    """Return the distance of the point under the centre from the nearest side, negative outside, and that side."""
    sides = [(a[:2], b[:2] - a[:2]) for a, b in pairwise([*points, points[0]])]
    middle = points[:, :2].mean(axis=0)

    def height(side, p):
        a, along = side
        return (along[0] * (p[1] - a[1]) - along[1] * (p[0] - a[0])) / np.linalg.norm(along)

    inside = [np.copysign(1, height(side, middle)) * height(side, center[:2]) for side in sides]
    nearest = int(np.argmin(inside))
    return inside[nearest], points[[nearest, (nearest + 1) % len(points)]]


def slide():
    """Move the crate until it tips, then tip it; return the poses, contacts and captions."""
    story = []
    x = START
    print("x of the crate's centre, contact points, area of their patch, distance of the centre from its border:")
    print("   x [m]  points  patch [cm²]  to border [mm]")
    while True:
        pose = standing(x)
        touch = gk.contact(TABLE, CRATE, None, pose, max_points=None)
        support, side = margin(touch.points, pose[:3, 3])
        print(f"  {x:6.3f}  {touch.count:6d}  {1e4 * area(touch.points):11.2f}  {1e3 * support:12.2f}")
        does, where = ("stands", "inside") if support >= 0 else ("tips", "outside")
        caption = f"It {does}: its centre is {1e3 * abs(support):.0f} mm {where} the {touch.count} points"
        story.append((pose, touch, caption))
        if support < 0:
            break
        x += STEP
    print("it tips over the border that its centre has passed")
    for degrees in TIPS:
        turned = tipped(pose, side, degrees)
        touch = gk.contact(TABLE, CRATE, None, turned)
        gaps = np.abs(touch.gaps).max()
        print(f"  {degrees:2d}°: {touch.status.name.lower()} at {touch.count} points, gaps within {gaps:.0e} m")
        story.append((turned, touch, f"Tipped by {degrees}°: on {touch.count} points"))
    return story


def draw(story, file):
    """Draw four moments, each with the patch under the crate and a plumb line from its centre."""
    before = [k for k, (_, touch, _) in enumerate(story) if touch.count > 2]
    moments = [story[k] for k in (0, before[len(before) // 2], before[-1], len(story) - 1)]
    plotter = gk.viz.plotter((2, 2), (1200, 900), off_screen=True)
    for k, (pose, touch, text) in enumerate(moments):
        plotter.subplot(k // 2, k % 2)
        center = pose[:3, 3]
        foot = np.array([*center[:2], TABLE.extents[2] / 2])
        plumb = [gk.Segment(center, foot), gk.Point(center)]
        view = (0.78, -0.6, 0.45)
        gk.viz.plot(touch, plotter, title=text, names=("table", "crate"), view=view, opacity=(0.35, 0.12))
        gk.viz.plot([plumb], plotter, colors=PLUMB, names="plumb line from its centre", view=view)
    plotter.screenshot(file)
    plotter.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    story = slide()
    out.mkdir(parents=True, exist_ok=True)
    draw(story, out / "box_off_table.png")
    print(f"picture: {out / 'box_off_table.png'}", file=sys.stderr)
