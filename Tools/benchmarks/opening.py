"""Measures the opening of a log of 100 MB and of 5 GB after a kill: bytes read, as strace counts them, and time."""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

LOGWORK = os.environ["LOGWORK_BIN"]
# The approximate size of a record of the generated log in an active segment, in bytes.
STORED_BYTES = 200
READ = re.compile(r"(?:pread64|read|preadv2?)\(\d+<([^>]*)>.* = (\d+)$")


def logwork(*arguments):
    result = subprocess.run(
        [LOGWORK, *[str(argument) for argument in arguments]], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"logwork {arguments[0]} failed: {result.stderr.strip()}")
    return json.loads(result.stdout)


def killed_writer(data):
    """Appends for a second and is then killed, so that the log ends as after a crash."""
    writer = subprocess.Popen(
        [LOGWORK, "append", "--writers", "16", "--outstanding", "4", "--seconds", "60", "--data", data],
        stdout=subprocess.DEVNULL)
    try:
        writer.wait(timeout=1)
        raise SystemExit("the writer ended by itself")
    except subprocess.TimeoutExpired:
        writer.kill()
        writer.wait()


def bytes_read(data):
    trace = data.parent / "trace"
    subprocess.run(
        ["strace", "-f", "-y", "-qq", "-e", "trace=read,pread64,preadv,preadv2", "-o", trace, LOGWORK, "open", "--data",
         data], check=True, stdout=subprocess.DEVNULL)
    found = [READ.search(line) for line in trace.read_text().splitlines()]
    return sum(int(match[2]) for match in found if match and match[1].startswith(str(data)))


def measure(folder, megabytes, rounds):
    data = folder / f"{megabytes}"
    logwork("fill", "--records", megabytes * 1_000_000 // STORED_BYTES, "--data", data)
    killed_writer(data)
    size = sum(path.stat().st_size for path in (data / "log").iterdir())
    counted = bytes_read(data)
    times = []
    for _ in range(rounds):
        killed_writer(data)
        times.append(logwork("open", "--data", data)["milliseconds"])
    shutil.rmtree(data)
    return size, counted, statistics.median(times)


def main():
    parser = argparse.ArgumentParser(prog="Tools/bench opening", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100, 5_000])
    parser.add_argument("--folder", type=pathlib.Path, help="where the logs are created; by default a temporary folder")
    options = parser.parse_args()
    print(f"{'LOG':>12}{'READ ON OPENING':>20}{'MEDIAN TIME':>16}   after a kill")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for megabytes in options.megabytes:
            size, counted, milliseconds = measure(pathlib.Path(folder), megabytes, options.rounds)
            print(f"{size / 1e6:>9,.0f} MB{counted / 1e6:>17.2f} MB{milliseconds:>13.1f} ms", flush=True)


if __name__ == "__main__":
    main()
