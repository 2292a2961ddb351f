"""Compiles the Swift of the guides into one program, and runs a page of it. Lists the requests of a page in curl and in
Swift.

A block that imports nothing makes requests, like the commands before it. The blocks of a page together are one function,
which begins with the service's API in `admin`.
"""

import os
import pathlib
import re
import shutil
import subprocess

from .guide import USUAL_ADDRESS, Guide
from .server import Server

SECONDS = 900
# On Linux, `URLSession` is in a module of its own.
NETWORKING = "#if canImport(FoundationNetworking)\n  import FoundationNetworking\n#endif\n"
MAIN = """
@main
struct Guides {{
  static func main() async throws {{
    let admin = Hansard(token: ProcessInfo.processInfo.environment["HANSARD_TOKEN"])
    switch CommandLine.arguments[1] {{
{cases}
    default: fatalError("no such page")
    }}
  }}
}}
"""

METHOD = "(?P<method>GET|POST|PUT|PATCH|DELETE)"
SHELL_VALUE = r"\$\{[^}]*\}|\$\([^)]*\)|\$\w+"
SWIFT_VALUE = r"\\\((?:[^()]|\([^()]*\))*\)"
SHELL_PATH = rf"(?P<path>/v1(?:/(?:{SHELL_VALUE}|[\w.%-])+)+)"
SWIFT_PATH = rf"(?P<path>/v1(?:/(?:{SWIFT_VALUE}|[\w.%-])+)+)"
# The method is in front of the path, for example `ask $anna GET /v1/rooms`. A path can contain another request, in `$(…)`.
SHELL_REQUEST = re.compile(rf"(?={METHOD} [\"']?{SHELL_PATH})")
CURL_REQUEST = re.compile(rf"\$host{SHELL_PATH}.*")
PROGRAM = re.compile(r"<<'(\w+)'\n.*?^\1$", re.DOTALL | re.MULTILINE)
SWIFT_REQUEST = re.compile(rf'"{METHOD}",\s*"{SWIFT_PATH}')
# Functions of a page that add the method or set it later.
SWIFT_GET = re.compile(rf'\bget\("{SWIFT_PATH}')
SWIFT_URL_REQUEST = re.compile(rf'address \+ "{SWIFT_PATH}.*?httpMethod = "{METHOD}"', re.DOTALL)


def curl_requests(guide: Guide, page: pathlib.Path) -> set[str]:
    """What the shell commands of a page request, as `METHOD /v1/…` with `{}` for each ID. Clients in other languages, which
    some commands write into files, are left out."""
    found = set()
    for step in guide.steps:
        if step.page == page.name:
            text = PROGRAM.sub("", step.commands).replace("\\\n", " ")
            found |= {request(match["method"], match["path"]) for match in SHELL_REQUEST.finditer(text)}
            for match in CURL_REQUEST.finditer(text):
                found.add(request("POST" if " --data" in match[0] else "GET", match["path"]))
    return found


def swift_requests(guide: Guide) -> set[str]:
    """The same for the Swift of a page, including the code that needs a phone."""
    found = set()
    for block in guide.calls + guide.app_code:
        if block.language == "swift":
            for match in [*SWIFT_REQUEST.finditer(block.text), *SWIFT_URL_REQUEST.finditer(block.text)]:
                found.add(request(match["method"], match["path"]))
            found |= {request("GET", match["path"]) for match in SWIFT_GET.finditer(block.text)}
    return found


def request(method: str, path: str) -> str:
    # A value can contain slashes.
    parts = re.sub(f"{SHELL_VALUE}|{SWIFT_VALUE}", "{}", path).split("/")
    return f"{method} {'/'.join(part if re.fullmatch('[a-z0-9-]*', part) else '{}' for part in parts)}"


def function(guide: Guide) -> str:
    return guide.path.stem.replace("-", "_")


def located(page: str, line: int, text: str) -> str:
    """The text, in which the compiler reports errors at their place in the page."""
    return f'#sourceLocation(file: "{page}", line: {line + 1})\n{text}#sourceLocation()\n'


class SwiftOfGuides:
    def __init__(self, guides: list[Guide], folder: pathlib.Path):
        """Compiles the Swift of all guides, which have the same preface."""
        self.program = folder / "guides"
        address = f'"http://{USUAL_ADDRESS}"'
        [client] = guides[0].client
        assert client.text.count(address) == 1
        environment = 'ProcessInfo.processInfo.environment["HANSARD_URL", default: ""]'
        parts = {"Client": located(client.page, client.line, client.text.replace(address, environment))}
        for guide in guides:
            body = "".join(located(each.page, each.line, each.text) for each in guide.calls)
            parts[function(guide)] = f"func {function(guide)}(admin: Hansard) async throws {{\n{body}}}\n"
        cases = "\n".join(
            f'    case "{guide.path.stem}": try await {function(guide)}(admin: admin)' for guide in guides)
        parts["Guides"] = MAIN.format(cases=cases)
        for name, text in parts.items():
            (folder / f"{name}.swift").write_text(f"import Foundation\n{NETWORKING}{text}")
        swiftc = shutil.which("swiftc")
        assert swiftc, "swiftc is missing: install Swift from https://www.swift.org/install"
        done = subprocess.run(
            [swiftc, "-swift-version", "6", "-parse-as-library", "-o", self.program, *folder.glob("*.swift")],
            cwd=folder, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, done.stderr

    def run(self, guide: Guide, server: Server) -> str:
        """What the page prints. Fails if a request does."""
        done = subprocess.run(
            [self.program, guide.path.stem], capture_output=True, text=True, timeout=SECONDS,
            env=os.environ | {"HANSARD_URL": server.url, "HANSARD_TOKEN": server.token})
        assert done.returncode == 0, f"the Swift of {guide.path.name} ended with {done.returncode}:\n{done.stderr[-4000:]}"
        return done.stdout
