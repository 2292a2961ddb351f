"""After any operations on any devices, the last badge on each device is what `GET /v1/badge` returns."""

import random
from dataclasses import dataclass, field

import pytest

from harness.cases import Effect
from harness.client import new_id
from harness.message_mutations import reaction_path
from harness.people import Person, Room, World
from harness.push_outcomes import abandoned, recorded_position
from harness.receiver import Receiver
from harness.server import Server
from harness.waiting import wait_until
from test_push import SECRET
from test_push_withdrawals import Gate

OPERATIONS, ROUNDS = 80, 8
PEOPLE, ROOMS = 4, 3


@dataclass
class Member:
    """A user who acts on one device, and has another."""

    person: Person
    own: str
    other: str
    # The badges that the app on the first device showed after the user's own operations there, by position.
    shown: dict[int, int] = field(default_factory=dict)
    # What the server returned after each operation of any user, in order: the position and the badge.
    right: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])

    def did(self, receipt: dict) -> None:
        """The app on the device that acts updates its badge without a push."""
        self.shown[recorded_position(receipt)] = self.badge()

    def badge(self) -> int:
        return self.person.get("/v1/badge")["unreadCount"]


class Mix:
    """Performs random operations in rooms of a few people."""

    def __init__(self, world: World, seed: int):
        self.world, self.source = world, random.Random(seed)
        self.members = [self._member(world, f"P{number}") for number in range(PEOPLE)]
        owner, *others = self.members
        self.rooms = [owner.person.room(f"Room {number}", *(other.person for other in others))
                      for number in range(ROOMS)]
        # Messages that are not deleted, with their authors, and the members, by room.
        self.messages: dict[Room, list[tuple[str, Member]]] = {room: [] for room in self.rooms}
        self.inside = {room: list(self.members) for room in self.rooms}
        self.done: set[str] = set()
        for member in self.members:
            for id, changes in ((member.own, False), (member.other, self.source.random() < 0.5)):
                member.person.put(f"/v1/devices/{id}", {"apnsToken": new_id(), "roomChanges": changes})

    @staticmethod
    def _member(world: World, nickname: str) -> Member:
        own = new_id()
        return Member(world.user(nickname, deviceId=own), own, new_id())

    def step(self) -> None:
        """Performs one operation, if it is possible."""
        action = self.source.choice(
            [self.send] * 5 + [self.read] * 4 + [self.mark, self.delete, self.delete, self.reply, self.reply, self.read_thread,
                                                 self.react, self.edit, self.leave, self.remove, self.mute, self.block])
        room = self.source.choice(self.rooms)
        member = self.source.choice(self.inside[room])
        if action(room, member):
            self.done.add(action.__name__)
        for each in self.members:
            each.right.append((self.world.head, each.badge()))

    def _any(self, room: Room) -> str | None:
        messages = self.messages[room]
        return self.source.choice(messages)[0] if messages else None

    def _say(self, room: Room, member: Member, **more) -> str:
        id = new_id()
        member.did(member.person.put(room.message(id), {"text": id} | more))
        return id

    def send(self, room: Room, member: Member) -> bool:
        mentions = {"mentions": {"everyone": True}} if self.source.random() < 0.3 else {}
        self.messages[room].append((self._say(room, member, **mentions), member))
        return True

    def reply(self, room: Room, member: Member) -> bool:
        root = self._any(room)
        if root:
            self._say(room, member, threadId=root)
        return bool(root)

    def read_thread(self, room: Room, member: Member) -> bool:
        """Replies, and then another member reads the thread."""
        root, other = self._any(room), self.source.choice(self.inside[room])
        if not root:
            return False
        reply = self._say(room, member, threadId=root)
        return self._moves(other, f"{room.message(root)}/thread/read-marker", reply)

    def read(self, room: Room, member: Member) -> bool:
        return self._moves(member, f"{room.path}/read-marker", self._any(room))

    def mark(self, room: Room, member: Member) -> bool:
        return self._moves(member, f"{room.path}/unread-mark", self._any(room))

    def _moves(self, member: Member, path: str, message: str | None) -> bool:
        """A member cannot read a message from before the join, and reading one before the marker changes nothing."""
        response = message and member.person.request("PUT", path, {"messageId": message})
        if response is None or Effect.of_response(response) != Effect.RECORDED:
            return False
        member.did(response.json())
        return True

    def mute(self, room: Room, member: Member) -> bool:
        until = self.source.choice(["2090-01-01T00:00:00Z", None])
        member.did(member.person.put(f"{room.path}/mute", {"until": until}))
        return True

    def block(self, room: Room, member: Member) -> bool:
        """Blocks another member, or ends it."""
        other, method = self.source.choice(self.inside[room]), self.source.choice(["PUT", "DELETE"])
        response = member.person.request(method, f"/v1/me/blocked-users/{other.person.id}")
        if Effect.of_response(response) != Effect.RECORDED:
            return False
        member.did(response.json())
        return True

    def delete(self, room: Room, member: Member) -> bool:
        if not self.messages[room]:
            return False
        # Often one of the newest, because most devices have not read that.
        id, author = self.messages[room][-1] if self.source.random() < 0.7 else self.source.choice(self.messages[room])
        if author not in self.inside[room]:
            return False
        author.did(author.person.delete(room.message(id)))
        self.messages[room].remove((id, author))
        return True

    def react(self, room: Room, member: Member) -> bool:
        message = self._any(room)
        if not message:
            return False
        response = member.person.request("PUT", reaction_path(room, message, "👍"))
        return response.status_code == 201

    def edit(self, room: Room, member: Member) -> bool:
        mine = [id for id, author in self.messages[room] if author is member]
        if mine:
            member.did(member.person.patch(room.message(self.source.choice(mine)), {"text": new_id()}))
        return bool(mine)

    def leave(self, room: Room, member: Member) -> bool:
        """After that, the owner usually adds the member again."""
        owner = self.members[0]
        if member is owner or len(self.inside[room]) == 2:
            return False
        member.did(member.person.post(f"{room.path}/leave"))
        return self._ends(room, member)

    def remove(self, room: Room, member: Member) -> bool:
        owner = self.members[0]
        if member is owner or len(self.inside[room]) == 2:
            return False
        owner.did(owner.person.delete(f"{room.path}/members/{member.person.id}"))
        return self._ends(room, member)

    def _ends(self, room: Room, member: Member) -> bool:
        owner = self.members[0]
        self.inside[room].remove(member)
        if self.source.random() < 0.7:
            owner.did(owner.person.put(f"{room.path}/members/{member.person.id}"))
            self.inside[room].append(member)
        return True

    def wrong_badges(self, receiver: Receiver) -> list[str]:
        """The wrong badges on devices: after each operation, and at the end if a device only shows what was pushed."""
        shown = self._shown(receiver)
        # A notification that was given up because of the next operation never set its badge. At the end, the badge is
        # right without it.
        given_up = [(position, id) for position, _, id in abandoned(self.world.server.data)]
        wrong = []
        for member in self.members:
            for id in (member.own, member.other):
                badges = shown.get(id, {})
                meanwhile = badges | {position: None for position, device in given_up if device == id}
                for head, right in member.right:
                    badge = at(badges if head == member.right[-1][0] else meanwhile, head)
                    if badge not in (right, None):
                        wrong.append(f"{id} of {member.person.nickname} shows {badge} at {head}, not {right}")
            last = [receipt.body["badge"] for receipt in receiver.taken() if receipt.is_delivered
                    and receipt.body["deviceId"] == member.other and receipt.body["kind"] != "roomChange"][-1:]
            if last not in ([member.right[-1][1]], []):
                wrong.append(f"{member.other} of {member.person.nickname} shows {last} in the end")
        return wrong

    def _shown(self, receiver: Receiver) -> dict[str, dict[int, int | None]]:
        """The badges that devices show after each position, by device; None where that is unknown. A device shows the
        badge of the notification with the highest position."""
        owners = {id: member for member in self.members for id in (member.own, member.other)}
        shown: dict[str, dict[int, int | None]] = {member.own: dict(member.shown) for member in self.members}
        for receipt in receiver.taken():
            id, badge, position = (receipt.body[name] for name in ("deviceId", "badge", "position"))
            if not receipt.is_delivered or id not in owners:
                continue
            badges = shown.setdefault(id, {})
            badges[position] = badge
            # What is silent or late has the badge of when it was sent, which may be after later operations.
            heads = [head for head, right in owners[id].right if head >= position and right == badge]
            operation = min(head for head, _ in owners[id].right if head >= position)
            if heads and operation not in heads:
                badges[position] = None
                badges.setdefault(heads[-1], badge)
        return shown


def at(badges: dict[int, int | None], head: int) -> int | None:
    """The badge of the highest position up to the head of the log; 0 if there is none."""
    return badges[max(known)] if (known := [position for position in badges if position <= head]) else 0


@pytest.fixture(scope="module")
def gate():
    return Gate()


@pytest.fixture(scope="module")
def receiver(gate):
    receiver = Receiver(SECRET, gate)
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory, receiver):
    folder = tmp_path_factory.mktemp("badges")
    (folder / "secret").write_bytes(SECRET)
    server = Server(
        folder / "data", "--push-webhook", receiver.url, "--push-secret-file", folder / "secret").start()
    yield World(server)
    server.end()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_badge_is_right_after_each_operation(world, receiver, gate, seed):
    gate.is_open.set()
    mix = Mix(world, seed)
    for _ in range(OPERATIONS):
        mix.step()
    assert mix.done >= {"send", "read", "mark", "delete", "leave", "remove", "reply"}
    becomes_right(mix, receiver)


def test_the_last_badge_is_right_after_notifications_have_waited(world, receiver, gate):
    """Some of them are no longer sent, because of what happened in the meantime."""
    mix = Mix(world, 4)
    for _ in range(ROUNDS):
        gate.is_open.clear()
        for _ in range(OPERATIONS // ROUNDS):
            mix.step()
        gate.is_open.set()
        becomes_right(mix, receiver)


def becomes_right(mix: Mix, receiver: Receiver) -> None:
    try:
        wait_until(lambda: not mix.wrong_badges(receiver), "badges are wrong")
    except AssertionError as error:
        raise AssertionError("\n".join(mix.wrong_badges(receiver))) from error
    assert receiver.faults == []


def test_a_message_that_is_deleted_before_it_is_pushed_leaves_no_wrong_badge(world, receiver, gate):
    """Sending marks everything before as read, so the sender's other devices need the new badge."""
    gate.is_open.set()
    anna, ben = world.users("Anna", "Ben")
    room, phone = anna.room("Tea", ben), new_id()
    ben.put(f"/v1/devices/{phone}", {"apnsToken": new_id()})
    anna.send(room, "unread")

    def badge() -> int | None:
        badges = [receipt.body["badge"] for receipt in receiver.taken() if receipt.body["deviceId"] == phone
                  and receipt.is_delivered]
        return badges[-1] if badges else None

    wait_until(lambda: badge() == 1, "the message is not pushed")
    gate.is_open.clear()
    sent = ben.send(room, "never mind")
    ben.delete(room.message(sent["id"]))
    gate.is_open.set()
    assert ben.get("/v1/badge")["unreadCount"] == 0
    wait_until(lambda: badge() == 0, "the badge stays")
