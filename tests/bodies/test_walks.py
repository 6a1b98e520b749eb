"""Bodies against convex shapes and each other, by the walks over both trees: held against every part, asked one by one.

The twin asks the convex functions about each triangle, ball, cube and column; solids that hold a point of the other are
found by the winding number of all triangles.
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
from tests.bodies.places import Array, anywhere, at, some_compound, some_shape


def of(mesh: trimesh.Trimesh, **how: Any) -> gk.Mesh:
    return gk.Mesh(mesh.vertices, mesh.faces, **how)


def soup(rng: np.random.Generator, count: int) -> gk.Mesh:
    """Triangles anywhere, some of them without area, some there twice."""
    corners = rng.uniform(-1, 1, (count, 1, 3)) + rng.normal(size=(count, 3, 3)) * 0.3
    corners[0, 2] = corners[0, 1]  # a segment
    corners[1] = corners[1, :1]  # a point
    corners[2, 2] = 0.5 * (corners[2, 0] + corners[2, 1])  # three on a line
    corners[3] = corners[4]
    return gk.Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3), solid=False)


def parts_of_twin(body: Any) -> list[tuple[gk.Shape, Array]]:
    """Every part and its pose, from what the body says of itself."""
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
    return [(shape, pose @ own) for thing, pose in body.parts for shape, own in parts_of_twin(thing)]


def holds_a_point(body: Any, pose: Array, points: Array) -> bool:
    """Tell by the winding number whether a closed mesh among the parts of a body holds one of some points."""
    meshes = [(body, np.eye(4))] if isinstance(body, gk.Mesh) else getattr(body, "parts", ())
    for mesh, own in meshes:
        if isinstance(mesh, gk.Mesh) and mesh.is_watertight:
            inner = (points - (pose @ own)[:3, 3]) @ (pose @ own)[:3, :3]
            for p in inner:
                a, b, c = (mesh.vertices[mesh.faces[:, k]] - p for k in range(3))
                la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
                top = np.einsum("ij,ij->i", a, np.cross(b, c))
                dots = [np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (b, c), (c, a))]
                total = np.arctan2(top, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb).sum()
                if abs(total) > np.pi:  # of 2 pi where it is inside
                    return True
    return False


def a_point(body: Any) -> Array:
    """One point of each connected piece, or of all parts."""
    if isinstance(body, gk.HeightField):
        return np.zeros((0, 3))
    return np.concatenate(
        [np.atleast_2d(s.support((1, 0, 0))) @ p[:3, :3].T + p[:3, 3] for s, p in parts_of_twin(body)]
    )


def twin(a: Any, b: Any, pose_a: Array, pose_b: Array) -> tuple[float, float, bool]:
    """Bounds of how far the nearest parts are apart, and whether one body holds the other."""
    rows = [gk.signed_distance(s, t, pose_a @ p, pose_b @ q) for s, p in parts_of_twin(a) for t, q in parts_of_twin(b)]
    inside = holds_a_point(a, pose_a, a_point(b) @ pose_b[:3, :3].T + pose_b[:3, 3]) or holds_a_point(
        b, pose_b, a_point(a) @ pose_a[:3, :3].T + pose_a[:3, 3]
    )
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


def check(a: Any, b: Any, pose_a: Array, pose_b: Array) -> bool:
    """Hold all answers against the twin's; return whether the two meet."""
    lower, upper, inside = twin(a, b, pose_a, pose_b)
    told, apart = gk.collide(a, b, pose_a, pose_b), gk.distance(a, b, pose_a, pose_b)
    size = float(np.abs(pose_a[:3, 3]).max() + np.abs(pose_b[:3, 3]).max()) + 4.0
    if lower > 1e-12 * size and not inside:
        assert not told
    if upper < -1e-12 * size or inside:
        assert told
    assert told == gk.collide(b, a, pose_b, pose_a)
    assert told == (apart.status == gk.Status.OVERLAPPING)
    if told:
        assert apart.distance == apart.upper == 0.0
        return True
    assert max(apart.lower, lower) <= min(apart.upper, upper)
    assert apart.upper - apart.lower <= 1e-9 * size
    assert np.abs(apart.point_a + apart.distance * apart.normal - apart.point_b).max() <= 1e-12 * size
    far = gk.distance(a, b, pose_a, pose_b, max_distance=0.5 * upper)
    assert far.lower <= upper
    assert far.upper >= lower
    assert far.status in (gk.Status.BEYOND, gk.Status.TOUCHING)
    assert gk.distance(a, b, pose_a, pose_b, max_distance=2.0 * upper).distance == apart.distance
    assert not gk.collide(a, b, pose_a, pose_b, margin=0.99 * lower)
    assert gk.collide(a, b, pose_a, pose_b, margin=1.01 * upper)
    return False


@pytest.mark.full
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_against_every_part(seed: int, both: bool) -> None:
    rng = np.random.default_rng(seed)
    a, b = some_body(rng), some_body(rng) if both else some_shape(rng)
    if isinstance(a, gk.HeightField) and isinstance(b, gk.HeightField):
        b = BALL
    for reach in (0.4, 1.5, 4.0):
        check(a, b, anywhere(rng, 0.3), anywhere(rng, reach))


@given(st.integers(0, 2**32 - 1))
def test_a_stack_answers_as_its_rows_do(seed: int) -> None:
    """Bit for bit, however it is cut, and with either named first."""
    rng = np.random.default_rng(seed)
    a, b = some_body(rng), some_shape(rng)
    poses = np.array([anywhere(rng, 1.5) for _ in range(30)])
    met, apart = gk.collide(a, b, None, poses), gk.distance(a, b, None, poses)
    turned, near = gk.distance(b, a, poses), gk.collide(a, b, None, poses, margin=0.2)
    two = gk.distance(a, b, None, poses, workers=2)
    for k, pose in enumerate(poses):
        one = gk.distance(a, b, None, pose)
        assert met[k] == gk.collide(a, b, None, pose)
        assert near[k] == gk.collide(b, a, pose, margin=0.2)
        for answer in (apart, two):
            assert (answer.lower[k], answer.upper[k], answer.status[k]) == (one.lower, one.upper, one.status)
            assert (answer.point_a[k] == one.point_a).all()
            assert (answer.normal[k] == one.normal).all()
        assert (turned.lower[k], turned.upper[k]) == (one.lower, one.upper)
        assert (turned.point_b[k] == one.point_a).all()


@pytest.mark.parametrize("far", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("gap", [0.0, 1e-9, -1e-9, 1e-3])
def test_on_the_surface(far: float, gap: float) -> None:
    """A box, a ball and a hull on the top of a cube of triangles, of cubes, and of ground, also far from the origin."""
    cube = of(trimesh.creation.box((2, 2, 2)))
    bodies = [cube, gk.Compound([(cube, None)]), gk.VoxelGrid(np.ones((4, 4, 4)), 0.5, (-1, -1, -1)),
              gk.HeightField(np.ones((5, 5)), 0.5, (-1, -1))]  # fmt: skip
    size = 4.0 + far
    for body in bodies:
        for shape, half in ((gk.Box((1, 1, 1)), 0.5), (gk.Sphere(0.25), 0.25), (gk.Cylinder(0.3, 1.0), 0.5)):
            pose_a, pose_b = at(far, 0, 0), at(far, 0, 1.0 + half + gap)
            told = gk.collide(body, shape, pose_a, pose_b)
            apart = gk.distance(body, shape, pose_a, pose_b)
            assert apart.lower <= max(gap, 0.0) + 1e-14 * size
            assert apart.upper >= max(gap, 0.0) - 1e-14 * size
            assert told or gap > 0.0
            assert not told or gap <= 1e-13 * size


def test_below_the_columns() -> None:
    """Ground has no end below: deeper and deeper things are in it, what is beside it is not."""
    field = gk.HeightField(np.zeros((3, 3)), 0.5, (-0.5, -0.5))
    for depth in (1.0, 10.0, 1e3, 1e6):
        assert gk.collide(field, gk.Sphere(0.2), None, at(0, 0, -depth))
        assert not gk.collide(field, gk.Sphere(0.2), None, at(1, 0, -depth))
        beside = gk.distance(field, gk.Sphere(0.2), None, at(1, 0, -depth))
        assert beside.lower <= 0.3 <= beside.upper
    poses = np.array([at(0.1 * k, 0, -(10.0**k)) for k in range(7)])
    met = gk.collide(field, gk.Box((0.2, 0.2, 0.2)), None, poses)
    assert met.tolist() == [gk.collide(field, gk.Box((0.2, 0.2, 0.2)), None, pose) for pose in poses]


@pytest.mark.full
def test_a_function_of_the_users_goes_the_long_way() -> None:
    """The same answers as the shape that it is."""

    def support(direction: Array) -> Array:
        length = np.linalg.norm(direction)
        return 0.3 * direction / length if length else np.zeros(3)

    mapped, ball = gk.Support(support, (0, 0, 0), 0.31), gk.Sphere(0.3)
    rng = np.random.default_rng(3)
    for body in (TORUS, gk.PointCloud(rng.normal(size=(20, 3)), 0.05)):
        for _ in range(8):
            pose = anywhere(rng, 1.2)
            one, two = gk.distance(body, mapped, None, pose), gk.distance(body, ball, None, pose)
            assert gk.collide(body, mapped, None, pose) == gk.collide(body, ball, None, pose)
            assert max(one.lower, two.lower) <= min(one.upper, two.upper) + 1e-9


@given(st.integers(0, 2**32 - 1))
def test_listed_pairs_are_all_that_meet(seed: int) -> None:
    """Those of the walk are those that the kernels for pairs tell of all pairs, and none is left out by boxes."""
    rng = np.random.default_rng(seed)
    a, b = some_body(rng), some_shape(rng) if rng.random() < 0.5 else some_compound(rng, 3, 0.5)
    x = pair_of(a, b, relative(pose_rows(anywhere(rng, 0.2))[0][0], pose_rows(anywhere(rng, 0.8))[0][0]))
    every = np.array([(i, j) for i in range(x.a.count) for j in range(x.b.count)])
    for margin in (0.0, 0.1):
        met = {tuple(pair) for pair in every[x.hits(every, margin)].tolist()}
        assert {tuple(pair) for pair in x.meeting(margin).tolist()} == met
        assert met <= {tuple(pair) for pair in x.candidates(margin).tolist()}
    assert tree_collision.tree_scratch() is tree_collision.tree_scratch()


@pytest.mark.parametrize("shape", [gk.Cylinder(0.5, 20).inflated(0.25), gk.Ellipsoid((0.1, 0.2, 9)).inflated(0.5)])
def test_the_box_of_a_long_rounded_shape_is_that_of_its_core(shape) -> None:
    given = parts_of(shape).given
    half = 0.5 * (shape.bounds[1] - shape.bounds[0])
    np.testing.assert_allclose(given.boxes[0, 3:6] + given.rim, half, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 5, 40, 300])
def test_every_box_holds_its_parts(count: int) -> None:
    """Boxes of the nodes, with their rims, hold what is below them; every part is below one leaf."""
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
            own = parts.boxes(np.arange(first, first + some)) if child < 0 else None
            if own is None:
                low = (boxes[child : child + 2, :3] - boxes[child : child + 2, 3:6]).min(axis=0) - rim
                high = (boxes[child : child + 2, :3] + boxes[child : child + 2, 3:6]).max(axis=0) + rim
            else:
                low, high = own[:, :3].min(axis=0), own[:, 3:].max(axis=0)
            slack = 1e-8 * (np.abs(low).max() + np.abs(high).max() + 1.0)
            assert (boxes[node, :3] - boxes[node, 3:6] - rim <= low + slack).all()
            assert (boxes[node, :3] + boxes[node, 3:6] + rim >= high - slack).all()


def test_one_mesh_serves_many_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    rng = np.random.default_rng(11)
    shapes = [some_shape(rng) for _ in range(6)]
    poses = [at(*rng.uniform(-1, 1, 3), rotation=Rotation.random(rng=rng)) for _ in range(40)]

    def ask(shape: gk.Shape) -> list[Any]:
        return [(gk.collide(TORUS, shape, None, p), gk.distance(TORUS, shape, None, p).distance) for p in poses]

    alone = [ask(shape) for shape in shapes]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, shapes * 3)) == alone * 3
