"""Every pair within a distance: against pinocchio and coal, and against finite differences of other code's poses."""

from __future__ import annotations

import coal
import numpy as np
import pytest
from chains import drawn, random_robot
from example_robots import some
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE, Oracle
from scipy.optimize import minimize

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.robot import Checker, Robot

STEP = 1e-6


def at(x, y, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def by_names(found, k):
    """Of a configuration, the row of the least distance of each two names."""
    rows = range(found.starts[k], found.starts[k + 1])
    least = {}
    for r in sorted(rows, key=lambda r: -found.distance[r]):
        least[frozenset(found.pairs[found.pair[r]])] = r
    return least


@pytest.mark.parametrize("name", ["panda", "ur5", "talos"])
def test_distances_and_gradients_are_those_of_pinocchio_and_coal(name):
    oracle = Oracle(name)
    checker, q = Checker(oracle.robot), some(oracle.robot, 3, 7)
    found = checker.distances(q, within=0.5)
    compared = 0
    for k, row in enumerate(q):
        truth, _ = oracle.distances(row)
        near = by_names(found, k)
        for names, d in zip(oracle.distinct, truth, strict=True):
            if CLOSE < d < 0.5 - CLOSE:
                assert found.distance[near[names]] == pytest.approx(d, abs=CLOSE)
                assert found.lower[near[names]] - CLOSE <= d <= found.upper[near[names]] + CLOSE
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
                steady = abs(slopes[0][n] - slopes[1][n]) < 1e-5  # elsewhere the nearest points jump
                if names in near and steady and CLOSE < truth[n] < 0.5:
                    assert found.gradient[near[names], column] == pytest.approx(slopes[0][n], abs=2e-3)
                    compared += 1
    assert compared > 100


class Twin:
    """Distances of convex bodies by coal, at link poses that are held against pinocchio elsewhere."""

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
                body = next(each for each in self.robot.bodies if each.link == link)
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
        (one, x), (two, y) = placed
        return coal.distance(one, x, two, y, request, result)


@given(st.integers(0, 10_000))
def test_robots_drawn_at_random(tmp_path_factory, seed):
    robot = random_robot(tmp_path_factory.mktemp("robot"), seed, links=5)
    if not robot.dof:
        return
    around = {"ball": (gk.Sphere(0.2), at(0.7, 0.2, 0.4)), "crate": (gk.Box((0.3, 0.2, 0.5)), at(-0.8, 0.3, 0.1))}
    twin, checker = Twin(robot, around), Checker(robot, around)
    q = drawn(robot, 2, seed)
    found = checker.distances(q, jacobians=True)
    assert found.starts.tolist() == [0, len(found.pairs), 2 * len(found.pairs)]
    assert found.pair.tolist() == [*range(len(found.pairs))] * 2
    for r, (a, b) in enumerate(found.pairs[p] for p in found.pair):
        row = q[found.configuration[r]]
        d = twin.distance(a, b, row)
        if d < 1e-3:
            assert found.distance[r] < 2e-3
            continue
        assert found.lower[r] - 1e-7 <= d <= found.upper[r] + 1e-7
        poses = robot.link_poses(row)
        for name, point, moved in (
            (a, found.point_a[r], found.jacobian_a[r]),
            (b, found.point_b[r], found.jacobian_b[r]),
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
        slope = found.normal[r] @ (found.jacobian_b[r] - found.jacobian_a[r])
        assert found.gradient[r] == pytest.approx(slope, abs=1e-12)


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


def test_bodies_half_spaces_and_what_is_held():
    checker, robot = arm(), Robot.example()
    q = np.random.default_rng(3).uniform(-2.0, 2.0, (20, 2))
    found = checker.distances(q)
    shapes = {name: [(b.shape, b.pose) for b in robot.bodies if robot.links[b.link] == name] for name in robot.links}
    for k in range(len(q)):
        poses = dict(zip(robot.links, robot.link_poses(q[k]), strict=True))
        for r in range(found.starts[k], found.starts[k + 1]):
            placed = []
            for name in found.pairs[found.pair[r]]:
                if name in shapes:
                    ((shape, pose),) = shapes[name]
                    placed.append((shape, poses[name] @ pose))
                elif name == "tool":
                    placed.append((checker.shape(name), poses["hand"] @ checker.pose(name)))
                else:
                    placed.append((checker.shape(name), checker.pose(name)))
            (a, x), (b, y) = placed
            d = gk.signed_distance(a, b, x, y)
            assert found.lower[r] <= d.upper + 1e-9
            assert d.lower - 1e-9 <= found.upper[r]
    assert {frozenset(pair) for pair in found.pairs} > {frozenset(("tool", "shelf")), frozenset(("hand", "floor"))}


@pytest.mark.parametrize("within", [-0.05, 0.0, 0.3, np.inf])
def test_rows_stand_in_order_and_are_those_of_any_other_stack(within):
    checker = arm()
    q = np.random.default_rng(4).uniform(-3.0, 3.0, (30, 2))
    found, every = checker.distances(q, within), checker.distances(q)
    key = found.configuration * len(found.pairs) + found.pair
    assert (np.diff(key) > 0).all()
    assert (found.lower <= within).all()
    assert np.isin(np.flatnonzero(every.upper <= within), np.flatnonzero(np.isin(
        every.configuration * len(every.pairs) + every.pair, key
    ))).all()  # fmt: skip
    for k in range(len(q)):
        one, rows = checker.distances(q[k], within), slice(found.starts[k], found.starts[k + 1])
        assert one.starts.tolist() == [0, rows.stop - rows.start]
        assert one.pair.tolist() == found.pair[rows].tolist()
        assert one.distance == pytest.approx(found.distance[rows], abs=1e-9)
        assert one.gradient == pytest.approx(found.gradient[rows], abs=1e-6)
    least = checker.clearance(q)
    if within == np.inf:
        assert np.minimum.reduceat(found.distance, found.starts[:-1]) == pytest.approx(least.distance, abs=1e-9)


def test_stacks_that_do_not_fit_at_once(monkeypatch):
    checker = arm()
    q = np.random.default_rng(5).uniform(-3.0, 3.0, (50, 2))
    whole = checker.distances(q, 0.5, jacobians=True)
    monkeypatch.setattr("gjk3d.robot.results._AT_ONCE", 20)
    for one, two in zip(whole, checker.distances(q, 0.5, jacobians=True), strict=True):
        assert np.array_equal(one, two)


def test_no_configurations_and_nothing_near():
    none = arm().distances(np.empty((0, 2)))
    assert none.starts.tolist() == [0]
    assert none.gradient.shape == (0, 2)
    assert [each.shape for each in none.penalty(0.1)] == [(0,), (0, 2)]
    far = Checker(Robot.example()).distances([[0.0, 0.0]], within=0.01, jacobians=True)
    assert far.starts.tolist() == [0, 0]
    assert far.jacobian_a.shape == (0, 3, 2)
    alone = Robot.example()
    alone.allowed.allow("post", "hand")
    assert Checker(alone).distances([0.0, 0.0]).pairs == ()


def test_the_penalty_is_what_is_lacking_squared():
    checker = arm()
    q = np.random.default_rng(6).uniform(-1.5, 1.5, (12, 2))
    found = checker.distances(q, 0.4)
    margin = np.linspace(0.1, 0.4, len(found.pairs))
    cost, slope = found.penalty(margin)
    for k in range(len(q)):
        rows = slice(found.starts[k], found.starts[k + 1])
        lacking = np.maximum(margin[found.pair[rows]] - found.distance[rows], 0.0)
        assert cost[k] == pytest.approx((lacking**2).sum())
        assert slope[k] == pytest.approx(-2.0 * lacking @ found.gradient[rows])
    steady = 0
    for column in range(2):
        step = 1e-6 * np.eye(2)[column]
        numeric = (
            checker.distances(q + step, 0.4).penalty(margin)[0] - checker.distances(q - step, 0.4).penalty(margin)[0]
        ) / 2e-6
        steady += int((np.abs(numeric - slope[:, column]) < 1e-4).sum())
    assert steady >= 20  # but for where nearest points jump in overlap


def test_scipy_brings_a_colliding_arm_out():
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
def test_errors(ask, text):
    with pytest.raises(RobotError, match=text):
        ask(arm())
