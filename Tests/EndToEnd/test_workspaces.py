"""Workspaces: members, roles, links and invitations by name."""

import pytest

from harness.client import new_id
from harness.people import World, walk
from harness.server import Server


def roles(person, office) -> dict:
    return {member["user"]["nickname"]: member["role"] for member in person.get(f"{office.path}/members")["members"]}


@pytest.fixture
def office(world, anna):
    """Anna's workspace, with Bill as an administrator, Mona as a member and Gus as a guest."""
    place = anna.workspace("Office")
    place.people = {}
    for nickname, role in (("Bill", "administrator"), ("Mona", "member"), ("Gus", "guest")):
        place.people[nickname] = world.user(nickname)
        place.take_in(world, place.people[nickname], role)
    return place


def test_a_workspace_is_made_once_and_listed_with_the_role_in_it(world, anna, ben):
    body = {"id": new_id(), "name": "Office"}
    made = anna.post("/v1/workspaces", body)
    assert (made["name"], made["topic"], made["picture"]) == ("Office", None, None)
    assert (made["role"], made["memberCount"]) == ("owner", 1)
    head = world.head
    assert anna.post("/v1/workspaces", body, expect=200) == made
    assert world.head == head
    anna.refused("id_in_use", "POST", "/v1/workspaces", body | {"name": "Home"})
    ben.refused("id_in_use", "POST", "/v1/workspaces", body)
    assert anna.get("/v1/workspaces")["workspaces"] == [made]
    assert ben.get("/v1/workspaces")["workspaces"] == []
    ben.refused("workspace_not_found", "GET", f"/v1/workspaces/{body['id']}")
    names = [f"Place {number}" for number in range(5)]
    for name in names:
        anna.workspace(name)
    for limit in (1, 5, 6, 7):
        listed = walk(anna, "/v1/workspaces", "workspaces", limit=limit)
        assert [workspace["name"] for workspace in listed] == ["Office", *names]


def test_a_workspace_is_made_with_a_topic(anna):
    body = {"id": new_id(), "name": "Office", "topic": "Tea"}
    made = anna.post("/v1/workspaces", body)
    assert made["topic"] == "Tea"
    assert anna.get(f"/v1/workspaces/{body['id']}") == made
    assert anna.post("/v1/workspaces", body, expect=200) == made
    for other in ({"topic": "Coffee"}, {"topic": ""}, {"topic": None}):
        anna.refused("id_in_use", "POST", "/v1/workspaces", body | other)
    anna.refused("topic_too_long", "POST", "/v1/workspaces", {"name": "Office", "topic": "x" * 1025})
    assert anna.post("/v1/workspaces", {"name": "Office", "topic": ""})["topic"] is None


def test_name_topic_and_picture(anna, office):
    picture = office.people["Bill"].post("/v1/media", data=b"a picture")["id"]
    changed = office.people["Bill"].patch(office.path, {"name": "Home", "topic": "Tea", "picture": picture})
    assert (changed["name"], changed["topic"], changed["picture"]) == ("Home", "Tea", picture)
    assert anna.get(office.path) == changed | {"role": "owner"}
    changed = anna.patch(office.path, {"topic": "", "picture": ""})
    assert (changed["name"], changed["topic"], changed["picture"]) == ("Home", None, None)
    assert anna.get(office.path)["topic"] is None
    anna.refused("invalid_field", "PATCH", office.path, {})
    anna.refused("invalid_field", "PATCH", office.path, {"picture": "me.png"})
    anna.refused("workspace_name_empty", "PATCH", office.path, {"name": ""})
    anna.refused("workspace_name_too_long", "PATCH", office.path, {"name": "x" * 257})
    anna.refused("topic_too_long", "PATCH", office.path, {"topic": "x" * 1025})


def test_a_link_admits_with_its_role(world, anna, office):
    bill, mona = office.people["Bill"], office.people["Mona"]
    mona.refused("forbidden", "POST", f"{office.path}/invites", {})
    bill.refused("invite_role_not_allowed", "POST", f"{office.path}/invites", {"role": "owner"})
    bill.refused("invalid_field", "POST", f"{office.path}/invites", {"role": "emperor"})
    body = {"id": new_id(), "role": "guest", "maxUses": 1}
    link = bill.post(f"{office.path}/invites", body)
    assert link["link"] == f"hansard://invite/{link['token']}"
    assert bill.post(f"{office.path}/invites", body, expect=200) == link
    late, guest = world.users("Late", "Guest")
    preview = guest.get(f"/v1/invites/{link['token']}")
    assert (preview["roomId"], preview["workspaceId"], preview["name"]) == (None, office.id, "Office")
    assert (preview["memberCount"], preview["role"], preview["inviter"]["nickname"]) == (4, "guest", "Bill")
    came = guest.post(f"/v1/invites/{link['token']}/accept")
    assert came == {"roomId": None, "workspaceId": office.id, "userId": guest.id, "position": world.head}
    assert guest.post(f"/v1/invites/{link['token']}/accept", expect=200) == came
    assert guest.get(office.path)["role"] == "guest"
    late.refused("invite_used_up", "POST", f"/v1/invites/{link['token']}/accept")
    assert [each["uses"] for each in anna.get(f"{office.path}/invites")["invites"]] == [1]
    other = anna.post(f"{office.path}/invites", {})
    anna.delete(f"{office.path}/invites/{other['id']}")
    late.refused("invite_revoked", "GET", f"/v1/invites/{other['token']}")
    late.refused("invite_revoked", "POST", f"/v1/invites/{other['token']}/accept")


def test_an_invitation_is_accepted_declined_or_taken_back(world, anna, office):
    users = world.users("Ada", "Bea", "Cleo")
    ada, bea, cleo = users
    bill = office.people["Bill"]
    for user in users:
        bill.put(f"{office.path}/invitations/{user.id}", {"role": "guest"})
    (mine,) = ada.get("/v1/me/invitations")["invitations"]
    assert (mine["workspaceId"], mine["workspaceName"], mine["role"]) == (office.id, "Office", "guest")
    assert mine["invitedBy"] == {"id": bill.id, "nickname": "Bill", "picture": None}
    ada.refused("workspace_not_found", "GET", office.path)
    for limit in (1, 2, 3, 4):
        pending = walk(anna, f"{office.path}/invitations", "invitations", limit=limit)
        assert [each["user"]["nickname"] for each in pending] == ["Cleo", "Bea", "Ada"]
    office.people["Mona"].refused("forbidden", "GET", f"{office.path}/invitations")
    ada.post(f"{office.path}/join")
    bea.delete(f"/v1/me/invitations/{office.id}")
    anna.delete(f"{office.path}/invitations/{cleo.id}")
    assert anna.get(f"{office.path}/invitations")["invitations"] == []
    assert roles(anna, office)["Ada"] == "guest"
    for user in (bea, cleo):
        assert user.get("/v1/me/invitations")["invitations"] == []
        user.refused("invitation_not_found", "POST", f"{office.path}/join")
        user.refused("invitation_not_found", "DELETE", f"/v1/me/invitations/{office.id}")
    anna.refused("invitation_not_found", "DELETE", f"{office.path}/invitations/{cleo.id}")
    anna.refused("user_not_found", "PUT", f"{office.path}/invitations/{new_id()}", {"role": "guest"})
    # Inviting a member again is a repeat.
    anna.put(f"{office.path}/invitations/{ada.id}", {"role": "member"}, expect=200)
    assert roles(anna, office)["Ada"] == "guest"


def test_an_invitation_gives_no_more_than_who_invited_still_has(own_world):
    world = own_world
    anna, bill, bob = world.users("Anna", "Bill", "Bob")
    office = anna.workspace("Office")
    for person in (bill, bob):
        office.take_in(world, person, "administrator")
    ada, bea, cleo, dora, ella = world.users("Ada", "Bea", "Cleo", "Dora", "Ella")

    def invite(person, by):
        return by.put(f"{office.path}/invitations/{person.id}", {"role": "administrator"})

    for person in (ada, bea, cleo):
        invite(person, by=bill)
    invite(dora, by=bob)
    invite(ella, by=world.admin)
    # An invitation by another member replaces the inviter. Repeating the same invitation changes nothing.
    again = invite(cleo, by=anna)
    assert anna.put(f"{office.path}/invitations/{cleo.id}", {"role": "administrator"}, expect=200) == again
    assert cleo.get("/v1/me/invitations")["invitations"][0]["invitedBy"]["id"] == anna.id
    anna.delete(f"{office.path}/members/{bill.id}")
    anna.put(f"{office.path}/members/{bob.id}/role", {"role": "guest"})
    world.server.restart()
    ada.post(f"{office.path}/join")
    world.acting_as(bea.id).post(f"{office.path}/join")
    for person in (cleo, dora, ella):
        person.post(f"{office.path}/join")
    assert roles(anna, office) == {
        "Anna": "owner", "Bob": "guest", "Ada": "member", "Bea": "member", "Cleo": "administrator", "Dora": "guest",
        "Ella": "administrator",
    }


def test_roles(anna, office):
    bill, mona, gus = (office.people[name] for name in ("Bill", "Mona", "Gus"))

    def role_of(person):
        return f"{office.path}/members/{person.id}/role"

    bill.put(role_of(gus), {"role": "member"})
    assert roles(bill, office) == {"Anna": "owner", "Bill": "administrator", "Mona": "member", "Gus": "member"}
    bill.refused("forbidden", "PUT", role_of(anna), {"role": "member"})
    mona.refused("forbidden", "PUT", role_of(gus), {"role": "guest"})
    anna.refused("role_not_allowed", "PUT", role_of(bill), {"role": "owner"})
    anna.refused("owner_must_transfer", "PUT", role_of(anna), {"role": "member"})
    anna.refused("owner_must_transfer", "POST", f"{office.path}/leave")
    anna.refused("invalid_field", "PUT", role_of(bill), {"role": "emperor"})
    anna.refused("member_not_found", "PUT", f"{office.path}/members/{new_id()}/role", {"role": "guest"})
    bill.refused("forbidden", "POST", f"{office.path}/transfer", {"userId": mona.id})
    anna.post(f"{office.path}/transfer", {"userId": mona.id})
    assert roles(bill, office) == {"Anna": "administrator", "Bill": "administrator", "Mona": "owner", "Gus": "member"}
    anna.post(f"{office.path}/leave")
    anna.refused("workspace_not_found", "GET", office.path)


def test_members_are_removed_by_those_above_them(anna, office):
    bill, mona, gus = (office.people[name] for name in ("Bill", "Mona", "Gus"))
    mona.refused("forbidden", "DELETE", f"{office.path}/members/{gus.id}")
    bill.refused("forbidden", "DELETE", f"{office.path}/members/{anna.id}")
    bill.delete(f"{office.path}/members/{mona.id}")
    mona.refused("workspace_not_found", "GET", office.path)
    bill.refused("member_not_found", "DELETE", f"{office.path}/members/{mona.id}")
    gus.refused("forbidden", "GET", f"{office.path}/members")
    assert anna.get(office.path)["memberCount"] == 3
    for limit in (1, 2, 3, 4):
        members = walk(anna, f"{office.path}/members", "members", limit=limit)
        assert [member["user"]["nickname"] for member in members] == ["Anna", "Bill", "Gus"]


def test_a_member_who_goes_leaves_the_channels_which_keep_an_owner(world, anna, office):
    mona, bill = office.people["Mona"], office.people["Bill"]
    mine, hers = anna.channel(office, "Mine"), mona.channel(office, "Hers", public=False)
    mona.post(f"{mine.path}/join")
    mona.put(f"{hers.path}/members/{office.people['Gus'].id}")
    mona.put(f"{hers.path}/members/{bill.id}")
    mona.put(f"{hers.path}/members/{bill.id}/role", {"role": "administrator"})
    outside = mona.room("Outside")
    head = world.head
    gone = mona.post(f"{office.path}/leave")
    assert gone["position"] == head + 1 and world.head == head + 4
    for room in (mine, hers):
        mona.refused("room_not_found", "GET", room.path)
    assert [room["id"] for room in mona.get("/v1/rooms")["rooms"]] == [outside.id]
    assert bill.see(hers)["role"] == "owner"
    history = bill.get(f"{hers.path}/join-history")["changes"]
    assert [(change["change"], change["user"]["nickname"]) for change in history[:2]] == [
        ("role_changed", "Bill"), ("left", "Mona"),
    ]


def test_a_deleted_workspace_is_gone_with_its_channels(own_world):
    world = own_world
    anna, ben = world.users("Anna", "Ben")
    office = anna.workspace("Office")
    office.take_in(world, ben)
    room = anna.channel(office)
    ben.post(f"{room.path}/join")
    anna.send(room, "words of a channel")
    link = anna.post(f"{office.path}/invites", {})
    anna.put(f"{office.path}/invitations/{world.user('Carla').id}", {"role": "guest"})
    ben.refused("forbidden", "DELETE", office.path)
    key = new_id()
    deleted = anna.delete(office.path, key=key)
    for _ in range(2):
        assert anna.delete(office.path, key=key, expect=200) == deleted
        for person in (anna, ben):
            person.refused("workspace_not_found", "GET", office.path)
            person.refused("workspace_not_found", "GET", f"{office.path}/channels")
            person.refused("room_not_found", "GET", room.path)
            person.refused("room_not_found", "GET", f"{room.path}/messages")
            person.refused("room_not_found", "PUT", room.message(new_id()), {"text": "late"})
            assert person.get("/v1/workspaces")["workspaces"] == person.get("/v1/rooms")["rooms"] == []
        ben.refused("invite_not_found", "GET", f"/v1/invites/{link['token']}")
        ben.refused("invite_not_found", "POST", f"/v1/invites/{link['token']}/accept")
        anna.refused("id_in_use", "POST", "/v1/workspaces", {"id": office.id, "name": "Another"})
        world.server.restart()


def test_workspaces_survive_a_restart(own_world):
    world = own_world
    anna, bill, gus = world.users("Anna", "Bill", "Gus")
    office = anna.workspace("Office")
    office.take_in(world, bill, "administrator")
    office.take_in(world, gus, "guest")
    room = anna.channel(office)
    bill.post(f"{room.path}/join")
    anna.put(f"{room.path}/bans/{bill.id}")
    link = anna.post(f"{office.path}/invites", {"maxUses": 1})
    before = anna.get(office.path), anna.get(f"{office.path}/channels"), roles(anna, office)
    world.server.restart()
    assert (anna.get(office.path), anna.get(f"{office.path}/channels"), roles(anna, office)) == before
    bill.refused("banned", "POST", f"{room.path}/join")
    bill.delete(f"{room.path}/bans/{bill.id}")
    bill.post(f"{room.path}/join")
    gus.refused("room_not_found", "POST", f"{room.path}/join")
    carla, dora = world.users("Carla", "Dora")
    carla.post(f"/v1/invites/{link['token']}/accept")
    dora.refused("invite_used_up", "POST", f"/v1/invites/{link['token']}/accept")


def test_the_app_chooses_its_own_deep_link(tmp_path):
    server = Server(tmp_path / "data", "--deep-link", "https://tea.example/i/{token}?from=chat").start()
    try:
        anna = World(server).user("Anna")
        for place in (anna.room("Tea"), anna.workspace("Office")):
            invite = anna.post(f"{place.path}/invites", {})
            assert invite["link"] == f"https://tea.example/i/{invite['token']}?from=chat"
    finally:
        server.end()
