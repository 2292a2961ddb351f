"""Makes clients from docs/openapi.yaml as an app team would, and runs a conversation through each.

The programs with the conversations are in the folder `generated`. A generator never needs the network.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from .places import DOCS

CONVERSATIONS = pathlib.Path(__file__).parents[1] / "generated"
PAGE = DOCS / "openapi.yaml"
BINARIES = pathlib.Path(sys.executable).parent
# Generous, because other tests compile and run at the same time.
SECONDS = 900


def run(*command, folder: pathlib.Path, **environment: str) -> str:
    """All output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=SECONDS, env=os.environ | {"PATH": f"{BINARIES}:{os.environ['PATH']}"} | environment)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}:\n{done.stdout[-8000:]}"
    return done.stdout


class PythonClient:
    """What openapi-python-client makes."""

    def __init__(self, folder: pathlib.Path, page: pathlib.Path = PAGE):
        self.folder = folder
        # Without the steps that format the code.
        (folder / "config.yml").write_text("post_hooks: []\n")
        self.output = run(
            "openapi-python-client", "generate", "--path", page, "--meta", "none", "--config", folder / "config.yml",
            "--output-path", folder / "hansard_client", folder=folder)
        shutil.copy(CONVERSATIONS / "conversation.py", folder)

    def check_types(self) -> None:
        run("mypy", "--strict", "--cache-dir", self.folder / "types", "-p", "hansard_client", "-p", "conversation",
            folder=self.folder)

    def converse(self, url: str, service_token: str) -> dict:
        return json.loads(run(sys.executable, "conversation.py", url, service_token, folder=self.folder))


class SwiftClient:
    """What openapi-generator makes for Swift 6, compiled together with the conversation."""

    def __init__(self, folder: pathlib.Path, page: pathlib.Path = PAGE):
        self.folder = folder
        self.output = run(
            "openapi-generator-cli", "generate", "--input-spec", page, "--generator-name", "swift6", "--output", folder,
            "--additional-properties", "projectName=HansardClient", folder=folder)
        sources = sorted((folder / "Sources").rglob("*.swift"))
        assert sources, self.output[-4000:]
        swiftc = shutil.which("swiftc")
        assert swiftc, "swiftc is missing: install Swift from https://www.swift.org/install"
        run(swiftc, "-swift-version", "6", "-parse-as-library", "-wmo", "-Onone", "-module-name", "HansardClient",
            "-o", folder / "conversation", *sources, CONVERSATIONS / "conversation.swift", folder=folder)

    def converse(self, url: str) -> dict:
        return json.loads(run(self.folder / "conversation", url, folder=self.folder))
