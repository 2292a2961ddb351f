"""Measures `POST /v1/ingest`: durable messages per second in bursts, and sustained with every read model. The client shares the
cores of the server; its processor time is in the tables, and a program that only reads the same bytes shows its limit.
"""

import argparse
import collections
import pathlib
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

from streams.table import Goals, show
from workloads.bodies import LINES_AT_ONCE, Body, IngestConnection, wait_for_views
from workloads.chat import ChatWorld
from workloads.sink import Sink
from workloads.texts import Texts

QUICK = {"burst": 10_000, "seconds": 2, "rounds": 1}
USERS, ROOMS, MEMBERS = 1_000, 200, 20
# The goals, in messages per second.
BURST_GOAL, SUSTAINED_GOAL = 150_000, 50_000
# The goal for the processor time of all views for a message in a burst, in microseconds.
VIEWS_GOAL = 12
# At this lag behind the log, the server accepts nothing until the read models have caught up.
LAG_BOUND = 200_000
CLIENT = "client"
# The processor time of the whole server, and what is not that of a thread that still runs.
SERVER, ENDED = "server, all", "threads that have ended (checkpoints, sealing)"
VIEW = "view-"
# What runs on the threads whose names do not say it.
THREADS = {"NIO-SGLTN": "event loops", "SGLTN-TP": "thread pool", "hansard-writer": "writer"}
# Threads that need less for a message are added up.
LEAST_MICROSECONDS = 0.05


class Clock:
    """The processor time of the server's threads and of this process, in seconds, since it was created."""

    def __init__(self, server):
        self.server, self.began = server, time.perf_counter()
        self.before = self._read()

    def _read(self):
        threads = self.server.processor_seconds_of_threads()
        return (self.server.processor_seconds(), time.process_time(),
                collections.Counter({THREADS.get(name, name): seconds for name, seconds in threads.items()}))

    def used(self):
        """By thread, with the client and the whole server."""
        (server, client, threads), (server_before, client_before, threads_before) = self._read(), self.before
        # Subtraction leaves out what is less than before: that thread has ended, and another one has its name.
        used, total = dict(threads - threads_before), server - server_before
        # The total is counted in ticks, so it can be less than the sum.
        return {**used, ENDED: max(0, total - sum(used.values())), SERVER: total, CLIENT: client - client_before}

    def seconds(self):
        return time.perf_counter() - self.began


class Phase:
    """What was measured of one kind, in each round."""

    def __init__(self, name):
        self.name, self.rates, self.threads, self.sent_again = name, [], [], 0

    def add(self, messages, seconds, used):
        self.rates.append(messages / seconds)
        self.threads.append({name: each * 1e6 / messages for name, each in used.items()})

    @property
    def rate(self):
        return statistics.median(self.rates)

    def microseconds(self, thread):
        return statistics.median(each.get(thread, 0) for each in self.threads)

    @property
    def views_microseconds(self):
        """Of the threads that apply events to views. Checkpoints of their files run on other threads."""
        return statistics.median(
            sum(used for name, used in each.items() if name.startswith(VIEW)) for each in self.threads)


def together(function, arguments):
    """Calls the function with each of the arguments, all at the same time."""
    with ThreadPoolExecutor(len(arguments)) as pool:
        for future in [pool.submit(function, *each) for each in arguments]:
            future.result()


class Bench:
    def __init__(self, world, texts, options):
        self.world, self.options = world, options
        lines = min(LINES_AT_ONCE, -(-options.burst // options.connections))
        # Each connection has other messages.
        self.bodies = [Body(world.targets, texts, lines, seed) for seed in range(options.connections)]
        self.burst, self.views = Phase("burst"), Phase("the rest, until the views follow")
        self.both, self.sustained = Phase("burst with views"), Phase("sustained with views")
        self.sink = Phase("client alone")

    def _connections(self, port):
        return [IngestConnection(port, self.world.server.admin) for _ in self.bodies]

    def send(self, streams, prepared):
        """Sends the bodies of each connection, all connections at the same time."""
        def run(stream, bodies, lines):
            for body in bodies:
                stream.send(body, lines)

        together(run, [(*each, body.lines) for *each, body in zip(streams, prepared, self.bodies)])

    def prepare(self):
        """The bodies of one burst, by connection."""
        count = max(1, round(self.options.burst / sum(body.lines for body in self.bodies)))
        prepared = [[body.fresh() for _ in range(count)] for body in self.bodies]
        return prepared, count * sum(body.lines for body in self.bodies)

    def measure_burst(self):
        prepared, messages = self.prepare()
        streams, clock = self._connections(self.world.port), Clock(self.world.server)
        self.send(streams, prepared)
        seconds, used = clock.seconds(), clock.used()
        self.burst.add(messages, seconds, used)
        self.burst.sent_again += sum(stream.sent_again for stream in streams)
        rest = Clock(self.world.server)
        wait_for_views(self.world.port)
        self.views.add(messages, rest.seconds(), rest.used())
        self.both.add(messages, clock.seconds(), clock.used())
        for stream in streams:
            stream.close()

    def measure_sink(self):
        """The same burst to a program that does nothing with it."""
        with Sink(self.bodies[0].lines) as sink:
            prepared, messages = self.prepare()
            streams, began, used = self._connections(sink.port), time.perf_counter(), time.process_time()
            self.send(streams, prepared)
            self.sink.add(messages, time.perf_counter() - began, {CLIENT: time.process_time() - used})
            for stream in streams:
                stream.close()

    def measure_sustained(self):
        """Messages count only when all read models have applied them."""
        streams, clock, messages = self._connections(self.world.port), Clock(self.world.server), [0] * len(self.bodies)

        def run(index, stream, body):
            while clock.seconds() < self.options.seconds:
                stream.send(body.fresh(), body.lines)
                messages[index] += body.lines

        together(run, [(index, *each) for index, each in enumerate(zip(streams, self.bodies))])
        wait_for_views(self.world.port)
        self.sustained.add(sum(messages), clock.seconds(), clock.used())
        self.sustained.sent_again += sum(stream.sent_again for stream in streams)
        for stream in streams:
            stream.close()

    def run(self):
        # The first burst fills caches and makes the first segments of the log.
        self.measure_burst()
        for phase in (self.burst, self.views, self.both):
            phase.rates, phase.threads = [], []
        for number in range(1, self.options.rounds + 1):
            self.measure_sink()
            self.measure_burst()
            self.measure_sustained()
            print(f"round {number} of {self.options.rounds}", flush=True)

    def show(self):
        goals, rounds = Goals(), self.options.rounds
        phases = (self.sink, self.burst, self.both, self.sustained)
        show(f"Messages by POST /v1/ingest over {self.options.connections} connections, medians of {rounds} rounds",
             ["", "messages/s", "lowest", "highest", "/ client alone", "server CPU µs", "client CPU µs", "sent again"],
             [(phase.name, *(f"{each:,.0f}" for each in (phase.rate, min(phase.rates), max(phase.rates))),
               f"{phase.rate / self.sink.rate:.2f}", f"{phase.microseconds(SERVER):.1f}", f"{phase.microseconds(CLIENT):.1f}",
               f"{phase.sent_again:,}") for phase in phases])
        phases = (self.burst, self.views, self.sustained)
        names = sorted({name for phase in phases for each in phase.threads for name in each})
        rows = [(name, *(phase.microseconds(name) for phase in phases)) for name in names]
        small = [row for row in rows if max(row[1:]) < LEAST_MICROSECONDS]
        shown = sorted((row for row in rows if row not in small), key=lambda row: -row[-1])
        shown.append(("others", *(sum(row[index] for row in small) for index in (1, 2, 3))))
        show("Processor time of a message by thread, in µs", ["", *(phase.name for phase in phases)],
             [(name, *(f"{figure:.2f}" for figure in figures)) for name, *figures in shown])
        goals.at_least("durable messages/s in bursts", self.burst.rate, BURST_GOAL)
        goals.at_least("messages/s sustained with every view", self.sustained.rate, SUSTAINED_GOAL)
        goals.at_most("processor time of all views for a message in bursts, without checkpoints",
                      self.both.views_microseconds, VIEWS_GOAL, "µs")
        goals.show()


def main():
    parser = argparse.ArgumentParser(prog="Tools/bench bulk", description=__doc__)
    parser.add_argument("--burst", type=int, default=120_000, help="messages of a burst, less than the lag bound")
    parser.add_argument("--connections", type=int, default=1, help="connections, each with one stream of lines")
    parser.add_argument("--seconds", type=int, default=20, help="how long messages are sent for the sustained rate")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--history", type=pathlib.Path, help="take the texts from this chat history")
    parser.add_argument("--quick", action="store_true", help="everything small, to see whether it works")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    if options.burst >= LAG_BOUND:
        raise SystemExit(f"a burst must have less than {LAG_BOUND:,} messages")
    texts = Texts.of(options.history) if options.history else Texts.generated()
    with ChatWorld() as world:
        world.add_random_rooms(USERS, ROOMS, MEMBERS)
        wait_for_views(world.port)
        bench = Bench(world, texts, options)
        bench.run()
        bench.show()
        print(f"\n{world.server.head():,} events are durable in the log of this run")


if __name__ == "__main__":
    main()
