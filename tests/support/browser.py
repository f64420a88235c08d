"""Chromium without a window, with its own driver, and the page of a seat of a live game.

A test is skipped without Chromium or its driver.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "Chromium and its driver are not installed: pages are not tested in a browser"
TEXT = "return document.getElementById(arguments[0]).textContent"
ENABLED = (
    "[...document.querySelectorAll('button, a')].filter("
    "(one) => one.offsetParent && !one.disabled && one.matches(arguments[0]))"
)
CHOICES = "#table button[data-choice]"
RUNNING = "return document.getAnimations().length"


@contextmanager
def browser() -> Iterator[Any]:
    """Context manager: start Chromium and yield its driver; skip the test if it is missing."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip(MISSING)
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    options.add_argument("--headless=new")
    options.add_argument("--hide-scrollbars")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium has no sandbox for the superuser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    started = webdriver.Chrome(options=options, service=service)
    try:
        yield started
    finally:
        started.quit()


def screen(driver: Any, width: int, height: int, *, dark: bool = False) -> None:
    """Set the size of the window and the theme."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})


def complaints(driver: Any) -> list[str]:
    """Messages of the browser's console since the last call."""
    return [entry["message"] for entry in driver.get_log("browser")]


def requests(driver: Any) -> list[str]:
    """Addresses of the requests since the last call."""
    messages = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


def accessible_nodes(driver: Any) -> list[tuple[str, str]]:
    """Role and name of every node of the page that a screen reader visits."""
    nodes = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    visited = [node for node in nodes if not node.get("ignored")]
    return [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in visited
        if "role" in node
    ]


class Page:
    """The page of a seat in its own browser."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, link, name=None):
        """Open a link; join if the page asks, with "" leave the form open."""
        name = link[-6:] if name is None else name
        self.driver.get("about:blank")
        self.driver.get(link)
        self.wait(lambda: self.text("words") != "Loading the game.")
        if name and self.enabled("#join button"):
            self.join(name)

    def join(self, name):
        """Give a name in the form, and wait for the table."""
        self.driver.find_element("id", "name").send_keys(name)
        self.click("#join button")
        self.wait(lambda: not self.enabled("#join button"))

    def wait(self, condition):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 600, poll_frequency=0.02).until(lambda _: condition())

    def text(self, name):
        return self.driver.execute_script(TEXT, name)

    def enabled(self, selector):
        """The number of visible buttons and links that are not disabled."""
        return self.driver.execute_script(f"return {ENABLED}.length", selector)

    def click(self, selector):
        """Click the first enabled element by script, for the page may redraw it at any time."""
        self.driver.execute_script(f"({ENABLED})[0].click()", selector)

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def settle(self):
        """Wait for the end of motions."""
        self.wait(lambda: not self.driver.execute_script(RUNNING))

    def shows(self, table, seat=0):
        """Whether the page shows the current state of the game."""
        state = table.state(seat)
        view = state["view"]
        return self.text("words") == view["words"] and f"hand {view['hand']}" in self.text("score")

    def has_a_choice(self, table):
        """Wait for a choice or the next hand; return False when the game is over."""

        def ready():
            if table.state(0)["over"]:
                return self.enabled("#new")
            return self.shows(table) and self.enabled(f"{CHOICES}, #next")

        self.wait(ready)
        return not table.state(0)["over"]
