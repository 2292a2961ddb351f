"""Requests on one connection: WebSocket echoes, commands, and the same requests over HTTP."""

import json
import statistics

from ingest import TEXT

from .load import processor_seconds
from .table import percentile, show
from .world import END_OF_HEAD, upgrade

WINDOWS = (1, 64)
# Echoes are so fast that with fewer of them, the start would dominate the time.
ECHO_FACTOR = 10
ECHO = '"type":"command"'
RESPONSE = '"type":"response"'


class Target:
    """What is measured: how its connection is opened, and what its requests look like.

    `requests` returns as many different ones as are needed. `factor` is larger where a request takes less time.
    """

    def __init__(self, name, process, port, opening, until, requests, response, is_web_socket=True, factor=1):
        self.name, self.process, self.port, self.requests, self.factor = name, process, port, requests, factor
        self.opening, self.until, self.response, self.is_web_socket = opening, until, response, is_web_socket
        self.samples = {window: [] for window in WINDOWS}

    def measure(self, load, window, count):
        count *= self.factor
        used = processor_seconds(self.process)
        report = load.perform(requests={
            "port": self.port, "opening": self.opening, "until": self.until, "isWebSocket": self.is_web_socket,
            "requests": self.requests(count), "count": count, "window": window, "response": self.response})
        report["rate"] = count / report["seconds"]
        report["server"] = (processor_seconds(self.process) - used) / count * 1e6
        report["generator"] = report["processor"] / report["seconds"]
        self.samples[window].append(report)

    def median(self, window, field):
        return statistics.median(sample[field] for sample in self.samples[window])

    def times(self):
        return [time for sample in self.samples[1] for time in sample["responses"]]


class Requests:
    """Requests of one user, as commands and over HTTP."""

    def __init__(self, world):
        self.world = world
        self.user, = world.users(1)
        self.room, = world.rooms([[self.user]])
        self.opening = world.stream(self.user, "websocket", world.cursor(self.user))
        self.number = 0

    def typing(self, _):
        """Changes nothing if it is repeated, so it costs what every request costs."""
        return [(f"/v1/rooms/{self.room}/typing", {"typing": True})]

    def messages(self, count):
        self.number += count
        return [(f"/v1/rooms/{self.room}/messages/{self.world.run}{number:012x}", {"text": TEXT})
                for number in range(self.number - count, self.number)]

    def frames(self, contents):
        return [json.dumps({"type": "command", "id": "bench", "method": "PUT", "path": path, "body": body},
                           separators=(",", ":")) for path, body in contents]

    def commands(self, name, content):
        return Target(
            name, self.world.process, self.world.port, self.opening, '"ready"',
            lambda count: self.frames(content(count)), RESPONSE)

    def http(self, name, content, status):
        return Target(
            name, self.world.process, self.world.port, "", "",
            lambda count: [self.world.put(self.user, path, body) for path, body in content(count)],
            f"HTTP/1.1 {status} ", is_web_socket=False)


def measure(world, bare, load, options, goals):
    """`world` serves the conformance endpoints."""
    requests = Requests(world)

    def echo(name, process, port, path):
        return Target(
            name, process, port, upgrade(path), END_OF_HEAD, lambda count: requests.frames(requests.typing(count)),
            ECHO, factor=ECHO_FACTOR)

    targets = [
        echo("echo, SwiftNIO alone", bare.process, bare.port, "/"),
        echo("echo, /conformance/ws", world.process, world.port, "/conformance/ws"),
        requests.commands("command that writes nothing", requests.typing),
        requests.http("the same as PUT", requests.typing, 200),
        requests.commands("command that sends a message", requests.messages),
        requests.http("the same as PUT", requests.messages, 201),
    ]
    for number in range(options.rounds + 1):
        # Every second round goes backwards, so that no target always follows the same one. The first only warms up.
        for target in targets if number % 2 else reversed(targets):
            for window in WINDOWS:
                target.measure(load, window, options.requests * (1 if window == 1 else 4))
        if number == 0:
            for target in targets:
                target.samples = {window: [] for window in WINDOWS}
    show_targets(targets, options)
    show_ratios(targets, goals)


def show_ratios(targets, goals):
    bare, conformance, command, put, send, put_message = targets
    rows = []
    for name, one, other in (
            ("/conformance/ws / echo of SwiftNIO", conformance, bare), ("command / echo of SwiftNIO", command, bare),
            ("command / PUT, nothing written", command, put), ("command / PUT, durable message", send, put_message)):
        ratios = [ratio(one, other, window) for window in WINDOWS]
        rows.append((name, *(f"{each:.2f}" for each in ratios)))
        goals.report(f"{name}, requests/s, one by one and 64 in flight", " and ".join(f"{each:.2f}" for each in ratios))
    show("Ratios of requests/s (medians of the ratios within each round)", ["", "1 in flight", "64 in flight"], rows)


def ratio(one, other, window):
    return statistics.median(
        mine["rate"] / its["rate"] for mine, its in zip(one.samples[window], other.samples[window]))


def show_targets(targets, options):
    rows = []
    for target in targets:
        times = target.times()
        rows.append((
            target.name, f"{percentile(times, 0.5):,}", f"{percentile(times, 0.99):,}",
            *(f"{target.median(window, 'rate'):,.0f}" for window in WINDOWS),
            *(f"{target.median(window, 'server'):.0f}" for window in WINDOWS),
            *(f"{target.median(window, 'generator'):.2f}" for window in WINDOWS)))
    show(f"One connection, {options.rounds} rounds of {options.requests:,} requests one by one and "
         f"{4 * options.requests:,} with 64 in flight, {ECHO_FACTOR} times as many echoes",
         ["", "1: p50 µs", "1: p99 µs", "1: requests/s", "64: requests/s", "1: server µs", "64: server µs",
          "1: generator", "64: generator"], rows)
