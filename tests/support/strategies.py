"""Hypothesis strategies: any valid `Rules`, seeds, and tests that run in two sizes."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bideuchre_env import Bid, Rules

TRICKS = {("9", 1): 6, ("9", 2): 12, ("10", 1): 5, ("10", 2): 10, ("J", 1): 4, ("J", 2): 8}
NAMES = ("moon", "call-1", "call-2", "call-3", "double moon", "shoot", "solo x2")
LONGER = 20  # how many times more examples a slow run takes


def seeds() -> st.SearchStrategy[int]:
    """Any seed an environment takes."""
    return st.integers(0, 2**128 - 1)


@st.composite
def lone_bids(draw: st.DrawFn) -> tuple[Bid, ...]:
    """Up to four bids alone, with any exchange; values need not rise."""
    names = draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True))
    values = st.one_of(st.integers(1, 60), st.just(10**6))
    return tuple(Bid(name, value=draw(values), exchange=draw(st.integers(0, 3))) for name in names)


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    """Any valid rules: 16 to 48 cards, every ladder, every combination of options, short games."""
    ranks, copies = draw(st.sampled_from(sorted(TRICKS)))
    lone = draw(lone_bids())
    tricks = TRICKS[ranks, copies]
    low = draw(st.integers(1, tricks))
    partnered = (low, draw(st.integers(low, tricks)))
    ladders = [partnered, None] if lone else [partnered]
    may_step = len(lone) >= 2 and not any(bid.exchange for bid in lone)
    win_rule = draw(st.sampled_from(["any", "made_bid", "made_or_set", "rounds"]))
    rounds = draw(st.integers(1, 2)) if win_rule == "rounds" else None
    return Rules(
        ranks=ranks,
        copies=copies,
        partnered=draw(st.sampled_from(ladders)),
        lone=lone,
        strain_named=draw(st.sampled_from(["in_bid", "after_auction"])),
        moon_ladder=draw(st.sampled_from(["jump", "step"] if may_step else ["jump"])),
        all_pass=draw(
            st.sampled_from(["dealer_forced", "redeal_next", "redeal_same", "eldest_forced"])
        ),
        opening_lead=draw(st.sampled_from(["eldest", "declarer"])),
        dealer_may_equal=draw(st.sampled_from(["never", "lone"] if lone else ["never"])),
        win_rule=win_rule,
        both_over=draw(
            st.sampled_from(["declarer", "highest", "continue"])
            if win_rule == "any"
            else st.just("declarer")
        ),
        target=None if rounds else draw(st.one_of(st.integers(1, 60), st.just(10**15))),
        rounds=rounds,
        max_hands=draw(st.integers(4 * (rounds or 0) + 1, 4 * (rounds or 0) + 3)),
    )


def in_two_sizes(examples: int, **given_by: Any) -> Callable[[Any], Any]:
    """Decorator: test a property with `examples`, and in a slow test `LONGER` times as many."""

    def declare(check: Callable[..., None]) -> Callable[[int], None]:
        sizes = [
            pytest.param(examples, id="short"),
            pytest.param(examples * LONGER, id="long", marks=pytest.mark.slow),
        ]

        @pytest.mark.parametrize("size", sizes)
        def test(size: int) -> None:
            settings(max_examples=size)(given(**given_by)(check))()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return declare
