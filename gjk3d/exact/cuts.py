"""Unions of convex sets, bodies in world coordinates, and cuts that separate two unions.

A cut is a list of pairs of groups: a group of parts of A and a group of parts of B, with a plane between them. Together
the pairs cover all pairs of parts. A cut is searched in floats and checked in rational numbers, so a rounding error of
the search cannot make a proof wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from gjk3d.exact.arithmetic import (
    ORIGIN,
    ZERO,
    Enclosure,
    FractionVec,
    Root,
    Vec,
    cross,
    dot,
    float_above,
    fractions,
    in_integers,
    scaled_vector,
    stretched,
    sub,
)
from gjk3d.exact.certificates import winding
from gjk3d.exact.convex_sets import Body, Difference, Mover, Placement, Term, at_point, place_all, translation
from gjk3d.exact.gjk_epa import enclose
from gjk3d.poses import UNIT_ROUNDOFF
from gjk3d.results import PartsCertificate
from gjk3d.typing import Array, Ints

_STEPS = 12  #: greatest number of directions that are tried for a plane
_MOST = 20_000  #: greatest number of pairs of groups that a search visits
_MOST_CHECKED = 500  #: greatest number of pairs of parts whose distance is computed in rational numbers
NO_PARTS = np.empty(0, dtype=np.int64)
_AXES: tuple[Vec, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


class Union:
    """A union of convex sets in world coordinates, and their points in floats for the search for planes.

    Attributes
    ----------
    parts : sequence of Body
        The convex sets.
    low, high : (n, 3) float
        The lower and the upper corner of a box around each part, up to rounding.
    order : (n,) int
        The indices of the parts. A group of parts is a range of this array.
    """

    def __init__(self, parts: Sequence[Body]) -> None:
        self.parts = parts
        points = _float_points(parts)
        self._curved = np.array([part.curved for part in parts])
        self._radii = sorted({part.radius_high for part in parts})
        ranks = {radius: rank for rank, radius in enumerate(self._radii)}
        self._ranks = np.array([ranks[part.radius_high] for part in parts])
        self.radii = np.array([float_above(radius) for radius in self._radii])[self._ranks]
        self._counts = np.array([len(p) for p in points])
        self._starts = np.cumsum(self._counts) - self._counts
        self._points = np.array([p for some in points for p in some])
        self.low = np.minimum.reduceat(self._points, self._starts) - self.radii[:, None]
        self.high = np.maximum.reduceat(self._points, self._starts) + self.radii[:, None]
        self.reach = float(max(np.abs(self.low).max(), np.abs(self.high).max()))
        self.order = np.arange(len(parts))
        self._middles: dict[tuple[int, int], int] = {}

    def points(self, low: int, high: int) -> Array:
        """Return the points (k, 3) of the parts in ``order[low:high]``."""
        which = self.order[low:high]
        return self._points if len(which) == len(self.parts) else self._points_of(which)[0]

    def _points_of(self, which: Ints) -> tuple[Array, Ints]:
        """Return the points of the parts ``which``, and the index of the first point of each part."""
        counts = self._counts[which]
        begins = np.cumsum(counts) - counts
        points: Array = self._points[np.repeat(self._starts[which] - begins, counts) + np.arange(counts.sum())]
        return points, begins

    def top(self, which: Ints, n: Array) -> tuple[Fraction, Fraction]:
        """Return an upper bound of n.x over the points x of the parts ``which`` without their radii.

        The second result is the greatest radius of the parts. Rational numbers are used only for the parts that may be
        farthest along n according to floats.
        """
        points, begins = self._points_of(which)
        heights = np.maximum.reduceat(points @ (n / np.abs(n).max()), begins)
        # each of two compared heights has six roundings: of the points, the normal, the products and the sums
        error = 64.0 * UNIT_ROUNDOFF * float(np.abs(points).max()) + 1e-300
        least = np.where(self._curved[which], -np.inf, heights - error).max()
        n_ints = _integer_vector(n)
        highest = max(_top(self.parts[k], n_ints) for k in which[~(heights + error < least)].tolist())
        return highest, self._radii[self._ranks[which].max()]

    def radius(self, low: int, high: int) -> float:
        """Return the greatest radius of the parts in ``order[low:high]``."""
        return float(self.radii[self.order[low:high]].max())

    def middle(self, low: int, high: int) -> int:
        """Return the index that splits ``order[low:high]``. The first call sorts the range along its longest axis."""
        if (low, high) not in self._middles:
            which = self.order[low:high]
            places = self.low[which] + self.high[which]
            axis = int(np.ptp(places, axis=0).argmax())
            self.order[low:high] = which[np.argsort(places[:, axis], kind="stable")]
            self._middles[low, high] = (low + high) // 2
        return self._middles[low, high]

    def about(self, point: FractionVec, within: float) -> list[int]:
        """Return the indices of the parts whose boxes, enlarged by ``within``, contain a point."""
        p = np.array([float(c) for c in point])
        near = ((p >= self.low - within) & (p <= self.high + within)).all(axis=1)
        return [int(k) for k in np.flatnonzero(near)]


_Floats = tuple[float, float, float]


def _float_points(parts: Sequence[Body]) -> list[list[_Floats]]:
    """Return points for each part. Up to rounding, their hull contains the part without its radius."""
    caches: dict[int, dict[Vec, _Floats]] = {}
    floats = []
    for part in parts:
        if len(part.terms) > 1 or len(part.terms[0].sets) > 1 or part.curved:
            floats.append(_box_corners(part))
            continue
        cache, scale = caches.setdefault(part.scale, {}), part.scale
        for p in part.terms[0].sets[0]:
            if p not in cache:
                cache[p] = p[0] / scale, p[1] / scale, p[2] / scale
        floats.append([cache[p] for p in part.terms[0].sets[0]])
    return floats


def _box_corners(part: Body) -> list[_Floats]:
    single = Difference(part, at_point(ORIGIN))
    ends = [
        [sign * (single.support((sign * x, sign * y, sign * z))[2] / single.scale) for sign in (-1, 1)]
        for x, y, z in _AXES
    ]
    return [(x, y, z) for x in ends[0] for y in ends[1] for z in ends[2]]


# --- search ----------------------------------------------------------------------------------------------------------


def find_cut(a: Union, b: Union, least: Fraction, normal: Array) -> PartsCertificate | str:
    """Return a cut for the proof that two unions are at least ``least`` apart, or the reason why no cut was found.

    `flaws_of_cut` checks the cut. ``normal`` is the first direction that is tried.
    """
    # a gap in floats of this width is wider than ``least`` in rational numbers too
    want = float_above(least) + 16.0 * UNIT_ROUNDOFF * max(a.reach, b.reach)
    # depth first over pairs of groups; a pair without a wide enough gap is split at the wider group
    ranges: list[tuple[int, int, int, int]] = []
    normals: list[Array] = []
    left = [(0, len(a.parts), 0, len(b.parts), normal)]
    visited = 0
    while left:
        visited += 1
        if visited > _MOST:
            return "the bodies have more close pairs of convex parts than verify() accepts"
        a0, a1, b0, b1, hint = left.pop()
        best, direction = _plane(a, b, (a0, a1, b0, b1), (normal, hint), want)
        if best >= want or (a1 - a0 == 1 and b1 - b0 == 1):
            if best < want:
                exact = exact_direction(a.parts[a.order[a0]], b.parts[b.order[b0]], least, direction)
                if exact is None:
                    return "the distance of two convex parts could not be proven"
                direction = exact
            ranges.append((a0, a1, b0, b1))
            normals.append(direction)
            continue
        if b1 - b0 == 1 or (a1 - a0 > 1 and _width(a, a0, a1) >= _width(b, b0, b1)):
            middle = a.middle(a0, a1)
            left += [(a0, middle, b0, b1, direction), (middle, a1, b0, b1, direction)]
        else:
            middle = b.middle(b0, b1)
            left += [(a0, a1, b0, middle, direction), (a0, a1, middle, b1, direction)]
    numbers = np.array(ranges, dtype=np.int64)
    return PartsCertificate(a.order.copy(), b.order.copy(), numbers, np.array(normals), NO_PARTS)


def find_pair(a: Union, b: Union, most: Fraction, normal: Array) -> tuple[int, int] | None:
    """Return the indices of two parts whose signed distance is proven to be at most ``most``, or None."""
    want = float_above(most) + 16.0 * UNIT_ROUNDOFF * max(a.reach, b.reach)
    left = [(0, len(a.parts), 0, len(b.parts))]
    visited = checked = 0
    while left:
        a0, a1, b0, b1 = left.pop()
        visited += 1
        best, direction = _plane(a, b, (a0, a1, b0, b1), (normal, normal), want)
        if best > want or _boxes_gap(a, b, (a0, a1, b0, b1)) > want:
            continue
        if a1 - a0 == 1 and b1 - b0 == 1:
            pair = int(a.order[a0]), int(b.order[b0])
            if is_near(a.parts[pair[0]], b.parts[pair[1]], most, direction):
                return pair
            checked += 1
        elif b1 - b0 == 1 or (a1 - a0 > 1 and _width(a, a0, a1) >= _width(b, b0, b1)):
            middle = a.middle(a0, a1)
            left += [(a0, middle, b0, b1), (middle, a1, b0, b1)]
        else:
            middle = b.middle(b0, b1)
            left += [(a0, a1, b0, middle), (a0, a1, middle, b1)]
        if visited > _MOST or checked > _MOST_CHECKED:
            break
    return None


def is_near(p: Body, q: Body, most: Fraction, hint: Array) -> bool:
    """Return whether two convex sets are proven to be at most ``most`` apart. The search starts along ``hint``."""
    difference = Difference(p, q)
    proof = Enclosure(None, most + difference.radius_low)
    enclose(difference, _integer_vector(hint), proof)
    return proof.high_proven


def _boxes_gap(a: Union, b: Union, of: tuple[int, int, int, int]) -> float:
    """Return the widest gap along an axis of the boxes around two groups, negative if the boxes overlap.

    ``of`` are the begin and the end of the group of A, then those of the group of B.
    """
    ours, theirs = a.order[of[0] : of[1]], b.order[of[2] : of[3]]
    gap_ab = b.low[theirs].min(axis=0) - a.high[ours].max(axis=0)
    gap_ba = a.low[ours].min(axis=0) - b.high[theirs].max(axis=0)
    return float(max(gap_ab.max(), gap_ba.max()))


def _width(union: Union, low: int, high: int) -> float:
    which = union.order[low:high]
    return float((union.high[which].max(axis=0) - union.low[which].min(axis=0)).max())


def _plane(
    a: Union, b: Union, of: tuple[int, int, int, int], hints: tuple[Array, Array], want: float
) -> tuple[float, Array]:
    """Return the widest gap of two groups among the directions of Gilbert's algorithm (1966), and its direction.

    ``of`` are the begin and the end of the group of A, then those of the group of B. The search tries the directions
    ``hints`` first, and stops at a gap of ``want``.
    """
    p, q = a.points(*of[:2]), b.points(*of[2:])
    radius = a.radius(*of[:2]) + b.radius(*of[2:])
    best, direction = -np.inf, hints[0]
    v = None
    n = hints[0]
    for step in range(_STEPS):
        along_a, along_b = p @ n, q @ n
        i, j = int(along_a.argmax()), int(along_b.argmin())
        gap = float(along_b[j] - along_a[i]) - radius
        if gap > best:
            best, direction = gap, n
        if best >= want:
            break
        w = q[j] - p[i]
        if v is None:
            v = w
        else:
            edge = w - v
            length = float(edge @ edge)
            v = v + edge * min(1.0, max(0.0, -float(v @ edge) / length)) if length > 0.0 else v
        size = float(np.linalg.norm(v))
        if not size > 0.0 or size - radius < want:
            break  # the hulls of the groups are nearer than ``want``
        n = hints[1] if step == 0 else v / size
    return best, direction


def exact_direction(p: Body, q: Body, least: Fraction, hint: Array) -> Array | None:
    """Return a unit vector along which two convex sets are proven to be at least ``least`` apart, or None."""
    difference = Difference(p, q)
    proof = Enclosure(least + difference.radius_high)
    enclose(difference, _integer_vector(hint), proof)
    if not proof.low_proven:
        return None
    size = max(abs(c) for c in proof.normal)
    direction = np.array([c / size for c in proof.normal])
    unit: Array = direction / np.linalg.norm(direction)
    return unit


def _integer_vector(n: Array) -> Vec:
    integers, _ = in_integers(fractions(n))
    return integers


# --- checks -----------------------------------------------------------------------------------------------------------


def flaws_of_cut(cut: PartsCertificate, a: Union, b: Union, least: Fraction) -> list[str]:
    """Return the flaws of a cut. The list is empty if the cut proves that two unions are at least ``least`` apart.

    If a plane does not separate a pair of single parts that far, the exact distance of these parts is computed.
    """
    for name, order, union in (("order_a", cut.order_a, a), ("order_b", cut.order_b, b)):
        if np.shape(order) != (len(union.parts),) or sorted(order.tolist()) != list(range(len(union.parts))):
            return [f"{name} does not list all {len(union.parts)} parts"]
    if np.shape(cut.ranges) != (len(cut.normals), 4) or np.shape(cut.normals) != (len(cut.ranges), 3):
        return [f"{len(cut.ranges)} pairs of groups have normals of shape {np.shape(cut.normals)}"]
    if not np.isfinite(cut.normals).all() or not cut.normals.any(axis=1).all():
        return ["a normal in it is zero or not finite"]
    ranges = [tuple(row) for row in cut.ranges.tolist()]
    sizes = len(a.parts), len(b.parts)
    if not all(0 <= a0 < a1 <= sizes[0] and 0 <= b0 < b1 <= sizes[1] for a0, a1, b0, b1 in ranges):
        return ["a group in it has the index of a missing part"]
    if not _cover(ranges, *sizes):
        return ["it leaves out a pair of parts"]
    for (a0, a1, b0, b1), normal in zip(ranges, cut.normals, strict=True):
        ours, theirs = cut.order_a[a0:a1], cut.order_b[b0:b1]
        if not _parted(a.top(ours, normal), b.top(theirs, -normal), _integer_vector(normal), least) and not (
            len(ours) == len(theirs) == 1
            and exact_direction(a.parts[ours[0]], b.parts[theirs[0]], least, normal) is not None
        ):
            return [f"a plane in it does not separate {len(ours)} parts of a from {len(theirs)} of b"]
    return []


def _cover(ranges: list[tuple[int, int, int, int]], count_a: int, count_b: int) -> bool:
    """Return whether each pair of parts is in a pair of groups.

    ``ranges`` are the pairs of groups, and ``count_a`` and ``count_b`` the numbers of parts. The ends of the groups of
    A cut its parts into strips. For each strip, the groups of B that are paired with it must cover all parts of B.
    """
    cuts = sorted({0, count_a, *(row[0] for row in ranges), *(row[1] for row in ranges)})
    by_start = sorted(ranges)
    active: list[tuple[int, int, int, int]] = []
    at = 0
    for low in cuts[:-1]:
        active = [row for row in active if row[1] > low]
        while at < len(by_start) and by_start[at][0] <= low:
            active.append(by_start[at])
            at += 1
        reached = 0
        for _, _, b0, b1 in sorted(active, key=lambda row: row[2]):
            if b0 > reached:
                return False
            reached = max(reached, b1)
        if reached < count_b:
            return False
    return True


def _parted(ours: tuple[Fraction, Fraction], theirs: tuple[Fraction, Fraction], n: Vec, least: Fraction) -> bool:
    """Return whether two groups, given by `Union.top` along n and -n, have a gap of at least ``least`` along n."""
    gap = -ours[0] - theirs[0]
    return not Root(gap.numerator, gap.denominator**2 * dot(n, n)) < Root.of(least + ours[1] + theirs[1])


def _top(part: Body, n: Vec) -> Fraction:
    """Return an upper bound of n.x over the points x of a part without its radius."""
    if len(part.terms) == 1 and len(part.terms[0].sets) == 1 and not part.curved:
        x, y, z = n
        return Fraction(max(p[0] * x + p[1] * y + p[2] * z for p in part.terms[0].sets[0]), part.scale)
    single = Difference(part, at_point(ORIGIN))
    return Fraction(single.support(n)[2], single.scale)


class ClosedSurface(NamedTuple):
    """A closed surface of triangles whose inside belongs to the body."""

    corners: list[tuple[Vec, Vec, Vec]]  #: the corners of each triangle in integers
    scale: int  #: all coordinates are divided by this number

    def placed(self, at: Placement) -> ClosedSurface:
        """Return the surface at a pose in world coordinates."""
        mover = Mover(self.scale, at)
        return ClosedSurface(
            [(mover.moved(p), mover.moved(q), mover.moved(r)) for p, q, r in self.corners], mover.scale
        )

    def faces(self) -> Union:
        """Return the union of the triangles of the surface."""
        return Union([Body((Term((corner,), ()),), self.scale, ZERO, ZERO) for corner in self.corners])

    def holds(self, point: FractionVec) -> bool | None:
        """Return whether the surface encloses a point, or None if the point is on the surface."""
        p, scale = in_integers(point)
        common = lcm(scale, self.scale)
        up, local = common // self.scale, stretched(p, common // scale)
        for axis in range(3):
            values = [c[axis] * up for corner in self.corners for c in corner]
            if not min(values) <= local[axis] <= max(values):
                return False
        about = [tuple(sub(stretched(c, up), local) for c in corner) for corner in self.corners]
        if any(_touches_origin(*corner) for corner in about):
            return None
        return winding(about) != 0  # type: ignore[arg-type]


class WorldBody(NamedTuple):
    """A body in world coordinates.

    Attributes
    ----------
    name : str
        "a" or "b".
    union : Union
        The convex parts of the body.
    pieces : list of FractionVec
        A point of each connected piece, or of each part.
    surfaces : list of ClosedSurface
        The closed surfaces of the body.
    hulls : list of Body
        Convex sets inside the surfaces.
    size : float
        The greatest absolute coordinate of the body in its local frame.
    origin : FractionVec
        The world coordinates of the origin of the local frame.
    doubts : list of str
        The reasons why `verify` cannot check the body.
    """

    name: str
    union: Union
    pieces: list[FractionVec]
    surfaces: list[ClosedSurface]
    hulls: list[Body]
    size: float
    origin: FractionVec
    doubts: list[str]

    def moved(self, by: FractionVec) -> WorldBody:
        """Return the body translated by a vector."""
        pieces, at = [(p[0] + by[0], p[1] + by[1], p[2] + by[2]) for p in self.pieces], translation(by)
        surfaces = [surface.placed(at) for surface in self.surfaces]
        return self._replace(union=Union(place_all(self.union.parts, at)), pieces=pieces, surfaces=surfaces)


def on_scale(points: list[FractionVec], scale: int) -> tuple[list[Vec], int]:
    """Return the integer coordinates of points over a common denominator, and this denominator.

    The denominator is a multiple of ``scale``.
    """
    common = lcm(scale, *(c.denominator for p in points for c in p))
    return [scaled_vector(p, common) for p in points], common


def _touches_origin(a: Vec, b: Vec, c: Vec) -> bool:
    n = cross(sub(b, a), sub(c, a))
    if any(n) and dot(n, a):
        return False
    triangle = Body((Term(((a, b, c),), ()),), 1, ZERO, ZERO)
    proof = Enclosure(ZERO, ZERO)
    enclose(Difference(triangle, at_point(ORIGIN)), a if any(a) else (1, 0, 0), proof)
    return proof.high_proven


def is_closed(faces: list[tuple[int, int, int]]) -> bool:
    """Return whether triangles form a closed surface: each edge occurs as often in the opposite direction."""
    edges = Counter(edge for i, j, k in faces for edge in ((i, j), (j, k), (k, i)))
    return bool(faces) and all(edges[j, i] == uses for (i, j), uses in edges.items())
