"""The pages of docs/guides do what they say, block by block, and a wrong page is detected."""

import json

import pytest

from harness.guide import Guide, disagreement
from harness.guide_push import GuidePushServices
from harness.places import DOCS
from harness.server import Server

PREFACE = DOCS / "guides" / "README.md"
PAGES = sorted(page for page in (DOCS / "guides").glob("*.md") if page != PREFACE)


def run(guide: Guide, folder) -> None:
    settings = folder / "hansard.json"
    with GuidePushServices(guide.configuration(folder), folder) as services:
        settings.write_text(json.dumps(services.configuration()))
        server = Server(folder / "hansard-data", "--config", settings).start()
        try:
            guide.run(server, folder)
        finally:
            server.end()
        assert services.faults == []


def test_the_list_of_pages_is_whole():
    assert len(PAGES) == 6
    assert all(f"]({page.name})" in PREFACE.read_text() for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_page_does_what_it_says(page, tmp_path):
    run(Guide(page, PREFACE), tmp_path)


def test_what_operators_are_shown(tmp_path):
    run(Guide(DOCS / "operating.md", PREFACE, "Accounts, sessions and keys"), tmp_path)


@pytest.mark.parametrize(
    ("commands", "shown", "why"),
    [
        ('curl -sS "$host/healthz"', '{"status":"broken"}', "and 'broken' is shown"),
        ('curl -sS "$host/healthz"', '{"status":"ok","colour":"red"}', "has no colour"),
        ('curl -sS "$host/healthz"', "{}", "also has status"),
        ("ask $admin GET '/v1/admin/users?externalId=x'", "", "shows 0 responses and prints 1"),
        ("tell $admin GET /v1/admin/users", "", "invalid_query"),
        ('ask "" GET /v1/me | jq .code', '"access_token_missing"', "ended with 22"),
        ("jq -n '{host: $ENV.admin}'", '{"host":"$host"}', "is shown"),
    ],
    ids=["value", "missing", "more", "unshown", "refused", "refused and shown", "variable"],
)
def test_a_page_that_is_wrong_is_found(tmp_path, commands, shown, why):
    page = tmp_path / "wrong.md"
    page.write_text(
        "```sh\nid_of $(person Anna) | jq -R .\n```\n```json\n\"…\"\n```\n"
        f"```sh\n{commands}\n```\n" + (f"```json\n{shown}\n```\n" if shown else "")
    )
    with pytest.raises(AssertionError, match=why):
        run(Guide(page, PREFACE), tmp_path)


@pytest.mark.parametrize("block", ["```\nls\n```\n", "```python\n1\n```\n", "```json\n1\n```\n```json\n2\n```\n"])
def test_a_block_that_nothing_is_compared_with_is_refused(tmp_path, block):
    page = tmp_path / "wrong.md"
    page.write_text("```sh\necho 1\n```\n" + block)
    with pytest.raises(AssertionError, match="wrong.md"):
        Guide(page, PREFACE)


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ({"a": "…"}, {"a": [1]}), ({"a": 1, "…": "…"}, {"a": 1, "b": 2}), ("tea/…", "tea/42"),
        ([{"a": None}], [{"a": None}]),
    ],
)
def test_what_agrees(shown, found):
    assert disagreement(shown, found, "x") is None


@pytest.mark.parametrize(
    ("shown", "found", "why"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, "x also has b"), ({"a": 1}, {"b": 1, "a": 2}, "x also has b"),
        ({"a": {"b": "…"}}, {"a": {"b": None}}, "x.a.b is null"), ([1], [1, 2], "x has 2 items, and 1 are shown"),
        ([{"a": 1}], [{"a": True}], "x[0].a is True, and 1 is shown"),
        ("tea/…", "coffee/42", "x is 'coffee/42', and 'tea/…' is shown"),
        ({"a": 1, "…": "…"}, {"b": 1}, "x has no a"), ("", None, "x is None, and '' is shown"),
    ],
)
def test_what_disagrees(shown, found, why):
    assert disagreement(shown, found, "x") == why
