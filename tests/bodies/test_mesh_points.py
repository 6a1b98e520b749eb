"""Signed distances of points from meshes, compared with rational numbers: ties, far points, needles, any order."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gjk3d as gk
from gjk3d.errors import Gjk3dWarning, ShapeError
from tests.bodies.test_mesh_rays import bumpy

SOLIDS = {
    "box": gk.Mesh(*gk.Box((2, 1, 0.5)).surface()),
    "ball": gk.Mesh(*gk.Sphere(1.0).surface(12)),
    "torus": bumpy(np.random.default_rng(3)),
}


BODIES = {
    "mesh": SOLIDS["box"],
    "box": gk.Box((2, 2, 2)),
    "sphere": gk.Sphere(1),
    "hull": gk.ConvexHull([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]),
    "half-space": gk.Halfspace((0, 0, 1), 0.5),
    "compound": gk.Compound([(gk.Box((2, 2, 2)), None)]),
    "voxels": gk.VoxelGrid(np.ones((2, 2, 2), dtype=bool), 1.0, (-1, -1, -1)),
    "cloud": gk.PointCloud([(0, 0, 0)], 1.0),
    "field": gk.HeightField(np.zeros((5, 5)), 2.0, (-4, -4)),
    "slab": gk.HeightField(np.zeros((5, 5)), 2.0, (-4, -4), bottom=-4.0),
}


def square_of_distance(p, triangle) -> Fraction:
    """Return the squared distance of a point and a triangle in rational numbers."""

    def sub(a, b):
        return [x - y for x, y in zip(a, b, strict=True)]

    def dot(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True))

    p, *corners = ([Fraction(float(x)) for x in row] for row in (p, *triangle))
    squares = []
    for k in range(3):
        a, e = corners[k], sub(corners[(k + 1) % 3], corners[k])
        at = min(max(dot(sub(p, a), e) / dot(e, e), 0), 1) if dot(e, e) else 0
        w = [x - y - at * z for x, y, z in zip(p, a, e, strict=True)]
        squares.append(dot(w, w))
    u, v, w = sub(corners[1], corners[0]), sub(corners[2], corners[0]), sub(p, corners[0])
    uu, uv, vv, wu, wv = dot(u, u), dot(u, v), dot(v, v), dot(w, u), dot(w, v)
    area = uu * vv - uv * uv
    if area:
        s, t = (wu * vv - wv * uv) / area, (wv * uu - wu * uv) / area
        if s >= 0 and t >= 0 and s + t <= 1:
            w = [x - s * y - t * z for x, y, z in zip(w, u, v, strict=True)]
            squares.append(dot(w, w))
    return min(squares)


def least_square(mesh: gk.Mesh, p) -> Fraction:
    """Return the squared distance of a point from all triangles."""
    return min(square_of_distance(p, mesh.vertices[face]) for face in mesh.faces)


def assert_encloses(lower: float, upper: float, square: Fraction) -> None:
    """Assert that bounds of an unsigned distance enclose a square root."""
    assert Fraction(max(lower, 0.0)) ** 2 <= square <= Fraction(upper) ** 2


@pytest.mark.parametrize("name", SOLIDS)
def test_bounds_enclose_the_rational_distance(rng, name):
    mesh = SOLIDS[name]
    near = (
        mesh.vertices[mesh.faces[rng.integers(0, len(mesh.faces), 20)]].mean(axis=1) + rng.normal(size=(20, 3)) * 1e-3
    )
    points = np.concatenate(
        [rng.uniform(-1.5, 1.5, (20, 3)), near, mesh.vertices[:5], mesh.vertices[mesh.faces[:5]].mean(axis=1)]
    )
    result = mesh.signed_distances(points)
    for k, p in enumerate(points):
        sign = -1.0 if result.inside[k] else 1.0
        low, high = sorted((sign * result.lower[k], sign * result.upper[k]))
        assert_encloses(low, high, least_square(mesh, p))
    assert (result.upper - result.lower <= 2e-13).all()
    assert (result.lower <= result.distance).all()
    assert (result.distance <= result.upper).all()
    np.testing.assert_array_equal(result.inside[:40], mesh.contains(points[:40]))
    assert 3 < result.inside[:40].sum() < 37


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1), st.floats(-17, 0), st.floats(-9, 3), st.sampled_from([1e-45, 1e-9, 1.0, 1e9, 1e45])
)  # fmt: skip
def test_needles(seed, height, away, scale):
    # the normal of a needle has no correct digits, and an error of its height moves the foot of a far point
    rng = np.random.default_rng(seed)
    a, along = rng.normal(size=(2, 3))
    across = np.cross(along, rng.normal(size=3))
    corners = np.array([a, a + along, a + rng.uniform(-0.2, 1.2) * along + 10.0**height * across]) * scale
    p = rng.dirichlet((1, 1, 1)) @ corners + 10.0**away * scale * np.cross(along, across)
    if len({tuple(row) for row in corners}) < 3:
        return
    result = gk.Mesh(corners, [(0, 1, 2)]).signed_distances(p)
    assert_encloses(result.lower[0], result.upper[0], square_of_distance(p, corners))


@pytest.mark.parametrize("away", [1.0, 15.0, 17.0, 1e4, 1e8, 1e15])
def test_from_afar(rng, away):
    mesh = SOLIDS["torus"]
    directions = rng.normal(size=(12, 3))
    points = directions / np.linalg.norm(directions, axis=1)[:, None] * (1.5 + away)
    result = mesh.signed_distances(points)
    for k, p in enumerate(points):
        assert_encloses(result.lower[k], result.upper[k], least_square(mesh, p))
    assert not result.inside.any()
    assert (result.upper - result.lower <= 5e-14 * (10 + away)).all()


def specks(rng, centers) -> gk.Mesh:
    """Return a mesh of tiny triangles."""
    corners = centers[:, None] + 1e-15 * rng.normal(size=(len(centers), 3, 3))
    return gk.Mesh(corners.reshape(-1, 3), np.arange(3 * len(centers)).reshape(-1, 3))


def on_sphere(rng, p, distances):
    """Return points at distances from a point."""
    directions = rng.normal(size=(len(distances), 3))
    return p + directions / np.linalg.norm(directions, axis=1)[:, None] * distances[:, None]


@pytest.mark.parametrize("distance", [1e-5, 1e-3])
def test_float32_ties_within_a_leaf_are_resolved(rng, distance):
    # one leaf of eight triangles: two are near the point, and the others make the leaf large
    for _ in range(60):
        p, distances = rng.uniform(-0.3, 0.3, 3), np.full(8, 1.0)
        distances[:2] = distance * (1.0 + 1e-7 * rng.permutation(2))
        distances = rng.permutation(distances)
        mesh = specks(rng, on_sphere(rng, p, distances))
        assert mesh.signed_distances(p).face[0] == distances.argmin()


def test_float32_ties_between_leaves_are_resolved(rng):
    # two large leaves with one triangle near the point each
    for _ in range(60):
        p, distances = rng.uniform(-0.3, 0.3, 3), 1e-5 * (1.0 + 1e-7 * rng.permutation(2))
        places = p + rng.uniform(-0.5, 0.5, (16, 3))
        near = np.array([-1, 1])[:, None] * np.abs(on_sphere(rng, np.zeros(3), distances))
        places[:, 0] = p[0] + np.repeat([-1, 1], 8) * rng.uniform(0.5, 1.0, 16)
        places[[0, 8]] = p + near
        exactly = np.linalg.norm(places - p, axis=1)
        assert specks(rng, places).signed_distances(p).face[0] == exactly.argmin()


@pytest.mark.parametrize("distance", [1e-5, 1e-3, 20.0, 1e4])
def test_float32_ties_between_boxes_are_resolved(rng, distance):
    # leaves of eight triangles in one place, so that their boxes are as far as their triangles
    for _ in range(30):
        p = rng.uniform(-0.3, 0.3, 3)
        distances = distance + max(1e-7 * distance, 1e-12) * rng.permutation(16)
        if distance < 1.0:
            places = on_sphere(rng, p, distances)
        else:
            p = on_sphere(rng, np.zeros(3), np.full(1, distance))[0]
            away = rng.uniform(-0.7, 0.7, (16, 3)) - p
            places = p + away / np.linalg.norm(away, axis=1)[:, None] * (distances[:, None] - 2.0)
        mesh = specks(rng, np.concatenate([np.repeat(places, 8, axis=0), [(1, 1, 1)] * 8, [(-1, -1, -1)] * 8]))
        exactly = np.linalg.norm(mesh.vertices[mesh.faces[:128, 0]] - p, axis=1)
        assert mesh.signed_distances(p).face[0] // 8 == exactly.argmin() // 8


@pytest.mark.parametrize("scale", [1e-45, 1e-9, 1e9, 1e45])
def test_scaling_by_a_power_of_two_scales_results_exactly(rng, scale):
    scale = 2.0 ** round(np.log2(scale))
    mesh, points = SOLIDS["torus"], rng.uniform(-1.5, 1.5, (200, 3))
    original, scaled = mesh.signed_distances(points), mesh.scaled(scale).signed_distances(points * scale)
    np.testing.assert_array_equal(original.distance * scale, scaled.distance)
    np.testing.assert_array_equal(original.point * scale, scaled.point)
    np.testing.assert_array_equal(original.face, scaled.face)


@pytest.mark.parametrize("count", [1, 2, 63, 64, 5000])
def test_order_stacks_and_workers_give_equal_bits(rng, count):
    mesh = SOLIDS["ball"]
    # points on planes of symmetry, with ties of up to twelve triangles
    points = np.round(rng.uniform(-1.2, 1.2, (count, 3)), 1)
    result = mesh.signed_distances(points)
    order = rng.permutation(count)
    for variant, rows in (
        (mesh.signed_distances(points[order]), order),
        (mesh.signed_distances(points, workers=3), slice(None)),
    ):
        for mine, theirs in zip(result, variant, strict=True):
            np.testing.assert_array_equal(mine[rows], theirs)
    single = mesh.signed_distances(points[-1])
    for mine, theirs in zip(result, single, strict=True):
        np.testing.assert_array_equal(mine[-1:], theirs)


def test_ties_give_the_lowest_face_index():
    mesh = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    result = mesh.signed_distances([(2, 2, 2), (0, 0, 0), (0, 0, 3), (-1, -1, -1)])
    for k, p in enumerate([(2, 2, 2), (0, 0, 0), (0, 0, 3), (-1, -1, -1)]):
        squares = [square_of_distance(p, mesh.vertices[face]) for face in mesh.faces]
        assert result.face[k] == squares.index(min(squares))


def test_the_gradient_is_the_change_of_the_distance(rng):
    mesh = SOLIDS["torus"]
    points = rng.uniform(-1.4, 1.4, (300, 3)) * (1, 1, 0.4)
    result, step = mesh.signed_distances(points), 1e-7
    moved = mesh.signed_distances(points + step * result.normal)
    np.testing.assert_allclose(np.linalg.norm(result.normal, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(moved.distance - result.distance, step, rtol=1e-6)
    np.testing.assert_allclose(result.point + result.distance[:, None] * result.normal, points, atol=1e-12)


def test_gradient_on_the_surface_is_the_face_normal():
    mesh = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    turned = gk.Mesh(mesh.vertices, mesh.faces[:, ::-1])
    for box in (mesh, turned):
        result = box.signed_distances([(1, 0.3, 0.2), (0.1, 0.2, -1)])
        np.testing.assert_allclose(result.normal, [(1, 0, 0), (0, 0, -1)], atol=1e-12)
    pose = np.eye(4)
    pose[:3, :3] = [(0, -1, 0), (1, 0, 0), (0, 0, 1)]
    np.testing.assert_allclose(mesh.signed_distances([(-0.3, 1, 0.2)], pose=pose).normal, [(0, 1, 0)], atol=1e-12)


def test_poses_move_the_surface(rng):
    mesh, points = SOLIDS["torus"], rng.uniform(-1.4, 1.4, (70, 3))
    poses = np.tile(np.eye(4), (70, 1, 1))
    poses[:, :3, :3] = np.linalg.qr(rng.normal(size=(70, 3, 3)))[0]
    poses[:, :3, :3] *= np.sign(np.linalg.det(poses[:, :3, :3]))[:, None, None]
    poses[:, :3, 3] = rng.normal(size=(70, 3))
    world = np.einsum("nij,nj->ni", poses[:, :3, :3], points) + poses[:, :3, 3]
    local, moved = mesh.signed_distances(points), mesh.signed_distances(world, pose=poses)
    np.testing.assert_allclose(local.distance, moved.distance, atol=1e-14 * 10)
    np.testing.assert_array_equal(local.inside, moved.inside)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", poses[:, :3, :3], local.normal), moved.normal, atol=1e-6)
    for k in (0, 69):
        single = mesh.signed_distances(world[k], pose=poses[k])
        assert single.distance[0] == moved.distance[k]


def test_points_beyond_max_distance():
    mesh = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    result = mesh.signed_distances([(3, 0, 0), (1.5, 0, 0), (0, 0, 0), (0.9, 0, 0)], max_distance=0.5)
    assert result.distance.round(12).tolist() == [inf, 0.5, -inf, -0.1]
    assert result.lower[0] == 0.5
    assert result.upper[2] == -0.5
    assert result.inside.tolist() == [False, False, True, True]
    assert result.face[[0, 2]].tolist() == [-1, -1]
    assert np.isnan(result.point[[0, 2]]).all()


@pytest.mark.parametrize("name", BODIES)
def test_distance_beyond_max_distance_is_infinite_for_every_shape(name):
    body = BODIES[name]
    points = [(0, 0, -2), (0, 0, 7), (0.1, 0.2, -0.1), (0, 0, 1.05)]
    full = body.signed_distances(points)
    # the limit is between the distances of these points, so that points inside and outside are on both of its sides
    for most in (*np.unique(np.abs(full.distance)) * 0.999, 100.0):
        result = body.signed_distances(points, max_distance=most)
        beyond = np.abs(full.distance) > most
        np.testing.assert_allclose(result.distance[~beyond], full.distance[~beyond], rtol=1e-9)
        np.testing.assert_array_equal(result.distance[beyond], np.copysign(inf, full.distance[beyond]))
        np.testing.assert_array_equal(result.inside, full.inside)
        assert np.isnan(result.point[beyond]).all()
        assert np.isnan(result.normal[beyond]).all()
        assert not np.isnan(result.point[~beyond]).any()
        assert (result.face[beyond] == -1).all()
        outside, inside = beyond & ~full.inside, beyond & full.inside
        assert (result.lower[outside] == most).all()
        assert (result.upper[outside] == inf).all()
        assert (result.lower[inside] == -inf).all()
        assert (result.upper[inside] == -most).all()


def test_open_meshes_are_unsigned_or_signed_by_winding():
    box = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    lid_off = gk.Mesh(box.vertices, box.faces[1:])
    with pytest.warns(Gjk3dWarning, match="open edges"):
        assert not lid_off.is_solid
    points = [(0, 0, 0), (0.5, 0.4, 0.3), (3, 0, 0)]
    assert lid_off.signed_distances(points).inside.tolist() == [False, False, False]
    assert lid_off.signed_distances(points, sign="winding").inside.tolist() == [True, True, False]
    assert box.signed_distances(points, sign="none").distance[0] == 1.0
    hollow = gk.Mesh(box.vertices, box.faces, solid=False)
    assert hollow.signed_distances(points).distance[0] == 1.0


def flawed(name: str) -> gk.Mesh:
    """Return the mesh of a cube with a flaw that its repairs cure."""
    box = gk.Box((2, 2, 2)).surface()
    n, faces = len(box.vertices), box.faces
    stray = [(5, 0, 0), (5, 1, 0), (5, 0, 1)]
    return {
        "flipped": lambda: gk.Mesh(box.vertices, np.vstack([faces[:1, ::-1], faces[1:]])),
        "doubled": lambda: gk.Mesh(box.vertices, np.vstack([faces[:4], faces])),
        "reversed": lambda: gk.Mesh(box.vertices, np.vstack([faces[:4, ::-1], faces])),
        "stray": lambda: gk.Mesh(np.vstack([box.vertices, stray]), np.vstack([faces, [(n, n + 1, n + 2)]])),
    }[name]()


@pytest.mark.parametrize("name", ["flipped", "doubled", "reversed", "stray"])
def test_winding_uses_the_repaired_surface(rng, name):
    mesh, box = flawed(name), gk.Box((2, 2, 2))
    assert mesh.repairs
    points = np.vstack([rng.uniform(-1.5, 1.5, (200, 3)), [(-1.2832042, -8.15e-5, 0.73229244)]])
    result = mesh.signed_distances(points, sign="winding")
    np.testing.assert_array_equal(result.inside, box.contains(points))
    np.testing.assert_allclose(result.distance, box.signed_distances(points).distance, atol=1e-12)
    for mine, theirs in zip(result, mesh.signed_distances(points), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert (mesh.signed_distances([(0, 0, 0)], max_distance=0.5, sign="winding").face == -1).all()


def test_winding_counts_open_pieces_next_to_a_closed_one():
    box = gk.Box((2, 2, 2)).surface()
    vertices = np.vstack([box.vertices, box.vertices + (5, 0, 0)])
    # one triangle of the closed box is flipped, and one of the other box is missing
    faces = np.vstack([box.faces[:1, ::-1], box.faces[1:], box.faces[:-1] + len(box.vertices)])
    mesh = gk.Mesh(vertices, faces)
    assert len(mesh.repairs) == 2
    points = [(0, 0, 0), (5, 0, 0), (2.5, 0, 0), (-1.2832042, -8.15e-5, 0.73229244)]
    result = mesh.signed_distances(points, sign="winding")
    assert result.inside.tolist() == [True, True, False, False]
    np.testing.assert_allclose(result.distance, [-1, -1, 1.5, 0.2832042], atol=1e-12)
    assert result.face[1] >= len(box.faces)


def test_a_hollow_closed_mesh_has_a_sign_by_winding():
    box = gk.Mesh(*gk.Box((2, 2, 2)).surface(), solid=False)
    assert box.signed_distances([(0, 0, 0), (2, 0, 0)], sign="winding").inside.tolist() == [True, False]


@pytest.mark.parametrize("length", [1e6, 1e8, 1e10])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("base", [0, 1, 2])
def test_solid_angles_of_a_spike_keep_their_digits(rng, length, turned, base):
    # the rounded denominator of van Oosterom and Strackee is 0 for a point next to the middle of a needle
    corners = np.array([(0.5, 0.5, 0), (-0.5, 0.5, 0), (-0.5, -0.5, 0), (0.5, -0.5, 0), (0, 0, length)])
    faces = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (0, 2, 1), (0, 3, 2)][: 4 + base]
    x = rng.uniform(-1, 1, (200, 2)) * np.array([1, 100])[rng.integers(0, 2, 200), None]
    points = np.column_stack([x, rng.uniform(0.1, 1.1, 200) * length])
    reach, edge = np.abs(x).max(axis=1), 0.5 * (1 - points[:, 2] / length)
    clear = np.abs(reach - edge) > 1e-13 * length  # nearer points depend on the rounding of the corners
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0] if turned else np.eye(3)
    mesh = gk.Mesh(corners @ turn.T, faces, rounding=0, solid=False)
    inside = mesh.signed_distances(points @ turn.T, sign="winding").inside
    np.testing.assert_array_equal(inside[clear], (reach < edge)[clear])


def test_stray_triangle_counts_only_for_points_outside():
    box = gk.Box((2, 2, 2)).surface()
    vertices = np.concatenate(
        [box.vertices, [(5, 0, 0), (5, 1, 0), (5, 0, 1), (0.1, 0, 0), (0.1, 0.1, 0), (0.1, 0, 0.1)]]
    )
    n = len(box.vertices)
    mesh = gk.Mesh(vertices, np.concatenate([[(n, n + 1, n + 2)], box.faces, [(n + 3, n + 4, n + 5)]]))
    assert mesh.is_watertight
    result = mesh.signed_distances([(4.5, 0.1, 0.1), (0, 0, 0), (0.75, 0.2, 0.1)])
    assert result.distance.round(12).tolist() == [0.5, -1.0, -0.25]
    assert result.face[0] == 0
    corners = vertices[mesh.faces[result.face[2]]]
    assert (corners[:, 0] == 1.0).all()


@pytest.mark.parametrize("name", BODIES)
def test_points_beyond_the_length_limit_raise(name):
    body = BODIES[name]
    for query in (body.signed_distances, getattr(body, "contains", body.signed_distances)):
        for point in ((1e200, 0, 0), (0, -1.1e50, 0)):
            with pytest.raises(ShapeError, match=r"points\[1\] is \[.*, expected at most 1e\+50"):
                query([(0, 0, 0), point])
        for point in ((1e50, 0, 0), (1e-60, 0, 0)):
            query([point])
    far = body.signed_distances([(1e49, 0, 0), (0, 0, 1e49)])
    assert (far.lower <= far.distance).all()
    assert (far.distance <= far.upper).all()
    assert np.isfinite(far.lower).all()


@pytest.mark.parametrize("name", BODIES)
def test_point_is_inside_if_its_distance_is_negative(name, rng):
    # on the middle of a face, on a diagonal, on an edge, at a corner, and at the centre
    special = [(1, 0.3, 0.2), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 0, 1), (0, 0, 0), (0, 0, -1), (0, 0, 0.5)]
    result = BODIES[name].signed_distances(np.vstack([special, rng.uniform(-1.5, 1.5, (40, 3))]))
    np.testing.assert_array_equal(result.inside, result.distance < 0.0)
    assert not np.signbit(result.distance[result.distance == 0.0]).any()
    np.testing.assert_allclose(np.linalg.norm(result.normal, axis=1), 1.0)


def test_a_point_on_the_surface_of_a_mesh_is_not_inside():
    cube = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    result = cube.signed_distances([(1, 0.3, 0.2), (1, 0, 0), (1, 1, 0), (1, 1, 1)])
    assert ((result.distance >= 0.0) & (result.distance < 1e-16)).all()
    assert not result.inside.any()
    assert result.normal[0].tolist() == [1, 0, 0]
    below = cube.signed_distances([(1 - 2.0**-40, 0.3, 0.2)])
    assert below.inside[0]
    assert below.distance[0] == pytest.approx(-(2.0**-40))


def test_other_shapes_match_signed_distance(rng):
    points = rng.uniform(-2, 2, (50, 3))
    inside = 0
    for shape in (
        gk.Box((1, 2, 3)), gk.Sphere(1), gk.Capsule(0.5, 1), gk.ConvexHull(rng.normal(size=(20, 3))),
        gk.Halfspace((0, 0, 1), 0.2), gk.Compound([(gk.Box((1, 1, 1)), None)]),
        gk.PointCloud(rng.normal(size=(4000, 3)), 0.01), gk.HeightField(np.zeros((3, 3)), 1.0, bottom=-1.0),
    ):  # fmt: skip
        result = shape.signed_distances(points)
        inside += result.inside.sum()
        poses = np.tile(np.eye(4), (50, 1, 1))
        poses[:, :3, 3] = points
        same = gk.signed_distance(shape, gk.Point(), None, poses)
        np.testing.assert_array_equal(result.distance, same.distance)
        np.testing.assert_array_equal(result.normal, same.normal)
        assert (result.face == -1).all()
    assert inside > 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"points": [(0, 0, np.nan)]}, r"points.*0.*nan"),
        ({"points": [(0, 0)]}, r"points.*\(n, 3\)|rows of 3"),
        ({"points": [(0, 0, 0)], "max_distance": -1}, "max_distance is -1"),
        ({"points": [(0, 0, 0)], "sign": "parity"}, "sign is 'parity', expected one of 'auto', 'winding', 'none'"),
        ({"points": [(0, 0, 0)], "workers": 0}, "workers is 0"),
        ({"points": np.zeros((3, 3)), "pose": np.tile(np.eye(4), (2, 1, 1))}, "pose has 2 rows and points has 3"),
    ],
)
def test_invalid_arguments_raise(arguments, message):
    with pytest.raises(ShapeError, match=message):
        SOLIDS["box"].signed_distances(**arguments)


@pytest.mark.parametrize("shape", [SOLIDS["box"], gk.Sphere(1.0)])
def test_empty_input_gives_empty_results(shape):
    result = shape.signed_distances(np.empty((0, 3)))
    assert [field.shape for field in result] == [(0,), (0, 3), (0, 3), (0,), (0,), (0,), (0,)]
