"""`bideuchre play --web`: its links, how it ends, what it refuses."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("aiohttp")

from bideuchre_env.cli.main import main
from bideuchre_env.play.session import Session
from bideuchre_env.web.server import listening

AGENTS = ("--partner", "rule", "--opponents", "rule", "--adviser", "rule", "--pause", "0")


def start(folder, *arguments):
    """The command, up to where it serves: the process, and the links by seat."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bideuchre_env", "play", "--web", "--port", "0", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    while not lines or not lines[-1].startswith("Open it"):
        lines.append(process.stdout.readline())
        assert lines[-1], lines
    links = dict(re.findall(r"^Seat (\d): (\S+)$", "".join(lines), re.M))
    return process, {int(seat): link for seat, link in links.items()}, "".join(lines)


def ask(link, path, body=None):
    """What a seat's page is answered."""
    address, token = link.split("/#seat=")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{address}{path}", data, headers)) as answer:
        return json.load(answer)


def test_two_people_sit_down_and_the_game_goes_on_after_ctrl_c(tmp_path):
    """Each by a link that holds its token behind the #; the game is saved at every card."""
    process, links, said = start(tmp_path, *AGENTS, "--people", "0,1", "--seed", "5")
    assert said.startswith("A new game in runs/play-cincinnati_v0.json\n")
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
    assert rest == f"The game is saved. Go on with: {command}\n"
    with Session.resume(tmp_path / "runs/play-cincinnati_v0.json") as game:
        assert game.people == (0, 1)
        assert action["action"] in game.record().hands[0]["actions"]
    process, again, said = start(tmp_path, "--file", "runs/play-cincinnati_v0.json")
    assert said.startswith("Going on with runs/play-cincinnati_v0.json\n")
    assert again.keys() == {0, 1}
    assert not set(again.values()) & set(links.values())
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0


@pytest.fixture
def bideuchre(tmp_path, monkeypatch, capsys):
    """The command in this process: exit code, errors."""
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
        (("--people", "0,2"), "--people goes with --web"),
        (("--host", "::1"), "--host goes with --web"),
        (("--port", "1"), "--port goes with --web"),
        (("--web", "--people", "0,4"), "seats from 0 to 3, as 0,2"),
        (("--web", "--people", "0,0"), "seats from 0 to 3, as 0,2"),
        (("--web", "--people", ""), "seats from 0 to 3, as 0,2"),
        (("--web", "--people", "0", "--seat", "0"), "one of them says who plays"),
        (("--web", "--port", "65536"), "from 0 to 65535"),
        (("--web", "--host", "192.0.2.1", "--port", "0"), "--host 192.0.2.1 --port 0: "),
    ],
)
def test_bad_options_are_one_line(arguments, words, bideuchre, tmp_path):
    """And nothing is written."""
    code, err = bideuchre(*arguments)
    assert (code, err.count("\n"), words in err) == (2, 1, True), err
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken(bideuchre, tmp_path):
    """Is said before a game is begun."""
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        code, err = bideuchre("--web", "--port", str(port))
        assert (code, f"--port {port}: " in err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra(bideuchre, monkeypatch):
    """What installs it is said."""
    for name in [name for name in sys.modules if name.startswith("bideuchre_env.web.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    code, err = bideuchre("--web")
    assert code == 2
    assert err == 'bideuchre: error: --web needs aiohttp: pip install "bideuchre_env[web]"\n'


def test_a_game_of_several_is_none_for_the_terminal(bideuchre, tmp_path):
    """One terminal would show all their hands."""
    from support.live_tables import session

    path = tmp_path / "game.json"
    session("cincinnati_v0", (0, 2), path=path).close()
    code, err = bideuchre("--file", str(path))
    assert (code, "has several people: play it --web" in err) == (2, True)
