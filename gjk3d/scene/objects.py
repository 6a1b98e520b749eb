"""The objects of a scene: names, shapes, poses and groups in plain arrays, and the tree of their boxes.

An object has a slot, which is its row in every array and its leaf in the tree. The next query packs the new shapes, and
fits the boxes of all new and moved objects. The tree of a non-convex body is not part of the tree of the scene.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from itertools import chain, islice
from typing import Any, TypeVar, cast

import numpy as np

from gjk3d.broad import Tree
from gjk3d.convex.checks import no_shape
from gjk3d.convex.solve import placed_boxes
from gjk3d.engine.dispatch import Collider, is_collider
from gjk3d.engine.pairs import BOX_ROUNDING, ShapeStore
from gjk3d.errors import PoseError, SceneError
from gjk3d.poses import IDENTITY, WIDTH, as_matrices, check_row, fill_rows, is_plain
from gjk3d.scene.pairs import ALL, ANSWERED_ASIDE, HALF_SPACE, NO_RANK, Shapes, Side
from gjk3d.shapes.base import Kind
from gjk3d.typing import Array, Ints
from gjk3d.units import rescaling


def planes_of(shape: Any) -> list[tuple[float, ...]]:
    """Return half-spaces (normal, offset) whose intersection contains an unbounded shape, or [] for a bounded shape."""
    if shape._kind & Kind.PLANES:
        above = (*shape.normal.tolist(), float(shape.offset))
        return [above] if shape._sides == 1.0 else [above, tuple(-x for x in above)]
    if shape._kind != Kind.ENDLESS:
        return []
    more = BOX_ROUNDING * max(abs(d) for _, d in shape._limits)
    return [(*n.tolist(), d + more) for n, d in shape._limits]


F = TypeVar("F", bound=Callable[..., Any])


def exclusive(method: F) -> F:
    """Return a method that locks its scene against other threads. A scene in its first argument is locked too."""

    @wraps(method)
    def locked(self: Any, *args: Any, **options: Any) -> Any:
        partner = args[0] if args else options.get("other")
        with lock_both(self, partner) if isinstance(partner, type(self)) and partner is not self else self._lock:
            return method(self, *args, **options)

    return cast(F, locked)


@contextmanager
def lock_both(scene: Any, partner: Any) -> Iterator[None]:
    """Lock two scenes against other threads for a block."""
    first, second = sorted((scene, partner), key=id)  # always in one order, to avoid a deadlock
    with first._lock, second._lock:
        yield


_NONE = np.zeros(0, dtype=np.int64)
UNBOUNDED = Kind.PLANES | Kind.ENDLESS  #: kinds of shapes that have no box
MOST_GROUPS = 62  #: number of bits in an int64 that groups may use
_FEW = 64  #: moves of fewer objects are stored in the set ``moved``, all others in the array ``_swept``
#: unused shapes are removed if the number of shapes exceeds twice the number of objects by more than this
_SPARE = 64
#: unused shapes are removed after more removals of non-convex bodies, because point clouds are large
_SPARE_BODIES = 8


class Objects:
    """The objects of a scene. The slot of an object is its row in every array and its leaf in the tree of boxes.

    The arrays are ``rows`` (pose rows), ``which`` (indices of shapes), ``bits`` (group and mask), ``starts`` (indices
    of the first integer and the first float of the packed shape), ``wild`` (1 for a support mapping of a user), and
    ``births`` (the version of the scene in which the object was added).
    """

    __slots__ = (
        "_capacity", "_floors", "_free", "_fresh", "_gone", "_joined", "_keys", "_listed", "_ranks", "_swept",
        "_visitor", "allowed", "births", "bits", "groups", "moved", "names", "pairs", "planes", "ray_planes", "rows",
        "shapes", "slots", "starts", "tree", "unit", "version", "which", "wild",
    )  # fmt: skip

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}  #: slot of each name
        self._gone = 0  #: number of non-convex bodies that were removed, or were visitors, since `_drop_shapes`
        self.unit: str | None = None  #: unit of the last mesh that has a unit; all meshes have the same unit
        self.names: list[str] = []  #: name of each slot; a free slot has the name of its last object
        self.shapes: dict[Collider, int] = {}  #: number of each distinct shape
        self.pairs = ShapeStore([])  #: the packed shapes, by number
        self.groups: dict[str, int] = {"default": 0}  #: number of the bit of each group
        self.allowed: set[tuple[int, int]] = set()  #: allowed pairs of slots, the lower slot first
        self.planes: set[int] = set()  #: slots of unbounded objects
        self.tree = Tree()  #: tree of the boxes of bounded objects; a leaf has the number of its slot
        self._free: list[int] = []  #: slots of removed objects
        self._fresh: dict[int, tuple[int, int, int]] = {}  #: number of the shape, group and mask of each new slot
        self.moved: set[int] = set()  #: slots with new poses
        self._swept = _NONE  #: more slots with new poses
        self._listed: tuple[int, list[str], Ints] = -1, [], _NONE  #: the last result of `find`: version, names, slots
        self._floors: Ints | None = None
        self._ranks: Ints | None = None
        self._keys: Ints | None = None
        self._joined: tuple[ShapeStore, ShapeStore, ShapeStore] | None = None
        self.ray_planes: Any = None  #: the `gjk3d.scene.rays.Planes` of the shapes
        self._visitor: tuple[Collider | None, int] = None, -1  #: the last shape of `visitor`, and its slot
        self._capacity = 0  #: number of rows of the arrays below
        self.version = 0  #: number of changes, motions excluded
        self.births = np.zeros(0, dtype=np.int64)  #: version in which the object was added
        self.rows, self.which = np.zeros((0, WIDTH)), np.zeros(0, dtype=np.int64)
        self.bits, self.starts = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
        self.wild = np.zeros(0, dtype=np.int64)  #: 1 if the box is that of the bounding ball (user's support mapping)

    def _reserve(self, capacity: int) -> None:
        if capacity <= self._capacity:
            return
        capacity = max(capacity, 2 * self._capacity, 16)
        for name in ("rows", "which", "bits", "starts", "wild", "births"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), dtype=old.dtype)
            new[: self._capacity] = old
            setattr(self, name, new)
        self._capacity = capacity

    # --- changes -------------------------------------------------------------------------------------------------

    def next_slot(self) -> int:
        """Return the slot of the next `insert`. The arrays have a row for it."""
        slot = self._free[-1] if self._free else len(self.names)
        if slot >= self._capacity:
            self._reserve(slot + 1)
        return slot

    def insert(self, name: str, shape: Collider, group: int, mask: int) -> None:
        """Add an object in the next slot. The caller has checked the arguments and written the pose to ``rows``."""
        if self._free:
            slot = self._free.pop()
            self.names[slot] = name
        else:
            slot = len(self.names)
            self.names.append(name)
        self.slots[name] = slot
        self._fresh[slot] = self.shapes.setdefault(shape, len(self.shapes)), group, mask
        self._ranks = None
        self.version += 1
        self.births[slot] = self.version

    def insert_many(self, names: Sequence[str], shapes: Sequence[Collider], rows: Array, group: int, mask: int) -> None:
        """Add objects with checked names, shapes and pose rows."""
        self._reserve(len(self.names) + len(names))
        for name, shape in zip(names, shapes, strict=True):
            self.insert(name, shape, group, mask)
        self.rows[[self.slots[name] for name in names]] = rows

    def remove(self, name: str) -> None:
        """Remove an object, and the allowed pairs that contain it."""
        slot = self.slots.pop(name)
        if slot not in self._fresh:
            self._gone += bool(self.pairs.mixed[self.which[slot]])
            if slot not in self.planes:
                self.tree.remove(np.array([slot]))
        self._fresh.pop(slot, None)
        if slot in self.planes:
            self.planes.discard(slot)
            self._floors = None
        self.moved.discard(slot)
        if len(self._swept):
            self._swept = self._swept[self._swept != slot]
        self.allowed = {pair for pair in self.allowed if slot not in pair} if self.allowed else self.allowed
        self._free.append(slot)
        self._ranks = self._keys = None
        self.version += 1

    def check_scene(self, partner: Objects) -> None:
        """Raise a SceneError if the objects of another scene have a different unit."""
        if partner.unit and partner.unit != self.unit:
            self.check_units(islice(partner.with_unit(), 1))

    def with_unit(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the unit of each object that has a unit."""
        listed = list(self.shapes)
        for name, slot in self.slots.items():
            number = self._fresh[slot][0] if slot in self._fresh else self.which[slot]
            if unit := unit_of(listed[number]):
                yield name, unit

    def check_units(self, units: Iterable[tuple[str, str | None]]) -> None:
        """Raise a SceneError if new objects, given by name and unit, do not have the unit of the scene.

        A scene without a unit takes that of the new objects.
        """
        new: list[tuple[str, str]] = []
        for name, unit in units:
            if not unit or unit == self.unit:
                continue
            # the objects with the unit ``self.unit`` may have been removed
            if self.unit and rescaling(unit, self.unit) and (old := next(chain(new, self.with_unit()), None)):
                raise SceneError(
                    f"{name!r} is in {unit} and {old[0]!r} in {old[1]}, expected one unit in a scene. "
                    f"Convert {name!r}: {rescaling(unit, old[1])}"
                )
            new.append((name, unit))
            self.unit = unit

    def find(self, names: Sequence[str]) -> Ints:
        """Return the slots of distinct names. Raise a KeyError for an unknown name. The last result is cached."""
        version, listed, where = self._listed
        if version != self.version or type(names) is not list or names != listed:
            listed = distinct(names)
            where = np.array([self.slots[name] for name in listed], dtype=np.int64)
            self._listed = self.version, listed, where
        return where

    def move(self, slots: Ints, rows: Array) -> None:
        """Set the poses of the objects in ``slots`` to the pose rows."""
        self.rows[slots] = rows
        if len(slots) < _FEW:
            self.moved.update(slots.tolist())
        else:
            self._swept = np.union1d(self._swept, slots) if len(self._swept) else slots

    def allow(self, a: str, b: str, allowed: bool) -> None:
        """Add the pair of two names to the allowed pairs, or remove it if ``allowed`` is False."""
        i, j = sorted((self.slots[a], self.slots[b]))
        (self.allowed.add if allowed else self.allowed.discard)((i, j))
        self._keys = None
        self.version += 1

    def bit(self, group: str) -> int:
        """Return the bit mask of a group. A new name adds a group to the scene."""
        if group not in self.groups:
            if len(self.groups) >= MOST_GROUPS:
                raise SceneError(
                    f"group {group!r} would be group {MOST_GROUPS + 1}, expected at most {MOST_GROUPS} groups in a "
                    "scene. Use an existing group"
                )
            self.groups[group] = len(self.groups)
        return 1 << self.groups[group]

    # --- data for queries -----------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Pack new shapes, remove unused shapes if there are many, and fit the boxes of new and moved objects."""
        if len(self.shapes) > 2 * len(self.slots) + _SPARE or self._gone > _SPARE_BODIES:
            self._drop_shapes()
        packed = len(self.pairs.shapes)
        if len(self.shapes) > packed:
            self.pairs = self.pairs.joined(ShapeStore(list(self.shapes)[packed:]))
        slots = self._swept
        if self.moved:
            moved = np.array(sorted(self.moved), dtype=np.int64)
            slots = np.union1d(slots, moved) if len(slots) else moved
        if self._fresh:
            slots = slots[~np.isin(slots, list(self._fresh))]
            self._settle_fresh()
        if self.planes:
            slots = slots[~np.isin(slots, list(self.planes))]
        if len(slots):
            self.tree.move(slots, self._boxes(slots))
        self._fresh.clear()
        self.moved.clear()
        self._swept = _NONE

    def side(
        self, fresh: int, ordered: bool, floors: Ints | None = None, bits: Ints | None = None, shift: int = 0
    ) -> Side:
        """Return the scene in the form that the kernels read.

        ``fresh`` is the slot whose box is still to be fitted, or -1. With ``ordered``, the result has the ranks of the
        names. ``floors`` replaces the scene's list of slots of unbounded objects, and ``bits`` replaces its groups and
        masks. ``shift`` is the index of the scene's first shape among the shapes of two scenes.
        """
        tree, ranks = self.tree, self.ranks if ordered else _NONE
        bits, floors = self.bits if bits is None else bits, self.floors if floors is None else floors
        return Side(self.which, self.rows, bits, ranks, tree.boxes, tree.links, tree.state, floors, shift, fresh)

    def settle_but_one(self) -> int:
        """Update the scene as `settle` does, but not the box of a moved object if its motion is the only change.

        Returns the slot of this object, or -1. The caller must move the leaf of the object, and then clear ``moved``.
        """
        moved = self.moved
        others = len(self._swept) or self._fresh or len(self.shapes) != len(self.pairs.shapes)
        if len(moved) == 1 and not others:
            (slot,) = moved
            if slot not in self.planes:
                self.tree.changed(1)
                return slot
        if moved or others:
            self.settle()
        return -1

    def _drop_shapes(self) -> None:
        self._gone = 0
        visitor = [self._visitor[1]] if self._visitor[0] is not None else []
        old = np.array([*(slot for slot in self.slots.values() if slot not in self._fresh), *visitor], dtype=np.int64)
        listed = list(self.shapes)
        used = sorted({*self.which[old].tolist(), *(number for number, _, _ in self._fresh.values())})
        number = {before: k for k, before in enumerate(used)}
        self.shapes = {listed[before]: k for before, k in number.items()}
        self.pairs = ShapeStore(list(self.shapes))
        self.which[old] = [number[before] for before in self.which[old].tolist()]
        self.starts[old] = self.pairs.columns[self.which[old], :2]
        self._fresh = {slot: (number[before], group, mask) for slot, (before, group, mask) in self._fresh.items()}

    def _settle_fresh(self) -> None:
        slots = np.array(list(self._fresh), dtype=np.int64)
        facts = np.array(list(self._fresh.values()), dtype=np.int64)
        which = facts[:, 0]
        self.which[slots], self.bits[slots] = which, facts[:, 1:]
        self.starts[slots] = self.pairs.columns[which, :2]
        self.wild[slots] = self.pairs.mapped[which]
        plane = self.pairs.unbounded[which]
        if plane.any():
            self.planes.update(slots[plane].tolist())
            self._floors = None
        self.tree.insert(slots[~plane], self._boxes(slots[~plane]))

    def _boxes(self, slots: Ints) -> Array:
        boxes = np.empty((len(slots), 6))
        placed_boxes(self.pairs.ints, self.pairs.floats, self.starts, self.wild, self.rows, slots, boxes)
        return boxes

    def visitor(self, shape: Collider, pose: Any) -> int:
        """Store a visitor, and return its slot. A visitor is a shape at a pose, target of a query, but no object."""
        cached, slot = self._visitor
        if cached is not shape:
            slot = self._place_visitor(shape, slot)
        write_pose(pose, "other", self.rows, slot)
        return slot

    def _place_visitor(self, shape: Collider, slot: int) -> int:
        if slot < 0:
            slot = self.next_slot()
            if self._free:
                self._free.pop()
                self.names[slot] = ""
            else:
                self.names.append("")
            self.tree.reserve(slot + 1)
        self._gone += bool(shape._kind & Kind.BODIES)
        number = self.shapes.setdefault(shape, len(self.shapes))
        self.which[slot], self.bits[slot] = number, ALL
        self._visitor = shape, slot
        return slot

    def is_unbounded(self, slot: int) -> bool:
        """Return whether the object or the visitor in a slot is unbounded."""
        visitor, where = self._visitor
        return slot in self.planes or (slot == where and bool(visitor._kind & UNBOUNDED))  # type: ignore[union-attr]

    def joined(self, partner: Objects) -> ShapeStore:
        """Return a store of the shapes of this scene, followed by those of another. The last result is cached."""
        cached = self._joined
        if cached is None or cached[0] is not self.pairs or cached[1] is not partner.pairs:
            cached = self._joined = self.pairs, partner.pairs, self.pairs.joined(partner.pairs)
        return cached[2]

    @property
    def ranks(self) -> Ints:
        """Rank of each slot's name among the sorted names, or `NO_RANK` for a slot without an object."""
        if self._ranks is None:
            ordered = [self.slots[name] for name in sorted(self.slots)]
            self._ranks = np.full(self._capacity, NO_RANK, dtype=np.int64)
            self._ranks[ordered] = np.arange(len(ordered))
        return self._ranks

    @property
    def floors(self) -> Ints:
        """Slots of unbounded objects, in ascending order."""
        if self._floors is None:
            self._floors = np.array(sorted(self.planes), dtype=np.int64)
        return self._floors

    @property
    def keys(self) -> Ints:
        """One integer for each allowed pair, in ascending order: 2^31 times the lower slot, plus the higher slot."""
        if self._keys is None:
            self._keys = np.sort(np.array([(i << 31) | j for i, j in self.allowed], dtype=np.int64))
        return self._keys

    def shape(self, slot: int) -> Collider:
        """Return the shape of the object in a slot."""
        number = self._fresh[slot][0] if slot in self._fresh else int(self.which[slot])
        settled = self.pairs.shapes
        return settled[number] if number < len(settled) else list(self.shapes)[number]

    def translated(self, partner: Objects) -> Ints:
        """Return the groups and masks of another scene as bits of this scene. Groups are matched by name."""
        if partner.groups == self.groups:
            return partner.bits
        theirs = partner.bits
        out = np.zeros_like(theirs)
        out[theirs < 0] = ALL  # all groups, including those that this scene does not have
        some = theirs >= 0
        for group, bit in partner.groups.items():
            out[some & (theirs >> bit & 1 == 1)] |= self.bit(group)
        return out


def packed(store: ShapeStore) -> Shapes:
    """Return the shapes of a store in the form of the kernels, see `Shapes`. The result is cached."""
    shapes: Shapes | None = store.cached.get("scene")
    if shapes is None:
        aside = (store.mapped | store.mixed) * ANSWERED_ASIDE + store.planes * HALF_SPACE
        limits: list[tuple[float, ...]] = []
        spans = np.zeros((len(store), 2), dtype=np.int64)
        for number in store.unbounded.nonzero()[0].tolist():
            rows = planes_of(store.shapes[number])
            spans[number] = len(limits), len(rows)
            limits += rows
        table = np.column_stack([store.columns, store.mapped, aside, spans]).astype(np.int64)
        shapes = store.cached["scene"] = Shapes(store.ints, store.floats, np.array(limits).reshape(-1, 4), table)
    return shapes


def pose_rows_of(poses: Any, count: int, names: Sequence[str], single: bool) -> Array:
    """Return the pose rows (count, 13) of poses, or of one pose if ``single``. Raise a PoseError for invalid poses."""
    if poses is None:
        return np.repeat(IDENTITY, count, axis=0)
    what = f"pose of {names[0]!r}" if single else "poses"
    matrices = as_matrices(poses, what, single)
    if single and matrices.ndim != 2:
        raise PoseError(
            f"{what} has shape {matrices.shape}, expected one pose, (4, 4). Use add_many or move_many for many objects"
        )
    if not single and (matrices.ndim != 3 or len(matrices) != count):
        raise PoseError(f"poses has shape {matrices.shape}, expected one pose for each name, ({count}, 4, 4)")
    rows = np.empty((count, WIDTH))
    fill_rows(matrices, what, rows)
    return rows


def write_pose(pose: Any, name: str, rows: Array, slot: int) -> None:
    """Write an object's pose to ``rows[slot]``. Raise a PoseError for an invalid pose; the row is then undefined."""
    if pose is None:
        rows[slot] = IDENTITY
    elif not is_plain(pose) or check_row(pose, rows, slot) != 0:
        rows[slot] = pose_rows_of(pose, 1, [name], True)


def check_name(name: Any) -> None:
    """Raise a SceneError if a name is not a text, or is empty."""
    if not isinstance(name, str) or not name:
        raise SceneError(f"name is {name!r}, expected a text that is not empty")


def check_new(slots: dict[str, int], names: Iterable[Any], shapes: Iterable[Any]) -> None:
    """Raise an error if objects with these names and shapes cannot be added to a scene with ``slots``."""
    for name, shape in zip(names, shapes, strict=True):
        check_name(name)
        if name in slots:
            raise SceneError(f"the scene has an object {name!r} already. Move it, remove it, or use another name")
        if not is_collider(shape):
            raise no_shape(f"shape of {name!r}", shape)


def unit_of(shape: Any) -> str | None:
    """Return the unit of a mesh, or None for a shape without a unit."""
    unit: str | None = getattr(shape, "unit", None)
    return unit


def distinct(names: Any) -> list[str]:
    """Return names as a list. Raise a SceneError if a name occurs twice or is not a text."""
    if isinstance(names, str):
        raise SceneError(f"names is the text {names!r}, expected a list of names")
    listed = list(names)
    for name in listed:
        if type(name) is not str:
            check_name(name)
    if len(set(listed)) != len(listed):
        twice = next(name for k, name in enumerate(listed) if name in listed[:k])
        raise SceneError(f"names has {twice!r} more than once, expected each object once")
    return listed
