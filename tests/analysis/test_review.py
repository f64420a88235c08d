"""Reviews: an agent's own games have no mistakes, planted blunders are mistakes; figures."""

import json

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env import agents, analysis, match, records_io, solver
from bideuchre_env.agents.advice import Advisor
from bideuchre_env.core.one_row import replay_row
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.records.page.notes import ply_note
from bideuchre_env.records.record import GameRecord
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES

pytestmark = pytest.mark.search

Z = 1.96
VARIANTS = bideuchre_env.variants


def deal_with(hand, seat, rules):
    """A deal in which `seat` holds `hand`; the other cards are dealt in order."""
    names = hand.split()
    rest = [name for name in CARD_NAMES[: rules.kinds] if name not in names]
    hands = [rest[k :: rules.cards // rules.tricks - 1] for k in range(3)]
    return [*hands[:seat], names, *hands[seat:]]


RULES = bideuchre_env.cincinnati_v0.rules
LOW = {"deal": deal_with("9C 9D 9H 9S TC TD", 1, RULES)}
HIGH = {"deal": deal_with("JH JD AH KH QH AS", 1, RULES), "dealer": 1}


AMONG_AGENTS = "inference:callers=agents"


def hand_with(variant, change=None, *, seed=0, deal=None, dealer=0, agent="expert", score=(0, 0)):
    """Return the record of a hand that one agent plays in all seats, and the replaced action.

    `change(row, names)` gets the state row and the names of the legal actions. It returns None,
    or the name of an action to play instead of the agent's. The first such action that differs is
    played, and returned as (ply, name); None if there is none.
    """
    env = bideuchre_env.make(variant).raw_env(episode="hand")
    options = {"dealer": dealer, "score": list(score)} | ({} if deal is None else {"deal": deal})
    env.reset(seed=seed, options=options)
    player = agents.make(agent, env.rules, seed=1 + seed)
    changed, ply = None, 0
    while env.agents and not any(env.terminations.values()):
        seen = env.observe(env.agent_selection)
        chosen = player.act(seen["observation"], seen["action_mask"])
        if changed is None and change is not None:
            mask = np.flatnonzero(seen["action_mask"]).tolist()
            name = change(env.get_state()[0], [env.action_names[action] for action in mask])
            if name is not None and name != env.action_names[chosen]:
                chosen, changed = env.action_names.index(name), (ply, name)
        env.step(int(chosen))
        ply += 1
    return env.record, changed


@pytest.mark.parametrize(
    ("variant", "agent", "seeds"),
    [
        ("cincinnati_v0", AMONG_AGENTS, range(2)),
        ("six_card_v0", "expert", range(4, 6)),
        ("barrie_v0", AMONG_AGENTS, range(6, 7)),
        *(pytest.param(v, AMONG_AGENTS, range(20, 28), marks=pytest.mark.long) for v in VARIANTS),
    ],
)
def test_an_agents_own_hands_have_no_mistake(variant, agent, seeds):
    for seed in seeds:
        record, _ = hand_with(variant, seed=seed, agent=agent)
        review = analysis.review(record, agent, seed=77 + seed)
        assert review.mistakes == []
        assert all(player.mistakes == player.lost == 0 for player in review.players)
        assert all(player.unlucky == player.open for player in review.players)


def own_call(call):
    return lambda row, names: call if row["phase"] == Phase.AUCTION and row["turn"] == 1 else None


def throws_a_bower_away(row, names):
    """A `change` by which a last seat plays the right bower on a trick that its partner wins."""
    played = sum(row["plays"].reshape(4, -1)[:, row["trick"]] >= 0)
    in_play = row["phase"] == Phase.PLAY and row["led"] >= 0
    if not in_play or played < 3 or row["strain"] == 4 or row["trick"] > 3:
        return None
    bower = f"J{'CDHS'[row['strain']]}"
    wasted = row["winning"] == row["turn"] ^ 2 and bower in names and len(names) > 2
    return bower if wasted else None


def gives_up_the_right_bower(row, names):
    bower = f"J{'CDHS'[row['strain']]}" if 0 <= row["strain"] < 4 else None
    return bower if row["phase"] == Phase.GIVING and bower in names else None


@pytest.mark.parametrize(
    ("variant", "change", "phase", "options"),
    [
        ("cincinnati_v0", own_call("bid moon"), Phase.AUCTION, LOW),
        ("cincinnati_v0", own_call("pass"), Phase.AUCTION, HIGH),
        ("cincinnati_v0", throws_a_bower_away, Phase.PLAY, {}),
        ("barrie_v0", gives_up_the_right_bower, Phase.GIVING, {}),
    ],
    ids=["moon on low cards", "pass on six tricks", "bower thrown", "bower given up"],
)
def test_a_planted_blunder_is_the_first_mistake(variant, change, phase, options):
    for seed in range(100):
        record, changed = hand_with(
            variant, change, **({"seed": seed, "dealer": seed % 4} | options)
        )
        if changed:
            break
    review = analysis.review(record, "expert")
    mistake = review.mistakes[0]
    assert (mistake.ply, mistake.action, mistake.phase) == (*changed, phase)
    assert mistake.best != mistake.action
    assert mistake.lost > max(0.25, 3 * mistake.error)
    assert (mistake.open is None) == (phase != Phase.PLAY)
    assert " ".join(mistake.sentence.split()) in " ".join(str(review).split())
    player = review.players[mistake.seat]
    own = [each for each in review.mistakes if each.seat == mistake.seat]
    assert player.mistakes == len(own)
    assert player.lost == pytest.approx(sum(each.lost for each in own))


def test_all_figures_of_a_mistake_are_averages_over_the_same_deals():
    record, (ply, _) = hand_with("cincinnati_v0", own_call("pass"), **HIGH)
    mistake, rules = analysis.review(record, "expert", worlds=60, seed=5).mistakes[0], record.rules
    played = next(iter(record.played_hands()))
    replay_row(row := rows_of([played.dealt]), compile_tables(rules), played.actions[:ply])
    chosen, best = (actions.of(rules).index[name] for name in (mistake.action, mistake.best))
    columns, weights = {chosen: [], best: []}, []
    for seed in range(6, 10):
        trial = Advisor(rules, "expert", 60, None, seed).try_row(row, also=[chosen])
        weights.append(trial.counted.weights)
        for action, column in columns.items():
            column.append(trial.counted.column(action))

    def average(action, figure):
        return np.average(np.concatenate(columns[action])[figure], weights=np.concatenate(weights))

    assert mistake.points == pytest.approx(average(chosen, "points"))
    assert mistake.wins == pytest.approx(average(chosen, "wins"))
    assert mistake.lost == pytest.approx(average(best, "points") - mistake.points)
    assert mistake.wins_lost == pytest.approx(average(best, "wins") - mistake.wins)
    stands = np.concatenate(weights) * (np.concatenate(columns[best])["declarer"] == 0)
    made = np.average(np.concatenate(columns[best])["good"], weights=stands)
    assert mistake.best_made == pytest.approx(made)


def test_a_side_whose_contract_is_set_already_makes_no_mistake():
    t = compile_tables(RULES)[0]

    def change(row, names):
        lost = row["declarer"] >= 0 and row["declarer"] & 1 == row["turn"] & 1
        most = t["tricks"] - t["need"][row["level"]]
        lost = lost and row["tricks_won"][1 - (row["turn"] & 1)] > most
        return names[0] if row["phase"] == Phase.PLAY and len(names) > 1 and lost else None

    record, (ply, action) = hand_with("cincinnati_v0", change, seed=321, dealer=0)
    review = analysis.review(record, AMONG_AGENTS, worlds=100)
    [decision] = [each for each in review.hands[0].decisions if each.ply == ply]
    assert (decision.action, decision.best) == (action, "QS")
    assert decision.lost > 0.9  # a mistake in any other hand
    assert not decision.mistake


@pytest.fixture(scope="module")
def weak(tmp_path_factory):
    """A game of a rule and a cautious player, with its review of three hands."""
    out = tmp_path_factory.mktemp("weak") / "games.jsonl"
    match("cincinnati_v0", "rule", "cautious", games=2, seed=1, records=out)
    record = next(iter(records_io.read(out)))
    return record, analysis.review(record, hands=[4, 0, 1, 1])


def test_notes_have_the_figures_of_every_choice(weak):
    record, review = weak
    notes = review.notes()
    assert notes == json.loads(json.dumps(notes, allow_nan=False))
    assert [hand.number for hand in review.hands] == [0, 1, 4]
    decided = {(each.hand, each.ply): each for hand in review.hands for each in hand.decisions}
    opened = {(card.hand, card.ply): card.lost for card in solver.analyse(record)}
    for number, hand in enumerate(notes["hands"]):
        names = record.hands[number]["actions"]
        assert len(hand["plies"]) == len(names)
        assert (hand["par"] is None) == (number not in (0, 1, 4))
        for ply, note in enumerate(hand["plies"]):
            each = decided.get((number, ply))
            assert (note is None) == (each is None)
            if each is None:
                continue
            assert names[ply] == each.action
            assert each.open == opened.get((number, ply))
            assert (note["mistake"], note["best"]) == (each.mistake, each.best)
            assert note["lost"] == pytest.approx(each.lost, abs=1e-3)
            called = "made or set" if each.action == "pass" else "made"
            declared = "set" if record.hands[number]["declarer"] & 1 != each.seat & 1 else "made"
            assert note["chance_of"] == (called if each.phase == Phase.AUCTION else declared)
            assert 0 <= note["wins"] <= 1
            assert note["cost"] == (each.amount if each.mistake else "")
            mark = ply_note({**note, "open": None}, {each.best: each.best})["mark"]
            if each.mistake:
                assert each.action != each.best
                assert each.lost > Z * each.error or each.wins_lost > Z * each.wins_error
                assert mark
            elif 0.05 < each.lost < 0.99 * Z * each.error:
                assert mark == ""
    assert [player["name"] for player in notes["players"]] == record.agents
    lost = [player.wins_lost for player in review.players]
    assert [player["wins_lost"] for player in notes["players"]] == pytest.approx(lost, abs=1e-3)
    assert max(lost) > 0.02


def test_the_weaker_player_makes_more_mistakes_and_sums_agree_with_decisions(weak):
    _, review = weak
    mistakes = [player.mistakes for player in review.players]
    assert sum(mistakes) == len(review.mistakes) > 4
    assert mistakes[1] + mistakes[3] > mistakes[0] + mistakes[2]
    for player in review.players:
        own = [d for hand in review.hands for d in hand.decisions if d.seat == player.seat]
        assert player.decisions == len(own)
        assert player.open == sum(d.open or 0 for d in own)
        assert player.unlucky == sum(d.open or 0 for d in own if not d.mistake)
        assert player.wins_lost == pytest.approx(sum(d.wins_lost for d in own if d.mistake))
        assert player.lost_per_hand == pytest.approx(sum(d.lost for d in own if d.mistake) / 3)


def test_a_review_prints_its_contracts_and_has_every_mistake_in_html(weak):
    record, review = weak
    for hand in review.hands:
        stated = record.hands[hand.number]
        contract = f"Hand {hand.number + 1}: {stated['contract']} by seat {stated['declarer']}"
        assert contract in str(review)
        assert hand.par == solver.par(stated["deal"], record.rules, stated["dealer"])
    assert review._repr_html_().count("<li>") == len(review.mistakes)


def test_the_same_seed_gives_the_same_review_and_progress_is_reported(weak):
    (record, review), calls = weak, []
    again = analysis.review(record, hands=[1], progress=lambda *call: calls.append(call))
    assert again.hands[0] == review.hands[1]
    total = len(record.hands[1]["actions"])
    assert calls == [(k, total, k) for k in range(1, total + 1)]


def test_an_unfinished_hand_is_reviewed_to_its_last_action():
    env = bideuchre_env.six_card_v0.raw_env()
    env.reset(seed=3)
    for n_actions, result in ((2, "the auction is unfinished."), (9, ", unfinished.")):
        while len(env.record.hands[0]["actions"]) < n_actions:
            observation = env.observe(env.agent_selection)
            env.step(int(np.flatnonzero(observation["action_mask"])[-1]))
        review = analysis.review(env.record, "rule", worlds=40)
        assert len(review.notes()["hands"][0]["plies"]) == n_actions
        assert review.hands[0].result.endswith(result)


BAD_ARGUMENTS = [({"hands": [99]}, r"hands=\[99\]: expected numbers of hands from 0 to")]
BAD_ARGUMENTS += [({"hands": ["1"]}, "from 0 to"), ({"worlds": 0}, "worlds=0")]
BAD_ARGUMENTS += [({"agent": "nobody"}, "nobody")]


@pytest.mark.parametrize(("options", "message"), BAD_ARGUMENTS)
def test_invalid_arguments_are_refused(weak, options, message):
    with pytest.raises(OptionError, match=message):
        analysis.review(weak[0], **options)


def test_a_record_that_does_not_replay_is_refused(weak):
    with pytest.raises(OptionError, match="expected a GameRecord"):
        analysis.review({"hands": []})
    record = GameRecord.from_dict(weak[0].to_dict())
    record.hands[0] = record.hands[0] | {"tricks": [9, 9]}
    with pytest.raises(RecordError, match="hand 1"):
        analysis.review(record)
