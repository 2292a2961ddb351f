"""Open streams: how much of the server's memory an idle one takes, and how long messages take to reach them."""

import time

from ingest import TEXT

from .load import BareEcho, Load, processor_seconds, resident_bytes
from .table import milliseconds, show
from .world import END_OF_HEAD, World, upgrade

# The columns of `deliver`. The server and the generator are in processors.
DELIVERY_HEADERS = [
    "messages/s", "response p50", "p99", "delivery p50", "p99", "last one, p50", "server µs/delivery", "server",
    "generator", "waits"]
NAMES = {"websocket": "WebSocket", "sse": "SSE", "socketio": "Socket.IO (WebSocket)"}
# KiB of the server's memory for an idle stream, and milliseconds of a delivery, from the issue.
MEMORY_GOALS = {"websocket": 16, "sse": 32}
DELIVERY_GOAL = 20
# How long a program is watched to see whether it is idle.
REST_SECONDS = 2
# A server that uses less than this many processors is idle.
IDLE_PROCESSORS = 0.05
SENDERS = 64


def rest(process):
    """Waits until the streams have read what was there before, and the presence of the others."""
    busy = 1.0
    while busy > IDLE_PROCESSORS:
        used = processor_seconds(process)
        time.sleep(REST_SECONDS)
        busy = (processor_seconds(process) - used) / REST_SECONDS


class Idle:
    """Opens connections and measures what they take. The first tenth also fills caches, which do not grow with them."""

    def __init__(self, process, count, open_streams):
        first = max(1, count // 10)
        open_streams(0, first)
        rest(process)
        before = resident_bytes(process)
        open_streams(first, count)
        rest(process)
        self.kibibytes = (resident_bytes(process) - before) / (count - first) / 1024


def open_echoes(load, port, path):
    def open_streams(start, end):
        load.open(port, [upgrade(path)] * (end - start), END_OF_HEAD)
    return open_streams


def measure_rooms(options, goals):
    """The memory of idle connections, and messages to a room whose members all have a stream."""
    memory, rows = [], []
    with BareEcho() as bare, Load() as load:
        idle = Idle(bare.process, options.streams, open_echoes(load, bare.port, "/"))
        memory.append(("echo, SwiftNIO alone", idle.kibibytes, None))
    with World("--conformance") as world, Load() as load:
        idle = Idle(world.process, options.streams, open_echoes(load, world.port, "/conformance/ws"))
        memory.append(("echo, /conformance/ws", idle.kibibytes, None))
    for kind in options.kinds:
        with World() as world, Load() as load:
            users = world.users(options.streams)
            room, = world.rooms([users])
            cursor = world.cursor(users[0])
            idle = Idle(world.process, len(users), lambda start, end: world.open(load, users[start:end], kind, cursor))
            memory.append((NAMES[kind], idle.kibibytes, MEMORY_GOALS.get(kind)))
            name = f"{NAMES[kind]}: p99 of a message to {len(users):,} live members"
            targets = [(room, users[0])] * options.messages
            rows.append((NAMES[kind], *deliver(world, load, targets, len(users), 0, name, goals, None)))
    show_rooms(memory, rows, options, goals)


def show_rooms(memory, rows, options, goals):
    bare_kibibytes = memory[0][1]
    for name, kibibytes, goal in memory:
        if goal:
            goals.at_most(f"memory of an idle stream, {name}", kibibytes, goal, "KiB")
    show(f"Memory of the server for each of {options.streams:,} idle connections",
         ["", "KiB", "/ SwiftNIO", "goal", "/ goal"],
         [(name, f"{kibibytes:.1f}", f"{kibibytes / max(bare_kibibytes, 0.1):.2f}", goal and f"<= {goal}",
           goal and f"{kibibytes / goal:.2f}") for name, kibibytes, goal in memory])
    show(f"A message to a room of {options.streams:,} live members, {options.messages} messages one by one, in ms",
         ["", *DELIVERY_HEADERS], rows)


def deliver(world, load, targets, deliveries, rate, name, goals, goal):
    """Sends a message to each of `targets`, a room and its sender, and returns a row for the table."""
    requests = [
        world.put(user, f"/v1/rooms/{room}/messages/{world.run}{number:012x}", {"text": TEXT})
        for number, (room, user) in enumerate(targets)]
    used = processor_seconds(world.process)
    report = load.perform(deliver={
        "port": world.port, "requests": requests, "deliveries": deliveries, "rate": rate,
        "senders": SENDERS if rate else 1})
    used = processor_seconds(world.process) - used
    p99 = milliseconds(report["arrivals"], 0.99)
    if goal:
        goals.at_most(name, float(p99.replace(",", "")), goal, "ms")
    else:
        goals.report(name, f"{p99} ms")
    seconds = report["seconds"]
    return (
        f"{len(requests) / seconds:,.0f}", milliseconds(report["responses"], 0.5),
        milliseconds(report["responses"], 0.99), milliseconds(report["arrivals"], 0.5), p99,
        milliseconds(report["last"], 0.5),
        f"{used / len(report['arrivals']) * 1e6:,.0f}", f"{used / seconds:.2f}", f"{report['processor'] / seconds:.2f}",
        f"{report['waits']:,}")


def measure_pairs(options, goals):
    """Messages at a constant rate, whatever the latencies are."""
    rows = []
    for kind in options.kinds:
        with World() as world, Load() as load:
            users = world.users(2 * options.rooms)
            pairs = list(zip(users[::2], users[1::2]))
            rooms = world.rooms(pairs)
            world.open(load, users, kind, world.cursor(users[0]))
            rest(world.process)
            targets = [(rooms[number % len(rooms)], pairs[number % len(rooms)][0])
                       for number in range(options.rate * options.seconds)]
            name = f"{NAMES[kind]}: p99 of a delivery, {options.rate:,} messages/s into {options.rooms:,} rooms of two"
            rows.append((NAMES[kind], *deliver(world, load, targets, 2, options.rate, name, goals, DELIVERY_GOAL)))
    show(f"{options.rate:,} messages/s for {options.seconds} s into {options.rooms:,} rooms of two live members, in ms",
         ["", *DELIVERY_HEADERS], rows)
