"""Every test of a command runs in an empty folder of its own."""

import pytest
from support.commands import run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder of the test, where the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def error_of(capsys):
    """Run a command that fails: its only output is one line on stderr, which is returned."""

    def failed(*arguments, status=2):
        capsys.readouterr()
        assert run(*arguments) == status
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1), out + err
        assert err.startswith("bideuchre")
        return err

    return failed
