"""The pages of docs/guides, and the server that each of them needs."""

import contextlib
import json
import pathlib
from collections.abc import Iterator

from .guide import Guide
from .guide_push import GuidePushServices
from .places import DOCS
from .server import Server

PREFACE = DOCS / "guides" / "README.md"
PAGES = sorted(page for page in (DOCS / "guides").glob("*.md") if page != PREFACE)


@contextlib.contextmanager
def serving(guide: Guide, folder: pathlib.Path) -> Iterator[Server]:
    """A server with the settings of the page, and with stand-ins for the push services in them."""
    settings = folder / "hansard.json"
    with GuidePushServices(guide.configuration(folder), folder) as services:
        settings.write_text(json.dumps(services.configuration()))
        server = Server(folder / "hansard-data", "--config", settings).start()
        try:
            yield server
        finally:
            server.end()
        assert services.faults == []
