"""Compare robots with pinocchio and coal on convex hulls: ``python tests/robot/oracle.py``.

The script checks 2000 configurations per robot by default. It compares the sign of coal's signed distance, because
coal's boolean result misses overlaps when pinocchio calls it.
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from typing import NamedTuple

import numpy as np
import pinocchio
from example_robots import SHARE, SRDFS, URDFS, hulls_of, some, twin

import gjk3d as gk
from gjk3d.robot import Checker, Robot, allow_by_sampling

ROBOTS = ("panda", "ur5", "talos", "tiago")
CLOSE = 1e-7  #: tolerance of signed distances in metres; signs of smaller distances may differ


@cache
def made(name: str, geometry: str = "hull") -> Robot:
    """Return the robot with the allowed pairs of its SRDF. Tiago Pro has no SRDF, so its pairs come from sampling."""
    robot = Robot.from_urdf(SHARE / URDFS[name], SRDFS.get(name) and SHARE / SRDFS[name], geometry=geometry)
    if name not in SRDFS:
        robot.allowed = allow_by_sampling(robot, 500, prove=0) if geometry == "hull" else made(name).allowed
    return robot


class Oracle:
    """Signed distances by pinocchio and coal of every pair of geometries that the robot checks."""

    def __init__(self, name: str) -> None:
        self.robot, self.twin = made(name), twin(name)
        self.shapes, links = hulls_of(name)
        checked = {frozenset((self.robot.links[a], self.robot.links[b])) for a, b in self.robot.pairs.tolist()}
        self.names = []
        # a copy, since the elements are views
        pairs = [(pair.first, pair.second) for pair in self.shapes.collisionPairs]
        self.shapes.removeAllCollisionPairs()
        for first, second in pairs:
            names = frozenset((links[first], links[second]))
            if names in checked:
                self.names.append(names)
                self.shapes.addCollisionPair(pinocchio.CollisionPair(first, second))
        self.data = pinocchio.GeometryData(self.shapes)
        for request in self.data.distanceRequests:
            request.gjk_tolerance = request.epa_tolerance = 1e-10
            request.gjk_max_iterations = request.epa_max_iterations = 1000
        self.distinct = sorted(set(self.names), key=sorted)
        place = {names: k for k, names in enumerate(self.distinct)}
        self.place = np.array([place[names] for names in self.names])

    def distances(self, q: np.ndarray) -> tuple[np.ndarray, list]:
        """Return the signed distance of each pair of links and coal's result for each pair of geometries."""
        reference = self.twin
        pinocchio.computeDistances(reference.model, reference.data, self.shapes, self.data, reference.numbers(q))
        results = self.data.distanceResults
        out = np.full(len(self.distinct), np.inf)
        np.minimum.at(out, self.place, [item.min_distance for item in results])
        return out, results

    def settled(self, q: np.ndarray, distances: np.ndarray, results: list) -> np.ndarray:
        """Return the distances with those of overlaps computed by gjk3d and verified in rational arithmetic.

        Coal's depth is -1.8e308 or several times too large for some pairs, depending on its previous queries.
        """
        poses = self.robot.link_poses(q)
        out = np.full(len(self.distinct), np.inf)
        bodies = [[b for b in self.robot.bodies if b.link == link] for link in range(len(self.robot.links))]
        number = {name: k for k, name in enumerate(self.robot.links)}
        for k, names in enumerate(self.distinct):
            if distances[k] > 0.0:
                out[k] = distances[k]
                continue
            a, b = (bodies[number[name]] for name in sorted(names))
            for first in a:
                for second in b:
                    placed = first.shape, second.shape, poses[first.link] @ first.pose, poses[second.link] @ second.pose
                    exact = gk.signed_distance(*placed)
                    assert gk.verify(exact, *placed)
                    assert exact.upper - exact.lower < CLOSE
                    out[k] = min(out[k], exact.distance)
        return out


class Count(NamedTuple):
    """Numbers of configurations: compared, free, with a unique nearest pair, and with a wrong depth from coal."""

    asked: int
    free: int
    unique: int
    settled: int
    worst: float  #: largest difference of signed distances in metres


def compare(name: str, count: int, seed: int = 0) -> Count:
    """Assert that a checker and the oracle agree on ``count`` random configurations."""
    oracle = Oracle(name)
    checker, q = Checker(oracle.robot), some(oracle.robot, count, seed)
    free, nearest = checker.free(q), checker.clearance(q)
    unique, settled, worst = 0, 0, 0.0
    for k in range(count):
        distances, results = oracle.distances(q[k])
        least = distances.min()
        if abs(nearest.distance[k] - least) > CLOSE and least < 0.0:
            distances = oracle.settled(q[k], distances, results)
            least = distances.min()
            settled += 1
        about = f"{name}, configuration {k} of seed {seed}"
        worst = max(worst, abs(nearest.distance[k] - least))
        assert abs(nearest.distance[k] - least) <= CLOSE, about
        assert nearest.lower[k] - CLOSE <= least <= nearest.upper[k] + CLOSE, about
        if abs(least) > CLOSE:
            assert free[k] == (least > 0.0), about
        first, second = np.partition(distances, 1)[:2]
        if second - first > 10.0 * CLOSE:
            unique += 1
            assert frozenset(nearest.pair[k]) == oracle.distinct[distances.argmin()], about
        overlaps = {frozenset(overlap.pair): overlap.distance for overlap in checker.collisions(q[k])}
        sure = {names for names, d in zip(oracle.distinct, distances, strict=True) if d < -CLOSE}
        assert sure <= set(overlaps), about
        assert all(distances[oracle.distinct.index(names)] <= CLOSE for names in overlaps), about
        hit = checker.hit(q[k])
        assert (hit is None) == free[k], about
        if hit is not None:
            assert distances[oracle.distinct.index(frozenset(hit))] <= CLOSE, about
    return Count(count, int(free.sum()), unique, settled, worst)


def main(argv: list[str] | None = None) -> None:
    """Print one line per robot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    for name in arguments.robots:
        start = time.perf_counter()
        count = compare(name, arguments.count, arguments.seed)
        print(
            f"{name}: {count.asked} agree, {count.free} free, {count.unique} with one nearest pair, "
            f"{count.settled} where coal's depth is wrong, largest difference {count.worst:.1e} m, "
            f"{time.perf_counter() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
