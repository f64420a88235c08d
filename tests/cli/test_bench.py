"""`bideuchre bench`: its figures follow from the measured rates. Nothing is timed."""

import json

from support.commands import run

import bideuchre_env
from bideuchre_env import selfplay
from bideuchre_env.bench import measure, tasks
from bideuchre_env.envs.aec import env as aec


def test_a_task_counts_the_actions_of_its_games(monkeypatch):
    """Steps of finished agents in the AEC loop do not count."""
    steps, step = [], aec.BidEuchreEnv.step

    def counted(env, action):
        steps.append(action is not None)
        step(env, action)

    monkeypatch.setattr(aec.BidEuchreEnv, "step", counted)
    game = bideuchre_env.six_card_v0
    done, spent = tasks.aec(game, wrapped=True, episode="hand")()
    assert done == sum(steps) == len(steps) - 4 >= 4
    assert spent > 0
    assert tasks.vec(game, 4_096)()[0] == 4 * 4_096
    done, _ = tasks.self_play(game, "rule", "random", boards=16)()
    result = selfplay.play("six_card_v0", "rule", "random", boards=16, seed=1)
    assert done == sum(result.decisions)


def test_bench_prints_a_table_and_writes_the_figures(folder, capsys, error_of):
    options = ("bench", "--variant", "six_card_v0", "--seconds", "0.01", "--json", "bench.json")
    assert run(*options) == 0
    out, err = capsys.readouterr()
    assert err == ""
    data = json.loads((folder / "bench.json").read_text(encoding="utf-8"))
    assert data["variant"] == "six_card_v0"
    assert set(data["machine"]) >= {"processor", "cores", "python", "packages"}
    for row in data["figures"]:
        assert 0 < row["least"] <= row["low"] <= row["median"] <= row["high"] <= row["most"]
        assert row["repeats"] == 5
        assert row["name"] in out
        assert measure.amount(row["median"]) in out
    assert "exists" in error_of(*options)
