"""The notation's JSON object of a result, which self-play and matches print."""

KEYS = (
    *("variant", "options", "agents", "boards", "hands", "points_per_hand", "games"),
    *("contracts", "decisions_per_second", "seed", "records"),
)
