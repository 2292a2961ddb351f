"""The requests whose latency is measured, and a client with little overhead."""

import random
import re
import socket
import time
import urllib.parse
import uuid

from ingest import TEXT

LENGTH = re.compile(rb"(?i)\r\ncontent-length: (\d+)")
END_OF_CHUNKS = b"0\r\n\r\n"
RECEIVED_BYTES = 262_144


class Request:
    def __init__(self, method, path, user, body=""):
        self.method, self.path, self.user, self.body = method, path, user, body


class Connection:
    """Sends one request after the other."""

    def __init__(self, port, token):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.token = token

    def close(self):
        self.socket.close()

    def perform(self, request):
        """Returns the body. A response with an error ends the benchmark."""
        act_as = f"Hansard-Act-As: {request.user}\r\n" if request.user else ""
        content = f"Content-Type: application/json\r\nContent-Length: {len(request.body)}\r\n" if request.body else ""
        self.socket.sendall(
            f"{request.method} {request.path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self.token}\r\n"
            f"{act_as}{content}\r\n{request.body}".encode())
        received = self._receive()
        while b"\r\n\r\n" not in received:
            received += self._receive()
        head, body = received.split(b"\r\n\r\n", 1)
        length = LENGTH.search(head)
        while len(body) < int(length[1]) if length else not body.endswith(END_OF_CHUNKS):
            body += self._receive()
        if head[9:10] != b"2":
            raise RuntimeError(f"{request.method} {request.path}: {head[:15]!r} {body[:300]!r}")
        return body

    def _receive(self):
        received = self.socket.recv(RECEIVED_BYTES)
        if not received:
            raise RuntimeError("the server closed a connection")
        return received


class Requests:
    """Requests of random users who are members of rooms. They are sent by a service in the names of the users."""

    def __init__(self, rooms_of, texts, seed):
        self.rooms_of, self.texts, self.source = rooms_of, texts, random.Random(seed)
        self.users = list(rooms_of)

    def _user(self):
        return self.source.choice(self.users)

    def _member(self):
        user = self._user()
        return user, self.source.choice(self.rooms_of[user])

    def send(self):
        user, room = self._member()
        return Request("PUT", f"/v1/rooms/{room}/messages/{uuid.uuid4()}", user, f'{{"text":"{TEXT}"}}')

    def page(self):
        user, room = self._member()
        return Request("GET", f"/v1/rooms/{room}/messages?limit=30", user)

    def list(self):
        return Request("GET", "/v1/rooms?limit=30", self._user())

    def badge(self):
        return Request("GET", "/v1/badge", self._user())

    def search(self):
        return self._search(self.texts.any(self.source))

    def search_frequent(self):
        return self._search(self.texts.frequent(self.source))

    def search_prefix(self):
        return self._search(self.texts.prefix(self.source))

    def _search(self, words):
        return Request("GET", f"/v1/search?limit=30&q={urllib.parse.quote(words)}", self._user())


def one_by_one(perform, count):
    """The latencies of so many calls in microseconds, after some that fill caches."""
    latencies = []
    warm = max(1, count // 10)
    for number in range(warm + count):
        began = time.perf_counter()
        perform()
        if number >= warm:
            latencies.append((time.perf_counter() - began) * 1e6)
    return latencies
