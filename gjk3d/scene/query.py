"""The search for pairs of a scene, their narrow phase, and the results.

`SceneQuery` searches pairs with `gjk3d.scene.pairs`, which also solves pairs of convex shapes.
`gjk3d.engine.pairs.ShapeStore` solves the other pairs: pairs with non-convex bodies or with support mappings of users,
and pairs that floating-point numbers cannot decide.
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
    """Return the names of pairs of slots (n, 2). ``names`` has the names by slot of the first and the second scene."""
    mine, theirs = names
    second: list[Name] = [name or None for name in theirs]  # a shape as the target has no name
    return list(
        zip(map(mine.__getitem__, slots[:, 0].tolist()), map(second.__getitem__, slots[:, 1].tolist()), strict=True)
    )


@compared("pairs", "result")
class ScenePairs(Generic[All, Row]):
    """Result of `Scene.closest` and `Scene.contacts`: pairs of objects with their distances or contacts.

    Iteration yields a tuple ``name_a, name_b, row`` for each pair, where ``row`` is the `Distance` or `Contact` of the
    pair. An index returns one of these tuples.

    Attributes
    ----------
    pairs : list of (str, str or None)
        Names of the two objects of each pair. The second name is None if the target of the query was a shape.
    result : Distance or Contact
        The results of all pairs as a stack, in the order of ``pairs``.

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
        """Names of the two objects of each pair. The second name is None if the target of the query was a shape."""
        if self._named is None:
            self._named = named(self._slots, self._names)
        return self._named

    def __len__(self) -> int:
        return len(self._slots)

    def __getitem__(self, index: int) -> tuple[str, Name, Row]:
        row: Any = self.result[index]  # type checkers cannot relate the two TypeVars
        return (*self.pairs[index], row)

    def __iter__(self) -> Iterator[tuple[str, Name, Row]]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        kind = "Contact" if isinstance(self.result, Contact) else "Distance"
        return f"{kind} of {number_of(len(self), 'pair')} of objects"


@compared()
class Clearance(NamedTuple):
    """Result of `Scene.clearance`: the least signed distance of all pairs, and its pair.

    Attributes
    ----------
    distance : float
        The least signed distance: negative for an overlap, infinite without pairs.
    pair : (str, str or None) or None
        Names of the two objects, or None without pairs. The second name is None if the target of the query was a shape.
    result : Distance or None
        Bounds, witness points and normal of the pair, or None without pairs.

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
    name : str or None, or list of str or None
        Name of the first object that the ray hits, or None if it hits no object. A list for a stack of rays.

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
    else:  # for type checkers a slot is not a descriptor
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


_ROOM = 16384  #: greatest number of pairs that one call of the search returns
#: A scene with more objects is large: `Scene.collisions` uses the cache only for large scenes, and the nearest pair of
#: a large scene is not searched in a single call of a kernel, which Ctrl-C could not interrupt.
MANY = 4096
_FEW = 1024  #: up to this number of pairs are sorted by their names, more pairs by the ranks of the names
_BLOCK = 16  #: number of pairs that are tested together if one collision is enough
_SECOND = (1 << 31) - 1  #: mask of the second rank in the key of a pair
_NONE = np.zeros(0, dtype=np.int64)
_NO_TREE = np.array([-1, -1, 0], dtype=np.int64)
_FIRST_PAIR, _NO_PAIRS = np.zeros((1, 2), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)


def wider(within: float) -> float:
    """Return the search distance for boxes of shapes up to ``within`` apart: at least 0, and slightly enlarged."""
    return within * WIDER if within > 0.0 else 0.0


@per_thread
class _Scratch:
    __slots__ = ("hits", "solver")

    def __init__(self) -> None:
        stack, state = np.empty((64, 2), dtype=np.int64), np.zeros(4, dtype=np.int64)
        self.hits = Hits(stack, state, np.empty((_ROOM, 3), dtype=np.int64), np.empty(_ROOM))
        self.solver = solver()


def search_scratch(rows: int) -> tuple[Solver, Hits]:
    """Return scratch memory of this thread: a solver, and a list of pairs with a stack of at least ``rows`` rows."""
    scratch = _Scratch()
    if len(scratch.hits.stack) < rows:
        scratch.hits = scratch.hits._replace(stack=np.empty((rows, 2), dtype=np.int64))
    return scratch.solver, scratch.hits


_POSES = [3, 8]  #: columns of ``table`` with the indices of the pose rows of A and of B
_OVERLAPPING = (int(Status.OVERLAPPING), 0, 1, 0)  #: row of ``flags`` for an overlap, see `gjk3d.narrow.solve.solve`


class Answers:
    """The signed distances of n pairs.

    ``pairs`` (n, 2) are the slots of the objects, and ``numbers`` (n, 2) are the indices of their shapes. ``table`` is
    the input of the kernels, a row for each pair. ``out`` and ``flags`` are the output of `gjk3d.narrow.solve.solve`.
    """

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
    """The poses of both shapes of n pairs, in place of an (n, 2, 4, 4) array. Indexing converts pose rows to matrices.

    ``rows`` are pose rows, and ``at`` (n, 2) are the indices of the rows of A and B.
    """

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
    """A query of the pairs within one scene, or between two scenes ``mine`` and ``theirs``.

    If ``only`` is not negative, only pairs with the object in this slot are searched. ``visits`` means that the
    slot has a visitor: a shape at a pose that is no object of the scene. With ``ordered``, the objects of a pair are in
    the order of their names.
    """

    def __init__(
        self, mine: Objects, theirs: Objects, only: int = -1, visits: bool = False, ordered: bool = False,
        workers: int = 1,
    ) -> None:  # fmt: skip
        self.mine, self.theirs, self.only, self.visits, self.workers = mine, theirs, only, visits, workers
        # if only one object has moved, the kernel of the first search moves its leaf in the tree
        self._fresh, self._fresh_b, self._ordered = mine.settle_but_one(), -1, ordered
        self.store, self.names = mine.pairs, (mine.names, theirs.names)
        if theirs is mine:
            self.rows = mine.rows  # the pose rows of two scenes are joined when they are first needed
        else:
            self._fresh_b = theirs.settle_but_one()
            self.store = mine.joined(theirs)

    @cached_property
    def _sides(self) -> tuple[Shapes, Side, Side, int, Ints]:
        """The first arguments of `near_pairs`: shapes, both sides, ``only`` and the keys of allowed pairs."""
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
        """Start a search, or continue it if ``again``; return what `near_pairs` returns, and the `Hits` with the pairs.

        The former is the number of pairs, or a negative code. The `Hits` are valid until the next call.
        """
        # the stack has three rows per level of one tree, or two rows per level of both trees
        solver, hits = search_scratch(len(self.mine.tree.links) + len(self.theirs.tree.links) + 4)
        count = near_pairs(*self._sides, margin, how, again, solver, hits)
        self._placed()
        return count, hits

    def _placed(self) -> None:
        """Clear the marks of the moved objects after the kernel has moved their leaves."""
        if self._fresh >= 0:
            self.mine.moved.clear()
        if self._fresh_b >= 0:
            self.theirs.moved.clear()

    def _lists(self, margin: float, how: int) -> Iterator[tuple[int, Hits]]:
        """Yield the number of pairs, and the `Hits` with the pairs, after each call of a search."""
        count, hits = self._next(margin, how, False)
        while count < CERTAIN:
            yield -2 - count, hits
            count, hits = self._next(margin, how, True)
        yield count, hits

    def blocks(self, within: float) -> Iterator[tuple[Ints, Array]]:
        """Yield blocks of the pairs with boxes at most ``within`` apart, and lower bounds of their distances."""
        for count, hits in self._lists(within, LIST):
            yield hits.pairs[:count, :2].copy(), hits.gaps[:count].copy()

    def near(self, within: float) -> tuple[Ints, Array]:
        """Return the pairs (n, 2) of slots with boxes at most ``within`` apart, and lower bounds of their distances."""
        pairs, gaps = zip(*self.blocks(within), strict=True)
        return np.concatenate(pairs), np.concatenate(gaps)

    def any_collides(self, margin: float) -> bool:
        """Return whether any pair collides with a margin. The search ends at the first collision."""
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
        """Return all pairs of objects that collide with a margin, as slots (n, 2), see `gjk3d.collide`."""
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
        """Return the names of pairs of slots, sorted. The name of a visitor is None."""
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
        """Return an integer for each pair of slots. The order of these integers is the order of the names."""
        first, second = self.mine.ranks[pairs[:, 0]], self.theirs.ranks[pairs[:, 1]]
        if self.theirs is self.mine:
            first, second = np.minimum(first, second), np.maximum(first, second)
        keys: Ints = (first << 31) | second
        return keys

    def by_name(self, pairs: Ints) -> Ints:
        """Return the indices that sort pairs of slots by their names."""
        return self.keys(pairs).argsort(kind="stable")

    @cached_property
    def rows(self) -> Array:
        """The pose rows of the first scene, followed by those of a second scene."""
        return np.concatenate([self.mine.rows, self.theirs.rows])

    @property
    def distances_between_boxes(self) -> tuple[float, float]:
        """The first search distance of `nearest` above 0, and an upper bound of the distance of two boxes."""
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
        """Return the indices of the shapes in the store, (n, 2), for pairs of slots."""
        numbers = np.empty((len(pairs), 2), dtype=np.int64)
        numbers[:, 0], numbers[:, 1] = self.mine.which[pairs[:, 0]], self.theirs.which[pairs[:, 1]]
        if self.theirs is not self.mine:
            numbers[:, 1] += len(self.mine.pairs)
        return numbers

    def table(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return the indices of the shapes for pairs of slots, and the table of pairs that the kernels read."""
        numbers = self.numbers(pairs)
        at = pairs if self.theirs is self.mine else pairs + (0, len(self.mine.rows))
        return numbers, self.store.table(numbers, at)

    def by_kind(self, numbers: Ints) -> tuple[Ints | slice, Ints]:
        """Return the indices of the pairs of convex shapes, and of the pairs with a non-convex body.

        ``numbers`` (n, 2) are the indices of the shapes of each pair.
        """
        if not self.store.any_mixed:
            return slice(None), _NONE
        mask = either(self.store.mixed, numbers)
        return (~mask).nonzero()[0], mask.nonzero()[0]

    def collide(self, pairs: Ints, margin: float) -> NDArray[np.bool_]:
        """Return for each pair of slots whether it collides with a margin, see `gjk3d.collide`."""
        return self.store.collide(*self.table(pairs), self.rows, margin, self.workers)

    def nearest(self, within: float) -> Nearest | None:
        """Return the nearest pair up to a distance; None without such a pair, or if the kernel cannot find it."""
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
        """Return the signed distances of pairs of slots. A distance above ``max_distance`` may be a lower bound.

        ``table`` is the result of the method `table` for the pairs, if it is known. With mode UNSIGNED the distance of
        overlapping pairs with a non-convex body is 0, except on a half-space. If ``max_distance`` is 0 as well, all
        pairs must be known to touch, and pairs with a non-convex body are not solved.
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
        """Return the result of `distances` for the pairs that are not proven to be farther apart than ``within``."""
        most = max(within, 0.0)
        return self.distances(pairs[self.collide(pairs, most)] if most < inf else pairs, most, mode).within(within)

    def touching(self, within: float) -> Answers:
        """Return the distances of all pairs up to a distance, sorted by name, in mode UNSIGNED of `distances`."""
        pairs = self.collisions(within)
        return self.distances(pairs[self.by_name(pairs)], within, narrow.UNSIGNED).within(within)

    def least_possible(self, pairs: Ints) -> Array:
        """Return lower bounds of the signed distances of pairs of slots, from the boxes around the whole objects."""
        from gjk3d.bodies.parts import least_possible  # loaded where there is a mesh or the like

        numbers, table = self.table(pairs)
        return least_possible(self.store.shapes, numbers, self.rows, table[:, _POSES])

    def settled(self, answers: Answers, within: float) -> Answers:
        """Return the results, made independent of the search radius, even in their last bits.

        For this, the distances of separated pairs with a non-convex body are computed again.
        """
        mixed = self.by_kind(answers.numbers)[1]
        again = mixed[answers.out[mixed, 1] > 0.0]
        if len(again):
            fresh = self.distances(answers.pairs[again], max(within, 0.0))
            answers.out[again], answers.flags[again] = fresh.out, fresh.flags
        return answers

    def result(self, answers: Answers, max_distance: float) -> PairDistance:
        """Return the results as a `Distance` with the shapes and poses of the pairs."""
        poses: Any = PairPoses(self.rows.copy(), answers.table[:, _POSES])
        query = (narrow.SIGNED, max_distance, None, False)
        return pair_distance(answers.out, answers.flags, answers.numbers, self.store.shapes, poses, query)


class Nearest:
    """The nearest pair of a query. ``out`` and ``flags`` are the output of `gjk3d.scene.pairs.nearest`."""

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
        """The names of A and B. The name of a visitor is None."""
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


_FIRST = 256  #: least number of pairs in the first block


def nearest(query: SceneQuery, count: int | None, within: float) -> Answers:
    """Return the ``count`` nearest pairs up to a distance, or more if the last pairs have equal distances.

    Pairs are solved in the order of the gaps between their boxes. The search radius starts with 0, which contains all
    overlapping pairs, and grows until it contains enough pairs.
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
        else:  # objects that fill the scene evenly have pairs within the first distance
            first, greatest = query.distances_between_boxes
            radius = max(2.0 * radius, first)
            radius = radius if 0.0 < radius <= greatest else inf
        radius = min(radius, limit)


def _nearest_of(
    pairs: Ints, bounds: Array, size: int, query: SceneQuery, count: int | None, best: Answers, worst: float
) -> tuple[Answers, float]:
    """Return the ``count`` nearest pairs of ``best`` and ``pairs`` together, and the greatest of their distances.

    ``best`` are solved pairs, and ``bounds`` are lower bounds of the distances of ``pairs``. Pairs are solved in
    blocks, in the order of their bounds. The first block has ``size`` pairs, and each block has twice as many as the
    one before. With a ``size`` of 1 every block has one pair. No pair beyond the distance ``worst`` is solved. If
    ``count`` is None, or there are fewer pairs, ``worst`` is returned in place of the greatest distance.
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
    """Return the ``count`` nearest pairs of ``best`` and ``pairs`` together, and the greatest of their distances.

    All ``pairs`` have non-convex bodies. They are solved one by one, since their depths take long. See `_nearest_of`.
    """
    if not len(pairs):
        return best, worst
    return _nearest_of(pairs, query.least_possible(pairs), 1, query, count, best, worst)


def nearest_cached(solved: Answers, mixed: Ints, query: SceneQuery, count: int, within: float) -> Answers:
    """Return the ``count`` nearest pairs up to a distance, of the solved pairs and of the unsolved pairs ``mixed``."""
    return _nearest_mixed(mixed, query, count, *_least(solved, count, within))[0]


def _least(answers: Answers, count: int | None, worst: float) -> tuple[Answers, float]:
    """Return the ``count`` nearest pairs, and the greatest of their distances, or ``worst`` for fewer pairs."""
    if count is not None and len(answers) >= count:
        last = float(np.partition(answers.out[:, 0], count - 1)[count - 1])
        # lower bounds are at most ``worst``, but a distance may exceed it by rounding
        answers, worst = answers[answers.out[:, 0] <= last], min(worst, last)
    return answers, worst


def patches(query: SceneQuery, answers: Answers, within: float, most: int | None) -> Contact:
    """Return the contacts of pairs up to a distance. Depths of non-convex bodies are computed when they are read."""
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
    """Return the contact points of the pairs ``mixed`` of ``answers``, which have a non-convex body.

    The list has items of type `gjk3d.bodies.contact.Touching`. All pairs of one body with convex shapes are solved in
    one call, except pairs with half-spaces and with support mappings of users. Other pairs are solved one by one.
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
    """Return a function that computes the distance of pair ``index``, or of all pairs for None.

    Only the pairs ``deep`` are still to be solved. All other results are in ``answers``.
    """
    store, rows, request = query.store, query.rows.copy(), (narrow.SIGNED, within, None, False)

    def find(index: int | None) -> Any:
        which = np.arange(len(answers))[slice(None) if index is None else [index]]
        some, unsolved = answers[which], np.isin(which, deep).nonzero()[0]
        store.solve_singly(some.numbers, some.table, rows, unsolved, Wanted(*request[:2]), some.out, some.flags)
        poses: Any = PairPoses(rows, some.table[:, _POSES])
        result = pair_distance(some.out, some.flags, some.numbers, store.shapes, poses, request)
        return result if index is None else result[0]

    return find
