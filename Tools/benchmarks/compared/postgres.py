"""PostgreSQL 15 on a Unix socket, with its own data directory and its default durability."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

BINARIES = pathlib.Path("/usr/lib/postgresql/15/bin")
PAYLOAD_BYTES = 300
SETTINGS = {
    "listen_addresses": "",
    "fsync": "on",
    "synchronous_commit": "on",
    # No checkpoint happens during a round, because each round begins with one.
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
}


class Postgres:
    """Runs in a folder on the log's file system. As PostgreSQL refuses root, root starts it as the user `postgres`."""

    def __init__(self, folder, clients):
        self.clients = clients
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="pg-"))
        self.data = pathlib.Path(folder, "postgres")
        self.owner = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
        self.script = self.sockets / "insert.sql"
        self.process = None

    def __enter__(self):
        self.data.mkdir()
        if self.owner:
            for path in (self.data, self.sockets):
                shutil.chown(path, "postgres", "postgres")
        self.run("initdb", "--pgdata", self.data, "--encoding", "UTF8", "--locale", "C", "--auth", "trust")
        arguments = [argument for name, value in SETTINGS.items() for argument in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(
            [BINARIES / "postgres", "-D", self.data, "-k", self.sockets, *arguments],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.sockets, **self.owner)
        self.wait_until_ready()
        self.sql("CREATE TABLE events (position bigserial PRIMARY KEY, payload bytea NOT NULL)")
        self.script.write_text(f"INSERT INTO events (payload) VALUES ('{'k' * PAYLOAD_BYTES}');\n")
        self.script.chmod(0o644)
        return self

    def __exit__(self, *_):
        if self.process:
            # This is a fast shutdown; see "Shutting Down the Server" in PostgreSQL's manual.
            self.process.send_signal(signal.SIGINT)
            self.process.wait()
        shutil.rmtree(self.sockets)

    def insert_rate(self, seconds):
        """Returns the single-row commits per second."""
        self.sql("TRUNCATE events")
        self.sql("CHECKPOINT")
        printed = self.run(
            "pgbench", "--host", self.sockets, "--no-vacuum", "--client", str(self.clients), "--jobs", "2",
            "--protocol", "prepared", "--time", str(max(1, round(seconds))), "--file", self.script, "postgres")
        return float(re.search(r"tps = ([\d.]+)", printed).group(1))

    def sql(self, statement):
        self.run("psql", "--host", self.sockets, "--no-psqlrc", "--quiet", "--command", statement, "postgres")

    def run(self, program, *arguments):
        result = subprocess.run(
            [BINARIES / program, *arguments], capture_output=True, text=True, cwd=self.sockets, check=False,
            **self.owner)
        if result.returncode != 0:
            raise SystemExit(
                f"{program} failed: {result.stderr.strip()}\n"
                f"The user postgres must be able to enter every folder above {self.data}.")
        return result.stdout

    def wait_until_ready(self):
        for _ in range(400):
            ready = subprocess.run(
                [BINARIES / "pg_isready", "--quiet", "--host", self.sockets], cwd=self.sockets, check=False)
            if ready.returncode == 0:
                return
            if self.process.poll() is not None:
                raise SystemExit(f"PostgreSQL ended with {self.process.returncode} before it was ready")
            time.sleep(0.05)
        raise SystemExit("PostgreSQL was not ready within 20 s")
