"""Integer vectors, signed square roots of fractions, and rounding to floats outward."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf, isqrt, lcm, nextafter

Vec = tuple[int, int, int]
FractionVec = tuple[Fraction, Fraction, Fraction]

_DIGITS = 256  #: binary digits of a square root that is bracketed by fractions
_GREATEST = float.fromhex("0x1.fffffffffffffp+1023")


def dot(a: Vec, b: Vec) -> int:
    """Return a.b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec, b: Vec) -> Vec:
    """Return a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def sub(a: Vec, b: Vec) -> Vec:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def negative(a: Vec) -> Vec:
    """Return -a."""
    return -a[0], -a[1], -a[2]


def in_integers(p: FractionVec) -> tuple[Vec, int]:
    """Return p times a common denominator, and that."""
    scale = lcm(*(c.denominator for c in p))
    x, y, z = (c.numerator * (scale // c.denominator) for c in p)
    return (x, y, z), scale


def combine(weights: Iterable[int], points: Iterable[Vec]) -> Vec:
    """Return the sum of weights times points."""
    x = y = z = 0
    for w, p in zip(weights, points, strict=True):
        x, y, z = x + w * p[0], y + w * p[1], z + w * p[2]
    return x, y, z


class Root:
    """The number ``num / sqrt(den)``, ``den > 0``: what a plane's or a point's distance from the origin is.

    Compared by sign and square, so no root is ever taken.
    """

    __slots__ = ("den", "num")

    def __init__(self, num: int, den: int = 1) -> None:
        self.num = num
        self.den = den

    @classmethod
    def of(cls, value: Fraction | float) -> Root:
        """Return a rational number as a root."""
        p, q = value.as_integer_ratio()
        return cls(p, q * q)

    def __lt__(self, other: Root) -> bool:
        a, b = self.num, other.num
        if (a > 0) != (b > 0) or a == 0 or b == 0:
            return (a > 0) - (a < 0) < (b > 0) - (b < 0)
        left, right = a * a * other.den, b * b * self.den
        return left < right if a > 0 else left > right

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and not self < other and not other < self

    def __hash__(self) -> int:
        return hash(self.signed_square)

    def __repr__(self) -> str:
        return f"Root({self.num}, {self.den})"

    @property
    def signed_square(self) -> Fraction:
        """The square, with the root's own sign."""
        return Fraction(self.num * abs(self.num), self.den)

    def bracket(self) -> tuple[Fraction, Fraction]:
        """Return fractions round the root, equal where it is rational with few digits, else within 2**-200 of it."""
        square = self.num * self.num
        shift = max(0, _DIGITS - (square.bit_length() - self.den.bit_length()) // 2)
        scaled = (square << (2 * shift)) // self.den
        below = isqrt(scaled)
        above = below if below * below * self.den == square << (2 * shift) else below + 1
        low, high = Fraction(below, 1 << shift), Fraction(above, 1 << shift)
        return (low, high) if self.num >= 0 else (-high, -low)


def float_below(x: Fraction) -> float:
    """Return the greatest float that is at most x."""
    try:
        f = float(x)
    except OverflowError:
        return _GREATEST if x > 0 else -inf
    return f if Fraction(f) <= x else nextafter(f, -inf)


def float_above(x: Fraction) -> float:
    """Return the least float that is at least x."""
    return 0.0 - float_below(-x)  # no negative zero


def sqrt_bounds(x: Fraction) -> tuple[float, float]:
    """Return floats round the square root of x: equal where it is a float, else neighbours.

    Examples
    --------
    >>> from fractions import Fraction
    >>> sqrt_bounds(Fraction(9, 4))
    (1.5, 1.5)
    """
    low, high = Root(x.numerator, x.numerator * x.denominator).bracket() if x else (Fraction(0), Fraction(0))
    return float_below(low), float_above(high)
