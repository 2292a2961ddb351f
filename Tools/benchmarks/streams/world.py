"""A server with users and rooms, and what opens streams to it."""

import http.client
import json
import os
import uuid

from ingest import Server

UPGRADE = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
END_OF_HEAD = "\r\n\r\n"
# A pong of a client.
PONG = "\x8a\x80\0\0\0\0"
# A line of ingest has less than 300 bytes, a request 16 MiB at most.
LINES_AT_ONCE = 50_000


def frame(text):
    """A short text frame of a client. The mask is zero, so that it changes nothing."""
    return f"\x81{chr(0x80 | len(text))}\0\0\0\0{text}"


# How a stream is opened: the path, headers, what the server sends when it is open, and what keeps it alive.
KINDS = {
    "websocket": ("/v1/sync/socket?since={cursor}", UPGRADE, '"ready"', PONG),
    "sse": ("/v1/sync/stream?since={cursor}", "", ": open", ""),
    "socketio": ("/socket.io/?EIO=4&transport=websocket", UPGRADE, END_OF_HEAD, frame("3")),
}


def upgrade(path):
    """The request that opens a WebSocket which asks for no permission."""
    return f"GET {path} HTTP/1.1\r\nHost: bench\r\n{UPGRADE}\r\n"


class World:
    def __init__(self, *flags):
        # All clients have one address.
        os.environ["HANSARD_CONNECTIONS_PER_ADDRESS"] = "0"
        os.environ["HANSARD_CONNECTIONS_MAXIMUM"] = "40000"
        self.server = Server(os.environ["HANSARD_BIN"], *flags)
        self.process = self.server.process
        self.port = int(self.server.url.rsplit(":", 1)[1])
        # Messages have IDs of this run, which end with their number.
        self.run = str(uuid.uuid4())[:-12]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stop()

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def headers(self, user):
        return f"Host: bench\r\nAuthorization: Bearer {self.server.admin}\r\nHansard-Act-As: {user}\r\n"

    # MARK: Content

    def ingest(self, lines):
        """Sends the lines, and those that an overloaded server did not process once more."""
        connection, start = self.connection(), 0
        while start < len(lines):
            body = "\n".join(json.dumps(line) for line in lines[start:start + LINES_AT_ONCE])
            connection.request("POST", "/v1/ingest", body, {
                "Authorization": f"Bearer {self.server.admin}", "Content-Type": "application/x-ndjson"})
            results = [json.loads(result) for result in connection.getresponse().read().splitlines()]
            failed = next((result for result in results if result["status"] >= 300), None)
            if failed and failed["status"] != 503:
                raise SystemExit(f"a line failed: {failed}")
            start += failed["line"] - 1 if failed else len(results)
        connection.close()

    def users(self, count):
        users = [str(uuid.uuid4()) for _ in range(count)]
        self.ingest([
            {"op": "user.register", "id": user, "nickname": f"user {index}"} for index, user in enumerate(users)])
        return users

    def rooms(self, members):
        """Returns a new room for each list of members."""
        rooms = [str(uuid.uuid4()) for _ in members]
        lines = []
        for room, (first, *others) in zip(rooms, members):
            lines.append({"op": "room.create", "id": room, "name": "bench", "as": first})
            lines += [{"op": "member.join", "roomId": room, "as": other} for other in others]
        self.ingest(lines)
        return rooms

    # MARK: Requests

    def put(self, user, path, body):
        text = json.dumps(body)
        return (f"PUT {path} HTTP/1.1\r\n{self.headers(user)}Content-Type: application/json\r\n"
                f"Content-Length: {len(text)}\r\n\r\n{text}")

    def cursor(self, user):
        """The cursor at the head. It grants nothing, so it serves all users."""
        connection, page = self.connection(), {"more": True, "cursor": ""}
        while page["more"]:
            since = page["cursor"] and f"&since={page['cursor']}"
            connection.request("GET", f"/v1/sync?limit=1000{since}", headers={
                "Authorization": f"Bearer {self.server.admin}", "Hansard-Act-As": user})
            page = json.load(connection.getresponse())
        connection.close()
        return page["cursor"]

    def stream(self, user, kind, cursor):
        """The request that opens a stream."""
        path, headers, _, _ = KINDS[kind]
        return f"GET {path.format(cursor=cursor)} HTTP/1.1\r\n{self.headers(user)}{headers}\r\n"

    def open(self, load, users, kind, cursor):
        """Opens a stream for each user."""
        _, _, until, keep_alive = KINDS[kind]
        is_engine = kind == "socketio"
        load.open(
            self.port, [self.stream(user, kind, cursor) for user in users], until, keep_alive,
            message=frame(f'40{{"since":"{cursor}"}}') if is_engine else "", answer='40{"sid"' if is_engine else "")
