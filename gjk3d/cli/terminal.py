"""Output to the terminal: results, notes, progress and tables. Control characters of file names are escaped."""

from __future__ import annotations

import json
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from gjk3d.wording import json_ready

if TYPE_CHECKING:
    from rich.console import Console


def safe(text: object) -> str:
    r"""Return text for a terminal. Characters that cannot be printed are replaced by codes such as ``\x1b``."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def note(text: object, label: str = "note") -> None:
    """Print a message with a label on stderr. Characters that cannot be printed are escaped as in `safe`."""
    first, *lines = str(text).splitlines() or [""]
    print(f"{label}: {safe(first)}", *(f"  {safe(line)}" for line in lines), sep="\n", file=sys.stderr)


def write_json(document: dict[str, Any]) -> None:
    """Print the result of a command as a JSON document."""
    sys.stdout.write(json_text(document))


def json_text(document: dict[str, Any]) -> str:
    """Return a document as JSON. NaN and infinity become null."""
    return json.dumps(json_ready(document), indent=2, allow_nan=False) + "\n"


def write_text(text: str, output: Path | None) -> None:
    """Write a text to a file, or to stdout if the output is None."""
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8", newline="")


def console() -> Console:
    """Return the console of stdout. rich follows NO_COLOR, TERM=dumb and COLUMNS, and uses no colours in pipes."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)


def print_line(*pieces: str | tuple[str, str]) -> None:
    """Print a line of texts, or of pairs of a text and its style."""
    from rich.text import Text

    console().print(Text.assemble(*pieces))


def print_omitted(many: int, top: int) -> None:
    """Print the number of rows that a table with ``top`` of ``many`` rows does not show, if there are any."""
    if many > top:
        print_line(f"... {many - top} more, --top {many} shows them")


def print_table(table: Table) -> None:
    """Print a table. Outside of a terminal it is as wide as its content, so that no cell is truncated."""
    from rich.text import Text

    out = console()
    for line in table.lines(out.width if out.is_terminal else None):
        out.print(Text(line))


def print_labelled(rows: Iterable[tuple[str, str]]) -> None:
    """Print texts with their labels. In a terminal, long texts are wrapped between words."""
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


_EVERY = 0.1  #: the number of seconds between two updates


class Bar:
    """A progress bar on stderr, if it is a terminal and ``show`` is True.

    A bar can be the argument ``progress`` of `gjk3d.clash.check`.
    """

    def __init__(self, show: bool = True) -> None:
        self._progress: Any = None
        self._task: Any = None
        self._stage = ""
        self._start = self._last = 0.0
        if show and sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[found]}"),
                console=Console(file=sys.stderr),
                transient=True,
            )

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, stage: str, done: int = 0, total: int | None = None, found: int = 0) -> None:
        """Show the number ``done`` of ``total`` items of a stage, and the number of findings."""
        if self._progress is None:
            return
        now = time.monotonic()
        if stage != self._stage:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(stage, total=total, rate="", found="")
            self._stage, self._start = stage, now
        elif now - self._last < _EVERY and done != total:
            return
        self._last = now
        seconds = now - self._start
        rate = f"{done / seconds:.0f}/s" if done and seconds > 0.0 else ""
        self._progress.update(
            self._task, completed=done, total=total, rate=rate, found=f"{found} found" if found else ""
        )


_GAPS = (3, 2)  #: the gap between columns in a wide and in a narrow terminal
_READABLE = 16  #: columns are left out if names would be narrower than this width
_NARROW = 80  #: the smallest width at which lines that are not rows are wrapped
_LEAST = 8  #: the smallest width of names
_CUT = "…"


class Table:
    """A table with titles. Numbers are never truncated.

    The columns ``right`` are right-aligned. The columns ``names`` are shortened in a narrow terminal: a path such as
    a/b/c loses its first names, and other text its middle. The columns ``spare`` are left out if they are empty. They
    are also left out, in this order, if names would become too short.
    """

    def __init__(
        self,
        titles: Sequence[str],
        right: Collection[str] = (),
        names: Collection[str] = (),
        spare: Sequence[str] = (),
    ) -> None:
        self._titles = list(titles)
        self._right, self._names, self._spare = right, names, spare
        self._rows: list[Sequence[str]] = []

    def add(self, *cells: str) -> None:
        """Add a row with a cell for each title."""
        self._rows.append(cells)

    def lines(self, room: int | None) -> list[str]:
        """Return the lines of the table, at most ``room`` terminal columns wide, or of any width for None."""
        columns = {title: [title, *(row[k] for row in self._rows)] for k, title in enumerate(self._titles)}
        for title in self._spare:
            if title in columns and not {*columns[title][1:]} - {"-"}:
                del columns[title]
        widths = {title: max(map(_width, cells)) for title, cells in columns.items()}
        if room is None or _total(widths, _GAPS[0]) <= room:
            return self._joined(columns, widths, _GAPS[0])
        left_out = []
        for title in self._spare:
            least = {key: min(width, _READABLE) if key in self._names else width for key, width in widths.items()}
            if title in widths and _total(least, _GAPS[1]) > room:
                left_out.append(title)
                del widths[title]
        short = self._fit(widths, room)
        columns = {title: _shortened(columns[title], short[title]) for title in short}
        lines = self._joined(columns, short, _GAPS[1])
        changes = ["names shortened"] if short != widths else []
        changes += [f"without {', '.join(left_out)}"] if left_out else []
        if changes:
            lines += textwrap.wrap(f"({', '.join(changes)}; a wider terminal or a pipe shows all)", max(room, _NARROW))
        return lines

    def _fit(self, widths: dict[str, int], room: int) -> dict[str, int]:
        fixed = {title: width for title, width in widths.items() if title not in self._names}
        names = sorted((title for title in widths if title in self._names), key=lambda title: widths[title])
        left = room - sum(fixed.values()) - _GAPS[1] * (len(widths) - 1)
        result = dict(widths)
        for k, title in enumerate(names):  # short names first, because longer ones can use their remaining width
            share = max(_LEAST, left // (len(names) - k))
            result[title] = min(widths[title], max(share, _width(title)))
            left -= result[title]
        return result

    def _joined(self, columns: dict[str, list[str]], widths: dict[str, int], gap: int) -> list[str]:
        padded = [[_padded(cell, widths[title], title in self._right) for cell in columns[title]] for title in widths]
        return [(" " * gap).join(row).rstrip() for row in zip(*padded, strict=True)]


def _total(widths: dict[str, int], gap: int) -> int:
    return sum(widths.values()) + gap * (len(widths) - 1)


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space


def _shortened(cells: list[str], width: int) -> list[str]:
    """Return the cells shortened to ``width`` terminal columns. Different cells remain different if possible."""
    short = {cell: _without_first_steps(cell, width) for cell in cells}
    counts = Counter(short.values())
    return [short[cell] if counts[short[cell]] == 1 else _without_middle(cell, width) for cell in cells]


def _without_first_steps(text: str, width: int) -> str:
    """Return a path such as a/b/c without its first names, or without its middle if the last name is too long."""
    if _width(text) <= width:
        return text
    steps = text.split("/")
    for k in range(1, len(steps)):
        shortened = "/".join([_CUT, *steps[k:]])
        if _width(shortened) <= width:
            return shortened
    return _without_middle(text, width)


def _without_middle(text: str, width: int) -> str:
    """Return the start and the end of a text with an ellipsis between them."""
    # names differ mostly at their end, so the end is longer than the start
    if _width(text) <= width:
        return text
    before = (width - 1) // 3
    return f"{_begin(text, before)}{_CUT}{_begin(text[::-1], width - 1 - before)[::-1]}"


def _begin(text: str, width: int) -> str:
    k = len(text)
    while _width(text[:k]) > width:
        k -= 1
    return text[:k]


def _width(text: str) -> int:
    """Return the number of terminal columns of a text. Some characters need two columns, and some need none."""
    from rich.cells import cell_len

    return cell_len(text)
