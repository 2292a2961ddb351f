"""A stand-in for the push services of browsers (RFC 8030, 8291, 8292), and for the browsers that subscribe there."""

import base64
import json
import re
import secrets
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, replace

import http_ece
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from .certificates import Authority, private_pem
from .push_service import LOOPBACK, Ending, Reply, Request, Service

BODY_BYTES = 4_096
URGENCIES = ("very-low", "low", "normal", "high")
TOPIC = re.compile(r"[A-Za-z0-9_-]{1,32}")
VAPID = re.compile(r"vapid\s+(?=.*\bt=([A-Za-z0-9_.-]+))(?=.*\bk=([A-Za-z0-9_-]+))\w=[\w.-]+\s*,\s*\w=[\w.-]+")
VALID_SECONDS = 86_400
CONTACT = "mailto:push@example.com"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point(key) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


@dataclass(frozen=True)
class Subscription:
    """What a browser gets when it subscribes, and the private key, which it keeps."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey
    auth: bytes

    @property
    def body(self) -> dict:
        """The subscription as an app registers it."""
        return {"endpoint": self.endpoint, "p256dh": encoded(point(self.key)), "auth": encoded(self.auth)}

    def decrypt(self, body: bytes) -> bytes:
        return http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")


@dataclass(frozen=True)
class WebPush:
    """A message that met all requirements, decrypted."""

    endpoint: str
    content: bytes
    ttl: int
    urgency: str | None
    topic: str | None
    protocol: str
    connection: int
    status: int = 201
    ending: Ending = Ending.RESPONSE

    @property
    def token(self) -> str:
        return self.endpoint

    @property
    def payload(self) -> dict:
        return json.loads(self.content)

    @property
    def is_delivered(self) -> bool:
        return self.status == 201 and self.ending is Ending.RESPONSE


class Fault(Exception):
    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status


class WebPushes(Service):
    """Accepts every valid message. `respond` can return a status or a whole `Reply` instead of None."""

    def __init__(
        self, authority: Authority, hosts: tuple[str, ...] = (LOOPBACK,),
        protocols: tuple[str, ...] = ("h2", "http/1.1"), respond: Callable = lambda push: None,
    ):
        self.respond: Callable[[WebPush], int | Reply | None] = respond
        # The application server's key. Subscriptions only accept messages that are signed with this key.
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.subscriptions: dict[str, Subscription] = {}
        self.now: Callable[[], float] = time.time
        # The tokens that were verified, with their claims.
        self.vapid_tokens: dict[str, dict] = {}
        super().__init__(authority, protocols, hosts)

    @property
    def key_pem(self) -> bytes:
        return private_pem(self.key)

    def subscribe(self, origin: int = 0) -> Subscription:
        endpoint = f"{self.origins[origin]}/wpush/v2/{secrets.token_urlsafe(64)}"
        made = Subscription(endpoint, ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(16))
        self.subscriptions[endpoint] = made
        return made

    def answer(self, request: Request) -> Reply:
        try:
            push = self._checked(request)
        except Fault as fault:
            self.complain(request, str(fault))
            return Reply(fault.status)
        result = self.respond(push)
        reply = Reply(result) if isinstance(result, int) else result or Reply(201)
        self.record(replace(push, status=reply.status, ending=reply.ending))
        if reply.status == 201:
            headers = {"location": f"{request.origin}/m/{secrets.token_hex(16)}", "ttl": str(push.ttl)}
            reply = replace(reply, headers=headers | reply.headers)
        return reply

    def _checked(self, request: Request) -> WebPush:
        endpoint = request.origin + request.path
        if request.method != "POST":
            raise Fault(405, "the method is not POST")
        if endpoint not in self.subscriptions:
            raise Fault(404, "no such subscription")
        if request.header("host") != urllib.parse.urlsplit(request.origin).netloc:
            raise Fault(400, f"the host is {request.header('host')!r}")
        self._check_authorization(request)
        ttl, urgency, topic = (request.header(name) for name in ("ttl", "urgency", "topic"))
        if ttl is None or not re.fullmatch(r"[0-9]{1,10}", ttl):
            raise Fault(400, f"TTL is {ttl!r}")
        if urgency is not None and urgency not in URGENCIES:
            raise Fault(400, f"Urgency is {urgency!r}")
        if topic is not None and not TOPIC.fullmatch(topic):
            raise Fault(400, f"Topic is {topic!r}")
        if request.header("content-encoding") != "aes128gcm":
            raise Fault(400, f"Content-Encoding is {request.header('content-encoding')!r}")
        if len(request.body) > BODY_BYTES:
            raise Fault(413, f"the body has {len(request.body)} bytes")
        try:
            content = self.subscriptions[endpoint].decrypt(request.body)
        except Exception as error:
            raise Fault(400, f"the body cannot be decrypted: {error!r}") from error
        return WebPush(endpoint, content, int(ttl), urgency, topic, request.protocol, request.connection)

    def _check_authorization(self, request: Request) -> None:
        value = request.header("authorization") or ""
        if not (found := VAPID.fullmatch(value)):
            raise Fault(401, f"authorization is {value[:20]!r}")
        token, key = found.groups()
        if decoded(key) != point(self.key):
            raise Fault(403, "the subscription belongs to another key")
        if token not in self.vapid_tokens:
            try:
                self.vapid_tokens[token] = jwt.decode(
                    token, self.key.public_key(), algorithms=["ES256"],
                    options={
                        "verify_aud": False, "verify_exp": False, "verify_iat": False,
                        "require": ["exp", "aud", "sub"]})
            except jwt.PyJWTError as error:
                raise Fault(403, f"the token is not valid: {error}") from error
        claims = self.vapid_tokens[token]
        if claims["aud"] != request.origin:
            raise Fault(403, f"aud is {claims['aud']!r}")
        if not 0 < claims["exp"] - self.now() <= VALID_SECONDS:
            raise Fault(403, f"exp is {claims['exp'] - self.now():.0f} s from now")
        if not re.match(r"mailto:.+@.+|https://.+", claims["sub"]):
            raise Fault(403, f"sub is {claims['sub']!r}")
