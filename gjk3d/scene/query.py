"""The narrow phase of a scene: candidate pairs by their boxes, and the results of these pairs.

Candidates are pairs with near boxes, pairs with planes included, and allowed pairs excluded. Pairs of convex shapes are
solved by `gjk3d.engine.shape_store.ShapeStore` in one call. Pairs with a body are solved by `gjk3d.engine.dispatch`:
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
from gjk3d.convex.rows import Rows, Wanted, empty_answers
from gjk3d.engine.dispatch import find
from gjk3d.engine.pairs import PairDistance, pair_distance
from gjk3d.narrow import solve as narrow
from gjk3d.poses import ROUNDING, matrices
from gjk3d.query.contact import Contact, LazyDistance, depth_comes_later, pad_points
from gjk3d.results import Status
from gjk3d.scene.objects import Objects
from gjk3d.scene.walk import HEIGHT_ROUNDING, RESIDUAL, WIDER
from gjk3d.shapes.base import Kind
from gjk3d.typing import Array, Ints


def wider(within: float) -> float:
    """Return the search distance for boxes, with a margin for the error of the narrow phase."""
    return within * WIDER if within > 0.0 else 0.0


def heights(boxes: Array, normal: Array, offset: float) -> Array:
    """Return the heights of the lowest corners of boxes above a plane, without a bound on rounding."""
    above: Array = np.minimum(boxes[:, :3] * normal, boxes[:, 3:] * normal).sum(axis=1) - offset
    return above


def _may_pair(bits_a: Ints, bits_b: Ints) -> NDArray[np.bool_]:
    compatible: NDArray[np.bool_] = ((bits_a[:, 0] & bits_b[:, 1]) != 0) & ((bits_b[:, 0] & bits_a[:, 1]) != 0)
    return compatible


_OVERLAPPING = (int(Status.OVERLAPPING), 0, 1, 0)  #: marks of an answer, see `gjk3d.narrow.solve`


class Answers:
    """The results of pairs, in the rows of `gjk3d.narrow.solve`."""

    __slots__ = ("flags", "out", "pairs")

    def __init__(self, pairs: Ints, out: Array, flags: Ints) -> None:
        self.pairs, self.out, self.flags = pairs, out, flags

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, which: NDArray[np.bool_] | Ints) -> Answers:
        return Answers(self.pairs[which], self.out[which], self.flags[which])

    @staticmethod
    def joined(parts: list[Answers]) -> Answers:
        """Return several results joined in order."""
        none = Answers(
            np.zeros((0, 2), dtype=np.int64), np.zeros((0, narrow.FLOATS)), np.zeros((0, narrow.INTS), dtype=np.int64)
        )
        if len(parts) == 1:
            return parts[0]
        parts = [none, *parts]
        return Answers(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("pairs", "out", "flags")))


class PairPoses:
    """Two poses for each pair, converted to matrices on access; it replaces an (m, 2, 4, 4) array."""

    __slots__ = ("_at", "_rows")
    ndim = 4

    def __init__(self, rows: Array, at: Ints) -> None:
        self._rows, self._at = rows, at

    def __getitem__(self, index: Any) -> Any:
        at = self._at[index]
        if at.ndim == 2:
            return PairPoses(self._rows, at)
        return matrices(self._rows[at])


_MOST_CACHED = 8  #: results of `SceneQuery.by_bodies`


class BodyPairs(NamedTuple):
    """Pairs of one body and convex shapes of a shelf, see `gjk3d.bodies.contact.contact_points_beside`."""

    body: Any
    shelf: Any
    members: Ints
    at: Ints  #: pose rows of the body and of the shape
    swapped: NDArray[np.bool_]  #: whether the shape is A of the pair
    which: Ints


class SceneQuery:
    """The candidate pairs of one scene, of one object and its scene, or of two scenes, and their narrow phase."""

    def __init__(self, mine: Objects, theirs: Objects | None, only: int | None, workers: int) -> None:
        mine.settle()
        self.mine, self.only, self.workers = mine, only, workers
        self.within_one = theirs is None
        self.theirs, self.bits, self.which_b = mine, mine.bits, mine.which
        self.store, self.rows, self.boxes = mine.pairs, mine.rows, mine.tree.boxes
        self.shift = 0  #: first pose row of the second scene
        if theirs is not None:
            theirs.settle()
            self.theirs, self.bits, self.shift = theirs, mine.translated(theirs), len(mine.rows)
            self.store, self.which_b = mine.joined(theirs), theirs.which + len(mine.pairs)
            self.rows = np.concatenate([mine.rows, theirs.rows])
        self.which_a = mine.which
        self.ranks = self.ranks_b = mine.ranks  #: of the names, by slot
        if theirs is not None:
            self.ranks_b = theirs.ranks
        self.some_mixed = True in self.store.mixed

    def blocks(self, within: float, block_size: int = 65536) -> Iterator[Ints]:
        """Yield pairs of slots, each pair once. Within one scene the names of a pair are in order."""
        within = wider(within)
        for pairs in self._raw(within, block_size):
            if self.within_one:
                if self.mine.allowed:
                    low, high = pairs.min(axis=1), pairs.max(axis=1)
                    pairs = pairs[~np.isin((low << 31) | high, self.mine.keys)]
                ranks = self.ranks
                swapped = ranks[pairs[:, 0]] > ranks[pairs[:, 1]]
                pairs = np.where(swapped[:, None], pairs[:, ::-1], pairs)
            for start in range(0, len(pairs), block_size):  # the objects on a plane come in one block
                yield pairs[start : start + block_size]

    def pairs(self, within: float) -> Ints:
        """Return all pairs of slots as one array."""
        return np.concatenate([np.zeros((0, 2), dtype=np.int64), *self.blocks(within)])

    def _raw(self, within: float, block_size: int) -> Iterator[Ints]:
        mine, theirs = self.mine, self.theirs
        if self.only is not None:
            yield from self._of_one(within, block_size)
        elif self.within_one:
            yield from mine.tree.pairs(within, block_size)
            for slot in sorted(mine.planes):
                yield self._over_plane(mine, slot, within)
        else:
            yield from mine.tree.pairs_with(theirs.tree, within, block_size, self.bits)
            for slot in sorted(mine.planes):
                yield self._over_plane(mine, slot, within)
            for slot in sorted(theirs.planes):
                yield self._over_plane(theirs, slot, within)[:, ::-1]

    def _of_one(self, within: float, block_size: int) -> Iterator[Ints]:
        assert self.only is not None
        mine, slot = self.mine, self.only
        if slot in mine.planes:
            yield self._over_plane(mine, slot, within)
            return
        box, where = mine.tree.boxes[slot : slot + 1], np.array([slot])
        single = Tree()
        single.insert(np.array([0]), box)
        single.bits = mine.bits[slot : slot + 1]
        for block in single.pairs_with(mine.tree, within, block_size):
            partners = block[block[:, 1] != slot]
            yield np.column_stack([np.full(len(partners), slot), partners[:, 1]])
        for plane in sorted(mine.planes):
            if self._above(mine, plane, box)[0] <= within and _may_pair(mine.bits[[plane]], mine.bits[where])[0]:
                yield np.array([[plane, slot]])

    def _over_plane(self, owner: Objects, slot: int, within: float) -> Ints:
        """Return the pairs of an unbounded object and the objects within a distance of it."""
        partners = self.theirs if owner is self.mine else self.mine
        leaves = partners.tree.leaves
        near = leaves[self._above(owner, slot, partners.tree.boxes[leaves]) <= within]
        of_plane = (self.bits if owner is self.theirs else owner.bits)[[slot]]
        of_partners = (self.bits if partners is self.theirs else partners.bits)[near]
        near = near[_may_pair(of_plane, of_partners)]
        return np.column_stack([np.full(len(near), slot), near])

    @staticmethod
    def _above(owner: Objects, slot: int, boxes: Array) -> Array:
        """Return lower bounds on the distances of boxes from an unbounded object."""
        limits, row = owner.limits(slot), owner.rows[slot]
        # offsets in the frame of the shape are at most those in the world and the translation together
        size = np.abs(boxes).sum(axis=1) + 2.0 * np.abs(row[9:12]).sum() + max(abs(d) for _, d in limits)
        above: Array = np.max([heights(boxes, n, d) for n, d in limits], axis=0)
        above -= (HEIGHT_ROUNDING + RESIDUAL * row[12]) * size
        return above

    def gaps(self, pairs: Ints) -> Array:
        """Return lower bounds on the distances of pairs."""
        mine, theirs = self.mine, self.theirs
        gaps = np.zeros(len(pairs))
        left = np.ones(len(pairs), dtype=bool)
        for owner, partner, column, partner_column in ((mine, theirs, 0, 1), (theirs, mine, 1, 0)):
            for slot in owner.planes:
                rows = np.flatnonzero(pairs[:, column] == slot)
                left[rows] = False
                gaps[rows] = np.maximum(self._above(owner, slot, partner.tree.boxes[pairs[rows, partner_column]]), 0.0)
        rows = np.flatnonzero(left)
        gaps[rows] = box_gaps(mine.tree.boxes[pairs[rows, 0]], theirs.tree.boxes[pairs[rows, 1]])
        return gaps

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """Names of A and of B, by slot."""
        return self.mine.names, self.theirs.names

    @property
    def size(self) -> float:
        """An upper bound on the distance of two boxes."""
        low = np.minimum(self.mine.tree.bounds[:3], self.theirs.tree.bounds[:3])
        high = np.maximum(self.mine.tree.bounds[3:], self.theirs.tree.bounds[3:])
        return float(np.abs(high - low).sum()) if (low <= high).all() else 0.0

    @property
    def count(self) -> int:
        """Approximate number of objects."""
        return len(self.mine.tree) + (0 if self.within_one else len(self.theirs.tree))

    # --- the narrow phase -------------------------------------------------------------------------------------------

    def numbers(self, pairs: Ints) -> Ints:
        """Return the numbers of the shapes of pairs of slots."""
        numbers = np.empty((len(pairs), 2), dtype=np.int64)
        numbers[:, 0], numbers[:, 1] = self.which_a[pairs[:, 0]], self.which_b[pairs[:, 1]]
        return numbers

    def table(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return pairs of slots as pairs of shape numbers, and as the table for the kernels."""
        numbers = self.numbers(pairs)
        return numbers, self.store.table(numbers, pairs + (0, self.shift))

    def by_kind(self, pairs: Ints) -> tuple[Ints | slice, Ints]:
        """Return the indices of the convex pairs, and of those that contain a non-convex body."""
        if not self.some_mixed:
            return slice(None), np.arange(0)
        mixed = self.store.mixed
        mask = mixed[self.which_a[pairs[:, 0]]] | mixed[self.which_b[pairs[:, 1]]]
        return (~mask).nonzero()[0], mask.nonzero()[0]

    # --- yes or no -----------------------------------------------------------------------------------------------

    def collide(self, pairs: Ints, margin: float) -> NDArray[np.bool_]:
        """Return which pairs collide, see `gjk3d.collide`."""
        convex, mixed = self.by_kind(pairs)
        if not len(mixed):
            return self._convex_collide(pairs, margin)
        answer = np.empty(len(pairs), dtype=bool)
        if len(mixed) < len(pairs):
            answer[convex] = self._convex_collide(pairs[convex], margin)
        for some, hits in self._mixed_collide(pairs, mixed, margin):
            answer[some] = hits
        return answer

    def any_collides(self, pairs: Ints, margin: float) -> bool:
        """Return whether any pair collides. Pairs with non-convex bodies take longer and come last."""
        convex, mixed = self.by_kind(pairs)
        if self._convex_collide(pairs[convex], margin).any():
            return True
        return any(bool(hits.any()) for _, hits in self._mixed_collide(pairs, mixed, margin))

    def _convex_collide(self, pairs: Ints, margin: float) -> NDArray[np.bool_]:
        numbers, table = self.table(pairs)
        return self.store.collide(numbers, table, self.rows, margin, self.workers)

    def _mixed_collide(self, pairs: Ints, which: Ints, margin: float) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
        """Yield the results of groups of pairs."""
        if margin >= 0.0:
            from gjk3d.bodies.distance import collide_beside  # loaded where there is a mesh or the like

            body_pairs, which = self.by_bodies(pairs, which)
            for x in body_pairs:
                yield x.which, collide_beside(x.body, x.shelf, x.members, self.rows_of(x), margin)
        if not len(which):
            return
        which, separated = self._meshes_apart(pairs, which, max(margin, 0.0))
        yield separated, np.zeros(len(separated), dtype=bool)
        for a, b, some, rows in self.by_shapes(pairs, which):
            yield some, find("collide", a, b)(a, b, rows, margin)

    def _meshes_apart(self, pairs: Ints, which: Ints, margin: float) -> tuple[Ints, Ints]:
        """Return the pairs that remain, and the pairs of two meshes with separated oriented boxes."""
        from gjk3d.bodies.parts import root_of_object, roots_apart  # loaded where there is a mesh or the like

        shapes = self.numbers(pairs[which])
        numbers, at = np.unique(shapes, return_inverse=True)
        bodies: list[Any] = [self.store.shapes[number] for number in numbers.tolist()]
        meshes = np.array([body._kind == Kind.MESH for body in bodies], dtype=bool)
        at = at.reshape(-1, 2)
        of_meshes = meshes[at].all(axis=1)
        if not of_meshes.any():
            return which, which[:0]
        roots = np.stack([root_of_object(body) for body in bodies if body._kind == Kind.MESH])
        separated = np.zeros(len(which), dtype=np.int64)
        flags = np.empty(int(of_meshes.sum()), dtype=np.int64)
        where = pairs[which[of_meshes]] + (0, self.shift)
        roots_apart(self.rows, where, roots, (np.cumsum(meshes) - 1)[at[of_meshes]], margin, ROUNDING, flags)
        separated[of_meshes] = flags
        return which[separated == 0], which[separated != 0]

    def by_shapes(self, pairs: Ints, which: Ints) -> Iterator[tuple[Any, Any, Ints, Rows]]:
        """Yield two shapes, the pairs of these two shapes, and their poses."""
        shapes, table = self.table(pairs)
        return self.store.by_shapes(shapes, table, self.rows, which)

    def by_bodies(self, pairs: Ints, which: Ints) -> tuple[list[BodyPairs], Ints]:
        """Return the pairs of each body with convex shapes, and the pairs that remain.

        The pairs of two bodies, with half-spaces, and with users' functions remain. The last results are cached, since
        the near pairs often stay the same in the next step.
        """
        shapes, cache = self.numbers(pairs[which]), self.store.cached.setdefault("body pairs", {})
        key = shapes.tobytes(), pairs[which].tobytes(), which.tobytes(), self.shift
        if key not in cache:
            if len(cache) >= _MOST_CACHED:
                cache.clear()
            cache[key] = self._by_bodies(pairs, which, shapes)
        groups: tuple[list[BodyPairs], Ints] = cache[key]
        return groups

    def rows_of(self, x: BodyPairs) -> Rows:
        """Return the poses of a body and of convex shapes."""
        return Rows(self.rows[x.at[:, 0]], self.rows[x.at[:, 1]], len(x.at), True, self.workers)

    def _by_bodies(self, pairs: Ints, which: Ints, shapes: Ints) -> tuple[list[BodyPairs], Ints]:
        from gjk3d.bodies.shape_list import ShapeList  # loaded where there is a mesh or the like

        solids = self.store
        convex = ~solids.singly
        solvable = convex[shapes].any(axis=1)
        for number in np.unique(shapes[solids.mixed[shapes]]).tolist():
            if solids.shapes[number]._as_parts().any_mapped:
                solvable &= (shapes != number).all(axis=1)
        left, which, shapes = which[~solvable], which[solvable], shapes[solvable]
        if not len(which):
            return [], left
        swapped = convex[shapes[:, 0]]
        body, partner = np.where(swapped, shapes[:, 1], shapes[:, 0]), np.where(swapped, shapes[:, 0], shapes[:, 1])
        numbers, shelf = solids.cached.get("shelf", (partner[:0], None))
        if not np.isin(
            partner, numbers
        ).all():  # shapes stay on the shelf, as objects are often added and removed in steps
            numbers = np.union1d(numbers, partner)
            shelf = ShapeList([solids.shapes[number] for number in numbers.tolist()])
            solids.cached["shelf"] = numbers, shelf
        members = np.searchsorted(numbers, partner)
        at = pairs[which] + (0, self.shift)
        at[swapped] = at[swapped, ::-1]
        order = np.argsort(body, kind="stable")
        begins = np.flatnonzero(np.diff(body[order], prepend=-1))
        return [
            BodyPairs(solids.shapes[body[some[0]]], shelf, members[some], at[some], swapped[some], which[some])
            for some in np.split(order, begins[1:])
        ], left

    # --- distances -----------------------------------------------------------------------------------------------

    def distances(
        self, pairs: Ints, max_distance: float = inf, mode: int = narrow.SIGNED, overlapping: bool = False
    ) -> Answers:  # fmt: skip
        """Return the signed distances. A distance above ``max_distance`` may be a lower bound.

        With mode UNSIGNED overlapping pairs with bodies have distance 0 if `depth_comes_later`. With ``overlapping``
        all pairs are known to overlap, so these are not solved.
        """
        convex, mixed = self.by_kind(pairs)
        if not len(mixed):
            return self._convex_distances(pairs, max_distance)
        answers = Answers(pairs, np.empty((len(pairs), narrow.FLOATS)), np.zeros((len(pairs), narrow.INTS), np.int64))
        if len(mixed) < len(pairs):
            solved = self._convex_distances(pairs[convex], max_distance)
            answers.out[convex], answers.flags[convex] = solved.out, solved.flags
        if mode == narrow.UNSIGNED and overlapping:
            at_once, mixed = mixed, mixed[:0]
            if self.mine.planes or self.theirs.planes:
                on_plane = self.store.planes[self.numbers(pairs[at_once])].any(axis=1)
                at_once, mixed = at_once[~on_plane], at_once[on_plane]
            answers.out[at_once], answers.flags[at_once] = 0.0, _OVERLAPPING
        for a, b, some, rows in self.by_shapes(pairs, mixed) if len(mixed) else ():
            pair_mode = mode if depth_comes_later(a, b) else narrow.SIGNED
            answers.out[some], answers.flags[some] = _solved(a, b, rows, pair_mode, max_distance)
        return answers

    def _convex_distances(self, pairs: Ints, max_distance: float) -> Answers:
        shapes, table = self.table(pairs)
        wanted = Wanted(narrow.SIGNED, max_distance)
        return Answers(pairs, *self.store.solve(shapes, table, self.rows, wanted, self.workers))

    def distances_within(self, pairs: Ints, within: float, mode: int = narrow.SIGNED) -> Answers:
        """Return the signed distances of the pairs that are not proven to be farther apart, see `distances`.

        The collision query comes first: it costs a third of the distance for overlapping boxes of separated shapes.
        """
        most = max(within, 0.0)
        answers = self.distances(pairs[self.collide(pairs, most)] if most < inf else pairs, most, mode, most == 0.0)
        near = answers.out[:, 1] <= within
        return answers if near.all() else answers[near]

    def least_possible(self, pairs: Ints) -> Array:
        """Return lower bounds on the signed distances of pairs with bodies, by their boxes."""
        from gjk3d.bodies.parts import least_possible  # loaded where there is a mesh or the like

        return least_possible(self.store.shapes, self.numbers(pairs), self.rows, pairs + (0, self.shift))

    def settled(self, answers: Answers, within: float) -> Answers:
        """Return results whose bits do not depend on the search radius of a pair."""
        # a depth does not depend on the radius
        mixed = self.by_kind(answers.pairs)[1]
        again = mixed[answers.out[mixed, 1] > 0.0]
        if len(again):
            fresh = self.distances(answers.pairs[again], max(within, 0.0))
            answers.out[again], answers.flags[again] = fresh.out, fresh.flags
        return answers

    def result(self, answers: Answers, max_distance: float) -> PairDistance:
        """Return the results with their shapes and poses."""
        pairs = answers.pairs
        poses: Any = PairPoses(self.rows.copy(), pairs + (0, self.shift))
        query = (narrow.SIGNED, max_distance, None, False)
        return pair_distance(answers.out, answers.flags, self.numbers(pairs), self.store.shapes, poses, query)


def _solved(a: Any, b: Any, rows: Rows, mode: int, max_distance: float) -> tuple[Array, Ints]:
    out, flags = empty_answers(rows.total)
    find("solve", a, b)(a, b, rows, Wanted(mode, max_distance), out, flags)
    return out, flags


_FIRST = 256  #: pairs in the first block


def nearest(query: SceneQuery, count: int | None, within: float) -> Answers:
    """Return the nearest pairs up to a distance. If the last ones tie, more than ``count`` pairs are returned.

    Pairs are solved in the order of the gaps between their boxes. The search radius grows from 0, which finds all
    overlapping pairs, until it contains enough pairs.
    """
    best, worst = Answers.joined([]), within
    limit = wider(within)
    radius, before = limit if count is None else 0.0, -1.0
    # of objects spread evenly some pairs are nearer than this
    step = query.size / (3.0 * max(query.count, 1) ** (1.0 / 3.0)) / 8.0
    while True:
        pairs = query.pairs(radius)
        gaps = query.gaps(pairs)
        fresh = (gaps > before) & (gaps <= radius)
        pairs, gaps = pairs[fresh], gaps[fresh]
        convex, mixed = query.by_kind(pairs)
        best, worst = _solve_by_gap(pairs[convex], gaps[convex], query, count, best, worst)
        best, worst = _solve_mixed(pairs[mixed], query, count, best, worst)
        enough = count is not None and len(best) >= count
        if (enough and worst <= radius) or radius >= limit:
            return best
        before = radius
        radius = wider(worst) if enough else max(2.0 * radius, step)
        if not 0.0 < radius <= query.size and not enough:
            radius = inf
        radius = min(radius, limit)


def _solve_by_gap(
    pairs: Ints, gaps: Array, query: SceneQuery, count: int | None, best: Answers, worst: float
) -> tuple[Answers, float]:
    """Solve pairs, the nearest boxes first; return the nearest pairs so far, and the distance of the last one."""
    order = np.argsort(gaps, kind="stable")
    start, size = 0, max(_FIRST, len(order) if count is None else count)
    while start < len(order) and gaps[order[start]] <= wider(max(worst, 0.0)):
        some = order[start : start + size]
        best, worst = _nearest_of(best, query.distances_within(pairs[some], worst), count, worst)
        start += size
        size *= 2
    return best, worst


def _solve_mixed(
    pairs: Ints, query: SceneQuery, count: int | None, best: Answers, worst: float
) -> tuple[Answers, float]:  # fmt: skip
    """Solve pairs with bodies one by one, each within the distance that the previous ones left.

    Pairs are sorted by a lower bound of their distance. The search ends when no bound is below the last distance.
    """
    if not len(pairs):
        return best, worst
    least = query.least_possible(pairs)
    if count is None:
        return _nearest_of(best, query.distances_within(pairs[least <= worst], worst), count, worst)
    for k in np.argsort(least, kind="stable"):
        if least[k] > worst:
            break
        best, worst = _nearest_of(best, query.distances_within(pairs[k : k + 1], worst), count, worst)
    return best, worst


def nearest_cached(solved: Answers, mixed: Ints, query: SceneQuery, count: int, within: float) -> Answers:
    """Return the nearest pairs of solved ones and of unsolved ones with bodies, up to a distance."""
    best, worst = _nearest_of(Answers.joined([]), solved, count, within)
    return _solve_mixed(mixed, query, count, best, worst)[0]


def _nearest_of(best: Answers, fresh: Answers, count: int | None, worst: float) -> tuple[Answers, float]:
    """Return the nearest pairs of ``best`` and ``fresh``, and the distance of the last one."""
    best = Answers.joined([best, fresh])
    if count is not None and len(best) >= count:
        last = float(np.partition(best.out[:, 0], count - 1)[count - 1])
        # ``worst`` limits lower bounds: a distance may exceed it by rounding
        best, worst = best[best.out[:, 0] <= last], min(worst, last)
    return best, worst


def patches(query: SceneQuery, answers: Answers, within: float, most: int | None) -> Contact:
    """Return the contact patches of pairs within a distance. Depths of bodies are computed when they are read."""
    convex, mixed = query.by_kind(answers.pairs)

    def of_convex(which: Any) -> tuple[Array, Ints]:
        numbers, table = query.table(answers.pairs[which])
        return query.store.patches(numbers, table, query.rows, answers.out[which], within, most, query.workers)

    if not len(mixed):
        return Contact(query.result(answers, within), *of_convex(convex))
    from gjk3d.bodies.contact import contact_points, contact_points_beside  # loaded where there is a mesh or the like

    result = _unread(query, answers, mixed[answers.out[mixed, 1] <= 0.0], within)
    flat, counts = of_convex(convex)
    body_pairs, left = query.by_bodies(answers.pairs, mixed)
    touches = [
        touching._replace(which=x.which[touching.which])
        for x in body_pairs
        for touching in contact_points_beside(
            x.body, x.shelf, x.members, query.rows_of(x), answers.out[x.which], x.swapped, within, most
        )
    ]
    touches += [
        touching._replace(which=which[touching.which])
        for a, b, which, rows in (query.by_shapes(answers.pairs, left) if len(left) else ())
        for touching in contact_points(a, b, rows, answers.out[which], within, most)
    ]
    columns = max([flat.shape[1], *(int(some.counts.max(initial=0)) for some in touches)])
    points, count, normals = pad_points(touches, len(answers), columns)
    if len(counts):
        points[convex, : flat.shape[1]], count[convex] = flat, counts
        which, column = (np.arange(columns) < counts[:, None]).nonzero()
        rows = np.arange(len(answers))[convex][which]
        normals[rows, column] = answers.out[rows, 3:6]
    return Contact(result, points, count, normals)


def _unread(query: SceneQuery, answers: Answers, deep: Ints, within: float) -> LazyDistance:
    """Return the distances of pairs. Those of ``deep`` pairs are computed when they are read."""
    snapshot = copy(query)  # the objects and poses at the time of the query
    snapshot.rows, snapshot.which_a, snapshot.which_b = query.rows.copy(), query.which_a.copy(), query.which_b.copy()

    def find(index: int | None) -> Any:
        which = np.arange(len(answers)) if index is None else np.arange(len(answers))[[index]]
        unsolved = np.flatnonzero(np.isin(which, deep))
        pairs, out, flags = answers.pairs[which], answers.out[which], answers.flags[which]
        if len(unsolved):
            fresh = snapshot.distances(pairs[unsolved], within)
            out[unsolved], flags[unsolved] = fresh.out, fresh.flags
        result = snapshot.result(Answers(pairs, out, flags), within)
        return result if index is None else result[0]

    return find
