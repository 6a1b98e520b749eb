"""``gjk3d view``: what is written, and what is refused."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from words import assert_names

from gjk3d.errors import RenderingUnavailableError
from tests.cli import sentences

DATA = Path(__file__).parents[2] / "data"


def hues(path):
    """Return the parts of the picture that are orange and bluish green."""
    picture = np.asarray(Image.open(path).convert("HSV")).astype(int)
    return [float(((np.abs(picture[..., 0] - hue) < 12) & (picture[..., 1] > 110)).mean()) for hue in (29, 116)]


@pytest.mark.full
def test_two_models_in_two_colours(run, box, tmp_path):
    said = run("view", box("one.stl"), box("two.stl", (3, 0, 0)), "--save", tmp_path / "a.png")
    assert (said.code, said.out) == (0, "")
    assert said.err == f"wrote: {tmp_path / 'a.png'}\n"
    assert Image.open(tmp_path / "a.png").size == (1000, 750)
    assert min(hues(tmp_path / "a.png")) > 0.05


@pytest.mark.full
def test_what_the_options_change(run, tmp_path):
    pictures = {}
    for name, options in {
        "plain": (), "hull": ("--hull",), "bodies": ("--bodies",), "level": ("--level", 3), "glass": ("--opacity", 0.3)
    }.items():  # fmt: skip
        said = run("view", DATA / "gear_a.stl", *options, "--save", tmp_path / f"{name}.png")
        assert said.code == 0
        pictures[name] = np.asarray(Image.open(tmp_path / f"{name}.png")).astype(float)[90:650]
    assert np.array_equal(pictures["plain"], pictures["bodies"])  # it is one body
    for name in ("hull", "level", "glass"):
        assert np.abs(pictures[name] - pictures["plain"]).mean() > 1.0
    assert hues(tmp_path / "level.png")[0] < 0.5 * hues(tmp_path / "plain.png")[0]  # grey, with coloured boxes


def test_an_assembly_as_a_page(run, tmp_path):
    said = run("view", DATA / "gearbox.glb", "--save", tmp_path / "a.html")
    assert said.code == 0
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert_names(text, "<h1>gearbox.glb</h1><p>42 parts", "36660 triangles", "160 x 127 x 116 mm</p>")


@pytest.mark.full
def test_without_a_display_it_saves_and_says_where(run, box, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gjk3d.viz.picture.has_display", lambda: False)
    said = run("view", box("one.stl"))
    assert said.code == 0
    assert "gjk3d.png" in said.err
    assert np.asarray(Image.open(tmp_path / "gjk3d.png")).std() > 5.0


def test_without_opengl_it_says_what_to_install(run, box, tmp_path, monkeypatch):
    message = "no OpenGL library can draw here"

    def missing():
        raise RenderingUnavailableError(message)

    monkeypatch.setattr("gjk3d.viz.picture.check_rendering", missing)
    said = run("view", box("one.stl"), "--save", tmp_path / "a.png")
    assert said.code == 2
    assert said.err == f"error: {message}\n"
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
def test_bad_questions(run, options, named):
    said = run("view", *options)
    assert said.code == 2
    assert_names(said.err, *named)


def test_files_with_nothing_in_them(run, box, tmp_path):
    (tmp_path / "empty.stl").write_bytes(b"")
    said = run("view", tmp_path / "empty.stl", "--save", tmp_path / "a.png")
    assert said.code == 2
    assert_names(said.err, "empty.stl", "0 triangles")
    said = run("view", tmp_path / "empty.stl", box("one.stl"), "--save", tmp_path / "a.html")
    assert said.code == 0
    assert_names(said.err, "empty", "0 triangles")
    assert sentences.NOT_READ.format(1) in (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.full
def test_without_pyvista_it_says_so_and_not_that_opengl_is_missing(box, tmp_path):
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
