"""The games as Python games of OpenSpiel."""

from __future__ import annotations

from bideuchre_env.adapters.extras import needs

with needs("openspiel"):
    import pyspiel as pyspiel
