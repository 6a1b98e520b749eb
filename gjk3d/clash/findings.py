"""The findings of a run as they come: all of them, or the worst few and a count of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from gjk3d.clash.ranking import rank
from gjk3d.clash.report import Clash

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
