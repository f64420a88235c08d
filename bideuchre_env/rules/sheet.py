"""The rule sheet of a game: a `Rules` value in plain sentences, as text or HTML."""

from __future__ import annotations

from bideuchre_env._columns import html_table
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.options import GameOptions

_ALL_PASS = {
    "dealer_forced": "After three passes the dealer must bid.",
    "eldest_forced": "The first to speak must bid.",
    "redeal_next": "If all four pass, nothing is scored and the next dealer deals.",
    "redeal_same": "If all four pass, nothing is scored and the same dealer deals again.",
}
_OPENING_LEAD = {
    "eldest": "The eldest hand (left of the dealer) leads; if it sits out, the next seat.",
    "declarer": "The declarer leads to the first trick.",
}
_BOTH_OVER = {
    "declarer": "if both sides are there, the declarer's side wins.",
    "highest": "if both sides are there, the higher total wins and equal totals are a draw.",
    "continue": "if both sides are there, the higher total wins and equal totals play on.",
}


def sections(rules: GameOptions) -> tuple[tuple[str, list[str]], ...]:
    """Return the parts of a rule sheet as pairs: the title, and a list of lines of text."""
    return (
        ("Cards", _cards(rules)),
        ("Auction", _auction(rules)),
        ("Bids", _bids(rules)),
        ("Exchange", _exchange(rules)),
        ("Play", _play(rules)),
        ("Scoring", _scoring(rules)),
        ("Game", _game(rules)),
    )


def rule_sheet(rules: GameOptions) -> str:
    """Return the rule sheet as text: the whole game in a page of plain sentences."""
    return "\n".join(
        f"{title + ':':<10}{line}" if first else " " * 10 + line
        for title, lines in sections(rules)
        for first, line in zip([True] + [False] * len(lines), lines, strict=False)
    )


def rule_table(rules: GameOptions) -> str:
    """Return the rule sheet as an HTML table."""
    return html_table(
        [("", "Rules"), *((name, "\n".join(lines)) for name, lines in sections(rules))]
    )


def _cards(rules: GameOptions) -> list[str]:
    ranks = {"9": "9 10 J Q K A", "10": "10 J Q K A", "J": "J Q K A"}[rules.ranks]
    copies = "one of each card" if rules.copies == 1 else "two of each card"
    return [
        f"{rules.cards} cards ({ranks}, {copies}), {rules.tricks} to each of four seats; "
        "partners sit opposite.",
        "Trumps: right bower, left bower, A K Q and down; the left bower belongs to trumps.",
        "Other suits, and every suit at no trump: A K Q J and down.",
    ]


def _auction(rules: GameOptions) -> list[str]:
    strain = (
        "A bid names its strain (a suit or no trump)."
        if rules.strain_named == "in_bid"
        else "The declarer names the strain (a suit or no trump) after the auction."
    )
    lines = ["One call each, from the dealer's left; a bid must be higher. " + strain]
    if rules.moon_ladder == "step":
        names = ", ".join(bid.name for bid in rules.lone)
        lines.append(f"Lone bids go a step at a time ({names}): each only over the one below.")
    if rules.dealer_may_equal == "lone":
        lines.append("The dealer may take a standing lone bid by equalling it, in any strain.")
    return [*lines, _ALL_PASS[rules.all_pass]]


def _bids(rules: GameOptions) -> list[str]:
    lines = []
    if rules.partnered is not None:
        low, high = rules.partnered
        span = str(low) if low == high else f"{low} to {high}"
        lines.append(f"With partner: {span} tricks.")
    lines += [_lone_bid(bid) for bid in rules.lone]
    return [*lines, "(lowest first)"] if len(rules.lone) > 1 else lines


def _lone_bid(bid: Bid) -> str:
    cards = "a card" if bid.exchange == 1 else f"{bid.exchange} cards"
    how = f", exchanging {cards} with partner" if bid.exchange else ""
    return f"{bid.name}: every trick alone{how}, {bid.value} points."


def _exchange(rules: GameOptions) -> list[str]:
    if not rules.exchange:
        return ["None."]
    return [
        "After the auction the declarer gives up the cards face down, then the partner passes as",
        "many face down; neither sees the other's choice first. Given-up cards are out of play.",
    ]


def _play(rules: GameOptions) -> list[str]:
    lines = [_OPENING_LEAD[rules.opening_lead]]
    lines.append("Follow suit if you can, else play anything. The trick's winner leads next.")
    if rules.copies == 2:
        lines.append("Of two identical cards in a trick the first played wins.")
    if rules.lone:
        lines.append("The partner of a lone declarer sits out.")
    return lines


def _scoring(rules: GameOptions) -> list[str]:
    lines = ["Defenders: a point a trick, always."]
    if rules.partnered is not None:
        lines.append("Declarer's side, with partner: made, a point a trick; set, minus the bid.")
    if rules.lone:
        lines.append("Alone: the bid's points if every trick is won, minus the same if not.")
    return lines


def _game(rules: GameOptions) -> list[str]:
    truncated = f"Truncated after {rules.max_hands} deals."
    if rules.win_rule == "rounds":
        rounds = "round" if rules.rounds == 1 else "rounds"
        return [
            f"{rules.rounds} {rounds} of four played hands; most points wins, equal is a draw.",
            truncated,
        ]
    who = {
        "any": f"the first side at it wins; {_BOTH_OVER[rules.both_over]}",
        "made_bid": "only a side that made its own bid in the hand can win.",
        "made_or_set": "only a side that made its bid, or set the other's, in the hand can win.",
    }[rules.win_rule]
    return [f"To {rules.target} points: {who}", truncated]
