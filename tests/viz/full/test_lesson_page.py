"""The lesson in Chromium: pseudocode, numbers of each step, linked words and marks, topics, questions, inputs."""

from __future__ import annotations

import importlib.util
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from example_results import pose
from page_state import choose, press_shift, set_input, text, texts

import gjk3d as gk
from tests.viz import messages

ALL = "code=1&numbers=1"


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    return gk.viz.lesson(tmp_path_factory.mktemp("lesson") / "lesson.html")


def test_lesson_is_small_and_requests_no_host(browser, lesson):
    assert lesson.stat().st_size < 1_000_000
    browser.requests.clear()
    browser.open_anew(lesson)
    assert browser.complaints == []
    assert [url for url in browser.requests if url not in (lesson.as_uri(), "about:blank")] == []
    assert not browser.evaluate("document.querySelector('#code').hidden")
    assert browser.evaluate("document.querySelector('#numbers').hidden")  # numbers are shown on request


# --- pseudocode ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["GJK", "EPA"])
def test_pseudocode_has_about_forty_lines(browser, lesson, kind):
    browser.open_anew(lesson)
    lines = browser.evaluate(f"gjk3dPseudocode.CODE.{kind}.map((line) => line.text)")
    assert 34 <= len(lines) <= 42
    assert max(map(len, lines)) < 62


def test_line_and_branch_are_marked_and_keys_move_line(browser, lesson):
    browser.open_anew(lesson, "#step=5")
    assert text(browser, "#code-title").startswith("EPA")
    assert "if n_g·(w - p_g) > threshold: add g to visible" in texts(browser, ".line.taken .words")
    assert "if n_g·(w - p_g) > threshold: add g to visible" not in text(browser, ".line.now")
    last = text(browser, "#line")
    browser.key("ArrowUp")
    assert text(browser, "#line") != last
    browser.click("#up")
    browser.key("ArrowDown")
    browser.key("ArrowDown")
    assert text(browser, "#line") == last
    assert browser.evaluate("document.querySelector('#down').disabled")
    seen = set()
    while not browser.evaluate("document.querySelector('#up').disabled"):
        seen.add(text(browser, ".line.now"))
        browser.key("ArrowUp")
    assert any("n·(w7 - p) > 0, face w1 w6 w4" in line and "yes" in line for line in seen)
    assert browser.state("step") == "4"  # the keys do not change the step


def test_every_event_of_every_step_has_a_line(browser, lesson):
    browser.open_anew(lesson)
    unknown, count = browser.evaluate("""(() => {
        const out = [];
        let count = 0;
        for (const preset of Object.values(gjk3dPresets)) {
            const pair = [0, 1].map((side) => gjk3dShapes.shape(side, preset.pair[side]));
            const steps = gjk3dTell.tell(...pair, preset.at);
            for (const step of steps) for (const event of gjk3dPseudocode.events(step, steps, 1e-14)) {
                const kind = gjk3dPseudocode.algorithm(step);
                count += 1;
                if (!gjk3dPseudocode.CODE[kind].some((line) => line.id === event.line)) out.push([kind, event.line]);
                if (event.value !== undefined && !Number.isFinite(event.value)) out.push([step.title, event.line]);
            }
        }
        return [out, count];
    })()""")
    assert unknown == []
    assert count > 500


def test_button_shows_kernel_source(browser, lesson):
    browser.open_anew(lesson, "#step=2")
    browser.click("#kernel")
    assert "def closest_on_tetrahedron(" in text(browser, "#lines")
    assert "def gjk(" in text(browser, "#lines")
    browser.key("End")
    assert "def epa(" in text(browser, "#lines")
    assert "def horizon(" in text(browser, "#lines")
    browser.click("#kernel")
    assert "epa(A, B, simplex):" in text(browser, "#lines")


# --- numbers ---------------------------------------------------------------------------------------------------------


def rows(browser, card):
    return browser.evaluate(
        "((title) => { const card = [...document.querySelectorAll('.numbers')].find((one) =>"
        " one.querySelector('h3').textContent.startsWith(title)); return [...card.querySelectorAll('tbody tr')].map("
        "(row) => [row.className, ...[...row.children].map((cell) => cell.textContent)]); })"
        f"({json.dumps(card)})"
    )


def triple(text):
    return np.array([float(x) for x in text.strip("()").split(",")])


@pytest.mark.parametrize("step", [2, 3, 4, 5, 6, 7])
def test_numbers_of_a_step_are_consistent(browser, lesson, step):
    browser.open_anew(lesson, f"#step={step}&{ALL}")
    query = [row[-1] for row in rows(browser, "Support query")]
    d, a, b, w = map(triple, query[:4])
    np.testing.assert_allclose(a - b, w, atol=1e-4)
    assert float(query[4]) == pytest.approx(d @ w, abs=1e-4)
    lower, upper = rows(browser, "Bounds")
    assert float(lower[3].split(" = ")[-1]) == pytest.approx(-(d @ w), abs=1e-4)
    assert float(lower[4]) >= float(lower[3].split(" = ")[-1]) - 1e-5
    assert float(upper[4]) <= float(upper[3].split(" = ")[-1]) + 1e-5
    corners = [row for row in rows(browser, "Weights and points") if len(row) == 4]
    weights = np.array([float(row[3]) for row in corners])
    assert weights.sum() == pytest.approx(1.0, abs=1e-5)
    nearest = next(row for row in rows(browser, "Weights and points") if row[1].startswith("v, nearest"))
    np.testing.assert_allclose(weights @ [triple(row[2]) for row in corners], triple(nearest[-1]), atol=1e-4)
    ended = "yes: stop" in [row[-1] for row in rows(browser, "Stop rules")]
    assert ended == (step in (3, 7))


def test_failed_conditions_and_negative_bounds_are_marked(browser, lesson):
    browser.open_anew(lesson, f"#step=5&{ALL}")
    tests = rows(browser, "Tests")
    assert {row[0] for row in tests} == {"", "failed"}
    for row in tests:
        assert (row[0] == "failed") == (row[-1] == "no")
        assert (float(row[3]) > 1e-9) == (row[-1] == "yes")
    assert messages.NEGATIVE_BOUND in text(browser, "#number-cards")
    browser.open_anew(lesson, f"#a=triangular prism&b=four-sided prism&at=3,-1,0&step=3&{ALL}")
    assert messages.NEGATIVE_BOUND not in text(browser, "#number-cards")


def test_region_conditions_have_correct_dot_products(browser, lesson):
    browser.open_anew(lesson, f"#a=triangular prism&b=four-sided prism&at=3,-1,0&step=3&{ALL}")
    corners = {row[1]: triple(row[2]) for row in rows(browser, "Weights and points") if len(row) == 4}
    query = rows(browser, "Support query")
    corners[query[3][1].split()[0]] = triple(query[3][2])
    checked = 0
    for row in rows(browser, "Tests"):
        if "·(w" in row[2] and row[2].endswith("≥ 0"):
            a, b = row[2].split("·")[0], row[2].split("(")[1].split(" - ")[0]
            assert float(row[3]) == pytest.approx(corners[a] @ (corners[b] - corners[a]), rel=1e-4, abs=1e-4)
            checked += 1
    assert checked >= 2


# --- words and marks -------------------------------------------------------------------------------------------------


def test_names_and_marks_share_color_and_highlight(browser, lesson):
    browser.open_anew(lesson, "#step=5&code=0")
    colors = browser.evaluate(
        "['#sentence .word[data-mark=w7]', '#right .label[data-mark=w7]'].map((one) =>"
        " getComputedStyle(document.querySelector(one)).color)"
    )
    assert colors[0] == colors[1]
    before = browser.picture("#right")
    box = (
        "(() => { const b = document.querySelector('%s').getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    x, y = browser.evaluate(box % "#sentence .word[data-mark=rim]")
    browser.hover(x, y)
    browser.settle()
    faded = browser.picture("#right")
    assert np.abs(faded - before).mean() > 1
    assert (np.abs(faded - (213, 94, 0)).max(axis=-1) < 50).sum() > 150  # the horizon does not fade
    browser.hover(x, y + 400)
    browser.settle()
    assert np.abs(browser.picture("#right") - before).mean() < 0.1
    x, y = browser.evaluate(box % "#right .label[data-mark=w7]")
    browser.hover(x, y)
    assert set(texts(browser, "#sentence .lit")) == {"w7"}
    browser.evaluate("document.querySelector('#sentence .word[data-mark=w6]').focus()")
    assert set(texts(browser, "#sentence .lit")) == {"w6"}  # keyboard focus works too


# --- topics ----------------------------------------------------------------------------------------------------------


TOPICS = {
    "start of EPA": "four new far points",
    "start with GJK's tetrahedron": "EPA starts with GJK's tetrahedron",
    "restart of EPA": "is nearly flat",
    "flat A - B": "A - B is flat",
    "coplanar faces": "The origin is on face",
    "shapes that touch": "The shapes touch",
    "origin on a face": "The origin is on edge w1 w2",
    "cylinders that do not converge": "steps in one. The last step: Face",
    "cores and radii": "The cores are apart by 3.3",
    "cores that overlap": "are added",
    "why floats make faces flip": "is the nearest to the origin",
    "two prisms that touch": "The first point of A - B, w1, is the origin",
}


def test_topics_show_their_feature(browser, lesson):
    browser.open_anew(lesson)
    names = browser.evaluate("Object.keys(gjk3dPresets)")
    assert set(TOPICS) <= set(names)
    for name in names:
        choose(browser, name)
        assert text(browser, "#topic").lower().startswith(name.lower())
        assert len(text(browser, "#topic").split()) > 20
        phase = browser.evaluate(f"gjk3dPresets[{json.dumps(name)}].phase")
        assert text(browser, "#title").split(",")[0] == {"start": "Start"}.get(phase, phase)
        if name in TOPICS:
            steps = " ".join(texts(browser, "#all li"))
            assert TOPICS[name] in steps or name == "two prisms that touch", (name, steps)
    assert browser.complaints == []


def test_tied_cylinders_are_reported_with_wide_bounds(browser, lesson):
    browser.open_anew(lesson)
    choose(browser, "cylinders that do not converge")
    verdict = text(browser, "#verdict")
    low, high = (float(x) for x in verdict.removeprefix("Overlapping by ").split(" to "))
    at = browser.evaluate("gjk3dPresets['cylinders that do not converge'].at")
    radius, half = browser.evaluate("gjk3dShapes.shape(0, 'upright cylinder').sizes")
    can = gk.Cylinder(radius, 2 * half)
    depth = gk.signed_distance(can, can, None, pose(*at)).depth
    assert low <= depth <= high
    assert 1e-6 < high - low < 1e-2
    steps = texts(browser, "#all li")
    assert len(steps) < 60
    assert messages.LIMIT_OF_POINTS in steps[-1]
    far = browser.evaluate(
        "(() => { const can = gjk3dShapes.shape(0, 'upright cylinder');"
        " return gjk3dSolve.solve(can, can, gjk3dPresets['cylinders that do not converge'].at).distance; })()"
    )
    assert -far == pytest.approx(depth, rel=1e-9)  # the distance is refined, although the bounds stay wide


# --- questions -------------------------------------------------------------------------------------------------------


APART, DEEP = "a=triangular prism&b=four-sided prism&at=3,-1,0", "a=given"


@pytest.mark.parametrize(
    ("pair", "step", "words", "right"),
    [
        (APART, 3, messages.WHAT_NEXT, "w1 w3"),
        (APART, 4, messages.WHAT_NEXT, messages.STOPS_APART),
        (DEEP, 3, messages.WHAT_NEXT, messages.STOPS_SHARED),
        (DEEP, 6, messages.HOW_MANY_FACES, "2"),
        (DEEP, 7, messages.HOW_MANY_FACES, messages.STOPS_EPA),
    ],
)
def test_page_hides_solution_until_question_is_answered(browser, lesson, pair, step, words, right):
    browser.open_anew(lesson, f"#{pair}&step={step}&ask=1&{ALL}")
    name = browser.evaluate("document.querySelector('#sentence').textContent.match(/w\\d+(?=[^w]*$)/)[0]")
    assert text(browser, "#sentence").endswith(words.format(name))
    assert not browser.evaluate("document.querySelector('#steps').checkVisibility()")
    parts = (
        "#title",
        "#sentence",
        "#count",
        "#bounds",
        "#legend",
        "#number-cards",
        "#curve",
        "#left",
        "#right",
        "#what",
    )
    shown = " ".join(browser.evaluate(f"document.querySelector('{part}').innerText") for part in parts)
    for word in ("drop", "Voronoi region of", "replaced faces", "Tests of regions", "removed", "new faces", "beyond",
                 "again", "farther", "Stop rules", "so the", "of 5", "of 8", "Overlapping by", "Apart by"):  # fmt: skip
        assert word not in shown, word
    ran = texts(browser, ".line.ran .words")
    assert not [line for line in ran if "return upper" in line or "stop" in line or "grow" in line or "closest" in line]
    assert set(texts(browser, ".line.taken")) <= {"if key > 0: d = n, r = key"}
    choices = texts(browser, "#quiz button")
    assert right in choices
    assert len(choices) > 2
    wrong = next(choice for choice in choices if choice != right)
    browser.evaluate(
        "((words) => [...document.querySelectorAll('#quiz button')].find((one) => one.textContent === words).click())"
        f"({json.dumps(wrong if step % 2 else right)})"
    )
    browser.settle()
    assert text(browser, "#quiz").startswith(f"Not {wrong}." if step % 2 else f"Yes: {right}.")
    assert "Stop rules" in text(browser, "#number-cards")
    assert browser.evaluate("document.querySelector('#steps').checkVisibility()")


def test_every_step_of_an_algorithm_has_a_question(browser, lesson):
    browser.open_anew(lesson)
    for name in ("two prisms that overlap", "two prisms apart", "shapes that touch", "cores and radii"):
        choose(browser, name)
        browser.evaluate("(() => { const box = document.querySelector('#ask'); if (!box.checked) box.click(); })()")
        browser.key("Home")
        questions = []
        while not browser.evaluate("document.querySelector('#next').disabled"):
            browser.key("ArrowRight")
            title = text(browser, "#title")
            questions.append((title, browser.evaluate("!document.querySelector('#quiz').hidden")))
        assert [(title, True) for title, _ in questions[:-1]] == questions[:-1]
        assert questions[-1][0].startswith("Result")


# --- inputs and the address ------------------------------------------------------------------------------------------


def test_typed_and_dragged_numbers_change_the_pair(browser, lesson):
    browser.open_anew(lesson, f"#a=box&b=sphere&at=0,0,0&{ALL}")
    set_input(browser, "#in-x", 9.5)
    half, radius = browser.evaluate(
        "[Math.max(...gjk3dShapes.shape(0, 'box').points.map((p) => p[0])), gjk3dShapes.shape(1, 'sphere').radius]"
    )
    assert float(text(browser, "#verdict").split()[-1]) == pytest.approx(9.5 - half - radius)
    set_input(browser, "#in-rb", 0.5)
    assert float(text(browser, "#verdict").split()[-1]) == pytest.approx(9.5 - half - 0.5)
    x, y = browser.evaluate(
        "(() => { const g = document.querySelector('#inputs .grip'); g.scrollIntoView({ block: 'center' });"
        " const b = g.getBoundingClientRect(); return [b.x + 5, b.y + 5]; })()"
    )
    browser.drag((x, y), (x + 20, y), (x + 40, y))
    moved = browser.evaluate("document.querySelector('#in-x').valueAsNumber")
    assert moved > 9.5
    assert float(text(browser, "#verdict").split()[-1]) == pytest.approx(moved - half - 0.5, rel=1e-5)
    assert browser.complaints == []


def visible_inputs(browser):
    return browser.evaluate("[...document.querySelectorAll('#inputs label')].filter((n) => !n.hidden).map((n) =>"
                            " n.querySelector('input').id.slice(3))")  # fmt: skip


def test_size_and_rotation_inputs_give_library_distance(browser, lesson):
    browser.open_anew(lesson, f"#a=cylinder&b=box&at=9,0,0&{ALL}")
    assert visible_inputs(browser) == [
        *"xyz",
        "sa0",
        "sa1",
        "ta0",
        "ta1",
        "ta2",
        "ra",
        "sb0",
        "tb0",
        "tb1",
        "tb2",
        "rb",
    ]
    for name, value in (("sa0", 0.7), ("sa1", 2.5), ("ta0", 30), ("ta2", -50), ("sb0", 0.8), ("tb1", 25), ("tb2", 10)):
        set_input(browser, f"#in-{name}", value)
    x, y, z = np.radians([30, 0, -50])
    first = rotation(2, z) @ rotation(1, y) @ rotation(0, x)
    base_rotation = np.reshape(browser.evaluate("gjk3dShapes.shape(0, 'cylinder').turn"), (3, 3))
    points = np.array(browser.evaluate("gjk3dShapes.shape(1, 'box').points"))
    second = rotation(2, np.radians(10)) @ rotation(1, np.radians(25))
    moved = gk.ConvexHull(0.8 * points @ second.T + (9, 0, 0))
    pose_a = np.eye(4)
    pose_a[:3, :3] = first @ base_rotation
    far = gk.distance(gk.Cylinder(0.7, 5.0), moved, pose_a, None).distance
    assert float(text(browser, "#verdict").split()[-1]) == pytest.approx(far, rel=1e-5)
    browser.wait("document.documentElement.dataset.address !== 'due'")
    address = browser.evaluate("location.hash")
    browser.open_anew(lesson, address)
    assert float(text(browser, "#verdict").split()[-1]) == pytest.approx(far, rel=1e-5)
    assert browser.evaluate("document.querySelector('#in-ta2').valueAsNumber") == -50
    assert browser.complaints == []
    for wrong in ("sa=1", "sa=0,1", "ta=1,2", "ta=x,0,0", "rb=-1"):
        browser.open_anew(lesson, f"#a=cylinder&b=box&at=9,0,0&{wrong}")
        assert browser.state("live") == "given"
    browser.open_anew(lesson, f"#a=ellipsoid&b=given&{ALL}")
    assert visible_inputs(browser)[3:7] == ["sa0", "sa1", "sa2", "ta0"]


def rotation(axis, angle):
    """Return the matrix of a rotation about an axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn = np.eye(3)
    turn[i, i] = turn[j, j] = np.cos(angle)
    turn[j, i] = np.sin(angle)
    turn[i, j] = -turn[j, i]
    return turn


def test_address_restores_topic_panels_and_radii(browser, lesson):
    browser.open_anew(lesson)
    choose(browser, "cores and radii")
    browser.click("#show-numbers")
    browser.click("#bounds-drawn")
    set_input(browser, "#in-ra", 0.25)
    verdict = text(browser, "#verdict")
    browser.wait("document.documentElement.dataset.address !== 'due'")
    address = browser.evaluate("location.hash")
    browser.open_anew(lesson, address)
    assert text(browser, "#topic").startswith("Cores and radii")
    assert text(browser, "#verdict") == verdict
    assert browser.evaluate("document.querySelector('#show-numbers').checked")
    assert not browser.evaluate("document.querySelector('#bounds-drawn').checked")
    assert browser.evaluate("document.querySelector('#in-ra').valueAsNumber") == 0.25


def test_difference_is_refitted_when_keys_move_b(browser, lesson):
    browser.open_anew(lesson, "#code=0")
    for _ in range(12):
        press_shift(browser, "ArrowRight")
    browser.settle()
    view = browser.picture("#right")
    sky = np.abs(view - view[3, -4]).max(axis=-1) < 12
    assert (~sky).sum() > 5000
    for side in (sky[:, 2], sky[:, -3], sky[-3]):
        assert side.mean() > 0.97  # all of A - B is in the frame


@pytest.mark.parametrize("size", [(1280, 900), (1280, 1600), (390, 844)])
def test_shapes_fill_views_and_labels_clear_captions(browser, lesson, size):
    browser.resize(*size)
    try:
        browser.open_anew(lesson, "#step=5")
        for side in ("left", "right"):
            view = browser.picture(f"#{side}")
            drawn = np.abs(view - view[-3, 3]).max(axis=-1) > 12
            drawn[:36] = False  # the caption
            spans = [np.ptp(np.flatnonzero(drawn.any(axis=axis))) / drawn.shape[1 - axis] for axis in (0, 1)]
            assert max(spans) > 0.6
            if side == "left":
                assert not any(edge.any() for edge in (drawn[:, :2], drawn[:, -2:], drawn[-2:]))
        overlaps = browser.evaluate(
            "[...document.querySelectorAll('.view .label')].filter((node) => { const a = node.getBoundingClientRect(),"
            " b = node.parentNode.querySelector('figcaption').getBoundingClientRect();"
            " return a.top < b.bottom - 1 && a.left < b.right; }).length"
        )
        assert overlaps == 0
        box = browser.evaluate(
            "(() => { const now = document.querySelector('.line.now').getBoundingClientRect(),"
            " all = document.querySelector('#lines').getBoundingClientRect();"
            " return [now.top - all.top, all.bottom - now.bottom]; })()"
        )
        assert min(box) >= 0  # the running line is in its panel
    finally:
        browser.resize(1280, 900)


BOXES = """[...document.querySelectorAll('#right .label, #right figcaption')].filter((node) =>
  getComputedStyle(node).visibility === 'visible').map((node) => { const b = node.getBoundingClientRect();
  return [node.textContent, b.left, b.top, b.right, b.bottom]; })"""


@pytest.mark.parametrize("size", [(390, 844), (800, 900), (1280, 900)])
def test_labels_do_not_overlap_and_have_a_halo(browser, lesson, size):
    browser.resize(*size)
    try:
        browser.open_anew(lesson)
        for name in ("cores and radii", "cores that overlap", "start of EPA", "start with GJK's tetrahedron"):
            choose(browser, name)
            boxes = browser.evaluate(BOXES)
            assert {"origin", "w1"} <= {words for words, *_ in boxes}
            for (label_a, *first), (label_b, *second) in combinations(boxes, 2):
                across, down = (min(first[k + 2], second[k + 2]) - max(first[k], second[k]) for k in (0, 1))
                assert min(across, down) <= 1, (name, label_a, label_b)
        styles = browser.evaluate(
            "[...document.querySelectorAll('.view .label, .view figcaption')].map((node) => {"
            " const { backgroundColor, textShadow } = getComputedStyle(node); return [backgroundColor, textShadow]; })"
        )
        for background, shadow in styles:
            assert background == "rgba(0, 0, 0, 0)"
            assert shadow.count("rgb(255, 255, 255)") == 8
    finally:
        browser.resize(1280, 900)


def test_hidden_view_is_redrawn_when_shown(browser, lesson):
    browser.open_anew(lesson, "#step=5")
    before = browser.picture("#left")
    for display in ("none", ""):
        browser.evaluate(f"document.querySelector('#stage').style.display = '{display}'")
        browser.settle()
    assert np.abs(browser.picture("#left") - before).mean() < 1


def greens(view):
    """Return the mask of the pixels that have the colour of B."""
    return (view[..., 1] > view[..., 0] + 25) & (view[..., 1] > view[..., 2])


def test_b_stays_visible_when_dragged_far_outside(browser, lesson):
    browser.open_anew(lesson, "#code=0&step=6")
    across, down = np.median(np.nonzero(greens(browser.picture("#left"))), axis=1)[::-1]
    x, y = browser.evaluate("(({ x, y }) => [x, y])(document.querySelector('#left').getBoundingClientRect())")
    start = np.array([x + across, y + down])
    browser.hold(*(start + (move, -0.5 * move) for move in (0, 60, 400, 900)))
    browser.settle()
    assert browser.state("live") == "own"
    seen = greens(browser.picture("#left"))
    assert seen.sum() > 300
    assert not any(side.any() for side in (seen[:3], seen[-3:], seen[:, :3], seen[:, -3:]))
    browser.release(9, 9)
    assert browser.complaints == []


@pytest.mark.parametrize("paper", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), (800, 900), (390, 844)])
def test_lesson_fits_window_and_axe_reports_no_violation(browser, lesson, size, paper):
    spec = importlib.util.find_spec("axe_core_python")
    if spec is None:
        pytest.fail("these tests run axe-core over pages: pip install axe-core-python")
    browser.media(prefers_color_scheme=paper, prefers_reduced_motion="reduce")
    browser.resize(*size)
    try:
        for step in (2, 3, 5, 8):
            browser.open_anew(lesson, f"#step={step}&{ALL}")
            assert browser.evaluate("document.documentElement.scrollWidth") <= size[0]
        browser.evaluate(Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
        violations = browser.evaluate("axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.nodes[0].html))")
        assert violations == []
    finally:
        browser.resize(1280, 900)
        browser.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
