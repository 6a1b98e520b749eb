"""Lengths are shown in one unit everywhere, and names get the space that numbers do not need."""

from dataclasses import replace

import pytest
from browser import Browser, program
from parsed_page import Parsed
from reports import cube, finding, many, three_cubes

import gjk3d as gk
from gjk3d.clash import Triage, formats
from gjk3d.clash.page import write_page
from gjk3d.clash.report.baseline import readable
from gjk3d.units import reading
from gjk3d.viz.kinds import drawing_of
from tests.clash import messages


@pytest.mark.parametrize(
    ("unit", "size", "read"),
    [
        ("m", 0.3, "mm"), ("m", 40.0, "mm"), ("m", 5000.0, "m"), ("mm", 3e6, "m"), ("mm", 0.01, "um"),
        ("cm", 9.0, "mm"), ("km", 0.0, "mm"), ("in", 1e9, "in"),
        ("ft", 1.0, "ft"), (None, 1.0, None), ("parsec", 1.0, "parsec"),
    ],
)  # fmt: skip
def test_display_unit_fits_the_size(unit, size, read):
    assert reading(unit, size)[0] == read


def in_metres():
    """Return the report of two cubes of 20 mm that overlap by 5 mm, in metres as in GLB files."""
    meshes = {"press/plate": cube((0, 0, 0), 0.02), "press/pin": cube((0.015, 0, 0), 0.02)}
    return gk.clash.check(gk.clash.Assembly.of(meshes, "m"))


@pytest.mark.full
def test_table_page_and_picture_show_the_same_number(tmp_path):
    report = in_metres()
    assert report.reading == ("mm", 1000.0)
    assert report.to_dict()["clashes"][0]["depth"] == pytest.approx(0.005)  # JSON is in the unit of the file
    page = Parsed(write_page(report, tmp_path / "a.html"))
    assert page.data["unit"] == "mm"
    row = page.rows[0]
    assert (row["told depth"], row["told volume"]) == ("5", "2000")
    assert "told gap" not in row
    assert "| ≥ 5 | 5 |  | 2000 |" in formats.to_markdown(report)
    assert messages.COLUMNS_OF_LENGTHS in formats.to_markdown(report)
    assert "depth 5 mm" in formats.to_junit(report)
    assert drawing_of(report).words[0].endswith("by 5 mm")
    assert messages.LENGTHS_IN.format("mm") in page.text
    assert messages.TOLERANCE_UP_TO.format("1.75e-05 mm") in report.limits


def test_report_in_display_unit_is_unchanged():
    report = three_cubes()
    assert readable(report) is report
    assert readable(three_cubes(unit="<b>")).unit == "<b>"


@pytest.mark.full
@pytest.mark.skipif(program() is None, reason="chromium is not on PATH: apt-get install chromium")
def test_long_names_are_shortened_in_the_middle(tmp_path):
    names = tuple(f"line 4/robot cell/gripper_with_a_long_name_{end}" for end in ("left", "right", "spare"))
    report = three_cubes(names)
    clashes = [report.clashes[0], finding("contained", *names[1:], severity=2, distance=-12345.678, penetration=4444.4)]
    browser = Browser(tmp_path / "profile", size=(1400, 900))
    try:
        browser.open(write_page(three_cubes(names, clashes=tuple(clashes)), tmp_path / "a.html"))
        seen = browser.evaluate("""(() => {
          const wide = (query) => document.querySelector(query).getBoundingClientRect();
          const tail = wide('#row-0 .parts div:nth-child(2) .tail'), cell = wide('#row-0 .parts');
          const cut = (item) => item.offsetParent && item.scrollWidth > item.clientWidth + 1;
          return { cell: cell.width, table: wide('#scroll table').width, inside: tail.right <= cell.right + 1,
            text: document.querySelector('#row-0 .parts div:nth-child(2) .name').textContent,
            clipped: [...document.querySelectorAll('#rows td.right div, thead button')]
              .filter(cut).map((item) => item.textContent),
            heads: [...document.querySelectorAll('thead th')].filter(cut).map((item) => item.textContent) }; })()""")
        assert seen["cell"] > 0.28 * seen["table"]
        assert seen["inside"]
        assert seen["text"] == "gripper_with_a_long_name_rightline 4/robot cell"
        assert seen["clipped"] == seen["heads"] == []
    finally:
        browser.close()


@pytest.mark.full
@pytest.mark.skipif(program() is None, reason="chromium is not on PATH: apt-get install chromium")
def test_names_have_their_own_lines_in_narrow_windows(tmp_path):
    report = many(100)
    worst = replace(report.clashes[0], kind="duplicate", distance=-12345.678, distance_kind="approximate")
    triage = Triage().marked(worst, state="reviewed", by="ann").commented(worst, "why?", by="ann")
    report = replace(report, clashes=(worst, *report.clashes[1:]), unit="mm", triage=triage)
    browser = Browser(tmp_path / "profile", size=(390, 844))
    try:
        browser.open(write_page(report, tmp_path / "a.html"))
        room = "['.name', '#scroll table'].map((query) => document.querySelector(query).getBoundingClientRect().width)"
        name, table = browser.evaluate(room)
        assert name > 0.45 * table  # the depth is at the right of the name at any width
        cut = browser.evaluate(
            "[...document.querySelectorAll('#rows td, #rows .kind, #rows small, thead th, thead button')]"
            ".filter((item) => !item.closest('.parts') && item.scrollWidth > item.clientWidth + 1 && item.clientWidth)"
            ".map((item) => item.textContent)"
        )
        assert cut == []
        for key, index in (("End", 99), ("PageUp", None), ("Home", 0)):
            browser.key(key)
            at = browser.evaluate("clashTable.selected")
            assert index in (None, at)
            assert browser.evaluate(f"""(() => {{
              const box = (query) => document.querySelector(query).getBoundingClientRect();
              const row = box('#row-{at}'), head = box('thead'), frame = box('#scroll');
              const out = [Math.abs(head.top - frame.top), head.bottom - row.top, row.bottom - frame.bottom];
              return out.every((pixels) => pixels <= 1); }})()""")
        browser.resize(1400, 900)
        browser.settle()
        rows = browser.evaluate("[...document.querySelectorAll('#rows [data-row]')].map((row) => row.offsetHeight)")
        assert set(rows) == {46}
        assert browser.complaints == []
    finally:
        browser.close()
