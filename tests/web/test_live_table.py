"""A seat's page receives only its own view, over whole games; requests of pages."""

import asyncio
import json
import random
import re
from unittest.mock import patch

import numpy as np
import pytest

pytest.importorskip("aiohttp")

from support.live_tables import (
    Client,
    cards_in,
    in_loop,
    known_cards,
    live,
    session,
    until_idle,
    whole_game,
)
from support.playthroughs import VARIANTS, mask_of, play_to_claim

from bideuchre_env import make
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.errors import OutputError
from bideuchre_env.evaluation import kernel_parts
from bideuchre_env.play import session as session_module
from bideuchre_env.play.levels import LEVELS
from bideuchre_env.play.saved import assign_players
from bideuchre_env.play.session import Session
from bideuchre_env.records.page.page import replay_page
from bideuchre_env.records.page.view import table_view
from bideuchre_env.web.server import MOST_WAITING


def resampled(game, seat, seed):
    """The game's row with the cards hidden from a seat redealt."""
    states = rows_of([game.row.tobytes()])
    words = np.random.default_rng(seed).integers(0, 2**64, size=2, dtype=np.uint64)
    resample_row(states, game._tables, seat, new_redeal(), *words)
    return states[0]


async def at_turn(client, seat=0):
    """Start the table, and return its state at the first turn of a seat."""
    client.table.start()
    await until_idle(client.table)
    _, state = await client.seat(seat, "table")
    assert state["view"]["turn"] == seat
    return state


@pytest.mark.parametrize(
    ("variant", "people"),
    [
        ("barrie_v0", (0, 1)),
        *(pytest.param(name, (0, 1, 2, 3), marks=pytest.mark.slow) for name in VARIANTS),
    ],
)
@in_loop
async def test_a_page_receives_nothing_that_its_seat_does_not_know(variant, people):
    """At every step of a game, a redeal of the hidden cards gives the same response."""
    game = session(variant, people, seed=3)
    client, rng, looked = Client(live(game)), random.Random(5), 0
    table = client.table
    table.start()
    while True:
        await until_idle(table)
        for seat in people:
            status, _, body = await client.ask("GET", "/api/table", client.token(seat))
            assert status == 200
            state = json.loads(body)
            state["view"]["remark"] = None  # it says which card the left bower is
            assert cards_in(json.dumps(state)) <= known_cards(game, seat), (seat, state)
            if game.seat is None:
                continue
            row, table._row = table._row, resampled(game, seat, looked)
            assert table.state(seat) == json.loads(body), seat
            table._row = row
            looked += 1
            hidden = [isinstance(hand, int) for hand in state["view"]["hands"]]
            assert hidden == [who != seat for who in range(4)]
        if game.over:
            break
        if game.hand_over:
            for seat in people[:-1]:
                await client.seat(seat, "next", {"version": table.version})
            seat, name, more = people[-1], "next", {}
        else:
            legal = game.legal()
            call = "pass" if "pass" in legal and rng.random() < 0.5 else rng.choice(legal)
            seat, name, more = game.seat, "act", {"action": call}
        status, state = await client.seat(seat, name, {"version": table.version, **more})
        assert status == 200, state
    assert looked > 20
    record = game.record()
    await table.close()
    record.verify()


def test_open_hands_are_recognized_as_a_leak():
    game = session("barrie_v0")
    seen, every = (table_view(game.row, game.rules, seat) for seat in (0, None))
    assert cards_in(json.dumps(seen)) <= known_cards(game, 0)
    assert not cards_in(json.dumps(every)) <= known_cards(game, 0)
    assert cards_in('Left plays the ten of hearts; "AS".') == {"TH", "AS"}


@in_loop
async def test_a_claim_is_accepted_only_if_the_seat_takes_every_trick():
    client = Client(live(session("barrie_v0", seed=4)))
    state = await at_turn(client)
    assert state["claim"] is False
    status, answer = await client.seat(0, "claim", {"version": state["version"]})
    assert (status, "certain to take every trick left" in answer["error"]) == (400, True)
    client = Client(live(play_to_claim(session("barrie_v0", seed=4))))
    state = await at_turn(client)
    assert state["claim"] is True
    status, state = await client.seat(0, "claim", {"version": state["version"]})
    assert (status, state["claim"], state["next"] or state["over"]) == (200, False, True)
    await client.table.close()


@in_loop
async def test_a_claim_is_offered_to_the_seat_to_act_only():
    client = Client(live(play_to_claim(session("barrie_v0", people=(0, 1), seed=2))))
    table = client.table
    table.start()
    seat = table.session.seat
    assert [table.state(each)["claim"] for each in (seat, 1 - seat)] == [True, False]
    status, _ = await client.seat(1 - seat, "claim", {"version": table.version})
    assert status == 400
    await table.close()


@pytest.mark.search
@in_loop
async def test_one_person_acts_takes_back_and_asks_for_hints():
    client = Client(live(session("cincinnati_v0", seed=4)))
    game = client.table.session
    state = await at_turn(client)
    version, legal = {"version": state["version"]}, state["view"]["legal"]
    flags = (state["hint"], state["undo"], state["next"], state["over"])
    assert flags == (True, False, False, False)  # calls of agents are not taken back
    status, advice = await client.seat(0, "hint", version)
    assert status == 200
    assert advice["rows"][0][0] in legal
    assert all(len(row) == len(advice["heads"]) for row in advice["rows"])
    for name, words in (("next", "dealt when this one is over"), ("new", "is over")):
        status, answer = await client.seat(0, name, version)
        assert (status, words in answer["error"]) == (400, True)
    status, answer = await client.seat(0, "act", {**version, "action": "XX"})
    assert (status, "'XX' is not legal now: expected " in answer["error"]) == (400, True)
    before = game.record().to_dict()
    assert (await client.seat(0, "act", {**version, "action": legal[0]}))[0] == 200
    status, answer = await client.seat(0, "act", {**version, "action": legal[0]})
    assert status == 409
    assert answer["error"].startswith("version: expected the current one; the game has changed")
    await until_idle(client.table)
    status, _ = await client.seat(0, "undo", {"version": client.table.version})
    assert status == 200
    assert game.record().to_dict() == before
    await client.table.close()


@in_loop
async def test_a_game_ends_with_a_replay_and_the_offer_of_another_game(monkeypatch):
    client = Client(live(session("cincinnati_v0", seed=4)))
    state = await at_turn(client)
    while not state["over"]:
        version = {"version": state["version"]}
        if state["next"]:
            assert not state["hint"]
            assert (await client.seat(0, "hint", version))[0] == 400
            assert (await client.seat(0, "next", version))[0] == 200
        else:
            action = {**version, "action": state["view"]["legal"][0]}
            assert (await client.seat(0, "act", action))[0] == 200
        await until_idle(client.table)
        _, state = await client.seat(0, "table")
    version = {"version": state["version"]}
    assert not state["undo"]
    assert (await client.seat(0, "undo", version))[0] == 400
    status, headers, page = await client.ask("GET", state["replay"])
    assert (status, headers["Content-Type"][:9]) == (200, "text/html")
    assert b"<!doctype html>" in page
    assert (await client.ask("GET", state["replay"][:-1]))[0] == 404
    for agents in (5, ["rule"] * 3, ["", 5, "rule", "rule"], ["", "./mine.py:A", "rule", "rule"]):
        assert (await client.seat(0, "new", {**version, "agents": agents}))[0] == 400
    assert state["view"]["agents"] == ["you", "Ben", "Cleo", "Dan"]
    assert state["levels"] == {name: list(level) for name, level in LEVELS.items()}
    table, notices, again = client.table, [], client.table._again
    monkeypatch.setattr(kernel_parts, "_missing", lambda part: part == "rule")
    text = kernel_parts.compile_notice(["rule"])

    def watched(old, agents, game):
        notices.append((table.state(0)["fault"], table.state(0)["notice"]))
        return again(old, agents, game)

    table._again = watched
    agents = ["person", *[LEVELS["easy"].agent] * 3]
    version = {"version": state["version"]}
    status, state = await client.seat(0, "new", {**version, "agents": agents})
    assert (status, state["over"], state["view"]["score"]) == (200, False, [0, 0])
    assert (table.session.agents, state["fault"], state["notice"]) == (agents, None, "")
    assert text.startswith("Compiling kernels")
    assert notices == [(None, text)]
    assert client.table.session.seed == 5
    await client.table.close()


@in_loop
async def test_several_people_act_for_themselves_and_take_nothing_back():
    client = Client(live(session("cincinnati_v0", (0, 2), seed=4)))
    game = client.table.session
    client.table.start()
    for _ in range(4):
        await until_idle(client.table)
        seat, version = game.seat, {"version": client.table.version}
        action, before = {**version, "action": game.legal()[0]}, game.record().to_dict()
        status, answer = await client.seat(2 - seat, "act", action)
        words = f"seat {2 - seat} is not to act: it is the turn of seat {seat}"
        assert (status, answer["error"]) == (400, words)
        assert (await client.seat(2 - seat, "hint", version))[0] == 400
        for each in (0, 2):
            status, answer = await client.seat(each, "undo", version)
            assert (status, "several people" in answer["error"]) == (400, True)
            _, state = await client.seat(each, "table")
            assert (state["undo"], state["hint"]) == (False, each == seat)
            assert state["view"]["agents"][2 - each] == "person"
        assert game.record().to_dict() == before
        assert (await client.seat(seat, "act", action))[0] == 200
    await client.table.close()


@in_loop
async def test_waiting_requests_are_answered_by_the_next_change_and_at_the_end():
    client = Client(live(session("cincinnati_v0", (0, 2), seed=4)), waits=3600.0)
    client.table.start()
    await until_idle(client.table)
    for seat in (0, 2):  # its arrival is a change, too
        await client.seat(seat, "table")
    state = client.table.state(client.table.session.seat)
    path = f"table?after={state['version']}"
    news = [asyncio.create_task(client.seat(seat, path)) for seat in (0, 2)]
    await asyncio.sleep(0.01)
    assert not any(each.done() for each in news)
    action = {"version": state["version"], "action": state["view"]["legal"][0]}
    await client.seat(state["view"]["seat"], "act", action)
    for status, newer in await asyncio.gather(*news):
        assert (status, newer["version"] > state["version"]) == (200, True)
    await until_idle(client.table)
    path = f"table?after={client.table.version}"
    waiting = [asyncio.create_task(client.seat(0, path)) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0.01)
    assert (await client.seat(0, path))[0] == 429
    await client.table.close()
    assert {status for status, _ in await asyncio.gather(*waiting)} == {200}
    assert (await client.seat(0, "act", action))[0] == 503


@in_loop
async def test_an_agent_error_is_logged_and_published_without_cards(tmp_path, monkeypatch, caplog):
    """The game stops until the person undoes an action. The host, who reads the log, may play."""
    source = "class Broken:\n    def act(self, observation, mask):\n        raise KeyError('AS')\n"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names = ["person", "./mine.py:Broken", "rule", "rule"]
    table = live(Session(make("cincinnati_v0"), [0], names, seed=2))
    table.start()
    await until_idle(table)
    while not (state := table.state(0))["fault"]:
        await table.act(0, state["version"], state["view"]["legal"][0])
        await until_idle(table)
    fault = "agent './mine.py:Broken' (seat 1) has failed in hand 1: KeyError in mine.py, line 3"
    assert state["fault"] == fault
    assert [entry.getMessage() for entry in caplog.records] == [f"AgentError: {fault}"]
    if state["undo"]:
        await table.undo(0, state["version"])
        assert table.state(0)["fault"] is None
    await table.close()


def numbers_from(seed):
    """Endless random numbers of 128 bits."""
    rng = random.Random(seed)
    while True:
        yield rng.getrandbits(128)


async def everything_sent(client, path):
    """Play a hand; return all that any seat can fetch, the log aside, and the name of the file.

    The random key of the replay, which differs in every run, is left out.
    """
    table, game, sent = client.table, client.table.session, [path.name]
    table.start()
    while True:
        await until_idle(table)
        while game.hand_over and table.state(0)["review"] is None:
            await asyncio.sleep(0.001)
        for seat in game.people:
            status, headers, body = await client.ask("GET", "/api/table", client.token(seat))
            sent += [status, sorted(headers.items()), body.decode()]
        if game.hand_over:
            break
        version = {"version": table.version}
        sent.append(await client.seat(game.seat, "hint", version))
        sent.append(await client.seat(game.seat, "act", {**version, "action": game.legal()[-1]}))
    [(key, page)] = table.replays.items()
    _, headers, body = await client.ask("GET", f"/replay/{key}")
    assert body.decode() == page
    sent += [sorted(headers.items()), page, *await client.ask("GET", "/")]
    return str(sent).replace(key, "")


@pytest.mark.slow
@pytest.mark.parametrize("people", [(0, 2), (0, 1, 2, 3)])
@in_loop
async def test_nothing_sent_during_a_game_determines_a_later_deal(people, tmp_path, caplog):
    """Two games whose draws are equal up to the end of hand 1 send the same, and deal other hands.

    No number that is sent is a seed of the second hand.
    """
    names, texts, deals = assign_players(people, "rule", ["rule"]), [], []
    for end in (1, 2):
        path = tmp_path / str(end) / "game.json"
        draws, later = numbers_from(4), numbers_from(end)
        with patch("secrets.randbits", lambda bits, draws=draws: next(draws) % 2**bits):
            game = Session(make("cincinnati_v0"), people, names, path=path)
            client = Client(live(game, reviewed=True))
            texts.append(await everything_sent(client, path))
        with patch("secrets.randbits", lambda bits, later=later: next(later) % 2**bits):
            game.next_hand()
        deals.append(game.record().hands[1]["deal"])
        await client.table.close()
    # how often the pages were updated depends on the time that the reviews take
    one, other = (re.sub(r'"(version|since)": \d+', "", text) for text in texts)
    assert one == other
    assert not caplog.records
    assert deals[0] != deals[1]
    env = make("cincinnati_v0").raw_env(max_hands=2)
    for number in {int(digits) for digits in re.findall(r"\d{1,39}", texts[0])}:
        if number < 2**128:
            env.reset(seed=number)
            while len(env.record.hands) < 2 and env.agents:
                env.step(int(mask_of(env).argmax()))
            assert env.record.hands[-1]["deal"] not in deals


@in_loop
async def test_the_seed_of_one_person_is_published_at_the_end_only():
    seed = 2**100 + 2**60 + 12345
    client = Client(live(session("cincinnati_v0", seed=seed)))
    table, pages = client.table, []
    table.start()
    while True:
        await until_idle(table)
        state = table.state(0)
        pages.append(json.dumps(state) + "".join(table.replays.values()))
        if state["over"]:
            break
        change = table.next_hand if state["next"] else table.act
        await change(0, state["version"], *state["view"]["legal"][:1])
    assert [str(seed) in page for page in pages] == [False] * (len(pages) - 1) + [True]
    assert len(table.session.record().hands) == 2
    await table.close()


@in_loop
async def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    def full(*arguments, **more):
        raise OutputError("no room")

    client = Client(live(session("cincinnati_v0", seed=4, path=tmp_path / "game.json")))
    state = await at_turn(client)
    action = {"version": state["version"], "action": state["view"]["legal"][0]}
    with monkeypatch.context() as patch:
        patch.setattr(session_module, "write_file", full)
        status, answer = await client.seat(0, "act", action)
    assert (status, answer["error"]) == (507, "no room")
    assert (await client.seat(0, "act", action))[0] == 200
    await client.table.close()


@in_loop
@pytest.mark.slow
async def test_the_review_is_added_to_the_replay():
    game = whole_game()
    table = live(game, reviewed=True, adviser="rule")
    table.start()
    version = table.version
    while (state := table.state(0))["review"] is None:
        assert state["over"]
        await table.later(version, 60)
        version = table.version
    assert re.match(r"(no|\d+) mistakes? in \d+ decisions?", state["review"])
    assert [hand["score"] for hand in state["sheet"]][-1] == state["view"]["score"]
    [page] = table.replays.values()
    assert page != replay_page(game.record())
    await table.close()
