"""Stacks of twenty thousand random pairs of all kinds of shapes: they satisfy the laws, and about half overlap."""

from __future__ import annotations

import laws
import naive
import numpy as np
import pytest
import strategies
from strategies import PAIRS, SHAPES, SOLID

pytestmark = [pytest.mark.full, pytest.mark.many]

ROWS = 30  #: poses per stack
STACKS = 4  #: pairs of random shapes per pair of kinds: 276 pairs of kinds * 4 * 30 = 33 120 pairs


def stacks(name_a, name_b):
    rng = np.random.default_rng([20_000, PAIRS.index((name_a, name_b))])
    for _ in range(STACKS):
        a, b = strategies.random_spec(rng, name_a), strategies.random_spec(rng, name_b)
        yield laws.Pair.random(rng, a, b, ROWS), rng


def test_number_of_pairs_is_at_least_twenty_thousand():
    assert len(PAIRS) * STACKS * ROWS >= 20_000


@pytest.mark.full
@pytest.mark.parametrize(("name_a", "name_b"), PAIRS)
def test_random_pairs_satisfy_the_laws(name_a, name_b):
    for pair, rng in stacks(name_a, name_b):
        result = laws.all_laws(pair, tight=True, rng=rng)
        laws.one_is_many_law(pair, result, [0, ROWS - 1])
        # the naive reference is slow, so it checks one row of each stack
        lo, hi = naive.bracket(*naive.bodies(pair.a, pair.poses_a[0], pair.b, pair.poses_b[0]))
        assert result.lower[0] <= hi + pair.rounding[0]
        assert lo <= result.upper[0] + pair.rounding[0]


def test_half_of_the_solid_pairs_overlap():
    hits = [
        pair.collide()
        for name_a, name_b in PAIRS[::5]
        if name_a in SOLID and name_b in SOLID
        for pair, _ in stacks(name_a, name_b)
    ]
    assert 0.3 < np.mean(hits) < 0.7
    assert len(SHAPES) >= 15
