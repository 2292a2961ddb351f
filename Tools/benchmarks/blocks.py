"""Measures what blocks cost: 5,000 messages of one sender in rooms of several sizes, when nobody blocks the sender, one
member does, and many members do.

All cases are measured in turn in each round, each with a new server. The results are ratios to the room in which nobody
blocks the sender.
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
READ_AFTER_MESSAGE = 280
# Members of the room and how many of them block the sender.
CASES = ((10, 0), (10, 1), (256, 0), (256, 1), (256, 250), (1_000, 0), (1_000, 1), (1_000, 300))


class Result(typing.NamedTuple):
    # From the first line until the read models have all messages.
    seconds: float
    # What one message adds to the files of all read models, after the server has stopped.
    bytes: float
    # A badge of the sender that is requested after each message, the median.
    badge_milliseconds: float


class Server:
    def __init__(self, executable):
        self.data = tempfile.mkdtemp(prefix="bench-", dir=HERE.parent.parent / ".build")
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            [executable, "serve", "--data", self.data, "--listen", self.url.removeprefix("http://")],
            env=os.environ | {f"HANSARD_RATE_LIMITS_{kind}_REQUESTS": "10000000" for kind in ("USER", "DEVICE", "ADDRESS")},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(400):
            try:
                self.readiness()
                break
            except OSError:
                time.sleep(0.05)
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
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        request = urllib.request.Request(
            self.url + "/v1/ingest", data=body,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/x-ndjson"})
        with urllib.request.urlopen(request) as response:
            results = [json.loads(line) for line in response]
        failed = [result for result in results if result["status"] != 201]
        if failed or len(results) != len(lines):
            raise SystemExit(f"{len(failed)} of {len(lines)} lines failed, the first with {failed[:1]}")

    def wait_for_read_models(self):
        while True:
            ready = self.readiness()
            if all(each["position"] >= ready["head"] for each in ready["projections"]):
                return
            time.sleep(0.002)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def size_of_read_models(self):
        return sum(file.stat().st_size for file in pathlib.Path(self.data, "views").iterdir())


def ids(count):
    return [str(uuid.uuid4()) for _ in range(count)]


def message(room, sender):
    return {"op": "message.send", "id": str(uuid.uuid4()), "roomId": room, "as": sender, "text": "The kettle is on."}


def run(executable, members, blockers, messages):
    """A new server with the room and this many messages in it."""
    server = Server(executable)
    users, room = ids(members), str(uuid.uuid4())
    sender = users[0]
    server.ingest([{"op": "user.register", "id": user, "nickname": "bench"} for user in users])
    server.ingest(
        [{"op": "room.create", "id": room, "name": "bench", "as": sender}]
        + [{"op": "member.join", "roomId": room, "as": user} for user in users[1:]])
    for blocker in users[1:1 + blockers]:
        server.call("PUT", f"/v1/me/blocked-users/{sender}", user=blocker)
    server.wait_for_read_models()
    begin = time.perf_counter()
    if messages:
        server.ingest([message(room, sender) for _ in range(messages)])
    server.wait_for_read_models()
    return server, room, sender, time.perf_counter() - begin


def median_badge_milliseconds(server, room, sender):
    times = []
    for _ in range(READ_AFTER_MESSAGE):
        server.call("PUT", f"/v1/rooms/{room}/messages/{uuid.uuid4()}", {"text": "tea?"}, user=sender)
        begin = time.perf_counter()
        server.call("GET", "/v1/badge", user=sender)
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def measure(executable, members, blockers):
    server, *_ = run(executable, members, blockers, 0)
    server.stop()
    empty = server.size_of_read_models()
    shutil.rmtree(server.data)
    server, room, sender, seconds = run(executable, members, blockers, MESSAGES)
    badge = median_badge_milliseconds(server, room, sender)
    server.stop()
    bytes_each = (server.size_of_read_models() - empty) / (MESSAGES + READ_AFTER_MESSAGE)
    shutil.rmtree(server.data)
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
