"""A disk that fails when a test says so. It uses a library that is preloaded into the server (`failing_disk.c`)."""

import contextlib
import pathlib
import struct

from .preloaded import compile_library

SOURCE = pathlib.Path(__file__).parent / "failing_disk.c"
# The fields of `struct control`: whether reads fail, whether writes fail, whether syncs wait, and a part of the file
# paths.
CONTROL = struct.Struct("<iii244s")


class FailingDisk:
    """A disk that works until a test makes it fail."""

    def __init__(self, directory: pathlib.Path):
        self.library = compile_library(SOURCE, directory)
        self.file = directory / "disk"
        self.file.write_bytes(bytes(CONTROL.size))

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that the server needs."""
        return {"LD_PRELOAD": str(self.library), "HANSARD_TEST_DISK": str(self.file)}

    @contextlib.contextmanager
    def fails(self, path_part: str, *, reads: bool = False, writes: bool = False):
        """Within the block, reads or writes of files whose paths contain `path_part` fail with EIO."""
        self._set(path_part, reads, writes, False)
        try:
            yield
        finally:
            self._set(path_part, False, False, False)

    @contextlib.contextmanager
    def syncs_wait(self, path_part: str):
        """Within the block, syncs of files whose paths contain `path_part` do not return."""
        self._set(path_part, False, False, True)
        try:
            yield
        finally:
            self._set(path_part, False, False, False)

    def _set(self, path_part: str, reads: bool, writes: bool, syncs: bool) -> None:
        # Writes in place, because the server has mapped the file. Sets the path while no fault is active, so that the
        # faults never affect the files of an earlier block.
        with self.file.open("r+b") as file:
            file.write(CONTROL.pack(0, 0, 0, path_part.encode()))
            file.flush()
            file.seek(0)
            file.write(CONTROL.pack(reads, writes, syncs, path_part.encode()))
