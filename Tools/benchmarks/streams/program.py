"""A program that a benchmark starts and instructs."""

import json
import subprocess


class Program:
    """A process that gets instructions and responds with reports, one line of JSON each. `name` is for errors."""

    def __init__(self, name, *command):
        self.name = name
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def perform(self, **instruction):
        self.process.stdin.write(json.dumps(instruction) + "\n")
        self.process.stdin.flush()
        return self.report()

    def report(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} failed")
        return json.loads(line)
