"""Play agents as partners of each other, against a fixed field: `bideuchre crossplay`.

Every agent A is the partner of every agent, itself included, on duplicate boards against each agent
of the field. The tables have points per hand of all pairs of partners (mean over the field), of
each agent in self-play (with itself) and in cross-play (mean over the other agents), and the
difference of cross-play minus self-play on the same boards, with 95 % intervals. The difference
also contains that in strength between the partners: compare agents of similar strength.

The folder gets the tables (results.md, results.tex) and all figures (results.json, results.csv),
updated after every match, and a heat map (results-light.svg, results-dark.svg; it needs
matplotlib). The same command resumes a stopped run. Time per variant on one core: a minute for
rule, net and ppo, two minutes for rule, net and expert.

    bideuchre crossplay rule net ppo --workers 2
    bideuchre crossplay ./mine.py:Mine net expert --variant all --field rule --out runs/partners
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bideuchre_env.cli import evaluate
from bideuchre_env.cli.options import new_command
from bideuchre_env.cli.screen import AGENTS, VARIANTS
from bideuchre_env.cli.tournament import add_matches

DEFAULT_FIELD = ("rule", "expert")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    run = partial(evaluate.run, command="crossplay")
    parser = new_command(commands, "crossplay", run, __doc__, VARIANTS, AGENTS)
    evaluate.add_field(parser, DEFAULT_FIELD, "two or more agents to combine")
    add_matches(parser, "crossplay", evaluate.DEFAULT_BOARDS, None)
