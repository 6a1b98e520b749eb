"""Properties, validation and copies of meshes."""

import copy
import pickle

import numpy as np
import pytest
import trimesh
from message_checks import assert_names
from model_files import CORNERS, TRIANGLES

import gjk3d as gk
from gjk3d.bodies.mesh import Part
from gjk3d.errors import ShapeError
from tests.bodies.messages import REPAIRS

# an L: a cube with a quarter cut out, volume 3/4, hull 7/8
L_PROFILE = np.array([[0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]])
L_VERTICES = np.array([[x, y, z] for z in (0.0, 1.0) for x, y in L_PROFILE])
L_SIDES = [[i, j, j + 6, i + 6] for i, j in zip(range(6), [1, 2, 3, 4, 5, 0], strict=True)]
L_FACES = np.array(
    [t for a, b, c, d in L_SIDES for t in ([a, b, c], [a, c, d])]
    + [[0, 3, 1], [1, 3, 2], [0, 5, 3], [3, 5, 4]]
    + [[6, 7, 9], [7, 8, 9], [6, 9, 11], [9, 10, 11]]
)


def cube(shift=0.0):
    return gk.Mesh(CORNERS + shift, TRIANGLES)


def test_properties_of_a_cube():
    mesh = cube()
    assert mesh.volume == pytest.approx(1.0, abs=1e-15)
    assert mesh.bounds.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert mesh.is_watertight
    assert mesh.open_edges == 0
    assert mesh.is_convex
    assert mesh.convexity == pytest.approx(1.0, abs=1e-12)
    assert (mesh.name, mesh.unit, mesh.parts, mesh.source) == (None, None, (), None)


def test_convex_slack_does_not_depend_on_the_block_size(monkeypatch):
    fine = trimesh.creation.box((2.0, 2.0, 2.0)).subdivide().subdivide().subdivide()
    corners = np.array(fine.vertices)
    inner = np.flatnonzero((np.abs(corners) == 1.0).sum(axis=1) == 1)
    corners[inner[0]] *= 1.0 - 1e-6  # a dent, which is_convex still allows
    slacks = []
    for block in (1, 500, 10**9):
        monkeypatch.setattr("gjk3d.bodies.mesh._BLOCK", block)
        mesh = gk.Mesh(corners, fine.faces)
        assert mesh.is_convex
        slacks.append(mesh._convex_slack)
    v = corners[fine.faces]
    n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
    n /= np.linalg.norm(n, axis=1)[:, None]
    above = max(float(((corners - face[0]) @ m).max()) for m, face in zip(n, v, strict=True))
    assert slacks == [slacks[0]] * 3
    assert 1e-7 < above <= slacks[0] <= 4.0 * above


def test_mesh_with_a_notch_is_not_convex():
    mesh = gk.Mesh(L_VERTICES, L_FACES)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(0.75, abs=1e-15)
    assert mesh.hull().volume == pytest.approx(0.875, abs=1e-12)
    assert mesh.convexity == pytest.approx(6 / 7, abs=1e-12)
    assert not mesh.is_convex


@pytest.mark.parametrize("shift", [0.0, 1e6, -1e8])
def test_volume_keeps_its_digits_far_from_the_origin(shift):
    assert gk.Mesh(L_VERTICES + shift, L_FACES).volume == pytest.approx(0.75, rel=1e-7)


def test_separate_vertices_of_triangles_are_merged_by_position():
    loose = gk.Mesh(CORNERS[TRIANGLES].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    assert loose.is_watertight
    assert loose.is_convex
    zeros = np.where(loose.vertices == 0.0, -0.0, loose.vertices)
    zeros[::2] = np.abs(zeros[::2])  # half of the zeros negative
    assert gk.Mesh(zeros, loose.faces).is_watertight


def test_open_edges_are_counted():
    assert gk.Mesh(CORNERS, TRIANGLES[1:]).open_edges == 3
    assert gk.Mesh(CORNERS, TRIANGLES[2:]).open_edges == 6
    turned = TRIANGLES[1:].copy()
    turned[0] = turned[0, ::-1]  # reversed: its edges occur twice in one direction and never in the other
    assert gk.Mesh(CORNERS, turned).open_edges > 3


def test_degenerate_triangles_do_not_open_a_mesh():
    faces = np.concatenate([TRIANGLES, [[0, 0, 1], [2, 2, 2]]])
    assert gk.Mesh(CORNERS, faces).is_watertight


def test_two_cubes_that_share_a_face_or_an_edge_are_both_closed():
    for shift in ((1.0, 0.0, 0.0), (1.0, 1.0, 0.0)):
        cubes = gk.Mesh(np.concatenate([CORNERS, CORNERS + shift]), np.concatenate([TRIANGLES, TRIANGLES + 8]))
        assert cubes.is_watertight
        assert cubes.volume == pytest.approx(2.0)


def test_inverted_mesh_has_negative_volume_and_is_convex():
    mesh = gk.Mesh(CORNERS, TRIANGLES[:, ::-1])
    assert mesh.volume == pytest.approx(-1.0)
    assert mesh.is_convex


def test_duplicate_cube_is_repaired_to_one_cube():
    twice = gk.Mesh(CORNERS, np.concatenate([TRIANGLES, TRIANGLES]))
    assert twice.repairs == (REPAIRS["twelve doubled"],)
    assert twice.volume == pytest.approx(1.0)
    assert twice.is_convex


def test_convexity_is_nan_without_a_volume():
    assert np.isnan(gk.Mesh(CORNERS, TRIANGLES[1:]).convexity)
    sheet = gk.Mesh(CORNERS, [[0, 1, 2], [0, 2, 1]])
    assert np.isnan(sheet.convexity)
    assert not sheet.is_convex


def test_unused_vertices_are_ignored():
    mesh = gk.Mesh(np.concatenate([[[50.0, 0, 0]], CORNERS]), TRIANGLES + 1)
    assert mesh.bounds[1, 0] == 1.0
    assert mesh.hull().bounds[1, 0] == 1.0
    assert mesh.is_convex


def test_hull_is_built_once_and_contains_the_mesh():
    mesh = gk.Mesh(L_VERTICES, L_FACES)
    hull = mesh.hull()
    assert hull is mesh.hull()
    assert len(hull.points) == 10
    assert hull.contains(L_VERTICES).all()


def test_query_without_mesh_support_names_the_hull():
    with pytest.raises(gk.errors.UnsupportedPair, match="hull"):
        gk.distance(cube(), gk.Sphere(1.0), trace=True)
    assert gk.distance(cube().hull(), cube(3.0).hull()).distance == pytest.approx(np.sqrt(12.0))


def test_immutable_and_hashable():
    mesh = cube()
    with pytest.raises(AttributeError, match="immutable"):
        mesh.name = "x"
    with pytest.raises(AttributeError, match="immutable"):
        del mesh.faces
    for array in (mesh.vertices, mesh.faces, mesh.bounds):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 7
    assert hash(mesh) == hash(cube())
    assert mesh == cube()
    assert mesh != cube(1.0)
    assert mesh != gk.Mesh(CORNERS, TRIANGLES, unit="meters")
    assert mesh != "cube"


def test_mesh_copies_its_arrays():
    points = CORNERS.copy()
    mesh = gk.Mesh(points, TRIANGLES)
    points[:] = 0.0
    assert mesh.volume == pytest.approx(1.0)


@pytest.mark.parametrize("way", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy])
def test_pickles_and_copies(way):
    mesh = gk.Mesh(CORNERS, TRIANGLES, name="cube", unit="meters", parts=[Part("cube", cube())])
    mesh.hull()
    again = way(mesh)
    assert again == mesh
    assert again.parts[0].name == "cube"
    assert not again.vertices.flags.writeable
    assert again.volume == mesh.volume


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8])
def test_other_numeric_types_are_converted(dtype):
    mesh = gk.Mesh(CORNERS.astype(dtype), TRIANGLES.astype(np.uint16).tolist())
    assert mesh.vertices.dtype == np.float64
    assert mesh.faces.dtype == np.int64


BAD = CORNERS.copy()
BAD[[3, 5], 1] = np.nan, np.inf


@pytest.mark.parametrize(
    ("vertices", "faces", "fragments"),
    [
        (BAD, TRIANGLES, ("vertices[3]", "nan", "2 of 8")),
        (CORNERS.T, TRIANGLES, ("vertices", "(3, 8)", "vertices.T")),
        (CORNERS[:, :2], TRIANGLES, ("vertices", "(8, 2)", "(n, 3)")),
        (CORNERS, TRIANGLES.T, ("faces", "(3, 12)", "faces.T")),
        (CORNERS, [[0, 1, 8]], ("faces[0]", "[0, 1, 8]", "8 vertices")),
        (CORNERS, [[0, 1, 2], [0, -1, 2]], ("faces[1]", "[0, -1, 2]")),
        (CORNERS, [[0.0, 1.0, 2.0]], ("faces", "float64")),
        (CORNERS, [], ("faces", "ConvexHull(points)")),
        ([], TRIANGLES, ("vertices", "(0,)")),
        (CORNERS + 1j, TRIANGLES, ("vertices", "complex128")),
        (CORNERS.astype(bool), TRIANGLES, ("vertices", "bool")),
        ([["a", "b", "c"]], TRIANGLES, ("vertices", "<U1")),
        ([[0, 1], [1]], TRIANGLES, ("vertices", "different lengths")),
    ],
)
def test_errors_name_the_argument_and_the_remedy(vertices, faces, fragments):
    with pytest.raises(ShapeError) as caught:
        gk.Mesh(vertices, faces)
    assert_names(caught.value, *fragments)


def test_repr_is_short():
    text = repr(gk.Mesh(CORNERS, TRIANGLES, name="cube", unit="mm"))
    assert_names(text, "Mesh", "'cube'", "12 triangles", "8 vertices", "mm")
    assert len(text) < 60


@pytest.mark.parametrize("unit", ["parsec", "", 5])
def test_invalid_unit_of_length_raises(unit):
    mesh = gk.Mesh(np.eye(3), [(0, 1, 2)])
    for make in (lambda: gk.Mesh(np.eye(3), [(0, 1, 2)], unit=unit), lambda: mesh.scaled(2.0, unit=unit)):
        with pytest.raises(gk.errors.ShapeError) as refused:
            make()
        assert_names(refused.value, repr(unit), "not a unit of length", "mm, cm", "ft", "km")
