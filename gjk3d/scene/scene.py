"""`Scene`: many solids, changed and asked again and again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from difflib import get_close_matches
from math import inf
from numbers import Integral, Real
from threading import RLock
from typing import Any, Union, cast, overload

import numpy as np

from gjk3d.broad.tree import ALL
from gjk3d.convex.checks import check_margin, check_workers, no_shape
from gjk3d.errors import SceneError, ShapeError
from gjk3d.poses import matrices
from gjk3d.query.contact import Contact, check_patches
from gjk3d.query.dispatch import Collider, is_collider
from gjk3d.query.raycast import check_rays
from gjk3d.results import Distance
from gjk3d.scene.candidates import Candidates
from gjk3d.scene.contacts import patches
from gjk3d.scene.narrow import Answers, Narrow, first_hits, nearest
from gjk3d.scene.objects import Objects, alone, check_name, check_new, distinct, pose_rows_of, put_pose
from gjk3d.scene.results import Clearance, NamePair, SceneHit, ScenePairs, named
from gjk3d.typing import Array, OnePose, PoseLike, Row, Rows, Unclear

Other = Union["Scene", Collider, str, None]
_FIRST = 1024  #: pairs asked at once where one hit is enough


class Scene:
    """Convex shapes, meshes, compounds, voxels, point clouds and height fields at poses, asked about all at once.

    Every question is about all pairs of objects; with ``other`` about each object here and a shape, at ``pose``, or
    each object of another scene, or with a name about that object and the rest. Pairs are told in the order of their
    names, whatever order the objects were added in, and have the same bits.

    Two objects are a pair where each is in a group that the other may meet, and where they are not allowed to touch.
    Two of what has no end, half-spaces and height fields, never are. Objects may share a shape and what is made of it,
    as the tree of a mesh, which moving them leaves as it is. Threads may share a scene: one waits while another is in
    it.

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
    """

    __slots__ = ("_lock", "_objects")
    _objects: Objects

    def __init__(self) -> None:
        self._objects, self._lock = Objects(), RLock()

    def __getstate__(self) -> Objects:
        return self._objects

    def __setstate__(self, state: Objects) -> None:
        self._objects, self._lock = state, RLock()

    # --- what is in it -------------------------------------------------------------------------------------------

    @alone
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
            Not taken yet.
        shape : Shape, Mesh, Compound, VoxelGrid, PointCloud or HeightField
            Half-spaces too. Objects of one shape share what is made of it, as the tree of a mesh.
        pose : (4, 4) float, RigidTransform or None
            World from local; None is the identity.
        group : str
            What it is: one of up to 62 groups of a scene.
        mask : names of groups, optional
            Those it is asked against; None is all, also those to come. A pair is asked where each meets the other.

        Raises
        ------
        SceneError, PoseError, UnsupportedPair
            Naming what is wrong; the scene is as before.
        """
        objects = self._objects
        if type(name) is not str or not name or name in objects.slots or not is_collider(shape):
            check_new(objects.slots, [name], [shape])
        bits = (1, ALL) if group == "default" and mask is None else self._bits(group, mask)
        slot = objects.next_slot()
        put_pose(pose, name, objects.rows, slot)
        objects.put(name, shape, *bits)

    @alone
    def add_many(
        self,
        names: Sequence[str],
        shapes: Sequence[Collider] | Collider,
        poses: PoseLike | None = None,
        *,
        group: str = "default",
        mask: Iterable[str] | None = None,
    ) -> None:
        """Add n objects in one call: all of them, or none where something is wrong; see `add`.

        Parameters
        ----------
        names : sequence of n str
            Each once, and none of them taken.
        shapes : sequence of n Shape, or one Shape
            Those of all objects, or the one of each.
        poses : (n, 4, 4) float, optional
            World from local, in the same order; None is the identity.
        group, mask
            Of all of them.

        Raises
        ------
        SceneError, PoseError, UnsupportedPair
            Naming what is wrong; the scene is as before.

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
        listed = [shapes] * len(names) if is_collider(shapes) else list(cast(Sequence[Collider], shapes))
        if len(listed) != len(names):
            raise SceneError(f"there are {len(names)} names and {len(listed)} shapes, expected as many, or one shape")
        check_new(self._objects.slots, names, listed)
        rows = pose_rows_of(poses, len(names), names, False)
        self._objects.put_many(names, listed, rows, *self._bits(group, mask))

    @alone
    def move(self, name: str, pose: OnePose) -> None:
        """Put an object elsewhere.

        Parameters
        ----------
        name : str
            Of an object in the scene.
        pose : (4, 4) float, RigidTransform or None
            World from local; None is the identity.

        Raises
        ------
        SceneError, PoseError
            Where there is no such object, or the pose is not rigid.
        """
        slot = self._slot(name)
        self._objects.move([slot], pose_rows_of(pose, 1, [name], True))

    @alone
    def move_many(self, names: Sequence[str], poses: PoseLike) -> None:
        """Put n objects elsewhere in one call: all of them, or none where something is wrong.

        Parameters
        ----------
        names : sequence of n str
            Each once.
        poses : (n, 4, 4) float
            In the same order.

        Raises
        ------
        SceneError, PoseError
            Where one is not in the scene, or a pose is not rigid; the scene is as before.
        """
        names = distinct(names)
        slots = self._objects.slots
        try:
            where = [slots[name] for name in names]
        except KeyError:
            where = [self._slot(name) for name in names]
        self._objects.move(where, pose_rows_of(poses, len(where), names, False))

    @alone
    def remove(self, name: str) -> None:
        """Take an object out, and forget which others it was allowed to touch.

        Parameters
        ----------
        name : str
            Of an object in the scene.

        Raises
        ------
        SceneError
            Where there is no such object.
        """
        self._slot(name)
        self._objects.remove(name)

    @alone
    def allow(self, a: str, b: str) -> None:
        """Let two objects touch: the pair is passed over by every question, until `disallow`.

        Parameters
        ----------
        a, b : str
            Names of two objects.

        Raises
        ------
        SceneError
            Where one is not in the scene, or both are one.
        """
        self._pair(a, b)
        self._objects.allow(a, b, True)

    @alone
    def disallow(self, a: str, b: str) -> None:
        """Ask about a pair again; see `allow`."""
        self._pair(a, b)
        self._objects.allow(a, b, False)

    @alone
    def copy(self) -> Scene:
        """Return a scene of the same objects that changes by itself; shapes are shared, since they never change."""
        return deepcopy(self)

    def __len__(self) -> int:
        return len(self._objects.slots)

    def __contains__(self, name: object) -> bool:
        return name in self._objects.slots

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    @property
    @alone
    def names(self) -> list[str]:
        """Names of all objects, in order."""
        return sorted(self._objects.slots)

    @property
    @alone
    def allowed(self) -> list[tuple[str, str]]:
        """Pairs that are passed over, in order."""
        named = self._objects.names
        found = (sorted((named[i], named[j])) for i, j in self._objects.allowed)
        return sorted((a, b) for a, b in found)

    @alone
    def shape(self, name: str) -> Collider:
        """Return the shape of an object; see `remove` for ``name``, and for what is raised."""
