"""Streams through nginx, with the configuration that docs/operating.md shows."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

import pytest
import requests
import socketio
from websockets.exceptions import InvalidStatus

from harness.client import new_id
from harness.live_sockets import connect, open_socket
from harness.live_streams import STREAM, LiveClient, open_all, open_events
from harness.people import World
from harness.places import DOCS
from harness.server import UNLIMITED, Server, reserved_port
from harness.waiting import PATIENCE_SECONDS, wait_until

PAGE = DOCS / "operating.md"
NGINX = """
daemon off;
master_process off;
pid nginx.pid;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen 127.0.0.1:PORT;
LOCATIONS
  }
  server {
    listen 127.0.0.1:COMPRESSING;
    gzip on;
    gzip_min_length 0;
    gzip_types text/event-stream;
LOCATIONS
  }
}
"""


@dataclass
class Proxied:
    """The server as the clients of its proxy see it."""

    server: Server
    port: int
    # The port of the proxy that compresses event streams.
    compressing: int
    authority: None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return self.server.token


def locations() -> str:
    found = re.findall(r"^```\n(location .*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(found) == 2, f"{PAGE.name} shows {len(found)} locations"
    return "".join(found)


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "nginx is missing: install it with 'apt-get install nginx-light'"
    folder = tmp_path_factory.mktemp("nginx")
    server = Server(folder / "data", environment=UNLIMITED | {"HANSARD_PROXIES_TRUSTED": "127.0.0.1/32"}).start()
    holders = [reserved_port(), reserved_port()]
    port, compressing = (holder.getsockname()[1] for holder in holders)
    (folder / "nginx.conf").write_text(
        NGINX.replace("LOCATIONS", locations()).replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
        .replace("PORT", str(port)).replace("COMPRESSING", str(compressing)))
    with (folder / "nginx.errors").open("wb") as errors:
        nginx = subprocess.Popen([program, "-p", folder, "-c", "nginx.conf", "-e", "stderr"], stderr=errors)
    try:
        proxied = Proxied(server, port, compressing)
        wait_until(lambda: is_ready(proxied, nginx), "nginx does not respond")
        yield proxied
    finally:
        nginx.terminate()
        nginx.wait()
        for holder in holders:
            holder.close()
        server.end()


def is_ready(proxied: Proxied, nginx: subprocess.Popen) -> bool:
    assert nginx.poll() is None, "nginx ended"
    try:
        return requests.get(f"{proxied.url}/readyz", timeout=5).status_code == 200
    except requests.RequestException:
        return False


@pytest.fixture
def world(proxied):
    return World(proxied)


@pytest.mark.parametrize("open", [open_events, open_socket], ids=["events", "socket"])
def test_a_client_follows_and_resumes(anna, ben, room, open):
    client = LiveClient(ben.again(), open=open).begin()
    for number in range(3):
        anna.send(room, f"message {number}")
        client.check()
    client.drop()
    anna.send(room, "meanwhile")
    client.connect().check()


def test_a_small_event_passes_a_proxy_that_would_keep_it(proxied, anna, ben, room):
    # nginx sends nothing of what it compresses before it has much, unless the response says that it must not be buffered.
    url, headers = f"http://127.0.0.1:{proxied.compressing}{STREAM}", {"Authorization": f"Bearer {ben.token}"}
    received, has_sent = b"", False
    with requests.get(url, headers=headers, params={"include": "message"}, stream=True, timeout=PATIENCE_SECONDS) as stream:
        assert (stream.status_code, stream.headers["Content-Encoding"]) == (200, "gzip")
        for chunk in stream.iter_content(None):
            received += chunk
            if b": open\n\n" in received and not has_sent:
                has_sent = bool(anna.send(room, "hello"))
            if b'"hello"' in received:
                return
    raise AssertionError(f"the stream ended: {received}")


def test_streams_end_with_their_clients(anna):
    # These are all that a user can have.
    for _ in range(2):
        for stream in open_all(anna):
            stream.close()


def test_commands_and_pages_of_the_own_host(proxied, anna, room):
    with connect(anna, headers={"Origin": proxied.url}) as socket:
        socket.ready()
        socket.command("PUT", room.message(new_id()), {"text": "hello"})
    with pytest.raises(InvalidStatus, match="403"):
        connect(anna, headers={"Origin": "https://evil.example.org"})


@pytest.mark.parametrize("transports", [["polling"], ["polling", "websocket"]], ids=["polling", "upgrade"])
def test_socket_io(proxied, anna, ben, room, transports):
    client, texts = socketio.Client(reconnection=False), []
    # The first page also has a gap if the message comes while it is read.
    client.on("sync", lambda page: texts.extend(item["message"]["text"] for item in page["items"] if "message" in item))
    auth = {"token": ben.token, "include": ["message"]}
    client.connect(proxied.url, auth=auth, transports=transports, wait_timeout=PATIENCE_SECONDS)
    try:
        assert client.transport() == transports[-1]
        anna.send(room, "from Anna")
        command = {"method": "PUT", "path": room.message(new_id()), "body": {"text": "from Ben"}}
        assert client.call("command", command, timeout=PATIENCE_SECONDS)["status"] == 201
        wait_until(lambda: len(texts) == 2, "the messages do not come")
        assert texts == ["from Anna", "from Ben"]
    finally:
        client.disconnect()
