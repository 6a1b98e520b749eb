"""How far one of two bodies must move to be free of the other, between bounds that hold.

No way is known to compute the depth of what is not convex in acceptable time, so it is enclosed. From above: every
translation after which the two are apart, tried and found free, is as deep as they can be; that of their hulls always
is. From below: two parts that overlap must be parted, a point that lies deep in a closed surface must leave it, and of
two balls about a point, one in each of two solids, the one must leave the other.
Where the way out of the deepest two parts is free, and where both are convex, the two bounds agree.

Ways out are looked for from the bound from below upwards, since a free window may be narrow: a bolt in a hole is free
within the play only. What blocks a way last is a wall, and the least vector that gets past all walls met so far is the
next way to try, as in the cutting plane methods of convex programming.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import NamedTuple

import numpy as np

from gjk3d.bodies.balls import balls
from gjk3d.bodies.bvh import from_points
from gjk3d.bodies.exits import past_all
from gjk3d.bodies.inner import inner
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MeshPair
from gjk3d.bodies.pair import FEW, BodyPair
from gjk3d.bodies.parts import PlacedParts, Triangles
from gjk3d.bodies.raycast import inside_of
from gjk3d.convex.solve import signed
from gjk3d.poses import IDENTITY, ROUNDING, inverse, matrices, moved, moved_back
from gjk3d.shapes.base import Polytope
from gjk3d.typing import Array, Ints

_SAMPLES = 256  #: points that are looked at for the bound from below, and rows of parts for a way out
_LOOKS = 512  #: points of a surface that are looked at for the depth in another, at most
_DEEPEST = 16  #: points whose ways out are tried, and the sum of all
_LOOKS_AGAIN = 64  #: beside vertices, where B was moved
_TIGHT = 1e-3  #: relative width of bounds at which a way out is not made shorter
_CLOSE = 1e-2  #: and at which no other is looked for
_FACES = 16  #: faces that meet whose normals are tried
_INNER = 6  #: directions to the nearest surfaces that are tried
_FOLLOWED = 2  #: directions that lead to others, beside the best
_SLIT = 4e-9  #: width of a way out that is none, in units of the size
_TURNS = 6  #: times that a way out turns to the least one past the walls that it met
_WORTH = 1e-4  #: part of a depth that is worth another try
_SAME_WAY = 0.99  #: cosine of directions that are as good as one
_EX = np.array([1.0, 0.0, 0.0])


class Depth(NamedTuple):
    """At least and at most how deep; moving b by ``most`` along ``normal``, in a's frame, frees it."""

    least: float
    most: float
    normal: Array
    place: Array  #: a point of both, or half-way between two that lie half the depth from it along the normal


def depth(x: BodyPair) -> Depth:
    """Return bounds of the depth of two that meet; infinite where nothing parts them."""
    error = x.error
    slack = x.a.convex_slack + x.b.convex_slack + 2.0 * error
    most, normal, hulls = _outer(x) if slack < inf else (inf, _EX, None)
    if hulls is not None and slack < 1e-6 * most:  # both convex, as they mostly are: the hulls' depth is theirs
        return Depth(min(max(0.0, -float(hulls[2]) - slack), most), most, normal, x.place(hulls))
    pairs, out = x.deepest()
    parts, x = x, as_meshes(x)
    least, place, inner_ways = _innermost(x)
    if isinstance(x, MeshPair) and place is not None and x.a.mesh.is_solid and x.b.mesh.is_solid:
        both, middle = balls(x.a.mesh, x.b.mesh, x.m, x.error, place)
        least, place = (both, middle) if both > least else (least, place)
    if len(out):
        own = -float(out[0, 2]) - error
        if own >= least:  # the deepest pair's own way out: where that is free there is no shorter one
            most, normal = max(-float(out[0, 1]), 0.0) + 4.0 * error, out[0, 3:6]
            if not x.moved(most * normal).meet():
                return Depth(min(own, most), most, normal, 0.5 * (out[0, 6:9] + out[0, 9:12]))
        if own > least or place is None:
            least, place = max(least, own), parts.common_point_of(pairs[0])
    most, normal, _ = _outer(x)
    if place is None:
        place = x.common_point()
    if most < inf:
        search = _Search(x, least, most, normal)
        search.go(inner_ways, _INNER)
        search.go((way for some in _ways(x, pairs, out, normal) for way in _units([some])), x.ways)
        search.follow_best()
        most, normal = search.most, search.normal
    return Depth(max(0.0, min(least, most)), most, normal, place)


Wall = tuple[Array, float]  #: a unit normal, and how far along it B gets past


class _Search:
    """Looks for a shorter translation that parts the two, each along a direction from the proven depth upwards."""

    def __init__(self, x: BodyPair, least: float, most: float, normal: Array) -> None:
        self.x, self.least, self.most, self.normal = x, least, most, normal
        self._tried: list[Array] = []
        self._wall: Wall | None = None
        self._followed = 0
        self._more = _SLIT * x.error / ROUNDING  # what is free only in a slit as narrow as that is not free

    def go(self, ways: Iterable[Array], count: int) -> None:
        """Try so many directions; from the first few go on past the walls that are met on the way out."""
        for way in ways:
            if count == 0 or self._within(_CLOSE):
                return
            if not self._tried or float((np.array(self._tried) @ way).max()) < _SAME_WAY:
                count -= 1
                wall = self._out(way)
                if self._followed < _FOLLOWED:
                    self._followed += 1
                    self._follow(way, wall)

    def follow_best(self) -> None:
        """Go on from the shortest way out past the walls met there."""
        if self._wall is not None and not self._within(_CLOSE):
            self._follow(self.normal, self._wall)

    def _within(self, relative: float) -> bool:
        """Tell whether the bounds are as close as that."""
        return self.most <= self.least * (1.0 + relative) + 16.0 * self.x.error

    def _follow(self, way: Array, wall: Wall | None) -> None:
        """After a way out go along the least vector that gets past the walls met so far, and again.

        Where there was no way out the wall is that in which the two are still deepest after the least depth.
        """
        walls: list[Wall] = []
        shift = self.least * way
        for _ in range(_TURNS):
            wall = wall or self._deeper(shift)
            if wall is None or self._within(_TIGHT):
                return
            walls.append(wall)
            shift = _past_all(walls)
            length = float(np.linalg.norm(shift))
            if not self.x.error < length < self.most * (1.0 - _WORTH):
                return
            wall = self._out(shift / length)

    def _deeper(self, shift: Array) -> Wall | None:
        """Return the wall in which the two are deepest after a translation."""
        there = self.x.moved(shift)
        least, _, ways = _innermost(there, _LOOKS_AGAIN)
        if ways:
            return ways[0], float(ways[0] @ shift) + least
        _, out = there.deepest(FEW)
        return (out[0, 3:6], float(out[0, 3:6] @ shift - out[0, 1])) if len(out) else None

    def _out(self, way: Array) -> Wall | None:
        """Try one direction; return the normal of the wall that B gets past last, and how far it is."""
        self._tried.append(way)
        found = self.x.parting(way, self.least, self.most)
        if found is None:
            return None
        shift, normal = found
        wall = normal, float(normal @ shift)
        far = float(np.linalg.norm(shift))
        if far + self.x.error < self.most and not self.x.moved(shift + self._more * way).meet():
            self.most, self.normal, self._wall = far + self.x.error, shift / far if far > 0.0 else way, wall
        return wall


def _past_all(walls: list[Wall]) -> Array:
    """Return about the least vector that gets past all walls."""
    shift = np.zeros(3)
    past_all(np.array([[*normal, far, 0.0] for normal, far in walls]), shift)
    return shift


def _outer(x: BodyPair) -> tuple[float, Array, Array | None]:
    """Return a translation that parts the two for certain: that of the hulls, with their answer, or of the boxes."""
    hull_a, hull_b = x.a.hull(), x.b.hull()
    if hull_a is not None and hull_b is not None:
        row = signed(hull_a, hull_b, matrices(x.m))[0]
        return max(-float(row[1]), 0.0) + x.error, row[3:6].copy(), row
    most, normal = inf, _EX
    box_a = x.a.box
    own = x.b.boxes_at(np.arange(x.b.count), x.m)
    box_b = np.concatenate([own[:, :3].min(axis=0), own[:, 3:].max(axis=0)])
    for c in range(3):
        for sign, far in ((1.0, box_a[3 + c] - box_b[c]), (-1.0, box_b[3 + c] - box_a[c])):
            if far < most and not (x.a.endless and c == 2 and sign < 0.0):
                most, normal = max(float(far), 0.0), sign * np.eye(3)[c]
    return most + 4.0 * x.error, normal, None


def as_meshes(x: BodyPair) -> BodyPair:
    """Return a mesh and a polytope with an inside as two meshes, whose depth is found in less time."""
    if type(x) is BodyPair and isinstance(x.a, Triangles) and isinstance(x.b, PlacedParts) and len(x.b.things) == 1:
        (thing, row), mesh = x.b.things[0], x.a.mesh
        if isinstance(thing, Polytope) and isinstance(mesh, Mesh) and (row == IDENTITY[0]).all():
            skin = skin_of(thing)
            if skin.is_solid and skin.volume > 0.0:
                return MeshPair.of(mesh, skin, x.m)
    return x


def skin_of(shape: Polytope) -> Mesh:
    """Return the faces of a polytope as a mesh, made once; flat ones have no inside, and may be a single point."""
    if "skin" not in shape._cache:
        hull = shape._hull()
        faces = hull.faces if len(hull.faces) else [(0, 0, len(hull.vertices) - 1)]
        shape._cache["skin"] = Mesh(hull.vertices, faces, solid=hull.dimension == 3)
    skin: Mesh = shape._cache["skin"]
    return skin


_Inner = tuple[float, Array | None, list[Array]]  #: the depth, the place, and the ways to the nearest surfaces


def _innermost(x: BodyPair, looks: int = _LOOKS) -> _Inner:
    """Return how deep the deepest of some points of one lies in a closed surface of the other, where, and ways out."""
    if isinstance(x, MeshPair):
        return _inner_of_meshes(x, looks)
    least, place = 0.0, None
    ways: list[tuple[float, Array]] = []
    for host, guest, held_by_b in ((x.b, x.a, True), (x.a, x.b, False)):
        solids = host.solids
        if not solids:
            continue
        points = guest.samples()
        if len(points) > _SAMPLES:
            points = points[np.linspace(0, len(points) - 1, _SAMPLES).astype(int)]
        points = moved_back(x.m, points) if held_by_b else moved(x.m, points)
        for mesh, row in solids:
            own = moved_back(row, points)
            inside = np.flatnonzero(inside_of(mesh, own))
            if not len(inside):
                continue
            far, feet, _ = from_points(mesh, own[inside])
            k = int(np.argmax(far))
            deep = max(0.0, float(far[k]) - x.error)
            way = (feet[k] - own[inside[k]]) @ row[:9].reshape(3, 3).T
            ways.append((-deep, -way @ x.m[:9].reshape(3, 3).T if held_by_b else way))
            if deep > least or (place is None and held_by_b):
                least, place = deep, moved(x.m, points[inside[k]]) if held_by_b else points[inside[k]]
    return least, place, _units(way for _, way in sorted(ways, key=lambda item: item[0]))


def deepest_inside(x: MeshPair) -> float:
    """Return how far the deepest of some points of either surface lies inside the other: `gjk3d.penetration` at least.

    Most often it is that to a few percent.
    """
    return _inner_of_meshes(x, _LOOKS)[0]


def _inner_of_meshes(x: MeshPair, looks: int) -> _Inner:
    """Do as `_innermost` of two meshes, by all of their surfaces."""
    least, place = 0.0, None
    depths, ways = [np.zeros(0)], [np.zeros((0, 3))]
    for host, guest, m, held_by_b in ((x.b, x.a, inverse(x.m), True), (x.a, x.b, x.m, False)):
        if not host.mesh.is_solid:
            continue
        deep = inner(host.mesh, guest.mesh, m, x.error, 1e-3, looks, least)
        if not len(deep.depths):
            continue
        way = deep.feet - deep.points
        depths.append(deep.depths)
        ways.append(-way @ x.m[:9].reshape(3, 3).T if held_by_b else way)
        if deep.depths[0] - x.error > least or place is None:
            least = max(least, float(deep.depths[0]) - x.error)
            place = moved(x.m, deep.points[0]) if held_by_b else deep.points[0]
    every = np.concatenate(ways)[np.argsort(-np.concatenate(depths), kind="stable")]
    return least, place, _units([*every[:_DEEPEST], every.sum(axis=0)])


def _units(ways: Iterable[Array]) -> list[Array]:
    """Return vectors as unit vectors, without zeros."""
    lengths = [(float(np.linalg.norm(way)), way) for way in ways]
    return [way / length for length, way in lengths if length > 0.0]


def _ways(x: BodyPair, pairs: Ints, out: Array, normal: Array) -> Iterator[Array]:
    """Yield directions to move b along: as the hulls part, as surfaces look, as parts do, the axes."""
    yield normal
    if len(out):
        yield (out[:, 3:6] * np.maximum(-out[:, :1], 0.0)).sum(axis=0)
        yield out[:, 3:6].sum(axis=0)
    if len(pairs) and (x.a.solids or x.b.solids or not len(out)):
        turn = x.m[:9].reshape(3, 3)
        ours, theirs = x.a.outward(pairs[:, 0]), x.b.outward(pairs[:, 1])
        yield ours.mean(axis=0) - theirs.mean(axis=0) @ turn.T
        some = np.unique(np.linspace(0, len(pairs) - 1, _FACES).astype(int))
        yield from np.stack([ours[some], -(theirs[some] @ turn.T)], axis=1).reshape(-1, 3)
    if len(out):
        yield from (row[3:6] for row in _different(out))
        yield from np.stack([np.eye(3), -np.eye(3)], axis=1).reshape(-1, 3)


def _different(out: Array) -> Iterator[Array]:
    """Yield a few rows, the deepest first, whose normals differ."""
    seen: list[Array] = []
    for row in out[:_SAMPLES]:
        if all(row[3:6] @ other < _SAME_WAY for other in seen):
            seen.append(row[3:6])
            yield row
        if len(seen) >= 8:
            return
