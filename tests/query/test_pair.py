"""A prepared pair equals the plain functions, and a warm pair gives equal booleans and overlapping bounds."""

from __future__ import annotations

import copy
import pickle
import threading

import laws
import naive
import numpy as np
import pytest
from message_checks import assert_names
from scipy.spatial.transform import Rotation
from strategies import CHOSEN_PAIRS, SHAPES, build

import gjk3d as gk

FIELDS = ("distance", "normal", "point_a", "point_b", "lower", "upper", "status", "tight", "iterations")


def track(one, other, count, seed=0, share=0.6):
    """Return poses of B moving through A and back, up to a share of their sizes, while A and B rotate slowly."""
    rng = np.random.default_rng(seed)
    reach = naive.body(SHAPES[one]).size + naive.body(SHAPES[other]).size
    t = np.linspace(0, 1, count)
    poses_a, poses_b = np.tile(np.eye(4), (2, count, 1, 1))
    poses_a[:, :3, :3] = Rotation.from_rotvec(np.outer(t, rng.normal(size=3))).as_matrix()
    poses_b[:, :3, :3] = Rotation.from_rotvec(np.outer(t, rng.normal(size=3)) + rng.normal(size=3)).as_matrix()
    poses_b[:, :3, 3] = np.outer(np.cos(2 * np.pi * t), naive.unit_vectors(rng, 1)[0]) * share * reach
    return poses_a, poses_b


@pytest.mark.parametrize(("one", "other"), CHOSEN_PAIRS)
def test_cold_pair_equals_plain_functions(one, other):
    a, b = build(SHAPES[one]), build(SHAPES[other])
    pair = gk.Pair(a, b, warm=False)
    for at in zip(*track(one, other, 12), strict=True):
        assert pair.collide(*at) == gk.collide(a, b, at[0][None], at[1])[0]
        for mine, plain in ((pair.distance, gk.distance), (pair.signed_distance, gk.signed_distance)):
            result, stack = mine(*at), plain(a, b, at[0][None], at[1])
            for name in FIELDS:
                assert np.array_equal(getattr(result, name), getattr(stack, name)[0]), name


@pytest.mark.parametrize(("one", "other"), CHOSEN_PAIRS)
def test_warm_pairs_keep_booleans_and_bounds(one, other):
    a, b = build(SHAPES[one]), build(SHAPES[other])
    poses_a, poses_b = track(one, other, 60, seed=3)
    cold = gk.signed_distance(a, b, poses_a, poses_b)
    expected = gk.collide(a, b, poses_a, poses_b)
    pair = gk.Pair(a, b)
    case = laws.Pair(SHAPES[one], poses_a, SHAPES[other], poses_b)
    assert [pair.collide(*at) for at in zip(poses_a, poses_b, strict=True)] == expected.tolist()
    warm = [pair.signed_distance(*at) for at in zip(poses_a, poses_b, strict=True)]
    stacked = copy.copy(cold)
    for name in FIELDS:
        setattr(stacked, name, np.array([getattr(result, name) for result in warm]))
    laws.form(case, stacked)
    laws.bound_law(case, stacked, tight=False)
    laws.sign_law(case, stacked)
    laws.same_value(case, cold, stacked)
    assert np.array_equal(stacked.status, cold.status)


@pytest.mark.parametrize("name", ["hull", "cylinder"])  # boxes have a closed form of one step
def test_warm_starts_take_fewer_steps(name):
    a = build(SHAPES[name])
    poses_a, poses_b = track(name, name, 200, share=1.2)  # mostly separated: deep overlaps take few steps anyway
    cold = gk.distance(a, a, poses_a, poses_b).iterations
    pair = gk.Pair(a, a)
    warm = [pair.distance(*at).iterations for at in zip(poses_a, poses_b, strict=True)]
    assert sum(warm) < 0.8 * sum(cold)


@pytest.mark.parametrize("count", [32, 512, 2048])
@pytest.mark.parametrize("apart", [1.6, 1.2, 1.0])
def test_warm_starts_on_smooth_path_halve_the_steps(count, apart):
    rng = np.random.default_rng(count)
    a, b = (gk.ConvexHull(naive.unit_vectors(rng, count) * radii) for radii in ((0.5, 0.6, 0.4), (0.45, 0.5, 0.55)))
    pair, steps, turn = gk.Pair(a, b), [], Rotation.random(random_state=count)
    place, spin, way = np.array([apart, 0.1, 0.2]), 0.01 * naive.unit_vectors(rng, 1)[0], naive.unit_vectors(rng, 1)[0]
    for _ in range(150):
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn.as_matrix(), place
        warm, cold = pair.distance(None, pose), gk.distance(a, b, None, pose)
        steps.append((warm.iterations, cold.iterations))
        assert warm.tight
        assert max(warm.lower, cold.lower) <= min(warm.upper, cold.upper)
        assert abs(warm.distance - cold.distance) <= 1e-13
        turn, place = Rotation.from_rotvec(spin) * turn, place + 0.01 * way * np.sign(apart - np.linalg.norm(place))
    warm_steps, cold_steps = np.sum(steps[1:], axis=0)
    assert warm_steps < 0.5 * cold_steps


def test_warm_start_does_not_drift_over_many_steps():
    box, pair = gk.Box((1, 1, 1)), gk.Pair(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)))
    for k in range(1000):
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_rotvec([0, 1e-3 * k, 0.1]).as_matrix()
        pose[:3, 3] = (3, 0.01 * np.sin(0.1 * k), 0)
        warm, cold = pair.distance(None, pose), gk.distance(box, box, None, pose)
        assert warm.upper - warm.lower <= 2e-12
        assert abs(warm.distance - cold.distance) <= 1e-14


def test_warm_pair_handles_large_jumps():
    pair = gk.Pair(gk.Sphere(1), gk.Cylinder(1, 2))
    near, far = np.eye(4), np.eye(4)
    far[:3, 3] = (1e6, -3e5, 7)
    for pose in (near, far, near, far):
        assert pair.collide(None, pose) == (pose is near)
        result = pair.signed_distance(None, pose)
        assert result.tight
        assert result.status == (gk.Status.OVERLAPPING if pose is near else gk.Status.SEPARATED)
    pair.forget()
    assert pair.collide() is True


def test_pair_accepts_arguments_of_plain_functions():
    box, ball = gk.Box((1, 1, 1)), gk.Sphere(0.5)
    pair = gk.Pair(box, ball)
    stack = np.tile(np.eye(4), (3, 1, 1))
    stack[:, 0, 3] = (0.5, 1.0, 2.0)
    assert pair.collide(None, stack).tolist() == [True, True, False]
    assert pair.distance(None, stack).distance.tolist() == [0, 0, 1]
    assert pair.signed_distance(None, stack[2].tolist()).distance == 1
    assert pair.collide(None, stack[2], margin=1) is True
    assert pair.collide(None, np.asfortranarray(stack[2])) is False
    assert pair.signed_distance(None, stack[0].astype(np.float32)).distance == -0.5
    assert pair.signed_distance(None, stack[0], depth="epa").distance == -0.5
    assert pair.distance(None, stack[2], max_distance=0.5).status == gk.Status.BEYOND
    assert len(pair.signed_distance(None, stack[0], trace=True).trace.gjk) > 0
    readonly = stack[2].copy()
    readonly.flags.writeable = False
    assert pair.collide(None, readonly) is False
    ground = gk.Pair(gk.Halfspace((0, 0, 1), 0), ball)
    assert ground.collide() is True
    assert ground.signed_distance().distance == -0.5


@pytest.mark.parametrize("what", [{"margin": np.nan}, {"margin": "wide"}])
def test_invalid_margins_raise(what):
    with pytest.raises(gk.errors.ShapeError, match="margin"):
        gk.Pair(gk.Sphere(1), gk.Sphere(1)).collide(**what)


def test_errors_name_invalid_arguments():
    pair = gk.Pair(gk.Sphere(1), gk.Sphere(1))
    bent = np.eye(4)
    bent[0, 0] = 2
    for query in (pair.collide, pair.distance, pair.signed_distance):
        with pytest.raises(gk.errors.PoseError) as caught:
            query(None, bent)
        assert_names(caught.value, "pose_b", "(2, 1, 1)", "shape.scaled")
        with pytest.raises(gk.errors.PoseError) as caught:
            query(np.full((4, 4), np.nan), None)
        assert_names(caught.value, "pose_a", "[0, 0]", "nan")
    with pytest.raises(gk.errors.ShapeError, match="max_distance"):
        pair.distance(max_distance=-1)
    with pytest.raises(gk.errors.ShapeError, match="tol"):
        pair.signed_distance(tol=np.inf)
    with pytest.raises(gk.errors.ShapeError) as caught:
        pair.signed_distance(depth="sat")
    assert_names(caught.value, "'sat'", "'auto'", "'epa'", "'facets'")
    with pytest.raises(gk.errors.UnsupportedPair, match=r"Halfspace.*large Box"):
        gk.Pair(gk.Halfspace((0, 0, 1), 0), gk.Halfspace((0, 0, 1), 0))
    with pytest.raises(gk.errors.UnsupportedPair, match=r"\bb\b.*\bstr\b"):
        gk.Pair(gk.Sphere(1), "a ball")


def test_pairs_pickle_and_copy():
    pair = gk.Pair(gk.Box((1, 1, 1)), gk.Sphere(0.5))
    pair.collide()
    for duplicate in (pickle.loads(pickle.dumps(pair)), copy.deepcopy(pair)):
        assert (duplicate.a, duplicate.b) == (pair.a, pair.b)
        assert duplicate.collide() is True
    assert repr(pair) == "Pair(Box(extents=[1.0, 1.0, 1.0]), Sphere(radius=0.5))"


def test_lazy_results_pickle_and_copy():
    result = gk.signed_distance(gk.Sphere(1), gk.Sphere(1), None, np.diag([1.0, 1, 1, 1]) + np.eye(4, k=3) * 3)
    for duplicate in (pickle.loads(pickle.dumps(result)), copy.copy(result), result):
        assert (duplicate.distance, duplicate.status, duplicate.tight) == (1.0, gk.Status.SEPARATED, True)
    with pytest.raises(AttributeError, match="'depht'"):
        _ = result.depht


def test_threads_get_equal_results():
    box, poses = gk.Box((1, 1, 1)), np.tile(np.eye(4), (50, 1, 1))
    poses[:, 0, 3] = np.linspace(0, 2, 50)
    expected = gk.collide(box, box, None, poses).tolist()
    results: dict[int, list[bool]] = {}

    def query_all(k):
        results[k] = [gk.collide(box, box, None, pose) for pose in poses]

    threads = [threading.Thread(target=query_all, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[k] == expected for k in range(4))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (gk.Box((1, 1, 1)), gk.Segment((0, 0, 0), (1, 0.3, 0.2))),
        (gk.Triangle([(0, 0, 0), (1, 0, 0), (0.2, 0.9, 0.1)]), gk.Point()),
        (gk.Cylinder(0.3, 1.2), gk.Box((0.2, 1, 0.2))),
    ],
    ids=["box-segment", "triangle-point", "cylinder-box"],
)
@pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e12])
def test_far_queries_do_not_affect_near_results(a, b, far):
    """Cached points of a far query have its rounding error and would give a wrong sign after every tenth jump."""
    rng = np.random.default_rng(4)
    warm, decided = gk.Pair(a, b), gk.Pair(a, b)
    for _ in range(60):
        at, near = np.eye(4), np.eye(4)
        at[:3, 3], near[:3, 3] = rng.uniform(-far, far, 3), rng.uniform(-1, 1, 3)
        cold = gk.signed_distance(a, b, None, near)
        near[:3, 3] += (cold.separation_vector if cold.distance < 0 else -cold.distance * cold.normal) * (1.0 - 1e-12)
        cold = gk.signed_distance(a, b, None, near)
        for pair in (warm, decided):
            pair.distance(None, at)
        result = warm.signed_distance(None, near)
        assert max(result.lower, cold.lower) <= min(result.upper, cold.upper)
        assert decided.collide(None, near) == gk.collide(a, b, None, near)
        assert gk.verify(result, a, b, None, near)
