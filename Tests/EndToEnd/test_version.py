"""`hansard --version` names the build and its formats, and the pages name the same formats."""

import re
import subprocess

import pytest

from harness.command import hansard
from harness.places import DOCS, ROOT
from harness.server import Server


@pytest.fixture(scope="module")
def version() -> dict[str, str]:
    """The lines of the output, by their first words."""
    first, *lines = hansard("--version").output.splitlines()
    return dict([first.split(" ", 1), *(re.split(" {2,}", line, maxsplit=1) for line in lines)])


def git(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)


def test_the_version_is_that_of_the_changelog(version):
    assert re.fullmatch(r"\d+\.\d+\.\d+", version["hansard"])
    headings = re.findall(r"^## (.*)$", (DOCS / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0].split(",")[0] == version["hansard"]


def test_the_changelog_names_the_schema_versions_of_the_views(version):
    newest = (DOCS / "CHANGELOG.md").read_text().split("\n## ")[1]
    views = dict(view.split() for view in version["views"].split(", "))
    named = re.findall(rf"`({'|'.join(views)})`\s+\(?(\d+)\b", newest)
    assert named and set(named) <= set(views.items())


def test_the_commit_is_one_of_this_repository(version):
    """The checked out commit may be a later one: the executable can have been built before it."""
    if git("rev-parse", "--verify", "HEAD").returncode == 0:
        assert re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", version["commit"])
        assert git("cat-file", "-e", f"{version['commit']}^{{commit}}").returncode == 0
    else:
        assert version["commit"] == "unknown"


def test_the_log_format_is_that_of_the_page(version):
    assert (DOCS / "log-format.md").read_text().startswith(f"# The log format, version {version['log format']}\n")


def test_the_views_are_the_files_that_the_server_makes_and_the_page_names(version, tmp_path):
    shown = {f"{name}-v{schema}.sqlite" for name, schema in (view.split() for view in version["views"].split(", "))}
    server = Server(tmp_path / "data", "--push-file", tmp_path / "notifications").start()
    server.end()
    assert shown == {path.name for path in (server.data / "views").glob("*.sqlite")}
    assert shown == set(re.findall(r"\w+-v\d+\.sqlite", (DOCS / "read-models.md").read_text()))
