"""Compares the log with PostgreSQL 15, Redis and SQLite, with bare system calls and with the bare decoder.

Each round is measured in the same minutes on the same file system; the results are ratios of the medians.
Every round writes to new files, so that no round is slowed by an earlier one.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from compared import history, sqlite
from compared.postgres import Postgres
from compared.redis import Redis

HERE = pathlib.Path(__file__).resolve().parent
LOGWORK = os.environ["LOGWORK_BIN"]
WRITERS = 64
# The number of records in the logs that are scanned: 120 MB before compression.
SCANNED_RECORDS = 400_000
SYNCS = 1_000


def logwork(*arguments):
    """Runs one measurement of the log and returns its report."""
    result = subprocess.run(
        [LOGWORK, *[str(argument) for argument in arguments]], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"logwork {arguments[0]} failed: {result.stderr.strip()}")
    return json.loads(result.stdout)


def append(data, outstanding, seconds, *more):
    return logwork(
        "append", "--writers", WRITERS, "--outstanding", outstanding, "--seconds", seconds, "--data", data, *more)


def raw_sync_milliseconds(folder):
    """The median time to write 4 KiB into a written file and call fdatasync, which shows how busy the disk is."""
    times = []
    descriptor = os.open(folder / "sync", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        block = b"\1" * 4096
        os.pwrite(descriptor, bytes(4096 * SYNCS), 0)
        os.fdatasync(descriptor)
        for number in range(SYNCS):
            start = time.perf_counter()
            os.pwrite(descriptor, block, 4096 * number)
            os.fdatasync(descriptor)
            times.append(time.perf_counter() - start)
    finally:
        os.close(descriptor)
        os.unlink(folder / "sync")
    return statistics.median(times) * 1000


class Rounds:
    """The measured values by name, one value for each round."""

    def __init__(self):
        self.values = {}
        self.units = {}

    def add(self, name, value, unit):
        self.values.setdefault(name, []).append(value)
        self.units[name] = unit

    def median(self, name):
        return statistics.median(self.values[name])


def measure_round(folder, seconds, postgres, redis, rounds):
    def fresh():
        return tempfile.mkdtemp(dir=folder)

    rounds.add("sync of 4 KiB", raw_sync_milliseconds(folder), "ms")
    for outstanding in (1, 16):
        data = fresh()
        report = append(data, outstanding, seconds)
        rounds.add(f"log, {WRITERS} writers, {outstanding} outstanding", report["eventsPerSecond"], "events/s")
        rounds.add(f"log, {outstanding} outstanding: events per sync", report["eventsPerSync"], "events")
        writer = report["writerThreadSeconds"] / report["events"]
        rounds.add(f"log, {outstanding} outstanding: writer's thread", writer * 1e9, "ns/event")
        shutil.rmtree(data)
        rounds.add(f"Redis XADD, {outstanding} pipelined", redis.xadd_rate(outstanding, seconds), "events/s")
        if outstanding == 1:
            rounds.add("PostgreSQL, single-row commits", postgres.insert_rate(seconds), "events/s")
            rates = {clients: sqlite.insert_rate(folder, clients, seconds) for clients in (1, WRITERS)}
            rounds.add("SQLite WAL FULL, 64 clients", rates[WRITERS], "events/s")
            rounds.add("SQLite WAL FULL, 1 client", rates[1], "events/s")
    data = fresh()
    report = append(data, 16, seconds, "--sealing")
    rounds.add("log, 16 outstanding, sealing meanwhile", report["eventsPerSecond"], "events/s")
    shutil.rmtree(data)
    data = fresh()
    report = logwork("latency", "--data", data)
    rounds.add("one writer: log", report["logMedianMicroseconds"], "us")
    rounds.add("one writer: pwrite and fdatasync", report["rawMedianMicroseconds"], "us")
    rounds.add("one writer: ratio", report["ratio"], "")
    shutil.rmtree(data)
    data = fresh()
    report = logwork("merkle", "--seconds", min(seconds, 2), "--data", data)
    rounds.add("tree: hashing", report["hashNanosecondsPerEvent"], "ns/event")
    rounds.add("tree: writer's thread meanwhile", report["writerThreadNanosecondsPerEvent"], "ns/event")
    rounds.add("tree: append, all threads", report["processNanosecondsPerEvent"], "ns/event")
    rounds.add("tree: share of all threads", report["shareOfProcess"], "")
    rounds.add("tree: share of the writer's thread", report["shareOfWriterThread"], "")
    shutil.rmtree(data)


def measure_scans(folder, rounds, count):
    """Measures both kinds of segment. Each log is created once and scanned in as many rounds as the rest."""
    for kind, flags in (("active", []), ("sealed", ["--seal"])):
        data = tempfile.mkdtemp(dir=folder)
        logwork("fill", "--records", SCANNED_RECORDS, "--data", data, *flags)
        for _ in range(count):
            report = logwork("scan", "--rounds", 3, "--data", data)
            rounds.add(f"scan, {kind} segments", report["scanGigabytesPerSecond"], "GB/s")
            rounds.add(f"LZ4 alone, {kind} segments", report["decodeGigabytesPerSecond"], "GB/s")
            rounds.add(f"scan, {kind} segments: ratio", report["ratio"], "")
        shutil.rmtree(data)


def goals(rounds):
    """Returns the name, the ratio, the goal, and whether more is better, for each goal."""
    one = rounds.median(f"log, {WRITERS} writers, 1 outstanding")
    many = rounds.median(f"log, {WRITERS} writers, 16 outstanding")
    sqlite = max(rounds.median("SQLite WAL FULL, 64 clients"), rounds.median("SQLite WAL FULL, 1 client"))
    return [
        ("1 outstanding / PostgreSQL", one / rounds.median("PostgreSQL, single-row commits"), 15, True),
        ("1 outstanding / Redis", one / rounds.median("Redis XADD, 1 pipelined"), 5, True),
        ("1 outstanding / SQLite (the better count)", one / sqlite, 10, True),
        ("16 outstanding / Redis, 16 pipelined", many / rounds.median("Redis XADD, 16 pipelined"), 2, True),
        ("16 outstanding, million events/s", many / 1e6, 1, True),
        ("one writer / pwrite and fdatasync", rounds.median("one writer: ratio"), 1.15, False),
        ("scan / LZ4 alone, active", rounds.median("scan, active segments: ratio"), 0.8, True),
        ("scan / LZ4 alone, sealed", rounds.median("scan, sealed segments: ratio"), 0.8, True),
        ("tree / append, all threads", rounds.median("tree: share of all threads"), 0.5, False),
    ]


def number(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def print_table(rounds, compared):
    width = max(len(name) for name in [*rounds.values, *[row[0] for row in compared]])
    print(f"\n{'measured':{width}}  {'median':>10}  {'least':>10}  {'most':>10}  unit")
    for name, values in rounds.values.items():
        row = [number(statistics.median(values)), number(min(values)), number(max(values))]
        print(f"{name:{width}}  {row[0]:>10}  {row[1]:>10}  {row[2]:>10}  {rounds.units[name]}".rstrip())
    print(f"\n{'ratio of medians':{width}}  {'ratio':>10}  {'goal':>10}  reached")
    for name, ratio, goal, more in compared:
        reached = ratio >= goal if more else ratio <= goal
        sign = ">=" if more else "<="
        print(f"{name:{width}}  {ratio:>10.2f}  {sign + f' {goal:g}':>10}  {'yes' if reached else 'no'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--history", type=pathlib.Path, help="a chat history, to import and seal")
    options = parser.parse_args()
    rounds = Rounds()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=HERE.parent.parent / ".build"))
    # PostgreSQL runs as another user and must be able to enter this folder, which contains its own.
    folder.chmod(0o755)
    try:
        with Postgres(folder, WRITERS) as postgres, Redis(folder, WRITERS) as redis:
            for index in range(1, options.rounds + 1):
                measure_round(folder, options.seconds, postgres, redis, rounds)
                print(f"round {index} of {options.rounds}", flush=True)
        measure_scans(folder, rounds, options.rounds)
        compared = goals(rounds)
        if options.history:
            size = history.bytes_per_message(options.history, folder)
            rounds.add("sealed history", size, "bytes/message")
            compared.append(("sealed history, bytes for each message", size, 48, False))
        print_table(rounds, compared)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
