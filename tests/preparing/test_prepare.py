"""Rules of one's own: what agents learn of them is kept, found, and no worse than before."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bideuchre_env import agents, match
from bideuchre_env._intervals import Interval
from bideuchre_env.agents.expert.call_network import calls_of, load_network, package_network
from bideuchre_env.agents.learned.shipped import shipped_weights
from bideuchre_env.agents.prepared import prepared_file, prepared_folder, prepared_weights
from bideuchre_env.cli.options import variant_of
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.weights import read_weights, write_weights
from bideuchre_env.preparing.prepare import Preparation, load_again
from bideuchre_env.rules.variants import RULES

BETTER, WORSE = Interval(0.2, 0.1, 0.3), Interval(-0.2, -0.3, -0.1)
KINDS = ("expert", "net")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache folder of the test's own, and no weights in memory that come from it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    load_again()
    yield
    load_again()


@pytest.fixture
def farm():
    """Barrie's game with higher bids: its deck has a table, the package has no net for it."""
    return variant_of("barrie_v0", ["partnered=[5, 8]"])


def small(game, **options):
    return Preparation(game, **{"hands": 1000, "boards": 2, "report": lambda line: None, **options})


def judged_as(monkeypatch, points):
    monkeypatch.setattr(Preparation, "_judged", lambda self, player, other: points)


def bytes_of(game):
    return {kind: prepared_file(kind, game.rules).read_bytes() for kind in KINDS}


def test_what_is_prepared_is_played_by(farm, monkeypatch):
    """`expert` calls by it, `net` has weights at last; the steps on the way are gone."""
    with pytest.raises(OptionError, match="`bideuchre prepare` makes some"):
        agents.make("net", farm.rules)
    before = load_network(farm.rules)
    judged_as(monkeypatch, BETTER)
    done = small(farm).run()
    assert [(each.kind, each.kept) for each in done] == [("expert", True), ("net", True)]
    calls, net = (prepared_weights(kind, farm.rules) for kind in KINDS)
    assert np.array_equal(load_network(farm.rules), calls_of(calls))
    assert not np.array_equal(load_network(farm.rules), before)
    assert dict(shipped_weights("net", farm.rules).arrays).keys() == net.arrays.keys()
    assert match.play(farm.rules, "net", "expert", boards=2).decisions
    assert sorted(file.name for file in prepared_folder().iterdir()) == sorted(
        prepared_file(kind, farm.rules).name for kind in KINDS
    )
    for weights in (calls, net):
        assert weights.metadata["command"].endswith("--hands 1000 --seed 0")
        assert json.loads(weights.metadata["settings"])["rules"] == farm.rules.to_toml()


def test_what_is_no_better_is_left_out(farm, monkeypatch):
    """Neither kind is kept, and agents play as they did."""
    judged_as(monkeypatch, WORSE)
    assert [each.kept for each in small(farm).run()] == [False, False]
    assert not any(prepared_file(kind, farm.rules).exists() for kind in KINDS)
    assert np.array_equal(load_network(farm.rules), package_network(farm.rules))


def test_a_run_that_was_stopped_comes_to_the_same(farm, monkeypatch):
    """Stopped when the calls are fitted, and again when the net is: the same two files."""
    judged_as(monkeypatch, BETTER)
    small(farm).run()
    whole = bytes_of(farm)
    with pytest.raises(OptionError, match=r"is prepared, in .*--force again"):
        small(farm).run()
    for kind in KINDS:
        prepared_file(kind, farm.rules).unlink()
    load_again()
    for finished in range(2):
        answers = iter([BETTER] * finished)

        def judged(self, player, other, answers=answers):
            for answer in answers:
                return answer
            raise KeyboardInterrupt

        monkeypatch.setattr(Preparation, "_judged", judged)
        with pytest.raises(KeyboardInterrupt):
            small(farm).run()
        (steps,) = prepared_folder().glob("steps-*")
        assert len(list(steps.glob("*.safetensors"))) == (6 if finished else 1)
    judged_as(monkeypatch, BETTER)
    small(farm).run()
    assert bytes_of(farm) == whole


def test_what_is_there_is_lost_to_nothing_worse(farm, monkeypatch):
    """Prepared again, with other hands and for less: the files stay, and no steps are left."""
    judged_as(monkeypatch, BETTER)
    small(farm).run()
    before = bytes_of(farm)
    judged_as(monkeypatch, WORSE)
    assert [each.kept for each in small(farm, hands=1500).run(again=True)] == [False, False]
    assert bytes_of(farm) == before
    assert not list(prepared_folder().glob("steps-*"))


def test_a_deck_without_a_table_learns_cards_alone(monkeypatch):
    """Its calls are the rule player's, which have nothing to learn."""
    judged_as(monkeypatch, BETTER)
    told = []
    game = variant_of("double_deck_v0", ["target=30"])
    assert [each.kind for each in small(game, report=told.append).run()] == ["net"]
    assert told[0].endswith("no table of hands; calls go by rules")


def test_the_variants_are_never_looked_up():
    """The package's own numbers are what is published, whatever lies in the cache."""
    rules = RULES["cincinnati_v0"]
    file = prepared_file("net", rules)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"nonsense")
    assert prepared_weights("net", rules) is None
    assert agents.make("net", rules).made["variant"] == "cincinnati_v0"


def test_a_file_that_does_not_fit_is_an_error(farm):
    """Damaged, or of other features: the message names the file."""
    file = prepared_file("expert", farm.rules)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"nonsense")
    with pytest.raises(WeightsError, match=file.name):
        agents.make("expert", farm.rules)
    net = shipped_weights("net", RULES["barrie_v0"])
    write_weights(file, net.arrays, net.metadata)
    with pytest.raises(WeightsError, match="kind="):
        agents.make("expert", farm.rules)


def test_odd_requests_are_refused(farm):
    for asked, said in (
        (small(variant_of("barrie_v0", [])), "barrie_v0 needs no preparing"),
        (small(farm, hands=999), "hands=999"),
        (small(farm, boards=1), "boards=1"),
    ):
        with pytest.raises(OptionError, match=said):
            asked.run()
    assert not prepared_folder().exists()


@pytest.mark.slow
def test_prepared_agents_are_stronger(farm):
    """For real: net is better than the expert without search, surely; files say what made them."""
    done = {each.kind: each for each in small(farm, hands=30_000, boards=4000).run()}
    assert done["net"].points.low > 0
    assert read_weights(done["net"].file).metadata["variant"] == farm.name
