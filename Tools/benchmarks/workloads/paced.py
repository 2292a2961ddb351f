"""Calls at a constant rate, whatever their latencies are."""

import math
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

    def __init__(self, kind, rate, start, seconds, continues):
        self.kind, self.rate, self.start, self.continues = kind, rate, start, continues
        self.counted = start + WARM_SECONDS
        self.end = self.counted + seconds
        self.number, self.lock = 0, threading.Lock()
        # When each call was due, and its latency in microseconds.
        self.calls, self.failures = [], []
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(WORKERS)]

    def _next(self):
        with self.lock:
            self.number += 1
            return self.start + self.number / self.rate

    def _work(self):
        call = None
        while not self._is_over() and (due := self._next()) < self.end:
            try:
                call = call or self.kind.open()
                wait = due - time.perf_counter()
                if wait > 0:
                    time.sleep(wait)
                    due = time.perf_counter()
                call()
                if due >= self.counted:
                    self.calls.append((due, (time.perf_counter() - due) * 1e6))
            except Exception as error:  # The benchmark decides what a failed call means.
                self.failures.append(error)
                # The connection may be of no more use.
                call = None

    def _is_over(self):
        return self.failures and not self.continues


class Calls:
    """Calls several kinds at the same time, a moment after one another, for so many seconds or until the end of a `with`
    block. If it does not continue after a failed call, a kind is not called any more once one has failed."""

    def __init__(self, kinds, rate, seconds=math.inf, continues=False):
        start = time.perf_counter()
        self.paces = [
            Pace(kind, rate, start + index / len(kinds) / rate, seconds, continues) for index, kind in enumerate(kinds)]

    def __enter__(self):
        for pace in self.paces:
            for thread in pace.threads:
                thread.start()
        return self

    def __exit__(self, *_):
        now = time.perf_counter()
        for pace in self.paces:
            if pace.end == math.inf:
                pace.end = now
            for thread in pace.threads:
                thread.join()

    @property
    def failures(self):
        """The errors of failed calls, by kind."""
        return {pace.kind.name: pace.failures for pace in self.paces}

    def latencies(self, begin=-math.inf, end=math.inf):
        """By kind in microseconds, of the calls that were due in this time."""
        return {
            pace.kind.name: [latency for due, latency in pace.calls if begin <= due < end] for pace in self.paces}


def measure(kinds, rate, seconds):
    """The latencies of each kind in microseconds. A failed call ends the benchmark, because it makes the figures
    meaningless."""
    with Calls(kinds, rate, seconds) as calls:
        pass
    for name, failures in calls.failures.items():
        if failures:
            raise SystemExit(f"{name} failed: {failures[0]}")
    return calls.latencies()
