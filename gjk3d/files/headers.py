"""Comparison of the size that a model file declares with its bytes, before a reader uses the file.

A reader that splits damaged data into lines and words needs many times its size in memory. These checks come first.

A header that declares more than the file can contain would exhaust the memory of a reader. If the header declares more
than the reader returns, a part of the file was lost without an error. Each check takes the bytes of a file. It returns
the bytes for the reader and the number of triangles that the reader must return (0 if the format does not declare it).
"""

from __future__ import annotations

import io
import re
import zipfile

CHUNK = 1 << 22
#: The number and the size of the windows of a file whose lines are examined.
WINDOWS, WINDOW = 16, 1 << 16
_NUMBERS = b"0123456789+-.eE \t\r\n\v\fnaiftyNAIFTY"  # "nan" and "infinity" too


class HeaderError(ValueError):
    """An error for bytes that do not have the declared format. The message contains the position and the content."""


def refuse_nul(data: bytes, name: str) -> None:
    """Raise an error for text with a NUL byte, as in binary files, UTF-16, and files from a full disk."""
    where = data.find(b"\0")
    if where >= 0:
        raise HeaderError(f"byte {where} is NUL, but {name} is a text format. Export the file again.")


def share_of_lines(data: bytes, pattern: re.Pattern[bytes]) -> tuple[int, int, bytes]:
    """Return the number of matching lines in a few samples of the text, of all their lines, and the first other line.

    ``pattern`` matches the start of a line. A line that continues after a backslash counts once.
    """
    good = every = 0
    odd = b""
    step = max(WINDOW, (len(data) - WINDOW) // (WINDOWS - 1) + 1)
    for start in range(0, len(data), step):
        window = data[start : start + WINDOW].replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
        lines = window.splitlines()
        lines = lines[start > 0 : len(lines) - (start + WINDOW < len(data))]  # without truncated lines
        for line in lines:
            words = line.strip()
            if words:
                every += 1
                if pattern.match(words):
                    good += 1
                else:
                    odd = odd or words
    return good, every, odd


def rows_end(data: bytes, start: int, count: int, *, empty: bool) -> tuple[int, int]:
    """Return the end of ``count`` rows from ``start``, and their number, which is smaller if the text ends earlier.

    ``empty`` means that empty rows are counted.
    """
    rows, end = 0, start
    row = re.compile(rb"[^\n]*\n?" if empty else rb"\s*\S[^\n]*\n?")
    while rows < count and end < len(data):
        stop = data.rfind(b"\n", end, end + CHUNK) + 1 or len(data)  # or the whole rest, for a longer line
        if empty:
            added = data.count(b"\n", end, stop) + (data[stop - 1 : stop] != b"\n")
        else:
            added = sum(1 for line in data[end:stop].split(b"\n") if line.strip())
        if rows + added <= count:
            rows, end = rows + added, stop
            continue
        for match in row.finditer(data, end, stop):
            rows, end = rows + 1, match.end()
            if rows == count:
                break
    return end, rows


def without_comments(data: bytes) -> bytes:
    """Return text without comments, which begin with a hash and end with the line."""
    if b"#" not in data:
        return data
    pieces, end = [], 0
    while end < len(data):
        stop = data.rfind(b"\n", end, end + CHUNK) + 1 or len(data)
        pieces.append(re.sub(rb"#[^\n]*", b"", data[end:stop]))
        end = stop
    return b"".join(pieces)


def refuse_words(data: bytes, start: int, end: int, what: str) -> None:
    """Raise an error if the text between two bytes contains anything but numbers."""
    for first in range(start, end, CHUNK):
        chunk = data[first : min(first + CHUNK, end)]
        strange = chunk.translate(None, _NUMBERS)
        if strange:
            where = first + chunk.index(strange[:1])
            row = data.count(b"\n", 0, where) + 1
            line = data[data.rfind(b"\n", max(0, where - 80), where) + 1 : where + 80].splitlines()[0]
            raise HeaderError(
                f"line {row}, {shown(line)}: {what} must be numbers. Repair the line, or export the file again."
            )


def shown(line: bytes) -> str:
    """Return a quoted line. A long line is truncated."""
    text = line.strip().decode("latin-1")
    return repr(text if len(text) <= 40 else text[:40] + "...")


#: The limit of placed objects of any file, and the bytes for each object above it, which is the size of a transform.
#: A small file can nest 10^10 objects.
MAX_PLACED, BYTES_PER_PLACED = 5000, 60
#: The limit of triangles of all copies: for any file, for each byte of a file, and the absolute limit.
FEW_TRIANGLES, TRIANGLES_PER_BYTE, MAX_TRIANGLES = 4_000_000, 4, 100_000_000
#: The limit of parts of any file, and the bytes for each part above it. A reader takes about 1 ms for each part.
MAX_PARTS, BYTES_PER_PART = 2000, 300


def refuse_parts(count: int, size: int) -> None:
    """Raise an error if a file of ``size`` bytes has too many parts."""
    limit = max(MAX_PARTS, size // BYTES_PER_PART)
    if count > limit:
        raise HeaderError(f"has {count} parts, expected at most {limit} in a file of {size} bytes. Join some of them.")


def refuse_copies(placed: int, triangles: int, size: int) -> None:
    """Raise an error if a file of ``size`` bytes places too many objects, or too many triangles in all copies."""
    limit = max(MAX_PLACED, size // BYTES_PER_PLACED)
    if placed > limit:
        raise HeaderError(
            f"places {placed} objects, expected at most {limit} in a file of {size} bytes. Split it, or export fewer "
            "copies."
        )
    limit = min(MAX_TRIANGLES, max(FEW_TRIANGLES, TRIANGLES_PER_BYTE * size))
    if triangles > limit:
        raise HeaderError(
            f"has {triangles} triangles in all copies in {size} bytes, expected at most {limit}. Split it, or export"
            " fewer copies."
        )


#: The limit of unpacked bytes of an archive, and of its ratio of compression above `SMALL` bytes. Models are compressed
#: to about a tenth, and only repetition is compressed to a thousandth.
MAX_UNPACKED, MAX_RATIO, SMALL = 4 << 30, 100, 32 << 20


def unchecked(data: bytes) -> tuple[bytes, int]:
    """Return the output of a reader process unchanged, and 0 declared triangles."""
    return data, 0


def check_zip(data: bytes) -> tuple[bytes, int]:
    """Return a zip archive unchanged, and 0 declared triangles; raise if it unpacks to too many bytes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    if unpacked > MAX_UNPACKED or unpacked > max(SMALL, MAX_RATIO * len(data)):
        raise HeaderError(
            f"unpacks to {unpacked} bytes, expected at most {MAX_UNPACKED}, and above {SMALL} at most {MAX_RATIO} times"
            f" the {len(data)} bytes of the file. Split it."
        )
    return data, 0
