"""Measures p50, p99 and p99.9 of requests while 5,000 messages per second are written by bulk ingest, and on the idle server.

The calls come at a constant rate, several kinds at the same time. An endpoint that decodes a message and writes nothing, and
bare SQLite queries of the same rows, are called in the same seconds; with them the requests are compared.
"""

import argparse
import os
import pathlib
import random

from ingest import TEXT
from streams.table import Goals, percentile, show
from workloads import paced
from workloads.bodies import LINES_AT_ONCE, Body, wait_for_views
from workloads.chat import ChatWorld
from workloads.requests import Connection, Request, Requests
from workloads.texts import Texts
from workloads.views import SearchCopy, Views
from workloads.writer import RATE_GOAL, Writer, Written

QUICK = {"messages": 5_000, "users": 50, "rooms": 20, "seconds": 2, "rounds": 1, "rate": 20}
SHARES = (0.5, 0.99, 0.999)
# Of each room of the generated history.
MEMBERS = 20
SEND, PAGE, LIST, BADGE = "send", "page of 30", "list of rooms", "badge"
SEARCH, PREFIX = "search, any word", "search, one letter"
DECODE = "only decoded"
# With what each kind of request is compared.
BARE = {SEND: DECODE, **{name: f"SQLite: {name}" for name in (PAGE, LIST, BADGE, SEARCH, PREFIX)}}
# The goals, in milliseconds.
P99_GOALS = {PAGE: 5, PREFIX: 20}


def request_kinds(world, texts):
    """Each thread has a connection and its own random numbers."""
    def kind(name, method):
        def open():
            connection = Connection(world.port, world.server.admin)
            requests = Requests(world.rooms_of, texts, seed=os.urandom(8))
            make = getattr(requests, method)
            return lambda: connection.perform(make())
        return paced.Kind(name, open)

    def open_decode():
        connection, number = Connection(world.port, world.server.token), random.Random()
        path, body = world.server.paths["decode"], f'{{"text":"{TEXT}"}}'
        return lambda: connection.perform(
            Request("PUT", f"{path}{world.run}{number.getrandbits(48):012x}", None, body))

    return [
        *(kind(name, method) for name, method in (
            (SEND, "send"), (PAGE, "page"), (LIST, "list"), (BADGE, "badge"), (SEARCH, "search"), (PREFIX, "search_prefix"))),
        paced.Kind(DECODE, open_decode)]


def query_kinds(world, texts, search):
    """The same with SQLite alone."""
    def kind(name, query):
        def open():
            views = Views(world.server.data, search)
            requests = Requests(world.rooms_of, texts, seed=os.urandom(8))
            return lambda: query(views, requests)
        return paced.Kind(BARE[name], open)

    return [
        kind(PAGE, lambda views, requests: views.messages(requests.page())),
        kind(LIST, lambda views, requests: views.list(requests.list())),
        kind(BADGE, lambda views, requests: views.badge(requests.badge())),
        kind(SEARCH, lambda views, requests: views.found(texts.any(requests.source))),
        kind(PREFIX, lambda views, requests: views.found(texts.prefix(requests.source)))]


class Found:
    """The latencies of all rounds in microseconds, by kind, and how many messages were written per second."""

    def __init__(self):
        self.idle, self.busy, self.rates, self.unprocessed = {}, {}, [], 0

    def add(self, phase, latencies):
        for name, values in latencies.items():
            phase.setdefault(name, []).extend(values)


def measure(world, kinds, body, options):
    found = Found()
    for number in range(1, options.rounds + 1):
        found.add(found.idle, paced.measure(kinds, options.rate, options.seconds))
        with Writer(world.port, world.server.admin, body, options.write) as writer:
            written = Written(writer)
            found.add(found.busy, paced.measure(kinds, options.rate, options.seconds))
            written.end()
            found.rates.append(written.rate)
            found.unprocessed += written.unprocessed
        wait_for_views(world.port)
        print(f"round {number} of {options.rounds}: {found.rates[-1]:,.0f} messages/s were written", flush=True)
    return found


def milliseconds(values):
    return [f"{percentile(values, share) / 1000:,.2f}" for share in SHARES]


def ratios(values, others):
    return [f"{percentile(values, share) / percentile(others, share):.2f}" for share in SHARES]


def show_results(found, options):
    written = f"{sum(found.rates) / len(found.rates):,.0f} messages/s are written"
    names = ["p50", "p99", "p99.9"]
    show(f"Latency in ms on the idle server and while {written}",
         ["", "calls", *(f"idle {name}" for name in names), *(f"busy {name}" for name in names),
          *(f"{name} / idle" for name in names)],
         [(name, f"{len(found.busy[name]):,}", *milliseconds(found.idle[name]), *milliseconds(found.busy[name]),
           *ratios(found.busy[name], found.idle[name])) for name in found.busy])
    show(f"Latency while {written}, compared with a bare one in the same seconds",
         ["", "compared with", *(f"{name} / bare" for name in names)],
         [(name, bare, *ratios(found.busy[name], found.busy[bare])) for name, bare in BARE.items()])
    goals = Goals()
    goals.at_least("messages/s written, of those that should be", sum(found.rates) / len(found.rates) / options.write, RATE_GOAL)
    goals.report("lines that the overloaded server did not process", f"{found.unprocessed:,}")
    for name, goal in P99_GOALS.items():
        goals.at_most(f"{name}: p99 while messages are written", percentile(found.busy[name], 0.99) / 1000, goal, "ms")
    goals.show()


def add_history_options(parser):
    parser.add_argument("--history", type=pathlib.Path, help="import this chat history; by default one is generated")
    parser.add_argument("--messages", type=int, default=200_000, help="of the generated history")
    parser.add_argument("--users", type=int, default=1_000, help="of the generated history")
    parser.add_argument("--rooms", type=int, default=200, help="of the generated history, each with 20 members")


def add_history(world, options):
    """Imports or generates the history, and returns its texts."""
    if options.history:
        texts = Texts.of(options.history)
        world.import_history(options.history)
    else:
        texts = Texts.generated()
        world.add_random_rooms(options.users, options.rooms, MEMBERS)
        world.fill(texts, options.messages)
    print(f"{world.server.head():,} events in the log", flush=True)
    return texts


def parse():
    parser = argparse.ArgumentParser(prog="Tools/bench read", description=__doc__)
    add_history_options(parser)
    parser.add_argument("--write", type=int, default=5_000, help="messages per second that are written")
    parser.add_argument("--rate", type=int, default=40, help="calls of each kind per second")
    parser.add_argument("--seconds", type=int, default=20, help="of each round, idle and while messages are written")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="everything small, to see whether it works")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    return options


def main():
    options = parse()
    with ChatWorld() as world:
        texts = add_history(world, options)
        search = SearchCopy(world.server.data, pathlib.Path(world.server.data, "search-copy.sqlite"))
        kinds = [*request_kinds(world, texts), *query_kinds(world, texts, search)]
        body = Body(world.targets, texts, LINES_AT_ONCE, seed=3)
        show_results(measure(world, kinds, body, options), options)


if __name__ == "__main__":
    main()
