"""A half-space against a body: one normal has a finite support gap, and that gap is the answer."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from gjk3d.exact.arithmetic import Root, Vec, cross, dot, in_integers, negative
from gjk3d.exact.bodies import Body, Placement, at_point, turned
from gjk3d.exact.difference import Difference
from gjk3d.shapes.halfspace import Halfspace


class Plane(NamedTuple):
    """A placed half-space: ``normal.x <= offset``, the normal of any length."""

    normal: Vec
    offset: Fraction

    def height(self, value: Fraction) -> Root:
        """Return how far points with ``normal.x = value`` are above the surface."""
        p, q = (value - self.offset).as_integer_ratio()
        return Root(p, q * q * dot(self.normal, self.normal))

    def is_along(self, n: Vec, angle: Fraction) -> bool:
        """Whether n is its normal's direction to a small angle."""
        away = cross(n, self.normal)
        allowed = angle * angle * dot(n, n) * dot(self.normal, self.normal)
        return dot(n, self.normal) > 0 and dot(away, away) <= allowed


def place_plane(plane: Halfspace, at: Placement) -> Plane:
    """Return the half-space in world coordinates; normals turn by the inverse transposed."""
    x, y, z = (Fraction(c) for c in plane.normal.tolist())
    n, scale = in_integers((x, y, z))
    r = at.rotation
    cofactors = cross(r[1], r[2]), cross(r[2], r[0]), cross(r[0], r[1])
    normal = turned(cofactors, n)
    # x = (r / turn) y + t, so n.y <= offset scale becomes normal.(x - t) <= offset scale det(r) / turn
    det = dot(r[0], cofactors[0])
    along = Fraction(dot(normal, at.translation), at.shift)
    return Plane(normal, Fraction(plane.offset) * scale * Fraction(det, at.turn) + along)


def heights(plane: Plane, body: Body) -> tuple[Root, Root]:
    """Return bounds of the signed distance of the body, without its radius, from the half-space."""
    down = negative(plane.normal)
    alone = Difference(body, at_point((Fraction(0),) * 3))
    point, _, top = alone.support(down)
    return plane.height(Fraction(-top, alone.scale)), plane.height(Fraction(-dot(down, point), alone.scale))
