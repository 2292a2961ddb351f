"""`hansard users`, `rooms`, `sessions` and `devices` beside a running server, and `audit --user` by other names."""

import re
import shutil

import pytest

from harness.client import new_id
from harness.command import audit, hansard, settle
from harness.people import PASSWORD, World
from harness.server import Server

TOKEN = "a1b2c3d4" * 8


class Story:
    def __init__(self, server: Server):
        self.data = server.data
        self.world = world = World(server)
        self.device = new_id()
        self.anna = world.account("Anna", deviceId=self.device)
        self.anna.put(f"/v1/devices/{self.device}", {"name": "phone", "type": "ios", "apnsToken": TOKEN})
        self.ben, self.other_ben = world.user("Ben"), world.user("Ben")
        self.imported = world.admin.post(
            "/v1/accounts", {"id": new_id(), "nickname": "Carla", "externalId": "customer 7"})["id"]
        self.old, self.room = self.anna.room("Tea", self.ben), self.anna.room("Cake", self.ben)
        self.anna.send(self.room, "hello")
        self.anna.post(f"{self.old.path}/archive")
        self.ben.delete("/v1/sessions/current")
        settle(server)

    def rows(self, *command) -> list[dict]:
        """What a command prints with --json. It may run before the read model has applied the last event."""
        outcome = hansard(*command, "--data", self.data, "--json")
        return outcome.rows


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("support") / "data").start()
    story = Story(server)
    # Every read model has applied everything that was durable when a request arrived.
    story.world.admin.get("/v1/admin/reports")
    story.anna.get("/v1/rooms")
    story.anna.get("/v1/devices")
    yield story
    server.end()


def test_users_are_found_by_every_name(story):
    anna = story.rows("users", "show", story.anna.id)[0]
    assert (anna["nickname"], anna["hasEmail"], anna["hasPassword"], anna["isGuest"]) == ("Anna", True, True, False)
    assert (anna["openSessions"], anna["devices"], anna["rooms"], anna["disabledAt"]) == (1, 1, 2, None)
    for name in (story.anna.email, story.anna.email.upper(), "Anna", story.anna.id.upper()):
        assert story.rows("users", "show", name)[0]["id"] == story.anna.id, name
    assert story.rows("users", "show", "customer 7")[0]["id"] == story.imported
    several = hansard("users", "show", "Ben", "--data", story.data, expect=2).errors
    assert "Ben names several users" in several and story.ben.id in several and story.other_ben.id in several
    assert "there is no user nobody" in hansard("users", "show", "nobody", "--data", story.data, expect=2).errors


def test_lists_have_the_newest_first_and_can_be_continued(story):
    users = story.rows("users", "list")
    assert [user["id"] for user in users] == [story.imported, story.other_ben.id, story.ben.id, story.anna.id]
    first = story.rows("users", "list", "--limit", 3)
    assert first == users[:3]
    assert story.rows("users", "list", "--before", first[-1]["position"]) == users[3:]
    rooms = story.rows("rooms", "list")
    assert [room["id"] for room in rooms] == [story.room.id, story.old.id]
    assert (rooms[0]["members"], rooms[0]["messages"], rooms[0]["archivedAt"]) == (2, 1, None) and rooms[1]["archivedAt"]
    assert story.rows("rooms", "list", "--user", "Anna") == rooms
    assert story.rows("rooms", "list", "--user", story.other_ben.id) == []
    table = hansard("rooms", "list", "--data", story.data).output.splitlines()
    assert re.split(r"\s+", table[0]) == ["POSITION", "CREATEDAT", "ID", "KIND", "MEMBERS", "MESSAGES", "ARCHIVEDAT", "NAME"]
    assert len(table) == 3 and table[1].endswith("Cake")


def test_a_room_is_shown_with_its_members(story):
    room = story.rows("rooms", "show", story.room.id)[0]
    assert (room["name"], room["creator"], room["deletedMessages"]) == ("Cake", story.anna.id, 0)
    assert [(member["userId"], member["nickname"], member["role"]) for member in room["firstMembers"]] == [
        (story.anna.id, "Anna", "owner"), (story.ben.id, "Ben", "member")]
    shown = hansard("rooms", "show", story.room.id, "--data", story.data).output
    assert f"{story.ben.id}  member  Ben" in shown


def test_sessions_and_devices_are_shown_without_tokens(story):
    (session,) = story.rows("sessions", "list", "--user", story.anna.email)
    assert (session["userId"], session["deviceId"], session["endedAt"]) == (story.anna.id, story.device, None)
    assert story.rows("sessions", "show", session["id"]) == [session]
    ended = story.rows("sessions", "list", "--user", story.ben.id)[0]
    assert ended["endReason"] == "logged_out" and ended["endedAt"]
    assert {each["id"] for each in story.rows("sessions", "list")} >= {session["id"], ended["id"]}
    (device,) = story.rows("devices", "list", "--user", "Anna")
    assert (device["name"], device["pushProviders"]) == ("phone", ["apns"])
    assert story.rows("devices", "show", story.device) == [device] == story.rows("devices", "list")
    commands = [("users", "list"), ("users", "show", "Anna"), ("sessions", "list"), ("devices", "list")]
    said = "".join(hansard(*command, "--data", story.data, *flags).text for command in commands for flags in ((), ("--json",)))
    for secret in (TOKEN, PASSWORD, story.anna.email, story.anna.token, story.anna.tokens["refreshToken"]):
        assert secret not in said
    assert "is not a UUID" in hansard("sessions", "show", "x", "--data", story.data, expect=64).errors
    assert "there is no device" in hansard("devices", "show", new_id(), "--data", story.data, expect=2).errors


def test_the_audit_takes_every_name_of_a_user(story):
    expected = audit(story.data, "--user", story.anna.id)
    assert len(expected) > 5
    for name in (story.anna.email, "Anna"):
        assert audit(story.data, "--user", name) == expected
    assert [row["type"] for row in audit(story.data, "--user", "customer 7")] == ["user.registered"]
    refused = hansard("audit", "--data", story.data, "--user", "Ben", expect=2)
    assert "Ben names several users" in refused.errors and refused.output == ""


def test_without_read_models_only_ids_are_known(story, tmp_path):
    shutil.copytree(story.data, tmp_path / "data", ignore=shutil.ignore_patterns("views", "lock"))
    assert audit(tmp_path / "data", "--user", story.imported)
    for command in (("audit", "--user", "Anna"), ("users", "list")):
        refused = hansard(*command, "--data", tmp_path / "data", expect=2).errors
        assert "projection_missing_file" in refused and "start the server once, or run hansard replay" in refused
