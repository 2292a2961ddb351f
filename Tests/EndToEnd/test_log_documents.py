"""The commands in docs/tools.md and docs/operating.md for seals, tree heads and proofs print what the pages show."""

import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

from harness import history
from harness.importing import run_import
from harness.places import DOCS, ROOT, hansard_binary
from harness.server import Server

SECTIONS = ["hansard log seal", "hansard log checkpoint", "hansard log prove", "hansard log check-proof",
            "Tools/verify_log.py"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The directory in which the commands are run: a data directory of a stopped server, the tools, and saved files."""
    folder = tmp_path_factory.mktemp("pasted")
    server = Server(folder / "hansard-data").start()
    # The page shows a first message whose payload has 32 bytes.
    entries = [{"at": "2020-05-01T10:00:00.000Z", "room": "tea", "type": "message", "user": "alice",
                "text": "the kettle is on, so come up.."}, *history.generate(1500, seed=2)]
    run_import(server, history.write(entries, folder / "history.jsonl"))
    server.stop()
    (folder / "bin").mkdir()
    (folder / "bin" / "hansard").symlink_to(hansard_binary())
    # The script must run with the interpreter that has its package.
    (folder / "bin" / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (folder / "bin" / "python3").chmod(0o755)
    (folder / "Tools").symlink_to(ROOT / "Tools")
    return folder


def run(folder: pathlib.Path, command: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=folder, capture_output=True, text=True, timeout=600,
        env=os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"},
    )


def masked(text: str) -> str:
    """The text without what differs from log to log: IDs, times, hashes, numbers and their units."""
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME", text)
    text = re.sub(r"[A-Za-z0-9+/]{40,}=*", "BASE64", text)
    return re.sub(r"\bN [KMG]iB", "N bytes", re.sub(r"\d[\d,.]*", "N", text))


def examples(section: str) -> list[tuple[str, str]]:
    """Each command that the page shows with a prompt, and its output."""
    page = (DOCS / "tools.md").read_text()
    (text,) = re.findall(rf"^## {re.escape(section)}$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shown = [block for block in blocks if block.startswith("$ ")]
    assert shown, f"tools.md shows no example of {section}"
    parts = [part for block in shown for part in block.removeprefix("$ ").split("\n$ ")]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def test_the_examples_of_the_tools_print_what_the_page_shows(folder):
    """Runs the commands in the order of the page, because a proof is made before it is checked."""
    for section in SECTIONS:
        for command, output in examples(section):
            done = run(folder, command)
            assert masked(done.stdout + done.stderr).rstrip() == masked(output).rstrip(), command
            assert done.returncode == (1 if "is not valid" in output else 0), command


def test_the_first_look_at_a_log_prints_what_the_page_shows(folder):
    (command, output), *_ = examples("hansard log verify")
    shown = run(folder, command).stdout
    assert masked(shown).splitlines() == masked(output).splitlines()


def test_the_commands_of_the_operating_page_work(folder):
    page = (DOCS / "operating.md").read_text()
    (cron,) = re.findall(r"^0 \* \* \* \* (.*)$", page, re.MULTILINE)
    local = re.sub(r"ssh \S+ '(.*)'", r"bash -c '\1'", cron).replace("/var/lib/hansard", "hansard-data")
    (folder / "heads").mkdir()
    assert local != cron and run(folder, local).returncode == 0
    # The file names have a resolution of one second.
    time.sleep(1.1)
    assert run(folder, local).returncode == 0
    heads = list((folder / "heads").glob("*.checkpoint"))
    assert len(heads) == 2 and all(re.fullmatch(r"\d+\.checkpoint", head.name) for head in heads)
    (folder / "kept.pub").write_text((folder / "hansard-data" / "checkpoint.pub").read_text())
    (check,) = re.findall(r"^hansard log verify .*$", page, re.MULTILINE)
    done = run(folder, check)
    stored = list((folder / "hansard-data" / "log").glob("*.checkpoint"))
    assert done.returncode == 0 and f"agrees with {2 + len(stored)} signed" in done.stdout, done.stderr
    assert heads[0].name not in done.stderr
    heads[0].write_text("not a tree head\n")
    assert run(folder, check).returncode == 1, "a kept head was not looked at"
    for name in ("checkpoint.key", "checkpoint.pub"):
        assert f"| `{name}` |" in page and (folder / "hansard-data" / name).stat().st_mode & 0o077 == 0
