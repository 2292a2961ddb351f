"""The pages of docs/guides do what they say, block by block, and a wrong page is detected."""

import re
import shutil
import subprocess

import pytest

from harness.guide import AppCode, Guide, disagreement
from harness.guide_pages import PAGES, PREFACE, serving
from harness.guide_swift import NETWORKING
from harness.places import DOCS

PUSH = DOCS / "push.md"


def run(guide: Guide, folder) -> None:
    with serving(guide, folder) as server:
        guide.run(server, folder)


def test_the_list_of_pages_is_whole():
    assert len(PAGES) == 7
    assert all(f"]({page.name})" in PREFACE.read_text() for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_page_does_what_it_says(page, tmp_path):
    run(Guide(page, PREFACE), tmp_path)


def test_what_operators_are_shown(tmp_path):
    run(Guide(DOCS / "operating.md", PREFACE, "Accounts, sessions and keys"), tmp_path)


# MARK: The code of apps

# How the code reads a field of a notification: in Swift from `userInfo`, in Kotlin from `data`.
FIELD = re.compile(r'\b(?:fields|userInfo|data)\["(\w+)"\]')
# Modules that swiftc has on every system.
PORTABLE_MODULES = {"Foundation"}
APP_CODE = [code for page in PAGES for code in Guide(page, PREFACE).app_code]


def fields_of_notifications() -> set[str]:
    """What the table in push.md lists."""
    section = PUSH.read_text().partition("### What a provider sees\n")[2].partition("\nAn alert's title")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def swift_fault(code: AppCode, folder) -> str | None:
    """What the compiler says. It checks types too if the code needs no module of Apple's systems."""
    swiftc = shutil.which("swiftc")
    assert swiftc, "swiftc is missing: install Swift from https://www.swift.org/install"
    is_portable = set(re.findall(r"^import (\w+)", code.text, re.MULTILINE)) <= PORTABLE_MODULES
    file = folder / "App.swift"
    file.write_text((NETWORKING if is_portable else "") + code.text)
    mode = "-typecheck" if is_portable else "-parse"
    done = subprocess.run(
        [swiftc, mode, "-parse-as-library", "-swift-version", "6", file], capture_output=True, text=True)
    return done.stderr if done.returncode else None


def test_the_guides_have_code_of_apps():
    assert {(code.page, code.language) for code in APP_CODE} == {
        ("private-messenger.md", "swift"), ("meetings.md", "kotlin")}


@pytest.mark.parametrize("code", APP_CODE, ids=[code.place for code in APP_CODE])
def test_the_code_of_an_app_reads_only_fields_that_notifications_have(code):
    assert set(FIELD.findall(code.text)) <= fields_of_notifications()


def test_the_code_of_apps_reads_fields():
    read = {code.language: set() for code in APP_CODE}
    for code in APP_CODE:
        read[code.language] |= set(FIELD.findall(code.text))
    assert read["swift"] >= {"kind", "roomId", "messageId", "senderId", "threadId", "clearedThrough", "position", "badge"}
    assert read["kotlin"] >= {"deliveryKey", "roomId", "messageId", "badge"}


SWIFT = [code for code in APP_CODE if code.language == "swift"]


@pytest.mark.parametrize("code", SWIFT, ids=[code.place for code in SWIFT])
def test_swift_of_an_app_compiles(code, tmp_path):
    assert swift_fault(code, tmp_path) is None


@pytest.mark.parametrize(
    "text", ["import UIKit\nlet badge = (1\n", 'import Foundation\nlet address: URL = "x"\n'],
    ids=["syntax", "type"])
def test_swift_that_is_wrong_is_found(text, tmp_path):
    assert "error:" in swift_fault(AppCode("wrong.md", 1, "swift", text), tmp_path)


# MARK: Wrong pages


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
