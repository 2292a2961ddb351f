"""What one account can do in a day: every quota at its limit, and one above."""

import random
import re
import string

import pytest

from harness import cost, times
from harness.client import new_id
from harness.command import hansard
from harness.people import PASSWORD, World
from harness.places import DOCS
from harness.server import UNLIMITED, Server

# What every event is charged for in addition to its texts, in bytes.
RECORD = 256
ROOMS, WORKSPACES, INVITES, EVENTS = 4, 2, 3, 40
# Exactly two messages of four letters.
SCHEDULED_BYTES = 2 * (RECORD + 4)
BYTES = 12_000
QUOTAS = {
    "ROOMS": ROOMS, "WORKSPACES": WORKSPACES, "INVITES": INVITES, "SCHEDULED_BYTES": SCHEDULED_BYTES, "EVENTS": EVENTS,
    "BYTES": BYTES,
}
# A quota of bytes, how many times as much the read models may grow by, and a text of nearly the maximum length.
DAY_BYTES, VIEWS_FACTOR = 8 * cost.MIB, 5
LONG_TEXT_BYTES = 16_000
# The data of a message in bytes, and how many such messages wait. Some of it stays in the read model's page cache of 4
# MiB.
WAITING_BYTES, WAITING = 60_000, 500
WAITING_MEMORY = 22 * cost.MIB


@pytest.fixture(scope="module", autouse=True)
def daylight():
    """A test of a daily quota does not start shortly before the next day."""
    times.within_one_day(300)


def start(folder, **settings) -> Server:
    environment = {f"HANSARD_QUOTAS_{name}_PER_DAY": str(number) for name, number in QUOTAS.items()}
    environment |= {"HANSARD_QUOTAS_ENABLED": "true"} | {f"HANSARD_{name}": str(value) for name, value in settings.items()}
    return Server(folder / "data", environment=UNLIMITED | environment).start()


@pytest.fixture(scope="module")
def tight(tmp_path_factory):
    server = start(tmp_path_factory.mktemp("tight"))
    yield server
    server.end()


@pytest.fixture
def world(tight):
    return World(tight)


def room_body() -> dict:
    return {"id": new_id(), "name": "Tea"}


def later(text: str) -> dict:
    return {"text": text, "sendAt": times.later(hours=1)}


def test_rooms(world):
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    first = room_body()
    anna.post("/v1/rooms", first)
    anna.direct(ben)
    anna.channel(anna.workspace())
    results = anna.ingest([{"op": "room.create", "id": new_id(), "name": "x"} for _ in range(2)])
    assert [result.get("code", result["status"]) for result in results] == [201, "quota_exceeded"]
    refused = anna.request("POST", "/v1/rooms", room_body())
    assert refused.status_code == 429 and refused.json()["code"] == "quota_exceeded"
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400
    anna.refused("quota_exceeded", "POST", "/v1/rooms", {"kind": "direct", "memberIds": [carla.id]})
    # Repeats, requests for existing rooms, and deletions do not change the count.
    anna.post("/v1/rooms", first, expect=200)
    anna.direct(ben, expect=200)
    anna.delete(f"/v1/rooms/{first['id']}", key=new_id())
    anna.refused("quota_exceeded", "POST", "/v1/rooms", room_body())
    # The quota affects neither other users nor a service that acts as her.
    ben.room()
    world.acting_as(anna.id).post("/v1/rooms", room_body())


def test_workspaces(world):
    anna = world.user("Anna")
    first = {"id": new_id(), "name": "Office"}
    anna.post("/v1/workspaces", first)
    for _ in range(WORKSPACES - 1):
        anna.workspace()
    anna.refused("quota_exceeded", "POST", "/v1/workspaces", {"id": new_id(), "name": "Office"})
    anna.post("/v1/workspaces", first, expect=200)
    anna.room()


def test_invites(world):
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room, office = anna.room(), anna.workspace()
    link = {"id": new_id()}
    anna.post(f"{room.path}/invites", link)
    anna.post(f"{office.path}/invites", {"id": new_id()})
    anna.put(f"{office.path}/invitations/{ben.id}", {"role": "member"}, key=new_id())
    anna.refused("quota_exceeded", "POST", f"{room.path}/invites", {"id": new_id()})
    anna.refused("quota_exceeded", "POST", f"{office.path}/invites", {"id": new_id()})
    anna.refused("quota_exceeded", "PUT", f"{office.path}/invitations/{carla.id}", {"role": "member"}, key=new_id())
    anna.post(f"{room.path}/invites", link, expect=200)
    anna.delete(f"{room.path}/invites/{link['id']}", key=new_id())


def test_scheduled_bytes(world):
    anna = world.user("Anna")
    room = anna.room()
    path, id = f"{room.path}/scheduled-messages", new_id()
    body = later("four")
    anna.put(f"{path}/{id}", body)
    anna.refused("quota_exceeded", "PUT", f"{path}/{new_id()}", later("five!"))
    anna.put(f"{path}/{new_id()}", later("four"))
    anna.refused("quota_exceeded", "PUT", f"{path}/{new_id()}", later("4"))
    # A change counts its bytes too. A repeat and a cancellation count none.
    anna.refused("quota_exceeded", "PATCH", f"{path}/{id}", {"text": "4"}, key=new_id())
    anna.put(f"{path}/{id}", body, expect=200)
    anna.delete(f"{path}/{id}", key=new_id())
    anna.refused("quota_exceeded", "PUT", f"{path}/{new_id()}", later("4"))
    anna.send(room, "now")


def test_bytes(world):
    anna, ben = world.users("Anna", "Ben")
    # Creating a room with its name, and the join of its creator.
    left = BYTES - 2 * RECORD - len("Tea")
    exact = "x" * (left - RECORD)
    room, bens = anna.room("Tea"), ben.room("Tea")
    ben.refused("quota_exceeded", "PUT", bens.message(new_id()), {"text": exact + "x"})
    ben.send(bens, exact)
    ben.refused("quota_exceeded", "PUT", bens.message(new_id()), {"text": ""} | {"text": "x"})
    half = "x" * ((left - 2 * RECORD) // 2)
    message = anna.send(room, half)["id"]
    # An edit is stored in the log like the message itself.
    anna.patch(room.message(message), {"text": half + "x" * (left % 2)}, key=new_id())
    anna.refused("quota_exceeded", "PATCH", room.message(message), {"text": "x"}, key=new_id())


def test_events_of_every_kind_count_over_a_restart_too(tight, world):
    anna = world.user("Anna")
    room = anna.room()
    message = anna.send(room, "x")["id"]
    path, first = room.message(message), new_id()

    def ways(word: str) -> list[tuple]:
        """Requests that each record one event."""
        reaction = f"{path}/reactions/:{word}:"
        return [
            ("PATCH", path, {"text": word}), ("PUT", reaction, None), ("DELETE", reaction, None),
            ("PUT", f"{room.path}/read-marker", {"messageId": message}), ("PATCH", room.path, {"name": word}),
            ("PATCH", "/v1/me", {"nickname": word}),
        ]

    anna.patch(path, {"text": "first"}, key=first)
    # The room, her join, the message, and the edit.
    used = 4
    while used < EVENTS:
        for method, target, body in ways(f"n{used}")[: EVENTS - used]:
            anna.call(method, target, body, expect=None, key=new_id())
            used += 1
        if used == 4 + 6 * 3:
            tight.restart()
    for method, target, body in ways("more"):
        if method != "DELETE":
            anna.refused("quota_exceeded", method, target, body, key=new_id())
    anna.refused("quota_exceeded", "PUT", room.message(new_id()), {"text": "x"})
    # A repeat still gets its response, and a service has no quota.
    anna.patch(path, {"text": "first"}, key=first, expect=200)
    world.acting_as(anna.id).patch(room.path, {"name": "Coffee"}, key=new_id())
    # Requests that end something have the same quota again.
    anna.delete(path, key=new_id())
    anna.post(f"{room.path}/leave", key=new_id())


def test_refreshing_has_its_own_quota_and_logging_out_has_none(world):
    """The owner of a stolen session can end it, even if the thief has used up the day's quotas."""
    anna = world.account("Anna")
    token, refreshed = anna.tokens["refreshToken"], 0
    nobody, refresh = world.nobody, "/v1/sessions/refresh"
    while (response := nobody.request("POST", refresh, {"refreshToken": token})).status_code == 200:
        token = response.json()["refreshToken"]
        refreshed += 1
        assert refreshed <= 2 * EVENTS
    assert response.json()["code"] == "quota_exceeded" and refreshed >= 2 * EVENTS - 3
    world.nobody.refused("quota_exceeded", "POST", "/v1/sessions", {"email": anna.email, "password": PASSWORD})
    anna.refused("quota_exceeded", "POST", "/v1/rooms", room_body())
    own = anna.get("/v1/sessions")["sessions"][0]["id"]
    anna.delete(f"/v1/sessions/{own}", key=new_id())
    anna.refused("session_ended", "GET", "/v1/me")


def test_services_count_where_the_operator_wants_it(tmp_path):
    server = start(tmp_path, QUOTAS_COUNT_SERVICES="true")
    try:
        world = World(server)
        anna = world.user("Anna")
        service = world.acting_as(anna.id)
        service.post("/v1/rooms", room_body())
        for _ in range(ROOMS - 1):
            anna.room()
        service.refused("quota_exceeded", "POST", "/v1/rooms", room_body())
        anna.refused("quota_exceeded", "POST", "/v1/rooms", room_body())
        # A service that acts as itself has no quota.
        for _ in range(ROOMS + 1):
            world.admin.post("/v1/rooms", room_body())
    finally:
        server.end()


def raw_bytes(server: Server) -> int:
    """The size of the log's records before compression."""
    return hansard("log", "stat", "--data", server.data, "--json").json["rawBytes"]


def test_a_day_of_one_hostile_account_costs_no_more_than_documented(tight):
    world = World(tight)
    mallory, victim = world.user("Mallory"), world.user("Victim")
    room = victim.room("Tea", mallory)
    sent = victim.send(room, "x")["id"]
    before, raw_before = tight.head(), raw_bytes(tight)
    lines: list[dict] = []
    for number in range(20 * EVENTS):
        own = new_id()
        lines += [
            {"op": "room.create", "id": own, "name": "x" * 200},
            {"op": "message.send", "roomId": own, "id": new_id(), "text": "x" * 1_000},
            {"op": "message.send", "roomId": room.id, "id": new_id(), "text": "x" * 100},
            {"op": "reaction.add", "roomId": room.id, "messageId": sent, "emoji": f":n{number}:", "key": new_id()},
            {"op": "read-marker.move", "roomId": room.id, "messageId": sent, "key": new_id()},
            {"op": "reaction.remove", "roomId": room.id, "messageId": sent, "emoji": f":n{number}:", "key": new_id()},
        ]
    results = mallory.ingest(lines)
    assert {"quota_exceeded"} <= {result.get("code") for result in results}
    made = tight.head() - before
    assert EVENTS // 2 <= made <= 2 * EVENTS
    assert len(mallory.get("/v1/rooms", limit=200)["rooms"]) <= ROOMS + 1
    # The size before compression, including what a block needs besides its records.
    grown = raw_bytes(tight) - raw_before
    assert grown <= 2 * BYTES, f"the log grew by {grown} bytes"


def test_the_texts_of_a_day_take_no_more_disk_in_the_read_models_than_documented(tmp_path):
    """Words that are all different take the most space in the search index."""
    source = random.Random(1)
    quotas = {"HANSARD_QUOTAS_ENABLED": "true", "HANSARD_QUOTAS_BYTES_PER_DAY": str(DAY_BYTES)}
    server = Server(tmp_path / "data", environment=UNLIMITED | quotas).start()
    try:
        anna = World(server).user("Anna")
        room = anna.room("Tea")
        server.restart()
        before = views_bytes(server)
        results = anna.ingest([
            {"op": "message.send", "roomId": room.id, "id": new_id(), "text": words(source, LONG_TEXT_BYTES)}
            for _ in range(DAY_BYTES // LONG_TEXT_BYTES + 1)])
        assert {result.get("code") for result in results} == {None, "quota_exceeded"}
        server.restart()
        grown = views_bytes(server) - before
        assert grown <= VIEWS_FACTOR * DAY_BYTES, f"the read models grew by {grown} bytes"
    finally:
        server.end()


def words(source: random.Random, length: int) -> str:
    """Different words of five letters."""
    letters = source.choices(string.ascii_lowercase, k=length)
    return "".join(" " if number % 6 == 5 else letter for number, letter in enumerate(letters))


def views_bytes(server: Server) -> int:
    """The size of the read models on disk, once they have applied the whole log."""
    cost.until_idle(server)
    return sum(path.stat().st_size for path in (server.data / "views").iterdir())


def table_rows(text: str) -> dict[str, str]:
    """From the tables of a page: each setting in a first cell, and the number next to it."""
    return dict(re.findall(r"^\| `(quotas\.\w+)` \| ([\d,]+) ", text, re.MULTILINE))


def test_the_documented_cost_is_that_of_the_default_settings():
    printed = dict(re.findall(r"^\| `(quotas\.\w+PerDay)` \|[^|]*\|[^|]*\| `(\d+)` ", hansard("settings").output, re.MULTILINE))
    assert len(printed) == 8
    documented = table_rows((DOCS / "operating.md").read_text())
    assert {name: number.replace(",", "") for name, number in documented.items()} == printed


def test_scheduled_messages_are_not_kept_in_memory(tmp_path):
    """Observed: 1,000 scheduled messages took 160 MB until they were sent, and again at each start."""
    server = Server(tmp_path / "data").start()
    try:
        anna = World(server).user("Anna")
        rooms = [anna.room() for _ in range(WAITING // 100)]
        server.restart()
        cost.until_idle(server)
        before = cost.resident_bytes(server)
        for number in range(WAITING):
            body = {"type": "x", "data": "x" * WAITING_BYTES, "sendAt": times.later(hours=1)}
            anna.put(f"{rooms[number // 100].path}/scheduled-messages/{new_id()}", body)
        server.restart()
        cost.until_idle(server)
        grown = cost.resident_bytes(server) - before
        assert grown < cost.memory_limit(WAITING_MEMORY), f"the server grew by {grown} bytes"
    finally:
        server.end()
