"""Advice on a position: an agent's choice, the results of every option, and the reason.

It uses the search agents, and tries every option in their worlds.
"""

from bideuchre_env.agents.advice.advice import Advice, Option
from bideuchre_env.agents.advice.advising import Advisor, advise, advise_row

__all__ = ["Advice", "Advisor", "Option", "advise", "advise_row"]
