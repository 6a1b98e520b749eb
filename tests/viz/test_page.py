import base64
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
import trimesh
from example_results import SHAPES, overlapping, pose, separated
from message_checks import read
from PIL import Image

import gjk3d as gk
from gjk3d import webpage
from gjk3d.query.wording import headline
from gjk3d.viz import page
from gjk3d.viz.drawing import Style, camera_of, lay_out
from gjk3d.viz.kinds.answers import draw_distance
from gjk3d.viz.page import write_html
from gjk3d.webpage import template, three_js
from tests.viz import messages

EVIL = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Parsed elements of a page: tags with attributes, scripts, table cells and text."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.tags, self.scripts, self.cells, self._open = [], [], [], []
        self.text = ""
        self.feed(self.source)
        self.close()
        self.rows = dict(zip(self.cells[::2], self.cells[1::2], strict=True))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag in ("th", "td"):
            self.cells.append("")

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if "script" in self._open:
            self.scripts[-1] += data
        elif "style" not in self._open:
            self.text += data
            if self._open and self._open[-1] in ("th", "td"):
                self.cells[-1] += data

    @property
    def scene(self):
        return json.loads(self.scripts[0])


def array(text, kind, columns=3):
    return np.frombuffer(base64.b64decode(text), kind).reshape(-1, columns)


def test_page_is_self_contained(tmp_path):
    parsed = Page(write_html(tmp_path / "a.html", separated()))
    for tag, attributes in parsed.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form", "video", "audio")
        for name in ("src", "href", "action", "srcset", "data", "style"):
            assert name not in attributes
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in template("gjk3d.viz", "picture.css") + template("gjk3d", "page.css")
    assert "@import" not in template("gjk3d.viz", "picture.css") + template("gjk3d", "page.css")


def test_policy_allows_only_the_page_scripts(tmp_path):
    parsed = Page(write_html(tmp_path / "a.html", separated()))
    policy = next(a["content"] for t, a in parsed.tags if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy
    assert len(parsed.scripts) == 3
    for text in parsed.scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules["script-src"].split()
    assert len(rules["script-src"].split()) == 2


def test_names_and_notes_are_escaped(tmp_path):
    path = tmp_path / "evil.html"
    parsed = Page(write_html(path, separated(), names=(EVIL, "\"&'@scene@"), notes=(f"</p>{EVIL}",), unit="<b>mm</b>"))
    assert len(parsed.scripts) == 3
    assert EVIL not in parsed.source
    assert parsed.text.count(EVIL) == 3  # as text: title, name, note
    assert "\"&'@scene@" in parsed.text
    assert "b" not in [tag for tag, a in parsed.tags if a == {} and tag == "b"][2:]  # only the two of the template
    assert not re.search(r"alert\(1\)", "".join(parsed.scripts))


def test_json_cannot_end_its_element():
    assert webpage.to_json({"a": "</script><!--&"}) == '{"a":"\\u003c/script\\u003e\\u003c!--\\u0026"}'
    with pytest.raises(ValueError, match="JSON compliant"):
        webpage.to_json(float("nan"))


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_scene_contains_bodies_at_their_poses(tmp_path, size):
    result = separated(size)
    layout, scene = lay_out(result), Page(write_html(tmp_path / "a.html", result)).scene
    for i, body in enumerate(layout.bodies):
        (item,) = [x for x in scene["items"] if x["layer"] == "hulls" and x["moves"] == bool(i)]
        points = array(item["positions"], "<f4") * layout.radius + layout.center
        assert array(item["indices"], "<u2").shape == body.faces.shape
        np.testing.assert_allclose(points.min(axis=0), body.vertices.min(axis=0), atol=1e-6 * layout.radius)
        np.testing.assert_allclose(points.max(axis=0), body.vertices.max(axis=0), atol=1e-6 * layout.radius)
    values = scene["apart"] | {"eye": scene["eye"]}
    eye = camera_of(draw_distance(result, Style())).eye
    for key, point in (("a", result.point_a), ("b", result.point_b), ("eye", eye)):
        np.testing.assert_allclose(np.array(values[key]) * layout.radius + layout.center, point, atol=1e-9 * size)
    np.testing.assert_allclose(np.array(scene["slide"]) * layout.radius, -result.distance * result.normal)
    np.testing.assert_allclose(values["normal"], result.normal)


def test_table_contains_all_numbers_and_the_unit(tmp_path):
    result = overlapping()
    parsed = Page(write_html(tmp_path / "a.html", result, names=("crank.stl", "rod.stl"), unit="mm"))
    rows = parsed.rows
    assert rows["Status"] == "overlapping"
    assert rows["Unit"] == "mm"
    low, high = read(rows["Depth"].removesuffix(" mm"), 9)
    assert low <= -result.upper <= -result.lower <= high
    assert rows["Depth"].endswith(" mm")
    assert (float(rows[messages.LOWER]), float(rows[messages.UPPER])) == (-result.upper, -result.lower)
    for label, vector in (("Point on A", result.point_a), ("Point on B", result.point_b), ("Normal", result.normal)):
        numbers = [float(x) for x in re.findall(r"[-\d.e]+", rows[label].split(")")[0])]
        np.testing.assert_allclose(numbers, vector, atol=1e-8)
    assert f"length {result.depth:.9g} mm" in rows[messages.TO_PART]
    assert "crank.stl" in parsed.text
    assert "overlapping by" in parsed.text


@pytest.mark.parametrize(
    ("result", "headline", "row"),
    [
        (separated(), "Apart by 1", "To touch"),
        (gk.signed_distance(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose(1, 0, 0)), "Touching", "Status"),
        (gk.signed_distance(gk.Sphere(1), gk.Sphere(1), None, pose(9, 0, 0), max_distance=2), "Apart by 7", "Status"),
        (gk.distance(gk.Sphere(1), gk.Sphere(1), None, pose(0.5, 0, 0)), "Overlapping", "Status"),
    ],
)
def test_every_status_has_its_headline(tmp_path, result, headline, row):
    parsed = Page(write_html(tmp_path / "a.html", result))
    assert headline in parsed.text
    assert row in parsed.rows


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_has_a_page(tmp_path, name):
    result = gk.signed_distance(SHAPES[name], gk.Box((0.5, 0.5, 0.5)), None, pose(2.5, 0.4, 0.3))
    scene = Page(write_html(tmp_path / "a.html", result)).scene
    (item,) = [x for x in scene["items"] if x["layer"] == "hulls" and not x["moves"]]
    assert "indices" in item  # a point and a segment are drawn with a visible thickness
    assert item["framed"] == (name != "halfspace")


def test_models_are_included_unless_convex_or_too_large(tmp_path, monkeypatch):
    vertices, faces = gk.Box((1, 1, 1)).surface()
    convex, broken = gk.Mesh(vertices, faces), gk.Mesh(vertices, faces[1:])
    result = gk.signed_distance(broken.hull(), convex.hull(), None, pose(2, 0, 0))
    parsed = Page(write_html(tmp_path / "a.html", result, surfaces=(broken, convex)))
    assert [x["moves"] for x in parsed.scene["items"] if x["layer"] == "models"] == [False]
    assert messages.HULLS in parsed.text
    monkeypatch.setattr(page, "MAX_TRIANGLES", 5)
    parsed = Page(write_html(tmp_path / "a.html", result, surfaces=(broken, None)))
    assert not [x for x in parsed.scene["items"] if x["layer"] == "models"]
    assert messages.HULL_ALONE.format("A", 11) in parsed.text


def test_same_result_gives_same_bytes(tmp_path):
    first, second = (write_html(tmp_path / name, overlapping()).read_bytes() for name in ("a.html", "b.html"))
    assert first == second
    assert len(first) < 2_000_000


def test_stack_of_results_raises(tmp_path):
    stack = gk.signed_distance(gk.Sphere(1), gk.Sphere(1), None, np.stack([pose(3, 0, 0)] * 2))
    with pytest.raises(TypeError, match=r"\b2\b.*result\[0\]"):
        write_html(tmp_path / "a.html", stack)


def test_trimesh_without_viewer_raises(tmp_path, monkeypatch):
    three_js.cache_clear()
    monkeypatch.setattr("trimesh.util.decompress", lambda *a, **k: {"viewer.html.template": io.BytesIO(b"<html>")})
    with pytest.raises(RuntimeError, match=r"trimesh.*three\.js.*pip install -U trimesh"):
        write_html(tmp_path / "a.html", separated())


@pytest.mark.full
def test_writing_a_page_loads_no_pyvista(tmp_path):
    code = (
        "import sys, gjk3d as gk; r = gk.signed_distance(gk.Sphere(1), gk.Point((3, 0, 0))); "
        "gk.viz.write_html(sys.argv[1], r); print([m for m in ('pyvista', 'vtkmodules') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.html")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_distance_page_has_background_and_colors(tmp_path):
    path = tmp_path / "a.html"
    parsed = Page(
        gk.viz.show(separated(), path=path, background="#102040", colors=("#ff0000", "#0000ff"), title="a\nb")
    )
    assert parsed.scene["background"] == "#102040"
    assert "#202124" not in {item["color"] for item in parsed.scene["items"]}
    colors = {item["name"]: item["color"] for item in parsed.scene["items"]}
    assert (colors["A"], colors["B"]) == ("#ff0000", "#0000ff")
    assert [item["name"] for item in parsed.scene["items"] if item["moves"]] == ["B", "point_b"]
    assert '<p class="note">a</p>\n<p class="note">b</p>' in parsed.source
    clear = Page(gk.viz.show(separated(), path=path, transparent_background=True))
    assert clear.scene["background"] == "transparent"


def test_mesh_slider_ends_with_proven_bounds(tmp_path):
    ring = gk.Mesh(trimesh.creation.torus(1, 0.3))
    result = gk.signed_distance(ring, ring, None, pose(0.5, 0, 0))
    assert not result.tight
    moved = result.pose_b.copy()
    moved[:3, 3] -= result.distance * result.normal
    proven = gk.distance(ring, ring, None, moved)
    readings = Page(write_html(tmp_path / "a.html", result)).scene["readings"]
    head, status, rows = readings[-1]
    assert (head, status) == (headline(proven), "separated")
    assert 0.0 <= float(dict(rows)[messages.LOWER]) <= proven.lower <= proven.upper
    for _, status, rows in readings[:-1]:
        assert status != "overlapping" or float(dict(rows)[messages.LOWER]) >= 0.0  # a bound of the depth


def test_slider_has_the_result_at_each_position(tmp_path):
    for result in (separated(), overlapping()):
        readings = Page(write_html(tmp_path / "a.html", result, unit="mm")).scene["readings"]
        assert len(readings) == 41
        for share, (head, status, rows) in zip((0.0, 0.5, 1.0), readings[::20], strict=True):
            moved = result.pose_b.copy()
            moved[:3, 3] -= share * result.distance * result.normal
            expected = gk.signed_distance(result.shape_a, result.shape_b, result.pose_a, moved)
            assert (head, status) == (headline(expected, "mm"), expected.status.name.lower())
            rows = dict(rows)
            lower, upper = float(rows[messages.LOWER]), float(rows[messages.UPPER])
            assert lower <= abs(expected.distance) + 1e-12
            assert upper >= abs(expected.distance) - 1e-12
            numbers = [float(x) for x in re.findall(r"[-\d.e]+", rows["Point on B"])]
            np.testing.assert_allclose(numbers, result.point_b - share * result.distance * result.normal, atol=1e-8)


def test_drawing_page_has_background(tmp_path):
    scene = Page(gk.viz.show(gk.Sphere(1), path=tmp_path / "a.html", background="#102030")).scene
    assert scene["background"] == "#102030"
    assert Page(gk.viz.show(gk.Sphere(1), path=tmp_path / "a.html")).scene["background"] is None


@pytest.mark.parametrize("count", [3, 50])
def test_scene_page_has_names_and_depths(tmp_path, count):
    scene = gk.Scene()
    for k in range(count):
        scene.add(f"{EVIL}{k}", gk.Box((1, 1, 1)), pose(0.7 if k == 1 else 3.0 * k, 0, 0))
    parsed = Page(gk.viz.show(scene, path=tmp_path / "a.html"))
    facts = parsed.scene["facts"]
    assert facts[f"{EVIL}0"] == f"depth 0.3 with {EVIL}1"
    assert facts[f"{EVIL}2"] == ""
    named = [part for item in parsed.scene["items"] for part in item.get("parts", [[item["name"], 12]])]
    assert {name for name, faces in named if name} == set(facts)
    assert {faces for name, faces in named if name} == {12}
    assert EVIL not in parsed.source
    near = Page(gk.viz.show(scene, path=tmp_path / "a.html", margin=5.0)).scene["facts"]
    assert "apart with" in near[f"{EVIL}1"]


# --- in a browser ----------------------------------------------------------------------------------------------------


def browse(path, tmp_path, *options):
    """Open a page in headless Chromium without network, and return its console messages and its output."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.fail("these tests look at the page in Chromium, which is not on PATH: apt-get install chromium")
    command = [
        program,
        "--headless=new",
        "--no-sandbox",
        "--use-gl=angle",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1200,700",
        "--virtual-time-budget=6000",
        "--enable-logging=stderr",
        *options,
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line and "file://" in line], done.stdout


@pytest.mark.full
def test_chromium_draws_the_page(tmp_path):
    vertices, faces = gk.Box((1, 1, 1)).surface()
    broken = gk.Mesh(vertices, faces[1:])
    result = gk.signed_distance(broken.hull(), gk.Cone(0.5, 1), None, pose(1.6, 0.2, 0.1, (0.2, 0.4, 0)))
    path = write_html(tmp_path / "page.html", result, names=(EVIL, "cone"), notes=(EVIL,), surfaces=(broken, None))
    complaints, _ = browse(path, tmp_path, f"--screenshot={tmp_path / 'page.png'}")
    assert complaints == []
    view = np.asarray(Image.open(tmp_path / "page.png").convert("HSV"))[60:, :760].astype(int)  # below the controls
    vivid = view[..., 1] > 60
    orange, green = (np.abs(view[..., 0] - hue) < 12 for hue in (29, 116))
    assert (vivid & orange).mean() > 0.02
    assert (vivid & green).mean() > 0.02


@pytest.mark.full
def test_chromium_reports_state_in_dark_and_without_webgl(tmp_path):
    path = write_html(tmp_path / "page.html", overlapping())
    complaints, dom = browse(path, tmp_path, "--dump-dom", "--blink-settings=preferredColorScheme=0")
    assert complaints == []
    assert 'data-state="drawn"' in dom
    _, dom = browse(path, tmp_path, "--dump-dom", "--disable-3d-apis")
    assert 'data-state="no-webgl"' in dom
    assert "no WebGL" in dom
