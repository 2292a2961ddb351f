"""Measures what rebuilds of read models cost the requests of the running server: p50 and p99 of sends, pages, lists, badges and
searches without a rebuild, and while each read model is rebuilt in turn by `POST /v1/admin/projections/{name}/rebuild`.

In both cases, the calls come at a constant rate, several kinds at the same time, and messages are imported at a constant rate
over one stream of `POST /v1/ingest`, as by `hansard import`. Both are measured in each round, alternately in either order. At
the end, `hansard replay --verify` compares every row with the log. Fails if a request or a rebuild failed, if the server did
not process lines of the import during rebuilds, or if a row differs.
"""

import argparse
import collections
import os
import statistics
import subprocess
import sys
import time

from read import BADGE, LIST, PAGE, SEARCH, SEND, add_history, add_history_options, request_kinds
from streams.table import Goals, milliseconds, percentile, show
from workloads import paced
from workloads.bodies import LINES_AT_ONCE, Body, wait_for_views
from workloads.chat import ChatWorld
from workloads.rebuilds import Rebuilds
from workloads.writer import RATE_GOAL, Writer, Written

QUICK = {"messages": 20_000, "users": 50, "rooms": 20, "seconds": 2, "rounds": 2, "rate": 20, "imported": 500}
MEASURED = (SEND, PAGE, LIST, BADGE, SEARCH)
SHARES = (0.5, 0.99)
# The goal for p99 of sends during rebuilds, compared with p99 without.
P99_RATIO_GOAL = 1.5


class Phase:
    """One case of one round."""

    def __init__(self, calls, rebuilt, imported):
        self.calls, self.rebuilt, self.imported = calls, rebuilt, imported
        self.latencies = calls.latencies(imported.began, imported.ended)


def measure_phase(kinds, options, writer, work):
    """Calls all kinds while `work` runs. It returns what was rebuilt."""
    with paced.Calls(kinds, options.rate, continues=True) as calls:
        time.sleep(paced.WARM_SECONDS)
        imported = Written(writer)
        rebuilt = work()
        imported.end()
    return Phase(calls, rebuilt, imported)


class Rounds:
    """The two cases of each round: without a rebuild, and during rebuilds."""

    def __init__(self):
        self.without, self.during = [], []

    def measure(self, world, kinds, body, options):
        rebuilds = Rebuilds(world.port, world.server.admin)
        cases = [
            (self.without, lambda: time.sleep(options.seconds)),
            (self.during, lambda: [rebuilds.perform(name) for name in rebuilds.names()])]
        for number in range(1, options.rounds + 1):
            with Writer(world.port, world.server.admin, body, options.imported) as writer:
                # Every second round has the opposite order, because the log grows.
                for phases, work in cases if number % 2 else cases[::-1]:
                    phases.append(measure_phase(kinds, options, writer, work))
            wait_for_views(world.port)
            print(f"round {number} of {options.rounds}: {self._summary()}", flush=True)
        rebuilds.close()

    def _summary(self):
        without, during = self.without[-1], self.during[-1]
        times = [f"{milliseconds(phase.latencies[SEND], 0.99)} ms" for phase in (without, during)]
        return (f"p99 of sends {times[0]}, during rebuilds {times[1]}; "
                f"{sum(each.seconds for each in during.rebuilt):.1f} s for {len(during.rebuilt)} rebuilds")

    def pooled(self, phases, kind):
        return [latency for phase in phases for latency in phase.latencies[kind]]

    def ratio(self, kind, share):
        """The median of the ratios within each round, so that what slowed a round down slowed both."""
        return statistics.median(
            percentile(during.latencies[kind], share) / percentile(without.latencies[kind], share)
            for without, during in zip(self.without, self.during))

    @property
    def rate_ratio(self):
        """The rate of the import during rebuilds, compared with that without, in the same way."""
        return statistics.median(
            during.imported.rate / without.imported.rate for without, during in zip(self.without, self.during))

    def unprocessed(self, phases):
        return sum(phase.imported.unprocessed for phase in phases)

    def failures(self, kind):
        return [failure for phase in (*self.without, *self.during) for failure in phase.calls.failures[kind]]

    def by_read_model(self):
        """The rebuilds of each read model, and the latencies of the sends during them."""
        found = collections.defaultdict(lambda: ([], []))
        for phase in self.during:
            for rebuilt in phase.rebuilt:
                rebuilds, sends = found[rebuilt.name]
                rebuilds.append(rebuilt)
                sends += phase.calls.latencies(rebuilt.began, rebuilt.ended)[SEND]
        return found


def show_results(rounds):
    rates = [statistics.mean(phase.imported.rate for phase in phases) for phases in (rounds.without, rounds.during)]
    show(f"Latency in ms, without a rebuild while {rates[0]:,.0f} messages/s are imported, and during rebuilds while "
         f"{rates[1]:,.0f} are",
         ["", "calls", "failed", "without p50", "without p99", "during p50", "during p99", "p50 ratio", "p99 ratio"],
         [(kind, f"{len(during):,}", len(rounds.failures(kind)),
           *(milliseconds(without, share) for share in SHARES), *(milliseconds(during, share) for share in SHARES),
           *(f"{rounds.ratio(kind, share):.2f}" for share in SHARES))
          for kind in MEASURED
          for without, during in [(rounds.pooled(rounds.without, kind), rounds.pooled(rounds.during, kind))]])
    # A short rebuild may end before the first send.
    show("Rebuilds: medians of the times, and the sends during them",
         ["", "events", "seconds", "events/s", "sends", "send p50", "send p99"],
         [(name, f"{rebuilds[-1].events:,}", f"{statistics.median(each.seconds for each in rebuilds):.2f}",
           f"{statistics.median(each.events_per_second for each in rebuilds):,.0f}", f"{len(sends):,}",
           *(milliseconds(sends, share) if sends else None for share in SHARES))
          for name, (rebuilds, sends) in rounds.by_read_model().items()])
    goals = Goals()
    goals.at_most("send: p99 during rebuilds / p99 without", rounds.ratio(SEND, 0.99), P99_RATIO_GOAL, "×")
    goals.at_least("messages/s imported: during rebuilds / without", rounds.rate_ratio, RATE_GOAL)
    for name, phases in (("without a rebuild", rounds.without), ("during rebuilds", rounds.during)):
        goals.report(f"lines of the import that the server did not process, {name}", f"{rounds.unprocessed(phases):,}")
    goals.show()


def check(world, rounds):
    """Ends with an error if a request or a line of the import failed, or if a read model differs from the log."""
    verified = subprocess.run(
        [os.environ["HANSARD_BIN"], "replay", "--data", world.server.data, "--verify"], capture_output=True, text=True)
    if verified.returncode != 0:
        sys.exit(f"error: the read models differ from the log:\n{verified.stdout}{verified.stderr}")
    failed = {kind: failures for kind in MEASURED if (failures := rounds.failures(kind))}
    if failed:
        sys.exit("error: requests failed: " + "; ".join(
            f"{len(failures)} × {kind}, the first with {failures[0]}" for kind, failures in failed.items()))
    if unprocessed := rounds.unprocessed(rounds.during):
        sys.exit(f"error: the server did not process {unprocessed:,} lines of the import during rebuilds")
    print("\nNo request failed, and every row of every read model is equal to what the log gives.")


def parse():
    parser = argparse.ArgumentParser(
        prog="Tools/bench beside", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_history_options(parser)
    parser.add_argument(
        "--import", dest="imported", type=int, default=5_000, metavar="RATE", help="messages per second that are imported")
    parser.add_argument("--rate", type=int, default=50, help="calls of each kind per second")
    parser.add_argument("--seconds", type=int, default=20, help="without a rebuild, in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="everything small, to see whether it works")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    return options


def main():
    options = parse()
    with ChatWorld() as world:
        texts = add_history(world, options)
        kinds = [kind for kind in request_kinds(world, texts) if kind.name in MEASURED]
        rounds = Rounds()
        rounds.measure(world, kinds, Body(world.targets, texts, LINES_AT_ONCE, seed=3), options)
        show_results(rounds)
        check(world, rounds)


if __name__ == "__main__":
    main()
