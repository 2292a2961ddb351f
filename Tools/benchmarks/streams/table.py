"""Prints results as aligned tables."""


def show(title, headers, rows):
    """The first column is text. All others are aligned to the right; None is left empty."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[index]) for row in [headers, *cells]) for index in range(len(headers))]
    print(f"\n{title}")
    for row in [headers, ["-" * width for width in widths], *cells]:
        print("  ".join([row[0].ljust(widths[0]), *(
            cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]).rstrip(), flush=True)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def milliseconds(values, share):
    """A percentile of times in microseconds."""
    return f"{percentile(values, share) / 1000:,.2f}"


class Goals:
    """What the benchmark compares with its goals at the end."""

    def __init__(self):
        self.rows = []

    def at_most(self, name, value, goal, unit):
        """A ratio of one or less reaches the goal."""
        reached = "yes" if value <= goal else "NO"
        self.rows.append((name, f"{value:,.1f} {unit}", f"<= {goal:,} {unit}", f"{value / goal:.2f}", reached))

    def at_least(self, name, value, goal):
        """A ratio of one or more reaches the goal."""
        self.rows.append((name, f"{value:,.2f}", f">= {goal:,}", f"{value / goal:.2f}", "yes" if value >= goal else "NO"))

    def report(self, name, value):
        """A value for which there is no goal."""
        self.rows.append((name, value, None, None, None))

    def show(self):
        show("Summary", ["measured", "value", "goal", "value/goal", "reached"], self.rows)
