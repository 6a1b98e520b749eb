"""Arguments and results of queries: stacks, limits, traces, errors, threads and processes."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import naive
import numpy as np
import pytest
from message_checks import assert_names
from scipy.spatial.transform import Rotation
from strategies import PAIRS, SHAPES, build, is_polytope, random_poses

import gjk3d as gk
from gjk3d.convex import solve as convex
from gjk3d.convex.batch import Rows, Wanted
from gjk3d.errors import PoseError, ShapeError, UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.poses import IDENTITY, pose_rows
from gjk3d.results import Status

BOX, BALL = gk.Box((1, 1, 1)), gk.Sphere(0.5)


def at(x, y=0.0, z=0.0):
    return naive.pose(None, (x, y, z))


def stack(rng, count):
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = naive.random_rotations(rng, count)
    poses[:, :3, 3] = rng.normal(size=(count, 3))
    return poses


def test_stacks_broadcast_and_may_be_empty(rng):
    poses = stack(rng, 7)
    result = gk.signed_distance(BOX, BALL, poses, poses[::-1])
    assert result.distance.shape == (7,)
    assert result.point_a.shape == (7, 3)
    assert len(result) == 7
    assert [row.distance for row in result] == result.distance.tolist()
    broadcast = gk.signed_distance(BOX, BALL, poses, at(1))
    assert broadcast[3].distance == gk.signed_distance(BOX, BALL, poses[3], at(1)).distance
    assert gk.signed_distance(BOX, BALL, poses[:1], poses).distance.shape == (7,)
    for pose_a, pose_b in ((poses[:0], None), (None, poses[:0]), (poses[:0], poses[:1])):
        empty = gk.signed_distance(BOX, BALL, pose_a, pose_b)
        assert empty.distance.shape == (0,)
        assert empty.normal.shape == (0, 3)
        assert gk.collide(BOX, BALL, pose_a, pose_b).shape == (0,)
        assert_names(repr(empty), "Distance", "0 pairs")
    with pytest.raises(ShapeError) as caught:
        gk.distance(BOX, BALL, poses, poses[:3])
    assert_names(caught.value, "pose_a", "7 rows", "pose_b has 3")


@pytest.mark.parametrize("options", [{}, {"trace": True}, {"certificate": True}])
def test_result_copies_both_poses(options):
    pose_a, pose_b = at(1.0), at(3.0)
    result = gk.signed_distance(BOX, BALL, pose_a, pose_b, **options)
    pose_a[:3, 3] = pose_b[:3, 3] = 9.0
    np.testing.assert_array_equal(result.pose_a, at(1.0))
    np.testing.assert_array_equal(result.pose_b, at(3.0))


def test_stack_of_results_copies_poses():
    poses_a, poses_b = np.array([at(1.0), at(2.0)]), np.array([at(3.0), at(4.0)])
    result = gk.signed_distance(BOX, BALL, poses_a, poses_b)
    poses_a[:, :3, 3] = poses_b[:, :3, 3] = 9.0
    np.testing.assert_array_equal(result.pose_a, [at(1.0), at(2.0)])
    np.testing.assert_array_equal(result.pose_b, [at(3.0), at(4.0)])


def test_max_distance_is_proven_and_stops_early():
    result = gk.distance(BOX, BALL, None, at(10), max_distance=2)
    assert result.status is Status.BEYOND
    assert 2 < result.lower <= 9 <= result.upper
    assert gk.distance(BOX, BALL, None, at(10), max_distance=9).status is Status.SEPARATED


def test_margin_shifts_threshold_of_collide():
    assert not gk.collide(BOX, BALL, None, at(1.25))
    assert gk.collide(BOX, BALL, None, at(1.25), margin=0.25)
    assert not gk.collide(BOX, BALL, None, at(1.25), margin=0.249999)
    assert gk.collide(BOX, BOX, None, at(0.75), margin=-0.25)
    assert not gk.collide(BOX, BOX, None, at(0.75), margin=-0.250001)
    assert type(gk.collide(BOX, BALL)) is bool


def test_half_space_may_be_either_shape():
    floor = gk.Halfspace((0, 0, 1), 0)
    up = gk.signed_distance(floor, BALL, None, at(1, 2, 3))
    down = gk.signed_distance(BALL, floor, at(1, 2, 3))
    assert up.distance == down.distance == 2.5
    assert up.normal.tolist() == [0, 0, 1]
    assert (down.normal == -up.normal).all()
    np.testing.assert_allclose([up.point_a, up.point_b], [(1, 2, 0), (1, 2, 2.5)])
    deep = gk.signed_distance(floor, BOX, None, at(0, 0, -2))
    assert deep.distance == -2.5
    assert deep.status is Status.OVERLAPPING
    assert deep.separation_vector.tolist() == [0, 0, 2.5]
    assert gk.distance(floor, BOX, None, at(0, 0, -2)).distance == 0
    assert gk.signed_distance(floor, BOX, None, at(0, 0, 0.5)).status is Status.TOUCHING
    assert gk.collide(floor, BOX, None, at(0, 0, 0.5))
    assert not gk.collide(floor, BOX, None, at(0, 0, 0.51))
    assert gk.distance(floor, BOX, None, at(0, 0, 9), max_distance=1).status is Status.BEYOND
    with pytest.raises(UnsupportedPair, match="large Box"):
        gk.collide(floor, floor)


@pytest.mark.parametrize(
    ("call", "error", "fragments"),
    [
        (lambda: gk.collide(BOX, 3), UnsupportedPair, ("b is an int", "gjk3d.ConvexHull")),
        (lambda: gk.collide(None, BOX), UnsupportedPair, ("a is None", "gjk3d.ConvexHull")),
        (lambda: gk.collide(BOX, BALL, margin=float("nan")), ShapeError, ("margin", "nan")),
        (lambda: gk.collide(BOX, BALL, margin=float("inf")), ShapeError, ("margin", "inf")),
        (lambda: gk.collide(BOX, BALL, margin=True), ShapeError, ("margin", "True")),
        (lambda: gk.collide(BOX, BALL, [np.eye(4)] * 2, margin=False), ShapeError, ("margin", "False")),
        (lambda: gk.Pair(BOX, BALL).collide(margin=True), ShapeError, ("margin", "True")),
        (lambda: gk.distance(BOX, BALL, max_distance=-1), ShapeError, ("max_distance", "-1")),
        (lambda: gk.distance(BOX, BALL, tol=-1), ShapeError, ("tol", "-1")),
        (lambda: gk.collide(BOX, BALL, margin=10**400), ShapeError, ("margin", "1000000")),
        (lambda: gk.shapecast(BOX, BALL, (1, 0, 0), clearance=10**400), ShapeError, ("clearance", "1000000")),
        (lambda: gk.penetration(BOX, BALL, tol=None), ShapeError, ("tol", "None", "0.0001")),
        (lambda: gk.penetration(BOX, BALL, tol=True), ShapeError, ("tol", "True", "0.0001")),
        (lambda: gk.signed_distance(BOX, BALL, depth="sat"), ShapeError, ("'sat'", "'auto'", "'epa'", "'facets'")),
        (lambda: gk.signed_distance(BOX, BALL, [np.eye(4)] * 2, trace=True), ShapeError, ("trace=True", "one pair")),
        (
            lambda: gk.signed_distance(BOX, gk.Cone(1, 1), depth="facets"),
            UnsupportedPair,
            ("depth='facets'", "Cone", "signed_distance"),
        ),
        (
            lambda: gk.separating_axis(BOX, gk.Sphere(1)),
            UnsupportedPair,
            ("separating_axis", "Sphere", "signed_distance"),
        ),
        (
            lambda: gk.separating_axis(BOX, gk.Halfspace((0, 0, 1))),
            UnsupportedPair,
            ("separating_axis", "Halfspace", "normal"),
        ),
    ],
)
def test_error_names_invalid_argument(call, error, fragments):
    with pytest.raises(error) as caught:
        call()
    assert_names(caught.value, *fragments)


def test_error_for_mesh_suggests_its_hull():
    mesh = gk.Mesh(np.vstack([np.zeros(3), np.eye(3)]), [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    with pytest.raises(UnsupportedPair, match=r"hull\(\)"):
        gk.distance(mesh, BOX, trace=True)
    with pytest.raises(ShapeError, match=r"hull\(\)"):
        gk.overlap(gk.Mesh(mesh.vertices, mesh.faces[1:]), BOX)
    assert gk.overlap(mesh, BOX).volume == pytest.approx(gk.overlap(mesh.hull(), BOX).volume)
    assert gk.collide(mesh, BOX)
    assert gk.collide(mesh.hull(), BOX)


def test_axis_kinds():
    assert gk.separating_axis(BOX, BOX, None, at(3)).kind is gk.AxisKind.FACE_A
    skew = naive.pose([[0.5, -np.sqrt(0.75), 0], [np.sqrt(0.75), 0.5, 0], [0, 0, 1]], (0, 0, 0))
    tip = gk.ConvexHull([(-1, 0, 0), (1, 0, 0), (0, -1, 2), (0, 1, 2)])  # one edge below, one edge above
    turned = skew.copy()
    turned[2, 3] = 2.5
    axis = gk.separating_axis(tip, tip, None, turned)
    assert axis.kind is gk.AxisKind.EDGES
    assert axis.gap == pytest.approx(0.5)
    assert axis.status is Status.SEPARATED
    below = gk.separating_axis(tip, BOX, None, at(0, 0, -2))
    assert below.kind is gk.AxisKind.FACE_B
    assert_names(repr(below), "Axis", "separated", "1.5", "(0, 0, -1)", "face", "B")
    points = gk.separating_axis(gk.Point((0, 0, 0)), gk.Point((0, 3, 4)))
    assert points.kind is gk.AxisKind.POINTS
    assert points.gap == 5


def test_axis_bounds_are_gap_plus_minus_error():
    axis = gk.Axis(np.array([0.0, 0.0, 1.0]), 1.0, 0.25, gk.AxisKind.FACE_A, gk.Status.SEPARATED)
    assert axis.bounds == (np.nextafter(0.75, 0.0), np.nextafter(1.25, 2.0))


@pytest.mark.parametrize("option", ["trace", "certificate"])
def test_error_of_single_pair_option_names_row_count(option):
    with pytest.raises(gk.errors.ShapeError, match=f"{option}=True needs one pair of poses, but 3 are given"):
        gk.distance(gk.Box((1, 1, 1)), gk.Sphere(1), np.tile(np.eye(4), (3, 1, 1)), **{option: True})


def test_trace_shows_every_step_of_a_large_polytope():
    shell = gk.ConvexHull(naive.unit_vectors(np.random.default_rng(0), 300))
    deep = gk.signed_distance(shell, shell, None, at(0.05, 0.02, 0.01), trace=True)
    assert len(deep.trace.epa) > 64  # more vertices than fit the first workspace
    assert len(deep.trace.gjk) + len(deep.trace.epa) <= deep.iterations
    assert deep.trace.gjk_end == "origin inside"


def test_trace_shows_every_step_of_gjk_and_epa(rng):
    cube = gk.ConvexHull(BOX.vertices)
    separated = gk.signed_distance(cube, cube, None, at(2, 0.3, 0.1), trace=True)
    assert separated.trace.epa == []
    assert separated.trace.gjk_end in ("converged", "no progress")
    lower, upper = [s.lower for s in separated.trace.gjk], [s.upper for s in separated.trace.gjk]
    assert lower == sorted(lower)
    assert upper == sorted(upper, reverse=True)
    for step in separated.trace.gjk:
        assert np.linalg.norm(step.direction) == pytest.approx(1)
        np.testing.assert_allclose(step.simplex, step.simplex_a - step.simplex_b, atol=1e-15)
        assert step.weights.sum() == pytest.approx(1)
        assert np.linalg.norm(step.weights @ step.simplex) == pytest.approx(step.upper)
        assert step.direction @ (step.support_a - step.support_b) == pytest.approx(-step.bound)
    turned = naive.pose(naive.random_rotations(rng, 1)[0], (0.3, 0.2, 0.1))
    deep = gk.signed_distance(cube, cube, None, turned, trace=True)
    assert deep.trace.gjk_end in ("origin inside", "origin on the simplex")
    assert len(deep.trace.epa) > 2
    for before, after in zip(deep.trace.epa, deep.trace.epa[1:], strict=False):
        assert len(after.vertices) == len(before.vertices) + 1
        np.testing.assert_array_equal(after.vertices[-1], before.point)
        assert len(after.faces) == 2 * len(after.vertices) - 4  # Euler's formula of a closed surface
        assert len(before.horizon) == len(before.removed) + 2
        sides = {(int(f[i]), int(f[i - 2])) for f in after.faces for i in range(3)}
        assert {(j, i) for i, j in sides} == sides
        assert after.lower >= before.lower
    assert deep.distance == pytest.approx(deep.trace.epa[-1].lower, abs=1e-12)
    last = deep.trace.epa[-1]
    np.testing.assert_allclose(last.vertices, last.vertices_a - last.vertices_b, atol=1e-15)
    plain = gk.signed_distance(cube, cube, None, turned)
    assert plain.trace is None
    assert plain.distance == pytest.approx(deep.distance, abs=1e-12)


def test_epa_distance_agrees_with_default(rng):
    for pose in stack(rng, 20):
        pose[:3, 3] *= 3
        epa = gk.signed_distance(BOX, gk.Cone(0.5, 1), None, pose, depth="epa")
        default = gk.signed_distance(BOX, gk.Cone(0.5, 1), None, pose)
        assert epa.distance == pytest.approx(default.distance, abs=1e-9)
        assert max(epa.lower, default.lower) <= min(epa.upper, default.upper)


def test_workspace_grows_for_large_concentric_hulls(rng):
    v = naive.unit_vectors(rng, 600)
    ball = gk.ConvexHull(v)
    result = gk.signed_distance(ball, ball)
    assert result.iterations > 64
    assert result.tight
    many = gk.signed_distance(ball, ball, np.tile(np.eye(4), (5, 1, 1)))
    assert (many.distance == result.distance).all()


def test_results_print_serialize_and_index(rng):
    result = gk.signed_distance(BOX, BALL, None, at(3))
    assert_names(repr(result), "Distance", "separated", " 2 ", "(1, 0, 0)")
    document = json.loads(json.dumps(result.to_dict()))
    assert document["distance"] == 2
    assert document["status"] == "separated"
    assert result.depth == 0
    assert result.separation_vector.tolist() == [0, 0, 0]
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert twin.distance == result.distance
        assert twin.shape_a == BOX
    with pytest.raises(TypeError, match="one pair"):
        len(result)
    many = gk.signed_distance(BOX, BALL, stack(rng, 3))
    assert many.depth.shape == (3,)
    assert many.separation_vector.shape == (3, 3)
    with pytest.raises(TypeError) as caught:
        many.to_dict()
    assert_names(caught.value, "to_dict()", "result[i].to_dict()")


def distance_at(pose):
    return gk.signed_distance(BOX, gk.Cylinder(0.5, 1), None, pose).distance


@pytest.mark.full
def test_threads_and_processes_get_equal_results(rng):
    poses = stack(rng, 64)
    expected = gk.signed_distance(BOX, gk.Cylinder(0.5, 1), None, poses).distance.tolist()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(distance_at, poses)) == expected
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(distance_at, poses)) == expected


def test_chunks_of_long_batches_give_equal_results(rng):
    poses = np.tile(stack(rng, 5000), (2, 1, 1))
    result = gk.signed_distance(BOX, BOX, None, poses)
    assert (result.distance[:5000] == result.distance[5000:]).all()
    hits = gk.collide(BOX, BOX, None, poses)
    assert (hits == ~(result.lower > 0)).all()
    assert result[9999].distance == gk.signed_distance(BOX, BOX, None, poses[9999]).distance


@pytest.mark.parametrize("unsigned", [True, False])
def test_rows_with_loose_bounds_are_solved_exactly(unsigned, rng):
    """Rational arithmetic solves every row that is marked as loose, and agrees with the float results."""
    a, b = BOX, gk.ConvexHull(naive.unit_vectors(rng, 12)).inflated(0.1)
    poses = stack(rng, 12)
    expected = gk.distance(a, b, None, poses) if unsigned else gk.signed_distance(a, b, None, poses)
    rows = Rows(IDENTITY, pose_rows(poses)[0], 12, True)
    mode = narrow.UNSIGNED if unsigned else narrow.SIGNED
    out, flags = np.zeros((12, narrow.FLOATS)), np.zeros((12, narrow.INTS), dtype=np.int64)
    convex._settle_exactly(a, b, rows, Wanted(mode), out, flags)
    assert (flags[:, 2] == 1).all()
    np.testing.assert_array_equal(flags[:, 0], expected.status)
    assert (np.maximum(out[:, 1], expected.lower) <= np.minimum(out[:, 2], expected.upper)).all()
    assert (out[:, 2] - out[:, 1] <= 1e-15 * 4).all()
    np.testing.assert_allclose(out[:, 0], expected.distance, rtol=0, atol=1e-14)
    clear = np.abs(expected.distance) > 0
    np.testing.assert_allclose(out[clear, 3:6], expected.normal[clear], rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        out[clear, 6:12], np.hstack([expected.point_a, expected.point_b])[clear], rtol=0, atol=1e-11
    )


def test_results_of_thin_needles_are_tight(rng):
    for _ in range(60):
        a, b = (gk.ConvexHull(rng.normal(size=(8, 3)) * (1, 1e-9, 1e-6)) for _ in range(2))
        poses = stack(rng, 10)
        poses[:, :3, 3] *= 1e-3
        assert gk.signed_distance(a, b, None, poses).tight.all()


def test_slices_of_a_stack_are_stacks(rng):
    poses = stack(rng, 20)
    many = gk.signed_distance(BOX, BALL, at(0.1), poses)
    deep = many[many.distance < 0]
    assert len(deep) == (many.distance < 0).sum() > 0
    assert (deep.pose_b == poses[many.distance < 0]).all()
    assert many[2:5].distance.tolist() == many.distance[2:5].tolist()
    assert many[[7, 3]][1].distance == many[3].distance
    assert (many[3].pose_b == poses[3]).all()
    shared = gk.signed_distance(BOX, BALL, poses[:1], poses)
    assert (shared[5].pose_a == poses[0]).all()


def test_result_copies_a_single_pose():
    pose = at(3)
    result = gk.signed_distance(BOX, BALL, None, pose)
    pose[0, 3] = 9
    assert result.pose_b[0, 3] == 3


def test_truth_value_and_non_scalar_arguments_raise():
    result = gk.distance(BOX, BALL, None, at(3))
    with pytest.raises(TypeError) as caught:
        bool(result)
    assert_names(caught.value, "gjk3d.collide", ".status")
    assert f"{result.status}" == str(result.status) == "SEPARATED"
    with pytest.raises(TypeError) as caught:
        gk.verify(True, BOX, BALL)
    assert_names(caught.value, "verify()", "bool")
    with pytest.raises(ShapeError) as caught:
        gk.collide(BOX, BALL, margin=np.array([1.0, 2.0]))
    assert_names(caught.value, "margin", "[1., 2.]")
    with pytest.raises(ShapeError) as caught:
        gk.distance(BOX, BALL, max_distance=[1, 2])
    assert_names(caught.value, "max_distance", "[1, 2]")


def test_common_point_of_a_point_is_exact():
    """The rounded weights of a simplex of a long thin needle would give a different point."""
    needle = gk.Box((0.18, 1.3e-7, 2.5e-9))
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(200):
        place = rng.uniform(-0.45, 0.45, 3) * needle.extents
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
        point = pose[:3, :3] @ place + pose[:3, 3]
        result = gk.distance(gk.Point(point), needle, None, pose)
        if result.status == gk.Status.OVERLAPPING:
            assert np.abs(result.point_a - point).max() <= 4e-16 * 4
            assert np.array_equal(result.point_a, result.point_b)
            seen += 1
    assert seen > 100


SHARP = [name for name in SHAPES if is_polytope(SHAPES[name]) and not naive.body(SHAPES[name]).radius]
POLYTOPES = [pair for pair in PAIRS if set(pair) <= set(SHARP)]


@pytest.mark.parametrize(("one", "other"), POLYTOPES)
def test_single_axis_equals_row_of_stack(one, other):
    poses_a, poses_b = random_poses(np.random.default_rng(7), SHAPES[one], SHAPES[other], 6)
    for first, second in ((one, other), (other, one)):
        a, b = build(SHAPES[first]), build(SHAPES[second])
        many = gk.separating_axis(a, b, poses_a, poses_b)
        for k in range(6):
            for poses in ((poses_a[k], poses_b[k]), (poses_a[k].tolist(), poses_b[k])):
                axis = gk.separating_axis(a, b, *poses)
                assert np.array_equal(axis.normal, many.normal[k])
                assert (axis.gap, axis.error) == (many.gap[k], many.error[k])
                assert isinstance(axis.kind, gk.AxisKind)
                assert isinstance(axis.status, gk.Status)
                assert (axis.kind, axis.status) == (many.kind[k], many.status[k])


def test_swapped_shapes_negate_axis_and_swap_faces():
    for name_a, name_b in POLYTOPES:
        a, b = build(SHAPES[name_a]), build(SHAPES[name_b])
        if a._order == b._order:
            continue
        for pose_a, pose_b in zip(
            *random_poses(np.random.default_rng(9), SHAPES[name_a], SHAPES[name_b], 3), strict=True
        ):
            axis, swapped = gk.separating_axis(a, b, pose_a, pose_b), gk.separating_axis(b, a, pose_b, pose_a)
            assert np.array_equal(axis.normal, 0.0 - swapped.normal)
            assert (axis.gap, axis.error, axis.status) == (swapped.gap, swapped.error, swapped.status)
            assert axis.kind == {0: 1, 1: 0}.get(int(swapped.kind), swapped.kind)


def test_error_of_single_axis_names_invalid_pose():
    with pytest.raises(PoseError) as caught:
        gk.separating_axis(BOX, BOX, None, np.diag([2.0, 2.0, 2.0, 1.0]))
    assert_names(caught.value, "pose_b", "(2, 2, 2)", "shape.scaled")
