"""Collisions, contacts and distances of the objects of managers, and the closest of many pairs."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.body_pair import HOLDS, MeshPair, meet_many
from gjk3d.bodies.contact import touches
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_points import nearest_points
from gjk3d.bodies.tree_collision import HELD, MEET
from gjk3d.compat.objects import CollisionObject, ContactData, DistanceData, Names, Objects
from gjk3d.convex.batch import Rows, Wanted, empty_answers
from gjk3d.engine.dispatch import find
from gjk3d.narrow.solve import SIGNED
from gjk3d.poses import matrices, moved, moved_back, relative
from gjk3d.query.distance import distance, signed_distance
from gjk3d.results import Distance
from gjk3d.scene.query import SceneQuery
from gjk3d.typing import Array, Bools, Ints


class Nearest(NamedTuple):
    """The distance of two objects, with its faces and points."""

    distance: float
    faces: tuple[int, int]
    points: tuple[Array, Array]


FARTHEST = sys.float_info.max  #: the distance if there are no pairs


def no_data(names: Names) -> DistanceData:
    """Return the data of a query without pairs."""
    return DistanceData(names, (-1, -1), (None, None), FARTHEST)


class Query(SceneQuery):
    """A query on the pairs of objects of one manager, of its object ``only`` and all others, or of two managers."""

    def __init__(self, mine: Objects, theirs: Objects, solid: bool, only: int = -1, ordered: bool = False) -> None:
        super().__init__(mine.scene, theirs.scene, only, False, ordered)
        self.objects, self.solid = (mine.at, theirs.at), solid

    def collide(self, pairs: Ints, margin: float) -> Bools:
        """Return a bool for each pair: the surfaces intersect, or a solid contains the other object.

        Pairs of the same two meshes are computed in one call.
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
    """Return whether any pair collides, the names of the pairs, and their contacts.

    The two names of a pair are sorted if ``mine`` is ``theirs``.
    """
    pairs: list[tuple[CollisionObject, CollisionObject]] = []
    hits = Query(mine, theirs, solid).collisions(0.0)
    for i, j in sorted((np.sort(hits, axis=1) if mine is theirs else hits).tolist()):
        a, b = mine.at[i], theirs.at[j]
        if mine is theirs and b.name < a.name:  # type: ignore[operator]
            a, b = b, a
        pairs.append((a, b))
    return len(pairs) > 0, {(a.name, b.name) for a, b in pairs}, contacts(pairs) if all_data and pairs else []


def as_asked(first: Any, names: Any, with_names: bool, data: Any, with_data: bool) -> Any:
    """Return ``first``, or a tuple of ``first`` and the requested ones of ``names`` and ``data``."""
    more = ([names] if with_names else []) + ([data] if with_data else [])
    return (first, *more) if more else first


def _holder(pair: MeshPair, solid: bool) -> bool:
    """Return whether one object contains the other, for surfaces that do not intersect."""
    holding = pair.held()
    return holding is not None and (solid or (pair.a, pair.b)[holding.by - 1].mesh.is_convex)


def _deep(a: CollisionObject, b: CollisionObject, convex: bool) -> Distance:
    """Return the signed distance of two overlapping objects. With ``convex`` it is that of their hulls, and exact."""
    first: Any = a.mesh.hull() if convex else a.mesh
    second: Any = b.mesh.hull() if convex else b.mesh
    return signed_distance(first, second, matrices(a._row), matrices(b._row))


def _faces_of(meshes: tuple[Mesh, Mesh], rows: tuple[Array, Array], points: tuple[Array, Array]) -> tuple[int, int]:
    """Return for each of two meshes at pose rows the index of the face nearest to its point, in world coordinates."""
    first, second = (
        int(nearest_points(mesh, moved_back(row, point)[None])[2][0])
        for mesh, row, point in zip(meshes, rows, points, strict=True)
    )
    return first, second


def contacts(pairs: list[tuple[CollisionObject, CollisionObject]]) -> list[ContactData]:
    """Return the contacts of intersecting pairs, pair by pair; pairs of the same two meshes use one call."""
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
    """Yield the contacts of each pair of the same two meshes; a convex pair has one contact."""
    first, second = (_rows_of([pair[side] for pair in pairs]) for side in range(2))
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
            # one object is inside the other, and the meshes are not both convex
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


def _rows_of(objects: list[CollisionObject]) -> Array:
    """Return the pose rows of objects of one manager, (k, 13)."""
    rows: Array = objects[0]._owner.scene.rows[[x._number for x in objects]]
    return rows


def _depths(a: Mesh, b: Mesh, rows_a: Array, rows_b: Array) -> tuple[Array, Array]:
    """Return the depths of overlap of two hulls at pairs of poses, and the witness points.

    The first array, (k, 7), has the midpoint, the normal from the first to the second, and the depth. The second,
    (k, 6), has the witness points on a and on b.
    """
    hull_a, hull_b, count = a.hull(), b.hull(), len(rows_a)
    out, flags = empty_answers(count)
    find("solve", hull_a, hull_b)(hull_a, hull_b, Rows(rows_a, rows_b, count, True), Wanted(SIGNED), out, flags)
    values = np.empty((count, 7))
    np.multiply(out[:, 6:9] + out[:, 9:12], 0.5, out=values[:, :3])
    values[:, 3:6] = out[:, 3:6]
    np.maximum(-out[:, 0], 0.0, out=values[:, 6])
    return values, out[:, 6:12]


def nearest(a: CollisionObject, b: CollisionObject, most: float, solid: bool) -> Nearest | None:
    """Return the signed distance of two objects with its points and faces, or None beyond the distance ``most``."""
    pair = MeshPair.of(a.mesh, b.mesh, relative(a._row, b._row))
    if pair.surfaces_meet() or _holder(pair, solid):
        if a.mesh.is_convex and b.mesh.is_convex:
            deep: Any = _deep(a, b, True)
        else:  # distance 0 and a common point
            deep = distance(a.mesh, b.mesh, matrices(a._row), matrices(b._row))
        points = np.array(deep.point_a), np.array(deep.point_b)
        at = _faces_of((a.mesh, b.mesh), (a._row, b._row), points)
        return Nearest(min(0.0, float(deep.distance)), at, points)
    gap = pair.gap(most)
    if gap is None:
        return None
    first, second = moved(a._row, gap.row[6:9]), moved(a._row, gap.row[9:12])
    return Nearest(float(np.linalg.norm(second - first)), pair.faces_of(gap), (first, second))


_START = 1.0 / 64.0  #: relative to the size of the whole: the first distance within which boxes are searched


class Closest(NamedTuple):
    """The closest pair."""

    distance: float
    a: CollisionObject
    b: CollisionObject
    points: tuple[Array, Array]
    faces: tuple[int, int] | None  #: None if not computed yet

    @property
    def data(self) -> DistanceData:
        """The pair in trimesh's format."""
        a, b = self.a, self.b
        data = DistanceData((a.name, b.name), self.faces or (), self.points, self.distance)
        if self.faces is None:  # computed when they are read, at the current poses
            data._faces = partial(_faces_of, (a.mesh, b.mesh), (a._row.copy(), b._row.copy()), self.points)
        return data


def closest(mine: Objects, theirs: Objects, single: CollisionObject | None, solid: bool) -> Closest | None:
    """Return the closest pair of one manager, of two managers, or of one object and the rest; None without pairs.

    The first one is returned if several are equally close.
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
    """Return the closest pair for meshes that are not all convex. Of several equally close pairs it is the first."""
    within, size = 0.0, query.distances_between_boxes[1]
    while not len(pairs := _near(query, within)):
        within = max(2.0 * within, _START * size)
    best = _best(mine, theirs, pairs, None, solid)
    if best is None or best.distance > within:
        best = _best(mine, theirs, _near(query, size if best is None else best.distance), best, solid)
    assert best is not None
    return best


def _near(query: SceneQuery, within: float) -> Ints:
    """Return the pairs of objects whose boxes are within a distance, sorted. ``query.only`` is first in each pair."""
    pairs = query.near(within)[0]
    if query.only >= 0:
        pairs = np.where(pairs[:, :1] == query.only, pairs, pairs[:, ::-1])
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _best(mine: Objects, theirs: Objects, pairs: Ints, best: Closest | None, solid: bool) -> Closest | None:
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
            best = Closest(candidate.distance, a, b, candidate.points, candidate.faces)
    return best


def _bounds(a: Array, b: Array) -> Array:
    """Return for each pair of boxes a and b a lower bound of the signed distance of the objects in them, (n,)."""
    gaps = np.maximum(a[:, :3] - b[:, 3:], b[:, :3] - a[:, 3:])
    gap: Array = np.linalg.norm(np.maximum(gaps, 0.0), axis=1)
    return np.where(gaps.max(axis=1) > 0.0, gap, gaps.max(axis=1))
