"""Which parts explain the findings: one part that was moved may be in twenty of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from gjk3d.clash.clashes import Clashes
from gjk3d.clash.finding import KINDS as every
from gjk3d.clash.finding import STATUSES, Clash, Vector
from gjk3d.clash.parts import order
from gjk3d.clash.report import PartRow, Report
from gjk3d.typing import Bools, Ints
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
    given, moved = Clashes.of(clashes), moved or {}
    left, found = _to_mend(given), []
    if moved:  # what was there before a part moved is not explained by that
        new = left & (given.columns["status"] == STATUSES.index("new"))
        found = _cover(given, new, np.array([name in moved for name in given.parts.names]))
    for _, rows in found:
        left[rows] = False
    found += _cover(given, left, None)
    names = given.parts.names
    told = [Cause(names[part], tuple(given.ids(rows)), moved.get(names[part])) for part, rows in found[:_MOST]]
    return sorted(told, key=lambda cause: (-len(cause.ids), order(cause.part)))


def _to_mend(clashes: Clashes) -> Bools:
    """Return which of them are of two parts, open, and of kinds that something has to be done about."""
    kinds: Bools = np.isin(clashes.columns["kind"], [every.index(kind) for kind in KINDS])
    return kinds & clashes.is_open & (clashes.columns["b"] >= 0)


def _cover(clashes: Clashes, left: Bools, among: Bools | None) -> list[tuple[int, Ints]]:
    """Return parts, of all or among some, and which of those that are left each explains."""
    both, places = np.stack([clashes.columns["a"], clashes.columns["b"]]), clashes.parts.places
    counts = np.bincount(both[:, left].ravel(), minlength=len(places))
    if among is not None:
        counts[~among] = 0
    found: list[tuple[int, Ints]] = []
    while len(found) < _MOST and (most := counts.max()) >= _FEWEST:
        best = np.flatnonzero(counts == most)
        part = best.item(places[best].argmin())
        mine = np.flatnonzero(left & (both == part).any(axis=0))
        left = left & (both != part).all(axis=0)
        np.subtract.at(counts, both[:, mine].ravel(), 1)
        found.append((part, mine))
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
    total = int(_to_mend(Clashes.of(report.clashes)).sum())
    lines = []
    for k, cause in enumerate(report.causes):
        share = f"{len(cause.ids)} of {count(total, 'finding')}"
        if cause.moved is not None:
            way = ", ".join(number(factor * x, 4) for x in cause.moved)
            lines.append(f"{cause.part} moved by {with_unit(f'({way})', unit)} since the baseline: {share} are its")
        elif k == 0 and 2 * len(cause.ids) > total:
            lines.append(f"{cause.part} is in {share}: look at it first")
    return tuple(lines)
