"""A creation with an Idempotency-Key and without an ID happens once."""

import hashlib
import http.client
import json
import uuid

import pytest

from harness.client import new_id


@pytest.fixture
def places(anna, ben):
    """For each creation: the path, the body, and another body to send under the same key."""
    room, workspace = anna.room("Tea", ben), anna.workspace("Office")
    report = {"userId": ben.id, "reason": "spam"}
    return {
        "room": ("/v1/rooms", {"name": "Kettle"}, {"name": "Other"}),
        "workspace": ("/v1/workspaces", {"name": "Kettle"}, {"name": "Other"}),
        "invite": (f"{room.path}/invites", {"maxUses": 3}, {"maxUses": 4}),
        "workspace invite": (f"{workspace.path}/invites", {"maxUses": 3}, {"maxUses": 4}),
        "report": (f"{room.path}/reports", report, report | {"comment": "again"}),
    }


CREATIONS = ["room", "workspace", "invite", "workspace invite", "report"]


@pytest.mark.parametrize("what", CREATIONS)
def test_a_retry_under_the_key_is_the_same_creation(anna, places, what):
    path, body, other = places[what]
    key = new_id()
    made = anna.post(path, body, key=key)
    head = anna.server.head()
    assert anna.post(path, body, key=key, expect=200) == made
    assert anna.server.head() == head, "the retry has written"
    anna.refused("idempotency_key_reused", "POST", path, other, key=key)
    assert anna.post(path, body, key=new_id())["id"] != made["id"]
    assert anna.post(path, body)["id"] != made["id"]
    given = new_id()
    assert anna.post(path, body | {"id": given}, key=key)["id"] == given, "an ID goes before the key"
    anna.refused("invalid_idempotency_key", "POST", path, body, key="té")


def test_two_keys_are_refused(anna):
    for keys in ((new_id(), new_id()), ("7", "7")):
        connection = http.client.HTTPConnection("127.0.0.1", anna.server.port, timeout=60)
        try:
            body = json.dumps({"name": "Kettle"}).encode()
            connection.putrequest("POST", "/v1/rooms")
            for name, value in (
                ("Authorization", f"Bearer {anna.token}"), ("Content-Type", "application/json"),
                ("Content-Length", str(len(body))), *(("Idempotency-Key", key) for key in keys),
            ):
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            assert (response.status, json.load(response)["code"]) == (400, "invalid_idempotency_key")
        finally:
            connection.close()


def test_any_text_can_be_a_key(world, anna, ben):
    """A key that is not a UUID stands for one, also in an ingest line."""
    for key in ("7", "order 7, first attempt", "x" * 255):
        made = anna.post("/v1/rooms", {"name": "Kettle"}, key=key)
        assert anna.post("/v1/rooms", {"name": "Kettle"}, key=key, expect=200) == made
    room = anna.room("Tea", ben)
    key = "tea is ready"
    moved = ben.put(f"{room.path}/mute", {"until": "2090-01-01T00:00:00Z"}, key=key)
    as_uuid = str(uuid.UUID(bytes=hashlib.sha256(key.encode()).digest()[:16]))
    again = ben.put(f"{room.path}/mute", {"until": "2090-01-01T00:00:00Z"}, key=as_uuid, expect=200)
    assert again["position"] == moved["position"]
    sent = anna.send(room, "hello")
    line = {"op": "message.pin", "roomId": room.id, "messageId": sent["id"], "key": "pin it"}
    first, second, wrong = anna.ingest([line, line, line | {"key": ""}])
    assert (first["status"], second["status"], second["replayed"]) == (201, 200, True)
    assert wrong["code"] == "invalid_field"


def test_a_key_is_its_callers_own_and_each_kinds(world, anna, ben, places):
    key = new_id()
    ids = {anna.post(path, body, key=key)["id"] for path, body, _ in places.values()}
    assert len(ids) == len(places)
    path, body, _ = places["room"]
    assert ben.post(path, body, key=key)["id"] not in ids
    assert world.admin.post(path, body, key=key)["id"] not in ids
    again = world.acting_as(anna.id).post(path, body, key=key, expect=200)
    assert again["id"] in ids, "a service in her name repeats what she asked for"


def test_the_retry_is_known_after_a_restart(own_world):
    anna, key = own_world.user("Anna"), new_id()
    made = anna.post("/v1/rooms", {"name": "Kettle"}, key=key)
    own_world.server.restart()
    assert anna.post("/v1/rooms", {"name": "Kettle"}, key=key, expect=200)["id"] == made["id"]
    assert len(anna.get("/v1/rooms")["rooms"]) == 1
