"""The objects of a `CollisionManager`, and trimesh's types for its results: contacts and nearest points."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.errors import PoseError, SceneError, ShapeError
from gjk3d.poses import ROUNDING, TOLERANCE, WIDTH, as_matrices, check_row, is_plain, parts, pose_rows
from gjk3d.scene import objects as scene
from gjk3d.scene.pairs import ALL
from gjk3d.typing import Array
from gjk3d.wording import kind_of, nearest

# --- data of a pair --------------------------------------------------------------------------------------------------


Names = Sequence[Hashable]


class ContactData:
    """A contact of two convex objects, or of one face of each object.

    The notes of `CollisionManager` define the normal and the depth.

    Parameters
    ----------
    names : sequence of str
        Names of the two objects.
    faces : sequence of int
        Index of a triangle of each object at the contact.
    normal, point : (3,) float
        Unit normal from the first object to the second, and the point of the contact, in world coordinates.
    depth : float
        Length of the translation of the second object along the normal that separates the two convex objects or the
        two faces, in the meshes' unit.

    Examples
    --------
    >>> import gjk3d as gk, trimesh
    >>> manager = gk.CollisionManager()
    >>> _ = manager.add_object("block", trimesh.creation.box())
    >>> at = trimesh.transformations.translation_matrix((0, 0, 0.75))
    >>> data = manager.in_collision_single(trimesh.creation.box(), at, return_names=True, return_data=True)[2][0]
    >>> sorted(data.names), data.normal.tolist(), round(data.depth, 12)
    (['__external', 'block'], [0.0, 0.0, 1.0], 0.25)
    >>> data.point.shape, data.index("block") in range(12)
    ((3,), True)
    """

    __slots__ = ("_found", "_row")
    #: all contacts of a pair: the names, the faces of each contact or a function that computes them for an index, and
    #: rows with the point, the normal and the depth. ``_row`` is the index of this contact.
    _found: tuple[Names, Any, Array]

    def __init__(self, names: Names, faces: Sequence[int], normal: Array, point: Array, depth: float) -> None:
        self._found = tuple(names), (faces,), np.concatenate([point, normal, [depth]])[None]
        self._row = 0

    @property
    def names(self) -> set[Hashable]:
        """The names of the two objects."""
        return set(self._found[0])

    @property
    def normal(self) -> Array:
        """Unit normal from the first object to the second, (3,), in world coordinates."""
        return self._found[2][self._row, 3:6].copy()

    @property
    def point(self) -> Array:
        """Point of the contact, (3,), in world coordinates.

        For convex objects it is midway between the two witness points of the depth. For two faces it is on both.
        """
        return self._found[2][self._row, :3].copy()

    @property
    def depth(self) -> float:
        """Length of the separating translation along the normal, in the meshes' unit. At least 0."""
        return float(self._found[2][self._row, 6])

    def index(self, name: Hashable) -> int:
        """Return the index of the face at the contact, for the object of this name.

        Parameters
        ----------
        name : str
            One of ``names``.
        """
        names, faces, _ = self._found
        indices = faces(self._row) if callable(faces) else faces[self._row]
        return int(indices[names.index(name)])


class DistanceData:
    """The distance and the nearest points of two objects.

    Parameters
    ----------
    names : sequence of str
        Names of the two objects.
    faces : sequence of int
        Index of the triangle of each object that contains its nearest point.
    points : sequence of (3,) float
        The nearest points, in world coordinates.
    distance : float
        Distance of the objects in the meshes' unit. The notes of `CollisionManager` define it for overlapping objects.

    Examples
    --------
    >>> import gjk3d as gk, trimesh
    >>> manager = gk.CollisionManager()
    >>> _ = manager.add_object("block", trimesh.creation.box())
    >>> at = trimesh.transformations.translation_matrix((0, 0, 3))
    >>> _, _, data = manager.min_distance_single(trimesh.creation.box(), at, return_name=True, return_data=True)
    >>> data.distance, data.point("block").shape, data.index("block") in range(12)
    (2.0, (3,), True)
    """

    def __init__(self, names: Names, faces: Sequence[int], points: Sequence[Array | None], distance: float) -> None:
        self.names = set(names)
        self._pair, self._points = tuple(names), points
        self._faces: Sequence[int] | Callable[[], Sequence[int]] = faces
        self._distance = distance

    @property
    def distance(self) -> float:
        """Distance of the two objects, in the meshes' unit."""
        return self._distance

    def index(self, name: Hashable) -> int:
        """Return the index of the face that contains the nearest point, for the object of this name.

        Parameters
        ----------
        name : str
            One of ``names``.
        """
        if not isinstance(self._faces, Sequence):
            self._faces = self._faces()
        return self._faces[self._pair.index(name)]

    def point(self, name: Hashable) -> Array | None:
        """Return the nearest point (3,) of the object of this name in world coordinates, or None without pairs.

        Parameters
        ----------
        name : str
            One of ``names``.
        """
        return self._points[self._pair.index(name)]


# --- objects ---------------------------------------------------------------------------------------------------------


_FLAT = 1e-12  #: least ratio of the singular values of a transform; the inverse of a flatter one is not accurate
#: the hull replaces a mesh that is at most this far from it, relative to the greatest coordinate of the mesh
_ROUND = 1e-13
EXTERNAL = "__external"  #: trimesh's name for a mesh that is not in the manager
#: key of a mesh: its content, and the matrix of its deformation as bytes, which are empty without a deformation
Key = tuple[Hashable, bytes]


class CollisionObject:
    """An object of a `CollisionManager`, the return value of ``add_object``.

    Attributes
    ----------
    name : hashable
        The name of the object.
    mesh : Mesh
        The mesh for queries. Scale, shear and reflection of the transform are applied to it.
    transform : (4, 4) float
        The transform of the last ``add_object`` or ``set_transform``.

    Parameters
    ----------
    name, number, owner
        Set by the manager.

    Examples
    --------
    >>> import gjk3d as gk, trimesh
    >>> shift = trimesh.transformations.translation_matrix((1, 2, 3))
    >>> block = gk.CollisionManager().add_object("block", trimesh.creation.box(), shift)
    >>> block.name, block.getTranslation().tolist(), block.getRotation().shape
    ('block', [1.0, 2.0, 3.0], (3, 3))
    """

    __slots__ = ("_keys", "_number", "_owner", "mesh", "name", "transform")
    mesh: Mesh
    transform: Array
    _keys: tuple[Key, ...]  #: key of the original mesh, and that of the deformed mesh if the transform is not rigid

    def __init__(self, name: Hashable, number: int, owner: Objects) -> None:
        self.name, self._number, self._owner = name, number, owner

    @property
    def _row(self) -> Array:
        """The pose row (12,) of the object."""
        row: Array = self._owner.scene.rows[self._number, :12]
        return row

    def getRotation(self) -> Array:
        """Return the upper left part of the transform, (3, 3), as fcl's object does."""
        return self.transform[:3, :3].copy()

    def getTranslation(self) -> Array:
        """Return the translation, (3,), as fcl's object does."""
        return self.transform[:3, 3].copy()

    def __repr__(self) -> str:
        return f"<CollisionObject {self.name!r}: {self.mesh!r}>"


class Objects:
    """The objects of a manager, and a scene for queries about them.

    The number of an object is its row in the arrays of the scene. The scene has the convex hull of a convex mesh in
    place of the mesh. If the objects ``lender`` contain an equal mesh, this mesh is used, and no new one is created.
    """

    def __init__(self, lender: Objects | None = None) -> None:
        self._lender = lender
        self._guest: Objects | None = None
        self._last: tuple[Any, bytes, bytes] | None = None  #: the mesh of the last guest, and its content
        self.named: dict[Hashable, CollisionObject] = {}
        self.at: dict[int, CollisionObject] = {}  #: objects by number
        self.scene = scene.Objects()
        #: for each key: the mesh, the number of objects that use it, and the mesh or its hull for the scene
        self._meshes: dict[Key, list[Any]] = {}
        self._local = np.zeros((0, 6))  #: for each number, centre and half size of the box of the mesh in its frame

    def __len__(self) -> int:
        return len(self.named)

    # --- changes -------------------------------------------------------------------------------------------------

    def place(self, name: Hashable, mesh: Any, transform: Any) -> CollisionObject:
        """Add an object. It replaces an object of the same name."""
        row = np.empty((1, WIDTH))
        linear, matrix = _split(np.eye(4) if transform is None else transform, name, row)
        key = key_of(mesh, f"mesh of {name!r}"), b""
        lent = None if self._lender is None else self._lender._meshes.get(key)
        known = self._acquire(key, lambda: as_mesh(mesh) if lent is None else lent[0])
        keys, acquired = self._deformed(key, known, linear)
        if name in self.named:
            self.remove(name)
        number = self.scene.next_slot()
        new = self.at[number] = self.named[name] = CollisionObject(name, number, self)
        new._keys, new.transform, new.mesh = keys, matrix, acquired
        self._place(new, row)
        return new

    def _place(self, new: CollisionObject, row: Array) -> None:
        """Add the object ``new`` to the scene at the pose row ``row`` (1, 13).

        The number of the object must be the next free row of the scene.
        """
        if new._number >= len(self._local):
            self._local = np.concatenate([self._local, np.zeros((new._number + 1, 6))])
        low, high = new.mesh.bounds
        self._local[new._number] = *(0.5 * low + 0.5 * high), *(0.5 * high - 0.5 * low)
        self.scene.rows[new._number] = row[0]
        self.scene.insert(_label(new._number), self._meshes[new._keys[-1]][2], ALL, ALL)

    def remove(self, name: Hashable) -> None:
        """Remove an object."""
        old = self.find(name)
        del self.named[name]
        del self.at[old._number]
        self.scene.remove(_label(old._number))
        for key in old._keys:
            self._drop(key)

    def move(self, name: Hashable, transform: Any) -> None:
        """Set the transform of an object."""
        moved = self.find(name)
        simple = len(moved._keys) == 1 and is_plain(transform)
        if simple and check_row(transform, self.scene.rows, moved._number) == 0:
            moved.transform = transform.copy()
            self.scene.moved.add(moved._number)
            return
        row = np.empty((1, WIDTH))
        linear, matrix = _split(transform, name, row)
        if linear is not None or len(moved._keys) > 1:
            keys, acquired = self._deformed(moved._keys[0], self._meshes[moved._keys[0]][0], linear)
            for key in moved._keys[1:]:
                self._drop(key)
            moved._keys, moved.mesh = keys, acquired
            self.scene.remove(_label(moved._number))
            self._place(moved, row)
        self.scene.move(np.array([moved._number]), row)
        moved.transform = matrix

    def guest(self, mesh: Any, transform: Any) -> Objects:
        """Return `Objects` that contain only this mesh, for a query.

        The `Objects` are cached: a later call with the same, unchanged mesh only sets the transform.
        """
        guest = self._guest
        if guest is None:
            guest = self._guest = Objects(self)
        last = guest._last
        if last is None or last[0] is not mesh or not (isinstance(mesh, Mesh) or last[1:] == _content(mesh)):
            guest.place(EXTERNAL, mesh, transform)
            guest._last = mesh, *((b"", b"") if isinstance(mesh, Mesh) else _content(mesh))
        else:
            guest.move(EXTERNAL, np.eye(4) if transform is None else transform)
        return guest

    def find(self, name: Hashable) -> CollisionObject:
        """Return the object of this name. Raise a SceneError if no object has this name."""
        if name not in self.named:
            raise SceneError(f"{name} not in collision manager!{nearest(name, map(str, self.named))}")
        return self.named[name]

    def _deformed(self, key: Key, mesh: Mesh, linear: Array | None) -> tuple[tuple[Key, ...], Mesh]:
        """Return the keys of the meshes that an object uses, and its mesh after the deformation by ``linear`` (3, 3).

        ``key`` is the key of ``mesh``. Without ``linear`` the mesh is not deformed, and this key is the only one.
        """
        if linear is None:
            return (key,), mesh
        deformed_key = key[0], linear.tobytes()
        return (key, deformed_key), self._acquire(deformed_key, partial(mesh._mapped, linear))

    def _acquire(self, key: Key, make: Callable[[], Mesh]) -> Mesh:
        """Return the mesh of a key, and count one more object that uses it. ``make`` creates a missing mesh."""
        entry = self._meshes.get(key)
        if entry is None:
            mesh = make()
            # the hull replaces a mesh that is convex up to rounding
            is_convex = mesh._convex_slack <= _ROUND * float(np.abs(mesh.bounds).max())
            entry = self._meshes[key] = [mesh, 0, mesh.hull() if is_convex else mesh]
        entry[1] += 1
        mesh_of_key: Mesh = entry[0]
        return mesh_of_key

    def _drop(self, key: Key) -> None:
        entry = self._meshes[key]
        entry[1] -= 1
        if entry[1] == 0:
            del self._meshes[key]

    # --- searches ------------------------------------------------------------------------------------------------

    @property
    def boxes(self) -> Array:
        """Boxes of all objects in world coordinates, (n, 6): the lower corner, then the upper corner.

        The row of an object is its number.
        """
        count = min(len(self._local), len(self.scene.rows))
        center, half, rows = self._local[:count, :3], self._local[:count, 3:], self.scene.rows[:count]
        turn, shift = parts(rows)
        size = np.abs(center).max(axis=1) + half.max(axis=1) + np.abs(shift).max(axis=1)
        middle = np.einsum("kij,kj->ki", turn, center) + shift
        reach = np.einsum("kij,kj->ki", np.abs(turn), half) + ROUNDING * size[:, None]
        return np.hstack([middle - reach, middle + reach])


def _label(number: int) -> str:
    """Return the name of object ``number`` in the scene. These names sort like the numbers."""
    return f"{number:012d}"


def _content(mesh: Any) -> tuple[bytes, bytes]:
    """Return the vertices and the faces of a mesh as bytes, to detect changes."""
    return np.asarray(mesh.vertices).tobytes(), np.asarray(mesh.faces).tobytes()


def as_mesh(mesh: Any) -> Mesh:
    """Return a `trimesh.Trimesh`, or another object with ``vertices`` and ``faces``, as a `gjk3d.Mesh`."""
    return mesh if isinstance(mesh, Mesh) else Mesh(np.array(mesh.vertices), np.array(mesh.faces))


def key_of(mesh: Any, what: str) -> Hashable:
    """Return a key for the content of a mesh. ``what`` names the argument in the error if it is not a mesh."""
    if isinstance(mesh, Mesh):
        return mesh
    vertices, faces = getattr(mesh, "vertices", None), getattr(mesh, "faces", None)
    if vertices is None or faces is None:
        raise ShapeError(f"{what} is {kind_of(mesh)}, expected a trimesh.Trimesh or a gjk3d.Mesh")
    digest = blake2b(digest_size=16)
    for array in (np.ascontiguousarray(vertices), np.ascontiguousarray(faces)):
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(array.tobytes())
    return digest.digest()


def _split(transform: Any, name: Hashable, rows: Array) -> tuple[Array | None, Array]:
    """Return the deformation in a transform, and the transform (4, 4). Write its rigid part to ``rows`` (1, 13).

    A rigid transform has the deformation None. Otherwise the deformation is the upper left (3, 3) matrix, and the rigid
    part is only the translation.
    """
    what = f"transform of {name!r}"
    matrix = as_matrices(transform, what, single=True)
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
                raise PoseError(
                    f"{what} scales the mesh by {stretch.tolist()} and flattens it. Use factors other than 0."
                )
            shift = np.eye(4)
            shift[:3, 3] = matrix[:3, 3]
            rows[:] = pose_rows(shift, what)[0]
            return linear, matrix
    rows[:] = pose_rows(matrix, what)[0]
    return None, matrix
