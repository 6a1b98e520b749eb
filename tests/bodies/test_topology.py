"""A closed mesh with a few flaws is a solid; a mesh that stays open warns, unless it is meant as a surface."""

from __future__ import annotations

import json
import pickle
import warnings

import naive
import numpy as np
import pytest
import trimesh
from message_checks import assert_names
from model_files import CORNERS, TRIANGLES

import gjk3d as gk
from gjk3d.bodies.mesh_rays import holds
from gjk3d.errors import Gjk3dWarning, ShapeError
from tests.bodies.messages import REPAIRS

BALL = gk.Sphere(1).surface(16)
V, F = np.asarray(BALL.vertices), np.asarray(BALL.faces)
INSIDE = gk.Sphere(0.1)
FIN = np.vstack([V, [(0.0, 0.0, 1.5)]])
ON_TOP = int(V[:, 2].argmax())


def turned(faces, which):
    faces = np.array(faces)
    faces[which] = faces[which, ::-1]
    return faces


def fin_face():
    first = F[(F == ON_TOP).any(axis=1)][0]
    return [first[0], first[1], len(V)]


FLAWED = {
    "one twice": (V, np.vstack([F, F[5:6]]), ["more than once"]),
    "three times, its corners in another order": (V, np.vstack([F, F[5:6, [1, 2, 0]], F[5:6]]), ["2 triangles occur"]),
    "one twice, once each way": (V, np.vstack([F, F[5:6, ::-1]]), ["more than once"]),
    "each twice": (V, np.vstack([F, F]), ["more than once"]),
    "each once each way": (V, np.vstack([F, F[:, ::-1]]), ["more than once"]),
    "one turned": (V, turned(F, [7]), ["1 triangle was wound"]),
    "a patch turned": (V, turned(F, V[F].mean(axis=1)[:, 2] > 0.6), ["were wound"]),
    "most turned": (V, turned(F, np.arange(len(F)) < 0.7 * len(F)), ["were wound"]),
    "any turned": (V, turned(F, np.random.default_rng(3).random(len(F)) < 0.5), ["were wound"]),
    "a fin": (FIN, np.vstack([F, [fin_face()]]), ["attached to"]),
    "all at once": (
        FIN,
        np.vstack([turned(F, [9]), F[5:6], [fin_face()]]),
        ["more than once", "attached to", "was wound"],
    ),
    "all at once, corners for each": (
        FIN[np.vstack([turned(F, [9]), F[5:6], [fin_face()]])].reshape(-1, 3),
        np.arange(3 * len(F) + 6).reshape(-1, 3),
        ["more than once", "attached to", "was wound"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FLAWED)
def test_closed_mesh_with_a_flaw_is_a_solid(name):
    vertices, faces, words = FLAWED[name]
    mesh, sound = gk.Mesh(vertices, faces), gk.Mesh(V, F)
    assert [word for text, word in zip(mesh.repairs, words, strict=True) if word in text] == words
    assert mesh.is_watertight
    assert mesh.open_edges == 0
    assert np.array_equal(mesh.faces, faces)
    assert mesh.volume == pytest.approx(sound.volume, rel=1e-12)
    assert mesh.skin.is_watertight
    assert mesh.skin.repairs == ()
    points = np.random.default_rng(0).uniform(-1.2, 1.2, (400, 3))
    assert 40 < holds(sound, points).sum() < 360
    assert mesh.contains(points).tolist() == sound.contains(points).tolist()
    assert gk.collide(mesh, INSIDE)
    assert gk.collide(INSIDE, mesh)
    assert gk.signed_distance(mesh, INSIDE).distance < 0
    assert gk.raycast(mesh, (0, 0, 0), (1, 0, 0)).inside
    pose = naive.pose(translation=(0.2, 0.1, 0.0))
    inner = gk.Mesh(0.2 * V, F)
    assert gk.collide(mesh, inner, None, pose)
    scene = gk.Scene()
    scene.add("mesh", mesh)
    scene.add("ball", INSIDE, pose)
    assert scene.collides()
    manager = gk.CollisionManager()
    manager.add_object("mesh", mesh)
    assert manager.in_collision_single(inner, pose)
    assert gk.collide(gk.Compound([(mesh, None)]), INSIDE)
    assert mesh.voxelized(0.25).contains((0, 0, 0))
    again = pickle.loads(pickle.dumps(mesh))
    assert again == mesh
    assert again.repairs == mesh.repairs


def test_contact_with_a_turned_face_pushes_outwards():
    top = int(V[F].mean(axis=1)[:, 2].argmax())
    where = V[F[top]].mean(axis=0)
    box, pose = gk.Box((0.1, 0.1, 0.1)), naive.pose(translation=where * 1.04)
    contact_normals = []
    for mesh in (gk.Mesh(V, F), gk.Mesh(V, turned(F, [top]))):
        scene = gk.Scene()
        scene.add("a", mesh)
        scene.add("b", box, pose)
        contact_normals.append(scene.contacts()[0][2].normal)
    assert contact_normals[0] @ where > 0
    assert np.array_equal(*contact_normals)
    flat = gk.Mesh(CORNERS, TRIANGLES)
    normals = [
        gk.Mesh(CORNERS, faces)._outward(np.arange(12)) * np.sign(flat.volume)
        for faces in (TRIANGLES, turned(TRIANGLES, [3]))
    ]
    assert np.array_equal(*normals)


def test_fin_collides_but_bounds_no_volume():
    vertices, faces, _ = FLAWED["a fin"]
    mesh = gk.Mesh(vertices, faces)
    at_its_tip, beside = (naive.pose(translation=p) for p in ((0, 0, 1.45), (0.6, 0.6, 1.2)))
    assert gk.collide(mesh, gk.Sphere(0.06), None, at_its_tip)
    assert not gk.collide(mesh.skin, gk.Sphere(0.06), None, at_its_tip)
    assert not gk.collide(mesh, gk.Sphere(0.06), None, beside)
    assert not mesh.contains((0.0, 0.0, 1.2))


def test_cavity_stays_hollow_with_a_flaw_on_its_wall():
    vertices = np.vstack([2 * V, V])
    for which in ([3], [len(F) + 3], [3, len(F) + 3, len(F) + 9]):
        mesh = gk.Mesh(vertices, turned(np.vstack([F, F[:, ::-1] + len(V)]), which))
        assert len(mesh.repairs) == 1
        assert mesh.volume == pytest.approx(7 * gk.Mesh(V, F).volume)
        assert mesh.contains([(0, 0, 0), (1.5, 0, 0)]).tolist() == [False, True]


def test_wall_between_two_bodies_is_not_a_duplicate():
    mesh = gk.Mesh(
        np.vstack([CORNERS, CORNERS + (1, 0, 0), CORNERS + (5, 0, 0)]),
        np.vstack([TRIANGLES, TRIANGLES + 8, TRIANGLES + 16, TRIANGLES[:1] + 16]),
    )
    assert mesh.repairs == (REPAIRS["one doubled"],)
    assert mesh.volume == pytest.approx(3.0)


CUBE = gk.Mesh(2 * CORNERS - 1, TRIANGLES)
TOP = np.flatnonzero((CUBE.vertices[TRIANGLES][:, :, 2] == 1).all(axis=1))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("half", [1.0, 0.5, -0.7])
def test_patch_doubled_with_opposite_winding_is_one_layer(first, half):
    """Inside a doubled patch, no neighbour distinguishes a triangle from its copy."""
    patch = F[V[F].mean(axis=1)[:, 2] > half][:, ::-1]
    for corners, faces, doubled in ((V, F, patch), (CUBE.vertices, TRIANGLES, TRIANGLES[TOP][:, ::-1])):
        sound = gk.Mesh(corners, faces)
        mesh = gk.Mesh(corners, np.vstack([doubled, faces] if first else [faces, doubled]))
        assert mesh.is_watertight
        assert mesh.volume == sound.volume
        assert len(mesh.repairs) == bool(len(doubled))
        points = np.random.default_rng(1).uniform(-1.2, 1.2, (200, 3))
        assert mesh.contains(points).tolist() == sound.contains(points).tolist()


STRAY = {
    "far": [(10, 0, 0), (11, 0, 0), (10, 1, 0)],
    "without area": [(10, 0, 0), (11, 0, 0), (12, 0, 0)],
    "at a corner": [(1, 1, 1), (3, 1, 1), (3, 3, 1)],
    "inside": [(0, 0, 0), (0.5, 0, 0), (0, 0.5, 0)],
    "through a face": [(0, 0, 0), (3, 0, 0), (0, 3, 0)],
}


@pytest.mark.parametrize("name", STRAY)
def test_stray_triangle_leaves_a_closed_body_solid(name):
    mesh = gk.Mesh(np.vstack([CUBE.vertices, STRAY[name]]), np.vstack([TRIANGLES, [(8, 9, 10)]]))
    assert mesh.repairs == (REPAIRS["one loose"],)
    assert mesh.is_watertight
    assert mesh.volume == 8.0
    assert mesh.contains([(0.0, 0.1, 0.9), (10.1, 0.1, 0.0)]).tolist() == [True, False]
    assert gk.collide(mesh, INSIDE, None, naive.pose(translation=(-0.5, -0.5, -0.5)))
    assert gk.collide(mesh, INSIDE, None, naive.pose(translation=STRAY[name][1]))
    twice = gk.Mesh(mesh.vertices, np.vstack([mesh.faces, [(8, 9, 10)]]))
    assert twice.repairs == (REPAIRS["one doubled"], REPAIRS["one loose"])


def test_closed_pieces_stay_solid_next_to_open_ones():
    """A nearly closed piece still warns, and several flaws are repaired together."""
    vertices = np.vstack([CUBE.vertices, V + (5, 0, 0)])
    faces = np.vstack([turned(TRIANGLES, [2]), F[1:] + 8, TRIANGLES[TOP][:, ::-1]])
    mesh = gk.Mesh(vertices, faces, name="parts")
    with pytest.warns(Gjk3dWarning) as warned:
        assert mesh.is_solid
    assert_names(warned[0].message, "parts", "3 open edges")
    assert mesh.volume == 8.0
    assert mesh.contains([(0, 0, 0), (5, 0, 0)]).tolist() == [True, False]
    assert gk.clash.check(gk.clash.Assembly.of({"parts": mesh, "ball": gk.Mesh(0.2 * V, F)})).counts["contained"] == 1


def test_two_sided_sheet_is_not_a_solid_next_to_an_open_mesh():
    """The sheet is closed but has no volume, and the rest of the mesh bounds none."""
    sheet = [(10, 0, 0), (11, 0, 0), (10, 1, 0)]
    mesh = gk.Mesh(np.vstack([CUBE.vertices, sheet]), np.vstack([TRIANGLES[2:], [(8, 9, 10), (8, 10, 9)]]))
    assert not mesh.is_watertight
    assert mesh.repairs == ()


def test_body_with_both_windings_is_solid_next_to_others():
    doubled = np.vstack([F, F[:, ::-1]])
    mesh = gk.Mesh(np.vstack([V, V + (5, 0, 0)]), np.vstack([doubled, F + len(V)]))
    assert mesh.volume == pytest.approx(2 * gk.Mesh(V, F).volume)
    filled = gk.Mesh(np.vstack([2 * V, V]), np.vstack([F, doubled + len(V)]))
    assert filled.repairs == ()
    assert filled.contains((0, 0, 0))


def test_sound_meshes_have_no_repairs():
    flipped = turned(TRIANGLES, slice(None))
    sheet = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2), (2, 1, 0)])
    strip = trimesh.creation.annulus(1, 2, 1)
    for mesh in (gk.Mesh(CORNERS, TRIANGLES), gk.Mesh(CORNERS, flipped), sheet, gk.Mesh(strip.vertices, strip.faces)):
        assert mesh.repairs == ()
        assert mesh.is_watertight
        assert mesh.skin is mesh
        assert mesh._wound is mesh.faces


def klein():
    """Return a closed surface with only one side."""
    n = 24
    u, v = (x.ravel() for x in np.meshgrid(*[np.arange(n)] * 2, indexing="ij"))
    a, b = 2 * np.pi * u / n, 2 * np.pi * v / n
    r = 3 + np.cos(a / 2) * np.sin(b) - np.sin(a / 2) * np.sin(2 * b)
    points = np.column_stack([r * np.cos(a), r * np.sin(a), np.sin(a / 2) * np.sin(b) + np.cos(a / 2) * np.sin(2 * b)])
    seam = u == n - 1
    ends = [((u + 1) % n) * n + np.where(seam, (-w) % n, w % n) for w in (v, v + 1)]
    starts = [u * n + v, u * n + (v + 1) % n]
    return points, np.vstack([np.column_stack([starts[0], ends[0], starts[1]]), np.column_stack([starts[1], *ends])])


def grid(n):
    x, y = (c.ravel() for c in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    points = np.column_stack([x, y, np.sin(x / 3.0)])
    i = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    return points, np.vstack([np.column_stack([i, i + n, i + 1]), np.column_stack([i + 1, i + n, i + n + 1])])


@pytest.mark.parametrize(
    ("vertices", "faces"),
    [(V, F[1:]), (CORNERS, TRIANGLES[1:]), (V, turned(F, [50])[1:]), klein(), (V, np.delete(F, [4, 80], axis=0))],
)
def test_nearly_closed_mesh_warns_once(vertices, faces):
    mesh = gk.Mesh(vertices, faces, name="cover")
    far = naive.pose(translation=(30, 0, 0))
    with pytest.warns(Gjk3dWarning, match=rf"\bcover\b.*\b{mesh.open_edges} open edges.*solid=False") as warned:
        assert not gk.collide(mesh, INSIDE, None, naive.pose(translation=vertices.mean(axis=0)))
    assert len(warned) == 1
    assert not mesh.is_watertight
    assert mesh.repairs == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not gk.collide(mesh, INSIDE, None, far)
        quiet = gk.Mesh(vertices, faces, solid=False)
        assert not gk.collide(quiet, INSIDE, None, far)
        assert not gk.raycast(quiet, vertices.mean(axis=0), (1, 0, 0)).inside
    with pytest.raises(ShapeError, match="open edges"):
        mesh.contains((0, 0, 0))


@pytest.mark.parametrize(
    ("vertices", "faces"),
    [
        grid(2),
        grid(40),
        (V, F[V[F].mean(axis=1)[:, 2] > 0]),
        (CORNERS, TRIANGLES[2:]),
        (V, F[:1]),
        (CORNERS, TRIANGLES[:1]),
        (CORNERS, np.vstack([TRIANGLES[:1]] * 40)),
        (grid(12)[0], np.vstack([grid(12)[1]] * 2)),
        (grid(12)[0], np.vstack([grid(12)[1]] * 3)),
    ],
)
def test_open_surface_does_not_warn(vertices, faces):
    mesh = gk.Mesh(vertices, faces)
    assert not mesh.is_watertight
    assert not gk.collide(mesh, gk.Sphere(0.01), None, naive.pose(translation=(0.4, 0.3, 9)))
    assert gk.collide(mesh, gk.Sphere(0.01), None, naive.pose(translation=vertices[faces[0]].mean(axis=0)))


def test_closed_surface_with_solid_false_contains_nothing():
    mesh = gk.Mesh(V, F, solid=False)
    assert (mesh.is_watertight, mesh.is_solid) == (True, False)
    assert not gk.collide(mesh, INSIDE)
    assert 0.85 < gk.distance(mesh, INSIDE).distance < 0.9
    for derived in (pickle.loads(pickle.dumps(mesh)), mesh.scaled(2), mesh.placed(np.eye(4)), mesh.refit(2 * V)):
        assert not derived.is_solid
    assert mesh != gk.Mesh(V, F)
    assert not mesh.bodies()[0].is_solid


def test_files_assemblies_and_robots_repair_the_mesh(tmp_path, capsys):
    file = tmp_path / "ball.stl"
    vertices, faces, _ = FLAWED["all at once"]
    trimesh.Trimesh(vertices, faces, process=False).export(file)
    mesh = gk.load(file)
    assert len(mesh.repairs) == 3
    assert gk.collide(mesh, INSIDE)
    report = gk.clash.check(gk.clash.Assembly([gk.clash.AssemblyPart("ball", str(file), mesh), part("inner", 0.2)]))
    assert [row.closed for row in report.parts] == [True, True]
    assert [clash.kind for clash in report.clashes] == ["contained"]
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(
        '<robot name="r"><link name="l"><collision><geometry><mesh filename="ball.stl"/></geometry></collision></link>'
        "</robot>"
    )
    robot = gk.robot.Robot.from_urdf(urdf, geometry="mesh")
    checker = gk.robot.Checker(robot, {"inner": (INSIDE, None)})
    assert not checker.free(np.zeros(0))


def part(name, size):
    return gk.clash.AssemblyPart(name, "", gk.Mesh(size * V, F))


def test_clash_check_reports_open_parts_without_warnings():
    hole = gk.clash.AssemblyPart("hole", "", gk.Mesh(V, F[1:]))
    report = gk.clash.check(gk.clash.Assembly([hole, part("inner", 0.2)]))
    assert [row.closed for row in report.parts] == [False, True]
    assert report.clashes == ()


def test_info_lists_repairs(tmp_path, capsys):
    from gjk3d.cli.info import info

    file = tmp_path / "ball.ply"
    vertices, faces, _ = FLAWED["one turned"]
    trimesh.Trimesh(vertices, faces, process=False).export(file)
    info(file)
    assert f"ball: {REPAIRS['one turned']}" in capsys.readouterr().out
    info(file, json=True)
    row = json.loads(capsys.readouterr().out)["parts"][0]
    assert (row["watertight"], len(row["repairs"])) == (True, 1)


def test_masked_arrays_raise() -> None:
    surface = gk.Box((1, 1, 1)).surface()
    corners, faces = np.ma.masked_array(surface.vertices), np.ma.masked_array(surface.faces)
    assert gk.Mesh(corners, faces).volume == 1.0  # nothing is masked
    corners[1, 2] = faces[3] = np.ma.masked
    with pytest.raises(ShapeError) as caught:
        gk.Mesh(corners, surface.faces)
    assert_names(caught.value, "vertices", "1 of its 24")
    with pytest.raises(ShapeError) as caught:
        gk.Mesh(surface.vertices, faces)
    assert_names(caught.value, "faces", "3 of its 36")
    with pytest.raises(ShapeError) as caught:
        gk.ConvexHull(corners)
    assert_names(caught.value, "points", "1 of its 24")
    with pytest.raises(ShapeError) as caught:
        gk.HeightField(corners, 1.0)
    assert_names(caught.value, "heights", "1 of its 24")
