"""An earlier report to compare with: what is new, what is still there, what is gone."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gjk3d.clash.report import BY_DEFAULT, KINDS, SCHEMA_VERSION, STATUSES, Clash, Report
from gjk3d.clash.units import conversion
from gjk3d.errors import FileError, ParseError

_LENGTHS = (
    "distance", "depth", "mtv", "point_a", "point_b", "point", "overlap_box", "error_bound", "tolerance", "convex_gap",
)  # fmt: skip


def read_baseline(given: str | os.PathLike[str] | Report | None) -> Report | None:
    """Return an earlier report, read from its JSON file where a path is given; only its findings and limits matter."""
    if given is None:
        return None
    if isinstance(given, Report):
        if given.left_out:
            raise ParseError("the baseline has only the worst of its findings, so it cannot tell what is new")
        return given
    path = Path(given)
    if not path.is_file():
        raise FileError(f"there is no file {path} to compare with")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{path} is no JSON: {str(error)[:200]}") from None
    if not isinstance(document, dict) or document.get("command") != "clash":
        raise ParseError(f"{path} is no report of gjk3d clash: write one with -f json")
    if document.get("schema_version") != SCHEMA_VERSION:
        raise ParseError(
            f"{path} is of schema version {document.get('schema_version')!r}, this gjk3d reads {SCHEMA_VERSION}:"
            " make it anew"
        )
    rows, clearance, tolerance = (document.get(key) for key in ("clashes", "clearance", "tolerance"))
    if not isinstance(rows, list) or not isinstance(clearance, int | float) or not isinstance(tolerance, int | float):
        raise ParseError(f"{path} lacks its clashes, clearance or tolerance: it is damaged")
    if document.get("left_out"):
        raise ParseError(f"{path} has only the worst of its findings, so it cannot tell what is new: keep all of them")
    if not isinstance(document.get("unit"), str | None):
        raise ParseError(f"{path} has the unit {document['unit']!r}: it is damaged")
    clashes = tuple(_clash(row, f"{path}, clash {k + 1}") for k, row in enumerate(rows))
    settings, tested = document.get("settings"), document.get("pairs_tested")
    return Report(
        clashes,
        unit=document.get("unit"),
        clearance=float(clearance),
        tolerance=float(tolerance),
        pairs_tested=tested if isinstance(tested, int) else 0,
        complete=document.get("complete") is not False,
        settings=settings if isinstance(settings, dict) else {},
    )


def _clash(row: Any, where: str) -> Clash:
    texts = ("id", "kind", "status", "a", "b", "a_file", "b_file")
    if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in texts):
        raise ParseError(f"{where} lacks one of {', '.join(texts)}: the file is damaged")
    if row["kind"] not in KINDS or row["status"] not in STATUSES:
        raise ParseError(f"{where} has the kind {row['kind']!r} and the status {row['status']!r}: not of this version")
    if not all(_numbers(row.get(name)) for name in (*_LENGTHS, "overlap_volume")):
        raise ParseError(f"{where} has a length that is no number: the file is damaged")
    try:
        return Clash.from_dict(row)
    except TypeError as error:
        raise ParseError(f"{where} is damaged: {error}") from None


def in_unit(before: Report, unit: str | None, what: str, other: str) -> Report:
    """Return an earlier report with its lengths in a unit.

    Raises
    ------
    ParseError
        One of the units is unknown and the other is not, so that nothing can be compared.
    """
    if before.unit == unit:
        return before
    factor = None if before.unit is None or unit is None else conversion(before.unit, unit)
    if factor is None:
        raise ParseError(
            f"{what} {_in(before.unit)} and {other} {_in(unit)}: their lengths cannot be compared"
            " (make one of them anew, saying its unit: unit='mm' in Python, --unit mm on the command line)"
        )
    return replace(
        before,
        clashes=tuple(_scaled(clash, factor, str(before.unit)) for clash in before.clashes),
        unit=unit,
        clearance=before.clearance * factor,
        tolerance=before.tolerance * factor,
    )


def _in(unit: str | None) -> str:
    return "states no unit" if unit is None else f"is in {unit}"


def _scaled(clash: Clash, factor: float, unit: str) -> Clash:
    values = {name: _times(getattr(clash, name), factor) for name in _LENGTHS}
    values["overlap_volume"] = _times(clash.overlap_volume, factor**3)
    if any(c.isdigit() for c in clash.note):  # its lengths are words by now
        values["note"] = f"{clash.note} (in {unit})"
    return replace(clash, **values)


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, tuple):
        return tuple(_times(item, factor) for item in value)
    return None if value is None else value * factor


def differences(before: Report, after: Report) -> list[tuple[str, str]]:
    """Return the limits, as words, in which an earlier report, in the same unit already, differs from a later one."""
    ending = f" {after.unit}" if after.unit else ""
    limits = [("clearance", before.clearance, after.clearance)]
    sources = {report.settings.get("tolerance_from") for report in (before, after)}
    if sources != {BY_DEFAULT}:  # by one rule from the parts; only the largest of them is told of the whole
        limits.append(("tolerance", before.tolerance, after.tolerance))
    return [
        (f"{what} {old:.7g}{ending}", f"{new:.7g}{ending}")
        for what, old, new in limits
        if not math.isclose(old, new, rel_tol=1e-6)
    ]


def _numbers(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_numbers, value))
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def known(before: Report | None) -> frozenset[str]:
    """Return the ids of the findings that stood open in an earlier report.

    What was ignored there and is no more is new, as it is to ``gjk3d diff``: only its rule had accepted it.
    """
    return frozenset(clash.id for clash in before.clashes if clash.is_open) if before else frozenset()


def compared(
    clashes: Sequence[Clash], before: Report, here: Collection[str], checked: Callable[[str, str], bool]
) -> list[Clash]:
    """Return the findings, and behind them those of before that are there no more.

    ``here`` holds the ids of those of before that were found again. ``checked`` tells of two names whether that pair
    was looked at this time, or a part of it is gone; what was not looked at is not resolved.
    """
    result = list(clashes)
    for clash in before.clashes:
        if clash.is_open and clash.id not in here:
            if checked(clash.a, clash.b):
                result.append(replace(clash, status="resolved", group=""))
            else:
                result.append(replace(clash, status="active", note="not looked at this time: as in the baseline"))
    return result
