"""Preferences of users, rooms and devices: which notifications are sent, how they arrive, and what they contain.

Most tests share a server, and ask `hansard push explain` for the decisions. The two tables of docs/push.md are compared
with it, cell by cell.
"""

import itertools
import json
import subprocess
import zoneinfo
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest

from harness.client import new_id
from harness.images import encoded
from harness.message_mutations import reaction_path
from harness.people import Person, Room, World
from harness.places import hansard_binary
from harness.push_devices import ALERTS, KINDS, SILENT, decision, explained
from harness.push_documents import table
from harness.push_outcomes import recorded_position, replaced
from harness.push_phones import APNS, FCM, WEB_PUSH
from harness.receiver import Receiver
from harness.server import UNLIMITED, Server
from harness.shifted_clock import ShiftedClock
from harness.times import now, parse
from harness.waiting import wait_until
from test_presence import Watch
from test_push import SECRET, alerts, device, lines
from test_push_kinds import scheduled
from test_push_withdrawals import Gate, comes_to, delivered, explained as outcomes_of, refused

PREFERENCES = "/v1/me/preferences"
EVER = "2090-01-01T00:00:00Z"
LEVELS = ("all", "mentions", "none")
THUMB = "👍"


def quiet_now() -> dict:
    """Quiet hours that began hours ago and do not end for hours."""
    begin, end = (now() + timedelta(hours=hours) for hours in (-6, 6))
    return {"from": f"{begin:%H:%M}", "to": f"{end:%H:%M}", "timeZone": "UTC"}


def say(person, room: Room, text: str = "hello", **more) -> dict:
    return person.put(room.message(new_id()), {"text": text} | more)


# MARK: Each kind under each preference

# For each column of the table, what a member of a room does to get the preference.
COLUMNS = {
    "level mentions": lambda user, room: user.patch(PREFERENCES, {"notifications": "mentions"}),
    "level none": lambda user, room: user.patch(PREFERENCES, {"notifications": "none"}),
    "muted room": lambda user, room: user.put(f"{room.path}/mute", {"until": EVER}),
    "mutedKinds": lambda user, room: user.patch(PREFERENCES, {"mutedKinds": list(ALERTS)}),
    "quiet hours": lambda user, room: user.patch(PREFERENCES, {"quietHours": quiet_now()}),
}
# The same, and for each kind a user who has switched it off.
SETTINGS = COLUMNS | {
    kind: lambda user, room, kind=kind: user.patch(PREFERENCES, {"mutedKinds": [kind]}) for kind in ALERTS}


@pytest.fixture(scope="module")
def rows(devices) -> dict[str, dict[str, dict[str, dict]]]:
    """For each of `SETTINGS` and each kind, the server's decision about a device without `roomChanges` (`plain`) and
    about one with them (`changes`)."""
    anna, users = devices.world.user("Anna"), {name: devices.world.user(name) for name in SETTINGS}
    for name, user in users.items():
        devices.add(f"{name}: plain", user)
        devices.add(f"{name}: changes", user, roomChanges=True)
    room, office = anna.room("Tea", *users.values()), anna.workspace()
    root = say(anna, room, "root")["id"]
    for name, user in users.items():
        user.put(f"{room.message(root)}/thread/following", {"follows": True})
        SETTINGS[name](user, room)
    everyone = {"mentions": {"everyone": True}}
    shared = {
        "message": say(anna, room), "mention": say(anna, room, **everyone), "reply": say(anna, room, threadId=root),
        "reminder": scheduled(anna, room, "later"), "roomChange": anna.patch(room.path, {"topic": "tea"}),
    }
    newest = shared["reminder"]["id"]

    def own(name: str, user: Person) -> dict[str, dict]:
        read = user.put(f"{room.path}/read-marker", {"messageId": newest})
        sent = say(user, room)
        return {
            "update": read, "sent": sent, "reaction": anna.put(reaction_path(room, sent["id"], THUMB)),
            "invitation": anna.put(f"{office.path}/invitations/{user.id}", {"role": "member"}),
            "added": anna.put(f"{anna.room('Cake').path}/members/{user.id}"),
        }

    events = {name: shared | own(name, user) for name, user in users.items()}
    unique = {recorded_position(event): event for each in events.values() for event in each.values()}
    found = {position: devices.rows(event) for position, event in unique.items()}
    return {
        name: {
            kind: {which: found[recorded_position(event)][f"{name}: {which}"] for which in ("plain", "changes")}
            for kind, event in each.items()}
        for name, each in events.items()}


def cell(rows: dict[str, dict], kind: str) -> str:
    """What happens, in the words of the table."""
    row = rows["changes" if kind in SILENT else "plain"]
    if row["verdict"] == "silent":
        return row["reason"]
    assert row["kind"] == kind
    return "sent" if kind in SILENT else "silent" if row["quiet"] else "shown"


def test_the_documented_preferences_apply_to_each_kind(rows):
    documented = {row.pop("kind"): row for row in table("kind | level")}
    found = {kind: {column: cell(rows[column][kind], kind) for column in COLUMNS} for kind in KINDS}
    # A mute ends with the membership, so nobody has muted a room to which somebody adds them.
    assert documented["added"].pop("muted room") in ("mutedRoom", "shown")
    assert found["added"].pop("muted room") == "shown"
    assert found == documented
    assert set(documented) == {row["kind"] for row in table("kind | event")}


def test_a_device_that_shows_no_alert_of_a_change_may_still_learn_of_it(rows):
    for column, kinds in rows.items():
        for kind, found in kinds.items():
            plain, changes = decision(found["plain"]), decision(found["changes"])
            if kind == "roomChange":
                assert (column, plain, changes) == (column, "roomChangesOff", "roomChange")
            elif plain not in KINDS and kind in ("reaction", "added"):
                assert (column, kind, changes) == (column, kind, "roomChange")
                assert not found["changes"]["quiet"]
            else:
                assert (column, kind, changes) == (column, kind, plain)


@pytest.mark.parametrize("muted", ALERTS)
def test_a_user_can_switch_off_each_kind_alone(rows, muted):
    found = {kind: cell(rows[muted][kind], kind) for kind in KINDS}
    assert found == dict.fromkeys(ALERTS, "shown") | {muted: "kindMuted"} | dict.fromkeys(SILENT, "sent")


# MARK: Levels


def test_the_level_of_the_room_counts_before_that_of_the_user_and_the_device_can_only_lower_it(devices):
    anna, expected = devices.world.user("Anna"), {}
    users = {levels: devices.world.user(" ".join(map(str, levels))) for levels in itertools.product(
        LEVELS, (None, *LEVELS))}
    room = anna.room("Tea", *users.values())
    for (of_user, of_room), user in users.items():
        user.patch(PREFERENCES, {"notifications": of_user})
        if of_room:
            user.put(f"{room.path}/notifications", {"level": of_room})
        for of_device in LEVELS:
            name = f"{user.nickname} {of_device}"
            devices.add(name, user, notifications=of_device)
            expected[name] = max(of_room or of_user, of_device, key=LEVELS.index)
    for event, effects in (
            (say(anna, room), ("message", "mentionsOnly", "notificationsOff")),
            (say(anna, room, mentions={"everyone": True}), ("mention", "mention", "notificationsOff"))):
        effect = dict(zip(LEVELS, effects, strict=True))
        assert devices.decided(event) == {name: effect[level] for name, level in expected.items()}


def test_the_level_of_a_room_can_be_taken_back(devices):
    anna, ben = devices.world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    devices.add("takes back", ben)
    ben.put(f"{room.path}/notifications", {"level": "none"})
    assert devices.decided(say(anna, room)) == {"takes back": "notificationsOff"}
    ben.put(f"{room.path}/notifications", {"level": None})
    assert devices.decided(say(anna, room)) == {"takes back": "message"}


# MARK: Blocks


def test_a_block_applies_to_all_but_updates(devices):
    anna, ben = devices.world.users("Anna", "Ben")
    room, office = anna.room("Tea", ben), anna.workspace()
    names = {"blocks: plain", "blocks: changes"}
    for name in names:
        devices.add(name, ben, roomChanges=name.endswith("changes"))
    mine, unread = say(ben, room, "mine"), say(anna, room, "before the block")
    ben.put(f"/v1/me/blocked-users/{anna.id}")
    blocked = {
        "message": say(anna, room), "mention": say(anna, room, mentions={"users": [ben.id]}),
        "reminder": scheduled(anna, room, "later"), "reaction": anna.put(reaction_path(room, mine["id"], THUMB)),
        "roomChange": anna.patch(room.path, {"topic": "tea"}),
        "reply": say(anna, room, threadId=mine["id"]),
    }
    for kind, event in blocked.items():
        assert (kind, devices.decided(event)) == (kind, dict.fromkeys(names, "blocked"))
    deleted = anna.delete(room.message(unread["id"]))
    assert devices.decided(deleted) == dict.fromkeys(names, "update")
    removed = anna.delete(f"{room.path}/members/{ben.id}")
    assert devices.decided(removed) == dict.fromkeys(names, "update")
    for path in (f"{office.path}/invitations/{ben.id}", f"{anna.room('Cake').path}/members/{ben.id}"):
        body = {"role": "member"} if "invitations" in path else None
        response = anna.request("PUT", path, body)
        if response.status_code == 201:
            assert devices.decided(response.json()) == dict.fromkeys(names, "blocked")
    # The block does not apply to what the user does.
    ben.delete(f"/v1/me/blocked-users/{anna.id}")


# MARK: Reasons


def test_each_documented_reason_is_given(devices, tmp_path):
    world = devices.world
    seen: set[str] = set()

    def user(reason: str, **settings) -> Person:
        """A user to whose device this reason applies."""
        person = world.user(reason)
        devices.add(reason, person, **settings)
        return person

    def check(event: dict, *reasons: str) -> None:
        found = devices.decided(event)
        assert {reason: found[reason] for reason in reasons} == {reason: reason for reason in reasons}
        seen.update(reasons)

    anna = devices.own("ownDevice", "Anna")
    members = {reason: user(reason) for reason in (
        "left", "blocked", "accountDisabled", "mutedRoom", "kindMuted", "notificationsOff", "mentionsOnly", "noToken",
        "notFollowing", "nothingToClear", "roomChangesOff", "imported", "silentEvent")}
    late = user("beforeJoin")
    room = anna.room("Tea", *members.values())
    members["left"].post(f"{room.path}/leave")
    members["blocked"].put(f"/v1/me/blocked-users/{anna.id}")
    world.admin.post(f"/v1/admin/users/{members['accountDisabled'].id}/disable")
    SETTINGS["muted room"](members["mutedRoom"], room)
    SETTINGS["mutedKinds"](members["kindMuted"], room)
    SETTINGS["level none"](members["notificationsOff"], room)
    SETTINGS["level mentions"](members["mentionsOnly"], room)
    members["noToken"].put(f"/v1/devices/{devices.phones['noToken'].id}", {"apnsToken": None})
    sent = say(anna, room)
    anna.put(f"{room.path}/members/{late.id}")
    check(
        sent, "ownDevice", "beforeJoin", "left", "blocked", "accountDisabled", "mutedRoom", "kindMuted",
        "notificationsOff", "mentionsOnly", "noToken")
    check(say(anna, room, threadId=sent["id"]), "notFollowing")
    members["nothingToClear"].put(f"{room.path}/read-marker", {"messageId": sent["id"]})
    check(anna.delete(room.message(sent["id"])), "nothingToClear")
    check(anna.patch(room.path, {"topic": "tea"}), "roomChangesOff")
    check(anna.put(room.message(new_id()), {"type": "position", "silent": True}), "silentEvent")
    (imported,) = world.admin.ingest_all([
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": "old",
         "sentAt": "2001-02-03T04:05:06.000Z"}])
    check(imported, "imported")
    assert erased_reason(tmp_path) == "erased"
    assert crowded_reasons(tmp_path / "crowded") == {"crowdedRoom"}
    assert seen | {"erased", "crowdedRoom"} == {row["reason"] for row in table("reason |")}


@pytest.mark.parametrize("is_imported", [True, False], ids=["imported", "new"])
def test_only_events_without_an_original_time_notify(devices, is_imported):
    world = devices.world
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room = anna.room("Tea", ben)
    for person in (anna, ben, carla):
        devices.add(person.id, person, roomChanges=True)
    mine, unread, new = say(ben, room)["id"], say(anna, room)["id"], new_id()
    events = [
        {"op": "member.join", "as": carla.id},
        {"op": "message.send", "as": carla.id, "id": new, "text": "old"},
        {"op": "message.edit", "as": carla.id, "id": new, "text": "older"},
        {"op": "read-marker.move", "as": anna.id, "messageId": new},
        {"op": "message.delete", "as": anna.id, "id": unread},
        {"op": "reaction.add", "as": carla.id, "messageId": mine, "emoji": THUMB},
        {"op": "reaction.remove", "as": carla.id, "messageId": mine, "emoji": THUMB},
        {"op": "message.pin", "as": anna.id, "messageId": mine},
        {"op": "message.unpin", "as": anna.id, "messageId": mine},
        {"op": "member.leave", "as": carla.id},
    ]
    more = {"roomId": room.id} | ({"sentAt": "2001-02-03T04:05:06.000Z"} if is_imported else {})
    for event, recorded in zip(events, world.admin.ingest_all([event | more for event in events]), strict=True):
        if is_imported:
            # The fixture checks at the end that nothing arrived.
            assert (event["op"], set(devices.decided(recorded).values())) == (event["op"], {"imported"})
        else:
            assert (event["op"], decided(devices.server, recorded) & set(KINDS)) != (event["op"], set())


# FanOut.RoomContext.crowdedDevices, and Limits.devicesPerUser.
CROWDED_DEVICES, DEVICES_OF_USER = 500, 50


def crowded_reasons(folder) -> set[str]:
    """What the devices of a room get of the second reaction in a minute, if one more than `CROWDED_DEVICES` of them have
    `roomChanges`."""
    server = Server(folder / "data", "--push-file", folder / "sink", environment=UNLIMITED).start()
    try:
        names = [f"User {number}" for number in range(CROWDED_DEVICES // DEVICES_OF_USER + 1)]
        anna, *users = World(server).users("Anna", *names)
        room = anna.room("Tea", *users)
        sent = anna.send(room, "hello")["id"]
        for number in range(CROWDED_DEVICES):
            wants_changes(users[number // DEVICES_OF_USER])
        few = anna.put(reaction_path(room, sent, THUMB))
        wants_changes(users[-1])
        first, *many = (anna.put(reaction_path(room, sent, emoji)) for emoji in ("❤️", "🎉", "🚀"))
        edited = anna.patch(room.path, {"topic": "tea"})
        assert decided(server, few) == decided(server, first) == decided(server, edited) == {"roomChange"}
        # A new minute can begin before one of them.
        found = [decided(server, event) for event in many]
        return next(each for each in found if each != {"roomChange"})
    finally:
        server.end()


def wants_changes(person: Person) -> None:
    """Registers a device that asks for changes of rooms."""
    id = new_id()
    person.put(f"/v1/devices/{id}", {"apnsToken": id, "roomChanges": True})


def decided(server: Server, event: dict) -> set[str]:
    return {decision(row) for row in explained(server, event).values()}


def erased_reason(folder) -> str:
    """The reason that a log gives after the author of a message was erased."""
    server = Server(folder / "data", "--push-file", folder / "sink").start()
    try:
        anna, ben = World(server).users("Anna", "Ben")
        # A room of Anna's own would be erased with her.
        room = ben.room("Tea", anna)
        phone = device(ben, "b")
        sent = anna.send(room, "hello")
        assert decision(explained(server, sent)[phone]) == "message"
    finally:
        server.end()
    copy = folder / "copy"
    subprocess.run(
        [hansard_binary().with_name("logwork"), "erase", "--data", server.data, "--output", copy, "--user", anna.id],
        check=True, capture_output=True)
    return decision(explained(SimpleNamespace(data=copy), sent, waits=False)[phone])


# MARK: Quiet hours

# Some span midnight, and some zones have summer time.
HOURS = [
    {"from": "22:00", "to": "07:00", "timeZone": "Europe/Berlin"},
    {"from": "07:00", "to": "22:00", "timeZone": "Europe/Berlin"},
    {"from": "22:00", "to": "07:00", "timeZone": "America/New_York"},
    {"from": "01:30", "to": "02:00", "timeZone": "Asia/Kolkata"},
    {"from": "09:45", "to": "10:00", "timeZone": "Pacific/Chatham"},
    {"from": "00:00", "to": "23:59", "timeZone": "UTC"},
    {"from": "23:59", "to": "00:00", "timeZone": "UTC"},
]
# Just before and after the start and end of these hours, in winter and in summer.
MOMENTS = [
    "2027-01-15T20:30:10", "2027-01-15T20:59:30", "2027-01-15T21:00:10", "2027-01-16T05:59:30", "2027-01-16T06:00:10",
    "2027-07-15T19:59:30", "2027-07-15T20:00:10", "2027-07-16T04:59:30", "2027-07-16T05:00:10",
    "2027-07-16T23:59:20",
]


def are_quiet(hours: dict, moment: datetime) -> bool:
    local = f"{moment.astimezone(zoneinfo.ZoneInfo(hours['timeZone'])):%H:%M}"
    begin, end = hours["from"], hours["to"]
    return begin <= local < end if begin < end else local >= begin or local < end


def test_in_quiet_hours_only_the_badge_is_set(tmp_path):
    """The time of the event counts, on the user's clock."""
    clock, sink = ShiftedClock(tmp_path), tmp_path / "sink"
    server = Server(tmp_path / "data", "--push-file", sink, environment=UNLIMITED | clock.environment).start()
    try:
        world = World(server)
        anna, *users = world.users("Anna", *(str(number) for number in range(len(HOURS))))
        room, sender = anna.room("Tea", *users), world.acting_as(anna.id)
        phones = {device(user, new_id()): hours for user, hours in zip(users, HOURS, strict=True)}
        for user, hours in zip(users, HOURS, strict=True):
            user.patch(PREFERENCES, {"quietHours": hours})
        found = set()
        for moment in MOMENTS:
            seconds = int((parse(moment + "+00:00") - now()).total_seconds())
            clock.shift(wall=seconds, uptime=seconds)
            sent = say(sender, room)
            # On a slow machine it may be later than planned.
            expected = {phone: are_quiet(hours, parse(sent["sentAt"])) for phone, hours in phones.items()}
            arrived = wait_until(
                lambda: found_all if len(found_all := [
                    line for line in lines(sink) if line["position"] == sent["position"]]) == len(phones) else None,
                "not all devices are notified")
            assert (moment, {line["deviceId"]: line["silent"] for line in arrived}) == (moment, expected)
            rows = explained(server, sent)
            assert {phone: rows[phone]["quiet"] for phone in phones} == expected
            for line in arrived:
                assert line["kind"] == "message" and line["badge"] > 0 and ("text" in line) != line["silent"]
            found |= {(number, expected[phone]) for number, phone in enumerate(phones)}
        assert len(found) >= 2 * len(HOURS) - 1, "the moments are not on both sides of the hours"
    finally:
        server.end()


def test_a_quiet_alert_is_silent_at_each_service(devices):
    anna, ben = devices.world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    names = devices.at_each_service("quiet", ben)
    ben.patch(PREFERENCES, {"quietHours": quiet_now()})
    sent = say(anna, room)
    for arrived in devices.arrived(sent, *names).values():
        assert (arrived.kind, arrived.badge, arrived.title, arrived.body) == ("message", 1, None, None)
        match arrived.service:
            case "apns":
                assert arrived.push.aps == {"content-available": 1, "badge": 1} and arrived.push.priority == 5
            case "fcm":
                assert arrived.push.notification == {} and arrived.push.android["priority"].upper() == "NORMAL"
            case _:
                assert arrived.push.urgency == "normal"


# MARK: Previews

SECRETS = {name: f"hushhush{name}" for name in ("text", "nickname", "room", "workspace", "type", "file", "edit")}


def secret_events(world: World, users: list[Person], prepare) -> dict[str, list[dict]]:
    """Events of each kind for each of the users. `prepare` is called when they are in the room."""
    anna = world.user(SECRETS["nickname"])
    room, office = anna.room(SECRETS["room"], *users), anna.workspace(SECRETS["workspace"])
    # Who sends a message has read the room, and gets no alert of it that still waits.
    others = {user: anna.room(SECRETS["room"], user) for user in users}
    mine = {user: say(user, room, "mine")["id"] for user in users}
    prepare()
    media = anna.request("POST", "/v1/media", data=encoded("PNG")).json()["id"]
    text, everyone = SECRETS["text"], {"mentions": {"everyone": True}}
    file = {"attachments": [{"mediaId": media, "name": SECRETS["file"]}]}
    custom = {"type": SECRETS["type"], "data": {"text": text}}
    unread = say(anna, room, text)
    events = {
        "message": [unread, say(anna, room, text, **custom), anna.put(room.message(new_id()), file)],
        "mention": [say(anna, room, text, **everyone, **custom)],
        "reply": [say(anna, room, text, threadId=mine[user]) for user in users],
        "reminder": [scheduled(anna, room, text)],
        "reaction": [anna.put(reaction_path(room, mine[user], THUMB)) for user in users],
        "invitation": [anna.put(f"{office.path}/invitations/{user.id}", {"role": "member"}) for user in users],
        "added": [anna.put(f"{anna.room(SECRETS['room']).path}/members/{user.id}") for user in users],
        "sent": [say(user, others[user], text, **custom) for user in users],
        "roomChange": [anna.patch(room.path, {"name": SECRETS["room"] + "again"}),
                       anna.patch(room.message(unread["id"]), {"text": SECRETS["edit"]})],
        "update": [user.put(f"{room.path}/unread-mark", {"messageId": unread["id"]}) for user in users],
    }
    return events


def leaks(content: str) -> set[str]:
    """The texts that leave the server although they must not."""
    found = {name for name, secret in SECRETS.items() if secret in content}
    return found | {name for name in ("emoji", "attachment") if json.dumps(name) in content} | (
        {"emoji"} if THUMB in content else set())


# All texts and names that notifications with previews contain.
EVERYTHING = {"text", "nickname", "room", "workspace", "type", "emoji", "attachment"}


def test_without_previews_no_text_and_no_name_leaves_the_server(devices):
    """Neither in the content nor in a header, at no service."""
    world = devices.world
    users = {"without": world.user("Pia"), "with": world.user("Ben")}
    names = {name: set() for name in users}

    def prepare() -> None:
        users["without"].patch(PREFERENCES, {"showsPreviews": False})
        for name, user in users.items():
            names[name] = devices.at_each_service(name, user, roomChanges=True)

    requests = capture(devices.services)
    events = secret_events(world, list(users.values()), prepare)
    arrived = {name: [] for name in names["without"] | names["with"]}
    for kind, each in events.items():
        for event in each:
            found = devices.rows(event)
            for name in set(arrived) & set(found):
                row = found[name]
                if row["verdict"] == "notify" and row["kind"] == kind:
                    assert row["preview"] == name.startswith("with ")
                    arrived[name].append((kind, event))
    for name, those in arrived.items():
        assert {kind for kind, _ in those} == set(KINDS)
        for kind, event in those:
            if kind in ALERTS:
                shows_key(devices.arrived(event, name)[name], None if name.startswith("with ") else f"push.{kind}")
        # The last one is after all others.
        devices.arrived(those[-1][1], name)
    for service in (APNS, FCM, WEB_PUSH):
        assert leaks(requests(devices.phones[f"without {service}"].token)) == set()
        assert EVERYTHING <= leaks(requests(devices.phones[f"with {service}"].token))


def shows_key(arrived, key: str | None) -> None:
    """The app shows its own text for this key, or if there is none, what the server sends."""
    push = arrived.push
    match arrived.service:
        case "apns":
            keys = [push.aps["alert"].get("loc-key")]
            assert key is None or push.aps["alert"] == {"loc-key": key}
        case "fcm":
            keys = [push.android["notification"].get("bodyLocKey"), push.message["apns"]["payload"]["aps"].get(
                "alert", {}).get("loc-key")]
            assert ("notification" in push.message) == (key is None)
        case _:
            keys = [push.payload.get("textKey")]
            assert ("title" in push.payload) == (key is None)
    assert set(keys) == {key}


def capture(services):
    """Records all requests from now on. Returns a function that returns what was sent to a token, as one text."""
    recorded: list[tuple[object, str]] = []

    def wrapped(service, answer):
        def answered(request):
            reply = answer(request)
            recorded.append((request, str(request.headers)))
            return reply

        return answered

    for service in services.all.values():
        service.answer = wrapped(service, service.answer)

    def of(token: str) -> str:
        contents = [
            headers + request.path + request.body.decode(errors="replace")
            for request, headers in recorded
            if token in request.origin + request.path or token.encode() in request.body]
        contents += [push.content.decode() for push in services.browsers.taken() if push.token == token]
        return "".join(contents)

    return of


def test_without_previews_no_text_and_no_name_is_posted(tmp_path):
    (tmp_path / "secret").write_bytes(SECRET)
    receiver = Receiver(SECRET)
    server = Server(
        tmp_path / "data", "--push-webhook", receiver.url, "--push-secret-file", tmp_path / "secret").start()
    try:
        world = World(server)
        users = {"without": world.user("Pia"), "with": world.user("Ben")}
        users["without"].patch(PREFERENCES, {"showsPreviews": False})
        phones = {}

        def prepare() -> None:
            for name, user in users.items():
                phones[name] = new_id()
                user.put(f"/v1/devices/{phones[name]}", {"apnsToken": new_id(), "roomChanges": True})

        events = secret_events(world, list(users.values()), prepare)
        for name, user in users.items():
            due = {
                recorded_position(event) for each in events.values() for event in each
                if explained(server, event).get(phones[name], {}).get("verdict") == "notify"}

            def posted(phone: str = phones[name]) -> list[dict]:
                return [receipt.body for receipt in receiver.taken() if receipt.body["deviceId"] == phone]

            wait_until(
                lambda: due <= {body["position"] for body in posted()} | {
                    position for position, _, id in replaced(server.data) if id == phones[name]},
                "not everything is posted")
            content = "".join(json.dumps(body, ensure_ascii=False) for body in posted())
            assert {body["kind"] for body in posted()} == set(KINDS)
            if name == "with":
                assert EVERYTHING <= leaks(content)
            else:
                assert leaks(content) == set() and not any(
                    {"text", "roomName", "workspaceName", "senderNickname", "type"} & body.keys() for body in posted())
                # They are alerts nevertheless.
                assert {body["kind"] for body in posted() if not body["silent"]} == set(ALERTS)
        assert receiver.faults == []
    finally:
        server.end()
        receiver.close()


# MARK: Changes while a notification waits


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def receiver(gate):
    receiver = Receiver(SECRET, gate)
    yield receiver
    receiver.close()


@pytest.fixture
def posting(tmp_path, receiver):
    (tmp_path / "secret").write_bytes(SECRET)
    server = Server(
        tmp_path / "data", "--push-webhook", receiver.url, "--push-secret-file", tmp_path / "secret").start()
    yield server
    server.end()


# What a user changes while notifications wait, and the outcome of the notification of a message, of a mention, and of a
# change of the room.
CHANGES = {
    "nothing": (lambda user, room, phone: None, None, None, None),
    "kind off": (
        lambda user, room, phone: user.patch(PREFERENCES, {"mutedKinds": ["message"]}), "kind_muted", None, None),
    "user none": (
        lambda user, room, phone: user.patch(PREFERENCES, {"notifications": "none"}),
        "notifications_off", "notifications_off", None),
    "room none": (
        lambda user, room, phone: user.put(f"{room.path}/notifications", {"level": "none"}),
        "notifications_off", "notifications_off", None),
    "user mentions": (
        lambda user, room, phone: user.patch(PREFERENCES, {"notifications": "mentions"}), "mentions_only", None, None),
    "room mentions": (
        lambda user, room, phone: user.put(f"{room.path}/notifications", {"level": "mentions"}),
        "mentions_only", None, None),
    "device mentions": (
        lambda user, room, phone: user.put(
            f"/v1/devices/{phone}", {"apnsToken": phone, "roomChanges": True, "notifications": "mentions"}),
        "mentions_only", None, None),
    "mute": (
        lambda user, room, phone: user.put(f"{room.path}/mute", {"until": EVER}), "muted_room", "muted_room", None),
    "read": (lambda user, room, phone: read_all(user, room), "already_read", "already_read", None),
    "changes off": (
        lambda user, room, phone: user.put(f"/v1/devices/{phone}", {"apnsToken": phone}), None, None,
        "room_changes_off"),
    # The time of the event counts.
    "quiet hours": (
        lambda user, room, phone: user.patch(PREFERENCES, {"quietHours": quiet_now()}), None, None, None),
    "previews off": (
        lambda user, room, phone: user.patch(PREFERENCES, {"showsPreviews": False}), None, None, None),
}


def read_all(user: Person, room: Room) -> None:
    newest = user.get(f"{room.path}/messages?limit=1")["messages"][0]
    user.put(f"{room.path}/read-marker", {"messageId": newest["id"]})


def test_preferences_that_change_apply_to_what_waits(posting, receiver, gate):
    world = World(posting)
    anna, *users = world.users("Anna", *CHANGES)
    room = anna.room("Tea", *users)
    phones = {user.nickname: new_id() for user in users}
    for user in users:
        phone = phones[user.nickname]
        user.put(f"/v1/devices/{phone}", {"apnsToken": phone, "roomChanges": True})
    events = {
        "message": say(anna, room, "a message"), "mention": say(anna, room, "for all", mentions={"everyone": True}),
        "roomChange": anna.patch(room.path, {"topic": "tea"})}
    refused(receiver, len(users))
    for user in users:
        CHANGES[user.nickname][0](user, room, phones[user.nickname])
    gate.is_open.set()
    for number, (kind, event) in enumerate(events.items(), 1):
        expected = {
            phones[name]: ("abandoned", change[number]) if change[number] else ("delivered", None)
            for name, change in CHANGES.items()}
        comes_to(posting, event, expected)
        bodies = {body["deviceId"]: body for body in delivered(receiver) if body["position"] == recorded_position(event)}
        assert set(bodies) == {phones[name] for name, change in CHANGES.items() if change[number] is None}
        for name, change in CHANGES.items():
            if change[number] is None:
                body = bodies[phones[name]]
                assert (body["kind"], body["silent"]) == (kind, kind == "roomChange")
                assert ("text" in body) == (kind != "roomChange" and name != "previews off")
                assert ("roomName" in body) == ("senderNickname" in body) == ("text" in body)
    assert receiver.faults == []


def test_alerts_in_quiet_hours_do_not_delay_an_update(posting, receiver, gate):
    """An update clears a notification that is shown, and a quiet alert only sets the badge."""
    anna, ben = World(posting).users("Anna", "Ben")
    rooms, muted = [anna.room(f"room {number}", ben) for number in range(3)], anna.room("muted", ben)
    ben.patch(PREFERENCES, {"quietHours": quiet_now()})
    phone = device(ben, new_id())
    quiet = [say(anna, room) for room in rooms]
    refused(receiver, 1)
    update = ben.put(f"{muted.path}/mute", {"until": EVER})
    # While everything is rejected, the update is tried before the alert that was tried first.
    wait_until(
        lambda: any(receipt.body["kind"] == "update" for receipt in receiver.taken()), "the update waits for the alerts")
    gate.is_open.set()
    for event in (*quiet, update):
        comes_to(posting, event, {phone: ("delivered", None)})
    assert [body["kind"] for body in delivered(receiver)] == ["update", "message", "message", "message"]


def test_an_invitation_that_was_answered_or_withdrawn_is_not_sent(posting, receiver, gate):
    world = World(posting)
    anna, *users = world.users("Anna", "accepts", "declines", "is not invited any more", "waits")
    office = anna.workspace("Office")
    phones = {user.nickname: device(user, new_id()) for user in users}
    invited = {
        user.nickname: anna.put(f"{office.path}/invitations/{user.id}", {"role": "member"}) for user in users}
    refused(receiver, len(users))
    accepting, declining, withdrawn, _ = users
    accepting.post(f"{office.path}/join")
    declining.delete(f"/v1/me/invitations/{office.id}")
    anna.delete(f"{office.path}/invitations/{withdrawn.id}")
    gate.is_open.set()
    for name, event in invited.items():
        outcome = ("delivered", None) if name == "waits" else ("abandoned", "deleted")
        comes_to(posting, event, {phones[name]: outcome})
    assert [body["deviceId"] for body in delivered(receiver)] == [phones["waits"]]


# MARK: Open rooms


def test_a_device_that_shows_a_room_gets_nothing_of_it(pushing, sink):
    world, phone = World(pushing), new_id()
    anna, ben = world.user("Anna"), world.user("Ben", deviceId=phone)
    tea, cake = anna.room("Tea", ben), anna.room("Cake", ben)
    ben.put(f"/v1/devices/{phone}", {"apnsToken": "b", "roomChanges": True})
    of_service = world.acting_as(ben.id)
    with Watch(ben):
        ben.put("/v1/me/open-rooms", {"roomIds": [tea.id]}, expect=200)
        for room, outcome in ((tea, ("abandoned", "room_open")), (cake, ("delivered", None))):
            message = say(anna, room)
            # One after the other: sending reads what came before, and no alert of that is sent.
            for act in (
                lambda: message, lambda: say(anna, room, mentions={"everyone": True}),
                lambda: anna.patch(room.path, {"topic": "tea"}), lambda: say(of_service, room),
                lambda: of_service.put(f"{room.path}/unread-mark", {"messageId": message["id"]}),
            ):
                event = act()
                wait_until(
                    lambda: outcomes_of(pushing, {"position": recorded_position(event)})[phone] == outcome,
                    f"the outcome of {event} does not become {outcome}")
    assert {line["roomId"] for line in lines(sink)} == {cake.id}
    assert [line["kind"] for line in alerts(sink)] == ["message", "mention"]
    assert {line["kind"] for line in lines(sink)} == {"message", "mention", "roomChange", "sent", "update"}
