"""Every test of a command runs in its own empty folder."""

import pytest
from support.commands import run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def error_of(capsys):
    """A function that runs a failing command; it returns the only output, one line on stderr."""

    def failed(*arguments, status=2):
        capsys.readouterr()
        assert run(*arguments) == status
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1), out + err
        assert err.startswith("bideuchre")
        return err

    return failed
