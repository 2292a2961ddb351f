"""A server whose allocations are counted. It uses a library that is preloaded into it (`counted_allocations.c`)."""

import pathlib
import struct

from .preloaded import compile_library

SOURCE = pathlib.Path(__file__).parent / "counted_allocations.c"


class CountedAllocations:
    def __init__(self, directory: pathlib.Path):
        self.library = compile_library(SOURCE, directory)
        self.file = directory / "allocations"
        self.file.write_bytes(bytes(16))

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that the server needs."""
        return {"LD_PRELOAD": str(self.library), "HANSARD_TEST_ALLOCATIONS": str(self.file)}

    @property
    def of_loops(self) -> int:
        """How often the event loops have asked for memory."""
        return struct.unpack("<QQ", self.file.read_bytes())[0]

    @property
    def of_all(self) -> int:
        """How often all threads have asked for memory."""
        return sum(struct.unpack("<QQ", self.file.read_bytes()))
