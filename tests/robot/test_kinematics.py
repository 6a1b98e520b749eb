"""Where links are and how their points move, against pinocchio on real robots."""

from __future__ import annotations

import numpy as np
import pytest
from example_robots import URDFS, robot, some, twin


@pytest.mark.parametrize("name", URDFS)
def test_links_are_where_pinocchio_has_them(name):
    one, other = robot(name), twin(name)
    q = some(one, 200)
    got = one.link_poses(q)
    assert got.shape == (200, len(one.links), 4, 4)
    assert np.abs(got - [other.poses(row) for row in q]).max() < 1e-12
    assert np.array_equal(got[7], one.link_poses(q[7]))
