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
    "dealer_lowest": "After three passes the dealer must make the lowest bid.",
}
_AUCTION = {
    "once": "One call each, from the dealer's left; a bid must be higher.",
    "until_passes": "Calls from the dealer's left; a bid must be higher, and a seat that passed "
    "may bid later.\nThree passes after a bid end the auction, and so does the highest bid.",
    "until_out": "Calls from the dealer's left; a bid must be higher, and a pass is final.\n"
    "The auction ends when all others have passed, or with the highest bid.",
}
_STRAIN_NAMED = {
    "in_bid": "A bid names its strain ({strains}).",
    "after_auction": "The declarer names the strain ({strains}) after the auction.",
    "lone_after": "A bid in tricks names its strain ({strains});\n"
    "of other bids the declarer names it after the auction.",
}
_STRAINS = {
    "high": "a suit or no trump",
    "none": "a suit",
    "both": "a suit, no trump, or low no trump",
}
_DEFENDERS = {
    "tricks": "Defenders: a point a trick, always.",
    "none": "Defenders: no points.",
    "value_if_set": "Defenders: the value of the bid if it fails, else none.",
}
_OPENING_LEAD = {
    "eldest": "The eldest hand (left of the dealer) leads; if it sits out, the next seat.",
    "declarer": "The declarer leads to the first trick.",
    "left": "The seat left of the declarer leads to the first trick.",
}
_KITTY = (
    "After the auction, with the strain named, the declarer takes up the kitty and lays away\n"
    "{kitty} cards face down, which only the declarer sees; they are out of play."
)
_FLOOR = "A side at {floor} or less loses; if both are, the declarer's side."
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
    kitty = f" and {rules.kitty} to a kitty" if rules.kitty else ""
    copies = "one of each card" if rules.copies == 1 else "two of each card"
    lines = [
        f"{rules.cards} cards ({ranks}, {copies}), {rules.tricks} to each of four seats{kitty}; "
        "partners sit opposite.",
        "Trumps: right bower, left bower, A K Q and down; the left bower belongs to trumps.",
        "Other suits, and every suit at no trump: A K Q J and down.",
    ]
    if rules.no_trump == "none":
        lines[2] = "Other suits: A K Q J and down."
    elif rules.no_trump == "both":
        lines.append(f"At low no trump the lowest card of a suit wins: {ranks} from the top.")
    return lines


def _auction(rules: GameOptions) -> list[str]:
    strain = _STRAIN_NAMED[rules.strain_named].format(strains=_STRAINS[rules.no_trump])
    lines = [f"{_AUCTION[rules.auction]} {strain}"]
    if rules.auction != "once" or rules.strain_named == "lone_after":
        lines = [*_AUCTION[rules.auction].split("\n"), *strain.split("\n")]
    if rules.no_trump_from > rules.tricks:
        lines.append("Only a bid for all tricks may be played at no trump.")
    elif rules.no_trump_from > 1:
        lines.append(f"No trump from a bid of {rules.no_trump_from} tricks, and for all tricks.")
    if rules.moon_ladder == "step":
        names = ", ".join(bid.name for bid in rules.lone)
        lines.append(f"Lone bids go a step at a time ({names}): each only over the one below.")
    if rules.dealer_may_equal == "lone":
        lines.append("The dealer may take a standing lone bid by equalling it, in any strain.")
    if rules.dealer_may_equal == "any":
        lines.append("The dealer may take a standing bid by equalling it, in any strain.")
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
    who = "with partner" if bid.partner else f"alone{how}"
    points = f"{bid.value} points"
    if bid.loss != bid.value:
        points += f" if made, minus {bid.loss} if not"
    return f"{bid.name}: every trick {who}, {points}."


def _exchange(rules: GameOptions) -> list[str]:
    kitty = _KITTY.format(kitty=rules.kitty).split("\n") if rules.kitty else []
    if not rules.exchange:
        return kitty or ["None."]
    if rules.exchange_seen == "open":
        return [
            *kitty,
            "After the auction the declarer gives the cards to partner, who takes them up and then",
            "passes as many, perhaps some of them. The rest of partner's hand is out of play.",
        ]
    return [
        *kitty,
        "After the auction the declarer gives up the cards face down, then the partner passes as",
        "many face down; neither sees the other's choice first. Given-up cards are out of play.",
    ]


def _play(rules: GameOptions) -> list[str]:
    lines = [_OPENING_LEAD[rules.opening_lead]]
    lines.append("Follow suit if you can, else play anything. The trick's winner leads next.")
    if rules.copies == 2:
        lines.append("Of two identical cards in a trick the first played wins.")
    if rules.plays_alone:
        lines.append("The partner of a lone declarer sits out.")
    return lines


def _scoring(rules: GameOptions) -> list[str]:
    lines = [_DEFENDERS[rules.defenders_score]]
    if rules.partnered is not None:
        made = "a point a trick" if rules.made_scores == "tricks" else "the bid"
        bonus = f" and {rules.made_bonus} more" if rules.made_bonus else ""
        lines.append(f"Declarer's side, with partner: made, {made}{bonus}; set, minus the bid.")
    differs = any(bid.loss != bid.value for bid in rules.lone)
    lost = "the points of a failure" if differs else "the same"
    for who, played in (
        ("Alone", rules.plays_alone),
        ("All tricks with partner", any(bid.partner for bid in rules.lone)),
    ):
        if played:
            lines.append(f"{who}: the bid's points if every trick is won, minus {lost} if not.")
    return lines


def _game(rules: GameOptions) -> list[str]:
    end = [] if rules.floor is None else [_FLOOR.format(floor=rules.floor)]
    end.append(f"Truncated after {rules.max_hands} deals.")
    if rules.win_rule == "rounds":
        rounds = "round" if rules.rounds == 1 else "rounds"
        return [
            f"{rules.rounds} {rounds} of four played hands; most points wins, equal is a draw.",
            *end,
        ]
    who = {
        "any": f"the first side at it wins; {_BOTH_OVER[rules.both_over]}",
        "made_bid": "only a side that made its own bid in the hand can win.",
        "made_or_set": "only a side that made its bid, or set the other's, in the hand can win.",
    }[rules.win_rule]
    return [f"To {rules.target} points: {who}", *end]
