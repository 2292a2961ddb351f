"""Links in the pages lead somewhere, and the server accepts the settings that the pages show."""

import json
import re
import shutil

import pytest

from harness import certificates
from harness.guide_push import GuidePushServices
from harness.places import DOCS, ROOT
from harness.server import Server

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def names(pages) -> list[str]:
    return [str(page.relative_to(ROOT)) for page in pages]


def prose(text: str) -> str:
    """The text without code blocks, in which brackets are not links and `#` does not start a heading."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as GitHub generates them."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page, text: str) -> list[str]:
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_have_targets(page):
    assert broken(page, page.read_text()) == []


def test_a_broken_link_is_found():
    page = DOCS / "domain.md"
    right = "[a](media.md) [b](media.md#for-operators) [c](#rooms) [d](https://example.org)"
    text = right + " [e](nowhere.md) [f](media.md#for-nobody) [g](#x)"
    assert broken(page, text) == ["nowhere.md", "media.md#for-nobody", "#x"]


def shown_settings() -> list[tuple[str, str]]:
    """The location of each block marked `json settings`, and its text."""
    return [
        (f"{page.name}:{text[: block.start(1)].count(chr(10))}", block.group(1))
        for page in PAGES
        for text in [page.read_text()]
        for block in re.finditer(r"^```json settings\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    ]


SETTINGS = shown_settings()


@pytest.mark.parametrize("shown", [shown for _, shown in SETTINGS], ids=[place for place, _ in SETTINGS])
def test_the_shown_settings_are_settings(tmp_path, shown):
    if "/etc/hansard/" in shown:
        made = certificates.make(tmp_path / "made")
        shutil.copy(made.certificate, tmp_path / "fullchain.pem")
        shutil.copy(made.key, tmp_path / "key.pem")
    settings = tmp_path / "hansard.json"
    placed = json.loads(shown.replace("/etc/hansard", str(tmp_path)).replace("/var/lib/hansard", str(tmp_path)))
    served = str(tmp_path / "made" / "authority.pem") if "tls" in placed else None
    with GuidePushServices(placed, tmp_path) as services:
        settings.write_text(json.dumps(services.configuration()))
        Server(tmp_path / "data", "--config", settings, authority=served).start().stop()


def test_settings_are_shown_where_they_are_explained():
    assert {place.split(":")[0] for place, _ in SETTINGS} >= {"settings.md", "identity.md", "operating.md"}
