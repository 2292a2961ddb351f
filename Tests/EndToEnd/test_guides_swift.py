"""The Swift in docs/guides makes the same requests as the commands next to it. It compiles, and a real server accepts the
requests."""

import pytest

from harness.guide import AppCode, Guide, Step
from harness.guide_pages import PAGES, PREFACE, serving
from harness.guide_swift import SwiftOfGuides, curl_requests, swift_requests

GUIDES = {page.stem: Guide(page, PREFACE) for page in PAGES}

# Requests that a page shows in curl only.
CURL_ONLY = {
    # Server-sent events: on Linux, `URLSession` cannot read a response as it arrives. An app in Swift uses the WebSocket or
    # long polling, which the page "Going live" shows.
    "going-live": {"GET /v1/sync/stream"},
    "private-messenger": {"GET /v1/sync/stream"},
    # A web page opens this stream, with the ticket that the backend got in Swift.
    "shop-chat": {"GET /v1/sync/stream"},
    # The token of an Android app, whose code is in Kotlin.
    "meetings": {"PUT /v1/devices/{}"},
}


@pytest.fixture(scope="module")
def swift(tmp_path_factory):
    return SwiftOfGuides(list(GUIDES.values()), tmp_path_factory.mktemp("swift"))


def of_curl_only(guide: Guide) -> set[str]:
    return curl_requests(guide, guide.path) - swift_requests(guide)


@pytest.mark.parametrize("name", GUIDES)
def test_every_guide_shows_its_requests_in_swift(name):
    assert of_curl_only(GUIDES[name]) == CURL_ONLY.get(name, set())


@pytest.mark.parametrize("name", GUIDES)
def test_every_request_in_swift_is_shown_in_curl(name):
    guide = GUIDES[name]
    common = curl_requests(guide, PREFACE)
    assert swift_requests(guide) - curl_requests(guide, guide.path) - common == set()


def test_a_request_that_is_shown_in_curl_only_is_found():
    guide = Guide(PAGES[0], PREFACE)
    guide.calls = [block for block in guide.calls if "/silence" not in block.text]
    assert "PUT /v1/rooms/{}/members/{}/silence" in of_curl_only(guide)


@pytest.mark.parametrize(
    ("command", "requests"),
    [
        ("ask $anna GET /v1/rooms/$room", {"GET /v1/rooms/{}"}),
        ("""tell "$(jq -r .token <<<"$x")" POST '/v1/rooms?a=b' '{}'""", {"POST /v1/rooms"}),
        ("ask $ben POST /v1/invites/${link##*/}/accept", {"POST /v1/invites/{}/accept"}),
        ("tell $ben DELETE /v1/sessions/$(ask $ben GET /v1/sessions | jq -r .id)", {"DELETE /v1/sessions/{}", "GET /v1/sessions"}),
        ('tell $ben PUT "/v1/messages/$post/reactions/%F0%9F" ""', {"PUT /v1/messages/{}/reactions/{}"}),
        ('curl -sN "$host/v1/sync/stream?ticket=$ticket"', {"GET /v1/sync/stream"}),
        ('curl "$host/v1/media" \\\n  --data-binary @photo.jpg', {"POST /v1/media"}),
        ("cat >x.py <<'PYTHON'\nask('GET /v1/rooms')\nPYTHON\nask $ben GET /v1/me", {"GET /v1/me"}),
    ],
)
def test_requests_in_curl_are_found(command, requests):
    guide = Guide(PAGES[0], PREFACE)
    guide.steps = [Step(guide.path.name, 1, command, [])]
    assert curl_requests(guide, guide.path) == requests


@pytest.mark.parametrize(
    ("code", "requests"),
    [
        (r'try await anna.tell("PUT", "/v1/rooms/\(room.id)/pins/\(post)")', {"PUT /v1/rooms/{}/pins/{}"}),
        ('try await anna.ask(\n  "GET", "/v1/sync?since=\\(cursor)")', {"GET /v1/sync"}),
        (r'try await anna.ask("GET", "/v1/users/\(id(of: ben))/x")', {"GET /v1/users/{}/x"}),
        ('Hansard.address + "/v1/media")\nrequest.httpMethod = "POST"', {"POST /v1/media"}),
        ('try await ChatServer.shared.get("/v1/me")', {"GET /v1/me"}),
    ],
)
def test_requests_in_swift_are_found(code, requests):
    guide = Guide(PAGES[0], PREFACE)
    guide.calls, guide.app_code = [AppCode(guide.path.name, 1, "swift", code)], []
    assert swift_requests(guide) == requests


@pytest.mark.parametrize("name", GUIDES)
def test_the_swift_of_a_guide_runs(name, swift, tmp_path):
    with serving(GUIDES[name], tmp_path) as server:
        swift.run(GUIDES[name], server)


def test_swift_that_does_not_compile_is_found(tmp_path):
    guide = Guide(PAGES[0], PREFACE)
    guide.calls = [AppCode("wrong.md", 41, "swift", "let token: Int = admin.token\n")]
    with pytest.raises(AssertionError, match="wrong.md:42:.*error"):
        SwiftOfGuides([guide], tmp_path)


def test_swift_that_the_server_refuses_is_found(tmp_path):
    guide = Guide(PAGES[0], PREFACE)
    guide.calls = [AppCode("wrong.md", 41, "swift", 'try await admin.tell("GET", "/v1/nonsense")\n')]
    program = SwiftOfGuides([guide], tmp_path)
    with serving(guide, tmp_path) as server, pytest.raises(AssertionError, match="route_not_found"):
        program.run(guide, server)
