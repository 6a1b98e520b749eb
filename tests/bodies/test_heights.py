"""Height fields in collide, distance and signed_distance."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.errors import ShapeError, UnboundedShapeError, UnsupportedPair
from tests.bodies.places import Array, anywhere, at, check_against_parts, some_compound, some_shape


def columns(field: gk.HeightField, bottom: float = -50.0) -> list[tuple[gk.ConvexHull, Array]]:
    """The slow twin: the column under each triangle, so deep that nothing asked about is below it."""
    parts = []
    nx, ny = field.heights.shape
    for i in range(nx - 1):
        for j in range(ny - 1):
            for steps in (((0, 0), (1, 0), (1, 1)), ((0, 0), (1, 1), (0, 1))):
                top = [
                    (*(field.origin + field.pitch * np.array((i + p, j + q))), field.heights[i + p, j + q])
                    for p, q in steps
                ]
                parts.append((gk.ConvexHull([*top, *((x, y, bottom) for x, y, _ in top)]), np.eye(4)))
    return parts


def some_field(rng: np.random.Generator) -> gk.HeightField:
    return gk.HeightField(rng.uniform(-0.4, 0.4, rng.integers(2, 6, 2)), 0.5, origin=(-1.0, -1.0))


@pytest.mark.parametrize("seed", range(3))
def test_against_every_column(seed: int) -> None:
    rng = np.random.default_rng(seed)
    met = []
    for k in range(12):
        field = some_field(rng)
        other = some_compound(rng, 3, 0.5) if k % 2 else some_shape(rng)
        parts = other.parts if k % 2 else [(other, np.eye(4))]
        pose = anywhere(rng, 1.0)
        pose[2, 3] += 0.7
        met.append(check_against_parts(field, columns(field), other, parts, anywhere(rng, 0.3), pose))
    assert 0.2 < np.mean(met) < 0.9


def test_a_mesh_above_and_below() -> None:
    torus = trimesh.creation.torus(0.5, 0.2, major_sections=16, minor_sections=8)
    mesh = gk.Mesh(torus.vertices, torus.faces)
    rng = np.random.default_rng(2)
    met = []
    for _ in range(12):
        field, pose = some_field(rng), anywhere(rng, 0.8)
        pose[2, 3] += 0.4
        rows = [gk.signed_distance(column, mesh, None, pose) for column, _ in columns(field)]
        answer = gk.signed_distance(mesh, field, pose)
        met.append(any(row.upper < 0 for row in rows))
        assert gk.collide(field, mesh, None, pose) == met[-1]
        if not met[-1]:
            assert answer.distance == pytest.approx(min(row.distance for row in rows), abs=1e-12)
    assert 0.2 < np.mean(met) < 0.9
    deep = gk.signed_distance(some_field(rng), mesh, None, at(0, 0, -3))
    assert deep.status == gk.Status.OVERLAPPING
    assert deep.normal @ (0, 0, 1) > -0.5


def test_depth_in_flat_ground_is_how_far_below_it() -> None:
    ground = gk.HeightField(np.zeros((21, 21)), 0.5, origin=(-5, -5))
    for depth in (1e-6, 0.01, 0.2):
        for shape, below in ((gk.Sphere(0.3), 0.3), (gk.Box((1, 1, 0.6)), 0.3), (gk.Capsule(0.3, 1), 0.8)):
            answer = gk.signed_distance(ground, shape, None, at(0.13, 0.21, below - depth))
            assert answer.distance == pytest.approx(-depth, abs=1e-11)
            assert answer.tight
            assert answer.normal == pytest.approx((0, 0, 1), abs=1e-6)
    fallen = gk.signed_distance(ground, gk.Sphere(0.3), None, at(0.1, 0.2, -2))
    assert fallen.lower == pytest.approx(-2.3, abs=1e-9)
    assert -2.3 <= fallen.upper < -0.3
    aside = gk.signed_distance(ground, gk.Sphere(0.3), None, at(5.1, 0, -2))
    assert aside.distance == pytest.approx(-0.2, abs=1e-9)
    assert gk.distance(ground, gk.Sphere(0.3), None, at(5.5, 0, -100)).distance == pytest.approx(0.2, abs=1e-9)


def test_a_large_field_against_its_formula() -> None:
    x = np.arange(400) * 0.05
    ground = gk.HeightField(np.add.outer(0.3 * x, -0.4 * x), 0.05)
    steep = np.sqrt(1 + 0.3**2 + 0.4**2)
    rng = np.random.default_rng(9)
    for px, py, h in rng.uniform((3, 3, -0.5), (17, 17, 3), (30, 3)):
        pose = at(px, py, 0.3 * px - 0.4 * py + h)
        answer = gk.signed_distance(ground, gk.Sphere(0.25), None, pose)
        truth = h / steep - 0.25
        assert answer.lower - 1e-9 <= truth <= answer.upper + 1e-9
        assert max(answer.distance, 0.0) == pytest.approx(max(truth, 0.0), abs=1e-9)
        assert gk.collide(ground, gk.Sphere(0.25), None, pose) == (truth <= 0)


@pytest.mark.parametrize(
    ("heights", "message"),
    [
        (np.zeros((1, 5)), r"shape \(1, 5\).*at least 2 x 2"),
        (np.zeros(5), r"shape \(5,\)"),
        ([[0, 1], [np.nan, 2]], r"heights\[1, 0\] is nan \(1 of 4.*fill the gaps"),
        ([[0, 1], [2]], "ragged"),
        ([["a", "b"], ["c", "d"]], "real numbers"),
    ],
)
def test_what_is_no_field_is_refused(heights: object, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        gk.HeightField(heights, 1)


def test_what_a_field_cannot_be_asked() -> None:
    field = gk.HeightField([[0, 1], [2, 3]], 1)
    with pytest.raises(UnsupportedPair, match=r"two HeightFields.*Mesh"):
        gk.collide(field, gk.HeightField([[0, 0], [0, 0]], 1))
    with pytest.raises(UnsupportedPair, match=r"half-space"):
        gk.distance(field, gk.Halfspace((0, 0, 1), 0))
    with pytest.raises(UnboundedShapeError, match="without end"):
        print(field.bounds)
    with pytest.raises(ShapeError, match="beside the compound"):
        gk.Compound([(field, None)])
    with pytest.raises(ShapeError, match="origin is"):
        gk.HeightField([[0, 1], [2, 3]], 1, origin=(0, 0, 0))
    with pytest.raises(ShapeError, match="pitch is 0"):
        gk.HeightField([[0, 1], [2, 3]], 0)
    again = pickle.loads(pickle.dumps(field))
    assert again == field
    assert hash(again) == hash(field)


@pytest.mark.parametrize(("height", "pitch", "origin"), [(1.0, 1e-20, 0.0), (1e33, 0.5, 0.0), (1.0, 0.5, 1e33)])
def test_a_ground_whose_cells_floats_cannot_tell_apart_is_refused(height, pitch, origin):
    """It was answered, and wrongly: a ball in it did not collide."""
    with pytest.raises(gk.errors.ShapeError, match="floats cannot tell its cells apart"):
        gk.HeightField(np.full((3, 3), height), pitch, (origin, 0.0))
