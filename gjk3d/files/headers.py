"""The size that a model file declares, checked against its bytes before a reader uses it.

A reader that splits garbage into lines and words needs many times its size in memory, so these checks come first.

A header that promises more than the file can contain would cost a reader its memory. One that promises more than the
reader returns means that the rest was lost without an error. Each check takes the bytes of a file and returns the bytes
for the reader and the number of triangles that it must return (0 if the format does not declare it).
"""

from __future__ import annotations

import io
import re
import zipfile

CHUNK = 1 << 22
#: windows of a file whose lines are looked at, and their bytes
WINDOWS, WINDOW = 16, 1 << 16
_NUMBERS = b"0123456789+-.eE \t\r\n\v\fnaiftyNAIFTY"  # "nan" and "infinity" too


class HeaderError(ValueError):
    """Bytes that are not text of the format; the message contains the position and the content there."""


def refuse_nul(data: bytes, name: str) -> None:
    """Raise an error for text with a NUL byte, as in binary files, UTF-16, and files from a full disk."""
    where = data.find(b"\0")
    if where >= 0:
        raise HeaderError(f"byte {where} is NUL: {name} is text, this is binary or damaged; export it again")


def share_of_lines(data: bytes, pattern: re.Pattern[bytes]) -> tuple[int, int, bytes]:
    """Count the lines of a few windows that match ``pattern``, and all their lines.

    The first line that does not match is returned as well.

    Parameters
    ----------
    data : bytes
        Text.
    pattern : pattern
        Matches the beginning of a line. A line that continues after a backslash counts once, an empty line never.
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
                if pattern.match(words):
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
    rows : int
        How many rows there are; fewer than ``count`` where the text ends before.
    """
    rows, end = 0, start
    row = re.compile(rb"[^\n]*\n?" if empty else rb"\s*\S[^\n]*\n?")
    while rows < count and end < len(data):
        stop = data.rfind(b"\n", end, end + CHUNK) + 1 or len(data)  # a line longer than that: the rest at once
        added = _lines(data, end, stop, empty=empty)
        if rows + added <= count:
            rows, end = rows + added, stop
            continue
        for match in row.finditer(data, end, stop):
            rows, end = rows + 1, match.end()
            if rows == count:
                break
    return end, rows


def without_comments(data: bytes) -> bytes:
    """Remove the text between a hash and the end of its line."""
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
    """Raise an error if the text between two bytes contains anything but numbers."""
    for first in range(start, end, CHUNK):
        chunk = data[first : min(first + CHUNK, end)]
        strange = chunk.translate(None, _NUMBERS)
        if strange:
            where = first + chunk.index(strange[:1])
            row = data.count(b"\n", 0, where) + 1
            line = data[data.rfind(b"\n", max(0, where - 80), where) + 1 : where + 80].splitlines()[0]
            raise HeaderError(f"line {row}, {shown(line)}: {what} are numbers; this is damaged, or no such file")


def shown(line: bytes) -> str:
    """Quote a line, cut where it is long."""
    text = line.strip().decode("latin-1")
    return repr(text if len(text) <= 40 else text[:40] + "...")


#: Objects that any file may place, or one for each 60 bytes, which a transform takes: a small file can nest 10^10.
MAX_PLACED, BYTES_PER_PLACED = 5000, 60
#: Triangles of all copies: allowed for any file, allowed for each byte of it, and the absolute limit.
FEW_TRIANGLES, TRIANGLES_PER_BYTE, MAX_TRIANGLES = 4_000_000, 4, 100_000_000


#: Parts: allowed for any file, and bytes of the file per part above that. A reader takes about 1 ms for each part.
MAX_PARTS, BYTES_PER_PART = 2000, 300


def refuse_parts(count: int, size: int) -> None:
    """Raise where a file of ``size`` bytes has too many parts."""
    limit = max(MAX_PARTS, size // BYTES_PER_PART)
    if count > limit:
        raise HeaderError(f"has {count} parts, more than the {limit} that are read of {size} bytes: join some of them")


def refuse_copies(placed: int, triangles: int, size: int) -> None:
    """Raise where a file of ``size`` bytes places too many objects, or too many triangles with all copies."""
    limit = max(MAX_PLACED, size // BYTES_PER_PLACED)
    if placed > limit:
        raise HeaderError(
            f"places {placed} objects, more than the {limit} that are read of {size} bytes: divide it, or export fewer"
            " copies"
        )
    limit = min(MAX_TRIANGLES, max(FEW_TRIANGLES, TRIANGLES_PER_BYTE * size))
    if triangles > limit:
        raise HeaderError(
            f"asks for {triangles} triangles with all copies, more than the {limit} that are read of {size} bytes:"
            " divide it, or export fewer copies"
        )


#: Bytes that an archive may unpack to, and to how many times its own size once that is more than `SMALL`; models
#: are packed to a tenth, and a thousandth is nothing but repetition.
MAX_UNPACKED, MAX_RATIO, SMALL = 4 << 30, 100, 32 << 20


def unchecked(data: bytes) -> tuple[bytes, int]:
    """Return the output of a reader process unchanged."""
    return data, 0


def check_zip(data: bytes) -> tuple[bytes, int]:
    """Check the unpacked size of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    if unpacked > MAX_UNPACKED or unpacked > max(SMALL, MAX_RATIO * len(data)):
        raise HeaderError(
            f"unpacks to {unpacked} bytes; at most {MAX_UNPACKED} are read, and from {SMALL} on at most {MAX_RATIO}"
            f" times the {len(data)} of the file"
        )
    return data, 0


def check_3mf(data: bytes) -> tuple[bytes, int]:
    """Check what a 3MF archive would unpack to, and that it holds models."""
    check_zip(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if not any(name.lower().endswith("3d/3dmodel.model") for name in archive.namelist()):
            raise HeaderError("holds no model: it is a zip archive without 3D/3dmodel.model")
        for name in archive.namelist():
            if name.lower().endswith(".model"):
                with archive.open(name) as member:
                    start = member.read(64)
                if not start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<", b"\xff\xfe<", b"\xfe\xff\0<")):
                    raise HeaderError(f"{name} in it is no XML: it begins with {shown(start)}")
    return data, 0
