"""A stand-in for Firebase Cloud Messaging (HTTP v1) and for Google's OAuth endpoint, both on one port."""

import json
import secrets
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, replace

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from .certificates import Authority, private_pem
from .push_apns_rules import COLLAPSE_ID_BYTES, aps_fault
from .push_fcm_rules import FCM_ERROR, error_body, invalid_field, message_of, permission_denied, unauthenticated
from .push_service import Ending, Reply, Request, Service

PROJECT = "example-chat"
EMAIL = f"push@{PROJECT}.iam.gserviceaccount.com"
SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
KEY_ID = "0123456789abcdef0123456789abcdef01234567"
# How long an assertion is valid at most, and by how much the client's clock may differ.
ASSERTION_SECONDS, CLOCK_SECONDS = 3_600, 60
ACCESS_TOKEN_SECONDS = 3_599
CONTENT_TYPE = {"content-type": "application/json; charset=UTF-8"}


@dataclass(frozen=True)
class FcmPush:
    """A message that met all of Google's requirements. The names in it are in lowerCamelCase."""

    token: str
    message: dict
    # The message as it arrived.
    body: dict
    # The number of the access token that the request had.
    access_token: int
    protocol: str
    connection: int
    # The error code in the response, or None if the message was accepted.
    error: str | None = None
    ending: Ending = Ending.RESPONSE

    @property
    def data(self) -> dict:
        return self.message.get("data", {})

    @property
    def android(self) -> dict:
        return self.message.get("android", {})

    @property
    def notification(self) -> dict:
        return self.message.get("notification", {}) | self.android.get("notification", {})

    @property
    def collapse_key(self) -> str | None:
        return self.android.get("collapseKey")

    @property
    def is_delivered(self) -> bool:
        return self.error is None and self.ending is Ending.RESPONSE


class Fcm(Service):
    """Accepts every valid message. `respond` can return an error code or a whole `Reply` instead of None."""

    def __init__(self, authority: Authority, respond: Callable = lambda push: None):
        self.respond: Callable[[FcmPush], str | Reply | None] = respond
        # Returns another response to a request for an access token, or None.
        self.respond_to_grant: Callable[[], Reply | None] = lambda: None
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.now: Callable[[], float] = time.time
        # How long access tokens are valid, in seconds, and the end of each.
        self.access_token_seconds = ACCESS_TOKEN_SECONDS
        self.access_tokens: dict[str, float] = {}
        # How many requests for an access token there were.
        self.grants = 0
        super().__init__(authority)

    @property
    def service_account(self) -> dict:
        """The key file of the service account."""
        return {
            "type": "service_account", "project_id": PROJECT, "private_key_id": KEY_ID,
            "private_key": private_pem(self.key).decode(), "client_email": EMAIL, "client_id": "123456789012345678901",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": self.token_url,
            "universe_domain": "googleapis.com",
        }

    @property
    def token_url(self) -> str:
        return f"{self.url}/token"

    def expire_access_tokens(self) -> None:
        """Rejects all current access tokens from now on, although they have not expired."""
        self.access_tokens = dict.fromkeys(self.access_tokens, 0)

    def answer(self, request: Request) -> Reply:
        if request.path == "/token":
            return self._grant(request)
        if request.path != f"/v1/projects/{PROJECT}/messages:send" or request.method != "POST":
            self.complain(request, "not the path of FCM")
            return Reply(404)
        number = self._access_token(request)
        if number is None:
            return _reply(unauthenticated())
        message, fault = message_of(request.body)
        fault = fault or self._type_fault(request) or apns_fault(message)
        if fault:
            self.complain(request, fault)
            return _reply(invalid_field(fault))
        body = json.loads(request.body)["message"]
        push = FcmPush(message["token"], message, body, number, request.protocol, request.connection)
        result = self.respond(push)
        reply = self.error(result) if isinstance(result, str) else result or self._accepted()
        error = None if reply.status == 200 else error_code(reply)
        self.record(replace(push, error=error, ending=reply.ending))
        return reply

    def error(self, code: str, is_device: bool = False, **options) -> Reply:
        """The documented response, with options of `Reply`."""
        status, body = error_body(code, is_device)
        return Reply(status, CONTENT_TYPE | options.pop("headers", {}), body, **options)

    def denied(self) -> Reply:
        """The response if the service account may not send."""
        return _reply(permission_denied())

    def _accepted(self) -> Reply:
        name = f"projects/{PROJECT}/messages/0:{secrets.randbelow(10**16)}%{secrets.token_hex(8)}"
        return _reply((200, json.dumps({"name": name}).encode()))

    def _type_fault(self, request: Request) -> str | None:
        found = (request.header("content-type") or "").partition(";")[0]
        return None if found == "application/json" else f"content-type is {found!r}"

    # MARK: OAuth

    def _access_token(self, request: Request) -> int | None:
        """The number of the access token, or None if it is not valid. An expired one is no fault, because a client can
        only see that in the response."""
        scheme, _, token = (request.header("authorization") or "").partition(" ")
        if scheme != "Bearer" or token not in self.access_tokens:
            self.complain(request, f"no access token, but {scheme!r}")
            return None
        if self.access_tokens[token] <= self.now():
            return None
        return list(self.access_tokens).index(token) + 1

    def _grant(self, request: Request) -> Reply:
        self.grants += 1
        if (reply := self.respond_to_grant()) is not None:
            return reply
        if fault := self._grant_fault(request):
            self.complain(request, fault)
            body = {"error": "invalid_grant", "error_description": f"Invalid JWT: {fault}"}
            return _reply((400, json.dumps(body).encode()))
        token = f"ya29.{secrets.token_urlsafe(60)}"
        self.access_tokens[token] = self.now() + self.access_token_seconds
        body = {"access_token": token, "expires_in": self.access_token_seconds, "token_type": "Bearer"}
        return _reply((200, json.dumps(body).encode()))

    def _grant_fault(self, request: Request) -> str | None:
        if request.method != "POST":
            return "the method is not POST"
        if request.header("content-type") not in (
                "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-8"):
            return f"content-type is {request.header('content-type')!r}"
        form = urllib.parse.parse_qs(request.body.decode(), strict_parsing=True)
        if form.get("grant_type") != [GRANT] or len(form.get("assertion", [])) != 1 or len(form) != 2:
            return f"the form has {sorted(form)}"
        try:
            header = jwt.get_unverified_header(form["assertion"][0])
            claims = jwt.decode(
                form["assertion"][0], self.key.public_key(), algorithms=["RS256"], audience=self.token_url,
                options={"verify_exp": False, "verify_iat": False, "require": ["iss", "scope", "exp", "iat", "aud"]})
        except jwt.PyJWTError as error:
            return str(error)
        if header.get("kid", KEY_ID) != KEY_ID:
            return f"kid is {header['kid']!r}"
        if claims["iss"] != EMAIL or claims["scope"] != SCOPE:
            return f"iss is {claims['iss']!r}, scope is {claims['scope']!r}"
        now = self.now()
        if not (now - ASSERTION_SECONDS < claims["iat"] <= now + CLOCK_SECONDS and now < claims["exp"]):
            return f"iat is {claims['iat'] - now:.0f} s from now, exp {claims['exp'] - now:.0f} s"
        if claims["exp"] - claims["iat"] > ASSERTION_SECONDS:
            return f"exp is {claims['exp'] - claims['iat']} s after iat"
        return None


def error_code(reply: Reply) -> str:
    """The error code of FCM in a response, or its status."""
    try:
        details = json.loads(reply.body)["error"].get("details", [])
        return next(detail["errorCode"] for detail in details if detail["@type"] == FCM_ERROR)
    except (ValueError, KeyError, StopIteration):
        return str(reply.status)


def apns_fault(message: dict) -> str | None:
    """What is wrong with the part that FCM hands to APNs."""
    apns = message.get("apns", {})
    headers = {name.lower(): value for name, value in apns.get("headers", {}).items()}
    if len(headers.get("apns-collapse-id", "").encode()) > COLLAPSE_ID_BYTES:
        return "apns-collapse-id is too long"
    kind = headers.get("apns-push-type", "alert")
    if kind == "background" and headers.get("apns-priority") != "5":
        return "apns-priority of a background notification is not 5"
    aps = apns.get("payload", {}).get("aps")
    # FCM adds the notification of the message as the alert.
    shown = {"alert": {}} if "notification" in message else {}
    return None if aps is None else aps_fault(shown | aps, kind)


def _reply(response: tuple[int, bytes]) -> Reply:
    status, body = response
    return Reply(status, CONTENT_TYPE, body)
