"""Advice: what an agent would do in a position, what every option comes to, and why.

It builds on the players that search, whose worlds it tries every option in.
"""

from bideuchre_env.agents.advice.advice import Advice, Option
from bideuchre_env.agents.advice.advising import Advisor, advise, advise_row

__all__ = ["Advice", "Advisor", "Option", "advise", "advise_row"]
