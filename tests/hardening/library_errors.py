"""The errors of coal and python-fcl relative to the proven intervals, as a table in Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

OURS, COAL, COAL_FINE, FCL = "gjk3d", "coal", "coal, tolerance 1e-12", "python-fcl"
CLEAR = 1e-6  #: relative to the size: booleans of pairs that are nearer to touching do not count as wrong

_HEAD = ("library", "pairs", "interval", "asked", "worst error / size", "error > 1e-6", "error > 1e-3")
_TAIL = ("wrong booleans", "exceptions", "NaN, inf", "hung, crashed")


@dataclass
class Count:
    """The results of one library for pairs of one kind."""

    asked: int = 0
    worst: float = 0.0
    off: int = 0
    far_off: int = 0
    wrong: int = 0
    raised: int = 0
    nan: int = 0
    lost: int = 0

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        counts = (self.off, self.far_off, self.wrong, self.raised, self.nan, self.lost)
        return [f"{self.asked}", f"{self.worst:.1e}", *map(str, counts)]


class Versus:
    """The results of every library, by random or adversarial pairs and by the sign of the proven interval."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str, str], Count] = {}

    def add(self, peer: str, name: str, interval: tuple[float, float], size: float, answer: Any) -> None:
        """Count one result: value and boolean, "lost", or the text of an exception. With coal, also count our own."""
        if not size > 0.0:
            return
        lower, upper = interval
        drawn = "random" if name.startswith("random") else "adversarial"
        side = "apart" if lower > 0.0 else "overlapping" if upper < 0.0 else "touching"
        if peer == COAL:
            self._take(OURS, drawn, side, (upper - lower) / size)
        count = self.counts.setdefault((peer, drawn, side), Count())
        if not isinstance(answer, tuple):
            count.asked += 1
            count.lost += answer == "lost"
            count.raised += answer != "lost"
            return
        value, hit = answer
        self._take(peer, drawn, side, max(lower - value, value - upper, 0.0) / size if abs(value) < 1e300 else inf)
        if max(lower, -upper) > CLEAR * size:
            count.wrong += hit != (upper < 0.0)

    def _take(self, library: str, drawn: str, side: str, error: float) -> None:
        count = self.counts.setdefault((library, drawn, side), Count())
        count.asked += 1
        if error == inf:
            count.nan += 1
            return
        count.worst = max(count.worst, error)
        count.off += error > 1e-6
        count.far_off += error > 1e-3

    def markdown(self) -> str:
        """Return the table. Our rows show the widths of the proven intervals, for the pairs that coal supports."""
        order = {name: k for k, name in enumerate((OURS, COAL, COAL_FINE, FCL, "random", "adversarial"))}
        keys = sorted(self.counts, key=lambda key: (key[1] != "random", key[2], order[key[0]]))
        lines = [[*_HEAD, *_TAIL], ["---", "---", "---", *["---:"] * 8]]
        lines += [[*key, *self.counts[key].cells()] for key in keys]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
