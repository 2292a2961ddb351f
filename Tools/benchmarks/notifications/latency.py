"""How long sending a message takes while the notifications of another message go out."""

import threading
import time

from ingest import TEXT
from streams.load import processor_seconds
from streams.table import milliseconds, percentile, show

from .progress import Progress

SENDERS = 8
# The median while notifications go out, divided by that before.
MEDIAN_GOAL = 1.1
# The 99th percentile while notifications go out, divided by that while the bare client sends as many. It is not compared with
# that before, because busy cores raise it whatever the server does.
P99_GOAL = 1.25


class Sends:
    """Sends messages at a constant rate, whatever the latencies are. A latency counts from when the request was due."""

    def __init__(self, world, rate):
        self.world, self.rate = world, rate
        self.number = 0
        # When each request was due, in seconds of the monotonic clock, and its latency in microseconds.
        self.times = []
        self.began = time.monotonic()
        self.is_stopped = False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self._send, daemon=True) for _ in range(SENDERS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_stopped = True
        for thread in self.threads:
            thread.join()

    def _send(self):
        world = self.world
        connection = world.connection()
        while not self.is_stopped:
            with self.lock:
                self.number += 1
                due = self.began + self.number / self.rate
                world.number += 1
                path = f"/v1/rooms/{world.quiet_room}/messages/{world.run}{world.number:012x}"
            time.sleep(max(due - time.monotonic(), 0))
            world.call(connection, world.sender, path, {"text": TEXT})
            self.times.append((due, (time.monotonic() - due) * 1e6))
        connection.close()

    def between(self, start, end):
        return [latency for due, latency in self.times if start <= due < end]


class Phases:
    """The latencies of all rounds, in microseconds."""

    def __init__(self):
        self.before, self.during, self.bare = [], [], []
        # Notifications per second, from the response to the message to the last arrival.
        self.rates = []
        self.processors = []
        self.resident = []

    def measure(self, world, stand_in, replay, seconds, rate):
        total = sum(world.devices.values())
        with Sends(world, rate) as sends:
            # The first requests open connections.
            time.sleep(1)
            start = time.monotonic()
            time.sleep(seconds)
            middle = time.monotonic()
            stand_in.begin()
            used, resident = processor_seconds(world.process), [world.resident]

            def count():
                resident.append(world.resident)
                return stand_in.count()

            _, responded = world.send(world.room)
            Progress("notifications while messages are sent", total).follow(count)
            end = time.monotonic()
            self.processors.append((processor_seconds(world.process) - used) / (end - middle))
            world.wait_until_settled()
            last = max(arrived["last"] for arrived in stand_in.arrived().values()) / 1e9
            self.rates.append(total / (last - responded))
            self.resident.append((resident[0], max(resident), world.resident))
            control = time.monotonic()
            replay(int(self.rates[-1] * seconds), int(self.rates[-1]))
            over = time.monotonic()
        self.before += sends.between(start, middle)
        self.during += sends.between(responded, last)
        self.bare += sends.between(control, over)


def measure(world, stand_in, replay, options, goals):
    """`replay` sends so many requests of the bare client at a rate."""
    phases = Phases()
    for _ in range(options.rounds):
        phases.measure(world, stand_in, replay, options.seconds, options.rate)
    base = phases.before
    rows = []
    for name, times in (
            ("before", phases.before), ("while notifications go out", phases.during),
            ("while the bare client sends as many", phases.bare)):
        ratios = [f"{percentile(times, share) / percentile(base, share):.2f}" for share in (0.5, 0.99)]
        rows.append((
            name, f"{len(times):,}", milliseconds(times, 0.5), milliseconds(times, 0.99), milliseconds(times, 1),
            *(ratios if times is not base else (None, None))))
    rates = sorted(phases.rates)
    show(f"Latency of sending, {options.rate} messages/s into another room, in ms", [
        "", "messages", "p50", "p99", "largest", "p50 / before", "p99 / before"], rows)
    middle = len(rates) // 2
    show(f"A message to a room of {options.members:,} members with {options.devices:,} devices ({world.mixture}), medians "
         f"of {options.rounds}", ["notifications", "per second", "server", "MiB before", "largest", "after"], [(
             f"{options.devices:,}", f"{rates[middle]:,.0f}", f"{sorted(phases.processors)[middle]:.2f}",
             *(f"{sorted(values)[middle] / 2**20:,.0f}" for values in zip(*phases.resident)))])

    def ratio(share, other):
        return percentile(phases.during, share) / percentile(other, share)

    name = "latency of sending while notifications go out"
    goals.at_most(f"{name}, p50 / before", ratio(0.5, base), MEDIAN_GOAL, "×")
    goals.at_most(f"{name}, p99 / with the bare client", ratio(0.99, phases.bare), P99_GOAL, "×")
    goals.report(f"{name}, p99 / before", f"{ratio(0.99, base):.2f}")
