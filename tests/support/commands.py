"""Commands run in this process, and the keys of the results that they print as JSON."""

from bideuchre_env.cli import main as cli

KEYS = (
    *("variant", "options", "agents", "boards", "hands", "points_per_hand", "games"),
    *("contracts", "decisions_per_second", "seed", "records"),
)


def run(*arguments: str) -> int:
    """Run `bideuchre` with these arguments, and return its exit status."""
    try:
        return cli.main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
