"""Exact arithmetic: vectors of integers or fractions, signed square roots, outward rounding, and proven bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf, isqrt, lcm, nextafter
from typing import Any, TypeVar, overload

Vec = tuple[int, int, int]
FractionVec = tuple[Fraction, Fraction, Fraction]
Matrix = tuple[Vec, Vec, Vec]  #: the rows of a matrix
_T = TypeVar("_T", int, Fraction)
ZERO = Fraction(0)
ORIGIN: FractionVec = (ZERO, ZERO, ZERO)

_DIGITS = 256  #: binary digits of the fractions that bracket a square root
_GREATEST = float.fromhex("0x1.fffffffffffffp+1023")


@overload
def dot(a: Vec, b: Vec) -> int: ...
@overload
def dot(a: Vec | FractionVec, b: FractionVec) -> Fraction: ...
def dot(a: Any, b: Any) -> Any:
    """Return the dot product of a and b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec, b: Vec) -> Vec:
    """Return the cross product of a and b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def sub(a: tuple[_T, _T, _T], b: tuple[_T, _T, _T]) -> tuple[_T, _T, _T]:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def negative(a: Vec) -> Vec:
    """Return -a."""
    return -a[0], -a[1], -a[2]


def stretched(p: Vec, by: int) -> Vec:
    """Return the vector p times the integer ``by``."""
    return p[0] * by, p[1] * by, p[2] * by


def columns(matrix: Sequence[tuple[_T, _T, _T]]) -> tuple[tuple[_T, _T, _T], ...]:
    """Return the columns of a matrix, which are the rows of its transpose."""
    return tuple((row[0], row[1], row[2]) for row in zip(*matrix, strict=True))


def turned(matrix: Sequence[tuple[_T, _T, _T]], p: tuple[_T, _T, _T]) -> tuple[_T, _T, _T]:
    """Return the product of a matrix and the vector p."""
    x, y, z = (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] for row in matrix)
    return x, y, z


def fractions(row: Any) -> FractionVec:
    """Return three numbers as exact fractions. ``row`` may be a numpy array."""
    x, y, z = row.tolist() if hasattr(row, "tolist") else row
    return Fraction(x), Fraction(y), Fraction(z)


def common_scale(points: Iterable[Iterable[Fraction]]) -> int:
    """Return the least common denominator of all coordinates of points."""
    return lcm(*(c.denominator for p in points for c in p))


def scaled_vector(p: FractionVec, scale: int) -> Vec:
    """Return p times ``scale``, which is a multiple of all denominators of p."""
    x, y, z = (c.numerator * (scale // c.denominator) for c in p)
    return x, y, z


def in_integers(p: FractionVec) -> tuple[Vec, int]:
    """Return p times its least common denominator, and this denominator."""
    scale = common_scale([p])
    return scaled_vector(p, scale), scale


def combine(weights: Iterable[int], points: Iterable[Vec]) -> Vec:
    """Return the sum of the points multiplied by their weights."""
    x = y = z = 0
    for w, p in zip(weights, points, strict=True):
        x, y, z = x + w * p[0], y + w * p[1], z + w * p[2]
    return x, y, z


class Root:
    """The number ``num / sqrt(den)`` with ``den > 0``. Distances of planes and points from the origin have this form.

    Two numbers are compared by their signs and squares, so the comparison is exact.
    """

    __slots__ = ("den", "num")

    def __init__(self, num: int, den: int = 1) -> None:
        self.num = num
        self.den = den

    @classmethod
    def of(cls, value: Fraction | float) -> Root:
        """Return a rational number as a `Root`."""
        p, q = value.as_integer_ratio()
        return cls(p, q * q)

    @classmethod
    def sqrt(cls, square: Fraction) -> Root:
        """Return the square root of a rational number that is not negative."""
        p, q = square.numerator, square.denominator
        return cls(p, p * q) if p else cls(0)

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
        """The square of the number, with the sign of the number."""
        return Fraction(self.num * abs(self.num), self.den)

    def bracket(self) -> tuple[Fraction, Fraction]:
        """Return two fractions that enclose the number. Their relative difference is below 2**-200."""
        square = self.num * self.num
        shift = max(0, _DIGITS - (square.bit_length() - self.den.bit_length()) // 2)
        scaled = (square << (2 * shift)) // self.den
        below = isqrt(scaled)
        above = below if below * below * self.den == square << (2 * shift) else below + 1
        low, high = Fraction(below, 1 << shift), Fraction(above, 1 << shift)
        return (low, high) if self.num >= 0 else (-high, -low)


def float_below(x: Fraction) -> float:
    """Return the greatest float that is not above x."""
    try:
        f = float(x)
    except OverflowError:
        return _GREATEST if x > 0 else -inf
    return f if Fraction(f) <= x else nextafter(f, -inf)


def float_above(x: Fraction) -> float:
    """Return the least float that is not below x."""
    return 0.0 - float_below(-x)  # no negative zero


def sqrt_bounds(x: Fraction) -> tuple[float, float]:
    """Return two floats that enclose the square root of x. They are equal if the root is a float, else neighbours.

    Examples
    --------
    >>> from fractions import Fraction
    >>> sqrt_bounds(Fraction(9, 4))
    (1.5, 1.5)
    """
    low, high = Root.sqrt(x).bracket()
    return float_below(low), float_above(high)


class Enclosure:
    """Proven bounds of the signed distance of two shapes without their radii, and bounds that a search has to prove.

    Parameters
    ----------
    want_low, want_high : Fraction, optional
        The bounds to prove. A search stops when both are proven, or one is refuted. None means that no bound is needed.
    stop : bool
        If False, a search continues until it finds the exact value.
    """

    __slots__ = ("high", "low", "normal", "stop", "want_high", "want_low")

    def __init__(
        self, want_low: Fraction | None = None, want_high: Fraction | None = None, *, stop: bool = True
    ) -> None:
        self.want_low = None if want_low is None else Root.of(want_low)
        self.want_high = None if want_high is None else Root.of(want_high)
        self.stop = stop
        self.low: Root | None = None
        self.high: Root | None = None
        self.normal: Vec = (1, 0, 0)  #: the normal that proves ``low``

    def raise_low(self, bound: Root, normal: Vec) -> None:
        """Set the lower bound and the normal that proves it, if ``bound`` is greater than the lower bound so far."""
        if self.low is None or self.low < bound:
            self.low, self.normal = bound, normal

    def drop_high(self, bound: Root) -> None:
        """Set the upper bound, if ``bound`` is less than the upper bound so far."""
        if self.high is None or bound < self.high:
            self.high = bound

    @property
    def low_proven(self) -> bool:
        """Whether the distance is proven to be at least ``want_low``."""
        return self.want_low is None or (self.low is not None and not self.low < self.want_low)

    @property
    def high_proven(self) -> bool:
        """Whether the distance is proven to be at most ``want_high``."""
        return self.want_high is None or (self.high is not None and not self.want_high < self.high)

    @property
    def low_refuted(self) -> bool:
        """Whether the distance is proven to be less than ``want_low``."""
        return self.want_low is not None and self.high is not None and self.high < self.want_low

    @property
    def high_refuted(self) -> bool:
        """Whether the distance is proven to be more than ``want_high``."""
        return self.want_high is not None and self.low is not None and self.want_high < self.low

    @property
    def done(self) -> bool:
        """Whether a search can stop."""
        return self.stop and (self.low_refuted or self.high_refuted or (self.low_proven and self.high_proven))
