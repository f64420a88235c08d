"""The manual of a variant in Gymnasium's form, from its rules.

`help(bideuchre_env.cincinnati_v0)` displays `manual`; the pages of the variants contain the same
sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.tables import compile_tables, most_points_ahead
from bideuchre_env.envs.face import default_illegal_reward
from bideuchre_env.envs.options import EPISODES
from bideuchre_env.envs.registry_ids import gymnasium_id, pettingzoo_id
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import N_SEATS, RANKS
from bideuchre_env.rules.options import OPTIONS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.sheet import sections as sheet_sections
from bideuchre_env.rules.variants import RULES

Row = tuple[str, ...]
WIDTH = 92  # of the manual; `help` indents it


def table(heads: Row, rows: Sequence[Row]) -> list[str]:
    """Return the lines of a Markdown table with the header cells `heads`."""
    return ["| " + " | ".join(cells) + " |" for cells in (heads, ("---",) * len(heads), *rows)]


OPTION_ROWS: tuple[Row, ...] = (
    ("`episode`", '`"game"`', 'length of an episode: `"game"` or `"hand"`'),
    ("`reward`", "`None`", '`"win"` or `"points"`; `None`: "win" for games, "points" for hands'),
    ("`observation`", '`"dict"`', '`"dict"`, int8 with a mask; `"flat"`, `"features"`, float32'),
    ("`render_mode`", "`None`", '`"ansi"`, `"human"` or `"rgb_array"`; not `vec`'),
    ("`view`", '`"all"`', 'visible hands: `"all"`, `"actor"` or a seat; not `vec`'),
    ("`skip_forced`", "`False`", "`True`: plays decisions without a choice; not PettingZoo"),
    ("`threads`", "`1`", "threads that share the tables; `vec`, `solo_vec`"),
    ("`copy`", "`True`", "`False`: the next call overwrites the arrays; `vec`, `solo_vec`"),
    ("`device`", '`"cpu"`', '`"cpu"` or `"cuda"` (experimental); `vec`, `solo_vec`'),
    ("`opponents`", '`"random"`', "the learner's opponents; `solo`, `solo_vec`"),
    (
        "`partner`",
        "`None`",
        "the learner's partner; `None`: the player of both opponents; `solo`, `solo_vec`",
    ),
    ("`seat`", "`None`", "the learner's seat; `None`: random by episode; `solo`, `solo_vec`"),
    (
        "`illegal_reward`",
        "`None`",
        "reward of an illegal action; `None`: minus an upper bound of its loss; `solo`, `solo_vec`",
    ),
    ("`autoreset_mode`", '`"SameStep"`', '`"SameStep"`, `"NextStep"`, `"Disabled"`; `solo_vec`'),
)
"""Every option of the environments: name, default, meaning with the methods that take it."""


CALLS: tuple[Row, ...] = (
    ("a call, `.env()`", "PettingZoo AEC"),
    ("`.raw_env()`", "AEC without wrappers"),
    ("`.parallel_env()`", "PettingZoo parallel, seats act in turn"),
    ("`.vec(num_envs)`", "many tables, the caller acts for all seats"),
    ("`.solo()`", "Gymnasium, one learner"),
    ("`.solo_vec(num_envs)`", "Gymnasium vector, a learner at each table"),
)
"""Every method that makes an environment."""

COMMON: dict[str, list[str]] = {
    "Action Space": ["`action_names` lists all names. `step` accepts a name, too."],
    "Observation Space": [
        "Each block has its own bounds; `print(env.unwrapped.observation_layout)` explains the "
        "blocks. Seats are relative: self, left, partner, right. With the option "
        '`observation="flat"` the observation is a float32 vector in [-1, 1], and the mask is in '
        'the info. With `"features"` it has derived inputs for learning, and renamed suits: '
        "`print(env.unwrapped.features)`."
    ],
    "Rewards": [
        "Partners get the same reward. An illegal action also ends the episode; its reward is as "
        "low as that of any loss, so that quitting never pays. `illegal_reward` changes this in "
        "`solo()` and `solo_vec()`. In `raw_env()` and `vec()` an illegal action raises "
        "`IllegalActionError` instead."
    ],
    "Starting State": [
        '`reset(seed=..., options={"dealer": ..., "deal": ..., "score": ...})` sets the random '
        "stream and the table. The n-th deal of a seed does not depend on the actions."
    ],
    "Arguments": [
        *table(("method", "environment"), CALLS),
        "",
        *table(("option", "default", "meaning"), OPTION_ROWS),
        "",
        "`help(bideuchre_env.Variant)` prints all methods, `print(env.unwrapped.rules)` the rules.",
    ],
}
"""Paragraphs that are equal for all variants, by section."""


def manual(name: str, rules: Rules) -> str:
    """Return the manual of a variant, complete and in lines that a terminal can display."""
    lines = [f"`{name}`: Bid Euchre with {rules.cards} cards and {rules.tricks} tricks per hand."]
    lines += ["", "## Description", "", _description(rules)]
    for title, body in sections(name, rules).items():
        lines += ["", f"## {title}", "", *body]
        if title == "Observation Space":
            lines += ["", _blocks(rules)]
        if title == "Rules":
            lines += ["", *_common_rules(rules)]
        if title in COMMON:
            lines += ["", *COMMON[title]]
    return "\n".join(_wrapped(lines)) + "\n"


def _wrapped(lines: list[str]) -> Iterator[str]:
    """Yield lines of Markdown with paragraphs wrapped and tables aligned."""
    for is_table, group in groupby(lines, lambda line: line.startswith("|")):
        if is_table:
            yield from _aligned([tuple(line[2:-2].split(" | ")) for line in group])
        else:
            for line in group:
                yield from wrap(line, WIDTH, break_on_hyphens=False) or [""]


def _aligned(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of a table with padded columns; a long last cell is wrapped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = max(20, WIDTH - sum(widths[:-1]) - 3 * len(widths) - 1)
    widths[-1] = min(widths[-1], room)
    for *first, last in rows:
        if last == "---":
            first, parts = ["-" * width for width in widths[:-1]], ["-" * widths[-1]]
        else:
            parts = wrap(last, room, break_on_hyphens=False)
        for part in parts:
            cells = [cell.ljust(width) for cell, width in zip([*first, part], widths, strict=True)]
            yield f"| {' | '.join(cells)} |"
            first = [""] * len(first)


def sections(name: str, rules: Rules) -> dict[str, list[str]]:
    """Return the lines of the sections that depend on the rules, by title."""
    return {
        "Rules": [*table(("part", "rule"), rule_rows(rules)), "", *_bid_table(rules)],
        "Action Space": _action_space(rules),
        "Observation Space": _observation_space(rules),
        "Rewards": _rewards(rules),
        "Starting State": _starting_state(rules),
        "Episode End": _episode_end(rules),
        "Arguments": _arguments(name, rules),
        "Version History": ["- `v0`: initial version" if name in RULES else "- custom rules"],
    }


def _description(rules: Rules) -> str:
    strain = "names" if rules.strain_named == "after_auction" else "has named"
    return (
        "Four players in two partnerships. In the *auction* each seat passes, or bids the number "
        "of *tricks* that its side will win. The highest bid is the *contract*. Its bidder is the "
        f"*declarer*, who {strain} the *strain*: a suit as *trump*, or no trump. The other side "
        "are the *defenders*. The declarer's side *makes* the contract by winning the tricks that "
        "were bid; otherwise it is *set*."
    )


# Rules


_AT_NO_TRUMP = {
    "high": ", as do all suits at no trump",
    "none": "",
    "both": ", as do all suits at no trump. At low no trump the lowest card of a suit wins",
}


def rule_rows(rules: Rules) -> list[Row]:
    """Return pairs (part of the game, its rules in words); most texts are from the rule sheet."""
    sheet = dict(sheet_sections(rules))
    ranks = rank_order(rules)
    order = ranks.replace(" J", "")
    rows = [
        ("Cards", sheet["Cards"][0]),
        ("Trumps rank", f"right bower, left bower, {order}."),
        ("Other suits rank", f"{ranks}{_AT_NO_TRUMP[rules.no_trump]}."),
        ("Auction", " ".join(sheet["Auction"])),
    ]
    lead, _, *more = sheet["Play"]  # `_common_rules` has the other line
    return [*rows, ("Play", " ".join((lead, *more))), ("Game", " ".join(sheet["Game"]))]


def _common_rules(rules: Rules) -> list[str]:
    """Return the rules that the pages of variants leave to their index."""
    sheet = dict(sheet_sections(rules))
    bowers = (
        "The right bower is the jack of trumps. The left bower, the other jack of its colour, is a "
        "trump for every purpose."
    )
    strains = ["All strains of a bid are equally high."] * (rules.strain_named == "in_bid")
    play = (
        "The highest trump wins the trick, or without a trump the highest card of the suit led. "
        "All tricks are played, also after a set. The first dealer is random; after a played hand "
        "the deal passes to the left. Points may be negative."
    )
    return [
        " ".join([bowers, *strains, sheet["Scoring"][0]]),
        "",
        *([" ".join(sheet["Exchange"]), ""] if rules.exchange or rules.kitty else []),
        f"{sheet['Play'][1]} {play}",
    ]


def rank_order(rules: Rules) -> str:
    """Return the ranks of the deck, highest first."""
    return " ".join(RANKS[: rules.kinds // 4]).replace("T", "10")


def _bid_table(rules: Rules) -> list[str]:
    rows: list[Row] = []
    if rules.partnered is not None:
        low, high = rules.partnered
        span = f"{low}" if low == high else f"{low} to {high}"
        rows += [(span, "as bid", "none", "1 per trick", "minus the bid")]
    rows += [
        (_kind(bid), f"{rules.tricks}", _cards(bid), f"+{bid.value}", f"-{bid.loss}")
        for bid in rules.lone
    ]
    heads: Row = ("bid, lowest first", "tricks to win", "exchange", "points if made", "if set")
    if not rules.exchange:
        heads, rows = heads[:2] + heads[3:], [row[:2] + row[3:] for row in rows]
    return table(heads, rows)


def _kind(bid: Bid) -> str:
    """Return the name of a bid for all tricks, and how it is played."""
    return f"{bid.name} ({'lone' if bid.alone else 'with partner'})"


def _cards(bid: Bid) -> str:
    """Return the exchange of a bid in words."""
    if not bid.exchange:
        return "none"
    return "1 card" if bid.exchange == 1 else f"{bid.exchange} cards"


# Spaces


def _action_space(rules: Rules) -> list[str]:
    acts = actions.of(rules)
    names = acts.names
    bids, strains = acts.trump_offset, acts.card_offset
    strains_of_bids = f", each in the strains {' '.join(rules.strains)}"
    in_bid = strains_of_bids if rules.strain_named == "in_bid" else ""
    rows = [("0", "`pass`", "no bid"), _action_row(names, 1, bids, f"bids, lowest first{in_bid}")]
    if bids < strains:
        rows.append(_action_row(names, bids, strains, "the declarer names the strain"))
    uses = ["lay it away for the kitty"] * bool(rules.kitty)
    uses += ["give it away in an exchange"] * bool(rules.exchange)
    use = ", or ".join(["play a card", *uses])
    rows.append(_action_row(names, strains, acts.n, use))
    return table((f"action in `Discrete({acts.n})`", "name", "meaning"), rows)


def _action_row(names: Row, first: int, end: int, meaning: str) -> Row:
    return f"{first} to {end - 1}", f"`{names[first]}` to `{names[end - 1]}`", meaning


def _observation_space(rules: Rules) -> list[str]:
    layout, n = layout_of(rules), actions.of(rules).n
    low, high = layout.low.min(), layout.high.max()
    rows = [
        (
            "`observation`",
            f"`Box({low}, {high}, ({layout.size},), int8)`",
            "all information of the seat about hand and score",
        ),
        (
            "`action_mask`",
            f"`Box(0, 1, ({n},), int8)`",
            "1 for legal actions; all 0 for a seat that is not to act",
        ),
        (
            "`state()`",
            f"int8 ({layout.state_size},)",
            "a method, not a key: the state with all hands",
        ),
    ]
    return table(("key of the `Dict`", "space", "content"), rows)


def _blocks(rules: Rules) -> str:
    slices = layout_of(rules).slices.items()
    return f"Blocks: {', '.join(f'`{name}` {at.start}:{at.stop}' for name, at in slices)}."


# Episodes


def fewest_hands(rules: Rules) -> int:
    """Return the least number of played hands of a game from 0-0; exact if rounds are counted."""
    if rules.win_rule == "rounds":
        return rules.hands_to_play
    tables = compile_tables(rules)
    made = int(tables["payoff"].max())
    most = max(made, int(tables["others"].max()))  # the defenders may take every trick
    last = made if rules.win_rule == "made_bid" else most
    return 1 + max(0, -((last - (rules.target or 0)) // most))


def decisions_of_hands(rules: Rules) -> list[int]:
    """Return the possible numbers of decisions of all seats in a played hand, ascending.

    Forced decisions count; hands that are passed out are left out. In an auction in rounds, the
    calls are counted as four.
    """
    before = {
        bid: N_SEATS + (not actions.names_strain(rules, bid)) + 2 * bid.exchange + rules.kitty
        for bid in rules.ladder
    }
    return sorted({n + (N_SEATS - bid.alone) * rules.tricks for bid, n in before.items()})


def _rewards(rules: Rules) -> list[str]:
    ahead = most_points_ahead(rules)
    game, hand = (f"{-default_illegal_reward(rules, each, 'points'):,.0f}" for each in EPISODES)
    rows: list[Row] = [
        ('`"win"`, default for games', "at the end +1 to the winners, -1 to the losers"),
        (
            '`"points"`, default for hands',
            f"after each hand the points minus those of the other side, -{ahead} to {ahead}",
        ),
    ]
    illegal = (
        'The reward of an illegal action is -1 with "win". With "points" it is '
        f"-{hand} for a hand, -{game} for a game."
    )
    return [*table(("`reward`", "value"), rows), "", illegal]


def _starting_state(rules: Rules) -> list[str]:
    kitty = f" and {rules.kitty} in the kitty" if rules.kitty else ""
    return [
        f"A random dealer, {rules.tricks} random cards in each hand{kitty}, no points. The seat "
        "left of the dealer calls first."
    ]


def _episode_end(rules: Rules) -> list[str]:
    *rest, last = map(str, decisions_of_hands(rules))
    decisions = f"{', '.join(rest)} or {last}" if rest else last
    decisions += " decisions of all seats, forced ones included"
    if rules.auction != "once":
        decisions += ", with four calls (an auction may have more or fewer)"
    if rules.all_pass.startswith("redeal"):
        decisions += f"; {N_SEATS} if all pass"
    draw = rules.win_rule == "rounds" or rules.both_over == "highest"
    won = "a side has won, or the game is drawn" if draw else "a side has won"
    fewest = fewest_hands(rules)
    hands = f"{fewest} played hand{'s' if fewest > 1 else ''}"
    if rules.win_rule != "rounds":
        hands = f"at least {hands}"
    rows: list[Row] = [
        ("terminated", won, "the hand is over"),
        ("truncated", f"after {rules.max_hands} deals, passed-out ones included", "never"),
        ("length", hands, decisions),
    ]
    return table(("", '`episode="game"`', '`episode="hand"`'), rows)


# Arguments


def _arguments(name: str, rules: Rules) -> list[str]:
    options = ", ".join(
        f"`{option}={getattr(rules, option)!r}`".replace("'", '"')
        for option in OPTIONS
        if option != "lone" and (option != "exchange_seen" or rules.exchange)
    )
    lone = ", and `lone`, the lone bids" if rules.lone else ""
    text = (
        "Options of the rules, keywords of every method that makes an environment: "
        f"{options}{lone}."
    )
    if rules == RULES.get(name):
        aec, solo = pettingzoo_id(name), gymnasium_id(name)
        text += (
            f' Registered as `pettingzoo.make("aec", "{aec}")`, also "parallel", and '
            f'`gymnasium.make("{solo}")`.'
        )
    return [text]
