"""Where two shapes touch: a patch of points on both, along one normal."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from gjk3d.convex.checks import check_workers
from gjk3d.convex.patches import most_corners
from gjk3d.convex.rows import FIRST_POINTS, NO_CACHE, NO_LOG, Rows, Wanted, answers_of, empty_answers, in_chunks
from gjk3d.convex.solve import core_row
from gjk3d.errors import ShapeError
from gjk3d.narrow import manifold
from gjk3d.narrow import solve as narrow
from gjk3d.poses import STANDING, as_matrices, is_plain
from gjk3d.query.batch import prepare_query
from gjk3d.query.dispatch import Collider
from gjk3d.query.pair import distance_prepared, prepared, prepared_for_builtins
from gjk3d.query.single import Prepared, thread_scratch
from gjk3d.results import Answer, Distance
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Ints, N, Pose, PoseLike, UnclearPose

if TYPE_CHECKING:
    from gjk3d.bodies.contact import Touching
    from gjk3d.results import Each


_ONE_NORMAL = 1.0 - 1e-12  #: cosine of normals that are one, to a millionth


class LazyDistance:
    """A distance that is found when it is first read: that of all pairs, or of one.

    How deep what is not convex overlaps takes longer than all of its points of contact.
    """

    __slots__ = ("_find",)
    _find: Callable[[int | None], Distance[Any]]  #: given a row, or None for all

    def __init__(self, find: Callable[[int | None], Distance[Any]]) -> None:
        self._find = find

    def read(self) -> Distance[Any]:
        """Find it."""
        return self._find(None)

    def __getitem__(self, index: int) -> LazyDistance:
        return LazyDistance(lambda _: self._find(index))


class Contact(Answer[N]):
    """Answer of `contact`, for one pair or for n.

    Attributes
    ----------
    normal : (3,) float or (n, 3) float
        Unit vector from A to B in world axes, that of `signed_distance`.
    normals : (count, 3) float or (n, most, 3) float
        That of each point: of convex shapes all the same, of others each that of the parts it is between.
    points_a, points_b : (count, 3) float or (n, most, 3) float
        Points on the surfaces in world axes, in order round the patch; ``points_b - points_a == gaps * normals``. Of a
        stack each row has ``count`` of them, and NaN behind; ``contact[k]`` has no padding.
    gaps : (count,) float or (n, most) float
        How far apart the surfaces are at each point, along the normal; negative is overlap.
    count : int or (n,) int
        Points found; 0 where the two are farther apart than ``within``.
    result : Distance
        The signed distance of the pair. Where one is not convex it is found when it, or what is told of it here, is
        first read: how deep the two overlap takes longer than their points.

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
    _points: Array  #: (count, 7) or (n, most, 7): on A, on B, and the gap
    _result: Distance[N] | LazyDistance

    def __init__(
        self, result: Distance[N] | LazyDistance, points: Array, count: Any, normals: Array | None = None
    ) -> None:
        self._result, self._points, self.count, self._normals = result, points, count, normals

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.result, self._points, self.count, self._normals)

    @property
    def result(self) -> Distance[N]:
        """The signed distance of the pair; where one is not convex it is found when it is first read."""
        result = self._result  # looked at once, as another thread may read it, too
        if isinstance(result, LazyDistance):
            self._result = result = result.read()
        return result

    @property
    def points_a(self) -> Array:
        """The points on A in world axes, (count, 3) float or (n, most, 3) float; NaN behind a row's last."""
        return self._points[..., :3]

    @property
    def points_b(self) -> Array:
        """The points on B in world axes, (count, 3) float or (n, most, 3) float; NaN behind a row's last."""
        return self._points[..., 3:6]

    @property
    def gaps(self) -> Array:
        """How far apart the surfaces are at each point, (count,) float or (n, most) float; NaN behind a row's last."""
        return self._points[..., 6]

    @property
    def normal(self) -> Array:
        """Unit vector from A to B in world axes, (3,) float or (n, 3) float."""
        return self.result.normal

    @property
    def normals(self) -> Array:
        """Unit vector from A to B of each point, (count, 3) float or (n, most, 3) float; NaN behind a row's last."""
        if self._normals is None:
            alike = np.broadcast_to(self.normal[..., None, :], self.points_a.shape)
            return np.where(np.isnan(self.points_a), np.nan, alike)
        return self._normals

    @property
    def patches(self) -> list[Ints]:
        """Which points of one pair have one normal: numbers of points, by patch, that of the deepest point first.

        Convex shapes have one patch, or none; those of others are as many as the directions in which they touch.

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
            raise TypeError("this Contact is of many pairs: ask that of one, contact[k].patches")
        left = np.argsort(self.gaps, kind="stable")
        patches = []
        while len(left):
            alike = self.normals[left] @ self.normals[left[0]] > _ONE_NORMAL
            patches.append(np.sort(left[alike]))
            left = left[~alike]
        return patches

    @property
    def points(self) -> Array:
        """The middles between the points on A and on B, (count, 3) float or (n, most, 3) float."""
        return 0.5 * (self.points_a + self.points_b)

    @property
    def distance(self) -> N:
        """Signed distance of the pair, see `Distance`; of convex shapes also the least of the gaps."""
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
        """What the bounds prove about the pair; BEYOND, or SEPARATED, where there are no points."""
        return self.result.status

    def __len__(self) -> int:
        if self.gaps.ndim == 1:
            raise TypeError("this Contact is of one pair: its number of points is .count")
        return len(self.gaps)

    def __bool__(self) -> bool:
        raise TypeError("a Contact is neither true nor false: ask gjk3d.collide, or look at .count")

    def __getitem__(self, index: int) -> Contact[float]:
        """Return a row of a stack as the contact of one pair, without padding."""
        if self.gaps.ndim == 1:
            raise TypeError("this Contact is of one pair and cannot be indexed")
        result: Any = self._result
        count = int(self.count[index])
        normals = None if self._normals is None else self._normals[index, :count]
        return Contact(result[index], self._points[index, :count], count, normals)

    def __repr__(self) -> str:
        if self.gaps.ndim == 2:
            return f"Contact of {len(self)} pairs, {int(self.count.sum())} points"
        x, y, z = self.normal
        what = "1 point" if self.count == 1 else f"{self.count} points"
        return f"Contact: {self.status.name.lower()}, {what} along ({x:.4g}, {y:.4g}, {z:.4g})"


@overload
def contact(
    a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, within: float = 0.0,
    max_points: int | None = 4, workers: int = 1,
) -> Contact[Any]: ...  # fmt: skip
@overload
def contact(
    a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose, *, within: float = 0.0,
    max_points: int | None = 4, workers: int = 1,
) -> Contact[Any]: ...  # fmt: skip
@overload
def contact(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, within: float = 0.0,
    max_points: int | None = 4, workers: int = 1,
) -> Contact[float]: ...  # fmt: skip
@overload
def contact(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, within: float = 0.0,
    max_points: int | None = 4, workers: int = 1,
) -> Contact[Array]: ...  # fmt: skip
def contact(
    a: Collider,
    b: Collider,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    within: float = 0.0,
    max_points: int | None = 4,
    workers: int = 1,
) -> Contact[Any]:
    """Return where two shapes touch or overlap: one normal, and points on both surfaces.

    The points are the corners of the part of the two supporting faces that lies over each other along the normal, no
    farther apart there than ``within``. An edge on a face or along an edge gives two points, everything else one.

    What is not convex has the points of its parts that touch, each with the normal of its two parts; of a mesh the
    parts are its triangles, and of a closed one these push outwards. A triangle that pushes farther than a move which
    is known to free the two is left out, unless all do. A normal is one of both surfaces at its point: at a flat or
    concave edge between parts that of a face, at a convex edge one between those of its faces. So on level ground of
    many triangles or boxes all normals are vertical. Where two closed meshes cross, it may lean from those of the other
    mesh; where no normal is one of both surfaces, all points count. ``patches`` says which points share a normal.

    If the surfaces do not meet, as where one body holds the other, there is the one point of `signed_distance`. A
    half-space touches the convex hull of a body. The depth of the overlap takes longer to compute. It is computed when
    ``result`` is first read, or ``normal``, ``distance``, its bounds or ``status``.

    Parameters
    ----------
    a, b : Shape, Mesh or the like
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.
    within : float
        At least 0: a pair up to this far apart still has its points, with positive gaps. Faces that lie on each other
        to 1e-9 of the pair's size touch everywhere.
    max_points : int or None
        Most points of a pair, up to 65536; the corners that make up the least of the patch's area are left out, never
        the deepest. Of what is not convex the deepest is kept, and of the points that look nearly along its normal
        those farthest from all that are kept. Points of other patches follow when there are no more of these. None
        keeps all.
    workers : int
        Threads for a stack; the answers are the same bits for any number.

    Returns
    -------
    Contact
        With ``count`` 0 where the pair is farther apart than ``within``; there the distance is only known to exceed it.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        Naming what is wrong with the input; valid input never raises.

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
    if (
        workers == 1 and type(within) is float and within >= 0.0
        and (max_points is None or (type(max_points) is int and 0 < max_points <= MAX_POINTS))
    ):  # fmt: skip
        at_once = _quick_contact(a, b, pose_a, pose_b, within, max_points)
        if at_once is not None:
            return at_once
    check_patches(within, max_points)
    check_workers(workers)
    handlers, rows = prepare_query(a, b, pose_a, pose_b)
    rows = rows._replace(workers=workers)
    within = float(within)
    if isinstance(a, Shape) and isinstance(b, Shape):
        pair = prepared_for_builtins(a, b)
        distance = distance_prepared(pair, a, b, narrow.SIGNED, pose_a, pose_b, within, workers=workers)
        points, count = _patches(_pack(prepared(a, b), a, b), rows, distance, within, max_points)
        return Contact(distance, points, count) if rows.stacked else Contact(distance, points[0], int(count[0]))
    answers, flags = empty_answers(rows.total)
    mode = narrow.UNSIGNED if depth_comes_later(a, b) else narrow.SIGNED
    handlers.solve(a, b, rows, Wanted(mode, within, normals=False), answers, flags)
    result = _lazy_distance(a, b, pose_a, pose_b, rows, within)
    points, count, normals = _of_bodies(a, b, rows, answers, within, max_points)
    if rows.stacked:
        return Contact(result, points, count, normals)
    return Contact(result, points[0, : count[0]], int(count[0]), normals[0, : count[0]])


MAX_POINTS = 1 << 16  #: results of a stack have so many columns


def check_patches(within: Any, max_points: Any) -> None:
    """Raise unless both are what `contact` takes."""
    if not isinstance(within, Real) or not float(within) >= 0.0:
        raise ShapeError(f"contact: within is {within!r}, expected one number, at least 0")
    if max_points is not None and (
        isinstance(max_points, bool) or not isinstance(max_points, Integral) or not 1 <= int(max_points) <= MAX_POINTS
    ):
        raise ShapeError(f"contact: max_points is {max_points!r}, expected 1 to {MAX_POINTS}, or None for all")


_ANSWER = 1, narrow.FLOATS


class _Packed(NamedTuple):
    """A pair as the kernels take it."""

    ints: Ints
    floats: Array
    pair: Ints  #: a pair row for single poses, see `gjk3d.narrow.pairs`
    faces: tuple[Ints, Array, Ints]  #: those of both, and where those of A begin, then those of B
    corners: tuple[int, ...]  #: what room both features take,
    plane: tuple[int, ...]  #: and polygons
    room: int  #: most points of a patch


def _pack(pair: Prepared, a: Any, b: Any) -> _Packed:
    """Return two shapes as the kernels take them, made when it is first asked for."""
    packed: _Packed | None = pair.extras.get("contact")
    if packed is None:
        ints, floats, row, _ = core_row(a, b)
        (lq_a, lf_a), (lq_b, lf_b) = a._faces(), b._faces()
        faces = np.concatenate([lq_a, lq_b]), np.concatenate([lf_a, lf_b]), np.array([[0, 0], [len(lq_a), len(lf_a)]])
        most = most_corners(a), most_corners(b)
        capacity = sum(most) + 4
        packed = pair.extras["contact"] = _Packed(
            ints, floats, row, faces, (2, max(most), 3), (3, capacity, 2), capacity
        )
    return packed


def _quick_contact(a: Any, b: Any, pose_a: Any, pose_b: Any, within: float, most: int | None) -> Contact[float] | None:
    """Answer what is one question of two plain matrices; None where it takes the long way."""
    pair = prepared(a, b)
    if not (pair.words is not None and (pose_a is None or is_plain(pose_a)) and (pose_b is None or is_plain(pose_b))):
        return None
    packed = _pack(pair, a, b)
    width = packed.room if most is None or most > packed.room else most
    out, points, scratch = np.empty(_ANSWER), np.empty(width * manifold.POINT), thread_scratch()
    marks, count = manifold.contact_once(
        packed.ints, packed.floats, packed.pair, STANDING if pose_a is None else pose_a,
        STANDING if pose_b is None else pose_b, scratch.poses, within, width, scratch.work, scratch.table, FIRST_POINTS,
        out, scratch.flags, NO_CACHE, NO_LOG, *packed.faces, scratch.buffer("corners", packed.corners),
        scratch.buffer("plane", packed.plane), points,
    )  # fmt: skip
    # what is wider than promised goes the long way, unless all that was asked is that it is far
    if marks & 24 != 8 and (marks & 23 != narrow.BEYOND or marks < 0):
        return None
    result: Distance[float] = object.__new__(Distance)
    result._row = (
        out, marks, a, b, (narrow.SIGNED, within, None, False),
        None if pose_a is None else pose_a.tobytes(), None if pose_b is None else pose_b.tobytes(),
    )  # fmt: skip
    return Contact(result, points[: count * manifold.POINT].reshape(count, manifold.POINT), count)


def depth_comes_later(a: Any, b: Any) -> bool:
    """Tell whether contacts of two are found without their depth: it is quick of a half-space, whose points need it."""
    return not (isinstance(a, Halfspace) or isinstance(b, Halfspace))


def _lazy_distance(a: Any, b: Any, pose_a: Any, pose_b: Any, rows: Rows, within: float) -> LazyDistance:
    """Return the signed distances of two at poses; copies, as the caller may move on in the same array."""
    poses = [None if pose is None else as_matrices(pose).copy() for pose in (pose_a, pose_b)]

    def find(index: int | None) -> Distance[Any]:
        first, second = poses
        if index is not None:
            first, second = (None if m is None else m if m.ndim == 2 else m[index if len(m) > 1 else 0] for m in poses)
        pair = prepared_for_builtins(a, b)
        return distance_prepared(pair, a, b, narrow.SIGNED, first, second, within, workers=rows.workers)

    return LazyDistance(find)


def _of_bodies(
    a: Any, b: Any, rows: Rows, answers: Array, within: float, most: int | None
) -> tuple[Array, Ints, Array]:  # fmt: skip
    """Do as `_patches` does where one is not convex; with a normal for each point."""
    from gjk3d.bodies.contact import contact_points  # loaded where there is a mesh or the like

    touching = list(contact_points(a, b, rows, answers, within, most))
    return pad_points(touching, rows.total, None if most is None or not rows.stacked else int(most))


def pad_points(touching: list[Touching], total: int, columns: int | None) -> tuple[Array, Ints, Array]:
    """Return points and normals of several pairs with NaN behind, in so many columns or as many as it takes."""
    count = np.zeros(total, dtype=np.int64)
    for group in touching:
        count[group.which] = group.counts
    width = int(count.max(initial=0)) if columns is None else columns
    points, normals = np.full((total, width, manifold.POINT), np.nan), np.full((total, width, 3), np.nan)
    for group in touching:
        ends = np.cumsum(group.counts)
        row, column = np.repeat(group.which, group.counts), np.arange(len(group.points))
        column -= np.repeat(ends - group.counts, group.counts)
        points[row, column] = group.points[:, : manifold.POINT]
        normals[row, column] = group.points[:, manifold.POINT :]
    return points, count, normals


def _patches(packed: _Packed, rows: Rows, result: Distance[Any], within: float, most: int | None) -> tuple[Array, Ints]:
    """Return (n, m, 7) points, padded with NaN, and how many each row has."""
    row = packed.pair.copy()
    row[0, 4], row[0, 8], row[0, 9] = len(rows.a) > 1, len(rows.a), len(rows.b) > 1
    width = packed.room if most is None else min(int(most), packed.room)
    answers = answers_of(result, rows.total)
    poses = rows.joined_poses()
    count = np.empty(rows.total, dtype=np.int64)
    parts: dict[int, Array] = {}

    def run(start: int, stop: int) -> None:
        points = np.full((stop - start, width, manifold.POINT), np.nan)
        manifold.contact_rows(
            packed.ints, packed.floats, *packed.faces, row, poses, answers, within, width, start, stop,
            np.empty(packed.corners), np.empty(packed.plane), points, count,
        )  # fmt: skip
        parts[start] = points[:, : count[start:stop].max(initial=0)] if most is None else points

    in_chunks(rows.total, rows.workers, run)
    if len(parts) == 1 and not rows.stacked:
        return parts[0][:, : count[0]], count
    columns = int(count.max(initial=0)) if most is None else int(most)
    points = np.full((rows.total, columns, manifold.POINT), np.nan)
    for start, part in parts.items():
        points[start : start + len(part), : part.shape[1]] = part
    return points, count
