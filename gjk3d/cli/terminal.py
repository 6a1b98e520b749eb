"""What goes to the terminal: results on stdout, notes on stderr, and nothing in either that a file name could forge."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gjk3d.wording import number

if TYPE_CHECKING:
    from rich.console import Console

    from gjk3d.cli.tables import Table


def safe(text: object) -> str:
    r"""Return text fit for a terminal: what does not print, escape codes among it, becomes ``\x1b`` and the like."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def note(text: object, label: str = "note") -> None:
    """Print a labelled message on stderr, its lines made safe one by one."""
    first, *rest = str(text).splitlines() or [""]
    print(f"{label}: {safe(first)}", *(f"  {safe(line)}" for line in rest), sep="\n", file=sys.stderr)


def write_json(document: dict[str, Any]) -> None:
    """Print the one JSON document of a run."""
    sys.stdout.write(json_text(document))


def json_text(document: dict[str, Any]) -> str:
    """Return a document as JSON; NaN and the infinities, which JSON lacks, become null."""
    return json.dumps(_finite(document), indent=2, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def vector(values: Iterable[float], digits: int = 6) -> str:
    """Return numbers in brackets; what is rounding noise beside the largest of them shows as 0."""
    numbers = [float(value) for value in values]
    noise = 1e-14 * max(map(abs, numbers))
    return f"({', '.join(number(value if abs(value) > noise else 0.0, digits) for value in numbers)})"


def console() -> Console:
    """Return the console of stdout; rich heeds NO_COLOR, TERM=dumb and COLUMNS, and colours nothing that is piped."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)


def print_table(table: Table) -> None:
    """Print a table; where stdout is no terminal it is as wide as its content, so that no cell is cut."""
    from rich.text import Text

    out = console()
    for line in table.lines(out.width if out.is_terminal else None):
        out.print(Text(line))


def print_labelled(rows: Iterable[tuple[str, str]]) -> None:
    """Print texts behind their labels; where a terminal is narrower they go on below themselves, no word broken."""
    from rich.text import Text

    out = console()
    for label, text in rows:
        line = f"  {label:<14}{text}"
        if not out.is_terminal:
            out.print(Text(line))
            continue
        for piece in textwrap.wrap(
            line, max(out.width, 40), subsequent_indent=" " * 16, break_long_words=False, break_on_hyphens=False
        ):
            out.print(Text(piece))
