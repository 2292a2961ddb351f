"""Bodies of `POST /v1/ingest` that cost the client almost nothing to send again with new IDs, and a client for them."""

import http.client
import itertools
import json
import random
import socket
import threading
import time
import uuid

# All but the last twelve digits of a message's ID. It is replaced whenever the body is sent.
PLACEHOLDER = b"00000000-0000-4000-8000-"
# A body can have 16 MiB. A line has about 250 bytes.
LINES_AT_ONCE = 40_000
CREATED = b'"status":201'
# How long a server may take for what it has not applied yet.
WAIT_SECONDS = 3_600
POLL_SECONDS = 0.01


class Room:
    def __init__(self, id, members):
        self.id, self.members = id, members


def zipf(count):
    """Cumulative weights: the second is chosen half as often as the first, and so on."""
    return list(itertools.accumulate(1 / rank for rank in range(1, count + 1)))


class Body:
    """Messages of random members into rooms, the first rooms most often."""

    def __init__(self, rooms, texts, count, seed):
        source = random.Random(seed)
        chosen = source.choices(rooms, cum_weights=zipf(len(rooms)), k=count)
        prefix = PLACEHOLDER.decode()
        self.lines = count
        self.bytes = "\n".join(
            f'{{"op":"message.send","roomId":"{room.id}","id":"{prefix}{number:012x}",'
            f'"text":{texts.encoded[source.randrange(len(texts.encoded))]},"as":"{source.choice(room.members)}"}}'
            for number, room in enumerate(chosen)).encode()

    def fresh(self):
        """With new IDs."""
        return self.bytes.replace(PLACEHOLDER, str(uuid.uuid4())[:len(PLACEHOLDER)].encode())


class IngestConnection:
    """Reads the results while it sends."""

    def __init__(self, port, token):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.head = (f"POST /v1/ingest HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n"
                     "Content-Type: application/x-ndjson\r\n")
        # How many lines were sent again because the server was overloaded.
        self.sent_again = 0

    def close(self):
        self.socket.close()

    def exchange(self, body):
        """Returns the results as they were received."""
        head = f"{self.head}Content-Length: {len(body)}\r\n\r\n".encode()
        sender = threading.Thread(target=self._send, args=(head, body))
        sender.start()
        response = http.client.HTTPResponse(self.socket, method="POST")
        response.begin()
        results = response.read()
        sender.join()
        if response.status != 200:
            raise SystemExit(f"ingest: {response.status} {results[:300]!r}")
        return results

    def _send(self, head, body):
        self.socket.sendall(head)
        self.socket.sendall(body)

    def send(self, body, lines):
        """Sends all lines, and those that an overloaded server did not process once more."""
        while True:
            results = self.exchange(body)
            if results.count(CREATED) == lines:
                return
            done = first_failure(results)
            remaining = body.split(b"\n")[done:]
            body, lines = b"\n".join(remaining), len(remaining)
            self.sent_again += lines


def first_failure(results):
    """How many lines were processed before the first that an overloaded server did not process. Any other failure ends
    the benchmark."""
    for number, line in enumerate(results.splitlines()):
        if CREATED not in line:
            if json.loads(line)["status"] != 503:
                raise SystemExit(f"a line failed: {line!r}")
            return number
    raise SystemExit(f"some lines have no result; the last is {results[-200:]!r}")


def readiness(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/readyz")
    found = json.load(connection.getresponse())
    connection.close()
    return found


def wait_for_views(port):
    """Waits until all read models, search included, have applied what is durable now."""
    deadline = time.monotonic() + WAIT_SECONDS
    while any(view["lag"] for view in readiness(port)["projections"]):
        if time.monotonic() > deadline:
            raise SystemExit("the read models did not catch up")
        time.sleep(POLL_SECONDS)
