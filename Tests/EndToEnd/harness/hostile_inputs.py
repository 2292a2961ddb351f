"""Makes hostile JSON and texts of several kinds from a seed, and ways to send them. The same seed gives the same
bytes."""

import base64
import json
import random

# Just below the largest body that the server reads, with space for the rest of the body.
BODY_BYTES = 120 * 1024

# Texts for a query or a header. Some are longer than the server accepts there.
TEXT_BYTES = 20 * 1024

# The largest number of requests that are sent at once.
MOST_AT_ONCE = 8
# A request that is sent slowly is split into at most MOST_PIECES pieces, at most LONGEST_PAUSE seconds apart.
MOST_PIECES = 8
LONGEST_PAUSE = 0.01

# Combining marks of several classes, listed in an order that is not canonical.
MARKS = ["\u0315", "\u0301", "\u0323", "\u0f72", "\u0334", "\u302a", "\u0345", "\u20d0"]
# Characters that normalize to up to eighteen characters, or that combine with each other.
EXPANDING = ["\ufdfa", "\ufb2c", "\u1f82", "\u0390", "\u1e9b\u0323", "\u1100\u1161\u11a8", "\uac00\u11a8", "\U0001d160"]
INVISIBLE = ["\u200d", "\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u034f", "\u180e", "\U000e0001", "\u0000"]


# A cursor starts with CURSOR_CHECK bytes that identify the list. Numbers of CURSOR_NUMBER bytes follow.
CURSOR_CHECK, CURSOR_NUMBER = 4, 8


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def base64url_bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class HostileInputs:
    """`value` returns one JSON value of at most `BODY_BYTES`. `text` returns a text of at most `TEXT_BYTES` for a query
    or a header. `many` and `slow` say how to send a request."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.kinds = [
            self.deep, self.wide, self.long_number, self.long_string, self.long_names, self.marks, self.unicode, self.escapes]
        self.text_kinds = [self.words, self.repeated, self.digits, self.marked_text, self.unicode_text, self.deep]

    def value(self) -> tuple[str, str]:
        """The name of a kind, and a value of that kind."""
        kind = self.random.choice(self.kinds)
        return kind.__name__, kind()

    def text(self) -> tuple[str, str]:
        """The name of a kind, and a text of that kind. Half of the texts are cut to a length at or next to a limit."""
        kind = self.random.choice(self.text_kinds)
        text = kind()
        if self.random.random() < 0.5:
            text = text[:self.random.choice([1, 255, 256, 257, 1023, 1024, 1025])]
        return kind.__name__, encoded(text)[:TEXT_BYTES].decode("utf-8", "ignore")

    def moved_cursor(self, cursor: str) -> str:
        """The cursor with other numbers, so that it points to another position or to none."""
        known = base64url_bytes(cursor)
        numbers = [0, 1, 2, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, self.random.getrandbits(63)]
        count = (len(known) - CURSOR_CHECK) // CURSOR_NUMBER
        places = b"".join(self.random.choice(numbers).to_bytes(CURSOR_NUMBER, "big") for _ in range(count))
        return base64url(known[:CURSOR_CHECK] + places)

    def many(self) -> int:
        """How many requests to send at once."""
        return self.random.randint(2, MOST_AT_ONCE)

    def slow(self, data: bytes) -> list[tuple[bytes, float]]:
        """The request in pieces, each with the seconds to wait after it. A cut may be in the middle of a character."""
        cuts = sorted(self.random.randint(0, len(data)) for _ in range(self.random.randint(1, MOST_PIECES - 1)))
        ends = zip([0, *cuts], [*cuts, len(data)], strict=True)
        return [(data[start:end], self.random.uniform(0, LONGEST_PAUSE)) for start, end in ends if start < end]

    def size(self) -> int:
        """A random size in bytes. Small sizes are as likely as large ones."""
        return int(2 ** self.random.uniform(4, 16.8))

    def deep(self) -> str:
        """Arrays, objects or both, nested to a depth around the limit or far beyond, sometimes without the closing
        brackets."""
        depth = self.random.choice([63, 64, 65, 200, 505, 508, self.size()])
        opening = self.random.choice(['[', '{"a":', '[{"a":', '[1,'])
        depth = min(depth, BODY_BYTES // (2 * len(opening)))
        closing = "".join({"[": "]", "{": "}"}[c] for c in reversed(opening) if c in "[{")
        ends = self.random.random() < 0.8
        return opening * depth + "1" + (closing * depth if ends else "")

    def wide(self) -> str:
        """Many members or elements of one array or object, with some duplicate members."""
        count = self.size() // 4
        if self.random.random() < 0.5:
            element = self.random.choice(["1", "{}", '""', "[]", "1e9", '{"a":1}', "null"])
            return "[" + ",".join([element] * min(count, BODY_BYTES // (len(element) + 1))) + "]"
        names = [f"k{number if self.random.random() < 0.99 else 0}" for number in range(min(count, BODY_BYTES // 12))]
        return "{" + ",".join(f'"{name}":1' for name in names) + "}"

    def long_number(self) -> str:
        digits = "".join(self.random.choices("0123456789", k=self.size()))
        return self.random.choice(["1", "-1", "0."]) + digits + self.random.choice([
            "", "e5", "e999999", "E-99999", ".5", "e9223372036854775807", "e-9223372036854775808"])

    def long_string(self) -> str:
        return json.dumps(self.random.choice(["a", "a ", "가", "😀", '"', "\\", "\x01"]) * (self.size() // 8))

    def long_names(self) -> str:
        """Members with names about as long as the limit, or far longer. Some names differ only in their last
        characters."""
        length = self.random.choice([1023, 1024, 1025, self.size()])
        unit = self.random.choice(["k", "가", "😀", "e\u0301", "\ufdfa", "\\u0041", "\\\\"])
        name = unit * (length // len(unit.encode()))
        most = max(1, BODY_BYTES // (2 * length + 12))
        count = min(self.random.choice([1, 2, most]), most)
        names = [f"{name}{number}" if self.random.random() < 0.9 else f"{number}{name}" for number in range(count)]
        return "{" + ",".join(f'"{each}":1' for each in names) + "}"

    def marks(self) -> str:
        """Letters with combining marks that are not in canonical order: runs up to the limit, or far beyond."""
        text = self.marked_text()
        return self.random.choice([json.dumps(text, ensure_ascii=False), "{" + json.dumps(text, ensure_ascii=False) + ":1}"])

    def marked_text(self) -> str:
        run = self.random.choice([29, 30, 31, 32, self.size() // 3])
        text = ""
        while len(text.encode()) < self.size() and len(text.encode()) + 3 * run < BODY_BYTES:
            text += self.random.choice("aeo가") + "".join(self.random.choices(MARKS, k=run))
        return text

    def unicode(self) -> str:
        text = self.unicode_text()
        return json.dumps(text, ensure_ascii=self.random.random() < 0.3)

    def escapes(self) -> str:
        """Escapes: lone and paired surrogates, control characters, unknown escapes, and incomplete ones."""
        parts = ["\\ud800", "\\udc00", "\\ud83d\\ude00", "\\u0000", "\\n", "\\u0301", "\\x41", "\\u12", "\\u0041"]
        return '"' + "".join(self.random.choices(parts, k=min(self.size() // 8, BODY_BYTES // 12))) + '"'

    # Texts for queries and headers

    def unicode_text(self) -> str:
        return "".join(self.random.choices(EXPANDING + INVISIBLE, k=min(self.size() // 4, BODY_BYTES // 20)))

    def words(self) -> str:
        """As many words as fit: equal ones, different ones, or single letters."""
        word = self.random.choice([lambda number: "a", lambda number: f"w{number}", lambda number: chr(0x61 + number % 26)])
        return " ".join(word(number) for number in range(self.size() // 4))

    def repeated(self) -> str:
        return self.random.choice(["a", "-", "_", "=", "%", "é", '"', "*", ",", ";q=0,", "가"]) * (self.size() // 4)

    def digits(self) -> str:
        """Numbers around the limits of integers, alone or within times."""
        number = self.random.choice([2**31, 2**32, 2**53, 2**63, 2**64, 10**self.random.randint(0, 400)])
        return self.random.choice(["", "-", "+", "0", "0x", " "]) + self.random.choice([
            str(number + self.random.randint(-1, 1)), f"{number}e{number}", f"{number}-01-01T00:00:00Z", f"2020-01-01T00:00:00.{number}Z"])
