"""A shape grown on all sides: what `inflated` returns where no primitive has that form."""

from __future__ import annotations

from typing import Any

from gjk3d.errors import ShapeError
from gjk3d.shapes.base import Array, Shape, Term, factors3, number
from gjk3d.typing import FactorsLike


class Rounded(Shape):
    """The sum of a shape and a ball: all points within ``radius`` of the core.

    Exact in every query: the kernels see the core, and the radius is added to their answer.

    Parameters
    ----------
    core : Shape
        A bounded shape; its own rounding, if it has one, is added to.
    radius : float
        At least 0.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.Box((1, 1, 1)).inflated(0.25)
    Rounded(core=Box(extents=[1.0, 1.0, 1.0]), radius=0.25)
    """

    __slots__ = ("core", "radius")
    core: Shape
    radius: float

    def __init__(self, core: Shape, radius: float) -> None:
        if not isinstance(core, Shape):
            raise ShapeError(f"Rounded: core is a {type(core).__name__}, expected a convex shape")
        r = number(radius, "Rounded: radius", zero=True)
        inner, outer = (core.core, core.radius + r) if isinstance(core, Rounded) else (core, r)
        self._set(core=inner, radius=outer)

    def _core(self) -> tuple[int, Any, Any]:
        return self.core._core()

    def _terms(self) -> list[Term]:
        return self.core._terms()

    def _rounding(self) -> float:
        return self.core._rounding() + self.radius

    def _slack(self) -> float:
        return self.core._slack()

    def _pack(self) -> Any:
        from gjk3d.shapes import layout

        ints, floats = self.core._pack()
        floats[layout.RADIUS] = self._rounding()
        return ints, floats

    def _core_volume(self) -> float:
        return self.core._core_volume()

    def _core_area_and_curvature(self) -> tuple[float, float]:
        return self.core._core_area_and_curvature()

    def _ball(self) -> tuple[Array, float]:
        center, radius = self.core._ball()
        return center, radius + self.radius

    def _box(self) -> tuple[Array, Array]:
        pose, extents = self.core._box()
        return pose, extents + 2 * self.radius

    def inflated(self, radius: float) -> Shape:
        """Return the shape grown further."""
        return Rounded(self.core, self.radius + number(radius, "inflated: radius", zero=True))

    def scaled(self, factors: FactorsLike) -> Shape:
        """Return a rounded shape for factors of equal size, else the sum of the scaled core and an ellipsoid."""
        f = factors3(factors)
        if abs(f[0]) == abs(f[1]) == abs(f[2]):
            return Rounded(self.core.scaled(f), self.radius * abs(float(f[0])))
        return super().scaled(f)

    def _bare(self) -> Shape:
        return self.core if self.core._rounding() == 0.0 else self.core._bare()

    def _moved(self, rotation: Array, translation: Array) -> Shape:
        return Rounded(self.core._moved(rotation, translation), self.radius)
