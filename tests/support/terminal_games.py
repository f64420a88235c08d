"""Answers to the prompts of `bideuchre play`, and games up to a claim."""

import re

import numpy as np

from bideuchre_env import agents
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.one_row import look_row
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.play.session import Session
from bideuchre_env.rules import actions

PROMPT = "(h: help): "
OURS = ("--partner", "rule", "--opponents", "rule", "cautious", "--pause", "0", "--no-review")


def answer(screen: str) -> str:
    """A line for the last prompt of a screen: the first legal action, or "" for Enter."""
    lines = screen.rsplit(PROMPT, 1)[0].splitlines()
    if lines[-1].startswith("Enter"):
        return ""
    if lines[-1].startswith("Your call"):
        [calls] = re.findall(r"^You may call: (.*)", "\n".join(lines[-3:]), re.M)
        first = calls.split(", ")[0]
        return calls.partition(", as ")[2] if " with " in calls and first != "pass" else first
    if lines[-1].startswith("Your strain"):
        return "1"
    keys = lines[-3].split()  # above the cards, above the prompt
    return next(key for key in keys if key != "-")


def play_to_claim(session: Session) -> Session:
    """Play until the tricks left may be claimed; the rule player decides for the person."""
    rule, names = agents.make("rule", session.rules), actions.of(session.rules).names
    layout, tables = layout_of(session.rules), compile_tables(session.rules)
    seen, mask = np.zeros(layout.size, np.int8), np.zeros(len(names), np.int8)
    while not session.can_claim:
        assert not session.over
        session.advance()
        if session.hand_over:
            session.next_hand()
        elif session.waits_for_person and not session.can_claim:
            look_row(session.row.reshape(1), tables, layout.offsets, seen, mask)
            session.act(session.seat, names[rule.act(seen, mask)])
    return session
