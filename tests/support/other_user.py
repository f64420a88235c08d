"""Commands as a user who cannot write to a folder."""

import os
import shutil
from contextlib import contextmanager

import pytest

NOBODY = 65534
# reads every file, since the interpreter may be in a closed folder, and writes none of others
OTHER_USER = (
    *("setpriv", "--clear-groups", f"--reuid={NOBODY}", f"--regid={NOBODY}"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)


@contextmanager
def unwritable(folder):
    """Context manager: yield a command prefix of a user who cannot write to the folder.

    Another user if this one is root, or else this user, for whom the folder is closed.
    """
    if os.getuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root writes everywhere, and setpriv is not installed")
        yield OTHER_USER
        return
    folder.chmod(0o555)
    yield ()
    folder.chmod(0o755)
