"""All push services at once, a server that uses them, and devices of each kind."""

import json
import pathlib
import random
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .certificates import Authority
from .client import new_id
from .people import Person
from .push_apns import KEY_ID, TEAM_ID, TOPIC, Apns, ApnsPush
from .push_fcm import Fcm, FcmPush
from .push_webpush import CONTACT, WebPush, WebPushes
from .resolved_names import ResolvedNames
from .server import UNLIMITED, Server

# Push services of browsers, which the server allows without a setting.
FIREFOX, CHROME = "updates.push.services.mozilla.com", "fcm.googleapis.com"
APNS, SANDBOX, FCM, WEB_PUSH = KINDS = ("apns", "sandbox", "fcm", "webPush")
CHANNEL = "messages"
# For servers whose clocks a test sets.
LONG_SESSIONS = {"HANSARD_ACCESS_TOKEN_LIFETIME": "604800"}
# The threads that send notifications, each with its own connections (`PushThreads`).
PUSH_THREADS = 2


@dataclass(frozen=True)
class Arrival:
    """A push that arrived at a service, in the same form for all of them."""

    service: str
    token: str
    # What the server says about the notification: `kind`, `roomId` and so on. All values of FCM are strings.
    fields: dict
    # The title and the text that a device shows without its app, if any.
    title: str | None
    body: str | None
    # How the service recognises a repeat, or an older notification to replace.
    identity: tuple
    is_delivered: bool
    push: ApnsPush | FcmPush | WebPush
    # When it arrived, in seconds of the monotonic clock.
    time: float

    @property
    def key(self) -> str:
        return self.fields["deliveryKey"]

    @property
    def position(self) -> int:
        return int(self.fields["position"])

    @property
    def badge(self) -> int:
        return int(self.fields["badge"])

    @property
    def kind(self) -> str:
        return self.fields["kind"]


@dataclass(frozen=True)
class Phone:
    """A device with a push token of one kind."""

    owner: Person
    id: str
    kind: str
    token: str


def arrival(service: str, push: ApnsPush | FcmPush | WebPush) -> Arrival:
    match push:
        case ApnsPush():
            fields = {name: value for name, value in push.payload.items() if name != "aps"}
            alert = push.aps.get("alert", {})
            shown, identity = (alert.get("title"), alert.get("body")), (push.id, push.collapse_id)
        case FcmPush():
            fields, shown = push.data, (push.notification.get("title"), push.notification.get("body"))
            identity = (push.collapse_key, push.android.get("notification", {}).get("tag"))
        case WebPush():
            fields, shown = push.payload, (push.payload.get("title"), push.payload.get("body"))
            identity = (push.topic,)
    return Arrival(service, push.token, fields, *shown, identity, push.is_delivered, push, time.monotonic())


class PushServices:
    """Stand-ins for all services."""

    # One of each provider.
    kinds = (APNS, FCM, WEB_PUSH)

    def __init__(self, authority: Authority, folder: pathlib.Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.authority = authority
        self.folder = folder
        self.apns, self.sandbox = Apns(authority), Apns(authority, sandbox=True)
        # A developer's key is for both.
        self.sandbox.key = self.apns.key
        self.fcm = Fcm(authority)
        self.browsers = WebPushes(authority, (FIREFOX, CHROME))
        self.all = dict(zip(KINDS, (self.apns, self.sandbox, self.fcm, self.browsers), strict=True))
        self._arrivals: list[Arrival] = []
        self._lock = threading.Lock()
        # Called with each arrival, one at a time, in a service's thread.
        self.on_arrival: Callable[[Arrival], None] = lambda arrived: None
        # Called with each push for whose response the server did not wait.
        self.on_give_up: Callable[[object], None] = lambda push: None
        for name, service in self.all.items():
            service.on_give_up = lambda push: self.on_give_up(push)
            service.on_push = lambda push, name=name: self._take(arrival(name, push))

    def _take(self, arrived: Arrival) -> None:
        with self._lock:
            self._arrivals.append(arrived)
            self.on_arrival(arrived)

    @property
    def faults(self) -> list[str]:
        return [f"{name}: {fault}" for name, service in self.all.items() for fault in service.faults]

    def arrivals(self, token: str | None = None) -> list[Arrival]:
        """What arrived, in order."""
        with self._lock:
            return [arrived for arrived in self._arrivals if token in (None, arrived.token)]

    def delivered(self, token: str | None = None) -> list[Arrival]:
        return [arrived for arrived in self.arrivals(token) if arrived.is_delivered]

    @property
    def open_connections(self) -> int:
        return sum(service.open_connections for service in self.all.values())

    @property
    def latency(self) -> Callable[[], float]:
        """How long responses wait, in seconds."""
        return self.apns.latency

    @latency.setter
    def latency(self, latency: Callable[[], float]) -> None:
        for service in self.all.values():
            service.latency = latency

    def fail_at_random(self, probability: float) -> None:
        """Each service responds to some notifications with an error of its own."""
        errors = {
            self.apns: lambda: "InternalServerError", self.sandbox: lambda: "InternalServerError",
            self.fcm: lambda: self.fcm.error("INTERNAL", headers={"retry-after": "1"}), self.browsers: lambda: 500}
        for service, error in errors.items():
            service.respond = lambda push, error=error: error() if random.random() < probability else None

    def expect_restart(self) -> None:
        """The server was restarted, so it makes new provider tokens early."""
        self.apns.expect_new_token()
        self.sandbox.expect_new_token()

    def close(self) -> None:
        for service in self.all.values():
            service.close()

    # MARK: The server

    def settings(self, **changes: dict) -> dict:
        """The settings with which an operator configures all providers. A provider that is None is left out."""
        settings = {
            "authoritiesFile": str(self.authority.file),
            "apns": {
                "keyFile": self._file("apns.p8", self.apns.key_pem), "keyID": KEY_ID, "teamID": TEAM_ID, "topic": TOPIC,
                "productionURL": self.apns.url, "sandboxURL": self.sandbox.url,
            },
            "fcm": {
                "keyFile": self._file("account.json", json.dumps(self.fcm.service_account).encode()),
                "url": self.fcm.url, "androidChannel": CHANNEL,
            },
            "webPush": {"keyFile": self._file("vapid.pem", self.browsers.key_pem), "subject": CONTACT},
        }
        for provider, change in changes.items():
            settings[provider] = None if change is None else settings[provider] | change
        return {"push": {name: value for name, value in settings.items() if value is not None}}

    def certificate_settings(self) -> dict:
        """The settings of APNs for a client certificate instead of a key."""
        made = self.authority.certificate("provider")
        return {
            "keyFile": None, "keyID": None, "teamID": None, "certificateFile": str(made.certificate),
            "certificateKeyFile": str(made.key),
        }

    def server(self, data: pathlib.Path, environment: dict[str, str] | None = None, **changes: dict) -> Server:
        """A server that sends to all services. `changes` are changes of the settings of each provider."""
        settings = self.settings(**changes)
        for name, value in settings["push"].items():
            if isinstance(value, dict):
                settings["push"][name] = {key: inner for key, inner in value.items() if inner is not None}
        config = self.folder / "config.json"
        config.write_text(json.dumps(settings))
        names = ResolvedNames(self.folder, self.browsers.ports).environment
        merged = UNLIMITED | names | (environment or {})
        if preloaded := (environment or {}).get("LD_PRELOAD"):
            merged["LD_PRELOAD"] = f"{names['LD_PRELOAD']} {preloaded}"
        return Server(data, "--config", config, environment=merged)

    def _file(self, name: str, content: bytes) -> str:
        path = self.folder / name
        path.write_bytes(content)
        path.chmod(0o600)
        return str(path)

    # MARK: Devices

    def registration(self, kind: str, origin: int | None = None) -> tuple[str, dict]:
        """A new token, and the body with which a device registers it. `origin` is the number of a push service of
        browsers."""
        match kind:
            case "apns" | "sandbox":
                token = secrets.token_hex(32)
                body = {"apnsToken": token, "apnsEnvironment": "production" if kind == APNS else "sandbox"}
            case "fcm":
                token = f"{secrets.token_urlsafe(16)}:APA91b{secrets.token_urlsafe(100)}"
                body = {"fcmToken": token}
            case _:
                browser = self.browsers.subscribe(secrets.randbelow(2) if origin is None else origin)
                token, body = browser.endpoint, {"webPush": browser.body}
        return token, body

    def phone(
        self, owner: Person, kind: str, origin: int | None = None, id: str | None = None, **settings
    ) -> Phone:
        """A device of the person. `settings` are further fields of its registration."""
        token, body = self.registration(kind, origin)
        phone = Phone(owner, id or new_id(), kind, token)
        owner.put(f"/v1/devices/{phone.id}", body | settings)
        return phone
