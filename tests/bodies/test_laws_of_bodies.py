"""Laws for non-convex bodies: (b, a) mirrors (a, b) in every bit, booleans agree with bounds, and touches are valid."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import gjk3d as gk

Array = NDArray[np.float64]
Boxes = list[tuple[tuple[float, float, float], tuple[float, float, float]]]  #: lowest and highest corners

RING = np.ones((3, 3, 1), dtype=bool)
RING[1, 1, 0] = False
STAIRS = np.zeros((2, 2, 2), dtype=bool)
STAIRS[0] = STAIRS[1, :, 0] = True


def grid(cells: Any, pitch: float) -> gk.VoxelGrid:
    return gk.VoxelGrid(cells, pitch)


def boxes_of(cells: Any, pitch: float) -> Boxes:
    low = [tuple(pitch * int(i) for i in cell) for cell in np.argwhere(cells)]
    return [(p, tuple(x + pitch for x in p)) for p in low]  # type: ignore[misc]


def as_mesh(cells: Any, pitch: float) -> gk.Mesh:
    return gk.Mesh(*grid(cells, pitch).surface())


def as_compound(cells: Any, pitch: float) -> gk.Compound:
    half = 0.5 * pitch
    return gk.Compound([(gk.Box((pitch,) * 3), at([x + half for x in low])) for low, _ in boxes_of(cells, pitch)])


MAKES = {"mesh": as_mesh, "grid": grid, "compound": as_compound}


def at(place: Any, turn: Array | None = None) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = place
    if turn is not None:
        pose[:3, :3] = turn
    return pose


def turned(rng: np.random.Generator, reach: float) -> Array:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return at(reach * rng.uniform(-1, 1, 3), q * np.sign(np.linalg.det(q)))


def open_mesh() -> gk.Mesh:
    return gk.Mesh(np.random.default_rng(1).uniform(-1, 1, (18, 3)), np.arange(18).reshape(-1, 3))


def cloud() -> gk.PointCloud:
    return gk.PointCloud(np.random.default_rng(2).uniform(-1, 1, (30, 3)), 0.25)


BODIES = {
    "ring": lambda: as_mesh(RING, 0.5), "open": open_mesh, "cloud": cloud, "grid": lambda: grid(STAIRS, 0.75),
    "compound": lambda: gk.Compound([(gk.Cone(0.5, 1), at((0.5, 0, 0))), (gk.Box((1, 1, 0.2)), None)]),
}  # fmt: skip


def assert_mirrored(first: Any, second: Any) -> None:
    for name in ("distance", "lower", "upper", "status", "tight"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    assert np.array_equal(first.normal, -second.normal)
    assert np.array_equal(first.point_a, second.point_b)
    assert np.array_equal(first.point_b, second.point_a)


@pytest.mark.filterwarnings("ignore::gjk3d.errors.Gjk3dWarning")
@pytest.mark.parametrize("kind", BODIES)
@given(seed=st.integers(0, 2**32 - 1), reach=st.sampled_from([0.3, 1.0, 3.0]), copied=st.booleans())
def test_swapped_queries_of_equal_bodies_mirror(kind, seed, reach, copied):
    rng = np.random.default_rng(seed)
    a = BODIES[kind]()
    b = BODIES[kind]() if copied else a
    p, q = turned(rng, reach), turned(rng, reach)
    for query in (gk.distance, gk.signed_distance):
        assert_mirrored(query(a, b, p, q), query(b, a, q, p))
    cold = gk.Pair(a, b, warm=False)
    assert_mirrored(cold.signed_distance(p, q), cold.signed_distance(q, p))
    many, back = np.stack([p, q, p]), np.stack([q, p, p])
    stack = gk.signed_distance(a, b, many, back)
    assert_mirrored(gk.signed_distance(a, b, many[:2], back[:2]), gk.signed_distance(b, a, back[:2], many[:2]))
    assert stack.lower[0] == gk.signed_distance(a, b, p, q).lower
    assert np.array_equal(gk.collide(a, b, many, back), gk.collide(b, a, back, many))
    pairs = gk.Pairs([a, b])
    assert_mirrored(
        pairs.signed_distance([(0, 1)], np.stack([[p, q]])), pairs.signed_distance([(0, 1)], np.stack([[q, p]]))
    )
    first, second = gk.contact(a, b, p, q, within=0.1), gk.contact(b, a, q, p, within=0.1)
    assert np.array_equal(first.points_a, second.points_b)
    assert np.array_equal(first.normals, -second.normals)
    way = gk.Motion.translation(p, q[:3, 3] - p[:3, 3])
    assert np.array_equal(gk.time_of_impact(a, b, way, q).time, gk.time_of_impact(b, a, q, way).time)


@pytest.mark.parametrize("make_a", MAKES)
@pytest.mark.parametrize("make_b", MAKES)
@given(seed=st.integers(0, 2**32 - 1))
def test_contacts_and_penetration_mirror(make_a, make_b, seed):
    rng = np.random.default_rng(seed)
    a, b = MAKES[make_a](RING, 0.5), MAKES[make_b](STAIRS, 0.5)
    p, q = turned(rng, 0.6), turned(rng, 0.6)
    first, second = gk.contact(a, b, p, q), gk.contact(b, a, q, p)
    assert np.array_equal(first.points_a, second.points_b)
    assert np.array_equal(first.points_b, second.points_a)
    assert np.array_equal(first.normals, -second.normals)
    deep, mirrored = gk.penetration(a, b, p, q), gk.penetration(b, a, q, p)
    assert (deep.depth, deep.lower, deep.upper) == (mirrored.depth, mirrored.lower, mirrored.upper)
    assert (deep.normal is None) == (mirrored.normal is None)
    if deep.normal is not None:
        assert np.array_equal(deep.normal, -mirrored.normal)
        assert np.array_equal(deep.point_a, mirrored.point_b)
    if not gk.collide(a, b, p, q):
        assert deep.upper == 0.0


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("other", [*BODIES, "ball"])
@pytest.mark.filterwarnings("ignore::gjk3d.errors.Gjk3dWarning")
@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([0.5, 1 - 1e-12, 1 - 2e-16, 1.0, 1 + 2e-16, 1 + 1e-12]))
def test_collide_is_false_exactly_if_lower_exceeds_the_margin(kind, other, seed, factor):
    rng = np.random.default_rng(seed)
    a, b = BODIES[kind](), gk.Sphere(0.5) if other == "ball" else BODIES[other]()
    p, q = turned(rng, 2.0), turned(rng, 2.0)
    lower = gk.signed_distance(a, b, p, q).lower
    assert gk.collide(a, b, p, q) == (lower <= 0)
    margin = abs(float(lower)) * factor
    expected = not lower > margin
    assert gk.collide(a, b, p, q, margin=margin) == gk.collide(b, a, q, p, margin=margin) == expected
    assert gk.collide(a, b, p[None], np.stack([q, q]), margin=margin).tolist() == [expected] * 2


# --- axis-aligned boxes, in rational numbers --------------------------------------------------------------------------


def overlap_of(a: Boxes, b: Boxes, shift: tuple[Fraction, ...]) -> Fraction:
    """Return the greatest overlap of two boxes along their axis of least overlap; negative if all are separated."""

    def shared(first: Any, second: Any, c: int) -> Fraction:
        low, high = Fraction(second[0][c]) + shift[c], Fraction(second[1][c]) + shift[c]
        return min(Fraction(first[1][c]), high) - max(Fraction(first[0][c]), low)

    return max(min(shared(first, second, c) for c in range(3)) for first, second in product(a, b))


def box_distance(point: Array, boxes: Boxes) -> float:
    """Return the distance of a point from some boxes."""
    return min(float(np.linalg.norm(point - np.clip(point, low, high))) for low, high in boxes)


@pytest.mark.parametrize("make_a", MAKES)
@pytest.mark.parametrize("make_b", MAKES)
@given(steps=st.tuples(*[st.integers(-7, 7)] * 3), rings=st.booleans())
def test_witness_points_lie_on_the_bodies_within_half_the_depth(make_a, make_b, steps, rings):
    cells = RING if rings else STAIRS
    a, b = MAKES[make_a](RING, 0.5), MAKES[make_b](cells, 0.5)
    ours, theirs = boxes_of(RING, 0.5), boxes_of(cells, 0.5)
    shift = tuple(Fraction(k, 4) for k in steps)
    shared = overlap_of(ours, theirs, shift)
    place = np.array([float(x) for x in shift])
    result = gk.signed_distance(a, b, None, at(place))
    if shared == 0:
        assert result.lower <= 0 <= result.upper
        assert result.status == (gk.Status.TOUCHING if result.tight else gk.Status.OVERLAPPING)
    else:
        assert result.status == (gk.Status.OVERLAPPING if shared > 0 else gk.Status.SEPARATED)
    if result.status != gk.Status.OVERLAPPING:
        assert box_distance(result.point_a, ours) < 1e-11
        assert box_distance(result.point_b - place, theirs) < 1e-11
    else:
        off = max(box_distance(result.point_a, ours), box_distance(result.point_b - place, theirs))
        middle = 0.5 * (result.point_a + result.point_b)
        assert off < 1e-11 or max(box_distance(middle, ours), box_distance(middle - place, theirs)) < 1e-11
        assert off <= 0.5 * result.depth + 1e-11
    assert not gk.verify(result, a, b, None, at(place)).refuted


# --- needles ----------------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1e-9, 1.0, 1e9]), thin=st.sampled_from([1e-3, 1e-7, 1e-10])
)
def test_thin_meshes_touch_only_where_they_collide(seed, size, thin):
    rng = np.random.default_rng(seed)
    meshes = []
    for _ in range(2):
        corners = size * rng.uniform(-1, 1, (8, 3)) * (1.0, rng.choice([1.0, thin]), thin)
        meshes.append(gk.Mesh(corners, rng.permuted(np.tile(np.arange(8), (9, 1)), axis=1)[:, :3], solid=False))
    a, b = meshes
    p, q = turned(rng, 0.0), turned(rng, 0.3 * size)
    for k in range(4):
        q[:3, 3] += k * thin * size * rng.normal(size=3)
        result = gk.signed_distance(a, b, p, q)
        assert gk.collide(a, b, p, q) == gk.collide(b, a, q, p) == (result.lower <= 0)
        assert result.lower <= result.distance <= result.upper
        if result.lower > 0:
            assert result.tight
            assert result.status == gk.Status.SEPARATED


def test_verify_tolerates_cylinders_but_not_boxes_next_to_a_mesh():
    corners = [(x, y, z) for x in (-0.25, 0.25) for y in (-0.25, 0.25) for z in (-1.0, 1.0)]
    peg = gk.ConvexHull(corners).surface()
    pose = at((1.5, 0.25, 1.5))
    mesh = gk.Mesh(peg.vertices, peg.faces)
    assert gk.verify(gk.signed_distance(gk.Cylinder(0.5, 1), mesh, None, pose), gk.Cylinder(0.5, 1), mesh, None, pose)
    wrong = gk.signed_distance(gk.Box((1, 1, 1)), mesh, None, pose)
    wrong.point_a = wrong.point_a + (0, 0, 1e-11)
    assert gk.verify(wrong, gk.Box((1, 1, 1)), mesh, None, pose).refuted
