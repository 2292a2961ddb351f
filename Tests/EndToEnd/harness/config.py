"""A server with a settings file."""

import contextlib
import json
import pathlib

from .people import World
from .server import Server


def write(folder: pathlib.Path, settings: dict) -> str:
    path = folder / "hansard.json"
    path.write_text(json.dumps(settings))
    return str(path)


@contextlib.contextmanager
def configured(folder: pathlib.Path, settings: dict, *flags: str):
    """The world of a server that is started with these settings and stopped after the block."""
    server = Server(folder / "data", "--config", write(folder, settings), *flags).start()
    try:
        yield World(server)
    finally:
        server.end()
