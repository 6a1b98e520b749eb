"""A closed mesh whose copies of a corner differ by rounding is a solid, from any source."""

from __future__ import annotations

import pickle

import naive
import numpy as np
import pytest
from message_checks import assert_names
from model_files import CORNERS, TRIANGLES, obj, ply_text, stl_binary, stl_text
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.topology import corner_rounding, file_spacing
from tests.bodies.messages import REPAIRS

INSIDE = gk.Sphere(0.1)
TURN = Rotation.from_rotvec((0.2, 0.4, 0.6)).as_matrix()
MIDDLE = naive.pose(translation=(0.5, 0.5, 0.5))
SEPARATE = np.arange(36).reshape(-1, 3)  #: three corners for each triangle, as in STL files


def cube(error, size=1.0, at=(0.0, 0.0, 0.0)):
    """Return the corners of 12 triangles; one copy of one corner is off by an error along x."""
    corners = (size * CORNERS + at)[TRIANGLES].reshape(-1, 3)
    corners[int(np.flatnonzero((corners == at).all(axis=1))[0]), 0] += error
    return corners


@pytest.mark.parametrize("error", [-2.7e-16, 1e-8, -6e-7])
@pytest.mark.parametrize(
    ("ending", "write"),
    [("stl", stl_binary), ("stl", stl_text), ("obj", obj), ("ply", ply_text)],
    ids=["binary stl", "text stl", "obj", "ply"],
)
def test_cube_whose_corner_differs_by_rounding_is_closed(tmp_path, error, ending, write):
    file = tmp_path / f"cube.{ending}"
    if write is stl_text:
        file.write_bytes(stl_text("cube", cube(error), SEPARATE))
    else:
        file.write_bytes(write(cube(error), SEPARATE))
    mesh = gk.load(file)
    assert mesh.is_watertight
    assert mesh.repairs == (REPAIRS["one corner"],)
    assert mesh.volume == pytest.approx(1.0, rel=1e-6)
    assert mesh.contains([(0.5, 0.5, 0.5), (1.5, 0.5, 0.5)]).tolist() == [True, False]
    assert gk.collide(mesh, INSIDE, None, MIDDLE)
    assert gk.signed_distance(mesh, INSIDE, None, MIDDLE).distance < -0.4
    assert len(mesh.bodies()) == 1
    assert mesh.skin.is_watertight
    assert mesh.skin.repairs == ()
    assert pickle.loads(pickle.dumps(mesh)).is_watertight


def test_clash_check_repairs_rounded_corners_and_reports_it(tmp_path):
    file = tmp_path / "cube.stl"
    file.write_bytes(stl_binary(cube(-2.7e-16), SEPARATE))
    ball = gk.Sphere(0.1).surface()
    assembly = gk.clash.Assembly.of({"cube": gk.load(file), "ball": gk.Mesh(ball.vertices + 0.5, ball.faces)})
    report = gk.clash.check(assembly)
    assert [clash.kind for clash in report.clashes] == ["contained"]
    assert_names(report.notes, "cube", REPAIRS["one corner"])


def test_transform_keeps_the_rounding_of_corners(tmp_path):
    """A part moved from far away to the origin has smaller coordinates, but copies of its corners differ as much."""
    file = tmp_path / "cube.stl"
    file.write_bytes(stl_binary(cube(9e-4, 10.0, at=(5000.0, 7000.0, 0.0)), SEPARATE))
    mesh = gk.load(file)
    home = mesh.placed(naive.pose(translation=(-5000.0, -7000.0, 0.0)))
    turned = mesh.placed(naive.pose(TURN))
    for moved in (mesh, home, turned, home.scaled(1e-3, unit="meters"), mesh.scaled((-2.0, 1.0, 3.0))):
        assert moved.is_watertight
        assert moved.repairs == (REPAIRS["one corner"],)
    small = gk.clash.AssemblyPart("cube", "", home, pose=naive.pose(TURN)).mesh
    assert small.is_watertight
    assert home.rounding == mesh.rounding


@pytest.mark.parametrize("error", [3e-3, 0.1])
def test_gap_is_not_merged(error):
    mesh = gk.Mesh(cube(error), SEPARATE)
    assert not mesh.is_watertight
    assert mesh.repairs == ()


def test_slit_in_a_model_of_few_digits_is_not_merged():
    """The coordinates have one decimal near 1000 and three near 0.1."""
    assert not gk.Mesh(cube(0.125, 1000.5), SEPARATE).is_watertight
    assert not gk.Mesh(cube(0.125, 1000.5) + (0.5, 0.25, 0.125), SEPARATE).is_watertight


def test_details_are_not_merged():
    """Near corners of a closed mesh stay separate, and so do those of a mesh no larger than its rounding."""
    slab = gk.Mesh(CORNERS * (1.0, 1.0, 1e-7), TRIANGLES)
    assert slab.repairs == ()
    assert slab.volume == pytest.approx(1e-7)
    speck = gk.Mesh(cube(1e-3, 1e-2, at=(1e5, 0.0, 0.0)), SEPARATE)
    assert not speck.is_watertight
    with pytest.raises(gk.errors.ShapeError) as refused:
        gk.Mesh(CORNERS, TRIANGLES, rounding=-0.5)
    assert_names(refused.value, "rounding is -0.5", "0 or more")


def test_rounding_that_would_change_the_shape_raises():
    gk.Mesh(CORNERS, TRIANGLES, rounding=9.9e-4)
    for value, rule in ((1e-3, "0.001"), (0.0025, "0.001"), ("a", "0 or more"), (np.nan, "0 or more"), (True, "0 or")):
        with pytest.raises(gk.errors.ShapeError) as refused:
            gk.Mesh(CORNERS, TRIANGLES, rounding=value)
        assert_names(refused.value, f"rounding is {value!r}", rule)
    speck = gk.Mesh(cube(1e-3, 1e-2, at=(1e5, 0.0, 0.0)), SEPARATE)
    assert speck.rounding == 0.0
    home = speck.placed(naive.pose(translation=(-1e5, 0.0, 0.0)))
    assert (home.rounding, home.is_watertight) == (0.0, False)


def test_transforms_and_parts_accept_the_rounding_of_the_mesh(tmp_path):
    """Rotated, narrowed or split meshes raise no error for a rounding that is valid for the whole mesh."""
    mesh = gk.Mesh(CORNERS, TRIANGLES, rounding=9e-4)
    turned = mesh.placed(naive.pose(TURN))
    assert turned.rounding in (0.0, turned._spread)
    assert mesh.scaled((1.0, 0.1, 0.1)).rounding == 9e-4
    combined = gk.Mesh(np.vstack([CORNERS, 5.0 + 0.1 * CORNERS]), np.vstack([TRIANGLES, TRIANGLES + 8]), rounding=9e-4)
    assert [body.rounding for body in combined.bodies()] == [9e-4, 0.0]


BALL = gk.Sphere(1).surface(16)


@pytest.mark.parametrize("digits", ["%.6g", "%.7g", "%.6e", "%.3f", "%.5f"])
def test_every_corner_of_text_may_differ(digits, rng):
    """Copies of corners differ by float32 rounding, and are then rounded to decimals."""
    corners = 14.0 * BALL.vertices[BALL.faces].reshape(-1, 3) + rng.uniform(-50.0, 50.0, 3)
    noisy = corners + rng.uniform(-1.0, 1.0, corners.shape) * np.spacing(np.float32(np.abs(corners).max()))
    mesh = gk.Mesh([[float(digits % x) for x in p] for p in noisy], np.arange(len(corners)).reshape(-1, 3))
    assert mesh.is_watertight
    assert len(mesh.bodies()) == 1
    assert mesh.volume == pytest.approx(gk.Mesh(14.0 * BALL.vertices, BALL.faces).volume, rel=1e-3)


def test_every_corner_of_float32_may_differ(rng):
    """Copies of corners were rotated as float32 numbers, or as float64 numbers and rounded afterwards."""
    for _ in range(20):
        size, turn = 10.0 ** rng.uniform(-2, 3), naive.random_rotations(rng, 1)[0]
        shift = rng.uniform(-5.0, 5.0, 3) * size * 10.0 ** rng.uniform(0.0, 1.5)
        corners = size * BALL.vertices[BALL.faces].reshape(-1, 3)
        early = corners.astype(np.float32) @ turn.T.astype(np.float32) + shift.astype(np.float32)
        late = (corners @ turn.T + shift).astype(np.float32)
        points = np.where(rng.random((len(corners), 1)) < 0.5, early, late)
        mesh = gk.Mesh(points, np.arange(len(corners)).reshape(-1, 3))
        assert mesh.is_watertight
        assert len(mesh.bodies()) == 1


def test_file_spacing_and_corner_rounding():
    third = np.full((4, 3), 1.0 / 3.0)
    assert file_spacing(np.array([[5000000.0, 0.0, 250.0]])) == 0.0
    assert file_spacing(third) == 0.0
    assert file_spacing(third.astype(np.float32).astype(np.float64)) == 2.0**-25
    assert file_spacing(np.array([[6308.123, 1.0, 2.0]])) == pytest.approx(2.0**-11)
    assert file_spacing(np.array([[63.08123, 1.0, 2.0]])) == pytest.approx(2.0**-18)
    assert corner_rounding(np.array([[630.812, 1.0, 2.0]])) == pytest.approx(3e-3)
    assert corner_rounding(np.zeros((3, 3))) == 0.0
    assert corner_rounding(np.full((3, 3), 1e60)) == pytest.approx(8 * 2.0**-23 * 1e60, rel=1.0)
