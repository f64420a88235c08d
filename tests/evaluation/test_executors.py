"""Executors in this process and in others: answers, order, errors, and processes that die."""

import os
import re

import numpy as np
import pytest
from support import ray_clusters

from bideuchre_env import match
from bideuchre_env.errors import IllegalActionError, OptionError, WorkerError
from bideuchre_env.evaluation.executors import Processes, Serial, executor_of


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as executor:
        yield executor


@pytest.fixture(params=["serial", "processes"])
def executor(request):
    return Serial() if request.param == "serial" else request.getfixturevalue("processes")


def test_each_block_has_its_answers_and_order_is_restored(executor):
    product, count_to = ray_clusters.product, ray_clusters.count_to
    assert sorted(executor.run(product, 3, range(20))) == [(k, 3 * k) for k in range(20)]
    assert list(executor.in_order(product, 3, iter(range(20)))) == [*range(0, 60, 3)]
    assert list(executor.run(product, 3, [])) == []
    several = sorted(executor.run(count_to, 10, range(4)))
    assert several == [(k, 10 + i) for k in range(4) for i in range(k)]


def test_an_executor_is_stopped_and_used_again(executor):
    answers = []
    for number, _ in executor.run(ray_clusters.product, 3, range(10**9), lambda: len(answers) > 20):
        answers.append(number)
    assert 21 <= len(answers) <= 22
    assert sorted(executor.run(ray_clusters.product, 2, range(3))) == [(0, 0), (1, 2), (2, 4)]


@pytest.mark.parametrize(
    ("kind", "error"), [("option", OptionError), ("illegal", IllegalActionError)]
)
def test_an_error_of_the_package_is_raised_unchanged(executor, kind, error):
    with pytest.raises(error, match="3"):
        list(executor.run(ray_clusters.fail_at_3, kind, range(9)))
    assert list(executor.in_order(ray_clusters.product, 2, range(2))) == [0, 2]


def test_other_errors_and_values_that_cannot_be_pickled_are_errors_of_processes(processes):
    with pytest.raises(WorkerError, match="in a process of its own: ValueError"):
        list(processes.run(ray_clusters.fail_at_3, "value", range(9)))
    with pytest.raises(OptionError, match="cannot be sent between workers"):
        processes.run(ray_clusters.product, lambda: None, range(2))
    arrays = list(processes.in_order(ray_clusters.add_in_place, np.zeros(9), range(4)))
    assert [(array == k).all() for k, array in enumerate(arrays)] == [True] * 4


@pytest.mark.slow
def test_a_process_that_dies_is_an_error_and_the_executor_works_on(tmp_path):
    with Processes(2) as executor:
        with pytest.raises(WorkerError, match=r"ended with code .* before its work was done"):
            list(executor.run(ray_clusters.crash, (tmp_path, 1), range(12)))
        assert len(list(executor.run(ray_clusters.crash, (tmp_path, 1), range(12)))) == 12


@pytest.mark.slow
def test_processes_of_an_open_executor_are_used_by_several_matches():
    options = {"boards": 300, "games": 8, "seed": 2, "at_once": 16}
    alone = match("six_card_v0", "rule", "random", **options)
    with Processes(2) as executor:
        for _ in range(2):
            result = match("six_card_v0", "rule", "random", workers=executor, **options)
            assert result.board_rows.tobytes() == alone.board_rows.tobytes()
            assert result.game_rows.tobytes() == alone.game_rows.tobytes()
            assert result.decisions == alone.decisions
        assert len(executor._processes) == 2
    assert not executor._processes


@pytest.mark.parametrize("workers", [0, 257, 1.5, "2", None])
def test_a_number_of_workers_is_a_whole_number(workers):
    message = re.escape(f"workers={workers!r}: expected a whole number from 1 to 256")
    with pytest.raises(OptionError, match=message):
        executor_of(workers)


@pytest.mark.slow
def test_records_do_not_depend_on_the_executor(tmp_path):
    for workers in (1, 2):
        path = tmp_path / f"{workers}.jsonl"
        options = {"boards": 300, "games": 30, "at_once": 8, "workers": workers}
        result = match("club_v0", "rule", "random", records=path, seed=1, **options)
        assert result.records == os.fspath(path)
    one, two = ((tmp_path / f"{workers}.jsonl").read_bytes() for workers in (1, 2))
    assert one == two
    assert one.count(b"\n") == 2 * 300 + 30
