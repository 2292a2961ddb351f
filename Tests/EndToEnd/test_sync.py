"""`GET /v1/sync`: what a client gets and keeps is what the other endpoints show."""

import concurrent.futures

import pytest

from harness.client import Api, new_id
from harness.long_polls import waiting_requests
from harness.mirror import SyncClient, is_in_archived_room, key_of, shown_to
from harness.people import Person
from harness.sync_changes import CHANGES, SyncScenario
from harness.times import later
from harness.waiting import wait_until

LIMIT = 1000
DEFAULT_MESSAGES = 30
# Longer than the test waits for anything else.
WAIT_SECONDS = 45
# The ID of no room. It is always the same, as it is part of the names of tests.
NO_ROOM = "0199d3f0-9a77-7d20-8b3e-66c1f0a4d9b3"


def clients_of(*people: Person) -> list[SyncClient]:
    """A client of each user, which has seen everything up to now."""
    clients = [SyncClient(person) for person in people]
    for client in clients:
        client.catch_up()
        client.mirror.load_gaps(client.api)
        client.mirror.load_threads(client.api)
    return clients


def changes_of(items: list[dict]) -> list[dict]:
    """The items without the users that they need, which depend on where pages end."""
    return [item for item in items if item["type"] != "user"]


def messages_of(items: list[dict]) -> list[str]:
    return [item["message"]["text"] for item in items if item["type"] == "message"]


def types_of(items: list[dict]) -> set[str]:
    return {item["type"] for item in items}


@pytest.fixture(scope="module")
def away(shared_world):
    """The clients of three users to whom much has happened since they registered, when these clients synced last."""
    people = shared_world.users("Anna", "Ben", "Carla")
    clients = clients_of(*people)
    for change in list(CHANGES.values())[::6]:
        change(SyncScenario(shared_world, *people))
    return clients


# MARK: Catching up


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_reaches_every_mirror(world, change):
    people = world.users("Anna", "Ben", "Carla")
    clients = clients_of(*people)
    scenario = SyncScenario(world, *people)
    for client in clients:
        client.catch_up()
    CHANGES[change](scenario)
    types = set()
    for client in clients:
        items = client.check()
        types |= types_of(items)
        before = client.mirror.copy()
        for item in items:
            client.mirror.apply(item)
        assert vars(client.mirror) == vars(before), "applying the items again changes the mirror"
        assert client.catch_up() == [], "the next catch-up repeats something"
    assert change.split(",")[0] in types


def test_a_scheduled_message_that_is_sent_or_fails(world, anna, ben, room):
    due = {"text": "due", "sendAt": later(seconds=1)}
    kept = anna.room("Cake", ben)
    clients = clients_of(anna, ben)
    for place in (room, kept):
        ben.put(f"{place.path}/scheduled-messages/{new_id()}", due)
    ben.post(f"{kept.path}/leave")
    wait_until(lambda: "due" in anna.texts(room), "the message is not sent")
    scheduled = "/v1/scheduled-messages"
    wait_until(lambda: [each["status"] for each in ben.get(scheduled)["scheduledMessages"]] == ["failed"],
               "the other message does not fail")
    for client in clients:
        client.check()
    assert clients[0].mirror.of_type("scheduledMessage") == {}
    assert [each["status"] for each in clients[1].mirror.of_type("scheduledMessage").values()] == ["failed"]


@pytest.mark.parametrize("limit", [3, LIMIT])
def test_a_client_that_was_away_since_its_user_registered_gets_everything(away, limit):
    for client in map(SyncClient.copy, away):
        client.check(limit=limit)
        assert client.catch_up() == []


def test_pages_of_any_size_have_the_same_items(away):
    for client in away:
        whole = changes_of(client.copy().catch_up(limit=LIMIT))
        client, items = client.copy(), []
        while True:
            page = client.page(limit=5)
            assert len(changes_of(page["items"])) <= 5
            items += changes_of(page["items"])
            if not page["more"]:
                break
        assert items == whole
        assert len({key_of(item) for item in items}) > 5


def test_users_come_before_what_needs_them(away):
    for client in away:
        known = set()
        for item in client.copy().catch_up(limit=7):
            if item["type"] == "user":
                known.add(item["user"]["id"])
            elif item["type"] == "message":
                assert item["message"]["senderId"] in known
            elif item["type"] in ("member", "workspaceMember", "readMarker") and not item.get("removed"):
                assert item[item["type"]]["user"]["id"] in known


def test_an_item_is_the_object_that_its_endpoint_returns(away):
    for client in away:
        shown = shown_to(client.api)
        for client in (SyncClient(client.api), client.copy()):
            for item in client.catch_up(limit=LIMIT):
                if item["type"] in ("user", "gap") or item.get("removed") or is_in_archived_room(key_of(item), shown):
                    continue
                assert item[item["type"]] == shown.entities[key_of(item)], key_of(item)


def test_an_item_is_the_object_of_the_request_for_one(anna, room):
    anna.send(room, "hello")
    office, device = anna.workspace(), new_id()
    anna.put(f"/v1/devices/{device}", {"name": "phone"})
    client = SyncClient(anna)
    client.catch_up()
    for type, paths in (("room", [room.path]), ("workspace", [office.path]), ("device", [f"/v1/devices/{device}"]),
                        ("message", [f"{room.path}/messages/{key.id}" for key in client.mirror.of_type("message")])):
        assert list(client.mirror.of_type(type).values()) == [anna.get(path) for path in paths]


def test_writes_of_the_caller_are_in_the_next_response(anna, room):
    client = SyncClient(anna)
    client.catch_up()
    for number in range(20):
        anna.send(room, f"message {number}")
        assert messages_of(client.catch_up()) == [f"message {number}"]


def test_nothing_reaches_users_whom_it_does_not_concern(world, anna, room):
    other = SyncClient(world.user("Other"))
    other.catch_up()
    anna.send(room, "hello")
    page = other.page()
    assert (page["items"], page["more"]) == ([], False)


def test_a_service_syncs_as_a_user(world, anna, room):
    anna.send(room, "hello")
    client = SyncClient(world.acting_as(anna.id))
    client.check()
    assert not any(session["isCurrent"] for session in client.mirror.of_type("session").values())
    own = SyncClient(anna)
    own.catch_up()
    assert [session["isCurrent"] for session in own.mirror.of_type("session").values()] == [True]


# MARK: The initial state


@pytest.mark.parametrize("limit", [1, 7, LIMIT])
def test_the_initial_state_and_the_cursor_that_continues_it(world, limit):
    scenario = SyncScenario(world)
    for person in scenario.people:
        client = SyncClient(person)
        client.catch_up(limit=limit)
        badge = person.get("/v1/badge")
        assert list(client.mirror.of_type("badge").values()) == [badge]
        client.mirror.load_gaps(person)
        client.mirror.load_threads(person)
        client.check(limit=limit)
    CHANGES["message, reply edited"](scenario)
    CHANGES["workspace, guest"](scenario)
    for person in scenario.people:
        client.check(limit=limit)


def test_the_initial_state_has_the_newest_messages_and_gaps_before_them(anna, ben, room):
    sent = [anna.send(room, f"message {number}")["text"] for number in range(DEFAULT_MESSAGES + 3)]
    for most, params in ((DEFAULT_MESSAGES, {}), (2, {"perRoom": 2})):
        client = SyncClient(ben)
        client.catch_up(**params)
        assert client.mirror.texts(room.id) == set(sent[-most:])
        (gap,) = client.mirror.gaps
        assert (gap["roomId"], gap["until"], gap.get("threadId")) == (room.id, None, None)
        loaded = client.mirror.load_gaps(ben, limit=10)
        assert {message["text"] for message in loaded} == set(sent[:-most])
        client.check()


def test_rooms_that_move_during_the_initial_state_are_not_skipped(world, anna, ben):
    rooms = [anna.room(f"Room {number}", ben) for number in range(25)]
    for room in rooms:
        anna.send(room, "hello")
    client = SyncClient(ben)
    client.page(limit=5)
    for room in rooms[:3] + rooms[-3:]:
        anna.send(room, "meanwhile")
    new = anna.room("New", ben)
    anna.send(new, "in the new room")
    client.catch_up(limit=5)
    client.mirror.load_gaps(ben)
    client.check()
    assert len(client.mirror.of_type("room")) == len(rooms) + 1


# MARK: Gaps


@pytest.fixture
def late(anna, ben, room):
    """Ben's client, which knows one message of the room."""
    anna.send(room, "known")
    (client,) = clients_of(ben)
    return client


def test_a_gap_leads_to_the_messages_that_a_page_leaves_out(anna, ben, room, late):
    known = ben.get(f"{room.path}/messages")["messages"][-1]["id"]
    for number in range(7):
        anna.send(room, f"message {number}")
    items = late.catch_up(perRoom=3)
    assert messages_of(items) == ["message 4", "message 5", "message 6"]
    (gap,) = late.mirror.gaps
    assert (gap["roomId"], gap["until"]) == (room.id, known)
    loaded = late.mirror.load_gaps(ben, limit=2)
    assert {f"message {number}" for number in range(4)} <= {message["text"] for message in loaded}
    late.check()


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_gap_is_there_only_if_something_is_left_out(anna, ben, room, late, count):
    for number in range(count):
        anna.send(room, f"message {number}")
    late.catch_up(perRoom=3)
    assert len(late.mirror.gaps) == (1 if count > 3 else 0)
    late.mirror.load_gaps(ben)
    late.check()


def test_many_replies_make_a_gap_without_an_end(anna, ben, room, late):
    root = anna.send(room, "root")["id"]
    anna.put(room.message(new_id()), {"text": "known reply", "threadId": root})
    late.check()
    for number in range(3):
        anna.put(room.message(new_id()), {"text": f"reply {number}", "threadId": root})
    late.copy().check(perRoom=3)
    late.catch_up(perRoom=2)
    (gap,) = late.mirror.gaps
    assert gap["until"] is None
    late.mirror.load_gaps(ben)
    assert not {"known reply", "reply 2"} & late.mirror.texts(room.id)
    late.mirror.load_threads(ben)
    late.check()


def test_many_changes_of_older_messages_make_a_gap_without_an_end(anna, ben, room, late):
    sent = [anna.send(room, f"message {number}")["id"] for number in range(6)]
    late.check()
    for id in sent:
        anna.patch(room.message(id), {"text": f"edited {id}"})
    anna.send(room, "newest")
    late.catch_up(perRoom=2)
    (gap,) = late.mirror.gaps
    assert gap["until"] is None
    late.mirror.load_gaps(ben)
    late.check()


def test_a_gap_of_a_room_that_was_joined_meanwhile(anna, ben, late):
    other = anna.room("Cake")
    for number in range(6):
        anna.send(other, f"message {number}")
    anna.put(f"{other.path}/members/{ben.id}")
    late.catch_up(perRoom=2)
    assert late.mirror.texts(other.id) == {"message 4", "message 5"}
    late.mirror.load_gaps(ben)
    assert len(late.mirror.texts(other.id)) == 6
    late.check()


# MARK: Filters


def test_rooms_restrict_what_is_in_rooms(world):
    scenario = SyncScenario(world)
    (client,) = clients_of(scenario.ben)
    for room in (scenario.room, scenario.private):
        scenario.anna.send(room, room.id)
    scenario.ben.put(f"/v1/devices/{new_id()}", {"name": "tablet"})
    items = client.catch_up(rooms=scenario.private.id)
    assert messages_of(items) == [scenario.private.id]
    assert {item["room"]["id"] for item in items if item["type"] == "room"} == {scenario.private.id}
    assert "device" in types_of(items)
    initial = SyncClient(scenario.ben).catch_up(rooms=f"{scenario.room.id},{scenario.public.id}")
    assert {item["roomId"] for item in initial if "roomId" in item} == {scenario.room.id}
    # A room that the caller cannot see, or that does not exist, has no items.
    assert messages_of(SyncClient(scenario.carla).catch_up(rooms=f"{scenario.room.id},{new_id()}")) == []


@pytest.mark.parametrize("types", ["message", "room,member", "account,device,session", "workspace,workspaceMember"])
def test_include_restricts_the_types(away, types):
    client, wanted = away[1], set(types.split(","))
    everything = client.copy().catch_up(limit=LIMIT)
    only = client.copy().catch_up(limit=3, include=types)
    assert only == [item for item in everything if item["type"] in wanted]
    assert wanted <= types_of(SyncClient(client.api).catch_up(include=types)) <= wanted | {"gap"}


def test_include_can_ask_for_the_users_of_messages(anna, ben, room):
    (client,) = clients_of(ben)
    anna.send(room, "hello")
    assert [item["type"] for item in client.copy().catch_up(include="message,user")] == ["user", "message"]
    assert [item["type"] for item in client.catch_up(include="message")] == ["message"]


def test_a_new_picture_reaches_those_who_share_a_room(anna, ben, room):
    (client,) = clients_of(ben)
    picture = anna.post("/v1/media", data=b"a picture")["id"]
    for new in (picture, None):
        anna.patch("/v1/me", {"picture": new})
        (item,) = client.catch_up()
        assert (item["type"], item["user"]) == ("user", {"id": anna.id, "nickname": "Anna", "picture": new})


# MARK: Cursors


def test_a_cursor_grants_nothing(world):
    scenario = SyncScenario(world)
    of_anna = SyncClient(scenario.anna)
    cursors = [of_anna.page(limit=1)["cursor"] for _ in range(30)]
    own = shown_to(scenario.carla).entities
    for cursor in cursors:
        client = SyncClient(scenario.carla, cursor)
        client.catch_up()
        assert {key for key in client.mirror.entities if key.type != "user"} <= own.keys()
    names = {user["nickname"] for user in client.mirror.of_type("user").values()}
    assert not client.mirror.of_type("message") and "Ben" not in names


@pytest.mark.parametrize("since", ["", "x", "AA", "nonsense", "A" * 200, "%00", "0199d3f0-9a77-7d20-8b3e-66c1f0a4d9b2"])
def test_what_is_no_cursor(anna, since):
    anna.refused("invalid_cursor", "GET", f"/v1/sync?since={since}")


def test_an_altered_cursor_is_refused_or_grants_nothing(world, anna, room):
    cursor = SyncClient(anna).page()["cursor"]
    other = world.user("Other")
    for place in range(len(cursor)):
        altered = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1:]
        response = other.request("GET", "/v1/sync", params={"since": altered})
        assert response.status_code in (200, 400, 410)
        assert room.id not in response.text
    for cut in range(1, len(cursor)):
        anna.refused("invalid_cursor", "GET", f"/v1/sync?since={cursor[:cut]}")


def test_a_cursor_of_another_list_is_none(anna, ben, room):
    for number in range(2):
        anna.send(room, f"message {number}")
    cursor = anna.get(f"{room.path}/messages", limit=1)["nextCursor"]
    anna.refused("invalid_cursor", "GET", f"/v1/sync?since={cursor}")
    anna.refused("invalid_cursor", "GET", f"{room.path}/messages?before={SyncClient(anna).page()['cursor']}")


def test_a_cursor_of_another_server_is_unknown(anna, own_world):
    cursor = SyncClient(anna).page()["cursor"]
    other = own_world.user("Anna")
    problem = other.refused("cursor_unknown", "GET", f"/v1/sync?since={cursor}")
    assert "without a cursor" in problem["detail"]


# MARK: Bad input


@pytest.mark.parametrize(("name", "least", "most"), [("limit", 1, LIMIT), ("perRoom", 1, 200), ("wait", 0, 50)])
def test_numbers_out_of_range(anna, name, least, most):
    # The first response always has items, so that it does not wait.
    for size in (least, least + 1, most - 1, most):
        anna.get("/v1/sync", **{name: size})
    for size in (least - 1, most + 1, "", "x", "1.5", "+1", "1e2"):
        anna.refused("invalid_query", "GET", "/v1/sync", params={name: size})


@pytest.mark.parametrize("count", [49, 50, 51])
def test_numbers_of_rooms(anna, count):
    rooms = ",".join(new_id() for _ in range(count))
    if count <= 50:
        anna.get("/v1/sync", rooms=rooms)
    else:
        anna.refused("invalid_query", "GET", "/v1/sync", params={"rooms": rooms})


@pytest.mark.parametrize(("name", "value"), [
    ("rooms", ""), ("rooms", "x"), ("rooms", f"{NO_ROOM},"), ("rooms", f"{NO_ROOM};{NO_ROOM}"),
    ("rooms", "00000000-0000-0000-0000-000000000000"), ("include", ""), ("include", "Message"), ("include", "message,"),
    ("include", "message,tea"), ("include", ",".join(["message"] * 20)), ("after", "1"),
])
def test_malformed_filters(anna, name, value):
    anna.refused("invalid_query", "GET", "/v1/sync", params={name: value})


# MARK: Waiting


def test_a_waiting_request_returns_what_comes(anna, ben, room):
    client = SyncClient(ben.again())
    client.catch_up()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(client.page, wait=WAIT_SECONDS)
        sent = anna.send(room, "hello")
        page = waiting.result()
    assert messages_of(page["items"]) == ["hello"]
    assert {item["revision"] for item in page["items"] if item["type"] == "message"} == {sent["position"]}
    client.check()


def test_a_waiting_request_that_has_something_already_does_not_wait(anna, ben, room):
    client = SyncClient(ben)
    client.catch_up()
    anna.send(room, "hello")
    assert messages_of(client.page(wait=WAIT_SECONDS)["items"]) == ["hello"]


def test_a_waiting_request_ends_without_items(anna, ben, room):
    client = SyncClient(ben)
    client.catch_up()
    page = client.page(wait=1)
    assert (page["items"], page["more"]) == ([], False)
    anna.send(room, "hello")
    client.check()


def test_a_waiting_request_returns_only_what_its_filter_lets_through(world):
    scenario = SyncScenario(world)
    (client,) = clients_of(scenario.ben.again())
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(client.page, wait=WAIT_SECONDS, rooms=scenario.private.id, include="message")
        scenario.anna.send(scenario.room, "elsewhere")
        scenario.anna.send(scenario.private, "here")
        assert messages_of(waiting.result()["items"]) == ["here"]


def test_waiting_requests_end_with_their_session(anna, world):
    client = SyncClient(anna)
    client.catch_up()
    (session,) = anna.get("/v1/sessions")["sessions"]
    with waiting_requests(anna, client.cursor) as waiting:
        anna.again().delete(f"/v1/sessions/{session['id']}")
        for each in waiting:
            response = each.result()
            assert (response.status_code, response.json()["code"]) == (401, "session_ended")


def test_a_service_can_wait_in_the_name_of_a_disabled_user(world, anna):
    world.admin.post(f"/v1/admin/users/{anna.id}/disable")
    service = Api(world.server, world.admin.token, act_as=anna.id)
    client = SyncClient(service)
    client.catch_up()
    assert client.page(wait=1)["items"] == []
