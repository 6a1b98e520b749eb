"""Which parts explain the findings: one part that was moved may be in twenty of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from gjk3d.clash.finding import Clash, Vector
from gjk3d.clash.parts import order
from gjk3d.clash.report import PartRow, Report
from gjk3d.wording import count, number, with_unit

#: Kinds that something has to be done about; what touches, touches by design.
KINDS = ("hard", "contained", "duplicate", "clearance")
_FEWEST = 3  #: findings that a part must be in to be a cause
_MOST = 20  #: causes that are told


@dataclass(frozen=True, slots=True)
class Cause:
    """A part that several findings have in common.

    Attributes
    ----------
    part : str
        Its name.
    ids : tuple of str
        The ids of the findings that it explains, the worst first.
    moved : (3,) float or None
        By how much its box moved since the baseline, its size unchanged; None where it did not, or nothing is known.
    """

    part: str
    ids: tuple[str, ...]
    moved: Vector | None = None


def causes(clashes: Collection[Clash], moved: dict[str, Vector] | None = None) -> list[Cause]:
    """Return the parts that explain most findings, so that each finding has one cause at most.

    Of the findings that are left the part that is in most of them is taken, one that moved before others, again and
    again: the greedy cover of a graph by its vertices (Chvatal 1979), whose edges are the findings.

    Parameters
    ----------
    clashes : collection of Clash
        Of any kind and status; open ones of kinds that have to be mended count.
    moved : dict of str to (3,) float, optional
        The parts that moved since the baseline.

    Returns
    -------
    list of Cause
        The one that explains most comes first; none explains fewer than three.

    Examples
    --------
    >>> import gjk3d as gk
    >>> plate = gk.Box((9, 9, 1)).surface()
    >>> pin = gk.Box((1, 1, 1)).surface()
    >>> parts = {f"pin {k}": gk.Mesh(pin.vertices + (2 * k, 0, 0.5), pin.faces) for k in range(4)}
    >>> report = gk.clash.check(gk.clash.Assembly.of(parts | {"plate": gk.Mesh(*plate[:2])}, "mm"))
    >>> [(cause.part, len(cause.ids)) for cause in gk.clash.causes.causes(report.clashes)]
    [('plate', 3)]
    """
    moved = moved or {}
    left = [clash for clash in clashes if clash.is_open and clash.kind in KINDS and clash.b]
    # what was there before a part moved is not explained by that
    found = _cover([clash for clash in left if clash.status == "new"], moved.keys()) if moved else []
    explained = {ident for cause in found for ident in cause.ids}
    found += _cover([clash for clash in left if clash.id not in explained], None)
    found = [Cause(cause.part, cause.ids, moved.get(cause.part)) for cause in found[:_MOST]]
    return sorted(found, key=lambda cause: (-len(cause.ids), order(cause.part)))


def _cover(clashes: list[Clash], among: Collection[str] | None) -> list[Cause]:
    at: dict[str, list[Clash]] = {}
    for clash in clashes:
        for name in (clash.a, clash.b):
            at.setdefault(name, []).append(clash)
    left = Counter({name: len(members) for name, members in at.items() if among is None or name in among})
    explained: set[str] = set()
    found: list[Cause] = []
    due = [(-many, order(name), name) for name, many in left.items() if many >= _FEWEST]
    heapify(due)
    while due and len(found) < _MOST:
        many, place, part = heappop(due)
        if left[part] < -many:  # fewer are left than when it was put there
            if left[part] >= _FEWEST:
                heappush(due, (-left[part], place, part))
            continue
        mine = [clash for clash in at[part] if clash.id not in explained]
        explained.update(clash.id for clash in mine)
        left.subtract(name for clash in mine for name in (clash.a, clash.b) if name in left)
        found.append(Cause(part, tuple(clash.id for clash in mine)))
    return found


def moves(before: Collection[PartRow], after: Collection[PartRow], tolerance: float) -> dict[str, Vector]:
    """Return the parts whose boxes moved, and kept their size, from one report to a later one, and by how much.

    Parameters
    ----------
    before, after : collection of PartRow
        The parts of both, in one unit.
    tolerance : float
        What is less is no move.
    """
    old = {part.name: np.array(part.bounds) for part in before if part.bounds is not None}
    found = {}
    for part in after:
        if part.bounds is None or part.name not in old:
            continue
        shift = np.array(part.bounds) - old[part.name]
        if np.abs(shift[1] - shift[0]).max() <= tolerance < np.abs(shift).max():
            x, y, z = shift.mean(axis=0).tolist()
            found[part.name] = (x, y, z)
    return found


def told(report: Report) -> tuple[str, ...]:
    """Say of each part that moved what it explains, and of a part that is in most findings how many these are."""
    unit, factor = report.reading
    total = sum(clash.is_open and clash.kind in KINDS and bool(clash.b) for clash in report.clashes)
    lines = []
    for k, cause in enumerate(report.causes):
        share = f"{len(cause.ids)} of {count(total, 'finding')}"
        if cause.moved is not None:
            way = ", ".join(number(factor * x, 4) for x in cause.moved)
            lines.append(f"{cause.part} moved by {with_unit(f'({way})', unit)} since the baseline: {share} are its")
        elif k == 0 and 2 * len(cause.ids) > total:
            lines.append(f"{cause.part} is in {share}: look at it first")
    return tuple(lines)
