"""Plan the path of a plank through two windows, one wide and one tall, by RRT-Connect in SE(3) with stacks of poses.

Samples alone prove nothing about the motion between them. Here no point of the body moves farther than RESOLUTION from
one sample to the next. Half of RESOLUTION is added to the clearance, so the clearance also holds between the samples.
"""

import argparse
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

import gjk3d as gk

CLEARANCE = 0.005  #: metres to every obstacle
RESOLUTION = 0.03  #: metres that a point of the body may move from one sample of an edge to the next
STEP = 0.6  #: metres from one node of a tree to the next
LOW, HIGH = np.array([-2.6, -1.4, -1.2]), np.array([2.6, 1.4, 1.2])  #: of the room

BODY = gk.Box((0.7, 0.35, 0.06)).inflated(0.03)
BALL = gk.bounding_sphere(BODY)
#: most metres that a point of the body moves when it turns by 1 rad
REACH = float(np.linalg.norm(BALL.center) + BALL.radius)


def at(x, y, z):
    """Return the pose shifted by x, y, z."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def wall(x, width, height, y, z, thickness=0.15):
    """Return a wall across x: four boxes around a window centred at y, z."""
    (_, y0, z0), (_, y1, z1) = LOW, HIGH
    left, right, below, above = y - width / 2, y + width / 2, z - height / 2, z + height / 2
    pieces = [(y0, left, z0, z1), (right, y1, z0, z1), (left, right, z0, below), (left, right, above, z1)]
    return [(gk.Box((thickness, yb - ya, zb - za)), at(x, (ya + yb) / 2, (za + zb) / 2)) for ya, yb, za, zb in pieces]


WINDOWS = [(-0.9, 0.9, 0.6, 0.35, -0.3), (0.9, 0.6, 0.9, -0.35, 0.1)]  #: x of the wall, width, height, y, z
WALLS = [piece for window in WINDOWS for piece in wall(*window)]
THINGS = [
    (gk.Cylinder(0.15, HIGH[2] - LOW[2]), at(1.7, 0.25, 0)),
    (gk.Capsule(0.12, 1.2), at(-1.6, 0.7, -0.5)),
    (gk.Ellipsoid((0.4, 0.5, 0.3)), at(0.0, 0.9, -0.9)),
]
ROOM = [
    (gk.Halfspace(sign * np.eye(3)[axis], sign * bound[axis]), None)
    for sign, bound in ((1.0, LOW), (-1.0, HIGH))
    for axis in range(3)
]
OBSTACLES = WALLS + THINGS + ROOM


class Checker:
    """Checks the body at stacks of poses, and counts the checks."""

    def __init__(self):
        self.checks, self.seconds = 0, 0.0

    def free(self, positions, rotations):
        """Return the number of poses of the stack before the first one that is not free."""
        start = time.perf_counter()
        poses = stack(positions, rotations)
        for shape, pose in OBSTACLES:
            if len(poses) == 0:
                break
            self.checks += len(poses)
            hit = gk.collide(BODY, shape, poses, pose, margin=CLEARANCE + RESOLUTION / 2)
            if hit.any():
                poses = poses[: np.argmax(hit)]  # poses after a hit are not needed for the other obstacles
        self.seconds += time.perf_counter() - start
        return len(poses)


def stack(positions, rotations):
    """Return (n, 4, 4) poses."""
    poses = np.tile(np.eye(4), (len(positions), 1, 1))
    poses[:, :3, :3] = rotations.as_matrix()
    poses[:, :3, 3] = positions
    return poses


def travel(start, ends):
    """Return the most that a point of the body moves from a configuration to each of several others."""
    angle = 2.0 * np.arccos(np.minimum(np.abs(ends[..., 3:] @ start[3:]), 1.0))
    return np.linalg.norm(ends[..., :3] - start[:3], axis=-1) + REACH * angle


def between(start, end, spacing=RESOLUTION):
    """Return positions and rotations along the straight edge between two configurations."""
    t = np.linspace(0.0, 1.0, max(2, int(np.ceil(travel(start, end) / spacing)) + 1))
    positions = start[:3] + t[:, None] * (end[:3] - start[:3])
    return positions, Slerp([0.0, 1.0], Rotation.from_quat([start[3:], end[3:]]))(t)


class Tree:
    """Configurations (position, quaternion), each with its parent."""

    def __init__(self, root):
        self.nodes, self.parents, self.count = np.empty((4096, 7)), [-1], 1
        self.nodes[0] = root

    def grow(self, target, checker):
        """Extend the nearest node towards a target while it is free; return the last node and whether it arrived."""
        parent = int(np.argmin(travel(target, self.nodes[: self.count])))
        positions, rotations = between(self.nodes[parent], target)
        free = checker.free(positions, rotations)
        stride = int(STEP / RESOLUTION)
        for k in [*range(stride, free - 1, stride), *([free - 1] if free > 1 else [])]:
            if self.count == len(self.nodes):
                self.nodes = np.concatenate([self.nodes, np.empty_like(self.nodes)])
            self.nodes[self.count] = (*positions[k], *rotations[k].as_quat())
            self.parents.append(parent)
            parent = self.count
            self.count += 1
        return parent, free == len(positions)

    def branch(self, node):
        """Return the configurations from the root to a node."""
        path = []
        while node >= 0:
            path.append(self.nodes[node])
            node = self.parents[node]
        return path[::-1]


def plan(start, goal, rng, checker):
    """Return a path by RRT-Connect (Kuffner, LaValle 2000): one tree grows at random, the other towards it, in turn."""
    trees = [Tree(start), Tree(goal)]
    for turn in range(20_000):
        random_tree, towards_tree = trees[turn % 2], trees[1 - turn % 2]
        quaternion = rng.normal(size=4)  # a normal distribution prefers no direction, so the rotation is uniform
        target = np.concatenate([rng.uniform(LOW, HIGH), quaternion / np.linalg.norm(quaternion)])
        node, _ = random_tree.grow(target, checker)
        last, reached = towards_tree.grow(random_tree.nodes[node], checker)
        if reached:
            path = random_tree.branch(node) + towards_tree.branch(last)[::-1]
            return path if random_tree is trees[0] else path[::-1], trees[0].count + trees[1].count
    raise SystemExit("no path found")


def length(path):
    """Return the length of a path, as the farthest point of the body moves."""
    return float(sum(travel(a, b) for a, b in pairwise(path)))


def filled(path, spacing):
    """Return the path with additional configurations, at most this far apart."""
    nodes = [path[0]]
    for a, b in pairwise(path):
        positions, rotations = between(a, b, spacing)
        nodes += list(np.hstack([positions, rotations.as_quat()])[1:])
    return nodes


def shortcut(path, rng, checker, tries=300):
    """Replace pieces of the path by straight edges if these are free and shorter."""
    path = filled(path, 0.2)
    for _ in range(tries):
        i, j = sorted(rng.choice(len(path), 2, replace=False))
        if travel(path[i], path[j]) < 0.99 * length(path[i : j + 1]):
            positions, rotations = between(path[i], path[j])
            if checker.free(positions, rotations) == len(positions):
                path[i : j + 1] = filled([path[i], path[j]], 0.2)
    return path


def clearance(path):
    """Return bounds of the least distance at samples, a bound that holds between them too, and their number."""
    samples = np.array(filled(path, RESOLUTION / 10))
    poses = stack(samples[:, :3], Rotation.from_quat(samples[:, 3:]))
    answers = [gk.signed_distance(BODY, shape, poses, pose) for shape, pose in OBSTACLES]
    lower, upper = (np.min([getattr(r, side) for r in answers], axis=0) for side in ("lower", "upper"))
    moved = np.array([travel(a, b) for a, b in pairwise(samples)])
    # a distance changes by at most the motion of the body, from either end
    between_samples = (lower[:-1] + lower[1:] - moved) / 2
    return lower.min(), upper.min(), between_samples.min(), len(samples)


def draw(path, file):
    """Draw the room and the body along the path."""
    samples = np.array(filled(path, RESOLUTION))
    poses = stack(samples[:, :3], Rotation.from_quat(samples[:, 3:]))
    lengths = np.concatenate([[0.0], np.cumsum([travel(a, b) for a, b in pairwise(samples)])])
    moments = np.searchsorted(lengths, np.linspace(0.0, lengths[-1], 22))
    floor = gk.Box((HIGH[0] - LOW[0], HIGH[1] - LOW[1], 0.02)), at(0, 0, LOW[2] - 0.02)
    gk.viz.show(
        [[floor], THINGS, [(BODY, pose) for pose in poses[moments]], (BODY, poses[0]), (BODY, poses[-1]), WALLS],
        colors=("#E8ECEF", "#8C96A0", "#CC79A7", "#0072B2", "#E69F00", "#D9CDB8"),
        opacity=(1.0, 1.0, 1.0, 1.0, 1.0, 0.3),
        names=("floor", "in the way", "plank, on its way", "start", "goal", "walls with a window each"),
        title=f"A plank through two windows, {length(path):.2f} m as its farthest point moves",
        view=(-0.52, -0.75, 0.4),
        path=file,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    parser.add_argument("--seed", type=int, default=2)
    arguments = parser.parse_args()
    gk.warmup()  # compile first, so that the times are those of the planner
    rng, checker = np.random.default_rng(arguments.seed), Checker()
    start = np.array([-2.0, -0.5, 0.3, *Rotation.from_euler("y", 90, degrees=True).as_quat()])
    goal = np.array([2.1, 0.6, 0.2, *Rotation.from_euler("z", 90, degrees=True).as_quat()])

    before = time.perf_counter()
    first_path, nodes = plan(start, goal, rng, checker)
    planned = time.perf_counter()
    path = shortcut(first_path, rng, checker)
    smoothed = time.perf_counter()
    print(f"{nodes} nodes in two trees, {planned - before:.2f} s; shortcuts {smoothed - planned:.2f} s")
    print(f"{checker.checks} checks of the plank with an obstacle, {checker.checks / checker.seconds:,.0f} per second")
    before_shortcuts, after_shortcuts = length(first_path), length(path)
    print(f"path of {before_shortcuts:.3f} m, as its farthest point moves, and {after_shortcuts:.3f} m after shortcuts")
    lower, upper, everywhere, count = clearance(path)
    print(f"least clearance at {count} samples, in m: {lower:.9f} <= true value <= {upper:.9f}")
    everywhere = np.floor(everywhere * 1e4) / 1e4  # rounded down, by far more than the rounding errors of the lengths
    print(f"proven clearance of the whole path: at least {everywhere:.4f} m")
    arguments.out.mkdir(parents=True, exist_ok=True)
    draw(path, arguments.out / "plan_path.png")
    print(f"picture: {arguments.out / 'plan_path.png'}", file=sys.stderr)
