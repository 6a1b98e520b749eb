import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import pyvista
import trimesh
from example_results import SHAPES, overlapping, pose, separated
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
from tests.viz import messages

ORANGE, GREEN = np.array([230, 159, 0]), np.array([0, 158, 115])


def picture(result, **options):
    """Return the picture as an array, and its plotter."""
    plotter = viz.show(result, off_screen=True, **options)
    plotter.window_size = (640, 480)  # a smaller picture saves time
    plotter.render()
    image = np.asarray(plotter.screenshot(None, return_img=True))
    return image.astype(float), plotter


def share(image, color):
    """Return the share of pixels that have the hue of a colour, at any brightness and saturation."""
    hue = np.asarray(Image.fromarray(np.array(image, np.uint8)).convert("HSV")).astype(int)
    wanted = np.asarray(Image.fromarray(np.array([[color]], np.uint8)).convert("HSV"))[0, 0].astype(int)
    near = np.abs((hue[..., 0] - wanted[0] + 128) % 256 - 128) < 12
    return float((near & (hue[..., 1] > 60)).mean())


def pixel_of(plotter, point):
    """Return the row and column of a point in the picture, projected without the plotter."""
    camera = plotter.camera
    eye, focus, up = (np.array(x, float) for x in (camera.position, camera.focal_point, camera.up))
    ahead = (focus - eye) / np.linalg.norm(focus - eye)
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    local = np.array([right, np.cross(right, ahead), ahead]) @ (np.asarray(point) - eye)
    width, height = plotter.window_size
    scale = height / 2 / np.tan(np.radians(camera.view_angle / 2))
    aside, above = camera.GetWindowCenter()  # offset of the middle of the picture, in half widths and half heights
    row, column = height / 2 * (1 + above), width / 2 * (1 - aside)
    return row - scale * local[1] / local[2], column + scale * local[0] / local[2]


def color_at(image, plotter, point):
    row, column = (round(float(x)) for x in pixel_of(plotter, point))
    return image[row - 2 : row + 3, column - 2 : column + 3].reshape(-1, 3).mean(axis=0)


def is_shade(color, of):
    """Return whether a colour is a dark version of another, with nearly the same direction."""
    cosine = color @ of / np.linalg.norm(color) / np.linalg.norm(of)
    return cosine > 0.95 and np.linalg.norm(color) < 0.75 * np.linalg.norm(of)


# --- whether anything can be drawn ---------------------------------------------------------------------------------


def test_rendering_is_probed_once(monkeypatch):
    assert viz.check_rendering().startswith("vtk")
    monkeypatch.setattr(image_files.subprocess, "run", None)
    assert viz.check_rendering().startswith("vtk")


@pytest.mark.full
@pytest.mark.parametrize(
    "probe", ["import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "print('drawn in nothing')", "1 / 0", ""]
)
def test_failing_driver_raises_with_remedy(monkeypatch, probe, tmp_path):
    image_files._probed.cache_clear()
    monkeypatch.setattr(image_files, "_PROBE", probe)
    try:
        for _ in range(2):
            with pytest.raises(RenderingUnavailableError, match=r"apt-get install .* libegl1 libgl1-mesa-dri"):
                viz.check_rendering()
        with pytest.raises(RenderingUnavailableError):
            viz.show(separated(), path=tmp_path / "a.png")
        assert not list(tmp_path.iterdir())
    finally:
        image_files._probed.cache_clear()


@pytest.mark.full
def test_pictures_without_display_raise_gjk3d_error(tmp_path):
    # a real failure in another process: an X window without a display
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
def test_hanging_probe_times_out(monkeypatch):
    image_files._probed.cache_clear()
    monkeypatch.setattr(image_files, "_PROBE", "import time; time.sleep(60)")
    monkeypatch.setattr(image_files, "_SECONDS", 0.2)
    try:
        with pytest.raises(RenderingUnavailableError):
            viz.check_rendering()
    finally:
        image_files._probed.cache_clear()


# --- contents of pictures ------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    ("asked", "where"),
    [(separated, ()), (overlapping, ()), (separated, (1e-9,)), (separated, (1e9,)), (separated, (1.0, 1e6))],
    ids=["1", "deep", "1e-9", "1e9", "far away"],
)
def test_bodies_and_witness_points_are_drawn(asked, where):
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
def test_pair_fills_the_picture():
    for result in (separated(), overlapping(), separated(1e-9)):
        layout = lay_out(result)
        plotter = viz.show(result, off_screen=True)
        points = np.concatenate([body.vertices for body in layout.bodies])
        rows, columns = np.transpose([pixel_of(plotter, point) for point in points])
        width, height = plotter.window_size
        assert rows.min() > 0.1 * height  # below the text
        assert rows.max() < height
        assert columns.min() > 0
        assert columns.max() < width
        assert max(np.ptp(rows) / height, np.ptp(columns) / width) > 0.6
        plotter.close()


@pytest.mark.full
def test_small_body_near_large_body_is_visible():
    result = gk.signed_distance(gk.Box((1000, 1000, 10)), gk.Sphere(1.0), None, pose(100, 50, 8))
    image, plotter = picture(result, opacity=(0.5, 0.9))
    assert share(image, GREEN) > 0.01
    assert share(image, ORANGE) > 0.3
    plotter.close()


@pytest.mark.full
@pytest.mark.parametrize(("place", "wanted"), [((0, -0.3, 0.55), GREEN), ((0, 1.0, -0.55), ORANGE)])
def test_nearer_body_hides_farther_body(place, wanted):
    result = gk.signed_distance(gk.Box((3, 3, 0.2)), gk.Sphere(0.4), None, pose(*place))
    image, plotter = picture(result, opacity=0.95)  # seen from above, so the upper body is in front
    eye = np.array(plotter.camera.position)
    meets = eye + (np.array(place) - eye) * (eye[2] - 0.1) / (eye[2] - place[2])
    assert np.abs(meets[:2]).max() < 1.4  # both bodies cover that pixel
    front = color_at(image, plotter, np.array(place) + (0.2, 0, 0))  # next to the arrow
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


def test_hull_with_many_faces_is_simplified(monkeypatch):
    monkeypatch.setattr("gjk3d.viz.drawing.MAX_FACES", 500)
    ball = gk.ConvexHull(gk.Sphere(1.0).surface(160).vertices)
    body = lay_out(gk.signed_distance(ball, gk.Point((3, 0, 0)))).bodies[0]
    assert len(body.faces) < 0.6 * len(ball.faces)
    np.testing.assert_allclose(body.vertices.max(axis=0), 1.0, atol=0.01)


@pytest.mark.full
def test_models_are_drawn_inside_their_hulls(tmp_path):
    vertices, faces = gk.Box((1, 1, 1)).surface()
    notched = gk.Mesh(vertices, faces[1:])  # open, so not its own hull
    result = gk.signed_distance(notched.hull(), gk.Box((1, 1, 1)), None, pose(2, 0.3, 0))
    plain, with_model = (
        viz.show(result, path=tmp_path / f"{i}.png", surfaces=s, names=("part", "tool"))
        for i, s in enumerate([None, (notched, None)])
    )
    a, b = (np.asarray(Image.open(p)).astype(float) for p in (plain, with_model))
    assert np.abs(a - b).max() > 50.0


@pytest.mark.full
def test_verdict_and_proof_describe_every_status():
    touch = gk.signed_distance(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose(1, 0, 0))
    assert verdict(touch) == "touching"
    far = gk.signed_distance(gk.Sphere(1), gk.Sphere(1), None, pose(9, 0, 0), max_distance=2)
    assert verdict(far, "mm") == messages.APART.format("7 mm")
    assert proof(far) == messages.PROVEN.format(7)
    assert verdict(separated()) == messages.APART.format(1)
    assert verdict(overlapping(), "m").startswith("overlapping by 0.")
    far.upper = np.inf
    assert verdict(far, "mm") == messages.APART.format(messages.AT_LEAST.format(f"{below(far.lower)} mm"))
    assert proof(far) == messages.PROVEN.format(messages.AT_LEAST.format(below(far.lower)))
    for result in (touch, far):
        image, plotter = picture(result)
        assert image.std() > 5.0
        plotter.close()


# --- output of show --------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_show_writes_the_requested_image(tmp_path, capfd):
    for suffix in (".png", ".JPG", ".jpeg"):
        path = viz.show(separated(), path=str(tmp_path / f"a{suffix}"), title="a title")
        assert isinstance(path, Path)
        assert Image.open(path).size == (1000, 750)
    assert capfd.readouterr().out == ""


@pytest.mark.full
def test_show_without_display_saves_and_prints_file(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gjk3d.viz.picture.has_display", lambda: False)
    path = viz.show(separated())
    assert path == Path("gjk3d.png")
    assert np.asarray(Image.open(path)).std() > 5.0
    out, err = capfd.readouterr()
    assert out == ""
    assert "gjk3d.png" in err


@pytest.mark.full
def test_show_with_display_opens_a_window(monkeypatch):
    opened = []
    monkeypatch.setattr("gjk3d.viz.picture.has_display", lambda: True)
    monkeypatch.setattr(pyvista.Plotter, "show", lambda self: opened.append(self.off_screen))
    plotter = viz.show(separated())
    assert isinstance(plotter, pyvista.Plotter)
    assert opened == [False]
    plotter.close()


@pytest.mark.full
def test_show_draws_into_given_plotter():
    plotter = pyvista.Plotter(off_screen=True, shape=(1, 2), window_size=[1000, 400])
    plotter.subplot(0, 1)
    assert viz.show(overlapping(), plotter=plotter) is plotter
    image = np.asarray(plotter.screenshot(None, return_img=True)).astype(float)
    assert image[:, :490].std() < 1.0  # the left panel is empty
    assert share(image[:, 510:], GREEN) > 0.02
    plotter.close()


def test_page_needs_no_opengl(tmp_path, monkeypatch):
    def fail():
        raise AssertionError("asked for OpenGL")

    monkeypatch.setattr("gjk3d.viz.picture.check_rendering", fail)
    path = viz.show(separated(), path=tmp_path / "a.html", title="a <b> title")
    assert "a &lt;b&gt; title" in path.read_text()


@pytest.mark.full
def test_blank_picture_raises(tmp_path, monkeypatch):
    monkeypatch.setattr(pyvista.Plotter, "screenshot", lambda self, *a, **k: np.full((75, 100, 3), 255, np.uint8))
    with pytest.raises(RenderingUnavailableError, match=r"a\.png.*OpenGL.*xvfb-run"):
        viz.show(separated(), path=tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_invalid_arguments_of_show_raise(tmp_path):
    poses = np.stack([pose(3, 0, 0), pose(4, 0, 0)])
    stack = gk.signed_distance(gk.Sphere(1), gk.Sphere(1), None, poses)
    with pytest.raises(TypeError, match=r"\b2\b.*result\[0\]"):
        viz.show(stack)
    assert viz.show(stack[1], path=tmp_path / "row.png").exists()
    with pytest.raises(TypeError, match=r"\bint\b.*Distance.*Mesh.*Shape"):
        viz.show(7)
    with pytest.raises(ValueError, match=r"'\.gif'.*\.png"):
        viz.show(separated(), path=tmp_path / "a.gif")


@pytest.mark.full
def test_import_of_viz_loads_no_library():
    code = "import sys, gjk3d.viz; print([m for m in ('pyvista', 'vtkmodules', 'trimesh') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


# --- to pyvista ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [n for n in SHAPES if n not in ("point", "segment", "triangle", "flat hull", "halfspace")]
)
def test_to_pyvista_keeps_volume_and_pose(name):
    shape, place = SHAPES[name], pose(3, -2, 1, (0.3, 0.4, 0.5))
    mesh = viz.to_pyvista(shape, place)
    assert mesh.is_manifold
    assert mesh.volume == pytest.approx(shape.volume, rel=5e-3)
    np.testing.assert_allclose(np.reshape(mesh.bounds, (3, 2)).T, gk.aabb(shape, place).corners[[0, 7]], atol=2e-3)


def test_to_pyvista_converts_thin_and_unbounded_shapes():
    assert viz.to_pyvista(SHAPES["point"]).n_verts == 1
    assert viz.to_pyvista(SHAPES["segment"]).n_lines == 1
    assert viz.to_pyvista(SHAPES["triangle"]).area == pytest.approx(2 * 0.5 * np.sqrt(1 + 0.04))  # both sides
    plate = viz.to_pyvista(gk.Halfspace((0, 0, 1), 2.0), around=((5, 5, 5), 1.0))
    assert plate.bounds[5] == pytest.approx(2.0)
    np.testing.assert_allclose(plate.center[:2], (5, 5))
    assert plate.volume > 0.0


def test_to_pyvista_accepts_meshes_and_surfaces():
    surface = gk.Box((1, 2, 3)).surface()
    mesh = gk.Mesh(*surface)
    for obj in (surface, mesh, viz.to_pyvista(mesh)):
        assert viz.to_pyvista(obj, pose(1, 0, 0)).volume == pytest.approx(6.0, rel=1e-6)
    with pytest.raises(TypeError, match=r"\bint\b.*Distance.*Mesh.*Shape"):
        viz.to_pyvista(7)
    with pytest.raises(gk.errors.PoseError):
        viz.to_pyvista(mesh, np.eye(3))


def test_missing_folder_raises(tmp_path):
    result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(1))
    with pytest.raises(gk.errors.FileError, match=r"nowhere/x\.png.*nowhere"):
        gk.viz.show(result, path=tmp_path / "nowhere" / "x.png")


def test_depth_interval_is_printed_with_both_bounds(tmp_path):
    ring = trimesh.creation.torus(3, 1)
    result = gk.signed_distance(
        gk.Mesh(ring.vertices, ring.faces), gk.Mesh(*gk.Box((2, 2, 9)).surface()), None, pose(3, 0, 0)
    )
    assert not result.tight
    assert result.lower < result.upper < 0.0
    drawing = drawing_of(result)
    least, most = below(-result.upper), above(-result.lower)
    assert drawing.words[0] == messages.BETWEEN.format(least, most)
    assert (messages.WAY_OUT, SEPARATION) in drawing.keys
    page = viz.write_html(tmp_path / "deep.html", result, unit="mm").read_text(encoding="utf-8")
    assert messages.BETWEEN.format(least, f"{most} mm") in page
    assert f"</svg> {messages.WAY_OUT}<" in page
    assert messages.MOVE_OUT in page
    assert "shortest" not in page[: page.index("<script")]
    assert (messages.SHORTEST_WAY_OUT, SEPARATION) in drawing_of(overlapping()).keys


@pytest.mark.full
def test_mesh_of_degenerate_triangles_is_drawn(tmp_path):
    flat = gk.Mesh([[0, 0, 0], [0, 0, 0], [1, 0, 0]], [[0, 1, 2]])
    for kind in ("png", "html"):
        assert gk.viz.show(flat, path=tmp_path / f"flat.{kind}").stat().st_size > 1000


def test_lengths_have_common_unit_of_both_meshes():
    cube, pose_b = gk.Box((1, 1, 1)).surface(), np.eye(4)
    pose_b[0, 3] = 1.5
    made = [gk.Mesh(cube.vertices, cube.faces, unit=unit) for unit in ("millimeters", "mm", None)]
    for mesh_b, words in zip(made[1:], ("Apart by 0.5 mm", "Apart by 0.5"), strict=True):
        drawing = drawing_of(gk.signed_distance(made[0], mesh_b, None, pose_b))
        assert drawing.words == [words, words.replace("Apart by", "proven: distance")]
