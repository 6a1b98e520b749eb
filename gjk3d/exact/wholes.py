"""A body in world coordinates as the judge takes it: its convex parts, and the closed surfaces whose inside counts."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from gjk3d.exact.arithmetic import (
    ZERO,
    Enclosure,
    FractionVec,
    Vec,
    cross,
    dot,
    in_integers,
    scaled_vector,
    stretched,
    sub,
)
from gjk3d.exact.certificates import winding
from gjk3d.exact.convex_sets import Body, Mover, Placement, Term, at_point, place_all, translation
from gjk3d.exact.cuts import Union
from gjk3d.exact.difference import Difference
from gjk3d.exact.signed import enclose


class Solid(NamedTuple):
    """A closed surface whose inside counts, its corners over a scale."""

    corners: list[tuple[Vec, Vec, Vec]]
    scale: int

    def placed(self, at: Placement) -> Solid:
        """Return it at a pose."""
        mover = Mover(self.scale, at)
        return Solid([(mover.moved(p), mover.moved(q), mover.moved(r)) for p, q, r in self.corners], mover.scale)

    def faces(self) -> Union:
        """Return its triangles."""
        return Union([Body((Term((corner,), ()),), self.scale, ZERO, ZERO) for corner in self.corners])

    def holds(self, point: FractionVec) -> bool | None:
        """Tell whether the surface goes round a point; None where the point is on it, or it cannot be told."""
        p, scale = in_integers(point)
        common = lcm(scale, self.scale)
        up, here = common // self.scale, stretched(p, common // scale)
        for axis in range(3):
            values = [c[axis] * up for corner in self.corners for c in corner]
            if not min(values) <= here[axis] <= max(values):
                return False
        about = [tuple(sub(stretched(c, up), here) for c in corner) for corner in self.corners]
        if any(_touches_origin(*corner) for corner in about):
            return None
        return winding(about) != 0  # type: ignore[arg-type]


class Whole(NamedTuple):
    """A body in world coordinates.

    Attributes
    ----------
    name : str
        How it is called, "a" or "b".
    union : Union
    pieces : list of FractionVec
        A point of each connected piece, or of each part.
    solids : list of Solid
    hulls : list of Body
        Convex sets that lie in the solids.
    size : float
        Its greatest coordinate in its own frame.
    origin : FractionVec
        Where its frame stands.
    doubts : list of str
        What of it the judge cannot follow.
    """

    name: str
    union: Union
    pieces: list[FractionVec]
    solids: list[Solid]
    hulls: list[Body]
    size: float
    origin: FractionVec
    doubts: list[str]

    def moved(self, by: FractionVec) -> Whole:
        """Return it at another place."""
        pieces, at = [_sum(p, by) for p in self.pieces], translation(by)
        solids = [solid.placed(at) for solid in self.solids]
        return self._replace(union=Union(place_all(self.union.parts, at)), pieces=pieces, solids=solids)


def _sum(p: FractionVec, q: FractionVec) -> FractionVec:
    return p[0] + q[0], p[1] + q[1], p[2] + q[2]


def on_scale(points: list[FractionVec], scale: int) -> tuple[list[Vec], int]:
    """Return points in integers over a multiple of a scale, and that."""
    common = lcm(scale, *(c.denominator for p in points for c in p))
    return [scaled_vector(p, common) for p in points], common


def _touches_origin(a: Vec, b: Vec, c: Vec) -> bool:
    n = cross(sub(b, a), sub(c, a))
    if any(n) and dot(n, a):
        return False
    origin = at_point((Fraction(0), Fraction(0), Fraction(0)))
    triangle = at_point((Fraction(0), Fraction(0), Fraction(0)))
    triangle = triangle._replace(terms=(triangle.terms[0]._replace(sets=((a, b, c),)),), scale=1)
    proof = Enclosure(Fraction(0), Fraction(0))
    enclose(Difference(triangle, origin), a if any(a) else (1, 0, 0), proof)
    return proof.high_proven


def is_closed(faces: list[tuple[int, int, int]]) -> bool:
    """Tell whether each edge of triangles is matched by one that runs the other way."""
    edges = Counter(edge for i, j, k in faces for edge in ((i, j), (j, k), (k, i)))
    return bool(faces) and all(edges[j, i] == uses for (i, j), uses in edges.items())
