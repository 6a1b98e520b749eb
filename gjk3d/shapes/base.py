"""The base of convex shapes, and the checks of their arguments.

A convex shape is a core and a radius, in its own frame. Shapes are immutable and hashable, without pose and colour.

Every error of an argument names the argument, its value and the cure.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import ShapeError
from gjk3d.frozen import Frozen
from gjk3d.geometry.points import direction_table
from gjk3d.poses import as_matrices, parts, pose_rows
from gjk3d.shapes import layout, measure
from gjk3d.shapes.layout import GREATEST, LEAST, Part, Term, in_range
from gjk3d.shapes.measure import minimal_ball, oriented_box
from gjk3d.typing import Array, FactorsLike, Ints, Pose, PoseLike, Row, Rows, SupportsMatrix, Unclear
from gjk3d.wording import kind_of

if TYPE_CHECKING:
    from gjk3d.query.distance import PointDistances

# --- arguments -------------------------------------------------------------------------------------------------------


_FEW = 32  #: numbers up to which Python is faster than numpy
_PLAIN = {float, int}
_FLOAT = np.dtype(np.float64)


def number(value: Any, what: str, *, positive: bool = True, zero: bool = False, cure: str = "") -> float:
    """Return a value as a finite float, or raise an error that starts with ``what``, the name of the argument.

    Numbers must be positive unless ``positive`` is False. With ``zero``, 0 is allowed too. ``cure`` ends the error.
    """
    if isinstance(value, (str, bytes, bool, np.bool_, complex)):
        raise ShapeError(f"{what} is {value!r}, expected a real number")
    try:
        x = float(value)
    except OverflowError:
        raise ShapeError(f"{what} is an integer beyond 1.7e308, expected a number in the range of a float") from None
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {value!r}, expected a real number") from None
    if not isfinite(x):
        raise ShapeError(f"{what} is {x}, expected a finite number")
    if positive and not (x > 0.0 or (zero and x == 0.0)):
        raise ShapeError(f"{what} is {x:g}, expected {'at least 0' if zero else 'more than 0'}{cure}")
    if not (LEAST <= abs(x) <= GREATEST or x == 0.0):
        in_range(np.array(x), what)
    return x + 0.0  # no negative zero


def refuse_masked(value: Any, what: str, cure: str = "Drop the rows of masked numbers, or fill them in") -> None:
    """Raise if ``value``, the argument named ``what``, is an array with masked numbers."""
    if hasattr(value, "mask") and np.ma.is_masked(value):
        raise ShapeError(f"{what} masks {int(np.sum(value.mask))} of its {value.size} numbers. {cure}.")


def rows(value: Any, what: str, columns: int = 3, *, lengths: bool = True, cure: str = "") -> Array:
    """Return a new, finite (n, columns) float array, or raise an error that names the argument ``what`` and the row.

    With ``lengths`` the numbers must be in the range of lengths that the kernels support.
    """
    refuse_masked(value, what)
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{what} is ragged: {_first_fault(value, columns)}") from None
    if raw.size == 0 and raw.ndim < 2:
        raise ShapeError(f"{what} is empty, expected (n, {columns}) with at least one row")
    if raw.dtype.kind not in "fiu":
        fault = f"has dtype {raw.dtype}" if raw.ndim else f"is {kind_of(value)}"
        raise ShapeError(f"{what} {fault}, expected (n, {columns}) real numbers")
    if raw.ndim != 2 or raw.shape[1] != columns:
        hint = f". Did you mean {what.split(': ')[-1]}.T?" if raw.ndim == 2 and raw.shape[0] == columns else ""
        raise ShapeError(f"{what} has shape {raw.shape}, expected (n, {columns}){hint}")
    # a sum, since -0.0 + 0.0 is 0.0, and it is a new array
    out: Array = np.add(raw, 0.0, dtype=np.float64, order="C", casting="unsafe")
    largest = _largest(out)
    if not largest < inf:
        bad = ~np.isfinite(out).all(axis=1)
        i = int(np.argmax(bad))
        raise ShapeError(
            f"{what}[{i}] is {out[i].tolist()}, expected finite numbers (rows with NaN or infinity: "
            f"{int(bad.sum())} of {len(out)}){cure}"
        )
    if lengths and not (LEAST <= largest <= GREATEST):
        in_range(out, what)
    return out


def _largest(numbers: Array) -> float:
    """Return the greatest magnitude of an array, or 0 if it is empty. The result is not finite if a number is not."""
    if 0 < numbers.size <= _FEW:
        plain = numbers.ravel().tolist()
        if isfinite(sum(plain)):  # max() may ignore a NaN
            return float(max(max(plain), -min(plain)))
    return float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0)))


def points_of(value: Any, what: str, *, lengths: bool = True) -> tuple[Array, bool]:
    """Return checked rows (n, 3), as `rows` does, and whether the argument was a single row (3,).

    With ``lengths``, numbers above 1e50 raise an error. Tiny numbers are allowed.
    """
    single = np.ndim(value) == 1
    out = rows([value] if single else value, what, lengths=False)
    if lengths and not _largest(out) <= GREATEST:
        i = int((np.abs(out) > GREATEST).any(axis=1).argmax())
        raise ShapeError(f"{what}[{i}] is {out[i].tolist()}, expected at most {GREATEST:g}. Use another unit.")
    return out, single


def _first_fault(value: Any, columns: int) -> str:
    """Return the part of an error that describes the first row that does not have ``columns`` numbers."""
    for i, row in enumerate(value):
        if np.shape(row) != (columns,):
            return f"row {i} is {row!r:.60}, expected {columns} numbers"
    return f"expected rows of {columns} numbers"


def vector(value: Any, what: str, *, lengths: bool = True) -> Array:
    """Return a new, finite (3,) float array, or raise an error that names the argument ``what``.

    With ``lengths`` the numbers must be in the range of lengths that the kernels support.
    """
    plain = value.tolist() if type(value) is np.ndarray and value.dtype is _FLOAT else value
    if (type(plain) is tuple or type(plain) is list) and len(plain) == 3:
        x, y, z = plain
        if type(x) in _PLAIN and type(y) in _PLAIN and type(z) in _PLAIN:
            largest = max(x, y, z, -x, -y, -z)
            if (LEAST <= largest <= GREATEST or largest == 0.0) and isfinite(x + y + z):  # max() may ignore a NaN
                return np.array((x + 0.0, y + 0.0, z + 0.0))
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{what} is ragged, expected three real numbers") from None
    if raw.dtype.kind not in "fiu" or raw.shape != (3,):
        raise ShapeError(f"{what} is {value!r}, expected three real numbers")
    out = np.array(raw, dtype=np.float64) + 0.0
    if not np.isfinite(out).all():
        raise ShapeError(f"{what} is {out.tolist()}, expected finite numbers")
    if lengths:
        in_range(out, what)
    return out


def factors3(value: Any) -> Array:
    """Return the argument of ``scaled``, one number or three, as three finite factors other than 0."""
    if np.ndim(value) == 0:
        value = (number(value, "scaled: factors", positive=False),) * 3
    out = vector(value, "scaled: factors", lengths=False)
    if not out.all():
        raise ShapeError(
            f"scaled: factors are {out.tolist()}, expected numbers other than 0. For a flat shape use a ConvexHull of "
            "its points."
        )
    return out


def rigid(pose: Any) -> tuple[Array, Array]:
    """Check the argument of ``placed``; return the rotation (3, 3) and the translation (3,) of this pose."""
    if pose is None:
        return np.eye(3), np.zeros(3)
    if as_matrices(pose, single=True).ndim != 2:
        raise ShapeError("placed: pose is a stack, expected one (4, 4) pose. Pass one row, for example pose[0].")
    turn, shift = parts(pose_rows(pose)[0][0])
    return turn.copy(), shift.copy()


# --- shapes ----------------------------------------------------------------------------------------------------------


Sign = Literal["auto", "winding", "none"]  #: rules for points inside a mesh


class Kind:
    """The kinds of shapes and bodies, one bit each, and their groups; see `gjk3d.engine.dispatch`."""

    CONVEX = 1  #: a bounded convex shape that is not a Support
    MAPPED = 2  #: a convex shape with a support mapping of the user
    HALFSPACE = 4
    PLANE = 8
    MESH = 16
    COMPOUND = 32
    VOXELS = 64
    GROUND = 128  #: a height field with a bottom
    ENDLESS = 256  #: a height field without a bottom
    PARTS = 512  #: any other body
    CLOUD = 1024  #: a point cloud
    BOUNDED = CONVEX | MAPPED  #: bounded convex shapes
    PLANES = HALFSPACE | PLANE
    SHAPES = BOUNDED | PLANES
    BODIES = MESH | COMPOUND | VOXELS | GROUND | ENDLESS | PARTS | CLOUD


class Collidable(Frozen):
    """The base class of everything that queries accept: convex shapes, and bodies such as meshes."""

    __slots__ = ()

    def signed_distances(
        self, points: Rows, *, pose: PoseLike | None = None, max_distance: float = inf, sign: Sign = "auto",
        workers: int = 1,
    ) -> PointDistances:  # fmt: skip
        """Return the signed distances of many points from the surface, the nearest points, and the gradients.

        Parameters
        ----------
        points : (n, 3) float or (3,) float
            Points in world coordinates. A single point gives results with one row.
        pose : (4, 4) float, (n, 4, 4) float, RigidTransform or None
            Pose of the shape or body: a rigid transform from its frame to the world. None is the identity.
        max_distance : float
            In the caller's unit. The search for a nearest point stops at this distance, which saves time. For a point
            farther from the surface the distance is infinite outside, and minus infinity inside.
        sign : "auto", "winding" or "none"
            The rule for points inside a mesh. "auto" counts the crossings of a ray with a closed surface, and treats
            all points as outside an open mesh. "winding" counts crossings for every closed surface, also if
            ``solid=False``. For open meshes "winding" sums the solid angles of all triangles after `Mesh.repairs`,
            which takes time in proportion to the number of triangles. "none" treats all points as outside. For other
            shapes the argument is ignored.
        workers : int
            Number of threads. The result does not depend on this number.

        Returns
        -------
        PointDistances
            The fields ``distance``, ``point``, ``normal``, ``face``, ``inside``, ``lower`` and ``upper``.

        Raises
        ------
        ShapeError, PoseError
            For invalid input; the message names the point, the value and the cure.

        Notes
        -----
        The surface of a mesh consists of all its triangles, also those inside another part of the mesh. For other
        bodies the distance is that of `gjk3d.signed_distance`.

        Examples
        --------
        >>> import gjk3d as gk
        >>> mesh = gk.Mesh(*gk.Box((2, 2, 2)).surface())
        >>> near = mesh.signed_distances([(3, 0, 0.5), (0.9, 0, 0.5)])
        >>> near.distance.round(12).tolist(), near.inside.tolist(), near.point.round(12).tolist()
        ([2.0, -0.1], [False, True], [[1.0, 0.0, 0.5], [1.0, 0.0, 0.5]])
        """
        from gjk3d.query.distance import signed_distances

        return signed_distances(self, points, pose, max_distance, sign, workers)


class Shape(Collidable):
    """The base class of convex shapes.

    A shape is defined in its own frame, and has no pose and no colour. It is immutable and hashable.

    Examples
    --------
    >>> import gjk3d as gk
    >>> issubclass(gk.Box, gk.Shape), gk.Box((1, 2, 3)) == gk.Box((1, 2, 3))
    (True, True)
    """

    __slots__ = ()
    _kind = Kind.CONVEX

    def __repr__(self) -> str:
        def text(value: Any) -> str:
            if isinstance(value, np.ndarray):
                return str(value.tolist()) if value.size <= 12 else f"<{' x '.join(map(str, value.shape))}>"
            return repr(value)

        values = ", ".join(f"{name}={text(getattr(self, name))}" for name in self._field_names() if name[0] != "_")
        return f"{type(self).__name__}({values})"

    # --- definitions of a class ------------------------------------------------------------------------------------

    def _core(self) -> tuple[int, Any, Any]:
        """Return the kind of the core, its centre (3,), and the numbers that define it; see `gjk3d.shapes.layout`."""
        raise AttributeError(type(self).__name__)

    def _rounding(self) -> float:
        """Return the radius that inflates the core."""
        return 0.0

    def _slack(self) -> float:
        """Return a bound of the distance between the stored core and the exact shape."""
        return 0.0

    def _inner(self, kind: int, center: Array, numbers: Array) -> float:
        """Return the radius of a ball about the core's centre that is inside the core, or 0; see `core_inner`."""
        return layout.core_inner(kind, numbers)

    def _terms(self) -> list[Term]:
        """Return the terms whose hull is the core; each term is a sum of affinely placed primitives."""
        kind, center, numbers = self._core()
        count = len(numbers) // 3 if kind == layout.HULL else 0
        return [[Part(kind, count, np.array(numbers), np.eye(3), np.array(center))]]

    def _pack(self) -> tuple[Ints, Array]:
        kind, center, numbers = self._core()
        numbers = np.asarray(numbers, dtype=np.float64)
        count = len(numbers) // 3 if kind == layout.HULL else 0
        polytope = int(kind in (layout.POINT, layout.SEGMENT, layout.BOX, layout.HULL))
        kind_of, axis = layout.symmetry(Part(kind, count, numbers, np.eye(3), np.zeros(3)))
        ints = np.array([kind, count, 0, polytope, kind_of], dtype=np.int64)
        slack = self._slack()
        if count > SCAN:
            points = np.ascontiguousarray(numbers.reshape(3, -1).T)
            table = direction_table(points)
            ints[layout.PARTS] = table.grid
            ints = np.concatenate([ints, table.nodes])
            numbers = np.concatenate([numbers, points[table.entries].ravel()])
        reach, inner = layout.core_reach(kind, numbers[: 3 * count or None]), self._inner(kind, center, numbers)
        head = [self._rounding(), *center, reach, slack, *axis, inner]
        return ints, np.concatenate([np.array(head), numbers])

    @property
    def _packed(self) -> tuple[Ints, Array]:
        """The shape for the kernels: (ints, floats), see `gjk3d.shapes.layout`."""
        return self._cached("packed", self._pack)

    @property
    def _order(self) -> tuple[bytes, bytes]:
        """A key that sorts shapes by their kernel data, the same in every process."""
        return self._cached("order", lambda: layout.order(*self._packed))

    # --- common interface ------------------------------------------------------------------------------------------

    def support(self, directions: Rows) -> Array:
        """Return the farthest point of the shape along each direction.

        Parameters
        ----------
        directions : (3,) float or (n, 3) float
            Directions of any length in the shape's frame. For a zero direction the result is any point of the shape.

        Returns
        -------
        (3,) float or (n, 3) float
            The farthest point in the shape's frame, or one of several if they tie.

        Raises
        ------
        ShapeError
            If the directions are not finite numbers in rows of three.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Box((2, 2, 2)).support((1, 1, 1)).tolist()
        [1.0, 1.0, 1.0]
        """
        from gjk3d.shapes.table import support_rows

        d, single = points_of(directions, "support: directions", lengths=False)
        # scaled so that products neither overflow nor vanish
        d = np.ldexp(d, -np.frexp(np.abs(d).max(axis=1, keepdims=True))[1])
        out: Array = np.empty_like(d)
        ints, floats = self._packed
        support_rows(ints, floats, d, out)
        return out[0] if single else out

    @property
    def bounds(self) -> Array:
        """Lower and upper corner of the axis-aligned bounding box in the shape's frame, (2, 3) float."""
        ends = self.support(np.vstack([-np.eye(3), np.eye(3)]))
        return np.array([ends[:3].diagonal(), ends[3:].diagonal()])

    @property
    def volume(self) -> float:
        """Volume, 0 for flat shapes."""
        v = self._core_volume()
        r = self._rounding()
        return v if r == 0.0 else measure.steiner_volume(v, *self._core_area_and_curvature(), r)

    def _gauss_map(self) -> tuple[Array, Array]:
        return self._bare()._gauss_map()

    def _core_volume(self) -> float:
        return 0.0

    def _core_area_and_curvature(self) -> tuple[float, float]:
        """Return surface area and integrated mean curvature of the core, for Steiner's formula."""
        raise AttributeError(type(self).__name__)

    @overload
    def contains(self, points: Unclear, *, workers: int = 1) -> Any: ...
    @overload
    def contains(self, points: Row, *, workers: int = 1) -> bool: ...  # type: ignore[overload-overlap]
    @overload
    def contains(self, points: Rows, *, workers: int = 1) -> NDArray[np.bool_]: ...
    def contains(self, points: Any, *, workers: int = 1) -> Any:
        """Return whether each point is in the shape. Points on the surface are in the shape.

        Parameters
        ----------
        points : (3,) float or (n, 3) float
            Points in the frame of the shape.
        workers : int
            Number of threads for (n, 3) points. The result does not depend on this number.

        Returns
        -------
        bool or (n,) bool
            False only for points that are proven to be outside, as in `gjk3d.collide`.

        Raises
        ------
        ShapeError
            If the points are not finite numbers in rows of three.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Sphere(1).contains([(0, 0, 1), (0, 0, 1.1)]).tolist()
        [True, False]
        """
        from gjk3d.convex.solve import contains

        return contains(self, points, workers)

    def _contains(self, points: Array, workers: int) -> NDArray[np.bool_]:
        from gjk3d.convex.solve import contains_by_collide

        return contains_by_collide(self, points, workers)

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Return a closed triangle mesh of the shape, with vertices on its surface and faces wound outward.

        Parameters
        ----------
        resolution : int
            Segments per full turn of curved parts, 3 to 4096.

        Returns
        -------
        Surface
            ``vertices`` (n, 3) float and ``faces`` (m, 3) int.

        Raises
        ------
        ShapeError
            If the resolution is not a whole number from 3 to 4096.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Box((1, 1, 1)).surface().faces.shape
        (12, 3)
        """
        return measure.from_support(self.support, resolution)

    def _ball(self) -> tuple[Array, float]:
        """Return centre and radius of a small enclosing ball."""
        center = self.bounds.mean(axis=0)
        floats = self._packed[1]
        return center, float(floats[layout.RHO] + floats[layout.RADIUS] + np.linalg.norm(center - floats[1:4]))

    def _box(self) -> tuple[Array, Array]:
        """Return pose and extents of a small oriented box that contains the shape."""
        surface = self.surface()
        best: tuple[Array, Array] | None = None
        for axes in [oriented_box(surface.vertices, surface.faces)[0][:3, :3], np.eye(3), *self._own_axes()]:
            high = np.einsum("ij,ji->i", self.support(axes.T), axes)
            low = np.einsum("ij,ji->i", self.support(-axes.T), axes)
            if best is None or (high - low).prod() < best[1].prod():
                pose = np.eye(4)
                pose[:3, :3], pose[:3, 3] = axes, axes @ ((high + low) / 2)
                best = pose, high - low
        assert best is not None
        return best

    def _faces(self) -> tuple[Ints, Array]:
        """Return the faces of the core as `face_loops` does, for contacts.

        Only a hull has faces here. For other cores the kernels derive the faces, and the result contains none.
        """
        if self._packed[0][layout.KIND] != layout.HULL:
            return np.zeros(1, dtype=np.int64), np.empty(0)
        return self._bare()._faces()

    def _own_axes(self) -> list[Array]:
        """Return rotation matrices whose columns are likely axes of a small enclosing box."""
        return []

    def inflated(self, radius: float) -> Shape:
        """Return the sum of the shape and a ball of this radius.

        Parameters
        ----------
        radius : float
            At least 0.

        Raises
        ------
        ShapeError
            If the radius is negative or not finite.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Box((2, 2, 2)).inflated(0.5).bounds[1].tolist()
        [1.5, 1.5, 1.5]
        """
        from gjk3d.shapes.composed import Rounded

        r = number(radius, "inflated: radius", zero=True)
        return self if r == 0.0 else Rounded(self, r)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the shape with its coordinates multiplied by one factor or by three. A negative factor mirrors.

        Parameters
        ----------
        factors : float or (3,) float
            The factors, which must not be zero.

        Raises
        ------
        ShapeError
            If a factor is zero or not finite.

        Examples
        --------
        >>> import gjk3d as gk
        >>> gk.Sphere(1).scaled((1, 2, 3))
        Ellipsoid(radii=[1.0, 2.0, 3.0])
        """
        from gjk3d.shapes.composed import Composed

        f = factors3(factors)
        if np.all(f == f[0]) and self._rounding() > 0:
            return self._bare().scaled(f).inflated(self._rounding() * abs(float(f[0])))
        return Composed._from_terms(layout.scaled_terms(self._terms(), self._rounding(), f), 0.0)

    def _bare(self) -> Shape:
        """Return the core as a shape without the radius."""
        from gjk3d.shapes.composed import Composed

        return Composed._from_terms(self._terms(), 0.0)

    def placed(self, pose: Pose | SupportsMatrix | None) -> Shape:
        """Return the shape moved within its own frame.

        Parameters
        ----------
        pose : (4, 4) float, RigidTransform or None
            A rigid transform. None leaves the shape unchanged.

        Raises
        ------
        PoseError
            If the pose is not a rigid transform.
        ShapeError
            If the argument is a stack of poses.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> pose = np.eye(4); pose[:3, 3] = (0, 0, 5)
        >>> gk.Sphere(1).placed(pose).bounds.tolist()
        [[-1.0, -1.0, 4.0], [1.0, 1.0, 6.0]]
        """
        rotation, translation = rigid(pose)
        if not translation.any() and np.array_equal(rotation, np.eye(3)):
            return self
        return self._moved(rotation, translation)

    def _moved(self, rotation: Array, translation: Array) -> Shape:
        from gjk3d.shapes.composed import Composed

        if self._rounding() > 0.0:
            return self._bare()._moved(rotation, translation).inflated(self._rounding())
        return Composed._from_terms(layout.moved_terms(self._terms(), rotation, translation), 0.0)


class Polytope(Shape):
    """A shape with finitely many vertices."""

    __slots__ = ()

    @property
    def vertices(self) -> Array:
        """The vertices, (n, 3) float."""
        raise AttributeError(type(self).__name__)

    def _with_vertices(self, vertices: Array) -> Shape:
        from gjk3d.shapes.polytopes import ConvexHull

        return ConvexHull(vertices)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the shape with its coordinates multiplied; see `Shape.scaled`."""
        return self._with_vertices(self.vertices * factors3(factors))

    def _moved(self, rotation: Array, translation: Array) -> Shape:
        return self._with_vertices(self.vertices @ rotation.T + translation)

    def _hull(self) -> Any:
        from gjk3d.geometry.hulls import build_hull

        return self._cached("hull", lambda: build_hull(np.ascontiguousarray(self.vertices)))

    def _gauss_map(self) -> tuple[Array, Array]:
        """Return unit face normals (f, 3), and edges (e, 9): the direction, then the normals of the edge's two faces.

        The face normals of a flat shape include the in-plane normals of its edges, so that the normals of adjacent
        faces differ by at most a right angle.
        """
        from gjk3d.geometry.hulls import gauss_map

        return self._cached("gauss", lambda: gauss_map(self._hull()))

    def _faces(self) -> tuple[Ints, Array]:
        hull = self._packed[0][layout.KIND] == layout.HULL
        return self._cached("loops", self._face_loops) if hull else super()._faces()

    def _face_loops(self) -> tuple[Ints, Array]:
        from gjk3d.geometry.polygon import face_loops

        hull = self._hull()
        ints, normals = face_loops(hull)
        # a degenerate tetrahedron has vertices that are not corners
        if not np.array_equal(hull.vertices, self.vertices):
            ints[2 + ints[0] :] = hull.indices[ints[2 + ints[0] :]]
        return ints, normals

    def _core_volume(self) -> float:
        return float(self._hull().volume)

    def _core_area_and_curvature(self) -> tuple[float, float]:
        hull = self._hull()
        ends = hull.vertices[hull.edges]
        lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        return float(hull.area), 0.5 * float(lengths @ hull.angles)

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Return the faces as triangles; see `Shape.surface`."""
        hull = self._hull()
        return measure.Surface(hull.vertices, hull.faces)

    def _ball(self) -> tuple[Array, float]:
        return minimal_ball(np.ascontiguousarray(self.vertices))

    def _box(self) -> tuple[Array, Array]:
        hull = self._hull()
        return oriented_box(hull.vertices, hull.faces)


SCAN = 48  #: vertices up to which a full scan is faster than a table of directions


class Curved(Shape):
    """A curved primitive, centred at the origin, with z as its axis."""

    __slots__ = ()

    def _box(self) -> tuple[Array, Array]:
        low, high = self.bounds
        pose = np.eye(4)
        pose[:3, 3] = (low + high) / 2
        return pose, high - low
