"""Silent notifications collapse: a device gets at most one each second, and the last one replaces the others."""

from itertools import pairwise

import pytest

from harness.client import new_id
from harness.people import World
from harness.push_outcomes import abandoned, arrives, recorded_position
from harness.push_phones import APNS, FCM, WEB_PUSH
from harness.waiting import wait_until
from test_push_preferences import PREFERENCES, quiet_now
from test_push_providers import settled

KINDS = (APNS, FCM, WEB_PUSH)
MESSAGES = 30
# DeviceQueue.silentPause
PAUSE_SECONDS = 1


@pytest.fixture
def people(notifying, services):
    """Anna, Ben with a device of each kind, and a room of both."""
    anna, ben = World(notifying).users("Anna", "Ben")
    return anna, ben, [services.phone(ben, kind, roomChanges=True) for kind in KINDS], anna.room("Tea", ben)


def silent(services, phone):
    return [one for one in services.delivered(phone.token) if one.kind in ("update", "sent", "roomChange")]


def test_a_burst_of_read_markers_becomes_one_update_each_second(notifying, services, people):
    anna, ben, phones, room = people
    messages = [anna.send(room, f"{number}") for number in range(MESSAGES)]
    # Otherwise the updates would wait for the alerts, and all but the last would be replaced meanwhile.
    settled(notifying, messages[-1]["position"])
    moved = [ben.put(f"{room.path}/read-marker", {"messageId": message["id"]}) for message in messages]
    for phone in phones:
        last = arrives(services, phone, moved[-1])
        assert (last.badge, last.fields["clearedThrough"]) == (0, messages[-1]["id"])
    settled(notifying, moved[-1]["position"])
    for phone in phones:
        check_collapsed(notifying, phone, silent(services, phone), moved)


def check_collapsed(server, phone, arrived: list, events: list[dict]) -> None:
    """The device got at most one notification of the events each second, and the others were replaced."""
    assert all(later.time - earlier.time >= PAUSE_SECONDS for earlier, later in pairwise(arrived))
    replaced = {
        position for (position, _, id), reason in abandoned(server.data).items() if (id, reason) == (phone.id, "replaced")}
    assert replaced.isdisjoint(one.position for one in arrived)
    assert replaced | {one.position for one in arrived} == {one["position"] for one in events}


def test_a_burst_of_messages_in_quiet_hours_becomes_one_notification_each_second(notifying, services, people):
    anna, ben, phones, room = people
    ben.patch(PREFERENCES, {"quietHours": quiet_now()})
    sent = [anna.send(room, f"{number}") for number in range(MESSAGES)]
    for phone in phones:
        last = arrives(services, phone, sent[-1])
        assert (last.kind, last.title, last.badge) == ("message", None, MESSAGES)
    settled(notifying, sent[-1]["position"])
    for phone in phones:
        # Without the alert that Ben was added to the room.
        messages = [one for one in services.delivered(phone.token) if one.kind == "message"]
        check_collapsed(notifying, phone, messages, sent)


def test_no_update_is_lost_that_clears_something_else(notifying, services, people):
    """Two rooms, a thread and two deleted messages: each device gets one update for each of them."""
    anna, ben, phones, room = people
    other = anna.room("Cake", ben)
    root = ben.send(room, "root")["id"]
    reply = anna.put(room.message(new_id()), {"text": "reply", "threadId": root})["id"]
    there, here, first, second = (
        anna.send(place, text)["id"] for place, text in ((other, "a"), (room, "b"), (room, "c"), (room, "d")))
    events = [
        ben.put(f"{other.path}/read-marker", {"messageId": there}),
        ben.put(f"{room.path}/read-marker", {"messageId": here}),
        ben.put(f"{room.message(root)}/thread/read-marker", {"messageId": reply}),
        anna.delete(room.message(first)), anna.delete(room.message(second))]
    cleared = [(other.id, None, there, None), (room.id, None, here, None), (room.id, root, reply, None),
               (room.id, None, None, first), (room.id, None, None, second)]
    for phone in phones:
        for event, expected in zip(events, cleared, strict=True):
            position = recorded_position(event)
            arrived = wait_until(
                lambda: next((one for one in services.delivered(phone.token) if one.position == position), None),
                f"{expected} does not arrive")
            fields = ("roomId", "threadId", "clearedThrough", "messageId")
            assert tuple(arrived.fields.get(name) for name in fields) == expected


def test_the_last_badge_is_right_when_alerts_and_updates_alternate(notifying, services, people):
    """An alert does not wait for an earlier update, which then has the badge of the time when it is sent."""
    anna, ben, phones, room = people
    for number in range(MESSAGES):
        message = anna.send(room, f"{number}")
        if number % 3:
            ben.put(f"{room.path}/read-marker", {"messageId": message["id"]})
        else:
            ben.send(room, "an answer from another device")
    last = anna.send(room, "the last one")
    settled(notifying, last["position"])
    badge = ben.get("/v1/badge")["unreadCount"]
    assert badge == 1
    for phone in phones:
        arrived = services.delivered(phone.token)
        assert arrived[-1].badge == badge
        alerts = [one.position for one in arrived if one.kind == "message"]
        # An alert of a message that Ben has read before the attempt is not sent.
        assert alerts == sorted(alerts) and alerts[-1] == last["position"]
        updates = silent(services, phone)
        assert 0 < len(updates) and all(
            later.time - earlier.time >= PAUSE_SECONDS for earlier, later in pairwise(updates))


def test_changes_of_a_room_collapse_and_wait_for_updates(notifying, services, people):
    anna, ben, phones, room = people
    for number in range(MESSAGES):
        last = anna.patch(room.path, {"topic": f"topic {number}"})
    for phone in phones:
        arrives(services, phone, last)
    settled(notifying, last["position"])
    for phone in phones:
        changes = silent(services, phone)
        assert len(changes) < MESSAGES and {one.kind for one in changes} == {"roomChange"}
        assert all(later.time - earlier.time >= PAUSE_SECONDS for earlier, later in pairwise(changes))
