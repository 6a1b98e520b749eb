"""Surfaces with a thickness, compared with their rounded triangles and with closed forms."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names
from numpy.typing import NDArray

import gjk3d as gk
from gjk3d.errors import ShapeError
from tests.bodies.random_shapes import anywhere, at, check_against_parts, some_compound, some_shape

Array = NDArray[np.float64]


def loose(rng: np.random.Generator, count: int = 6) -> gk.Mesh:
    corners = rng.uniform(-0.8, 0.8, (count, 1, 3)) + 0.4 * rng.normal(size=(count, 3, 3))
    return gk.Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3), solid=False)


def rounded(shell: gk.Shell) -> list[tuple[Any, Array]]:
    """Return the reference implementation: each triangle as a rounded convex shape."""
    mesh = shell.mesh
    return [(gk.Triangle(v).inflated(0.5 * shell.thickness), np.eye(4)) for v in mesh.vertices[mesh.faces]]


@given(st.integers(0, 2**32 - 1))
def test_shell_matches_its_rounded_triangles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shell = gk.Shell(loose(rng), rng.uniform(0.02, 0.4))
    if seed % 3:
        shape = some_compound(rng, 3, 0.5) if seed % 3 == 1 else some_shape(rng)
        parts = shape.parts if seed % 3 == 1 else [(shape, np.eye(4))]
    else:
        shape = gk.Shell(loose(rng, 3), 0.1)
        parts = rounded(shape)
    check_against_parts(shell, rounded(shell), shape, parts, anywhere(rng, 0.5), anywhere(rng, 1.0))


@given(st.integers(0, 2**32 - 1))
def test_shell_is_nearer_than_its_mesh_by_half_the_thickness(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mesh, second, pose = loose(rng), loose(rng, 4), anywhere(rng, 2.0)
    for shape in (second, some_shape(rng)):
        bare = gk.distance(mesh, shape, None, pose)
        for shell, turned in ((gk.Shell(mesh, 0.1), False), (gk.Shell(mesh, 0.1), True)):
            thick = gk.distance(shape, shell, pose) if turned else gk.distance(shell, shape, None, pose)
            if bare.distance > 0.1:
                assert thick.distance == pytest.approx(bare.distance - 0.05, abs=1e-11)
                assert not gk.collide(shell, shape, None, pose)
        assert gk.collide(gk.Shell(mesh, 0.1), shape, None, pose) == gk.collide(mesh, shape, None, pose, margin=0.05)


def sheet() -> gk.Mesh:
    return gk.Mesh([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], [(0, 1, 2), (0, 2, 3)])


def test_queries_of_a_flat_shell() -> None:
    plate = gk.Shell(sheet(), thickness=0.5)
    for z in (0.5, -0.5):
        result = gk.signed_distance(plate, gk.Sphere(0.5), None, at(0.3, 0.1, z))
        assert result.distance == pytest.approx(-0.25, abs=1e-12)
        assert result.normal == pytest.approx((0, 0, np.sign(z)), abs=1e-9)
        assert result.tight
    hits = gk.raycast(
        plate,
        [(0.1, 0.3, 9), (0.1, 0.3, -9), (9, 0.3, 0), (0.1, 0.3, 0.1)],
        [(0, 0, -1), (0, 0, 1), (-1, 0, 0), (0, 0, 1)],
    )
    np.testing.assert_allclose(hits.distance, [8.75, 8.75, 6.75, 0.0], atol=1e-9)
    assert hits.inside.tolist() == [False, False, False, True]
    np.testing.assert_allclose(plate.bounds, [[-2.25, -2.25, -0.25], [2.25, 2.25, 0.25]])
    assert plate.hull().volume == pytest.approx(4 * 4 * 0.5 + 4 * 4 * np.pi / 2 * 0.25**2 + 4 / 3 * np.pi * 0.25**3)
    contact = gk.contact(plate, gk.Box((1, 1, 1)), None, at(0, 0, 0.75))
    assert contact.points_b[:, 2] == pytest.approx(0.25, abs=1e-9)
    hit = gk.time_of_impact(plate, gk.Sphere(0.5), None, gk.Motion(at(0, 0, 5), (0, 0, -10)))
    assert hit.time == pytest.approx((0.425, 0.425), abs=1e-9)


def test_closed_shell_is_solid_and_hollow_shell_is_not() -> None:
    box = gk.Box((2, 2, 2)).surface()
    grown, hollow = (gk.Shell(gk.Mesh(*box, solid=solid), 0.5) for solid in (True, False))
    ball = gk.Sphere(0.25)
    assert gk.collide(grown, ball)
    assert not gk.collide(hollow, ball)
    assert gk.distance(hollow, ball).distance == pytest.approx(0.5, abs=1e-12)
    for shell in (grown, hollow):
        assert gk.distance(shell, ball, None, at(2, 0, 0)).distance == pytest.approx(0.5, abs=1e-12)
    deep = gk.signed_distance(grown, ball, None, at(0.8, 0, 0))
    assert deep.lower <= -0.7 <= deep.upper + 1e-12
    assert gk.raycast(grown, (0, 0, 0), (1, 0, 0)).inside
    assert not gk.raycast(hollow, (0, 0, 0), (1, 0, 0)).inside
    assert gk.raycast(hollow, (0, 0, 0), (1, 0, 0)).distance == pytest.approx(0.75, abs=1e-9)


@pytest.mark.parametrize("x", [0.9, 0.97, 1.0, 1.03])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("guest", [gk.Point(), gk.Sphere(0.05), gk.Box((0.02, 0.02, 0.02))])
def test_contact_normals_of_a_closed_shell_point_outwards(x: float, side: float, guest: Any) -> None:
    """The centre of the guest may be inside the mesh, or on its faces, by less than half the thickness."""
    shell = gk.Shell(gk.Mesh(*gk.Box((2, 2, 2)).surface()), 0.2)
    pose = at(side * x, 0.3, 0.2)
    result = gk.contact(shell, guest, None, pose)
    assert result.count >= 1
    assert result.normals == pytest.approx(np.tile((side, 0.0, 0.0), (result.count, 1)), abs=1e-9)
    assert result.gaps.min() == pytest.approx(gk.signed_distance(shell, guest, None, pose).distance, abs=1e-9)


def test_degenerate_triangles_and_extremes() -> None:
    needle = gk.Mesh([(0, 0, 0), (4, 0, 0), (2, 0, 0), (0, 0, 0)], [(0, 1, 2), (0, 0, 3)])
    assert gk.distance(gk.Shell(needle, 0.2), gk.Point((2, 0, 1))).distance == pytest.approx(0.9, abs=1e-12)
    for scale in (1e-6, 1e6):
        thin = gk.Shell(gk.Mesh(scale * sheet().vertices, sheet().faces), 1e-9 * scale)
        result = gk.signed_distance(thin, gk.Sphere(scale), None, at(0, 0, 3 * scale))
        assert result.lower <= (2.0 - 0.5e-9) * scale <= result.upper
    far = gk.distance(gk.Shell(sheet(), 0.5), gk.Sphere(1), at(1e7, 0, 0), at(1e7, 0, 2))
    assert far.distance == pytest.approx(0.75, abs=1e-7)


def test_shell_properties_errors_and_replay(tmp_path: Any) -> None:
    shell = gk.Shell(sheet(), 0.5)
    assert pickle.loads(pickle.dumps(shell)) == shell
    assert shell != gk.Shell(sheet(), 0.25)
    assert hash(shell) == hash(gk.Shell(sheet(), 0.5))
    assert_names(repr(shell), "Shell", "2 triangles", "0.5")
    with pytest.raises(ShapeError) as caught:
        gk.Shell(gk.Box((1, 1, 1)), 1.0)
    assert_names(caught.value, "mesh", "Box", "gjk3d.Mesh", "inflated(radius)")
    with pytest.raises(ShapeError, match=r"thickness\b.*\b0\b"):
        gk.Shell(sheet(), 0.0)
    with pytest.raises(ShapeError) as caught:
        gk.Compound([(shell, None)])
    assert_names(caught.value, "parts[0]", "Shell")
    result = gk.signed_distance(shell, gk.Cone(1, 1), None, at(0.1, 0.2, 0.4))
    result.to_json(tmp_path / "case.json")
    replayed = gk.replay.run(tmp_path / "case.json")
    assert replayed.sameness is gk.replay.Sameness.SAME
    assert replayed.case.answer.shape_a == shell
    drawn = gk.Mesh(*shell.surface())
    assert drawn.is_watertight
    assert drawn.volume == pytest.approx(8.0)
