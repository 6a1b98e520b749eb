"""Plan the way of a plank through two windows, one wide and one tall: RRT-Connect in SE(3), poses asked in stacks.

Samples alone prove nothing of what lies between them. Here no point of the body moves farther than RESOLUTION from
one sample to the next, so half of that, added to the clearance asked for, keeps the clearance in between as well.
"""

import argparse
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

import gjk3d as gk

CLEARANCE = 0.005  #: metres to be kept from everything
RESOLUTION = 0.03  #: metres that a point of the body may move from one sample of an edge to the next
STEP = 0.6  #: metres from one node of a tree to the next
LOW, HIGH = np.array([-2.6, -1.4, -1.2]), np.array([2.6, 1.4, 1.2])  #: of the room

BODY = gk.Box((0.7, 0.35, 0.06)).inflated(0.03)
BALL = gk.bounding_sphere(BODY)
#: metres that no point of the body exceeds when it turns by 1 rad
REACH = float(np.linalg.norm(BALL.center) + BALL.radius)


def at(x, y, z):
    """Return the pose shifted by x, y, z."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def wall(x, width, height, y, z, thickness=0.15):
    """Return a wall across x: four boxes round a window with its middle at y, z."""
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
    """Asks about the body at stacks of poses, and counts."""

    def __init__(self):
        self.checks, self.seconds = 0, 0.0

    def free(self, positions, rotations):
        """Return how many poses of the stack come before the first that is not free."""
        start = time.perf_counter()
        poses = stack(positions, rotations)
        for shape, pose in OBSTACLES:
            if len(poses) == 0:
                break
            self.checks += len(poses)
            hit = gk.collide(BODY, shape, poses, pose, margin=CLEARANCE + RESOLUTION / 2)
            if hit.any():
                poses = poses[: np.argmax(hit)]  # what comes after a hit need not be asked of the others
        self.seconds += time.perf_counter() - start
        return len(poses)


def stack(positions, rotations):
    """Return (n, 4, 4) poses."""
    poses = np.tile(np.eye(4), (len(positions), 1, 1))
    poses[:, :3, :3] = rotations.as_matrix()
    poses[:, :3, 3] = positions
    return poses


def travel(one, others):
    """Return how far any point of the body moves at most from one configuration to others."""
    angle = 2.0 * np.arccos(np.minimum(np.abs(others[..., 3:] @ one[3:]), 1.0))
    return np.linalg.norm(others[..., :3] - one[:3], axis=-1) + REACH * angle


def between(one, other, spacing=RESOLUTION):
    """Return positions and rotations along the straight edge from one configuration to another."""
    t = np.linspace(0.0, 1.0, max(2, int(np.ceil(travel(one, other) / spacing)) + 1))
    positions = one[:3] + t[:, None] * (other[:3] - one[:3])
    return positions, Slerp([0.0, 1.0], Rotation.from_quat([one[3:], other[3:]]))(t)


class Tree:
    """Configurations (position, quaternion) and the parent of each."""

    def __init__(self, root):
        self.nodes, self.parents, self.count = np.empty((4096, 7)), [-1], 1
        self.nodes[0] = root

    def grow(self, target, checker):
        """Walk from the nearest node to a target while that is free; return the last node and whether it arrived."""
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
    """RRT-Connect (Kuffner and LaValle, 2000): one tree grows at random, the other walks towards it, by turns."""
    trees = [Tree(start), Tree(goal)]
    for turn in range(20_000):
        one, other = trees[turn % 2], trees[1 - turn % 2]
        turned = rng.normal(size=4)  # of no preferred direction, so a uniform rotation
        node, _ = one.grow(np.concatenate([rng.uniform(LOW, HIGH), turned / np.linalg.norm(turned)]), checker)
        met, reached = other.grow(one.nodes[node], checker)
        if reached:
            path = one.branch(node) + other.branch(met)[::-1]
            return path if one is trees[0] else path[::-1], trees[0].count + trees[1].count
    raise SystemExit("no path found")


def length(path):
    """Return the travel along a path."""
    return float(sum(travel(a, b) for a, b in pairwise(path)))


def filled(path, spacing):
    """Return the path with more configurations, no farther apart than this."""
    nodes = [path[0]]
    for a, b in pairwise(path):
        positions, rotations = between(a, b, spacing)
        nodes += list(np.hstack([positions, rotations.as_quat()])[1:])
    return nodes


def shortcut(path, rng, checker, tries=300):
    """Replace pieces of the path by straight edges, wherever these are free and shorter."""
    path = filled(path, 0.2)
    for _ in range(tries):
        i, j = sorted(rng.choice(len(path), 2, replace=False))
        if travel(path[i], path[j]) < 0.99 * length(path[i : j + 1]):
            positions, rotations = between(path[i], path[j])
            if checker.free(positions, rotations) == len(positions):
                path[i : j + 1] = filled([path[i], path[j]], 0.2)
    return path


def clearance(path):
    """Return bounds of the least distance at closer samples, one that holds between them too, and their number."""
    samples = np.array(filled(path, RESOLUTION / 10))
    poses = stack(samples[:, :3], Rotation.from_quat(samples[:, 3:]))
    answers = [gk.signed_distance(BODY, shape, poses, pose) for shape, pose in OBSTACLES]
    lower, upper = (np.min([getattr(r, side) for r in answers], axis=0) for side in ("lower", "upper"))
    moved = np.array([travel(a, b) for a, b in pairwise(samples)])
    # a distance changes by no more than the body moves, counted from either end
    between_samples = (lower[:-1] + lower[1:] - moved) / 2
    return lower.min(), upper.min(), between_samples.min(), len(samples)


def ring(x, width, height, y, z, thickness=0.15):
    """Return a wall with its window as one surface: four boxes would show the seams between them."""
    import pyvista as pv

    outer = [LOW[1:], (HIGH[1], LOW[2]), HIGH[1:], (LOW[1], HIGH[2])]
    inner = [(y + u * width / 2, z + v * height / 2) for u, v in [(-1, -1), (1, -1), (1, 1), (-1, 1)]]
    points = [(x + side * thickness / 2, *p) for side in (-1, 1) for frame in (outer, inner) for p in frame]
    strips = [(0, 4), (8, 12), (0, 8), (4, 12)]  # front, back, outside, and the window's reveal
    quads = [(4, a + k, a + (k + 1) % 4, b + (k + 1) % 4, b + k) for a, b in strips for k in range(4)]
    return pv.PolyData(np.array(points), faces=np.ravel(quads))


def draw(path, file):
    """Draw the room and the body along the path, from blue to orange."""
    import pyvista as pv

    gk.viz.check_rendering()
    plotter = pv.Plotter(off_screen=True, window_size=[1400, 700], lighting="light kit")
    plotter.enable_anti_aliasing("ssaa")
    floor = pv.Plane(center=(0, 0, LOW[2] - 0.01), i_size=HIGH[0] - LOW[0], j_size=HIGH[1] - LOW[1])
    plotter.add_mesh(floor, color="#E8ECEF", lighting=False)
    smooth = {"smooth_shading": True, "split_sharp_edges": True}
    for shape, pose in THINGS:
        plotter.add_mesh(gk.viz.to_pyvista(shape, pose), color="#8C96A0", **smooth)

    samples = np.array(filled(path, RESOLUTION))
    poses = stack(samples[:, :3], Rotation.from_quat(samples[:, 3:]))
    way = np.concatenate([[0.0], np.cumsum([travel(a, b) for a, b in pairwise(samples)])])
    colors = np.array([pv.Color(name).float_rgb for name in ("#0072B2", "#CC79A7", "#E69F00")])
    ghosts = np.searchsorted(way, np.linspace(0.0, way[-1], 24))
    for k in ghosts:
        color = [np.interp(way[k] / way[-1], [0.0, 0.5, 1.0], channel) for channel in colors.T]
        if k not in (ghosts[0], ghosts[-1]):
            color = 0.35 + 0.65 * np.array(color)  # paler, not transparent: what is in front stays in front
        plotter.add_mesh(gk.viz.to_pyvista(BODY, poses[k]), color=color, ambient=0.2, **smooth)
    plotter.add_mesh(pv.lines_from_points(samples[:, :3]), color="#202124", line_width=3)

    for window in WINDOWS:
        frame = ring(*window)
        plotter.add_mesh(frame, color="#D9CDB8", opacity=0.4, lighting=False)
        plotter.add_mesh(frame.extract_feature_edges(20), color="#6E6250", line_width=2)
    plotter.camera_position = [(-4.6, -6.6, 3.2), (-0.05, 0.0, -0.2), (0, 0, 1)]
    plotter.camera.view_angle = 25
    plotter.screenshot(file)
    plotter.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    parser.add_argument("--seed", type=int, default=2)
    arguments = parser.parse_args()
    gk.warmup()  # compiled kernels make the first question as quick as the others
    rng, checker = np.random.default_rng(arguments.seed), Checker()
    start = np.array([-2.0, -0.5, 0.3, *Rotation.from_euler("y", 90, degrees=True).as_quat()])
    goal = np.array([2.1, 0.6, 0.2, *Rotation.from_euler("z", 90, degrees=True).as_quat()])

    before = time.perf_counter()
    found, nodes = plan(start, goal, rng, checker)
    planned = time.perf_counter()
    path = shortcut(found, rng, checker)
    smoothed = time.perf_counter()
    print(f"{nodes} nodes in two trees, {planned - before:.2f} s; shortcuts {smoothed - planned:.2f} s")
    print(f"{checker.checks} checks of body and obstacle in stacks, {checker.checks / checker.seconds:,.0f} a second")
    print(f"path of {length(found):.3f} m, after shortcuts {length(path):.3f} m, as the farthest point moves")
    lower, upper, everywhere, count = clearance(path)
    print(f"least clearance at {count} samples: {lower:.9f} <= true <= {upper:.9f} m")
    everywhere = np.floor(everywhere * 1e4) / 1e4  # down, by far more than the rounding of the travels
    print(f"and between them: nothing is nearer than {everywhere:.4f} m anywhere on the way")
    arguments.out.mkdir(parents=True, exist_ok=True)
    draw(path, arguments.out / "plan_path.png")
    print(f"picture: {arguments.out / 'plan_path.png'}", file=sys.stderr)
