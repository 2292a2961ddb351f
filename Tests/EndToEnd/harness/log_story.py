"""A log with every kind of content, and the changes that an erasure or a forger makes to its events."""

import dataclasses
import random
import struct

from . import merkle
from .log_writer import CREATED, Event, Part, digests

ALICE, BOB, CAROL, DAVE = (bytes([0xA0 + number]) * 16 for number in range(4))
ROOMS = [bytes([0x50 + number]) * 16 for number in range(9)]
DICTIONARY = b"".join(b"message %d " % number for number in range(300, 700))
# The number of events in each block of each segment. The first two segments are sealed.
SHAPE = [[120, 180], [150, 250], [10, 20], [5, 4, 3]]


def registration(user: bytes, name: bytes, with_key: bool = True) -> Event:
    payload = b"\x0a" + bytes([len(name)]) + name + (b"\x2a\x20" + merkle.sha256(user) if with_key else b"")
    return Event(1, 1, user, 1, CREATED, payload, actor=user)


def story() -> list:
    """742 events of four users in nine rooms."""
    chance, versions = random.Random(7), dict.fromkeys(ROOMS, 0)
    events = [registration(ALICE, b"Alice"), registration(BOB, b"Bob"), registration(CAROL, b"Carol")]
    events.append(registration(DAVE, b"Dave", with_key=False))
    time = CREATED
    while len(events) < sum(map(sum, SHAPE)):
        number, room = len(events), chance.choice(ROOMS)
        versions[room] += 1
        time += chance.choice([0, 0, 1, 30, 5000])
        text = f"message {number} ".encode() * chance.randint(1, 12)
        text = b"" if number % 50 == 0 else text if number % 9 == 0 else b"\x12" + wrapped(text)
        events.append(Event(
            2 + number % 3, 2, room, versions[room] | (number % 97 == 0) << 63, time, text,
            actor=chance.choice([None, ALICE, BOB, CAROL, DAVE]),
            service=ROOMS[0] if number % 13 == 0 else None, device=ALICE if number % 11 == 0 else None,
            subject=chance.randbytes(16) if number % 2 else None, command=chance.randbytes(16) if number % 3 else None,
            original=-number * 1000 if number % 17 == 0 else None, schema=1 + number % 2,
        ))
    return events


def wrapped(text: bytes) -> bytes:
    return (bytes([len(text)]) if len(text) < 128 else bytes([len(text) % 128 | 128, len(text) // 128])) + text


def erase(events: list, author: bytes) -> list:
    """Removes the payload of the author's registration and of every third event of the log that is the author's. The
    author's other events store their salts, because the key that derived the salts is gone with the registration."""
    after = []
    for number, (event, (salt, digest)) in enumerate(zip(events, digests(events))):
        if event.actor != author or event.form != 0:
            after.append(event)
        elif event.kind == 1 or number % 3 == 0:
            after.append(dataclasses.replace(event, form=1, payload=digest))
        else:
            after.append(dataclasses.replace(event, form=2, salt=salt))
    return after


def parts(events: list, shape: list = SHAPE, sealed: int = 2) -> list:
    """The events as segments of this shape. The last block takes the events that are left over."""
    found, rest = [], list(events)
    for number, counts in enumerate(shape):
        blocks = []
        for count in counts:
            blocks.append(rest[:count])
            rest = rest[count:]
        found.append(Part(blocks, number < sealed, DICTIONARY if number == 1 else b""))
    found[-1].blocks[-1] += rest
    return found


def change_text(events: list) -> list:
    return [*events[:150], dataclasses.replace(events[150], payload=b"forged"), *events[151:]]


def put(offset: int, form: str, value: int):
    """A function that sets one field of the data."""
    def change(data: bytes) -> bytes:
        field = struct.pack(form, value)
        assert data[offset : offset + len(field)] != field, "this changes nothing"
        return data[:offset] + field + data[offset + len(field) :]
    return change


def turn(offset: int):
    """A function that flips one bit. The offset counts from the start or, if negative, from the end."""
    def change(data: bytes) -> bytes:
        changed = bytearray(data)
        changed[offset] ^= 1
        return bytes(changed)
    return change
