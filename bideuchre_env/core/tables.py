"""`compile_tables(rules)`: the rules as one flat record of numbers, read by every kernel."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from bideuchre_env.errors import NotationError
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import MAX_BIDS
from bideuchre_env.rules.cards import (
    JACK,
    MAX_KINDS,
    MAX_TRICKS,
    NO_TRUMP,
    STRAINS,
    SUITS,
    parse_card,
    parse_strain,
    same_colour,
)
from bideuchre_env.rules.options import CHOICES
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, new_rows

ANY, MADE_BID, MADE_OR_SET, ROUNDS = range(len(CHOICES["win_rule"]))
BOTH_DECLARER, BOTH_HIGHEST, BOTH_CONTINUE = range(len(CHOICES["both_over"]))

TABLES = np.dtype(
    [
        # the deck
        ("kinds", np.int32),  # card kinds, 16 to 24
        ("copies", np.int32),
        ("tricks", np.int32),  # cards in a hand, 4 to 12
        # the action numbering (actions.py)
        ("n_actions", np.int32),
        ("strains_per_bid", np.int32),  # 5 with the strain in the bid, else 1
        ("trump_offset", np.int32),
        ("card_offset", np.int32),
        # the auction: bit 0 pass, bit 1 + level that bid
        ("n_levels", np.int32),
        ("legal_calls", np.int64, (4, MAX_BIDS + 1)),  # [calls made so far, standing level + 1]
        ("redeal_same", np.int32),  # 1: after four passes the same dealer deals again
        # the ladder, by level
        ("need", np.int8, (MAX_BIDS,)),  # tricks the declarer's side must win
        ("alone", np.int8, (MAX_BIDS,)),
        ("exchange", np.int8, (MAX_BIDS,)),
        ("payoff", np.int32, (MAX_BIDS, MAX_TRICKS + 1)),  # [level, tricks won]: declarer's side
        # the play
        ("suit_of", np.int8, (5, MAX_KINDS)),  # [strain, kind]: the suit it belongs to
        ("suit_bits", np.int64, (5, 4)),  # [strain, suit]: its kinds as bits
        ("power", np.int8, (5, 4, MAX_KINDS)),  # [strain, suit led, kind]: 0 cannot win
        ("eldest_leads", np.int32),
        # the game
        ("win_rule", np.int32),
        ("both_over", np.int32),
        ("target", np.int64),
        ("hands_to_play", np.int64),  # under ROUNDS, else 0
        ("max_hands", np.int64),
    ],
    align=True,
)


def card_suit(card: str, strain: str) -> str:
    """Return the suit that a card belongs to in a strain: the left bower is a trump.

    Args:
        card: a card, such as "JD".
        strain: "C", "D", "H", "S" or "NT".

    Raises:
        NotationError: for any other card or strain.

    Example:
        card_suit("JD", "H")  # "H": the left bower
    """
    suit_of, _, _ = _suits_and_powers(MAX_KINDS)
    return SUITS[suit_of[parse_strain(strain), parse_card(card)]]


def card_power(card: str, strain: str, led: str | None = None) -> int:
    """Return the power of a card in a trick: the highest one wins, 0 cannot win.

    Trumps are 9 to 16, other cards of the suit led 1 to 6. Of two identical cards the first wins.

    Args:
        card: a card, such as "JD".
        strain: "C", "D", "H", "S" or "NT".
        led: the suit led; None is the card's own.

    Raises:
        NotationError: for any other card, strain or suit.

    Example:
        card_power("JD", "H", led="D")  # 15: only the right bower, "JH", is higher
    """
    suit = parse_strain(card_suit(card, strain) if led is None else led)
    if suit == NO_TRUMP:
        raise NotationError(f"led={led!r}: expected one of {' '.join(SUITS)}")
    *_, power = _suits_and_powers(MAX_KINDS)
    return int(power[parse_strain(strain), suit, parse_card(card)])


@lru_cache(maxsize=256)
def compile_tables(rules: Rules) -> Array:
    """Return the tables of these rules, a read-only array of one `TABLES` record, from a cache."""
    table = new_rows(TABLES, 1)
    t = table[0]
    acts = actions.of(rules)
    t["kinds"], t["copies"], t["tricks"] = rules.kinds, rules.copies, rules.tricks
    t["n_actions"], t["strains_per_bid"] = acts.n, acts.strains_per_bid
    t["trump_offset"], t["card_offset"] = acts.trump_offset, acts.card_offset
    t["n_levels"] = len(rules.ladder)
    t["legal_calls"][:, : len(rules.ladder) + 1] = _legal_calls(rules)
    t["redeal_same"] = rules.all_pass == "redeal_same"
    for level, bid in enumerate(rules.ladder):
        need = rules.tricks if bid.tricks is None else bid.tricks
        t["need"][level], t["alone"][level], t["exchange"][level] = need, bid.alone, bid.exchange
        for won in range(rules.tricks + 1):
            made = bid.value if bid.alone else won
            t["payoff"][level, won] = made if won >= need else -bid.value
    t["suit_of"], t["suit_bits"], t["power"] = _suits_and_powers(rules.kinds)
    t["eldest_leads"] = rules.opening_lead == "eldest"
    t["win_rule"] = CHOICES["win_rule"].index(rules.win_rule)
    t["both_over"] = CHOICES["both_over"].index(rules.both_over)
    t["target"], t["max_hands"] = rules.target or 0, rules.max_hands
    t["hands_to_play"] = rules.hands_to_play
    table.flags.writeable = False
    return table


def most_points_ahead(rules: Rules) -> int:
    """Return the largest difference between the points of both sides in a hand."""
    payoff = compile_tables(rules)[0]["payoff"][: len(rules.ladder), : rules.tricks + 1]
    defenders = rules.tricks - np.arange(rules.tricks + 1)
    return int(np.abs(payoff - defenders).max())


def _legal_calls(rules: Rules) -> Array:
    """Return the legal calls as bits, int64 (4, levels + 1), by calls made and standing level + 1.

    Bit 0 is a pass, bit 1 + level a bid. All rules of the auction are applied here.
    """
    ladder = rules.ladder
    partnered = len(ladder) - len(rules.lone)
    calls = np.zeros((4, len(ladder) + 1), np.int64)
    for made in range(4):
        for standing in range(-1, len(ladder)):
            bits = 0
            for level in range(len(ladder)):
                higher = level > standing
                if rules.moon_ladder == "step" and level > partnered:
                    higher = level == standing + 1
                if rules.dealer_may_equal == "lone" and made == 3 and ladder[level].alone:
                    higher |= level == standing
                bits |= higher << (1 + level)
            forced = {"dealer_forced": 3, "eldest_forced": 0}.get(rules.all_pass)
            may_pass = standing >= 0 or made != forced
            calls[made, standing + 1] = bits | may_pass
    return calls


@cache
def _suits_and_powers(kinds: int) -> tuple[Array, Array, Array]:
    """Return `suit_of`, `suit_bits` and `power` of `TABLES`; the bowers are defined here."""
    suit_of = np.zeros((5, MAX_KINDS), np.int8)
    suit_bits = np.zeros((5, 4), np.int64)
    power = np.zeros((5, 4, MAX_KINDS), np.int8)
    for strain in range(len(STRAINS)):
        for kind in range(kinds):
            rank, suit = divmod(kind, 4)
            rank_power = 6 - rank  # the ace 6, the nine 1
            if strain != NO_TRUMP and rank == JACK:
                if suit == strain:
                    rank_power = 8  # right bower
                elif suit == same_colour(strain):
                    suit, rank_power = strain, 7  # left bower
            suit_of[strain, kind] = suit
            suit_bits[strain, suit] |= 1 << kind
            for led in range(4):
                if suit == strain:
                    power[strain, led, kind] = 8 + rank_power
                elif suit == led:
                    power[strain, led, kind] = rank_power
    return suit_of, suit_bits, power
