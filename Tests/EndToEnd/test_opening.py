"""Opening a log reads the superblock, the keys and the last segment, however long the log is. strace counts the
bytes."""

import json
import os
import pathlib
import re
import subprocess
import time

import pytest

from harness.tampering import blocks

LOGWORK = os.environ.get("LOGWORK_BIN") or str(pathlib.Path(os.environ["HANSARD_BIN"]).with_name("logwork"))
SEGMENT_BYTES = 1024 * 1024
PATIENCE_SECONDS = 300
READ = re.compile(r"(?:pread64|read|preadv2?)\(\d+<([^>]*)>.* = (\d+)$")


def logwork(*arguments):
    result = subprocess.run(
        [LOGWORK, *[str(argument) for argument in arguments]], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def fill(data, records, *more):
    return logwork("fill", "--records", records, "--segment-bytes", SEGMENT_BYTES, "--data", data, *more)


def reads(data, tmp_path):
    """How many bytes of each file in the data directory the opening reads, as counted by the kernel."""
    trace = tmp_path / "trace"
    command = [
        "strace", "-f", "-y", "-qq", "-e", "trace=read,pread64,preadv,preadv2", "-o", trace, LOGWORK, "open", "--data",
        data]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    counts = {}
    for line in trace.read_text().splitlines():
        found = READ.search(line)
        if found and found[1].startswith(str(data)):
            name = pathlib.Path(found[1]).name
            counts[name] = counts.get(name, 0) + int(found[2])
    return counts, json.loads(result.stdout)


def last_segment(data):
    return sorted(path.name for path in (data / "log").glob("*.seg"))[-1]


@pytest.mark.parametrize("more", [[], ["--seal"]], ids=["active", "sealed"])
def test_opening_does_not_grow_with_the_log(tmp_path, more):
    seen = []
    for records in [8_000, 120_000]:
        data = tmp_path / str(records)
        filled = fill(data, records, *more)
        counts, report = reads(data, tmp_path)
        assert set(counts) == {"superblock", "checkpoint.key", "checkpoint.pub", last_segment(data)}
        assert report["head"] == filled["head"]
        seen.append((len(list((data / "log").glob("*.seg"))), sum(counts.values()), counts[last_segment(data)]))
    (few, short, _), (many, long, tail) = seen
    assert many > 4 * few
    # Headers are read in windows, and the last segment completely, so the number of bytes depends on how full that is.
    assert abs(long - short) < SEGMENT_BYTES
    assert 0 < tail < 2 * SEGMENT_BYTES


def test_a_killed_writer_leaves_no_more_to_read(tmp_path):
    data = tmp_path / "data"
    fill(data, 60_000)
    writer = subprocess.Popen(
        [LOGWORK, "append", "--writers", "4", "--outstanding", "16", "--seconds", str(2 * PATIENCE_SECONDS),
         "--data", data], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while blocks(data)[-1].last < 65_000:
            assert writer.poll() is None, "the writer ended by itself"
            assert time.monotonic() < deadline, "hardly anything was written"
            time.sleep(0.2)
    finally:
        writer.kill()
        writer.wait()
    counts, report = reads(data, tmp_path)
    assert set(counts) == {"superblock", "checkpoint.key", "checkpoint.pub", last_segment(data)}
    assert report["head"] > 61_000
