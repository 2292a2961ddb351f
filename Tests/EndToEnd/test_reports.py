"""Reports of messages and members: who can file, see, resolve and reopen them, and what they contain."""

import time

import pytest

from harness.client import new_id
from harness.collecting import ROUNDS_SECONDS, files, held, with_file
from harness.people import World, walk
from harness.waiting import wait_until


@pytest.fixture
def tea(world, anna):
    """Anna's room, with Bill as an administrator, and Carla and Dora as members."""
    bill, carla, dora = world.users("Bill", "Carla", "Dora")
    room = anna.room("Tea", bill, carla, dora)
    anna.put(f"{room.path}/members/{bill.id}/role", {"role": "administrator"})
    return room, bill, carla, dora


def file(reporter, room, **fields) -> dict:
    return reporter.post(f"{room.path}/reports", {"id": new_id(), "reason": "spam"} | fields)


def path_of(report: dict) -> str:
    return f"/v1/rooms/{report['roomId']}/reports/{report['id']}"


def ids(reports: list[dict]) -> list[str]:
    return [report["id"] for report in reports]


def test_a_report_contains_the_message_as_it_was(world, anna, tea):
    room, bill, carla, dora = tea
    body = {
        "text": "first", "type": "ad.shown", "data": {"price": 3}, "mentions": {"users": [carla.id]},
        "attachments": [{"mediaId": dora.post("/v1/media", data=b"a picture")["id"], "name": "tea.jpg"}],
    }
    sent = dora.put(room.message(new_id()), body)
    dora.patch(room.message(sent["id"]), {"text": "buy my tea", "mentions": {"users": [carla.id]}})
    report = file(carla, room, messageId=sent["id"], reason="harassment", comment="every day")
    assert report["message"] == {
        "id": sent["id"], "text": "buy my tea", "sentAt": sent["sentAt"], "type": "ad.shown", "data": {"price": 3},
        "mentions": {"users": [carla.id], "everyone": False}, "attachments": sent["attachments"],
    }
    assert report["reporter"] == {"id": carla.id, "nickname": "Carla", "picture": None}
    assert report["reportedUser"] == {"id": dora.id, "nickname": "Dora", "picture": None}
    assert (report["status"], report["reason"], report["comment"]) == ("open", "harassment", "every day")
    assert report["position"] == report["revision"] == world.head and report["resolution"] is None
    dora.patch(room.message(sent["id"]), {"text": "harmless"})
    dora.delete(room.message(sent["id"]))
    for viewer in (anna, bill, carla, world.admin):
        assert viewer.get(path_of(report)) == report
    repeated = {"id": report["id"], "messageId": sent["id"], "reason": "harassment", "comment": "every day"}
    head = world.head
    assert carla.post(f"{room.path}/reports", repeated, expect=200) == report
    assert world.acting_as(carla.id).post(f"{room.path}/reports", repeated, expect=200) == report
    carla.refused("id_in_use", "POST", f"{room.path}/reports", repeated | {"comment": "x"})
    bill.refused("id_in_use", "POST", f"{room.path}/reports", repeated)
    assert world.head == head
    # Of a deleted message, a report has only where it was.
    late = file(carla, room, messageId=sent["id"])
    assert late["message"] == {"id": sent["id"], "text": None, "sentAt": sent["sentAt"]}
    assert late["reportedUser"]["id"] == dora.id
    for viewer in (anna, carla, world.admin):
        assert viewer.get(path_of(late)) == late


def test_a_report_right_after_an_edit_contains_the_new_text(anna, tea):
    room, _, carla, dora = tea
    sent = dora.send(room, "text 0")
    for number in range(1, 30):
        dora.patch(room.message(sent["id"]), {"text": f"text {number}"})
        report = file(carla if number % 2 else anna, room, messageId=sent["id"])
        assert report["message"]["text"] == f"text {number}"
    reply = dora.put(room.message(new_id()), {"text": "in the thread", "threadId": sent["id"]})
    assert file(carla, room, messageId=reply["id"])["message"]["text"] == "in the thread"


def test_who_may_report_what(world, anna, tea):
    room, _, carla, dora = tea
    path, sent = f"{room.path}/reports", dora.send(room, "hello")
    report = {"reason": "other"}
    carla.refused("message_not_found", "POST", path, report | {"messageId": new_id()})
    carla.refused("member_not_found", "POST", path, report | {"userId": world.user().id})
    carla.refused("forbidden", "POST", path, report | {"userId": carla.id})
    dora.refused("forbidden", "POST", path, report | {"messageId": sent["id"]})
    world.user().refused("room_not_found", "POST", path, report | {"userId": dora.id})
    world.admin.refused("acting_user_required", "POST", path, report | {"userId": dora.id})
    for wrong in ({"reason": "boring", "userId": dora.id}, {"userId": dora.id}, report,
                  report | {"userId": dora.id, "messageId": sent["id"]}, report | {"userId": dora.id, "reason": 3}):
        carla.refused("invalid_field", "POST", path, wrong)
    anna.put(f"{room.path}/members/{carla.id}/silence", {"until": "2090-01-01T00:00:00Z"})
    file(carla, room, messageId=sent["id"])
    anna.post(f"{room.path}/archive")
    file(carla, room, userId=dora.id)
    direct = carla.direct(dora)
    report = file(carla, direct, messageId=dora.send(direct, "rude")["id"])
    for person in (carla, dora):
        person.refused("forbidden", "GET", f"{direct.path}/reports")
        person.refused("forbidden", "POST", f"{path_of(report)}/reopen")
    assert ids(world.admin.get(f"{direct.path}/reports")["reports"]) == [report["id"]]


def test_resolving_and_reopening(world, anna, tea):
    room, bill, carla, dora = tea
    report = file(carla, room, userId=dora.id)
    path, resolution = path_of(report), {"outcome": "user_warned", "note": "second time"}
    key = new_id()
    resolved = bill.post(f"{path}/resolve", resolution, key=key)
    assert resolved["status"] == "resolved" and resolved["revision"] == world.head
    assert resolved["resolution"] == {
        "outcome": "user_warned", "note": "second time", "by": {"id": bill.id, "nickname": "Bill", "picture": None},
        "at": resolved["resolution"]["at"],
    }
    assert anna.get(path) == resolved
    seen = carla.get(path)
    assert seen == resolved | {"resolution": resolved["resolution"] | {"note": None, "by": None}}
    assert anna.get(f"{room.path}/reports")["reports"] == []
    assert anna.get(f"{room.path}/reports", status="resolved")["reports"] == [resolved]
    # A repeat of the filing gets the first response.
    again = {"id": report["id"], "reason": "spam", "userId": dora.id}
    assert carla.post(f"{room.path}/reports", again, expect=200) == report
    # The same resolution without a key is a repeat; a different one is not.
    assert anna.post(f"{path}/resolve", resolution, expect=200) == resolved
    changed = anna.post(f"{path}/resolve", {"outcome": "user_removed"})
    assert (changed["resolution"]["outcome"], changed["resolution"]["by"]["id"]) == ("user_removed", anna.id)
    reopened = world.admin.post(f"{path}/reopen", key=new_id())
    assert (reopened["status"], reopened["resolution"], reopened["revision"]) == ("open", None, world.head)
    assert world.admin.post(f"{path}/reopen", expect=200) == reopened
    # A late retry gets the first response and changes nothing.
    assert bill.post(f"{path}/resolve", resolution, key=key, expect=200) == resolved
    assert anna.get(path) == reopened
    bill.refused("idempotency_key_reused", "POST", f"{path}/resolve", {"outcome": "other"}, key=key)
    bill.refused("invalid_field", "POST", f"{path}/resolve", {"outcome": "shrug"})
    bill.refused("report_not_found", "POST", f"{room.path}/reports/{new_id()}/resolve", resolution)
    for person, code in ((carla, "forbidden"), (dora, "forbidden"), (world.user(), "room_not_found")):
        for action, body in (("resolve", resolution), ("reopen", None)):
            person.refused(code, "POST", f"{path}/{action}", body)


def test_the_reported_user_cannot_see_the_report(world, anna, tea):
    room, bill, carla, dora = tea
    sent = bill.send(room, "you are all fired")
    about, other = file(carla, room, messageId=sent["id"]), file(carla, room, userId=dora.id)
    for api in (bill, world.acting_as(bill.id)):
        assert api.get(f"{room.path}/reports")["reports"] == [other]
        api.refused("report_not_found", "GET", path_of(about))
        api.refused("report_not_found", "POST", f"{path_of(about)}/resolve", {"outcome": "no_action"})
        api.refused("report_not_found", "POST", f"{path_of(about)}/reopen")
    anna.post(f"{path_of(about)}/resolve", {"outcome": "no_action"})
    assert bill.get(f"{room.path}/reports", status="resolved")["reports"] == []
    assert bill.get(f"{room.path}/messages")["messages"][-1] == sent
    # If the reported user is the only moderator, services still see the report.
    about = file(carla, room, userId=anna.id)
    assert ids(anna.get(f"{room.path}/reports")["reports"]) == [other["id"]]
    assert ids(world.admin.get(f"{room.path}/reports")["reports"]) == [about["id"], other["id"]]
    for member in (carla, dora):
        member.refused("forbidden", "GET", f"{room.path}/reports")
    dora.refused("report_not_found", "GET", path_of(about))
    carla.post(f"{room.path}/leave")
    assert carla.get(path_of(about)) == about


def test_workspace_administrators_moderate_its_channels(world, anna, ben):
    office = anna.workspace("Office")
    for person in (carla := world.user("Carla"), dora := world.user("Dora"), ben):
        office.take_in(world, person)
    boss = world.user("Boss")
    office.take_in(world, boss, "administrator")
    private, public = carla.channel(office, "Private", public=False), carla.channel(office, "Public")
    made = []
    for channel in (private, public):
        carla.put(f"{channel.path}/members/{dora.id}")
        made.append(file(dora, channel, userId=carla.id))
    for viewer in (anna, boss, world.admin):
        assert viewer.get(f"{office.path}/reports")["reports"] == made[::-1]
        assert viewer.get(f"{private.path}/reports")["reports"] == made[:1]
    boss.refused("room_not_found", "GET", private.path)
    assert carla.get(f"{private.path}/reports")["reports"] == []
    ben.refused("forbidden", "GET", f"{office.path}/reports")
    ben.refused("room_not_found", "GET", f"{private.path}/reports")
    world.user().refused("workspace_not_found", "GET", f"{office.path}/reports")
    world.admin.refused("workspace_not_found", "GET", f"/v1/workspaces/{new_id()}/reports")
    world.admin.refused("room_not_found", "GET", f"/v1/rooms/{new_id()}/reports")
    resolved = boss.post(f"{path_of(made[0])}/resolve", {"outcome": "no_action"})
    assert boss.get(f"{office.path}/reports", status="resolved")["reports"] == [resolved]
    # The reported owner deletes the channel. Its reports stay, but only services see them.
    carla.delete(public.path)
    for viewer in (anna, boss):
        assert viewer.get(f"{office.path}/reports")["reports"] == []
        assert ids(viewer.get(f"{office.path}/reports", status="resolved")["reports"]) == [made[0]["id"]]
        viewer.refused("room_not_found", "GET", path_of(made[1]))
    kept = world.admin.get(path_of(made[1]))
    assert kept["resolution"] == {
        "outcome": "room_deleted", "note": None, "by": {"id": carla.id, "nickname": "Carla", "picture": None},
        "at": kept["resolution"]["at"],
    }
    assert kept | {"resolution": None, "status": "open", "revision": made[1]["revision"]} == made[1]
    assert world.admin.get(f"{public.path}/reports", status="resolved")["reports"] == [kept]
    assert made[1]["id"] in ids(walk(world.admin, "/v1/admin/reports", "reports", status="resolved", limit=3))
    world.admin.refused("room_not_found", "POST", f"{path_of(made[1])}/reopen")
    dora.refused("room_not_found", "GET", path_of(made[1]))


@pytest.mark.parametrize("limit", [1, 2, 5, 6, 200])
def test_pages(world, anna, tea, limit):
    room, bill, carla, dora = tea
    made = [file(reporter, room, userId=dora.id) for reporter in (carla, anna, bill) for _ in range(2)]
    for report in made[::3]:
        anna.post(f"{path_of(report)}/resolve", {"outcome": "no_action"})
    is_open = [report for number, report in enumerate(made) if number % 3]
    assert walk(anna, f"{room.path}/reports", "reports", limit=limit) == is_open[::-1]
    assert ids(walk(anna, f"{room.path}/reports", "reports", limit=limit, status="resolved")) == ids(made[::3][::-1])
    mine = set(ids(made))
    everywhere = walk(world.admin, "/v1/admin/reports", "reports", limit=limit)
    assert [report for report in everywhere if report["id"] in mine] == is_open[::-1]
    anna.refused("invalid_query", "GET", f"{room.path}/reports?status=closed")
    cursor = world.admin.get("/v1/admin/reports", limit=1)["nextCursor"]
    anna.refused("invalid_cursor", "GET", f"{room.path}/reports?cursor={cursor}")
    anna.refused("service_only", "GET", "/v1/admin/reports")


def test_a_restart_and_a_rebuild_change_nothing(own_world):
    anna, ben, carla = own_world.users("Anna", "Ben", "Carla")
    room = anna.room("Tea", ben, carla)
    sent = ben.send(room, "buy tea")
    message = {"id": new_id(), "reason": "spam", "messageId": sent["id"]}
    made = [carla.post(f"{room.path}/reports", message)]
    made += [file(carla, room, userId=ben.id) for _ in range(19)]
    anna.post(f"{path_of(made[1])}/resolve", {"outcome": "user_warned"}, key=(key := new_id()))
    carla.post(f"{room.path}/reports", {"reason": "spam", "userId": ben.id})
    lists = [anna.get(f"{room.path}/reports", status=status, limit=200) for status in ("open", "resolved")]
    for remove in (False, True):
        own_world.server.stop()
        if remove:
            for file_of_view in (own_world.server.data / "views").glob("*.sqlite*"):
                file_of_view.unlink()
        own_world.server.start()
        assert [anna.get(f"{room.path}/reports", status=status, limit=200) for status in ("open", "resolved")] == lists
        carla.refused("too_many_reports", "POST", f"{room.path}/reports", {"reason": "spam", "userId": ben.id})
        assert carla.post(f"{room.path}/reports", message, expect=200) == made[0]
        anna.post(f"{path_of(made[1])}/resolve", {"outcome": "user_warned"}, key=key, expect=200)
        anna.refused("id_in_use", "POST", f"{room.path}/reports", message)


def test_the_files_of_a_reported_message_stay(collecting):
    """They stay for services. Everybody else sees them go as if there were no report."""
    world = World(collecting)
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room, own = anna.room("Tea", ben, carla), ben.room("Own")
    content, sent = b"an ugly picture", [new_id(), new_id()]
    media = held(ben, content, "PUT", room.message(sent[0]), with_file)
    dropped = held(ben, b"a nice picture", "PUT", room.message(sent[1]), with_file)
    file(carla, room, messageId=sent[0])
    time.sleep(ROUNDS_SECONDS)
    assert files(collecting) == 2
    assert ben.request("GET", f"/v1/media/{media}").content == content
    for message in sent:
        ben.delete(room.message(message))
    wait_until(lambda: files(collecting) == 1, "the file that nobody reported was not collected")
    for path in [f"/v1/media/{one}{what}" for one in (media, dropped) for what in ("", "/thumbnail")]:
        for api in (ben, anna, world.acting_as(ben.id)):
            api.refused("media_not_found", "GET", path)
    ben.refused("media_not_found", "PUT", own.message(new_id()), with_file(media))
    ben.refused("media_not_found", "PATCH", "/v1/me", {"picture": media})
    ben.refused("media_not_found", "PATCH", own.path, {"picture": media})
    anna.delete(room.path)
    time.sleep(ROUNDS_SECONDS)
    assert world.admin.request("GET", f"/v1/media/{media}").content == content
    # A new upload is the same file again, as after a collection.
    assert held(ben, content, "PUT", own.message(new_id()), with_file) == media
    assert ben.request("GET", f"/v1/media/{media}").content == content
