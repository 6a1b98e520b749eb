"""The cost of a pair depends on the triangles near both parts, not on the number of distant triangles."""

import tracemalloc

import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.clash.detection.decider import Decider

pytest.importorskip("manifold3d")


@pytest.mark.parametrize(("down", "kind"), [(0.0, "touch"), (0.01, "hard")])
def test_memory_does_not_grow_with_distant_triangles(down: float, kind: str) -> None:
    ring = trimesh.creation.annulus(1.0, 2.0, 1.0, sections=32)
    peaks = []
    for _ in range(2):
        ring = ring.subdivide()
        big = gk.Mesh(ring.vertices, ring.faces)
        cube = gk.Box((0.1, 0.1, 0.1)).surface()
        small = gk.Mesh(cube.vertices, cube.faces)
        turn = trimesh.transformations.rotation_matrix(0.3, (0.0, 0.0, 1.0))
        of_small = np.eye(4)
        of_small[:3, 3] = 1.5, 0.0, 0.55 - down
        m = np.linalg.inv(of_small) @ turn
        hulls = gk.signed_distance(small.hull(), big.hull(), None, m)
        decider = Decider(0.0, 1e-6, {})
        row = np.concatenate([m[:3, :3].ravel(), m[:3, 3]])
        decider.decide(small, big, hulls, row)  # the first call caches data of the parts
        tracemalloc.start()
        decision = decider.decide(small, big, hulls, row)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert decision is not None
        assert decision.kind == kind
    assert peaks[1] < 1.5 * peaks[0]  # although the second run has four times as many triangles
