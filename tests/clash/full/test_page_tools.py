"""Inspection tools of the page: section box, isolated part, measured distance, saved views, and causes."""

import json

import numpy as np
import pytest
from browser import Browser, program
from reports import cube, three_cubes

import gjk3d as gk
from gjk3d.clash.page import write_page
from gjk3d.clash.triage import parse_triage
from tests.clash import messages

pytestmark = pytest.mark.skipif(program() is None, reason="chromium is not on PATH: apt-get install chromium")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"), size=(1400, 900))
    yield browser
    browser.close()


@pytest.fixture
def opened(chromium, tmp_path):
    chromium.complaints.clear()
    chromium.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")

    def open_page(report, name="week.html"):
        chromium.open(write_page(report, tmp_path / name))
        return chromium

    yield open_page
    chromium.evaluate("document.querySelector('#save').click()")  # unsaved changes would block leaving the page
    assert chromium.complaints == []


def tick(browser, query, value=None):
    browser.evaluate(f"""(() => {{ const box = document.querySelector('{query}');
        if (box.type === 'range') box.value = {json.dumps(value)}; else box.checked = !box.checked;
        box.dispatchEvent(new Event('input')); }})()""")
    browser.settle()


def drawn(browser):
    """Return the share of coloured pixels: the ground is grey, and the parts of a finding are not."""
    picture = browser.picture().astype(float)
    return float((picture.max(axis=-1) - picture.min(axis=-1) > 60).mean())


def test_coplanar_face_of_smaller_part_is_drawn_on_top(opened):
    """The coplanar face of the smaller part is drawn whole, without patches of the other part."""
    small, large = gk.Box((5.3, 4.7, 0.8)).surface(), gk.Box((10, 10, 1)).surface()
    turn = np.array([[0.96, 0.28, 0.0], [-0.28, 0.96, 0.0], [0.0, 0.0, 1.0]])
    parts = {"block": gk.Mesh(small.vertices @ turn + (0.4, 0.3, 0.1), small.faces), "plate": gk.Mesh(*large[:2])}
    browser = opened(gk.clash.check(gk.clash.Assembly.of(parts, "mm")))
    browser.click("#row-0")
    tick(browser, "#show-marks")
    picture = browser.picture()
    tick(browser, "#show-b")
    block_only = browser.picture()
    colours, counts = np.unique(block_only[block_only[..., 0] - block_only[..., 2] > 100], axis=0, return_counts=True)
    top = np.abs(block_only - colours[np.argmax(counts)]).max(axis=-1) <= 4
    assert top.sum() > 2000
    seen = picture[top]
    colour = np.median(seen, axis=0)
    assert colour[0] > colour[1] + 30  # orange is the block, green the plate
    assert (np.abs(seen - colour).max(axis=-1) <= 8).mean() > 0.97


def test_section_box_hides_parts_outside(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    browser.settle()
    uncut = drawn(browser)
    tick(browser, "#section")
    tick(browser, "#section-size", -1)
    assert drawn(browser) < 0.2 * uncut
    planes = browser.evaluate("clashStage.picture.renderer.clippingPlanes.length")
    assert planes == 6
    tick(browser, "#section-size", 1)
    assert drawn(browser) > 0.9 * uncut
    tick(browser, "#section")
    assert browser.evaluate("clashStage.picture.renderer.clippingPlanes.length") == 0


def test_part_is_isolated_and_restored(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    browser.settle()
    before = browser.picture().astype(int)
    browser.evaluate("[...document.querySelectorAll('.part')][1].querySelector('button:last-of-type').click()")
    browser.settle()
    shown = [browser.evaluate(f"document.querySelector('#show-{name}').checked") for name in ("a", "b", "rest")]
    assert shown == [False, True, False]
    assert (np.abs(browser.picture() - before).max(axis=-1) > 30).mean() > 0.02
    browser.evaluate("[...document.querySelectorAll('.part')][1].querySelector('button:last-of-type').click()")
    shown = [browser.evaluate(f"document.querySelector('#show-{name}').checked") for name in ("a", "b", "rest")]
    assert shown == [True, True, True]


def test_two_clicks_measure_and_snap_to_corners(opened):
    browser = opened(three_cubes())
    tick(browser, "#measure")
    ends = browser.evaluate("""(() => {
        const { picture, local } = clashStage, { data } = gjk3d, box = picture.box.getBoundingClientRect();
        const eye = picture.camera.position.toArray().map((x, k) => x * data.size + data.center[k]);
        // the edge of the third cube that is nearest to the eye, up and down
        const corner = [3.75, 0].map((x, k) => x + (eye[k] > x ? 1 : -1));
        return [-1, 1].map((z) => picture.pixel(local([...corner, z])))
          .map(([x, y]) => [x + box.left, y + box.top]); })()""")
    middle = np.mean(ends, axis=0)
    for x, y in ends:  # slightly inside the corner, to which the click snaps
        inward = (middle - (x, y)) / np.linalg.norm(middle - (x, y)) * 4
        browser.click_at(x + inward[0], y + inward[1])
    assert browser.evaluate("document.querySelector('#measured').textContent") == messages.MEASURED.format("2 mm")
    browser.key("ArrowDown")  # clicks that measure select no finding, and the measurement stays active
    assert browser.evaluate("document.querySelector('#measured').textContent").startswith(messages.CLICK_AN_END)


def test_measured_line_is_visible_on_part_a(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    browser.settle()
    before = browser.picture()
    browser.evaluate("document.querySelector('#measure').click()")
    left, top, height = browser.evaluate(
        "(({ left, top, height }) => [left, top, height])(document.querySelector('#view').getBoundingClientRect())"
    )
    orange = np.argwhere((before[..., 0] > 140) & (before[..., 1] > 90) & (before[..., 2] < 60))  # part A
    for k in (len(orange) // 4, 3 * len(orange) // 4):
        y, x = orange[k]
        browser.click_at(left + x, top + y)
    browser.settle()
    changed = np.abs(browser.picture() - before).max(axis=-1) > 40
    line = browser.picture()[changed & (np.arange(before.shape[0]) < 0.7 * height)[:, None]]
    assert (line.max(axis=-1) < 70).sum() > 60  # dark, not orange


def projected(browser):
    """Return the ends of the arrow and the box of its label, in pixels of the picture."""
    return browser.evaluate("""(() => { const { picture } = clashStage, [[number, tip], [, from]] = picture.labels;
        const box = picture.box.getBoundingClientRect(), { left, top, right, bottom } = number.getBoundingClientRect();
        const frame = [left - box.left, top - box.top, right - box.left, bottom - box.top];
        return [picture.pixel(from), picture.pixel(tip), frame, [box.width, box.height]]; })()""")


def test_label_does_not_cover_its_arrow(opened):
    browser = opened(three_cubes())
    for row in (0, 1):
        browser.click(f"#row-{row}")
        browser.settle()
        start, tip, (left, top, right, bottom), _ = projected(browser)
        for s in np.linspace(0, 1, 20):
            x, y, _ = (1 - s) * np.array(start) + s * np.array(tip)
            assert not (left < x < right and top < y < bottom)


def test_small_gap_is_visible(opened):
    meshes = {"slab": cube(), "lid": cube((0, 0, 2.01))}
    browser = opened(gk.clash.check(gk.clash.Assembly.of(meshes, "mm"), 0.1))
    browser.click("#row-0")
    browser.settle()
    a, b = browser.evaluate(
        "['point_a', 'point_b'].map((name) => clashStage.picture.pixel(clashStage.local(gjk3d.data.rows[0][name])))"
    )
    assert np.hypot(*np.subtract(a, b)[:2]) > 3


def test_arrow_of_contained_part_is_in_the_picture(opened):
    meshes = {"block": cube(size=20.0), "pin": cube(size=1.0)}
    browser = opened(gk.clash.check(gk.clash.Assembly.of(meshes, "mm")))
    browser.click("#row-0")
    browser.settle()
    *ends, _, (width, height) = projected(browser)
    for x, y, _ in ends:
        assert 0 < x < width
        assert 0 < y < height


def test_saved_view_is_restored(opened):
    report = three_cubes()
    browser = opened(report)
    browser.click("#row-0")
    browser.settle()
    tick(browser, "#section")
    seen = browser.picture().astype(int)
    browser.evaluate("document.querySelector('#views button').click()")
    triage = parse_triage(browser.evaluate("clashTriage.file()").encode(), "the page")
    (view,) = triage.issues[report.clashes[0].id].views
    assert (view.name, view.unit, len(view.planes)) == ("view 1", "mm", 6)
    np.testing.assert_allclose(view.target, report.clashes[0].point, atol=1e-5)
    browser.evaluate("document.querySelector('#save').click()")
    again = opened(three_cubes(triage=triage), "again.html")
    again.click("#row-1")
    again.settle()
    again.click("#row-0")
    again.settle()
    again.evaluate("document.querySelectorAll('#views button')[1].click()")
    again.settle()
    assert (np.abs(again.picture() - seen).max(axis=-1) > 40).mean() < 0.01


@pytest.mark.parametrize(("unit", "each"), [("m", 1e-3), ("mil", 1 / 0.0254), ("Millimetres", 1.0)])
def test_view_in_another_unit_is_converted(opened, unit, each):
    """Views from BCF are in metres, and those of other programs in any unit."""
    report = three_cubes()
    eye, target = (each * np.array([[2.0, -9.0, 4.0], report.clashes[0].point])).tolist()
    view = {"id": "1", "at": "2026-05-04T08:00:00Z", "eye": eye, "target": target, "up": [0, 0, 1], "unit": unit}
    issue = {name: getattr(report.clashes[0], name) for name in ("id", "kind", "a", "b")}
    text = json.dumps({"command": "triage", "schema_version": 1, "issues": [issue | {"views": [view]}]})
    browser = opened(three_cubes(triage=parse_triage(text.encode(), "x")))
    browser.click("#row-0")
    browser.settle()
    browser.evaluate("document.querySelectorAll('#views button')[1].click()")
    browser.settle()
    center, size = browser.evaluate("[gjk3d.data.center, gjk3d.data.size]")
    seen = np.array(browser.state("eye").split()[:3], float) * size + center
    np.testing.assert_allclose(seen, [2.0, -9.0, 4.0], atol=1e-3)


def test_findings_are_filtered_by_their_cause(opened):
    plate = gk.Box((30, 3, 1)).surface()
    meshes = {f"pin {k}": cube((4 * k - 8, 0, 1)) for k in range(4)} | {"plate": gk.Mesh(*plate[:2])}
    meshes |= {"lone 1": cube((0, 0, 50)), "lone 2": cube((1, 0, 50))}
    browser = opened(gk.clash.check(gk.clash.Assembly.of(meshes, "mm")))
    assert browser.state("shown") == "5"
    assert messages.LOOK_FIRST.format("plate", 4, 5) in browser.evaluate("document.querySelector('#notes').innerText")
    browser.evaluate("document.querySelector('#group').value = 'cause 0'")
    browser.evaluate("document.querySelector('#group').dispatchEvent(new Event('input'))")
    assert browser.state("shown") == "4"


def test_truncated_group_list_is_labelled(opened):
    meshes = {f"{k} {side}": cube((20 * k, 0.5 * side, 0)) for k in range(501) for side in range(2)}
    browser = opened(gk.clash.check(gk.clash.Assembly.of(meshes, "mm")))
    assert browser.state("shown") == "501"
    (label,) = (
        text
        for text in browser.evaluate(
            "[...document.querySelectorAll('#group optgroup')].map((one) => one.label).join('|')"
        ).split("|")
        if text.startswith("near")
    )
    assert label == messages.LARGEST_GROUPS.format(500, 501)
    assert browser.evaluate("document.querySelectorAll('#group optgroup option').length") == 500
