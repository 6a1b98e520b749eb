"""The arrays that a checker hands to the kernels, made of a robot and of the things around it and on it.

A slot is a shape that is fixed to a link or to the world. A unit is a slot, and where that is a hull round several
bodies, theirs: a collision geometry of the robot, or a thing. Units are what pairs are made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gjk3d.convex.rows import arena
from gjk3d.narrow.gjk import MEMORY
from gjk3d.robot.capsules import with_capsules
from gjk3d.robot.model import Robot
from gjk3d.robot.obstacles import WORLD, Outline, Thing, outline
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array, Ints


class Slot(NamedTuple):
    """A shape, where it is fixed, and whose it is."""

    link: int
    local: Array  #: twelve numbers
    shape: Any
    outline: Outline
    owner: str


class Unit(NamedTuple):
    """See the module."""

    link: int
    slot: int  #: the shape, or the hull
    first: int  #: its bodies are the slots from here on
    bodies: int  #: how many; 0 where the shape is its own body


#: a matrix, poses of links, poses and balls of slots, what `solve` works in, its answer and flags, a gap a pair
Room = tuple[Array, Array, Array, Array, Array, Ints, int, Array, Ints, Array]
#: (a, b or None for all, margin), the later ones hold
Rules = list[tuple[str, str | None, float]]


class Tables:
    """See the module; ``order`` and ``cache`` are what the kernels remember, all else stays as it is."""

    __slots__ = (
        "at",
        "cache",
        "far",
        "floats",
        "ints",
        "link",
        "local",
        "margins",
        "order",
        "owner",
        "owners",
        "planes",
        "room", "rows",
        "shapes",
        "single",
        "solid_margins",
        "solid_pairs",
        "starts",
        "subs",
    )  # fmt: skip

    at: dict[str, int]  #: name of a thing: its slot
    link: Ints  #: of each slot, `WORLD` for what stands
    local: Array  #: (slots, 12)
    ints: Ints
    floats: Array
    starts: Ints  #: where the outline of each slot begins in either, and its capsule
    shapes: list[Any]  #: of each slot, what it really is
    planes: Array  #: (slots, 4), the half-space that holds it, or NaN
    owner: Ints  #: of each slot, in ``owners``
    owners: list[str]
    rows: Ints  #: pairs that the kernels answer: two slots, and where sub-pairs begin and end
    subs: Ints
    margins: Array
    solid_pairs: Ints  #: (n, 2) slots of pairs that they cannot answer
    solid_margins: Array
    order: Ints
    cache: Array
    single: Any  #: what `gjk3d.robot.walk.free_one` is called with, once it was
    far: Any  #: and `gjk3d.robot.outlines.all_far`, where there are solids
    room: Room | None  #: scratch of `gjk3d.robot.walk.clearance_many`, for one thread

    def names(self, slots: Any) -> tuple[str, str]:
        """Return the names of two slots."""
        return self.owners[self.owner[slots[0]]], self.owners[self.owner[slots[1]]]

    def placed(self, links: Array, slot: int) -> Array:
        """Return where a slot is, (n, 4, 4), from the poses of the links."""
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = self.local[slot, :9].reshape(3, 3), self.local[slot, 9:]
        link = int(self.link[slot])
        poses: Array = np.tile(local, (len(links), 1, 1)) if link == WORLD else links[:, link] @ local
        return poses

    def has(self, a: str, b: str) -> bool:
        """Tell whether two names are checked against each other."""
        i, j = sorted((self.owners.index(a), self.owners.index(b)))
        every = np.sort(self.owner[np.concatenate([self.rows[:, :2], self.solid_pairs])], axis=1)
        return bool(((every[:, 0] == i) & (every[:, 1] == j)).any())

    def set_margins(self, margin: float, rules: Rules) -> None:
        """Write how close is too close for each pair."""
        self.single = self.far = None
        self.margins = self._margins(self.rows[:, :2], margin, rules)
        self.solid_margins = self._margins(self.solid_pairs, margin, rules)

    def _margins(self, pairs: Ints, margin: float, rules: Rules) -> Array:
        of = self.owner[pairs]
        margins = np.full(len(pairs), margin)
        for a, b, own in rules:
            met = of == self.owners.index(a)
            if b is not None:
                met = met[:, ::-1] & (of == self.owners.index(b))
            margins[met.any(axis=1)] = own
        return margins

    def fresh_memory(self) -> tuple[Ints, Array]:
        """Return an order of the pairs and axes that remember nothing.

        Those in use are never copied: another thread may be writing them, and of an order that is half swapped a pair
        is lost.
        """
        return np.arange(len(self.rows), dtype=np.int64), np.zeros((len(self.rows) + len(self.subs), MEMORY))

    def copy(self) -> Tables:
        """Return tables whose objects may be moved and that remember by themselves."""
        other = Tables()
        for name in Tables.__slots__:
            setattr(other, name, getattr(self, name))
        other.local = self.local.copy()
        other.order, other.cache = self.fresh_memory()
        other.single = other.far = other.room = None
        return other


class PairNames(Sequence[tuple[str, str]]):
    """Names of the pairs: those of ``rows``, behind them those of ``solid_pairs``."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def __len__(self) -> int:
        return len(self._tables.rows) + len(self._tables.solid_pairs)

    def __getitem__(self, p: Any) -> Any:
        tables = self._tables
        count = len(tables.rows)
        return tables.names(tables.rows[p] if p < count else tables.solid_pairs[p - count])


class Base:
    """The slots, units and pairs of a robot alone: made once, and shared by copies of a checker."""

    __slots__ = ("pairs", "rigid", "slots", "units")

    def __init__(self, robot: Robot) -> None:
        self.slots: list[Slot] = []
        self.units: list[Unit] = []
        self.rigid = robot.rigid
        for geometry in robot.geometries:
            bodies = robot.bodies[geometry.first : geometry.last]
            owner, first = robot.links[geometry.link], len(self.slots)
            several = len(bodies) > 1
            if several:
                self._put(geometry.link, geometry.pose, geometry.hull, owner)
            for body in bodies:
                self._put(body.link, body.pose, body.shape, owner)
            self.units.append(Unit(geometry.link, first, first + several, len(bodies) if several else 0))
        checked = {tuple(pair) for pair in robot.pairs.tolist()}
        found = []
        for k, one in enumerate(self.units):
            for h, two in enumerate(self.units[k + 1 :], k + 1):
                if (min(one.link, two.link), max(one.link, two.link)) in checked:
                    found.append((k, h) if one.link <= two.link else (h, k))
        self.pairs = np.array(found, dtype=np.int64).reshape(-1, 2)

    def _put(self, link: int, pose: Array, shape: Any, owner: str) -> None:
        self.slots.append(Slot(link, _twelve(pose), shape, outline(shape), owner))


def _twelve(pose: Array) -> Array:
    return np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]])


def build(base: Base, things: Iterable[Thing], margin: float, rules: Rules, links: tuple[str, ...]) -> Tables:
    """Return the tables of a robot and things; those that hang on links come before those that stand."""
    every = sorted(things, key=lambda each: each.link == WORLD)
    slots = base.slots + [
        Slot(each.link, _twelve(each.pose), each.shape, outline(each.shape), each.name) for each in every
    ]
    units = base.units + [Unit(each.link, k, k, 0) for k, each in enumerate(every, len(base.slots))]
    self = Tables()
    self.single = self.far = self.room = None
    self.at = {each.name: k for k, each in enumerate(every, len(base.slots))}
    self.link = np.array([slot.link for slot in slots], dtype=np.int64)
    self.local = np.array([slot.local for slot in slots]).reshape(-1, 12)
    self.shapes = [slot.shape for slot in slots]
    _pack(self, [slot.outline for slot in slots])
    names = {name: k for k, name in enumerate((*links, *(each.name for each in every)))}
    self.owners, self.owner = list(names), np.array([names[slot.owner] for slot in slots], dtype=np.int64)
    pairs = np.concatenate([base.pairs, _with_things(self, base, units, every)])
    exact = np.array([slot.outline.exact for slot in slots], dtype=bool)
    _pairs(self, units, pairs, exact)
    self.set_margins(margin, rules)
    self.order, self.cache = self.fresh_memory()
    return self


def _pack(self: Tables, outlines: list[Outline]) -> None:
    distinct: dict[int, Shape] = {id(each.shape): each.shape for each in outlines}
    number = {key: k for k, key in enumerate(distinct)}
    shapes = list(distinct.values())
    self.ints, floats, starts = arena(shapes)
    self.floats, starts = with_capsules(shapes, floats, starts)
    which = np.array([number[id(each.shape)] for each in outlines], dtype=np.int64)
    self.starts = np.ascontiguousarray(starts[which].reshape(-1, 3))
    self.planes = np.full((len(outlines), 4), np.nan)
    for k, each in enumerate(outlines):
        if each.plane is not None:
            self.planes[k] = each.plane


def _with_things(self: Tables, base: Base, units: list[Unit], things: list[Thing]) -> Ints:
    """Return the pairs of units that things are in: with links that move against them, and each other."""
    if not things:
        return np.zeros((0, 2), dtype=np.int64)
    count = len(base.units)
    hung = sum(each.link != WORLD for each in things)
    keep = np.zeros((count + hung, len(things)), dtype=bool)  # what moves, and each thing
    link = np.array([unit.link for unit in units], dtype=np.int64)
    group = np.where(link == WORLD, WORLD, base.rigid[link]) if len(base.rigid) else link
    keep[:] = group[: count + hung, None] != group[count:]
    keep[count:, :hung] &= np.triu(np.ones((hung, hung), dtype=bool), 1)
    owner = [self.owners[self.owner[unit.slot]] for unit in units]
    for k, each in enumerate(things):
        if each.touch:
            may = np.array([name in each.touch for name in owner], dtype=bool)
            keep[may[: count + hung], k] = False
            if k < hung:
                keep[count + k, may[count:]] = False
    found = np.argwhere(keep)
    found[:, 1] += count
    pairs: Ints = found.astype(np.int64)
    return pairs


def _pairs(self: Tables, units: list[Unit], pairs: Ints, exact: Any) -> None:
    """Write the rows of pairs of units, their sub-pairs, and what the kernels cannot answer."""
    table = np.array(units, dtype=np.int64).reshape(-1, 4)
    slot, first, count = table[:, 1], np.where(table[:, 3] > 0, table[:, 2], table[:, 1]), np.maximum(table[:, 3], 1)
    plain = np.array([exact[unit.first : unit.first + max(unit.bodies, 1)].all() for unit in units], dtype=bool)
    known = plain[pairs].all(axis=1)
    two = slot[pairs[known]]
    combos = (count[pairs[known]]).prod(axis=1)
    several = (table[:, 3][pairs[known]] > 0).any(axis=1)
    sizes = np.where(several, combos, 0)
    ends = np.cumsum(sizes)
    self.rows = np.ascontiguousarray(np.column_stack([two, ends - sizes, ends]).astype(np.int64).reshape(-1, 4))
    self.subs = _combos(pairs[known][several], first, count)
    self.solid_pairs = _combos(pairs[~known], first, count)


def _combos(pairs: Ints, first: Ints, count: Ints) -> Ints:
    """Return every body of the one with every body of the other, pair by pair."""
    a, b = pairs[:, 0], pairs[:, 1]
    sizes = count[a] * count[b]
    which = np.repeat(np.arange(len(pairs)), sizes)
    at = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    many = count[b][which]
    return np.ascontiguousarray(
        np.column_stack([first[a][which] + at // many, first[b][which] + at % many]).astype(np.int64).reshape(-1, 2)
    )
