"""A server whose disk fails as a test says, by a library that is preloaded into it (`failing_disk.c`)."""

import contextlib
import pathlib
import struct

from .preloaded import compile_library

SOURCE = pathlib.Path(__file__).parent / "failing_disk.c"
# As `struct control`: whether reads fail, whether writes fail, whether syncs wait, and a part of the files' paths.
CONTROL = struct.Struct("<iii244s")


class FailingDisk:
    """Works at first."""

    def __init__(self, directory: pathlib.Path):
        self.library = compile_library(SOURCE, directory)
        self.file = directory / "disk"
        self.file.write_bytes(bytes(CONTROL.size))

    @property
    def environment(self) -> dict[str, str]:
        """For the server."""
        return {"LD_PRELOAD": str(self.library), "HANSARD_TEST_DISK": str(self.file)}

    @contextlib.contextmanager
    def fails(self, path_part: str, *, reads: bool = False, writes: bool = False):
        """EIO for each read or write of the files whose paths contain `path_part`."""
        self._set(path_part, reads, writes, False)
        try:
            yield
        finally:
            self._set("", False, False, False)

    @contextlib.contextmanager
    def syncs_wait(self, path_part: str):
        """No sync of those files ends before the block does."""
        self._set(path_part, False, False, True)
        try:
            yield
        finally:
            self._set("", False, False, False)

    def _set(self, path_part: str, reads: bool, writes: bool, syncs: bool) -> None:
        # In place, because the server has mapped the file. First the path, then what happens to it.
        with self.file.open("r+b") as file:
            file.write(CONTROL.pack(0, 0, 0, path_part.encode()))
            file.flush()
            file.seek(0)
            file.write(CONTROL.pack(reads, writes, syncs, path_part.encode()))
