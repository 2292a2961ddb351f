"""Threads: their order, unread counts, summary and followers."""

import pytest

from harness.client import new_id
from harness.people import walk


def reply(person, room, root, text, expect=201, **more):
    return person.put(room.message(more.pop("id", None) or new_id()), {"text": text, "threadId": root} | more, expect=expect)


def thread(person, room, root, **params):
    return person.get(f"{room.message(root)}/thread", **params)


def followed(person):
    return {entry["root"]["id"]: entry for entry in person.get("/v1/threads")["threads"]}


def counts(person, root):
    entry = followed(person)[root]
    return entry["unreadCount"], entry["mentionCount"]


@pytest.fixture
def root(anna, room):
    return anna.send(room, "root")["id"]


def test_the_threads_can_be_limited_to_a_kind_and_a_workspace(anna):
    office, club = anna.workspace("Office"), anna.workspace("Club")
    rooms = [anna.room("Tea"), anna.channel(office, "News"), anna.channel(club, "Chess"), anna.channel(office, "Plans")]
    roots = []
    for each in rooms:
        roots.append(anna.send(each, "root")["id"])
        reply(anna, each, roots[-1], "reply")
    group, news, chess, plans = roots

    def listed(limit, **query):
        return [entry["root"]["id"] for entry in walk(anna, "/v1/threads", "threads", limit=limit, **query)]

    for limit in (1, 2, 200):
        assert listed(limit) == [plans, chess, news, group]
        assert listed(limit, kind="group") == [group]
        assert listed(limit, kind="direct") == []
        assert listed(limit, kind="channel") == [plans, chess, news]
        assert listed(limit, workspaceId=office.id) == [plans, news]
        assert listed(limit, workspaceId=club.id, kind="channel") == [chess]
        assert listed(limit, workspaceId=new_id()) == []
    anna.refused("invalid_query", "GET", "/v1/threads?kind=palace")
    anna.refused("invalid_query", "GET", "/v1/threads?workspaceId=office")


def test_a_thread_is_a_timeline_of_its_own(anna, ben, room, root):
    ben.see(room)
    replies = [reply(ben, room, root, f"reply {number}") for number in range(3)]
    assert [message["threadId"] for message in replies] == [root] * 3
    assert anna.texts(room) == ["root"]
    assert anna.see(room)["lastMessage"]["id"] == root
    assert anna.unread(room) == 0
    page = thread(anna, room, root)
    assert [message["text"] for message in page["messages"]] == ["reply 0", "reply 1", "reply 2"]
    assert page["messages"] == replies
    assert (page["nextCursor"], page["previousCursor"]) == (None, None)
    assert [user["id"] for user in page["users"]] == [ben.id]
    for message in replies:
        assert anna.get(room.message(message["id"])) == message


def test_the_root_shows_a_summary(world, anna, ben, room, root):
    assert "thread" not in anna.get(room.message(root))
    first = reply(ben, room, root, "one")
    last = reply(anna, room, root, "two")
    summary = {"replyCount": 2, "lastReplyAt": last["sentAt"], "participants": [ben.id, anna.id]}
    page = anna.get(f"{room.path}/messages")
    assert page["messages"][0]["thread"] == summary
    assert {user["id"] for user in page["users"]} == {anna.id, ben.id}
    assert anna.get(room.message(root))["thread"] == summary
    ben.delete(room.message(first["id"]))
    assert anna.get(room.message(root))["thread"] == summary | {"replyCount": 1, "participants": [anna.id]}
    others = [world.user(f"P{number}") for number in range(6)]
    for other in others:
        anna.put(f"{room.path}/members/{other.id}")
        reply(other, room, root, "me too")
    shown = anna.get(room.message(root))["thread"]
    assert shown["replyCount"] == 7
    assert shown["participants"] == [anna.id] + [other.id for other in others[:4]]


def test_pages_of_a_thread(anna, ben, room, root):
    ids = [reply(ben, room, root, f"{number}")["id"] for number in range(25)]
    newest = thread(anna, room, root, limit=10)
    assert [message["id"] for message in newest["messages"]] == ids[15:]
    older = thread(anna, room, root, limit=10, before=newest["nextCursor"])
    oldest = thread(anna, room, root, limit=10, before=older["nextCursor"])
    walked = [message["id"] for page in (oldest, older, newest) for message in page["messages"]]
    assert walked == ids and oldest["nextCursor"] is None
    after = thread(anna, room, root, limit=3, after=ids[4])
    assert [message["id"] for message in after["messages"]] == ids[5:8]
    around = thread(anna, room, root, limit=5, around=ids[12])
    assert [message["id"] for message in around["messages"]] == ids[10:15]
    from_root = thread(anna, room, root, limit=2, after=root)
    assert [message["id"] for message in from_root["messages"]] == ids[:2]
    other = anna.send(room, "another")["id"]
    anna.refused("message_not_found", "GET", f"{room.message(root)}/thread", params={"around": other})
    anna.refused("invalid_cursor", "GET", f"{room.path}/messages", params={"before": newest["nextCursor"]})
    assert thread(anna, room, other)["messages"] == []


def test_a_link_to_a_reply_opens_the_room_at_its_root(anna, ben, room):
    ids = [anna.send(room, f"{number}")["id"] for number in range(9)]
    first_reply = reply(ben, room, ids[4], "here")["id"]
    page = anna.get(f"{room.path}/messages", around=first_reply, limit=3)
    assert [message["id"] for message in page["messages"]] == ids[3:6]


def test_invalid_thread_roots(anna, ben, room, root):
    first_reply = reply(ben, room, root, "one")["id"]
    path = room.message(new_id())
    anna.refused("not_a_thread_root", "PUT", path, {"text": "x", "threadId": first_reply})
    anna.refused("message_not_found", "PUT", path, {"text": "x", "threadId": new_id()})
    anna.refused("not_a_thread_root", "GET", f"{room.message(first_reply)}/thread")
    anna.refused("message_not_found", "GET", f"{room.message(new_id())}/thread")
    lonely = anna.send(room, "to be deleted")["id"]
    anna.delete(room.message(lonely))
    anna.refused("message_deleted", "PUT", path, {"text": "x", "threadId": lonely})
    anna.delete(room.message(root))
    reply(anna, room, root, "goes on")
    assert [message["text"] for message in thread(anna, room, root)["messages"]] == ["one", "goes on"]


def test_a_reply_refers_to_a_message_of_the_same_timeline(anna, ben, room, root):
    first_reply = reply(ben, room, root, "one")["id"]
    other = anna.send(room, "another root")["id"]
    elsewhere = reply(ben, room, other, "elsewhere")["id"]
    assert reply(anna, room, root, "yes", replyTo=first_reply)["replyTo"] == first_reply
    assert reply(anna, room, root, "yes", replyTo=root)["replyTo"] == root
    for target in (elsewhere, other):
        anna.refused("reply_elsewhere", "PUT", room.message(new_id()), {"text": "x", "threadId": root, "replyTo": target})
    plain = anna.put(room.message(new_id()), {"text": "yes", "replyTo": other})
    assert plain["replyTo"] == other and anna.get(room.message(plain["id"])) == plain
    anna.refused("reply_elsewhere", "PUT", room.message(new_id()), {"text": "x", "replyTo": first_reply})
    anna.refused("message_not_found", "PUT", room.message(new_id()), {"text": "x", "replyTo": new_id()})


def test_unread_of_a_thread(world, anna, ben, room, root):
    assert followed(anna) == {} == followed(ben)
    replies = [reply(ben, room, root, f"{number}")["id"] for number in range(3)]
    assert counts(anna, root) == (3, 0)
    assert counts(ben, root) == (0, 0)
    anna.put(f"{room.message(root)}/thread/read-marker", {"messageId": replies[1]})
    assert counts(anna, root) == (1, 0)
    anna.put(f"{room.message(root)}/thread/read-marker", {"messageId": replies[0]})
    assert counts(anna, root) == (1, 0)
    ben.delete(room.message(replies[2]))
    assert counts(anna, root) == (0, 0)
    reply(ben, room, root, "again")
    assert counts(anna, root) == (1, 0)
    reply(anna, room, root, "read")
    assert counts(anna, root) == (0, 0)
    assert counts(ben, root) == (1, 0)
    carla = world.user("Carla")
    anna.put(f"{room.path}/members/{carla.id}")
    assert followed(carla) == {}


def reading(person, room, root):
    page = thread(person, room, root, limit=1)
    marker = page["readMarker"]
    return page["following"], page["unreadCount"], page["mentionCount"], marker and marker["messageId"]


def test_a_page_says_how_the_caller_reads_the_thread(world, anna, ben, room, root):
    nothing = (False, 0, 0, None)
    assert reading(anna, room, root) == reading(ben, room, root) == nothing
    replies = [reply(ben, room, root, "Anna!", mentions={"users": [anna.id]})["id"] for _ in range(3)]
    assert reading(anna, room, root) == (True, 3, 3, None)
    assert reading(ben, room, root) == (True, 0, 0, replies[2])
    path = f"{room.message(root)}/thread"
    anna.put(f"{path}/read-marker", {"messageId": replies[1]})
    assert reading(anna, room, root) == (True, 1, 1, replies[1])
    assert reading(anna, room, root)[1:3] == counts(anna, root)
    anna.put(f"{path}/read-marker", {"messageId": replies[0]})
    assert reading(anna, room, root) == (True, 1, 1, replies[1])
    sent = reply(anna, room, root, "read")
    assert thread(anna, room, root)["readMarker"] == {"messageId": sent["id"], "readAt": sent["sentAt"]}
    carla = world.user("Carla")
    anna.put(f"{room.path}/members/{carla.id}")
    assert reading(carla, room, root) == nothing
    carla.put(f"{path}/following", {"follows": True})
    assert reading(carla, room, root) == (True, 0, 0, None)
    reply(ben, room, root, "more")
    assert reading(carla, room, root) == (True, 1, 0, None)
    carla.put(f"{path}/following", {"follows": False})
    assert reading(carla, room, root) == nothing
    anna.post(f"{room.path}/archive")
    assert reading(anna, room, root) == (True, 1, 0, sent["id"])


def test_following(world, anna, ben, room, root):
    carla = world.user("Carla")
    anna.put(f"{room.path}/members/{carla.id}")
    following = f"{room.message(root)}/thread/following"
    reply(ben, room, root, "one")
    assert carla.put(following, {"follows": True})["follows"] is True
    assert counts(carla, root) == (0, 0)
    reply(ben, room, root, "two")
    assert counts(carla, root) == (1, 0)
    carla.put(following, {"follows": False})
    assert followed(carla) == {}
    reply(carla, room, root, "I said no")
    reply(ben, room, root, "are you sure", mentions={"users": [carla.id]})
    assert followed(carla) == {}
    carla.put(following, {"follows": True})
    assert counts(carla, root) == (0, 0)
    anna.put(following, {"follows": False})
    assert followed(anna) == {}
    first_reply = thread(anna, room, root)["messages"][0]["id"]
    anna.refused("not_a_thread_root", "PUT", f"{room.message(first_reply)}/thread/following", {"follows": True})
    carla.post(f"{room.path}/leave")
    anna.put(f"{room.path}/members/{carla.id}")
    assert followed(carla) == {}


def test_the_thread_with_the_latest_reply_comes_first(anna, ben, room):
    roots = [anna.send(room, f"{number}")["id"] for number in range(5)]
    for root in roots:
        reply(ben, room, root, "x")
    reply(ben, room, roots[1], "y")
    order = [roots[1], roots[4], roots[3], roots[2], roots[0]]
    assert [entry["root"]["id"] for entry in anna.get("/v1/threads")["threads"]] == order
    assert [entry["root"]["id"] for entry in walk(anna, "/v1/threads", "threads", limit=2)] == order
    entry = anna.get("/v1/threads", limit=1)["threads"][0]
    assert entry["root"]["thread"]["replyCount"] == 2
    anna.refused("invalid_cursor", "GET", "/v1/threads", params={"cursor": "nonsense"})


def test_a_marker_moves_to_a_message_of_the_thread(anna, ben, room, root):
    first_reply = reply(ben, room, root, "one")["id"]
    other = anna.send(room, "another")["id"]
    elsewhere = reply(ben, room, other, "x")["id"]
    path = f"{room.message(root)}/thread/read-marker"
    for target in (root, other, elsewhere, new_id()):
        anna.refused("message_not_found", "PUT", path, {"messageId": target})
    anna.refused(
        "not_a_thread_root", "PUT", f"{room.message(first_reply)}/thread/read-marker", {"messageId": first_reply})
    anna.refused("message_not_found", "PUT", f"{room.path}/read-marker", {"messageId": first_reply})


def test_every_retry_gets_the_first_response(world, anna, ben, room, root):
    id = new_id()
    sent = reply(ben, room, root, "one", id=id)
    head = world.head
    assert reply(ben, room, root, "one", id=id, expect=200) == sent
    ben.refused("id_in_use", "PUT", room.message(id), {"text": "one"})
    ben.refused("id_in_use", "PUT", room.message(id), {"text": "one", "threadId": new_id()})
    anna.delete(room.message(root))
    ben.delete(room.message(id))
    assert reply(ben, room, root, "one", id=id, expect=200) == sent
    following, marker = f"{room.message(root)}/thread/following", f"{room.message(root)}/thread/read-marker"
    key, other = new_id(), new_id()
    first = anna.put(following, {"follows": False}, key=key)
    anna.put(following, {"follows": True})
    assert anna.put(following, {"follows": False}, key=key, expect=200) == first
    assert root in followed(anna)
    moved = anna.put(marker, {"messageId": id}, key=other)
    assert anna.put(marker, {"messageId": id}, key=other, expect=200) == moved
    anna.refused("idempotency_key_reused", "PUT", following, {"follows": True}, key=key)
    assert world.head == head + 5


def test_strangers_learn_nothing(world, anna, ben, room, root):
    first_reply = reply(ben, room, root, "one")["id"]
    eve = world.user("Eve")
    eve.refused("room_not_found", "GET", f"{room.message(root)}/thread")
    eve.refused("room_not_found", "GET", room.message(first_reply))
    eve.refused("room_not_found", "PUT", f"{room.message(root)}/thread/following", {"follows": True})
    eve.refused("room_not_found", "PUT", f"{room.message(root)}/thread/read-marker", {"messageId": first_reply})
    eve.refused("room_not_found", "PUT", room.message(new_id()), {"text": "x", "threadId": root})
    ben.post(f"{room.path}/leave")
    assert followed(ben) == {}
    ben.refused("room_not_found", "GET", room.message(first_reply))


def test_threads_survive_a_restart(own_world):
    anna, ben = own_world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    root = anna.send(room, "root")["id"]
    for number in range(3):
        reply(ben, room, root, f"{number}")
    before = (followed(anna), thread(anna, room, root))
    own_world.server.stop()
    own_world.server.start()
    assert (followed(anna), thread(anna, room, root)) == before
    reply(ben, room, root, "3")
    assert [message["text"] for message in thread(anna, room, root)["messages"]] == ["0", "1", "2", "3"]
    assert counts(anna, root) == (4, 0)
