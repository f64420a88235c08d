"""A review: nothing to find in one's own games, and every seeded blunder by its name."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from support.blunders import first_hand, hand_with, in_play, power

import bideuchre_env
from bideuchre_env import analysis, records_io, selfplay, solver
from bideuchre_env.agents.advice import Advisor
from bideuchre_env.core.one_row import replay_row
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.records.record import GameRecord
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES, hand_names, parse_card

LOW = "9C 9D 9H 9S TC TD"
HIGH = "JH JD AH KH QH AS"


def record_of(variant, agents, seed, tmp_path, **options):
    """A game of two agents."""
    out = tmp_path / f"{variant}-{seed}.jsonl"
    selfplay.play(variant, *agents, games=2, seed=seed, out=out, **options)
    return next(iter(records_io.read(out)))


def deal_with(hand, seat, rules):
    """A deal in which a seat holds this hand, the others what is left in order."""
    names = hand.split()
    rest = [name for name in CARD_NAMES[: rules.kinds] if name not in names]
    hands = [rest[k :: rules.cards // rules.tricks - 1] for k in range(3)]
    return [*hands[:seat], names, *hands[seat:]]


@pytest.mark.parametrize(
    ("variant", "seeds"),
    [
        ("cincinnati_v0", range(3)),
        ("six_card_v0", range(4, 5)),
        ("barrie_v0", range(6, 7)),
        *(pytest.param(v, range(20, 28), marks=pytest.mark.slow) for v in bideuchre_env.variants),
    ],
)
def test_the_agents_own_hands_have_no_mistake(variant, seeds):
    """Played and reviewed from seeds of their own."""
    for seed in seeds:
        record, _ = hand_with(variant, seed=seed, agent="inference")
        found = analysis.review(record, "inference", seed=77 + seed)
        assert found.mistakes == []
        assert all(player.mistakes == player.lost == 0 for player in found.players)
        assert all(player.unlucky == player.open for player in found.players)
        assert "- No mistake." in str(found)


def test_an_agent_without_a_search_agrees_with_itself_too(tmp_path):
    record = record_of("cincinnati_v0", ("expert", "expert"), 3, tmp_path)
    found = analysis.review(record, "expert", hands=[0, 2])
    assert found.mistakes == []
    assert all(each.best == each.action for hand in found.hands for each in hand.decisions)


def lowest(names):
    """The lowest card of some."""
    return max(names, key=parse_card)


def bids_moon(row, names):
    return "bid moon" if row["phase"] == Phase.AUCTION and row["turn"] == 1 else None


def passes(row, names):
    return "pass" if row["phase"] == Phase.AUCTION and row["turn"] == 1 else None


def names_a_void(row, names):
    """Names a suit as trump of which the declarer has no card."""
    if row["phase"] == Phase.NAMING:
        held = {name[-1] for name in hand_names(int(row["hands"][row["turn"]]))}
        jacks = {"C": "JS", "S": "JC", "D": "JH", "H": "JD"}
        hand = hand_names(int(row["hands"][row["turn"]]))
        voids = [suit for suit in "CDHS" if suit not in held and jacks[suit] not in hand]
        return f"trump {voids[0]}" if voids else None
    return None


def throws_a_bower_away(row, names):
    """Last to play, partner winning without a trump, and another card to be spared."""
    played = sum(row["plays"].reshape(4, -1)[:, row["trick"]] >= 0)
    if not in_play(row) or played < 3 or row["strain"] == 4 or row["trick"] > 3:
        return None
    bower = f"J{'CDHS'[row['strain']]}"
    if row["winning"] == row["turn"] ^ 2 and bower in names and len(names) > 2:
        return bower
    return None


def does_not_set_it(rules):
    """Last to play, a trick short of setting the contract, with a card that wins and one after
    which there is no other trick to be had.
    """

    def change(row, names):
        if not in_play(row) or row["sitting_out"] >= 0:
            return None
        played = sum(row["plays"].reshape(4, -1)[:, row["trick"]] >= 0)
        side, need = row["turn"] & 1, compile_tables(rules)[0]["need"][row["level"]]
        missing = rules.tricks - need + 1 - row["tricks_won"][side]
        if played < 3 or side == row["declarer"] & 1 or row["winning"] & 1 == side or missing != 1:
            return None
        wins = [name for name in names if power(row, rules, name) > row["winning_power"]]
        others = [name for name in names if name not in wins]
        if not wins or not others:
            return None
        tricks, first = solver.solve_moves(row, rules=rules), actions.of(rules).card_offset
        return lowest(others) if not tricks[first + parse_card(lowest(others))] else None

    return change


def gives_up_the_right_bower(row, names):
    """In the exchange, while lower cards are there."""
    bower = f"J{'CDHS'[row['strain']]}" if 0 <= row["strain"] < 4 else None
    return bower if row["phase"] == Phase.GIVING and bower in names else None


def only_mistake(record, ply, action, agent="expert"):
    """The one mistake of a hand, which is this action."""
    found = analysis.review(record, agent)
    assert [(each.ply, each.action) for each in found.mistakes] == [(ply, action)]
    [mistake] = found.mistakes
    assert mistake.lost > 3 * mistake.error
    assert mistake.lost >= 0.25
    told = " ".join(str(found).split())
    assert " ".join(mistake.sentence.split()) in told
    player = found.players[mistake.seat]
    assert player.mistakes == 1
    assert player.lost == mistake.lost
    assert "1 mistake in" in str(player)
    return mistake


@pytest.mark.parametrize("agent", ["expert", "inference"])
def test_a_moon_on_nines_and_tens(agent):
    """As the first to call: by either agent's judgement a pass was better."""
    deal = deal_with(LOW, 1, bideuchre_env.cincinnati_v0.rules)
    record, (ply, _) = hand_with("cincinnati_v0", bids_moon, deal=deal)
    found = analysis.review(record, agent)
    first = found.mistakes[0]
    assert (first.ply, first.seat, first.action, first.best) == (ply, 1, "bid moon", "pass")
    assert first.lost > 8
    assert first.open is None
    said = r"Hand 1, auction: seat 1 bid moon; a pass was better by \d+\.\d ± \d\.\d points and "
    assert re.match(
        rf"{said}\d+\.\d ± \d\.\d % of games\. Two diamonds to the ten: bid moon", str(first)
    )


def test_a_pass_on_six_sure_tricks():
    """The dealer, last to call, with both bowers, ace, king and queen of hearts and another ace."""
    deal = deal_with(HIGH, 1, bideuchre_env.cincinnati_v0.rules)
    record, (ply, _) = hand_with("cincinnati_v0", passes, deal=deal, dealer=1)
    mistake = analysis.review(record, "expert").mistakes[0]
    assert (mistake.ply, mistake.action, mistake.phase) == (ply, "pass", Phase.AUCTION)
    assert mistake.best.startswith("bid ")
    assert re.match(r"Hand 1, auction: seat 1 passed; bid .* was better by", str(mistake))
    assert mistake.why.startswith("A pass with right and left bower with the ace in five hearts")


def test_all_figures_of_a_mistake_are_of_the_same_deals():
    """Those of the four sets that it was tried in again, counted here together."""
    deal = deal_with(HIGH, 1, bideuchre_env.cincinnati_v0.rules)
    record, (ply, _) = hand_with("cincinnati_v0", passes, deal=deal, dealer=1)
    mistake, rules = analysis.review(record, "expert", worlds=60, seed=5).mistakes[0], record.rules
    played = next(iter(record.played_hands()))
    replay_row(row := rows_of([played.dealt]), compile_tables(rules), played.actions[:ply])
    taken, best = (actions.of(rules).index[name] for name in (mistake.action, mistake.best))
    columns, weights = {taken: [], best: []}, []
    for seed in range(6, 10):
        trial = Advisor(rules, "expert", 60, None, seed).try_row(row, also=[taken])
        weights.append(trial.counted.weights)
        for action, found in columns.items():
            found.append(trial.counted.column(action))

    def average(action, figure):
        return np.average(np.concatenate(columns[action])[figure], weights=np.concatenate(weights))

    assert mistake.points == pytest.approx(average(taken, "points"))
    assert mistake.wins == pytest.approx(average(taken, "wins"))
    assert mistake.lost == pytest.approx(average(best, "points") - mistake.points)
    assert mistake.wins_lost == pytest.approx(average(best, "wins") - mistake.wins)
    stands = np.concatenate(weights) * (np.concatenate(columns[best])["declarer"] == 0)
    made = np.average(np.concatenate(columns[best])["good"], weights=stands)
    assert mistake.best_made == pytest.approx(made)


def test_a_suit_named_of_which_none_is_held():
    record, ply, action = first_hand("cincinnati_v0", names_a_void)
    mistake = only_mistake(record, ply, action)
    word = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}[action[-1]]
    assert f"strain: seat {mistake.seat} named {word} trump; " in str(mistake)
    assert mistake.best.startswith("trump ")


def test_a_right_bower_thrown_on_partners_trick():
    record, ply, action = first_hand("cincinnati_v0", throws_a_bower_away)
    mistake = only_mistake(record, ply, action)
    assert f"trick {mistake.trick + 1}: seat {mistake.seat} played {action}; " in str(mistake)
    assert f"; {mistake.best} was better by" in str(mistake)
    assert "With all hands open it cost" in str(mistake)


@pytest.mark.parametrize(("variant", "seed"), [("cincinnati_v0", 180), ("six_card_v0", 26)])
def test_a_sure_winner_kept_back_that_sets_the_contract(variant, seed):
    rules = bideuchre_env.make(variant).rules
    record, ply, action = first_hand(variant, does_not_set_it(rules), seed)
    mistake = only_mistake(record, ply, action)
    assert mistake.defends
    assert mistake.best_made == 1
    assert mistake.made < 1
    taken = round(100 * mistake.made)
    assert f"the contract is set in 100 of 100 deals, not in {taken}" in str(mistake)


def test_the_right_bower_given_up():
    record, ply, action = first_hand("barrie_v0", gives_up_the_right_bower)
    mistake = only_mistake(record, ply, action)
    assert f"exchange: seat {mistake.seat} gave up {action}; {mistake.best} was better" in str(
        mistake
    )
    assert mistake.open is None


@pytest.fixture(scope="module")
def weak(tmp_path_factory):
    """A game of cautious players, who err, with its review of three hands."""
    path = tmp_path_factory.mktemp("weak")
    record = record_of("cincinnati_v0", ("rule", "cautious"), 1, path)
    return record, analysis.review(record, hands=[4, 0, 1, 1])


def test_every_choice_has_its_figures_and_others_none(weak):
    """As notes, too: an entry for each action of the record."""
    record, found = weak
    notes = found.notes()
    assert notes == json.loads(json.dumps(notes, allow_nan=False))
    assert [len(hand["plies"]) for hand in notes["hands"]] == [
        len(hand["actions"]) for hand in record.hands
    ]
    assert [hand.number for hand in found.hands] == [0, 1, 4]
    told = {(each.hand, each.ply): each for hand in found.hands for each in hand.decisions}
    opened = {(card.hand, card.ply): card.lost for card in solver.analyse(record)}
    for number, hand in enumerate(notes["hands"]):
        assert (hand["par"] is None) == (number not in (0, 1, 4))
        for ply, note in enumerate(hand["plies"]):
            each = told.get((number, ply))
            assert (note is None) == (each is None)
            if each is None:
                continue
            assert record.hands[number]["actions"][ply] == each.action
            assert each.open == opened.get((number, ply))
            assert note["mistake"] is each.mistake
            assert note["lost"] == pytest.approx(each.lost, abs=1e-3)
            assert note["best"] == each.best
            called = "made or set" if each.action == "pass" else "made"
            declared = "set" if record.hands[number]["declarer"] & 1 != each.seat & 1 else "made"
            assert note["chance_of"] == (called if each.phase == Phase.AUCTION else declared)
            assert 0 <= note["wins"] <= 1
            assert not each.mistake or each.action != each.best
    assert [player["seat"] for player in notes["players"]] == [0, 1, 2, 3]
    assert [player["name"] for player in notes["players"]] == record.agents
    lost = [player.wins_lost for player in found.players]
    assert [player["wins_lost"] for player in notes["players"]] == pytest.approx(lost, abs=1e-3)
    assert max(lost) > 0.02


def test_the_worse_player_makes_the_more_mistakes(weak):
    """Sums are those of the decisions, and words say them."""
    record, found = weak
    mistakes = [player.mistakes for player in found.players]
    assert sum(mistakes) == len(found.mistakes) > 4
    assert mistakes[1] + mistakes[3] > mistakes[0] + mistakes[2]
    for player in found.players:
        own = [d for hand in found.hands for d in hand.decisions if d.seat == player.seat]
        assert player.decisions == len(own)
        assert player.open == sum(d.open or 0 for d in own)
        assert player.unlucky == sum(d.open or 0 for d in own if not d.mistake)
        assert player.wins_lost == pytest.approx(sum(d.wins_lost for d in own if d.mistake))
        assert not player.mistakes or f" and {player.wins_lost:.2f} games in all" in str(player)
        assert player.lost_per_hand == pytest.approx(sum(d.lost for d in own if d.mistake) / 3)
        assert str(player).startswith(f"seat {player.seat} ({record.agents[player.seat]}): ")


def test_it_prints_within_80_columns_and_in_html(weak):
    record, found = weak
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("cincinnati_v0, seed 1")
    page = found._repr_html_()
    for hand in found.hands:
        stated = record.hands[hand.number]
        assert f"Hand {hand.number + 1}: {stated['contract']} by seat {stated['declarer']}" in text
        need = int(stated["contract"][0])
        made = stated["tricks"][stated["declarer"] & 1] >= need
        assert ("made with" if made else "set with") in hand.result
        par = solver.par(stated["deal"], record.rules, stated["dealer"])
        assert hand.par == par
        assert f"it is worth {par.contract} by seat {par.declarer} with" in hand.head
        assert f"<p>Hand {hand.number + 1}: " in page
    assert page.count("<li>") == len(found.mistakes)


def test_the_same_seed_gives_the_same_review(weak):
    record, found = weak
    assert analysis.review(record, hands=[1]).hands[0] == found.hands[1]


def test_progress_is_told_to_its_end(weak):
    record, told = weak[0], []
    analysis.review(
        record, "rule", worlds=20, hands=[2], progress=lambda *how_far: told.append(how_far)
    )
    total = len(record.hands[2]["actions"])
    assert told == [(k, total, k) for k in range(1, total + 1)]


def test_a_hand_cut_short_is_reviewed_as_far_as_it_goes():
    env = bideuchre_env.six_card_v0.raw_env()
    env.reset(seed=3)
    results = []
    for actions_done in (2, 9):
        while len(env.record.hands[0]["actions"]) < actions_done:
            observation = env.observe(env.agent_selection)
            env.step(int(np.flatnonzero(observation["action_mask"])[-1]))
        found = analysis.review(env.record, "rule", worlds=40)
        assert len(found.notes()["hands"][0]["plies"]) == actions_done
        results.append(found.hands[0].result)
    assert results[0] == "not bid to the end."
    assert results[1].endswith(", not played to the end.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hands": [99]}, r"hands=\[99\]: from 0 to"),
        ({"hands": ["1"]}, "from 0 to"),
        ({"worlds": 0}, "worlds=0"),
        ({"agent": "nobody"}, "nobody"),
    ],
)
def test_what_cannot_be_reviewed_is_an_error(weak, options, message):
    with pytest.raises(OptionError, match=message):
        analysis.review(weak[0], **options)


def test_only_records_that_replay_are_reviewed(weak):
    with pytest.raises(OptionError, match="a GameRecord is expected"):
        analysis.review({"hands": []})
    record = GameRecord.from_dict(weak[0].to_dict())
    record.hands[0] = record.hands[0] | {"tricks": [9, 9]}
    with pytest.raises(RecordError, match="hand 1"):
        analysis.review(record)


def test_nothing_but_what_the_seat_knows_is_looked_at(weak):
    """The first call is judged alike whatever cards the others hold."""
    record = weak[0]
    first = (record.hands[0]["dealer"] + 1) % 4
    rng, verdicts = np.random.default_rng(0), set()
    for _ in range(3):
        deal = [list(hand) for hand in record.hands[0]["deal"]]
        others = [seat for seat in range(4) if seat != first]
        rest = rng.permutation([card for seat in others for card in deal[seat]]).tolist()
        for k, seat in enumerate(others):
            deal[seat] = rest[6 * k : 6 * k + 6]
        dealt, _ = hand_with(
            "cincinnati_v0",
            lambda row, names: "bid moon" if row["calls_made"] == 0 else None,
            deal=deal,
            dealer=record.hands[0]["dealer"],
        )
        decision = analysis.review(dealt, worlds=60).hands[0].decisions[0]
        verdicts.add((decision.action, decision.best, decision.lost, decision.error, decision.why))
    assert len(verdicts) == 1


def test_more_tricks_than_there_are_words_for(tmp_path):
    """A whole game may lose more than twelve."""
    record = record_of("cincinnati_v0", ("rule", "random"), 1, tmp_path)
    player = analysis.review(record, agent="rule", worlds=2, hands=[1]).players[0]
    many = replace(player, open=30, unlucky=13)
    assert "30 tricks lost with all hands open, 13 of them by no clear mistake" in str(many)
