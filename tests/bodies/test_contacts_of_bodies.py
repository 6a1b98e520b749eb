"""`contact` of bodies: properties of all points, positions computed by hand, and patches that keep their extent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh
from message_checks import assert_names
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import UnsupportedPair
from tests.bodies import every_kind
from tests.bodies.every_kind import CUBE, KINDS, Known
from tests.bodies.random_shapes import anywhere, at

BOX = Known(gk.Box((1, 0.5, 0.8)), [CUBE * (1, 0.5, 0.8)])
BALL = Known(gk.Sphere(0.4), [np.zeros((1, 3))], 0.4)
OBJECTS = {"ball": BALL, "box": BOX, **{name: make() for name, make in KINDS.items()}}
PAIRS = [
    (a, b) for a in OBJECTS for b in OBJECTS if (a, b) != ("ground", "ground") and not {a, b} <= {"ball", "box"}
]  # fmt: skip


def plate(count: int = 8, size: float = 4.0) -> gk.Mesh:
    """Return a closed plate whose top, at z = 0, has many triangles."""
    heights = gk.HeightField(np.zeros((count + 1, count + 1)), size / count, (-size / 2, -size / 2))
    vertices, faces = heights.surface()
    below = vertices - (0, 0, 1)
    edges = list(range(count))
    n = count + 1
    rim = [
        [i * n for i in range(n)],
        [i * n + count for i in range(n)],
        list(range(n)),
        [count * n + j for j in range(n)],
    ]
    sides = []
    for line, outwards in zip(rim, (True, False, False, True), strict=True):
        for k in edges:
            i, j = (line[k + 1], line[k]) if outwards else (line[k], line[k + 1])
            if line is rim[2] or line is rim[3]:
                i, j = j, i
            sides += [(i, i + n * n, j + n * n), (i, j + n * n, j)]
    triangles = np.vstack([faces, np.array(sides)[:, ::-1], faces[:, ::-1] + n * n])
    return gk.Mesh(np.vstack([vertices, below]), triangles)


def signed_distances(known: Known, pose: Any, points: Any) -> Any:
    """Return the least signed distance of points from the parts of a body, by the face planes of solid hulls."""
    best = np.full(len(points), np.inf)
    for corners in known.placed(pose):
        if len(corners) == 1:
            out = np.linalg.norm(points - corners[0], axis=1) - known.radius
        else:
            planes = ConvexHull(corners).equations
            out = (points @ planes[:, :3].T + planes[:, 3]).max(axis=1)
        best = np.minimum(best, out)
    return best


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("within", [0.0, 0.15])
def test_laws_of_points(one: str, other: str, within: float) -> None:
    a, b = OBJECTS[one], OBJECTS[other]
    rng = np.random.default_rng(len(one) * 7 + len(other))
    touched = 0
    for k in range(2 if "ground" in (one, other) else 4):
        pose_a = np.eye(4) if one == "ground" else anywhere(rng, 0.4)
        pose_b = np.eye(4) if other == "ground" else anywhere(rng, 0.4)
        pose_b[:3, 3] += rng.normal(size=3) * (0.2 + 0.2 * k) * (other != "ground")
        signed = gk.signed_distance(a.body, b.body, pose_a, pose_b)
        touch = gk.contact(a.body, b.body, pose_a, pose_b, within=within, max_points=None)
        back = gk.contact(b.body, a.body, pose_b, pose_a, within=within, max_points=None)
        assert (touch.count > 0) == (signed.lower <= within)
        assert (back.count > 0) == (touch.count > 0)
        if not touch.count:
            continue
        touched += 1
        assert touch.normals.shape == touch.points_a.shape == (touch.count, 3)
        assert np.linalg.norm(touch.normals, axis=1) == pytest.approx(1.0, abs=1e-12)
        assert touch.points_b - touch.points_a == pytest.approx(touch.gaps[:, None] * touch.normals, abs=1e-9)
        assert (touch.gaps <= within + 1e-9).all()
        assert sorted(np.concatenate(touch.patches).tolist()) == list(range(touch.count))
        for patch in touch.patches:
            assert touch.normals[patch] == pytest.approx(np.tile(touch.normals[patch[0]], (len(patch), 1)), abs=3e-6)
        if signed.lower > 0.0:
            assert touch.gaps.min() == pytest.approx(signed.distance, abs=1e-9)
            for known, pose, points in ((a, pose_a, touch.points_a), (b, pose_b, touch.points_b)):
                if known not in (OBJECTS["mesh"],):
                    assert (np.abs(signed_distances(known, pose, points)) <= 1e-8).all()
        few = gk.contact(a.body, b.body, pose_a, pose_b, within=within, max_points=3)
        assert few.count == min(3, few.count)
        assert few.gaps.min() == pytest.approx(touch.gaps.min(), abs=1e-9)
    assert touched > 0


@pytest.mark.parametrize("name", ["mesh plate", "ground", "voxels", "compound"])
@pytest.mark.parametrize("height", [-0.01, 0.01, 0.0])
def test_box_on_many_parts_touches_with_its_four_corners(name: str, height: float) -> None:
    floor = {
        "mesh plate": plate(),
        "ground": gk.HeightField(np.zeros((9, 9)), 0.5, (-2, -2)),
        "voxels": gk.VoxelGrid(np.ones((8, 8, 2)), 0.5, (-2, -2, -1)),
        "compound": gk.Compound([(gk.Box((1, 1, 1)), at(x, y, -0.5)) for x in (-1, 0, 1) for y in (-1, 0, 1)]),
    }[name]
    box = gk.Box((1.3, 0.9, 0.4))
    pose = at(0.13, -0.21, 0.2 + height)
    for touch, up in (
        (gk.contact(floor, box, None, pose, within=0.02), 1.0),
        (gk.contact(box, floor, pose, None, within=0.02), -1.0),
    ):
        assert touch.count == 4
        assert touch.normals == pytest.approx(np.tile((0, 0, up), (4, 1)), abs=1e-9)
        assert touch.gaps == pytest.approx(height, abs=1e-9)
        corners = sorted((0.13 + x, -0.21 + y) for x in (-0.65, 0.65) for y in (-0.45, 0.45))
        assert np.array(sorted(touch.points[:, :2].round(9).tolist())) == pytest.approx(np.array(corners), abs=1e-9)
        assert len(touch.patches) == 1


def test_tilted_box_has_touching_points_and_near_points() -> None:
    tilt = 0.01
    pose = np.eye(4)
    pose[:3, :3] = [[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]]
    box = gk.Box((1, 1, 0.4))
    pose[2, 3] = 0.5 * np.sin(tilt) + 0.2 * np.cos(tilt) - 1e-4  # the lowest edge is 1e-4 deep
    solid = gk.Mesh(*box.surface())
    for body in (box, solid):
        touch = gk.contact(plate(), body, None, pose, within=0.05, max_points=None)
        gaps = touch.gaps[np.abs(touch.normals @ (0, 0, 1)) > 0.999]
        assert gaps.min() == pytest.approx(-1e-4, rel=1e-3)
        assert gaps.max() == pytest.approx(np.sin(tilt) - 1e-4, rel=1e-2)
        assert gk.contact(plate(), body, None, pose, max_points=None).gaps.max() <= 1e-9


def test_two_patches_of_a_box_in_a_corner() -> None:
    solid = every_kind.closed().body
    cube = gk.Box((1, 1, 0.8))
    touch = gk.contact(solid, cube, None, at(1.5 - 1e-4, 1.5 - 2e-4, 0.5), max_points=None)
    flat = [patch for patch in touch.patches if len(patch) >= 4]
    ways = {tuple(touch.normals[patch[0]].round(9)) for patch in flat}
    assert {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)} <= ways
    for patch in flat:
        depth = 1e-4 if touch.normals[patch[0], 0] > 0.5 else 2e-4
        assert touch.gaps[patch] == pytest.approx(-depth, rel=1e-6)


def test_body_rests_on_a_half_space_with_its_hull() -> None:
    table = gk.Compound(
        [
            (gk.Box((2, 2, 0.2)), at(0, 0, 1)),
            *[(gk.Box((0.2, 0.2, 1)), at(x, y, 0.5)) for x in (-0.9, 0.9) for y in (-0.9, 0.9)],
        ]
    )
    touch = gk.contact(table, gk.Halfspace((0, 0, 1), 0.001))
    assert touch.normal.tolist() == [0, 0, -1]
    assert touch.count == 4
    assert (np.abs(touch.points[:, :2]) == pytest.approx(1.0)) is True
    for name in ("mesh", "solid", "voxels", "cloud"):
        low = float((OBJECTS[name].points[:, 2] - OBJECTS[name].radius).min())
        stand = gk.contact(OBJECTS[name].body, gk.Halfspace((0, 0, 1), low + 1e-3))
        assert stand.gaps.min() == pytest.approx(-1e-3, rel=1e-9)
        assert gk.contact(gk.Halfspace((0, 0, 1), low - 1e-3), OBJECTS[name].body).count == 0


def test_stack_rows_equal_single_queries() -> None:
    solid, cloud = every_kind.closed().body, every_kind.cloud().body
    poses = np.stack([at(x, 0.5, 0.5) for x in (2.0, 2.8, 9.0)])
    many = gk.contact(solid, cloud, None, poses, max_points=6)
    assert many.points_a.shape == (3, 6, 3)
    assert many.count[2] == 0
    for k, pose in enumerate(poses):
        single = gk.contact(solid, cloud, None, pose, max_points=6)
        assert many[k].points_a.tolist() == single.points_a.tolist()
        assert many[k].normals.tolist() == single.normals.tolist()
        assert many[k].gaps.tolist() == single.gaps.tolist()
    assert gk.contact(solid, cloud, None, poses, max_points=None).points.shape[0] == 3
    with pytest.raises(TypeError, match=r"contact\[k\]\.patches"):
        _ = many.patches
    assert gk.contact(gk.Sphere(1), gk.Sphere(1)).patches[0].tolist() == [0]


def test_coplanar_faces_touch_in_their_plane() -> None:
    """Each pose has more than 100 points, and three workers give the same points as one."""
    below, above = plate(12), gk.Mesh(*gk.Box((3, 3, 1)).surface())
    poses = np.stack([at(0.004 * k, 0.003 * k, 0.5) for k in range(130)])
    many = gk.contact(below, above, None, poses, max_points=None)
    for k in (0, 1, 77, 129):
        single = gk.contact(below, above, None, poses[k], max_points=None)
        assert single.count > 100
        np.testing.assert_allclose(single.points[:, 2], 0, atol=1e-12)
        np.testing.assert_allclose(single.normals, np.tile((0, 0, 1.0), (single.count, 1)), atol=1e-12)
        assert many[k].points_a.tolist() == single.points_a.tolist()
    cut = gk.contact(below, above, None, poses, max_points=None, workers=3)
    np.testing.assert_array_equal(many.points_a, cut.points_a)


def test_unsupported_pairs_raise() -> None:
    ground = OBJECTS["ground"].body
    with pytest.raises(UnsupportedPair, match="two HeightFields"):
        gk.contact(ground, ground)
    with pytest.raises(UnsupportedPair) as caught:
        gk.contact(ground, gk.Halfspace((0, 0, 1), 0))
    assert_names(caught.value, "gjk3d.Box", "bottom=z")
    with pytest.raises(UnsupportedPair, match=r"\bb\b.*\bstr\b"):
        gk.contact(ground, "box")


_CUBE = trimesh.creation.box((1.0, 1.0, 1.0))
_RESTS = {
    "table": gk.Mesh(_CUBE.vertices * (4.0, 4.0, 1.0), _CUBE.faces),
    "cube": gk.Mesh(_CUBE.vertices, _CUBE.faces),
    "ball": gk.Mesh(*(lambda m: (m.vertices, m.faces))(trimesh.creation.icosphere(subdivisions=1))),
    "box": gk.Box((0.6, 0.7, 0.8)),
    "cylinder": gk.Cylinder(0.3, 1.5),
}


@pytest.mark.parametrize("second", ["cube", "ball", "box", "cylinder"])
@pytest.mark.parametrize("first", ["table", "cube", "ball"])
def test_points_lie_on_both_bodies(first: str, second: str) -> None:
    """Contact points lie on both bodies, even if intersecting faces extend far beyond their common area."""
    rng, a, b = np.random.default_rng(3), _RESTS[first], _RESTS[second]
    for trial in range(30):
        pose = np.eye(4)
        small = trial % 2  # resting on the top face, or at any pose
        turn = rng.normal(size=3) * 1e-3 if small else rng.normal(size=3)
        pose[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
        pose[:3, 3] = (*rng.uniform(-1.5, 1.5, 2), 0.999) if small else rng.normal(size=3) * 0.6
        deep = gk.signed_distance(a, b, None, pose)
        touch = gk.contact(a, b, None, pose, max_points=None)
        if not gk.meeting_faces(a, b, None, pose).size:
            continue  # one contains the other: the point is where the depth was measured
        for p, q in zip(touch.points_a, touch.points_b, strict=True):
            assert gk.distance(a, gk.Point(p)).lower < 1e-9
            assert gk.distance(b, gk.Point(q), pose).lower < 1e-9
        if small and second == "cube":  # faces give no bound for bodies that overlap deeply
            assert touch.gaps.min() >= deep.lower - 1e-9


def surface_error(points: Any, half: Any) -> float:
    """Return the distance of the farthest point from the surface of a box."""
    out = np.abs(points) - half
    away = np.linalg.norm(np.maximum(out, 0.0), axis=1)
    return float(np.where(out.max(axis=1) > 0.0, away, -out.max(axis=1)).max(initial=0.0))


def test_points_of_thin_plates_lie_on_their_surfaces() -> None:
    """A point nearly above both edges of a sharp corner of a face may be far beyond the corner."""
    cube, met = gk.Mesh(*gk.Box((1, 1, 1)).surface()), 0
    for seed in range(300):
        rng, pose = np.random.default_rng(seed), np.eye(4)
        thick = 10.0 ** rng.uniform(-9, -1)
        plate = gk.Mesh(*gk.Box((2, 2, thick)).surface())
        pose[:3, :3] = Rotation.random(random_state=seed).as_matrix()
        pose[:3, 3] = rng.uniform(-1.3, 1.3, 3)
        touch = gk.contact(plate, cube, None, pose, max_points=None)
        met += touch.count > 0
        assert surface_error(touch.points_a, (1, 1, thick / 2)) < 1e-12, seed
        assert surface_error((touch.points_b - pose[:3, 3]) @ pose[:3, :3], (0.5, 0.5, 0.5)) < 1e-12, seed
    assert met > 100


@pytest.mark.parametrize("gap", [1e-3, 0.0, -1e-2])
def test_points_on_an_open_mesh_do_not_depend_on_winding(gap: float) -> None:
    corners = [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)]
    for crate in (gk.Box((1, 1, 1)), gk.Mesh(*gk.Box((1, 1, 1)).surface())):
        for faces in ([(0, 1, 2), (0, 2, 3)], [(0, 2, 1), (0, 3, 2)], [(0, 1, 2), (0, 3, 2)]):
            sheet = gk.Mesh(corners, faces)
            for side in (1.0, -1.0):
                touch = gk.contact(sheet, crate, None, at(2, 2, side * (0.5 + gap)), within=0.02)
                assert touch.count == 4
                assert touch.gaps == pytest.approx(gap, abs=1e-12)
                assert np.abs(touch.normals - (0, 0, side)).max() < 1e-9
