"""The Swift in docs/guides makes the requests of the commands beside it: it compiles, and a real server takes them."""

import pytest

from harness.guide import AppCode, Guide
from harness.guide_pages import PAGES, PREFACE, serving
from harness.guide_swift import SwiftOfGuides

GUIDES = {page.stem: Guide(page, PREFACE) for page in PAGES}


@pytest.fixture(scope="module")
def swift(tmp_path_factory):
    return SwiftOfGuides(list(GUIDES.values()), tmp_path_factory.mktemp("swift"))


@pytest.mark.parametrize("name", GUIDES)
def test_every_guide_shows_its_requests_in_swift(name):
    assert GUIDES[name].calls


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
