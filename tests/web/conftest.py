"""Fixtures of the tests in browsers."""

import pytest
from support.browser import browser


@pytest.fixture(scope="module")
def drivers():
    """Two browsers, as long as the tests of a module run."""
    with browser() as one, browser() as other:
        yield one, other
