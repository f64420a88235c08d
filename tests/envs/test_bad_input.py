"""Bad input of every kind: a precise error that says what is wrong, and nothing changed."""

import copy
import math

import numpy as np
import pytest
from support.playthroughs import (
    VARIANTS,
    Chooser,
    finish,
    legal_names,
    plies,
    same,
    snapshot,
    start,
)

import bideuchre_env
from bideuchre_env import Bid, GameRecord, Rules, errors, make
from bideuchre_env._checks import shown

HUGE = 10**5000  # more digits than Python writes
NOT_NUMBERS = [
    True,
    np.bool_(True),
    1.0,
    np.float64(1.0),
    math.nan,
    math.inf,
    b"1",
    None,
    [1],
    (1,),
    {},
    object(),
    1j,
    np.array([1]),
    np.array([[1, 2]]),
    np.array(1.0),
    np.array(True),
]


def label(value):
    """A short name for a case, for values that pytest cannot name itself."""
    return ascii(shown(value)).strip("'\"")[:40]


def refuses(env, error, match, call):
    """Check that `call` raises exactly this error with these words, and changes nothing."""
    before = snapshot(env)
    with pytest.raises(errors.BidEuchreError, match=match) as caught:
        call()
    assert type(caught.value) is error
    assert len(str(caught.value)) < 3000
    assert same(snapshot(env), before)


def positions(name):
    """A game of a variant at its start, in each phase it comes to, and at its end."""
    env, seen = start(name, 12, max_hands=40), set()
    for _ in plies(env, Chooser(12)):
        phase = int(env._states[0]["phase"])
        if phase not in seen:
            seen.add(phase)
            yield env.clone()


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_no_action_number(name):
    """A bool, float, string, array, None: the error names the seat, the value and its type."""
    for env in positions(name):
        for given in NOT_NUMBERS:
            match = rf"{env.agent_selection}: action .* is {type(given).__name__}; a whole number"
            refuses(env, errors.OutOfBoundsError, match, lambda e=env, g=given: e.step(g))


@pytest.mark.parametrize("name", VARIANTS)
def test_an_action_out_of_range(name):
    """Negative, one too many, of any size: the range is in the error."""
    for env in positions(name):
        n = len(env.action_names)
        for given in (-1, n, n + 1, -n, 2**31, -(2**31), 2**63, 2**64 + 1, HUGE, np.int64(-1)):
            match = f"{env.agent_selection}: action .* is out of range: 0 to {n - 1}"
            refuses(env, errors.OutOfBoundsError, match, lambda e=env, g=given: e.step(g))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_illegal_action_is_refused_by_name(name):
    """The error names the seat, the action and every legal one."""
    for env in positions(name):
        legal = legal_names(env)
        listed = "legal: " + ", ".join(map(repr, legal))
        for number, action in enumerate(env.action_names):
            if action not in legal:
                with pytest.raises(errors.IllegalActionError) as caught:
                    env.clone().step(number)
                said = str(caught.value)
                assert said == f"{env.agent_selection} may not choose {action!r}; {listed}"
        illegal = next(i for i, a in enumerate(env.action_names) if a not in legal)
        refuses(env, errors.IllegalActionError, "may not", lambda e=env, i=illegal: e.step(i))


@pytest.mark.parametrize("whole", [3, np.int8(3), np.uint8(3), np.int64(3), np.array(3)])
def test_every_kind_of_whole_number_is_taken(whole):
    """The other way round: what is an integer to Python is an action."""
    env = start("barrie_v0", 1)
    plain = env.clone()
    env.step(whole)
    plain.step(3)
    assert same(snapshot(env), snapshot(plain))


def test_no_step_before_a_reset_or_after_the_end():
    """There is no game to act in, and the error says what to do."""
    env = bideuchre_env.club_v0.raw_env(max_hands=1)
    with pytest.raises(errors.IllegalActionError, match=r"no game is going on: reset\(\)"):
        env.step(0)
    env.reset(seed=0)
    finish(env, Chooser(0))
    with pytest.raises(ValueError, match="None"):
        env.step(0)  # PettingZoo's own words for an agent that is done
    for _ in range(4):
        env.step(None)
    with pytest.raises(errors.IllegalActionError, match=r"no game is going on: reset\(\)"):
        env.step(None)


def test_observing_nobody():
    """An agent that does not sit at the table."""
    env = start("club_v0", 1)
    for agent in ("player_4", "north", 0, None, ["player_0"]):
        refuses(
            env, errors.OptionError, "agent .*: one of player_0", lambda a=agent: env.observe(a)
        )


def broken_deals():
    """Deals that are not the Cincinnati deck dealt out equally, each with words of its error."""
    names = [rank + suit for rank in "9TJQKA" for suit in "CDHS"]
    good = [names[seat * 6 : seat * 6 + 6] for seat in range(4)]

    def changed(seat, place, card):
        deal = copy.deepcopy(good)
        deal[seat][place] = card
        return deal

    yield good[:3], "four lists of card names, by seat"
    yield [*good, []], "four lists of card names, by seat"
    yield "9C", "four lists of card names, by seat"
    yield {0: good[0]}, "four lists of card names, by seat"
    yield 7, "four lists of card names, by seat"
    yield [*good[:3], None], "seat 3: None is no list"
    yield [*good[:3], " ".join(good[3])], "seat 3: .* is no list"
    yield [*good[:3], good[3][:5]], "seat 3: 5 cards, and a hand of this deck has 6"
    yield [good[0] + good[3][:1], *good[1:3], good[3][1:]], "seat 0: 7 cards"
    yield changed(0, 0, "9D"), "9. is dealt . times"
    yield changed(2, 3, "AS"), "is dealt . times"
    for card in ("1C", "9X", "C9", "", "100C", "joker", None, 9, ["9C"], "9C9C", "♣", HUGE):
        yield changed(1, 5, card), "seat 1: .* is no card"


@pytest.mark.parametrize(("deal", "match"), list(broken_deals()), ids=label)
def test_a_deal_that_cannot_be(deal, match):
    """Missing, doubled or foreign cards, wrong counts, wrong types."""
    env = start("cincinnati_v0", 1)
    refuses(env, errors.DealError, match, lambda: env.reset(options={"deal": deal}))


def test_a_deal_from_another_deck():
    """A whole and equal deal, but of cards this game does not have."""
    nines = start("double_deck_v0", 1).record.hands[0]["deal"]
    jacks = start("barrie_v0", 1).record.hands[0]["deal"]
    env = start("barrie_v0", 2)
    refuses(env, errors.DealError, "12 cards", lambda: env.reset(options={"deal": nines}))
    mixed = [["9C" if card == jacks[0][0] else card for card in hand] for hand in jacks]
    match = "is dealt . times, and this deck of 32 has it . times"
    refuses(env, errors.DealError, match, lambda: env.reset(options={"deal": mixed}))


@pytest.mark.parametrize(
    "dealer", [-1, 4, HUGE, True, 1.0, "1", [1], math.nan, np.array([1])], ids=label
)
def test_a_dealer_who_is_no_seat(dealer):
    """Nothing but a whole number from 0 to 3, or None."""
    env = start("six_card_v0", 1)
    match = "dealer .*: a seat from 0 to 3"
    refuses(env, errors.DealError, match, lambda: env.reset(options={"dealer": dealer}))
    match = "seat .*: a seat from 0 to 3"
    rng = np.random.default_rng(0)
    refuses(env, errors.DealError, match, lambda: env.resample_hidden(dealer, rng))


@pytest.mark.parametrize(
    "score",
    [
        [1],
        [1, 2, 3],
        5,
        "12",
        [1.0, 2.0],
        [True, False],
        [None, None],
        [10**15 + 1, 0],
        [0, -(10**15) - 1],
        [HUGE, 0],
        {0: 1, 1: 2},
        np.array([0.5, 1]),
        np.zeros((2, 2), int),
        np.array(0),
        [math.nan, 0],
    ],
    ids=label,
)
def test_a_score_that_is_none(score):
    """Two whole numbers within 10**15."""
    env = start("six_card_v0", 1)
    match = r"(?s)score .*: two whole numbers of at most"
    refuses(env, errors.DealError, match, lambda: env.reset(options={"score": score}))


@pytest.mark.parametrize(
    "seed", [-1, 2**128, HUGE, -HUGE, True, 1.0, "1", [1], np.array([1, 2])], ids=label
)
def test_a_seed_that_is_none(seed):
    """A whole number from 0 to 2**128 - 1."""
    env = start("six_card_v0", 1)
    match = r"seed=.*from 0 to 2\*\*128 - 1"
    refuses(env, errors.OptionError, match, lambda: env.reset(seed=seed))


@pytest.mark.parametrize("options", [5, "dealer", [("dealer", 1)], {"dealer"}])
def test_reset_options_that_are_no_mapping(options):
    """`options` is a dict or None."""
    env = start("six_card_v0", 1)
    refuses(env, errors.OptionError, "options=.*mapping", lambda: env.reset(options=options))


def test_an_error_in_one_option_spoils_all():
    """A good seed and a good dealer beside a bad score change nothing."""
    env = start("six_card_v0", 1)
    options = {"dealer": 2, "score": [1]}
    refuses(env, errors.DealError, "score", lambda: env.reset(seed=5, options=options))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (
            {"colour": 1},
            "unexpected keyword argument 'colour' of barrie_v0; the options are: episode",
        ),
        ({"a": 1, "target": 5, "b": 2}, "unexpected keyword argument 'a', 'b'"),
        ({"episode": "round"}, "episode='round': one of 'game', 'hand'"),
        ({"reward": "money"}, "reward='money': one of 'win', 'points'"),
        ({"reward": True}, "reward=True: one of"),
        ({"render_mode": "rgb"}, "render_mode='rgb': one of None, 'human', 'ansi', 'rgb_array'"),
        ({"view": 4}, "view=4: one of 'all', 'actor', 0"),
        ({"view": True}, "view=True: one of"),
        ({"episode": ["game"]}, "episode=.*: one of"),
    ],
)
def test_options_of_an_environment(options, match):
    """An unknown keyword, or an unknown word for a known one: the error lists what there is."""
    for maker in (bideuchre_env.barrie_v0, bideuchre_env.barrie_v0.raw_env):
        with pytest.raises(errors.OptionError, match=match):
            maker(**options)


def test_make_of_no_game():
    """`make` takes the name of a variant or `Rules`."""
    for game in ("bridge", "", None, 5, ["barrie_v0"], {"target": 5}):
        with pytest.raises(errors.OptionError, match="is no variant: one of cincinnati_v0"):
            make(game)
    with pytest.raises(errors.OptionError, match="barrie_v0 has a name"):
        make("barrie_v0", name="mine")
    unexpected = "unexpected keyword argument 'colour'; the options are: ranks"
    with pytest.raises(errors.RulesError, match=unexpected):
        make("barrie_v0", colour=1)


MOONS = (Bid("moon", 12), Bid("double moon", 24))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"ranks": "8"}, "ranks='8': one of '9', '10', 'J'"),
        ({"ranks": 9}, "ranks=9: one of"),
        ({"copies": 3}, "copies=3: a whole number from 1 to 2"),
        ({"copies": True}, "copies=True: a whole number"),
        ({"copies": 1.0}, "copies=1.0: a whole number"),
        ({"partnered": (0, 6)}, "from 1 up to 6, the tricks of a hand of this 24-card deck"),
        ({"partnered": (1, 7)}, "from 1 up to 6"),
        ({"partnered": (5, 4)}, "low before high"),
        ({"partnered": (1,)}, "partnered=.*the lowest and highest bid"),
        ({"partnered": "16"}, "partnered='16': the lowest and highest bid"),
        ({"partnered": (1.0, 6)}, "the lowest and highest bid"),
        ({"partnered": None}, "no lone bids: there is nothing to bid"),
        ({"lone": None}, "lone=None: a list of lone bids"),
        ({"lone": ["moon"]}, "lone bid 'moon': a Bid, or a mapping"),
        ({"lone": [{"name": "moon"}]}, "a mapping with name, exchange and value"),
        ({"lone": [{"name": "moon", "value": 1, "tricks": 2}]}, "a mapping with name"),
        ({"lone": [Bid("moon", 12, tricks=3)]}, "has tricks=3: it takes them all"),
        ({"lone": [Bid("Moon", 12)]}, "name 'Moon': lower-case words"),
        ({"lone": [Bid("4", 12)]}, "name '4': lower-case words"),
        ({"lone": [Bid("moon\n", 12)]}, "lower-case words"),
        ({"lone": [Bid(7, 12)]}, "name 7: lower-case words"),
        ({"lone": [Bid("moon", 0)]}, "value of 'moon'=0: a whole number from 1"),
        ({"lone": [Bid("moon", 10**6 + 1)]}, "value of 'moon'=1000001: a whole number"),
        ({"lone": [Bid("moon", HUGE)]}, "value of 'moon'=.*: a whole number"),
        ({"lone": [Bid("moon", 12, exchange=4)]}, "exchange of 'moon'=4: .* from 0 to 3"),
        ({"lone": [Bid("moon", 12, exchange=-1)]}, "exchange of 'moon'=-1"),
        ({"lone": [Bid("moon", 12), Bid("moon", 24)]}, "each needs a name of its own"),
        ({"lone": [Bid(f"b{i}", 9) for i in range(27)]}, "33 bids: a ladder has at most 32"),
        ({"moon_ladder": "step"}, "needs two or more lone bids to step through; .* has 0"),
        ({"moon_ladder": "step", "lone": MOONS[:1]}, "this ladder has 1"),
        (
            {"moon_ladder": "step", "lone": (*MOONS, Bid("call-1", 30, exchange=1))},
            "with calls for cards in the ladder any higher lone bid may be made",
        ),
        ({"dealer_may_equal": "lone"}, "this ladder has no lone bid to equal"),
        ({"dealer_may_equal": "always"}, "dealer_may_equal='always': one of 'never', 'lone'"),
        ({"win_rule": "rounds"}, "win_rule='rounds' is played to no target: leave target out"),
        ({"win_rule": "rounds", "target": None}, "rounds=None: a whole number from 1"),
        ({"win_rule": "rounds", "target": None, "rounds": 0}, "rounds=0: a whole number"),
        (
            {"win_rule": "rounds", "target": None, "rounds": 26},
            "rounds=26 is 104 hands, but max_hands=100 would truncate every game",
        ),
        ({"rounds": 1}, "rounds=1 is for win_rule='rounds'; win_rule='made_or_set'"),
        ({"target": None}, "win_rule='made_or_set' needs a target"),
        ({"target": 0}, "target=0: a whole number from 1"),
        ({"target": HUGE}, "target=.*: a whole number from 1"),
        ({"target": 52.0}, "target=52.0: a whole number"),
        ({"both_over": "highest"}, "both_over='highest' is for win_rule='any'"),
        ({"max_hands": 0}, "max_hands=0: a whole number from 1"),
        ({"max_hands": "5"}, "max_hands='5': a whole number"),
        ({"all_pass": ""}, "all_pass='': one of 'dealer_forced'"),
        ({"opening_lead": ["eldest"]}, "opening_lead=.*: one of 'eldest', 'declarer'"),
        ({"strain_named": None}, "strain_named=None: one of"),
    ],
    ids=label,
)
def test_rules_that_make_no_game(options, match):
    """Each value out of bounds and each combination without sense has a sentence saying why."""
    with pytest.raises(errors.RulesError, match=match):
        Rules(**({"target": 32} | options))


def test_rules_hold_no_unknown_field():
    """A misspelt field is Python's own TypeError; through `replace` it is a `RulesError`."""
    with pytest.raises(TypeError, match="colour"):
        Rules(target=32, colour=1)
    unexpected = "unexpected keyword argument 'colour'; the options are: ranks"
    with pytest.raises(errors.RulesError, match=unexpected):
        Rules(target=32).replace(colour=1)


def test_names_that_are_none():
    """`parse` of what is no card, strain or action of the game says what would be one."""
    from bideuchre_env.rules import actions, cards

    acts = actions.of(bideuchre_env.cincinnati_v0.rules)
    for name in ("bid 6", "bid 4 H", "passs", "trump X", "AX", "", None, 5, [], HUGE):
        with pytest.raises(errors.NotationError, match=r"is no action of this game.*: pass"):
            acts.parse(name)
        with pytest.raises(errors.NotationError, match="is no card: a rank of"):
            cards.parse_card(name)
        with pytest.raises(errors.NotationError, match="is no strain: one of C D H S NT"):
            cards.parse_strain(name)
    with pytest.raises(errors.RecordError, match="a record: an object with format, variant"):
        GameRecord.from_dict(None)
    for line in ("", "{", "[]", "NaN", "1" * 5000, '{"format": 1, "format": 2}', "[" * 10**5):
        with pytest.raises(errors.RecordError, match=r"JSON|object with"):
            GameRecord.loads(line)


def test_a_failed_replay_leaves_the_record_alone():
    """`verify` reads only: a record that fails is as it was, and fails again the same."""
    record = finish(start("club_v0", 3, max_hands=2), Chooser(3)).record
    record.hands[1]["tricks"] = [9, 9]
    before = copy.deepcopy(record)
    for _ in range(2):
        with pytest.raises(errors.RecordError, match="hand 2: tricks"):
            record.verify()
    assert record == before
