"""What the kernel knows about a connection."""

import pathlib
import socket

from .waiting import wait_until


def wait_until_read(client: socket.socket) -> None:
    """Waits until the server has read everything that was sent over this connection of 127.0.0.1."""

    def place(port: int) -> str:
        return f"0100007F:{port:04X}"

    here, there = place(client.getsockname()[1]), place(client.getpeername()[1])

    def queued() -> dict[tuple[str, str], str]:
        """The bytes that wait, sent and received, by both ends of the connection."""
        rows = (line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:])
        return {(row[1], row[2]): row[4] for row in rows}

    def is_read() -> bool:
        rows = queued()
        sent, received = rows[here, there].split(":")[0], rows[there, here].split(":")[1]
        return int(sent, 16) == int(received, 16) == 0

    wait_until(is_read, "the server does not read")
