"""Notifications to browsers, with a stand-in for their push services that decrypts each message with `http-ece`."""

import contextlib
import json

import pytest

from harness.certificates import Authority
from harness.client import Api, new_id
from harness.people import World
from harness.push_outcomes import (
    DEAD, DELIVERED, REJECTED, arrives, attempts, becomes, check_badges_of_burst, comes_to, invalidated, outcomes,
    provider, responses, silence)
from harness.push_phones import CHROME, FIREFOX, WEB_PUSH
from harness.push_service import DROP, RESET, SILENCE, Reply
from harness.push_webpush import WebPushes
from harness.push_phones import LONG_SESSIONS, PUSH_THREADS
from harness.shifted_clock import DAY, ShiftedClock
from harness.waiting import wait_until
from test_push_apns import check_connections_that_go_away


def talking(server, services):
    """Anna, Ben with a browser, and a room of both."""
    anna, ben = World(server).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    return anna, ben, services.phone(ben, WEB_PUSH), room


def test_a_message_is_encrypted_for_the_browser_alone(notifying, services):
    anna, ben, phone, room = talking(notifying, services)
    sent = anna.send(room, "The kettle is on.")
    arrived = arrives(services, phone, sent)
    push = arrived.push
    assert push.payload == {
        "kind": "message", "roomId": room.id, "messageId": sent["id"], "senderId": anna.id, "title": "Tea",
        "body": "Anna: The kettle is on.", "position": sent["position"], "deliveryKey": arrived.key, "badge": 1,
    }
    assert push.urgency == "high" and 0 < push.ttl <= DAY
    # A repeat replaces the first one if the browser has not got it yet.
    assert push.topic == arrived.key[:32]
    comes_to(notifying, sent, {phone: DELIVERED})
    assert ben.get(f"/v1/devices/{phone.id}")["pushProviders"] == ["webPush"]


def browsers(server, services):
    """Anna, browsers of Ben at two push services, and a room."""
    anna, ben = World(server).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    return anna, [services.phone(ben, WEB_PUSH, origin) for origin in range(2)], room


def test_each_push_service_gets_a_token_for_its_origin(notifying, services):
    anna, phones, room = browsers(notifying, services)
    sent = [anna.send(room, f"{number}") for number in range(10)]
    for phone in phones:
        arrives(services, phone, sent[-1])
        check_badges_of_burst([one.badge for one in services.arrivals(phone.token)], 10)
    # The stand-in refuses a token for another origin. One token for each is enough, and one connection of each thread.
    audiences = [claims["aud"] for claims in services.browsers.vapid_tokens.values()]
    assert sorted(audiences) == sorted(f"https://{host}" for host in (FIREFOX, CHROME))
    assert 2 <= services.browsers.connections <= 2 * PUSH_THREADS


def test_a_connection_that_goes_away_loses_and_repeats_nothing(notifying, services):
    check_connections_that_go_away(notifying, services, WEB_PUSH)


def test_a_token_is_replaced_before_it_expires(tmp_path, services):
    clock = ShiftedClock(tmp_path)
    server = services.server(tmp_path / "data", clock.environment | LONG_SESSIONS).start()
    try:
        anna, _, phone, room = talking(server, services)
        real = services.browsers.now
        for hours in (0, 3, 11, 25, 50):
            clock.shift(wall=hours * 3600, uptime=hours * 3600)
            services.browsers.now = lambda hours=hours: real() + hours * 3600
            arrives(services, phone, anna.send(room, f"after {hours} hours"))
        # The stand-in refuses a token that has expired, or that is valid for more than a day.
        assert 1 < len(services.browsers.vapid_tokens) < 5
    finally:
        server.end()


def test_a_long_text_is_cut_at_a_whole_character(notifying, services):
    anna, ben, phone, _ = talking(notifying, services)
    arrived = arrives(services, phone, anna.send(anna.room("길" * 60, ben), "길" * 5_000))
    assert arrived.title == "길" * 60 and set(arrived.body.removeprefix("Anna: ")) == {"길"}


def test_a_push_service_may_speak_only_http_1_1(tmp_path, services, authority):
    old = WebPushes(authority, (FIREFOX,), protocols=("http/1.1",))
    old.key = services.browsers.key
    services.browsers.ports = old.ports
    server = services.server(tmp_path / "data").start()
    try:
        anna, ben = World(server).users("Anna", "Ben")
        room, browser = anna.room("Tea", ben), old.subscribe()
        ben.put(f"/v1/devices/{new_id()}", {"webPush": browser.body})
        for number in range(5):
            anna.send(room, f"{number}")
        wait_until(lambda: len(old.delivered()) == 5, "not all messages arrive")
        assert {push.protocol for push in old.taken()} == {"http/1.1"} and old.faults == []
        old.respond = lambda push: Reply(99)
        anna.send(room, "a response without a valid status")
        wait_until(lambda: len(old.taken()) > 6, "it is not sent again")
        old.respond = lambda push: None
        wait_until(lambda: len(old.delivered()) == 6, "it does not arrive")
    finally:
        server.end()
        old.close()


# MARK: Responses

DEAD_STATUSES = (404, 410)
REJECTED_STATUSES = (400, 401, 403, 413)
RETRIED_STATUSES = (429, 500, 502, 503)


def test_each_status_has_its_effect(notifying, services):
    anna, ben = World(notifying).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    phones = {status: services.phone(ben, WEB_PUSH) for status in DEAD_STATUSES + REJECTED_STATUSES + RETRIED_STATUSES}
    # Once one was accepted, a refusal of a single subscription does not mean that the key is wrong.
    accepted = anna.send(room, "accepted")
    for phone in phones.values():
        arrives(services, phone, accepted)
    planned = {phone.token: status for status, phone in phones.items()}

    def respond(push) -> Reply | None:
        status = planned.pop(push.token, None)
        return status and Reply(status, {"retry-after": "1"} if status in RETRIED_STATUSES else {})

    services.browsers.respond = respond
    first = anna.send(room, "first")
    effects = dict.fromkeys(DEAD_STATUSES, DEAD) | dict.fromkeys(REJECTED_STATUSES, REJECTED)
    effects |= dict.fromkeys(RETRIED_STATUSES, DELIVERED)
    comes_to(notifying, first, {phones[status]: effect for status, effect in effects.items()})
    assert invalidated(notifying) == {phones[status].id for status in DEAD_STATUSES}
    shown = responses(notifying, first)
    assert {status: shown[phone.id] for status, phone in phones.items()} == dict.fromkeys(RETRIED_STATUSES) | {
        status: str(status) for status in DEAD_STATUSES + REJECTED_STATUSES}
    second = anna.send(room, "second")
    for status in REJECTED_STATUSES + RETRIED_STATUSES:
        arrives(services, phones[status], second)
    for status in DEAD_STATUSES:
        assert silence(notifying, second, phones[status]) == "noToken"
    for status in RETRIED_STATUSES:
        one, other = attempts(services, phones[status], first)
        assert one.identity == other.identity and other.time - one.time >= 1, "Retry-After is not obeyed"
    assert provider(notifying, "webPush")["state"] == "running"


# The key is probably wrong if it was refused for so many subscriptions and accepted for none.
REFUSALS = 8
WAITING = ("waiting", None)


def refused(server, services, status: int):
    """Anna, Ben's browsers whose push services refuse the key, a room, and a message after which Web Push is stopped."""
    anna, ben = World(server).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    phones = [services.phone(ben, WEB_PUSH, number % 2) for number in range(REFUSALS)]
    services.browsers.respond = lambda push: status
    first = anna.send(room, "first")
    detail = becomes(server, "webPush", "stopped")["detail"]
    assert str(status) in detail and "push.webPush.keyFile" in detail
    assert detail in server.tail(), "the server's log does not say it"
    assert Api(server).get("/readyz")["status"] == "degraded"
    return anna, ben, phones, room, first


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_stops_web_push_and_its_notifications_are_kept(notifying, services, status):
    anna, _, phones, room, first = refused(notifying, services, status)
    sent = [anna.send(room, f"{number}") for number in range(20)]
    for event in (first, sent[0], sent[-1]):
        assert set(outcomes(notifying, event).values()) == {WAITING}
    assert len(services.arrivals()) == REFUSALS, "a browser that waits is tried again"
    services.browsers.respond = lambda push: None
    services.expect_restart()
    notifying.restart()
    for event in (first, sent[0], sent[-1]):
        comes_to(notifying, event, {phone: DELIVERED for phone in phones})
    for phone in phones:
        kept = [one.position for one in services.delivered(phone.token)]
        assert kept == [event["position"] for event in (first, *sent)], "not in order, or not once"
    assert provider(notifying, "webPush")["state"] == "running"


def test_a_browser_that_accepts_the_key_is_notified_at_once_and_web_push_works_again(notifying, services):
    anna, ben, phones, room, _ = refused(notifying, services, 403)
    accepting = services.phone(ben, WEB_PUSH)
    services.browsers.respond = lambda push: None if push.token == accepting.token else 403
    arrives(services, accepting, anna.send(room, "second"))
    becomes(notifying, "webPush", "running")


def test_wrong_subscriptions_do_not_stop_web_push_once_the_key_was_accepted(notifying, services):
    anna, ben, accepting, room = talking(notifying, services)
    arrives(services, accepting, anna.send(room, "first"))
    phones = [services.phone(ben, WEB_PUSH) for _ in range(REFUSALS + 1)]
    services.browsers.respond = lambda push: None if push.token == accepting.token else 403
    sent = anna.send(room, "second")
    comes_to(notifying, sent, {phone: REJECTED for phone in phones} | {accepting: DELIVERED})
    assert provider(notifying, "webPush")["state"] == "running"


@pytest.mark.parametrize("ending", [RESET, DROP, SILENCE], ids=["reset", "drop", "silence"])
def test_a_message_without_a_response_is_sent_again(notifying, services, ending):
    anna, _, phone, room = talking(notifying, services)
    planned = [ending]
    services.browsers.respond = lambda push: planned.pop() if planned else None
    sent = anna.send(room, "hello")
    arrives(services, phone, sent)
    assert [one.is_delivered for one in attempts(services, phone, sent)] == [False, True]
    assert len({(one.key, one.identity) for one in attempts(services, phone, sent)}) == 1


def test_informational_responses_are_ignored_up_to_a_limit(notifying, services):
    """Over HTTP/2. A response with more than 64 frames is ended and counts as a failure."""
    anna, _, phone, room = talking(notifying, services)
    services.browsers.respond = lambda push: Reply(201, hints=10)
    sent = anna.send(room, "after a few")
    comes_to(notifying, sent, {phone: DELIVERED})
    assert len(attempts(services, phone, sent)) == 1
    services.browsers.respond = lambda push: Reply(201, hints=1_000)
    flooded = anna.send(room, "after many")
    wait_until(lambda: len(attempts(services, phone, flooded)) >= 2, "it is not sent again")
    assert outcomes(notifying, flooded)[phone.id] == ("waiting", None)
    services.browsers.respond = lambda push: Reply(201)
    comes_to(notifying, flooded, {phone: DELIVERED})


def test_a_push_service_that_fails_delays_no_other(notifying, services):
    anna, (failing, working), room = browsers(notifying, services)
    services.browsers.respond = lambda push: (
        Reply(503, {"retry-after": "3600"}) if push.endpoint == failing.token else None)
    sent = [anna.send(room, f"{number}") for number in range(5)]
    arrives(services, working, sent[-1])
    assert len(services.arrivals(failing.token)) == 1
    assert outcomes(notifying, sent[0])[failing.id] == ("waiting", None)


def test_a_push_service_that_asks_for_a_pause_gets_nothing_meanwhile_and_delays_no_other(notifying, services):
    anna, (first, elsewhere), room = browsers(notifying, services)
    services.browsers.respond = lambda push: (
        Reply(503, {"retry-after": "3600"}) if push.endpoint.startswith(f"https://{FIREFOX}/") else None)
    sent = anna.send(room, "the pause begins")
    wait_until(lambda: f"https://{FIREFOX} responded with 503" in notifying.tail(), "the server's log does not say it")
    second = services.phone(first.owner, WEB_PUSH, 0)
    later = [anna.send(room, f"{number}") for number in range(5)]
    arrives(services, elsewhere, later[-1])
    # The second browser of the paused service was not tried, and the first one not again.
    assert len(services.arrivals(first.token)) == 1 and services.arrivals(second.token) == []
    for event, phone in ((sent, first), (later[0], first), (later[0], second)):
        assert outcomes(notifying, event)[phone.id] == ("waiting", None)
    assert provider(notifying, "webPush") == {"name": "webPush", "state": "running", "detail": None}


def test_after_the_pause_of_a_push_service_everything_arrives(notifying, services):
    anna, (first, _), room = browsers(notifying, services)
    planned = [Reply(503, {"retry-after": "1"})]
    services.browsers.respond = lambda push: (
        planned.pop() if planned and push.endpoint.startswith(f"https://{FIREFOX}/") else None)
    phones = [first, *(services.phone(first.owner, WEB_PUSH, 0) for _ in range(3))]
    sent = [anna.send(room, f"{number}") for number in range(5)]
    for event in sent:
        comes_to(notifying, event, {phone: DELIVERED for phone in phones})
    for phone in phones:
        assert [one.position for one in services.delivered(phone.token)] == [event["position"] for event in sent]


# MARK: Internal addresses


@contextlib.contextmanager
def internal_service(authority: Authority, host: str):
    """A service that no client may reach through the server."""
    service = WebPushes(authority, (host,))
    try:
        yield service
        assert service.connections == 0 and service.taken() == []
    finally:
        service.close()


@pytest.mark.parametrize("host", [
    "internal.example", "evil-fcm.googleapis.com", "evilpush.apple.com", "fcm.googleapis.com.evil.example"])
def test_nothing_is_sent_to_a_host_that_is_not_allowed(tmp_path, services, authority, host):
    with internal_service(authority, host) as internal:
        services.browsers.ports |= internal.ports
        server = services.server(tmp_path / "data").start()
        try:
            anna, ben, phone, room = talking(server, services)
            body = {"webPush": internal.subscribe().body, "name": "n" * 1000}
            problem = ben.refused("push_endpoint_not_allowed", "PUT", f"/v1/devices/{new_id()}", body)
            assert [each["field"] for each in problem["problems"]] == ["/webPush/endpoint", "/name"]
            for name in ("", "a..b", "-a", "a" * 64):
                impossible = internal.subscribe().body | {"endpoint": f"https://{name}.push.apple.com/s"}
                ben.refused("push_endpoint_not_allowed", "PUT", f"/v1/devices/{new_id()}", {"webPush": impossible})
            sent = [anna.send(room, f"{number}") for number in range(3)]
            arrives(services, phone, sent[-1])
        finally:
            server.end()


@pytest.mark.parametrize("change", [
    lambda url: url.replace("https://", "http://"), lambda url: url.replace(FIREFOX, f"{FIREFOX}:444"),
    lambda url: url.replace("https://", "https://anna@"), lambda url: url.replace(FIREFOX, "127.0.0.1"),
    lambda url: url.replace(FIREFOX, "[::1]"), lambda url: url + "#fragment",
], ids=["http", "port", "user", "address", "IPv6", "fragment"])
def test_an_endpoint_of_another_form_gets_nothing(notifying, services, change):
    anna, ben, phone, room = talking(notifying, services)
    body = services.browsers.subscribe(0).body
    odd = body | {"endpoint": change(body["endpoint"])}
    response = ben.request("PUT", f"/v1/devices/{new_id()}", {"webPush": odd})
    assert response.status_code in (400, 422) and response.json()["field"] == "/webPush/endpoint", response.text
    sent = anna.send(room, "hello")
    arrives(services, phone, sent)
    assert len(services.browsers.taken()) == 1


def test_a_redirect_is_not_followed(tmp_path, services, authority):
    with internal_service(authority, "internal.example") as internal:
        services.browsers.ports |= internal.ports
        server = services.server(tmp_path / "data").start()
        try:
            anna, _, phone, room = talking(server, services)
            target = internal.subscribe().endpoint
            services.browsers.respond = lambda push: Reply(307, {"location": target})
            sent = anna.send(room, "hello")
            comes_to(server, sent, {phone: REJECTED})
            assert json.dumps(target) not in server.tail()
        finally:
            server.end()
