"""The server's log: JSON or text, a line for each request if wanted, and the trace that a request belongs to."""

import json
import re
import time

import pytest
import requests

from harness.client import TIMEOUT_SECONDS, Api, new_id
from harness.command import hansard
from harness.issuer import Issuer, Key
from harness.live_sockets import open_socket
from harness.people import World
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
SECRET = "a-secret-token-of-an-invite"


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer(Key("RS256", "r1"))
    yield issuer
    issuer.close()


@pytest.fixture(scope="module")
def logging(issuer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("logging")
    config = folder / "config.json"
    config.write_text(json.dumps({
        "log": {"format": "json", "access": True}, "identity": {"providers": {"local": issuer.settings()}}}))
    server = Server(folder / "data", "--config", config, environment=UNLIMITED).start()
    yield server
    server.end()


def lines(server: Server) -> list[dict]:
    """Every line of standard error is an object, whatever clients sent."""
    complete = server.errors.read_text().rpartition("\n")[0]
    return [json.loads(line) for line in complete.splitlines()]


def access(server: Server, **wanted: str) -> list[dict]:
    return wait_until(
        lambda: [line for line in lines(server) if line["logger"] == "hansard.access" and wanted.items() <= line.items()],
        f"no line has {wanted}")


def test_each_request_has_a_line_with_its_id_and_route(logging):
    problem = Api(logging).refused("access_token_missing", "GET", f"/v1/rooms/{new_id()}")
    (line,) = access(logging, requestId=problem["requestId"])
    assert line["message"] == "request" and line["level"] == "info"
    assert (line["method"], line["route"], line["status"]) == ("GET", "/v1/rooms/{roomId}", "401")
    assert line["peer"] == "127.0.0.1" and float(line["milliseconds"]) > 0 and int(line["bytes"]) > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    assert "traceId" not in line


def test_the_handshake_of_a_websocket_has_a_line(logging):
    open_socket(World(logging).user("Anna")).close()
    (line,) = access(logging, route="/v1/sync/socket")
    assert (line["method"], line["status"], line["peer"]) == ("GET", "101", "127.0.0.1")
    assert re.fullmatch("[0-9a-f]+", line["requestId"]) and "bytes" not in line


def test_what_a_client_chooses_is_not_logged(logging):
    path = f"/v1/invites/{SECRET}?ticket={SECRET}"
    problem = requests.request(
        "GET", logging.url + path, timeout=TIMEOUT_SECONDS, headers={"Authorization": f"Bearer {SECRET}"}).json()
    access(logging, requestId=problem["requestId"])
    assert requests.request("PROPFIND", logging.url + f"/{SECRET}", timeout=TIMEOUT_SECONDS).status_code == 404
    (line,) = access(logging, method="PROPFIND")
    assert (line["route"], line["status"]) == ("none", "404")
    assert SECRET not in logging.errors.read_text()


@pytest.mark.parametrize("traceparent", [
    "", "x", TRACEPARENT + "-x", TRACEPARENT.upper(), f"ff-{TRACE}-{PARENT}-01", f"00-{'0' * 32}-{PARENT}-01",
    f"{TRACEPARENT},{TRACEPARENT}", '"}\\'])
def test_a_malformed_trace_is_ignored(logging, traceparent):
    problem = Api(logging).refused("access_token_missing", "GET", "/v1/me", headers={"traceparent": traceparent})
    (line,) = access(logging, requestId=problem["requestId"])
    assert not {"traceId", "spanId", "parentSpanId"} & set(line)


def test_the_trace_of_a_request_is_logged(logging):
    spans = []
    for _ in range(2):
        problem = Api(logging).refused("access_token_missing", "GET", "/v1/me", headers={"traceparent": TRACEPARENT})
        (line,) = access(logging, requestId=problem["requestId"])
        assert (line["traceId"], line["parentSpanId"]) == (TRACE, PARENT)
        assert re.fullmatch("[0-9a-f]{16}", line["spanId"])
        (rejected,) = (
            each for each in lines(logging)
            if (each["message"], each.get("requestId")) == ("request rejected", problem["requestId"]))
        assert (rejected["traceId"], rejected["spanId"]) == (TRACE, line["spanId"])
        spans.append(line["spanId"])
    assert len({*spans, PARENT}) == 3


def test_the_trace_goes_on_to_the_issuer_whose_keys_a_login_needs(logging, issuer):
    body = {"idToken": issuer.token("anna", name="Anna")}
    World(logging).nobody.post("/v1/sessions", body, headers={"traceparent": TRACEPARENT})
    (line,) = access(logging, traceId=TRACE, route="/v1/sessions", status="201")
    assert issuer.traces == [f"00-{TRACE}-{line['spanId']}-01"]


def test_the_log_is_text_without_requests_by_default(tmp_path):
    server = Server(tmp_path / "data", environment=UNLIMITED).start()
    try:
        Api(server).refused("access_token_missing", "GET", "/v1/me")
        assert "hansard.access" not in server.errors.read_text()
        assert all(" notice " in line for line in server.errors.read_text().splitlines())
        server.flags = ("--config", str(tmp_path / "config.json"))
        (tmp_path / "config.json").write_text(json.dumps({"log": {"access": True}}))
        server.restart()
        problem = Api(server).refused("access_token_missing", "GET", "/v1/me", headers={"traceparent": TRACEPARENT})
        line = wait_until(
            lambda: [line for line in server.errors.read_text().splitlines()
                     if problem["requestId"] in line and "info hansard.access" in line], "no line")[0]
        assert "route=/v1/me" in line and f"traceId={TRACE}" in line
        # The lines of the problem and of the request name the ID as the response does.
        both = [line for line in server.errors.read_text().splitlines() if f" requestId={problem['requestId']} " in line]
        assert ["request rejected" in line for line in both] == [True, False]
    finally:
        server.end()


def test_one_client_does_not_use_up_the_lines_for_problems(tmp_path):
    """Also if all clients come through one proxy."""
    server = Server(tmp_path / "data", environment=UNLIMITED | {"HANSARD_PROXIES_TRUSTED": "127.0.0.1"}).start()
    try:
        with requests.Session() as session:
            session.trust_env = False

            def problem(client: str) -> str:
                response = session.get(
                    f"{server.url}/v1/me", headers={"X-Forwarded-For": client}, timeout=TIMEOUT_SECONDS)
                return response.json()["requestId"]

            began = time.monotonic()
            many = [problem("192.0.2.1") for _ in range(1500)]
            seconds = time.monotonic() - began
            other = problem("192.0.2.2")
        wait_until(lambda: other in server.errors.read_text(), "the problem of another client is not logged")
        log = server.errors.read_text()
        logged = [id for id in many if id in log]
        assert logged[:200] == many[:200] and len(logged) <= 200 + 20 * (seconds + 1)
        assert "leftOut=" in log
    finally:
        server.end()


def test_another_format_is_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"log": {"format": "xml"}}))
    outcome = hansard("serve", "--data", tmp_path / "data", "--config", tmp_path / "config.json", expect=None)
    assert outcome.status == 2 and "log.format" in outcome.errors and "text or json" in outcome.errors
