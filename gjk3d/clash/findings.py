"""The findings of a run as they come, the order of them, and which of them belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from gjk3d.clash.assembly import order
from gjk3d.clash.report import KINDS, STATUSES, Clash

_NEIGHBOURS = 8
#: Findings are grouped with their like: what must be mended, what lies on one another, what is close.
_CLASSES = {"hard": 0, "contained": 0, "duplicate": 0, "unchecked": 1, "touch": 2, "clearance": 3}


def rank(clash: Clash) -> tuple[object, ...]:
    """Return what findings are sorted by: kind, then the deepest or nearest first; what is not open at the end."""
    distance = inf if clash.distance is None else clash.distance
    place = 0 if clash.is_open else STATUSES.index(clash.status)
    return place, KINDS.index(clash.kind), distance, order(clash.a), order(clash.b)


def ranked(clashes: Sequence[Clash]) -> tuple[Clash, ...]:
    """Return the findings in order, the worst first, each with its rank."""
    return tuple(replace(clash, severity=k + 1) for k, clash in enumerate(sorted(clashes, key=rank)))


def grouped(clashes: Sequence[Clash], sizes: Mapping[str, float]) -> list[Clash]:
    """Return the findings with the names of their groups.

    Two belong together if they are of like kind, share a part, and lie no farther apart than the size of the larger of
    their smaller parts; a group is called after the part that most of its findings have.
    """
    reach = [min(sizes.get(c.a, inf), sizes.get(c.b, inf)) for c in clashes]
    by_part: dict[tuple[str, int], list[int]] = {}
    for k, clash in enumerate(clashes):
        for name in {clash.a, clash.b} - {""}:
            by_part.setdefault((name, _CLASSES[clash.kind]), []).append(k)
    root = list(range(len(clashes)))

    def find(k: int) -> int:
        while root[k] != k:
            root[k] = root[root[k]]
            k = root[k]
        return k

    for members in by_part.values():
        for i, j in _near([clashes[k] for k in members], [reach[k] for k in members]):
            first, second = sorted((find(members[i]), find(members[j])))
            root[second] = first
    groups: dict[int, list[int]] = {}
    for k in range(len(clashes)):
        groups.setdefault(find(k), []).append(k)
    names = _names([[clashes[k] for k in members] for members in groups.values()], sizes)
    result = list(clashes)
    for members, name in zip(groups.values(), names, strict=True):
        for k in members:
            result[k] = replace(clashes[k], group=name)
    return result


def _near(clashes: Sequence[Clash], reach: Sequence[float]) -> list[tuple[int, int]]:
    """Return pairs of findings that are near each other: each with its nearest few, which joins a chain of them."""
    placed = [k for k, clash in enumerate(clashes) if clash.point is not None]
    if len(placed) < 2:
        return []
    from scipy.spatial import cKDTree

    points = np.array([clashes[k].point for k in placed])
    gaps, others = cKDTree(points).query(points, k=min(_NEIGHBOURS + 1, len(points)))
    return [
        (placed[i], placed[j])
        for i, (row, columns) in enumerate(zip(gaps, others, strict=True))
        for gap, j in zip(row, columns, strict=True)
        if i != j and gap <= max(reach[placed[i]], reach[placed[j]])
    ]


def _names(groups: Sequence[Sequence[Clash]], sizes: Mapping[str, float]) -> list[str]:
    """Return a name for each group: the part that most findings have, of several the smallest; numbered where equal."""
    names, seen = [], Counter[str]()
    for members in groups:
        count = Counter(name for clash in members for name in (clash.a, clash.b) if name)
        name = min(count, key=lambda part: (-count[part], sizes.get(part, inf), order(part)))
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


_SPARE = 1024  #: findings beyond the most, before they are sorted and cut again


class Findings:
    """Holds what a run finds.

    Parameters
    ----------
    most : int, optional
        Keep so many, the worst; the others are counted. All without it.
    watched : collection of str
        Ids of which to remember that they were found.
    found : callable, optional
        Told of each finding.
    """

    def __init__(
        self, most: int | None, watched: Collection[str], found: Callable[[Clash], None] | None = None
    ) -> None:
        self.most = most
        self.count = 0
        self.seen: set[str] = set()
        self._watched = watched
        self._found = found
        self._kept: list[Clash] = []
        self._left_out: Counter[tuple[str, str]] = Counter()

    def add(self, clash: Clash) -> None:
        """Keep or count one finding, and tell of it."""
        self.count += 1
        if clash.id in self._watched:
            self.seen.add(clash.id)
        self._kept.append(clash)
        if self.most is not None and len(self._kept) > self.most + min(self.most, _SPARE):
            self._cut()
        if self._found is not None:
            self._found(clash)

    @property
    def kept(self) -> list[Clash]:
        """The findings that were kept."""
        self._cut()
        return list(self._kept)

    @property
    def left_out(self) -> dict[str, dict[str, int]]:
        """How many others there are, by status and kind."""
        self._cut()
        result: dict[str, dict[str, int]] = {}
        for (status, kind), count in sorted(self._left_out.items()):
            result.setdefault(status, {})[kind] = count
        return result

    def _cut(self) -> None:
        if self.most is None or len(self._kept) <= self.most:
            return
        self._kept.sort(key=rank)
        self._left_out.update((clash.status, clash.kind) for clash in self._kept[self.most :])
        del self._kept[self.most :]
