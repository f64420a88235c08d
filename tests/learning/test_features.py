"""Features, compared with a slow implementation that reads decoded observations."""

from collections import Counter

import numpy as np
import pytest
from oracles.reference import suit_of
from support.custom_agents import ObservationPolicy
from support.playthroughs import EACH, SIX, slow_unless

import bideuchre_env
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.encoder import encoder_of
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.suits import SUIT_MAPS
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS, SUITS
from bideuchre_env.rules.variants import RULES

RANKS = "AKQJT9"  # in the order of card kinds


GAMES = {**RULES, "low no trump": RULES["barrie_v0"].replace(no_trump="both")}
TWINS = [*SIX, "low no trump"]  # in rounds of bidding the decoded words lack earlier calls


def decisions(name, rows=24, steps=60):
    """Observations (n, D), masks (n, A) and the layout, of hands that `ObservationPolicy` plays."""
    vec = bideuchre_env.make(GAMES[name]).vec(rows, copy=True)
    seen, _ = vec.reset(seed=3)
    policy, observations, masks = ObservationPolicy(1), [], []
    for _ in range(steps):
        observations.append(seen["observation"])
        masks.append(seen["action_mask"])
        seen, *_ = vec.step(policy.act_rows(observations[-1], masks[-1]))
    return np.concatenate(observations), np.concatenate(masks), vec.observation_layout


def of_part(features, observations, masks):
    """The decisions of the features' part: the auction or the cards."""
    cards = masks[:, actions.of(features.rules).card_offset :].any(axis=1)
    chosen = cards == (features.part == "cards")
    return observations[chosen], masks[chosen]


def encode(features, observations, masks, **options):
    """Inputs, legal outputs and symmetries of the decisions, as `features.write` writes them."""
    n = len(observations)
    inputs = np.full((n, features.size), 7, np.float32)
    legal, symmetries = np.full((n, features.outputs), 7, np.int8), np.full(n, 7, np.int64)
    features.write(observations, masks, inputs, legal, symmetries, **options)
    return inputs, legal, symmetries


def strength(card, strain):
    rank, suit = card[:-1].replace("10", "T"), card[-1]
    if strain == "LOW":
        return RANKS.index(rank)
    if rank == "J" and suit_of(card, strain) == strain:
        return 20 if suit == strain else 19
    return -RANKS.index(rank)


class Twin:
    """Slow features: the nonzero inputs of one decision by block, from `layout.decode`."""

    def __init__(self, features, layout, observation, mask, symmetry):
        self.rules, self.part = features.rules, features.part
        self.words, self.mask = layout.decode(observation), mask
        self.map = [int(suit) for suit in SUIT_MAPS[symmetry]]
        self.n = self.rules.tricks + 1
        self.strain = self.words["strain"]

    def card(self, card):
        """Index of a card after its suit is renamed."""
        kind = CARD_NAMES.index(card)
        return kind // 4 * 4 + self.map[kind % 4]

    def strain_place(self, strain):
        """Index of a strain after its suit is renamed."""
        at = STRAINS.index(strain)
        return self.map[at] if at < 4 else at

    def blocks(self):
        """Indices of the nonzero inputs, by block."""
        words, held = self.words, Counter(self.words["hand"])
        result = {
            "held": {self.card(card) for card in held},
            "held_pair": {self.card(card) for card, n in held.items() if n == 2},
            "dealer": {words["dealer"]},
            "calls": set(),
            "call_strains": set(),
        }
        bids = [bid.name for bid in self.rules.ladder]
        for seat, call in enumerate(words["calls"]):
            if call is None:
                continue
            bid, in_bid = call.removeprefix("bid "), self.rules.strain_named == "in_bid"
            if in_bid and bid != "pass":
                bid, strain = bid.rsplit(" ", 1)
                result["call_strains"].add(
                    len(self.rules.strains) * seat + self.strain_place(strain)
                )
            result["calls"].add(seat * (1 + len(bids)) + ["pass", *bids].index(bid))
        result |= self.auction(held) if self.part == "auction" else self.cards(held)
        return result

    def auction(self, held):
        result = {name: set() for name in ("naming", "trumps", "bowers", "side_aces", "side_voids")}
        if self.words["phase"] == "naming":
            result["naming"].add(0)
        for strain in self.rules.strains:
            place, counts = self.strain_place(strain), Counter()
            for card, n in held.items():
                counts[suit_of(card, strain)] += n
            side = [suit for suit in SUITS if suit != strain]
            top = CARD_NAMES[self.rules.kinds - 1][0] if strain == "LOW" else "A"
            aces = sum(top + suit in held for suit in side)
            result["side_aces"].add(5 * place + aces)
            result["side_voids"].add(5 * place + sum(not counts[suit] for suit in side))
            if strain in SUITS:
                jacks = {strength(card, strain) for card in held if card[0] == "J"}
                result["trumps"].add(place * self.n + counts[strain])
                result["bowers"].add(4 * place + (20 in jacks) + 2 * (19 in jacks))
        return result

    def cards(self, held):
        words, strain, rules = self.words, self.strain, self.rules
        ours, theirs = words["tricks_won"]
        bid = next(bid for bid in rules.ladder if bid.name == words["bid"])
        won = theirs if words["declarer"] % 2 else ours
        missing = (bid.tricks or rules.tricks) - won
        spare = rules.tricks - ours - theirs - missing
        unseen = Counter(dict.fromkeys(CARD_NAMES[: rules.kinds], rules.copies))
        for cards in (words["hand"], words["discarded"]):  # passed cards count as unseen
            unseen -= Counter(cards or [])
        for seat in words["played"]:
            unseen -= Counter(card for card in seat if card)
        result = {
            "phase": {["giving", "passing", "play"].index(words["phase"])},
            "given": {self.card(card) for card in words["discarded"] or []},
            "received": {self.card(card) for card in words["passed"] or []},
            "unseen": {self.card(card) for card, n in unseen.items() if n},
            "unseen_pair": {self.card(card) for card, n in unseen.items() if n == 2},
            "bid": {[each.name for each in rules.ladder].index(words["bid"])},
            "no_trump": {0} if strain in ("NT", "LOW") else set(),
            "low": {0} if strain == "LOW" else set(),
            "declarer": {words["declarer"]},
            "ours": {ours},
            "theirs": {theirs},
            "missing": {max(missing, 0)},
            "spare": {max(spare + 1, 0)},
        }
        for name, cards in (("suit_held", held), ("suit_unseen", unseen)):
            counts = Counter()
            for card, n in cards.items():
                counts[suit_of(card, strain)] += n
            result[name] = {8 * self.map[SUITS.index(s)] + min(counts[s], 7) for s in SUITS}
        play = ("played", "boss", "near_boss", "beating", "led", "after", "voids")
        result |= {name: set() for name in (*play, "winning_kind", "winning_seat")}
        if words["phase"] == "play":
            self.play(held, unseen, result)
        return result

    def play(self, held, unseen, result):
        """Blocks of the cards played, and of the player's cards that win."""
        words, strain = self.words, self.strain
        table, led, winning = words["trick"], words["led"], words["winning"]
        best = table[winning] if led else None
        result["led"].add(self.map[SUITS.index(led)] if led else 4)
        if best:
            result["winning_kind"].add(self.card(best))
            result["winning_seat"].add(winning - 1)
        for seat in (1, 2, 3):
            if table[seat] is None and words["sitting_out"] != seat:
                result["after"].add(seat - 1)
            result["voids"] |= {
                4 * (seat - 1) + self.map[SUITS.index(suit)] for suit in words["voids"][seat]
            }
            played = {self.card(card) for card in words["played"][seat] if card}
            result["played"] |= {self.rules.kinds * (seat - 1) + card for card in played}
        legal = set(np.array(actions.of(self.rules).names)[self.mask == 1])
        for card in held:
            suit, power = suit_of(card, strain), strength(card, strain)
            rivals = {c: n for c, n in unseen.items() if suit_of(c, strain) == suit}
            above = sum(n for c, n in rivals.items() if strength(c, strain) > power)
            if above < 2:
                result[("boss", "near_boss")[above]].add(self.card(card))
            if best and card in legal:
                same = suit == suit_of(best, strain)
                higher = power > strength(best, strain) if same else suit == strain
                if higher:
                    result["beating"].add(self.card(card))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", slow_unless(["cincinnati_v0", "low no trump"], TWINS))
def test_inputs_equal_the_twin(name, part):
    observations, masks, layout = decisions(name)
    features = features_of(GAMES[name], part)
    observations, masks = of_part(features, observations, masks)
    for options in ({}, {"rename": False}):
        inputs, _, symmetries = encode(features, observations, masks, **options)
        assert set(np.unique(inputs)) <= {0.0, 1.0}
        if options:
            assert (symmetries == 0).all()
        for i in range(0, len(observations), 5):
            twin = Twin(features, layout, observations[i], masks[i], symmetries[i])
            expected = twin.blocks()
            for block, place in features.slices.items():
                ones = set(np.flatnonzero(inputs[i, place]).tolist())
                assert ones == expected[block], (block, twin.words)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0"])
def test_trump_is_the_first_suit_and_outputs_invert_actions(name, part):
    observations, masks, layout = decisions(name)
    features = features_of(RULES[name], part)
    observations, masks = of_part(features, observations, masks)
    _, legal, symmetries = encode(features, observations, masks)
    rows, outputs = map(np.ascontiguousarray, np.nonzero(legal))
    chosen = features.actions(outputs, symmetries[rows])
    assert masks[rows, chosen].all()
    assert legal.sum() == masks.sum()
    assert (features.outputs_of(chosen, symmetries[rows]) == outputs).all()
    if part == "cards":
        for row, symmetry in zip(observations, symmetries, strict=True):
            strain = layout.decode(row)["strain"]
            assert strain == "NT" or SUIT_MAPS[symmetry, STRAINS.index(strain)] == 0


def play_renamed(name, deal, dealer, choose):
    """Play a hand at eight tables that differ by the names of suits; compare the inputs.

    `choose(mask)` returns the action at the first table, whose suits are not renamed, or None.
    """
    encoder = encoder_of(RULES[name])
    tables = [bideuchre_env.make(name).raw_env(episode="hand") for _ in SUIT_MAPS]
    for table, renamed in zip(tables, SUIT_MAPS, strict=True):
        letters = str.maketrans(SUITS, "".join(SUITS[int(k)] for k in renamed))
        dealt = [[card[:-1] + card[-1].translate(letters) for card in hand] for hand in deal]
        table.reset(options={"deal": dealt, "dealer": dealer})
    while not tables[0].terminations[tables[0].agent_selection]:
        seen = [table.observe(table.agent_selection) for table in tables]
        observations, masks = (
            np.array([each[key] for each in seen]) for key in ("observation", "action_mask")
        )
        inputs, legal, _ = encoder.encode(observations, masks)
        assert (inputs == inputs[0]).all()
        assert (legal == legal[0]).all()
        action = choose(masks[0])
        if action is None:
            return
        renamed = encoder.renamed(np.full(len(tables), action), np.arange(len(tables)))
        for table, each in zip(tables, renamed.tolist(), strict=True):
            table.step(each)


@pytest.mark.parametrize("name", EACH)
def test_renaming_the_suits_of_a_hand_leaves_all_its_inputs_unchanged(name):
    """Also if the player's cards do not distinguish the suits, such as two low side cards."""
    rng, names = np.random.default_rng(4), actions.of(RULES[name]).names
    lone = [i for i, call in enumerate(names) if call[4:8] in ("call", "moon")]
    for hand in range(12):

        def choose(mask, hand=hand):
            legal = np.flatnonzero(mask)
            often = legal[np.isin(legal, lone)] if hand % 2 else []
            return rng.choice(often if len(often) else legal)

        table = bideuchre_env.make(name).raw_env(episode="hand")
        table.reset(seed=hand)
        play_renamed(name, table.record.hands[0]["deal"], hand % 4, choose)


@pytest.mark.parametrize(
    ("deal", "story"),
    [
        (  # seat 0, without a club or spade, sees the same cards of both; only one is led
            ["AH AD KH KD QH QD", "AC AS JC JS 9H 9D", "KC KS TC TS TH TD", "QC QS 9C 9S JH JD"],
            "bid 3, pass, pass, pass, trump NT, AC, KC, QC, QH, AS, KS, QS",
        ),
        (  # seat 1 has played both black aces; only for clubs is seat 2 known to be void
            ["AD KD QD TD 9D 9H", "AC TC 9C AS TS 9S", "AH KH QH JH TH JD", "KC QC JC KS QS JS"],
            "bid moon, pass, pass, pass, trump H, AC, TH, 9D, AH, 9H, AS, KH",
        ),
    ],
    ids=["led", "void"],
)
def test_the_suit_led_and_known_voids_distinguish_suits(deal, story):
    names, left = actions.of(RULES["cincinnati_v0"]).names, story.split(", ")

    def choose(mask):
        return names.index(left.pop(0)) if left else None

    play_renamed("cincinnati_v0", [hand.split() for hand in deal], 0, choose)


def test_unusable_arrays_are_refused():
    rules = RULES["cincinnati_v0"]
    with pytest.raises(OptionError, match="part='play': expected one of 'auction', 'cards'"):
        features_of(rules, "play")
    features = features_of(rules, "cards")
    observations, masks = of_part(features, *decisions("cincinnati_v0")[:2])
    n = len(observations)
    good = {
        "inputs": np.zeros((n, features.size), np.float32),
        "legal": np.zeros((n, features.outputs), np.int8),
        "symmetries": np.zeros(n, np.int64),
    }
    for name, bad, message in (
        ("inputs", np.zeros((n, features.size)), "expected a numpy array of float32 and shape"),
        ("legal", np.zeros((n, features.outputs + 1), np.int8), "expected a numpy array of int8"),
        ("symmetries", np.zeros(2 * n, np.int64)[::2], "expected a contiguous array"),
    ):
        with pytest.raises(OptionError, match=f"^{name}: {message}"):
            features.write(observations, masks, **{**good, name: bad})
    with pytest.raises(OptionError, match="observations: expected a numpy array of int8 and shape"):
        features.pack(observations[:, :-1], masks)
    with pytest.raises(
        OptionError, match="outputs: expected numbers from 0 to 23 for the part 'cards'"
    ):
        features.actions(np.array([24]), np.array([0]))
    with pytest.raises(OptionError, match="symmetries: expected numbers from 0 to 7"):
        features.actions(np.array([2]), np.array([8]))


def test_arbitrary_observations_give_inputs_within_bounds():
    rng = np.random.default_rng(7)
    for name in RULES:
        for part in PARTS:
            features = features_of(RULES[name], part)
            width = bideuchre_env.variants[name].vec(1).observation_layout.size
            noise = rng.integers(-128, 128, (300, width), np.int8)
            noise[::2] = rng.integers(0, 2, noise[::2].shape)
            masks = rng.integers(0, 2, (300, actions.of(RULES[name]).n), np.int8)
            inputs, legal, _ = encode(features, noise, masks)
            assert set(np.unique(inputs)) <= {0.0, 1.0}
            assert set(np.unique(legal)) <= {0, 1}


@pytest.mark.parametrize("name", EACH)
def test_the_encoder_joins_both_parts_and_the_state_of_the_game(name):
    rules, encoder = RULES[name], encoder_of(RULES[name])
    observations, masks, layout = decisions(name)
    inputs, legal, symmetries = encoder.encode(observations, masks)
    assert inputs.min() >= -1
    assert inputs.max() <= 1
    cards = masks[:, actions.of(rules).card_offset :].any(axis=1)
    for part, chosen in (("auction", ~cards), ("cards", cards)):
        features = features_of(rules, part)
        expected, outputs, renamings = encode(features, observations[chosen], masks[chosen])
        places = [at for key, at in encoder.slices.items() if key.startswith(part)]
        at = slice(places[0].start, places[-1].stop)
        np.testing.assert_array_equal(inputs[chosen, at], expected)
        assert not inputs[~chosen, at].any()
        np.testing.assert_array_equal(symmetries[chosen], renamings)
        first = encoder.n_actions - features.outputs if part == "cards" else 0
        np.testing.assert_array_equal(legal[chosen, first : first + features.outputs], outputs)
    np.testing.assert_array_equal(legal.sum(axis=1), masks.sum(axis=1))
    for row, observation in zip(inputs[::7], observations[::7], strict=True):
        words = layout.decode(observation)
        points = np.clip(np.array(words["score"]) / (rules.target or 127), -1, 1)
        np.testing.assert_allclose(row[encoder.slices["score"]], points, rtol=1e-6)
        deals = min(127, rules.max_hands if rules.target else 4 * rules.rounds)
        assert row[encoder.slices["hands_left"]] == pytest.approx(words["hands_left"] / deals)


def test_features_and_encoders_have_the_slices_of_their_blocks():
    rules = RULES["club_v0"]
    for blocks, name in ((features_of(rules, "cards"), "boss"), (encoder_of(rules), "cards boss")):
        assert blocks[name] == blocks.slices[name]
        assert name in blocks
        assert sum(at.stop - at.start for at in map(blocks.__getitem__, blocks)) == blocks.size
        with pytest.raises(OptionError, match=f"no block 'cards bos' .*: .*{name}"):
            blocks["cards bos"]


def test_after_a_hand_only_the_state_of_the_game_is_encoded():
    table = bideuchre_env.cincinnati_v0.raw_env(episode="hand")
    table.reset(seed=1)
    while table.agents and not table.terminations[table.agent_selection]:
        table.step(int(np.flatnonzero(table.action_masks())[-1]))
    seen, encoder = table.observe("player_1"), table.features
    inputs, legal, symmetries = encoder.encode(seen["observation"][None], seen["action_mask"][None])
    assert not inputs[:, : encoder.slices["score"].start].any()
    assert inputs.any()
    assert not legal.any()
    assert symmetries[0] == 0


@pytest.mark.parametrize("name", EACH)
def test_renaming_permutes_the_actions_as_the_suits(name):
    encoder, names = encoder_of(RULES[name]), actions.of(RULES[name]).names
    every = np.arange(encoder.n_actions)
    for symmetry, suits in enumerate(SUIT_MAPS):
        renamed = encoder.renamed(every, np.full(len(every), symmetry))
        assert sorted(renamed) == every.tolist()
        back = encoder.actions(renamed, np.full(len(every), symmetry))
        np.testing.assert_array_equal(back, every)
        letters = {SUITS[i]: SUITS[int(suit)] for i, suit in enumerate(suits)}
        for action, other in zip(names, np.array(names)[renamed], strict=True):
            last = action[-1]
            expected = action[:-1] + letters[last] if last in letters else action
            assert other == expected


def test_a_policy_on_features_acts_in_the_games_numbers():
    encoder = encoder_of(RULES["barrie_v0"])
    observations, masks, _ = decisions("barrie_v0", rows=8, steps=20)
    chosen = encoder.act_rows(lambda inputs, legal: legal.argmax(axis=1), observations, masks)
    assert masks[np.arange(len(masks)), chosen].all()
    with pytest.raises(OptionError, match="choices: expected numbers from 0 to 71"):
        encoder.act_rows(lambda inputs, legal: np.full(len(legal), 72), observations, masks)
    with pytest.raises(OptionError, match="observations: expected a numpy array of int8"):
        encoder.encode(observations[:, 1:], masks)
    with pytest.raises(OptionError, match="symmetries: expected numbers from 0 to 7"):
        encoder.renamed(np.array([0]), np.array([8]))
