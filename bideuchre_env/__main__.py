"""`python -m bideuchre_env`: the `bideuchre` command."""

from bideuchre_env.cli.main import console

console()
