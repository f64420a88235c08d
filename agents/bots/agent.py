"""`CommandAgent`: a bot in another process as an agent, by JSON lines (see `README.md`)."""

from __future__ import annotations

import json
import warnings
from functools import partial
from typing import Any

import numpy as np

from bideuchre_env._checks import MAX_NAME, brief, did_you_mean
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.bots.command import split_command
from bideuchre_env.agents.bots.process import BotProcess
from bideuchre_env.agents.protocols import (
    GOAL_OPTION,
    AgentInfo,
    Goal,
    check_goal,
    check_number,
    check_range,
)
from bideuchre_env.errors import AgentError, IllegalActionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

PROTOCOL = 1
"""Version of the protocol; a bot refuses a version that it does not know."""
READY = "ready"


class CommandAgent(RowAgent):
    """Plays the answers of a bot in another process, which starts with the first decision.

    Args:
        rules: the rules of the game.
        command: the program and its arguments, split at blanks as a shell does.
        seed: sent to the bot.
        goal: sent to the bot; None for "game".
        seconds: time limit of a decision.
        start: time limit of the start in seconds.
        restarts: how often the bot is started again after it has ended by itself.

    Raises:
        OptionError: for an unknown program, and an option out of range.
    """

    info = AgentInfo(
        "A bot in another process, by JSON lines: cmd:./bot --level 3.",
        {
            "command": "program and its arguments",
            "seconds": "time limit of a decision",
            "start": "time limit of the start",
            "restarts": "restarts after the bot has ended by itself",
        }
        | GOAL_OPTION,
    )

    def __init__(
        self,
        rules: Rules,
        command: str,
        *,
        seed: int | None = None,
        goal: Goal | None = None,
        seconds: float = 10.0,
        start: float = 60.0,
        restarts: int = 3,
    ) -> None:
        super().__init__(rules, seed)
        self._words = split_command(command)
        self._seconds = check_number("seconds", seconds, 0.001, 86_400)
        self._start_seconds = check_number("start", start, 0.001, 86_400)
        self._restarts = check_range("restarts", restarts, 0, 1000)
        self._new = partial(
            type(self), rules, command, seed=seed, goal=goal,
            seconds=seconds, start=start, restarts=restarts,
        )  # fmt: skip
        self.name = f"cmd:{command}"[:MAX_NAME]
        self._actions = {name: action for action, name in enumerate(actions.of(rules).names)}
        self._hello = {
            "type": "start",
            "protocol": PROTOCOL,
            "rules": rules.to_dict(),
            "actions": list(self._actions),
            "goal": check_goal(goal or "game"),
            "seed": seed,
        }
        self._bot: BotProcess | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by calling the constructor again: a copy has a bot of its own."""
        return self._new, (), {"name": self.name}

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return the bot's action for every row; int64 (n,).

        Raises:
            AgentError: the bot fails: no answer, no JSON, or it ends more often than `restarts`.
            IllegalActionError: the bot answers another text than the name of a legal action.
        """
        rows = zip(observations, action_masks, strict=True)
        return np.array([self._decide(*row) for row in rows], np.int64)

    def _decide(self, observation: Array, mask: Array) -> int:
        legal = [name for name, action in self._actions.items() if mask[action]]
        words = self.layout.decode(observation)
        answer = self._answer({"type": "decide", "observation": words, "legal": legal})
        if answer not in legal:
            raise IllegalActionError(
                f"agent {self.name!r}: answered {brief(answer)}{did_you_mean(answer, legal)}; "
                f"legal: {', '.join(map(repr, legal))}"
            )
        return self._actions[answer]

    def _answer(self, message: dict[str, Any]) -> str:
        """Return the answer to a message; start the bot if it is not running, or ends meanwhile."""
        while True:
            bot = self._bot or self._started()
            line = self._ask(bot, message, self._seconds, "seconds")
            if line:
                return self._text(line)
            failure = f"agent {self.name!r}: {bot.ending()}"
            if not self._restarts:
                raise AgentError(f"{failure}; it has no restarts left")
            self._restarts -= 1
            warnings.warn(f"{failure}; it is restarted", RuntimeWarning, stacklevel=2)

    def _started(self) -> BotProcess:
        """Return the bot, started and ready; `AgentError` if it ends or answers otherwise."""
        bot = BotProcess(self._words)
        line = self._ask(bot, self._hello, self._start_seconds, "start")
        if not line:
            raise AgentError(f"agent {self.name!r}: {bot.ending()}, before it was ready")
        if (answer := self._text(line)) != READY:
            self._bot = None
            raise AgentError(
                f"agent {self.name!r}: answered {brief(answer)} to the start: expected "
                f'"{READY}", the JSON text'
            )
        return bot

    def _ask(self, bot: BotProcess, message: dict[str, Any], seconds: float, limit: str) -> bytes:
        """Send a message; return the line of the answer, b"" if the bot ends.

        `limit` is the option of the time limit, for the `AgentError` after it.
        """
        line = json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
        self._bot = None  # if this raises an error or is interrupted, the bot has been killed
        try:
            answer = bot.ask(line, seconds)
        except TimeoutError:
            raise AgentError(
                f"agent {self.name!r}: no answer within {seconds:g} s: cmd:{limit}=SECONDS:COMMAND "
                "allows more"
            ) from None
        if answer:
            self._bot = bot
        return answer

    def _text(self, line: bytes) -> str:
        """Return the JSON string of a line; `AgentError` for any other text."""
        try:
            answer = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, str):
            text = brief(line.decode("utf-8", "replace").strip())
            raise AgentError(
                f"agent {self.name!r}: answered {text}: expected a JSON string in a line, as "
                '"pass"; other output belongs on standard error'
            )
        return answer
