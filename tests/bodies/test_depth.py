"""Depth and penetration of realistic assemblies, checked by moving, by manifold3d and by reference implementations."""

from __future__ import annotations

import assembled_parts
import manifold3d
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names
from numpy.typing import NDArray
from random_shapes import at
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.body_pair import MeshPair
from gjk3d.bodies.depth import inside
from gjk3d.bodies.depth.inside import flat_neighbours
from gjk3d.bodies.depth.points import climb, point_scratch
from gjk3d.poses import pose_rows

Array = NDArray[np.float64]
FITS = list(assembled_parts.fits())
LINKED = list(assembled_parts.linked())


def moved(pose: Array, by: Array) -> Array:
    out = pose.copy()
    out[:3, 3] += by
    return out


def shared_volume(a: gk.Mesh, b: gk.Mesh, pose: Array) -> float:
    """Return the volume of the intersection of two meshes, computed by manifold3d."""
    solids = [
        manifold3d.Manifold(
            manifold3d.Mesh64(
                vert_properties=np.array(vertices),
                tri_verts=np.ascontiguousarray(x.faces).astype(np.uint64),
            )
        )
        for x, vertices in ((a, a.vertices), (b, b.vertices @ pose[:3, :3].T + pose[:3, 3]))
    ]
    assert all(solid.status() == manifold3d.Error.NoError for solid in solids)
    return float((solids[0] ^ solids[1]).volume())


def check_by_moving(a: gk.Mesh, b: gk.Mesh, pose: Array, seed: int) -> gk.Distance[float]:
    """Check that the translation separates B and that none shorter than the proven depth does; return the result."""
    result = gk.signed_distance(a, b, None, pose)
    size = float(np.ptp(a.bounds) + np.ptp(b.bounds))
    assert 0.0 < -result.upper <= result.depth == -result.lower
    free = moved(pose, result.separation_vector * (1.0 + 1e-9) + 1e-9 * size * result.normal)
    assert not gk.collide(a, b, None, free)
    assert shared_volume(a, b, free) == pytest.approx(0.0, abs=1e-6)
    assert shared_volume(a, b, pose) > 1e-6
    ways = np.vstack([np.random.default_rng(seed).normal(size=(40, 3)), result.normal])
    for way in ways / np.linalg.norm(ways, axis=1, keepdims=True):
        assert gk.collide(a, b, None, moved(pose, -0.99 * result.upper * way))
    return result


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.name)
def test_depth_and_penetration_match_the_fit(fit: assembled_parts.Fit) -> None:
    result = check_by_moving(fit.a, fit.b, fit.pose, 1)
    assert result.depth == pytest.approx(fit.depth, abs=fit.tolerance)
    inside = gk.penetration(fit.a, fit.b, None, fit.pose)
    assert inside.lower <= inside.depth <= inside.upper
    assert inside.depth == pytest.approx(fit.penetration, abs=fit.tolerance)
    assert inside.lower <= result.depth
    assert inside.upper <= inside.lower * 1.011  # also where surfaces coincide, as in a press fit
    check_points(fit.a, fit.b, fit.pose, inside)


@pytest.mark.parametrize("case", LINKED, ids=lambda case: case[0])
def test_depth_and_penetration_of_linked_rings(case: tuple[str, gk.Mesh, gk.Mesh, Array]) -> None:
    name, a, b, pose = case
    inside = gk.penetration(a, b, None, pose)
    if name == "linked and apart":
        assert gk.signed_distance(a, b, None, pose).distance == pytest.approx(6.0, abs=0.05)
        assert inside.depth == inside.lower == 0.0
        assert inside.upper < 1e-9
        return
    result = check_by_moving(a, b, pose, 2)
    assert 0.0 < inside.lower <= result.depth <= 1.2 * inside.upper  # the rings are thin: all depths are similar
    check_points(a, b, pose, inside)


def check_points(a: gk.Mesh, b: gk.Mesh, pose: Array, inside: gk.Penetration) -> None:
    """Check that the points are the depth apart, lie on the surfaces, and that one is inside the other body."""
    assert inside.normal is not None
    assert inside.point_a is not None
    assert inside.point_b is not None
    assert np.allclose(inside.point_b - inside.point_a, -inside.depth * inside.normal, atol=1e-12)
    local_b = np.linalg.inv(pose) @ np.append(inside.point_b, 1.0)
    local_a = np.linalg.inv(pose) @ np.append(inside.point_a, 1.0)
    assert float(from_surface(a, inside.point_a[None])[0]) < 1e-9
    assert float(from_surface(b, local_b[None, :3])[0]) < 1e-9
    assert a.contains(inside.point_b) or b.contains(local_a[:3])
    assert float(from_surface(a, inside.point_b[None])[0]) >= inside.depth - 1e-9 or (
        float(from_surface(b, local_a[None, :3])[0]) >= inside.depth - 1e-9
    )


# reference implementations -------------------------------------------------------------------------------------------


def from_surface(mesh: gk.Mesh, points: Array) -> Array:
    """Return the distance of points from the nearest triangle, over its face or from its edges, in plain numpy."""
    best = np.full(len(points), np.inf)
    for a, b, c in mesh.vertices[mesh.faces]:
        n = np.cross(b - a, c - a)
        if n @ n > 0.0:
            sides = [np.cross(q - p, points - p) @ n >= 0.0 for p, q in ((a, b), (b, c), (c, a))]
            over = np.logical_and.reduce(sides)
            best[over] = np.minimum(best[over], np.abs((points[over] - a) @ n) / np.sqrt(n @ n))
        for p, q in ((a, b), (b, c), (c, a)):
            e = q - p
            t = np.clip((points - p) @ e / max(float(e @ e), 1e-300), 0.0, 1.0)
            best = np.minimum(best, np.linalg.norm(points - p - t[:, None] * e, axis=1))
    return best


def turns(mesh: gk.Mesh, points: Array) -> Array:
    """Return how often a closed mesh winds around points, by solid angles (van Oosterom, Strackee, 1983)."""
    total = np.zeros(len(points))
    for triangle in mesh.vertices[mesh.faces]:
        a, b, c = triangle[:, None] - points
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        top = np.einsum("ij,ij->i", a, np.cross(b, c))
        low = la * lb * lc + np.einsum("ij,ij->i", a, b) * lc + np.einsum("ij,ij->i", b, c) * la
        total += np.arctan2(top, low + np.einsum("ij,ij->i", c, a) * lb)
    return total / (2.0 * np.pi)


def sampled_depth(host: gk.Mesh, guest: Array, spacing: float) -> float:
    """Return the greatest depth of samples of triangles; every point is within the spacing of a sample."""
    samples = []
    for a, b, c in guest:
        n = max(1, int(np.ceil(max(np.linalg.norm(b - a), np.linalg.norm(c - a), np.linalg.norm(c - b)) / spacing)))
        i, j = (x.ravel() for x in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
        u, v = i[i + j <= n] / n, j[i + j <= n] / n
        samples.append(a + u[:, None] * (b - a) + v[:, None] * (c - a))
    points = np.concatenate(samples)
    low, high = host.bounds
    points = points[((points > low) & (points < high)).all(axis=1)]
    if not len(points):
        return 0.0
    within = np.abs(turns(host, points)) > 0.5
    return float(from_surface(host, points[within]).max(initial=0.0))


def penetration_by_samples(a: gk.Mesh, b: gk.Mesh, pose: Array, spacing: float) -> float:
    back = np.linalg.inv(pose)
    best = 0.0
    for host, guest, m in ((a, b, pose), (b, a, back)):
        placed = guest.vertices @ m[:3, :3].T + m[:3, 3]
        best = max(best, sampled_depth(host, placed[guest.faces], spacing))
    return best


TORUS = assembled_parts.ring(1.0, 0.4, 16, 8)
SOLIDS = {
    "block": gk.Mesh(*gk.Box((1.0, 0.6, 0.8)).surface()),
    "ball": gk.Mesh(*gk.Sphere(0.5).surface(12)),
    "plate with a hole": assembled_parts.pierced(
        assembled_parts.circle(0.3, 12), assembled_parts.circle(0.7, 12), -0.2, 0.2
    ),
    "hull": gk.Mesh(*gk.ConvexHull(np.random.default_rng(4).normal(size=(14, 3)) * 0.5).surface()),
}


@pytest.mark.parametrize("first", SOLIDS)
@pytest.mark.parametrize("second", SOLIDS)
def test_penetration_bounds_agree_with_samples(first: str, second: str) -> None:
    rng = np.random.default_rng(len(first) * 31 + len(second))
    a, b, spacing = SOLIDS[first], SOLIDS[second], 0.08
    for _ in range(4):
        pose = at(*rng.uniform(-0.6, 0.6, 3), rotation=Rotation.random(rng=rng))
        result, reference = gk.penetration(a, b, None, pose), penetration_by_samples(a, b, pose, spacing)
        assert reference <= result.upper + 1e-9
        assert result.lower <= reference + spacing  # a sample is within the spacing, and the depth is 1-Lipschitz
        back = gk.penetration(b, a, pose, None)
        assert max(result.lower, back.lower) <= min(result.upper, back.upper)
        assert result.upper - result.lower <= 0.03 * result.upper + 1e-9
        assert result.lower <= gk.signed_distance(a, b, None, pose).depth + 1e-9


def some_mesh(rng: np.random.Generator) -> gk.Mesh:
    """Return a hull of few points, slim or fat, or a torus."""
    if rng.random() < 0.3:
        return gk.Mesh(TORUS.vertices * rng.uniform(0.3, 1.0, 3), TORUS.faces)
    stretch = 10.0 ** rng.uniform(-1.5, 0.0, 3)
    return gk.Mesh(*gk.ConvexHull(rng.normal(size=(rng.integers(4, 20), 3)) * stretch).surface())


@pytest.mark.full
@given(st.integers(0, 2**32 - 1))
def test_laws_of_penetration(seed: int) -> None:
    """Bounds are ordered, independent of order and units, at most the depth, and zero once B is separated."""
    rng = np.random.default_rng(seed)
    a, b = some_mesh(rng), some_mesh(rng)
    pose = at(*rng.uniform(-1.0, 1.0, 3), rotation=Rotation.random(rng=rng))
    result, back, signed = (
        gk.penetration(a, b, None, pose),
        gk.penetration(b, a, pose),
        gk.signed_distance(a, b, None, pose),
    )
    assert 0.0 <= result.lower <= result.depth <= result.upper
    assert max(result.lower, back.lower) <= min(result.upper, back.upper)
    assert result.lower <= max(0.0, -signed.lower)
    if result.depth > 0.0:
        assert gk.collide(a, b, None, pose)
        check_points(a, b, pose, result)
        for way in rng.normal(size=(8, 3)):  # no shorter translation separates B
            assert gk.collide(a, b, None, moved(pose, 0.99 * result.lower * way / np.linalg.norm(way)))
    if signed.depth > 0.0:
        for way in rng.normal(size=(8, 3)):
            assert gk.collide(a, b, None, moved(pose, -0.99 * signed.upper * way / np.linalg.norm(way)))
    size = float(np.ptp(a.bounds) + np.ptp(b.bounds))
    free = moved(pose, signed.separation_vector * (1.0 + 1e-9) + 1e-9 * size * signed.normal)
    assert gk.penetration(a, b, None, free).depth == 0.0
    scaled = pose.copy()
    scaled[:3, 3] *= 1000.0
    large = gk.penetration(a.scaled(1000.0), b.scaled(1000.0), None, scaled)
    assert max(large.lower / 1000.0, result.lower) <= min(large.upper / 1000.0, result.upper) + 1e-9


def test_flat_neighbours_make_convex_quadrilaterals() -> None:
    """Two triangles form one face only if coplanar, on two sides of their edge, and convex together."""
    a, b, c = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5, 1.0, 0.0)
    others = {
        "across": ((0.5, -1.0, 0.0), True), "folded": ((0.5, 0.5, 0.0), False), "bent": ((0.5, -1.0, 1e-3), False),
        "dented": ((3.0, -1.0, 0.0), False), "on the edge": ((0.5, 0.0, 0.0), True), "beyond": ((2.0, 0.0, 0.0), False),
        "the same": (c, False),
    }  # fmt: skip
    for name, (d, joined) in others.items():
        places = np.array([(0, 1, 2), (1, 0, 2 if d == c else 3)])
        flat = flat_neighbours(np.array([(*a, *b, *c), (*b, *a, *d)]), places)
        assert (flat.max(axis=1) >= 0).tolist() == [joined, joined], name
    places = np.array([(0, 1, 2), (1, 0, 3)])
    assert (flat_neighbours(np.array([(*a, *b, 2.0, 0.0, 0.0), (*b, *a, *c)]), places) < 0).all()


@given(st.integers(0, 2**32 - 1))
def test_balls_about_a_common_point_bound_the_depth_from_below(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = some_mesh(rng), some_mesh(rng)
    pose = at(*rng.uniform(-0.5, 0.5, 3), rotation=Rotation.random(rng=rng))
    pair = MeshPair.of(a, b, pose_rows(pose)[0][0])
    middle, trees = a.vertices.mean(axis=0), (inside.closed_of(a), inside.closed_of(b))
    deep = climb(tuple(pair.m[:12].tolist()), pair.error, *trees, point_scratch(0), middle)
    local_middle = (np.linalg.inv(pose) @ np.append(middle, 1.0))[None, :3]
    if deep == 0.0:
        return
    assert abs(turns(a, middle[None])[0]) > 0.5
    assert abs(turns(b, local_middle)[0]) > 0.5
    assert deep == pytest.approx(from_surface(a, middle[None])[0] + from_surface(b, local_middle)[0], abs=1e-9)
    assert deep <= gk.signed_distance(a, b, None, pose).depth + 1e-12
    for way in rng.normal(size=(8, 3)):
        assert gk.collide(a, b, None, moved(pose, 0.999 * deep * way / np.linalg.norm(way)))


@given(st.integers(0, 2**32 - 1))
def test_cut_pieces_cover_the_triangle_and_do_not_cross_the_plane(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pool, corners = np.zeros((4, inside.POOL)), rng.normal(size=(3, 3))
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    pool[0, :9], pool[0, 9:12] = corners.ravel(), n
    heights = corners @ n
    pool[0, 12] = rng.uniform(heights.min(), heights.max())
    for plane in (True, False):
        if not plane:
            pool[0, 9:] = 0.0
        count = inside.cut(pool, 0, 1)
        assert count == (3 if plane else 2)
        pieces = pool[1 : 1 + count, :9].reshape(-1, 3, 3)
        areas = np.cross(pieces[:, 1] - pieces[:, 0], pieces[:, 2] - pieces[:, 0])
        assert np.allclose(areas.sum(axis=0), np.cross(corners[1] - corners[0], corners[2] - corners[0]), atol=1e-12)
        assert (areas @ areas.sum(axis=0) >= -1e-12).all()  # no piece is reversed: they do not overlap
        if plane:
            above = pieces @ n - pool[0, 12]
            assert ((above > -1e-12).all(axis=1) | (above < 1e-12).all(axis=1)).all()


def test_penetration_ignores_duplicate_and_degenerate_faces() -> None:
    block = SOLIDS["block"]
    spare = np.vstack([block.faces, block.faces[:2], [(0, 1, 1), (3, 3, 3)]])
    odd = gk.Mesh(block.vertices, spare)
    for x in (0.2, 0.7, 0.95):
        pose = at(x, 0.1, 0.2)
        clean, result = gk.penetration(block, block, None, pose), gk.penetration(odd, odd, None, pose)
        assert max(clean.lower, result.lower) <= min(clean.upper, result.upper)
        assert result.depth == pytest.approx(clean.depth, rel=0.01)
    inverted = gk.Mesh(block.vertices, block.faces[:, ::-1])
    assert gk.penetration(inverted, block, None, at(0.7, 0, 0)).depth == pytest.approx(0.3, rel=0.01)


def test_penetration_far_away_tiny_and_huge() -> None:
    block = SOLIDS["block"]
    for scale in (1e-6, 1.0, 1e6):
        for away in (0.0, 1e3):
            small = gk.Mesh((block.vertices + away) * scale, block.faces)
            result = gk.penetration(small, small, None, at(0.9 * scale, 0, 0))
            assert result.lower <= 0.1 * scale <= result.upper
            assert result.depth == pytest.approx(0.1 * scale, rel=1e-6)


def test_penetration_of_convex_shapes() -> None:
    for depth in (0.5, 1e-3, 1e-9):
        result = gk.penetration(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, at(1 - depth, 0, 0))
        assert result.lower <= depth <= result.upper
        assert result.depth == pytest.approx(depth, rel=1e-5)
    balls = gk.penetration(gk.Sphere(1), gk.Sphere(2), None, at(2.7, 0, 0))
    assert balls.lower <= 0.3 <= balls.upper
    contained = gk.penetration(gk.Sphere(2), gk.Point((1.5, 0, 0)))
    assert contained.lower <= 0.5 <= contained.upper
    flat = gk.penetration(gk.Box((1, 1, 1)), gk.Triangle([(0, 0, 0), (3, 0, 0), (0, 3, 0)]), None, at(0.2, 0.2, 0.1))
    assert flat.depth == pytest.approx(0.3)
    # the depth of a needle through a ball is that of the ball's centre
    needle = gk.penetration(gk.Sphere(1), gk.Segment((-5, 0, 0), (5, 0, 0)))
    assert needle.lower <= 1.0 <= needle.upper
    for shape in (
        gk.Cylinder(1, 2),
        gk.Cone(1, 2),
        gk.Capsule(0.5, 1),
        gk.Ellipsoid((1, 0.5, 0.7)),
        gk.Box((1, 1, 1)).inflated(0.3),
    ):
        slab = gk.Box((10, 10, 10))
        low = float(shape.support(np.array([[0.0, 0.0, -1.0]]))[0, 2])
        result = gk.penetration(slab, shape, None, at(0, 0, 5 - low - 0.2))
        assert result.lower <= 0.2 <= result.upper


def test_penetration_of_compounds_and_grids() -> None:
    hook = gk.Compound([(gk.Box((1, 1, 1)), None), (gk.Sphere(0.5), at(1.2, 0, 0))])
    result = gk.penetration(hook, gk.Box((1, 1, 1)), None, at(2.1, 0, 0))
    assert result.lower <= 0.1 <= result.upper
    grid = gk.VoxelGrid(np.ones((3, 3, 3), dtype=bool), 1.0)
    result = gk.penetration(grid, gk.Box((1, 1, 1)), None, at(3.0, 1.5, 1.5))
    assert result.depth == pytest.approx(0.5)


def test_penetration_of_bottomed_ground_matches_its_surface_mesh() -> None:
    rng = np.random.default_rng(2)
    for scale, far in ((1.0, 0.0), (1e-6, 0.0), (1e6, 0.0), (1.0, 1e6)):
        heights = scale * rng.random((5, 6))
        heights[1:3, 2] = 0.0  # zero thickness at these points
        ground = gk.HeightField(heights, scale, (-2 * scale, -2 * scale), bottom=0.0)
        mesh, tool = gk.Mesh(*ground.surface()), SOLIDS["block"].scaled(0.8 * scale)
        place = at(far, far, far)
        tool_pose = place @ at(0.3 * scale, 0.2 * scale, 0.6 * scale, rotation=Rotation.random(rng=rng))
        result, same = (gk.penetration(x, tool, place, tool_pose) for x in (ground, mesh))
        assert 0.0 < result.lower <= result.depth <= result.upper
        assert max(result.lower, same.lower) <= min(result.upper, same.upper)
        back = gk.penetration(tool, ground, tool_pose, place)
        assert (back.depth, back.upper) == (result.depth, result.upper)
    slab = gk.HeightField(np.full((4, 4), 2.0), 1.0, bottom=0.0)
    sunk = gk.penetration(slab, gk.Box((1, 1, 1)), None, at(1.5, 1.5, 2.2))
    assert sunk.lower <= 0.3 <= sunk.upper
    assert sunk.normal == pytest.approx((0, 0, 1))
    assert gk.penetration(slab, slab, None, at(0, 0, 2.5)).upper == 0.0


def test_touching_and_separated_meshes_have_no_penetration() -> None:
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    for x in (1.0, 1.0 + 1e-9, 2.0):
        result = gk.penetration(cube, cube, None, at(x, 0, 0))
        assert result.depth == result.lower == 0.0
        assert result.upper < 1e-9
        assert result.normal is None
        assert "none" in repr(result)


def test_open_mesh_can_be_contained_but_contains_nothing() -> None:
    cube = gk.Mesh(*gk.Box((2, 2, 2)).surface())
    sheet = gk.Mesh([(-3, -3, 0), (3, -3, 0), (3, 3, 0), (-3, 3, 0)], [(0, 1, 2), (0, 2, 3)], solid=False)
    assert gk.penetration(cube, sheet).depth == pytest.approx(1.0, rel=0.02)
    with pytest.raises(gk.errors.UnsupportedPair) as caught:
        gk.penetration(sheet, sheet)
    assert_names(caught.value, "penetration", "signed_distance")


def test_invalid_penetration_queries_raise() -> None:
    cube = gk.Box((1, 1, 1))
    for shape in (gk.Halfspace((0, 0, 1)), gk.PointCloud([(0, 0, 0)], 0.1), gk.HeightField(np.zeros((3, 3)), 1.0)):
        with pytest.raises(gk.errors.UnsupportedPair, match="signed_distance"):
            gk.penetration(cube, shape)
    for tol in (0.0, -1.0, np.nan, 2.0):
        with pytest.raises(gk.errors.ShapeError, match="tol"):
            gk.penetration(cube, cube, tol=tol)
    with pytest.raises(gk.errors.ShapeError, match="one pair"):
        gk.penetration(cube, cube, np.stack([np.eye(4)] * 2))
    with pytest.raises(TypeError, match="depth"):
        bool(gk.penetration(cube, cube))
