"""Sessions for tests, with the same deals in every run, and play at random."""

import random
from typing import Any
from unittest.mock import patch

from bideuchre_env import make
from bideuchre_env.play.saved import assign_players
from bideuchre_env.play.session import Session

MIXED = ("rule", ["cautious", "random"])


class DrawnSession(Session):
    """A session, also of several people, for which `seed` replaces the operating system's draws."""

    def __init__(self, *arguments: Any, seed: int, **more: Any) -> None:
        self._draw = random.Random(seed).getrandbits
        with patch("secrets.randbits", self._draw):
            super().__init__(*arguments, **more)

    def _deal(self) -> None:
        with patch("secrets.randbits", self._draw):
            super()._deal()


def session_of(game: Any, people: Any, agents: Any, seed: int, **more: Any) -> Session:
    """A session with the same deals in every run; only with one person is it seeded."""
    kind = Session if len(people) == 1 else DrawnSession
    return kind(game, people, agents, seed=seed, **more)


def begin(variant="cincinnati_v0", people=(0,), path=None, seed=1, agents=MIXED, **options):
    """A session of at most three hands: `people`, and `agents` (partner, opponents) elsewhere."""
    options = options or ({} if variant == "simplified_v0" else {"max_hands": 3})
    players = assign_players(people, *agents)
    begin_at = Session if seed is None else session_of
    return begin_at(make(variant, **options), people, players, seed=seed, path=path)


def choice(session, rng):
    """The name of a random legal action of the person; half the calls are passes."""
    legal = session.legal()
    return "pass" if "pass" in legal and rng.random() < 0.5 else rng.choice(legal)


def play(session, seed=0, stop=None):
    """Play at random to the end, or until `stop(session)` is true."""
    rng = random.Random(seed)
    while not session.over and not (stop and stop(session)):
        if session.hand_over:
            session.next_hand()
        elif session.waits_for_person:
            session.act(session.seat, choice(session, rng))
        else:
            session.advance()
    return session


def waits(session):
    return session.waits_for_person


def hand_over(session):
    return session.hand_over
