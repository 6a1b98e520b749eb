"""Meshes in collide, distance and signed_distance, and queries that only meshes support."""

from __future__ import annotations

from fractions import Fraction

import fcl
import numpy as np
import pytest
import pyvista as pv
import trimesh
from message_checks import assert_names
from numpy.typing import NDArray
from pyvista import examples
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.bvh import tree_of
from tests.bodies.exact_triangles import distance_by_planes, triangles_meet

Array = NDArray[np.float64]


def from_trimesh(mesh: trimesh.Trimesh) -> gk.Mesh:
    return gk.Mesh(mesh.vertices, mesh.faces)


def shipped(name: str) -> gk.Mesh:
    """Return a mesh that comes with pyvista."""
    data = pv.read(getattr(examples, name)).triangulate().extract_surface(algorithm="dataset_surface")
    return gk.Mesh(data.points.astype(float), data.faces.reshape(-1, 4)[:, 1:])


def pose_of(rotation: Rotation | None = None, move: object = (0, 0, 0)) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = move
    if rotation is not None:
        pose[:3, :3] = rotation.as_matrix()
    return pose


def soup(rng: np.random.Generator, count: int, size: float = 0.5) -> gk.Mesh:
    """Return random triangles in a cube, some of which degenerate to a line or a point."""
    v = rng.uniform(-1, 1, (count, 1, 3)) + rng.normal(size=(count, 3, 3)) * size
    v[::7, 2] = v[::7, 1]
    v[::11, :] = v[::11, :1]
    return gk.Mesh(v.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


CUBE = from_trimesh(trimesh.creation.box((1, 1, 1)))
TORUS = from_trimesh(trimesh.creation.torus(1.0, 0.3, major_sections=24, minor_sections=12))


@pytest.mark.parametrize("count", [1, 2, 3, 50, 1000])
def test_every_box_contains_its_triangles(count: int) -> None:
    tree = tree_of(soup(np.random.default_rng(count), count))
    assert sorted(tree.order.tolist()) == list(range(count))
    for box, (first, start, size) in zip(tree.boxes, tree.links, strict=True):
        axes = box[6:15].reshape(3, 3)
        assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-12)
        points = tree.corners[start : start + size].reshape(-1, 3)
        assert (np.abs((points - box[:3]) @ axes.T) <= box[3:6]).all()
        if first >= 0:
            assert tree.links[first, 2] + tree.links[first + 1, 2] == size


def test_many_triangles_at_one_place() -> None:
    mesh = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)] * 5000)
    assert len(gk.meeting_faces(mesh, CUBE)) > 0
    assert gk.distance(mesh, CUBE, None, pose_of(move=(0, 0, 3))).distance == pytest.approx(2.5, rel=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_results_match_every_pair_of_triangles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = soup(rng, 30, 0.3), soup(rng, 25, 0.3)
    move = rng.normal(size=3) * (0.5 if seed % 2 else 2.5)
    pose = pose_of(move=move)
    ta, tb = a.vertices[a.faces], b.vertices[b.faces] + move
    wide = [np.linalg.norm(np.cross(t[1] - t[0], t[2] - t[0])) > 0 for t in (*ta, *tb)]
    hits = {tuple(row) for row in gk.meeting_faces(a, b, None, pose).tolist()}
    for i, s in enumerate(ta):
        for j, t in enumerate(tb):
            if wide[i] and wide[len(ta) + j]:
                assert ((i, j) in hits) == triangles_meet(s, t), (i, j)
    if not hits:
        truth = min(distance_by_planes(s, t) for s in ta for t in tb)
        result = gk.distance(a, b, None, pose)
        assert result.distance == pytest.approx(truth, rel=1e-9)
        assert result.lower <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= result.upper
        i, j = gk.nearest_faces(a, b, None, pose)
        assert distance_by_planes(ta[i], tb[j]) == pytest.approx(truth, rel=1e-9)


def in_fcl(mesh: gk.Mesh) -> fcl.BVHModel:
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.faces))
    model.addSubModel(mesh.vertices, mesh.faces)
    model.endModel()
    return model


@pytest.mark.parametrize(("one", "two"), [("nutfile", "nutfile"), ("antfile", "spherefile"), ("planefile", "antfile")])
def test_agrees_with_fcl_on_shipped_meshes(one: str, two: str) -> None:
    a, b = shipped(one), shipped(two)
    models = in_fcl(a), in_fcl(b)
    rng = np.random.default_rng(3)
    size = float(np.linalg.norm(np.ptp(a.bounds, axis=0)) + np.linalg.norm(np.ptp(b.bounds, axis=0)))
    booleans = []
    for _ in range(40):
        rotation = Rotation.random(rng=rng)
        offset = rng.normal(size=3)
        move = a.bounds.mean(axis=0) - rotation.apply(b.bounds.mean(axis=0)) + offset * size * rng.uniform(0, 0.3)
        pose = pose_of(rotation, move)
        objects = (
            fcl.CollisionObject(models[0], fcl.Transform()),
            fcl.CollisionObject(models[1], fcl.Transform(rotation.as_matrix(), move)),
        )
        met = fcl.collide(*objects, fcl.CollisionRequest(), fcl.CollisionResult()) > 0
        assert (len(gk.meeting_faces(a, b, None, pose)) > 0) == met
        booleans.append(met)
        result = gk.signed_distance(a, b, None, pose)
        of_b, of_a = pose[:3, :3] @ b.vertices[0] + pose[:3, 3], (a.vertices[0] - pose[:3, 3]) @ pose[:3, :3]
        within = any(bool(mesh.is_watertight and mesh.contains(p)) for mesh, p in ((a, of_b), (b, of_a)))
        assert (result.distance <= 0) == (met or within)  # a contained mesh overlaps without intersecting faces
        far = 0.0 if met or within else fcl.distance(*objects, fcl.DistanceRequest(), fcl.DistanceResult())
        assert max(result.distance, 0.0) == pytest.approx(far, rel=1e-9)
    assert 0 < sum(booleans) < 40


def winding(mesh: gk.Mesh, points: Array) -> Array:
    v = mesh.vertices[mesh.faces][None] - points[:, None, None]
    length = np.linalg.norm(v, axis=3)
    a, b, c = v[:, :, 0], v[:, :, 1], v[:, :, 2]
    det = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
    la, lb, lc = length[:, :, 0], length[:, :, 1], length[:, :, 2]
    div = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
    total: Array = np.arctan2(det, div).sum(axis=1) / (2 * np.pi)
    return total


@pytest.mark.parametrize("mesh", [CUBE, TORUS, shipped("nutfile")], ids=["cube", "torus", "nut"])
def test_contains_matches_the_winding_number(mesh: gk.Mesh) -> None:
    rng = np.random.default_rng(1)
    low, high = mesh.bounds
    points = rng.uniform(low - 0.1, high + 0.1, (500, 3))
    # rays from these points pass through corners, along edges and within faces
    middle = 0.5 * (low + high)
    some = np.concatenate([points, middle + 0.5 * (mesh.vertices[:50] - middle), middle[None]])
    turns = winding(mesh, some)
    clear = np.abs(np.abs(turns) - 0.5) > 0.01
    assert np.array_equal(mesh.contains(some)[clear], np.abs(turns[clear]) > 0.5)
    assert clear.mean() > 0.9


def test_cavity_is_outside() -> None:
    inner = gk.Mesh(CUBE.vertices * 0.5, CUBE.faces[:, ::-1])
    shell = gk.Mesh(np.vstack([CUBE.vertices, inner.vertices]), np.vstack([CUBE.faces, inner.faces + 8]))
    assert shell.contains([(0, 0, 0), (0.4, 0, 0), (0.6, 0, 0)]).tolist() == [False, True, False]
    assert not gk.collide(shell, gk.Sphere(0.2))
    assert gk.collide(shell, gk.Sphere(0.3))
    assert not gk.collide(shell, from_trimesh(trimesh.creation.icosphere(radius=0.2)))
    assert gk.distance(shell, gk.Sphere(0.2)).distance == pytest.approx(0.05, rel=1e-12)


def test_open_mesh_contains_no_point() -> None:
    bowl = gk.Mesh(CUBE.vertices, CUBE.faces[:-2])
    assert not gk.collide(bowl, gk.Sphere(0.1))
    with pytest.raises(gk.errors.ShapeError, match="open edges"):
        bowl.contains((0, 0, 0))


@pytest.mark.parametrize("mesh", [CUBE, TORUS, shipped("nutfile")], ids=["cube", "torus", "nut"])
@pytest.mark.parametrize("seed", range(8))
def test_laws(mesh: gk.Mesh, seed: int) -> None:
    """Signs, bounds and swapped calls agree, and the separating translation separates the bodies."""
    rng = np.random.default_rng(seed)
    size = float(np.linalg.norm(np.ptp(mesh.bounds, axis=0)))
    others = [
        gk.Mesh(TORUS.vertices * size / 4, TORUS.faces), gk.Sphere(size / 8), gk.Box((size / 9, size / 3, size / 20)),
        gk.Capsule(size / 20, size / 2),
    ]  # fmt: skip
    for shape in others:
        pose = pose_of(Rotation.random(rng=rng), mesh.bounds.mean(axis=0) + rng.normal(size=3) * size * 0.3)
        result = gk.signed_distance(mesh, shape, None, pose)
        assert result.lower <= result.distance <= result.upper
        error = result.point_b - result.point_a - result.distance * result.normal
        assert np.linalg.norm(error) <= 1e-12 * size * 4
        back = gk.signed_distance(shape, mesh, pose, None)
        assert back.status == result.status
        assert back.lower <= result.upper
        assert result.lower <= back.upper
        assert gk.collide(mesh, shape, None, pose) == (result.distance <= 0)
        if result.distance < 0:
            free = pose.copy()
            free[:3, 3] += result.normal * (result.depth + 1e-9 * size)
            assert not gk.collide(mesh, shape, None, free)
            # no translation shorter than the lower bound of the depth separates it
            for _ in range(20):
                way = rng.normal(size=3)
                part = pose.copy()
                part[:3, 3] += way / np.linalg.norm(way) * max(0.0, -result.upper - 1e-9 * size)
                assert gk.collide(mesh, shape, None, part)
        else:
            assert result.lower > 0
            assert result.tight
            near = gk.distance(mesh, shape, None, pose)
            assert near.distance == pytest.approx(result.distance, rel=1e-12)


def test_box_mesh_matches_a_box() -> None:
    rng = np.random.default_rng(9)
    for _ in range(60):
        pose = pose_of(Rotation.random(rng=rng), rng.normal(size=3))
        for shape in (gk.Box((0.5, 1, 0.3)), gk.Sphere(0.4), gk.Cylinder(0.3, 1.0), gk.Halfspace((0, 0, 1), -0.3)):
            solid, mesh = (
                gk.signed_distance(gk.Box((1, 1, 1)), shape, None, pose),
                gk.signed_distance(CUBE, shape, None, pose),
            )
            assert mesh.lower <= solid.upper
            assert solid.lower <= mesh.upper
            assert mesh.distance == pytest.approx(solid.distance, abs=1e-9)


def test_stacks_margins_limits_and_the_common_point() -> None:
    poses = np.array([pose_of(move=(x, 0, 0)) for x in (0.5, 1.0, 1.5)])
    assert gk.collide(CUBE, CUBE, None, poses).tolist() == [True, True, False]
    assert gk.collide(CUBE, CUBE, None, poses, margin=0.6).tolist() == [True, True, True]
    assert gk.collide(CUBE, CUBE, None, poses, margin=-0.2).tolist() == [True, False, False]
    result = gk.signed_distance(CUBE, CUBE, None, poses)
    assert result.distance == pytest.approx([-0.5, 0.0, 0.5], abs=1e-12)
    assert [gk.Status(s) for s in result.status] == [gk.Status.OVERLAPPING, gk.Status.TOUCHING, gk.Status.SEPARATED]
    assert gk.distance(CUBE, CUBE, None, poses[2], max_distance=0.1).status == gk.Status.BEYOND
    for pose in (poses[0], poses[1], pose_of(move=(0.1, 0.2, 0.3))):
        common = gk.distance(CUBE, CUBE, None, pose)
        assert common.distance == 0
        assert np.array_equal(common.point_a, common.point_b)
        assert (np.abs(common.point_a) <= 0.5 + 1e-12).all()
        assert (np.abs(common.point_b - pose[:3, 3]) <= 0.5 + 1e-12).all()


def test_intersection_curve_as_segments() -> None:
    segments = gk.intersection_curve(CUBE, CUBE, None, pose_of(move=(0.5, 0.5, 0.5)))
    assert np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).sum() == pytest.approx(6 * 0.5)
    for face in (gk.intersection_curve(CUBE, CUBE, None, pose_of(move=(3, 0, 0))),):
        assert face.shape == (0, 2, 3)


def test_refit_moves_the_boxes() -> None:
    tree_of(TORUS)
    moved = TORUS.refit(TORUS.vertices * (1.0, 2.0, 0.5) + (5.0, 0.0, 0.0))
    fresh = gk.Mesh(moved.vertices, moved.faces)
    for pose in (pose_of(move=(6, 0, 0)), pose_of(move=(5, 2.0, 0)), pose_of(move=(0, 0, 0))):
        assert gk.collide(moved, CUBE, None, pose) == gk.collide(fresh, CUBE, None, pose)
        assert gk.distance(moved, CUBE, None, pose).distance == pytest.approx(
            gk.distance(fresh, CUBE, None, pose).distance
        )
    with pytest.raises(gk.errors.ShapeError, match="refit"):
        TORUS.refit([(0, 0, 0)] * 1000)


def test_bodies_of_a_mesh() -> None:
    mesh = gk.Mesh(np.vstack([CUBE.vertices, CUBE.vertices + 5]), np.vstack([CUBE.faces, CUBE.faces + 8]))
    parts = mesh.bodies()
    assert [len(p.faces) for p in parts] == [12, 12]
    assert parts[1].bounds.min() == 4.5
    assert len(shipped("antfile").bodies()) == 15


def test_distance_far_from_the_origin_and_at_other_sizes() -> None:
    for scale in (1e-6, 1e6):
        big = gk.Mesh(CUBE.vertices * scale, CUBE.faces)
        assert gk.signed_distance(big, big, None, pose_of(move=(1.5 * scale, 0, 0))).distance == pytest.approx(
            0.5 * scale
        )
    away = gk.Mesh(CUBE.vertices + 1e6, CUBE.faces)
    result = gk.signed_distance(away, away, None, pose_of(move=(1.25, 0, 0)))
    assert result.lower <= 0.25 <= result.upper
    assert result.distance == pytest.approx(0.25, abs=1e-7)


def test_unsupported_mesh_queries_raise() -> None:
    for query in (
        lambda: gk.separating_axis(CUBE, CUBE),
        lambda: gk.signed_distance(CUBE, CUBE, trace=True),
        lambda: gk.meeting_faces(gk.Sphere(1), gk.Sphere(1)),
        lambda: gk.collide(CUBE, "mesh"),
    ):  # fmt: skip
        with pytest.raises(gk.errors.Gjk3dError, match=r"mesh|Mesh|hull|shape"):
            query()


def cone(count: int) -> gk.Mesh:
    """Return a cone whose triangles all share the tip or the centre of the base."""
    t = np.linspace(0, 2 * np.pi, count, endpoint=False)
    points = np.vstack([[(0, 0, 1), (0, 0, 0)], np.column_stack([np.cos(t), np.sin(t), 0 * t])])
    i = np.arange(count) + 2
    j = np.roll(i, -1)
    return gk.Mesh(points, np.vstack([np.column_stack([0 * i, i, j]), np.column_stack([0 * i + 1, j, i])]))


def test_many_triangles_at_one_corner() -> None:
    """Millions of pairs intersect: a depth uses some of them, and a list has its limit."""
    many = cone(3000)
    flip = np.diag([1.0, -1.0, -1.0, 1.0])
    flip[2, 3] = 2.0
    touch, same = gk.signed_distance(many, many, None, flip), gk.signed_distance(many, many)
    assert abs(touch.distance) < 1e-12
    assert same.status == gk.Status.OVERLAPPING
    assert same.distance == pytest.approx(-1.0, rel=1e-9)


def test_a_slim_convex_mesh_away_from_the_middle_of_its_box() -> None:
    tet = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    result = gk.signed_distance(tet, tet)
    assert result.status == gk.Status.OVERLAPPING
    assert result.tight
    assert result.distance == pytest.approx(-1 / np.sqrt(3), rel=1e-9)


def test_intersection_curve_as_polylines() -> None:
    pose = pose_of(Rotation.from_rotvec((0.3, 0.2, 0.1)), (0.4, 0.1, 0.2))
    segments = gk.intersection_curve(TORUS, CUBE, None, pose)
    lines = gk.intersection_curve(TORUS, CUBE, None, pose, join=True)
    assert len(lines) < len(segments) / 4
    assert all(np.array_equal(line[0], line[-1]) for line in lines)  # closed surfaces intersect in closed curves
    length = sum(np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines)
    assert length == pytest.approx(np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).sum(), rel=1e-9)
    flat = gk.Mesh([(-5, -5, 0), (5, -5, 0), (0, 5, 0)], [(0, 1, 2)])
    ring = gk.intersection_curve(CUBE, flat, None, pose_of(move=(0, 0, 0.25)), join=True)
    assert len(ring) == 1
    assert np.linalg.norm(np.diff(ring[0], axis=0), axis=1).sum() == pytest.approx(4.0)
    assert gk.intersection_curve(CUBE, CUBE, None, pose_of(move=(3, 0, 0)), join=True) == []


def test_scaled_or_mirrored_poses_raise() -> None:
    shell = gk.Shell(CUBE, 0.1)
    for factors, fragments in (
        ((2, 2, 2), ("(2, 2, 2)", "shape.scaled")),
        ((1, 1, -1), ("determinant -1", "shape.scaled((-1, 1, 1))")),
    ):
        pose = np.diag([*map(float, factors), 1.0])
        for body in (CUBE, shell, gk.Compound([(CUBE, None)])):
            for query in (gk.collide, gk.distance, gk.signed_distance, gk.contact):
                with pytest.raises(gk.errors.PoseError) as caught:
                    query(body, gk.Sphere(1), pose)
                assert_names(caught.value, *fragments)
                with pytest.raises(gk.errors.PoseError) as caught:
                    query(gk.Plane((0, 0, 1)), body, None, pose)
                assert_names(caught.value, *fragments)
    assert gk.distance(CUBE.scaled(2), gk.Point((9, 0, 0))).distance > 0.0


@pytest.mark.parametrize("size", [1.0, 1e3, 1e-20])
@pytest.mark.parametrize("share", [1e-9, 1e-11, 1e-12, 3e-13])
@pytest.mark.parametrize("what", ["triangles", "cubes", "cube and shape"])
def test_distance_of_nearby_parallel_faces(what: str, share: float, size: float) -> None:
    """At a gap of a few roundings, the vector between two points is tilted, but the face normals are not."""
    gap = share * size
    face = gk.Mesh(size * np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), [(0, 1, 2)])
    box = gk.Box((size, size, size))
    cube = gk.Mesh(*box.surface())
    a, b = {"triangles": (face, face), "cubes": (cube, cube), "cube and shape": (cube, box)}[what]
    pose = np.eye(4)
    pose[:3, 3] = 0.1 * size, 0.2 * size, gap if what == "triangles" else size + gap
    true = Fraction(pose[2, 3]) - (0 if what == "triangles" else Fraction(size))
    for x, y, poses in ((a, b, (None, pose)), (b, a, (pose, None))):
        result = gk.distance(x, y, *poses)
        assert result.lower <= true <= result.upper
        assert result.upper - result.lower <= 2e-13 * size
        assert result.lower > 0.0


@pytest.mark.parametrize("name", ["hull", "cylinder", "cone", "ellipsoid"])
@pytest.mark.parametrize("kind", ["mesh", "cloud"])
def test_shape_in_a_corner_of_its_box_matches_each_part(name: str, kind: str) -> None:
    # many parts are in the box around the shape but not near the shape, so axes of the shape itself separate them
    rng = np.random.default_rng(5)
    points = rng.normal(size=(60, 3))
    shape = {
        "hull": gk.ConvexHull(points / np.linalg.norm(points, axis=1)[:, None] * (1.0, 0.6, 0.4)),
        "cylinder": gk.Cylinder(0.6, 1.2), "cone": gk.Cone(0.7, 1.4), "ellipsoid": gk.Ellipsoid((1.0, 0.6, 0.4)),
    }[name]  # fmt: skip
    ball = trimesh.creation.icosphere(3)
    rough = ball.vertices * (1.0 + 0.1 * np.sin(7.0 * ball.vertices[:, :1]) * np.cos(5.0 * ball.vertices[:, 1:2]))
    if kind == "mesh":
        body, parts = gk.Mesh(rough, ball.faces), [(gk.Triangle(rough[face]), None) for face in ball.faces]
    else:
        body, parts = gk.PointCloud(rough, 0.01), [(gk.Sphere(0.01), pose_of(move=center)) for center in rough]
    touching = 0
    for _ in range(20):
        pose = np.eye(4)
        pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
        direction = rng.normal(size=3)
        pose[:3, 3] = direction / np.linalg.norm(direction) * rng.uniform(1.3, 2.2)
        distances = [gk.distance(part, shape, place, pose) for part, place in parts]
        lower, upper = min(d.lower for d in distances), min(d.upper for d in distances)
        result = gk.distance(body, shape, pose_b=pose)
        assert result.lower <= upper + 1e-12
        assert result.upper >= lower - 1e-12
        assert gk.collide(body, shape, pose_b=pose) == (upper <= 0.0)
        for margin in (0.5 * lower, lower - 1e-6, upper + 1e-6):
            assert upper <= 0.0 or gk.collide(body, shape, pose_b=pose, margin=margin) == (margin > lower)
        touching += upper <= 0.0
    assert 3 < touching < 17
