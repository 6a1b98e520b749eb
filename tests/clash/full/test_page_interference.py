"""What the page draws for a finding: common volume, curve, contact patches, gaps, names, and the view cube."""

from dataclasses import replace

import numpy as np
import pytest
from browser import Browser, program
from reports import EVIL, finding, three_cubes

import gjk3d as gk
from gjk3d.clash.page import write_page

pytestmark = pytest.mark.skipif(program() is None, reason="chromium is not on PATH: apt-get install chromium")
PINK = {"light": (214, 64, 143), "dark": (240, 108, 176)}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"), size=(1280, 800))
    yield browser
    browser.close()


@pytest.fixture
def opened(chromium, tmp_path):
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")

    def open_page(report, **more):
        chromium.open(write_page(report, tmp_path / "report.html", **more))
        return chromium

    yield open_page
    assert chromium.complaints == []
    assert {url.split("#")[0] for url in chromium.requests} == {(tmp_path / "report.html").as_uri()}


def share(browser, color):
    """Return the share of the picture with about this hue, at any brightness."""
    browser.settle()
    picture = browser.picture()
    picture = picture / np.linalg.norm(picture, axis=-1, keepdims=True).clip(1)
    return float((picture @ (np.array(color) / np.linalg.norm(color)) > 0.985).mean())


def legend(browser):
    return browser.evaluate("document.querySelector('#legend').textContent")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_common_volume_is_drawn_in_its_colour(opened, scheme):
    browser = opened(three_cubes())
    browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    assert share(browser, PINK[scheme]) < 0.001
    browser.click("#row-0")
    browser.wait("document.querySelector('#legend').textContent.includes('overlap volume')")
    assert share(browser, PINK[scheme]) > 0.01
    browser.click("#show-marks")
    assert share(browser, PINK[scheme]) < 0.001
    assert "overlap volume" not in legend(browser)
    browser.click("#show-marks")
    browser.evaluate("""(() => { const slide = document.querySelector('#slide'); slide.value = 1;
        slide.dispatchEvent(new Event('input')); })()""")
    assert share(browser, PINK[scheme]) < 0.001  # B is displaced now
    browser.click("#row-1")
    browser.settle()
    assert "overlap volume" not in legend(browser)


def test_intersection_curve_is_drawn_for_tilted_parts(opened):
    report = three_cubes()
    turned = gk.Mesh(
        report.assembly.parts[1].shape.vertices @ np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 0.9]]).T,
        report.assembly.parts[1].shape.faces,
    )
    assembly = replace(
        report.assembly, parts=(report.assembly.parts[0], replace(report.assembly.parts[1], shape=turned))
    )
    browser = opened(replace(report, assembly=assembly))
    browser.click("#row-0")
    browser.wait("document.querySelector('#legend').textContent.includes('intersection curve')")


def test_contact_patch_is_common_area_of_two_faces(opened):
    report = three_cubes()
    shapes = report.assembly.parts
    moved = gk.Mesh(shapes[1].shape.vertices + (0.5, 1.0, 0.0), shapes[1].shape.faces)  # from x = 1, half of the face
    touch = finding(
        "touch", "frame", "press/ram", distance=0.0, depth=0.0, point=(1.0, 0.5, 0.0), normal=(1.0, 0.0, 0.0)
    )
    bounds = tuple(map(tuple, moved.bounds.tolist()))
    parts = tuple(replace(row, bounds=bounds) if row.name == "press/ram" else row for row in report.parts)
    assembly = replace(report.assembly, parts=(shapes[0], replace(shapes[1], shape=moved), shapes[2]))
    browser = opened(replace(report, clashes=(touch,), parts=parts, assembly=assembly))
    browser.click("[data-kind=touch]")
    browser.click("#row-0")
    browser.wait("document.querySelector('#legend').textContent.includes('contact patch')")
    assert share(browser, PINK["light"]) > 0.005
    corners = np.array(
        browser.evaluate("""[...clashCommon.group.children[0].geometry.attributes.position.array]""")
    ).reshape(-1, 3)
    scale, center = browser.evaluate("[gjk3d.data.size, gjk3d.data.center]")
    corners = corners * scale + center
    assert corners.min(axis=0) == pytest.approx([1, 0, -1], abs=1e-5)
    assert corners.max(axis=0) == pytest.approx([1, 1, 1], abs=1e-5)
    a, b, c = corners.reshape(-1, 3, 3).transpose(1, 0, 2)
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(2.0, abs=1e-4)


def test_edge_contact_is_line_and_corner_contact_is_point(opened):
    report = three_cubes()
    shapes = report.assembly.parts
    for shift, word in (((0.5, 2.0, 0.0), "contact line"), ((0.5, 2.0, 2.0), "dot: contact point")):
        moved = gk.Mesh(shapes[1].shape.vertices + shift, shapes[1].shape.faces)  # from x = 1 and y = 1
        touch = finding("touch", "frame", "press/ram", distance=0.0, depth=0.0, point=(1.0, 1.0, 1.0))
        bounds = tuple(map(tuple, moved.bounds.tolist()))
        parts = tuple(replace(row, bounds=bounds) if row.name == "press/ram" else row for row in report.parts)
        assembly = replace(report.assembly, parts=(shapes[0], replace(shapes[1], shape=moved), shapes[2]))
        browser = opened(replace(report, clashes=(touch,), parts=parts, assembly=assembly))
        browser.click("[data-kind=touch]")
        browser.click("#row-0")
        browser.wait(f"document.querySelector('#legend').textContent.endsWith('{word}')")
    browser.click("#show-marks")
    assert share(browser, PINK["light"]) < 0.001


def test_contact_of_shaft_and_bore_is_axial_lines(opened):
    trimesh = pytest.importorskip("trimesh")
    bore = trimesh.creation.annulus(10, 20, 20, sections=48)
    shaft = trimesh.creation.cylinder(10 * np.cos(np.pi / 48), 40, sections=36)
    shaft.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 48, (0, 0, 1)))  # 12 edges are on the bore
    parts = {name: gk.Mesh(mesh.vertices, mesh.faces) for name, mesh in (("bore", bore), ("shaft", shaft))}
    report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), tolerance=1e-6)
    assert [clash.kind for clash in report.clashes] == ["touch"]
    browser = opened(report)
    browser.click("[data-kind=touch]")
    browser.click("#row-0")
    browser.wait("document.querySelector('#legend').textContent.includes('contact line')")
    matrices = np.array(browser.evaluate("[...clashCommon.group.children[0].instanceMatrix.array]")).reshape(-1, 4, 4)
    size = browser.evaluate("gjk3d.data.size")
    along, middle = matrices[:, 1, :3] * size, matrices[:, 3, :3] * size  # axes of the rods, scaled by their lengths
    assert along[:, :2] == pytest.approx(0, abs=1e-3)
    low, high = middle[:, 2] - np.abs(along[:, 2]) / 2, middle[:, 2] + np.abs(along[:, 2]) / 2
    assert (low.min(), high.max()) == pytest.approx((-10, 10), abs=0.01)
    angles = np.arctan2(middle[:, 1], middle[:, 0])
    assert len(np.unique(np.round(np.degrees(angles)))) == 12


def test_distance_label_shows_gap_or_depth(opened):
    browser = opened(three_cubes())
    browser.click("#row-1")
    browser.settle()
    labels = "[...document.querySelectorAll('#view .label')].filter((e) => !e.hidden).map((e) => e.textContent)"
    assert browser.evaluate(labels) == ["gap 0.25 mm"]
    browser.click("#row-0")
    browser.settle()
    assert browser.evaluate(labels) == ["depth 0.5 mm"]
    browser.key("Escape")
    browser.settle()
    assert browser.evaluate(labels) == []


def test_part_under_pointer_is_named(opened):
    browser = opened(three_cubes(names=("frame", "press/ram", EVIL)))
    x, y = browser.evaluate("""(() => { const box = document.querySelector('canvas').getBoundingClientRect();
        const [low, high] = gjk3d.data.parts[gjk3d.data.rows[1].b].box, { picture } = clashStage;
        const [x, y] = picture.pixel(new THREE.Vector3(high[0], (low[1] + high[1]) / 2, (low[2] + high[2]) / 2));
        return [box.left + x - 2, box.top + y]; })()""")
    browser.hover(x, y)
    browser.wait("!document.querySelector('#tip').hidden")
    assert browser.evaluate("document.querySelector('#tip').textContent") == EVIL
    browser.click_at(x, y)
    assert browser.evaluate("document.querySelector('#part-name bdi').textContent") == EVIL
    browser.click("#part-name button")
    assert browser.evaluate("clashTable.shown") == [1]
    assert browser.evaluate("document.querySelectorAll('#view script').length") == 0


def test_view_cube_turns_camera_by_click_and_key(opened):
    browser = opened(three_cubes(), up="z")
    eye = "clashStage.camera.position.clone().sub(clashStage.picture.controls.target).normalize().toArray()"
    browser.click("#cube [aria-label='view from the top']")
    browser.settle()
    assert browser.evaluate(eye) == pytest.approx([0, 0, 1], abs=1e-3)
    browser.evaluate("document.querySelector(\"#cube [aria-label='view from the front']\").focus()")
    browser.key("Enter")
    browser.settle()
    assert browser.evaluate(eye) == pytest.approx([0, -1, 0], abs=1e-3)
    assert browser.evaluate("document.querySelectorAll('#cube > text').length") == 3


@pytest.mark.parametrize(("up", "wanted"), [("", [0, 1, 0]), ("z", [0, 0, 1]), ("x", [1, 0, 0])])
def test_up_axis_sets_camera_up(opened, up, wanted):
    browser = opened(three_cubes(), up=up)
    assert browser.evaluate("clashStage.camera.up.toArray()") == wanted
