"""Rays at long thin triangles, and rays that are nearly parallel to a triangle, against rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exact_triangles import Vec, cross, dot, sub, vec

import gjk3d as gk
from gjk3d.errors import ShapeError
from gjk3d.geometry.vec3 import exact_triple
from gjk3d.poses import UNIT_ROUNDOFF

NOISE = 128 * UNIT_ROUNDOFF  #: rounding error of a ray, relative to its coordinates and those of the mesh


def square_to(x: Vec, t: list[Vec]) -> Fraction:
    """Return the squared distance of a point from a triangle."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    edges = [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]
    if all(dot(n, cross(sub(b, a), sub(x, a))) >= 0 for a, b in edges):
        return dot(n, sub(x, t[0])) ** 2 / dot(n, n)
    best = []
    for a, b in edges:
        e = sub(b, a)
        along = min(max(dot(sub(x, a), e) / dot(e, e), Fraction(0)), Fraction(1))
        off = sub(x, (a[0] + along * e[0], a[1] + along * e[1], a[2] + along * e[2]))
        best.append(dot(off, off))
    return min(best)


def exactly(o: Vec, d: Vec, t: list[Vec]) -> tuple[Fraction | None, float]:
    """Return where a ray hits a triangle in units of its direction, and the sine of the angle between them."""
    a, b, c = (sub(corner, o) for corner in t)
    areas = [dot(d, cross(b, c)), dot(d, cross(c, a)), dot(d, cross(a, b))]
    n, total = cross(sub(b, a), sub(c, a)), sum(areas)
    sine = float(total * total / (dot(n, n) * dot(d, d))) ** 0.5
    if total == 0 or min(areas) < 0 < max(areas) or dot(a, cross(b, c)) / total < 0:
        return None, sine
    return dot(a, cross(b, c)) / total, sine


def check(mesh: gk.Mesh, origins: np.ndarray, directions: np.ndarray) -> int:
    """Check rays of all kinds against rational numbers, and return how many hit."""
    first = gk.raycast(mesh, origins, directions)
    every = gk.raycast(mesh, origins, directions, hits="all")
    np.testing.assert_array_equal(gk.raycast(mesh, origins, directions, hits="any"), first.hit)
    np.testing.assert_array_equal(np.diff(every.starts) > 0, first.hit)
    triangles = [[vec(mesh.vertices[k]) for k in face] for face in mesh.faces]
    for k, (o, d) in enumerate(zip(map(vec, origins), map(vec, directions), strict=True)):
        rounding = UNIT_ROUNDOFF * (np.abs(mesh.vertices).max() + np.abs(origins[k]).sum())
        length, far = float(dot(d, d)) ** 0.5, float(first.distance[k])
        assert gk.raycast(mesh, origins[k], directions[k]).distance == far
        hits = [hit for hit in (exactly(o, d, t) for t in triangles) if hit[0] is not None]
        if hits:
            at, sine = min(hits)
            assert first.hit[k]
            assert far <= float(at) * length + 16 * rounding / sine
        if first.hit[k]:
            assert far == every.distance[every.starts[k]]
            # a square root in floats is too coarse for the length of the direction
            unit = Fraction(length) + (dot(d, d) - Fraction(length) ** 2) / (2 * Fraction(length))
            point = (
                o[0] + d[0] * Fraction(far) / unit,
                o[1] + d[1] * Fraction(far) / unit,
                o[2] + d[2] * Fraction(far) / unit,
            )
            most = 2 * NOISE / UNIT_ROUNDOFF if far == 0.0 else 24.0
            assert min(square_to(point, t) for t in triangles) <= Fraction(most * rounding) ** 2
    return int(first.hit.sum())


def turned(rng: np.random.Generator, points: np.ndarray) -> np.ndarray:
    return points @ np.linalg.qr(rng.normal(size=(3, 3)))[0].T


def rays_at(
    rng: np.random.Generator, mesh: gk.Mesh, count: int, angle: float, inner: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return rays that are nearly parallel to the faces they are aimed at."""
    corners = mesh.vertices[mesh.faces[rng.integers(len(mesh.faces), size=count)]]
    targets = np.einsum("ij,ijk->ik", inner * rng.dirichlet(np.ones(3), count) + (1.0 - inner) / 3.0, corners)
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.cross(e, f)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    ways = rng.normal(size=(count, 1)) * e + rng.normal(size=(count, 1)) * 10.0 ** rng.choice((0, 9)) * f
    ways = ways / np.linalg.norm(ways, axis=1)[:, None] + angle * normals
    size = np.ptp(mesh.vertices, axis=0).max()
    return targets - size * 10.0 ** rng.uniform(-2, 1, (count, 1)) * ways, ways


def spike(length: float) -> gk.Mesh:
    """Return a pyramid over a square of size 1, whose apex is up."""
    base = [(0.5, 0.5, 0), (-0.5, 0.5, 0), (-0.5, -0.5, 0), (0.5, -0.5, 0), (0, 0, length)]
    faces = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (0, 2, 1), (0, 3, 2)]
    return gk.Mesh(base, faces, rounding=0)


@pytest.mark.parametrize("length", [1e4, 1e6, 1e7, 1e9])
def test_ray_down_a_spike_hits_where_the_hull_is_hit(length):
    mesh = spike(length)
    origin, down = (0.3, 0.1, 2 * length), (0, 0, -1)
    expected = gk.raycast(gk.ConvexHull(mesh.vertices), origin, down).distance
    assert expected == pytest.approx(1.6 * length, rel=1e-12)
    scene = gk.Scene()
    scene.add("spike", mesh)
    every = gk.raycast(mesh, origin, down, hits="all")
    assert every.distance == pytest.approx([1.6 * length, 2 * length], rel=1e-13)
    for hit in (
        gk.raycast(mesh, origin, down), gk.raycast(mesh, [origin], down)[0], scene.raycast(origin, down),
        scene.raycast([origin], [down])[0],
    ):  # fmt: skip
        assert hit.distance == pytest.approx(1.6 * length, rel=1e-13)
        assert not hit.inside
        np.testing.assert_allclose(hit.normal, np.array((1, 0, 0.5 / length)) / np.hypot(1, 0.5 / length), atol=1e-15)


def test_a_ray_along_an_open_needle_does_not_miss_it():
    size = 1e8
    corners = [(116, 0.7, -0.04 * size), (88, 2.2, -size), (-3.5, -1.6, 0.014 * size)]
    mesh = gk.Mesh(corners, [(0, 1, 2)], rounding=0)
    assert check(mesh, np.array([(42.16, -0.568, 0.67 * size)]), np.array([(0.0, 0.0, -1.0)])) == 1


def test_a_ray_at_a_rod_hits_where_the_box_is_hit():
    thin = 1e-7
    box = gk.Box((1, thin, thin))
    mesh = gk.Mesh(*box.surface(), rounding=0)
    origin, direction = (-2, 2 * thin, 0.1 * thin), (4, -3.9 * thin, -0.1 * thin)
    expected = gk.raycast(box, origin, direction).distance
    assert gk.raycast(mesh, origin, direction).distance == pytest.approx(expected, rel=1e-9)


def test_ray_next_to_a_needle_does_not_hit_it():
    corners = [(-1.4417018671, -1.9237501785, 7.4e-09), (0.6834943634, 0.9106721351, -9.4e-09),
               (0.6773317718, 0.9040047987, -3.9e-09)]  # fmt: skip
    mesh = gk.Mesh(corners, [(0, 1, 2)], rounding=0)
    origin, direction = (-3.57311105, -4.7651345692, 5.65e-08), (2.1252137668, 2.8345094116, -3.02e-08)
    assert check(mesh, np.array([origin]), np.array([direction])) == 0


@pytest.mark.parametrize("angle", [1e-1, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("aspect", [1.0, 1e4, 1e6, 1e9])
def test_rays_at_needles_match_rational_numbers(rng, aspect, angle):
    hits = 0
    for tip in (0.0, 0.5, rng.random()):
        corners = turned(rng, np.array([(0, 0, 0), (1, 0, 0), (tip, 1 / aspect, 0)]))
        mesh = gk.Mesh(corners, [(0, 1, 2)], rounding=0)
        hits += check(mesh, *rays_at(rng, mesh, 6, angle))
    assert hits >= 16


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("thin", [1e-4, 1e-7, 1e-9])
def test_rays_at_rods_and_spikes_match_rational_numbers(rng, thin, angle):
    points, faces = gk.Box((1, thin, thin)).surface()
    rod = gk.Mesh(turned(rng, points), faces, rounding=0, solid=False)
    needle = spike(1 / thin)
    needle = gk.Mesh(turned(rng, needle.vertices * thin), needle.faces, rounding=0, solid=False)
    for mesh in (rod, needle):
        assert check(mesh, *rays_at(rng, mesh, 4, angle)) == 4


@pytest.mark.parametrize("angle", [1e-6, 1e-8, 1e-10])
def test_grazing_rays_clear_of_the_rim_match_rational_numbers(rng, angle):
    mesh = gk.Mesh(turned(rng, np.array([(0.0, 0, 0), (1, 0, 0), (0.3, 0.8, 0)])), [(0, 1, 2)], rounding=0)
    corners = [vec(v) for v in mesh.vertices]
    for inner, count in ((0.9, 30), (-1.5, 0)):  # -1.5 mirrors the targets to points outside the triangle
        origins, ways = rays_at(rng, mesh, 30, angle, inner)
        hits = gk.raycast(mesh, origins, ways)
        expected = [exactly(vec(o), vec(d), corners) for o, d in zip(origins, ways, strict=True)]
        assert [at is not None for at, _ in expected] == hits.hit.tolist()
        assert hits.hit.sum() >= count
        for k, (at, sine) in enumerate(expected):
            if at is not None:
                truth = float(at) * np.linalg.norm(ways[k])
                assert abs(hits.distance[k] - truth) <= 16 * UNIT_ROUNDOFF * (1 + np.abs(origins[k]).sum()) / sine


@pytest.mark.parametrize("angle", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("aspect", [1.0, 1e6])
def test_a_start_on_a_vertex_an_edge_or_a_face_is_inside(rng, aspect, angle):
    corners = turned(rng, np.array([(0, 0, 0), (1, 0, 0), (0.4, 1 / aspect, 0)])) + rng.normal(size=3)
    mesh = gk.Mesh(corners, [(0, 1, 2)], rounding=0)
    for weights in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0.3, 0.7, 0), (0.6, 0, 0.4), (0.2, 0.5, 0.3)):
        start = np.array(weights) @ mesh.vertices
        ways = np.concatenate([rays_at(rng, mesh, 10, angle)[1], rng.normal(size=(10, 3))])
        hits = gk.raycast(mesh, start, ways)
        assert hits.inside.all()
        assert (hits.distance == 0.0).all()
        every = gk.raycast(mesh, start, ways, hits="all")
        assert (every.distance[every.starts[:-1]] <= 2 * NOISE * np.abs(corners).max()).all()


def test_a_start_at_a_vertex_does_not_miss():
    corners = [(0.029321955985496344, 1.442918693807178, -0.3467189225853997),
               (1.4983114855877717, 0.20039958089782928, -0.7869699538590261),
               (1.2801597150630857, -0.3471212193213878, -1.1174575602062706)]  # fmt: skip
    mesh = gk.Mesh(corners, [(0, 1, 2)], rounding=0)
    hit = gk.raycast(mesh, mesh.vertices[1], (1.1915356687454681, 0.6808105655536851, 0.555633123909585))
    assert (hit.inside, hit.distance) == (True, 0.0)


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
def test_a_grazing_ray_through_a_fold_is_one_hit(rng, angle):
    corners = turned(rng, np.array([(0, 0, 0), (1, 0, 0), (0.3, 0.8, 0), (0.6, -0.7, 0.4)]))
    mesh = gk.Mesh(corners, [(0, 1, 2), (1, 0, 3)], rounding=0)
    (fold, across, up), count = (corners[1], corners[2], np.cross(corners[1], corners[2])), 40
    ways = rng.uniform(-1, 1, (count, 1)) * fold + rng.choice((-1.0, 1.0), (count, 1)) * across + angle * up
    hits = gk.raycast(mesh, rng.uniform(0.1, 0.9, (count, 1)) * fold - 2.0 * ways, ways, hits="all")
    assert np.diff(hits.starts).tolist() == [1] * count


@pytest.mark.parametrize("thin", [1e-3, 1e-5, 1e-7])
def test_points_in_a_sliver_match_rational_numbers(rng, thin):
    """Signs of heights over the faces of a thin tetrahedron depend on digits that products lose."""
    faces = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    for _ in range(3):
        corners = turned(rng, np.array([(0, 0, 0), (1, 0, 0), (0.4, 5 * thin, 0), (0.7, 3 * thin, 2 * thin)]))
        if np.linalg.det(corners[1:] - corners[0]) < 0.0:
            corners = corners * (-1, 1, 1)
        mesh = gk.Mesh(corners, faces, rounding=0)
        flat = np.einsum("ij,ijk->ik", rng.dirichlet(np.ones(3), 20), corners[faces[rng.integers(4, size=20)]])
        share = rng.choice((-1.0, 1.0), 20) * 10.0 ** rng.uniform(-4, 0, 20)
        points = flat + share[:, None] * (corners.mean(axis=0) - flat)
        triangles = [[vec(corners[k]) for k in face] for face in faces]
        clear, expected = [], []
        for p in map(vec, points):
            clear.append(min(square_to(p, t) for t in triangles) > Fraction(4 * NOISE) ** 2)
            normals = [(t[0], cross(sub(t[1], t[0]), sub(t[2], t[0]))) for t in triangles]
            expected.append(all(dot(n, sub(p, a)) < 0 for a, n in normals))
        contained = mesh.contains(points)
        assert sum(clear) >= 5
        np.testing.assert_array_equal(contained[clear], np.array(expected)[clear])
        inside = gk.raycast(mesh, points, rng.normal(size=(20, 3))).inside
        np.testing.assert_array_equal(inside[clear], np.array(expected)[clear])


def test_a_triple_product_keeps_digits_that_cancel(rng):
    for _ in range(50):
        a, b = rng.normal(size=(2, 3))
        c = a + 1e-9 * rng.normal(size=3)
        expected = float(dot(vec(a), cross(vec(b), vec(c))))
        vectors = (tuple(v.tolist()) for v in (a, b, c))
        assert exact_triple(*vectors) == pytest.approx(expected, rel=1e-13)


BODIES = [
    gk.Mesh(*gk.Box((1, 1, 1)).surface()), gk.Box((1, 1, 1)), gk.Sphere(1.0), gk.ConvexHull(np.eye(3)),
    gk.Compound([(gk.Sphere(1), None)]), gk.PointCloud(np.eye(3), 0.5), gk.VoxelGrid(np.ones((1, 1, 1), bool), 1.0),
    gk.HeightField(np.ones((2, 2)), 1.0),
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_ray_origins_beyond_the_length_limit_raise(body):
    far, way = (1e51, 0.1, 0.2), (-1.0, 0.0, 0.0)
    message = r"is \[1e\+51, 0.1, 0.2\], expected finite numbers of at most 1e\+50. Use another unit"
    scene = gk.Scene()
    scene.add("body", body)
    for origins in (far, [(0.0, 0.0, 0.0), far]):
        for hits in ("first", "any"):
            with pytest.raises(ShapeError, match=message):
                gk.raycast(body, origins, way, hits=hits)
        with pytest.raises(ShapeError, match=message):
            scene.raycast(origins, way if origins is far else [way] * 2)
    assert gk.raycast(body, (9e49, 0.1, 0.2), way).distance in (pytest.approx(9e49), np.inf)
