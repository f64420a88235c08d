"""The games as environments of RLlib, Ray's library of trainers, in its new API stack."""

from __future__ import annotations

from bideuchre_env.adapters.extras import needs

with needs("rllib"):
    from ray.rllib.env.multi_agent_env import MultiAgentEnv as MultiAgentEnv
