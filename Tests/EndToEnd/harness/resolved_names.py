"""Names that the server resolves to ports of this machine. It uses a library that is preloaded into the server
(`resolved_names.c`)."""

import pathlib

from .preloaded import compile_library

SOURCE = pathlib.Path(__file__).parent / "resolved_names.c"


class ResolvedNames:
    """The real names of services, behind which stand-ins listen."""

    def __init__(self, directory: pathlib.Path, ports: dict[str, int]):
        directory.mkdir(parents=True, exist_ok=True)
        self.library = compile_library(SOURCE, directory)
        self.ports = ports

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that the server needs."""
        names = ",".join(f"{name}={port}" for name, port in self.ports.items())
        return {"LD_PRELOAD": str(self.library), "HANSARD_TEST_NAMES": names}
