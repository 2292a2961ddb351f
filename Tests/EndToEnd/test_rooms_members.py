"""Rooms, their members and roles."""

import pytest

from harness.client import new_id
from harness.people import Room, walk


def test_a_room_is_made_once(world, anna):
    body = {"id": new_id(), "name": "Tea", "kind": "group"}
    room = anna.post("/v1/rooms", body)
    assert (room["name"], room["kind"], room["role"], room["memberCount"]) == ("Tea", "group", "owner", 1)
    assert (room["unreadCount"], room["lastMessage"], room["archivedAt"]) == (0, None, None)
    head = world.head
    again = anna.post("/v1/rooms", body, expect=200)
    assert again["id"] == room["id"] and again["position"] == room["position"]
    assert world.head == head
    anna.refused("id_in_use", "POST", "/v1/rooms", body | {"name": "Coffee"})


def test_a_group_is_made_with_its_members(world, anna, ben):
    carla = world.user("Carla")
    body = {"id": new_id(), "name": "Tea", "memberIds": [carla.id, ben.id, anna.id, ben.id]}
    head = world.head
    made = anna.post("/v1/rooms", body)
    assert (made["role"], made["memberCount"], made["participants"]) == ("owner", 3, [])
    assert world.head == head + 4
    assert anna.get(f"/v1/rooms/{made['id']}") == made
    members = anna.get(f"/v1/rooms/{made['id']}/members")["members"]
    others = sorted([ben.id, carla.id])
    assert [(each["user"]["id"], each["role"]) for each in members] == [
        (anna.id, "owner"), *((id, "member") for id in others)]
    changes = anna.get(f"/v1/rooms/{made['id']}/join-history")["changes"]
    assert {(each["change"], each["user"]["id"], each["by"]["id"]) for each in changes} == {
        ("joined", anna.id, anna.id), *(("added", id, anna.id) for id in others)}
    assert [room["id"] for room in ben.get("/v1/rooms")["rooms"]] == [made["id"]]
    # The order of the IDs does not matter. Other members are another request.
    again = anna.post("/v1/rooms", body | {"memberIds": others}, expect=200)
    assert again["position"] == made["position"]
    anna.refused("id_in_use", "POST", "/v1/rooms", body | {"memberIds": [ben.id]})
    anna.refused("id_in_use", "POST", "/v1/rooms", {"id": body["id"], "name": "Tea"})


def test_nothing_is_made_if_a_member_cannot_be_added(world, anna, ben):
    office = anna.workspace("Office")
    channel = {"name": "News", "kind": "channel", "workspaceId": office.id}
    many = world.users(*(f"User {number}" for number in range(101)))
    head = world.head
    anna.refused("user_not_found", "POST", "/v1/rooms", {"name": "Tea", "memberIds": [ben.id, new_id()]})
    anna.refused("workspace_members_only", "POST", "/v1/rooms", channel | {"memberIds": [ben.id]})
    anna.refused("invalid_field", "POST", "/v1/rooms", {"name": "Tea", "memberIds": [user.id for user in many]})
    assert world.head == head
    assert anna.get("/v1/rooms")["rooms"] == []
    office.take_in(world, ben)
    assert anna.post("/v1/rooms", channel | {"memberIds": [ben.id]})["memberCount"] == 2
    body = {"name": "Tea", "memberIds": [user.id for user in many[:100]]}
    assert anna.post("/v1/rooms", body)["memberCount"] == 101
    assert anna.post("/v1/rooms", {"name": "Tea", "memberIds": []})["memberCount"] == 1
    # A service that acts as itself is not a member.
    assert world.admin.post("/v1/rooms", {"name": "Tea", "memberIds": [anna.id, ben.id]})["memberCount"] == 2


def test_an_id_of_another_owner_is_in_use(anna, ben):
    body = {"id": new_id(), "name": "Tea"}
    anna.post("/v1/rooms", body)
    ben.refused("id_in_use", "POST", "/v1/rooms", body)


def test_kinds_of_rooms(anna):
    assert anna.post("/v1/rooms", {"name": "Tea"})["kind"] == "group"
    assert anna.post("/v1/rooms", {"name": "News", "kind": "channel"})["kind"] == "channel"
    for kind in ("palace", ""):
        anna.refused("invalid_field", "POST", "/v1/rooms", {"name": "Tea", "kind": kind})
    anna.refused("room_name_empty", "POST", "/v1/rooms", {"name": ""})


def test_the_list_has_the_latest_message_first(anna, ben, world):
    rooms = [anna.room(f"Room {number}", ben) for number in range(5)]
    for number in (3, 1, 4):
        ben.send(rooms[number], f"message {number}")
    page = anna.get("/v1/rooms")
    names = [room["name"] for room in page["rooms"]]
    # A room without messages is sorted by its creation.
    assert names == ["Room 4", "Room 1", "Room 3", "Room 2", "Room 0"]
    assert page["rooms"][0]["lastMessage"]["text"] == "message 4"
    assert page["users"] == [{"id": ben.id, "nickname": "Ben", "picture": None}]
    assert [room["unreadCount"] for room in page["rooms"]] == [1, 1, 1, 0, 0]


def test_the_list_comes_in_pages(anna):
    names = [f"Room {number:02}" for number in range(37)]
    for name in names:
        anna.room(name)
    assert len(anna.get("/v1/rooms")["rooms"]) == 30
    for limit in (1, 7, 36, 37, 38):
        assert [room["name"] for room in walk(anna, "/v1/rooms", "rooms", limit=limit)] == names[::-1]


def test_the_list_can_be_limited_to_a_kind_and_a_workspace(anna, ben):
    office, club = anna.workspace("Office"), anna.workspace("Club")
    group, direct, plain = anna.room("Tea"), anna.direct(ben), anna.room("Feed", kind="channel")
    news, plans = anna.channel(office, "News"), anna.channel(office, "Plans", public=False)
    chess = anna.channel(club, "Chess")
    old = anna.channel(office, "Old")
    anna.post(f"{old.path}/archive")

    def listed(**query):
        return [[room["id"] for room in walk(anna, "/v1/rooms", "rooms", limit=limit, **query)] for limit in (1, 2, 200)]

    def thrice(*rooms):
        return [[room.id for room in rooms]] * 3

    assert listed(kind="group") == thrice(group)
    assert listed(kind="direct") == thrice(direct)
    assert listed(kind="channel") == thrice(chess, plans, news, plain)
    assert listed(workspaceId=office.id) == thrice(plans, news)
    assert listed(workspaceId=club.id, kind="channel") == thrice(chess)
    assert listed(workspaceId=office.id, kind="group") == thrice()
    assert listed(workspaceId=office.id, archived="true") == thrice(old)
    assert listed(workspaceId=new_id()) == thrice()
    for query in ("kind=palace", "kind=", "workspaceId=office", "kind=group&kind=direct"):
        anna.refused("invalid_query", "GET", f"/v1/rooms?{query}")


def test_archived_rooms_have_a_list_of_their_own(anna, ben):
    rooms = [anna.room(f"Room {number}", ben) for number in range(5)]
    for number in (0, 2, 4):
        anna.post(f"{rooms[number].path}/archive")
    archived = {"archived": "true"}
    for person in (anna, ben):
        for limit in (1, 2, 3, 4):
            listed = walk(person, "/v1/rooms", "rooms", limit=limit, **archived)
            assert [room["name"] for room in listed] == ["Room 4", "Room 2", "Room 0"]
            assert all(room["archivedAt"] for room in listed)
        names = [room["name"] for room in person.get("/v1/rooms", archived="false")["rooms"]]
        assert names == [room["name"] for room in person.get("/v1/rooms")["rooms"]] == ["Room 3", "Room 1"]
    cursor = anna.get("/v1/rooms", limit=1, **archived)["nextCursor"]
    anna.refused("invalid_cursor", "GET", f"/v1/rooms?cursor={cursor}")
    anna.post(f"{rooms[2].path}/unarchive")
    assert len(anna.get("/v1/rooms", **archived)["rooms"]) == 2
    for wrong in ("", "1", "True"):
        anna.refused("invalid_query", "GET", f"/v1/rooms?archived={wrong}")


def test_a_room_is_renamed_and_archived_by_those_who_may(world, anna, ben, room):
    ben.refused("forbidden", "PATCH", room.path, {"name": "Ben's"})
    ben.refused("forbidden", "POST", f"{room.path}/archive")
    renamed = anna.patch(room.path, {"name": "Cake"})
    assert renamed["name"] == "Cake" and renamed["position"] == world.head
    assert ben.see(room)["name"] == "Cake"
    ben.send(room, "last words")
    archived = anna.post(f"{room.path}/archive")
    assert archived["archivedAt"] is not None
    again = anna.post(f"{room.path}/archive", expect=200)
    assert again["position"] == archived["position"]
    anna.refused("room_archived", "PATCH", room.path, {"name": "Late"})
    ben.refused("room_archived", "PUT", room.message(new_id()), {"text": "late"})
    assert ben.texts(room) == ["last words"]
    assert ben.see(room)["archivedAt"] == archived["archivedAt"]


def test_members_are_listed_in_the_order_of_joining(world, anna):
    room = anna.room("Tea")
    guests = world.users(*(f"Guest {number}" for number in range(8)))
    for guest in guests:
        anna.put(f"{room.path}/members/{guest.id}")
    expected = [anna.id] + [guest.id for guest in guests]
    for limit in (1, 3, 8, 9, 10):
        members = walk(guests[0], f"{room.path}/members", "members", limit=limit)
        assert [member["user"]["id"] for member in members] == expected
    assert [member["role"] for member in members] == ["owner"] + ["member"] * 8
    assert anna.see(room)["memberCount"] == 9


def test_adding_and_removing(world, anna, ben, room):
    carla, dora = world.users("Carla", "Dora")
    added = anna.put(f"{room.path}/members/{carla.id}")
    assert added == {"roomId": room.id, "userId": carla.id, "position": world.head}
    anna.put(f"{room.path}/members/{carla.id}", expect=200)
    ben.refused("forbidden", "PUT", f"{room.path}/members/{dora.id}")
    anna.refused("user_not_found", "PUT", f"{room.path}/members/{new_id()}")
    ben.refused("forbidden", "DELETE", f"{room.path}/members/{carla.id}")
    anna.delete(f"{room.path}/members/{carla.id}")
    carla.refused("room_not_found", "GET", room.path)
    anna.refused("member_not_found", "DELETE", f"{room.path}/members/{carla.id}")
    ben.refused("forbidden", "DELETE", f"{room.path}/members/{anna.id}")


def test_leaving(world, anna, ben, room):
    anna.refused("owner_must_transfer", "POST", f"{room.path}/leave")
    left = ben.post(f"{room.path}/leave")
    assert left == {"roomId": room.id, "userId": ben.id, "position": world.head}
    ben.refused("room_not_found", "GET", room.path)
    ben.refused("room_not_found", "POST", f"{room.path}/leave")
    assert ben.get("/v1/rooms")["rooms"] == []
    assert anna.see(room)["memberCount"] == 1
    # An owner who is alone may leave too. The room then has no members.
    anna.post(f"{room.path}/leave")
    anna.refused("room_not_found", "GET", room.path)
    anna.refused("id_in_use", "POST", "/v1/rooms", {"id": room.id, "name": "Another"})


def test_muting(anna, ben, room):
    until = "2030-01-01T09:30:00.250+09:00"
    assert ben.put(f"{room.path}/mute", {"until": until})["mutedUntil"] == "2030-01-01T00:30:00.250Z"
    assert ben.see(room)["mutedUntil"] == "2030-01-01T00:30:00.250Z"
    assert anna.see(room)["mutedUntil"] is None
    assert ben.put(f"{room.path}/mute", {})["mutedUntil"] is None


def test_the_level_of_notifications_is_the_members_own(world, anna, ben):
    room = anna.room("Tea", ben)
    path = f"{room.path}/notifications"
    assert ben.see(room)["notifications"] is None
    start = ben.get("/v1/sync")["cursor"]
    receipt = ben.put(path, {"level": "mentions"})
    assert (receipt["notifications"], receipt["position"]) == ("mentions", world.head)
    assert ben.see(room)["notifications"] == "mentions" and anna.see(room)["notifications"] is None
    assert [each["notifications"] for each in ben.get("/v1/rooms")["rooms"]] == ["mentions"]
    items = ben.get(f"/v1/sync?since={start}")["items"]
    assert [item["room"]["notifications"] for item in items if item["type"] == "room"] == ["mentions"]
    assert ben.put(path, {"level": None})["notifications"] is None
    assert ben.put(path, {"level": "none"})["notifications"] == "none"
    assert ben.put(path, {})["notifications"] is None
    ben.refused("invalid_field", "PUT", path, {"level": "some"})
    ben.refused("unknown_field", "PUT", path, {"notifications": "all"})
    # Who leaves and returns begins with the preferences again.
    ben.put(path, {"level": "none"})
    ben.post(f"{room.path}/leave")
    ben.refused("room_not_found", "PUT", path, {"level": "all"})
    anna.put(f"{room.path}/members/{ben.id}")
    assert ben.see(room)["notifications"] is None


ROOM_OPERATIONS = [
    ("GET", "", None), ("PATCH", "", {"name": "Mine"}), ("DELETE", "", None), ("GET", "/members", None),
    ("PUT", "/members/{other}", None), ("DELETE", "/members/{owner}", None), ("POST", "/leave", None),
    ("POST", "/archive", None), ("POST", "/unarchive", None), ("POST", "/transfer", {"userId": "{owner}"}),
    ("POST", "/join", None), ("PUT", "/members/{owner}/role", {"role": "member"}),
    ("PUT", "/members/{owner}/silence", {}), ("GET", "/bans", None), ("PUT", "/bans/{owner}", None),
    ("DELETE", "/bans/{owner}", None), ("GET", "/join-history", None),
    ("PUT", "/mute", {}), ("PUT", "/notifications", {}), ("POST", "/invites", {}), ("GET", "/invites", None), ("DELETE", "/invites/{invite}", None),
    ("GET", "/messages", None), ("PUT", "/messages/{other}", {"text": "let me in"}),
    ("GET", "/messages/{message}", None),
    ("PUT", "/messages/{message}", {"text": "hello"}), ("PATCH", "/messages/{message}", {"text": "mine"}),
    ("DELETE", "/messages/{message}", None), ("PUT", "/read-marker", {"messageId": "{message}"}),
]


@pytest.mark.parametrize("method, rest, body", ROOM_OPERATIONS)
def test_a_room_of_others_is_not_found(world, anna, method, rest, body):
    room = anna.room("Secret")
    known = {
        "other": new_id(), "owner": anna.id, "message": anna.send(room, "hello")["id"],
        "invite": anna.post(f"{room.path}/invites", {})["id"],
    }
    body = body and {name: value.format(**known) for name, value in body.items()}
    stranger, gone = world.users("Stranger", "Gone")
    anna.put(f"{room.path}/members/{gone.id}")
    gone.post(f"{room.path}/leave")
    head = world.head
    nowhere = Room(new_id())
    # A user who was never a member, one who has left, and a request for a room that does not exist get the same
    # response.
    problems = [
        stranger.refused("room_not_found", method, room.path + rest.format(**known), body),
        gone.refused("room_not_found", method, room.path + rest.format(**known), body),
        stranger.refused("room_not_found", method, nowhere.path + rest.format(**known), body),
    ]
    details = {problem["detail"].replace(room.id, "ID").replace(nowhere.id, "ID") for problem in problems}
    assert len(details) == 1, "the response tells a stranger whether the room exists"
    assert world.head == head
