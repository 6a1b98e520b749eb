"""The intersection of two shapes as a polytope or mesh, the mesh faces that touch, and the Minkowski difference.

The Minkowski difference A - B is the set of all differences of a point of A and a point of B. GJK and EPA run on it.
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from gjk3d.bodies.base import in_order
from gjk3d.bodies.body_pair import BodyPair, MeshPair
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.parts import Triangles
from gjk3d.convex.batch import in_chunks
from gjk3d.convex.checks import check_workers
from gjk3d.engine.dispatch import Collider
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.exact.convex_sets import body_of
from gjk3d.geometry.hulls import FACE_ANGLE
from gjk3d.geometry.intersection import Facets, Walls, bevels, corners, facets_of, shared_volume
from gjk3d.geometry.points import farthest
from gjk3d.geometry.polygon import connected
from gjk3d.narrow import manifold
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.cores import relative_pose, support_once
from gjk3d.poses import moved, relative
from gjk3d.query.pair import collide_prepared, distance_prepared, prepare_query, prepared_for_builtins
from gjk3d.results import Distance
from gjk3d.shapes import layout, measure
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.composed import Composed, Rounded
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Ints, OnePose, Pose, PoseLike, UnclearPose
from gjk3d.wording import count, kind_of

# --- faces of meshes -------------------------------------------------------------------------------------------------


def polylines(segments: Array, tolerance: float) -> list[Array]:
    """Return the polylines (k, 3) that segments (n, 2, 3) form, longest first.

    Segments are joined at ends that coincide within the tolerance. Polylines end where three or more segments meet. A
    closed polyline ends at its first point.
    """
    if not len(segments):
        return []
    place, points = _places(segments.reshape(-1, 3), tolerance)
    ends = place.reshape(-1, 2)
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    segments_at: dict[int, list[int]] = {}
    for k, (i, j) in enumerate(ends.tolist()):
        segments_at.setdefault(i, []).append(k)
        segments_at.setdefault(j, []).append(k)
    used = np.zeros(len(ends), dtype=bool)
    lines = []
    # lines with ends first; the remaining segments form rings
    for start in [*(i for i in segments_at if len(segments_at[i]) != 2), *segments_at]:
        for k in segments_at[start]:
            if not used[k]:
                lines.append(points[_follow(start, k, ends, segments_at, used)])
    return sorted(lines, key=lambda line: -float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()))


def _follow(start: int, k: int, ends: Ints, segments_at: dict[int, list[int]], used: Array) -> list[int]:
    """Return the point indices of the polyline from point ``start`` along segment ``k`` to a junction or an end."""
    line = [start]
    while True:
        used[k] = True
        i, j = ends[k].tolist()
        line.append(j if line[-1] == i else i)
        if line[-1] == start or len(segments_at[line[-1]]) != 2:
            return line
        k = next(n for n in segments_at[line[-1]] if n != k)


def _places(points: Array, tolerance: float) -> tuple[Ints, Array]:
    """Return the cluster index of each point, and a point of each cluster.

    Points within the tolerance of each other share a cluster.
    """
    from scipy.spatial import cKDTree

    near = cKDTree(points).query_pairs(tolerance, output_type="ndarray")
    place = connected(near[:, 0], near[:, 1], len(points))
    _, first = np.unique(place, return_index=True)
    return place, points[first]


def meeting_faces(a: Any, b: Any, pose_a: OnePose = None, pose_b: OnePose = None) -> Ints:
    """Return the pairs of faces of two meshes that touch or cross, or the faces of a mesh that a shape touches.

    Parameters
    ----------
    a, b : Mesh or Shape
        At least one of them a mesh.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.

    Returns
    -------
    (k, 2) int
        Each row has the index of a face of A and the index of a face of B. The rows are in ascending order. The index
        is 0 for a shape that is not a mesh.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        For invalid input: no mesh among the two, an invalid pose, a stack of poses, or meshes in two units.

    Notes
    -----
    Pairs that may touch within rounding are included, so no touching pair is missed. Degenerate faces count as segments
    or points.

    Examples
    --------
    >>> import gjk3d as gk
    >>> flat = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1, 2)])
    >>> upright = gk.Mesh([(0.5, 0.5, -1), (0.5, 0.5, 1), (0.5, 3, 0)], [(0, 1, 2)])
    >>> gk.meeting_faces(flat, upright).tolist()
    [[0, 0]]
    """
    pair, swapped, _ = _ordered_pair(a, b, pose_a, pose_b)
    faces = _faces_of(pair, pair.meeting(), 0)[:, :: -1 if swapped else 1]
    return faces[np.lexsort((faces[:, 1], faces[:, 0]))]


@overload
def intersection_curve(
    a: Mesh, b: Mesh, pose_a: OnePose = None, pose_b: OnePose = None, *, join: Literal[False] = False
) -> Array: ...
@overload
def intersection_curve(
    a: Mesh, b: Mesh, pose_a: OnePose = None, pose_b: OnePose = None, *, join: bool
) -> Array | list[Array]: ...
def intersection_curve(
    a: Mesh, b: Mesh, pose_a: OnePose = None, pose_b: OnePose = None, *, join: bool = False
) -> Array | list[Array]:
    """Return the intersection of the surfaces of two meshes as segments.

    Parameters
    ----------
    a, b : Mesh
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.
    join : bool
        Return polylines instead.

    Returns
    -------
    (k, 2, 3) float, or list of (n, 3) float
        The two ends of each segment, in world axes. Coplanar faces do not give a segment. With ``join`` the longest
        polyline is first, and a closed polyline ends at its first point.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        As `meeting_faces`, and if one of the arguments is not a mesh.

    Examples
    --------
    >>> import gjk3d as gk
    >>> flat = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1, 2)])
    >>> upright = gk.Mesh([(0.5, 0.5, -1), (0.5, 0.5, 1), (0.5, 3, 0)], [(0, 1, 2)])
    >>> gk.intersection_curve(flat, upright).tolist()
    [[[0.5, 1.5, 0.0], [0.5, 0.5, 0.0]]]
    """
    pair, _, row = _ordered_pair(a, b, pose_a, pose_b, "curve")
    placed = moved(row, pair.cut())
    if not join:
        return placed
    # both faces of an edge compute its intersection with a face, with different rounding
    return polylines(placed, 1e4 * pair.error)


def nearest_faces(a: Any, b: Any, pose_a: OnePose = None, pose_b: OnePose = None) -> tuple[int, int]:
    """Return the faces with the nearest points of two meshes, or a pair of intersecting faces if there is one.

    Parameters
    ----------
    a, b : Mesh or Shape
        At least one of them a mesh.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.

    Returns
    -------
    (int, int)
        Index of a face of A and index of a face of B. The index is -1 for a shape that is not a mesh.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        As `meeting_faces`.

    Examples
    --------
    >>> import gjk3d as gk
    >>> strip = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 1, 0), (2, 1, 0)], [(0, 1, 2), (1, 3, 2)])
    >>> gk.nearest_faces(strip, gk.Sphere(0.5), None, [(1, 0, 0, 3), (0, 1, 0, 1), (0, 0, 1, 0), (0, 0, 0, 1)])
    (1, -1)
    """
    pair, swapped, _ = _ordered_pair(a, b, pose_a, pose_b)
    touching = pair.meeting(0.0, 64) if isinstance(pair, MeshPair) else pair.meeting()
    parts = touching[:1] if len(touching) else np.array([pair.nearest().parts])
    i, j = _faces_of(pair, parts, -1)[0].tolist()
    return (j, i) if swapped else (i, j)


def _ordered_pair(a: Any, b: Any, pose_a: Any, pose_b: Any, query: str = "faces") -> tuple[Any, bool, Array]:
    """Return the pair in the order of the kernels, whether A and B are swapped, and the pose row of the first shape."""
    pair_of, rows = prepare_query(query, a, b, pose_a, pose_b)
    if rows.stacked:
        raise ShapeError(
            "the poses are a stack, but this query takes one pair of poses. Pass single poses, for example pose_a[0]"
        )
    swapped = not in_order(a, b, rows.a[0], rows.b[0])
    if swapped:
        a, b, rows = b, a, rows.swapped()
    return pair_of(a, b, relative(rows.a[0], rows.b[0])), swapped, rows.a[0]


def _faces_of(pair: BodyPair, parts: Ints, shape_index: int) -> Ints:
    """Return the face indices (k, 2) of k pairs of tree leaves; ``shape_index`` for a shape that is not a mesh."""
    faces = [
        side.tree.order[parts[:, k]]
        if isinstance(side, Triangles)
        else np.full(len(parts), shape_index, dtype=np.int64)
        for k, side in enumerate((pair.a, pair.b))
    ]
    return np.column_stack(faces)


# --- Minkowski difference --------------------------------------------------------------------------------------------


#: up to this number of vertex pairs all differences are computed; above it A - B is sampled along `_DIRECTIONS`
MOST = 50_000
_DIRECTIONS = measure.sphere(1.0, 54).vertices
_support: Any = support_once  # a kernel, called from Python


class Difference:
    """The Minkowski difference A - B of the cores, which are the shapes without their radii, in world axes."""

    def __init__(self, result: Distance) -> None:
        a, b = result.shape_a, result.shape_b
        _, rows = prepare_query("solve", a, b, result.pose_a, result.pose_b)
        (_, fa), (_, fb) = self._packed = a._packed, b._packed
        self._m = relative_pose(rows.a[0], fa, rows.b[0], fb)
        self.turn: Array = rows.a[0, :9].reshape(3, 3).copy()  #: rotation from A's axes, as in a trace, to world axes
        self.center: Array = self.turn @ fa[layout.CENTER : layout.CENTER + 3] + rows.a[0, 9:12]
        self.radii = float(fa[layout.RADIUS]), float(fb[layout.RADIUS])
        self.size = float(fa[layout.RHO] + fb[layout.RHO] + sum(self.radii) + np.linalg.norm(self._m[9:]))
        #: rotation of each core's frame to world axes, and its centre relative to A's
        self.frames = (
            (self.turn, np.zeros(3)),
            (self.turn @ np.reshape(self._m[:9], (3, 3)), self.axes(np.array(self._m[9:]))),
        )
        #: vertices of each core in world axes, relative to A's centre; None for curved cores and sums
        self.corners = _corners(a, *self.frames[0]), _corners(b, *self.frames[1])
        first, second = self.corners
        #: whether `core` returns a sampled surface, as for curved shapes
        self.sampled = first is None or second is None or len(first) * len(second) > MOST

    def axes(self, vectors: Array) -> Array:
        """Return directions or points of A - B in world axes. ``vectors`` are in A's axes, as in `Distance.trace`."""
        return np.asarray(vectors, dtype=np.float64) @ self.turn.T

    def place(self, points: Array) -> Array:
        """Return points of A or B in the world. ``points`` are in A's axes about A's centre, as in `Distance.trace`."""
        return self.axes(points) + self.center

    def support(self, direction: Array) -> Array:
        """Return the support point of A - B along a direction in world axes."""
        (qa, fa), (qb, fb) = self._packed
        return self.axes(_support(qa, fa, qb, fb, self._m, tuple((self.turn.T @ direction).tolist()))[0])

    def between(self) -> tuple[Array, str]:
        """Return the first support direction of GJK, in A's axes, and its description in words."""
        shift = np.array(self._m[9:])
        if not shift.any():
            return np.array([1.0, 0.0, 0.0]), "A's x axis because both frames have one origin"
        return shift / np.linalg.norm(shift), "the line from the origin of A's frame to that of B's"

    def core(self) -> tuple[Array, Ints]:
        """Return the vertices and faces of the difference of the cores. A segment and a point have no faces."""
        first, second = self.corners
        if not self.sampled and first is not None and second is not None:
            return _hull((first[:, None] - second[None]).reshape(-1, 3))
        return _hull(np.array([self.support(d) for d in _DIRECTIONS]))

    def whole(self) -> tuple[Array, Ints]:
        """Return vertices and faces of the difference of the shapes with their radii. Round surfaces are sampled."""
        if sum(self.radii) == 0.0:
            return self.core()
        return _hull(np.array([self.support(d) + sum(self.radii) * d for d in _DIRECTIONS]))


def _corners(shape: Shape, turn: Array, center: Array) -> Array | None:
    """Return the vertices of the core, rotated by ``turn`` and moved so that its centre is at ``center``.

    Return None for curved cores and sums.
    """
    ints, floats = shape._packed
    if not ints[layout.POLYTOPE]:
        return None
    vertices = getattr(shape, "vertices", None)
    if vertices is None or floats[layout.RADIUS] > 0.0:
        body = body_of(shape)
        if body is None or body.curved or len(body.terms) != 1 or len(body.terms[0].sets) != 1:
            return None
        vertices = [[float(x / body.scale) for x in p] for p in body.terms[0].sets[0]]
    return np.asarray((np.asarray(vertices) - floats[layout.CENTER : layout.CENTER + 3]) @ turn.T + center)


def _hull(points: Array) -> tuple[Array, Ints]:
    middle = points.mean(axis=0)
    hull = ConvexHull(points - middle)
    surface = hull.surface()
    return np.asarray(surface.vertices) + middle, np.asarray(surface.faces, dtype=np.int64)


# --- intersection ----------------------------------------------------------------------------------------------------


@overload
def overlap(
    a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, workers: int = 1
) -> Any: ...
@overload
def overlap(a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose, *, workers: int = 1) -> Any: ...
@overload
def overlap(
    a: Shape, b: Shape, pose_a: Pose | None = None, pose_b: Pose | None = None, *, workers: int = 1
) -> ConvexHull | None: ...
@overload
def overlap(
    a: Shape, b: Shape, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, workers: int = 1
) -> list[ConvexHull | None]: ...
@overload
def overlap(
    a: Mesh, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, workers: int = 1
) -> Mesh | None: ...
@overload
def overlap(
    a: Mesh, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, workers: int = 1
) -> list[Mesh | None]: ...
@overload
def overlap(
    a: Shape, b: Mesh, pose_a: Pose | None = None, pose_b: Pose | None = None, *, workers: int = 1
) -> Mesh | None: ...
@overload
def overlap(
    a: Shape, b: Mesh, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, workers: int = 1
) -> list[Mesh | None]: ...
def overlap(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, workers: int = 1
) -> Any:
    """Return the intersection of two polytopes or closed meshes.

    Parameters
    ----------
    a, b : Shape or Mesh
        Boxes, hulls, tetrahedra, triangles, segments, points, and sums, unions and sweeps of these, but not rounded or
        curved shapes. A mesh must be closed. Overlapping bodies of one mesh are united first.
    pose_a, pose_b, workers
        As in `collide`.

    Returns
    -------
    ConvexHull, Mesh or None, or a list of these for a stack
        The intersection in world axes, a Mesh if one of the arguments is a mesh. None if and only if the shapes are
        proven to be separated, as in `collide`. ``volume`` and ``centroid`` of a hull are computed without its corners.

        The error of the corners of a hull is about 1e-12 of the pair's size. The intersection of shapes that touch, or
        overlap by less than the rounding error, is a flat polytope, a segment or a point. The intersection of meshes
        that touch has volume 0 and degenerate triangles.

    Raises
    ------
    UnsupportedPair
        For curved and rounded shapes, half-spaces, and bodies that are neither convex nor meshes.
    PoseError, ShapeError
        For invalid input, and for a mesh that does not bound a solid; the message names the fault.
    ImportError
        manifold3d, which intersects meshes, is not installed: ``pip install 'gjk3d[mesh]'``.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[:3, 3] = (0.5, 0.5, 0.75)
    >>> both = gk.overlap(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose)
    >>> round(both.volume, 12), both.centroid.tolist()
    (0.0625, [0.25, 0.25, 0.375])
    >>> cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    >>> both = gk.overlap(cube, cube, None, pose)
    >>> round(both.volume, 12), both.is_watertight
    (0.0625, True)
    """
    check_workers(workers)
    of_meshes, rows = prepare_query("overlap", a, b, pose_a, pose_b)
    if of_meshes is not None:
        meshes = _as_mesh(a, "a"), _as_mesh(b, "b")
        hits = np.atleast_1d(collide_prepared(prepared_for_builtins(a, b), a, b, pose_a, pose_b, 0.0, workers))
        made: list[Mesh | None] = [None] * rows.total
        which = np.flatnonzero(hits).tolist()

        def run(start: int, stop: int) -> None:
            for k in which[start:stop]:
                made[k] = of_meshes(*meshes, rows.a[k % len(rows.a)], rows.b[k % len(rows.b)])

        run(0, 1)  # the solids of both are cached before threads need them
        in_chunks(max(0, len(which) - 1), workers, lambda start, stop: run(start + 1, stop + 1), 1)
        return made if rows.stacked else made[0]
    first, second = _as_polytope(a, "a"), _as_polytope(b, "b")
    pair = prepared_for_builtins(a, b)
    if not rows.stacked and not collide_prepared(pair, a, b, pose_a, pose_b, 0.0):
        return None
    result = distance_prepared(pair, a, b, narrow.SIGNED, pose_a, pose_b, 0.0, workers=workers)
    if not rows.stacked:
        if result.lower > 0.0:
            return None
        return ConvexHull._later(_Intersection(first, second, rows.joined_poses(), result.point_a, result.point_b))
    hulls: list[ConvexHull | None] = [None] * rows.total
    for k in np.flatnonzero(result.lower <= 0.0).tolist():
        pose_pair = np.array((rows.a[k % len(rows.a)], rows.b[k % len(rows.b)]))
        hulls[k] = ConvexHull._later(_Intersection(first, second, pose_pair, result.point_a[k], result.point_b[k]))
    return hulls


class _Intersection(NamedTuple):
    """The intersection of two polytopes that touch or overlap, from which `overlap` makes a `ConvexHull`.

    The corners are computed when the vertices of the hull are first read.
    """

    a: Polytope
    b: Polytope
    rows: Array  #: their poses, (2, 13)
    point_a: Array  #: witness points
    point_b: Array

    def _middle(self) -> Array:
        return 0.5 * (self.point_a + self.point_b)

    def points(self) -> Array:
        """Return the corners of the intersection, or the middle of the witness points if it has no corners."""
        middle, a, b = self._middle(), _walls(self.a), _walls(self.b)
        if max(a.span, b.span) == 0.0:  # two points have no extent, and `corners` needs one
            return middle[None]
        # coordinates relative to a rounded point near the middle are small, and short numbers stay exact
        unit = 2.0 ** ceil(log2(max(a.span, b.span, 1e-300)))
        x, y, z = (round(number / unit) * unit for number in middle.tolist())
        points = corners(a, b, self.rows, (x, y, z), manifold.NEARLY_EQUAL)
        return points if len(points) else middle[None]

    def bulk(self) -> tuple[float, Array] | None:
        """Return the volume and the centroid, or None for flat shapes and thin intersections."""
        a, b = _facets(self.a), _facets(self.b)
        return None if a is None or b is None else shared_volume(a, b, self.rows, self._middle())


def _as_mesh(x: Any, name: str) -> Mesh:
    """Return a closed mesh unchanged, or the surface of a polytope as a mesh."""
    from gjk3d.bodies import solids
    from gjk3d.bodies.mesh import Mesh

    if not solids.available():
        raise ImportError(
            "overlap of meshes needs manifold3d, which is not installed. Run pip install 'gjk3d[mesh]', or pip install "
            "manifold3d"
        )
    if not isinstance(x, Mesh):
        hull = _as_polytope(x, name)._hull()
        if hull.dimension < 3:
            raise UnsupportedPair(
                f"overlap with a mesh takes polytopes with a volume, and {name} is flat. Use intersection_curve or "
                "raycast for flat shapes"
            )
        x = x._cached("mesh", lambda: Mesh(hull.vertices, hull.faces))
    if not x.is_watertight:
        raise ShapeError(
            f"overlap: {name} has {count(x.open_edges, 'open edge')}, so nothing is inside it. Close it in its source, "
            f"or pass {name}.hull()"
        )
    mesh: Mesh = x
    return mesh


def _as_polytope(shape: Any, name: str) -> Polytope:
    """Return the shape as a polytope; a composed shape becomes the hull of the vertices of its terms."""
    polytope: Any = shape
    while isinstance(polytope, Rounded) and polytope.radius == 0.0:
        polytope = polytope.core
    if isinstance(polytope, Composed) and polytope._rounding() == 0.0:
        polytope = polytope._polytope()
    if not isinstance(polytope, Polytope):
        many = isinstance(shape, Composed) and shape._packed[0][layout.POLYTOPE] and shape._rounding() == 0.0
        expected = f"a mesh or a polytope{' with fewer vertices' if many else ''}"
        raise UnsupportedPair(
            f"overlap: {name} is {kind_of(shape)}, expected {expected}. Pass "
            f"gjk3d.ConvexHull({name}.surface().vertices) for an approximation from inside"
        )
    return polytope


def _facets(shape: Polytope) -> Facets | None:
    return shape._cached("facets", lambda: facets_of(shape._hull()))


def _walls(shape: Polytope) -> Walls:
    """Return the edges and half-spaces of a polytope in its local frame."""
    if "walls" not in shape._cache:
        vertices, hull = np.ascontiguousarray(shape.vertices), shape._hull()
        normals = bevels(hull.vertices, *shape._gauss_map())
        # edges between coplanar faces are not needed: the edges of the whole face give the same corners
        ends = hull.edges[hull.angles > FACE_ANGLE] if hull.dimension else np.zeros((1, 2), dtype=np.int64)
        edges = hull.vertices[ends]
        planes = np.ascontiguousarray(np.column_stack([normals, farthest(vertices, normals)[0]]).T)
        shape._cache["walls"] = Walls(edges.reshape(-1, 6), planes, float(np.ptp(edges)))
    walls: Walls = shape._cache["walls"]
    return walls
