from dataclasses import replace

import numpy as np
import pytest
from browser import Browser, program
from reports import ENDING, EVIL, SHOWN_ENDING, finding, many, three_cubes

from gjk3d.clash import Report
from gjk3d.clash.detection.clashes import KINDS
from gjk3d.clash.page import write_page
from gjk3d.clash.report import PartRow
from tests.clash import messages


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    if program() is None:
        pytest.fail("these tests look at the page in Chromium, which is not on PATH: apt-get install chromium")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def opened(chromium, tmp_path):
    """Return a function that opens the page of a report; fail if the page had errors or requested other addresses."""
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")

    def open_page(report, hash=""):
        path = write_page(report, tmp_path / "report.html")
        chromium.open(path, hash)
        return chromium

    yield open_page
    assert chromium.complaints == []
    assert {url.split("#")[0] for url in chromium.requests} == {(tmp_path / "report.html").as_uri()}


def share(picture, color):
    """Return the share of a picture with about this hue, at any brightness."""
    picture = picture / np.linalg.norm(picture, axis=-1, keepdims=True).clip(1)
    return float((picture @ (np.array(color) / np.linalg.norm(color)) > 0.985).mean())


ORANGE, GREEN = (230, 159, 0), (0, 158, 115)


def choose(browser, selector, value):
    browser.evaluate(
        f"(() => {{ const s = document.querySelector('{selector}'); s.value = '{value}';"
        " s.dispatchEvent(new Event('input')); })()"
    )


def rows(browser):
    return browser.evaluate(
        "[...document.querySelectorAll('#rows tr[data-row]')].map((row) => Number(row.dataset.row))"
    )


def test_click_on_row_moves_camera_to_finding(opened):
    browser = opened(three_cubes())
    before, eye = browser.picture(), browser.state("eye")
    assert browser.state("view") == "assembly"
    assert share(before, ORANGE) < 0.003
    browser.click("#row-0")
    browser.settle()
    first = browser.picture()
    assert browser.state("selected") == three_cubes().clashes[0].id
    assert browser.state("eye") != eye
    assert share(first, ORANGE) > 0.02
    assert share(first, GREEN) > 0.02
    assert messages.SEPARATION.format("0.5 mm") in browser.evaluate("document.querySelector('#legend').textContent")
    detail = browser.evaluate("document.querySelector('#detail').innerText")
    values = "depth\n0.5 mm", "(0.5, 0, 0), length 0.5 mm", "2 mm³", "0.5 × 2 × 2 mm"
    for words in ("frame", "press/ram", *values, "pressed in"):
        assert words in detail
    target = np.array(browser.state("eye").split()[3:], float)
    browser.click("#row-1")
    browser.settle()
    assert (np.abs(browser.picture() - first).max(axis=-1) > 30).mean() > 0.05
    assert messages.GAP.format("0.25 mm") in browser.evaluate("document.querySelector('#legend').textContent")
    moved = np.array(browser.state("eye").split()[3:], float) - target
    size = np.linalg.norm([5.75, 2, 2]) / 2  # bounds of the three cubes
    np.testing.assert_allclose(moved * size, [2.625 - 0.75, 0, 0], atol=1e-3)


def test_camera_flight_is_animated_unless_motion_is_reduced(opened, chromium):
    browser = opened(three_cubes())
    browser.media(prefers_color_scheme="light", prefers_reduced_motion="no-preference")
    browser.evaluate(
        "window.seen = []; (function look() { seen.push(document.documentElement.dataset.flight);"
        " requestAnimationFrame(look); })()"
    )
    browser.click("#row-0")
    browser.settle()
    assert browser.evaluate("seen.filter((state) => state === 'moving').length") > 0


def test_keys_move_through_the_rows(opened):
    browser = opened(three_cubes())
    a, b = (clash.id for clash in three_cubes().clashes)
    for key, selected in [
        ("ArrowDown", a), ("ArrowDown", b), ("ArrowDown", b), ("ArrowUp", a), ("End", b), ("Home", a),
        ("Escape", ""), ("ArrowUp", b),
    ]:  # fmt: skip
        browser.key(key)
        assert browser.state("selected") == selected
    browser.key("Escape")
    browser.settle()
    assert browser.state("view") == "assembly"


def test_filters_and_order(opened):
    browser = opened(three_cubes())
    assert rows(browser) == [0, 1]
    browser.click("[data-kind=hard]")
    assert rows(browser) == [0]
    browser.click("[data-kind=hard]")
    browser.click("#search")
    browser.type("GAP pin")
    assert rows(browser) == [1]
    browser.type(" nothing of this")
    assert rows(browser) == []
    assert browser.evaluate("document.querySelector('#empty').innerText") == messages.NO_ROW
    browser.click("#clear")
    assert rows(browser) == [0, 1]
    browser.click("#part")
    browser.wait("document.querySelectorAll('#twigs .node').length")
    assert browser.evaluate("[...document.querySelectorAll('#twigs .node')].map((node) => node.innerText)") == [
        "any part", "frame 1", "press/ 2",
    ]  # fmt: skip
    browser.click("#twigs [aria-label='open press/']")
    browser.click("[data-path='press/pin']")
    assert rows(browser) == [1]
    browser.click("#clear")
    browser.click("[data-sort=gap]")  # a finding without a gap is last in both directions
    assert rows(browser) == [1, 0]
    browser.click("[data-sort=gap]")
    assert rows(browser) == [1, 0]
    assert browser.evaluate("document.querySelectorAll('[aria-sort=descending]').length") == 1
    browser.key("ArrowDown")
    assert browser.state("selected") == three_cubes().clashes[1].id


def test_click_in_picture_selects_finding(opened):
    browser = opened(three_cubes())
    left, top, width, height = browser.evaluate(
        "(() => { const b = document.querySelector('#view').getBoundingClientRect();"
        " return [b.x, b.y, b.width, b.height]; })()"
    )
    rust = np.array([240, 79, 14])  # the dot of a hard clash: the #a8370a of the table, lighter
    at = np.argwhere(np.abs(browser.picture() - rust).max(axis=-1) < 24).mean(axis=0)
    assert 0.2 * height < at[0] < 0.8 * height
    assert 0.2 * width < at[1] < 0.8 * width
    browser.click_at(left + at[1], top + at[0])
    assert browser.state("selected") == three_cubes().clashes[0].id


def test_resolved_findings_have_their_own_filter(opened):
    hard, near = three_cubes().clashes
    gone = finding("touch", "frame", "a part that was", severity=3, status="resolved")
    browser = opened(three_cubes(clashes=(hard, near, gone)))
    assert rows(browser) == [0, 1]
    choose(browser, "#status", "resolved")
    assert rows(browser) == [2]
    browser.click("#row-2")
    browser.settle()
    assert messages.B_NOT_DRAWN in browser.evaluate("document.querySelector('#detail').innerText")


def test_link_opens_finding(opened):
    wanted = three_cubes().clashes[1].id
    browser = opened(three_cubes(), f"#{wanted}")
    assert browser.state("selected") == wanted
    assert browser.state("view") == "finding"
    buttons = browser.evaluate("[...document.querySelectorAll('#detail button')].map((button) => button.innerText)")
    assert buttons.count("alone") == 2


def test_light_and_dark(opened):
    browser = opened(three_cubes())
    assert browser.picture("#list").mean() > 200
    browser.media(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    browser.settle()
    assert browser.picture("#list").mean() < 80


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", range(6), ids=KINDS)
def test_text_has_enough_contrast(opened, scheme, which):
    """Text has the contrast that WCAG requires for ordinary size, 4.5 to 1."""
    browser = opened(three_cubes(clashes=tuple(finding(kind, "frame", "press/ram", distance=0.5) for kind in KINDS)))
    browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    if KINDS[which] == "touch":  # a touch is not open
        browser.click("[data-kind=touch]")
    browser.evaluate(f"document.querySelector('#row-{which}').click()")
    pairs = browser.evaluate("""(() => {
      const ground = (item) => { for (; item; item = item.parentElement) {
        const color = getComputedStyle(item).backgroundColor;
        if (!/, 0(\\.\\d+)?\\)$/.test(color)) return color; } };
      const looked = 'h1, #facts, .tile:enabled *, #rows td *, #detail *, thead button, summary';
      const seen = (item) => item.textContent && getComputedStyle(item).display !== 'none';
      return [...document.querySelectorAll(looked)].filter(seen)
        .map((item) => [item.className, getComputedStyle(item).color, ground(item)]); })()""")
    assert len(pairs) > 40

    def light(color):
        part = np.array([float(x) for x in color[color.index("(") + 1 : -1].split(",")[:3]]) / 255
        return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    for name, ink, ground in pairs:
        low, high = sorted((light(ink), light(ground)))
        assert (high + 0.05) / (low + 0.05) > 4.5, (name, ink, ground)


def test_html_in_names_is_escaped(opened):
    names = (EVIL, ENDING, "\udcff.stl")
    report = three_cubes(names, notes=(EVIL,), unit="<b>mm</b>")
    report.parts += (PartRow(ENDING + " broken", EVIL, 0, reason=f"</li>{EVIL}"),)
    browser = opened(report)
    browser.click("#row-0")
    browser.settle()
    titles = browser.evaluate("[...document.querySelectorAll('#row-0 .parts .name')].map((name) => name.title)")
    assert titles == [EVIL, SHOWN_ENDING]
    assert "alert(1)" in browser.evaluate("document.querySelector('#row-0').innerText")
    assert EVIL in browser.evaluate("document.querySelector('#detail .full').textContent")
    assert browser.evaluate("document.querySelectorAll('img, #rows script, #detail script, dd b').length") == 0


def test_invisible_names_are_made_visible(opened):
    browser = opened(three_cubes((" ", "press/\u2066ram", "press/pin")))
    browser.click("#row-0")
    browser.settle()
    assert browser.evaluate("[...document.querySelectorAll('#row-0 .parts .name .whole')].map((n) => n.innerText)") == [
        "(no name)",
        "\\u2066ram",
    ]
    browser.evaluate("window.kept = []; navigator.clipboard.writeText = (text) => (kept.push(text), Promise.resolve())")
    browser.evaluate("document.querySelectorAll('#detail .part')[1].querySelector('button').click()")
    browser.wait("document.querySelector('#detail').innerText.includes('copied')")
    assert browser.evaluate("kept") == ["press/\u2066ram"]


def test_names_can_be_copied(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    browser.evaluate("window.kept = []; navigator.clipboard.writeText = (text) => (kept.push(text), Promise.resolve())")
    browser.evaluate("document.querySelectorAll('#detail .part')[1].querySelector('button').click()")
    browser.wait("document.querySelector('#detail').innerText.includes('copied')")
    assert browser.evaluate("kept") == ["press/ram"]


def test_names_are_copied_without_clipboard_api(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    browser.evaluate(
        "window.kept = []; navigator.clipboard.writeText = () => Promise.reject(new Error('over http'));"
        " document.execCommand = (what) => kept.push([what, String(getSelection())])"
    )
    browser.evaluate("document.querySelectorAll('#detail .part')[1].querySelector('button').click()")
    browser.wait("document.querySelector('#detail').innerText.includes('copied')")
    assert browser.evaluate("kept") == [["copy", "press/ram"]]


def test_report_without_a_clash(opened):
    browser = opened(three_cubes(clashes=()))
    assert messages.NO_CLASH.format("press.glb") in browser.evaluate("document.querySelector('h1').innerText")
    assert browser.evaluate("document.querySelector('#empty').innerText") == messages.NO_FINDING
    assert share(browser.picture(), (125, 136, 148)) > 0.02  # the parts are drawn
    browser.key("ArrowDown")
    assert browser.state("selected") in (None, "")


def test_report_of_unchecked_parts_only(opened):
    reason, note = "not a mesh file", "neither could be read"
    parts = (PartRow("lid.stl", "lid.stl", 0, reason=reason), PartRow("b", "b.stl", 0, reason="no triangle"))
    clash = finding("unchecked", "b", "lid.stl", shape_a="", shape_b="", method="", note=note)
    browser = opened(Report(parts=parts, clashes=(clash,), pairs_total=1))
    assert "1 unchecked" in browser.evaluate("document.querySelector('h1').innerText")
    listed = browser.evaluate("document.querySelector('#unchecked').innerText")
    assert messages.NOT_CHECKED.format(2) in listed
    assert reason in listed
    browser.key("ArrowDown")
    browser.settle()
    assert note in browser.evaluate("document.querySelector('#detail').innerText")
    assert browser.evaluate("document.querySelector('#how').innerText") == "Not decided."


def test_unreadable_part_is_shown_without_partner(opened):
    clash = finding("unchecked", "press/ram", "", shape_a="", shape_b="", method="", note="the file ends too early")
    browser = opened(three_cubes(clashes=(clash,)))
    browser.key("ArrowDown")
    browser.settle()
    assert browser.evaluate("document.querySelectorAll('#row-0 .chip').length") == 1
    assert browser.evaluate("document.querySelectorAll('#detail .part').length") == 1
    assert share(browser.picture(), ORANGE) > 0.02
    assert share(browser.picture(), GREEN) < 0.01


def test_points_that_contradict_distance_are_left_out(opened):
    near = replace(three_cubes().clashes[1], distance=0.125)  # the points have a distance of 0.25
    browser = opened(three_cubes(clashes=(near,)))
    browser.click("#row-0")
    browser.settle()
    assert browser.evaluate("document.querySelector('#legend').textContent") == ""
    assert messages.POINT_ON_A not in browser.evaluate("document.querySelector('#detail').innerText")


def test_b_can_be_moved_out(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    browser.settle()
    before = browser.picture()
    choose(browser, "#slide", 1)
    browser.settle()
    assert (np.abs(browser.picture() - before).max(axis=-1) > 30).mean() > 0.02


def test_assembly_has_the_colours_of_its_file(opened):
    def magenta(browser):  # transparent parts in front of a bright ground
        browser.settle()
        red, green, blue = np.moveaxis(browser.picture().astype(int), -1, 0)
        return float(((red > green + 12) & (blue > green + 12)).mean())

    plain = three_cubes()
    browser = opened(plain)
    assert magenta(browser) < 0.001
    browser = opened(replace(plain, parts=[replace(part, colour=(1.0, 0.0, 1.0)) for part in plain.parts]))
    shaded = magenta(browser)
    assert shaded > 0.02
    browser.click("#glass")  # transparent on demand
    assert magenta(browser) > 0.02
    browser.click("#glass")
    browser.click("#show-colours")
    assert magenta(browser) < 0.001
    browser.click("#show-colours")
    assert magenta(browser) == pytest.approx(shaded, abs=0.002)
    browser.click("#row-1")  # a selected finding is drawn in the colours of A and B
    assert magenta(browser) < 0.001


def test_only_rows_in_view_are_drawn(opened):
    browser = opened(many(1000))
    assert browser.state("shown") == "834"  # without touches
    choose(browser, "#status", "all")
    assert browser.state("shown") == "1000"
    assert len(rows(browser)) < 80
    for query in ("[data-sort=depth]", "[data-sort=a]", "[data-kind=hard]", "[data-kind=hard]", "[data-sort]"):
        browser.evaluate(f"document.querySelector('{query}').click()")
        assert 0 < len(rows(browser)) < 80, query
    browser.key("End")
    assert browser.state("selected") == f"{999:016x}"
    visible = browser.evaluate("""(() => { const box = (query) => document.querySelector(query).getBoundingClientRect();
      const row = box('#rows .selected'), frame = box('#scroll');
      return row.top >= frame.top + 35 && row.bottom <= frame.bottom + 1; })()""")
    assert visible
    browser.settle()


def test_table_works_without_webgl(tmp_path):
    if program() is None:
        pytest.fail("these tests look at the page in Chromium, which is not on PATH: apt-get install chromium")
    browser = Browser(tmp_path / "profile", options=("--disable-3d-apis",))
    try:
        browser.open(write_page(three_cubes(), tmp_path / "a.html"))
        assert browser.state("state") == "no-webgl"
        assert rows(browser) == [0, 1]
        browser.key("ArrowDown")
        assert "press/ram" in browser.evaluate("document.querySelector('#detail').innerText")
    finally:
        browser.close()


def test_small_window_leaves_room_for_the_picture(opened, chromium):
    notes = tuple(f"part {k} is in m: its lengths are multiplied by 1000" for k in range(12))
    lost = tuple(PartRow(f"lost {k}", "lost.stl", 0, reason="the file ends too early") for k in range(3))
    report = three_cubes(notes=notes)
    bound = report.clashes[0]
    clashes = [replace(bound, kind=kind, id=kind, status="active") for kind in KINDS]
    clashes[0] = replace(clashes[0], method="triangles", distance_kind="approximate")
    browser = opened(replace(report, parts=report.parts + lost, clashes=(*clashes, bound)))
    try:
        for size in ((1000, 700), (1400, 900)):
            chromium.resize(*size)
            browser.key("ArrowDown")
            browser.settle()
            assert browser.evaluate("document.querySelector('#view').clientHeight") >= 0.45 * size[1] - 1
            assert browser.evaluate("document.querySelector('#detail').clientHeight") >= 89
            assert browser.evaluate("document.documentElement.scrollHeight") <= size[1]
            clipped = browser.evaluate(
                "[...document.querySelectorAll('#rows td, #rows td small')]"
                ".filter((e) => !e.closest('.parts') && e.scrollWidth > e.clientWidth).map((e) => e.innerText)"
            )
            assert clipped == []
    finally:
        chromium.resize(1200, 800)
