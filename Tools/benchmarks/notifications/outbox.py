"""The outbox while no provider can be reached: how fast notifications are added to it, and what they take on disk and
in memory."""

import statistics
import time

from ingest import TEXT
from streams.load import processor_seconds
from streams.table import show

from .progress import Progress
from .world import PushWorld

# The longest text that an outbox stores.
LONG_TEXT = "The kettle is on. " * 56
POLL_SECONDS = 0.002


class AddedMessage:
    """One message to the large room, until its notifications were added to the outbox."""

    def __init__(self, world, text):
        self.world = world
        bytes_before, used = world.outbox.used_bytes, processor_seconds(world.process)
        # From the request on, because the outbox may have the notifications before the response has come.
        began = time.monotonic()
        position, _ = world.send(world.room, text)
        while not world.outbox.has(position):
            time.sleep(POLL_SECONDS)
        self.seconds = time.monotonic() - began
        self.processor = processor_seconds(world.process) - used
        self.bytes = world.outbox.used_bytes - bytes_before


def measure(options, goals):
    """Nothing listens at the provider's port. All devices are of APNs, which is paused then; a push service of browsers
    would be tried for each device."""
    with PushWorld(options.members, options.devices, ("apns",)) as world:
        measure_waiting(world, options, goals)


def measure_waiting(world, options, goals):
    """The first message only warms up."""
    devices = sum(world.devices.values())
    before = world.resident
    texts = (TEXT, LONG_TEXT)
    AddedMessage(world, TEXT)
    progress, done, rows = Progress("messages added to the outbox", len(texts) * options.waiting), 0, []
    for text in texts:
        name, samples = f"text of {len(text):,} bytes", []
        for _ in range(options.waiting):
            samples.append(AddedMessage(world, text))
            done += 1
            progress.show(done)
        rate = statistics.median(devices / sample.seconds for sample in samples)
        rows.append((
            name, f"{devices * len(samples):,}", f"{rate:,.0f}",
            f"{statistics.median(sample.processor / devices for sample in samples) * 1e6:,.1f}",
            f"{sum(sample.bytes for sample in samples) / devices / len(samples):,.1f}"))
        goals.report(f"notifications added to the outbox per second, {name}", f"{rate:,.0f}")
    show(f"Notifications added to the outbox while no provider can be reached, {devices:,} for each message (medians)",
         ["", "notifications", "added/s", "server µs", "bytes of the file"], rows)
    contents, text_bytes = world.outbox.contents
    show("What the outbox has", ["", "notifications", "texts", "bytes of texts", "MiB of the file"], [(
        "", f"{world.outbox.rows:,}", f"{contents:,}", f"{text_bytes:,}", f"{world.outbox.used_bytes / 2**20:,.1f}")])
    after = world.resident
    show("Memory of the server", ["", "MiB before", "MiB with these waiting", "bytes for each"], [(
        "", f"{before / 2**20:,.0f}", f"{after / 2**20:,.0f}", f"{(after - before) / world.outbox.rows:,.0f}")])
