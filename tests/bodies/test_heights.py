"""Height fields in collide, distance and signed_distance."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import ShapeError, UnboundedShapeError, UnsupportedPair
from tests.bodies.random_shapes import Array, anywhere, at, check_against_parts, some_compound, some_shape


def columns(field: gk.HeightField, bottom: float = -50.0) -> list[tuple[gk.ConvexHull, Array]]:
    """Return the reference implementation: the column under each triangle, deeper than any query of the tests."""
    parts = []
    nx, ny = field.heights.shape
    for i in range(nx - 1):
        for j in range(ny - 1):
            for steps in (((0, 0), (1, 0), (1, 1)), ((0, 0), (1, 1), (0, 1))):
                top = [
                    (*(field.origin + np.asarray(field.pitch) * np.array((i + p, j + q))), field.heights[i + p, j + q])
                    for p, q in steps
                ]
                parts.append((gk.ConvexHull([*top, *((x, y, bottom) for x, y, _ in top)]), np.eye(4)))
    return parts


def some_field(rng: np.random.Generator) -> gk.HeightField:
    return gk.HeightField(rng.uniform(-0.4, 0.4, rng.integers(2, 6, 2)), 0.5, origin=(-1.0, -1.0))


@pytest.mark.parametrize("seed", range(3))
def test_results_match_every_column(seed: int) -> None:
    rng = np.random.default_rng(seed)
    met = []
    for k in range(12):
        field = some_field(rng)
        shape = some_compound(rng, 3, 0.5) if k % 2 else some_shape(rng)
        parts = shape.parts if k % 2 else [(shape, np.eye(4))]
        pose = anywhere(rng, 1.0)
        pose[2, 3] += 0.7
        met.append(check_against_parts(field, columns(field), shape, parts, anywhere(rng, 0.3), pose))
    assert 0.2 < np.mean(met) < 0.9


def test_mesh_above_and_below_a_field() -> None:
    torus = trimesh.creation.torus(0.5, 0.2, major_sections=16, minor_sections=8)
    mesh = gk.Mesh(torus.vertices, torus.faces)
    rng = np.random.default_rng(2)
    met = []
    for _ in range(12):
        field, pose = some_field(rng), anywhere(rng, 0.8)
        pose[2, 3] += 0.4
        rows = [gk.signed_distance(column, mesh, None, pose) for column, _ in columns(field)]
        result = gk.signed_distance(mesh, field, pose)
        met.append(any(row.upper < 0 for row in rows))
        assert gk.collide(field, mesh, None, pose) == met[-1]
        if not met[-1]:
            assert result.distance == pytest.approx(min(row.distance for row in rows), abs=1e-12)
    assert 0.2 < np.mean(met) < 0.9
    deep = gk.signed_distance(some_field(rng), mesh, None, at(0, 0, -3))
    assert deep.status == gk.Status.OVERLAPPING
    assert deep.normal @ (0, 0, 1) > -0.5


def test_depth_in_flat_ground_is_the_depth_below_its_surface() -> None:
    ground = gk.HeightField(np.zeros((21, 21)), 0.5, origin=(-5, -5))
    for depth in (1e-6, 0.01, 0.2):
        for shape, below in ((gk.Sphere(0.3), 0.3), (gk.Box((1, 1, 0.6)), 0.3), (gk.Capsule(0.3, 1), 0.8)):
            result = gk.signed_distance(ground, shape, None, at(0.13, 0.21, below - depth))
            assert result.distance == pytest.approx(-depth, abs=1e-11)
            assert result.tight
            assert result.normal == pytest.approx((0, 0, 1), abs=1e-6)
    fallen = gk.signed_distance(ground, gk.Sphere(0.3), None, at(0.1, 0.2, -2))
    assert fallen.lower == pytest.approx(-2.3, abs=1e-9)
    assert -2.3 <= fallen.upper < -0.3
    aside = gk.signed_distance(ground, gk.Sphere(0.3), None, at(5.1, 0, -2))
    assert aside.distance == pytest.approx(-0.2, abs=1e-9)
    assert gk.distance(ground, gk.Sphere(0.3), None, at(5.5, 0, -100)).distance == pytest.approx(0.2, abs=1e-9)


FLAT = gk.HeightField(np.ones((9, 9)), 2.0, (-8, -8))


@pytest.mark.parametrize("radius", [0.0, 1e-13, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 5.0])
def test_balls_of_every_radius_below_the_surface(radius: float) -> None:
    # on sides of columns, on a diagonal, at a corner of cells, in a column, and so deep that a side is nearest
    ball = gk.Sphere(radius) if radius else gk.Point()
    places = [(0, 0, 0.999), (1, 1, 0.9), (2, 2, 0.9), (0.3, 0.7, 0.9), (0, 0, -3), (0, 0, -30), (7, 7.5, -100)]
    for x, y, z in places:
        depth = min(1 - z, 8 - abs(x), 8 - abs(y))
        result = gk.signed_distance(FLAT, ball, None, at(x, y, z))
        assert result.distance == pytest.approx(-depth - radius, abs=1e-9 * (1 + radius))
        assert result.lower <= -depth - radius <= result.upper
        assert result.upper - result.lower <= 1e-9
        exits = [(1 - z, (0, 0, 1)), *((8 - s * v, s * np.eye(3)[c]) for c, v in enumerate((x, y)) for s in (1, -1))]
        assert any(length == pytest.approx(depth) and result.normal == pytest.approx(n) for length, n in exits)


def test_points_near_a_rough_field_match_its_closed_surface(rng: np.random.Generator) -> None:
    heights = rng.random((7, 7)) * 2
    field, closed = gk.HeightField(heights, 1.0), gk.Mesh(*gk.HeightField(heights, 1.0, bottom=-40).surface())
    points = rng.uniform((0.1, 0.1, -2), (5.9, 5.9, 2), (60, 3))
    points[:15, :2], points[15:30, 0] = np.round(points[:15, :2]).clip(1, 5), points[15:30, 1]
    result, expected = field.signed_distances(points), closed.signed_distances(points)
    assert 20 < expected.inside.sum() < 59
    np.testing.assert_allclose(result.distance, expected.distance, atol=1e-9)
    np.testing.assert_array_equal(result.inside, expected.inside)
    np.testing.assert_allclose(result.upper, result.lower, atol=1e-9)
    np.testing.assert_allclose(result.point, points - result.distance[:, None] * result.normal, atol=1e-12)


@pytest.mark.parametrize("radius", [0.0, 1e-9, 0.1])
def test_capsules_on_the_sides_of_columns_are_separated(radius: float) -> None:
    capsule = gk.Capsule(radius, 0.3) if radius else gk.Segment((0, 0, -0.3), (0, 0, 0.3))
    for x, y, z in ((0, 0, 0.9), (1, 1, 0.5), (2, 0, -3)):
        result = gk.signed_distance(FLAT, capsule, None, at(x, y, z))
        half = 0.3 if not radius else 0.15
        assert result.distance == pytest.approx(z - half - radius - 1, abs=1e-8)
        assert not gk.collide(FLAT, capsule, None, at(*((x, y, z) - (result.distance - 1e-9) * result.normal)))


def test_large_field_matches_its_formula() -> None:
    x = np.arange(400) * 0.05
    ground = gk.HeightField(np.add.outer(0.3 * x, -0.4 * x), 0.05)
    steep = np.sqrt(1 + 0.3**2 + 0.4**2)
    rng = np.random.default_rng(9)
    for px, py, h in rng.uniform((3, 3, -0.5), (17, 17, 3), (30, 3)):
        pose = at(px, py, 0.3 * px - 0.4 * py + h)
        result = gk.signed_distance(ground, gk.Sphere(0.25), None, pose)
        truth = h / steep - 0.25
        assert result.lower - 1e-9 <= truth <= result.upper + 1e-9
        assert max(result.distance, 0.0) == pytest.approx(max(truth, 0.0), abs=1e-9)
        assert gk.collide(ground, gk.Sphere(0.25), None, pose) == (truth <= 0)


@pytest.mark.parametrize(
    ("heights", "fragments"),
    [
        (np.zeros((1, 5)), ("heights", "(1, 5)", "2 x 2")),
        (np.zeros(5), ("heights", "(5,)")),
        ([[0, 1], [np.nan, 2]], ("heights[1, 0]", "nan", "1 of 4")),
        ([[0, 1], [2]], ("ragged", "(nx, ny)")),
        ([["a", "b"], ["c", "d"]], ("heights", "dtype <U1")),
    ],
)
def test_invalid_heights_raise(heights: object, fragments: tuple[str, ...]) -> None:
    with pytest.raises(ShapeError) as caught:
        gk.HeightField(heights, 1)
    assert_names(caught.value, *fragments)


def test_unsupported_field_queries_raise() -> None:
    field = gk.HeightField([[0, 1], [2, 3]], 1)
    with pytest.raises(UnsupportedPair) as caught:
        gk.collide(field, gk.HeightField([[0, 0], [0, 0]], 1))
    assert_names(caught.value, "two HeightFields", "bottom=z", "gjk3d.Mesh")
    with pytest.raises(UnsupportedPair) as caught:
        gk.Pair(field, field)
    assert_names(caught.value, "two HeightFields", "bottom=z", "gjk3d.Mesh")
    assert gk.Pair(field, gk.HeightField([[0, 0], [0, 0]], 1, bottom=-1)).collide()
    for flat in (gk.Halfspace((0, 0, 1), 0), gk.Plane((0, 0, 1), 0)):
        for pair in ((field, flat), (flat, field)):
            with pytest.raises(UnsupportedPair) as caught:
                gk.Pair(*pair)
            assert_names(caught.value, "HeightField", "gjk3d.Box", "bottom=z")
            with pytest.raises(UnsupportedPair) as caught:
                gk.distance(*pair)
            assert_names(caught.value, "HeightField", "gjk3d.Box", "bottom=z")
    slab = gk.HeightField([[0, 1], [2, 3]], 1, bottom=-1)
    assert gk.Pair(slab, gk.Plane((0, 0, 1), 0)).collide()
    with pytest.raises(UnsupportedPair) as caught:
        gk.penetration(field, gk.Box((1, 1, 1)))
    assert_names(caught.value, "HeightField", "signed_distance", "gjk3d.Mesh")
    assert gk.penetration(slab, gk.Box((1, 1, 1))).lower > 0.0
    with pytest.raises(UnboundedShapeError, match="bottom=z"):
        print(field.bounds)
    with pytest.raises(ShapeError) as caught:
        gk.Compound([(field, None)])
    assert_names(caught.value, "parts[0]", "HeightField")
    with pytest.raises(ShapeError) as caught:
        gk.HeightField([[0, 1], [2, 3]], 1, origin=(0, 0, 0))
    assert_names(caught.value, "origin", "(0, 0, 0)")
    with pytest.raises(ShapeError, match=r"pitch\b.*\b0\b"):
        gk.HeightField([[0, 1], [2, 3]], 0)
    again = pickle.loads(pickle.dumps(field))
    assert again == field
    assert hash(again) == hash(field)


@pytest.mark.parametrize(("height", "pitch", "origin"), [(1.0, 1e-20, 0.0), (1e33, 0.5, 0.0), (1.0, 0.5, 1e33)])
def test_cells_below_float_resolution_raise(height, pitch, origin):
    """Such a field once gave wrong results: a ball in it did not collide."""
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.HeightField(np.full((3, 3), height), pitch, (origin, 0.0))
    assert_names(caught.value, "heights", "pitch")


# different pitches, and a bottom --------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
def test_pitches_and_a_bottom_match_every_column(seed: int) -> None:
    rng = np.random.default_rng(seed)
    heights, pitch = rng.uniform(-0.4, 0.4, rng.integers(2, 6, 2)), rng.uniform(0.2, 0.7, 2)
    bottom = -np.inf if seed % 3 == 0 else -0.4 - rng.uniform(0.0, 0.6) if seed % 3 == 1 else float(heights.min())
    field = gk.HeightField(heights, pitch, (-1.0, -0.5), bottom)
    shape = some_compound(rng, 3, 0.5) if seed % 2 else some_shape(rng)
    parts = shape.parts if seed % 2 else [(shape, np.eye(4))]
    reference = columns(field, max(bottom, -50.0))
    check_against_parts(field, reference, shape, parts, anywhere(rng, 0.3), anywhere(rng, 1.0))


@given(st.integers(0, 2**32 - 1))
def test_rays_at_a_ground_with_a_bottom_match_its_columns(seed: int) -> None:
    """Each column is a convex hull."""
    rng = np.random.default_rng(seed)
    field = gk.HeightField(rng.random((4, 3)), (0.5, 0.8), (-0.7, -0.9), bottom=-0.3)
    starts, ways = rng.uniform(-2, 2, (20, 3)), rng.normal(size=(20, 3))
    pose = anywhere(rng, 0.3)
    hits = gk.raycast(field, starts, ways, pose)
    every = [gk.raycast(column, starts, ways, pose) for column, _ in columns(field, -0.3)]
    np.testing.assert_allclose(hits.distance, np.min([h.distance for h in every], axis=0), atol=1e-9)
    np.testing.assert_array_equal(hits.inside, np.any([h.inside for h in every], axis=0))
    endless = gk.HeightField(field.heights, field.pitch, field.origin)
    deep = [gk.raycast(column, starts, ways, pose) for column, _ in columns(endless, -1e3)]
    np.testing.assert_allclose(
        gk.raycast(endless, starts, ways, pose).distance, np.min([h.distance for h in deep], axis=0), atol=1e-9
    )


def test_equal_pitches_match_a_single_pitch() -> None:
    rng = np.random.default_rng(4)
    heights = rng.random((5, 7))
    single, double = gk.HeightField(heights, 0.3, (1, 2)), gk.HeightField(heights, (0.3, 0.3), (1, 2))
    for _ in range(20):
        shape, pose = some_shape(rng), anywhere(rng, 2.0)
        first, second = (gk.signed_distance(field, shape, None, pose) for field in (single, double))
        assert (first.lower, first.upper, first.normal.tolist()) == (second.lower, second.upper, second.normal.tolist())


def test_slab_matches_a_box() -> None:
    slab = gk.HeightField(np.full((3, 5), 0.25), (1.0, 0.5), (-1.0, -1.0), bottom=-0.25)
    box = gk.Box((2, 2, 0.5))
    assert np.allclose(slab.bounds, box.bounds)
    assert slab.hull().volume == pytest.approx(2.0)
    mesh = gk.Mesh(*slab.surface())
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(2.0)
    rng = np.random.default_rng(1)
    for _ in range(20):
        shape, pose = some_shape(rng), anywhere(rng, 1.2)
        truth, result = (gk.signed_distance(x, shape, None, pose) for x in (box, slab))
        assert result.lower - 1e-9 <= truth.distance <= result.upper + 1e-9
        assert gk.collide(slab, shape, None, pose) == (truth.lower <= 0.0)
    assert gk.distance(slab, gk.Sphere(0.5), None, at(0, 0, -2)).distance == pytest.approx(1.25, abs=1e-12)
    assert not gk.collide(slab, gk.Sphere(0.5), None, at(0, 0, -9))
    over = gk.signed_distance(slab, gk.Halfspace((0, 0, 1), -0.75))
    assert over.distance == pytest.approx(0.5, abs=1e-12)
    endless = gk.HeightField(np.zeros((3, 3)), 1.0, (-1.0, -1.0))
    for pair in ((slab, endless), (endless, slab)):
        poses = (at(0, 0, 2), None) if pair[0] is slab else (None, at(0, 0, 2))
        assert gk.distance(*pair, *poses).distance == pytest.approx(1.75, abs=1e-12)
        assert gk.collide(*pair)
    assert gk.distance(slab, slab, at(0, 0, 2)).distance == pytest.approx(1.5, abs=1e-12)
    assert gk.Swept(slab, (0, 0, 3)) is not None
    assert gk.signed_distance(slab, gk.Box((5, 5, 5)), None, at(0, 0, 2.5)).lower == pytest.approx(-0.25, abs=1e-9)


def test_invalid_pitches_and_bottoms_raise() -> None:
    for pitch, fragments in (((1, 2, 3), ("pitch", "(1, 2, 3)")), ((1, 0), ("pitch[1]", "0")), ("a", ("pitch", "'a'"))):
        with pytest.raises(ShapeError) as caught:
            gk.HeightField([[0, 1], [2, 3]], pitch)
        assert_names(caught.value, *fragments)
    with pytest.raises(ShapeError) as caught:
        gk.HeightField([[0, 1], [2, 3]], 1, bottom=0.5)
    assert_names(caught.value, "heights[0, 0]", "0.5", "np.maximum(heights, bottom)")
    with pytest.raises(ShapeError) as caught:
        gk.HeightField([[0, 1], [2, 3]], 1, bottom=np.nan)
    assert_names(caught.value, "bottom", "nan")
    assert_names(
        repr(gk.HeightField([[0, 1], [2, 3]], (1, 2), bottom=-1)), "HeightField", "2 x 2", "1 x 2", " 0 ", " 3", "-1"
    )
    flat = gk.HeightField(np.zeros((2, 2)), 1.0, bottom=0.0)  # zero thickness
    assert gk.distance(flat, gk.Sphere(0.5), None, at(0.5, 0.5, 2)).distance == pytest.approx(1.5, abs=1e-12)
    assert gk.distance(flat, gk.Sphere(0.5), None, at(0.5, 0.5, -2)).distance == pytest.approx(1.5, abs=1e-12)
    assert gk.collide(flat, gk.Sphere(0.5), None, at(0.5, 0.5, 0.4))
    again = pickle.loads(pickle.dumps(gk.HeightField([[0, 1], [2, 3]], (1, 2), bottom=-1)))
    assert again == gk.HeightField([[0, 1], [2, 3]], (1, 2), bottom=-1)
    assert again != gk.HeightField([[0, 1], [2, 3]], (1, 2))


def test_saved_results_replay_with_equal_fields(tmp_path) -> None:
    for k, field in enumerate(
        (gk.HeightField([[0, 1], [2, 3]], (1, 2), bottom=-1), gk.HeightField([[0, 1], [2, 3]], 1))
    ):
        result = gk.signed_distance(field, gk.Cone(1, 1), None, at(0.1, 0.2, 4.4))
        result.to_json(tmp_path / f"{k}.json")
        replayed = gk.replay.run(tmp_path / f"{k}.json")
        assert replayed.sameness is gk.replay.Sameness.SAME
        assert replayed.case.answer.shape_a == field
