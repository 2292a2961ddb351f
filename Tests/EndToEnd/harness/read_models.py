"""Damages and locks the files of read models, and asks the server about their status."""

import contextlib
import functools
import pathlib
import re
import sqlite3

import requests

from .client import new_id
from .command import hansard
from .contract import contract
from .server import Server
from .waiting import wait_until

PAGE_BYTES = 4096


@functools.cache
def read_model_names() -> list[str]:
    """The names of all read models. The executable lists them if it is asked for one that does not exist."""
    refused = hansard("replay", "--projection", "nonsense", expect=None).errors
    names = re.search(r"known ones: ([\w, ]+)", refused)
    assert names, f"hansard replay does not list the read models: {refused}"
    return names.group(1).split(", ")


def read_model(server: Server, name: str) -> pathlib.Path:
    (file,) = (server.data / "views").glob(f"{name}-v*.sqlite")
    return file


def aside(server: Server, name: str) -> pathlib.Path:
    file = read_model(server, name)
    return file.with_name(file.name + ".aside")


def zero(file: pathlib.Path, first: int, end: int | None = None) -> None:
    """Overwrites pages with zeros, from `first` up to but not including `end`. Pages count from 1."""
    size = file.stat().st_size
    begin, end = (first - 1) * PAGE_BYTES, size if end is None else (end - 1) * PAGE_BYTES
    with file.open("r+b") as stream:
        stream.seek(begin)
        stream.write(bytes(end - begin))


def readiness(server: Server) -> requests.Response:
    response = requests.get(f"{server.url}/readyz", timeout=60, verify=server.authority or True)
    contract().check("GET", f"{server.url}/readyz", response)
    return response


def until_ready(server: Server) -> dict:
    """Waits until the server is ready and every read model, including the search index, has reached the head."""
    def settled():
        response = readiness(server)
        body = response.json()
        if response.status_code == 200 and not any(each["lag"] for each in body["projections"]):
            return body
    return wait_until(settled, "the server does not become ready again")


@contextlib.contextmanager
def locked(file: pathlib.Path):
    """Within the block, another process holds the file's write lock."""
    database = sqlite3.connect(file, isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        database.execute("ROLLBACK")
        database.close()


def unready(server: Server, *words: str) -> str:
    """Why the server is not ready. Empty if it is ready, or if the reason lacks one of the words."""
    response = readiness(server)
    if response.status_code != 503:
        return ""
    assert response.json()["code"] == "projection_behind"
    detail = response.json()["detail"]
    return detail if all(word in detail for word in words) else ""


def lines(anna, room, count: int, text: str = "x") -> list[dict]:
    return [
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": text} for _ in range(count)]
