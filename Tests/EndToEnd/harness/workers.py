"""Runs the tests in several processes at the same time: the workers of pytest-xdist, which `Tools/test` starts.

A worker runs whole files, because the tests of a file share their servers. Tests marked `alone` come last: one worker
runs them after all others have ended.
"""

import fcntl
import functools
import json
import pathlib
import tempfile

import pytest

from .contract import contract

# The files that take longest. Workers begin with them, so that no worker is busy with one when the others have ended.
LONGEST_FIRST = (
    "test_contract_fuzzing.py", "test_hostile_day_memory.py", "test_authorization.py", "test_hostile_lists.py",
    "test_kill.py", "test_large_counts.py", "test_hostile_quotas.py", "test_hostile_clock.py", "test_sealing.py",
    "test_hostile_generated.py", "test_push.py", "test_hostile_accounts.py", "test_hostile_connections.py",
)
# The file in which the workers name the tests that are marked: the distributor knows only the names of tests.
ALONE = "alone.json"


class Distributor:
    """The plugin of the process that distributes the files. It runs no tests itself."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hansard-tests-")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        node.workerinput["shared"] = self.folder.name

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config, log):
        from xdist.scheduler import LoadFileScheduling

        class AloneLast(LoadFileScheduling):
            def _split_scope(scheduler, nodeid: str) -> str:  # noqa: N805
                return "alone" if nodeid in self.alone else super()._split_scope(nodeid)

        # Files are begun in the order in which workers collect them.
        config.option.loadscopereorder = False
        return AloneLast(config, log)

    @functools.cached_property
    def alone(self) -> set[str]:
        return set(json.loads((pathlib.Path(self.folder.name) / ALONE).read_text()))

    def pytest_unconfigure(self) -> None:
        self.folder.cleanup()


class Worker:
    """The plugin of a worker. It shares a folder with the others."""

    def __init__(self, folder: pathlib.Path, name: str):
        self.folder = folder
        self.exercised = folder / f"exercised-{name}.json"
        # Held until the worker ends. The kernel releases the lock of one that crashes.
        self.at_work = (folder / "at-work").open("w")
        fcntl.flock(self.at_work, fcntl.LOCK_SH)
        self.is_alone = False

    @classmethod
    def of(cls, config: pytest.Config) -> "Worker | None":
        """None if this process is not a worker."""
        given = getattr(config, "workerinput", None)
        return cls(pathlib.Path(given["shared"]), given["workerid"]) if given else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        places = {name: place for place, name in enumerate(LONGEST_FIRST)}
        items.sort(key=lambda item: (runs_alone(item), places.get(item.path.name, len(places))))
        (self.folder / ALONE).write_text(json.dumps([item.nodeid for item in items if runs_alone(item)]))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if runs_alone(item) and not self.is_alone:
            self._wait_for_others()
        return (yield)

    def _wait_for_others(self) -> None:
        """Waits until all other workers have ended, and adds what they have exercised to this process's contract."""
        fcntl.flock(self.at_work, fcntl.LOCK_EX)
        self.is_alone = True
        for path in self.folder.glob("exercised-*.json"):
            operations, codes = json.loads(path.read_text())
            contract().exercised.update(operations)
            contract().codes_seen.update(codes)

    def pytest_sessionfinish(self) -> None:
        mine = contract()
        self.exercised.write_text(json.dumps([sorted(mine.exercised), sorted(mine.codes_seen)]))
        fcntl.flock(self.at_work, fcntl.LOCK_UN)


def runs_alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None
