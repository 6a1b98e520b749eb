"""Whether bytes are the text that a format says they are, in one pass and without a copy of them.

A reader that splits garbage into lines and words needs many times its size in memory; these look first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

CHUNK = 1 << 22
#: windows of a file whose lines are looked at, and their bytes
WINDOWS, WINDOW = 16, 1 << 16
_NUMBERS = b"0123456789+-.eE \t\r\n\v\fnaiftyNAIFTY"  # "nan" and "infinity" too


class TextError(ValueError):
    """Bytes are no text of the format; the message says where and what stands there."""


def refuse_nul(data: bytes, name: str) -> None:
    """Raise where text has a NUL byte, as binary files have, UTF-16, and what a full disk leaves behind."""
    where = data.find(b"\0")
    if where >= 0:
        raise TextError(f"byte {where} is NUL: {name} is text, this is binary or damaged; export it again")


def share_of_lines(data: bytes, known: re.Pattern[bytes]) -> tuple[int, int, bytes]:
    """Count the lines of a few windows that match ``known``, and all their lines; the first that does not comes along.

    Parameters
    ----------
    data : bytes
        Text.
    known : pattern
        Of what a line begins with; a line that goes on after a backslash counts once, an empty one never.
    """
    good = every = 0
    odd = b""
    step = max(WINDOW, (len(data) - WINDOW) // (WINDOWS - 1) + 1)
    for start in range(0, len(data), step):
        window = data[start : start + WINDOW].replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
        lines = window.splitlines()
        lines = lines[start > 0 : len(lines) - (start + WINDOW < len(data))]  # without those that are cut
        for line in lines:
            words = line.strip()
            if words:
                every += 1
                if known.match(words):
                    good += 1
                else:
                    odd = odd or words
    return good, every, odd


def rows_end(data: bytes, start: int, count: int, *, empty: bool) -> tuple[int, int]:
    """Find where ``count`` rows that begin at ``start`` end.

    Parameters
    ----------
    data : bytes
        Text whose lines end in a line feed.
    start, count : int
        The first byte, and how many rows there should be.
    empty : bool
        Whether rows without a word count.

    Returns
    -------
    end : int
        The byte after the last row.
    found : int
        How many rows there are; fewer than ``count`` where the text ends before.
    """
    found, end = 0, start
    row = re.compile(rb"[^\n]*\n?" if empty else rb"[^\n]*[^\s][^\n]*\n?")
    while found < count and end < len(data):
        stop = data.rfind(b"\n", end, end + CHUNK) + 1 or len(data)  # a line longer than that: the rest at once
        here = _lines(data, end, stop, empty=empty)
        if found + here <= count:
            found, end = found + here, stop
            continue
        for match in row.finditer(data, end, stop):
            found, end = found + 1, match.end()
            if found == count:
                break
    return end, found


def without_comments(data: bytes) -> bytes:
    """Take out what stands between a hash and the end of its line."""
    if b"#" not in data:
        return data
    pieces, end = [], 0
    while end < len(data):
        stop = data.rfind(b"\n", end, end + CHUNK) + 1 or len(data)
        pieces.append(re.sub(rb"#[^\n]*", b"", data[end:stop]))
        end = stop
    return b"".join(pieces)


def _lines(data: bytes, start: int, stop: int, *, empty: bool) -> int:
    if empty:
        return data.count(b"\n", start, stop) + (data[stop - 1 : stop] != b"\n")
    return sum(1 for line in data[start:stop].split(b"\n") if line.strip())


def refuse_words(data: bytes, start: int, end: int, what: str) -> None:
    """Raise where something between two bytes can be no part of a number."""
    for first, chunk in _chunks(data, start, end):
        strange = chunk.translate(None, _NUMBERS)
        if strange:
            where = first + chunk.index(strange[:1])
            row = data.count(b"\n", 0, where) + 1
            line = data[data.rfind(b"\n", max(0, where - 80), where) + 1 : where + 80].splitlines()[0]
            raise TextError(f"line {row}, {shown(line)}: {what} are numbers; this is damaged, or no such file")


def _chunks(data: bytes, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    for first in range(start, end, CHUNK):
        yield first, data[first : min(first + CHUNK, end)]


def shown(line: bytes) -> str:
    """Quote a line, cut where it is long."""
    text = line.strip().decode("latin-1")
    return repr(text if len(text) <= 40 else text[:40] + "...")
