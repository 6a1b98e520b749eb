"""The lessons on separating axes and bounding volumes in Chromium: their numbers are those of the library."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from answers import pose
from browser import Browser, program
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.viz.explanation.lessons import polytope_data

TEST = """pairs.map(([a, b]) => [false, true].map((only) => {
  const size = gjk3dSupport.size(a, b, [0, 0, 0]), { best } = gjk3dAxes.test(a, b, [0, 0, 0], { only, tiny: 1e-14 * size });
  return [best.gap, ...best.normal, size];
}))"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if program() is None:
        pytest.fail("these tests look at lessons in Chromium, which is not on PATH: apt-get install chromium")
    opened = Browser(tmp_path_factory.mktemp("profile"), (1280, 900))
    opened.media(prefers_reduced_motion="reduce")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def sat(tmp_path_factory):
    return gk.viz.lesson(tmp_path_factory.mktemp("sat") / "sat.html", "sat")


def polytope(rng):
    """Return the corners of a box, a prism, a tetrahedron or a hull, some of them flat or long."""
    scale = rng.choice([1.0, 1.0, 0.05], size=3)
    polygon = rng.normal(size=(int(rng.integers(3, 6)), 2))
    kinds = (
        lambda: gk.Box(rng.uniform(0.5, 2, 3)).vertices,
        lambda: np.array([(x, y, z) for x, y in polygon for z in (-0.7, 0.7)]),
        lambda: rng.normal(size=(4, 3)),
        lambda: rng.normal(size=(int(rng.integers(5, 9)), 3)),
    )
    return kinds[int(rng.integers(4))]() * scale


def pairs(count, seed):
    """Return pairs of polytopes in world axes, some with parallel edges, apart, overlapping and one inside the other."""
    rng, out = np.random.default_rng(seed), []
    for k in range(count):
        scale = 10.0 ** rng.uniform(-3, 3)
        turns = [np.eye(3) if k % 5 == 0 else Rotation.random(rng=rng).as_matrix() for _ in range(2)]
        a, b = (polytope(rng) @ turn.T * scale for turn in turns)
        out.append((gk.ConvexHull(a), gk.ConvexHull(b + scale * rng.normal(size=3) * rng.choice([0.1, 1.0, 2.0]))))
    return out


def test_gaps_and_depths_of_the_page_are_those_of_the_library(browser, sat):
    browser.open_anew(sat)
    asked = [*pairs(200, 3), *pairs(100, 4)]
    given = json.dumps([[polytope_data(shape) for shape in pair] for pair in asked])
    rows = np.array(json.loads(browser.evaluate(f"(() => {{ const pairs = {given}; return JSON.stringify({TEST}); }})()")))
    size, gap, only = rows[:, 0, 4], rows[:, 0, 0], rows[:, 1, 0]
    axes = [gk.separating_axis(*pair) for pair in asked]
    distance = np.array([gk.signed_distance(*pair).distance for pair in asked])
    library = np.array([axis.gap for axis in axes])
    apart = library > 0.0
    assert 60 < apart.sum() < 240
    # only normals of faces of A - B are the library's axes
    assert (np.abs(only - library) <= 1e-12 * size).all()
    # with all axes the depth is the same, and a gap is between that of the library and the distance
    assert (np.abs(gap - distance) <= 1e-12 * size)[~apart].all()
    assert (gap >= library - 1e-12 * size).all()
    assert (gap <= distance + 1e-12 * size).all()
    assert (gap > library + 1e-6 * size)[apart].any()
    for row, (a, b), length, free in zip(rows[:, 0], asked, size, apart, strict=True):
        if free:
            continue
        moved = gk.signed_distance(a, b, None, pose(*(-row[0] * row[1:4]))).distance
        assert abs(moved) <= 1e-11 * length  # after the minimum translation the shapes just touch
