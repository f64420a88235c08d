"""The game options of PTN text, the tag GameOptionsJson, as rules; `README.md` lists them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import shorten

from bideuchre_env._checks import brief
from bideuchre_env.errors import RecordError
from bideuchre_env.records.record import unique_names
from bideuchre_env.rules.cards import MAX_KITTY, N_SEATS
from bideuchre_env.rules.options import Ranks
from bideuchre_env.rules.rules import MAX_COUNT, Rules

_RANKS: dict[int, Ranks] = {16: "J", 20: "10", 24: "9"}
_LONE = {  # by option; the values are those of the variants, the text has none
    "offeralonecall2": {"name": "call-2", "value": 12, "exchange": 2},
    "callforbest": {"name": "call-1", "value": 18, "exchange": 1},
    "noalone": {"name": "moon", "value": 24},
}
_VALUES: dict[str, Sequence[object]] = {  # allowed for each option; others must be off
    "variation": (1,),
    "decksize": (24, 20, 16),
    "numdecks": (1, 2),
    "players": (4,),
    "ispartnership": (True,),
    "biddingstyle": (0, 1),  # 1: until all pass
    "bidtype": (0, 1),
    "gameoverscore": range(1, MAX_COUNT + 1),
    "minbid": range(13),
    **dict.fromkeys(("stickthedealer", "makerleadsfirst", "withkitty", *_LONE), (False, True)),
    **dict.fromkeys(("allownotrump", "allowlownotrump"), (False, True)),
    **dict.fromkeys(("nosuggestions", "nowatching"), (False, True)),  # no rules
    "calltrump": range(10),  # of plain euchre: no rules here
}


def game_of_options(text: str) -> Rules:
    """Return the rules of GameOptionsJson; `RecordError` for an option that no rules express."""
    try:
        values = json.loads(text, object_pairs_hook=unique_names)
        if not isinstance(values, dict):
            raise ValueError(f"not {brief(values)}")
        options = unique_names([(name.lower(), value) for name, value in values.items()])
        texts = {name: shorten(json.dumps(values[name]), 200, placeholder="...") for name in values}
    except (ValueError, RecursionError) as error:
        raise RecordError(f"expected a JSON object: {error}") from None
    if "variation" not in options:
        raise RecordError("variation: expected 1, Bid Euchre; plain euchre has other rules")
    for name, value in values.items():
        allowed = _VALUES.get(name.lower(), (False, 0, None))
        if type(value) not in map(type, allowed[:3]) or value not in allowed:
            expected = " or ".join(map(json.dumps, allowed[:3]))
            if isinstance(allowed, range):
                expected = f"a whole number from {allowed[0]} to {allowed[-1]}"
            raise RecordError(f"{name}={texts[name]}: expected {expected}, or a game by --variant")
    cards, copies = options.get("decksize", 24), options.get("numdecks", 1)
    kitty = MAX_KITTY if options.get("withkitty") else 0
    low, tricks = options.get("minbid") or 1, (cards * copies - kitty) // N_SEATS
    if low > tricks:
        raise RecordError(f"minBid={low}: expected up to {tricks}, the number of tricks")
    has_high, has_low = (bool(options.get(f"allow{name}notrump")) for name in ("", "low"))
    if has_low and not has_high:
        raise RecordError("allowLowNoTrump=true: expected false without allowNoTrump")
    has = {name: bool(options.get(name)) != (name == "noalone") for name in _LONE}
    return Rules(
        ranks=_RANKS[cards],
        copies=copies,
        kitty=kitty,
        partnered=(low, tricks),
        lone=[bid for name, bid in _LONE.items() if has[name]],
        strain_named="in_bid" if options.get("bidtype") else "after_auction",
        auction="until_passes" if options.get("biddingstyle") else "once",
        no_trump="both" if has_low else "high" if has_high else "none",
        moon_ladder="jump",
        all_pass="dealer_forced" if options.get("stickthedealer") else "redeal_next",
        opening_lead="declarer" if options.get("makerleadsfirst") else "eldest",
        win_rule="any",
        target=options.get("gameoverscore", 52),
    )
