"""Stale contents of the scratch memory do not change results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import trimesh
from strategies import CHOSEN_PAIRS, SHAPES, build, random_poses, random_spec

import gjk3d as gk
from gjk3d.bodies.tree_collision import tree_scratch
from gjk3d.narrow.workspace import FIRST_POINTS, workspace_of

BODY = gk.Mesh.from_trimesh(trimesh.creation.torus(0.8, 0.3, 8, 6))


def fill(number: float, integer: int) -> None:
    """Fill the scratch memory of this thread with values that no query would leave."""
    w = tree_scratch()
    for array in (*workspace_of(FIRST_POINTS), *w.workspace, w.keys, w.out):
        array.fill(number if array.dtype.kind == "f" else integer)


def queries_of(a: Any, b: Any, *poses: np.ndarray) -> dict[str, Callable[[], list[Any]]]:
    """Return queries by name, each of which returns a list of values."""

    def fields(result: Any) -> list[Any]:
        names = "distance", "lower", "upper", "point_a", "point_b", "normal", "status", "iterations"
        return [getattr(result, name) for name in names]

    queries: dict[str, Callable[[], list[Any]]] = {
        "signed_distance": lambda: fields(gk.signed_distance(a, b, *poses)),
        "distance": lambda: fields(gk.distance(a, b, *poses)),
        "collide": lambda: [gk.collide(a, b, *poses, margin=margin) for margin in (0.0, 0.1, -0.1)],
        "contact": lambda: [gk.contact(a, b, *poses).points_a],
    }
    return queries


@pytest.mark.parametrize("kinds", CHOSEN_PAIRS, ids="-".join)
def test_convex_pairs(kinds, rng):
    specs = [random_spec(rng, kind) for kind in kinds]
    assert_equal_after_fills(*map(build, specs), *random_poses(rng, *specs, 24))


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_mesh_and_convex_shape(kind, rng):
    spec = random_spec(rng, kind)
    assert_equal_after_fills(BODY, build(spec), *random_poses(rng, spec, spec, 6))


def assert_equal_after_fills(a: Any, b: Any, pose_a: np.ndarray, pose_b: np.ndarray) -> None:
    """Compare the results of every query after different fills of the scratch memory."""
    for name, query in queries_of(a, b, pose_a, pose_b).items():
        fill(0.0, 0)
        expected = query()
        for number, integer in ((np.nan, -1), (np.inf, 1 << 40), (-1e300, 7)):
            fill(number, integer)
            for reference, value in zip(expected, query(), strict=True):
                assert np.array_equal(reference, value, equal_nan=True), (name, number)
