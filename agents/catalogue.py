"""What there is to say of an agent: a sentence, its options, and what a decision of it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import getdoc
from typing import Any

from bideuchre_env.agents.learned.shipped import provenance
from bideuchre_env.agents.making import options_of
from bideuchre_env.agents.naming import find, kinds_of, split
from bideuchre_env.agents.registry import BUILT_IN
from bideuchre_env.learning.weights import read_weights

SENTENCES = {
    "random": "Plays any legal action, all equally likely.",
    "cautious": "Passes nine times in ten, else bids as low as it can; plays any legal card.",
    "rule": "Bids what its hand is worth, plays by good players' maxims, counts cards.",
    "expert": "Knows every hand's worth, calls by a network, searches the last tricks.",
    "ppo": "Two networks that trained themselves from nothing, by self-play.",
    "net": "The expert's calls and the rule player's cards, put right by self-play.",
    "pimc": "Tries the expert's choices in sampled deals that fit what it has seen.",
    "inference": "Like pimc, and prefers the deals that explain what the others did.",
}
MILLISECONDS = {
    "random": 0.0003,
    "cautious": 0.0003,
    "rule": 0.001,
    "expert": 0.11,
    "ppo": 0.005,
    "net": 0.005,
    "pimc": 1.5,
    "inference": 6.6,
}
"""A decision's processor time on Cincinnati: see the tables in `experiments/README.md`."""
_SEARCHED = {
    "worlds": "deals that a card is tried in",
    "played_out": "deals that a call, a strain or an exchange is tried in, at most",
    "considered": "deals weighed for each deal that is tried; 0 weighs none",
    "solved": "tricks left that the solver finishes",
    "milliseconds": "about the time that a decision may take",
    "net_cards": "true: begins with the cards of agent net, which plays the deals that cards are "
    "tried in; by default inference does, not pimc",
}
_GOAL = {"goal": "points or game; by default what is played for"}
_WEIGHTS = {"weights": "a file of weights; by default the package's own"}
MEANINGS: dict[str, dict[str, str]] = {
    "rule": {"boldness": "tricks by which it overrates its hands in the auction; timid below 0"},
    "expert": {
        "margin": "points a card must gain by search over the rule player's",
        "standard_errors": "standard errors by which that gain must exceed 0 too",
        "lean": "how much likelier a suit's bidder holds its cards, in quarters",
        **_GOAL,
    },
    "ppo": _WEIGHTS,
    "net": {
        **_WEIGHTS,
        "search": "true: the last tricks are searched, too, as the expert does",
        "margin": "points a card must be better than the rule player's",
        "veto": "points by which a card that is searched may look worse",
        **_GOAL,
    },
    "pimc": _SEARCHED | _GOAL,
    "inference": _SEARCHED | _GOAL,
}


@dataclass(frozen=True)
class Option:
    """An option that can stand behind an agent's name; `required` ones have no default."""

    name: str
    default: Any
    required: bool
    meaning: str


@dataclass(frozen=True)
class Description:
    """An agent as `bideuchre agents` shows it; `milliseconds` a decision where it was measured.

    `weights` is what the files of its weights say of themselves, by variant, or by the path of one.
    """

    name: str
    sentence: str
    options: tuple[Option, ...]
    milliseconds: float | None
    weights: dict[str, dict[str, str]] = field(default_factory=dict)


def describe(name: str) -> Description:
    """What there is to say of an agent, by its name; of its options, `weights` alone matters.

    Of one that is not the package's own: the first line of its docstring, and no option's meaning.
    Raises `OptionError` for what is no agent's name, or cannot be imported, and `WeightsError` for
    a file of weights that cannot be read.
    """
    own, written = split(name)
    found = find(own)
    meanings = MEANINGS.get(own, {})
    options = tuple(
        Option(
            key,
            None if each.default is each.empty else each.default,
            each.default is each.empty,
            meanings.get(key, ""),
        )
        for key, each in (options_of(found) if callable(found) else {}).items()
        if key != "**" and kinds_of(each)
    )
    sentence = SENTENCES.get(own) or (getdoc(found) or "").partition("\n")[0]
    if own not in BUILT_IN:
        return Description(own, sentence, options, None)
    file = written.get("weights") if any(each.name == "weights" for each in options) else None
    weights = {file: dict(read_weights(file).metadata)} if file else provenance(own)
    return Description(own, sentence, options, MILLISECONDS.get(own), weights)
