"""Who types, who is online, and which rooms a device shows. The specs of `Ephemera` have the times."""

import json
import time
from collections.abc import Callable

from harness.client import TIMEOUT_SECONDS, new_id
from harness.command import hansard
from harness.live_sockets import open_socket
from harness.live_streams import Frame, LiveStream, mark, open_events
from harness.people import Person, Room, World
from harness.times import later
from harness.waiting import wait_until


def types(person: Person, room: Room, typing: bool = True) -> dict:
    return person.put(f"{room.path}/typing", {"typing": typing}, expect=200)


def awaits_end(person: Person) -> None:
    """Waits until the server has noticed that the person's streams have ended."""
    wait_until(
        lambda: person.put("/v1/me/presence", {"presence": "online"}, expect=200)["presence"] == "offline",
        "the stream does not end")


class Watch:
    """A stream, and what came over it so far."""

    def __init__(self, person: Person, open=open_events, **query):
        self.person = person
        self.stream: LiveStream = open(person, **query)
        self.frames: list[Frame] = []

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_) -> None:
        self.stream.close()

    def next(self) -> Frame:
        self.frames.append(self.stream.frame())
        assert self.frames[-1].name != "end", self.frames[-1].data
        return self.frames[-1]

    def until(self, is_meant: Callable[[Frame], bool]) -> Frame:
        # Heartbeats go on if nothing else comes.
        end = time.monotonic() + TIMEOUT_SECONDS
        while not is_meant(frame := self.next()):
            assert time.monotonic() < end, f"it does not come; there is {self.frames}"
        return frame

    def comes(self, name: str, person: Person, **fields) -> dict:
        """Waits for the next frame with this name and these fields about this person."""
        expected = (fields | {"userId": person.id}).items()
        return self.until(lambda frame: frame.name == name and expected <= frame.data.items()).data

    def types(self, person: Person, room: Room) -> dict:
        data = self.comes("typing", person, roomId=room.id)
        assert data["until"] is not None
        return data

    def stops(self, person: Person, room: Room) -> dict:
        return self.comes("typing", person, roomId=room.id, until=None)

    def shows(self, person: Person, presence: str) -> dict:
        return self.comes("presence", person, presence=presence)

    def of(self, name: str) -> set[str]:
        """The users of whom the stream has shown such frames, when everything that happened before has been shown."""
        # After a page, notices come before the next page.
        for _ in range(2):
            position = mark(self.person.again())
            self.until(lambda frame: frame.name == "sync" and frame.data["items"][-1]["revision"] >= position)
        return {frame.data["userId"] for frame in self.frames if frame.name == name}


def test_members_see_who_types_until_the_message_comes(world):
    anna, ben, carla, stranger = world.users("Anna", "Ben", "Carla", "Stranger")
    tea, cake = anna.room("Tea", ben, carla), anna.room("Cake", ben)
    head = world.head
    with (
        Watch(ben) as everything, Watch(ben, rooms=cake.id) as elsewhere,
        Watch(ben, include="message,presence,device") as without, Watch(stranger) as outside, Watch(anna) as own,
    ):
        assert types(anna, tea) == {"roomId": tea.id, "typing": True}
        typing = everything.types(anna, tea)
        assert typing == {"type": "typing", "roomId": tea.id, "userId": anna.id, "until": typing["until"]}
        assert world.head == head, "nothing is recorded"
        anna.send(tea, "Done.")
        everything.stops(anna, tea)
        types(anna, cake)
        elsewhere.types(anna, cake)
        types(anna, cake, False)
        elsewhere.stops(anna, cake)
        types(carla, tea)
        everything.types(carla, tea)
        own.types(carla, tea)
        assert elsewhere.of("typing") == {anna.id} and own.of("typing") == {carla.id}
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
    with Watch(ben) as bens, Watch(carla) as carlas, Watch(stranger) as outside:
        with Watch(anna):
            bens.shows(anna, "online")
            carlas.shows(anna, "online")
            with Watch(carla) as newer, Watch(carla, include="room,device") as without:
                newer.shows(anna, "online")
                assert not without.of("presence")
            anna.put(f"/v1/me/blocked-users/{ben.id}")
            bens.shows(anna, "offline")
            for person in (anna, ben):
                types(person, room)
                carlas.types(person, room)
            anna.patch("/v1/me/preferences", {"sharesPresence": False})
            carlas.stops(anna, room)
            carlas.shows(anna, "offline")
        assert not bens.of("typing") and not outside.of("typing") and not outside.of("presence")


def test_users_see_each_other_as_soon_as_they_share_a_room(world):
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    with Watch(ben) as bens, Watch(carla, open_socket) as carlas:
        with Watch(anna) as annas:
            assert not annas.of("presence") and not bens.of("presence")
            room = anna.room("Tea", ben)
            annas.shows(ben, "online")
            bens.shows(anna, "online")
            anna.put(f"/v1/me/blocked-users/{ben.id}")
            bens.shows(anna, "offline")
            anna.delete(f"/v1/me/blocked-users/{ben.id}")
            bens.shows(anna, "online")
        awaits_end(anna)
        # Anna is online for half a minute more.
        anna.put(f"{room.path}/members/{carla.id}")
        carlas.shows(anna, "online")
        with Watch(carla) as newer:
            newer.shows(anna, "online")


def test_a_session_without_a_stream_is_offline_and_shows_no_room(world):
    anna = world.user("Anna", deviceId=new_id())
    plain = world.user("Ben")
    room = anna.room("Tea")
    assert anna.put("/v1/me/presence", {"presence": "away"}, expect=200) == {"presence": "offline"}
    assert anna.put("/v1/me/open-rooms", {"roomIds": [room.id]}, expect=200) == {"roomIds": []}
    with Watch(anna), Watch(plain):
        assert anna.put("/v1/me/presence", {"presence": "away"}, expect=200) == {"presence": "away"}
        assert anna.put("/v1/me/open-rooms", {"roomIds": [room.id]}, expect=200) == {"roomIds": [room.id]}
        assert plain.put("/v1/me/open-rooms", {"roomIds": [room.id]}, expect=200) == {"roomIds": []}
    most = [new_id() for _ in range(8)]
    anna.put("/v1/me/open-rooms", {"roomIds": most}, expect=200)
    for presence in ("offline", "asleep", 1):
        anna.refused("invalid_field", "PUT", "/v1/me/presence", {"presence": presence})
    for rooms in ([*most, new_id()], ["tea"], room.id):
        anna.refused("invalid_field", "PUT", "/v1/me/open-rooms", {"roomIds": rooms})


def test_a_socket_shows_the_same_and_has_frames_to_say_it(world):
    device = new_id()
    anna, ben = world.user("Anna", deviceId=device), world.user("Ben")
    room = anna.room("Tea", ben)
    with Watch(anna, open_socket) as watch, Watch(ben, open_socket) as bens:
        annas = watch.stream
        bens.shows(anna, "online")
        watch.shows(ben, "online")
        annas.send({"type": "typing", "roomId": room.id, "typing": True})
        bens.types(anna, room)
        annas.send({"type": "typing", "roomId": room.id, "typing": False})
        bens.stops(anna, room)
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
    return [each["deviceId"] for each in map(json.loads, lines) if each.get("text") == text]


def outcomes(server, message: dict) -> dict[str, tuple]:
    rows = hansard("push", "explain", "--data", server.data, "--json", message["position"]).json["devices"]
    return {row["deviceId"]: (row.get("outcome"), row.get("outcomeReason")) for row in rows if row.get("outcome")}


def test_a_device_gets_no_push_for_a_room_that_it_shows(pushing, sink):
    world = World(pushing)
    phone, tablet = new_id(), new_id()
    anna, ben = world.user("Anna"), world.user("Ben", deviceId=phone)
    tea, cake = anna.room("Tea", ben), anna.room("Cake", ben)
    for device in (phone, tablet):
        ben.put(f"/v1/devices/{device}", {"apnsToken": f"token of {device}"})
    with Watch(ben):
        assert ben.put("/v1/me/open-rooms", {"roomIds": [tea.id]}, expect=200) == {"roomIds": [tea.id]}
        shown, other = anna.send(tea, "shown"), anna.send(cake, "elsewhere")
        for message, of_phone in ((shown, ("abandoned", "room_open")), (other, ("delivered", None))):
            expected = {phone: of_phone, tablet: ("delivered", None)}
            wait_until(lambda: outcomes(pushing, message) == expected, f"the outcomes do not become {expected}")
        assert notified(sink, "shown") == [tablet] and sorted(notified(sink, "elsewhere")) == sorted([phone, tablet])
        ben.put("/v1/me/open-rooms", {"roomIds": [cake.id]}, expect=200)
        anna.send(tea, "not shown any more")
        wait_until(lambda: phone in notified(sink, "not shown any more"), "the phone gets no push")
    awaits_end(ben)
    anna.send(cake, "after the stream")
    wait_until(lambda: phone in notified(sink, "after the stream"), "the phone gets no push")
