"""When two moving bodies first touch: the first of their parts that do, each asked as a convex shape is.

Time is cut into windows. In the frame of one body every point of the other goes from where it is at the beginning of a
window to where it is at its end, off the straight line by no more than its acceleration makes of that time. So the
boxes of parts at both ends, grown by this, hold all of their way, and leave the pairs of parts that may meet within the
window. Those are asked by `gjk3d.narrow.toi`, whose proofs hold from one time to another; all others are apart.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gjk3d.bodies import walk
from gjk3d.bodies.base import Body, Parts
from gjk3d.bodies.distance import check_an_end, pair_of
from gjk3d.bodies.order import Thing, in_order
from gjk3d.bodies.parts import box_at, parts_of
from gjk3d.broad.tree import box_gaps
from gjk3d.narrow import toi
from gjk3d.narrow.motion import CENTER, MOTION, REFERENCE, TURN, WAY, matrix_at
from gjk3d.narrow.pairs import PAIR
from gjk3d.poses import ROUNDING, inverse, pose_rows, relative
from gjk3d.typing import Array, Ints

_MOST = 512  #: pairs of parts in a window; where there are more, it is made shorter
_LEAST = 2.0**-12  #: the shortest window: of that all pairs are asked, whatever their number
_AT_ONCE = 4096  #: pairs in one call of the kernel
_ROOM, _LEAVES = 1024, 16  #: pairs of a box and a part of a leaf that are listed first, and for each that may be left
_PLACES = [*range(CENTER, TURN), *range(REFERENCE, MOTION)]  #: what says where a body is, but for its turn


class _Course:
    """Two bodies on their ways; where they are is that of the second in the first's frame."""

    def __init__(self, a: Body, b: Thing, motions: Array, clearance: float) -> None:
        self.motions, self.clearance = motions, clearance
        self.b: Parts = parts_of(b)
        way = self._way_of(self.b.box, 1, 0.0, 1.0).reshape(2, 3)
        # what has no end is as deep as the whole way asks for
        self.a: Parts = a._parts_near(0.5 * float((way[1] - way[0]).max()), 0.5 * (way[0] + way[1]))
        self._error = ROUNDING * (self.a.reach + self.b.reach + float(np.abs(motions[:, _PLACES]).sum()))
        self._work = np.empty(toi.PART_WORK)

    def rows(self, t: float) -> tuple[Array, Array]:
        """Return where both are at a time."""
        found = np.empty((2, 4, 4))
        for k in range(2):
            matrix_at(self.motions[k : k + 1], t, found[k])
        rows = pose_rows(found)[0]
        return rows[0], rows[1]

    def at(self, t: float) -> Array:
        """Return where the second is in the first's frame at a time."""
        return relative(*self.rows(t))

    def _bend(self, guest: int, box: Array, start: float, stop: float) -> float:
        """Bound by how much a point of one, in a box of its own frame, leaves its straight line in the other's frame.

        With y from the other's reference point, its second derivative there is y'' - 2 w x y' + w x (w x y).
        """
        mine, other = self.motions[guest], self.motions[1 - guest]
        arm = np.maximum(np.abs(box[:3] - mine[REFERENCE:]), np.abs(box[3:] - mine[REFERENCE:]))
        reach = float(np.linalg.norm(arm))
        apart = mine[CENTER:WAY] - other[CENTER:WAY]
        going = mine[WAY:TURN] - other[WAY:TURN]
        own, turn = (float(np.linalg.norm(x[TURN:REFERENCE])) for x in (mine, other))
        far = max(float(np.linalg.norm(apart + t * going)) for t in (start, stop)) + reach
        speed = float(np.linalg.norm(going)) + own * reach
        gained = own * own * reach + 2.0 * turn * speed + turn * turn * far
        return 0.125 * (stop - start) ** 2 * gained * (1.0 + 1e-12)

    def _way_of(self, box: Array, guest: int, start: float, stop: float) -> Array:
        """Return a box round all that a box of one sweeps in the other's frame."""
        ends = [self.at(t) if guest == 1 else inverse(self.at(t)) for t in (start, stop)]
        first, last = (box_at(box, m) for m in ends)
        more = self._bend(guest, box, start, stop)
        return np.concatenate([np.minimum(first[:3], last[:3]) - more, np.maximum(first[3:], last[3:]) + more])

    def few(self, start: float, stop: float, most: float) -> Ints | None:
        """Return the pairs of parts that may meet from one time to another, the nearest first; None if they are many.

        Which is asked first decides nothing but how soon an end is found.
        """
        first, last = self.at(start), self.at(stop)
        within = self.clearance + self._error
        swapped = self.b.count > self.a.count and not self.a.endless
        host, guest = (self.b, self.a) if swapped else (self.a, self.b)
        if swapped:
            first, last = inverse(first), inverse(last)
        which = np.arange(guest.count)
        if guest.count > 1:
            near = _near(guest, self._way_of(host.box, int(swapped), start, stop)[None], within, inf)
            assert near is not None
            which = near[:, 1]
        one, two = guest.boxes_at(which, first), guest.boxes_at(which, last)
        more = self._bend(1 - int(swapped), guest.box, start, stop)
        boxes = np.hstack([np.minimum(one[:, :3], two[:, :3]) - more, np.maximum(one[:, 3:], two[:, 3:]) + more])
        found = _near(host, boxes, within, most)
        if found is None:
            return None
        mine, theirs = found[:, 1], which[found[:, 0]]
        pairs = np.column_stack([theirs, mine] if swapped else [mine, theirs])
        gaps = box_gaps(self.a.boxes(pairs[:, 0]), self.b.boxes_at(pairs[:, 1], self.at(start)))
        return pairs[np.argsort(gaps, kind="stable")]

    def ask(self, pairs: Ints, start: float, stop: float) -> tuple[int, float, float, int]:
        """Return what happens to pairs of parts: a code of `gjk3d.narrow.toi`, the bracket, the steps."""
        code, free, hit, steps = toi.FREE, stop, inf, 0
        for k in range(0, len(pairs), _AT_ONCE):
            ints, floats, table, rows = self._packed(pairs[k : k + _AT_ONCE])
            out = np.empty(2)
            told, taken = toi.impact_of_parts(
                ints, floats, table, rows, self.motions, self.clearance, start, min(stop, hit), self._work, out
            )
            steps += taken
            if told == toi.FREE:
                continue
            free, hit = min(free, float(out[0])), min(hit, float(out[1]))
            code = told if told != toi.UNRESOLVED or code == toi.FREE else code
            if code == toi.STARTED:
                break
        return code, free, hit, steps

    def _packed(self, pairs: Ints) -> tuple[Ints, Array, Ints, Array]:
        """Return pairs of parts as the kernels take them, and where each part is in its body."""
        which_a, at_a = np.unique(pairs[:, 0], return_inverse=True)
        which_b, at_b = np.unique(pairs[:, 1], return_inverse=True)
        one, two = self.a.pack(which_a), self.b.pack(which_b)
        table = np.zeros((len(pairs), PAIR), dtype=np.int64)
        table[:, :2], table[:, 3] = one.starts[at_a], at_a
        table[:, 5:7] = two.starts[at_b] + (len(one.ints), len(one.floats))
        table[:, 8] = len(which_a) + at_b
        rows = np.concatenate([self.a.rows(which_a), self.b.rows(which_b)])
        return np.concatenate([one.ints, two.ints]), np.concatenate([one.floats, two.floats]), table, rows


def _near(parts: Parts, boxes: Array, within: float, most: float) -> Ints | None:
    """Return pairs of a box and a part that may be no farther apart along every axis; None if they are many."""
    room = _ROOM
    while True:
        found = np.empty((room, 2), dtype=np.int64)
        count = walk.parts_near(parts.given, np.ascontiguousarray(boxes), within, walk.bench(), found)
        if count <= room:
            break
        if room > _LEAVES * most:
            return None
        room *= 8
    found = found[:count]
    mine, theirs = boxes[found[:, 0]], parts.boxes(found[:, 1])
    apart = (mine[:, :3] - theirs[:, 3:] > within) | (theirs[:, :3] - mine[:, 3:] > within)
    found = found[~apart.any(axis=1)]
    return None if len(found) > most else found


def impact(a: Thing, b: Thing, motions: Array, clearance: float) -> tuple[int, float, float, int]:
    """Return what happens to two of which one is a body, and neither a half-space, as `gjk3d.narrow.toi.impact` does.

    ``motions`` are the rows of both.
    """
    if not in_order(a, b, *motions):
        a, b, motions = b, a, motions[::-1]
    check_an_end(b)
    assert isinstance(a, Body)
    course = _Course(a, b, np.ascontiguousarray(motions), clearance)
    if pair_of(a, b, course.at(0.0)).meet(clearance):
        return toi.STARTED, 0.0, 0.0, 1
    start, window, total = 0.0, 1.0, 1
    while start < 1.0:
        stop = min(1.0, start + window)
        pairs = course.few(start, stop, _MOST if window > _LEAST else inf)
        if pairs is None:
            window *= 0.5
            continue
        code, free, hit, steps = course.ask(pairs, start, stop)
        total += steps
        if code != toi.FREE:
            return code if code != toi.STARTED or start == 0.0 else toi.HIT, free, hit, total
        start, window = stop, 2.0 * window
    return toi.FREE, 1.0, 1.0, total


def fill(a: Any, b: Any, first: Array, second: Array, clearance: float, out: Array, flags: Ints) -> None:
    """Answer motions, of each body one or as many as there are rows, as `gjk3d.narrow.toi.impact_many` does."""
    for k in range(len(out)):
        motions = np.stack([first[k % len(first)], second[k % len(second)]])
        code, free, hit, steps = impact(a, b, motions, clearance)
        out[k] = free, inf if code == toi.FREE else free, inf if code in (toi.FREE, toi.UNRESOLVED) else hit
        flags[k] = code, steps
