"""Decisions of pairs of shapes at relative poses by convex hulls and triangles, on this machine or on a cluster.

`shared_depth` bounds the depth of an overlap from below, and `touching` computes a contact point. `Decider` decides a
pair, and `Decisions` decides many pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.body_pair import MeshPair
from gjk3d.bodies.depth.depth import deepest_inside, depth
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_points import nearest_points
from gjk3d.bodies.mesh_rays import holds
from gjk3d.bodies.solids import SAME_FRAME, Overlap, intersection, solid, union_of
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.documents import Vector
from gjk3d.engine.pairs import Pairs
from gjk3d.geometry.points import farthest
from gjk3d.poses import ROUNDING, matrices, moved, moved_back, parts
from gjk3d.results import Distance, Status
from gjk3d.scale import Aside, Pickled
from gjk3d.typing import Array, Ints

# --- intersections ---------------------------------------------------------------------------------------------------


class BodyPair(NamedTuple):
    """The meshes of two parts A and B, and the pose row of B in the frame of A."""

    a: Mesh
    b: Mesh
    m: Array = SAME_FRAME

    def to_a(self, points: Array) -> Array:
        """Return points of the frame of B in the frame of A."""
        return points if self.m is SAME_FRAME else np.ascontiguousarray(moved(self.m, points))

    def to_b(self, points: Array) -> Array:
        """Return points of the frame of A in the frame of B."""
        return points if self.m is SAME_FRAME else np.ascontiguousarray(moved_back(self.m, points))

    def rotated(self, directions: Array) -> Array:
        """Return directions of the frame of B in the frame of A."""
        return directions if self.m is SAME_FRAME else directions @ parts(self.m)[0].T

    @property
    def bounds_b(self) -> Array:
        """The lowest and the highest corner of B in the frame of A, (2, 3), up to rounding."""
        if self.m is SAME_FRAME:
            return self.b.bounds
        # the hull has the same bounds and fewer points
        points = self.to_a(self.b.hull().points)
        return np.array([points.min(axis=0), points.max(axis=0)])

    @property
    def any_hanging(self) -> bool:
        """Whether A or B has faces that do not bound its volume, but that the other part can touch."""
        return any(len(mesh._mended.hanging) for mesh in (self.a, self.b))

    @property
    def trees(self) -> MeshPair:
        """The pair of bounding volume hierarchies."""
        return MeshPair.of(self.a, self.b, self.m)


_CHORDS = 64  #: the number of faces of an intersection at which chords start
_MOST_SAMPLES = 4000  #: the largest number of sample points of a surface
LOOKED_AT = 65536  #: the largest number of pairs of intersecting faces that are examined


def shared_depth(pair: BodyPair, shared: Overlap | None) -> tuple[float, Array | None]:
    """Return a lower bound of the depth of the overlap of two parts, and the sample point that gives the bound.

    A point inside both parts is the centre of a ball in each part. The radius of a ball is the distance to the surface.
    A separating translation is at least as long as the sum of both radii. The sample points are on the surface of the
    intersection ``shared``, and a few are inside of it. If ``shared`` is None, the sample points are the points of each
    surface that are inside of the other part. A surface has no sample points if the other part is open.
    """
    best: tuple[float, Array | None] = (0.0, None)
    if shared is not None:
        if len(shared.faces):
            middle = shared.vertices.mean(axis=0)[None]  # deep inside a ball, a block or a lens, but outside of a ring
            inside = holds(pair.a, middle) & holds(pair.b, pair.to_b(middle))
            best = _deepest(pair, np.concatenate([_spread(shared.vertices, shared.faces), middle[inside]]))
            # a bound far below the mean thickness suggests that the deepest points are not on the surface
            if best[0] < 0.25 * shared.volume / area(shared.vertices, shared.faces):
                points = _chord_middles(shared)
                points = points[holds(pair.a, points) & holds(pair.b, pair.to_b(points))]
                best = max(best, _deepest(pair, points), key=lambda item: item[0])
    else:
        candidates = [best]
        if pair.b.is_watertight:
            points = _spread(pair.a.vertices, pair.a.faces)
            candidates.append(_deepest(pair, points[holds(pair.b, pair.to_b(points))], of_a=False))
        if pair.a.is_watertight:
            points = pair.to_a(_spread(pair.b.vertices, pair.b.faces))
            candidates.append(_deepest(pair, points[holds(pair.a, points)], of_b=False))
        best = max(candidates, key=lambda item: item[0])
    error = ROUNDING * float(max(np.abs(pair.a.bounds).max(), np.abs(pair.bounds_b).max()))
    return max(0.0, best[0] - error), best[1]


def _deepest(pair: BodyPair, points: Array, of_a: bool = True, of_b: bool = True) -> tuple[float, Array | None]:
    if not len(points):
        return 0.0, None
    radius = np.zeros(len(points))
    if of_a:
        radius += nearest_points(pair.a, points)[0]
    if of_b:
        radius += nearest_points(pair.b, pair.to_b(points))[0]
    k = int(np.argmax(radius))
    return float(radius[k]), points[k]


def _crosses(corners: Array) -> Array:
    """Return the normals of triangles with the corners (n, 3, 3). Their lengths are twice the areas."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def area(vertices: Array, faces: Ints) -> float:
    """Return the area of triangles."""
    return float(0.5 * np.linalg.norm(_crosses(vertices[faces]), axis=1).sum())


def _chord_middles(shared: Overlap) -> Array:
    """Return the middles of inward chords that start at the largest faces of an intersection, (k, 3)."""
    first, edge_1, edge_2 = np.moveaxis(shared.vertices[shared.faces], 1, 0)
    edge_1, edge_2 = edge_1 - first, edge_2 - first
    cross = np.cross(edge_1, edge_2)
    area = np.linalg.norm(cross, axis=1)
    points = []
    for k in np.argsort(-area, kind="stable")[:_CHORDS]:
        if not area[k] > 0.0:
            break
        start, inward = first[k] + (edge_1[k] + edge_2[k]) / 3.0, -cross[k] / area[k]
        # intersection of a ray with triangles (Möller and Trumbore 1997)
        side, offset = np.cross(inward, edge_2), start - first
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1.0 / np.einsum("ij,ij->i", edge_1, side)
            u = np.einsum("ij,ij->i", offset, side) * scale
            over = np.cross(offset, edge_1)
            v, t = over @ inward * scale, np.einsum("ij,ij->i", edge_2, over) * scale
            hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 1e-9 * np.sqrt(area[k]))
        if hit.any():
            points.append(start + 0.5 * t[hit].min() * inward)
    return np.array(points).reshape(-1, 3)


def _spread(vertices: Array, faces: Ints) -> Array:
    """Return the corners of faces and the middles of edges and faces, thinned evenly to `_MOST_SAMPLES` points."""
    corners = vertices[faces]
    middles = corners.mean(axis=1)
    edges = 0.5 * (corners + np.roll(corners, 1, axis=1))
    points = np.concatenate([middles, vertices[np.unique(faces)], edges.reshape(-1, 3)])
    if len(points) > _MOST_SAMPLES:
        points = points[np.unique(np.linspace(0, len(points) - 1, _MOST_SAMPLES).astype(np.int64))]
    return np.ascontiguousarray(points)


def touching(pair: BodyPair) -> tuple[Array | None, Array | None]:
    """Return the most central common point of two surfaces, and the unit vector from A to B, in the frame of A.

    Both are None if no faces intersect. The vector is None if the normals of the intersecting faces do not define it.
    """
    trees = pair.trees
    faces = trees.meeting_faces(LOOKED_AT)
    if not len(faces):
        return None, None
    out_a, out_b = _normals(pair.a, faces[:, 0]), pair.rotated(_normals(pair.b, faces[:, 1]))
    k = int(np.argmin((out_a * out_b).sum(axis=1)))  # the two faces whose normals are most opposite
    normal = out_a[k] - out_b[k]
    length = float(np.linalg.norm(normal))
    segments = trees.cut(LOOKED_AT)
    if len(segments):
        middles = segments.mean(axis=1)
        point = middles[int(np.argmin(((middles - middles.mean(axis=0)) ** 2).sum(axis=1)))]
    else:  # coplanar faces do not intersect in a segment
        bounds_a, bounds_b = pair.a.bounds, pair.bounds_b
        low, high = np.maximum(bounds_a[0], bounds_b[0]), np.minimum(bounds_a[1], bounds_b[1])
        point = nearest_points(pair.a, np.ascontiguousarray(0.5 * (low + high))[None])[1][0]
    return point, normal / length if length > 1e-6 else None


def _normals(mesh: Mesh, which: Ints) -> Array:
    normals = _crosses(mesh.vertices[mesh.faces[which]])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    units: Array = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
    return units if mesh.volume >= 0.0 else -units


# --- decisions -------------------------------------------------------------------------------------------------------


class Limit:
    """A tolerance, and the range ``low <= tolerance < high`` in which all comparisons so far have the same result."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.low, self.high = 0.0, inf

    def holds(self, length: float) -> bool:
        """Return whether a length is at most the tolerance."""
        if length <= self.value:
            self.low = max(self.low, length)
            return True
        if length > self.value:
            self.high = min(self.high, length)
        return False


def _least_depth(points: Array, outer: Mesh) -> float:
    """Return the least depth of points below the face planes of a convex solid, negative if a point is outside."""
    corners = outer.vertices[outer.skin.faces]
    normals = _crosses(corners)
    length = np.linalg.norm(normals, axis=1)
    # the normal of a sliver is a rounding error, and its neighbours have its corners
    size = float(np.ptp(outer.bounds, axis=0).max())
    good = length > 1e-12 * size * size
    normals = normals[good] / length[good, None]
    offsets = np.einsum("ij,ij->i", normals, corners[good, 0])
    return float((offsets - farthest(points, normals)[0]).min(initial=inf))


def is_same_part(pair: BodyPair, limit: Limit) -> bool:
    """Return whether both parts have equal areas, and each vertex is within ``limit`` of a vertex of the other part."""
    a, b = pair.a, pair.b
    if not limit.holds(float(np.abs(a.bounds - pair.bounds_b).max())):
        return False
    from scipy.spatial import cKDTree

    in_a, b_in_a = a._used, pair.to_a(b._used)
    most = 2.0 * limit.value + 1e-300  # larger distances are not computed
    for points, targets in ((in_a, b_in_a), (b_in_a, in_a)):
        gap, _ = cKDTree(targets).query(points, distance_upper_bound=most)
        if not limit.holds(min(float(gap.max()), most)):
            return False
    area_a, area_b = (area(mesh.vertices, mesh.faces) for mesh in (a, b))
    return abs(area_a - area_b) <= 1e-3 * area_a


def same_surface(pair: BodyPair, limit: Limit) -> bool:
    """Return whether both parts are closed, and each vertex is within ``limit`` of the surface of the other part."""
    a, b = pair.a, pair.b
    if not (a.is_watertight and b.is_watertight and limit.holds(float(np.abs(a.bounds - pair.bounds_b).max()))):
        return False
    queries = ((b, pair.to_b(a._used)), (a, pair.to_a(b._used)))
    return all(limit.holds(float(nearest_points(mesh, points)[0].max())) for mesh, points in queries)


def all_shared(a: Mesh, b: Mesh, volume: float | None, limit: Limit) -> bool:
    """Return whether the overlap is as large as each part, up to a layer as thick as ``limit`` on the surface.

    ``volume`` is the volume of the overlap. If it is None, the result is False.
    """
    return volume is not None and all(
        limit.holds(abs(abs(mesh.volume) - volume) / area(mesh.vertices, mesh.faces)) for mesh in (a, b)
    )


#: The fields of a `Clash` that a decision sets, in the frame of A. The other fields depend on the parts and the run.
DECIDED = (
    "kind", "distance", "depth", "mtv", "normal", "point_a", "point_b", "point", "overlap_volume", "overlap_box",
    "shape_a", "shape_b", "method", "distance_kind", "error_bound", "convex_gap", "penetration", "note",
)  # fmt: skip


def _clash(kind: str, **fields: Any) -> Clash:
    """Return a finding without its parts. By default it is exact and decided by triangles."""
    by_triangles = {"shape_a": "triangles", "shape_b": "triangles", "method": "triangles", "distance_kind": "exact"}
    return Clash("", kind, 0, "new", "", "", "", "", **(by_triangles | fields))


def unchecked(reason: str) -> Clash:
    """Return the finding of a pair or part that could not be checked."""
    return _clash("unchecked", method="", distance_kind="approximate", note=reason)


class Decider:
    """A solver that decides pairs of parts for one clearance and one tolerance.

    ``solids`` is a cache of the manifold3d solids of meshes, by the ``id()`` of the mesh. ``twice`` states whether two
    equal parts at one place are a duplicate. It is False for moving parts, whose poses may coincide for a moment.
    """

    def __init__(self, clearance: float, tolerance: float, solids: dict[int, Any], twice: bool = True) -> None:
        self.clearance, self.twice = clearance, twice
        self.limit = Limit(tolerance)
        self.corners: Array | None = None  #: vertices of the intersection of the last pair, (k, 3), in the frame of A
        self._solids = solids

    def solid(self, mesh: Mesh) -> Any:
        """Return the manifold3d solid of a mesh, or None if the mesh does not bound a solid."""
        if id(mesh) not in self._solids:
            self._solids[id(mesh)] = solid(mesh)
        return self._solids[id(mesh)]

    def decide(self, a: Mesh, b: Mesh, hulls: Distance, m: Array = SAME_FRAME) -> Clash | None:
        """Return the finding of a pair in the frame of A, or None for a free pair.

        ``hulls`` is the signed distance of the convex hulls, and ``m`` is the pose row of B in the frame of A.
        """
        self.corners = None
        # the bodies of a part are united, because inner walls are not surface and overlaps must not count twice
        a, b = union_of(a).mesh, union_of(b).mesh
        pair = BodyPair(a, b, SAME_FRAME if np.array_equal(m, SAME_FRAME) else m)
        twins = self.twice and is_same_part(pair, self.limit)
        slack = a._convex_slack + b._convex_slack
        convex = self.limit.holds(10.0 * slack)
        if convex:
            clash = self._convex(pair, hulls, slack)
        else:
            clash = self._any(pair, hulls)
        if clash is None:
            return None
        if clash.kind in ("hard", "contained") and (a.is_watertight or b.is_watertight):
            clash = replace(clash, penetration=deepest_inside(pair.trees))
        if not twins:
            is_one_solid = self.twice and clash.kind == "hard" and same_surface(pair, self.limit)
            # convex solids with all vertices on the surface of the other are equal, and other solids may have dents
            if is_one_solid and (convex or all_shared(a, b, clash.overlap_volume, self.limit)):
                return replace(
                    clash, kind="duplicate", note=joined("equal solids with different triangles", clash.note)
                )
            return clash
        return replace(clash, kind="duplicate", method="equal", note=joined("equal parts at one place", clash.note))

    def _kind(self, distance: float) -> str | None:
        if not self.limit.holds(-distance):
            return "hard"
        if self.limit.holds(distance):
            return "touch"
        # rounding may make a gap smaller that was drawn as wide as the clearance
        return None if self.limit.holds(self.clearance - distance) else "clearance"

    def _convex(self, pair: BodyPair, hulls: Distance, slack: float) -> Clash | None:
        distance, normal = float(hulls.distance), np.asarray(hulls.normal)
        first, second = np.asarray(hulls.point_a), np.asarray(hulls.point_b)
        kind, depth = self._kind(distance), max(0.0, -distance)
        if kind is None:
            return None
        clash = _clash(
            kind,
            distance=distance,
            depth=depth,
            mtv=vector(depth * normal) if depth > 0.0 else None,
            normal=vector(normal),
            point_a=vector(first),
            point_b=vector(second),
            point=vector(0.5 * (first + second)),
            shape_a="hull",
            shape_b="hull",
            method="epa" if depth > 0.0 else "gjk",
            error_bound=float(hulls.upper - hulls.lower) + slack,
            convex_gap=0.0,
        )
        if kind == "hard":
            for points, outer, text in (
                (pair.to_b(pair.a.hull().points), pair.b, "A is inside B"),
                (pair.to_a(pair.b.hull().points), pair.a, "B is inside A"),
            ):
                if not self.limit.holds(_least_depth(points, outer)):
                    clash = replace(clash, kind="contained", note=text)
            clash = self._with_volume(clash, self._overlap(pair))
        return clash

    def _any(self, pair: BodyPair, hulls: Distance) -> Clash | None:
        trees = pair.trees
        if trees.surfaces_meet():
            return self._meeting(pair)
        inner = trees.held()
        if inner is not None:
            return self._inside(pair, inner.by)
        most = max(self.clearance, self.limit.value)
        gap = trees.gap(most)
        if gap is None:
            self.limit.high = min(self.limit.high, float(np.nextafter(most, inf)))
            return None
        point_a, point_b = gap.row[6:9], gap.row[9:12]
        separation = point_b - point_a
        distance = float(np.linalg.norm(separation))
        kind = self._kind(distance)
        if kind is None:
            return None
        return _clash(
            kind,
            distance=distance,
            depth=0.0,
            normal=vector(separation / distance) if distance > 0.0 else None,
            point_a=vector(point_a),
            point_b=vector(point_b),
            point=vector(0.5 * (point_a + point_b)),
            error_bound=gap.upper - gap.lower,
            convex_gap=max(0.0, distance - float(hulls.distance)),
            note=_hollow(pair.a, pair.b),
        )

    def _meeting(self, pair: BodyPair) -> Clash:
        """Return the finding of a pair with intersecting surfaces, "hard" or "touch" by the depth of the overlap."""
        shared, hollow = self._overlap(pair), _hollow(pair.a, pair.b)
        least, place = shared_depth(pair, shared)
        solids_alone = shared is not None and not pair.any_hanging
        if not solids_alone and self.limit.holds(least) and not self.limit.holds(pair.trees.through(LOOKED_AT)):
            point, normal = touching(pair)
            note = joined("the surfaces intersect with an unknown depth", hollow)
            return _clash(
                "hard", normal=_or_none(normal), point=_or_none(point), distance_kind="approximate", note=note
            )
        if not self.limit.holds(least):
            clash = self._overlapping("hard", pair, least, place)
            return self._with_volume(replace(clash, method="triangles" if shared is None else "boolean"), shared)
        point, normal = touching(pair)
        where = _or_none(point)
        return _clash(
            "touch",
            distance=-least + 0.0,
            depth=least,
            normal=_or_none(normal),
            point_a=where if least == 0.0 else None,
            point_b=where if least == 0.0 else None,
            point=where,
            method="triangles" if shared is None else "boolean",
            distance_kind="exact" if shared is not None and least == 0.0 else "approximate",
            # inf is replaced by the tolerance, which is the largest gap of a touch; a depth has no upper bound here
            error_bound=inf if least == 0.0 else None,
            note=hollow,
        )

    def _inside(self, pair: BodyPair, holder: int) -> Clash:
        """Return the finding of a pair with disjoint surfaces, where a body of one part is inside the other part.

        ``holder`` is 1 if part A contains a body of B, and otherwise part B contains a body of A.
        """
        outer, points, text = (
            (pair.a, pair.to_a(pair.b._body_points), "B is inside A")
            if holder == 1
            else (pair.b, pair.to_b(pair.a._body_points), "A is inside B")
        )
        wholly = bool(holds(outer, points).all())
        clash = self._overlapping("contained" if wholly else "hard", pair, 0.0, None)
        note = text if wholly else text.replace("is", "has a body that is", 1)
        return self._with_volume(replace(clash, method="inside", note=note), self._overlap(pair))

    def _overlapping(self, kind: str, pair: BodyPair, least: float, place: Array | None) -> Clash:
        """Return a finding with bounds of the depth from `gjk3d.signed_distance`.

        ``least`` is another lower bound of the depth, and ``place`` is the point of the intersection that gives it, or
        None. The larger lower bound is used. ``least`` may be larger, because points of the intersection can be deeper
        in both parts than vertices.
        """
        deep = depth(pair.trees)
        least = max(least, deep.least)
        place = deep.place if place is None else place
        half = 0.5 * deep.most * deep.normal
        exact = self.limit.holds(1e3 * (deep.most - least))
        return _clash(
            kind,
            distance=-deep.most,
            depth=deep.most,
            mtv=vector(deep.most * deep.normal),
            normal=vector(deep.normal),
            point_a=vector(place + half),
            point_b=vector(place - half),
            point=vector(place),
            distance_kind="exact" if exact else "bound",
            error_bound=max(0.0, deep.most - least),
        )

    def _overlap(self, pair: BodyPair) -> Overlap | None:
        first, second = self.solid(pair.a), self.solid(pair.b)
        return None if first is None or second is None else intersection(first, second, pair.m)

    def _with_volume(self, clash: Clash, shared: Overlap | None) -> Clash:
        if shared is None or not shared.volume > 0.0:
            return clash
        self.corners = shared.vertices
        return replace(clash, overlap_volume=shared.volume, point=vector(shared.vertices.mean(axis=0)))


def _hollow(a: Mesh, b: Mesh) -> str:
    opened = [name for name, mesh in (("A", a), ("B", b)) if not mesh.is_watertight]
    if not opened:
        return ""
    verb, pronoun = ("is", "it") if len(opened) == 1 else ("are", "them")
    return f"{' and '.join(opened)} {verb} not closed: parts inside {pronoun} are not detected"


def _or_none(values: Array | None) -> Vector | None:
    return None if values is None else vector(values)


def vector(values: Any) -> Vector:
    """Return three Python floats. A negative zero becomes 0."""
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z


def joined(first: str, second: str) -> str:
    """Return two notes as one text, separated by a semicolon. An empty note is left out."""
    return "; ".join(text for text in (first, second) if text)


#: The number of pairs in the first batch and in the largest batch. A batch is twice as large as the batch before it, so
#: the first findings are reported early.
_FIRST, _MOST = 4, 1024
_LOT = 64  #: the largest number of pairs in a task of a cluster


class Query(NamedTuple):
    """The indices of two shapes, the pose row of the second shape in the frame of the first, and the limits."""

    a: int
    b: int
    row: Array
    reach: float  #: largest distance that is reported
    tolerance: float


QueryOf = Callable[[int], Query]  #: returns a query by its number


class Decision(NamedTuple):
    """The finding of a pair for all tolerances ``low <= tolerance < high``. ``clash`` is None for a free pair.

    ``corners`` (k, 3) are the vertices of the intersection in the frame of A, or None if it is unknown. They define
    `Clash.overlap_box` for any pose of A.
    """

    clash: Clash | None
    corners: Array | None = None
    low: float = 0.0
    high: float = inf


class Decisions:
    """A solver for pairs of shapes with one clearance. ``most`` is the largest `Query.reach` of all queries."""

    def __init__(self, shapes: Sequence[Mesh], clearance: float, most: float) -> None:
        self._shapes = tuple(shapes)
        self._clearance, self._most = clearance, most
        self._solids: dict[int, Any] = {}  # a cache for later pairs

    def __reduce__(self) -> Any:
        return type(self), (self._shapes, self._clearance, self._most)

    def hulls(self, queries: Sequence[Query], workers: int = 1) -> list[Distance[Any] | None]:
        """Return for each query the signed distance of the hulls, or None if it exceeds `Query.reach`."""
        poses = np.tile(np.eye(4), (2 * len(queries), 1, 1))
        poses[1::2] = matrices(np.array([query.row for query in queries]))
        pairs = Pairs([self._shapes[k].hull() for query in queries for k in (query.a, query.b)])
        numbers = np.arange(len(poses)).reshape(-1, 2)
        answer = pairs.signed_distance(numbers, poses, max_distance=self._most, workers=workers)
        reach = np.array([query.reach for query in queries])
        near = (answer.status != Status.BEYOND) & ~(answer.lower > reach)
        return [answer[k] if near[k] else None for k in range(len(queries))]

    def decide(self, row: tuple[Query, Distance[Any]]) -> Decision:
        """Return the decision of a pair of shapes. ``row`` has the query and the signed distance of the hulls."""
        query, hulls = row
        decider = Decider(self._clearance, query.tolerance, self._solids)
        try:
            clash = decider.decide(self._shapes[query.a], self._shapes[query.b], hulls, query.row[:12])
            corners = decider.corners
        except Exception as error:  # an error of one pair must not stop the run, and it is reported
            clash, corners = unchecked(f"{type(error).__name__}: {error}"), None
        return Decision(clash, corners, decider.limit.low, decider.limit.high)

    def lot(self, queries: Sequence[Query]) -> list[Decision | None]:
        """Return the decision of each query, or None if its hulls are farther apart than `Query.reach`."""
        return [
            None if hulls is None else self.decide((query, hulls))
            for query, hulls in zip(queries, self.hulls(queries), strict=True)
        ]

    def run_here(self, query_of: QueryOf, count: int, workers: int, threads: Aside) -> Iterator[Decision | None]:
        """Yield the decision of each of ``count`` queries in order, computed by threads of this process.

        Distant pairs give None, as in `lot`. Pairs are decided in batches, so the memory does not grow with ``count``.
        """
        for start, stop in _lots(count, _MOST):
            queries = [query_of(k) for k in range(start, stop)]
            shapes = sorted({k for query in queries for k in (query.a, query.b)})
            for _ in threads.map(lambda k: self._shapes[k].hull(), shapes):  # a mesh caches its hull
                pass
            answers = threads.run(self.hulls, queries, workers)
            near = [(query, hulls) for query, hulls in zip(queries, answers, strict=True) if hulls is not None]
            due = threads.map(self.decide, near)
            for hulls in answers:
                yield None if hulls is None else next(due)[1]

    @classmethod
    def run_there(cls, query_of: QueryOf, count: int, cluster: Aside) -> Iterator[Decision | None]:
        """Yield the decision of each of ``count`` queries in order, computed by a cluster.

        Distant pairs give None, as in `lot`.
        """
        lots = (Pickled([query_of(k) for k in range(start, stop)]) for start, stop in _lots(count, _LOT))
        for _, decided in cluster.map(cls.lot, lots):
            yield from decided


def _lots(count: int, most: int) -> Iterator[tuple[int, int]]:
    start, size = 0, _FIRST
    while start < count:
        stop = min(start + size, count)
        yield start, stop
        start, size = stop, min(2 * size, most)
