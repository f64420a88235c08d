"""A quiz for a class: positions with a clear best choice, and a page to print them with answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from bideuchre_env.agents.advice.advice import Advice, Option, amount
from bideuchre_env.agents.advice.advising import Advisor
from bideuchre_env.agents.advice.figures import mean
from bideuchre_env.agents.advice.reasons import Situation
from bideuchre_env.analysis.review import POINTS
from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.one_row import replay_row
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.look import Look
from bideuchre_env.records.page.page import document
from bideuchre_env.records.page.sheet import table
from bideuchre_env.records.record import PlayedHand
from bideuchre_env.records.svg import table_svg
from bideuchre_env.records.words import signed
from bideuchre_env.rules.cards import N_SEATS, parse_card
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

KINDS = ("bid", "play")
LATEST_TRICK = 3  # number of tricks before a question, at most: the reader sees all of them
LARGEST = 4.0  # points that the second choice may lose; a larger loss is a trivial question
STANDS = 0.5  # least share of the deals in which a bid becomes the contract
PART = 0.25  # share of the deals of a question in which a position is tried first
TRIES = 4  # positions tried of each hand, at most
_ASK = {Phase.AUCTION: "What do you call?", Phase.NAMING: "Which strain do you name?"}
_STYLE = """
body { margin: 0 auto; padding: 12px 16px; max-width: 780px; background: var(--paper);
  color: var(--ink); font: 15px/1.4 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 22px; margin: 0 0 4px; }
h2 { font-size: 16px; margin: 0 0 4px; }
p { margin: 2px 0 6px; }
article { margin: 12px 0; padding-top: 8px; border-top: 1px solid var(--edge);
  break-inside: avoid; }
.question { display: grid; grid-template-columns: minmax(0, 1fr) 220px; gap: 0 16px; }
.question svg { grid-area: 1 / 1 / 2 / 2; width: 100%; height: auto; }
.answers { break-before: page; }
.line { border-bottom: 1px solid var(--ink); height: 24px; }
table { width: 100%; border-collapse: collapse; font-size: 13px; margin: 4px 0; }
th, td { padding: 2px 6px; text-align: right; font-weight: 400; }
th:first-child { text-align: left; font-weight: 600; }
thead th { color: var(--dim); }
@page { margin: 12mm 14mm; }
@media (max-width: 600px) { .question { display: block; } }
@media print { body { padding: 0; max-width: none; font-size: 10pt; } table { font-size: 9.5pt; }
  article { margin: 0 0 3mm; padding-top: 2mm; }
  .question { display: grid; grid-template-columns: 122mm minmax(0, 1fr); } }
"""


@dataclass(frozen=True)
class Question:
    """A position of a quiz and its answer."""

    row: Array
    """The state row, shape (1,)."""
    advice: Advice
    """The results of the possible actions; the first option is the answer."""


def choose(
    hands: Sequence[PlayedHand],
    first: Advisor,
    advisor: Advisor,
    *,
    kind: str = "both",
    seed: int = 0,
) -> Iterator[Question | None]:
    """Take positions of the hands, in random order; yield a question, or None if it is not clear.

    Questions are calls, strains to name, leads, and the cards of defenders against a lone bid (see
    `asks`). The best choice beats every other by more than the 95 % interval of the difference, and
    the second by `POINTS` to `LARGEST` points. If these two include a bid, the first one listed
    becomes the contract in at least `STANDS` of the deals; two cards are of different suits.
    A hand has one question. After an answer "pass", the next answer to a call is a bid.

    Args:
        hands: the hands as played, see `GameRecord.played_hands`.
        first: advises on each position, in `PART` of the deals of `advisor`.
        advisor: advises again on those that may be questions.
        kind: "bid" for calls and strains, "play" for cards, or "both".
        seed: fixes the order of the hands, and the positions.
    """
    random, rules = np.random.default_rng(seed), advisor.rules
    tables, passes = compile_tables(rules), 0  # passes less bids among the answers
    done = set[tuple[int, int]]()
    for at in random.permutation(np.repeat(np.arange(len(hands)), TRIES)).tolist():
        wanted = KINDS[random.integers(len(KINDS))] if kind == "both" else kind
        row, plies, rows = rows_of([hands[at].dealt]), [], []
        for ply, action in enumerate(hands[at].actions):
            is_spare = passes > 0 and action == 0  # a pass, though the next answer is a bid
            if asks(row[0], rules) == wanted and (at, ply) not in done and not is_spare:
                plies.append(ply)
                rows.append(row.copy())
            replay_row(row, tables, np.array([action], np.int64))
        if not plies or (at, -1) in done:
            continue
        pick = int(random.integers(len(plies)))
        done.add((at, plies[pick]))
        row = rows[pick]
        advice = _lesson(row, first, PART**0.5) and _lesson(row, advisor)
        if advice and row["phase"][0] == Phase.AUCTION:
            is_pass = advice.best.name == "pass"
            if is_pass and passes > 0:
                advice = None
            else:
                passes += 1 if is_pass else -1
        if advice:
            done.add((at, -1))
        yield Question(row, advice) if advice else None


def asks(row: Any, rules: Rules) -> str | None:
    """Return the kind of question of a position, "bid" or "play"; None if it is none.

    The first call is none, because its value depends on the calls of the three others.
    A question on a card is a lead, or a defender's card against a lone bid, in the first tricks,
    with a choice of three or more cards of two or more suits.
    """
    phase = Phase(int(row["phase"]))
    if phase <= Phase.NAMING:
        return "bid" if row["calls_made"] > 0 else None
    t, declarer = compile_tables(rules)[0], int(row["declarer"])
    defends = bool(t["alone"][row["level"]]) and declarer & 1 != int(row["turn"]) & 1
    if phase != Phase.PLAY or row["trick"] > LATEST_TRICK or not (row["led"] < 0 or defends):
        return None
    cards = legal_names(row, rules)
    suits = {int(t["suit_of"][row["strain"], parse_card(card)]) for card in cards}
    return "play" if len(cards) > 2 and len(suits) > 1 else None


def _lesson(row: Array, advisor: Advisor, part: float = 1.0) -> Advice | None:
    """Return the advice on a position, or None if it is no question (see `choose`).

    The advantage of the best choice must exceed this part of the half-width of its interval.
    """
    trial = advisor.try_row(row)
    advice = advisor.advice([trial])
    gaps = [option.behind for option in advice.options[1:]]
    is_clear = (
        bool(gaps)
        and not advice.few
        and advice.choice is advice.best
        and all(gap.mean > part * gap.half for gap in gaps)
        and POINTS <= advice.options[1].loss <= LARGEST
    )
    return advice if is_clear and _matters(trial, advice.options[:2]) else None


def _matters(trial: Situation, options: Sequence[Option]) -> bool:
    """Whether the options differ in suit, if cards, and the first bid often wins the auction."""
    t, view, counted = compile_tables(trial.rules)[0], trial.view, trial.counted
    if view["phase"] == Phase.PLAY:
        kinds = [parse_card(option.name) for option in options]
        return len({int(t["suit_of"][view["strain"], kind]) for kind in kinds}) == len(kinds)
    bids = [option.action for option in options if option.name.startswith("bid ")]
    declares = counted.column(bids[0])["declarer"] == 0 if bids else np.ones(len(counted.weights))
    return mean(declares, counted.weights) >= STANDS


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
    text = f"Your cards: {' '.join(map(signed, look.hand(seat)))}."
    if look.left_bower() and phase > Phase.NAMING:
        text += f" {look.left_bower_words()}"
    tricks = [_trick(look, trick) for trick in range(int(row["trick"]))]
    played = f"<p>Tricks so far: {escape('; '.join(tricks))}.</p>" if tricks else ""
    picture = table_svg(row, rules, viewer=seat)
    return (
        f'<article class="question"><div><h2>{number}. {escape(ask)}</h2><p>{escape(text)}</p>'
        f'{played}<div class="line"></div></div>{picture}</article>'
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
