"""Calls as `bideuchre prepare` leaves them, without the learning."""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.expert.call_network import KIND, VERSION, call_arrays, package_network
from bideuchre_env.agents.prepared import prepared_file
from bideuchre_env.learning.weights import made_for, write_weights


def prepare_calls(rules, shift=0.5):
    """The package's calls for these rules, all worth so much more, as if prepared; the file."""
    arrays = call_arrays(package_network(rules))
    arrays["calls.base"] = arrays["calls.base"] + np.float32(shift)
    file = prepared_file(KIND, rules)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_weights(file, arrays, made_for(KIND, rules, VERSION))
    return file
