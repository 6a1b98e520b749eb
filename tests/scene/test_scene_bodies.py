"""Scenes of meshes, compounds, voxels, point clouds, height fields and convex shapes, compared with every pair."""

from __future__ import annotations

import copy
import pickle

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import SceneError, ShapeError, UnsupportedPair

BLOCK = gk.Box((1, 1, 1)).surface()
ANGLE = gk.Mesh(
    np.vstack([BLOCK.vertices * (1, 0.3, 0.3), BLOCK.vertices * (0.3, 1, 0.3) + (0.65, 0.35, 0)]),
    np.vstack([BLOCK.faces, BLOCK.faces + len(BLOCK.vertices)]),
)
ROUND = gk.Sphere(0.5).surface(10)
HOLES = np.ones((3, 3, 3), dtype=bool)
HOLES[1, 1, :] = False
RNG = np.random.default_rng(3)
SOLIDS = [
    ANGLE,
    gk.Mesh(ROUND.vertices, ROUND.faces),
    gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]),
    gk.Compound([(gk.Box((1, 0.2, 0.2)), None), (gk.Box((0.2, 1, 0.2)), None)]),
    gk.VoxelGrid(HOLES, 0.25),
    gk.PointCloud(RNG.normal(size=(20, 3)) * 0.4, 0.05),
]
CONVEX = [gk.Box((0.4, 0.4, 0.4)), gk.Sphere(0.3), gk.ConvexHull(RNG.normal(size=(12, 3)) * 0.3)]
ENDLESS = {
    "ground": (gk.HeightField(RNG.uniform(-0.2, 0.2, (9, 9)), 0.5, (-2, -2)), np.eye(4)),
    "plane": (gk.Halfspace((0, 0, 1), -1.0), np.eye(4)),
}


def random_objects(seed, count, spread=0.9, endless=True):
    """Return name -> (shape, pose)."""
    rng = np.random.default_rng(seed)
    objects = {}
    for k in range(count):
        solids = SOLIDS if rng.random() < 0.7 else CONVEX
        pose = naive.pose(naive.random_rotations(rng, 1)[0], rng.uniform(-spread, spread, 3))
        objects[f"part {k}"] = solids[rng.integers(len(solids))], pose
    return {**objects, **ENDLESS} if endless else objects


def scene_of(objects, order=None):
    scene = gk.Scene()
    for name in order or objects:
        scene.add(name, *objects[name])
    return scene


def every_pair(objects, others=None):
    distances = {}
    for a, (solid_a, pose_a) in objects.items():
        for b, (solid_b, pose_b) in (objects if others is None else others).items():
            if (others is not None or a < b) and not (a in ENDLESS and b in ENDLESS):
                distances[a, b] = gk.signed_distance(solid_a, solid_b, pose_a, pose_b)
    return distances


def colliding(every, margin=0.0):
    return sorted(pair for pair, result in every.items() if not result.lower > margin)


def closest(every, within=np.inf, k=None):
    return sorted((r.distance, pair) for pair, r in every.items() if r.lower <= within)[:k]


def listed(result):
    return [(row.distance, (a, b)) for a, b, row in result]


@pytest.mark.parametrize("seed", range(4))
def test_queries_agree_with_every_pair(seed):
    objects = random_objects(seed, 14, endless=seed % 2 == 0)
    scene, every = scene_of(objects), every_pair(objects)
    hits = sum(not result.lower > 0.0 for result in every.values())
    assert 0.1 < hits / len(every) < 0.9
    for margin in (0.0, 0.2, -0.05):
        assert scene.collisions(margin=margin) == colliding(every, margin)
        assert scene.collides(margin=margin) == bool(colliding(every, margin))
    for within in (0.0, 0.3, -0.1):
        assert listed(scene.closest(within=within)) == closest(every, within)
    for k in (1, 7, 1000):
        assert listed(scene.closest(k=k)) == closest(every, k=k)
    least = scene.clearance()
    assert (least.distance, least.pair) == closest(every)[0]
    for a, b, row in scene.closest(k=20):
        for field in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status"):
            np.testing.assert_array_equal(getattr(row, field), getattr(every[a, b], field), f"{a} {b} {field}")


@pytest.mark.parametrize("spread", [6.0, 1000.0])
def test_sparse_scenes(spread):
    objects = random_objects(11, 14, spread, endless=False)
    scene, every = scene_of(objects), every_pair(objects)
    assert scene.collisions() == colliding(every)
    assert listed(scene.closest(k=3)) == closest(every, k=3)
    assert listed(scene.closest(within=2.0)) == closest(every, 2.0)


def test_scene_against_scene_shape_and_object():
    first, second = random_objects(5, 7), random_objects(6, 6, endless=False)
    scene, second_scene, every = scene_of(first), scene_of(second), every_pair(first, second)
    assert scene.collisions(second_scene) == colliding(every)
    assert listed(scene.closest(second_scene, k=9)) == closest(every, k=9)
    solid, pose = SOLIDS[0], naive.pose(np.eye(3), (0.2, 0.1, 0.3))
    every = every_pair(first, {None: (solid, pose)})
    assert scene.collisions(solid, pose) == sorted(colliding(every))
    assert scene.collides(solid, pose) == bool(colliding(every))
    assert listed(scene.closest(solid, pose, k=3)) == closest(every, k=3)
    ground = ENDLESS["ground"][0]
    objects = random_objects(5, 7, endless=False)
    assert scene_of(objects).collisions(ground) == colliding(every_pair(objects, {None: (ground, np.eye(4))}))
    distances = every_pair(first)
    for name in first:
        assert sorted(map(sorted, scene.collisions(name))) == [list(p) for p in colliding(distances) if name in p]


def bits(scene):
    close, touch, hits = scene.closest(k=12), scene.contacts(within=0.05), scene.raycast(*RAYS)
    arrays = [close.result.distance, close.result.lower, close.result.point_b, touch.result.points_a, touch.result.gaps]
    arrays += [touch.result.normals, hits.distance, hits.normal]
    return [scene.collisions(), close.pairs, touch.pairs, hits.name, [a.tobytes() for a in arrays]]


RAYS = RNG.uniform(-3, 3, (200, 3)), RNG.normal(size=(200, 3))


@pytest.mark.full
@given(seed=st.integers(0, 10_000), count=st.integers(0, 9))
def test_history_changes_no_bit(seed, count):
    objects = random_objects(seed, count)
    rng = np.random.default_rng(seed)
    plain = bits(scene_of(objects))
    shuffled = scene_of(objects, [list(objects)[k] for k in rng.permutation(len(objects))])
    assert bits(shuffled) == plain
    moved = scene_of({name: (solid, naive.pose(np.eye(3), rng.normal(size=3))) for name, (solid, _) in objects.items()})
    moved.add("gone", SOLIDS[0])
    moved.collides()
    moved.move_many(list(objects), np.array([pose for _, pose in objects.values()]))
    moved.remove("gone")
    assert bits(moved) == plain
    for twin in (copy.deepcopy(moved), pickle.loads(pickle.dumps(moved))):
        assert bits(twin) == plain


def test_copies_share_meshes_and_their_trees():
    scene = scene_of(random_objects(1, 8))
    scene.collisions()
    assert all(scene.copy().shape(name) is scene.shape(name) for name in scene)


def test_workers_change_no_bit():
    objects = random_objects(8, 12)
    scene = scene_of(objects)
    for query in (scene.collisions, scene.closest, scene.contacts):
        a, b = query(workers=1), query(workers=3)
        if query == scene.collisions:
            assert a == b
        else:
            assert a.pairs == b.pairs
            np.testing.assert_array_equal(a.result.distance, b.result.distance)


def test_groups_masks_and_allowed_pairs():
    scene = gk.Scene()
    scene.add("a", ANGLE, group="arm", mask=["world"])
    scene.add("b", ANGLE, group="arm", mask=["world"])
    scene.add("c", SOLIDS[3], group="world")
    scene.add("d", *ENDLESS["ground"], group="world", mask=["arm"])
    assert scene.collisions() == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
    scene.allow("c", "a")
    scene.allow("a", "d")
    assert scene.collisions() == [("b", "c"), ("b", "d")]


# --- contacts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 4, None])
@pytest.mark.parametrize("within", [0.0, 0.2])
def test_contact_points_agree_with_normals_and_gaps(within, most):
    objects = random_objects(2, 14)
    scene = scene_of(objects)
    contacts = scene.contacts(within=within, max_points=most)
    every = every_pair(objects)
    assert contacts.pairs == sorted(pair for pair, result in every.items() if result.lower <= within)
    for a, b, row in contacts:
        assert 1 <= row.count <= (most or 10**9)
        np.testing.assert_allclose(np.linalg.norm(row.normals, axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(row.points_b - row.points_a, row.gaps[:, None] * row.normals, atol=1e-12)
        assert (row.gaps <= within + 1e-12).all()
        assert row.distance == every[a, b].distance
        if row.distance > 0.0:  # no contact point is closer than the distance
            assert row.gaps.min() >= row.distance - 1e-12


def test_compound_contacts_equal_contacts_of_parts():
    table = gk.Compound([(gk.Box((2, 2, 0.2)), None), (gk.Box((0.2, 0.2, 1)), naive.pose(np.eye(3), (5, 0, 0)))])
    scene = gk.Scene()
    scene.add("table", table)
    scene.add("block", gk.Box((0.4, 0.6, 0.2)), naive.pose(np.eye(3), (0.3, 0.1, 0.19)))
    ((a, b, row),) = scene.contacts()
    assert (a, b, row.count) == ("block", "table", 4)
    expected = sorted((0.3 + x, 0.1 + y, 0.095) for x in (-0.2, 0.2) for y in (-0.3, 0.3))
    np.testing.assert_allclose(sorted(row.points.round(12).tolist()), expected, atol=1e-12)
    np.testing.assert_allclose(row.gaps, -0.01, atol=1e-12)
    np.testing.assert_allclose(row.normals, [(0, 0, -1)] * 4, atol=1e-12)


def test_sphere_leaves_closed_mesh_through_nearest_face():
    block = gk.Mesh(BLOCK.vertices, BLOCK.faces)
    scene = gk.Scene()
    scene.add("block", block)
    # the centre of the ball is inside the block
    scene.add("ball", gk.Sphere(0.1), naive.pose(np.eye(3), (0.1, 0.2, 0.45)))
    ((_, _, row),) = scene.contacts()
    np.testing.assert_allclose(row.normals[0], (0, 0, -1), atol=1e-12)  # points from the ball to the block
    assert row.gaps[0] == pytest.approx(-0.15, abs=1e-12)


def test_contacts_of_stacked_meshes():
    block = gk.Mesh(BLOCK.vertices, BLOCK.faces)
    scene = gk.Scene()
    scene.add("below", block)
    scene.add("on top", block, naive.pose(np.eye(3), (0.25, 0.25, 0.99)))
    scene.add("ground", gk.Halfspace((0, 0, 1), -0.49))
    touch = {(a, b): row for a, b, row in scene.contacts()}
    row = touch["below", "on top"]
    np.testing.assert_allclose(row.normals, [(0, 0, 1)] * row.count, atol=1e-12)
    np.testing.assert_allclose(row.gaps, -0.01, atol=1e-12)
    row = touch["below", "ground"]
    assert row.count == 4
    np.testing.assert_allclose(row.gaps, -0.01, atol=1e-12)
    np.testing.assert_allclose(row.normals, [(0, 0, -1)] * 4, atol=1e-12)


def test_enclosed_object_has_a_contact_point():
    scene = gk.Scene()
    scene.add("shell", gk.Mesh(BLOCK.vertices, BLOCK.faces))
    scene.add("core", SOLIDS[1], naive.pose(np.eye(3) * 1.0, (0.0, 0.0, 0.0)))
    scene.add("speck", gk.Sphere(0.01))
    counts = {(a, b): row for a, b, row in scene.contacts()}
    assert counts["shell", "speck"].count == 1
    assert counts["shell", "speck"].gaps[0] <= -0.5


# --- rays ---------------------------------------------------------------------------------------------------------


def marched(solid, pose, start, way):
    """Return the hit distance of a ray by sphere tracing: advance by the distance to the shape until it touches."""
    along = 0.0
    while along < 20.0:
        place = naive.pose(np.eye(3), start + along * way)
        step = gk.distance(solid, gk.Point((0, 0, 0)), pose, place).distance
        if step < 1e-10:
            return along
        along += step
    return np.inf


@pytest.mark.parametrize("solid", [*SOLIDS, ENDLESS["ground"][0]], ids=lambda solid: type(solid).__name__)
def test_rays_agree_with_sphere_tracing(solid):
    rng = np.random.default_rng(9)
    pose = naive.pose(naive.random_rotations(rng, 1)[0], (0.1, 0.2, 0.3))
    starts, ways = rng.uniform(-2, 2, (40, 3)), rng.normal(size=(40, 3))
    if isinstance(solid, gk.PointCloud):
        aims = solid.points[rng.integers(0, len(solid), 25)]
    else:
        surface = solid if isinstance(solid, gk.Mesh) else solid.surface(8)
        aims = surface.vertices[np.asarray(surface.faces)[rng.integers(0, len(surface.faces), 25)]].mean(axis=1)
    ways[:25] = aims @ pose[:3, :3].T + pose[:3, 3] - starts[:25]
    units = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    hits = gk.raycast(solid, starts, ways, pose)
    assert 25 <= hits.hit.sum() < 40
    for k in range(40):
        far = marched(solid, pose, starts[k], units[k])
        assert hits.hit[k] == np.isfinite(far), k
        if hits.hit[k]:
            assert hits.distance[k] == pytest.approx(far, abs=1e-7)
            assert hits.inside[k] == (far == 0.0)
            assert hits.normal[k] @ units[k] <= 1e-9
    short = gk.raycast(solid, starts, ways, pose, max_distance=1.0)
    np.testing.assert_array_equal(short.hit, hits.hit & (hits.distance <= 1.0))


def test_rays_through_edges_and_corners_of_mesh():
    block = gk.Mesh(BLOCK.vertices, BLOCK.faces)
    for start, way, far in [
        ((3, 0.5, 0.5), (-1, 0, 0), 2.5),  # along an edge
        ((3, 3, 3), (-1, -1, -1), 2.5 * 3**0.5),  # onto a corner
        ((3, 0.5, 0.1), (-1, 0, 0), 2.5),  # in the plane of a face
        ((3, 0.1, 0.1), (-1, 0, 0), 2.5),  # onto the diagonal of a face
        ((0.5, 0.1, 0.1), (0, 0, 1), 0.0),  # from the surface
        ((0.5, 0.1, 0.1), (1, 0, 0), 0.0),
    ]:
        hit = gk.raycast(block, start, way)
        assert hit.hit
        assert hit.distance == pytest.approx(far, abs=1e-14)
        assert hit.inside == (far == 0.0)
    assert not gk.raycast(block, (3, 0.5 + 1e-9, 0.1), (-1, 0, 0)).hit
    leaf = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    assert gk.raycast(leaf, (-1, 0.25, 0), (1, 0, 0)).distance == pytest.approx(1.0)
    assert gk.raycast(leaf, (0.2, 0.2, -2), (0, 0, 3)).normal.tolist() == [0, 0, -1]


def test_scene_rays_agree_with_every_object():
    objects = random_objects(4, 12)
    scene = scene_of(objects)
    hits = scene.raycast(*RAYS)
    results = {name: gk.raycast(solid, *RAYS, pose) for name, (solid, pose) in objects.items()}
    best = np.min([result.distance for result in results.values()], axis=0)
    np.testing.assert_array_equal(hits.distance, best)
    for k in range(len(best)):
        level = sorted(name for name, result in results.items() if result.distance[k] == best[k] and result.hit[k])
        assert hits.name[k] == (level[0] if level else None)


def test_scene_rays_agree_with_every_mesh():
    rng = np.random.default_rng(12)
    meshes = [SOLIDS[0], SOLIDS[1], SOLIDS[2], gk.Mesh(1.3 * ROUND.vertices, ROUND.faces[:40])]
    objects = {
        f"part {k}": (meshes[k % 4], naive.pose(naive.random_rotations(rng, 1)[0], rng.uniform(-2, 2, 3)))
        for k in range(30)
    }
    scene = scene_of(objects)
    starts, ways = rng.uniform(-2.5, 2.5, (400, 3)), rng.normal(size=(400, 3))
    for far in (np.inf, 1.0):
        results = {name: gk.raycast(x, starts, ways, pose, max_distance=far) for name, (x, pose) in objects.items()}
        for workers in (1, 3):
            rays = scene.raycast(starts, ways, max_distance=far, workers=workers)
            assert len({objects[name][0].is_solid for name in rays.name if name is not None}) == 2
            for k, name in enumerate(rays.name):
                single = scene.raycast(starts[k], ways[k], max_distance=far)
                assert (single.name, single.distance, single.inside) == (name, rays.distance[k], rays.inside[k])
                best = min(hit.distance[k] for hit in results.values())
                # a scene normalizes directions with a different rounding
                assert rays.distance[k] == pytest.approx(best, rel=1e-13, abs=1e-13)
                if name is not None:
                    np.testing.assert_allclose(rays.normal[k], results[name].normal[k], atol=1e-14)
                    assert rays.inside[k] == results[name].inside[k]
    with pytest.raises(ShapeError, match="workers is 0"):
        scene.raycast(starts, ways, workers=0)


def test_scene_rays_follow_replaced_mesh():
    ball = SOLIDS[1]
    scene = scene_of({"a": (ball, np.eye(4)), "b": (CONVEX[0], naive.pose(translation=(3, 0, 0)))})
    assert scene.raycast((-2, 0.01, 0.02), (1, 0, 0)).name == "a"
    scene.remove("a")
    assert scene.raycast((-2, 0.01, 0.02), (1, 0, 0)).name == "b"
    for factor in (0.5, 0.25):
        scene.add("a", gk.Mesh(factor * ball.vertices, ball.faces))
        expected = gk.raycast(scene.shape("a"), (-2, 0.01, 0.02), (1, 0, 0))
        assert scene.raycast((-2, 0.01, 0.02), (1, 0, 0)).distance == expected.distance
        scene.remove("a")


# --- invalid arguments --------------------------------------------------------------------------------------------


def test_invalid_objects_raise():
    scene = gk.Scene()
    with pytest.raises(UnsupportedPair, match="expected a shape"):
        scene.add("a", 3.0)
    scene.add("a", ANGLE)
    with pytest.raises(SceneError, match="'a' already"):
        scene.add("a", ANGLE)
    assert len(scene) == 1


@pytest.mark.parametrize(
    "around", [lambda mesh: mesh, lambda mesh: gk.Shell(mesh, 0.1), lambda mesh: gk.Compound([(mesh, None)])]
)
def test_mixed_units_in_a_scene_raise(around):
    metres, millimetres = (around(gk.Mesh(ANGLE.vertices, ANGLE.faces, unit=unit)) for unit in ("meters", "mm"))
    same = around(gk.Mesh(ANGLE.vertices, ANGLE.faces, unit="metre"))
    scene = gk.Scene()
    scene.add("without", ANGLE)
    scene.add_many(["frame", "copy"], [metres, same])
    cure = "mesh.scaled(0.001, unit='meters')"
    away = naive.pose(np.eye(3), (100.0, 0.0, 0.0))  # far away, so the bounding boxes do not touch
    second_scene = gk.Scene()
    second_scene.add("plate", millimetres, away)
    for refused in (
        lambda: scene.add("plate", millimetres),
        lambda: scene.add_many(["a", "plate"], [ANGLE, millimetres]),
        lambda: gk.Scene().add_many(["frame", "plate"], [metres, millimetres]),
        lambda: scene.collides(millimetres, away),
        lambda: scene.closest(millimetres, away, k=1),
        lambda: scene.collides(second_scene),
        lambda: scene.clearance(second_scene, workers=2),
    ):
        with pytest.raises(SceneError) as error:
            refused()
        assert_names(error.value, " mm ", " meters", cure)
    assert scene.names == ["copy", "frame", "without"]
    for name in ("frame", "copy"):
        scene.remove(name)
    scene.add("plate", millimetres)
    assert_names(scene.copy().names, "plate", "without")


# --- real meshes --------------------------------------------------------------------------------------------------


def test_real_meshes_agree_with_every_pair():
    from pyvista import examples as models

    surfaces = [models.load_nut(), models.load_ant(), models.load_airplane()]
    meshes = []
    for surface in surfaces:
        points = np.asarray(surface.points, dtype=np.float64)
        faces = surface.triangulate().faces.reshape(-1, 4)[:, 1:]
        meshes.append(gk.Mesh((points - points.mean(axis=0)) / np.ptp(points, axis=0).max(), faces))
    rng = np.random.default_rng(2)
    objects = {
        f"{k}": (meshes[k % 3], naive.pose(naive.random_rotations(rng, 1)[0], rng.uniform(-0.8, 0.8, 3)))
        for k in range(12)
    }
    scene = scene_of(objects)
    pairs = [(a, b) for a in sorted(objects) for b in sorted(objects) if a < b]
    met = [(a, b) for a, b in pairs if gk.collide(objects[a][0], objects[b][0], objects[a][1], objects[b][1])]
    assert 3 < len(met) < len(pairs) - 3
    assert scene.collisions() == met
    separated = {
        pair: gk.distance(*(objects[name][0] for name in pair), *(objects[name][1] for name in pair))
        for pair in pairs
        if pair not in met
    }
    near = [(a, b) for a, b, _ in scene.closest(within=0.1)]
    assert sorted(near) == sorted([*met, *(pair for pair, row in separated.items() if row.lower <= 0.1)])
    for _, _, row in scene.contacts():
        assert row.count >= 1
        np.testing.assert_allclose(row.points_b - row.points_a, row.gaps[:, None] * row.normals, atol=1e-12)


def test_pickle_of_a_scene_with_cached_rays_has_no_addresses():
    """The cache of rays has addresses of trees, which are valid only while the trees of the first scene exist."""
    scene = gk.Scene()
    scene.add("ball", gk.Mesh(ROUND.vertices, ROUND.faces))
    scene.add("box", gk.Box((1, 1, 1)), naive.pose(None, (5, 0, 0)))
    rays = ((0, 0, 5), (5, 0, 5)), ((0, 0, -1), (0, 0, -1))
    expected = scene.raycast(*rays)
    assert scene._objects.ray_planes.kept
    twin = pickle.loads(pickle.dumps(scene))
    assert not twin._objects.ray_planes.kept
    del scene
    result = twin.raycast(*rays)
    assert result.distance.tolist() == expected.distance.tolist()
    assert result.normal.tolist() == expected.normal.tolist()
