"""Notes of a review, as `Review.notes` returns them, with random figures."""

import random


def notes_on(record, why="The right bower draws trumps."):
    """Notes like those of a review, with random figures; every third action has none."""
    rng = random.Random(3)

    def note():
        lost = max(0.0, rng.gauss(0.2, 0.8))
        chances = {"points": 2.1, "made": rng.random(), "wins": rng.random()}
        loss = {"lost": lost, "error": 0.1, "best": "JH", "mistake": lost > 0.8, "why": why}
        return loss | {"open": rng.choice((0, 1, None))} | chances

    hands = [
        {"par": "par: 4 H by seat 1", "plies": [(i % 3 and note()) or None for i in range(n)]}
        for n in (len(hand["actions"]) for hand in record.hands)
    ]
    names = record.agents or ["a", "b", "c", "d"]
    figures = {"decisions": 60, "mistakes": 3, "lost": 2.4, "words": why}
    players = [{"seat": seat, "name": name} | figures for seat, name in enumerate(names)]
    return {"agent": "inference", "hands": hands, "players": players}
