"""The ways to follow the changes of a user. Each is a class with the same few methods."""

import functools
import itertools
import json
import urllib.parse
from typing import NamedTuple

from ..contract import contract
from ..errors import documented_codes
from .wire import Connection, Lost, Refused

SEPARATOR = "\x1e"
# The beginnings of the packets of Socket.IO that count, and of the acknowledgement of a renewal.
PREFIXES = {"sync": '42["sync",', "end": '42["end",', "expiring": '42["expiring",'}
RENEWED_PREFIX = "431["
NAMES = {*PREFIXES, "ready"}
# How long a request waits for a change, in seconds.
WAIT_SECONDS = 20


class Frame(NamedTuple):
    """A page, a frame about the token (`expiring`, `ready`), or the last frame. All others have no name and no data."""

    name: str | None
    data: dict | None = None


OTHER = Frame(None)


# One page in so many is checked against the contract, which takes longer than everything else that a client does.
CHECKED = 16
pages = itertools.count()


@functools.lru_cache(maxsize=8192)
def parsed(text: str) -> dict:
    """The message. Clients that get the same text share one object, and never change it."""
    message = json.loads(text)
    if "type" not in message:
        if next(pages) % CHECKED == 0:
            contract().validate_named("SyncPage", message)
    elif message["type"] == "end":
        assert message["code"] in documented_codes() and message["detail"], message
    return message


class Stream:
    """An open stream. `frame` raises `Lost` if the connection ends without the frame `end`."""

    # Whether the server sends the frame `end` before it closes the connection.
    announces_end = True
    # Whether the client can renew its token within the stream.
    renews = False

    def __init__(self, port: int, token: str):
        self.port = port
        self.token = token
        self.connection: Connection | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def open(self, since: str | None, per_room: int | None, ticket: bool) -> None:
        """Connects, and continues from a cursor. `ticket`: whether to use a ticket instead of the token, if possible."""
        self.connection = await Connection.open(self.port)
        await self._open({"since": since, "perRoom": per_room}, ticket)

    async def _open(self, options: dict, ticket: bool) -> None:
        raise NotImplementedError

    async def frame(self) -> Frame:
        raise NotImplementedError

    async def renew(self, token: str) -> None:
        """Sends a new token. The frame `ready` follows."""
        raise NotImplementedError

    async def leave(self) -> None:
        """Ends the stream as the protocol describes it."""
        self.connection.close()

    def cut(self) -> None:
        if self.connection is not None:
            self.connection.cut()

    async def query(self, options: dict, ticket: bool) -> tuple[str, dict[str, str]]:
        """The query and the header fields of the request that opens the stream."""
        fields, headers = given(options), self.headers
        if ticket:
            body = await self.connection.call("POST", "/v1/sync/tickets", headers)
            fields, headers = fields | {"ticket": json.loads(body)["ticket"]}, {}
        return urllib.parse.urlencode(fields), headers


def given(options: dict) -> dict:
    return {name: value for name, value in options.items() if value is not None}


class LongPolling(Stream):
    announces_end = False

    async def _open(self, options: dict, ticket: bool) -> None:
        self.options = options
        # The first response comes at once.
        self.wait = 0

    async def frame(self) -> Frame:
        query = urllib.parse.urlencode(given(self.options | {"wait": self.wait}))
        page = parsed((await self.connection.call("GET", f"/v1/sync?{query}", self.headers)).decode())
        self.options["since"], self.wait = page["cursor"], 0 if page["more"] else WAIT_SECONDS
        return Frame("sync", page)


class Events(Stream):
    """Server-sent events."""

    async def _open(self, options: dict, ticket: bool) -> None:
        query, headers = await self.query(options, ticket)
        head = await self.connection.request("GET", f"/v1/sync/stream?{query}", headers)
        if head.status != 200:
            await self.connection.accepted(head, await self.connection.body(head))
        self.received = b""

    async def frame(self) -> Frame:
        while b"\n\n" not in self.received:
            chunk = await self.connection.chunk()
            if not chunk:
                raise Lost("the end of the body")
            self.received += chunk
        block, self.received = self.received.split(b"\n\n", 1)
        if block.startswith(b":"):
            return OTHER
        fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
        if fields["event"] not in NAMES:
            return OTHER
        data = parsed(fields["data"])
        assert fields.get("id") == data.get("cursor")
        return Frame(fields["event"], data)


class WebSocket(Stream):
    renews = True

    async def _open(self, options: dict, ticket: bool) -> None:
        if ticket:
            query, headers = await self.query(options, ticket)
            await self.connection.upgrade(f"/v1/sync/socket?{query}", headers)
        else:
            await self.connection.upgrade("/v1/sync/socket", {})
            message = {"type": "authenticate", "token": self.token} | given(options)
            await self.connection.send_text(json.dumps(message))

    async def frame(self) -> Frame:
        message = parsed(await self.connection.text())
        name = message.get("type", "sync")
        return Frame(name, message) if name in NAMES else OTHER

    async def renew(self, token: str) -> None:
        await self.connection.send_text(json.dumps({"type": "authenticate", "token": token}))

    async def leave(self) -> None:
        await self.connection.say_goodbye()
        self.connection.close()


class SocketIO(Stream):
    """Socket.IO over a WebSocket."""

    renews = True
    path = "/socket.io/?EIO=4&transport=websocket"

    async def _open(self, options: dict, ticket: bool) -> None:
        await self.connection.upgrade(self.path, {})
        await self.expect_handshake(await self.connection.text())
        await self.connection.send_text(self.connect_packet(options))

    async def frame(self) -> Frame:
        return await self.read(await self.connection.text())

    async def pong(self) -> None:
        await self.connection.send_text("3")

    async def renew(self, token: str) -> None:
        await self.connection.send_text(self.renewal(token))

    @staticmethod
    def renewal(token: str) -> str:
        return "421" + json.dumps(["authenticate", {"token": token}])

    async def leave(self) -> None:
        await self.connection.send_text("41")
        await self.connection.send_text("1")
        self.connection.close()

    def connect_packet(self, options: dict) -> str:
        return "40" + json.dumps({"token": self.token} | given(options))

    async def expect_handshake(self, packet: str) -> None:
        assert packet.startswith("0{"), packet
        self.sid = json.loads(packet[1:])["sid"]

    async def read(self, packet: str) -> Frame:
        """What a packet says to the client. Answers pings."""
        for name, prefix in PREFIXES.items():
            if packet.startswith(prefix):
                return Frame(name, parsed(packet[len(prefix):-1]))
        if packet.startswith(RENEWED_PREFIX):
            answer = json.loads(packet[len(RENEWED_PREFIX):-1])
            return Frame("ready", answer["body"]) if answer["status"] == 200 else OTHER
        if packet.startswith("44"):
            problem = json.loads(packet[2:])["data"]
            raise Refused(problem["status"], problem, 0)
        if packet == "2":
            await self.pong()
        return OTHER


class SocketIOPolling(SocketIO):
    announces_end = False
    # A request waits on the connection.
    renews = False
    path = "/socket.io/?EIO=4&transport=polling"

    async def _open(self, options: dict, ticket: bool) -> None:
        self.packets: list[str] = []
        await self.expect_handshake((await self.connection.call("GET", self.path, {})).decode())
        self.session = f"{self.path}&sid={self.sid}"
        await self.post(self.connect_packet(options))

    async def frame(self) -> Frame:
        if not self.packets:
            await self.poll()
        return await self.read(self.packets.pop(0))

    async def poll(self) -> None:
        packets = (await self.connection.call("GET", self.session, {})).decode().split(SEPARATOR)
        assert len(packets) <= 16, f"{len(packets)} packets in a response"
        self.packets += packets

    async def post(self, packet: str) -> None:
        assert await self.connection.call("POST", self.session, {}, packet.encode()) == b"ok"

    async def pong(self) -> None:
        await self.post("3")

    async def leave(self) -> None:
        await self.post(SEPARATOR.join(["41", "1"]))
        self.connection.close()


class SocketIOUpgrade(SocketIO):
    """Begins with polling, and upgrades to a WebSocket."""

    async def _open(self, options: dict, ticket: bool) -> None:
        polling = SocketIOPolling(self.port, self.token)
        polling.connection = self.connection
        await polling._open(options, ticket)
        # What came before the upgrade.
        self.packets = polling.packets
        socket = await Connection.open(self.port)
        try:
            await socket.upgrade(f"{self.path}&sid={polling.sid}", {})
            await socket.send_text("2probe")
            assert await socket.text() == "3probe"
            await polling.poll()
            await socket.send_text("5")
        except BaseException:
            socket.cut()
            raise
        polling.connection.close()
        self.connection = socket

    async def frame(self) -> Frame:
        return await self.read(self.packets.pop(0) if self.packets else await self.connection.text())


TRANSPORTS: dict[str, type[Stream]] = {
    "long polling": LongPolling, "events": Events, "WebSocket": WebSocket, "Socket.IO": SocketIO,
    "Socket.IO polling": SocketIOPolling, "Socket.IO upgrade": SocketIOUpgrade,
}
