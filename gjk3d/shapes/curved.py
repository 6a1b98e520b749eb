"""Convex shapes with curved surfaces: sphere, capsule, cylinder, cone and ellipsoid.

A sphere is a point with a radius, and a capsule is a segment with a radius. Cylinders and cones have z as their axis.
"""

from __future__ import annotations

from math import atan2, hypot, pi, sqrt
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import inlined
from gjk3d.errors import ShapeError
from gjk3d.geometry.vec3 import NO_LENGTH, Vec3
from gjk3d.shapes import layout, measure
from gjk3d.shapes.base import Curved, Shape, factors3, number, vector
from gjk3d.shapes.polytopes import Point, Segment
from gjk3d.typing import Array, FactorsLike, VectorLike
from gjk3d.wording import cure_of_numbers, with_cure


class Sphere(Curved):
    """The ball about the origin.

    Parameters
    ----------
    radius : float
        More than 0, in the unit of all lengths.

    Raises
    ------
    ShapeError
        If the radius is not a finite number above 0.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> apart = np.eye(4); apart[0, 3] = 5
    >>> gk.signed_distance(gk.Sphere(1), gk.Sphere(2), None, apart).distance
    2.0
    """

    __slots__ = ("radius",)
    radius: float

    def __init__(self, radius: float) -> None:
        self._set(radius=number(radius, "Sphere: radius", cure=". For radius 0 use a Point."))

    def _core(self) -> tuple[int, Any, Any]:
        return layout.POINT, np.zeros(3), np.empty(0)

    def _rounding(self) -> float:
        return self.radius

    @property
    def volume(self) -> float:
        """Volume, 4/3 pi radius^3."""
        return 4.0 / 3.0 * pi * self.radius**3

    def _core_area_and_curvature(self) -> tuple[float, float]:
        return 0.0, 0.0

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), self.radius

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Return the surface as rings of triangles; see `Shape.surface`."""
        return measure.sphere(self.radius, resolution)

    def inflated(self, radius: float) -> Shape:
        """Return the larger ball; see `Shape.inflated`."""
        return Sphere(self.radius + number(radius, "inflated: radius", zero=True))

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return a sphere if the factors are equal in size, else an ellipsoid; see `Shape.scaled`."""
        f = np.abs(factors3(factors))
        return Sphere(self.radius * f[0]) if np.all(f == f[0]) else Ellipsoid(self.radius * f)

    def _bare(self) -> Shape:
        return Point()


class Capsule(Curved):
    """All points within ``radius`` of a segment along z.

    Parameters
    ----------
    radius : float
        More than 0.
    height : float
        Distance between the centres of the caps, at least 0, as in FCL and trimesh. The whole length is ``height + 2
        radius``.

    Raises
    ------
    ShapeError
        If the radius is not a finite number above 0, or the height is negative or not finite.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Capsule(0.5, 2).bounds[1].tolist()
    [0.5, 0.5, 1.5]
    """

    __slots__ = ("height", "radius")
    radius: float
    height: float

    def __init__(self, radius: float, height: float) -> None:
        self._set(
            radius=number(radius, "Capsule: radius"),
            height=number(height, "Capsule: height", zero=True),
        )

    def _core(self) -> tuple[int, Any, Any]:
        if self.height == 0.0:
            return layout.POINT, np.zeros(3), np.zeros(0)
        return layout.SEGMENT, np.zeros(3), np.array([0.0, 0.0, self.height / 2])

    def _rounding(self) -> float:
        return self.radius

    @property
    def volume(self) -> float:
        """Volume, the sum of the volumes of a cylinder and a ball."""
        return pi * self.radius**2 * (self.height + 4.0 / 3.0 * self.radius)

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), self.height / 2 + self.radius

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Return the surface as rings of triangles; see `Shape.surface`."""
        return measure.capsule(self.radius, self.height, resolution)

    def inflated(self, radius: float) -> Shape:
        """Return the thicker capsule; see `Shape.inflated`."""
        return Capsule(self.radius + number(radius, "inflated: radius", zero=True), self.height)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the scaled capsule, a `Composed` shape if the factors differ in size; see `Shape.scaled`."""
        f = np.abs(factors3(factors))
        return Capsule(self.radius * f[0], self.height * f[0]) if np.all(f == f[0]) else super().scaled(f)

    def _bare(self) -> Shape:
        return Segment((0, 0, -self.height / 2), (0, 0, self.height / 2)) if self.height > 0.0 else Point()


@inlined
def support_cylinder(f: Array, d: Vec3) -> Vec3:
    """Return the rim point farthest along d of the cylinder with radius f[0] and half height f[1].

    If d is along the axis, all points of a cap are equally far, and the result is the centre of the cap.
    """
    z = f[1] if d[2] >= 0.0 else -f[1]
    r = sqrt(d[0] * d[0] + d[1] * d[1])
    if not r > NO_LENGTH:
        return (0.0, 0.0, z)
    s = f[0] / r
    return (s * d[0], s * d[1], z)


class Cylinder(Curved):
    """The cylinder about the z axis, centred at the origin.

    Parameters
    ----------
    radius : float
        More than 0.
    height : float
        Full length along z. 0 gives a disc, which is flat and has two sides.

    Raises
    ------
    ShapeError
        If the radius is not a finite number above 0, or the height is negative or not finite.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Cylinder(1, 4).bounds.tolist()
    [[-1.0, -1.0, -2.0], [1.0, 1.0, 2.0]]
    """

    __slots__ = ("height", "radius")
    radius: float
    height: float

    def __init__(self, radius: float, height: float) -> None:
        self._set(radius=number(radius, "Cylinder: radius"), height=number(height, "Cylinder: height", zero=True))

    def _core(self) -> tuple[int, Any, Any]:
        return layout.CYLINDER, np.zeros(3), np.array([self.radius, self.height / 2])

    def _core_volume(self) -> float:
        return pi * self.radius**2 * self.height

    def _core_area_and_curvature(self) -> tuple[float, float]:
        return 2 * pi * self.radius * (self.radius + self.height), pi * self.height + pi**2 * self.radius

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), float(np.hypot(self.radius, self.height / 2))

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Return the surface as a prism whose vertices are on the rims of the cylinder; see `Shape.surface`."""
        return measure.cylinder(self.radius, self.height, resolution)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the scaled cylinder, elliptic if the factors of x and y differ in size; see `Shape.scaled`."""
        f = np.abs(factors3(factors))
        return Cylinder(self.radius * f[0], self.height * f[2]) if f[0] == f[1] else super().scaled(f)


@inlined
def support_cone(f: Array, d: Vec3) -> Vec3:
    """Return the farthest point along d, the apex or a rim point, of the cone with radius f[0] and half height f[1]."""
    r = sqrt(d[0] * d[0] + d[1] * d[1])
    if 2.0 * f[1] * d[2] >= f[0] * r:
        return (0.0, 0.0, f[1])
    if not r > NO_LENGTH:
        return (0.0, 0.0, -f[1])
    s = f[0] / r
    return (s * d[0], s * d[1], -f[1])


class Cone(Curved):
    """The cone about the z axis: base at ``-height/2``, apex at ``+height/2``, as in FCL.

    Parameters
    ----------
    radius : float
        Radius of the base, more than 0.
    height : float
        Distance from base to apex, more than 0.

    Raises
    ------
    ShapeError
        If the radius or the height is not a finite number above 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Cone(1, 2).support((0, 0, 1)).tolist()
    [0.0, 0.0, 1.0]
    """

    __slots__ = ("height", "radius")
    radius: float
    height: float

    def __init__(self, radius: float, height: float) -> None:
        self._set(radius=number(radius, "Cone: radius"), height=number(height, "Cone: height"))

    def _core(self) -> tuple[int, Any, Any]:
        return layout.CONE, np.zeros(3), np.array([self.radius, self.height / 2])

    def _core_volume(self) -> float:
        return pi * self.radius**2 * self.height / 3

    def _core_area_and_curvature(self) -> tuple[float, float]:
        r, h = self.radius, self.height
        return pi * r * (r + hypot(r, h)), pi * h + pi * r * (pi - atan2(h, r))

    def _ball(self) -> tuple[Array, float]:
        r, h = self.radius, self.height
        if h <= r:
            return np.array([0.0, 0.0, -h / 2]), r
        radius = (r * r / h + h) / 2  # through the apex and the rim
        return np.array([0.0, 0.0, h / 2 - radius]), radius

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Return the surface as a pyramid whose base vertices are on the rim of the cone; see `Shape.surface`."""
        return measure.cone(self.radius, self.height, resolution)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the scaled cone, a `Composed` shape if the result is elliptic or upside down; see `Shape.scaled`."""
        f = factors3(factors)
        if abs(f[0]) == abs(f[1]) and f[2] > 0:
            return Cone(self.radius * abs(f[0]), self.height * f[2])
        return super().scaled(f)


@inlined
def support_ellipsoid(f: Array, d: Vec3) -> Vec3:
    """Return the farthest point along d of the ellipsoid with radii f[:3]; d has any length."""
    x, y, z = f[0] * d[0], f[1] * d[1], f[2] * d[2]
    n = sqrt(x * x + y * y + z * z)
    if not n > NO_LENGTH:
        return (f[0], 0.0, 0.0)
    return (f[0] * (x / n), f[1] * (y / n), f[2] * (z / n))


class Ellipsoid(Curved):
    """The ellipsoid about the origin, aligned with the axes.

    Parameters
    ----------
    radii : (3,) float
        Half axes along x, y and z, each more than 0.

    Raises
    ------
    ShapeError
        If the radii are not three finite numbers above 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Ellipsoid((1, 2, 3)).support((0, 0, -1)).tolist()
    [0.0, 0.0, -3.0]
    """

    __slots__ = ("radii",)
    radii: Array

    @with_cure(cure_of_numbers)
    def __init__(self, radii: VectorLike) -> None:
        r = vector(radii, "Ellipsoid: radii")
        if not min(r.tolist()) > 0.0:
            raise ShapeError(f"Ellipsoid: radii are {r.tolist()}, expected more than 0 each")
        self._set(radii=r)

    def _core(self) -> tuple[int, Any, Any]:
        if self._rounding() > 0.0:
            return layout.POINT, np.zeros(3), np.empty(0)
        return layout.ELLIPSOID, np.zeros(3), self.radii

    def _rounding(self) -> float:
        return float(self.radii[0]) if np.all(self.radii == self.radii[0]) else 0.0  # a ball is a point with a radius

    def _bare(self) -> Shape:
        return Point() if self._rounding() > 0.0 else self

    def _core_volume(self) -> float:
        if self._rounding() > 0.0:
            return 0.0
        return float(4.0 / 3.0 * pi * self.radii.prod())

    def _core_area_and_curvature(self) -> tuple[float, float]:
        if self._rounding() > 0.0:
            return 0.0, 0.0
        # Carlson's R_G is the mean of the square root of a quadratic form over the sphere
        from scipy.special import elliprg

        a, b, c = self.radii**2
        return float(4 * pi * elliprg(a * b, b * c, c * a)), float(4 * pi * elliprg(a, b, c))

    def _ball(self) -> tuple[Array, float]:
        return np.zeros(3), float(self.radii.max())

    def surface(self, resolution: int = 32) -> measure.Surface:
        """Return the surface as rings of triangles; see `Shape.surface`."""
        return measure.ellipsoid(self.radii, resolution)

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return the ellipsoid with its radii multiplied; see `Shape.scaled`."""
        return Ellipsoid(self.radii * np.abs(factors3(factors)))
