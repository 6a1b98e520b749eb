"""The protocol of non-convex bodies: a body is a union of convex parts, numbered from 0.

A new body derives from `Body` and defines its `Parts` in `_build_parts`: their boxes, a tree over these, and their
kernel format. All queries follow from these: `pair` and `distance`, `depth`, `contact`, `raycast`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from gjk3d.shapes.base import Collidable, Kind
from gjk3d.typing import Array, Bools, Ints

if TYPE_CHECKING:
    from gjk3d.bodies.mesh import Mesh
    from gjk3d.bodies.part_tree import PartTree
    from gjk3d.shapes.base import Shape


class Parts(ABC):
    """Convex parts in one frame. Boxes are rows of least and greatest corner and contain their parts."""

    __slots__ = (
        "__weakref__", "_fast", "_given", "_head", "_looped", "_outward", "_solids", "_surface", "_wide", "count",
        "endless", "reach",
    )  # fmt: skip

    count: int
    reach: float  #: greatest coordinate of any part
    endless: bool  #: whether all parts are unbounded below, beyond their boxes
    _fast: Any  #: see `gjk3d.bodies.depth.fast`
    _head: Any  #: see `gjk3d.engine.store`
    _looped: tuple[Any, int]  #: see `gjk3d.bodies.manifolds`
    _outward: Any  #: see `gjk3d.bodies.depth.points`
    _solids: Any  #: see `gjk3d.bodies.depth.depth`
    _surface: Any  #: see `gjk3d.bodies.depth.points`
    _wide: Any  #: see `gjk3d.bodies.parts.complete`

    # --- abstract members ---------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def box(self) -> Array:
        """The box around all parts, (6,)."""

    @abstractmethod
    def boxes(self, which: Ints) -> Array:
        """Return the boxes of some parts, (k, 6)."""

    @abstractmethod
    def boxes_at(self, which: Ints, m: Array) -> Array:
        """Return the axis-aligned boxes of some parts at a pose row, (k, 6)."""

    @abstractmethod
    def _give(self) -> PartTree:
        """Return all parts in the format of the traversals, numbered in the order of the leaves."""

    @abstractmethod
    def shape(self, part: int) -> Shape:
        """Return one part in its own frame."""

    @abstractmethod
    def ends(self, n: Array) -> Array:
        """Return the lowest and the highest point along n of each part or connected piece, (k, 2, 3)."""

    @abstractmethod
    def points(self) -> Array:
        """Return at least one point of every connected piece, (k, 3)."""

    @property
    def given(self) -> PartTree:
        """All parts in the format of the traversals (`gjk3d.bodies.part_tree`), cached.

        The tree of the surface may not be built, see `gjk3d.bodies.parts.complete`.
        """
        try:
            return self._given
        except AttributeError:
            self._given: PartTree = self._give()
        return self._given

    def made_of(self) -> tuple[Sequence[Any], Ints]:
        """Return the shapes of the parts, and the index of the shape of each part.

        Triangles and columns do not have shapes. A single index applies to all parts. An item that is not a shape is a
        mesh whose triangles are parts.
        """
        return [], np.zeros(1, dtype=np.int64)

    # --- optional overrides -------------------------------------------------------------------------------------

    @property
    def any_mapped(self) -> bool:
        """Whether a part is a support mapping of a user."""
        return False

    def mapped(self, which: Ints) -> Bools:
        """Return which parts are support mappings of users."""
        return np.zeros(len(which), dtype=bool)

    def hull(self) -> Shape | None:
        """Return the convex hull, or None if it is too expensive or does not exist."""
        return None

    @property
    def convex_slack(self) -> float:
        """The greatest difference between the depth of the body and of its hull, infinite for a non-convex body."""
        return inf

    @property
    def solids(self) -> list[tuple[Mesh, Array]]:
        """Closed meshes with an interior, and their pose rows."""
        return []

    def samples(self) -> Array:
        """Return points spread over the whole body, (k, 3), whose depth in another body is a lower bound."""
        return self.points()

    def outward(self, which: Ints) -> Array:
        """Return the unit normals of some parts, out of the solid that they bound, (k, 3). Zero without a solid."""
        return np.zeros((len(which), 3))


class Body(Collidable):
    """A non-convex body, which is immutable, hashable and picklable."""

    __slots__ = ()
    _kind = Kind.PARTS

    def _as_parts(self) -> Parts:
        """Return the convex parts, which are cached."""
        parts: Parts | None = self._cache.get("parts")
        return self._cached("parts", self._build_parts) if parts is None else parts

    def _parts_near(self, reach: float, shift: Array, pushed: bool = True) -> Parts:
        """Return the parts near another object, whose points are within ``reach`` of its origin at ``shift``.

        Fewer parts are sufficient if the object need not be ``pushed`` out.
        """
        return self._as_parts()

    @abstractmethod
    def _build_parts(self) -> Parts:
        """Return the convex parts."""

    def _bytes(self) -> Iterator[bytes]:
        """Yield the content as bytes that are equal in every process."""
        for name in self._field_names():
            yield np.asarray(getattr(self, name)).tobytes()

    @property
    def _order(self) -> tuple[int, ...]:
        """The key by which the kernels order two bodies. A subclass has the key of its base class."""
        return self._cached("order", self._find_order)

    def _find_order(self) -> tuple[int, ...]:
        key = crc32(repr(self._field_names()).encode())
        for part in self._bytes():
            key = crc32(part, key)
        return self._as_parts().count, key

    @property
    def bounds(self) -> Array:
        """Least and greatest corner of a box around the body, (2, 3) float, in its frame."""
        return self._as_parts().box.reshape(2, 3).copy()
