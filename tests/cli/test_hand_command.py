"""`bideuchre hand`: what a hand is worth, in words and figures, as a person meets it."""

from __future__ import annotations

import json

import pytest
from support.commands import run

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.agents.expert import hand_table as module
from bideuchre_env.agents.expert.hand_table import provenance
from bideuchre_env.agents.expert.hand_worth import hand_worth
from bideuchre_env.errors import DealError
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS
from bideuchre_env.rules.variants import RULES


def test_hand_worth_is_what_the_command_prints(capsys):
    """From a string or from names; the same figures."""
    names = "JH JD AH KH QS 9C"
    worth = hand_worth(names, RULES["cincinnati_v0"])
    assert worth == hand_worth(names.split(), RULES["cincinnati_v0"])
    assert run("hand", names, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["hand"] == worth.cards
    assert {leader: printed[leader] for leader in worth.by_leader} == worth.by_leader
    with pytest.raises(DealError, match="2 cards"):
        hand_worth("JH JD", RULES["cincinnati_v0"])


def test_hand_prints_what_a_hand_is_worth(capsys):
    """A column a strain, the best first; a row for tricks, and one for the chance of each bid."""
    assert run("hand", "JH JD AH KH QS 9C", "--variant", "cincinnati_v0") == 0
    out = capsys.readouterr().out
    for words in ("the declarer leads", "another seat leads", "tricks", "quadruple moon", "%"):
        assert words in out
    heads = [line.split() for line in out.splitlines() if sorted(line.split()) == sorted(STRAINS)]
    assert len(heads) == 2
    assert heads[0][0] == "H"
    strains, worth = heads[0], hand_worth("JH JD AH KH QS 9C", RULES["cincinnati_v0"]).by_leader
    shown = next(line.split() for line in out.splitlines() if line.startswith("tricks"))
    figures = worth["the declarer leads"]
    assert shown[1:] == [f"{figures[strain]['tricks']:.2f}" for strain in strains]
    assert run("hand", "JS,JS JC AS KS AH AD QS", "--variant", "barrie_v0", "--json") == 0
    worth = json.loads(capsys.readouterr().out)["the declarer leads"]
    assert worth["S"]["tricks"] > worth["H"]["tricks"]
    assert worth["S"]["1"] >= worth["S"]["5"] >= worth["S"]["8"]
    assert worth["S"]["moon"] == 1.0


@pytest.mark.parametrize("variant", [n for n, rules in RULES.items() if rules.cards < 48])
@pytest.mark.parametrize("columns", ["60", "80"])
def test_hand_fits_the_screen(variant, columns, capsys, monkeypatch):
    """Tables and remarks alike, however many bids the game has."""
    monkeypatch.setenv("COLUMNS", columns)
    rules = RULES[variant]
    cards = [CARD_NAMES[kind] for kind in range(rules.kinds) for _ in range(rules.copies)]
    assert run("hand", " ".join(cards[: rules.tricks]), "--variant", variant) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= int(columns)
    names, told = [bid.name for bid in rules.ladder], set()
    for first, _, last in (line.split("  ")[0].partition(" to ") for line in lines):
        if first in names:  # a line for each bid, or for several that follow one another
            told |= set(names[names.index(first) : names.index(last or first) + 1])
    assert told == set(names)


def test_hand_prints_a_chance_once(capsys):
    """The moons of one exchange are one line, whose figures are those of each."""
    cards = "JH JD AH KH QH TH"
    assert run("hand", cards) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("moon")]
    assert [line.split("  ")[0] for line in lines] == ["moon to quadruple moon"] * 2
    worth = hand_worth(cards, RULES["cincinnati_v0"]).by_leader["the declarer leads"]
    assert worth["H"]["moon"] == worth["H"]["quadruple moon"] > 0.9
    assert f"{worth['H']['moon']:.0%}" in lines[0]
    assert run("hand", "JS JS JC AS KS AH AD QS", "--variant", "barrie_v0") == 0
    labels = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()]
    assert {"call-2", "call-1", "moon"} <= set(labels)


def bid_at_the_table(cards, rules, passes):
    """What the expert does with these cards after so many passes, at a table dealt so."""
    rest = [name for name in CARD_NAMES[: rules.kinds] for _ in range(rules.copies)]
    for card in cards:
        rest.remove(card)
    each = rules.tricks
    deal = [cards, *(rest[k * each : (k + 1) * each] for k in range(3))]
    env = bideuchre_env.make(rules).raw_env()
    env.reset(seed=1, options={"dealer": (3 - passes) % 4, "deal": deal})
    for _ in range(passes):
        env.step("pass")
    assert env.agent_selection == "player_0"
    seen = env.last()[0]
    chosen = agents.make("expert", rules).act(seen["observation"], seen["action_mask"])
    return env.action_names[chosen].removeprefix("bid ")


@pytest.mark.parametrize("variant", [n for n, rules in RULES.items() if rules.cards < 48])
def test_hand_says_what_the_expert_would_bid(variant, capsys):
    """First to call and last, as it does at a table; with the strain it would name."""
    rules = RULES[variant].replace(all_pass="redeal_next")
    six = ("JH JD AH KH QH TH", "JH JD AH KH QS 9C", "9H TS QC 9D KD TC")
    eight = ("JH JH JD JD AH AH KH KH", "JS JC AS KS AH AD QS QH", "QH QS KS QC QC KD QD KC")
    for cards in six if rules.tricks == 6 else eight:
        asked = ("hand", cards, "--variant", variant, "--option", "all_pass=redeal_next")
        assert run(*asked) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert run(*asked, "--json") == 0
        bids = json.loads(capsys.readouterr().out)["would_bid"]
        assert list(bids) == ["first to call", "last after three passes"]
        for passes, bid in zip((0, 3), bids.values(), strict=True):
            there = bid_at_the_table(cards.split(), rules, passes)
            later = rules.strain_named == "after_auction" and bid != "pass"
            assert (bid.rpartition(" ")[0] if later else bid) == there
            assert (f"bid {bid} if" if bid != "pass" else "pass if") in told
        assert "At 0-0 the expert would" in told
    assert run("hand", cards, "--variant", variant, "--option", "all_pass=eldest_forced") == 0
    assert "three passes" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cards", "ranks"),
    [("JH JD AH KH QH", "10"), ("JH JD AH KH", "J")],
    ids=["20 cards", "16 cards"],
)
def test_hand_of_a_small_deck(cards, ranks, capsys):
    """The best trumps are all the tricks, and the expert bids on them."""
    asked = ("--option", f"ranks={ranks}", "--option", "partnered=[3, 4]", "--json")
    assert run("hand", cards, *asked) == 0
    printed = json.loads(capsys.readouterr().out)
    for leader in ("the declarer leads", "another seat leads"):
        assert printed[leader]["H"]["tricks"] == len(cards.split())
        assert printed[leader]["C"]["tricks"] < len(cards.split()) - 1
    assert printed["rests_on"]["half_widths"]["partnered"] == 0.03
    assert all(bid != "pass" for bid in printed["would_bid"].values())


def test_hand_of_a_deck_without_a_table_is_one_line(capsys):
    """The double deck has 48 cards."""
    assert run("hand", "JH JH JD JD AH AH KH KH QH QH TH TH", "--variant", "double_deck_v0") == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "48 cards" in err


def test_hand_says_how_sure_its_figures_are(capsys, monkeypatch):
    """As the file tells it: 3 points with partner, 2 alone, in the three best strains."""
    cards = "JH JD AH KH QS 9C"
    assert run("hand", cards, "--json") == 0
    rests, made = json.loads(capsys.readouterr().out)["rests_on"], provenance()
    assert rests["half_widths"]["partnered"] == made["half_widths"]["partnered"] <= 0.03
    assert rests["half_widths"]["lone"] == made["half_widths"]["lone"] <= 0.02
    assert made["half_widths"]["best_strains"] == 3
    sure = {"partnered": 0.04, "lone": 0.07, "best_strains": 3}
    asked = {"deals": {"first": 50, "most": 900}, "half_widths": sure}
    monkeypatch.setattr(module, "provenance", lambda: asked)
    assert run("hand", cards, "--json") == 0
    rests = json.loads(capsys.readouterr().out)["rests_on"]
    z = 1.96  # Wilson's half-width at a chance of a half
    assert rests["half_widths"]["others"] == pytest.approx(z / 2 / (50 + z**2) ** 0.5, abs=1e-3)
    assert rests["deals"] == 50
    assert run("hand", cards) == 0
    out = " ".join(capsys.readouterr().out.split())
    for words in (
        "in the three best strains ±4% with partner, ±7% alone",
        "in the others ±13%, from 50 deals",
    ):
        assert words in out
    assert run("hand", cards, "--option", "lone=[]", "--option", "moon_ladder=jump") == 0
    assert "alone" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("variant", "lead", "told"),
    [
        ("barrie_v0", "eldest", True),
        ("barrie_v0", "declarer", False),
        ("cincinnati_v0", "eldest", False),
    ],
)
def test_hand_says_when_its_table_was_made_for_another_lead(variant, lead, told, capsys):
    """The 32-card table has the declarer leading only; a game may have the eldest hand lead."""
    cards = "JS JS JC AS KS AH AD QS" if variant == "barrie_v0" else "JH JD AH KH QS 9C"
    asked = ["hand", cards, "--variant", variant, "--option", f"opening_lead={lead}"]
    assert run(*asked) == 0
    assert ("has no figures for when another seat leads" in capsys.readouterr().out) == told
    assert run(*asked, "--json") == 0
    absent = json.loads(capsys.readouterr().out)["leads_not_played"]
    assert absent == ["another seat leads"] * told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["JH JD"], "2 cards, and a hand of this deck has 6"),
        (["JH JD AH KH QS XX"], "no card"),
        (["JH JH AH KH QS 9C"], "JH 2 times: this deck has it 1 time"),
        (["JS JS JC AS KS AH AD 9S", "--variant", "barrie_v0"], "9S is not in this 32-card deck"),
        (
            ["JH JH JD JD AH AH KH KH QS QS", "--option", "ranks=10", "--option", "copies=2"],
            "no table for this deck of 40 cards, 2 of each: there are tables for the decks of 16, ",
        ),
        (["JH", "--variant", "nonsense"], "no variant"),
    ],
)
def test_hand_says_what_is_wrong(arguments, words, capsys):
    """One line on stderr, exit code 2."""
    assert run("hand", *arguments) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
