"""The browser of the tests of lesson pages. Tests of other pages use another window size."""

import pytest
from browser import Browser, program


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if program() is None:
        pytest.fail("these tests look at pages in Chromium, which is not on PATH: apt-get install chromium")
    opened = Browser(tmp_path_factory.mktemp("profile"), (1280, 900))
    opened.media(prefers_reduced_motion="reduce")
    yield opened
    opened.close()
