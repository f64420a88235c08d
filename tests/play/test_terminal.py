"""`bideuchre play` in a pipe, and the lines that a person types."""

import io
import re
import sys

import pytest
from rich.console import Console
from support.commands import run
from support.kernels import empty_cache
from support.playthroughs import OURS, PROMPT, answer, play_to_claim, slow_unless

from bideuchre_env import make
from bideuchre_env.core.state import Outcome, new_states
from bideuchre_env.errors import NotationError
from bideuchre_env.evaluation import kernel_parts, warm_up
from bideuchre_env.evaluation.kernel_parts import SECONDS
from bideuchre_env.play.levels import LEVELS
from bideuchre_env.play.lines import Lines, action_typed
from bideuchre_env.play.saved import assign_players
from bideuchre_env.play.session import Session
from bideuchre_env.play.terminal import Terminal
from bideuchre_env.records import files as records_io
from bideuchre_env.records.look import Look
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import SUITS
from bideuchre_env.runtime import jit

SHORT = {
    "cincinnati_v0": ("--option", "target=9"),
    "barrie_v0": ("--option", "max_hands=2"),
    "club_v0": ("--option", "max_hands=1"),
}
ENDING = "^(?:You won|You lost|The game is).*"
FILE = "runs/play-{}.json"


def short(variant):
    """Arguments of a short game with quick agents, one of which acts at random."""
    return ("--variant", variant, *SHORT[variant], "--seed", "5", *OURS)


def record(folder, variant):
    [game] = records_io.read(folder / f"runs/play-{variant}.jsonl")
    return game


class Answers(io.StringIO):
    """Standard input that answers prompts by `answer`, the tenth by `leave` if it is not None."""

    def __init__(self, screen, leave):
        super().__init__()
        self.screen, self.leave = screen, leave

    def readline(self, size=-1):
        screen = self.screen.getvalue()
        if self.leave is not None and screen.count(PROMPT) >= 10:
            return self.leave()
        return answer(screen) + "\n"


def in_process(folder, monkeypatch, *arguments, lines=None, leave=None):
    """Run `bideuchre play` with `lines` or `Answers` as input; return status, output and errors."""
    with monkeypatch.context() as patched:
        patched.chdir(folder)
        patched.setattr(sys, "stdout", io.StringIO())
        patched.setattr(sys, "stderr", io.StringIO())
        stdin = Answers(sys.stdout, leave) if lines is None else io.StringIO(lines)
        patched.setattr(sys, "stdin", stdin)
        return run("play", *arguments), sys.stdout.getvalue(), sys.stderr.getvalue()


@pytest.mark.parametrize("variant", slow_unless(["barrie_v0"], SHORT))
def test_a_game_is_played_to_its_end_and_recorded(variant, tmp_path, monkeypatch):
    code, screen, _ = in_process(tmp_path, monkeypatch, *short(variant))
    assert code == 0
    assert max(map(len, screen.splitlines())) <= 80
    assert "\x1b" not in screen
    for words in ("Hand 1: ", "Contract: ", "Trick 1: ", "won by", "To read the game: "):
        assert words in screen
    game = record(tmp_path, variant)
    assert (game.agents, game.seed) == (["person", "rule", "rule", "cautious"], 5)
    code, again, _ = in_process(
        tmp_path, monkeypatch, "--file", FILE.format(variant), "--no-review"
    )
    assert code == 0
    [ending] = re.findall(ENDING, screen, re.M)
    assert ending in again
    assert len(list((tmp_path / "runs").glob("*.jsonl"))) == 1


def test_letters_of_suits_are_no_commands_while_the_strain_is_named(tmp_path, monkeypatch):
    arguments = ("--level", "easy", "--seed", "8", "--pause", "0")
    _, screen, _ = in_process(tmp_path, monkeypatch, *arguments, lines="3\nhelp\nscore\ns\n")
    _, _, helped, scored, named, _ = screen.split(PROMPT)
    assert "\nc, d, h, s are suits now: type claim, help, score.\nYour strain (help: " in helped
    assert scored.startswith("score\nScore: you 0, they 0;")
    assert named.startswith("s\n  you: S\n")


@pytest.mark.search
def test_a_game_ends_with_its_review_which_ctrl_c_skips(tmp_path, monkeypatch):
    arguments = ("--option", "max_hands=1", *OURS[:-1], "--adviser", "rule", "--seed", "5")
    code, screen, _ = in_process(tmp_path, monkeypatch, *arguments)
    assert (code, "reviewed by rule" in screen) == (0, True)

    def interrupted(*rest, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("bideuchre_env.analysis.review", interrupted)
    code, screen, _ = in_process(tmp_path, monkeypatch, *arguments)
    assert code == 130
    file = "runs/play-cincinnati_v0-2.jsonl"
    again = f"bideuchre records show {file} --analyse"
    assert f"Review skipped. To review the game: {again}\n" in screen
    assert len(list(records_io.read(tmp_path / file))) == 1


@pytest.mark.search
def test_a_game_with_a_kitty_is_played_and_reviewed(tmp_path, monkeypatch):
    rules = ("--variant", "barrie_v0", "--option", "kitty=4", "--option", "partnered=1-7")
    options = ("--option", "max_hands=1", "--option", "all_pass=dealer_forced")
    arguments = (*rules, *options, *OURS[:-1], "--adviser", "rule", "--seed", "5")
    code, screen, _ = in_process(tmp_path, monkeypatch, *arguments)
    assert code == 0
    for words in ("the kitty", " away ", "Trick 7: ", "reviewed by rule"):
        assert words in screen
    assert "Par, with" not in screen


@pytest.mark.parametrize("way", slow_unless(["ctrl-c"], ["q", "ctrl-d", "ctrl-c"]))
def test_a_game_that_is_left_resumes_with_the_same_record(way, tmp_path, monkeypatch):
    code = 130 if way == "ctrl-c" else 0
    (tmp_path / "whole").mkdir()
    in_process(tmp_path / "whole", monkeypatch, *short("barrie_v0"))
    file, before = tmp_path / FILE.format("barrie_v0"), []

    def leave():
        before.append(file.read_bytes())
        if way == "ctrl-c":
            raise KeyboardInterrupt
        return "q\n" if way == "q" else ""

    left = in_process(tmp_path, monkeypatch, *short("barrie_v0"), leave=leave)
    assert left[0] == code
    assert [file.read_bytes()] == before
    command = f"Resume it with: bideuchre play --file {FILE.format('barrie_v0')}"
    assert command in left[1]
    again = in_process(tmp_path, monkeypatch, *command.split()[5:], "--no-review")
    assert again[0] == 0
    whole = record(tmp_path / "whole", "barrie_v0")
    assert record(tmp_path, "barrie_v0").to_dict() == whole.to_dict()


# the ids name the agents, of which those that search are left to CI
@pytest.mark.parametrize("level", LEVELS, ids=[f"{x}: {LEVELS[x].agent}" for x in LEVELS])
def test_a_level_selects_the_agent_of_all_other_seats(level, tmp_path, monkeypatch):
    agent, words = LEVELS[level]
    arguments = ("--level", level, "--variant", "club_v0", "--seat", "1")
    code, screen, _ = in_process(tmp_path, monkeypatch, *arguments, lines="q\n")
    players = f"At the table: Ada, Cleo, Dan, level {level}. Each {words}. "
    assert (code, players in " ".join(screen.split())) == (0, True)
    assert f"({agent})" not in screen
    with Session.resume(tmp_path / "runs/play-club_v0.json") as session:
        assert session.agents == [agent, "person", agent, agent]


@pytest.mark.skipif(not jit.private, reason="kernels are not cached")
@pytest.mark.parametrize("where", [(), ("--file", "runs/play-club_v0.json")])
def test_a_resumed_game_announces_its_own_agents(where, tmp_path, monkeypatch):
    """The agents of a new game, `expert`, are not compiled for a game with other agents."""
    variant = ("--variant", "club_v0")
    in_process(tmp_path, monkeypatch, *variant, *OURS, lines="q\n")
    empty_cache(monkeypatch, tmp_path / "cache")
    for part in SECONDS:
        monkeypatch.setitem(warm_up.PARTS, part, lambda: None)
    notice = f"Compiling kernels, once: about {SECONDS['rule']} s left\n"
    outputs = [in_process(tmp_path, monkeypatch, *variant, *where, lines="q\n") for _ in range(2)]
    assert [err for _, _, err in outputs] == [notice, ""]
    names = sorted(path.name.split("-")[1] for path in tmp_path.rglob("compiled-*"))
    assert names == ["claims", "rule"]


def at_a_terminal(session, read):
    """Return a `Terminal` of the session, whose input is `read(output so far)`, and its output."""
    out = io.StringIO()
    console = Console(file=out, width=80, highlight=False, markup=False, emoji=False)
    terminal = Terminal(session, console, adviser="rule", read=lambda: read(out.getvalue()))
    return terminal, out


@pytest.mark.search
def test_commands_and_wrong_lines_change_nothing_but_undo(tmp_path):
    saved = tmp_path / "game.json"

    def typed():
        """Yield the lines to type; receive the screen with the next prompt."""
        screen = yield
        for _ in range(3):
            screen = yield answer(screen)
        before = saved.read_text()
        for line, words in (
            ("?", "rule is thinking ...\n[^~]*points"),
            ("HINT", "wins the game"),
            ("t", "Trick|No trick"),
            ("s", r"Score: you \d+, they \d+; game to 9. Tricks of this hand: you"),
            ("h", "Type a card by its name"),
            ("v", r"\?\? not\s+seen"),
            ("c", "claim: expected the seat to act, certain to take every trick left"),
            ("ZZ", "'ZZ': expected .* or "),
            ("x" * 300, ": expected .* or "),
        ):
            length = len(screen)
            screen = yield line
            assert re.search(words, screen[length:]), line
            assert saved.read_text() == before, line
        screen = yield "u"
        assert "Your last action is undone." in screen
        assert saved.read_text() != before
        yield "q"

    game = make("cincinnati_v0", target=9)
    players = assign_players([0], "rule", ["rule", "cautious"])
    lines = typed()
    next(lines)
    with Session(game, [0], players, seed=5, path=saved) as session:
        assert not at_a_terminal(session, lines.send)[0].run()


def test_no_saved_game_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_parts, "compile_notice", lambda parts: "")

    def play(*arguments, lines=""):
        return in_process(tmp_path, monkeypatch, *arguments, lines=lines)

    assert play(*OURS, "--seed", "3", lines="q\n")[::2] == (0, "")
    saved = tmp_path / "runs/play-cincinnati_v0.json"
    first = saved.read_bytes()
    assert play(lines="q\n")[1].startswith("Resuming runs/play-cincinnati_v0.json")
    out = play(*OURS, "--new", lines="q\n")[1]
    assert out.startswith("New game in runs/play-cincinnati_v0-2.json\n")
    for option, words in (
        (("--seat", "1"), "other seats"),
        (("--option", "target=4"), "other rules"),
        (("--partner", "cautious"), "other agents (person, rule, rule, cautious)"),
        (("--seed", "4"), "another seed"),
        (("--new",), "exists"),
    ):
        code, out, err = play("--file", str(saved), *option)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert words in err
    assert saved.read_bytes() == first
    saved.write_bytes(first[:-30])
    code, out, err = play("--file", str(saved))
    assert (code, out) == (2, "")
    assert "is no saved game" in err
    assert saved.read_bytes() == first[:-30]


CINCINNATI, BARRIE = (actions.of(make(name).rules) for name in ("cincinnati_v0", "barrie_v0"))
HAND = ["JH", "JD", "AS", "9C", "9C"]
BIDS = [f"bid {bid} {strain}" for bid in ("8", "call-2", "moon") for strain in ("C", "H", "NT")]
MOONS = ["bid moon", "bid double moon"]


TYPED = [("p", ["pass", "bid 4"], "pass"), ("Bid 4", ["pass", "bid 4"], "bid 4")]
TYPED += [("m", ["pass", "bid moon"], "bid moon"), ("d", MOONS, "bid double moon")]
TYPED += [("8 h", ["pass", *BIDS], "bid 8 H"), ("8♥", ["pass", *BIDS], "bid 8 H")]
TYPED += [("8 no trump", ["pass", *BIDS], "bid 8 NT"), ("h", ["trump C", "trump H"], "trump H")]
TYPED += [("P", ["pass", "bid pepper"], "pass")]
TYPED += [("2", ["trump C", "trump H"], "trump H"), ("J♦", HAND, "JD"), ("2", HAND, "JD")]


@pytest.mark.parametrize(("text", "legal", "name"), TYPED)
def test_keys_names_and_words_are_read_as_actions(text, legal, name):
    acts = BARRIE if any(each in BIDS for each in legal) else CINCINNATI
    assert action_typed(text, legal, HAND, acts) == name


REFUSED = [("8", ["pass", *BIDS], "'8' is ambiguous: expected 8 C, 8 H or 8 NT")]
REFUSED += [("x", ["pass", *BIDS], "'x': expected pass, 8, call-2, moon with C H NT")]
REFUSED += [("3", ["pass", "bid 4"], "3 is not legal now: expected pass or 4")]
REFUSED += [("2", ["JH"], "JD is not legal now: expected JH")]
REFUSED += [("²", ["JH"], "'²': expected JH"), ("0", ["JH"], "key 0: expected 1 to 5")]


@pytest.mark.parametrize(("text", "legal", "words"), REFUSED)
def test_a_line_that_is_no_legal_action_is_refused_with_the_choice(text, legal, words):
    acts = BARRIE if any(each in BIDS for each in legal) else CINCINNATI
    with pytest.raises(NotationError) as caught:
        action_typed(text, legal, HAND, acts)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2", "diamonds were led: play a diamond, JD"),
        ("9c", "diamonds were led: play a diamond, JD"),
        ("KD", "KD is not in your hand: expected JD"),
    ],
)
def test_an_illegal_card_is_refused_with_the_suit_led(text, words):
    hand = ["JD", "JH", "AS", "9C"]
    with pytest.raises(NotationError, match=f"^{words}$"):
        action_typed(text, ["JD"], hand, CINCINNATI, led=SUITS.index("D"))
    assert action_typed("1", ["JD"], hand, CINCINNATI, led=SUITS.index("D")) == "JD"


@pytest.mark.parametrize(
    ("seat", "words"),
    [
        (0, "You won, 33 to 21, after 2 hands."),
        (3, "You lost, 33 to 21, after 2 hands."),
        (None, "Seat 0 and seat 2 won, 33 to 21, after 2 hands."),
    ],
)
def test_the_ending_says_who_has_won_and_puts_the_score_of_the_winner_first(seat, words):
    row = new_states(1)[0]
    row["outcome"], row["winner"], row["score"], row["hands_dealt"] = Outcome.WON, 0, (33, 21), 2
    rules = make("cincinnati_v0").rules
    assert Lines(row, rules, seat).ending() == words
    assert Look(row, rules, seat).game_result() == words.partition(", after")[0]


def test_the_view_of_the_table_names_seats_from_the_players_own():
    players = assign_players([1], "rule", ["rule"])
    session = Session(make("cincinnati_v0"), [1], players, seed=4)
    terminal, out = at_a_terminal(session, lambda screen: "q" if "v\n" in screen else "v")
    session.advance()
    terminal.run()
    view = out.getvalue().partition("call  cards")[2]
    assert "you (to act)" in view
    assert "partner Dan" in view
    assert "(you and partner first)" in view
    assert not re.search(r"seat \d", view)


def test_a_claim_is_offered_where_all_tricks_left_are_certain():
    players, lines = assign_players([0], "rule", ["rule"]), []
    session = Session(make("barrie_v0"), [0], players, seed=4)
    terminal, out = at_a_terminal(session, lambda screen: lines.pop(0))
    hand = play_to_claim(session).hand
    lines += ["c", "q"]
    assert not terminal.run()
    assert "You are certain to take every trick left: c claims them." in out.getvalue()
    assert (session.hand_over, session.hand) == (True, hand)
    assert session.row["trick"] == session.rules.tricks


def test_no_card_of_others_is_printed_before_it_is_played():
    players = assign_players([0], "rule", ["rule"])
    session = Session(make("barrie_v0", max_hands=2), [0], players, seed=4)
    screens = []

    def read(screen):
        screens.append(screen)
        if session.waits_for_person and session.row["calls_made"] < 4:
            cards = set(re.findall(r"\b[AKQJ][CDHS]\b", screen.rsplit("Hand ", 1)[1]))
            assert cards == set(session.record().hands[-1]["deal"][0])
        return "v" if len(screens) % 2 else answer(screen[: screen.rindex("v\nseat ")] + PROMPT)

    at_a_terminal(session, read)[0].run()
    assert session.over
    assert len(screens) > 30
