"""A process that reads the bodies of ingest and responds with as many results, without looking at them. It shows how fast the
client alone is."""

import multiprocessing
import re
import socket
import threading

RESULT = b'{"line":12345,"status":201,"position":1234567}\n'
RECEIVED_BYTES = 1 << 20
LENGTH = re.compile(rb"(?i)\r\ncontent-length: (\d+)")


class Sink:
    """Responds to each request with so many results."""

    def __init__(self, lines):
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.process = multiprocessing.Process(target=serve, args=(listener, lines), daemon=True)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.join()


def serve(listener, lines):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=respond, args=(connection, lines), daemon=True).start()


def respond(connection, lines):
    body = RESULT * lines
    response = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    buffer = bytearray(RECEIVED_BYTES)
    while received := connection.recv(RECEIVED_BYTES):
        while b"\r\n\r\n" not in received:
            received += connection.recv(RECEIVED_BYTES)
        head, start = received.split(b"\r\n\r\n", 1)
        remaining = int(LENGTH.search(head)[1]) - len(start)
        while remaining > 0:
            remaining -= connection.recv_into(buffer)
        connection.sendall(response)
