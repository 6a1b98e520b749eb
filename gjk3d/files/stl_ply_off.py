"""Checks of STL, PLY and OFF files, see `gjk3d.files.readers`.

Each check returns the bytes for the reader and the number of faces that the file declares. It raises a `HeaderError` if
the header contradicts the bytes of the file.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from itertools import chain, pairwise

import numpy as np

from gjk3d.files.readers import (
    HeaderError,
    refuse_nul,
    refuse_parts,
    refuse_words,
    rows_end,
    share_of_lines,
    shown,
    without_comments,
)

MAX_SAME = 5000  #: greatest number of solids with the same name in an STL
MAX_REMARKS = 10_000_000  #: greatest number of comments in an OFF
_PLY_SIZES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4, "double": 8}
_PLY_SIZES |= {f"{kind}{bits}": bits // 8 for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)}
_PLY_FACES = ("vertex_indices", "vertex_index")
_OFF_HEADER = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(ST)?C?N?OFF\s+(\d+)\s+(\d+)")
_STL_LINE = re.compile(rb"(?i)((end)?(solid|facet|loop)|outer|vertex)\b")


def check_stl(data: bytes) -> tuple[bytes, int]:
    """Return an STL and its number of facets. Raise an error if the length of the file contradicts this number."""
    if len(data) >= 84:
        count = struct.unpack_from("<I", data, 80)[0]
        if len(data) == 84 + 50 * count:
            return data, count
    head = data[:4096].lower()
    if b"\0" not in head and b"solid" in head:
        return _check_stl_text(data)
    if len(data) < 84:
        raise HeaderError(
            f"has {len(data)} bytes, expected at least 84 for a binary STL, or the word 'solid' for a text STL"
        )
    expected = 84 + 50 * count
    declared = f"the header declares {count} triangles ({expected} bytes), but the file has {len(data)} bytes"
    if len(data) > expected:
        raise HeaderError(
            f"{declared}, so {len(data) - expected} bytes follow the triangles, or it is not an STL. Export it again "
            "as STL."
        )
    raise HeaderError(f"{declared}, so it is truncated or not an STL. Export it again as STL.")


def _check_stl_text(data: bytes) -> tuple[bytes, int]:
    refuse_nul(data, "this STL")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    matched, lines, odd = share_of_lines(data, _STL_LINE)
    if 2 * matched < lines:
        raise HeaderError(
            f"{lines - matched} of {lines} examined lines, such as {shown(odd)}, do not begin with a keyword of STL"
        )
    lower = data.lower()
    # trimesh splits the text at these words, so names that contain them are removed
    if re.search(rb"solid[^\n]*(solid|facet|normal|vertex)", lower):
        data = re.sub(rb"(?mi)^[ \t]*((end)?solid)\b[^\n]*", rb"\1", data)
        lower = data.lower()
    ends, closed, corners = (lower.count(word) for word in (b"endfacet", b"endsolid", b"vertex"))
    facets, solids = lower.count(b"facet") - ends, lower.count(b"solid") - closed
    if facets != ends or solids != closed or corners != 3 * facets:
        raise HeaderError(
            f"{facets} facets begin and {ends} end, {solids} solids begin and {closed} end, and there are {corners} "
            f"vertices, expected {3 * facets}. Export the file again, because it is truncated or damaged."
        )
    if solids > MAX_SAME:  # the time of trimesh for equal names grows with the square of their number
        names = Counter(re.findall(rb"(?m)^[ \t]*solid\b[ \t]*([^\n]*)", lower))
        name, count = names.most_common(1)[0]
        if count > MAX_SAME:
            raise HeaderError(
                f"{count} of its solids have the name {shown(name)}, expected at most {MAX_SAME}. Rename or join them."
            )
    refuse_parts(solids, len(data))
    return data, facets


def check_ply(data: bytes) -> tuple[bytes, int]:
    """Return a PLY and its number of faces. Raise an error if it has too few bytes for the elements in its header."""
    end = data.find(b"end_header", 0, 1 << 20)
    if not data.startswith(b"ply") or end < 0:
        raise HeaderError("does not have a PLY header, which begins with 'ply' and ends with 'end_header'")
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
                raise HeaderError(f"the header declares {count} of {words[1]!r}, expected 0 or more")
            element = words[1]
            counts[element] = count
            bare.add(element)
        elif len(words) >= 3 and words[0] == "property":
            bare.discard(element)
            # A list has at least the number of its entries, and the list of a face has three entries. A number in text
            # has at least a digit and a separator.
            kinds = words[2:3] if words[1] == "list" else words[1:2]
            if words[-1] in _PLY_FACES:
                kinds += words[3:4] * 3
            least += count * sum(2 if ascii_rows else _PLY_SIZES.get(kind, 1) for kind in kinds)
    if bare:
        raise HeaderError(f"the element {min(bare)[:40]!r} of the header has 0 properties, expected at least one")
    if least > len(data) - end:
        promise = ", ".join(f"{number} of {name!r}" for name, number in counts.items())
        raise HeaderError(
            f"the header declares {promise}, at least {least} bytes, but {len(data) - end} bytes follow the header, so "
            "the file is truncated or damaged"
        )
    if ascii_rows:
        list_last = header.rstrip().endswith(_PLY_FACES) and counts.get("face", 0) > 0
        begin = data.find(b"\n", end) + 1
        if begin == 0:  # line ends of old Macs
            data = data.replace(b"\r", b"\n")
            begin = data.find(b"\n", end) + 1 or len(data)
        data = data[: _rows(data, begin, sum(counts.values()), list_last=list_last, empty=True)]
    return data, counts.get("face", 0)


def _rows(data: bytes, begin: int, promised: int, *, list_last: bool, empty: bool) -> int:
    """Return the position after the declared rows of numbers, ``promised`` lines from ``begin``.

    With ``list_last``, the last row begins with the number of its entries. With ``empty``, empty lines are counted.
    Raise an error if rows are missing, or if a row contains other words than numbers.
    """
    end, rows_found = rows_end(data, begin, promised, empty=empty)
    last = data[data.rfind(b"\n", begin, end - 1) + 1 : end].split() if rows_found else []
    refuse_words(data, begin, end, "rows of vertices and faces")
    complete = not (list_last and last) or (last[0].isdigit() and len(last) > int(last[0]))
    if rows_found < promised or not complete:
        rows = f"{rows_found} are in the file" if rows_found < promised else "the last is incomplete"
        raise HeaderError(f"the header declares {promised} rows, but {rows}, so the file is truncated or damaged")
    return end


def check_off(data: bytes) -> tuple[bytes, int]:
    """Return an OFF without comments, and its declared number of faces. Raise an error if its counts are wrong."""
    refuse_nul(data, "OFF")
    if data.count(b"#") > MAX_REMARKS:
        raise HeaderError(f"has {data.count(b'#')} comments, expected at most {MAX_REMARKS}. Remove them.")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    data = without_comments(data)
    header = _OFF_HEADER.match(data)
    if header is None:
        raise HeaderError("does not begin with OFF (or COFF, NOFF) and the counts of vertices and faces")
    vertices, faces = int(header[2]), int(header[3])
    least = 6 * vertices + 8 * faces  # "0 0 0\n" and "3 0 1 2\n"
    if least > len(data) + 2:
        raise HeaderError(
            f"the header declares {vertices} vertices and {faces} faces, at least {least} bytes, but the file has"
            f" {len(data)} bytes, so it is truncated or damaged"
        )
    begin = data.find(b"\n", header.end()) + 1 or len(data)
    end = _rows(data, begin, vertices + faces, list_last=faces > 0, empty=False)
    remainder = data[end:].lstrip()
    if remainder:
        row = data.count(b"\n", 0, len(data) - len(remainder)) + 1
        raise HeaderError(
            f"the header declares {vertices} vertices and {faces} faces, but line {row}, "
            f"{shown(remainder.splitlines()[0])}, follows them, so the file is damaged"
        )
    return _with_fans(data[begin:end], vertices, faces) or data[:end], faces


def _with_fans(rows: bytes, vertices: int, faces: int) -> bytes | None:
    """Return an OFF with fans of triangles for its polygons, or None if no polygon has more than four corners."""
    # trimesh 5.2 reads polygons with more than four corners wrongly, because it joins their corners as text
    lines = [row for row in rows.split(b"\n") if row.strip()]
    corners = [row[1 : 1 + int(row[0])] for row in map(bytes.split, lines[vertices:])]
    _refuse_beyond(corners, vertices)
    if max(map(len, corners), default=0) < 5:
        return None
    fans = [(row[0], *side) for row in corners for side in pairwise(row[1:])]
    head = b"OFF\n%d %d 0" % (vertices, len(fans))
    return b"\n".join([head, *lines[:vertices], *(b"3 " + b" ".join(fan) for fan in fans)])


def _refuse_beyond(corners: list[list[bytes]], vertices: int) -> None:
    """Raise an error for a face with the index of a missing vertex. Words that are not integers are not checked."""
    try:
        numbers = np.fromiter(map(int, chain.from_iterable(corners)), np.int64)
    except (ValueError, OverflowError):
        return
    wrong = np.flatnonzero((numbers < 0) | (numbers >= vertices))
    if len(wrong):
        face = int(np.searchsorted(np.cumsum([len(row) for row in corners]), wrong[0], side="right"))
        text = ", ".join(corner.decode() for corner in corners[face])
        raise HeaderError(
            f"faces[{face}] is {shown(text.encode())}, expected indices from 0 to {vertices - 1}, because there are "
            f"{vertices} vertices"
        )
