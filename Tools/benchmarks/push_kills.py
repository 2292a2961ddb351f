"""Kills the server again and again while notifications go out to devices of three kinds.

Stand-ins for APNs, FCM and the push services of browsers take the notifications. At the end, each device has got each
notification of a message, of one that its user sent elsewhere and of a marker that its user moved elsewhere, and nothing
else. None arrived again unless its outcome was unknown at a kill, and the last badge on each device is right. A seed
repeats the choices, but not the order of events.
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

from harness.certificates import Authority  # noqa: E402
from harness.command import check_data  # noqa: E402
from harness.push_kills import Plan, PushKills  # noqa: E402
from harness.push_phones import PushServices  # noqa: E402
from harness.push_webhook import WebhookService  # noqa: E402

# How often the progress is printed if standard error is no terminal, in seconds.
LINE_SECONDS = 10


class Progress:
    def __init__(self):
        self.printed = 0.0

    def __call__(self, run: PushKills) -> None:
        line = (
            f"{time.monotonic() - run.began:5.0f} s  {run.phase:<8}  {run.kills}/{run.plan.kills} kills  "
            f"{len(run.required):,} alerts  {len(run.arrived):,} arrived  "
            f"{len(run.problems)} problems")
        if sys.stderr.isatty():
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.printed >= LINE_SECONDS:
            self.printed = time.monotonic()
            print(line, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how often the server is killed (100)")
    parser.add_argument(
        "--notifications", type=int, default=10_000, help="how many notifications of messages go out at least (10,000)")
    parser.add_argument("--devices", type=int, default=3_000, help="how many devices there are (3,000)")
    parser.add_argument(
        "--reads", type=float, default=0.5, help="how many markers are moved for each message, and how often a member "
        "sends it; 0 if devices are only notified of messages of others (0.5)")
    parser.add_argument(
        "--faults", type=float, default=0.01, help="the probability that a service responds with an error (0.01)")
    parser.add_argument(
        "--kinds", default=",".join(PushServices.kinds), help=f"the kinds of devices ({','.join(PushServices.kinds)})")
    parser.add_argument("--webhook", action="store_true", help="send everything to a webhook instead")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--keep", action="store_true", help="keep the server's data")
    options = parser.parse_args()
    plan = Plan(
        options.kills, options.notifications, options.devices, options.seed, options.reads, options.faults)
    print(f"seed {plan.seed}")
    build = ROOT / ".build"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="push-kills-", dir=build if build.is_dir() else None))
    services = (
        WebhookService(folder) if options.webhook else PushServices(Authority(folder / "authority"), folder / "push"))
    if not options.webhook:
        services.kinds = tuple(options.kinds.split(","))
    server = services.server(folder / "data").start()
    run = PushKills(services, server, plan, Progress())
    try:
        run.perform()
    finally:
        server.end()
        services.close()
    print(
        f"\n{run.kills} kills, {plan.devices:,} devices, {run.counts['send']:,} messages, "
        f"{run.counts['read']:,} markers moved, {time.monotonic() - run.began:.0f} s\n"
        f"{run.counts['notifications']:,} notifications; {run.counts['replaced']:,} more were replaced, and "
        f"{run.counts['dropped']:,} abandoned because the message was read; "
        f"{run.counts['retries']:,} were sent again after an error, "
        f"{run.counts['late']:,} after a late response and {run.counts['repeats']:,} after a kill")
    for name, count in sorted(run.counts.items()):
        if name.startswith(("by ", "of ")):
            print(f"  {name:<11} {count:>8,}")
    if run.problems:
        sys.exit(f"error: {run.report()}\nThe data and the server's output are in {folder}.")
    check_data(server.data)
    print("Each device got each notification that was still needed, and shows the right badge. The log is intact.")
    if not options.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
