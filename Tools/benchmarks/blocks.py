"""Measures what blocks cost: 5,000 messages of one sender in rooms of several sizes, when nobody blocks the sender, one
member does, and many members do.

All cases are measured in turn in each round, each with a new server. Prints medians over the rounds, and the ratio of the
time to that of a room of the same size in which nobody blocks the sender.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time
import typing
import urllib.request
import uuid

from ingest import free_port

HERE = pathlib.Path(__file__).resolve().parent
MESSAGES = 5_000
BADGE_MESSAGES = 280
# Members of the room and how many of them block the sender.
CASES = ((10, 0), (10, 1), (256, 0), (256, 1), (256, 250), (1_000, 0), (1_000, 1), (1_000, 300))


class Result(typing.NamedTuple):
    # From the first line until the read models have all messages.
    seconds: float
    # What one message adds to the files of all read models but the push outbox, after the server has stopped.
    bytes: float
    # The time of the sender's badge request right after each of BADGE_MESSAGES further messages, the median. The badge
    # waits until the read model has applied the message, so this is what a sender can observe.
    badge_milliseconds: float


class Server:
    def __init__(self, executable):
        self.data = tempfile.mkdtemp(prefix="bench-", dir=HERE.parent.parent / ".build")
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            [executable, "serve", "--data", self.data, "--listen", self.url.removeprefix("http://")],
            env=os.environ | {f"HANSARD_RATE_LIMITS_{kind}_REQUESTS": "10000000" for kind in ("USER", "DEVICE", "ADDRESS")},
            stdout=subprocess.DEVNULL)
        for _ in range(400):
            try:
                self.readiness()
                break
            except OSError:
                time.sleep(0.05)
        else:
            raise SystemExit("the server did not become ready within 20 seconds")
        self.token = pathlib.Path(self.data, "admin-token").read_text().strip()

    def readiness(self):
        with urllib.request.urlopen(self.url + "/readyz") as response:
            return json.load(response)

    def call(self, method, path, body=None, user=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if user:
            headers["Hansard-Act-As"] = user
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(), headers=headers)
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def ingest(self, lines):
        self.ingest_body(ndjson(lines))

    def ingest_body(self, body):
        request = urllib.request.Request(
            self.url + "/v1/ingest", data=body,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/x-ndjson"})
        with urllib.request.urlopen(request) as response:
            results = response.read().splitlines()
        failed = [line for line in results if b'"status":201' not in line]
        if failed or len(results) != body.count(b"\n"):
            raise SystemExit(f"{len(failed)} lines failed, the first with {failed[:1]}")

    def wait_for_read_models(self):
        while True:
            ready = self.readiness()
            if all(each["position"] >= ready["head"] for each in ready["projections"]):
                return
            time.sleep(0.002)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.data)

    def size_of_read_models(self):
        return sum(file.stat().st_size for file in pathlib.Path(self.data, "views").iterdir()
                   if not file.name.startswith("push"))


def ndjson(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def ids(count):
    return [str(uuid.uuid4()) for _ in range(count)]


def message(room, sender):
    return {"op": "message.send", "id": str(uuid.uuid4()), "roomId": room, "as": sender, "text": "The kettle is on."}


def open_room(server, members, blockers):
    """Creates a room with this many members, of whom the first is the sender."""
    users, room = ids(members), str(uuid.uuid4())
    sender = users[0]
    server.ingest([{"op": "user.register", "id": user, "nickname": "bench"} for user in users])
    server.ingest(
        [{"op": "room.create", "id": room, "name": "bench", "as": sender}]
        + [{"op": "member.join", "roomId": room, "as": user} for user in users[1:]])
    for blocker in users[1:1 + blockers]:
        server.call("PUT", f"/v1/me/blocked-users/{sender}", user=blocker)
    server.wait_for_read_models()
    return room, sender


def median_badge_milliseconds(server, room, sender):
    times = []
    for _ in range(BADGE_MESSAGES):
        server.call("PUT", f"/v1/rooms/{room}/messages/{uuid.uuid4()}", {"text": "tea?"}, user=sender)
        begin = time.perf_counter()
        server.call("GET", "/v1/badge", user=sender)
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def measure(executable, members, blockers):
    with Server(executable) as server:
        open_room(server, members, blockers)
        server.stop()
        empty = server.size_of_read_models()
    with Server(executable) as server:
        room, sender = open_room(server, members, blockers)
        body = ndjson([message(room, sender) for _ in range(MESSAGES)])
        begin = time.perf_counter()
        server.ingest_body(body)
        server.wait_for_read_models()
        seconds = time.perf_counter() - begin
        badge = median_badge_milliseconds(server, room, sender)
        server.stop()
        bytes_each = (server.size_of_read_models() - empty) / (MESSAGES + BADGE_MESSAGES)
    return Result(seconds, bytes_each, badge)


def median(results, field):
    return statistics.median(getattr(result, field) for result in results)


def print_table(found):
    print(f"\n{'members':>7}  {'blockers':>8}  {'seconds':>7}  {'ratio':>5}  {'bytes/message':>13}  {'badge ms':>8}")
    for (members, blockers), results in found.items():
        seconds, base = median(results, "seconds"), median(found[members, 0], "seconds")
        print(f"{members:7}  {blockers:8}  {seconds:7.2f}  {seconds / base:5.2f}  {median(results, 'bytes'):13.0f}  "
              f"{median(results, 'badge_milliseconds'):8.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    executable = os.environ["HANSARD_BIN"]
    found = {case: [] for case in CASES}
    for number in range(1, options.rounds + 1):
        for case in CASES:
            found[case].append(measure(executable, *case))
        print(f"round {number} of {options.rounds}", flush=True)
    print_table(found)


if __name__ == "__main__":
    main()
