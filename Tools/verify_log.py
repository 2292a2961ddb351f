#!/usr/bin/env python3
"""Verifies a Hansard log or a proof, without any code of the server.

Written only from docs/log-format.md, in plain Python. The only dependency is `lz4` (the block format, for --data).
Its parts are in the order of that page. It changes nothing, takes no lock and can run while a server runs.

Exit status: 0 if every check passes, 1 with file, offset and position of the first one that fails, 2 if it could
not run.

  Tools/verify_log.py --data DIR
  Tools/verify_log.py --data DIR --checkpoint kept-elsewhere.txt --key 'hansard/...+...+...'
  Tools/verify_log.py --proof message.tlog-proof --key checkpoint.pub
"""

import argparse
import base64
import binascii
import collections
import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import re
import stat
import struct
import sys

try:
    import lz4.block
except ImportError:
    lz4 = None

EXIT_HOLDS, EXIT_DAMAGED, EXIT_COULD_NOT_RUN = 0, 1, 2

VERSION = 1
PAGE_BYTES = 4096
BLOCK_RAW_BYTES_MAX = 4 << 20
SEALED_BLOCK_RECORDS_MAX = 65_536
DICTIONARY_BYTES_MAX = 64 << 10
SECTION_RATIO_MAX = 255
NOTE_BYTES_MAX = 16 << 10
INCLUSION_PROOF_BYTES_MAX = 4 << 20
PAYLOAD_BYTES_MAX = 1 << 20
ENVELOPE_BYTES_MAX = 128
SEGMENT_BYTES_MIN = 4608
SEGMENT_BYTES_MAX = 1 << 30
POSITION_MAX = 1 << 62
SCAN_BYTES = 1 << 20
BEFORE_ALL_TIMES = -62_167_219_200_000
MASK_64 = (1 << 64) - 1
# How often the tail is read again if the data after it contradicts its end, because a server may be writing.
TAIL_READINGS = 5


class CannotRun(Exception):
    """Something other than the log prevents the verification."""


class Damage(Exception):
    """The first check that failed, and its location."""

    def __init__(self, what, file=None, offset=None, position=None):
        super().__init__(what)
        self.what, self.file, self.offset, self.position = what, file, offset, position

    def __str__(self):
        places = [("file", self.file), ("offset", self.offset), ("position", self.position)]
        return ", ".join([f"{name} {value}" for name, value in places if value is not None] + [self.what])


@contextlib.contextmanager
def located(file=None, offset=None, position=None):
    """Adds the location to a damage raised inside. A more specific location is kept."""
    try:
        yield
    except Damage as damage:
        damage.file = file if damage.file is None else damage.file
        damage.offset = offset if damage.offset is None else damage.offset
        damage.position = position if damage.position is None else damage.position
        raise


def require(holds, what, offset=None):
    if not holds:
        raise Damage(what, offset=offset)


def is_zero(data):
    return data.count(0) == len(data)


# ---------------------------------------------------------------------------------------------------------- CRC-32C

POLYNOMIAL = 0x82F63B78
# Modulo the polynomial, x^6777 = x^484 + x^100 + 1, and by squaring, the same holds for 2^k times these powers. So a
# long message can be shortened: its front is cut off and added to the rest in three places, using integers of any size.
FOLD_FROM, FOLD_TO = 6777, (484, 100, 0)
# For fewer bytes than this, the tables alone are faster.
FOLD_BYTES_MIN = 1700


def crc_tables():
    """Eight tables of 256 entries: the CRC of a byte that is followed by 0 to 7 zero bytes."""
    first = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (POLYNOMIAL if value & 1 else 0)
        first.append(value)
    tables = [first]
    while len(tables) < 8:
        tables.append([(value >> 8) ^ first[value & 255] for value in tables[-1]])
    return tables


CRC_TABLES = crc_tables()


def fold(data):
    """Returns a shorter message with the same remainder. The lowest bit of the integer has the highest power."""
    bits, value = len(data) * 8, int.from_bytes(data, "little")
    for scale in reversed(range((bits // FOLD_FROM).bit_length())):
        power, lower = FOLD_FROM << scale, [power << scale for power in FOLD_TO]
        while bits > power + 8:
            cut = min(bits - power, power - lower[0]) & ~7
            front, value = value & ((1 << cut) - 1), value >> cut
            for target in lower:
                value ^= front << (power - target - cut)
            bits -= cut
    return value.to_bytes(bits // 8, "little")


def crc32c(data):
    """CRC-32C of bytes: reflected, start and final XOR 0xFFFFFFFF."""
    value = 0xFFFFFFFF
    if len(data) >= FOLD_BYTES_MIN:
        # The start value has the same effect as inverting the first four bytes.
        data, value = fold(bytes(byte ^ 255 for byte in data[:4]) + data[4:]), 0
    whole = len(data) & ~7
    t0, t1, t2, t3, t4, t5, t6, t7 = CRC_TABLES
    for low, high in struct.iter_unpack("<II", data[:whole]):
        low ^= value
        value = (
            t7[low & 255] ^ t6[low >> 8 & 255] ^ t5[low >> 16 & 255] ^ t4[low >> 24]
            ^ t3[high & 255] ^ t2[high >> 8 & 255] ^ t1[high >> 16 & 255] ^ t0[high >> 24]
        )
    for byte in data[whole:]:
        value = (value >> 8) ^ t0[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF


# ------------------------------------------------------------------------------------------------------------ varint


def read_varint(data, at, shortest=True):
    """Returns an unsigned LEB128 number of at most 64 bits, and the offset of its end."""
    value = shift = 0
    while shift <= 63:
        require(at < len(data), "a varint ends too early")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            require(value <= MASK_64, "a varint has more than 64 bits")
            require(byte or not shift or not shortest, "a varint is not in its shortest form")
            return value, at
        shift += 7
    raise Damage("a varint has more than ten bytes")


def write_varint(value):
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_varints(data):
    """Returns all varints of a column."""
    # If no byte is above 127, every varint is one byte long and equals that byte. This is a shortcut for most columns.
    if data.isascii():
        return list(data)
    values, at = [], 0
    while at < len(data):
        value, at = read_varint(data, at)
        values.append(value)
    return values


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


def signed(value):
    """Interprets a value as a signed number that wraps around at 64 bits."""
    value &= MASK_64
    return value - (1 << 64) if value >> 63 else value


# ------------------------------------------------------------------------------------------------------------- files

SEGMENT_NAME = re.compile(r"[0-9]{20}\.seg")
CHECKPOINT_NAME = re.compile(r"[0-9]{20}\.checkpoint")


def open_regular(path):
    """Opens a regular file. Anything else, such as a FIFO, is rejected without waiting for it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Damage(f"{path} is not a regular file")
    return descriptor


class SegmentFile:
    """One open segment. If another file is renamed to its name during reading, that has no effect here."""

    def __init__(self, path):
        self.path, self.name = path, path.name
        self.descriptor = open_regular(path)
        self.size = os.fstat(self.descriptor).st_size

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.descriptor)

    def read(self, offset, length):
        """Returns the bytes from the offset, or fewer if the file ends."""
        parts = []
        while length > 0:
            part = os.pread(self.descriptor, length, offset)
            if not part:
                break
            parts.append(part)
            offset, length = offset + len(part), length - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def find_content(file, start, end):
    """Yields the chunks from start to end that are not all zero, as (offset, bytes). Zeros are only compared."""
    zeros = bytes(SCAN_BYTES)
    for offset in range(start, end, SCAN_BYTES):
        data = file.read(offset, min(SCAN_BYTES, end - offset))
        if data != zeros[: len(data)]:
            yield offset, data


# ---------------------------------------------------------------------------------------------------- segment header

ACTIVE, SEALED = 1, 2
SEGMENT_HEAD = struct.Struct("<8sIHH16sQ8sqII")
SEAL = struct.Struct("<QqIIII")
SECTION = struct.Struct("<IIII")
SECTION_NAMES = ("dictionary", "table", "index", "streams", "tree")


Section = collections.namedtuple("Section", "name offset stored raw crc")
Seal = collections.namedtuple("Seal", "records last_time blocks last_crc active_crc sections")
SegmentHeader = collections.namedtuple(
    "SegmentHeader", "kind identity first salt crc_before peaks length time_before seal crc"
)


def parse_segment_header(data):
    require(len(data) == PAGE_BYTES, "the segment ends within its header")
    magic, version, kind, flags, identity, first, salt, _, crc_before, peaks = SEGMENT_HEAD.unpack_from(data)
    (crc,) = struct.unpack_from("<I", data, 4092)
    require(magic == b"HANSARDS", "the magic of the segment header is not HANSARDS")
    require(crc32c(data[:4092]) == crc, "the checksum of the segment header does not match")
    require(version == VERSION, f"the segment has format version {version}, known is {VERSION}", 8)
    require(kind in (ACTIVE, SEALED), f"the segment has the unknown kind {kind}", 12)
    require(flags == 0, "the flags of the segment are reserved, but not zero", 14)
    require(1 <= first <= POSITION_MAX, f"the first position {first} is out of bounds", 32)
    require(peaks <= 64, f"{peaks} Merkle peaks are more than 64", 60)
    require(peaks == 0 or kind == SEALED, "an active segment has Merkle peaks", 60)
    require(is_zero(data[64 + 32 * peaks : 2112]), "bytes after the Merkle peaks are not zero", 64 + 32 * peaks)
    require(is_zero(data[2240:4092]), "reserved bytes of the segment header are not zero", 2240)
    length, time_before = struct.unpack_from("<Qq", data, 2112)
    if kind == ACTIVE:
        require(is_zero(data[2128:2240]), "an active segment has a seal", 2128)
        require(SEGMENT_BYTES_MIN <= length <= SEGMENT_BYTES_MAX, f"the length {length} is out of bounds", 2112)
    else:
        require(PAGE_BYTES < length <= SEGMENT_BYTES_MAX, f"the length {length} is out of bounds", 2112)
    seal = parse_seal(data, length) if kind == SEALED else None
    return SegmentHeader(
        kind, identity, first, salt, crc_before, data[64 : 64 + 32 * peaks], length, time_before, seal, crc
    )


def parse_seal(data, length):
    records, last_time, blocks, last_crc, active_crc, reserved = SEAL.unpack_from(data, 2128)
    require(1 <= records <= POSITION_MAX, f"the seal counts {records} records", 2128)
    require(blocks >= 1, "the seal counts no blocks", 2144)
    require(reserved == 0, "reserved bytes of the seal are not zero", 2156)
    sections = tuple(
        Section(name, *SECTION.unpack_from(data, 2160 + 16 * number)) for number, name in enumerate(SECTION_NAMES)
    )
    end = sections[0].offset
    for number, section in enumerate(sections):
        at = 2160 + 16 * number
        require(section.offset == end, f"the section {section.name} does not begin where what is before it ends", at)
        require(section.stored <= section.raw, f"the section {section.name} is longer stored than raw", at)
        require(section.raw <= SECTION_RATIO_MAX * section.stored, f"the section {section.name} is too long", at)
        end += section.stored
    require(end == length, "the sections do not end where the segment ends", 2160)
    return Seal(records, last_time, blocks, last_crc, active_crc, sections)


# ------------------------------------------------------------------------------------------------------------ blocks

BLOCK_BYTES = 64
BLOCK_MAGIC = b"HBLK"
BLOCK_HEAD = struct.Struct("<4sBBH8sQQIIIIIQI")
RECORDS_STORED, RECORDS_LZ4, COLUMNS_STORED, COLUMNS_LZ4 = range(4)
CODECS = {ACTIVE: (RECORDS_STORED, RECORDS_LZ4), SEALED: (COLUMNS_STORED, COLUMNS_LZ4)}


BlockHeader = collections.namedtuple("BlockHeader", "codec salt first durable count raw stored body_crc chain crc")


def block_length(header):
    """The length of the block with its header and padding, in bytes."""
    return BLOCK_BYTES + (header.stored + 7 & ~7)


def parse_block_header(data, kind):
    """Returns the header and None, or None and why it is not intact. An intact header of another version is damage."""
    if len(data) < BLOCK_BYTES or data[:4] != BLOCK_MAGIC:
        return None, "there is no block header here"
    _, version, codec, reserved, salt, first, durable, *rest = BLOCK_HEAD.unpack(data)
    count, raw, stored, body_crc, chain, reserved_too, crc = rest
    if crc32c(data[:60]) != crc:
        return None, "the checksum of the block header does not match"
    require(version == VERSION, f"the block has format version {version}, known is {VERSION}")
    bounds = (
        (reserved == reserved_too == 0, "reserved bytes of the block header are not zero"),
        (codec in CODECS[kind], f"codec {codec} is not allowed in this kind of segment"),
        (1 <= first and durable < first and first + count - 1 <= POSITION_MAX, "the positions are out of bounds"),
        (kind == ACTIVE or durable == first - 1, "the durable position is not the first position minus one"),
        (1 <= count <= (BLOCK_RAW_BYTES_MAX if kind == ACTIVE else SEALED_BLOCK_RECORDS_MAX),
         "the number of records is out of bounds"),
        (1 <= raw <= BLOCK_RAW_BYTES_MAX, "the raw length is out of bounds"),
        (stored == raw if codec in (RECORDS_STORED, COLUMNS_STORED) else 1 <= stored < raw,
         "the stored length does not fit the codec"),
    )
    for holds, reason in bounds:
        if not holds:
            return None, reason
    return BlockHeader(codec, salt, first, durable, count, raw, stored, body_crc, chain, crc), None


def read_block_header(file, segment, offset, expected, chain):
    """Returns the header of the next block and None, or None and why there is no next block."""
    with located(offset=offset, position=expected):
        header, reason = parse_block_header(file.read(offset, BLOCK_BYTES), segment.kind)
    if header is None:
        return None, reason
    if header.salt != segment.salt:
        return None, "the block has another salt than the segment"
    if header.first != expected:
        return None, f"the block begins with position {header.first}, expected is {expected}"
    if header.chain != chain:
        return None, "the block does not continue the chain of checksums"
    if offset + block_length(header) > segment.length:
        return None, "the block does not fit into the segment"
    return header, None


def read_body(file, offset, header):
    """Returns the stored body and None, or None and why it is damaged."""
    data = file.read(offset + BLOCK_BYTES, block_length(header) - BLOCK_BYTES)
    body, padding = data[: header.stored], data[header.stored :]
    if len(data) < block_length(header) - BLOCK_BYTES:
        return None, "the file ends within the block"
    if crc32c(body) != header.body_crc:
        return None, "the checksum of the body does not match"
    if not is_zero(padding):
        return None, "the padding after the body is not zero"
    return body, None


def decompress(data, raw, dictionary=b""):
    """Decompresses one LZ4 block, which must decode to exactly the raw length."""
    try:
        decoded = lz4.block.decompress(data, uncompressed_size=raw, dict=dictionary)
    except (lz4.block.LZ4BlockError, ValueError) as error:
        raise Damage(f"LZ4 does not decode: {error}") from None
    require(len(decoded) == raw, f"LZ4 decodes to {len(decoded)} bytes, not to {raw}")
    return decoded


# ------------------------------------------------------------------------------------------------ record and envelope

RETAINED, ERASED, OWN_SALT = 0, 1, 2
DIGEST_BYTES, SALT_BYTES, UUID_BYTES = 32, 16, 16
RECORD_HEAD = struct.Struct("<IBBH")
ENVELOPE_HEAD = struct.Struct("<HBBHH16sQq")
HAS_ACTOR, HAS_ORIGINAL_TIME, ID_FIELDS = 1, 32, 5
ENVELOPE_LENGTHS = [
    40 + 16 * (presence & 31).bit_count() + 8 * (presence >> 5) for presence in range(2 * HAS_ORIGINAL_TIME)
]


# The salt is empty except in form 2. The content is the digest in form 1 and the payload otherwise.
Record = collections.namedtuple("Record", "form envelope salt content")
Envelope = collections.namedtuple("Envelope", "kind stream_kind stream time actor")


def parse_envelope(data):
    require(len(data) >= ENVELOPE_HEAD.size, "the envelope is shorter than 40 bytes")
    kind, _, stream_kind, presence, reserved, stream, _, time = ENVELOPE_HEAD.unpack_from(data)
    require(kind != 0, "the kind of event 0 is reserved")
    require(presence < len(ENVELOPE_LENGTHS), f"the envelope has unknown presence bits: {presence:#x}")
    require(reserved == 0, "reserved bytes of the envelope are not zero")
    require(len(data) == ENVELOPE_LENGTHS[presence], "the envelope does not end with its last present field")
    return Envelope(kind, stream_kind, stream, time, data[40:56] if presence & HAS_ACTOR else None)


def read_record(raw, at):
    """Returns the record at this offset, and the offset of its end."""
    require(at + RECORD_HEAD.size <= len(raw), "the block ends within a record")
    length, form, reserved, envelope_length = RECORD_HEAD.unpack_from(raw, at)
    start, end = at + RECORD_HEAD.size + envelope_length, at + length
    require(form <= OWN_SALT and reserved == 0, "the form or a reserved byte of the record is wrong")
    require(envelope_length <= ENVELOPE_BYTES_MAX, "the envelope is longer than 128 bytes")
    require(start <= end <= len(raw), "the length of the record is out of bounds")
    require(form != ERASED or end - start == DIGEST_BYTES, "an erased record does not end with its digest")
    require(form != OWN_SALT or end - start >= SALT_BYTES, "the record is too short for its salt")
    content = start + SALT_BYTES if form == OWN_SALT else start
    require(end - content <= PAYLOAD_BYTES_MAX, "the payload is longer than 1 MiB")
    return Record(form, raw[at + RECORD_HEAD.size : start], raw[start:content], raw[content:end]), end


def decode_records(raw, header):
    """Decodes the records of a block of an active segment."""
    records, at = [], 0
    for position in range(header.first, header.first + header.count):
        with located(position=position):
            record, at = read_record(raw, at)
        records.append(record)
    require(at == len(raw), "bytes follow the last record of the block")
    return records


# ----------------------------------------------------------------------------------------------------------- columns

SHAPE = struct.Struct("<BHBBHB")
COLUMN_NAMES = (
    "shapes", "shape", "stream", "actor", "service", "device", "subject", "command", "version", "time", "original time",
    "length", "fresh", "content",
)


class Values:
    """The values of one column, which are read in order."""

    def __init__(self, name, values):
        self.name, self.values, self.rest = name, values, iter(values)

    def take(self):
        for value in self.rest:
            return value
        raise Damage(f"the column {self.name} ends too early")

    def finish(self):
        for _ in self.rest:
            raise Damage(f"the column {self.name} has more values than records need")


def read_planes(column, count):
    """Returns the UUIDs stored in 128 bit planes, as numbers. A time is still subtracted from their first 48 bits."""
    width = count + 7 >> 3
    require(len(column) == 128 * width, f"the column fresh has {len(column)} bytes for {count} UUIDs")
    if not count:
        return []
    planes = [f"{int.from_bytes(column[at : at + width], 'big'):0{8 * width}b}" for at in range(0, len(column), width)]
    numbers = [int("".join(bits), 2) for bits in zip(*planes)]
    require(not any(numbers[count:]), "unused bits in the column fresh are not zero")
    return numbers[:count]


class References:
    """Resolves references to UUIDs of the segment's table and to fresh UUIDs of the block."""

    def __init__(self, table, fresh):
        self.table, self.fresh = table, Values("fresh", fresh)

    def resolve(self, reference, time):
        """A fresh UUID is relative to the time, which is the record's original time or else its recorded time."""
        if reference == 0:
            number = self.fresh.take()
            start = (number >> 80) + time & (1 << 48) - 1
            return (start << 80 | number & (1 << 80) - 1).to_bytes(UUID_BYTES, "big")
        require(reference <= len(self.table), f"a reference to entry {reference - 1} is outside the table")
        return self.table[reference - 1]


def split_columns(body):
    columns, at = {}, 0
    for name in COLUMN_NAMES:
        length, at = read_varint(body, at)
        require(length <= len(body) - at, f"the column {name} is longer than the block")
        columns[name] = body[at : at + length]
        at += length
    require(at == len(body), "bytes follow the last column")
    return columns


def read_shapes(column, numbers):
    """Returns the shapes. Each must be used and none may occur twice. They must be in the order of first use."""
    require(len(column) % SHAPE.size == 0, "the column shapes does not contain whole shapes")
    shapes = list(SHAPE.iter_unpack(column))
    require(len(set(shapes)) == len(shapes), "a shape occurs twice")
    seen = 0
    for number in numbers:
        require(number <= seen and number < len(shapes), "shapes are not in the order of first use")
        seen += number == seen
    require(seen == len(shapes), "a shape is never used")
    for form, _, _, _, presence, wrapping in shapes:
        require(form <= OWN_SALT, f"a shape has the unknown form {form}")
        require(presence < len(ENVELOPE_LENGTHS), "a shape has unknown presence bits")
        require(wrapping == 0 or wrapping & 0x87 == 2 and form != ERASED, f"a shape has the wrong wrapping {wrapping}")
    return shapes


def decode_envelopes(columns, shapes, numbers, table):
    """Rebuilds the envelope of each record."""
    numbers_of = {name: read_varints(columns[name]) for name in COLUMN_NAMES[2:11]}
    fresh = sum(numbers_of[name].count(0) for name in COLUMN_NAMES[3:8])
    references = References(table, read_planes(columns["fresh"], fresh))
    values = {name: Values(name, numbers_of[name]) for name in numbers_of}
    streams, versions, times, originals = (values[name] for name in ("stream", "version", "time", "original time"))
    ids = [values[name] for name in COLUMN_NAMES[3:8]]
    last_versions, time, original, envelopes = {}, 0, 0, []
    for number in numbers:
        _, kind, schema, stream_kind, presence, _ = shapes[number]
        reference = streams.take()
        require(reference != 0, "a stream is not in the table of the segment")
        # `time` accumulates from record to record. `near` is the time to which this record's fresh UUIDs are relative:
        # the original time if there is one, otherwise the recorded time.
        near = time = signed(time + unzigzag(times.take()))
        if presence & HAS_ORIGINAL_TIME:
            near = original = signed(original + unzigzag(originals.take()))
        stream = references.resolve(reference, near)
        fields = [references.resolve(ids[bit].take(), near) for bit in range(ID_FIELDS) if presence >> bit & 1]
        version = last_versions.get((stream_kind, stream), 0) + 1 + unzigzag(versions.take())
        # For the first record of a stream in the block, the previous version (p in docs/log-format.md) is 0.
        last_versions[stream_kind, stream] = version = version & MASK_64
        if presence & HAS_ORIGINAL_TIME:
            fields.append(struct.pack("<q", original))
        head = ENVELOPE_HEAD.pack(kind, schema, stream_kind, presence, 0, stream, version, time)
        envelopes.append(b"".join([head, *fields]))
    for column in (*values.values(), references.fresh):
        column.finish()
    return envelopes


def decode_columns(body, count, table):
    """Decodes the records of a block of a sealed segment, bit for bit as they were in the active segment."""
    columns = split_columns(body)
    numbers = read_varints(columns["shape"])
    require(len(numbers) == count, f"the column shape has {len(numbers)} values for {count} records")
    shapes = read_shapes(columns["shapes"], numbers)
    envelopes = decode_envelopes(columns, shapes, numbers, table)
    column = Values("length", read_varints(columns["length"]))
    lengths = [0 if shapes[number][0] == ERASED else column.take() for number in numbers]
    column.finish()
    content, at, records = columns["content"], 0, [None] * count
    for index in sorted(range(count), key=numbers.__getitem__):
        form, wrapping = shapes[numbers[index]][0], shapes[numbers[index]][5]
        start = at + (DIGEST_BYTES if form == ERASED else SALT_BYTES if form == OWN_SALT else 0)
        end = start + lengths[index]
        require(end <= len(content), "the column content ends too early")
        if form == ERASED:
            records[index] = Record(form, envelopes[index], b"", content[at:end])
        else:
            payload = content[start:end]
            payload = bytes([wrapping]) + write_varint(len(payload)) + payload if wrapping else payload
            require(len(payload) <= PAYLOAD_BYTES_MAX, "the payload is longer than 1 MiB")
            records[index] = Record(form, envelopes[index], content[at:start], payload)
        at = end
    require(at == len(content), "bytes of the column content belong to no record")
    return records


# -------------------------------------------------------------------------------------- sections of a sealed segment


def read_section(file, section):
    with located(offset=section.offset):
        stored = file.read(section.offset, section.stored)
        require(crc32c(stored) == section.crc, f"the checksum of the section {section.name} does not match")
        return stored if section.stored == section.raw else decompress(stored, section.raw)


def split_table(data):
    require(len(data) % UUID_BYTES == 0, "the table does not contain whole UUIDs")
    table = [data[at : at + UUID_BYTES] for at in range(0, len(data), UUID_BYTES)]
    require(len(set(table)) == len(table), "a UUID occurs twice in the table")
    return table


def check_section(section, stored, rebuilt, what):
    """Compares a section with the one that is rebuilt from the records."""
    if stored == rebuilt:
        return
    at = len(os.path.commonprefix([stored, rebuilt]))
    raise Damage(f"the section {section.name} does not match the records, at its raw byte {at}: {what}",
                 offset=section.offset)


class Postings:
    """Which blocks contain records of which stream, according to the records."""

    def __init__(self, table):
        self.blocks = {stream: [] for stream in table}

    def add(self, stream, block):
        blocks = self.blocks.get(stream)
        require(blocks is not None, f"the stream {stream.hex()} is not in the table of the segment")
        if not blocks or blocks[-1] != block:
            blocks.append(block)

    def encode(self):
        parts = []
        for blocks in self.blocks.values():
            parts.append(write_varint(len(blocks)))
            before = -1
            for block in blocks:
                parts.append(write_varint(block - before - 1))
                before = block
        return b"".join(parts)


# ---------------------------------------------------------------------------------------------------------- the tree

NODES_FROM_LEVEL = 8
REGISTERED_KIND, USER_STREAM_KIND, KEY_FIELD, KEY_BYTES = 1, 1, 5, 32
NO_KEY, KEY_GONE = "no key", "key gone"


def sha256(data):
    return hashlib.sha256(data).digest()


def message_bytes_field(message, number):
    """Returns the last value of a bytes field of a Protocol Buffers message, or None if it is absent or malformed."""
    found, at = None, 0
    try:
        while at < len(message):
            tag, at = read_varint(message, at, shortest=False)
            wire = tag & 7
            if wire == 0:
                _, at = read_varint(message, at, shortest=False)
                continue
            require(wire in (1, 2, 5) and tag >> 3, "no such wire type or field")
            length, at = read_varint(message, at, shortest=False) if wire == 2 else (8 if wire == 1 else 4, at)
            require(length <= len(message) - at, "the field ends after the message")
            if wire == 2 and tag >> 3 == number:
                found = message[at : at + length]
            at += length
    except Damage:
        return None
    return found


class Authors:
    """The commitment key of each author, from the author's first registration."""

    def __init__(self):
        self.keys = {}

    def record_registration(self, envelope, record):
        if envelope.kind != REGISTERED_KIND or envelope.stream_kind != USER_STREAM_KIND or envelope.stream in self.keys:
            return
        key = KEY_GONE if record.form == ERASED else message_bytes_field(record.content, KEY_FIELD)
        self.keys[envelope.stream] = key if key == KEY_GONE or key and len(key) == KEY_BYTES else NO_KEY

    def salt(self, author, position):
        """The salt of a record of form 0."""
        key = NO_KEY if author is None else self.keys.get(author, NO_KEY)
        require(key != KEY_GONE, "the author was erased, but the record has no salt of its own")
        return b"" if key == NO_KEY else sha256(key + struct.pack("<Q", position))[:SALT_BYTES]


def leaf_hash(envelope, digest):
    return sha256(b"\x00" + envelope + digest)


def node_hash(left, right):
    return sha256(b"\x01" + left + right)


def root_of(peaks):
    """Returns the root over the peaks, the largest first. Without peaks, it is the SHA-256 of no bytes."""
    if not peaks:
        return sha256(b"")
    root = peaks[-1]
    for peak in reversed(peaks[:-1]):
        root = node_hash(peak, root)
    return root


class Tree:
    """Grows leaf by leaf. Keeps the peaks, the new nodes from level 8 up, and the root at each requested size."""

    def __init__(self, sizes):
        self.size, self.peaks, self.nodes = 0, [], {}
        self.roots = dict.fromkeys(sizes)
        self.keep_root()

    def keep_root(self):
        if self.size in self.roots:
            self.roots[self.size] = root_of(self.peaks)

    def append(self, leaf):
        node, level, rest = leaf, 0, self.size
        while rest & 1:
            node, level, rest = node_hash(self.peaks.pop(), node), level + 1, rest >> 1
            if level >= NODES_FROM_LEVEL:
                self.nodes.setdefault(level, []).append(node)
        self.peaks.append(node)
        self.size += 1
        self.keep_root()

    def encode_section(self):
        return b"".join([*self.peaks, *(node for level in sorted(self.nodes) for node in self.nodes[level])])


# ----------------------------------------------------------------------------------------------------------- Ed25519

FIELD = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE_D = -121665 * pow(121666, -1, FIELD) % FIELD
ROOT_OF_MINUS_ONE = pow(2, (FIELD - 1) // 4, FIELD)


def point_add(p, q):
    """Adds two points in extended coordinates (RFC 8032, section 5.1.4)."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % FIELD, (p[1] + p[0]) * (q[1] + q[0]) % FIELD
    c, d = 2 * p[3] * q[3] * CURVE_D % FIELD, 2 * p[2] * q[2] % FIELD
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % FIELD, g * h % FIELD, f * g % FIELD, e * h % FIELD


def point_times(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = point_add(result, point)
        point, scalar = point_add(point, point), scalar >> 1
    return result


def point_decode(data):
    """Decodes a point from 32 bytes. Returns None if they encode no point (RFC 8032, section 5.1.3)."""
    y, sign = int.from_bytes(data, "little") & (1 << 255) - 1, data[31] >> 7
    if y >= FIELD:
        return None
    square = (y * y - 1) * pow(CURVE_D * y * y + 1, -1, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if x * x % FIELD != square:
        x = x * ROOT_OF_MINUS_ONE % FIELD
    if x * x % FIELD != square or (x == 0 and sign):
        return None
    x = FIELD - x if x & 1 != sign else x
    return x, y, 1, x * y % FIELD


def points_equal(p, q):
    return (p[0] * q[2] - q[0] * p[2]) % FIELD == 0 and (p[1] * q[2] - q[1] * p[2]) % FIELD == 0


# The only point with this y and an even x.
BASE_POINT = point_decode((4 * pow(5, -1, FIELD) % FIELD).to_bytes(32, "little"))


def ed25519_verifies(public_key, message, signature):
    key, r = point_decode(public_key), point_decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or key is None or r is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % ORDER
    return points_equal(point_times(s, BASE_POINT), point_add(r, point_times(k, key)))


# ----------------------------------------------------------------------------------------------- tree heads and proofs

ED25519_TYPE = b"\x01"
SIGNATURE_PREFIX = "\u2014 "
PROOF_MAGIC = "c2sp.org/tlog-proof@v1"


Key = collections.namedtuple("Key", "name id public text")
TreeHead = collections.namedtuple("TreeHead", "origin size root")
# The number is the leaf index of an inclusion proof, or the old size of a consistency proof, which has no `extra`.
Proof = collections.namedtuple("Proof", "number hashes head extra")


def origin_of(identity):
    text = identity.hex()
    return "hansard/" + "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def decode_base64(text, what):
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Damage(f"{what} is not base64") from None
    require(base64.b64encode(data).decode() == text, f"{what} is not canonical base64")
    return data


def decode_number(text, what):
    require(re.fullmatch(r"0|[1-9][0-9]{0,18}", text), f"{what} is not a decimal number")
    return int(text)


def decode_hash(text, what):
    data = decode_base64(text, what)
    require(len(data) == DIGEST_BYTES, f"{what} does not have 32 bytes")
    return data


def parse_key(text):
    parts = text.strip("\n").split("+", 2)
    require(len(parts) == 3 and parts[0], "the verifier key is not <name>+<key ID>+<base64>")
    name, number, encoded = parts
    data = decode_base64(encoded, "the public key")
    require(len(data) == 33 and data[:1] == ED25519_TYPE, "the public key is not one of Ed25519")
    identifier = sha256(name.encode() + b"\n" + data)[:4]
    require(identifier.hex() == number, "the ID of the verifier key is not the one of its name and public key")
    return Key(name, identifier, data[1:], text.strip("\n"))


def read_text(path, limit=NOTE_BYTES_MAX):
    """Reads a text of at most `limit` bytes."""
    with os.fdopen(open_regular(path), "rb") as file:
        data = file.read(limit + 1)
    require(len(data) <= limit, f"the file is longer than {limit >> 10} KiB")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Damage("the file is not UTF-8") from None


def check_signatures(text, lines, key):
    """Requires a valid signature of the key. Signatures of other names or keys are ignored."""
    signed_by_key = False
    for line in lines:
        name, _, encoded = line.removeprefix(SIGNATURE_PREFIX).partition(" ")
        require(line.startswith(SIGNATURE_PREFIX) and name, "a line after the text of the note is not a signature")
        data = decode_base64(encoded, "a signature")
        require(len(data) > 4, "a signature is too short")
        if name == key.name and data[:4] == key.id:
            require(ed25519_verifies(key.public, text.encode(), data[4:]), "the signature does not verify")
            signed_by_key = True
    require(signed_by_key, f"there is no signature of the key {key.name}+{key.id.hex()}")


def parse_tree_head(note, key):
    """Returns the tree head in a signed note, after checking its signature."""
    require(len(note.encode()) <= NOTE_BYTES_MAX, "the note is longer than 16 KiB")
    text, separator, signatures = note.rpartition("\n\n")
    text += "\n"
    require(separator and signatures.endswith("\n"), "the note has no signatures, or no newline at its end")
    lines = text.split("\n")[:-1]
    require(len(lines) >= 3 and all(lines), "the note has fewer than three lines, or an empty one")
    head = TreeHead(lines[0], decode_number(lines[1], "the tree size"), decode_hash(lines[2], "the root"))
    require(head.origin == key.name, f"the origin {head.origin} is not the name of the key, {key.name}")
    check_signatures(text, signatures.split("\n")[:-1], key)
    require(head.size > 0 or head.root == sha256(b""), "the root of the empty tree is not the SHA-256 of no bytes")
    return head


def parse_extra(line):
    """Returns the fields of the JSON object in an inclusion proof, decoded from hex."""
    def only_once(pairs):
        require(len(dict(pairs)) == len(pairs), "the extra object has a duplicate member")
        return dict(pairs)

    require(line.startswith("extra "), "the second line of the proof is not its extra line")
    try:
        extra = json.loads(decode_base64(line.removeprefix("extra "), "the extra line"), object_pairs_hook=only_once)
    except ValueError:
        raise Damage("the extra line contains no JSON") from None
    require(isinstance(extra, dict), "the extra line contains no JSON object")
    decoded = {}
    for name in {"envelope", "digest", "salt", "payload"} & set(extra):
        value = extra[name]
        require(isinstance(value, str) and re.fullmatch(r"([0-9a-f]{2})*", value), f"{name} is not lower-case hex")
        decoded[name] = bytes.fromhex(value)
    return decoded


def parse_proof(text, key):
    """Parses an inclusion proof or a consistency proof."""
    body, separator, note = text.partition("\n\n")
    require(separator, "the proof contains no checkpoint")
    lines, extra = body.split("\n"), None
    if lines[0] == PROOF_MAGIC:
        require(len(lines) >= 3 and lines[2].startswith("index "), "the proof has no index line")
        extra, number = parse_extra(lines[1]), decode_number(lines[2].removeprefix("index "), "the index")
        lines = lines[3:]
    else:
        require(lines[0].startswith("old "), "this is neither an inclusion proof nor a consistency proof")
        require(len(text.encode()) <= NOTE_BYTES_MAX, "the consistency proof is longer than 16 KiB")
        number, lines = decode_number(lines[0].removeprefix("old "), "the old tree size"), lines[1:]
    hashes = [decode_hash(line, "a hash of the proof") for line in lines]
    return Proof(number, hashes, parse_tree_head(note, key), extra)


def check_inclusion(proof):
    """Checks that the record is leaf `number` of the tree (RFC 9162, section 2.1.3.2). Returns its envelope."""
    extra, size = proof.extra, proof.head.size
    require({"envelope", "digest"} <= set(extra), "the extra object lacks the envelope or the digest")
    require(("salt" in extra) == ("payload" in extra), "salt or payload is missing; both are needed")
    require(len(extra["digest"]) == DIGEST_BYTES, "the digest does not have 32 bytes")
    require(len(extra.get("salt", b"")) in (0, SALT_BYTES), "the salt has neither 0 nor 16 bytes")
    if "payload" in extra:
        require(sha256(extra["salt"] + extra["payload"]) == extra["digest"], "the digest is not that of the payload")
    envelope = parse_envelope(extra["envelope"])
    require(proof.number < size, f"the leaf index {proof.number} is not below the tree size {size}")
    first, second, node = proof.number, size - 1, leaf_hash(extra["envelope"], extra["digest"])
    for sibling in proof.hashes:
        require(second > 0, "the proof has too many hashes")
        if first & 1 or first == second:
            node = node_hash(sibling, node)
            while not first & 1 and first:
                first, second = first >> 1, second >> 1
        else:
            node = node_hash(node, sibling)
        first, second = first >> 1, second >> 1
    require(second == 0, "the proof has too few hashes")
    require(node == proof.head.root, "the record and the path do not give the root of the checkpoint")
    return envelope


def check_consistency(proof, old):
    """Checks that the old tree is a prefix of the new one (RFC 9162, section 2.1.4.2)."""
    require(proof.number <= proof.head.size, "the old tree is larger than the new one")
    if old.size in (0, proof.head.size):
        require(not proof.hashes, "a proof from an empty or an equal tree has no hashes")
        require(old.size == 0 or old.root == proof.head.root, "two roots for one tree size: the log has two histories")
        return
    first, second = old.size - 1, proof.head.size - 1
    while first & 1:
        first, second = first >> 1, second >> 1
    hashes = proof.hashes if old.size & old.size - 1 else [old.root, *proof.hashes]
    require(hashes, "the proof has too few hashes")
    old_root = new_root = hashes[0]
    for sibling in hashes[1:]:
        require(second > 0, "the proof has too many hashes")
        if first & 1 or first == second:
            old_root, new_root = node_hash(sibling, old_root), node_hash(sibling, new_root)
            while not first & 1 and first:
                first, second = first >> 1, second >> 1
        else:
            new_root = node_hash(new_root, sibling)
        first, second = first >> 1, second >> 1
    require(second == 0, "the proof has too few hashes")
    require(old_root == old.root, "the proof does not give the root of the old checkpoint")
    require(new_root == proof.head.root, "the proof does not give the root of its checkpoint")


# -------------------------------------------------------------------------------------------------------- superblock

SUPERBLOCK_HEAD = struct.Struct("<8sII16sQQ")
COPY_BYTES = 512


Superblock = collections.namedtuple("Superblock", "identity sequence durable")


def parse_copy(data, slot):
    """Parses one copy of the superblock. Returns None if it is not intact."""
    magic, version, reserved, identity, sequence, durable = SUPERBLOCK_HEAD.unpack_from(data)
    if magic != b"HANSARDB" or crc32c(data[:508]) != struct.unpack_from("<I", data, 508)[0]:
        return None
    require(version == VERSION, f"the superblock has format version {version}, known is {VERSION}")
    require(reserved == 0 and is_zero(data[48:508]), "reserved bytes of the superblock are not zero")
    require(sequence % 2 == slot, f"the copy of the superblock with sequence number {sequence} is in the wrong place")
    require(durable <= POSITION_MAX, "the durable position is out of bounds")
    return Superblock(identity, sequence, durable)


def parse_superblock(data, notes):
    require(len(data) == 2 * PAGE_BYTES, f"the superblock has {len(data)} bytes, not {2 * PAGE_BYTES}")
    copies = []
    for slot in (0, 1):
        page = data[slot * PAGE_BYTES : (slot + 1) * PAGE_BYTES]
        with located(offset=slot * PAGE_BYTES):
            require(is_zero(page[COPY_BYTES:]), "bytes after a copy of the superblock are not zero")
            copies.append(parse_copy(page[:COPY_BYTES], slot))
    intact = [copy for copy in copies if copy]
    require(intact, "both copies of the superblock are damaged", 0)
    require(len({copy.identity for copy in intact}) == 1, "the two copies of the superblock name two logs", 0)
    if len(intact) == 1:
        notes.append("one copy of the superblock is damaged; the other one is used")
    return max(intact, key=lambda copy: copy.sequence)


# ----------------------------------------------------------------------------------------- the log, by recovery rules


class LogVerifier:
    """Reads a log from its first byte to its last, one block at a time."""

    def __init__(self, folder, sizes, progress):
        self.folder, self.progress, self.notes = folder, progress, []
        self.tree, self.authors = Tree(sizes), Authors()
        self.counts = dict.fromkeys(("segments", "sealed", "blocks", "records", "erased", "ownSalts", "bytes"), 0)
        self.time, self.block_crc, self.active_seen = BEFORE_ALL_TIMES, 0, None
        self.sealed_ends = []
        self.superblock = None

    def run(self):
        path = self.folder / "superblock"
        with located(file=path.name):
            require(path.is_file(), "the superblock is missing")
            self.superblock = parse_superblock(path.read_bytes(), self.notes)
        firsts = self.list_segments()
        for first, following in zip(firsts, [*firsts[1:], None]):
            with SegmentFile(self.folder / f"{first:020}.seg") as file, located(file.name, position=first):
                self.check_segment(file, first, following)
        durable = self.superblock.durable
        if self.tree.size < durable:
            raise Damage(f"position {durable} is known to be durable, but the log ends before it", "superblock", 40,
                         self.tree.size + 1)

    def list_segments(self):
        firsts = []
        for path in sorted(self.folder.iterdir()):
            if path.suffix == ".seg":
                with located(file=path.name):
                    require(SEGMENT_NAME.fullmatch(path.name), "a segment is not named by its position in 20 digits")
                firsts.append(int(path.stem))
            elif path.suffix != ".checkpoint" and path.name != "superblock":
                self.notes.append(f"{path.name} does not belong to the log and was not checked")
        return firsts

    def check_segment(self, file, first, following):
        expected = self.tree.size + 1
        with located(offset=0, position=expected):
            require(first == expected, f"the segment that begins with position {expected} is missing")
            segment = parse_segment_header(file.read(0, PAGE_BYTES))
            require(segment.first == first, f"the header says first position {segment.first}, the name {first}", 32)
            require(segment.identity == self.superblock.identity, "the segment belongs to another log", 16)
            require(segment.crc_before == self.block_crc, "the segment does not follow the last block before it", 56)
            require(segment.time_before == self.time, "the segment has a wrong time for the record before it", 2120)
        self.counts["segments"] += 1
        self.counts["bytes"] += file.size
        if segment.kind == SEALED:
            self.check_order(file)
            self.counts["sealed"] += 1
            self.check_sealed(file, segment, following)
        else:
            self.active_seen = file.path
            self.check_active(file, segment, following)

    def check_order(self, file):
        """Sealed segments must come first, except for segments that a server seals during this run."""
        if self.active_seen:
            with SegmentFile(self.active_seen) as before:
                kind = parse_segment_header(before.read(0, PAGE_BYTES)).kind
            require(kind == SEALED, "a sealed segment follows an active one", 12)
            self.notes.append(f"segments up to {file.name} were sealed during this run: run it again")

    def check_records(self, records, header, postings=None, number=0):
        """Checks the records of a block, adds their leaves to the tree, and returns the first and the last time."""
        position, first_time = header.first, None
        for record in records:
            with located(position=position):
                envelope = parse_envelope(record.envelope)
                require(envelope.time >= self.time, "the recorded time is less than that of the record before")
                self.time = envelope.time
                self.authors.record_registration(envelope, record)
                if record.form == ERASED:
                    digest = record.content
                    self.counts["erased"] += 1
                elif record.form == OWN_SALT:
                    digest = sha256(record.salt + record.content)
                    self.counts["ownSalts"] += 1
                else:
                    digest = sha256(self.authors.salt(envelope.actor, position) + record.content)
                self.tree.append(leaf_hash(record.envelope, digest))
                if postings:
                    postings.add(envelope.stream, number)
            first_time = self.time if first_time is None else first_time
            position += 1
        self.counts["blocks"] += 1
        self.counts["records"] += len(records)
        self.progress(self.counts, self.superblock.durable)
        return first_time, self.time

    # Active segments

    def check_active(self, file, segment, following):
        last = following is None
        require(file.size <= segment.length, "the file is longer than its header says", segment.length)
        require(last or file.size == segment.length, "the file is shorter than its header says", file.size)
        offset, chain, readings = PAGE_BYTES, segment.crc, 0
        while following is None or self.tree.size + 1 < following:
            header, reason = read_block_header(file, segment, offset, self.tree.size + 1, chain)
            body = None
            if header:
                body, reason = read_body(file, offset, header)
            if body is None:
                if not last:
                    raise Damage(reason, offset=offset, position=self.tree.size + 1)
                readings += 1
                if self.ends_here(file, segment, offset, chain, reason, readings):
                    return
                continue
            with located(offset=offset, position=header.first):
                raw = decompress(body, header.raw) if header.codec == RECORDS_LZ4 else body
                self.check_records(decode_records(raw, header), header)
            offset, chain, self.block_crc, readings = offset + block_length(header), header.crc, header.crc, 0
        self.check_full(file, segment, offset, following)

    def check_full(self, file, segment, offset, following):
        """Checks that an active segment before the last one ends at the right position, followed only by zeros."""
        require(self.tree.size + 1 == following, f"the segment's blocks extend beyond position {following}", offset)
        for at, data in find_content(file, offset, segment.length):
            raise Damage("bytes after the last block are not zero", offset=at + len(data) - len(data.lstrip(b"\0")),
                         position=following)

    def ends_here(self, file, segment, end, chain, reason, readings):
        """Whether the log ends here according to the recovery rules. False requests another reading of the tail."""
        expected, known, content_end, evidence = self.tree.size + 1, self.superblock.durable, end, None
        for at, data in find_content(file, end, max(file.size, end)):
            content_end = at + len(data.rstrip(b"\0"))
            for offset, header in self.headers_in(file, segment, at, data):
                known = max(known, header.durable)
                if offset > end and header.first >= expected:
                    evidence = evidence or f"a block header follows at {offset}"
                elif offset == end and header.first == expected and header.chain != chain:
                    evidence = "it followed a different block than the one before it"
        if expected > known and evidence is None:
            if content_end > end:
                self.notes.append(f"{file.name} has an unfinished end of {content_end - end} bytes at offset {end}, "
                                  f"position {expected}: {reason}")
            return True
        if readings < TAIL_READINGS:
            return False
        proof = f"position {known} is known to be durable" if known >= expected else evidence
        raise Damage(f"{reason}, but {proof}", offset=end, position=expected)

    @staticmethod
    def headers_in(file, segment, start, data):
        """Yields the intact block headers of the segment that begin in these bytes, at multiples of 8."""
        edge = file.read(start + len(data), len(BLOCK_MAGIC) - 1)
        found = (data + edge).find(BLOCK_MAGIC)
        while found >= 0:
            offset = start + found
            if offset % 8 == 0:
                with located(offset=offset):
                    header, _ = parse_block_header(file.read(offset, BLOCK_BYTES), segment.kind)
                if header and header.salt == segment.salt:
                    yield offset, header
            found = (data + edge).find(BLOCK_MAGIC, found + 1)

    # Sealed segments

    def check_sealed(self, file, segment, following):
        seal, first = segment.seal, segment.first
        require(following is not None, "the last segment is sealed: the active segment after it is missing", 12)
        require(file.size == segment.length, f"the file has {file.size} bytes, its header says {segment.length}")
        require(first + seal.records == following,
                f"with {seal.records} records, the next segment cannot begin with position {following}", 2128)
        require(segment.peaks == b"".join(self.tree.peaks), "the Merkle peaks are not those of the records before", 64)
        require(seal.sections[0].raw <= DICTIONARY_BYTES_MAX, "the dictionary is longer than 64 KiB", 2160)
        sections = {section.name: read_section(file, section) for section in seal.sections}
        with located(offset=seal.sections[1].offset):
            table = split_table(sections["table"])
        postings, self.tree.nodes = Postings(table), {}
        index = self.check_sealed_blocks(file, segment, table, sections["dictionary"], postings)
        _, _, of_index, of_streams, of_tree = seal.sections
        check_section(of_index, sections["index"], index, "where blocks begin, and their times")
        check_section(of_streams, sections["streams"], postings.encode(), "which blocks contain a stream")
        check_section(of_tree, sections["tree"], self.tree.encode_section(), "peaks and nodes")
        self.block_crc = seal.active_crc
        self.sealed_ends.append(self.tree.size)

    def check_sealed_blocks(self, file, segment, table, dictionary, postings):
        """Checks the blocks against the header and the seal, and returns the index that is rebuilt from them."""
        seal, offset, chain, index = segment.seal, PAGE_BYTES, 0, []
        for number in range(seal.blocks):
            expected = self.tree.size + 1
            with located(offset=offset, position=expected):
                header, reason = read_block_header(file, segment, offset, expected, chain)
                require(header, reason)
                require(offset + block_length(header) <= seal.sections[0].offset, "the block reaches into the sections")
                body, reason = read_body(file, offset, header)
                require(body is not None, reason)
                if header.codec == COLUMNS_LZ4:
                    body = decompress(body, header.raw, dictionary)
                records = decode_columns(body, header.count, table)
                times = self.check_records(records, header, postings, number)
            index.append(struct.pack("<QIIqq", header.first, offset, 0, *times))
            offset, chain = offset + block_length(header), header.crc
        require(offset == seal.sections[0].offset, "the blocks do not end where the sections begin", offset)
        require(chain == seal.last_crc, "the last block is not the one that the seal names", 2148)
        require(self.tree.size + 1 == segment.first + seal.records, "the seal has a wrong number of records", 2128)
        require(self.time == seal.last_time, "the seal has a wrong last time", 2136)
        return b"".join(index)


# -------------------------------------------------------------------------------------------------------- the command


# The form of a verifier key. Any other value of --key is the name of a file.
KEY_TEXT = re.compile(r"[^+\s]+\+[0-9a-f]{8}\+")


def read_key(arguments):
    """Returns the key to trust: --key, else checkpoint.pub, else None. If both exist, they must be the same."""
    given = stored = None
    if arguments.key:
        with located(file="--key"):
            inline = KEY_TEXT.match(arguments.key)
            given = parse_key(arguments.key if inline else read_text(pathlib.Path(arguments.key)))
    path = arguments.data / "checkpoint.pub" if arguments.data else None
    if path and path.is_file():
        with located(file=path.name):
            stored = parse_key(read_text(path))
            require(given is None or given == stored, f"this is not the trusted key, {given and given.text}")
    return given or stored


def read_kept(arguments, key):
    """Returns the tree heads that were kept elsewhere, by file."""
    if arguments.checkpoint and not key:
        raise CannotRun("a checkpoint needs a key to verify it with: give --key")
    heads = {}
    for path in arguments.checkpoint:
        with located(file=str(path)):
            heads[str(path)] = parse_tree_head(read_text(path), key)
    return heads


def read_stored(folder, key):
    """Returns the tree heads in log/, by file."""
    heads = {}
    for path in sorted(folder.glob("*.checkpoint")):
        with located(file=path.name):
            require(CHECKPOINT_NAME.fullmatch(path.name), "a tree head is not named by its size in 20 digits")
            if not key:
                raise CannotRun(f"there is no key to verify {path.name} with: checkpoint.pub is missing, pass --key")
            heads[path.name] = parse_tree_head(read_text(path), key)
            require(heads[path.name].size == int(path.stem), "the size of the tree head does not match its name")
    return heads


def check_heads(verifier, stored, kept):
    origin, size = origin_of(verifier.superblock.identity), verifier.tree.size
    for name, head in [*stored.items(), *kept.items()]:
        with located(file=name, position=head.size):
            require(head.origin == origin, f"the tree head belongs to {head.origin}, the log is {origin}")
            require(head.size <= size, f"the log was rolled back: it ends at {size}, the tree head has {head.size}")
            require(head.root == verifier.tree.roots[head.size],
                    f"the records up to {head.size} are not those of this tree head: the log was changed")
    # A tree head that exists now but did not exist before was written by a running server.
    names = {end: f"{end:020}.checkpoint" for end in verifier.sealed_ends}
    missing = [end for end, name in names.items() if name not in stored and not (verifier.folder / name).exists()]
    for end in missing:
        # A crash can occur between the sealing of a segment and the signing of its tree head, so the last one may be
        # missing.
        with located(file=names[end], position=end):
            require(end == verifier.sealed_ends[-1], "the tree head of a sealed segment is missing")
        verifier.notes.append(f"the last sealed segment has no tree head yet: {names[end]}")


def verify_data(arguments, key, kept):
    """Verifies the log of a data directory. Returns what to print."""
    if lz4 is None:
        raise CannotRun("the package lz4 is missing: apt install python3-lz4, or "
                        "python3 -m venv v && v/bin/pip install lz4==4.4.5, then v/bin/python " + sys.argv[0])
    folder = arguments.data / "log"
    if not folder.is_dir():
        raise CannotRun(f"{folder} is not a directory: pass the data directory of a server to --data")
    stored = read_stored(folder, key)
    sizes = {head.size for head in [*stored.values(), *kept.values()]}
    verifier = LogVerifier(folder, sizes, progress_line(arguments))
    try:
        verifier.run()
        check_heads(verifier, stored, kept)
    finally:
        verifier.progress(None, None)
    return {
        **verifier.counts, "durable": verifier.superblock.durable, "treeSize": verifier.tree.size,
        "root": base64.b64encode(root_of(verifier.tree.peaks)).decode(), "treeHeads": len(stored),
        "keptCheckpoints": len(kept), "identity": origin_of(verifier.superblock.identity), "notes": verifier.notes,
    }


def time_text(milliseconds):
    try:
        time = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=milliseconds)
    except OverflowError:
        return f"{milliseconds} ms"
    return time.isoformat(timespec="milliseconds") + "Z"


def verify_proof(arguments, key, kept):
    """Verifies a proof. Returns what to print."""
    if not key:
        raise CannotRun("a proof needs a key to verify it with: give --key")
    with located(file=str(arguments.proof)):
        proof = parse_proof(read_text(arguments.proof, INCLUSION_PROOF_BYTES_MAX), key)
        for name, head in kept.items():
            require(head.size != proof.head.size or head.root == proof.head.root,
                    f"the checkpoint has another root than {name}: the log shows two histories")
        if proof.extra is None:
            olds = [head for head in kept.values() if head.size == proof.number]
            if not olds:
                raise CannotRun(f"a consistency proof needs the checkpoint of tree size {proof.number}: --checkpoint")
            for old in olds:
                check_consistency(proof, old)
            return {"proof": "consistency", "oldSize": proof.number, "proofTreeSize": proof.head.size}
        envelope = check_inclusion(proof)
    return {
        "proof": "inclusion", "position": proof.number + 1, "proofTreeSize": proof.head.size, "kind": envelope.kind,
        "stream": envelope.stream.hex(), "recorded": time_text(envelope.time),
        # A proof does not show whether the payload was erased, because payloads that can contain a secret are omitted
        # too.
        "payload": f"{len(proof.extra['payload'])} bytes" if "payload" in proof.extra else "not shown",
    }


def progress_line(arguments):
    """Returns a function that shows the progress, if standard error is a terminal."""
    shown = [0]

    def show(counts, durable):
        if counts is None:
            sys.stderr.write("\r\x1b[K")
        elif counts["records"] - shown[0] >= 10_000:
            shown[0] = counts["records"]
            sys.stderr.write(f"\r{counts['segments']} segments, {counts['records']:,} of {durable:,} records")

    terminal = sys.stderr.isatty() and not arguments.quiet
    return show if terminal else lambda counts, durable: None


def print_result(arguments, result):
    if arguments.json:
        print(json.dumps({"holds": True, **result}, indent=2))
    elif not arguments.quiet:
        for name, value in result.items():
            if name != "notes":
                print(f"{re.sub('([A-Z])', lambda match: ' ' + match[1].lower(), name):18}{value}")
        for note in result.get("notes", []):
            print(f"note: {note}")
        print("every check passed")


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR", help="the data directory, which contains log/")
    parser.add_argument("--checkpoint", type=pathlib.Path, action="append", default=[], metavar="FILE",
                        help="a tree head that was kept elsewhere; can be given several times")
    parser.add_argument("--key", help="the verifier key to trust, or a file with it; default: DIR/checkpoint.pub")
    parser.add_argument("--proof", type=pathlib.Path, metavar="FILE", help="an inclusion or a consistency proof")
    parser.add_argument("--json", action="store_true", help="print the result, or the first failure, as JSON")
    parser.add_argument("--quiet", action="store_true", help="print nothing if every check passes")
    arguments = parser.parse_args(argv)
    if not arguments.data and not arguments.proof:
        parser.error("pass --data DIR, or --proof FILE with --key")
    return arguments


def main(argv=None):
    arguments = parse_arguments(argv)
    try:
        key = read_key(arguments)
        kept = read_kept(arguments, key)
        result = verify_data(arguments, key, kept) if arguments.data else {}
        if arguments.proof:
            result.update(verify_proof(arguments, key, kept))
    except Damage as damage:
        if arguments.json:
            print(json.dumps({"holds": False, **vars(damage)}, indent=2))
        print(f"verification failed: {damage}", file=sys.stderr)
        return EXIT_DAMAGED
    except (CannotRun, OSError, MemoryError) as error:
        print(f"could not run: {error}", file=sys.stderr)
        return EXIT_COULD_NOT_RUN
    print_result(arguments, result)
    return EXIT_HOLDS


if __name__ == "__main__":
    sys.exit(main())
