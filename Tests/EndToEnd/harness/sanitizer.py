"""Collects the reports of ThreadSanitizer or AddressSanitizer if the build under test has one of them.

The sanitizer writes each process's reports to its own file in the folder HANSARD_SANITIZER_REPORTS. A report fails the
test in which it appears, even if the test passes otherwise: a server that a test kills, for example, has no exit status
that shows the report.
"""

import os
import pathlib

import pytest

# How much of a report a failure message shows. The file has the rest.
SHOWN_CHARACTERS = 6_000


class SanitizerReports:
    """A pytest plugin. It looks after the fixtures are torn down, so that the reports of their servers count too."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.sizes: dict[pathlib.Path, int] = {}

    @classmethod
    def from_environment(cls) -> "SanitizerReports | None":
        folder = os.environ.get("HANSARD_SANITIZER_REPORTS")
        return cls(pathlib.Path(folder)) if folder else None

    def new(self) -> list[str]:
        """The reports since the last call."""
        found = []
        for path in sorted(self.folder.iterdir()):
            text = path.read_text(errors="replace")
            if added := text[self.sizes.get(path, 0) :]:
                self.sizes[path] = len(text)
                found.append(f"{path}:\n{added[:SHOWN_CHARACTERS]}")
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item, nextitem):
        try:
            return (yield)
        finally:
            if found := self.new():
                raise AssertionError("the sanitizer reports:\n" + "\n".join(found))
