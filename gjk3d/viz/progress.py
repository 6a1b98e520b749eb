"""A word on stderr about what takes longer than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

T = TypeVar("T")
_SILENT, _BETWEEN = 2.0, (0.2, 5.0)  #: seconds; between two words on a terminal, and in a file


def telling(what: str, rows: Iterable[T], total: int) -> Iterator[T]:
    """Pass rows on, and say on stderr how many are done once that has taken a while."""
    terminal = sys.stderr.isatty()
    said, due = False, monotonic() + _SILENT
    for k, row in enumerate(rows):
        if monotonic() > due:
            said, due = True, monotonic() + _BETWEEN[0 if terminal else 1]
            sys.stderr.write(
                f"{chr(13) if terminal else ''}gjk3d: {what} {k + 1} of {total}{'' if terminal else chr(10)}"
            )
            sys.stderr.flush()
        yield row
    if said and terminal:
        sys.stderr.write("\r\x1b[K")
