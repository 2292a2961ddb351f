"""Redis on a Unix socket, with an append-only file that is synced before each response."""

import csv
import io
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

PAYLOAD_BYTES = 300
SETTINGS = {
    "port": "0",
    "appendonly": "yes",
    "appendfsync": "always",
    "save": "",
    # The file is not rewritten during the measurement.
    "auto-aof-rewrite-percentage": "0",
}


class Redis:
    """Runs in a folder on the file system of the log."""

    def __init__(self, folder, clients):
        self.clients = clients
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="redis-"))
        self.socket = self.sockets / "redis.sock"
        self.data = pathlib.Path(folder, "redis")
        self.process = None
        # The requests per second of the last run, by pipeline length. They determine how many requests to send.
        self.rates = {}

    def __enter__(self):
        self.data.mkdir()
        arguments = [argument for name, value in SETTINGS.items() for argument in (f"--{name}", value)]
        self.process = subprocess.Popen(
            ["redis-server", "--dir", self.data, "--unixsocket", self.socket, *arguments], stdout=subprocess.DEVNULL)
        for _ in range(400):
            ping = subprocess.run(["redis-cli", "-s", self.socket, "ping"], capture_output=True, check=False)
            if ping.returncode == 0:
                return self
            if self.process.poll() is not None:
                raise SystemExit(f"Redis ended with {self.process.returncode} before it was ready")
            time.sleep(0.05)
        raise SystemExit("Redis was not ready within 20 s")

    def __exit__(self, *_):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
        shutil.rmtree(self.sockets)

    def xadd_rate(self, pipelined, seconds):
        """Returns the events per second that are durable when their responses arrive."""
        if pipelined not in self.rates:
            self.rates[pipelined] = self.benchmark(pipelined, 20_000 * pipelined)
        self.rates[pipelined] = self.benchmark(pipelined, round(self.rates[pipelined] * seconds))
        return self.rates[pipelined]

    def benchmark(self, pipelined, requests):
        subprocess.run(["redis-cli", "-s", self.socket, "flushall"], capture_output=True, check=True)
        printed = subprocess.run(
            ["redis-benchmark", "-s", self.socket, "-c", str(self.clients), "-P", str(pipelined), "-n", str(requests),
             "--csv", "XADD", "events", "*", "payload", "k" * PAYLOAD_BYTES],
            capture_output=True, text=True, check=True).stdout
        return float(list(csv.reader(io.StringIO(printed)))[-1][1])
