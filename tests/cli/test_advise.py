"""`bideuchre advise` and `hand`: advice on hands and records, expected tricks and chances."""

import json
from pathlib import Path

import pytest
from support.agent_games import knowledge_of
from support.commands import run
from support.law_tables import Table

import bideuchre_env
from bideuchre_env import agents, match, records_io
from bideuchre_env.agents.advice import Advisor, advise_row
from bideuchre_env.agents.expert.hand_worth import hand_worth
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import DealError
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES

pytestmark = pytest.mark.search

HAND = ("--hand", "JH JD AH KH QS 9C")
FEW = ("--worlds", "20")


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Files of two games, for a variant with strains named later and one with exchanges."""
    files = {}
    for variant in ("cincinnati_v0", "club_v0"):
        path = tmp_path_factory.mktemp("games") / f"{variant}.jsonl"
        match(variant, "expert", "cautious", games=2, seed=3, records=path)
        files[variant] = str(path)
    return files


def test_advice_on_a_hand_is_a_table_of_actions_and_a_sentence(capsys):
    seat = ("--seat", "3", "--calls", "pass, 4, pass", "--score", "28-30")
    assert run("advise", *HAND, *seat) == 0
    first = (
        capsys.readouterr().out
    )  # the notice of compilation is in `err`, if it was the first use
    assert run("advise", *HAND, *seat) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (first, "")
    assert max(map(len, out.splitlines())) <= 80
    assert out.startswith("JH JD AH KH QS 9C in cincinnati_v0, dealer: seat 3\n")
    for words in ("Seat 3 is to call. inference chooses ", "made or set", "wins the game", "±"):
        assert words in out
    assert "The chances are those in deals that fit the calls so far" in " ".join(out.split())
    assert "of 3 legal calls tried in 200 deals" in out


def test_advice_on_cards_to_lay_away_for_a_kitty(capsys):
    game = ("--variant", "barrie_v0", "--option", "kitty=4", "--option", "partnered=1-7")
    hand = ("--hand", "JH JD AH QS QD KS KC QH AS JS", "--calls", "4 H, pass, pass, pass")
    position = (*game, *hand, "--kitty", "KC QH AS JS", "--agent", "rule", *FEW)
    assert run("advise", *position, "--laid-away", "QC") == 0
    assert "Seat 0 is to lay away a card. rule chooses " in capsys.readouterr().out
    assert run("advise", *position, "--laid-away", "QC QC QC") == 2
    assert "--laid-away: QC 3 times: expected at most 2 times" in capsys.readouterr().err


def options_of(position):
    """Arguments of `known_position` as options of the command."""
    ours, theirs = position["score"]
    options = ["--hand", " ".join(position["hand"]), "--seat", str(position["seat"])]
    options += ["--calls", ", ".join(position["calls"]), f"--score={ours}-{theirs}"]
    options += ["--deal", str(position["deal"])]
    for name in ("given", "passed", "played"):
        if position.get(name):
            options += [f"--{name}", " ".join(position[name])]
    return [*options, "--strain", position["strain"]] if "strain" in position else options


def test_advice_is_the_same_for_a_hand_for_a_record_and_in_python(games, capsys):
    variant = "club_v0"
    record = next(iter(records_io.read(games[variant])))
    rules, tables, compared = record.rules, compile_tables(record.rules), 0
    advisor = Advisor(rules, worlds=20)
    for number, hand in list(enumerate(record.played_hands(), 1))[:2]:
        row = rows_of([hand.dealt])
        for ply, action in enumerate(hand.actions, 1):
            if ply % 8 == 1 or row["phase"][0] in (1, 2, 3):
                place = ("--hand", str(number), "--ply", str(ply))
                assert run("advise", games[variant], *place, "--json", *FEW) == 0
                printed = json.loads(capsys.readouterr().out)
                expected = advisor.of_row(row, [action]).to_dict()
                assert {name: printed[name] for name in expected} == expected
                assert printed["done"]["action"] == actions.of(rules).names[action]
                position = options_of(knowledge_of(row[0], rules))
                dealer = ("--dealer", str(row["dealer"][0]), "--variant", variant)
                assert run("advise", *position, *dealer, "--json", *FEW) == 0
                printed = json.loads(capsys.readouterr().out)
                expected = advise_row(row, rules, worlds=20).to_dict()
                assert {name: printed[name] for name in expected} == expected
                compared += 1
            step_row(row, tables, action)
        advisor.learn(rows_of([hand.dealt]), hand.actions)  # for the next hand
    assert compared > 6


def test_few_deals_show_that_an_action_certain_to_take_all_tricks_is_as_good(tmp_path, capsys):
    """The verdict on a dominated card agrees with the headline, and has no figures."""
    path, checked = str(tmp_path / "games.jsonl"), 0
    match("cincinnati_v0", "random", "rule", games=1, seed=3, records=path)
    for game, record in enumerate(records_io.read(path), 1):
        advisor, tables = Advisor(record.rules, "rule", 4), compile_tables(record.rules)
        for number, hand in enumerate(record.played_hands(), 1):
            row = rows_of([hand.dealt])
            for ply, action in enumerate(hand.actions, 1):
                advice = advisor.of_row(row, [action])
                if checked < 2 and advice.few and advice.option(action).dominated:
                    place = ("--game", str(game), "--hand", str(number), "--ply", str(ply))
                    assert run("advise", path, *place, "--agent", "rule", "--worlds", "4") == 0
                    last = capsys.readouterr().out.splitlines()[-1]
                    assert last.endswith(f", but {advice.best.name} is certain to be as good.")
                    checked += 1
                step_row(row, tables, action)
    assert checked


def test_the_agent_and_the_number_of_deals_are_chosen(games, capsys):
    place = ("--game", "2", "--hand", "2", "--ply", "3")
    assert run("advise", games["cincinnati_v0"], *place, "--agent", "rule", *FEW) == 0
    out = capsys.readouterr().out
    assert out.startswith("Game 2, hand 2, action 3\n")
    assert "played by agent rule.\n\npass was chosen" in out
    assert out.endswith("\n\npass was chosen.\n")
    place = ("--game", "2", "--hand", "2", "--ply", "12")
    assert run("advise", games["cincinnati_v0"], *place, "--agent", "rule", *FEW) == 0
    out = capsys.readouterr().out
    assert "is to play" in out
    assert "chances are" not in out
    assert run("advise", *HAND, "--agent", "rule", "--milliseconds", "20", "--seed", "4") == 0
    assert "rule chooses " in capsys.readouterr().out
    assert run("advise", *HAND, "--agent", "pimc:worlds=5,played_out=5", *FEW, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["agent"] == "pimc:worlds=5,played_out=5"
    assert printed["worlds"] <= 20
    assert (printed["variant"], printed["dealer"], printed["seat"]) == ("cincinnati_v0", 3, 0)


def test_a_bad_line_of_a_file_is_named_and_other_games_are_read(games, error_of):
    lines = Path(games["club_v0"]).read_text(encoding="utf-8").splitlines()
    Path("bad.jsonl").write_text("\n".join(["{}", *lines]), encoding="utf-8")
    assert "bad.jsonl:1: " in error_of("advise", "bad.jsonl", "--ply", "1")
    same = ("--variant", "club_v0", "--agent", "rule")
    assert run("advise", "bad.jsonl", "--game", "2", "--ply", "1", *FEW, *same) == 0


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
    cards = "JH JD AH KH QH TH"
    assert run("hand", cards) == 0
    out = capsys.readouterr().out
    strains = sorted(RULES["cincinnati_v0"].strains)
    heads = [line.split() for line in out.splitlines() if sorted(line.split()) == strains]
    assert len(heads) == 2
    assert heads[0][0] == "H"
    sentence = (
        "The chances are those in all deals, whatever the others called, played by agent rule."
    )
    assert sentence in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
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
    table = Table(bideuchre_env.make(rules), dealer=(3 - passes) % 4, hands={0: cards})
    table.do(*["pass"] * passes)
    assert table.seat == 0
    seen = table.env.last()[0]
    chosen = agents.make("expert", rules).act(seen["observation"], seen["action_mask"])
    return table.env.action_names[chosen].removeprefix("bid ")


@pytest.mark.parametrize("variant", SMALL_DECKS)
def test_hand_has_the_call_of_the_expert(variant, capsys):
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
            expected = bid_at_the_table(cards, rules, passes)
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


def test_hand_has_only_the_leads_of_the_rules_and_low_no_trump(capsys):
    """The seat left of the declarer is never the declarer."""
    command = ["hand", "9H 9D TH KH QS 9C", "--option", "no_trump=both", "--json"]
    assert run(*command, "--option", "opening_lead=left") == 0
    printed = json.loads(capsys.readouterr().out)
    assert "the declarer leads" not in printed
    assert printed["leads_not_played"] == []
    tricks = {strain: row["tricks"] for strain, row in printed["another seat leads"].items()}
    assert max(tricks, key=tricks.get) == "LOW"
    assert run("hand", "AH AD KH TH JS AC", *command[2:]) == 0  # the ranks reversed
    mirrored = json.loads(capsys.readouterr().out)["the declarer leads"]
    assert run(*command) == 0
    low = json.loads(capsys.readouterr().out)["the declarer leads"]
    assert low["LOW"] == mirrored["NT"]


def test_hand_of_a_table_without_the_lead_of_the_rules(capsys):
    command = ["hand", "JS JS JC AS KS AH AD QS", "--variant", "barrie_v0"]
    assert run(*command, "--option", "opening_lead=left", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert "S" in printed["the declarer leads"]
    assert printed["leads_not_played"] == ["another seat leads"]
