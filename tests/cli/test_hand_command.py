"""`bideuchre hand`: expected tricks, chances, and the expert's call."""

import json

import pytest
from support.commands import run

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.agents.expert.hand_worth import hand_worth
from bideuchre_env.errors import DealError
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS
from bideuchre_env.rules.variants import RULES


def test_the_command_prints_hand_worth(capsys):
    names = "JH JD AH KH QS 9C"
    worth = hand_worth(names, RULES["cincinnati_v0"])
    assert worth == hand_worth(names.split(), RULES["cincinnati_v0"])
    assert run("hand", names, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["hand"] == worth.cards
    assert {leader: printed[leader] for leader in worth.by_leader} == worth.by_leader
    with pytest.raises(DealError, match="2 cards"):
        hand_worth("JH JD", RULES["cincinnati_v0"])


def test_hand_prints_a_column_for_each_strain_the_best_first(capsys):
    """The tricks and the chance of each bid have a row each; equal moons share a row."""
    cards = "JH JD AH KH QH TH"
    assert run("hand", cards) == 0
    out = capsys.readouterr().out
    heads = [line.split() for line in out.splitlines() if sorted(line.split()) == sorted(STRAINS)]
    assert len(heads) == 2
    assert heads[0][0] == "H"
    figures = hand_worth(cards, RULES["cincinnati_v0"]).by_leader["the declarer leads"]
    tricks = next(line.split() for line in out.splitlines() if line.startswith("tricks"))
    assert tricks[1:] == [f"{figures[strain]['tricks']:.2f}" for strain in heads[0]]
    moons = [line for line in out.splitlines() if line.startswith("moon to quadruple moon")]
    assert figures["H"]["moon"] == figures["H"]["quadruple moon"] > 0.9
    assert f"{figures['H']['moon']:.0%}" in moons[0]
    assert run("hand", "JS,JS JC AS KS AH AD QS", "--variant", "barrie_v0", "--json") == 0
    worth = json.loads(capsys.readouterr().out)["the declarer leads"]
    assert worth["S"]["tricks"] > worth["H"]["tricks"]
    assert worth["S"]["1"] >= worth["S"]["5"] >= worth["S"]["8"]
    assert worth["S"]["moon"] == 1.0


SMALL_DECKS = [name for name, rules in RULES.items() if rules.cards < 48]


def bid_at_the_table(cards, rules, passes):
    """The expert's call with these cards in a game, after `passes` passes."""
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


@pytest.mark.parametrize("variant", SMALL_DECKS)
def test_hand_has_the_call_of_the_expert(variant, capsys):
    """The expert's call as first and as last caller is that of a game, with the strain."""
    rules = RULES[variant].replace(all_pass="redeal_next")
    six = ("JH JD AH KH QH TH", "9H TS QC 9D KD TC")
    eight = ("JH JH JD JD AH AH KH KH", "QH QS KS QC QC KD QD KC")
    for cards in six if rules.tricks == 6 else eight:
        command = ("hand", cards, "--variant", variant, "--option", "all_pass=redeal_next")
        assert run(*command) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert run(*command, "--json") == 0
        bids = json.loads(capsys.readouterr().out)["would_bid"]
        assert list(bids) == ["first to call", "last after three passes"]
        for passes, bid in zip((0, 3), bids.values(), strict=True):
            expected = bid_at_the_table(cards.split(), rules, passes)
            later = rules.strain_named == "after_auction" and bid != "pass"
            assert (bid.rpartition(" ")[0] if later else bid) == expected
            assert (f"bid {bid} if" if bid != "pass" else "pass if") in printed
    assert run("hand", cards, "--variant", variant, "--option", "all_pass=eldest_forced") == 0
    assert "three passes" not in capsys.readouterr().out


def test_the_best_trumps_of_a_small_deck_take_every_trick(capsys):
    cards = "JH JD AH KH QH"
    options = ("--option", "ranks=10", "--option", "partnered=[3, 4]", "--json")
    assert run("hand", cards, *options) == 0
    printed = json.loads(capsys.readouterr().out)
    for leader in ("the declarer leads", "another seat leads"):
        assert printed[leader]["H"]["tricks"] == len(cards.split())
        assert printed[leader]["C"]["tricks"] < len(cards.split()) - 1
    assert printed["rests_on"]["half_widths"]["partnered"] == 0.03
    assert all(bid != "pass" for bid in printed["would_bid"].values())


@pytest.mark.parametrize(
    ("variant", "lead", "missing"),
    [("barrie_v0", "eldest", True), ("cincinnati_v0", "eldest", False)],
)
def test_hand_names_a_lead_for_which_its_table_has_no_figures(variant, lead, missing, capsys):
    """The 32-card table has figures only for the declarer's lead."""
    cards = "JS JS JC AS KS AH AD QS" if variant == "barrie_v0" else "JH JD AH KH QS 9C"
    command = ["hand", cards, "--variant", variant, "--option", f"opening_lead={lead}"]
    assert run(*command) == 0
    assert ("has no figures for when another seat leads" in capsys.readouterr().out) == missing
    assert run(*command, "--json") == 0
    absent = json.loads(capsys.readouterr().out)["leads_not_played"]
    assert absent == ["another seat leads"] * missing
