"""Pages: links lead to files, headings and names, code blocks run, outputs are those displayed.

In a guide, names in parentheses after a link, `[step.py](step.py) (`apply`)`, are in that file.
"""

import io
import json
import re
import shlex
from contextlib import contextmanager, nullcontext
from itertools import pairwise

import numpy as np
import pytest
from support.commands import ROOT, load_scripts, python

from bideuchre_env import barrie_v0, match
from bideuchre_env.agents.registry import BUILT_IN
from bideuchre_env.cli.main import main
from bideuchre_env.play.levels import LEVELS
from bideuchre_env.rules.cards import STRAINS

PLACES = (".github", "agents", "benchmarks", "bideuchre_env", "experiments", "tests")
TUTORIALS = ".github/docs/tutorials"
with load_scripts(".ci", "check_types") as [check_types]:
    STAND_ALONE = check_types.STAND_ALONE  # their examples are independent and need extras
with load_scripts(".github/docs", "outputs") as [outputs]:
    pass
OWN_AGENT, README = f"{TUTORIALS}/own_agent.md", "README.md"
PLAY = ".github/docs/play.md"
LEARNING = "bideuchre_env/learning/README.md"
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)(?:\s+\(((?:`[^`]+`(?:,\s+)?)+)\))?")


def guides():
    pages = {path.resolve() for place in PLACES for path in (ROOT / place).rglob("*.md")}
    return sorted(str(path.relative_to(ROOT)) for path in pages | set(ROOT.glob("*.md")))


def links(guide):
    """Yield (file or folder, anchor, names after it) of every local link of a guide."""
    text = (ROOT / guide).read_text(encoding="utf-8")
    for target, names in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            place = (ROOT / guide).parent / path if path else ROOT / guide
            yield place.resolve(), anchor, re.findall(r"`([^`]+)`", names)
    for picture in re.findall(r'(?:src|srcset)="([^":]+)"', text):
        yield ((ROOT / guide).parent / picture).resolve(), "", []


def anchors(path):
    """The anchors of the headings of a page, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def defines(path, name):
    """Whether a file defines a name: a function, class, value, field or option."""
    pattern = rf"\b(?:def|class) {name}\b|\b{name}\s*[:=,]|\"{name}\""
    return bool(re.search(pattern, path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("guide", guides())
def test_links_lead_to_files_headings_and_names_that_exist(guide):
    for path, anchor, names in links(guide):
        assert path.exists(), f"{guide}: {path.relative_to(ROOT)}"
        assert not anchor or anchor in anchors(path), f"{guide}: {path.name}#{anchor}"
        for name in names:
            assert defines(path, name), f"{guide}: {name} is not in {path.relative_to(ROOT)}"


def code_of(guide, language):
    text = (ROOT / guide).read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.S)
    return [block.replace("\\\n", "") for block in blocks]  # commands on several lines


TO_MATCH = f"{TUTORIALS}/training_to_match.md"
TESTED_ELSEWHERE = (*STAND_ALONE, README, LEARNING, TO_MATCH)
WITH_CODE = [page for page in guides() if code_of(page, "python")]


def run_block(page, block, scope):
    """Run a block with these variables; it prints the output of the page, which a tutorial has."""
    printed = outputs.run(page, block.code, scope)
    if block.output is not None or page.startswith(TUTORIALS):
        assert outputs.equal(block.output or "", printed, block.varies), printed
    return printed


@pytest.mark.search
@pytest.mark.parametrize("guide", [page for page in WITH_CODE if page not in TESTED_ELSEWHERE])
def test_the_code_of_a_page_prints_its_outputs(guide, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in outputs.blocks(guide):
        run_block(guide, block, scope)


@pytest.mark.parametrize(
    ("shown", "printed", "varies", "equal"),
    [
        ("+4.8 points", "+4.7 points", False, True),  # rounded differently
        ("+4.8 points", "+4.6 points", False, False),
        ("4 tricks", "5 tricks", False, False),
        ("rule 0.0011 ms", "rule 0.27 ms", False, True),  # a time
        ("loss  0.51", "loss 12.5", True, True),
        ("loss 0.51", "gain 0.51", True, False),
        ("", "loss 0.51", True, False),
    ],
)
def test_outputs_are_compared_except_for_times_and_numbers_that_vary(shown, printed, varies, equal):
    assert outputs.equal(shown, printed, varies) is equal


def test_outputs_are_written_into_a_page_where_they_differ():
    page = "```python\nx = 2\nprint(x)\n```\n{}\nText.\n\n```python\nx += 1\n```\n{}"
    vary = f"\n{outputs.VARY}\n\n```text\n3\n```\n"
    stale, new = "\n```text\n1\n```\n", "\n```text\n2\n```\n"
    for before in ("", stale, new):
        assert outputs.written("a page", page.format(before, stale)) == page.format(new, "")
    assert outputs.written("a page", page.format(vary, "")) == page.format(vary, "")


def test_the_rest_of_a_page_is_unchanged_after_a_missing_library():
    page = "```python\nimport {} as x\n```\n\n```python\nprint(x)\n```\n\n```text\n2\n```\n"
    library = page.format("no_such_library")
    assert outputs.written("a page", library) == library
    with pytest.raises(ModuleNotFoundError, match=r"bideuchre_env\.no_such_module"):
        outputs.written("a page", page.format("bideuchre_env.no_such_module"))


@contextmanager
def optimizer_steps():
    """Yield a list that gets, for each step of an optimizer, whether a gradient is not zero."""
    module = pytest.importorskip("torch.optim.optimizer")
    steps = []

    def after(optimizer, *_):
        weights = [each for group in optimizer.param_groups for each in group["params"]]
        steps.append(any(each.grad is not None and each.grad.any() for each in weights))

    hook = module.register_optimizer_step_post_hook(after)
    try:
        yield steps
    finally:
        hook.remove()


@pytest.mark.parametrize(
    ("page", "block"), [(page, block) for page in STAND_ALONE for block in outputs.blocks(page)]
)
def test_the_code_of_an_adapter_runs(page, block):
    """Each example runs by itself, if its library is installed, and trains in a tutorial."""
    tutorial = page.startswith(TUTORIALS)
    counted = optimizer_steps() if tutorial else nullcontext([True])
    try:
        with counted as steps:
            printed = run_block(page, block, {})
    except ModuleNotFoundError as error:
        if error.name.startswith("bideuchre_env"):
            raise
        pytest.skip(f"needs {error.name}")
    assert printed
    assert any(steps)


@pytest.mark.long
def test_the_training_command_of_the_page_trains(tmp_path):
    """The command of the self-play tutorial, with small networks and few decisions."""
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    command = shlex.split(code_of(f"{TUTORIALS}/self_play.md", "sh")[0].splitlines()[0])
    small = "--millions 0.006 --hands 32 --hidden 16 --hidden-auction 8 --minibatch 256"
    boards = "--boards 2 --final-boards 2 --opponents cautious"
    options = [*small.split(), *boards.split(), "--out", str(tmp_path)]
    python(*command[1:], *options, where=ROOT)
    assert (tmp_path / "weights.npz").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "library"), [(0, "sb3_contrib"), (1, "torch")])
def test_a_policy_goes_from_training_to_a_match(number, library, tmp_path, monkeypatch, capsys):
    """The block trains and saves, the command plays; other machines may round differently."""
    pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    with optimizer_steps() as steps:
        run_block(TO_MATCH, outputs.blocks(TO_MATCH)[number], {})
    assert any(steps)
    assert main(shlex.split(code_of(TO_MATCH, "sh")[number])[1:]) == 0
    expected, actual = code_of(TO_MATCH, "text")[2 * number + 1], capsys.readouterr().out
    assert actual.splitlines()[:3] == expected.splitlines()[:3]
    points = [float(re.search(r" ([+-][\d.]+) +95 %", each)[1]) for each in (expected, actual)]
    assert points[1] == pytest.approx(points[0], abs=0.6)


@pytest.mark.slow
def test_the_custom_agent_of_the_page_plays_from_the_shell(tmp_path, monkeypatch, capsys):
    [file] = [block for block in code_of(OWN_AGENT, "python") if "# mine.py" in block]
    (tmp_path / "mine.py").write_text(file, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command = code_of(OWN_AGENT, "sh")[0].splitlines()[0]
    assert main([*shlex.split(command)[1:], "--workers", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("./mine.py:Mine against ./mine.py:Mine:aces=3, cincinnati_v0")
    points = re.search(r"points per hand +\S+ (\S+) +95 % interval (.+)", printed)
    text = (ROOT / OWN_AGENT).read_text(encoding="utf-8")
    assert f"{points[1]} points per hand (95 % interval {points[2].strip()})" in text


def test_the_custom_agent_of_the_page_names_gives_and_passes():
    """It gives its weakest cards, passes its strongest ones and names its strongest strain."""
    [file] = [block for block in code_of(OWN_AGENT, "python") if "# mine.py" in block]
    scope = {"__name__": "mine"}
    exec(compile(file, OWN_AGENT, "exec"), scope)
    env = barrie_v0.raw_env()
    env.reset(seed=1, options={"dealer": 3})
    mine = scope["Mine"](env.rules)
    for call in ("bid call-2 S", "pass", "pass", "pass"):
        env.step(call)
    words = env.observation_layout.decode(env.last()[0]["observation"])
    assert words["hand"] == ["AH", "AS", "JC", "JH", "KC", "KH", "QD", "QS"]
    actions = []
    for _ in range(4):
        seen = env.last()[0]
        actions.append(env.action_names[mine.act(seen["observation"], seen["action_mask"])])
        env.step(actions[-1])
    assert actions == ["JH", "QD", "AS", "KS"]  # partner has no bower
    named = {"phase": "naming", "strain": None, "hand": ["JS", "JC", "AS", "9H", "TD", "QS"]}
    assert mine.choose(named, [f"trump {strain}" for strain in STRAINS]) == "trump S"


RATE = re.compile(r"[\d,]+ (?=decisions)")
OUTPUT = """\
rule:boldness=0.5 against rule, cincinnati_v0, seed 0

2,000 boards of two tables, 4,000 hands
points per hand       rule:boldness=0.5 -0.17   95 % interval -0.29 to -0.05
tied boards           970 (48 %)
duplicate deals       divide the variance by 1.91

contracts               bid           made          set   alone   made alone
  rule:boldness=0.5   2,910   2,166 (74 %)   744 (26 %)      94    64 (68 %)
  rule                1,090     973 (89 %)   117 (11 %)      54    48 (89 %)

speed                 210,807 decisions per second
records               runs/match-cincinnati_v0-rule_boldness=0.5-rule-seed0.jsonl
"""


def test_the_first_command_prints_the_output_of_the_readme(tmp_path):
    with load_scripts(".github/docs", "readme") as [readme]:
        printed = readme.main_job(tmp_path)
        assert readme.excerpt(printed) == code_of(README, "text")[0]
    assert RATE.sub("#", printed) == RATE.sub("#", OUTPUT)
    [records] = list(tmp_path.rglob("*.jsonl"))
    assert records.name in printed
    assert records.stat().st_size > 0


def test_lines_of_the_readme_outside_tables_are_short():
    lines = (ROOT / README).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 110 and not line.startswith("|")] == []


@pytest.mark.search
def test_the_commands_for_players_run(tmp_path, monkeypatch, capsys):
    [commands] = [block for block in code_of(README, "sh") if "bideuchre play" in block]
    words = (shlex.split(line, comments=True) for line in commands.splitlines())
    play, advise, show = (command[1:] for command in words if command)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert main(play) == 0
    assert "The game is saved" in capsys.readouterr().out
    assert main(advise) == 0
    assert "bid 4" in capsys.readouterr().out
    assert main(["match", "rule:boldness=0.5", "rule", "--boards", "2", "--records", show[-1]]) == 0
    assert main([*show, "--agent", "rule", "--worlds", "2"]) == 0
    assert "<!doctype html>" in (tmp_path / "runs/game.html").read_text(encoding="utf-8")


@pytest.mark.search
def test_the_game_of_the_page_on_play_is_what_the_terminal_prints(tmp_path, monkeypatch, capsys):
    """The test types the lines that the page has after each prompt."""
    [command] = [block for block in code_of(PLAY, "sh") if "--seed" in block]
    [game] = code_of(PLAY, "text")
    typed = re.findall(r"^Your .*help\): (.*)$", game, re.M)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed)))
    assert main(shlex.split(command)[1:]) == 0
    printed = capsys.readouterr().out
    assert outputs.equal(game, outputs.tidy(printed), varies=False), printed


def test_the_page_on_play_has_all_levels_and_the_keys_of_the_browser():
    text = (ROOT / PLAY).read_text(encoding="utf-8")
    rows = [f"| `{name}` | `{level.agent}` | {level.words} |" for name, level in LEVELS.items()]
    assert "\n".join(rows) in text
    page = (ROOT / "bideuchre_env/web/assets/live.html").read_text(encoding="utf-8")
    assert re.search(r'<p class="keys">(.+?)</p>', page)[1] in text


def test_the_python_blocks_of_the_readme_run(capsys):
    """The first one plays to the end and prints the contract, the tricks and the points."""
    first, *others = code_of(README, "python")
    scope = {}
    exec(compile(first, README, "exec"), scope)
    assert scope["env"].agents == []
    assert (scope["terminated"], scope["truncated"]) == (True, False)
    printed = capsys.readouterr().out
    assert re.fullmatch(r".+ \[\d, \d\] \[-?\d+, -?\d+\]\n", printed)
    assert re.search(r"such as: .+ \[\d, \d\] \[-?\d+, -?\d+\]", first)
    assert others
    for block in others:
        exec(compile(block, README, "exec"), scope)


@pytest.mark.slow
def test_the_first_training_run_learns(tmp_path, monkeypatch, capsys):
    """The points of the first training run grow as the page states; its policy beats `cautious`."""
    monkeypatch.chdir(tmp_path)
    scope, outputs = {}, {}
    for block in code_of(LEARNING, "python"):
        exec(compile(block, LEARNING, "exec"), scope)
        outputs["for iteration in" in block] = capsys.readouterr().out
    printed = [float(line.split()[0]) for line in outputs[True].splitlines()]
    page = " ".join((ROOT / LEARNING).read_text(encoding="utf-8").split())
    stated = re.search(
        r"from (\S+) points per hand to about (\S+)\. In .* better by about (\S+)\.", page
    )
    assert stated is not None
    before, after, better = map(float, stated.groups())
    assert printed[0] == pytest.approx(before, abs=0.05)
    assert float(np.mean(printed[-8:])) == pytest.approx(after, abs=0.3)

    class Student:
        """An agent that plays by the learned values, without exploration."""

        def act_rows(self, observations, masks):
            return np.where(masks, (observations > 0) @ scope["q_weights"], -np.inf).argmax(axis=1)

    points = match("cincinnati_v0", Student(), "cautious", boards=2_000).points_per_hand
    assert points is not None
    assert points.low > 1
    assert points.mean == pytest.approx(better, abs=0.5)


def test_the_agents_are_in_measured_order_in_registry_and_pages():
    """A later agent makes more points per hand, in the mean of the variants, than an earlier one.

    Agents that did not meet are compared on the variants where both met the same agent.
    """
    results = (ROOT / "experiments/ladder.json", ROOT / "experiments/results/inference.json")
    points = {}
    for path in results:
        for rung in json.loads(path.read_text("utf-8"))["rungs"]:
            (a, b), mean = rung["agents"], rung["points_per_hand"]["mean"]
            points.setdefault((a, b), {})[rung["variant"]] = mean
            points.setdefault((b, a), {})[rung["variant"]] = -mean
    assert set(BUILT_IN) == {agent for pair in points for agent in pair} - {"net:search=true"}
    for weaker, stronger in pairwise(BUILT_IN):
        leads = points.get((stronger, weaker), {}).values()
        for rival in () if leads else BUILT_IN:
            one, other = points.get((stronger, rival), {}), points.get((weaker, rival), {})
            leads = [*leads, *(one[each] - other[each] for each in one.keys() & other)]
        assert sum(leads) > 0, f"{stronger} over {weaker}"
    readme, page = ((ROOT / each).read_text("utf-8") for each in (README, "agents/README.md"))
    [sentence] = re.findall(r"^Weakest first: .*", readme, re.M)
    assert re.findall(r"`(\w+)`", sentence) == list(BUILT_IN)
    assert re.findall(r"^\| `(\w+)` \| .* \(`\w+Agent`\) \|$", page, re.M) == list(BUILT_IN)
    with load_scripts("experiments", "ladder") as [ladder]:
        assert [each for each in ladder.AGENTS if each in BUILT_IN] == list(BUILT_IN)


@pytest.mark.parametrize("page", ["benchmarks/results/README.md", "experiments/results/README.md"])
def test_tables_of_results_have_the_agents_in_measured_order(page):
    """In the header, and in the first column, where the stronger agent of a pair decides."""
    order = [*BUILT_IN]

    def agents_in(text):
        return [name for name in re.findall(r"\w+", text) if name in order]

    lengths = []
    for table in re.findall(r"(?:^\|.*\n)+", (ROOT / page).read_text("utf-8"), re.M):
        header, _, *rows = table.splitlines()
        players = [agents_in(row.split("|")[1]) for row in rows]
        strongest = [max(each, key=order.index) for each in players if each]
        for names in (agents_in(" ".join(header.split("|")[2:])), strongest):
            assert names == sorted(names, key=order.index)
            lengths.append(len(names))
    assert max(lengths) > 3
