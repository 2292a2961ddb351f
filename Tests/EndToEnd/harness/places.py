"""Paths in the repository."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"


def hansard_binary() -> pathlib.Path:
    """The executable under test: the one named by HANSARD_BIN, or the release build."""
    path = pathlib.Path(os.environ.get("HANSARD_BIN", ROOT / ".build" / "release" / "hansard"))
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: build it with 'swift build -c release --product hansard'")
    return path.resolve()
