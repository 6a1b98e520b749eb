"""The lesson on separating axes in Chromium: gaps and depths, presets, dragging and its address."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from browser import Browser
from example_results import pose
from page_state import assert_address_restores, press_shift, set_input, state, text, texts
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.viz.explanation.lessons import polytope_data, polytopes

SHAPES = {name: polytope_data(shape)["points"] for name, shape in polytopes().items()}

TEST = """pairs.map(([a, b]) => [false, true].map((only) => {
  const size = gjk3dSupport.size(a, b, [0, 0, 0]), tiny = 1e-14 * size;
  const { best } = gjk3dAxes.test(a, b, [0, 0, 0], { only, tiny });
  return [best.gap, ...best.normal, size];
}))"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return gk.viz.lesson(tmp_path_factory.mktemp("sat") / "sat.html", "sat")


# --- numbers ---------------------------------------------------------------------------------------------------------


def polytope(rng):
    """Return the corners of a box, a prism, a tetrahedron or a hull, some of them flat or long."""
    scale = rng.choice([1.0, 1.0, 0.05], size=3)
    polygon = rng.normal(size=(int(rng.integers(3, 6)), 2))
    kinds = (
        lambda: gk.Box(rng.uniform(0.5, 2, 3)).vertices,
        lambda: np.array([(x, y, z) for x, y in polygon for z in (-0.7, 0.7)]),
        lambda: rng.normal(size=(4, 3)),
        lambda: rng.normal(size=(int(rng.integers(5, 9)), 3)),
    )
    return kinds[int(rng.integers(4))]() * scale


def turned(rng, k):
    """Return rotations of A and B: independent, none, or almost equal, so that edges are almost parallel."""
    if k % 5 == 0:
        return np.eye(3), np.eye(3)
    first = Rotation.random(rng=rng)
    near = Rotation.from_rotvec(rng.normal(size=3) * 10.0 ** rng.uniform(-11, -1))
    return first.as_matrix(), (near * first if k % 5 == 1 else Rotation.random(rng=rng)).as_matrix()


def pairs(count, seed):
    """Return pairs of polytopes in world axes: separated, overlapping, and one inside the other."""
    rng, out = np.random.default_rng(seed), []
    for k in range(count):
        scale = 10.0 ** rng.uniform(-3, 3)
        a, b = (polytope(rng) @ turn.T * scale for turn in turned(rng, k))
        out.append((gk.ConvexHull(a), gk.ConvexHull(b + scale * rng.normal(size=3) * rng.choice([0.1, 1.0, 2.0]))))
    return out


@pytest.mark.parametrize("seed", [3, 4])
def test_gaps_and_depths_equal_library(browser, page, seed):
    browser.open_anew(page)
    hulls = pairs(200, seed)
    data = json.dumps([[polytope_data(shape) for shape in pair] for pair in hulls])
    script = f"(() => {{ const pairs = {data}; return JSON.stringify({TEST}); }})()"
    rows = np.array(json.loads(browser.evaluate(script)))
    size, gap, only = rows[:, 0, 4], rows[:, 0, 0], rows[:, 1, 0]
    library = np.array([gk.separating_axis(*pair).gap for pair in hulls])
    distance = np.array([gk.signed_distance(*pair).distance for pair in hulls])
    separated = library > 0.0
    assert 40 < separated.sum() < 160
    # the library tests the face normals of A - B only
    assert (np.abs(only - library) <= 1e-12 * size).all()
    # with all axes, the depth is equal and the gap is between the library's gap and the distance
    assert (np.abs(gap - distance) <= 1e-12 * size)[~separated].all()
    assert (gap >= library - 1e-12 * size).all()
    assert (gap <= distance + 1e-12 * size).all()
    assert (gap > library + 1e-6 * size)[separated].any()
    for row, (a, b), length, free in zip(rows[:, 0], hulls, size, separated, strict=True):
        if not free:  # after the minimum translation the shapes just touch
            moved = gk.signed_distance(a, b, None, pose(*(-row[0] * row[1:4]))).distance
            assert abs(moved) <= 1e-11 * length


# --- the page --------------------------------------------------------------------------------------------------------


def pair_of(values):
    """Return A and B of an address as hulls in world axes. B is rotated about its middle."""
    turn, at = ([float(x) for x in values[name].split(",")] for name in ("turn", "at"))
    spin = Rotation.from_euler("z", float(values.get("spin", 0)), degrees=True)
    a, b = (np.array(SHAPES[values[name]]) for name in "ab")
    middle = b.mean(axis=0)
    return gk.ConvexHull(a), gk.ConvexHull((spin * Rotation.from_rotvec(turn)).apply(b - middle) + middle + at)


def verdict(result, axis):
    """Return the expected verdict of the page and its value."""
    if axis.gap > 1e-12:
        return "Apart, gap ", axis.gap
    return ("Overlapping by ", -axis.gap) if axis.gap < -1e-12 else ("Touching", result.distance)


def assert_library(browser):
    """Assert that the page shows the verdict of the library, and return the axis."""
    pair = pair_of(state(browser))
    axis = gk.separating_axis(*pair)
    words, value = verdict(gk.signed_distance(*pair), axis)
    shown = text(browser, "#verdict")
    assert shown.startswith(words)
    if value and words != "Touching":
        assert float(shown.removeprefix(words)) == pytest.approx(value, rel=1e-5)
    return axis


PRESETS = {
    "two prisms that overlap": ("a face of A", "0.937042571"),
    "two prisms apart": ("a face of A", "1.71791138"),
    "apart by a face": ("a face of A", "0.388653176"),
    "apart by two edges only": ("an edge of A and an edge of B", "0.354720178"),
    "MTV of a face": ("a face of A", "0.408281265"),
    "MTV of two edges": ("an edge of A and an edge of B", "0.158375201"),
    "one inside the other": ("a face of A", "1.01359447"),
    "touching": ("a face of A", "touch"),
    "gap below the distance": ("a face of A", "1.73205081"),
    "nearly parallel edges": ("a face of B", "0.305024916"),
}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_show_topic_and_library_numbers(browser, page, name):
    browser.open_anew(page, f"#topic={name}&step=99")
    kind, value = PRESETS[name]
    assert text(browser, "#topic").startswith(f"{name[0].upper()}{name[1:]}. ")
    assert text(browser, "#title").startswith("Result: ")
    assert kind in text(browser, "#sentence")
    assert value in text(browser, "#sentence")
    axis = assert_library(browser)
    assert browser.state("step") == str(len(texts(browser, "#all li")) - 1)
    if name == "apart by two edges only":
        assert sum("The gap is" in words for words in texts(browser, "#all li")) == 1
        assert axis.kind == gk.AxisKind.EDGES
    if name == "gap below the distance":
        assert "a corner of A and a corner of B" in text(browser, "#sentence")
    if axis.gap < -1e-12:
        assert f"MTV {-axis.gap:.4g}" in texts(browser, "#left .label")
    assert browser.complaints == []


def test_all_presets_are_checked(browser, page):
    browser.open_anew(page)
    assert browser.evaluate("Object.keys(gjk3dSatPresets)") == list(PRESETS)


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?")


def test_steps_show_projections_and_best_axis(browser, page):
    browser.open_anew(page, "#topic=apart by a face&step=1")
    assert "3 + 3 normals here and 9 pairs of edges, 15 axes" in text(browser, "#sentence")
    axis, best = assert_library(browser), -np.inf
    for number in range(1, 16):
        browser.key("ArrowRight")
        assert text(browser, "#title").startswith(f"Axis {number} of 15: ")
        _, high_a, low_b, _ = map(float, NUMBER.findall(text(browser, "#sentence").split(". ")[0]))
        gap = low_b - high_a
        match = re.search(r"(gap|overlap) ([\d.e-]+)$", texts(browser, "#projection text.now")[0])
        assert match[1] == ("gap" if gap > 0 else "overlap")
        assert float(match[2]) == pytest.approx(abs(gap), abs=2e-3)
        best = max(best, gap)
        fills = browser.evaluate("[...document.querySelectorAll('#tried rect')].map((r) => r.getAttribute('fill'))")
        assert fills.count("var(--s)") == 1
        assert fills.count("var(--later)") == 15 - number
    assert best == pytest.approx(axis.gap, abs=1e-3)
    browser.key("ArrowRight")
    assert text(browser, "#title") == "Result: apart, gap 0.388653"
    browser.key("Home")
    assert browser.state("step") == "0"


def test_skipped_edge_pairs_state_the_reason(browser, page):
    browser.open_anew(page, "#topic=nearly parallel edges")
    steps = " ".join(texts(browser, "#all li"))
    assert "the sine of their angle is 0" in steps
    assert "a parallel axis has been tried: axis 1" in steps
    browser.open_anew(page, "#topic=MTV of a face&only=1")
    assert any("no face of A - B has this normal" in words for words in texts(browser, "#all li"))
    assert_library(browser)


@pytest.mark.parametrize("seed", range(4))
def test_keys_pointer_and_slider_move_b(browser, page, seed):
    rng = np.random.default_rng(seed)
    names = [name for name in SHAPES if "prism" not in name]
    a, b = rng.choice(names, 2)
    turn, at = (",".join(f"{x:.3f}" for x in rng.uniform(-1, 1, 3)) for _ in range(2))
    browser.open_anew(page, f"#a={a}&b={b}&turn={turn}&at={at}&only=1&step=1")
    before = state(browser)
    assert before["at"] == ",".join(f"{float(x):g}" for x in at.split(","))
    assert_library(browser)
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        press_shift(browser, key)
    assert state(browser)["at"] != before["at"]
    assert_library(browser)
    set_input(browser, "#spin", 40)
    assert state(browser)["spin"] == "40"
    assert_library(browser)
    x, y = browser.middle_of_body(1)
    moved = state(browser)["at"]
    browser.drag((x, y), (x + 30, y + 30))
    assert state(browser)["at"] != moved
    assert_library(browser)
    assert browser.complaints == []


def test_address_restores_state_and_view(browser, page):
    browser.open_anew(page, "#topic=MTV of two edges&step=9")
    set_input(browser, "#spin", 12)
    browser.click("#only")
    x, y = browser.evaluate("(({ x, y }) => [x, y])(document.querySelector('#left').getBoundingClientRect())")
    browser.drag((x + 20, y + 60), (x + 80, y + 60))
    assert {"spin", "only", "look", "topic"} <= set(assert_address_restores(browser, page))


@pytest.mark.parametrize(
    "evil",
    ["#a=<script>&b=__proto__", "#a=box&b=cube&at=1e400,0,0", "#a=box&b=cube&turn=1,2&spin=x", "#topic=constructor"],
)
def test_invalid_address_shows_first_topic(browser, page, evil):
    browser.open_anew(page, evil)
    assert text(browser, "#name-a") == "triangular prism"
    assert browser.complaints == []


def test_page_without_webgl_has_text_of_steps(page, tmp_path):
    plain = Browser(tmp_path, options=("--disable-3d-apis",))
    try:
        plain.open(page)
        plain.key("End")
        assert "0.937042571" in text(plain, "#sentence")
        assert plain.evaluate("document.querySelectorAll('#tried rect').length") >= 8
    finally:
        plain.close()


@pytest.mark.parametrize("topic", ["sat", "bounds"])
def test_lessons_fit_the_window_width(browser, tmp_path, topic):
    made = gk.viz.lesson(tmp_path / "lesson.html", topic)
    assert made.stat().st_size < 1_000_000
    try:
        for size in ((1280, 900), (800, 900), (390, 844)):
            browser.resize(*size)
            for step in (2, 99):
                browser.open_anew(made, f"#step={step}")
                assert browser.evaluate("document.documentElement.scrollWidth") <= size[0]
    finally:
        browser.resize(1280, 900)
