"""Slivers: triangles whose third corner is on the longest edge up to rounding, checked in rational numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.bodies import triangles
from tests.naive import Array, exact, exact_distance2, exact_signed_square

FACE = [(0, 1, 2)]
ULP = 2.0**-52


def mesh(corners: object) -> gk.Mesh:
    return gk.Mesh(corners, FACE, rounding=0)


def rows(t: Array) -> triangles.Triangle:
    a, b, c = (tuple(v) for v in np.asarray(t, dtype=float).tolist())
    return a, b, c


def point_on(rng: np.random.Generator, t: Array) -> Array:
    """Return a point of a triangle up to rounding, at random inside it, on an edge or at a corner."""
    weights = rng.dirichlet(np.ones(3)) * rng.permutation([1, 1, rng.integers(2)]) * rng.permutation([1, 1, 1])
    return weights / weights.sum() @ t if rng.random() < 0.8 else t[rng.integers(3)]


def random_point(rng: np.random.Generator) -> Array:
    """Return a point, often of few digits, so that sums of points are exact."""
    v = rng.normal(size=3)
    return [v, np.round(4.0 * v) / 4.0, np.round(3.0 * v)][rng.integers(3)]


def sliver(rng: np.random.Generator) -> Array:
    """Return a triangle, a cap or a needle, from flat up to rounding to fat."""
    a, b = random_point(rng), random_point(rng)
    kind, off = rng.integers(4), rng.normal(size=3) * 10.0 ** -rng.integers(1, 17)
    c = [random_point(rng), a + rng.random() * (b - a), a + rng.random() * (b - a) + off, a + off][kind]
    return rng.permutation(np.array([a, b, c]))


def random_pair(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return two triangles that touch, cross or nearly do, at any scale and place."""
    a, kind = sliver(rng), rng.integers(7)
    if kind == 0:  # they share a part of an edge
        start, stop = a[rng.permutation(3)[:2]]
        x, y = rng.uniform(-0.8, 1.8, 2)
        b = np.array([start + x * (stop - start), start + y * (stop - start), random_point(rng)])
    elif kind == 1:
        b = np.array([point_on(rng, a), point_on(rng, a), random_point(rng)])
    elif kind == 2:
        b = np.array([point_on(rng, a), random_point(rng), random_point(rng)])
    elif kind == 3:
        b = np.array([a[0], a[1], random_point(rng)])
    elif kind == 4:  # one pierces the other
        p, d = point_on(rng, a), random_point(rng)
        b = np.array([p + d, p - rng.random() * d, p + rng.uniform(-0.6, 1) * d + 1e-6 * random_point(rng)])
    elif kind == 5:
        b = sliver(rng)
        b += point_on(rng, a) - point_on(rng, b)
    else:  # in one plane
        b = np.array([point_on(rng, a) for _ in range(3)])
    b = rng.permutation(b) + rng.normal(size=3) * 10.0 ** -rng.integers(1, 17) * rng.integers(2)
    if rng.random() < 0.3:  # one is far smaller
        center = point_on(rng, a)
        b = center + 10.0 ** -rng.integers(1, 9) * (b - center)
    if rng.random() < 0.3:
        shift = rng.normal(size=3) * 10.0 ** rng.integers(-3, 5)
        a, b = a + shift, b + shift
    scale = [1.0, 2.0 ** rng.integers(-60, 60), 10.0 ** rng.integers(-12, 13)][rng.integers(3)]
    return (scale * a, scale * b) if rng.random() < 0.5 else (scale * b, scale * a)


LONG = (
    [(0, 0, 0), (3, 1, 2), (1.5, 0.5, 1 + ULP)],
    [(0.75, 0.25, 0.5), (4.5, 1.5, 3), (0, 1, 1)],
)  # common segment: (0.75, 0.25, 0.5) to (3, 1, 2)


def test_meshes_that_share_a_long_segment_collide() -> None:
    """The computed normal of the first triangle has no correct digits, so that the triangle seems to be flat."""
    for turn in range(3):
        for scale in (1.0, 2.0**-60, 2.0**60):
            a, b = (mesh(scale * np.roll(np.array(t, dtype=float), turn, axis=0)) for t in LONG)
            for first, second in ((a, b), (b, a)):
                assert gk.collide(first, second)
                assert gk.meeting_faces(first, second).tolist() == [[0, 0]]
                distance = gk.distance(first, second)
                assert distance.lower == distance.upper == 0.0


def test_faces_that_share_a_long_segment_are_listed() -> None:
    vertices = [
        (-0.51514241714267, 0.09942269056475599, -2.1351539077186805),
        (0.4953494063515442, -1.4193005788923314, -0.6608506052253199),
        (0.5642351777039467, -0.9944910382704913, -0.791577148211955),
        (-0.060214107330583716, -0.5843138761075763, -1.4714154251702154),
        (-0.322495176043632, -0.19011735424441806, -1.8540823966336901),
        (-0.4978217693131242, 0.07339054434724321, -2.109883155692086),
    ]
    assert gk.Mesh(vertices, [(3, 0, 1), (5, 4, 2)], rounding=0).self_intersections().tolist() == [[0, 1]]


@pytest.mark.parametrize("count", [40, pytest.param(4000, marks=pytest.mark.full)])
def test_bounds_of_slivers_enclose_the_distance(count: int) -> None:
    """A gap of four errors of positions is resolved, and contact is never reported as a gap."""
    rng = np.random.default_rng(count)
    touching = 0
    for _ in range(count):
        a, b = random_pair(rng)
        noise = 2.0**-45 * float(np.abs([a, b]).max())
        square = exact_distance2(exact(a), exact(b))
        touching += square == 0
        assert triangles.triangles_meet(rows(a), rows(b), noise) or square > 0
        assert not triangles.triangles_meet(rows(a), rows(b), noise) or square <= Fraction(4.0 * noise) ** 2
        assert gk.collide(mesh(a), mesh(b)) or square > 0
        distance = gk.distance(mesh(a), mesh(b))
        assert Fraction(distance.lower) ** 2 <= square <= Fraction(distance.upper + 8.0 * noise) ** 2
    assert 0.2 * count < touching < 0.8 * count


@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.full)])
def test_common_points_and_depths_of_slivers(count: int) -> None:
    """The point is on both triangles, and no translation is shorter than the motion after which they still cross."""
    rng = np.random.default_rng(count)
    for _ in range(count):
        a, b = random_pair(rng)
        noise, p, q = 2.0**-45 * float(np.abs([a, b]).max()), exact(a), exact(b)
        if exact_distance2(p, q) > 0:
            continue
        point = exact([triangles.common_of(rows(a), rows(b))])
        assert max(exact_distance2(p, point), exact_distance2(q, point)) <= Fraction(1e4 * noise) ** 2
        reach = triangles.reach_through(rows(a), rows(b))
        if reach > noise:
            assert -exact_signed_square(p, q) >= Fraction(reach - noise) ** 2


def test_nearly_parallel_edges_do_not_hide_a_gap() -> None:
    """The gap of 1e-9 is along the cross product of two edges, which has few correct digits in floats."""
    a = np.array([(0.5, -0.5, 0.25), (0.37469434374505306, 0.5569958640578413, -1.6811561221173812), (3.0, -2.0, -3.0)])
    b = np.array(
        [
            (0.5000000002805453, -0.49999999866312095, 0.2500000009255393),
            (-1.0000000012798094, 2.2500000009746843, 5.456259535849737e-10),
            (0.3746943428643802, 0.5569958641908779, -1.6811561210813635),
        ]
    )
    assert exact_distance2(exact(a), exact(b)) > Fraction(1e-9) ** 2
    assert not gk.collide(mesh(a), mesh(b))


def test_touching_sliver_does_not_reach_through() -> None:
    """The plane of a sliver is accurate only across it, and a corner on that plane does not pierce the sliver."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        a, b = rng.normal(size=(2, 3))
        flat = np.array([a, b, a + 0.4 * (b - a) + 1e-9 * rng.normal(size=3)])
        tip = np.array([0.3, 0.3, 0.4]) @ flat
        second = np.array([tip, tip + rng.normal(size=3), tip + rng.normal(size=3)])
        depth = -min(exact_signed_square(exact(flat), exact(second)), Fraction(0))
        reach = triangles.reach_through(rows(flat), rows(second))
        assert Fraction(max(0.0, reach - 2.0**-44)) ** 2 <= depth


def test_tiny_triangles_inside_large_ones() -> None:
    """Products of tiny edges underflow, and the remaining terms prove no gap."""
    large = np.array([(-1.0, -1.0, 0.125), (1.0, -1.0, 0.25), (0.0, 2.0, -0.375)])
    for size in (1e-100, 1e-150, 1e-160, 1e-162):
        tiny = size * np.array([(1.0, 2.0, 3.0), (-1.5, 0.5, -1.0), (0.5, -2.5, -2.0)])
        assert exact_distance2(exact(tiny), exact(large)) == 0
        for a in itertools.permutations(tiny):
            assert triangles.triangles_meet(rows(np.array(a)), rows(large), 2.0**-45)
            assert triangles.triangles_meet(rows(large), rows(np.array(a)), 2.0**-45)


def test_the_normal_of_a_sliver_is_orthogonal_to_its_edges() -> None:
    """Filters compare one corner of a triangle with a plane, so its other corners have to be on this plane."""
    rng = np.random.default_rng(7)
    for _ in range(100):
        t = sliver(rng)
        n = exact([triangles.plane_normal(rows(t))])[0]
        for edge in exact(t[1:] - t[0]):
            assert (n @ edge) ** 2 <= (n @ n) * (edge @ edge) * Fraction(2) ** -96
