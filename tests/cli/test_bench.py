"""How speed is measured, and `bideuchre bench`: that the figures add up. Nothing is timed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import bideuchre_env
from bideuchre_env.bench import measure
from bideuchre_env.cli import main as cli
from bideuchre_env.errors import OptionError


def clock(rates):
    """A task that does 10 at these rates, one after another; the first slice is the warm-up."""
    left = iter(rates)
    return lambda: (10, 10 / next(left))


def test_a_figure_is_the_median_and_the_quartiles():
    row = measure.figure("g", "n", "decisions/s", [5.0, 1.0, 4.0, 2.0, 3.0], target=2.5)
    assert (row.least, row.low, row.median, row.high, row.most) == (1, 2, 3, 4, 5)
    assert (row.repeats, row.meets) == (5, True)
    assert measure.figure("g", "n", "s", [3.0], target=2.5).meets is False
    assert measure.figure("g", "n", "s", [3.0]).meets is None


def test_a_round_measures_everything_once_after_a_first_slice_that_does_not_count():
    order = []

    def task(name):
        def run():
            order.append(name)
            return 6, 2.0

        return run

    rates = measure.rounds({"a": task("a"), "b": task("b")}, 2, 1.0)
    assert rates == {"a": [3.0, 3.0], "b": [3.0, 3.0]}
    assert order == ["a", "b", "a", "b", "a", "b"]
    assert measure.rounds({"a": clock([1, 2, 8])}, 2, 1e-9)["a"] == [2.0, 8.0]


def test_a_rate_is_all_that_was_done_over_all_the_time_it_took():
    assert measure.rate(clock([10, 5, 1]), 4.0) == 30 / (1 + 2 + 10)


@pytest.mark.parametrize(("repeats", "seconds"), [(0, 1.0), (1, 0.0), (1, float("nan"))])
def test_repeats_and_seconds_that_measure_nothing_are_refused(repeats, seconds):
    with pytest.raises(OptionError, match=r"repeats|seconds"):
        measure.rounds({}, repeats, seconds)


@pytest.mark.skipif(not measure.cores(), reason="this system does not pin")
def test_pinning_is_for_a_while():
    before = measure.cores()
    with measure.pinned() as core:
        assert measure.cores() == [core] == [before[-1]]
    assert measure.cores() == before
    with pytest.raises(OptionError, match="core 99999"), measure.pinned(99_999):
        pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0.000"),
        (0.1234, "0.123"),
        (1.234, "1.23"),
        (184.0, "184"),
        (45_678, "45.7 k"),
        (1.2e7, "12.0 M"),
    ],
)
def test_amounts_have_three_figures(value, text):
    assert measure.amount(value) == text


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_aec_slice_counts_the_actions_of_one_episode(wrapped, monkeypatch):
    """The dead agents' steps of the loop do not count."""
    from bideuchre_env.bench import tasks
    from bideuchre_env.envs.aec import env as aec

    taken = []
    step = aec.BidEuchreEnv.step

    def counted(env, action):
        taken.append(action is not None)
        step(env, action)

    monkeypatch.setattr(aec.BidEuchreEnv, "step", counted)
    done, spent = tasks.aec(bideuchre_env.six_card_v0, wrapped=wrapped, episode="hand")()
    assert done == sum(taken) >= 4
    assert len(taken) == done + 4
    assert spent > 0


def test_a_vec_slice_counts_rows_times_steps(monkeypatch):
    """And the time of `sample` only where actions are drawn."""
    from bideuchre_env.bench import tasks
    from bideuchre_env.envs.vector.env import BidEuchreVec

    ticks = iter(range(10**9))
    monkeypatch.setattr(tasks, "thread_time", lambda: next(ticks))
    monkeypatch.setattr(BidEuchreVec, "step", slow(BidEuchreVec.step, ticks, 3))
    monkeypatch.setattr(BidEuchreVec, "sample", slow(BidEuchreVec.sample, ticks, 10))
    for rows, steps in ((4_096, 4), (20_000, 1)):
        alone = tasks.vec(bideuchre_env.club_v0, rows, sampled=False)()
        assert alone == (steps * rows, 3 * steps)
        drawn = tasks.vec(bideuchre_env.club_v0, rows)()
        assert drawn == (steps * rows, 13 * steps + 1)


def slow(method, ticks, time):
    """A method that takes so many ticks of the clock."""

    def run(*arguments):
        for _ in range(time):
            next(ticks)
        return method(*arguments)

    return run


def test_self_play_counts_what_its_result_counts():
    from bideuchre_env import selfplay
    from bideuchre_env.bench import tasks

    done, spent = tasks.self_play(bideuchre_env.six_card_v0, "rule", "random", boards=16)()
    result = selfplay.play("six_card_v0", "rule", "random", boards=16, seed=1)
    assert done == sum(result.decisions)
    assert spent > 0


def test_agents_that_search_are_timed_over_whole_hands(monkeypatch):
    """All decisions of a hand in all four seats, at both tables; next time of the next board."""
    from bideuchre_env.bench import tasks

    boards = []
    runner = tasks.LockstepRunner

    def watched(rules, sides, numbers, *more, **options):
        boards.append(numbers)
        return runner(rules, sides, numbers, *more, **options)

    monkeypatch.setattr(tasks, "LockstepRunner", watched)
    task = tasks.agent_boards(bideuchre_env.six_card_v0, "pimc:worlds=2,played_out=4")
    for board in range(2):
        done, spent = task()
        assert boards.pop() == range(board, board + 1)
        assert 2 * (4 + 3 * 6) <= done <= 2 * (4 + 4 * 6)  # calls, and cards: fewer of a lone hand
        assert spent > 0


def test_bench_prints_a_table_and_writes_the_figures(tmp_path, capsys):
    path = tmp_path / "bench.json"
    asked = ["bench", "--variant", "six_card_v0", "--seconds", "0.05", "--json", str(path)]
    before = measure.cores()
    assert cli.main(asked) == 0
    assert measure.cores() == before
    out, err = capsys.readouterr()
    assert err == ""
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["variant"] == "six_card_v0"
    assert set(data["machine"]) >= {"processor", "cores", "python", "packages"}
    for row in data["figures"]:
        assert 0 < row["least"] <= row["low"] <= row["median"] <= row["high"] <= row["most"]
        assert row["repeats"] == 5
        assert row["name"] in out
        assert measure.amount(row["median"]) in out
    assert max(map(len, out.splitlines()[2:])) <= 80
    assert cli.main(asked) == 2
    assert "exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--variant poker", "is no variant: one of"),
        ("--seconds 0", "--seconds 0"),
        ("--seconds nan", "--seconds nan"),
        ("--json taken/at/all.json", "cannot be written"),
    ],
)
def test_bench_refuses_bad_input_before_it_measures(
    arguments, message, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file where the folder would be")
    monkeypatch.setattr("bideuchre_env.bench.tasks.measure_group", None)
    assert cli.main(["bench", *arguments.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_bench_help_is_instant():
    """Parsing loads neither numba nor what measures."""
    code = (
        "import sys; from bideuchre_env.cli.main import main\n"
        "try: main(['bench', '--help'])\n"
        "except SystemExit: pass\n"
        "slow = {'numba', 'rich', 'bideuchre_env.bench.tasks', 'bideuchre_env.bench.measure'}\n"
        "heavy = slow & set(sys.modules)\n"
        "sys.exit(f'heavy: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
