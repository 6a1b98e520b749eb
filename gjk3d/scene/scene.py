"""`Scene`: queries about many objects, which can be moved, added and removed between queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from math import inf
from numbers import Integral, Real
from threading import RLock
from typing import Any, Union, cast, overload

import numpy as np

from gjk3d.bodies.mesh import as_mesh
from gjk3d.convex.checks import check_margin, check_workers, no_shape, three
from gjk3d.engine.dispatch import Collider, is_collider, kind_of
from gjk3d.errors import SceneError, ShapeError
from gjk3d.frozen import shown
from gjk3d.narrow.manifold import FEW_POINTS
from gjk3d.narrow.solve import UNSIGNED
from gjk3d.poses import matrices
from gjk3d.query.contact import Contact, check_patches
from gjk3d.query.raycast import check_rays
from gjk3d.results import Distance
from gjk3d.scene.coherence import Memory
from gjk3d.scene.objects import (
    Objects,
    check_name,
    check_new,
    distinct,
    exclusive,
    lock_both,
    pose_rows_of,
    unit_of,
    write_pose,
)
from gjk3d.scene.pairs import ALL
from gjk3d.scene.query import (
    MANY,
    Answers,
    Clearance,
    NamePair,
    SceneHit,
    ScenePairs,
    SceneQuery,
    nearest,
    nearest_cached,
    patches,
)
from gjk3d.scene.rays import first_hit, first_hits
from gjk3d.shapes.base import Kind
from gjk3d.typing import Array, OnePose, PoseLike, Row, Rows, Unclear
from gjk3d.wording import count
from gjk3d.wording import nearest as nearest_name

Target = Union["Scene", Collider, str, None]


class Scene:
    """Named objects at poses, for queries about all pairs of them.

    An object is a convex shape, a mesh, a compound, a voxel grid, a point cloud or a height field.

    A query covers all pairs of objects of the scene, or the pairs that its argument ``other`` selects:

    - a shape at ``pose``: each object of the scene and this shape.
    - another scene: each object of this scene and each object of the other scene.
    - the name of an object: this object and each other object.

    Results are sorted by the names of the pairs. Only `closest` returns the nearest pair first. The order in which
    objects were added changes neither the order of the pairs nor any bit of a result.

    Two objects form a pair if the mask of each contains the group of the other, and if `allow` does not exclude them.
    Two unbounded objects (half-spaces, planes and height fields without a bottom) are never a pair. Objects may share a
    shape and its derived data, such as the tree of a mesh. A new pose does not change this data. Threads may share a
    scene: a thread waits while another thread uses the scene.

    Parameters
    ----------
    remember : bool
        Whether queries of all pairs with `collisions`, `contacts`, `closest` and `clearance` store data for the next
        query: the pairs with near boxes, separating axes, and the faces that prove a depth. For small motions this
        cache halves the time. `closest` with ``k`` uses it if at least k pairs overlap. `collides` does not use it.
        The pairs are the same with and without the cache, and their distances agree within their bounds. If two results
        are equally good, either may be returned. Queries do not use the cache before the first motion, if there are
        too many near pairs, or if objects move by more than about a twentieth of their size between queries. The cache
        of a copy is empty at first.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> scene = gk.Scene()
    >>> for name, x in (("left", -1), ("middle", 0), ("right", 0.75)):
    ...     pose = np.eye(4); pose[0, 3] = x
    ...     scene.add(name, gk.Sphere(0.4), pose)
    >>> scene.collisions()
    [('middle', 'right')]
    >>> scene.clearance().pair, round(scene.clearance().distance, 9)
    (('middle', 'right'), -0.05)
    >>> [(a, b, round(row.distance, 9)) for a, b, row in scene.closest(k=2)]
    [('middle', 'right', -0.05), ('left', 'middle', 0.2)]
    >>> [(a, b, row.count) for a, b, row in scene.contacts()]
    [('middle', 'right', 1)]
    >>> scene.collides(gk.Box((1, 1, 1)))
    True
    >>> later = scene.copy()
    >>> later.allow("middle", "right")
    >>> later.allowed, later.collisions()
    ([('middle', 'right')], [])
    >>> later.disallow("middle", "right")
    >>> later.move("left", later.pose("middle"))
    >>> later.remove("right")
    >>> later.names, later.shape("left"), later.collisions()
    (['left', 'middle'], Sphere(radius=0.4), [('left', 'middle')])

    Without the cache, no bit of a result depends on earlier queries:

    >>> plain = gk.Scene(remember=False)
    """

    __slots__ = ("_lock", "_memory", "_objects")
    _objects: Objects
    _memory: Memory | None

    def __init__(self, *, remember: bool = True) -> None:
        self._objects, self._lock = Objects(), RLock()
        self._memory = Memory() if remember else None

    def __getstate__(self) -> tuple[Objects, bool]:
        return self._objects, self._memory is not None

    def __setstate__(self, state: tuple[Objects, bool]) -> None:
        self._objects, remember = state
        self._memory, self._lock = Memory() if remember else None, RLock()

    # --- contents ------------------------------------------------------------------------------------------------

    @exclusive
    def add(
        self,
        name: str,
        shape: Collider,
        pose: OnePose = None,
        *,
        group: str = "default",
        mask: Iterable[str] | None = None,
    ) -> None:
        """Add an object.

        Parameters
        ----------
        name : str
            A new name.
        shape : Shape, Mesh, Compound, VoxelGrid, PointCloud or HeightField
            Half-spaces, and meshes of trimesh and pyvista, are allowed too. A mesh with a unit must have the unit of
            the scene's other meshes: `Mesh.scaled` converts it. A shape without a unit is used unchanged.
        pose : (4, 4) float, RigidTransform or None
            World from local; None is the identity.
        group : str
            Group of the object. A scene has at most 62 groups.
        mask : names of groups, optional
            Groups that the object may collide with. None means all groups, future ones included. A pair is checked if
            the mask of each object contains the group of the other.

        Raises
        ------
        SceneError
            The name exists already, the unit is not that of the scene, or there are too many groups.
        PoseError, UnsupportedPair
            The pose is not rigid, or the shape is not supported. In all cases the scene is unchanged.
        """
        objects = self._objects
        if type(name) is not str or not name or name in objects.slots or not is_collider(shape):
            shape = as_mesh(shape)
            check_new(objects.slots, [name], [shape])
        if (unit := getattr(shape, "unit", None)) != objects.unit and unit:
            objects.check_units([(name, unit)])
        bits = (1, ALL) if group == "default" and mask is None else self._bits(group, mask)
        slot = objects.next_slot()
        write_pose(pose, name, objects.rows, slot)
        objects.insert(name, shape, *bits)

    @exclusive
    def add_many(
        self,
        names: Sequence[str],
        shapes: Sequence[Collider] | Collider,
        poses: PoseLike | None = None,
        *,
        group: str = "default",
        mask: Iterable[str] | None = None,
    ) -> None:
        """Add n objects in one call: all of them, or none if one is invalid. See `add`.

        Parameters
        ----------
        names : sequence of n str
            New names, all different.
        shapes : sequence of n Shape, or one Shape
            One shape for each object, or one shape for all objects.
        poses : (n, 4, 4) float, optional
            World from local, in the order of ``names``. None is the identity for all objects.
        group, mask
            The group and the mask of all objects, as in `add`.

        Raises
        ------
        SceneError, PoseError, UnsupportedPair
            As in `add`, or the numbers of names, shapes and poses differ. The scene is unchanged.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> poses = np.tile(np.eye(4), (3, 1, 1)); poses[:, 0, 3] = (0, 1, 5)
        >>> balls = gk.Scene()
        >>> balls.add_many(["a", "b", "c"], gk.Sphere(0.75), poses)
        >>> balls.collisions()
        [('a', 'b')]
        >>> poses[2, 0, 3] = 2
        >>> balls.move_many(["c"], poses[2:])
        >>> balls.collisions()
        [('a', 'b'), ('b', 'c')]
        """
        names = distinct(names)
        shapes = shapes if is_collider(shapes) else as_mesh(shapes)
        several = [shapes] * len(names) if is_collider(shapes) else cast(Sequence[Collider], shapes)
        listed = [shape if is_collider(shape) else as_mesh(shape) for shape in several]
        if len(listed) != len(names):
            raise SceneError(
                f"add_many has {count(len(names), 'name')} and {count(len(listed), 'shape')}, expected equal numbers, "
                "or one shape for all"
            )
        check_new(self._objects.slots, names, listed)
        self._objects.check_units(zip(names, map(unit_of, listed), strict=True))
        rows = pose_rows_of(poses, len(names), names, False)
        self._objects.insert_many(names, listed, rows, *self._bits(group, mask))

    def move(self, name: str, pose: OnePose) -> None:
        """Give an object a new pose.

        Parameters
        ----------
        name : str
            Name of an object in the scene.
        pose : (4, 4) float, RigidTransform or None
            World from local; None is the identity.

        Raises
        ------
        SceneError, PoseError
            If the scene does not contain the object, or the pose is not rigid.
        """
        objects = self._objects
        with self._lock:
            slot = self._slot(name)
            write_pose(pose, name, objects.rows, slot)
            objects.moved.add(slot)

    @exclusive
    def move_many(self, names: Sequence[str], poses: PoseLike) -> None:
        """Give n objects new poses in one call: all of them, or none if one is invalid.

        Parameters
        ----------
        names : sequence of n str
            Names of objects, all different.
        poses : (n, 4, 4) float
            World from local, in the order of ``names``.

        Raises
        ------
        SceneError, PoseError
            If an object is not in the scene, or a pose is not rigid. The scene is unchanged.
        """
        try:
            where = self._objects.find(names)
        except KeyError as unknown:
            self._slot(unknown.args[0])
            raise
        self._objects.move(where, pose_rows_of(poses, len(where), names, False))

    @exclusive
    def remove(self, name: str) -> None:
        """Remove an object, and the pairs of `allowed` that contain it.

        Parameters
        ----------
        name : str
            Name of an object in the scene.

        Raises
        ------
        SceneError
            If the scene does not contain the object.
        """
        self._slot(name)
        self._objects.remove(name)

    @exclusive
    def allow(self, a: str, b: str) -> None:
        """Allow two objects to touch or overlap. Queries skip this pair until `disallow` is called.

        Parameters
        ----------
        a, b : str
            Names of two objects.

        Raises
        ------
        SceneError
            If an object is not in the scene, or the two names are equal.
        """
        self._pair(a, b)
        self._objects.allow(a, b, True)

    @exclusive
    def disallow(self, a: str, b: str) -> None:
        """Include a pair in queries again; see `allow` for the arguments."""
        self._pair(a, b)
        self._objects.allow(a, b, False)

    @exclusive
    def copy(self) -> Scene:
        """Return an independent scene of the same objects. Shapes are shared, since they are immutable."""
        return deepcopy(self)

    def __len__(self) -> int:
        return len(self._objects.slots)

    def __contains__(self, name: object) -> bool:
        return name in self._objects.slots

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    @property
    @exclusive
    def names(self) -> list[str]:
        """Names of all objects, sorted."""
        return sorted(self._objects.slots)

    @property
    @exclusive
    def allowed(self) -> list[tuple[str, str]]:
        """Pairs of names that queries skip because of `allow`, sorted."""
        named = self._objects.names
        pairs = (sorted((named[i], named[j])) for i, j in self._objects.allowed)
        return sorted((a, b) for a, b in pairs)

    @exclusive
    def shape(self, name: str) -> Collider:
        """Return the shape of an object; see `remove` for the argument and the errors."""
        return self._objects.shape(self._slot(name))

    @exclusive
    def pose(self, name: str) -> Array:
        """Return the pose of an object, (4, 4) float, world from local; see `remove` for the argument and the errors.

        The rotation was made orthonormal when the pose was set, so its last digits may differ from the user's matrix.
        """
        return matrices(self._objects.rows[self._slot(name)])

    _repr_mimebundle_ = shown

    def __repr__(self) -> str:
        return f"Scene of {count(len(self), 'object')}"

    # --- queries -------------------------------------------------------------------------------------------------

    def collides(self, other: Target = None, pose: OnePose = None, *, margin: float = 0.0, workers: int = 1) -> bool:
        """Return whether any pair touches or overlaps. The search stops at the first hit.

        Parameters
        ----------
        other : Scene, Shape, Mesh and the like, or str, optional
            Another scene, a shape, or the name of an object in this scene. It selects the pairs, see `Scene`. None
            means all pairs of this scene.
        pose : (4, 4) float, RigidTransform or None
            World from local for a shape ``other``. None is the identity.
        margin : float
            As in `gjk3d.collide`.
        workers : int
            Number of threads. The result has the same bits for any number.

        Returns
        -------
        bool

        Raises
        ------
        SceneError, PoseError, ShapeError, UnsupportedPair
            If an argument is invalid, or the query does not support one of the pairs.
        """
        check_margin(margin)
        with self._locked(other):
            return self._query(other, pose, workers, False).any_collides(float(margin))

    def collisions(
        self, other: Target = None, pose: OnePose = None, *, margin: float = 0.0, workers: int = 1
    ) -> list[NamePair]:
        """Return the names of all pairs that touch or overlap, in order; see `collides` for the arguments.

        Returns
        -------
        list of (str, str)
            The second name is None if ``other`` is a shape.
        """
        check_margin(margin)
        with self._locked(other):
            large = len(self._objects.slots) > MANY  # in a small scene the cache saves nothing
            query = self._query(other, pose, workers, large)
            memory = self._remembered(query, float(margin)) if large else None
            hits = query.collisions(float(margin)) if memory is None else memory.collisions(query, float(margin))
            return query.named(hits)

    def closest(
        self, other: Target = None, pose: OnePose = None, *, within: float = inf, k: int | None = None, workers: int = 1
    ) -> ScenePairs[Distance[Array], Distance[float]]:
        """Return the closest pairs, the nearest first.

        Parameters
        ----------
        other, pose, workers
            As in `collides`.
        within : float
            Greatest signed distance: pairs that are proven to be farther apart are left out. A negative number selects
            overlaps that may be deeper than ``-within``.
        k : int, optional
            Greatest number of pairs. The default is 1 without ``within``, and all pairs with it.

        Returns
        -------
        ScenePairs
            Pairs of names and their signed distances, see `gjk3d.signed_distance`. Equal distances are sorted by name.

        Raises
        ------
        SceneError, PoseError, ShapeError, UnsupportedPair
            If an argument is invalid, or the query does not support one of the pairs.
        """
        if isinstance(within, bool) or not isinstance(within, Real) or not float(within) > -inf:
            raise SceneError(f"closest: within is {within!r}, expected a distance, for example within=0.1")
        if k is not None and (isinstance(k, bool) or not isinstance(k, Integral) or k < 1):
            raise SceneError(
                f"closest: k is {k!r}, expected a number of pairs. Pass k=None with within= for all near pairs"
            )
        most = 1 if k is None and within == inf else k
        with self._locked(other):
            query = self._query(other, pose, workers, True)
            closest_pair = query.nearest(float(within)) if most == 1 else None
            if closest_pair is not None:
                return closest_pair.pairs()
            answers = self._nearest(query, None if most is None else int(most), float(within))
            answers = answers[query.by_name(answers.pairs)]
            answers = answers[answers.out[:, 0].argsort(kind="stable")[:most]]
            answers = query.settled(answers, float(within))
            return ScenePairs(answers.pairs, query.names, query.result(answers, max(float(within), 0.0)))

    def clearance(self, other: Target = None, pose: OnePose = None, *, workers: int = 1) -> Clearance:
        """Return the least signed distance of all pairs, and its pair; see `collides` for the arguments."""
        with self._locked(other):
            least = self._query(other, pose, workers, True).nearest(inf)
            if least is not None:
                return least.clearance()
            pairs = self.closest(other, pose, k=1, workers=workers)
        if not len(pairs):
            return Clearance()
        a, b, result = pairs[0]
        return Clearance(float(result.distance), (a, b), result)

    @exclusive
    def contacts(
        self,
        other: Target = None,
        pose: OnePose = None,
        *,
        within: float = 0.0,
        max_points: int | None = FEW_POINTS,
        workers: int = 1,
    ) -> ScenePairs[Contact[Array], Contact[float]]:
        """Return the contacts of all pairs that touch or overlap; see `gjk3d.contact`.

        For non-convex bodies each pair of touching parts, such as two faces of meshes, has separate points and
        ``normals``. Equal points are returned once. The first point is the deepest, and the others are not sorted by
        depth. The signed distance of a pair is that of the whole bodies, and may be less than the gap at every point.
        For overlapping bodies it is computed when it is first read, for the poses at the time of the query.

        Parameters
        ----------
        other, pose, workers
            As in `collides`.
        within : float
            Pairs up to this distance are included too. At least 0.
        max_points : int or None
            Greatest number of points per pair. None means all points.

        Returns
        -------
        ScenePairs
            Pairs of names, in order, and their contacts.

        Raises
        ------
        SceneError, PoseError, ShapeError, UnsupportedPair
            If an argument is invalid, or the query does not support one of the pairs.
        """
        check_patches(within, max_points)
        query = self._query(other, pose, workers, True)
        memory = self._remembered(query, float(within))
        if memory is not None:
            answers = memory.distances_within(query, float(within), mode=UNSIGNED)
        else:
            answers = query.touching(float(within))
        most = None if max_points is None else int(max_points)
        contact = patches(query, answers, float(within), most)
        return ScenePairs(answers.pairs, query.names, contact)

    @overload
    def raycast(
        self, origins: Unclear, directions: Rows, *, max_distance: float = inf, workers: int = 1
    ) -> SceneHit[Any]: ...
    @overload
    def raycast(
        self, origins: Rows, directions: Unclear, *, max_distance: float = inf, workers: int = 1
    ) -> SceneHit[Any]: ...
    @overload
    def raycast(  # type: ignore[overload-overlap]
        self, origins: Row, directions: Row, *, max_distance: float = inf, workers: int = 1
    ) -> SceneHit[float]: ...
    @overload
    def raycast(
        self, origins: Rows, directions: Rows, *, max_distance: float = inf, workers: int = 1
    ) -> SceneHit[Array]: ...
    def raycast(self, origins: Rows, directions: Rows, *, max_distance: float = inf, workers: int = 1) -> SceneHit[Any]:
        """Return the first hit of each ray; see `gjk3d.raycast` for the arguments.

        Returns
        -------
        SceneHit
            A `RayHit` with the ``name`` of the object. If several objects have equal distances, the first
            name in sorted order is hit.

        Examples
        --------
        >>> import gjk3d as gk
        >>> scene = gk.Scene()
        >>> scene.add("ball", gk.Sphere(1))
        >>> scene.raycast((0, 0, 3), (0, 0, -1))
        RayHit: at 2, on a face towards (0, 0, 1) of 'ball'
        """
        if type(max_distance) is float and max_distance >= 0.0:
            with self._lock:
                hit = first_hit(self._objects, three(origins), three(directions), max_distance)
            if hit is not None:
                return hit
        check_workers(workers)
        starts, many, units, more = check_rays(origins, directions, max_distance)
        if many and more and len(starts) != len(units) and 1 not in (len(starts), len(units)):
            raise ShapeError(
                f"raycast: origins has {len(starts)} rows and directions has {len(units)} rows, expected equal "
                "numbers, or one row"
            )
        starts, units = (np.ascontiguousarray(part) for part in np.broadcast_arrays(starts, units))
        with self._lock:
            return first_hits(self._objects, starts, units, float(max_distance), many or more, workers)

    # --- internals -----------------------------------------------------------------------------------------------

    def _locked(self, target: Any) -> AbstractContextManager[Any]:
        """Return the lock of this scene, or of both scenes if ``target`` is another scene."""
        return self._lock if target is self or not isinstance(target, Scene) else lock_both(self, target)

    def _query(self, target: Any, pose: Any, workers: Any, ordered: bool) -> SceneQuery:
        """Return the query for a target. With ``ordered``, the objects of each pair are in the order of their names."""
        objects = self._objects
        if type(workers) is not int or workers < 1:
            check_workers(workers)
        kind = 0 if target is None else kind_of(target)
        if kind:
            if kind & Kind.BODIES:
                objects.check_units([("other", unit_of(target))])
            return SceneQuery(objects, objects, objects.visitor(target, pose), True, ordered, workers)
        if pose is not None:
            raise SceneError("pose is given without its shape. Pass the shape as other")
        if target is None:
            return SceneQuery(objects, objects, -1, False, ordered, workers)
        if isinstance(target, str):
            return SceneQuery(objects, objects, self._slot(target), False, ordered, workers)
        if not isinstance(target, Scene):
            raise no_shape("other", target)
        objects.check_scene(target._objects)
        return SceneQuery(objects, target._objects, -1, False, ordered, workers)

    def _remembered(self, query: SceneQuery, within: float) -> Memory | None:
        """Return the cache, updated to contain all pairs up to a distance, or None if the query does not use it."""
        memory = self._memory
        if memory is None or query.only >= 0 or query.theirs is not query.mine:
            return None
        return memory if memory.follow(query, within) else None

    def _nearest(self, query: SceneQuery, most: int | None, within: float) -> Answers:
        """Return the ``most`` nearest pairs up to a distance, or all pairs up to this distance if ``most`` is None.

        The pairs are read from the cache if it certainly contains all of them.
        """
        memory = self._remembered(query, within if most is None else 0.0)
        if memory is not None:  # all pairs that are not cached are farther apart than ``within``, or 0 with ``most``
            # with ``most``, pairs with non-convex bodies are solved by `nearest_cached`, the nearest first
            mixed = query.by_kind(query.numbers(memory.pairs))[1][: None if most is not None else 0]
            near = memory.distances_within(query, max(within, 0.0) if most is None else 0.0, mixed)
            near = near[near.out[:, 1] <= within]
            if most is not None:
                near = nearest_cached(near, memory.pairs[mixed], query, most, min(within, 0.0))
            if most is None or within <= 0.0 or np.count_nonzero(near.out[:, 0] < 0.0) >= most:
                return near
        return nearest(query, most, within)

    def _slot(self, name: Any) -> int:
        slot = self._objects.slots.get(name) if type(name) is str else None
        if slot is None:
            check_name(name)
            slot = self._objects.slots.get(name)
        if slot is None:
            hint = nearest_name(name, self._objects.slots)
            raise SceneError(f"the scene has no object {name!r} among its {count(len(self), 'object')}.{hint}")
        return slot

    def _pair(self, a: str, b: str) -> None:
        if self._slot(a) == self._slot(b):
            raise SceneError(f"{a!r} is given for both objects of the pair, expected two different objects")

    def _bits(self, group: Any, mask: Any) -> tuple[int, int]:
        if not isinstance(group, str) or not group:
            raise SceneError(f"group is {group!r}, expected a text that is not empty")
        if not isinstance(mask, Iterable | None) or isinstance(mask, str):
            raise SceneError(f"mask is {mask!r:.80}, expected a list of groups such as {[str(mask)]!r:.80}")
        named = None if mask is None else list(mask)
        for name in named or ():
            if not isinstance(name, str) or not name:
                raise SceneError(f"mask contains {name!r}, expected names of groups")
        bits = ALL if named is None else sum({self._objects.bit(name) for name in named})
        return self._objects.bit(group), bits
