"""Bend a path out of collision with scipy.optimize, by signed distances and gradients of many configurations per call.

The arm is that of `plan_arm.py`. The first guess goes through one posture and hits the beam. L-BFGS moves its waypoints
until the path is short and all its samples keep `MARGIN`. Each evaluation is one call: it returns all pairs closer than
the margin, with their signed distances and gradients. At the end the path is proven free.
"""

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np
from plan_arm import GOAL, START, make_checker
from scipy.optimize import minimize

import gjk3d as gk

VIA = np.radians([0.0, 60.0, 0.0, -60.0, 0.0, -60.0, 0.0])  #: the guess goes straight to this posture, and straight on
WAYPOINTS = 14  #: number of waypoints that move
BETWEEN = 4  #: samples between two waypoints
MARGIN = 0.04  #: metres to every obstacle
WEIGHT = 2000.0  #: weight of the squared violation of the margin against the squared length


def sampler(count, between):
    """Return the matrix that interpolates samples from waypoints, both with start and goal."""
    steps = np.linspace(0.0, count - 1.0, (count - 1) * between + 1)
    return np.array([np.interp(steps, np.arange(count), row) for row in np.eye(count)]).T


class Cost:
    """Cost of a path, its length and its violations of the margin, with the gradient and a count of configurations."""

    def __init__(self, checker, start, goal):
        self.checker, self.ends = checker, (start, goal)
        self.samples = sampler(WAYPOINTS + 2, BETWEEN)
        self.checked = 0

    def path(self, x):
        """Return the waypoints with start and goal."""
        return np.vstack([self.ends[0], x.reshape(WAYPOINTS, -1), self.ends[1]])

    def __call__(self, x):
        """Return the cost and its gradient."""
        path = self.path(x)
        q = self.samples @ path
        self.checked += len(q)
        violation, slope = self.checker.distances(q, within=MARGIN).penalty(MARGIN)
        step = np.diff(path, axis=0)
        value = len(step) * (step**2).sum() + WEIGHT * violation.sum()
        gradient = WEIGHT * self.samples.T @ slope
        gradient[1:] += 2.0 * len(step) * step
        gradient[:-1] -= 2.0 * len(step) * step
        return value, gradient[1:-1].ravel()


def summary(checker, path):
    """Return the length, and the least clearance of a thousand samples with its pair, as text."""
    q = sampler(len(path), 1000 // (len(path) - 1)) @ path
    nearest = checker.clearance(q)
    k = int(np.argmin(nearest.distance))
    pair = " and ".join(nearest.pair[k])
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    return f"{length:.2f} rad long, least clearance {1e3 * nearest.distance[k]:.1f} mm, of {pair}"


def draw(checker, guess, path, file):
    """Draw the arm at its least clearance, and the paths of its tip before and after the optimisation."""
    nearest = checker.clearance(path)
    title = "A path is bent around a beam by gradients"
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
    arguments = parser.parse_args()
    checker = make_checker()
    cost = Cost(checker, START, GOAL)
    t = np.linspace(-1.0, 1.0, WAYPOINTS + 2)[:, None]
    guess = VIA + np.where(t < 0.0, -t * (START - VIA), t * (GOAL - VIA))
    print(f"guess:     {summary(checker, guess)}")

    optimum = minimize(cost, guess[1:-1].ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    path = cost.path(optimum.x)
    print(f"optimised: {summary(checker, path)}")
    print(f"{optimum.nit} steps of L-BFGS, {cost.checked} configurations checked")

    proof = checker.path_free(path, certify=True)
    print(f"the whole path, also between samples: {proof.status.name}")

    arguments.out.mkdir(parents=True, exist_ok=True)
    draw(checker, guess, path, arguments.out / "optimise_path.png")
    print(f"picture: {arguments.out / 'optimise_path.png'}", file=sys.stderr)


if __name__ == "__main__":
    main()
