"""Distances of all pairs within a limit, compared with pinocchio and coal, and gradients with finite differences."""

from __future__ import annotations

import coal
import numpy as np
import pytest
from example_robots import some
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE, Oracle
from random_robots import drawn, random_robot
from scipy.optimize import minimize

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.robot import Checker, Robot

STEP = 1e-6


def at(x, y, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def by_names(result, k):
    """Return the row of the least distance of each pair of names at configuration k."""
    rows = range(result.starts[k], result.starts[k + 1])
    least = {}
    for r in sorted(rows, key=lambda r: -result.distance[r]):
        least[frozenset(result.pairs[result.pair[r]])] = r
    return least


@pytest.mark.parametrize("name", ["panda", "ur5", "talos"])
def test_distances_and_gradients_agree_with_coal(name):
    oracle = Oracle(name)
    checker, q = Checker(oracle.robot), some(oracle.robot, 3, 7)
    result = checker.distances(q, within=0.5)
    compared = 0
    for k, row in enumerate(q):
        truth, _ = oracle.distances(row)
        near = by_names(result, k)
        for names, d in zip(oracle.distinct, truth, strict=True):
            if CLOSE < d < 0.5 - CLOSE:
                assert result.distance[near[names]] == pytest.approx(d, abs=CLOSE)
                assert result.lower[near[names]] - CLOSE <= d <= result.upper[near[names]] + CLOSE
            elif d > 0.5 + CLOSE:
                assert names not in near
        for column in range(0, oracle.robot.dof, 4 if name == "talos" else 1):
            slopes = []
            for step in (1e-4, 5e-5):
                ahead, behind = row.copy(), row.copy()
                ahead[column] += step
                behind[column] -= step
                slopes.append((oracle.distances(ahead)[0] - oracle.distances(behind)[0]) / (2.0 * step))
            for n, names in enumerate(oracle.distinct):
                steady = abs(slopes[0][n] - slopes[1][n]) < 1e-5  # otherwise the nearest points jump
                if names in near and steady and CLOSE < truth[n] < 0.5:
                    assert result.gradient[near[names], column] == pytest.approx(slopes[0][n], abs=2e-3)
                    compared += 1
    assert compared > 100


class Twin:
    """Distances of convex shapes by coal. Its link poses are compared with pinocchio in other tests."""

    def __init__(self, robot, around):
        self.robot, self.around = robot, around

    def distance(self, a, b, q):
        poses = self.robot.link_poses(q)
        placed = []
        for name in (a, b):
            if name in self.around:
                shape, pose = self.around[name]
            else:
                link = self.robot.links.index(name)
                body = next(entry for entry in self.robot.bodies if entry.link == link)
                shape, pose = body.shape, poses[link] @ body.pose
            made = {
                gk.Box: lambda s: coal.Box(*s.extents),
                gk.Sphere: lambda s: coal.Sphere(s.radius),
                gk.Cylinder: lambda s: coal.Cylinder(s.radius, s.height),
            }[type(shape)](shape)
            placed.append((made, coal.Transform3s(pose[:3, :3].copy(), pose[:3, 3].copy())))
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        request.gjk_tolerance = request.epa_tolerance = 1e-12
        request.gjk_max_iterations = 1000
        (first, x), (second, y) = placed
        return coal.distance(first, x, second, y, request, result)


@given(st.integers(0, 10_000))
def test_random_robots_agree_with_coal(tmp_path_factory, seed):
    robot = random_robot(tmp_path_factory.mktemp("robot"), seed, links=5)
    if not robot.dof:
        return
    around = {"ball": (gk.Sphere(0.2), at(0.7, 0.2, 0.4)), "crate": (gk.Box((0.3, 0.2, 0.5)), at(-0.8, 0.3, 0.1))}
    twin, checker = Twin(robot, around), Checker(robot, around)
    q = drawn(robot, 2, seed)
    result = checker.distances(q, jacobians=True)
    assert result.starts.tolist() == [0, len(result.pairs), 2 * len(result.pairs)]
    assert result.pair.tolist() == [*range(len(result.pairs))] * 2
    for r, (a, b) in enumerate(result.pairs[p] for p in result.pair):
        row = q[result.configuration[r]]
        d = twin.distance(a, b, row)
        if d < 1e-3:
            assert result.distance[r] < 2e-3
            continue
        assert result.lower[r] - 1e-7 <= d <= result.upper[r] + 1e-7
        poses = robot.link_poses(row)
        for name, point, moved in (
            (a, result.point_a[r], result.jacobian_a[r]),
            (b, result.point_b[r], result.jacobian_b[r]),
        ):
            if name in around:
                assert not moved.any()
                continue
            link = robot.links.index(name)
            local = np.linalg.inv(poses[link]) @ [*point, 1.0]
            for column in range(robot.dof):
                ends = [
                    robot.link_poses(row + sign * STEP * np.eye(robot.dof)[column])[link] @ local for sign in (1, -1)
                ]
                assert moved[:, column] == pytest.approx((ends[0] - ends[1])[:3] / (2.0 * STEP), abs=1e-7)
        slope = result.normal[r] @ (result.jacobian_b[r] - result.jacobian_a[r])
        assert result.gradient[r] == pytest.approx(slope, abs=1e-12)


SHELF = gk.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
AROUND = {
    "floor": gk.Halfspace((0, 0, 1), -0.2),
    "shelf": (SHELF, at(0.3, 1.0)),
    "cloud": gk.PointCloud([[1.0, -1.0, 0.0], [1.2, -1.0, 0.1]], 0.02),
    "ball": (gk.Sphere(0.2), at(-0.5, 1.0)),
}


def arm():
    checker = Checker(Robot.example(), AROUND)
    checker.attach("tool", gk.Box((0.2, 0.05, 0.05)), "hand", at(0.6, 0.0), touch_links=["beam"])
    return checker


def test_meshes_half_spaces_and_attached_objects():
    checker, robot = arm(), Robot.example()
    q = np.random.default_rng(3).uniform(-2.0, 2.0, (20, 2))
    result = checker.distances(q)
    shapes = {name: [(b.shape, b.pose) for b in robot.bodies if robot.links[b.link] == name] for name in robot.links}
    for k in range(len(q)):
        poses = dict(zip(robot.links, robot.link_poses(q[k]), strict=True))
        for r in range(result.starts[k], result.starts[k + 1]):
            placed = []
            for name in result.pairs[result.pair[r]]:
                if name in shapes:
                    ((shape, pose),) = shapes[name]
                    placed.append((shape, poses[name] @ pose))
                elif name == "tool":
                    placed.append((checker.shape(name), poses["hand"] @ checker.pose(name)))
                else:
                    placed.append((checker.shape(name), checker.pose(name)))
            (a, x), (b, y) = placed
            d = gk.signed_distance(a, b, x, y)
            assert result.lower[r] <= d.upper + 1e-9
            assert d.lower - 1e-9 <= result.upper[r]
    assert {frozenset(pair) for pair in result.pairs} > {frozenset(("tool", "shelf")), frozenset(("hand", "floor"))}


@pytest.mark.parametrize("within", [-0.05, 0.0, 0.3, np.inf])
def test_rows_are_ordered_and_equal_single_queries(within):
    checker = arm()
    q = np.random.default_rng(4).uniform(-3.0, 3.0, (30, 2))
    result, every = checker.distances(q, within), checker.distances(q)
    key = result.configuration * len(result.pairs) + result.pair
    assert (np.diff(key) > 0).all()
    assert (result.lower <= within).all()
    assert np.isin(np.flatnonzero(every.upper <= within), np.flatnonzero(np.isin(
        every.configuration * len(every.pairs) + every.pair, key
    ))).all()  # fmt: skip
    for k in range(len(q)):
        single, rows = checker.distances(q[k], within), slice(result.starts[k], result.starts[k + 1])
        assert single.starts.tolist() == [0, rows.stop - rows.start]
        assert single.pair.tolist() == result.pair[rows].tolist()
        assert single.distance == pytest.approx(result.distance[rows], abs=1e-9)
        assert single.gradient == pytest.approx(result.gradient[rows], abs=1e-6)
    least = checker.clearance(q)
    if within == np.inf:
        assert np.minimum.reduceat(result.distance, result.starts[:-1]) == pytest.approx(least.distance, abs=1e-9)


def test_large_stacks_are_split_without_change(monkeypatch):
    checker = arm()
    q = np.random.default_rng(5).uniform(-3.0, 3.0, (50, 2))
    expected = checker.distances(q, 0.5, jacobians=True)
    monkeypatch.setattr("gjk3d.robot.results._AT_ONCE", 20)
    for a, b in zip(expected, checker.distances(q, 0.5, jacobians=True), strict=True):
        assert np.array_equal(a, b)


def test_results_without_rows():
    none = arm().distances(np.empty((0, 2)))
    assert none.starts.tolist() == [0]
    assert none.gradient.shape == (0, 2)
    assert [array.shape for array in none.penalty(0.1)] == [(0,), (0, 2)]
    far = Checker(Robot.example()).distances([[0.0, 0.0]], within=0.01, jacobians=True)
    assert far.starts.tolist() == [0, 0]
    assert far.jacobian_a.shape == (0, 3, 2)
    robot = Robot.example()
    robot.allowed.allow("post", "hand")
    assert Checker(robot).distances([0.0, 0.0]).pairs == ()


def test_penalty_is_squared_shortfall_of_distance():
    checker = arm()
    q = np.random.default_rng(6).uniform(-1.5, 1.5, (12, 2))
    result = checker.distances(q, 0.4)
    margin = np.linspace(0.1, 0.4, len(result.pairs))
    cost, slope = result.penalty(margin)
    for k in range(len(q)):
        rows = slice(result.starts[k], result.starts[k + 1])
        lacking = np.maximum(margin[result.pair[rows]] - result.distance[rows], 0.0)
        assert cost[k] == pytest.approx((lacking**2).sum())
        assert slope[k] == pytest.approx(-2.0 * lacking @ result.gradient[rows])
    steady = 0
    for column in range(2):
        step = 1e-6 * np.eye(2)[column]
        numeric = (
            checker.distances(q + step, 0.4).penalty(margin)[0] - checker.distances(q - step, 0.4).penalty(margin)[0]
        ) / 2e-6
        steady += int((np.abs(numeric - slope[:, column]) < 1e-4).sum())
    assert steady >= 20  # the rest are overlaps where the nearest points jump


def test_scipy_minimizer_frees_a_colliding_arm():
    checker = Checker(Robot.example(), {"pole": (gk.Cylinder(0.1, 3.0), at(0.65, 0.9))})
    start = np.array([0.9, 0.4])
    assert not checker.free(start)

    def cost(q):
        value, slope = checker.distances(q, 0.05).penalty(0.05)
        return value[0] + 1e-4 * (q - start) @ (q - start), slope[0] + 2e-4 * (q - start)

    assert checker.free(minimize(cost, start, jac=True, method="L-BFGS-B", tol=1e-12).x)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda c: c.distances([0.0, 0.0], within=np.nan), "within.*nan"),
        (lambda c: c.distances([0.0, 0.0], within="near"), "within.*'near'"),
        (lambda c: c.distances([0.0, 0.0], within=[0.1]), r"within.*\[0\.1\]"),
        (lambda c: c.distances([0.0]), r"q.*\(1,\).*shoulder, elbow"),
        (lambda c: c.distances([0.0, 0.0]).penalty(np.nan), "margin.*nan"),
        (lambda c: c.distances([0.0, 0.0]).penalty(True), "margin.*True"),
        (lambda c: c.distances([0.0, 0.0]).penalty([0.1, 0.1, 0.1]), r"margin.*\[0\.1, 0\.1, 0\.1\].*18"),
        (lambda c: c.distances([0.0, 0.0], within=0.1).penalty(0.2), r"distances\(q, within=0\.2\)"),
    ],
)
def test_invalid_arguments_raise(ask, text):
    with pytest.raises(RobotError, match=text):
        ask(arm())
