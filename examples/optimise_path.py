"""Bend a path out of a mesh with scipy.optimize, within joint limits, from several starts, and prove the best result.

The arm is that of `plan_arm.py`. A rough casting of 80 000 triangles blocks the straight line to the goal. L-BFGS-B
moves the waypoints until the path is short and its samples keep `MARGIN`. Each evaluation is one call, which returns
the signed distances and gradients of all pairs closer than the margin. A start may end in a local minimum that
collides, so there are several, and the shortest path that is proven free is used.
"""

import argparse
import itertools
import sys
import time
from pathlib import Path

import numpy as np
import trimesh
from plan_arm import GOAL, START, at, make_checker
from scipy.optimize import minimize

import gjk3d as gk

STARTS = 4  #: the straight line, and lines through a random posture
WAYPOINTS = 14  #: number of waypoints that move
BETWEEN = 4  #: samples between two waypoints
MARGIN = 0.04  #: metres to every obstacle
WEIGHT = 2000.0  #: weight of the squared violation of the margin against the squared length


def casting():
    """Return a rough ball of 81 920 triangles."""
    ball = trimesh.creation.icosphere(subdivisions=6, radius=1.0)
    x, y, z = ball.vertices.T
    radii = 0.17 + 0.015 * np.sin(9.0 * x) * np.sin(9.0 * y) * np.cos(9.0 * z)
    return gk.Mesh(radii[:, None] * ball.vertices, ball.faces)


def make_cell():
    """Return the arm in front of the casting, with the table and the beam above."""
    checker = make_checker()
    checker.remove("post")
    checker.add("casting", casting(), at(0.5, 0.0, 0.55))
    return checker


def sampler(count, between):
    """Return the matrix that interpolates samples from waypoints, both with start and goal."""
    steps = np.linspace(0.0, count - 1.0, (count - 1) * between + 1)
    return np.array([np.interp(steps, np.arange(count), row) for row in np.eye(count)]).T


class Cost:
    """Cost of a path, its length and its violations of the margin, with the gradient; it counts its calls."""

    def __init__(self, checker, start, goal):
        self.checker, self.ends = checker, (start, goal)
        self.samples = sampler(WAYPOINTS + 2, BETWEEN)
        self.calls, self.seconds = 0, 0.0

    def path(self, x):
        """Return the waypoints with start and goal."""
        return np.vstack([self.ends[0], x.reshape(WAYPOINTS, -1), self.ends[1]])

    def __call__(self, x):
        """Return the cost and its gradient."""
        path = self.path(x)
        q = self.samples @ path
        begin = time.perf_counter()
        # the fast depth is enough: only a path that still collides has overlaps with the mesh
        violation, slope = self.checker.distances(q, within=MARGIN, depth="fast").penalty(MARGIN)
        self.calls, self.seconds = self.calls + 1, self.seconds + time.perf_counter() - begin
        step = np.diff(path, axis=0)
        value = len(step) * (step**2).sum() + WEIGHT * violation.sum()
        gradient = WEIGHT * self.samples.T @ slope
        gradient[1:] += 2.0 * len(step) * step
        gradient[:-1] -= 2.0 * len(step) * step
        return value, gradient[1:-1].ravel()


def guesses(robot, rng):
    """Yield the straight path, then paths through a random posture between start and goal, within the limits."""
    t = np.linspace(0.0, 1.0, WAYPOINTS + 2)[:, None]
    straight = (1.0 - t) * START + t * GOAL
    yield straight
    while True:
        via = rng.uniform(robot.lower, robot.upper) - 0.5 * (START + GOAL)
        yield straight + (1.0 - np.abs(2.0 * t - 1.0)) * 0.5 * via


def optimised(cost, guess):
    """Return the path of a local minimum within the joint limits."""
    robot = cost.checker.robot
    bounds = list(zip(robot.lower, robot.upper, strict=True)) * WAYPOINTS
    optimum = minimize(cost, guess[1:-1].ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 150})
    return cost.path(optimum.x)


def least_clearance(checker, path):
    """Return the least clearance of a thousand samples in millimetres, and its pair."""
    q = sampler(len(path), 1000 // (len(path) - 1)) @ path
    nearest = checker.clearance(q, depth="fast")
    k = int(np.argmin(nearest.distance))
    return 1e3 * nearest.distance[k], " and ".join(nearest.pair[k])


def as_text(clearance):
    """Return a clearance in millimetres as text; in overlap it is minus an upper bound of the depth."""
    return f"gap {clearance:.1f} mm" if clearance >= 0.0 else f"depth ≤ {-clearance:.1f} mm"


def length(path):
    """Return the length of a path in joint space."""
    return np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


def draw(checker, guess, path, file):
    """Draw the arm at its least clearance, and the paths of its tip before and after the optimisation."""
    nearest = checker.clearance(path)
    title = "Gradients bend a path until the whole arm clears a mesh"
    plotter = gk.viz.plot(checker, off_screen=True, q=path[np.argmin(nearest.distance)], title=title)
    tips = []
    for rows in (guess, path):
        points = checker.robot.link_poses(rows)[:, -1, :3, 3]
        tips.append([gk.Segment(*ends) for ends in itertools.pairwise(points)])
    names = ("path of the tip before", "path of the tip after")
    gk.viz.plot(tips, plotter, colors=("#D55E00", "#009E73"), names=names, path=file, view=(0.5, -0.5, 0.7))
    plotter.close()


def main():
    """Optimise, prove and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    checker = make_cell()
    cost, paths = Cost(checker, START, GOAL), []
    some = list(itertools.islice(guesses(checker.robot, np.random.default_rng(arguments.seed)), STARTS))
    for k, guess in enumerate(some):
        path = optimised(cost, guess)
        (before, _), (after, pair) = (least_clearance(checker, rows) for rows in (guess, path))
        print(f"start {k}: {as_text(before)}, then {as_text(after)} of {pair}, path of {length(path):.2f} rad")
        paths.append((length(path), k, path))
    each = 1e3 * cost.seconds / cost.calls
    print(f"{cost.calls} evaluations of {len(cost.samples)} configurations, {each:.2f} ms each")

    for _, k, path in sorted(paths, key=lambda item: item[0]):
        plan = checker.prove(path)
        print(f"the whole path of start {k}, also between samples: {plan.status.name}")
        if plan:
            break
    else:
        sys.exit("no path is proven, use another --seed")
    print(f"proven clearance of the whole path: at least {1e3 * plan.proof.clearance:.1f} mm")

    arguments.out.mkdir(parents=True, exist_ok=True)
    draw(checker, some[0], plan.path, arguments.out / "optimise_path.png")
    print(f"picture: {arguments.out / 'optimise_path.png'}", file=sys.stderr)


if __name__ == "__main__":
    main()
