"""Who types, who is online, and which rooms a device shows. The specs of `Ephemera` have the times."""

import json

from harness.client import new_id
from harness.command import hansard
from harness.event_stream import EventStream
from harness.live_sockets import SocketStream, open_socket
from harness.people import Person, Room, World
from harness.times import later
from harness.waiting import wait_until


def types(person: Person, room: Room, typing: bool = True) -> dict:
    return person.put(f"{room.path}/typing", {"typing": typing}, expect=200)


def awaits_typing(stream: EventStream, person: Person, stopped: bool = False) -> dict:
    return stream.wait_for(
        "typing", lambda data: data["userId"] == person.id and (data["until"] is None) == stopped,
        f"{person.nickname} does not type, or does not stop")


def awaits_presence(stream: EventStream, person: Person, presence: str) -> dict:
    return stream.wait_for(
        "presence", lambda data: data == {"type": "presence", "userId": person.id, "presence": presence},
        f"{person.nickname} is not {presence}")


def seen(stream: EventStream, name: str) -> set[str]:
    """The users of whom the stream has such events."""
    return {data["userId"] for data in stream.of(name)}


def test_members_see_who_types_until_the_message_comes(world):
    anna, ben, carla, stranger = world.users("Anna", "Ben", "Carla", "Stranger")
    tea, cake = anna.room("Tea", ben, carla), anna.room("Cake", ben)
    head = world.head
    with (
        EventStream(ben) as everything, EventStream(ben, rooms=cake.id) as elsewhere,
        EventStream(ben, include="message,presence") as without, EventStream(stranger) as outside,
        EventStream(anna) as own,
    ):
        assert types(anna, tea) == {"roomId": tea.id, "typing": True}
        typing = awaits_typing(everything, anna)
        assert typing == {"type": "typing", "roomId": tea.id, "userId": anna.id, "until": typing["until"]}
        assert world.head == head, "nothing is recorded"
        anna.send(tea, "Done.")
        assert awaits_typing(everything, anna, stopped=True)["roomId"] == tea.id
        types(anna, cake)
        awaits_typing(elsewhere, anna)
        types(anna, cake, False)
        awaits_typing(elsewhere, anna, stopped=True)
        types(carla, tea)
        awaits_typing(everything, carla)
        awaits_typing(own, carla)
        assert seen(elsewhere, "typing") == {anna.id} and seen(own, "typing") == {carla.id}
        assert not without.of("typing") and not outside.of("typing")


def test_typing_is_refused_like_a_message(world):
    anna, ben, stranger = world.users("Anna", "Ben", "Stranger")
    room, direct = anna.room("Tea", ben), anna.direct(ben)
    body = {"typing": True}
    stranger.refused("room_not_found", "PUT", f"{room.path}/typing", body)
    anna.refused("invalid_field", "PUT", f"{room.path}/typing", {"typing": "yes"})
    anna.refused("invalid_field", "PUT", f"{room.path}/typing", {})
    anna.patch("/v1/me/preferences", {"acceptsDirectMessages": False})
    ben.refused("direct_messages_refused", "PUT", f"{direct.path}/typing", body)
    anna.put(f"{room.path}/members/{ben.id}/silence", {"until": later(hours=1)})
    ben.refused("member_silenced", "PUT", f"{room.path}/typing", body)
    anna.post(f"{room.path}/archive")
    anna.refused("room_archived", "PUT", f"{room.path}/typing", body)


def test_a_user_is_hidden_from_those_whom_they_block_and_can_hide_from_everyone(world):
    anna, ben, carla, stranger = world.users("Anna", "Ben", "Carla", "Stranger")
    room = anna.room("Tea", ben, carla)
    with EventStream(ben) as bens, EventStream(carla) as carlas, EventStream(stranger) as outside:
        with EventStream(anna):
            awaits_presence(bens, anna, "online")
            awaits_presence(carlas, anna, "online")
            with EventStream(carla) as newer, EventStream(carla, include="room") as without:
                awaits_presence(newer, anna, "online")
                assert not without.of("presence")
            anna.put(f"/v1/me/blocked-users/{ben.id}")
            awaits_presence(bens, anna, "offline")
            types(anna, room)
            types(ben, room)
            awaits_typing(carlas, anna)
            awaits_typing(carlas, ben)
            anna.patch("/v1/me/preferences", {"sharesPresence": False})
            awaits_presence(carlas, anna, "offline")
            awaits_typing(carlas, anna, stopped=True)
        assert not bens.of("typing") and not outside.of("typing") and not outside.of("presence")


def test_a_session_without_a_stream_is_offline_and_shows_no_room(world):
    anna = world.user("Anna", deviceId=new_id())
    plain = world.user("Ben")
    room = anna.room("Tea")
    assert anna.put("/v1/me/presence", {"presence": "away"}, expect=200) == {"presence": "offline"}
    assert anna.put("/v1/me/open-rooms", {"roomIds": [room.id]}, expect=200) == {"roomIds": []}
    with EventStream(anna), EventStream(plain):
        assert anna.put("/v1/me/presence", {"presence": "away"}, expect=200) == {"presence": "away"}
        assert anna.put("/v1/me/open-rooms", {"roomIds": [room.id]}, expect=200) == {"roomIds": [room.id]}
        assert plain.put("/v1/me/open-rooms", {"roomIds": [room.id]}, expect=200) == {"roomIds": []}
    most = [new_id() for _ in range(8)]
    anna.put("/v1/me/open-rooms", {"roomIds": most}, expect=200)
    for presence in ("offline", "asleep", 1):
        anna.refused("invalid_field", "PUT", "/v1/me/presence", {"presence": presence})
    for rooms in ([*most, new_id()], ["tea"], room.id):
        anna.refused("invalid_field", "PUT", "/v1/me/open-rooms", {"roomIds": rooms})


def comes(stream: SocketStream, name: str, person: Person) -> dict:
    """The next frame with this name about this person."""
    while (frame := stream.frame()).name != name or frame.data["userId"] != person.id:
        assert frame.name != "end", frame.data
    return frame.data


def test_a_socket_shows_the_same_and_has_frames_to_say_it(world):
    device = new_id()
    anna, ben = world.user("Anna", deviceId=device), world.user("Ben")
    room = anna.room("Tea", ben)
    with open_socket(anna) as annas, open_socket(ben) as bens:
        assert comes(bens, "presence", anna)["presence"] == comes(annas, "presence", ben)["presence"] == "online"
        annas.send({"type": "typing", "roomId": room.id, "typing": True})
        assert comes(bens, "typing", anna)["until"] is not None
        annas.send({"type": "typing", "roomId": room.id, "typing": False})
        assert comes(bens, "typing", anna)["until"] is None
        annas.send({"type": "open", "roomIds": [room.id]})
        annas.send({"type": "presence", "presence": "away"})
        # They are performed in order, so this shows that those before had no response.
        assert annas.command("PUT", "/v1/me/presence", {"presence": "online"}, expect=200) == {"presence": "online"}
        assert not annas.responses
        refused = {
            "room_not_found": {"type": "typing", "roomId": new_id(), "typing": True},
            "invalid_field": {"type": "presence", "presence": "offline"},
            "unknown_field": {"type": "open", "roomIds": [], "colour": "red"},
        }
        for code, frame in refused.items():
            annas.send(frame)
            response = annas.response(None)
            assert response.body["code"] == code


def notified(sink, text: str) -> list[str]:
    lines = sink.read_text().splitlines() if sink.exists() else []
    return [each["deviceId"] for each in map(json.loads, lines) if each["text"] == text]


def outcomes(server, message: dict) -> dict[str, tuple]:
    rows = hansard("push", "explain", "--data", server.data, "--json", message["position"]).json["devices"]
    return {row["deviceId"]: (row.get("outcome"), row.get("outcomeReason")) for row in rows if row.get("outcome")}


def test_a_device_gets_no_push_for_a_room_that_it_shows(pushing, sink):
    world = World(pushing)
    phone, tablet = new_id(), new_id()
    anna, ben = world.user("Anna"), world.user("Ben", deviceId=phone)
    for device in (phone, tablet):
        ben.put(f"/v1/devices/{device}", {"apnsToken": f"token of {device}"})
    tea, cake = anna.room("Tea", ben), anna.room("Cake", ben)
    with EventStream(ben):
        assert ben.put("/v1/me/open-rooms", {"roomIds": [tea.id]}, expect=200) == {"roomIds": [tea.id]}
        shown, other = anna.send(tea, "shown"), anna.send(cake, "elsewhere")
        for message, of_phone in ((shown, ("abandoned", "room_open")), (other, ("delivered", None))):
            expected = {phone: of_phone, tablet: ("delivered", None)}
            wait_until(lambda: outcomes(pushing, message) == expected, f"the outcomes do not become {expected}")
        assert notified(sink, "shown") == [tablet] and sorted(notified(sink, "elsewhere")) == sorted([phone, tablet])
        ben.put("/v1/me/open-rooms", {"roomIds": [cake.id]}, expect=200)
        anna.send(tea, "not shown any more")
        wait_until(lambda: phone in notified(sink, "not shown any more"), "the phone gets no push")
    wait_until(
        lambda: ben.put("/v1/me/presence", {"presence": "online"}, expect=200)["presence"] == "offline",
        "the stream does not end")
    anna.send(cake, "after the stream")
    wait_until(lambda: phone in notified(sink, "after the stream"), "the phone gets no push")
