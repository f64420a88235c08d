"""The expert's search of the last tricks, in a deal whose hands are all known."""

from __future__ import annotations

import numpy as np
from oracles.plain_solver import all_lines, may_play, winner
from support.kernels import callable_from_python

from bideuchre_env.agents.expert import endgame
from bideuchre_env.core import view as views
from bideuchre_env.rules.cards import CARD_NAMES
from bideuchre_env.runtime.jit import new_rows
from bideuchre_env.solver.transpositions import new_searcher

see, number_cards, begin_world, try_cards, class_of = map(
    callable_from_python,
    (
        views.see,
        endgame.number_cards,
        endgame.begin_world,
        endgame.try_cards,
        endgame.class_of,
    ),
)


def ending_values(state, tables, hands):
    """By card of the seat to act: the tricks of its side after it, and an equivalent card."""
    seat, t = int(state["turn"]), tables[0]
    view, deal = views.new_view()[0], new_rows(endgame.SAMPLED_DEAL, 1)[0]
    see(state, t, seat, view)
    number_cards(view, t, deal)
    view["tricks_won"], deal["worth"] = 0, np.arange(13)
    names = [CARD_NAMES[kind] for kind in deal["kind"][: int(deal["n"])]]
    free = names.copy()
    for rel in range(4):
        for card in hands[(seat + rel) % 4]:
            place = free.index(card)
            free[place] = None
            deal["hands"][rel] |= 1 << place
    searcher = new_searcher(0)
    begin_world(state, seat, len(hands[seat]), searcher)
    try_cards(view, t, deal, searcher, int(deal["own"]))
    own = [place for place in range(len(names)) if deal["own"] >> place & 1]
    equal = {place: names[class_of(view, t, deal, place)] for place in own}
    return {names[place]: (int(deal["values"][place]), equal[place]) for place in own}


def by_every_line(hands, table, seat, strain, absent=None):
    """By legal card of `seat`: the tricks of its side after it, by trying every line of play."""
    result, left = {}, len(hands[seat])
    for card in set(may_play(hands[seat], table, strain)):
        after = [list(hand) for hand in hands]
        after[seat].remove(card)
        trick, leader, won = [*table, (seat, card)], None, 0
        if len(trick) == (4 if absent is None else 3):
            leader = winner(trick, strain)
            trick, won = [], int(leader % 2 == 0)
        following = (seat + 1) % 4
        following = (following + 1) % 4 if following == absent else following
        turn = following if leader is None else leader
        tricks = won + all_lines(after, trick, turn, strain, absent)
        result[card] = left - tricks if seat % 2 else tricks
    return result
