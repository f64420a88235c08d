"""`bideuchre play` through a pseudo-terminal, as a person meets it, and its lines one by one."""

from __future__ import annotations

import io
import os
import random
import re
import sys

import pytest
from rich.console import Console
from support.playthroughs import VARIANTS
from support.terminal_games import OURS, PROMPT, Play, answer

from bideuchre_env import make
from bideuchre_env.cli.main import main
from bideuchre_env.errors import NotationError
from bideuchre_env.play.lines import action_typed, calls_listed, listed
from bideuchre_env.play.saved import seated
from bideuchre_env.play.session import Session
from bideuchre_env.play.terminal import COMMANDS, HELP, Terminal
from bideuchre_env.records import files as records_io
from bideuchre_env.rules import actions

SHORT = {
    "cincinnati_v0": ("--option", "target=9"),
    "barrie_v0": ("--option", "max_hands=2"),
    "simplified_v0": (),
    "club_v0": ("--option", "max_hands=1"),
    "six_card_v0": ("--option", "target=4"),
    "double_deck_v0": ("--option", "max_hands=1"),
}
ENDING = "^(?:You and partner win|Left and right win|The game is).*"
QUICK = ("--no-review", "--pause", "0")
FILE = "runs/play-{}.json"


@pytest.fixture
def play():
    """Makes runs of the command, which are killed when the test is over."""
    runs = []

    def begin(folder, *arguments):
        runs.append(Play(folder, *arguments))
        return runs[-1]

    yield begin
    for run in runs:
        run.kill()


def short(variant):
    """A game that is soon over, with agents that are quick, one of which draws lots."""
    return ("--variant", variant, *SHORT[variant], "--seed", "5", *OURS)


def record(folder, variant):
    """The record that a game has left."""
    [game] = records_io.read(folder / f"runs/play-{variant}.jsonl")
    return game


class Answers(io.StringIO):
    """A standard input that answers what stands on the screen."""

    def __init__(self, screen):
        super().__init__()
        self.screen = screen

    def readline(self, size=-1):
        """The next line."""
        return answer(self.screen.getvalue()) + "\n"


def in_process(folder, monkeypatch, *arguments):
    """The command in this process, played from a pipe: exit code, output."""
    with monkeypatch.context() as patched:
        patched.chdir(folder)
        patched.setattr(sys, "stdout", io.StringIO())
        patched.setattr(sys, "stdin", Answers(sys.stdout))
        return main(("play", *arguments)), sys.stdout.getvalue()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_game_is_played_to_its_end(variant, tmp_path, monkeypatch):
    """In 80 columns, without colours in a pipe; at the end it is on record and reviewed."""
    code, screen = in_process(tmp_path, monkeypatch, *short(variant))
    assert code == 0
    assert max(map(len, screen.splitlines())) <= 80
    assert "\x1b" not in screen
    for words in ("A new game in", "Hand 1: ", "Contract: ", "Trick 1: ", "won by", "On record: "):
        assert words in screen
    game = record(tmp_path, variant)
    assert game.agents == ["person", "rule", "rule", "cautious"]
    assert game.seed == 5
    saved = (tmp_path / FILE.format(variant)).read_bytes()
    code, again = in_process(tmp_path, monkeypatch, "--file", FILE.format(variant), "--no-review")
    assert code == 0
    assert f"On record: bideuchre show runs/play-{variant}.jsonl\n" in again
    assert len(list((tmp_path / "runs").glob("*.jsonl"))) == 1  # which is there already
    [ending] = re.findall(ENDING, screen, re.M)
    assert ending in again
    assert (tmp_path / FILE.format(variant)).read_bytes() == saved


def test_the_review_ends_a_game_and_can_be_left_out(tmp_path, monkeypatch):
    """By the adviser; after Ctrl-C in it the game is on record all the same."""
    short_one = ("--option", "max_hands=1", *OURS[:-1], "--adviser", "rule", "--seed", "5")
    code, screen = in_process(tmp_path, monkeypatch, *short_one)
    assert (code, "reviewed by rule" in screen) == (0, True)
    assert max(map(len, screen.splitlines())) <= 80

    def interrupted(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("bideuchre_env.analysis.review", interrupted)
    code, screen = in_process(tmp_path, monkeypatch, *short_one)
    assert code == 130
    kept = "runs/play-cincinnati_v0-2.jsonl"
    assert f"On record: bideuchre show {kept}\n" in screen
    assert f"No review: bideuchre show {kept} --analyse makes it.\n" in screen
    assert len(list(records_io.read(tmp_path / kept))) == 1


LEAVING = {"q": (b"q\n", 0), "ctrl-d": (b"\x04", 0), "ctrl-c": (b"\x03", 130)}


WAYS = [
    ("cincinnati_v0", "ctrl-c"),
    pytest.param("barrie_v0", "ctrl-d", marks=pytest.mark.slow),
    pytest.param("six_card_v0", "q", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("variant", "way"), WAYS)
def test_a_game_is_left_and_killed_and_goes_on(variant, way, play, tmp_path, monkeypatch):
    """By SIGKILL at a random card, by q, Ctrl-D and Ctrl-C: its record is the uninterrupted one."""
    (tmp_path / "whole").mkdir()
    in_process(tmp_path / "whole", monkeypatch, *short(variant))
    rng = random.Random(variant)
    run = play(tmp_path, *short(variant))
    assert run.play(rng.randrange(2, 6))
    run.kill()
    run = play(tmp_path, "--variant", variant, *QUICK)
    assert run.play(rng.randrange(1, 4))
    assert run.screen.startswith(f"Going on with {FILE.format(variant)}\n")
    key, code = LEAVING[way]
    run.read()
    run.press(key)
    assert run.end() == code
    command = f"Go on with: bideuchre play --file {FILE.format(variant)}"
    assert command in run.screen
    assert "Traceback" not in run.screen
    run = play(tmp_path, *command.split()[5:], *QUICK)
    assert not run.play()
    assert run.end() == 0
    whole = record(tmp_path / "whole", variant)
    assert record(tmp_path, variant).to_dict() == whole.to_dict()


def test_commands_and_wrong_lines_change_nothing(play, tmp_path):
    """A hint with its reason, the score, help, the table; then undo, and the game goes on."""
    run = play(tmp_path, *short("cincinnati_v0"))
    saved = tmp_path / FILE.format("cincinnati_v0")
    assert run.play(3)
    run.read()
    before = saved.read_text()
    for line, words in (
        ("?", "points"),
        ("HINT", "wins the game"),
        ("t", "Trick|No trick"),
        ("s", r"Score: you \d+, they \d+; game at 9. Tricks of this hand: you"),
        ("h", "Type a card by its name"),
        ("v", r"\?\? not\s+seen"),
        ("", "Your card"),
        ("ZZ", "'ZZ' is none of"),
        ("99", "there is no key 99"),
        ("0", "there is no key 0"),
        ("pass", "pass is not allowed now"),
        ("[bold]\x01é", "is none of"),
        ("x" * 300, "is none of"),
    ):
        shown = len(run.screen)
        run.type(line)
        assert run.read()
        assert re.search(words, run.screen[shown:]), line
        assert saved.read_text() == before, line
    run.type("u")
    assert "Taken back." in run.read()
    assert saved.read_text() != before
    run.type(answer(run.screen))
    assert not run.play()
    assert run.end() == 0


@pytest.fixture
def bideuchre(tmp_path, monkeypatch, capsys):
    """The command in this process with lines in a pipe: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, lines=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        try:
            code = main(("play", *arguments))
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return run


def test_files_in_a_pipe(bideuchre, tmp_path):
    """New ones, the one to go on with, other settings, one that is damaged: none is lost."""
    code, out, err = bideuchre(*OURS, "--seed", "3", lines="q\n")
    assert (code, err) == (0, "")
    assert out.startswith("A new game in runs/play-cincinnati_v0.json\n")
    assert f"{PROMPT}q\nThe game is saved." in out
    saved = tmp_path / "runs/play-cincinnati_v0.json"
    first = saved.read_bytes()
    assert bideuchre(lines="q\n")[1].startswith("Going on with runs/play-cincinnati_v0.json")
    code, out, _ = bideuchre(*OURS, "--new", lines="q\n")
    assert out.startswith("A new game in runs/play-cincinnati_v0-2.json\n")
    for option, words in (
        (("--seat", "1"), "other seats"),
        (("--option", "target=4"), "other rules"),
        (("--partner", "cautious"), "other agents (person, rule, rule, cautious)"),
        (("--opponents", "rule"), "other agents"),
        (("--seed", "4"), "another seed"),
    ):
        code, out, err = bideuchre("--file", str(saved), *option)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert words in err
        assert "--new begins another" in err
    assert bideuchre("--file", str(saved), "--new")[0] == 2
    assert saved.read_bytes() == first
    saved.write_bytes(first[:-30])
    for option in ((), ("--file", str(saved))):
        os.utime(saved)
        code, out, err = bideuchre(*option)
        assert (code, out) == (2, "")
        assert "is no saved game" in err
        assert "--new begins another game" in err
        assert saved.read_bytes() == first[:-30]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--seat", "4"), "--seat 4: from 0 to 3"),
        (("--partner", "nobody"), "no agent 'nobody'"),
        (("--opponents", "rule", "rule", "rule"), "one agent or two"),
        (("--pause", "-1"), "seconds from 0 to 60"),
        (("--seed", "-1"), "seed=-1"),
        (("--adviser", "x"), "no agent 'x'"),
        (("--variant", "x"), "x"),
        (("--file", "folder"), "it cannot be read"),
        (("--file", "file/game.json"), "cannot be written"),
    ],
)
def test_bad_options_are_one_line(arguments, words, bideuchre, tmp_path):
    """And nothing is written."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    code, out, err = bideuchre(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert words in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


CINCINNATI, BARRIE = (actions.of(make(name).rules) for name in ("cincinnati_v0", "barrie_v0"))
HAND = ["JH", "JD", "AS", "9C", "9C"]
BIDS = [f"bid {bid} {strain}" for bid in ("8", "call-2", "moon") for strain in ("C", "H", "NT")]


@pytest.mark.parametrize(
    ("text", "legal", "name"),
    [
        ("p", ["pass", "bid 4"], "pass"),
        ("PASS", ["pass", "bid 4"], "pass"),
        ("4", ["pass", "bid 4"], "bid 4"),
        ("Bid 4", ["pass", "bid 4"], "bid 4"),
        ("m", ["pass", "bid moon"], "bid moon"),
        ("double moon", ["bid moon", "bid double moon"], "bid double moon"),
        ("d", ["bid moon", "bid double moon"], "bid double moon"),
        ("8 h", ["pass", *BIDS], "bid 8 H"),
        ("8♥", ["pass", *BIDS], "bid 8 H"),
        ("8 hearts", ["pass", *BIDS], "bid 8 H"),
        ("8 no trump", ["pass", *BIDS], "bid 8 NT"),
        ("moon n", ["pass", *BIDS], "bid moon NT"),
        ("Call-2 C", ["pass", *BIDS], "bid call-2 C"),
        ("h", ["trump C", "trump H"], "trump H"),
        ("2", ["trump C", "trump H"], "trump H"),
        ("hearts", ["trump C", "trump H"], "trump H"),
        ("jd", HAND, "JD"),
        ("J♦", HAND, "JD"),
        ("2", HAND, "JD"),
        (" 5 ", HAND, "9C"),
    ],
)
def test_what_is_typed_is_read(text, legal, name):
    """Keys, names and words, whatever their case."""
    acts = BARRIE if any(each in BIDS for each in legal) else CINCINNATI
    assert action_typed(text, legal, HAND, acts) == name


@pytest.mark.parametrize(
    ("text", "legal", "words"),
    [
        ("8", ["pass", *BIDS], "'8' is several calls: 8 C, 8 H or 8 NT"),
        ("4 h", ["pass", *BIDS], "4 H is not allowed now"),
        ("x", ["pass", *BIDS], "no call you can make now: pass, 8, call-2, moon with C H NT"),
        ("3", ["pass", "bid 4"], "3 is not allowed now: pass or 4"),
        ("spades", ["trump C"], "S is not allowed now: C"),
        ("2", ["trump C"], "there is no key 2"),
        ("jd", ["JH"], "JD is not allowed now: JH"),
        ("2", ["JH"], "JD is not allowed now: JH"),
        ("²", ["JH"], "'²' is none of JH"),
        ("9" * 5000, ["JH"], "there is no key 9999"),
    ],
)
def test_what_is_typed_wrongly_is_said(text, legal, words):
    """In a sentence."""
    acts = BARRIE if any(each in BIDS for each in legal) else CINCINNATI
    with pytest.raises(NotationError) as caught:
        action_typed(text, legal, HAND, acts)
    assert words in str(caught.value)


def test_lists_of_what_may_be_done():
    """Bids are told once; of many actions the first few."""
    assert calls_listed(["pass", *BIDS]) == "pass, 8, call-2, moon with C H NT, as 8 C"
    assert calls_listed(["bid 4", "bid moon"]) == "4, moon"
    assert listed(["JH"]) == "JH"
    assert listed([str(n) for n in range(20)]).endswith("10 ...")


def test_every_command_has_its_line_of_help():
    """And a method that carries it out."""
    for command, words in COMMANDS.items():
        assert hasattr(Terminal, f"_do_{command}")
        assert re.search(rf"(^|  ){re.escape(words[0] or 'Enter')}  ", HELP, re.M)


def test_hints_are_got_ready_for_once_and_ctrl_c_leaves_the_game_saved(
    tmp_path, monkeypatch, capsys
):
    """What they take is compiled before the first one, by its progress bar, and not before."""
    ready = []

    def compiled(session, adviser=None):
        ready.append(adviser)
        if ready.count("rule") == 2:
            raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bideuchre_env.cli.play._compile", compiled)
    monkeypatch.setattr(Session, "advice", lambda session, agent: f"advice of {agent}")
    options = ["play", *short("cincinnati_v0"), "--adviser", "rule", "--file", "game.json"]
    for typed, code in (("s\n?\n?\nq\n", 0), ("s\n?\n?\n", 130)):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert main(options) == code
        out = capsys.readouterr().out
        assert out.count("advice of rule") == (2 if code == 0 else 0)
        assert "Go on with: bideuchre play --file game.json" in out
    assert ready == [None, "rule", None, "rule"]


def test_nobody_is_shown_what_others_hold():
    """Whatever is printed before a card is played does not name it, but for one's own."""
    session = Session(make("barrie_v0", max_hands=2), [0], seated([0], "rule", ["rule"]), seed=4)
    out = io.StringIO()
    console = Console(file=out, width=80, highlight=False, markup=False, emoji=False)
    asked = 0

    def read():
        nonlocal asked
        asked += 1
        screen, row = out.getvalue(), session.row
        if session.waits_for_person and row["calls_made"] < 4:
            named = set(re.findall(r"\b[AKQJ][CDHS]\b", screen.rsplit("Hand ", 1)[1]))
            assert named == set(session.record().hands[-1]["deal"][0])
        return "v" if asked % 2 else answer(screen[: screen.rindex("v\nseat ")] + PROMPT)

    Terminal(session, console, read=read).run()
    assert session.over
    assert asked > 30
