"""The picture of a hand: it shows what one seat sees, and nothing else."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.state import Phase
from bideuchre_env.errors import OptionError
from bideuchre_env.records.marks import DARK, LIGHT
from bideuchre_env.records.svg import table_svg
from bideuchre_env.rules.cards import CARD_NAMES, MAX_TRICKS, hand_names

SVG = "{http://www.w3.org/2000/svg}"


def cards(svg):
    """The faces shown: rank and suit, and whether the card stands out."""
    root = ElementTree.fromstring(svg)
    shown = []
    for group in root.iter(f"{SVG}g"):
        rank = group.find(f"{SVG}text").text.replace("10", "T")
        marked = group.find(f"{SVG}rect").get("stroke-width") != "1"
        shown.append((rank + group.find(f"{SVG}use").get("href")[1:], marked))
    return shown


def on_the_table(row, viewer):
    """The cards that lie there: the trick's, before it the last one's, in an exchange one's own."""
    if row["phase"] in (Phase.GIVING, Phase.PASSING):
        own = {int(row["declarer"]): "given", int(row["declarer"] + 2) % 4: "passed"}.get(viewer)
        return [CARD_NAMES[kind] for kind in row[own] if kind >= 0] if own else []
    trick = int(row["trick"]) - (row["phase"] > Phase.PLAY or row["winning"] < 0)
    if row["phase"] < Phase.PLAY or trick < 0:
        return []
    return [CARD_NAMES[kind] for kind in row["plays"][trick::MAX_TRICKS] if kind >= 0]


def positions(variant, seed):
    """Positions of a random game's first hand, with the environment."""
    env = bideuchre_env.variants[variant].raw_env(episode="hand")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while env.agents and not env.terminations[env.agent_selection]:
        yield env
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
    yield env


@pytest.mark.parametrize("variant", list(bideuchre_env.variants))
def test_it_shows_what_the_seat_sees_and_marks_what_it_may_play(variant):
    """Faces are the viewer's cards and those of the trick, or the last; raised are the legal."""
    rules = bideuchre_env.variants[variant].rules
    for env in positions(variant, seed=5):
        row = env.get_state()[0]
        for viewer in range(4):
            shown = cards(table_svg(row, rules, viewer=viewer))
            held = hand_names(int(row["hands"][viewer]))
            in_play = [name for name, _ in shown][: len(shown) - len(held)]
            assert sorted(name for name, _ in shown[len(in_play) :]) == sorted(held)
            assert sorted(in_play) == sorted(on_the_table(row, viewer))
            raised = {name for name, marked in shown[len(in_play) :] if marked}
            choosing = Phase.NAMING < row["phase"] <= Phase.PLAY and row["turn"] == viewer
            assert raised == (set(legal_names(row, rules)) if choosing else set())


def test_hidden_cards_change_nothing():
    """A deal that the viewer cannot tell apart gives the same picture."""
    rng = np.random.default_rng(3)
    rules = bideuchre_env.barrie_v0.rules
    for env in positions("barrie_v0", seed=8):
        if not env.agents or env.terminations[env.agent_selection]:
            continue
        seat = int(env.agent_selection[-1])
        world = env.resample_hidden(seat=seat, rng=rng)
        pictures = [table_svg(e.get_state()[0], rules, viewer=seat) for e in (env, world)]
        assert pictures[0] == pictures[1]


def test_names_are_escaped_and_both_themes_are_used():
    """Whatever an agent is called, the document is XML; each theme has its own ink."""
    env = bideuchre_env.cincinnati_v0.raw_env()
    env.reset(seed=1)
    row, rules = env.get_state()[0], bideuchre_env.cincinnati_v0.rules
    for dark, theme in ((False, LIGHT), (True, DARK)):
        svg = table_svg(row, rules, agents=["<b>", "a&b", '"', "x"], dark=dark)
        ElementTree.fromstring(svg)
        assert "&lt;b&gt;" in svg
        assert theme["ink"] in svg
    for wrong in (4, -1, None, "0", True):
        with pytest.raises(OptionError, match="a seat from 0 to 3"):
            table_svg(row, rules, viewer=wrong)


def test_the_readmes_picture_is_the_one_the_script_draws(tmp_path):
    """Committed and drawn now are the same; it says what it should."""
    with loaded("experiments", "figures") as (script,):
        assert script.main(["hand", "--out", str(tmp_path)]) == 0
    for name in ("hand-light.svg", "hand-dark.svg"):
        text = (ROOT / ".github" / "pictures" / name).read_text(encoding="utf-8")
        assert (tmp_path / name).read_text(encoding="utf-8") == text
        assert re.search("<title>4 in diamonds by you · trick 2 of 6", text)
        assert "The jack of hearts, the left bower, is one of the diamonds." in text
