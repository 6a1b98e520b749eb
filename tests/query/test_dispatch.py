"""Every pair of kinds has a table cell, swapped handlers return mirrored results, and errors name an alternative."""

from __future__ import annotations

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.engine.dispatch import SINGLE, TABLE, find, is_collider, kind_of
from gjk3d.shapes.base import Kind
from tests.bodies.every_query import BODIES, OTHERS

HEIGHTS = np.zeros((2, 2))
EACH = {
    **OTHERS,
    "Support": gk.Support(lambda d: d, (0, 0, 0), 1.0),
    "of a Support": gk.Support(lambda d: d, (0, 0, 0), 1.0).inflated(0.1),
    "sum of a Support": gk.MinkowskiSum(gk.Support(lambda d: d, (0, 0, 0), 1.0), gk.Box((1, 1, 1))),
}


def test_kinds_are_single_bits_of_their_groups():
    kinds = {name: kind_of(shape) for name, shape in EACH.items()}
    assert all(kind.bit_count() == 1 and kind & (Kind.SHAPES | Kind.BODIES) for kind in kinds.values())
    assert kinds["HeightField"] == Kind.ENDLESS
    assert kinds["HeightField(bottom)"] == Kind.GROUND
    assert {kinds[name] for name in kinds if "Support" in name} == {Kind.MAPPED}
    assert not is_collider(gk.Box)
    assert kind_of(None) == kind_of(np.eye(4)) == 0


@pytest.mark.parametrize("query", TABLE)
def test_every_pair_has_a_cell_in_both_orders(query):
    for a in EACH.values():
        for b in EACH.values():
            cells = [TABLE[query][kind_of(x), kind_of(y)] for x, y in ((a, b), (b, a))]
            assert cells[0][0] is cells[1][0]
            if isinstance(cells[0][0], str):
                with pytest.raises(gk.errors.UnsupportedPair, match=r"(?i)\b(use|pass)\b|its normal$"):
                    find(query, a, b)


@pytest.mark.parametrize("query", SINGLE)
def test_every_kind_has_a_cell(query):
    assert all(any(group & kind_of(shape) for group in SINGLE[query]) for shape in EACH.values())


@pytest.mark.parametrize("name", sorted(set(BODIES) - {"HeightField"}))
@pytest.mark.parametrize("plane", [gk.Halfspace((0, 0, 1), 0.1), gk.Plane((1, 2, 3), 0.2)], ids=["half-space", "plane"])
def test_plane_may_be_either_shape(name, plane):
    body, poses = BODIES[name], np.tile(np.eye(4), (12, 1, 1))
    poses[:, :3, 3] = np.random.default_rng(5).uniform(-2, 2, (12, 3))
    first, second = gk.signed_distance(body, plane, poses), gk.signed_distance(plane, body, None, poses)
    for field in ("distance", "lower", "upper", "status", "tight"):
        np.testing.assert_array_equal(getattr(first, field), getattr(second, field))
    np.testing.assert_array_equal(first.normal, -second.normal)
    np.testing.assert_array_equal(first.point_a, second.point_b)
    np.testing.assert_array_equal(first.point_b, second.point_a)
    hits = gk.collide(body, plane, poses)
    np.testing.assert_array_equal(hits, gk.collide(plane, body, None, poses))
    assert hits.sum() > 0
