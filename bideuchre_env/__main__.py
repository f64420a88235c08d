"""`python -m bideuchre_env`: the `bideuchre` command."""

import sys

from bideuchre_env.cli.main import main

sys.exit(main())
