"""Common volumes on a page equal those of the parts, for the worst overlaps and within the size limit."""

import base64
import zlib
from dataclasses import replace

import numpy as np
import pytest
from reports import cube, three_cubes

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.solids import available
from gjk3d.clash import page
from gjk3d.clash.page import pack_common

CENTER, SIZE = np.array([1.0, 2.0, 3.0]), 4.0


def unpacked(packed):
    (vertices, corners, ends), text = packed
    data = zlib.decompress(base64.b64decode(text))
    numbers = np.frombuffer(data, "<f4", 3 * (vertices + ends)).reshape(-1, 3) * SIZE + CENTER
    faces = np.frombuffer(data, "<u4", corners, 12 * (vertices + ends)).reshape(-1, 3).astype(np.int64)
    return numbers[:vertices], faces, numbers[vertices:]


@pytest.mark.skipif(not available(), reason="manifold3d is not installed")
def test_common_volume_equals_overlap_of_parts():
    packed = pack_common(three_cubes(), 2, CENTER, SIZE, 10**6)
    assert list(packed) == [0]  # none for the gap
    vertices, faces, curve = unpacked(packed[0])
    assert Mesh(vertices, faces).volume == pytest.approx(2.0, rel=1e-5)
    assert vertices.min(axis=0) == pytest.approx([0.5, -1, -1], abs=1e-5)
    assert len(curve) % 2 == 0


@pytest.mark.skipif(not available(), reason="manifold3d is not installed")
def test_parts_are_placed_by_their_poses():
    report = three_cubes()
    pose = np.eye(4)
    pose[:3, 3] = 1.5, 0, 0
    b = replace(report.assembly.parts[1], shape=cube(), pose=pose)
    assembly = replace(report.assembly, parts=(report.assembly.parts[0], b))
    vertices, faces, _ = unpacked(pack_common(replace(report, assembly=assembly), 2, CENTER, SIZE, 10**6)[0])
    assert Mesh(vertices, faces).volume == pytest.approx(2.0, rel=1e-5)


def test_convex_parts_have_common_volume_without_manifold3d(monkeypatch):
    def refuse(*args):
        raise ImportError("no manifold3d")

    monkeypatch.setattr(
        page, "overlap", lambda a, b, *poses, of=page.overlap: refuse() if isinstance(a, Mesh) else of(a, b, *poses)
    )
    vertices, _, _ = unpacked(pack_common(three_cubes(), 2, CENTER, SIZE, 10**6)[0])
    assert vertices.max(axis=0) == pytest.approx([1, 1, 1], abs=1e-5)


def test_volumes_beyond_the_limit_are_left_out(monkeypatch):
    report = three_cubes()
    assert pack_common(report, 2, CENTER, SIZE, 10) == {}
    assert pack_common(replace(report, assembly=None), 2, CENTER, SIZE, 10**6) == {}
    monkeypatch.setattr(page, "MOST_TRIANGLES", 20)
    assert pack_common(report, 2, CENTER, SIZE, 10**6) == {}
