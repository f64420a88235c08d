"""Chromium for the tests of pages, one for a file of tests; each finds nothing wrong in the end."""

import pytest
from support.browser import browser, complaints, requests
from support.replay_pages import opener


@pytest.fixture(scope="module")
def chromium():
    with browser() as driver:
        yield driver


@pytest.fixture
def page(chromium, tmp_path):
    """Opens HTML as a file, at a place in it; nothing is complained of, nothing is asked for."""
    complaints(chromium), requests(chromium)
    yield opener(chromium, tmp_path / "page.html")
    assert complaints(chromium) == []
    assert all(url.startswith(("file://", "about:", "data:")) for url in requests(chromium))
