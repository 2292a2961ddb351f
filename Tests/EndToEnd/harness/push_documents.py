"""The tables of docs/push.md."""

from .places import DOCS


def table(heading: str) -> list[dict[str, str]]:
    """The rows of the table whose first line begins with `heading`: the cells by column, without backquotes."""
    lines = (DOCS / "push.md").read_text().splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(f"| {heading}")]
    assert len(starts) == 1, f"the headings of {len(starts)} tables begin with {heading}"
    columns, rows = _cells(lines[starts[0]]), []
    for line in lines[starts[0] + 2:]:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(columns, _cells(line), strict=True)))
    assert rows
    return rows


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
