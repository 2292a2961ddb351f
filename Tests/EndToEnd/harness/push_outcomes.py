"""The outcomes of notifications: at the stand-ins, in the log, and in `/readyz`."""

import pathlib

from .client import Api
from .command import audit, hansard, settle
from .push_phones import Arrival, Phone, PushServices
from .server import Server
from .waiting import wait_until

DELIVERED, DEAD = ("delivered", None), ("token_invalid", None)
REJECTED = ("abandoned", "rejected")


def recorded_position(receipt: dict) -> int:
    """The position of the event that a response reports. That of a message is where it was sent; `revision` is where it
    was last changed."""
    return max(receipt["position"], receipt.get("revision") or 0)


def arrives(services: PushServices, phone: Phone, event: dict) -> Arrival:
    """Waits until the device has got the notification of an event, and returns it."""
    def found() -> Arrival | None:
        arrived = (one for one in services.delivered(phone.token) if one.position == event["position"])
        return next(arrived, None)

    return wait_until(found, f"the {phone.kind} device gets no notification of {event['position']}")


def attempts(services: PushServices, phone: Phone, event: dict) -> list[Arrival]:
    """What was sent to the device because of an event, in order."""
    return [arrived for arrived in services.arrivals(phone.token) if arrived.position == event["position"]]


def check_badges_of_burst(badges: list[int], messages: int) -> None:
    """The badges of the notifications of some messages, in order. Each is of when it was sent, so it can include later
    messages."""
    assert badges == sorted(badges) and len(badges) == messages and badges[-1] == messages
    assert all(badge >= number for number, badge in enumerate(badges, 1))


def outcomes(server: Server, event: dict) -> dict[str, tuple]:
    """The outcome of the notification to each device, and its reason."""
    settle(server)
    shown = hansard("push", "explain", "--data", server.data, "--json", event["position"]).json
    return {row["deviceId"]: (row.get("outcome"), row.get("outcomeReason")) for row in shown["devices"]}


def responses(server: Server, event: dict) -> dict[str, str | None]:
    """What the provider responded to the notification of each device, if it was not delivered."""
    settle(server)
    shown = hansard("push", "explain", "--data", server.data, "--json", event["position"]).json
    return {row["deviceId"]: row.get("response") for row in shown["devices"]}


def comes_to(server: Server, event: dict, expected: dict[Phone, tuple]) -> None:
    """Waits until notifications of an event have these outcomes."""
    wanted = {phone.id: outcome for phone, outcome in expected.items()}
    wait_until(
        lambda: outcomes(server, event).items() >= wanted.items(),
        f"the outcomes of {event['position']} do not become {wanted}")


def silence(server: Server, event: dict, phone: Phone) -> str | None:
    """The reason why the device is not notified of an event."""
    settle(server)
    shown = hansard("push", "explain", "--data", server.data, "--json", event["position"]).json
    return next(row.get("reason") for row in shown["devices"] if row["deviceId"] == phone.id)


def recorded_outcomes(data: pathlib.Path) -> dict[tuple[int, str, str], dict]:
    """The outcomes in the log, by position, user and device."""
    return {
        (outcome["position"], outcome["user"], outcome["device"]): outcome
        for row in audit(data, "--type", "push.outcomes-recorded") for outcome in row["detail"]["outcomes"]}


def abandoned(data: pathlib.Path) -> dict[tuple[int, str, str], str]:
    """Why notifications were given up, by position, user and device."""
    return {
        notification: outcome["reason"] for notification, outcome in recorded_outcomes(data).items()
        if outcome["result"] == "abandoned"}


def without_token(data: pathlib.Path) -> set[tuple[int, str, str]]:
    """The notifications that were given up because the token was dead, or the device had none any more."""
    return {
        notification for notification, outcome in recorded_outcomes(data).items() if outcome["result"] == "token_invalid"}


def replaced(data: pathlib.Path) -> set[tuple[int, str, str]]:
    """The silent notifications that were given up because a later one has the same effect."""
    return {notification for notification, reason in abandoned(data).items() if reason == "replaced"}


def unnecessary(data: pathlib.Path) -> set[tuple[int, str, str]]:
    """Those, and the alerts of messages that the user had read before they could be sent."""
    return {
        notification for notification, reason in abandoned(data).items() if reason in ("replaced", "already_read")}


def invalidated(server: Server) -> set[str]:
    """The devices that lost a token because it was dead."""
    return {row["subject"] for row in audit(server.data, "--type", "push-token.invalidated")}


def provider(server: Server, name: str) -> dict:
    """What `/readyz` says about a provider."""
    readiness = Api(server).get("/readyz")
    return next(each for each in readiness["pushProviders"] if each["name"] == name)


def becomes(server: Server, name: str, state: str) -> dict:
    """Waits until a provider has this state."""
    def found() -> dict | None:
        shown = provider(server, name)
        return shown if shown["state"] == state else None

    return wait_until(found, f"{name} does not become {state}")
