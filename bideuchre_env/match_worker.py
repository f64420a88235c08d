"""A process that plays blocks of a match for another.

It reads lines of JSON, the plan and then a block a line ([first, stop]), and answers in lines of
JSON: boards as they are finished, the end of each block, or an error. It ends with its input.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import threading
from typing import Any

import numpy as np

from bideuchre_env import duel
from bideuchre_env.errors import BidEuchreError
from bideuchre_env.match_rooms import Batch, Plan, play_block, warm_up
from bideuchre_env.rules import Rules


def plan_line(plan: Plan) -> str:
    """A plan whose agents are names, as a line."""
    fields = {"rules": plan.rules.to_dict(), "agents": list(plan.agents), "seed": plan.seed}
    return json.dumps(fields | {"single": plan.single, "at_once": plan.at_once}) + "\n"


def read_plan(line: str) -> Plan:
    """The plan of a line."""
    told = json.loads(line)
    a, b = told["agents"]
    return Plan(Rules(**told["rules"]), (a, b), told["seed"], told["single"], told["at_once"])


def batch_fields(batch: Batch) -> dict[str, Any]:
    """A batch as JSON values."""
    rows = base64.b64encode(batch.rows.tobytes()).decode("ascii")
    return {"rows": rows, "decided": batch.decided, "thought": batch.thought}


def read_batch(fields: dict[str, Any]) -> Batch:
    """The batch of what `batch_fields` wrote."""
    rows = np.frombuffer(base64.b64decode(fields["rows"]), duel.BOARD)
    decided, thought = fields["decided"], fields["thought"]
    return Batch(rows, (decided[0], decided[1]), (thought[0], thought[1]))


def main() -> int:
    """Play what is asked for on standard input; 1 after an error that was told."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started this process
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what an agent prints is no answer

    def answer(told: dict[str, Any]) -> None:
        answers.write(json.dumps(told) + "\n")
        answers.flush()

    never = threading.Event()
    try:
        plan = read_plan(sys.stdin.readline())
        warm_up(plan)
        answer({"ready": True})
        for line in sys.stdin:
            first, stop = json.loads(line)
            play_block(plan, range(first, stop), lambda batch: answer(batch_fields(batch)), never)
            answer({"ready": True})
    except BidEuchreError as error:
        answer({"error": type(error).__name__, "text": str(error)})
        return 1
    except BrokenPipeError:  # nobody listens any more
        return 1
    return 0
