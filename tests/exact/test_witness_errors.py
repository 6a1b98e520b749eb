"""Errors of witness points that `verify` proves, compared with closed forms in decimal arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf

import naive
import numpy as np
import pytest
from strategies import build, is_polytope, random_poses, random_spec
from test_verify import QUERIES, altered

import gjk3d as gk
from gjk3d.exact import verify

S = gk.Status
ROUNDED = 2e-15  #: relative to the size, because poses that move points into the frame of a shape are rounded

# closed forms ---------------------------------------------------------------------------------------------------------


def decimal(x) -> Decimal:
    fraction = Fraction(x)
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def length(*numbers) -> Decimal:
    return sum((x * x for x in numbers), Decimal(0)).sqrt()


def distance_from_box(*away) -> Decimal:
    """Return the signed distance from a corner region, given the signed distances from its planes."""
    return length(*(max(x, Decimal(0)) for x in away)) + min(max(away), Decimal(0))


def distance_from_segment(x, z, ax, az, bx, bz) -> Decimal:
    t = ((x - ax) * (bx - ax) + (z - az) * (bz - az)) / ((bx - ax) ** 2 + (bz - az) ** 2)
    t = min(max(t, Decimal(0)), Decimal(1))
    return length(x - ax - t * (bx - ax), z - az - t * (bz - az))


def distance_from_cone(rho, z, radius, half) -> Decimal:
    side = distance_from_segment(rho, z, radius, -half, Decimal(0), half)
    base = distance_from_segment(rho, z, Decimal(0), -half, radius, -half)
    inside = z > -half and 2 * half * rho + radius * (z - half) < 0
    return -min(side, base) if inside else min(side, base)


def distance_from_ellipsoid(point, radii) -> Decimal:
    """Return the signed distance by the method of Eberly.

    The nearest point is ``a^2 x / (a^2 + t)``, with the t for which it is on the surface.
    """
    points = [abs(x) for x in point]
    low, high = -(min(radii) ** 2), max(radii) * length(*points) + 1
    for _ in range(180):
        t = (low + high) / 2
        outside = sum((a * x / (a * a + t)) ** 2 for a, x in zip(radii, points, strict=True)) > 1
        low, high = (t, high) if outside else (low, t)
    off = length(*(x - a * a * x / (a * a + high) for a, x in zip(radii, points, strict=True)))
    return off if high > 0 else -off


def signed_distance_from(spec, point) -> Decimal:
    """Return the signed distance of a point from the surface of a shape, in the frame of the shape."""
    kind, *numbers = spec
    x, y, z = point
    if kind == "inflated":
        return signed_distance_from(numbers[0], point) - decimal(numbers[1])
    if kind == "box":
        return distance_from_box(*(abs(c) - decimal(e) / 2 for c, e in zip(point, numbers[0], strict=True)))
    if kind == "ellipsoid":
        return distance_from_ellipsoid(point, [decimal(r) for r in numbers[0]])
    radius = decimal(numbers[0])
    if kind == "sphere":
        return length(x, y, z) - radius
    half = decimal(numbers[1]) / 2
    if kind == "capsule":
        return length(x, y, max(abs(z) - half, Decimal(0))) - radius
    if kind == "cylinder":
        return distance_from_box(length(x, y) - radius, abs(z) - half)
    return distance_from_cone(length(x, y), z, radius, half)


CLOSED = ["sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "rounded box", "rounded cone"]


def distance_from_surface(spec, pose, point) -> Decimal:
    """Return the signed distance of a point in world coordinates from the surface of a posed shape."""
    with localcontext(prec=50):
        matrix = [[Fraction(float(c)) for c in row] for row in pose[:3]]
        away = [Fraction(float(p)) - row[3] for p, row in zip(point, matrix, strict=True)]
        local = [sum((matrix[i][j] * away[i] for i in range(3)), Fraction(0)) for j in range(3)]
        return signed_distance_from(spec, [decimal(c) for c in local])


@pytest.mark.parametrize("kind", CLOSED)
def test_closed_forms_match_the_support_points(kind):
    """A support point is on the surface. Its distance after a move along the direction is the length of the move."""
    rng = np.random.default_rng(3)
    spec = random_spec(rng, kind)
    for n in naive.unit_vectors(rng, 20):
        point = naive.body(spec).support(n)[0]
        for by in (0.0, 1e-9, 0.5):
            assert float(distance_from_surface(spec, np.eye(4), point + by * n)) == pytest.approx(by, abs=1e-15)
        inner = float(distance_from_surface(spec, np.eye(4), (1 - 1e-9) * point))
        assert -1e-9 * np.linalg.norm(point) - 1e-15 <= inner < 0


# verdicts -------------------------------------------------------------------------------------------------------------


def pairs_with_closed_forms(seed):
    """Yield pairs of shapes with closed forms, with random poses and with a tiny gap or a tiny depth."""
    rng = np.random.default_rng(seed)
    for i, kind_a in enumerate(CLOSED):
        for kind_b in CLOSED[i:]:
            a, b = random_spec(rng, kind_a), random_spec(rng, kind_b)
            shapes = build(a), build(b)
            poses = random_poses(rng, a, b, 3)
            distance, normal = (getattr(gk.signed_distance(*shapes, *poses)[2], x) for x in ("distance", "normal"))
            gap = rng.choice((-1, 1)) * 10.0 ** rng.uniform(-14, -4) * (naive.body(a).size + naive.body(b).size)
            poses[1][2, :3, 3] -= (distance - gap) * normal
            for pose_a, pose_b in zip(*poses, strict=True):
                size = naive.pair_size(*naive.bodies(a, pose_a, b, pose_b))
                yield (a, pose_a, b, pose_b), (*shapes, pose_a, pose_b), size


def largest_witness_error(specs, result) -> float:
    """Return the larger distance of the witness points from their surfaces.

    A common point may be inside the shapes, so its distance from the shapes is used.
    """
    a, pose_a, b, pose_b = specs
    off = [distance_from_surface(a, pose_a, result.point_a), distance_from_surface(b, pose_b, result.point_b)]
    if result.status == S.OVERLAPPING and result.distance == 0:  # the witness points are a common point
        return float(max(0, *off))
    return float(max(map(abs, off)))


@pytest.mark.parametrize("query", QUERIES)
def test_witness_error_bounds_the_measured_error(query):
    seen = []
    for specs, question, size in pairs_with_closed_forms(1):
        result = query(*question)
        verdict = verify(result, *question)
        assert verdict.proven, verdict
        measured = largest_witness_error(specs, result)
        assert measured <= verdict.witness_error + ROUNDED * size
        # the bound is not much larger than the error
        assert verdict.witness_error <= measured + max(1e-13 * size, 1.01 * (result.upper - result.lower))
        common = query is gk.distance and result.status == S.OVERLAPPING
        assert (verdict.normal_error == inf) is common
        seen.append(result.status)
    assert seen.count(S.OVERLAPPING) > 30
    assert seen.count(S.SEPARATED) > 30


@pytest.mark.parametrize("by", [1e-13, 1e-11, 1e-10, 1e-8])
def test_witness_error_bounds_the_error_of_moved_points(by):
    """Both points move along the normal, out of A and into B, so the sign law still holds."""
    for specs, question, size in pairs_with_closed_forms(2):
        result = gk.signed_distance(*question)
        moved = by * size * result.normal
        wrong = altered(result, point_a=result.point_a + moved, point_b=result.point_b + moved)
        verdict = verify(wrong, *question)
        measured = largest_witness_error(specs, wrong)
        assert measured > 0.9 * by * size - (result.upper - result.lower) - ROUNDED * size
        assert measured <= verdict.witness_error + ROUNDED * size
        flat = is_polytope(specs[0]) and is_polytope(specs[2])
        assert verdict.proven is (by < (5e-12 if flat else 5e-9))
        assert verdict.refuted is not verdict.proven


def test_witness_error_bounds_the_error_for_composed_shapes():
    """Composed shapes have no closed form, so a support plane gives a lower bound of the error."""
    rng = np.random.default_rng(5)
    for kind_a in ("squashed cone", "squashed capsule", "placed cylinder", "sum", "sharp sum", "union", "flat hull"):
        for kind_b in ("ellipsoid", "box", "union"):
            a, b = random_spec(rng, kind_a), random_spec(rng, kind_b)
            shapes = build(a), build(b)
            poses_a, poses_b = random_poses(rng, a, b, 2)
            for pose_a, pose_b in zip(poses_a, poses_b, strict=True):
                result = gk.signed_distance(*shapes, pose_a, pose_b)
                size = naive.pair_size(*naive.bodies(a, pose_a, b, pose_b))
                for by in (0.0, 1e-10):
                    side = by * size * result.normal
                    moved = altered(result, point_a=result.point_a + side, point_b=result.point_b + side)
                    verdict = verify(moved, *shapes, pose_a, pose_b)
                    n = pose_a[:3, :3].T @ result.normal
                    local = pose_a[:3, :3].T @ (moved.point_a - pose_a[:3, 3])
                    outside = float(n @ local - naive.body(a).height(n)[0])
                    assert verdict.witness_error >= outside - 1e-14 * size
                    flat = is_polytope(a) and is_polytope(b)
                    assert verdict.proven is not (flat and by > 0)
                    assert verdict.refuted is not verdict.proven
