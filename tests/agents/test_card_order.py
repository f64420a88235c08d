"""Another order of the cards: players, searches and the solver read it from the tables.

In the game `LOW` the nine is the highest card of a suit at no trump and the ace the lowest. No
option of `Rules` makes such a game: its tables are compiled from another order.
"""

import random
from itertools import cycle

import numpy as np
import pytest
from oracles import plain_solver, reference
from oracles.plain_solver import all_lines
from support.agent_games import CINCINNATI, Position, decisions, live_rows, look, played, start
from support.expert_ending import by_every_line, ending_values
from support.solver_positions import random_ending

from bideuchre_env import agents, solver
from bideuchre_env.core import tables
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import GIVING
from bideuchre_env.core.tables import compile_tables, order_of
from bideuchre_env.learning.features import features_of
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES, NO_TRUMP, hand_names

pytestmark = pytest.mark.search

LOW = CINCINNATI.replace(target=41)
TO_NO_TRUMP = ("pass", "pass", "pass", "bid 3", "trump NT")


def low_height(card, strain, height=reference.height):
    return -height(card, strain) if strain == "NT" else height(card, strain)


@pytest.fixture(scope="module", autouse=True)
def low_no_trump():
    """Compile the tables of `LOW`, which stay in the cache; the oracles get the same order."""
    usual = compile_tables(CINCINNATI)[0]
    strength = usual["strength"].copy()
    strength[NO_TRUMP] = 7 - strength[NO_TRUMP]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_order", lambda kinds: order_of(usual["suit_of"], strength))
        compile_tables(LOW)
    with pytest.MonkeyPatch.context() as patch:
        for oracle in (reference, plain_solver):
            patch.setattr(oracle, "height", low_height)
        yield


def no_trump(n, seed, *players):
    """The decisions of n hands that the dealer declares at no trump: (observation, mask, state).

    The players take turns.
    """
    states, names, result = start(LOW, n, seed=seed), actions.of(LOW).names, []
    for name in TO_NO_TRUMP:
        apply_rows(states, compile_tables(LOW), np.arange(n), np.full(n, names.index(name)))
    for player in cycle(agents.make(name, LOW, seed=seed) for name in players):
        if not len(live := live_rows(states)):
            return result
        rows, masks = look(LOW, states, live)
        result += [(rows[j], masks[j], states[i].copy()) for j, i in enumerate(live)]
        apply_rows(states, compile_tables(LOW), live, player.act_rows(rows, masks))


def on_table(state):
    """The cards of the current trick, as (seat, card)."""
    cards = played(state)[4 * int(state["trick"]) :]
    return [((int(state["turn"]) - len(cards) + i) % 4, card) for i, card in enumerate(cards)]


def hand(state, seat):
    return hand_names(int(state["hands"][seat]))


def winners(state, mask):
    """The legal cards that beat the cards on the table."""
    names, seat, table = actions.of(LOW).names, int(state["turn"]), on_table(state)
    legal = [names[i] for i in np.flatnonzero(mask)]
    return [card for card in legal if reference.winner_of([*table, (seat, card)], "NT") == seat]


def test_a_trick_goes_to_the_highest_card_of_its_suit():
    changed = 0
    for _, _, state in no_trump(50, 1, "random"):
        cards, trick = played(state), int(state["trick"])
        for k in range(trick):
            leader = int(state["leaders"][k])
            plays = [((leader + i) % 4, card) for i, card in enumerate(cards[4 * k : 4 * k + 4])]
            winner = reference.winner_of(plays, "NT")
            assert int(state["leaders"][k + 1]) == winner
            changed += winner != max(plays, key=lambda play: usual_rank(play, plays[0][1]))[0]
    assert changed


def usual_rank(play, led):
    """A sort key of a play at no trump by the usual order."""
    return play[1][1] == led[1], reference.PLAIN_ORDER.index(play[1][0])


def test_last_to_play_the_rule_player_wins_as_cheaply_as_it_can():
    rule, names, cheap = agents.make("rule", LOW), actions.of(LOW).names, 0
    for row, mask, state in no_trump(400, 2, "rule", "random"):
        table, seat = on_table(state), int(state["turn"])
        if len(table) < 3 or reference.winner_of(table, "NT") == (seat + 2) % 4:
            continue
        wins = winners(state, mask)
        if len(wins) > 1:
            cheapest = min(wins, key=lambda card: low_height(card, "NT"))
            assert names[rule.act(row, mask)] == cheapest
            cheap += 1
    assert cheap > 10


@pytest.mark.parametrize("agent", ["rule", "expert", "net", "ppo", "pimc", "inference"])
def test_every_player_wins_a_moon_with_the_nine_and_not_the_ace(agent):
    hands = {0: "9C AC 9D TD 9H 9S", 1: "TC AD KD AH KH KS", 2: "JC JD QD JH QH QS",
             3: "QC KC TH AS JS TS"}  # fmt: skip
    position = Position(LOW, hands, agent=agent)
    position.do("pass, pass, pass, bid 5, trump NT, TC JC QC")
    assert position.choice() == "9C"


def test_the_features_name_the_bosses_and_the_cards_that_beat_the_trick():
    rows, masks, states = zip(*no_trump(100, 3, "random"), strict=True)
    features = features_of(LOW, "cards")
    packed = features.pack(*map(np.array, (rows, masks)), rename=False)
    inputs = features.unpack(packed.inputs)

    def named(i, block):
        return {CARD_NAMES[kind] for kind in np.flatnonzero(inputs[i, features.slices[block]])}

    for i, state in enumerate(states):
        own, table = hand(state, int(state["turn"])), on_table(state)
        unseen = set(CARD_NAMES) - set(own) - set(played(state))
        above = {
            card: sum(
                c[1] == card[1] and low_height(c, "NT") > low_height(card, "NT") for c in unseen
            )
            for card in own
        }
        assert named(i, "boss") == {card for card in own if above[card] == 0}
        assert named(i, "near_boss") == {card for card in own if above[card] == 1}
        assert named(i, "beating") == set(winners(state, masks[i]) if table else ())


def test_the_features_of_the_auction_count_the_highest_cards():
    rows, masks, states = zip(*decisions(LOW, 60, seed=4), strict=True)
    features, auction = features_of(LOW, "auction"), [s["phase"] < GIVING for s in states]
    packed = features.pack(np.array(rows)[auction], np.array(masks)[auction], rename=False)
    counts = features.unpack(packed.inputs)[:, features.slices["side_aces"]].reshape(-1, 5, 5)
    for i, state in enumerate(np.array(states)[auction]):
        nines = sum(card[0] == "9" for card in hand(state, int(state["turn"])))
        assert np.flatnonzero(counts[i, NO_TRUMP]).tolist() == [nines]


def test_the_experts_search_of_the_last_tricks_equals_trying_every_card():
    tried = 0
    for _, _, state in no_trump(40, 5, "random"):
        seat, hands = int(state["turn"]), [hand(state, seat) for seat in range(4)]
        if len(hands[seat]) > 3:
            continue
        values = ending_values(state, compile_tables(LOW), hands)
        for card, tricks in by_every_line(hands, on_table(state), seat, "NT").items():
            assert values[card][0] == values[values[card][1]][0] == tricks
            tried += 1
    assert tried > 500


def test_the_solver_equals_trying_every_card():
    rng = random.Random(6)
    endings = [random_ending(rng, LOW, rng.randint(1, 3)) for _ in range(1_000)]
    for ending in (each for each in endings if each.strain == "NT"):
        tricks = solver.solve(ending.row, rules=LOW)
        expected = all_lines(ending.hands, ending.table, ending.seat, "NT")
        assert tricks == (ending.left - expected if ending.seat & 1 else expected)
