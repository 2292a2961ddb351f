"""Measures how many bytes a real chat history takes on the disk after it is sealed."""

import json
import lzma
import os
import pathlib
import shutil
import subprocess

from ingest import Server


def uncompressed(history, folder):
    """Returns the path of the history itself or, if it is compressed with xz, of a copy in the folder."""
    if history.suffix != ".xz":
        return history
    plain = pathlib.Path(folder, "history.jsonl")
    with lzma.open(history) as source, open(plain, "wb") as target:
        shutil.copyfileobj(source, target)
    return plain


def bytes_per_message(history, folder):
    """Imports through a server, seals the log, and returns the bytes per message: all segments, with all IDs."""
    plain = uncompressed(history, folder)
    hansard = os.environ["HANSARD_BIN"]
    server = Server()
    try:
        subprocess.run(
            [hansard, "import", "--server", server.url, "--token-file", server.data + "/admin-token", plain],
            stdout=subprocess.DEVNULL, check=True)
        server.process.terminate()
        server.process.wait()
        subprocess.run([hansard, "log", "seal", "--data", server.data], stdout=subprocess.DEVNULL, check=True)
        report = subprocess.run(
            [hansard, "log", "stat", "--json", "--data", server.data], stdout=subprocess.PIPE, check=True)
        return json.loads(report.stdout)["bytesPerMessage"]
    finally:
        server.stop()
