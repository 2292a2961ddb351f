"""The page of the guide "Going live" mirrors a room in a real browser, from another origin, over every transport."""

import json
import re
from urllib.parse import urlencode

import pytest

from harness.browser import Browser, Page, serving
from harness.client import new_id
from harness.people import World
from harness.places import DOCS
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until

GUIDE = DOCS / "guides" / "going-live.md"
TRANSPORTS = ("eventSource", "webSocket", "fetchStream", "longPolling")
STREAM, SOCKET, TICKETS = "/v1/sync/stream", "/v1/sync/socket", "/v1/sync/tickets"
SHOWN = """({
  title: document.title, lines: [...document.querySelectorAll("li")].map((line) => line.textContent),
  messages: timeline()})"""
# Collects the revisions of the messages that a page of the guide gets from now on.
COLLECT = """
  const revisions = [], applyItems = apply
  apply = (page) => {
    revisions.push(...page.items.filter((item) => item.type === "message").map((item) => item.revision))
    applyItems(page)
  }"""


def page_of_the_guide() -> bytes:
    found = re.findall(r"<<'HTML'\n(.*?)^HTML$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(found) == 1, f"{GUIDE.name} shows {len(found)} pages"
    return found[0].encode()


@pytest.fixture(scope="module")
def port():
    with serving(page_of_the_guide()) as port:
        yield port


@pytest.fixture(scope="module")
def server(tmp_path_factory, port):
    environment = UNLIMITED | {"HANSARD_CROSS_ORIGIN_ORIGINS": f"http://127.0.0.1:{port}"}
    server = Server(tmp_path_factory.mktemp("browser") / "data", environment=environment).start()
    yield server
    server.end()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture
def allowed(port) -> str:
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def other(port) -> str:
    """An origin that the server does not allow."""
    return f"http://localhost:{port}"


def ticket_of(api) -> str:
    return api.post(TICKETS, expect=200)["ticket"]


def follow(browser: Browser, origin: str, person, room, transport: str) -> Page:
    query = {"server": person.server.url, "token": person.token, "room": room.id, "transport": transport}
    return browser.open(f"{origin}/page.html#{urlencode(query)}")


def wait_for_mirrors(pages: dict[str, Page], person, room) -> None:
    """Waits until each page has and shows the room as the endpoints do."""
    messages = person.get(f"{room.path}/messages", limit=200)["messages"]
    members = person.get(f"{room.path}/members")["members"]
    names = {member["user"]["id"]: member["user"]["nickname"] for member in members}
    lines = [f"{names[message['senderId']]}: {message['text'] or '(deleted)'}" for message in messages]
    expected = {"title": person.see(room)["name"], "lines": lines, "messages": messages}
    for transport, page in pages.items():
        wait_until(lambda: page.evaluate(SHOWN) == expected,  # noqa: B023
                   f"the page with {transport} does not show {expected}")


def test_a_page_of_another_origin_mirrors_a_room(browser, server, allowed, world, anna, ben, room):
    sent = [anna.send(room, f"message {number}")["id"] for number in range(4)]
    pages = {transport: follow(browser, allowed, ben, room, transport) for transport in TRANSPORTS}
    wait_for_mirrors(pages, ben, room)
    for page in pages.values():
        page.evaluate(COLLECT)

    def change(number: int) -> None:
        ben.send(room, f"from Ben {number}")
        anna.patch(room.message(sent[number]), {"text": f"edited {number}"}, key=new_id())
        anna.delete(room.message(sent[number + 1]), key=new_id())
        anna.patch(room.path, {"name": f"Tea {number}"}, key=new_id())

    change(0)
    wait_for_mirrors(pages, ben, room)
    server.kill()
    server.start()
    change(2)
    wait_for_mirrors(pages, ben, room)
    for transport, page in pages.items():
        revisions = page.evaluate("revisions")
        assert len(revisions) == 6 and revisions == sorted(set(revisions)), f"{transport}: {revisions}"
    world.admin.delete(f"/v1/admin/users/{ben.id}/sessions")
    for transport, page in pages.items():
        wait_until(lambda: page.evaluate("list.textContent") == "session_ended",  # noqa: B023
                   f"the page with {transport} does not show the end of the session")
        page.close()


def test_a_ticket_opens_a_web_socket(browser, allowed, server, anna, ben, room):
    anna.send(room, "hello")
    page = browser.open(f"{allowed}/empty.html")
    address = f"{server.url.replace('http', 'ws')}{SOCKET}?{urlencode({'ticket': ticket_of(ben), 'include': 'message'})}"
    items = page.evaluate(f"""new Promise((resolve, reject) => {{
      const socket = new WebSocket({json.dumps(address)})
      socket.onmessage = (event) => {{ const {{items}} = JSON.parse(event.data); if (items?.length) resolve(items) }}
      socket.onclose = (event) => reject(new Error(event.reason))
    }})""")
    assert [item["message"]["text"] for item in items] == ["hello"]
    page.close()


def test_an_event_source_that_connects_again_with_its_ticket_stops(browser, allowed, server, ben):
    """So the page of the guide closes it, and opens another with a new ticket."""
    page = browser.open(f"{allowed}/empty.html")
    page.evaluate(f"""new Promise((resolve) => {{
      window.source = new EventSource({json.dumps(f"{server.url}{STREAM}?ticket={ticket_of(ben)}")})
      source.onopen = resolve
    }})""")
    server.kill()
    server.start()
    wait_until(lambda: page.evaluate("source.readyState === EventSource.CLOSED"), "the EventSource does not stop")
    page.close()


def test_a_page_of_an_origin_that_is_not_allowed_reads_nothing(browser, allowed, other, server, anna, ben, room):
    anna.send(room, "secret")
    outcomes = []
    for origin in (allowed, other):
        page = browser.open(f"{origin}/empty.html")
        outcomes.append(page.evaluate(f"""(async () => {{
          const server = {json.dumps(server.url)}, token = {json.dumps(ben.token)}
          const headers = {{Authorization: `Bearer ${{token}}`}}
          const read = (path, options) => fetch(server + path, options).then((response) => response.status, () => "refused")
          const opened = (target) => new Promise((resolve) => {{
            target.onopen = () => {{ resolve("open"); target.close() }}
            target.onerror = () => resolve("refused")
          }})
          return {{
            fetch: await read("/v1/sync", {{headers}}),
            fetchStream: await read("{STREAM}", {{headers}}),
            tickets: await read("{TICKETS}", {{headers, method: "POST"}}),
            eventSource: await opened(new EventSource(`${{server}}{STREAM}?ticket={ticket_of(ben)}`)),
            webSocket: await opened(new WebSocket(`${{server.replace("http", "ws")}}{SOCKET}?ticket={ticket_of(ben)}`)),
          }}
        }})()"""))
        page.close()
    assert outcomes[0] == {
        "fetch": 200, "fetchStream": 200, "tickets": 200, "eventSource": "open", "webSocket": "open"}
    assert outcomes[1] == dict.fromkeys(outcomes[0], "refused")
