"""Read models sync what they write in small steps, because each sync of the log waits for everything that was written before
to any file. strace counts the bytes."""

import collections
import pathlib
import re
import subprocess

from harness.people import World
from harness.read_models import lines, read_model, until_ready
from harness.waiting import wait_until

MIB = 1 << 20
# After so many bytes, a read model's file is synced. A write-ahead log is synced by another thread, and after a whole
# transaction.
STEP, LONGEST_STEP_OF_LOG = MIB, 12 * MIB
# A checkpoint begins when a write-ahead log has so much. Without steps, it is the first sync.
CHECKPOINT = 16 * MIB
MESSAGES, BODIES = 4_000, 10
CALL = re.compile(r"(pwrite64|fdatasync|fsync)\(\d+<([^>]*)>.* = (\d+)$")
RESUMED = re.compile(r"<\.\.\. (?:pwrite64|fdatasync|fsync) resumed>.*")


class Files:
    """What was written to each file, in bytes: in all, and at most without a sync."""

    def __init__(self, trace: str):
        self.written, self.most = collections.Counter(), collections.Counter()
        unsynced, unfinished = collections.Counter(), {}
        for line in trace.splitlines():
            thread, call = line.split(maxsplit=1)
            if call.endswith("<unfinished ...>"):
                unfinished[thread] = call
                continue
            if RESUMED.match(call):
                call = unfinished.pop(thread, "") + call
            found = CALL.match(call)
            if not found:
                continue
            name, path, result = found.groups()
            file = pathlib.Path(path).name
            if name == "pwrite64":
                self.written[file] += int(result)
                unsynced[file] += int(result)
                self.most[file] = max(self.most[file], unsynced[file])
            else:
                unsynced[file] = 0


def test_no_sync_of_a_read_model_is_long(own_server, tmp_path):
    world = World(own_server)
    anna, ben = world.user("Anna"), world.user("Ben")
    room = anna.room("Tea", ben)
    trace = tmp_path / "trace"
    tracer = subprocess.Popen(
        ["strace", "-f", "-y", "--seccomp-bpf", "-e", "trace=pwrite64,fdatasync,fsync", "-o", trace, "-p",
         str(own_server.process.pid)], stderr=subprocess.PIPE, text=True)
    try:
        assert "attached" in tracer.stderr.readline()
        for number in range(BODIES):
            world.admin.ingest_all(lines(anna, room, MESSAGES, f"a cup of tea and biscuit {number}"))
        until_ready(own_server)
        # The thread that makes checkpoints has a low priority. Nothing else makes a file grow.
        wait_until(lambda: read_model(own_server, "ids").stat().st_size > 2 * STEP, "there is no checkpoint")
    finally:
        tracer.terminate()
        tracer.wait()
    files = Files(trace.read_text())
    logs = {file for file, written in files.written.items() if file.endswith(".sqlite-wal") and written > CHECKPOINT}
    assert logs and any(file.startswith("ids") and file.endswith(".sqlite") for file in files.written), files.written
    for file, most in files.most.items():
        if file.endswith(".sqlite"):
            assert most <= STEP + 4096, (file, most)
        elif file in logs:
            assert most <= LONGEST_STEP_OF_LOG, (file, most)
