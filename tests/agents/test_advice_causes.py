"""Causes: the hidden cards that decide whether a contract is made."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bideuchre_env.agents.advice import Advisor
from bideuchre_env.agents.advice.figures import LEAST_CHANCE, cause
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import hand_bits, hand_names, parse_card
from bideuchre_env.rules.variants import RULES

OWN = "JH JD AH KH QS 9C"
HEARTS, SPADES, NO_TRUMP = 2, 3, 4
CAUSE = r"bid of (\w+(?: [CDHSN]T?)?)[^;]* \((\d+|none) if ([^()]+), (\d+|none) if not\)"
JACKS = {"C": "JS", "D": "JH", "H": "JD", "S": "JC"}


def dealt(rules, own, n, seed=0):
    """The four hands of n random deals in which seat 0 holds these cards, int64 (n, 4)."""
    rng, held = np.random.default_rng(seed), [parse_card(name) for name in own.split()]
    deck = [kind for kind in range(rules.kinds) for _ in range(rules.copies)]
    for kind in held:
        deck.remove(kind)
    hands = np.zeros((n, 4), np.int64)
    for i in range(n):
        order, each = rng.permutation(deck).tolist(), rules.tricks
        parts = [order[k * each : (k + 1) * each] for k in range(3)]
        hands[i] = [hand_bits(held), *map(hand_bits, parts)]
    unseen = sum({1 << kind for kind in deck})
    return hands, unseen


def suit(name, trump):
    """The suit of a card by its name; `trump` is a letter or ""."""
    return trump if trump and name == JACKS[trump] else name[1]


def holds(words, names, trump):
    """Whether the hands, lists of names by seat, are as the words of a cause say."""
    who = [names[2]] if words.startswith("partner") else [names[1], names[3]]
    if found := re.search(r"has no (club|diamond|heart|spade)$", words):
        letter = found[1][0].upper()
        return any(all(suit(name, trump) != letter for name in hand) for hand in who)
    if found := re.search(r"has (a|two|three|four) trumps?( or more)?$", words):
        n = ["", "a", "two", "three", "four"].index(found[1])
        return any(sum(suit(name, trump) == trump for name in hand) >= n for hand in who)
    return any(words.split()[2].rstrip(",") in hand for hand in who)


CASES = [
    ("cincinnati_v0", OWN, HEARTS, "partner has AC"),
    ("cincinnati_v0", "JH AS KS QS TS 9C", HEARTS, "partner has no spade"),
    ("cincinnati_v0", OWN, HEARTS, "an opponent has no club"),
    ("cincinnati_v0", "AD KH QS 9C 9D TS", HEARTS, "partner has two trumps or more"),
    ("cincinnati_v0", OWN, NO_TRUMP, "partner has AS"),
    ("barrie_v0", "JS JC AS KS AH AD QS QC", SPADES, "partner has JS, a right bower"),
    ("barrie_v0", "JS JC AS KS AH AD QS QC", SPADES, "an opponent has three trumps or more"),
    ("double_deck_v0", "JS JC AS KS AH AD QS TC 9C 9D 9H TH", SPADES, "partner has JC, a left"
     " bower"),
]  # fmt: skip


@pytest.mark.parametrize(("variant", "own", "strain", "words"), CASES)
def test_the_cause_of_made_contracts_is_found_with_its_figures(variant, own, strain, words):
    """A contract made in 90 of 100 deals with it and in 40 without it."""
    rules = RULES[variant]
    (hands, unseen), t = dealt(rules, own, 1500), compile_tables(rules)[0]
    trump = "CDHS"[strain] if strain < 4 else ""
    names = [[hand_names(int(hand)) for hand in row] for row in hands]
    true = np.array([holds(words, row, trump) for row in names])
    rng, weights = np.random.default_rng(1), np.random.default_rng(2).exponential(size=len(true))
    made = (rng.random(len(true)) < np.where(true, 0.9, 0.4)).astype(float)
    found = cause(made, weights, unseen, strain, hands, t, LEAST_CHANCE)
    assert found.words == words
    for side, figure in ((true, found.true), (~true, found.false)):
        slow = sum(w * y for w, y in zip(weights[side], made[side], strict=True))
        assert figure == pytest.approx(slow / sum(weights[side]))
    assert found.share == pytest.approx(sum(weights[true]) / sum(weights))


def test_chance_and_rare_holdings_are_no_cause():
    """Nor what decides little, in few deals, or in too few deals to be sure."""
    rules = RULES["cincinnati_v0"]
    (hands, unseen), t = dealt(rules, OWN, 1000), compile_tables(rules)[0]
    ace = hands[:, 2] >> parse_card("AC") & 1 == 1
    rng, even = np.random.default_rng(3), np.ones(len(hands))

    def found(values, weights=even):
        return cause(values.astype(float), weights, unseen, HEARTS, hands, t, LEAST_CHANCE)

    for _ in range(20):
        assert found(rng.random(len(hands)) < 0.6) is None
        assert found(rng.random(len(hands)) < np.where(ace, 0.65, 0.5)) is None
    assert found(ace) is not None
    assert found(ace, np.where(ace, 0.1, 1.0)) is None  # 1 deal of 25
    assert found(ace, np.arange(len(hands)) < 12) is None
    assert found(ace, np.zeros(len(hands))) is None


@pytest.mark.parametrize(
    ("variant", "own", "calls"),
    [("cincinnati_v0", OWN, ["pass"]), ("barrie_v0", "JS JS JC AS KS QD QC KH", [])],
)
def test_an_advice_names_the_cause_in_its_reason(variant, own, calls):
    """With the chances of a weighted count over the deals tried."""
    rules = RULES[variant]
    advisor = Advisor(rules, worlds=300)
    trial = advisor.try_row(known_position(rules, own.split(), calls=calls))
    advice, counted = advisor.advice([trial]), trial.counted
    reason = re.search(CAUSE, advice.why)
    assert reason, advice.why
    option = next(each for each in advice.options if each.name == f"bid {reason[1]}")
    column = counted.column(option.action)
    ours = [i for i in range(len(column)) if column[i]["declarer"] == 0]
    strains = [int(column[i]["strain"]) for i in ours]
    trump = "CDHS"[max(set(strains), key=strains.count)]
    names = [[hand_names(int(hand)) for hand in counted.hands[i]] for i in ours]
    true = np.array([holds(reason[3], row, trump) for row in names])
    weights, made = counted.weights[ours], column["good"][ours]
    for side, figure in ((true, reason[2]), (~true, reason[4])):
        assert figure == str(round(100 * np.average(made[side], weights=weights[side])) or "none")
