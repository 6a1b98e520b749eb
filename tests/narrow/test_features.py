"""The face, edge or corner of a hull that faces a direction, compared with a search of all features in numpy."""

from __future__ import annotations

from math import cos, radians, sin
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import Array

import gjk3d as gk
from gjk3d.narrow.cores import LEAN, MOST, Loops, hull_feature
from gjk3d.narrow.ray import HIT, INSIDE, MISS, enter_planes
from gjk3d.shapes.layout import Core

_CLOSE = 1e-12


def hull(kind: str, rng: np.random.Generator) -> Any:
    if kind == "grid":  # faces of many corners, and several vertices at one height
        return gk.ConvexHull(np.vstack([rng.integers(-1, 2, (12, 3)) * 1.0, np.eye(3)]))
    if kind == "flat":
        return gk.ConvexHull(rng.normal(size=(7, 3)) * (1.0, 1.0, 0.0))
    return gk.ConvexHull(rng.normal(size=(20, 3)))


def directions(shape: Any, rng: np.random.Generator) -> Array:
    """Return random directions, and directions near normals of faces and across edges."""
    triangles = shape.vertices[shape.faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    between = normals[rng.integers(len(normals), size=12)] + normals[rng.integers(len(normals), size=12)]
    result = np.vstack([rng.normal(size=(12, 3)), normals, between + 1e-6, normals + rng.normal(size=(1, 3)) * 0.04])
    result = result[np.linalg.norm(result, axis=1) > 1e-3]
    return np.asarray(result / np.linalg.norm(result, axis=1)[:, None])


def best_features(shape: Any, d: Array) -> tuple[float, list[set[int]]]:
    """Return the score of the best feature for a direction, and all features equal to rounding, as sets of corners.

    Faces tilted by less than the limit come first, then edges, then the highest vertex.
    """
    v = shape.vertices
    heights = v @ d
    on_top = heights >= heights.max() - _CLOSE * np.linalg.norm(v, axis=1).max()
    faces, edges = [], []
    for loop in shape.polygons:
        corners = v[loop]
        n = sum(np.cross(corners[k - 1] - corners[0], corners[k] - corners[0]) for k in range(len(loop)))
        if on_top[loop].any() and n @ d > cos(radians(LEAN)) * np.linalg.norm(n):
            faces.append((-(n @ d) / np.linalg.norm(n), set(loop.tolist())))
        for i, j in zip(np.roll(loop, 1), loop, strict=True):
            e = v[j] - v[i]
            if on_top[[i, j]].any() and abs(e @ d) < sin(radians(LEAN)) * np.linalg.norm(e):
                edges.append((abs(e @ d) / np.linalg.norm(e), {int(i), int(j)}))
    some = faces or edges or [(0.0, {int(k)}) for k in np.flatnonzero(on_top)]
    best = min(score for score, _ in some)
    return best, [corners for score, corners in some if score <= best + 1e-12]


@pytest.mark.full
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["any", "grid", "flat"]))
def test_hull_feature_matches_full_search(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    shape = hull(kind, rng)
    core, loops, room = Core(*shape._packed), Loops(*shape._faces()), np.empty((MOST, 3))
    v, seen = shape.vertices, set()
    center = np.array(core.floats[1:4])
    for d in directions(shape, rng):
        feature = hull_feature(core, loops, tuple(d.tolist()), room)
        _, expected = best_features(shape, d)
        seen.add(feature.corners)
        if feature.corners == 1:
            assert all(len(corners) == 1 for corners in expected)
            continue
        corners = room[: feature.corners] + center
        which = {int(np.argmin(np.linalg.norm(v - p, axis=1))) for p in corners}
        assert which in expected
        if feature.corners > 2:
            assert np.dot(feature.normal, d) > cos(radians(LEAN))
            np.testing.assert_allclose((corners - corners[0]) @ feature.normal, 0.0, atol=1e-12)
    assert len(seen) > 1


@given(seed=st.integers(0, 10**6))
def test_ray_enters_planes_at_expected_point(seed: int) -> None:
    """Some rays are parallel to planes, so their speed towards these planes is 0."""
    rng = np.random.default_rng(seed)
    normals = np.vstack([np.eye(3), -np.eye(3), rng.normal(size=(6, 3))])
    planes = np.column_stack([normals / np.linalg.norm(normals, axis=1)[:, None], rng.uniform(0.3, 1.0, 12)])
    codes = set()
    for k in range(40):
        p, d = rng.normal(size=3), rng.normal(size=3)
        if k == 0:  # from outside of all planes towards the origin, which is inside
            p, d = 4.0 * d / np.linalg.norm(d), -d
        elif rng.random() < 0.3:
            d = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        d /= np.linalg.norm(d)
        height, speed = planes[:, 3] - planes[:, :3] @ p, planes[:, :3] @ d
        first = max([h / s for h, s in zip(height, speed, strict=True) if s < 0.0], default=-np.inf)
        last = min([h / s for h, s in zip(height, speed, strict=True) if s > 0.0], default=np.inf)
        missed = first > last or last < 0.0 or (height[speed == 0.0] < 0.0).any()
        code, t, n = enter_planes(tuple(p.tolist()), tuple(d.tolist()), planes, 1e-14)
        codes.add(code)
        assert code == (MISS if missed else INSIDE if first <= 0.0 else HIT)
        if code == HIT:
            np.testing.assert_allclose(t, first, atol=1e-12)
            assert abs(planes[:, :3] @ (p + t * d) - planes[:, 3]).min() < 1e-12
            assert np.dot(n, d) < 0.0
    assert HIT in codes
