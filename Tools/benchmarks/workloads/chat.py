"""A server with a chat history, generated or imported."""

import collections
import json
import os
import pathlib
import random
import subprocess
import time

from compared.history import uncompressed
from streams.world import World

from .bodies import LINES_AT_ONCE, Body, IngestConnection, Room, wait_for_views
from .texts import lines

# Users of an imported history who send and read.
IMPORTED_USERS = 50


class ChatWorld(World):
    """`targets` are the rooms that get messages, and `rooms_of` has those of each user who reads."""

    def __init__(self, seed=1):
        super().__init__()
        self.source = random.Random(seed)
        self.targets, self.rooms_of = [], collections.defaultdict(list)

    def restart(self):
        """Returns after how many seconds the server was ready."""
        seconds = self.server.restart()
        self.process = self.server.process
        return seconds

    def memory(self):
        """The resident bytes: all of them, and those that are not mapped files."""
        fields = dict(
            line.split(":") for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        return tuple(int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "RssAnon"))

    # MARK: Content

    def add_rooms(self, groups):
        """A room for each list of members."""
        for room, members in zip(self.rooms(groups), groups):
            self._add(room, members)

    def _add(self, room, members):
        self.targets.append(Room(room, members))
        for member in members:
            self.rooms_of[member].append(room)

    def add_random_rooms(self, users, rooms, members):
        people = self.users(users)
        self.add_rooms([self.source.sample(people, min(members, users)) for _ in range(rooms)])

    def fill(self, texts, messages):
        """Sends so many messages into the rooms and waits for the read models. Returns the seconds that it took."""
        began = time.monotonic()
        body = Body(self.targets, texts, min(messages, LINES_AT_ONCE), seed=1)
        stream = IngestConnection(self.port, self.server.admin)
        while messages >= body.lines:
            stream.send(body.fresh(), body.lines)
            messages -= body.lines
        if messages:
            rest = Body(self.targets, texts, messages, seed=2)
            stream.send(rest.fresh(), rest.lines)
        stream.close()
        wait_for_views(self.port)
        return time.monotonic() - began

    def import_history(self, history):
        """Imports a history. Its users who wrote most are those who send and read."""
        path = uncompressed(history, self.server.data)
        report = pathlib.Path(self.server.data, "import-report.json")
        subprocess.run(
            [os.environ["HANSARD_BIN"], "import", "--server", self.server.url, "--token-file",
             self.server.data + "/admin-token", "--report", report, path], stdout=subprocess.DEVNULL, check=True)
        ids = json.loads(report.read_text())["users"]
        wrote = collections.Counter(line["user"] for line in lines(path) if line["type"] == "message")
        members = collections.defaultdict(list)
        for user in [ids[name] for name, _ in wrote.most_common(IMPORTED_USERS)]:
            for room in self.room_list(user):
                members[room].append(user)
        for room, users in sorted(members.items(), key=lambda each: -len(each[1])):
            self._add(room, users)
        wait_for_views(self.port)

    def room_list(self, user):
        """The IDs of the user's first rooms."""
        connection = self.connection()
        connection.request("GET", "/v1/rooms?limit=100", headers={
            "Authorization": f"Bearer {self.server.admin}", "Hansard-Act-As": user})
        rooms = [room["id"] for room in json.load(connection.getresponse())["rooms"]]
        connection.close()
        return rooms
