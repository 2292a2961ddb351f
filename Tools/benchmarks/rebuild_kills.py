"""Kills the server again and again while all read models are rebuilt beside it.

Meanwhile, messages are sent one by one and in bursts, and notify a device. After each start, no acknowledged message is missing,
every read model answers and is equal to what the log gives, and no unfinished file is left. No notification arrives again whose
outcome was in the log. A seed repeats the choices, but not the order of events.
"""

import argparse
import pathlib
import random
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd"))

from harness.rebuild_kills import PHASES, Moment, Plan, RebuildKills  # noqa: E402
from harness.server import Server  # noqa: E402
from streams.table import show  # noqa: E402

# How often the progress is printed if standard error is no terminal, in seconds.
LINE_SECONDS = 10
BAR_COLUMNS = 30


class Progress:
    def __init__(self):
        self.printed = 0.0

    def __call__(self, run: RebuildKills) -> None:
        filled = BAR_COLUMNS * run.kills // run.plan.kills
        line = (
            f"[{'#' * filled}{'.' * (BAR_COLUMNS - filled)}] {run.kills}/{run.plan.kills} kills, {run.late} late  "
            f"{time.monotonic() - run.began:,.0f} s  {len(run.sent) + len(run.burst):,} messages  "
            f"{len(run.problems)} problems")
        if sys.stderr.isatty():
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.printed >= LINE_SECONDS:
            self.printed = time.monotonic()
            print(line, file=sys.stderr, flush=True)


def report(run: RebuildKills) -> None:
    print(
        f"\n{run.kills} kills during rebuilds, {run.late} after their end, {time.monotonic() - run.began:.0f} s\n"
        f"{len(run.sent):,} messages sent one by one, {len(run.burst):,} by bulk ingest, "
        f"{len(run.notifications):,} notifications")
    show("Kills by what they waited for", ["", "kills"], [(moment.value, run.moments[moment]) for moment in Moment])
    show("Where the rebuild of each read model was at the kills", ["", *PHASES],
         [(name, *(run.hits[name, phase] for phase in PHASES)) for name in run.names])
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="how often the server is killed during rebuilds (50)")
    parser.add_argument("--messages", type=int, default=50_000, help="in the log before the first rebuild (50,000)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--keep", action="store_true", help="keep the server's data")
    options = parser.parse_args()
    plan = Plan(options.kills, options.messages, options.seed)
    print(f"seed {plan.seed}")
    build = ROOT / ".build"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rebuild-kills-", dir=build if build.is_dir() else None))
    sink = folder / "notifications.jsonl"
    server = Server(folder / "data", "--push-file", str(sink)).start()
    run = RebuildKills(server, sink, plan, Progress())
    try:
        run.perform()
    finally:
        server.end()
    report(run)
    if run.problems:
        sys.exit(f"error: {run.report()}\nThe data and the server's output are in {folder}.")
    print("Nothing was lost, served unfinished or notified twice. The log is intact.")
    if not options.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
