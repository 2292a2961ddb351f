"""What the tests of the verifiers share: the script as a module, its results, and a log with every kind of content."""

import importlib.util
import json
import pathlib
import shutil

import pytest

from .command import Outcome, hansard
from .log_story import parts, story
from .log_writer import LogWriter

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "Tools" / "verify_log.py"
FIRST, SECOND, FULL, TAIL = (f"{first:020}.seg" for first in (1, 301, 701, 731))
HEADS = [f"{size:020}.checkpoint" for size in (300, 700)]
COUNT = 742


def load_verifier():
    specification = importlib.util.spec_from_file_location("verify_log", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


verifier = load_verifier()


class Verification:
    """What the script says about a log or a proof. `hansard log verify` must agree about a log, unless `alone` is
    set."""

    def __init__(self, capsys, *arguments, alone: bool = False):
        capsys.readouterr()
        self.status = verifier.main([*map(str, arguments), "--json"])
        output, self.errors = capsys.readouterr()
        self.result = json.loads(output) if output else {}
        self.executable: Outcome | None = None
        if "--data" in arguments and "--proof" not in arguments and not alone:
            self.executable = hansard("log", "verify", *arguments, "--json", expect=None)
            self.compare(self.executable)

    def compare(self, other: Outcome) -> None:
        assert self.status == other.status, f"the two disagree:\n{self.errors}\n{self.result}\n{other.text}"
        if self.status == 0:
            shown = other.json
            # The executable stops at the last event it knows to be durable. The script reads all intact blocks.
            if shown["head"] == self.result["records"]:
                ours = (self.result["root"], self.result["erased"], self.result["sealed"])
                assert ours == (shown["root"], shown["erased"], shown["sealedSegments"])
            else:
                assert shown["head"] < self.result["records"] and shown["bytesBehindHead"] > 0
        elif self.status == 1:
            assert " At " in other.errors or str(self.result["file"]) in other.errors, f"no place: {other.text}"

    def place(self) -> tuple:
        return self.result["file"], self.result["offset"], self.result["position"]


@pytest.fixture
def verify(capsys):
    return lambda *arguments, **how: Verification(capsys, *arguments, **how)


@pytest.fixture(scope="module")
def events():
    return story()


@pytest.fixture(scope="module")
def writer(events):
    return LogWriter(parts(events))


@pytest.fixture(scope="module")
def whole(writer, tmp_path_factory):
    return writer.write(tmp_path_factory.mktemp("whole") / "data")


@pytest.fixture
def data(whole, tmp_path):
    """A copy of the log for a test to damage."""
    return shutil.copytree(whole, tmp_path / "data")


@pytest.fixture
def kept(writer, tmp_path):
    """A tree head of the whole log, outside the data directory where the forger cannot change it."""
    path = tmp_path / "kept.txt"
    path.write_text(writer.head(COUNT))
    return path
