"""Infinitely thin planes with every kind of shape and body, compared with spans along their normal in plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import ShapeError, UnboundedShapeError, UnsupportedPair
from tests.bodies.every_kind import BOUNDED, Known
from tests.bodies.random_shapes import anywhere, at, some_shape

Array = NDArray[np.float64]


def reference_distance(parts: list[Array], radius: float, normal: Array, offset: float) -> float:
    """Return the signed distance of the plane to the union of the spans of the parts along its normal."""
    heights = [points @ normal - offset for points in parts]
    spans = sorted((h.min() - radius, h.max() + radius) for h in heights)
    merged = [list(spans[0])]
    for low, high in spans[1:]:
        if low <= merged[-1][1] + 1e-9:  # touching spans are merged
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    return min(max(low, -high) for low, high in merged)


def in_world(plane: gk.Plane, pose: Array) -> tuple[Array, float]:
    normal = pose[:3, :3] @ plane.normal
    return normal, plane.offset + float(normal @ pose[:3, 3])


def check(plane: gk.Plane, known: Known, pose_a: Array, pose_b: Array, size: float = 1.0) -> float:
    """Compare every result with the reference implementation; return the reference distance."""
    normal, offset = in_world(plane, pose_a)
    truth = reference_distance(known.placed(pose_b), known.radius, normal, offset)
    error = 1e-11 * size
    for args, sign in (((plane, known.body, pose_a, pose_b), 1.0), ((known.body, plane, pose_b, pose_a), -1.0)):
        signed, unsigned = gk.signed_distance(*args), gk.distance(*args)
        assert signed.lower - error <= truth <= signed.upper + error
        assert unsigned.lower - error <= max(truth, 0.0) <= unsigned.upper + error
        assert signed.distance == pytest.approx(truth, abs=error) or not signed.tight
        assert unsigned.distance == pytest.approx(max(truth, 0.0), abs=error)
        assert abs(abs(signed.normal @ normal) - 1.0) < 1e-12
        for result in (signed, unsigned):
            assert np.abs(result.point_b - result.point_a - result.distance * result.normal).max() < error
            assert abs((result.point_a if sign > 0 else result.point_b) @ normal - offset) < error
        if abs(truth) > error:
            assert gk.collide(*args) == (truth < 0.0)
            assert signed.status == (gk.Status.OVERLAPPING if truth < 0.0 else gk.Status.SEPARATED)
            assert gk.collide(*args, margin=truth + error)
            assert not gk.collide(*args, margin=truth - error)
            away = (max(-signed.distance, 0.0) + 3.0 * error) * signed.normal  # which separates b
            free = at(*(args[3][:3, 3] + away))
            free[:3, :3] = args[3][:3, :3]
            assert not gk.collide(*args[:3], free)
    return truth


@pytest.mark.parametrize("kind", [*BOUNDED, "bottomed", "shell"])
@given(seed=st.integers(0, 2**32 - 1), off=st.sampled_from([0.0, 1.0, 1e3]))
def test_every_body_next_to_a_plane_matches_the_reference(kind: str, seed: int, off: float) -> None:
    rng = np.random.default_rng(seed)
    known = bodies(kind, seed % 7)
    pose_b = anywhere(rng, 1.0)
    pose_b[:3, 3] += off
    pose_a = anywhere(rng, 1.0)
    pose_a[:3, 3] += off
    check(gk.Plane(rng.normal(size=3), rng.normal() * 0.3), known, pose_a, pose_b, 1.0 + off)


def bodies(kind: str, seed: int) -> Known:
    if kind in BOUNDED:
        return BOUNDED[kind]() if kind == "solid" else BOUNDED[kind](seed)
    rng = np.random.default_rng(seed)
    if kind == "shell":
        corners = rng.uniform(-1, 1, (12, 1, 3)) + 0.3 * rng.normal(size=(12, 3, 3))
        mesh = gk.Mesh(corners.reshape(-1, 3), np.arange(36).reshape(-1, 3))
        return Known(gk.Shell(mesh, 0.1), list(corners), 0.05)
    heights = rng.random((4, 3))
    field = gk.HeightField(heights, (0.5, 0.3), (-1.0, 0.2), bottom=-0.2)
    return Known(field, [field.surface().vertices])


def test_distance_of_a_plane_between_two_pieces_is_the_gap() -> None:
    """The hull crosses the plane but the body does not."""
    compound = gk.Compound([(gk.Box((1, 1, 1)), at(0, 0, 1)), (gk.Sphere(0.5), at(0, 0, -1))])
    for body in (compound, gk.Mesh(*compound.surface(16))):
        between = gk.signed_distance(gk.Plane((0, 0, 2), 0.2), body)
        assert between.distance == pytest.approx(0.4, abs=1e-12)
        assert between.normal == pytest.approx((0, 0, 1), abs=1e-12)
        assert not gk.collide(gk.Plane((0, 0, 1), 0.1), body)
        deep = gk.signed_distance(gk.Plane((0, 0, 1), 0.7), body)
        assert deep.distance == pytest.approx(-0.2, abs=1e-12)
        assert deep.normal == pytest.approx((0, 0, 1), abs=1e-12)


def test_shapes_in_a_plane_or_touching_it() -> None:
    plane = gk.Plane((0, 0, 1), 2.0)
    flat = gk.Mesh([(0, 0, 2), (1, 0, 2), (0, 1, 2)], [(0, 1, 2)])
    for shape in (flat, gk.Point((3, 4, 2)), gk.Triangle(flat.vertices), gk.PointCloud([(5, 5, 2)], 0.0)):
        result = gk.signed_distance(plane, shape)
        assert result.status == gk.Status.TOUCHING
        assert result.distance == pytest.approx(0.0, abs=1e-13)
        assert gk.collide(plane, shape)
    for z, sign in ((2.5, 1.0), (1.5, -1.0)):
        for shape in (gk.Sphere(0.5), gk.PointCloud([(0, 0, 0)], 0.5), gk.Compound([(gk.Box((1, 1, 1)), None)])):
            result = gk.signed_distance(plane, shape, None, at(3, 0, z))
            assert result.status == gk.Status.TOUCHING
            assert result.normal == pytest.approx((0, 0, sign), abs=1e-12)
    cubes = gk.VoxelGrid(np.ones((1, 1, 3)), 1.0)  # touching cubes are one piece, even if the plane is between them
    assert gk.signed_distance(gk.Plane((0, 0, 1), 1.0), cubes).distance == pytest.approx(-1.0, abs=1e-12)
    assert gk.signed_distance(plane, gk.Sphere(0.5), None, at(1e8, 1e8, 2.75)).distance == pytest.approx(0.25, abs=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_plane_distance_is_the_greater_of_two_half_spaces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape, poses = some_shape(rng), np.stack([anywhere(rng, 1.0) for _ in range(8)])
    normal, offset, plane_pose = rng.normal(size=3), rng.normal(), anywhere(rng, 1.0)
    plane = gk.Plane(normal, offset)
    up, down = (gk.Halfspace(s * normal, s * offset) for s in (1.0, -1.0))
    above, below = (gk.signed_distance(half, shape, plane_pose, poses) for half in (up, down))
    result = gk.signed_distance(plane, shape, plane_pose, poses)
    turned = gk.signed_distance(shape, plane, poses, plane_pose)
    over = above.distance >= below.distance
    np.testing.assert_array_equal(result.distance, np.maximum(above.distance, below.distance))
    np.testing.assert_array_equal(result.lower, np.maximum(above.lower, below.lower))
    np.testing.assert_array_equal(result.upper, np.maximum(above.upper, below.upper))
    np.testing.assert_array_equal(result.normal, np.where(over[:, None], above.normal, below.normal))
    np.testing.assert_array_equal(result.point_b, np.where(over[:, None], above.point_b, below.point_b))
    np.testing.assert_array_equal(turned.distance, result.distance)
    np.testing.assert_array_equal(turned.normal, -result.normal)
    np.testing.assert_array_equal(gk.collide(plane, shape, plane_pose, poses), ~(result.lower > 0.0))
    pairs = gk.Pairs([plane, shape]).signed_distance([(0, 1)] * 8, np.stack([np.stack([plane_pose, p]) for p in poses]))
    np.testing.assert_array_equal(pairs.distance, result.distance)
    for k in range(8):
        assert gk.verify(result[k], plane, shape, plane_pose, poses[k]).proven
        certified = gk.signed_distance(shape, plane, poses[k], plane_pose, certificate=True)
        assert gk.verify(certified, shape, plane, poses[k], plane_pose).proven
        wrong = gk.verify(result[k], gk.Plane(normal, offset + 0.01), shape, plane_pose, poses[k])
        assert wrong.refuted


def test_rays_hit_a_plane_from_both_sides() -> None:
    plane = gk.Plane((0, 0, 1), 1.0)
    hits = gk.raycast(
        plane, [(0, 0, 5), (0, 0, -1), (0, 0, 5), (2, 3, 1)], [(0, 0, -1), (0, 1, 1), (1, 0, 0), (0, 0, 1)]
    )
    assert hits.hit.tolist() == [True, True, False, True]
    assert hits.inside.tolist() == [False, False, False, True]
    np.testing.assert_allclose(hits.distance, [4.0, 2.0 * np.sqrt(2.0), np.inf, 0.0])
    np.testing.assert_allclose(hits.normal[:2], [(0, 0, 1), (0, 0, -1)])
    scene = gk.Scene()
    scene.add("plane", plane)
    scene.add("ball", gk.Sphere(0.5), at(0, 0, -2))
    assert scene.raycast((0, 0, -9), (0, 0, 1)).name == "ball"
    assert scene.raycast((1, 0, -9), (0, 0, 1)).name == "plane"
    assert scene.raycast((1, 0, -9), (0, 0, 1)).distance == pytest.approx(10.0)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["convex", "compound", "mesh", "cloud"]))
def test_time_of_impact_with_a_plane(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    shape = some_shape(rng) if kind == "convex" else BOUNDED[kind](seed % 5, 0.5).body
    plane, moving = gk.Plane(rng.normal(size=3), 0.1), gk.Motion(None, rng.normal(size=3) * 0.3)
    motion = gk.Motion(anywhere(rng, 2.0), 4.0 * rng.normal(size=3), rng.normal(size=3))
    clearance = 0.01 * (seed % 2)
    hit = gk.time_of_impact(plane, shape, moving, motion, clearance=clearance)
    turned = gk.time_of_impact(shape, plane, motion, moving, clearance=clearance)
    assert turned.status == hit.status
    start = gk.signed_distance(plane, shape, moving.at(0.0), motion.at(0.0))
    if hit.status == gk.ImpactStatus.OVERLAPPING:
        assert start.lower <= clearance
        return
    end = 1.0 if hit.status == gk.ImpactStatus.FREE else hit.time[0]
    times = np.linspace(0.0, end, 40)
    assert (gk.distance(plane, shape, moving.at(times), motion.at(times)).upper > clearance - 1e-9).all()
    if hit.status == gk.ImpactStatus.HIT:
        at_hit = gk.distance(plane, shape, moving.at(hit.time[1]), motion.at(hit.time[1]))
        assert at_hit.lower <= clearance + 1e-9


def test_contacts_gradients_and_scenes_with_a_plane() -> None:
    wall, box = gk.Plane((1, 0, 0), 0.0), gk.Box((1, 1, 1))
    mesh = gk.Mesh(*box.surface())
    for shape in (box, mesh, gk.Compound([(box, None)])):
        for x in (0.45, -0.45):
            contact = gk.contact(wall, shape, None, at(x, 0, 0))
            assert len(contact.points_b) >= 4
            assert np.abs(contact.normal @ (np.sign(x), 0, 0)) == pytest.approx(1.0)
            result = gk.signed_distance(
                wall, shape, None, at(x, 0.1, 0, rotation=Rotation.from_euler("xyz", [0.1, 0.2, 0.3]))
            )
            slopes = gk.gradient(result)
            assert slopes.unique
            assert slopes.b[:3] == pytest.approx((np.sign(x), 0, 0), abs=1e-9)
    middle = gk.gradient(
        gk.signed_distance(wall, box, None, at(0, 0, 0, rotation=Rotation.from_euler("xyz", [0.1, 0.2, 0.3])))
    )
    assert not middle.unique
    scene = gk.Scene()
    scene.add("wall", wall)
    for k, x in enumerate((-3.0, -0.3, 0.6, 5.0)):
        scene.add(f"box {k}", mesh if k % 2 else box, at(x, 3.0 * k, 0))
    assert scene.collisions() == [("box 1", "wall")] or scene.collisions() == [("wall", "box 1")]
    assert set(scene.clearance().pair or ()) == {"box 1", "wall"}
    scene.remove("box 1")
    assert scene.clearance().distance == pytest.approx(0.1, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_contact_normals_are_those_of_the_plane(seed: int) -> None:
    """A side face of a voxel is not a normal of the plane, and the plane has no rim."""
    rng = np.random.default_rng(seed)
    grid = gk.VoxelGrid(rng.random((2, 2, 2)) < 0.7, 1.0)
    normal = rng.normal(size=3)
    plane = gk.Plane(normal, float(rng.uniform(-1.0, 1.0)))
    result = gk.contact(grid, plane)
    along = np.abs(result.normals @ plane.normal)
    assert along == pytest.approx(np.ones(result.count), abs=1e-9)


def test_contact_normals_are_those_of_the_plane_for_a_rare_grid() -> None:
    """A push past the rim of the square that replaces the plane was 12 times as long as the grid."""
    normal, offset = [-0.04400815345608534, -0.9437673130742478, 0.32766834024971103], -0.660107126280622
    result = gk.contact(gk.VoxelGrid([[[1, 1], [0, 1]], [[1, 1], [1, 0]]], 1.0), gk.Plane(normal, offset))
    assert np.abs(result.normals @ normal) == pytest.approx(np.ones(2), abs=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_scenes_with_a_plane_equal_pair_queries(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = {"plane": (gk.Plane(rng.normal(size=3), 0.2), anywhere(rng, 1.0))}
    for k in range(6):
        shapes[f"shape {k}"] = some_shape(rng), anywhere(rng, 2.0)
    for k, kind in enumerate(list(BOUNDED)[: seed % 6]):
        shapes[kind] = BOUNDED[kind](k, 0.5).body if kind != "solid" else BOUNDED[kind]().body, anywhere(rng, 3.0)
    scene = gk.Scene()
    for name, (shape, pose) in shapes.items():
        scene.add(name, shape, pose)
    plane, plane_pose = shapes.pop("plane")
    distances = {name: gk.signed_distance(plane, shape, plane_pose, pose) for name, (shape, pose) in shapes.items()}
    met = {name for pair in scene.collisions() if "plane" in pair for name in pair} - {"plane"}
    assert met == {name for name, signed in distances.items() if signed.lower <= 0.0}
    for name in shapes:
        scene.remove(name)
        guest = scene.clearance(*shapes[name])
        scene.add(name, *shapes[name])
        assert guest.distance <= distances[name].upper
    lonely = gk.Scene()
    lonely.add("plane", plane, plane_pose)
    for name, (shape, pose) in shapes.items():
        result = lonely.clearance(shape, pose)
        assert result.distance == pytest.approx(distances[name].distance, abs=1e-12)
        assert bool(lonely.collisions(shape, pose)) == (distances[name].lower <= 0.0)


def test_plane_properties_and_errors() -> None:
    plane = gk.Plane((0, 0, -2), 3.0)
    assert repr(plane) == "Plane(normal=[0.0, 0.0, -1.0], offset=1.5)"
    assert not hasattr(plane, "bounds")
    assert not hasattr(gk.Halfspace((1, 1, 0)), "bounds")
    assert plane.volume == 0.0
    assert plane.contains([(7, 8, -1.5), (7, 8, -1.6), (7, 8, -1.4)]).tolist() == [True, False, False]
    assert plane != gk.Halfspace((0, 0, -2), 3.0)
    assert plane.placed(at(0, 0, 2)) == gk.Plane((0, 0, -1), -0.5)
    assert plane.scaled(2.0).offset == 3.0
    assert plane.inflated(0.0) is plane
    with pytest.raises(UnboundedShapeError, match="large Box"):
        plane.inflated(0.1)
    for query in (gk.bounding_sphere, gk.obb, gk.aabb, lambda x: x.surface(), lambda x: x.support((0, 0, 1))):
        with pytest.raises(UnboundedShapeError, match=r"Plane.*large Box"):
            query(plane)
    with pytest.raises(ShapeError) as caught:
        gk.Plane((0, 0, 0))
    assert_names(caught.value, "Plane:", "normal", "[0, 0, 0]")
    for shape in (plane, gk.Halfspace((0, 0, 1))):
        with pytest.raises(UnsupportedPair, match=r"Plane.*large Box"):
            gk.collide(plane, shape)
    with pytest.raises(ShapeError) as caught:
        gk.Compound([(plane, None)])
    assert_names(caught.value, "parts[0]", "Plane", "gjk3d.Box")
    with pytest.raises(UnsupportedPair, match=r"Plane\b.*large Box"):
        gk.time_of_impact(plane, gk.Sphere(1), gk.Motion(None, angular=(1, 0, 0)))


def test_saved_results_replay_with_an_equal_plane(tmp_path: Any) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        plane = gk.Plane(rng.normal(size=3), rng.normal())
        result = gk.signed_distance(plane, BOUNDED["compound"]().body, None, anywhere(rng, 1.0))
        result.to_json(tmp_path / "case.json")
        replayed = gk.replay.run(tmp_path / "case.json")
        assert replayed.sameness is gk.replay.Sameness.SAME
        assert replayed.case.answer.shape_a == plane


BODIES = [make().body for make in BOUNDED.values()]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_far_pose_in_a_stack_does_not_change_other_rows(body: Any) -> None:
    """Each row has its own square in place of the plane, and its own rounding error."""
    rng, plane = np.random.default_rng(3), gk.Plane((0.6, 0.0, 0.8), 0.1)
    poses = np.stack([*(anywhere(rng, 1.0) for _ in range(6)), at(0, 0, 3e4), at(1e-9, 0, 0)])
    many, met = gk.signed_distance(body, plane, poses), gk.collide(body, plane, poses)
    near = gk.contact(plane, body, None, poses, within=0.3, max_points=None)
    start, end = poses.copy(), poses.copy()
    end[:, :3, 3] -= 3.0 * plane.normal * np.arange(1, 9)[:, None]
    hits = gk.time_of_impact(body, plane, gk.Motion.between(start, end))
    for k, pose in enumerate(poses):
        single, contact = (
            gk.signed_distance(body, plane, pose),
            gk.contact(plane, body, None, pose, within=0.3, max_points=None),
        )
        for field in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight"):
            np.testing.assert_array_equal(getattr(many[k], field), getattr(single, field), field)
        assert met[k] == gk.collide(body, plane, pose)
        np.testing.assert_array_equal(near[k].points_a, contact.points_a)
        np.testing.assert_array_equal(near[k].lower, contact.lower)
        hit = gk.time_of_impact(body, plane, gk.Motion.between(start[k], end[k]))
        np.testing.assert_array_equal(hits.time[k], hit.time)
        assert hits.status[k] == hit.status


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
@pytest.mark.parametrize("plane", [gk.Plane((0, 0, 1), 0.0), gk.Halfspace((0, 0, 1), 0.0)], ids=["plane", "half-space"])
def test_bodies_beyond_the_limit_are_proven_beyond(plane: Any, body: Any) -> None:
    """The lower bound once was the limit minus the error, so contacts took such bodies as near."""
    bottom = gk.aabb(body).low[2]
    for within in (0.0, 1e-3, 0.3, 5.0):
        poses = np.stack([at(0, 0, within - bottom + beyond) for beyond in (0.02, 1.0, 1e3)])
        result = gk.distance(body, plane, poses, max_distance=within)
        assert (result.status == gk.Status.BEYOND).all()
        assert (result.lower > within).all()
        assert (gk.contact(body, plane, poses, within=within).count == 0).all()
        assert not gk.collide(body, plane, poses, margin=within).any()
