"""Compares durable `PUT message` with an endpoint of the same server that decodes the same JSON and writes nothing.

Both are measured alternately, in one run, over 64 connections and over one. With `--against` another build of hansard
is measured in the same rounds. The results are ratios: an absolute figure says more about the machine and its disk
than about the server.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request
import uuid

HERE = pathlib.Path(__file__).resolve().parent
# A message of ordinary length.
TEXT = "The kettle is on, the cups are warm, and whoever comes up the stairs now still gets the good biscuits."


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A build on a free port, with its data on the disk that the repository is on."""

    def __init__(self):
        self.data = tempfile.mkdtemp(prefix="bench-", dir=HERE.parent.parent / ".build")
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            [os.environ["HANSARD_BIN"], "serve", "--data", self.data, "--listen", self.url.removeprefix("http://"),
             "--bench", "--access-token-lifetime", "86400"],
            # One user who sends as fast as possible would reach any limit. High limits cost as much as the defaults.
            env=os.environ | {
                f"HANSARD_RATE_LIMITS_{kind}_REQUESTS": "10000000" for kind in ("USER", "DEVICE", "ADDRESS")} | {
                f"HANSARD_QUOTAS_{kind}_PER_DAY": "100000000000" for kind in ("EVENTS", "BYTES", "ROOMS")},
            stdout=subprocess.DEVNULL)
        for _ in range(400):
            try:
                urllib.request.urlopen(self.url + "/readyz")
                break
            except OSError:
                time.sleep(0.05)
        self.admin = pathlib.Path(self.data, "admin-token").read_text().strip()

    def call(self, method, path, body, token, **headers):
        request = urllib.request.Request(
            self.url + path, method=method, data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers})
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.data)


def wrk(server, path, token, connections, seconds, number):
    """Requests per second, and the median latency in milliseconds."""
    environment = dict(
        os.environ, BENCH_PATH=path, BENCH_TOKEN=token, BENCH_TEXT=TEXT, BENCH_ROUND=str(number))
    threads = 2 if connections > 1 else 1
    result = subprocess.run(
        ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(HERE / "ingest.lua"),
         server.url],
        env=environment, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in result or "Socket errors" in result:
        raise SystemExit(f"requests failed, so there is nothing to compare:\n{result}")
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", result).group(1))
    value, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", result).groups()
    return rate, float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3)
    options = parser.parse_args()
    server = Server()
    try:
        user, room = str(uuid.uuid4()), str(uuid.uuid4())
        server.call("POST", "/v1/accounts", {"id": user, "nickname": "bench"}, server.admin)
        acting = {"Hansard-Act-As": user}
        token = server.call("POST", "/v1/sessions", {}, server.admin, **acting)["accessToken"]
        server.call("POST", "/v1/rooms", {"id": room, "name": "bench"}, token)
        kinds = {"durable": f"/v1/rooms/{room}/messages/", "decode": "/bench/messages/"}
        found = {(kind, connections): [] for connections in (64, 1) for kind in kinds}
        for path in kinds.values():
            wrk(server, path, token, 64, 1, 0)
        for number in range(1, options.rounds + 1):
            for connections in (64, 1):
                for kind, path in kinds.items():
                    found[kind, connections].append(wrk(server, path, token, connections, options.seconds, number))
            print(f"round {number} of {options.rounds}", flush=True)
        print(f"\n{'connections':>11}  {'endpoint':8}  {'requests/s':>10}  {'median ms':>9}  {'ratio':>5}")
        for connections in (64, 1):
            rates = {kind: statistics.median(rate for rate, _ in found[kind, connections]) for kind in kinds}
            for kind in kinds:
                latency = statistics.median(latency for _, latency in found[kind, connections])
                ratio = f"{rates['durable'] / rates['decode']:5.2f}" if kind == "durable" else ""
                print(f"{connections:>11}  {kind:8}  {rates[kind]:>10,.0f}  {latency:>9.2f}  {ratio:>5}")
        with urllib.request.urlopen(server.url + "/readyz") as response:
            print(f"\n{json.load(response)['head']:,} events are durable in the log of this run")
    finally:
        server.stop()


if __name__ == "__main__":
    main()
