"""`GET /v1/admin/push/explain`: the same explanation as that of `hansard push explain`."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.client import Api, new_id
from harness.command import hansard, settle
from harness.contract import contract
from harness.people import Person, Room, World
from harness.push_documents import table
from harness.push_outcomes import DEAD, DELIVERED, arrives, comes_to, recorded_position
from harness.push_phones import APNS, FCM, WEB_PUSH
from harness.server import Server
from harness.times import later
from harness.waiting import wait_until

EXPLAIN = "/v1/admin/push/explain"
DEVICES, DEVICES_OF_USER = 1000, 50
SECRET = "the kettle is on"
# Enough that an explanation takes longer than it takes to send requests at once.
LONG_LOG = 60_000
AT_ONCE = 8


def by_tool(server: Server, event: dict) -> dict:
    settle(server)
    return hansard("push", "explain", "--data", server.data, "--json", recorded_position(event)).json


def over_http(world: World, event: dict, **query) -> dict:
    return world.admin.get(EXPLAIN, position=recorded_position(event), **query)


def agree(world: World, events: list[dict]) -> list[dict]:
    """What the server says about the events, after checking that the tool says the same."""
    # Outcomes are still being recorded, so the log may grow between the two.
    def both() -> list[dict] | None:
        shown = [(over_http(world, event), by_tool(world.server, event)) for event in events]
        return [http for http, _ in shown] if all(http == tool for http, tool in shown) else None

    return wait_until(both, "the server and the tool explain the events differently")


def test_the_server_explains_every_kind_of_event_as_the_tool_does(notifying, services):
    world = World(notifying)
    anna, ben, carla, dora, left, stranger = world.users("Anna", "Ben", "Carla", "Dora", "Lea", "Stan")
    phones = [services.phone(ben, kind) for kind in (APNS, FCM, WEB_PUSH)]
    for person in (anna, carla, dora, left, stranger):
        services.phone(person, APNS, roomChanges=True)
    room, office = anna.room(f"Tea {SECRET}", ben, carla, left), anna.workspace()
    left.post(f"{room.path}/leave")
    carla.put(f"{room.path}/mute", {"until": later(days=1)})
    sent = anna.put(room.message(new_id()), {"text": SECRET, "mentions": {"users": [ben.id]}})
    for phone in phones:
        arrives(services, phone, sent)
    comes_to(notifying, sent, {phone: DELIVERED for phone in phones})
    events = [
        sent, ben.put(f"{room.message(sent['id'])}/reactions/%F0%9F%91%8D"),
        ben.put(f"{room.path}/read-marker", {"messageId": sent["id"]}), anna.patch(room.path, {"topic": SECRET}),
        anna.put(f"{office.path}/invitations/{ben.id}", {"role": "member"}), anna.put(f"{room.path}/members/{dora.id}"),
        anna.delete(room.message(anna.send(room, SECRET)["id"])), dora.post(f"{room.path}/leave"),
    ]
    # Silent notifications go out one each second.
    wait_until(
        lambda: "waiting" not in {row.get("outcome") for event in events for row in over_http(world, event)["devices"]},
        "a notification has no outcome")
    shown = agree(world, events)
    assert (shown[0]["messageId"], shown[0]["roomId"], shown[0]["senderId"]) == (sent["id"], room.id, anna.id)
    assert (shown[4]["workspaceId"], shown[4]["memberId"]) == (office.id, ben.id)
    rows = {row["userId"]: row for row in shown[0]["devices"]}
    assert {id: row.get("kind") or row["reason"] for id, row in rows.items()} == {
        anna.id: "sent", ben.id: "mention", carla.id: "mutedRoom", left.id: "left", dora.id: "beforeJoin"}
    assert not shown[0]["more"]
    text = json.dumps([shown, [over_http(world, event) for event in events]])
    assert SECRET not in text and "Tea" not in text and not [phone for phone in phones if phone.token in text]
    for event, whole in zip(events, shown):
        for person in (anna, ben, carla, dora, left, stranger):
            own = [row for row in whole["devices"] if row["userId"] == person.id]
            assert over_http(world, event, userId=person.id)["devices"] == own
            assert person is not stranger or own == []
    for name, person in (("Ben", ben), (carla.id, carla), (stranger.id, stranger)):
        one = hansard(
            "push", "explain", "--data", notifying.data, "--json", "--user", name, recorded_position(sent)).json
        assert one["devices"] == [row for row in shown[0]["devices"] if row["userId"] == person.id]
    wrong = hansard("push", "explain", "--data", notifying.data, "--user", "Nobody", sent["position"], expect=None)
    assert wrong.status != 0 and "there is no user Nobody" in wrong.errors


def test_a_rejection_shows_what_the_provider_responded_and_when(notifying, services):
    world = World(notifying)
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    dead, alive = services.phone(ben, APNS), services.phone(ben, FCM)
    services.apns.respond = lambda push: "Unregistered"
    sent = anna.send(room, "hello")
    comes_to(notifying, sent, {dead: DEAD, alive: DELIVERED})
    rows = {row["deviceId"]: row for row in over_http(world, sent, userId=ben.id)["devices"]}
    assert "410 Unregistered" in rows[dead.id]["response"] and "response" not in rows[alive.id]
    assert (rows[dead.id]["provider"], rows[alive.id]["provider"]) == ("apns", "fcm")
    for row in rows.values():
        assert sent["sentAt"] <= row["recordedAt"] <= later()
        assert (row["verdict"], row["kind"], row["badge"], row["quiet"], row["preview"]) == (
            "notify", "message", 1, False, True)
    agree(world, [sent])


def test_decisions_are_explained_while_push_is_off(world, anna, ben, room):
    phone = new_id()
    ben.put(f"/v1/devices/{phone}", {"apnsToken": new_id().replace("-", "")})
    (row,) = over_http(world, anna.send(room, "hello"))["devices"]
    assert row == {"userId": ben.id, "deviceId": phone, "verdict": "notify", "provider": "apns", "kind": "message",
                   "quiet": False, "preview": True, "badge": 1}


def test_outcomes_stay_after_push_is_switched_off(tmp_path, sink):
    server = Server(tmp_path / "data", "--push-file", sink).start()
    try:
        world = World(server)
        anna, ben = world.users("Anna", "Ben")
        room = anna.room("Tea", ben)
        ben.put(f"/v1/devices/{new_id()}", {"apnsToken": "b"})
        sent = anna.send(room, "hello")
        wait_until(lambda: over_http(world, sent)["devices"][0]["outcome"] == "delivered", "nothing is delivered")
        server.flags = ()
        server.restart()
        world = World(server)
        (row,) = agree(world, [sent])[0]["devices"]
        assert row["outcome"] == "delivered"
        after = World(server).acting_as(anna.id).put(room.message(new_id()), {"text": "and on"})
        assert over_http(world, after)["devices"][0]["outcome"] == "waiting"
    finally:
        server.end()


def test_what_cannot_be_explained_gets_a_clear_problem(world, anna, ben, room):
    sent = anna.send(room, "hello")
    admin, head = world.admin, world.head
    for query in ("", "?userId=" + ben.id, "?position=", "?position=0", "?position=-1", "?position=x", "?position=1.5",
                  f"?position={2**63}", f"?position={sent['position']}&position=1", f"?position={sent['position']}&limit=3",
                  f"?position={sent['position']}&userId=x"):
        admin.refused("invalid_query", "GET", EXPLAIN + query)
    for position in (head + 1, 2**63 - 1):
        problem = admin.refused("position_not_found", "GET", f"{EXPLAIN}?position={position}")
        assert f"1 to {head}" in problem["detail"]
    admin.refused("user_not_found", "GET", f"{EXPLAIN}?position={sent['position']}&userId={new_id()}")
    admin.refused("notifies_nobody", "GET", f"{EXPLAIN}?position=1")
    preference = ben.patch("/v1/me/preferences", {"sharesPresence": False})
    admin.refused("notifies_nobody", "GET", f"{EXPLAIN}?position={preference['position']}")
    path = f"{EXPLAIN}?position={sent['position']}"
    anna.refused("service_only", "GET", path)
    world.nobody.refused("access_token_missing", "GET", path)
    Api(world.server, "nonsense").refused("access_token_invalid", "GET", path)
    assert over_http(world, sent)["devices"] == [], "nobody has a device"


def register(world: World, people: list[Person], count: int) -> None:
    """Registers `count` devices, as many for each of the people in turn as a user may have."""
    def of(person: Person, number: int) -> None:
        api = world.acting_as(person.id)
        for _ in range(number):
            api.put(f"/v1/devices/{new_id()}", {})

    counts = [min(DEVICES_OF_USER, count - start) for start in range(0, count, DEVICES_OF_USER)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(of, people, counts))


def test_the_number_of_devices_is_limited(own_world):
    world = own_world
    anna = world.user("Anna")
    users = world.users(*["Ben"] * (DEVICES // DEVICES_OF_USER + 1))
    room = anna.room("Tea", *users)
    register(world, users, DEVICES - 1)
    first = anna.send(room, "hello")
    world.acting_as(users[-2].id).put(f"/v1/devices/{new_id()}", {})
    second = anna.send(room, "hello")
    world.acting_as(users[-1].id).put(f"/v1/devices/{new_id()}", {})
    third = anna.send(room, "hello")
    for event, count, more in ((first, DEVICES - 1, False), (second, DEVICES, False), (third, DEVICES, True)):
        shown = over_http(world, event)
        assert (len(shown["devices"]), shown["more"]) == (count, more)
        assert len({row["deviceId"] for row in shown["devices"]}) == count
    for user, count in [(user, DEVICES_OF_USER) for user in users[:-1]] + [(users[-1], 1)]:
        own = over_http(world, third, userId=user.id)
        assert (len(own["devices"]), own["more"]) == (count, False)
    assert len(by_tool(world.server, third)["devices"]) == DEVICES + 1


def test_one_explanation_is_made_at_a_time(own_world):
    world = own_world
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    ben.put(f"/v1/devices/{new_id()}", {"apnsToken": "b"})
    line = {"op": "message.send", "as": anna.id, "roomId": room.id, "text": "hello"}
    world.admin.ingest_all([line | {"id": new_id()} for _ in range(LONG_LOG)])
    sent = anna.send(room, "hello")
    together = threading.Barrier(AT_ONCE)

    def ask(api: Api):
        together.wait()
        return api.request("GET", EXPLAIN, params={"position": sent["position"]})

    with ThreadPoolExecutor(AT_ONCE) as pool:
        responses = list(pool.map(ask, [world.admin.again() for _ in range(AT_ONCE)]))
    refused = [each for each in responses if each.status_code != 200]
    assert {each.json()["code"] for each in refused} == {"overloaded"}, "no explanation was refused"
    assert all(int(each.headers["Retry-After"]) >= 1 for each in refused)
    assert len(refused) < AT_ONCE
    # The server takes the next one.
    assert over_http(world, sent)["devices"][0]["badge"] == LONG_LOG + 1


def test_the_words_in_the_contract_are_those_of_the_page():
    words = {name: field.get("enum") for name, field in
             contract().document["components"]["schemas"]["PushDecision"]["properties"].items()}
    assert words["reason"] == [row["reason"] for row in table("reason | meaning")]
    assert words["kind"] == [row["kind"] for row in table("kind | event")]
    documented = [part for row in table("change since the event") for part in row["result"].split(", ")]
    reasons = [part.removeprefix("abandoned: ") for part in documented if part.startswith("abandoned: ")]
    assert sorted(words["outcomeReason"]) == sorted(reasons)
