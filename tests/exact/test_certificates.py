"""Certificates: weights prove distances, closed surfaces prove depths, and invalid ones prove nothing."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names
from scipy.spatial import ConvexHull

import gjk3d as gk
from gjk3d.exact import exact_signed_distance
from gjk3d.exact.certificates import NOT_ROUND, surface_proof, weights_proof
from tests.exact.messages import FLAWS

OCTAHEDRON = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
FACES = [
    (0, 2, 4),
    (2, 1, 4),
    (1, 3, 4),
    (3, 0, 4),
    (2, 0, 5),
    (1, 2, 5),
    (3, 1, 5),
    (0, 3, 5),
]


def moved(points, by):
    return [tuple(Fraction(c) + Fraction(d) for c, d in zip(p, by, strict=True)) for p in points]


def test_closed_surface_around_the_origin_proves_depth():
    assert surface_proof(OCTAHEDRON, FACES).bound.signed_square == -Fraction(1, 3)
    inverted = [face[::-1] for face in FACES]
    assert surface_proof(OCTAHEDRON, inverted).bound.signed_square == -Fraction(1, 3)


@pytest.mark.parametrize("k", range(8))
def test_invalid_surface_proves_nothing(k):
    assert "open" in surface_proof(OCTAHEDRON, FACES[:k] + FACES[k + 1 :]).flaw
    turned_over = [face[::-1] if i == k else face for i, face in enumerate(FACES)]
    assert surface_proof(OCTAHEDRON, turned_over).bound is None
    assert surface_proof(OCTAHEDRON, [*FACES[:k], (0, 2, 9), *FACES[k + 1 :]]).bound is None
    assert surface_proof(OCTAHEDRON, []).flaw == FLAWS["no face"]


@given(st.tuples(*[st.fractions(-2, 2, max_denominator=8)] * 3))
def test_surface_proves_depth_only_if_it_encloses_the_origin(by):
    proof = surface_proof(moved(OCTAHEDRON, by), FACES)
    inside = 1 - sum(abs(c) for c in by)
    if inside > 0:
        assert proof.bound.signed_square == -(inside**2) / 3
    elif inside == 0:
        assert proof.bound.num == 0
    else:
        assert proof.flaw == NOT_ROUND


def test_surface_need_not_be_convex_or_simple():
    dented = [*OCTAHEDRON[:4], (0, 0, Fraction(1, 100)), (0, 0, -1)]
    assert surface_proof(dented, FACES).bound.signed_square < 0
    twice = surface_proof(OCTAHEDRON + dented, FACES + [tuple(i + 6 for i in face) for face in FACES])
    assert twice.bound == surface_proof(dented, FACES).bound
    # the winding numbers of opposite surfaces add up to 0
    back = surface_proof(OCTAHEDRON + dented, FACES + [tuple(i + 6 for i in face[::-1]) for face in FACES])
    assert back.bound is None


def test_hull_of_differences_proves_the_exact_depth():
    rng = np.random.default_rng(2)
    signs = []
    for _ in range(20):
        a, b = (rng.normal(size=(10, 3)) for _ in range(2))
        points = naive.differences(a, b)
        hull = ConvexHull(points)
        flip = np.einsum(
            "ij,ij->i",
            np.cross(
                points[hull.simplices[:, 1]] - points[hull.simplices[:, 0]],
                points[hull.simplices[:, 2]] - points[hull.simplices[:, 0]],
            ),
            hull.equations[:, :3],
        )
        faces = [f if s > 0 else f[::-1] for f, s in zip(hull.simplices.tolist(), flip, strict=True)]
        exact = exact_signed_distance(a.tolist(), b.tolist())
        proof = surface_proof(
            [tuple(Fraction(x) - Fraction(y) for x, y in zip(p, q, strict=True)) for p in a for q in b], faces
        )
        assert proof.bound == (exact.root if exact.sign < 0 else None)
        signs.append(exact.sign)
    assert signs.count(-1) > 10


def test_polytope_of_epa_proves_the_depth():
    pose = naive.pose(naive.random_rotations(np.random.default_rng(4), 1)[0], (0.3, 0.2, 0.1))
    result = gk.signed_distance(gk.Cylinder(1, 2), gk.Ellipsoid((0.5, 1, 1.5)), None, pose, trace=True)
    step = result.trace.epa[-1]
    proof = surface_proof(step.vertices.tolist(), step.faces.tolist())
    assert result.distance - 1e-14 <= proof.bound.bracket()[1] <= result.distance + 1e-8
    assert "open" in surface_proof(step.vertices.tolist(), step.faces[1:].tolist()).flaw


def test_weights_prove_distance():
    proof = weights_proof([(-4, -1, 0), (1, 3, 0)], (Fraction(17, 41), Fraction(24, 41)))
    assert proof.bound.signed_square == Fraction(121, 41)
    assert weights_proof([(3, 4, 0)], [1.0]).bound.bracket() == (5, 5)
    low, high = weights_proof([(1, 0, 0), (0, 1, 0)], (0.3, 0.3)).bound.bracket()
    assert float(low) <= sqrt(0.5) <= float(high)
    assert weights_proof([(1, 0, 0), (-1, 0, 0)], (0.5, 0.5)).bound.num == 0


@pytest.mark.parametrize(
    ("weights", "fragments"),
    [((1.5, -0.5), ("weight 1", "-1/2")), ((0.0, 0.0), ("sum", "0")), ((1.0,), ("2 points", "1 weights"))],
)
def test_invalid_weights_prove_nothing(weights, fragments):
    proof = weights_proof([(1, 0, 0), (0, 1, 0)], weights)
    assert proof.bound is None
    assert_names(proof.flaw, *fragments)
