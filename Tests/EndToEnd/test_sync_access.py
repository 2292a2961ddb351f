"""What `GET /v1/sync` shows to whom: a test for each row of the table "Who sees what" in docs/decisions/0032."""

import pytest

from harness.client import new_id
from harness.mirror import Key, SyncClient
from harness.people import Person, Room
from harness.sync_changes import BLOCKED, CUP, SyncScenario


@pytest.fixture
def scenario(world):
    return SyncScenario(world)


@pytest.fixture
def anna(scenario):
    return scenario.anna


@pytest.fixture
def room(scenario):
    return scenario.room


def known(person: Person) -> SyncClient:
    """A client that has everything that the user can see."""
    client = SyncClient(person)
    client.catch_up()
    client.mirror.load_gaps(person)
    client.mirror.load_threads(person)
    return client


def check_after(client: SyncClient) -> list[dict]:
    """The items of the next catch-up, after which the mirror is right. Without the users that they need."""
    return [item for item in client.check() if item["type"] != "user"]


def in_room(items: list[dict], room: Room) -> list[dict]:
    """The items of a room and of what it contains."""
    return [item for item in items if room.id in (
        item.get("id"), item.get("roomId"), item.get("room", {}).get("id"), item.get("message", {}).get("roomId"))]


def tombstones(items: list[dict]) -> list[tuple[str, str]]:
    return [(item["type"], item["id"]) for item in items if item.get("removed")]


def position(response: dict) -> int:
    return response["position"]


def check_whole_room(items: list[dict], scenario: SyncScenario, since: int) -> None:
    """Everything of the scenario's room is there, with the position of the join or a later one as its revision."""
    of_room = [item for item in in_room(items, scenario.room) if not item.get("removed")]
    assert {item["type"] for item in of_room} >= {"room", "member", "readMarker", "message"}
    messages = {item["message"]["id"] for item in of_room if item["type"] == "message"}
    assert messages >= {scenario.root, scenario.reply, scenario.bens, scenario.newest}
    assert all(item["revision"] >= since for item in of_room)


# MARK: Joining


@pytest.mark.parametrize("how", ["joins", "is added"])
def test_who_joins_gets_the_whole_room(scenario, anna, room, how):
    client = known(scenario.carla)
    if how == "joins":
        link = anna.post(f"{room.path}/invites", {})
        joined = scenario.carla.post(f"/v1/invites/{link['token']}/accept")
    else:
        joined = anna.put(f"{room.path}/members/{scenario.carla.id}")
    anna.patch(room.message(scenario.newest), {"text": "edited"})
    items = check_after(client)
    check_whole_room(items, scenario, position(joined))
    revisions = {item["message"]["id"]: item["revision"] for item in items if item["type"] == "message"}
    assert revisions[scenario.root] == position(joined) < revisions[scenario.newest]


def test_who_creates_a_room_gets_it(scenario, anna):
    client = known(scenario.carla)
    created = scenario.carla.room("Carla's")
    items = in_room(check_after(client), created)
    assert {item["type"] for item in items} == {"room", "member"}
    direct = scenario.carla.direct(anna)
    assert {item["type"] for item in in_room(check_after(client), direct)} == {"room", "member"}


# MARK: Leaving

LEAVING = {
    "leaves": lambda s, room: s.ben.post(f"{room.path}/leave"),
    "is removed": lambda s, room: s.anna.delete(f"{room.path}/members/{s.ben.id}"),
    "is banned": lambda s, room: s.anna.put(f"{room.path}/bans/{s.ben.id}"),
}


@pytest.mark.parametrize("how", LEAVING)
def test_who_loses_a_room_gets_its_tombstone_and_nothing_more(scenario, anna, room, how):
    client = known(scenario.ben)
    LEAVING[how](scenario, room)
    anna.send(room, "secret")
    anna.patch(room.message(scenario.root), {"text": "secret"})
    anna.patch(room.path, {"name": "secret"})
    response = scenario.ben.request("GET", "/v1/sync", params={"since": client.cursor})
    assert "secret" not in response.text
    items = check_after(client)
    assert [(item["type"], item["id"]) for item in in_room(items, room)] == [("room", room.id)]
    assert not client.mirror.texts(room.id)
    # The scheduled message outlives the membership.
    assert list(client.mirror.of_type("scheduledMessage")) == [Key("scheduledMessage", room.id, scenario.scheduled)]


@pytest.mark.parametrize("how", LEAVING)
def test_who_loses_a_public_channel_then_gets_it_as_one_who_can_find_it(scenario, anna, how):
    channel = scenario.public
    scenario.ben.post(f"{channel.path}/join")
    client = known(scenario.ben)
    LEAVING[how](scenario, channel)
    items = in_room(check_after(client), channel)
    assert [(item["type"], item.get("removed", False)) for item in items] == [("room", True), ("room", False)]
    assert (items[1]["room"]["role"], items[1]["room"]["lastMessage"]) == (None, None)
    anna.send(channel, "secret")
    assert in_room(check_after(client), channel) == []


def test_who_leaves_a_private_channel_can_no_longer_find_it(scenario):
    client = known(scenario.ben)
    scenario.ben.post(f"{scenario.private.path}/leave")
    assert tombstones(in_room(check_after(client), scenario.private)) == [("room", scenario.private.id)]


def test_who_leaves_and_returns_gets_a_tombstone_and_the_whole_room(scenario, anna, room):
    client = known(scenario.ben)
    left = scenario.ben.post(f"{room.path}/leave")
    returned = anna.put(f"{room.path}/members/{scenario.ben.id}")
    items = check_after(client)
    first, *rest = in_room(items, room)
    assert (first["type"], first["removed"], first["revision"]) == ("room", True, position(left))
    check_whole_room(rest, scenario, position(returned))


# MARK: Deleting


def test_members_of_a_deleted_room_get_its_tombstone(scenario, anna, room):
    clients = [known(person) for person in scenario.people]
    anna.delete(room.path)
    items = [in_room(check_after(client), room) for client in clients]
    assert [tombstones(of_one) for of_one in items[:2]] == [
        [("room", room.id)], [("scheduledMessage", scenario.scheduled), ("room", room.id)]]
    assert items[2] == []


def test_members_of_a_deleted_workspace_get_tombstones_of_it_and_of_their_channels(scenario, anna):
    anna_s, ben_s, carla_s = (known(person) for person in scenario.people)
    anna.delete(scenario.office.path)
    office, public, private = (
        ("workspace", scenario.office.id), ("room", scenario.public.id), ("room", scenario.private.id))
    assert set(tombstones(check_after(anna_s))) >= {office, public, private}
    # Ben could only find the public channel: the tombstone of the workspace removes it too.
    assert set(tombstones(check_after(ben_s))) >= {office, private}
    assert tombstones(check_after(carla_s)) == [("invitation", scenario.office.id)]


# MARK: Workspaces


def of_office(client: SyncClient, scenario: SyncScenario) -> set[str]:
    """The types of what the mirror has of the workspace, with the channels that the user can only find."""
    found = {key.type for key in client.mirror.entities if scenario.office.id in key}
    return found | {"channel" for room in client.mirror.of_type("room").values()
                    if room["workspaceId"] == scenario.office.id and room["role"] is None}


def test_who_leaves_the_workspace_gets_its_tombstone_and_sees_nothing_of_it(scenario, anna):
    client = known(scenario.ben)
    assert of_office(client, scenario) == {"workspace", "workspaceMember", "channel"}
    scenario.ben.post(f"{scenario.office.path}/leave")
    anna.channel(scenario.office, "secret")
    anna.patch(scenario.office.path, {"topic": "secret"})
    anna.patch(scenario.public.path, {"topic": "secret"})
    assert "secret" not in scenario.ben.request("GET", "/v1/sync", params={"since": client.cursor}).text
    items = check_after(client)
    assert ("workspace", scenario.office.id) in tombstones(items)
    assert of_office(client, scenario) == set()


def test_who_becomes_a_guest_gets_the_workspace_with_the_role_and_keeps_the_own_channels(scenario, anna):
    client = known(scenario.ben)
    scenario.make("guest")
    anna.channel(scenario.office, "secret")
    anna.patch(scenario.public.path, {"topic": "secret"})
    assert "secret" not in scenario.ben.request("GET", "/v1/sync", params={"since": client.cursor}).text
    items = check_after(client)
    assert [item["workspace"]["role"] for item in items if item["type"] == "workspace"] == ["guest"]
    assert of_office(client, scenario) == {"workspace"}
    assert Key("room", None, scenario.private.id) in client.mirror.entities


@pytest.mark.parametrize("how", ["joins", "is no guest any more"])
def test_who_comes_into_a_workspace_gets_it_whole(scenario, anna, how):
    person = scenario.carla if how == "joins" else scenario.ben
    if how == "is no guest any more":
        scenario.make("guest")
    client = known(person)
    assert "workspaceMember" not in of_office(client, scenario)
    if how == "joins":
        since = position(person.post(f"{scenario.office.path}/join"))
    else:
        since = position(anna.put(f"{scenario.office.path}/members/{person.id}/role", {"role": "member"}))
    items = check_after(client)
    assert of_office(client, scenario) == {"workspace", "workspaceMember", "channel"}
    of_workspace = [item for item in items if scenario.office.id in (
        item.get("workspaceId"), item.get("workspace", {}).get("id"), item.get("room", {}).get("workspaceId"))]
    assert all(item["revision"] >= since for item in of_workspace)
    public = next(item["room"] for item in items if item.get("room", {}).get("id") == scenario.public.id)
    assert (public["role"], public["lastMessage"]) == (None, None)
    assert in_room(items, scenario.private) == [] or person is scenario.ben


@pytest.mark.parametrize("roles", [["administrator"], ["guest", "member"]], ids=["another role", "guest and back"])
def test_a_channel_that_was_deleted_before_a_new_role_has_a_tombstone(scenario, anna, roles):
    client = known(scenario.ben)
    anna.delete(scenario.public.path)
    for role in roles:
        scenario.make(role)
    assert ("room", scenario.public.id) in tombstones(check_after(client))


def test_who_returns_to_a_workspace_gets_tombstones_of_channels_that_were_deleted_meanwhile(scenario, anna, world):
    client = known(scenario.ben)
    scenario.ben.post(f"{scenario.office.path}/leave")
    anna.delete(scenario.public.path)
    scenario.office.take_in(world, scenario.ben)
    assert ("room", scenario.public.id) in tombstones(check_after(client))


def test_the_visibility_of_a_channel_is_fixed(scenario, anna):
    client = known(scenario.ben)
    for channel in (scenario.public, scenario.private):
        anna.refused("unknown_field", "PATCH", channel.path, {"isPublic": True})
    assert check_after(client) == []


# MARK: Messages, and what is never an item


@pytest.mark.parametrize("change", ["edit", "deletion", "reaction"])
def test_a_change_of_an_old_message_brings_the_whole_message(scenario, anna, room, change):
    client = known(scenario.ben)
    for number in range(40):
        anna.send(room, f"message {number}")
    client.check()
    old = room.message(scenario.root)
    {
        "edit": lambda: anna.patch(old, {"text": "edited"}),
        "deletion": lambda: anna.delete(old),
        "reaction": lambda: scenario.ben.put(f"{old}/reactions/{CUP}"),
    }[change]()
    items = [item for item in check_after(client) if item["type"] == "message"]
    assert [(item["revision"], item["message"]) for item in items] == [(scenario.world.head, scenario.ben.get(old))]


def test_a_block_is_one_item_and_changes_no_message(scenario, anna):
    client, blocked = known(scenario.ben), known(anna)
    scenario.ben.put(f"{BLOCKED}/{anna.id}")
    assert [(item["type"], item["blockedUser"]["user"]["id"]) for item in check_after(client)] == [
        ("blockedUser", anna.id)]
    assert check_after(blocked) == []
    scenario.ben.delete(f"{BLOCKED}/{anna.id}")
    assert tombstones(check_after(client)) == [("blockedUser", anna.id)]
    assert check_after(blocked) == []


def test_an_unban_an_invite_and_a_report_bring_nothing(scenario, anna, room):
    other = scenario.world.user("Other")
    anna.put(f"{room.path}/bans/{other.id}")
    clients = [known(person) for person in (*scenario.people, other)]
    anna.delete(f"{room.path}/bans/{other.id}")
    anna.post(f"{room.path}/invites", {})
    anna.post(f"{scenario.office.path}/invites", {})
    scenario.ben.post(f"{room.path}/reports", {"id": new_id(), "messageId": scenario.root, "reason": "spam"})
    assert [check_after(client) for client in clients] == [[], [], [], []]
