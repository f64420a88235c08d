"""Advice on a position: an agent's choice, the results of the possible actions, and an explanation.

`advise` and `Advisor` try actions in deals of the hidden cards that a search agent samples. They
return an `Advice`, which has an `Option` with mean results for each action.
"""

from bideuchre_env.agents.advice.advice import Advice, Option
from bideuchre_env.agents.advice.advising import Advisor, advise, advise_row

__all__ = ["Advice", "Advisor", "Option", "advise", "advise_row"]
