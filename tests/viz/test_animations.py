"""Animations of motions and impacts, text in vector files, and messages about long tasks."""

import base64
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zlib
from concurrent.futures import ThreadPoolExecutor

import matplotlib  # noqa: TID251 - its settings are looked at
import numpy as np
import pytest
import pyvista
from example_results import pose
from PIL import Image, features
from test_show import share

import gjk3d as gk
from gjk3d import viz
from gjk3d.viz import image_files, motions
from gjk3d.viz.colors import darker
from gjk3d.viz.drawing import camera_of
from gjk3d.viz.image_files import save, write_vector
from gjk3d.viz.kinds.robots import HIT
from gjk3d.viz.motions import play_of_impact, play_of_motion
from gjk3d.viz.paint import extent
from tests.viz import messages

BLUE = np.array([0, 114, 178])
GREEN = np.array([0, 158, 115])


def impact(clear=False):
    end = (-2, 0, 0) if clear else (-6, 0, 0)
    return gk.time_of_impact(
        gk.Box((1, 1, 1)), gk.Sphere(0.5), gk.Motion(None, (0, 0, 0)), gk.Motion(pose(4, 0, 0), end)
    )


def frames_of(file):
    with Image.open(file) as film:
        out = []
        for k in range(film.n_frames):
            film.seek(k)
            out.append(np.asarray(film.convert("RGB")).astype(float))
        return out


def test_impact_is_played_until_first_contact():
    x = impact()
    play = play_of_impact(x, None, 5)
    times = np.linspace(0.0, x.free_until, 5)
    a, b = play.movers
    np.testing.assert_allclose(b.poses, x.motion_b.at(times))
    np.testing.assert_allclose(a.poses, np.broadcast_to(np.eye(4), (5, 4, 4)))
    np.testing.assert_allclose(play.trace, x.motion_b.at(times)[:, :3, 3], atol=1e-12)
    assert [moment.hit for moment in play.moments] == [frozenset()] * 5  # the bodies keep the colours of the legend
    assert (play.trail, dict(play.keys)[messages.TRAIL]) == (darker(b.color), darker(b.color))
    (normal,) = [text for text, _ in play.signs.keys]
    assert normal == messages.CONTACT_NORMAL
    tip = play.signs.items[1].vertices  # tip of the arrow along the normal
    assert (tip - x.point_a).dot(x.normal).max() > 0.2 * play.whole.ball[1]
    assert play.moments[0].lines == [messages.AT_SHARE.format(0)]
    assert play.moments[-1].lines[0] == messages.FIRST_CONTACT.format(0.5)
    free = play_of_impact(impact(clear=True), "clear", 3)
    assert [moment.hit for moment in free.moments] == [frozenset()] * 3
    assert free.title == "clear"
    assert not free.signs.items
    assert free.moments[-1].lines[0] == messages.FREE_MOTION


@pytest.mark.full
@pytest.mark.parametrize("ending", ["gif", "webp"])
def test_impact_animation_shows_normal_at_its_end(tmp_path, ending):
    if ending == "webp" and not features.check("webp"):
        pytest.skip("Pillow without WebP")
    frames = frames_of(viz.motion(impact(), target=tmp_path / f"impact.{ending}", frames=4))
    assert len(frames) == 4
    green = [share(image, GREEN) for image in frames]
    assert min(green) > 0.005
    blue = [share(image, BLUE) for image in frames]
    assert blue[-1] > 0.0005 > 0.0001 > max(blue[:-1])
    places = [np.argwhere(np.abs(image - GREEN).max(axis=2) < 60)[:, 1].mean() for image in frames[:-1]]
    assert places == sorted(places, reverse=True)  # the ball comes from the right


def test_body_hit_from_inside_is_transparent():
    tank = gk.Mesh(*gk.Sphere(2).surface())
    x = gk.time_of_impact(tank, gk.Sphere(0.3), None, gk.Motion(pose(0, 0, 0), (4, 0, 0)))
    a, b = play_of_impact(x, None, 3).movers
    assert ([item.opacity for item in a.items], [item.opacity for item in b.items]) == ([0.5], [1.0])


def test_camera_shows_every_pose_of_a_motion():
    way, cone = gk.Motion(None, (3, 0, 0), (0, 5, 0)), gk.Cone(0.5, 1.0)
    play = play_of_motion(way, cone, None, 60)
    camera = camera_of(play.whole)
    back = (camera.eye - camera.center) / np.linalg.norm(camera.eye - camera.center)
    right = np.cross(camera.up, back)
    right /= np.linalg.norm(right)
    (mover,) = play.movers
    for at in mover.poses:
        seen = mover.items[0].moved(at).vertices - camera.eye
        assert np.abs(seen @ right / (seen @ -back)).max() < 4 / 3 * np.tan(np.radians(camera.angle / 2))


def test_moving_body_is_framed_by_its_boxes():
    ball = gk.Mesh(*gk.Sphere(1).surface(120))
    play = play_of_motion(gk.Motion(None, (3, 0, 0)), ball, None, 5)
    assert len(play.whole.framed) == 5 * 8
    assert np.ptp(play.whole.framed, axis=0) == pytest.approx([5, 2, 2], abs=1e-2)


@pytest.mark.full
def test_motion_of_any_object_is_played(tmp_path):
    way = gk.Motion(None, (3, 0, 1), (0, 0, 4))
    cloud = gk.PointCloud(np.random.default_rng(0).normal(size=(2000, 3)) * 0.1, 0.02)
    play = play_of_motion(way, [gk.Box((1, 0.5, 0.2)), cloud], None, 7)
    for mover in play.movers:
        np.testing.assert_allclose(mover.poses, way.at(np.linspace(0.0, 1.0, 7)))
    assert play.whole.ball[1] > 1.5  # the whole path is in the picture
    thin = viz.motion(way, target=tmp_path / "way.gif", of=gk.Segment((0, 0, 0), (1, 0, 0)), frames=3)
    assert len(frames_of(thin)) == 3
    text = viz.motion(way, target=tmp_path / "way.html", of=cloud, frames=3).read_text(encoding="utf-8")
    scene = json.loads(text.partition('id="scene">')[2].partition("</script>")[0])
    assert len(scene["states"]) == 3
    assert scene["colors"]["trail"] == darker("#E69F00")  # the colour of the moving body
    assert scene["items"][0]["indices"]  # points of a moving cloud are drawn as small bodies
    grid = play_of_motion(way, gk.VoxelGrid(np.ones((2, 2, 2)), 1.0), None, 2)
    stage = motions.Stage(grid)
    stage.go(1)
    ((faces, *_, lines),) = stage.actors
    colors = [str(actor.prop.color.hex_rgb).upper() for actor in (lines, faces)]
    stage.plotter.close()
    assert [str(pyvista.Color(darker("#E69F00")).hex_rgb).upper(), "#E69F00"] == colors  # edges stay darker than faces
    assert viz.motion(way, target=tmp_path / "way.png", of=gk.Box((1, 1, 1))).stat().st_size > 5000


def test_invalid_animations_raise(tmp_path, monkeypatch):
    way = gk.Motion(None, (3, 0, 1))
    with pytest.raises(TypeError, match=r"Motion.*viz\.motion\(motion, of=shape\)"):
        viz.motion(way, target=tmp_path / "a.gif")
    stack = gk.Motion(np.tile(np.eye(4), (3, 1, 1)), (1, 0, 0))
    with pytest.raises(TypeError, match=r"\b3\b.*motion\[0\]"):
        viz.motion(stack, target=tmp_path / "a.gif", of=gk.Sphere(1))
    with pytest.raises(ValueError, match=r"of is an empty list"):
        viz.motion(way, target=tmp_path / "a.gif", of=[])
    with pytest.raises(TypeError, match=r"\bstr\b.*Checker"):
        viz.motion("nut", target=tmp_path / "a.gif")
    with pytest.raises(TypeError, match=r"path= and moving= need a Checker.*Impact.*of="):
        viz.motion(impact(), [[0.0]])
    with pytest.raises(TypeError, match=r"path= and moving= need a Checker.*file as target="):
        viz.motion(impact(), path="a.gif")
    monkeypatch.setattr(motions, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"a\.mp4.*pip install imageio imageio-ffmpeg"):
        viz.motion(impact(), target=tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_mp4_is_written(tmp_path):
    from imageio import v2 as imageio

    file = viz.motion(impact(), target=tmp_path / "a.mp4", frames=4, fps=10)
    first, *_, last = (image.astype(float) for image in imageio.mimread(file))
    assert share(first, BLUE) < 0.0001 < 0.0005 < share(last, BLUE)


@pytest.mark.full
def test_stage_reuses_its_actors():
    stage = motions.Stage(play_of_impact(impact(), None, 6))
    try:
        stage.image(1)
        many = len(stage.plotter.renderer.actors)
        for k in (2, 3, 5, 1):
            stage.image(k)
        assert len(stage.plotter.renderer.actors) == many
        colors = {str(actors[0].prop.color.hex_rgb).upper() for actors in stage.actors}
        assert HIT not in colors
    finally:
        stage.plotter.close()


NAMES = ("B\x07 $a$ and $b$", "<C> & \u4e2d")


@pytest.mark.full
def test_svg_contains_its_text_in_unicode(tmp_path):
    file = viz.show([gk.Sphere(1), gk.Box((3, 1, 1))], names=NAMES, path=tmp_path / "a.svg")
    words = [element.text for element in ElementTree.parse(file).getroot().iter() if element.tag.endswith("text")]
    assert {"B $a$ and $b$", "<C> & \u4e2d"} <= set(words)


@pytest.mark.full
def test_pdf_contains_its_text(tmp_path, recwarn):
    file = viz.show([gk.Sphere(1), gk.Box((3, 1, 1))], names=NAMES, path=tmp_path / "a.pdf")
    assert file.read_bytes()[:5] == b"%PDF-"
    streams = re.findall(rb"FlateDecode.*?stream\r?\n(.*?)endstream", file.read_bytes(), re.DOTALL)
    pages = [page for page in map(zlib.decompress, streams) if b"BT" in page and b"Tf" in page]
    words = "".join(
        part.decode("latin-1").replace("\0", "") for page in pages for part in re.findall(rb"\((.*?)\)", page)
    )
    assert "B $a$ and $b$" in words
    assert "<C> & " in words
    assert not recwarn.list


def rows_of(file):
    root = ElementTree.parse(file).getroot()
    return {element.text: element for element in root.iter() if element.tag.endswith("text")}


@pytest.mark.full
def test_glyphs_missing_in_vtk_are_not_squeezed(tmp_path):
    names = ("\u4e2d\u6587 \u540d\u5b57", "caf\u00e9 \u00b7 3 mm")
    rows = rows_of(viz.show([gk.Sphere(1), gk.Box((3, 1, 1))], names=names, path=tmp_path / "a.svg"))
    assert rows[names[0]].get("textLength") is None
    assert float(rows[names[1]].get("textLength")) > 50


@pytest.mark.full
def test_bars_in_names_are_printed(tmp_path):
    plotter = viz.plot(gk.Sphere(1), off_screen=True, title="lid|bolt")
    (actor,) = [candidate for name, candidate in plotter.renderer.actors.items() if name == "gjk3d line 0"]
    written, without = (extent(actor.prop, words) for words in (actor.input, "lidbolt"))
    assert "lid|bolt" in rows_of(save(plotter, tmp_path / "a.svg"))
    plotter.close()
    assert written[1] > without[1] + 3


@pytest.mark.full
def test_svg_text_is_clipped_to_its_panel(tmp_path):
    plotter = viz.plotter((1, 2), (1000, 300), off_screen=True)
    for column, name in enumerate(("left" * 40, "right")):
        plotter.subplot(0, column)
        viz.plot(gk.Sphere(1), plotter, names=[name])
    save(plotter, tmp_path / "a.svg")
    plotter.close()
    panels = [element for element in ElementTree.parse(tmp_path / "a.svg").getroot() if element.tag.endswith("svg")]
    assert [(panel.get("x"), panel.get("width")) for panel in panels] == [("0", "500"), ("500", "500")]


def test_pdf_threads_keep_matplotlib_settings(tmp_path):
    before, switch, image = matplotlib.rcParams.copy(), sys.getswitchinterval(), Image.new("RGB", (40, 30))
    sys.setswitchinterval(1e-5)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: write_vector(image, [], image.size, tmp_path / f"{k}.pdf"), range(24)))
    sys.setswitchinterval(switch)
    after = matplotlib.rcParams.copy()
    matplotlib.rcParams.update(before)
    assert dict(after) == dict(before)


@pytest.mark.full
def test_user_text_keeps_its_look_in_svg(tmp_path):
    plotter = viz.plot(gk.Sphere(1), off_screen=True)
    written = {}
    for name, look in {
        "wide words\nend": {"justification_horizontal": "right"},
        "pale": {"opacity": 0.25},
        "framed": {"show_frame": True},
        "shaded": {"shadow": True},
        "slanted": {"italic": True},
        "$x^2$": {},
    }.items():
        actor = plotter.add_text(name, position=(0.9, 0.5), viewport=True, name=name)
        for key, value in look.items():
            setattr(actor.prop, key, value)
        written[name] = actor
    save(plotter, tmp_path / "a.svg")
    assert all(actor.GetVisibility() for actor in written.values())
    plotter.close()
    rows = rows_of(tmp_path / "a.svg")
    assert not {"framed", "shaded", "slanted", "$x^2$"} & set(rows)  # the image shows these texts as pixels
    assert rows["pale"].get("fill-opacity") == "0.25"
    ends = [float(rows[row].get("x")) + float(rows[row].get("textLength")) for row in ("wide words", "end")]
    assert np.ptp(ends) <= 3


@pytest.mark.full
def test_text_is_hidden_only_while_writing_vector_files(tmp_path):
    plotter = viz.plot(gk.Sphere(1), off_screen=True, title="Words")
    before = plotter.screenshot(None, return_img=True)
    for ending in ("svg", "pdf"):
        save(plotter, tmp_path / f"b.{ending}")
        np.testing.assert_array_equal(plotter.screenshot(None, return_img=True), before)
    (picture,) = re.findall('base64,([^"]+)', (tmp_path / "b.svg").read_text(encoding="utf-8"))
    bare = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB"))
    assert (np.abs(bare.astype(int) - before).max(axis=2) > 30).any(axis=1).nonzero()[0].max() < 80  # of 750 rows
    plotter.close()


@pytest.mark.full
def test_image_scale_does_not_move_svg_text(tmp_path, monkeypatch):
    def shown(name):
        root = ElementTree.parse(viz.show(gk.Sphere(1), path=tmp_path / name)).getroot()
        return root.get("viewBox"), [(element.get("x"), element.get("y")) for element in root.iter() if element.text]

    usual = shown("a.svg")
    monkeypatch.setattr(pyvista.global_theme, "image_scale", 2)
    assert shown("b.svg") == usual
    assert (tmp_path / "b.svg").stat().st_size > 1.5 * (tmp_path / "a.svg").stat().st_size


@pytest.mark.full
def test_dollar_signs_are_printed():
    plotter = viz.plot(gk.Sphere(1), off_screen=True, title="price $1$ x")
    (actor,) = [candidate for name, candidate in plotter.renderer.actors.items() if name == "gjk3d line 0"]
    # a single dollar sign does not begin a formula
    written, plain, formula = (extent(actor.prop, words) for words in (actor.input, "price $1 x", "price $1$ x"))
    plotter.close()
    assert written[2:] == plain[2:] != formula[2:]


@pytest.mark.full
def test_svg_text_fits_its_boxes(tmp_path):
    title = "A title that is too long for one row of a picture of this size, and so it stands in several rows, < & >"
    file = viz.show(impact(), path=tmp_path / "a.svg", title=title, size=(500, 400))
    root = ElementTree.parse(file).getroot()
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("500", "400", "0 0 500 400")
    rows = [element for element in root.iter() if element.tag.endswith("text")]
    words = [row.text for row in rows]
    assert not any("\n" in row for row in words)
    assert " ".join(words[: words.index(next(row for row in words if row.startswith("First")))]) == title
    heights = [float(row.get("y")) for row in rows[:3]]
    assert heights == sorted(heights)
    assert min(np.diff(heights)) > 10
    for row in rows:
        assert row.get("lengthAdjust") == "spacingAndGlyphs"
        assert 0 < float(row.get("x")) + float(row.get("textLength")) <= 500


QUIET = """
import sys
import numpy as np, gjk3d as gk
folder = sys.argv[1]
ring = gk.load("data/nut.stl")
at = np.eye(4)
at[:3, 3] = 0.3 * np.ptp(ring.vertices, axis=0).max()
gk.viz.show(gk.signed_distance(ring, ring, None, at), path=folder + "/a.png")
moved = gk.Mesh(ring.vertices + at[:3, 3], ring.faces)
gk.viz.show(gk.clash.check(gk.clash.Assembly.of({"a": ring, "b": moved})), path=folder + "/b.png")
gk.viz.motion(gk.shapecast(gk.Sphere(1), gk.Point((5, 0, 0)), (8, 0, 0)), target=folder + "/c.gif", frames=2)
gk.viz.drag(gk.Sphere(1), gk.Box((1, 1, 1)), path=folder + "/d.png").plotter.close()
"""


@pytest.mark.full
def test_drawing_prints_nothing(tmp_path):
    """VTK and the mesh libraries print nothing, not even when the program ends."""
    done = subprocess.run([sys.executable, "-c", QUIET, str(tmp_path)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert len(list(tmp_path.iterdir())) == 4


def test_only_long_tasks_report_progress(monkeypatch):
    task, clock = "drawing picture", iter(np.arange(0.0, 100.0, 0.9))
    monkeypatch.setattr(image_files, "monotonic", lambda: float(next(clock)))
    output = io.StringIO()
    monkeypatch.setattr(sys, "stderr", output)
    assert list(image_files.telling(task, range(5), 5)) == [0, 1, 2, 3, 4]
    assert output.getvalue() == f"gjk3d: {task} 3 of 5\n"
    monkeypatch.setattr(image_files, "monotonic", lambda: 0.0)
    assert list(image_files.telling(task, range(5), 5)) == [0, 1, 2, 3, 4]
    assert output.getvalue().count("\n") == 1
