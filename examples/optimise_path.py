"""Bend a path out of collision with scipy.optimize: what a trajectory optimiser needs, asked in stacks.

The arm of `plan_arm.py` again: a guess by way of one posture runs into the beam. Its waypoints are moved by L-BFGS, so
that the path is short and all its samples keep `MARGIN`: each evaluation is one call for every pair that is closer,
its signed distance, negative in overlap, and how that changes with the joints. The result is then proven.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from plan_arm import GOAL, START, make_checker
from scipy.optimize import minimize

import gjk3d as gk

VIA = np.radians([0.0, 60.0, 0.0, -60.0, 0.0, -60.0, 0.0])  #: the guess goes straight there, and straight on
WAYPOINTS = 14  #: that move
BETWEEN = 4  #: samples from one waypoint to the next
MARGIN = 0.04  #: metres to be kept
WEIGHT = 2000.0  #: of what each pair lacks of the margin, squared, against the length, squared


def sampler(count, between):
    """Return the matrix that makes samples from waypoints, start and goal among both."""
    steps = np.linspace(0.0, count - 1.0, (count - 1) * between + 1)
    return np.array([np.interp(steps, np.arange(count), row) for row in np.eye(count)]).T


class Cost:
    """Length and closeness of a path, with their gradient, and how many configurations were asked for."""

    def __init__(self, checker, start, goal):
        self.checker, self.ends = checker, (start, goal)
        self.samples = sampler(WAYPOINTS + 2, BETWEEN)
        self.asked = 0

    def path(self, x):
        """Return the waypoints with start and goal."""
        return np.vstack([self.ends[0], x.reshape(WAYPOINTS, -1), self.ends[1]])

    def __call__(self, x):
        """Return the cost and its gradient."""
        path = self.path(x)
        q = self.samples @ path
        self.asked += len(q)
        closeness, slope = self.checker.distances(q, within=MARGIN).penalty(MARGIN)
        step = np.diff(path, axis=0)
        value = len(step) * (step**2).sum() + WEIGHT * closeness.sum()
        gradient = WEIGHT * self.samples.T @ slope
        gradient[1:] += 2.0 * len(step) * step
        gradient[:-1] -= 2.0 * len(step) * step
        return value, gradient[1:-1].ravel()


def told(checker, path):
    """Return length, and the least clearance of a thousand samples with its pair."""
    q = sampler(len(path), 1000 // (len(path) - 1)) @ path
    nearest = checker.clearance(q)
    k = int(np.argmin(nearest.distance))
    pair = " and ".join(nearest.pair[k])
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    return f"{length:.2f} rad long, least clearance {1e3 * nearest.distance[k]:.1f} mm, of {pair}"


def main():
    """Optimise, prove and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    arguments = parser.parse_args()
    checker = make_checker()
    cost = Cost(checker, START, GOAL)
    t = np.linspace(-1.0, 1.0, WAYPOINTS + 2)[:, None]
    guess = VIA + np.where(t < 0.0, -t * (START - VIA), t * (GOAL - VIA))
    print(f"guess:     {told(checker, guess)}")

    found = minimize(cost, guess[1:-1].ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    path = cost.path(found.x)
    print(f"optimised: {told(checker, path)}")
    print(f"{found.nit} steps of L-BFGS, {cost.asked} configurations asked for")

    proof = checker.path_free(path, certify=True)
    print(f"all of it, between the samples too: {proof.status.name}")

    arguments.out.mkdir(parents=True, exist_ok=True)
    title = "An optimised way of an arm round a beam"
    gk.viz.motion(checker, path, arguments.out / "optimise_path.png", certify=True, title=title)
    print(f"picture: {arguments.out / 'optimise_path.png'}", file=sys.stderr)


if __name__ == "__main__":
    main()
