"""A server whose clocks a test sets. It uses a library that is preloaded into the server (`shifted_clock.c`)."""

import pathlib
import struct

from .preloaded import compile_library

SOURCE = pathlib.Path(__file__).parent / "shifted_clock.c"
DAY = 86_400


class ShiftedClock:
    """Clocks that show the real time until `shift` is called."""

    def __init__(self, directory: pathlib.Path):
        self.library = compile_library(SOURCE, directory)
        self.file = directory / "clock"
        self.file.write_bytes(bytes(16))

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that the server needs."""
        return {"LD_PRELOAD": str(self.library), "HANSARD_TEST_CLOCK": str(self.file)}

    def shift(self, wall: int = 0, uptime: int = 0) -> None:
        """Sets by how many seconds the wall clock and the monotonic clock are ahead of the real ones."""
        # Writes in place, because the server has mapped the file.
        with self.file.open("r+b") as file:
            file.write(struct.pack("<qq", wall, uptime))
