"""Each kind of notification: which devices get it, what it contains, and which preferences it obeys."""

import datetime
import re
import urllib.parse

import pytest

from harness.client import new_id
from harness.command import hansard, settle
from harness.images import encoded
from harness.people import World
from harness.places import DOCS
from harness.server import Server
from harness.waiting import wait_until
from test_push import lines

SILENT = {"sent", "update", "roomChange"}


def position(receipt: dict) -> int:
    """Where the change of a resource was recorded: the position of a message is that at which it was sent."""
    return max(receipt["position"], receipt.get("revision", 0))


class Devices:
    """Anna, Ben and Carla. Each has a phone, with which they are logged in, and a tablet, which asked for changes of rooms."""

    def __init__(self, server: Server, sink):
        self.server, self.sink = server, sink
        world = World(server)
        self.phones, self.tablets, self.names = {}, {}, {}
        people = []
        for name in ("Anna", "Ben", "Carla"):
            phone, tablet = new_id(), new_id()
            person = world.user(name, deviceId=phone)
            person.put(f"/v1/devices/{phone}", {"apnsToken": f"token of {phone}"})
            person.put(f"/v1/devices/{tablet}", {"apnsToken": f"token of {tablet}", "roomChanges": True})
            self.phones[name], self.tablets[name] = phone, tablet
            self.names |= {phone: f"{name}'s phone", tablet: f"{name}'s tablet"}
            people.append(person)
        self.anna, self.ben, self.carla = people

    def explained(self, receipt: dict) -> dict[str, str]:
        """The kind of the notification that each device gets of an event, or the reason why it gets none."""
        settle(self.server)
        rows = hansard("push", "explain", "--data", self.server.data, "--json", position(receipt)).json["devices"]
        return {self.names[row["deviceId"]]: row.get("kind") or row["reason"] for row in rows}

    def told(self, receipt: dict) -> dict[str, dict]:
        """The notifications of an event that arrived, by device, once all that were decided on have."""
        due = {device for device, kind in self.explained(receipt).items() if kind in SILENT or kind in ALERTS}

        def arrived() -> dict[str, dict]:
            lines = [line for line in lines(self.sink) if line["position"] == position(receipt)]
            return {self.names[line["deviceId"]]: line for line in lines}

        wait_until(lambda: set(arrived()) >= due, f"not all of {due} are notified")
        assert set(arrived()) == due
        return arrived()

    def kinds(self, receipt: dict) -> dict[str, str]:
        told = self.told(receipt)
        assert all(line["silent"] == (line["kind"] in SILENT) for line in told.values())
        return {device: line["kind"] for device, line in told.items()}


ALERTS = {"message", "mention", "reply", "reminder", "reaction", "invitation", "added"}


def owned(*names: str) -> set[str]:
    return {f"{name}'s {device}" for name in names for device in ("phone", "tablet")}


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    sink = folder / "notifications.jsonl"
    server = Server(folder / "data", "--push-file", sink).start()
    yield Devices(server, sink)
    server.end()


@pytest.fixture
def room(devices):
    return devices.anna.room("Tea", devices.ben, devices.carla)


def test_a_message_is_an_alert_for_others_and_silent_for_the_sender(devices, room):
    sent = devices.anna.send(room, "The kettle is on.")
    told = devices.told(sent)
    assert {device: line["kind"] for device, line in told.items()} == dict.fromkeys(
        owned("Ben", "Carla"), "message") | {"Anna's tablet": "sent"}
    line = told["Ben's phone"]
    assert (line["text"], line["roomName"], line["senderNickname"]) == ("The kettle is on.", "Tea", "Anna")
    own = told["Anna's tablet"]
    assert own["clearedThrough"] == own["messageId"] == sent["id"] and own["badge"] == 0
    assert not {"text", "roomName", "senderNickname"} & own.keys()


def test_mentions_replies_and_direct_messages(devices, room):
    mention = devices.anna.put(room.message(new_id()), {"text": "Ben?", "mentions": {"users": [devices.ben.id]}})
    kinds = devices.kinds(mention)
    assert {kinds[device] for device in owned("Ben")} == {"mention"}
    assert {kinds[device] for device in owned("Carla")} == {"message"}
    reply = devices.carla.put(room.message(new_id()), {"text": "here", "threadId": mention["id"]})
    # Anna wrote the root, and Ben was mentioned in it.
    kinds = devices.kinds(reply)
    assert kinds["Anna's phone"] == "reply" and kinds["Carla's tablet"] == "sent"
    direct = devices.anna.direct(devices.ben)
    kinds = devices.kinds(devices.anna.send(direct, "between us"))
    assert kinds == dict.fromkeys(owned("Ben"), "mention") | {"Anna's tablet": "sent"}


def test_a_scheduled_message_reminds_everyone(devices, room):
    soon = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=1)).isoformat()
    id = new_id()
    devices.anna.put(f"{room.path}/scheduled-messages/{id}", {"text": "Tea time", "sendAt": soon})
    wait_until(lambda: devices.anna.request("GET", room.message(id)).status_code == 200, "it is not sent")
    kinds = devices.kinds(devices.anna.get(room.message(id)))
    assert kinds == dict.fromkeys(owned("Anna", "Ben", "Carla"), "reminder")


def test_a_reaction_is_an_alert_for_the_author_of_the_message(devices, room):
    sent = devices.anna.send(room, "cake?")
    path = f"{room.message(sent['id'])}/reactions/{urllib.parse.quote('👍', safe='')}"
    told = devices.told(devices.ben.put(path))
    assert {device: line["kind"] for device, line in told.items()} == {
        "Anna's phone": "reaction", "Anna's tablet": "reaction", "Ben's tablet": "roomChange",
        "Carla's tablet": "roomChange"}
    line = told["Anna's phone"]
    assert (line["emoji"], line["messageId"], line["senderId"]) == ("👍", sent["id"], devices.ben.id)
    own = devices.kinds(devices.anna.put(path))
    assert own == dict.fromkeys(["Anna's tablet", "Ben's tablet", "Carla's tablet"], "roomChange")


def test_an_invitation_and_an_addition_are_alerts_for_the_user(devices):
    office = devices.anna.workspace("Office")
    invited = devices.anna.put(f"{office.path}/invitations/{devices.ben.id}", {"role": "member"})
    told = devices.told(invited)
    assert {device: line["kind"] for device, line in told.items()} == dict.fromkeys(owned("Ben"), "invitation")
    line = told["Ben's phone"]
    assert (line["workspaceName"], line["workspaceId"], line["senderNickname"]) == ("Office", office.id, "Anna")
    room = devices.anna.room("Cake", devices.carla)
    added = devices.kinds(devices.anna.put(f"{room.path}/members/{devices.ben.id}"))
    assert added == dict.fromkeys(owned("Ben"), "added") | {
        "Anna's tablet": "roomChange", "Carla's tablet": "roomChange"}


def test_reading_updates_the_users_other_devices(devices, room):
    first, second = devices.anna.send(room, "one"), devices.anna.send(room, "two")
    read = devices.ben.put(f"{room.path}/read-marker", {"messageId": first["id"]})
    told = devices.told(read)
    assert set(told) == {"Ben's tablet"}
    line = told["Ben's tablet"]
    assert (line["kind"], line["clearedThrough"], line["roomId"]) == ("update", first["id"], room.id)
    assert line["badge"] == devices.ben.get("/v1/badge")["unreadCount"] and line["silent"]
    # Deletion: Ben has not read the second message, Anna has.
    deleted = devices.anna.delete(room.message(second["id"]))
    told = devices.told(deleted)
    assert {device: line["kind"] for device, line in told.items()} == dict.fromkeys(
        owned("Ben", "Carla"), "update") | {"Anna's tablet": "roomChange"}
    assert told["Ben's phone"]["messageId"] == second["id"]
    left = devices.carla.post(f"{room.path}/leave")
    assert devices.kinds(left) == {
        "Carla's tablet": "update", "Anna's tablet": "roomChange", "Ben's tablet": "roomChange"}


def test_changes_of_a_room_are_silent_and_only_for_devices_that_ask(devices, room):
    sent = devices.anna.send(room, "pin me")
    tablets = dict.fromkeys(["Anna's tablet", "Ben's tablet", "Carla's tablet"], "roomChange")
    changes = [
        devices.anna.patch(room.path, {"name": "Coffee"}), devices.anna.patch(room.message(sent["id"]), {"text": "pinned"}),
        devices.anna.put(f"{room.path}/pins/{sent['id']}"),
        devices.anna.put(f"{room.path}/members/{devices.ben.id}/role", {"role": "administrator"}),
    ]
    for change in changes:
        assert devices.kinds(change) == tablets
        assert devices.explained(change)["Ben's phone"] == "roomChangesOff"


def test_a_photo_is_not_an_empty_text_and_an_app_has_types(devices, room):
    media = devices.anna.request("POST", "/v1/media", data=encoded("PNG")).json()
    photo = devices.anna.put(room.message(new_id()), {"attachments": [{"mediaId": media["id"], "name": "cat.png"}]})
    assert devices.told(photo)["Ben's phone"]["attachment"] == "image"
    event = devices.anna.put(room.message(new_id()), {"type": "order.shipped", "data": {"number": 17}, "text": "x"})
    assert devices.told(event)["Ben's phone"]["type"] == "order.shipped"


# ---- preferences ----


def test_without_previews_no_text_and_no_name_leaves_the_server(devices, room):
    devices.ben.patch("/v1/me/preferences", {"showsPreviews": False})
    try:
        told = devices.told(devices.anna.put(room.message(new_id()), {"type": "secret.type", "data": 1, "text": "secret"}))
        line = told["Ben's phone"]
        assert line["kind"] == "message" and not line["silent"] and line["roomId"] == room.id
        assert not {"text", "roomName", "senderNickname", "type", "emoji", "attachment"} & line.keys()
        assert told["Carla's phone"]["text"] == "secret"
    finally:
        devices.ben.patch("/v1/me/preferences", {"showsPreviews": True})


def test_in_quiet_hours_only_the_badge_is_set(devices, room):
    hours = {"from": "00:00", "to": "23:59", "timeZone": "UTC"}
    # In the last minute of the day the hours are over.
    if datetime.datetime.now(datetime.UTC).strftime("%H:%M") >= "23:58":
        hours = {"from": "12:00", "to": "11:59", "timeZone": "UTC"}
    devices.ben.patch("/v1/me/preferences", {"quietHours": hours})
    try:
        told = devices.told(devices.anna.send(room, "hush"))
        assert told["Ben's phone"]["silent"] and told["Ben's phone"]["kind"] == "message"
        assert told["Ben's phone"]["badge"] > 0 and not told["Carla's phone"]["silent"]
    finally:
        devices.ben.patch("/v1/me/preferences", {"quietHours": None})


def causes(devices, room) -> dict:
    """For each kind, how it comes to Ben, and the device that gets it."""
    anna, ben = devices.anna, devices.ben
    reaction = urllib.parse.quote("👍", safe="")

    def reply():
        root = ben.send(room, "root")
        return anna.put(room.message(new_id()), {"text": "reply", "threadId": root["id"]})

    def reminder():
        id = new_id()
        soon = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=0.5)).isoformat()
        anna.put(f"{room.path}/scheduled-messages/{id}", {"text": "soon", "sendAt": soon})
        wait_until(lambda: anna.request("GET", room.message(id)).status_code == 200, "it is not sent")
        return anna.get(room.message(id))

    def added():
        anna.delete(f"{room.path}/members/{ben.id}")
        return anna.put(f"{room.path}/members/{ben.id}")

    return {
        "message": lambda: anna.send(room, "hello"),
        "mention": lambda: anna.put(room.message(new_id()), {"text": "x", "mentions": {"users": [ben.id]}}),
        "reply": reply,
        "reminder": reminder,
        "reaction": lambda: anna.put(f"{room.message(ben.send(room, 'react')['id'])}/reactions/{reaction}"),
        "invitation": lambda: anna.put(f"{anna.workspace('W').path}/invitations/{ben.id}", {"role": "member"}),
        "added": added,
        "sent": lambda: ben.send(room, "mine"),
        "update": lambda: ben.put(f"{room.path}/read-marker", {"messageId": anna.send(room, "read me")["id"]}),
        "roomChange": lambda: anna.patch(room.path, {"topic": new_id()}),
    }


def preference_table() -> dict[str, dict[str, str]]:
    """The table of docs/push.md: for each kind, the outcome under each preference."""
    page = (DOCS / "push.md").read_text()
    head = "| kind | level `mentions` | level `none` | muted room | `mutedKinds` | quiet hours |"
    assert head in page
    names = [re.sub("[` ]", "", cell) for cell in head.strip("|").split("|")][1:]
    table = {}
    for line in page.split(head)[1].splitlines()[2:]:
        if not line.startswith("|"):
            break
        kind, *cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        table[kind] = dict(zip(names, cells, strict=True))
    return table


# For each column of the table, the change of Ben's settings.
SETTINGS = {
    "levelmentions": {"notifications": "mentions"},
    "levelnone": {"notifications": "none"},
    "mutedKinds": {"mutedKinds": sorted(ALERTS)},
    "quiethours": {"quietHours": {"from": "00:00", "to": "23:59", "timeZone": "UTC"}},
    "mutedroom": {},
}


def test_the_table_of_kinds_is_whole():
    table = preference_table()
    assert set(table) == ALERTS | SILENT and {name for row in table.values() for name in row} == set(SETTINGS)


@pytest.mark.parametrize("setting", list(SETTINGS))
def test_the_documented_preferences_apply_to_each_kind(devices, setting):
    devices.ben.patch("/v1/me/preferences", {"notifications": "all", "mutedKinds": [], "quietHours": None})
    room = devices.anna.room("Table", devices.ben, devices.carla)
    if SETTINGS[setting]:
        devices.ben.patch("/v1/me/preferences", SETTINGS[setting])
    try:
        for kind, cause in causes(devices, room).items():
            if setting == "mutedroom":
                devices.ben.put(f"{room.path}/mute", {"until": "2090-01-01T00:00:00Z"})
            if kind == "added" and setting == "mutedroom":
                # A mute ends with the membership, so nobody can be added to a room that they have muted.
                continue
            receipt = cause()
            settle(devices.server)
            rows = hansard("push", "explain", "--data", devices.server.data, "--json", position(receipt)).json["devices"]
            # The tablet gets changes of rooms, and what the phone itself causes.
            device = devices.tablets["Ben"] if kind in SILENT else devices.phones["Ben"]
            [row] = [row for row in rows if row["deviceId"] == device]
            found = row.get("reason") or ("silent" if row["quiet"] else "sent" if kind in SILENT else "shown")
            assert (kind, found) == (kind, preference_table()[kind][setting])
            if "kind" in row:
                assert row["kind"] == kind
    finally:
        devices.ben.patch("/v1/me/preferences", {"notifications": "all", "mutedKinds": [], "quietHours": None})


def test_a_kind_that_was_switched_off_later_is_not_sent(tmp_path):
    server = Server(tmp_path / "data", "--push-file", tmp_path / "pushed").start()
    try:
        world = World(server)
        anna, ben = world.users("Anna", "Ben")
        ben.put(f"/v1/devices/{new_id()}", {"apnsToken": "b"})
        room = anna.room("Tea", ben)
    finally:
        server.end()
    # Without push, notifications wait.
    server = Server(server.data).start()
    try:
        anna.server = ben.server = server
        sent = anna.send(room, "hello")
        ben.patch("/v1/me/preferences", {"mutedKinds": ["message"]})
    finally:
        server.end()
    server = Server(server.data, "--push-file", tmp_path / "pushed").start()
    try:

        def outcome():
            rows = hansard("push", "explain", "--data", server.data, "--json", sent["position"]).json["devices"]
            return [(row["outcome"], row.get("outcomeReason")) for row in rows if "outcome" in row]

        wait_until(lambda: outcome() == [("abandoned", "kind_muted")], "it is not abandoned")
    finally:
        server.end()
