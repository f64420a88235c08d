"""`bideuchre play --web`: links of seats, saving at the end, and bad options."""

import json
import re
import signal
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("aiohttp")

from support.live_tables import session

from bideuchre_env._install import how_to_install
from bideuchre_env.cli.main import main
from bideuchre_env.play.session import Session

AGENTS = ("--partner", "rule", "--opponents", "rule", "--adviser", "rule", "--pause", "0")


def start(folder, *arguments):
    """Start the command; return the process, the links by seat, and the output so far."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bideuchre_env", "play", "--web", "--port", "0", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    while not lines or not lines[-1].startswith("Open the link"):
        lines.append(process.stdout.readline())
        assert lines[-1], lines
    links = dict(re.findall(r"^Seat (\d): (\S+)$", "".join(lines), re.M))
    return process, {int(seat): link for seat, link in links.items()}, "".join(lines)


def ask(link, path, body=None):
    """Send a request of a seat's page, POST if there is a `body`; return the JSON response."""
    address, token = link.split("/#seat=")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{address}{path}", data, headers)) as answer:
        return json.load(answer)


def test_a_game_of_two_people_is_saved_and_resumed_after_ctrl_c(tmp_path):
    """A person's link has a token after the #; a resumed game has new links."""
    process, links, printed = start(tmp_path, *AGENTS, "--people", "0,1", "--seed", "5")
    assert printed.startswith("New game in runs/play-cincinnati_v0.json\n")
    assert links.keys() == {0, 1}
    for link in links.values():
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#seat=[\w-]{43}", link)
    states = {seat: ask(link, "/api/table") for seat, link in links.items()}
    while (seat := states[0]["view"]["turn"]) not in links:
        states[0] = ask(links[0], f"/api/table?after={states[0]['version']}")
    state = ask(links[seat], "/api/table")
    action = {"version": state["version"], "action": state["view"]["legal"][0]}
    with pytest.raises(HTTPError, match="400"):
        ask(links[1 - seat], "/api/act", action)
    assert ask(links[seat], "/api/act", action)["version"] > state["version"]
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert (process.wait(), "Traceback" in rest) == (0, False)
    command = "bideuchre play --web --file runs/play-cincinnati_v0.json"
    assert rest == f"The game is saved. Resume it with: {command}\n"
    with Session.resume(tmp_path / "runs/play-cincinnati_v0.json") as game:
        assert game.people == (0, 1)
        assert action["action"] in game.record().hands[0]["actions"]
    process, again, printed = start(tmp_path, "--file", "runs/play-cincinnati_v0.json")
    assert printed.startswith("Resuming runs/play-cincinnati_v0.json\n")
    assert again.keys() == {0, 1}
    assert not set(again.values()) & set(links.values())
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0


@pytest.fixture
def bideuchre(tmp_path, monkeypatch, capsys):
    """A function that runs the command in this process; it returns exit code and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        try:
            code = main(("play", *arguments))
        except SystemExit as end:
            code = end.code
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--people", "0,2"), "--people: expected only with --web"),
        (("--host", "::1"), "--host: expected only with --web"),
        (("--port", "1"), "--port: expected only with --web"),
        (("--web", "--people", "0,4"), "seats from 0 to 3, as 0,2"),
        (("--web", "--people", "0,0"), "seats from 0 to 3, as 0,2"),
        (("--web", "--people", ""), "seats from 0 to 3, as 0,2"),
        (("--web", "--people", "0", "--seat", "0"), "expected only one of them"),
        (("--web", "--port", "65536"), "expected 0 to 65535"),
        (("--web", "--host", "192.0.2.1", "--port", "0"), "--host 192.0.2.1 --port 0: "),
    ],
)
def test_bad_options_are_refused_in_a_line_and_write_nothing(arguments, words, bideuchre, tmp_path):
    code, err = bideuchre(*arguments)
    assert (code, err.count("\n"), words in err) == (2, 1, True), err
    assert list(tmp_path.iterdir()) == []


def test_without_aiohttp_the_extra_is_named(bideuchre, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("bideuchre_env.web.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    code, err = bideuchre("--web")
    assert code == 2
    assert err == f"bideuchre: error: --web needs aiohttp: {how_to_install('web')}\n"


def test_the_terminal_refuses_a_game_of_several_people(bideuchre, tmp_path):
    """A terminal would show the hands of all people."""
    path = tmp_path / "game.json"
    session("cincinnati_v0", (0, 2), path=path).close()
    code, err = bideuchre("--file", str(path))
    assert (code, "has several people: add --web" in err) == (2, True)
