"""What Google's documentation requires of a message that is sent with FCM's HTTP v1 API.

https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
"""

import json
import re

DATA_BYTES = 4_096
TTL_SECONDS = 28 * 86_400
FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure"
ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
# Status, canonical code and message of each documented error code.
ERRORS = {
    "UNSPECIFIED_ERROR": (500, "UNKNOWN", "An unknown error occurred."),
    "INVALID_ARGUMENT": (400, "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token"),
    "UNREGISTERED": (404, "NOT_FOUND", "Requested entity was not found."),
    "SENDER_ID_MISMATCH": (403, "PERMISSION_DENIED", "SenderId mismatch"),
    "QUOTA_EXCEEDED": (429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Send requests'."),
    "UNAVAILABLE": (503, "UNAVAILABLE", "The service is currently unavailable."),
    "INTERNAL": (500, "INTERNAL", "Internal error encountered."),
    "THIRD_PARTY_AUTH_ERROR": (401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service"),
}
STRINGS, ANY = "strings", "any"
# The fields of each object, with the types of their values. The JSON of Protocol Buffers allows lowerCamelCase and the
# names of the schema; the names here are in lowerCamelCase.
NOTIFICATION = {"title": str, "body": str, "image": str}
ANDROID_NOTIFICATION = NOTIFICATION | {
    "icon": str, "color": str, "sound": str, "tag": str, "clickAction": str, "bodyLocKey": str, "bodyLocArgs": list,
    "titleLocKey": str, "titleLocArgs": list, "channelId": str, "ticker": str, "sticky": bool, "eventTime": str,
    "localOnly": bool, "notificationPriority": str, "defaultSound": bool, "defaultVibrateTimings": bool,
    "defaultLightSettings": bool, "visibility": str, "notificationCount": int,
}
ANDROID = {
    "collapseKey": str, "priority": str, "ttl": str, "restrictedPackageName": str, "data": STRINGS,
    "notification": ANDROID_NOTIFICATION, "fcmOptions": {"analyticsLabel": str}, "directBootOk": bool,
}
APNS = {
    "headers": STRINGS, "payload": ANY, "fcmOptions": {"analyticsLabel": str, "image": str}, "liveActivityToken": str}
MESSAGE = {
    "token": str, "data": STRINGS, "notification": NOTIFICATION, "android": ANDROID, "apns": APNS,
    "webpush": {"headers": STRINGS, "data": STRINGS, "notification": ANY, "fcmOptions": {"link": str}},
    "fcmOptions": {"analyticsLabel": str},
}
RESERVED_KEY = re.compile(r"from|notification|message_type|google.*|gcm.*")
DURATION = re.compile(r"(\d+)(\.\d{1,9})?s")
# The ID of an app's installation, and what was issued to it.
TOKEN = re.compile(r"[\w-]+:[\w-]+", re.ASCII)


def message_of(body: bytes) -> tuple[dict, str | None]:
    """The message, with names in lowerCamelCase, and what is wrong with it."""
    try:
        request = json.loads(body)
    except ValueError as error:
        return {}, f"the body is not JSON: {error}"
    if not isinstance(request, dict) or not set(request) <= {"message", "validateOnly", "validate_only"}:
        return {}, f"the body is {request!r}"
    if not isinstance(request.get("message"), dict):
        return {}, "the body has no message"
    message, fault = checked("message", request["message"], MESSAGE)
    return message, fault or content_fault(message)


def checked(path: str, value: dict, schema: dict) -> tuple[dict, str | None]:
    normal: dict = {}
    for key, inner in value.items():
        name = re.sub(r"_([a-z])", lambda found: found[1].upper(), key)
        kind, place = schema.get(name), f"{path}.{name}"
        if kind is None:
            return normal, f"unknown field {place}"
        if name in normal:
            return normal, f"{place} occurs twice"
        normal[name] = inner
        if isinstance(kind, dict):
            if not isinstance(inner, dict):
                return normal, f"{place} is not an object"
            normal[name], fault = checked(place, inner, kind)
            if fault:
                return normal, fault
        elif kind == STRINGS:
            if not isinstance(inner, dict) or not all(isinstance(text, str) for text in inner.values()):
                return normal, f"{place} has a value that is not a string"
        elif kind != ANY and not isinstance(inner, kind):
            return normal, f"{place} is {inner!r}"
    return normal, None


def content_fault(message: dict) -> str | None:
    if not message.get("token"):
        return "message.token is missing"
    if not TOKEN.fullmatch(message["token"]):
        return "message.token is not a registration token"
    data, android = message.get("data", {}), message.get("android", {})
    for key in data:
        if RESERVED_KEY.fullmatch(key):
            return f"the key {key} of data is reserved"
    size = sum(len(key.encode()) + len(value.encode()) for key, value in data.items())
    size += len(json.dumps(message.get("notification", {}), ensure_ascii=False).encode())
    size += len(json.dumps(android.get("notification", {}), ensure_ascii=False).encode())
    if size > DATA_BYTES:
        return f"the message has {size} bytes"
    if android.get("priority", "HIGH").upper() not in ("HIGH", "NORMAL"):
        return f"android.priority is {android['priority']!r}"
    if "ttl" in android:
        found = DURATION.fullmatch(android["ttl"])
        if not found or int(found[1]) > TTL_SECONDS:
            return f"android.ttl is {android['ttl']!r}"
    count = android.get("notification", {}).get("notificationCount", 0)
    if isinstance(count, bool) or count < 0:
        return f"notification_count is {count!r}"
    return None


def error_body(code: str, is_device: bool = False) -> tuple[int, bytes]:
    """Status and body of a documented error. `is_device` is whether a quota of the device is exceeded, not one of the
    project."""
    status, canonical, usual = ERRORS[code]
    details = [{"@type": FCM_ERROR, "errorCode": code}]
    if code == "QUOTA_EXCEEDED":
        subject = f"projects/example-chat{'/devices/abc' if is_device else ''}"
        quota = "Device message rate" if is_device else "Message rate"
        details.append({
            "@type": QUOTA_FAILURE, "violations": [{"subject": subject, "description": f"{quota} quota exceeded"}]})
    return status, json.dumps({"error": {
        "code": status, "message": usual, "status": canonical, "details": details}}).encode()


def invalid_field(message: str) -> tuple[int, bytes]:
    """The response to a message whose form is wrong. It has no FcmError."""
    details = [{"@type": BAD_REQUEST, "fieldViolations": [{"field": "message", "description": message}]}]
    return 400, json.dumps({"error": {
        "code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": details}}).encode()


def permission_denied() -> tuple[int, bytes]:
    """The response if the service account may not send. It has no FcmError."""
    return 403, json.dumps({"error": {
        "code": 403, "message": "Permission 'cloudmessaging.messages.create' denied.", "status": "PERMISSION_DENIED",
    }}).encode()


def unauthenticated(reason: str = "ACCESS_TOKEN_EXPIRED") -> tuple[int, bytes]:
    details = [{"@type": ERROR_INFO, "reason": reason, "domain": "googleapis.com",
                "metadata": {"service": "fcm.googleapis.com"}}]
    return 401, json.dumps({"error": {
        "code": 401, "message": "Request had invalid authentication credentials.", "status": "UNAUTHENTICATED",
        "details": details}}).encode()
