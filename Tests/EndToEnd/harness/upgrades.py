"""What must still hold when another version opens a data directory: recorded from one version, checked against another."""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import tarfile
import tempfile

import requests

from .client import new_id
from .command import hansard
from .contract import contract
from .places import ROOT
from .server import Server
from .upgrade_story import EXTERNAL_ID, NICKNAMES, PASSWORD, SERVICE, TIMEOUT_SECONDS, Command, Story, Users
from .waiting import wait_until

DATA_SETS = ROOT / "Tests" / "Fixtures" / "upgrades"
ARCHIVE = "data.tar.xz.base64"
EXPECTED = "expected.json"
# Each of the two files, which are text in the repository.
MAXIMUM_BYTES = 250_000
LINE_CHARACTERS = 120
# What is not in the data set, or is written again if it is missing.
LEFT_OUT = ("lock", "clock", "admin-token", "media/thumbnails", "media/incoming")
# These responses depend on the time, the build, or the installed libraries: what is left of invites, states, thumbnails.
UNCOMPARED = {
    "/", "/healthz", "/readyz", "/openapi.yaml", "/v1/sync/stream", "/v1/sync/socket", "/v1/media/{mediaId}/thumbnail",
    "/v1/admin/projections", "/v1/invites/{token}", "/v1/rooms/{roomId}/invites", "/v1/workspaces/{workspaceId}/invites"}
QUERIES = {"/v1/search": "?q=kettle", "/v1/admin/users": f"?externalId={EXTERNAL_ID}", "/v1/admin/push/explain": None}
NO_ROUTE = ("route_not_found", "method_not_allowed")
# The whole state of one user is enough; other endpoints show that of the others.
WHO_SYNCS = ["Ben"]
POSITIONS = ("position", "revision")
# Opaque values, whose form may change. Earlier ones stay valid.
OPAQUE = {"nextCursor", "previousCursor", "cursor"}


def push_flags(data: pathlib.Path) -> tuple[str, ...]:
    return "--push-file", str(data.parent / f"{data.name}.notifications")


@contextlib.contextmanager
def executable(path: pathlib.Path):
    """Within the block, the harness runs this executable."""
    before = os.environ.get("HANSARD_BIN")
    os.environ["HANSARD_BIN"] = str(path)
    try:
        yield
    finally:
        os.environ.pop("HANSARD_BIN")
        if before is not None:
            os.environ["HANSARD_BIN"] = before


@contextlib.contextmanager
def serving(data: pathlib.Path):
    server = Server(data, *push_flags(data)).start()
    try:
        yield server
    finally:
        server.end()


# ---- Recording


def record(data: pathlib.Path, origin: dict) -> dict:
    """Writes a story to a new data directory with the executable, seals half of it, and returns what any later version must
    respond. The directory is that of a stopped server."""
    with serving(data) as server:
        story = Story(server)
        story.make_users()
        story.talk()
    hansard("log", "seal", "--data", data)
    head = hansard("log", "checkpoint", "--data", data).output
    with serving(data) as server:
        story.server = story.users.server = server
        story.work()
        story.use_newer()
        story.delete_dora()
        story.follow()
        responses = [read(story.users, name, path) for name, path in requests_of(story)]
        expected = {
            "origin": origin, "users": story.users.ids, "tokens": story.tokens, "cursor": story.cursor,
            "treeHead": head, "room": story.group, "retries": [retried(story.users, each) for each in story.commands],
            # An earlier version does not have the routes that were added since.
            "responses": [each for each in responses if each["body"].get("code") not in NO_ROUTE],
        }
        until_notified(server)
        return expected


def until_notified(server: Server) -> None:
    """Waits until the log has the outcomes of all notifications, so that a later start sends none."""
    def is_empty() -> bool:
        projections = requests.get(f"{server.url}/readyz", timeout=TIMEOUT_SECONDS).json()["projections"]
        if any(each["lag"] for each in projections):
            return False
        # Another version may have left its own file, which was empty when that version stopped.
        return not any(map(waiting, (server.data / "views").glob("push-v*.sqlite")))

    wait_until(is_empty, "notifications are left in the outbox")


def waiting(outbox: pathlib.Path) -> int:
    """The number of notifications in the file."""
    with contextlib.closing(sqlite3.connect(f"file:{outbox}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM outbox").fetchone()[0]


def requests_of(story: Story) -> list[tuple[str, str]]:
    """Who reads which path: everything that the contract has for what is in the story."""
    found = []
    for operation in contract().operations:
        if operation.method != "GET" or operation.path in UNCOMPARED:
            continue
        query = QUERIES.get(operation.path, "")
        if query is None:
            continue
        paths = {
            re.sub(r"\{(\w+)\}", lambda name: place[name[1]], operation.path) + query
            for place in story.places if set(operation.parameters) <= set(place)}
        readers = (
            [SERVICE] if operation.access in ("service", "open") else
            WHO_SYNCS if operation.path == "/v1/sync" else NICKNAMES)
        found += [(name, path) for path in sorted(paths) for name in readers]
    return found


def comparable(response: requests.Response):
    """The part of a response that any version must give: of a problem its code, of a file its digest."""
    if response.headers.get("Content-Type", "").startswith("application/problem+json"):
        return {"code": response.json()["code"]}
    if response.headers.get("Content-Type", "").startswith("application/json"):
        return without_opaque(response.json())
    return {"sha256": hashlib.sha256(response.content).hexdigest()}


def without_opaque(value):
    """The value with only whether there is a cursor."""
    if isinstance(value, list):
        return [without_opaque(each) for each in value]
    if isinstance(value, dict):
        return {
            key: each is not None if key in OPAQUE else without_opaque(each) for key, each in value.items()}
    return value


def read(users: Users, name: str, path: str) -> dict:
    response = users.request(name, "GET", path)
    return {"name": name, "path": path, "status": response.status_code, "body": comparable(response)}


def retried(users: Users, command: Command) -> dict:
    response = users.request(command.name, command.method, command.path, command.body, key=command.key)
    return vars(command) | {"status": response.status_code, "response": comparable(response)}


# ---- Checking


def check(data: pathlib.Path, expected: dict, reads: bool = True) -> None:
    """Starts the executable with the data, and compares. In the end, the log and the read models are checked. Without
    `reads`, the data may have changed since it was recorded, and with it what responses show of the current state."""
    files = {path.name: path.stat().st_ino for path in (data / "views").glob("*.sqlite")}
    # A version that builds its outbox again records that everything in it is settled, at the latest when it stops.
    with serving(data) as server:
        until_notified(server)
    with serving(data) as server:
        users = Users(server, expected["users"])
        if reads:
            check_responses(users, expected)
        check_retries(users, expected, bodies=reads)
        check_clients(users, expected)
        until_notified(server)
    moved = [path.name for path in (data / "views").iterdir() if ".aside" in path.name]
    assert not moved, f"read models with the same schema version were not used: {moved}\n{server.tail()}"
    # A rebuilt file replaces the old one, and so is another one.
    again = {path.name: path.stat().st_ino for path in (data / "views").glob("*.sqlite")}
    assert files.items() <= again.items(), "a read model with the same schema version was rebuilt"
    check_log(data, expected)


def check_log(data: pathlib.Path, expected: dict) -> None:
    """The log contains everything that the earlier version signed, and all read models are those of the log: if the tables
    have changed, so must the schema version."""
    with tempfile.NamedTemporaryFile("w", suffix=".checkpoint") as kept:
        kept.write(expected["treeHead"])
        kept.flush()
        hansard("log", "verify", "--data", data, "--checkpoint", kept.name)
    hansard("replay", "--data", data, "--verify")


def check_responses(users: Users, expected: dict) -> None:
    end = max(positions(expected["responses"]))
    for wanted in expected["responses"]:
        if wanted["path"] in UNCOMPARED:
            continue
        found = read(users, wanted["name"], wanted["path"])
        compare(wanted, found, f"{wanted['name']} reads {wanted['path']}", end)


def positions(value):
    """All positions in a response."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if key in POSITIONS:
            yield each
        elif isinstance(each, (dict, list)):
            yield from positions(each)


def check_retries(users: Users, expected: dict, bodies: bool) -> None:
    """A client that got no response before the upgrade sends its request again."""
    head = users.server.head()
    for wanted in expected["retries"]:
        command = Command(**{field: wanted[field] for field in ("name", "method", "path", "body", "key")})
        found, what = retried(users, command), f"{command.name} repeats {command.method} {command.path}"
        if bodies:
            compare(wanted, found, what)
        else:
            assert found["status"] == wanted["status"], f"{what}: {found}"
    assert users.server.head() == head, "a retry wrote something"


def check_clients(users: Users, expected: dict) -> None:
    """Clients continue with what they have: tokens, passwords and cursors."""
    url, old = users.server.url, expected["tokens"]["Ben"]
    response = users.request("Ben", "GET", "/v1/me", token=old["accessToken"])
    assert response.status_code == 200 or response.json()["code"] == "access_token_expired", response.text
    fresh = requests.post(
        f"{url}/v1/sessions/refresh", json={"refreshToken": old["refreshToken"]}, timeout=TIMEOUT_SECONDS)
    assert fresh.status_code == 200, fresh.text
    me = users.sent("Ben", "GET", "/v1/me", token=fresh.json()["accessToken"])
    assert me["id"] == expected["users"]["Ben"]
    login = {"email": "anna@example.org", "password": PASSWORD}
    assert requests.post(f"{url}/v1/sessions", json=login, timeout=TIMEOUT_SECONDS).status_code == 201
    id, room = new_id(), f"/v1/rooms/{expected['room']}"
    sent = users.sent("Anna", "PUT", f"{room}/messages/{id}", {"text": "Still here"})
    assert sent["position"] == users.server.head()
    page = users.sent("Ben", "GET", f"/v1/sync?since={expected['cursor']}")
    assert id in [item["message"]["id"] for item in page["items"] if item["type"] == "message"]
    assert users.sent("Ben", "GET", f"{room}/messages")["messages"][-1]["id"] == id


def compare(wanted, found, what: str, end: int | None = None) -> None:
    """Fails unless everything that is wanted was found. Objects may have more members, as later versions add some. What
    has the position `end`, of the log's end, may have a later one: a version that builds its outbox again records that everything in it is settled."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            assert key in found, f"{what}: there is no {key} in {json.dumps(found)[:600]}"
            if key in POSITIONS and value == end:
                assert found[key] >= value, f"{what}: {key}"
            else:
                compare(value, found[key], f"{what}: {key}", end)
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, (one, other) in enumerate(zip(wanted, found)):
            compare(one, other, f"{what}[{number}]", end)
    else:
        assert wanted == found, f"{what}: {json.dumps(found)[:600]} instead of {json.dumps(wanted)[:600]}"


# ---- Data sets in the repository


def write_data_set(folder: pathlib.Path, data: pathlib.Path, expected: dict) -> None:
    """Writes the data directory of a stopped server as text. Zeros of the active segment take no space."""
    folder.mkdir(parents=True)
    left_out = [f"--exclude={data.name}/{name}" for name in LEFT_OUT]
    archive = subprocess.run(
        ["tar", "--create", "--sparse", "--hole-detection=raw", "--sort=name", "--owner=0", "--group=0",
         "--numeric-owner", f"--directory={data.parent}", *left_out, data.name], check=True, capture_output=True).stdout
    packed = subprocess.run(["xz", "-9e"], input=archive, check=True, capture_output=True).stdout
    text = base64.b64encode(packed).decode()
    lines = [text[start : start + LINE_CHARACTERS] for start in range(0, len(text), LINE_CHARACTERS)]
    (folder / ARCHIVE).write_text("\n".join(lines) + "\n")
    (folder / EXPECTED).write_text(in_lines(expected))
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    assert all(size <= MAXIMUM_BYTES for size in sizes.values()), f"a data set is too large: {sizes}"


def in_lines(expected: dict) -> str:
    """The value as JSON, with a line for each response."""
    def compact(value) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    members = [
        f"{json.dumps(key)}:[\n" + ",\n".join(map(compact, value)) + "\n]" if isinstance(value, list)
        else f"{json.dumps(key)}:{compact(value)}" for key, value in expected.items()]
    return "{\n" + ",\n".join(members) + "\n}\n"


def read_data_set(folder: pathlib.Path, into: pathlib.Path) -> tuple[pathlib.Path, dict]:
    """Unpacks a data set. Returns the data directory and what is expected of it."""
    packed = into / "data.tar.xz"
    packed.write_bytes(base64.b64decode((folder / ARCHIVE).read_text()))
    with tarfile.open(packed) as archive:
        archive.extractall(into, filter="data")
    packed.unlink()
    return into / "data", json.loads((folder / EXPECTED).read_text())
