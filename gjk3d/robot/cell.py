"""A cell: one state of a checker, as the kernels take it; a robot, the objects around it and on it, and their pairs.

A slot is a shape that is fixed to a link or to the world; `cell_build` makes them, and pairs of them.

A cell never changes, but for what it remembers from question to question: each change of a checker makes another. So a
question that takes its cell once is about one state, whatever other threads add, move or remove meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.part_tree import PartTree
from gjk3d.convex.rows import FIRST_POINTS, scratch
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.gjk import MEMORY
from gjk3d.narrow.room import Solver, solver_in, workspace
from gjk3d.robot.model import Robot
from gjk3d.robot.obstacles import WORLD
from gjk3d.robot.trees import Guests
from gjk3d.robot.walk import Frames, Layout, Task
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


class Kept:
    """What is made for a first question and used again by later ones, by who holds the lock of the memory."""

    __slots__ = ("arms", "bounds", "clearance", "edge", "free", "general", "lanes", "proofs", "single", "told")

    def __init__(self, clearance: Any = None) -> None:
        self.free: Any = None  #: what `gjk3d.robot.walk.hit_of_one` is called with,
        self.told: Any = None  #: where it answers,
        self.lanes: Any = None  #: what `gjk3d.robot.lanes_walk.first_hits_of_many` is,
        self.general: Any = None  #: and what `gjk3d.robot.general_pairs.hit_of_one` calls
        self.single: Any = None  #: see `gjk3d.robot.single.prepared`
        self.clearance = clearance  #: scratch of `gjk3d.robot.walk.clearance_many`
        self.arms: Any = None  #: see `gjk3d.robot.motion_bounds._arms`
        self.bounds: Any = None  #: and `motion_bounds` there
        self.proofs: dict[int, Any] = {}  #: see `gjk3d.robot.motion_asked.asked_of`
        self.edge: Any = None  #: and `gjk3d.robot.motion_asked.one_edge`


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
    own: Ints  #: the slots of the robot and of what hangs on it, hulls round several bodies left out
    exact: Bools  #: of each slot, whether what kernels know of it is the shape itself
    slots: Ints  #: (pairs, 2)
    names: Names  #: of pairs, by number
    margins: Array  #: (pairs,)
    memory: Memory
    kept: Kept

    def placed(self, links: Array, slot: int) -> Array:
        """Return where a slot is, (n, 4, 4), from the poses of the links (n, links, 4, 4)."""
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = self.layout.local[slot, :9].reshape(3, 3), self.layout.local[slot, 9:12]
        link = int(self.layout.link[slot])
        poses: Array = np.tile(local, (len(links), 1, 1)) if link == WORLD else links[:, link] @ local
        return poses

    @property
    def rest(self) -> int:
        """The first pair that no kernel answers."""
        return self.hosts[-1].last if self.hosts else len(self.layout.pairs)

    def layout_of(self, host: Host) -> Layout:
        """Return the layout of the pairs of a host."""
        behind = len(self.layout.pairs)
        return self.general._replace(pairs=self.general.pairs[host.first - behind : host.last - behind])

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

    def task(self, layout: Layout | None = None, axes: Array | None = None, *, own: bool = False) -> Task:
        """Return what a walk over pairs works in, this thread's or one to be kept; these remember nothing or axes."""
        axes = np.empty((0, MEMORY)) if axes is None else axes
        gaps = np.empty(len(self.memory.axes))
        return Task(self.robot._chain, layout or self.layout, self.frames(), solver(own=own), axes, gaps)

    def has(self, a: str, b: str) -> bool:
        """Tell whether two names are checked against each other."""
        return bool(self._of(a, b).any())

    def moved(self, name: str, pose: Array) -> Cell:
        """Return the cell with an object somewhere else."""
        local = self.layout.local.copy()
        local[self.objects[name]] = local_row(pose)
        layout, general = self.layout._replace(local=local), self.general._replace(local=local)
        kept = Kept(self.kept.clearance)
        if self.layout.link[self.objects[name]] == WORLD:
            kept.arms = self.kept.arms
        return self._replace(layout=layout, general=general, kept=kept)

    def with_margins(self, margin: float, rules: Iterable[Rule]) -> Cell:
        """Return the cell with other margins."""
        margins = np.full(len(self.slots), margin)
        for rule in rules:
            margins[self._of(rule.a, rule.b)] = rule.margin
        kept = Kept(self.kept.clearance)
        kept.arms, kept.bounds = self.kept.arms, self.kept.bounds  # which no margin changes
        return self._replace(margins=margins, kept=kept)

    def copy(self) -> Cell:
        """Return the same cell with a memory of its own."""
        return self._replace(memory=self.memory.fresh(), kept=Kept())

    def _of(self, a: str, b: str | None) -> Bools:
        """Tell which pairs are of two names, or of one and any other."""
        owner = self.owner[self.slots]
        met = owner == self.owners.index(a)
        if b is not None:
            other = self.layout.link[self.slots] == WORLD if b == OBSTACLES else owner == self.owners.index(b)
            met = met[:, ::-1] & other
        found: Bools = met.any(axis=1)
        return found


def solver(*, own: bool = False) -> Solver:
    """Return what entries solve pairs in, this thread's or one to be kept."""
    floats, ints = workspace(FIRST_POINTS)
    work, table = (np.empty(floats), np.empty(ints, np.int64)) if own else scratch(FIRST_POINTS)[:2]
    one, marks = np.empty((1, narrow.FLOATS)), np.zeros((1, narrow.INTS), dtype=np.int64)
    return solver_in(work, table, FIRST_POINTS, one, marks)


def local_row(pose: Array) -> Array:
    """Return a pose as layouts have it: the rotation row by row, the translation, and the residual of the rotation."""
    residual = np.abs(pose[:3, :3].T @ pose[:3, :3] - np.eye(3)).max()
    return np.concatenate([pose[:3, :3].ravel(), pose[:3, 3], [residual]])
