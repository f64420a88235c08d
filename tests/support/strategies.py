"""Any valid `Rules`, at random or for Hypothesis, seeds, and tests that run in two sizes."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bideuchre_env import Bid, Rules
from bideuchre_env.rules.options import CHOICES

TRICKS = {("9", 1): 6, ("9", 2): 12, ("10", 1): 5, ("10", 2): 10, ("J", 1): 4, ("J", 2): 8}
NAMES = ("moon", "call-1", "call-2", "call-3", "double moon", "shoot", "solo x2")
LONGER = 20  # how many times more examples a long test takes


def seeds() -> st.SearchStrategy[int]:
    """Any seed an environment takes."""
    return st.integers(0, 2**128 - 1)


def random_lone(rng: random.Random, name: str) -> Bid:
    """Any valid bid for all tricks, alone or with partner."""
    partner, value = rng.random() < 0.25, rng.choice((rng.randint(1, 60), 10**6))
    exchange = 0 if partner else rng.randint(0, 3)
    lost = rng.choice((None, rng.randint(1, 60)))
    return Bid(name, value=value, exchange=exchange, partner=partner, lost=lost)


def random_rules(rng: random.Random) -> Rules:
    """Any valid rules: 16 to 48 cards, every ladder, every combination of options, short games."""
    ranks, copies = rng.choice(sorted(TRICKS))
    tricks = TRICKS[ranks, copies]
    kitty = 4 if tricks > 5 and rng.random() < 0.3 else 0
    tricks -= kitty // 4
    lone = tuple(random_lone(rng, name) for name in rng.sample(NAMES, rng.randint(0, 4)))
    chosen: dict[str, Any] = {
        name: rng.choice(words) for name, words in CHOICES.items() if name != "ranks"
    }
    if len(lone) < 2 or any(bid.exchange for bid in lone):
        chosen["moon_ladder"] = "jump"
    if not any(bid.alone for bid in lone) and chosen["dealer_may_equal"] == "lone":
        chosen["dealer_may_equal"] = "never"
    if not any(bid.exchange for bid in lone):
        chosen["exchange_seen"] = "blind"
    if chosen["win_rule"] != "any":
        chosen["both_over"] = "declarer"
    rounds = rng.randint(1, 2) if chosen["win_rule"] == "rounds" else None
    low = rng.randint(1, tricks)
    partnered = None if lone and rng.randint(0, 1) else (low, rng.randint(low, tricks))
    if not lone or partnered is None:
        chosen["strain_named"] = rng.choice(("in_bid", "after_auction"))
    if chosen["auction"] != "once":
        chosen["dealer_may_equal"] = "never"
    if chosen["no_trump"] != "none" and rng.randint(0, 1):
        chosen["no_trump_from"] = rng.randint(1, tricks + 1)
    if partnered is None:
        chosen["made_scores"] = "tricks"
    elif rng.randint(0, 1):
        chosen["made_bonus"] = rng.randint(0, 12)
    if rng.randint(0, 1):
        chosen["floor"] = -rng.choice((rng.randint(1, 30), 10**15))
    target = None if rounds else rng.choice((rng.randint(1, 60), 10**15))
    hands = 4 * (rounds or 0) + rng.randint(1, 3)
    return Rules(
        ranks=ranks, copies=copies, kitty=kitty, partnered=partnered, lone=lone, rounds=rounds,
        target=target, max_hands=hands, **chosen,
    )  # fmt: skip


def rules() -> st.SearchStrategy[Rules]:
    return st.randoms(use_true_random=False).map(random_rules)


def in_two_sizes(examples: int, **given_by: Any) -> Callable[[Any], Any]:
    """Decorator: test a property with `examples`, and in a long test `LONGER` times as many."""

    def declare(check: Callable[..., None]) -> Callable[[int], None]:
        sizes = [
            pytest.param(examples, id="short"),
            pytest.param(examples * LONGER, id="long", marks=pytest.mark.long),
        ]

        @pytest.mark.parametrize("size", sizes)
        def test(size: int) -> None:
            settings(max_examples=size)(given(**given_by)(check))()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return declare
