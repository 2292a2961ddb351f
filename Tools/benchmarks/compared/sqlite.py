"""SQLite in WAL mode, synced at each commit, with one connection for each writing thread."""

import pathlib
import sqlite3
import tempfile
import threading
import time

PAYLOAD_BYTES = 300
BUSY_SECONDS = 60


def connect(path):
    # Without an isolation level, each statement commits by itself.
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def insert_rate(folder, clients, seconds):
    """Returns the single-row commits per second."""
    path = pathlib.Path(tempfile.mkdtemp(dir=folder), "events.sqlite")
    connect(path).execute("CREATE TABLE events (position INTEGER PRIMARY KEY, payload BLOB NOT NULL)")
    payload = b"k" * PAYLOAD_BYTES
    counts = [0] * clients
    begin = threading.Barrier(clients + 1)
    over = threading.Event()

    def write(number):
        connection = connect(path)
        begin.wait()
        while not over.is_set():
            connection.execute("INSERT INTO events (payload) VALUES (?)", (payload,))
            counts[number] += 1
        connection.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    begin.wait()
    start = time.perf_counter()
    time.sleep(seconds)
    total, passed = sum(counts), time.perf_counter() - start
    over.set()
    for thread in threads:
        thread.join()
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()
    return total / passed
