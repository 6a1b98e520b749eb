"""Decisions of pairs of shapes, each at a relative pose: convex hulls first, then triangles; here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.bvh import from_points
from gjk3d.bodies.depth import deepest_inside, depth
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.raycast import holds
from gjk3d.bodies.union import solid, union_of
from gjk3d.clash.detection.clashes import Vector
from gjk3d.clash.detection.overlap import HERE, LOOKED_AT, Overlap, Two, intersection, shared_depth, touching
from gjk3d.convex.pairs import Pairs
from gjk3d.geometry.farthest import farthest
from gjk3d.interrupts import Aside, Whole
from gjk3d.poses import matrices
from gjk3d.results import Distance, Status
from gjk3d.typing import Array


class Limit:
    """A tolerance, and from where to where any other would give the same answers so far: ``low <= it < high``."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.low, self.high = 0.0, inf

    def holds(self, length: float) -> bool:
        """Tell whether a length is no more than the tolerance."""
        if length <= self.value:
            self.low = max(self.low, length)
            return True
        if length > self.value:
            self.high = min(self.high, length)
        return False


def _planes(mesh: Mesh) -> tuple[Array, Array]:
    """Return outward normals and offsets of the faces of a convex solid that have an area."""
    corners = mesh.vertices[mesh.skin.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1)
    # a sliver's normal is rounding: its corners are those of its neighbours
    size = float(np.ptp(mesh.bounds, axis=0).max())
    good = length > 1e-12 * size * size
    normals = normals[good] / length[good, None]
    return normals, np.einsum("ij,ij->i", normals, corners[good, 0])


def _room(points: Array, outer: Mesh) -> float:
    """Return how far points, in its frame, stay away from the faces of a convex solid; negative where one is out."""
    normals, offsets = _planes(outer)
    return float((offsets - farthest(points, normals)[0]).min(initial=inf))


def same(two: Two, limit: Limit) -> bool:
    """Tell whether two parts are the same body at one place: every vertex has its twin, and their areas are equal."""
    a, b = two.a, two.b
    if not limit.holds(float(np.abs(a.bounds - two.bounds_b).max())):
        return False
    from scipy.spatial import cKDTree

    here, there = a._used, two.to_a(b._used)
    most = 2.0 * limit.value + 1e-300  # of what is farther away nothing else is known
    for points, others in ((here, there), (there, here)):
        gap, _ = cKDTree(others).query(points, distance_upper_bound=most)
        if not limit.holds(min(float(gap.max()), most)):
            return False
    return abs(_area(a) - _area(b)) <= 1e-3 * _area(a)


def same_surface(two: Two, limit: Limit) -> bool:
    """Tell whether every vertex of each of two closed parts lies on the surface of the other."""
    a, b = two.a, two.b
    if not (a.is_watertight and b.is_watertight and limit.holds(float(np.abs(a.bounds - two.bounds_b).max()))):
        return False
    each = ((b, two.to_b(a._used)), (a, two.to_a(b._used)))
    return all(limit.holds(float(from_points(mesh, points)[0].max())) for mesh, points in each)


def all_shared(a: Mesh, b: Mesh, volume: float | None, limit: Limit) -> bool:
    """Tell whether the volume that two parts share is all of each, but for a skin as thin as the tolerance."""
    return volume is not None and all(limit.holds(abs(abs(x.volume) - volume) / _area(x)) for x in (a, b))


def _area(mesh: Mesh) -> float:
    corners = mesh.vertices[mesh.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())


class Verdict(NamedTuple):
    """What a pair is; the fields are those of `gjk3d.clash.Clash`."""

    kind: str
    distance: float | None = None
    depth: float | None = None
    mtv: Vector | None = None
    normal: Vector | None = None
    point_a: Vector | None = None
    point_b: Vector | None = None
    point: Vector | None = None
    overlap_volume: float | None = None
    overlap_box: tuple[Vector, Vector] | None = None
    shape_a: str = "triangles"
    shape_b: str = "triangles"
    method: str = "triangles"
    distance_kind: str = "exact"
    error_bound: float | None = None
    convex_gap: float | None = None
    penetration: float | None = None
    note: str = ""
    #: corners of what both fill, (k, 3), from which `overlap_box` is made where A is
    shared: Array | None = None


def unchecked(reason: str) -> Verdict:
    """Return what is said of what could not be decided: no method did."""
    return Verdict("unchecked", method="", distance_kind="approximate", note=reason)


class Decider:
    """Decides a pair by its limits.

    Parameters
    ----------
    clearance, tolerance : float
        As in `gjk3d.clash.check`.
    known : dict
        What is learnt of a part and kept for its next pair.
    twice : bool
        Whether two equal parts at one place are one part that is there twice; not where they only pass there.
    """

    def __init__(self, clearance: float, tolerance: float, known: dict[int, Any], twice: bool = True) -> None:
        self.clearance, self.twice = clearance, twice
        self.limit = Limit(tolerance)
        self._solids = known

    def solid(self, mesh: Mesh) -> Any:
        """Return manifold3d's solid of a mesh, or None."""
        if id(mesh) not in self._solids:
            self._solids[id(mesh)] = solid(mesh)
        return self._solids[id(mesh)]

    def decide(self, a: Mesh, b: Mesh, hulls: Distance, m: Array = HERE) -> Verdict | None:
        """Return what the pair is in A's frame, None where it is free; m is the pose row of B there."""
        # several bodies of a part are one set of points: inner walls are no surface, and no volume counts twice
        a, b = union_of(a).mesh, union_of(b).mesh
        two = Two(a, b, HERE if np.array_equal(m, HERE) else m)
        twins = self.twice and same(two, self.limit)
        slack = a._convex_slack + b._convex_slack
        convex = self.limit.holds(10.0 * slack)
        if convex:
            found = self._convex(two, hulls, slack)
        else:
            found = self._any(two, hulls)
        if found is None:
            return None
        if found.kind in ("hard", "contained") and (a.is_watertight or b.is_watertight):
            found = found._replace(penetration=deepest_inside(two.trees))
        if not twins:
            one = self.twice and found.kind == "hard" and same_surface(two, self.limit)
            # convex solids on whose surfaces the vertices of the other lie are one; others may have their own dents
            if one and (convex or all_shared(a, b, found.overlap_volume, self.limit)):
                return found._replace(kind="duplicate", note=joined("the same solid, in other triangles", found.note))
            return found
        return found._replace(
            kind="duplicate", method="equal", note=joined("the same part twice at one place", found.note)
        )

    def _kind(self, distance: float) -> str | None:
        if not self.limit.holds(-distance):
            return "hard"
        if self.limit.holds(distance):
            return "touch"
        # a gap drawn as wide as the clearance may be less by rounding
        return None if self.limit.holds(self.clearance - distance) else "clearance"

    def _convex(self, two: Two, hulls: Distance, slack: float) -> Verdict | None:
        kind = self._kind(float(hulls.distance))
        if kind is None:
            return None
        method = "epa" if float(hulls.distance) < 0.0 else "gjk"
        found = _of_hulls(kind, hulls)._replace(
            method=method, distance_kind="exact", error_bound=float(hulls.upper - hulls.lower) + slack, convex_gap=0.0
        )
        if kind == "hard":
            for points, outer, text in (
                (two.to_b(two.a.hull().points), two.b, "a lies inside b"),
                (two.to_a(two.b.hull().points), two.a, "b lies inside a"),
            ):
                if not self.limit.holds(_room(points, outer)):
                    found = found._replace(kind="contained", note=text)
            found = self._with_volume(found, self._overlap(two))
        return found

    def _any(self, two: Two, hulls: Distance) -> Verdict | None:
        """Decide by triangles what the hulls leave open."""
        pair = two.trees
        if pair.surfaces_meet():
            return self._meeting(two)
        held = pair.held()
        if held is not None:
            return self._inside(two, held.by)
        most = max(self.clearance, self.limit.value)
        gap = pair.gap(most)
        if gap is None:
            self.limit.high = min(self.limit.high, float(np.nextafter(most, inf)))
            return None
        point_a, point_b = gap.row[6:9], gap.row[9:12]
        way = point_b - point_a
        distance = float(np.linalg.norm(way))
        kind = self._kind(distance)
        if kind is None:
            return None
        return Verdict(
            kind,
            distance,
            0.0,
            normal=vector(way / distance) if distance > 0.0 else None,
            point_a=vector(point_a),
            point_b=vector(point_b),
            point=vector(0.5 * (point_a + point_b)),
            error_bound=gap.upper - gap.lower,
            convex_gap=max(0.0, distance - float(hulls.distance)),
            note=_hollow(two.a, two.b),
        )

    def _meeting(self, two: Two) -> Verdict:
        """Decide a pair whose surfaces meet, by how deep they overlap."""
        both, hollow = self._overlap(two), _hollow(two.a, two.b)
        least, place = shared_depth(two, both)
        solids_alone = both is not None and not two.any_hanging
        if not solids_alone and self.limit.holds(least) and not self.limit.holds(two.trees.through(LOOKED_AT)):
            point, normal = touching(two)
            note = joined("the surfaces cross; how deep cannot be told", hollow)
            return Verdict(
                "hard", normal=_or_none(normal), point=_or_none(point), distance_kind="approximate", note=note
            )
        if not self.limit.holds(least):
            found = self._overlapping("hard", two, least, place)
            return self._with_volume(found._replace(method="triangles" if both is None else "boolean"), both)
        point, normal = touching(two)
        where = _or_none(point)
        return Verdict(
            "touch",
            -least + 0.0,
            least,
            normal=_or_none(normal),
            point_a=where if least == 0.0 else None,
            point_b=where if least == 0.0 else None,
            point=where,
            method="triangles" if both is None else "boolean",
            distance_kind="exact" if both is not None and least == 0.0 else "approximate",
            error_bound=inf,  # as far apart as what touches may be
            note=hollow,
        )

    def _inside(self, two: Two, holder: int) -> Verdict:
        """Decide a pair whose surfaces are apart, a body of one lying in the other."""
        outer, points, text = (
            (two.a, two.to_a(two.b._body_points), "b lies inside a")
            if holder == 1
            else (two.b, two.to_b(two.a._body_points), "a lies inside b")
        )
        wholly = bool(holds(outer, points).all())
        found = self._overlapping("contained" if wholly else "hard", two, 0.0, None)
        note = text if wholly else text.replace("lies", "has a body that lies")
        return self._with_volume(found._replace(method="inside", note=note), self._overlap(two))

    def _overlapping(self, kind: str, two: Two, least: float, place: Array | None) -> Verdict:
        """Enclose the depth by the routine of `gjk3d.signed_distance`, and from below by what both share, if known.

        So the bound from above, which is `Clash.depth`, is the same; that from below may be better here, since the
        shared solid has points deeper in both than the vertices that are looked at there. Both hold.
        """
        deep = depth(two.trees)
        least = max(least, deep.least)
        place = deep.place if place is None else place
        half = 0.5 * deep.most * deep.normal
        exact = self.limit.holds(1e3 * (deep.most - least))
        return Verdict(
            kind,
            -deep.most,
            deep.most,
            vector(deep.most * deep.normal),
            vector(deep.normal),
            vector(place + half),
            vector(place - half),
            vector(place),
            distance_kind="exact" if exact else "bound",
            error_bound=max(0.0, deep.most - least),
        )

    def _overlap(self, two: Two) -> Overlap | None:
        first, second = self.solid(two.a), self.solid(two.b)
        return None if first is None or second is None else intersection(first, second, two.m)

    def _with_volume(self, found: Verdict, both: Overlap | None) -> Verdict:
        if both is None or not both.volume > 0.0:
            return found
        return found._replace(
            overlap_volume=both.volume,
            shared=both.vertices,
            point=vector(both.vertices.mean(axis=0)),
        )


def _of_hulls(kind: str, hulls: Distance) -> Verdict:
    """Return the verdict that the hulls alone give."""
    distance = float(hulls.distance)
    depth = max(0.0, -distance)
    normal = np.asarray(hulls.normal)
    first, second = np.asarray(hulls.point_a), np.asarray(hulls.point_b)
    return Verdict(
        kind,
        distance,
        depth,
        vector(depth * normal) if depth > 0.0 else None,
        vector(normal),
        vector(first),
        vector(second),
        vector(0.5 * (first + second)),
        shape_a="hull",
        shape_b="hull",
        method="epa" if depth > 0.0 else "gjk",
        distance_kind="approximate",
    )


def _hollow(a: Mesh, b: Mesh) -> str:
    """Say what cannot be known of parts that are not closed."""
    opened = [name for name, mesh in (("a", a), ("b", b)) if not mesh.is_watertight]
    if not opened:
        return ""
    return f"{' and '.join(opened)} {'is' if len(opened) == 1 else 'are'} not closed: what lies inside is not seen"


def _or_none(values: Array | None) -> Vector | None:
    return None if values is None else vector(values)


def vector(values: Any) -> Vector:
    """Return three plain floats; a negative zero becomes 0."""
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z


def joined(first: str, second: str) -> str:
    """Return two notes as one."""
    return "; ".join(text for text in (first, second) if text)


#: Pairs a call: few at first, so that the first findings come soon, then twice as many each time.
_FIRST, _MOST = 4, 1024
_LOT = 64  #: pairs that one task of a cluster decides at most


class Question(NamedTuple):
    """Two shapes by number, the pose row of the second in the frame of the first, and what is of interest."""

    a: int
    b: int
    row: Array
    reach: float  #: how far apart they may be and still be of interest
    tolerance: float


Ask = Callable[[int], Question]  #: the questions, by number


class Decided(NamedTuple):
    """What a pair is, for all tolerances ``low <= tolerance < high``."""

    verdict: Verdict | None
    low: float = 0.0
    high: float = inf


class Decisions:
    """Shapes, and what is found of pairs of them.

    Parameters
    ----------
    shapes : sequence of Mesh
    clearance : float
        As in `gjk3d.clash.check`.
    most : float
        The largest reach of all questions.
    """

    def __init__(self, shapes: Sequence[Mesh], clearance: float, most: float) -> None:
        self._shapes = tuple(shapes)
        self._clearance, self._most = clearance, most
        self._solids: dict[int, Any] = {}  # of shapes, for their next pair

    def __reduce__(self) -> Any:
        return type(self), (self._shapes, self._clearance, self._most)

    def hulls(self, some: Sequence[Question], workers: int = 1) -> list[Distance[Any] | None]:
        """Return how far apart hulls are, None where they prove the two farther apart than their reach."""
        poses = np.tile(np.eye(4), (2 * len(some), 1, 1))
        poses[1::2] = matrices(np.array([each.row for each in some]))
        pairs = Pairs([self._shapes[k].hull() for each in some for k in (each.a, each.b)])
        numbers = np.arange(len(poses)).reshape(-1, 2)
        answer = pairs.signed_distance(numbers, poses, max_distance=self._most, workers=workers)
        reach = np.array([each.reach for each in some])
        near = (answer.status != Status.BEYOND) & ~(answer.lower > reach)
        return [answer[k] if near[k] else None for k in range(len(some))]

    def decide(self, row: tuple[Question, Distance[Any]]) -> Decided:
        """Decide a pair by its parts, where hulls leave it open."""
        asked, hulls = row
        decider = Decider(self._clearance, asked.tolerance, self._solids)
        try:
            verdict = decider.decide(self._shapes[asked.a], self._shapes[asked.b], hulls, asked.row[:12])
        except Exception as error:  # one pair must not take the others with it; it is said, never dropped
            verdict = unchecked(f"{type(error).__name__}: {error}")
        return Decided(verdict, decider.limit.low, decider.limit.high)

    def lot(self, some: Sequence[Question]) -> list[Decided | None]:
        """Decide some pairs, None where hulls prove them farther apart than their reach."""
        return [
            None if hulls is None else self.decide((asked, hulls))
            for asked, hulls in zip(some, self.hulls(some), strict=True)
        ]

    def here(
        self, ask: Callable[[int], Question], count: int, workers: int, threads: Aside
    ) -> Iterator[Decided | None]:
        """Yield the decisions in order.

        As many pairs at once as hulls are asked about, so that any number of them needs no memory. Only shapes that are
        in a pair get a hull, and get it when their first pair is due.
        """
        for start, stop in _lots(count, _MOST):
            some = [ask(k) for k in range(start, stop)]
            for _ in threads.map(lambda k: self._shapes[k].hull(), sorted({k for each in some for k in each[:2]})):
                pass
            answers = threads.run(self.hulls, some, workers)
            near = [(asked, hulls) for asked, hulls in zip(some, answers, strict=True) if hulls is not None]
            due = threads.map(self.decide, near)
            for hulls in answers:
                yield None if hulls is None else next(due)[1]

    @classmethod
    def there(cls, ask: Ask, count: int, cluster: Aside) -> Iterator[Decided | None]:
        """Yield the decisions of a cluster that has the shapes, in order."""
        lots = (Whole([ask(k) for k in range(start, stop)]) for start, stop in _lots(count, _LOT))
        for _, made in cluster.map(cls.lot, lots):
            yield from made


def _lots(count: int, most: int) -> Iterator[tuple[int, int]]:
    start, size = 0, _FIRST
    while start < count:
        stop = min(start + size, count)
        yield start, stop
        start, size = stop, min(2 * size, most)
