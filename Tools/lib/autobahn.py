"""Starts the server in its conformance mode, runs Autobahn's fuzzing client against it and prints the results.

Usage: autobahn.py WORK CASE..., where WORK has the suite's Python environment in `python`.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# "Non-strict" means correct but later than possible: the frame decoder hands on whole frames, so invalid UTF-8 in the
# middle of one is found at its end (6.4.3 and 6.4.4).
PASSED = {"OK", "NON-STRICT", "INFORMATIONAL"}
AGENT = "hansard"


def start(data):
    """The process and its port."""
    server = subprocess.Popen(
        [os.environ["HANSARD_BIN"], "serve", "--conformance", "--data", data, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE, text=True, env=os.environ | {"HANSARD_RATE_LIMITS_ENABLED": "false"})
    for line in server.stdout:
        if found := re.search(r"listens on http://127\.0\.0\.1:(\d+)", line):
            return server, int(found[1])
    sys.exit(f"error: the server did not start; it ended with {server.wait()}")


def run(work, cases):
    data, report, specification = work / "data", work / "report", work / "cases.json"
    for old in (data, report):
        shutil.rmtree(old, ignore_errors=True)
    server, port = start(data)
    try:
        specification.write_text(json.dumps({
            "outdir": str(report), "cases": cases, "exclude-cases": [], "exclude-agent-cases": {},
            "servers": [{"agent": AGENT, "url": f"ws://127.0.0.1:{port}/conformance/ws"}],
        }))
        with (work / "suite.log").open("w") as log:
            subprocess.run(
                [work / "python" / "bin" / "wstest", "-m", "fuzzingclient", "-s", specification], check=True,
                stdout=log, stderr=log)
    finally:
        server.terminate()
        status = server.wait()
    return json.loads((report / "index.json").read_text())[AGENT], status


def main():
    work = pathlib.Path(sys.argv[1]).resolve()
    results, status = run(work, sys.argv[2:])
    for outcome, count in sorted(collections.Counter(result["behavior"] for result in results.values()).items()):
        print(f"{outcome:15} {count:4}")
    failed = [
        case for case, result in results.items() if not {result["behavior"], result["behaviorClose"]} <= PASSED]
    for case in failed:
        print(f"failed: {case}: {results[case]}")
    print(f"The report is {work / 'report' / 'index.html'}.")
    if failed or not results or status != 0:
        sys.exit(f"error: {len(failed)} of {len(results)} cases failed; the server ended with {status}")


if __name__ == "__main__":
    main()
