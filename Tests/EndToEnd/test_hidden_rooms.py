"""Hiding direct rooms: they leave the list until the next message."""

import pytest

from harness.client import new_id
from harness.people import Person, Room, World


def hide(person: Person, room: Room, is_hidden: bool = True, **options) -> dict:
    return person.put(f"{room.path}/hidden", {"isHidden": is_hidden}, **options)


def rooms(person: Person, **query) -> list[str]:
    return [room["id"] for room in person.get("/v1/rooms", **query)["rooms"]]


def test_a_hidden_room_is_not_in_the_list_until_it_is_shown(world: World, anna: Person, ben: Person):
    room, other = anna.direct(ben), anna.room("Tea")
    receipt = hide(anna, room)
    assert (receipt["isHidden"], receipt["position"]) == (True, world.head)
    assert (rooms(anna), rooms(anna, hidden="true"), rooms(anna, archived="true")) == ([other.id], [room.id], [])
    assert anna.see(room)["isHidden"] is True
    assert (rooms(ben), ben.see(room)["isHidden"]) == ([room.id], False)
    assert hide(anna, room, False)["isHidden"] is False
    assert (rooms(anna), rooms(anna, hidden="true")) == ([other.id, room.id], [])


@pytest.mark.parametrize("sender", ["anna", "ben"])
@pytest.mark.parametrize("in_thread", [False, True])
def test_any_message_brings_it_back(world: World, anna: Person, ben: Person, sender: str, in_thread: bool):
    room = anna.direct(ben)
    root = anna.send(room, "root")["id"]
    hide(anna, room)
    hide(ben, room)
    author = anna if sender == "anna" else ben
    author.put(room.message(new_id()), {"text": "hello"} | ({"threadId": root} if in_thread else {}))
    for person in (anna, ben):
        assert rooms(person) == [room.id] and person.see(room)["isHidden"] is False


def test_nothing_else_brings_it_back(world: World, anna: Person, ben: Person):
    room = anna.direct(ben)
    sent = anna.send(room, "hello")["id"]
    hide(ben, room)
    anna.patch(room.message(sent), {"text": "hello!"})
    anna.put(f"{room.message(sent)}/reactions/%F0%9F%8D%B5")
    anna.put(f"{room.path}/mute", {"until": "2090-01-01T00:00:00Z"})
    assert anna.direct(ben, expect=200).id == room.id
    assert rooms(ben) == []


def test_it_does_not_count_until_it_is_back(world: World, anna: Person, ben: Person):
    room = anna.direct(ben)
    root = ben.send(room, "root")["id"]
    for number in range(3):
        anna.send(room, f"{number}")
    anna.put(room.message(new_id()), {"text": "reply", "threadId": root})
    badge = ben.get("/v1/badge")
    assert (badge["unreadCount"], badge["threadUnreadCount"]) == (3, 1)
    hide(ben, room)
    badge = ben.get("/v1/badge")
    assert (badge["unreadCount"], badge["threadUnreadCount"], ben.unread(room)) == (0, 0, 3)
    assert ben.get("/v1/badge/explain")["rooms"] == []
    anna.send(room, "again")
    badge = ben.get("/v1/badge")
    assert (badge["unreadCount"], badge["threadUnreadCount"]) == (4, 1)


def test_its_threads_stay_in_the_list_and_in_the_sync(world: World, anna: Person, ben: Person):
    room = anna.direct(ben)
    root = ben.send(room, "root")["id"]
    anna.put(room.message(new_id()), {"text": "reply", "threadId": root})
    hide(ben, room)
    page, initial = ben.get("/v1/sync"), []
    while True:
        initial += [item["thread"] for item in page["items"] if item["type"] == "thread"]
        if not page["more"]:
            break
        page = ben.get(f"/v1/sync?since={page['cursor']}")
    assert initial == ben.get("/v1/threads")["threads"]
    assert [(thread["root"]["id"], thread["unreadCount"]) for thread in initial] == [(root, 1)]
    assert rooms(ben) == [] and ben.get("/v1/badge")["threadUnreadCount"] == 0


def test_the_other_keeps_the_room_and_its_history(world: World, anna: Person, ben: Person):
    room = anna.direct(ben)
    anna.send(room, "hello")
    start = ben.get("/v1/sync")["cursor"]
    hide(anna, room)
    assert ben.get(f"/v1/sync?since={start}")["items"] == []
    assert ben.texts(room) == anna.texts(room) == ["hello"]
    assert ben.see(room)["participants"] == sorted([anna.id, ben.id])


def test_all_devices_learn_of_it(world: World, anna: Person, ben: Person):
    room = anna.direct(ben)
    root = anna.send(room, "root")["id"]

    def items(since: str) -> list[bool]:
        found = anna.get(f"/v1/sync?since={since}")["items"]
        return [item["room"]["isHidden"] for item in found if item["type"] == "room"]

    for end in (
        lambda: hide(anna, room, False), lambda: ben.send(room, "hello"),
        lambda: ben.put(room.message(new_id()), {"text": "reply", "threadId": root}),
    ):
        start = anna.get("/v1/sync")["cursor"]
        hide(anna, room)
        assert items(start) == [True]
        start = anna.get("/v1/sync")["cursor"]
        end()
        assert items(start) == [False]
    hide(anna, room)
    page = anna.get("/v1/sync")
    initial = page["items"]
    while page["more"]:
        page = anna.get(f"/v1/sync?since={page['cursor']}")
        initial += page["items"]
    assert [item["room"]["isHidden"] for item in initial if item["type"] == "room"] == [True]


def test_a_room_of_nine_works_the_same(world: World):
    users = world.users(*(f"User {number}" for number in range(9)))
    room = users[0].direct(*users[1:])
    for user in users:
        hide(user, room)
        assert (rooms(user), rooms(user, hidden="true")) == ([], [room.id])
    users[4].send(room, "hello")
    for user in users:
        assert (rooms(user), rooms(user, hidden="true")) == ([room.id], [])
        assert user.get("/v1/badge")["unreadCount"] == (0 if user is users[4] else 1)
        hide(user, room)
        assert user.get("/v1/badge")["unreadCount"] == 0


def test_only_members_of_a_direct_room_can_hide_it(world: World, anna: Person, ben: Person):
    carla = world.user("Carla")
    direct, group = anna.direct(ben), anna.room("Tea", ben)
    carla.refused("room_not_found", "PUT", f"{direct.path}/hidden", {"isHidden": True})
    anna.refused("direct_room_only", "PUT", f"{group.path}/hidden", {"isHidden": True})
    anna.refused("invalid_field", "PUT", f"{direct.path}/hidden", {})
    anna.refused("invalid_query", "GET", "/v1/rooms", params={"archived": "true", "hidden": "true"})


def test_it_stays_hidden_after_a_restart_and_a_rebuild(own_world: World):
    world = own_world
    anna, ben = world.users("Anna", "Ben")
    room = anna.direct(ben)
    anna.send(room, "hello")
    hide(ben, room)
    for _ in range(2):
        world.server.restart()
        assert (rooms(ben), rooms(ben, hidden="true"), rooms(anna)) == ([], [room.id], [room.id])
        assert ben.get("/v1/badge")["unreadCount"] == 0
        world.server.stop()
        for file in (world.server.data / "views").iterdir():
            file.unlink() if file.is_file() else None
        world.server.start()
