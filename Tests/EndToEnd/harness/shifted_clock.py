"""A server whose clocks a test sets, by a library that is preloaded into it (`shifted_clock.c`)."""

import pathlib
import shutil
import struct
import subprocess

SOURCE = pathlib.Path(__file__).parent / "shifted_clock.c"
DAY = 86_400


def compile_library(directory: pathlib.Path) -> pathlib.Path:
    compiler = next((found for name in ("cc", "clang") if (found := shutil.which(name))), None)
    assert compiler, "no C compiler in PATH: install gcc, or put clang of the Swift toolchain into PATH"
    library = directory / "shifted_clock.so"
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    return library


class ShiftedClock:
    """Right at first."""

    def __init__(self, directory: pathlib.Path):
        self.library = compile_library(directory)
        self.file = directory / "clock"
        self.file.write_bytes(bytes(16))

    @property
    def environment(self) -> dict[str, str]:
        """For the server."""
        return {"LD_PRELOAD": str(self.library), "HANSARD_TEST_CLOCK": str(self.file)}

    def shift(self, wall: int = 0, uptime: int = 0) -> None:
        """Sets by how many seconds the wall clock and the monotonic clock are ahead of the real ones."""
        # In place, because the server has mapped the file.
        with self.file.open("r+b") as file:
            file.write(struct.pack("<qq", wall, uptime))
