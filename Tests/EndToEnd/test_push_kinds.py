"""Each kind of notification at each push service: which devices get it, what it contains and how it is shown.

The tests share a server. Each has a room of its own, and asks `hansard push explain` about every event that it causes.
At the end, each notification that was decided on must have arrived once, and nothing else.
"""

import uuid
from types import SimpleNamespace

import pytest

from harness.client import new_id
from harness.command import hansard, settle
from harness.images import encoded
from harness.message_mutations import reaction_path
from harness.people import Room
from harness.push_outcomes import recorded_position
from harness.push_phones import APNS, CHANNEL, FCM, SANDBOX, WEB_PUSH, Arrival
from harness.shifted_clock import DAY
from harness.times import later
from harness.waiting import wait_until
from test_scheduled_messages import path as scheduled_path, soon

THUMB = "👍"
SERVICES = (APNS, FCM, WEB_PUSH)


@pytest.fixture(scope="module")
def cast(devices):
    """Anna and Ben are each logged in on one device, and have others. Anna's and Carla's devices get changes of rooms.
    Dora is in no room."""
    cast = SimpleNamespace(devices=devices)
    cast.anna = devices.own("anna own", "Anna", roomChanges=True)
    devices.add("anna other", cast.anna, SANDBOX, roomChanges=True)
    cast.ben = devices.own("ben own", "Ben")
    cast.bens_others = devices.at_each_service("ben", cast.ben)
    cast.bens = cast.bens_others | {"ben own"}
    cast.carla, cast.dora = devices.world.users("Carla", "Dora")
    cast.carlas = devices.at_each_service("carla", cast.carla, roomChanges=True)
    devices.add("dora", cast.dora)
    return cast


@pytest.fixture
def room(cast):
    return cast.anna.room("Tea", cast.ben, cast.carla)


def each(names: set[str], decision: str) -> dict[str, str]:
    return dict.fromkeys(names, decision)


def said_by_anna(cast, **decisions: str) -> dict[str, str]:
    """What each device gets when Anna acts on her own device: `bens` and `carlas` devices, and her `other` one."""
    return {
        "anna own": "ownDevice", "anna other": decisions["other"], **each(cast.bens, decisions["bens"]),
        **each(cast.carlas, decisions["carlas"])}


def say(person, room: Room, text: str = "The kettle is on.", **more) -> dict:
    return person.put(room.message(new_id()), {"text": text} | more)


def has(arrived: Arrival, **fields) -> None:
    """The notification has these fields, and those that every notification has, and no others."""
    always = {"position": arrived.position, "deliveryKey": arrived.key, "badge": arrived.badge}
    expected = always | {name: value for name, value in fields.items() if value is not None}
    if arrived.service == FCM:
        expected = {name: str(value) for name, value in expected.items()}
    texts = {"title", "body"} if arrived.service == WEB_PUSH else set()
    assert {name: value for name, value in arrived.fields.items() if name not in texts} == expected


def is_alert(arrived: Arrival, title: str, body: str | None, room: str | None = None, of_message: bool = True) -> None:
    """The device shows the title and the body. Without a body, the text is not checked."""
    push = arrived.push
    assert arrived.title == title and (body is None or arrived.body == body)
    id, seconds = str(uuid.UUID(arrived.key[:32])), range(1, DAY + 1)
    match arrived.service:
        case "apns" | "sandbox":
            assert (push.push_type, push.priority, push.collapse_id, push.id) == ("alert", 10, None, id)
            assert push.aps == {
                "alert": {"title": title, "body": arrived.body}, "badge": arrived.badge, "sound": "default",
                "category": arrived.kind} | ({"thread-id": room} if room else {}) | (
                {"mutable-content": 1} if of_message else {})
        case "fcm":
            assert push.message["notification"] == {"title": title, "body": arrived.body}
            assert push.android["priority"].upper() == "HIGH" and push.collapse_key is None
            assert int(push.android["ttl"].removesuffix("s")) in seconds
            assert push.android["notification"] == {
                "channelId": CHANNEL, "notificationCount": arrived.badge, "tag": id}
            headers = push.message["apns"]["headers"]
            assert (headers["apns-push-type"], headers["apns-priority"]) == ("alert", "10")
        case _:
            assert (push.urgency, push.topic) == ("high", arrived.key[:32]) and push.ttl in seconds


def is_silent(arrived: Arrival, room: Room | None, sets_badge: bool = True) -> None:
    """The device shows nothing. The notification replaces an earlier one of the same kind for the same room, thread or
    deleted message."""
    push, fields = arrived.push, arrived.fields
    collapse = f"{arrived.kind}.{room.id}" if room else f"{arrived.kind}.other"
    if arrived.kind != "roomChange" and "threadId" in fields:
        collapse = f"{arrived.kind}.thread.{fields['threadId']}"
    if arrived.kind == "update" and "messageId" in fields:
        collapse = f"update.deleted.{fields['messageId']}"
    elif room and arrived.kind == "update" and "clearedThrough" not in fields:
        collapse = f"update.other.{room.id}"
    aps = {"content-available": 1} | ({"badge": arrived.badge} if sets_badge else {})
    apns_type = "alert" if sets_badge else "background"
    assert (arrived.title, arrived.body) == (None, None)
    match arrived.service:
        case "apns" | "sandbox":
            assert (push.push_type, push.priority, push.collapse_id) == (apns_type, 5, collapse)
            assert push.id == str(uuid.UUID(arrived.key[:32])) and push.aps == aps
        case "fcm":
            assert set(push.message) == {"token", "data", "android", "apns"}
            assert set(push.android) == {"ttl", "priority", "collapseKey"}
            assert push.android["priority"].upper() == "NORMAL" and push.collapse_key == collapse
            # What FCM passes on to APNs for iOS apps that use Firebase.
            headers = push.message["apns"]["headers"]
            assert (headers["apns-push-type"], headers["apns-priority"]) == (apns_type, "5")
            assert headers["apns-collapse-id"] == collapse and push.message["apns"]["payload"]["aps"] == aps
        case _:
            assert push.urgency == "normal" and push.topic not in (None, arrived.key[:32])


def scheduled(person, room: Room, text: str, **more) -> dict:
    """A message that was scheduled, once it is sent."""
    id = new_id()
    person.put(scheduled_path(room, id), {"text": text, "sendAt": later(hours=1)} | more)
    soon(person, room, id)
    wait_until(lambda: person.request("GET", room.message(id)).status_code == 200, "the message is not sent")
    return person.get(room.message(id))


# MARK: Messages


def test_a_message_is_an_alert_for_others_and_silent_on_the_senders_other_devices(cast, room):
    badge = cast.ben.get("/v1/badge")["unreadCount"]
    sent = say(cast.anna, room)
    assert cast.devices.decided(sent) == said_by_anna(cast, bens="message", carlas="message", other="sent")
    names = [f"ben {service}" for service in SERVICES]
    fields = {"roomId": room.id, "messageId": sent["id"], "senderId": cast.anna.id}
    for arrived in cast.devices.arrived(sent, *names).values():
        is_alert(arrived, "Tea", "Anna: The kettle is on.", room.id)
        has(arrived, kind="message", **fields)
        assert arrived.badge == badge + 1
    own = cast.devices.arrived(sent, "anna other")["anna other"]
    is_silent(own, room)
    # Sending marks everything before as read.
    has(own, kind="sent", clearedThrough=sent["id"], **fields)


def test_what_a_user_sends_is_silent_at_each_service(cast, room):
    sent = say(cast.ben, room)
    decided = cast.devices.decided(sent)
    assert decided["ben own"] == "ownDevice" and {decided[name] for name in cast.bens_others} == {"sent"}
    for arrived in cast.devices.arrived(sent, *cast.bens_others).values():
        is_silent(arrived, room)
        assert arrived.badge == cast.ben.get("/v1/badge")["unreadCount"]
    # A service that acts as the user is no device.
    by_service = cast.devices.world.acting_as(cast.ben.id).put(room.message(new_id()), {"text": "Me again."})
    assert {cast.devices.decided(by_service)[name] for name in cast.bens} == {"sent"}


def test_mentions_replies_and_direct_rooms(cast, room):
    devices = cast.devices
    mention = say(cast.anna, room, "Ben?", mentions={"users": [cast.ben.id]})
    assert devices.decided(mention) == said_by_anna(cast, bens="mention", carlas="message", other="sent")
    everyone = say(cast.anna, room, "All!", mentions={"everyone": True})
    assert devices.decided(everyone) == said_by_anna(cast, bens="mention", carlas="mention", other="sent")
    root = say(cast.anna, room, "root")["id"]
    cast.ben.put(f"{room.message(root)}/thread/following", {"follows": True})
    reply = say(cast.anna, room, "reply", threadId=root)
    assert devices.decided(reply) == said_by_anna(cast, bens="reply", carlas="notFollowing", other="sent")
    # The thread is not the room's timeline, so the room's notifications stay.
    own = devices.arrived(reply, "anna other")["anna other"]
    has(
        own, kind="sent", roomId=room.id, messageId=reply["id"], threadId=root, clearedThrough=reply["id"],
        senderId=cast.anna.id)
    both = say(cast.anna, room, "reply to all", threadId=root, mentions={"everyone": True})
    assert devices.decided(both) == said_by_anna(cast, bens="mention", carlas="mention", other="sent")
    direct = cast.anna.direct(cast.ben)
    private = say(cast.anna, direct, "between us")
    assert devices.decided(private) == {
        "anna own": "ownDevice", "anna other": "sent", **each(cast.bens, "mention")}

    names = [f"ben {service}" for service in SERVICES]
    for event, place, kind, title, body in (
            (mention, room, "mention", "Tea", "Anna: Ben?"), (reply, room, "reply", "Tea", "Anna: reply"),
            (private, direct, "mention", "Anna", "between us")):
        thread = root if event is reply else None
        for arrived in devices.arrived(event, *names).values():
            is_alert(arrived, title, body, place.id)
            has(arrived, kind=kind, roomId=place.id, messageId=event["id"], threadId=thread, senderId=cast.anna.id)


def test_a_scheduled_message_reminds_its_author_too(cast, room):
    sent = scheduled(cast.anna, room, "Tea time")
    everybody = cast.bens | cast.carlas | {"anna own", "anna other"}
    assert cast.devices.decided(sent) == each(everybody, "reminder")
    for arrived in cast.devices.arrived(sent, "anna own", *cast.bens_others).values():
        is_alert(arrived, "Tea", "Anna: Tea time", room.id)
        has(arrived, kind="reminder", roomId=room.id, messageId=sent["id"], senderId=cast.anna.id)
    # A mentioned user gets a `mention`, a follower of the thread a `reply`.
    mention = scheduled(cast.anna, room, "Ben?", mentions={"users": [cast.ben.id]})
    assert cast.devices.decided(mention) == each(everybody, "reminder") | each(cast.bens, "mention")
    cast.ben.put(f"{room.message(mention['id'])}/thread/following", {"follows": True})
    reply = scheduled(cast.anna, room, "reply", threadId=mention["id"])
    assert cast.devices.decided(reply) == (
        each({"anna own", "anna other"}, "reminder") | each(cast.bens, "reply") | each(cast.carlas, "notFollowing"))


def test_what_a_message_contains_besides_a_text(cast, room):
    files = {
        "image": encoded("PNG"), "video": b"\0\0\0\x18ftypmp42" + bytes(100), "audio": b"RIFF\x24\0\0\0WAVEfmt " + bytes(30),
        "file": b"%PDF-1.7\n" + bytes(100)}
    names = [f"ben {service}" for service in SERVICES]
    for kind, content in files.items():
        media = cast.anna.request("POST", "/v1/media", data=content).json()
        assert kind == "file" or media["contentType"].startswith(kind), media
        sent = cast.anna.put(room.message(new_id()), {"attachments": [{"mediaId": media["id"], "name": "it"}]})
        for arrived in cast.devices.arrived(sent, *names).values():
            is_alert(arrived, "Tea", None, room.id)
            has(arrived, kind="message", roomId=room.id, messageId=sent["id"], senderId=cast.anna.id, attachment=kind)
    shipped = cast.anna.put(room.message(new_id()), {"type": "order.shipped", "data": {"number": 17}})
    for arrived in cast.devices.arrived(shipped, *names).values():
        has(
            arrived, kind="message", roomId=room.id, messageId=shipped["id"], senderId=cast.anna.id,
            type="order.shipped")


# MARK: Other alerts


def test_a_reaction_is_an_alert_for_the_author_of_the_message(cast, room):
    message = say(cast.ben, room)["id"]
    reaction = cast.anna.put(reaction_path(room, message, THUMB))
    decided = cast.devices.decided(reaction)
    assert decided == said_by_anna(cast, bens="reaction", carlas="roomChange", other="roomChange")
    fields = {"roomId": room.id, "messageId": message, "senderId": cast.anna.id, "emoji": THUMB}
    for arrived in cast.devices.arrived(reaction, *cast.bens_others).values():
        is_alert(arrived, "Tea", f"Anna: {THUMB}", room.id)
        has(arrived, kind="reaction", **fields)
    for arrived in cast.devices.arrived(reaction, *cast.carlas).values():
        has(arrived, kind="roomChange", **fields)
    to_oneself = cast.ben.put(reaction_path(room, message, THUMB))
    assert cast.devices.decided(to_oneself) == {
        "ben own": "ownDevice", **each(cast.bens_others, "roomChangesOff"), **each(cast.carlas, "roomChange"),
        "anna own": "roomChange", "anna other": "roomChange"}


def test_an_invitation_is_an_alert_for_the_invited_user(cast):
    office = cast.anna.workspace("Office")
    invited = cast.anna.put(f"{office.path}/invitations/{cast.ben.id}", {"role": "member"})
    assert cast.devices.decided(invited) == each(cast.bens, "invitation")
    for arrived in cast.devices.arrived(invited, *cast.bens_others).values():
        is_alert(arrived, "Office", None, of_message=False)
        has(arrived, kind="invitation", workspaceId=office.id, senderId=cast.anna.id)


def test_who_is_added_to_a_room_gets_an_alert(cast):
    room = cast.anna.room("Cake", cast.carla)
    added = cast.anna.put(f"{room.path}/members/{cast.ben.id}")
    assert cast.devices.decided(added) == said_by_anna(cast, bens="added", carlas="roomChange", other="roomChange")
    for arrived in cast.devices.arrived(added, *cast.bens_others).values():
        is_alert(arrived, "Cake", None, room.id, of_message=False)
        has(arrived, kind="added", roomId=room.id, senderId=cast.anna.id)


# MARK: Updates


def test_reading_updates_the_other_devices(cast, room):
    first, second = say(cast.anna, room, "one"), say(cast.anna, room, "two")
    badge = cast.ben.get("/v1/badge")["unreadCount"]
    read = cast.ben.put(f"{room.path}/read-marker", {"messageId": first["id"]})
    updates = {"ben own": "ownDevice", **each(cast.bens_others, "update")}
    assert cast.devices.decided(read) == updates, "the devices of others are not even considered"
    for arrived in cast.devices.arrived(read, *cast.bens_others).values():
        is_silent(arrived, room)
        has(arrived, kind="update", roomId=room.id, senderId=cast.ben.id, clearedThrough=first["id"])
        assert arrived.badge == badge - 1
    for path, message, count, through in (
            ("read-marker", second, badge - 2, second["id"]), ("unread-mark", first, badge, None)):
        event = cast.ben.put(f"{room.path}/{path}", {"messageId": message["id"]})
        assert cast.devices.decided(event) == updates
        arrived = cast.devices.arrived(event, "ben apns")["ben apns"]
        has(arrived, kind="update", roomId=room.id, senderId=cast.ben.id, clearedThrough=through)
        assert arrived.badge == count


def test_muting_and_unmuting_update_the_other_devices(cast, room):
    badge = cast.ben.get("/v1/badge")["unreadCount"]
    say(cast.anna, room)
    for until, count in (("2090-01-01T00:00:00Z", badge), (None, badge + 1)):
        event = cast.ben.put(f"{room.path}/mute", {"until": until})
        assert cast.devices.decided(event) == {"ben own": "ownDevice", **each(cast.bens_others, "update")}
        for arrived in cast.devices.arrived(event, *cast.bens_others).values():
            is_silent(arrived, room)
            has(arrived, kind="update", roomId=room.id, senderId=cast.ben.id)
            assert arrived.badge == count


def test_hiding_and_showing_a_direct_room_update_the_other_devices(cast):
    room = cast.carla.direct(cast.ben)
    badge = cast.ben.get("/v1/badge")["unreadCount"]
    say(cast.carla, room)
    for is_hidden, count in ((True, badge), (False, badge + 1)):
        event = cast.ben.put(f"{room.path}/hidden", {"isHidden": is_hidden})
        assert cast.devices.decided(event) == {"ben own": "ownDevice", **each(cast.bens_others, "update")}
        for arrived in cast.devices.arrived(event, *cast.bens_others).values():
            is_silent(arrived, room)
            has(arrived, kind="update", roomId=room.id, senderId=cast.ben.id)
            assert arrived.badge == count


def test_blocking_and_unblocking_update_the_other_devices(cast):
    """It can change the badge of any room, so the notification names none."""
    path = f"/v1/me/blocked-users/{cast.dora.id}"
    for act in (cast.ben.put, cast.ben.delete):
        event = act(path)
        assert cast.devices.decided(event) == {"ben own": "ownDevice", **each(cast.bens_others, "update")}
        for arrived in cast.devices.arrived(event, "ben apns").values():
            is_silent(arrived, None)
            has(arrived, kind="update", senderId=cast.ben.id)


def test_reading_a_thread_updates_the_other_devices(cast, room):
    root = say(cast.ben, room, "root")["id"]
    reply = say(cast.anna, room, "reply", threadId=root)
    read = cast.ben.put(f"{room.message(root)}/thread/read-marker", {"messageId": reply["id"]})
    assert cast.devices.decided(read) == {"ben own": "ownDevice", **each(cast.bens_others, "update")}
    for arrived in cast.devices.arrived(read, *cast.bens_others).values():
        is_silent(arrived, room)
        has(arrived, kind="update", roomId=room.id, senderId=cast.ben.id, clearedThrough=reply["id"], threadId=root)


def test_a_deleted_message_is_taken_from_those_who_had_not_read_it(cast, room):
    unread, read = say(cast.anna, room, "unread"), say(cast.anna, room, "read")
    # Carla has read both. Ben's mark makes only the second one unread for him, as it is the newest.
    for person in (cast.ben, cast.carla):
        person.put(f"{room.path}/read-marker", {"messageId": unread["id"]})
    deleted = cast.anna.delete(room.message(read["id"]))
    expected = said_by_anna(cast, bens="update", carlas="update", other="roomChange")
    assert cast.devices.decided(deleted) == expected
    for arrived in cast.devices.arrived(deleted, *cast.bens_others).values():
        is_silent(arrived, room)
        has(arrived, kind="update", roomId=room.id, senderId=cast.anna.id, messageId=read["id"])
    deleted = cast.anna.delete(room.message(unread["id"]))
    assert cast.devices.decided(deleted) == said_by_anna(
        cast, bens="nothingToClear", carlas="roomChange", other="roomChange")


def test_a_deleted_reply_is_taken_from_the_followers(cast, room):
    root = say(cast.anna, room, "root")["id"]
    cast.ben.put(f"{room.message(root)}/thread/following", {"follows": True})
    deleted = cast.anna.delete(room.message(say(cast.anna, room, "reply", threadId=root)["id"]))
    assert cast.devices.decided(deleted) == said_by_anna(cast, bens="update", carlas="roomChange", other="update")
    reply = say(cast.carla, room, "another", threadId=root)
    cast.ben.put(f"{room.message(root)}/thread/following", {"follows": False})
    deleted = cast.carla.delete(room.message(reply["id"]))
    decided = cast.devices.decided(deleted)
    assert {decided[name] for name in cast.bens} == {"nothingToClear"}
    # Who is mentioned gets an alert without following the thread.
    for mentions in ({"everyone": True}, {"users": [cast.ben.id]}):
        root = say(cast.anna, room, "root")["id"]
        reply = say(cast.anna, room, "reply", threadId=root, mentions=mentions)
        # One that is read or deleted before it is sent is abandoned.
        cast.devices.arrived(reply, *cast.bens)
        cast.ben.put(f"{room.message(root)}/thread/following", {"follows": False})
        decided = cast.devices.decided(reply)
        assert {decided[name] for name in cast.bens} == {"mention"}
        decided = cast.devices.decided(cast.anna.delete(room.message(reply["id"])))
        assert {decided[name] for name in cast.bens} == {"update"}


DEPARTURES = {
    "leaves": lambda cast, room: cast.ben.post(f"{room.path}/leave"),
    "is removed": lambda cast, room: cast.anna.delete(f"{room.path}/members/{cast.ben.id}"),
    "is banned": lambda cast, room: cast.anna.put(f"{room.path}/bans/{cast.ben.id}"),
}


@pytest.mark.parametrize("departure", DEPARTURES)
def test_who_is_no_member_any_more_gets_an_update(cast, room, departure):
    badge = cast.ben.get("/v1/badge")["unreadCount"]
    say(cast.anna, room)
    event = DEPARTURES[departure](cast, room)
    decided = cast.devices.decided(event)
    by_ben = departure == "leaves"
    assert decided == {
        "ben own": "ownDevice" if by_ben else "update", **each(cast.bens_others, "update"),
        "anna own": "roomChange" if by_ben else "ownDevice", "anna other": "roomChange",
        **each(cast.carlas, "roomChange")}
    for arrived in cast.devices.arrived(event, *cast.bens_others).values():
        is_silent(arrived, room)
        has(arrived, kind="update", roomId=room.id, senderId=(cast.ben if by_ben else cast.anna).id)
        assert arrived.badge == badge
    after = say(cast.anna, room, "without Ben")
    assert {cast.devices.decided(after)[name] for name in cast.bens} == {"left"}


# MARK: Changes of rooms


def test_each_change_of_a_room_is_silent_and_only_for_devices_that_ask(cast):
    anna, ben, carla, dora = cast.anna, cast.ben, cast.carla, cast.dora
    office = anna.workspace("Office")
    for person in (ben, carla, dora):
        office.take_in(cast.devices.world, person)
    room = anna.channel(office)
    ben.post(f"{room.path}/join")
    joined = carla.post(f"{room.path}/join")
    message = say(anna, room)["id"]
    ben_reacts = ben.put(reaction_path(room, say(carla, room)["id"], THUMB))
    changes = {
        "edited": anna.patch(room.path, {"name": "Coffee"}),
        "archived": anna.post(f"{room.path}/archive"),
        "restored": anna.post(f"{room.path}/unarchive"),
        "got another role": anna.put(f"{room.path}/members/{ben.id}/role", {"role": "administrator"}),
        "message edited": anna.patch(room.message(message), {"text": "The kettle was on."}),
        "pin added": anna.put(f"{room.path}/pins/{message}"),
        "pin removed": anna.delete(f"{room.path}/pins/{message}"),
    }
    by_anna = said_by_anna(cast, bens="roomChangesOff", carlas="roomChange", other="roomChange")
    for name, event in changes.items():
        assert (name, cast.devices.decided(event)) == (name, by_anna)
    # The joining member's own devices get it, too.
    assert cast.devices.decided(joined) == by_anna | {"anna own": "roomChange"}
    ben_takes_back = ben.delete(reaction_path(room, ben_reacts["messageId"], THUMB))
    expected = {"ben own": "ownDevice", **each(cast.bens_others, "roomChangesOff"), **each(cast.carlas, "roomChange")}
    assert cast.devices.decided(ben_takes_back) == expected | {"anna own": "roomChange", "anna other": "roomChange"}
    added = anna.put(f"{room.path}/members/{dora.id}")
    assert cast.devices.decided(added) == by_anna | {"dora": "added"}
    # A user who leaves gets only the update.
    cast.devices.arrived(added, "dora")
    left = dora.post(f"{room.path}/leave")
    assert cast.devices.decided(left) == by_anna | {"dora": "update", "anna own": "roomChange"}

    last = anna.patch(room.path, {"name": "Milk"})
    for arrived in cast.devices.arrived(last, "anna other", *cast.carlas).values():
        is_silent(arrived, room, sets_badge=False)
        has(arrived, kind="roomChange", roomId=room.id, senderId=anna.id)
    edited = anna.patch(room.message(message), {"text": "again"})
    assert edited["revision"] == recorded_position(edited)
    for arrived in cast.devices.arrived(edited, *cast.carlas).values():
        has(arrived, kind="roomChange", roomId=room.id, senderId=anna.id, messageId=message)


def test_a_silent_message_of_an_app_is_a_change_of_the_room(cast, room):
    sent = cast.anna.put(room.message(new_id()), {"type": "position", "silent": True})
    assert cast.devices.decided(sent) == said_by_anna(cast, bens="silentEvent", carlas="roomChange", other="sent")
    for arrived in cast.devices.arrived(sent, *cast.carlas).values():
        is_silent(arrived, room, sets_badge=False)
        has(arrived, kind="roomChange", roomId=room.id, senderId=cast.anna.id, messageId=sent["id"], type="position")


def test_a_browser_replaces_silent_notifications_of_the_same_kind_and_room_only(cast, room):
    other, browser = cast.anna.room("Cake", cast.carla), f"carla {WEB_PUSH}"

    def topic(event: dict) -> str:
        # Each arrives before the next one happens, so that the server itself replaces none.
        return cast.devices.arrived(event, browser)[browser].push.topic

    edits = [topic(cast.anna.patch(place.path, {"topic": new_id()})) for place in (room, other, room)]
    sent = topic(say(cast.carla, room))
    assert edits[0] == edits[2] and len({*edits, sent}) == 3


NOBODY = {
    "room created": lambda cast, room: cast.anna.post("/v1/rooms", {"id": new_id(), "name": "New"}),
    "level set": lambda cast, room: cast.ben.put(f"{room.path}/notifications", {"level": "mentions"}),
    "preferences set": lambda cast, room: cast.dora.patch("/v1/me/preferences", {"sharesPresence": False}),
    "device registered": lambda cast, room: cast.dora.put(f"/v1/devices/{new_id()}", {}),
    "workspace created": lambda cast, room: cast.anna.post("/v1/workspaces", {"id": new_id(), "name": "Office"}),
    "room deleted": lambda cast, room: cast.anna.delete(room.path),
}


@pytest.mark.parametrize("event", NOBODY)
def test_what_notifies_nobody(cast, room, event):
    receipt = NOBODY[event](cast, room)
    settle(cast.devices.server)
    outcome = hansard(
        "push", "explain", "--data", cast.devices.server.data, recorded_position(receipt), expect=None)
    assert outcome.status != 0 and "of a type that notifies nobody" in outcome.errors
    cast.devices.due[recorded_position(receipt)] = set()
