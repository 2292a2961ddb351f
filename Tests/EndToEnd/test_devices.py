"""Devices: their owner describes them, others never see them, and nobody sees a push token."""

import pytest

from harness.client import Api, new_id

# The keys of RFC 8291, section 5.
SUBSCRIPTION = {
    "endpoint": "https://push.example.org/send/a1",
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}
PHONE = {"name": "Anna's phone", "type": "ios", "osVersion": "26.1", "apnsToken": "apns-secret-1"}


def test_a_device_is_registered_replaced_and_removed(world, anna):
    path = f"/v1/devices/{new_id()}"
    made = anna.put(path, PHONE)
    assert (made["name"], made["type"], made["osVersion"]) == ("Anna's phone", "ios", "26.1")
    assert made["pushProviders"] == ["apns"] and made["position"] == world.head
    assert anna.get(path) == made
    replaced = anna.put(path, {"type": "android", "fcmToken": "fcm-secret"})
    assert (replaced["name"], replaced["osVersion"], replaced["pushProviders"]) == (None, None, ["fcm"])
    assert anna.get("/v1/devices")["devices"] == [replaced]
    removed = anna.delete(path)
    assert (removed["name"], removed["pushProviders"]) == (None, [])
    anna.refused("device_not_found", "GET", path)
    anna.refused("device_not_found", "DELETE", path)
    assert anna.get("/v1/devices")["devices"] == []


def test_a_browser_registers_its_subscription(world, anna):
    path = f"/v1/devices/{new_id()}"
    made = anna.put(path, {"type": "web", "webPush": SUBSCRIPTION})
    assert made["pushProviders"] == ["webPush"] and anna.get(path) == made
    every = anna.put(path, PHONE | {"fcmToken": "f", "webPush": SUBSCRIPTION})
    assert every["pushProviders"] == ["apns", "fcm", "webPush"]
    # A subscription belongs to one device, as other tokens do. The device that loses it keeps its tokens of other providers.
    other = f"/v1/devices/{new_id()}"
    anna.put(other, {"webPush": SUBSCRIPTION})
    assert anna.get(path)["pushProviders"] == ["apns", "fcm"]
    assert anna.put(other, {"webPush": None})["pushProviders"] == []


@pytest.mark.parametrize("changed, field", [
    ({"endpoint": "http://push.example.org/a"}, "webPush.endpoint"),
    ({"endpoint": "https://push.example.org:443/a"}, "webPush.endpoint"),
    ({"endpoint": "https://anna@push.example.org/a"}, "webPush.endpoint"),
    ({"endpoint": "https://push.example.org/a#b"}, "webPush.endpoint"),
    ({"endpoint": "https://push.example.org/" + "a" * 1000}, "webPush.endpoint"),
    ({"p256dh": "BCVxsr7N"}, "webPush.p256dh"),
    ({"p256dh": "A" * 87}, "webPush.p256dh"),
    ({"auth": "BTBZMqHH6r4Tts7J_aSIgg=="}, "webPush.auth"),
    ({"auth": "BTBZ"}, "webPush.auth"),
])
def test_a_subscription_has_its_form(anna, changed, field):
    problem = anna.refused("invalid_field", "PUT", f"/v1/devices/{new_id()}", {"webPush": SUBSCRIPTION | changed})
    assert problem["detail"].startswith(field)


def test_a_subscription_is_complete_and_has_no_other_fields(anna):
    path = f"/v1/devices/{new_id()}"
    anna.refused("invalid_field", "PUT", path, {"webPush": {"endpoint": SUBSCRIPTION["endpoint"]}})
    anna.refused("unknown_field", "PUT", path, {"webPush": SUBSCRIPTION | {"expirationTime": None}})


def test_what_a_device_says_of_its_notifications(world, anna):
    path = f"/v1/devices/{new_id()}"
    made = anna.put(path, PHONE)
    assert (made["apnsEnvironment"], made["language"], made["roomChanges"]) == (None, None, False)
    body = PHONE | {"apnsEnvironment": "sandbox", "language": "pt-BR", "roomChanges": True}
    changed = anna.put(path, body)
    assert (changed["apnsEnvironment"], changed["language"], changed["roomChanges"]) == ("sandbox", "pt-BR", True)
    assert anna.get(path) == changed
    assert anna.get("/v1/devices")["devices"] == [changed]
    shown = [item["device"] for item in anna.get("/v1/sync")["items"] if item["type"] == "device"]
    assert shown == [changed]
    assert anna.put(path, PHONE)["apnsEnvironment"] is None, "what is absent is removed"
    anna.refused("invalid_field", "PUT", path, {"apnsEnvironment": "development"})
    anna.refused("language_malformed", "PUT", path, {"language": "pt_BR"})
    anna.refused("language_malformed", "PUT", path, {"language": ""})
    anna.refused("invalid_field", "PUT", path, {"roomChanges": "yes"})


def test_push_tokens_are_never_given_back(anna):
    path = f"/v1/devices/{new_id()}"
    body = PHONE | {"fcmToken": "fcm-secret-2", "webPush": SUBSCRIPTION | {"endpoint": "https://secret.example.org/a"}}
    for response in (
        anna.request("PUT", path, body), anna.request("GET", path), anna.request("GET", "/v1/devices"),
        anna.request("DELETE", path),
    ):
        assert "secret" not in response.text


def test_devices_are_visible_to_their_owner_only(anna, ben):
    path = f"/v1/devices/{new_id()}"
    anna.put(path, PHONE)
    ben.refused("device_not_found", "GET", path)
    ben.refused("device_not_found", "DELETE", path)
    assert ben.get("/v1/devices")["devices"] == []
    anna.get(path)


def test_a_device_takes_its_sessions_with_it(world, anna):
    device = new_id()
    anna.put(f"/v1/devices/{device}", PHONE)
    tokens = world.acting_as(anna.id).post("/v1/sessions", {"deviceId": device})
    on_device = Api(world.server, tokens["accessToken"])
    on_device.get("/v1/me")
    anna.delete(f"/v1/devices/{device}")
    on_device.refused("session_ended", "GET", "/v1/me")
    world.nobody.refused("session_ended", "POST", "/v1/sessions/refresh", {"refreshToken": tokens["refreshToken"]})
    anna.get("/v1/me")


def test_a_late_retry_of_a_removal_does_not_remove_what_came_after(anna):
    path, key = f"/v1/devices/{new_id()}", new_id()
    anna.put(path, PHONE)
    anna.delete(path, key=key)
    anna.put(path, {"name": "again"})
    anna.delete(path, key=key, expect=200)
    assert anna.get(path)["name"] == "again"


def test_a_key_names_one_mutation_of_one_user(anna, ben):
    key, device = new_id(), new_id()
    anna.put(f"/v1/devices/{device}", PHONE, key=key)
    anna.put(f"/v1/devices/{device}", PHONE, key=key, expect=200)
    anna.refused("idempotency_key_reused", "PUT", f"/v1/devices/{device}", PHONE | {"name": "other"}, key=key)
    anna.refused("idempotency_key_reused", "PUT", f"/v1/devices/{new_id()}", PHONE, key=key)
    anna.refused("idempotency_key_reused", "PATCH", "/v1/me", {"nickname": "Other"}, key=key)
    ben.put(f"/v1/devices/{new_id()}", PHONE, key=key)
    anna.refused("invalid_idempotency_key", "PUT", f"/v1/devices/{device}", PHONE, key="x" * 256)
