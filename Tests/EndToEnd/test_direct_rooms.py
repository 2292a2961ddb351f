"""Direct rooms: always the same room for the same users."""

import concurrent.futures

import pytest

from harness.client import Api, new_id


def test_every_request_for_the_same_members_gives_the_same_room(world, anna, ben):
    room = anna.direct(ben)
    ben.send(room, "hello")
    head = world.head
    for person, others in ((anna, [ben]), (ben, [anna]), (anna, [ben, ben, anna]), (ben, [anna, ben])):
        assert person.direct(*others, expect=200).id == room.id
    assert world.head == head
    seen = ben.see(room)
    assert (seen["kind"], seen["name"], seen["role"], seen["memberCount"]) == ("direct", "", "member", 2)
    assert seen["participants"] == sorted([anna.id, ben.id])
    carla = world.user("Carla")
    assert len({room.id, anna.direct(carla).id, anna.direct(ben, carla).id}) == 3
    carla.refused("room_not_found", "GET", room.path)


def test_the_list_names_those_who_are_in_it(world, anna, ben):
    room = anna.direct(ben)
    page = ben.get("/v1/rooms")
    assert [each["id"] for each in page["rooms"]] == [room.id]
    assert {user["nickname"] for user in page["users"]} == {"Anna", "Ben"}


def test_many_who_ask_at_once_get_one_room(world):
    users = world.users(*(f"User {number}" for number in range(6)))
    body = {"kind": "direct", "memberIds": [user.id for user in users]}

    def request(number):
        return Api(world.server, users[number % 6].token).request("POST", "/v1/rooms", body)

    before = world.head
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        responses = list(pool.map(request, range(24)))
    assert sorted(response.status_code for response in responses) == [200] * 23 + [201]
    assert len({(response.json()["id"], response.json()["position"]) for response in responses}) == 1
    assert world.head == before + 7


def test_who_can_be_in_it(world, anna, ben):
    def request(members):
        return {"kind": "direct", "memberIds": members}

    for members in ([], [anna.id]):
        anna.refused("direct_members_out_of_range", "POST", "/v1/rooms", request(members))
    others = [user.id for user in world.users(*(f"User {number}" for number in range(9)))]
    anna.refused("direct_members_out_of_range", "POST", "/v1/rooms", request(others))
    for count in (7, 8):
        assert len(anna.post("/v1/rooms", request(others[:count]))["participants"]) == count + 1
    anna.refused("user_not_found", "POST", "/v1/rooms", request([new_id()]))
    anna.refused("invalid_field", "POST", "/v1/rooms", {"kind": "direct"})
    for field in ({"name": "Us"}, {"id": new_id()}, {"topic": "us"}, {"isPublic": False}):
        anna.refused("invalid_field", "POST", "/v1/rooms", request([ben.id]) | field)
    anna.refused("workspace_not_found", "POST", "/v1/rooms", request([ben.id]) | {"workspaceId": new_id()})


@pytest.mark.parametrize("method, rest, body", [
    ("PATCH", "", {"name": "Us"}), ("PATCH", "", {"topic": "us"}), ("DELETE", "", None), ("POST", "/archive", None),
    ("POST", "/unarchive", None), ("POST", "/transfer", {"userId": "{other}"}), ("POST", "/leave", None),
    ("PUT", "/members/{new}", None), ("DELETE", "/members/{other}", None), ("POST", "/join", None),
    ("PUT", "/members/{other}/role", {"role": "administrator"}), ("PUT", "/members/{other}/silence", {}),
    ("PUT", "/bans/{other}", None), ("DELETE", "/bans/{other}", None), ("POST", "/invites", {}),
])
def test_its_members_name_topic_and_picture_are_fixed(world, anna, ben, method, rest, body):
    room = anna.direct(ben)
    known = {"other": ben.id, "new": world.user("Carla").id}
    body = body and {name: value.format(**known) for name, value in body.items()}
    head = world.head
    anna.refused("direct_room_fixed", method, room.path + rest.format(**known), body)
    assert world.head == head
    anna.put(f"{room.path}/mute", {"until": "2090-01-01T00:00:00Z"})


def test_a_service_makes_one_in_a_users_name(world, anna, ben):
    body = {"kind": "direct", "memberIds": [ben.id]}
    made = world.acting_as(anna.id).post("/v1/rooms", body)
    assert anna.direct(ben, expect=200).id == made["id"]
    world.admin.refused("acting_user_required", "POST", "/v1/rooms", body)


def test_it_is_the_same_room_after_a_restart(own_world):
    world = own_world
    anna, ben = world.users("Anna", "Ben")
    room = anna.direct(ben)
    anna.send(room, "hello")
    world.server.restart()
    assert ben.direct(anna, expect=200).id == room.id
    assert ben.texts(room) == ["hello"]
