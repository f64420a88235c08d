"""The script that scores and fits how searchers take the other seats to decide."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest
from support.positions import CINCINNATI, Position
from support.script_modules import ROOT, loaded

from bideuchre_env.agents.search.agent import FITTED_MODEL
from bideuchre_env.core.rows import encode_rows
from bideuchre_env.errors import OptionError

SMALL = ["--hands", "3", "--search", "2", "--worlds", "6", "--rounds", "1"]
HANDS = {1: "AH QH TH AS KD 9C", 2: "JH 9H JC QS KC TC"}  # seat 1 declares and leads
WORLDS = 40


@pytest.fixture(scope="module")
def fit():
    with loaded("experiments/fitting", "fit_choice_model") as (module,):
        yield module


@pytest.fixture(scope="module")
def gathered(fit):
    """Positions of a few hands of a game with exchanges."""
    return fit.gather("barrie_v0", fit.Args.parse(SMALL), fit.FITTED)


def after_the_lead(fit, other):
    """Seat 2 to follow to the expert's lead, or to another card: only this is to be weighed.

    Calls and the strain are taken to be made at random.
    """
    position = Position(CINCINNATI, HANDS, agent="expert").do("bid 3, pass, pass, pass, trump H")
    card = position.choice()
    position.do("AS" if other else card)
    assert card != "AS"
    row, mask = position.look()
    played = (row[np.newaxis], mask[np.newaxis], position.states.copy(), np.zeros(1, np.int64))
    return fit.Positions("cincinnati_v0", played, WORLDS, seed=3)


# --- the score -----------------------------------------------------------------------------------


def test_the_score_is_the_logarithm_of_the_true_worlds_share(fit):
    """The true world stands first."""
    weights = np.array([[1.0, 1.0, 2.0], [3.0, 1e-9, 1e-9], [5.0, 5.0, 5.0]])
    shares = fit.log_shares(np.log(weights) - 700.0)  # too unlikely for plain numbers
    assert np.exp(shares) == pytest.approx([0.25, 1.0, 1 / 3])


@pytest.mark.parametrize("other", [False, True])
def test_a_lead_is_weighed_by_what_the_expert_would_lead(fit, other):
    """Six cards to lead: 1 - x where it is the expert's, x / 5 where it is not."""
    positions = after_the_lead(fit, other)
    numbers = FITTED_MODEL | {"error_rate": 1.0, "error_points": 1e9}  # whatever a call costs
    alike = positions.scores(numbers | {"lead": 5 / 6})
    assert alike == pytest.approx([-math.log(WORLDS + 1)], abs=1e-9)
    logs = positions.logs(numbers | {"lead": 0.01})[0]
    the_experts = logs > logs.max() - 1.0  # the others are 495 times less likely
    assert the_experts[0] != other
    n = int(the_experts.sum())
    assert 0 < n < WORLDS
    for x in (0.4, 0.1):
        own = x / 5 if other else 1 - x
        wanted = own / (n * (1 - x) + (WORLDS + 1 - n) * x / 5)
        assert positions.scores(numbers | {"lead": x}) == pytest.approx([math.log(wanted)])


def test_what_nobody_says_counts_for_nothing(fit):
    """The first to call has only its own cards to go by: all worlds are alike."""
    position = Position(CINCINNATI, HANDS)
    row, mask = position.look()
    played = (row[np.newaxis], mask[np.newaxis], position.states.copy(), np.zeros(1, np.int64))
    positions = fit.Positions("cincinnati_v0", played, WORLDS, seed=3)
    assert positions.scores(FITTED_MODEL) == pytest.approx([-math.log(WORLDS + 1)])


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_what_the_others_do_tells_of_their_cards(fit, variant):
    """By the shipped numbers the true cards are likelier than drawn ones, surely so."""
    args = fit.Args.parse(["--hands", "40", "--search", "1", "--worlds", "30"])
    positions = fit.gather(variant, args, fit.FITTED)
    n = len(positions.hands)
    gain = fit.over(positions, positions.scores(FITTED_MODEL), np.full(n, -math.log(31)))
    # twice what chance gives them, and more: the numbers are fitted to the calls of net, rule and
    # ppo, who differ from these players
    assert gain.low > math.log(2)


# --- the positions -------------------------------------------------------------------------------


def test_the_true_worlds_are_what_was_seen(fit, gathered):
    """Told again with the cards of all seats, a position gives the same observation."""
    space, n = gathered.space, len(gathered.truths)
    args = fit.Args.parse(SMALL)
    rng = np.random.default_rng([args.seed, [*fit.RULES].index("barrie_v0"), fit.FITTED])
    rng.integers(2**62)
    seen, masks, states, hands = fit.play(fit.RULES["barrie_v0"], "again", args, rng)
    assert n == len(seen) > 5
    assert set(hands) == {0, 1, 2}
    again, mask_again = np.zeros_like(seen), np.zeros_like(masks)
    for told in (gathered.truths, gathered.bases):
        encode_rows(
            told, space.expert.tables, space.expert.offsets, np.arange(n), again, mask_again
        )
        assert np.array_equal(seen, again)
        assert np.array_equal(masks, mask_again)
    assert np.array_equal(gathered.truths["hands"][:, 0], states["hands"][range(n), states["turn"]])
    own = [sorted(int(h) for h in row) for row in states["hands"]]
    assert own == [sorted(int(h) for h in row) for row in gathered.truths["hands"]]
    assert (gathered.truths["hands"] != gathered.bases["hands"]).any(axis=1).mean() > 0.5


def test_held_out_hands_are_others(fit, gathered):
    """The comparison is of hands that the numbers were not fitted to."""
    other = fit.gather("barrie_v0", fit.Args.parse(SMALL), fit.HELD_OUT)
    assert not {row.tobytes() for row in gathered.truths} & {row.tobytes() for row in other.truths}


def test_the_interval_is_over_hands(fit, gathered):
    """The same gain at every position is sure; positions of one hand tell nothing of others."""
    n = len(gathered.hands)
    sure = fit.over(gathered, np.full(n, -1.0), np.full(n, -1.5))
    assert (sure.mean, sure.low, sure.high) == pytest.approx((0.5, 0.5, 0.5))
    by_hand = fit.over(gathered, np.where(gathered.hands == 0, 1.0, 0.0), np.zeros(n))
    assert by_hand.low < 0 < by_hand.mean < 1 < by_hand.high


# --- the search ----------------------------------------------------------------------------------


def test_the_search_climbs_and_leaves_the_rest_alone(fit, capsys):
    """A score with its top elsewhere is climbed; what changes nothing, or is not named, stays."""

    def score(n):
        return -sum(abs(math.log(n[part] / top)) for part, top in (("points", 1.1), ("lead", 0.2)))

    numbers = dict(FITTED_MODEL)
    fit.climb(score, numbers, ("points", "lead", "level"), 4)
    assert numbers["points"] == pytest.approx(1.1, rel=0.1)
    assert numbers["lead"] == pytest.approx(0.2, rel=0.1)
    assert {part for part in FITTED_MODEL if numbers[part] != FITTED_MODEL[part]} == {
        "points",
        "lead",
    }
    printed = capsys.readouterr().out
    assert printed.count("level changes nothing: left at -0.7") == 1
    best = [float(line.rpartition(" ")[2]) for line in printed.splitlines() if "round" in line]
    assert best == sorted(best)


def test_a_share_stays_a_share(fit):
    """However much it helps; and no search goes on for ever."""
    numbers = dict(FITTED_MODEL)
    fit.climb(lambda n: n["lead"] - n["pass_"], numbers, ("lead", "pass_"), 2)
    assert numbers["lead"] == fit.MOST_SHARE
    most = FITTED_MODEL["pass_"] * fit.FACTOR ** (1.5 * fit.STEPS)
    assert numbers["pass_"] == pytest.approx(most, rel=0.05)


# --- what is printed -----------------------------------------------------------------------------


def test_the_numbers_are_printed_as_the_package_has_them(fit):
    """To the byte."""
    shipped = (ROOT / "agents" / "search" / "agent.py").read_text(encoding="utf-8")
    assert f"\n{fit.source(FITTED_MODEL)}\n" in shipped
    assert "experiments/fitting/fit_choice_model.py" in shipped


def run(fit, capsys, *options):
    """A small fit: its table as cells, and the numbers."""
    assert fit.main(fit.Args.parse([*SMALL, *options])) == 0
    numbers, end, table = capsys.readouterr().out.partition("FITTED_MODEL = ")[2].partition("}")
    numbers += end
    cells = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row] for row in cells], ast.literal_eval(numbers)


def test_a_small_fit_compares_on_every_game(fit, capsys):
    """Three rows a game, and numbers of which only those named have moved; by the seed alone."""
    found, numbers = run(fit, capsys, "--parts", "lead", "follow")
    assert [row[:2] for row in found] == [
        [f"`{name}`", which]
        for name in ("cincinnati_v0", "barrie_v0")
        for which in ("all worlds alike", "shipped", "found")
    ]
    for row in found:
        assert (row[1] == "all worlds alike") == (float(row[2]) == round(-math.log(7), 4))
        assert (row[1] == "shipped") == (row[3] == row[4] == "")
        assert int(row[5]) >= int(row[6]) > 0
    assert {part for part in numbers if numbers[part] != FITTED_MODEL[part]} <= {"lead", "follow"}
    assert list(numbers) == list(FITTED_MODEL)
    assert run(fit, capsys, "--parts", "lead", "follow") == (found, numbers)
    assert run(fit, capsys, "--parts", "lead", "--seed", "1")[0] != found


def test_ctrl_c_compares_what_is_found(fit, monkeypatch, capsys):
    """In the search; before it there is nothing yet."""

    def interrupted(score, numbers, parts, rounds):
        numbers["lead"] = 0.123
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "climb", interrupted)
    assert fit.main(fit.Args.parse([*SMALL, "--variants", "cincinnati_v0"])) == 130
    printed = capsys.readouterr()
    assert "| found |" in printed.out
    assert '"lead": 0.123,' in printed.out
    assert "until then" in printed.err

    def at_once(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "play", at_once)
    assert fit.main(fit.Args.parse(SMALL)) == 130
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "nothing is fitted" in printed.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--variants", "whist_v0"], "whist_v0"),
        (["--parts", "lead", "pass"], "--parts pass: of points"),
        (["--hands", "1"], "hands"),
        (["--rounds", "0"], "rounds"),
        (["--worlds", "0"], "worlds=0"),
        (["--search", "20000"], "search=20000"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_dealt(fit, monkeypatch, options, told):
    def dealt(*given):
        raise AssertionError("nothing is to be dealt")

    monkeypatch.setattr(fit, "gather", dealt)
    with pytest.raises(OptionError, match=told):
        fit.main(fit.Args.parse(options))
