"""`CollisionManager` compared with that of trimesh, which uses python-fcl: equal calls on equal meshes."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
import subprocess
import sys

import naive
import numpy as np
import pytest
import pyvista as pv
import trimesh
from message_checks import assert_names
from pyvista import examples
from trimesh import collision as theirs

import gjk3d as gk
from gjk3d import compat as ours
from gjk3d.errors import Gjk3dError, PoseError, SceneError, ShapeError


def shipped(name):
    data = pv.read(getattr(examples, name)).triangulate().extract_surface(algorithm="dataset_surface").clean()
    return trimesh.Trimesh(data.points.astype(float), data.faces.reshape(-1, 4)[:, 1:])


def unit(mesh):
    """Return a copy of the mesh, centred at the origin and scaled to size one."""
    mesh = mesh.copy()
    mesh.apply_translation(-mesh.bounds.mean(axis=0))
    mesh.apply_scale(1.0 / mesh.scale)
    return mesh


REAL = {name: unit(shipped(name)) for name in ("nutfile", "antfile", "planefile", "spherefile")}
TORUS = trimesh.creation.torus(0.4, 0.12, major_sections=24, minor_sections=12)
RING = trimesh.creation.annulus(0.3, 0.45, 0.25, sections=32)
SURFACES = {**REAL, "torus": TORUS, "ring": RING}  #: not convex, so fcl treats them as triangle soups
CONVEX = {
    "box": trimesh.creation.box((0.8, 0.5, 0.3)),
    "ball": trimesh.creation.icosphere(subdivisions=2, radius=0.4),
    "can": trimesh.creation.cylinder(0.3, 0.7, sections=24),
}


def poses(rng, count, spread):
    out = np.tile(np.eye(4), (count, 1, 1))
    out[:, :3, :3] = naive.random_rotations(rng, count)
    out[:, :3, 3] = rng.uniform(-spread, spread, (count, 3))
    return out


def filled(manager, meshes, where):
    """Fill a manager and return it. `set_transform` keeps the digits that `add_object` of trimesh rounds."""
    for name, mesh in meshes.items():
        manager.add_object(name, mesh)
        manager.set_transform(name, where[name])
    return manager


def both(meshes, where, **settings):
    return filled(gk.CollisionManager(**settings), meshes, where), filled(theirs.CollisionManager(), meshes, where)


def many(seed, count, spread, kinds=SURFACES):
    """Return random meshes and their poses, both by name."""
    rng = np.random.default_rng(seed)
    some = [list(kinds.values())[k] for k in rng.integers(0, len(kinds), count)]
    names = [f"part {k}" for k in rng.permutation(count)]
    return dict(zip(names, some, strict=True)), dict(zip(names, poses(rng, count, spread), strict=True))


def test_compared_classes_are_of_two_libraries():
    assert gk.CollisionManager is not theirs.CollisionManager
    assert ours.CollisionManager is gk.CollisionManager
    assert ours.scene_to_collision is gk.scene_to_collision
    assert all(not mesh.is_convex for mesh in SURFACES.values())
    assert all(mesh.is_convex for mesh in CONVEX.values())


# --- the interface ------------------------------------------------------------------------------------------------


def parameters(function):
    return [(p.name, p.default, p.kind) for p in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("kind", ["CollisionManager", "ContactData", "DistanceData"])
def test_classes_have_the_methods_and_arguments_of_trimesh(kind):
    own_class, peer_class = getattr(ours, kind), getattr(theirs, kind)
    public = [name for name in vars(peer_class) if not name.startswith("_")]
    assert len(public) >= 3
    for name in public:
        attribute = inspect.getattr_static(peer_class, name)
        assert isinstance(inspect.getattr_static(own_class, name), type(attribute))
        if not isinstance(attribute, property):
            assert parameters(getattr(own_class, name)) == parameters(attribute)


def test_scene_to_collision_has_the_same_arguments():
    assert parameters(ours.scene_to_collision) == parameters(theirs.scene_to_collision)


SCRIPT = """
manager = collision.CollisionManager()
for k in range(6):
    transform = np.eye(4)
    transform[:3, 3] = 0.35 * k, 0.1 * k, 0.0
    manager.add_object(f"part {k}", meshes[k % 2], transform=transform)
manager.remove_object("part 1")
moved = np.eye(4)
moved[0, 3] = -0.2
manager.set_transform("part 5", moved)
second = collision.CollisionManager()
second.add_object("other", meshes[0])
hit, names, contacts = manager.in_collision_internal(return_names=True, return_data=True)
answers = [hit, names, {frozenset(contact.names) for contact in contacts}]
answers += [manager.in_collision_single(meshes[1], transform=moved, return_names=True)]
answers += [manager.in_collision_other(second, return_names=True)]
far = np.eye(4)
far[2, 3] = 3.0
second.set_transform("other", far)
distance, name = manager.min_distance_single(meshes[1], transform=far, return_name=True)
answers += [round(distance, 6), name, round(manager.min_distance_other(second), 6)]
manager.set_transform("part 5", far)
distance, names, data = manager.min_distance_internal("part 5", return_names=True, return_data=True)
answers += [round(distance, 6), names, data.names, data.distance == distance, data.point("part 5").shape]
"""


def test_script_runs_with_changed_import():
    answers = []
    for module in (ours, theirs):
        space = {"collision": module, "np": np, "meshes": [TORUS, RING]}
        exec(SCRIPT, space)
        answers.append(space["answers"])
    assert answers[0] == answers[1]
    assert answers[0][0] is True
    assert len(answers[0][1]) > 1


@pytest.mark.full
def test_python_fcl_is_not_needed():
    code = """
import sys
sys.modules["fcl"] = None
import trimesh, gjk3d as gk
manager, _ = gk.scene_to_collision(trimesh.Scene([trimesh.creation.box(), trimesh.creation.icosphere()]))
_, contacts = manager.in_collision_single(trimesh.creation.box(), return_data=True)
print(manager.in_collision_internal(), len(contacts) > 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True True"


# --- equal results ------------------------------------------------------------------------------------------------

KINDS = {"surfaces": SURFACES, "mixed": {**SURFACES, **CONVEX}}


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_collisions_agree_with_trimesh(seed, kinds):
    first = many(seed, 12, 0.9, KINDS[kinds])
    second = many(100 + seed, 8, 0.9, KINDS[kinds])
    a, b = both(*first, solid=False)
    c, d = both(*second, solid=False)
    hit, names = a.in_collision_internal(return_names=True)
    assert (hit, names) == b.in_collision_internal(return_names=True)
    assert 3 < len(names) < 60
    between = a.in_collision_other(c, return_names=True)
    assert between == b.in_collision_other(d, return_names=True)
    assert len(between[1]) > 3
    met = set()
    for name, mesh in second[0].items():
        answer = a.in_collision_single(mesh, second[1][name], return_names=True)
        assert answer == b.in_collision_single(mesh, second[1][name], return_names=True)
        assert answer[0] == a.in_collision_single(mesh, second[1][name])
        met |= {(member, name) for member in answer[1]}
    assert met == between[1]
    for gone in sorted(first[0])[::2]:
        a.remove_object(gone)
        b.remove_object(gone)
    left = a.in_collision_internal(return_names=True)
    assert left == b.in_collision_internal(return_names=True)
    assert left[1] < names


def translation(shift):
    return trimesh.transformations.translation_matrix(shift)


def face_pairs(contacts, first, second):
    return {(contact.index(first), contact.index(second)) for contact in contacts}


@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(SURFACES, 2)))
def test_contact_faces_agree_with_fcl(pair):
    rng = np.random.default_rng(len(pair[0]) * 31 + len(pair[1]))
    hits = 0
    for where in poses(rng, 6, 0.25):
        a, b = both({"a": SURFACES[pair[0]]}, {"a": np.eye(4)})
        mine = a.in_collision_single(SURFACES[pair[1]], where, return_data=True)[1]
        fcls = b.in_collision_single(SURFACES[pair[1]], where, return_data=True)[1]
        assert face_pairs(mine, "a", "__external") == face_pairs(fcls, "a", "__external")
        assert len(mine) == len(face_pairs(mine, "a", "__external"))
        hits += len(mine) > 0
    assert hits >= 2


def corners(manager, name, face):
    placed = manager._objects.named[name]
    return trimesh.transform_points(placed.mesh.vertices[placed.mesh.faces[face]], placed.transform)


def off_triangle(triangle, point):
    """Return an upper bound of the distance of a point from a triangle, from nearly optimal weights of its corners."""
    weights = np.linalg.lstsq(np.vstack([triangle.T, np.ones(3)]), np.append(point, 1.0), rcond=None)[0]
    weights = np.clip(weights, 0.0, 1.0)
    return np.linalg.norm(weights @ triangle / weights.sum() - point)


@pytest.mark.parametrize("seed", range(3))
def test_contact_lies_on_both_faces_and_depth_separates(seed):
    manager = filled(gk.CollisionManager(solid=False), *many(seed, 8, 0.5))
    _, names, contacts = manager.in_collision_internal(return_names=True, return_data=True)
    assert {tuple(sorted(contact.names)) for contact in contacts} == names
    assert len(contacts) > 300
    for contact in contacts[::7]:
        a, b = (corners(manager, name, contact.index(name)) for name in sorted(contact.names))
        assert off_triangle(a, contact.point) < 1e-12
        assert off_triangle(b, contact.point) < 1e-12
        assert np.linalg.norm(contact.normal) == pytest.approx(1.0, abs=1e-12)
        overlap = (a @ contact.normal).max() - (b @ contact.normal).min()
        assert contact.depth == pytest.approx(max(0.0, overlap), abs=1e-12)
        assert contact.depth >= 0.0


@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(CONVEX, 2)))
def test_contact_depth_of_convex_meshes_is_mesh_depth(pair):
    rng = np.random.default_rng(len(pair[0]) * 31 + len(pair[1]))
    hits = 0
    for where in poses(rng, 12, 0.3):
        a, b = both({"a": CONVEX[pair[0]]}, {"a": np.eye(4)})
        hit, mine = a.in_collision_single(CONVEX[pair[1]], where, return_data=True)
        assert hit == b.in_collision_single(CONVEX[pair[1]], where)
        distance = a.min_distance_single(CONVEX[pair[1]], where)
        assert (distance <= 0.0) == hit
        peer = b.min_distance_single(CONVEX[pair[1]], where)
        if hit:
            (only,) = mine
            assert a.in_collision_single(trimesh.creation.icosphere(radius=1e-9), translation(only.point))
            assert peer < 0.0
            assert -distance == pytest.approx(mine[0].depth, abs=1e-15)
            # both are upper bounds of the depth; fcl stops at 1e-6
            assert -distance <= -peer + 1e-9
            assert distance == pytest.approx(peer, abs=2e-3)
            moved = where.copy()
            moved[:3, 3] += mine[0].normal * (mine[0].depth + 1e-9)
            assert not a.in_collision_single(CONVEX[pair[1]], moved)
        hits += hit
    assert hits >= 4


@pytest.mark.parametrize("seed", range(4))
def test_distances_agree_with_trimesh(seed):
    first, second = many(seed, 9, 0.1), many(100 + seed, 7, 0.1)
    cells = np.random.default_rng(seed).permutation(np.indices((3, 3, 3)).reshape(3, -1).T)
    for where, cell in zip([*first[1].values(), *second[1].values()], cells, strict=False):
        where[:3, 3] += 1.4 * cell
    a, b = both(*first)
    c, d = both(*second)
    assert not a.in_collision_other(c)
    answers = [(a.min_distance_internal(None, True, True), b.min_distance_internal(None, True, True))]
    answers += [(a.min_distance_internal(n, True, True), b.min_distance_internal(n, True, True)) for n in first[0]]
    answers += [(a.min_distance_other(c, True, True), b.min_distance_other(d, True, True))]
    for name, mesh in second[0].items():
        query = mesh, second[1][name], True, True
        answers.append((a.min_distance_single(*query), b.min_distance_single(*query)))
    for mine, peer in answers:
        assert mine[0] == pytest.approx(peer[0], abs=1e-9)
        assert mine[1] == peer[1]
        assert mine[2].names == peer[2].names
        assert mine[2].distance == mine[0] > 0.05
        for name in mine[2].names:
            assert mine[2].point(name) == pytest.approx(peer[2].point(name), abs=1e-6)
    for data in (answers[0][0][2], *(mine[2] for mine, _ in answers[1:10])):
        ends = []
        for name in data.names:
            ends.append(data.point(name))
            assert off_triangle(corners(a, name, data.index(name)), ends[-1]) < 1e-12
        assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(data.distance, abs=1e-12)
    distances = (
        a.min_distance_internal(),
        a.min_distance_internal(None, True),
        a.min_distance_internal(return_data=True),
    )
    assert distances[0] == distances[1][0] == distances[2][0] == answers[0][0][0]


def test_least_distance_of_overlapping_pairs_is_returned():
    box, ball = CONVEX["box"], CONVEX["ball"]
    where = {"a": np.eye(4), "b": np.eye(4), "c": np.eye(4), "d": np.eye(4)}
    where["b"][0, 3], where["c"][2, 3], where["d"][2, 3] = 0.7, 3.0, 3.6
    manager = filled(gk.CollisionManager(), {"a": box, "b": box, "c": ball, "d": TORUS}, where)
    assert manager.min_distance_internal(None, True) == (pytest.approx(-0.1, abs=1e-12), ("a", "b"))
    manager.set_transform("d", where["c"])
    assert manager.min_distance_internal("d", True) == (0.0, ("c", "d"))
    assert manager.min_distance_internal(None, True)[1] == ("a", "b")
    distance, data = manager.min_distance_internal("d", return_data=True)
    assert distance == data.distance == 0.0
    assert data.point("c") == pytest.approx(data.point("d"), abs=1e-12)
    distance, data = manager.min_distance_internal(None, return_data=True)
    assert np.linalg.norm(data.point("a") - data.point("b")) == pytest.approx(-distance, abs=1e-12)


@pytest.mark.parametrize("order", range(12))
def test_coincident_cubes_have_one_contact(order):
    """Names and depth agree with trimesh's tests. Point and normal of fcl depend on the order of vertices."""
    cube, rng = trimesh.creation.box(), np.random.default_rng(order)
    p = rng.permutation(8)
    cube = trimesh.Trimesh(cube.vertices[p], np.argsort(p)[cube.faces][rng.permutation(12)], process=False)
    where = translation((5, 0, 0))
    manager = gk.CollisionManager()
    manager.add_object("cube0", cube)
    manager.add_object("cube1", cube, where)
    hit, names, (only,) = manager.in_collision_single(cube, where, return_names=True, return_data=True)
    assert (hit, names, only.names) == (True, {"cube1"}, {"cube1", "__external"})
    assert only.depth == pytest.approx(1.0, abs=1e-15)
    assert sorted(np.abs(only.normal)) == pytest.approx([0.0, 0.0, 1.0], abs=1e-15)
    assert np.abs(only.point - (5, 0, 0)).max() <= 0.5 + 1e-12
    assert only.normal @ (only.point - (5, 0, 0)) == pytest.approx(0.0, abs=1e-12)


# --- documented differences ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("outer", ["torus", "box"])
def test_enclosed_objects_collide_unless_surface_only(outer):
    mesh, where = {**SURFACES, **CONVEX}[outer], np.eye(4)
    where[0, 3] = 0.4 if outer == "torus" else 0.05
    bead = trimesh.creation.icosphere(radius=0.05)
    for inner in (bead, trimesh.creation.torus(0.03, 0.01)):
        peer = theirs.CollisionManager()
        peer.add_object("outer", mesh)
        for solid in (True, False):
            manager = gk.CollisionManager(solid=solid)
            manager.add_object("outer", mesh)
            expected = solid or outer == "box"
            assert manager.in_collision_single(inner, where, True) == (expected, {"outer"} if expected else set())
            contacts = manager.in_collision_single(inner, where, return_data=True)[1]
            assert len(contacts) == expected
            for contact in contacts:
                assert contact.depth > 0.05
                assert np.linalg.norm(contact.normal) == pytest.approx(1.0, abs=1e-12)
                assert gk.Mesh(mesh.vertices, mesh.faces).contains(contact.point)
                assert 0 <= contact.index("outer") < len(mesh.faces)
            distance = manager.min_distance_single(inner, where)
            assert (distance <= 0.0) == expected
        assert peer.in_collision_single(inner, where) == (outer == "box")
        if outer == "torus":
            assert distance == pytest.approx(peer.min_distance_single(inner, where), abs=1e-9)


@pytest.mark.parametrize("linear", [np.diag([2.0, 2.0, 2.0]), np.diag([-1.0, 1.0, 1.0]), np.diag([1.5, 0.5, -3.0])])
def test_scale_and_reflection_transform_the_mesh(linear):
    mesh = REAL["antfile"]
    rng = np.random.default_rng(5)
    turned = linear @ naive.random_rotations(rng, 1)[0]
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = turned, (0.3, -0.2, 0.1)
    baked = mesh.copy()
    baked.apply_transform(transform)
    manager, plain = gk.CollisionManager(), gk.CollisionManager()
    manager.add_object("a", mesh, transform)
    plain.add_object("a", baked)
    assert manager.in_collision_single(TORUS, return_names=True) == (True, {"a"})
    for where in poses(rng, 5, 1.0):
        contacts = manager.in_collision_single(TORUS, where, return_data=True)[1]
        expected = plain.in_collision_single(TORUS, where, return_data=True)[1]
        assert face_pairs(contacts, "a", "__external") == face_pairs(expected, "a", "__external")
        distance = plain.min_distance_single(TORUS, where)
        assert manager.min_distance_single(TORUS, where) == pytest.approx(distance, abs=1e-12)
    stored = manager._objects.named["a"].mesh
    assert stored.is_watertight
    assert stored.volume == pytest.approx(abs(np.linalg.det(linear)) * gk.Mesh(mesh.vertices, mesh.faces).volume)
    manager.set_transform("a", np.eye(4))
    again = gk.CollisionManager()
    again.add_object("a", mesh)
    assert manager.min_distance_single(TORUS, where, return_data=True)[0] == again.min_distance_single(TORUS, where)
    again.set_transform("a", transform)
    assert again.min_distance_single(TORUS, where) == pytest.approx(distance, abs=1e-12)


def test_scene_with_scaled_nodes():
    scene = trimesh.Scene()
    big, moved = np.diag([2.0, 2.0, 2.0, 1.0]), np.eye(4)
    moved[0, 3] = 0.9
    scene.add_geometry(TORUS, node_name="big", transform=big)
    scene.add_geometry(TORUS, node_name="small", transform=moved)
    manager, objects = gk.scene_to_collision(scene)
    assert set(objects) == set(theirs.scene_to_collision(scene)[1]) == {"big", "small"}
    assert manager.in_collision_internal(True) == (True, {("big", "small")})
    assert objects["big"].getRotation() == pytest.approx(2.0 * np.eye(3))
    assert objects["small"].getTranslation() == pytest.approx([0.9, 0.0, 0.0])
    copies = trimesh.Scene()
    for k in range(3):
        copies.add_geometry(TORUS, node_name=f"copy {k}", transform=moved)
    manager, objects = gk.scene_to_collision(copies)
    assert len({id(handle.mesh) for handle in objects.values()}) == 1


# --- other tests --------------------------------------------------------------------------------------------------


def test_invalid_input_raises_and_changes_nothing():
    manager = gk.CollisionManager()
    manager.add_object("a", TORUS)
    before = manager.in_collision_single(RING, return_names=True)
    nan, flat, transposed = np.eye(4), np.diag([1.0, 1.0, 0.0, 1.0]), np.eye(4)
    nan[1, 2], transposed[3, 0] = np.nan, 1.0
    for bad, message in (
        (nan, "nan, expected finite"),
        (flat, "flattens"),
        (transposed, "transposed"),
        (np.eye(3), r"\(3, 3\)"),
    ):
        for call in (
            lambda bad=bad: manager.add_object("b", RING, bad),
            lambda bad=bad: manager.set_transform("a", bad),
            lambda bad=bad: manager.in_collision_single(RING, bad),
            lambda bad=bad: manager.min_distance_single(RING, bad),
        ):
            with pytest.raises(PoseError, match=message):
                call()
    with pytest.raises(PoseError, match=r"\(2, 4, 4\)"):
        manager.set_transform("a", np.tile(np.eye(4), (2, 1, 1)))
    with pytest.raises(ShapeError) as caught:
        manager.add_object("b", gk.Sphere(1.0))
    assert_names(caught.value, "'b'", "Sphere", "trimesh.Trimesh")
    with pytest.raises(ShapeError, match=r"vertices\[0\].*nan"):
        manager.add_object("a", trimesh.Trimesh([[np.nan, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], process=False))
    with pytest.raises(ShapeError, match="empty"):
        manager.add_object("a", trimesh.Trimesh())
    with pytest.raises(TypeError, match=r"trimesh\.collision\.CollisionManager.*gjk3d\.CollisionManager"):
        manager.in_collision_other(theirs.CollisionManager())
    with pytest.raises(TypeError, match="other_manager"):
        manager.min_distance_other(None)
    assert manager.in_collision_single(RING, return_names=True) == before == (True, {"a"})
    assert manager.in_collision_internal() is False


@pytest.mark.parametrize("call", ["remove_object", "set_transform", "min_distance_internal"])
def test_unknown_names_raise_value_error_like_trimesh(call):
    more = (np.eye(4),) if call == "set_transform" else ()
    messages = []
    for module in (ours, theirs):
        manager = module.CollisionManager()
        manager.add_object("a", TORUS)
        with pytest.raises(ValueError, match="manager") as caught:
            getattr(manager, call)("b", *more)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert issubclass(SceneError, ValueError)
    assert issubclass(SceneError, Gjk3dError)


def test_manager_without_objects():
    empty, filled_manager, peer = gk.CollisionManager(), gk.CollisionManager(), theirs.CollisionManager()
    filled_manager.add_object("a", TORUS)
    assert empty.in_collision_single(RING, None, True, True) == peer.in_collision_single(RING, None, True, True)
    assert empty.in_collision_internal(True, True) == peer.in_collision_internal(True, True) == (False, set(), [])
    assert (
        empty.in_collision_other(filled_manager, True)
        == filled_manager.in_collision_other(empty, True)
        == (False, set())
    )
    assert empty.min_distance_single(RING, None, True) == peer.min_distance_single(RING, None, True)
    assert empty.min_distance_other(filled_manager, True) == peer.min_distance_other(theirs.CollisionManager(), True)
    assert empty.min_distance_internal() == peer.min_distance_internal()
    assert filled_manager.min_distance_internal("a") == peer.min_distance_internal()
    assert empty.min_distance_internal(None, True, True) == (peer.min_distance_internal(), None, None)
    mine = empty.min_distance_single(RING, None, return_data=True)[1]
    theirs_data = peer.min_distance_single(RING, None, return_data=True)[1]
    assert (mine.names, mine.distance, mine.index(None)) == (theirs_data.names, theirs_data.distance, -1)
    assert mine.point("__external") is theirs_data.point("__external") is None


def test_any_history_equals_new_manager():
    rng = np.random.default_rng(11)
    meshes = list({**SURFACES, **CONVEX}.values())
    manager, objects = gk.CollisionManager(), {}
    for _ in range(150):
        name, mesh = f"part {rng.integers(0, 25)}", meshes[rng.integers(0, len(meshes))]
        where = poses(rng, 1, 1.5)[0]
        what = rng.integers(0, 4)
        if name in objects and what == 0:
            manager.remove_object(name)
            del objects[name]
        elif name in objects and what == 1:
            where[:3, :3] *= rng.choice([1.0, 0.5])
            manager.set_transform(name, where)
            objects[name] = objects[name][0], where
        else:
            manager.add_object(name, mesh, where)
            objects[name] = mesh, where
    fresh = gk.CollisionManager()
    for name in sorted(objects):
        fresh.add_object(name, *objects[name])
    hit, names = manager.in_collision_internal(True)
    assert (hit, names) == fresh.in_collision_internal(True)
    assert len(names) > 5
    assert manager.in_collision_other(fresh, True) == fresh.in_collision_other(manager, True)
    for name in objects:
        assert manager.min_distance_internal(name, True) == fresh.min_distance_internal(name, True)
    assert set(manager._objects._meshes) == set(fresh._objects._meshes)


@pytest.mark.parametrize("kinds", [CONVEX, {**CONVEX, "torus": TORUS, "ring": RING}])
@pytest.mark.parametrize("count", [1, 2, 12])
def test_each_step_agrees_with_every_pair(count, kinds):
    rng = np.random.default_rng(count + 100 * len(kinds))
    bodies = {name: gk.Mesh(mesh.vertices, mesh.faces) for name, mesh in kinds.items()}
    drawn = [list(bodies)[k] for k in rng.integers(0, len(bodies), count)]
    where = poses(rng, count, 0.9)
    manager, second = gk.CollisionManager(), gk.CollisionManager()
    for k, kind in enumerate(drawn):
        manager.add_object(k, kinds[kind], where[k])
    second.add_object("other", CONVEX["can"])
    for _ in range(25):
        k, place = int(rng.integers(count)), poses(rng, 1, 0.9)[0]
        where[k] = place
        manager.set_transform(k, place)
        meet = {
            (i, j)
            for i in range(count)
            for j in range(i + 1, count)
            if gk.collide(bodies[drawn[i]], bodies[drawn[j]], where[i], where[j])
        }
        assert manager.in_collision_internal(True) == (bool(meet), meet)
        assert manager.in_collision_internal() == bool(meet)
        guest = poses(rng, 1, 0.9)[0]
        second.set_transform("other", guest)
        hits = {i for i in range(count) if gk.collide(bodies[drawn[i]], bodies["can"], where[i], guest)}
        assert manager.in_collision_single(CONVEX["can"], guest, return_names=True) == (bool(hits), hits)
        assert manager.in_collision_other(second, True) == (bool(hits), {(i, "other") for i in hits})
        assert manager.in_collision_other(second) == second.in_collision_other(manager) == bool(hits)
        if kinds is CONVEX:
            far = [
                gk.signed_distance(bodies[drawn[i]].hull(), bodies["can"].hull(), where[i], guest) for i in range(count)
            ]
            least = min(range(count), key=lambda i: far[i].distance)
            distance, name, data = manager.min_distance_single(CONVEX["can"], guest, True, True)
            assert (distance, name) == (far[least].distance, least)
            assert data.point(least).tolist() == far[least].point_a.tolist()
            assert manager.min_distance_other(second) == distance
            if count > 1:
                pair = manager.min_distance_internal(k, True)
                a, b = pair[1]
                expected = gk.signed_distance(bodies[drawn[a]].hull(), bodies[drawn[b]].hull(), where[a], where[b])
                assert k in (a, b)
                assert pair[0] == expected.distance


def test_mesh_is_copied_when_added():
    mesh = TORUS.copy()
    manager = gk.CollisionManager()
    manager.add_object("a", mesh)
    mesh.apply_translation((5.0, 0.0, 0.0))
    assert manager.in_collision_single(TORUS)
    assert not manager.in_collision_single(mesh)
    manager.add_object("b", mesh)
    assert manager.min_distance_internal() > 3.0
    assert manager.in_collision_single(gk.Mesh(mesh.vertices, mesh.faces), return_names=True) == (True, {"b"})


def test_managers_are_copied_and_pickled():
    manager = filled(gk.CollisionManager(solid=False), *many(3, 6, 0.6))
    expected = manager.in_collision_internal(True)
    manager.in_collision_single(TORUS)
    far = np.eye(4)
    far[:3, 3] = 0.0, 9.0, 0.0
    for duplicate in (copy.deepcopy(manager), pickle.loads(pickle.dumps(manager))):
        assert duplicate.in_collision_internal(True) == expected
        duplicate.set_transform("part 1", far)
        assert duplicate.min_distance_internal("part 1") > 5.0
        duplicate.remove_object("part 0")
    assert manager.in_collision_internal(True) == expected
    assert "part 0" in manager._objects.named
