"""`raycast` with all hits, any hit, limits per ray, and workers; single rays compared with stacks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.errors import ShapeError, UnsupportedPair
from tests.bodies.test_mesh_points import flawed
from tests.bodies.test_mesh_rays import bumpy, det

BOX = gk.Mesh(*gk.Box((2, 2, 2)).surface())


def all_exactly(mesh, origin, direction):
    """Return the sorted distances to the triangles, in units of the direction, computed in rational numbers."""
    o, d = ([Fraction(float(x)) for x in row] for row in (origin, direction))
    distances = []
    for face in mesh.faces:
        a, b, c = ([Fraction(float(x)) - y for x, y in zip(mesh.vertices[k], o, strict=True)] for k in face)
        areas = [det(d, b, c), det(d, c, a), det(d, a, b)]
        if sum(areas) != 0 and not min(areas) < 0 < max(areas) and det(a, b, c) / sum(areas) >= 0:
            distances.append(float(det(a, b, c) / sum(areas)))
    return sorted(distances)


def test_all_hits_equal_rational_results(rng):
    mesh = bumpy(rng)
    origins = rng.normal(size=(50, 3)) * 1.5
    directions = rng.uniform(-1, 1, (50, 3)) * (1.2, 1.2, 0.3) - origins
    hits = gk.raycast(mesh, origins, directions, hits="all")
    assert hits.starts[0] == 0
    assert hits.starts[-1] == len(hits.ray) > 60
    for k in range(50):
        rows = slice(hits.starts[k], hits.starts[k + 1])
        expected = np.array(all_exactly(mesh, origins[k], directions[k])) * np.linalg.norm(directions[k])
        np.testing.assert_allclose(hits.distance[rows], expected, rtol=1e-12)
        assert (hits.ray[rows] == k).all()
        # a ray alternately enters and leaves a closed surface, and leaves it last
        assert hits.entering[rows].tolist() == [(len(expected) - i) % 2 == 0 for i in range(len(expected))]
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    np.testing.assert_allclose(hits.point, origins[hits.ray] + hits.distance[:, None] * units[hits.ray], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(hits.normal, axis=1), 1.0)
    np.testing.assert_array_equal((hits.normal * units[hits.ray]).sum(axis=1) < 0, hits.entering)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_hit_on_an_edge_or_vertex_is_reported_once(scale):
    mesh = BOX.scaled(scale)
    x = np.array([(0.25, 0.25), (0.25, 0.0), (0.0, 0.0), (0.5, 0.5), (-0.3, 0.3)])
    origins = np.column_stack([x, np.full(len(x), 5.0)]) * scale  # the faces' diagonals are mesh edges, too
    hits = gk.raycast(mesh, origins, (0, 0, -1), hits="all")
    assert np.diff(hits.starts).tolist() == [2] * len(x)
    corner = gk.raycast(mesh, np.array((3, 3, 3)) * scale, (-1, -1, -1), hits="all")
    np.testing.assert_allclose(corner.distance, np.array([2, 4]) * 3**0.5 * scale, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    ("origin", "direction", "expected"),
    [
        ((-5, 0.3, 1), (1, 0, 0), [4]),  # in the plane of a face
        ((-5, 1, 1), (1, 0, 0), [4]),  # along an edge
        ((-5, 1, 0.2), (1, 0, 0), [4]),
        ((-3, -3, 1), (1, 1, 0), [8**0.5]),  # along a diagonal
        ((-3, -1, 0.1), (1, 1, 0), [8**0.5]),  # past an edge
    ],
)
def test_ray_along_a_face_has_one_hit(scale, origin, direction, expected):
    hits = gk.raycast(BOX.scaled(scale), np.array(origin) * scale, direction, hits="all")
    np.testing.assert_allclose(hits.distance, np.array(expected) * scale, rtol=1e-12)
    assert abs(hits.normal[0] @ direction) > 0.5  # the hit is on a face that the ray crosses


def test_coincident_faces_are_two_hits():
    mesh = gk.Mesh(np.concatenate([BOX.vertices, BOX.vertices + (2, 0, 0)]), np.concatenate([BOX.faces, BOX.faces + 8]))
    hits = gk.raycast(mesh, (-5, 0.3, 0.1), (1, 0, 0), hits="all")
    assert hits.distance.tolist() == [4, 6, 6, 8]
    assert sorted(hits.entering.tolist()) == [False, False, True, True]


@pytest.mark.parametrize("name", ["flipped", "doubled", "reversed"])
@pytest.mark.parametrize("inward", [False, True])
def test_repaired_surface_has_single_hits_and_outward_normals(rng, name, inward):
    mesh = flawed(name)
    mesh = gk.Mesh(mesh.vertices, mesh.faces[:, ::-1]) if inward else mesh
    assert mesh.repairs
    origins = np.vstack([mesh.vertices[mesh.faces[:12]].mean(axis=1), rng.uniform(-0.9, 0.9, (50, 3))])
    origins, directions = np.repeat(origins, 3, axis=0) - 9 * np.tile(np.eye(3), (62, 1)), np.tile(np.eye(3), (62, 1))
    clear = np.abs(np.sort(np.abs(origins), axis=1)[:, 1] - 1.0) > 1e-9  # not along a face
    hits, expected = (gk.raycast(surface, origins[clear], directions[clear], hits="all") for surface in (mesh, BOX))
    np.testing.assert_allclose(hits.distance, expected.distance)
    np.testing.assert_allclose(hits.normal, expected.normal, atol=1e-12)
    np.testing.assert_array_equal(hits.entering, expected.entering)
    assert not np.isin(hits.face, mesh._mended.spare).any()


def test_stray_triangle_is_a_hit_with_its_normal():
    mesh = flawed("stray")
    first, every = (gk.raycast(mesh, (9, 0.2, 0.3), (-1, 0, 0), hits=hits) for hits in ("first", "all"))
    assert every.distance.tolist() == [4, 8, 10]
    assert every.distance[0] == first.distance
    assert every.normal.tolist() == [[1, 0, 0], [1, 0, 0], [-1, 0, 0]]
    assert mesh.signed_distances([(5, 0.2, 0.3)]).normal.tolist() == [[1, 0, 0]]


def test_first_of_all_hits_is_the_first_hit(rng):
    mesh = bumpy(rng)
    origins, targets = rng.normal(size=(2000, 3)) * 2, rng.uniform(-1, 1, (2000, 3)) * (1.3, 1.3, 0.3)
    outside = ~mesh.contains(origins)
    origins, directions = origins[outside], (targets - origins)[outside]
    first = gk.raycast(mesh, origins, directions)
    hits = gk.raycast(mesh, origins, directions, hits="all")
    np.testing.assert_array_equal(first.hit, np.diff(hits.starts) > 0)
    np.testing.assert_array_equal(first.distance[first.hit], hits.distance[hits.starts[:-1][first.hit]])
    np.testing.assert_array_equal(gk.raycast(mesh, origins, directions, hits="any"), first.hit)
    assert 500 < first.hit.sum() < 1900


def test_workers_and_poses_of_many_rays(rng):
    mesh = bumpy(rng)
    n = 9000
    origins, directions = rng.normal(size=(n, 3)) * 2, rng.normal(size=(n, 3))
    poses = np.tile(np.eye(4), (n, 1, 1))
    poses[:, :3, 3] = rng.normal(size=(n, 3)) * 0.1
    for arguments in ({}, {"pose": poses}):
        for hits in ("first", "all", "any"):
            serial = gk.raycast(mesh, origins, directions, hits=hits, **arguments)
            parallel = gk.raycast(mesh, origins, directions, hits=hits, workers=3, **arguments)
            assert np.array_equal(serial, parallel) if hits == "any" else serial == parallel
    k = 17
    single = gk.raycast(mesh, origins[k], directions[k], poses[k], hits="all")
    rows = slice(*gk.raycast(mesh, origins, directions, poses, hits="all").starts[k : k + 2])
    np.testing.assert_array_equal(
        single.distance, gk.raycast(mesh, origins, directions, poses, hits="all").distance[rows]
    )


@pytest.mark.parametrize("shape", [BOX, gk.Box((2, 2, 2)), gk.Compound([(gk.Box((2, 2, 2)), None)])])
def test_limit_per_ray(shape):
    origins = np.array([(0.2, 0.1, 5.0)] * 3)
    hits = gk.raycast(shape, origins, (0, 0, -1), max_distance=np.array([3.9, 4.0, 6.0]))
    assert hits.hit.tolist() == [False, True, True]
    assert np.isinf(hits.distance[0])
    assert gk.raycast(shape, origins[0], (0, 0, -1), max_distance=[3.9, 4.1], hits="any").tolist() == [False, True]


def test_limits_of_all_hits():
    hits = gk.raycast(BOX, (0.2, 0.1, 5.0), (0, 0, -1), max_distance=[3, 4, 5.9, 6, 7], hits="all")
    assert np.diff(hits.starts).tolist() == [0, 1, 1, 2, 2]


@pytest.mark.parametrize("solid", [True, False])
def test_single_ray_equals_row_of_stack(rng, solid):
    mesh = bumpy(rng)
    mesh = gk.Mesh(mesh.vertices, mesh.faces, solid=solid)
    origins, directions = (
        rng.normal(size=(100, 3)),
        rng.normal(size=(100, 3)) * 10.0 ** rng.uniform(-150, 150, (100, 1)),
    )
    stack = gk.raycast(mesh, origins, directions)
    for k in range(100):
        for single in (
            gk.raycast(mesh, origins[k], directions[k]),
            gk.raycast(mesh, origins[k : k + 1], directions[k])[0],
        ):
            assert single == stack[k]
    assert 10 < stack.hit.sum() < 90
    assert stack.inside.any() == solid


def test_invalid_input_raises(rng):
    good = np.ones((5, 3))
    for change, message in (((3, np.nan), r"origins\[3\]"), ((4, np.inf), r"origins\[4\]")):
        bad = good.copy()
        bad[change[0], 1] = change[1]
        for hits in ("first", "all", "any"):
            with pytest.raises(ShapeError, match=message):
                gk.raycast(BOX, bad, good, hits=hits)
    zero = good.copy()
    zero[2] = 0.0
    with pytest.raises(ShapeError, match=r"directions\[2\] is zero"):
        gk.raycast(BOX, good, zero)
    with pytest.raises(ShapeError, match="hits is 'last', expected 'first', 'any' or 'all'"):
        gk.raycast(BOX, good, good, hits="last")
    with pytest.raises(ShapeError, match="max_distance is"):
        gk.raycast(BOX, good, good, max_distance=[-1.0] * 5)
    with pytest.raises(ShapeError, match="origins has 5 rows and max_distance has 4 rows"):
        gk.raycast(BOX, good, (0, 0, 1), max_distance=np.ones(4))
    with pytest.raises(ShapeError, match="workers is 0"):
        gk.raycast(BOX, good, good, workers=0)
    with pytest.raises(
        UnsupportedPair, match=r"hits='all' takes a Mesh, not a Sphere. Use gjk3d.Mesh\(\*shape.surface"
    ):
        gk.raycast(gk.Sphere(1), good, good, hits="all")


def test_no_rays():
    for hits in ("first", "any", "all"):
        result = gk.raycast(BOX, np.empty((0, 3)), (0, 0, 1), hits=hits)
        assert len(result) == 0 if hits != "all" else result.starts.tolist() == [0]
