"""Sends mixed traffic of many users to the real server and measures its memory.

Sessions, rooms and devices are created and ended, so the amount of live data stays about the same. In the
second half, memory must stay about the same too. The plot is an SVG file.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1024 * 1024
START_SECONDS = 60
SAMPLE_SECONDS = 1.0
# The number of concurrent connections. Each serves a part of the users.
WORKERS = 8
# The server remembers an ended session as long as an access token is valid. With the default of 15 minutes, this memory
# would still grow at the end of a ten-minute run.
TOKEN_SECONDS = 120
WORDS = pathlib.Path(__file__).read_text().split()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """`hansard serve` on a free port, with its data on the disk of the repository."""

    def __init__(self):
        folder = HERE.parent.parent / ".build"
        self.data = tempfile.mkdtemp(prefix="soak-", dir=folder if folder.is_dir() else None)
        self.port = free_port()
        self.process = subprocess.Popen(
            [os.environ["HANSARD_BIN"], "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}",
             "--push-file", f"{self.data}/push.jsonl", "--access-token-lifetime", str(TOKEN_SECONDS)],
            # All requests come from one address. The limits stay on, so that the memory they need is measured too.
            env=os.environ | {
                f"HANSARD_RATE_LIMITS_{kind}_REQUESTS": "10000000" for kind in ("USER", "DEVICE", "ADDRESS")} | {
                f"HANSARD_QUOTAS_{kind}_PER_DAY": "100000000000" for kind in ("EVENTS", "BYTES", "ROOMS")},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("error: the server did not become ready")
            time.sleep(0.05)
        self.admin = pathlib.Path(self.data, "admin-token").read_text().strip()

    def is_ready(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def memory(self):
        """Returns the resident bytes: all of them, and those that are not mapped files."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return tuple(
            int(re.search(rf"{name}:\s+(\d+) kB", status).group(1)) * 1024 for name in ("VmRSS", "RssAnon"))

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.data)


class Client:
    """One connection. Counts the successful requests, and raises an error if a response has a status of 400 or more."""

    def __init__(self, server, counts):
        self.server = server
        self.counts = counts
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.requests = 0

    def call(self, kind, method, path, body=None, token=None, act_as=None, key=False):
        headers = {"Authorization": f"Bearer {token or self.server.admin}"}
        if act_as:
            headers["Hansard-Act-As"] = act_as
        if key:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        self.connection.request(method, path, body=body, headers=headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:300]!r}")
        self.requests += 1
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return json.loads(text) if text else None


class User:
    """One user with a session, and with rooms shared with other users."""

    def __init__(self, client, number):
        self.id = client.call("account", "POST", "/v1/accounts", {"id": str(uuid.uuid4()), "nickname": f"U{number}"})["id"]
        self.keep(client.call("session", "POST", "/v1/sessions", {}, act_as=self.id))
        self.rooms = []
        # The user's newest messages, which are edited, deleted, marked as read and reacted to.
        self.sent = []

    def keep(self, session):
        self.token, self.refresh_token = session["accessToken"], session["refreshToken"]
        self.refresh_at = time.monotonic() + TOKEN_SECONDS / 2

    def refresh(self, client):
        if time.monotonic() > self.refresh_at:
            self.keep(client.call("refresh", "POST", "/v1/sessions/refresh", {"refreshToken": self.refresh_token}, key=True))


def text():
    return " ".join(random.choices(WORDS, k=random.randint(3, 25)))


class Traffic:
    """The actions of one worker's users."""

    # How often each action happens, in percent. Actions that consist of several requests count once.
    MIX = {
        "send": 40, "edit": 6, "delete": 3, "react": 8, "marker": 10, "messages": 9, "rooms": 4, "badge": 3, "search": 2,
        "session": 5, "room": 5, "device": 5,
    }

    def __init__(self, client, users):
        self.client = client
        self.users = users
        self.kinds, self.weights = zip(*self.MIX.items())

    def step(self):
        user = random.choice(self.users)
        user.refresh(self.client)
        kind = random.choices(self.kinds, self.weights)[0]
        getattr(self, kind)(user, lambda *rest, **options: self.client.call(kind, *rest, token=user.token, **options))

    def send(self, user, call):
        room, id = random.choice(user.rooms), str(uuid.uuid4())
        call("PUT", f"/v1/rooms/{room}/messages/{id}", {"text": text()})
        user.sent = user.sent[-9:] + [(room, id)]

    def own(self, user):
        room, id = random.choice(user.sent)
        return f"/v1/rooms/{room}/messages/{id}"

    def edit(self, user, call):
        if user.sent:
            call("PATCH", self.own(user), {"text": text()}, key=True)

    def delete(self, user, call):
        if user.sent:
            room, id = user.sent.pop(0)
            call("DELETE", f"/v1/rooms/{room}/messages/{id}", key=True)

    def react(self, user, call):
        if user.sent:
            path = f"{self.own(user)}/reactions/%F0%9F%91%8D"
            call("PUT", path, key=True)
            call("DELETE", path, key=True)

    def marker(self, user, call):
        if user.sent:
            room, id = random.choice(user.sent)
            call("PUT", f"/v1/rooms/{room}/read-marker", {"messageId": id}, key=True)

    def messages(self, user, call):
        call("GET", f"/v1/rooms/{random.choice(user.rooms)}/messages?limit=30")

    def rooms(self, user, call):
        call("GET", "/v1/rooms")

    def badge(self, user, call):
        call("GET", "/v1/badge")

    def search(self, user, call):
        call("GET", f"/v1/search?q={random.choice(('memory', 'plot', 'server', 'users'))}")

    def session(self, user, call):
        session = self.client.call("session", "POST", "/v1/sessions", {"deviceId": str(uuid.uuid4())}, act_as=user.id)
        self.client.call("session", "GET", "/v1/badge", token=session["accessToken"])
        self.client.call(
            "session", "DELETE", f"/v1/sessions/{session['sessionId']}", token=session["accessToken"], key=True)

    def room(self, user, call):
        id = call("POST", "/v1/rooms", {"id": str(uuid.uuid4()), "name": "Passing"})["id"]
        call("PUT", f"/v1/rooms/{id}/messages/{uuid.uuid4()}", {"text": text()})
        call("DELETE", f"/v1/rooms/{id}", key=True)

    def device(self, user, call):
        path = f"/v1/devices/{uuid.uuid4()}"
        call("PUT", path, {"name": "Phone", "type": "ios", "apnsToken": uuid.uuid4().hex * 2}, key=True)
        call("DELETE", path, key=True)


def people(server, counts, number):
    """Creates users in groups of ten. Each group shares two rooms."""
    client = Client(server, counts)
    users = [User(client, index) for index in range(number)]
    for start in range(0, number, 10):
        group = users[start:start + 10]
        for _ in range(2):
            room = client.call(
                "setup", "POST", "/v1/rooms", {"id": str(uuid.uuid4()), "name": "Tea"}, token=group[0].token)["id"]
            for other in group[1:]:
                client.call("setup", "PUT", f"/v1/rooms/{room}/members/{other.id}", token=group[0].token)
            for user in group:
                user.rooms.append(room)
    return users


class Soak:
    def __init__(self, server, options):
        self.server = server
        self.options = options
        self.failure = None
        self.counts = {}
        self.users = people(server, self.counts, options.users)
        self.clients = [Client(server, {}) for _ in range(WORKERS)]
        # Requests, seconds, resident bytes, resident bytes that are not mapped files.
        self.samples = []
        self.begin = time.monotonic()

    @property
    def requests(self):
        return sum(client.requests for client in self.clients)

    def is_over(self):
        if self.failure:
            return True
        if self.options.requests:
            return self.requests >= self.options.requests
        return time.monotonic() - self.begin >= self.options.minutes * 60

    def work(self, client, users):
        try:
            traffic = Traffic(client, users)
            while not self.is_over():
                traffic.step()
        except Exception as error:  # Ends the run: a soak with failed requests is meaningless.
            self.failure = self.failure or error

    def run(self):
        threads = [
            threading.Thread(target=self.work, args=(client, self.users[index::WORKERS]), daemon=True)
            for index, client in enumerate(self.clients) if self.users[index::WORKERS]
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self.sample()
            time.sleep(SAMPLE_SECONDS)
        self.sample()
        if self.failure:
            raise SystemExit(f"error: {self.failure}")

    def sample(self):
        self.samples.append((self.requests, time.monotonic() - self.begin, *self.server.memory()))


def rise(samples):
    """By how many bytes memory rises in the second half (slope of the best-fitting line times length), and the mean."""
    half = [sample for sample in samples if sample[0] >= samples[-1][0] / 2]
    requests, resident = [sample[0] for sample in half], [sample[2] for sample in half]
    if len(half) < 3 or requests[0] == requests[-1]:
        raise SystemExit("error: too few samples; let it run longer")
    slope, _ = statistics.linear_regression(requests, resident)
    return slope * (requests[-1] - requests[0]), statistics.mean(resident)


def plot(samples, path, caption):
    """Writes an SVG that plots memory in MiB against thousands of requests."""
    width, height, left, bottom, top, right = 720, 320, 60, 50, 40, 20
    most_requests = max(sample[0] for sample in samples)
    most_memory = max(sample[2] for sample in samples) * 1.15
    x = lambda requests: left + (width - left - right) * requests / most_requests
    y = lambda bytes: height - bottom - (height - bottom - top) * bytes / most_memory
    # About 300 points are enough for a line.
    shown = samples[::max(1, len(samples) // 300)] + [samples[-1]]
    lines = []
    for column, colour in ((2, "#1f6feb"), (3, "#bf8700")):
        points = " ".join(f"{x(sample[0]):.1f},{y(sample[column]):.1f}" for sample in shown)
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    for part in range(5):
        memory, requests = most_memory * part / 4, most_requests * part / 4
        lines.append(f'<line x1="{left}" x2="{width - right}" y1="{y(memory):.1f}" y2="{y(memory):.1f}" stroke="#d0d7de"/>')
        lines.append(f'<text x="{left - 6}" y="{y(memory) + 4:.1f}" text-anchor="end">{memory / MIB:.0f}</text>')
        lines.append(f'<text x="{x(requests):.1f}" y="{height - bottom + 18}" text-anchor="middle">{requests / 1000:.0f}</text>')
    half = x(most_requests / 2)
    lines.append(f'<line x1="{half:.1f}" x2="{half:.1f}" y1="{top}" y2="{height - bottom}" stroke="#8c959f" stroke-dasharray="4 4"/>')
    lines.append(f'<text x="{left}" y="22">{caption}</text>')
    lines.append(f'<text x="{(left + width) / 2}" y="{height - 8}" text-anchor="middle">thousands of requests</text>')
    lines.append(f'<text x="{width - right}" y="{height - 8}" text-anchor="end" fill="#1f6feb">resident, MiB</text>')
    lines.append(f'<text x="{left}" y="{height - 8}" fill="#bf8700">without mapped files</text>')
    body = "\n".join(lines)
    pathlib.Path(path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12">\n<rect width="{width}" height="{height}" fill="white"/>\n{body}\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--requests", type=int, help="stop after so many requests, instead of after minutes")
    parser.add_argument("--plot", help="where to write the plot, as SVG")
    parser.add_argument(
        "--tolerance", type=float, default=5, help="how much memory can rise in the second half, in percent (5)")
    options = parser.parse_args()
    server = Server()
    try:
        soak = Soak(server, options)
        soak.run()
    finally:
        server.stop()
    samples = soak.samples
    requests, seconds = samples[-1][:2]
    rising, level = rise(samples)
    percent = 100 * rising / level
    for share in (0, 0.1, 0.25, 0.5, 0.75, 1):
        sample = samples[min(len(samples) - 1, int(share * len(samples)))]
        print(f"{sample[0]:>9} requests  {sample[1]:>6.0f} s  {sample[2] / MIB:7.1f} MiB  {sample[3] / MIB:7.1f} MiB anonymous")
    counts = soak.counts
    for client in soak.clients:
        for kind, count in client.counts.items():
            counts[kind] = counts.get(kind, 0) + count
    print("requests of each kind: " + ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))
    print(f"second half: {rising / MIB:+.1f} MiB ({percent:+.1f} %, {rising / (requests / 2):+.0f} bytes per request)")
    if options.plot:
        plot(samples, options.plot, f"{options.users} users, {requests:,} requests in {seconds / 60:.0f} minutes; "
             f"second half: {percent:+.1f} %")
    if percent > options.tolerance:
        raise SystemExit(f"error: memory rises by more than {options.tolerance} % in the second half")


if __name__ == "__main__":
    main()
