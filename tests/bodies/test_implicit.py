"""Meshes of level sets."""

from __future__ import annotations

import sys
from math import pi

import numpy as np
import pytest
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import ShapeError

BOUNDS = [(-1.1, -1.1, -0.25), (1.1, 1.1, 0.25)]


def torus(x: float, y: float, z: float) -> float:
    return (x * x + y * y + z * z + 0.8**2 - 0.2**2) ** 2 - 4 * 0.8**2 * (x * x + y * y)


@pytest.mark.parametrize(("pitch", "off"), [(0.1, 0.07), (0.05, 0.02), (0.025, 0.005)])
def test_torus_matches_its_formulas(pitch: float, off: float) -> None:
    mesh = gk.from_implicit(torus, BOUNDS, pitch)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(2 * pi**2 * 0.8 * 0.2**2, rel=off)
    corners = mesh.vertices[mesh.faces]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    assert area == pytest.approx(4 * pi**2 * 0.8 * 0.2, rel=off)
    ring = np.hypot(np.hypot(mesh.vertices[:, 0], mesh.vertices[:, 1]) - 0.8, mesh.vertices[:, 2])
    assert ring == pytest.approx(0.2, abs=2e-3 * pitch)
    ball = gk.Sphere(0.5)
    assert not gk.collide(mesh, ball)
    assert gk.collide(mesh.hull(), ball)
    assert gk.distance(mesh, ball).distance == pytest.approx(0.1, abs=0.3 * pitch)


def test_surface_is_closed_at_the_bounds() -> None:
    slab = gk.from_implicit(lambda x, y, z: abs(z) - 0.3, [(-1, -1, -1), (1, 1, 1)], 0.1)
    assert slab.is_watertight
    assert slab.volume == pytest.approx(2 * 2 * 0.6, rel=0.03)  # its edges are cut at the bounds
    assert slab.bounds == pytest.approx(np.array([(-1, -1, -0.3), (1, 1, 0.3)]), abs=1e-4)


def test_invalid_functions_bounds_and_pitches_raise() -> None:
    with pytest.raises(ShapeError) as caught:
        gk.from_implicit(lambda x, y, z: 1.0, BOUNDS, 0.1)
    assert_names(caught.value, "function", " 1 and 1 ")
    with pytest.raises(ShapeError, match=r"nan.*\(0\.\d+, "):
        gk.from_implicit(lambda x, y, z: float("nan") if x > 0.5 else 1.0, BOUNDS, 0.1)
    with pytest.raises(ShapeError) as caught:
        gk.from_implicit(torus, BOUNDS, 1e-4)
    assert_names(caught.value, "0.0001", "4.84e+12", "0.00459")
    with pytest.raises(ShapeError, match=r"pitch\b.*\b0\b"):
        gk.from_implicit(torus, BOUNDS, 0)
    for bad in ([(0, 0, 0)], [(0, 0, 0), (1, 0, 1)], [(0, 0, 0), (1, 1, np.nan)], [(0, 0), (1, 1)]):
        with pytest.raises(ShapeError, match="from_implicit: bounds"):
            gk.from_implicit(torus, bad, 0.1)
    with pytest.raises(ShapeError, match=r"function\b.*\b3\b"):
        gk.from_implicit(3, BOUNDS, 0.1)
    with pytest.raises(ZeroDivisionError):
        gk.from_implicit(lambda x, y, z: 1 / 0, BOUNDS, 0.1)


def test_missing_manifold3d_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "manifold3d", None)
    with pytest.raises(ImportError, match=r"'gjk3d\[mesh\]'"):
        gk.from_implicit(torus, BOUNDS, 0.1)
