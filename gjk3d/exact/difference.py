"""The Minkowski difference A - B by its support: exact for vertices, bracketed to 2**-63 where there are balls."""

from __future__ import annotations

from math import isqrt, lcm

from gjk3d.exact.arithmetic import Enclosure, Matrix, Root, Vec, columns, dot, stretched, turned
from gjk3d.exact.convex_sets import Body, Term, stretched_matrix

_GRID = 64  #: a point of the unit ball is a multiple of 2**-64, rounded towards the centre
_LONG, _SHORT = 112, 80  #: binary digits beyond which a direction is shortened where there are balls, and to how many

Picks = tuple[int, ...]
Vertex = tuple[Vec, Picks]  #: a point of A - B, and the vertices it is made of


class Difference:
    """The set A - B without its radii, in integers over ``scale``.

    Attributes
    ----------
    exact : bool
        Whether it is a polytope, so that support points are the farthest there are.
    scale : int
        What coordinates are to be divided by.
    radius_low, radius_high : Fraction
        The two radii together.
    """

    __slots__ = ("exact", "radius_high", "radius_low", "scale", "square", "terms")

    def __init__(self, a: Body, b: Body) -> None:
        self.exact = not (a.curved or b.curved)
        common = lcm(a.scale, b.scale)
        grid = 1 if self.exact else 1 << _GRID
        up_a, up_b = grid * (common // a.scale), grid * (common // b.scale)
        self.scale = common * grid
        self.square = self.scale * self.scale
        self.radius_low, self.radius_high = a.radius_low + b.radius_low, a.radius_high + b.radius_high
        parts_a = [_times(term, up_a) for term in a.terms]
        parts_b = [_times(term, -up_b) for term in b.terms]  # a ball is its own mirror image
        self.terms = [Term(p.sets + q.sets, p.balls + q.balls) for p in parts_a for q in parts_b]

    def direction(self, n: Vec) -> Vec:
        """Return n, or a shorter vector close to it where exactness is out of reach anyway."""
        if self.exact:
            return n
        digits = max(abs(n[0]), abs(n[1]), abs(n[2])).bit_length()
        if digits <= _LONG:
            return n
        down = digits - _SHORT
        return n[0] >> down, n[1] >> down, n[2] >> down

    def support(self, n: Vec) -> tuple[Vec, Picks, int]:
        """Return a point of the set far along n, the vertices it is made of, and an upper bound of n.x over the set."""
        found: tuple[int, Term, list[int], list[tuple[Matrix, Vec, int]]] | None = None
        tops = []
        for term in self.terms:
            low = 0
            picks = []
            for points in term.sets:
                pick, value = _farthest(points, n)
                picks.append(pick)
                low += value
            high = low
            turns = []
            for ball in term.balls:
                q = turned(columns(ball), n)
                square = dot(q, q)
                root = isqrt(square)
                up = root if root * root == square else root + 1
                low, high = low + root, high + up
                if up:
                    turns.append((ball, q, up))
            if found is None or low > found[0]:
                found = low, term, picks, turns
            tops.append(high)
        assert found is not None
        _, term, picks, turns = found
        x = y = z = 0
        for points, pick in zip(term.sets, picks, strict=True):
            p = points[pick]
            x, y, z = x + p[0], y + p[1], z + p[2]
        for ball, q, up in turns:
            u = _towards_zero(q[0], up), _towards_zero(q[1], up), _towards_zero(q[2], up)
            x, y, z = (
                x + (dot(ball[0], u) >> _GRID),
                y + (dot(ball[1], u) >> _GRID),
                z + (dot(ball[2], u) >> _GRID),
            )  # the balls are multiples of the grid, so nothing is lost
        return (x, y, z), tuple(picks), max(tops)

    def look(self, n: Vec, proof: Enclosure) -> Vertex:
        """Return a point of the set far along n; the lower bound that n proves goes into ``proof``."""
        point, picks, top = self.support(n)
        proof.raise_low(Root(-top, dot(n, n) * self.square), n)
        return point, picks

    def height(self, n: Vec) -> Root:
        """Return an upper bound of the support value along n / |n|; less it is a lower bound of the distance."""
        return Root(self.support(n)[2], dot(n, n) * self.square)


def _times(term: Term, by: int) -> Term:
    return Term(
        tuple(tuple(stretched(p, by) for p in points) for points in term.sets),
        tuple(stretched_matrix(ball, by) for ball in term.balls),
    )


def _farthest(points: tuple[Vec, ...], n: Vec) -> tuple[int, int]:
    x, y, z = n
    values = [p[0] * x + p[1] * y + p[2] * z for p in points]
    most = max(values)
    return values.index(most), most


def _towards_zero(q: int, length: int) -> int:
    return (q << _GRID) // length if q >= 0 else -((-q << _GRID) // length)
