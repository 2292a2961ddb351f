"""Logs written by the real executable: sealed, proved, copied, and parsed so that a forger can write them again."""

import base64
import dataclasses
import functools
import pathlib
import struct
import subprocess

from . import history
from .client import new_id
from .command import audit, hansard
from .importing import run_import
from .log_writer import Event, LogWriter, Part, leaves
from .people import World, timeline
from .server import Server
from .verifying import verifier

LINES = 3000
# The size of the active segment that a forger writes, in bytes. It is large enough for all tests.
FORGED_ACTIVE_BYTES = 4 << 20
ENVELOPE = struct.Struct("<HBBHH16sQq")


def copy_data(source: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """Copies the directory as sparse files, so that the zeros at the end of a segment take no space."""
    subprocess.run(["cp", "-r", "--sparse=always", str(source), str(target)], check=True)
    return target


class Growing:
    """A data directory that a server fills and that is then sealed, several times. The server is stopped in between."""

    def __init__(self, folder: pathlib.Path):
        self.folder, self.server = folder, Server(folder / "data")
        self.data = self.server.data
        self.heads: dict[str, pathlib.Path] = {}
        self.texts: list[str] = []

    def fill(self) -> "Growing":
        """Imports a history of several rooms, and sends messages through the API."""
        self.server.start()
        self.keep("empty")
        report = self.folder / "report.json"
        run_import(self.server, history.write(history.generate(LINES, seed=9), self.folder / "history.jsonl"), report)
        self.report = history.read(report)[0]
        world = World(self.server)
        self.anna = world.user("Anna").id
        self.room = world.acting_as(self.anna).post("/v1/rooms", {"id": new_id(), "name": "Tea"})["id"]
        self.send_messages(40)
        return self

    def send_messages(self, count: int) -> None:
        """Sends messages, each in its own block, then stops the server."""
        if self.server.process is None:
            self.server.start()
        anna = World(self.server).acting_as(self.anna)
        for _ in range(count):
            self.texts.append(f"message {len(self.texts)} of Anna")
            anna.put(f"/v1/rooms/{self.room}/messages/{new_id()}", {"text": self.texts[-1]})
        self.server.stop()

    def keep(self, name: str) -> pathlib.Path:
        """Saves the current tree head outside the data directory, where no forger can change it."""
        self.heads[name] = self.folder / f"{name}.txt"
        self.heads[name].write_text(hansard("log", "checkpoint", "--data", self.data).output)
        return self.heads[name]

    @property
    def key(self) -> str:
        return (self.data / "checkpoint.pub").read_text().strip()


def seal(data: pathlib.Path) -> dict:
    return hansard("log", "seal", "--data", data, "--json").json


def shown(data: pathlib.Path, room: str) -> dict:
    """The rows that `hansard audit` shows, by filter: all, a room, a start or end time, a range of positions, a type, a
    user."""
    rows = audit(data)
    times = [rows[len(rows) * part // 5]["time"] for part in (1, 3)]
    filters = {
        "all": [], "room": ["--room", room], "since": ["--since", times[1]], "until": ["--until", times[0]],
        "between": ["--since", times[0], "--until", times[1]], "room between": ["--room", room, "--since", times[0]],
        "never": ["--since", "2199-01-01"], "stretch": ["--from", 700, "--to", 900],
        "type": ["--type", "member.left"], "user": ["--user", rows[0]["actor"]],
        "nobody": ["--room", new_id()],
    }
    return {name: audit(data, *arguments) for name, arguments in filters.items()}


def pages(server: Server, rooms: dict[str, str]) -> dict:
    """Every message of each room. `rooms` names for each room the user who reads it."""
    return {room: timeline(World(server).acting_as(reader), room) for room, reader in rooms.items()}


# What a forger knows: the records of the log, and perhaps the key that signs its tree heads


def read_event(record) -> Event:
    kind, schema, stream_kind, presence, _, stream, version, time = ENVELOPE.unpack_from(record.envelope)
    at, ids = ENVELOPE.size, []
    for bit in range(5):
        ids.append(record.envelope[at : at + 16] if presence >> bit & 1 else None)
        at += 16 * (presence >> bit & 1)
    original = struct.unpack_from("<q", record.envelope, at)[0] if presence >> 5 else None
    return Event(kind, stream_kind, stream, version, time, record.content, *ids, original=original,
                 form=record.form, salt=record.salt, schema=schema)


def read_blocks(file, segment) -> tuple[list, bytes]:
    """The events of each block, and the dictionary."""
    blocks, offset, table, dictionary = [], verifier.PAGE_BYTES, None, b""
    end = segment.length
    if segment.seal:
        found = {section.name: verifier.read_section(file, section) for section in segment.seal.sections}
        table, dictionary = verifier.split_table(found["table"]), found["dictionary"]
        end = segment.seal.sections[0].offset
    while offset < end:
        header, _ = verifier.parse_block_header(file.read(offset, verifier.BLOCK_BYTES), segment.kind)
        if header is None:
            break
        raw = file.read(offset + verifier.BLOCK_BYTES, header.stored)
        if header.codec in (verifier.RECORDS_LZ4, verifier.COLUMNS_LZ4):
            raw = verifier.decompress(raw, header.raw, dictionary)
        sealed = segment.seal is not None
        records = verifier.decode_columns(raw, header.count, table) if sealed else verifier.decode_records(raw, header)
        blocks.append([read_event(record) for record in records])
        offset += verifier.block_length(header)
    return blocks, dictionary


def read_parts(data: pathlib.Path) -> list[Part]:
    """The log in the form that `LogWriter` takes."""
    found = []
    for path in sorted((data / "log").glob("*.seg")):
        with verifier.SegmentFile(path) as file:
            segment = verifier.parse_segment_header(file.read(0, verifier.PAGE_BYTES))
            blocks, dictionary = read_blocks(file, segment)
            found.append(Part(blocks, segment.seal is not None, dictionary))
    return found


def leaves_of(data: pathlib.Path) -> list[bytes]:
    """The leaves of the log's Merkle tree."""
    return leaves([event for part in read_parts(data) for event in part.events()])


@functools.cache
def identity_of(data: pathlib.Path) -> bytes:
    return verifier.parse_superblock((data / "log" / "superblock").read_bytes(), []).identity


def stolen_seed(data: pathlib.Path) -> bytes:
    """The seed in `checkpoint.key`."""
    text = (data / "checkpoint.key").read_text()
    assert text.startswith("PRIVATE+KEY+hansard/") and text.endswith("\n")
    return base64.b64decode(text.strip().split("+", 4)[4])[1:]


def rewrite_log(data: pathlib.Path, target: pathlib.Path, change=lambda events: events, seed: bytes | None = None,
                 **how) -> LogWriter:
    """Writes the log with changed events to `target`. Computes all checksums, indexes, peaks, nodes and tree heads
    again."""
    parts, number = read_parts(data), 0
    events = change([event for part in parts for event in part.events()])
    changed = []
    for part in parts:
        blocks = []
        for block in part.blocks:
            blocks.append(events[number : number + len(block)])
            number += len(block)
        changed.append(dataclasses.replace(part, blocks=[block for block in blocks if block]))
    changed[-1].blocks += [events[number:]] if events[number:] else []
    # Drops segments that a rollback leaves without records, except the active one.
    changed = [part for part in changed[:-1] if part.blocks] + changed[-1:]
    seed = stolen_seed(data) if seed is None else seed
    writer = LogWriter(changed, seed, identity=identity_of(data), active_bytes=FORGED_ACTIVE_BYTES, **how)
    writer.write(target)
    return writer
