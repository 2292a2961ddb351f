"""The common part of the stand-ins for push services: a server on loopback with TLS, in a thread of its own.

It records every request. It can respond late or not at all, reset a stream, drop the connection, and send GOAWAY.
"""

import asyncio
import enum
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .certificates import Authority
from .push_http1 import Http1Connection
from .push_http2 import Http2Connection
from .server import reserved_port

LOOPBACK = "127.0.0.1"


class Ending(enum.Enum):
    """How a request ends."""

    RESPONSE = "response"
    # No response.
    SILENCE = "silence"
    # The stream is reset. With HTTP/1.1, the connection is closed.
    RESET = "reset"
    # The connection is closed without a response.
    DROP = "drop"


@dataclass(frozen=True)
class Reply:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    ending: Ending = Ending.RESPONSE
    # How long the response waits, in seconds.
    delay: float = 0
    # Whether the service announces with the response that the connection takes no further requests (GOAWAY, or
    # `Connection: close`).
    goes_away: bool = False
    # How many informational responses (1xx) come before it. Only HTTP/2.
    hints: int = 0


SILENCE, RESET, DROP = (Reply(ending=ending) for ending in (Ending.SILENCE, Ending.RESET, Ending.DROP))


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes
    # "h2" or "http/1.1".
    protocol: str
    # The origin to which the connection was made.
    origin: str
    # The number of the connection, from 1.
    connection: int
    # Whether the client has shown a certificate of the authority.
    has_certificate: bool

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def header(self, name: str) -> str | None:
        """The value of a header field, or None."""
        return next((value for key, value in self.headers if key == name), None)


class Service:
    """A stand-in for one push service, or for several of one kind."""

    def __init__(
        self, authority: Authority, protocols: tuple[str, ...] = ("h2", "http/1.1"),
        hosts: tuple[str, ...] = (LOOPBACK,), wants_certificate: bool = False,
    ):
        """`hosts` are the names under which clients reach the stand-in, each on a port of its own. A name other than
        127.0.0.1 is resolved to the port (`ResolvedNames`), so a URL with it has no port."""
        # The delay of responses that have no delay of their own, in seconds.
        self.latency: Callable[[], float] = lambda: 0
        # Called with each push that is recorded, in the service's thread.
        self.on_push: Callable[[object], None] = lambda push: None
        # Called with each push for whose response the client did not wait.
        self.on_give_up: Callable[[object], None] = lambda push: None
        # What was wrong with requests. A test ends with the check that this is empty.
        self.faults: list[str] = []
        self.pushes: list = []
        self.connections = 0
        # How many connections are open now.
        self.open_connections = 0
        # How many streams each new HTTP/2 connection may have open.
        self.max_streams = 1000
        self.protocols = protocols
        # After how many streams an HTTP/2 connection gets a GOAWAY.
        self.goaway_after: int | None = None
        # How many requests were not processed because their stream came after a GOAWAY.
        self.ignored = 0
        # Whether new connections are closed right after the handshake.
        self.is_down = False
        # How many connections were closed because of that.
        self.refused = 0
        self._transports: set[asyncio.Transport] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made = authority.certificate(type(self).__name__.lower(), LOOPBACK, *hosts)
        context.load_cert_chain(made.certificate, made.key)
        context.set_alpn_protocols(list(protocols))
        if wants_certificate:
            context.load_verify_locations(authority.file)
            context.verify_mode = ssl.CERT_OPTIONAL
        # They keep their ports while the service does not listen.
        self._sockets = [reserved_port() for _ in hosts]
        # The port of each host.
        self.ports = dict(zip(hosts, (socket.getsockname()[1] for socket in self._sockets), strict=True))
        self._context = context
        self._servers: list[asyncio.Server] = []
        self.listen()
        self._origins = {
            port: f"https://{host}:{port}" if host == LOOPBACK else f"https://{host}"
            for host, port in self.ports.items()}
        self.origins = list(self._origins.values())
        self.url = self.origins[0]

    def answer(self, request: Request) -> Reply:
        """Records the request and returns how it ends. Runs in the service's thread."""
        raise NotImplementedError

    def listen(self) -> None:
        self._servers = [self._await(self._open(port)) for port in self.ports.values()]

    def refuse_connections(self) -> None:
        """Refuses connections until `listen` is called again."""
        self._await(self._end())

    def drop_connections(self) -> None:
        """Closes all open connections, without a GOAWAY."""
        self._loop.call_soon_threadsafe(lambda: [transport.abort() for transport in list(self._transports)])

    def close(self) -> None:
        self._await(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        for socket in self._sockets:
            socket.close()

    def record(self, push) -> None:
        self.pushes.append(push)
        self.on_push(push)

    def taken(self) -> list:
        """All pushes that met the requirements, whether they were accepted or not."""
        return list(self.pushes)

    def delivered(self, token: str | None = None) -> list:
        """The accepted pushes, or those to this token."""
        return [push for push in self.taken() if push.is_delivered and token in (None, push.token)]

    def give_up(self, push) -> None:
        if push is not None:
            self.on_give_up(push)

    def complain(self, request: Request, text: str) -> None:
        self.faults.append(f"{request.method} {request.path}: {text}")

    # MARK: Connections

    async def _open(self, port: int) -> asyncio.Server:
        return await self._loop.create_server(
            lambda: _Connection(self), LOOPBACK, port, ssl=self._context, backlog=1024, reuse_address=True)

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        for transport in list(self._transports):
            transport.abort()
        # Lets the connections end before the loop does.
        deadline = time.monotonic() + 5
        while self._transports and time.monotonic() < deadline:
            await asyncio.sleep(0.01)

    def _await(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


class _Connection(asyncio.Protocol):
    """A connection, with the protocol that was negotiated in the handshake."""

    def __init__(self, service: Service):
        self.service = service
        self.exchange: Http1Connection | Http2Connection | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        service = self.service
        if service.is_down:
            service.refused += 1
            transport.abort()
            return
        tls = transport.get_extra_info("ssl_object")
        protocol = tls.selected_alpn_protocol() or Http1Connection.PROTOCOL
        if protocol not in service.protocols:
            service.faults.append(f"the client offers no protocol of {service.protocols}")
            transport.abort()
            return
        self.transport = transport
        service.connections += 1
        service.open_connections += 1
        service._transports.add(transport)
        port = transport.get_extra_info("sockname")[1]
        common = {
            "origin": service._origins[port], "connection": service.connections,
            "has_certificate": bool(tls.getpeercert()),
        }
        kind = Http2Connection if protocol == Http2Connection.PROTOCOL else Http1Connection

        def answer(method, path, headers, body) -> tuple[Reply, object]:
            known = len(service.pushes)
            reply = service.answer(Request(method, path, headers, body, kind.PROTOCOL, **common))
            push = service.pushes[-1] if len(service.pushes) > known else None
            return reply if reply.delay else replace(reply, delay=service.latency()), push

        self.exchange = kind(service, transport, answer)

    def data_received(self, data: bytes) -> None:
        if self.exchange:
            self.exchange.receive(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self.exchange:
            self.service.open_connections -= 1
            self.service._transports.discard(self.transport)
            self.exchange.lose()
