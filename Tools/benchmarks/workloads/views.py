"""Bare queries with SQLite alone of the rows that the server reads, in the files of the running server."""

import contextlib
import pathlib
import sqlite3
import uuid

from compared.timeline import COLUMNS

PAGE = 30
# The rooms of which a user's counts are kept. Others are not in the generated history.
LIST = """
    SELECT room.*, member.unreadCount, member.mentionCount FROM member CROSS JOIN room ON room.id = member.roomId
    WHERE member.userId = ? AND member.list = 0 ORDER BY member.roomActivity DESC LIMIT ?
    """
BADGE = "SELECT unread, mentions FROM badge WHERE userId = ? AND scope = zeroblob(16)"
MESSAGES = f"SELECT {', '.join(COLUMNS)} FROM message WHERE roomId = ? AND thread = 0 ORDER BY ordinal DESC LIMIT ?"
# SQLite's own full-text search, without a filter by room.
FOUND = """
    SELECT text.text FROM (SELECT rowid AS number FROM word WHERE word MATCH ? ORDER BY rowid DESC LIMIT ?)
    CROSS JOIN text ON text.rowid = number
    """


def file(data, view):
    """The file of a view, whatever the version of its schema is."""
    return max(pathlib.Path(data, "views").glob(f"{view}-v*.sqlite"), key=lambda path: path.stat().st_mtime)


def opened(path):
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None, timeout=60)


class SearchCopy:
    """The texts of all messages as of now, with an index for prefixes of one letter, as the server's search has."""

    def __init__(self, data, path):
        self.path = path
        with contextlib.closing(sqlite3.connect(path)) as copy:
            copy.executescript("""
                PRAGMA synchronous = OFF;
                CREATE TABLE text (text TEXT NOT NULL);
                CREATE VIRTUAL TABLE word USING fts5(text, content = '', columnsize = 0, detail = none, prefix = '1');
                """)
            copy.execute("ATTACH ? AS timeline", (str(file(data, "timeline")),))
            copy.execute("INSERT INTO text SELECT text FROM timeline.message ORDER BY position")
            copy.execute("INSERT INTO word (rowid, text) SELECT rowid, text FROM text")
            copy.commit()


class Views:
    """Makes the query of a request. Each thread has its own."""

    def __init__(self, data, search):
        self.rooms, self.timeline = opened(file(data, "rooms")), opened(file(data, "timeline"))
        self.search = opened(search.path)

    def messages(self, request):
        room = uuid.UUID(request.path.split("/")[3]).bytes
        return self.timeline.execute(MESSAGES, (room, PAGE)).fetchall()

    def list(self, request):
        return self.rooms.execute(LIST, (uuid.UUID(request.user).bytes, PAGE)).fetchall()

    def badge(self, request):
        return self.rooms.execute(BADGE, (uuid.UUID(request.user).bytes,)).fetchall()

    def found(self, words):
        return self.search.execute(FOUND, (words, PAGE)).fetchall()
