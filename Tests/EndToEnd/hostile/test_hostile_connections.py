"""Clients that send invalid HTTP, flood a connection with frames, hold connections, or leave without waiting."""

import contextlib
import json
import os
import pathlib
import socket
import ssl
import struct
import time

import h2.events
import h2.settings
import pytest

from harness import certificates, cost
from harness.client import new_id
from harness.contract import contract
from harness.http2 import Http2, bearer, frame
from harness.people import World
from harness.server import PATIENT, UNLIMITED, Server
from harness.read_models import readiness
from harness.waiting import wait_until

PATIENCE_SECONDS = 90
HEADER_FIELDS = 100
# Limits.controlFrames, and a number of frames far beyond what time adds to the limit.
FRAMES = 1_000
FLOOD = 100_000
PER_ADDRESS = 40
STREAMS = 100
# Limits.readsOfUser and readsOfAddress.
READS = 16
READS_OF_ADDRESS = 256
# Messages per page, and (below) how many connections leave in each round while they receive pages.
PAGE = 100
# A page that takes milliseconds to read, and how often each connection cancels it, 0 to 6 ms after it was requested.
GIVEN_UP_PAGE, GIVEN_UP_CONNECTIONS, GIVEN_UP_READS = 17, 10, 30
LEAVING_CONNECTIONS = 8
# In each round the clients request 800 pages of more than 40 KB and read none. The memory must stop growing: within so
# many rounds, there must be two that together add less than this. All rounds together may add what a server that is busy
# for the first time adds.
LEAVING_ROUNDS, LEAVING_BYTES_OF_TWO_ROUNDS, LEAVING_BYTES = 12, 3 * cost.MIB, 64 * cost.MIB


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return certificates.make(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def secure(tmp_path_factory, certificate):
    environment = PATIENT | certificate.environment
    server = Server(
        tmp_path_factory.mktemp("tls") / "data", environment=environment, authority=str(certificate.authority)).start()
    yield server
    server.end()


# Invalid HTTP/1


class RawResponse:
    """One response, with the attributes that `Contract.check` uses."""

    def __init__(self, data: bytes):
        head, self.content = data.split(b"\r\n\r\n", 1)
        status, *fields = head.decode().split("\r\n")
        self.status_code = int(status.split()[1])
        self.headers = dict(field.split(": ", 1) for field in fields)
        self.text = self.content.decode()

    def json(self):
        return json.loads(self.content)


def raw(server: Server, data: bytes) -> bytes:
    """Everything that the server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.sendall(data)
        received = b""
        while piece := connection.recv(65_536):
            received += piece
        return received


def post(fields: bytes, body: bytes, path: bytes = b"/v1/sessions") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n" + fields + b"\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked\r\n"
MALFORMED = {
    "a chunk's size that is no number": post(CHUNKED, b"zz\r\n{}\r\n0\r\n\r\n"),
    "a later chunk's size that is no number": post(CHUNKED, b"1\r\n{\r\nzz\r\n}\r\n0\r\n\r\n"),
    "a chunk's size that is too large": post(CHUNKED, b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
    "Content-Length among trailers": post(CHUNKED, b"2\r\n{}\r\n0\r\nContent-Length: 2\r\n\r\n"),
    "chunks together with Content-Length": post(CHUNKED + b"Content-Length: 2\r\n", b"2\r\n{}\r\n0\r\n\r\n"),
    "two lengths": post(b"Content-Length: 2\r\nContent-Length: 3\r\n", b"{}"),
    "no host": b"GET /v1/me HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /v1/me HTTP/1.1\r\nHost: one\r\nHost: two\r\n\r\n",
    "the same host twice": b"GET /v1/me HTTP/1.1\r\nHost: one\r\nHost: one\r\n\r\n",
    "a host that is none": b"GET /v1/me HTTP/1.1\r\nHost: one two\r\n\r\n",
    "no request": b"nonsense\r\n\r\n",
}


@pytest.mark.parametrize("request_bytes", MALFORMED.values(), ids=MALFORMED)
def test_input_that_is_not_http_gets_a_problem_and_the_connection_ends(server, request_bytes):
    response = RawResponse(raw(server, request_bytes))
    assert (response.status_code, response.json()["code"]) == (400, "malformed_request")
    assert response.headers["Connection"].lower() == "close"
    assert int(response.headers["Content-Length"]) == len(response.content), "there is one response"
    contract().check("GET", f"{server.url}/nothing", response)


TRAILERS = b"".join(b"x-%d: 1\r\n" % number for number in range(HEADER_FIELDS + 1))
MALFORMED_BODIES = {
    "a chunk's size that is no number": (b"zz\r\n{}\r\n0\r\n\r\n", 400, "malformed_request"),
    "Content-Length among trailers": (b"2\r\n{}\r\n0\r\nContent-Length: 2\r\n\r\n", 400, "malformed_request"),
    "too many trailers": (b"2\r\n{}\r\n0\r\n" + TRAILERS + b"\r\n", 431, "headers_too_large"),
}


def logged(server: Server) -> str:
    return server.output.read_text() + server.errors.read_text()


def warnings(log: str) -> list[str]:
    return [line for line in log.splitlines() if " error hansard" in line or " warning hansard" in line]


@pytest.mark.parametrize(("body", "status", "code"), MALFORMED_BODIES.values(), ids=MALFORMED_BODIES)
@pytest.mark.parametrize("path", ["/v1/rooms", "/v1/media"])
def test_a_malformed_body_is_refused_and_not_logged_as_a_failure(server, anna, path, body, status, code):
    before = len(logged(server))
    fields = f"Authorization: Bearer {anna.token}\r\n".encode() + CHUNKED
    response = RawResponse(raw(server, post(fields, body, path=path.encode())))
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert not warnings(logged(server)[before:])


@pytest.mark.parametrize("body", [body for body, _, _ in MALFORMED_BODIES.values()], ids=MALFORMED_BODIES)
def test_an_ingest_that_is_not_http_ends_and_is_not_logged_as_a_failure(server, anna, body):
    before = len(logged(server))
    fields = f"Authorization: Bearer {anna.token}\r\n".encode() + CHUNKED
    request = post(fields, body, path=b"/v1/ingest").replace(b"application/json", b"application/x-ndjson")
    with contextlib.suppress(ConnectionError):
        assert raw(server, request).count(b"HTTP/1.1 ") <= 1
    cost.responds(server)
    assert not warnings(logged(server)[before:])


def test_a_request_refused_before_its_body_gets_one_response(server):
    received = raw(server, post(CHUNKED, b"zz\r\n", path=b"/v1/rooms"))
    assert received.startswith(b"HTTP/1.1 401 ") and received.count(b"HTTP/1.1 ") == 1


def test_input_that_is_not_http_waits_for_the_response_before_it(server):
    received = raw(server, b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n")
    first, second = received.index(b"HTTP/1.1 200 "), received.index(b"HTTP/1.1 400 ")
    assert first < second and received.count(b"HTTP/1.1 ") == 2


def test_version_1_0_needs_no_host(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_the_server_logs_no_failure_for_them(server):
    assert "a request failed" not in server.output.read_text() + server.errors.read_text()


@pytest.mark.parametrize("type", ["multipart/form-data; boundary=x", "Multipart/Form-Data"])
def test_a_malformed_form_is_not_stored_as_a_file(anna, type):
    before = os.urandom(8)
    anna.refused(
        "invalid_form", "POST", "/v1/media", data=b"--x\r\n\r\n" + before + b"\r\n--x--", headers={"Content-Type": type})
    assert anna.request("POST", "/v1/media", data=before, headers={"Content-Type": "image/png"}).status_code == 201


# TLS


def test_cipher_suites_of_tls_1_2_have_forward_secrecy(secure):
    def offers(suites: str) -> bool:
        context = ssl.create_default_context(cafile=secure.authority)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(suites)
        with socket.create_connection(("127.0.0.1", secure.port), timeout=PATIENCE_SECONDS) as plain:
            try:
                context.wrap_socket(plain, server_hostname="127.0.0.1").close()
                return True
            except (ssl.SSLError, ConnectionError):
                return False

    for suite in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"):
        assert offers(suite), suite
    for suite in ("ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA", "AES128-SHA", "AES128-GCM-SHA256"):
        assert not offers(f"{suite}:@SECLEVEL=0"), suite


# HTTP/2


def window_updates(count: int) -> bytes:
    return frame(0x8, struct.pack(">I", 1)) * count


@pytest.mark.parametrize(("count", "status"), [(HEADER_FIELDS - 1, 401), (HEADER_FIELDS, 401), (HEADER_FIELDS + 1, 431)])
def test_http2_has_the_same_number_of_header_fields(secure, count, status):
    with Http2(secure) as connection:
        fields = [(f"x-{number}", "1") for number in range(count)]
        assert connection.status(connection.request("/v1/me", *fields)) == status


FLOODS = {
    "WINDOW_UPDATE": window_updates(FLOOD),
    "frames of an unknown type": frame(0xFA, b"") * FLOOD,
    "PING": frame(0x6, b"12345678") * FLOOD,
    "SETTINGS": frame(0x4, b"") * FLOOD,
    "PRIORITY": frame(0x2, struct.pack(">IB", 0, 1), stream=1) * FLOOD,
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_of_frames_is_cut_off(secure, flood):
    with cost.costs_at_most(secure, 0.1), Http2(secure) as connection:
        assert connection.is_cut_off_by(flood)
    cost.responds(secure)


def test_frames_within_the_limits_are_accepted(secure):
    with Http2(secure) as connection:
        assert not connection.is_cut_off_by(window_updates(FRAMES - 100))
    with Http2(secure) as connection:
        assert connection.is_cut_off_by(window_updates(3 * FRAMES))


def test_streams_that_are_reset_at_once_are_cut_off(secure):
    """This attack is known as rapid reset: CVE-2023-44487."""
    with cost.costs_at_most(secure, 1.5), Http2(secure) as connection:
        reset = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS
        assert connection.status(connection.request("/healthz")) == 200
        assert connection.protocol.remote_settings[reset] == STREAMS
        burst = b""
        for _ in range(2_000):
            stream = connection.protocol.get_next_available_stream_id()
            head = [(":method", "GET"), (":scheme", "https"), (":authority", "h"), (":path", "/healthz")]
            connection.protocol.send_headers(stream, head, end_stream=True)
            connection.protocol.reset_stream(stream)
            burst += connection.protocol.data_to_send()
        assert connection.is_cut_off_by(burst)
    cost.responds(secure)


def test_a_connection_has_a_limited_number_of_streams(secure):
    """The server ends a connection whose client opens one more than that."""
    def opened() -> int:
        return connection.request("/v1/sessions", ("content-type", "application/json"), method="POST", ends=False)

    with Http2(secure) as connection:
        assert connection.status(connection.request("/healthz")) == 200
        streams = [opened() for _ in range(STREAMS)]
        # When a stream ends, a new one may be opened.
        connection.protocol.end_stream(streams[0])
        connection.flush()
        assert connection.status(streams[0]) == 400
        assert connection.status(connection.request("/healthz")) == 200
        opened()
        # Make the client ignore the server's limit.
        connection.protocol.remote_settings[h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS] = 2 * STREAMS
        connection.protocol.remote_settings.acknowledge()
        connection.request("/healthz")
        events = []
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while data := connection.socket.recv(65_536):
                events += connection.protocol.receive_data(data)
        assert [type(event) for event in events] == [h2.events.ConnectionTerminated]
    cost.responds(secure)


def test_empty_data_and_endless_heads_are_cut_off(secure):
    with cost.costs_at_most(secure, 0.2):
        with Http2(secure) as connection:
            stream = connection.request("/v1/sessions", method="POST", ends=False)
            assert connection.is_cut_off_by(frame(0x0, b"", stream=stream) * FLOOD)
        with Http2(secure) as connection:
            # A header block without an end, continued with empty frames: CVE-2024-27316.
            head = frame(0x1, b"", stream=1)
            assert connection.is_cut_off_by(head + frame(0x9, b"", stream=1) * FLOOD)


def leave_amid(server: Server, connections: int, path: str, *fields: tuple[str, str]) -> None:
    """Sends as many requests as the connections allow at once, and resets the connections, as the kernel does when a
    process ends."""
    with contextlib.ExitStack() as stack:
        for _ in range(connections):
            connection = stack.enter_context(Http2(server))
            for _ in range(STREAMS):
                stream = connection.protocol.get_next_available_stream_id()
                head = [(":method", "GET"), (":scheme", "https"), (":authority", "h"), (":path", path), *fields]
                connection.protocol.send_headers(stream, head, end_stream=True)
            connection.protocol.ping(b"12345678")
            connection.flush()
            # Waits until the server has received the requests.
            received = b""
            while frame(0x6, b"12345678", flags=1) not in received:
                received += connection.socket.recv(65_536)
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.alone
def test_clients_that_end_abruptly_leave_nothing_behind(secure):
    """No work, memory or connections are left: `h2load -c 100 -m 100 -D 2` on a page once added 150 MB per run."""
    anna = World(secure).user("Anna")
    room = anna.room("Tea")
    for _ in range(PAGE):
        anna.send(room, "x" * 400)
    path, token = f"{room.path}/messages?limit={PAGE}", ("authorization", f"Bearer {anna.token}")
    descriptors = pathlib.Path(f"/proc/{secure.process.pid}/fd")

    def sockets() -> int:
        """Connections to read models stay open, so only sockets are counted."""
        return sum("socket:" in os.readlink(each) for each in descriptors.iterdir() if each.is_symlink())

    with Http2(secure) as connection:
        assert connection.status(connection.request(path, token)) == 200
        with cost.measured(secure) as pages:
            for _ in range(20):
                assert connection.status(connection.request(path, token)) == 200
    cost.until_idle(secure)
    before = sockets()
    resident = [cost.resident_bytes(secure)]

    def grows() -> bool:
        limit = cost.memory_limit(LEAVING_BYTES_OF_TWO_ROUNDS)
        return len(resident) < 3 or resident[-1] - resident[-3] >= limit

    while grows() and len(resident) <= LEAVING_ROUNDS:
        with cost.measured(secure) as left:
            leave_amid(secure, LEAVING_CONNECTIONS, path, token)
            cost.until_idle(secure)
        everything = pages.seconds / 20 * LEAVING_CONNECTIONS * STREAMS
        assert left.seconds < everything / 2, f"{left.seconds:.2f} s, and all pages would take {everything:.2f} s"
        resident.append(cost.resident_bytes(secure))
    wait_until(lambda: sockets() <= before, "connections of clients that left are still open")
    measured = ", ".join(f"{each / cost.MIB:.1f}" for each in resident)
    assert not grows(), f"still growing, MiB before the first round and after each: {measured}"
    grown = resident[-1] - resident[0]
    assert grown < cost.memory_limit(LEAVING_BYTES), f"MiB before the first round and after each: {measured}"


def test_cancelled_reads_do_not_count_as_faults_of_a_read_model(secure):
    """Observed: SQLite's "interrupted" counted as a fault of the file, and `/readyz` responded with 503 for 15 s."""
    anna = World(secure).user("Anna")
    room = anna.room("Tea")
    for _ in range(GIVEN_UP_PAGE):
        anna.put(room.message(new_id()), {"type": "x", "data": "b" * 60_000})
    path = f"{room.path}/messages?limit=200"
    for _ in range(GIVEN_UP_CONNECTIONS):
        with Http2(secure) as connection:
            for number in range(GIVEN_UP_READS):
                stream = connection.request(path, bearer(anna))
                time.sleep(number * 0.0002)
                connection.protocol.reset_stream(stream)
                connection.flush()
        assert readiness(secure).status_code == 200, secure.tail()
    assert "cannot be read" not in secure.tail()


def page_of(room, texts: int = PAGE) -> str:
    return f"{room.path}/messages?limit={texts}"


def test_reads_of_one_user_wait_in_line_and_hold_up_nobody_else(secure):
    """A read keeps its slot until its client has taken the response. A read that waits for a slot gets 503 after a time."""
    anna, ben = World(secure).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    for _ in range(PAGE):
        anna.send(room, "x" * 2_000)
    with Http2(secure) as holder, Http2(secure) as waiter, Http2(secure) as other:
        held = [holder.request(page_of(room), bearer(anna)) for _ in range(READS + 4)]
        # As many requests as allowed get a response, and their client reads only the first bytes.
        statuses = holder.statuses(READS)
        assert len(statuses) == READS, "more than have a place"
        # Another user at the same address does not wait for them.
        for _ in range(5):
            assert other.status(other.request(page_of(room), bearer(ben))) == 200
        assert waiter.status(waiter.request("/v1/me", bearer(anna))) == 503
        holder.take_all(held, statuses)
        assert sorted(statuses.values()) == [200] * READS + [503] * 4
        assert waiter.status(waiter.request("/v1/me", bearer(anna))) == 200


def test_reads_of_many_users_of_one_address_hold_up_no_other_address(secure):
    world = World(secure)
    users = world.users(*(f"Anna {number}" for number in range(READS_OF_ADDRESS // READS + 1)))
    room = users[0].room("Tea", *users[1:])
    for _ in range(PAGE):
        users[0].send(room, "x" * 1_000)
    with contextlib.ExitStack() as stack:
        for user in users[:-1]:
            holder = stack.enter_context(Http2(secure))
            for _ in range(READS):
                holder.request(page_of(room), bearer(user))
            assert len(holder.statuses(READS)) == READS
        last = bearer(users[-1])
        waiter, other = stack.enter_context(Http2(secure)), stack.enter_context(Http2(secure, "127.0.0.2"))
        assert other.status(other.request(page_of(room), last)) == 200
        assert waiter.status(waiter.request(page_of(room), last)) == 503


# Connections of one address


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    environment = UNLIMITED | {"HANSARD_CONNECTIONS_PER_ADDRESS": str(PER_ADDRESS)}
    server = Server(tmp_path_factory.mktemp("narrow") / "data", environment=environment).start()
    yield server
    server.end()


def is_served(connection: socket.socket) -> bool:
    try:
        connection.settimeout(PATIENCE_SECONDS)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        return b" 200 " in connection.recv(4096)
    except ConnectionError:
        return False


def connect(server: Server, source: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), source_address=(source, 0))


def test_each_address_has_its_own_limit_of_connections(narrow):
    with contextlib.ExitStack() as stack:
        for number in range(PER_ADDRESS):
            connection = stack.enter_context(connect(narrow, "127.0.0.2"))
            assert is_served(connection), number
        with connect(narrow, "127.0.0.2") as one_more:
            assert not is_served(one_more)
        with connect(narrow, "127.0.0.3") as other:
            assert is_served(other)
        assert "127.0.0.2" in narrow.output.read_text() + narrow.errors.read_text(), "the operator is told"

    def is_free() -> bool:
        with connect(narrow, "127.0.0.2") as connection:
            return is_served(connection)

    wait_until(is_free, "the address gets no connection after its others were closed")


def client_hello() -> bytes:
    """The first message of a TLS handshake."""
    sent = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="127.0.0.1")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return sent.read()


def first_byte_after(hello: bytes, connection: socket.socket) -> bytes:
    """The first byte that the server sends; nothing if it closes the connection."""
    try:
        connection.settimeout(PATIENCE_SECONDS)
        connection.sendall(hello)
        return connection.recv(1)
    except ConnectionError:
        return b""


def test_a_connection_over_the_limit_costs_no_tls_handshake(tmp_path, certificate):
    environment = UNLIMITED | certificate.environment | {"HANSARD_CONNECTIONS_PER_ADDRESS": "2"}
    server = Server(tmp_path / "data", environment=environment, authority=str(certificate.authority)).start()
    # The type of the record that a ServerHello is in (RFC 8446, section 5.1).
    handshake, hello = b"\x16", client_hello()
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(2):
                assert first_byte_after(hello, stack.enter_context(connect(server, "127.0.0.2"))) == handshake
            assert first_byte_after(hello, stack.enter_context(connect(server, "127.0.0.2"))) == b""
            assert first_byte_after(hello, stack.enter_context(connect(server, "127.0.0.3"))) == handshake
    finally:
        server.end()


def test_a_trusted_proxy_has_no_limit_of_connections(tmp_path):
    environment = UNLIMITED | {
        "HANSARD_CONNECTIONS_PER_ADDRESS": "2", "HANSARD_PROXIES_TRUSTED": "127.0.0.0/30",
    }
    server = Server(tmp_path / "data", environment=environment).start()
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(5):
                assert is_served(stack.enter_context(connect(server, "127.0.0.2")))
            others = [stack.enter_context(connect(server, "127.0.0.9")) for _ in range(3)]
            # It is not certain which one is rejected: event loops accept connections concurrently.
            assert sorted(is_served(connection) for connection in others) == [False, True, True]
    finally:
        server.end()


# Thumbnails

# A replacement for vipsthumbnail: records that it runs, and does not end before the gate exists.
PROGRAM = """#!/bin/sh
echo $$ >> {runs}
while [ ! -e {gate} ]; do sleep 0.05; done
exit 1
"""
HEADER = "#!/bin/sh\necho width: 10\necho height: 10\n"
ASKED = 70


class Gallery:
    """A server whose thumbnails take as long as a test wants."""

    def __init__(self, folder: pathlib.Path):
        programs = folder / "programs"
        programs.mkdir(parents=True)
        self.runs, self.gate = folder / "runs", folder / "gate"
        self.runs.touch()
        for name, text in (
            ("vipsheader", HEADER), ("vipsthumbnail", PROGRAM.format(runs=self.runs, gate=self.gate)),
            ("prlimit", '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'),
        ):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        self.server = Server(folder / "data", environment=UNLIMITED | {"PATH": path}).start()
        self.world = World(self.server)

    def upload(self, person) -> str:
        content = b"\x89PNG\r\n\x1a\n" + os.urandom(32)
        response = person.request("POST", "/v1/media", data=content)
        assert response.status_code == 201, response.text
        return response.json()["id"]

    def request(self, person, media: str) -> socket.socket:
        """Requests a thumbnail without waiting for it."""
        connection = socket.create_connection(("127.0.0.1", self.server.port))
        connection.settimeout(PATIENCE_SECONDS)
        connection.sendall(
            f"GET /v1/media/{media}/thumbnail HTTP/1.1\r\nHost: h\r\n"
            f"Authorization: Bearer {person.token}\r\n\r\n".encode())
        return connection

    def running(self) -> list[int]:
        """Programs that have started and not ended."""
        started = [int(line) for line in self.runs.read_text().split()]
        return [process for process in started if pathlib.Path(f"/proc/{process}").exists()]


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    gallery = Gallery(tmp_path_factory.mktemp("gallery"))
    yield gallery
    gallery.gate.touch()
    gallery.server.end()


def test_thumbnails_of_one_user_leave_room_for_others_and_end_when_nobody_waits(gallery):
    anna, ben = gallery.world.user("Anna"), gallery.world.user("Ben")
    pictures = [gallery.upload(anna) for _ in range(ASKED)]
    own = gallery.upload(ben)
    with contextlib.ExitStack() as stack:
        requested = [stack.enter_context(gallery.request(anna, picture)) for picture in pictures]
        wait_until(lambda: len(gallery.running()) == 1, "no thumbnail is made")
        # Of the other requests, as many as allowed wait. The rest are told to try again.
        refused = [connection for connection in requested if has_response(connection, b" 503 ")]
        assert len(refused) >= 1
        assert len(gallery.running()) == 1, "one user has more than one thumbnail made at once"
        mine = stack.enter_context(gallery.request(ben, own))
        wait_until(lambda: len(gallery.running()) == 2, "the other user's thumbnail is not made")
        assert not has_response(mine, b" 503 ")
        began = len(gallery.runs.read_text().split())
    # All clients have left.
    wait_until(lambda: gallery.running() == [], "a thumbnail is still being made, but nobody waits for it")
    assert len(gallery.runs.read_text().split()) == began, "nothing began for who had left"
    cost.until_idle(gallery.server)
    # A cancelled thumbnail does not count as failed: it is made again on request.
    with gallery.request(anna, pictures[0]):
        wait_until(lambda: len(gallery.running()) == 1, "no thumbnail is made")
    wait_until(lambda: gallery.running() == [], "a thumbnail is still being made, but nobody waits for it")


def has_response(connection: socket.socket, status: bytes) -> bool:
    """Whether a response with that status arrives soon."""
    connection.settimeout(0.2)
    try:
        return status in connection.recv(4096)
    except TimeoutError:
        return False
    finally:
        connection.settimeout(PATIENCE_SECONDS)


def test_a_thumbnail_for_two_is_made_until_the_last_has_left(gallery):
    anna, ben = gallery.world.user("Anna"), gallery.world.user("Ben")
    content = b"\x89PNG\r\n\x1a\n" + os.urandom(32)
    pictures = [person.request("POST", "/v1/media", data=content).json()["id"] for person in (anna, ben)]
    first, second = gallery.request(anna, pictures[0]), gallery.request(ben, pictures[1])
    wait_until(lambda: len(gallery.running()) == 1, "no thumbnail is made")
    running = gallery.running()
    first.close()
    # The response to another request shows that the server has noticed that the first client left.
    cost.responds(gallery.server)
    time.sleep(0.3)
    assert gallery.running() == running
    second.close()
    wait_until(lambda: gallery.running() == [], "a thumbnail is still being made, but nobody waits for it")
