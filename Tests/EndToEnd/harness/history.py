"""Chat histories: a seeded generator, a reader, and an independent calculation of what an import must produce."""

import datetime
import json
import os
import pathlib
import random
from collections import defaultdict
from dataclasses import dataclass, field

GENERATED_LINES = 20_000
SEED = 20_260_131

ENGLISH = "tea is ready who wants cake the kernel panics again try turning it off and on I like rain do you".split()
KOREAN = "오늘 점심 뭐 먹을까 비가 온다 회의는 세시에 합니다 사진 보내줘 고마워 잘 자 내일 보자 커피 한잔".split()
EMOJI = ["👍", "🎉", "😂", "❤️", "👩‍👩‍👧‍👦", "🇰🇷", "🏳️‍🌈", "🙈"]
# Texts that are often handled badly: quotes, escapes, line breaks, control characters, right to left, decomposed
# Hangul, characters outside the basic plane, and a single space.
AWKWARD = [
    'a "quoted" \\ word', "two\nlines", "tab\tand \u0007 bell", "\u202eright to left", "\u1112\u1161\u11ab", "𝔘𝔫𝔦", " ",
]
ROOMS = ["#tea", "#잡담", "#emoji 🎉"]
LONGEST_TEXT_BYTES = 16 * 1024


def _text(random: random.Random) -> str:
    dice = random.random()
    if dice < 0.45:
        return " ".join(random.choices(ENGLISH, k=random.randint(1, 14)))
    if dice < 0.85:
        return " ".join(random.choices(KOREAN, k=random.randint(1, 9)))
    if dice < 0.95:
        return "".join(random.choices(EMOJI, k=random.randint(1, 5)))
    if dice < 0.999:
        return random.choice(AWKWARD)
    return "길" * (LONGEST_TEXT_BYTES // len("길".encode()))


def generate(lines: int = GENERATED_LINES, seed: int = SEED) -> list[dict]:
    """Chat in English, Korean and emoji, with duplicate lines, repeated joins, and leaves of people who never
    joined."""
    source = random.Random(seed)
    users = [f"user {number}" for number in range(200)] + ["|trey|", "민수", "지은", "Ω", "🙂", "a'b\"c"]
    at = datetime.datetime(2021, 3, 2, tzinfo=datetime.UTC)
    entries: list[dict] = []
    while len(entries) < lines:
        at += datetime.timedelta(milliseconds=source.choice([0, 1, 250, 9_000, 60_000]))
        when = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        room = source.choices(ROOMS, weights=[6, 3, 1])[0]
        user = source.choice(users[:40] if source.random() < 0.8 else users)
        kind = source.choices(["message", "join", "leave"], weights=[90, 7, 3])[0]
        entry = {"at": when, "room": room, "type": kind, "user": user}
        if kind == "message":
            entry["text"] = _text(source)
        entries += [entry] * (source.choice([2, 3]) if source.random() < 0.01 else 1)
    return entries[:lines]


def read(path: pathlib.Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def write(entries: list[dict], path: pathlib.Path) -> pathlib.Path:
    with path.open("w", encoding="utf-8") as file:
        for entry in entries:
            file.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")
    return path


def chosen(folder: pathlib.Path) -> tuple[pathlib.Path, list[dict]]:
    """The history of HISTORY_FILE, or a generated one."""
    if name := os.environ.get("HISTORY_FILE"):
        return pathlib.Path(name), read(pathlib.Path(name))
    entries = generate()
    return write(entries, folder / "history.jsonl"), entries


@dataclass
class Recount:
    """The expected state of one room, calculated only from the input."""

    # (sender, text, time) in the order of the input.
    messages: list[tuple[str, str, str]] = field(default_factory=list)
    # How many messages each member has read: all up to the member's last join or own last message.
    read: dict[str, int] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    @property
    def members(self) -> list[str]:
        return list(self.read)

    def unread(self, user: str) -> int:
        return len(self.messages) - self.read[user]

    def apply(self, entry: dict) -> None:
        user = entry["user"]
        self.seen.add(user)
        # Sending or leaving implies having joined. A repeated join changes nothing.
        if user not in self.read:
            self.read[user] = len(self.messages)
        if entry["type"] == "message":
            self.messages.append((user, entry["text"], entry["at"]))
            self.read[user] = len(self.messages)
        elif entry["type"] == "leave":
            del self.read[user]


def recount(entries: list[dict]) -> dict[str, Recount]:
    rooms: dict[str, Recount] = defaultdict(Recount)
    for entry in entries:
        rooms[entry["room"]].apply(entry)
    return dict(rooms)
