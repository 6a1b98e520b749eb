"""The size that a model file declares, checked against its bytes before a reader uses it.

A reader that splits garbage into lines and words needs many times its size in memory, so these checks come first.

A header that promises more than the file can contain would cost a reader its memory. One that promises more than the
reader returns means that the rest was lost without an error. Each check takes the bytes of a file and returns the bytes
for the reader and the number of triangles that it must return (0 if the format does not declare it).
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections import Counter
from itertools import chain, pairwise

import numpy as np

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
MAX_SAME = 5000  #: solids of one name in an STL
#: Remarks of an OFF.
MAX_REMARKS = 10_000_000
_PLY_SIZES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4, "double": 8}
_PLY_SIZES |= {f"{kind}{bits}": bits // 8 for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)}
_PLY_FACES = ("vertex_indices", "vertex_index")
_OFF_HEADER = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(ST)?C?N?OFF\s+(\d+)\s+(\d+)")
_STL_LINE = re.compile(rb"(?i)((end)?(solid|facet|loop)|outer|vertex)\b")

#: the checks of all formats raise `HeaderError` if a header and its file disagree


def check_stl(data: bytes) -> tuple[bytes, int]:
    """Check a binary STL by its length, and count the facets of a text one."""
    if len(data) >= 84:
        count = struct.unpack_from("<I", data, 80)[0]
        if len(data) == 84 + 50 * count:
            return data, count
    head = data[:4096].lower()
    if b"\0" not in head and b"solid" in head:
        return _check_stl_text(data)
    if len(data) < 84:
        raise HeaderError(f"{len(data)} bytes are too few for a binary STL, and it is no text STL")
    raise HeaderError(
        f"the header promises {count} triangles ({84 + 50 * count} bytes), the file has {len(data)} bytes,"
        f" room for {(len(data) - 84) // 50}: truncated, or no STL"
    )


def _check_stl_text(data: bytes) -> tuple[bytes, int]:
    refuse_nul(data, "this STL")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    matched, lines, odd = share_of_lines(data, _STL_LINE)
    if 2 * matched < lines:
        raise HeaderError(f"{lines - matched} of {lines} lines looked at begin with no word of STL: {shown(odd)}")
    lower = data.lower()
    # trimesh splits at these words anywhere, so a solid with one of them in its name loses the name
    if re.search(rb"solid[^\n]*(solid|facet|normal|vertex)", lower):
        data = re.sub(rb"(?mi)^[ \t]*((end)?solid)\b[^\n]*", rb"\1", data)
        lower = data.lower()
    ends, closed, corners = (lower.count(word) for word in (b"endfacet", b"endsolid", b"vertex"))
    facets, solids = lower.count(b"facet") - ends, lower.count(b"solid") - closed
    if facets != ends or solids != closed or corners != 3 * facets:
        raise HeaderError(
            f"{facets} facets begin and {ends} end, with {corners} vertices, {solids} solids begin and {closed} end:"
            " truncated or damaged"
        )
    if solids > MAX_SAME:  # trimesh numbers equal names in a time that grows with their square
        names = Counter(re.findall(rb"(?m)^[ \t]*solid\b[ \t]*([^\n]*)", lower))
        name, count = names.most_common(1)[0]
        if count > MAX_SAME:
            raise HeaderError(
                f"{count} of its solids have the name {shown(name)}, more than the {MAX_SAME} that are read: give them"
                " different names, or join them"
            )
    refuse_parts(solids, len(data))
    return data, facets


def check_ply(data: bytes) -> tuple[bytes, int]:
    """Check that a PLY has bytes enough for the elements its header counts."""
    end = data.find(b"end_header", 0, 1 << 20)
    if not data.startswith(b"ply") or end < 0:
        raise HeaderError("no PLY header that begins with 'ply' and ends with 'end_header'")
    header = data[:end].decode("latin-1")
    ascii_rows = "format ascii" in header
    counts: dict[str, int] = {}
    element, bare = "", set()
    least = count = 0
    for line in header.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "element":
            count = int(words[2])
            if count < 0:
                raise HeaderError(f"the header promises {count} of {words[1]!r}")
            element = words[1]
            counts[element] = count
            bare.add(element)
        elif len(words) >= 3 and words[0] == "property":
            bare.discard(element)
            # a list takes at least its own length, that of a face three more numbers; in text all take a digit and a
            # separator
            kinds = words[2:3] if words[1] == "list" else words[1:2]
            if words[-1] in _PLY_FACES:
                kinds += words[3:4] * 3
            least += count * sum(2 if ascii_rows else _PLY_SIZES.get(kind, 1) for kind in kinds)
    if bare:
        raise HeaderError(f"its header gives the element {min(bare)[:40]!r} no property: each element has at least one")
    if least > len(data) - end:
        promise = ", ".join(f"{number} of {name!r}" for name, number in counts.items())
        raise HeaderError(
            f"the header promises {promise}, at least {least} bytes; {len(data) - end} are there: truncated or damaged"
        )
    if ascii_rows:
        list_last = header.rstrip().endswith(_PLY_FACES) and counts.get("face", 0) > 0
        begin = data.find(b"\n", end) + 1
        if begin == 0:  # the lines of old Macs
            data = data.replace(b"\r", b"\n")
            begin = data.find(b"\n", end) + 1 or len(data)
        data = data[: _rows(data, begin, sum(counts.values()), list_last=list_last, empty=True)]
    return data, counts.get("face", 0)


def _rows(data: bytes, begin: int, promised: int, *, list_last: bool, empty: bool) -> int:
    """Return the end of the promised rows of numbers.

    ``list_last``: the last row begins with the count of its numbers. ``empty``: rows without a number count.
    """
    end, rows_found = rows_end(data, begin, promised, empty=empty)
    last = data[data.rfind(b"\n", begin, end - 1) + 1 : end].split() if rows_found else []
    refuse_words(data, begin, end, "rows of vertices and faces")
    complete = not (list_last and last) or (last[0].isdigit() and len(last) > int(last[0]))
    if rows_found < promised or not complete:
        raise HeaderError(f"the header promises {promised} rows, {rows_found} are there: truncated or damaged")
    return end


def check_off(data: bytes) -> tuple[bytes, int]:
    """Check that an OFF has bytes enough for the counts on its first line."""
    refuse_nul(data, "OFF")
    if data.count(b"#") > MAX_REMARKS:
        raise HeaderError(f"has {data.count(b'#')} remarks, more than the {MAX_REMARKS} that are read")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    data = without_comments(data)
    header = _OFF_HEADER.match(data)
    if header is None:
        raise HeaderError("does not begin with OFF (or COFF, NOFF) and its counts of vertices and faces")
    vertices, faces = int(header[2]), int(header[3])
    least = 6 * vertices + 8 * faces  # "0 0 0\n" and "3 0 1 2\n"
    if least > len(data) + 2:
        raise HeaderError(
            f"the header promises {vertices} vertices and {faces} faces, at least {least} bytes;"
            f" the file has {len(data)}: truncated or damaged"
        )
    begin = data.find(b"\n", header.end()) + 1 or len(data)
    end = _rows(data, begin, vertices + faces, list_last=faces > 0, empty=False)
    remainder = data[end:].lstrip()
    if remainder:
        row = data.count(b"\n", 0, len(data) - len(remainder)) + 1
        raise HeaderError(
            f"the header promises {vertices} vertices and {faces} faces, and more follows,"
            f" line {row}, {shown(remainder.splitlines()[0])}: damaged"
        )
    return _with_fans(data[begin:end], vertices, faces) or data[:end], faces


def _with_fans(rows: bytes, vertices: int, faces: int) -> bytes | None:
    """Return an OFF whose polygons are fans of triangles, or None if no polygon has more than four corners.

    trimesh 5.2 joins corners as text if a file has such polygons.
    """
    lines = [row for row in rows.split(b"\n") if row.strip()]
    corners = [row[1 : 1 + int(row[0])] for row in map(bytes.split, lines[vertices:])]
    _refuse_beyond(corners, vertices)
    if max(map(len, corners), default=0) < 5:
        return None
    fans = [(row[0], *side) for row in corners for side in pairwise(row[1:])]
    head = b"OFF\n%d %d 0" % (vertices, len(fans))
    return b"\n".join([head, *lines[:vertices], *(b"3 " + b" ".join(fan) for fan in fans)])


def _refuse_beyond(corners: list[list[bytes]], vertices: int) -> None:
    """Raise an error for a face with a missing vertex; words that are not whole numbers are left to the reader."""
    try:
        numbers = np.fromiter(map(int, chain.from_iterable(corners)), np.int64)
    except (ValueError, OverflowError):
        return
    wrong = np.flatnonzero((numbers < 0) | (numbers >= vertices))
    if len(wrong):
        face = int(np.searchsorted(np.cumsum([len(row) for row in corners]), wrong[0], side="right"))
        text = ", ".join(corner.decode() for corner in corners[face])
        raise HeaderError(
            f"faces[{face}] is {shown(text.encode())}, but there are {vertices} vertices, 0 to {vertices - 1}:"
            " indices count from 0"
        )


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
