"""Compares durable `PUT message` with an endpoint of the same server that decodes the same JSON and writes nothing.

Both are measured alternately, in one run, over 64 connections and over one. With `--against` another build of hansard
is measured in the same rounds, with `--against-router` the same build without the direct path of messages. The results are
ratios: an absolute figure says more about the machine and its disk than about the server.
"""

import argparse
import collections
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
import typing
import urllib.request
import uuid

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = (64, 1)
KINDS = ("durable", "decode")
# A message of typical length.
TEXT = "The kettle is on, the cups are warm, and whoever comes up the stairs now still gets the good biscuits."


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A build on a free port, with its data on the disk that the repository is on."""

    def __init__(self, executable, *flags, environment={}):
        self.data = tempfile.mkdtemp(prefix="bench-", dir=HERE.parent.parent / ".build")
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            [executable, "serve", "--data", self.data, "--listen", self.url.removeprefix("http://"),
             "--bench", "--access-token-lifetime", "86400", *flags],
            # One user who sends as fast as possible would reach any limit. High limits cost as much as the defaults.
            env=os.environ | {
                f"HANSARD_RATE_LIMITS_{kind}_REQUESTS": "10000000" for kind in ("USER", "DEVICE", "ADDRESS")} | {
                f"HANSARD_QUOTAS_{kind}_PER_DAY": "100000000000" for kind in ("EVENTS", "BYTES", "ROOMS")} | {
                    "HANSARD_QUOTAS_MESSAGES_PER_DAY": "100000000000"} | environment,
            stdout=subprocess.DEVNULL)
        for _ in range(400):
            try:
                urllib.request.urlopen(self.url + "/readyz")
                break
            except OSError:
                time.sleep(0.05)
        self.admin = pathlib.Path(self.data, "admin-token").read_text().strip()
        user, room = str(uuid.uuid4()), str(uuid.uuid4())
        self.call("POST", "/v1/accounts", {"id": user, "nickname": "bench"}, self.admin)
        self.token = self.call("POST", "/v1/sessions", {}, self.admin, **{"Hansard-Act-As": user})["accessToken"]
        self.call("POST", "/v1/rooms", {"id": room, "name": "bench"}, self.token)
        self.paths = {"durable": f"/v1/rooms/{room}/messages/", "decode": "/bench/messages/"}

    def processor_seconds(self):
        """The processor time that the server has used, user and system."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def processor_seconds_of_threads(self):
        """The same by thread. Threads of one kind are added up."""
        seconds = collections.Counter()
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            name, fields = (task / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            used = sum(int(field) for field in fields.split()[11:13])
            seconds[re.sub(r"(-#?\d+)+$|-\d+-#\d+$", "", name)] += used / os.sysconf("SC_CLK_TCK")
        return seconds

    def head(self):
        with urllib.request.urlopen(self.url + "/readyz") as response:
            return json.load(response)["head"]

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


class Sample(typing.NamedTuple):
    requests_per_second: float
    # Of a request, the median.
    milliseconds: float
    # Of the server for one request.
    processor_microseconds: float
    # The same by thread.
    threads: dict[str, float]


def measure(server, kind, connections, seconds, number):
    environment = dict(
        os.environ, BENCH_PATH=server.paths[kind], BENCH_TOKEN=server.token, BENCH_TEXT=TEXT, BENCH_ROUND=str(number))
    clients = 2 if connections > 1 else 1
    before, threads_before = server.processor_seconds(), server.processor_seconds_of_threads()
    result = subprocess.run(
        ["wrk", f"-t{clients}", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(HERE / "ingest.lua"),
         server.url],
        env=environment, capture_output=True, text=True, check=True).stdout
    used = server.processor_seconds() - before
    threads = server.processor_seconds_of_threads() - threads_before
    if "Non-2xx" in result or "Socket errors" in result:
        raise SystemExit(f"requests failed, so there is nothing to compare:\n{result}")
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", result).group(1))
    requests = int(re.search(r"(\d+) requests in", result).group(1))
    value, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", result).groups()
    requests = max(requests, 1)
    return Sample(
        rate, float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit], used * 1e6 / requests,
        {name: seconds * 1e6 / requests for name, seconds in threads.items()})


def median(samples, field):
    return statistics.median(getattr(sample, field) for sample in samples)


def measure_rounds(servers, options):
    """The samples by build, endpoint and connections. In each round every build is measured, in turn."""
    found = {(build, kind, connections): []
             for connections in CONNECTIONS for build in servers for kind in KINDS}
    for server in servers.values():
        for kind in KINDS:
            measure(server, kind, 64, 1, 0)
    for number in range(1, options.rounds + 1):
        # Every second round starts with the other build, so that neither always runs on the warmer machine.
        builds = list(servers) if number % 2 else list(reversed(servers))
        for connections in CONNECTIONS:
            for kind in KINDS:
                for build in builds:
                    found[build, kind, connections].append(
                        measure(servers[build], kind, connections, options.seconds, number))
        print(f"round {number} of {options.rounds}", flush=True)
    return found


def print_table(servers, found):
    print(f"\n{'connections':>11}  {'build':7}  {'endpoint':8}  {'requests/s':>10}  {'median ms':>9}  {'CPU µs':>6}  "
          "ratio")
    for connections in CONNECTIONS:
        for build in servers:
            for kind in KINDS:
                samples = found[build, kind, connections]
                rate = median(samples, "requests_per_second")
                decode = median(found[build, "decode", connections], "requests_per_second")
                ratio = f"{rate / decode:5.2f}" if kind == "durable" else ""
                print(f"{connections:>11}  {build:7}  {kind:8}  {rate:>10,.0f}  {median(samples, 'milliseconds'):>9.2f}"
                      f"  {median(samples, 'processor_microseconds'):>6.1f}  {ratio:>5}")


def print_comparison(found):
    """The ratios within each round, so that what slowed a round down slowed both builds."""
    print(f"\n{'connections':>11}  {'endpoint':8}  {'rate, this / other':>18}  {'CPU, this / other':>17}")
    for connections in CONNECTIONS:
        for kind in KINDS:
            rounds = list(zip(found["this", kind, connections], found["other", kind, connections]))
            rate = statistics.median(one.requests_per_second / other.requests_per_second for one, other in rounds)
            used = statistics.median(one.processor_microseconds / other.processor_microseconds for one, other in rounds)
            print(f"{connections:>11}  {kind:8}  {rate:>18.2f}  {used:>17.2f}")


def print_threads(servers, found):
    """The processor time for one durable message by thread, in microseconds."""
    for connections in CONNECTIONS:
        print(f"\nCPU µs of a durable message over {connections} connections, by thread")
        samples = {build: found[build, "durable", connections] for build in servers}
        names = sorted({name for each in samples.values() for sample in each for name in sample.threads})
        for name in names:
            figures = [
                statistics.median(sample.threads.get(name, 0) for sample in each) for each in samples.values()]
            if max(figures) >= 0.5:
                print(f"{name:>20}  " + "  ".join(f"{build} {figure:6.1f}" for build, figure in zip(servers, figures)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument(
        "--against", metavar="EXECUTABLE", help="measure this other build of hansard too, alternately, and compare")
    parser.add_argument(
        "--against-router", action="store_true",
        help="measure this build with http.directPath off too, alternately, and compare")
    options = parser.parse_args()
    executables = {"this": (os.environ["HANSARD_BIN"], {})}
    if options.against:
        executables["other"] = (options.against, {})
    elif options.against_router:
        executables["other"] = (os.environ["HANSARD_BIN"], {"HANSARD_HTTP_DIRECT_PATH": "false"})
    servers = {}
    try:
        for build, (executable, environment) in executables.items():
            servers[build] = Server(executable, environment=environment)
        found = measure_rounds(servers, options)
        print_table(servers, found)
        if len(servers) > 1:
            print_comparison(found)
        print_threads(servers, found)
        for build, server in servers.items():
            print(f"\n{server.head():,} events are durable in the log of this run ({build})")
    finally:
        for server in servers.values():
            server.stop()


if __name__ == "__main__":
    main()
