"""`CollisionManager`, the counterpart of `trimesh.collision.CollisionManager` without python-fcl."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, overload

from gjk3d.compat.answers import (
    FARTHEST,
    Query,
    as_asked,
    closest,
    collisions,
    no_data,
)
from gjk3d.compat.objects import EXTERNAL, CollisionObject, ContactData, DistanceData, Objects
from gjk3d.typing import OnePose
from gjk3d.wording import count, with_article

Name = Any  #: the names that `CollisionManager.add_object` accepts
Names = tuple[Name, Name]


class CollisionManager:
    """Many meshes with names and transforms, a replacement of `trimesh.collision.CollisionManager`.

    Methods, arguments, return values, signs and the order of tuples are those of trimesh 5. python-fcl is not needed.
    Meshes are `trimesh.Trimesh` (anything with ``vertices`` and ``faces``) or `gjk3d.Mesh`.

    Parameters
    ----------
    solid : bool
        Whether a closed mesh is a solid, which collides with objects inside it. False is the behaviour of trimesh: only
        convex meshes are solids, and other meshes are surfaces with an empty inside.

    Notes
    -----
    Differences from trimesh:

    - An object inside a closed mesh collides with it, see ``solid``. In a query on two managers, ``solid`` of the
      manager whose method is called applies.
    - A transform with scale, shear or reflection is applied to the mesh. trimesh passes it to fcl, which then misses
      collisions. A transform that is not finite, flattens the mesh, or is not an affine (4, 4) matrix is an error.
    - Transforms keep their digits. trimesh's ``add_object`` rounds them to 32 bits.
    - ``index`` is the face of a mesh, also of a convex mesh. trimesh returns -1 for convex meshes.
    - Overlapping convex meshes have one contact, as in trimesh. Its point is midway between the two witness points of
      the depth, and its faces are nearest to them. If several separating translations are equally short, fcl chooses
      one by the order of vertices, and sometimes a longer one. Other meshes have a contact for each pair of
      intersecting faces. If one mesh is inside the other, they have one contact with the nearest faces.
    - The normal of a contact points from the first object to the second. The first of two objects of one manager is the
      first in the order of names. Otherwise it is the object of this manager. The order of fcl is not documented.
    - The depth of a contact of convex meshes is the depth of the meshes, along the normal, as in trimesh. The depth of
      other contacts is that of the two faces: the lesser of the two depths of one face behind the plane of the other.
      A translation of the second face by this depth along the normal separates the faces. fcl defines the depth of
      faces differently. `gjk3d.signed_distance` bounds the depth of whole non-convex meshes.
    - The distance of overlapping convex meshes is minus their depth, as in trimesh. The distance of other overlapping
      meshes is 0. trimesh returns minus the depth of some face if one of them is convex. The least distance of all
      pairs is returned. trimesh stops at the first pair that overlaps.
    - Without pairs the distance is the largest float, as in trimesh. Names and data are None. ``min_distance_internal``
      of trimesh raises an error.
    - ``add_object`` returns a `gjk3d.compat.CollisionObject`. Only the manager's ``set_transform`` moves it.
    - A later change of a mesh does not change its object.
    - fcl's own functions are missing: ``mesh_to_BVH`` and ``mesh_to_convex``. Managers of trimesh cannot be passed.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np, trimesh
    >>> manager = gk.CollisionManager()
    >>> _ = manager.add_object("table", trimesh.creation.box((2, 2, 0.1)))
    >>> cup = trimesh.creation.cylinder(0.05, 0.1)
    >>> above, through = np.eye(4), np.eye(4)
    >>> above[2, 3], through[2, 3] = 0.2, 0.09
    >>> manager.in_collision_single(cup, above), manager.in_collision_single(cup, through, return_names=True)
    (False, (True, {'table'}))
    >>> round(manager.min_distance_single(cup, above), 12)
    0.1
    >>> _ = manager.add_object("cup", cup, above)
    >>> manager.in_collision_internal(), round(manager.min_distance_internal(), 12)
    (False, 0.1)
    >>> manager.set_transform("cup", through)
    >>> hit, names, contacts = manager.in_collision_internal(return_names=True, return_data=True)
    >>> hit, names, round(contacts[0].depth, 12)
    (True, {('cup', 'table')}, 0.01)
    >>> other = gk.CollisionManager()
    >>> _ = other.add_object("tray", trimesh.creation.box((1, 1, 0.1)), above)
    >>> manager.in_collision_other(other), round(manager.min_distance_other(other), 12)
    (False, 0.01)
    >>> manager.remove_object("cup")
    """

    def __init__(self, *, solid: bool = True) -> None:
        self._solid = bool(solid)
        self._objects = Objects()

    def __repr__(self) -> str:
        return f"<CollisionManager: {count(len(self._objects), 'object')}>"

    # --- changes -------------------------------------------------------------------------------------------------

    def add_object(self, name: Hashable, mesh: Any, transform: OnePose = None) -> CollisionObject:
        """Add an object, which replaces an earlier one of the same name.

        Parameters
        ----------
        name : str
            Name of the object in results.
        mesh : trimesh.Trimesh or Mesh
            The triangles in the local frame of the object.
        transform : (4, 4) float, optional
            World from local. `CollisionManager` describes transforms that are not rigid.

        Returns
        -------
        CollisionObject
            The object with its name, mesh and transform.

        Raises
        ------
        PoseError, ShapeError
            The input is not valid; the message names the fault. Both are ValueError.
        """
        return self._objects.place(name, mesh, transform)

    def remove_object(self, name: Hashable) -> None:
        """Remove an object.

        Parameters
        ----------
        name : str
            Name of the object.

        Raises
        ------
        SceneError
            No object has this name. It is a ValueError.
        """
        self._objects.remove(name)

    def set_transform(self, name: Hashable, transform: OnePose) -> None:
        """Replace the transform of an object.

        Parameters
        ----------
        name : str
            Name of the object.
        transform : (4, 4) float
            World from local.

        Raises
        ------
        SceneError, PoseError
            No object has this name, or the transform is not valid. Both are ValueError.
        """
        self._objects.move(name, transform)

    # --- collisions ----------------------------------------------------------------------------------------------

    @overload
    def in_collision_single(self, mesh: Any, transform: OnePose = None) -> bool: ...
    @overload
    def in_collision_single(
        self, mesh: Any, transform: OnePose = None, *, return_names: Literal[True]
    ) -> tuple[bool, set[Name]]: ...
    @overload
    def in_collision_single(
        self, mesh: Any, transform: OnePose = None, *, return_names: Literal[True], return_data: Literal[True]
    ) -> tuple[bool, set[Name], list[ContactData]]: ...
    @overload
    def in_collision_single(
        self, mesh: Any, transform: OnePose = None, return_names: bool = False, return_data: bool = False
    ) -> Any: ...
    def in_collision_single(
        self, mesh: Any, transform: OnePose = None, return_names: bool = False, return_data: bool = False
    ) -> Any:
        """Return whether a mesh collides with any object.

        Parameters
        ----------
        mesh : trimesh.Trimesh or Mesh
            The triangles in their local frame.
        transform : (4, 4) float, optional
            World from local.
        return_names, return_data : bool
            What to return in addition.

        Returns
        -------
        is_collision : bool
            Whether any object collides.
        names : set of str
            With ``return_names``: the colliding objects.
        contacts : list of ContactData
            The contacts, if ``return_data``. The mesh itself is called ``"__external"``.
        """
        guest = self._objects.guest(mesh, transform)
        if not (return_names or return_data):
            return Query(self._objects, guest, self._solid).any_collides(0.0)
        hit, names, data = collisions(self._objects, guest, self._solid, return_data)
        return as_asked(hit, {a for a, _ in names}, return_names, data, return_data)

    @overload
    def in_collision_internal(self) -> bool: ...
    @overload
    def in_collision_internal(self, *, return_names: Literal[True]) -> tuple[bool, set[Names]]: ...
    @overload
    def in_collision_internal(
        self, *, return_names: Literal[True], return_data: Literal[True]
    ) -> tuple[bool, set[Names], list[ContactData]]: ...
    @overload
    def in_collision_internal(self, return_names: bool = False, return_data: bool = False) -> Any: ...
    def in_collision_internal(self, return_names: bool = False, return_data: bool = False) -> Any:
        """Return whether any two objects collide.

        Parameters
        ----------
        return_names, return_data : bool
            What to return in addition.

        Returns
        -------
        is_collision : bool
            Whether any pair collides.
        names : set of 2-tuple of str
            With ``return_names``: the colliding pairs, each in ascending order of names.
        contacts : list of ContactData
            With ``return_data``: the contacts.
        """
        if not (return_names or return_data):
            return Query(self._objects, self._objects, self._solid).any_collides(0.0)
        hit, names, data = collisions(self._objects, self._objects, self._solid, return_data)
        return as_asked(hit, names, return_names, data, return_data)

    @overload
    def in_collision_other(self, other_manager: CollisionManager) -> bool: ...
    @overload
    def in_collision_other(
        self, other_manager: CollisionManager, *, return_names: Literal[True]
    ) -> tuple[bool, set[Names]]: ...
    @overload
    def in_collision_other(
        self, other_manager: CollisionManager, *, return_names: Literal[True], return_data: Literal[True]
    ) -> tuple[bool, set[Names], list[ContactData]]: ...
    @overload
    def in_collision_other(
        self, other_manager: CollisionManager, return_names: bool = False, return_data: bool = False
    ) -> Any: ...
    def in_collision_other(
        self, other_manager: CollisionManager, return_names: bool = False, return_data: bool = False
    ) -> Any:
        """Return whether any object collides with an object of another manager.

        Parameters
        ----------
        other_manager : CollisionManager
            The manager whose objects are compared with those of this manager.
        return_names, return_data : bool
            What to return in addition.

        Returns
        -------
        is_collision : bool
            Whether any pair collides.
        names : set of 2-tuple of str
            With ``return_names``: the colliding pairs, the object of this manager first.
        contacts : list of ContactData
            With ``return_data``: the contacts.
        """
        theirs = _objects_of(other_manager)
        if not (return_names or return_data):
            return Query(self._objects, theirs, self._solid).any_collides(0.0)
        hit, names, data = collisions(self._objects, theirs, self._solid, return_data)
        return as_asked(hit, names, return_names, data, return_data)

    # --- distances -----------------------------------------------------------------------------------------------

    @overload
    def min_distance_single(self, mesh: Any, transform: OnePose = None) -> float: ...
    @overload
    def min_distance_single(
        self, mesh: Any, transform: OnePose = None, *, return_name: Literal[True]
    ) -> tuple[float, Name]: ...
    @overload
    def min_distance_single(
        self, mesh: Any, transform: OnePose = None, *, return_name: Literal[True], return_data: Literal[True]
    ) -> tuple[float, Name, DistanceData]: ...
    @overload
    def min_distance_single(
        self, mesh: Any, transform: OnePose = None, return_name: bool = False, return_data: bool = False
    ) -> Any: ...
    def min_distance_single(
        self, mesh: Any, transform: OnePose = None, return_name: bool = False, return_data: bool = False
    ) -> Any:
        """Return the distance of a mesh from the nearest object.

        Parameters
        ----------
        mesh : trimesh.Trimesh or Mesh
            The triangles in their local frame.
        transform : (4, 4) float, optional
            World from local.
        return_name, return_data : bool
            What to return in addition.

        Returns
        -------
        distance : float
            In the meshes' unit. The notes of `CollisionManager` define the distance of objects that overlap.
        name : str
            With ``return_name``: the nearest object.
        data : DistanceData
            The nearest points, if ``return_data``. The mesh itself is called ``"__external"``.
        """
        pair = closest(self._objects, self._objects.guest(mesh, transform), None, self._solid)
        if pair is None:
            return as_asked(FARTHEST, None, return_name, no_data((None, EXTERNAL)), return_data)
        return as_asked(pair.distance, pair.a.name, return_name, pair.data if return_data else None, return_data)

    @overload
    def min_distance_internal(self, name: Hashable | None = None) -> float: ...
    @overload
    def min_distance_internal(
        self, name: Hashable | None = None, *, return_names: Literal[True]
    ) -> tuple[float, Names | None]: ...
    @overload
    def min_distance_internal(
        self, name: Hashable | None = None, *, return_names: Literal[True], return_data: Literal[True]
    ) -> tuple[float, Names | None, DistanceData | None]: ...
    @overload
    def min_distance_internal(
        self, name: Hashable | None = None, return_names: bool = False, return_data: bool = False
    ) -> Any: ...
    def min_distance_internal(
        self, name: Hashable | None = None, return_names: bool = False, return_data: bool = False
    ) -> Any:
        """Return the distance of the nearest two objects.

        Parameters
        ----------
        name : str, optional
            Only pairs with this object.
        return_names, return_data : bool
            What to return in addition.

        Returns
        -------
        distance : float
            In the meshes' unit. The notes of `CollisionManager` define the distance of objects that overlap.
        names : 2-tuple of str
            With ``return_names``: both names, in ascending order.
        data : DistanceData
            With ``return_data``: the nearest points.

        Raises
        ------
        SceneError
            No object has this name. It is a ValueError.
        """
        single = None if name is None else self._objects.find(name)
        pair = closest(self._objects, self._objects, single, self._solid)
        if pair is None:
            return as_asked(FARTHEST, None, return_names, None, return_data)
        names: Any = tuple(sorted((pair.a.name, pair.b.name))) if return_names else None
        return as_asked(pair.distance, names, return_names, pair.data if return_data else None, return_data)

    @overload
    def min_distance_other(self, other_manager: CollisionManager) -> float: ...
    @overload
    def min_distance_other(
        self, other_manager: CollisionManager, *, return_names: Literal[True]
    ) -> tuple[float, Names]: ...
    @overload
    def min_distance_other(
        self, other_manager: CollisionManager, *, return_names: Literal[True], return_data: Literal[True]
    ) -> tuple[float, Names, DistanceData]: ...
    @overload
    def min_distance_other(
        self, other_manager: CollisionManager, return_names: bool = False, return_data: bool = False
    ) -> Any: ...
    def min_distance_other(
        self, other_manager: CollisionManager, return_names: bool = False, return_data: bool = False
    ) -> Any:
        """Return the distance of the nearest two objects, one of this manager and one of another.

        Parameters
        ----------
        other_manager : CollisionManager
            The manager whose objects are compared with those of this manager.
        return_names, return_data : bool
            What to return in addition.

        Returns
        -------
        distance : float
            In the meshes' unit. The notes of `CollisionManager` define the distance of objects that overlap.
        names : 2-tuple of str
            With ``return_names``: both names, the object of this manager first.
        data : DistanceData
            With ``return_data``: the nearest points.
        """
        pair = closest(self._objects, _objects_of(other_manager), None, self._solid)
        if pair is None:
            return as_asked(FARTHEST, (None, None), return_names, no_data((None, None)), return_data)
        names = pair.a.name, pair.b.name
        return as_asked(pair.distance, names, return_names, pair.data if return_data else None, return_data)


def _objects_of(manager: Any) -> Objects:
    if not isinstance(manager, CollisionManager):
        kind = f"{type(manager).__module__}.{type(manager).__name__}"
        raise TypeError(
            f"other_manager is {with_article(kind)}, expected a gjk3d.CollisionManager. Build it with gjk3d too."
        )
    return manager._objects
