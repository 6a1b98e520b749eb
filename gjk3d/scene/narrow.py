"""The narrow phase of a scene: candidate pairs by their boxes, and the results of these pairs.

Candidates are pairs with near boxes, pairs with planes included, and allowed pairs excluded. Pairs of convex shapes are
solved by the kernels of `gjk3d.convex.pairs.Pairs` in one call. Pairs with a body are solved by `gjk3d.query.dispatch`:
collisions and contacts with convex shapes in one call for all of them, other pairs by two shapes at a time, with all
poses of these two in one call.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.broad.tree import Tree, box_gaps
from gjk3d.convex.pairs import PairDistance, pair_distance
from gjk3d.convex.patches import patch_points
from gjk3d.convex.rows import Rows, Wanted, empty_answers
from gjk3d.narrow import solve as narrow
from gjk3d.poses import ROUNDING, matrices
from gjk3d.query.contact import Contact, LazyDistance, depth_comes_later, pad_points
from gjk3d.query.dispatch import handlers_of
from gjk3d.results import Status
from gjk3d.scene.objects import Objects
from gjk3d.scene.walk import HEIGHT_ROUNDING, RESIDUAL, WIDER
from gjk3d.typing import Array, Ints


def wider(within: float) -> float:
    """Return how far boxes may be apart of what the narrow phase might not prove to be farther apart than that."""
    return within * WIDER if within > 0.0 else 0.0


def heights(boxes: Array, normal: Array, offset: float) -> Array:
    """Return how far above a plane boxes are, rounding left out; less where they reach below."""
    above: Array = np.minimum(boxes[:, :3] * normal, boxes[:, 3:] * normal).sum(axis=1) - offset
    return above


class Candidates:
    """Which pairs of one scene, of an object and its scene, or of two scenes, are to be asked."""

    def __init__(self, mine: Objects, theirs: Objects | None, only: int | None) -> None:
        self.mine, self.only = mine, only
        self.within_one = theirs is None
        self.theirs = mine if theirs is None else theirs
        mine.settle()
        self.theirs.settle()
        self.bits = mine.bits if theirs is None else mine.translated(theirs)

    def blocks(self, within: float, room: int = 65536) -> Iterator[Ints]:
        """Yield pairs of slots, each pair once; of one scene in the order of their names."""
        within = wider(within)
        for pairs in self._raw(within, room):
            if self.within_one:
                if self.mine.allowed:
                    low, high = pairs.min(axis=1), pairs.max(axis=1)
                    pairs = pairs[~np.isin((low << 31) | high, self.mine.keys)]
                ranks = self.mine.ranks
                turned = ranks[pairs[:, 0]] > ranks[pairs[:, 1]]
                pairs = np.where(turned[:, None], pairs[:, ::-1], pairs)
            for start in range(0, len(pairs), room):  # what stands on a plane comes all at once
                yield pairs[start : start + room]

    def _raw(self, within: float, room: int) -> Iterator[Ints]:
        mine, theirs = self.mine, self.theirs
        if self.only is not None:
            yield from self._of_one(within, room)
        elif self.within_one:
            yield from mine.tree.pairs(within, room)
            for slot in sorted(mine.planes):
                yield self._over_plane(mine, slot, within)
        else:
            yield from mine.tree.pairs_with(theirs.tree, within, room, self.bits)
            for slot in sorted(mine.planes):
                yield self._over_plane(mine, slot, within)
            for slot in sorted(theirs.planes):
                yield self._over_plane(theirs, slot, within)[:, ::-1]

    def _of_one(self, within: float, room: int) -> Iterator[Ints]:
        assert self.only is not None
        mine, slot = self.mine, self.only
        if slot in mine.planes:
            yield self._over_plane(mine, slot, within)
            return
        box, where = mine.tree.boxes[slot : slot + 1], np.array([slot])
        one = Tree()
        one.insert(np.array([0]), box)
        one.bits = mine.bits[slot : slot + 1]
        for block in one.pairs_with(mine.tree, within, room):
            others = block[block[:, 1] != slot]
            yield np.column_stack([np.full(len(others), slot), others[:, 1]])
        for plane in sorted(mine.planes):
            if self._above(mine, plane, box)[0] <= within and _may_meet(mine.bits[[plane]], mine.bits[where])[0]:
                yield np.array([[plane, slot]])

    def _over_plane(self, owner: Objects, slot: int, within: float) -> Ints:
        """Return pairs of what has no box and what reaches it, in this scene or in the other one."""
        others = self.theirs if owner is self.mine else self.mine
        leaves = others.tree.leaves
        near = leaves[self._above(owner, slot, others.tree.boxes[leaves]) <= within]
        of_plane = (self.bits if owner is self.theirs else owner.bits)[[slot]]
        of_others = (self.bits if others is self.theirs else others.bits)[near]
        near = near[_may_meet(of_plane, of_others)]
        return np.column_stack([np.full(len(near), slot), near])

    @staticmethod
    def _above(owner: Objects, slot: int, boxes: Array) -> Array:
        """Return how far boxes are at least from what has none."""
        limits, row = owner.limits(slot), owner.rows[slot]
        # offsets in the frame of the shape are at most those in the world and the translation together
        size = np.abs(boxes).sum(axis=1) + 2.0 * np.abs(row[9:12]).sum() + max(abs(d) for _, d in limits)
        above: Array = np.max([heights(boxes, n, d) for n, d in limits], axis=0)
        above -= (HEIGHT_ROUNDING + RESIDUAL * row[12]) * size
        return above

    def gaps(self, pairs: Ints) -> Array:
        """Return for pairs how far apart they are at least."""
        mine, theirs = self.mine, self.theirs
        gaps = np.zeros(len(pairs))
        left = np.ones(len(pairs), dtype=bool)
        for owner, other, one, two in ((mine, theirs, 0, 1), (theirs, mine, 1, 0)):
            for slot in owner.planes:
                rows = np.flatnonzero(pairs[:, one] == slot)
                left[rows] = False
                gaps[rows] = np.maximum(self._above(owner, slot, other.tree.boxes[pairs[rows, two]]), 0.0)
        rows = np.flatnonzero(left)
        gaps[rows] = box_gaps(mine.tree.boxes[pairs[rows, 0]], theirs.tree.boxes[pairs[rows, 1]])
        return gaps

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """Names by slot, of both sides."""
        return self.mine.names, self.theirs.names

    @property
    def size(self) -> float:
        """No two boxes are farther apart than this."""
        low = np.minimum(self.mine.tree.bounds[:3], self.theirs.tree.bounds[:3])
        high = np.maximum(self.mine.tree.bounds[3:], self.theirs.tree.bounds[3:])
        return float(np.abs(high - low).sum()) if (low <= high).all() else 0.0

    @property
    def count(self) -> int:
        """Roughly how many objects there are."""
        return len(self.mine.tree) + (0 if self.within_one else len(self.theirs.tree))


def _may_meet(one: Ints, many: Ints) -> NDArray[np.bool_]:
    meet: NDArray[np.bool_] = ((one[:, 0] & many[:, 1]) != 0) & ((many[:, 0] & one[:, 1]) != 0)
    return meet


_MET = (int(Status.OVERLAPPING), 0, 1, 0)  #: marks of an answer, see `gjk3d.narrow.solve`


class Answers:
    """The numbers of some pairs: rows as those of `gjk3d.narrow.solve`."""

    __slots__ = ("flags", "out", "pairs")

    def __init__(self, pairs: Ints, out: Array, flags: Ints) -> None:
        self.pairs, self.out, self.flags = pairs, out, flags

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, which: NDArray[np.bool_] | Ints) -> Answers:
        return Answers(self.pairs[which], self.out[which], self.flags[which])

    @staticmethod
    def joined(parts: list[Answers]) -> Answers:
        """Return all of them behind each other."""
        none = Answers(
            np.zeros((0, 2), dtype=np.int64), np.zeros((0, narrow.FLOATS)), np.zeros((0, narrow.INTS), dtype=np.int64)
        )
        if len(parts) == 1:
            return parts[0]
        parts = [none, *parts]
        return Answers(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("pairs", "out", "flags")))


class PairPoses:
    """Two poses a pair, made into matrices where they are looked at: in place of an (m, 2, 4, 4) array."""

    __slots__ = ("_at", "_rows")
    ndim = 4

    def __init__(self, rows: Array, at: Ints) -> None:
        self._rows, self._at = rows, at

    def __getitem__(self, index: Any) -> Any:
        at = self._at[index]
        if at.ndim == 2:
            return PairPoses(self._rows, at)
        return matrices(self._rows[at])


class Beside(NamedTuple):
    """Pairs of a body and convex shapes of a shelf, as `gjk3d.bodies.contact.contact_points_beside` takes them."""

    body: Any
    shelf: Any
    each: Ints
    rows: Rows
    turned: NDArray[np.bool_]  #: which pairs are of the shape first
    which: Ints


class Narrow:
    """The narrow phase of a question's pairs of slots."""

    def __init__(self, candidates: Candidates, workers: int) -> None:
        mine, theirs = candidates.mine, candidates.theirs
        self.workers = workers
        self.which_a, self.which_b = mine.which, theirs.which
        self.shift = 0  #: of the other scene's pose rows
        self.pairs, self.rows, self.boxes = mine.pairs, mine.rows, mine.tree.boxes
        if not candidates.within_one:
            self.pairs = mine.joined(theirs)
            self.shift = len(mine.rows)
            self.rows = np.concatenate([mine.rows, theirs.rows])
            self.which_b = theirs.which + len(mine.pairs)
        self.some_mixed = bool(self.pairs.mixed.any())

    def shapes(self, pairs: Ints) -> Ints:
        """Return the numbers of the shapes of pairs of slots."""
        return np.column_stack([self.which_a[pairs[:, 0]], self.which_b[pairs[:, 1]]])

    def table(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return pairs of slots as pairs of shapes, and as the kernels take them."""
        shapes = self.shapes(pairs)
        return shapes, self.pairs._table(shapes, pairs + (0, self.shift))

    def mixed(self, pairs: Ints) -> NDArray[np.bool_]:
        """Tell in which pairs is what is no convex shape."""
        if not self.some_mixed:
            return np.zeros(len(pairs), dtype=bool)
        mixed = self.pairs.mixed
        return np.asarray(mixed[self.which_a[pairs[:, 0]]] | mixed[self.which_b[pairs[:, 1]]])

    # --- yes or no -----------------------------------------------------------------------------------------------

    def collide(self, pairs: Ints, margin: float) -> NDArray[np.bool_]:
        """Tell which pairs collide, see `gjk3d.collide`."""
        mixed = self.mixed(pairs)
        if not mixed.any():
            return self._convex_collide(pairs, margin)
        answer = np.empty(len(pairs), dtype=bool)
        answer[~mixed] = self._convex_collide(pairs[~mixed], margin)
        for some, told in self._mixed_collide(pairs, np.flatnonzero(mixed), margin):
            answer[some] = told
        return answer

    def any_collides(self, pairs: Ints, margin: float) -> bool:
        """Tell whether any pair collides; those that take long come last."""
        mixed = self.mixed(pairs)
        if self._convex_collide(pairs[~mixed], margin).any():
            return True
        return any(bool(told.any()) for _, told in self._mixed_collide(pairs, np.flatnonzero(mixed), margin))

    def _convex_collide(self, pairs: Ints, margin: float) -> NDArray[np.bool_]:
        shapes, table = self.table(pairs)
        return self.pairs._collide_rows(shapes, table, self.rows, margin, self.workers)

    def _mixed_collide(self, pairs: Ints, which: Ints, margin: float) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
        """Yield answers of some of the pairs, of those of two shapes at once."""
        which, apart = self._meshes_apart(pairs, which, max(margin, 0.0))
        if len(apart):
            yield apart, np.zeros(len(apart), dtype=bool)
        if margin >= 0.0:
            from gjk3d.bodies.distance import collide_beside  # loaded where there is a mesh or the like

            beside, which = self.by_bodies(pairs, which)
            for x in beside:
                yield x.which, collide_beside(x.body, x.shelf, x.each, x.rows, margin)
        for a, b, some, rows in self.by_shapes(pairs, which):
            way = handlers_of(a, b)
            yield some, way.collide(a, b, rows, margin)

    def _meshes_apart(self, pairs: Ints, which: Ints, margin: float) -> tuple[Ints, Ints]:
        """Return which pairs are left to ask, and which are of two meshes whose tilted boxes are apart."""
        from gjk3d.bodies.mesh import Mesh  # loaded where there is a mesh or the like
        from gjk3d.bodies.mesh_pair import root_of, roots_apart

        shapes = self.shapes(pairs[which])
        numbers, at = np.unique(shapes, return_inverse=True)
        things: list[Any] = [self.pairs.shapes[number] for number in numbers.tolist()]
        meshes = np.array([isinstance(thing, Mesh) for thing in things], dtype=bool)
        at = at.reshape(-1, 2)
        both = meshes[at].all(axis=1)
        if not both.any():
            return which, which[:0]
        roots = np.stack([root_of(thing) for thing in things if isinstance(thing, Mesh)])
        apart = np.zeros(len(which), dtype=np.int64)
        told = np.empty(int(both.sum()), dtype=np.int64)
        where = pairs[which[both]] + (0, self.shift)
        roots_apart(self.rows, where, roots, (np.cumsum(meshes) - 1)[at[both]], margin, ROUNDING, told)
        apart[both] = told
        return which[apart == 0], which[apart != 0]

    def by_shapes(self, pairs: Ints, which: Ints) -> Iterator[tuple[Any, Any, Ints, Rows]]:
        """Yield two shapes, those of the pairs that are of these two, and their poses."""
        shapes, table = self.table(pairs)
        return self.pairs._by_shapes(shapes, table, self.rows, which)

    def by_bodies(self, pairs: Ints, which: Ints) -> tuple[list[Beside], Ints]:
        """Return for each body those pairs that are of it and a convex shape, and which pairs are left.

        Left are those of two bodies, of half-spaces, and of users' functions.
        """
        from gjk3d.bodies.shelf import Shelf  # loaded where there is a mesh or the like

        shapes, solids = self.shapes(pairs[which]), self.pairs
        convex = ~(solids.mixed | solids._singly)
        taken = convex[shapes].any(axis=1)
        for number in np.unique(shapes[solids.mixed[shapes]]).tolist():
            if solids.shapes[number]._as_parts().any_mapped:
                taken &= (shapes != number).all(axis=1)
        left, which, shapes = which[~taken], which[taken], shapes[taken]
        if not len(which):
            return [], left
        turned = convex[shapes[:, 0]]
        body, other = np.where(turned, shapes[:, 1], shapes[:, 0]), np.where(turned, shapes[:, 0], shapes[:, 1])
        numbers, shelf = solids._cache.get("shelf", (other[:0], None))
        if not np.isin(other, numbers).all():  # those of before stay, as objects come and go step by step
            numbers = np.union1d(numbers, other)
            shelf = Shelf([solids.shapes[number] for number in numbers.tolist()])
            solids._cache["shelf"] = numbers, shelf
        each = np.searchsorted(numbers, other)
        at = pairs[which] + (0, self.shift)
        at[turned] = at[turned, ::-1]
        order = np.argsort(body, kind="stable")
        begins = np.flatnonzero(np.diff(body[order], prepend=-1))
        return [
            Beside(
                solids.shapes[body[some[0]]], shelf, each[some],
                Rows(self.rows[at[some, 0]], self.rows[at[some, 1]], len(some), True, self.workers),
                turned[some], which[some],
            )
            for some in np.split(order, begins[1:])
        ], left  # fmt: skip

    # --- how far -------------------------------------------------------------------------------------------------

    def distances(
        self, pairs: Ints, max_distance: float = inf, mode: int = narrow.SIGNED, met: bool = False
    ) -> Answers:  # fmt: skip
        """Return the signed distances, and with them those that are only known to exceed ``max_distance``.

        With mode UNSIGNED those of what is not convex are 0 where it overlaps, as far as `depth_comes_later`; no
        question is needed where all are known to have ``met``.
        """
        mixed = self.mixed(pairs)
        if not mixed.any():
            return self._convex_distances(pairs, max_distance)
        answers = Answers(pairs, np.empty((len(pairs), narrow.FLOATS)), np.zeros((len(pairs), narrow.INTS), np.int64))
        convex = self._convex_distances(pairs[~mixed], max_distance)
        answers.out[~mixed], answers.flags[~mixed] = convex.out, convex.flags
        if mode == narrow.UNSIGNED and met:
            at_once = mixed & ~self.pairs.planes[self.shapes(pairs)].any(axis=1)
            answers.out[at_once], answers.flags[at_once] = 0.0, _MET
            mixed &= ~at_once
        for a, b, some, rows in self.by_shapes(pairs, np.flatnonzero(mixed)):
            asked = mode if depth_comes_later(a, b) else narrow.SIGNED
            answers.out[some], answers.flags[some] = _solved(a, b, rows, asked, max_distance)
        return answers

    def _convex_distances(self, pairs: Ints, max_distance: float) -> Answers:
        shapes, table = self.table(pairs)
        out, flags = self.pairs._solve_rows(
            shapes, table, self.rows, narrow.SIGNED, max_distance, 0.0, self.workers, None
        )
        return Answers(pairs, out, flags)

    def distances_within(self, pairs: Ints, within: float, mode: int = narrow.SIGNED) -> Answers:
        """Return the signed distances of the pairs that are not proven to be farther apart than that, see `distances`.

        The boolean is asked of all first: it costs a third where boxes overlap and shapes do not.
        """
        most = max(within, 0.0)
        answers = self.distances(pairs[self.collide(pairs, most)] if most < inf else pairs, most, mode, most == 0.0)
        kept = answers.out[:, 1] <= within
        return answers if kept.all() else answers[kept]

    def least_possible(self, pairs: Ints) -> Array:
        """Return what no signed distance is below of pairs with what is no convex shape, by the boxes round them."""
        from gjk3d.bodies.parts import least_possible  # loaded where there is a mesh or the like

        return least_possible(self.pairs.shapes, self.shapes(pairs), self.rows, pairs + (0, self.shift))

    def settled(self, answers: Answers, within: float) -> Answers:
        """Return the same bits, whichever distance was known when a pair was asked about."""
        # how deep two overlap follows from nothing else
        again = np.flatnonzero(self.mixed(answers.pairs) & (answers.out[:, 1] > 0.0))
        if len(again):
            fresh = self.distances(answers.pairs[again], max(within, 0.0))
            answers.out[again], answers.flags[again] = fresh.out, fresh.flags
        return answers

    def result(self, answers: Answers, max_distance: float) -> PairDistance:
        """Return answers as a result whose rows know their shapes and poses."""
        pairs = answers.pairs
        poses: Any = PairPoses(self.rows.copy(), pairs + (0, self.shift))
        asked = (narrow.SIGNED, max_distance, None, False)
        return pair_distance(answers.out, answers.flags, self.shapes(pairs), self.pairs.shapes, poses, asked)


def _solved(a: Any, b: Any, rows: Rows, mode: int, max_distance: float) -> tuple[Array, Ints]:
    out, flags = empty_answers(rows.total)
    way = handlers_of(a, b)
    way.solve(a, b, rows, Wanted(mode, max_distance), out, flags)
    return out, flags


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
        pairs, gaps = pairs[fresh], gaps[fresh]
        mixed = narrow.mixed(pairs)
        kept, worst = _ask(pairs[~mixed], gaps[~mixed], narrow, count, kept, worst)
        kept, worst = _ask_mixed(pairs[mixed], narrow, count, kept, worst)
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
        kept, worst = _nearest_of(kept, narrow.distances_within(pairs[some], worst), count, worst)
        start += size
        size *= 2
    return kept, worst


def _ask_mixed(
    pairs: Ints, narrow: Narrow, count: int | None, kept: Answers, worst: float
) -> tuple[Answers, float]:  # fmt: skip
    """Do as `_ask` does with pairs that take long: one by one, each within what is known by then.

    Those come first that may be nearest, or deepest in each other; when no other may be as near, none is asked.
    """
    if not len(pairs):
        return kept, worst
    least = narrow.least_possible(pairs)
    if count is None:
        return _nearest_of(kept, narrow.distances_within(pairs[least <= worst], worst), count, worst)
    for k in np.argsort(least, kind="stable"):
        if least[k] > worst:
            break
        kept, worst = _nearest_of(kept, narrow.distances_within(pairs[k : k + 1], worst), count, worst)
    return kept, worst


def nearest_known(known: Answers, mixed: Ints, narrow: Narrow, count: int, within: float) -> Answers:
    """Return the nearest of what is known and of pairs with what is no convex shape, no farther apart than that."""
    kept, worst = _nearest_of(Answers.joined([]), known, count, within)
    return _ask_mixed(mixed, narrow, count, kept, worst)[0]


def _nearest_of(kept: Answers, found: Answers, count: int | None, worst: float) -> tuple[Answers, float]:
    """Return the nearest of those that are kept and those that are new, and how far the last that counts is."""
    kept = Answers.joined([kept, found])
    if count is not None and len(kept) >= count:
        last = float(np.partition(kept.out[:, 0], count - 1)[count - 1])
        # ``worst`` limits lower bounds: a distance may exceed it by rounding
        kept, worst = kept[kept.out[:, 0] <= last], min(worst, last)
    return kept, worst


def patches(narrow: Narrow, answers: Answers, within: float, most: int | None) -> Contact:
    """Return the contact patches of pairs that are no farther apart than that; depths of the others come later."""
    mixed = narrow.mixed(answers.pairs)
    if not mixed.any():
        shapes, table = narrow.table(answers.pairs)
        return Contact(
            narrow.result(answers, within),
            *patch_points(narrow.pairs, shapes, table, narrow.rows, answers.out, within, most, narrow.workers),
        )
    from gjk3d.bodies.contact import contact_points, contact_points_beside  # loaded where there is a mesh or the like

    result = _unread(narrow, answers, mixed & (answers.out[:, 1] <= 0.0), within)
    convex = np.flatnonzero(~mixed)
    shapes, table = narrow.table(answers.pairs[convex])
    out = answers.out[convex]
    flat, counts = patch_points(narrow.pairs, shapes, table, narrow.rows, out, within, most, narrow.workers)
    beside, left = narrow.by_bodies(answers.pairs, np.flatnonzero(mixed))
    others = [
        touching._replace(which=x.which[touching.which])
        for x in beside
        for touching in contact_points_beside(
            x.body, x.shelf, x.each, x.rows, answers.out[x.which], x.turned, within, most
        )
    ]
    others += [
        touching._replace(which=which[touching.which])
        for a, b, which, rows in narrow.by_shapes(answers.pairs, left)
        for touching in contact_points(a, b, rows, answers.out[which], within, most)
    ]
    columns = max([flat.shape[1], *(int(some.counts.max(initial=0)) for some in others)])
    points, count, normals = pad_points(others, len(answers), columns)
    points[convex, : flat.shape[1]], count[convex] = flat, counts
    which, column = np.nonzero(np.arange(columns) < counts[:, None])
    normals[convex[which], column] = out[which, 3:6]
    return Contact(result, points, count, normals)


def _unread(narrow: Narrow, answers: Answers, deep: NDArray[np.bool_], within: float) -> LazyDistance:
    """Return the distances of pairs, of which those that overlap are found when they are read."""
    then = copy(narrow)  # of what objects are there now, and where
    then.rows, then.which_a, then.which_b = narrow.rows.copy(), narrow.which_a.copy(), narrow.which_b.copy()

    def find(index: int | None) -> Any:
        which = np.flatnonzero(deep) if index is None else np.arange(len(deep))[[index]]
        some = answers if index is None else answers[which]
        asked = which if index is None else np.flatnonzero(deep[which])
        out, flags = some.out.copy(), some.flags.copy()
        if len(asked):
            fresh = then.distances(some.pairs[asked], within)
            out[asked], flags[asked] = fresh.out, fresh.flags
        found = then.result(Answers(some.pairs, out, flags), within)
        return found if index is None else found[0]

    return LazyDistance(find)
