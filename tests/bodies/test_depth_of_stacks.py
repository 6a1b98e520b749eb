"""Depth of stacks, solids within compounds and user-defined shapes, checked by moving and against single calls."""

from __future__ import annotations

from typing import Any

import assembled_parts
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_shapes import at
from scipy.spatial.transform import Rotation
from strategies import sampled

import gjk3d as gk

Array = NDArray[np.float64]
TORUS = assembled_parts.ring(1.0, 0.4, 12, 6)
BLOCK = gk.Mesh(*gk.Box((1.0, 0.6, 0.8)).surface())
ARM = gk.Compound([(gk.Box((0.9, 0.2, 0.2)), None), (gk.Sphere(0.25), at(0.4, 0.1, 0.0))])
PAIR = gk.Compound([(TORUS, None), (BLOCK, at(1.2, 0.3, 0.1, rotation=Rotation.from_rotvec((0.3, 0.4, 0.5))))])
OBJECTS: dict[str, Any] = {
    "torus": TORUS, "block": BLOCK, "box": gk.Box((0.5, 0.6, 0.7)), "sphere": gk.Sphere(0.4),
    "cylinder": gk.Cylinder(0.3, 0.8), "arm": ARM, "two meshes": PAIR,
    "ground": gk.HeightField(0.1 * np.random.default_rng(3).normal(size=(6, 6)), 0.5, origin=(-1.25, -1.25)),
    "cubes": gk.VoxelGrid(np.ones((2, 2, 2), dtype=bool), 0.4),
}  # fmt: skip
SOLID = [TORUS, BLOCK, PAIR, OBJECTS["cubes"]]


def poses_of(rng: np.random.Generator, count: int, spread: float = 0.8) -> Array:
    return np.stack([at(*rng.uniform(-spread, spread, 3), rotation=Rotation.random(rng=rng)) for _ in range(count)])


def numbers(result: Any) -> list[Any]:
    return [
        np.asarray(x).tolist()
        for x in (
            result.lower,
            result.upper,
            result.distance,
            result.normal,
            result.point_a,
            result.point_b,
            result.status,
        )
    ]


@pytest.mark.parametrize("second", OBJECTS)
@pytest.mark.parametrize("first", sampled([("torus",), ("two meshes",), ("ground",)], 3))
def test_stack_equals_single_queries_for_any_number_of_workers(first: str, second: str) -> None:
    a, b = OBJECTS[first], OBJECTS[second]
    if first == second == "ground":
        return
    rng = np.random.default_rng(len(first) + 7 * len(second))
    ours, theirs = poses_of(rng, 24, 0.3), poses_of(rng, 24)
    stack, cut = gk.signed_distance(a, b, ours, theirs), gk.signed_distance(a, b, ours, theirs, workers=2)
    assert numbers(stack) == numbers(cut)
    for k in range(0, 24, 3):
        assert numbers(stack[k]) == numbers(gk.signed_distance(a, b, ours[k], theirs[k]))
    back = gk.signed_distance(b, a, theirs, ours)
    assert (stack.lower == back.lower).all()
    assert (stack.upper == back.upper).all()
    assert (stack.distance < 0.0).sum() > 3


@given(st.integers(0, 2**32 - 1))
def test_depth_separates_and_no_shorter_translation_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = list(OBJECTS)
    a, b = OBJECTS[names[rng.integers(len(names) - 2)]], OBJECTS[names[rng.integers(len(names))]]
    pose = poses_of(rng, 1)[0]
    result = gk.signed_distance(a, b, None, pose)
    if not result.distance < 0.0:
        return
    assert result.lower <= result.distance <= result.upper <= 0.0
    free = pose.copy()
    free[:3, 3] += (result.depth * (1.0 + 1e-9) + 1e-9) * result.normal
    assert not gk.collide(a, b, None, free)
    for way in np.vstack([rng.normal(size=(12, 3)), result.normal]):
        near = pose.copy()
        near[:3, 3] -= 0.99 * result.upper * way / np.linalg.norm(way)
        assert gk.collide(a, b, None, near)


def test_compound_contains_points_inside_any_of_its_solids() -> None:
    """Solids may overlap, be wound inwards or have duplicate faces."""
    inwards = gk.Mesh(BLOCK.vertices, BLOCK.faces[:, ::-1])
    spare = gk.Mesh(BLOCK.vertices, np.vstack([BLOCK.faces, BLOCK.faces[:2]]))
    rng = np.random.default_rng(11)
    turn = at(0.3, 0.1, 0.0, rotation=Rotation.from_rotvec((0.2, 0.1, 0.3)))
    for solid in (BLOCK, inwards, spare):
        compound = gk.Compound([(BLOCK, None), (solid, turn)])
        for place in rng.uniform(-0.9, 0.9, (60, 3)):
            local = (np.linalg.inv(turn) @ np.append(place, 1.0))[:3]
            expected = bool((np.abs(place) < (0.5, 0.3, 0.4)).all() or (np.abs(local) < (0.5, 0.3, 0.4)).all())
            assert gk.collide(compound, gk.Sphere(1e-6), None, at(*place)) == expected
            if expected:
                deep = gk.signed_distance(compound, gk.Sphere(1e-6), None, at(*place))
                assert deep.status == gk.Status.OVERLAPPING
                assert deep.upper < 0.0


@pytest.mark.full
def test_depth_of_a_support_function_shape() -> None:
    """Kernels cannot call Python, so only translations past the hulls and the deepest parts are tried."""
    ball = gk.Support(lambda d: 0.4 * d / np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2), (0.0, 0.0, 0.0), 0.4)
    for body in (TORUS, ARM):
        for place in ((1.0, 0.1, 0.1), (0.9, 0.0, 0.3)):
            result, reference = (gk.signed_distance(body, x, None, at(*place)) for x in (ball, gk.Sphere(0.4)))
            assert result.lower <= result.upper + 1e-9
            assert max(result.lower, reference.lower) <= min(result.upper, reference.upper) + 1e-6
