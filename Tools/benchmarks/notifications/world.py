"""A server with large rooms whose members have devices of all providers."""

import http.client
import json
import os
import pathlib
import secrets
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from ingest import TEXT, free_port
from streams.load import resident_bytes
from streams.world import World

from .programs import NAMES, PROVIDERS
from .progress import POLL_SECONDS, Progress

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd"))

from cryptography.hazmat.primitives.asymmetric import ec, rsa  # noqa: E402
from harness.certificates import Authority, private_pem  # noqa: E402
from harness.push_webpush import encoded, point  # noqa: E402
from harness.resolved_names import ResolvedNames  # noqa: E402

PROJECT = "example-chat"
REGISTERING_THREADS = 8
# A browser's subscription cannot name a port, so this push service of browsers resolves to the stand-in.
BROWSERS = "updates.push.services.mozilla.com"
LOOPBACK = "127.0.0.1"


class PushWorld(World):
    """`room` has all members. `rooms` has for each provider a room of the members whose devices are of that provider.
    The sender has no device. Nothing listens on `service_port` until a stand-in is started."""

    def __init__(self, members, devices, providers=PROVIDERS):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-push-", dir=ROOT / ".build"))
        authority = Authority(self.folder / "authority")
        self.certificate = authority.certificate("stand-in", LOOPBACK, BROWSERS)
        self.service_port = free_port()
        url = f"https://{LOOPBACK}:{self.service_port}"
        self.urls = {"apns": url, "fcm": url, "webPush": f"https://{BROWSERS}"}
        # Of the server and the bare client.
        self.environment = ResolvedNames(self.folder, {BROWSERS: self.service_port}).environment
        os.environ.update(self.environment)
        super().__init__("--config", str(self._settings()))
        self.number = 0
        try:
            self._populate(members, devices, providers)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        super().__exit__()
        for name in self.environment:
            del os.environ[name]
        shutil.rmtree(self.folder)

    # MARK: Settings

    def _file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        path.chmod(0o600)
        return str(path)

    def _settings(self):
        account = {
            "type": "service_account", "project_id": PROJECT, "private_key_id": "0123456789abcdef",
            "private_key": private_pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)).decode(),
            "client_email": f"push@{PROJECT}.iam.gserviceaccount.com", "token_uri": f"{self.urls['fcm']}/token"}
        # No limit on the rate, because that is what is measured.
        unlimited = {"requestsPerSecond": 1_000_000}
        settings = {"push": {
            "authoritiesFile": str(self.certificate.authority),
            "apns": unlimited | {
                "keyFile": self._file("apns.p8", private_pem(ec.generate_private_key(ec.SECP256R1()))),
                "keyID": "ABC123DEFG", "teamID": "DEF123GHIJ", "topic": "com.example.chat", "productionURL": self.urls["apns"]},
            "fcm": unlimited | {
                "keyFile": self._file("account.json", json.dumps(account).encode()), "url": self.urls["fcm"],
                "androidChannel": "messages"},
            "webPush": unlimited | {
                "keyFile": self._file("vapid.pem", private_pem(ec.generate_private_key(ec.SECP256R1()))),
                "subject": "mailto:push@example.com"}}}
        config = self.folder / "config.json"
        config.write_text(json.dumps(settings))
        return config

    # MARK: Users, rooms and devices

    def _populate(self, members, devices, providers):
        print(f"{members:,} members, {devices:,} devices", file=sys.stderr, flush=True)
        sender, *users = self.users(members)
        self.sender = sender
        groups = {provider: users[index::len(providers)] for index, provider in enumerate(providers)}
        rooms = self.rooms([[sender, *users], [sender], *([sender, *group] for group in groups.values())])
        self.room, self.quiet_room, *own = rooms
        self.rooms_of = dict(zip(providers, own))
        self.devices = dict.fromkeys(providers, 0)
        requests = []
        for number in range(devices):
            index = number % len(users)
            provider = providers[index % len(providers)]
            self.devices[provider] += 1
            requests.append((users[index], str(uuid.uuid4()), self._registration(provider)))
        self._register(requests)
        self.outbox = Outbox(pathlib.Path(self.server.data))

    def _registration(self, provider):
        match provider:
            case "apns": return {"apnsToken": secrets.token_hex(32)}
            case "fcm": return {"fcmToken": f"{secrets.token_urlsafe(16)}:APA91b{secrets.token_urlsafe(100)}"}
            case _:
                key = ec.generate_private_key(ec.SECP256R1())
                return {"webPush": {
                    "endpoint": f"{self.urls['webPush']}/push/{secrets.token_urlsafe(120)}",
                    "p256dh": encoded(point(key)), "auth": encoded(secrets.token_bytes(16))}}

    def _register(self, requests):
        progress, connections = Progress("devices registered", len(requests)), threading.local()

        def register(request):
            if not hasattr(connections, "own"):
                connections.own = self.connection()
            user, device, body = request
            self.call(connections.own, user, f"/v1/devices/{device}", body)

        with ThreadPoolExecutor(REGISTERING_THREADS) as pool:
            for number, _ in enumerate(pool.map(register, requests), 1):
                progress.show(number)

    def call(self, connection, user, path, body):
        connection.request("PUT", path, json.dumps(body), {
            "Authorization": f"Bearer {self.server.admin}", "Hansard-Act-As": user, "Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{path}: {response.status} {content.decode()}")
        return json.loads(content)

    # MARK: Messages

    def send(self, room, text=TEXT):
        """Sends a message and returns its position and when its response came, in seconds of the monotonic clock."""
        self.number += 1
        connection = self.connection()
        path = f"/v1/rooms/{room}/messages/{self.run}{self.number:012x}"
        position = self.call(connection, self.sender, path, {"text": text})["position"]
        connection.close()
        return position, time.monotonic()

    def wait_until_settled(self):
        """Waits until all outcomes are recorded and no notification waits."""
        while not self.outbox.is_empty:
            time.sleep(POLL_SECONDS)

    @property
    def resident(self):
        return resident_bytes(self.process)

    @property
    def mixture(self):
        return ", ".join(f"{count:,} {NAMES[provider]}" for provider, count in self.devices.items())


class Outbox:
    """The server's outbox, read from its file."""

    def __init__(self, data):
        file, = (data / "views").glob("push-v*.sqlite")
        # Each query is a transaction of its own, so that none keeps the server from truncating its write-ahead log.
        self.connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True, isolation_level=None, timeout=60)

    def _first(self, sql, *values):
        row = self.connection.execute(sql, values).fetchone()
        return row and row[0]

    def has(self, position):
        """Whether the notifications of this event were added to the outbox. They come in one transaction."""
        return self._first("SELECT 1 FROM outbox WHERE position = ? LIMIT 1", position) is not None

    @property
    def is_empty(self):
        return self._first("SELECT 1 FROM outbox LIMIT 1") is None

    @property
    def rows(self):
        return self._first("SELECT count(*) FROM outbox")

    @property
    def contents(self):
        """How many texts are stored, and their bytes."""
        return self.connection.execute("SELECT count(*), sum(length(CAST(text AS BLOB))) FROM pushContent").fetchone()

    @property
    def used_bytes(self):
        """Of the file, without its free pages."""
        pages = self._first("PRAGMA page_count") - self._first("PRAGMA freelist_count")
        return pages * self._first("PRAGMA page_size")
