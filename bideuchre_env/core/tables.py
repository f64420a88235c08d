"""`compile_tables(rules)`: the rules as one flat record of numbers, read by every kernel."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from bideuchre_env.errors import NotationError
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import MAX_BIDS, Bid
from bideuchre_env.rules.cards import (
    JACK,
    LOW,
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
from bideuchre_env.runtime.jit import Array, Row, new_rows

ONCE, UNTIL_PASSES, UNTIL_OUT = range(len(CHOICES["auction"]))
ELDEST_LEADS, DECLARER_LEADS, LEFT_LEADS = range(len(CHOICES["opening_lead"]))
ANY, MADE_BID, MADE_OR_SET, ROUNDS = range(len(CHOICES["win_rule"]))
BOTH_DECLARER, BOTH_HIGHEST, BOTH_CONTINUE = range(len(CHOICES["both_over"]))

NO_FLOOR = -(10**18)  # below every score
MAX_CALLS = 1 + MAX_BIDS * N_STRAINS
MAX_IN_SUIT = len(RANKS) + 1  # kinds of a suit: a kind of each rank, and the left bower

TABLES = np.dtype(
    [
        # the deck
        ("kinds", np.int32),  # card kinds, 16 to 24
        ("copies", np.int32),
        ("tricks", np.int32),  # cards in a hand, 4 to 12
        ("kitty", np.int32),  # cards dealt to the kitty, 0 to 4
        # the action numbering (actions.py)
        ("n_actions", np.int32),
        ("n_strains", np.int32),  # strains of the game, 4 to 6
        ("strains_per_bid", np.int32),  # `n_strains` if a bid names its strain, else 1
        ("uniform", np.int32),  # 1: every bid names any strain, or none does
        ("call_levels", np.int8, (MAX_CALLS,)),  # [action]: the level of a bid; -1: a pass
        ("call_strains", np.int8, (MAX_CALLS,)),  # [action]: the strain that it names, or -1
        ("first_of_bid", np.int16, (MAX_BIDS,)),  # [level]: its action in its first strain
        ("strain_bits", np.int64, (MAX_BIDS,)),  # [level]: strains that may be named, as bits
        ("trump_offset", np.int32),
        ("card_offset", np.int32),
        # the auction: bit 0 pass, bit 1 + level that bid
        ("n_levels", np.int32),
        ("legal_calls", np.int64, (4, MAX_BIDS + 1)),  # [calls made so far, standing level + 1]
        ("auction", np.int32),  # ONCE, or an auction in rounds
        ("redeal_same", np.int32),  # 1: after four passes the same dealer deals again
        # the ladder, by level
        ("need", np.int8, (MAX_BIDS,)),  # tricks the declarer's side must win
        ("alone", np.int8, (MAX_BIDS,)),
        ("exchange", np.int8, (MAX_BIDS,)),
        ("payoff", np.int32, (MAX_BIDS, MAX_TRICKS + 1)),  # [level, tricks won]: declarer's side
        ("others", np.int32, (MAX_BIDS, MAX_TRICKS + 1)),  # the same: the defenders
        ("defenders_by_trick", np.int32),  # 1: the defenders always get a point for each trick
        ("open_exchange", np.int32),  # 1: given cards join partner's hand
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
        ("opening_lead", np.int32),
        # the game
        ("win_rule", np.int32),
        ("both_over", np.int32),
        ("target", np.int64),
        ("floor", np.int64),  # `NO_FLOOR` if there is none
        ("hands_to_play", np.int64),  # under ROUNDS, else 0
        ("max_hands", np.int64),
    ],
    align=True,
)


def card_suit(card: str, strain: str) -> str:
    """Return the suit that a card belongs to in a strain: the left bower is a trump.

    Args:
        card: a card, such as "JD".
        strain: "C", "D", "H", "S", "NT" or "LOW".

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
        strain: "C", "D", "H", "S", "NT" or "LOW".
        led: the suit led; None is the card's own.

    Raises:
        NotationError: for any other card, strain or suit.

    Example:
        card_power("JD", "H", led="D")  # 15: only the right bower, "JH", is higher
    """
    suit = parse_strain(card_suit(card, strain) if led is None else led)
    if suit >= NO_TRUMP:
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
    t["kitty"] = rules.kitty
    t["n_actions"], t["n_strains"] = acts.n, len(rules.strains)
    t["trump_offset"], t["card_offset"] = acts.trump_offset, acts.card_offset
    _number_calls(rules, t)
    t["n_levels"] = len(rules.ladder)
    t["legal_calls"][:, : len(rules.ladder) + 1] = _legal_calls(rules)
    t["redeal_same"] = rules.all_pass == "redeal_same"
    for level, bid in enumerate(rules.ladder):
        need = rules.tricks if bid.tricks is None else bid.tricks
        t["need"][level], t["alone"][level], t["exchange"][level] = need, bid.alone, bid.exchange
        for won in range(rules.tricks + 1):
            t["payoff"][level, won], t["others"][level, won] = _points(rules, bid, need, won)
    for field, values in _order(rules.kinds).items():
        t[field] = values
    t["defenders_by_trick"] = rules.defenders_score == "tricks"
    t["open_exchange"] = rules.exchange_seen == "open"
    t["auction"] = CHOICES["auction"].index(rules.auction)
    t["opening_lead"] = CHOICES["opening_lead"].index(rules.opening_lead)
    t["win_rule"] = CHOICES["win_rule"].index(rules.win_rule)
    t["both_over"] = CHOICES["both_over"].index(rules.both_over)
    t["target"], t["max_hands"] = rules.target or 0, rules.max_hands
    t["hands_to_play"] = rules.hands_to_play
    t["floor"] = NO_FLOOR if rules.floor is None else rules.floor
    table.flags.writeable = False
    return table


def most_points_ahead(rules: Rules) -> int:
    """Return the largest difference between the points of both sides in a hand."""
    t = compile_tables(rules)[0]
    ahead = t["payoff"].astype(np.int64) - t["others"]
    return int(np.abs(ahead[: len(rules.ladder), : rules.tricks + 1]).max())


def _number_calls(rules: Rules, t: Row) -> None:
    """Write the fields of `TABLES` on the numbers of calls and the strains of each bid."""
    acts, every, suits = actions.of(rules), (1 << len(rules.strains)) - 1, (1 << N_SUITS) - 1
    t["call_levels"], t["call_strains"], t["strains_per_bid"] = -1, -1, 1
    for level, (bid, first) in enumerate(zip(rules.ladder, acts.first_of_bid, strict=True)):
        barred = bid.tricks is not None and bid.tricks < rules.no_trump_from
        t["strain_bits"][level] = every & suits if barred else every
        t["first_of_bid"][level] = first
        t["call_levels"][first] = level
        if actions.names_strain(rules, bid):
            t["strains_per_bid"] = n = len(rules.strains)
            t["call_levels"][first : first + n] = level
            t["call_strains"][first : first + n] = range(n)
    any_strain = rules.strain_named == "in_bid" and rules.no_trump_from == 1
    t["uniform"] = any_strain or rules.strain_named == "after_auction"


def _points(rules: Rules, bid: Bid, need: int, won: int) -> tuple[int, int]:
    """Return the points of the declarer's side and of the defenders for the tricks `won`."""
    made, defenders = bid.value, {"tricks": rules.tricks - won, "none": 0, "value_if_set": 0}
    if bid.tricks is not None:
        made = (won if rules.made_scores == "tricks" else need) + rules.made_bonus
    if won < need:
        made, defenders["value_if_set"] = -bid.loss, bid.value
    return made, defenders[rules.defenders_score]


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
                equal = rules.dealer_may_equal == "any" or (
                    rules.dealer_may_equal == "lone" and ladder[level].alone
                )
                if equal and made == 3:
                    higher |= level == standing
                bits |= higher << (1 + level)
            if rules.all_pass == "dealer_lowest" and made == 3 and standing < 0:
                bits = 1 << 1
            forced = {"dealer_forced": 3, "dealer_lowest": 3, "eldest_forced": 0}
            may_pass = standing >= 0 or made != forced.get(rules.all_pass)
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
            if strain == LOW:
                in_suit = 1 + rank  # the ace 1, the nine 6
            elif strain != NO_TRUMP and rank == JACK:
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
