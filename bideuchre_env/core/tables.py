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
    N_STRAINS,
    N_SUITS,
    NO_TRUMP,
    RANKS,
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

MAX_IN_SUIT = len(RANKS) + 1  # kinds of a suit: a kind of each rank, and the left bower

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
        # the order of the cards, by strain: `suit_of` and `strength` define it. The other fields
        # follow from them (`order_of`), each for one lookup where a kernel would compute or loop
        ("suit_of", np.int8, (N_STRAINS, MAX_KINDS)),  # [kind]: the suit it belongs to
        ("strength", np.int8, (N_STRAINS, MAX_KINDS)),  # [kind]: in its suit, trumps above others
        ("suit_bits", np.int64, (N_STRAINS, N_SUITS)),  # [suit]: its kinds as bits; to follow suit
        ("power", np.int8, (N_STRAINS, N_SUITS, MAX_KINDS)),  # [suit led, kind]: 0 cannot win
        ("above", np.int64, (N_STRAINS, MAX_KINDS)),  # [kind]: the higher kinds of its suit as bits
        # [suit, place]: its kinds, the highest first; -1 in places that it does not have
        ("ranked", np.int8, (N_STRAINS, N_SUITS, MAX_IN_SUIT)),
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
    suit_of = _order(MAX_KINDS)["suit_of"]
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
    power = _order(MAX_KINDS)["power"]
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
    for field, values in _order(rules.kinds).items():
        t[field] = values
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
def _order(kinds: int) -> dict[str, Array]:
    """Return the fields of `TABLES` on the order of the cards, for a deck of `kinds` kinds.

    The bowers are defined here. Strengths are 1 to 6, of trumps 9 to 16, and 0 for kinds that the
    deck does not have.
    """
    suit_of = np.zeros((N_STRAINS, MAX_KINDS), np.int8)
    strength = np.zeros((N_STRAINS, MAX_KINDS), np.int8)
    for strain in range(N_STRAINS):
        for kind in range(kinds):
            rank, suit = divmod(kind, N_SUITS)
            in_suit = 6 - rank  # the ace 6, the nine 1
            if strain != NO_TRUMP and rank == JACK:
                if suit == strain:
                    in_suit = 8  # right bower
                elif suit == same_colour(strain):
                    suit, in_suit = strain, 7  # left bower
            suit_of[strain, kind] = suit
            strength[strain, kind] = 8 + in_suit if suit == strain else in_suit
    return order_of(suit_of, strength)


def order_of(suit_of: Array, strength: Array) -> dict[str, Array]:
    """Return the fields of `TABLES` on the order of the cards, from the two that define it."""
    of_suit = suit_of[:, np.newaxis] == np.arange(N_SUITS)[:, np.newaxis]  # [strain, suit, kind]
    of_suit &= strength[:, np.newaxis] > 0
    trump = suit_of == np.arange(N_STRAINS)[:, np.newaxis]
    higher = strength[:, np.newaxis] > strength[:, :, np.newaxis]  # [strain, kind, other kind]
    higher &= suit_of[:, np.newaxis] == suit_of[:, :, np.newaxis]
    bits = 1 << np.arange(MAX_KINDS)
    in_suit = np.where(of_suit, strength[:, np.newaxis], 0)
    ranked = np.argsort(-in_suit, axis=2)[:, :, :MAX_IN_SUIT]
    return {
        "suit_of": suit_of,
        "strength": strength,
        "suit_bits": of_suit @ bits,
        "power": np.where(of_suit | trump[:, np.newaxis], strength[:, np.newaxis], 0),
        "above": np.where(strength > 0, higher @ bits, 0),
        "ranked": np.where(np.take_along_axis(in_suit, ranked, axis=2) > 0, ranked, -1),
    }
