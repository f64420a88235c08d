"""The reasons of an advice: key cards, the strain of a sentence, and certain actions."""

import re

import numpy as np
import pytest
from support.agent_games import decisions, limit_listing

from bideuchre_env.agents.advice import Advisor
from bideuchre_env.agents.advice.advice import clearly_behind
from bideuchre_env.agents.advice.figures import LEAST_CHANCE, Counted, key_cards
from bideuchre_env.agents.advice.outcomes import OUTCOMES
from bideuchre_env.agents.advice.reasons import with_strain
from bideuchre_env.agents.advice.words import give_words, holding
from bideuchre_env.core.state import AUCTION, NAMING
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import hand_bits, hand_names, parse_card
from bideuchre_env.rules.variants import RULES

pytestmark = pytest.mark.search

OWN = "JH JD AH KH QS 9C"
HEARTS, SPADES, NO_TRUMP = 2, 3, 4
JACKS = {"C": "JS", "D": "JH", "H": "JD", "S": "JC"}


def dealt(rules, own, n, seed=0):
    """Hands, int64 (n, 4), of n random deals with `own` in seat 0, and the other kinds as bits."""
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
    """Whether a cause, such as "partner has AS", is true of hands, lists of card names by seat."""
    who = [names[2]] if words.startswith("partner") else [names[1], names[3]]
    if match := re.search(r"has no (club|diamond|heart|spade)$", words):
        letter = match[1][0].upper()
        return any(all(suit(name, trump) != letter for name in hand) for hand in who)
    if match := re.search(r"has (J[CDHS]), (?:the|a) (right|left) bower$", words):
        assert match[1] == (JACKS[trump] if match[2] == "left" else f"J{trump}"), words
    if match := re.search(
        r"has (a|two|three|four) (club|diamond|heart|spade)s?( or more)?$", words
    ):
        n = ["", "a", "two", "three", "four"].index(match[1])
        assert match[2][0].upper() == trump, words
        return any(sum(suit(name, trump) == trump for name in hand) >= n for hand in who)
    return any(words.split()[2].rstrip(",") in hand for hand in who)


CASES = [
    ("cincinnati_v0", OWN, HEARTS, "partner has AC"),
    ("cincinnati_v0", "JH AS KS QS TS 9C", HEARTS, "partner has no spade"),
    ("cincinnati_v0", OWN, HEARTS, "an opponent has no club"),
    ("cincinnati_v0", "AD KH QS 9C 9D TS", HEARTS, "partner has two hearts or more"),
    ("cincinnati_v0", OWN, NO_TRUMP, "partner has AS"),
    ("barrie_v0", "JS JC AS KS AH AD QS QC", SPADES, "partner has JS, a right bower"),
    ("barrie_v0", "JS JC AS KS AH AD QS QC", SPADES, "an opponent has three spades or more"),
    ("double_deck_v0", "JS JC AS KS AH AD QS TC 9C 9D 9H TH", SPADES, "partner has JC, a left"
     " bower"),
]  # fmt: skip


@pytest.mark.parametrize(("variant", "own", "strain", "words"), CASES)
def test_the_cause_of_made_contracts_is_found_with_its_figures(variant, own, strain, words):
    """The contract is made in 90 % of the deals with the cause, and in 40 % without it."""
    rules = RULES[variant]
    (hands, unseen), t = dealt(rules, own, 1500), compile_tables(rules)[0]
    trump = "CDHS"[strain] if strain < 4 else ""
    names = [[hand_names(int(hand)) for hand in row] for row in hands]
    true = np.array([holds(words, row, trump) for row in names])
    rng, weights = np.random.default_rng(1), np.random.default_rng(2).exponential(size=len(true))
    made = (rng.random(len(true)) < np.where(true, 0.9, 0.4)).astype(float)
    result = key_cards(made, weights, unseen, strain, hands, t, LEAST_CHANCE)
    assert result.words == words
    for side, figure in ((true, result.true), (~true, result.false)):
        slow = sum(w * y for w, y in zip(weights[side], made[side], strict=True))
        assert figure == pytest.approx(slow / sum(weights[side]))
    assert result.share == pytest.approx(sum(weights[true]) / sum(weights))


def test_chance_and_rare_holdings_are_no_cause():
    rules = RULES["cincinnati_v0"]
    (hands, unseen), t = dealt(rules, OWN, 1000), compile_tables(rules)[0]
    ace = hands[:, 2] >> parse_card("AC") & 1 == 1
    rng, even = np.random.default_rng(3), np.ones(len(hands))

    def cause_of(values, weights=even):
        return key_cards(values.astype(float), weights, unseen, HEARTS, hands, t, LEAST_CHANCE)

    for _ in range(20):
        assert cause_of(rng.random(len(hands)) < 0.6) is None
        assert cause_of(rng.random(len(hands)) < np.where(ace, 0.65, 0.5)) is None
    assert cause_of(ace) is not None
    assert cause_of(ace, np.where(ace, 0.1, 1.0)) is None  # 1 deal of 21, by weight
    assert cause_of(ace, np.arange(len(hands)) < 12) is None
    assert cause_of(ace, np.zeros(len(hands))) is None


CONDITION = re.compile(
    r"(-?[\d.]+|none)(?: %)? if ((?:partner|an opponent) has [^,]+(?:, (?:the|a) \w+ bower)?), "
    r"(-?[\d.]+|none)(?: %)? if not"
)


def explained(text, number, options, subject):
    """The option that part `number` of a sentence on `subject` explains, and its comparison.

    `text` is the part up to the condition. The comparison is None for the chance of a contract.
    """
    by_name, best = {option.name: option for option in options}, options[0]
    names = "|".join(sorted(by_name, key=len, reverse=True))
    named = [by_name[name] for name in re.findall(names, text.replace("a bid of ", "bid "))]
    if number == 0:
        return next((each for each in named[::-1] if each.action > 0), subject), None
    if " more than " in text:
        return best, named[-1]
    return (named[0], best) if " loses " in text else (subject, best)


def strain_of(counted, *some):
    """The usual strain of the first of these options that leads to a contract of the seat."""
    for option in some:
        column = counted.column(option.action)
        if (own := column["declarer"] == 0).any():
            return int(np.bincount(column["strain"][own], counted.weights[own]).argmax())
    raise AssertionError("no contract")


@pytest.mark.parametrize("variant", ["barrie_v0", "club_v0", "cincinnati_v0"])
def test_suit_of_a_reason_is_the_strain_of_the_option_that_it_explains(variant, monkeypatch):
    """Its figures are those of the deals in which the condition is true with that suit as trumps.

    The standing bid, and the other option of a comparison, often have other strains.
    """
    limit_listing(monkeypatch)
    rules, checked, suits = RULES[variant], 0, 0
    advisor = Advisor(rules, "rule", worlds=150)
    for _, mask, state in decisions(rules, 12, seed=5):
        if state["phase"] not in (AUCTION, NAMING) or state["level"] < 0 or mask.sum() == 1:
            continue
        trial = advisor.try_row(state)
        counted = trial.counted
        names = [[hand_names(int(hand)) for hand in row] for row in counted.hands]
        for taken in (None, *counted.actions):
            advice = advisor.advice([trial], taken)
            best, subject = advice.best, advice.choice
            if taken is not None:
                subject = advice.option(taken)
            elif clearly_behind(subject, advice.goal):
                subject = best
            for number, part in enumerate(advice.why.split("; ")):
                for found in CONDITION.finditer(part):
                    before, words = part[: found.start()], found[2]
                    option, other = explained(before, number, advice.options, subject)
                    strain = strain_of(counted, option, other or option)
                    trump = "CDHS"[strain] if strain < 4 else ""
                    true = np.array([holds(words, row, trump) for row in names])
                    if other is None:
                        column = counted.column(option.action)
                        weights = counted.weights * (column["declarer"] == 0)
                        values, error = 100 * column["good"], 0.5
                    else:
                        worse, weights = other if option is best else option, counted.weights
                        values = 100 * counted.differences(worse.action, best.action, "wins")
                        error = 0.05
                    for side, figure in ((true, found[1]), (~true, found[3])):
                        mean = np.average(values[side], weights=weights[side])
                        stated = float(figure.replace("none", "0"))
                        assert abs(mean - stated) <= error + 1e-9, (advice.why, words)
                    checked += 1
                    suits += words.endswith(("or more", "bower"))
    assert checked > 20
    assert suits > 5


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
@pytest.mark.parametrize("agent", ["inference:goal=points", "random"])
def test_certain_action_is_the_best_and_never_too_close_to_call(variant, agent, monkeypatch):
    """ "JH and the cards led after it take every trick left" was "too close to call".

    Another card with the same results, which are not certain, was called the best if chosen.
    """
    limit_listing(monkeypatch)
    rules, checked = RULES[variant], 0
    advisor = Advisor(rules, agent, worlds=4)
    for _, mask, state in decisions(rules, 12, seed=8):
        if mask.sum() == 1 or state["trick"] < 3:
            continue
        trial = advisor.try_row(state)
        advice = advisor.advice([trial])
        if trial.certain >= 0:
            assert advice.best.action == trial.certain
            assert advice.close == ()
            end = ", the best" if advice.choice is advice.best else ""
            end = end or f", but {advice.best.name} is (better|certain to be as good)"
            assert re.search(rf"chooses {advice.choice.name}{end}\.$", advice.headline)
            assert "take every trick left" in advice.why or "takes every trick" in advice.why
            checked += 1
    assert checked > 4


def test_action_is_dominated_only_by_certain_results():
    """Results are certain if all deals were tried, or if the better action's are all the same."""
    outcomes = np.zeros((24, 5), OUTCOMES)
    for action, points in enumerate(([1, 1, 1], [1, 0, 1], [1, 1, 1], [2, 0, 1], [0, 0, 1])):
        outcomes["points"][:, action] = points * 8
    even, heavy = np.ones(24), np.eye(24)[0] * 99 + 1
    for weights, effect, constant, exact in (
        (even, 1.0, True, False),
        (even, 0.0, True, True),
        (heavy, 1.0, False, False),  # an effective sample size of 1.5
        (
            np.array([1.0, 0.0, 1.0] * 8),
            0.0,
            False,
            True,
        ),  # the deals in which 1 loses do not count
    ):
        counted = Counted([*range(5)], outcomes, weights, np.zeros((24, 4)), effect)
        assert counted.exact == exact
        assert counted.dominated(1, 0, "points") == constant
        assert counted.dominated(4, 0, "points") == (constant or exact)
        assert counted.dominated(4, 1, "points") == exact  # the results of 1 differ
        assert not counted.dominated(2, 0, "points")  # equal in every deal
        assert not counted.dominated(3, 0, "points")  # better in some deals


def test_few_deals_are_reported_instead_of_a_list(monkeypatch):
    """At 51-40 advice listed options as too close to call, from an effective sample size of 3."""
    limit_listing(monkeypatch)
    rules, checked = RULES["barrie_v0"], 0
    advisor = Advisor(rules, worlds=8)
    for _, _, state in decisions(rules, 2, seed=8):
        advice = advisor.of_row(state)
        assert advice.few == (advice.effective < 20 and not advice.exact)
        if advice.few and advice.close:
            size = f"Too few likely deals to compare: effective sample size {advice.effective:.0f}."
            assert advice.headline.endswith(f"{advice.choice.name}. {size}")
            assert advice.safer is None
            checked += 1
        text = " ".join(advice.text().split())
        assert bool(re.search("in all .* possible|in the only", text, re.I)) == advice.exact
    assert checked > 10


def test_words_of_low_no_trump_count_from_the_lowest_rank():
    rules = RULES["barrie_v0"].replace(no_trump="both")
    t = compile_tables(rules)[0]
    kinds = [parse_card(name) for name in ("JC", "JD", "QS", "AS", "AH")]
    assert holding(kinds, 4, t) == "two aces and no king at no trump"
    assert holding(kinds, 5, t) == "two jacks and a queen at low no trump"
    assert with_strain(5) == "at low no trump"
    spades = [parse_card(name) for name in ("QS", "AS")]
    assert give_words(spades[1], spades, 5, t) == "AS is the highest of two spades"
    assert give_words(spades[0], spades, 4, t) == "QS is the lowest of two spades"
