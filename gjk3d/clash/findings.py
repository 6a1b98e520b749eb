"""The findings of a run: kept, ranked, grouped, and compared with those of an earlier report."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.clash.clashes import Clashes, Names, objects
from gjk3d.clash.finding import KINDS, Clash
from gjk3d.clash.report import BY_DEFAULT, SCHEMA_VERSION, Report
from gjk3d.clash.report_file import is_count, is_number, read_clashes, read_inputs, read_parts, read_record
from gjk3d.errors import FileError, ParseError
from gjk3d.geometry.components import connected
from gjk3d.typing import Array, Ints
from gjk3d.units import conversion

_NEIGHBOURS = 8
#: Findings are grouped with their like: what must be mended, what lies on one another, what is close.
_CLASSES = {"hard": 0, "contained": 0, "duplicate": 0, "unchecked": 1, "touch": 2, "clearance": 3}


def ranked(clashes: Iterable[Clash], groups: Sequence[str]) -> Clashes:
    """Return the findings in order, the worst first, each with its rank and the group that is given for it."""
    found = Clashes.of(clashes)
    order = found.worst_first()
    columns = found.take(order).columns
    return Clashes(found.parts, columns | {"severity": np.arange(1, len(order) + 1), "group": objects(groups)[order]})


def grouped(clashes: Clashes, sizes: Mapping[str, float]) -> list[str]:
    """Return the names of the findings' groups.

    Two belong together if they are of like kind, share a part, and lie no farther apart than the size of the larger of
    their smaller parts; a group is called after the part that most of its findings have.
    """
    if not len(clashes):
        return []
    known = clashes.columns
    # the two parts of each finding, by number; what has one part has it twice
    both = np.column_stack([known["a"], np.where(known["b"] < 0, known["a"], known["b"])])
    size = np.array([sizes.get(name, inf) for name in clashes.parts.names])
    points, kinds = known["point"], np.array([_CLASSES[kind] for kind in KINDS])[known["kind"]]
    placed = np.flatnonzero(~np.isnan(points[:, 0]))
    near = placed[_near(both[placed], kinds[placed], points[placed], size[both[placed]].min(axis=1))]
    joined = connected(near[:, 0], near[:, 1], len(clashes))
    _, first, group = np.unique(joined, return_index=True, return_inverse=True)
    names = clashes.parts.names[_naming(both, group.ravel(), clashes.parts.places, size)].tolist()
    seen = Counter[str]()
    for k in np.argsort(first).tolist():
        seen[names[k]] += 1
        if seen[names[k]] > 1:
            names[k] = f"{names[k]} ({seen[names[k]]})"
    return [names[k] for k in group.ravel().tolist()]


def _near(both: Ints, kinds: Ints, points: Array, reach: Array) -> Ints:
    """Return pairs of findings that are near each other: each with its nearest few, which joins a chain of them.

    ``both`` are the parts of each, (n, 2), ``reach`` how near is near.
    """
    finding = np.concatenate([np.arange(len(both)), np.flatnonzero(both[:, 0] != both[:, 1])])
    part = np.concatenate([both[:, 0], both[both[:, 0] != both[:, 1], 1]])
    like = part * len(_CLASSES) + kinds[finding]
    order = np.lexsort((finding, like))
    finding, ends = finding[order], np.flatnonzero(np.diff(like[order], append=-1)) + 1
    starts = np.concatenate([[0], ends[:-1]])
    found = [np.zeros((0, 2), dtype=np.int64)]
    counts = ends - starts
    for count in np.unique(counts[counts > 1]).tolist():
        members = finding[starts[counts == count, None] + np.arange(count)]  # of all that have so many
        if count <= _NEIGHBOURS + 1:  # every other one is among the nearest
            found += [members[:, [i, j]] for i, j in combinations(range(count), 2)]
            continue
        from scipy.spatial import cKDTree

        for row in members:
            _, others = cKDTree(points[row]).query(points[row], k=_NEIGHBOURS + 1)
            found.append(np.stack([np.repeat(row, _NEIGHBOURS + 1), row[others].ravel()], axis=1))
    pairs = np.concatenate(found)
    gap = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    close: Ints = pairs[gap <= reach[pairs].max(axis=1)]
    return close


def _naming(both: Ints, group: Ints, places: Ints, size: Array) -> Ints:
    """Return the part that each group is called after: the one that most findings have, of several the smallest."""
    two = both[:, 0] != both[:, 1]
    part, where = np.concatenate([both[:, 0], both[two, 1]]), np.concatenate([group, group[two]])
    keys, counts = np.unique(where * len(places) + part, return_counts=True)
    where, part = np.divmod(keys, len(places))
    best = np.lexsort((places[part], size[part], -counts, where))
    _, first = np.unique(where[best], return_index=True)
    naming: Ints = part[best[first]]
    return naming


_SPARE = 1024  #: findings beyond the most, before they are sorted and cut again


class Findings:
    """Holds what a run finds.

    Parameters
    ----------
    parts : Names
        Of the parts.
    most : int, optional
        Keep so many, the worst; the others are counted. All without it.
    watched : collection of str
        Ids of which to remember that they were found.
    found : callable, optional
        Told of each finding.
    """

    def __init__(
        self, parts: Names, most: int | None, watched: Collection[str], found: Callable[[Clash], None] | None = None
    ) -> None:
        self.count = 0
        self.seen: set[str] = set()
        self._parts = parts
        self._most = most
        self._watched = watched
        self.found = found
        self._many: list[Clashes] = []
        self._left_out: Counter[tuple[str, str]] = Counter()

    def add(self, clashes: Clashes, pairs: Iterable[bool], step: Callable[[], None] = lambda: None) -> None:
        """Keep or count findings, and tell of them: one of each of the pairs that have one.

        ``step`` is called after each pair; where it raises, what was told by then is kept.
        """
        each, before = iter(clashes), self.count
        try:
            for has_one in pairs:
                if has_one:
                    self.count += 1
                    if self.found is not None:
                        self.found(next(each))
                step()
        finally:
            told = self.count - before
            self._add(clashes if told == len(clashes) else clashes.take(slice(told)))

    def _add(self, clashes: Clashes) -> None:
        if self._watched:
            self.seen.update(ident for ident in clashes.ids() if ident in self._watched)
        self._many += [clashes] * (len(clashes) > 0)
        if self._most is not None and sum(map(len, self._many)) > self._most + _SPARE:
            self._cut(self._most)

    @property
    def kept(self) -> Clashes:
        """The findings that were kept."""
        self._cut(self._most)
        return self._many[0]

    @property
    def left_out(self) -> dict[str, dict[str, int]]:
        """How many others there are, by status and kind."""
        self._cut(self._most)
        result: dict[str, dict[str, int]] = {}
        for (status, kind), count in sorted(self._left_out.items()):
            result.setdefault(status, {})[kind] = count
        return result

    def _cut(self, most: int | None) -> None:
        """Make one of what is kept."""
        found = Clashes.all(self._parts, self._many)
        if most is not None and len(found) > most:
            order = found.worst_first()
            self._left_out += found.take(order[most:]).counts()
            found = found.take(order[:most])
        self._many = [found]


_LENGTHS = (
    "distance", "depth", "mtv", "point_a", "point_b", "point", "overlap_box", "error_bound", "tolerance", "convex_gap",
    "penetration", "least",
)  # fmt: skip


def read_baseline(given: str | os.PathLike[str] | Report | None) -> Report | None:
    """Return an earlier report, read from its JSON file where a path is given, without the parts' triangles."""
    if given is None:
        return None
    if isinstance(given, Report):
        if given.left_out:
            raise ParseError("the baseline has only the worst of its findings, so it cannot tell what is new")
        return given
    path = Path(given)
    if not os.path.isfile(path):
        raise FileError(f"there is no report {path}: write one with gjk3d clash MODELS -f json -o {path}")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{path} is no JSON: {str(error)[:200]}") from None
    if not isinstance(document, dict) or document.get("command") != "clash":
        raise ParseError(f"{path} is no report of gjk3d clash: write one with -f json")
    version = document.get("schema_version")
    if not is_count(version) or version != SCHEMA_VERSION:
        said = json.dumps(version)[:60]
        raise ParseError(
            f"{path} is of schema version {said}, this gjk3d reads the number {SCHEMA_VERSION}: make it anew"
        )
    rows, clearance, tolerance = (document.get(key) for key in ("clashes", "clearance", "tolerance"))
    if not isinstance(rows, list) or not is_number(clearance) or not is_number(tolerance):
        raise ParseError(f"{path} lacks its clashes, clearance or tolerance: it is damaged")
    if document.get("left_out"):
        raise ParseError(f"{path} has only the worst of its findings, so it cannot tell what is new: keep all of them")
    unit = document.get("unit")
    if unit is not None and not (isinstance(unit, str) and unit.isascii()):
        raise ParseError(f"{path} has the unit {str(unit)[:60]!r}: it is damaged")
    settings, elapsed = document.get("settings"), document.get("elapsed")
    total, close, tested = (
        many if is_count(many := document.get(f"pairs_{what}")) else 0 for what in ("total", "close", "tested")
    )
    return Report(
        read_clashes(rows, str(path)),
        unit=unit,
        clearance=float(clearance),
        tolerance=float(tolerance),
        pairs_close=close,
        pairs_tested=tested,
        elapsed=elapsed if is_number(elapsed) else 0.0,
        complete=document.get("complete") is not False,
        settings=settings if isinstance(settings, dict) else {},
        parts=read_parts(document.get("parts", []), str(path)),
        inputs=read_inputs(document.get("inputs", []), str(path)),
        motion=read_record(document.get("motion"), str(path)),
        pairs_total=total,
    )


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
        clashes=tuple(converted(clash, factor, str(before.unit)) for clash in before.clashes),
        parts=tuple(replace(part, bounds=_times(part.bounds, factor)) for part in before.parts),
        unit=unit,
        clearance=before.clearance * factor,
        tolerance=before.tolerance * factor,
        motion=None if before.motion is None else before.motion.scaled(factor),
    )


def _in(unit: str | None) -> str:
    return "states no unit" if unit is None else f"is in {unit}"


def converted(clash: Clash, factor: float, unit: str | None) -> Clash:
    """Return a finding with its lengths, in a unit, multiplied; those that are words in its note are told by it."""
    if factor == 1.0:
        return clash
    values = {name: _times(getattr(clash, name), factor) for name in _LENGTHS}
    values["overlap_volume"] = _times(clash.overlap_volume, factor**3)
    if any(c.isdigit() for c in clash.note):  # its lengths are words by now
        values["note"] = f"{clash.note} (in {unit})"
    return replace(clash, **values)


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, tuple):
        return tuple(_times(item, factor) for item in value)
    return None if value is None else value * factor


def readable(report: Report) -> Report:
    """Return a report in the unit in which it is read; its parts' triangles stay as they are."""
    return in_unit(report, report.reading[0], "this", "this")


def differences(before: Report, after: Report) -> list[tuple[str, str]]:
    """Return the limits, as words, in which an earlier report, in the same unit already, differs from a later one."""
    ending = f" {after.unit}" if after.unit else ""
    limits = [("clearance", before.clearance, after.clearance)]
    sources = {report.settings.get("tolerance_from") for report in (before, after)}
    if sources != {BY_DEFAULT}:  # by one rule from the parts; only the largest of them is told of the whole
        limits.append(("tolerance", before.tolerance, after.tolerance))
    told = [
        (f"{what} {old:.7g}{ending}", f"{new:.7g}{ending}")
        for what, old, new in limits
        if not math.isclose(old, new, rel_tol=1e-6)
    ]
    moved = ["no motion" if report.motion is None else "a motion" for report in (before, after)]
    return [*told, *[(moved[0], moved[1])][: int(moved[0] != moved[1])]]


def known(before: Report | None) -> frozenset[str]:
    """Return the ids of the findings of an earlier report, also of those approved or ignored there, as in `gjk3d diff`.

    What was resolved there is new when it is there again.
    """
    return frozenset(clash.id for clash in before.clashes if clash.status != "resolved") if before else frozenset()


def missing(before: Report, here: Collection[str], checked: Callable[[str, str], bool]) -> list[Clash]:
    """Return the open findings of before that are there no more.

    ``here`` holds the ids of those of before that were found again. ``checked`` tells of two names whether that pair
    was looked at this time, or a part of it is gone; what was not looked at is not resolved.
    """
    return [
        replace(clash, status="resolved", group="")
        if checked(clash.a, clash.b)
        else replace(clash, status="active", note="not looked at this time: as in the baseline")
        for clash in before.clashes
        if clash.is_open and clash.id not in here
    ]
