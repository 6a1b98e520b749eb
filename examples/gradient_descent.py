"""Separate a heap of overlapping parts by gradient descent, until all keep a clearance.

The objective is half the sum of max(0, AIM - signed distance)^2 over all pairs. The signed distance has a gradient in
overlap too, except at a tie, so descent separates the parts. The bounds prove that all are free at the end.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import gjk3d as gk

CLEARANCE = 0.05
AIM = 1.02 * CLEARANCE  #: a little more, since descent approaches its aim without reaching it
RATE = 0.25  #: share of the separating translation that each part moves in a step
STEPS = 200
DEEP = 0.25  #: depth of an overlap that the picture shows darker
PARTS = [
    gk.Box((1.6, 0.7, 0.5)),
    gk.Capsule(0.3, 1.6),
    gk.Cylinder(0.45, 0.8),
    gk.Cone(0.6, 1.2),
    gk.Ellipsoid((0.9, 0.5, 0.4)),
    gk.Box((0.5, 1.2, 0.4)).inflated(0.1),
    gk.Tetrahedron([(0.9, 0, -0.4), (-0.6, 0.8, -0.4), (-0.6, -0.8, -0.4), (0, 0, 0.9)]),
    gk.Sphere(0.5),
    gk.Cylinder(0.2, 1.8),
]
INDEX = np.argwhere(np.triu(np.ones((len(PARTS), len(PARTS)), dtype=bool), 1))


def heap():
    """Return poses with all parts in one small region."""
    rng = np.random.default_rng(4)
    poses = np.tile(np.eye(4), (len(PARTS), 1, 1))
    poses[:, :3, :3] = Rotation.random(len(PARTS), rng=rng).as_matrix()
    poses[:, :3, 3] = rng.normal(size=(len(PARTS), 3)) * 0.45
    return poses


def descend(pairs, poses):
    """Return the poses after each step, and the results of all pairs at the last one."""
    path = [poses]
    # the radius of each part converts radians of rotation to metres
    sizes = np.array([gk.bounding_sphere(part).radius for part in PARTS])
    for step in range(STEPS + 1):
        result = pairs.signed_distance(INDEX, poses)
        finished = result.lower.min() >= CLEARANCE
        if step % 5 == 0 or finished:
            print(f"{step:4} {(result.distance < 0).sum():9} {result.distance.min():18.6f}")
        if finished:
            break
        short = np.maximum(0.0, AIM - result.distance)
        slope = gk.gradient(result)
        force = np.zeros((len(PARTS), 6))  # minus the gradient of the sum
        np.add.at(force, INDEX[:, 0], short[:, None] * slope.a)
        np.add.at(force, INDEX[:, 1], short[:, None] * slope.b)
        poses = poses.copy()
        poses[:, :3, 3] += RATE * force[:, :3]
        turn = RATE * force[:, 3:] / sizes[:, None] ** 2
        poses[:, :3, :3] = Rotation.from_rotvec(turn).as_matrix() @ poses[:, :3, :3]
        path.append(poses)
    return path, result


def picture(path, pairs, file):
    """Draw the heap, a step in between, and the end, with overlapping parts in orange, the deep ones darker."""
    plotter = gk.viz.plotter((1, 3), (1200, 440), off_screen=True)
    ball = gk.bounding_sphere(gk.ConvexHull(path[-1][:, :3, 3]))
    for column, step in enumerate([0, max(1, len(path) // 6), len(path) - 1]):
        plotter.subplot(0, column)
        depth = -pairs.signed_distance(INDEX, path[step]).distance
        overlap, deep = INDEX[depth > 0], INDEX[depth > DEEP]
        groups = [[], [], []]
        for k, placed in enumerate(zip(PARTS, path[step], strict=True)):
            groups[0 if k in deep else 1 if k in overlap else 2].append(placed)
        shown = [k for k in range(3) if groups[k]]
        gk.viz.plot(
            [groups[k] for k in shown],
            plotter,
            colors=[("#D55E00", "#F0C27A", "#9DB4C8")[k] for k in shown],
            names=[(f"overlap deeper than {DEEP}", "overlap", "free")[k] for k in shown],
            title=f"step {step}: {len(overlap)} of {len(INDEX)} pairs overlap",
            view=(6.0, -7.0, 3.5),
            focus=(ball.center, ball.radius + 0.6),
        )
    plotter.screenshot(file)
    plotter.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    pairs = gk.Pairs(PARTS)
    start = heap()
    print(f"{len(PARTS)} parts, {len(INDEX)} pairs, with a gap of {CLEARANCE} m as the aim")
    print("step  overlaps   least signed distance [m]")
    path, result = descend(pairs, start)
    moved = np.linalg.norm(path[-1][:, :3, 3] - start[:, :3, 3], axis=1)
    print(f"after {len(path) - 1} steps: every gap is proven to be at least {result.lower.min():.6f} m")
    print(f"the parts moved by {moved.mean():.3f} m on average, and by {moved.max():.3f} m at most")
    out.mkdir(parents=True, exist_ok=True)
    picture(path, pairs, out / "gradient_descent.png")
    print(f"picture: {out / 'gradient_descent.png'}", file=sys.stderr)
