"""Runs `hansard import`, and sends a history to `/v1/ingest` line by line while it records every result."""

import json
import pathlib
import threading
import uuid
from dataclasses import dataclass, field

from .client import Api
from .command import Outcome, hansard
from .history import Recount
from .people import timeline
from .server import Server
from .stream import IngestStream

# Well below the maximum size of an ingest body.
LINES_A_REQUEST = 20_000
NAMESPACE = uuid.UUID("6d0f6c0e-58f1-5d5b-8f8e-3a9f6a0c1b11")


def run_import(
    server: Server, file: pathlib.Path, report: pathlib.Path | None = None, results: pathlib.Path | None = None,
    expect: int | None = 0,
) -> Outcome:
    more = (["--report", report] if report else []) + (["--results", results] if results else [])
    token = server.data / "admin-token"
    return hansard("import", "--server", server.url, "--token-file", token, *more, file, expect=expect)


def counts(outcome: Outcome) -> dict:
    """The JSON counts in the last line of the output."""
    return json.loads(outcome.output.strip().splitlines()[-1])


def _id(*parts) -> str:
    return str(uuid.uuid5(NAMESPACE, "\u0000".join(map(str, parts))))


@dataclass
class History:
    """Ingest lines of a history, with IDs derived from the line and its number among identical lines."""

    lines: list[dict] = field(default_factory=list)
    rooms: dict[str, str] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: list[dict]) -> "History":
        history = cls()
        members: set[tuple[str, str]] = set()
        occurrences: dict[str, int] = {}
        for entry in entries:
            history._add(entry, members, occurrences)
        return history

    def _add(self, entry: dict, members: set, occurrences: dict) -> None:
        room, user, at = entry["room"], entry["user"], entry["at"]
        if user not in self.users:
            self.users[user] = _id("user", user)
            self.lines.append({"op": "user.register", "id": self.users[user], "nickname": user, "sentAt": at})
        if room not in self.rooms:
            self.rooms[room] = _id("room", room)
            self.lines.append({"op": "room.create", "id": self.rooms[room], "name": room, "sentAt": at})
        text = json.dumps(entry, sort_keys=True)
        occurrences[text] = occurrences.get(text, 0) + 1
        id = _id(text, occurrences[text])
        common = {"as": self.users[user], "roomId": self.rooms[room], "sentAt": at}
        if (room, user) not in members:
            members.add((room, user))
            # The key makes a second run harmless: without it, a user who has left since would join again.
            self.lines.append({"op": "member.join", "key": _id("join", text, occurrences[text]), **common})
        if entry["type"] == "message":
            self.lines.append({"op": "message.send", "id": id, "text": entry["text"], **common})
        elif entry["type"] == "leave":
            members.discard((room, user))
            self.lines.append({"op": "member.leave", "key": id, **common})


class Feed:
    """Sends lines, and kills the server after a given number of results."""

    def __init__(self, server: Server):
        self.server = server

    def run(self, lines: list[dict], kill_after: int | None) -> list[dict]:
        """The results received, with `line` counted over all requests. With `kill_after`, the server is killed after
        that many results."""
        received: list[dict] = []
        for start in range(0, len(lines), LINES_A_REQUEST):
            limit = None if kill_after is None else kill_after - len(received)
            for result in self._request(lines[start : start + LINES_A_REQUEST], limit):
                received.append(result | {"line": result["line"] + start})
            if self.server.process is None:
                break
        return received

    def _request(self, lines: list[dict], kill_after: int | None) -> list[dict]:
        received: list[dict] = []
        with IngestStream(self.server, self.server.token) as stream:
            sender = threading.Thread(target=self._send, args=(stream, lines))
            sender.start()
            for result in stream.results():
                received.append(result)
                if len(received) == kill_after:
                    self.server.kill()
                    # Results that had reached the client before the kill count as received.
                    received += stream.results()
                    break
            sender.join()
        return received

    @staticmethod
    def _send(stream: IngestStream, lines: list[dict]) -> None:
        try:
            for start in range(0, len(lines), 200):
                stream.send(*lines[start : start + 200])
            stream.finish()
        except OSError:
            # The server was killed while this thread was sending.
            return


def check_rooms(server: Server, rooms: dict[str, str], users: dict[str, str], recounts: dict[str, Recount]) -> None:
    """Pages through each room and checks that it has exactly the messages of the input, in the same order."""
    names = {id: name for name, id in users.items()}
    for name, recount in recounts.items():
        reader = Api(server, server.token, act_as=users[recount.members[0]])
        shown = [
            (names[message["senderId"]], message["text"], message["sentAt"])
            for message in timeline(reader, rooms[name])
        ]
        assert len(shown) == len(recount.messages), f"{name}: {len(shown)} messages instead of {len(recount.messages)}"
        for number, (is_, should) in enumerate(zip(shown, recount.messages)):
            assert is_ == should, f"{name}, message {number}"
