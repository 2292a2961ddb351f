"""Measures push: the latency of sending messages while the notifications of a message to a large room go out;
notifications per second for each provider, side by side with a bare HTTP/2 client of the same library that sends the same
requests; and the outbox.

The providers are a stand-in that accepts everything at once, on one thread of another process. The tables say how busy it
was, in processors. The processor time of the server includes the fan-out and recording the outcomes.
"""

import argparse

from notifications import latency, outbox, providers
from notifications.programs import BareClient, StandIn
from notifications.world import PushWorld
from streams.table import Goals

PARTS = ("outbox", "providers", "latency")
QUICK = {"members": 100, "devices": 300, "rounds": 1, "seconds": 1, "waiting": 1}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=PARTS, choices=PARTS, help="what to measure")
    parser.add_argument("--members", type=int, default=10_000, help="members of the large room")
    parser.add_argument("--devices", type=int, default=25_000, help="devices of the members, a third of each provider")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the providers and of the latency")
    parser.add_argument("--rate", type=int, default=50, help="messages per second into another room")
    parser.add_argument("--seconds", type=int, default=10, help="how long they are sent before the notifications")
    parser.add_argument(
        "--waiting", type=int, default=2, help="messages of each text length while no provider can be reached")
    parser.add_argument("--connections", type=int, default=1, help="connections of the bare client")
    parser.add_argument("--quick", action="store_true", help="everything small, to see whether it works")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    if options.members < 4 or options.devices < 30:
        parser.error("--members must be at least 4, and --devices at least 30")
    return options


def main():
    options, goals = parse(), Goals()
    if "outbox" in options.only:
        outbox.measure(options, goals)
    if {"providers", "latency"} & set(options.only):
        with (PushWorld(options.members, options.devices) as world, StandIn(world) as stand_in,
              BareClient(world, options.connections) as bare):
            cases = providers.record(world, stand_in, bare)
            if "providers" in options.only:
                providers.measure(cases, options, goals)
            if "latency" in options.only:
                latency.measure(world, stand_in, cases[0].replay, options, goals)
    goals.show()


if __name__ == "__main__":
    main()
