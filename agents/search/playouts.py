"""Playouts: play a world to its end, so that bids and cards are valued by realistic play.

The expert plays all four seats from each seat's own view, without its search of the last tricks.
If a search agent with `net_cards` tries a card, the net plays the following cards instead, also
without search; after a candidate call the expert plays, because many more cards follow. The solver
plays the last tricks with all hands open.
"""

from __future__ import annotations

from bideuchre_env.agents.expert.decision import PlayerWorkspace, best_card, decide
from bideuchre_env.agents.rule.agent import rule_card
from bideuchre_env.agents.rule.certain import certain_card
from bideuchre_env.agents.rule.discards import worth_trying
from bideuchre_env.agents.search.workspace import SearchWorkspace
from bideuchre_env.core.records import State
from bideuchre_env.core.state import NAMING, PLAY
from bideuchre_env.core.step import apply, legal_bits
from bideuchre_env.core.view import see
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import kernel
from bideuchre_env.solver.position import set_up
from bideuchre_env.solver.transpositions import forget
from bideuchre_env.solver.values import solve_position


@kernel
def play_out(space: SearchWorkspace, net: PlayerWorkspace | None) -> int:
    """Play the simulated world, `space.simulated`, to its end; return side 0's tricks in the hand.

    These include the tricks won before. The solver's value replaces the play of the last tricks. If
    all pass, the result is 0. The `net` plays the cards if `plays_net` is set, else the expert.
    """
    s, t, plan = space.simulated[0], space.players.tables[0], space.plans[0]
    view, by_net = space.players.views[0], plan.plays_net == 1
    while s.phase < PLAY:
        bits = legal_bits(s, t)
        if s.phase > NAMING and by_net:
            apply(s, t, t.card_offset + net_kind(s, bits, net))
        else:
            see(s, t, s.turn, view)
            apply(s, t, decide(s, s.turn, view, bits, space.players))
    while s.phase == PLAY:
        if t.tricks - s.trick <= plan.solved:
            set_up(space.solver.position[0], t, s)
            if plan.solver_ready == 0:
                forget(space.solver)
                plan.solver_ready = 1
            return s.tricks_won[0] + solve_position(space.solver)
        bits = legal_bits(s, t)
        kind = lowest_bit(bits)
        if bits & (bits - 1):
            if by_net:
                kind = net_kind(s, bits, net)
            else:
                see(s, t, s.turn, view)
                kind = rule_card(view, t, bits)
        apply(s, t, t.card_offset + kind)
    return int(s.tricks_won[0])


@kernel
def net_kind(s: State, bits: int, net: PlayerWorkspace | None) -> int:
    """Return the kind, of the legal kinds `bits`, that the net plays, gives up or passes in `s`."""
    if net is None or bits & (bits - 1) == 0:
        return lowest_bit(bits)
    t, view = net.tables[0], net.views[0]
    see(s, t, s.turn, view)
    kind = rule_card(view, t, bits)
    if certain_card(view, t, bits) < 0:
        tried = worth_trying(view, t, bits)
        kind, _ = best_card(s, s.turn, view, t, tried, kind, net.cards)
    return kind
