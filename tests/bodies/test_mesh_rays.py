"""Rays at the wide tree of a mesh: watertight, exact, and independent of scale, distance and the order of the boxes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d._kernels.vectors import LANES
from gjk3d.bodies.bvh import wide_tree_of


def bumpy(rng: np.random.Generator, around: int = 18, along: int = 9) -> gk.Mesh:
    """Return a closed torus with noise, whose normals point outward."""
    a, b = np.meshgrid(np.arange(around), np.arange(along), indexing="ij")
    u, v = 2 * np.pi * a / around, 2 * np.pi * b / along
    r = 0.35 + rng.uniform(-0.05, 0.05, a.shape)
    points = np.stack([(1 + r * np.cos(v)) * np.cos(u), (1 + r * np.cos(v)) * np.sin(u), r * np.sin(v)], -1)
    corner = np.stack([a * along + b, (a + 1) % around * along + b, (a + 1) % around * along + (b + 1) % along,
                       a * along + (b + 1) % along], -1).reshape(-1, 4)  # fmt: skip
    return gk.Mesh(points.reshape(-1, 3), np.concatenate([corner[:, [0, 1, 2]], corner[:, [0, 2, 3]]]))


def nearest_exactly(mesh: gk.Mesh, origin: np.ndarray, direction: np.ndarray) -> Fraction | None:
    """Return the distance to the first triangle in units of the direction, in rational numbers."""
    o, d = ([Fraction(float(x)) for x in row] for row in (origin, direction))
    best = None
    for face in mesh.faces:
        a, b, c = ([Fraction(float(x)) - y for x, y in zip(mesh.vertices[k], o, strict=True)] for k in face)
        areas = [det(d, b, c), det(d, c, a), det(d, a, b)]
        total = sum(areas)
        if total == 0 or min(areas) < 0 < max(areas):
            continue
        ahead = det(a, b, c) / total
        if ahead >= 0 and (best is None or ahead < best):
            best = ahead
    return best


def det(a, b, c):
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])


def test_rays_agree_with_rational_numbers(rng):
    mesh = bumpy(rng)
    origins = rng.normal(size=(60, 3)) * 2.0
    directions = rng.uniform(-1, 1, (60, 3)) * (1.3, 1.3, 0.3) - origins
    hits = gk.raycast(mesh, origins, directions)
    inside = mesh.contains(origins)
    for k, (origin, direction) in enumerate(zip(origins, directions, strict=True)):
        expected = None if inside[k] else nearest_exactly(mesh, origin, direction)
        assert hits.inside[k] == inside[k]
        if not inside[k]:
            assert hits.hit[k] == (expected is not None)
        if expected is not None:
            assert hits.distance[k] == pytest.approx(float(expected) * np.linalg.norm(direction), rel=1e-13, abs=1e-13)
    assert 20 < hits.hit.sum() < 60


@pytest.mark.parametrize("scale", [1e-48, 1e-9, 1.0, 1e9, 1e48])
def test_no_ray_slips_through_an_edge_or_a_vertex(rng, scale):
    mesh = bumpy(rng)
    mesh = gk.Mesh(mesh.vertices * scale, mesh.faces)
    corners = mesh.vertices[mesh.faces]
    targets = np.concatenate([mesh.vertices, (corners + corners[:, [1, 2, 0]]).reshape(-1, 3) / 2])
    # each target is seen from a point in the hole of the torus, which its rays leave only through the surface
    angle = np.arctan2(targets[:, 1], targets[:, 0])
    centers = np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1) * scale
    hits = gk.raycast(gk.Mesh(mesh.vertices, mesh.faces, solid=False), centers, targets - centers)
    assert hits.hit.all()
    assert (hits.distance <= np.linalg.norm(targets - centers, axis=1) * (1 + 1e-12)).all()


@pytest.mark.parametrize("away", [1.0, 1e3, 1e6, 1e9])
def test_a_ray_from_afar_hits_the_same_triangle(rng, away):
    mesh = bumpy(rng)
    targets = rng.uniform(-1, 1, (200, 3)) * (1.3, 1.3, 0.3)
    directions = rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    near = gk.raycast(mesh, targets - 4.0 * directions, directions)
    far = gk.raycast(mesh, targets - (4.0 + away) * directions, directions)
    same = near.hit == far.hit
    assert same.mean() > 0.99
    common = near.hit & far.hit
    np.testing.assert_allclose(far.point[common], near.point[common], atol=1e-13 * away + 1e-12)


def test_a_ray_along_the_fold_of_a_fine_strip_hits_it():
    # Strips of 1e-5 in a mesh of size 1, seen at 0.1 degrees. Areas computed from the origin of the ray have no digits
    # here, so only those seen from a near point decide
    x = np.linspace(0.0, 1e-5, 11)
    vertices = np.concatenate([
        np.stack([x, np.zeros(11), np.zeros(11)], -1), np.stack([x, np.full(11, 1e-5), np.zeros(11)], -1),
        [(1.0, 1.0, -1.0), (1.0, -1.0, -1.0), (-1.0, 0.0, -1.0)],
    ])  # fmt: skip
    faces = [(k, k + 1, k + 12) for k in range(10)] + [(k, k + 12, k + 11) for k in range(10)] + [(22, 23, 24)]
    mesh = gk.Mesh(vertices, faces)
    targets = np.stack([np.linspace(0.5e-6, 9.5e-6, 50), np.full(50, 4.4e-6), np.zeros(50)], -1)
    slope = np.array((1.0, 0.3, -0.002))
    hits = gk.raycast(mesh, targets - slope, slope)
    assert hits.hit.all()
    np.testing.assert_allclose(hits.point, targets, atol=1e-12)


def test_ray_limit_includes_a_hit_at_that_distance():
    surface = gk.Box((2, 2, 2)).surface()
    box = gk.Mesh(surface.vertices, surface.faces)
    assert gk.raycast(box, (0, 0, 3), (0, 0, -1), max_distance=2.0).hit
    assert not gk.raycast(box, (0, 0, 3), (0, 0, -1), max_distance=np.nextafter(2.0, 0)).hit


def test_every_face_is_in_one_leaf_and_within_its_boxes(rng):
    mesh = bumpy(rng)
    tree = wide_tree_of(mesh)
    numbers = tree.numbers[tree.numbers >= 0]
    assert sorted(numbers) == list(range(len(mesh.faces)))
    scaled = mesh.vertices[mesh.faces] * tree.scale

    def check(node: int, low: np.ndarray, high: np.ndarray) -> int:
        count = 0
        for lane in range(LANES):
            child = int(tree.children[node, lane])
            if child == -1:
                continue
            box = tree.boxes[node, :, lane].astype(float)
            assert (box[:3] >= low - 1e-6).all()
            assert (box[3:] <= high + 1e-6).all()
            if child >= 0:
                count += check(child, box[:3], box[3:])
                continue
            members = [number for number in tree.numbers[-2 - child] if number >= 0]
            assert (scaled[members].min(axis=(0, 1)) >= box[:3] - 1e-6).all()
            assert (scaled[members].max(axis=(0, 1)) <= box[3:] + 1e-6).all()
            count += len(members)
        return count

    assert check(0, np.full(3, -1.0), np.full(3, 1.0)) == len(mesh.faces)


def near_edges(model, rng, count):
    """Return rays along the surface that pass edges at distances from 1e-8 to 1e-3 of the size.

    At these distances float32 often reports a hit for a miss.
    """
    face, k, weight = rng.integers(len(model.faces), size=count), rng.integers(3, size=count), rng.random((count, 1))
    ends = model.vertices[model.faces[face, k]], model.vertices[model.faces[face, (k + 1) % 3]]
    normal, ways = model.face_normals[face], rng.normal(size=(count, 3))
    ways -= rng.uniform(0.7, 1.3, (count, 1)) * (ways * normal).sum(axis=1)[:, None] * normal
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    size = np.ptp(model.vertices, axis=0).max()
    places = ends[0] * weight + ends[1] * (1.0 - weight)
    places += size * 10.0 ** rng.uniform(-8, -3, (count, 1)) * rng.choice((-1, 1), (count, 1)) * normal
    return places - size * rng.uniform(1, 4, (count, 1)) * ways, ways


@pytest.mark.parametrize("model", [trimesh.creation.icosphere(3), trimesh.creation.torus(1.0, 0.3, 48, 24)])
def test_false_float32_hits_do_not_hide_other_hits(model):
    mesh = gk.Mesh(model.vertices, model.faces)
    starts, ways = near_edges(model, np.random.default_rng(4), 20_000)
    every = gk.raycast(mesh, starts, ways, hits="all")
    count = np.diff(every.starts)
    first = np.full(len(starts), np.inf)
    first[count > 0] = every.distance[every.starts[:-1][count > 0]]
    assert 0.3 < (count > 0).mean() < 0.95
    for far in (np.inf, 2.5):
        hits = gk.raycast(mesh, starts, ways, max_distance=far)
        expected = np.where(first <= far, first, np.inf)
        np.testing.assert_array_equal(hits.distance, expected)
        np.testing.assert_array_equal(hits.hit, np.isfinite(expected))
        np.testing.assert_array_equal(gk.raycast(mesh, starts, ways, max_distance=far, hits="any"), hits.hit)
    for k in range(0, len(starts), 97):
        assert gk.raycast(mesh, starts[k], ways[k]).distance == first[k]
