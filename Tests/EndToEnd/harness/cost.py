"""What a request costs the server: processor time, memory, and whether the server still responds to others.

Limits are in the server's own processor seconds and bytes, so they hold on a busy machine too. A build that is slower
than a release build (debug, sanitizers) sets HANSARD_SLOWNESS to how many times slower it is, and one that takes more
memory (sanitizers) sets HANSARD_MEMORY_FACTOR to how many times more.
"""

import collections
import contextlib
import os
import pathlib
import re
import time

import requests

from .server import Server
from .waiting import PATIENCE_SECONDS

# How many times slower the build under test is than a release build.
SLOWNESS = float(os.environ.get("HANSARD_SLOWNESS", "1"))
# How many times more memory the build under test takes than a release build.
MEMORY_FACTOR = float(os.environ.get("HANSARD_MEMORY_FACTOR", "1"))
# Processor seconds that the server may use between a request for /healthz and its response. It is not the elapsed time,
# because the test itself may have to wait for the processor on a busy machine.
HEALTH_SECONDS = 2.0
# The kernel counts processor time in ticks of 0.01 s; a measurement may be off by two ticks.
TICKS_SECONDS = 0.02

MIB = 1024 * 1024


class Cost:
    """Processor seconds that a server used during a `with` block."""

    def __init__(self, server: Server):
        self.server = server
        self.seconds = 0.0


@contextlib.contextmanager
def measured(server: Server):
    """Measures the block: `with measured(server) as cost: ...`, then `cost.seconds`."""
    cost = Cost(server)
    before = server.processor_seconds()
    yield cost
    cost.seconds = server.processor_seconds() - before


@contextlib.contextmanager
def costs_at_most(server: Server, seconds: float, what: str = "the block"):
    """Fails when the server used more processor time during the block.

    what: names the block in the error."""
    with measured(server) as cost:
        yield cost
    limit = seconds * SLOWNESS + TICKS_SECONDS
    assert cost.seconds <= limit, f"{what} cost the server {cost.seconds:.2f} s of processor time, the limit is {limit:.2f} s"


def children_seconds(server: Server) -> float:
    """Processor seconds that the server's child processes have used, of those that have ended."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


# The names of the threads of NIO's event loops, which serve connections, and of NIO's thread pool, which runs blocking
# work. Linux shows at most fifteen characters, and NIO shortens its names to fit.
EVENT_LOOPS, THREAD_POOL = re.compile(r"NIO-\S+-#\d+"), re.compile(r".*-TP-#\d+")


def thread_seconds(server: Server) -> collections.Counter:
    """Processor seconds that the server's threads have used, by what the threads are for: `loops`, `pool`, `others`."""
    used = collections.Counter(loops=0.0, pool=0.0, others=0.0)
    for name, times in _schedules(server):
        kind = "pool" if THREAD_POOL.fullmatch(name) else "loops" if EVENT_LOOPS.fullmatch(name) else "others"
        used[kind] += int(times[0]) / 1e9
    return used


def _schedules(server: Server):
    """For each thread its name, and its time on a processor and its time waiting for one, in nanoseconds. The ticks of
    `stat` are too coarse: most requests take less than one."""
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        # The thread may have ended in the meantime.
        with contextlib.suppress(OSError):
            yield (task / "comm").read_text().strip(), (task / "schedstat").read_text().split()


def memory_limit(release_bytes: float) -> float:
    """The memory that the build under test may use, given what a release build may use."""
    return release_bytes * MEMORY_FACTOR


def resident_bytes(server: Server) -> int:
    """The memory that the process holds now."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


def responds(server: Server) -> None:
    """`/healthz` responds before the server has used `HEALTH_SECONDS` of processor time."""
    with costs_at_most(server, HEALTH_SECONDS):
        response = requests.get(f"{server.url}/healthz", timeout=60, verify=server.authority or True)
    assert response.status_code == 200


def _waited_seconds(server: Server) -> float:
    """How long the server's threads have waited for a processor, in seconds."""
    return sum(int(times[1]) for _, times in _schedules(server)) / 1e9


def until_idle(server: Server, patience: float = PATIENCE_SECONDS) -> None:
    """Waits until the server is idle: a quarter of a second costs it at most one tick of processor time. A server that
    waits for a processor is not idle."""
    deadline = time.monotonic() + patience
    while True:
        before, waited = server.processor_seconds(), _waited_seconds(server)
        time.sleep(0.25)
        if server.processor_seconds() - before <= 0.01 and _waited_seconds(server) - waited <= 0.05:
            return
        assert time.monotonic() < deadline, "the server is still busy"
