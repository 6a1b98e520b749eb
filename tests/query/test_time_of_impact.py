"""Time of impact of moving shapes: closed forms, bisection with swept hulls, dense sampling, and every status."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import laws
import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names
from scipy.spatial.transform import Rotation
from strategies import CHOSEN_PAIRS, SHAPES, build

import gjk3d as gk
from gjk3d.bodies import planes

FREE, HIT, UNRESOLVED, OVERLAPPING = gk.ImpactStatus


def moved(*translation):
    return naive.pose(None, translation)


def placed(turns, places):
    return np.array([naive.pose(r, x) for r, x in zip(turns, places, strict=True)])


def hull_points(rng, count, flat=False):
    points = rng.normal(size=(count, 3)) * rng.uniform(0.3, 1.0, 3)
    if flat:
        points[:, 2] = 0.0
    return points


def test_impact_time_of_spheres_equals_closed_form():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(100):
        start, way = rng.uniform(-3, 3, 3), rng.uniform(-6, 6, 3)
        way -= 1.5 * start
        if np.linalg.norm(start) < 1.6:
            continue
        impact = gk.time_of_impact(gk.Sphere(1), gk.Sphere(0.5), gk.Motion(moved(*start), way))
        a, b, c = way @ way, 2 * start @ way, start @ start - 1.5**2
        roots = (-b - np.sqrt(b * b - 4 * a * c + 0j)) / (2 * a)
        if abs(roots.imag) < 1e-9 and 0 <= roots.real <= 1:
            hits += 1
            assert impact.status == HIT
            assert impact.time[0] - 1e-12 <= roots.real <= impact.time[1] + 1e-12
            assert np.diff(impact.time) < 1e-7
        else:
            assert impact.status == FREE
    assert hits >= 10


def test_bullet_does_not_pass_through_plate():
    # sampling a path of 100 m would miss a plate of 1 cm
    impact = gk.time_of_impact(gk.Sphere(0.002), gk.Box((0.01, 1, 1)), gk.Motion(moved(-50, 0.1, 0.2), (100, 0, 0)))
    assert impact.status == HIT
    np.testing.assert_allclose(impact.time, (50 - 0.005 - 0.002) / 100, atol=1e-13)
    np.testing.assert_allclose(impact.normal, (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(impact.point_b, (-0.005, 0.1, 0.2), atol=1e-12)


def swept_overlap(a, b, low, high):
    """Return whether hull A, swept from one shift to another by doubling its points, intersects hull B."""
    points = np.vstack([a + low, a + high])
    return naive.hull_signed_distance(naive.differences(points, b))[0] <= 0.0


def first_contact_time(a, b, way, tol=1e-7):
    """Return the first time of contact by bisection with swept hulls, or None."""
    if not swept_overlap(a, b, 0 * way, way):
        return None
    low, high = 0.0, 1.0
    while high - low > tol:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if swept_overlap(a, b, low * way, middle * way) else (middle, high)
    return 0.5 * (low + high)


def test_translations_agree_with_bisection():
    rng = np.random.default_rng(1)
    hits = 0
    for k in range(24):
        a, b = hull_points(rng, 8), hull_points(rng, 6)
        start, way = naive.unit_vectors(rng, 1)[0] * 2.5, rng.uniform(-1.0, 1.0, 3)
        way -= 3.5 * start / 2.5
        truth = first_contact_time(a + start, b, way)
        first, second = gk.ConvexHull(a), gk.ConvexHull(b)
        moves = (gk.Motion(moved(*start), way), None)
        if k % 2:  # B moves instead, in the opposite direction
            moves = (moved(*start), gk.Motion(None, -way))
        impact = gk.time_of_impact(first, second, *moves)
        assert (impact.status == HIT) == (truth is not None)
        if truth is not None:
            hits += 1
            assert impact.time[1] == pytest.approx(truth, abs=1e-7)
            assert np.diff(impact.time) < 1e-10
    assert 8 <= hits <= 22


SPECS = [
    ("box", (1.0, 0.5, 0.3)),
    ("cylinder", 0.3, 1.2),
    ("capsule", 0.1, 1.5),
    ("ellipsoid", (0.2, 0.5, 0.9)),
    ("cone", 0.5, 1.0),
    ("inflated", ("box", (0.2, 1.0, 0.2)), 0.1),
    ("sphere", 0.4),
]


def turning_pair(rng):
    a, b = (build(SPECS[rng.integers(len(SPECS))]) for _ in range(2))
    start = naive.unit_vectors(rng, 1)[0] * 2.2
    way = -1.6 * start / 2.2 + rng.uniform(-1.0, 1.0, 3)
    first = gk.Motion(naive.pose(naive.random_rotations(rng, 1)[0], start), way, rng.uniform(-4, 4, 3))
    turn = rng.uniform(-3, 3, 3)
    second = gk.Motion(naive.pose(naive.random_rotations(rng, 1)[0]), angular=turn, center=rng.uniform(-0.3, 0.3, 3))
    return a, b, first, second


# a box and a cone, two cones, a cylinder and a cone: no bound proves their gap of up to 6e-12 at the start of the
# bracket
@pytest.mark.parametrize("seed", [35, 124, 228])
def test_bracket_ends_in_contact(seed):
    rng = np.random.default_rng(seed)
    for _ in range(16):
        a, b, first, second = turning_pair(rng)
        impact = gk.time_of_impact(a, b, first, second)
        if impact.status == HIT:
            assert gk.collide(a, b, first.at(impact.time[1]), second.at(impact.time[1]))


@pytest.mark.parametrize("seed", range(3))
def test_rotating_shapes_agree_with_dense_sampling(seed):
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(16):
        a, b, first, second = turning_pair(rng)
        impact = gk.time_of_impact(a, b, first, second)
        assert impact.status in (FREE, HIT)
        times = np.linspace(0.0, impact.free_until, 300, endpoint=False)
        sampled = gk.signed_distance(a, b, first.at(times), second.at(times))
        assert (sampled.lower > 0.0).all()
        if impact.status == HIT:
            hits += 1
            assert gk.collide(a, b, first.at(impact.time[1]), second.at(impact.time[1]))
            assert np.diff(impact.time) < 1e-6
            assert abs(impact.closest.distance) < 1e-9
    assert 4 <= hits <= 14


def test_impact_time_is_independent_of_offset_and_scale():
    for scale in (1e-9, 1.0, 1e9):
        for far in (0.0, 1e6):
            a, b = gk.Box(np.array((1, 1, 1)) * scale), gk.Cylinder(0.5 * scale, scale)
            first = gk.Motion(moved(*(np.array((far - 3, 0, 0)) * scale)), np.array((4, 0, 0)) * scale, (0, 0, 1))
            impact = gk.time_of_impact(a, b, first, moved(far * scale, 0, 0))
            near = gk.time_of_impact(
                gk.Box((1, 1, 1)), gk.Cylinder(0.5, 1), gk.Motion(moved(-3, 0, 0), (4, 0, 0), (0, 0, 1))
            )
            assert impact.status == HIT
            assert impact.time[1] == pytest.approx(near.time[1], abs=1e-8)


def test_touching_and_overlapping_at_the_start():
    box = gk.Box((1, 1, 1))
    for way in ((0, 0, 1), (1, 0, 0), (0, 0, -1), (0, 0, 0)):  # leaving, sliding, pressing, resting
        impact = gk.time_of_impact(box, box, gk.Motion(moved(0, 0, 1), way))
        assert impact.status == HIT
        np.testing.assert_array_equal(impact.time, 0.0)
    inside = gk.time_of_impact(box, box, gk.Motion(moved(0, 0, 0.5), (0, 0, 5)))
    assert inside.status == OVERLAPPING
    assert inside.free_until == 0.0
    near = gk.time_of_impact(box, box, gk.Motion(moved(0, 0, 1.05), (0, 0, 5)), clearance=0.1)
    assert near.status == OVERLAPPING


@pytest.mark.parametrize(("off", "status"), [(-1e-6, HIT), (0.0, HIT), (1e-12, FREE), (1e-6, FREE)])
def test_grazing_contact(off, status):
    for shape in (gk.Sphere(1), gk.Cylinder(1, 2)):
        impact = gk.time_of_impact(gk.Sphere(1), shape, gk.Motion(moved(-3, 2 + off, 0), (6, 0, 0)))
        assert impact.status == status
        if status == HIT:
            half = np.sqrt(4 - (2 + off) ** 2) / 6 if off < 0 else 0.0
            assert impact.time[0] - 1e-12 <= 0.5 - half
            assert impact.time[1] == pytest.approx(0.5 - half, abs=1e-6)


def test_sliding_at_a_tiny_gap_is_free_only_if_separated():
    seen = set()
    for k in range(0, 4000, 20):
        gap = k * 2.0**-52
        impact = gk.time_of_impact(gk.Box((1, 1, 1)), gk.Box((9, 9, 1)), gk.Motion(moved(-2, 0, 1 + gap), (4, 0, 0)))
        seen.add(impact.status)
        if gap == 0.0:
            assert impact.status == HIT
        if impact.status == FREE:
            assert gap > 0.0
    assert {HIT, FREE} <= seen


def test_rotations_of_more_than_a_full_turn():
    stick, ball = gk.Capsule(0.05, 2.0), gk.Sphere(0.1)
    flat = naive.pose(Rotation.from_euler("y", 90, degrees=True).as_matrix())
    free = gk.time_of_impact(stick, ball, gk.Motion(flat, angular=(0, 0, 20.0)), moved(0, 1.2, 0))
    assert free.status == FREE
    hit = gk.time_of_impact(stick, ball, gk.Motion(flat, angular=(0, 0, 20.0)), moved(0, 1.1, 0))
    # law of cosines: the tip of radius 0.05 touches the ball of radius 0.1, whose centre is 1.1 away
    angle = np.pi / 2 - np.arccos((1 + 1.1**2 - 0.15**2) / 2.2)
    assert hit.status == HIT
    assert hit.time[1] == pytest.approx(angle / 20.0, abs=1e-10)


def test_rotation_about_a_hinge():
    door = gk.Box((1, 0.05, 2))
    motion = gk.Motion(moved(0.5, 0, 0), angular=(0, 0, np.pi), center=(0, 0, 0))
    np.testing.assert_allclose(motion.at(1.0)[:3, 3], (-0.5, 0, 0), atol=1e-15)
    impact = gk.time_of_impact(door, gk.Sphere(0.1), motion, moved(0, 0.5, 0))
    # the face is 0.025 from the plane of the hinge, and the centre of the ball 0.5 from the hinge
    assert impact.time[1] == pytest.approx((np.pi / 2 - np.arcsin(0.125 / 0.5)) / np.pi, abs=1e-10)


def test_half_space_may_translate_but_not_rotate():
    floor, ball = gk.Halfspace((0, 0, 1), 0.0), gk.Sphere(0.5)
    for swap in (False, True):
        pair = (ball, floor) if swap else (floor, ball)
        moves = [None, gk.Motion(moved(3, 4, 10), (0, 0, -20), (1, 2, 3))]
        impact = gk.time_of_impact(*pair, *(moves[::-1] if swap else moves))
        np.testing.assert_allclose(impact.time, 9.5 / 20, atol=1e-12)
        np.testing.assert_allclose(impact.normal, (0, 0, -1 if swap else 1), atol=1e-12)
    rising = gk.time_of_impact(floor, ball, gk.Motion(None, (0, 0, 8)), moved(0, 0, 4.5))
    np.testing.assert_allclose(rising.time, 0.5, atol=1e-12)
    with pytest.raises(gk.errors.UnsupportedPair, match=r"Halfspace.*large Box"):
        gk.time_of_impact(floor, ball, gk.Motion(None, angular=(1, 0, 0)))
    with pytest.raises(gk.errors.UnsupportedPair):
        gk.time_of_impact(floor, floor)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(SPECS),
    st.sampled_from(SPECS),
    st.floats(0.0, 0.2),
)
def test_free_time_keeps_clearance_and_swapping_changes_nothing(seed, one, other, clearance):
    rng = np.random.default_rng(seed)
    a, b = build(one), build(other)
    start = naive.unit_vectors(rng, 1)[0] * rng.uniform(0.5, 2.5)
    first = gk.Motion(
        naive.pose(naive.random_rotations(rng, 1)[0], start), rng.uniform(-2, 2, 3), rng.uniform(-3, 3, 3)
    )
    second = gk.Motion(None, rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))
    impact = gk.time_of_impact(a, b, first, second, clearance=clearance)
    times = np.linspace(0, 1, 17) * impact.free_until * (1 - 1e-9)
    if impact.free_until > 0.0:
        sampled = gk.signed_distance(a, b, first.at(times), second.at(times))
        assert (sampled.upper > clearance).all()
    if impact.status == HIT:
        moment = impact.time[1]
        assert gk.collide(a, b, first.at(moment), second.at(moment), margin=clearance + 1e-14)
    back = gk.time_of_impact(b, a, second, first, clearance=clearance)
    assert back.status == impact.status
    assert (back.free_until, *back.time) == (impact.free_until, *impact.time)
    same = gk.time_of_impact(a, a, first, second), gk.time_of_impact(a, a, second, first)
    assert (same[0].free_until, *same[0].time) == (same[1].free_until, *same[1].time)


def test_stacks_and_workers_equal_single_impacts():
    rng = np.random.default_rng(4)
    a, b = gk.ConvexHull(hull_points(rng, 20)), gk.Cylinder(0.4, 1)
    starts = placed(naive.random_rotations(rng, 300), rng.uniform(-3, 3, (300, 3)))
    motions = gk.Motion(starts, rng.uniform(-3, 3, (300, 3)), rng.uniform(-3, 3, (300, 3)))
    many = gk.time_of_impact(a, b, motions, None)
    again = gk.time_of_impact(a, b, motions, None, workers=3)
    assert len(many) == len(motions) == 300
    assert set(np.unique(many.status)) >= {int(FREE), int(HIT), int(OVERLAPPING)}
    np.testing.assert_array_equal(many.time, again.time)
    for k in range(0, 300, 23):
        single = gk.time_of_impact(a, b, motions[k], None)
        np.testing.assert_array_equal(single.time, many.time[k])
        assert single.status == many.status[k] == many[k].status
        np.testing.assert_array_equal(single.point_a, many.point_a[k])
    empty = gk.time_of_impact(a, b, gk.Motion(np.zeros((0, 4, 4))))
    assert len(empty) == 0
    assert_names(repr(empty), "Impact", "0 motions")


def test_motion_between_two_poses():
    rng = np.random.default_rng(5)
    turns = naive.random_rotations(rng, 20)
    first = placed(turns, rng.normal(size=(20, 3)))
    last = placed(naive.random_rotations(rng, 20), rng.normal(size=(20, 3)))
    from scipy.spatial.transform import RigidTransform

    for kind in ("linear", "screw"):
        motion = gk.Motion.between(first, last, kind=kind)
        np.testing.assert_allclose(motion.at(0.0), first, atol=1e-12)
        np.testing.assert_allclose(motion.at(1.0), last, atol=1e-12)
        if kind == "linear":
            np.testing.assert_allclose(motion.at(0.25)[:, :3, 3], 0.75 * first[:, :3, 3] + 0.25 * last[:, :3, 3])
            continue
        for k in range(20):  # scipy's exponential coordinates of the same screw
            step = RigidTransform.from_matrix(last[k] @ np.linalg.inv(first[k]))
            way = RigidTransform.from_exp_coords(0.25 * step.as_exp_coords()).as_matrix() @ first[k]
            np.testing.assert_allclose(motion[k].at(0.25), way, atol=1e-10)
    single = gk.Motion.between(np.eye(4), moved(1, 2, 3), kind="screw")
    np.testing.assert_array_equal(single.at((0.0, 1.0))[:, :3, 3], [(0, 0, 0), (1, 2, 3)])


def rotation_pairs(rng):
    """Return two lists of rotations that differ by random and tiny angles, quarter turns and (nearly) half turns."""
    angles = [*rng.uniform(0, np.pi, 20), 0.0, 1e-12, 1e-8, 1e-4, 1e-3, 1.1e-3, np.pi - 1e-9, np.pi - 1e-5]
    steps = np.array(angles)[:, None] * naive.unit_vectors(rng, len(angles))
    steps = np.vstack([steps, np.pi * np.eye(3), 0.5 * np.pi * np.eye(3), -0.5 * np.pi * np.eye(3)])
    first = naive.random_rotations(rng, len(steps))
    return first, Rotation.from_rotvec(steps).as_matrix() @ first


def test_rotation_between_poses_agrees_with_scipy():
    first, last = rotation_pairs(np.random.default_rng(8))
    motion = gk.Motion.between(placed(first, np.zeros((len(first), 3))), placed(last, np.zeros((len(first), 3))))
    expected = Rotation.from_matrix(last @ first.transpose(0, 2, 1)).as_rotvec()
    turns = motion._rows[:, 15:18]
    half = np.linalg.norm(expected, axis=1) > np.pi - 1e-6  # the rotation vector of a half turn has either sign
    np.testing.assert_allclose(turns[~half], expected[~half], rtol=0, atol=1e-14)
    for turn, vector in zip(turns[half], expected[half], strict=True):
        assert min(np.abs(turn - vector).max(), np.abs(turn + vector).max()) < 2e-7
    assert (np.linalg.norm(turns, axis=1) <= np.pi * (1 + 1e-15)).all()
    np.testing.assert_allclose(motion.at(1.0)[:, :3, :3], last, rtol=0, atol=1e-14)


def test_single_motion_equals_row_of_stack():
    rng = np.random.default_rng(12)
    turns, others = rotation_pairs(rng)
    count = len(turns)
    first, last = placed(turns, rng.normal(size=(count, 3))), placed(others, rng.normal(size=(count, 3)))
    way, turn, center = rng.normal(size=(3, count, 3)) * 5
    times = rng.uniform(-1, 2, count)
    stacks = {
        "plain": (gk.Motion(first), lambda k: gk.Motion(first[k])),
        "turning": (gk.Motion(first, way, turn), lambda k: gk.Motion(first[k], way[k], tuple(turn[k].tolist()))),
        "hinged": (
            gk.Motion(first, way, turn, center=center),
            lambda k: gk.Motion(first[k], way[k].tolist(), turn[k], center=center[k]),
        ),
        "straight": (gk.Motion.translation(first, way), lambda k: gk.Motion.translation(first[k], way[k])),
        "between": (gk.Motion.between(first, last), lambda k: gk.Motion.between(first[k], last[k])),
        "screw": (
            gk.Motion.between(first, last, kind="screw"),
            lambda k: gk.Motion.between(first[k], last[k].tolist(), kind="screw"),
        ),
    }
    for name, (stack, make) in stacks.items():
        at = stack.at(times)
        for k in range(count):
            single = make(k)
            assert single == stack[k], name
            assert hash(single) == hash(stack[k])
            assert pickle.loads(pickle.dumps(single)) == single
            np.testing.assert_array_equal(single.at(times[k]), at[k])
            np.testing.assert_array_equal(single.at(float(times[k])), at[k])
            np.testing.assert_array_equal(single.at([times[k], 0.5])[0], at[k])


def test_motion_at_returns_pose():
    rng = np.random.default_rng(13)
    for start in placed(naive.random_rotations(rng, 10), rng.normal(size=(10, 3))):
        way, turn, center = rng.normal(size=(3, 3)) * 3
        hinged, free = gk.Motion(start, way, turn, center=center), gk.Motion(start, way, turn)
        for time in (0, 0.3, 1, -0.5):
            rotation = Rotation.from_rotvec(time * turn).as_matrix()
            expected = naive.pose(rotation @ start[:3, :3], start[:3, 3] + time * way)
            np.testing.assert_allclose(free.at(time), expected, rtol=0, atol=1e-13)
            about = center + time * way + rotation @ (start[:3, 3] - center)
            np.testing.assert_allclose(hinged.at(time), naive.pose(expected[:3, :3], about), rtol=0, atol=1e-13)


def test_motion_is_immutable():
    start, way = moved(1, 2, 3), np.array([1.0, 0.0, 0.0])
    motion = gk.Motion(start, way)
    expected = motion.at(1)
    start[0, 3] = way[0] = 9.0
    np.testing.assert_array_equal(motion.at(1), expected)
    with pytest.raises(ValueError, match="read-only"):
        motion._numbers[0, 0] = 2.0
    with pytest.raises(AttributeError, match="immutable"):
        motion.stacked = True
    motion.at(1)[0, 0] = 7.0
    np.testing.assert_array_equal(motion.at(1), expected)


def test_shapecast():
    cast = gk.shapecast(gk.Box((1, 1, 1)), gk.Sphere(1), [(10, 0, 0), (0, 10, 0)], None, moved(4, 0, 0))
    np.testing.assert_array_equal(cast.status, [HIT, FREE])
    np.testing.assert_allclose(cast.time[0], 0.25, atol=1e-12)
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.shapecast(gk.Box((1, 1, 1)), gk.Sphere(1), [(10, 0, 0), (0, 0, 0)])
    assert_names(caught.value, "translation[1]", "gjk3d.collide")


@pytest.mark.parametrize(("one", "other"), CHOSEN_PAIRS)
def test_single_impact_equals_row_of_stack(one, other):
    rng = np.random.default_rng(21)
    case = laws.Pair.random(rng, SHAPES[one], SHAPES[other], 5)
    a, b = case.shape_a, case.shape_b
    ways, turns = rng.normal(size=(2, 5, 3)) * 2
    if "halfspace" in (one, other):
        turns *= 0.0
    first = gk.Motion(case.poses_a, ways, turns)
    for clearance in (0.0, 0.05):
        stack = gk.time_of_impact(a, b, first, case.poses_b, clearance=clearance)
        casts = gk.shapecast(a, b, ways, case.poses_a, case.poses_b, clearance=clearance)
        for k in range(5):
            moving = (stack[k], gk.time_of_impact(a, b, first[k], case.poses_b[k], clearance=clearance))
            cast = (casts[k], gk.shapecast(a, b, ways[k], case.poses_a[k], case.poses_b[k], clearance=clearance))
            listed = (
                casts[k],
                gk.shapecast(a, b, ways[k].tolist(), case.poses_a[k].tolist(), case.poses_b[k], clearance=clearance),
            )
            for row, single in (moving, cast, listed):
                assert single.status is row.status
                assert single.iterations == row.iterations
                assert single.free_until == row.free_until
                np.testing.assert_array_equal(single.time, row.time)
                np.testing.assert_array_equal(single.motion_a.at(0.3), row.motion_a.at(0.3))
                np.testing.assert_array_equal(single.motion_b.at(0.3), row.motion_b.at(0.3))
                assert repr(single) == repr(row)
                assert (single.shape_a, single.shape_b) == (a, b)
                assert repr(copy.copy(single)) == repr(pickle.loads(pickle.dumps(single))) == repr(row)


@pytest.mark.parametrize(
    ("way", "fragments"),
    [
        ((0.0, 0.0, 0.0), ("shapecast", "translation", "gjk3d.collide")),
        ((0, 0, 0), ("shapecast", "translation", "gjk3d.collide")),
        ((np.nan, 0.0, 0.0), ("shapecast", "translation", "[nan")),
        ((1e51, 0.0, 0.0), ("shapecast", "translation", "1e+51")),
        (("1", "0", "0"), ("shapecast", "translation", "dtype <U1")),
        ((1.0, 0.0), ("shapecast", "translation", "(2,)")),
    ],
)
def test_error_names_invalid_translation(way, fragments):
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.shapecast(gk.Sphere(1), gk.Sphere(1), way)
    assert_names(caught.value, *fragments)


@pytest.mark.parametrize(
    ("call", "fragments"),
    [
        (lambda: gk.Motion(None, (0, 0)), ("linear", "(2,)")),
        (lambda: gk.Motion(None, (0, np.nan, 0)), ("linear", "nan")),
        (lambda: gk.Motion(None, [(0, 0, 0), (0, np.inf, 0)]), ("linear[1]", "inf")),
        (lambda: gk.Motion(None, (0, 0, 0), (0, 0, 1e9)), ("angular", "1000000000.0")),
        (lambda: gk.Motion(None, "up"), ("linear", "dtype <U2")),
        (lambda: gk.Motion(None, [(0, 0, 0), (0, 0)]), ("linear", "ragged")),
        (lambda: gk.Motion([np.eye(4)] * 2, [(0, 0, 0)] * 3), ("start", "2 rows", "linear", "3 rows")),
        (lambda: gk.Motion(np.diag([1, 1, 2, 1.0])), ("start", "(1, 1, 2)", "shape.scaled")),
        (lambda: gk.Motion().at(np.nan), ("Motion.at", "time", "nan")),
        (lambda: gk.Motion().at("a"), ("Motion.at", "time", "'a'")),
        (lambda: gk.Motion([np.eye(4)] * 2).at((0.0, 0.5, 1.0)), ("3 times", "2 motions")),
        (lambda: gk.Motion.between(None, None, kind="spline"), ("'spline'", "'linear'", "'screw'")),
        (lambda: gk.time_of_impact(gk.Sphere(1), gk.Sphere(1), clearance=-1), ("clearance", "-1")),
        (lambda: gk.time_of_impact(gk.Sphere(1), gk.Sphere(1), workers=0), ("workers", " 0", "1024")),
        (lambda: gk.time_of_impact(gk.Sphere(1), gk.Sphere(1), (1, 2, 3)), ("motion_a", "gjk3d.Motion", "np.eye(4)")),
        (
            lambda: gk.time_of_impact(gk.Sphere(1), gk.Sphere(1), gk.Motion([np.eye(4)] * 2), [np.eye(4)] * 3),
            ("motion_a", "2 rows", "motion_b has 3"),
        ),
        (lambda: gk.time_of_impact("ball", gk.Sphere(1)), ("a str", "gjk3d.ConvexHull")),
    ],
)  # fmt: skip
def test_error_names_invalid_input(call, fragments):
    with pytest.raises(gk.errors.Gjk3dError) as caught:
        call()
    assert_names(caught.value, *fragments)


def test_impacts_pickle_and_have_no_truth_value():
    impact = gk.time_of_impact(gk.Sphere(1), gk.Sphere(1), gk.Motion(moved(-3, 0, 0), (6, 0, 0)))
    again = pickle.loads(pickle.dumps(impact))
    np.testing.assert_array_equal(again.time, impact.time)
    np.testing.assert_array_equal(again.point_a, impact.point_a)
    with pytest.raises(TypeError, match=r"gjk3d\.ImpactStatus\.FREE"):
        bool(impact)
    assert_names(repr(impact), "hit", "0.1666")


def test_resting_and_reversed_motions():
    rng = np.random.default_rng(9)
    a, b = gk.Cylinder(0.4, 1.0), gk.Box((1.0, 0.5, 0.3))
    poses = placed(naive.random_rotations(rng, 60), rng.normal(size=(60, 3)) * 0.8)
    still = gk.time_of_impact(a, b, None, poses)
    np.testing.assert_array_equal(still.status != FREE, gk.collide(a, b, None, poses))
    assert 10 <= (still.status == FREE).sum() <= 50
    starts = placed(naive.random_rotations(rng, 60), naive.unit_vectors(rng, 60) * 2.0)
    ends = placed(naive.random_rotations(rng, 60), naive.unit_vectors(rng, 60) * 2.0)
    forward = gk.time_of_impact(a, b, gk.Motion.between(starts, ends), None)
    back = gk.time_of_impact(a, b, gk.Motion.between(ends, starts), None)
    np.testing.assert_array_equal(forward.status, back.status)
    hit = forward.status == HIT
    assert 10 <= hit.sum() <= 55
    # the reversed motion finds the last contact, which is not before the first
    assert (1.0 - back.time[hit, 1] >= forward.time[hit, 1] - 1e-9).all()


def test_acceleration_bound_is_not_below_exact_value():
    """The exact value of a ball of radius 1 about a point on the axis is the squared length of the rotation vector."""
    rng = np.random.default_rng(51)
    for turn in rng.normal(size=(100, 3)):
        bend = gk.Motion(None, angular=turn)._bend(np.zeros(3), np.array(1.0))
        assert Fraction(float(bend)) >= naive.exact(turn) @ naive.exact(turn)


def test_half_space_impact_is_earlier_by_hull_error(monkeypatch):
    exact = planes.standing_in
    monkeypatch.setattr(planes, "standing_in", lambda *a, **more: exact(*a, **more)._replace(error=0.1))
    body, start = gk.Mesh(*gk.Box((1, 1, 1)).surface()), moved(0, 0, 2)
    impact = gk.time_of_impact(gk.Halfspace((0, 0, 1)), body, None, gk.Motion.translation(start, (0, 0, -4)))
    assert impact.time == pytest.approx((1.5 - 0.1) / 4, abs=1e-12)
