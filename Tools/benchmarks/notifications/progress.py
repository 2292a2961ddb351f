"""Shows on standard error how far a long phase is."""

import sys
import time

# How often a line is printed if standard error is no terminal, in seconds.
LINE_SECONDS = 10
POLL_SECONDS = 0.05
# How long a phase may make no progress, in seconds.
PATIENCE_SECONDS = 180


class Progress:
    def __init__(self, name, total):
        self.name, self.total = name, total
        self.began = self.printed = time.monotonic()

    def show(self, count):
        now = time.monotonic()
        line = f"{now - self.began:5.0f} s  {self.name}: {count:,} of {self.total:,}"
        if sys.stderr.isatty():
            end = "\n" if count >= self.total else ""
            print(f"\r{line}\x1b[K", end=end, file=sys.stderr, flush=True)
        elif now - self.printed >= LINE_SECONDS:
            self.printed = now
            print(line, file=sys.stderr, flush=True)

    def follow(self, count):
        """Waits until `count()` is the total."""
        last, moved = -1, time.monotonic()
        while True:
            now = count()
            self.show(now)
            if now >= self.total:
                return
            if now != last:
                last, moved = now, time.monotonic()
            if time.monotonic() - moved > PATIENCE_SECONDS:
                raise SystemExit(f"{self.name}: no progress for {PATIENCE_SECONDS} seconds at {now:,} of {self.total:,}")
            time.sleep(POLL_SECONDS)
