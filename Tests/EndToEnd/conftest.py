"""Fixtures for the real server, and the check that the suite has exercised the whole contract."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness import collecting as collection  # noqa: E402
from harness.certificates import Authority  # noqa: E402
from harness.people import World  # noqa: E402
from harness.push_devices import Devices  # noqa: E402
from harness.push_phones import PushServices  # noqa: E402
from harness.sanitizer import SanitizerReports  # noqa: E402
from harness.server import Server  # noqa: E402
from harness.workers import Distributor, Worker  # noqa: E402

# Checks what the whole suite has exercised, so it means nothing after a partial run.
WHOLE_SUITE_MODULE = "test_whole_suite.py"
# Many tests wait, so that as many workers as processors would leave processors idle.
WORKERS_PER_PROCESSOR = 2


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that the tests of a module share."""
    server = Server(tmp_path_factory.mktemp("shared") / "data").start()
    yield server
    server.end()


@pytest.fixture
def own_server(tmp_path):
    """A server for one test. The test may kill it."""
    server = Server(tmp_path / "data").start()
    yield server
    server.end()


@pytest.fixture
def sink(tmp_path) -> pathlib.Path:
    """The file to which `pushing` appends its push notifications."""
    return tmp_path / "notifications.jsonl"


@pytest.fixture
def pushing(tmp_path, sink):
    """A server for one test that writes push notifications to a file."""
    server = Server(tmp_path / "data", "--push-file", sink).start()
    yield server
    server.end()


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Signs the certificates of the services that the tests of a module run."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def services(tmp_path, authority):
    """Stand-ins for all push services. None of them may have to complain."""
    services = PushServices(authority, tmp_path / "push")
    yield services
    services.close()
    assert services.faults == []


@pytest.fixture
def notifying(tmp_path, services):
    """A server for one test that sends notifications to the stand-ins."""
    server = services.server(tmp_path / "data").start()
    yield server
    server.end()


@pytest.fixture(scope="module")
def devices(tmp_path_factory, authority):
    """A server that the tests of a module share, the stand-ins to which it sends notifications, and their devices. At the
    end, nothing may have arrived that no test has asked about."""
    folder = tmp_path_factory.mktemp("devices")
    services = PushServices(authority, folder / "push")
    server = services.server(folder / "data").start()
    try:
        devices = Devices(server, services, World(server))
        yield devices
        devices.check()
    finally:
        server.end()
        services.close()
    assert services.faults == []


@pytest.fixture(scope="module")
def shared_world(server):
    return World(server)


@pytest.fixture
def world(shared_world):
    return shared_world


@pytest.fixture
def collecting(tmp_path):
    """A server that collects unreferenced uploads after two seconds."""
    server = Server(tmp_path / "data", environment=collection.SETTINGS).start()
    yield server
    server.end()


@pytest.fixture
def own_world(own_server):
    return World(own_server)


@pytest.fixture
def anna(world):
    return world.user("Anna")


@pytest.fixture
def ben(world):
    return world.user("Ben")


@pytest.fixture
def room(anna, ben):
    """A room that Anna owns, with Ben as a member."""
    return anna.room("Tea", ben)


def pytest_configure(config):
    if reports := SanitizerReports.from_environment():
        config.pluginmanager.register(reports)
    if worker := Worker.of(config):
        config.pluginmanager.register(worker)
    elif config.getoption("numprocesses", None):
        config.pluginmanager.register(Distributor())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config) -> int:
    """Only the whole suite is worth several processes. Some tests run sooner in one, and their output can be watched."""
    return len(os.sched_getaffinity(0)) * WORKERS_PER_PROCESSOR if runs_whole_suite(config) else 0


def runs_whole_suite(config) -> bool:
    here = pathlib.Path(__file__).parent
    option = config.option
    places = {pathlib.Path(config.invocation_params.dir, argument).resolve() for argument in config.args}
    # The option --last-failed exists only with pytest's cache plugin.
    fewer = option.keyword or option.markexpr or option.deselect or getattr(option, "lf", False)
    return places == {here} and not fewer


def pytest_collection_modifyitems(config, items):
    last = [item for item in items if item.path.name == WHOLE_SUITE_MODULE]
    items[:] = [item for item in items if item.path.name != WHOLE_SUITE_MODULE]
    if runs_whole_suite(config):
        items.extend(last)
    elif last:
        config.hook.pytest_deselected(items=last)
