"""Catch-ups of many changed messages, compared with a bare SQLite read of the same rows."""

import re
import statistics
import tempfile
import time
import uuid

from compared import timeline
from ingest import TEXT

from .load import processor_seconds
from .table import show
from .world import World

ITEM = b'"type":"message"'
END = re.compile(rb'"cursor":"([^"]+)","more":(true|false)\}$')


class Case:
    def __init__(self, name, rooms, edits):
        self.name, self.rooms, self.edits = name, rooms, edits
        self.synced, self.values, self.scanned, self.server, self.bare, self.client = [], [], [], [], [], []


def lines(world, user, rooms, count):
    """Messages that go to the rooms in turn, and edits of them."""
    ids = [(rooms[number % len(rooms)], f"{world.run}{number:012x}") for number in range(count)]
    new = [{"op": "message.send", "roomId": room, "id": message, "text": TEXT, "as": user} for room, message in ids]
    edits = [{"op": "message.edit", "roomId": room, "id": message, "text": f"{TEXT}..", "as": user,
              "key": str(uuid.uuid4())} for room, message in ids]
    return new, edits


def catch_up(world, user, cursor, expected):
    """Reads pages until there are no more. Returns items per second."""
    connection, count, more = world.connection(), 0, True
    headers = {"Authorization": f"Bearer {world.server.admin}", "Hansard-Act-As": user}
    began = time.perf_counter()
    while more:
        connection.request("GET", f"/v1/sync?limit=1000&since={cursor}", headers=headers)
        page = connection.getresponse().read()
        count += page.count(ITEM)
        end = END.search(page)
        if not end:
            raise SystemExit(f"not a page: {page[:200]!r}")
        cursor, more = end.group(1).decode(), end.group(2) == b"true"
    seconds = time.perf_counter() - began
    connection.close()
    if count != expected:
        raise SystemExit(f"{count:,} messages came, not {expected:,}")
    return count / seconds


def measure_case(case, options):
    with World() as world, tempfile.TemporaryDirectory(dir=world.server.data) as folder:
        user, = world.users(1)
        rooms = world.rooms([[user]] * case.rooms)
        new, edits = lines(world, user, rooms, options.changed)
        if case.edits:
            world.ingest(new)
        cursor = world.cursor(user)
        world.ingest(edits if case.edits else new)
        # The first also waits for the read models, and fills caches.
        catch_up(world, user, cursor, options.changed)
        timeline.copy(world.server.data, f"{folder}/timeline.sqlite")
        bare = timeline.Timeline(f"{folder}/timeline.sqlite")
        bare.values_rate()
        for _ in range(options.rounds):
            used, own = processor_seconds(world.process), time.process_time()
            began = time.perf_counter()
            case.synced.append(catch_up(world, user, cursor, options.changed))
            case.client.append((time.process_time() - own) / (time.perf_counter() - began))
            case.server.append((processor_seconds(world.process) - used) / options.changed * 1e6)
            own = time.process_time()
            case.values.append(bare.values_rate())
            case.bare.append((time.process_time() - own) / options.changed * 1e6)
            case.scanned.append(bare.scan_rate())
        bare.connection.close()


def ratio(ones, others):
    return statistics.median(one / other for one, other in zip(ones, others))


def measure(options, goals):
    few, many = min(10, options.changed), min(5_000, options.changed)
    cases = [
        Case(f"new, in {few:,} rooms", few, False), Case(f"new, in {many:,} rooms", many, False),
        Case(f"edited, in {few:,} rooms", few, True), Case(f"edited, in {many:,} rooms", many, True)]
    rows = []
    for case in cases:
        measure_case(case, options)
        values, scanned = ratio(case.synced, case.values), ratio(case.synced, case.scanned)
        rows.append((
            case.name, *(f"{statistics.median(each):,.0f}" for each in (case.synced, case.values, case.scanned)),
            f"{values:.3f}", f"{scanned:.3f}", f"{statistics.median(case.server):.1f}",
            f"{statistics.median(case.bare):.1f}", f"{ratio(case.server, case.bare):.1f}",
            f"{statistics.median(case.client):.2f}"))
        goals.report(f"catch-up of {options.changed:,} messages, {case.name}, items/s / SQLite", f"{values:.3f}")
    show(f"Catch-up of {options.changed:,} changed messages by GET /v1/sync, 1,000 on a page, {options.rounds} rounds",
         ["messages", "items/s", "SQLite rows/s", "without values", "ratio", "to the latter", "server µs/item",
          "SQLite µs/row", "ratio", "client"], rows)
