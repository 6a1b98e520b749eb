"""Properties of all pages in Chromium: accessibility, keys, printing, dark mode, network requests and dragging."""

import base64
import importlib.util
import io
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, program
from example_results import overlapping, pose
from message_checks import assert_names
from page_state import choose, set_input
from PIL import Image

import gjk3d as gk
from gjk3d import viz
from tests.viz import messages

KINDS = ("explain", "sat", "bounds", "answer", "drawing", "motion", "clash", "safety")


def motion(path):
    urdf = (
        '<robot name="crane"><link name="post"/><link name="beam"><collision><origin xyz="0.5 0 0"/><geometry>'
        '<box size="1 0.1 0.1"/></geometry></collision></link><joint name="turn" type="revolute"><parent link="post"/>'
        '<child link="beam"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>'
    )
    checker = gk.robot.Checker(gk.robot.Robot.from_urdf(urdf))
    checker.add("ball", gk.Sphere(0.2), pose(0, 0.8, 0))
    return viz.motion(checker, [[-0.5], [1.5]], path, frames=4)


def report():
    box = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    return gk.clash.check(gk.clash.Assembly.of({"a": box, "b": box.placed(pose(0.6, 0.1, 0.1))}))


def safety():
    """Return a report of a motion that keeps its margin and of a motion that hits a moving ball."""
    checker = gk.robot.Checker(gk.robot.Robot.example(), {"<ball>": (gk.Sphere(0.1), pose(1, 1, 0))}, margin=0.02)
    away = gk.Motion.translation(pose(1, 1, 0), (0.2, 0, 0))
    return checker.safety({"stay": [[0, 0], [0.2, 0]], "over": ([[0.2, 0], [1, 0]], {"<ball>": away})})


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Cylinder(0.4, 1), None, pose(1.4, 0.3, 0.2, (0.4, 0.3, 0)))
    viz.explain(result).save(folder / "explain.html")
    for topic in ("sat", "bounds"):
        viz.lesson(folder / f"{topic}.html", topic)
    viz.write_html(folder / "answer.html", overlapping(), notes=("a note",))
    viz.show([gk.Sphere(0.6), (gk.Box((1, 1, 1)), pose(2, 0, 0))], path=folder / "drawing.html", names=("ball", "box"))
    motion(folder / "motion.html")
    report().to_html(folder / "clash.html")
    safety().to_html(folder / "safety.html")
    return {kind: folder / f"{kind}.html" for kind in KINDS}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if program() is None:
        pytest.fail("these tests look at pages in Chromium, which is not on PATH: apt-get install chromium")
    opened = Browser(tmp_path_factory.mktemp("profile"), (1100, 900))
    yield opened
    opened.close()


def opened(browser, page, hash=""):
    browser.complaints.clear()
    browser._ask("Page.navigate", url="about:blank")  # Chromium does not reload a page if only the part after # differs
    browser.wait("location.href === 'about:blank' && document.readyState === 'complete'")
    browser._ask("Page.navigate", url=page.as_uri() + hash)
    browser.wait("document.readyState === 'complete' && document.documentElement.dataset.state === 'drawn'")
    return browser


@pytest.fixture(scope="module")
def axe():
    spec = importlib.util.find_spec("axe_core_python")
    if spec is None:
        pytest.fail("these tests run axe-core over pages: pip install axe-core-python")
    return Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(("kind", "paper"), list(itertools.product(KINDS, ("light", "dark"))))
def test_axe_reports_no_violation(browser, pages, axe, kind, paper):
    browser.media(prefers_color_scheme=paper, prefers_reduced_motion="reduce")
    opened(browser, pages[kind])
    if kind == "clash":
        browser.key("ArrowDown")
    browser.evaluate(axe)
    outcome = browser.evaluate(
        "axe.run().then((r) => [r.violations.map((v) => v.id + ': ' + v.nodes[0].html), r.passes.map((v) => v.id)])"
    )
    assert outcome[0] == []
    assert {"html-has-lang", "button-name"} <= set(outcome[1])
    if kind not in ("drawing", "motion"):  # their text is over the picture, and a test below checks its contrast
        assert "color-contrast" in outcome[1]
    assert browser.complaints == []
    night = browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(27, 29, 32)"
    assert night == (paper == "dark")
    browser.media(prefers_color_scheme="light", prefers_reduced_motion="no-preference")


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_legend_has_colors_of_picture(browser, tmp_path, paper):
    block = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    result = gk.signed_distance(block, block, None, pose(0.4, 0.3, 0.2))
    browser.media(prefers_color_scheme=paper)
    opened(browser, viz.write_html(tmp_path / "overlap.html", result))
    row = "[...document.querySelectorAll('#legend label')].find((one) => one.innerText.includes('intersection curve'))"
    ink = browser.evaluate(f"getComputedStyle({row}.querySelector('rect')).fill")
    assert ink == {"light": "rgb(32, 33, 36)", "dark": "rgb(232, 234, 237)"}[paper]
    browser.media(prefers_color_scheme="light")


@pytest.mark.parametrize("kind", KINDS)
def test_touch_screens_show_no_key_hints(browser, pages, kind):
    opened(browser, pages[kind])
    assert "@media (hover: none) and (pointer: coarse) { .keys { display: none; } }" in pages[kind].read_text()
    shown = browser.evaluate(
        "(() => { document.querySelectorAll('.keys').forEach((one) => { one.hidden = true; });"
        " return document.body.innerText; })()"
    )
    assert "drag" in shown.lower()
    assert not re.search(r"arrow keys?|space bar|\bpress\b|\bEsc\b|Shift", shown)


def test_safety_report_names_units_and_moving_objects(browser, pages):
    opened(browser, pages["safety"])
    heads = browser.evaluate("[...document.querySelectorAll('th')].map((one) => one.textContent)")
    assert set(heads) >= messages.SAFETY_COLUMNS
    keys = browser.evaluate("[...document.querySelectorAll('#keys label')].map((one) => one.textContent.trim())")
    assert keys == ["example", "<ball>", "colliding"]


def test_safety_report_rows_show_their_state(browser, pages):
    opened(browser, pages["safety"])
    assert (browser.state("at"), browser.evaluate("document.getElementById('run').textContent")) == ("0", "play")
    browser.evaluate("document.querySelector('#rows a').click()")
    browser.wait("document.documentElement.dataset.at === '2'")
    row = safety().rows[0]
    assert_names(
        browser.evaluate("document.getElementById('state').textContent"), "collision", "over", "hand", "<ball>"
    )
    end = browser.evaluate("gjk3d.data.states[2].ends[1]")
    scale = np.linalg.norm(np.subtract(end, browser.evaluate("gjk3d.data.states[2].ends[0]")))
    assert np.linalg.norm(np.subtract(row.place.point_a, row.place.point_b)) == pytest.approx(-row.distance)
    assert scale > 0.0
    (name, moved), frame = row.place.moved[0], "gjk3d.data.items.find((one) => one.name === '<ball>').frames"
    assert (name, moved[0][3]) == ("<ball>", pytest.approx(1 + 0.2 * row.time))
    spots = np.frombuffer(base64.b64decode(browser.evaluate(frame)), "<f4").reshape(-1, 16)[:, 12]
    assert spots[0] != spots[2]  # a motion that does not move the ball leaves it at its original pose


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_text_over_picture_has_contrast(browser, pages, paper):
    browser.media(prefers_color_scheme=paper)
    opened(browser, pages["motion"])
    named = ("--ink", "--soft", "--hard", "--sky", "--paper")
    colors = [
        browser.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()")
        for name in named
    ]
    parts = np.array([[int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)] for color in colors])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    light = linear @ (0.2126, 0.7152, 0.0722)
    for ink in light[:3]:
        for ground in light[3:]:
            assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5
    browser.media(prefers_color_scheme="light")


@pytest.mark.parametrize("kind", KINDS)
def test_pages_request_no_host_and_contain_three_once(browser, pages, kind):
    browser.requests.clear()
    opened(browser, pages[kind])
    assert [url for url in browser.requests if url.startswith(("http", "ws"))] == []
    assert pages[kind].read_text(encoding="utf-8").count("Three.js Authors") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_printed_pages_contain_the_canvas(browser, pages, kind):
    opened(browser, pages[kind])
    browser._ask("Emulation.setEmulatedMedia", media="print")
    shown = browser.evaluate(
        "[...document.querySelectorAll('canvas')].map((c) => { const b = c.getBoundingClientRect();"
        " const data = document.createElement('canvas').getContext('2d'); data.canvas.width = data.canvas.height = 40;"
        " data.drawImage(c, 0, 0, 40, 40); const p = data.getImageData(0, 0, 40, 40).data;"
        " return [b.width, b.height, p.filter((x, i) => i % 4 === 3 && x > 0).length,"
        " getComputedStyle(c).printColorAdjust]; })"
    )
    assert len(shown) == (2 if kind == "explain" else 1)
    for width, height, drawn, exact in shown:
        assert min(width, height) > 100
        assert drawn > 40
        assert exact == "exact"
    if kind in ("explain", "sat", "bounds"):  # the text of all steps, which is collapsed on the screen
        assert browser.evaluate("document.querySelector('#all').checkVisibility()")
    if kind == "explain":
        inside = browser.evaluate(  # labels of points stay inside their view
            "[...document.querySelectorAll('.label')].map((label) => { const at = label.getBoundingClientRect(),"
            " view = label.parentElement.querySelector('canvas').getBoundingClientRect(); return at.width > 0 &&"
            " at.left >= view.left && at.right <= view.right && at.top >= view.top && at.bottom <= view.bottom; })"
        )
        assert len(inside) == 2
        assert all(inside)
    if kind in ("drawing", "motion", "safety"):  # text is above the picture at any size
        above, top = browser.evaluate(
            "[document.querySelector('#words').getBoundingClientRect().bottom,"
            " document.querySelector('canvas').getBoundingClientRect().top]"
        )
        assert above <= top
    pdf = browser._ask("Page.printToPDF", printBackground=True)["data"]
    assert len(base64.b64decode(pdf)) > 20_000
    browser._ask("Emulation.setEmulatedMedia", media="")


def press(browser, key):
    code = {" ": ("Space", 32), "Enter": ("Enter", 13), "ArrowRight": ("ArrowRight", 39)}[key]
    text = {} if key == "ArrowRight" else {"text": "\r" if key == "Enter" else " "}
    for kind in ("keyDown", "keyUp"):
        event = {"type": kind, "key": key, "code": code[0], "windowsVirtualKeyCode": code[1]}
        browser._ask("Input.dispatchKeyEvent", **event, **(text if kind == "keyDown" else {}))


@pytest.mark.parametrize("key", [" ", "Enter"])
def test_space_and_enter_press_focused_button(browser, pages, key):
    opened(browser, pages["explain"])
    browser.evaluate("document.querySelector('#next').focus()")
    press(browser, key)
    assert browser.state("step") == "1"
    assert browser.evaluate("document.querySelector('#play').textContent") == "play"  # no animation began
    browser.evaluate("document.querySelector('summary').focus()")
    press(browser, key)
    assert browser.evaluate("document.querySelector('details').open")
    browser.evaluate("document.querySelector('#ask').focus()")
    press(browser, " ")
    assert browser.evaluate("document.querySelector('#ask').checked")
    browser.evaluate("document.activeElement.blur()")
    press(browser, " ")
    assert browser.evaluate("document.querySelector('#play').textContent") == "pause"


def test_steps_look_equal_forwards_and_backwards(browser, pages):
    browser.media(prefers_reduced_motion="reduce")
    opened(browser, pages["explain"])
    last = int(browser.evaluate("document.querySelector('#slide').max"))
    seen = []
    for key in (*["ArrowRight"] * last, *["ArrowLeft"] * last):
        browser.key(key)
        browser.settle()
        seen.append((browser.state("step"), np.asarray(browser.picture("#right"))))
    assert browser.complaints == []
    assert [step for step, _ in seen] == [str(k) for k in (*range(1, last + 1), *range(last - 1, -1, -1))]
    for (_, forward), (_, backward) in zip(seen[: last - 1], seen[last : 2 * last - 1][::-1], strict=True):
        assert np.abs(forward - backward).mean() < 0.5


def test_resized_canvas_is_never_empty(browser, pages):
    for kind in KINDS:
        opened(browser, pages[kind])
        # this observer runs after that of the page and before the browser paints
        drawn = browser.evaluate("""new Promise((done) => {
            const canvas = document.querySelector("canvas"), box = canvas.parentElement;
            let calls = 0;
            new ResizeObserver(() => {
                if (calls++ === 0) { box.style.minHeight = box.style.maxHeight = "333px"; return; }
                const copy = document.createElement("canvas"), pen = copy.getContext("2d");
                [copy.width, copy.height] = [canvas.width, canvas.height];
                pen.drawImage(canvas, 0, 0);
                done(pen.getImageData(0, 0, copy.width, copy.height).data.some(Boolean));
            }).observe(box);
        })""")
        assert drawn, kind


@pytest.mark.parametrize("kind", ["answer", "drawing", "motion", "safety"])
@pytest.mark.parametrize("width", [1280, 390])
def test_text_and_controls_do_not_overlap(browser, pages, kind, width):
    browser.resize(width, 800)
    opened(browser, pages[kind])
    boxes = browser.evaluate(
        "[...document.querySelectorAll('#words > *, #reset, #keys, #play, #label-slide, #help')].map((node) => {"
        " const b = node.getBoundingClientRect(); return [node.id, b.left, b.top, b.right, b.bottom]; })"
    )
    boxes = [box for box in boxes if box[3] > box[1] and box[4] > box[2]]
    assert {"reset", "keys", "help"} <= {box[0] for box in boxes}
    for (first, *a), (second, *b) in itertools.combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (first, second)
    assert all(box[1] >= 0 and box[3] <= width for box in boxes)
    browser.resize(1100, 900)


def test_arrow_key_moves_focused_slider_once(browser, pages):
    opened(browser, pages["explain"])
    browser.evaluate("document.querySelector('#slide').focus()")
    press(browser, "ArrowRight")
    assert browser.state("step") == "1"  # once, not twice


@pytest.mark.parametrize("kind", ["answer", "clash"])
def test_b_stays_on_canvas_at_end_of_slider(browser, pages, kind, tmp_path):
    page = pages[kind]
    if kind == "answer":  # a long separating translation
        result = gk.signed_distance(gk.Box((9, 9, 9)), gk.Box((1, 1, 1)), None, pose(0.1, 0.2, 0.3))
        page = viz.write_html(tmp_path / "far.html", result)
    opened(browser, page)
    if kind == "clash":
        browser.key("ArrowDown")
        browser.settle()
    set_input(browser, "#slide", 1)
    browser.settle()
    view = browser.picture("#view")
    hue = np.asarray(Image.fromarray(view.astype(np.uint8)).convert("HSV")).astype(int)
    green = (np.abs(hue[..., 0] - 116) < 14) & (hue[..., 1] > 60)
    assert green.sum() > 300
    rim = np.concatenate([green[:, :3].ravel(), green[:, -3:].ravel(), green[:3].ravel(), green[-3:].ravel()])
    assert not rim.any()


# --- GJK that the page runs ------------------------------------------------------------------------------------------


def greens(view):
    return (view[..., 1] > view[..., 0] + 25) & (view[..., 1] > view[..., 2])


def middle_of_b(browser):
    rows, columns = np.nonzero(greens(browser.picture("#left")))
    left, top = browser.evaluate(
        "(() => { const b = document.querySelector('#left').getBoundingClientRect(); return [b.x, b.y]; })()"
    )
    return left + float(np.median(columns)), top + float(np.median(rows))


def link(browser):
    browser.wait("document.documentElement.dataset.address !== 'due'")  # the page writes the address when it is at rest
    text = browser.evaluate("location.hash.slice(1)")
    fields = dict(pair.split("=") for pair in text.split("&"))
    return fields, [float(x) for x in fields["at"].replace("%2C", ",").split(",")]


def test_dragged_b_shows_distance_of_library(browser, pages):
    opened(browser, pages["explain"])
    browser.key("End")
    browser.settle()
    assert browser.state("live") == "given"
    x, y = middle_of_b(browser)
    browser.drag((x, y), (x + 60, y - 20))
    assert browser.state("live") == "own"
    _, shift = link(browser)
    assert np.linalg.norm(shift) > 0.1
    pose_b = pose(1.4, 0.3, 0.2, (0.4, 0.3, 0))
    pose_b[:3, 3] += shift
    expected = gk.signed_distance(gk.Box((1, 1, 1)), gk.Cylinder(0.4, 1), None, pose_b)
    verdict = browser.evaluate("document.querySelector('#verdict').textContent")
    assert float(verdict.split()[-1]) == pytest.approx(expected.distance, rel=1e-5)
    browser.drag(middle_of_b(browser), (30, 1))  # far beyond the canvas
    green = greens(browser.picture("#left"))
    assert green.sum() > 300
    assert not any(side.any() for side in (green[:3], green[-3:], green[:, :3], green[:, -3:]))  # all of B is visible
    assert browser.complaints == []


def test_link_restores_the_view(browser, pages, tmp_path):
    opened(browser, pages["explain"], "#a=octahedron&b=cone&at=1.5,0.25,0&step=3&ask=1")
    browser.settle()
    seen = [browser.picture(view) for view in ("#left", "#right")]
    title = browser.evaluate("document.querySelector('#title').textContent")
    fields, shift = link(browser)
    assert (fields["a"], fields["b"], fields["step"], shift) == ("octahedron", "cone", "3", [1.5, 0.25, 0.0])
    address = browser.evaluate("location.hash")
    opened(browser, pages["explain"], address)
    browser.settle()
    assert browser.evaluate("document.querySelector('#title').textContent") == title == "GJK, step 2"
    again = [browser.picture(view) for view in ("#left", "#right")]
    assert all(np.abs(a - b).mean() < 0.5 for a, b in zip(seen, again, strict=True))
    assert browser.evaluate("document.querySelectorAll('#quiz button').length") > 1


@pytest.mark.parametrize(
    "evil",
    [
        "#a=<script>&b=__proto__&at=1,2",
        "#at=1e400,0,0&step=-7",
        "#look=1,0,0,2,0,0,0,0,0,1,0,0,0,1",
        "#look=1,0,x,0,0,1,0,0,0,1,0,0,0,1",
        "#b=constructor&step=x",
    ],
)
def test_invalid_link_shows_the_original_pair(browser, pages, evil):
    opened(browser, pages["explain"], evil)
    assert browser.state("live") == "given"
    assert browser.state("step") == "0"
    assert browser.complaints == []


@pytest.mark.parametrize(
    ("name", "told"),
    [("two prisms that overlap", "Overlapping by 0.937043"), ("two prisms apart", "Apart by 1.71791"),
     ("two prisms that touch", "Touching")],
)  # fmt: skip
def test_worked_examples_show_their_verdict(browser, pages, name, told):
    opened(browser, pages["explain"])
    choose(browser, name)
    assert browser.evaluate("document.querySelector('#verdict').textContent") == told
    steps, end = browser.evaluate(
        "(() => { const all = [...document.querySelectorAll('#all li')];"
        " return [all.length, all.at(-1).textContent]; })()"
    )
    assert steps > 2  # EPA adds steps that prove the bounds, even if GJK has none
    assert end.lower().removeprefix("result: ").startswith(told.lower().split(" by")[0])
    assert browser.evaluate("document.querySelector('#curve').checkVisibility()")
    for _ in range(8):
        browser.key("ArrowRight")
    browser.settle()
    assert browser.complaints == []


def test_question_is_replaced_by_its_answer(browser, pages):
    opened(browser, pages["explain"], "#a=box&b=tetrahedron&at=2.5,0.3,0.2&step=2&ask=1")
    sentence = browser.evaluate("document.querySelector('#sentence').textContent")
    assert sentence.endswith(messages.WHAT_NEXT)
    browser.click("#quiz button:first-child")
    assert browser.evaluate("document.querySelector('#quiz').textContent").startswith(("Yes: ", "Not "))
    assert messages.WHAT_NEXT not in browser.evaluate("document.querySelector('#sentence').textContent")


def test_steps_computed_in_page_have_the_unit(browser, tmp_path):
    box = gk.Box((1, 1, 1))
    page = viz.explain(gk.signed_distance(box, box, None, pose(2, 0.1, 0.1)), unit="mm").save(tmp_path / "mm.html")
    opened(browser, page, "#a=octahedron&b=capsule&at=3.5,0.25,0&step=3")
    assert browser.state("live") == "own"
    for part in ("#verdict", "#sentence", "#bounds"):
        assert re.search(r"\d mm\b", browser.evaluate(f"document.querySelector('{part}').textContent"))


def test_solution_is_hidden_until_question_is_answered(browser, pages):
    opened(browser, pages["explain"], "#a=triangular prism&b=four-sided prism&at=3,-1,0&step=3&ask=1")
    expression = "document.querySelector('#legend').textContent + document.querySelector('#right').textContent"
    for words in ("drop", "Voronoi"):
        assert words not in browser.evaluate(expression)
    violet = (lambda: ((browser.picture("#right") - (217, 201, 229)).__abs__().max(axis=-1) < 12).sum())()
    browser.click("#quiz button:first-child")
    browser.settle()
    for words in ("w2 (drop)", "corner to drop", "Voronoi"):
        assert words in browser.evaluate(expression)
    assert violet < 200 < ((browser.picture("#right") - (217, 201, 229)).__abs__().max(axis=-1) < 12).sum()


def test_polytopes_made_in_page_have_their_edges(browser, pages):
    opened(browser, pages["explain"])
    prism = [[x, y, z] for x, y in ((5, 7), (7, 3), (10, 2), (12, 7)) for z in (2, -2)]
    octahedron = [[s * (k == i) for k in range(3)] for i in range(3) for s in (1, -1)]
    for corners, edges in ((prism, 12), (prism[:6], 9), (octahedron, 12), ([*prism[:3], prism[4]], 6)):
        spanned = f"gjk3dPanel.spanned((d) => gjk3dSupport.support({{points: {corners}}}, d))"
        assert browser.evaluate(f"new THREE.EdgesGeometry({spanned}, 1).attributes.position.count") == 2 * edges


def test_play_steps_immediately_then_pauses(browser, pages):
    opened(browser, pages["explain"])
    browser.click("#play")
    browser.wait("document.documentElement.dataset.step === '1'", 2)
    browser.evaluate("new Promise((done) => setTimeout(() => done(true), 1500))")
    assert browser.state("step") == "1"
    browser.key("End")
    browser.click("#play")  # at the last step, play restarts from the first step
    browser.evaluate("new Promise((done) => setTimeout(() => done(true), 500))")
    assert browser.state("step") == "0"


def test_narrow_window_shows_next_button_and_both_views(browser, pages):
    browser.media(prefers_reduced_motion="reduce")
    try:
        for width, height in ((390, 844), (800, 900)):
            browser.resize(width, height)
            opened(browser, pages["explain"])
            tops, find = (
                set(),
                "(() => { const b = document.querySelector('{}').getBoundingClientRect(); return b.{}; })()",
            )
            for _ in range(6):
                tops.add(browser.evaluate(find.replace("{}", "#next", 1).replace("{}", "top")))
                browser.click("#next")
            assert len(tops) == 1
            assert tops.pop() < height
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            assert browser.evaluate(find.replace("{}", "#right", 1).replace("{}", "top")) < 0.7 * height
    finally:
        browser.resize(1100, 900)
        browser.media()


def test_link_restores_camera_dragged_pose_and_switch(browser, pages):
    browser.media(prefers_reduced_motion="reduce")
    opened(browser, pages["explain"], "#step=3")
    assert "look" not in link(browser)[0]
    browser.click("#region")
    browser.drag(middle_of_b(browser), np.add(middle_of_b(browser), (40, -20)))
    x, y = browser.evaluate("(({ x, y }) => [x, y])(document.querySelector('#left').getBoundingClientRect())")
    browser.drag((x + 20, y + 60), (x + 120, y + 90))
    for _ in range(3):
        browser._ask("Input.dispatchMouseEvent", type="mouseWheel", x=x + 20, y=y + 60, deltaX=0, deltaY=-120)
    browser.settle()
    fields, shift = link(browser)
    assert fields["region"] == "0"
    assert np.linalg.norm(shift) > 0.05
    seen, address = [browser.picture(view) for view in ("#left", "#right")], browser.evaluate("location.hash")
    opened(browser, pages["explain"], address)
    browser.settle()
    assert not browser.evaluate("document.querySelector('#region').checked")
    again = [browser.picture(view) for view in ("#left", "#right")]
    assert all(np.abs(a - b).mean() < 0.5 for a, b in zip(seen, again, strict=True))
    looks = [[float(x) for x in row["look"].split("%2C")] for row in (fields, link(browser)[0])]
    np.testing.assert_allclose(*looks, atol=1e-3)
    browser.click("#reset")
    browser.settle()
    assert "look" not in link(browser)[0]
    browser.media()


def test_arrow_is_seen_from_side_and_faces_are_animated(browser, pages, tmp_path):
    result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose(2, 0.1, 0.1))
    page = viz.explain(result, view=(1, 0.02, 0.02)).save(tmp_path / "along.html")
    opened(browser, page)
    browser.evaluate(
        "window.seen = []; (function look() { seen.push(document.documentElement.dataset.flight);"
        " if (seen.length < 60) requestAnimationFrame(look); })()"
    )
    before = browser.picture("#right")
    browser.key("ArrowRight")
    browser.wait("window.seen.length >= 20")
    browser.settle()
    assert "moving" in browser.evaluate("window.seen")
    assert np.abs(browser.picture("#right") - before).mean() > 1
    blue = browser.picture("#left").astype(int)
    arrow = (blue[..., 2] > blue[..., 0] + 80) & (blue[..., 2] > 120)
    assert np.ptp(np.nonzero(arrow)[1]) > 30  # the arrow is seen from the side


def test_pictures_of_pages_are_not_empty(browser, pages):
    for kind in KINDS:
        opened(browser, pages[kind])
        image = np.asarray(Image.open(io.BytesIO(base64.b64decode(browser._ask("Page.captureScreenshot")["data"]))))
        assert image.std() > 10


def test_bodies_are_drawn_above_controls(browser, pages):
    browser.resize(1100, 460)
    opened(browser, pages["drawing"])
    assert browser.evaluate("document.querySelector('h1').textContent") == "ball, box"
    foot = int(browser.evaluate("document.querySelector('#foot').getBoundingClientRect().top"))
    image = np.asarray(browser.screenshot().convert("RGB")).astype(int)
    green = image[..., 1] > image[..., 0] + 60
    assert green[:foot, 400:].sum() > 5000
    assert green[foot:, 400:].sum() == 0
    browser.resize(1100, 900)
