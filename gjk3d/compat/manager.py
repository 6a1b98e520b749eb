"""`CollisionManager`: that of `trimesh.collision`, without python-fcl."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, overload

from gjk3d.compat.answers import (
    FARTHEST,
    any_meeting,
    as_asked,
    closest,
    collisions,
    no_data,
)
from gjk3d.compat.data import ContactData, DistanceData
from gjk3d.compat.objects import EXTERNAL, CollisionObject, Objects
from gjk3d.typing import OnePose
from gjk3d.wording import with_article

Name = Any  #: what `CollisionManager.add_object` was given
Names = tuple[Name, Name]


class CollisionManager:
    """Many meshes with names and transforms; takes the place of `trimesh.collision.CollisionManager`.

    Methods, arguments and returns are those of trimesh 5, and so are names, signs and the order of tuples; python-fcl
    is not needed. Meshes are `trimesh.Trimesh` (anything with ``vertices`` and ``faces``) or `gjk3d.Mesh`.

    Parameters
    ----------
    solid : bool
        Whether a closed mesh is a solid, so that what lies inside it collides with it. False for what trimesh does:
        only convex meshes are solids, others are surfaces with nothing inside.

    Notes
    -----
    What differs from trimesh:

    - What lies wholly inside a closed mesh collides with it, see ``solid``. Between two managers the one that is asked
      decides.
    - A transform with scale, shear or reflection is applied to the mesh; trimesh hands it on to fcl, which misses
      collisions then. One that is not finite, flattens the mesh, or is no affine (4, 4) matrix is an error.
    - Transforms keep their digits: trimesh's ``add_object`` rounds them to 32 bits.
    - ``index`` is the face of a mesh also where it is convex; trimesh says -1 there.
    - Convex meshes that overlap have one contact, as in trimesh: its point is in the middle between the two that the
      depth was measured at, and its faces are those nearest to these. Of several ways out of one length fcl takes any,
      by the order of vertices, and now and then a longer one. Others have a contact for each pair of faces that meet,
      and where one is inside the other one, with the faces nearest to it.
    - The normal of a contact points from the first object to the second: of two in the manager the first in the order
      of their names, else from the object in the manager to the one given, or in the other manager. The order of fcl
      is not documented.
    - The depth of a contact between convex meshes is the depth of the meshes, along the normal, as in trimesh. Else it
      is that of the two faces: how far one reaches behind the plane of the other, the lesser of both; moving the
      second along the normal by it parts these two. fcl's depth of faces is another one. Depths of whole meshes that
      are not convex are bounded by `gjk3d.signed_distance`.
    - The distance of convex meshes that overlap is minus their depth, as in trimesh; of others that do it is 0, where
      trimesh has 0 for two such meshes, and minus the depth of some face for one and a convex one. The least of all
      pairs is returned, where trimesh stops at the first that overlaps.
    - Without a pair the distance is the largest float, as in trimesh; names and data are None where
      ``min_distance_internal`` of trimesh fails.
    - ``add_object`` returns a `gjk3d.compat.CollisionObject`; moving it is the manager's work, by ``set_transform``.
    - The mesh is taken as it was when it was added.
    - Nothing of fcl is there: no ``mesh_to_BVH``, no ``mesh_to_convex``, and managers of trimesh cannot be passed.

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
        return f"<CollisionManager: {len(self._objects)} objects>"

    # --- changes -------------------------------------------------------------------------------------------------

    def add_object(self, name: Hashable, mesh: Any, transform: OnePose = None) -> CollisionObject:
        """Add an object; one that has the name already is replaced.

        Parameters
        ----------
        name : str
            What it is called in answers.
        mesh : trimesh.Trimesh or Mesh
        transform : (4, 4) float, optional
            World from local; see `CollisionManager` for what is not rigid.

        Returns
        -------
        CollisionObject
            Its name, mesh and transform.

        Raises
        ------
        PoseError, ShapeError
            Both ValueError; naming what is wrong with the input.
        """
        return self._objects.place(name, mesh, transform)

    def remove_object(self, name: Hashable) -> None:
        """Take an object away.

        Parameters
        ----------
        name : str
            Of the object.

        Raises
        ------
        SceneError
            A ValueError; there is none of that name.
        """
        self._objects.remove(name)

    def set_transform(self, name: Hashable, transform: OnePose) -> None:
        """Give an object another transform instead of the one it has.

        Parameters
        ----------
        name : str
            Of the object.
        transform : (4, 4) float
            World from local.

        Raises
        ------
        SceneError, PoseError
            Both ValueError; there is none of that name, or what is wrong with the transform.
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
        """Tell whether a mesh collides with any object.

        Parameters
        ----------
        mesh : trimesh.Trimesh or Mesh
        transform : (4, 4) float, optional
            World from local.
        return_names, return_data : bool
            What to return beside it.

        Returns
        -------
        is_collision : bool
        names : set of str
            With ``return_names``: the objects that it collides with.
        contacts : list of ContactData
            With ``return_data``: where; the mesh itself is called ``"__external"``.
        """
        guest = self._objects.guest(mesh, transform)
        if not (return_names or return_data):
            return any_meeting(self._objects, guest, self._solid)
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
        """Tell whether any two objects collide.

        Parameters
        ----------
        return_names, return_data : bool
            What to return beside it.

        Returns
        -------
        is_collision : bool
        names : set of 2-tuple of str
            With ``return_names``: the pairs that collide, the names of each in ascending order.
        contacts : list of ContactData
            With ``return_data``: where.
        """
        if not (return_names or return_data):
            return any_meeting(self._objects, self._objects, self._solid)
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
        """Tell whether any object collides with one in another manager.

        Parameters
        ----------
        other_manager : CollisionManager
        return_names, return_data : bool
            What to return beside it.

        Returns
        -------
        is_collision : bool
        names : set of 2-tuple of str
            With ``return_names``: the pairs that collide, the one in this manager first.
        contacts : list of ContactData
            With ``return_data``: where.
        """
        theirs = _objects_of(other_manager)
        if not (return_names or return_data):
            return any_meeting(self._objects, theirs, self._solid)
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
        """Return how far a mesh is from the nearest object.

        Parameters
        ----------
        mesh : trimesh.Trimesh or Mesh
        transform : (4, 4) float, optional
            World from local.
        return_name, return_data : bool
            What to return beside it.

        Returns
        -------
        distance : float
            See `CollisionManager` for what it is where they overlap.
        name : str
            With ``return_name``: the nearest object.
        data : DistanceData
            With ``return_data``: the nearest points; the mesh itself is called ``"__external"``.
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
        """Return how far apart the nearest two objects are.

        Parameters
        ----------
        name : str, optional
            Only pairs with this object.
        return_names, return_data : bool
            What to return beside it.

        Returns
        -------
        distance : float
            See `CollisionManager` for what it is where they overlap.
        names : 2-tuple of str
            With ``return_names``: the two, in ascending order.
        data : DistanceData
            With ``return_data``: the nearest points.

        Raises
        ------
        SceneError
            A ValueError; there is none of that name.
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
        """Return how far the nearest two objects are apart, one here and one in another manager.

        Parameters
        ----------
        other_manager : CollisionManager
        return_names, return_data : bool
            What to return beside it.

        Returns
        -------
        distance : float
            See `CollisionManager` for what it is where they overlap.
        names : 2-tuple of str
            With ``return_names``: the two, the one in this manager first.
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
            f"other_manager is {with_article(kind)}, expected a gjk3d.CollisionManager: build it by gjk3d too"
        )
    return manager._objects
