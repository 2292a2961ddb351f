"""The server sends scheduled messages at their time: once, whatever happens to it, or not at all, with a reason.

What must happen before that time happens while the time is far ahead; then the test changes the time (`soon`). If
nobody may change the time any more, the test tries again with more time until everything was done before it
(`in_time`). So no test depends on the speed of the machine.
"""

import pytest

from harness.client import new_id
from harness.people import World, walk
from harness.server import Server
from harness.times import in_time, later, wait_past
from harness.waiting import wait_until

HOUR = 3600


def at(seconds: float) -> str:
    """A time that is this many seconds from now, in the format of the API."""
    return later(seconds=seconds)


def path(room, id: str = "") -> str:
    return f"{room.path}/scheduled-messages" + (f"/{id}" if id else "")


def schedule(person, room, seconds: float, text: str = "later", id: str | None = None, expect=201) -> dict:
    return person.put(path(room, id or new_id()), {"text": text, "sendAt": at(seconds)}, expect=expect)


def scheduled(person, room) -> list[dict]:
    return person.get(path(room))["scheduledMessages"]


def soon(person, room, id: str) -> str:
    """Changes the time of a waiting message so that it is sent soon, and returns that time."""
    seconds = 0.3
    while True:
        moment = at(seconds)
        response = person.request("PATCH", path(room, id), {"sendAt": moment})
        if response.status_code == 200:
            return moment
        assert response.json()["code"] == "sending_time_out_of_range", response.text
        seconds *= 2


def sent(person, room, count: int = 1) -> list[dict]:
    """The messages of the room, once there are `count` of them."""

    def messages():
        found = person.get(f"{room.path}/messages", limit=200)["messages"]
        return found if len(found) >= count else None

    return wait_until(messages, f"message {count} was not sent")


def failure(person, id: str) -> dict:
    """The message as its author sees it after sending it failed."""

    def failed():
        rows = person.get("/v1/scheduled-messages")["scheduledMessages"]
        return [row for row in rows if row["status"] == "failed" and row["id"] == id]

    return wait_until(failed, "the message did not fail")[0]


def test_it_is_sent_at_its_time_in_its_authors_name(anna, ben, room):
    made = schedule(ben, room, HOUR, "the kettle is on")
    assert (made["status"], made["failure"], made["senderId"]) == ("pending", None, ben.id)
    assert scheduled(ben, room) == [made]
    assert ben.get(path(room, made["id"])) == made
    assert anna.get(f"{room.path}/messages")["messages"] == []
    assert scheduled(anna, room) == [], "nobody else sees it"
    anna.refused("scheduled_message_not_found", "GET", path(room, made["id"]))
    anna.refused("scheduled_message_not_found", "DELETE", path(room, made["id"]))
    moment = soon(ben, room, made["id"])
    (message,) = sent(anna, room)
    assert (message["id"], message["senderId"], message["text"]) == (made["id"], ben.id, "the kettle is on")
    assert message["sentAt"] >= moment
    assert message["position"] > made["position"]
    assert scheduled(ben, room) == []
    ben.refused("scheduled_message_not_found", "GET", path(room, made["id"]))
    assert (anna.unread(room), ben.unread(room)) == (1, 0), "sending moves the author's marker"


def test_it_can_be_changed_before_its_time(anna, ben, room):
    made = schedule(ben, room, 3600, "old")
    changed = ben.patch(path(room, made["id"]), {"text": "new"})
    position = changed["position"]
    assert changed == {
        "id": made["id"], "roomId": room.id, "text": "new", "position": position, "revision": position,
    }
    (row,) = scheduled(ben, room)
    assert (row["text"], row["sendAt"], row["position"]) == ("new", made["sendAt"], made["position"])
    assert row["revision"] == changed["position"]
    soon(ben, room, made["id"])
    (message,) = sent(anna, room)
    assert (message["id"], message["text"]) == (made["id"], "new")
    ben.refused("scheduled_message_settled", "PATCH", path(room, made["id"]), {"text": "too late"})
    ben.refused("scheduled_message_settled", "DELETE", path(room, made["id"]))
    ben.refused("invalid_field", "PATCH", path(room, made["id"]), {})


def test_a_later_time_postpones_it(anna, ben):
    def put_off(moment):
        room = anna.room("Tea", ben)
        made = ben.put(path(room, new_id()), {"text": "later", "sendAt": moment})
        ben.patch(path(room, made["id"]), {"sendAt": at(HOUR)})
        return room, made

    moment, (room, made) = in_time(put_off)
    wait_past(moment)
    other = schedule(ben, room, HOUR, "on time")
    soon(ben, room, other["id"])
    (message,) = sent(anna, room)
    assert message["id"] == other["id"]
    assert [row["id"] for row in scheduled(ben, room)] == [made["id"]]


def test_what_is_cancelled_is_not_sent_and_its_id_stays_taken(anna, ben):
    def cancel(moment):
        room = anna.room("Tea", ben)
        body, id, key = {"text": "never", "sendAt": moment}, new_id(), new_id()
        made = ben.put(path(room, id), body)
        ben.delete(path(room, id), key=key)
        return room, body, id, key, made

    moment, (room, body, id, key, made) = in_time(cancel)
    assert scheduled(ben, room) == []
    wait_past(moment)
    soon(ben, room, schedule(ben, room, HOUR, "after")["id"])
    (message,) = sent(anna, room)
    assert message["text"] == "after"
    assert ben.delete(path(room, id), key=key, expect=200)["id"] == id
    assert ben.put(path(room, id), body, expect=200)["position"] == made["position"], "a late retry"
    assert scheduled(ben, room) == [], "does not bring it back"
    ben.refused("id_in_use", "PUT", room.message(id), {"text": "never"})
    ben.refused("scheduled_message_settled", "DELETE", path(room, id))
    ben.refused("scheduled_message_not_found", "DELETE", path(room, new_id()))


def test_an_id_is_taken_by_messages_and_scheduled_ones_alike(anna, ben, room):
    message = ben.send(room, "said")
    ben.refused("id_in_use", "PUT", path(room, message["id"]), {"text": "said", "sendAt": at(60)})
    body = {"text": "later", "sendAt": at(3600)}
    made = ben.put(path(room, new_id()), body)
    ben.refused("id_in_use", "PUT", room.message(made["id"]), {"text": "later"})
    ben.refused("id_in_use", "PUT", path(room, made["id"]), body | {"text": "other"})
    ben.refused("id_in_use", "PUT", path(room, made["id"]), body | {"sendAt": at(7200)})
    anna.refused("id_in_use", "PUT", path(room, made["id"]), body)
    assert ben.put(path(room, made["id"]), body, expect=200) == made


def test_after_it_was_sent_the_same_request_is_a_repeat(anna, ben):

    def put(moment):
        room, id, body = anna.room("Tea", ben), new_id(), {"text": "now", "sendAt": moment}
        return room, id, body, ben.put(path(room, id), body)

    _, (room, id, body, made) = in_time(put)
    (message,) = sent(anna, room)
    assert ben.put(path(room, id), body, expect=200) == made
    again = ben.put(room.message(id), {"text": "now"}, expect=200)
    assert again["position"] == message["position"]
    assert len(sent(anna, room)) == 1


def test_the_time_is_in_the_future_and_within_a_year(ben, room):
    day = 24 * 3600
    for seconds in (-1, -day, 365 * day + 60):
        body = {"text": "x", "sendAt": at(seconds)}
        ben.refused("sending_time_out_of_range", "PUT", path(room, new_id()), body)
    made = schedule(ben, room, 365 * day - 60)
    ben.refused("sending_time_out_of_range", "PATCH", path(room, made["id"]), {"sendAt": at(-1)})
    ben.refused("empty_text", "PUT", path(room, new_id()), {"text": "", "sendAt": at(60)})
    ben.refused("text_too_long", "PATCH", path(room, made["id"]), {"text": "x" * 16_385})
    ben.refused("invalid_field", "PUT", path(room, new_id()), {"text": "x"})


def test_a_hundred_wait_in_one_room(anna, ben, room):
    for number in range(99):
        schedule(ben, room, 3600 + number)
    last = schedule(ben, room, 7200)
    ben.refused("too_many_scheduled_messages", "PUT", path(room, new_id()), {"text": "x", "sendAt": at(60)})
    schedule(anna, room, 3600)
    schedule(ben, ben.room("Other"), 3600)
    ben.delete(path(room, last["id"]))
    schedule(ben, room, 1800, "first")
    rows = scheduled(ben, room)
    assert len(rows) == 100 and rows[0]["text"] == "first"
    assert [row["sendAt"] for row in rows] == sorted(row["sendAt"] for row in rows)
    everything = walk(ben, "/v1/scheduled-messages", "scheduledMessages", limit=7)
    assert len(everything) == 101 and len({row["id"] for row in everything}) == 101
    assert [row["position"] for row in everything] == sorted(row["position"] for row in everything)


def test_those_of_one_time_are_sent_in_the_order_of_their_scheduling(anna, ben):
    def put(moment):
        room, ids = anna.room("Tea", ben), [new_id() for _ in range(20)]
        for number, id in enumerate(ids):
            ben.put(path(room, id), {"text": f"{number}", "sendAt": moment})
        return room, ids

    _, (room, ids) = in_time(put)
    assert [message["id"] for message in sent(anna, room, 20)] == ids


def test_an_author_who_has_left_sees_that_it_was_not_sent(anna, ben):
    def leave(moment):
        room = anna.room("Tea", ben)
        made = ben.put(path(room, new_id()), {"text": "later", "sendAt": moment})
        kept = schedule(ben, room, HOUR)
        ben.post(f"{room.path}/leave")
        return room, made, kept

    _, (room, made, kept) = in_time(leave)
    ben.refused("room_not_found", "GET", path(room))
    row = failure(ben, made["id"])
    assert (row["id"], row["failure"], row["text"]) == (made["id"], "not_a_member", "later")
    assert row["failedAt"] >= made["sendAt"] and row["revision"] > made["position"]
    anna.put(f"{room.path}/members/{ben.id}")
    assert [row["status"] for row in scheduled(ben, room)] == ["failed", "pending"]
    ben.refused("scheduled_message_settled", "PATCH", path(room, made["id"]), {"text": "x"})
    ben.delete(path(room, kept["id"]))
    assert anna.get(f"{room.path}/messages")["messages"] == []


@pytest.mark.parametrize("way", ["leave", "remove", "ban"])
def test_an_author_who_has_left_can_cancel_it(world, anna, ben, room, way):
    made, other = schedule(ben, room, HOUR), schedule(anna, room, HOUR)
    key = new_id()
    if way == "leave":
        ben.post(f"{room.path}/leave")
    elif way == "remove":
        anna.delete(f"{room.path}/members/{ben.id}")
    else:
        anna.put(f"{room.path}/bans/{ben.id}")
    assert ben.get("/v1/scheduled-messages")["scheduledMessages"] == [made]
    assert ben.get(path(room, made["id"])) == made
    ben.refused("room_not_found", "GET", path(room))
    ben.refused("room_not_found", "PATCH", path(room, made["id"]), {"text": "x"})
    # For a message that is not theirs, they learn no more about the room than for an unknown ID.
    carla = world.user("Carla")
    for person, id in ((ben, other["id"]), (ben, new_id()), (carla, made["id"])):
        person.refused("room_not_found", "GET", path(room, id))
        person.refused("room_not_found", "DELETE", path(room, id))
    cancelled = ben.delete(path(room, made["id"]), key=key)
    assert ben.delete(path(room, made["id"]), key=key, expect=200) == cancelled
    assert ben.get("/v1/scheduled-messages")["scheduledMessages"] == []
    ben.refused("room_not_found", "GET", path(room, made["id"]))
    ben.refused("scheduled_message_settled", "DELETE", path(room, made["id"]))
    if way == "ban":
        anna.delete(f"{room.path}/bans/{ben.id}")
    anna.put(f"{room.path}/members/{ben.id}")
    assert scheduled(ben, room) == []
    assert scheduled(anna, room) == [other]


def test_it_can_be_cancelled_from_outside_while_the_room_exists(anna, ben):
    archived, deleted = anna.room("Tea", ben), anna.room("Coffee", ben)
    waiting = [schedule(ben, room, HOUR) for room in (archived, deleted)]
    for room in (archived, deleted):
        ben.post(f"{room.path}/leave")
    anna.post(f"{archived.path}/archive")
    anna.delete(deleted.path)
    ben.refused("room_not_found", "GET", path(deleted, waiting[1]["id"]))
    ben.refused("room_not_found", "DELETE", path(deleted, waiting[1]["id"]))
    assert ben.get(path(archived, waiting[0]["id"])) == waiting[0]
    ben.delete(path(archived, waiting[0]["id"]))
    assert ben.get("/v1/scheduled-messages")["scheduledMessages"] == []


def test_strangers_schedule_nothing(world, room):
    carla = world.user("Carla")
    carla.refused("room_not_found", "PUT", path(room, new_id()), {"text": "x", "sendAt": at(60)})
    carla.refused("room_not_found", "GET", path(room))


@pytest.mark.parametrize("seconds", [-0.6, -0.35, -0.1, 0.0, 0.15, 0.5])
def test_killed_around_its_time_it_sends_once(tmp_path, seconds):
    server = Server(tmp_path / "data").start()
    try:
        world = World(server)
        anna, ben = world.users("Anna", "Ben")

        def put(moment):
            room, ids = anna.room("Tea", ben), [new_id() for _ in range(5)]
            for id in ids:
                ben.put(path(room, id), {"text": "once", "sendAt": moment})
            return room, ids

        moment, (room, ids) = in_time(put)
        wait_past(moment, seconds)
        server.kill()
        server.start()
        assert [message["id"] for message in sent(anna, room, 5)] == ids
        server.kill()
        server.start()
        assert [message["id"] for message in sent(anna, room, 5)] == ids
        assert ben.get("/v1/scheduled-messages")["scheduledMessages"] == []
        assert anna.unread(room) == 5
    finally:
        server.end()


def test_what_was_due_while_the_server_was_down_is_sent_when_it_is_back(own_server):
    world = World(own_server)
    anna, ben = world.users("Anna", "Ben")

    def put(moment):
        room = anna.room("Tea", ben)
        return room, schedule(ben, room, HOUR, "far"), ben.put(path(room, new_id()), {"text": "due", "sendAt": moment})

    moment, (room, far, due) = in_time(put)
    own_server.stop()
    wait_past(moment)
    own_server.start()
    (message,) = sent(anna, room)
    assert message["id"] == due["id"]
    assert [row["id"] for row in scheduled(ben, room)] == [far["id"]]


def test_lost_read_models_lose_no_scheduled_message(own_server):
    world = World(own_server)
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    made = schedule(ben, room, 3600, "kept")
    ben.patch(path(room, made["id"]), {"text": "changed"})
    own_server.stop()
    for file in (own_server.data / "views").iterdir():
        file.unlink()
    own_server.start()
    (row,) = scheduled(ben, room)
    assert (row["id"], row["text"]) == (made["id"], "changed")
    soon(ben, room, made["id"])
    assert [message["text"] for message in sent(anna, room)] == ["changed"]


def test_it_has_every_part_of_a_message(anna, ben, room):
    root = anna.send(room, "root")
    id = new_id()
    body = {
        "text": "in the thread", "threadId": root["id"], "replyTo": root["id"], "type": "tea.ready",
        "data": {"cups": 2}, "mentions": {"users": [anna.id]}, "sendAt": at(HOUR),
    }
    made = ben.put(path(room, id), body)
    expected = {"threadId": root["id"], "replyTo": root["id"], "type": "tea.ready", "data": {"cups": 2}}
    assert {key: made[key] for key in expected} == expected
    assert made["mentions"] == {"users": [anna.id], "everyone": False}
    assert ben.get(path(room, id)) == made and "quote" not in made
    changed = ben.patch(path(room, id), {"text": "ready"})
    assert changed["text"] == "ready" and "mentions" not in changed
    soon(ben, room, id)
    thread = room.message(root["id"]) + "/thread"
    (message,) = wait_until(lambda: anna.get(thread)["messages"], "the reply was not sent")
    assert {key: message[key] for key in expected} == expected
    assert (message["id"], message["text"], message["mentions"]) == (id, "ready", made["mentions"])
    assert message["quote"] == {"senderId": anna.id, "text": "root", "isCut": False}
    assert len(anna.get(f"{room.path}/messages")["messages"]) == 1
    assert anna.get("/v1/badge")["threadUnreadCount"] == 1


def test_it_can_be_silent(anna, ben, room):
    id = new_id()
    made = ben.put(path(room, id), {"type": "position", "data": 1, "silent": True, "sendAt": at(HOUR)})
    assert made["silent"] is True and ben.get(path(room, id)) == made
    ben.refused("invalid_field", "PUT", path(room, new_id()), {"text": "hush", "silent": True, "sendAt": at(HOUR)})
    soon(ben, room, id)
    (message,) = wait_until(lambda: anna.get(f"{room.path}/messages")["messages"], "the event was not sent")
    assert (message["id"], message["silent"], anna.unread(room)) == (id, True, 0)


def test_what_it_refers_to_is_checked_twice(anna, ben, room):
    ben.refused("message_not_found", "PUT", path(room, new_id()), {"text": "x", "sendAt": at(60), "threadId": new_id()})
    ben.refused("message_not_found", "PUT", path(room, new_id()), {"text": "x", "sendAt": at(60), "replyTo": new_id()})
    root = anna.send(room, "root")
    made = ben.put(path(room, new_id()), {"text": "x", "sendAt": at(HOUR), "threadId": root["id"]})
    anna.delete(room.message(root["id"]))
    soon(ben, room, made["id"])
    row = failure(ben, made["id"])
    assert (row["id"], row["failure"]) == (made["id"], "target_gone")


def test_mentions_can_be_changed_by_themselves(anna, ben, room):
    made = ben.put(path(room, new_id()), {"text": "x", "sendAt": at(HOUR), "mentions": {"everyone": True}})
    changed = ben.patch(path(room, made["id"]), {"mentions": {"users": [anna.id]}})
    assert changed["mentions"] == {"users": [anna.id], "everyone": False}
    soon(ben, room, made["id"])
    (message,) = sent(anna, room)
    assert (message["text"], message["mentions"]) == ("x", changed["mentions"])
    assert anna.see(room)["mentionCount"] == 1


@pytest.mark.parametrize("way", ["ban", "silence", "archive", "disable"])
def test_the_reason_why_it_was_not_sent_is_shown(world, anna, way):
    def forbid(moment):
        ben = world.user("Ben")
        room = anna.room("Tea", ben)
        made = ben.put(path(room, new_id()), {"text": "later", "sendAt": moment})
        if way == "ban":
            anna.put(f"{room.path}/bans/{ben.id}")
        elif way == "silence":
            anna.put(f"{room.path}/members/{ben.id}/silence", {"until": at(HOUR)})
        elif way == "archive":
            anna.post(f"{room.path}/archive")
        else:
            beacon = anna.room("Beacon")
            anna.put(path(beacon, new_id()), {"text": "the time has come", "sendAt": moment})
            world.admin.post(f"/v1/admin/users/{ben.id}/disable")
            return ben, room, made, beacon
        return ben, room, made, None

    _, (ben, room, made, beacon) = in_time(forbid)
    if way == "silence":
        ben.refused("member_silenced", "PUT", path(room, new_id()), {"text": "x", "sendAt": at(60)})
    elif way == "archive":
        ben.refused("room_archived", "PUT", path(room, new_id()), {"text": "x", "sendAt": at(60)})
    elif way == "disable":
        # Of two messages for the same time, the one that was scheduled later is sent later.
        sent(anna, beacon)
        world.admin.post(f"/v1/admin/users/{ben.id}/enable")
        ben.token = world.acting_as(ben.id).post("/v1/sessions", {})["accessToken"]
    row = failure(ben, made["id"])
    reasons = {"ban": "not_a_member", "silence": "silenced", "archive": "room_closed", "disable": "silenced"}
    assert row["failure"] == reasons[way]
    assert anna.get(f"{room.path}/messages")["messages"] == []


def test_a_deleted_room_discards_its_scheduled_messages(anna, ben):
    def delete(moment):
        room = anna.room("Tea", ben)
        made = ben.put(path(room, new_id()), {"text": "gone", "sendAt": moment})
        anna.delete(room.path)
        return made

    moment, made = in_time(delete)
    assert made["id"] not in [row["id"] for row in ben.get("/v1/scheduled-messages")["scheduledMessages"]]
    wait_past(moment)
    other = ben.room("Other")
    soon(ben, other, schedule(ben, other, HOUR, "goes on")["id"])
    assert sent(ben, other)[0]["text"] == "goes on"
