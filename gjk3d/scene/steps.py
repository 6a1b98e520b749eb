"""Pairs of a scene asked again: those whose boxes are near, from what the last step left of each."""

from __future__ import annotations

from typing import NamedTuple

from gjk3d._kernels.decorators import entry
from gjk3d.broad.nodes import HEIGHT
from gjk3d.broad.search import near
from gjk3d.narrow.again import proves_overlap, solve_from_cache, store_faces
from gjk3d.narrow.pairs import cores_of_row, mirror
from gjk3d.narrow.room import Room
from gjk3d.narrow.solve import SIGNED, quick_collide, solve
from gjk3d.typing import Array1, Array2, Ints1, Ints2

_POSE_A, _POSE_B = 3, 8  #: columns of a pair row: the slots of both
# of which row a pair has its faces, or why it has none: not needed, answered elsewhere, and there without a box
NONE, ASIDE, BOXLESS = -1, -2, -3
APART, MEETS, UNSURE = range(3)
MET = -1.0  #: in place of an axis: the two met at the last step


class PairRows(NamedTuple):
    """Pairs of shapes that lie behind each other, and their poses."""

    ints: Ints1
    floats: Array1
    table: Ints2  #: pair rows, see `gjk3d.narrow.pairs`
    poses: Array2


class Known(NamedTuple):
    """What the last step left of each pair."""

    axes: Array2
    at: Ints1  #: of which row of ``kept`` it has its faces, or why it has none
    kept: Array2


@entry
def moves(
    boxes: Array2, links: Ints2, births: Ints1, version: int, before: Array2
) -> tuple[float, float, float, float]:
    """Return how far sides of boxes have moved since ``version``: at most, those moved on the average, and all.

    Of leaves that are there since then; the last number is how long the sides are on the average.
    """
    most, total, sides, moved, leaves = 0.0, 0.0, 0.0, 0, 0
    for k in range(before.shape[0]):
        if links[k, HEIGHT] != 0 or births[k] > version:
            continue
        far = 0.0
        for c in range(6):
            far = max(far, abs(boxes[k, c] - before[k, c]))
        moved += 1 if far > 0.0 else 0
        most, total = max(most, far), total + far
        for c in range(3):
            sides += boxes[k, 3 + c] - boxes[k, c]
        leaves += 1
    return most, total / max(moved, 1), total / max(leaves, 1), sides / max(3 * leaves, 1)


@entry
def collide_again(
    pairs: PairRows, boxes: Array2, within: float, margin: float, trust: bool, start: int, stop: int,
    simplex: Array2, known: Known, told: Ints1,
) -> None:  # fmt: skip
    """Tell of pairs start to stop what `quick_collide` tells of those no farther apart by their boxes than ``within``.

    With ``trust`` those count as meeting that met at the last step: their distance is asked anyway. Of what is answered
    elsewhere nobody can tell here.
    """
    table, axes, at, kept = pairs.table, known.axes, known.at, known.kept
    for k in range(start, stop):
        told[k] = APART
        if at[k] != BOXLESS and not near(boxes, table[k, _POSE_A], boxes, table[k, _POSE_B], within):
            continue
        if at[k] < NONE:
            told[k] = UNSURE
            continue
        if trust and axes[k, 0] == MET:
            told[k] = MEETS
            continue
        c, _ = cores_of_row(pairs.ints, pairs.floats, pairs.table, pairs.poses, k)
        if at[k] >= 0 and kept[at[k], 0] > 0.0 and proves_overlap(c, margin, kept, at[k]):
            told[k] = MEETS
        else:
            told[k] = quick_collide(c, margin, simplex, axes, k)
        if told[k] == MEETS:
            axes[k, 0] = MET


@entry
def solve_again(
    pairs: PairRows, which: Ints1, max_distance: float, start: int, stop: int, room: Room, known: Known, out: Array2,
    flags: Ints2,
) -> None:  # fmt: skip
    """Answer the signed distances of the pairs ``which[start:stop]`` into these rows of ``out`` and ``flags``."""
    axes, at, kept = known.axes, known.at, known.kept
    for r in range(start, stop):
        k = which[r]
        if at[k] < NONE:
            continue
        c, turned = cores_of_row(pairs.ints, pairs.floats, pairs.table, pairs.poses, k)
        if at[k] < 0 or not solve_from_cache(c, max_distance, room, kept, at[k], out, flags, r):
            solve(c, SIGNED, max_distance, 0.0, room, kept[:0], out, flags, r)
            if at[k] >= 0:
                store_faces(c, room, kept, at[k])
        if turned:
            mirror(out, r)
        if out[r, 1] > max_distance:
            axes[k, 0] = 0.0
