"""`/metrics` serves every stage of the server, and the documents explain each series."""

import json
import os
import socket
import time

import pytest
import requests
import socketio
import yaml

from harness import certificates
from harness.client import TIMEOUT_SECONDS, Api, new_id
from harness.contract import contract
from harness.live_sockets import open_socket
from harness.live_streams import LiveClient, open_events
from harness.metrics import Metered, documented, used_in_examples
from harness.people import PASSWORD, World
from harness.places import DOCS
from harness.push_phones import APNS, PushServices
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until

REQUESTS = "hansard_http_requests_total"
DURATION = "hansard_http_request_duration_seconds"


@pytest.fixture(scope="module")
def metered(tmp_path_factory, authority):
    """A server with all push services, on which something of each kind has happened."""
    folder = tmp_path_factory.mktemp("metered")
    services = PushServices(authority, folder / "push")
    metered = Metered(lambda environment: services.server(folder / "data", environment))
    metered.server.start()
    try:
        world = metered.world = World(metered.server)
        anna, ben = world.users("Anna", "Ben")
        services.phone(ben, APNS)
        room = anna.room("Tea", ben)
        client = LiveClient(ben).begin()
        anna.send(room, "hello")
        client.reach(world.head)
        client.drop()
        open_socket(anna).close()
        wait_until(lambda: metered.scrape().total("hansard_push_attempts_total", result="delivered") > 0, "no push")
        wait_until(lambda: metered.scrape().total("hansard_streams") == 0, "streams did not end")
        yield metered
    finally:
        metered.server.end()
        services.close()


def test_the_documents_name_exactly_the_series_that_are_served(metered):
    scrape = metered.scrape()
    assert scrape.types == {name: kind for name, (kind, _) in documented().items()}
    for name, (kind, labels) in documented().items():
        served = scrape.labels(name + "_count" if kind == "histogram" else name)
        assert served == labels, name


def test_the_examples_use_only_series_that_are_served(metered):
    served = {name for name, _ in metered.scrape().values}
    used = used_in_examples()
    assert used - served == set()
    # The dashboard shows every stage: each series, or a part of its histogram.
    assert {metered.scrape().series(name) for name in used} >= set(documented()) - {
        "hansard_open", "hansard_view_position", "hansard_metrics_series_refused_total"}


def test_the_alerts_are_rules_of_prometheus():
    (group,) = yaml.safe_load((DOCS / "monitoring" / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}, rule
        assert rule["labels"]["severity"] in ("warning", "critical") and rule["annotations"]["summary"].strip()


def test_the_dashboard_has_a_query_in_each_panel():
    dashboard = json.loads((DOCS / "monitoring" / "dashboard.json").read_text())
    assert len({panel["title"] for panel in dashboard["panels"]}) == len(dashboard["panels"]) > 10
    assert all(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])


def test_requests_are_counted_by_the_route_as_it_is_declared(metered):
    anna = metered.world.user("Anna")
    before = metered.scrape()
    for _ in range(3):
        anna.refused("room_not_found", "GET", f"/v1/rooms/{new_id()}")
    anna.get("/v1/me")
    for path in ("/v1/nothing", f"/v1/{new_id()}"):
        assert requests.request("PROPFIND", metered.server.url + path, timeout=TIMEOUT_SECONDS).status_code == 404
    after = metered.scrape()

    def grew(name, **labels):
        return after.get(name, **labels) - before.get(name, **labels)

    room = {"route": "/v1/rooms/{roomId}", "method": "GET"}
    assert grew(REQUESTS, status="404", **room) == 3
    assert grew(DURATION + "_count", **room) == 3
    assert grew(REQUESTS, route="/v1/me", method="GET", status="200") == 1
    assert grew(REQUESTS, route="none", method="other", status="404") == 2
    declared = {operation.path for operation in contract().operations} | {"none", "/socket.io/"}
    routes = {dict(labels)["route"] for (name, labels) in after.values if name == REQUESTS}
    assert {route.rstrip("/") or "/" for route in routes} <= {route.rstrip("/") or "/" for route in declared}
    assert after.total("hansard_http_requests_in_flight") == 0


def test_a_histogram_counts_each_value_once(metered):
    scrape = metered.scrape()
    for name in {name for name, kind in scrape.types.items() if kind == "histogram"}:
        for (found, labels) in [key for key in scrape.values if key[0] == name + "_count"]:
            buckets = sorted(
                (float(dict(has)["le"]), value) for (each, has), value in scrape.values.items()
                if each == name + "_bucket" and {pair for pair in has if pair[0] != "le"} == labels)
            counts = [value for _, value in buckets]
            assert counts == sorted(counts) and buckets[-1] == (float("inf"), scrape.values[found, labels]), (name, labels)


def test_positions_are_those_of_the_log_and_of_each_view(metered):
    head = metered.world.head
    scrape = wait_until(
        lambda: (scrape := metered.scrape()).total("hansard_view_lag_events") == 0 and scrape, "a view lags behind")
    assert scrape.get("hansard_log_position") >= head
    views = {dict(labels)["view"] for (name, labels) in scrape.values if name == "hansard_view_position"}
    assert {"accounts", "rooms", "timeline", "search", "push"} <= views
    for view in views:
        assert scrape.get("hansard_view_readable", view=view) == 1
        assert scrape.get("hansard_view_position", view=view) >= head
        assert scrape.get("hansard_sqlite_file_bytes", view=view) > 0
    # Each block was synced once.
    assert scrape.get("hansard_log_sync_duration_seconds_count") == scrape.get("hansard_writer_commit_duration_seconds_count") > 0
    assert scrape.get("hansard_writer_batch_commands_sum") >= scrape.get("hansard_writer_batch_bytes_count")


def test_streams_are_counted_while_they_are_open_and_when_they_end(metered):
    anna = metered.world.user("Anna")
    before = metered.scrape()

    def is_open(transport: str, count: int):
        wait_until(lambda: metered.scrape().get("hansard_streams", transport=transport) == count, transport)

    with open_events(anna) as events:
        is_open("sse", 1)
        assert events.page()["items"]
        with open_socket(anna):
            is_open("websocket", 1)
            assert metered.scrape().get("hansard_live_subscriptions") == 2
    is_open("sse", 0)
    is_open("websocket", 0)
    after = metered.scrape()
    for transport in ("sse", "websocket"):
        ended = {"transport": transport, "reason": "closed"}
        assert after.get("hansard_streams_ended_total", **ended) - before.get("hansard_streams_ended_total", **ended) == 1
    assert after.get("hansard_stream_items_total", transport="sse") > before.get("hansard_stream_items_total", transport="sse")
    handshake = {"route": "/v1/sync/socket", "method": "GET", "status": "101"}
    assert after.get(REQUESTS, **handshake) - before.get(REQUESTS, **handshake) == 1
    assert after.get("hansard_http_requests_in_flight") == 0


def test_a_stream_of_socket_io_is_counted(metered):
    anna = metered.world.user("Anna")
    client = socketio.Client(reconnection=False)
    client.connect(metered.server.url, auth={"token": anna.token}, wait_timeout=TIMEOUT_SECONDS)
    labels = {"transport": "socketio"}
    wait_until(lambda: metered.scrape().get("hansard_streams", **labels) == 1, "the stream is not counted")
    wait_until(lambda: metered.scrape().get("hansard_stream_items_total", **labels) > 0, "nothing is sent on it")
    client.disconnect()
    wait_until(lambda: metered.scrape().get("hansard_streams", **labels) == 0, "the stream did not end")
    wait_until(lambda: metered.scrape().total("hansard_streams_ended_total", **labels) == 1, "its end is not counted")
    wait_until(lambda: metered.scrape().get("hansard_http_requests_in_flight") == 0, "a request is not complete")


def test_a_refused_handshake_of_a_websocket_counts_once(metered):
    before = metered.scrape()
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Origin": "https://elsewhere.example"}
    response = requests.get(f"{metered.server.url}/v1/sync/socket", headers=upgrade, timeout=TIMEOUT_SECONDS)
    assert response.status_code >= 400
    after = metered.scrape()
    route = {"route": "/v1/sync/socket"}
    assert after.total(REQUESTS, **route) - before.total(REQUESTS, **route) == 1
    assert after.get("hansard_http_requests_in_flight") == 0


def test_handshakes_of_tls_are_counted(tmp_path):
    certificate = certificates.make(tmp_path)
    metered = Metered(lambda environment: Server(
        tmp_path / "data", authority=str(certificate.authority), environment=UNLIMITED | environment | {
            "HANSARD_TLS_CERTIFICATE_FILE": str(certificate.certificate), "HANSARD_TLS_KEY_FILE": str(certificate.key)}))
    metered.server.start()
    try:
        def handshakes(result: str) -> float:
            return metered.scrape().get("hansard_tls_handshakes_total", result=result)

        before, failed = handshakes("completed"), handshakes("failed")
        assert before > 0
        Api(metered.server).get("/healthz")
        assert handshakes("completed") == before + 1
        with socket.create_connection(("127.0.0.1", metered.server.port), timeout=TIMEOUT_SECONDS) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            plain.shutdown(socket.SHUT_WR)
        wait_until(lambda: handshakes("failed") == failed + 1, "the failed handshake is not counted")
        assert handshakes("completed") == before + 1
    finally:
        metered.server.end()


def test_free_space_is_measured_for_each_directory(metered):
    scrape = metered.scrape()
    space = os.statvfs(metered.server.data)
    for directory in ("data", "log", "views", "media"):
        assert 0 < scrape.get("hansard_disk_free_bytes", directory=directory) <= space.f_blocks * space.f_frsize


def test_erasures_are_counted_by_what_they_wait_for(metered):
    service, anna = metered.world.admin, metered.world.account("Anna")
    hold = f"/v1/admin/legal-holds/users/{anna.id}"
    service.put(hold, {"reason": "case 7"})

    def pending(state: str) -> float:
        return metered.scrape().get("hansard_erasures_pending", state=state)

    def completed() -> float:
        return metered.scrape().get("hansard_erasure_last_completed_timestamp_seconds")

    assert pending("held") == pending("running") == completed() == 0
    began = time.time()
    anna.call("DELETE", "/v1/me", {"currentPassword": PASSWORD}, expect=None)
    wait_until(lambda: pending("held") == 1, "the erasure is not held")
    assert pending("running") == 0
    service.delete(hold)
    wait_until(lambda: pending("held") == pending("running") == 0, "the erasure is not complete")
    assert began - 1 <= completed() <= time.time() + 1
    # For it, the active segment was ended and sealed.
    scrape = metered.scrape()
    assert scrape.get("hansard_log_seal_duration_seconds_count") >= 1
    assert scrape.get("hansard_log_segments_to_seal") == scrape.get("hansard_log_seal_failures_total") == 0
    # It is also known after a restart.
    last = completed()
    metered.server.restart()
    wait_until(lambda: completed() == last, "the time of the last erasure is lost")


def test_a_failed_log_is_measured(tmp_path):
    metered = Metered(lambda environment: Server(tmp_path / "data", environment=UNLIMITED | environment))
    metered.server.start()
    try:
        anna = World(metered.server).user("Anna")
        assert metered.scrape().get("hansard_log_poisoned") == 0
        (metered.server.data / "log").rename(tmp_path / "elsewhere")
        anna.refused("log_poisoned", "POST", "/v1/rooms", {"name": "Tea"})
        scrape = metered.scrape()
        assert scrape.get("hansard_log_poisoned") == 1
        assert scrape.get(REQUESTS, route="/v1/rooms", method="POST", status="503") == 1
    finally:
        # A normal stop would close the log, which is not in its place.
        metered.server.kill()


def test_the_process_is_measured(metered):
    scrape = metered.scrape()
    assert scrape.get("process_cpu_seconds_total") > 0
    assert scrape.get("process_resident_memory_bytes") > 10_000_000
    assert 10 < scrape.get("process_open_fds") < scrape.get("process_max_fds")
    assert scrape.get("hansard_metrics_series_refused_total") == 0


def test_metrics_are_served_only_on_their_own_listener(metered):
    assert requests.get(f"{metered.server.url}/metrics", timeout=TIMEOUT_SECONDS).status_code == 404
    assert requests.get(f"{metered.url}/v1/me", timeout=TIMEOUT_SECONDS).status_code == 404
    assert requests.post(f"{metered.url}/metrics", timeout=TIMEOUT_SECONDS).status_code == 405
    head = requests.head(f"{metered.url}/metrics", timeout=TIMEOUT_SECONDS)
    assert head.status_code == 200 and head.content == b""
