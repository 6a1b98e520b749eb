"""The checker compared with single queries of every pair. Other tests compare the link poses with pinocchio."""

from __future__ import annotations

import os
import pickle
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from message_checks import assert_names

import gjk3d as gk
from gjk3d.robot import Checker, Robot
from gjk3d.wording import format_bounds

SHARE = os.path.join(sysconfig.get_paths()["purelib"], "cmeel.prefix/share/example-robot-data/robots")
PANDA = f"{SHARE}/panda_description/urdf/panda.urdf", f"{SHARE}/panda_description/srdf/panda.srdf"
UR5 = f"{SHARE}/ur_description/urdf/ur5_robot.urdf", f"{SHARE}/ur_description/srdf/ur5.srdf"


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


AROUND = {
    "post": (gk.Box((0.1, 0.1, 1.2)), at(0.45, 0.3, 0.4)),
    "ball": (gk.Sphere(0.15), at(-0.4, 0.2, 0.7)),
    "drum": (gk.Cylinder(0.2, 0.4), at(0.3, -0.5, 0.3)),
}


@pytest.fixture(scope="module", params=["panda hull", "panda bodies", "ur5 hull", "ur5 bodies"])
def robot(request):
    name, geometry = request.param.split()
    return Robot.from_urdf(*(PANDA if name == "panda" else UR5), geometry=geometry)


def drawn(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    low = np.where(np.isfinite(robot.lower), robot.lower, -3.0)
    high = np.where(np.isfinite(robot.upper), robot.upper, 3.0)
    return rng.uniform(low, high, (count, robot.dof))


def every_pair(robot, q, around):
    """Return the least signed distance of each pair of names, from single queries of the shapes."""
    links = robot.link_poses(q)
    checked = {tuple(pair) for pair in robot.pairs.tolist()}
    bodies = [(b.link, links[b.link] @ b.pose, b.shape) for b in robot.bodies]
    distances = {}
    for k, (i, pose, shape) in enumerate(bodies):
        others = [(robot.links[j], p, s) for j, p, s in bodies[k + 1 :] if (min(i, j), max(i, j)) in checked]
        for name, second, s in [*others, *((name, p, s) for name, (s, p) in around.items())]:
            key = frozenset((robot.links[i], name))
            d = gk.signed_distance(shape, s, pose, second).distance
            distances[key] = min(distances.get(key, np.inf), d)
    return distances


@pytest.mark.parametrize("around", [{}, AROUND], ids=["itself", "surroundings"])
def test_checker_agrees_with_single_pairs(robot, around):
    checker = Checker(robot, around)
    q = drawn(robot, 40)
    free, nearest = checker.free(q), checker.clearance(q)
    for k in range(len(q)):
        truth = every_pair(robot, q[k], around)
        least = min(truth.values())
        assert free[k] == (least > 0.0)
        assert nearest.distance[k] == pytest.approx(least, abs=1e-9)
        assert nearest.lower[k] <= least + 1e-9  # the error of the reference for curved pairs
        assert least - 1e-9 <= nearest.upper[k]
        assert truth[frozenset(nearest.pair[k])] == pytest.approx(least, abs=1e-9)
        hit = checker.hit(q[k])
        assert (hit is None) == free[k]
        if hit is not None:
            assert truth[frozenset(hit)] <= 0.0
        gap = nearest.point_b[k] - nearest.point_a[k] - nearest.distance[k] * nearest.normal[k]
        assert np.linalg.norm(gap) < 1e-11
    if around:
        assert 0 < free.sum() < len(q)


def test_single_stacked_threads_and_order_agree(robot):
    checker, fresh = Checker(robot, AROUND), Checker(robot, AROUND)
    q = drawn(robot, 300, 5)
    free = checker.free(q)
    assert np.array_equal(free, [fresh.free(row) for row in q[::-1]][::-1])
    assert np.array_equal(free, checker.free(q, workers=2))
    assert np.array_equal(free, checker.free(q))
    nearest = checker.clearance(q)
    assert np.array_equal(free, nearest.distance > 0)
    assert nearest.distance == pytest.approx(fresh.clearance(q, workers=2).distance, abs=1e-10)
    single = checker.clearance(q[0])
    assert single.distance == pytest.approx(nearest.distance[0], abs=1e-10)
    assert isinstance(single.distance, float)


def test_single_configuration_equals_stack_of_one(robot):
    checker = Checker(robot, AROUND)
    q = drawn(robot, 40, seed=8)
    first, second = checker.copy(), checker.copy()  # equal histories, since rounding may depend on them
    for shift in (0.0, 0.3):
        first.move("ball", at(-0.4 + shift, 0.2, 0.7))
        second.move("ball", at(-0.4 + shift, 0.2, 0.7))
        for k, row in enumerate(q):
            single, stack = first.clearance(row), second.clearance(q[k : k + 1])
            assert single.pair == stack.pair[0]
            for name in ("distance", "lower", "upper", "normal", "point_a", "point_b"):
                assert np.array_equal(getattr(single, name), getattr(stack, name)[0]), (shift, k, name)
            assert first.gradient(row).tolist() == second.gradient(q[k : k + 1])[0].tolist()
            others = first.collisions(row), second.collisions(q[k : k + 1])[0]
            assert [(c.pair, c.distance) for c in others[0]] == [(c.pair, c.distance) for c in others[1]]


def test_single_motion_equals_row_of_stack(robot):
    checker = Checker(robot, AROUND)
    q = drawn(robot, 60, seed=9)
    first, second = q, np.concatenate([q[1:30], q[:31] + 0.03])
    second[5], second[7] = first[5], first[7] + 1e-9
    stack, coarse = checker.motion_free(first, second), checker.motion_free(first, second, resolution=50.0)
    for k in range(len(q)):
        for every, step in ((stack, 0.05), (coarse, 50.0)):
            single = checker.motion_free(first[k], second[k], resolution=step)
            assert (single.free, single.status, single.safe) == (every.free[k], every.status[k], every.safe[k])
            assert single.hit == every.hit[k] or (np.isnan(single.hit) and np.isnan(every.hit[k]))
            assert (single.pair is None) == (every.pair[k] is None)
    assert 5 < stack.free.sum() < 55
    assert (type(single.free), type(single.safe), type(single.hit)) == (bool, float, float)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nonfinite_configurations_raise(bad):
    checker = Checker(Robot.example(), {"ball": (gk.Sphere(0.1), at(1, 1, 1))})
    checker.clearance(np.zeros(2))
    q = np.array([0.0, bad])
    for query in (checker.clearance, checker.gradient, checker.free):
        with pytest.raises(gk.errors.RobotError, match=rf"\[1\].*{bad}.*'elbow'"):
            query(q)
    for ends in ((q, np.zeros(2)), (np.zeros(2), q)):
        with pytest.raises(gk.errors.RobotError, match=rf"\[1\].*{bad}.*'elbow'"):
            checker.motion_free(*ends)


def test_threads_share_checker(robot):
    checker = Checker(robot, AROUND)
    q = drawn(robot, 4000, 9)
    truth = checker.free(q)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(checker.free, [q] * 12))
    assert all(np.array_equal(truth, result) for result in results)
    order = checker._cell().memory.order
    assert sorted(order.tolist()) == list(range(len(order)))
    assert np.array_equal(pickle.loads(pickle.dumps(checker)).free(q), truth)


def test_half_written_memory_is_not_read(robot):
    """Queries do not copy the order or the axes of pairs while another thread writes them.

    A half-written copy once lacked a pair, so that colliding configurations were reported as free.
    """
    checker = Checker(robot, AROUND)
    q = drawn(robot, 1000, 10)
    truth, motions = checker.free(q), checker.motion_free(q[:50], q[50:100])
    with checker._cell().memory.lent(1) as memory:
        order, axes = memory.order, memory.axes
        saved = order.copy(), axes.copy()
        order[:], axes[:, 1:4] = order[0], 1.0  # the worst half-written state
        axes[:, 0] = 1.0
        assert np.array_equal(checker.free(q), truth)
        assert np.array_equal(checker.free(q, workers=2), truth)
        assert np.array_equal(checker.copy().free(q), truth)
        again = checker.motion_free(q[:50], q[50:100])
        order[:], axes[:] = saved
    assert np.array_equal(again.free, motions.free)
    assert np.array_equal(again.hit, motions.hit, equal_nan=True)


CHANGES = {
    "objects": (lambda c: c.add("ball 2", gk.Sphere(0.4)), lambda c: c.remove("ball 2")),
    "poses": (lambda c: c.move("drum", at(0.2, 0.0, 0.5)), lambda c: c.move("drum", AROUND["drum"][1])),
    "margins": (lambda c: c.set_margin("drum", None, 0.3), lambda c: c.set_margin("drum", None, 0.0)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_checker_changes_during_threaded_queries(robot, what):
    """Each result is that of the cell before or after a change.

    Kernels once got scratch arrays of other tables and wrote out of bounds.
    """
    change, back = CHANGES[what]
    q = drawn(robot, 60, 12)
    checker = Checker(robot, AROUND)
    before = checker.free(q)
    change(checker)
    after = checker.free(q)
    back(checker)
    assert (before != after).any()
    interval, stop = sys.getswitchinterval(), False
    sys.setswitchinterval(1e-5)

    def run_queries():
        flags = []
        while not stop:
            flags += [checker.free(q), checker.motion_free(q[:2], q[2:4], certify=True).free]
        return flags[::2]

    try:
        with ThreadPoolExecutor(3) as pool:
            futures = [pool.submit(run_queries) for _ in range(3)]
            for _ in range(60):
                change(checker)
                back(checker)
            stop = True
            results = [free for future in futures for free in future.result()]
    finally:
        stop = True
        sys.setswitchinterval(interval)
    assert results
    assert all(np.array_equal(free, before) or np.array_equal(free, after) for free in results)
    assert np.array_equal(checker.free(q), before)


def test_margin(robot):
    q = drawn(robot, 200, 6)
    distance = Checker(robot, AROUND).clearance(q).distance
    for margin in (0.05, -0.02):
        assert np.array_equal(Checker(robot, AROUND, margin=margin).free(q), distance > margin)


def test_margin_of_pair_takes_precedence(robot):
    q = drawn(robot, 150, 11)
    checker = Checker(robot, AROUND, margin=0.01)
    checker.set_margin("ball", None, 0.06)
    first = robot.links[robot.geometries[-1].link]
    checker.set_margin("post", first, -0.03)
    pair_of_links = tuple(robot.links[k] for k in robot.pairs[0])
    checker.set_margin(*pair_of_links, 0.1)

    def margin(pair):
        if pair == frozenset((first, "post")):
            return -0.03
        return 0.1 if pair == frozenset(pair_of_links) else 0.06 if "ball" in pair else 0.01

    free, plain = checker.free(q), Checker(robot, AROUND, margin=0.01).free(q)
    for k in range(len(q)):
        truth = every_pair(robot, q[k], AROUND)
        assert free[k] == all(distance > margin(pair) for pair, distance in truth.items())
    assert 0 < free.sum() < len(q)
    assert (free != plain).any()
    assert np.array_equal(free, pickle.loads(pickle.dumps(checker)).free(q))
    for a, b in (("ball", "bell"), ("ball", "post"), ("ball", "ball")):
        with pytest.raises(gk.errors.RobotError, match="set_margin"):
            checker.set_margin(a, b, 0.0)
    with pytest.raises(gk.errors.ShapeError, match="margin"):
        checker.set_margin("ball", None, np.nan)


def test_repr_of_clearance_reports_nearest_pair():
    checker, q = Checker(Robot.example(), {"ball": AROUND["ball"]}), np.zeros((40, 2))
    single, many = checker.clearance(q[0]), checker.clearance(q)
    between = f"{format_bounds(single.lower, single.upper)} between {single.pair[0]!r} and {single.pair[1]!r}>"
    assert repr(single) == f"<RobotClearance: {between}"
    assert_names(repr(many), "<RobotClearance", " 40 ", "row 1", between)
    assert_names(repr(checker.clearance(q[0], max_distance=1e-3)), "<RobotClearance", "no pair")
    assert_names(repr(checker.clearance(q[:0])), "<RobotClearance", " 0 ")


def test_clearance_beyond_max_distance_is_infinite(robot):
    checker = Checker(robot)
    q = drawn(robot, 50, 7)
    far, near = checker.clearance(q), checker.clearance(q, max_distance=0.05)
    beyond = far.distance > 0.05
    assert np.isinf(near.distance[beyond]).all()
    assert near.distance[~beyond] == pytest.approx(far.distance[~beyond], abs=1e-10)
    assert [pair is None for pair in near.pair] == beyond.tolist()


def test_gradient_by_central_differences(robot):
    checker = Checker(robot, AROUND)
    h, right = 1e-6, 0
    q = drawn(robot, 12, 8)
    for row, slope in zip(q, checker.gradient(q), strict=True):
        steps = np.eye(robot.dof) * h
        up, down = (checker.clearance(row + sign * steps) for sign in (1, -1))
        if len({*map(tuple, up.pair), *map(tuple, down.pair)}) > 1:
            continue  # the nearest pair changes within the step
        numeric = (up.distance - down.distance) / (2 * h)
        # the gradient is discontinuous at edges and corners of polytopes, so not every row agrees
        right += np.allclose(slope, numeric, atol=2e-4)
    assert right >= 8
    assert checker.gradient(q[0]) == pytest.approx(checker.gradient(q)[0], abs=1e-7)


def test_touching_allows_pair_of_link_and_object():
    robot = Robot.from_urdf(*PANDA)
    floor = {"floor": (gk.Box((4, 4, 0.1)), at(0, 0, -0.05))}
    q = np.zeros(robot.dof)
    q[3] = -1.5
    assert Checker(robot, floor).hit(q) == ("panda_link0", "floor")
    assert Checker(robot, floor, touching=[("panda_link0", "floor")]).free(q)


def test_robot_without_checked_pairs_is_free():
    robot = Robot.from_urdf(*PANDA)
    for a in robot.links:
        for b in robot.links:
            if a < b:
                robot.allowed.allow(a, b, "user")
    checker = Checker(robot)
    q = drawn(robot, 3)
    assert checker.free(q).all()
    assert np.isinf(checker.clearance(q).distance).all()
    assert checker.clearance(q).pair == [None] * 3
    assert not checker.gradient(q).any()
    assert checker.free(np.empty((0, robot.dof))).shape == (0,)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda r: Checker(r, {"thing": "box"}), "'thing'.*str.*gjk3d.Box"),
        (lambda r: Checker(r, 7), "surroundings.*int.*gjk3d.Scene"),
        (lambda r: Checker(r, {"panda_hand": gk.Sphere(1)}), "'panda_hand'.*link"),
        (lambda r: Checker(r, {"box": (gk.Box((1, 1, 1)), np.tile(np.eye(4), (2, 1, 1)))}), "pose.*'box'"),
        (lambda r: Checker(r, {"box": gk.Box((1, 1, 1))}, touching=[("panda_link0", "bax")]), "'panda_link0', 'bax'"),
        (lambda r: Checker(r).free(np.zeros(3)), r"shape \(3,\)"),
        (lambda r: Checker(r).free(np.full(r.dof, np.nan)), r"q\[0\].*nan"),
    ],
)
def test_errors(make, text):
    with pytest.raises(gk.errors.Gjk3dError, match=text):
        make(Robot.from_urdf(*PANDA))
