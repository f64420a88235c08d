"""The next hand begins when all people have asked for it, or after a displayed wait."""

import pytest

pytest.importorskip("aiohttp")

from support.live_tables import Client, live, run, session, wait_until_idle

from bideuchre_env.play.saved import new_game_path
from bideuchre_env.web.table import ReadySeats


async def play_to_the_end(client, whole_game):
    """Play to the end of the hand, or with `whole_game` of the game, with first legal actions.

    Return {"version": number of the displayed state}.
    """
    table = client.table
    while True:
        await wait_until_idle(table)
        state = table.state(0)
        version = {"version": state["version"]}
        if state["over"] or (state["next"] and not whole_game):
            return version
        if state["next"]:
            for seat in table.session.people:
                assert (await client.seat(seat, "next", version))[0] == 200
        else:
            action = {**version, "action": table.session.legal()[0]}
            assert (await client.seat(table.session.seat, "act", action))[0] == 200


def test_a_table_is_ready_when_all_ask_or_a_wait_has_passed():
    """The wait begins with the first request; after it, a seat's second request is enough."""
    now = [100.0]
    ready = ReadySeats((0, 1, 3), 30.0, lambda: now[0])
    assert (ready.seconds_left, ready.missing) == (None, [0, 1, 3])
    assert not ready.add(1)
    assert (ready.seconds_left, ready.missing, 1 in ready.ready_at) == (30.0, [0, 3], True)
    now[0] += 29
    assert not ready.add(1)
    assert ready.seconds_left == 1.0
    now[0] += 5
    assert ready.seconds_left == 0.0
    assert not ready.add(3)  # the first request of a seat does not end the wait of others
    assert ready.add(1)
    assert ready.add(0)
    ready.ready_at.clear()
    assert (ready.seconds_left, ready.missing) == (None, [0, 1, 3])
    assert ReadySeats((2,)).add(2)


@pytest.mark.parametrize(("name", "whole_game"), [("next", False), ("new", True)])
def test_the_next_hand_or_game_waits_for_all_people(name, whole_game):
    """Every page shows the seats for which the table waits."""

    async def check():
        client = Client(live(session("cincinnati_v0", (0, 1, 2), seed=4)))
        table = client.table
        table.start()
        version = await play_to_the_end(client, whole_game)
        before, hand = table.session, table.session.hand
        for seat, waits in (
            (1, ("Waiting for you and partner.", "Waiting for left and right.")),
            (2, ("Waiting for you.", "Waiting for right.")),
            (1, ("Waiting for you.", "Waiting for right.")),  # again: it is too early
        ):
            assert (await client.seat(seat, name, version))[0] == 200
            states = [table.state(each) for each in (0, 1)]
            assert [each["asked"] for each in states] == [False, True]
            assert tuple(each["waits"] for each in states) == waits
            assert 0 < states[0]["patience"] <= 30
        assert (table.session, table.session.hand) == (before, hand)
        status, state = await client.seat(0, name, version)
        assert (status, state["asked"], state["waits"]) == (200, False, None)
        assert (table.session is not before) == whole_game
        assert table.session.hand == (1 if whole_game else hand + 1)
        assert (await client.seat(1, name, version))[0] == 409  # it is too late
        await table.close()

    run(check)


def test_after_the_wait_a_repeated_request_deals_the_hand():
    async def check():
        client = Client(live(session("cincinnati_v0", (0, 2), seed=4), patience=0.0))
        table = client.table
        table.start()
        version = await play_to_the_end(client, False)
        hand = table.session.hand
        _, state = await client.seat(2, "next", version)
        assert (state["asked"], state["waits"]) == (True, "Waiting for partner.")
        assert (state["patience"], table.session.hand) == (0.0, hand)
        assert (await client.seat(2, "next", version))[0] == 200
        assert table.session.hand == hand + 1
        await table.close()

    run(check)


@pytest.mark.parametrize(
    "names", ["g g-2 g-3", "h-7 h-8 h-9", "x-x x-x-2 x-x-3", "20260801-120000 20260801-120000-2"]
)
def test_the_file_of_a_new_game_has_the_next_number(names, tmp_path):
    """A number of up to four digits at the end of the name is increased."""
    first, *following = (tmp_path / f"{name}.json" for name in names.split())
    first.touch()
    for expected in following:
        first = new_game_path("cincinnati_v0", first)
        assert first == expected
        first.touch()
