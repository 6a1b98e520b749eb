"""Read and set what a page shows and stores: its texts, its controls, and the values of its address."""

import json

import numpy as np


def text(browser, selector):
    return browser.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")


def texts(browser, selector):
    return browser.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((node) => node.textContent)")


def set_input(browser, selector, value):
    """Set the value of a slider, a list or a field, and send its input event."""
    browser.evaluate(
        f"(() => {{ const input = document.querySelector({json.dumps(selector)}); input.value = {json.dumps(value)};"
        " input.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )


def choose(browser, name):
    """Select the topic of a lesson."""
    set_input(browser, "#preset", name)
    browser.settle()


def press_shift(browser, key):
    browser.evaluate(
        f"document.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', shiftKey: true, bubbles: true }}))"
    )


def state(browser):
    """Return the values of the address."""
    browser.wait("document.documentElement.dataset.address === 'kept'")
    return browser.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")


def assert_address_restores(browser, page):
    """Assert that the address of a lesson restores its state and its view, and return the state."""
    values, view, sentence = state(browser), browser.picture("#left"), text(browser, "#sentence")
    browser.open_anew(page, browser.evaluate("location.hash"))
    assert text(browser, "#sentence") == sentence
    assert np.abs(browser.picture("#left") - view).mean() < 0.5
    assert {k: v for k, v in state(browser).items() if k != "look"} == {k: v for k, v in values.items() if k != "look"}
    assert browser.complaints == []
    return values
