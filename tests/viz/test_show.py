import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import pyvista
import trimesh
from answers import SHAPES, apart, deep, pose
from PIL import Image

import gjk3d as gk
from gjk3d import viz
from gjk3d.errors import RenderingUnavailableError
from gjk3d.query.wording import proof, verdict
from gjk3d.viz import image_files
from gjk3d.viz.colors import SEPARATION
from gjk3d.viz.drawing import lay_out
from gjk3d.viz.kinds import drawing_of
from gjk3d.wording import above, below
from tests.viz import sentences

ORANGE, GREEN = np.array([230, 159, 0]), np.array([0, 158, 115])


def picture(result, **options):
    """Return the drawing as an array, and the plotter that made it."""
    plotter = viz.show(result, off_screen=True, **options)
    plotter.window_size = (640, 480)  # a quarter of the time
    plotter.render()
    image = np.asarray(plotter.screenshot(None, return_img=True))
    return image.astype(float), plotter


def share(image, color):
    """Return the part of the pixels that have the hue of a colour, at any brightness and paleness."""
    hue = np.asarray(Image.fromarray(np.array(image, np.uint8)).convert("HSV")).astype(int)
    wanted = np.asarray(Image.fromarray(np.array([[color]], np.uint8)).convert("HSV"))[0, 0].astype(int)
    near = np.abs((hue[..., 0] - wanted[0] + 128) % 256 - 128) < 12
    return float((near & (hue[..., 1] > 60)).mean())


def pixel_of(plotter, point):
    """Project a point by hand: row and column in the picture."""
    camera = plotter.camera
    eye, focus, up = (np.array(x, float) for x in (camera.position, camera.focal_point, camera.up))
    ahead = (focus - eye) / np.linalg.norm(focus - eye)
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    local = np.array([right, np.cross(right, ahead), ahead]) @ (np.asarray(point) - eye)
    width, height = plotter.window_size
    scale = height / 2 / np.tan(np.radians(camera.view_angle / 2))
    aside, above = camera.GetWindowCenter()  # where the middle of the picture is, in halves of it
    row, column = height / 2 * (1 + above), width / 2 * (1 - aside)
    return row - scale * local[1] / local[2], column + scale * local[0] / local[2]


def color_at(image, plotter, point):
    row, column = (round(float(x)) for x in pixel_of(plotter, point))
    return image[row - 2 : row + 3, column - 2 : column + 3].reshape(-1, 3).mean(axis=0)


def is_shade(color, of):
    """Tell whether a colour is a dark version of another: the same direction, or nearly."""
    cosine = color @ of / np.linalg.norm(color) / np.linalg.norm(of)
    return cosine > 0.95 and np.linalg.norm(color) < 0.75 * np.linalg.norm(of)


# --- whether anything can be drawn ---------------------------------------------------------------------------------


def test_rendering_works_here_and_is_probed_once(monkeypatch):
    assert viz.check_rendering().startswith("vtk")
    monkeypatch.setattr(image_files.subprocess, "run", None)
    assert viz.check_rendering().startswith("vtk")


@pytest.mark.full
@pytest.mark.parametrize(
    "probe", ["import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "print('drawn in nothing')", "1 / 0", ""]
)
def test_a_driver_that_kills_its_process_is_an_error_with_the_cure(monkeypatch, probe, tmp_path):
    image_files._probed.cache_clear()
    monkeypatch.setattr(image_files, "_PROBE", probe)
    try:
        for _ in range(2):
            with pytest.raises(RenderingUnavailableError, match=r"apt-get install .* libegl1 libgl1-mesa-dri"):
                viz.check_rendering()
        with pytest.raises(RenderingUnavailableError):
            viz.show(apart(), path=tmp_path / "a.png")
        assert not list(tmp_path.iterdir())
    finally:
        image_files._probed.cache_clear()


@pytest.mark.full
def test_where_no_window_can_be_had_every_picture_is_our_error(tmp_path):
    # a real failure, in a process of its own: the X window without any display
    code = (
        "import gjk3d as gk, sys\n"
        "for ask in (lambda: gk.viz.show(gk.Sphere(1), path=sys.argv[1]), lambda: gk.viz.plot(gk.Sphere(1)),"
        " lambda: gk.viz.show([gk.Sphere(1)], off_screen=True), lambda: gk.viz.show(gk.Scene())):\n"
        "    try: ask()\n"
        "    except gk.errors.RenderingUnavailableError as error: print('apt-get' in str(error))\n"
    )
    settings = os.environ | {"VTK_DEFAULT_OPENGL_WINDOW": "vtkXOpenGLRenderWindow"}
    settings.pop("DISPLAY", None)
    command = [sys.executable, "-c", code, str(tmp_path / "a.png")]
    done = subprocess.run(command, capture_output=True, text=True, env=settings, cwd=tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, ["True"] * 4)


@pytest.mark.full
def test_a_probe_that_hangs_is_given_up(monkeypatch):
    image_files._probed.cache_clear()
    monkeypatch.setattr(image_files, "_PROBE", "import time; time.sleep(60)")
    monkeypatch.setattr(image_files, "_SECONDS", 0.2)
    try:
        with pytest.raises(RenderingUnavailableError):
            viz.check_rendering()
    finally:
        image_files._probed.cache_clear()


# --- what a picture shows ------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    ("asked", "where"),
    [(apart, ()), (deep, ()), (apart, (1e-9,)), (apart, (1e9,)), (apart, (1.0, 1e6))],
    ids=["1", "deep", "1e-9", "1e9", "far away"],
)
def test_both_bodies_and_both_witness_points_are_where_they_should_be(asked, where):
    result = asked(*where)
    image, plotter = picture(result)
    assert image.std() > 5.0
    assert share(image, ORANGE) > 0.02
    assert share(image, GREEN) > 0.02
    assert is_shade(color_at(image, plotter, result.point_a), ORANGE)
    assert is_shade(color_at(image, plotter, result.point_b), GREEN)
    middle = color_at(image, plotter, (result.point_a + result.point_b) / 2)
    expected = np.array([213, 94, 0]) if result.distance < 0 else np.array([0, 114, 178])
    assert middle @ expected / np.linalg.norm(middle) / np.linalg.norm(expected) > 0.9
    plotter.close()


@pytest.mark.full
def test_the_whole_pair_is_in_the_picture_and_fills_it():
    for result in (apart(), deep(), apart(1e-9)):
        layout = lay_out(result)
        plotter = viz.show(result, off_screen=True)
        points = np.concatenate([body.vertices for body in layout.bodies])
        rows, columns = np.transpose([pixel_of(plotter, point) for point in points])
        width, height = plotter.window_size
        assert rows.min() > 0.1 * height  # below the words
        assert rows.max() < height
        assert columns.min() > 0
        assert columns.max() < width
        assert max(np.ptp(rows) / height, np.ptp(columns) / width) > 0.6
        plotter.close()


@pytest.mark.full
def test_a_small_body_at_a_large_one_is_not_lost():
    result = gk.signed_distance(gk.Box((1000, 1000, 10)), gk.Sphere(1.0), None, pose(100, 50, 8))
    image, plotter = picture(result, opacity=(0.5, 0.9))
    assert share(image, GREEN) > 0.01
    assert share(image, ORANGE) > 0.3
    plotter.close()


@pytest.mark.full
@pytest.mark.parametrize(("place", "wanted"), [((0, -0.3, 0.55), GREEN), ((0, 1.0, -0.55), ORANGE)])
def test_the_nearer_body_is_painted_over_the_farther_one(place, wanted):
    result = gk.signed_distance(gk.Box((3, 3, 0.2)), gk.Sphere(0.4), None, pose(*place))
    image, plotter = picture(result, opacity=0.95)  # seen from above: what is above is in front
    eye = np.array(plotter.camera.position)
    meets = eye + (np.array(place) - eye) * (eye[2] - 0.1) / (eye[2] - place[2])
    assert np.abs(meets[:2]).max() < 1.4  # the two overlap at that pixel
    front = color_at(image, plotter, np.array(place) + (0.2, 0, 0))  # beside the arrow
    assert front @ wanted / np.linalg.norm(front) / np.linalg.norm(wanted) > 0.97
    plotter.close()


@pytest.mark.full
@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_can_be_drawn(name):
    result = gk.signed_distance(SHAPES[name], gk.Box((0.5, 0.5, 0.5)), None, pose(2.5, 0.4, 0.3, (0.2, 0.5, 0.1)))
    image, plotter = picture(result)
    assert image.std() > 5.0
    assert share(image, ORANGE) > 0.0002
    assert share(image, GREEN) > 0.005
    plotter.close()


def test_a_hull_of_very_many_faces_is_drawn_more_coarsely(monkeypatch):
    monkeypatch.setattr("gjk3d.viz.drawing.MAX_FACES", 500)
    ball = gk.ConvexHull(gk.Sphere(1.0).surface(160).vertices)
    body = lay_out(gk.signed_distance(ball, gk.Point((3, 0, 0)))).bodies[0]
    assert len(body.faces) < 0.6 * len(ball.faces)
    np.testing.assert_allclose(body.vertices.max(axis=0), 1.0, atol=0.01)


@pytest.mark.full
def test_models_are_drawn_inside_their_hulls(tmp_path):
    vertices, faces = gk.Box((1, 1, 1)).surface()
    notched = gk.Mesh(vertices, faces[1:])  # open: not its own hull
    result = gk.signed_distance(notched.hull(), gk.Box((1, 1, 1)), None, pose(2, 0.3, 0))
    plain, with_model = (
        viz.show(result, path=tmp_path / f"{i}.png", surfaces=s, names=("part", "tool"))
        for i, s in enumerate([None, (notched, None)])
    )
    a, b = (np.asarray(Image.open(p)).astype(float) for p in (plain, with_model))
    assert np.abs(a - b).max() > 50.0


@pytest.mark.full
def test_touching_undecided_and_beyond_are_said_in_words():
    touch = gk.signed_distance(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose(1, 0, 0))
    assert verdict(touch) == "touching"
    far = gk.signed_distance(gk.Sphere(1), gk.Sphere(1), None, pose(9, 0, 0), max_distance=2)
    assert verdict(far, "mm") == sentences.APART.format("7 mm")
    assert proof(far) == sentences.PROVEN.format(7)
    assert verdict(apart()) == sentences.APART.format(1)
    assert verdict(deep(), "m").startswith("overlapping by 0.")
    far.upper = np.inf
    assert verdict(far, "mm") == sentences.APART.format(sentences.AT_LEAST.format(f"{below(far.lower)} mm"))
    assert proof(far) == sentences.PROVEN.format(sentences.AT_LEAST.format(below(far.lower)))
    for result in (touch, far):
        image, plotter = picture(result)
        assert image.std() > 5.0
        plotter.close()


# --- where it goes ---------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_show_writes_the_image_it_is_asked_for(tmp_path, capfd):
    for suffix in (".png", ".JPG", ".jpeg"):
        path = viz.show(apart(), path=str(tmp_path / f"a{suffix}"), title="a title")
        assert isinstance(path, Path)
        assert Image.open(path).size == (1000, 750)
    assert capfd.readouterr().out == ""


@pytest.mark.full
def test_without_a_display_show_saves_and_says_where(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gjk3d.viz.picture.has_display", lambda: False)
    path = viz.show(apart())
    assert path == Path("gjk3d.png")
    assert np.asarray(Image.open(path)).std() > 5.0
    out, err = capfd.readouterr()
    assert out == ""
    assert "gjk3d.png" in err


@pytest.mark.full
def test_with_a_display_show_opens_a_window(monkeypatch):
    opened = []
    monkeypatch.setattr("gjk3d.viz.picture.has_display", lambda: True)
    monkeypatch.setattr(pyvista.Plotter, "show", lambda self: opened.append(self.off_screen))
    plotter = viz.show(apart())
    assert isinstance(plotter, pyvista.Plotter)
    assert opened == [False]
    plotter.close()


@pytest.mark.full
def test_show_draws_into_a_plotter_it_is_given():
    plotter = pyvista.Plotter(off_screen=True, shape=(1, 2), window_size=[1000, 400])
    plotter.subplot(0, 1)
    assert viz.show(deep(), plotter=plotter) is plotter
    image = np.asarray(plotter.screenshot(None, return_img=True)).astype(float)
    assert image[:, :490].std() < 1.0  # the left panel is empty
    assert share(image[:, 510:], GREEN) > 0.02
    plotter.close()


def test_a_page_needs_no_opengl(tmp_path, monkeypatch):
    def fail():
        raise AssertionError("asked for OpenGL")

    monkeypatch.setattr("gjk3d.viz.picture.check_rendering", fail)
    path = viz.show(apart(), path=tmp_path / "a.html", title="a <b> title")
    assert "a &lt;b&gt; title" in path.read_text()


@pytest.mark.full
def test_a_blank_picture_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(pyvista.Plotter, "screenshot", lambda self, *a, **k: np.full((75, 100, 3), 255, np.uint8))
    with pytest.raises(RenderingUnavailableError, match=r"a\.png.*OpenGL.*xvfb-run"):
        viz.show(apart(), path=tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_bad_questions_are_answered_kindly(tmp_path):
    poses = np.stack([pose(3, 0, 0), pose(4, 0, 0)])
    stack = gk.signed_distance(gk.Sphere(1), gk.Sphere(1), None, poses)
    with pytest.raises(TypeError, match=r"\b2\b.*result\[0\]"):
        viz.show(stack)
    assert viz.show(stack[1], path=tmp_path / "row.png").exists()
    with pytest.raises(TypeError, match=r"\bint\b.*Distance.*Mesh.*Shape"):
        viz.show(7)
    with pytest.raises(ValueError, match=r"'\.gif'.*\.png"):
        viz.show(apart(), path=tmp_path / "a.gif")


@pytest.mark.full
def test_importing_viz_loads_nothing():
    code = "import sys, gjk3d.viz; print([m for m in ('pyvista', 'vtkmodules', 'trimesh') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


# --- to pyvista ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [n for n in SHAPES if n not in ("point", "segment", "triangle", "flat hull", "halfspace")]
)
def test_to_pyvista_keeps_volume_and_place(name):
    shape, place = SHAPES[name], pose(3, -2, 1, (0.3, 0.4, 0.5))
    mesh = viz.to_pyvista(shape, place)
    assert mesh.is_manifold
    assert mesh.volume == pytest.approx(shape.volume, rel=5e-3)
    np.testing.assert_allclose(np.reshape(mesh.bounds, (3, 2)).T, gk.aabb(shape, place).corners[[0, 7]], atol=2e-3)


def test_to_pyvista_of_thin_and_unbounded_things():
    assert viz.to_pyvista(SHAPES["point"]).n_verts == 1
    assert viz.to_pyvista(SHAPES["segment"]).n_lines == 1
    assert viz.to_pyvista(SHAPES["triangle"]).area == pytest.approx(2 * 0.5 * np.sqrt(1 + 0.04))  # both sides
    plate = viz.to_pyvista(gk.Halfspace((0, 0, 1), 2.0), around=((5, 5, 5), 1.0))
    assert plate.bounds[5] == pytest.approx(2.0)
    np.testing.assert_allclose(plate.center[:2], (5, 5))
    assert plate.volume > 0.0


def test_to_pyvista_of_meshes_surfaces_and_its_own():
    surface = gk.Box((1, 2, 3)).surface()
    mesh = gk.Mesh(*surface)
    for thing in (surface, mesh, viz.to_pyvista(mesh)):
        assert viz.to_pyvista(thing, pose(1, 0, 0)).volume == pytest.approx(6.0, rel=1e-6)
    with pytest.raises(TypeError, match=r"\bint\b.*Distance.*Mesh.*Shape"):
        viz.to_pyvista(7)
    with pytest.raises(gk.errors.PoseError):
        viz.to_pyvista(mesh, np.eye(3))


def test_a_missing_folder_is_told_before_anything_is_drawn(tmp_path):
    result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(1))
    with pytest.raises(gk.errors.FileError, match=r"nowhere/x\.png.*nowhere"):
        gk.viz.show(result, path=tmp_path / "nowhere" / "x.png")


def test_of_a_depth_between_two_bounds_both_are_told(tmp_path):
    ring = trimesh.creation.torus(3, 1)
    result = gk.signed_distance(
        gk.Mesh(ring.vertices, ring.faces), gk.Mesh(*gk.Box((2, 2, 9)).surface()), None, pose(3, 0, 0)
    )
    assert not result.tight
    assert result.lower < result.upper < 0.0
    drawing = drawing_of(result)
    least, most = below(-result.upper), above(-result.lower)
    assert drawing.words[0] == sentences.BETWEEN.format(least, most)
    assert (sentences.WAY_OUT, SEPARATION) in drawing.keys
    page = viz.write_html(tmp_path / "deep.html", result, unit="mm").read_text(encoding="utf-8")
    assert sentences.BETWEEN.format(least, f"{most} mm") in page
    assert f"</svg> {sentences.WAY_OUT}<" in page
    assert sentences.MOVE_OUT in page
    assert "shortest" not in page[: page.index("<script")]
    assert (sentences.SHORTEST_WAY_OUT, SEPARATION) in drawing_of(deep()).keys


@pytest.mark.full
def test_a_mesh_whose_triangles_are_lines_is_drawn(tmp_path):
    flat = gk.Mesh([[0, 0, 0], [0, 0, 0], [1, 0, 0]], [[0, 1, 2]])
    for kind in ("png", "html"):
        assert gk.viz.show(flat, path=tmp_path / f"flat.{kind}").stat().st_size > 1000


def test_lengths_have_the_unit_that_both_meshes_are_in():
    cube, apart = gk.Box((1, 1, 1)).surface(), np.eye(4)
    apart[0, 3] = 1.5
    made = [gk.Mesh(cube.vertices, cube.faces, unit=unit) for unit in ("millimeters", "mm", None)]
    for other, words in zip(made[1:], ("Apart by 0.5 mm", "Apart by 0.5"), strict=True):
        drawing = drawing_of(gk.signed_distance(made[0], other, None, apart))
        assert drawing.words == [words, words.replace("Apart by", "proven: distance")]
