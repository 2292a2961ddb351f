"""What Apple's documentation requires of a request to APNs.

https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
"""

import json
import re
import uuid

from .push_service import Request

PAYLOAD_BYTES = 4_096
COLLAPSE_ID_BYTES = 64
# APNs stores notifications for at most 30 days. A later expiration must be in a wrong unit.
EXPIRATION_SECONDS = 30 * 86_400
TOKEN = re.compile(r"[0-9a-fA-F]{2,200}")
# The status for each documented reason.
STATUSES = {
    400: (
        "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
        "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken",
        "MissingTopic", "PayloadEmpty", "TopicDisallowed",
    ),
    403: (
        "BadCertificate", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "ExpiredProviderToken",
        "Forbidden", "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken",
    ),
    404: ("BadPath",),
    405: ("MethodNotAllowed",),
    410: ("ExpiredToken", "Unregistered"),
    413: ("PayloadTooLarge",),
    429: ("TooManyProviderTokenUpdates", "TooManyRequests"),
    500: ("InternalServerError",),
    503: ("ServiceUnavailable", "Shutdown"),
}
STATUS_OF = {reason: status for status, reasons in STATUSES.items() for reason in reasons}
PUSH_TYPES = {
    "alert", "background", "controls", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity",
    "pushtotalk", "widgets"}
TEXT, COUNT, FLAG = str, "a number from 0", "1"
# The keys of `aps` that a chat uses, with the types of their values.
APS = {
    "alert": (str, dict), "badge": COUNT, "sound": (str, dict), "thread-id": TEXT, "category": TEXT,
    "content-available": FLAG, "mutable-content": FLAG, "target-content-id": TEXT, "interruption-level": TEXT,
    "relevance-score": (int, float), "filter-criteria": TEXT,
}
ALERT = {
    "title": str, "subtitle": str, "body": str, "launch-image": str, "title-loc-key": str, "title-loc-args": list,
    "subtitle-loc-key": str, "subtitle-loc-args": list, "loc-key": str, "loc-args": list,
}
INTERRUPTION_LEVELS = {"passive", "active", "time-sensitive", "critical"}


class Refusal(Exception):
    """A request that APNs does not accept: the reason in the response, and what is wrong."""

    def __init__(self, reason: str, text: str):
        super().__init__(text)
        self.reason = reason


def device_token(request: Request) -> str:
    if request.method != "POST":
        raise Refusal("MethodNotAllowed", "the method is not POST")
    found = re.fullmatch(r"/3/device/(.*)", request.path)
    if not found:
        raise Refusal("BadPath", "the path is not /3/device/TOKEN")
    if not found[1]:
        raise Refusal("MissingDeviceToken", "no token in the path")
    if not TOKEN.fullmatch(found[1]) or len(found[1]) % 2:
        raise Refusal("BadDeviceToken", "the token is not hexadecimal")
    return found[1]


def check_headers(request: Request, topics: set[str]) -> None:
    for name in {name for name, _ in request.headers}:
        if (name.startswith("apns-") or name == "authorization") and len(request.all(name)) > 1:
            raise Refusal("DuplicateHeaders", f"{name} occurs twice")
    if (topic := request.header("apns-topic")) is None:
        if not request.has_certificate:
            raise Refusal("MissingTopic", "no apns-topic")
    elif not re.fullmatch(r"[A-Za-z0-9.-]+", topic):
        raise Refusal("BadTopic", f"apns-topic is {topic!r}")
    elif topic not in topics:
        raise Refusal("TopicDisallowed", f"apns-topic is {topic!r}")
    if (kind := request.header("apns-push-type")) not in PUSH_TYPES:
        raise Refusal("InvalidPushType", f"apns-push-type is {kind!r}")
    if (priority := request.header("apns-priority")) not in (None, "10", "5", "1"):
        raise Refusal("BadPriority", f"apns-priority is {priority!r}")
    if kind == "background" and priority != "5":
        raise Refusal("BadPriority", f"apns-priority of a background notification is {priority!r}")
    if (id := request.header("apns-id")) is not None and not is_canonical(id):
        raise Refusal("BadMessageId", f"apns-id is {id!r}")
    collapse = request.header("apns-collapse-id")
    if collapse is not None and not 0 < len(collapse.encode()) <= COLLAPSE_ID_BYTES:
        raise Refusal("BadCollapseId", f"apns-collapse-id has {len(collapse.encode())} bytes")


def check_expiration(request: Request, now: float) -> None:
    value = request.header("apns-expiration")
    if value in (None, "0"):
        return
    if not re.fullmatch(r"[0-9]+", value):
        raise Refusal("BadExpirationDate", f"apns-expiration is {value!r}")
    if not now < int(value) < now + EXPIRATION_SECONDS:
        raise Refusal("BadExpirationDate", f"apns-expiration is {int(value) - int(now)} s from now")


def is_canonical(id: str) -> bool:
    try:
        return str(uuid.UUID(id)) == id
    except ValueError:
        return False


def checked_payload(request: Request) -> dict:
    body = request.body
    if not body:
        raise Refusal("PayloadEmpty", "no payload")
    if len(body) > PAYLOAD_BYTES:
        raise Refusal("PayloadTooLarge", f"the payload has {len(body)} bytes")
    try:
        payload = json.loads(body)
    except ValueError as error:
        raise Refusal("PayloadEmpty", f"the payload is not JSON: {error}") from error
    if not isinstance(payload, dict) or not isinstance(payload.get("aps"), dict):
        raise Refusal("PayloadEmpty", "the payload has no object `aps`")
    if fault := aps_fault(payload["aps"], request.header("apns-push-type")):
        raise Refusal("PayloadEmpty", fault)
    return payload


def aps_fault(aps: dict, push_type: str) -> str | None:
    """What is wrong with `aps`, also if APNs itself would not notice it."""
    for key, value in aps.items():
        if key not in APS:
            return f"`aps` has the unknown key {key}"
        if not fits(value, APS[key]):
            return f"{key} is {value!r}"
    if isinstance(alert := aps.get("alert"), dict):
        for key, value in alert.items():
            if key not in ALERT or not isinstance(value, ALERT[key]):
                return f"`alert` has {key}: {value!r}"
    if aps.get("interruption-level", "active") not in INTERRUPTION_LEVELS:
        return f"interruption-level is {aps['interruption-level']!r}"
    if "mutable-content" in aps and "alert" not in aps:
        return "mutable-content without an alert has no effect"
    shows = {"alert", "badge", "sound"} & set(aps)
    if push_type == "background" and shows:
        return f"a background notification has {', '.join(sorted(shows))}"
    if push_type == "background" and "content-available" not in aps:
        return "a background notification has no content-available"
    if push_type == "alert" and not shows:
        return "a notification of the type alert has neither alert nor badge nor sound"
    return None


def fits(value, kind) -> bool:
    if kind == COUNT:
        return type(value) is int and value >= 0
    if kind == FLAG:
        return type(value) is int and value == 1
    return isinstance(value, kind) and not isinstance(value, bool)
