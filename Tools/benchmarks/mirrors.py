"""Lets hundreds of clients follow a server over all transports while others write without a pause.

Each client keeps a mirror, and connects, drops and resumes at random. The server is killed and stopped meanwhile. At
the end, every mirror must equal what the endpoints show. A seed repeats the choices, but not the order of events.
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

from harness.command import check_data  # noqa: E402
from harness.mirrors.run import Plan, Run  # noqa: E402
from harness.server import UNLIMITED, Server  # noqa: E402

# Tokens expire within the run, but not so often that the clients mostly renew them.
TOKEN_SECONDS = 30
COLUMNS = ("connects", "left", "cut", "logouts", "expired", "renewed", "lost", "ends", "refused", "pages", "items")
# How often the progress is printed if standard error is no terminal, in seconds.
LINE_SECONDS = 10


class Progress:
    def __init__(self):
        self.printed = 0.0

    def __call__(self, run: Run) -> None:
        seconds, written = time.monotonic() - run.began, run.writers.written.total()
        line = (
            f"{seconds:5.0f} s  {run.phase:<11}  {written:,} writes  {run.connected}/{len(run.clients)} connected  "
            f"{run.total('items'):,} items  {len(run.situation.endings)} restarts  {len(run.situation.problems)} problems")
        if sys.stderr.isatty():
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.printed >= LINE_SECONDS:
            self.printed = time.monotonic()
            print(line, file=sys.stderr, flush=True)


def table(run: Run) -> str:
    """What the clients did, by transport."""
    rows = [["transport", *COLUMNS]]
    for name, counts in sorted(run.situation.counts.items()):
        rows.append([name, *(f"{counts[column]:,}" for column in COLUMNS)])
    rows.append(["all", *(f"{run.total(column):,}" for column in COLUMNS)])
    return "\n".join(
        f"{first:<18}" + "".join(f"{cell:>9}" for cell in cells) for first, *cells in rows)


def report(run: Run, seconds: float) -> None:
    written, refused = run.writers.written, run.writers.refused
    print(f"\n{table(run)}")
    print(f"{len(run.clients)} clients, {run.situation.endings.count('kill')} kills, "
          f"{run.situation.endings.count('stop')} stops, {seconds:.0f} s")
    print(f"{written.total():,} writes: " + ", ".join(f"{name} {count:,}" for name, count in written.most_common()))
    print(f"{refused.total():,} refused: " + ", ".join(f"{name} {count:,}" for name, count in refused.most_common(12)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=120, help="how long the writers write (120)")
    parser.add_argument(
        "--rate", type=float, default=60, help="most writes per second, so that one process can follow (60)")
    parser.add_argument("--kills", type=int, default=2, help="how often the server is killed (2)")
    parser.add_argument("--stops", type=int, default=1, help="how often the server is stopped (1)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--keep", action="store_true", help="keep the server's data")
    options = parser.parse_args()
    plan = Plan(
        options.clients, options.seconds, options.kills, options.stops, options.seed, options.rate, TOKEN_SECONDS)
    print(f"seed {plan.seed}")
    build = ROOT / ".build"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mirrors-", dir=build if build.is_dir() else None))
    environment = UNLIMITED | {
        "HANSARD_CONNECTIONS_PER_ADDRESS": "0", "HANSARD_ACCESS_TOKEN_LIFETIME": str(TOKEN_SECONDS)}
    server = Server(folder / "data", environment=environment).start()
    run = Run(server, plan, Progress())
    began = time.monotonic()
    try:
        run.perform()
        seconds = time.monotonic() - began
    finally:
        server.end()
    report(run, seconds)
    if run.situation.problems:
        sys.exit(f"error: {run.problems()}\nThe data and the server's output are in {folder}.")
    check_data(server.data)
    print("Every mirror equals what the endpoints show. The log is intact, and a replay gives the same read models.")
    if not options.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
