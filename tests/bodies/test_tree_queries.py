"""Tree traversals of bodies against convex shapes and other bodies, compared with queries for every part.

The reference queries the convex functions for each triangle, ball, cube and column. The winding number of all triangles
decides whether a closed mesh contains a point of the other body.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies import tree_collision
from gjk3d.bodies.distance import pair_of
from gjk3d.bodies.parts import parts_of
from gjk3d.poses import pose_rows, relative
from tests.bodies.random_shapes import Array, anywhere, at, some_compound, some_shape


def of(mesh: trimesh.Trimesh, **how: Any) -> gk.Mesh:
    return gk.Mesh(mesh.vertices, mesh.faces, **how)


def soup(rng: np.random.Generator, count: int) -> gk.Mesh:
    """Return random triangles; some have no area and one occurs twice."""
    corners = rng.uniform(-1, 1, (count, 1, 3)) + rng.normal(size=(count, 3, 3)) * 0.3
    corners[0, 2] = corners[0, 1]  # a segment
    corners[1] = corners[1, :1]  # a point
    corners[2, 2] = 0.5 * (corners[2, 0] + corners[2, 1])  # collinear corners
    corners[3] = corners[4]
    return gk.Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3), solid=False)


def parts_of_body(body: Any) -> list[tuple[gk.Shape, Array]]:
    """Return every part of a body with its pose, computed from the public attributes of the body."""
    still = np.eye(4)
    if isinstance(body, gk.Shape):
        return [(body, still)]
    if isinstance(body, gk.Mesh):
        return [(gk.Triangle(body.vertices[face]), still) for face in body.faces]
    if isinstance(body, gk.PointCloud):
        ball = gk.Sphere(body.radius) if body.radius > 0 else gk.Point()
        return [(ball, at(*place)) for place in body.points]
    if isinstance(body, gk.VoxelGrid):
        middles = body.origin + (np.argwhere(body.occupied) + 0.5) * body.pitch
        return [(gk.Box((body.pitch,) * 3), at(*middle)) for middle in middles]
    if isinstance(body, gk.HeightField):
        bottom = float(body.heights.min()) - 60.0
        rows = body.surface()
        tops = np.asarray(rows.vertices)[np.asarray(rows.faces)]
        below = tops.copy()
        below[..., 2] = bottom
        return [(gk.ConvexHull(np.concatenate([t, u])), still) for t, u in zip(tops, below, strict=True)]
    return [(shape, pose @ inner) for part, pose in body.parts for shape, inner in parts_of_body(part)]


def contains_any_point(body: Any, pose: Array, points: Array) -> bool:
    """Return whether a closed mesh among the parts of a body contains any of the points, by the winding number."""
    meshes = [(body, np.eye(4))] if isinstance(body, gk.Mesh) else getattr(body, "parts", ())
    for mesh, local in meshes:
        if isinstance(mesh, gk.Mesh) and mesh.is_watertight:
            inner = (points - (pose @ local)[:3, 3]) @ (pose @ local)[:3, :3]
            for p in inner:
                a, b, c = (mesh.vertices[mesh.faces[:, k]] - p for k in range(3))
                la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
                top = np.einsum("ij,ij->i", a, np.cross(b, c))
                dots = [np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (b, c), (c, a))]
                total = np.arctan2(top, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb).sum()
                if abs(total) > np.pi:  # it is 2 pi for a point inside
                    return True
    return False


def point_of_each_part(body: Any) -> Array:
    """Return one point of each part of a body."""
    if isinstance(body, gk.HeightField):
        return np.zeros((0, 3))
    return np.concatenate(
        [np.atleast_2d(s.support((1, 0, 0))) @ p[:3, :3].T + p[:3, 3] for s, p in parts_of_body(body)]
    )


def reference(a: Any, b: Any, pose_a: Array, pose_b: Array) -> tuple[float, float, bool]:
    """Return bounds of the smallest distance between parts, and whether one body contains a point of the other."""
    rows = [gk.signed_distance(s, t, pose_a @ p, pose_b @ q) for s, p in parts_of_body(a) for t, q in parts_of_body(b)]
    inside = contains_any_point(
        a, pose_a, point_of_each_part(b) @ pose_b[:3, :3].T + pose_b[:3, 3]
    ) or contains_any_point(b, pose_b, point_of_each_part(a) @ pose_a[:3, :3].T + pose_a[:3, 3])
    return min(row.lower for row in rows), min(row.upper for row in rows), inside


BALL, TORUS = (
    of(trimesh.creation.icosphere(1)),
    of(trimesh.creation.torus(0.8, 0.25, major_sections=9, minor_sections=5)),
)


def some_body(rng: np.random.Generator) -> Any:
    return (
        lambda: soup(rng, 12),
        lambda: BALL.scaled(rng.uniform(0.3, 1.0)),
        lambda: TORUS,
        lambda: gk.PointCloud(rng.normal(size=(rng.integers(1, 30), 3)) * 0.5, rng.choice([0.0, 0.1])),
        lambda: gk.VoxelGrid(np.concatenate([[True], rng.random(26) < 0.3]).reshape(3, 3, 3), 0.4, (-0.6, -0.6, -0.6)),
        lambda: gk.HeightField(rng.uniform(-0.4, 0.4, rng.integers(2, 6, 2)), 0.5, (-1.0, -1.0)),
        lambda: some_compound(rng, int(rng.integers(1, 5)), 0.6),
        lambda: gk.Compound([(BALL.scaled(0.5), anywhere(rng, 0.5)), (gk.Box((0.3, 0.4, 0.9)), anywhere(rng, 0.5))]),
    )[rng.integers(8)]()


def check_pair(a: Any, b: Any, pose_a: Array, pose_b: Array) -> bool:
    """Compare all queries with the reference; return whether the bodies collide."""
    lower, upper, inside = reference(a, b, pose_a, pose_b)
    hit, result = gk.collide(a, b, pose_a, pose_b), gk.distance(a, b, pose_a, pose_b)
    size = float(np.abs(pose_a[:3, 3]).max() + np.abs(pose_b[:3, 3]).max()) + 4.0
    if lower > 1e-12 * size and not inside:
        assert not hit
    if upper < -1e-12 * size or inside:
        assert hit
    assert hit == gk.collide(b, a, pose_b, pose_a)
    assert hit == (result.status == gk.Status.OVERLAPPING)
    if hit:
        assert result.distance == result.upper == 0.0
        return True
    assert max(result.lower, lower) <= min(result.upper, upper)
    assert result.upper - result.lower <= 1e-9 * size
    assert np.abs(result.point_a + result.distance * result.normal - result.point_b).max() <= 1e-12 * size
    far = gk.distance(a, b, pose_a, pose_b, max_distance=0.5 * upper)
    assert far.lower <= upper
    assert far.upper >= lower
    assert far.status in (gk.Status.BEYOND, gk.Status.TOUCHING)
    assert gk.distance(a, b, pose_a, pose_b, max_distance=2.0 * upper).distance == result.distance
    assert not gk.collide(a, b, pose_a, pose_b, margin=0.99 * lower)
    assert gk.collide(a, b, pose_a, pose_b, margin=1.01 * upper)
    return False


@pytest.mark.full
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_tree_queries_equal_reference(seed: int, both: bool) -> None:
    rng = np.random.default_rng(seed)
    a, b = some_body(rng), some_body(rng) if both else some_shape(rng)
    if isinstance(a, gk.HeightField) and isinstance(b, gk.HeightField):
        b = BALL
    for reach in (0.4, 1.5, 4.0):
        check_pair(a, b, anywhere(rng, 0.3), anywhere(rng, reach))


@given(st.integers(0, 2**32 - 1))
def test_stack_equals_single_queries(seed: int) -> None:
    """A stack equals single queries bit for bit, for any number of workers and in either argument order."""
    rng = np.random.default_rng(seed)
    a, b = some_body(rng), some_shape(rng)
    poses = np.array([anywhere(rng, 1.5) for _ in range(30)])
    hits, stacked = gk.collide(a, b, None, poses), gk.distance(a, b, None, poses)
    swapped, near = gk.distance(b, a, poses), gk.collide(a, b, None, poses, margin=0.2)
    threaded = gk.distance(a, b, None, poses, workers=2)
    for k, pose in enumerate(poses):
        single = gk.distance(a, b, None, pose)
        assert hits[k] == gk.collide(a, b, None, pose)
        assert near[k] == gk.collide(b, a, pose, margin=0.2)
        for answer in (stacked, threaded):
            assert (answer.lower[k], answer.upper[k], answer.status[k]) == (single.lower, single.upper, single.status)
            assert (answer.point_a[k] == single.point_a).all()
            assert (answer.normal[k] == single.normal).all()
        assert (swapped.lower[k], swapped.upper[k]) == (single.lower, single.upper)
        assert (swapped.point_b[k] == single.point_a).all()


@pytest.mark.parametrize("far", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("gap", [0.0, 1e-9, -1e-9, 1e-3])
def test_shapes_on_top_face_touch(far: float, gap: float) -> None:
    """A box, a ball and a cylinder on the top face of four bodies touch, also far from the origin."""
    cube = of(trimesh.creation.box((2, 2, 2)))
    bodies = [cube, gk.Compound([(cube, None)]), gk.VoxelGrid(np.ones((4, 4, 4)), 0.5, (-1, -1, -1)),
              gk.HeightField(np.ones((5, 5)), 0.5, (-1, -1))]  # fmt: skip
    size = 4.0 + far
    for body in bodies:
        for shape, half in ((gk.Box((1, 1, 1)), 0.5), (gk.Sphere(0.25), 0.25), (gk.Cylinder(0.3, 1.0), 0.5)):
            pose_a, pose_b = at(far, 0, 0), at(far, 0, 1.0 + half + gap)
            hit = gk.collide(body, shape, pose_a, pose_b)
            result = gk.distance(body, shape, pose_a, pose_b)
            assert result.lower <= max(gap, 0.0) + 1e-14 * size
            assert result.upper >= max(gap, 0.0) - 1e-14 * size
            assert hit or gap > 0.0
            assert not hit or gap <= 1e-13 * size


def test_height_field_is_solid_below() -> None:
    """A height field extends down without end: objects below it collide, objects next to it do not."""
    field = gk.HeightField(np.zeros((3, 3)), 0.5, (-0.5, -0.5))
    for depth in (1.0, 10.0, 1e3, 1e6):
        assert gk.collide(field, gk.Sphere(0.2), None, at(0, 0, -depth))
        assert not gk.collide(field, gk.Sphere(0.2), None, at(1, 0, -depth))
        result = gk.distance(field, gk.Sphere(0.2), None, at(1, 0, -depth))
        assert result.lower <= 0.3 <= result.upper
    poses = np.array([at(0.1 * k, 0, -(10.0**k)) for k in range(7)])
    hits = gk.collide(field, gk.Box((0.2, 0.2, 0.2)), None, poses)
    assert hits.tolist() == [gk.collide(field, gk.Box((0.2, 0.2, 0.2)), None, pose) for pose in poses]


@pytest.mark.full
def test_user_support_equals_sphere() -> None:
    """A user-defined support function gives the same results as the equal sphere."""

    def support(direction: Array) -> Array:
        length = np.linalg.norm(direction)
        return 0.3 * direction / length if length else np.zeros(3)

    mapped, ball = gk.Support(support, (0, 0, 0), 0.31), gk.Sphere(0.3)
    rng = np.random.default_rng(3)
    for body in (TORUS, gk.PointCloud(rng.normal(size=(20, 3)), 0.05)):
        for _ in range(8):
            pose = anywhere(rng, 1.2)
            by_support, by_sphere = gk.distance(body, mapped, None, pose), gk.distance(body, ball, None, pose)
            assert gk.collide(body, mapped, None, pose) == gk.collide(body, ball, None, pose)
            assert max(by_support.lower, by_sphere.lower) <= min(by_support.upper, by_sphere.upper) + 1e-9


@given(st.integers(0, 2**32 - 1))
def test_traversal_lists_all_colliding_pairs(seed: int) -> None:
    """The traversal lists the same colliding pairs as the kernels for all pairs, and the boxes exclude none of them."""
    rng = np.random.default_rng(seed)
    a, b = some_body(rng), some_shape(rng) if rng.random() < 0.5 else some_compound(rng, 3, 0.5)
    x = pair_of(a, b, relative(pose_rows(anywhere(rng, 0.2))[0][0], pose_rows(anywhere(rng, 0.8))[0][0]))
    every = np.array([(i, j) for i in range(x.a.count) for j in range(x.b.count)])
    for margin in (0.0, 0.1):
        hits = {tuple(pair) for pair in every[x.hits(every, margin)].tolist()}
        assert {tuple(pair) for pair in x.meeting(margin).tolist()} == hits
        assert hits <= {tuple(pair) for pair in x.candidates(margin).tolist()}
    assert tree_collision.tree_scratch() is tree_collision.tree_scratch()


@pytest.mark.parametrize("shape", [gk.Cylinder(0.5, 20).inflated(0.25), gk.Ellipsoid((0.1, 0.2, 9)).inflated(0.5)])
def test_box_of_inflated_shape_is_core_box_plus_rim(shape) -> None:
    packed = parts_of(shape).given
    half = 0.5 * (shape.bounds[1] - shape.bounds[0])
    np.testing.assert_allclose(packed.boxes[0, 3:6] + packed.rim, half, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 5, 40, 300])
def test_node_boxes_contain_their_parts(count: int) -> None:
    """Node boxes with their rims contain the boxes below them, and every part is below exactly one leaf."""
    rng = np.random.default_rng(count)
    bodies = [
        gk.PointCloud(rng.normal(size=(count, 3)), 0.1), gk.VoxelGrid(rng.random((count, 3, 3)) < 0.6, 0.3),
        gk.HeightField(rng.random((count + 1, 4)), 0.3), some_compound(rng, min(count, 40)),
    ]  # fmt: skip
    for body in bodies:
        parts = body._as_parts()
        boxes, links, rim = parts.given.boxes, parts.given.links, parts.given.rim
        leaves = links[links[:, 0] < 0]
        assert sorted(k for _, first, some in leaves.tolist() for k in range(first, first + some)) == list(
            range(parts.count)
        )
        for node, (child, first, some) in enumerate(links.tolist()):
            part_boxes = parts.boxes(np.arange(first, first + some)) if child < 0 else None
            if part_boxes is None:
                low = (boxes[child : child + 2, :3] - boxes[child : child + 2, 3:6]).min(axis=0) - rim
                high = (boxes[child : child + 2, :3] + boxes[child : child + 2, 3:6]).max(axis=0) + rim
            else:
                low, high = part_boxes[:, :3].min(axis=0), part_boxes[:, 3:].max(axis=0)
            slack = 1e-8 * (np.abs(low).max() + np.abs(high).max() + 1.0)
            assert (boxes[node, :3] - boxes[node, 3:6] - rim <= low + slack).all()
            assert (boxes[node, :3] + boxes[node, 3:6] + rim >= high - slack).all()


def test_one_mesh_is_queried_by_many_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    rng = np.random.default_rng(11)
    shapes = [some_shape(rng) for _ in range(6)]
    poses = [at(*rng.uniform(-1, 1, 3), rotation=Rotation.random(rng=rng)) for _ in range(40)]

    def query(shape: gk.Shape) -> list[Any]:
        return [(gk.collide(TORUS, shape, None, p), gk.distance(TORUS, shape, None, p).distance) for p in poses]

    expected = [query(shape) for shape in shapes]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(query, shapes * 3)) == expected * 3
