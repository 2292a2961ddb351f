"""Read models are rebuilt beside the running server: nobody notices, and nothing is lost when it is killed."""

import re
import shutil
import threading
from dataclasses import replace

import pytest
import requests

from harness.client import new_id
from harness.command import check_data, hansard, hansard_in_terminal
from harness.contract import contract
from harness.people import World
from harness.push_settled import Settled
from harness.read_models import lines, read_model, read_model_names, until_ready
from harness.rebuild_kills import PROJECTIONS, UNFINISHED, Files, Notification, Plan, RebuildKills, phase_of
from harness.server import Server
from harness.waiting import wait_until

# `Tools/rebuild-kills` does the same with more kills and messages.
PLAN = Plan(kills=10, messages=8_000, seed=48)
# More than the number of events from which a file is built at once.
LONG_LOG = 40_000
# Lines of each request of an import, and the pause between two, in seconds.
IMPORTED_LINES, IMPORT_PAUSE_SECONDS = 500, 0.05
WATCH_PAUSE_SECONDS = 0.01
# How often a rebuild is started and cancelled until one is still running then.
CANCELLATIONS = 20


def rebuild_path(name: str) -> str:
    return f"{PROJECTIONS}/{name}/rebuild"


def state_of(world: World, name: str) -> dict:
    (found,) = [each for each in world.admin.get(PROJECTIONS)["projections"] if each["name"] == name]
    return found


def rebuild(world: World, name: str) -> dict:
    """Rebuilds a read model and returns how that ended."""
    begun = world.admin.post(rebuild_path(name), expect=202)
    assert begun["name"] == name and begun["rebuild"]["state"] in ("building", "indexing", "following", "switching",
                                                                   "complete")
    return end_of_rebuild(world, name)


def end_of_rebuild(world: World, name: str) -> dict:
    """Waits until the rebuild that is running ends."""
    def ended():
        found = state_of(world, name)["rebuild"]
        return found if found["state"] in ("complete", "cancelled", "failed") else None
    return wait_until(ended, f"the rebuild of {name} does not end")


def unfinished(server: Server) -> list[str]:
    return Files(server.data).unfinished


def generations(server: Server, name: str) -> list[int]:
    return Files(server.data).generations(name)


def fill(server: Server, messages: int):
    """A world with a room of two and so many messages."""
    world = World(server)
    anna, ben = world.user("Anna"), world.user("Ben")
    room = anna.room("Tea", ben)
    world.admin.ingest_all(lines(anna, room, messages, "a cup of tea and a biscuit"))
    until_ready(server)
    return world, anna, ben, room


@pytest.fixture
def filled(own_server):
    return fill(own_server, 8_000)


def test_the_list_shows_every_read_model(world):
    listed = world.admin.get(PROJECTIONS)
    assert [each["name"] for each in listed["projections"]] == read_model_names()
    assert all(each["state"] == "ready" and each["position"] <= listed["head"] for each in listed["projections"])


def test_an_unknown_name_is_refused(world):
    for name in ("push", "nonsense"):
        world.admin.refused("projection_not_found", "POST", rebuild_path(name))
        world.admin.refused("projection_not_found", "DELETE", rebuild_path(name))


def test_nobody_notices_a_rebuild_of_every_read_model(own_server):
    # A rebuild of this many events has several batches, so its progress can be seen between them.
    world, anna, ben, room = fill(own_server, LONG_LOG)
    history = anna.room("History", ben)
    stopping, failures, sent, imported, building = threading.Event(), [], [], [], []

    def attempt(work, api):
        while not stopping.is_set():
            try:
                work(api)
            except Exception as error:  # The test reports whatever a client would have met.
                failures.append(error)
                return

    def write(api):
        sent.append(api.put(room.message(new_id()), {"text": f"during the rebuild {len(sent)}"}))

    def bring_in(api):
        imported.extend(api.ingest_all(lines(anna, history, IMPORTED_LINES, "an old biscuit")))
        stopping.wait(IMPORT_PAUSE_SECONDS)

    def watch(api):
        rebuilds = [each["rebuild"] for each in api.get(PROJECTIONS)["projections"]]
        building.extend(each for each in rebuilds if each and each["state"] == "building")
        stopping.wait(WATCH_PAUSE_SECONDS)

    def read(api):
        newest, received = sent[-1] if sent else None, LONG_LOG + len(sent) + len(imported)
        page = api.get(f"{room.path}/messages")
        if newest:
            assert page["messages"][-1]["position"] >= newest["position"], "a step backwards"
        # Ben reads nothing.
        assert api.get("/v1/badge")["unreadCount"] >= received, "the badge has fallen"
        for path in ("/v1/rooms", "/v1/search?q=biscuit", "/v1/me"):
            api.get(path)

    # Each thread has its own connection.
    threads = [
        threading.Thread(target=attempt, args=(work, api.again()))
        for work, api in ((write, anna), (bring_in, world.admin), (watch, world.admin), (read, ben), (read, ben))
    ]
    for thread in threads:
        thread.start()
    try:
        outcome = hansard("replay", "--data", world.server.data, "--server", world.server.url)
        for name in read_model_names():
            assert f"{name}: rebuilt" in outcome.text
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    assert not failures, failures[0]
    assert sent and imported
    assert all(each["position"] <= each["target"] for each in building)
    assert any(
        each["position"] > 0 and each["eventsPerSecond"] and each["secondsLeft"] is not None for each in building), building
    until_ready(world.server)
    for name in read_model_names():
        wait_until(lambda: generations(world.server, name) == [2], f"the old file of {name} stays")
        assert state_of(world, name)["rebuild"]["state"] == "complete"
    assert not unfinished(world.server)
    hansard("replay", "--data", world.server.data, "--verify")
    world.server.restart()
    assert anna.texts(room)[-1] == sent[-1]["text"]
    assert ben.get("/v1/badge")["unreadCount"] == LONG_LOG + len(sent) + len(imported)
    world.server.stop()
    check_data(world.server.data)


def test_one_read_model_is_rebuilt_with_the_tool(filled):
    world, *_ = filled
    outcome = hansard("replay", "--data", world.server.data, "--server", world.server.url, "--projection", "ids")
    assert "ids: rebuilt" in outcome.text and "rooms" not in outcome.text
    refused = hansard(
        "replay", "--data", world.server.data, "--server", world.server.url, "--projection", "nonsense", expect=None)
    assert refused.status not in (0, 1) and "projection_not_found" in refused.errors
    nobody = hansard("replay", "--data", world.server.data, "--server", "http://127.0.0.1:9", expect=None)
    assert nobody.status not in (0, 1)
    for part in ("the server http://127.0.0.1:9 cannot be reached", "Connection refused", "check --server and that the server runs"):
        assert part in nobody.errors


def test_the_tool_shows_the_progress_of_a_rebuild(own_server):
    world, *_ = fill(own_server, LONG_LOG)
    shown = hansard_in_terminal(
        "replay", "--data", world.server.data, "--server", world.server.url, "--projection", "search")
    assert "search: rebuilt" in shown
    progress = re.findall(r"search  \[[#.]+\] \d+ %  ([\d,]+) of ([\d,]+) events", shown)
    assert progress, shown
    counts = [[int(count.replace(",", "")) for count in each] for each in progress]
    assert all(done <= total == world.head for done, total in counts), counts
    assert any(0 < done for done, _ in counts), counts


def test_a_rebuild_records_nothing_and_can_be_cancelled(own_server):
    world, anna, *_ = fill(own_server, LONG_LOG)
    head = world.head

    def cancelled():
        world.admin.post(rebuild_path("search"), expect=202)
        world.admin.post(rebuild_path("search"), expect=202)
        world.admin.delete(rebuild_path("search"), expect=200)
        return end_of_rebuild(world, "search")["state"] == "cancelled"

    # A fast rebuild can be complete before it is cancelled.
    assert any(cancelled() for _ in range(CANCELLATIONS))
    wait_until(lambda: not unfinished(world.server), "the unfinished file stays")
    assert rebuild(world, "search")["state"] == "complete"
    assert world.head == head
    # Nothing is running any more.
    world.admin.delete(rebuild_path("search"), expect=200)
    anna.get("/v1/search?q=biscuit")


def test_kills_during_rebuilds_lose_nothing(pushing, sink):
    run = RebuildKills(pushing, sink, PLAN)
    run.perform()
    assert not run.problems, run.report()
    assert run.kills == PLAN.kills and run.sent
    # The kills came at different phases.
    assert len({phase for _, phase in run.hits} & set(UNFINISHED)) > 1, run.hits


# MARK: The check of the kills

FIRST = Notification(0, "k1", 7, "ben", "phone")


@pytest.mark.parametrize(("second", "settled", "problem"), [
    (replace(FIRST, kills=1), Settled(), None),
    (replace(FIRST, kills=1), Settled(through=6), None),
    (replace(FIRST, kills=1), Settled(through=7), "although its outcome was in the log"),
    (replace(FIRST, kills=1), Settled(single={(7, "ben", "phone")}), "although its outcome was in the log"),
    (FIRST, Settled(), "arrives twice without a kill"),
])
def test_each_wrong_repeat_of_a_notification_is_found(tmp_path, second, settled, problem):
    run = RebuildKills(Server(tmp_path / "data"), None, PLAN)
    run.notifications, run.settled = [FIRST, second], [settled]
    run._check_notifications()
    assert [problem in found for found in run.problems] == ([True] if problem else [])


def test_lost_messages_and_leftover_files_are_found(filled):
    world, anna, _, room = filled
    run = RebuildKills(world.server, None, PLAN)
    run.world, run.names = world, read_model_names()
    sent = anna.send(room, "Tea is ready.")
    run._check_messages(anna, room, {sent["id"]: sent["position"]})
    for lost in ({new_id(): sent["position"]}, {sent["id"]: sent["position"] + 1}):
        with pytest.raises(AssertionError, match="1 of 1 acknowledged messages are missing or moved"):
            run._check_messages(anna, room, lost)
    newest = dict.fromkeys(run.names, 1)
    run._check_files(newest)
    with pytest.raises(AssertionError, match="ids has the generations"):
        run._check_files(newest | {"ids": 2})
    folder = read_model(world.server, "ids").parent
    for suffix, problem in (("aside", "the server found files damaged"), ("rebuild", "unfinished files are left")):
        (folder / f"ids-v1.sqlite.{suffix}").touch()
        with pytest.raises(AssertionError, match=problem):
            run._check_files(newest)


@pytest.mark.parametrize(("generations", "is_unfinished", "said", "phase"), [
    ([1], False, None, "not begun"), ([1], True, None, "building"), ([1], True, "following", "following"),
    ([1], True, "switching", "switching"), ([1, 2], False, "following", "switching"),
    ([1, 2], False, "complete", "switching"), ([2], False, "following", "complete"),
])
def test_the_files_show_the_phase_of_a_kill(generations, is_unfinished, said, phase):
    assert phase_of(generations, 1, is_unfinished, said) == phase


def test_read_models_of_a_long_log_are_built_at_the_start(own_server):
    world = World(own_server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    world.admin.ingest_all(lines(anna, room, LONG_LOG, "a cup of tea"))
    own_server.stop()
    shutil.rmtree(own_server.data / "views")
    own_server.launch()
    details = []

    def ready():
        try:
            response = requests.get(f"{own_server.url}/readyz", timeout=60)
        except requests.ConnectionError:
            return False
        if response.status_code == 200:
            return True
        details.append(response.json()["detail"])
        assert requests.get(f"{own_server.url}/healthz", timeout=60).status_code == 200
        other = requests.get(f"{own_server.url}/v1/me", timeout=60)
        if other.status_code == 503:
            assert int(other.headers["Retry-After"]) >= 1
            contract().check("GET", f"{own_server.url}/v1/me", other)
        return False

    wait_until(ready, "the server does not become ready")
    assert any("are being built" in detail for detail in details), details[:3]
    assert len(anna.texts(room)) == 30
    until_ready(own_server)
    # The file without rows, in whose place it was built, is removed a little later.
    wait_until(
        lambda: generations(own_server, "search") == [2], "the search index was not built beside an empty file")
    assert generations(own_server, "rooms") == [1]
    hansard("replay", "--data", own_server.data, "--verify")
    own_server.stop()
    check_data(own_server.data)
