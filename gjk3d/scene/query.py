"""The pairs of a scene, and the results of its queries.

All queries have one search and one narrow phase.

`SceneQuery` searches pairs by `gjk3d.scene.pairs`, which solves the pairs of convex shapes at once. The other pairs are
solved by `gjk3d.engine.pairs.ShapeStore`: pairs with bodies, with functions of users, or too close to decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from gjk3d.convex.batch import Rows, Wanted, either, empty_answers, solver
from gjk3d.engine.pairs import PairDistance, pair_distance
from gjk3d.frozen import shown
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.workspace import Solver, per_thread
from gjk3d.poses import matrices
from gjk3d.query.contact import Contact, LazyDistance, pad_points
from gjk3d.query.raycast import FIELDS, RayHit
from gjk3d.results import Distance, Status, compared, pack_marks
from gjk3d.scene.objects import Objects, packed
from gjk3d.scene.pairs import (
    CERTAIN,
    FIRST,
    LIST,
    SEPARATED,
    TEST,
    UNSURE,
    UNSURE_PAIRS,
    WIDER,
    Answer,
    Hits,
    Shapes,
    Side,
    near_pairs,
)
from gjk3d.scene.pairs import nearest as nearest_pair
from gjk3d.typing import Array, Ints, N
from gjk3d.wording import count as number_of

if TYPE_CHECKING:
    from gjk3d.results import Each

# --- results ---------------------------------------------------------------------------------------------------------


Name = str | None
NamePair = tuple[str, Name]
All = TypeVar("All", Distance[Array], Contact[Array])
Row = TypeVar("Row", Distance[float], Contact[float])


def named(slots: Ints, names: tuple[list[str], list[str]]) -> list[NamePair]:
    """Return the names of pairs of slots."""
    mine, theirs = names
    second: list[Name] = [name or None for name in theirs]  # a shape as the target has no name
    return list(
        zip(map(mine.__getitem__, slots[:, 0].tolist()), map(second.__getitem__, slots[:, 1].tolist()), strict=True)
    )


@compared("pairs", "result")
class ScenePairs(Generic[All, Row]):
    """Result of `Scene.closest` and `Scene.contacts`: pairs of names, each with a row of the result.

    Iteration yields ``name_a, name_b, row``, and an index returns one such tuple. The second name is None if the
    target of the query was a shape.

    Attributes
    ----------
    pairs : list of (str, str)
        Names of the two objects of each pair.
    result : Distance or Contact
        The results of all pairs in arrays, in the same order.

    Examples
    --------
    >>> import gjk3d as gk
    >>> scene = gk.Scene()
    >>> scene.add("ball", gk.Sphere(1))
    >>> scene.add("point", gk.Point((0, 0, 3)))
    >>> found = scene.closest()
    >>> found.pairs, found.result.distance.tolist()
    ([('ball', 'point')], [2.0])
    >>> for name_a, name_b, row in scene.contacts(within=5.0):
    ...     print(name_a, name_b, row.gaps.tolist())
    ball point [2.0]
    """

    __slots__ = ("_named", "_names", "_slots", "result")
    _repr_mimebundle_ = shown
    result: All

    def __init__(self, slots: Ints, names: tuple[list[str], list[str]], result: All) -> None:
        self._slots, self.result = slots, result
        self._names = list(names[0]), list(names[1])  # copies, since the scene may change
        self._named: list[NamePair] | None = None

    @property
    def pairs(self) -> list[NamePair]:
        """The names of each pair. The second is None if the target of the query was a shape."""
        if self._named is None:
            self._named = named(self._slots, self._names)
        return self._named

    def __len__(self) -> int:
        return len(self._slots)

    def __getitem__(self, index: int) -> tuple[str, Name, Row]:
        row: Any = self.result[index]  # the two TypeVars are independent
        return (*self.pairs[index], row)

    def __iter__(self) -> Iterator[tuple[str, Name, Row]]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        kind = "Contact" if isinstance(self.result, Contact) else "Distance"
        return f"{kind} of {number_of(len(self), 'pair')} of objects"


@compared()
class Clearance(NamedTuple):
    """Result of `Scene.clearance`: the least signed distance, and the pair that has it.

    Attributes
    ----------
    distance : float
        The signed distance: negative for an overlap, infinite without any pair.
    pair : (str, str) or None
        Names of the pair. The second is None if the target of the query was a shape.
    result : Distance or None
        Bounds, points and normal of that pair.

    Examples
    --------
    >>> import gjk3d as gk
    >>> scene = gk.Scene()
    >>> scene.add("ball", gk.Sphere(1))
    >>> scene.clearance(gk.Point((0, 0, 3))).distance, scene.clearance().pair
    (2.0, None)
    """

    distance: float = inf
    pair: NamePair | None = None
    result: Distance[float] | None = None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return shown(self)


@compared(*FIELDS, "name")
class SceneHit(RayHit[N]):
    """Result of `Scene.raycast`: a `RayHit` with the name of the object.

    Attributes
    ----------
    name : str or None, or list of such
        The first object that a ray hits, or None.

    Examples
    --------
    >>> import gjk3d as gk
    >>> scene = gk.Scene()
    >>> scene.add("ball", gk.Sphere(1))
    >>> scene.raycast((0, 0, 3), [(0, 0, -1), (0, 0, 1)]).name
    ['ball', None]
    """

    if TYPE_CHECKING:
        name: Each[Name, list[Name]] = Each()
    else:  # a slot would not be a descriptor to type checkers
        __slots__ = ("name",)

    def __getitem__(self, index: SupportsIndex) -> SceneHit[float]:
        """Return the hit of one ray of a stack."""
        plain = super().__getitem__(index)
        row: SceneHit[float] = object.__new__(SceneHit)
        for field in FIELDS:
            setattr(row, field, getattr(plain, field))
        row.name = self.name[index]
        return row

    def __repr__(self) -> str:
        text = super().__repr__()
        return text if self.point.ndim == 2 or self.name is None else f"{text} of {self.name!r}"


# --- pairs -----------------------------------------------------------------------------------------------------------


_ROOM = 16384  #: pairs of one call of the search, at most
MANY = 4096  #: objects of a large scene: it uses its cache, and no single call searches the nearest pair, for Ctrl-C
_FEW = 1024  #: pairs that are sorted by their names, at most, which needs no ranks
_BLOCK = 16  #: pairs with bodies that are tested at once where one collision is enough
_SECOND = (1 << 31) - 1  #: bits of the second rank in the key of a pair
_NONE = np.zeros(0, dtype=np.int64)
_NO_TREE = np.array([-1, -1, 0], dtype=np.int64)
_FIRST_PAIR, _NO_PAIRS = np.zeros((1, 2), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)


def wider(within: float) -> float:
    """Return the search distance for boxes, with a margin for the error of the narrow phase."""
    return within * WIDER if within > 0.0 else 0.0


@per_thread
class _Scratch:
    """Scratch memory for the queries of scenes."""

    __slots__ = ("hits", "solver")

    def __init__(self) -> None:
        stack, state = np.empty((64, 2), dtype=np.int64), np.zeros(4, dtype=np.int64)
        self.hits = Hits(stack, state, np.empty((_ROOM, 3), dtype=np.int64), np.empty(_ROOM))
        self.solver = solver()


def search_scratch(rows: int) -> tuple[Solver, Hits]:
    """Return the solver and the lists of this thread, with at least ``rows`` rows for the stack."""
    scratch = _Scratch()
    if len(scratch.hits.stack) < rows:
        scratch.hits = scratch.hits._replace(stack=np.empty((rows, 2), dtype=np.int64))
    return scratch.solver, scratch.hits


_POSES = [3, 8]  #: columns of a table with the pose rows of A and of B
_OVERLAPPING = (int(Status.OVERLAPPING), 0, 1, 0)  #: marks of an answer, see `gjk3d.narrow.solve`


class Answers:
    """Pairs of slots, the numbers of their shapes, and their results as rows of `gjk3d.narrow.solve`."""

    __slots__ = ("flags", "numbers", "out", "pairs", "table")

    def __init__(self, pairs: Ints, numbers: Ints, table: Ints, out: Array, flags: Ints) -> None:
        self.pairs, self.numbers, self.table, self.out, self.flags = pairs, numbers, table, out, flags

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, which: NDArray[np.bool_] | Ints) -> Answers:
        return Answers(*(part[which] for part in self._parts()))

    def _parts(self) -> tuple[Any, ...]:
        return self.pairs, self.numbers, self.table, self.out, self.flags

    def and_more(self, fresh: Answers) -> Answers:
        """Return these results followed by those of ``fresh``."""
        return Answers(*map(np.concatenate, zip(self._parts(), fresh._parts(), strict=True)))

    def within(self, distance: float) -> Answers:
        """Return the results of the pairs that are not proven to be farther apart than a distance."""
        near = self.out[:, 1] <= distance
        return self if near.all() else self[near]


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


class SceneQuery:
    """The near pairs of one scene, of a slot and its scene, or of two scenes, and their narrow phase.

    The slot ``only`` may be that of a visitor (`Objects.visitor`). ``ordered`` orders pairs by their names.
    """

    def __init__(
        self, mine: Objects, theirs: Objects, only: int = -1, visits: bool = False, ordered: bool = False,
        workers: int = 1,
    ) -> None:  # fmt: skip
        self.mine, self.theirs, self.only, self.visits, self.workers = mine, theirs, only, visits, workers
        # the first search moves a single moved object in the tree
        self._fresh, self._fresh_b, self._ordered = mine.settle_but_one(), -1, ordered
        self.store, self.names = mine.pairs, (mine.names, theirs.names)
        if theirs is mine:
            self.rows = mine.rows  # those of two scenes are joined when they are first needed
        else:
            self._fresh_b = theirs.settle_but_one()
            self.store = mine.joined(theirs)

    @cached_property
    def _sides(self) -> tuple[Shapes, Side, Side, int, Ints]:
        """The shapes, both sides, the only slot of the second side, and the keys of allowed pairs."""
        mine, theirs, only = self.mine, self.theirs, self.only
        a = mine.side(self._fresh, self._ordered)
        if theirs is not mine:
            b = theirs.side(self._fresh_b, self._ordered, None, mine.translated(theirs), len(mine.pairs))
            return packed(self.store), a, b, only, _NONE
        b = mine.side(only if self.visits else -1, self._ordered, _NONE)
        if only >= 0 and mine.is_unbounded(only):
            a, b, only = b._replace(floors=np.array([only]), state=_NO_TREE, fresh=-1), a._replace(floors=_NONE), -1
        return packed(self.store), a, b, only, mine.keys

    def _next(self, margin: float, how: int, again: bool) -> tuple[int, Hits]:
        """Start or continue a search, see `near_pairs`; return its result, and its list, valid until the next call."""
        # three rows for each level of one tree, or two for each level of both
        solver, hits = search_scratch(len(self.mine.tree.links) + len(self.theirs.tree.links) + 4)
        count = near_pairs(*self._sides, margin, how, again, solver, hits)
        self._placed()
        return count, hits

    def _placed(self) -> None:
        """Mark the objects that the kernel has moved in the tree."""
        if self._fresh >= 0:
            self.mine.moved.clear()
        if self._fresh_b >= 0:
            self.theirs.moved.clear()

    def _lists(self, margin: float, how: int) -> Iterator[tuple[int, Hits]]:
        """Yield the number of pairs and the list of each call of a search."""
        count, hits = self._next(margin, how, False)
        while count < CERTAIN:
            yield -2 - count, hits
            count, hits = self._next(margin, how, True)
        yield count, hits

    def blocks(self, within: float) -> Iterator[tuple[Ints, Array]]:
        """Yield the pairs of slots whose boxes are near, each pair once, and lower bounds of their distances."""
        for count, hits in self._lists(within, LIST):
            yield hits.pairs[:count, :2].copy(), hits.gaps[:count].copy()

    def near(self, within: float) -> tuple[Ints, Array]:
        """Return the pairs of slots whose boxes are near, and lower bounds of their distances."""
        pairs, gaps = zip(*self.blocks(within), strict=True)
        return np.concatenate(pairs), np.concatenate(gaps)

    def any_collides(self, margin: float) -> bool:
        """Return whether any pair collides. Pairs with non-convex bodies take longer, and come last in each block."""
        how, block = (FIRST, _BLOCK) if self.workers == 1 else (LIST, _FEW)
        count, again = 0, False
        while count < CERTAIN or not again:
            count, hits = self._next(margin, how, again)
            if count == CERTAIN:
                return True
            again, few = True, count if count >= 0 else -2 - count
            pairs = hits.pairs[:few, :2].copy() if few else _NO_PAIRS
            if any(self.collide(pairs[k : k + block], margin).any() for k in range(0, few, block)):
                return True
        return False

    def collisions(self, margin: float) -> Ints:
        """Return all pairs of slots that collide, or are closer than a margin."""
        blocks = []
        for count, hits in self._lists(margin, TEST if self.workers == 1 else LIST):
            pairs = hits.pairs[:count].copy()
            if hits.state.item(UNSURE_PAIRS):
                unsure = (pairs[:, 2] == UNSURE).nonzero()[0]
                some = unsure[~self.collide(pairs[unsure, :2], margin)]
                pairs[some, 2] = SEPARATED
                pairs = pairs[pairs[:, 2] != SEPARATED]
            blocks.append(pairs[:, :2])
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def named(self, pairs: Ints) -> list[NamePair]:
        """Return the names of pairs, sorted. The name of a visitor is None."""
        mine, theirs = self.mine.names, self.theirs.names
        if self.visits:
            return [(name, None) for name in sorted(mine[j if i == self.only else i] for i, j in pairs.tolist())]
        if len(pairs) > _FEW:
            keys = np.sort(self.keys(pairs))
            mine, theirs = sorted(self.mine.slots), sorted(self.theirs.slots)
            return [(mine[key >> 31], theirs[key & _SECOND]) for key in keys.tolist()]
        named = [(mine[i], theirs[j]) for i, j in pairs.tolist()]
        return sorted((b, a) if b < a else (a, b) for a, b in named) if self.theirs is self.mine else sorted(named)

    def keys(self, pairs: Ints) -> Ints:
        """Return a sort key for each pair, an integer that orders pairs by their names."""
        first, second = self.mine.ranks[pairs[:, 0]], self.theirs.ranks[pairs[:, 1]]
        if self.theirs is self.mine:
            first, second = np.minimum(first, second), np.maximum(first, second)
        keys: Ints = (first << 31) | second
        return keys

    def by_name(self, pairs: Ints) -> Ints:
        """Return the indices that sort pairs by their names."""
        return self.keys(pairs).argsort(kind="stable")

    @cached_property
    def rows(self) -> Array:
        """The pose rows of the first scene, followed by those of the second."""
        return np.concatenate([self.mine.rows, self.theirs.rows])

    @property
    def distances_between_boxes(self) -> tuple[float, float]:
        """The distance within which pairs are searched first, and the greatest distance of two boxes."""
        low, high = self.mine.tree.bounds.reshape(2, 3)
        other = self.theirs.tree.bounds
        if self.visits and not self.mine.is_unbounded(self.only):
            other = self.mine.tree.boxes[self.only]
        low, high = np.minimum(low, other[:3]), np.maximum(high, other[3:])
        size = float(np.abs(high - low).sum()) if (low <= high).all() else 0.0
        count = len(self.mine.tree) + (0 if self.theirs is self.mine else len(self.theirs.tree))
        return size / (3.0 * max(count, 1) ** (1.0 / 3.0)) / 8.0, size

    # --- the narrow phase -------------------------------------------------------------------------------------------

    def numbers(self, pairs: Ints) -> Ints:
        """Return the numbers of the shapes of pairs of slots."""
        numbers = np.empty((len(pairs), 2), dtype=np.int64)
        numbers[:, 0], numbers[:, 1] = self.mine.which[pairs[:, 0]], self.theirs.which[pairs[:, 1]]
        if self.theirs is not self.mine:
            numbers[:, 1] += len(self.mine.pairs)
        return numbers

    def table(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return pairs of slots as pairs of shape numbers, and as the table for the kernels."""
        numbers = self.numbers(pairs)
        at = pairs if self.theirs is self.mine else pairs + (0, len(self.mine.rows))
        return numbers, self.store.table(numbers, at)

    def by_kind(self, numbers: Ints) -> tuple[Ints | slice, Ints]:
        """Return the indices of the convex pairs, and of the pairs with a non-convex body."""
        if not self.store.any_mixed:
            return slice(None), _NONE
        mask = either(self.store.mixed, numbers)
        return (~mask).nonzero()[0], mask.nonzero()[0]

    def collide(self, pairs: Ints, margin: float) -> NDArray[np.bool_]:
        """Return which pairs collide, see `gjk3d.collide`."""
        return self.store.collide(*self.table(pairs), self.rows, margin, self.workers)

    def nearest(self, within: float) -> Nearest | None:
        """Return the nearest pair; None if the kernel cannot solve it, or no pair is within the distance."""
        few = self.only >= 0 or len(self.mine.slots) <= MANY
        if self.workers != 1 or not few or not self.mine.slots or not self.theirs.slots:
            return None
        scratch, hits = search_scratch(len(self.mine.tree.links) + len(self.theirs.tree.links) + 4)
        out, flags = np.empty((2, narrow.FLOATS + 16)), np.empty((2, narrow.INTS + 2), dtype=np.int64)
        code = nearest_pair(*self._sides, within, scratch.workspace, hits.stack, Answer(out, flags))
        self._placed()
        return None if code < 0 else Nearest(self, out, flags, within)

    # --- distances -----------------------------------------------------------------------------------------------

    def distances(
        self, pairs: Ints, max_distance: float = inf, mode: int = narrow.SIGNED, table: tuple[Ints, Ints] | None = None
    ) -> Answers:
        """Return the signed distances. A distance above ``max_distance`` may be a lower bound.

        With mode UNSIGNED the depth of a body is not computed, except on a half-space, and the distance is 0. If
        ``max_distance`` is 0 as well, the pairs must be known to touch, and pairs with bodies are not solved.
        """
        store, wanted = self.store, Wanted(narrow.SIGNED, max_distance)
        numbers, rows = table or self.table(pairs)
        if mode == narrow.SIGNED or not store.any_mixed:
            return Answers(pairs, numbers, rows, *store.solve(numbers, rows, self.rows, wanted, self.workers))
        deep = either(store.mixed, numbers) & ~either(store.planes, numbers)
        now, later = (~deep).nonzero()[0], deep.nonzero()[0]
        out, flags = empty_answers(len(pairs))
        if len(now):
            out[now], flags[now] = store.solve(numbers[now], rows[now], self.rows, wanted, self.workers)
        if max_distance == 0.0:
            out[later], flags[later] = 0.0, _OVERLAPPING
        else:
            store.solve_singly(numbers, rows, self.rows, later, wanted._replace(mode=mode), out, flags)
        return Answers(pairs, numbers, rows, out, flags)

    def distances_within(self, pairs: Ints, within: float, mode: int = narrow.SIGNED) -> Answers:
        """Return the signed distances of the pairs that are not proven farther apart than ``within``, see `distances`.

        A collision query comes first. For pairs of which only the boxes overlap, it takes a third of the time.
        """
        most = max(within, 0.0)
        return self.distances(pairs[self.collide(pairs, most)] if most < inf else pairs, most, mode).within(within)

    def touching(self, within: float) -> Answers:
        """Return the distances of all pairs up to a distance, in order, without the depths that `distances` omits."""
        pairs = self.collisions(within)
        return self.distances(pairs[self.by_name(pairs)], within, narrow.UNSIGNED).within(within)

    def least_possible(self, pairs: Ints) -> Array:
        """Return lower bounds of the signed distances of pairs with bodies, by their boxes."""
        from gjk3d.bodies.parts import least_possible  # loaded where there is a mesh or the like

        numbers, table = self.table(pairs)
        return least_possible(self.store.shapes, numbers, self.rows, table[:, _POSES])

    def settled(self, answers: Answers, within: float) -> Answers:
        """Return results that do not depend on the search radius, not even in the last bits."""
        # a depth does not depend on the radius
        mixed = self.by_kind(answers.numbers)[1]
        again = mixed[answers.out[mixed, 1] > 0.0]
        if len(again):
            fresh = self.distances(answers.pairs[again], max(within, 0.0))
            answers.out[again], answers.flags[again] = fresh.out, fresh.flags
        return answers

    def result(self, answers: Answers, max_distance: float) -> PairDistance:
        """Return the results with their shapes and poses."""
        poses: Any = PairPoses(self.rows.copy(), answers.table[:, _POSES])
        query = (narrow.SIGNED, max_distance, None, False)
        return pair_distance(answers.out, answers.flags, answers.numbers, self.store.shapes, poses, query)


class Nearest:
    """The nearest pair, with the arrays that the kernel writes."""

    __slots__ = ("_flags", "_query", "out", "within")

    def __init__(self, query: SceneQuery, out: Array, flags: Ints, within: float) -> None:
        self._query, self.out, self._flags, self.within = query, out, flags, within

    @property
    def slots(self) -> list[int]:
        """The slots of A and B."""
        slots: list[int] = self._flags[0, narrow.INTS :].tolist()
        return slots

    @property
    def names(self) -> NamePair:
        """The names of A and B; None for a visitor."""
        (a, b), (mine, theirs) = self.slots, self._query.names
        return mine[a], theirs[b] or None

    @property
    def _request(self) -> Any:
        return narrow.SIGNED, max(self.within, 0.0), None, False

    def pairs(self) -> ScenePairs[Any, Any]:
        """Return this pair as the result of `Scene.closest`."""
        poses = self.out[:, narrow.FLOATS :].reshape(1, 2, 4, 4)
        out, flags, numbers = self.out[:1], self._flags[:1], self._flags[1:, narrow.INTS :]
        result = pair_distance(out, flags, numbers, self._query.store.shapes, poses, self._request)
        a, b = self.names
        return ScenePairs(_FIRST_PAIR, ([a], [b or ""]), result)

    def clearance(self) -> Clearance:
        """Return this pair as the result of `Scene.clearance`."""
        (status, steps, tight, *_), (*_, i, j) = self._flags.tolist()
        result: Distance[float] = object.__new__(Distance)
        a, b = (row[narrow.FLOATS :].tobytes() for row in self.out)
        shapes = self._query.store.shapes
        result._row = self.out, pack_marks(status, steps, tight), shapes[i], shapes[j], self._request, a, b
        return Clearance(result.distance, self.names, result)


_FIRST = 256  #: pairs in the first block


def nearest(query: SceneQuery, count: int | None, within: float) -> Answers:
    """Return the nearest pairs up to a distance. If the last pairs tie, more than ``count`` pairs are returned.

    Pairs are solved in the order of the gaps between their boxes. The search radius grows from 0, which finds all
    overlapping pairs, until it contains enough pairs.
    """
    best, worst = query.distances(_NO_PAIRS), within
    limit = wider(within)
    radius, before = limit if count is None else 0.0, -1.0
    while True:
        pairs, gaps = query.near(radius)
        fresh = (gaps > before) & (gaps <= radius)
        pairs, gaps = pairs[fresh], gaps[fresh]
        convex, mixed = query.by_kind(query.numbers(pairs))
        bounds, size = np.where(gaps > 0.0, gaps, -inf)[convex], max(_FIRST, count or 0)
        best, worst = _nearest_of(pairs[convex], bounds, size, query, count, best, worst)
        best, worst = _nearest_mixed(pairs[mixed], query, count, best, worst)
        enough = count is not None and len(best) >= count
        if (enough and worst <= radius) or radius >= limit:
            return best
        before = radius
        if enough:
            radius = wider(worst)
        else:  # objects that are spread evenly have pairs within the first distance
            first, greatest = query.distances_between_boxes
            radius = max(2.0 * radius, first)
            radius = radius if 0.0 < radius <= greatest else inf
        radius = min(radius, limit)


def _nearest_of(
    pairs: Ints, bounds: Array, size: int, query: SceneQuery, count: int | None, best: Answers, worst: float
) -> tuple[Answers, float]:
    """Return the nearest pairs of ``best`` and of ``pairs``, and the distance of the last one.

    Pairs are solved in blocks, the least bounds first, and each only up to the last distance so far.
    """
    order = bounds.argsort(kind="stable")
    while len(order):
        order = order[bounds[order] <= (worst * WIDER if worst > 0.0 else worst)]
        some = order if count is None else order[:size]
        best, worst = _least(best.and_more(query.distances_within(pairs[some], worst)), count, worst)
        order, size = order[len(some) :], size if size == 1 else 2 * size
    return best, worst


def _nearest_mixed(
    pairs: Ints, query: SceneQuery, count: int | None, best: Answers, worst: float
) -> tuple[Answers, float]:
    """Return the result of `_nearest_of` for pairs with bodies, solved one by one since their depths take longer."""
    if not len(pairs):
        return best, worst
    return _nearest_of(pairs, query.least_possible(pairs), 1, query, count, best, worst)


def nearest_cached(solved: Answers, mixed: Ints, query: SceneQuery, count: int, within: float) -> Answers:
    """Return the nearest pairs up to a distance, from solved pairs and from unsolved pairs with bodies."""
    return _nearest_mixed(mixed, query, count, *_least(solved, count, within))[0]


def _least(answers: Answers, count: int | None, worst: float) -> tuple[Answers, float]:
    """Return the nearest pairs, and the distance of the last one."""
    if count is not None and len(answers) >= count:
        last = float(np.partition(answers.out[:, 0], count - 1)[count - 1])
        # ``worst`` limits lower bounds: a distance may exceed it by rounding
        answers, worst = answers[answers.out[:, 0] <= last], min(worst, last)
    return answers, worst


def patches(query: SceneQuery, answers: Answers, within: float, most: int | None) -> Contact:
    """Return the contact patches of pairs within a distance. Depths of bodies are computed when they are read."""
    convex, mixed = query.by_kind(answers.numbers)
    flat, counts = query.store.patches(
        answers.numbers[convex], answers.table[convex], query.rows, answers.out[convex], within, most, query.workers
    )
    if not len(mixed):
        return Contact(query.result(answers, within), flat, counts)
    result = _unread(query, answers, mixed[answers.out[mixed, 1] <= 0.0], within)
    columns = flat.shape[1]
    points, count, normals = pad_points(_touching(query, answers, mixed, within, most), len(answers), columns)
    if len(counts):
        points[convex, :columns], count[convex] = flat, counts
        which, column = (np.arange(columns) < counts[:, None]).nonzero()
        rows = np.arange(len(answers))[convex][which]
        normals[rows, column] = answers.out[rows, 3:6]
    return Contact(result, points, count, normals)


def _touching(query: SceneQuery, answers: Answers, mixed: Ints, within: float, most: int | None) -> list[Any]:
    """Return the contact points of pairs with bodies, as a list of `gjk3d.bodies.contact.Touching`.

    The pairs of a body with all convex shapes are solved in one call, except half-spaces and functions of users. All
    other pairs are solved one by one.
    """
    # loaded where there is a mesh or the like
    from gjk3d.bodies.contact import Touching, contact_points, contact_points_beside

    store, numbers, at = query.store, answers.numbers[mixed], answers.table[mixed][:, _POSES]
    simple = ~store.singly
    at_once = either(simple, numbers)
    for number in set(numbers[store.mixed[numbers]].tolist()):
        if store.shapes[number]._as_parts().any_mapped:
            at_once &= (numbers != number).all(axis=1)
    blocks = [
        (which, contact_points(a, b, rows, answers.out[which], within, most))
        for a, b, which, rows in store.by_shapes(answers.numbers, answers.table, query.rows, mixed[~at_once])
    ]
    which, numbers, at = mixed[at_once], numbers[at_once], at[at_once]
    swapped = simple[numbers[:, 0]]
    numbers[swapped], at[swapped] = numbers[swapped, ::-1], at[swapped, ::-1]
    members, shapes = store.beside(numbers[:, 1])
    for number in sorted(set(numbers[:, 0].tolist())):
        k = (numbers[:, 0] == number).nonzero()[0]
        rows = Rows(query.rows[at[k, 0]], query.rows[at[k, 1]], len(k), True, query.workers)
        out, body = answers.out[which[k]], store.shapes[number]
        blocks.append((which[k], contact_points_beside(body, shapes, members[k], rows, out, swapped[k], within, most)))
    return [Touching(which[touching.which], *touching[1:]) for which, some in blocks for touching in some]


def _unread(query: SceneQuery, answers: Answers, deep: Ints, within: float) -> LazyDistance:
    """Return the distances of pairs; the distances of the pairs ``deep`` are computed when they are read."""
    store, rows, request = query.store, query.rows.copy(), (narrow.SIGNED, within, None, False)

    def find(index: int | None) -> Any:
        which = np.arange(len(answers))[slice(None) if index is None else [index]]
        some, unsolved = answers[which], np.isin(which, deep).nonzero()[0]
        store.solve_singly(some.numbers, some.table, rows, unsolved, Wanted(*request[:2]), some.out, some.flags)
        poses: Any = PairPoses(rows, some.table[:, _POSES])
        result = pair_distance(some.out, some.flags, some.numbers, store.shapes, poses, request)
        return result if index is None else result[0]

    return find
