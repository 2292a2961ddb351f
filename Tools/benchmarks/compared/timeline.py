"""A bare read of the messages in the read model `timeline`, with SQLite alone."""

import contextlib
import pathlib
import sqlite3
import time

# What a sync reads of a message, besides its room and thread.
COLUMNS = (
    "messageId", "ordinal", "sender", "sentAt", "position", "revision", "editedAt", "deletedAt", "details", "text")
CACHE_KIBIBYTES = 65_536


def copy(data, target):
    """Copies the read model of a running server as of one moment."""
    source, = pathlib.Path(data, "views").glob("timeline-v*.sqlite")
    with contextlib.closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as original:
        with contextlib.closing(sqlite3.connect(target)) as copied:
            original.backup(copied)


class Timeline:
    """A copy, as it is read by one connection that keeps its pages in memory."""

    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.connection.execute(f"PRAGMA cache_size = -{CACHE_KIBIBYTES}")
        self.rooms = [room for room, in self.connection.execute("SELECT DISTINCT roomId FROM message WHERE thread = 0")]

    def values_rate(self):
        """Messages per second, room by room, with the values of all columns in the hands of the caller."""
        query = f"SELECT {', '.join(COLUMNS)} FROM message WHERE roomId = ? AND thread = 0 ORDER BY ordinal"
        began, count = time.perf_counter(), 0
        for room in self.rooms:
            count += len(self.connection.execute(query, (room,)).fetchall())
        return count / (time.perf_counter() - began)

    def scan_rate(self):
        """The same, but SQLite looks at the values itself and returns one number for each room."""
        lengths = " + ".join(f"ifnull(length({column}), 0)" for column in COLUMNS)
        query = f"SELECT count(*), sum({lengths}) FROM message WHERE roomId = ? AND thread = 0"
        began, count = time.perf_counter(), 0
        for room in self.rooms:
            count += self.connection.execute(query, (room,)).fetchone()[0]
        return count / (time.perf_counter() - began)
