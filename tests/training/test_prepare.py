"""Preparation of custom rules: saved if better, loaded, resumed; fitting of the call network."""

import shlex

import numpy as np
import pytest

from bideuchre_env import agents, match
from bideuchre_env._intervals import Interval
from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.agents.expert.call_features import N_INPUTS
from bideuchre_env.agents.expert.call_network import calls_of, load_network, package_network
from bideuchre_env.agents.learned.shipped import provenance, shipped_weights
from bideuchre_env.agents.prepared import prepared_file, prepared_folder, prepared_weights
from bideuchre_env.agents.registry import freeze_files
from bideuchre_env.cli.main import main
from bideuchre_env.cli.options import variant_of
from bideuchre_env.errors import DivergedError, OptionError, WeightsError
from bideuchre_env.evaluation.executors import Serial
from bideuchre_env.evaluation.schedules import all_pairs
from bideuchre_env.evaluation.tournament import Tournament
from bideuchre_env.evaluation.tournament_files import first_changed
from bideuchre_env.learning.network import forward
from bideuchre_env.learning.weights import (
    parse_weights,
    part_names,
    read_weights,
    write_parts,
)
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import new_rows
from bideuchre_env.training import calls
from bideuchre_env.training.prepare import Preparation

pytestmark = pytest.mark.slow

BETTER, WORSE = Interval(0.2, 0.1, 0.3), Interval(-0.2, -0.3, -0.1)
LUCK, UNKNOWN = Interval(0.2, -0.1, 0.5), Interval(0.2, None, None)
KINDS = ("expert", "net")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def farm():
    """Barrie's game with higher bids: a deck with a hand table, and no packaged net."""
    return variant_of("barrie_v0", ["partnered=[5, 8]"])


@pytest.fixture(scope="module")
def whole(farm, tmp_path_factory):
    """The file of an uninterrupted run of 1,000 hands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("whole")))
        set_results(patch, BETTER)
        small(farm).run()
        yield bytes_of(farm)


@pytest.fixture
def learned(whole, monkeypatch, tmp_path):
    """Replace learning by the weights of `whole`."""
    weights = {kind: parse_weights(whole, part=kind) for kind in KINDS}
    monkeypatch.setattr(Preparation, "_fitted", lambda self, calls: weights["expert"])
    monkeypatch.setattr(Preparation, "_learned", lambda self, calls: weights["net"])
    return weights


def small(game, **options):
    """A preparation with 1,000 hands and two boards, without output."""
    return Preparation(game, **{"hands": 1000, "boards": 2, "report": lambda line: None, **options})


def set_results(monkeypatch, *points):
    """Set the results of the next matches: intervals or exceptions; the last one repeats."""
    left = list(points)

    def judged(self, player, other):
        result = left.pop(0) if len(left) > 1 else left[0]
        if not isinstance(result, Interval):
            raise result
        return result

    monkeypatch.setattr(Preparation, "_judged", judged)


def bytes_of(game):
    return prepared_file(game.rules).read_bytes()


def write_file(game, data):
    """Write the prepared file of a game."""
    file = prepared_file(game.rules)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def same_network(one, other):
    """Whether two call networks have the same weights."""
    arrays = zip((*one.layers, one.shifts), (*other.layers, other.shifts), strict=True)
    return all(np.array_equal(a, b) for a, b in arrays)


def test_prepared_files_are_used_by_agents(farm, learned, monkeypatch):
    with pytest.raises(OptionError, match="`bideuchre prepare` makes some"):
        agents.make("net", farm.rules)
    before = load_network(farm.rules)
    set_results(monkeypatch, BETTER)
    done = small(farm).run()
    assert [(each.kind, each.kept) for each in done] == [("expert", True), ("net", True)]
    calls, net = (prepared_weights(kind, farm.rules) for kind in KINDS)
    assert same_network(load_network(farm.rules), calls_of(calls))
    assert not same_network(load_network(farm.rules), before)
    assert dict(shipped_weights("net", farm.rules).arrays).keys() == net.arrays.keys()
    assert match(farm.rules, "net", "expert", boards=2).decisions
    assert [file.name for file in prepared_folder().iterdir()] == [prepared_file(farm.rules).name]


@pytest.mark.parametrize("points", [WORSE, LUCK, UNKNOWN])
def test_weights_not_significantly_better_are_not_saved(farm, learned, monkeypatch, points):
    set_results(monkeypatch, points)
    assert [each.kept for each in small(farm).run()] == [False, False]
    assert not prepared_file(farm.rules).exists()
    assert same_network(load_network(farm.rules), package_network(farm.rules))


def test_the_command_in_the_files_reproduces_them(farm, whole, tmp_path, monkeypatch, capsys):
    """The command names every option; `--force` starts from the beginning."""
    commands = set()
    for kind in KINDS:
        made = parse_weights(whole, part=kind).metadata
        commands.add(made["command"])
        assert Rules(**made["settings"]["rules"]) == farm.rules
    [command] = commands
    words = shlex.split(command)
    start = "bideuchre prepare --variant barrie_v0 --option"
    assert words[:6] == [*start.split(), "partnered=[5, 8]"]
    set_results(monkeypatch, BETTER)
    assert main(words[1:]) == 0
    assert bytes_of(farm) == whole
    assert main([*words[1:], "--force"]) == 0  # from the packaged weights again
    assert bytes_of(farm) == whole


def test_a_resumed_run_gives_the_same_files(farm, whole, monkeypatch):
    for results, files in (((), 1), ((BETTER,), 6)):
        set_results(monkeypatch, *results, KeyboardInterrupt)
        with pytest.raises(KeyboardInterrupt):
            small(farm).run()
        (steps,) = prepared_folder().glob("steps-*")
        assert len(list(steps.rglob("*.npz"))) == files
    set_results(monkeypatch, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        small(farm, seed=1).run()
    set_results(monkeypatch, BETTER)
    small(farm).run()
    assert bytes_of(farm) == whole
    assert not list(prepared_folder().glob("steps-*"))
    with pytest.raises(OptionError, match=r"is prepared already, in .*--force"):
        small(farm).run()


def test_a_concurrent_run_is_refused(farm, whole, learned, monkeypatch):
    refused = []

    def judged(self, player, other):
        with pytest.raises(OptionError) as error:
            small(farm, hands=1500).run(again=True)
        refused.append(str(error.value))
        return BETTER

    monkeypatch.setattr(Preparation, "_judged", judged)
    small(farm).run()
    assert bytes_of(farm) == whole
    assert ["another run is writing to" in message for message in refused] == [True, True]


def test_better_prepared_files_are_not_replaced(farm, whole, learned, monkeypatch):
    write_file(farm, whole)
    set_results(monkeypatch, BETTER, WORSE)
    done = small(farm).run(again=True)
    assert not any(each.kept for each in done)
    assert bytes_of(farm) == whole
    assert not list(prepared_folder().glob("steps-*"))


@pytest.mark.long
def test_a_large_deck_without_a_network_learns_one(monkeypatch):
    set_results(monkeypatch, BETTER)
    changes = ['ranks="10"', "partnered=[1, 10]", 'lone=[{"name": "moon", "value": 24}]']
    game = variant_of("double_deck_v0", changes)
    assert not load_network(game.rules).layers.first.any()
    assert [each.kind for each in small(game).run()] == ["expert", "net"]
    assert load_network(game.rules).layers.last.any()


def test_prepared_files_of_variants_are_ignored():
    rules = RULES["cincinnati_v0"]
    file = prepared_file(rules)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"nonsense")
    assert prepared_weights("net", rules) is None
    assert agents.make("net", rules).made["variant"] == "cincinnati_v0"


def test_prepared_files_may_appear_and_disappear_while_a_program_runs(farm, whole):
    """New agents use a prepared file while it exists; a match uses those at its beginning."""
    before = load_network(farm.rules)
    write_file(farm, whole)
    with freeze_files():
        assert same_network(load_network(farm.rules), before)
    after = load_network(farm.rules)
    assert not same_network(after, before)
    prepared_file(farm.rules).unlink()
    with freeze_files():
        assert same_network(load_network(farm.rules), after)
    assert same_network(load_network(farm.rules), before)


def test_a_file_without_the_part_of_the_agent_is_an_error(tmp_path):
    rules = RULES["six_card_v0"]
    write_parts(tmp_path / "parts.npz", {"ppo": shipped_weights("ppo", rules)})
    with pytest.raises(WeightsError, match=r"parts\.npz has no weights of 'net'"):
        agents.make("net", rules, weights=tmp_path / "parts.npz")


def test_a_changed_file_is_described_as_prepared_only_if_it_was(farm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = prepared_file(farm.rules).name
    (tmp_path / own).write_text("mine")
    assert first_changed({own: "1"}, {own: "2"}) == own
    matches = Tournament((farm,), all_pairs(("rule", "expert")), boards=2).play(Serial())
    write_file(farm, b"another")
    with pytest.raises(OptionError, match=rf"{own}, which `bideuchre prepare` makes, has changed"):
        next(matches)


def test_a_prepared_file_that_does_not_fit_is_an_error(farm):
    write_file(farm, b"nonsense")
    file = prepared_file(farm.rules)
    with pytest.raises(WeightsError, match=file.name):
        agents.make("expert", farm.rules)
    net = shipped_weights("net", RULES["barrie_v0"])
    file.unlink()
    write_parts(file, {"expert": net})
    with pytest.raises(WeightsError, match="kind="):
        agents.make("expert", farm.rules)


def test_unusable_weights_are_removed_and_those_of_the_other_agent_stay(farm, whole):
    write_file(farm, whole)
    file, lines = prepared_file(farm.rules), []
    net = parse_weights(whole, part="net")
    write_parts(file, {"expert": net})
    prepare = small(farm, report=lines.append)
    assert prepare._was("expert") is None
    assert "these weights are not used, and are removed" in lines[0]
    assert part_names(file.read_bytes()) == ["net"]
    assert prepare._was("net").name == "net"
    flipped = bytearray(whole)
    flipped[whole.index(b"expert.calls.skip.npy") + 60] ^= 1
    file.write_bytes(flipped)
    assert prepare._was("net").name == "net"
    assert prepare._was("expert") is None
    assert part_names(file.read_bytes()) == ["net"]
    file.write_bytes(b"nonsense")
    assert prepare._was("net") is None
    assert not file.exists()


@pytest.mark.parametrize("name", RULES)
def test_a_variant_can_be_prepared_unless_the_package_has_its_weights(name):
    """A prepared file is not read if the package has weights of the variant."""
    rules = RULES[name]
    file = prepared_file(rules)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"nonsense")
    if name in provenance("net"):
        assert shipped_weights("net", rules).metadata["variant"] == name
        with pytest.raises(OptionError, match=f"{name} needs no preparing"):
            small(variant_of(name, [])).run()
    else:
        with pytest.raises(WeightsError, match=file.name):
            shipped_weights("net", rules)
        with pytest.raises(OptionError, match=f"{name} is prepared already"):
            small(variant_of(name, [])).run()


def test_without_a_cache_folder_the_packaged_weights_are_used(farm, monkeypatch, tmp_path):
    (tmp_path / "cache").write_bytes(b"")  # no folder
    assert same_network(load_network(farm.rules), package_network(farm.rules))
    with pytest.raises(OptionError, match="cannot be written"):
        small(farm).run()


def test_invalid_arguments_are_refused(farm):
    with pytest.raises(OptionError, match="barrie_v0 needs no preparing"):
        small(variant_of("barrie_v0", [])).run()
    for options, message in (({"hands": 999}, "hands=999"), ({"boards": 1}, "boards=1")):
        with pytest.raises(OptionError, match=message):
            small(farm, **options)
    assert not prepared_folder().exists()


@pytest.mark.long
def test_prepared_agents_are_stronger(farm):
    done = {each.kind: each for each in small(farm, hands=30_000, boards=4000).run()}
    assert done["net"].points.low > 0
    assert read_weights(done["net"].file, "net").metadata["variant"] == farm.name


def test_training_fits_planted_points():
    rng = np.random.default_rng(2)
    trials = new_rows(calls.TRIAL, 20_000)
    x = rng.random((20_000, 2, N_INPUTS)) < 0.1
    trials["inputs"] = x
    truth = 3.0 * x[:, :, 0] - 4.0 * x[:, :, -1] + 2.0 * (x[:, :, 1] & x[:, :, 2])
    trials["points"] = truth + rng.normal(0, 6, (20_000, 1)) + rng.normal(0, 1, (20_000, 2))
    network, _ = calls.train(calls.drawn_network(rng).layers, 10 * [trials], rng)
    outputs = calls.SCALE * forward(network, trials["inputs"].reshape(-1, N_INPUTS))
    wrong = np.diff(outputs.reshape(-1, 2)) - np.diff(truth)
    assert float(np.mean(wrong**2)) < 0.25 * float(np.var(np.diff(truth)))


@pytest.mark.parametrize(
    ("points", "rate", "message"), [(np.nan, 2e-3, "not finite"), (1.0, 1e4, "error|finite")]
)
def test_diverged_training_is_an_error(monkeypatch, points, rate, message):
    rng = np.random.default_rng(3)
    monkeypatch.setattr(calls, "RATE", rate)
    trials = new_rows(calls.TRIAL, 3_000)
    trials["inputs"] = rng.random((3_000, 2, N_INPUTS)) < 0.1
    trials["points"] = rng.normal(0, 6, (3_000, 2)) * points
    network = calls.drawn_network(rng).layers
    before = [part.copy() for part in network]
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match=message):
        calls.train(network, [trials], rng)
    for part, same in zip(network, before, strict=True):
        np.testing.assert_array_equal(part, same)


@pytest.mark.parametrize("variant", ["barrie_v0", "simplified_v0", "club_v0"])
def test_lone_bids_are_compared_with_other_calls_four_times_as_often(variant):
    agent, pairs = ExpertAgent(RULES[variant], wanted=(0,) * 13), []
    for lone in (calls.LONE, 0):
        rng = np.random.default_rng(3)
        trials = calls.try_calls(agent, agent, 2000, 0, 2.0, rng, lone)
        alone = agent.tables["alone"][0][trials["level"]] * (trials["level"] >= 0)
        pairs.append((alone[:, 0] != alone[:, 1]).sum())
    assert pairs[0] > 4 * pairs[1] > 0


def test_calls_outside_the_width_are_tried_at_times():
    """In about `ANY` of 100 turns, the other call may be worse than the best by any amount."""
    rules = RULES["barrie_v0"]
    agent = ExpertAgent(rules, wanted=(0,) * 13)
    tried = {}
    for width in (-1.0, 2.0, 1e6):  # the last allows any call
        tried[width] = calls.try_calls(agent, agent, 2000, 0, width, np.random.default_rng(3))
    assert len(tried[1e6]) == 2000  # the first caller always has a choice
    assert 0.5 * calls.ANY < 100 * len(tried[-1.0]) / 2000 < 1.5 * calls.ANY
    lost = {width: -np.diff(trials["points"]).mean() for width, trials in tried.items()}
    assert lost[2.0] < lost[-1.0]
