"""The laws of every result, as checks of a stack of poses of one pair of shapes. The only reference is naive.py.

Tolerances are fractions of the pair's size L, the sum of both bounding radii and the distance of the centres.
``promised`` is the promised width: 1e-12 L for polytopes, flat or rounded, and 1e-9 L for other curved shapes.
``rounding`` is the error of the reference itself. ``world`` adds the rounding of coordinates far from the origin.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import naive
import numpy as np
from naive import Array, Spec
from strategies import build, is_polytope, random_poses, rescaled

import gjk3d as gk

DIRECTIONS = np.vstack([np.eye(3), -np.eye(3), naive.unit_vectors(np.random.default_rng(9), 26)])


class Pair:
    """Two specs under n poses each, their shapes, and the tolerances of each row."""

    def __init__(self, a: Spec, poses_a: Any, b: Spec, poses_b: Any) -> None:
        self.a, self.b = a, b
        self.poses_a, self.poses_b = (np.array(p, dtype=float).reshape(-1, 4, 4) for p in (poses_a, poses_b))
        self.shape_a, self.shape_b = build(a), build(b)
        self.body_a, self.body_b = naive.body(a), naive.body(b)

    @classmethod
    def random(cls, rng: np.random.Generator, a: Spec, b: Spec, count: int) -> Pair:
        poses_a, poses_b = random_poses(rng, a, b, count)
        return cls(a, poses_a, b, poses_b)

    @cached_property
    def size(self) -> Array:
        offset = self.poses_b[:, :3, 3] - self.poses_a[:, :3, 3]
        turned = self.poses_b[:, :3, :3] @ self.body_b.center - self.poses_a[:, :3, :3] @ self.body_a.center
        balls = self.body_a.reach + self.body_a.radius + self.body_b.reach + self.body_b.radius
        return balls + np.linalg.norm(offset + turned, axis=1)

    @cached_property
    def size_from_origins(self) -> Array:
        """The greatest size to which ``tol`` may be relative: vertices near their origin are stored relative to it."""
        offset = np.linalg.norm(self.poses_b[:, :3, 3] - self.poses_a[:, :3, 3], axis=1)
        balls = sum(np.linalg.norm(body.center) + body.reach + body.radius for body in (self.body_a, self.body_b))
        return np.maximum(self.size, balls + offset)

    @cached_property
    def promised(self) -> Array:
        return (1e-12 if is_polytope(self.a) and is_polytope(self.b) else 1e-9) * self.size

    @cached_property
    def rounding(self) -> Array:
        offset = np.linalg.norm(self.poses_b[:, :3, 3] - self.poses_a[:, :3, 3], axis=1)
        far = np.linalg.norm(self.body_a.center) + np.linalg.norm(self.body_b.center) + offset
        return 1e-14 * self.size + 1e-15 * far + 1e-290  # a pair of size 0 still has bounds around 0

    @cached_property
    def world(self) -> Array:
        where = np.abs(self.poses_a[:, :3, 3]).max(axis=1) + np.abs(self.poses_b[:, :3, 3]).max(axis=1)
        return self.rounding + 1e-15 * where

    def gap(self, directions: Any) -> Array:
        n = np.broadcast_to(directions, (len(self.poses_a), 3))
        return naive.posed_gap(self.body_a, self.poses_a, self.body_b, self.poses_b, n)

    def moved(self, shift_a: Any = 0.0, shift_b: Any = 0.0) -> Pair:
        poses_a, poses_b = self.poses_a.copy(), self.poses_b.copy()
        poses_a[:, :3, 3] += shift_a
        poses_b[:, :3, 3] += shift_b
        return Pair(self.a, poses_a, self.b, poses_b)

    def swapped(self) -> Pair:
        return Pair(self.b, self.poses_b, self.a, self.poses_a)

    def signed(self, **options: Any) -> Any:
        return gk.signed_distance(self.shape_a, self.shape_b, self.poses_a, self.poses_b, **options)

    def apart(self, **options: Any) -> Any:
        return gk.distance(self.shape_a, self.shape_b, self.poses_a, self.poses_b, **options)

    def collide(self, **options: Any) -> Array:
        return gk.collide(self.shape_a, self.shape_b, self.poses_a, self.poses_b, **options)


def at_most(values: Any, limits: Any, what: str) -> None:
    """Check that values <= limits in every row; the error names the worst row."""
    values, limits = np.broadcast_arrays(np.asarray(values, dtype=float), np.asarray(limits, dtype=float))
    excess = values - limits
    worst = int(np.argmax(excess)) if excess.size else 0
    assert not np.any(~(excess <= 0)), f"{what}: row {worst}: {values[worst]!r} > {limits[worst]!r}"


def within(result: Any) -> Array:
    return result.upper - result.lower


def form(pair: Pair, result: Any) -> None:
    """Check that arrays have the right shapes, numbers are finite, and normals have unit length."""
    count = len(pair.poses_a)
    for name in ("distance", "lower", "upper", "status", "tight", "iterations"):
        assert np.shape(getattr(result, name)) == (count,), name
    for name in ("normal", "point_a", "point_b"):
        assert np.shape(getattr(result, name)) == (count, 3), name
        assert np.isfinite(getattr(result, name)).all(), name
    assert np.isfinite(result.distance).all()
    assert np.isfinite(result.lower).all()
    assert np.isfinite(result.upper).all()
    at_most(np.abs(np.linalg.norm(result.normal, axis=1) - 1), 4e-15, "normal is unit")


def sign_law(pair: Pair, result: Any) -> None:
    """Check point_b - point_a == distance * normal, and that witness points are on the surfaces of their shapes."""
    error = result.point_b - result.point_a - result.distance[:, None] * result.normal
    at_most(np.linalg.norm(error, axis=1), 1e-12 * pair.size + 4 * pair.world, "point_b - point_a == distance normal")
    witnesses_inside(pair, result)
    # otherwise the witness points are not on the support planes of the normal
    allowed = np.maximum(pair.promised, within(result)) + pair.rounding
    at_most(result.distance - pair.gap(result.normal), allowed, "g(normal) == distance")


def witnesses_inside(pair: Pair, result: Any) -> None:
    """Check that both witness points are in their shapes, up to the width of the result."""
    allowed = np.maximum(pair.promised, within(result)) + 4 * pair.world
    for n in [result.normal, -result.normal, *DIRECTIONS]:
        n = np.broadcast_to(n, result.normal.shape)
        for of, poses, points in [
            (pair.body_a, pair.poses_a, result.point_a),
            (pair.body_b, pair.poses_b, result.point_b),
        ]:
            beyond = ((points - poses[:, :3, 3]) * n).sum(axis=1)
            at_origin = poses.copy()
            at_origin[:, :3, 3] = 0
            beyond -= naive.posed_height(of, at_origin, n)
            at_most(beyond, allowed, "witness point in its shape")


def bound_law(pair: Pair, result: Any, *, tight: bool = True) -> None:
    """Check that bounds are ordered, as narrow as promised, and not refuted by any support scan."""
    at_most(result.lower, result.distance, "lower <= distance")
    at_most(result.distance, result.upper, "distance <= upper")
    width = np.where(result.tight, within(result), 0.0)
    at_most(width, pair.promised + pair.rounding, "tight intervals are as narrow as promised")
    for n in [result.normal, *DIRECTIONS]:
        at_most(pair.gap(n), result.upper + pair.rounding, "a support scan refutes upper")
    assert not tight or result.tight.all()


def perturbed_law(pair: Pair, result: Any) -> None:
    """Check that no perturbed normal proves more than ``upper``, which would be an error in a near tie."""
    for size in 10.0 ** np.arange(-9, 0):
        for turn in naive.unit_vectors(np.random.default_rng(int(-np.log10(size))), 4):
            n = result.normal + size * turn
            n /= np.linalg.norm(n, axis=1)[:, None]
            at_most(pair.gap(n), result.upper + pair.rounding, "a normal beside it refutes upper")


def status_law(pair: Pair, result: Any) -> None:
    status = np.asarray(result.status)
    assert np.array_equal(status == gk.Status.SEPARATED, result.lower > 0)
    assert np.all(result.upper[status == gk.Status.OVERLAPPING] <= 0)
    assert np.all(status[result.upper < 0] == gk.Status.OVERLAPPING)
    touching = status == gk.Status.TOUCHING
    assert np.all((result.lower <= 0)[touching] & (result.upper >= 0)[touching])
    at_most(within(result)[touching], (pair.promised + pair.rounding)[touching], "touching is known to rounding")
    assert not np.any((status == gk.Status.UNDECIDED) & result.tight)
    assert not np.any(status == gk.Status.BEYOND)


def same_value(pair: Pair, one: Any, other: Any, slack: Any = 0.0) -> None:
    """Check that two intervals of one true value overlap, and that their values differ by at most their widths."""
    at_most(one.lower, other.upper + pair.rounding + slack, "intervals overlap")
    at_most(other.lower, one.upper + pair.rounding + slack, "intervals overlap")
    allowed = np.maximum(within(one), within(other)) + pair.rounding + slack
    at_most(np.abs(one.distance - other.distance), allowed, "equal distances")


def swap_law(pair: Pair, result: Any) -> None:
    mirrored = pair.swapped().signed()
    assert np.array_equal(result.status, mirrored.status)
    same_value(pair, result, mirrored)
    # vectors of length sd to sd + width to a convex set differ by sqrt(2 sd width) at most, so the normal is unique
    least = np.maximum(result.lower, pair.rounding)
    angle = np.sqrt(8 * (np.maximum(within(result), within(mirrored)) + pair.rounding) / least)
    separated = result.lower > 0
    turn = np.linalg.norm(result.normal + mirrored.normal, axis=1)
    at_most(turn[separated], (angle + 1e-12)[separated], "mirrored normal")


def push_law(pair: Pair, result: Any) -> None:
    """Check that a shift of B by -distance * normal makes the shapes touch."""
    pushed = pair.moved(shift_b=-result.distance[:, None] * result.normal)
    touching = pushed.signed()
    allowed = 2 * pair.promised + 4 * pair.world + within(result) + within(touching)
    at_most(np.abs(touching.distance), allowed, "pushed by the distance they touch")


def lipschitz_law(pair: Pair, result: Any, shift: Array) -> None:
    shifted = pair.moved(shift_b=shift).signed()
    allowed = np.linalg.norm(shift, axis=-1) + within(result) + within(shifted) + 2 * pair.world
    at_most(np.abs(shifted.distance - result.distance), allowed, "a shift changes the distance by no more")


def rigid_law(pair: Pair, result: Any, motion: Array) -> None:
    """Check that a rigid motion of both shapes keeps the distance."""
    moved = Pair(pair.a, motion @ pair.poses_a, pair.b, motion @ pair.poses_b)
    again = moved.signed()
    same_value(pair, result, again, slack=moved.world + pair.world)


def scale_law(pair: Pair, result: Any, power: int) -> None:
    """Check that scaling by a power of 2 keeps all bits, except of numbers near 0."""
    factor = 2.0**power
    poses_a, poses_b = pair.poses_a.copy(), pair.poses_b.copy()
    poses_a[:, :3, 3] *= factor
    poses_b[:, :3, 3] *= factor
    scaled = Pair(rescaled(pair.a, factor), poses_a, rescaled(pair.b, factor), poses_b).signed()
    assert np.array_equal(scaled.status, result.status)
    assert np.array_equal(scaled.normal, result.normal)
    for name in ("distance", "lower", "upper", "point_a", "point_b"):
        now, known = getattr(scaled, name), getattr(result, name) * factor
        assert np.array_equal(np.where(np.abs(now) < 1e-250, 0, now), np.where(np.abs(known) < 1e-250, 0, known)), name


def collide_law(pair: Pair, result: Any) -> None:
    """Check that `collide` is False exactly if lower > margin, and monotone in the margin."""
    hit = pair.collide()
    assert np.array_equal(hit, result.status != gk.Status.SEPARATED)
    assert np.array_equal(hit, ~(result.lower > 0))
    before = np.zeros(len(hit), dtype=bool)
    size = float(pair.size.max())
    middle = float(np.median(result.distance))
    for margin in sorted([-0.3 * size, -1e-9 * size, 0.0, 1e-9 * size, middle, 0.1 * size, 2 * size]):
        hit = pair.collide(margin=margin)
        assert not np.any(before & ~hit), "monotone"
        # an interval on one side of the margin determines the result
        assert hit[result.upper + pair.rounding < margin].all()
        assert not hit[result.lower - pair.rounding > margin].any()
        before = hit


def distance_law(pair: Pair, result: Any) -> None:
    """Check that `distance` is max(0, signed distance), with one common point in overlap."""
    unsigned = pair.apart()
    form(pair, unsigned)
    assert (unsigned.lower >= 0).all()
    at_most(unsigned.lower, unsigned.distance, "lower <= distance")
    at_most(unsigned.distance, unsigned.upper, "distance <= upper")
    at_most(unsigned.lower, np.maximum(result.upper, 0) + pair.rounding, "max(0, sd)")
    at_most(np.maximum(result.lower, 0), unsigned.upper + pair.rounding, "max(0, sd)")
    overlapping = result.upper < -pair.rounding
    assert np.all(unsigned.status[overlapping] == gk.Status.OVERLAPPING)
    assert np.all(unsigned.distance[overlapping] == 0)
    assert np.all(unsigned.upper[overlapping] == 0)
    assert np.array_equal(unsigned.point_a[overlapping], unsigned.point_b[overlapping])
    error = unsigned.point_b - unsigned.point_a - unsigned.distance[:, None] * unsigned.normal
    at_most(np.linalg.norm(error, axis=1), 1e-12 * pair.size + 4 * pair.world, "point_b - point_a == distance normal")
    witnesses_inside(pair, unsigned)
    assert np.array_equal(unsigned.status == gk.Status.SEPARATED, result.status == gk.Status.SEPARATED)


FIELDS = ("distance", "normal", "point_a", "point_b", "lower", "upper", "status", "tight", "iterations")


def one_is_many_law(pair: Pair, result: Any, rows: Any) -> None:
    """Check that a single query has the bits of its row in a stack."""
    booleans = pair.collide()
    unsigned = pair.apart()
    for k in rows:
        where = pair.poses_a[k], pair.poses_b[k]
        single_signed = gk.signed_distance(pair.shape_a, pair.shape_b, *where)
        single_unsigned = gk.distance(pair.shape_a, pair.shape_b, *where)
        for name in FIELDS:
            assert np.array_equal(getattr(single_signed, name), getattr(result, name)[k]), name
            assert np.array_equal(getattr(single_unsigned, name), getattr(unsigned, name)[k]), name
        assert gk.collide(pair.shape_a, pair.shape_b, *where) == booleans[k]


def all_laws(pair: Pair, *, tight: bool, rng: np.random.Generator) -> Any:
    """Check every law above; return the result."""
    result = pair.signed()
    count = len(pair.poses_a)
    form(pair, result)
    bound_law(pair, result, tight=tight)
    perturbed_law(pair, result)
    status_law(pair, result)
    sign_law(pair, result)
    collide_law(pair, result)
    distance_law(pair, result)
    swap_law(pair, result)
    push_law(pair, result)
    lipschitz_law(
        pair, result, rng.normal(size=(count, 3)) * pair.size[:, None] * 10.0 ** rng.uniform(-9, 0, (count, 1))
    )
    motion = naive.pose(naive.random_rotations(rng, 1)[0], rng.normal(size=3) * float(pair.size.max()))
    rigid_law(pair, result, motion)
    scale_law(pair, result, int(rng.integers(-40, 41)))
    return result
