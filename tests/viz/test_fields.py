"""Pictures of fields: slices of signed distances, distances of points, depth images, swept volumes, intersections."""

import numpy as np
import pytest
import trimesh
from example_results import pose
from message_checks import assert_names

import gjk3d as gk
from gjk3d import viz
from gjk3d.viz.colors import INK, SEPARATION
from gjk3d.viz.drawing import DOTS, FIELD, LINES, PART, Style
from gjk3d.viz.kinds import drawing_of
from gjk3d.viz.kinds.bodies import crossings, signed_colors

BALL = gk.Sphere(1.0)


def field_of(drawing):
    (item,) = [item for item in drawing.items if item.look == FIELD]
    return item


@pytest.mark.parametrize(("plane", "axis"), [("xy", 2), ("xz", 1), ("yz", 0)])
def test_slice_has_color_of_signed_distance(plane, axis):
    place = pose(3, 1, -2)
    drawing = drawing_of(BALL, Style(pose=place), slice=plane)
    item = field_of(drawing)
    assert np.ptp(item.vertices[:, axis]) < 1e-12
    distances = np.linalg.norm(item.vertices - place[:3, 3], axis=1) - 1.0
    assert np.abs(item.colors.astype(int) - signed_colors(distances).astype(int)).max() <= 1
    assert 1.2 < np.abs(item.vertices - place[:3, 3]).max() < 1.4
    surface = [part for part in drawing.items if part.look == LINES and part.width == 4.0]
    np.testing.assert_allclose(np.linalg.norm(surface[0].vertices - place[:3, 3], axis=1), 1.0, atol=2e-3)
    assert [text.split(",")[0] for text, _ in drawing.keys] == ["inside", "outside", drawing.keys[2][0]]


def test_slice_passes_through_point_with_normal():
    item = field_of(drawing_of(gk.Box((1, 2, 3)), slice=((0, 0, 1), (1, 0, 1))))
    np.testing.assert_allclose((item.vertices - (0, 0, 1)) @ (1, 0, 1), 0.0, atol=1e-12)
    with pytest.raises(gk.errors.ShapeError, match=r"slice is 'zz', expected one of 'xy'"):
        drawing_of(BALL, slice="zz")
    with pytest.raises(gk.errors.ShapeError, match=r"slice is 5, expected 'xy', 'xz', 'yz' or \(point, normal\)"):
        drawing_of(BALL, slice=5)


def test_signed_colors_are_white_at_zero():
    colors = signed_colors(np.array([-2.0, 0.0, 5.0, np.inf]))
    assert colors[:3].tolist() == [[213, 94, 0], [255, 255, 255], [0, 114, 178]]


def test_distance_points_are_drawn_at_their_positions(rng):
    points = rng.uniform(-2, 2, (50, 3))
    drawing = drawing_of(BALL.signed_distances(points), of=BALL)
    (dots,) = [item for item in drawing.items if item.look == DOTS]
    np.testing.assert_allclose(dots.vertices, points, atol=1e-9)
    assert_names(drawing.words[0], "50 points", "inside")
    far = drawing_of(BALL.signed_distances(points, max_distance=0.1))
    assert "beyond the limit" in far.words[1]


def rays(rows=6, columns=8):
    u, v = np.meshgrid(np.linspace(-0.5, 0.5, columns), np.linspace(0.4, -0.4, rows))
    directions = np.column_stack([u.ravel(), np.ones(u.size), v.ravel()])
    return gk.raycast(BALL, (0, -4, 0), directions)


def test_depth_image_has_one_pixel_per_ray():
    hits = rays()
    drawing = drawing_of(hits, of=BALL, image=(6, 8))
    item = field_of(drawing)
    assert len(item.vertices) == 48
    np.testing.assert_allclose(item.vertices[:, 1], item.vertices[0, 1])  # a plane perpendicular to the view
    assert (item.colors[~hits.hit] == (224, 228, 232)).all()
    nearest = np.argmin(hits.distance)
    assert item.colors[nearest].tolist() == [253, 231, 37]
    (dots,) = [part for part in drawing.items if part.look == DOTS]
    np.testing.assert_allclose(dots.vertices, hits.point[hits.hit])
    with pytest.raises(gk.errors.ShapeError, match=r"image is \(6, 9\).*48 rays, expected 54 rays"):
        drawing_of(hits, image=(6, 9))


def test_swept_volume_has_one_surface_per_link():
    checker = gk.robot.Checker(gk.robot.Robot.example(), {"ball": (gk.Sphere(0.1), pose(1, 1, 0))})
    swept = checker.swept(gk.robot.Trajectory([[0.0, 0.0], [0.8, 0.0]], times=[0.0, 1.0]), excess=0.05)
    drawing = drawing_of(swept, of=checker)
    assert [item.name for item in drawing.items] == ["ball", "post", "beam", "hand"]
    for name, box in swept.boxes().items():
        (item,) = [part for part in drawing.items if part.name == name]
        low, high = item.vertices.min(axis=0), item.vertices.max(axis=0)
        assert (low >= box[0] - 1e-6).all()
        assert (high <= box[1] + 1e-6).all()
        assert gk.Mesh(item.vertices, item.faces).is_watertight
    assert_names(drawing.words[0], "3 links", f"{len(swept.pieces)} pieces", "excess")


def test_intersecting_faces_and_curve_are_marked():
    ball, bar = trimesh.creation.icosphere(radius=1.0), trimesh.creation.box((0.5, 0.5, 3))
    joined = gk.Mesh(np.vstack([ball.vertices, bar.vertices]), np.vstack([ball.faces, bar.faces + len(ball.vertices)]))
    drawing = drawing_of(joined, self_intersections=True)
    (marked,) = [item for item in drawing.items if item.look == PART]
    assert len(marked.faces) == len(np.unique(joined.self_intersections()))
    assert marked.color == SEPARATION
    (curve,) = [item for item in drawing.items if item.look == LINES]
    assert np.abs(np.abs(curve.vertices[:, :2]).max(axis=1) - 0.25).max() < 1e-9  # on the sides of the bar
    assert ("intersection curve", INK) in drawing.keys
    clean = drawing_of(gk.Mesh(*gk.Box((1, 1, 1)).surface()), self_intersections=True)
    assert clean.words[-1] == "0 pairs of its faces intersect"
    with pytest.raises(TypeError, match=r"self_intersections=.*gjk3d\.Mesh.*a Sphere"):
        drawing_of(BALL, self_intersections=True)


def test_two_triangles_intersect_in_a_segment():
    flat = np.array([[[0, 0, 0], [4, 0, 0], [0, 4, 0]]], dtype=float)
    upright = np.array([[[1, 1, -1], [1, 1, 1], [9, 1, 0]]], dtype=float)
    (segment,) = crossings(flat, upright)
    assert sorted(segment.round(12).tolist()) == [[1, 1, 0], [3, 1, 0]]
    assert len(crossings(flat, upright + (0, 0, 9))) == 0


@pytest.mark.parametrize("name", ["slice", "image", "points"])
def test_pages_contain_the_colors(tmp_path, name):
    made = {
        "slice": lambda path: viz.show(BALL, slice="xz", path=path),
        "image": lambda path: viz.show(rays(), image=(6, 8), path=path),
        "points": lambda path: viz.show(BALL.signed_distances(np.eye(3)), path=path),
    }
    assert '"colors":"' in made[name](tmp_path / "a.html").read_text()
