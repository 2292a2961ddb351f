"""CORS: web pages of the allowed origins may use the API, others may not."""

import pytest
import requests

from harness.contract import contract
from harness.people import World
from harness.server import UNLIMITED, Server

APP, ADMIN, OTHER = "https://app.example.org", "http://localhost:3000", "https://evil.example.org"


@pytest.fixture(scope="module")
def open_to_apps(tmp_path_factory):
    environment = UNLIMITED | {"HANSARD_CROSS_ORIGIN_ORIGINS": f"{APP}, {ADMIN}"}
    server = Server(tmp_path_factory.mktemp("cors") / "data", environment=environment).start()
    yield server
    server.end()


def preflight(server: Server, path: str, origin: str, method: str = "PUT") -> requests.Response:
    return requests.options(server.url + path, timeout=60, headers={
        "Origin": origin, "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
    })


def items(response: requests.Response, header: str) -> set[str]:
    return {item.strip().lower() for item in response.headers.get(header, "").split(",") if item.strip()}


def request_headers() -> set[str]:
    """The request headers that the contract names."""
    parameters = contract().document["components"]["parameters"].values()
    named = {parameter["name"].lower() for parameter in parameters if parameter["in"] == "header"}
    assert {"if-range", "idempotency-key"} <= named
    return named


def answer_headers() -> set[str]:
    responses = [each for operation in contract().operations for each in operation.spec["responses"].values()]
    named = {name.lower() for each in responses for name in contract().resolve(each).get("headers", {})}
    assert {"retry-after", "etag"} <= named
    # Only the browser itself reads this one.
    return named - {"sec-websocket-version"}


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/rooms/018f2f4e-7777-7abc-8def-0123456789ab/messages/018f2f4e-1111-7abc-8def-0123456789ab",
         {"get", "head", "put", "patch", "delete"}),
        ("/v1/sessions", {"get", "head", "post", "delete"}), ("/v1/me", {"get", "head", "patch", "delete"}), ("/v1/accounts", {"post"}),
    ],
)
@pytest.mark.parametrize("origin", [APP, ADMIN])
def test_a_preflight_names_the_methods_of_the_path_and_the_headers(open_to_apps, path, methods, origin):
    response = preflight(open_to_apps, path, origin)
    assert response.status_code == 204 and response.content == b""
    assert response.headers["Access-Control-Allow-Origin"] == origin
    assert items(response, "Access-Control-Allow-Methods") == methods
    allowed = items(response, "Access-Control-Allow-Headers")
    assert allowed >= {"authorization", "content-type"} | request_headers()
    assert response.headers["Access-Control-Max-Age"] == "600"
    assert "origin" in items(response, "Vary")
    assert "Access-Control-Allow-Credentials" not in response.headers


def test_responses_and_problems_can_be_read_by_an_allowed_page(open_to_apps):
    anna = World(open_to_apps).user("Anna")
    for path, status in (("/v1/me", 200), ("/v1/rooms/018f2f4e-7777-7abc-8def-0123456789ab", 404), ("/v1/nothing", 404)):
        response = anna.request("GET", path, headers={"Origin": APP})
        assert response.status_code == status
        assert response.headers["Access-Control-Allow-Origin"] == APP
        assert items(response, "Access-Control-Expose-Headers") >= answer_headers() | {"content-disposition"}
        assert "origin" in items(response, "Vary")


def test_other_pages_are_allowed_nothing_and_caches_are_told(open_to_apps):
    anna = World(open_to_apps).user("Anna")
    for origin in (OTHER, "null", APP + ".evil.example.org", APP.upper()):
        assert "Access-Control-Allow-Origin" not in preflight(open_to_apps, "/v1/me", origin).headers
        response = anna.request("GET", "/v1/me", headers={"Origin": origin})
        assert "Access-Control-Allow-Origin" not in response.headers
        assert "origin" in items(response, "Vary")
    # Without an `Origin` header the response is the same, but a cache must not reuse it for a web page.
    assert "origin" in items(anna.request("GET", "/v1/me"), "Vary")


def test_an_unknown_path_gets_no_preflight_response(open_to_apps):
    response = preflight(open_to_apps, "/v1/nothing", APP)
    assert response.status_code == 404 and response.headers["Access-Control-Allow-Origin"] == APP


def test_all_origins_can_be_allowed(tmp_path):
    server = Server(tmp_path / "data", environment=UNLIMITED | {"HANSARD_CROSS_ORIGIN_ORIGINS": "*"}).start()
    try:
        response = preflight(server, "/v1/me", OTHER, "GET")
        assert response.status_code == 204 and response.headers["Access-Control-Allow-Origin"] == "*"
        read = requests.get(f"{server.url}/v1/me", headers={"Origin": OTHER}, timeout=60)
        assert read.status_code == 401 and read.headers["Access-Control-Allow-Origin"] == "*"
    finally:
        server.end()


def test_it_is_off_by_default(server):
    response = preflight(server, "/v1/me", APP)
    assert response.status_code == 405
    assert not any(name.lower().startswith("access-control") for name in response.headers)
    assert "Vary" not in response.headers
