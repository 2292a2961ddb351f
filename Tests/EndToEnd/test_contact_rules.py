"""Who may create a direct room with a user, and who may add the user to a group."""

import pytest

from harness.client import new_id
from harness.people import Person, World

PREFERENCES = "/v1/me/preferences"


def set_rules(person: Person, rule: str) -> None:
    person.patch(PREFERENCES, {"directRooms": rule, "groupAdditions": rule})


def refuses(api, person: Person, room=None) -> None:
    """A direct room, a group with the person, and the addition to a group are refused."""
    direct = {"kind": "direct", "memberIds": [person.id]}
    api.refused("direct_messages_refused", "POST", "/v1/rooms", direct)
    group = {"id": new_id(), "name": "Group", "kind": "group", "memberIds": [person.id]}
    api.refused("addition_refused", "POST", "/v1/rooms", group)
    if room:
        api.refused("addition_refused", "PUT", f"{room.path}/members/{person.id}")


def test_nobody_refuses_everybody_until_it_changes(world: World, anna: Person, ben: Person):
    room, shared = anna.room("Tea"), anna.room("Shared", ben)
    set_rules(ben, "nobody")
    head = world.head
    refuses(anna, ben, room)
    refuses(world.acting_as(anna.id), ben, room)
    assert world.head == head
    anna.put(f"{shared.path}/members/{ben.id}", expect=200)
    set_rules(ben, "everyone")
    anna.put(f"{room.path}/members/{ben.id}")
    anna.direct(ben)


def test_the_rule_is_that_of_the_other_user(world: World, anna: Person, ben: Person):
    set_rules(anna, "nobody")
    anna.room("Tea", ben)
    anna.direct(ben)


def test_known_users_share_a_room(world: World, anna: Person, ben: Person):
    carla = world.user("Carla")
    room = anna.room("Tea")
    set_rules(ben, "known")
    refuses(anna, ben, room)
    shared = carla.room("Shared", anna)
    invite = carla.post(f"{shared.path}/invites", {"id": new_id()})
    refuses(anna, ben, room)
    ben.post(f"/v1/invites/{invite['token']}/accept")
    anna.put(f"{room.path}/members/{ben.id}")
    carla.direct(ben)


@pytest.mark.parametrize("end", ["leave", "remove", "delete"])
def test_users_who_share_a_room_no_more_are_unknown(world: World, anna: Person, ben: Person, end: str):
    other, shared = anna.room("Other"), anna.room("Shared", ben)
    set_rules(ben, "known")
    if end == "leave":
        ben.post(f"{shared.path}/leave")
    elif end == "remove":
        anna.delete(f"{shared.path}/members/{ben.id}")
    else:
        anna.delete(shared.path)
    refuses(anna, ben, other)


def test_members_of_a_workspace_are_known_but_not_its_guests(world: World, anna: Person, ben: Person):
    guest = world.user("Guest")
    office = anna.workspace()
    office.take_in(world, ben)
    office.take_in(world, guest, role="guest")
    set_rules(ben, "known")
    refuses(guest, ben, guest.room("Own"))
    anna.room("Tea", ben)
    news = anna.channel(office)
    anna.put(f"{news.path}/members/{ben.id}")
    anna.put(f"{news.path}/members/{guest.id}")
    guest.direct(ben)


def test_a_channel_of_a_workspace_takes_every_member(world: World, anna: Person, ben: Person):
    office = anna.workspace()
    office.take_in(world, ben)
    set_rules(ben, "nobody")
    news = anna.channel(office)
    anna.put(f"{news.path}/members/{ben.id}")
    body = {"id": new_id(), "name": "Plans", "kind": "channel", "workspaceId": office.id, "memberIds": [ben.id]}
    anna.post("/v1/rooms", body)


def test_a_service_that_acts_for_itself_is_not_refused(world: World, ben: Person):
    set_rules(ben, "nobody")
    room = {"id": new_id(), "name": "Support", "kind": "group", "memberIds": [ben.id]}
    world.admin.post("/v1/rooms", room)
    other = world.admin.post("/v1/rooms", {"id": new_id(), "name": "Orders", "kind": "group"})
    world.admin.put(f"/v1/rooms/{other['id']}/members/{ben.id}")


def test_the_caller_needs_the_right_first(world: World, anna: Person, ben: Person):
    carla = world.user("Carla")
    room = anna.room("Tea", carla)
    set_rules(ben, "nobody")
    carla.refused("forbidden", "PUT", f"{room.path}/members/{ben.id}")
    ben.refused("room_not_found", "PUT", f"{room.path}/members/{ben.id}")
    anna.refused("user_not_found", "PUT", f"{room.path}/members/{new_id()}")


def test_a_direct_room_that_exists_is_returned_and_can_be_used(world: World, anna: Person, ben: Person):
    room = anna.direct(ben)
    set_rules(ben, "nobody")
    assert anna.direct(ben, expect=200).id == room.id
    anna.send(room, "hello")
    ben.send(room, "hello")


def test_the_rules_survive_a_restart_and_a_rebuild(own_world: World):
    world = own_world
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    anna.room("Shared", ben)
    tea = anna.room("Tea")
    set_rules(ben, "known")
    set_rules(carla, "nobody")
    for number in range(2):
        world.server.restart()
        rules = ben.get(PREFERENCES)
        assert (rules["directRooms"], rules["groupAdditions"]) == ("known", "known")
        refuses(anna, carla, tea)
        refuses(carla, ben)
        anna.room(f"New {number}", ben)
        world.server.stop()
        for file in (world.server.data / "views").iterdir():
            file.unlink() if file.is_file() else None
        world.server.start()
