"""What a person types, read as an action: names and calls as people write them, and keys."""

from __future__ import annotations

from collections.abc import Sequence

from bideuchre_env._checks import typed
from bideuchre_env.errors import NotationError
from bideuchre_env.rules.actions import Actions
from bideuchre_env.rules.cards import plain_letters

BID, TRUMP, PASS = "bid ", "trump ", "pass"
_MOST_LISTED = 12


def action_typed(text: str, legal: Sequence[str], hand: Sequence[str], acts: Actions) -> str:
    """The name of the legal action that was typed.

    A card is its name ("jh", "10♥") or its place in `hand`, as it is shown, from 1; a strain its
    name, a word, or its place among those that may be named; a call its words with or without
    "bid" ("4 h", "moon nt", "pass"), or a beginning that no other call has ("p"). Raises
    `NotationError` with a sentence for whoever typed it.
    """
    if legal[0].startswith(TRUMP):
        return _chosen(text, legal, TRUMP, acts) or _numbered(text, legal, legal)
    if legal[0] == PASS or legal[0].startswith(BID):
        return _chosen(text, legal, BID, acts) or _begun(text, legal)
    return _chosen(text, legal, "", acts) or _numbered(text, legal, hand)


def spoken(name: str) -> str:
    """An action's name as people say it: "4 H" of "bid 4 H", "H" of "trump H"."""
    return name.removeprefix(BID).removeprefix(TRUMP)


def _chosen(text: str, legal: Sequence[str], prefix: str, acts: Actions) -> str | None:
    """The action of this name, with or without the word before it; None of no name.

    Raises `NotationError` for one that is not legal now.
    """
    for name in (f"{prefix}{text}", text):  # "10h" is a bid before it is a card
        try:
            found = acts.names[acts.parse(name)]
        except NotationError:
            continue
        if found in legal:
            return found
        raise NotationError(f"{spoken(found)} is not allowed now: {listed(legal)}")
    return None


def _numbered(text: str, legal: Sequence[str], keys: Sequence[str]) -> str:
    """The action of a key, from 1."""
    plain = text.strip()
    if not (plain.isascii() and plain.isdigit()):
        raise NotationError(f"{typed(text)} is none of {listed(legal)} (h: help)")
    if not 1 <= int(plain[:4]) <= len(keys):
        raise NotationError(f"there is no key {plain[:4]}: 1 to {len(keys)}")
    found = keys[int(plain[:4]) - 1]
    if found not in legal:
        raise NotationError(f"{spoken(found)} is not allowed now: {listed(legal)}")
    return found


def _begun(text: str, legal: Sequence[str]) -> str:
    """The one call that begins so, a bid without its strain if there is no other."""
    plain = plain_letters(text)
    spelled = {plain_letters(spoken(name)): name for name in legal}
    level = [name for name in legal if plain_letters(spoken(name).rpartition(" ")[0]) == plain]
    close = level or [name for begun, name in spelled.items() if plain and begun.startswith(plain)]
    if len(close) == 1:
        return close[0]
    if close:
        raise NotationError(f"{typed(text)} is several calls: {listed(close)}")
    raise NotationError(f"{typed(text)} is no call you can make now: {calls_listed(legal)}")


def listed(names: Sequence[str]) -> str:
    """Actions in a sentence: "4 H, 4 S or pass", the first few of many."""
    words = list(dict.fromkeys(map(spoken, names)))
    if len(words) > _MOST_LISTED:
        return f"{', '.join(words[: _MOST_LISTED - 1])} ..."
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def calls_listed(legal: Sequence[str]) -> str:
    """The calls that may be made, in a line; bids that name a strain are told once."""
    bids = [spoken(name) for name in legal if name != PASS]
    strains = [bid.rpartition(" ")[2] for bid in bids]
    levels = [bid.rpartition(" ")[0] for bid in bids]
    if bids and all(strain in ("C", "D", "H", "S", "NT") for strain in strains):
        choice = ", ".join(dict.fromkeys(levels))
        bids = [f"{choice} with {' '.join(dict.fromkeys(strains))}, as {bids[0]}"]
    return ", ".join([PASS] * (PASS in legal) + bids)
