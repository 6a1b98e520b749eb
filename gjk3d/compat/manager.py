"""`CollisionManager`, a replacement of `trimesh.collision.CollisionManager` without python-fcl.

The functions before the class compute the collisions, contacts and distances of the objects of one or two managers.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from functools import partial
from math import inf
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from gjk3d.bodies.body_pair import HOLDS, MeshPair, meet_many
from gjk3d.bodies.contact import touches
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_points import nearest_points
from gjk3d.bodies.tree_collision import HELD, MEET
from gjk3d.compat.objects import EXTERNAL, CollisionObject, ContactData, DistanceData, Names, Objects
from gjk3d.convex.batch import Rows, Wanted, empty_answers
from gjk3d.engine.dispatch import find
from gjk3d.narrow.solve import SIGNED
from gjk3d.poses import matrices, moved, moved_back, relative
from gjk3d.query.distance import distance, signed_distance
from gjk3d.results import Distance
from gjk3d.scene.query import SceneQuery
from gjk3d.typing import Array, Bools, Ints, OnePose
from gjk3d.wording import count, with_article

# --- results ---------------------------------------------------------------------------------------------------------


FARTHEST = sys.float_info.max  #: the distance if there are no pairs


def no_data(names: Names) -> DistanceData:
    """Return the data of a distance query without pairs."""
    return DistanceData(names, (-1, -1), (None, None), FARTHEST)


class Query(SceneQuery):
    """A query of the pairs within one manager, or between two managers ``mine`` and ``theirs``.

    If ``only`` is not negative, it is the number of an object, and only pairs with this object are searched. See
    `CollisionManager` for ``solid``. With ``ordered``, the objects of a pair are in the order of their numbers.
    """

    def __init__(self, mine: Objects, theirs: Objects, solid: bool, only: int = -1, ordered: bool = False) -> None:
        super().__init__(mine.scene, theirs.scene, only, False, ordered)
        self.objects, self.solid = (mine.at, theirs.at), solid

    def collide(self, pairs: Ints, margin: float) -> Bools:
        """Return for each pair whether the surfaces intersect, or one object is a solid that contains the other.

        ``pairs`` (n, 2) contains the numbers of objects. ``margin`` is always 0.
        """
        numbers, hits = self.numbers(pairs), np.zeros(len(pairs), dtype=bool)
        order = np.lexsort((pairs[:, 1], pairs[:, 0], numbers[:, 1], numbers[:, 0]))
        begins = np.flatnonzero(np.diff(numbers[order], axis=0).any(axis=1)) + 1
        for some in np.split(order, begins) if len(order) else ():
            a, b = (at[k].mesh for at, k in zip(self.objects, pairs[some[0]].tolist(), strict=True))
            codes = meet_many(a, b, self.mine.rows[pairs[some, 0]], self.theirs.rows[pairs[some, 1]])
            hits[some] = codes == MEET
            for code, holder in ((HOLDS, a), (HELD, b)):
                if self.solid or holder.is_convex:
                    hits[some] |= codes == code
        return hits


def collisions(
    mine: Objects, theirs: Objects, solid: bool, all_data: bool
) -> tuple[bool, set[tuple[Hashable, Hashable]], list[ContactData]]:
    """Return whether any pair collides, the names of the colliding pairs, and their contacts if ``all_data``.

    Within one manager the two names of a pair are sorted.
    """
    pairs: list[tuple[CollisionObject, CollisionObject]] = []
    hits = Query(mine, theirs, solid).collisions(0.0)
    for i, j in sorted((np.sort(hits, axis=1) if mine is theirs else hits).tolist()):
        a, b = mine.at[i], theirs.at[j]
        if mine is theirs and b.name < a.name:  # type: ignore[operator]
            a, b = b, a
        pairs.append((a, b))
    return len(pairs) > 0, {(a.name, b.name) for a, b in pairs}, contacts(pairs) if all_data and pairs else []


def with_requested(first: Any, names: Any, with_names: bool, data: Any, with_data: bool) -> Any:
    """Return ``first``, or a tuple of ``first`` and ``names`` or ``data`` or both, as trimesh's methods do."""
    more = ([names] if with_names else []) + ([data] if with_data else [])
    return (first, *more) if more else first


def _holder(pair: MeshPair, solid: bool) -> bool:
    """Return whether one object of the pair is a solid and contains the other. The surfaces must not intersect.

    All closed meshes are solids if ``solid``, else only convex meshes.
    """
    holding = pair.held()
    return holding is not None and (solid or (pair.a, pair.b)[holding.by - 1].mesh.is_convex)


def _deep(a: CollisionObject, b: CollisionObject, convex: bool) -> Distance:
    """Return the signed distance of two overlapping objects. With ``convex``, it is that of their convex hulls."""
    first: Any = a.mesh.hull() if convex else a.mesh
    second: Any = b.mesh.hull() if convex else b.mesh
    return signed_distance(first, second, matrices(a._row), matrices(b._row))


def _faces_of(meshes: tuple[Mesh, Mesh], rows: tuple[Array, Array], points: tuple[Array, Array]) -> tuple[int, int]:
    """Return for each of two meshes the index of the face that is nearest to a point.

    ``rows`` are the pose rows of the two meshes, and ``points`` are their two points in world coordinates.
    """
    first, second = (
        int(nearest_points(mesh, moved_back(row, point)[None])[2][0])
        for mesh, row, point in zip(meshes, rows, points, strict=True)
    )
    return first, second


def contacts(pairs: list[tuple[CollisionObject, CollisionObject]]) -> list[ContactData]:
    """Return the contacts of intersecting pairs, in the order of the pairs."""
    groups: dict[tuple[int, int], list[int]] = {}
    for k, (a, b) in enumerate(pairs):
        groups.setdefault((id(a.mesh), id(b.mesh)), []).append(k)
    if len(groups) == 1:
        return [data for block in _contacts_of_two(pairs) for data in block]
    blocks: dict[int, list[ContactData]] = {}
    for which in groups.values():
        blocks.update(zip(which, _contacts_of_two([pairs[k] for k in which]), strict=True))
    return [data for k in range(len(pairs)) for data in blocks[k]]


def _contacts_of_two(pairs: list[tuple[CollisionObject, CollisionObject]]) -> Iterator[list[ContactData]]:
    """Yield a list of contacts for each pair. All pairs must have the same two meshes."""
    first, second = (pairs[0][side]._owner.scene.rows[[pair[side]._number for pair in pairs]] for side in range(2))
    a, b = pairs[0][0].mesh, pairs[0][1].mesh
    faces: Any
    if a.is_convex and b.is_convex:
        rows, points = _depths(a, b, first, second)
        begins = range(len(pairs) + 1)

        def faces(k: int) -> tuple[int, int]:
            return _faces_of((a, b), (first[k], second[k]), (points[k, :3], points[k, 3:]))

    else:
        faces, rows, starts = touches(a, b, first, second)
        begins = starts.tolist()
    new = object.__new__
    for k, (first_object, second_object) in enumerate(pairs):
        start, stop = begins[k], begins[k + 1]
        if start == stop:
            # no faces intersect, so one object is inside the other
            deep = _deep(first_object, second_object, False)
            point = 0.5 * (np.array(deep.point_a) + np.array(deep.point_b))
            at = _faces_of((a, b), (first[k], second[k]), (point, point))
            names, depth = (first_object.name, second_object.name), max(0.0, -float(deep.distance))
            yield [ContactData(names, at, np.array(deep.normal), point, depth)]
            continue
        shared, block = ((first_object.name, second_object.name), faces, rows), []
        for n in range(start, stop):
            data: ContactData = new(ContactData)
            data._found, data._row = shared, n
            block.append(data)
        yield block


def _depths(a: Mesh, b: Mesh, rows_a: Array, rows_b: Array) -> tuple[Array, Array]:
    """Return the contacts of the hulls of two meshes at k pairs of pose rows, in world coordinates.

    The rows of the first array, (k, 7), have the midpoint of the two witness points, the normal from a to b, and the
    depth. Those of the second array, (k, 6), have the witness points on a and on b.
    """
    hull_a, hull_b, count = a.hull(), b.hull(), len(rows_a)
    out, flags = empty_answers(count)
    find("solve", hull_a, hull_b)(hull_a, hull_b, Rows(rows_a, rows_b, count, True), Wanted(SIGNED), out, flags)
    values = np.empty((count, 7))
    np.multiply(out[:, 6:9] + out[:, 9:12], 0.5, out=values[:, :3])
    values[:, 3:6] = out[:, 3:6]
    np.maximum(-out[:, 0], 0.0, out=values[:, 6])
    return values, out[:, 6:12]


def nearest(a: CollisionObject, b: CollisionObject, most: float, solid: bool) -> Closest | None:
    """Return the distance of two objects as a `Closest`, or None if it is more than ``most``.

    For overlapping convex meshes the distance is minus the depth. For other overlapping meshes it is 0.
    """
    pair = MeshPair.of(a.mesh, b.mesh, relative(a._row, b._row))
    if pair.surfaces_meet() or _holder(pair, solid):
        if a.mesh.is_convex and b.mesh.is_convex:
            deep: Any = _deep(a, b, True)
        else:  # the distance is 0, and the witness points are a common point
            deep = distance(a.mesh, b.mesh, matrices(a._row), matrices(b._row))
        points = np.array(deep.point_a), np.array(deep.point_b)
        at = _faces_of((a.mesh, b.mesh), (a._row, b._row), points)
        return Closest(min(0.0, float(deep.distance)), a, b, points, at)
    gap = pair.gap(most)
    if gap is None:
        return None
    first, second = moved(a._row, gap.row[6:9]), moved(a._row, gap.row[9:12])
    return Closest(float(np.linalg.norm(second - first)), a, b, (first, second), pair.faces_of(gap))


#: the first search distance above 0 for boxes, relative to an upper bound of the distance of two boxes
_START = 1.0 / 64.0


class Closest(NamedTuple):
    """The closest pair of a query."""

    distance: float
    a: CollisionObject
    b: CollisionObject
    points: tuple[Array, Array]  #: the nearest points of a and b in world coordinates
    faces: tuple[int, int] | None  #: indices of the faces with these points, or None if they are not computed yet

    @property
    def data(self) -> DistanceData:
        """The closest pair as `DistanceData`, trimesh's type of results."""
        a, b = self.a, self.b
        data = DistanceData((a.name, b.name), self.faces or (), self.points, self.distance)
        if self.faces is None:  # the faces are computed when they are read, but for the current poses
            data._faces = partial(_faces_of, (a.mesh, b.mesh), (a._row.copy(), b._row.copy()), self.points)
        return data


def closest(mine: Objects, theirs: Objects, single: CollisionObject | None, solid: bool) -> Closest | None:
    """Return the closest pair of one manager or of two managers, or None without pairs.

    If ``single`` is given, only pairs with this object are compared. The first of equally close pairs is returned.
    """
    if not len(theirs) or len(mine) < (2 if mine is theirs else 1):
        return None
    query = Query(mine, theirs, solid, -1 if single is None else single._number, ordered=True)
    pair = query.nearest(inf)
    if pair is None:
        return _closest(mine, theirs, query, solid)
    i, j = pair.slots
    out = pair.out[0]
    return Closest(float(out[0]), mine.at[i], theirs.at[j], (out[6:9].copy(), out[9:12].copy()), None)


def _closest(mine: Objects, theirs: Objects, query: SceneQuery, solid: bool) -> Closest:
    """Return the closest pair for meshes that are not all convex, and the first of equally close pairs."""
    within, size = 0.0, query.distances_between_boxes[1]
    while not len(pairs := _near(query, within)):
        within = max(2.0 * within, _START * size)
    best = _best(mine, theirs, pairs, None, solid)
    if best is None or best.distance > within:
        best = _best(mine, theirs, _near(query, size if best is None else best.distance), best, solid)
    assert best is not None
    return best


def _near(query: SceneQuery, within: float) -> Ints:
    """Return the sorted pairs of objects with boxes at most ``within`` apart.

    If the query searches only pairs with one object, this object is the first of each pair.
    """
    pairs = query.near(within)[0]
    if query.only >= 0:
        pairs = np.where(pairs[:, :1] == query.only, pairs, pairs[:, ::-1])
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _best(mine: Objects, theirs: Objects, pairs: Ints, best: Closest | None, solid: bool) -> Closest | None:
    """Return the closest of ``pairs``, or the pair ``best`` if none of them is closer than it."""
    low = _bounds(mine.boxes[pairs[:, 0]], theirs.boxes[pairs[:, 1]])
    for k in np.argsort(low, kind="stable"):
        i, j = pairs[k].tolist()
        a, b = mine.at[i], theirs.at[j]
        least = np.inf if best is None else best.distance
        if low[k] >= least:
            break
        if least <= 0.0 and not (a.mesh.is_convex and b.mesh.is_convex):
            continue  # only convex pairs have a distance below 0
        candidate = nearest(a, b, max(least, 0.0), solid)
        if candidate is not None and candidate.distance < least:
            best = candidate
    return best


def _bounds(a: Array, b: Array) -> Array:
    """Return lower bounds (n,) of the signed distances of objects in the boxes a (n, 6) and b (n, 6)."""
    gaps = np.maximum(a[:, :3] - b[:, 3:], b[:, :3] - a[:, 3:])
    gap: Array = np.linalg.norm(np.maximum(gaps, 0.0), axis=1)
    return np.where(gaps.max(axis=1) > 0.0, gap, gaps.max(axis=1))


# --- the manager -----------------------------------------------------------------------------------------------------


Name = Any  #: type of the names of `CollisionManager.add_object`
NamePair = tuple[Name, Name]


class CollisionManager:
    """Named meshes with transforms for collision and distance queries, as in `trimesh.collision.CollisionManager`.

    Methods, arguments, return values, signs and the order of tuples are those of trimesh 5. python-fcl is not needed.
    A mesh is a `gjk3d.Mesh`, a `trimesh.Trimesh`, or another object with ``vertices`` and ``faces``.

    Parameters
    ----------
    solid : bool
        Whether a closed mesh is a solid, which collides with objects inside it. With False, as in trimesh, only convex
        meshes are solids. Other meshes are surfaces, and do not collide with objects inside them.

    Notes
    -----
    Differences from trimesh:

    - An object inside a closed mesh collides with it, see ``solid``. A query of two managers uses ``solid`` of the
      manager whose method is called.
    - A transform with scale, shear or reflection is applied to the mesh. trimesh passes it to fcl, which then misses
      collisions. A transform that is not finite, is not an affine (4, 4) matrix, or flattens the mesh is an error.
    - Transforms keep their digits. trimesh's ``add_object`` rounds them to 32 bits.
    - ``index`` returns the index of a face, also for a convex mesh. trimesh returns -1 for convex meshes.
    - Overlapping convex meshes have one contact, as in trimesh. Its point is midway between the two witness points of
      the depth, and its faces are nearest to them. If several separating translations are equally short, fcl chooses
      one by the order of vertices, and sometimes a longer one. Other meshes have a contact for each pair of
      intersecting faces. If one mesh is inside the other, they have one contact with the nearest faces.
    - The normal of a contact points from the first object to the second. Within one manager, the first object is that
      whose name is the first in sorted order. In other queries it is the object of this manager. The order of fcl is
      not documented.
    - The depth of a contact of convex meshes is the depth of the meshes, along the normal, as in trimesh. The depth of
      other contacts is that of the two faces. Each face has a depth behind the plane of the other face, and the lesser
      depth is returned. A translation of the second face by this depth along the normal separates the faces. fcl
      defines the depth of faces differently. `gjk3d.signed_distance` bounds the depth of whole non-convex meshes.
    - The distance of overlapping convex meshes is minus their depth, as in trimesh. The distance of other overlapping
      meshes is 0. trimesh returns minus the depth of a face if one of them is convex.
    - The least distance of all pairs is returned. trimesh stops at the first pair that overlaps.
    - Without pairs the distance is the largest float, as in trimesh, and the names and points in the data are None.
      ``min_distance_internal`` then returns None for names and data. In trimesh it raises an error.
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
        """Add an object. It replaces an object of the same name.

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
            The transform or the mesh is not valid. Both errors are ValueErrors.
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
            No object has this name, or the transform is not valid. Both errors are ValueErrors.
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
            Whether the names and the data below are returned too.

        Returns
        -------
        is_collision : bool
            Whether any object collides.
        names : set of str
            With ``return_names``: the names of the colliding objects.
        contacts : list of ContactData
            With ``return_data``: the contacts. The name of the mesh in them is ``"__external"``.
        """
        guest = self._objects.guest(mesh, transform)
        if not (return_names or return_data):
            return Query(self._objects, guest, self._solid).any_collides(0.0)
        hit, names, data = collisions(self._objects, guest, self._solid, return_data)
        return with_requested(hit, {a for a, _ in names}, return_names, data, return_data)

    @overload
    def in_collision_internal(self) -> bool: ...
    @overload
    def in_collision_internal(self, *, return_names: Literal[True]) -> tuple[bool, set[NamePair]]: ...
    @overload
    def in_collision_internal(
        self, *, return_names: Literal[True], return_data: Literal[True]
    ) -> tuple[bool, set[NamePair], list[ContactData]]: ...
    @overload
    def in_collision_internal(self, return_names: bool = False, return_data: bool = False) -> Any: ...
    def in_collision_internal(self, return_names: bool = False, return_data: bool = False) -> Any:
        """Return whether any two objects collide.

        Parameters
        ----------
        return_names, return_data : bool
            Whether the names and the data below are returned too.

        Returns
        -------
        is_collision : bool
            Whether any pair collides.
        names : set of 2-tuple of str
            With ``return_names``: the names of the colliding pairs. The two names of a pair are in sorted order.
        contacts : list of ContactData
            With ``return_data``: the contacts.
        """
        if not (return_names or return_data):
            return Query(self._objects, self._objects, self._solid).any_collides(0.0)
        hit, names, data = collisions(self._objects, self._objects, self._solid, return_data)
        return with_requested(hit, names, return_names, data, return_data)

    @overload
    def in_collision_other(self, other_manager: CollisionManager) -> bool: ...
    @overload
    def in_collision_other(
        self, other_manager: CollisionManager, *, return_names: Literal[True]
    ) -> tuple[bool, set[NamePair]]: ...
    @overload
    def in_collision_other(
        self, other_manager: CollisionManager, *, return_names: Literal[True], return_data: Literal[True]
    ) -> tuple[bool, set[NamePair], list[ContactData]]: ...
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
            Whether the names and the data below are returned too.

        Returns
        -------
        is_collision : bool
            Whether any pair collides.
        names : set of 2-tuple of str
            With ``return_names``: the names of the colliding pairs. The object of this manager is the first of a pair.
        contacts : list of ContactData
            With ``return_data``: the contacts.
        """
        theirs = _objects_of(other_manager)
        if not (return_names or return_data):
            return Query(self._objects, theirs, self._solid).any_collides(0.0)
        hit, names, data = collisions(self._objects, theirs, self._solid, return_data)
        return with_requested(hit, names, return_names, data, return_data)

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
            Whether the names and the data below are returned too.

        Returns
        -------
        distance : float
            In the meshes' unit. The notes of `CollisionManager` define the distance of objects that overlap.
        name : str
            With ``return_name``: the name of the nearest object.
        data : DistanceData
            With ``return_data``: the nearest points. The name of the mesh in it is ``"__external"``.
        """
        pair = closest(self._objects, self._objects.guest(mesh, transform), None, self._solid)
        if pair is None:
            return with_requested(FARTHEST, None, return_name, no_data((None, EXTERNAL)), return_data)
        return with_requested(pair.distance, pair.a.name, return_name, pair.data if return_data else None, return_data)

    @overload
    def min_distance_internal(self, name: Hashable | None = None) -> float: ...
    @overload
    def min_distance_internal(
        self, name: Hashable | None = None, *, return_names: Literal[True]
    ) -> tuple[float, NamePair | None]: ...
    @overload
    def min_distance_internal(
        self, name: Hashable | None = None, *, return_names: Literal[True], return_data: Literal[True]
    ) -> tuple[float, NamePair | None, DistanceData | None]: ...
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
            Only pairs with the object of this name are compared. The default is all pairs.
        return_names, return_data : bool
            Whether the names and the data below are returned too.

        Returns
        -------
        distance : float
            In the meshes' unit. The notes of `CollisionManager` define the distance of objects that overlap.
        names : 2-tuple of str
            With ``return_names``: the two names, in sorted order.
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
            return with_requested(FARTHEST, None, return_names, None, return_data)
        names: Any = tuple(sorted((pair.a.name, pair.b.name))) if return_names else None
        return with_requested(pair.distance, names, return_names, pair.data if return_data else None, return_data)

    @overload
    def min_distance_other(self, other_manager: CollisionManager) -> float: ...
    @overload
    def min_distance_other(
        self, other_manager: CollisionManager, *, return_names: Literal[True]
    ) -> tuple[float, NamePair]: ...
    @overload
    def min_distance_other(
        self, other_manager: CollisionManager, *, return_names: Literal[True], return_data: Literal[True]
    ) -> tuple[float, NamePair, DistanceData]: ...
    @overload
    def min_distance_other(
        self, other_manager: CollisionManager, return_names: bool = False, return_data: bool = False
    ) -> Any: ...
    def min_distance_other(
        self, other_manager: CollisionManager, return_names: bool = False, return_data: bool = False
    ) -> Any:
        """Return the distance of the nearest two objects, one of this manager and one of another manager.

        Parameters
        ----------
        other_manager : CollisionManager
            The manager whose objects are compared with those of this manager.
        return_names, return_data : bool
            Whether the names and the data below are returned too.

        Returns
        -------
        distance : float
            In the meshes' unit. The notes of `CollisionManager` define the distance of objects that overlap.
        names : 2-tuple of str
            With ``return_names``: the two names. The object of this manager is the first.
        data : DistanceData
            With ``return_data``: the nearest points.
        """
        pair = closest(self._objects, _objects_of(other_manager), None, self._solid)
        if pair is None:
            return with_requested(FARTHEST, (None, None), return_names, no_data((None, None)), return_data)
        names = pair.a.name, pair.b.name
        return with_requested(pair.distance, names, return_names, pair.data if return_data else None, return_data)


def _objects_of(manager: Any) -> Objects:
    if not isinstance(manager, CollisionManager):
        kind = f"{type(manager).__module__}.{type(manager).__name__}"
        raise TypeError(
            f"other_manager is {with_article(kind)}, expected a gjk3d.CollisionManager. Build it with "
            "gjk3d.CollisionManager() too."
        )
    return manager._objects
