"""What a seat's page receives: its own view over whole games, and nothing that others hold."""

from __future__ import annotations

import asyncio
import json
import random

import numpy as np
import pytest

pytest.importorskip("aiohttp")

from support.live_tables import Asking, known, live, named, quiet, run, session
from support.playthroughs import VARIANTS
from support.terminal_games import to_a_claim

from bideuchre_env import make
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.errors import OutputError
from bideuchre_env.play import session as session_module
from bideuchre_env.play.session import Session
from bideuchre_env.records.page.page import replay_page
from bideuchre_env.records.page.view import table_view
from bideuchre_env.web.server import MOST_WAITING


def resampled(game, seat, seed):
    """The game's row with all that a seat cannot know dealt anew."""
    states = rows_of([game.row.tobytes()])
    words = np.random.default_rng(seed).integers(0, 2**64, size=2, dtype=np.uint64)
    resample_row(states, game._tables, seat, new_redeal(), *words)
    return states[0]


def test_a_seat_is_offered_a_claim_and_the_hand_is_played_out():
    """A claim is refused while the seat may lose a trick."""

    async def played():
        asking = Asking(live(session("barrie_v0", seed=4)))
        state = await at_turn(asking)
        assert state["claim"] is False
        status, answer = await asking.seat(0, "claim", {"version": state["version"]})
        assert (status, "if it takes every trick left" in answer["error"]) == (400, True)
        asking = Asking(live(to_a_claim(session("barrie_v0", seed=4))))
        state = await at_turn(asking)
        assert state["claim"] is True
        status, state = await asking.seat(0, "claim", {"version": state["version"]})
        assert (status, state["claim"], state["next"] or state["over"]) == (200, False, True)
        await asking.table.close()

    run(played)


@pytest.mark.parametrize("people", [(0, 1), (0, 1, 2, 3)], ids=len)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_page_receives_nothing_that_its_seat_does_not_know(variant, people):
    """On the wire, at every moment of whole games: what others hold could as well be otherwise."""

    async def played():
        game = session(variant, people, seed=3)
        asking, rng, looked = Asking(live(game)), random.Random(5), 0
        table = asking.table
        table.start()
        while True:
            await quiet(table)
            for seat in people:
                status, _, body = await asking.ask(
                    "GET",
                    "/api/table",
                    {"Authorization": f"Bearer {asking.server.seats.tokens[seat]}"},
                )
                assert status == 200
                state = json.loads(body)
                state["view"]["remark"] = None  # which card the left bower is
                assert named(json.dumps(state)) <= known(game, seat), (seat, state)
                if game.seat is None:
                    continue
                row, table._row = table._row, resampled(game, seat, looked)
                assert table.state(seat) == json.loads(body), seat
                table._row = row
                looked += 1
                assert all(
                    isinstance(hand, int) == (who != seat)
                    for who, hand in enumerate(state["view"]["hands"])
                )
            if game.over:
                break
            if game.hand_over:
                for seat in people[:-1]:
                    await asking.seat(seat, "next", {"version": table.version})
                seat, name, more = people[-1], "next", {}
            else:
                legal = game.legal()
                call = "pass" if "pass" in legal and rng.random() < 0.5 else rng.choice(legal)
                seat, name, more = game.seat, "act", {"action": call}
            status, state = await asking.seat(seat, name, {"version": table.version, **more})
            assert status == 200, state
        assert looked > 20
        record = game.record()
        await table.close()
        return record

    run(played).verify()


def test_the_look_at_the_wire_finds_a_leak():
    """Open hands name what a seat does not know, as codes and in words."""
    game = session("barrie_v0")
    seen, every = (table_view(game.row, game.rules, seat) for seat in (0, None))
    assert named(json.dumps(seen)) <= known(game, 0)
    assert not named(json.dumps(every)) <= known(game, 0)
    assert named('Left plays the ten of hearts; "AS".') == {"TH", "AS"}


async def at_turn(asking, seat=0):
    """The state of a seat that is to act."""
    asking.table.start()
    await quiet(asking.table)
    _, state = await asking.seat(seat, "table")
    assert state["view"]["turn"] == seat
    return state


def test_what_one_person_may_do():
    """Act, take back, ask for a hint, deal the next hand, begin a new game; in order only."""

    async def played():
        asking = Asking(live(session("cincinnati_v0", seed=4)))
        state = await at_turn(asking)
        version = {"version": state["version"]}
        assert (state["hint"], state["undo"], state["next"], state["over"]) == (
            True,
            False,  # agents may have acted: that is not for a person to take back
            False,
            False,
        )
        status, advice = await asking.seat(0, "hint", version)
        assert status == 200
        assert advice["rows"][0][0] in state["view"]["legal"]
        assert all(len(row) == len(advice["heads"]) for row in advice["rows"])
        assert advice["why"].endswith(".")
        for name, words in (("next", "dealt when this one is over"), ("new", "is over")):
            status, said = await asking.seat(0, name, version)
            assert (status, words in said["error"]) == (400, True)
        status, said = await asking.seat(0, "act", {**version, "action": "XX"})
        assert (status, "is not what you may call" in said["error"]) == (400, True)
        before = asking.table.session.record().to_dict()
        legal = state["view"]["legal"]
        assert (await asking.seat(0, "act", {**version, "action": legal[0]}))[0] == 200
        status, said = await asking.seat(0, "act", {**version, "action": legal[0]})
        assert (status, said["error"]) == (409, "the game has gone on meanwhile")
        await quiet(asking.table)
        status, _ = await asking.seat(0, "undo", {"version": asking.table.version})
        assert status == 200
        assert asking.table.session.record().to_dict() == before
        over = {}
        while not over:
            await quiet(asking.table)
            _, state = await asking.seat(0, "table")
            version, legal = {"version": state["version"]}, state["view"]["legal"]
            if state["over"]:
                over = state
            elif state["next"]:
                assert not state["hint"]
                assert (await asking.seat(0, "hint", version))[0] == 400
                assert (await asking.seat(0, "next", version))[0] == 200
            else:
                assert (await asking.seat(0, "act", {**version, "action": legal[0]}))[0] == 200
        assert not over["undo"]
        assert (await asking.seat(0, "undo", version))[0] == 400
        status, headers, page = await asking.ask("GET", over["replay"])
        assert (status, headers["Content-Type"][:9]) == (200, "text/html")
        assert b"<!doctype html>" in page
        assert (await asking.ask("GET", over["replay"][:-1]))[0] == 404
        status, state = await asking.seat(0, "new", version)
        assert (status, state["over"], state["view"]["score"]) == (200, False, [0, 0])
        assert asking.table.session.seed == 5
        await asking.table.close()

    run(played)


def test_several_people_take_nothing_back_and_act_for_themselves():
    """A seat cannot act for another, nor ask for its hint, nor take its card back."""

    async def played():
        asking = Asking(live(session("cincinnati_v0", (0, 2), seed=4)))
        asking.table.start()
        for _ in range(4):
            await quiet(asking.table)
            seat = asking.table.session.seat
            version = {"version": asking.table.version}
            before = asking.table.session.record().to_dict()
            legal = asking.table.session.legal()
            status, said = await asking.seat(2 - seat, "act", {**version, "action": legal[0]})
            assert (status, said["error"]) == (
                400,
                f"seat {2 - seat} is not to act: it is the turn of seat {seat}",
            )
            assert (await asking.seat(2 - seat, "hint", version))[0] == 400
            for each in (0, 2):
                status, said = await asking.seat(each, "undo", version)
                assert (status, "several people" in said["error"]) == (400, True)
                _, state = await asking.seat(each, "table")
                assert (state["undo"], state["hint"]) == (False, each == seat)
                assert state["view"]["agents"][2 - each] == "friend"
            assert asking.table.session.record().to_dict() == before
            assert (await asking.seat(seat, "act", {**version, "action": legal[0]}))[0] == 200
        await asking.table.close()

    run(played)


def test_whoever_waits_is_told_at_once():
    """A request for what is new is answered by the next change, and when the server ends."""

    async def played():
        asking = Asking(live(session("cincinnati_v0", (0, 2), seed=4)), waits=3600.0)
        state = await at_turn(asking, asking.table.session.seat or 0)
        new = [
            asyncio.create_task(asking.seat(seat, f"table?after={state['version']}"))
            for seat in (0, 2)
        ]
        await asyncio.sleep(0.01)
        assert not any(each.done() for each in new)
        action = {"version": state["version"], "action": state["view"]["legal"][0]}
        await asking.seat(state["view"]["seat"], "act", action)
        for status, told in await asyncio.gather(*new):
            assert (status, told["version"] > state["version"]) == (200, True)
        await quiet(asking.table)
        last = f"table?after={asking.table.version}"
        waiting = [asyncio.create_task(asking.seat(0, last)) for _ in range(MOST_WAITING)]
        await asyncio.sleep(0.01)
        assert (await asking.seat(0, last))[0] == 429
        await asking.table.close()
        assert {status for status, _ in await asyncio.gather(*waiting)} == {200}
        assert (await asking.seat(0, "act", action))[0] == 503

    run(played)


def test_an_agent_that_fails_is_told_and_undo_goes_on(tmp_path, monkeypatch, caplog):
    """The game stands still, saved; the log says why, which may name cards that a page must not."""
    (tmp_path / "mine.py").write_text(
        "class Breaks:\n    def act(self, observation, mask):\n        raise KeyError('oh')\n"
        "class Cheats:\n    def act(self, observation, mask):\n        return 36\n"
    )

    monkeypatch.chdir(tmp_path)

    async def played(name, detail):
        caplog.clear()
        names = ["person", f"./mine.py:{name}", "rule", "rule"]
        game = Session(make("cincinnati_v0"), [0], names, seed=2)
        table = live(game)
        table.start()
        await quiet(table)
        while not (state := table.state(0))["fault"]:
            await table.act(0, state["version"], state["view"]["legal"][0])
            await quiet(table)
        assert state["fault"] == "seat 1 cannot go on: see where the server runs"
        assert detail in caplog.text
        if state["undo"]:
            await table.undo(0, state["version"])
            assert table.state(0)["fault"] is None
        await table.close()

    run(lambda: played("Breaks", "KeyError: 'oh'"))
    run(lambda: played("Cheats", "legal: "))


def test_a_disk_that_is_full_is_said_and_nothing_is_lost(tmp_path, monkeypatch):
    """The request is answered by 507, and can be made again."""

    def full(*given):
        raise OutputError("no room")

    async def played():
        asking = Asking(live(session("cincinnati_v0", seed=4, path=tmp_path / "game.json")))
        state = await at_turn(asking)
        action = {"version": state["version"], "action": state["view"]["legal"][0]}
        monkeypatch.setattr(session_module, "write_file", full)
        status, said = await asking.seat(0, "act", action)
        assert (status, said["error"]) == (507, "no room")
        monkeypatch.undo()
        assert (await asking.seat(0, "act", action))[0] == 200
        await asking.table.close()

    run(played)


def test_the_review_comes_behind_the_replay():
    """The replay at once; with the review, once that is there, its marks are in it too."""

    async def played():
        game = session("cincinnati_v0", seed=4)
        while not game.over:
            game.advance()
            if game.hand_over:
                game.next_hand()
            elif game.waits_for_person:
                game.act(0, game.legal()[0])
        table = live(game, reviewed=True, adviser="rule")
        table.start()
        version = table.version
        while (state := table.state(0))["review"] is None:
            assert state["over"]
            await table.later(version, 60)
            version = table.version
        assert "reviewed by rule" in state["review"]
        [page] = table.replays.values()
        assert page != replay_page(game.record())
        await table.close()

    run(played)
