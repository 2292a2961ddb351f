"""Writes whole logs from docs/log-format.md alone: valid ones for a test to verify, and ones that a forger would leave.

A forger may change any part before its checksum is computed: `forge` maps the name of a part to a function that changes
its bytes. Names: header/S, seal/S, block/S/B, body/S/B, padding/S/B, stored/S/B, column/S/B/NAME, section/S/NAME,
rest/S, and in the superblock copy/0, copy/1, behind/0 and behind/1. S is the number of the segment and B that of the
block, both from 0.
"""

import dataclasses
import functools
import pathlib
import struct
from collections import Counter
from collections.abc import Callable
from typing import Optional
from uuid import UUID

import lz4.block

from . import merkle
from .note_signer import NoteSigner

IDENTITY = bytes.fromhex("00112233445566778899aabbccddeeff")
CREATED = 1_767_225_600_000
NO_TIME = -62_167_219_200_000
ACTIVE_BYTES = 32_768


def crc_table() -> list:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte % 2 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def crc(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        register = TABLE[(register ^ byte) % 256] ^ register >> 8
    return register ^ 0xFFFFFFFF


def checked(data: bytes) -> bytes:
    return data + struct.pack("<I", crc(data))


def varint(number: int) -> bytes:
    low, high = number % 128, number // 128
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def zigzag(number: int) -> bytes:
    number = (number + (1 << 63)) % (1 << 64) - (1 << 63)
    return varint(2 * number if number >= 0 else -2 * number - 1)


def compressed(data: bytes, dictionary: bytes = b"") -> bytes:
    return lz4.block.compress(data, mode="high_compression", store_size=False, dict=dictionary)


@dataclasses.dataclass(frozen=True)
class Event:
    """One record. Form 0 is retained, 1 is erased (its payload is a digest), 2 is retained with an explicit salt."""

    kind: int
    stream_kind: int
    stream: bytes
    version: int
    time: int
    payload: bytes = b""
    actor: Optional[bytes] = None
    service: Optional[bytes] = None
    device: Optional[bytes] = None
    subject: Optional[bytes] = None
    command: Optional[bytes] = None
    original: Optional[int] = None
    form: int = 0
    salt: bytes = b""
    schema: int = 1

    def ids(self) -> list:
        return [self.actor, self.service, self.device, self.subject, self.command]

    def presence(self) -> int:
        return sum(1 << bit for bit, field in enumerate([*self.ids(), self.original]) if field is not None)

    def envelope(self) -> bytes:
        head = struct.pack("<HBBHH", self.kind, self.schema, self.stream_kind, self.presence(), 0)
        middle = self.stream + struct.pack("<Qq", self.version, self.time)
        original = b"" if self.original is None else struct.pack("<q", self.original)
        return head + middle + b"".join(field for field in self.ids() if field) + original

    def record(self) -> bytes:
        body = self.envelope() + self.salt + self.payload
        return struct.pack("<IBBH", 8 + len(body), self.form, 0, len(self.envelope())) + body

    def spared(self) -> int:
        """How many bytes the column omits from a payload that is a single short field: its tag and its length."""
        if self.form == 1 or not self.payload or self.payload[0] & 0x87 != 2:
            return 0
        sizes = range(1, min(5, len(self.payload)))
        return next((1 + size for size in sizes
                     if self.payload[1 : 1 + size] == varint(len(self.payload) - 1 - size)), 0)

    def wrapping(self) -> int:
        return self.payload[0] if self.spared() else 0

    def bare(self) -> bytes:
        """The part of the payload that the column stores."""
        return self.payload[self.spared() :]


def key_in(payload: bytes) -> Optional[bytes]:
    """The commitment key in a registration of these tests, where it is always the last field."""
    return payload[-32:] if payload[-34:-32] == b"\x2a\x20" else None


def digests(events: list) -> list:
    """(salt, digest) of each event, in order. The salt of an erased event is None."""
    keys, found = {}, []
    for position, event in enumerate(events, 1):
        if event.kind == 1 and event.stream_kind == 1 and event.stream not in keys:
            keys[event.stream] = key_in(event.payload) if event.form != 1 else None
        key, salt = keys.get(event.actor), event.salt
        if event.form == 0 and key:
            salt = merkle.sha256(key, struct.pack("<Q", position))[:16]
        found.append((None, event.payload) if event.form == 1 else (salt, merkle.sha256(salt, event.payload)))
    return found


def leaves(events: list) -> list:
    return [merkle.sha256(b"\0", event.envelope(), digest) for event, (_, digest) in zip(events, digests(events))]


@functools.cache
def signer_of(origin: str, seed: bytes) -> NoteSigner:
    return NoteSigner(origin, seed)


@dataclasses.dataclass
class Part:
    """One segment: its events by block, and whether it is sealed."""

    blocks: list
    sealed: bool = False
    dictionary: bytes = b""

    def events(self) -> list:
        return [event for block in self.blocks for event in block]


def plane(uuids: list, bit: int) -> bytes:
    """One bit of each UUID, eight to a byte, the most significant bit first."""
    packed = bytearray(-(-len(uuids) // 8))
    for number, uuid in enumerate(uuids):
        packed[number // 8] |= (uuid[bit // 8] << bit % 8 & 128) >> number % 8
    return bytes(packed)


def columns(block: list, table: list) -> dict:
    """The fourteen columns of a block, by name."""
    shapes, fresh, near = [], [], 0
    found = {name: [] for name in ("shape", "stream", "version", "time", "original time", "length", "content")}
    found.update({name: [] for name in ("actor", "service", "device", "subject", "command")})

    def reference(uuid: bytes) -> bytes:
        if uuid in table:
            return varint(table.index(uuid) + 1)
        start = (int.from_bytes(uuid[:6], "big") - near) % (1 << 48)
        fresh.append(start.to_bytes(6, "big") + uuid[6:])
        return varint(0)

    versions, time, original, contents = {}, 0, 0, {}
    for event in block:
        shape = struct.pack("<BHBBHB", event.form, event.kind, event.schema, event.stream_kind, event.presence(),
                            event.wrapping())
        if shape not in shapes:
            shapes.append(shape)
        near = event.time if event.original is None else event.original
        found["shape"].append(varint(shapes.index(shape)))
        found["stream"].append(reference(event.stream))
        for name in ("actor", "service", "device", "subject", "command"):
            if getattr(event, name) is not None:
                found[name].append(reference(getattr(event, name)))
        stream = (event.stream_kind, event.stream)
        found["version"].append(zigzag(event.version - versions.get(stream, 0) - 1))
        versions[stream] = event.version
        found["time"].append(zigzag(event.time - time))
        time = event.time
        if event.original is not None:
            found["original time"].append(zigzag(event.original - original))
            original = event.original
        if event.form != 1:
            found["length"].append(varint(len(event.bare())))
        contents.setdefault(shape, []).append(event.salt + event.bare())
    found["shapes"] = shapes
    found["fresh"] = [plane(fresh, bit) for bit in range(128)]
    found["content"] = [content for shape in shapes for content in contents[shape]]
    order = ("shapes", "shape", "stream", "actor", "service", "device", "subject", "command", "version", "time",
             "original time", "length", "fresh", "content")
    return {name: b"".join(found[name]) for name in order}


class LogWriter:
    """Writes the parts as a data directory. The last part is the active segment."""

    def __init__(self, parts: list, seed: bytes = bytes(range(32)), forge: Optional[dict] = None,
                 tree: Optional[list] = None, durable: Optional[int] = None, identity: bytes = IDENTITY,
                 active_bytes: int = ACTIVE_BYTES):
        self.parts, self.forge, self.identity, self.active_bytes = parts, forge or {}, identity, active_bytes
        self.events = [event for part in parts for event in part.events()]
        self.leaves = leaves(self.events) if tree is None else tree
        self.signer = signer_of(f"hansard/{UUID(bytes=identity)}", seed)
        self.durable = len(self.events) if durable is None else durable
        self.unused = set(self.forge)

    def forged(self, name: str, data: bytes) -> bytes:
        self.unused.discard(name)
        change: Callable = self.forge.get(name, lambda same: same)
        return change(data)

    def head(self, size: int) -> str:
        return self.signer.tree_head(size, merkle.root(self.leaves[:size]))

    def write(self, data: pathlib.Path) -> pathlib.Path:
        log = data / "log"
        log.mkdir(parents=True)
        (data / "checkpoint.pub").write_text(self.signer.verifier_key() + "\n")
        first, time, before = 1, NO_TIME, 0
        for number, part in enumerate(self.parts):
            content, active_crc = self.active(number, first, time, before)
            last = first + len(part.events()) - 1
            if part.sealed:
                content = self.sealed(number, first, time, before, active_crc)
                (log / f"{last:020}.checkpoint").write_text(self.head(last))
            (log / f"{first:020}.seg").write_bytes(content)
            first, before = last + 1, active_crc
            time = part.events()[-1].time if part.events() else time
        (log / "superblock").write_bytes(self.superblock())
        assert not self.unused, f"no such part to forge: {self.unused}"
        return data

    def superblock(self) -> bytes:
        pages = []
        for slot, numbers in enumerate([(2, self.durable), (1, 0)]):
            copy = struct.pack("<8sII16sQQ460x", b"HANSARDB", 1, 0, self.identity, *numbers)
            pages.append(checked(self.forged(f"copy/{slot}", copy)) + self.forged(f"behind/{slot}", bytes(3584)))
        return b"".join(pages)

    def header(self, number: int, kind: int, first: int, time: int, before: int, length: int, seal: bytes) -> bytes:
        salt = struct.pack("<Q", 0x1000 * kind + number)
        peaks = merkle.peaks(self.leaves[: first - 1]) if kind == 2 else []
        numbers = (CREATED, before, len(peaks))
        head = struct.pack("<8sIHH16sQ8sqII", b"HANSARDS", 1, kind, 0, self.identity, first, salt, *numbers)
        page = head + b"".join(peaks).ljust(2048, b"\0") + struct.pack("<Qq", length, time) + seal
        return checked(self.forged(f"header/{number}", page.ljust(4092, b"\0")))

    def block(self, name: str, salt: bytes, first: int, block: list, raw: bytes, chain: int, codec: int,
              dictionary: bytes = b"") -> tuple:
        """The bytes of a block, and the checksum in its header."""
        raw = self.forged(f"body/{name}", raw)
        packed = compressed(raw, dictionary)
        shorter = len(packed) < len(raw)
        body = self.forged(f"stored/{name}", packed if shorter else raw)
        header = struct.pack("<4sBBH8sQQIIIIIQ", b"HBLK", 1, codec + shorter, 0, salt, first, first - 1, len(block),
                             len(raw), len(body), crc(body), chain, 0)
        header = checked(self.forged(f"block/{name}", header))
        padding = self.forged(f"padding/{name}", bytes(-len(body) % 8))
        return header + body + padding, struct.unpack("<I", header[60:])[0]

    def active(self, number: int, first: int, time: int, before: int) -> tuple:
        """An active segment, and the checksum of its last block. For a sealed part, only the checksum is used."""
        part = self.parts[number]
        header = self.header(number, 1, first, time, before, self.active_bytes, b"") if not part.sealed else bytes(4096)
        chain, content, last = struct.unpack("<I", header[4092:])[0], header, before
        for index, block in enumerate(part.blocks):
            raw = b"".join(event.record() for event in block)
            name = f"{number}/{index}" if not part.sealed else "while active"
            data, chain = self.block(name, header[40:48], first, block, raw, chain, 0)
            content, first, last = content + data, first + len(block), chain
        assert len(content) <= self.active_bytes or part.sealed, "the blocks do not fit"
        return content + self.forged(f"rest/{number}", bytes(self.active_bytes - len(content))), last

    def sealed(self, number: int, first: int, time: int, before: int, active_crc: int) -> bytes:
        part = self.parts[number]
        streams = Counter(event.stream for event in part.events())
        others = Counter(uuid for event in part.events() for uuid in event.ids() if uuid)
        table = [uuid for uuid, count in (streams + others).most_common() if uuid in streams or count > 2]
        salt, position, chain, content, index = struct.pack("<Q", 0x2000 + number), first, 0, b"", b""
        for block_number, block in enumerate(part.blocks):
            name = f"{number}/{block_number}"
            found = columns(block, table)
            found = {key: self.forged(f"column/{name}/{key}", value) for key, value in found.items()}
            raw = b"".join(varint(len(column)) + column for column in found.values())
            index += struct.pack("<QIIqq", position, 4096 + len(content), 0, block[0].time, block[-1].time)
            data, chain = self.block(name, salt, position, block, raw, chain, 2, part.dictionary)
            content, position = content + data, position + len(block)
        postings = {uuid: [] for uuid in table}
        for block_number, block in enumerate(part.blocks):
            for stream in {event.stream for event in block}:
                postings[stream].append(block_number)
        tree = merkle.peaks(self.leaves[: position - 1]) + merkle.nodes(first, position - 1, self.leaves)
        sections = {
            "dictionary": part.dictionary, "table": b"".join(table), "index": index,
            "streams": b"".join(self.posting(blocks) for blocks in postings.values()), "tree": b"".join(tree),
        }
        rows, offset, tail = b"", 4096 + len(content), b""
        for name, raw in sections.items():
            raw = self.forged(f"section/{number}/{name}", raw)
            packed = compressed(raw) if raw else raw
            stored = packed if len(packed) < len(raw) else raw
            rows += struct.pack("<IIII", offset + len(tail), len(stored), len(raw), crc(stored))
            tail += stored
        seal = struct.pack("<QqIIII", position - first, part.events()[-1].time, len(part.blocks), chain, active_crc, 0)
        seal = self.forged(f"seal/{number}", seal + rows)
        return self.header(number, 2, first, time, before, offset + len(tail), seal) + content + tail

    @staticmethod
    def posting(blocks: list) -> bytes:
        gaps = [block - before - 1 for before, block in zip([-1, *blocks], blocks)]
        return varint(len(blocks)) + b"".join(varint(gap) for gap in gaps)
