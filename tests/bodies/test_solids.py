"""The solids of one mesh: separated, touching, overlapping, with cavities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies.solids import arrays_of, solids

UNIT = gk.Box((1, 1, 1)).surface()
BALL = gk.Sphere(0.5).surface(12)


def block(at=(0, 0, 0), size=(1, 1, 1), hollow=False):
    """Return the corners and triangles of a box with its lowest corner at a position; reversed if it is a hollow."""
    faces = UNIT.faces[:, ::-1] if hollow else UNIT.faces
    return (UNIT.vertices + 0.5) * size + at, faces


def joined(*pieces, soup=False):
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in pieces])
    vertices = np.vstack([vertices for vertices, _ in pieces])
    faces = np.vstack([faces + start for (_, faces), start in zip(pieces, starts[:-1], strict=True)])
    return (
        gk.Mesh(vertices[faces].reshape(-1, 3), np.arange(faces.size).reshape(-1, 3))
        if soup
        else gk.Mesh(vertices, faces)
    )


TOUCHING = [
    [block()],
    [block(), block((1, 0, 0))],  # a face
    [block(), block((1, 1, 0))],  # an edge
    [block(), block((1, 1, 1))],  # a corner
    [block(), block((0.5, 0.5, 0.5))],  # overlap
    [block(), block()],  # one place
    [block(), (BALL.vertices + (3, 0, 0), BALL.faces)],
    [block((x, y, z)) for x in range(3) for y in range(3) for z in range(3)],
]


@pytest.mark.parametrize("soup", [False, True], ids=["corners shared", "three corners a triangle"])
@pytest.mark.parametrize("pieces", TOUCHING, ids=range(len(TOUCHING)))
def test_touching_solids_stay_separate(pieces, soup, rng):
    for turn in (Rotation.identity(), Rotation.random(rng=rng)):
        moved = [((turn.apply(vertices) + (30, 50, 70)).astype(np.float32), faces) for vertices, faces in pieces]
        result = solids(joined(*moved, soup=soup))
        assert [len(solid.faces) for solid in result] == [len(faces) for _, faces in pieces]
        for solid, (vertices, faces) in zip(result, moved, strict=True):
            assert np.array_equal(solid.vertices[solid.faces], vertices[faces].astype(float))


def test_shuffled_triangles_of_a_stack_make_the_same_solids(rng):
    mesh = joined(*(block((x, y, 0)) for x in range(4) for y in range(4)))
    shuffled = gk.Mesh(mesh.vertices, np.roll(mesh.faces, 1, axis=1)[rng.permutation(len(mesh.faces))])
    result = solids(shuffled)
    assert sorted(solid.bounds.tolist() for solid in result) == sorted(
        [[x, y, 0], [x + 1, y + 1, 1]] for x in range(4) for y in range(4)
    )
    assert all(solid.is_watertight and solid.volume == pytest.approx(1.0) for solid in result)


def test_a_cavity_belongs_to_the_solid_around_it():
    outer, cavity, inner = block(size=(6, 6, 6)), block((1, 1, 1), (4, 4, 4), hollow=True), block((2, 2, 2), (2, 2, 2))
    core, separate = block((2.5, 2.5, 2.5), hollow=True), block((9, 0, 0))
    result = solids(joined(separate, cavity, inner, core, outer))
    assert [solid.volume for solid in result] == pytest.approx([1.0, 216.0 - 64.0, 8.0 - 1.0])


def test_open_surfaces_are_one_body_and_inverted_bodies_stay():
    sheet, hole = (UNIT.vertices + 5, UNIT.faces[:-1]), (UNIT.vertices + 9, UNIT.faces[:3])
    assert [len(solid.faces) for solid in solids(joined(sheet, block(), hole))] == [14, 12]
    assert len(solids(joined(sheet))) == len(solids(joined(block(hollow=True)))) == 1
    flat = gk.Mesh(np.zeros((3, 3)), [(0, 1, 2)])
    assert solids(flat) == [flat]


def test_assembly_has_one_solid_for_each_part():
    gearbox = gk.load("data/gearbox.glb")
    assert [len(solids(part.mesh)) for part in gearbox.parts] == [1] * 42
    volumes = sorted(solid.volume for solid in solids(gearbox))
    assert volumes == pytest.approx(sorted(part.mesh.volume for part in gearbox.parts), rel=1e-12)


def test_result_does_not_depend_on_the_order_of_manifold3d(rng):
    """manifold3d uses threads, so the order of its faces, and with it clash reports, changed from run to run."""
    mesh = gk.Box((1, 2, 3)).surface()
    vertices = np.concatenate([mesh.vertices, mesh.vertices[:2]])  # two vertices at existing positions
    faces = np.concatenate([mesh.faces, [[8, 9, 3]]])

    class Solid:
        def to_mesh64(self):
            order = rng.permutation(len(vertices))
            numbers = np.argsort(order)[faces][rng.permutation(len(faces))]
            turned = (np.arange(3) + rng.integers(3, size=len(faces))[:, None]) % 3
            self.vert_properties = vertices[order]
            self.tri_verts = np.take_along_axis(numbers, turned, axis=1).astype(np.uint64)
            return self

    corners, triangles = arrays_of(Solid())
    soup = {tuple(sorted(map(tuple, vertices[face]))) for face in faces}
    assert {tuple(sorted(map(tuple, corners[face]))) for face in triangles} == soup
    for _ in range(20):
        again, faces_again = arrays_of(Solid())
        assert np.array_equal(again, corners)
        assert np.array_equal(again[faces_again], corners[triangles])
