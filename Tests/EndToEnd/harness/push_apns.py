"""A stand-in for Apple's push service: HTTP/2 over TLS, with a provider token (ES256) or a client certificate."""

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from .certificates import Authority, private_pem
from .push_apns_rules import STATUS_OF, Refusal, check_expiration, check_headers, checked_payload, device_token
from .push_service import Ending, Reply, Request, Service

# A provider token is renewed at most every 20 minutes and is valid for 60 minutes.
RENEWAL_SECONDS, VALID_SECONDS = 20 * 60, 60 * 60
# By how much the client's clock may be ahead.
AHEAD_SECONDS = 60
TEAM_ID, KEY_ID, TOPIC = "DEF123GHIJ", "ABC123DEFG", "com.example.chat"


@dataclass(frozen=True)
class ApnsPush:
    """A notification that met all of Apple's requirements."""

    token: str
    id: str | None
    collapse_id: str | None
    push_type: str
    priority: int
    # In seconds since 1970; 0 if APNs must not store the notification.
    expiration: int
    topic: str | None
    payload: dict
    connection: int
    # The reason in the response, or None if the notification was accepted.
    reason: str | None = None
    ending: Ending = Ending.RESPONSE

    @property
    def aps(self) -> dict:
        return self.payload["aps"]

    @property
    def badge(self) -> int | None:
        return self.aps.get("badge")

    @property
    def is_delivered(self) -> bool:
        return self.reason is None and self.ending is Ending.RESPONSE


class Apns(Service):
    """Accepts every valid notification. `respond` can return the reason of an error, or a whole `Reply`, instead of
    None. Each reason stands for the documented status and body."""

    def __init__(self, authority: Authority, sandbox: bool = False, respond: Callable = lambda push: None):
        self.sandbox = sandbox
        self.respond: Callable[[ApnsPush], str | Reply | None] = respond
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.topics = {TOPIC}
        # The clock, in seconds since 1970.
        self.now: Callable[[], float] = time.time
        # The `iat` of each provider token, in the order in which they were first used.
        self.provider_tokens: list[int] = []
        self._known_tokens: dict[str, int] = {}
        self._renewed_at: int | None = None
        super().__init__(authority, protocols=("h2",), wants_certificate=True)

    @property
    def key_pem(self) -> bytes:
        """The key as the `.p8` file of the developer's account."""
        return private_pem(self.key)

    def expect_new_token(self) -> None:
        """Allows the next provider token to come early, because the server was restarted."""
        self._renewed_at = None

    def answer(self, request: Request) -> Reply:
        id = request.header("apns-id") or str(uuid.uuid4())
        try:
            token = device_token(request)
            check_headers(request, self.topics)
            self._check_authorization(request)
            check_expiration(request, self.now())
            payload = checked_payload(request)
        except Refusal as refusal:
            self.complain(request, f"{refusal.reason}: {refusal}")
            return self._error(refusal.reason, id)
        push = ApnsPush(
            token, request.header("apns-id"), request.header("apns-collapse-id"), request.header("apns-push-type"),
            int(request.header("apns-priority") or 10), int(request.header("apns-expiration") or 0),
            request.header("apns-topic"), payload, request.connection)
        result = self.respond(push)
        reply = self._error(result, id) if isinstance(result, str) else result or Reply()
        reason = json.loads(reply.body)["reason"] if reply.body else None
        self.record(replace(push, reason=reason, ending=reply.ending))
        if reply.status == 200:
            unique = {"apns-unique-id": str(uuid.uuid4())} if self.sandbox else {}
            reply = replace(reply, headers={"apns-id": id} | unique)
        return reply

    def error(self, reason: str, **options) -> Reply:
        """The documented response, with options of `Reply`."""
        reply = self._error(reason, str(uuid.uuid4()))
        return replace(reply, headers=reply.headers | options.pop("headers", {}), **options)

    def _error(self, reason: str, id: str) -> Reply:
        status = STATUS_OF[reason]
        body = {"reason": reason} | ({"timestamp": int(self.now() * 1000)} if status == 410 else {})
        # Apple sends GOAWAY when a server shuts down.
        return Reply(status, {"apns-id": id}, json.dumps(body).encode(), goes_away=reason == "Shutdown")

    # MARK: Provider tokens

    def _check_authorization(self, request: Request) -> None:
        value = request.header("authorization")
        if value is None:
            if request.has_certificate:
                return
            raise Refusal("MissingProviderToken", "neither a provider token nor a certificate")
        scheme, _, token = value.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Refusal("InvalidProviderToken", "authorization is not a bearer token")
        if token not in self._known_tokens:
            self._known_tokens[token] = self._checked_token(token)
        age = self.now() - self._known_tokens[token]
        if age > VALID_SECONDS:
            raise Refusal("ExpiredProviderToken", f"the provider token is {age:.0f} s old")

    def _checked_token(self, token: str) -> int:
        """Returns the `iat` of a token that was not used before."""
        try:
            header = jwt.get_unverified_header(token)
            claims = jwt.decode(
                token, self.key.public_key(), algorithms=["ES256"], options={"verify_iat": False, "require": ["iat"]})
        except jwt.PyJWTError as error:
            raise Refusal("InvalidProviderToken", str(error)) from error
        issued = claims["iat"]
        if header.get("kid") != KEY_ID or claims.get("iss") != TEAM_ID or type(issued) is not int:
            raise Refusal("InvalidProviderToken", f"{header}, {claims}")
        if issued > self.now() + AHEAD_SECONDS:
            raise Refusal("InvalidProviderToken", f"iat is {issued - self.now():.0f} s in the future")
        if self._renewed_at is not None and issued - self._renewed_at < RENEWAL_SECONDS:
            raise Refusal("TooManyProviderTokenUpdates", f"renewed after {issued - self._renewed_at} s")
        self._renewed_at = issued
        self.provider_tokens.append(issued)
        return issued
