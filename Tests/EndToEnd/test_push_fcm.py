"""Notifications through Firebase Cloud Messaging, against a stand-in for FCM and for Google's OAuth endpoint."""

import uuid

import pytest

from harness.people import World
from harness.push_fcm_rules import unauthenticated
from harness.push_outcomes import (
    DEAD, DELIVERED, REJECTED, arrives, attempts, becomes, check_badges_of_burst, comes_to, invalidated, outcomes,
    provider, responses, silence)
from harness.push_phones import CHANNEL, FCM
from harness.push_service import DROP, RESET, SILENCE, Reply
from harness.push_phones import LONG_SESSIONS, PUSH_THREADS
from harness.shifted_clock import DAY, ShiftedClock
from test_push_apns import check_connections_that_go_away


def talking(server, services):
    """Anna, Ben with an Android device, and a room of both."""
    anna, ben = World(server).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    return anna, ben, services.phone(ben, FCM), room


def test_an_alert_has_the_documented_form(notifying, services):
    anna, _, phone, room = talking(notifying, services)
    sent = anna.send(room, "The kettle is on.")
    arrived = arrives(services, phone, sent)
    message, android = arrived.push.message, arrived.push.android
    assert arrived.fields == {
        "kind": "message", "roomId": room.id, "messageId": sent["id"], "senderId": anna.id,
        "position": str(sent["position"]), "deliveryKey": arrived.key, "badge": "1",
    }
    assert message["notification"] == {"title": "Tea", "body": "Anna: The kettle is on."}
    assert android["priority"].upper() == "HIGH" and "collapseKey" not in android
    assert 0 < int(android["ttl"].removesuffix("s")) <= DAY
    assert android["notification"]["channelId"] == CHANNEL and android["notification"]["notificationCount"] == 1
    # What FCM passes on to APNs for iOS apps that use Firebase.
    apns = message["apns"]
    assert apns["headers"]["apns-id"] == str(uuid.UUID(arrived.key[:32]))
    assert (apns["headers"]["apns-push-type"], apns["headers"]["apns-priority"]) == ("alert", "10")
    assert {"badge": 1, "mutable-content": 1, "thread-id": room.id}.items() <= apns["payload"]["aps"].items()
    comes_to(notifying, sent, {phone: DELIVERED})


def test_all_messages_use_one_connection_of_each_thread_and_one_access_token(notifying, services):
    anna, ben = World(notifying).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    phones = [services.phone(ben, FCM) for _ in range(10)]
    sent = [anna.send(room, f"{number}") for number in range(10)]
    for phone in phones:
        arrives(services, phone, sent[-1])
        check_badges_of_burst([one.badge for one in services.arrivals(phone.token)], 10)
    assert services.fcm.grants == 1 and {push.protocol for push in services.fcm.taken()} == {"h2"}
    # The port is also that of the OAuth endpoint.
    assert services.fcm.connections <= PUSH_THREADS + 1


def test_a_connection_that_goes_away_loses_and_repeats_nothing(notifying, services):
    check_connections_that_go_away(notifying, services, FCM)


def test_a_long_text_is_cut_at_a_whole_character(notifying, services):
    anna, ben, phone, _ = talking(notifying, services)
    arrived = arrives(services, phone, anna.send(anna.room("길" * 60, ben), "길" * 5_000))
    assert arrived.title == "길" * 60 and set(arrived.body.removeprefix("Anna: ")) == {"길"}


def test_an_access_token_is_renewed_before_it_expires(tmp_path, services):
    clock = ShiftedClock(tmp_path)
    server = services.server(tmp_path / "data", clock.environment | LONG_SESSIONS).start()
    try:
        anna, _, phone, room = talking(server, services)
        real, grants = services.fcm.now, []
        for minutes in (0, 30, 61, 90):
            clock.shift(wall=minutes * 60, uptime=minutes * 60)
            services.fcm.now = lambda minutes=minutes: real() + minutes * 60
            arrives(services, phone, anna.send(room, f"after {minutes} minutes"))
            grants.append(services.fcm.grants)
        assert grants == [1, 1, 2, 2]
        # No request had an expired token.
        assert [push.access_token for push in services.fcm.taken()] == [1, 1, 2, 2]
    finally:
        server.end()


def test_an_access_token_that_is_not_accepted_is_replaced_once_for_all_messages(notifying, services):
    anna, ben = World(notifying).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    phones = [services.phone(ben, FCM) for _ in range(10)]
    arrives(services, phones[0], anna.send(room, "first"))
    services.fcm.expire_access_tokens()
    sent = anna.send(room, "second")
    for phone in phones:
        arrives(services, phone, sent)
    assert services.fcm.grants == 2


# MARK: Responses

DEAD_CODES = ("UNREGISTERED", "INVALID_ARGUMENT")
REJECTED_CODES = ("SENDER_ID_MISMATCH",)
RETRIED_CODES = ("INTERNAL", "THIRD_PARTY_AUTH_ERROR", "UNSPECIFIED_ERROR")
PAUSING_CODES = ("QUOTA_EXCEEDED", "UNAVAILABLE")


def test_each_documented_error_of_a_device_has_its_effect(notifying, services):
    anna, ben = World(notifying).users("Anna", "Ben")
    codes = DEAD_CODES + REJECTED_CODES + RETRIED_CODES
    room = anna.room("Tea", ben)
    phones = {code: services.phone(ben, FCM) for code in codes}
    # Once one was accepted, a refusal of a single token does not mean that the key or the topic is wrong.
    accepted = anna.send(room, "accepted")
    for phone in phones.values():
        arrives(services, phone, accepted)
    planned = {phone.token: code for code, phone in phones.items()}

    def respond(push) -> Reply | None:
        code = planned.pop(push.token, None)
        # Without Retry-After, some errors cause long pauses.
        headers = {"retry-after": "1"} if code in RETRIED_CODES else {}
        return code and services.fcm.error(code, headers=headers)

    services.fcm.respond = respond
    first = anna.send(room, "first")
    effects = dict.fromkeys(DEAD_CODES, DEAD) | dict.fromkeys(REJECTED_CODES, REJECTED)
    effects |= dict.fromkeys(RETRIED_CODES, DELIVERED)
    comes_to(notifying, first, {phones[code]: effect for code, effect in effects.items()})
    assert invalidated(notifying) == {phones[code].id for code in DEAD_CODES}
    shown = responses(notifying, first)
    for code, phone in phones.items():
        assert (shown[phone.id] or "").endswith(f" {code}" if code in DEAD_CODES + REJECTED_CODES else "")
        assert (shown[phone.id] is None) == (code in RETRIED_CODES)
    second = anna.send(room, "second")
    for code in REJECTED_CODES + RETRIED_CODES:
        arrives(services, phones[code], second)
    for code in DEAD_CODES:
        assert silence(notifying, second, phones[code]) == "noToken"
    counts = {code: len(attempts(services, phone, first)) for code, phone in phones.items()}
    assert counts == dict.fromkeys(DEAD_CODES + REJECTED_CODES, 1) | dict.fromkeys(RETRIED_CODES, 2)
    for code in RETRIED_CODES:
        one, other = attempts(services, phones[code], first)
        assert one.identity == other.identity and other.time - one.time >= 1, "Retry-After is not obeyed"
    assert provider(notifying, "fcm")["state"] == "running"


def test_the_quota_of_a_device_delays_no_other(notifying, services):
    anna, ben, phone, room = talking(notifying, services)
    other = services.phone(ben, FCM)
    services.fcm.respond = lambda push: (
        services.fcm.error("QUOTA_EXCEEDED", is_device=True, headers={"retry-after": "3600"})
        if push.token == phone.token else None)
    sent = [anna.send(room, f"{number}") for number in range(5)]
    arrives(services, other, sent[-1])
    assert len(services.arrivals(phone.token)) == 1 and provider(notifying, "fcm")["state"] == "running"
    assert outcomes(notifying, sent[0])[phone.id] == ("waiting", None)


@pytest.mark.parametrize("code", PAUSING_CODES)
def test_an_error_of_the_whole_project_pauses_the_provider(notifying, services, code):
    anna, ben, phone, room = talking(notifying, services)
    other = services.phone(ben, FCM)
    planned = [services.fcm.error(code, headers={"retry-after": "2"})]
    services.fcm.respond = lambda push: planned.pop() if planned else None
    sent = anna.send(room, "hello")
    assert code in becomes(notifying, "fcm", "paused")["detail"]
    later = anna.send(room, "meanwhile")
    for each in (phone, other):
        arrives(services, each, later)
    failed = next(one for one in services.arrivals() if not one.is_delivered)
    tried_again = min(one.time for one in services.arrivals() if one.position == later["position"])
    assert tried_again - failed.time >= 2, "Retry-After is not obeyed"
    assert sum(len(attempts(services, each, sent)) for each in (phone, other)) == 3
    assert becomes(notifying, "fcm", "running")


def test_a_service_account_that_may_not_send_stops_the_provider(notifying, services):
    anna, _, phone, room = talking(notifying, services)
    services.fcm.respond = lambda push: services.fcm.denied()
    sent = anna.send(room, "hello")
    assert "403" in becomes(notifying, "fcm", "stopped")["detail"]
    assert len(attempts(services, phone, sent)) == 1
    assert outcomes(notifying, sent)[phone.id] == ("waiting", None)
    services.fcm.respond = lambda push: None
    notifying.restart()
    arrives(services, phone, sent)


def test_an_access_token_that_is_never_accepted_stops_the_provider(notifying, services):
    anna, _, phone, room = talking(notifying, services)
    status, body = unauthenticated()
    services.fcm.respond = lambda push: Reply(status, {"content-type": "application/json"}, body)
    sent = anna.send(room, "hello")
    assert "push.fcm.keyFile" in becomes(notifying, "fcm", "stopped")["detail"]
    assert len(attempts(services, phone, sent)) == 2 and services.fcm.grants == 2


@pytest.mark.parametrize(("reply", "state"), [
    (Reply(400, body=b'{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}'), "stopped"),
    (Reply(503, {"retry-after": "1"}), "paused")])
def test_google_may_grant_no_access_token(notifying, services, reply, state):
    anna, _, phone, room = talking(notifying, services)
    services.fcm.respond_to_grant = lambda: reply
    sent = anna.send(room, "hello")
    assert str(reply.status) in becomes(notifying, "fcm", state)["detail"]
    assert services.fcm.taken() == []
    services.fcm.respond_to_grant = lambda: None
    if state == "stopped":
        notifying.restart()
    arrives(services, phone, sent)


@pytest.mark.parametrize("ending", [RESET, DROP, SILENCE], ids=["reset", "drop", "silence"])
def test_a_message_without_a_response_is_sent_again(notifying, services, ending):
    anna, _, phone, room = talking(notifying, services)
    planned = [ending]
    services.fcm.respond = lambda push: planned.pop() if planned else None
    sent = anna.send(room, "hello")
    arrives(services, phone, sent)
    assert [one.is_delivered for one in attempts(services, phone, sent)] == [False, True]
    assert len({(one.key, one.identity) for one in attempts(services, phone, sent)}) == 1
