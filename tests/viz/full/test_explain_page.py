import html
import json
import re

import numpy as np
import pytest
from browser import Browser, program
from example_results import pose
from page_state import set_input, text
from test_page import Page

import gjk3d as gk

EVIL = "<script>alert(1)</script>"


def boxes():
    return gk.signed_distance(
        gk.Box((2, 1.4, 1.2)), gk.Box((1, 1, 1)), None, pose(0.7, 0.3, 0.2, (0.4, 0.3, 0.5)), depth="epa", trace=True
    )


@pytest.fixture(scope="module")
def explanation():
    return gk.viz.explain(boxes())


@pytest.fixture(scope="module")
def page(explanation, tmp_path_factory):
    return explanation.save(tmp_path_factory.mktemp("page") / "boxes.html", names=("crate", EVIL))


@pytest.fixture(scope="module")
def browser(page, tmp_path_factory):
    if program() is None:
        pytest.fail("these tests look at the page in Chromium, which is not on PATH: apt-get install chromium")
    opened = Browser(tmp_path_factory.mktemp("profile"), (1100, 900))
    opened.open(page)
    yield opened
    opened.close()


def test_page_contains_every_sentence_without_scripts(page, explanation):
    words = html.unescape(re.sub(r"<[^>]+>", "", page.read_text().split('<ol id="all">')[1].split("</ol>")[0]))
    assert len(explanation.steps) > 3
    for step in explanation.steps:
        assert f"{step.title}. {step.sentence}" in words


def test_page_contains_the_trace(page, explanation):
    scene = Page(page).scene
    assert len(scene["steps"]) == len(explanation.steps)
    for shown, step in zip(scene["steps"][1:], explanation.steps[1:], strict=True):
        assert (shown["lower"], shown["upper"], shown["sentence"]) == (step.lower, step.upper, step.sentence)
    for shown, step in zip(scene["steps"], explanation.steps, strict=True):
        assert shown["point_name"] == step.point_name
        if step.point is not None:
            np.testing.assert_array_equal(shown["point"], step.point)
        center = np.array(shown.get("support_a", [0, 0, 0])) - (step.support_a if step.support_a is not None else 0)
        np.testing.assert_allclose(center, 0, atol=1e-12)  # the page has the centre of A at the origin


def test_page_is_self_contained_and_escapes_names(page):
    parsed = Page(page)
    assert EVIL not in parsed.source
    assert parsed.text.count(EVIL) == 2  # as text: title and name
    assert len(parsed.scripts) == 3
    for tag, attributes in parsed.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not set(attributes) & {"src", "href", "action", "srcset", "style"}
    policy = next(a["content"] for _, a in parsed.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert page.stat().st_size < 1_500_000


# --- in a browser ----------------------------------------------------------------------------------------------------


def box(browser, selector):
    find = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
    return browser.evaluate(f"(() => {{ const b = {find}; return [b.x, b.y, b.width, b.height]; }})()")


def vermilion(pixels):
    return int(((pixels - (213, 94, 0)).__abs__().max(axis=-1) < 40).sum())


def test_keys_move_between_steps(browser, explanation):
    browser.key("Home")
    for index, step in enumerate(explanation.steps):
        assert browser.state("step") == str(index)
        assert text(browser, "#title") == step.title
        assert text(browser, "#sentence") == step.sentence
        assert text(browser, "#count") == f"{index + 1} of {len(explanation.steps)}"
        browser.key("ArrowRight")
    assert browser.state("step") == str(len(explanation.steps) - 1)
    browser.key("ArrowLeft")
    assert text(browser, "#title") == explanation.steps[-2].title
    browser.key("Home")
    browser.key("ArrowLeft")
    assert browser.state("step") == "0"
    browser.key("End")
    assert browser.evaluate("document.querySelector('#next').disabled")


def test_buttons_slider_and_curve_move_between_steps(browser, explanation):
    browser.key("Home")
    browser.click("#next")
    browser.click("#next")
    browser.click("#back")
    assert browser.state("step") == "1"
    set_input(browser, "#slide", 7)
    assert text(browser, "#title") == explanation.steps[7].title
    left, top, width, _ = box(browser, "#curve svg")
    browser.click_at(left + 70 + (width - 90) * 3.5 / len(explanation.steps), top + 60)
    assert browser.state("step") == "3"
    browser.click("#play")
    assert text(browser, "#play") == "pause"
    browser.click("#play")
    assert text(browser, "#play") == "play"
    assert browser.complaints == []


def test_steps_draw_their_points_and_nearest_face(browser, explanation):
    for index in (1, len(explanation.steps) - 2):
        browser.evaluate(f"document.querySelector('#slide').value = {index}")
        browser.evaluate("document.querySelector('#slide').dispatchEvent(new Event('input'))")
        browser.settle()
        left, right = browser.picture("#left"), browser.picture("#right")
        assert left.std() > 15
        assert right.std() > 15
        assert vermilion(left) > 100  # the support points
        assert vermilion(right) > 50  # the new point
        step = explanation.steps[index]
        yellow = ((np.abs(right - (240, 228, 66))).max(axis=-1) < 40).sum()
        assert (yellow > 100) == (step.phase == "EPA")
        names = browser.evaluate("[...document.querySelectorAll('#right .label')].map((node) => node.textContent)")
        assert {"origin", step.point_name} <= set(names)


def test_both_views_turn_together_and_reset(browser):
    browser.key("Home")
    browser.click("#reset")  # earlier steps have turned the view
    browser.settle()
    before = [browser.picture(view) for view in ("#left", "#right")]
    x, y, _, _ = box(browser, "#left")
    browser.drag(*((x + 20 + dx, y + 60 + dx / 2) for dx in (0, 40, 120)))  # next to both shapes
    turned = [browser.picture(view) for view in ("#left", "#right")]
    assert all(np.abs(a - b).mean() > 1 for a, b in zip(before, turned, strict=True))
    browser.click("#reset")
    browser.settle()
    again = [browser.picture(view) for view in ("#left", "#right")]
    assert all(np.abs(a - b).mean() < 0.5 for a, b in zip(before, again, strict=True))


def test_page_adapts_to_dark_mode_and_narrow_window(browser):
    browser.media(prefers_color_scheme="dark")
    browser.resize(600, 900)
    browser.settle()
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(27, 29, 32)"
    assert browser.evaluate("document.documentElement.scrollWidth") <= 600
    assert browser.picture("#left").std() > 15
    browser.media(prefers_color_scheme="light")
    browser.resize(1100, 900)
    browser.settle()


def test_page_logs_no_error_and_requests_nothing(browser, page):
    assert browser.complaints == []
    assert [url for url in browser.requests if url != page.as_uri()] == []


def test_page_without_webgl_has_text_of_steps(page, tmp_path, explanation):
    plain = Browser(tmp_path, options=("--disable-3d-apis",))
    try:
        plain.open(page)
        assert plain.state("state") == "no-webgl"
        plain.key("ArrowRight")
        assert text(plain, "#sentence") == explanation.steps[1].sentence
    finally:
        plain.close()
