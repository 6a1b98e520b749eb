"""The findings of a report for its page: what sorts and filters in columns, the rest in compressed blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import dist, floor, hypot, isfinite, log10, nan
from typing import Any

import numpy as np

from gjk3d.clash.causes import Cause
from gjk3d.clash.drawn import Frame
from gjk3d.clash.finding import KINDS, STATUSES, Clash
from gjk3d.clash.parts import order
from gjk3d.clash.report import Report
from gjk3d.clash.wording import brief, decided, depth, distance, inside, shared_volume, way_out, when
from gjk3d.typing import Array
from gjk3d.webpage import deflated, to_base64, to_json
from gjk3d.wording import above, number, with_unit

#: Findings of a block.
ROWS = 500
#: Characters that all blocks may have together.
MAX_CHARACTERS = 26_000_000


@dataclass(frozen=True)
class Packed:
    """The findings as the page has them.

    ``index`` is JSON: the ids, columns in base64, and the texts that these point to. ``blocks`` are as
    `gjk3d.webpage.deflated` packs JSON, `ROWS` findings each. ``count`` is how many findings found room.
    """

    index: dict[str, Any]
    blocks: list[str]
    count: int


def pack(report: Report, names: Mapping[str, int], causes: Sequence[Cause], size: float, most: int) -> Packed:
    """Pack the worst findings of a report, which is in the unit of reading.

    Parameters
    ----------
    report : Report
        What was found.
    names : dict of str to int
        Parts by number.
    causes : sequence of Cause
        What explains several.
    size : float
        Of the assembly: places are told to a billionth of it.
    most : int
        Findings.
    """
    sentences: dict[str, int] = {}
    blocks: list[str] = []
    widths = dict.fromkeys(("inside", "brief", "volume"), 0)
    room, count = MAX_CHARACTERS, 0
    for first in range(0, min(most, len(report.clashes)), ROWS):
        clashes = report.clashes[first : min(first + ROWS, most)]
        told = [_told(clash, report) for clash in clashes]
        rows = [_row(clash, size, sentences) for clash in clashes]
        text = deflated(to_json(_columns(rows) | {"told": _columns(told)}).encode())
        room -= len(text)
        if room < 0:
            break
        blocks.append(text)
        count += len(clashes)
        widths = {name: max(most, *(len(row.get(name, "")) for row in told)) for name, most in widths.items()}
    index = _index(report, report.clashes[:count], names, causes)
    return Packed(index | {"decided": list(sentences), "widths": widths, "block": ROWS}, blocks, count)


def _index(report: Report, clashes: Sequence[Clash], names: Mapping[str, int], causes: Sequence[Cause]) -> Any:
    """Return what the page sorts and filters by; a column in which nothing stands is left out."""
    groups = {name: k for k, name in enumerate(sorted({clash.group for clash in clashes} - {""}, key=order))}
    notes = {note: k for k, note in enumerate(dict.fromkeys(clash.note for clash in clashes if clash.note))}
    cause_of = {ident: k for k, cause in enumerate(causes) for ident in cause.ids}
    pairs = report.motion.pairs if report.motion is not None else ()
    courses = {(pair.a, pair.b): k for k, pair in enumerate(pairs)}
    numbers: dict[str, Iterable[int]] = {
        "a": (names.get(clash.a, -1) for clash in clashes),
        "b": (names.get(clash.b, -1) for clash in clashes),
        "group": (groups.get(clash.group, -1) for clash in clashes),
        "note": (notes.get(clash.note, -1) for clash in clashes),
        "cause": (cause_of.get(clash.id, -1) for clash in clashes),
        "course": (courses.get((clash.a, clash.b), -1) for clash in clashes),
    }
    measures = {
        name: np.array([getattr(clash, name) for clash in clashes], dtype=float)  # None becomes nan
        for name in ("distance", "penetration", "overlap_volume", "time")
    }
    whole = {name: np.fromiter(column, dtype=np.int64) for name, column in numbers.items()}
    with np.errstate(over="ignore"):
        columns = {
            **{name: to_base64(column, "<i4") for name, column in whole.items() if (column >= 0).any()},
            **{name: to_base64(column, "<f4") for name, column in measures.items() if np.isfinite(column).any()},
        }
    kinds = to_base64([KINDS.index(clash.kind) for clash in clashes], "u1")
    statuses = to_base64([STATUSES.index(clash.status) for clash in clashes], "u1")
    return {
        "ids": [clash.id for clash in clashes],
        "columns": columns | {"kind": kinds, "status": statuses},
        "kinds": KINDS,
        "statuses": STATUSES,
        "groups": list(groups),
        "notes": list(notes),
        "causes": [[names[cause.part], len(cause.ids)] for cause in causes],
    }


def places(clashes: Sequence[Clash], names: Mapping[str, int], frame: Frame) -> Array:
    """Return where the findings are in the page, (n, 3); nan where that is not known."""
    nowhere = (nan, nan, nan)
    points = (next((p for p in (c.point, c.point_a, c.point_b) if p is not None), nowhere) for c in clashes)
    at = np.array([*points, nowhere])
    part = np.array([*(names.get(clash.a or clash.b, -1) for clash in clashes), -1])
    middles = np.vstack([frame.boxes.mean(axis=1), [nowhere]])[part]
    found: Array = (np.where(np.isfinite(at).all(axis=1)[:, None], at, middles)[:-1] - frame.center) / frame.size
    return found


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the fields of rows as columns, None where a row lacks one."""
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}


def _row(clash: Clash, size: float, sentences: dict[str, int]) -> dict[str, Any]:
    """Return what the page shows and its words do not tell; points at which the distance is not are left out."""
    digits = min(300, max(0, 9 - floor(log10(size))))
    row: dict[str, Any] = {
        "severity": clash.severity,
        "distance": clash.distance,
        "evidence": clash.evidence,
        "decided": sentences.setdefault(decided(clash), len(sentences)),
        "time": clash.time,
        "intervals": clash.intervals or None,
        "mtv": _finite(clash.mtv if any(clash.mtv or ()) else None, lambda x: float(f"{x:.9g}")),
        "point": _finite(clash.point, lambda x: round(x, digits)),
    }
    if _consistent(clash, size):
        row["point_a"], row["point_b"] = (
            _finite(p, lambda x: round(x, digits)) for p in (clash.point_a, clash.point_b)
        )
        row["normal"] = _finite(clash.normal, lambda x: round(x, 7))
    if extent := _extent(clash):
        row["reach"] = float(f"{0.5 * hypot(*extent):.6g}")
    return row


def _consistent(clash: Clash, size: float) -> bool:
    """Whether the two points are those of the distance: of points that were found on hulls only the place is true."""
    if clash.point_a is None or clash.point_b is None or clash.distance is None:
        return False
    apart = dist(clash.point_a, clash.point_b)
    return abs(apart - abs(clash.distance)) <= 0.01 * apart + 1e-6 * size


def _finite(vector: Sequence[float] | None, rounded: Callable[[float], float]) -> list[float] | None:
    return None if vector is None or not all(map(isfinite, vector)) else [rounded(x) for x in vector]


def _extent(clash: Clash) -> list[float] | None:
    """Return how long, wide and high what both parts fill is."""
    if clash.overlap_box is None:
        return None
    low, high = clash.overlap_box
    return _finite([high[k] - low[k] for k in range(3)], float)


def _told(clash: Clash, report: Report) -> dict[str, str]:
    """Return the numbers as the page writes them: its scripts round none that has bounds."""
    unit = report.unit
    below = ", negative is overlap" if (clash.distance or 0.0) < 0.0 else ""
    extent = _extent(clash)
    told = {
        "brief": brief(clash),
        "inside": inside(clash),
        "distance": distance(clash, unit=unit) + below,
        "depth": depth(clash, unit=unit),
        "way": way_out(clash, unit=unit) if clash.depth else "",
        "error": "" if clash.error_bound is None else with_unit(above(clash.error_bound, 2), unit),
        "volume": shared_volume(clash),
        "extent": with_unit(" × ".join(number(x, 6) for x in extent), unit) if extent else "",
        "hulls": with_unit(number(clash.convex_gap, 6), unit) if clash.convex_gap else "",
        "when": when(clash, report),
    }
    return {label: text for label, text in told.items() if text}
