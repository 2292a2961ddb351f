"""Which messages notify a device, by level, mention, thread and direct room. Disabled accounts get nothing."""

import json

import pytest

from harness.client import Api, new_id
from harness.command import hansard, settle
from harness.people import World
from test_push import device, told, wait_for
from test_scheduled_messages import schedule, soon


def leveled(person, token: str, level: str) -> str:
    id = new_id()
    person.put(f"/v1/devices/{id}", {"apnsToken": token, "notifications": level})
    return id


def say(person, room, text: str, **more) -> dict:
    return person.put(room.message(new_id()), {"text": text} | more)


def explained(server, message) -> dict[str, str]:
    """The decision for each device, or the reason why it is not notified."""
    settle(server)
    output = hansard("push", "explain", "--data", server.data, str(message["position"]), "--json").output
    return {
        row["deviceId"]: row.get("reason", row["verdict"])
        for row in json.loads(output.splitlines()[-1])["devices"]
    }


def notified_devices(sink, text: str) -> set[str]:
    return {device for device, _ in told(sink, text)}


def logged_in(world, person) -> tuple[str, Api]:
    """A device of the person with its own login, as an app creates it, and the client that uses it."""
    id = new_id()
    tokens = world.acting_as(person.id).post("/v1/sessions", {"deviceId": id})
    phone = Api(world.server, tokens["accessToken"])
    phone.put(f"/v1/devices/{id}", {"apnsToken": f"token of {id}"})
    return id, phone


ENDINGS = {
    "logout": lambda world, ben, phone: phone.delete("/v1/sessions/current"),
    "all": lambda world, ben, phone: ben.delete("/v1/sessions?all=true"),
    "lost phone": lambda world, ben, phone: world.admin.delete(f"/v1/admin/users/{ben.id}/sessions", key=new_id()),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_device_that_was_logged_out_shows_nothing_any_more(pushing, sink, ending):
    world = World(pushing)
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room = anna.room("Tea", ben, carla)
    id, phone = logged_in(world, ben)
    tablet, _ = logged_in(world, ben) if ending == "logout" else (None, None)
    loose = device(ben, "of no session")
    other = device(carla, "carla")
    say(anna, room, "before")
    before = {id, loose, other} | ({tablet} if tablet else set())
    wait_for(sink, "before", len(before))
    assert notified_devices(sink, "before") == before
    ENDINGS[ending](world, ben, phone)
    after = say(anna, room, "after")
    wait_for(sink, "after", len(before) - 1)
    assert explained(pushing, after)[id] == "noToken"
    assert notified_devices(sink, "after") == before - {id}
    # After it logs in again, it sends its token and is notified again.
    tokens = world.acting_as(ben.id).post("/v1/sessions", {"deviceId": id})
    Api(pushing, tokens["accessToken"]).put(f"/v1/devices/{id}", {"apnsToken": f"token of {id}"})
    say(anna, room, "again")
    wait_for(sink, "again", len(before))
    assert notified_devices(sink, "again") == before


def test_levels_mentions_threads_and_direct_rooms(pushing, sink):
    world = World(pushing)
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room, direct = anna.room("Tea", ben, carla), anna.direct(ben)
    everything, mentions_only, nothing = (leveled(ben, level, level) for level in ("all", "mentions", "none"))
    other = device(carla, "carla")

    plain = say(anna, room, "plain")
    wait_for(sink, "plain", 2)
    mentioned = say(anna, room, "mentioned", mentions={"users": [ben.id]})
    wait_for(sink, "mentioned", 3)
    say(anna, room, "everyone", mentions={"everyone": True})
    wait_for(sink, "everyone", 3)
    threaded = say(anna, room, "thread one", threadId=plain["id"])
    carla.put(f"{room.message(plain['id'])}/thread/following", {"follows": True})
    say(anna, room, "thread two", threadId=plain["id"])
    wait_for(sink, "thread two", 1)
    say(anna, room, "thread three", threadId=plain["id"], mentions={"users": [ben.id]})
    wait_for(sink, "thread three", 3)
    say(anna, direct, "between us")
    notifications = wait_for(sink, "between us", 2)

    assert notified_devices(sink, "plain") == {everything, other}
    assert notified_devices(sink, "mentioned") == {everything, mentions_only, other}
    assert notified_devices(sink, "everyone") == {everything, mentions_only, other}
    assert notified_devices(sink, "thread one") == set()
    assert notified_devices(sink, "thread two") == {other}
    assert notified_devices(sink, "thread three") == {everything, mentions_only, other}
    assert notified_devices(sink, "between us") == {everything, mentions_only}
    threads = {line["text"]: line.get("threadId") for line in notifications}
    assert (threads["thread two"], threads["plain"]) == (plain["id"], None)
    assert explained(pushing, plain)[mentions_only] == "mentionsOnly"
    assert explained(pushing, mentioned)[nothing] == "notificationsOff"
    assert explained(pushing, threaded)[everything] == "notFollowing"


def test_a_user_who_blocked_the_sender_is_not_notified(pushing, sink):
    world = World(pushing)
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room = anna.room("Tea", ben, carla)
    phone, other = device(ben, "ben"), device(carla, "carla")
    ben.put(f"/v1/me/blocked-users/{anna.id}")
    while_blocked = say(anna, room, "while blocked", mentions={"users": [ben.id]})
    wait_for(sink, "while blocked", 1)
    say(carla, room, "of another")
    notifications = wait_for(sink, "of another", 1)
    ben.delete(f"/v1/me/blocked-users/{anna.id}")
    say(anna, room, "after")
    notifications = wait_for(sink, "after", 2)
    assert notified_devices(sink, "while blocked") == {other}
    assert notified_devices(sink, "of another") == {phone}
    assert notified_devices(sink, "after") == {phone, other}
    assert explained(pushing, while_blocked)[phone] == "blocked"
    badges = {line["text"]: line["badge"] for line in notifications if line["deviceId"] == phone}
    assert badges == {"of another": 1, "after": 2}


def test_a_disabled_account_is_not_notified_and_a_scheduled_message_is_pushed(pushing, sink):
    world = World(pushing)
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room = anna.room("Tea", ben, carla)
    phone, other = device(ben, "ben"), device(carla, "carla")
    world.admin.post(f"/v1/admin/users/{ben.id}/disable")
    while_disabled = anna.send(room, "while disabled")
    wait_for(sink, "while disabled", 1)
    world.admin.post(f"/v1/admin/users/{ben.id}/enable")
    anna.send(room, "enabled")
    wait_for(sink, "enabled", 2)
    assert notified_devices(sink, "while disabled") == {other}
    assert explained(pushing, while_disabled)[phone] == "accountDisabled"
    soon(anna, room, schedule(anna, room, 3600, "scheduled")["id"])
    wait_for(sink, "scheduled", 2)
    assert notified_devices(sink, "scheduled") == {phone, other}
