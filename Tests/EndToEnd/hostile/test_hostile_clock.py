"""The server's clock jumps ahead and comes back, and a log that was written in between is opened again.

No test waits for the clock, because `ShiftedClock` sets it. To show that something is not sent, a test sends something
else that would come after it.
"""

import base64
import datetime
import json
import time

import pytest

from harness.client import new_id
from harness.command import audit, hansard
from harness.people import Room, World
from harness.receiver import Receiver
from harness.server import UNLIMITED, Server
from harness.shifted_clock import DAY, ShiftedClock
from harness.times import later, now, parse, within_one_day
from harness.waiting import wait_until

AHEAD = 400 * DAY
# How many messages a user of these tests may send in a day.
QUOTA = 12
# The server's limits (Limits.swift), in seconds.
JUMP = 5 * 60
HELD = 10 * 60
TOKEN_SECONDS = 900
# How far a time that is read over HTTP may be off on a busy machine, in seconds.
NEAR = 120
PATIENCE_SECONDS = 90
SECRET = b"a secret of more than sixteen bytes"


@pytest.fixture
def clock(tmp_path):
    return ShiftedClock(tmp_path)


@pytest.fixture
def clock_server(tmp_path, clock):
    """A server whose clock the test sets. It is not started yet."""
    settings = {
        "HANSARD_QUOTAS_ENABLED": "true", "HANSARD_QUOTAS_MESSAGES_PER_DAY": str(QUOTA),
        "HANSARD_PUSH_FILE": str(tmp_path / "notifications")}
    server = Server(tmp_path / "data", environment=UNLIMITED | settings | clock.environment)
    yield server
    server.end()


def readiness(server: Server) -> dict:
    return World(server).nobody.get("/readyz")


def claims(access_token: str) -> dict:
    body = access_token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def is_near(moment: str, ahead: int = 0) -> bool:
    """Whether the time is now, or this many seconds from now."""
    expected = now() + datetime.timedelta(seconds=ahead)
    return abs((parse(moment) - expected).total_seconds()) < NEAR


def schedule(person, room: Room, **duration) -> str:
    id = new_id()
    person.put(f"{room.path}/scheduled-messages/{id}", {"text": "later", "sendAt": later(**duration)})
    return id


def pending(person, room: Room) -> list[str]:
    return [message["id"] for message in person.get(f"{room.path}/scheduled-messages")["scheduledMessages"]]


def wait_until_sent(person, room: Room, id: str) -> dict:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        response = person.request("GET", room.message(id))
        if response.status_code == 200:
            return response.json()
        assert time.monotonic() < deadline, f"{id} was not sent in {PATIENCE_SECONDS} s"
        time.sleep(0.02)


def retry_after(person, room: Room) -> int:
    """The `Retry-After` of a message beyond the quota, in seconds."""
    response = person.request("PUT", room.message(new_id()), {"text": "too many"})
    assert response.json()["code"] == "quota_exceeded"
    return int(response.headers["Retry-After"])


def requires_a_sane_server(world: World, anna, ben, room: Room) -> None:
    """Tokens, invites, scheduled messages, quotas and times are as if the clock had never been wrong."""
    tokens = world.acting_as(anna.id).post("/v1/sessions", {})
    assert claims(tokens["accessToken"])["exp"] - time.time() <= TOKEN_SECONDS + NEAR
    assert tokens["expiresIn"] <= TOKEN_SECONDS
    anna.token = tokens["accessToken"]

    invite = anna.post(f"{room.path}/invites", {"expiresAt": later(days=1)})
    guest = world.user("Guest")
    guest.post(f"/v1/invites/{invite['token']}/accept")
    assert is_near(anna.post(f"{room.path}/invites", {})["expiresAt"], ahead=7 * DAY)

    id = schedule(anna, room, hours=1)
    assert id in pending(anna, room)
    assert is_near(wait_until_sent(anna, room, schedule(anna, room, seconds=2))["sentAt"])

    sent = anna.send(room, "after the jump")
    assert is_near(sent["sentAt"])
    page = anna.get(f"{room.path}/messages", before=later(seconds=NEAR), limit=1)["messages"]
    assert [message["id"] for message in page] == [sent["id"]]
    page = anna.get(f"{room.path}/messages", after=sent["sentAt"], limit=1)["messages"]
    assert [message["id"] for message in page] == [sent["id"]]


def test_a_jump_ahead_is_not_trusted_and_leaves_nothing_behind(clock, clock_server):
    within_one_day()
    world = World(clock_server.start())
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    months_later = schedule(anna, room, days=60)

    clock.shift(wall=AHEAD)
    during = anna.send(room, "during the jump")
    assert is_near(during["sentAt"])
    tokens = world.acting_as(anna.id).post("/v1/sessions", {})
    assert claims(tokens["accessToken"])["exp"] - time.time() <= TOKEN_SECONDS + NEAR
    assert tokens["expiresIn"] <= TOKEN_SECONDS
    # A message that is due is sent, and one that is due in two months is not.
    wait_until_sent(anna, room, schedule(anna, room, seconds=2))
    assert months_later in pending(anna, room)
    shown = readiness(clock_server)["clock"]
    assert shown["status"] == "jump_held" and abs(shown["systemAheadSeconds"] - AHEAD) < NEAR
    assert is_near(shown["time"]) and 0 < shown["trustedInSeconds"] <= HELD
    assert "jumped ahead and is not trusted" in clock_server.errors.read_text()

    clock.shift(wall=0)
    assert readiness(clock_server)["clock"]["status"] == "ok"
    requires_a_sane_server(world, anna, ben, room)
    # Messages since the start: one before, two during, and three after the jump. The jump neither started a new day nor
    # used one up.
    for number in range(QUOTA - 6):
        anna.send(room, f"{number}")
    anna.refused("quota_exceeded", "PUT", room.message(new_id()), {"text": "too many"})
    assert months_later in pending(anna, room)


def test_many_small_jumps_are_one(clock, clock_server):
    clock_server.start()
    for step in range(1, 4):
        clock.shift(wall=step * (JUMP - 60))
        shown = readiness(clock_server)["clock"]
    assert shown["status"] == "jump_held"
    assert parse(shown["time"]) - now() < datetime.timedelta(seconds=2 * JUMP + NEAR)


def test_a_jump_that_lasts_is_trusted(clock, clock_server):
    clock_server.start()
    clock.shift(wall=AHEAD)
    assert readiness(clock_server)["clock"]["status"] == "jump_held"
    # Ten minutes pass on both clocks.
    clock.shift(wall=AHEAD + HELD, uptime=HELD)
    shown = readiness(clock_server)["clock"]
    assert shown["status"] == "ok" and is_near(shown["time"], AHEAD + HELD)


def test_an_operator_confirms_a_jump(clock, clock_server):
    world = World(clock_server.start())
    anna = world.user()
    room = anna.room()
    clock.shift(wall=2 * DAY)
    assert readiness(clock_server)["clock"]["status"] == "jump_held"
    anna.refused("service_only", "POST", "/v1/admin/clock/confirm")
    confirmed = world.admin.post("/v1/admin/clock/confirm", expect=200)
    assert confirmed["status"] == "ok" and is_near(confirmed["time"], 2 * DAY)
    anna.refused("access_token_expired", "GET", "/v1/me")
    anna.token = anna.post("/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})["accessToken"]
    assert is_near(anna.send(room, "two days later")["sentAt"], 2 * DAY)


def test_a_log_from_the_future_is_opened_and_used(clock, clock_server, tmp_path):
    within_one_day()
    clock.shift(wall=AHEAD)
    world = World(clock_server.start())
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    for number in range(QUOTA):
        anna.send(room, f"from the future {number}")
    clock_server.stop()
    assert "behind the last time in the log" not in clock_server.errors.read_text()

    clock.shift(wall=0)
    clock_server.start()
    assert "behind the last time in the log" in clock_server.errors.read_text()
    shown = readiness(clock_server)
    assert shown["status"] == "ready" and shown["clock"]["status"] == "behind_log"
    assert abs(shown["clock"]["logAheadSeconds"] - AHEAD) < NEAR and is_near(shown["clock"]["time"])
    # The tokens from that time would be valid for 400 days. Their sessions continue.
    for person in (anna, ben):
        person.refused("access_token_expired", "GET", "/v1/me")
        tokens = person.post("/v1/sessions/refresh", {"refreshToken": person.tokens["refreshToken"]})
        assert claims(tokens["accessToken"])["exp"] - time.time() <= TOKEN_SECONDS + NEAR
        person.token = tokens["accessToken"]
    requires_a_sane_server(world, anna, ben, room)

    # An event with its own time still causes a notification.
    ben.put(f"/v1/devices/{new_id()}", {"apnsToken": "a1b2"})
    told = anna.send(room, "told")["id"]
    wait_until(lambda: told in (tmp_path / "notifications").read_text(), "the message was not pushed")

    # After a restart, a day's usage is still known, although the log's last day is another one.
    for number in range(QUOTA - 4):
        anna.send(room, f"{number}")
    clock_server.restart()
    anna.refused("quota_exceeded", "PUT", room.message(new_id()), {"text": "too many"})
    assert anna.texts(room, limit=2) == [f"{QUOTA - 6}", f"{QUOTA - 5}"]
    assert is_near(anna.get(f"{room.path}/messages", limit=1)["messages"][0]["sentAt"])

    # The log is intact, read models can be rebuilt from it, and an audit shows both times.
    clock_server.stop()
    hansard("log", "verify", "--data", clock_server.data)
    hansard("replay", "--data", clock_server.data, "--verify")
    last = audit(clock_server.data, "--type", "message.sent")[-1]
    assert is_near(last["time"], AHEAD) and is_near(last["detail"]["eventTime"])


def test_a_clock_that_is_set_back_is_followed(clock, clock_server):
    clock.shift(wall=AHEAD)
    world = World(clock_server.start())
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    anna.send(room, "from the future")

    clock.shift(wall=0)
    anna.refused("access_token_expired", "GET", "/v1/me")
    assert "was set back" in clock_server.errors.read_text()
    anna.token = anna.post("/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})["accessToken"]
    requires_a_sane_server(world, anna, ben, room)


def test_a_clock_that_was_behind_is_followed_when_it_is_corrected(clock, clock_server):
    within_one_day()
    world = World(clock_server.start())
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    # The clock is corrected while the server runs.
    clock.shift(wall=-3 * DAY)
    assert is_near(readiness(clock_server)["clock"]["time"], -3 * DAY)
    clock.shift(wall=0)
    shown = readiness(clock_server)["clock"]
    assert shown["status"] == "ok" and is_near(shown["time"])
    # The clock is corrected before a start.
    clock_server.stop()
    clock.shift(wall=-3 * DAY)
    clock_server.start()
    shown = readiness(clock_server)["clock"]
    assert shown["status"] == "behind_log" and is_near(shown["time"], -3 * DAY)
    clock.shift(wall=0)
    shown = readiness(clock_server)["clock"]
    assert shown["status"] == "ok" and is_near(shown["time"])
    assert "is not trusted" not in clock_server.errors.read_text()
    requires_a_sane_server(world, anna, ben, room)


def test_a_used_up_quota_says_when_to_come_back_by_the_trusted_time(clock, clock_server):
    within_one_day()
    world = World(clock_server.start())
    anna = world.user()
    room = anna.room()
    for number in range(QUOTA):
        anna.send(room, f"{number}")
    expected = retry_after(anna, room)
    # The system clock shows another day and another time of day.
    clock.shift(wall=AHEAD + DAY // 2)
    assert abs(retry_after(anna, room) - expected) < NEAR


def test_a_start_with_a_clock_that_is_ahead_gives_up_no_notification(tmp_path, clock):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    receiver = Receiver(SECRET, lambda body: 503)
    server = Server(
        tmp_path / "data", "--push-webhook", receiver.url, "--push-secret-file", secret,
        environment=UNLIMITED | clock.environment)
    try:
        world = World(server.start())
        anna, ben = world.users("Anna", "Ben")
        room, phone = anna.room("Tea", ben), new_id()
        ben.put(f"/v1/devices/{phone}", {"apnsToken": "a1b2"})
        sent = anna.send(room, "told")
        wait_until(receiver.taken, "nothing was sent")
        server.stop()

        clock.shift(wall=AHEAD)
        receiver.respond = lambda body: 200
        server.start()
        wait_until(
            lambda: (sent["position"], ben.id, phone) in receiver.delivered(), "the notification was not delivered")
    finally:
        server.end()
        receiver.close()


def test_a_token_from_the_future_is_refused_when_its_session_has_ended(clock, clock_server):
    clock.shift(wall=AHEAD)
    world = World(clock_server.start())
    anna, ben = world.users("Anna", "Ben")
    stolen, refresh = anna.tokens["accessToken"], anna.tokens["refreshToken"]
    anna.get("/v1/me")
    clock.shift(wall=0)
    # Gets new tokens, and then ends the session. The stolen token would become valid only in the future.
    anna.token = anna.post("/v1/sessions/refresh", {"refreshToken": refresh})["accessToken"]
    anna.delete("/v1/sessions/current")
    anna.token = stolen
    clock_server.stop()

    clock.shift(wall=AHEAD)
    clock_server.start()
    ben.get("/v1/me")
    anna.refused("session_ended", "GET", "/v1/me")


def test_a_start_with_a_clock_that_is_ahead_sends_nothing_early(clock, clock_server):
    world = World(clock_server.start())
    anna = world.user()
    room = anna.room()
    months_later = schedule(anna, room, days=60)
    due = schedule(anna, room, seconds=2)
    clock_server.stop()

    clock.shift(wall=AHEAD)
    clock_server.start()
    anna = world.acting_as(anna.id)
    # The message is due by the log's last time and the time since the start.
    wait_until_sent(anna, room, due)
    assert months_later in pending(anna, room)
    # If the clock stays ahead, then it is right, and the server was off for a long time.
    clock.shift(wall=AHEAD + HELD, uptime=HELD)
    wait_until_sent(anna, room, months_later)


@pytest.mark.parametrize("end", [Server.stop, Server.kill])
def test_a_restart_with_a_clock_that_is_still_ahead_sends_nothing_early(clock, clock_server, end):
    within_one_day()
    world = World(clock_server.start())
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    months_later, due = schedule(anna, room, days=60), schedule(anna, room, minutes=8)
    clock_server.stop()

    clock.shift(wall=AHEAD)
    clock_server.start()
    # From here on, the log's last time comes from the wrong clock.
    anna.token = world.acting_as(anna.id).post("/v1/sessions", {})["accessToken"]
    anna.send(room, "from the future")
    end(clock_server)
    clock_server.start()
    passed = 9 * 60
    clock.shift(wall=AHEAD + passed, uptime=passed)
    wait_until_sent(anna, room, due)
    assert months_later in pending(anna, room)
    clock_server.stop()

    # Once it is set back, the clock is right, and nothing has to wait for it.
    clock.shift(wall=0)
    clock_server.start()
    requires_a_sane_server(world, anna, ben, room)
    assert months_later in pending(anna, room)


def test_a_clock_that_is_set_freezes_no_read_model(clock, clock_server):
    """Nothing may wait for a time of the wall clock: if the clock is set back in the meantime, that time comes 400 days
    later. The kernel's clock is not shifted, so for the kernel each such time is 400 days ahead."""
    world = World(clock_server.start())
    anna = world.user()
    room = anna.room()
    clock.shift(wall=AHEAD)
    deadline = time.monotonic() + PATIENCE_SECONDS
    for number in range(1, 3):
        anna.send(room, "kettle")
        # A search does not wait for recent writes.
        while len(anna.get("/v1/search", q="kettle")["results"]) < number:
            assert time.monotonic() < deadline, "the search does not follow the log"
            time.sleep(0.05)
