"""Names of the layout's blocks, entries and cards; each name describes its entry's value."""

import numpy as np
import pytest
from support.playthroughs import VARIANTS, Chooser, plies

import bideuchre_env
from bideuchre_env.core.observation.layout import SEATS, layout_of
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import CARD_NAMES

every_variant = pytest.mark.parametrize("name", VARIANTS)


@every_variant
def test_every_entry_has_a_name(name):
    """Names are unique, in order, printable and short, and begin with the block's name."""
    layout = layout_of(bideuchre_env.variants[name].rules)
    assert len(layout.names) == len(set(layout.names)) == layout.size
    for block in layout.blocks:
        names = layout.names[layout[block.name]]
        assert names == block.entries
        assert all(each == block.name or each.startswith(block.name + " ") for each in names)
        assert np.prod(block.shape) == len(names)
    assert all(each == " ".join(each.split()) and len(each) < 40 for each in layout.names)
    assert layout.cards == CARD_NAMES[: layout.rules.kinds]
    assert layout.names[layout["hand"]] == tuple(f"hand {card}" for card in layout.cards)


@every_variant
def test_nonzero_entries_have_the_names_of_the_decoded_words(name):
    env = bideuchre_env.variants[name].raw_env()
    env.reset(seed=21)
    layout = env.observation_layout
    names, cards_named = np.array(layout.names), 0
    for _ in plies(env, Chooser(4), 150):
        seen = env.last()[0]["observation"]
        words = layout.decode(seen)
        nonzero = set(names[seen != 0])
        assert {f"hand {card}" for card in words["hand"]} == {
            n for n in nonzero if n[:5] == "hand "
        }
        for block in ("to_act", "dealer", "declarer", "winning", "phase", "strain", "led"):
            at = {n.split()[1] for n in nonzero if n.startswith(block + " ")}
            word = words[block]
            assert at == (set() if word is None else {SEATS[word] if word in range(4) else word})
        for seat, call, tricks in zip(SEATS, words["calls"], words["played"], strict=True):
            calls = [n for n in nonzero if n.startswith(f"calls {seat} ")]
            assert len(calls) == (call is not None)
            assert not calls or call.startswith(calls[0].removeprefix(f"calls {seat} "))
            cards = sorted(n.split()[-1] for n in nonzero if n.startswith(f"played {seat} "))
            assert cards == sorted(card for card in tricks if card is not None)
            cards_named += len(cards)
    assert cards_named


def test_unknown_block_is_refused():
    layout = layout_of(bideuchre_env.cincinnati_v0.rules)
    assert layout["hand"] == layout.slices["hand"] == slice(0, 24)
    assert "hand" in layout
    for wrong in ("hands", "passed", None):
        assert wrong not in layout
        with pytest.raises(OptionError, match=r"no block .*: hand, phase, to_act"):
            layout[wrong]
    assert "passed" in layout_of(bideuchre_env.barrie_v0.rules)
