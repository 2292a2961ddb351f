"""Notifications per second for each provider, side by side with a bare client that sends the same requests."""

import statistics

from streams.load import processor_seconds
from streams.table import show

from .programs import NAMES, PROVIDERS
from .progress import Progress

# Of the rate of the bare client, from the issue.
GOAL = 0.6


class Sample:
    """One message, or as many requests of the bare client as it had notifications."""

    def __init__(self, stand_in, process, provider, count, act):
        """`act` does everything and returns when it is over."""
        stand_in.begin()
        used, served = processor_seconds(process), processor_seconds(stand_in.process)
        act()
        used, served = processor_seconds(process) - used, processor_seconds(stand_in.process) - served
        report = stand_in.perform()
        arrived = report["arrived"][provider]
        if arrived["count"] != count:
            raise SystemExit(f"{arrived['count']:,} requests arrived at {NAMES[provider]}, not {count:,}")
        # The time before the first request has other causes, such as the fan-out.
        seconds = (arrived["last"] - arrived["first"]) / 1e9
        self.rate = (count - 1) / seconds
        self.microseconds = used / count * 1e6
        self.stand_in = served / seconds
        self.body_bytes = arrived["bodyBytes"] / count
        self.wire_bytes = report["wireBytes"] / count


class Case:
    def __init__(self, world, stand_in, bare, provider, folder):
        self.world, self.stand_in, self.bare, self.provider = world, stand_in, bare, provider
        self.count = world.devices[provider]
        self.recording = folder / f"{provider}.jsonl"
        self.server, self.client = [], []

    def send_message(self):
        self.world.send(self.world.rooms_of[self.provider])
        Progress(f"notifications, {NAMES[self.provider]}", self.count).follow(
            lambda: self.stand_in.count((self.provider,)))
        self.world.wait_until_settled()

    def record(self):
        """Keeps the requests of one message, which also opens the server's connection."""
        self.stand_in.begin(keep=True)
        self.send_message()
        self.stand_in.perform(write={"provider": self.provider, "path": str(self.recording)})
        # Opens the client's connection, and reads the requests.
        self.bare.send(self.provider, self.recording, self.count)

    def measure_server(self):
        self.server.append(
            Sample(self.stand_in, self.world.process, self.provider, self.count, self.send_message))

    def measure_client(self):
        self.client.append(
            Sample(self.stand_in, self.bare.process, self.provider, self.count,
                   lambda: self.bare.send(self.provider, self.recording, self.count)))

    def replay(self, count, rate):
        """Sends so many requests of the bare client at a rate."""
        self.bare.send(self.provider, self.recording, count, rate)

    def ratio(self, field):
        return statistics.median(
            getattr(mine, field) / getattr(its, field) for mine, its in zip(self.server, self.client))


def median(samples, field):
    return statistics.median(getattr(sample, field) for sample in samples)


def record(world, stand_in, bare):
    """The requests of each provider, for the bare client."""
    cases = [Case(world, stand_in, bare, provider, world.folder) for provider in PROVIDERS]
    for case in cases:
        case.record()
    return cases


def measure(cases, options, goals):
    for number in range(options.rounds):
        for case in cases:
            # Every second round begins with the other one.
            both = (case.measure_server, case.measure_client)
            for each in both if number % 2 == 0 else reversed(both):
                each()
    rows = []
    for case in cases:
        ratio = case.ratio("rate")
        rows.append((
            NAMES[case.provider], f"{case.count:,}", f"{median(case.server, 'rate'):,.0f}",
            f"{median(case.client, 'rate'):,.0f}", f"{ratio:.2f}", f">= {GOAL}",
            f"{median(case.server, 'microseconds'):,.0f}", f"{median(case.client, 'microseconds'):,.0f}",
            f"{case.ratio('microseconds'):.1f}",
            f"{median(case.server, 'stand_in'):.2f}", f"{median(case.client, 'stand_in'):.2f}",
            f"{median(case.server, 'body_bytes'):,.0f}", f"{median(case.client, 'body_bytes'):,.0f}",
            f"{median(case.server, 'wire_bytes'):,.0f}", f"{median(case.client, 'wire_bytes'):,.0f}"))
        goals.at_least(f"notifications/s, {NAMES[case.provider]}, / bare client", ratio, GOAL)
    show(f"Notifications per second, {options.rounds} rounds of one message for all devices of a provider, against a bare "
         "client (medians)",
         ["", "notifications", "server/s", "bare/s", "ratio", "goal", "server µs", "bare µs", "ratio", "stand-in: server",
          "bare", "body bytes: server", "bare", "wire bytes: server", "bare"], rows)
