"""Calls at a constant rate, whatever their latencies are."""

import threading
import time

# How many calls of one kind can be in flight. A call that is due when all are taken waits, and this counts.
WORKERS = 4
# The first calls open connections and files, and fill caches. They do not count.
WARM_SECONDS = 1


class Kind:
    """What is called at a constant rate. `open` returns a function that makes one call, and is called by each thread."""

    def __init__(self, name, open):
        self.name, self.open = name, open


class Pace:
    """Calls one kind. A latency counts from when the call was due if all workers were busy then, and otherwise from when it
    began, so that a late timer does not count."""

    def __init__(self, kind, rate, start, seconds):
        self.kind, self.rate, self.start = kind, rate, start
        self.counted = start + WARM_SECONDS
        self.end = self.counted + seconds
        self.number, self.lock = 0, threading.Lock()
        self.latencies, self.failure = [], None
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(WORKERS)]

    def _next(self):
        with self.lock:
            self.number += 1
            return self.start + self.number / self.rate

    def _work(self):
        try:
            call = self.kind.open()
            while not self.failure and (due := self._next()) < self.end:
                wait = due - time.perf_counter()
                if wait > 0:
                    time.sleep(wait)
                    due = time.perf_counter()
                call()
                if due >= self.counted:
                    self.latencies.append((time.perf_counter() - due) * 1e6)
        except Exception as error:  # Ends the run: failed requests make it meaningless.
            self.failure = error


def measure(kinds, rate, seconds):
    """The latencies of each kind in microseconds. The kinds are called at the same time, a moment after one another."""
    start = time.perf_counter()
    paces = [Pace(kind, rate, start + index / len(kinds) / rate, seconds) for index, kind in enumerate(kinds)]
    for pace in paces:
        for thread in pace.threads:
            thread.start()
    for pace in paces:
        for thread in pace.threads:
            thread.join()
        if pace.failure:
            raise SystemExit(f"{pace.kind.name} failed: {pace.failure}")
    return {pace.kind.name: pace.latencies for pace in paces}
