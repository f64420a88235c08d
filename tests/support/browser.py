"""Chromium without a window, with its own driver; the test is skipped without them."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "Chromium and its driver are not installed: pages are not tested in a browser"


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
