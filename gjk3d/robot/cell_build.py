"""How a cell is made: the slots and pairs of a robot once, and with objects at each change of what is said of them.

A unit is a slot, and where that is a hull round several bodies, theirs: a collision geometry of the robot, or an
object. Pairs are made of units.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.bvh import BOX
from gjk3d.bodies.part_tree import ROW, PartTree
from gjk3d.bodies.parts import parts_of
from gjk3d.convex.rows import join_packed
from gjk3d.convex.solve import plane_core
from gjk3d.poses import IDENTITY
from gjk3d.robot.boxes import bounding_box
from gjk3d.robot.capsules import bounding_capsule, with_bounds
from gjk3d.robot.cell import Cell, Host, Kept, Memory, Names, Rule, local_row
from gjk3d.robot.model import Robot
from gjk3d.robot.obstacles import WORLD, CollisionObject, Outline, outline
from gjk3d.robot.trees import Guests
from gjk3d.robot.walk import Layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Bools, Ints


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
        asked_of = set(np.unique(link_pairs).tolist()) if hulls else range(len(robot.links))
        for geometry in robot.geometries:
            if geometry.link not in asked_of:
                continue
            bodies = () if hulls else robot.bodies[geometry.first : geometry.last]
            owner, first = robot.links[geometry.link], len(self.slots)
            several = len(bodies) > 1
            if several or hulls:
                self._put(geometry.link, geometry.pose, geometry.hull, owner)
            for body in bodies:
                self._put(body.link, body.pose, body.shape, owner)
            self.units.append(Unit(geometry.link, first, first + several, len(bodies) if several else 0))
        one, two = np.triu_indices(len(self.units), 1)
        of = np.array([unit.link for unit in self.units], dtype=np.int64)
        low, high = np.minimum(of[one], of[two]), np.maximum(of[one], of[two])
        count = len(robot.links)
        asked = np.isin(low * count + high, link_pairs[:, 0] * count + link_pairs[:, 1])
        pairs = np.column_stack([one, two])[asked]
        turned = of[pairs[:, 0]] > of[pairs[:, 1]]
        pairs[turned] = pairs[turned, ::-1]
        self.pairs: Ints = pairs.astype(np.int64)

    def _put(self, link: int, pose: Array, shape: Any, owner: str) -> None:
        self.slots.append(Slot(link, local_row(pose), shape, outline(shape), owner))


def build(base: Base, objects: Iterable[CollisionObject] = (), margin: float = 0.0, rules: Iterable[Rule] = ()) -> Cell:
    """Return the cell of a robot and objects; those that hang on links come before those that stand."""
    every = sorted(objects, key=lambda each: each.link == WORLD)
    own = [Slot(each.link, local_row(each.pose), each.shape, outline(each.shape), each.name) for each in every]
    slots = base.slots + own
    units = base.units + [Unit(each.link, k, k, 0) for k, each in enumerate(every, len(base.slots))]
    owners = [*base.robot.links, *(each.name for each in every)]
    number = {name: k for k, name in enumerate(owners)}
    ints, floats, starts = _packed([slot.outline for slot in slots])
    planes = np.full((len(slots), 4), np.nan)
    for k, slot in enumerate(slots):
        if slot.outline.plane is not None:
            planes[k] = slot.outline.plane
    exact = np.array([slot.outline.exact for slot in slots], dtype=bool)
    pairs, subs, others = _split(units, np.concatenate([base.pairs, _with_objects(base, every)]), exact)
    others, hosts = _by_host(others, slots, len(pairs))
    layout = Layout(
        np.array([slot.link for slot in slots], dtype=np.int64),
        np.array([slot.local for slot in slots]).reshape(-1, 13), ints, floats, starts, pairs, subs,
    )  # fmt: skip
    owner = np.array([number[slot.owner] for slot in slots], dtype=np.int64)
    every_pair = np.concatenate([pairs[:, :2], others[:, :2]])
    return Cell(
        robot=base.robot,
        layout=layout,
        general=layout._replace(pairs=others, subs=np.zeros((0, 2), np.int64)),
        guests=_guests(slots, starts, others[: hosts[-1].last - len(pairs)] if hosts else others[:0]),
        hosts=hosts,
        planes=planes,
        shapes=[slot.shape for slot in slots],
        owner=owner,
        owners=owners,
        objects={each.name: k for k, each in enumerate(every, len(base.slots))},
        own=np.array(
            [k for unit in units if unit.link != WORLD for k in range(unit.first, unit.first + max(unit.bodies, 1))],
            dtype=np.int64,
        ),
        exact=exact,
        slots=every_pair,
        names=Names(every_pair, owner, owners),
        margins=np.zeros(0),
        memory=Memory(len(pairs), len(pairs) + len(subs)),
        kept=Kept(),
    ).with_margins(margin, rules)


def _packed(outlines: list[Outline]) -> tuple[Ints, Array, Ints]:
    """Return the numbers of what stands for each slot, and where they begin: ints, floats, the capsule and the box."""
    distinct: dict[int, Shape] = {id(each.shape): each.shape for each in outlines}
    number = {key: k for k, key in enumerate(distinct)}
    shapes = list(distinct.values())
    packed = [plane_core(shape) if isinstance(shape, Halfspace) else shape._packed for shape in shapes]
    ints, floats, starts = join_packed(packed)
    floats, starts = with_bounds(shapes, bounding_box, *with_bounds(shapes, bounding_capsule, floats, starts))
    which = np.array([number[id(each.shape)] for each in outlines], dtype=np.int64)
    return ints, floats, np.ascontiguousarray(starts[which].reshape(-1, 4))


def _with_objects(base: Base, objects: list[CollisionObject]) -> Ints:
    """Return the pairs of units that objects are in: with links that move against them, and each other."""
    if not objects:
        return np.zeros((0, 2), dtype=np.int64)
    count = len(base.units)
    hung = sum(each.link != WORLD for each in objects)
    keep = np.zeros((count + hung, len(objects)), dtype=bool)  # what moves, and each object
    link = np.array([*(unit.link for unit in base.units), *(each.link for each in objects)], dtype=np.int64)
    rigid = base.robot.rigid
    group = np.where(link == WORLD, WORLD, rigid[link]) if len(rigid) else link
    keep[:] = group[: count + hung, None] != group[count:]
    keep[count:, :hung] &= np.triu(np.ones((hung, hung), dtype=bool), 1)
    owner = [*(base.robot.links[unit.link] for unit in base.units), *(each.name for each in objects)]
    for k, each in enumerate(objects):
        if each.touch:
            may = np.array([name in each.touch for name in owner], dtype=bool)
            keep[may[: count + hung], k] = False
            if k < hung:
                keep[count + k, may[count:]] = False
    found = np.argwhere(keep)
    found[:, 1] += count
    pairs: Ints = found.astype(np.int64)
    return pairs


def _split(units: list[Unit], pairs: Ints, exact: Bools) -> tuple[Ints, Ints, Ints]:
    """Return pairs of slots and their sub-pairs, as `Layout` has them, and the slots of what kernels cannot answer."""
    table = np.array(units, dtype=np.int64).reshape(-1, 4)
    slot, first, count = table[:, 1], np.where(table[:, 3] > 0, table[:, 2], table[:, 1]), np.maximum(table[:, 3], 1)
    plain = np.array([exact[unit.first : unit.first + max(unit.bodies, 1)].all() for unit in units], dtype=bool)
    known = plain[pairs].all(axis=1)
    several = (table[:, 3][pairs[known]] > 0).any(axis=1)
    sizes = np.where(several, count[pairs[known]].prod(axis=1), 0)
    ends = np.cumsum(sizes)
    rows = np.column_stack([slot[pairs[known]], ends - sizes, ends]).astype(np.int64).reshape(-1, 4)
    subs = _bodies_of(pairs[known][several], first, count)
    return np.ascontiguousarray(rows), subs, _bodies_of(pairs[~known], first, count)


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
        one, two = hosts[a] and ends[b], hosts[b] and ends[a]
        keys.append(a if one else b if two else len(slots))
        first.append(one)
    by = np.array(keys, dtype=np.int64)
    order = np.argsort(by, kind="stable")
    found, begins, counts = (each.tolist() for each in np.unique(by[order], return_index=True, return_counts=True))
    groups = tuple(
        Host(slot, before + start, before + start + count)
        for slot, start, count in zip(found, begins, counts, strict=True)
        if slot < len(slots)
    )
    marks = np.array(first, dtype=np.int64).reshape(-1, 1)
    return np.ascontiguousarray(np.hstack([pairs, marks, np.zeros_like(marks)])[order].astype(np.int64)), groups


def _guests(slots: list[Slot], starts: Ints, pairs: Ints) -> Guests:
    """Return slots as trees, those that hosts have pairs with."""
    made = Guests(
        np.zeros((len(slots), BOX)), starts.copy(), np.zeros((len(slots), 3)), np.zeros((len(slots), 2)),
        np.array([[-1, 0, 1]]), IDENTITY,
    )  # fmt: skip
    made.table[:, ROW] = 0
    for k in np.unique(np.where(pairs[:, 2] != 0, pairs[:, 1], pairs[:, 0])).tolist():
        tree = PartTree(*parts_of(slots[k].shape).given)
        made.boxes[k], made.points[k], made.sizes[k] = tree.boxes[0], tree.points[0], (tree.rim, tree.reach)
    return made
