"""Runs the pages of docs/guides as programs: runs their shell commands as a reader would paste them, and compares the
responses that a page shows with the real ones."""

import json
import os
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

from .server import Server

SECONDS = 900
# Separates the outputs of two blocks.
RECORD_SEPARATOR = "\x1e"
# A placeholder in a shown response. As a value it matches any value except null, within a text any characters, and as a
# field name any additional fields.
ANYTHING = "…"
# The shells that the pages promise to work in, without the settings of the user.
SHELLS = {"bash": ["bash", "--norc"], "zsh": ["zsh", "-f"]}
# Code of apps. It is not run, because it needs a phone.
APP_LANGUAGES = {"swift", "kotlin"}
# The address and the folder in the pages. The tests replace them with their own.
USUAL_ADDRESS = "127.0.0.1:8080"
USUAL_FOLDER = "/var/lib/hansard"


@dataclass
class Step:
    """One block of shell, and the responses that the page shows for it, if any."""

    page: str
    line: int
    commands: str
    shown: list

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass
class AppCode:
    """One block of an app's code."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


class Guide:
    """Blocks marked `sh` are run. A block marked `json` directly after one shows all JSON values that it prints, in
    order. If a page needs settings for the server, they are in a block marked `json settings`. Blocks of
    `APP_LANGUAGES` are collected, but not run, except Swift that imports nothing: these are the requests of the commands
    before it, which `guide_swift.py` runs."""

    def __init__(self, path: pathlib.Path, preface: pathlib.Path, section: str | None = None):
        """`preface` is the page with the commands to paste before those of all other pages. `section` is the heading of
        the part of the page that is a guide, if only one part is."""
        self.path = path
        self.settings: dict = {}
        self.steps: list[Step] = []
        self.app_code: list[AppCode] = []
        self.calls: list[AppCode] = []
        self.read(preface)
        common = len(self.steps)
        # What the calls of all pages use.
        self.client, self.app_code = self.app_code, []
        self.read(path, section)
        assert len(self.steps) > common, f"{path.name} runs nothing"
        assert any(step.shown for step in self.steps), f"{path.name} shows no response"

    def read(self, path: pathlib.Path, section: str | None = None) -> None:
        text = path.read_text() if section is None else part(path, section)
        blocks = list(re.finditer(r"^```(?P<kind>[a-z ]+)\n(?P<body>.*?)^```$", text, re.DOTALL | re.MULTILINE))
        assert len(re.findall("^```", text, re.MULTILINE)) == 2 * len(blocks), f"{path.name} has a block of no kind"
        for block in blocks:
            kind, body = block.group("kind"), block.group("body")
            line = text[: block.start("body")].count("\n")
            if kind == "sh":
                self.steps.append(Step(path.name, line, body, []))
            elif kind == "json settings":
                self.settings = json.loads(body)
            elif kind == "json":
                assert self.steps and not self.steps[-1].shown, f"{path.name}:{line} shows a response to no command"
                self.steps[-1].shown = values(body)
            elif kind in APP_LANGUAGES:
                makes_requests = kind == "swift" and not re.search("^import ", body, re.MULTILINE)
                (self.calls if makes_requests else self.app_code).append(AppCode(path.name, line, kind, body))
            else:
                raise AssertionError(f"{path.name}:{line}: nothing is known of blocks of {kind}")

    def configuration(self, folder: pathlib.Path) -> dict:
        return json.loads(json.dumps(self.settings).replace(USUAL_FOLDER, str(folder)))

    def script(self, server: Server, folder: pathlib.Path) -> str:
        """All steps in one shell. Exports the variables that the page assigns, and saves them after each step."""
        parts = ["set -a"]
        for number, step in enumerate(self.steps):
            parts += [step.commands, f"env -0 >{folder}/variables-{number}; printf '{RECORD_SEPARATOR}'"]
        script = "\n".join(parts)
        assert USUAL_ADDRESS in script, f"{self.path.name} does not say where the server listens"
        return script.replace(USUAL_ADDRESS, f"127.0.0.1:{server.port}").replace(USUAL_FOLDER, str(folder))

    def run(self, server: Server, folder: pathlib.Path, shell: str = "bash") -> None:
        """Runs the whole page. It stops at the first command that fails, unless a `!` in front says that it must
        fail."""
        # Python with the packages of the tests.
        path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            [*SHELLS[shell], "-euo", "pipefail", "-c", self.script(server, folder)], cwd=folder, capture_output=True, text=True,
            timeout=SECONDS, env=os.environ | {"HANSARD_DATA": str(server.data), "PATH": path},
        )
        *outputs, rest = done.stdout.split(RECORD_SEPARATOR)
        for number, (step, output) in enumerate(zip(self.steps, outputs, strict=False)):
            compare(step, output, variables(folder / f"variables-{number}"))
        if done.returncode != 0 or len(outputs) < len(self.steps):
            place = self.steps[len(outputs)].place
            raise AssertionError(f"{place} ended with {done.returncode}:\n{rest}\n{done.stderr}")


def part(path: pathlib.Path, section: str) -> str:
    """The text under a heading, preceded by as many empty lines as the page has lines before it, so that line numbers
    stay the same."""
    before, heading, rest = path.read_text().partition(f"\n## {section}\n")
    assert heading, f"{path.name} has no section {section}"
    return "\n" * (before.count("\n") + 2) + rest.partition("\n## ")[0]


def variables(path: pathlib.Path) -> dict[str, str]:
    return dict(entry.split("=", 1) for entry in path.read_text().split("\0") if "=" in entry)


def compare(step: Step, output: str, known: dict[str, str]) -> None:
    found = values(output)
    counts = f"shows {len(step.shown)} responses and prints {len(found)}"
    assert len(found) == len(step.shown), f"{step.place} {counts}:\n{output}"
    for shown, value in zip(step.shown, found, strict=True):
        difference = disagreement(filled(shown, known), value, "response")
        assert difference is None, f"{step.place}: {difference}\n{output}"


def values(text: str) -> list:
    """All JSON values of a text, one after the other."""
    decoder = json.JSONDecoder()
    found = []
    rest = text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        found.append(value)
        rest = rest[end:].strip()
    return found


def filled(shown, known: dict[str, str]):
    """The shown response, with the values of the shell variables filled in."""
    if isinstance(shown, dict):
        return {name: filled(value, known) for name, value in shown.items()}
    if isinstance(shown, list):
        return [filled(value, known) for value in shown]
    if isinstance(shown, str):
        return re.sub(r"\$([a-z_]+)", lambda match: valued(match.group(1), known), shown)
    return shown


def valued(name: str, known: dict[str, str]) -> str:
    assert name in known, f"no command has made ${name}"
    return known[name]


def disagreement(shown, found, place: str) -> str | None:
    """How `found` differs from what is shown; None if they agree."""
    if shown == ANYTHING:
        return f"{place} is null" if found is None else None
    if isinstance(shown, dict) and isinstance(found, dict):
        return of_objects(shown, found, place)
    if isinstance(shown, list) and isinstance(found, list):
        if len(shown) != len(found):
            return f"{place} has {len(found)} items, and {len(shown)} are shown"
        pairs = enumerate(zip(shown, found, strict=True))
        return first(disagreement(one, other, f"{place}[{number}]") for number, (one, other) in pairs)
    if isinstance(shown, str) and isinstance(found, str) and ANYTHING in shown:
        pattern = ".*".join(re.escape(part) for part in shown.split(ANYTHING))
        return None if re.fullmatch(pattern, found, re.DOTALL) else f"{place} is {found!r}, and {shown!r} is shown"
    same = shown == found and type(shown) is type(found)
    return None if same else f"{place} is {found!r}, and {shown!r} is shown"


def of_objects(shown: dict, found: dict, place: str) -> str | None:
    if more := set(found) - set(shown):
        if ANYTHING not in shown:
            return f"{place} also has {', '.join(sorted(more))}"
    wanted = {name: value for name, value in shown.items() if name != ANYTHING}
    if missing := set(wanted) - set(found):
        return f"{place} has no {', '.join(sorted(missing))}"
    return first(disagreement(value, found[name], f"{place}.{name}") for name, value in wanted.items())


def first(differences) -> str | None:
    return next((difference for difference in differences if difference), None)
