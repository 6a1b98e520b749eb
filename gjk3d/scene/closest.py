"""The k nearest pairs: the boxes say in which order to ask, and when no other pair can be nearer."""

from __future__ import annotations

from math import inf

import numpy as np

from gjk3d.scene.candidates import Candidates, wider
from gjk3d.scene.narrow import Answers, Narrow
from gjk3d.shapes.base import Array, Ints

_FIRST = 256  #: pairs asked at once to begin with


def nearest(candidates: Candidates, narrow: Narrow, count: int | None, within: float) -> Answers:
    """Return the nearest pairs, up to a distance; on ties of the last more than asked for, to be sorted by name.

    Pairs are asked in the order of the gaps between their boxes. The radius in which they are looked for grows from 0,
    where all that overlap are found, until it holds enough of them.
    """
    kept, worst = Answers.joined([]), within
    limit = wider(within)
    radius, before = limit if count is None else 0.0, -1.0
    # of objects spread evenly some pairs are nearer than this
    step = candidates.size / (3.0 * max(candidates.count, 1) ** (1.0 / 3.0)) / 8.0
    while True:
        pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *candidates.blocks(radius)])
        gaps = candidates.gaps(pairs)
        fresh = (gaps > before) & (gaps <= radius)
        kept, worst = _ask(pairs[fresh], gaps[fresh], narrow, count, kept, worst)
        enough = count is not None and len(kept) >= count
        if (enough and worst <= radius) or radius >= limit:
            return kept
        before = radius
        radius = wider(worst) if enough else max(2.0 * radius, step)
        if not 0.0 < radius <= candidates.size and not enough:
            radius = inf
        radius = min(radius, limit)


def _ask(
    pairs: Ints, gaps: Array, narrow: Narrow, count: int | None, kept: Answers, worst: float
) -> tuple[Answers, float]:
    """Ask pairs, the nearest boxes first; return the nearest so far, and how far the last that counts is."""
    order = np.argsort(gaps, kind="stable")
    start, size = 0, max(_FIRST, len(order) if count is None else count)
    while start < len(order) and gaps[order[start]] <= wider(max(worst, 0.0)):
        some = order[start : start + size]
        found = (
            narrow.distances_within(pairs[some], worst)
            if count is None
            else narrow.nearest_within(pairs[some], worst, count)
        )
        kept = Answers.joined([kept, found])
        if count is not None and len(kept) >= count:
            worst = min(worst, float(np.partition(kept.out[:, 0], count - 1)[count - 1]))
            kept = kept[kept.out[:, 0] <= worst]
        start += size
        size *= 2
    return kept, worst
