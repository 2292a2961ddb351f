"""Notifications to Apple's devices, with a stand-in for APNs that checks what Apple's documentation requires."""

import uuid
from collections import Counter

import pytest

from harness.people import World
from harness.push_apns import TOPIC
from harness.push_apns_rules import STATUS_OF
from harness.push_outcomes import (
    DEAD, DELIVERED, REJECTED, arrives, attempts, becomes, check_badges_of_burst, comes_to, invalidated, outcomes,
    provider, responses, silence)
from harness.push_phones import APNS, SANDBOX
from harness.push_service import DROP, RESET, SILENCE, Reply
from harness.push_phones import LONG_SESSIONS, PUSH_THREADS
from harness.shifted_clock import DAY, ShiftedClock
from harness.times import parse
from harness.waiting import wait_until


def talking(server, services, kind: str = APNS):
    """Anna, Ben with a device, and a room of both."""
    anna, ben = World(server).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    return anna, ben, services.phone(ben, kind), room


def test_an_alert_has_the_documented_headers_and_payload(notifying, services):
    anna, ben, phone, room = talking(notifying, services)
    sent = anna.send(room, "The kettle is on.")
    arrived = arrives(services, phone, sent)
    push = arrived.push
    assert (push.topic, push.push_type, push.priority, push.collapse_id) == (TOPIC, "alert", 10, None)
    assert push.id == str(uuid.UUID(arrived.key[:32])) and len(arrived.key) == 64
    assert push.expiration == int(parse(sent["sentAt"]).timestamp()) + DAY
    assert push.aps == {
        "alert": {"title": "Tea", "body": "Anna: The kettle is on."}, "badge": 1, "sound": "default",
        "category": "message", "thread-id": room.id, "mutable-content": 1,
    }
    assert arrived.fields == {
        "kind": "message", "roomId": room.id, "messageId": sent["id"], "senderId": anna.id,
        "position": sent["position"], "deliveryKey": arrived.key, "badge": 1,
    }
    comes_to(notifying, sent, {phone: DELIVERED})


def test_each_device_uses_its_environment_and_badges_come_in_order(notifying, services):
    anna, ben, phone, room = talking(notifying, services)
    developer = services.phone(ben, SANDBOX)
    sent = [anna.send(room, f"{number}") for number in range(20)]
    for device, service in ((phone, "apns"), (developer, "sandbox")):
        arrives(services, device, sent[-1])
        arrived = services.arrivals(device.token)
        assert {one.service for one in arrived} == {service}
        check_badges_of_burst([one.badge for one in arrived], 20)
    # One long-lived connection of each thread to each, with one provider token.
    for service in (services.apns, services.sandbox):
        assert service.connections <= PUSH_THREADS and len(service.provider_tokens) == 1


def test_a_long_text_is_cut_at_a_whole_character(notifying, services):
    anna, ben, phone, _ = talking(notifying, services)
    room = anna.room("길" * 60, ben)
    arrived = arrives(services, phone, anna.send(room, "길" * 5_000))
    assert arrived.title == "길" * 60 and set(arrived.body.removeprefix("Anna: ")) == {"길"}


def test_a_provider_token_is_renewed_before_an_hour_is_over(tmp_path, services):
    clock = ShiftedClock(tmp_path)
    server = services.server(tmp_path / "data", clock.environment | LONG_SESSIONS).start()
    try:
        anna, _, phone, room = talking(server, services)
        real, tokens = services.apns.now, []
        for minutes in (0, 40, 51, 90, 103):
            clock.shift(wall=minutes * 60, uptime=minutes * 60)
            services.apns.now = lambda minutes=minutes: real() + minutes * 60
            arrives(services, phone, anna.send(room, f"after {minutes} minutes"))
            tokens.append(len(services.apns.provider_tokens))
        # The stand-in rejects tokens that are older than an hour or renewed within 20 minutes.
        assert tokens == [1, 1, 2, 2, 3]
    finally:
        server.end()


def test_a_certificate_takes_the_place_of_provider_tokens(tmp_path, services):
    server = services.server(tmp_path / "data", apns=services.certificate_settings()).start()
    try:
        anna, _, phone, room = talking(server, services)
        arrives(services, phone, anna.send(room, "hello"))
        assert services.apns.provider_tokens == []
    finally:
        server.end()


# MARK: Responses

DEAD_REASONS = ("BadDeviceToken", "ExpiredToken", "MissingDeviceToken", "Unregistered")
REJECTED_REASONS = (
    "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "DeviceTokenNotForTopic", "DuplicateHeaders",
    "InvalidPushType", "PayloadEmpty", "PayloadTooLarge")
RETRIED_REASONS = ("IdleTimeout", "InternalServerError", "ServiceUnavailable", "Shutdown", "TooManyRequests")
STOPPING_REASONS = (
    "BadCertificate", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadPath", "BadTopic", "Forbidden",
    "InvalidProviderToken", "MethodNotAllowed", "MissingProviderToken", "MissingTopic", "TopicDisallowed",
    "UnrelatedKeyIdInToken")


def test_each_documented_error_of_a_device_has_its_effect(notifying, services):
    anna, ben = World(notifying).users("Anna", "Ben")
    reasons = DEAD_REASONS + REJECTED_REASONS + RETRIED_REASONS
    room = anna.room("Tea", ben)
    phones = {reason: services.phone(ben, APNS) for reason in reasons}
    # Once one was accepted, a refusal of a single token does not mean that the key or the topic is wrong.
    accepted = anna.send(room, "accepted")
    for phone in phones.values():
        arrives(services, phone, accepted)
    planned = {phone.token: reason for reason, phone in phones.items()}

    def respond(push) -> Reply | None:
        reason = planned.pop(push.token, None)
        # Without it, the device would wait for a minute.
        headers = {"retry-after": "1"} if reason == "TooManyRequests" else {}
        return reason and services.apns.error(reason, headers=headers)

    services.apns.respond = respond
    first = anna.send(room, "first")
    effects = dict.fromkeys(DEAD_REASONS, DEAD) | dict.fromkeys(REJECTED_REASONS, REJECTED)
    effects |= dict.fromkeys(RETRIED_REASONS, DELIVERED)
    comes_to(notifying, first, {phones[reason]: effect for reason, effect in effects.items()})
    assert invalidated(notifying) == {phones[reason].id for reason in DEAD_REASONS}
    shown = responses(notifying, first)
    assert {reason: shown[phone.id] for reason, phone in phones.items()} == dict.fromkeys(reasons) | {
        reason: f"{STATUS_OF[reason]} {reason}" for reason in DEAD_REASONS + REJECTED_REASONS}
    second = anna.send(room, "second")
    for reason in REJECTED_REASONS + RETRIED_REASONS:
        arrives(services, phones[reason], second)
    for reason in DEAD_REASONS:
        assert silence(notifying, second, phones[reason]) == "noToken"
        assert ben.get(f"/v1/devices/{phones[reason].id}")["pushProviders"] == []
    counts = {reason: len(attempts(services, phone, first)) for reason, phone in phones.items()}
    assert counts == dict.fromkeys(DEAD_REASONS + REJECTED_REASONS, 1) | dict.fromkeys(RETRIED_REASONS, 2)
    for reason in RETRIED_REASONS:
        assert len({one.identity for one in attempts(services, phones[reason], first)}) == 1
    assert provider(notifying, "apns")["state"] == "running"


def test_an_expired_provider_token_is_renewed_and_the_notification_sent_again(notifying, services):
    anna, _, phone, room = talking(notifying, services)
    arrives(services, phone, anna.send(room, "first"))
    planned = ["ExpiredProviderToken"]

    def respond(push) -> str | None:
        if not planned:
            return None
        services.apns.expect_new_token()
        return planned.pop()

    services.apns.respond = respond
    sent = anna.send(room, "second")
    arrives(services, phone, sent)
    assert len(attempts(services, phone, sent)) == 2 and len(services.apns.provider_tokens) == 2


def test_too_many_provider_tokens_pause_the_provider(notifying, services):
    anna, _, phone, room = talking(notifying, services)
    planned = [services.apns.error("TooManyProviderTokenUpdates", headers={"retry-after": "2"})]
    services.apns.respond = lambda push: planned.pop() if planned else None
    sent = anna.send(room, "hello")
    assert "TooManyProviderTokenUpdates" in becomes(notifying, "apns", "paused")["detail"]
    arrives(services, phone, sent)
    assert becomes(notifying, "apns", "running")
    one, other = attempts(services, phone, sent)
    assert other.time - one.time >= 2, "Retry-After is not obeyed"


def test_a_wrong_key_or_topic_stops_the_provider_until_it_is_corrected(notifying, services):
    anna, ben, phone, room = talking(notifying, services)
    for reason in STOPPING_REASONS:
        services.apns.respond = lambda push, reason=reason: reason
        sent = anna.send(room, reason)
        detail = becomes(notifying, "apns", "stopped")["detail"]
        # It says what happened and which setting to check.
        assert reason in detail and ("push.apns." in detail or "developer account" in detail), detail
        assert len(attempts(services, phone, sent)) == 1
        assert outcomes(notifying, sent)[phone.id] == ("waiting", None)
        services.apns.respond = lambda push: None
        services.expect_restart()
        notifying.restart()
        arrives(services, phone, sent)
        assert becomes(notifying, "apns", "running")
    assert invalidated(notifying) == set()


# MARK: Connections


def crowd(server, services, devices: int, kind: str = APNS):
    anna, ben = World(server).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    return anna, [services.phone(ben, kind) for _ in range(devices)], room


def check_all(services, phones, sent: list[dict], at_most: int) -> None:
    """Each device got each notification in order, at most `at_most` times. A repeat is the same notification."""
    for phone in phones:
        for event in sent:
            arrives(services, phone, event)
        delivered = services.delivered(phone.token)
        counts = Counter(one.position for one in delivered)
        assert set(counts) == {event["position"] for event in sent} and max(counts.values()) <= at_most
        assert [one.badge for one in delivered] == sorted(one.badge for one in delivered)
        assert len({(one.key, one.identity) for one in delivered}) == len(sent)


def check_connections_that_go_away(server, services, kind: str) -> None:
    """If the service ends each connection with GOAWAY after a few requests, each notification arrives once."""
    service = services.all[kind]
    service.goaway_after = 7
    anna, phones, room = crowd(server, services, 10, kind)
    sent = [anna.send(room, f"{number}") for number in range(10)]
    check_all(services, phones, sent, at_most=1)
    assert service.connections >= 100 // 7


def test_a_connection_that_goes_away_loses_and_repeats_nothing(notifying, services):
    check_connections_that_go_away(notifying, services, APNS)


@pytest.mark.parametrize("ending", [RESET, DROP], ids=["reset", "drop"])
def test_notifications_on_lost_streams_and_connections_are_sent_again(notifying, services, ending):
    anna, phones, room = crowd(notifying, services, 5)
    count = Counter()

    def respond(push) -> Reply | None:
        count[push.token] += 1
        return ending if count[push.token] == 2 else None

    services.apns.respond = respond
    sent = [anna.send(room, f"{number}") for number in range(4)]
    # If a connection is dropped, the responses of its other streams may be lost too.
    check_all(services, phones, sent, at_most=1 if ending is RESET else 6)


def test_a_notification_without_a_response_is_sent_again_and_delays_no_other(notifying, services):
    anna, (first, *others), room = crowd(notifying, services, 5)
    planned = {first.token: SILENCE}
    services.apns.respond = lambda push: planned.pop(push.token, None)
    sent = anna.send(room, "hello")
    for phone in others:
        arrives(services, phone, sent)
    assert [one.is_delivered for one in attempts(services, first, sent)] == [False], "the others waited"
    arrives(services, first, sent)
    assert len({one.identity for one in attempts(services, first, sent)}) == 1


def test_a_connection_without_responses_is_used_once(notifying, services):
    services.apns.respond = lambda push: SILENCE if push.connection == 1 else None
    anna, _, phone, room = talking(notifying, services)
    sent = anna.send(room, "hello")
    arrives(services, phone, sent)
    first, *others = [one.push.connection for one in attempts(services, phone, sent)]
    assert first == 1 and len(others) == 1 and others != [1]


def test_the_limit_on_streams_is_obeyed(notifying, services):
    services.apns.max_streams = 3
    services.apns.latency = lambda: 0.02
    anna, phones, room = crowd(notifying, services, 30)
    sent = [anna.send(room, f"{number}") for number in range(3)]
    # The stand-in reports each stream above the limit as a fault.
    check_all(services, phones, sent, at_most=1)


def test_a_service_that_refuses_connections_pauses_the_provider(notifying, services):
    services.apns.refuse_connections()
    anna, _, phone, room = talking(notifying, services)
    sent = anna.send(room, "hello")
    assert becomes(notifying, "apns", "paused")["detail"]
    services.apns.listen()
    arrives(services, phone, sent)
    assert becomes(notifying, "apns", "running")
    comes_to(notifying, sent, {phone: DELIVERED})


def test_a_service_that_closes_each_connection_is_tried_again(notifying, services):
    services.apns.is_down = True
    anna, _, phone, room = talking(notifying, services)
    sent = anna.send(room, "hello")
    wait_until(lambda: services.apns.refused > 1, "there is no second attempt")
    services.apns.is_down = False
    arrives(services, phone, sent)
