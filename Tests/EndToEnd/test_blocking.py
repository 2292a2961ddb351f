"""Blocking users: direct messages are refused, and messages of a blocked user are marked and not counted."""

import contextlib

import pytest

from harness.client import new_id
from harness.people import Person, Room, walk
from harness.times import later, wait_past
from harness.waiting import wait_until

BLOCKED = "/v1/me/blocked-users"


def block(person: Person, other: Person, **options) -> dict:
    return person.put(f"{BLOCKED}/{other.id}", **options)


def unblock(person: Person, other: Person, **options) -> dict:
    return person.delete(f"{BLOCKED}/{other.id}", **options)


def marks(person: Person, room: Room, path: str = "/messages") -> dict[str, bool | None]:
    """The marks of the messages by their texts."""
    page = person.get(room.path + path, limit=200)
    return {message["text"]: message.get("isFromBlockedUser") for message in page["messages"]}


def test_blocking_and_unblocking(world, anna, ben):
    blocked = block(anna, ben)
    assert blocked["user"] == {"id": ben.id, "nickname": "Ben", "picture": None}
    listed = anna.get(BLOCKED)
    assert listed == {
        "blockedUsers": [{"user": blocked["user"], "blockedAt": blocked["blockedAt"]}], "nextCursor": None,
    }
    assert block(anna, ben, expect=200) == blocked
    repeated = new_id()
    keyed = block(anna, ben, key=repeated)
    assert (keyed["blockedAt"], keyed["position"] > blocked["position"]) == (blocked["blockedAt"], True)
    assert ben.get(BLOCKED)["blockedUsers"] == []
    key = new_id()
    ended = unblock(anna, ben, key=key)
    assert (ended["user"], ended["blockedAt"]) == (blocked["user"], None)
    assert anna.get(BLOCKED)["blockedUsers"] == []
    anna.refused("block_not_found", "DELETE", f"{BLOCKED}/{ben.id}")
    block(anna, ben)
    assert unblock(anna, ben, key=key, expect=200) == ended
    late = block(anna, ben, key=repeated, expect=200)
    assert late["position"] == keyed["position"] and blocked["blockedAt"] <= late["blockedAt"]
    assert late["blockedAt"] <= anna.get(BLOCKED)["blockedUsers"][0]["blockedAt"]
    assert [row["user"]["nickname"] for row in anna.get(BLOCKED)["blockedUsers"]] == ["Ben"]


def test_who_can_be_blocked_and_by_whom(world, anna, ben):
    head = world.head
    anna.refused("cannot_block_self", "PUT", f"{BLOCKED}/{anna.id}")
    anna.refused("user_not_found", "PUT", f"{BLOCKED}/{new_id()}")
    anna.refused("invalid_id", "PUT", f"{BLOCKED}/ben")
    world.admin.refused("acting_user_required", "PUT", f"{BLOCKED}/{ben.id}")
    world.nobody.refused("access_token_missing", "PUT", f"{BLOCKED}/{ben.id}")
    assert world.head == head
    world.acting_as(anna.id).put(f"{BLOCKED}/{ben.id}")
    assert [row["user"]["id"] for row in anna.get(BLOCKED)["blockedUsers"]] == [ben.id]


def test_the_list_is_paged_newest_first(world, anna):
    others = world.users(*(f"User {number}" for number in range(5)))
    for other in others:
        block(anna, other)
    found = walk(anna, BLOCKED, "blockedUsers", limit=2)
    assert [row["user"]["id"] for row in found] == [other.id for other in reversed(others)]
    cursor = anna.get(BLOCKED, limit=2)["nextCursor"]
    others[0].refused("invalid_cursor", "GET", BLOCKED, params={"cursor": cursor})


def test_a_user_can_block_a_thousand(world, anna):
    ids = [world.admin.post("/v1/accounts", {"id": new_id(), "nickname": "User"})["id"] for _ in range(1_001)]
    for id in ids[:1_000]:
        anna.put(f"{BLOCKED}/{id}")
    anna.refused("too_many_blocked_users", "PUT", f"{BLOCKED}/{ids[1_000]}")
    anna.put(f"{BLOCKED}/{ids[0]}", expect=200)
    anna.delete(f"{BLOCKED}/{ids[0]}")
    anna.put(f"{BLOCKED}/{ids[1_000]}")
    assert len(walk(anna, BLOCKED, "blockedUsers", limit=200)) == 1_000


@contextlib.contextmanager
def preference(person: Person):
    person.patch("/v1/me/preferences", {"acceptsDirectMessages": False})
    yield
    person.patch("/v1/me/preferences", {"acceptsDirectMessages": True})


@contextlib.contextmanager
def blocking(person: Person, other: Person):
    block(person, other)
    yield
    unblock(person, other)


@pytest.mark.parametrize("reason", ["a block", "the preference"])
@pytest.mark.parametrize("is_by_anna", [True, False])
def test_direct_messages_are_refused_in_both_directions(world, anna, ben, reason, is_by_anna):
    """Both users get the same responses for each reason, and whichever of them it concerns."""
    room = anna.direct(ben)
    sent = {person.id: person.send(room, f"from {person.nickname}")["id"] for person in (anna, ben)}
    scheduled = {person.id: schedule(person, room) for person in (anna, ben)}
    one, other = (anna, ben) if is_by_anna else (ben, anna)
    with blocking(one, other) if reason == "a block" else preference(one):
        head = world.head
        for person, partner in ((anna, ben), (ben, anna)):
            own, others = room.message(sent[person.id]), room.message(sent[partner.id])
            for method, path, body in [
                ("PUT", room.message(new_id()), {"text": "hello"}),
                ("PUT", room.message(new_id()), {"text": "hello", "threadId": sent[partner.id]}),
                ("PUT", own, {"text": f"from {person.nickname}"}), ("PATCH", own, {"text": "hello"}),
                ("PUT", f"{others}/reactions/%F0%9F%8D%B5", None), ("PUT", f"{room.path}/pins/{sent[person.id]}", None),
                ("PUT", f"{room.path}/scheduled-messages/{new_id()}", {"text": "x", "sendAt": later(days=1)}),
            ]:
                problem = person.refused("direct_messages_refused", method, path, body)
                assert problem["detail"] == "You cannot exchange direct messages with this user."
            carla = world.user("Carla")
            group = {"kind": "direct", "memberIds": [partner.id, carla.id]}
            person.refused("direct_messages_refused", "POST", "/v1/rooms", group)
            assert person.direct(partner, expect=200).id == room.id
            head += 2
        assert world.head == head
        assert len(ben.texts(room)) == len(anna.texts(room)) == 2
        for person in (anna, ben):
            person.put(f"{room.path}/read-marker", {"messageId": sent[ben.id]}, key=new_id())
            person.delete(f"{room.path}/scheduled-messages/{scheduled[person.id]}", key=new_id())
        anna.delete(room.message(sent[anna.id]))
    for person in (anna, ben):
        person.send(room, "again")


def schedule(person: Person, room: Room) -> str:
    body = {"text": "later", "sendAt": later(days=1)}
    return person.put(f"{room.path}/scheduled-messages/{new_id()}", body)["id"]


def test_a_preference_can_be_changed_alone(world, anna):
    def preferences() -> tuple[bool, bool]:
        found = anna.get("/v1/me/preferences")
        return found["sharesReadMarkers"], found["acceptsDirectMessages"]

    assert preferences() == (True, True)
    key, body = new_id(), {"acceptsDirectMessages": False}
    first = anna.patch("/v1/me/preferences", body, key=key)
    assert (first["sharesReadMarkers"], first["acceptsDirectMessages"]) == (True, False)
    anna.patch("/v1/me/preferences", {"sharesReadMarkers": False})
    assert preferences() == (False, False)
    head = world.head
    assert anna.patch("/v1/me/preferences", body, key=key, expect=200)["position"] == first["position"]
    anna.refused("invalid_field", "PATCH", "/v1/me/preferences", {})
    anna.refused("invalid_field", "PATCH", "/v1/me/preferences", {"acceptsDirectMessages": "no"})
    anna.refused("idempotency_key_reused", "PATCH", "/v1/me/preferences", {"acceptsDirectMessages": True}, key=key)
    assert (world.head, preferences()) == (head, (False, False))
    anna.patch("/v1/me/preferences", {"acceptsDirectMessages": True, "sharesReadMarkers": True})
    assert preferences() == (True, True)


def test_direct_rooms_of_more_than_two_are_not_affected(world, anna, ben):
    carla = world.user("Carla")
    room = carla.direct(anna, ben)
    block(anna, ben)
    ben.send(room, "hello")
    assert marks(anna, room) == {"hello": True}
    assert (anna.unread(room), carla.unread(room)) == (0, 1)


def test_a_scheduled_direct_message_fails_after_a_block(world, anna, ben):
    room = anna.direct(ben)
    due = later(seconds=2)
    path = f"{room.path}/scheduled-messages"
    id = ben.put(f"{path}/{new_id()}", {"text": "later", "sendAt": due})["id"]
    block(anna, ben)
    wait_past(due)
    wait_until(lambda: ben.get(f"{path}/{id}")["failure"] is not None, "the message does not fail")
    assert ben.get(f"{path}/{id}")["failure"] == "direct_messages_refused"
    assert ben.texts(room) == []


def ben_sends(ben: Person, room: Room) -> str:
    """The path of the message."""
    return room.message(ben.send(room, "late")["id"])


def test_messages_of_a_blocked_user_are_marked_and_not_counted(world, anna, ben):
    carla = world.user("Carla")
    room = carla.room("Tea", anna, ben)
    mention = {"users": [anna.id]}
    before = ben.put(room.message(new_id()), {"text": "before", "mentions": mention})
    assert (anna.unread(room), anna.see(room)["mentionCount"]) == (1, 1)
    block(anna, ben)
    assert (anna.unread(room), anna.see(room)["mentionCount"]) == (1, 1)
    named = ben.put(room.message(new_id()), {"text": "named", "mentions": mention})
    everyone = ben.put(room.message(new_id()), {"text": "everyone", "mentions": {"everyone": True}})
    ben.patch(room.message(before["id"]), {"text": "before!", "mentions": {"everyone": True}})
    seen = anna.see(room)
    assert (seen["unreadCount"], seen["mentionCount"]) == (1, 0)
    assert seen["lastMessage"]["isFromBlockedUser"] is True
    assert anna.get("/v1/rooms")["rooms"][0]["lastMessage"]["isFromBlockedUser"] is True
    assert (carla.unread(room), carla.see(room)["mentionCount"]) == (3, 2)
    assert "isFromBlockedUser" not in carla.see(room)["lastMessage"]
    own = carla.send(room, "carla")
    assert marks(anna, room) == {"before!": True, "named": True, "everyone": True, "carla": None}
    assert set(marks(carla, room).values()) == set(marks(ben, room).values()) == {None}
    assert anna.get(room.message(named["id"]))["isFromBlockedUser"] is True
    assert "isFromBlockedUser" not in anna.get(room.message(own["id"]))
    badge = anna.get("/v1/badge")
    assert (badge["unreadCount"], badge["mentionCount"], badge["threadUnreadCount"]) == (2, 0, 0)
    ben.delete(room.message(everyone["id"]))
    assert (anna.unread(room), carla.unread(room)) == (2, 0)
    other = anna.room("Other")
    assert [row["id"] for row in anna.get("/v1/rooms")["rooms"]] == [other.id, room.id]
    ben.delete(ben_sends(ben, room))
    assert [row["id"] for row in anna.get("/v1/rooms")["rooms"]] == [room.id, other.id], "the list is by activity"
    unblock(anna, ben)
    assert set(marks(anna, room).values()) == {None}
    assert anna.unread(room) == 2
    ben.put(room.message(new_id()), {"text": "after", "mentions": {"everyone": True}})
    ben.patch(room.message(named["id"]), {"text": "named!", "mentions": mention})
    assert (anna.unread(room), anna.see(room)["mentionCount"]) == (3, 1)


def test_messages_in_pins_threads_and_search_are_marked(world, anna, ben):
    carla = world.user("Carla")
    room = carla.room("Tea", anna, ben)
    root = ben.send(room, "kettle")
    anna.put(room.message(new_id()), {"text": "yes", "threadId": root["id"]})
    block(anna, ben)
    mentioning = {"threadId": root["id"], "mentions": {"users": [anna.id]}}
    ben.put(room.message(new_id()), {"text": "reply"} | mentioning)
    carla.put(f"{room.path}/pins/{root['id']}")
    assert [pin["message"]["isFromBlockedUser"] for pin in anna.get(f"{room.path}/pins")["pins"]] == [True]
    thread = anna.get("/v1/threads")["threads"][0]
    assert (thread["root"]["isFromBlockedUser"], thread["unreadCount"], thread["mentionCount"]) == (True, 0, 0)
    assert marks(anna, room, f"/messages/{root['id']}/thread") == {"yes": None, "reply": True}
    assert anna.get("/v1/badge")["threadUnreadCount"] == 0
    carla.put(room.message(new_id()), {"text": "tea", "threadId": root["id"]})
    assert anna.get("/v1/badge")["threadUnreadCount"] == 1
    wait_until(lambda: anna.get("/v1/search", q="kettle")["results"], "the message is not found")
    found = anna.get("/v1/search", q="kettle")["results"]
    assert [result["message"]["isFromBlockedUser"] for result in found] == [True]
    assert "isFromBlockedUser" not in carla.get("/v1/search", q="kettle")["results"][0]["message"]


def test_a_mention_by_a_blocked_user_does_not_start_following_a_thread(world, anna, ben):
    carla = world.user("Carla")
    room = carla.room("Tea", anna, ben)
    root = carla.send(room, "root")
    block(anna, ben)
    reply = ben.put(
        room.message(new_id()), {"text": "@anna", "threadId": root["id"], "mentions": {"users": [anna.id]}})
    ben.patch(room.message(reply["id"]), {"text": "@anna!", "mentions": {"users": [anna.id]}})
    assert anna.get("/v1/threads")["threads"] == []
    carla.put(
        room.message(new_id()), {"text": "@anna", "threadId": root["id"], "mentions": {"users": [anna.id]}})
    assert [row["unreadCount"] for row in anna.get("/v1/threads")["threads"]] == [1]


def test_blocks_survive_a_restart_and_a_rebuild(own_world):
    world = own_world
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    direct = anna.direct(ben)
    block(anna, ben)
    anna.patch("/v1/me/preferences", {"acceptsDirectMessages": False})
    ben.send(room, "hello")
    for _ in range(2):
        world.server.restart()
        ben.refused("direct_messages_refused", "PUT", direct.message(new_id()), {"text": "hello"})
        assert marks(anna, room) == {"hello": True}
        assert anna.unread(room) == 0
        assert anna.get("/v1/me/preferences") == {
            "sharesReadMarkers": True,
            "acceptsDirectMessages": False,
            "sharesPresence": True,
            "notifications": "all",
            "mutedKinds": [],
            "quietHours": None,
            "showsPreviews": True,
            "directRooms": "everyone",
            "groupAdditions": "everyone",
        }
        block(anna, ben, expect=200)
        world.server.stop()
        for file in (world.server.data / "views").iterdir():
            file.unlink() if file.is_file() else None
        world.server.start()
