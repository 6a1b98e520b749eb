"""Results of queries, and the laws that every result obeys.

The sign law: ``normal`` is a unit vector from A to B, also in overlap. ``point_b - point_a == distance * normal``.
``distance < 0`` means overlap by that depth. After B moves by ``depth * normal``, convex shapes just touch, and other
bodies are separated.

The bound law: ``lower <= true value <= upper``. The bounds hold for every reason that stops a solver.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, SupportsIndex, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.frozen import comparable, shown
from gjk3d.typing import Array, Bools, Ints, N
from gjk3d.wording import count, format_bounds, format_vector

_C = TypeVar("_C", bound=type)


def compared(*names: str) -> Callable[[_C], _C]:
    """Return a class decorator that defines equality and the hash of results by the fields ``names``.

    Without names, all fields of a NamedTuple are compared. NaN equals NaN. Two stacks are compared as a whole, which
    gives one bool. Equal results have equal hashes.
    """

    def decorate(cls: _C) -> _C:
        fields = names or cast("Any", cls)._fields

        def content(self: Any) -> tuple[Any, ...]:
            return (cls.__name__, *(comparable(getattr(self, name)) for name in fields))

        def equal(self: Any, other: object) -> bool:
            return NotImplemented if type(other) is not type(self) else self is other or content(self) == content(other)

        def unequal(self: Any, other: object) -> bool:
            result = equal(self, other)
            return result if result is NotImplemented else not result

        for name, method in (("__eq__", equal), ("__ne__", unequal), ("__hash__", lambda self: hash(content(self)))):
            setattr(cls, name, method)
        return cls

    return decorate


class Answer(Generic[N]):
    """The base class of results. Its type is ``Answer[float]`` for one pair and ``Answer[Array]`` for n pairs."""

    __slots__: tuple[str, ...] = ()
    _repr_mimebundle_ = shown


if TYPE_CHECKING:
    One = TypeVar("One")
    Many = TypeVar("Many")

    class Each(Generic[One, Many]):
        """A field whose type differs between a result of one pair and a result of n pairs."""

        @overload
        def __get__(self, answer: Answer[float], owner: Any) -> One: ...
        @overload
        def __get__(self, answer: Answer[Array], owner: Any) -> Many: ...
        @overload
        def __get__(self, answer: Any, owner: Any) -> Any: ...
        def __get__(self, answer: Any, owner: Any) -> Any: ...
        def __set__(self, answer: Any, value: Any) -> None: ...


class Status(IntEnum):
    """The state of a pair: SEPARATED, TOUCHING, OVERLAPPING, UNDECIDED, or BEYOND ``max_distance``."""

    SEPARATED = 0  #: lower > 0
    TOUCHING = 1  #: neither a gap nor a common point is proven, and the interval of the distance is ``tight``
    OVERLAPPING = 2  #: upper < 0, or a common point is proven
    UNDECIDED = 3  #: neither a gap nor a common point is proven, and the interval is not ``tight`` (a large ``tol``)
    BEYOND = 4  #: the distance is proven to exceed ``max_distance``, so the search stopped

    def __str__(self) -> str:
        return self.name


class AxisKind(IntEnum):
    """The features that define a separating axis: FACE_A, FACE_B, EDGES or POINTS."""

    FACE_A = 0  #: the axis is normal to a face of A
    FACE_B = 1  #: the axis is normal to a face of B
    EDGES = 2  #: the axis is normal to an edge of A and to an edge of B
    POINTS = 3  #: both shapes are points, and the axis is parallel to the line through them

    def __str__(self) -> str:
        return self.name


@compared()
class Axis(NamedTuple, Generic[N]):
    """Result of `separating_axis`, for one pair or for n pairs.

    Attributes
    ----------
    normal : (3,) float or (n, 3) float
        Unit vector from A to B in world axes.
    gap : float or (n,) float
        Gap of the two shapes along the normal. A negative gap means overlap.
    error : float or (n,) float
        Bound on the rounding error of the gap.
    kind : AxisKind or (n,) int
        The features that define the normal.
    status : Status or (n,) int
        SEPARATED and OVERLAPPING are proven. TOUCHING means that the gap is within the error.

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
        """The smallest and the largest gap within the error, each float or (n,) float."""
        return np.nextafter(self.gap - self.error, -np.inf), np.nextafter(self.gap + self.error, np.inf)

    def __repr__(self) -> str:
        if self.normal.ndim == 2:
            return f"Axis of {count(len(self.normal), 'pair')}"
        what = ("a face of A", "a face of B", "an edge of A and an edge of B", "two points")[self.kind]
        gap = format_bounds(*self.bounds, 9)
        return f"Axis: {self.status.name.lower()}, gap {gap} along {format_vector(self.normal, 4)}, {what}"


@compared()
class GjkStep(NamedTuple):
    """One iteration of GJK. Points and directions are in the axes of A's frame, with the centre of A's core as origin.

    All points are points of the cores, which are the shapes without their radii.
    """

    direction: Array  #: (3,) unit vector of the support query, from the simplex towards the origin
    support_a: Array  #: (3,) support point of A
    support_b: Array  #: (3,) support point of B in the opposite direction
    bound: float  #: lower bound of the cores' distance, proven by this direction
    lower: float  #: the best lower bound so far
    upper: float  #: distance of the simplex from the origin
    simplex: Array  #: (k, 3) vertices of the simplex before the new vertex is added, points of A - B
    simplex_a: Array  #: (k, 3) the point of A for each vertex
    simplex_b: Array  #: (k, 3) the point of B for each vertex
    weights: Array  #: (k,) barycentric coordinates of the point of the simplex that is nearest to the origin


@compared()
class EpaStep(NamedTuple):
    """One expansion of EPA's polytope, in the axes of A's frame, with the centre of A's core as origin.

    A face has three indices of ``vertices``, and an edge has two.
    """

    vertices: Array  #: (n, 3) vertices of the polytope before the step, points of A - B
    faces: NDArray[np.int64]  #: (m, 3) faces of the polytope before the step
    closest: NDArray[np.int64]  #: (3,) the face that is expanded
    direction: Array  #: (3,) unit vector of the support query
    point: Array  #: (3,) the new point of A - B
    support_a: Array  #: (3,) point of A of the new point
    support_b: Array  #: (3,) point of B of the new point
    removed: NDArray[np.int64]  #: (r, 3) faces that are visible from the new point, none in the last step
    horizon: NDArray[np.int64]  #: (h, 2) edges between the removed faces and the other faces
    lower: float  #: lower bound of the cores' signed distance
    upper: float  #: upper bound of the cores' signed distance
    vertices_a: Array  #: (n, 3) the point of A for each vertex
    vertices_b: Array  #: (n, 3) the point of B for each vertex


@compared("gjk", "gjk_end", "simplex", "simplex_a", "simplex_b", "simplex_weights", "epa")
class Trace:
    """All steps of one query, as the compiled kernels logged them.

    Attributes
    ----------
    gjk : list of GjkStep
        The iterations of GJK.
    gjk_end : str
        The reason why GJK stopped, for example "converged".
    simplex, simplex_a, simplex_b : (k, 3) float
        GJK's last simplex in the frame of the steps, see `GjkStep`. Row i of ``simplex`` is a vertex. It
        is the point of A in row i of ``simplex_a`` minus the point of B in row i of ``simplex_b``.
    simplex_weights : (k,) float
        Barycentric coordinates of the point of the last simplex that is nearest to the origin.
    epa : list of EpaStep
        The expansions of EPA, empty if EPA did not run.
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
        return f"Trace: {count(len(self.gjk), 'step')} of GJK ({self.gjk_end}), {len(self.epa)} of EPA"


@compared()
class Certificate(NamedTuple):
    """The proof of a result: the last state of the kernels, which `gjk3d.verify` checks in exact arithmetic.

    All fields refer to cores. The core of a sphere is its centre, the core of a capsule is its segment. The radii of
    both shapes are subtracted from both bounds.

    Attributes
    ----------
    kind : str
        "weights": a convex combination of pairs of points is a vector of A - B. Its length bounds the distance from
        above. "surface": triangles of points of A - B form a closed surface around the origin. The distance of the
        origin from the surface bounds the depth from below. "section": the depth was computed from a cross-section of
        a solid of revolution, which is not stored. "plane": one of the shapes is a half-space. Certificates of the
        kinds "section" and "plane" prove only the lower bound of the signed distance.
    normal : (3,) float
        Unit vector from A to B in world axes. The support points along it bound the signed distance from below.
    support_a, support_b : (3,) float
        The support point of A along the normal and that of B against it, each in the frame of its shape. The field of a
        half-space contains the projection of the other shape's support point onto the plane.
    points_a, points_b : (k, 3) float
        Pairs of points of the cores, each point in the frame of its shape. Vertices of polytopes are not rounded.
    weights : (k,) float
        Weights of the pairs, at least 0. Empty for other kinds than "weights".
    faces : (m, 3) int
        Triangles as indices of pairs, with a consistent orientation. Empty for other kinds than "surface".
    directions : (k, 3) float
        For each pair, the direction from A to B in world axes along which its points are support points. Zeros mean
        that the direction is not known. Directions are not part of the proof. With them `verify` needs less time to
        prove that curved cores contain the points.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.distance(gk.Sphere(1), gk.Point((3, 0, 0)), certificate=True).certificate
    Certificate: normal (1, 0, 0), weights of 1 pair of points
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
        what = {
            "weights": f"weights of {count(len(self.weights), 'pair')} of points",
            "surface": f"a closed surface of {len(self.faces)} triangles of {len(self.points_a)} points",
        }.get(self.kind, f"{self.kind}, no upper bound")
        return f"Certificate: normal {format_vector(self.normal, 4)}, {what}"


@compared()
class PartsCertificate(NamedTuple):
    """The proof of a result of non-convex bodies, part by part. `gjk3d.verify` checks it in exact arithmetic.

    Parts are numbered in the order of the input. The parts of a mesh are its faces, those of a cloud its points. The
    parts of a compound are its convex shapes and the faces of its meshes, in order. The parts of a grid are the boxes
    that its cubes are merged into. A convex shape is one part.

    Attributes
    ----------
    order_a, order_b : (n,) int
        All parts of each body, in an order in which the parts of each group are consecutive.
    ranges : (k, 4) int
        A pair of groups in each row: begin and end in ``order_a``, then begin and end in ``order_b``. The rows cover
        each combination of a part of A and a part of B. Empty if ``lower`` is 0, which needs no proof.
    normals : (k, 3) float
        For each pair of groups, a direction from A to B in world axes, along which the groups are at least ``lower``
        apart. If ``lower`` is negative, the groups are apart after B moves by ``-lower`` along the normal of the
        result. If the bodies touch on several sides, B moves along the sum of the normals of these sides.
    parts : (2,) int
        A part of A and a part of B whose signed distance proves ``upper``. Empty if a point inside a closed surface
        proves ``upper``. `verify` computes this point again.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4)
    >>> pose[0, 3] = 3
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
        return f"PartsCertificate: {count(len(self.ranges), 'plane')} between groups of parts, {near}"


def _many(pose: Any) -> bool:
    """Return whether ``pose`` is a stack with one pose per result. A stack of one pose applies to all results."""
    return getattr(pose, "ndim", 2) == 3 and len(pose) > 1


_STATUSES = tuple(Status)


def _as_pose(stored: bytes | None) -> Array | None:
    return None if stored is None else np.frombuffer(stored).reshape(4, 4).copy()


def pack_marks(status: int, steps: int, tight: int) -> int:
    """Return a result's status, number of steps and tight flag in one integer, called its marks."""
    return status + 8 * tight + 32 * steps


#: Layout of the row of a result that a compiled function made, as bytes: twelve floats of the kernel, the marks (an
#: integer, see `pack_marks`), a bit mask (an integer: 1 if A has a pose, plus 2 if B has one), and two (4, 4) poses.
ROW_CODE, ROW_POSED, ROW_AT, ROW_SIZE = 12, 13, 14, 8 * (14 + 32)


def row_of(answer: Any) -> tuple[Array, int, Array | None, Array | None] | None:
    """Return the numbers that a kernel stored for a result, called its row, and both poses.

    The numbers are twelve floats, (1, 12), and the integer that `pack_marks` describes. Return None for a result
    without a stored row. The arrays may be read-only.
    """
    try:
        row = answer._row
    except AttributeError:
        return None
    if not isinstance(row, bytes):
        pose_a, pose_b = (answer.pose_a, answer.pose_b)  # set as fields if the row does not contain them
        return row[0], row[1], pose_a, pose_b
    numbers = np.frombuffer(row)
    code, posed = numbers[ROW_CODE:ROW_AT].view(np.int64).tolist()
    pose_a = numbers[ROW_AT : ROW_AT + 16].reshape(4, 4) if posed & 1 else None
    pose_b = numbers[ROW_AT + 16 :].reshape(4, 4) if posed & 2 else None
    return numbers[:ROW_CODE].reshape(1, ROW_CODE), code, pose_a, pose_b


def _from_bytes(answer: Any) -> tuple[Any, ...]:
    """Return the row of a result as a tuple. A compiled function stored the row as bytes, see `ROW_SIZE`."""
    numbers, code, *poses = cast("Any", row_of(answer))
    stored = (None if pose is None else pose.tobytes() for pose in poses)
    return numbers.copy(), code, answer.shape_a, answer.shape_b, answer.asked, *stored


#: For each field of a result of one pair, the function that computes it from the result's row.
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
    """Return a field of a result of one pair that is not set yet. It is computed from the kernel's numbers, and set."""
    unpack = _UNPACK.get(name)
    if unpack is None:
        if name == "certificate":
            return None  # a trace or certificate that was not requested
        raise AttributeError(f"{type(answer).__name__!r} object has no attribute {name!r}")
    row = answer._row
    if isinstance(row, bytes) and name in ("shape_a", "shape_b", "asked"):  # these are set when the result is made
        raise AttributeError(f"{name} of this {type(answer).__name__} was deleted. Compute the result again")
    value = unpack(_from_bytes(answer) if isinstance(row, bytes) else row)
    setattr(answer, name, value)
    return value


@compared(
    "distance", "normal", "point_a", "point_b", "lower", "upper", "status", "tight", "iterations", "trace",
    "certificate", "shape_a", "shape_b", "pose_a", "pose_b",
)  # fmt: skip
class Distance(Answer[N]):
    """Result of `distance` and `signed_distance`, for one pair or for n pairs.

    Attributes
    ----------
    distance : float or (n,) float
        Distance in the caller's unit. A negative distance means overlap by that depth (`signed_distance` only).
    normal : (3,) float or (n, 3) float
        Unit vector from A to B in world axes, in overlap too. It is never NaN. If the shapes touch, it is the normal
        of the touching features.
    point_a, point_b : (3,) float or (n, 3) float
        Witness points in world axes, with ``point_b - point_a == distance * normal``.
    lower, upper : float or (n,) float
        Proven bounds: ``lower <= true value <= upper``.
    status : Status or (n,) int
        The state that is proven, for example SEPARATED.
    tight : bool or (n,) bool
        Whether ``upper - lower`` is at most about 1e-12 of the pair's size for polytopes, or 1e-9 for curved shapes.
    iterations : int or (n,) int
        Number of steps of GJK and EPA together.
    trace : Trace or None
        All steps of the kernels, if the query had ``trace=True``.
    certificate : Certificate, PartsCertificate or None
        The proof of the bounds, if the query had ``certificate=True``.
    shape_a, shape_b, pose_a, pose_b
        The arguments of the query. Pictures and replays use them.

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
    else:  # for type checkers a slot is not a descriptor
        __slots__ = (
            "_row", "asked", "certificate", "distance", "iterations", "lower", "normal", "point_a", "point_b", "pose_a",
            "pose_b", "shape_a", "shape_b", "status", "tight", "trace", "upper",
        )  # fmt: skip
    trace: Trace | None
    certificate: Certificate | PartsCertificate | None
    shape_a: Any
    shape_b: Any
    pose_a: Any
    pose_b: Any
    asked: tuple[int, float, float | None, bool]  #: arguments of the query: the solver's mode, max_distance, tol, trace

    #: for one pair: the kernel's row, its marks, A, B, ``asked`` and the bytes of both poses, or bytes as `ROW_SIZE`
    _row: tuple[Array, int, Any, Any, tuple[int, float, float | None, bool], bytes | None, bytes | None] | bytes

    if not TYPE_CHECKING:
        __getattr__ = missing

    @property
    def depth(self) -> N:
        """Length of `separation_vector`, which is ``max(0, -distance)``: float or (n,) float.

        `gjk3d.penetration` returns another number: how far the surface of a body reaches into the other body.
        """
        distance: Any = self.distance
        depth: Any = np.maximum(0.0, -distance) if isinstance(distance, np.ndarray) else max(0.0, -distance)
        return cast("N", depth)

    @property
    def separation_vector(self: Distance[Any]) -> Array:
        """Shortest known translation of B that separates it from A, in world axes: (3,) float or (n, 3) float.

        Also called minimum translation vector (MTV). It is zero if the shapes do not overlap. After this translation
        convex shapes just touch, and other bodies are apart.
        """
        vector: Array = (
            np.asarray(self.depth)[..., None] * self.normal if self.normal.ndim == 2 else self.depth * self.normal
        )
        return vector

    def __len__(self) -> int:
        if self.normal.ndim == 1:
            raise TypeError("this Distance is of one pair, and len() needs a stack. Pass stacks of poses, (n, 4, 4)")
        return len(self.normal)

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a Distance is ambiguous. Use gjk3d.collide or .status")

    @overload
    def __getitem__(self, index: SupportsIndex) -> Distance[float]: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, index: slice | list[int] | list[bool] | NDArray[Any]) -> Distance[Array]: ...
    def __getitem__(self: Distance[Any], index: Any) -> Distance[Any]:
        """Return the result of one pair for an index, or a stack of results for a slice, a mask or an index array."""
        if self.normal.ndim == 1:
            raise TypeError(
                "this Distance is of one pair and cannot be indexed. Use its fields, for example result.distance"
            )
        row: Distance[Any] = object.__new__(Distance)
        row.trace, row.shape_a, row.shape_b, row.asked = None, self.shape_a, self.shape_b, self.asked
        if isinstance(index, (slice, list, np.ndarray)):
            for name in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight", "iterations"):
                setattr(row, name, getattr(self, name)[index])
            row.pose_a, row.pose_b = (pose[index] if _many(pose) else pose for pose in (self.pose_a, self.pose_b))
            return row
        # field by field, since loops over results read single rows: a loop over the names takes 1.7 times as long
        row.distance, row.lower, row.upper = self.distance.item(index), self.lower.item(index), self.upper.item(index)
        row.normal, row.point_a, row.point_b = self.normal[index], self.point_a[index], self.point_b[index]
        row.status, row.tight = _STATUSES[self.status.item(index)], self.tight.item(index)
        row.iterations = self.iterations.item(index)
        row.pose_a, row.pose_b = (
            pose[index] if _many(pose) else pose[0] if getattr(pose, "ndim", 2) == 3 else pose
            for pose in (self.pose_a, self.pose_b)
        )
        return row

    def __repr__(self) -> str:
        if self.normal.ndim == 2:
            names, counts = np.unique(self.status, return_counts=True)
            parts = ", ".join(f"{n} {Status(int(s)).name.lower()}" for s, n in zip(names, counts, strict=True))
            return f"Distance of {count(len(self), 'pair')}: {parts or 'none'}"
        value = format_bounds(self.lower, self.upper, 9)
        return f"Distance: {self.status.name.lower()}, {value} along {format_vector(self.normal, 4)}"

    def to_dict(self: Distance[Any]) -> dict[str, Any]:
        """Return the result of one pair as a dict of numbers, lists and strings that JSON can hold."""
        if self.normal.ndim == 2:
            raise TypeError(
                f"this Distance is a stack of {count(len(self), 'pair')}, and to_dict() needs a single result."
                " Use result[i].to_dict()."
            )
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
        """Return the query and its result as one JSON document, which ``gjk3d replay FILE`` repeats.

        The document contains the shapes, poses, settings, versions and the result, every number to its last bit.
        A result of `collide` is a bool and cannot be written. Use `signed_distance` of the same pair, which agrees
        with it.
        A replay does not use earlier results: the last bits may differ for a `Pair` that used its last pose, and for a
        mesh that was made by `refit`. Large arrays are written as base64 of little-endian numbers.

        Parameters
        ----------
        path : str or path, optional
            The file to write.

        Raises
        ------
        UnsupportedPair
            A shape is of a class that gjk3d does not define.
        ValueError
            The document of a large stack or mesh would exceed 16 MiB, the limit for reading. Write single rows of the
            stack, or a smaller mesh.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.distance(gk.Sphere(1), gk.Point((3, 0, 0))).to_json().splitlines()[3]
        '"query": "distance",'
        """
        from gjk3d.replay import to_json

        text: str = to_json(self, path)
        return text
