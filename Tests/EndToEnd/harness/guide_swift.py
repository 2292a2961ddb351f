"""Compiles the Swift of the guides into one program, and runs a page of it.

A block that imports nothing makes requests, like the commands before it. The blocks of a page together are one function,
which begins with the service's API in `admin`.
"""

import os
import pathlib
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
