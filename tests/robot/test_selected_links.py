"""Queries of selected links and objects, compared with all pairs filtered by name."""

from __future__ import annotations

import numpy as np
import pytest
from random_robots import drawn, random_robot

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.robot import Checker


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def cell_of(tmp_path, seed, fallback=False):
    """Return a robot and a checker with pairs of every kind: convex, compound, mesh, cloud, and slow fallback pairs."""
    robot = random_robot(tmp_path, seed)
    robot.allowed = []
    rng = np.random.default_rng(seed)
    rails = gk.Compound([(gk.Box((0.1, 0.6, 0.1)), at(x, 0.0, 0.0)) for x in (-0.25, 0.25)])
    around = {
        "ball": (gk.Sphere(0.2), at(0.6, 0.5, 0.2)),
        "mesh": (gk.Mesh(*gk.Box((0.4, 0.4, 0.4)).surface()[:2]), at(-0.6, 0.4, 0.0)),
        "rails": (rails, at(0.3, -0.6, 0.3)),
        "cloud": (gk.PointCloud(rng.normal(size=(50, 3)) * 0.2, 0.02), at(0.0, -0.7, 0.1)),
        "floor": gk.Halfspace((0.0, 0.0, 1.0), -0.6),
    }
    if fallback:
        ball = gk.Support(lambda d: 0.2 * d / np.linalg.norm(d), (0.0, 0.0, 0.0), 0.2)
        around["support"] = ball, at(0.0, 0.0, 0.9)
    checker = Checker(robot, around)
    checker.attach("tool", gk.Box((0.1, 0.1, 0.3)), link="l5")
    return checker.robot, checker


CHOICES = (["l5"], ["tool"], ["ball", "mesh"], ["l2", "cloud"], ["support"], ["l0"], ["floor", "l3"], [])


@pytest.mark.parametrize("links", CHOICES)
def test_links_select_checked_pairs(tmp_path, links):
    robot, checker = cell_of(tmp_path, 5, "support" in links)
    rows = drawn(robot, 4 if "support" in links else 12, 5)
    all_pairs = checker.distances(rows, depth="tight")
    wanted = np.array([not set(links).isdisjoint(all_pairs.pairs[p]) for p in all_pairs.pair], dtype=bool)
    collisions = [[c.pair for c in row if not set(links).isdisjoint(c.pair)] for row in checker.collisions(rows)]
    free, hits, nearest = (query(rows, links=links) for query in (checker.free, checker.hit, checker.clearance))
    for k, q in enumerate(rows):
        assert free[k] == checker.free(q, links=links) == checker.free(q.tolist(), links=tuple(links))
        assert free[k] == (not collisions[k])
        for hit in (hits[k], checker.hit(q, links=links)):
            assert (hit in collisions[k]) if collisions[k] else hit is None
        matching = np.flatnonzero(wanted & (all_pairs.configuration == k))
        least = all_pairs.distance[matching].min(initial=np.inf)
        assert nearest.distance[k] == pytest.approx(least, abs=1e-9)
        single = checker.clearance(q, links=links)
        assert single.distance == pytest.approx(nearest.distance[k], abs=1e-9)
    assert not links or free.any()
    assert checker.free(rows, links=links, workers=3).tolist() == free.tolist()


def test_query_of_links_does_not_change_checker(tmp_path):
    robot, checker = cell_of(tmp_path, 5)
    rows = drawn(robot, 12, 5)
    before = [checker.free(q) for q in rows]
    for q, expected in zip(rows, before, strict=True):
        checker.free(q, links=["l0"])
        assert checker.free(q) == expected
    far = at(9.0, 9.0, 9.0)
    some = [checker.free(q, links=["ball"]) for q in rows]
    checker.move("ball", far)
    assert all(checker.free(q, links=["ball"]) for q in rows) > all(some)
    checker.margin = 20.0
    assert not any(checker.free(q, links=["ball"]) for q in rows)


def test_invalid_links_raise(tmp_path):
    _, checker = cell_of(tmp_path, 5)
    q = np.zeros(checker.robot.dof)
    for query in (checker.free, checker.hit, checker.clearance):
        with pytest.raises(RobotError, match=r"links: 'clod' is neither a link nor an object\. Did you mean 'cloud'"):
            query(q, links=["clod"])
        with pytest.raises(RobotError, match=r"links is the text 'l1', expected names in a list"):
            query(q, links="l1")
