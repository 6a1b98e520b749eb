"""A cell: one state of a checker in the form that kernels read, with the robot, all objects, and their pairs.

A slot is a shape that is fixed to a link or to the world. A unit is a collision geometry of the robot, or an object. A
unit of one body has one slot. A unit of several bodies has a slot for the hull around them, and a slot for each body.
Each pair of units to check is replaced by pairs of their slots. The slots and pairs of the robot are made once. Pairs
with objects are made again at each change.

A cell never changes, except for the memory of its kernels: each change of a checker makes another cell. A query reads
the cell of its checker once. So the query works on one state, even if other threads add, move or remove objects at the
same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.parts import complete, parts_of
from gjk3d.bodies.tree_collision import new_tree_scratch, tree_scratch
from gjk3d.convex.batch import empty_answers, join_packed
from gjk3d.convex.solve import plane_core
from gjk3d.engine.store import Store, store_of
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.workspace import FIRST_POINTS, Solver, new_workspace, workspace_of
from gjk3d.robot.bodies import WORLD, CollisionObject, Outline, bounding_box, bounding_capsule, outline, with_bounds
from gjk3d.robot.cell_kernels import Bodies, Frames, Layout, Task
from gjk3d.robot.margins import Rule, margins_of
from gjk3d.robot.model import Robot
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Bools, Ints

_MOST_CACHED = 16  #: greatest number of cells that `Cell.of_owners` caches


class Memory:
    """State that kernels keep between calls: the order in which pairs are tested, and the last GJK axis of each pair.

    Only the thread that holds the lock may use the memory: if two threads swapped entries of the order at the same
    time, a pair could get lost and would never be tested again.
    """

    __slots__ = ("axes", "body_order", "lock", "order")

    def __init__(self, pairs: int, rows: int, bodies: int) -> None:
        self.order: Ints = np.arange(pairs, dtype=np.int64)
        self.body_order: Ints = np.arange(bodies, dtype=np.int64)
        self.axes: Array = np.zeros((rows, MEMORY))
        self.lock = Lock()

    def fresh(self) -> Memory:
        """Return a new memory in its initial state. A copy could contain entries that another thread is writing."""
        return Memory(len(self.order), len(self.axes), len(self.body_order))

    @contextmanager
    def lent(self, workers: int) -> Iterator[Memory | None]:
        """Lock and yield this memory, or yield None if another thread uses it or the call has several workers."""
        if workers != 1 or not self.lock.acquire(blocking=False):
            yield None
            return
        try:
            yield self
        finally:
            self.lock.release()


@dataclass(slots=True)
class Cache:
    """Data that queries store for later queries. Only the thread that holds the lock of the memory may use it."""

    clearance: Any = None  #: scratch memory of `gjk3d.robot.cell_kernels.clearance_many`
    free: Any = None  #: `gjk3d.robot.cell_kernels.hit_of_one` or `hit_of_cell`, and its arguments
    answer: Any = None  #: the result of that kernel
    bodies: Any = None  #: see `gjk3d.robot.queries.bodies_of`
    lanes: Any = None  #: task of `gjk3d.robot.sampled_edges.first_hits_of_many`
    near: Any = None  #: task and scratch of `gjk3d.robot.cell_kernels.near_of_one`, and a result without rows
    general: Any = None  #: arguments of the call in `gjk3d.robot.general_pairs.hit_of_one`
    single: Any = None  #: see `gjk3d.robot.single.prepared`
    single_near: Any = None  #: see `gjk3d.robot.single.prepared_distances`
    arms: Any = None  #: see `gjk3d.robot.motion_bounds._arms`
    bounds: Any = None  #: see `gjk3d.robot.motion_bounds.motion_bounds`
    of_owners: dict[frozenset[str], Any] = field(default_factory=dict)  #: see `Cell.of_owners`
    line: Any = None  #: see `gjk3d.robot.motion_certified.certified_of_one`
    proofs: dict[bool, Any] = field(default_factory=dict)  #: see `gjk3d.robot.motion_certified.task_for`


class Cell(NamedTuple):
    """One state of a checker in the form that kernels read: the robot, all objects, and the pairs of slots to test.

    A slot is a shape that is fixed to a link or to the world. Pairs are numbered in this order: pairs of two convex
    slots, pairs of a body and a convex slot, pairs of two bodies, and the fallback pairs, which no kernel tests. A body
    here is a mesh, a cloud or another non-convex shape.
    """

    robot: Robot
    layout: Layout
    store: Store  #: the trees of slots that are in pairs with bodies
    body_pairs: Ints  #: the pairs with bodies: the array ``pairs`` of `gjk3d.robot.cell_kernels.Bodies`
    measured: int  #: the number of the first pair whose distance no kernel computes
    walked: int  #: the number of the first fallback pair
    shapes: list[Any]  #: the shape of each slot as the user gave it
    owner: Ints  #: (slots,) index in ``owners`` of the link or object of each slot
    owners: list[str]  #: names of links, then names of objects
    objects: dict[str, int]  #: the slot of each object, by the name of the object
    robot_slots: Ints  #: the slots of links and attached objects, without hulls around several bodies
    exact: Bools  #: (slots,) whether kernels use the shape of the slot, and not an outline around it
    slots: Ints  #: (pairs, 2) the two slots of each pair
    names: tuple[tuple[str, str], ...]  #: the names of the two owners of each pair
    margins: Array  #: (pairs,) the margin of each pair
    memory: Memory
    cache: Cache

    def placed(self, links: Array, slot: int) -> Array:
        """Return the poses of a slot in the world, (n, 4, 4), from the poses of the links, (n, links, 4, 4)."""
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = self.layout.local[slot, :9].reshape(3, 3), self.layout.local[slot, 9:12]
        link = int(self.layout.link[slot])
        poses: Array = np.tile(local, (len(links), 1, 1)) if link == WORLD else links[:, link] @ local
        return poses

    def bodies(self, memory: Memory, *, fresh: bool = False) -> Bodies:
        """Return the `Bodies` for kernels: the pairs with bodies, the order of their tests, and scratch memory.

        The order is that of ``memory``. The scratch memory is shared by all calls in this thread, or new if ``fresh``.
        """
        # without pairs with bodies the scratch memory is not used, so none is allocated
        scratch = new_tree_scratch() if fresh and len(self.body_pairs) else tree_scratch()
        return Bodies(self.store, self.body_pairs, memory.body_order, scratch)

    def frames(self) -> Frames:
        """Return scratch memory for the poses of links and slots."""
        links, slots = len(self.robot.links), len(self.layout.link)
        return Frames(
            np.empty((4, 4)), np.empty((links, 4, 4)), np.empty((slots, 13)), np.empty((slots, 4)),
            np.empty(slots, dtype=np.int64),
        )  # fmt: skip

    def task(self, layout: Layout | None = None, axes: Array | None = None, *, fresh: bool = False) -> Task:
        """Return a `Task` for kernels, with the scratch memory of this thread, or with a new one if ``fresh``.

        ``layout`` is used in place of the cell's layout. Without ``axes``, GJK starts without earlier axes.
        """
        axes = np.empty((0, MEMORY)) if axes is None else axes
        gaps = np.empty(len(self.memory.axes))
        workspace = (new_workspace if fresh else workspace_of)(FIRST_POINTS)
        solver = Solver(workspace, *empty_answers(1))
        return Task(self.robot._chain, layout or self.layout, self.frames(), solver, axes, gaps)

    def moved(self, name: str, pose: Array) -> Cell:
        """Return the cell with an object at another pose."""
        local = self.layout.local.copy()
        local[self.objects[name]] = local_row(pose)
        cache = Cache(self.cache.clearance)
        if self.layout.link[self.objects[name]] == WORLD:  # lever arms do not depend on the poses of obstacles
            cache.arms = self.cache.arms
        return self._replace(layout=self.layout._replace(local=local), cache=cache)

    def with_margins(self, margin: float, rules: Iterable[Rule]) -> Cell:
        """Return the cell with other margins: ``margin`` for all pairs without a rule in ``rules``."""
        cache = Cache(self.cache.clearance)
        cache.arms, cache.bounds = self.cache.arms, self.cache.bounds  # motion bounds do not depend on margins
        return self._replace(margins=margins_of(self, margin, rules), cache=cache)

    def of_owners(self, names: frozenset[str]) -> Cell:
        """Return a cell with only the pairs that have a link or object in ``names``. The result is cached."""
        cached: Cell | None = self.cache.of_owners.get(names)
        if cached is None:
            cached = self.of_pairs(np.array([not names.isdisjoint(pair) for pair in self.names], dtype=bool))
            # A new dict replaces the old one, since another thread may read the old one. A full dict is emptied.
            old = self.cache.of_owners
            self.cache.of_owners = {**(old if len(old) < _MOST_CACHED else {}), names: cached}
        return cached

    def of_pairs(self, kept: Bools) -> Cell:
        """Return a cell with only the pairs whose entry in ``kept`` is True."""
        convex = len(self.layout.pairs)
        layout = self.layout._replace(pairs=self.layout.pairs[kept[:convex]])
        body_pairs = self.body_pairs[kept[convex : self.walked]]
        return self._replace(
            layout=layout,
            body_pairs=body_pairs,
            measured=int(kept[: self.measured].sum()),
            walked=int(kept[: self.walked].sum()),
            slots=self.slots[kept],
            names=tuple(self.names[k] for k in np.flatnonzero(kept).tolist()),
            margins=self.margins[kept],
            memory=Memory(len(layout.pairs), len(layout.pairs) + len(layout.subs), len(body_pairs)),
            cache=Cache(),
        )

    def copy(self) -> Cell:
        """Return the same cell with a new memory and an empty cache."""
        return self._replace(memory=self.memory.fresh(), cache=Cache())


def local_row(pose: Array) -> Array:
    """Return a pose (4, 4) as a row of `Layout.local`: the rotation by rows, the translation, and the residual.

    The residual is the greatest entry of abs(R.T @ R - I) for the rotation R.
    """
    residual = np.abs(pose[:3, :3].T @ pose[:3, :3] - np.eye(3)).max()
    return np.concatenate([pose[:3, :3].ravel(), pose[:3, 3], [residual]])


class Slot(NamedTuple):
    """A shape that is fixed to a link or to the world, and the name of its owner."""

    link: int
    local: Array  #: 13 numbers, see `local_row`
    shape: Any
    outline: Outline
    owner: str


class Unit(NamedTuple):
    """A collision geometry of the robot, or an object, and the slots of its shapes."""

    link: int
    slot: int  #: the slot of the shape, or of the hull around several bodies
    first: int  #: the first slot of the bodies
    bodies: int  #: number of bodies in the hull; 0 for a unit of one body


class Base:
    """The slots, units and pairs of a robot without objects. Copies of a checker share one base.

    A slot is a shape that is fixed to a link. A unit is a collision geometry, and the pairs are pairs of units.

    ``link_pairs`` (n, 2) contains the numbers of the links to check against each other, the lower number first. With
    ``hulls`` the hull of a geometry replaces its bodies, and links without pairs are left out.
    """

    __slots__ = ("pairs", "robot", "slots", "units")

    def __init__(self, robot: Robot, link_pairs: Ints, *, hulls: bool = False) -> None:
        self.robot = robot
        self.slots: list[Slot] = []
        self.units: list[Unit] = []
        wanted = set(np.unique(link_pairs).tolist()) if hulls else range(len(robot.links))
        for geometry in robot.geometries:
            if geometry.link not in wanted:
                continue
            bodies = () if hulls else robot.bodies[geometry.first : geometry.last]
            owner, first = robot.links[geometry.link], len(self.slots)
            several = len(bodies) > 1
            if several or hulls:
                self._add(geometry.link, geometry.pose, geometry.hull, owner)
            for body in bodies:
                self._add(body.link, body.pose, body.shape, owner)
            self.units.append(Unit(geometry.link, first, first + several, len(bodies) if several else 0))
        i, j = np.triu_indices(len(self.units), 1)
        of = np.array([unit.link for unit in self.units], dtype=np.int64)
        low, high = np.minimum(of[i], of[j]), np.maximum(of[i], of[j])
        count = len(robot.links)
        checked = np.isin(low * count + high, link_pairs[:, 0] * count + link_pairs[:, 1])
        pairs = np.column_stack([i, j])[checked]
        turned = of[pairs[:, 0]] > of[pairs[:, 1]]
        pairs[turned] = pairs[turned, ::-1]
        self.pairs: Ints = pairs.astype(np.int64)

    def with_pairs(self, pairs: Ints, robot: Robot | None = None) -> Base:
        """Return a base with other pairs of units (n, 2). A given ``robot`` must have the same slots."""
        new = object.__new__(Base)
        new.robot, new.slots, new.units, new.pairs = robot or self.robot, self.slots, self.units, pairs
        return new

    def _add(self, link: int, pose: Array, shape: Any, owner: str) -> None:
        self.slots.append(Slot(link, local_row(pose), shape, outline(shape), owner))


def build(base: Base, objects: Iterable[CollisionObject] = (), margin: float = 0.0, rules: Iterable[Rule] = ()) -> Cell:
    """Return the cell of a robot and objects. In all arrays, attached objects come before obstacles."""
    every = sorted(objects, key=lambda item: item.link == WORLD)
    object_slots = [Slot(item.link, local_row(item.pose), item.shape, outline(item.shape), item.name) for item in every]
    slots = base.slots + object_slots
    units = base.units + [Unit(item.link, k, k, 0) for k, item in enumerate(every, len(base.slots))]
    owners = [*base.robot.links, *(item.name for item in every)]
    number = {name: k for k, name in enumerate(owners)}
    ints, floats, starts = _packed([slot.outline for slot in slots])
    exact = np.array([slot.outline.exact for slot in slots], dtype=bool)
    pairs, subs, general = _split(units, np.concatenate([base.pairs, _with_objects(base, every)]), exact)
    general, body_pairs, measured = _with_bodies_first(general, slots)
    layout = Layout(
        np.array([slot.link for slot in slots], dtype=np.int64),
        np.array([slot.local for slot in slots]).reshape(-1, 13), ints, floats, starts, pairs, subs,
    )  # fmt: skip
    owner = np.array([number[slot.owner] for slot in slots], dtype=np.int64)
    every_pair = np.concatenate([pairs[:, :2], general])
    return Cell(
        robot=base.robot,
        layout=layout,
        store=_store(slots, body_pairs),
        body_pairs=body_pairs,
        measured=len(pairs) + measured,
        walked=len(pairs) + len(body_pairs),
        shapes=[slot.shape for slot in slots],
        owner=owner,
        owners=owners,
        objects={item.name: k for k, item in enumerate(every, len(base.slots))},
        robot_slots=np.array(
            [k for unit in units if unit.link != WORLD for k in range(unit.first, unit.first + max(unit.bodies, 1))],
            dtype=np.int64,
        ),
        exact=exact,
        slots=every_pair,
        names=tuple((owners[a], owners[b]) for a, b in owner[every_pair].tolist()),
        margins=np.zeros(0),
        memory=Memory(len(pairs), len(pairs) + len(subs), len(body_pairs)),
        cache=Cache(),
    ).with_margins(margin, rules)


def _packed(outlines: list[Outline]) -> tuple[Ints, Array, Ints]:
    """Return the packed outlines of all slots: their ints, their floats, and (slots, 4) start indices.

    The start indices of a slot are the positions of its ints, its floats, its bounding capsule and its bounding box.
    """
    # Slots with the same outline, such as the wheels of a robot, share one packed copy.
    distinct: dict[int, Shape] = {id(item.shape): item.shape for item in outlines}
    number = {key: k for k, key in enumerate(distinct)}
    shapes = list(distinct.values())
    packed = [plane_core(shape) if isinstance(shape, Halfspace) else shape._packed for shape in shapes]
    ints, floats, starts = join_packed(packed)
    floats, starts = with_bounds(shapes, bounding_box, *with_bounds(shapes, bounding_capsule, floats, starts))
    which = np.array([number[id(item.shape)] for item in outlines], dtype=np.int64)
    return ints, floats, np.ascontiguousarray(starts[which].reshape(-1, 4))


def _with_objects(base: Base, objects: list[CollisionObject]) -> Ints:
    """Return the pairs to check that contain an object, as numbers of units (n, 2): a unit that moves, and the object.

    A unit is a collision geometry of the robot, or an object. A pair is left out if its two units are allowed to touch,
    or cannot move relative to each other.
    """
    if not objects:
        return np.zeros((0, 2), dtype=np.int64)
    count = len(base.units)
    attached = sum(item.link != WORLD for item in objects)
    checked = np.zeros((count + attached, len(objects)), dtype=bool)  # rows: units that move; columns: objects
    link = np.array([*(unit.link for unit in base.units), *(item.link for item in objects)], dtype=np.int64)
    rigid = base.robot.rigid
    # units of one rigid body, or of the world, never move relative to each other
    group = np.where(link == WORLD, WORLD, rigid[link]) if len(rigid) else link
    checked[:] = group[: count + attached, None] != group[count:]
    checked[count:, :attached] &= np.triu(np.ones((attached, attached), dtype=bool), 1)
    owner = [*(base.robot.links[unit.link] for unit in base.units), *(item.name for item in objects)]
    for k, item in enumerate(objects):
        if item.touch:
            may = np.array([name in item.touch for name in owner], dtype=bool)
            checked[may[: count + attached], k] = False
            if k < attached:
                checked[count + k, may[count:]] = False
    indices = np.argwhere(checked)
    indices[:, 1] += count
    pairs: Ints = indices.astype(np.int64)
    return pairs


def _split(units: list[Unit], pairs: Ints, exact: Bools) -> tuple[Ints, Ints, Ints]:
    """Return the arrays `Layout.pairs` and `Layout.subs` for pairs of exact units, and pairs of slots for all others.

    ``pairs`` (n, 2) contains numbers of units. ``exact`` (slots,) is True if the outline of a slot is its shape. A unit
    is exact if all its slots are exact. The pairs of slots are an array (m, 2).
    """
    table = np.array(units, dtype=np.int64).reshape(-1, 4)
    slot, first, count = table[:, 1], np.where(table[:, 3] > 0, table[:, 2], table[:, 1]), np.maximum(table[:, 3], 1)
    plain = np.array([exact[unit.first : unit.first + max(unit.bodies, 1)].all() for unit in units], dtype=bool)
    compiled = plain[pairs].all(axis=1)
    several = (table[:, 3][pairs[compiled]] > 0).any(axis=1)
    sizes = np.where(several, count[pairs[compiled]].prod(axis=1), 0)
    ends = np.cumsum(sizes)
    rows = np.column_stack([slot[pairs[compiled]], ends - sizes, ends]).astype(np.int64).reshape(-1, 4)
    subs = _bodies_of(pairs[compiled][several], first, count)
    return np.ascontiguousarray(rows), subs, _bodies_of(pairs[~compiled], first, count)


def _bodies_of(pairs: Ints, first: Ints, count: Ints) -> Ints:
    """Return for each pair of units all pairs of a body of one unit with a body of the other, as slots (m, 2).

    ``first`` and ``count`` contain, for each unit, the slot of its first body, and the number of its bodies.
    """
    a, b = pairs[:, 0], pairs[:, 1]
    sizes = count[a] * count[b]
    which = np.repeat(np.arange(len(pairs)), sizes)
    at = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    many = count[b][which]
    return np.ascontiguousarray(
        np.column_stack([first[a][which] + at // many, first[b][which] + at % many]).astype(np.int64).reshape(-1, 2)
    )


def _with_bodies_first(pairs: Ints, slots: list[Slot]) -> tuple[Ints, Ints, int]:
    """Return the sorted pairs of slots, the array `Bodies.pairs`, and the number of its rows with a convex slot.

    Pairs of a body and a convex slot come first, sorted by the body, then pairs of two bodies, then fallback pairs.
    """
    trees = [isinstance(slot.shape, Body) and not slot.shape._as_parts().any_mapped for slot in slots]
    convex = [slot.outline.exact and not slot.outline.unbounded for slot in slots]
    keys, rows = [], []
    for a, b in pairs.tolist():
        # A static body comes first: the free region that is found around it is valid for many samples.
        first = trees[a] and (convex[b] or (trees[b] and not convex[a] and slots[a].link == WORLD))
        host, guest = (a, b) if first else (b, a)
        rows.append((host, guest, int(not first)))
        keys.append(len(slots) + 1 if not trees[host] else host if convex[guest] else len(slots) + (not trees[guest]))
    by = np.array(keys, dtype=np.int64)
    order = np.argsort(by, kind="stable")
    tested = np.array(rows, dtype=np.int64).reshape(-1, 3)[order][: (by <= len(slots)).sum()]
    return pairs[order], np.ascontiguousarray(tested), int((by < len(slots)).sum())


def _store(slots: list[Slot], pairs: Ints) -> Store:
    """Return a store with an item for each slot: its tree if the slot occurs in ``pairs``, which are `Bodies.pairs`."""
    used = set(pairs[:, :2].ravel().tolist())
    # A convex mesh is replaced by its hull, as in the convex pairs.
    shapes = [slot.outline.shape if slot.outline.exact else slot.shape for slot in slots]
    every = [shape if k in used else None for k, shape in enumerate(shapes)]
    for shape in every:
        if shape is not None:
            complete(parts_of(shape))
    return store_of(every)
