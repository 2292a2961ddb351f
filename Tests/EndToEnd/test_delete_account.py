"""Deleting accounts: who can, what others see afterwards, legal holds, and that no file has anything of the user."""

import shutil

import pytest

from harness.client import Api, new_id
from harness.command import audit, hansard, settle
from harness.config import configured
from harness.images import encoded
from harness.issuer import Issuer, Key
from harness.people import PASSWORD, Person, World
from harness.times import in_time, later as time_after, wait_past
from harness.waiting import wait_until

BODY = {"currentPassword": PASSWORD}


def delete_me(person: Person, body: dict | None = None, expect: int | None = None, **options) -> dict:
    return person.call("DELETE", "/v1/me", BODY if body is None else body, expect=expect, **options)


def erasure(world: World, user: str) -> dict:
    return world.admin.get(f"/v1/admin/erasures/{user}")


def wait_for_texts(person: Person, room, texts: list[str]) -> None:
    wait_until(lambda: person.texts(room) == texts, f"the messages are {person.texts(room)}")


def test_the_owner_of_the_account_must_ask(world):
    anna = world.account("Annabella")
    anna.refused("password_wrong", "DELETE", "/v1/me", {"currentPassword": "wrong horse battery"})
    anna.refused("password_wrong", "DELETE", "/v1/me", {})
    anna.refused("invalid_field", "DELETE", "/v1/me", {"currentPassword": PASSWORD, "idToken": "x"})
    world.nobody.refused("access_token_missing", "DELETE", "/v1/me", BODY)
    assert anna.get("/v1/me")["nickname"] == "Annabella"
    assert delete_me(anna)["userId"] == anna.id


def test_a_deleted_account_is_gone_at_once_and_its_names_are_free(world):
    anna, ben = world.account("Annabella"), world.user("Ben")
    direct = anna.direct(ben)
    device = new_id()
    anna.put(f"/v1/devices/{device}", {"name": "phone", "type": "ios"})
    response = delete_me(anna)
    assert response["state"] in ("running", "complete") and response["deletedAt"]
    anna.refused("session_ended", "GET", "/v1/me")
    anna.refused("session_ended", "PATCH", "/v1/me", {"nickname": "Late"})
    anna.refused("session_ended", "PUT", direct.message(new_id()), {"text": "late"})
    world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", {"email": anna.email, "password": PASSWORD})
    world.nobody.refused(
        "refresh_token_expired", "POST", "/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})
    world.acting_as(anna.id).refused("user_not_found", "GET", "/v1/me")
    profile = {"id": anna.id, "nickname": "", "picture": None, "isGuest": False, "isDeleted": True}
    assert ben.get(f"/v1/users/{anna.id}") == profile
    assert ben.get("/v1/users", ids=f"{ben.id},{anna.id}")["users"][1:] == [profile]
    assert {"id": anna.id, "nickname": "", "picture": None, "isDeleted": True} in ben.get("/v1/rooms")["users"]
    ben.refused("direct_messages_refused", "PUT", direct.message(new_id()), {"text": "are you there?"})
    ben.refused("user_not_found", "POST", "/v1/rooms", {"kind": "direct", "memberIds": [anna.id, world.user().id]})
    # The address is free, and the ID stays in use.
    world.nobody.refused(
        "id_in_use", "POST", "/v1/accounts",
        {"id": anna.id, "email": anna.email, "password": PASSWORD, "nickname": "Annabella"})
    again = {"id": new_id(), "email": anna.email, "password": PASSWORD, "nickname": "Another"}
    assert world.nobody.post("/v1/accounts", again)["id"] == again["id"]


def test_a_retry_gets_the_first_response(world):
    anna, key = world.account("Annabella"), new_id()
    first = delete_me(anna, key=key)
    head = world.head
    for body in (BODY, {"currentPassword": "wrong horse battery"}):
        assert delete_me(anna, body, 200, key=key)["position"] == first["position"]
    assert world.admin.delete(f"/v1/admin/users/{anna.id}", expect=200)["position"] == first["position"]
    acting = world.acting_as(anna.id)
    for headers in ({}, {"key": new_id()}):
        assert acting.call("DELETE", "/v1/me", {}, expect=200, **headers)["position"] == first["position"]
    acting.refused("user_not_found", "GET", "/v1/me")
    acting.refused("user_not_found", "PATCH", "/v1/me", {"nickname": "Late"})
    assert erasure(world, anna.id)["position"] == first["position"] <= head


def test_an_operator_deletes_an_account(world):
    anna, service = world.user("Annabella"), world.admin
    assert service.delete(f"/v1/admin/users/{anna.id}")["userId"] == anna.id
    # In a user's name, too. An account without a password and a linked login is deleted by a service only.
    ben = world.user("Ben")
    ben.refused("linked_login_required", "DELETE", "/v1/me", {})
    ben.refused("service_only", "DELETE", f"/v1/admin/users/{ben.id}")
    assert delete_me(world.acting_as(ben.id), {})["userId"] == ben.id
    service.refused("user_not_found", "DELETE", f"/v1/admin/users/{new_id()}")
    service.refused("user_not_found", "GET", f"/v1/admin/erasures/{world.user().id}")
    listed = service.get("/v1/admin/erasures", limit=2)["erasures"]
    assert [each["userId"] for each in listed] == [ben.id, anna.id]


def test_what_the_user_wrote_goes_and_what_others_wrote_stays(world):
    anna, ben = world.account("Annabella"), world.user("Ben")
    room = anna.room("Tea", ben)
    mine = anna.send(room, "anna pours the first cup")
    bens = ben.send(room, "ben takes it")
    anna.put(f"{room.message(bens['id'])}/reactions/👍")
    invite = anna.post(f"{room.path}/invites", {"id": new_id()})
    report = ben.post(f"{room.path}/reports", {"messageId": mine["id"], "reason": "spam"})
    delete_me(anna)
    # Ownership passes on, and the user has left.
    assert ben.see(room)["role"] == "owner" and ben.see(room)["memberCount"] == 1
    world.user("Carol").refused("invite_revoked", "POST", f"/v1/invites/{invite['token']}/accept")
    wait_for_texts(ben, room, ["", "ben takes it"])
    page = ben.get(f"{room.path}/messages")
    gone, kept = page["messages"]
    assert gone["id"] == mine["id"] and gone["deletedAt"] and gone["senderId"] == anna.id
    assert {"id": anna.id, "nickname": "", "picture": None, "isDeleted": True} in page["users"]
    wait_until(lambda: not ben.get(room.message(kept["id"])).get("reactions"), "the reaction is still there")
    assert ben.get("/v1/search", q="pours")["results"] == []
    assert ben.see(room)["unreadCount"] == 0
    kept = world.admin.get(f"{room.path}/reports/{report['id']}")
    assert (kept["message"]["text"], kept["reportedUser"]["isDeleted"]) == ("anna pours the first cup", True)


def test_a_pending_message_of_a_deleted_user_is_not_sent(world):
    def delete_before(moment: str):
        anna, ben = world.users("Annabella", "Ben")
        room = anna.room("Tea", ben)
        anna.put(f"{room.path}/scheduled-messages/{new_id()}", {"text": "too late", "sendAt": moment})
        world.admin.delete(f"/v1/admin/users/{anna.id}")
        return ben, room

    moment, (ben, room) = in_time(delete_before)
    wait_past(moment, 1)
    assert ben.texts(room) == []


def test_ownership_passes_to_the_highest_role_and_then_to_who_joined_first(world):
    anna = world.account("Annabella")
    ben, carol, dora = world.users("Ben", "Carol", "Dora")
    plain, room = anna.room("Cake", ben, carol, dora), anna.room("Tea", ben, carol, dora)
    for person in (dora, carol):
        anna.put(f"{room.path}/members/{person.id}/role", {"role": "administrator"})
    delete_me(anna)
    assert [person.see(plain)["role"] for person in (ben, carol, dora)] == ["owner", "member", "member"]
    assert [person.see(room)["role"] for person in (ben, carol, dora)] == ["member", "owner", "administrator"]


def test_a_place_without_other_members_is_deleted(world):
    anna, ben = world.account("Annabella"), world.user("Ben")
    alone = anna.room("Notes")
    office = anna.workspace("Office")
    office.take_in(world, ben)
    news, empty = anna.channel(office), anna.channel(office, "Empty")
    ben.post(f"{news.path}/join")
    delete_me(anna)
    world.admin.refused("room_not_found", "PATCH", alone.path, {"name": "Nobody's"})
    assert ben.get(office.path)["role"] == "owner"
    channels = [room["id"] for room in ben.get(f"{office.path}/channels")["rooms"]]
    assert news.id in channels and empty.id not in channels
    assert ben.see(news)["role"] == "owner"


def test_a_legal_hold_makes_the_erasure_wait(world):
    anna, ben, service = world.account("Annabella"), world.user("Ben"), world.admin
    room = anna.room("Tea", ben)
    anna.send(room, "evidence")
    holds = [f"/v1/admin/legal-holds/users/{anna.id}", f"/v1/admin/legal-holds/rooms/{room.id}"]
    service.refused("legal_hold_reason_malformed", "PUT", holds[0], {"reason": ""})
    anna.refused("service_only", "PUT", holds[0], {"reason": "none of it"})
    for path in holds:
        assert service.put(path, {"reason": "case 7"})["reason"] == "case 7"
    assert service.put(holds[0], {"reason": "case 7"}, expect=200)
    listed = service.get("/v1/admin/legal-holds", limit=200)["legalHolds"]
    assert {anna.id, room.id} <= {each["userId"] or each["roomId"] for each in listed}
    settle(world.server)
    placed = audit(world.server.data, "--type", "legal-hold.placed", "--user", anna.id)
    assert [(row["subject"], row["detail"]["reason"]) for row in placed] == [(anna.id, "case 7")]
    assert delete_me(anna)["state"] == "held"
    for path in holds:
        assert erasure(world, anna.id)["state"] == "held"
        assert service.delete(path)["reason"] is None
    service.refused("legal_hold_not_found", "DELETE", holds[0])
    assert erasure(world, anna.id)["state"] != "held"


def test_a_hold_on_a_room_outlives_the_room(world):
    service = world.admin
    for is_placed_first in (True, False):
        anna, ben, carol = world.account("Annabella"), world.user("Ben"), world.user("Carol")
        room = anna.room("Tea", ben)
        anna.send(room, "evidence")
        hold = f"/v1/admin/legal-holds/rooms/{room.id}"
        if is_placed_first:
            service.put(hold, {"reason": "case 7"})
        anna.delete(room.path)
        if not is_placed_first:
            service.put(hold, {"reason": "case 7"})
        assert delete_me(anna)["state"] == "held"
        # Ben was a member, but did nothing.
        assert service.delete(f"/v1/admin/users/{ben.id}")["state"] == "held"
        assert service.delete(f"/v1/admin/users/{carol.id}")["state"] != "held"
        service.delete(hold)
        assert erasure(world, anna.id)["state"] != "held" != erasure(world, ben.id)["state"]


def test_a_user_and_a_room_with_the_same_id_have_two_holds(world):
    anna, service = world.account("Annabella"), world.admin
    world.user("Ben").post("/v1/rooms", {"id": anna.id, "name": "Tea"})
    of_user, of_room = (f"/v1/admin/legal-holds/{kind}/{anna.id}" for kind in ("users", "rooms"))
    service.put(of_user, {"reason": "case 7"})
    service.put(of_room, {"reason": "case 8"})
    listed = service.get("/v1/admin/legal-holds", limit=2)["legalHolds"]
    assert [(each["userId"], each["roomId"], each["reason"]) for each in listed] == [
        (None, anna.id, "case 8"), (anna.id, None, "case 7")]
    delete_me(anna)
    service.delete(of_room)
    assert erasure(world, anna.id)["state"] == "held"
    service.delete(of_user)
    assert erasure(world, anna.id)["state"] != "held"


def test_what_never_existed_cannot_be_held(world):
    for kind, code in (("users", "user_not_found"), ("rooms", "room_not_found")):
        world.admin.refused(code, "PUT", f"/v1/admin/legal-holds/{kind}/{new_id()}", {"reason": "case 7"})
    anna = world.account("Annabella")
    room = anna.room("Tea", world.user("Ben"))
    anna.delete(room.path)
    delete_me(anna)
    hold = f"/v1/admin/legal-holds/rooms/{room.id}"
    assert world.admin.put(hold, {"reason": "case 7"})["roomId"] == room.id
    world.admin.delete(hold)


def test_the_read_models_are_the_same_after_a_rebuild(own_world):
    anna, ben = own_world.account("Annabella"), own_world.user("Ben")
    room = anna.room("Tea", ben)
    # These have no other member, so they are deleted with the account.
    notes = anna.room("Notes")
    anna.channel(anna.workspace("Office"))
    anna.put(notes.message(new_id()), {"text": "to do", "threadId": anna.send(notes, "list")["id"]})
    sent = [anna.send(room, f"cup {number}") for number in range(5)]
    anna.patch(room.message(sent[0]["id"]), {"text": "another cup"})
    anna.patch(room.message(sent[4]["id"]), {"text": "the last cup"})
    ben.put(f"{room.message(sent[1]['id'])}/reactions/👍")
    replies = use_everything(anna, ben, own_world.user("Carol"), room, sent[0]["id"])
    delete_me(anna)
    wait_for_texts(ben, room, [""] * 6 + ["ben's own words"])
    wait_until(lambda: erasure(own_world, anna.id)["state"] == "complete", "the erasure is not complete")
    own_world.server.stop()
    hansard("log", "verify", "--data", own_world.server.data)
    for name in ("accounts", "rooms", "timeline", "ids", "media", "usage", "search"):
        hansard("replay", "--data", own_world.server.data, "--projection", name, "--verify")
    hansard("replay", "--data", own_world.server.data)
    own_world.server.start()
    assert ben.texts(room) == [""] * 6 + ["ben's own words"]
    thread = ben.get(f"{room.message(sent[0]['id'])}/thread")["messages"]
    assert [message["text"] for message in thread] == ["", "ben's reply", ""]
    for reply in replies:
        ben.refused("id_in_use", "PUT", room.message(reply), {"text": "a reply that is not Anna's"})
    anna.refused("session_ended", "GET", "/v1/me")
    own_world.nobody.refused(
        "credentials_rejected", "POST", "/v1/sessions", {"email": anna.email, "password": PASSWORD})


def use_everything(anna: Person, ben: Person, carol: Person, room, root: str) -> list[str]:
    """Anna adds to the room whose content is erased but whose traces others see.
    :return: the IDs of her replies.
    """
    anna.put(f"{room.path}/members/{carol.id}")
    replies = [new_id(), new_id()]
    anna.put(room.message(replies[0]), {"text": "anna's reply", "threadId": root})
    ben.put(room.message(new_id()), {"text": "ben's reply", "threadId": root})
    anna.put(room.message(replies[1]), {"text": "another reply", "threadId": root, "mentions": {"users": [carol.id]}})
    anna.patch(room.message(replies[1]), {"text": "another edited reply"})
    # Messages with a file, and a picture of the user.
    picture = upload(anna, "cup.png")["id"]
    anna.put(room.message(new_id()), {"text": "a picture", "attachments": [{"mediaId": picture}]})
    anna.patch("/v1/me", {"picture": picture})
    # Reactions: before and after those of others, and one that was taken back.
    own = ben.send(room, "ben's own words")["id"]
    for person in (anna, ben, carol):
        person.put(f"{room.message(own)}/reactions/👍")
    anna.put(f"{room.message(own)}/reactions/🎉")
    anna.delete(f"{room.message(own)}/reactions/🎉")
    carol.delete(f"{room.message(own)}/reactions/👍")
    # Scheduled messages: one that is cancelled, one that waits.
    for number in range(2):
        scheduled = f"{room.path}/scheduled-messages/{new_id()}"
        anna.put(scheduled, {"text": f"later {number}", "sendAt": time_after(days=30)})
        anna.patch(scheduled, {"text": "even later"})
        if number == 0:
            anna.delete(scheduled)
    # Tokens that moved to her device, and back.
    token = new_id().replace("-", "") * 2
    for person in (ben, anna, carol):
        person.put(f"/v1/devices/{new_id()}", {"name": "phone", "type": "ios", "apnsToken": token})
    return replies


@pytest.fixture
def words():
    """Texts that occur nowhere else."""
    return [f"{name}-{new_id()}" for name in (
        "Nickname", "message", "edited", "reply", "later", "file", "device", "custom", "comment", "content", "external",
        "subject")]


@pytest.fixture
def linking_world(tmp_path):
    """A server for one test that accepts the ID tokens of an issuer."""
    issuer = Issuer(Key("ES256", "e1"))
    with configured(tmp_path, {"identity": {"providers": {"local": issuer.settings()}}}) as world:
        yield World(world.server, issuer)
    issuer.close()


def test_no_file_has_anything_of_the_user(linking_world, words):
    """Every file of the data directory is searched, once the erasure is complete."""
    nickname, message, edited, reply, later, file, device, custom, comment, content, external, subject = words
    email, token = f"{new_id()}@example.org", new_id().replace("-", "") * 2
    account = linking_world.admin.post(
        "/v1/accounts",
        {"id": new_id(), "nickname": nickname, "email": email, "password": PASSWORD, "externalId": external})
    anna, ben = Person(linking_world.server, account, linking_world.login(email)), linking_world.user("Ben")
    anna.post("/v1/me/identities", {"idToken": linking_world.issuer.token(subject), "currentPassword": PASSWORD})
    room = anna.room("Tea", ben)
    first = anna.send(room, message)
    anna.patch(room.message(first["id"]), {"text": edited})
    ben.send(room, "ben's own words")
    anna.put(room.message(new_id()), {"text": reply, "threadId": first["id"]})
    anna.put(f"{room.path}/scheduled-messages/{new_id()}", {"text": later, "sendAt": time_after(days=30)})
    anna.put(f"/v1/devices/{new_id()}", {"name": device, "type": "ios", "apnsToken": token})
    anna.patch("/v1/me", {"custom": {"status": custom}})
    anna.post(f"{room.path}/reports", {"userId": ben.id, "reason": "spam", "comment": comment})
    picture, note = upload(anna, f"{file}.png"), anna.post("/v1/media", data=content.encode())
    assert anna.request("GET", f"/v1/media/{picture['id']}/thumbnail").status_code == 200
    anna.put(room.message(new_id()), {"attachments": [{"mediaId": each["id"]} for each in (picture, note)]})
    ben.put(room.message(new_id()), {"text": "ben sends it again", "attachments": [{"mediaId": note["id"]}]})
    stored = [path for path in (linking_world.server.data / "media").rglob("*") if path.is_file()]
    assert len(stored) == 3, "two files and a thumbnail"
    texts = [text.encode() for text in (*words, email, token)]
    traces = [*texts, bytes.fromhex(token)]
    linking_world.server.stop()
    before = contents(linking_world.server.data).values()
    assert all(any(text in content for content in before) for text in texts), "the search finds what is there"
    linking_world.server.start()
    unused, kept = unused_views(linking_world.server.data / "views", message)
    delete_me(anna)
    # The log ends a segment early for this, so the erasure completes without more messages.
    wait_until(lambda: erasure(linking_world, anna.id)["state"] == "complete", "the erasure is not complete")
    hold = f"/v1/admin/legal-holds/users/{anna.id}"
    linking_world.admin.refused("already_erased", "PUT", hold, {"reason": "too late"})
    done = erasure(linking_world, anna.id)["erased"]
    assert done["erasedRecords"] > 0 and done["position"] > 0
    assert not any(path.exists() for path in (*unused, *stored)) and all(path.exists() for path in kept)
    linking_world.server.stop()
    check_files(linking_world.server.data, traces)
    # A server that builds everything again knows no more.
    shutil.rmtree(linking_world.server.data / "views")
    linking_world.server.start()
    assert {"ben's own words", "ben sends it again"} <= set(ben.texts(room))
    ben.refused("media_not_found", "GET", f"/v1/media/{note['id']}")
    assert erasure(linking_world, anna.id)["erased"] == done
    linking_world.server.stop()
    check_files(linking_world.server.data, traces)


def contents(data) -> dict:
    """The bytes of each file."""
    return {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}


def check_files(data, traces: list[bytes]) -> None:
    files = contents(data)
    for path, content in files.items():
        for trace in traces:
            assert trace not in content, f"{path} has {trace}"
    # What others have is still there.
    assert any(b"Ben" in content for content in files.values())


def test_the_push_outbox_has_nothing_of_the_user(pushing, sink, words):
    """While push is off, its file is removed, and nothing is sent twice when push is on again."""
    world = World(pushing)
    ben = world.user("Ben")
    ben.put(f"/v1/devices/{new_id()}", {"name": "phone", "type": "ios", "apnsToken": "ab" * 32})
    for flags in (pushing.flags, ()):
        anna = world.account(words[0])
        room = anna.room("Tea", ben)
        token = new_id().replace("-", "") * 2
        anna.put(f"/v1/devices/{new_id()}", {"name": "phone", "type": "ios", "apnsToken": token})
        anna.send(room, words[1])
        wait_until(lambda: sink.exists() and sink.read_text().count(room.id) >= 1, "Ben is not notified")
        settle(pushing)
        on = pushing.flags
        if flags != on:
            pushing.stop()
            pushing.flags = flags
            pushing.start()
        delete_me(anna)
        wait_until(lambda: erasure(world, anna.id)["state"] == "complete", "the erasure is not complete")
        files = list((pushing.data / "views").glob("push-v*"))
        assert bool(files) == bool(flags)
        for path in files:
            content = path.read_bytes()
            assert not any(word.encode() in content for word in (words[0], words[1], token)), path
            assert bytes.fromhex(token) not in content, path
    sent = sink.read_text().count(words[1])
    pushing.stop()
    pushing.flags = on
    pushing.start()
    ben.send(ben.direct(world.user("Carol")), "the outbox is built again")
    wait_until(lambda: any((pushing.data / "views").glob("push-v*.sqlite")), "there is no outbox")
    pushing.stop()
    assert sink.read_text().count(words[1]) == sent


def unused_views(views, word: str) -> tuple[list, list]:
    """Files that no server of this version reads, with a text of the user, and others that are not its own."""
    current = next(path.name for path in views.glob("timeline-v*.sqlite"))
    unused = [views / name for name in (
        "timeline-v1.sqlite", "timeline-v1.sqlite-wal", "rooms-v999.sqlite", "push-v1.sqlite", f"{current}.aside",
        f"{current}.aside-2-wal")]
    for path in unused:
        path.write_text(word)
    directory, foreign = views / f"{current}.aside-3", views / "notes-v1.sqlite"
    directory.mkdir()
    foreign.write_text("somebody's")
    return unused, [directory, foreign, views / current]


def test_a_file_that_another_user_has_uploaded_too_stays(own_world):
    """Also if no message refers to that upload yet."""
    anna, ben = own_world.account("Annabella"), own_world.user("Ben")
    upload(anna, "anna.png")
    own = upload(ben, "ben.png")
    delete_me(anna)
    wait_until(lambda: erasure(own_world, anna.id)["state"] == "complete", "the erasure is not complete")
    assert ben.request("GET", f"/v1/media/{own['id']}").content == encoded("png")


def upload(person: Api, name: str) -> dict:
    response = person.request(
        "POST", "/v1/media", data=encoded("png"), headers={"Content-Type": "image/png"}, params={"name": name})
    assert response.status_code == 201, response.text
    return response.json()
