"""What a manager holds: meshes at poses, the tree of their boxes, and each distinct mesh only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.broad.tree import Tree
from gjk3d.errors import PoseError, SceneError, ShapeError
from gjk3d.poses import ROUNDING, TOLERANCE, WIDTH, as_matrices, check_row, parts, pose_rows
from gjk3d.typing import Array, Ints

_FLAT = 1e-12  #: a transform that shrinks one way by this, next to another way, has no inverse worth the name
EXTERNAL = "__external"  #: what trimesh calls the mesh that is not in the manager
Key = tuple[Hashable, bytes]  #: of a mesh: its content, and the deformation by its transform, nothing for none


class CollisionObject:
    """A mesh in a manager; what ``add_object`` returns.

    Attributes
    ----------
    name : hashable
        As given.
    mesh : Mesh
        What is asked about, with any scale of its transform baked in.
    transform : (4, 4) float
        As given last.

    Parameters
    ----------
    name, number
        What it is called, and where it is kept; the manager makes these.

    Examples
    --------
    >>> import gjk3d as gk, trimesh
    >>> shift = trimesh.transformations.translation_matrix((1, 2, 3))
    >>> block = gk.CollisionManager().add_object("block", trimesh.creation.box(), shift)
    >>> block.name, block.getTranslation().tolist(), block.getRotation().shape
    ('block', [1.0, 2.0, 3.0], (3, 3))
    """

    __slots__ = ("_keys", "_number", "_row", "mesh", "name", "transform")
    mesh: Mesh
    _row: Array  #: the pose, as twelve numbers
    transform: Array
    _keys: tuple[Key, ...]  #: of the mesh as it was given, and of what its transform made of it where that is another

    def __init__(self, name: Hashable, number: int) -> None:
        self.name, self._number = name, number

    def getRotation(self) -> Array:
        """Return the upper left part of the transform, (3, 3), as fcl's object does."""
        return self.transform[:3, :3].copy()

    def getTranslation(self) -> Array:
        """Return the translation, (3,), as fcl's object does."""
        return self.transform[:3, 3].copy()

    def __repr__(self) -> str:
        return f"<CollisionObject {self.name!r}: {self.mesh!r}>"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of objects, by their numbers."""

    left: Objects
    right: Objects
    numbers: Ints  #: (k, 2)

    def __iter__(self) -> Iterator[tuple[CollisionObject, CollisionObject]]:
        for i, j in self.numbers.tolist():
            yield self.left.at[i], self.right.at[j]


class Objects:
    """Objects by name; leaves of the tree are their numbers, each used again when its object is gone.

    Boxes are fitted when the next question is asked, all that are new or have moved at once.
    """

    def __init__(self, lender: Objects | None = None) -> None:
        self._lender = lender
        self._guest: Objects | None = None
        self.named: dict[Hashable, CollisionObject] = {}
        self.at: dict[int, CollisionObject] = {}
        self._tree = Tree()
        self._free: list[int] = []
        self._fresh: set[int] = set()
        self._moved: set[int] = set()
        self._meshes: dict[Key, list[Any]] = {}  #: each distinct mesh, how many objects are of it, its number
        self.rows, self.boxes = np.zeros((0, WIDTH)), np.zeros((0, 6))
        self.which = np.zeros(0, dtype=np.int64)  #: a number for each distinct mesh
        self._known = 0
        self._local = np.zeros((0, 6))  #: the middle of the box of each mesh, and half its size

    def __len__(self) -> int:
        return len(self.named)

    # --- changes -------------------------------------------------------------------------------------------------

    def put(self, name: Hashable, mesh: Any, transform: Any) -> CollisionObject:
        """Add an object, or put it in the place of the one with that name."""
        row = np.empty((1, WIDTH))
        linear, matrix = _split(np.eye(4) if transform is None else transform, name, row)
        key = key_of(mesh, f"mesh of {name!r}"), b""
        keys, taken = self._deformed(key, self._take(key, lambda: self._made(key, mesh)), linear)
        if name in self.named:
            self.remove(name)
        number = self._free.pop() if self._free else len(self.at)
        self._reserve(number + 1)
        new = self.at[number] = self.named[name] = CollisionObject(name, number)
        new._keys, new.transform = keys, matrix
        self.rows[number], new._row = row[0], row[0, :12]
        self._shape(new, taken)
        self._fresh.add(number)
        return new

    def _shape(self, placed: CollisionObject, mesh: Mesh) -> None:
        placed.mesh = mesh
        self.which[placed._number] = self._meshes[placed._keys[-1]][2]
        low, high = mesh.bounds
        self._local[placed._number] = *(0.5 * low + 0.5 * high), *(0.5 * high - 0.5 * low)

    def _reserve(self, room: int) -> None:
        if room <= len(self.rows):
            return
        more = max(room, 2 * len(self.rows), 4) - len(self.rows)
        self.rows = np.concatenate([self.rows, np.zeros((more, WIDTH))])
        self.boxes = np.concatenate([self.boxes, np.zeros((more, 6))])
        self.which = np.concatenate([self.which, np.zeros(more, dtype=np.int64)])
        self._local = np.concatenate([self._local, np.zeros((more, 6))])

    def remove(self, name: Hashable) -> None:
        """Take an object away."""
        old = self.find(name)
        del self.named[name]
        del self.at[old._number]
        if old._number not in self._fresh:
            self._tree.remove(np.array([old._number]))
        self._fresh.discard(old._number)
        self._moved.discard(old._number)
        for key in old._keys:
            self._drop(key)
        self._free.append(old._number)

    def move(self, name: Hashable, transform: Any) -> None:
        """Give an object a new transform."""
        moved = self.find(name)
        row = np.empty((1, WIDTH))
        linear, matrix = _split(transform, name, row)
        if linear is not None or len(moved._keys) > 1:
            keys, taken = self._deformed(moved._keys[0], self._meshes[moved._keys[0]][0], linear)
            for key in moved._keys[1:]:
                self._drop(key)
            moved._keys = keys
            self._shape(moved, taken)
        self.rows[moved._number], moved._row = row[0], row[0, :12]
        moved.transform = matrix
        self._moved.add(moved._number)

    def guest(self, mesh: Any, transform: Any) -> Objects:
        """Return a mesh by itself as what these can be asked against; the last one is kept."""
        if self._guest is None:
            self._guest = Objects(self)
        self._guest.put(EXTERNAL, mesh, transform)
        return self._guest

    def find(self, name: Hashable) -> CollisionObject:
        """Return the object of a name."""
        if name not in self.named:
            raise SceneError(f"{name} not in collision manager!")
        return self.named[name]

    def _deformed(self, key: Key, mesh: Mesh, linear: Array | None) -> tuple[tuple[Key, ...], Mesh]:
        """Return the keys and the mesh of an object, deformed by what is not rigid in its transform."""
        if linear is None:
            return (key,), mesh
        other = key[0], linear.tobytes()
        return (key, other), self._take(other, lambda: _baked(mesh, linear))

    def _take(self, key: Key, make: Callable[[], Mesh]) -> Mesh:
        """Return the mesh of a key, made once for all objects of it, and count who has it."""
        entry = self._meshes.get(key)
        if entry is None:
            entry = self._meshes[key] = [make(), 0, self._known]
            self._known += 1
        entry[1] += 1
        mesh: Mesh = entry[0]
        return mesh

    def _made(self, key: Key, mesh: Any) -> Mesh:
        lent = None if self._lender is None else self._lender._meshes.get(key)
        made: Mesh = as_mesh(mesh) if lent is None else lent[0]
        return made

    def _drop(self, key: Key) -> None:
        entry = self._meshes[key]
        entry[1] -= 1
        if entry[1] == 0:
            del self._meshes[key]

    # --- searches ------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Fit the boxes of what is new or has moved."""
        if self._fresh:
            self._tree.insert(*self._fitted(self._fresh))
        if moved := self._moved - self._fresh:
            self._tree.move(*self._fitted(moved))
        self._fresh.clear()
        self._moved.clear()

    def _fitted(self, which: set[int]) -> tuple[Ints, Array]:
        """Return numbers of objects and the boxes round them at their poses, never too small."""
        numbers = np.array(sorted(which))
        center, half, rows = self._local[numbers, :3], self._local[numbers, 3:], self.rows[numbers]
        turn, shift = parts(rows)
        size = np.abs(center).max(axis=1) + half.max(axis=1) + np.abs(shift).max(axis=1)
        middle = np.einsum("kij,kj->ki", turn, center) + shift
        reach = np.einsum("kij,kj->ki", np.abs(turn), half) + ROUNDING * size[:, None]
        boxes = self.boxes[numbers] = np.hstack([middle - reach, middle + reach])
        return numbers, boxes

    def pairs(self, within: float) -> Pairs:
        """Return the pairs of objects whose boxes are no farther apart than that along any axis, in a fixed order."""
        self.settle()
        return Pairs(self, self, in_order(np.sort(_joined(self._tree.pairs(within)), axis=1)))

    def pairs_with(self, other: Objects, within: float) -> Pairs:
        """Return such pairs of an object here and one there."""
        self.settle()
        other.settle()
        return Pairs(self, other, in_order(_joined(self._tree.pairs_with(other._tree, within))))

    def pairs_of(self, one: CollisionObject) -> Pairs:
        """Return all pairs of one object and another."""
        self.settle()
        others = np.array(sorted(self.at.keys() - {one._number}), dtype=np.int64)
        return Pairs(self, self, np.column_stack([np.full(len(others), one._number), others]))

    @property
    def bounds(self) -> Array:
        """The box round everything, (6,); without objects from infinity to minus infinity."""
        self.settle()
        return self._tree.bounds

    def span(self, other: Objects | None = None) -> float:
        """Return a length that no two boxes are apart by, here or in both, and never 0."""
        here, there = self.bounds, (other or self).bounds
        return float((np.maximum(here[3:], there[3:]) - np.minimum(here[:3], there[:3])).max()) + 1e-300


def _joined(blocks: Iterator[Ints]) -> Ints:
    return np.concatenate([np.zeros((0, 2), dtype=np.int64), *blocks])


def in_order(pairs: Ints) -> Ints:
    """Return pairs of numbers by the first, then by the second."""
    result: Ints = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return result


def as_mesh(mesh: Any) -> Mesh:
    """Return a `trimesh.Trimesh`, or anything else with ``vertices`` and ``faces``, as a `gjk3d.Mesh`."""
    return mesh if isinstance(mesh, Mesh) else Mesh(np.array(mesh.vertices), np.array(mesh.faces))


def key_of(mesh: Any, what: str) -> Hashable:
    """Return what tells meshes of different content apart: a Trimesh can change after it was added."""
    if isinstance(mesh, Mesh):
        return mesh
    vertices, faces = getattr(mesh, "vertices", None), getattr(mesh, "faces", None)
    if vertices is None or faces is None:
        raise ShapeError(f"{what} is a {type(mesh).__name__}: expected a trimesh.Trimesh or a gjk3d.Mesh")
    digest = blake2b(digest_size=16)
    for array in (np.ascontiguousarray(vertices), np.ascontiguousarray(faces)):
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(array.tobytes())
    return digest.digest()


def _split(transform: Any, name: Hashable, rows: Array) -> tuple[Array | None, Array]:
    """Write the pose into the row; return what is to be baked into the mesh, None for nothing, and the transform."""
    what = f"transform of {name!r}"
    matrix = as_matrices(transform, what)
    if matrix.ndim != 2:
        raise PoseError(f"{what} has shape {matrix.shape}, expected one transform, (4, 4)")
    matrix = matrix.copy()
    if check_row(matrix, rows, 0) == 0:
        return None, matrix
    linear = matrix[:3, :3].copy()
    if np.isfinite(matrix).all() and (matrix[3] == (0.0, 0.0, 0.0, 1.0)).all():
        off = float(np.abs(linear.T @ linear - np.eye(3)).max())
        if off > TOLERANCE or np.linalg.det(linear) < 0.0:
            stretch = np.linalg.svd(linear, compute_uv=False)
            if not stretch[2] > _FLAT * stretch[0]:
                raise PoseError(f"{what} flattens the mesh: it scales by {stretch.tolist()}")
            shift = np.eye(4)
            shift[:3, 3] = matrix[:3, 3]
            rows[:] = pose_rows(shift, what)[0]
            return linear, matrix
    rows[:] = pose_rows(matrix, what)[0]
    return None, matrix


def _baked(mesh: Mesh, linear: Array) -> Mesh:
    faces = mesh.faces[:, ::-1] if np.linalg.det(linear) < 0.0 else mesh.faces
    return Mesh(mesh.vertices @ linear.T, faces, name=mesh.name)
