"""Compounds in collide, distance and signed_distance."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import trimesh
from message_checks import assert_names
from scipy.spatial.transform import RigidTransform

import gjk3d as gk
from gjk3d.errors import PoseError, ShapeError, UnsupportedPair
from tests.bodies.random_shapes import anywhere, at, check_against_parts, some_compound, some_shape


def to_mesh(mesh: trimesh.Trimesh) -> gk.Mesh:
    return gk.Mesh(mesh.vertices, mesh.faces)


CUBE = to_mesh(trimesh.creation.box((1, 1, 1)))
TORUS = to_mesh(trimesh.creation.torus(1.0, 0.3, major_sections=24, minor_sections=12))
ONE = np.eye(4)


def test_meshes_in_different_units_raise() -> None:
    metres, inches = (gk.Mesh(CUBE.vertices, CUBE.faces, unit=unit) for unit in ("meters", "inches"))
    made = gk.Compound([(gk.Sphere(1), None), (metres, None), (CUBE, None)])
    assert (made.unit, gk.Compound([(CUBE, None)]).unit) == ("meters", None)
    with pytest.raises(ShapeError) as error:
        gk.Compound([(made, None), (inches, None)])
    assert_names(error.value, "part 3", "inches", "meters", "mesh.scaled(0.0254, unit='meters')")


@pytest.mark.parametrize("seed", range(4))
def test_compound_equals_all_pairs_of_parts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    met = []
    for k in range(25):
        a = some_compound(rng, int(rng.integers(1, 6)))
        if k % 3:
            b = some_compound(rng, int(rng.integers(1, 6)))
            parts = b.parts
        else:
            b = some_shape(rng)
            parts = ((b, ONE),)
        met.append(check_against_parts(a, a.parts, b, parts, anywhere(rng, 0.5), anywhere(rng, 1.2)))
    assert 0.2 < np.mean(met) < 0.8


def test_depth_is_exact_if_the_deepest_pair_can_separate() -> None:
    table = gk.Compound([(gk.Box((2, 2, 0.1)), at(0, 0, 1)), (gk.Box((0.1, 0.1, 1)), at(0, 0, 0.5))])
    answer = gk.signed_distance(table, gk.Sphere(0.2), None, at(0.6, 0.3, 1.2))
    assert answer.distance == pytest.approx(-0.05, abs=1e-12)
    assert answer.normal == pytest.approx((0, 0, 1), abs=1e-9)
    assert answer.tight
    assert answer.status == gk.Status.OVERLAPPING


def test_depth_bounds_at_a_seam_contain_the_reference() -> None:
    """Two boxes form one of 4 x 1 x 1. At their seam, each of them contains half of the ball."""
    halves = gk.Compound([(gk.Box((2, 1, 1)), at(-1, 0, 0)), (gk.Box((2, 1, 1)), at(1, 0, 0))])
    box = gk.Box((4, 1, 1))
    for x in np.linspace(-2.2, 2.2, 12):
        pose = at(x, 0.1, 0.05)
        truth = gk.signed_distance(box, gk.Sphere(0.3), None, pose).distance
        answer = gk.signed_distance(halves, gk.Sphere(0.3), None, pose)
        assert answer.lower - 1e-12 <= truth <= answer.upper + 1e-12
        assert answer.lower == pytest.approx(truth, rel=2e-3)


def test_distance_of_many_parts_equals_that_of_all_pairs() -> None:
    rng = np.random.default_rng(5)
    balls = rng.uniform(-1, 1, (3000, 3))
    cloud = gk.Compound([(gk.Sphere(0.01), at(*p)) for p in balls])
    for other in (gk.Box((0.3, 0.2, 0.1)), gk.Compound([(gk.Box((0.1, 0.2, 0.3)), anywhere(rng, 0.3))] * 40)):
        parts = other.parts if isinstance(other, gk.Compound) else ((other, ONE),)
        pose = anywhere(rng, 4.0)
        pairs = gk.Pairs([gk.Point(p) for p in balls] + [shape for shape, _ in parts])
        index = [(k, 3000 + j) for k in range(3000) for j in range(len(parts))]
        places = np.concatenate([np.tile(ONE, (3000, 1, 1)), np.array([pose @ q for _, q in parts])])
        truth = float(pairs.distance(index, places).distance.min()) - 0.01
        answer = gk.distance(cloud, other, None, pose)
        assert answer.distance == pytest.approx(truth, abs=1e-9)
        assert gk.collide(cloud, other, None, pose) == (truth <= 0)


@pytest.mark.parametrize("mesh", [CUBE, TORUS])
def test_compound_of_one_part_equals_the_part(mesh: gk.Mesh) -> None:
    rng = np.random.default_rng(8)
    box = gk.Box((0.4, 0.3, 0.2))
    compound, met = gk.Compound([(box, at(0.1, 0, 0))]), []
    for _ in range(40):
        pose = anywhere(rng, 0.9)
        truth = gk.signed_distance(mesh, box, None, pose @ at(0.1, 0, 0))
        answer = gk.signed_distance(mesh, compound, None, pose)
        swapped = gk.signed_distance(compound, mesh, pose, None)
        met.append(truth.status == gk.Status.OVERLAPPING)
        assert answer.status == swapped.status == truth.status
        assert gk.collide(compound, mesh, pose) == met[-1]
        assert max(answer.lower, truth.lower, swapped.lower) <= min(answer.upper, truth.upper, swapped.upper) + 1e-12
        if not met[-1]:
            assert answer.distance == pytest.approx(truth.distance, abs=1e-12)
    assert 0.2 < np.mean(met) < 0.8


def test_compound_with_mesh_parts_equals_its_parts() -> None:
    rng = np.random.default_rng(4)
    made = gk.Compound([(TORUS, at(0, 0, 1)), (gk.Sphere(0.3), None)])
    met = []
    for _ in range(40):
        pose = anywhere(rng, 1.5)
        box = gk.Box((0.3, 0.3, 0.3))
        rows = [gk.signed_distance(TORUS, box, at(0, 0, 1), pose), gk.signed_distance(gk.Sphere(0.3), box, None, pose)]
        answer = gk.signed_distance(made, box, None, pose)
        met.append(any(row.status == gk.Status.OVERLAPPING for row in rows))
        assert gk.collide(made, box, None, pose) == met[-1]
        if not met[-1]:
            assert answer.distance == pytest.approx(min(row.distance for row in rows), abs=1e-11)
        else:
            assert answer.lower <= min(row.upper for row in rows) + 1e-9
    assert 0.1 < np.mean(met) < 0.9


def test_part_inside_a_closed_mesh_overlaps() -> None:
    far = gk.Compound([(gk.Sphere(0.1), at(5, 0, 0)), (gk.Sphere(0.1), at(0, 0, 0.1))])
    answer = gk.signed_distance(far, CUBE)
    assert gk.collide(far, CUBE)
    assert gk.collide(CUBE, far)
    assert answer.status == gk.Status.OVERLAPPING
    assert answer.lower <= -0.5 <= answer.upper <= -0.3
    result = gk.distance(CUBE, far)
    assert result.distance == 0
    assert CUBE.contains(result.point_a)
    shell = gk.Compound([(CUBE, None)])
    assert gk.collide(shell, gk.Compound([(gk.Sphere(0.1), at(0.2, 0, 0))]))
    assert gk.collide(shell, gk.Mesh(CUBE.vertices * 0.1, CUBE.faces))
    assert gk.collide(gk.Mesh(CUBE.vertices * 0.1, CUBE.faces), shell)


def test_negative_margins_and_limits() -> None:
    table = gk.Compound([(gk.Box((2, 2, 0.2)), None), (gk.Box((0.2, 0.2, 2)), at(0, 0, -1))])
    ball, pose = gk.Sphere(0.5), at(0.7, 0.7, 0.4)
    assert gk.collide(table, ball, None, pose, margin=-0.1)
    assert not gk.collide(table, ball, None, pose, margin=-0.3)
    far = gk.distance(table, ball, None, at(0, 0, 9), max_distance=3)
    assert far.status == gk.Status.BEYOND
    assert 3 < far.lower <= 8.4 <= far.upper
    near = gk.distance(table, ball, None, at(0, 0, 9), max_distance=9)
    assert near.status == gk.Status.SEPARATED
    assert near.distance == pytest.approx(8.4, abs=1e-12)


@pytest.mark.parametrize("count", [1, 70])
def test_touching_compound_has_exact_status(count: int) -> None:
    row = gk.Compound([(gk.Box((1, 1, 1)), at(k, 0, 0)) for k in range(count)])
    for shift in (-1e-9, 0.0, 1e-9):
        answer = gk.signed_distance(row, gk.Box((0.5, 0.5, 0.5)), None, at(0.1, 0.2, 0.75 + shift))
        status = (gk.Status.OVERLAPPING, gk.Status.TOUCHING, gk.Status.SEPARATED)[int(np.sign(shift)) + 1]
        assert answer.status == status
        assert answer.distance == pytest.approx(shift, abs=1e-13 * (count + 9))  # relative to the size of the pair
        assert answer.tight
        assert gk.collide(row, gk.Box((0.5, 0.5, 0.5)), None, at(0.1, 0.2, 0.75 + shift)) == (shift <= 0)


def test_distance_to_a_half_space() -> None:
    body = gk.Compound([(gk.Box((1, 1, 1)), at(0, 0, 2)), (gk.Sphere(0.5), at(2, 0, 1))])
    floor = gk.Halfspace((0, 0, 1), 0)
    assert gk.signed_distance(body, floor).distance == pytest.approx(0.5, abs=1e-12)
    assert gk.signed_distance(floor, body, None, at(0, 0, -0.75)).distance == pytest.approx(-0.25, abs=1e-12)
    assert not gk.collide(body, floor)
    assert gk.collide(floor, body, None, at(0, 0, -0.75))


@pytest.mark.parametrize("count", [3, 20])
def test_stack_equals_single_queries(count: int) -> None:
    """Few parts are queried directly and many by their boxes. Both have the same bits as single queries."""
    rng = np.random.default_rng(2)
    a, b = some_compound(rng, 4), some_compound(rng, count)
    poses = np.array([anywhere(rng, 2.0) for _ in range(60)])
    answers, met = gk.signed_distance(a, b, None, poses), gk.collide(a, b, None, poses)
    distances = gk.distance(b, a, poses)
    assert 0.05 < met.mean() < 0.8
    for k, pose in enumerate(poses):
        single = gk.signed_distance(a, b, None, pose)
        assert (answers.lower[k], answers.upper[k], answers.status[k]) == (single.lower, single.upper, single.status)
        assert (answers.normal[k] == single.normal).all()
        assert (answers.point_b[k] == single.point_b).all()
        assert met[k] == gk.collide(a, b, None, pose)
        assert distances.distance[k] == max(0.0, single.distance)
    assert (gk.collide(a, b, poses, poses[0]) == gk.collide(b, a, poses[0], poses)).all()
    assert len(gk.distance(a, b, None, np.zeros((0, 4, 4)))) == 0


def test_compounds_are_flattened_compared_and_pickled() -> None:
    inner = gk.Compound([(gk.Sphere(1), at(1, 0, 0)), (gk.Box((1, 1, 1)), None)])
    outer = gk.Compound([(inner, at(0, 2, 0)), (gk.Sphere(1), RigidTransform.from_translation((0, 0, 3)))])
    assert len(outer) == 3
    assert [pose[:3, 3].tolist() for _, pose in outer.parts] == [[1, 2, 0], [0, 2, 0], [0, 0, 3]]
    again = pickle.loads(pickle.dumps(outer))
    assert again == outer
    assert hash(again) == hash(outer)
    assert inner != outer
    assert gk.distance(again, gk.Point((9, 0, 0))).distance == gk.distance(outer, gk.Point((9, 0, 0))).distance
    assert outer.bounds == pytest.approx(np.array([[-1, -1, -1], [2, 3, 4]]), abs=1e-6)
    assert outer.hull().bounds == pytest.approx(outer.bounds, abs=1e-6)
    with pytest.raises(AttributeError, match="immutable"):
        outer.thing = 1


@pytest.mark.parametrize(
    ("parts", "fragments"),
    [
        ([], ("parts", "empty")),
        (gk.Sphere(1), ("parts", "Sphere", "(shape, pose)")),
        ([gk.Sphere(1)], ("parts[0]", "Sphere", "(shape, pose)")),
        ([(gk.Sphere(1), None), (gk.Halfspace((0, 0, 1), 0), None)], ("parts[1]", "Halfspace", "gjk3d.Box")),
        ([(gk.Sphere(1), np.eye(4)[None])], ("parts[0]", "1 poses")),
    ],
)
def test_invalid_lists_of_parts_raise(parts: object, fragments: tuple[str, ...]) -> None:
    with pytest.raises(ShapeError) as caught:
        gk.Compound(parts)
    assert_names(caught.value, *fragments)


def test_invalid_parts_and_unsupported_queries_raise() -> None:
    with pytest.raises(UnsupportedPair) as caught:
        gk.Compound([(3, None)])
    assert_names(caught.value, "parts[0][0]", "int")
    with pytest.raises(PoseError) as caught:
        gk.Compound([(gk.Sphere(1), np.diag([2.0, 2, 2, 1]))])
    assert_names(caught.value, "parts[0][1]", "(2, 2, 2)", "shape.scaled")
    with pytest.raises(PoseError) as caught:
        gk.Compound([(gk.Sphere(1), np.full((4, 4), np.nan))])
    assert_names(caught.value, "parts[0][1]", "finite", "nan")
    made = gk.Compound([(gk.Sphere(1), None)])
    with pytest.raises(UnsupportedPair) as caught:
        gk.overlap(made, gk.Sphere(1))
    assert_names(caught.value, "Compound", "Mesh(*body.surface())")
    with pytest.raises(UnsupportedPair, match="hull"):
        gk.distance(made, gk.Sphere(1), None, at(3, 0, 0), trace=True)
