"""What queries return, and the laws that every answer obeys.

The sign law: ``normal`` is a unit vector from A to B, also in overlap; ``point_b - point_a == distance * normal``;
``distance < 0`` means overlap by that depth, and moving B by ``depth * normal`` makes the two just touch.
The bound law: ``lower <= true value <= upper``, whatever made the solver stop.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, SupportsIndex, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.shown import shown
from gjk3d.typing import Array, Bools, Ints, N
from gjk3d.wording import told


class Answer(Generic[N]):
    """What an answer is to type checkers: ``[float]`` of one pair, ``[NDArray[np.float64]]`` of n, bare of either."""

    __slots__: tuple[str, ...] = ()
    _repr_mimebundle_ = shown


if TYPE_CHECKING:
    One = TypeVar("One")
    Many = TypeVar("Many")

    class Each(Generic[One, Many]):
        """A field that is one thing of one pair, and another of n."""

        @overload
        def __get__(self, answer: Answer[float], owner: Any) -> One: ...
        @overload
        def __get__(self, answer: Answer[Array], owner: Any) -> Many: ...
        @overload
        def __get__(self, answer: Any, owner: Any) -> Any: ...
        def __get__(self, answer: Any, owner: Any) -> Any: ...
        def __set__(self, answer: Any, value: Any) -> None: ...


class Status(IntEnum):
    """What the bounds of an answer prove about the pair."""

    SEPARATED = 0  #: apart: lower > 0
    TOUCHING = 1  #: the interval holds 0 and is as narrow as rounding allows
    OVERLAPPING = 2  #: upper < 0, or a common point is proven
    UNDECIDED = 3  #: the interval holds 0 and is wider, as a loose ``tol`` leaves it
    BEYOND = 4  #: farther than ``max_distance``, proven; the search stopped there

    def __str__(self) -> str:
        return self.name


class AxisKind(IntEnum):
    """What a separating axis is a normal of."""

    FACE_A = 0  #: a face of A
    FACE_B = 1  #: a face of B
    EDGES = 2  #: an edge of A and an edge of B
    POINTS = 3  #: none: both are points, and it is the line between them

    def __str__(self) -> str:
        return self.name


class Axis(NamedTuple, Generic[N]):
    """Answer of `separating_axis`, for one pair or for n.

    Attributes
    ----------
    normal : (3,) float or (n, 3) float
        Unit vector from A to B in world axes.
    gap : float or (n,) float
        Of the two shapes along the normal; negative is overlap.
    error : float or (n,) float
        Bound on the rounding error of the gap.
    kind : AxisKind or (n,) int
        What the normal is a normal of.
    status : Status or (n,) int
        SEPARATED, TOUCHING or OVERLAPPING; proven but for TOUCHING, which is within the error.

    Examples
    --------
    >>> import gjk3d as gk
    >>> axis = gk.separating_axis(gk.Box((2, 2, 2)), gk.Point((3, 0, 0)))
    >>> axis
    Axis: separated, gap 2 along (1, 0, 0), a face of A
    >>> low, high = axis.bounds
    >>> bool(low <= 2 <= high)
    True
    """

    normal: Array
    gap: N
    error: N
    kind: Any
    status: Any

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return shown(self)

    @property
    def bounds(self: Axis[Any]) -> tuple[Any, Any]:
        """The least and the greatest gap that the error leaves: two of float or (n,) float."""
        return np.nextafter(self.gap - self.error, -np.inf), np.nextafter(self.gap + self.error, np.inf)

    def __repr__(self) -> str:
        if self.normal.ndim == 2:
            return f"Axis of {len(self.normal)} pairs"
        x, y, z = self.normal + 0.0
        what = ("a face of A", "a face of B", "an edge of A and an edge of B", "two points")[self.kind]
        gap = told(*self.bounds, 9)
        return f"Axis: {self.status.name.lower()}, gap {gap} along ({x:.4g}, {y:.4g}, {z:.4g}), {what}"


class GjkStep(NamedTuple):
    """One turn of GJK's loop, in A's frame about its core's centre."""

    direction: Array  #: (3,) unit, in which the support was asked: from the simplex towards the origin
    support_a: Array  #: (3,) support point of A
    support_b: Array  #: (3,) support point of B along the opposite direction
    bound: float  #: lower bound of the cores' distance that this direction proves
    lower: float  #: the best lower bound so far
    upper: float  #: distance of the simplex from the origin
    simplex: Array  #: (k, 3) vertices of A - B kept before the new one joined
    simplex_a: Array  #: (k, 3) their points on A
    simplex_b: Array  #: (k, 3) their points on B
    weights: Array  #: (k,) barycentric coordinates of the simplex' nearest point


class EpaStep(NamedTuple):
    """One expansion of EPA's polytope, in A's frame about its core's centre."""

    vertices: Array  #: (n, 3) points of A - B
    faces: NDArray[np.int64]  #: (m, 3) the polytope before the step
    closest: NDArray[np.int64]  #: (3,) the face looked at
    direction: Array  #: (3,) unit, in which the support was asked
    point: Array  #: (3,) the new point of A - B
    support_a: Array
    support_b: Array
    removed: NDArray[np.int64]  #: (r, 3) faces that the new point sees; empty at the last step
    horizon: NDArray[np.int64]  #: (h, 2) the edges round them
    lower: float  #: bounds of the cores' signed distance
    upper: float
    vertices_a: Array  #: (n, 3) the points of A that the vertices are made of
    vertices_b: Array  #: (n, 3) their points of B


class Trace:
    """Every step of one query, as the compiled kernels logged it.

    Attributes
    ----------
    gjk : list of GjkStep
    gjk_end : str
        Why GJK stopped.
    simplex : (k, 3) float
        GJK's last simplex, with ``simplex_weights``, and its points of A and of B in ``simplex_a`` and ``simplex_b``.
    epa : list of EpaStep
        Empty where EPA was not needed.
    """

    __slots__ = ("epa", "gjk", "gjk_end", "simplex", "simplex_a", "simplex_b", "simplex_weights")

    def __init__(self) -> None:
        self.gjk: list[GjkStep] = []
        self.gjk_end = ""
        self.simplex: Array = np.empty((0, 3))
        self.simplex_a: Array = np.empty((0, 3))
        self.simplex_b: Array = np.empty((0, 3))
        self.simplex_weights: Array = np.empty(0)
        self.epa: list[EpaStep] = []

    def __repr__(self) -> str:
        return f"Trace: {len(self.gjk)} steps of GJK ({self.gjk_end}), {len(self.epa)} of EPA"


class Certificate(NamedTuple):
    """What proves an answer: the last state of the kernels, which `gjk3d.verify` checks in exact arithmetic.

    All is about cores: of a sphere its centre, of a capsule its segment; the radii are taken off both bounds.

    Attributes
    ----------
    kind : str
        "weights": a convex combination of pairs of points is a vector of A - B, so the shapes are no farther apart
        than it is long. "surface": triangles of points of A - B, closed round the origin, so that the shapes overlap
        at least as deep as the surface is away from it. "section": the polygon of a solid of revolution proves the
        depth, and is not kept. "plane": the support point towards a half-space. The last two carry the lower bound
        only.
    normal : (3,) float
        Unit vector from A to B in world axes. The shapes are at least as far apart, or at most as deep in each other,
        as their support points along it say.
    support_a, support_b : (3,) float
        Those support points, each in its own shape's frame; of a half-space the foot of the other one.
    points_a, points_b : (k, 3) float
        Pairs of points of the cores, each in its own shape's frame, where the vertices of a polytope are exact.
    weights : (k,) float
        Of the pairs, at least 0; of kind "weights".
    faces : (m, 3) int
        Triangles of pairs, all wound one way; of kind "surface".
    directions : (k, 3) float
        From A to B in world axes, in which each pair was asked for, 0 where that was not noted. They prove nothing,
        and save time where curved cores have to be shown to hold their points.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.distance(gk.Sphere(1), gk.Point((3, 0, 0)), certificate=True).certificate
    Certificate: normal (1, 0, 0), weights of 1 pairs of points
    """

    kind: str
    normal: Array
    support_a: Array
    support_b: Array
    points_a: Array
    points_b: Array
    weights: Array
    faces: NDArray[np.int64]
    directions: Array

    def __repr__(self) -> str:
        x, y, z = self.normal
        what = {
            "weights": f"weights of {len(self.weights)} pairs of points",
            "surface": f"a closed surface of {len(self.faces)} triangles of {len(self.points_a)} points",
        }.get(self.kind, f"{self.kind}, no upper bound")
        return f"Certificate: normal ({x:.4g}, {y:.4g}, {z:.4g}), {what}"


class PartsCertificate(NamedTuple):
    """What proves an answer about what is not convex, part by part; `gjk3d.verify` checks it in exact arithmetic.

    Parts are numbered as they are given: those of a mesh are its faces, of a cloud its points, of a compound the parts
    and the faces of its meshes one behind the other, of a grid the boxes that its cubes make. A convex shape is one.

    Attributes
    ----------
    order_a, order_b : (n,) int
        All parts of each, those of a group behind each other.
    ranges : (k, 4) int
        Pairs of groups: where the one begins and ends in ``order_a``, the other in ``order_b``. Each part of A is with
        each part of B in one of them. None, where ``lower`` is 0 and needs no proof.
    normals : (k, 3) float
        Of each two groups a direction from A to B in world axes, along which they are at least ``lower`` apart. Where
        that is negative, a depth, they are apart after B is moved by it along the answer's normal, or out of all sides
        on which the two touch.
    parts : (2,) int
        A part of A and one of B that are no farther apart than ``upper``, or so deep in each other. Empty where a point
        deep in a closed surface shows that, which is looked for again.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 3
    >>> two = gk.Compound([(gk.Sphere(1), None), (gk.Sphere(1), pose)])
    >>> gk.distance(two, gk.Point((1.25, 0, 0)), certificate=True).certificate
    PartsCertificate: 2 planes between groups of parts, nearest parts 0 and 0
    """

    order_a: NDArray[np.int64]
    order_b: NDArray[np.int64]
    ranges: NDArray[np.int64]
    normals: Array
    parts: NDArray[np.int64]

    def __repr__(self) -> str:
        near = f"nearest parts {self.parts[0]} and {self.parts[1]}" if len(self.parts) == 2 else "no nearest parts"
        return f"PartsCertificate: {len(self.ranges)} planes between groups of parts, {near}"


def _many(pose: Any) -> bool:
    """Tell whether poses are a stack with a row for each answer; a stack of one serves all."""
    return getattr(pose, "ndim", 2) == 3 and len(pose) > 1


_STATUSES = tuple(Status)


def _as_pose(stored: bytes | None) -> Array | None:
    return None if stored is None else np.frombuffer(stored).reshape(4, 4).copy()


def pack_marks(status: int, steps: int, tight: int) -> int:
    """Put the marks of an answer into one number, as `gjk3d.narrow.pairs.solve_many` returns it."""
    return status + 8 * tight + 32 * steps


#: Of an answer that a builtin made the row is bytes of so many numbers: what the kernel wrote, its marks (an integer),
#: 1 for a pose of A and 2 for one of B (an integer), and both poses.
ROW_CODE, ROW_POSED, ROW_AT, ROW_SIZE = 12, 13, 14, 8 * (14 + 32)


def row_of(answer: Any) -> tuple[Array, int, Array | None, Array | None] | None:
    """Return the row of one pair's answer, its marks, and both poses; None where it has none. They may be read only."""
    try:
        row = answer._row
    except AttributeError:
        return None
    if not isinstance(row, bytes):
        pose_a, pose_b = (answer.pose_a, answer.pose_b)  # set already where their bytes are not kept
        return row[0], row[1], pose_a, pose_b
    numbers = np.frombuffer(row)
    code, posed = numbers[ROW_CODE:ROW_AT].view(np.int64).tolist()
    pose_a = numbers[ROW_AT : ROW_AT + 16].reshape(4, 4) if posed & 1 else None
    pose_b = numbers[ROW_AT + 16 :].reshape(4, 4) if posed & 2 else None
    return numbers[:ROW_CODE].reshape(1, ROW_CODE), code, pose_a, pose_b


def _from_bytes(answer: Any) -> tuple[Any, ...]:
    """Return the row of an answer as Python makes it."""
    numbers, code, *poses = cast("Any", row_of(answer))
    stored = (None if pose is None else pose.tobytes() for pose in poses)
    return numbers.copy(), code, answer.shape_a, answer.shape_b, answer.asked, *stored


#: how each field of one pair's answer comes from its row
_UNPACK: dict[str, Callable[[Any], Any]] = {
    "distance": lambda row: row[0].item(0),
    "lower": lambda row: row[0].item(1),
    "upper": lambda row: row[0].item(2),
    "normal": lambda row: row[0][0, 3:6],
    "point_a": lambda row: row[0][0, 6:9],
    "point_b": lambda row: row[0][0, 9:12],
    "status": lambda row: _STATUSES[row[1] & 7],
    "tight": lambda row: row[1] & 8 != 0,
    "iterations": lambda row: row[1] >> 5,
    "shape_a": lambda row: row[2],
    "shape_b": lambda row: row[3],
    "asked": lambda row: row[4],
    "pose_a": lambda row: _as_pose(row[5]),
    "pose_b": lambda row: _as_pose(row[6]),
    "trace": lambda row: None,
}


def missing(answer: Any, name: str) -> Any:
    """Unpack what is asked for the first time of an answer of one pair."""
    unpack = _UNPACK.get(name)
    if unpack is None:
        if name == "certificate":
            return None  # unless it was asked for
        raise AttributeError(f"{type(answer).__name__!r} object has no attribute {name!r}")
    row = answer._row
    if isinstance(row, bytes) and name in ("shape_a", "shape_b", "asked"):  # set when the answer was made
        raise AttributeError(f"{name} of this {type(answer).__name__} was deleted")
    value = unpack(_from_bytes(answer) if isinstance(row, bytes) else row)
    setattr(answer, name, value)
    return value


class Distance(Answer[N]):
    """Answer of `distance` and `signed_distance`, for one pair or for n.

    Attributes
    ----------
    distance : float or (n,) float
        Distance in the caller's unit; negative means overlap by that depth (`signed_distance` only).
    normal : (3,) float or (n, 3) float
        Unit vector from A to B in world axes, in overlap too; never NaN. If the two touch, it is the normal of the
        parts that touch.
    point_a, point_b : (3,) float or (n, 3) float
        Witness points in world axes; ``point_b - point_a == distance * normal``.
    lower, upper : float or (n,) float
        Bounds that hold: ``lower <= true value <= upper``.
    status : Status or (n,) int
        What the bounds prove.
    tight : bool or (n,) bool
        Whether the interval is as narrow as promised: 1e-12 of the pair's size for polytopes, 1e-9 for curved shapes.
    iterations : int or (n,) int
        Steps of GJK and EPA together.
    trace : Trace or None
        Every step the kernels took, where ``trace=True`` asked for it.
    certificate : Certificate, PartsCertificate or None
        What proves the bounds, where ``certificate=True`` asked for it.
    shape_a, shape_b, pose_a, pose_b
        The question, so that an answer can be drawn and replayed.

    Examples
    --------
    >>> import gjk3d as gk
    >>> deep = gk.signed_distance(gk.Sphere(1), gk.Point((0.75, 0, 0)))
    >>> deep
    Distance: overlapping, -0.25 along (1, 0, 0)
    >>> deep.depth, deep.separation_vector.tolist()
    (0.25, [0.25, 0.0, 0.0])
    >>> deep.to_dict()["status"]
    'overlapping'
    """

    distance: N
    normal: Array
    point_a: Array
    point_b: Array
    lower: N
    upper: N
    if TYPE_CHECKING:
        status: Each[Status, Ints] = Each()
        tight: Each[bool, Bools] = Each()
        iterations: Each[int, Ints] = Each()
    else:  # a slot would not be a descriptor to type checkers
        __slots__ = (
            "_row",
            "asked",
            "certificate",
            "distance",
            "iterations",
            "lower",
            "normal",
            "point_a",
            "point_b",
            "pose_a",
            "pose_b",
            "shape_a",
            "shape_b",
            "status",
            "tight",
            "trace",
            "upper",
        )
    trace: Trace | None
    certificate: Certificate | PartsCertificate | None
    shape_a: Any
    shape_b: Any
    pose_a: Any
    pose_b: Any
    asked: tuple[int, float, float | None, bool]  #: how: the solver's mode, max_distance, tol, trace

    #: of one pair: the kernel's row and its marks, the shapes, how it was asked, and the poses' bytes; or all as bytes
    _row: tuple[Array, int, Any, Any, tuple[int, float, float | None, bool], bytes | None, bytes | None] | bytes

    if not TYPE_CHECKING:
        __getattr__ = missing

    @property
    def depth(self) -> N:
        """How far B must move to be free of A, 0 where it is: ``max(0, -distance)``, float or (n,) float.

        How far one surface lies inside the other is a smaller number, see `gjk3d.penetration`.
        """
        distance: Any = self.distance
        depth: Any = np.maximum(0.0, -distance) if isinstance(distance, np.ndarray) else max(0.0, -distance)
        return cast("N", depth)

    @property
    def separation_vector(self: Distance[Any]) -> Array:
        """Which move of B, as short as is known, frees it of A: (3,) float or (n, 3) float, zero when apart.

        After it the two just touch. Others call it the minimum translation vector.
        """
        vector: Array = (
            np.asarray(self.depth)[..., None] * self.normal if self.normal.ndim == 2 else self.depth * self.normal
        )
        return vector

    def __len__(self) -> int:
        if self.normal.ndim == 1:
            raise TypeError("this Distance is of one pair, and len() needs a stack")
        return len(self.normal)

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a Distance is ambiguous. Use gjk3d.collide or .status")

    @overload
    def __getitem__(self, index: SupportsIndex) -> Distance[float]: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, index: slice | list[int] | list[bool] | NDArray[Any]) -> Distance[Array]: ...
    def __getitem__(self: Distance[Any], index: Any) -> Distance[Any]:
        """Return a row of a stack as an answer of one pair; a slice, a mask or an array of indices as a stack."""
        if self.normal.ndim == 1:
            raise TypeError("this Distance is of one pair and cannot be indexed")
        row: Distance[Any] = object.__new__(Distance)
        if isinstance(index, (slice, list, np.ndarray)):
            for name in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight", "iterations"):
                setattr(row, name, getattr(self, name)[index])
            row.trace, row.shape_a, row.shape_b, row.asked = None, self.shape_a, self.shape_b, self.asked
            row.pose_a, row.pose_b = (pose[index] if _many(pose) else pose for pose in (self.pose_a, self.pose_b))
            return row
        row.distance = float(self.distance[index])
        row.normal, row.point_a, row.point_b = self.normal[index], self.point_a[index], self.point_b[index]
        row.lower, row.upper = float(self.lower[index]), float(self.upper[index])
        row.status, row.tight = Status(int(self.status[index])), bool(self.tight[index])
        row.iterations, row.trace = int(self.iterations[index]), None
        row.shape_a, row.shape_b, row.asked = self.shape_a, self.shape_b, self.asked
        row.pose_a, row.pose_b = (
            pose[index] if _many(pose) else pose[0] if getattr(pose, "ndim", 2) == 3 else pose
            for pose in (self.pose_a, self.pose_b)
        )
        return row

    def __repr__(self) -> str:
        if self.normal.ndim == 2:
            names, counts = np.unique(self.status, return_counts=True)
            parts = ", ".join(f"{n} {Status(int(s)).name.lower()}" for s, n in zip(names, counts, strict=True))
            return f"Distance of {len(self)} pairs: {parts or 'none'}"
        x, y, z = self.normal + 0.0  # without the signs of zeros
        value = told(self.lower, self.upper, 9)
        return f"Distance: {self.status.name.lower()}, {value} along ({x:.4g}, {y:.4g}, {z:.4g})"

    def to_dict(self: Distance[Any]) -> dict[str, Any]:
        """Return the answer as plain numbers, lists and strings, fit for JSON (one pair only)."""
        if self.normal.ndim == 2:
            raise TypeError("to_dict() is of one pair: take a row first, result[i].to_dict()")
        return {
            "status": self.status.name.lower(),
            "distance": float(self.distance),
            "depth": float(self.depth),
            "lower": float(self.lower),
            "upper": float(self.upper),
            "tight": bool(self.tight),
            "normal": self.normal.tolist(),
            "point_a": self.point_a.tolist(),
            "point_b": self.point_b.tolist(),
            "separation_vector": (self.separation_vector + 0.0).tolist(),
            "iterations": int(self.iterations),
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the question and its answer as one JSON document, which ``gjk3d replay FILE`` asks again.

        Shapes, poses, settings, versions and the answer, every number to its last bit. What `collide` says is one bit
        and not written; `signed_distance` of the same pair is, and agrees with it. It is asked again afresh: where a
        pair remembered its last pose, or a mesh was made by `refit`, the last bits may be others. Large arrays are
        written as base64 of little-endian numbers.

        Parameters
        ----------
        path : str or path, optional
            A file to write the document to.

        Raises
        ------
        UnsupportedPair
            Where a shape is of a class of your own.
        ValueError
            Where a stack or a mesh makes a document larger than the 16 MiB that are read back: take rows of the one,
            send the file of the other along.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.distance(gk.Sphere(1), gk.Point((3, 0, 0))).to_json().splitlines()[3]
        '"query": "distance",'
        """
        from gjk3d.replay import to_json

        text: str = to_json(self, path)
        return text
