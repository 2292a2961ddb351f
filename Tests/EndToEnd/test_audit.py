"""`hansard audit` and `hansard log` show who did what, without any secret."""

import csv
import io
import json
import re

import pytest

from harness.client import new_id
from harness.command import audit, hansard, settle, stat
from harness.people import PASSWORD
from harness.tampering import blocks

SECRETS = {"apnsToken": "apns-" + "a1b2c3d4" * 8, "fcmToken": "fcm-" + "e5f6a7b8" * 8}
TYPES = {
    "user.registered", "profile.changed", "session.started", "session.refreshed", "session.ended", "device.registered",
    "device.updated", "device.removed", "room.created", "room.renamed", "room.archived", "invite.created",
    "invite.revoked", "member.joined", "member.added", "member.left", "member.removed", "room.muted",
    "member.notifications-set", "message.sent",
    "message.edited", "message.deleted", "read-marker.moved",
}
FIELDS = [
    "position", "time", "originalTime", "type", "stream", "actor", "service", "device", "subject", "command", "detail",
]


class AuditScenario:
    """One action of each kind, on a server that keeps running."""

    def __init__(self, world):
        self.server = world.server
        self.device = new_id()
        self.anna = anna = world.account("Anna", deviceId=self.device)
        self.ben = ben = world.user("Ben")
        self.key = new_id()
        anna.put(f"/v1/devices/{self.device}", {"name": "phone", "type": "ios"} | SECRETS, key=self.key)
        anna.put(f"/v1/devices/{self.device}", {"name": "new phone"} | SECRETS)
        anna.patch("/v1/me", {"nickname": "Anna K."})
        self.room = room = anna.room("Tea", ben)
        anna.patch(room.path, {"name": "Cake"})
        self.invite = anna.post(f"{room.path}/invites", {})
        carla = world.user("Carla")
        carla.post(f"/v1/invites/{self.invite['token']}/accept")
        anna.delete(f"{room.path}/members/{carla.id}")
        anna.delete(f"{room.path}/invites/{self.invite['id']}")
        self.sent = anna.send(room, "hello")
        anna.patch(room.message(self.sent["id"]), {"text": "hello!"})
        ben.put(f"{room.path}/read-marker", {"messageId": self.sent["id"]})
        ben.put(f"{room.path}/mute", {"until": "2090-01-01T00:00:00Z"})
        ben.put(f"{room.path}/notifications", {"level": "mentions"})
        anna.delete(room.message(self.sent["id"]))
        world.admin.ingest_all([
            {"op": "message.send", "as": ben.id, "roomId": room.id, "id": new_id(), "text": "old",
             "sentAt": "2001-02-03T04:05:06.000Z"},
        ])
        ben.post(f"{room.path}/leave")
        anna.post(f"{room.path}/archive")
        self.refreshed = world.nobody.post("/v1/sessions/refresh", {"refreshToken": ben.tokens["refreshToken"]})
        self.doomed = new_id()
        ben.put(f"/v1/devices/{self.doomed}", {"name": "old phone"})
        ben.delete(f"/v1/devices/{self.doomed}")
        anna.delete("/v1/sessions/current")
        self.head = settle(self.server)
        self.rows = audit(self.server.data)

    @property
    def data(self):
        return self.server.data


@pytest.fixture(scope="module")
def scenario(shared_world):
    return AuditScenario(shared_world)


def test_every_command_has_a_row(scenario):
    assert TYPES <= {row["type"] for row in scenario.rows}
    assert [row["position"] for row in scenario.rows] == list(range(1, scenario.head + 1))
    assert all(list(row) == FIELDS for row in scenario.rows)
    times = [row["time"] for row in scenario.rows]
    assert times == sorted(times)


def test_rows_name_the_actor_the_device_and_the_key(scenario):
    registered = next(row for row in scenario.rows if row["type"] == "device.registered")
    assert (registered["actor"], registered["stream"]) == (scenario.anna.id, scenario.anna.id)
    assert registered["subject"] == scenario.device
    assert (registered["command"], registered["service"], registered["device"]) == (scenario.key, None, scenario.device)
    assert registered["detail"]["pushProviders"] == ["apns", "fcm"]
    sent = next(row for row in scenario.rows if row["position"] == scenario.sent["position"])
    assert (sent["type"], sent["actor"], sent["stream"]) == ("message.sent", scenario.anna.id, scenario.room.id)
    assert (sent["subject"], sent["device"], sent["detail"]["text"]) == (scenario.sent["id"], scenario.device, "hello")
    old = next(row for row in scenario.rows if row["detail"].get("text") == "old")
    assert (old["originalTime"], old["actor"]) == ("2001-02-03T04:05:06.000Z", scenario.ben.id)
    assert old["service"] is not None and old["time"] > "2020"


@pytest.mark.parametrize("form", ["table", "jsonl", "csv"])
def test_secrets_never_appear(scenario, form):
    shown = hansard("audit", "--data", scenario.data, "--format", form).text
    inspected = "".join(
        hansard("log", "inspect", "--data", scenario.data, "--json", "--position", row["position"]).text
        for row in scenario.rows
        if row["type"].startswith(("user.", "device.", "invite.", "session."))
    )
    secrets = [
        *SECRETS.values(), PASSWORD, scenario.anna.token, scenario.anna.tokens["refreshToken"], scenario.anna.email,
        scenario.refreshed["refreshToken"], scenario.refreshed["accessToken"], scenario.invite["token"],
        scenario.server.token,
    ]
    for secret in secrets:
        assert secret not in shown and secret not in inspected
    # Keys, hashes and salts have at least 32 bytes. Nothing that long may appear in hex or base64 either.
    for text in (shown, inspected):
        assert not re.search(r"[0-9a-f]{64}|[A-Za-z0-9+/_-]{43,}", text)


def test_tokens_are_not_in_the_log_at_all(scenario):
    """The log has only a hash of an invite's token, and nothing of access and refresh tokens."""
    raw = b"".join(file.read_bytes() for file in (scenario.data / "log").glob("*.seg"))
    printed = scenario.server.output.read_bytes() + scenario.server.errors.read_bytes()
    anna = scenario.anna
    tokens = (anna.token, anna.tokens["refreshToken"], scenario.invite["token"], scenario.server.token)
    for secret in (*tokens, PASSWORD):
        assert secret.encode() not in raw
        assert secret.encode() not in printed, "the server prints a secret"


def positions(scenario, *filters) -> list[int]:
    return [row["position"] for row in audit(scenario.data, *filters)]


def matching(scenario, test) -> list[int]:
    return [row["position"] for row in scenario.rows if test(row)]


def test_filters(scenario):
    assert positions(scenario, "--room", scenario.room.id) == matching(
        scenario, lambda row: row["stream"] == scenario.room.id)
    user = scenario.ben.id
    assert positions(scenario, "--user", user) == matching(
        scenario, lambda row: user in (row["actor"], row["subject"], row["stream"])
    )
    of_device = positions(scenario, "--device", scenario.device)
    assert set(matching(scenario, lambda row: scenario.device in (row["device"], row["subject"]))) <= set(of_device)
    assert positions(scenario, "--device", new_id()) == []
    assert positions(scenario, "--type", "message.sent") == matching(
        scenario, lambda row: row["type"] == "message.sent")
    both = positions(scenario, "--type", "message.sent", "--type", "room.renamed", "--room", scenario.room.id)
    assert both == matching(
        scenario, lambda row: row["type"] in ("message.sent", "room.renamed") and row["stream"] == scenario.room.id
    )
    assert positions(scenario, "--from", 3, "--to", 5) == [3, 4, 5]
    middle = scenario.rows[len(scenario.rows) // 2]["time"]
    assert positions(scenario, "--since", middle) == matching(scenario, lambda row: row["time"] >= middle)
    assert positions(scenario, "--until", middle) == matching(scenario, lambda row: row["time"] <= middle)
    assert positions(scenario, "--until", "2001-01-01T00:00:00Z") == []


def test_all_formats_have_the_same_content(scenario):
    table = hansard("audit", "--data", scenario.data, "--format", "csv").output
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert list(rows[0]) == FIELDS
    for shown, row in zip(rows, scenario.rows, strict=True):
        assert int(shown["position"]) == row["position"]
        for name in ("time", "originalTime", "type", "stream", "actor", "service", "device", "subject", "command"):
            assert shown[name] == (row[name] or "")
        assert json.loads(shown["detail"]) == row["detail"]
    lines = hansard("audit", "--data", scenario.data).output.splitlines()
    assert len(lines) == len(scenario.rows) + 1 and lines[0].split()[0] == "POSITION"
    assert all(row["type"] in line for row, line in zip(scenario.rows, lines[1:]))


def test_wrong_filters_are_explained(scenario):
    wrong = hansard("audit", "--data", scenario.data, "--type", "message.exploded", expect=None)
    assert wrong.status != 0 and "message.sent" in wrong.errors
    for arguments in (["--room", "nonsense"], ["--since", "yesterday"], ["--from", "minus one"]):
        outcome = hansard("audit", "--data", scenario.data, *arguments, expect=None)
        assert outcome.status != 0 and outcome.errors.strip()
    missing = hansard("audit", "--data", scenario.data / "nowhere", expect=None)
    assert missing.status != 0 and "nowhere" in missing.errors


def test_stat(scenario):
    figures = stat(scenario.data)
    assert figures["events"] == figures["head"] == scenario.head
    assert figures["messages"] == len(matching(scenario, lambda row: row["type"] == "message.sent"))
    assert figures["segments"] == len(list((scenario.data / "log").glob("*.seg")))
    assert figures["storedBytes"] > 0 and figures["rawBytes"] > 0
    for name, count in figures["eventsByType"].items():
        assert count == len(matching(scenario, lambda row, name=name: row["type"] == name))
    text = hansard("log", "stat", "--data", scenario.data).output
    assert "message.sent" in text and "bytes per message" in text


def test_verify_and_inspect(scenario):
    assert "ok" in hansard("log", "verify", "--data", scenario.data).output
    shown = hansard("log", "verify", "--data", scenario.data, "--json").json
    assert (shown["ok"], shown["events"]) == (True, scenario.head)
    record = hansard("log", "inspect", "--data", scenario.data, "--json", "--position", scenario.sent["position"]).json
    assert (record["type"], record["detail"]["text"], record["subject"]) == (
        "message.sent", "hello", scenario.sent["id"])
    block = hansard("log", "inspect", "--data", scenario.data, "--json", "--block", scenario.sent["position"]).json
    held = next(item for item in blocks(scenario.data) if item.first == block["first"])
    assert (held.offset, held.last) == (block["offset"], block["last"])
    # The tool's number includes the header and the padding.
    assert held.stored_bytes < block["storedBytes"] <= held.stored_bytes + 64 + 7
    assert block["first"] <= scenario.sent["position"] <= block["last"]
    assert "hello" in hansard("log", "inspect", "--data", scenario.data, "--position", scenario.sent["position"]).output
    for position in (0, scenario.head + 1):
        outcome = hansard("log", "inspect", "--data", scenario.data, "--position", position, expect=None)
        assert outcome.status != 0 and outcome.errors.strip()
