"""Data that apps store with profiles and rooms."""

import json

import pytest

from harness.client import new_id

BYTES = 4 * 1024
DATA = {"b": [1, 2.5, None, True], "a": {"name": "앨리스"}}


def of_size(size: int) -> str:
    value = "x" * (size - 2)
    assert len(json.dumps(value)) == size
    return value


def test_a_profiles_data_is_shown_to_everybody_and_replaced_as_a_whole(world, anna, ben):
    key = new_id()
    first = anna.patch("/v1/me", {"custom": DATA}, key=key)
    assert first["custom"] == DATA and first["position"] == first["revision"] == world.head
    assert "custom" not in ben.get("/v1/me")
    for seen in (
        anna.get("/v1/me"), ben.get(f"/v1/users/{anna.id}"), ben.get("/v1/users", ids=anna.id)["users"][0],
        world.admin.get(f"/v1/users/{anna.id}"),
    ):
        assert seen["custom"] == DATA
    anna.patch("/v1/me", {"nickname": "Anna K."})
    assert ben.get(f"/v1/users/{anna.id}")["custom"] == DATA
    changed = anna.patch("/v1/me", {"nickname": "Anna", "custom": {"c": 1}})
    assert (changed["nickname"], changed["custom"]) == ("Anna", {"c": 1})
    gone = anna.patch("/v1/me", {"custom": None})
    assert "custom" not in gone and "custom" not in ben.get(f"/v1/users/{anna.id}")
    # A late retry gets the first response and changes nothing.
    again = anna.patch("/v1/me", {"custom": DATA}, key=key, expect=200)
    assert (again["custom"], again["position"]) == (DATA, first["position"])
    assert "custom" not in anna.get("/v1/me")
    anna.refused("idempotency_key_reused", "PATCH", "/v1/me", {"custom": {}}, key=key)


def test_a_rooms_data_is_shown_with_the_room_and_changed_by_its_administrators(world, anna, ben, room):
    assert "custom" not in ben.see(room)
    key = new_id()
    first = anna.patch(room.path, {"custom": DATA}, key=key)
    assert first["custom"] == DATA and first["revision"] == first["position"]
    assert ben.see(room)["custom"] == DATA
    assert next(each for each in ben.get("/v1/rooms")["rooms"] if each["id"] == room.id)["custom"] == DATA
    anna.send(room, "hello")
    anna.patch(room.path, {"topic": "Oolong"})
    assert ben.see(room)["custom"] == DATA
    ben.refused("forbidden", "PATCH", room.path, {"custom": 1})
    assert world.admin.patch(room.path, {"custom": [7]})["custom"] == [7]
    assert "custom" not in anna.patch(room.path, {"custom": None})
    assert "custom" not in ben.see(room)
    again = anna.patch(room.path, {"custom": DATA}, key=key, expect=200)
    assert (again["custom"], again["position"]) == (DATA, first["position"])
    assert "custom" not in ben.see(room)
    direct = anna.direct(ben)
    anna.refused("direct_room_fixed", "PATCH", direct.path, {"custom": 1})
    anna.post(f"{room.path}/archive")
    anna.refused("room_archived", "PATCH", room.path, {"custom": 1})


@pytest.mark.parametrize("value", [0, False, "", "null", [], {}, [None], {"": ""}, 1e300, "a\u0000b"])
def test_every_value_is_returned_as_it_was_sent(anna, ben, room, value):
    anna.patch("/v1/me", {"custom": value})
    anna.patch(room.path, {"custom": value})
    for seen in (ben.get(f"/v1/users/{anna.id}"), ben.see(room)):
        assert seen["custom"] == value and type(seen["custom"]) in (type(value), int)


@pytest.mark.parametrize("size", [BYTES - 1, BYTES, BYTES + 1])
def test_the_length_of_the_data(anna, room, size):
    for path in ("/v1/me", room.path):
        body = {"custom": of_size(size)}
        if size > BYTES:
            assert anna.refused("custom_data_too_long", "PATCH", path, body)["field"] == "/custom"
        else:
            assert anna.patch(path, body)["custom"] == body["custom"]


def test_malformed_data_is_refused(anna, room):
    deep = "[" * 65 + "]" * 65
    for path in ("/v1/me", room.path):
        for data in ('{"custom":{"a":1,"a":2}}', '{"custom":' + deep + "}"):
            anna.refused("invalid_json", "PATCH", path, data=data.encode())
    anna.refused("invalid_field", "PATCH", "/v1/me", {"email": "a@example.org", "custom": 1})
    office = anna.workspace()
    anna.refused("unknown_field", "PATCH", office.path, {"custom": 1})


def test_a_room_is_created_with_its_data(world, anna, ben):
    body = {"id": new_id(), "name": "Tea", "custom": DATA, "memberIds": [ben.id]}
    first = anna.post("/v1/rooms", body)
    assert first["custom"] == DATA and first["revision"] == first["position"]
    path = f"/v1/rooms/{body['id']}"
    assert ben.get(path)["custom"] == DATA and ben.get(path)["revision"] == first["revision"]
    again = anna.post("/v1/rooms", body, expect=200)
    assert (again["custom"], again["position"]) == (DATA, first["position"])
    for other in ({"custom": 1}, {"custom": None}):
        anna.refused("id_in_use", "POST", "/v1/rooms", body | other)
    anna.patch(path, {"custom": [1]}, headers={"If-Match": f'"{first["revision"]}"'})
    assert ben.get(path)["custom"] == [1]
    assert "custom" not in anna.post("/v1/rooms", {"name": "Tea", "custom": None})
    office = anna.workspace()
    channel = {"kind": "channel", "name": "Tea", "workspaceId": office.id, "isPublic": True, "custom": of_size(BYTES)}
    assert anna.post("/v1/rooms", channel)["custom"] == of_size(BYTES)
    long = anna.refused("custom_data_too_long", "POST", "/v1/rooms", channel | {"custom": of_size(BYTES + 1)})
    assert long["field"] == "/custom"
    direct = {"kind": "direct", "memberIds": [ben.id], "custom": 1}
    assert anna.refused("invalid_field", "POST", "/v1/rooms", direct)["field"] == "/custom"


def test_a_revision_protects_the_data(anna, ben, room):
    for path in ("/v1/me", room.path):
        revision = anna.get(path)["revision"]
        first = anna.patch(path, {"custom": 1}, headers={"If-Match": f'"{revision}"'})
        anna.refused("revision_mismatch", "PATCH", path, {"custom": 2}, headers={"If-Match": f'"{revision}"'})
        assert anna.get(path)["custom"] == 1 and anna.get(path)["revision"] == first["revision"]


def test_who_finds_a_public_channel_sees_its_data(world, anna, ben):
    office = anna.workspace()
    office.take_in(world, ben)
    channel = anna.channel(office)
    anna.patch(channel.path, {"custom": DATA})
    assert ben.see(channel)["custom"] == DATA and ben.see(channel)["role"] is None
    assert ben.get(f"{office.path}/channels")["rooms"][0]["custom"] == DATA


def test_changes_are_items_of_the_sync(anna, ben, room):
    anna.patch("/v1/me", {"custom": {"first": 1}})
    page = ben.get("/v1/sync", limit=200)
    while page["more"]:
        page = ben.get("/v1/sync", limit=200, since=page["cursor"])
    anna.patch("/v1/me", {"custom": DATA})
    anna.patch(room.path, {"custom": DATA})
    items = ben.get("/v1/sync", since=page["cursor"], limit=200)["items"]
    of_type = {item["type"]: item for item in items}
    assert of_type["room"]["room"]["custom"] == DATA
    # The short form of a user has no data. The item says that the profile has changed.
    assert of_type["user"]["user"] == {"id": anna.id, "nickname": anna.nickname, "picture": None}


def test_a_page_of_rooms_has_the_data_of_each(anna):
    rooms = [anna.room(f"Tea {number}") for number in range(4)]
    for room in rooms:
        anna.patch(room.path, {"custom": of_size(BYTES)})
    listed = anna.get("/v1/rooms", limit=200)["rooms"]
    assert [each["custom"] for each in listed if each["id"] in {room.id for room in rooms}] == [of_size(BYTES)] * 4


def test_a_deleted_account_has_no_data_and_the_rooms_stays(world, ben):
    anna = world.user("Anna")
    room = anna.room("Tea", ben)
    ben.send(room, "hello")
    anna.patch("/v1/me", {"custom": DATA})
    anna.patch(room.path, {"custom": DATA})
    world.admin.delete(f"/v1/admin/users/{anna.id}")
    assert "custom" not in ben.get(f"/v1/users/{anna.id}")
    assert ben.see(room)["custom"] == DATA
