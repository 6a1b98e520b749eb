"""``gjk3d view`` and ``gjk3d explain``: output, written files and rejected input."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from message_checks import assert_names
from PIL import Image

import gjk3d as gk
from gjk3d.errors import RenderingUnavailableError
from tests.cli import messages

DATA = Path(__file__).parents[2] / "data"


def hues(path):
    """Return the shares of orange and of bluish green pixels in a picture."""
    picture = np.asarray(Image.open(path).convert("HSV")).astype(int)
    return [float(((np.abs(picture[..., 0] - hue) < 12) & (picture[..., 1] > 110)).mean()) for hue in (29, 116)]


@pytest.mark.full
def test_two_models_have_two_colours(run, box, tmp_path):
    result = run("view", box("one.stl"), box("two.stl", (3, 0, 0)), "--save", tmp_path / "a.png")
    assert (result.code, result.out) == (0, "")
    assert result.err == f"wrote: {tmp_path / 'a.png'}\n"
    assert Image.open(tmp_path / "a.png").size == (1000, 750)
    assert min(hues(tmp_path / "a.png")) > 0.05


@pytest.mark.full
def test_options_change_the_picture(run, tmp_path):
    pictures = {}
    for name, options in {
        "plain": (), "hull": ("--hull",), "bodies": ("--bodies",), "level": ("--level", 3), "glass": ("--opacity", 0.3)
    }.items():  # fmt: skip
        result = run("view", DATA / "gear_a.stl", *options, "--save", tmp_path / f"{name}.png")
        assert result.code == 0
        pictures[name] = np.asarray(Image.open(tmp_path / f"{name}.png")).astype(float)[90:650]
    assert np.array_equal(pictures["plain"], pictures["bodies"])  # the gear is a single body
    for name in ("hull", "level", "glass"):
        assert np.abs(pictures[name] - pictures["plain"]).mean() > 1.0
    assert hues(tmp_path / "level.png")[0] < 0.5 * hues(tmp_path / "plain.png")[0]  # --level draws the model in grey


def test_assembly_is_written_as_a_page(run, tmp_path):
    result = run("view", DATA / "gearbox.glb", "--save", tmp_path / "a.html")
    assert result.code == 0
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert_names(text, "<h1>gearbox.glb</h1><p>42 parts", "36660 triangles", "160 x 127 x 116 mm</p>")


@pytest.mark.full
def test_view_without_display_saves_a_picture(run, box, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gjk3d.viz.picture.has_display", lambda: False)
    result = run("view", box("one.stl"))
    assert result.code == 0
    assert "gjk3d.png" in result.err
    assert np.asarray(Image.open(tmp_path / "gjk3d.png")).std() > 5.0


def test_missing_opengl_is_reported(run, box, tmp_path, monkeypatch):
    message = "no OpenGL library can draw here"

    def missing():
        raise RenderingUnavailableError(message)

    monkeypatch.setattr("gjk3d.viz.picture.check_rendering", missing)
    result = run("view", box("one.stl"), "--save", tmp_path / "a.png")
    assert result.code == 2
    assert result.err == f"error: {message}\n"
    assert run("view", box("one.stl"), "--save", tmp_path / "a.html").code == 0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((), ("model", "assembly", "folder")),
        (("nix.stl",), ("nix.stl",)),
        ((DATA / "nut.stl", "--save", "a.gif"), ("a.gif", ".png")),
        ((DATA / "nut.stl", "--level", "-1"), ("--level -1",)),
        ((DATA / "nut.stl", "--opacity", "0"), ("--opacity 0",)),
    ],
)
def test_bad_view_input_is_rejected(run, options, named):
    result = run("view", *options)
    assert result.code == 2
    assert_names(result.err, *named)


def test_empty_files_are_rejected_or_noted(run, box, tmp_path):
    (tmp_path / "empty.stl").write_bytes(b"")
    result = run("view", tmp_path / "empty.stl", "--save", tmp_path / "a.png")
    assert result.code == 2
    assert_names(result.err, "empty.stl", "0 triangles")
    result = run("view", tmp_path / "empty.stl", box("one.stl"), "--save", tmp_path / "a.html")
    assert result.code == 0
    assert_names(result.err, "empty", "0 triangles")
    assert messages.NOT_READ.format(1) in (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.full
def test_missing_pyvista_is_not_reported_as_missing_opengl(box, tmp_path):
    (tmp_path / "pyvista.py").write_text("raise ModuleNotFoundError(\"No module named 'pyvista'\")\n")
    code = "import sys; from gjk3d.cli.app import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "view", str(box("one.stl")), "--save", str(tmp_path / "a.png")]
    path = os.pathsep.join((str(tmp_path), *filter(None, sys.path)))
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert_names(done.stderr, "error: ", "No module named 'pyvista'", "pip install pyvista")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "a.png").exists()


def shift(x, y=0.0, z=0.0):
    """Return the pose of a translation."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def test_shapes_are_explained_in_words(run):
    completed = run("explain", "box:2,2,2", "sphere:0.5", "--pose-b", "2.5 0.2 0.1")
    assert completed.code == 0
    result = gk.signed_distance(gk.Box((2, 2, 2)), gk.Sphere(0.5), None, shift(2.5, 0.2, 0.1))
    explanation = str(gk.viz.explain(result))
    assert completed.out.splitlines() == explanation.splitlines()
    assert completed.out.startswith(messages.FIRST_STEP)
    assert "sphere B's radius 0.5" in completed.out
    assert f"{result.distance:.9g} apart" in completed.out


def test_models_are_explained_by_hulls_in_their_unit(run, box, assembly):
    result = run("explain", box(), box("other.stl", (1.5, 0.1, 0)), "--unit", "mm")
    assert result.code == 1
    assert messages.ANSWER_OVERLAPPING.format("0.5 mm") in result.out
    result = run("explain", f"{assembly}#ell", "sphere:0.25", "--pose-b", "2.6 0.1 0.1")
    assert result.code == 1
    assert "sphere B's radius 0.25 m " in result.out  # the sphere has the unit of the file
    assert_names(result.err, "#ell", "hull")


def test_unit_option_applies_to_shapes(run, tmp_path):
    page = tmp_path / "page.html"
    result = run("explain", "box:2,2,2", "sphere:0.5", "--pose-b", "2.5 0 0", "--unit", "cm", "--html", page)
    assert messages.ANSWER_APART.format("1 cm.") in result.out
    bounds = messages.BOUNDS_OF_THE_DISTANCE.format("cm")
    assert_names(page.read_text(encoding="utf-8"), " 1 cm", bounds, '"unit":"cm"')


def test_single_shape_is_rejected(run):
    result = run("explain", "box:1,1,1")
    assert result.code == 2
    assert_names(result.err, "two models or shapes", "'box:1,1,1'")


@pytest.mark.parametrize(("topic", "word"), [("sat", "minimum translation"), ("bounds", "oriented box")])
def test_topic_selects_the_lesson(run, tmp_path, topic, word):
    page = tmp_path / f"{topic}.html"
    result = run("explain", topic, "--html", page)
    assert (result.code, result.out) == (0, "")
    assert_names(result.err, page.name)
    assert word in page.read_text(encoding="utf-8")
    unknown = run("explain", "sats")
    assert unknown.code == 2
    assert_names(unknown.err, "'sats'", "gjk, sat, bounds")


@pytest.mark.full
def test_explain_without_shapes_opens_the_lesson(run, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.chdir(tmp_path)
    result = run("explain")
    assert (result.code, result.out) == (0, "")
    page = tmp_path / "gjk3d.html"
    assert opened == [page.as_uri()]
    assert "gjk3d.html" in result.err
    assert page.stat().st_size < 1_000_000
    assert "triangular prism" in page.read_text(encoding="utf-8")
    named = run("explain", "--html", tmp_path / "lesson.html")
    assert named.code == 0
    assert (tmp_path / "lesson.html").exists()
    assert len(opened) == 1


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("point:1,2,3", gk.Point((1, 2, 3))),
        ("capsule:0.3,1", gk.Capsule(0.3, 1)),
        ("cylinder:1,2", gk.Cylinder(1, 2)),
        ("cone:1,2", gk.Cone(1, 2)),
        ("ellipsoid:1,2,3", gk.Ellipsoid((1, 2, 3))),
    ],
)
def test_every_shape_has_a_keyword(run, word, shape):
    result = run("explain", word, "box:1,1,1", "--pose-b", "6 0.3 0.2")
    distance = gk.signed_distance(shape, gk.Box((1, 1, 1)), None, shift(6, 0.3, 0.2)).distance
    assert float(re.search(messages.APART_BY, result.out)[1].rstrip(".")) == pytest.approx(distance, rel=1e-5)


@pytest.mark.full
def test_explain_writes_files_and_prints_their_paths(run, tmp_path):
    page, film, strip = (tmp_path / name for name in ("e.html", "e.gif", "e.png"))
    result = run(
        "explain", "box:2,2,2", "box:1,1,1", "--pose-b", "1.2 0.2 0.1", "--html", page, "--gif", film, "--png", strip,
        "--view", "0.3 -1 0.5",
    )  # fmt: skip
    assert result.code == 1
    steps = len(result.out.splitlines())
    lines = [line for line in result.err.splitlines() if "wrote" in line]
    assert [line.endswith(str(path)) for line, path in zip(lines, (page, film, strip), strict=True)] == [True] * 3
    assert "box:2,2,2" in page.read_text(encoding="utf-8")
    with Image.open(film) as animation:
        assert animation.n_frames == steps
    assert np.asarray(Image.open(strip).convert("RGB")).std() > 5


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("bax:1,1,1", "sphere:1"), "'bax'"),
        (("box:1,1", "sphere:1"), "box:x,y,z, 3 numbers"),
        (("sphere:one", "sphere:1"), "sphere:radius, 1 number"),
        (("sphere:-1", "sphere:1"), "radius"),
        (("sphere:1", "nowhere.stl"), "nowhere.stl"),
        (("sphere:1", "sphere:1", "--gif", "x.mp4"), ".gif or .webp"),
        (("sphere:1", "sphere:1", "--view", "0 0 0"), "--view '0 0 0'"),
        (("sphere:1", "sphere:1", "--view", "up"), "--view 'up'"),
        (("sphere:1", "sphere:1", "--unit", "furlong"), "'furlong'"),
    ],
)
def test_bad_explain_input_is_rejected_with_a_hint(run, words, named):
    result = run("explain", *words)
    assert result.code == 2
    assert named in result.err
    assert result.out == ""
