"""Robots against pinocchio and coal with hulls for meshes: ``python tests/robot/oracle.py`` asks 2000 times each.

What is compared is the sign of coal's signed distance, not its boolean: as pinocchio calls it that misses overlaps.
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
CLOSE = 1e-7  #: metres: what signed distances may differ by, as may the signs of smaller ones


@cache
def made(name: str, geometry: str = "hull") -> Robot:
    """The robot with the pairs of its SRDF; Tiago Pro has none, and gets its pairs by sampling."""
    one = Robot.from_urdf(SHARE / URDFS[name], SRDFS.get(name) and SHARE / SRDFS[name], geometry=geometry)
    if name not in SRDFS:
        one.allowed = allow_by_sampling(one, 500, prove=0) if geometry == "hull" else made(name).allowed
    return one


class Oracle:
    """Pinocchio's and coal's signed distance of each pair of geometries that the robot checks."""

    def __init__(self, name: str) -> None:
        self.robot, self.twin = made(name), twin(name)
        self.shapes, links = hulls_of(name)
        checked = {frozenset((self.robot.links[a], self.robot.links[b])) for a, b in self.robot.pairs.tolist()}
        self.names = []
        pairs = [(pair.first, pair.second) for pair in self.shapes.collisionPairs]  # its elements are views
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
        """Signed distance of each pair of links, and coal's answer for each pair of geometries."""
        other = self.twin
        pinocchio.computeDistances(other.model, other.data, self.shapes, self.data, other.numbers(q))
        answers = self.data.distanceResults
        out = np.full(len(self.distinct), np.inf)
        np.minimum.at(out, self.place, [answer.min_distance for answer in answers])
        return out, answers

    def settled(self, q: np.ndarray, distances: np.ndarray, answers: list) -> np.ndarray:
        """The distances with overlaps as gjk3d has them, each proven in rational arithmetic.

        Coal's depth is -1.8e308 or several times too large for some pairs, depending on what it was asked before.
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
            for one in a:
                for other in b:
                    placed = one.shape, other.shape, poses[one.link] @ one.pose, poses[other.link] @ other.pose
                    found = gk.signed_distance(*placed)
                    assert gk.verify(found, *placed)
                    assert found.upper - found.lower < CLOSE
                    out[k] = min(out[k], found.distance)
        return out


class Count(NamedTuple):
    """What a comparison saw: configurations, free ones, ones whose nearest pair is unique, ones where coal erred."""

    asked: int
    free: int
    unique: int
    settled: int
    worst: float  #: largest difference of signed distances, metres


def compare(name: str, count: int, seed: int = 0) -> Count:
    """Assert that a checker and the oracle agree on that many configurations."""
    oracle = Oracle(name)
    checker, q = Checker(oracle.robot), some(oracle.robot, count, seed)
    free, nearest = checker.free(q), checker.clearance(q)
    unique, settled, worst = 0, 0, 0.0
    for k in range(count):
        distances, answers = oracle.distances(q[k])
        least = distances.min()
        if abs(nearest.distance[k] - least) > CLOSE and least < 0.0:
            distances = oracle.settled(q[k], distances, answers)
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
        found = {frozenset(each.pair): each.distance for each in checker.collisions(q[k])}
        sure = {names for names, d in zip(oracle.distinct, distances, strict=True) if d < -CLOSE}
        assert sure <= set(found), about
        assert all(distances[oracle.distinct.index(names)] <= CLOSE for names in found), about
        hit = checker.hit(q[k])
        assert (hit is None) == free[k], about
        if hit is not None:
            assert distances[oracle.distinct.index(frozenset(hit))] <= CLOSE, about
    return Count(count, int(free.sum()), unique, settled, worst)


def main(given: list[str] | None = None) -> None:
    """Print one line a robot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(given)
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
