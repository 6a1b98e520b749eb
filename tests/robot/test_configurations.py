"""Single, empty and invalid configurations, and copies and threads of a checker."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.robot import Checker, Robot, general_pairs
from tests.robot.test_cell_objects import HELD, SOLIDS
from tests.robot.test_checker import AROUND, PANDA, UR5, at, drawn


def test_copies_and_threads_agree():
    robot = Robot.from_urdf(*PANDA)
    checker = Checker(robot, {**AROUND, "points": SOLIDS["points"], "floor": SOLIDS["floor"]}, margin=0.02)
    checker.attach("cube", *HELD["cube"][:1], "panda_hand", HELD["cube"][1], ["panda_leftfinger"])
    checker.set_margin("cube", None, 0.0)
    q = drawn(robot, 200, 17)
    truth = checker.free(q)
    for twin in (pickle.loads(pickle.dumps(checker)), copy.deepcopy(checker), copy.copy(checker), checker.copy()):
        assert np.array_equal(twin.free(q), truth)
        assert twin.attached == checker.attached
        assert np.array_equal(twin.free(q, workers=3), truth)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(truth, row) for row in pool.map(checker.free, [q] * 8))
        lists = list(pool.map(checker.collisions, [q[:20]] * 4))
    assert all([hit.pair for row in some for hit in row] == [hit.pair for row in lists[0] for hit in row]
               for some in lists)  # fmt: skip


def test_empty_stacks_and_single_configurations():
    robot = Robot.from_urdf(*UR5, geometry="mesh")
    checker = Checker(robot, {name: SOLIDS[name] for name in ("floor", "rack", "points")})
    none = np.empty((0, robot.dof))
    assert checker.free(none).shape == (0,)
    assert checker.collisions(none) == checker.contacts(none) == checker.hit(none) == []
    assert checker.clearance(none).distance.shape == (0,)
    assert checker.gradient(none).shape == (0, robot.dof)
    q = drawn(robot, 3, 40)
    for k in range(3):
        assert checker.free(q[k]) is bool(checker.free(q)[k])
        assert [hit.pair for hit in checker.collisions(q[k])] == [hit.pair for hit in checker.collisions(q)[k]]
        assert checker.clearance(q[k]).distance == pytest.approx(checker.clearance(q).distance[k], abs=1e-10)
        assert len(checker.contacts(q[k])) == len(checker.contacts(q)[k])
    lower, upper = general_pairs.bounds(checker._cell(), q, 0.2)
    close = general_pairs.bounds(checker._cell(), q)
    assert ((lower <= close[1]) & (close[0] <= upper)).all()
    assert (lower[np.isinf(upper)] > 0.2).all()
    assert np.isfinite(close[1]).all()


@pytest.mark.parametrize("around", [AROUND, {**AROUND, "floor": SOLIDS["floor"], "points": SOLIDS["points"]}])
def test_single_configuration_equals_row_of_stack(around):
    robot = Robot.from_urdf(*PANDA)
    base = [(link, "floor") for link in ("panda_link0", "panda_link1")] if "floor" in around else []
    checker = Checker(robot, around, touching=base)
    q = drawn(robot, 300, 60)

    def agree():
        free = checker.free(q)
        assert 0 < free.sum() < len(q)
        for k, row in enumerate(q):
            assert checker.free(row) is bool(free[k])
            assert (checker.hit(row) is None) == free[k]
        sealed = q[3].copy()
        sealed.setflags(write=False)
        for same in (q[3].tolist(), tuple(q[3]), sealed, np.asfortranarray(q)[3], np.repeat(q[3], 2)[::2]):
            assert checker.free(same) is bool(free[3])
            assert checker.hit(same) == checker.hit(q[3])
        return free

    before = agree()
    checker.margin = 0.05
    wide = agree()
    assert wide.sum() < before.sum()
    checker.set_margin("ball", None, -0.2)
    agree()
    checker.move("post", at(0.4, -0.3, 0.5))
    moved = agree()
    assert (moved != wide).any()
    checker.attach(
        "cube", gk.Box((0.1, 0.1, 0.3)), "panda_hand", at(0, 0, 0.2), ["panda_leftfinger", "panda_rightfinger"]
    )
    agree()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: [checker.free(row) for row in q], range(6)))
    assert all(result == results[0] for result in results)
    assert results[0] == checker.free(q).tolist()


def test_invalid_configurations_raise():
    robot = Robot.from_urdf(*PANDA)
    checker = Checker(robot, {"floor": SOLIDS["floor"], **AROUND})
    checker.free(np.zeros(robot.dof))
    good = np.zeros(robot.dof)
    for bad, text in (
        (np.where(np.arange(robot.dof) == 2, np.nan, 0.0), "panda_joint3"),
        (np.where(np.arange(robot.dof) == 0, np.inf, 0.0), "panda_joint1"),
        ([*good[1:], np.nan], "finite"),
        (good[1:], "shape"),
        ([], "shape"),
        (good[None, None], "shape"),
        (["a"] * robot.dof, "dtype"),
        (good + 1j, "dtype"),
        (good > 1, "dtype"),
        ([True] * robot.dof, "dtype"),
        (None, "None, expected"),
    ):
        for query in (checker.free, checker.hit, checker.clearance, checker.gradient, checker.collisions,
                    checker.contacts):  # fmt: skip
            with pytest.raises(gk.errors.RobotError, match=text):
                query(bad)
    with pytest.raises(gk.errors.ShapeError, match="workers"):
        checker.free(good, workers=0)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda c: c.add("post", gk.Sphere(1)), r"'post'.*object.*remove\('post'\) first, or choose another"),
        (lambda c: c.add("panda_hand", gk.Sphere(1)), "'panda_hand'.*link.*Choose another"),
        (lambda c: c.add("", gk.Sphere(1)), "object.*''"),
        (lambda c: c.add("new", gk.Sphere(1), touching=["hand"]), "'new'.*touching.*'hand'.*'panda_link0'.*'post'"),
        (lambda c: c.add("new", gk.Sphere(1), touching="panda_hand"), "'new'.*touch.*'panda_hand'.*list"),
        (lambda c: c.add("new", 3.0), "'new'.*float.*gjk3d.Box"),
        (lambda c: c.add("new", gk.Sphere(1), np.full((4, 4), np.nan)), r"pose.*'new'.*\[0, 0\].*nan"),
        (lambda c: c.move("new", None), "'new'.*'post', 'ball', 'drum'"),
        (lambda c: c.remove("panda_hand"), "'panda_hand'.*'post', 'ball', 'drum'"),
        (lambda c: c.detach("post"), "'post'.*remove"),
        (lambda c: c.attach("new", gk.Sphere(1), "hand"), "'hand'.*'panda_link0', 'panda_link1'"),
        (lambda c: c.attach("new", gk.Halfspace((0, 0, 1), 0), "panda_hand"), "'new'.*Halfspace.*large Box"),
        (lambda c: c.set_margin("a", None, 0.1), "set_margin.*'a'.*'panda_link0', .*'post', 'ball', 'drum'"),
        (lambda c: c.set_padding("post", 0.1), "set_padding.*'post'.*set_margin"),
        (lambda c: c.attach("new", gk.Sphere(1), "panda_hand", touch_links=["thumb"]), "'new'.*touch_links.*'thumb'"),
        (lambda c: c.set_margin("post", "drum", 0.1), "set_margin.*'post'.*'drum'"),
        (lambda c: c.contacts(np.zeros(c.robot.dof), within=-1), "within"),
        (lambda c: c.collisions([0.0]), "shape"),
    ],
)
def test_errors(make, text):
    checker = Checker(Robot.from_urdf(*PANDA), AROUND)
    with pytest.raises(gk.errors.Gjk3dError, match=text):
        make(checker)
    assert checker.objects == tuple(AROUND)


def test_ragged_configurations_raise():
    checker = Checker(Robot.from_urdf(*PANDA))
    for ragged in ([[0.0] * 8, [0.0] * 7], [0.0, [1.0]]):
        with pytest.raises(RobotError, match="ragged"):
            checker.free(ragged)
