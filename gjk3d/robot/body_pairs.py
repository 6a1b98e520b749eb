"""Kernels for the pairs of a body (mesh, cloud, height field) and a convex shape at many configurations.

`gjk3d.robot.walk` decides whether a configuration is free. Here are contacts of chosen pairs, and distances.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from gjk3d._kernels.decorators import entry, kernel, plain
from gjk3d.bodies.part_tree import OPEN, PRISMS
from gjk3d.bodies.tree_collision import APART, DOUBT, MEET, PosedPair, TreeScratch, held, meet
from gjk3d.bodies.tree_distance import NearestParts, into_world, nearest, report_gap, share_of
from gjk3d.narrow.pairs import mirror
from gjk3d.robot.kinematics import Chain, link_poses
from gjk3d.robot.walk import Bodies, Frames, Layout, free_of_body, place, posed
from gjk3d.robot.walk import nearest as nearest_of
from gjk3d.typing import Array1, Array2, Array3, Ints, Ints1, Ints2


@kernel
def placed_pair(layout: Layout, frames: Frames, bodies: Bodies, n: int, now: int) -> PosedPair:
    """Return the two trees of a pair at the configuration ``now``, the body first."""
    place(layout, frames, bodies.pairs[n, 0], now)
    place(layout, frames, bodies.pairs[n, 1], now)
    return posed(layout, frames, bodies, n)


@kernel
def nearest_or_contact(
    pair: PosedPair, most: float, margin: float, share: float, first: int, w: TreeScratch
) -> tuple[int, NearestParts]:
    """Return APART if a body and its guest are proven apart, and their nearest parts as `nearest` does.

    MEET and HELD are certain. DOUBT is left to the exact functions of two shapes.
    """
    w.last[0] = -1
    gap = nearest(pair, most, margin, share, first, w)
    if not min(gap.lowest, gap.upper) > pair.error:
        return MEET if gap.upper <= 0.0 else DOUBT, gap
    if pair.a.kind == PRISMS:
        return meet(pair, 0.0, w), gap
    # a gap between the surfaces proves nothing for a closed body: the guest may lie inside it
    return held(pair, w) if pair.a.inside != OPEN else APART, gap


class Search(NamedTuple):
    """Limits of a search for distances, and its results."""

    most: Array1  #: of each selected row
    best: Array1  #: the least distance of each configuration so far
    least: bool  #: whether only pairs that lower ``best`` are of interest, and ``best`` follows them
    bounds: Array1  #: of each selected row, scratch
    out: Array3  #: (configurations, rows, 12), as rows of `solve`
    answer: Ints2  #: APART if a row is valid


@kernel
def _gap(layout: Layout, frames: Frames, bodies: Bodies, p: int, limit: float, search: Search, k: int, n: int) -> None:
    """Write the distance of a placed pair up to a limit, and its verdict."""
    pair, w, flags = posed(layout, frames, bodies, p), bodies.scratch, bodies.scratch.flags
    search.answer[k, n], gap = nearest_or_contact(pair, limit, 0.0, 1.0, plain(-1), w)
    if search.answer[k, n] != APART:
        return
    row = search.out[k, n : n + 1]
    report_gap(pair, gap, limit, limit * (1.0 + 2.0**-52) + 1e-300, w, row, flags, plain(0))
    if flags[0, 3] != 0:
        search.answer[k, n] = DOUBT
        return
    into_world(frames.rows[bodies.pairs[p, 0]], row, plain(0))
    if bodies.pairs[p, 2] != 0:  # the row was computed with the body first
        mirror(row, plain(0))


@kernel
def _least_gap(layout: Layout, frames: Frames, bodies: Bodies, selected: Ints, search: Search, k: int) -> None:
    """Write the distances of placed pairs, nearest bound first; a pair beyond the best gets its bound only."""
    count, bounds = selected.shape[0], search.bounds
    for n in range(count):
        bounds[n] = free_of_body(frames, bodies, selected[n], 0.0, min(search.best[k], 1e50))
    for _ in range(count):
        n = nearest_of(bounds, plain(0), count, inf)
        if bounds[n] > max(search.best[k], 0.0):
            for m in range(count):
                if bounds[m] < inf:
                    search.out[k, m, 0] = search.out[k, m, 1] = search.out[k, m, 2] = bounds[m]
                    search.answer[k, m] = APART
            return
        bounds[n] = inf
        limit = max(min(search.most[n], search.best[k]), 0.0)
        _gap(layout, frames, bodies, selected[n], limit, search, k, n)
        if search.answer[k, n] == APART:
            search.best[k] = min(search.best[k], search.out[k, n, 0])


@entry
def gaps_many(
    q: Array2, chain: Chain, layout: Layout, frames: Frames, bodies: Bodies, selected: Ints1, search: Search,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Write the distance of each selected row at configurations start to stop, and its verdict.

    The verdict is that of `nearest_or_contact`. A pair farther apart than its ``most``, or than ``best`` of the
    configuration, needs a lower bound only.
    """
    frames.stamp[:] = -1
    for k in range(start, stop):
        link_poses(chain, q[k], frames.matrix, frames.links)
        for n in range(selected.shape[0]):
            for side in range(2):
                place(layout, frames, bodies.pairs[selected[n], side], k)
        if search.least:
            _least_gap(layout, frames, bodies, selected, search, k)
            continue
        for n in range(selected.shape[0]):
            limit = max(min(search.most[n], search.best[k]), 0.0)
            _gap(layout, frames, bodies, selected[n], limit, search, k, n)


@kernel
def gap_bounds(
    layout: Layout, frames: Frames, bodies: Bodies, n: int, now: int, most: float, margin: float, share: float,
    first: int,
) -> tuple[float, float, int]:  # fmt: skip
    """Return bounds of the distance of a pair up to ``most``, the lower at least `share_of` it; 0 for a collision.

    The third value is the nearest part of the body, which may be ``first`` in the next call. Row 1 of the scratch's
    ``out`` has the nearest points in the world.
    """
    pair, w = placed_pair(layout, frames, bodies, n, now), bodies.scratch
    verdict, gap = nearest_or_contact(pair, most, margin, share, first, w)
    if verdict == APART:
        into_world(frames.rows[bodies.pairs[n, 0]], w.out, plain(1))
        # The floor of a motion has a slack of 128 (D + 1) u S (1 + W) for D joints in a row, the size S and the turns
        # W, and the error is at most 256 u S. The terms keep these bounds from depending on that.
        return min(gap.lowest, share_of(gap.upper, margin, share)) - pair.error, gap.upper + pair.error, gap.p
    return 0.0, 0.0 if verdict != DOUBT else gap.upper + pair.error, gap.p
