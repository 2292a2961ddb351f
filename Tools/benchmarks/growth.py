"""Measures how requests, the start and the memory change with the number of messages, of a room's members and of a user's rooms.

Each of these grows on a server of its own, by a factor of ten each time. The requests are sent one by one over one connection to
the idle server. The results are a table and, with `--plots`, charts with logarithmic axes.
"""

import argparse
import pathlib
import statistics
import time

from streams.load import resident_bytes
from streams.table import percentile, show
from workloads import charts
from workloads.bodies import wait_for_views
from workloads.chat import ChatWorld
from workloads.requests import Connection, Request, Requests, one_by_one
from workloads.texts import Texts

SIZES = {
    "rooms": [1, 10, 100, 1_000, 10_000], "members": [10, 100, 1_000, 10_000, 100_000],
    "messages": [10_000, 100_000, 1_000_000]}
QUICK = {"rooms": [1, 10], "members": [10, 100], "messages": [1_000, 5_000], "count": 20, "starts": 1}
CAPTIONS = {
    "messages": "By the number of messages, in 100 rooms with the reader as a member",
    "members": "By the number of members of the room",
    "rooms": "By the number of rooms of the user"}
# The rooms and the members of each while the number of messages grows.
ROOMS, MEMBERS = 100, 10
# Messages per room while other things grow.
FEW_MESSAGES = 30
MIB = 2 ** 20
SHARES = {"p50": 0.5, "p99": 0.99}
MILLISECONDS, SECONDS, MEBIBYTES = "ms", "s", "MiB"


class Measured:
    """The values of one thing that grows: by title and unit of the chart, line and size."""

    def __init__(self, name):
        self.name, self._charts = name, {}

    @property
    def charts(self):
        """The latencies come first."""
        return sorted(self._charts.items(), key=lambda chart: chart[0][1] != MILLISECONDS)

    def add(self, title, unit, size, **values):
        lines = self._charts.setdefault((title, unit), {})
        for line, value in values.items():
            lines.setdefault(line, []).append((size, value))

    def show(self):
        sizes = sorted({size for lines in self._charts.values() for points in lines.values() for size, _ in points})
        rows = []
        for (title, unit), lines in self.charts:
            for line, points in lines.items():
                found = dict(points)
                rows.append((
                    f"{title}, {line}, {unit}", *(number(found[size]) if size in found else None for size in sizes),
                    f"{points[-1][1] / points[0][1]:.2f}" if len(points) > 1 else None))
        show(CAPTIONS[self.name], ["", *(f"{size:,}" for size in sizes), "last / first"], rows)

    def write(self, folder):
        path = pathlib.Path(folder, f"growth-{self.name}.svg")
        charts.write(path, CAPTIONS[self.name], [
            charts.Chart(title, unit, lines) for (title, unit), lines in self.charts])
        print(f"wrote {path}")


def number(value):
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


class Growth:
    """Measures a server at one size after the other, as long as there is time."""

    def __init__(self, name, texts, options):
        self.measured, self.texts, self.options = Measured(name), texts, options
        self.sizes = getattr(options, name)

    def run(self, world, grow, requests):
        """`grow` adds what is missing to a size, and `requests` returns those of the user who reads."""
        size, growing, rest = 0, 0, 0
        for wanted in sorted(self.sizes):
            # Only growing takes longer by as much as the next size is larger.
            expected = growing * wanted / size + rest if size else 0
            if time.monotonic() + expected > self.options.deadline:
                print(f"left out, because it would take about {expected:,.0f} s: {self.measured.name} {wanted:,}", flush=True)
                return
            began = time.monotonic()
            grow(size, wanted)
            wait_for_views(world.port)
            size, growing = wanted, time.monotonic() - began
            self._measure_start(world, size)
            self._measure_requests(world, size, requests())
            self.measured.add("memory", MEBIBYTES, size, **{
                "after the requests": resident_bytes(world.process) / MIB})
            rest = time.monotonic() - began - growing
            print(f"{self.measured.name} {size:,}: {growing:,.0f} s to grow, {rest:,.0f} s to measure", flush=True)

    def _measure_start(self, world, size):
        seconds = [world.restart() for _ in range(self.options.starts)]
        self.measured.add("start", SECONDS, size, median=statistics.median(seconds))
        self.measured.add("memory", MEBIBYTES, size, started=resident_bytes(world.process) / MIB)

    def _measure_requests(self, world, size, requests):
        connection = Connection(world.port, world.server.admin)

        def send_and_count():
            """How long it takes until a message is in a badge."""
            connection.perform(requests.send())
            connection.perform(requests.badge())

        kinds = {
            "send": lambda: connection.perform(requests.send()),
            "newest page": lambda: connection.perform(requests.page()),
            "oldest page": lambda: connection.perform(requests.oldest_page()),
            "list": lambda: connection.perform(requests.list()),
            "badge": lambda: connection.perform(requests.badge()),
            "send, then badge": send_and_count,
            "search, frequent word": lambda: connection.perform(requests.search_frequent()),
            "search, one letter": lambda: connection.perform(requests.search_prefix())}
        for title, perform in kinds.items():
            latencies = one_by_one(perform, self.options.count)
            self.measured.add(title, MILLISECONDS, size, **{
                name: percentile(latencies, share) / 1000 for name, share in SHARES.items()})
        connection.close()


class ReaderRequests(Requests):
    """Requests of one user in one room, which another member sends to. `first` is the room's first message."""

    def __init__(self, reader, rooms, texts, sender, room, first):
        super().__init__({reader: rooms}, texts, seed=1)
        self.sender, self.room, self.first = sender, room, first

    def send(self):
        request = super().send()
        return Request("PUT", f"/v1/rooms/{self.room}/messages/{request.path.rsplit('/', 1)[1]}", self.sender, request.body)

    def page(self):
        return Request("GET", f"/v1/rooms/{self.room}/messages?limit=30", self.users[0])

    def oldest_page(self):
        return Request("GET", f"/v1/rooms/{self.room}/messages?limit=30&around={self.first}", self.users[0])


def first_message(world, room, sender):
    """Sends the message with which the room's history begins, and returns its ID."""
    message = f"{world.run}{world.source.getrandbits(48):012x}"
    world.ingest([{"op": "message.send", "roomId": room, "id": message, "text": "Good morning", "as": sender}])
    return message


def measure_messages(growth, world):
    reader, *others = world.users(MEMBERS)
    world.add_rooms([[reader, *others]] * ROOMS)
    room = world.targets[0].id
    # The reader does not write, so that everything is unread.
    for target in world.targets:
        target.members = others
    first = first_message(world, room, others[0])
    growth.run(
        world, lambda size, wanted: world.fill(growth.texts, wanted - size),
        lambda: ReaderRequests(reader, world.rooms_of[reader], growth.texts, others[0], room, first))


def measure_members(growth, world):
    """A new room for each size, whose members include those of the smaller ones."""
    users, found = world.users(2), {}

    def grow(_, wanted):
        users.extend(world.users(wanted - len(users)))
        room, = world.rooms([users])
        found["room"], found["first"] = room, first_message(world, room, users[0])
        fill_room(world, growth.texts, [room], users[0])

    growth.run(
        world, grow, lambda: ReaderRequests(
            users[-1], [found["room"]], growth.texts, users[0], found["room"], found["first"]))


def measure_rooms(growth, world):
    """A new user for each size. Another user is in all rooms too, and writes."""
    sender, = world.users(1)
    found = {}

    def grow(_, wanted):
        reader, = world.users(1)
        rooms = world.rooms([[sender, reader]] * wanted)
        found.update(reader=reader, rooms=rooms, first=first_message(world, rooms[0], sender))
        fill_room(world, growth.texts, rooms, sender)

    growth.run(
        world, grow, lambda: ReaderRequests(
            found["reader"], found["rooms"], growth.texts, sender, found["rooms"][0], found["first"]))


def fill_room(world, texts, rooms, sender):
    """Messages into the first room, and one into each other."""
    targets = [rooms[0]] * FEW_MESSAGES + rooms[1:]
    world.ingest([
        {"op": "message.send", "roomId": room, "id": f"{world.run}{world.source.getrandbits(48):012x}",
         "text": world.source.choice(texts.texts), "as": sender} for room in targets])


# The longest comes last, so that the budget of time leaves out as little as possible.
MEASUREMENTS = {"rooms": measure_rooms, "members": measure_members, "messages": measure_messages}


def parse():
    parser = argparse.ArgumentParser(prog="Tools/bench growth", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(MEASUREMENTS), choices=list(MEASUREMENTS), help="what grows")
    for name, sizes in SIZES.items():
        parser.add_argument(f"--{name}", type=int, nargs="+", default=sizes, metavar="N", help=f"the numbers of {name}")
    parser.add_argument("--count", type=int, default=300, help="requests of each kind")
    parser.add_argument("--starts", type=int, default=3, help="starts of the server at each size")
    parser.add_argument("--minutes", type=float, default=15, help="leave out sizes that would end later")
    parser.add_argument("--plots", metavar="FOLDER", help="write the charts into this folder, such as docs")
    parser.add_argument("--history", type=pathlib.Path, help="take the texts from this chat history")
    parser.add_argument("--quick", action="store_true", help="everything small, to see whether it works")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    options.deadline = time.monotonic() + options.minutes * 60
    return options


def main():
    options = parse()
    texts = Texts.of(options.history) if options.history else Texts.generated()
    growths = [Growth(name, texts, options) for name in MEASUREMENTS if name in options.only]
    for growth in growths:
        with ChatWorld() as world:
            MEASUREMENTS[growth.measured.name](growth, world)
    for growth in growths:
        growth.measured.show()
    if options.plots:
        for growth in growths:
            growth.measured.write(options.plots)


if __name__ == "__main__":
    main()
