"""A hundred clients at once: no duplicates, no losses, no gaps between positions."""

import concurrent.futures
import random
import threading

from harness.cases import Effect
from harness.client import Api, new_id
from harness.command import audit, check_data, settle
from harness.people import World, timeline

CLIENTS = 100
MESSAGES = 20


class Client:
    """Sends each message up to three times, refreshes its token now and then, and reads what it wrote."""

    def __init__(self, server, tokens: dict, user: str, room: str, start: threading.Barrier, seed: int):
        self.api = Api(server, tokens["accessToken"])
        self.refresh_token = tokens["refreshToken"]
        self.user, self.room, self.start = user, room, start
        self.source = random.Random(seed)
        self.sent: dict[str, int] = {}
        self.pairs: list[tuple[str, str, str]] = []

    def run(self) -> "Client":
        self.start.wait()
        for number in range(MESSAGES):
            self.send(f"{self.user} {number}")
            if self.source.random() < 0.15:
                self.refresh()
        return self

    def send(self, text: str) -> None:
        id = new_id()
        path = f"/v1/rooms/{self.room}/messages/{id}"
        statuses = []
        for _ in range(self.source.choice([1, 2, 3])):
            response = self.api.request("PUT", path, {"text": text})
            statuses.append(response.status_code)
            position = response.json()["position"]
            assert self.sent.setdefault(id, position) == position
        assert statuses == [201] + [200] * (len(statuses) - 1)
        if self.source.random() < 0.2:
            assert self.api.get(path)["text"] == text

    def refresh(self) -> None:
        """Refreshes twice with the same token, and expects the same pair both times."""
        body = {"refreshToken": self.refresh_token}
        nobody = Api(self.api.server)
        first, second = (nobody.request("POST", "/v1/sessions/refresh", body).json() for _ in range(2))
        assert (first["accessToken"], first["refreshToken"]) == (second["accessToken"], second["refreshToken"])
        self.pairs.append((self.refresh_token, first["accessToken"], first["refreshToken"]))
        self.refresh_token = first["refreshToken"]
        self.api.token = first["accessToken"]


def test_a_hundred_clients_that_send_retry_and_refresh(own_server):
    world = World(own_server)
    owner = world.user("Owner")
    room = owner.room("Busy")
    users = world.users(*(f"User {number}" for number in range(CLIENTS // 2)))
    world.admin.ingest_all([{"op": "member.join", "as": user.id, "roomId": room.id} for user in users])
    before = world.head
    # Each user has two clients, each with its own session. The next test lets a hundred clients race for one token.
    start = threading.Barrier(CLIENTS)
    clients = [
        Client(own_server, user.tokens, user.id, room.id, start, seed)
        for seed, user in enumerate(users)
    ] + [
        Client(own_server, world.acting_as(user.id).post("/v1/sessions", {}), user.id, room.id, start, seed + 1000)
        for seed, user in enumerate(users)
    ]
    before = world.head
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        done = list(pool.map(Client.run, clients))

    acknowledged: dict[str, int] = {}
    for client in done:
        acknowledged |= client.sent
    assert len(acknowledged) == CLIENTS * MESSAGES
    shown = timeline(owner, room.id)
    assert {message["id"]: message["position"] for message in shown} == acknowledged
    assert len(shown) == len(acknowledged), "a message is doubled"
    positions = [message["position"] for message in shown]
    assert positions == sorted(set(positions))
    for user in users:
        mine = [message["text"] for message in shown if message["senderId"] == user.id]
        assert sorted(mine) == sorted([f"{user.id} {number}" for number in range(MESSAGES)] * 2)

    head = settle(own_server)
    refreshes = sum(len(client.pairs) for client in done)
    assert head - before == len(acknowledged) + refreshes, "something was recorded twice, or positions have gaps"
    rows = audit(own_server.data, "--from", before + 1)
    assert [row["position"] for row in rows] == list(range(before + 1, head + 1))
    check_data(own_server.data)


def test_many_who_refresh_one_token_at_once_get_one_pair(own_world):
    world = own_world
    anna = world.user("Anna")
    token = anna.tokens["refreshToken"]
    start = threading.Barrier(CLIENTS)

    def refresh(_):
        api = Api(world.server)
        start.wait()
        return api.request("POST", "/v1/sessions/refresh", {"refreshToken": token})

    before = world.head
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        responses = list(pool.map(refresh, range(CLIENTS)))
    assert once(responses)
    assert len({(response.json()["accessToken"], response.json()["refreshToken"]) for response in responses}) == 1
    assert world.head == before + 1


def once(responses: list) -> bool:
    """Whether one request was done and all others were repeats."""
    effects = [Effect.of_response(response) for response in responses]
    return effects.count(Effect.RECORDED) == 1 and effects.count(Effect.REPEATED) == len(responses) - 1


def test_many_who_create_one_thing_at_once_create_it_once(own_world):
    world = own_world
    anna, ben = world.users("Anna", "Ben")
    room, message, device, key = new_id(), new_id(), new_id(), new_id()
    acts = [
        (anna, "POST", "/v1/rooms", {"id": room, "name": "Tea"}, None),
        (anna, "PUT", f"/v1/rooms/{room}/messages/{message}", {"text": "hello"}, None),
        (anna, "PUT", f"/v1/devices/{device}", {"name": "phone"}, key),
        (anna, "PUT", f"/v1/rooms/{room}/members/{ben.id}", None, new_id()),
        (ben, "POST", f"/v1/rooms/{room}/leave", None, new_id()),
        (anna, "DELETE", f"/v1/rooms/{room}/messages/{message}", None, new_id()),
        (anna, "DELETE", f"/v1/rooms/{room}", None, new_id()),
    ]
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        for person, method, path, body, key in acts:
            before = world.head
            responses = list(pool.map(lambda _: person.again().request(method, path, body, key=key), range(32)))
            assert once(responses), f"{method} {path}"
            positions = {response.json().get("revision", response.json()["position"]) for response in responses}
            assert len(positions) == 1, f"{method} {path}"
            assert before < world.head <= before + 2


def test_of_different_contents_under_one_id_one_wins(own_world):
    world = own_world
    anna = world.user("Anna")
    room = anna.room("Tea")
    path = room.message(new_id())
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        responses = list(pool.map(lambda number: anna.again().request("PUT", path, {"text": f"{number}"}), range(32)))
    assert sorted(response.status_code for response in responses) == [201] + [409] * 31
    (won,) = (response.json() for response in responses if response.status_code == 201)
    assert anna.get(path)["text"] == won["text"]
