"""Kills while notifications go out: none is lost, and none is sent again whose outcome was in the log.

`Tools/push-kills` does the same with more kills, notifications and devices.
"""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.command import check_data
from harness.push_kills import RECORDING_SECONDS, Caused, Device, Plan, PushKills
from harness.push_phones import Arrival, PushServices
from harness.push_settled import Settled
from harness.push_webhook import WebhookService

PLAN = Plan(kills=5, notifications=600, devices=60, seed=46)


def check(services, server, plan: Plan) -> None:
    server.start()
    run = PushKills(services, server, plan)
    try:
        run.perform()
    finally:
        server.end()
        services.close()
    assert not run.problems, run.report()
    # There was something to lose and something to repeat.
    assert run.kills == plan.kills and len(run.required) >= plan.notifications * 3 // 4
    assert run.counts["repeats"] > 0 and run.counts["retries"] > 0
    # The log had to have some outcomes at a kill.
    assert run.counts["due"] > 0
    assert all(run.counts[f"of {kind}"] > 0 for kind in ("message", "sent", "update"))
    check_data(server.data)


def test_kills_lose_and_repeat_nothing_at_the_push_services(tmp_path, authority):
    services = PushServices(authority, tmp_path / "push")
    check(services, services.server(tmp_path / "data"), PLAN)


def test_kills_lose_and_repeat_nothing_at_a_webhook(tmp_path):
    services = WebhookService(tmp_path)
    check(services, services.server(tmp_path / "data"), replace(PLAN, kills=3, notifications=200, faults=0.05))


# MARK: The check itself

LATE_SECONDS = RECORDING_SECONDS + 0.001
DEVICE = Device("anna", "phone", "apns", "a1")
FIELDS = {"deliveryKey": "k1", "position": 7, "badge": 1, "kind": "message"}
FIRST = Arrival("apns", "a1", FIELDS, "Tea", "hello", ("id", None), True, object(), 0.0)


def checked(
    *arrived: tuple[int, Arrival], settled: Settled = Settled(), killed: float = RECORDING_SECONDS,
    run: PushKills | None = None,
) -> PushKills:
    """A run in which the server was killed once, `killed` seconds after the first arrival."""
    run = run or PushKills(None, None, PLAN)
    run.arrived = list(arrived)
    run.settled = [settled]
    run.killed = [FIRST.time + killed]
    run.by_token = {"a1": DEVICE}
    run._check_repeats()
    return run


def test_a_repeat_after_a_kill_is_no_problem():
    run = checked((0, FIRST), (1, FIRST))
    assert run.problems == [] and run.counts["repeats"] == 1
    run = PushKills(None, None, PLAN)
    run.given_up = {id(FIRST.push)}
    assert checked((0, FIRST), (0, FIRST), run=run).counts["late"] == 1
    run = checked((0, replace(FIRST, is_delivered=False)), (0, FIRST))
    assert run.problems == [] and run.counts["retries"] == 1
    run = PushKills(None, None, PLAN)
    run.given_up = {id(FIRST.push)}
    run = checked((0, FIRST), (1, FIRST), killed=LATE_SECONDS, run=run)
    assert run.problems == [] and run.counts["repeats"] == 1


OTHER = {name: FIELDS | {name: value} for name, value in {"deliveryKey": "k2", "position": 8}.items()}


@pytest.mark.parametrize(("second", "settled", "killed", "problem"), [
    ((0, FIRST), Settled(), 0, "arrives twice without a kill"),
    ((1, FIRST), Settled(through=7), 0, "although its outcome was in the log"),
    ((1, FIRST), Settled(single={(7, "anna", "phone")}), 0, "although its outcome was in the log"),
    ((1, FIRST), Settled(), LATE_SECONDS, "was not recorded in time"),
    ((1, replace(FIRST, identity=("other", None))), Settled(), 0, "arrives as"),
    ((1, replace(FIRST, fields=OTHER["position"])), Settled(), 0, "arrives as"),
    ((1, replace(FIRST, fields=OTHER["deliveryKey"])), Settled(), 0, "1 notifications have 2 delivery keys"),
])
def test_each_wrong_repeat_is_found(second, settled, killed, problem):
    problems = checked((0, FIRST), second, settled=settled, killed=killed).problems
    assert problems and problem in problems[0]


TEA, CAKE = "tea", "cake"
CAUSED = {(7, "a1"): Caused("message", TEA, DEVICE), (8, "a1"): Caused("update", TEA, DEVICE)}
UPDATE = replace(
    FIRST, fields={"deliveryKey": "k2", "position": 8, "badge": 0, "kind": "update", "roomId": TEA}, title=None, body=None)
ALERT = replace(FIRST, fields=FIELDS | {"roomId": TEA})


def run_of(*arrived: Arrival, caused: dict[tuple[int, str], Caused] = CAUSED) -> PushKills:
    run = PushKills(None, None, PLAN)
    run.arrived = [(0, one) for one in arrived]
    run.caused, run.by_token = caused, {"a1": DEVICE}
    return run


@pytest.mark.parametrize(("settled", "unrecorded"), [
    (Settled(), {(7, "a1"), (8, "a1")}), (Settled(through=7), {(8, "a1")}), (Settled(through=8), set()),
    (Settled(through=7, single={(8, "anna", "phone")}), set()),
])
def test_an_outcome_that_is_never_recorded_is_found(monkeypatch, settled, unrecorded):
    run = run_of()
    run.server = SimpleNamespace(data=None)
    monkeypatch.setattr("harness.push_kills.recorded", lambda data: settled)
    assert run._unrecorded() == unrecorded


@pytest.mark.parametrize(("arrived", "problem"), [
    (ALERT, None), (UPDATE, None),
    (replace(ALERT, token="b1"), "that it does not concern"),
    (replace(ALERT, fields=ALERT.fields | {"position": 9}), "that it does not concern"),
    (replace(ALERT, fields=ALERT.fields | {"kind": "sent"}), "is a message"),
    (replace(ALERT, fields=ALERT.fields | {"roomId": CAKE}), "is a message in tea"),
    (replace(ALERT, body=None), "has the text None"),
    (replace(UPDATE, body="hello"), "has the text 'hello'"),
])
def test_each_notification_of_the_wrong_kind_is_found(arrived, problem):
    run = run_of(arrived)
    run._check_kinds()
    assert [problem in found for found in run.problems] == ([True] if problem else [])


@pytest.mark.parametrize(("position", "later", "problem"), [
    (8, Caused("update", TEA, DEVICE), None),
    (8, Caused("update", CAKE, DEVICE), "nothing comes after the update"),
    (8, Caused("sent", TEA, DEVICE), "nothing comes after the update"),
    (7, Caused("message", TEA, DEVICE), "the message at 7 was replaced"),
])
def test_only_a_later_notification_of_the_same_kind_and_room_replaces_a_silent_one(position, later, problem):
    run = run_of(caused=CAUSED | {(9, "a1"): later})
    run._check_replaced({(position, DEVICE.user, DEVICE.id)})
    assert [problem in found for found in run.problems] == ([True] if problem else [])


@pytest.mark.parametrize(("position", "later", "problem"), [
    (7, Caused("update", TEA, DEVICE), None),
    (7, Caused("sent", TEA, DEVICE), None),
    (7, Caused("update", CAKE, DEVICE), "but was not"),
    (7, Caused("message", TEA, DEVICE), "but was not"),
    (9, Caused("update", TEA, DEVICE), "the update at 9 was dropped as read"),
])
@pytest.mark.parametrize("recorded", [12, 8])
def test_only_the_notification_of_a_message_that_was_read_later_is_dropped(position, later, problem, recorded):
    run = run_of(caused={(7, "a1"): Caused("message", TEA, DEVICE), (9, "a1"): later})
    run._check_read({(position, DEVICE.user, DEVICE.id): recorded})
    if recorded < 9:
        problem = problem or "but was not"
    assert [problem in found for found in run.problems] == ([True] if problem else [])
