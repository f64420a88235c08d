"""A game dealt card by card through explicit chance choices, with each seat's history as text.

It serves libraries in which chance is a player. The core applies the rules: this module adds to the
state row only the cards of the deal in progress, the rewards so far, and the histories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from bideuchre_env.core.episode import GOES_ON
from bideuchre_env.core.legality import illegal, lays_away
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.one_row import (
    HAND_OVER,
    NOT_LEGAL,
    deal_given_row,
    direct_kernels,
    look_row,
    start_row,
)
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import seed_rows
from bideuchre_env.core.state import GIVING, PASSING, new_states, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import IllegalActionError
from bideuchre_env.records.record import hand_of
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES, N_SEATS, hand_bits, hand_names
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

CHANCE, OVER = -1, -2
"""Values of `turn` when no seat is to act."""
PUBLIC = N_SEATS  # index of the spectator's history, after the seats'


class DealtGame:
    """A game of `rules`, advanced to the next decision of a seat or of chance.

    An `episode` is a "hand" or a "game" and the `reward` "points" or "win", as in the environments.
    Chance first picks the dealer, unless `dealer` is a seat (-1 is none). Then it picks the kind of
    each card: the first card goes to seat 0, the next to seat 1, and so on around the table. `turn`
    is the seat to act, `CHANCE` or `OVER`.
    """

    def __init__(self, rules: Rules, episode: str, reward: str, dealer: int) -> None:
        self.rules, self.episode, self.reward = rules, episode, reward
        self._choices = 0  # so far, including those of chance
        self.hand_began = 0  # number of choices before the first card of this hand
        self._states = new_states(1)
        self._dealt: list[int] = []
        self._histories = [""] * (N_SEATS + 1)
        self._histories_before = [""] * (N_SEATS + 1)  # of the finished hands
        self.paid = 0.0  # reward of side 0 so far
        self.paid_last = 0.0  # reward of side 0 for the last choice of a seat
        self.turn = CHANCE
        self._derive()
        seed_rows(self._states, *split_seed(0))  # the random stream is never used
        self.awaits_dealer = dealer < 0
        if dealer >= 0:
            start_row(self._states, dealer, 0, 0)

    def _derive(self) -> None:
        """Set the attributes that are derived from the rules, and allocate scratch arrays."""
        layout = layout_of(self.rules)
        self._tables, self._offsets = compile_tables(self.rules), layout.offsets
        self._play, _, _, self._observe, self._reward, self._ending = direct_kernels()
        self._names = actions.of(self.rules).names
        self._seen = np.zeros(layout.size, np.int8)
        self._mask = np.zeros(len(self._names), np.int8)

    def chances(self) -> list[tuple[int, float]]:
        """Return the possible choices of chance, in order, and their probabilities.

        Call it only if `turn` is `CHANCE`.
        """
        if self.awaits_dealer:
            return [(seat, 1 / N_SEATS) for seat in range(N_SEATS)]
        left, dealt = self.rules.cards - len(self._dealt), Counter(self._dealt)
        copies = [self.rules.copies - dealt[kind] for kind in range(self.rules.kinds)]
        return [(kind, n / left) for kind, n in enumerate(copies) if n]

    def legal(self) -> list[int]:
        """Return the legal actions of the seat to act, in order."""
        legal: list[int] = np.flatnonzero(self._mask).tolist()
        return legal

    def choose(self, choice: int) -> None:
        """Apply a choice of chance or of the seat to act, depending on `turn`.

        An illegal action of a seat raises `IllegalActionError` and changes nothing. A choice of
        chance is not checked.
        """
        if self.turn == CHANCE:
            self._choose_by_chance(choice)
        else:
            self._act(choice)
        self._choices += 1

    def _choose_by_chance(self, choice: int) -> None:
        if self.awaits_dealer:
            start_row(self._states, choice, 0, 0)
            self.awaits_dealer = False
            return
        if not self._dealt:
            self.hand_began = self._choices
        self._dealt.append(choice)
        if len(self._dealt) < N_SEATS * self.rules.tricks:
            return  # the rest is the kitty
        hands = [hand_bits(self._dealt[seat::N_SEATS]) for seat in range(N_SEATS)]
        deal_given_row(self._states, self._tables, np.array(hands, np.int64))
        self._dealt = []
        self.turn = look_row(self._states, self._tables, self._offsets, self._seen, self._mask)
        row = self._states[0]
        score = "{} to {}".format(*row["score"].tolist())
        opening = f"hand {row['hands_dealt']}, dealer {row['dealer']}, score {score}"
        self._histories = [f"{opening}, seat {s} holds {_cards(h)}" for s, h in enumerate(hands)]
        self._histories.append(opening)

    def _act(self, action: int) -> None:
        seat, before = self.turn, self._states.copy()[0]
        turn = self._play(self._states, self._tables, self._offsets, action, self._seen, self._mask)
        if turn == NOT_LEGAL:
            known = 0 <= action < len(self._names)
            name = self._names[action] if known else f"action {action}"
            raise IllegalActionError(illegal(self._states[0], self.rules, name))
        self.turn, self.paid_last = turn, 0.0
        self._add(seat, before, self._names[action])
        if turn == HAND_OVER:
            self._end_hand()

    def _add(self, seat: int, before: Any, name: str) -> None:
        """Add a choice to every history; only the seat's own names a card that it does not play.

        `before` is the state row before the choice.
        """
        phase, kitty = int(before["phase"]), self.rules.kitty
        if phase not in (GIVING, PASSING):
            self._histories = [f"{history} | {seat} {name}" for history in self._histories]
            row = self._states[0]
            if kitty and phase < GIVING and row["phase"] == GIVING:
                cards = _cards(hand_bits(row["kitty"][:kitty].tolist()))
                self._histories[int(row["declarer"])] += f" | takes {cards}"
            return
        what = "gives" if phase == GIVING else "passes"
        what = "lays away" if lays_away(before, self.rules) else what
        for place, history in enumerate(self._histories):
            card = name if place == seat else "a card"
            self._histories[place] = f"{history} | {seat} {what} {card}"
        row = self._states[0]
        if phase == PASSING and row["phase"] != PASSING:  # the declarer now picks them up
            passed = [kind for kind in row["passed"].tolist() if kind >= 0]
            self._histories[int(row["declarer"])] += f" | gets {_cards(hand_bits(passed))}"

    def _end_hand(self) -> None:
        """Add the hand's reward, then end the episode or wait for the next deal."""
        self.paid_last = float(self._reward(self._states, self.reward == "points"))
        self.paid += self.paid_last
        if self._ending(self._states, self.episode == "hand") != GOES_ON:
            self.turn = OVER
            return
        self.turn = CHANCE
        for place, history in enumerate(self._histories):
            self._histories_before[place] += f"{history} || "
        self._histories = [""] * (N_SEATS + 1)

    def history_of(self, place: int, all_hands: bool) -> str:
        """Return the history of this hand, or of the game, as a seat or `PUBLIC` knows it.

        It has the seat's dealt cards, its own choices and all public choices, in order. Two games
        with the same history are indistinguishable to the seat (perfect recall).
        """
        before = self._histories_before[place] if all_hands else ""
        return before + self._histories[place]

    def observation(self, seat: int) -> Array:
        """Return a seat's observation, int8 (D,), in a reused array; zeros while dealing."""
        if self.turn == CHANCE:
            self._seen[:] = 0
        else:
            self._observe(self._states, self._tables, self._offsets, seat, self._seen)
        return self._seen

    def mask(self) -> Array:
        """Return the mask of the seat to act, int8 (A,), in a reused array."""
        return self._mask

    def resampled(self, seat: int, random: Callable[[], float]) -> list[int]:
        """Return the choices of the hand in progress with the cards hidden from a seat redrawn.

        They are the cards of the deal, in order, then the actions, for `choose` in a new game.
        All deals consistent with the seat's knowledge are equally likely, as in
        `BidEuchreEnv.resample_hidden`. `random` returns numbers in [0, 1). A seat must be to act.
        """
        twin = rows_of([self._states.tobytes()])
        low, high = (np.uint64(int(random() * 2**53) << 11 | int(random() * 2**11)) for _ in "lh")
        resample_row(twin, self._tables, seat, new_redeal(), low, high)
        hand = hand_of(twin[0], self.rules)
        cards = [
            CARD_NAMES.index(name) for cards in zip(*hand["deal"], strict=True) for name in cards
        ]
        index = actions.of(self.rules).index
        return cards + [index[name] for name in hand["actions"]]

    def __str__(self) -> str:
        lines = [self.history_of(place, True) for place in range(N_SEATS + 1)]
        if self.turn == CHANCE:
            lines.append(f"dealt: {' '.join(CARD_NAMES[kind] for kind in self._dealt)}")
        return "\n".join(lines)

    def __deepcopy__(self, memo: dict[int, Any]) -> DealtGame:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._states = rows_of([self._states.tobytes()])
        twin._mask, twin._seen = self._mask.copy(), self._seen.copy()
        for name in ("_dealt", "_histories", "_histories_before"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def __getstate__(self) -> dict[str, Any]:
        derived = {"_tables", "_offsets", "_play", "_observe", "_reward", "_ending"}
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        mask = state["_mask"]
        self.__dict__.update(state)
        self._derive()
        self._mask = mask


def _cards(hand: int) -> str:
    """Return the names of a hand integer's cards, separated by spaces."""
    return " ".join(hand_names(hand))
