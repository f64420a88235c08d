"""One step of many tables: an agent is asked, and what it answers is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bideuchre_env.agents import CompleteAgent
from bideuchre_env.agents.loading import in_one_line
from bideuchre_env.core.legality import legal_names
from bideuchre_env.errors import AgentError, BidEuchreError, IllegalActionError
from bideuchre_env.evaluation.boards import first_illegal
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array


def answer_of(agent: CompleteAgent, observations: Array, masks: Array) -> Any:
    """What `act_rows` of anybody's agent returns, unchecked.

    Raises `AgentError` for whatever it raises that is no `BidEuchreError`.
    """
    try:
        return agent.act_rows(observations, masks)
    except BidEuchreError:
        raise
    except (Exception, SystemExit) as error:  # anybody's agent may play, maybe elsewhere
        raise AgentError(f"agent {agent.name!r}: {in_one_line(error)}") from error


def checked(
    agent: CompleteAgent,
    answer: Any,
    rules: Rules,
    states: Array,
    tables: Array,
    slots: Array,
    where: Callable[[int], str],
) -> Array:
    """The answer as int64 (n,), if each choice is legal in its slot of `states`.

    Raises `IllegalActionError` if not, which says `where` that slot is.
    """
    choices = np.asarray(answer)
    if choices.shape != slots.shape or choices.dtype.kind not in "iu":
        raise IllegalActionError(
            f"agent {agent.name!r}: act_rows returned {choices.dtype} {choices.shape}, not whole "
            f"numbers of shape {slots.shape}"
        )
    choices = np.ascontiguousarray(choices, np.int64)
    at = first_illegal(states, tables, slots, choices)
    if at >= 0:
        row, names = states[slots[at]], actions.of(rules).names
        choice = int(choices[at])
        shown = repr(names[choice]) if 0 <= choice < len(names) else "no action"
        raise IllegalActionError(
            f"agent {agent.name!r}, row {at} ({where(slots[at])}, seat {row['turn']}): "
            f"chose {choice} ({shown}); legal: " + ", ".join(map(repr, legal_names(row, rules)))
        )
    return choices
