"""A response to HEAD equals that to GET, without the body (RFC 9110, sections 9.1 and 9.3.2)."""

import requests

from harness.client import new_id

# The headers that differ from one response to the next.
VARYING = {"Date", "RateLimit", "RateLimit-Policy", "X-Request-Id"}


def compared(server, path: str, status: int, **headers: str) -> requests.Response:
    """The response to HEAD, after checking that its status and all headers equal those of GET."""
    url = f"{server.url}{path}"
    # Uses one connection, so that a body after the response to HEAD would be read as the next response.
    with requests.Session() as session:
        head, get, again = (
            session.request(method, url, headers=headers, timeout=30) for method in ("HEAD", "GET", "HEAD"))
    assert head.content == again.content == b""
    assert head.status_code == get.status_code == again.status_code == status

    def steady(response: requests.Response) -> dict[str, str]:
        varying = VARYING | ({"Content-Length"} if status >= 400 else set())
        return {name: value for name, value in response.headers.items() if name not in varying}

    assert steady(head) == steady(get) == steady(again)
    return head


def test_head_matches_get(server, anna, room):
    token = f"Bearer {anna.token}"
    compared(server, "/", 200)
    compared(server, "/healthz", 200)
    compared(server, "/openapi.yaml", 200)
    compared(server, "/v1/me", 200, Authorization=token)
    compared(server, f"{room.path}/messages", 200, Authorization=token)
    compared(server, "/v1/me", 401)
    compared(server, f"/v1/rooms/{new_id()}", 404, Authorization=token)
    compared(server, "/v1/nothing", 404)
    compared(server, "/v1/sync/socket", 426)


def test_head_of_a_medium_matches_its_download(server, anna):
    content = new_id().encode() * 10_000
    path = f"/v1/media/{anna.request('POST', '/v1/media', data=content).json()['id']}"
    token = f"Bearer {anna.token}"
    whole = compared(server, path, 200, Authorization=token)
    assert whole.headers["Content-Length"] == str(len(content)) and whole.headers["Accept-Ranges"] == "bytes"
    part = compared(server, path, 206, Authorization=token, Range="bytes=10-19")
    assert part.headers["Content-Length"] == "10"
    assert part.headers["Content-Range"] == f"bytes 10-19/{len(content)}"
    compared(server, path, 304, Authorization=token, **{"If-None-Match": whole.headers["ETag"]})
    compared(server, path, 416, Authorization=token, Range=f"bytes={len(content)}-")


def test_head_is_allowed_exactly_where_get_is(server, anna):
    def allowed(path: str) -> tuple[int, set[str], bytes]:
        response = requests.request(
            "HEAD" if path == "/v1/ingest" else "PUT", f"{server.url}{path}", timeout=30,
            headers={"Authorization": f"Bearer {anna.token}"})
        return response.status_code, set(response.headers["Allow"].split(", ")), response.content

    status, methods, _ = allowed("/v1/me")
    assert status == 405 and {"GET", "HEAD"} <= methods
    assert allowed("/v1/ingest") == (405, {"POST"}, b"")
