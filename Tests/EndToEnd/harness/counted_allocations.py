"""A server whose allocations and steps of SQLite are counted. It uses a library that is preloaded into it
(`counted_allocations.c`)."""

import pathlib
import struct
from typing import NamedTuple

from .preloaded import compile_library

SOURCE = pathlib.Path(__file__).parent / "counted_allocations.c"
# Those of the library.
ROWS, LOOPS = 32, 0
ROW = struct.Struct("<16sQQ")
VIEW = "view-"


class Counts(NamedTuple):
    # How often a thread has asked for memory.
    allocations: int
    # Of SQLite's virtual machine, in its statements.
    steps: int


class CountedAllocations:
    def __init__(self, directory: pathlib.Path):
        self.library = compile_library(SOURCE, directory)
        self.file = directory / "allocations"
        self.file.write_bytes(bytes(ROWS * ROW.size))

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that the server needs."""
        return {"LD_PRELOAD": str(self.library), "HANSARD_TEST_ALLOCATIONS": str(self.file)}

    def _rows(self) -> list[tuple[str, Counts]]:
        return [
            (name.rstrip(b"\0").decode(), Counts(allocations, steps))
            for name, allocations, steps in ROW.iter_unpack(self.file.read_bytes())]

    @property
    def of_loops(self) -> int:
        """How often the event loops have asked for memory."""
        return self._rows()[LOOPS][1].allocations

    @property
    def of_all(self) -> int:
        """How often all threads have asked for memory."""
        return sum(counts.allocations for _, counts in self._rows())

    @property
    def of_views(self) -> dict[str, Counts]:
        """What the thread of each view has done, by the view's name."""
        return {
            name.removeprefix(VIEW): counts for name, counts in self._rows() if name.startswith(VIEW)}
