"""The data of earlier versions opens, and everything that clients have from them remains valid. Data of a later version is
refused if it has what this version does not know."""

import re
import shutil

import pytest

from harness.command import hansard
from harness.log_writer import Event
from harness.people import World
from harness.places import DOCS
from harness.real_log import rewrite_log
from harness.server import START_TIMEOUT_SECONDS
from harness.upgrades import DATA_SETS, check, read_data_set

ROOM = 2
# The exit code of a server that cannot do its work.
CANNOT_WORK = 2
ADVICE = "written by a later version; run that version, or a newer one"
# No version has this kind of event, and no later one gets it.
FUTURE_KIND = 65_000


@pytest.mark.parametrize("name", sorted(path.name for path in DATA_SETS.iterdir()))
def test_the_data_of_an_earlier_version_is_served_as_before(tmp_path, name):
    data, expected = read_data_set(DATA_SETS / name, tmp_path)
    check(data, expected)


def test_a_data_set_has_the_read_models_of_this_version(tmp_path):
    """Otherwise record a new one, as docs/upgrading.md says: a changed table with an old schema version would not be found."""
    current = set(re.findall(r"(\w+) (\d+)", re.search(r"^views +(.+)$", hansard("--version").output, re.M)[1]))
    recorded = []
    for path in DATA_SETS.iterdir():
        data, _ = read_data_set(path, tmp_path)
        names = [re.fullmatch(r"(\w+)-v(\d+)\.sqlite", file.name) for file in (data / "views").iterdir()]
        recorded.append({name.groups() for name in names if name})
        shutil.rmtree(data)
    assert current in recorded


def test_data_with_an_event_of_a_later_version_is_not_served(own_server):
    """After a rollback. The log stays as it is, so the later version can continue."""
    world = World(own_server)
    world.user("Anna").room("Tea")
    own_server.stop()
    data = own_server.data

    def with_later_event(events: list[Event]) -> list[Event]:
        return [*events, Event(FUTURE_KIND, ROOM, bytes(16), 1, events[-1].time)]

    rewrite_log(data, data.with_name("rewritten"), with_later_event)
    shutil.rmtree(data / "log")
    (data.with_name("rewritten") / "log").rename(data / "log")
    segments = {path.name: path.read_bytes() for path in (data / "log").glob("*.seg")}
    own_server.launch()
    process, own_server.process = own_server.process, None
    assert process.wait(START_TIMEOUT_SECONDS) == CANNOT_WORK
    assert f"kind {FUTURE_KIND}: {ADVICE}" in own_server.tail()
    assert segments == {path.name: path.read_bytes() for path in (data / "log").glob("*.seg")}
    assert ADVICE in (DOCS / "upgrading.md").read_text()
    hansard("log", "verify", "--data", data)
