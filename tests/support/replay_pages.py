"""A replay in a browser: opened, stepped through by keys and clicks, and read."""

from __future__ import annotations

from support.browser import screen

# What is seen of the table: the cards of each seat, those in the middle, the words, the score.
LOOK = """
const cards = (part) => [...part.querySelectorAll(".card")].map((card) => card.dataset.card);
window.look = () => ({
  hands: [0, 1, 2, 3].map((seat) => {
    const part = document.querySelector(`.seat[data-seat="${seat}"]`);
    const backs = part.querySelectorAll(".back").length;
    return part.querySelector("ul.hand") ? cards(part.querySelector(".hand")) : backs;
  }),
  pale: cards(document.getElementById("table")).length
    && [...document.querySelectorAll(".hand .card.pale")].map((card) => card.dataset.card),
  middle: Object.fromEntries([...document.querySelectorAll(".at")].map(
    (at) => [at.className.slice(3), cards(at)[0]])),
  words: document.getElementById("words").textContent,
  score: [...document.querySelectorAll("#score tbody tr")].map(
    (row) => [...row.children].map((cell) => cell.textContent)),
  place: [document.getElementById("hand").value, document.getElementById("slider").value],
  last: !document.getElementById("summary").hidden,
});
"""
KEY = """
const press = (key) => document.body.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
"""


def opener(driver, path):
    """A function that opens HTML as this file, in a window of some size; it gives the driver."""

    def opened(text, place="", width=1280, height=900, scripted=True, **more):
        path.write_text(text, encoding="utf-8")
        driver.get("about:blank")
        screen(driver, width, height, **more)
        driver.get(path.as_uri() + place)
        if scripted:
            driver.execute_script(LOOK)
        return driver

    return opened


def presses(driver, *keys):
    """Real keys, one after another."""
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(driver, duration=0).send_keys(*keys).perform()


def clicks(driver, step, times=1):
    """Real clicks on a button that steps."""
    from selenium.webdriver.common.action_chains import ActionChains

    chain = ActionChains(driver, duration=0).move_to_element(find(driver, f"[data-step={step}]"))
    for _ in range(times):
        chain.click()
    chain.perform()


def find(driver, selector):
    """The one element that is meant."""
    [found] = driver.find_elements("css selector", selector)
    return found


def written(driver, place):
    """Wait until the address says where one is."""
    from selenium.webdriver.support.wait import WebDriverWait

    said = "return location.hash"
    WebDriverWait(driver, 20).until(lambda driver: driver.execute_script(said) == place)


def seen(driver):
    """What is to be seen now."""
    return driver.execute_script("return look()")
