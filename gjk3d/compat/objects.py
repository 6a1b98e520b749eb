"""What a manager holds: meshes at poses, the tree of their boxes, and each distinct mesh only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np

from gjk3d.broad.tree import Tree
from gjk3d.errors import PoseError, SceneError, ShapeError
from gjk3d.meshes.mesh import Mesh
from gjk3d.meshes.surfaces import ROUNDING
from gjk3d.poses import TOLERANCE, as_matrices, pose_rows
from gjk3d.shapes.base import Array, Ints

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
    """

    __slots__ = ("_keys", "box", "mesh", "name", "number", "row", "transform")
    mesh: Mesh
    row: Array  #: the pose, as twelve numbers
    box: Array  #: lowest and highest corner in the world, (6,)
    transform: Array
    _keys: tuple[Key, ...]  #: of the mesh as it was given, and of what its transform made of it where that is another

    def __init__(self, name: Hashable, number: int) -> None:
        self.name, self.number = name, number

    def getRotation(self) -> Array:
        """Return the upper left 3 x 3 part of the transform, as fcl's object does."""
        return self.transform[:3, :3].copy()

    def getTranslation(self) -> Array:
        """Return the translation, as fcl's object does."""
        return self.transform[:3, 3].copy()

    def __repr__(self) -> str:
        return f"<CollisionObject {self.name!r}: {self.mesh!r}>"


class Objects:
    """Objects by name; leaves of the tree are their numbers, each used again when its object is gone."""

    def __init__(self, lender: Objects | None = None) -> None:
        self._lender = lender
        self._guest: Objects | None = None
        self.named: dict[Hashable, CollisionObject] = {}
        self._tree = Tree()
        self._at: list[CollisionObject | None] = []
        self._free: list[int] = []
        self._meshes: dict[Key, list[Any]] = {}  #: each distinct mesh, and how many objects are of it

    def __len__(self) -> int:
        return len(self.named)

    # --- changes -------------------------------------------------------------------------------------------------

    def put(self, name: Hashable, mesh: Any, transform: Any) -> CollisionObject:
        """Add an object, or put it in the place of the one with that name."""
        what = f"transform of {name!r}"
        linear, row, matrix = _split(np.eye(4) if transform is None else transform, what)
        key = key_of(mesh, f"mesh of {name!r}"), b""
        keys, taken = self._deformed(key, self._take(key, lambda: self._made(key, mesh)), linear)
        if name in self.named:
            self.remove(name)
        number = self._free.pop() if self._free else len(self._at)
        new = CollisionObject(name, number)
        new._keys, new.mesh, new.row, new.transform = keys, taken, row, matrix
        new.box = _box(taken, row)
        if number == len(self._at):
            self._at.append(None)
        self._at[number] = new
        self.named[name] = new
        self._tree.insert(np.array([number]), new.box[None])
        return new

    def remove(self, name: Hashable) -> None:
        """Take an object away."""
        old = self.find(name)
        del self.named[name]
        self._tree.remove(np.array([old.number]))
        for key in old._keys:
            self._drop(key)
        self._at[old.number] = None
        self._free.append(old.number)

    def move(self, name: Hashable, transform: Any) -> None:
        """Give an object a new transform."""
        moved = self.find(name)
        linear, row, matrix = _split(transform, f"transform of {name!r}")
        if linear is not None or len(moved._keys) > 1:
            keys, taken = self._deformed(moved._keys[0], self._meshes[moved._keys[0]][0], linear)
            for key in moved._keys[1:]:
                self._drop(key)
            moved._keys, moved.mesh = keys, taken
        moved.row, moved.transform = row, matrix
        moved.box = _box(moved.mesh, row)
        self._tree.move(np.array([moved.number]), moved.box[None])

    def guest(self, mesh: Any, transform: Any) -> Objects:
        """Return a mesh by itself as what these can be asked against; the last one is kept."""
        if self._guest is None:
            self._guest = Objects(self)
        self._guest.put(EXTERNAL, mesh, transform)
        return self._guest

    def alone(self, name: Hashable) -> Objects:
        """Return one of these by itself."""
        one, found = Objects(), self.find(name)
        one.named[name], one._at = found, [found]
        one._tree.insert(np.array([0]), found.box[None])
        return one

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
            entry = self._meshes[key] = [make(), 0]
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

    def pairs(self, within: float) -> tuple[list[CollisionObject], list[CollisionObject]]:
        """Return the pairs of objects whose boxes are no farther apart than that along any axis, in a fixed order."""
        return self._listed(self, np.sort(_joined(self._tree.pairs(within)), axis=1))

    def pairs_with(self, other: Objects, within: float) -> tuple[list[CollisionObject], list[CollisionObject]]:
        """Return such pairs of an object here and one there."""
        return self._listed(other, _joined(self._tree.pairs_with(other._tree, within)))

    def _listed(self, other: Objects, pairs: Ints) -> tuple[list[CollisionObject], list[CollisionObject]]:
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        first = [one for k in pairs[:, 0] if (one := self._at[k]) is not None]
        second = [one for k in pairs[:, 1] if (one := other._at[k]) is not None]
        return first, second

    @property
    def bounds(self) -> Array:
        """The box round everything, (6,); without objects from infinity to minus infinity."""
        return self._tree.bounds


def _joined(blocks: Iterator[Ints]) -> Ints:
    return np.concatenate([np.zeros((0, 2), dtype=np.int64), *blocks])


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


def _split(transform: Any, what: str) -> tuple[Array | None, Array, Array]:
    """Return what of a transform is to be baked into the mesh, None for nothing, its pose, and itself."""
    matrix = as_matrices(transform, what)
    if matrix.ndim != 2:
        raise PoseError(f"{what} has shape {matrix.shape}, expected one transform, (4, 4)")
    matrix = matrix.copy()
    linear = matrix[:3, :3].copy()
    if np.isfinite(matrix).all() and (matrix[3] == (0.0, 0.0, 0.0, 1.0)).all():
        off = float(np.abs(linear.T @ linear - np.eye(3)).max())
        if off > TOLERANCE or np.linalg.det(linear) < 0.0:
            stretch = np.linalg.svd(linear, compute_uv=False)
            if not stretch[2] > _FLAT * stretch[0]:
                raise PoseError(f"{what} flattens the mesh: it scales by {stretch.tolist()}")
            shift = np.eye(4)
            shift[:3, 3] = matrix[:3, 3]
            return linear, pose_rows(shift, what)[0][0, :12].copy(), matrix
    return None, pose_rows(matrix, what)[0][0, :12].copy(), matrix


def _baked(mesh: Mesh, linear: Array) -> Mesh:
    faces = mesh.faces[:, ::-1] if np.linalg.det(linear) < 0.0 else mesh.faces
    return Mesh(mesh.vertices @ linear.T, faces, name=mesh.name)


def _box(mesh: Mesh, row: Array) -> Array:
    """Return a box round a mesh at a pose, never too small."""
    low, high = mesh.bounds
    turn = row[:9].reshape(3, 3)
    center = turn @ (0.5 * low + 0.5 * high) + row[9:12]
    half = np.abs(turn) @ (0.5 * high - 0.5 * low)
    half = half + ROUNDING * float(np.abs(mesh.bounds).max() + np.abs(row[9:12]).max())
    return np.concatenate([center - half, center + half])
