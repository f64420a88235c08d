"""The next hand begins when all people have asked for it, or after a wait that is shown."""

from __future__ import annotations

import pytest

pytest.importorskip("aiohttp")

from support.live_tables import Asking, live, quiet, run, session

from bideuchre_env.play.saved import new_game_path
from bideuchre_env.web.table import Ready


async def at_the_end(asking, whole_game=False):
    """Play until a hand is over, or the game: what each person's page shows."""
    table, people = asking.table, asking.table.session.people
    while True:
        await quiet(table)
        state = table.state(people[0])
        if state["over"] or (state["next"] and not whole_game):
            return [table.state(seat) for seat in people]
        version = {"version": state["version"]}
        if state["next"]:
            for seat in people:
                assert (await asking.seat(seat, "next", version))[0] == 200
        else:
            action = {**version, "action": table.session.legal()[0]}
            assert (await asking.seat(table.session.seat, "act", action))[0] == 200


def test_all_ask_or_a_wait_has_passed():
    """The wait begins when the first one asks; then one who has asked goes on, and nobody else."""
    now = [100.0]
    ready = Ready((0, 1, 3), 30.0, lambda: now[0])
    assert (ready.seconds_left, ready.missing) == (None, [0, 1, 3])
    assert not ready.ask(1)
    assert (ready.seconds_left, ready.missing, 1 in ready.asked) == (30.0, [0, 3], True)
    now[0] += 29
    assert not ready.ask(1)
    assert ready.seconds_left == 1.0
    now[0] += 5
    assert ready.seconds_left == 0.0
    assert not ready.ask(3)  # who comes late does not push the rest on at once
    assert ready.ask(1)
    assert ready.ask(0)
    ready.asked.clear()
    assert (ready.seconds_left, ready.missing) == (None, [0, 1, 3])
    assert Ready((2,)).ask(2)


@pytest.mark.parametrize(("name", "whole_game"), [("next", False), ("new", True)])
def test_nobody_goes_on_while_others_look(name, whole_game):
    """Whoever has asked sees for whom the table waits; the others see that it waits for them."""

    async def played():
        asking = Asking(live(session("cincinnati_v0", (0, 1, 2), seed=4)))
        table = asking.table
        table.start()
        shown = await at_the_end(asking, whole_game)
        asked = {"version": shown[0]["version"]}
        assert all((state["waits"], state["patience"]) == (None, None) for state in shown)
        before, hand = table.session, table.session.hand
        for seat, waits in (
            (1, ("Waiting for you and seat 2.", "Waiting for seat 0 and seat 2.")),
            (2, ("Waiting for you.", "Waiting for seat 0.")),
        ):
            status, state = await asking.seat(seat, name, asked)
            assert (status, state["asked"]) == (200, True)
            states = [table.state(each) for each in (0, 1)]
            assert [(each["asked"], each["waits"]) for each in states] == [
                (False, waits[0]),
                (True, waits[1]),
            ]
            assert 0 < states[0]["patience"] <= 30
        assert (await asking.seat(1, name, asked))[0] == 200  # again: it is too early
        assert (table.session, table.session.hand) == (before, hand)
        status, state = await asking.seat(0, name, asked)
        assert (status, state["asked"], state["waits"], state["patience"]) == (
            200,
            False,
            None,
            None,
        )
        assert (table.session is not before) == whole_game
        assert table.session.hand == (1 if whole_game else hand + 1)
        assert (await asking.seat(1, name, asked))[0] == 409  # a second press, too late
        await table.close()

    run(played)


def test_one_who_has_left_blocks_nobody():
    """After the wait whoever has asked deals, and nobody who has not."""

    async def played():
        asking = Asking(live(session("cincinnati_v0", (0, 2), seed=4), patience=0.0))
        table = asking.table
        table.start()
        shown = await at_the_end(asking)
        asked, hand = {"version": shown[0]["version"]}, table.session.hand
        _, state = await asking.seat(2, "next", asked)
        assert (state["asked"], state["waits"], state["patience"]) == (
            True,
            "Waiting for seat 0.",
            0.0,
        )
        assert table.session.hand == hand
        assert (await asking.seat(2, "next", asked))[0] == 200
        assert table.session.hand == hand + 1
        await table.close()

    run(played)


def test_each_new_game_after_a_file_has_the_next_number(tmp_path):
    """A number that the name ends in, up to four digits, counts on."""
    for names in (
        "g g-2 g-3",
        "h-7 h-8 h-9",
        "x-x x-x-2 x-x-3",
        "20260801-120000 20260801-120000-2",
    ):
        first, *following = (tmp_path / f"{name}.json" for name in names.split())
        first.touch()
        for expected in following:
            first = new_game_path("cincinnati_v0", first)
            assert first == expected
            first.touch()
