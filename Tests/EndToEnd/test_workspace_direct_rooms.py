"""Direct rooms that belong to a workspace."""

import pytest

from harness.client import new_id
from harness.people import Person, Room, Workspace, World


@pytest.fixture
def office(world: World, anna: Person, ben: Person) -> Workspace:
    office = anna.workspace()
    office.take_in(world, ben)
    return office


def request(office: Workspace, *others: Person) -> dict:
    return {"kind": "direct", "workspaceId": office.id, "memberIds": [other.id for other in others]}


def direct(person: Person, office: Workspace, *others: Person, expect: int = 201) -> Room:
    return Room(person.post("/v1/rooms", request(office, *others), expect=expect)["id"])


def rooms(person: Person, **query) -> set[str]:
    return {room["id"] for room in person.get("/v1/rooms", **query)["rooms"]}


def test_each_workspace_has_its_own_room_of_two_users(world: World, anna: Person, ben: Person, office: Workspace):
    other = ben.workspace("Other")
    other.take_in(world, anna)
    found = [direct(anna, office, ben), direct(anna, other, ben), anna.direct(ben)]
    assert len({room.id for room in found}) == 3
    assert direct(ben, office, anna, expect=200).id == found[0].id
    assert ben.direct(anna, expect=200).id == found[2].id
    seen = ben.see(found[0])
    assert (seen["workspaceId"], seen["kind"], seen["memberCount"]) == (office.id, "direct", 2)
    assert seen["participants"] == sorted([anna.id, ben.id])
    for query, wanted in (({"workspaceId": office.id}, found[:1]), ({"kind": "direct"}, found), ({}, found)):
        assert rooms(anna, **query) == {room.id for room in wanted}
    assert anna.get(f"{office.path}/channels")["rooms"] == []


def test_it_counts_for_the_workspace(world: World, anna: Person, ben: Person, office: Workspace):
    room = direct(anna, office, ben)
    anna.send(room, "hello")
    anna.send(anna.direct(ben), "outside")
    assert ben.get(office.path)["unreadCount"] == 1
    assert ben.get("/v1/badge")["unreadCount"] == 2


def test_who_can_be_in_it(world: World, anna: Person, ben: Person, office: Workspace):
    guest, stranger = world.users("Guest", "Stranger")
    office.take_in(world, guest, role="guest")
    stranger.refused("workspace_not_found", "POST", "/v1/rooms", request(office, anna))
    anna.refused("workspace_members_only", "POST", "/v1/rooms", request(office, ben, stranger))
    guest.refused("forbidden", "POST", "/v1/rooms", request(office, anna))
    room = direct(anna, office, guest)
    guest.send(room, "hello")
    assert direct(guest, office, anna, expect=200).id == room.id


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_member_who_leaves_loses_it_and_the_other_keeps_it(
    world: World, anna: Person, ben: Person, office: Workspace, is_removed: bool,
):
    room, outside = direct(anna, office, ben), anna.direct(ben)
    ben.send(room, "hello")
    if is_removed:
        anna.delete(f"{office.path}/members/{ben.id}")
    else:
        ben.post(f"{office.path}/leave")
    ben.refused("room_not_found", "GET", room.path)
    assert rooms(ben) == {outside.id}
    assert anna.texts(room) == ["hello"]
    seen = anna.see(room)
    assert (seen["memberCount"], seen["participants"]) == (1, sorted([anna.id, ben.id]))
    anna.refused("direct_messages_refused", "PUT", room.message(new_id()), {"text": "still there?"})
    anna.refused("direct_messages_refused", "PUT", f"{room.path}/typing", {"typing": True})
    assert direct(anna, office, ben, expect=200).id == room.id
    ben.refused("workspace_not_found", "POST", "/v1/rooms", request(office, anna))


@pytest.mark.parametrize("asking", ["anna", "ben"])
def test_a_member_who_returns_gets_it_back(
    world: World, anna: Person, ben: Person, office: Workspace, asking: str,
):
    room = direct(anna, office, ben)
    anna.send(room, "before")
    ben.post(f"{office.path}/leave")
    office.take_in(world, ben)
    ben.refused("room_not_found", "GET", room.path)
    one, other = (anna, ben) if asking == "anna" else (ben, anna)
    # A change, not a repeat.
    assert direct(one, office, other, expect=None).id == room.id
    head = world.head
    for person, partner in ((anna, ben), (ben, anna)):
        assert direct(person, office, partner, expect=200).id == room.id
    assert world.head == head
    assert ben.texts(room) == ["before"]
    for person in (anna, ben):
        person.send(room, "after")
    assert ben.see(room)["participants"] == sorted([anna.id, ben.id])


def test_a_deleted_workspace_leaves_it_to_be_read(world: World, anna: Person, ben: Person, office: Workspace):
    room, channel = direct(anna, office, ben), anna.channel(office)
    anna.send(room, "hello")
    anna.delete(office.path)
    anna.refused("room_not_found", "GET", channel.path)
    for person in (anna, ben):
        assert person.texts(room) == ["hello"]
        person.refused("direct_messages_refused", "PUT", room.message(new_id()), {"text": "again"})
        person.put(f"{room.path}/hidden", {"isHidden": True})
    anna.refused("workspace_not_found", "POST", "/v1/rooms", request(office, ben))


def test_a_deleted_account_stays_in_it(world: World, anna: Person, ben: Person, office: Workspace):
    room = direct(anna, office, ben)
    ben.send(room, "hello")
    world.admin.delete(f"/v1/admin/users/{ben.id}")
    assert anna.see(room)["participants"] == sorted([anna.id, ben.id])
    anna.refused("direct_messages_refused", "PUT", room.message(new_id()), {"text": "hello?"})


def test_it_is_the_same_after_a_restart_and_a_rebuild(own_world: World):
    world = own_world
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    office = anna.workspace()
    for person in (ben, carla):
        office.take_in(world, person)
    room, left = direct(anna, office, ben), direct(anna, office, carla)
    carla.post(f"{office.path}/leave")
    anna.send(room, "hello")
    for _ in range(2):
        world.server.restart()
        assert direct(ben, office, anna, expect=200).id == room.id
        assert anna.see(left)["participants"] == sorted([anna.id, carla.id])
        anna.refused("direct_messages_refused", "PUT", left.message(new_id()), {"text": "hello"})
        world.server.stop()
        for file in (world.server.data / "views").iterdir():
            file.unlink() if file.is_file() else None
        world.server.start()
    ben.post(f"{office.path}/leave")
    ben.refused("room_not_found", "GET", room.path)
