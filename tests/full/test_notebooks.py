"""Notebooks: example notebooks run, outputs have alternative texts, and their interactive pages work in a browser."""

from __future__ import annotations

import base64
import html
import io
import re
import time
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, program
from message_checks import assert_names
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import read
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

import gjk3d as gk
from gjk3d.errors import RenderingUnavailableError
from gjk3d.viz import picture
from gjk3d.viz.drawing import Drawing

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
LIMIT = 1_000_000
#: the units of lengths in each notebook; the lengths of the lesson have no unit
UNITS = {"from-2d-tutorials-to-3d": set(), "meshes": {"mm"}, "robot": {"m"}}

KINDS = {
    "a shape": "gk.Box((1, 2, 3))",
    "a mesh": "gk.load(DATA / 'gearbox.glb').parts[0].mesh",
    "an answer": "gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)))",
    "a contact": "gk.contact(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, gk.Motion(None, (0, 0, 1)).at(1))",
    "an impact": "gk.time_of_impact(gk.Sphere(1), gk.Sphere(1), gk.Motion(None, (3, 0, 0)), shifted)",
    "a bounding volume": "gk.aabb(gk.Cone(1, 2))",
    "a scene": "scene",
    "the closest in a scene": "scene.clearance()",
    "an assembly": "assembly",
    "a report": "gk.clash.check(assembly)",
    "a robot": "arm",
    "a checker": "gk.robot.Checker(arm)",
    "an explanation": "gk.viz.explain(gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)), trace=True))",
    "show": "gk.viz.show(gk.Sphere(1), title='A ball'); gk.viz.show(gk.Sphere(2))",
    "show of a list": "gk.viz.show([gk.Sphere(1), (gk.Box((1, 1, 1)), shifted)], names=['ball', 'crate'])",
    "show of steps": "gk.viz.explain(gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)), trace=True)).show()",
    "a path": "gk.viz.motion(gk.robot.Checker(arm), [[0] * 6, [0.5] * 6], frames=4)",
    "no picture": "gk.Motion(None, (1, 0, 0))",
    "too many": "gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)), np.stack([np.eye(4)] * 3), None)",
    "a window": "_ = gk.viz.drag(gk.Box((1, 1, 1)), gk.Sphere(0.5), None, shifted)",
}
START = f"""
import os
from pathlib import Path
import numpy as np
import gjk3d as gk
DATA = Path({str(ROOT / "data")!r})
shifted = gk.Motion(None, (2.5, 0, 0)).at(1)
scene = gk.Scene()
scene.add("ball", gk.Sphere(1))
scene.add("crate", gk.Box((1, 1, 1)), shifted)
arm = gk.robot.Robot.from_urdf(DATA / "arm" / "arm.urdf", DATA / "arm" / "arm.srdf")
ball, crate = gk.Sphere(1).surface(24), gk.Box((1, 1, 1)).surface()
assembly = gk.clash.Assembly.of({{"ball": gk.Mesh(*ball[:2]), "crate": gk.Mesh(*crate[:2])}}, "mm")
"""


def run(cells: list[str], folder: Path) -> list[list]:
    """Run cells in a new kernel, and return the outputs of each cell."""
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return the outputs of each kind by name, and the files that the kernel wrote to its folder."""
    folder = tmp_path_factory.mktemp("notebook")
    outputs = run([START, *KINDS.values()], folder)
    assert outputs[0] == []
    return dict(zip(KINDS, outputs[1:], strict=True)), list(folder.iterdir())


def check(output) -> None:
    """Check the size, picture, alternative text and page of an output."""
    data = output.data
    assert sum(len(part) for part in data.values()) < LIMIT
    with Image.open(io.BytesIO(base64.b64decode(data["image/png"]))) as image:
        assert image.width >= 480
        assert np.asarray(image.convert("RGB"), dtype=float).std() > 5
    words = output.metadata["image/png"]["alt"]
    assert len(words) > 2
    assert words == words.strip()
    assert 'sandbox="allow-scripts"' in data["text/html"] or "too large" in data["text/html"]
    assert ' alt="' in data["text/html"]


@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("no picture", "too many", "a window", "show")])
def test_each_kind_displays_picture_and_page(shown, name):
    (output,) = shown[0][name]
    assert set(output.data) == {"text/plain", "image/png", "text/html"}
    check(output)
    assert "<iframe" in output.data["text/html"]


def test_text_is_the_repr(shown):
    outputs = shown[0]
    assert outputs["a shape"][0].data["text/plain"] == repr(gk.Box((1, 2, 3)))
    assert outputs["an answer"][0].data["text/plain"] == repr(gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0))))
    assert_names(outputs["show of a list"][0].data["text/plain"], "ball", "crate")


def test_objects_without_picture_display_text(shown):
    for name in ("no picture", "too many"):
        (output,) = shown[0][name]
        assert set(output.data) == {"text/plain"}


def test_show_displays_every_call_and_writes_no_file(shown):
    outputs, files = shown
    first, second = outputs["show"]
    assert re.match(r"A ball\b.*\bSphere\b", first.metadata["image/png"]["alt"])
    assert second.data["text/plain"] == repr(gk.Sphere(2))
    for output in (first, second):
        check(output)
    (window,) = outputs["a window"]
    assert set(window.data) == {"text/plain", "image/png"}
    assert files == []


def test_alternative_text_of_result_is_its_description(shown):
    (output,) = shown[0]["an answer"]
    assert_names(output.metadata["image/png"]["alt"], "by 1.5", "distance 1.5", "A box", "B point", "normal")


def test_terminal_displays_text(monkeypatch):
    class Shell:
        class display_formatter:
            active_types = ("text/plain",)

    monkeypatch.setattr(picture, "_shell", Shell)
    assert not picture.is_open()
    assert gk.Box((1, 1, 1))._repr_mimebundle_() == ({}, {})


def test_text_is_displayed_without_pyvista(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyvista", None)
    data, _ = gk.Box((1, 1, 1))._repr_mimebundle_()
    assert data == {"text/plain": repr(gk.Box((1, 1, 1)))}


def test_page_is_displayed_without_opengl(monkeypatch):
    def refuse():
        raise RenderingUnavailableError("none")

    monkeypatch.setattr("gjk3d.viz.picture.check_rendering", refuse)
    data, _ = gk.Box((1, 1, 1))._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html"}
    assert "<iframe" in data["text/html"]


def test_too_large_page_is_omitted():
    rng = np.random.default_rng(1)
    drawing = Drawing(words=["Noise"])
    drawing.body(rng.normal(size=(60_000, 3)), rng.integers(0, 60_000, (60_000, 3)), "#E69F00", look="model")
    from gjk3d.viz.page import write_drawing
    from gjk3d.viz.picture import figure_of

    data, _ = figure_of(drawing, "noise", lambda path: write_drawing(drawing, path))
    assert "<iframe" not in data["text/html"]
    assert "gjk3d.viz.show" in data["text/html"]
    assert sum(map(len, data.values())) < LIMIT


@pytest.mark.parametrize(("size", "shown"), [((400, 800), (400, 800)), ((1600, 400), (800, 200)), (None, (800, 600))])
def test_still_has_requested_size_up_to_notebook_width(size, shown):
    from gjk3d.viz.kinds import drawing_of
    from gjk3d.viz.page import write_drawing
    from gjk3d.viz.picture import figure_of

    drawing = drawing_of(gk.Box((1, 1, 1)))
    data, _ = figure_of(drawing, "box", lambda path: write_drawing(drawing, path), *([size] if size else []))
    with Image.open(io.BytesIO(base64.b64decode(data["image/png"]))) as still:
        assert still.size == shown
    assert f"max-width:{shown[0]}px" in data["text/html"]


def test_markup_in_alternative_text_is_escaped():
    evil = '</iframe></title>"><script>alert(1)</script>{packed}'
    text = picture._html(evil, Image.new("RGB", (8, 6)), ("", [0]))
    assert "<script" not in text
    assert "</iframe>" not in text[: -len("</iframe></div>")]
    frame = re.search(r'srcdoc="([^"]*)"', text)
    assert "<script>alert" not in html.unescape(frame[1])


def test_still_keeps_the_color_of_a_small_arrow(tmp_path):
    at = gk.Motion(None, (0.9, 0, 0)).at(1)
    result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, at)
    data, _ = result._repr_mimebundle_()
    with Image.open(io.BytesIO(base64.b64decode(data["image/png"]))) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert (np.abs(pixels - (213, 94, 0)).max(axis=-1) < 25).sum() > 20  # the arrow and its legend entry


def test_invalid_argument_in_a_cell_raises():
    with pytest.raises(CellExecutionError, match="'nope'"):
        run(["import gjk3d as gk\ngk.viz.show(gk.Box((1, 1, 1)), nope=1)"], ROOT)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_example_notebooks_run(file):
    document = read(file, 4)
    for cell in document.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
    before = sorted(file.parent.iterdir())
    NotebookClient(document, timeout=300, resources={"metadata": {"path": str(file.parent)}}).execute()
    assert sorted(file.parent.iterdir()) == before
    pictures, turning, units = 0, 0, set()
    for cell in document.cells:
        for output in cell.get("outputs", []):
            assert output.get("name") != "stderr", output.text
            if "image/png" in output.get("data", {}):
                check(output)
                pictures += 1
                turning += "<iframe" in output.data["text/html"]
                units |= set(re.findall(r"\d (mm|m)\b", output.metadata["image/png"]["alt"]))
    assert units == UNITS[file.stem]  # all outputs of a notebook use the same unit
    assert pictures >= turning >= 2


def test_example_notebooks_are_complete():
    assert [file.stem for file in NOTEBOOKS] == sorted(UNITS)


@pytest.mark.parametrize("name", ["an answer", "a scene", "a report", "an explanation", "a path"])
def test_page_is_interactive_in_a_browser(shown, name, tmp_path):
    if program() is None:
        pytest.fail("this test looks at outputs in Chromium, which is not on PATH: apt-get install chromium")
    (output,) = shown[0][name]
    words = output.metadata["image/png"]["alt"]
    page = tmp_path / "output.html"
    ready = "<script>addEventListener('load',()=>{document.documentElement.dataset.state='drawn'})</script>"
    page.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{output.data["text/html"]}{ready}', encoding="utf-8")
    browser = Browser(tmp_path / "profile", (840, 860))
    try:
        browser.open_plainly(page)
        assert browser.evaluate("document.querySelector('img').alt") == words
        assert browser.evaluate("document.querySelector('img').naturalWidth") >= 480
        still = browser.picture("img")
        limit = time.monotonic() + 60
        while np.abs(browser.picture("img") - still).mean() < 0.5:  # until the page covers the still
            assert time.monotonic() < limit, "the page never came"
            browser.click("iframe")  # an unpainted frame ignores clicks, so repeat
            time.sleep(1.0)
        assert browser.picture("img").std() > 5
        if name == "a path":  # the animation plays
            before, limit = browser.picture("img"), time.monotonic() + 60
            while np.abs(browser.picture("img") - before).max() < 50:
                assert time.monotonic() < limit, "the motion stands still"
        assert browser.complaints == []
        assert [url for url in browser.requests if not url.startswith(("file:", "data:", "about:"))] == []
    finally:
        browser.close()
