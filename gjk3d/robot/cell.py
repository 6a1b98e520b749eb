"""A cell: one state of a checker as the kernels take it, with the robot, all objects, and their pairs.

A slot is a shape that is fixed to a link or to the world. A unit is a slot and, if that slot is a hull around several
bodies, their slots: a collision geometry of the robot, or an object. Pairs are made of units. The slots and pairs of
the robot are made once. Those with objects are made again at each change.

A cell never changes, except for the memory of its kernels: each change of a checker makes another cell. A query takes
its cell once, so it works on one state, whatever other threads add, move or remove meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.bvh import BOX
from gjk3d.bodies.part_tree import ROW, PartTree
from gjk3d.bodies.parts import parts_of
from gjk3d.convex.rows import FIRST_POINTS, arena_of, scratch
from gjk3d.convex.solve import plane_core
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.room import Solver, solver_in, workspace
from gjk3d.poses import IDENTITY
from gjk3d.robot.bounding import bounding_box, bounding_capsule, with_bounds
from gjk3d.robot.model import Robot
from gjk3d.robot.obstacles import WORLD, CollisionObject, Outline, outline
from gjk3d.robot.trees import Guests
from gjk3d.robot.walk import Frames, Layout, Task
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Bools, Ints


class Host(NamedTuple):
    """A body, and the pairs of it that are answered together: from which number to which, see `gjk3d.robot.trees`."""

    slot: int
    first: int
    last: int


OBSTACLES = ""  #: in a rule: all that stands in the surroundings; no object has such a name


class Rule(NamedTuple):
    """How close is too close for two names, or for one and all others or all `OBSTACLES`; later rules hold."""

    a: str
    b: str | None
    margin: float


class Memory:
    """What kernels remember: in which order pairs are asked, likely hits first, and an axis of each.

    Two threads in the same arrays could lose a pair from the order, which would then never be asked.
    """

    __slots__ = ("axes", "lock", "order")

    def __init__(self, pairs: int, rows: int) -> None:
        self.order: Ints = np.arange(pairs, dtype=np.int64)
        self.axes: Array = np.zeros((rows, MEMORY))
        self.lock = Lock()

    def fresh(self) -> Memory:
        """Return one that remembers nothing; a copy could have what another thread has half written."""
        return Memory(len(self.order), len(self.axes))

    @contextmanager
    def lent(self, workers: int) -> Iterator[Memory | None]:
        """Lend this to one thread; another that asks meanwhile, and several together, get None and take fresh ones."""
        if workers != 1 or not self.lock.acquire(blocking=False):
            yield None
            return
        try:
            yield self
        finally:
            self.lock.release()


class Cache:
    """What is made for a first question and used again by later ones, by who holds the lock of the memory."""

    __slots__ = ("answer", "arms", "bounds", "clearance", "edge", "free", "general", "lanes", "proofs", "single")

    def __init__(self, clearance: Any = None) -> None:
        self.free: Any = None  #: what `gjk3d.robot.walk.hit_of_one` is called with,
        self.answer: Any = None  #: where it answers,
        self.lanes: Any = None  #: what `gjk3d.robot.lanes.first_hits_of_many` is,
        self.general: Any = None  #: and what `gjk3d.robot.general_pairs.hit_of_one` calls
        self.single: Any = None  #: see `gjk3d.robot.single.prepared`
        self.clearance = clearance  #: scratch of `gjk3d.robot.walk.clearance_many`
        self.arms: Any = None  #: see `gjk3d.robot.motion_bounds._arms`
        self.bounds: Any = None  #: and `motion_bounds` there
        self.proofs: dict[int, Any] = {}  #: see `gjk3d.robot.motion_certified.prepared_for`
        self.edge: Any = None  #: and `gjk3d.robot.motion_certified.one_edge`


class Names:
    """The names of pairs by their numbers, found when they are first asked for."""

    __slots__ = ("_every", "_known", "_owner", "_owners", "_slots")

    def __init__(self, slots: Ints, owner: Ints, owners: list[str]) -> None:
        self._slots, self._owner, self._owners = slots, owner, owners
        self._known: dict[int, tuple[str, str]] = {}
        self._every: tuple[tuple[str, str], ...] | None = None

    def __call__(self, p: int) -> tuple[str, str]:
        """Return both names of a pair."""
        names = self._known.get(p)
        if names is None:
            a, b = self._slots[p].tolist()
            names = self._known[p] = self._owners[self._owner[a]], self._owners[self._owner[b]]
        return names

    def every(self) -> tuple[tuple[str, str], ...]:
        """Return those of all pairs."""
        if self._every is None:
            self._every = tuple(map(self, range(len(self._slots))))
        return self._every


class Cell(NamedTuple):
    """See the module. Pairs are numbered: those that the walk answers, then those of each host, then the others."""

    robot: Robot
    layout: Layout
    general: Layout  #: the same slots, and the pairs that the walk cannot answer, see `general_pairs`
    guests: Guests
    hosts: tuple[Host, ...]
    planes: Array  #: (slots, 4), the half-space that holds a slot, or NaN
    shapes: list[Any]  #: of each slot, what it really is
    owner: Ints  #: of each slot, in ``owners``
    owners: list[str]  #: names of links, then of objects
    objects: dict[str, int]  #: name of an object: its slot
    robot_slots: Ints  #: the slots of the robot and of what hangs on it, hulls round several bodies left out
    exact: Bools  #: of each slot, whether what kernels know of it is the shape itself
    slots: Ints  #: (pairs, 2)
    names: Names  #: of pairs, by number
    margins: Array  #: (pairs,)
    memory: Memory
    cache: Cache

    def placed(self, links: Array, slot: int) -> Array:
        """Return where a slot is, (n, 4, 4), from the poses of the links (n, links, 4, 4)."""
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = self.layout.local[slot, :9].reshape(3, 3), self.layout.local[slot, 9:12]
        link = int(self.layout.link[slot])
        poses: Array = np.tile(local, (len(links), 1, 1)) if link == WORLD else links[:, link] @ local
        return poses

    @property
    def fallback_start(self) -> int:
        """The first pair that no kernel answers."""
        return self.hosts[-1].last if self.hosts else len(self.layout.pairs)

    def layout_of(self, host: Host) -> Layout:
        """Return the layout of the pairs of a host."""
        compiled = len(self.layout.pairs)
        return self.general._replace(pairs=self.general.pairs[host.first - compiled : host.last - compiled])

    def body(self, host: Host) -> PartTree:
        """Return the tree of a host."""
        tree: PartTree = self.shapes[host.slot]._as_parts().given
        return tree

    def frames(self) -> Frames:
        """Return scratch for its links and slots."""
        links, slots = len(self.robot.links), len(self.layout.link)
        return Frames(
            np.empty((4, 4)), np.empty((links, 4, 4)), np.empty((slots, 13)), np.empty((slots, 4)),
            np.empty(slots, dtype=np.int64),
        )  # fmt: skip

    def task(self, layout: Layout | None = None, axes: Array | None = None, *, fresh: bool = False) -> Task:
        """Return what a walk over pairs works in, this thread's or one to be kept; these remember nothing or axes."""
        axes = np.empty((0, MEMORY)) if axes is None else axes
        gaps = np.empty(len(self.memory.axes))
        return Task(self.robot._chain, layout or self.layout, self.frames(), solver(fresh=fresh), axes, gaps)

    def has(self, a: str, b: str) -> bool:
        """Tell whether two names are checked against each other."""
        return bool(self._of(a, b).any())

    def moved(self, name: str, pose: Array) -> Cell:
        """Return the cell with an object somewhere else."""
        local = self.layout.local.copy()
        local[self.objects[name]] = local_row(pose)
        layout, general = self.layout._replace(local=local), self.general._replace(local=local)
        cache = Cache(self.cache.clearance)
        if self.layout.link[self.objects[name]] == WORLD:
            cache.arms = self.cache.arms
        return self._replace(layout=layout, general=general, cache=cache)

    def with_margins(self, margin: float, rules: Iterable[Rule]) -> Cell:
        """Return the cell with other margins."""
        margins = np.full(len(self.slots), margin)
        for rule in rules:
            margins[self._of(rule.a, rule.b)] = rule.margin
        cache = Cache(self.cache.clearance)
        cache.arms, cache.bounds = self.cache.arms, self.cache.bounds  # which no margin changes
        return self._replace(margins=margins, cache=cache)

    def copy(self) -> Cell:
        """Return the same cell with a memory of its own."""
        return self._replace(memory=self.memory.fresh(), cache=Cache())

    def _of(self, a: str, b: str | None) -> Bools:
        """Tell which pairs are of two names, or of one and any other."""
        owner = self.owner[self.slots]
        is_a = owner == self.owners.index(a)
        if b is not None:
            is_b = self.layout.link[self.slots] == WORLD if b == OBSTACLES else owner == self.owners.index(b)
            is_a = is_a[:, ::-1] & is_b
        selected: Bools = is_a.any(axis=1)
        return selected


def solver(*, fresh: bool = False) -> Solver:
    """Return what entries solve pairs in, this thread's or one to be kept."""
    floats, ints = workspace(FIRST_POINTS)
    work, table = (np.empty(floats), np.empty(ints, np.int64)) if fresh else scratch(FIRST_POINTS)[:2]
    row, marks = np.empty((1, narrow.FLOATS)), np.zeros((1, narrow.INTS), dtype=np.int64)
    return solver_in(work, table, FIRST_POINTS, row, marks)


def local_row(pose: Array) -> Array:
    """Return a pose as layouts have it: the rotation row by row, the translation, and the residual of the rotation."""
    residual = np.abs(pose[:3, :3].T @ pose[:3, :3] - np.eye(3)).max()
    return np.concatenate([pose[:3, :3].ravel(), pose[:3, 3], [residual]])


class Slot(NamedTuple):
    """A shape, where it is fixed, and whose it is."""

    link: int
    local: Array  #: thirteen numbers, see `local_row`
    shape: Any
    outline: Outline
    owner: str


class Unit(NamedTuple):
    """See the module."""

    link: int
    slot: int  #: the shape, or the hull
    first: int  #: its bodies are the slots from here on
    bodies: int  #: how many; 0 where the shape is its own body


class Base:
    """The slots, units and pairs of a robot alone: made once, and shared by copies of a checker.

    ``link_pairs`` (n, 2) are checked, the lower number first; with ``hulls`` those round all bodies stand for them, and
    other links are left out.
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

    def _add(self, link: int, pose: Array, shape: Any, owner: str) -> None:
        self.slots.append(Slot(link, local_row(pose), shape, outline(shape), owner))


def build(base: Base, objects: Iterable[CollisionObject] = (), margin: float = 0.0, rules: Iterable[Rule] = ()) -> Cell:
    """Return the cell of a robot and objects; those that hang on links come before those that stand."""
    every = sorted(objects, key=lambda item: item.link == WORLD)
    object_slots = [Slot(item.link, local_row(item.pose), item.shape, outline(item.shape), item.name) for item in every]
    slots = base.slots + object_slots
    units = base.units + [Unit(item.link, k, k, 0) for k, item in enumerate(every, len(base.slots))]
    owners = [*base.robot.links, *(item.name for item in every)]
    number = {name: k for k, name in enumerate(owners)}
    ints, floats, starts = _packed([slot.outline for slot in slots])
    planes = np.full((len(slots), 4), np.nan)
    for k, slot in enumerate(slots):
        if slot.outline.plane is not None:
            planes[k] = slot.outline.plane
    exact = np.array([slot.outline.exact for slot in slots], dtype=bool)
    pairs, subs, general = _split(units, np.concatenate([base.pairs, _with_objects(base, every)]), exact)
    general, hosts = _by_host(general, slots, len(pairs))
    layout = Layout(
        np.array([slot.link for slot in slots], dtype=np.int64),
        np.array([slot.local for slot in slots]).reshape(-1, 13), ints, floats, starts, pairs, subs,
    )  # fmt: skip
    owner = np.array([number[slot.owner] for slot in slots], dtype=np.int64)
    every_pair = np.concatenate([pairs[:, :2], general[:, :2]])
    return Cell(
        robot=base.robot,
        layout=layout,
        general=layout._replace(pairs=general, subs=np.zeros((0, 2), np.int64)),
        guests=_guests(slots, starts, general[: hosts[-1].last - len(pairs)] if hosts else general[:0]),
        hosts=hosts,
        planes=planes,
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
        names=Names(every_pair, owner, owners),
        margins=np.zeros(0),
        memory=Memory(len(pairs), len(pairs) + len(subs)),
        cache=Cache(),
    ).with_margins(margin, rules)


def _packed(outlines: list[Outline]) -> tuple[Ints, Array, Ints]:
    """Return the numbers of what stands for each slot, and where they begin: ints, floats, the capsule and the box."""
    distinct: dict[int, Shape] = {id(item.shape): item.shape for item in outlines}
    number = {key: k for k, key in enumerate(distinct)}
    shapes = list(distinct.values())
    packed = [plane_core(shape) if isinstance(shape, Halfspace) else shape._packed for shape in shapes]
    ints, floats, starts = arena_of(packed)
    floats, starts = with_bounds(shapes, bounding_box, *with_bounds(shapes, bounding_capsule, floats, starts))
    which = np.array([number[id(item.shape)] for item in outlines], dtype=np.int64)
    return ints, floats, np.ascontiguousarray(starts[which].reshape(-1, 4))


def _with_objects(base: Base, objects: list[CollisionObject]) -> Ints:
    """Return the pairs of units that objects are in: with links that move against them, and each other."""
    if not objects:
        return np.zeros((0, 2), dtype=np.int64)
    count = len(base.units)
    hung = sum(item.link != WORLD for item in objects)
    checked = np.zeros((count + hung, len(objects)), dtype=bool)  # what moves, and each object
    link = np.array([*(unit.link for unit in base.units), *(item.link for item in objects)], dtype=np.int64)
    rigid = base.robot.rigid
    group = np.where(link == WORLD, WORLD, rigid[link]) if len(rigid) else link
    checked[:] = group[: count + hung, None] != group[count:]
    checked[count:, :hung] &= np.triu(np.ones((hung, hung), dtype=bool), 1)
    owner = [*(base.robot.links[unit.link] for unit in base.units), *(item.name for item in objects)]
    for k, item in enumerate(objects):
        if item.touch:
            may = np.array([name in item.touch for name in owner], dtype=bool)
            checked[may[: count + hung], k] = False
            if k < hung:
                checked[count + k, may[count:]] = False
    indices = np.argwhere(checked)
    indices[:, 1] += count
    pairs: Ints = indices.astype(np.int64)
    return pairs


def _split(units: list[Unit], pairs: Ints, exact: Bools) -> tuple[Ints, Ints, Ints]:
    """Return pairs of slots and their sub-pairs, as `Layout` has them, and the slots of what kernels cannot answer."""
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
    """Return every body of the one with every body of the other, pair by pair."""
    a, b = pairs[:, 0], pairs[:, 1]
    sizes = count[a] * count[b]
    which = np.repeat(np.arange(len(pairs)), sizes)
    at = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    many = count[b][which]
    return np.ascontiguousarray(
        np.column_stack([first[a][which] + at // many, first[b][which] + at % many]).astype(np.int64).reshape(-1, 2)
    )


def _by_host(pairs: Ints, slots: list[Slot], before: int) -> tuple[Ints, tuple[Host, ...]]:
    """Return pairs of slots sorted by the body whose tree answers them, those of none last, and the bodies.

    Behind the two slots of a pair stands whether the body is the first, and nothing.
    """
    hosts = [isinstance(slot.shape, Body) and not slot.shape._as_parts().any_mapped for slot in slots]
    ends = [slot.outline.exact and slot.outline.plane is None for slot in slots]
    keys, first = [], []
    for a, b in pairs.tolist():
        host_a, host_b = hosts[a] and ends[b], hosts[b] and ends[a]
        keys.append(a if host_a else b if host_b else len(slots))
        first.append(host_a)
    by = np.array(keys, dtype=np.int64)
    order = np.argsort(by, kind="stable")
    host_slots, begins, counts = (
        column.tolist() for column in np.unique(by[order], return_index=True, return_counts=True)
    )
    groups = tuple(
        Host(slot, before + start, before + start + count)
        for slot, start, count in zip(host_slots, begins, counts, strict=True)
        if slot < len(slots)
    )
    marks = np.array(first, dtype=np.int64).reshape(-1, 1)
    return np.ascontiguousarray(np.hstack([pairs, marks, np.zeros_like(marks)])[order].astype(np.int64)), groups


def _guests(slots: list[Slot], starts: Ints, pairs: Ints) -> Guests:
    """Return slots as trees, those that hosts have pairs with."""
    guests = Guests(
        np.zeros((len(slots), BOX)), starts.copy(), np.zeros((len(slots), 3)), np.zeros((len(slots), 2)),
        np.array([[-1, 0, 1]]), IDENTITY,
    )  # fmt: skip
    guests.table[:, ROW] = 0
    for k in np.unique(np.where(pairs[:, 2] != 0, pairs[:, 1], pairs[:, 0])).tolist():
        tree = PartTree(*parts_of(slots[k].shape).given)
        guests.boxes[k], guests.points[k], guests.sizes[k] = tree.boxes[0], tree.points[0], (tree.rim, tree.reach)
    return guests
