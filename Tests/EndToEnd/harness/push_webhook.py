"""A webhook instead of the push services, for tests that run with both."""

import pathlib
import random
import secrets
import time
from collections.abc import Callable

from .push_phones import Arrival
from .receiver import Receipt, Receiver
from .server import UNLIMITED, Server

SECRET = b"a secret of more than sixteen bytes"
KINDS = ("apns", "fcm")


class WebhookService:
    """Has the same methods as `PushServices`, as far as `PushKills` needs them."""

    kinds = KINDS

    def __init__(self, folder: pathlib.Path):
        self.secret = folder / "secret"
        self.secret.write_bytes(SECRET)
        self.on_arrival: Callable[[Arrival], None] = lambda arrived: None
        self.error_probability = 0.0
        self.receiver = Receiver(SECRET, self._respond)
        self.receiver.on_receipt = lambda receipt: self.on_arrival(self._arrival(receipt))
        self.on_give_up: Callable[[object], None] = lambda push: None
        self.receiver.on_give_up = lambda receipt: self.on_give_up(receipt)

    @property
    def latency(self) -> Callable[[], float]:
        return self.receiver.latency

    @latency.setter
    def latency(self, latency: Callable[[], float]) -> None:
        self.receiver.latency = latency

    def _respond(self, body: dict) -> int:
        return 500 if random.random() < self.error_probability else 200

    def fail_at_random(self, probability: float) -> None:
        self.error_probability = probability

    def _arrival(self, receipt: Receipt) -> Arrival:
        body = receipt.body
        return Arrival(
            "webhook", body["token"], body, body.get("roomName"), body.get("text"), (receipt.key,), receipt.is_delivered,
            receipt, time.monotonic())

    @property
    def faults(self) -> list[str]:
        return self.receiver.faults

    @property
    def open_connections(self) -> int:
        return self.receiver.open_connections

    def expect_restart(self) -> None:
        pass

    def server(self, data: pathlib.Path) -> Server:
        return Server(
            data, "--push-webhook", self.receiver.url, "--push-secret-file", self.secret, environment=UNLIMITED)

    def registration(self, kind: str) -> tuple[str, dict]:
        token = secrets.token_hex(32)
        return token, {f"{kind}Token": token}

    def close(self) -> None:
        self.receiver.close()
