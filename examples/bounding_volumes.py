"""Compare the cost and the benefit of bounding spheres, axis-aligned boxes and oriented boxes for many airplanes."""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from pyvista import examples
from scipy.spatial.transform import Rotation

import gjk3d as gk

COUNT = 400  #: number of airplanes; all pairs are checked
ROOM = 9.0  #: edge of the cube of their centres, in lengths of an airplane
VOLUMES = (("ball", gk.bounding_sphere), ("AABB", gk.aabb), ("OBB", gk.obb))
COLORS = ("#CC79A7", "#56B4E9", "#009E73")  # the airplane is orange


def posed(count, length):
    """Return random poses in the room."""
    rng = np.random.default_rng(8)
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.random(count, rng=rng).as_matrix()
    poses[:, :3, 3] = rng.uniform(0, ROOM * length, (count, 3))
    return poses


def timed(call, times=3):
    """Return the best of several times in seconds, and the result."""
    best = np.inf
    for _ in range(times):
        start = time.perf_counter()
        answer = call()
        best = min(best, time.perf_counter() - start)
    return best, answer


def compare(hull, poses):
    """Print a row for each kind of volume, after the result of the hulls themselves."""
    n = len(poses)
    above = np.triu(np.ones((n, n), dtype=bool), 1)
    index = np.argwhere(above)
    pairs = gk.Pairs([hull] * n)
    seconds, hits = timed(lambda: pairs.collide(index, poses), 1)
    pair_time = 1e6 * seconds / len(index)
    print(f"{n} poses, {len(index)} pairs of hulls: {hits.sum()} collide, {pair_time:.2f} us for each pair by GJK")
    print("        volume / hull   fit     place     test     pairs left   of these apart    with GJK")
    for name, fit in VOLUMES:
        fitting, volume = timed(lambda fit=fit: fit(hull))
        # an axis-aligned box is fitted to each pose, the others are moved with the airplane
        placing, stack = timed(
            lambda fit=fit, volume=volume: fit(hull, poses) if fit is gk.aabb else volume.placed(poses)
        )
        testing, left = timed(lambda stack=stack: stack.overlaps(stack, all_pairs=True))
        left &= above
        missed = hits[~left[above]].sum()  # a bounding volume never misses a pair
        assert missed == 0
        remaining = np.argwhere(left)
        exact, answers = timed(lambda remaining=remaining: pairs.collide(remaining, poses), 1)
        assert answers.sum() == hits.sum()
        together = placing + testing / 2 + exact
        print(
            f"{name:6}  {np.mean(stack.volume) / hull.volume:10.2f}  {1e3 * fitting:7.2f} ms"
            f" {1e6 * placing / n:6.2f} us {1e9 * testing / n**2:6.0f} ns {len(remaining):7}"
            f" {1 - hits.sum() / len(remaining):14.1%} {1e3 * together:14.1f} ms"
        )


def picture(mesh, hull, pose, path):
    """Draw the airplane at a pose in each kind of volume."""
    plotter = gk.viz.plotter((1, 3), (1200, 440), off_screen=True)
    for column, (name, fit) in enumerate(VOLUMES):
        volume = fit(hull, pose)
        plotter.subplot(0, column)
        title = f"{name}: {volume.volume / hull.volume:.1f} times the hull"
        gk.viz.plot(volume, plotter, of=mesh, pose=pose, colors=COLORS[column], title=title, view=(4.2, -4.8, 1.6))
    plotter.screenshot(path)
    plotter.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    mesh = gk.load(examples.planefile)
    hull = mesh.hull()
    print(f"airplane: {len(mesh.faces)} triangles, and {len(hull.vertices)} vertices of its hull")
    length = float(gk.obb(hull).extents.max())
    gk.obb(hull).overlaps(gk.bounding_sphere(hull))  # compile first, once on a machine
    poses = posed(COUNT, length)
    compare(hull, poses)
    out.mkdir(parents=True, exist_ok=True)
    turn = np.eye(4)
    turn[:3, :3] = Rotation.from_euler("zyx", [65, 25, 25], degrees=True).as_matrix()
    picture(mesh, hull, turn, out / "bounding_volumes.png")
    print(f"picture: {out / 'bounding_volumes.png'}", file=sys.stderr)
