"""What is compiled is shown: how many kernels there are, and how many are done."""

import io
import types

import pytest

from bideuchre_env.runtime import compiling

SOURCE = """
def least(): return 1
def inner(): return least() + missing()
def other(): return inner() + least()
def outer(): return other() + inner()
"""


class Kernel:
    """As numba has it, as far as it is looked at: a function, and what of it is compiled."""

    _cache = None

    def __init__(self, function, module="bideuchre_env.agents.rule.agent"):
        function.__module__ = module
        self.py_func, self.overloads = function, {}


@pytest.fixture
def kernels():
    """Four kernels by name, each of which calls those before it."""
    names = {}
    exec(SOURCE, names)
    for name, function in list(names.items()):
        if isinstance(function, types.FunctionType):
            names[name] = Kernel(function)
    return {name: kernel for name, kernel in names.items() if isinstance(kernel, Kernel)}


def compile_one(listener, kernel, *calls, fails=False):
    """The events of a kernel that is compiled with those it calls."""
    event = types.SimpleNamespace(data={"dispatcher": kernel})
    listener.on_start(event)
    for call in calls:
        compile_one(listener, *(call if isinstance(call, tuple) else (call,)))
    if not fails:
        kernel.overloads[()] = True
    listener.on_end(event)


def test_the_number_is_of_those_that_are_missing(kernels):
    """All that the outermost reaches, but for what is compiled; somebody else's do not count."""
    shown = []
    listener = compiling.Compiling(list(kernels.values()), kept=True)
    least, inner, other, outer = kernels.values()
    least.overloads[()] = True
    with listener.shown_by(lambda *each: shown.append(each)):
        compile_one(listener, outer, (other, inner, Kernel(lambda: 0)))
    player = "the rule player"
    assert shown == [(player, done, 3) for done in range(4)]
    assert listener.compiled == {inner, other, outer}
    assert listener.missing(kernels.values()) == set()


def test_a_part_is_counted_as_a_whole(kernels):
    """Several kernels that Python calls, in any order, under a title of their own."""
    shown = []
    listener = compiling.Compiling(list(kernels.values()), kept=True)
    least, inner, other, outer = kernels.values()
    with listener.shown_by(lambda *each: shown.append(each)):
        with listener.whole("a part", [outer, inner]):
            compile_one(listener, inner, least)
            compile_one(listener, outer, other)
        compile_one(listener, other)  # for other types
    assert shown[:-2] == [*(("a part", done, 4) for done in range(5)), ("a part", 4, 4)]
    assert shown[-2:] == [("the rule player", 0, 1), ("the rule player", 1, 1)]


def test_what_fails_ends_it(kernels):
    """A kernel that cannot be compiled, or Ctrl-C: the bar goes, and nothing is counted."""
    shown = []
    listener = compiling.Compiling(list(kernels.values()), kept=True)
    with listener.shown_by(lambda *each: shown.append(each)):
        compile_one(listener, kernels["inner"], fails=True)
    assert shown == [("the rule player", 0, 2), ("the rule player", 2, 2)]
    assert listener.compiled == set()


def test_elsewhere_than_on_a_terminal_there_is_a_line_per_part(kernels, caplog, monkeypatch):
    """The first says where it is kept; a few kernels more are not worth one."""
    monkeypatch.setattr("sys.stderr", io.StringIO())
    teller = compiling._Teller(kept=True)
    for part, total in (("the game", 3), ("the game", 4), ("the expert", 41)):
        for done in range(total + 1):
            teller(part, done, total)
    assert [record.message for record in caplog.records] == [
        "bideuchre_env: compiling the game, 3 kernels; they are kept for the next time",
        "bideuchre_env: compiling the expert, 41 kernels",
    ]
    compiling._Teller(kept=False)("the game", 0, 1)
    assert "the game, 1 kernel; they are not kept: no folder can be written" in caplog.text


def test_on_a_terminal_a_bar_moves(caplog, monkeypatch):
    """And is gone afterwards; no line is logged."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    teller = compiling._Teller(kept=True)
    for done in range(42):
        teller("the expert", done, 41)
        if done in (0, 14):
            teller._bar.refresh()
    drawn = compiling.sys.stderr.getvalue()
    assert "compiling the expert, 0 of 41 kernels" in drawn
    assert "compiling the expert, 14 of 41 kernels" in drawn
    assert drawn.endswith("\x1b[2K")
    assert teller._bar is None
    assert caplog.text == ""


def test_a_stderr_that_is_closed_or_odd_says_nothing(monkeypatch):
    """Compiling goes on, and nothing more is tried, even when it could be written again."""
    closed = io.StringIO()
    closed.close()
    for stream in (closed, object()):
        monkeypatch.setattr("sys.stderr", stream)
        teller = compiling._Teller(kept=True)
        teller("the expert", 0, 41)
        monkeypatch.setattr("sys.stderr", io.StringIO())
        teller("the expert", 41, 41)
        assert compiling.sys.stderr.getvalue() == ""


def test_a_terminal_that_goes_takes_the_bar_with_it(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    teller = compiling._Teller(kept=True)
    teller("the expert", 0, 41)
    compiling.sys.stderr.close()
    teller("the expert", 41, 41)
    assert teller._bar is None


def test_every_room_with_kernels_has_words():
    """What is shown is a part of the package, not its file."""
    from bideuchre_env.evaluation import warm_up  # with all the rooms
    from bideuchre_env.runtime import jit

    assert warm_up.PARTS
    ours = [each for each in jit.KERNELS if each.py_func.__module__.startswith("bideuchre_env.")]
    assert {compiling.part_of(kernel) for kernel in ours} <= set(compiling.PARTS.values())
