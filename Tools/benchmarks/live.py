"""Measures live streams, side by side with a WebSocket echo of SwiftNIO alone: requests over one connection, the
server's memory for an idle stream, how long a message takes to reach the members of a large room and of many small rooms,
and catch-ups.

The load comes from a process of its own, which has one thread and does not parse what it gets. The tables say how busy
it was, in processors. Latencies count from the sender's response, which is sent when the message is durable; a negative
one means that the message arrived before the response.
"""

import argparse
import resource

from streams import catch_up, fan_out, round_trips
from streams.load import BareEcho, Load
from streams.table import Goals
from streams.world import KINDS, World

PARTS = ("requests", "rooms", "pairs", "catch-up")
QUICK = {
    "streams": 500, "messages": 3, "rooms": 200, "rate": 200, "seconds": 2, "requests": 200, "rounds": 1,
    "changed": 5_000}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=PARTS, choices=PARTS, help="what to measure")
    parser.add_argument("--kinds", nargs="+", default=["websocket", "sse"], choices=list(KINDS), help="of streams")
    parser.add_argument(
        "--streams", type=int, default=10_000, help="idle connections, and live members of the large room")
    parser.add_argument("--messages", type=int, default=20, help="messages into the large room")
    parser.add_argument("--rooms", type=int, default=5_000, help="small rooms")
    parser.add_argument("--rate", type=int, default=1_000, help="messages per second into the small rooms")
    parser.add_argument("--seconds", type=int, default=20, help="how long messages go into the small rooms")
    parser.add_argument("--requests", type=int, default=3_000, help="requests one by one over one connection")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of requests and of catch-ups")
    parser.add_argument("--changed", type=int, default=100_000, help="messages of a catch-up")
    parser.add_argument("--quick", action="store_true", help="everything small, to see whether it works")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    return options


def main():
    options, goals = parse(), Goals()
    wanted = max(options.streams, 2 * options.rooms) + 1_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < wanted:
        raise SystemExit(f"this needs {wanted:,} open files, but the hard limit is {hard:,} (ulimit -Hn)")
    # All programs inherit the limit. The server and the generator have one file for each stream.
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if "requests" in options.only:
        with World("--conformance") as world, BareEcho() as bare, Load() as load:
            round_trips.measure(world, bare, load, options, goals)
    if "rooms" in options.only:
        fan_out.measure_rooms(options, goals)
    if "pairs" in options.only:
        fan_out.measure_pairs(options, goals)
    if "catch-up" in options.only:
        catch_up.measure(options, goals)
    goals.show()


if __name__ == "__main__":
    main()
