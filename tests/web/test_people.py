"""People at a live table: names, presence, links that survive a restart, guests, the host."""

import asyncio
import json
import os
import stat
from unittest.mock import Mock

import pytest

pytest.importorskip("aiohttp")

from support.live_tables import (
    Client,
    cards_in,
    in_loop,
    known_cards,
    live,
    play_to_the_end,
    session,
    until_idle,
)

from bideuchre_env import variants
from bideuchre_env.cli.main import build_parser
from bideuchre_env.cli.play import _next_game
from bideuchre_env.core.state import Phase
from bideuchre_env.errors import OutputError, RecordError
from bideuchre_env.play.levels import LEVELS
from bideuchre_env.play.seats import MOST_LETTERS, Seats
from bideuchre_env.play.session import Session

LONG = "x" * (MOST_LETTERS + 1)
NEW = "n" * 43
BAD_NAMES = (
    *("", "  ", LONG, "<b>Bo</b>", "a&lt;", "a\x07b", "a\nb", "a\u202eb", "a\x00", 5, None),
    *("\uff1cb\uff1e", "\u3164", "\u2800\ufe0f", "--", "You", "PERSON", "\uff42en", "Dan"),
)


def code_of(client):
    """The headers of a guest without a seat."""
    return {"Authorization": f"Bearer {client.server.code}", "Content-Type": "application/json"}


async def join_with(client, headers, **fields):
    status, _, answer = await client.ask("POST", "/api/join", headers, json.dumps(fields).encode())
    return status, json.loads(answer)


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
@in_loop
async def test_a_name_that_is_long_or_reserved_or_has_markup_or_no_letters_is_refused(name):
    client = Client(live(session("cincinnati_v0", (0, 2))))
    status, answer = await client.seat(0, "name", {"name": name})
    assert (status, answer["error"].startswith("name=")) == (400, True)
    assert client.server.seats.names == {}
    assert client.table.state(2)["view"]["agents"][0] == "person"


@in_loop
async def test_a_name_is_displayed_to_others_and_belongs_to_one_person():
    client = Client(live(session("cincinnati_v0", (0, 2))))
    assert (await client.seat(0, "name", {"name": " Ana  María "}))[0] == 200
    assert client.table.state(2)["view"]["agents"] == ["Ana María", "Ben", "you", "Dan"]
    status, answer = await client.seat(2, "name", {"name": "ana maría"})
    assert (status, "no other player has" in answer["error"]) == (400, True)
    for other in ("Ana Mari\u0301a", "An\ufe00a María\u3164"):  # looks the same
        assert (await client.seat(2, "name", {"name": other}))[0] == 400
    assert (await client.seat(0, "name", {"name": "Ana"}))[0] == 200
    assert (await client.seat(2, "name", {"name": "ana maría"}))[0] == 200
    assert client.table.session.record().agents[0] == "person"


@in_loop
async def test_a_person_whose_page_no_longer_polls_is_away():
    """Coming and leaving are published, and outdate no command."""
    client = Client(live(session("cincinnati_v0", (0, 1)), grace=0.05))
    table = client.table
    version = table.version
    assert table.state(0)["presence"] == ["free", "free", None, None]
    for seat in (0, 1):
        await client.seat(seat, "name", {"name": f"P{seat}"})
    assert table.state(0)["presence"] == ["away", "away", None, None]
    await client.seat(1, "table")
    assert table.state(0)["presence"][1] == "here"
    before = table.version
    await table.later(before, 10)
    assert (table.state(0)["presence"][1], table.version > before) == ("away", True)
    table._check(version)


@in_loop
async def test_links_and_names_survive_a_restart(tmp_path):
    """A seat's old token still opens that seat only, and no other token does."""
    path = tmp_path / "game.json"
    client = Client(live(session("barrie_v0", (0, 2), seed=2, path=path)))
    client.table.start()
    await client.seat(2, "name", {"name": "Cleo"})
    await until_idle(client.table)
    seat = client.table.session.seat
    action = {"version": client.table.version, "action": client.table.session.legal()[0]}
    await client.seat(seat, "act", action)
    old, place = dict(client.server.seats.tokens), client.table.session.decisions
    await client.table.close()
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o644)
    game = Session.resume(path)
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = Client(live(game))
    assert (again.server.seats.tokens, game.decisions >= place) == (old, True)
    assert game.names == ["person", "Ben", "Cleo", "Dan"]
    for seat, token in old.items():
        status, _, body = await again.ask("GET", "/api/table", {"Authorization": f"Bearer {token}"})
        state = json.loads(body)
        state["view"]["remark"] = None  # it says which card the left bower is
        assert (status, state["view"]["seat"]) == (200, seat)
        assert cards_in(json.dumps(state)) <= known_cards(game, seat)
        others = (
            token[:-1],
            token + "x",
            "",
            "Cleo",
            again.server.code,
            *Seats([0]).tokens.values(),
        )
        for other in others:
            headers = {"Authorization": f"Bearer {other}"}
            status, _, body = await again.ask("GET", "/api/table", headers)
            assert (status, cards_in(body.decode())) == (401, set())
    await again.table.close()


def test_a_next_game_has_the_same_links(tmp_path):
    game = session("cincinnati_v0", (0, 2), path=tmp_path / "g.json")
    game.join(0, "Ana")
    arguments = build_parser().parse_args(["play", "--web", "--file", str(game.path)])
    with game, _next_game(game, game.agents, variants["barrie_v0"], arguments) as following:
        assert following.seats.tokens == game.seats.tokens
        assert (following.names[0], following.variant) == ("Ana", "barrie_v0")
        assert following.path != game.path
    with Session.resume(following.path) as again:
        assert (again.seats.tokens, again.names[0]) == (game.seats.tokens, "Ana")


@pytest.mark.parametrize(
    "seats",
    [
        5, {"0": 5}, {"1": {"token": "x" * 43, "name": None}}, {"0": {"token": "", "name": None}},
        {"0": {"token": "x" * 43, "name": LONG}}, {"0": {"token": "x" * 43, "name": 5}},
        {"0": {"token": "é" * 43, "name": None}}, {"0": {"token": "x" * 43}},
        {seat: {"token": "x" * 43, "name": None} for seat in "02"},
    ],
)  # fmt: skip
def test_a_file_with_damaged_seats_is_refused_unchanged(seats, tmp_path):
    """A short token in a file would open the seat to everyone."""
    path = tmp_path / "game.json"
    session("cincinnati_v0", (0, 2), path=path).close()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seats": seats}))
    before = path.read_bytes()
    with pytest.raises(RecordError, match=r"is no saved game: (seats|name)="):
        Session.resume(path)
    assert path.read_bytes() == before


def test_a_file_without_seats_gets_new_links(tmp_path):
    path = tmp_path / "game.json"
    session("cincinnati_v0", path=path).close()
    data = json.loads(path.read_text())
    del data["seats"]
    path.write_text(json.dumps(data))
    with Session.resume(path) as game:
        assert len(game.seats.tokens[0]) == 43


@in_loop
async def test_a_guest_with_the_code_takes_a_free_seat_and_sees_nothing_before():
    client = Client(live(session("cincinnati_v0", (0, 1, 2), seed=4)))
    code = code_of(client)

    async def join(name, seat, headers=code, token=NEW):
        return await join_with(client, headers, name=name, seat=seat, token=token)

    for path in ("/api/table", "/api/seats"):
        for other in ({}, {"Authorization": "Bearer AAAAAAAA"}):
            assert (await client.ask("GET", path, other))[0] == 401
    assert (await client.ask("GET", "/api/table", code))[0] == 401
    _, _, body = await client.ask("GET", "/api/seats", code)
    assert json.loads(body) == {"seats": ["person", None, None, "Dan"]}
    for seat in (0, 3, 4, -1):  # the host's, an agent's, none
        assert (await join("Bo", seat))[0] == 400
    assert (await join(LONG, 1))[0] == 400
    wrong = {**code, "Authorization": "Bearer AAAAAAAA"}
    assert (await join("Bo", 1, wrong))[0] == 401
    assert (await join("Bo", 1, client.token(0) | {"Content-Type": "application/json"}))[0] == 401
    for token in ("x" * 42, "x" * 44, "é" * 43, client.server.seats.tokens[2]):
        assert (await join("Bo", 1, token=token))[0] == 400
    old = client.token(1)
    status, answer = await join("Bo", 1)
    assert (status, answer["view"]["seat"]) == (200, 1)
    assert client.server.seats.tokens[1] == NEW
    assert (await client.ask("GET", "/api/table", old))[0] == 401  # the printed link
    assert (await join("Bo", 1))[0] == 200  # again, after a lost answer
    assert (await join("Eve", 1, token="e" * 43))[0] == 400  # taken
    client.server.invite("192.168.1.5")
    invitation = client.table.state(0)["host"]["invitation"]
    assert invitation["address"].endswith(f"#{client.server.code}")
    assert client.table.state(1)["host"] is None
    assert (await join("Cy", 2, token="c" * 43))[0] == 200
    assert client.table.state(0)["host"]["invitation"] is None


@in_loop
async def test_no_guest_takes_a_seat_whose_page_is_open():
    client = Client(live(session("cincinnati_v0", (0, 2), seed=4), grace=0.05))
    guest = {"name": "Bo", "seat": 2, "token": NEW}
    client.server.invite("127.0.0.1")
    with client.table.presence.polling(2):
        assert client.table.state(2)["presence"][2] == "free"
        assert client.table.state(0)["host"]["invitation"] is None
        assert (await join_with(client, code_of(client), **guest))[0] == 400
        version = client.table.version
    await client.table.later(version, 10)
    assert client.table.state(0)["host"]["invitation"]
    assert (await join_with(client, code_of(client), **guest))[0] == 200


@in_loop
async def test_a_guest_who_leaves_joins_all_the_same_and_may_ask_again():
    client = Client(live(session("cincinnati_v0", (0, 2), seed=4)))
    guest = {"name": "Bo", "seat": 2, "token": NEW}
    async with client.table._lock:
        request = asyncio.create_task(join_with(client, code_of(client), **guest))
        await asyncio.sleep(0.05)
        request.cancel()
    await asyncio.gather(*client.server._changes)
    assert client.server.seats.names == {2: "Bo"}
    assert (await join_with(client, code_of(client), **guest))[0] == 200


def test_a_guest_s_token_is_not_kept_if_saving_fails(tmp_path, monkeypatch):
    game = session("cincinnati_v0", (0, 2), path=tmp_path / "g.json")
    before = game.seats.to_dict()
    monkeypatch.setattr(
        "bideuchre_env.play.session.write_file", Mock(side_effect=OutputError("full"))
    )
    with pytest.raises(OutputError):
        game.join(2, "Bo", NEW)
    assert game.seats.to_dict() == before
    game.close()


@in_loop
async def test_only_the_host_sets_the_speed():
    client = Client(live(session("cincinnati_v0", (1, 2)), pause=0.5))
    status, answer = await client.seat(2, "pause", {"pause": 1})
    assert (status, answer["error"]) == (400, "seat=2: expected the host, seat 1")
    for pause in (-0.1, 61, "1", None, True, float("inf"), 10**400):
        body = json.dumps({"pause": pause}).encode()
        headers = client.token(1) | {"Content-Type": "application/json"}
        assert (await client.ask("POST", "/api/pause", headers, body))[0] == 400
    assert client.table.state(1)["host"]["pause"] == 0.5
    assert (await client.seat(1, "pause", {"pause": 1.5}))[0] == 200
    assert (client.table.state(1)["host"]["pause"], client.table._pause) == (1.5, 1.5)


@in_loop
async def test_only_the_host_begins_another_game_and_the_level_takes_the_agents_seats():
    client = Client(live(session("cincinnati_v0", (0, 2), seed=4)))
    table, before = client.table, client.table.session
    table.start()
    await until_idle(table)
    own = {"variant": "", "level": ""}
    for seat, change, words in (
        (2, {}, "expected the host"),
        (0, {"variant": "poker"}, "variant='poker': expected cincinnati_v0"),
        (0, {"level": "./mine.py:A"}, "expected easy, normal, hard, master"),
    ):
        status, answer = await client.seat(
            seat, "begin", {"version": table.version, **own, **change}
        )
        assert (status, words in answer["error"]) == (400, True)
    assert (await client.seat(0, "begin", {"version": 0, **own}))[0] == 409
    assert table.session is before
    page = table.state(2)["game"]
    fields = {"version": table.version, "variant": "simplified_v0", "level": "easy"}
    status, state = await client.seat(0, "begin", fields)
    assert (status, state["view"]["hand"], table.session.variant) == (200, 1, "simplified_v0")
    easy = LEVELS["easy"].agent
    assert table.session.agents == ["person", easy, "person", easy]
    assert table.state(2)["game"] != page
    await until_idle(table)
    fields = {"version": table.version, **own}
    assert (await client.seat(0, "begin", fields))[0] == 200
    assert (table.session.variant, table.session.agents[1]) == ("simplified_v0", easy)
    await table.close()


@in_loop
async def test_only_the_host_chooses_the_agents_of_a_rematch():
    client = Client(live(session("cincinnati_v0", (0, 2), seed=4)))
    table, before = client.table, client.table.session
    table.start()
    version = await play_to_the_end(client, True)
    own, easy = before.agents, LEVELS["easy"].agent
    assert (table.state(0)["choices"] is None, table.state(2)["choices"]) == (False, None)
    agents = ["person", easy, "person", easy]
    status, answer = await client.seat(2, "new", {**version, "agents": agents})
    assert (status, answer["error"]) == (400, "seat=2: expected the host, seat 0")
    assert not table.state(2)["asked"]
    assert (await client.seat(2, "new", version))[0] == 200
    ignored = [{"x": 1}, easy, "random", easy]
    assert (await client.seat(0, "new", {**version, "agents": ignored}))[0] == 200
    assert (table.session is before, table.session.agents) == (False, agents)
    assert own != agents
    await table.close()


@pytest.mark.parametrize("people", [(0,), (0, 1, 2, 3)])
@in_loop
async def test_the_last_card_plays_itself_and_hands_are_open_only_after_the_hand(people):
    client = Client(live(session("cincinnati_v0", people, seed=4)))
    table, game, chosen = client.table, client.table.session, 0
    if len(people) > 1:
        game.join(1, "Ana")
    table.start()
    while True:
        await until_idle(table)
        states = [table.state(seat) for seat in people]
        if states[0]["next"]:
            break
        assert all(state["hands"] is None for state in states)
        chosen += game.row["phase"] == Phase.PLAY
        action = {"version": table.version, "action": game.legal()[0]}
        assert (await client.seat(game.seat, "act", action))[0] == 200
    assert chosen == (game.rules.tricks - 1) * len(people)
    deal = game.record().hands[0]["deal"]
    [page] = table.replays.values()
    assert ("Ana" in page) == (len(people) > 1)
    for state in states:
        assert [set(hand) for hand in state["hands"]] == [set(hand) for hand in deal]
    if len(people) == 1:  # an undo leads back to a choice
        await client.seat(0, "undo", {"version": table.version})
        assert (game.row["trick"], game.waits_for_person) == (game.rules.tricks - 2, True)
        assert table.state(0)["hands"] is None
    await asyncio.sleep(0)
    await table.close()
