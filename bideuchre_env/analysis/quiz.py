"""A quiz for a class: positions with a clear best choice, and a page to print them with answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bideuchre_env.agents.advice.advice import Advice, amount, clearly_behind
from bideuchre_env.agents.advice.advising import Advisor
from bideuchre_env.core.one_row import replay_row
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.look import Look
from bideuchre_env.records.page.page import document
from bideuchre_env.records.page.sheet import table
from bideuchre_env.records.record import PlayedHand
from bideuchre_env.records.svg import table_svg
from bideuchre_env.records.words import signed
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

KINDS = {
    "bid": (Phase.AUCTION, Phase.NAMING),
    "play": (Phase.GIVING, Phase.PASSING, Phase.PLAY),
    "both": tuple(phase for phase in Phase if phase <= Phase.PLAY),
}
LATEST_TRICK = 3  # number of tricks before a question, at most: the reader sees all of them
LARGEST = 4.0  # points that the second choice may lose; a larger loss is a trivial question
_ASK = {
    Phase.AUCTION: "What do you call?",
    Phase.NAMING: "Which strain do you name?",
    Phase.GIVING: "Which card do you give up?",
    Phase.PASSING: "Which card do you pass to your partner?",
}
_STYLE = """
body { margin: 0 auto; padding: 12px 16px; max-width: 780px; background: var(--paper);
  color: var(--ink); font: 15px/1.4 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 22px; margin: 0 0 4px; }
h2 { font-size: 16px; margin: 0 0 4px; }
p { margin: 2px 0 6px; }
article { margin: 14px 0; padding-top: 8px; border-top: 1px solid var(--edge);
  break-inside: avoid; }
svg { display: block; width: 100%; max-width: 620px; height: auto; margin: 4px auto; }
.answers { break-before: page; }
.line { border-bottom: 1px solid var(--ink); height: 24px; }
table { width: 100%; border-collapse: collapse; font-size: 13px; margin: 4px 0; }
th, td { padding: 2px 6px; text-align: right; font-weight: 400; }
th:first-child { text-align: left; font-weight: 600; }
thead th { color: var(--dim); }
@page { margin: 14mm; }
@media print { body { padding: 0; max-width: none; font-size: 10.5pt; }
  svg { max-width: 130mm; } table { font-size: 9.5pt; } }
"""


@dataclass(frozen=True)
class Question:
    """A position of a quiz and its answer."""

    row: Array
    """The state row, shape (1,)."""
    advice: Advice
    """The results of the possible actions; the first option is the answer."""


def choose(
    hands: Sequence[PlayedHand], advisor: Advisor, *, kind: str = "both", seed: int = 0
) -> Iterator[Question | None]:
    """Take a position of each hand, in random order; yield a question, or None if it is not clear.

    A question has a best choice whose advantage over the second is larger than its 95 % interval,
    but at most `LARGEST` points. After an answer "pass", the next
    answer to a call is a bid.

    Args:
        hands: the hands as played, see `GameRecord.played_hands`.
        advisor: advises on the positions.
        kind: "bid" for calls and strains, "play" for cards, or "both".
        seed: fixes the order of the hands, and the positions.
    """
    random = np.random.default_rng(seed)
    tables, passes = compile_tables(advisor.rules), 0  # passes less bids among the answers
    for at in random.permutation(len(hands)):
        row, plies = rows_of([hands[at].dealt]), []
        for ply, action in enumerate(hands[at].actions):
            phase, trick = Phase(int(row["phase"][0])), int(row["trick"][0])
            if phase in KINDS[kind] and trick <= LATEST_TRICK:
                plies.append((phase <= Phase.NAMING, ply))
            replay_row(row, tables, np.array([action], np.int64))
        if kind == "both":  # a call and a card are equally likely
            bids = random.random() < 0.5
            plies = [each for each in plies if each[0] == bids] or plies
        if not plies:
            continue
        _, ply = plies[random.integers(len(plies))]
        row = rows_of([hands[at].dealt])
        replay_row(row, tables, np.array(hands[at].actions[:ply], np.int64))
        advice = advisor.of_row(row)
        is_lesson = (
            len(advice.options) > 1
            and not advice.few
            and all(clearly_behind(each, advice.goal) for each in advice.options[1:])
            and advice.choice is advice.best
            and 0.0 < advice.options[1].loss <= LARGEST
        )
        if is_lesson and row["phase"][0] == Phase.AUCTION:
            is_pass = advice.best.name == "pass"
            is_lesson = passes <= 0 or not is_pass
            passes += (1 if is_pass else -1) * is_lesson
        yield Question(row, advice) if is_lesson else None


def quiz_page(questions: Sequence[Question], rules: Rules, name: str, note: str = "") -> str:
    """Return a quiz as one HTML file without a script: questions, then answers on a new page.

    Args:
        questions: as `choose` yields them.
        rules, name: the game.
        note: a line of text under the title, such as the options that make this quiz.
    """
    parts = [
        f"<h1>Bid Euchre quiz: {escape(name)}</h1>",
        f"<p>You sit at the bottom, your partner opposite. {escape(note)}</p>",
        *(_question(number, each, rules) for number, each in enumerate(questions, 1)),
        f'<section class="answers"><h1>Answers: {escape(name)}</h1>',
        "<p>Means over sampled deals of the hidden cards, as the player could know them; ± is the "
        "95 % margin of error.</p>",
        *(_answer(number, each) for number, each in enumerate(questions, 1)),
        "</section>",
    ]
    title = f"{name} · Bid Euchre quiz"
    return document(title, None, body="\n".join(parts), script="", style=_STYLE)


def _question(number: int, question: Question, rules: Rules) -> str:
    row, seat = question.row[0], int(question.row["turn"][0])
    phase, look = Phase(int(row["phase"])), Look(row, rules, seat)
    ask = _ASK.get(phase) or f"What do you {'play' if row['led'] >= 0 else 'lead'}?"
    if look.lays_away:
        ask = "Which card do you lay away?"
    text = f"Your cards: {' '.join(map(signed, look.hand(seat)))}."
    if look.left_bower() and phase > Phase.NAMING:
        text += f" {look.left_bower_words()}"
    tricks = [_trick(look, trick) for trick in range(int(row["trick"]))]
    played = f"<p>Tricks so far: {escape('; '.join(tricks))}.</p>" if tricks else ""
    picture = table_svg(row, rules, viewer=seat)
    return (
        f"<article><h2>{number}. {escape(ask)}</h2><p>{escape(text)}</p>{played}{picture}"
        '<div class="line"></div></article>'
    )


def _trick(look: Look, trick: int) -> str:
    """Return the cards of a trick in order of play: "left A♣, partner 9♣, ... (won by left)"."""
    leader, cards = int(look.row["leaders"][trick]), look.trick(trick)
    order = [(leader + turn) % N_SEATS for turn in range(N_SEATS)]
    words = [f"{look.who(seat)} {signed(card)}" for seat in order if (card := cards[seat])]
    return f"{', '.join(words)} (won by {look.who(look.winner(trick))})"


def _answer(number: int, question: Question) -> str:
    advice = question.advice
    heads, *rows = advice.table()
    second = amount(advice.options[1], advice.goal)
    return (
        f"<article><h2>{number}. {escape(signed(advice.best.name))}</h2>"
        f"<p>{escape(signed(advice.options[1].name))}, the second choice, gives away {second}.</p>"
        f"{table(heads, [[signed(row[0]), *row[1:]] for row in rows])}"
        f"<p>{escape(advice.why)}</p></article>"
    )
