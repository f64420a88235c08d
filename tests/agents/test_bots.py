"""Bots in other processes: the bots of the page play, and every failure is a clear error."""

import copy
import json
import os
import pickle
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from support.agent_games import look, start
from support.commands import ROOT, run

import bideuchre_env
from bideuchre_env import agents, match, tournament
from bideuchre_env.agents import registry
from bideuchre_env.agents.bots.agent import CommandAgent
from bideuchre_env.agents.inputs import inputs
from bideuchre_env.errors import AgentError, IllegalActionError, OptionError

pytestmark = pytest.mark.slow

RULES = bideuchre_env.cincinnati_v0.rules
PAGE = (ROOT / "agents/bots/README.md").read_text(encoding="utf-8")
PYTHON = shlex.quote(sys.executable) if os.name != "nt" else f'"{sys.executable}"'
FIRST = "seen['legal'][0]"
BOT = """\
import json, os, random, sys, time
first = json.loads(sys.stdin.readline())
print('"ready"', flush=True)
for number, line in enumerate(sys.stdin):
    seen = json.loads(line)
    CODE
"""
"""A bot that answers `seen` by the code that replaces CODE."""


def answer(text):
    return f"print(json.dumps({text}), flush=True)"


def bot(folder, code=None, options="", program=BOT):
    """Write a bot into a folder, and return its name as an agent."""
    path = folder / "bot.py"
    path.write_text(program.replace("CODE", code or answer(FIRST)), encoding="utf-8")
    return f"cmd:{options}{PYTHON} {shlex.quote(str(path))}"


def block(language):
    [code] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
    return code


def choices(agent, n=3):
    observations, masks = look(RULES, start(RULES, n), np.arange(n))
    return [int(action) for action in agent.act_rows(observations, masks)]


def first_legal(n=3):
    return [int(mask.argmax()) for mask in look(RULES, start(RULES, n), np.arange(n))[1]]


def alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_end(pids):
    end = time.monotonic() + 10
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return left


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="reads /proc")


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_the_python_bot_of_the_page_plays(variant, tmp_path):
    (tmp_path / "bot.py").write_text(block("python"), encoding="utf-8")
    name = f"cmd:{PYTHON} {shlex.quote(str(tmp_path / 'bot.py'))}"
    result = match(variant, name, "random", boards=20, seed=1)
    assert result.boards.boards == 20
    assert result.boards.points_per_hand.mean > 0


def test_the_c_bot_of_the_page_plays(tmp_path, monkeypatch):
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("needs a C compiler, cc")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.c").write_text(block("c"), encoding="utf-8")
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run([compiler, *strict, "-o", "bot", "bot.c"], check=True)
    result = match("barrie_v0", "cmd:./bot", "random", boards=20)
    assert result.boards.boards == 20
    assert result.to_dict()["contracts"]["cmd:./bot"]["bid"] == 0  # it passes


def test_the_bot_gets_the_rules_and_the_decoded_observation(tmp_path):
    """Only what the observation has: the message is a function of it and of the mask."""
    code = f"open({str(tmp_path / 'seen')!r}, 'w').write(json.dumps([first, seen])); "
    agent = agents.make(bot(tmp_path, code + answer(FIRST)), RULES, seed=5, goal="points")
    [observation], [mask] = look(RULES, start(RULES, 1), np.arange(1))
    assert agent.act(observation, mask) == mask.argmax()
    first, seen = json.loads((tmp_path / "seen").read_text(encoding="utf-8"))
    names = bideuchre_env.cincinnati_v0.raw_env().action_names
    assert first == {
        "type": "start",
        "protocol": 1,
        "rules": RULES.to_dict(),
        "actions": list(names),
        "goal": "points",
        "seed": 5,
    }
    assert seen == {
        "type": "decide",
        "observation": agent.layout.decode(observation),
        "legal": [names[action] for action in np.flatnonzero(mask)],
    }


def test_two_processes_play_the_same_boards_as_one(tmp_path):
    draws = "random.seed(first['seed'] + number); " + answer("random.choice(seen['legal'])")
    name = bot(tmp_path, draws)
    options = {"boards": 8, "at_once": 1, "seed": 3}
    one, two = (match("cincinnati_v0", name, "cautious", workers=n, **options) for n in (1, 2))
    assert one.board_rows.tobytes() == two.board_rows.tobytes()
    assert name.endswith(one.agents[0].removeprefix("..."))


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (answer("'bid 99'"), IllegalActionError, r"answered 'bid 99'.*; legal: 'pass', 'bid 3', "),
        (answer("3"), AgentError, r"answered '3': expected a JSON string in a line, as \"pass\""),
        ("print('pass', flush=True)", AgentError, "answered 'pass': expected a JSON string"),
        ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", AgentError, "a JSON string"),
        ("print('[' * 9999, flush=True)", AgentError, r"answered '\[\[.*\.\.\.: expected a JSON"),
        ("1 / 0", AgentError, r"ended with code 1: ZeroDivisionError: division by zero; it has no"),
        ("sys.exit(0)", AgentError, "ended with code 0; it has no restarts left"),
        ("os.close(1); time.sleep(60)", AgentError, "closed its output; it has no restarts left"),
        ("time.sleep(60)", AgentError, r"no answer within 0.5 s: cmd:seconds=SECONDS:COMMAND"),
    ],
)  # fmt: skip
def test_a_failure_of_a_bot_is_an_error_of_one_line(code, error, message, tmp_path):
    agent = agents.make(bot(tmp_path, code, "seconds=0.5,restarts=0:"), RULES)
    with pytest.raises(error, match=message) as raised:
        choices(agent)
    assert str(raised.value).startswith(f"agent {agent.name!r}: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print('hello')", "answered 'hello': expected a JSON string"),
        ("print('\"hello\"')", "answered 'hello' to the start: expected \"ready\""),
        ("import nowhere", r"ended with code 1: ModuleNotFoundError: .*'nowhere'.* before it was"),
        ("input(); input()", r"no answer within 0.5 s: cmd:start=SECONDS:COMMAND allows more"),
    ],
)
def test_a_bot_that_does_not_start_is_an_error_of_one_line(program, message, tmp_path):
    agent = agents.make(bot(tmp_path, options="start=0.5:", program=program), RULES)
    with pytest.raises(AgentError, match=message) as raised:
        choices(agent)
    assert "\n" not in str(raised.value)


def test_a_bot_that_ends_is_restarted_and_asked_again(tmp_path):
    """Three times in the life of an agent: the bot answers two questions, then ends."""
    code = f"number < 2 or sys.exit('tired'); {answer(FIRST)}"
    agent = agents.make(bot(tmp_path, code), RULES)
    with pytest.warns(RuntimeWarning, match=r"ended with code 1: tired; it is restarted"):
        assert choices(agent, 8) == first_legal(8)
    with pytest.raises(AgentError, match="ended with code 1: tired; it has no restarts left"):
        choices(agent, 1)


def test_a_bot_that_reads_nothing_does_not_block_the_match(tmp_path):
    """Messages of more bytes than a pipe holds."""
    program = (
        "import time\nprint('\"ready\"', flush=True)\nwhile True: print('\"pass\"', flush=True)"
    )
    agent = agents.make(bot(tmp_path, options="seconds=0.5:", program=program), RULES)
    with pytest.raises(AgentError, match=r"no answer within 0\.5 s"):
        choices(agent, 1000)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("cmd:", r"command='': expected a program, as cmd:./bot"),
        ("cmd:./nowhere --level 3", r"command='./nowhere --level 3': ./nowhere: there is no such"),
        ("cmd:./plain.txt", r"./plain.txt: this file is not executable: name its interpreter too"),
        ("cmd:./bot 'a", "command=.*no closing quotation"),
        ("cmd:second=3:./bot", r"second=3: no option of 'cmd'.*did you mean 'seconds'"),
        ("cmd:seconds=0:./bot", "seconds=0: expected a number from 0.001 to 86400"),
        ("cmd:restarts=-1:./bot", "restarts=-1: expected a whole number from 0 to 1000"),
        ("cmd", "no agent 'cmd'.*or cmd:PROGRAM"),
    ],
)
def test_an_invalid_command_is_refused_before_play(command, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.txt").write_text("no program")
    shutil.copy(sys.executable, tmp_path / "bot")
    with pytest.raises(OptionError, match=message):
        match("cincinnati_v0", command, "rule", boards=9)


def test_options_precede_the_command(monkeypatch):
    assert agents.parse("cmd:./bot a=1:2,b") == ("cmd", {"command": "./bot a=1:2,b"})
    options = {"command": "C:\\bot.exe", "seconds": 0.5, "restarts": 0}
    assert agents.parse("cmd:seconds=0.5,restarts=0:C:\\bot.exe") == ("cmd", options)
    assert registry.files_of(f"cmd:{PYTHON} {__file__} --book={__file__}") == [__file__] * 2
    with pytest.raises(OptionError, match="expected another name than those of the package"):
        agents.register("cmd", CommandAgent)


def test_a_copy_has_a_bot_of_its_own(tmp_path):
    agent = agents.make(
        bot(tmp_path, "print(json.dumps(seen['legal'][number]), flush=True)"), RULES
    )
    assert choices(agent, 2) == [0, 1]
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert (choices(twin, 2), twin.name) == ([0, 1], agent.name)
    assert choices(agent, 1) == [2]


def test_a_changed_bot_is_another_input(tmp_path):
    name = bot(tmp_path)
    before = inputs([name])
    assert str(tmp_path / "bot.py") in before
    folder = tmp_path / "runs"
    game, pair = bideuchre_env.simplified_v0, ("random", name)
    tournament([game], pair, boards=2, out=folder)
    bot(tmp_path, answer("seen['legal'][-1]"))
    assert inputs([name]) != before
    with pytest.raises(OptionError, match=r"bot.py has changed since .*results.json was written"):
        tournament([game], pair, boards=2, out=folder)


def test_a_bot_plays_wherever_agents_have_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = bot(tmp_path)
    games = ["--games", "2", "--variant", "simplified_v0", "--records", "x.jsonl"]
    assert run("match", name, "random", *games) == 0
    assert run("records", "check", "x.jsonl") == 0
    assert run("agents", name) == 0
    assert "time limit of a decision" in capsys.readouterr().out
    learner = bideuchre_env.simplified_v0.solo_vec(3, opponents=name, partner="random")
    _, info = learner.reset(seed=1)
    for _ in range(20):
        _, _, _, _, info = learner.step(info["action_mask"].argmax(axis=1))


@pytest.mark.search
def test_the_choice_of_advice_may_be_a_bot(tmp_path):
    env = bideuchre_env.cincinnati_v0()
    env.reset(seed=1)
    advice = agents.advise(env, agent=bot(tmp_path, answer("seen['legal'][-1]")), worlds=2)
    assert advice.choice.name == env.action_names[env.last()[0]["action_mask"].nonzero()[0][-1]]


STUBBORN = """\
import os, signal, subprocess, sys
child = subprocess.Popen(["sleep", "60"])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open("pids", "a") as file:
    file.write(f"{os.getpid()} {child.pid} ")
"""
"""The start of a bot with a child; it ignores a polite end."""
FOREVER = "while True: time.sleep(1)"


@needs_proc
@pytest.mark.parametrize(
    "code", [answer(FIRST), f"{answer(FIRST)}; time.sleep(60)", "time.sleep(60)"]
)
def test_no_process_of_a_bot_outlives_its_agent(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent = agents.make(bot(tmp_path, code, "seconds=0.5:", STUBBORN + BOT), RULES)
    with suppress(AgentError):
        choices(agent, 1)
    del agent
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert wait_for_end(pids) == []


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_of_a_bot_outlives_an_interrupted_match(workers, number, tmp_path):
    """The bot thinks forever; the second signal ends the match at once."""
    name = bot(tmp_path, "time.sleep(60)", "seconds=60:", STUBBORN + BOT)
    words = ["match", name, "random", "--boards", "600", "--workers", workers]
    command = [sys.executable, "-m", "bideuchre_env", *words]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        end = time.monotonic() + 120
        while len(read_pids(tmp_path)) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        for _ in range(2):
            process.send_signal(number)
            time.sleep(0.3)
        assert process.wait(30) != 0
    assert wait_for_end(read_pids(tmp_path)) == []


def read_pids(folder):
    """The numbers of all processes of bots that have been started in a folder."""
    path = folder / "pids"
    return path.read_text(encoding="utf-8").split() if path.exists() else []
