"""trimesh's data of a pair of objects: contacts, and nearest points."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from gjk3d.typing import Array

Names = Sequence[Hashable]


class ContactData:
    """A contact of two objects, or of a face of each. The notes of `CollisionManager` define its normal and depth.

    Parameters
    ----------
    names : sequence of str
        Names of the two objects.
    faces : sequence of int
        Index of a triangle of each object at the contact.
    normal, point : (3,) float
        Unit normal from the first object to the second, and a common point, in world coordinates.
    depth : float
        Length of the translation of the second object along the normal that separates them, in the meshes' unit.

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
    #: of a pair: its names, its faces or a function that computes the faces of a row, and points, normals and depths
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
        """Common point of the faces, or middle of the overlap of convex objects, (3,), in world coordinates."""
        return self._found[2][self._row, :3].copy()

    @property
    def depth(self) -> float:
        """Length of the separating translation along the normal, at least 0, in the meshes' unit."""
        return float(self._found[2][self._row, 6])

    def index(self, name: Hashable) -> int:
        """Return the face index for the object of this name.

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
        Distance of the objects, in the meshes' unit, as in the notes of `CollisionManager`.

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
        """Return the face with the nearest point, for the object of this name.

        Parameters
        ----------
        name : str
            One of ``names``.
        """
        if not isinstance(self._faces, Sequence):
            self._faces = self._faces()
        return self._faces[self._pair.index(name)]

    def point(self, name: Hashable) -> Array | None:
        """Return the nearest point, (3,), of the object of this name.

        Parameters
        ----------
        name : str
            One of ``names``.
        """
        return self._points[self._pair.index(name)]
