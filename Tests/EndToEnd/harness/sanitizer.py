"""Reports of ThreadSanitizer and AddressSanitizer, where the build under test has one of them.

The sanitizer writes each process's reports to a file of its own in the folder HANSARD_SANITIZER_REPORTS. A report fails
the test in which it appears, also when the test passes otherwise: a server that a test kills, for example, has no exit
status that shows it.
"""

import os
import pathlib

import pytest

# How much of a report a failure shows; the file has the rest.
SHOWN_CHARACTERS = 6_000


class SanitizerReports:
    """A plugin for pytest. Fixtures are torn down when it looks, so that what their servers report counts too."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.sizes: dict[pathlib.Path, int] = {}

    @classmethod
    def from_environment(cls) -> "SanitizerReports | None":
        folder = os.environ.get("HANSARD_SANITIZER_REPORTS")
        return cls(pathlib.Path(folder)) if folder else None

    def new(self) -> list[str]:
        """What was reported since the last call."""
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
