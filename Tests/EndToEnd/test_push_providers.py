"""Several push services at once: each device is notified once, through its own service, and none delays the others."""

import json
import time

import pytest

from harness.client import Api, new_id
from harness.command import audit, hansard, settle
from harness.images import encoded
from harness.message_mutations import reaction_path
from harness.people import World
from harness.push_documents import table
from harness.push_outcomes import (
    DELIVERED, arrives, attempts, becomes, comes_to, outcomes, provider, recorded_position, responses)
from harness.push_phones import APNS, FCM, LONG_SESSIONS, SANDBOX, WEB_PUSH, Phone
from harness.push_service import Reply
from harness.shifted_clock import DAY, ShiftedClock
from harness.waiting import wait_until

# One of each provider.
PROVIDERS = {APNS: "apns", SANDBOX: "apnsSandbox", FCM: "fcm", WEB_PUSH: "webPush"}
# How long a test waits to see that nothing arrives.
SILENCE_SECONDS = 1.5
# Requests per second of a provider with a low limit.
RATE = 5


def talking(server, services, *kinds: str):
    """Anna, Ben with a device of each kind, and a room of both."""
    anna, ben = World(server).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    return anna, ben, {kind: services.phone(ben, kind) for kind in kinds}, room


def settled(server, position: int) -> None:
    """Waits until the log has the outcomes of all notifications up to this position."""
    wait_until(
        lambda: any(
            row["detail"]["settledThrough"] >= position
            for row in audit(server.data, "--type", "push.outcomes-recorded")),
        f"the outcomes up to {position} are not recorded")


def test_a_message_reaches_each_kind_of_device_with_the_same_content(notifying, services):
    anna, ben, phones, room = talking(notifying, services, APNS, SANDBOX, FCM, WEB_PUSH)
    sent = anna.send(room, "The kettle is on.")
    arrived = {kind: arrives(services, phone, sent) for kind, phone in phones.items()}
    assert {kind: one.service for kind, one in arrived.items()} == {kind: kind for kind in phones}
    assert len({one.key for one in arrived.values()}) == len(phones)
    for one in arrived.values():
        assert (one.title, one.body, one.badge, one.kind) == ("Tea", "Anna: The kettle is on.", 1, "message")
        assert (one.fields["roomId"], one.fields["messageId"]) == (room.id, sent["id"])
    comes_to(notifying, sent, {phone: DELIVERED for phone in phones.values()})
    assert ben.get("/v1/badge")["unreadCount"] == 1
    readiness = Api(notifying).get("/readyz")
    assert readiness["status"] == "ready"
    assert {each["name"]: each["state"] for each in readiness["pushProviders"]} == dict.fromkeys(
        PROVIDERS.values(), "running")


def test_each_field_of_a_notification_is_documented_and_occurs(notifying, services):
    """The table in docs/push.md has exactly the fields that each provider gets. Web Push gets the texts next to them."""
    anna, ben = World(notifying).users("Anna", "Ben")
    room, office = anna.room("Tea", ben), anna.workspace("Office")
    phones = [services.phone(ben, kind) for kind in (APNS, FCM, WEB_PUSH)]
    picture = anna.request("POST", "/v1/media", data=encoded("PNG")).json()["id"]
    root = anna.send(room, "root")["id"]
    ben.put(f"{room.message(root)}/thread/following", {"follows": True})
    anna.put(room.message(new_id()), {
        "threadId": root, "attachments": [{"mediaId": picture}], "type": "order.shipped", "data": {"number": 17}})
    anna.put(reaction_path(room, ben.send(room, "mine")["id"], "👍"))
    anna.put(f"{office.path}/invitations/{ben.id}", {"role": "member"})
    read = ben.put(f"{room.path}/read-marker", {"messageId": anna.send(room, "last")["id"]})
    settled(notifying, recorded_position(read))
    documented = {row["field"] for row in table("field | meaning")}
    for phone in phones:
        found = {name for one in services.delivered(phone.token) for name in one.fields}
        assert found - ({"title", "body"} if phone.kind == WEB_PUSH else set()) == documented, phone.kind


# A provider is probably set up for another app if it said so about so many devices and accepted no notification.
REFUSALS = 8


@pytest.mark.parametrize("kind", [APNS, FCM, WEB_PUSH])
def test_an_alert_has_the_badge_of_when_it_is_sent(notifying, services, kind):
    """The user reads on the device itself while an alert waits behind another one. The device gets no update after that."""
    anna, ben = World(notifying).users("Anna", "Ben")
    read, first, second = (anna.room(name, ben) for name in ("Read", "First", "Second"))
    phone = services.phone(ben, kind)
    last = anna.send(read, "to be read")
    arrives(services, phone, last)
    services.latency = lambda: 1
    anna.send(first, "in flight")
    waiting = anna.send(second, "waits")
    ben.put(f"{read.path}/read-marker", {"messageId": last["id"]})
    arrives(services, phone, waiting)
    alerts = [one for one in services.arrivals(phone.token) if one.position == waiting["position"]]
    assert [int(one.badge) for one in alerts] == [2] == [ben.get("/v1/badge")["unreadCount"]]


@pytest.mark.parametrize(("kind", "refusal", "setting"), [
    (APNS, "DeviceTokenNotForTopic", "push.apns.topic"), (FCM, "SENDER_ID_MISMATCH", "push.fcm.keyFile")])
def test_settings_for_another_app_stop_the_provider_and_nothing_is_given_up(notifying, services, kind, refusal, setting):
    anna, ben = World(notifying).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    phones = [services.phone(ben, kind) for _ in range(REFUSALS)]
    stand_in = getattr(services, PROVIDERS[kind])
    stand_in.respond = lambda push: stand_in.error(refusal)
    first = anna.send(room, "first")
    detail = becomes(notifying, PROVIDERS[kind], "stopped")["detail"]
    assert refusal in detail and setting in detail and detail in notifying.tail()
    second = anna.send(room, "second")
    for event in (first, second):
        assert set(outcomes(notifying, event).values()) == {("waiting", None)}
    stand_in.respond = lambda push: None
    services.expect_restart()
    notifying.restart()
    for event in (first, second):
        comes_to(notifying, event, {phone: DELIVERED for phone in phones})
    assert provider(notifying, PROVIDERS[kind])["state"] == "running"


@pytest.mark.parametrize(("kind", "refusal", "advice"), [
    (APNS, "DeviceTokenNotForTopic", "check push.apns.topic"), (FCM, "SENDER_ID_MISMATCH", "check push.fcm.keyFile"),
    (FCM, "THIRD_PARTY_AUTH_ERROR", "check the APNs key")])
def test_a_refusal_of_one_device_is_shown_until_a_notification_is_accepted(notifying, services, kind, refusal, advice):
    anna, ben, phones, room = talking(notifying, services, kind)
    name, stand_in = PROVIDERS[kind], services.all[kind]
    refused = {phones[kind].token}
    stand_in.respond = lambda push: stand_in.error(refusal) if push.token in refused else None
    sent = anna.send(room, "refused")
    detail = wait_until(lambda: provider(notifying, name)["detail"], "the refusal is not shown")
    assert detail.startswith("refused: ") and refusal in detail and advice in detail
    assert provider(notifying, name)["state"] == "running" and Api(notifying).get("/readyz")["status"] == "ready"
    reason = detail.removeprefix("refused: ")
    wait_until(lambda: reason in notifying.tail(), "the server's log does not say it")
    assert outcomes(notifying, sent)[phones[kind].id] == ("waiting", None)
    # Another refusal in the same minute is not logged.
    second = services.phone(ben, kind)
    refused.add(second.token)
    again = anna.send(room, "refused again")
    wait_until(lambda: attempts(services, second, again), "the second device is not tried")
    arrives(services, services.phone(ben, kind), anna.send(room, "accepted"))
    wait_until(lambda: provider(notifying, name)["detail"] is None, "the refusal is still shown")
    assert notifying.tail().count(reason) == 1


@pytest.mark.parametrize("kind", [APNS, FCM, WEB_PUSH])
def test_a_notification_is_sent_again_if_the_response_has_no_valid_status(notifying, services, kind):
    anna, _, phones, room = talking(notifying, services, kind)
    stand_in = services.browsers if kind == WEB_PUSH else getattr(services, PROVIDERS[kind])
    stand_in.respond = lambda push: Reply(99)
    sent = anna.send(room, "hello")
    wait_until(lambda: len(attempts(services, phones[kind], sent)) > 1, "it is not sent again")
    stand_in.respond = lambda push: None
    comes_to(notifying, sent, {phones[kind]: DELIVERED})


def stop_reply(services, kind: str):
    """What makes the provider stop: a wrong topic, or a service account that may not send."""
    return (lambda push: services.fcm.denied()) if kind == FCM else (lambda push: "TopicDisallowed")


@pytest.mark.parametrize("stopped", [APNS, SANDBOX, FCM])
def test_a_stopped_provider_keeps_its_notifications_and_delays_no_other(notifying, services, stopped):
    anna, _, phones, room = talking(notifying, services, APNS, SANDBOX, FCM, WEB_PUSH)
    services.all[stopped].respond = stop_reply(services, stopped)
    first = anna.send(room, "first")
    detail = becomes(notifying, PROVIDERS[stopped], "stopped")["detail"]
    assert detail in notifying.tail(), "the server's log does not say it"
    # More notifications than can be in flight at once.
    sent = [first, *(anna.send(room, f"{number}") for number in range(40))]
    for kind in set(phones) - {stopped}:
        arrives(services, phones[kind], sent[-1])
        assert [one.position for one in services.arrivals(phones[kind].token)] == [one["position"] for one in sent]
        assert provider(notifying, PROVIDERS[kind]) == {"name": PROVIDERS[kind], "state": "running", "detail": None}
    # Only the first notification was tried, perhaps again to see whether the provider works.
    assert {one.position for one in services.arrivals(phones[stopped].token)} == {first["position"]}
    readiness = Api(notifying).get("/readyz")
    assert readiness["status"] == "degraded"
    assert outcomes(notifying, sent[-1])[phones[stopped].id] == ("waiting", None)
    services.all[stopped].respond = lambda push: None
    services.expect_restart()
    notifying.restart()
    for event in sent:
        arrives(services, phones[stopped], event)
    delivered = services.delivered(phones[stopped].token)
    assert [one.position for one in delivered] == [one["position"] for one in sent], "not in order, or not once"
    assert delivered[-1].badge == len(sent)


def test_retry_after_is_obeyed_by_one_device_and_delays_no_other(notifying, services):
    anna, ben, phones, room = talking(notifying, services, APNS, FCM, WEB_PUSH)
    others = {kind: services.phone(ben, kind) for kind in phones}
    hour = {"retry-after": "3600"}
    services.apns.respond = lambda push: (
        services.apns.error("TooManyRequests", headers=hour) if push.token == phones[APNS].token else None)
    services.fcm.respond = lambda push: (
        services.fcm.error("INTERNAL", headers=hour) if push.token == phones[FCM].token else None)
    services.browsers.respond = lambda push: Reply(429, hour) if push.token == phones[WEB_PUSH].token else None
    sent = [anna.send(room, f"{number}") for number in range(10)]
    for phone in others.values():
        arrives(services, phone, sent[-1])
    # Without Retry-After, each would have been tried several times by now.
    time.sleep(SILENCE_SECONDS)
    for phone in phones.values():
        assert len(services.arrivals(phone.token)) == 1
        assert outcomes(notifying, sent[0])[phone.id] == ("waiting", None)


def test_a_provider_gets_no_more_requests_per_second_than_its_setting_and_delays_no_other(tmp_path, services):
    server = services.server(tmp_path / "data", apns={"requestsPerSecond": RATE}).start()
    try:
        anna, ben = World(server).users("Anna", "Ben")
        room = anna.room("Tea", ben)
        phones = {kind: [services.phone(ben, kind) for _ in range(RATE * 2)] for kind in (APNS, FCM)}

        def times(event: dict) -> dict[str, list[float]]:
            """When the notifications of an event arrive, by provider."""
            return {kind: sorted(arrives(services, phone, event).time for phone in each) for kind, each in phones.items()}

        # The first message makes the connections.
        times(anna.send(room, "first"))
        second = times(anna.send(room, "second"))
        seconds = second[APNS][-1] - second[APNS][0]
        # The first and the last of 2 * RATE requests have 2 * RATE - 1 pauses between them.
        assert seconds > 1.5, f"{RATE * 2} requests in {seconds} s"
        assert second[FCM][-1] < second[APNS][-1], "FCM waited"
    finally:
        server.end()


def test_a_notification_of_more_than_a_day_ago_is_not_sent(tmp_path, services):
    clock, kinds = ShiftedClock(tmp_path), (APNS, FCM, WEB_PUSH)
    server = services.server(tmp_path / "data", clock.environment | LONG_SESSIONS).start()
    try:
        anna, _, phones, room = talking(server, services, *kinds)
        services.fail_at_random(1)
        old = anna.send(room, "old")
        wait_until(lambda: all(attempts(services, phone, old) for phone in phones.values()), "not all are tried")
        # A start gives up nothing for a while if the clock is more than a day after the last known time: see decision 0022.
        for ahead in (DAY // 2, DAY + 60):
            server.stop()
            before = len(services.arrivals())
            if ahead > DAY:
                services.fail_at_random(0)
            services.expect_restart()
            clock.shift(wall=ahead)
            for service in services.all.values():
                service.now = lambda ahead=ahead: time.time() + ahead
            server.start()
        comes_to(server, old, {phone: ("abandoned", "expired") for phone in phones.values()})
        new = anna.send(room, "new")
        for phone in phones.values():
            assert arrives(services, phone, new).badge == 2
        assert len(services.arrivals()) == before + len(phones)
    finally:
        server.end()


# What a service responds, and how the log shows it: failures, and refusals that can mean a wrong key or topic. Of these,
# `/readyz` and the server's log also say what to check.
HOUR = {"retry-after": "3600"}
FAILURES = {
    "failures": lambda services: {
        APNS: (services.apns.error("TooManyRequests", headers=HOUR), "429 TooManyRequests"),
        FCM: (services.fcm.error("INTERNAL", headers=HOUR), "500 INTERNAL"), WEB_PUSH: (Reply(429, HOUR), "429")},
    "refusals": lambda services: {
        APNS: (services.apns.error("DeviceTokenNotForTopic"), "400 DeviceTokenNotForTopic"),
        FCM: (services.fcm.error("SENDER_ID_MISMATCH"), "403 SENDER_ID_MISMATCH"), WEB_PUSH: (Reply(401), "401")},
}


@pytest.mark.parametrize("case", FAILURES)
def test_an_expired_notification_shows_what_the_provider_responded_last(tmp_path, services, case):
    clock, failures = ShiftedClock(tmp_path), FAILURES[case](services)
    server = services.server(tmp_path / "data", clock.environment | LONG_SESSIONS).start()
    try:
        anna, _, phones, room = talking(server, services, *failures)
        for kind, (reply, _) in failures.items():
            services.all[kind].respond = lambda push, reply=reply: reply
        old = anna.send(room, "old")
        wait_until(lambda: all(attempts(services, phone, old) for phone in phones.values()), "not all are tried")
        assert responses(server, old) == {phone.id: None for phone in phones.values()}, "they wait"
        clock.shift(wall=DAY + 60, uptime=DAY + 60)
        for service in services.all.values():
            service.now, service.respond = lambda: time.time() + DAY + 60, lambda push: None
        new = anna.send(room, "new")
        for phone in phones.values():
            arrives(services, phone, new)
        comes_to(server, old, {phone: ("abandoned", "expired") for phone in phones.values()})
        assert responses(server, old) == {phones[kind].id: shown for kind, (_, shown) in failures.items()}
    finally:
        server.end()


def test_neither_a_restart_nor_a_replay_nor_a_lost_outbox_sends_anything_again(notifying, services):
    anna, _, phones, room = talking(notifying, services, APNS, SANDBOX, FCM, WEB_PUSH)
    sent = [anna.send(room, f"{number}") for number in range(20)]
    for phone in phones.values():
        arrives(services, phone, sent[-1])
    settled(notifying, sent[-1]["position"])
    count = len(services.arrivals())
    services.expect_restart()
    notifying.restart()
    time.sleep(SILENCE_SECONDS)
    notifying.stop()
    hansard("replay", "--data", notifying.data)
    for file in (notifying.data / "views").glob("push-v*.sqlite*"):
        file.unlink()
    services.expect_restart()
    notifying.start()
    time.sleep(SILENCE_SECONDS)
    assert len(services.arrivals()) == count
    last = anna.send(room, "and on")
    for phone in phones.values():
        assert arrives(services, phone, last).badge == 21
    assert len(services.arrivals()) == count + len(phones)


def test_a_device_with_tokens_of_two_services_is_notified_once(notifying, services):
    anna, ben, _, room = talking(notifying, services)
    (apns, body), (fcm, more) = services.registration(APNS), services.registration(FCM)
    phone = Phone(ben, new_id(), APNS, apns)
    ben.put(f"/v1/devices/{phone.id}", body | more)
    sent = anna.send(room, "hello")
    arrives(services, phone, sent)
    settled(notifying, sent["position"])
    assert services.arrivals(fcm) == [] and len(attempts(services, phone, sent)) == 1


def test_a_device_of_a_provider_that_is_not_configured_gets_nothing(tmp_path, services):
    server = services.server(tmp_path / "data", fcm=None).start()
    try:
        anna, _, phones, room = talking(server, services, APNS, FCM)
        sent = anna.send(room, "hello")
        arrives(services, phones[APNS], sent)
        comes_to(server, sent, {phones[FCM]: ("abandoned", "rejected")})
        assert services.fcm.taken() == [] and services.fcm.connections == 0
    finally:
        server.end()


def test_no_token_is_in_the_log_or_in_the_output(notifying, services):
    anna, _, phones, room = talking(notifying, services, APNS, FCM, WEB_PUSH)
    dead = services.phone(phones[APNS].owner, APNS)
    services.apns.respond = lambda push: "Unregistered" if push.token == dead.token else None
    services.fcm.respond = lambda push: services.fcm.denied()
    services.browsers.respond = lambda push: 500
    sent = anna.send(room, "hello")
    arrives(services, phones[APNS], sent)
    becomes(notifying, "fcm", "stopped")
    wait_until(lambda: attempts(services, phones[WEB_PUSH], sent), "nothing is sent to the browser")
    settle(notifying)
    shown = notifying.tail() + json.dumps(audit(notifying.data)) + json.dumps(Api(notifying).get("/readyz"))
    secrets = [phone.token for phone in (dead, *phones.values())] + list(services.fcm.access_tokens)
    assert not [secret for secret in secrets if secret in shown]


# MARK: Settings


def wrong(services, **changes) -> dict:
    settings = services.settings()["push"]
    for name, change in changes.items():
        settings[name] = settings[name] | change if isinstance(change, dict) else change
    return {"push": {
        name: {key: inner for key, inner in value.items() if inner is not None} if isinstance(value, dict) else value
        for name, value in settings.items() if value is not None}}


@pytest.mark.parametrize(("changes", "complaint"), [
    ({"apns": {"keyFile": "/nowhere/key.p8"}}, "push.apns.keyFile"),
    ({"apns": {"keyID": None}}, "push.apns.keyID"),
    ({"apns": {"teamID": None}}, "push.apns.teamID"),
    ({"apns": {"topic": None}}, "push.apns.topic"),
    ({"apns": {"productionURL": "http://127.0.0.1:9"}}, "push.apns.productionURL"),
    ({"apns": {"environment": "testing"}}, "push.apns.environment"),
    ({"fcm": {"keyFile": "/nowhere/account.json"}}, "push.fcm.keyFile"),
    ({"fcm": {"url": "not a URL"}}, "push.fcm.url"),
    ({"fcm": {"androidAlerts": "both"}}, "push.fcm.androidAlerts"),
    ({"webPush": {"keyFile": "/nowhere/vapid.pem"}}, "push.webPush.keyFile"),
    ({"webPush": {"subject": None}}, "push.webPush.subject"),
    ({"webPush": {"subject": "somebody"}}, "push.webPush.subject"),
    ({"webPush": {"hosts": ["push.example.org:8443"]}}, "push.webPush.hosts"),
    ({"webPush": {"requestsPerSecond": 0}}, "push.webPush.requestsPerSecond"),
    ({"authoritiesFile": "/nowhere/authorities.pem"}, "push.authoritiesFile"),
    ({"templatesFile": "/nowhere/templates.json"}, "push.templatesFile"),
    ({"file": "notifications.jsonl"}, "only one destination"),
], ids=lambda value: value if isinstance(value, str) else None)
def test_a_wrong_setting_is_refused_before_anything_is_made(tmp_path, services, changes, complaint):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(wrong(services, **changes)))
    outcome = hansard("serve", "--data", tmp_path / "data", "--config", config, expect=None)
    assert outcome.status != 0 and complaint in outcome.errors, outcome.text
    assert not (tmp_path / "data").exists()


def test_a_key_of_another_kind_is_refused(tmp_path, services):
    for name, group in (("account.json", "apns"), ("vapid.pem", "fcm")):
        config = tmp_path / "config.json"
        config.write_text(json.dumps(wrong(services, **{group: {"keyFile": str(services.folder / name)}})))
        outcome = hansard("serve", "--data", tmp_path / "data", "--config", config, expect=None)
        assert outcome.status != 0 and f"push.{group}.keyFile" in outcome.errors, outcome.text


@pytest.mark.parametrize(("body", "complaint", "step"), [
    ("{sendr} added you", "has the unknown placeholder {sendr}", "write {sender}, {room}"),
    ("{sender added you", "has a { without a }", "close the placeholder"),
    (7, "is not a text", "write a text"),
])
@pytest.mark.parametrize("named_by", ["setting", "option", "environment"])
def test_wrong_templates_are_refused_with_the_member_and_what_to_do(
        tmp_path, services, monkeypatch, named_by, body, complaint, step):
    templates = tmp_path / "templates.json"
    templates.write_text(json.dumps({"types": {"order.shipped": {
        "default": {"title": "{room}", "body": "{sender}"}, "de": {"title": "{room}", "body": body}}}}))
    config, options = tmp_path / "config.json", []
    setting = {"templatesFile": str(templates)} if named_by == "setting" else {}
    config.write_text(json.dumps(wrong(services, **setting)))
    if named_by == "option":
        options = ["--push-templates-file", templates]
    if named_by == "environment":
        monkeypatch.setenv("HANSARD_PUSH_TEMPLATES_FILE", str(templates))
    outcome = hansard("serve", "--data", tmp_path / "data", "--config", config, *options, expect=None)
    assert outcome.status != 0
    for part in (str(templates), f'types."order.shipped".de.body {complaint}', step):
        assert part in outcome.errors, outcome.text
    assert not (tmp_path / "data").exists()


def test_templates_and_the_language_of_the_device_decide_the_texts_and_android_gets_alerts_as_data(tmp_path, services):
    templates = tmp_path / "templates.json"
    templates.write_text(json.dumps({
        "types": {"order.shipped": {
            "default": {"title": "{room}", "body": "Order {data.number} was shipped"},
            "de": {"title": "{room}", "body": "Bestellung {data.number} wurde versandt"}}},
        "kinds": {"message": {"de": {"title": "{sender} in {room}", "body": "{text}"}}}}))
    server = services.server(
        tmp_path / "data", {"HANSARD_PUSH_TEMPLATES_FILE": str(templates)}, fcm={"androidAlerts": "data"}).start()
    try:
        anna, ben = World(server).users("Anna", "Ben")
        room = anna.room("Tea", ben)
        german = services.phone(ben, APNS, language="de-AT")
        other = services.phone(ben, WEB_PUSH, language="en")
        android = services.phone(ben, FCM, language="de")
        order = anna.put(room.message(new_id()), {"type": "order.shipped", "data": {"number": 7}})
        plain = anna.send(room, "The kettle is on.")

        def shown(phone: Phone, event: dict) -> tuple:
            arrived = arrives(services, phone, event)
            return arrived.title, arrived.body

        assert shown(german, order) == ("Tea", "Bestellung 7 wurde versandt")
        assert shown(other, order) == ("Tea", "Order 7 was shipped")
        assert shown(german, plain) == ("Anna in Tea", "The kettle is on.")
        assert shown(other, plain) == ("Tea", "Anna: The kettle is on.")
        for event, title, body in (
                (order, "Tea", "Bestellung 7 wurde versandt"), (plain, "Anna in Tea", "The kettle is on.")):
            message = arrives(services, android, event).push.message
            assert "notification" not in message and "notification" not in message["android"]
            assert message["android"]["priority"].upper() == "HIGH"
            assert (message["data"]["title"], message["data"]["body"]) == (title, body)
    finally:
        server.end()
