"""Measures how long `hansard replay` takes to rebuild all read models, and `hansard replay --verify` to compare them.

Both are compared with the larger of two times: a scan of the log that decodes every event once, and a bare SQLite load
of the same rows. The load reads the rows of the finished files and inserts them into new files with the same schema and
the same pragmas, each file on its own thread, and creates the indexes last. Each row is decoded and encoded. What is
compared is measured alternately, in either order. Prints medians.

The load still does less than a rebuild must do:
- It inserts in the order of the keys, which is the fastest order. A rebuild cannot choose its order.
- It copies the tables in which SQLite stores a full-text index, and tokenizes no text.
- Its pages have no checksums.
"""

import argparse
import concurrent.futures
import contextlib
import json
import lzma
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time

from blocks import Server, ids, message
from streams.table import Goals, show

HANSARD = os.environ["HANSARD_BIN"]
LOGWORK = os.environ["LOGWORK_BIN"]
# The goal for both times, compared with the larger of the two bounds.
GOAL = 1.3
SCAN, LOAD = "scan with decoding", "bare SQLite load"
REPLAY, VERIFY = "hansard replay", "hansard replay --verify"
# Those of `ProjectionFile.openForRebuild`, for all read models at once. SQLite ignores what it does not know.
CACHE_KIBIBYTES = 512 * 1024
PRAGMAS = ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "temp_store = MEMORY",
           "secure_delete = ON")
ROOMS = 500
MEMBERS = 20
LINES_AT_ONCE = 5_000
WORDS = "tea milk sugar kettle cup spoon table window garden rain cake biscuit lemon honey ginger mint".split()


def generated(server, messages):
    """Fills a server with rooms and messages, each room in turn."""
    users = ids(ROOMS)
    server.ingest([{"op": "user.register", "id": user, "nickname": f"user {number}"}
                   for number, user in enumerate(users)])
    rooms = ids(ROOMS)
    members = [[users[(number + place) % len(users)] for place in range(MEMBERS)] for number in range(ROOMS)]
    server.ingest([{"op": "room.create", "id": room, "name": f"room {number}", "as": members[number][0]}
                   for number, room in enumerate(rooms)])
    for number, room in enumerate(rooms):
        server.ingest([{"op": "member.join", "roomId": room, "as": user}
                       for user in members[number][1:]])
    for first in range(0, messages, LINES_AT_ONCE):
        lines = []
        for number in range(first, min(first + LINES_AT_ONCE, messages)):
            room = number % ROOMS
            line = message(rooms[room], members[room][number // ROOMS % MEMBERS])
            line["text"] = " ".join(WORDS[(number * step + step) % len(WORDS)] for step in range(1, 12))
            lines.append(line)
        server.ingest(lines)


def imported(server, history):
    plain = history
    if history.suffix == ".xz":
        plain = pathlib.Path(server.data, "history.jsonl")
        with lzma.open(history) as source, open(plain, "wb") as target:
            shutil.copyfileobj(source, target)
    subprocess.run(
        [HANSARD, "import", "--server", server.url, "--token-file", server.data + "/admin-token", plain],
        stdout=subprocess.DEVNULL, check=True)


def timed(*command):
    began = time.perf_counter()
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command[:2]))} failed: {result.stderr.strip()} {result.stdout.strip()}")
    return time.perf_counter() - began


def scan_seconds(data):
    result = subprocess.run([LOGWORK, "decode", "--data", str(data)], stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout)["milliseconds"] / 1000


def copying(database, table):
    """The statement that copies a table. `SELECT *` would copy the encoded rows unchanged (the "transfer optimization" in
    SQLite's `insert.c`); with expressions, SQLite decodes every row and encodes it again."""
    columns = [f'"{column}"' for _, column, *_ in database.execute(f'PRAGMA finished.table_info("{table}")')]
    return (f'INSERT INTO main."{table}" ({", ".join(columns)}) '
            f'SELECT {", ".join(f"+{column}" for column in columns)} FROM finished."{table}"')


def load(source, target, cache_kibibytes):
    """Copies the rows of one file. A full-text index is copied as the tables in which SQLite stores it."""
    with contextlib.closing(sqlite3.connect(target, isolation_level=None)) as database:
        for pragma in (*PRAGMAS, f"cache_size = -{cache_kibibytes}"):
            database.execute(f"PRAGMA {pragma}").fetchall()
        database.execute("ATTACH ? AS finished", (f"{source}",))
        database.execute("BEGIN")
        schema = database.execute(
            "SELECT type, name, sql FROM finished.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' "
            "AND sql NOT LIKE 'CREATE VIRTUAL TABLE%'").fetchall()
        for kind, name, sql in schema:
            if kind == "table":
                database.execute(sql)
                database.execute(copying(database, name))
        for kind, _, sql in schema:
            if kind == "index":
                database.execute(sql)
        database.execute("COMMIT")


def load_seconds(data):
    files = sorted(file for file in pathlib.Path(data, "views").glob("*.sqlite") if not file.name.startswith("push"))
    with tempfile.TemporaryDirectory(dir=data) as folder:
        began = time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(len(files)) as threads:
            for done in [threads.submit(load, file, pathlib.Path(folder, file.name), CACHE_KIBIBYTES // len(files))
                         for file in files]:
                done.result()
        return time.perf_counter() - began


def measure(data, rounds):
    cases = {
        SCAN: lambda: scan_seconds(data),
        LOAD: lambda: load_seconds(data),
        REPLAY: lambda: timed(HANSARD, "replay", "--data", data),
        VERIFY: lambda: timed(HANSARD, "replay", "--data", data, "--verify")}
    seconds = {name: [] for name in cases}
    for number in range(1, rounds + 1):
        # Every second round has the opposite order, so that none always runs on the warmer machine.
        for name in cases if number % 2 else reversed(cases):
            seconds[name].append(cases[name]())
    return seconds


def events(data):
    result = subprocess.run([LOGWORK, "decode", "--data", str(data)], stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout)["events"]


def report(seconds, count):
    larger = [max(pair) for pair in zip(seconds[SCAN], seconds[LOAD])]
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    ratios = {name: statistics.median(time / bound for time, bound in zip(times, larger)) for name, times in seconds.items()}
    show(f"Medians of {len(larger)} rounds, and ratios to the larger of the first two",
         ["", "seconds", "events/s", "ratio"],
         [(name, f"{medians[name]:.2f}", f"{count / medians[name]:,.0f}", f"{ratios[name]:.2f}") for name in seconds])
    goals = Goals()
    for name in (REPLAY, VERIFY):
        goals.at_most(f"{name} / the larger of the scan and the bare load", ratios[name], GOAL, "×")
    goals.show()


def main():
    parser = argparse.ArgumentParser(
        prog="Tools/bench rebuild", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=250_000, help="how many messages are generated")
    parser.add_argument("--history", type=pathlib.Path, help="a chat history to import instead, as `hansard import` reads")
    options = parser.parse_args()
    with Server(HANSARD) as server:
        if options.history:
            imported(server, options.history)
        else:
            generated(server, options.messages)
        server.wait_for_read_models()
        server.stop()
        # The layout of a file that followed the log is another one, so the load always reads rebuilt files.
        timed(HANSARD, "replay", "--data", server.data)
        count = events(server.data)
        report(measure(server.data, options.rounds), count)


if __name__ == "__main__":
    main()
