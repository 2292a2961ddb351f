"""Reads what `/metrics` serves, and which series the documents name."""

import json
import re
from collections.abc import Callable

import requests

from .places import DOCS
from .server import ANSWER_TIMEOUT_SECONDS, Server, reserved_port

LINE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_]+)="((?:[^"\\]|\\.)*)"')
HISTOGRAM_SUFFIXES = ("_bucket", "_sum", "_count")
# A name in an expression of PromQL that is not a function, a label or a word of the language.
SERIES = re.compile(r"\b((?:hansard|process)_[a-z_]+)\b")


class Metrics:
    """One scrape. Each line of the text must be valid, and each series must have a help and a type before its values."""

    def __init__(self, text: str):
        self.types: dict[str, str] = {}
        self.values: dict[tuple[str, frozenset], float] = {}
        helped = set()
        for line in text.splitlines():
            if line.startswith("# HELP "):
                name = line.split(" ", 3)[2]
                assert name not in helped, f"{name} has two groups"
                helped.add(name)
            elif line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                assert name in helped, f"{name} has no help"
                self.types[name] = kind
            else:
                match = LINE.fullmatch(line)
                assert match, f"not a line of the format: {line!r}"
                name, labels, value = match.groups()
                assert self.series(name) in self.types, f"{name} has no type"
                key = (name, frozenset(LABEL.findall(labels or "")))
                assert key not in self.values, f"twice: {line}"
                self.values[key] = float(value)

    def series(self, name: str) -> str:
        """The series that a value belongs to."""
        for suffix in HISTOGRAM_SUFFIXES:
            base = name.removesuffix(suffix)
            if base != name and self.types.get(base) == "histogram":
                return base
        return name

    def get(self, name: str, **labels: str) -> float:
        """The value with exactly these labels; 0 if there is none."""
        return self.values.get((name, frozenset(labels.items())), 0.0)

    def total(self, name: str, **labels: str) -> float:
        """The sum of the values that have at least these labels."""
        wanted = set(labels.items())
        return sum(value for (found, has), value in self.values.items() if found == name and wanted <= has)

    def labels(self, name: str) -> set[str]:
        return {label for (found, has) in self.values if found == name for label, _ in has}


class Metered:
    """A server that serves metrics."""

    def __init__(self, make: Callable[[dict[str, str]], Server]):
        """`make` makes the server with these variables of the environment."""
        # Kept while the server runs, so that no other process gets the port.
        self.reserved = reserved_port()
        port = self.reserved.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.server = make({"HANSARD_METRICS_PORT": str(port)})

    def scrape(self) -> Metrics:
        response = requests.get(f"{self.url}/metrics", timeout=ANSWER_TIMEOUT_SECONDS)
        assert response.status_code == 200
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return Metrics(response.text)


def documented() -> dict[str, tuple[str, set[str]]]:
    """The type and the labels of each series, as `docs/metrics.md` states them."""
    rows = re.findall(r"^\| `([a-z_]+)`¹? \| (\w+) \|([^|]*)\| \S.* \|$", (DOCS / "metrics.md").read_text(), re.MULTILINE)
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}


def used_in_examples() -> set[str]:
    """The series, with the suffixes of histograms, that the alerts and the dashboard use."""
    dashboard = json.loads((DOCS / "monitoring" / "dashboard.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    alerts = re.sub(r"^ +(summary|- alert):.*$", "", (DOCS / "monitoring" / "alerts.yml").read_text(), flags=re.MULTILINE)
    return {name for text in [*expressions, alerts] for name in SERIES.findall(text)}
