"""Measures live streams: what an idle one takes of the server's memory, how long a message takes to reach the members of a
large room, and how long it takes while many small rooms are busy.

All streams belong to this one process, which also sends, so its own processor time is part of every latency. The table says
how busy the server and this process were. Latencies count from the sender's response, which is sent when the message is
durable; a negative one means that the message arrived before the response.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import resource
import selectors
import socket
import statistics
import time
import uuid

from ingest import TEXT, Server

MESSAGE = re.compile(rb'"message":\{"id":"([0-9a-f-]{36})"')
# What can be cut off at the end of a read.
LONGEST_MATCH = 64
# Connections that are being opened at once, below the listen backlog.
OPENING = 100


class Stream:
    """One open stream. It only looks for the IDs of messages."""

    def __init__(self, world, user, kind):
        self.socket = socket.create_connection(world.address)
        upgrade = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n") if kind == "websocket" else ""
        path = "socket" if kind == "websocket" else "stream"
        self.socket.sendall(
            f"GET /v1/sync/{path}?since={world.cursor} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {world.server.admin}\r\n"
            f"Hansard-Act-As: {user}\r\n{upgrade}\r\n".encode())
        self.first = b'"ready"' if kind == "websocket" else b": open"
        self.rest = b""

    def wait_until_open(self):
        received = b""
        while self.first not in received:
            piece = self.socket.recv(65536)
            if not piece:
                raise SystemExit(f"a stream was not opened: {received!r}")
            received += piece
        self.socket.setblocking(False)

    def messages(self):
        data = self.socket.recv(262144)
        if not data:
            raise SystemExit("the server closed a stream")
        data = self.rest + data
        found, end = [], 0
        for match in MESSAGE.finditer(data):
            found.append(match.group(1))
            end = match.end()
        self.rest = data[max(end, len(data) - LONGEST_MATCH):]
        return found


class Sender:
    """A connection on which messages are sent one after the other."""

    def __init__(self, world, selector):
        self.socket = socket.create_connection(world.address)
        self.socket.setblocking(False)
        self.admin = world.server.admin
        self.pending = None
        selector.register(self.socket, selectors.EVENT_READ, self)

    def send(self, room, user):
        message = str(uuid.uuid4())
        body = json.dumps({"text": TEXT})
        self.pending = message.encode()
        self.socket.send(
            f"PUT /v1/rooms/{room}/messages/{message} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self.admin}\r\n"
            f"Hansard-Act-As: {user}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        return self.pending

    def response(self):
        data = self.socket.recv(65536)
        if b" 201 " not in data[:20]:
            raise SystemExit(f"a message was refused: {data!r}")
        message, self.pending = self.pending, None
        return message


class World:
    def __init__(self, executable):
        os.environ["HANSARD_CONNECTIONS_PER_ADDRESS"] = "0"
        os.environ["HANSARD_CONNECTIONS_MAXIMUM"] = "40000"
        self.server = Server(executable)
        host, port = self.server.url.removeprefix("http://").split(":")
        self.address = (host, int(port))

    def ingest(self, lines):
        connection = http.client.HTTPConnection(*self.address, timeout=300)
        for start in range(0, len(lines), 50_000):
            body = "\n".join(json.dumps(line) for line in lines[start:start + 50_000])
            connection.request("POST", "/v1/ingest", body, {
                "Authorization": f"Bearer {self.server.admin}", "Content-Type": "application/x-ndjson"})
            results = connection.getresponse().read().splitlines()
            failed = next((each for each in results if json.loads(each)["status"] >= 300), None)
            if failed:
                raise SystemExit(f"a line failed: {failed}")
        connection.close()

    def users(self, count):
        users = [str(uuid.uuid4()) for _ in range(count)]
        self.ingest([{"op": "user.register", "id": user, "nickname": f"user {index}"} for index, user in enumerate(users)])
        return users

    def room(self, members):
        room = str(uuid.uuid4())
        return room, [{"op": "room.create", "id": room, "name": "bench", "as": members[0]}] + [
            {"op": "member.join", "roomId": room, "as": member} for member in members[1:]]

    def take_cursor(self, user):
        """A cursor names a position in the log and grants nothing, so one serves all users."""
        page = {"more": True}
        cursor = ""
        while page["more"]:
            request = http.client.HTTPConnection(*self.address)
            request.request("GET", f"/v1/sync?limit=1000{cursor and '&since=' + cursor}", headers={
                "Authorization": f"Bearer {self.server.admin}", "Hansard-Act-As": user})
            page = json.load(request.getresponse())
            cursor = page["cursor"]
        self.cursor = cursor

    def open(self, users, kind):
        streams = []
        for start in range(0, len(users), OPENING):
            opening = [Stream(self, user, kind) for user in users[start:start + OPENING]]
            for stream in opening:
                stream.wait_until_open()
            streams += opening
            print(f"\r{len(streams):>7,} of {len(users):,} streams", end="", flush=True)
        print("\r" + " " * 40 + "\r", end="")
        return streams

    def memory(self):
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024


class Busy:
    """The share of one processor that the server and this process used."""

    def __init__(self, world):
        self.world, self.began = world, time.monotonic()
        self.server, self.own = world.server.processor_seconds(), time.process_time()

    def __str__(self):
        seconds = time.monotonic() - self.began
        server = (self.world.server.processor_seconds() - self.server) / seconds
        return f"server {server:.2f}, this process {(time.process_time() - self.own) / seconds:.2f} processors"


def percentiles(latencies):
    ordered = sorted(latencies)
    return "  ".join(
        f"{name} {ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000:8.2f} ms"
        for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1)))


def follow(streams, selector):
    for stream in streams:
        selector.register(stream.socket, selectors.EVENT_READ, stream)


def measure_room(world, users, kind, options):
    """Each message must reach all members before the next is sent."""
    room, lines = world.room(users)
    world.ingest(lines)
    world.take_cursor(users[0])
    # The first streams also fill caches, which do not grow with the number of streams.
    tenth = len(users) // 10
    streams = world.open(users[:tenth], kind)
    time.sleep(2)
    before = world.memory()
    streams += world.open(users[tenth:], kind)
    time.sleep(2)
    idle = (world.memory() - before) / (len(users) - tenth)
    print(f"{kind}: {len(streams):,} idle streams take {idle / 1024:.1f} KiB of the server's memory each")
    selector = selectors.DefaultSelector()
    follow(streams, selector)
    sender = Sender(world, selector)
    latencies, last = [], []
    busy = Busy(world)
    for _ in range(options.messages):
        message, responded, arrivals = sender.send(room, users[0]), None, []
        while responded is None or len(arrivals) < len(streams):
            for key, _ in selector.select(60):
                if key.data is sender:
                    sender.response()
                    responded = time.monotonic()
                else:
                    arrivals += [time.monotonic()] * key.data.messages().count(message)
        latencies += [arrival - responded for arrival in arrivals]
        last.append(max(arrivals) - responded)
    print(f"{kind}: a message to a room of {len(streams):,} live members: {percentiles(latencies)}; "
          f"all of them after {statistics.median(last) * 1000:.0f} ms (median of {options.messages}); {busy}")
    for stream in streams:
        stream.socket.close()


def measure_pairs(world, kind, options):
    """Sends at a constant rate, whatever the latencies are."""
    users = world.users(2 * options.rooms)
    rooms, lines = [], []
    for index in range(options.rooms):
        members = users[2 * index:2 * index + 2]
        room, new = world.room(members)
        rooms.append((room, members[0]))
        lines += new
    world.ingest(lines)
    world.take_cursor(users[0])
    streams = world.open(users, kind)
    selector = selectors.DefaultSelector()
    follow(streams, selector)
    idle = [Sender(world, selector) for _ in range(64)]
    responses, arrivals, sent, late = {}, {}, 0, 0
    busy, began = Busy(world), time.monotonic()
    end = began + options.seconds
    while time.monotonic() < end or any(len(found) < 2 for found in arrivals.values()):
        now = time.monotonic()
        while now < end and sent < (now - began) * options.rate:
            if not idle:
                late += 1
                break
            sender = idle.pop()
            arrivals[sender.send(*rooms[sent % len(rooms)])] = []
            sent += 1
        for key, _ in selector.select(0.0005):
            now = time.monotonic()
            if isinstance(key.data, Sender):
                responses[key.data.response()] = now
                idle.append(key.data)
            else:
                for message in key.data.messages():
                    if message in arrivals:
                        arrivals[message].append(now)
        if time.monotonic() > end + 60:
            raise SystemExit("messages did not arrive within a minute")
    latencies = [arrival - responses[message] for message, found in arrivals.items() for arrival in found]
    print(f"{kind}: {sent / options.seconds:,.0f} messages/s into {options.rooms:,} rooms of two live members: "
          f"{percentiles(latencies)}; {busy}; the sender waited {late:,} times")
    for stream in streams:
        stream.socket.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=10_000, help="idle streams, and live members of the large room")
    parser.add_argument("--messages", type=int, default=10, help="messages into the large room")
    parser.add_argument("--rooms", type=int, default=5_000, help="small rooms")
    parser.add_argument("--rate", type=int, default=1_000, help="messages per second into the small rooms")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--kinds", nargs="+", default=["websocket", "sse"], choices=["websocket", "sse"])
    options = parser.parse_args()
    wanted = max(options.streams, 2 * options.rooms) + 1_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < wanted:
        raise SystemExit(f"this needs {wanted:,} open files, but the hard limit is {hard:,} (ulimit -Hn)")
    # The server inherits the limit, and has as many files open as this process.
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    for kind in options.kinds:
        for measurement in ("room", "pairs"):
            world = World(os.environ["HANSARD_BIN"])
            try:
                if measurement == "room":
                    measure_room(world, world.users(options.streams), kind, options)
                else:
                    measure_pairs(world, kind, options)
            finally:
                world.server.stop()


if __name__ == "__main__":
    main()
