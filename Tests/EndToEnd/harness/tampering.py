"""Reads the bytes of a log as docs/log-format.md defines them, and damages them on purpose."""

import pathlib
import struct
from dataclasses import dataclass

SEGMENT_HEADER_BYTES = 4096
BLOCK_HEADER_BYTES = 64
BLOCK_MAGIC = b"HBLK"
SUPERBLOCK_COPIES = (0, 4096)


@dataclass(frozen=True)
class Block:
    file: pathlib.Path
    offset: int
    stored_bytes: int
    first: int
    count: int

    @property
    def end(self) -> int:
        """The end of the block's header and body, without the padding."""
        return self.offset + BLOCK_HEADER_BYTES + self.stored_bytes

    @property
    def last(self) -> int:
        return self.first + self.count - 1


def blocks(data: pathlib.Path) -> list[Block]:
    """Every block of the log in order, whether or not it is known to be durable."""
    found = []
    for file in sorted((data / "log").glob("*.seg")):
        content = file.read_bytes()
        offset = SEGMENT_HEADER_BYTES
        while content[offset : offset + 4] == BLOCK_MAGIC:
            (first,) = struct.unpack_from("<Q", content, offset + 16)
            count, _, stored = struct.unpack_from("<III", content, offset + 32)
            block = Block(file, offset, stored, first, count)
            if block.end > len(content):
                break
            found.append(block)
            offset = (block.end + 7) // 8 * 8
    assert found, f"{data} has a log without blocks"
    return found


def known_durable(data: pathlib.Path) -> int:
    """The last position that is durable according to the superblock."""
    content = (data / "log" / "superblock").read_bytes()
    copies = [struct.unpack_from("<QQ", content, start + 32) for start in SUPERBLOCK_COPIES]
    return max(copies)[1]


def holding(data: pathlib.Path, position: int) -> Block:
    return next(block for block in blocks(data) if block.first <= position <= block.last)


def flip(file: pathlib.Path, offset: int, bit: int = 0) -> None:
    """Flips one bit. A second call restores it."""
    with file.open("r+b") as stream:
        stream.seek(offset)
        byte = stream.read(1)[0]
        stream.seek(offset)
        stream.write(bytes([byte ^ (1 << bit)]))
