"""Contacts of two shapes: `contact` returns points on both surfaces and their normals."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast, overload

import numpy as np

from gjk3d.convex.batch import Rows, Wanted, answers_of, empty_answers
from gjk3d.convex.checks import check_workers
from gjk3d.convex.contacts import FacesOfTwo, faces_of_two, patch_points, sheets_for
from gjk3d.convex.solve import core_row
from gjk3d.engine.dispatch import Collider, find
from gjk3d.errors import ShapeError
from gjk3d.narrow import manifold
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.manifold import FEW_POINTS, MAX_POINTS
from gjk3d.narrow.solve import PairRows
from gjk3d.poses import STANDING, as_matrices, plainly
from gjk3d.query.pair import distance_prepared, new_tuple, prepare_query, prepared, prepared_for_builtins
from gjk3d.query.single import Prepared, thread_scratch
from gjk3d.results import Answer, Distance, compared
from gjk3d.shapes.base import Kind
from gjk3d.typing import Array, Ints, N, Pose, PoseLike, UnclearPose
from gjk3d.wording import count, format_vector

if TYPE_CHECKING:
    from gjk3d.bodies.contact import ContactPair, Touching
    from gjk3d.results import Each


_ONE_NORMAL = 1.0 - 1e-12  #: cosine of the greatest angle, 1.4e-6 rad, between normals that count as equal


#: a function that returns the signed distance of one row of a stack, or of all rows for None; it is called when the
#: distance is read, because the depth of non-convex bodies takes longer than all contact points
LazyDistance: TypeAlias = Callable[[int | None], Distance[Any]]


@compared("normal", "normals", "points_a", "points_b", "gaps", "count", "result")
class Contact(Answer[N]):
    """Result of `contact`, for one pair or for n.

    Attributes
    ----------
    normal : (3,) float or (n, 3) float
        Unit vector from A to B in world axes, the normal of `signed_distance`.
    normals : (count, 3) float or (n, most, 3) float
        Normal at each point. All points of two convex shapes have the same normal. For non-convex bodies it is the
        normal of the two parts that touch at the point.
    points_a, points_b : (count, 3) float or (n, most, 3) float
        Points on the surfaces in world axes, in order along the border of the patch. ``points_b - points_a == gaps *
        normals``. In a stack each row has ``count`` points, and NaN up to the common length ``most``. ``contact[k]``
        has no NaN.
    gaps : (count,) float or (n, most) float
        Gap between the surfaces at each point, along the normal. Overlap is negative.
    count : int or (n,) int
        Number of points. It is 0 if the distance of the pair exceeds ``within``.
    result : Distance
        The signed distance of the pair. For non-convex bodies it is computed at the first access to ``result`` or to a
        field that depends on it, because the depth takes longer than the points.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> poses = np.tile(np.eye(4), (3, 1, 1)); poses[:, 2, 3] = (1, 1.5, 2.5)
    >>> touch = gk.contact(gk.Box((2, 2, 2)), gk.Sphere(0.5), None, poses)
    >>> touch.count.tolist(), touch[1].points.tolist()
    ([1, 1, 0], [[0.0, 0.0, 1.0]])
    >>> first = touch[0]
    >>> first.status, first.normal.tolist(), first.normals.shape
    (<Status.OVERLAPPING: 2>, [0.0, 0.0, 1.0], (1, 3))
    >>> first.points_a.tolist(), first.points_b.tolist(), first.gaps.tolist()
    ([[0.0, 0.0, 1.0]], [[0.0, 0.0, 0.5]], [-0.5])
    >>> first.lower <= first.distance <= first.upper
    True
    >>> first.result.depth
    0.5
    """

    _normals: Array | None
    if TYPE_CHECKING:
        count: Each[int, Ints] = Each()
    else:  # a slot would not be a descriptor to type checkers
        __slots__ = ("_normals", "_points", "_result", "count")
    _points: Array  #: (count, 7) or (n, most, 7): the point on A, the point on B, and the gap
    _result: Distance[N] | LazyDistance

    def __init__(
        self, result: Distance[N] | LazyDistance, points: Array, count: Any, normals: Array | None = None
    ) -> None:
        self._result, self._points, self.count, self._normals = result, points, count, normals

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.result, self._points, self.count, self._normals)

    @property
    def result(self) -> Distance[N]:
        """The signed distance of the pair; for non-convex bodies it is computed at the first access."""
        result: Any = self._result  # read only once, because another thread may replace it
        if callable(result):
            self._result = result = result(None)
        return cast("Distance[N]", result)

    @property
    def points_a(self) -> Array:
        """The points on A in world axes, (count, 3) float or (n, most, 3) float; NaN after the last point of a row."""
        return self._points[..., :3]

    @property
    def points_b(self) -> Array:
        """The points on B in world axes, (count, 3) float or (n, most, 3) float; NaN after the last point of a row."""
        return self._points[..., 3:6]

    @property
    def gaps(self) -> Array:
        """Gap between the surfaces at each point, (count,) float or (n, most) float; NaN after a row's last point."""
        return self._points[..., 6]

    @property
    def normal(self) -> Array:
        """Unit vector from A to B in world axes, (3,) float or (n, 3) float."""
        return self.result.normal

    @property
    def normals(self) -> Array:
        """Unit vectors from A to B at the points, (count, 3) or (n, most, 3) float; NaN after a row's last point."""
        if self._normals is None:
            alike = np.broadcast_to(self.normal[..., None, :], self.points_a.shape)
            return np.where(np.isnan(self.points_a), np.nan, alike)
        return self._normals

    @property
    def patches(self) -> list[Ints]:
        """Arrays of point indices, one for each patch of points that share a normal. The deepest patch is first.

        Convex shapes have one patch or none. Non-convex bodies have one patch for each contact direction.

        Examples
        --------
        >>> import gjk3d as gk
        >>> shelf = gk.Compound([(gk.Box((3, 3, 1)), None), (gk.Box((1, 3, 3)), None)])
        >>> pose = [(1, 0, 0, 1), (0, 1, 0, 0), (0, 0, 1, 1), (0, 0, 0, 1)]
        >>> touch = gk.contact(shelf, gk.Box((1, 1, 1)), None, pose, max_points=None)
        >>> [touch.normals[patch[0]].tolist() for patch in touch.patches]
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
        """
        if self.gaps.ndim == 2:
            raise TypeError("this Contact is of many pairs. Use contact[k].patches for one of them")
        left = np.argsort(self.gaps, kind="stable")
        patches = []
        while len(left):
            alike = self.normals[left] @ self.normals[left[0]] > _ONE_NORMAL
            patches.append(np.sort(left[alike]))
            left = left[~alike]
        return patches

    @property
    def points(self) -> Array:
        """The midpoints of ``points_a`` and ``points_b``, (count, 3) float or (n, most, 3) float."""
        return 0.5 * (self.points_a + self.points_b)

    @property
    def distance(self) -> N:
        """Signed distance of the pair, see `Distance`. For convex shapes it is the smallest gap."""
        return self.result.distance

    @property
    def lower(self) -> N:
        """Lower bound of the signed distance."""
        return self.result.lower

    @property
    def upper(self) -> N:
        """Upper bound of the signed distance."""
        return self.result.upper

    @property
    def status(self) -> Any:
        """Status proven by the bounds. For a pair without points it is BEYOND or SEPARATED."""
        return self.result.status

    def __len__(self) -> int:
        if self.gaps.ndim == 1:
            raise TypeError("this Contact is of one pair, and len() needs a stack. Use .count for its number of points")
        return len(self.gaps)

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a Contact is ambiguous. Use gjk3d.collide or .count")

    def __getitem__(self, index: int) -> Contact[float]:
        """Return a row of a stack as the contact of one pair, without padding."""
        if self.gaps.ndim == 1:
            raise TypeError(
                "this Contact is of one pair and cannot be indexed. Use its fields, for example contact.points"
            )
        result: Any = self._result
        count = int(self.count[index])
        normals = None if self._normals is None else self._normals[index, :count]
        row = (lambda _: result(index)) if callable(result) else result[index]
        return Contact(row, self._points[index, :count], count, normals)

    def __repr__(self) -> str:
        if self.gaps.ndim == 2:
            return f"Contact of {count(len(self), 'pair')}, {count(int(self.count.sum()), 'point')}"
        points = count(self.count, "point")
        return f"Contact: {self.status.name.lower()}, {points} along {format_vector(self.normal, 4)}"


@overload
def contact(
    a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, within: float = 0.0,
    max_points: int | None = FEW_POINTS, workers: int = 1,
) -> Contact[Any]: ...  # fmt: skip
@overload
def contact(
    a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose, *, within: float = 0.0,
    max_points: int | None = FEW_POINTS, workers: int = 1,
) -> Contact[Any]: ...  # fmt: skip
@overload
def contact(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, within: float = 0.0,
    max_points: int | None = FEW_POINTS, workers: int = 1,
) -> Contact[float]: ...  # fmt: skip
@overload
def contact(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, within: float = 0.0,
    max_points: int | None = FEW_POINTS, workers: int = 1,
) -> Contact[Array]: ...  # fmt: skip
def contact(
    a: Collider,
    b: Collider,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    within: float = 0.0,
    max_points: int | None = FEW_POINTS,
    workers: int = 1,
) -> Contact[Any]:
    """Return the contact of two shapes that touch or overlap: a normal, and points on both surfaces.

    The two supporting faces are projected along the normal, and the projections are intersected. The points are the
    corners of this intersection at which the gap is at most ``within``. An edge on a face or along an edge gives two
    points. All other pairs of features give one point.

    For a non-convex body the result has the points of all parts that touch, and each point has the normal of its two
    parts. The parts of a mesh are its triangles. A triangle of a closed mesh pushes the other body out of the mesh,
    along the outward normal of the triangle. Triangles whose translation is longer than a known translation that
    separates the bodies are ignored. If this would ignore all triangles, none is ignored.

    The normal of a point is normal to both surfaces. At a flat or concave edge between parts it is the normal of a
    face. At a convex edge it is between the normals of the two faces. Thus all normals on a level plane of many
    triangles or boxes are vertical. Points without such a normal are removed. If no point has one, all points
    are kept. If two closed meshes cross, a normal may be normal to only one of them. ``patches`` groups the points by
    their normal.

    If the surfaces do not intersect, for example because one body contains the other, or if every normal leads into a
    body, the result has the one point of `signed_distance`. It need not be on the surfaces. For a half-space the convex
    hull of a body is used. The depth of non-convex bodies takes longer than the points. It is computed at the first
    access to a field that needs it: ``result``, ``normal``, ``distance``, ``lower``, ``upper`` or ``status``.

    Parameters
    ----------
    a, b : Shape, Mesh or the like
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.
    within : float
        Greatest distance, at least 0, at which a pair still has points. The points of a separated pair have positive
        gaps. Faces that coincide to 1e-9 of the pair's size touch everywhere.
    max_points : int or None
        Greatest number of points of a pair, up to 65536. None keeps all points. For convex shapes the corners that
        contribute least to the area of the patch are removed, but never the deepest point. For non-convex bodies the
        deepest point is kept first. Then follow points with nearly the same normal, each the farthest from all points
        kept so far, and then points of other patches.
    workers : int
        Number of threads for a stack. The results have the same bits for any number.

    Returns
    -------
    Contact
        ``count`` is 0 if the distance exceeds ``within``. In that case the distance has only a lower bound.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        For invalid input; the message names the fault. Valid input never raises.

    References
    ----------
    Gregorius: Robust contact creation for physics simulations, GDC 2015.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[:3, 3] = (0.5, 0, 1)
    >>> touch = gk.contact(gk.Box((2, 2, 1)), gk.Box((2, 2, 1)), None, pose)
    >>> touch
    Contact: touching, 4 points along (0, 0, 1)
    >>> sorted(touch.points.tolist())
    [[-0.5, -1.0, 0.5], [-0.5, 1.0, 0.5], [1.0, -1.0, 0.5], [1.0, 1.0, 0.5]]
    """
    # arguments that need no further check take the fast path; every other value is checked below
    if (
        workers == 1 and type(within) is float and within >= 0.0
        and (max_points is None or (type(max_points) is int and 0 < max_points <= MAX_POINTS))
    ):  # fmt: skip
        at_once = _quick_contact(a, b, pose_a, pose_b, within, max_points)
        if at_once is not None:
            return at_once
    check_patches(within, max_points)
    check_workers(workers)
    contact_points, rows = prepare_query("contact", a, b, pose_a, pose_b)
    rows = rows._replace(workers=workers)
    within = float(within)
    if contact_points is None:
        pair = prepared_for_builtins(a, b)
        distance = distance_prepared(pair, a, b, narrow.SIGNED, pose_a, pose_b, within, workers=workers)
        points, count = _patches(_pack(prepared(a, b), a, b), rows, distance, within, max_points)
        return Contact(distance, points, count) if rows.stacked else Contact(distance, points[0], int(count[0]))
    answers, flags = empty_answers(rows.total)
    # the points of two shapes do not need the depth, except on a half-space
    mode = narrow.SIGNED if (a._kind | b._kind) & Kind.PLANES else narrow.UNSIGNED
    find("solve", a, b)(a, b, rows, Wanted(mode, within, normals=False), answers, flags)
    # copies, because the caller may overwrite the poses
    poses = tuple(None if pose is None else as_matrices(pose).copy() for pose in (pose_a, pose_b))
    result = _lazy_distance(a, b, poses, within, workers)
    touching = contact_points(a, b, rows, answers, within, max_points, _contact_pair(prepared(a, b), a, b))
    columns = 0 if max_points is None or not rows.stacked else int(max_points)
    points, count, normals = pad_points(touching, rows.total, columns)
    if rows.stacked:
        return Contact(result, points, count, normals)
    return Contact(result, points[0, : count[0]], int(count[0]), normals[0, : count[0]])


def check_patches(within: Any, max_points: Any) -> None:
    """Raise ShapeError unless `contact` accepts ``within`` and ``max_points``."""
    if not isinstance(within, Real) or not float(within) >= 0.0:
        raise ShapeError(f"contact: within is {within!r}, expected one number, at least 0")
    if max_points is not None and (
        isinstance(max_points, bool) or not isinstance(max_points, Integral) or not 1 <= int(max_points) <= MAX_POINTS
    ):
        raise ShapeError(f"contact: max_points is {max_points!r}, expected 1 to {MAX_POINTS}, or None for all points")


_ANSWER = 1, narrow.FLOATS


class _Packed(NamedTuple):
    ints: Ints
    floats: Array
    pair: Ints  #: a pair row for single poses, see `gjk3d.narrow.solve`
    faces: FacesOfTwo


def _pack(pair: Prepared, a: Any, b: Any) -> _Packed:
    """Return two convex shapes as arrays for the contact kernels, created at the first call."""
    packed: _Packed | None = pair.extras.get("contact")
    if packed is None:
        packed = pair.extras["contact"] = _Packed(*core_row(a, b)[:3], faces_of_two(a, b))
    return packed


def _quick_contact(a: Any, b: Any, pose_a: Any, pose_b: Any, within: float, most: int | None) -> Contact[float] | None:
    """Return the contact of a prepared pair at two single poses; None if the general path has to compute it."""
    pair = prepared(a, b)
    ma, mb = STANDING if pose_a is None else plainly(pose_a), STANDING if pose_b is None else plainly(pose_b)
    if ma is None or mb is None:
        return None
    if pair.words is None:
        contacts = _contact_pair(pair, a, b)
        rows = None if contacts is None else contacts.points(a, b, ma, mb, within, most)
        if rows is None:
            return None
        # copies, because the caller may overwrite the poses, and the rows may be a part of a large array
        poses = None if pose_a is None else ma.copy(), None if pose_b is None else mb.copy()
        points, normals = rows[:, : manifold.POINT].copy(), rows[:, manifold.POINT :].copy()
        return Contact(_lazy_distance(a, b, poses, within, 1), points, len(rows), normals)
    packed = _pack(pair, a, b)
    faces = packed.faces
    width = faces.capacity if most is None or most > faces.capacity else most
    out, points, scratch = np.empty(_ANSWER), np.empty(width * manifold.POINT), thread_scratch()
    shapes = new_tuple(PairRows, (packed.ints, packed.floats, packed.pair, scratch.poses))
    limits = new_tuple(manifold.PatchLimits, (within, width))
    marks, count = manifold.contact_once(
        shapes, ma, mb, limits, scratch.workspace, out, scratch.flags, faces.lists,
        sheets_for(faces.capacity), points,
    )  # fmt: skip
    # the general path solves pairs with bounds wider than promised, unless the distance exceeds `within`
    if marks & 24 != 8 and (marks & 23 != narrow.BEYOND or marks < 0):
        return None
    result: Distance[float] = object.__new__(Distance)
    result._row = (
        out, marks, a, b, (narrow.SIGNED, within, None, False),
        None if pose_a is None else ma.tobytes(), None if pose_b is None else mb.tobytes(),
    )  # fmt: skip
    return Contact(result, points[: count * manifold.POINT].reshape(count, manifold.POINT), count)


def _contact_pair(pair: Prepared, a: Any, b: Any) -> ContactPair | None:
    """Return the `ContactPair` of a pair with a non-convex body; None if only the general path supports the pair."""
    if pair.quick is None:
        return None
    contacts: ContactPair | None = pair.extras.get("contact")
    if contacts is None:
        contacts = pair.extras["contact"] = find("prepare_contact", a, b)(a, b)
    return contacts


def _lazy_distance(a: Any, b: Any, poses: tuple[Any, ...], within: float, workers: int) -> LazyDistance:
    """Return the function that computes the signed distance. ``poses`` are copies of the caller's poses."""

    def compute(index: int | None) -> Distance[Any]:
        first, second = poses
        if index is not None:
            first, second = (None if m is None else m if m.ndim == 2 else m[index if len(m) > 1 else 0] for m in poses)
        pair = prepared_for_builtins(a, b)
        return distance_prepared(pair, a, b, narrow.SIGNED, first, second, within, workers=workers)

    return compute


def pad_points(touching: list[Touching], total: int, columns: int) -> tuple[Array, Ints, Array]:
    """Return the points of ``total`` pairs, (total, m, 7), the number of points of each pair, and their normals.

    The normals are (total, m, 3). Rows are padded with NaN to m points. m is ``columns``, or the number of points of
    the longest row if this is more.
    """
    count = np.zeros(total, dtype=np.int64)
    for group in touching:
        count[group.which] = group.counts
    width = max(columns, int(count.max(initial=0)))
    points, normals = np.empty((total, width, manifold.POINT)), np.empty((total, width, 3))
    points.fill(np.nan)
    normals.fill(np.nan)
    for group in touching:
        counts = group.counts
        row, column = group.which.repeat(counts), np.arange(len(group.points))
        column -= (counts.cumsum() - counts).repeat(counts)
        points[row, column] = group.points[:, : manifold.POINT]
        normals[row, column] = group.points[:, manifold.POINT :]
    return points, count, normals


def _patches(packed: _Packed, rows: Rows, result: Distance[Any], within: float, most: int | None) -> tuple[Array, Ints]:
    """Return contact points, (n, m, 7), padded with NaN in a stack, and the number of points in each row."""
    row = packed.pair.copy()
    row[0, 4], row[0, 8], row[0, 9] = len(rows.a) > 1, len(rows.a), len(rows.b) > 1
    pairs = PairRows(packed.ints, packed.floats, row, rows.joined_poses())
    answers, limit = answers_of(result, rows.total), None if most is None else int(most)
    points, count = patch_points(pairs, packed.faces, answers, within, limit, rows.workers)
    return points if rows.stacked else points[:, : count[0]], count
