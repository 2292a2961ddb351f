"""The parts of the Debian package that can be checked without building it. `Tools/package --test` installs and runs it."""

import json
import re
import subprocess

import pytest

from harness.people import World
from harness.places import DOCS, ROOT
from harness.server import Server
from test_document_links import broken

PARTS = ROOT / "Tools" / "packaging"
# From 0 (nothing can be done to the system) to 100, as `systemd-analyze security` rates it.
MAXIMUM_EXPOSURE = 20


def test_the_service_has_a_tight_sandbox():
    subprocess.run(
        ["systemd-analyze", "security", "--offline=true", f"--threshold={MAXIMUM_EXPOSURE}", "--no-pager",
         PARTS / "hansard.service"], check=True, capture_output=True)


def test_the_server_accepts_the_settings_of_the_package(tmp_path):
    settings = PARTS / "hansard.json"
    assert f"--config /etc/hansard/{settings.name}\n" in (PARTS / "hansard.service").read_text()
    # A user's data must not be in a folder that the service cannot write to.
    assert json.loads(settings.read_text())["data"] == "/var/lib/hansard"
    # The unit restarts a server that ended because its event log had failed.
    assert json.loads(settings.read_text())["storage"]["exitAfterFailure"] > 0
    assert "Restart=on-failure\n" in (PARTS / "hansard.service").read_text()
    server = Server(tmp_path / "data", "--config", str(settings)).start()
    try:
        World(server).user("Anna")
    finally:
        server.end()


@pytest.mark.parametrize("script", ["postinst", "prerm", "postrm"])
def test_the_scripts_of_the_package_are_valid(script):
    subprocess.run(["sh", "-n", PARTS / script], check=True)


def test_the_page_names_what_the_package_contains():
    page = (DOCS / "operating.md").read_text()
    unit = (PARTS / "hansard.service").read_text()
    assert re.search(r"^ExecStart=(\S+)", unit, re.MULTILINE)[1] == "/usr/bin/hansard"
    for name in (
        "/usr/bin/hansard", "/etc/hansard/hansard.json", "/var/lib/hansard", "/usr/share/hansard/verify_log.py",
        "/usr/share/doc/hansard", "Tools/packaging/Containerfile",
    ):
        assert f"`{name}`" in page
    assert "StateDirectory=hansard\n" in unit


def test_links_in_the_pages_of_the_package_have_targets(tmp_path):
    """README.md is in the same folder as the pages there, and what is not packaged does not exist."""
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c",
         'source Tools/lib/setup.sh; source Tools/lib/documentation.sh; stage_documentation "$1"', "stage",
         tmp_path / "hansard"], cwd=ROOT, check=True)
    pages = sorted((tmp_path / "hansard").rglob("*.md"))
    assert len(pages) == 1 + len(list(DOCS.rglob("*.md")))
    wrong = {page.name: links for page in pages if (links := broken(page, page.read_text()))}
    assert wrong == {}


@pytest.mark.parametrize("file", [DOCS / "operating.md", PARTS / "Containerfile"], ids=["page", "Containerfile"])
def test_the_shown_container_starts_again_after_a_failure_of_the_event_log(file):
    (command,) = re.findall(r"podman run .*", file.read_text())
    # The server ends with an error then, because the settings of the package have `storage.exitAfterFailure`.
    assert " --restart on-failure " in command
