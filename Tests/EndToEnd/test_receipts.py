"""Read receipts: who has read up to which message, and who hides it."""

from harness.client import new_id
from harness.people import walk


def receipts(person, room) -> dict[str, str]:
    """The message that each member has read up to, by user."""
    rows = walk(person, f"{room.path}/read-markers", "readMarkers")
    assert len({row["user"]["id"] for row in rows}) == len(rows)
    return {row["user"]["id"]: row["messageId"] for row in rows}


def read(person, room, message, expect=None):
    return person.put(f"{room.path}/read-marker", {"messageId": message["id"]}, expect=expect)


def test_reading_and_sending_are_seen_by_all(anna, ben, room):
    assert receipts(anna, room) == {}, "who joins has read nothing yet"
    assert ben.see(room)["readMarker"] is None
    first, second = anna.send(room, "first"), anna.send(room, "second")
    assert receipts(ben, room) == {anna.id: second["id"]}
    assert anna.see(room)["readMarker"] == {"messageId": second["id"], "readAt": second["sentAt"]}
    read(ben, room, first)
    assert receipts(anna, room) == {anna.id: second["id"], ben.id: first["id"]}
    own = ben.see(room)["readMarker"]
    assert own["messageId"] == first["id"] and own["readAt"] >= first["sentAt"]
    mine = ben.send(room, "mine")
    assert receipts(anna, room) == {anna.id: second["id"], ben.id: mine["id"]}
    read(ben, room, first, expect=200)
    assert receipts(anna, room)[ben.id] == mine["id"], "a marker moves forward only"
    row = anna.get(f"{room.path}/read-markers")["readMarkers"][1]
    assert (row["user"]["nickname"], row["readAt"]) == ("Ben", mine["sentAt"])


def test_a_hidden_marker_is_visible_only_to_its_owner(anna, ben, room):
    sent = anna.send(room, "x")
    read(ben, room, sent)
    assert ben.get("/v1/me/preferences")["sharesReadMarkers"] is True
    hidden = ben.patch("/v1/me/preferences", {"sharesReadMarkers": False})
    assert hidden["sharesReadMarkers"] is False
    assert ben.get("/v1/me/preferences")["sharesReadMarkers"] is False
    assert receipts(anna, room) == {anna.id: sent["id"]}
    assert receipts(ben, room) == {anna.id: sent["id"], ben.id: sent["id"]}
    ben.patch("/v1/me/preferences", {"sharesReadMarkers": True})
    assert receipts(anna, room) == {anna.id: sent["id"], ben.id: sent["id"]}
    ben.refused("invalid_field", "PATCH", "/v1/me/preferences", {})
    ben.refused("unknown_field", "PATCH", "/v1/me/preferences", {"sharesReadMarkers": True, "colour": "red"})


def test_pages_hold_each_reader_once_and_no_hidden_one(world, anna, room):
    readers = world.users(*[f"Reader {number}" for number in range(7)])
    sent = anna.send(room, "x")
    for number, reader in enumerate(readers):
        anna.put(f"{room.path}/members/{reader.id}")
        later = anna.send(room, f"{number}")
        read(reader, room, later)
        if number % 3 == 0:
            reader.patch("/v1/me/preferences", {"sharesReadMarkers": False})
    expected = [anna.id, *(reader.id for number, reader in enumerate(readers) if number % 3)]
    for limit in (1, 2, 3, 200):
        rows = walk(anna, f"{room.path}/read-markers", "readMarkers", limit=limit)
        assert [row["user"]["id"] for row in rows] == expected
    page = anna.get(f"{room.path}/read-markers", limit=2)
    anna.refused("invalid_cursor", "GET", f"{room.path}/members", params={"cursor": page["nextCursor"]})
    assert sent["id"] not in receipts(anna, room).values()


def test_strangers_and_those_who_left_see_nothing(world, anna, ben, room):
    read(ben, room, anna.send(room, "x"))
    world.user("Carla").refused("room_not_found", "GET", f"{room.path}/read-markers")
    ben.post(f"{room.path}/leave")
    ben.refused("room_not_found", "GET", f"{room.path}/read-markers")
    assert list(receipts(anna, room)) == [anna.id]
    anna.put(f"{room.path}/members/{ben.id}")
    assert list(receipts(anna, room)) == [anna.id], "who comes back has read nothing since"
    anna.refused("room_not_found", "GET", f"/v1/rooms/{new_id()}/read-markers")


def test_the_marker_is_the_same_on_all_devices(world, anna):
    ben = world.account("Ben")
    room = anna.room("Tea", ben)
    sent = [anna.send(room, f"{number}") for number in range(3)]
    other = ben.again()
    other.token = world.login(ben.email)["accessToken"]
    read(ben, room, sent[1])
    seen = other.get(room.path)
    assert (seen["unreadCount"], seen["readMarker"]["messageId"]) == (1, sent[1]["id"])
