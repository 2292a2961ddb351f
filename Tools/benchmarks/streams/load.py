"""The programs of the package in `sockets`: the load generator, and the bare echo with which the server is compared."""

import os
import pathlib
import re
import subprocess
import time

from .program import Program


def executable(name):
    return pathlib.Path(os.environ["SOCKETS_BIN"], name)


def resident_bytes(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024


def processor_seconds(process):
    """The processor time that a process has used, with the threads that have ended."""
    # The clock that clock_getcpuclockid(3) names.
    return time.clock_gettime(~process.pid << 3 | 2)


class Load(Program):
    """The load generator. It is a process of its own, with one thread."""

    def __init__(self):
        super().__init__("the load generator", executable("load"))

    def perform(self, **instruction):
        """Returns the report, in microseconds where it has no unit."""
        report = super().perform(**instruction)
        if "error" in report:
            raise SystemExit(f"the load generator: {report['error']}")
        return report

    def open(self, port, requests, until, keep_alive="", message="", answer=""):
        """Opens streams in addition to those that are open."""
        self.perform(open={
            "port": port, "requests": requests, "until": until, "keepAlive": keep_alive, "message": message,
            "answer": answer})


class BareEcho:
    """A WebSocket echo of SwiftNIO alone."""

    def __init__(self):
        self.process = subprocess.Popen([executable("bare-echo")], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
