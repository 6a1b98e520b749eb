"""Two meshes at many poses in one call give the results of single calls; touches of faces follow their definition."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.bodies.body_pair import HOLDS, MeshPair, meet_many
from gjk3d.bodies.contact import touches
from gjk3d.bodies.tree_collision import APART, HELD, MEET
from gjk3d.poses import pose_rows, relative


def from_trimesh(mesh: trimesh.Trimesh) -> gk.Mesh:
    return gk.Mesh(mesh.vertices, mesh.faces)


TORUS = from_trimesh(trimesh.creation.torus(1.0, 0.4, major_sections=24, minor_sections=12))
BEAD = from_trimesh(trimesh.creation.icosphere(radius=0.15))
OPEN = gk.Mesh(BEAD.vertices, BEAD.faces[1:], solid=False)


def rows(seed: int, count: int, spread: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = naive.random_rotations(rng, count)
    poses[:, :3, 3] = rng.uniform(-spread, spread, (count, 3))
    return pose_rows(poses)[0]


@pytest.mark.parametrize("pair", [(TORUS, BEAD), (BEAD, TORUS), (OPEN, TORUS), (OPEN, BEAD), (TORUS, TORUS)])
def test_many_poses_equal_single_poses(pair):
    count = 400
    first, second = rows(1, count, 0.8), rows(2, count, 0.8)
    result = meet_many(*pair, first, second)
    expected = []
    for p, q in zip(first, second, strict=True):
        mesh_pair = MeshPair.of(*pair, relative(p, q))
        containment = mesh_pair.held()
        expected.append(
            MEET if mesh_pair.surfaces_meet() else APART if containment is None else (HOLDS, HELD)[containment.by - 1]
        )
    assert result.tolist() == expected
    assert 5 < expected.count(MEET) < count
    assert expected.count(HOLDS) == 0 or pair[0] is TORUS


def test_contained_and_containing_meshes():
    where, inside = pose_rows(np.eye(4)[None])[0], pose_rows(np.array([naive.pose(translation=(1.0, 0.0, 0.0))]))[0]
    assert meet_many(TORUS, BEAD, where, inside).tolist() == [HOLDS]
    assert meet_many(BEAD, TORUS, inside, where).tolist() == [HELD]
    assert meet_many(TORUS, BEAD, where, where).tolist() == [APART]  # in the hole of the torus
    assert meet_many(TORUS, BEAD, where[:0], where[:0]).tolist() == []


def test_touches_of_faces_without_area():
    flat = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1, 2)])
    needle = gk.Mesh([(0.5, 0.5, -1), (0.5, 0.5, 1), (0.5, 0.5, 0)], [(0, 1, 2)])
    speck = gk.Mesh([(0.5, 0.5, 0)] * 3, [(0, 1, 2)])
    same = pose_rows(None)[0]
    through = touches(flat, needle, same, same)
    assert through.faces.tolist() == [[0, 0]]
    assert through.rows[0, :3] == pytest.approx([0.5, 0.5, 0.0], abs=1e-15)
    assert through.rows[0, 3:].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert touches(needle, flat, same, same).rows[0, 3:].tolist() == [0.0, 0.0, -1.0, 1.0]
    dots = touches(speck, needle, same, same)
    assert dots.rows[:, 6].tolist() == [0.0]
    assert np.linalg.norm(dots.rows[0, 3:6]) == 1.0
    above = gk.Mesh([(0, 0, 1), (1, 0, 1), (0, 1, 1)], [(0, 1, 2)])
    assert len(touches(flat, above, same, same).faces) == 0


@pytest.mark.parametrize("pair", [(TORUS, TORUS), (TORUS, BEAD), (OPEN, TORUS)])
def test_face_touches_at_many_poses_equal_single_poses(pair):
    """The list is longer than its first buffer and is sorted by face, also if both meshes are rotated."""
    first, second = rows(1, 40, 0.8), rows(2, 40, 0.8)
    result = touches(*pair, first, second)
    assert len(result.faces) == result.begins[-1] > 300
    for k in range(40):
        some = slice(*result.begins[k : k + 2])
        single = touches(*pair, first[k : k + 1], second[k : k + 1])
        np.testing.assert_array_equal(result.rows[some], single.rows)
        faces = result.faces[some].tolist()
        assert faces == single.faces.tolist() == sorted(faces)
        assert faces == MeshPair.of(*pair, relative(first[k], second[k])).meeting_faces().tolist()
