"""The blocked user sees the same as without a block, and cannot tell a block from the preference."""

import contextlib
import itertools
import re

from harness.client import new_id
from harness.people import Person, Room, World
from harness.times import later, wait_past
from harness.waiting import wait_until

BLOCKED = "/v1/me/blocked-users"
CUP = "%F0%9F%8D%B5"
# The length of a problem depends on the ID of the request, which is left out.
VARYING_HEADERS = {"date", "content-length", "x-request-id"}
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
POSITIONS = {"position", "revision"}
CURSORS = {"nextCursor", "previousCursor", "cursor", "before"}


class Names:
    """Replaces what differs between two runs. IDs and positions get numbers in the order in which they appear, so that
    it still shows which are the same."""

    def __init__(self):
        self.numbers: dict[str, int] = {}

    def number(self, value) -> str:
        return f"#{self.numbers.setdefault(str(value), len(self.numbers))}"

    def replace(self, value, key: str = ""):
        if isinstance(value, dict):
            return {
                self.replace(name): self.replace(inner, name) for name, inner in value.items() if name != "requestId"
            }
        if isinstance(value, list):
            return [self.replace(inner, key) for inner in value]
        if key in POSITIONS and value is not None:
            return self.number(value)
        if key in CURSORS and value is not None:
            return "cursor"
        if isinstance(value, str):
            return TIME.sub("time", UUID.sub(lambda found: self.number(found[0]), value))
        return value


class Recorder:
    """Sends requests of one person and keeps the responses."""

    def __init__(self, person: Person):
        self.person = person
        self.names = Names()
        self.responses: list[tuple] = []

    def __call__(self, method: str, path: str, body=None, **options) -> dict:
        response = self.person.request(method, path, body, **options)
        headers = sorted(name.lower() for name in response.headers)
        request = f"{method} {self.names.replace(path)}"
        self.responses.append((request, response.status_code, headers, self.names.replace(response.json())))
        return response.json()

    def done(self, method: str, path: str, body=None, **options) -> dict:
        result = self(method, path, body, **options)
        assert self.responses[-1][1] in (200, 201), self.responses[-1]
        return result


def writes_of_ben(ask: Recorder, anna: Person, carla: Person, room: Room, annas: dict) -> dict[str, str]:
    """Everything that Ben can write in a room with Anna. Returns the IDs of some of his messages."""
    own = {name: new_id() for name in ("plain", "named", "everyone", "answer", "reply", "deleted", "due", "pending")}
    root = room.message(annas["root"])
    ask.done("PUT", room.message(own["plain"]), {"text": "kettle"})
    ask.done("PUT", room.message(own["named"]), {"text": "@Anna", "mentions": {"users": [anna.id]}})
    ask.done("PUT", room.message(own["everyone"]), {"text": "@all", "mentions": {"everyone": True}})
    ask.done("PUT", room.message(own["answer"]), {"text": "an answer", "replyTo": annas["root"]})
    ask.done("PUT", room.message(own["deleted"]), {"text": "wrong"})
    ask.done("PUT", room.message(own["reply"]), {
        "text": "in a thread", "threadId": annas["root"], "mentions": {"users": [anna.id, carla.id]},
    })
    ask.done("PATCH", room.message(own["plain"]), {"text": "kettle!", "mentions": {"users": [anna.id]}})
    ask.done("PATCH", room.message(own["everyone"]), {"text": "@Anna", "mentions": {"users": [anna.id]}})
    ask.done("DELETE", room.message(own["deleted"]))
    ask.done("PUT", f"{root}/reactions/{CUP}")
    ask.done("DELETE", f"{root}/reactions/{CUP}")
    ask.done("PUT", f"{root}/reactions/{CUP}")
    ask.done("PUT", f"{room.path}/pins/{annas['root']}")
    ask.done("PUT", f"{room.path}/pins/{own['plain']}")
    ask.done("DELETE", f"{room.path}/pins/{annas['root']}")
    ask.done("PUT", f"{root}/thread/following", {"follows": True})
    scheduled = f"{room.path}/scheduled-messages"
    ask.done("PUT", f"{scheduled}/{own['pending']}", {"text": "later", "sendAt": later(days=1)})
    ask.done("PATCH", f"{scheduled}/{own['pending']}", {"text": "much later"})
    due = later(seconds=2)
    ask.done("PUT", f"{scheduled}/{own['due']}", {"text": "due", "sendAt": due})
    wait_past(due)
    wait_until(lambda: "due" in carla.texts(room), "the scheduled message is not sent")
    return own


def what_anna_does(anna: Person, room: Room, own: dict[str, str], annas: dict) -> None:
    anna.put(room.message(annas["mention"]), {"text": "@all", "mentions": {"everyone": True}})
    anna.put(room.message(annas["reply"]), {"text": "in the thread", "threadId": annas["root"]})
    anna.put(f"{room.message(own['plain'])}/reactions/{CUP}")
    anna.put(f"{room.path}/read-marker", {"messageId": own["due"]}, key=new_id())


def reads_of_ben(ask: Recorder, anna: Person, room: Room, own: dict[str, str], annas: dict) -> None:
    root, plain = room.message(annas["root"]), room.message(own["plain"])
    paths = [
        "/v1/me", "/v1/me/preferences", BLOCKED, f"/v1/users/{anna.id}", "/v1/rooms", "/v1/threads", "/v1/badge",
        room.path, f"{room.path}/members", f"{room.path}/messages", f"{room.path}/messages?around={own['plain']}",
        f"{room.path}/messages?limit=2", f"{room.path}/read-markers", f"{room.path}/pins", f"{room.path}/join-history",
        f"{room.path}/bans", f"{room.path}/invites", f"{room.path}/reports", f"{room.path}/scheduled-messages",
        f"{room.path}/scheduled-messages/{own['pending']}", f"{room.path}/scheduled-messages/{own['due']}",
        "/v1/search?q=kettle", "/v1/search?q=thread", "/v1/search?q=root",
    ]
    paths += [room.message(id) for id in (*own.values(), *annas.values())]
    paths += [f"{message}/{part}" for message in (root, plain) for part in ("thread", "reactions", "history")]
    for path in paths:
        ask("GET", path)


def users_in_order(world: World, *nicknames: str) -> list[Person]:
    """Users whose IDs are in this order, because some lists are sorted by them."""
    people = []
    for id, nickname in zip(sorted(new_id() for _ in nicknames), nicknames, strict=True):
        account = world.admin.post("/v1/accounts", {"id": id, "nickname": nickname})
        people.append(Person(world.server, account, world.acting_as(id).post("/v1/sessions", {})))
    return people


def bens_view(world: World, is_blocked: bool) -> list[tuple]:
    """All responses to Ben, in a room that he owns, in one that Carla owns, and in a direct room of three."""
    anna, ben, carla = users_in_order(world, "Anna", "Ben", "Carla")
    rooms = [ben.room("Ours", anna, carla), carla.room("Tea", anna, ben), carla.direct(anna, ben)]
    ask = Recorder(ben)
    written = []
    for room in rooms:
        annas = {name: new_id() for name in ("root", "mention", "reply")}
        anna.send(room, "root", annas["root"])
        written.append(annas)
    if is_blocked:
        anna.put(f"{BLOCKED}/{ben.id}")
    for room, annas in zip(rooms, written, strict=True):
        own = writes_of_ben(ask, anna, carla, room, annas)
        what_anna_does(anna, room, own, annas)
        wait_until(lambda room=room: is_searchable(carla, room), "the message is not found")
        reads_of_ben(ask, anna, room, own, annas)
        ask.done("PUT", f"{room.path}/unread-mark", {"messageId": annas["mention"]})
        ask.done("PUT", f"{room.message(annas['root'])}/thread/read-marker", {"messageId": annas["reply"]})
        ask.done("GET", room.path)
        ask.done("PUT", f"{room.path}/read-marker", {"messageId": annas["mention"]})
        ask("POST", f"{room.path}/reports", {"id": new_id(), "userId": anna.id, "reason": "other"})
        ask("PUT", f"{room.path}/members/{anna.id}")
    ask.done("POST", "/v1/rooms", {"kind": "direct", "memberIds": [anna.id, carla.id]})
    group = Room(ask.done("POST", "/v1/rooms", {"id": new_id(), "name": "Group"})["id"])
    ask.done("PUT", f"{group.path}/members/{anna.id}")
    ask.done("GET", f"{group.path}/members")
    ask.done("DELETE", f"{group.path}/members/{anna.id}")
    for path in ("/v1/rooms", "/v1/badge", "/v1/threads", "/v1/sync?limit=1000"):
        ask.done("GET", path)
    return ask.responses


def is_searchable(person: Person, room: Room) -> bool:
    """Whether the search knows all that was done, because its position is compared too."""
    page = person.get("/v1/search", q="kettle")
    is_found = any(result["message"]["roomId"] == room.id for result in page["results"])
    return is_found and page["position"] >= person.server.head()


def test_the_blocked_user_sees_no_difference(world):
    """Two worlds in which everyone does the same, except that in one of them Anna blocks Ben."""
    without, blocked = (bens_view(world, is_blocked) for is_blocked in (False, True))
    for one, other in itertools.zip_longest(without, blocked):
        assert one == other
    assert all(status < 500 for _, status, _, _ in without)


@contextlib.contextmanager
def blocking(person: Person, other: Person):
    person.put(f"{BLOCKED}/{other.id}")
    yield
    person.delete(f"{BLOCKED}/{other.id}")


@contextlib.contextmanager
def preference(person: Person):
    person.patch("/v1/me/preferences", {"acceptsDirectMessages": False})
    yield
    person.patch("/v1/me/preferences", {"acceptsDirectMessages": True})


def refusals(person: Person, partner: Person, carla: Person, room: Room, sent: dict[str, str]) -> list[tuple]:
    """The whole responses, without the date and the ID of the request."""
    own, others = room.message(sent[person.id]), room.message(sent[partner.id])
    responses = []
    for method, path, body in [
        ("PUT", room.message(new_id()), {"text": "hello"}),
        ("PUT", room.message(new_id()), {"text": "hello", "threadId": sent[partner.id]}),
        ("PUT", own, {"text": f"from {person.nickname}"}), ("PATCH", own, {"text": "hello"}),
        ("PUT", f"{others}/reactions/{CUP}", None), ("PUT", f"{room.path}/pins/{sent[person.id]}", None),
        ("DELETE", f"{room.path}/pins/{sent[partner.id]}", None),
        ("PUT", f"{room.path}/scheduled-messages/{new_id()}", {"text": "x", "sendAt": later(days=1)}),
        ("POST", "/v1/rooms", {"kind": "direct", "memberIds": [partner.id, carla.id]}),
    ]:
        response = person.request(method, path, body)
        headers = {
            name.lower(): value for name, value in response.headers.items() if name.lower() not in VARYING_HEADERS
        }
        problem = response.json()
        problem.pop("requestId", None)
        assert problem["code"] == "direct_messages_refused", (method, path, problem)
        responses.append((method, response.status_code, headers, problem))
    return responses


def test_refusals_do_not_tell_the_reason(world):
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room = anna.direct(ben)
    sent = {person.id: person.send(room, f"from {person.nickname}")["id"] for person in (anna, ben)}
    for id in sent.values():
        anna.put(f"{room.path}/pins/{id}")
    scheduled = f"{room.path}/scheduled-messages"
    expected = None
    for reason in (blocking(anna, ben), blocking(ben, anna), preference(anna), preference(ben)):
        due = later(seconds=2)
        waiting = {
            person: person.put(f"{scheduled}/{new_id()}", {"text": "due", "sendAt": due})["id"]
            for person in (anna, ben)
        }
        with reason:
            responses = [
                refusals(person, partner, carla, room, sent) for person, partner in ((anna, ben), (ben, anna))
            ]
            assert responses[0] == responses[1]
            wait_past(due)
            for person, id in waiting.items():
                path = f"{scheduled}/{id}"
                wait_until(
                    lambda path=path, person=person: person.get(path)["failure"], "the message does not fail")
                responses.append(Names().replace(person.get(path)))
        assert expected is None or responses == expected
        expected = responses
