"""Single kernel calls for one configuration, path or motion return the same results as the general implementation."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from random_robots import drawn, random_robot

import gjk3d as gk
from gjk3d._kernels.calls.install import is_usable
from gjk3d.errors import ParseError, RobotError
from gjk3d.robot import Checker, MotionStatus, Reason, Robot, RobotDistances
from gjk3d.robot.motion_bounds import motion_bounds, slot_reaches


def cell_of(tmp_path, seed):
    robot = random_robot(tmp_path, seed)
    robot.allowed = []
    return Checker(robot, {"ball": (gk.Sphere(0.3), at(1.0, 0.5, 0.2))})


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


@pytest.mark.parametrize("seed", range(12))
def test_path_free_reports_first_colliding_motion(tmp_path, seed):
    checker = cell_of(tmp_path, seed)
    path = drawn(checker.robot, 40, seed) * np.random.default_rng(seed).choice([0.02, 0.2, 1.0])
    for start in (0, 20, 37):
        part = path[start:]
        result, listed = checker.path_free(part), checker.path_free(part.tolist())
        ends = [checker.motion_free(a.tolist(), b.tolist()) for a, b in itertools.pairwise(part)]
        first = next((k for k, motion in enumerate(ends) if not motion.free), None)
        assert result.edge == listed.edge == first
        assert (result.free, result.status) == (first is None, MotionStatus(int(first is not None)))
        if first is not None:
            assert (result.safe, result.hit) == (listed.safe, listed.hit) == (ends[first].safe, ends[first].hit)
            assert np.array_equal(result.configuration, listed.configuration)
            assert not checker.free(result.configuration)


@pytest.mark.parametrize("seed", range(12))
def test_valid_of_one_configuration_equals_stack(tmp_path, seed):
    checker = cell_of(tmp_path, seed)
    rows = drawn(checker.robot, 60, seed) * 1.3
    rows[0, 0], rows[1, -1] = np.nan, np.inf
    for limits, tolerance in ((True, 0.0), (True, 0.05), (False, 0.0)):
        many = checker.valid(rows, limits=limits, tolerance=tolerance)
        for k, q in enumerate(rows):
            single = checker.valid(q, limits=limits, tolerance=tolerance)
            assert (single.valid, single.reason, single.joint) == (many.valid[k], many.reason[k], many.joint[k])
            assert (single.pair is None) == (single.reason != Reason.TOO_CLOSE)
    assert set(many.reason.tolist()) >= {Reason.NOT_FINITE}


def test_motion_bounds_survive_margin_changes(tmp_path):
    checker = cell_of(tmp_path, 3)
    zero = np.zeros((1, 2, checker.robot.dof))
    before = motion_bounds(checker._cell(), zero)
    checker.margin = 0.1
    assert motion_bounds(checker._cell(), zero) is before
    checker.move("ball", at(5.0, 0.0, 0.0))
    after = motion_bounds(checker._cell(), zero)
    assert after.arms is before.arms
    assert after.slack > before.slack  # poses far away are less precise
    fresh_checker = Checker(checker.robot, {"ball": (checker.shape("ball"), at(5.0, 0.0, 0.0))}, margin=0.1)
    fresh = motion_bounds(fresh_checker._cell(), zero)
    assert fresh.slack == after.slack
    for a, b in zip(fresh.arms, after.arms, strict=True):
        np.testing.assert_array_equal(a, b)
    checker.attach("held", gk.Sphere(0.1), checker.robot.links[-1])
    before_move = motion_bounds(checker._cell(), zero).arms
    checker.move("held", at(0.5, 0.0, 0.0))
    assert motion_bounds(checker._cell(), zero).arms.arms.max() > before_move.arms[np.isfinite(before_move.arms)].max()


def test_joints_between_links_of_branching_chain():
    """The joints between two links are those above exactly one of them, in any tree."""
    links = "".join(
        f'<link name="l{k}"><collision><geometry><sphere radius="0.01"/></geometry></collision></link>'
        for k in range(60)
    )
    parents = [0, *np.random.default_rng(5).integers(0, range(1, 59)).tolist()]
    joints = "".join(
        f'<joint name="j{k}" type="{"fixed" if k % 7 == 3 else "continuous"}"><parent link="l{parent}"/>'
        f'<child link="l{k}"/><origin xyz="0.1 0 0"/><axis xyz="0 1 1"/></joint>'
        for k, parent in enumerate(parents, 1)
    )
    checker = Checker(Robot.load(f'<robot name="r">{links}{joints}</robot>'))
    cell, chain = checker._cell(), checker.robot._chain
    zero = np.zeros((1, 2, checker.robot.dof))
    arms, (reach, _), same = motion_bounds(cell, zero).arms, slot_reaches(cell, zero), {}

    def above(link):
        return [] if link < 0 else [link, *above(int(chain.parent[link]))]

    for p, (a, b) in enumerate(cell.slots.tolist()):
        up, down = above(int(cell.layout.link[a])), above(int(cell.layout.link[b]))
        way = [j for j in up if j not in down] + [j for j in reversed(down) if j not in up]
        part = slice(arms.begins[p], arms.begins[p + 1])
        assert arms.steps[part].tolist() == [j for j in way if chain.kind[j] != 0]
        lengths = [reach[slot, arms.steps[part]] for slot in (a, b)]
        np.testing.assert_array_equal(arms.arms[:, part], lengths)
        same.setdefault((arms.steps[part].tobytes(), np.array(lengths).tobytes()), p)
        assert arms.like[p] == same[arms.steps[part].tobytes(), np.array(lengths).tobytes()]
    assert len(same) < len(cell.slots)


@pytest.mark.parametrize("place", ["1e60 0 0", "0 -1e300 0"])
def test_joint_origin_beyond_pose_limit_raises(place):
    with pytest.raises(ParseError, match=rf"<origin>.*{place}.*1e\+50.*unit"):
        Robot.load(
            f"""<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/>
            <child link="b"/><origin xyz="{place}"/></joint></robot>"""
        )


@pytest.mark.parametrize("seed", range(12))
def test_single_certified_motion_equals_stack(tmp_path, seed):
    """Data cached for single queries change no bit of the results of equal queries in the same order."""
    checker = cell_of(tmp_path, seed)
    reference = checker.copy()
    starts = drawn(checker.robot, 25, seed)
    ends = starts + 0.3 * np.random.default_rng(seed).standard_normal(starts.shape)
    ends[:5] *= 4.0
    for tolerance in (1e-6, 1e-2):
        many = checker.copy().motion_free(starts, ends, certify=True, tolerance=tolerance)
        for k, (a, b) in enumerate(zip(starts, ends, strict=True)):
            single = checker.motion_free(a.tolist() if k % 2 else a, b, certify=True, tolerance=tolerance)
            row = reference.motion_free(a[None], b, certify=True, tolerance=tolerance)
            numbers = [single.free, single.status, single.safe, single.hit]
            assert np.array_equal(numbers, [column[0] for column in row[:4]], equal_nan=True)
            assert single.pair == row.pair[0] == many.pair[k]
            assert single.safe == pytest.approx(many.safe[k], abs=tolerance)
    with pytest.raises(RobotError, match=r"q1\[0\].*nan"):
        checker.motion_free(starts[0], starts[0] * np.nan, certify=True)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5])  # for these seeds some motions are free
def test_certified_edge_equals_certified_path(tmp_path, seed):
    """An array of two waypoints uses a single kernel call. Lists use the general implementation."""
    checker = cell_of(tmp_path, seed)
    starts = drawn(checker.robot, 12, seed)
    ends = starts + 0.4 * np.random.default_rng(seed).standard_normal(starts.shape)
    seen = set()
    for path in np.stack([starts, ends], axis=1):
        single, listed = (checker.copy().path_free(way, certify=True) for way in (path, path.tolist()))
        motion = checker.copy().motion_free(*path, certify=True)
        assert (single.free, single.status, single.safe, single.pair) == (
            listed.free,
            listed.status,
            listed.safe,
            listed.pair,
        )
        assert (motion.free, motion.status, motion.safe, motion.pair) == (
            single.free,
            single.status,
            single.safe,
            single.pair,
        )
        np.testing.assert_array_equal([single.hit, motion.hit], listed.hit)
        seen.add(single.free)
        if single.free:
            assert (single.edge, single.configuration, listed.configuration) == (None, None, None)
        else:
            t = single.safe if np.isnan(single.hit) else single.hit
            assert single.edge == listed.edge == 0
            np.testing.assert_array_equal(single.configuration, listed.configuration)
            np.testing.assert_array_equal(single.configuration, (1.0 - t) * path[0] + t * path[1])
    assert seen == {True, False}
    with pytest.raises(RobotError, match="is nan"):
        checker.path_free(np.array([starts[0], starts[0] * np.nan]), certify=True)


def test_threads_prove_motions_with_one_checker():
    checker = Checker(Robot.example(), {"pole": (gk.Cylinder(0.1, 1.0), at(0.0, 1.0, 0.0))})
    starts = np.random.default_rng(0).uniform(-2.0, 2.0, (60, 2))
    ends = starts + 0.3
    expected = checker.motion_free(starts, ends, certify=True)
    assert 0 < expected.free.sum() < len(starts)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            results = list(pool.map(lambda a, b: checker.motion_free(a, b, certify=True), starts, ends))
            assert [(result.status, result.pair) for result in results] == list(
                zip(expected.status, expected.pair, strict=True)
            )
            assert np.allclose([result.safe for result in results], expected.safe, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_distances_of_one_configuration_equal_stack(tmp_path, seed):
    checker = cell_of(tmp_path, seed)
    rows = drawn(checker.robot, 20, seed)
    for within in (0.0, 0.3, 2.0, np.inf, -1.0):
        many = checker.distances(rows, within, jacobians=True)
        for k, q in enumerate(rows):
            single, span = checker.distances(q.tolist(), within, jacobians=True), slice(*many.starts[k : k + 2])
            assert single.starts.tolist() == [0, len(many.pair[span])]
            assert not single.configuration.any()
            for name in RobotDistances._fields[2:]:
                if name not in ("pairs", "within"):
                    assert np.array_equal(getattr(single, name), getattr(many, name)[span]), name
            assert (single.pairs, single.within) == (many.pairs, many.within)
            without = checker.distances(q, within)
            assert (without.jacobian_a, without.jacobian_b) == (None, None)
            assert np.array_equal(without.gradient, single.gradient)
    with pytest.raises(RobotError, match="q"):
        checker.distances(np.full(checker.robot.dof, np.nan))
    with pytest.raises(RobotError, match="within is nan"):
        checker.distances(rows[0], float("nan"))


def test_distances_follow_moved_object_and_use_of_threads(tmp_path):
    checker = cell_of(tmp_path, 3)
    q = drawn(checker.robot, 1, 3)[0]
    first = checker.distances(q, 9.0)
    checker.move("ball", at(0.3, 0.2, 0.1))
    second = checker.distances(q, 9.0)
    assert second == checker.distances([q], 9.0) != first
    checker.margin = 0.5
    assert checker.distances(q, 9.0) == second
    with checker._cell().memory.lent(1):
        assert checker.distances(q, 9.0) == second, "another thread uses the memory"
    with ThreadPoolExecutor(4) as pool:
        assert all(result == second for result in pool.map(lambda _: checker.distances(q, 9.0), range(200)))


def test_empty_distances_equal_those_of_new_checker(tmp_path):
    """Consecutive empty results are one object. Other limits and configurations return their own object."""
    checker = cell_of(tmp_path, 3)
    rows, checkers = drawn(checker.robot, 30, 3), [checker, checker.copy()]
    limits = (-5.0, -0.4, -0.4, -0.2, 0.0, 0.4, -0.0, 1e50, 1e300, np.inf)
    empty = 0
    for within, q in itertools.product(limits, rows):
        expected = Checker(checker.robot, {"ball": (checker.shape("ball"), at(1.0, 0.5, 0.2))}).distances([q], within)
        for tested in checkers:
            calls = ((q, within), {}), ((q,), {"within": within}), ((), {"q": q, "within": within})
            for args, names in calls:
                result = tested.distances(*args, **names)
                assert type(result) is RobotDistances
                assert (result, np.signbit(result.within)) == (expected, np.signbit(within))
        empty += len(expected.pair) == 0
    assert 30 < empty < len(limits) * 30
    result = checker.distances(rows[0], -5.0)
    if is_usable():
        assert checker.distances(rows[0], -5.0) is checker.distances(rows[1], within=-5.0)
        with pytest.raises(ValueError, match="read-only"):
            checker.distances(rows[0], -5.0).starts[1] = 3
    checker.move("ball", at(0.3, 0.2, 0.1))
    assert checker.distances(rows[0], -5.0) == result
    for bad, within, name in ((np.full(len(rows[0]), np.nan), -5.0, "q"), (rows[0], float("nan"), "within is nan")):
        with pytest.raises(RobotError, match=name):
            checker.distances(bad, within)
    assert checker.distances(rows[0], -5.0) == result, "the lock was released"
    with pytest.raises(TypeError, match="far"):
        checker.distances(rows[0], far=1.0)


def test_proofs_recompute_bounds_for_longer_lines(tmp_path):
    """The cached motion bounds are valid only for translations of the same length."""
    text = """<robot name="lift"><link name="a"/><link name="b"/><link name="c"><collision><geometry>
    <sphere radius="0.1"/></geometry></collision></link>
    <joint name="turn" type="continuous"><parent link="a"/><child link="b"/></joint>
    <joint name="slide" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/></joint></robot>"""
    checker = Checker(Robot.from_urdf(text), {"ball": (gk.Sphere(0.1), at(0.0, 5.0, 0.0))})
    lines = [([0.0, 1.0], [0.1, 1.5]), ([0.0, 900.0], [0.01, 950.0]), ([-0.1, 1.0], [0.1, 7.0]), ([0.0, 1.0], [3, 4])]
    lines += [([1.0, 1.0], [1.0, np.nan]), ([1.0, 1.0], [np.inf, 1.0])]
    for a, b in [*lines, *lines[::-1]]:
        if not np.isfinite(b).all():
            with pytest.raises(RobotError, match="q1"):
                checker.motion_free(a, b, certify=True)
            continue
        single, many = checker.motion_free(a, b, certify=True), checker.motion_free([a], [b], certify=True)
        assert (single.status, single.safe, single.pair) == (many.status[0], many.safe[0], many.pair[0])
        assert np.array_equal(single.hit, many.hit[0], equal_nan=True)
