"""Any motion and any impact as an animation; pictures whose words stay words; a word about what takes long."""

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
from answers import pose
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
from tests.viz import sentences

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


def test_an_impact_is_played_up_to_the_first_contact():
    x = impact()
    play = play_of_impact(x, None, 5)
    times = np.linspace(0.0, x.free_until, 5)
    a, b = play.movers
    np.testing.assert_allclose(b.poses, x.motion_b.at(times))
    np.testing.assert_allclose(a.poses, np.broadcast_to(np.eye(4), (5, 4, 4)))
    np.testing.assert_allclose(play.trace, x.motion_b.at(times)[:, :3, 3], atol=1e-12)
    assert [moment.hit for moment in play.moments] == [frozenset()] * 5  # each keeps the colour of the legend
    assert (play.trail, dict(play.keys)[sentences.TRAIL]) == (darker(b.color), darker(b.color))
    (normal,) = [text for text, _ in play.signs.keys]
    assert normal == sentences.CONTACT_NORMAL
    tip = play.signs.items[1].vertices  # of the arrow, which lies along the normal
    assert (tip - x.point_a).dot(x.normal).max() > 0.2 * play.whole.ball[1]
    assert play.moments[0].lines == [sentences.AT_SHARE.format(0)]
    assert play.moments[-1].lines[0] == sentences.FIRST_CONTACT.format(0.5)
    free = play_of_impact(impact(clear=True), "clear", 3)
    assert [moment.hit for moment in free.moments] == [frozenset()] * 3
    assert free.title == "clear"
    assert not free.signs.items
    assert free.moments[-1].lines[0] == sentences.FREE_MOTION


@pytest.mark.full
@pytest.mark.parametrize("ending", ["gif", "webp"])
def test_a_film_of_an_impact_keeps_its_colours_and_shows_the_normal_at_its_end(tmp_path, ending):
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


def test_what_is_hit_from_inside_shows_the_other_within():
    tank = gk.Mesh(*gk.Sphere(2).surface())
    x = gk.time_of_impact(tank, gk.Sphere(0.3), None, gk.Motion(pose(0, 0, 0), (4, 0, 0)))
    a, b = play_of_impact(x, None, 3).movers
    assert ([item.opacity for item in a.items], [item.opacity for item in b.items]) == ([0.5], [1.0])


def test_the_camera_holds_the_last_pose_of_a_cone_and_each_between():
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


def test_a_body_that_moves_is_framed_by_its_boxes():
    ball = gk.Mesh(*gk.Sphere(1).surface(120))
    play = play_of_motion(gk.Motion(None, (3, 0, 0)), ball, None, 5)
    assert len(play.whole.framed) == 5 * 8
    assert np.ptp(play.whole.framed, axis=0) == pytest.approx([5, 2, 2], abs=1e-2)


@pytest.mark.full
def test_a_motion_of_anything_is_played(tmp_path):
    way = gk.Motion(None, (3, 0, 1), (0, 0, 4))
    cloud = gk.PointCloud(np.random.default_rng(0).normal(size=(2000, 3)) * 0.1, 0.02)
    play = play_of_motion(way, [gk.Box((1, 0.5, 0.2)), cloud], None, 7)
    for mover in play.movers:
        np.testing.assert_allclose(mover.poses, way.at(np.linspace(0.0, 1.0, 7)))
    assert play.whole.ball[1] > 1.5  # all of the way is in the picture
    thin = viz.motion(way, target=tmp_path / "way.gif", of=gk.Segment((0, 0, 0), (1, 0, 0)), frames=3)
    assert len(frames_of(thin)) == 3
    text = viz.motion(way, target=tmp_path / "way.html", of=cloud, frames=3).read_text(encoding="utf-8")
    scene = json.loads(text.partition('id="scene">')[2].partition("</script>")[0])
    assert len(scene["states"]) == 3
    assert scene["colors"]["trail"] == darker("#E69F00")  # of the body that leaves it
    assert scene["items"][0]["indices"]  # many points are small bodies here
    grid = play_of_motion(way, gk.VoxelGrid(np.ones((2, 2, 2)), 1.0), None, 2)
    stage = motions.Stage(grid)
    stage.go(1)
    ((faces, *_, lines),) = stage.actors
    colors = [str(actor.prop.color.hex_rgb).upper() for actor in (lines, faces)]
    stage.plotter.close()
    assert [str(pyvista.Color(darker("#E69F00")).hex_rgb).upper(), "#E69F00"] == colors  # edges stay darker than faces
    assert viz.motion(way, target=tmp_path / "way.png", of=gk.Box((1, 1, 1))).stat().st_size > 5000


def test_what_cannot_be_played_says_why(tmp_path, monkeypatch):
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
    with pytest.raises(TypeError, match=r"path of a robot.*Checker.*Impact.*of="):
        viz.motion(impact(), [[0.0]])
    with pytest.raises(TypeError, match=r"path of a robot.*file as target="):
        viz.motion(impact(), path="a.gif")
    monkeypatch.setattr(motions, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"a\.mp4.*pip install imageio imageio-ffmpeg"):
        viz.motion(impact(), target=tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_an_mp4_is_written_where_there_is_a_writer(tmp_path):
    from imageio import v2 as imageio

    file = viz.motion(impact(), target=tmp_path / "a.mp4", frames=4, fps=10)
    first, *_, last = (image.astype(float) for image in imageio.mimread(file))
    assert share(first, BLUE) < 0.0001 < 0.0005 < share(last, BLUE)


@pytest.mark.full
def test_a_stage_is_made_once_and_its_signs_do_not_pile_up():
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
def test_an_svg_has_its_words_as_words_of_any_letters(tmp_path):
    file = viz.show([gk.Sphere(1), gk.Box((3, 1, 1))], names=NAMES, path=tmp_path / "a.svg")
    words = [each.text for each in ElementTree.parse(file).getroot().iter() if each.tag.endswith("text")]
    assert {"B $a$ and $b$", "<C> & \u4e2d"} <= set(words)


@pytest.mark.full
def test_a_pdf_has_its_words_as_words_of_any_letters(tmp_path, recwarn):
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
    return {each.text: each for each in root.iter() if each.tag.endswith("text")}


@pytest.mark.full
def test_letters_that_vtk_lacks_are_not_squeezed_into_the_room_it_left_for_them(tmp_path):
    names = ("\u4e2d\u6587 \u540d\u5b57", "caf\u00e9 \u00b7 3 mm")
    rows = rows_of(viz.show([gk.Sphere(1), gk.Box((3, 1, 1))], names=names, path=tmp_path / "a.svg"))
    assert rows[names[0]].get("textLength") is None
    assert float(rows[names[1]].get("textLength")) > 50


@pytest.mark.full
def test_bars_in_names_are_letters_and_no_columns(tmp_path):
    plotter = viz.plot(gk.Sphere(1), off_screen=True, title="lid|bolt")
    (actor,) = [each for name, each in plotter.renderer.actors.items() if name == "gjk3d line 0"]
    written, without = (extent(actor.prop, words) for words in (actor.input, "lidbolt"))
    assert "lid|bolt" in rows_of(save(plotter, tmp_path / "a.svg"))
    plotter.close()
    assert written[1] > without[1] + 3


@pytest.mark.full
def test_words_end_with_their_panel_in_a_file_of_words(tmp_path):
    both = viz.plotter((1, 2), (1000, 300), off_screen=True)
    for column, name in enumerate(("left" * 40, "right")):
        both.subplot(0, column)
        viz.plot(gk.Sphere(1), both, names=[name])
    save(both, tmp_path / "a.svg")
    both.close()
    panels = [each for each in ElementTree.parse(tmp_path / "a.svg").getroot() if each.tag.endswith("svg")]
    assert [(panel.get("x"), panel.get("width")) for panel in panels] == [("0", "500"), ("500", "500")]


def test_threads_that_write_pdf_leave_the_settings_of_matplotlib_alone(tmp_path):
    before, switch, image = matplotlib.rcParams.copy(), sys.getswitchinterval(), Image.new("RGB", (40, 30))
    sys.setswitchinterval(1e-5)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: write_vector(image, [], image.size, tmp_path / f"{k}.pdf"), range(24)))
    sys.setswitchinterval(switch)
    after = matplotlib.rcParams.copy()
    matplotlib.rcParams.update(before)
    assert dict(after) == dict(before)


@pytest.mark.full
def test_words_of_the_users_own_look_the_same_in_a_file_of_words(tmp_path):
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
    assert not {"framed", "shaded", "slanted", "$x^2$"} & set(rows)  # pixels show these as they are
    assert rows["pale"].get("fill-opacity") == "0.25"
    ends = [float(rows[row].get("x")) + float(rows[row].get("textLength")) for row in ("wide words", "end")]
    assert np.ptp(ends) <= 3


@pytest.mark.full
def test_words_are_hidden_only_while_a_file_of_words_is_written(tmp_path):
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
def test_a_finer_image_leaves_words_where_they_are(tmp_path, monkeypatch):
    def shown(name):
        root = ElementTree.parse(viz.show(gk.Sphere(1), path=tmp_path / name)).getroot()
        return root.get("viewBox"), [(each.get("x"), each.get("y")) for each in root.iter() if each.text]

    usual = shown("a.svg")
    monkeypatch.setattr(pyvista.global_theme, "image_scale", 2)
    assert shown("b.svg") == usual
    assert (tmp_path / "b.svg").stat().st_size > 1.5 * (tmp_path / "a.svg").stat().st_size


@pytest.mark.full
def test_dollar_signs_are_letters_and_no_formula():
    plotter = viz.plot(gk.Sphere(1), off_screen=True, title="price $1$ x")
    (actor,) = [each for name, each in plotter.renderer.actors.items() if name == "gjk3d line 0"]
    # a lone dollar sign never begins a formula
    written, plain, formula = (extent(actor.prop, words) for words in (actor.input, "price $1 x", "price $1$ x"))
    plotter.close()
    assert written[2:] == plain[2:] != formula[2:]


@pytest.mark.full
def test_an_svg_is_in_pixels_and_its_words_fit_their_boxes_in_any_font(tmp_path):
    title = "A title that is too long for one row of a picture of this size, and so it stands in several rows, < & >"
    file = viz.show(impact(), path=tmp_path / "a.svg", title=title, size=(500, 400))
    root = ElementTree.parse(file).getroot()
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("500", "400", "0 0 500 400")
    rows = [each for each in root.iter() if each.tag.endswith("text")]
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
def test_pictures_are_drawn_in_silence(tmp_path):
    """Neither VTK nor what meshes are cut by has a word to say, nor at the end of the program."""
    done = subprocess.run([sys.executable, "-c", QUIET, str(tmp_path)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert len(list(tmp_path.iterdir())) == 4


def test_what_takes_long_is_told_and_what_does_not_is_not(monkeypatch):
    task, clock = "drawing picture", iter(np.arange(0.0, 100.0, 0.9))
    monkeypatch.setattr(image_files, "monotonic", lambda: float(next(clock)))
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    assert list(image_files.telling(task, range(5), 5)) == [0, 1, 2, 3, 4]
    assert told.getvalue() == f"gjk3d: {task} 3 of 5\n"
    monkeypatch.setattr(image_files, "monotonic", lambda: 0.0)
    assert list(image_files.telling(task, range(5), 5)) == [0, 1, 2, 3, 4]
    assert told.getvalue().count("\n") == 1
