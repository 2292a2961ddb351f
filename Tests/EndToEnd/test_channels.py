"""Channels: rooms of a workspace, public or private within it."""

import pytest

from harness.client import new_id
from harness.people import walk


@pytest.fixture
def people(world):
    """Olga owns the workspace, Adam is an administrator, Mona a member, Gus a guest, and Sid is not in it."""
    olga, adam, mona, gus, sid = world.users("Olga", "Adam", "Mona", "Gus", "Sid")
    office = olga.workspace("Office")
    for person, role in ((adam, "administrator"), (mona, "member"), (gus, "guest")):
        office.take_in(world, person, role)
    return office, olga, adam, mona, gus, sid


def names(person, office, **params) -> list:
    return [room["name"] for room in walk(person, f"{office.path}/channels", "rooms", **params)]


def test_who_makes_channels(people):
    office, olga, adam, mona, gus, sid = people
    body = {"kind": "channel", "name": "News", "workspaceId": office.id, "isPublic": True, "topic": "All of it"}
    made = mona.post("/v1/rooms", body | {"id": new_id()})
    assert (made["kind"], made["workspaceId"], made["isPublic"]) == ("channel", office.id, True)
    assert (made["topic"], made["role"], made["memberCount"]) == ("All of it", "owner", 1)
    assert mona.get(f"/v1/rooms/{made['id']}") == made
    assert mona.post("/v1/rooms", body | {"id": made["id"]}, expect=200) == made
    mona.refused("id_in_use", "POST", "/v1/rooms", body | {"id": made["id"], "isPublic": False})
    gus.refused("forbidden", "POST", "/v1/rooms", body)
    sid.refused("workspace_not_found", "POST", "/v1/rooms", body)
    mona.refused("workspace_not_found", "POST", "/v1/rooms", body | {"workspaceId": new_id()})
    for wrong in ({"kind": "group"}, {"workspaceId": None}, {"name": None}):
        mona.refused("invalid_field", "POST", "/v1/rooms", body | wrong)
    mona.refused("topic_too_long", "POST", "/v1/rooms", body | {"topic": "x" * 1025})


def test_public_channels_are_found_and_joined(world, people):
    office, olga, adam, mona, gus, sid = people
    public, private = olga.channel(office, "Public"), olga.channel(office, "Private", public=False)
    olga.send(public, "for members only")
    for limit in (1, 2, 3):
        assert names(olga, office, limit=limit) == ["Public", "Private"]
        assert names(mona, office, limit=limit) == ["Public"]
        assert names(gus, office, limit=limit) == []
    sid.refused("workspace_not_found", "GET", f"{office.path}/channels")
    found = mona.see(public)
    assert (found["role"], found["lastMessage"], found["unreadCount"]) == (None, None, 0)
    mona.refused("room_not_found", "GET", f"{public.path}/messages")
    mona.refused("room_not_found", "GET", f"{public.path}/members")
    mona.refused("room_not_found", "PUT", public.message(new_id()), {"text": "let me in"})
    joined = mona.post(f"{public.path}/join")
    assert joined == {"roomId": public.id, "userId": mona.id, "position": world.head}
    assert mona.post(f"{public.path}/join", expect=200) == joined
    assert mona.texts(public) == ["for members only"] and mona.unread(public) == 0
    mona.post(f"{public.path}/leave")
    mona.refused("room_not_found", "GET", f"{public.path}/messages")
    mona.refused("room_not_found", "POST", f"{private.path}/join")
    for person in (gus, sid):
        person.refused("room_not_found", "GET", public.path)
        person.refused("room_not_found", "POST", f"{public.path}/join")


def test_a_private_channel_admits_by_invite_or_by_a_member(people):
    office, olga, adam, mona, gus, sid = people
    private = olga.channel(office, "Private", public=False)
    for path, body in ((private.path, None), (f"{private.path}/members/{gus.id}", None)):
        adam.refused("room_not_found", "DELETE", path, body)
    olga.put(f"{private.path}/members/{gus.id}")
    assert names(gus, office) == ["Private"]
    gus.send(private, "a guest may speak where the guest was let in")
    olga.refused("workspace_members_only", "PUT", f"{private.path}/members/{sid.id}")
    link = olga.post(f"{private.path}/invites", {})
    preview = sid.get(f"/v1/invites/{link['token']}")
    assert (preview["roomId"], preview["workspaceId"]) == (private.id, office.id)
    sid.refused("workspace_members_only", "POST", f"/v1/invites/{link['token']}/accept")
    mona.post(f"/v1/invites/{link['token']}/accept")
    assert mona.see(private)["role"] == "member"


def test_workspace_administrators_manage_public_channels_without_joining(world, people):
    office, olga, adam, mona, gus, sid = people
    public = mona.channel(office, "Public")
    mona.put(f"{public.path}/members/{gus.id}")
    mona.send(public, "not for Adam's eyes")
    changed = adam.patch(public.path, {"topic": "Tea"})
    assert (changed["topic"], changed["role"], changed["lastMessage"]) == ("Tea", None, None)
    assert [each["user"]["nickname"] for each in adam.get(f"{public.path}/members")["members"]] == ["Mona", "Gus"]
    adam.put(f"{public.path}/members/{gus.id}/silence", {"until": "2090-01-01T00:00:00Z"})
    gus.refused("member_silenced", "PUT", public.message(new_id()), {"text": "hm"})
    adam.delete(f"{public.path}/members/{gus.id}")
    adam.put(f"{public.path}/bans/{gus.id}")
    assert [ban["user"]["nickname"] for ban in adam.get(f"{public.path}/bans")["bans"]] == ["Gus"]
    adam.refused("forbidden", "DELETE", f"{public.path}/members/{mona.id}")
    adam.refused("room_not_found", "GET", f"{public.path}/messages")
    adam.refused("room_not_found", "PUT", public.message(new_id()), {"text": "hello"})
    assert adam.post(f"{public.path}/archive")["archivedAt"] is not None
    mona.refused("room_archived", "PUT", public.message(new_id()), {"text": "late"})
    assert adam.post(f"{public.path}/unarchive")["archivedAt"] is None
    deleted = adam.delete(public.path)
    assert deleted == {"roomId": public.id, "position": world.head}
    mona.refused("room_not_found", "GET", public.path)
    assert names(mona, office) == []


def test_a_service_brings_members_of_the_workspace_into_a_channel(world, people):
    office, olga, adam, mona, gus, sid = people
    private = olga.channel(office, "Private", public=False)
    world.acting_as(gus.id).post(f"{private.path}/join")
    world.acting_as(sid.id).refused("workspace_members_only", "POST", f"{private.path}/join")
    results = world.admin.ingest([{"op": "member.join", "as": sid.id, "roomId": private.id}])
    assert [result["code"] for result in results] == ["workspace_members_only"]


def test_a_channel_without_a_workspace_is_a_room_like_any_other(anna, ben):
    room = anna.room("Feed", ben, kind="channel")
    assert anna.see(room)["workspaceId"] is None and not anna.see(room)["isPublic"]
    anna.refused("invalid_field", "POST", "/v1/rooms", {"kind": "channel", "name": "Feed", "isPublic": True})
