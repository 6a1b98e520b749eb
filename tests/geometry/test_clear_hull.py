"""The fast path for convex hulls of unambiguous points.

Its results have the same bits as those of the slow path, and they satisfy the definition of a hull.
"""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.spatial
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d._kernels.decorators import compiled
from gjk3d.geometry import hull_facets as fast_path
from gjk3d.geometry import hulls

TURN = Rotation.from_rotvec([0.3, 0.5, -0.7]).as_matrix()
KINDS = ["normal", "integers", "sphere", "thin", "far", "inside", "twins", "prism", "box", "line"]


def points_of_kind(kind, seed, count):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((count, 3)) * rng.uniform(0.2, 2.0, 3)
    if kind == "integers":
        points = np.round(2.0 * points) / 2.0
    elif kind == "sphere":
        points /= np.linalg.norm(points, axis=1)[:, None]
    elif kind == "thin":
        points = points * 10.0 ** rng.uniform(-14, 0, 3) @ TURN.T
    elif kind == "far":
        points = points + rng.standard_normal(3) * 10.0 ** rng.uniform(0, 14)
    elif kind == "inside":
        corners = rng.standard_normal((6, 3))
        points = np.concatenate([corners, rng.dirichlet(np.ones(6), count) @ corners])
    elif kind == "twins":
        points = np.concatenate([points, points + 10.0 ** rng.uniform(-17, -12) * rng.standard_normal(points.shape)])
    elif kind == "prism":
        turn = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
        ring = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
        points = np.concatenate([ring, ring + (0.0, 0.0, 1.0)]) @ TURN.T
    elif kind == "box":
        points = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * points[:1]
    elif kind == "line":
        points = np.outer(rng.standard_normal(count), points[0])
    return np.ascontiguousarray(points * 10.0 ** rng.integers(-30, 30) if seed % 3 == 0 else points)


def content(hull):
    fields = (hull.vertices, hull.faces, hull.indices, hull.dimension, hull.defect)
    fields += (hull.volume, hull.area, hull.edges, hull.angles)
    return [np.asarray(field).tobytes() for field in fields]


def clear_hull(points):
    return fast_path.clear_hull(points)[0]


@given(st.sampled_from(KINDS), st.integers(0, 2**32), st.integers(1, 60) | st.sampled_from([290, 700, 3000]))
def test_fast_path_has_bits_of_slow_path(kind, seed, count):
    points = points_of_kind(kind, seed, count)
    short = hulls.build_hull(points)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hulls, "clear_hull", lambda _: (None, None))
        long = hulls.build_hull(points)
    assert content(short) == content(long)
    again = pickle.loads(pickle.dumps(short))
    assert content(again) == content(long)


def test_usual_points_take_fast_path():
    rng = np.random.default_rng(2)
    for count in (4, 8, 40, *((1024, 1025, 20000) if compiled() else (256,))):
        points = rng.standard_normal((count, 3))
        assert clear_hull(points) is not None
        assert clear_hull(points / np.linalg.norm(points, axis=1)[:, None]) is not None
    assert clear_hull(gk.Box((1, 2, 3)).vertices) is not None


@pytest.mark.parametrize("count", [100, 300])
def test_qhull_runs_once_per_set_of_points(count, monkeypatch):
    calls, original = [], scipy.spatial.ConvexHull

    def counted(points, **options):
        calls.append(points.tobytes())
        return original(points, **options)

    monkeypatch.setattr(scipy.spatial, "ConvexHull", counted)
    points = points_of_kind("prism", 1, count)
    points = np.concatenate([points, points[:count].mean(axis=0)[None]])
    assert clear_hull(points) is None  # rounding decides whether the centre of a flat cap is a vertex
    calls.clear()
    hulls.build_hull(points)
    assert len(calls) == len(set(calls)) > 0


@pytest.mark.parametrize("kind", ["line", "twins", "thin"])
def test_ambiguous_points_do_not_take_fast_path(kind):
    assert all(clear_hull(points_of_kind(kind, 1 + 3 * seed, 3)) is None for seed in range(20))
    few = np.random.default_rng(1).standard_normal((1025, 3))
    assert clear_hull(few[:3]) is None
    assert clear_hull(np.concatenate([few, few])) is None  # as in files that repeat the corners of each triangle
    assert clear_hull(few * (1, 1, 1e-3) @ TURN.T) is None
    edge = few[scipy.spatial.ConvexHull(few).simplices[0, :2]]
    assert clear_hull(np.concatenate([few, edge.mean(axis=0)[None]])) is None
    assert clear_hull(few[:40] * 1e-200) is None
    assert clear_hull(np.concatenate([few[:40], few[:1]])) is None
    far = few[(few[:40] ** 2).sum(axis=1).argmax()]
    assert clear_hull(np.concatenate([few[:40], far[None] * (1.0 - 1e-15)])) is None


@given(st.sampled_from(["normal", "sphere", "inside", "far"]), st.integers(0, 2**32), st.integers(4, 16))
def test_no_point_is_outside_a_face_in_rationals(kind, seed, count):
    points = points_of_kind(kind, seed, count)
    clear = clear_hull(points)
    if clear is None:
        return
    exact = [[Fraction(float(x)) for x in p] for p in points]
    size = Fraction(float(np.ptp(points, axis=0).max()))
    for i, j, k in points[clear.indices][clear.faces].tolist():
        a, b, c = ([Fraction(x) for x in corner] for corner in (i, j, k))
        u, v = ([x - y for x, y in zip(end, a, strict=True)] for end in (b, c))
        normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        most = max(sum(n * (x - y) for n, x, y in zip(normal, p, a, strict=True)) for p in exact)
        length = Fraction(float(np.sqrt(float(sum(n * n for n in normal) / size**4)))) * size**2
        assert most <= Fraction(1, 10**14) * size * length
