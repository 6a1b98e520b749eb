"""A page of 100 000 findings in Chromium: rows out of sight stay packed, and every row can be reached."""

from dataclasses import replace

import numpy as np
import pytest
from browser import Browser, program
from message_checks import assert_names
from reports import ENDING, EVIL, SHOWN_ENDING, many, three_cubes

from gjk3d.clash.page import write_page

COUNT = 100_000
PLACES = 11**3  #: Number of places of findings, which are half-way between cubes of a grid.
#: Counts the drawn points, the slowest part without a GPU, and records when a drawing context is created.
COUNTING = """
window.drawn = [];
window.begun = [];
for (const [name, at] of [["drawArrays", 2], ["drawElements", 1]]) {
  const draw = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...given) {
    if (given[0] === 0) window.drawn.push(given[at]);
    return draw.apply(this, given);
  };
}
const begin = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (...given) {
  window.begun.push([document.readyState, document.querySelectorAll("#rows [data-row]").length]);
  return begin.apply(this, given);
};
"""
DOTS = "clashStage.scene.children.find((child) => child.isPoints)"


@pytest.fixture(scope="module")
def report():
    report = many(COUNT, side=6)
    last = replace(report.clashes[-1], a=EVIL, b=ENDING, note=EVIL, group=ENDING)
    return replace(report, clashes=(*report.clashes[:-1], last))


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    if program() is None:
        pytest.fail("these tests look at the page in Chromium, which is not on PATH: apt-get install chromium")
    folder = tmp_path_factory.mktemp("many")
    browser = Browser(folder / "profile")
    browser.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    browser.before_scripts(COUNTING)
    browser.open(write_page(report, folder / "many.html"))
    browser.drawn, browser.begun = browser.evaluate("[drawn, begun]")
    yield browser
    browser.close()


@pytest.fixture
def browser(page):
    """Reset the page: no selection, and no filter, touches included."""
    page.evaluate("document.querySelector('#clear').click()")
    page.evaluate("document.querySelector('#status').value = 'all'")
    page.evaluate("document.querySelector('#status').dispatchEvent(new Event('input'))")
    page.key("Escape")
    page.complaints.clear()
    yield page
    assert page.complaints == []


def passing(report, kind, *words):
    """Return the indices of findings of this kind that contain all words, computed in Python."""
    return [
        k
        for k, clash in enumerate(report.clashes)
        if clash.kind == kind
        and all(
            word in "\n".join((clash.id, clash.kind, clash.status, clash.a, clash.b, clash.group, clash.note)).lower()
            for word in words
        )
    ]


def is_unpacked(browser, index):
    return browser.evaluate(f"Boolean(gjk3d.data.rows[{index}].whole)")


def first_in_sight(browser):
    return browser.evaluate("Number(document.querySelector('#rows tr[data-row]').dataset.row)")


def test_table_is_filled_before_the_picture(browser):
    assert [state for state, _ in browser.begun] == ["complete"]
    assert browser.begun[0][1] > 10


def test_opening_draws_the_points_once(browser):
    (count,) = browser.drawn
    assert 0.9 * PLACES < count <= PLACES


def test_hidden_dots_do_not_change_the_picture(browser):
    """Drawing all dots on top of one another gives the same picture."""
    few = browser.picture()
    browser.evaluate(
        f"(() => {{ const {{ geometry }} = {DOTS}, {{ picture, scene, camera }} = clashStage;"
        " geometry.index.array.forEach((_, k, all) => { all[k] = k; }); geometry.index.needsUpdate = true;"
        " geometry.setDrawRange(0, Infinity); picture.renderer.render(scene, camera); })()"
    )
    assert browser.evaluate("drawn.at(-1)") == COUNT
    assert (np.abs(browser.picture() - few).max(axis=-1) > 40).mean() < 1e-3


def test_only_dots_in_view_are_drawn(browser):
    """Only the dots within the view of the camera are drawn."""
    seen = []
    for at in ("0, 0, 0.1", "0, 0, 3", "9, 9, 9"):
        browser.evaluate(
            f"clashStage.picture.controls.target.set({at}); clashStage.camera.position.set({at}).y -= 0.2;"
            " clashStage.picture.touched = true"
        )
        browser.settle()
        seen.append(browser.evaluate(f"{DOTS}.geometry.drawRange.count"))
    assert 0 < seen[0] < 0.5 * PLACES
    assert seen[1:] == [0, 0]


def test_dots_shrink_with_their_number(browser):
    """All dots together cover the picture at most four times; a few dots keep the full size."""
    size = f"{DOTS}.material.uniforms.size.value"
    wide, high = browser.evaluate("[clashStage.view.clientWidth, clashStage.view.clientHeight]")
    assert browser.evaluate(size) ** 2 * COUNT <= max(4 * wide * high, 16 * COUNT)
    browser.evaluate("document.querySelector('#search').value = 'no such part'")
    browser.evaluate("document.querySelector('#search').dispatchEvent(new Event('input'))")
    assert browser.state("shown") == "0"
    assert browser.evaluate(size) == 13


def test_scrolling_to_the_end_unpacks_last_rows(browser, report):
    assert browser.state("shown") == str(COUNT)
    assert is_unpacked(browser, 0)
    assert not is_unpacked(browser, COUNT - 1)
    assert not is_unpacked(browser, COUNT // 2)
    browser.evaluate("(() => { const box = document.querySelector('#scroll'); box.scrollTop = box.scrollHeight; })()")
    browser.wait(f"gjk3d.data.rows[{COUNT - 1}].whole")
    last = browser.wait(f"document.querySelector('#row-{COUNT - 1} .right:not(.inside) div')?.innerText")
    assert last == f"{report.clashes[-1].distance:g}"
    assert not is_unpacked(browser, COUNT // 2)
    assert browser.evaluate("document.querySelectorAll('#rows tr[data-row]').length") < 80


def test_keys_reach_both_ends_and_names_are_escaped(browser, report):
    browser.key("End")
    assert browser.state("selected") == report.clashes[-1].id
    browser.wait("Boolean(document.querySelector('#detail .full'))")
    browser.settle()
    titles = f"[...document.querySelectorAll('#row-{COUNT - 1} .parts .name')].map((name) => name.title)"
    assert browser.evaluate(titles) == [EVIL, SHOWN_ENDING]
    assert EVIL in browser.evaluate("document.querySelector('#detail').textContent")
    assert browser.evaluate("document.querySelectorAll('img, #rows script, #detail script').length") == 0
    browser.key("PageUp")
    above = browser.state("selected")
    browser.key("PageDown")
    assert browser.state("selected") == report.clashes[-1].id != above
    browser.key("ArrowUp")
    assert browser.state("selected") == report.clashes[-2].id
    browser.key("Home")
    assert browser.state("selected") == report.clashes[0].id


def test_filter_equals_filter_in_python(browser, report):
    browser.evaluate("document.querySelector('[data-kind=touch]').click()")
    assert browser.state("shown") == str(len(passing(report, "touch")))
    browser.evaluate("document.querySelector('#search').focus()")
    browser.type("CUBE 117")
    wanted = passing(report, "touch", "cube", "117")
    assert 10 < len(wanted) < COUNT // 10
    assert browser.state("shown") == str(len(wanted))
    assert first_in_sight(browser) == wanted[0]
    browser.evaluate("document.activeElement.blur()")
    browser.evaluate("document.querySelector('[data-sort=severity]').click()")  # the least severe first
    try:
        assert first_in_sight(browser) == wanted[-1]
        browser.click(f"#row-{wanted[-1]}")
        browser.wait("Boolean(document.querySelector('#detail .full'))")
        assert browser.state("selected") == report.clashes[wanted[-1]].id
        detail = browser.evaluate("document.querySelector('#detail').innerText")
        assert report.clashes[wanted[-1]].a in detail
        assert report.clashes[wanted[-1]].b in detail
        browser.settle()
    finally:
        browser.evaluate("document.querySelector('[data-sort=severity]').click()")


def test_browser_without_decompression_gets_a_message(tmp_path):
    if program() is None:
        pytest.fail("these tests look at the page in Chromium, which is not on PATH: apt-get install chromium")
    browser = Browser(tmp_path / "profile")
    try:
        browser.before_scripts("delete window.DecompressionStream;")
        browser.open_plainly(write_page(three_cubes(), tmp_path / "a.html"))
        message = browser.wait(
            "!document.querySelector('#packed').hidden && document.querySelector('#packed').innerText"
        )
        assert_names(message, "DecompressionStream", "2023")
        for index, kind, names in ((0, "hard", ["frame", "press/ram"]), (1, "clearance", ["press/ram", "press/pin"])):
            browser.key("ArrowDown")
            assert browser.state("selected") == three_cubes().clashes[index].id
            line = f"document.querySelector('#row-{index}')"
            assert browser.evaluate(f"{line}.querySelector('.kind').innerText") == kind
            assert browser.evaluate(f"[...{line}.querySelectorAll('.name')].slice(0, 2).map((e) => e.title)") == names
            assert names[0] in browser.wait("document.querySelector('#detail').innerText")
        assert browser.complaints == []
    finally:
        browser.close()
