"""Ways out of meshes, where there is room for few of the pairs that block only later."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.bodies.depth import depth


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_the_same_where_little_can_wait(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    ball = trimesh.creation.icosphere(3)
    bumps = 1.0 + 0.2 * np.sin(7.0 * ball.vertices).sum(axis=1, keepdims=True)
    mesh = gk.Mesh(ball.vertices * bumps, ball.faces)
    pose = np.eye(4)
    pose[:3, 3] = 0.6 * rng.normal(size=3)
    wanted = gk.signed_distance(mesh, mesh, None, pose)
    few = depth.search_scratch()._replace(pairs=np.zeros((64, 2), dtype=np.int64))
    monkeypatch.setattr(depth, "search_scratch", lambda: few)
    found = gk.signed_distance(mesh, mesh, None, pose)
    assert found.upper == wanted.upper
    assert found.lower == pytest.approx(wanted.lower, rel=1e-9)
    assert wanted.lower < wanted.upper < 0.0
