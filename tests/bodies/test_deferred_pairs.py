"""Separating translations of meshes when the buffer for deferred pairs is small."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.bodies.depth import depth


@pytest.mark.parametrize("seed", range(3))
def test_small_pair_buffer_gives_the_same_bounds(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    ball = trimesh.creation.icosphere(3)
    bumps = 1.0 + 0.2 * np.sin(7.0 * ball.vertices).sum(axis=1, keepdims=True)
    mesh = gk.Mesh(ball.vertices * bumps, ball.faces)
    pose = np.eye(4)
    pose[:3, 3] = 0.6 * rng.normal(size=3)
    expected = gk.signed_distance(mesh, mesh, None, pose)
    few = depth.search_scratch()._replace(pairs=np.zeros((64, 2), dtype=np.int64))
    monkeypatch.setattr(depth, "search_scratch", lambda: few)
    result = gk.signed_distance(mesh, mesh, None, pose)
    assert result.upper == expected.upper
    assert result.lower == pytest.approx(expected.lower, rel=1e-9)
    assert expected.lower < expected.upper < 0.0
