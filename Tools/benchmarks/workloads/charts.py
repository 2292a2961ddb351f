"""Draws small charts with logarithmic axes side by side, as one SVG file without a background: its colours can be read on white
and on black."""

import math
import pathlib
from xml.sax.saxutils import escape

COLUMNS = 4
# Of one chart, with its labels.
WIDTH, HEIGHT = 220, 180
LEFT, RIGHT, TOP, BOTTOM = 42, 12, 34, 28
# For the caption of the file.
HEAD = 26
# Each has a contrast of 3 or more with white and with GitHub's dark background, the text one of more than 4.
TEXT, GRID = "#7b8187", "#8b949e"
COLOURS = ("#2f81f7", "#bf7a00", "#1a9e53", "#a06be0")
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Chart:
    """`series` has the points of each line by its name: pairs of two positive numbers."""

    def __init__(self, title, unit, series):
        self.title, self.unit = title, unit
        self.series = {name: points for name, points in series.items() if points}

    @property
    def points(self):
        return [point for points in self.series.values() for point in points]


class Axis:
    """Whole decades, so that all values are on it; at least one."""

    def __init__(self, values, start, end):
        self.first, self.last = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
        if self.first >= self.last:
            self.last = self.first + 1
        self.start, self.end = start, end

    @property
    def decades(self):
        return range(self.first, self.last + 1)

    def position(self, value):
        return self.at(math.log10(value))

    def at(self, exponent):
        return self.start + (self.end - self.start) * (exponent - self.first) / (self.last - self.first)


def text(x, y, content, anchor="start", colour=TEXT, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
            f'{escape(content)}</text>')


def line(x1, y1, x2, y2):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{GRID}" stroke-opacity="0.35"/>')


def short(exponent):
    """A power of ten as a label."""
    if 0 <= exponent <= 3:
        return f"{10 ** exponent:,}"
    return f"{10 ** exponent:g}" if -3 <= exponent < 0 else f"10{str(exponent).translate(SUPERSCRIPTS)}"


def draw(chart, x, y):
    """One chart, whose upper left corner is at this point."""
    across = Axis([point[0] for point in chart.points], x + LEFT, x + WIDTH - RIGHT)
    up = Axis([point[1] for point in chart.points], y + HEIGHT - BOTTOM, y + TOP)
    parts = [text(x + LEFT, y + 12, f"{chart.title}, {chart.unit}", weight="bold")]
    for exponent in up.decades:
        parts.append(line(across.start, up.at(exponent), across.end, up.at(exponent)))
        parts.append(text(x + LEFT - 6, up.at(exponent) + 4, short(exponent), "end"))
    for exponent in across.decades:
        parts.append(line(across.at(exponent), up.start, across.at(exponent), up.end))
        parts.append(text(across.at(exponent), up.start + 15, short(exponent), "middle"))
    label = x + LEFT
    for (name, points), colour in zip(chart.series.items(), COLOURS):
        places = [(across.position(size), up.position(value)) for size, value in points]
        joined = " ".join(f"{left:.1f},{top:.1f}" for left, top in places)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{left:.1f}" cy="{top:.1f}" r="2.5" fill="{colour}"/>' for left, top in places]
        if len(chart.series) > 1:
            parts.append(text(label, y + 27, name, colour=colour))
            label += 7 * len(name) + 12
    return parts


def write(path, caption, charts):
    """All charts have the same horizontal axis; the caption says which."""
    rows = -(-len(charts) // COLUMNS)
    width, height = COLUMNS * WIDTH, HEAD + rows * HEIGHT
    parts = [text(LEFT, 16, caption)]
    for index, chart in enumerate(charts):
        parts += draw(chart, index % COLUMNS * WIDTH, HEAD + index // COLUMNS * HEIGHT)
    body = "\n".join(parts)
    pathlib.Path(path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">\n'
        f"<title>{escape(caption)}</title>\n{body}\n</svg>\n")
