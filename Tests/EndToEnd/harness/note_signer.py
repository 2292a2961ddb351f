"""Signs tree heads: Ed25519 as in RFC 8032 in its simplest form, and signed notes as in docs/log-format.md.

It is slow, deterministic, for tests only, and shares no code with the verifier.
"""

import base64
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
BASE = (
    15112221349535400772501151409588531511454012693041857206046113283949847762202,
    46316835694926478169428394003475163141307993866256225615783033603165251855960,
)


def add(a, b):
    """The sum of two points of the curve, in affine coordinates."""
    (x1, y1), (x2, y2) = a, b
    product = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + product, P - 2, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, P - 2, P)
    return x % P, y % P


def multiply(point, scalar):
    total = (0, 1)
    for bit in bin(scalar)[2:]:
        total = add(total, total)
        if bit == "1":
            total = add(total, point)
    return total


def encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


class NoteSigner:
    """A named key, made from a seed of 32 bytes."""

    def __init__(self, name: str, seed: bytes):
        halves = hashlib.sha512(seed).digest()
        self.name, self.prefix = name, halves[32:]
        self.scalar = int.from_bytes(halves[:32], "little") & ((1 << 254) - 8) | (1 << 254)
        self.signatures = {}
        self.public = encode(multiply(BASE, self.scalar))
        self.key_id = hashlib.sha256(name.encode() + b"\n\x01" + self.public).digest()[:4]

    def sign(self, message: bytes) -> bytes:
        """Caches the signatures, which are slow to compute and always the same."""
        if message not in self.signatures:
            self.signatures[message] = self.make_signature(message)
        return self.signatures[message]

    def make_signature(self, message: bytes) -> bytes:
        r = number(self.prefix, message) % L
        point = encode(multiply(BASE, r))
        s = (r + number(point, self.public, message) * self.scalar) % L
        return point + s.to_bytes(32, "little")

    def verifier_key(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(bytes([1]) + self.public).decode()}"

    def signature_line(self, text: str) -> str:
        signature = base64.b64encode(self.key_id + self.sign(text.encode())).decode()
        return f"\u2014 {self.name} {signature}\n"

    def tree_head(self, size: int, root: bytes, extensions: str = "") -> str:
        """A checkpoint. `extensions` are whole lines."""
        text = f"{self.name}\n{size}\n{base64.b64encode(root).decode()}\n{extensions}"
        return f"{text}\n{self.signature_line(text)}"
