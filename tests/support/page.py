"""The page of a seat of a live game, in a browser."""

from __future__ import annotations

TEXT = "return document.getElementById(arguments[0]).textContent"
ENABLED = (
    "[...document.querySelectorAll('button, a')].filter("
    "(one) => one.offsetParent && !one.disabled && one.matches(arguments[0]))"
)
CHOICES = "#table button[data-choice]"
RUNNING = "return document.getAnimations().length"


class Page:
    """The page of a seat in its own browser."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, link):
        self.driver.get("about:blank")
        self.driver.get(link)
        self.wait(lambda: self.text("words") != "Loading the game.")

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
