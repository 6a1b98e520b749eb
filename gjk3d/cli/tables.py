"""Tables for people: as wide as their content where they are piped, and as the terminal where one looks at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

_GAPS = (3, 2)  #: between columns: where there is room, and where there is not
_READABLE = 16  #: letters of a name that it is worth to leave a column out for
_LEAST = 8  #: letters of a name that are left in the narrowest terminal
_CUT = "…"


class Table:
    """Rows under titles; numbers are never cut.

    Parameters
    ----------
    titles : sequence of str
        One a column.
    right : collection of str
        Titles of the columns that are flush right.
    names : collection of str
        Those whose text may be shortened to fit a terminal: paths lose their first steps, other text its middle.
    spare : sequence of str
        Those that are left out where names would become too short to read, the first one first.
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
        """Add a row."""
        self._rows.append(cells)

    def lines(self, room: int | None) -> list[str]:
        """Return the lines in so many letters each, or in as many as they need."""
        columns = {title: [title, *(row[k] for row in self._rows)] for k, title in enumerate(self._titles)}
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
        done = ["names shortened"] if short != widths else []
        done += [f"without {', '.join(left_out)}"] if left_out else []
        if done:
            lines.append(f"({', '.join(done)}: wider or piped it has all)")
        return lines

    def _fit(self, widths: dict[str, int], room: int) -> dict[str, int]:
        """Return the widths of the columns with those of names no wider than there is room for."""
        others = {title: width for title, width in widths.items() if title not in self._names}
        names = sorted((title for title in widths if title in self._names), key=lambda title: widths[title])
        left = room - sum(others.values()) - _GAPS[1] * (len(widths) - 1)
        result = dict(widths)
        for k, title in enumerate(names):  # the short ones first: what they leave is for the others
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
    """Return texts no wider than that; two that differ stay so where they can."""
    short = {cell: _without_first_steps(cell, width) for cell in cells}
    same = Counter(short.values())
    return [short[cell] if same[short[cell]] == 1 else _without_middle(cell, width) for cell in cells]


def _without_first_steps(text: str, width: int) -> str:
    """Return the last steps of a path that fit, a mark before them; where the last one does not, its ends."""
    if _width(text) <= width:
        return text
    steps = text.split("/")
    for k in range(1, len(steps)):
        rest = "/".join([_CUT, *steps[k:]])
        if _width(rest) <= width:
            return rest
    return _without_middle(text, width)


def _without_middle(text: str, width: int) -> str:
    """Return the ends of a text, more of the last one, by which names mostly differ."""
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
    """Return how many columns of a terminal a text takes; some letters take two, some none."""
    from rich.cells import cell_len

    return cell_len(text)
