"""Compares durable `PUT message` with three programs that get the same request and respond with as many bytes: SwiftNIO alone,
Hummingbird alone, and an endpoint of the server that checks the token, decodes the message and writes nothing.

All are measured alternately, in one run, over 64 connections and over one. With `--against` another build of hansard
is measured in the same rounds, with `--against-router` the same build without the direct path of messages, with
`--against-metrics` the same build with metrics on. The results are ratios: an absolute figure says more about the machine and
its disk than about the server.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import typing
import urllib.request
import uuid

from streams.table import Goals, show

HERE = pathlib.Path(__file__).resolve().parent
# By the number of connections: the goal for the rate of durable messages, as a share of that of Hummingbird alone.
GOALS = {64: 0.7, 1: 0.6}
# What is measured.
NIO, FRAMEWORK, DECODED, DURABLE = "SwiftNIO alone", "Hummingbird alone", "only decoded", "durable"
# How long a server may take until it is ready.
START_SECONDS = 600
POLL_SECONDS = 0.005
# How often `/metrics` is read to find what that costs.
SCRAPES = 20
# How often the lag is read with `--lag`, in seconds.
LAG_SAMPLE_SECONDS = 0.25
LAG_PARTS = 10
# The goal for the largest lag in the second half of that time / in the first half: it does not grow.
LAG_GOAL = 1.2
# A message of typical length.
TEXT = "The kettle is on, the cups are warm, and whoever comes up the stairs now still gets the good biscuits."


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Program:
    """A running program, and how much processor time it has used."""

    def __init__(self, process):
        self.process = process

    def processor_seconds(self):
        """User and system."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def processor_seconds_of_threads(self):
        """The same by thread, more precisely. Threads of one kind are added up; those that have ended are not in it."""
        seconds = collections.Counter()
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            # A thread can end between being listed and being read.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                used = int((task / "schedstat").read_text().split()[0]) / 1e9
                seconds[re.sub(r"(-#?\d+)+$|-\d+-#\d+$", "", (task / "comm").read_text().rstrip("\n"))] += used
        return seconds

    def largest_lag(self):
        """How many durable events the slowest read model has not applied. Zero for a program without read models."""
        return 0

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Bare(Program):
    """A program of the package `http`. It responds to every message with a body of `length` bytes."""

    path = f"/v1/rooms/{uuid.uuid4()}/messages/"
    token = "none"

    def __init__(self, name, length):
        super().__init__(subprocess.Popen(
            [pathlib.Path(os.environ["BARE_BIN"], name), str(length)], stdout=subprocess.PIPE, text=True))
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    @classmethod
    def responding_like(cls, name, bytes):
        """Its whole responses have so many bytes. The bare programs have fewer headers than the server, so their bodies are
        longer."""
        # As long as any length that has three digits.
        trial, length = cls(name, 100), 100
        length += bytes - put(trial.url, cls.path, cls.token)
        trial.stop()
        program = cls(name, length)
        if (found := put(program.url, cls.path, cls.token)) != bytes:
            raise SystemExit(f"a response of {name} has {found} bytes, one of the server {bytes}")
        return program


def put(url, path, token):
    """Sends one message, and returns how many bytes the response has."""
    host, port = url.removeprefix("http://").split(":")
    body = json.dumps({"text": TEXT}).encode()
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            f"PUT {path}{uuid.uuid4()} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65_536)
        head, body = received.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
        while len(body) < length:
            body += connection.recv(65_536)
    return len(head) + 4 + len(body)


class Server(Program):
    """A build on a free port, with its data on the disk that the repository is on."""

    def __init__(self, executable, *flags, environment={}):
        self.data = tempfile.mkdtemp(prefix="bench-", dir=HERE.parent.parent / ".build")
        self.url = f"http://127.0.0.1:{free_port()}"
        self.command = [
            executable, "serve", "--data", self.data, "--listen", self.url.removeprefix("http://"),
            "--bench", "--access-token-lifetime", "86400", *flags]
        # One user who sends as fast as possible would reach any limit. High limits cost as much as the defaults.
        self.environment = os.environ | {
            f"HANSARD_RATE_LIMITS_{kind}_REQUESTS": "10000000" for kind in ("USER", "DEVICE", "ADDRESS")} | {
            f"HANSARD_QUOTAS_{kind}_PER_DAY": "100000000000" for kind in ("EVENTS", "BYTES", "ROOMS")} | {
                "HANSARD_QUOTAS_MESSAGES_PER_DAY": "100000000000",
                # Otherwise each request that is sent before the server is ready would be a line in its log.
                "LOG_LEVEL": "warning"} | environment
        self.start()
        self.admin = pathlib.Path(self.data, "admin-token").read_text().strip()
        user, room = str(uuid.uuid4()), str(uuid.uuid4())
        self.call("POST", "/v1/accounts", {"id": user, "nickname": "bench"}, self.admin)
        self.token = self.call("POST", "/v1/sessions", {}, self.admin, **{"Hansard-Act-As": user})["accessToken"]
        self.call("POST", "/v1/rooms", {"id": room, "name": "bench"}, self.token)
        self.paths = {"durable": f"/v1/rooms/{room}/messages/", "decode": "/bench/messages/"}

    def start(self):
        """Returns after how many seconds the server was ready."""
        began = time.perf_counter()
        super().__init__(subprocess.Popen(self.command, env=self.environment, stdout=subprocess.DEVNULL))
        while time.perf_counter() - began < START_SECONDS and self.process.poll() is None:
            try:
                urllib.request.urlopen(self.url + "/readyz")
                return time.perf_counter() - began
            except OSError:
                time.sleep(POLL_SECONDS)
        raise SystemExit("the server did not become ready")

    def restart(self):
        """Stops the server and starts it with the same data."""
        super().stop()
        return self.start()

    def readiness(self):
        with urllib.request.urlopen(self.url + "/readyz") as response:
            return json.load(response)

    def head(self):
        return self.readiness()["head"]

    def largest_lag(self):
        return max(each["lag"] for each in self.readiness()["projections"])

    def call(self, method, path, body, token, **headers):
        request = urllib.request.Request(
            self.url + path, method=method, data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers})
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def stop(self):
        super().stop()
        shutil.rmtree(self.data)


class Sample(typing.NamedTuple):
    requests_per_second: float
    # Of a request, the median.
    milliseconds: float
    # Of the server for one request.
    processor_microseconds: float
    # The same by thread.
    threads: dict[str, float]
    # Of a read model at the end, in events.
    lag: int


class Case(typing.NamedTuple):
    """What wrk sends messages to."""

    name: str
    program: Program
    path: str


def measure(case, connections, seconds, number):
    server = case.program
    environment = dict(
        os.environ, BENCH_PATH=case.path, BENCH_TOKEN=server.token, BENCH_TEXT=TEXT, BENCH_ROUND=str(number))
    clients = 2 if connections > 1 else 1
    before, threads_before = server.processor_seconds(), server.processor_seconds_of_threads()
    result = subprocess.run(
        ["wrk", f"-t{clients}", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(HERE / "ingest.lua"),
         server.url],
        env=environment, capture_output=True, text=True, check=True).stdout
    used = server.processor_seconds() - before
    threads = server.processor_seconds_of_threads() - threads_before
    lag = server.largest_lag()
    if "Non-2xx" in result or "Socket errors" in result:
        raise SystemExit(f"requests failed, so there is nothing to compare:\n{result}")
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", result).group(1))
    requests = int(re.search(r"(\d+) requests in", result).group(1))
    value, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", result).groups()
    requests = max(requests, 1)
    return Sample(
        rate, float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit], used * 1e6 / requests,
        {name: seconds * 1e6 / requests for name, seconds in threads.items()}, lag)


def median(samples, field):
    return statistics.median(getattr(sample, field) for sample in samples)


def ratio(samples, others, field):
    """The median of the ratios within each round, so that what slowed a round down slowed both."""
    return statistics.median(getattr(one, field) / getattr(other, field) for one, other in zip(samples, others))


def measure_rounds(cases, options):
    """The samples by connections and case. In each round every case is measured, in turn."""
    found = {connections: {case.name: [] for case in cases} for connections in GOALS}
    for case in cases:
        measure(case, 64, 1, 0)
    for number in range(1, options.rounds + 1):
        # Every second round has the opposite order, so that none always runs on the warmer machine.
        turn = cases if number % 2 else cases[::-1]
        for connections in GOALS:
            for case in turn:
                found[connections][case.name].append(measure(case, connections, options.seconds, number))
        print(f"round {number} of {options.rounds}", flush=True)
    return found


def show_rates(found, options):
    for connections, samples in found.items():
        framework = samples[FRAMEWORK]
        show(f"{connections} connections, medians of {options.rounds} rounds",
             ["", "requests/s", "/ Hummingbird", "median ms", "CPU µs", "/ Hummingbird"],
             [(name, f"{median(each, 'requests_per_second'):,.0f}", f"{ratio(each, framework, 'requests_per_second'):.2f}",
               f"{median(each, 'milliseconds'):.2f}", f"{median(each, 'processor_microseconds'):.1f}",
               f"{ratio(each, framework, 'processor_microseconds'):.2f}") for name, each in samples.items()])


def show_threads(found):
    """The processor time for one request by thread, in microseconds."""
    for connections, samples in found.items():
        names = sorted({name for each in samples.values() for sample in each for name in sample.threads})
        figures = {
            name: [statistics.median(sample.threads.get(name, 0) for sample in each) for each in samples.values()]
            for name in names}
        show(f"{connections} connections, CPU µs of a request by thread", ["", *samples],
             [(name, *(f"{figure:.1f}" if figure >= 0.5 else None for figure in row))
              for name, row in figures.items() if max(row) >= 0.5])


def scrape_milliseconds(server, port):
    """The server's processor time for one scrape."""
    before = server.processor_seconds()
    for _ in range(SCRAPES):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as response:
            response.read()
    return (server.processor_seconds() - before) * 1e3 / SCRAPES


def measure_lag(case, seconds):
    """The largest lag of a read model in each part of the time, in events, while 64 connections send durable messages."""
    lags, is_over = [[] for _ in range(LAG_PARTS)], threading.Event()
    began = time.perf_counter()

    def read():
        while not is_over.wait(LAG_SAMPLE_SECONDS):
            lag = case.program.largest_lag()
            part = int((time.perf_counter() - began) / seconds * LAG_PARTS)
            if part < LAG_PARTS:
                lags[part].append(lag)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        rate = measure(case, 64, seconds, 0).requests_per_second
    finally:
        is_over.set()
        reader.join()
    largest = [max(part, default=0) for part in lags]
    show(f"Largest lag of a read model while 64 connections send durable messages for {seconds} s, {rate:,.0f} per second",
         ["until second", "events"],
         [(f"{seconds * (part + 1) / LAG_PARTS:g}", f"{lag:,}") for part, lag in enumerate(largest)])
    return largest


def show_summary(found, other, lags):
    goals = Goals()
    if lags:
        half = LAG_PARTS // 2
        goals.at_most(
            "largest lag of a read model in the second half / in the first", max(lags[half:]) / max(*lags[:half], 1), LAG_GOAL,
            "×")
    for connections, goal in GOALS.items():
        samples = found[connections]
        goals.at_least(
            f"durable messages / Hummingbird alone, {connections} connections",
            ratio(samples[DURABLE], samples[FRAMEWORK], "requests_per_second"), goal)
        goals.report(
            f"durable messages / only decoded, {connections} connections",
            f"{ratio(samples[DURABLE], samples[DECODED], 'requests_per_second'):.2f}")
        goals.report(
            f"largest lag of a read model at the end of durable samples, {connections} connections, events",
            f"{max(sample.lag for sample in samples[DURABLE]):,}")
        if other:
            for name, field in (("rate", "requests_per_second"), ("CPU", "processor_microseconds")):
                goals.report(
                    f"{name} of durable messages, this build / {other}, {connections} connections",
                    f"{ratio(samples[DURABLE], samples[f'{DURABLE}, {other}'], field):.2f}")
    goals.show()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument(
        "--lag", type=int, metavar="SECONDS",
        help="then send durable messages for so long, and show how the lag of the read models changes")
    others = parser.add_mutually_exclusive_group()
    others.add_argument(
        "--against", metavar="EXECUTABLE", help="measure this other build of hansard too, alternately, and compare")
    others.add_argument(
        "--against-router", action="store_true",
        help="measure this build with http.directPath off too, alternately, and compare")
    others.add_argument(
        "--against-metrics", action="store_true",
        help="measure this build with metrics on too, alternately, and compare")
    options = parser.parse_args()
    this, other, metrics_port = os.environ["HANSARD_BIN"], None, free_port()
    programs = []

    def start(program):
        programs.append(program)
        return program

    try:
        server = start(Server(this))
        bytes = put(server.url, server.paths["durable"], server.token)
        cases = [
            *(Case(name, start(Bare.responding_like(executable, bytes)), Bare.path)
              for name, executable in ((NIO, "bare-nio"), (FRAMEWORK, "bare-hummingbird"))),
            Case(DECODED, server, server.paths["decode"]), Case(DURABLE, server, server.paths["durable"])]
        if options.against:
            other, environment = "other build", {}
        elif options.against_router:
            other, environment = "router", {"HANSARD_HTTP_DIRECT_PATH": "false"}
        elif options.against_metrics:
            other, environment = "metrics on", {"HANSARD_METRICS_PORT": str(metrics_port)}
        if other:
            compared = start(Server(options.against or this, environment=environment))
            cases += [Case(f"{name}, {other}", compared, compared.paths[kind])
                      for name, kind in ((DECODED, "decode"), (DURABLE, "durable"))]
        found = measure_rounds(cases, options)
        show_rates(found, options)
        show_threads(found)
        show_summary(found, other, measure_lag(cases[3], options.lag) if options.lag else [])
        if options.against_metrics:
            print(f"\na scrape takes {scrape_milliseconds(compared, metrics_port):.1f} ms of the server's processor time")
        print(f"\n{server.head():,} events are durable in the log of this run")
    finally:
        for program in programs:
            program.stop()


if __name__ == "__main__":
    main()
