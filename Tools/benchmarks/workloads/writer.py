"""A process that writes messages at a constant rate by bulk ingest, over one connection."""

import http.client
import json
import multiprocessing
import socket
import threading
import time

from .bodies import CREATED

# The lines of each interval are sent together.
INTERVAL = 0.02
STOP_SECONDS = 60
POLL_SECONDS = 0.01
# The goal for the messages that are written, as a share of those that are to be written. If it is not reached, the server had
# less to do than it should have had, and its latencies mean nothing.
RATE_GOAL = 0.98


class Writer:
    """`written` counts the messages that are durable."""

    def __init__(self, port, token, body, rate):
        self.written, self.unprocessed = multiprocessing.Value("q"), multiprocessing.Value("q")
        self.over = multiprocessing.Event()
        self.process = multiprocessing.Process(
            target=write, args=(port, token, body, rate, self.written, self.unprocessed, self.over), daemon=True)

    def __enter__(self):
        """Returns when the first messages are durable."""
        self.process.start()
        while not self.written.value and self.process.is_alive():
            time.sleep(POLL_SECONDS)
        return self

    def __exit__(self, *_):
        self.over.set()
        self.process.join(STOP_SECONDS)
        if self.process.exitcode != 0:
            raise SystemExit(f"the process that writes ended with {self.process.exitcode}")


class Written:
    """What the writer writes from now on until `end`."""

    def __init__(self, writer):
        self.writer, self.began, self.ended = writer, time.perf_counter(), None
        self.before = writer.written.value, writer.unprocessed.value

    def end(self):
        self.ended = time.perf_counter()
        self.messages = self.writer.written.value - self.before[0]
        # Lines that the overloaded server did not process.
        self.unprocessed = self.writer.unprocessed.value - self.before[1]

    @property
    def rate(self):
        """Messages per second."""
        return self.messages / (self.ended - self.began)


def write(port, token, body, rate, written, unprocessed, over):
    connection = socket.create_connection(("127.0.0.1", port))
    while not over.is_set():
        Stream(connection, token, body.fresh().splitlines(), written, unprocessed).run(rate, over)
    connection.close()


class Stream:
    """One request. It ends when its lines are used up."""

    def __init__(self, connection, token, lines, written, unprocessed):
        self.connection, self.lines, self.written, self.unprocessed = connection, lines, written, unprocessed
        self.reader = threading.Thread(target=self._read)
        self.has_failed, self.failure = False, None
        connection.sendall(
            f"POST /v1/ingest HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n".encode())

    def run(self, rate, over):
        self.reader.start()
        began, sent = time.perf_counter(), 0
        while sent < len(self.lines) and not over.is_set() and not self.has_failed:
            time.sleep(INTERVAL)
            due = min(int((time.perf_counter() - began) * rate), len(self.lines))
            if due > sent:
                part = b"\n".join(self.lines[sent:due]) + b"\n"
                self.connection.sendall(b"%x\r\n%b\r\n" % (len(part), part))
                sent = due
        self.connection.sendall(b"0\r\n\r\n")
        self.reader.join()
        if self.failure:
            raise SystemExit(f"a line failed: {self.failure!r}")

    def _read(self):
        response = http.client.HTTPResponse(self.connection, method="POST")
        response.begin()
        for line in response:
            if CREATED in line:
                self.written.value += 1
            elif json.loads(line)["status"] == 503:
                self.unprocessed.value += 1
                self.has_failed = True
            else:
                self.has_failed, self.failure = True, line
