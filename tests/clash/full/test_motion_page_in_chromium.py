"""The page of a report with moving parts in Chromium: the time slider, the player, the jump buttons and the chart."""

import json

import numpy as np
import pytest
from browser import Browser, program

import gjk3d as gk
from gjk3d.clash import Triage
from gjk3d.clash.page import write_page
from gjk3d.clash.report import wording
from gjk3d.clash.triage import parse_triage
from tests.clash import messages

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    if program() is None:
        pytest.fail("these tests look at the page in Chromium, which is not on PATH: apt-get install chromium")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    """Open the page of a drawer that hits a stop at 8 s, next to a wall at a gap of 0.2 and above a foot."""
    cube = gk.Box((1, 1, 1)).surface()
    shifts = {
        "drawer": (0, 0, 0),
        "stop": (3, 0, 0),
        f"wall {EVIL}": (1.5, 1.2, 0),
        "foot": (-3, 0, 0),
        "toe": (-3, 0, 1),
    }
    parts = gk.clash.Assembly.of({name: gk.Mesh(cube.vertices + x, cube.faces) for name, x in shifts.items()}, "mm")
    slide = gk.clash.Movement({"drawer": gk.Motion.translation(None, (2.5, 0, 0))}, times=(0, 10), unit=f"s {EVIL}")
    path = tmp_path_factory.mktemp("page") / "drawer.html"
    report = gk.clash.check(parts, 0.5, motion=slide)
    write_page(report, path)
    chromium.when = [wording.when(clash, report) for clash in report.clashes]
    chromium.time = [clash.time for clash in report.clashes]
    chromium.complaints.clear()
    chromium.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    chromium.open(path)
    yield chromium
    assert chromium.complaints == []
    assert not [url for url in chromium.requests if not url.startswith(("file:", "data:", "blob:"))]


def slide_to(page, time):
    page.evaluate(
        f"(() => {{ const s = document.getElementById('time'); s.value = {time};"
        " s.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )
    page.settle()


def text(page, name):
    return page.evaluate(f"document.getElementById('{name}').textContent")


def test_slider_moves_the_parts(page):
    page.key("Escape")
    slide_to(page, 0)
    first = page.picture()
    slide_to(page, 6)
    second = page.picture()
    slide_to(page, 0)
    assert float(page.state("time")) == 0.0
    changed = np.abs(first - second).max(axis=2) > 8
    assert changed.mean() > 0.002
    assert (np.abs(first - page.picture()).max(axis=2) > 8).mean() < changed.mean() / 20


def test_selected_finding_sets_time_and_shows_chart(page):
    page.key("Escape")
    page.key("ArrowDown")
    page.settle()
    assert float(page.state("time")) == 10.0
    assert messages.DEEPEST.format("10 s") in text(page, "detail")
    assert EVIL in text(page, "detail")
    assert page.evaluate("document.querySelectorAll('#chart .clash').length") == 1
    box = page.evaluate("document.querySelector('#chart .clash').getAttribute('points').split(/[ ,]/).map(Number)")
    assert box[0] == pytest.approx(800.0, abs=0.2)
    assert box[2] == pytest.approx(1000.0, abs=0.2)
    points = page.evaluate("document.querySelector('#chart .gap').getAttribute('points').split(' ').length")
    assert points >= 97
    assert page.evaluate("document.getElementById('chart').getAttribute('aria-label')") == messages.CHART.format(
        "2 mm", "0.5 mm"
    )


def test_chart_of_separated_parts_starts_at_least_gap(page):
    page.evaluate("clashTable.select(gjk3d.data.rows.findIndex((row) => row.kind === 'clearance' && row.course >= 0))")
    page.settle()
    assert text(page, "chart").startswith(messages.GAP_FROM.format(0.2))


def test_chart_axes_are_labelled(page):
    page.key("Escape")
    page.key("ArrowDown")
    page.settle()
    labels = page.evaluate("[...document.querySelectorAll('.plot span')].map((one) => one.textContent)")
    assert labels == ["2 mm", "0", "0.5 mm", f"0 s {EVIL}", f"10 s {EVIL}", "gap", "penetration"]
    # the clash may occur within this interval; outside of it the pair is proven free
    x, *_ = page.evaluate("document.querySelector('#chart .perhaps').getAttribute('points').split(/[ ,]/).map(Number)")
    y, *_ = page.evaluate("document.querySelector('#chart .clash').getAttribute('points').split(/[ ,]/).map(Number)")
    assert 799.0 < x <= 800.0 <= y


#: (time, lower, upper, penetration) of a shallow clash, a deep one, one that never ends, and of no clash.
COURSES = {
    "shallow": [[0, 0, 2, 0], [9, 0, 0, 0.001], [10, 0, 1, 0]],
    "deep": [[0, 0, 0, 0.3], [5, 0, 0.001, 0], [10, 0, 0, 0.5]],
    "throughout": [[0, 0, 0, 0.2], [10, 0, 0, 0.5]],
    "free": [[0, 0.2, 0.2, 0], [10, 1, 1, 0]],
}
SIDES = {
    "shallow": ["gap", "penetration"],
    "deep": ["gap", "penetration"],
    "throughout": ["penetration"],
    "free": ["gap"],
}


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("course", COURSES)
def test_chart_has_gaps_above_and_penetrations_below_zero(page, course, width):
    page.resize(width, 844)
    page.evaluate(
        f"(() => {{ const c = gjk3d.data.motion.courses[gjk3d.data.rows[0].course]; window.kept = c.series;"
        f" c.series = {COURSES[course]}; clashTable.select(-1); clashTable.select(0); c.series = window.kept; }})()"
    )
    page.settle()
    box = """[...document.querySelectorAll('.plot span, #chart svg, #chart .zero')].map((item) => {
        const { left, top, right, bottom } = item.getBoundingClientRect();
        return [item.textContent || item.className.baseVal || 'svg', [left, top, right, bottom]]; })"""
    boxes = dict(page.evaluate(box))
    page.resize(1200, 800)
    line, plot = boxes["zero"], boxes["svg"]
    assert plot[1] <= line[1] <= plot[3]
    assert [name for name in ("gap", "penetration") if name in boxes] == SIDES[course]
    for name in SIDES[course]:
        left, top, right, bottom = boxes[name]
        assert plot[0] <= left < right <= plot[2]
        assert plot[1] - 1 <= top < bottom <= plot[3] + 1
        assert bottom <= line[1] + 1 if name == "gap" else top >= line[1] - 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_labels_at_zero_line_are_visible(page, scheme):
    page.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    page.key("Escape")
    page.key("ArrowDown")
    page.settle()
    pictures = [page.picture(f".plot .{name}").mean(axis=2) for name in ("above", "below")]
    page.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    for picture in pictures:
        assert np.ptp(picture) > 100


def test_times_fit_into_their_column(page):
    page.resize(1280, 800)
    page.key("Escape")
    texts = ["nearest at 2.00956 s, 0.1998 to 0.2 mm", "deepest at 10 s, clashing within 7.99999 to 10 s"]
    heights = page.evaluate(
        f"{texts}.map((text) => {{ const e = document.querySelector('td.when small'); e.textContent = text;"
        " return [e.scrollHeight, e.clientHeight]; })"
    )
    page.resize(1200, 800)
    assert all(text <= shown for text, shown in heights)


@pytest.mark.parametrize("course", ["shallow", "deep"])
def test_curve_does_not_cross_labels_at_zero(page, course):
    page.evaluate(
        f"(() => {{ const c = gjk3d.data.motion.courses[gjk3d.data.rows[0].course]; window.kept = c.series;"
        f" c.series = {COURSES[course]}; clashTable.select(-1); clashTable.select(0); c.series = window.kept; }})()"
    )
    page.settle()
    for name in ("above", "below"):
        page.evaluate(f"document.querySelector('.plot .{name}').style.color = 'transparent'")
        assert np.ptp(page.picture(f".plot .{name}")[1:-2, 1:-1].mean(axis=2)) < 60


def test_slider_has_its_own_line_on_a_phone(page):
    page.resize(390, 844)
    page.key("Escape")
    page.key("ArrowDown")
    page.settle()
    wide = "document.querySelector('{}').getBoundingClientRect().width"
    assert page.evaluate(wide.format("#time")) > 320
    assert page.evaluate(wide.format("#chart svg")) > 240
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sizes = "[...document.querySelectorAll('.plot span')].map((one) => parseFloat(getComputedStyle(one).fontSize))"
    assert min(page.evaluate(sizes)) >= 12
    page.resize(1200, 800)


def test_saved_state_contains_clash_times(page):
    page.key("Escape")
    page.key("ArrowDown")
    page.settle()
    page.evaluate("document.querySelector('[data-state=active]').click()")
    (issue,) = parse_triage(page.evaluate("clashTriage.file()").encode(), "the page").issues.values()
    ((after, begin, end, before),) = issue.state.intervals
    assert after <= begin == pytest.approx(8.0, abs=0.02)
    assert end == before == 10.0
    again = parse_triage(json.dumps(Triage({issue.id: issue}).to_dict()).encode(), "again")
    assert again.issues[issue.id].state.intervals == issue.state.intervals
    page.evaluate("document.querySelector('#save').click()")


def test_marks_show_only_at_their_time(page):
    page.key("Escape")
    page.key("ArrowDown")
    page.settle()
    assert "arrow" in text(page, "legend")
    slide_to(page, 2)
    assert text(page, "legend") == ""


def choose(page, name, value):
    page.evaluate(
        f"(() => {{ const s = document.getElementById('{name}'); s.value = {json.dumps(value)};"
        " s.dispatchEvent(new Event('input')); })()"
    )


def pressed(page, button, times):
    """Press a button several times; return the index of the finding selected after each press."""
    seen = []
    for _ in range(times):
        page.click(button)
        page.settle()
        seen.append(page.evaluate("clashTable.selected"))
    return seen


def test_jump_buttons_follow_table_order(page):
    page.key("Escape")
    choose(page, "status", "all")  # the default filter hides touches
    count = page.evaluate("clashTable.shown.length")
    assert count >= 3
    assert pressed(page, "#next", count + 1) == [*range(count), count - 1]
    assert pressed(page, "#before", 1) == [count - 2]
    page.click("[data-sort=gap]")
    page.click("[data-sort=gap]")
    order = page.evaluate("clashTable.shown")
    assert order != sorted(order)
    page.key("Escape")
    assert pressed(page, "#next", count) == order
    page.click("[data-sort=severity]")
    choose(page, "status", "open")


def test_jump_buttons_skip_filtered_findings(page):
    near = page.evaluate("gjk3d.data.rows.filter((row) => row.kind === 'clearance').map((row) => row.index)")
    page.key("Escape")
    page.click("[data-kind=clearance]")
    assert pressed(page, "#next", len(near) + 1) == [*near, near[-1]]
    choose(page, "search", "no such part")
    assert page.evaluate("document.querySelectorAll('#next:disabled, #before:disabled').length") == 2
    page.click("#clear")
    assert page.evaluate("document.querySelectorAll('#next:disabled, #before:disabled').length") == 0


def test_when_column_equals_text_table_and_sorts(page):
    assert text(page, "scroll").count("when") == 1
    choose(page, "status", "all")  # the default filter hides touches
    cells = page.evaluate(
        "[...document.querySelectorAll('#rows td.when')].map((cell) => [cell.textContent, cell.title])"
    )
    assert cells == [[words, words] for words in page.when]
    assert page.evaluate("document.querySelector('th.when').offsetWidth") <= 120
    timed = sorted((k for k, time in enumerate(page.time) if time is not None), key=lambda k: page.time[k])
    untimed = [k for k, time in enumerate(page.time) if time is None]
    assert len(timed) >= 2
    assert untimed
    try:
        page.click("[data-sort=time]")
        assert page.evaluate("clashTable.shown") == timed + untimed
        page.key("Escape")
        times = [page.time[k] for k in pressed(page, "#next", len(timed))]
        assert times == sorted(times)
        page.click("[data-sort=time]")
        assert page.evaluate("clashTable.shown") == timed[::-1] + untimed
    finally:
        page.click("[data-sort=severity]")
        choose(page, "status", "open")


def test_when_column_has_its_own_line_on_a_phone(page):
    page.resize(390, 844)
    try:
        page.settle()
        low, high = page.evaluate(
            "['.parts', '.when'].map((name) => document.querySelector('#row-0 ' + name).getBoundingClientRect())"
            ".map(({ top, bottom }, k) => (k ? top : bottom))"
        )
        assert low <= high
        line = "document.querySelector('#row-0{}').getBoundingClientRect().bottom"
        assert page.evaluate(line.format(" .when")) <= page.evaluate(line.format(""))
        assert page.evaluate("document.querySelector('[data-sort=time]').offsetWidth") > 20
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        page.resize(1200, 800)


def test_click_in_chart_sets_time(page):
    page.key("Escape")
    page.key("ArrowDown")
    page.settle()
    page.click("#chart svg")
    page.settle()
    assert float(page.state("time")) == pytest.approx(5.0, abs=0.05)
    assert text(page, "now").startswith(f"{float(page.state('time')):.5g} s")


def test_player_reaches_the_end_and_stops(page):
    page.key("Escape")
    slide_to(page, 9.9)
    page.click("#play")
    page.wait("Number(document.documentElement.dataset.time) === 10")
    page.wait("document.getElementById('play').textContent === 'play'")
    page.click("#play")
    page.wait("Number(document.documentElement.dataset.time) > 0 && Number(document.documentElement.dataset.time) < 10")
    page.click("#play")
    page.settle()
    time = page.state("time")
    page.settle()
    assert page.state("time") == time


def test_resting_pair_has_no_chart(page):
    rows = page.evaluate("JSON.stringify(gjk3d.data.rows.map((row) => row.course))")
    index = [int(x) for x in rows.strip("[]").split(",")].index(-1)
    page.evaluate(f"clashTable.select({index})")
    page.settle()
    assert messages.NOT_RELATIVE in text(page, "chart")


def test_report_without_motion_has_no_player(chromium, tmp_path):
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    path = write_page(gk.clash.check(gk.clash.Assembly.of({"a": cube})), tmp_path / "still.html")
    chromium.open(path)
    assert chromium.evaluate("document.getElementById('motion').hidden")
    assert chromium.evaluate("getComputedStyle(document.querySelector('th.when')).display") == "none"
