"""Pages of drawings: their contents, no external requests, and their look and controls in a browser."""

import subprocess
import sys

import numpy as np
import pytest
from example_results import SHAPES, pose
from PIL import Image
from test_page import EVIL, Page, array, browse

import gjk3d as gk
from gjk3d import viz
from gjk3d.viz import page as pages
from gjk3d.viz.kinds import drawing_of
from gjk3d.webpage import policy, template, three_js
from tests.viz import messages

BALLS = [(gk.Sphere(0.6), pose(-1.2, 0, 0)), (gk.Box((1, 1, 1)), pose(1.2, 0, 0))]


def test_page_contains_items_at_their_poses(tmp_path):
    parsed = Page(viz.show(BALLS, path=tmp_path / "a.html", names=("ball", "box"), title="two bodies"))
    center, size = drawing_of(BALLS).ball
    scene = parsed.scene
    assert [item["color"] for item in scene["items"]] == ["#E69F00", "#009E73"]
    points = array(scene["items"][1]["positions"], "<f4") * size + center
    np.testing.assert_allclose(
        [points.min(axis=0), points.max(axis=0)], [(0.7, -0.5, -0.5), (1.7, 0.5, 0.5)], atol=1e-6
    )
    assert "two bodies" in parsed.text
    assert [a["value"] for tag, a in parsed.tags if tag == "input"] == ["#E69F00", "#009E73"]


def test_page_is_self_contained_and_escapes_names(tmp_path):
    parsed = Page(viz.show(BALLS, path=tmp_path / "a.html", names=(EVIL, "@scene@"), title=EVIL))
    assert len(parsed.scripts) == 3
    assert EVIL not in parsed.source
    for tag, attributes in parsed.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "video", "audio")
        assert not any(name in ("src", "href", "style") or name.startswith("on") for name in attributes)
    assert "url(" not in template("gjk3d.viz", "picture.css") + template("gjk3d", "page.css")


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_has_a_page(tmp_path, name):
    items = Page(viz.show(SHAPES[name], path=tmp_path / "a.html")).scene["items"]
    assert len(items) == 1
    assert "indices" in items[0]


def test_bodies_above_triangle_limit_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "MAX_DRAWN", 100)
    parsed = Page(viz.show(BALLS, path=tmp_path / "a.html"))
    assert len(parsed.scene["items"]) == 1
    assert messages.LEFT_OUT.format(1, 100) in parsed.text


def test_page_needs_neither_opengl_nor_pyvista(tmp_path):
    code = (
        "import sys, gjk3d as gk; gk.viz.show([gk.Sphere(1), gk.Box((3, 1, 1))], path=sys.argv[1]); "
        "print([m for m in ('pyvista', 'vtkmodules') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.html")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_page_of_report_equals_to_html(tmp_path):
    mesh = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    report = gk.clash.check(gk.clash.Assembly.of({"a": mesh, "b": mesh.placed(pose(0.5, 0, 0))}))
    path = viz.show(report, path=tmp_path / "a.html")
    assert path.read_bytes() == report.to_html(tmp_path / "b.html").read_bytes()


def test_chromium_hides_unticked_objects(tmp_path):
    scene = gk.Scene()
    for k in range(3):
        scene.add(f"ball {k}", gk.Sphere(0.6), pose(1.1 * k + (0.6 if k == 2 else 0), 0, 0))
    path = viz.show(scene, path=tmp_path / "page.html")

    def vivid(path, name):
        complaints, _ = browse(path, tmp_path, f"--screenshot={tmp_path / name}")
        assert complaints == []
        picture = np.asarray(Image.open(tmp_path / name).convert("HSV"))[90:560].astype(int)
        return float(((picture[..., 1] > 110) & (np.abs(picture[..., 0] - 19) < 12)).mean())

    assert vivid(path, "all.png") > 0.05
    _, dom = browse(path, tmp_path, "--dump-dom")
    assert 'data-state="drawn"' in dom
    assert dom.count('<span class="label"') == 3  # one label for each ball
    # the same page with a script that unticks the first box; the policy needs the hash of that script
    script = template("gjk3d", "viewer.js") + template("gjk3d.viz", "picture.js") + template("gjk3d.viz", "names.js")
    style = template("gjk3d", "page.css") + template("gjk3d.viz", "picture.css")
    pressing = script + "document.querySelector('#keys input').click();"
    source = path.read_text(encoding="utf-8").replace(script, pressing)
    before, after = (policy([three_js(), text], style) for text in (script, pressing))
    assert before in source
    (tmp_path / "hidden.html").write_text(source.replace(before, after), encoding="utf-8")
    assert vivid(tmp_path / "hidden.html", "hidden.png") < 0.005
    _, dom = browse(path, tmp_path, "--dump-dom", "--disable-3d-apis")
    assert 'data-state="no-webgl"' in dom
