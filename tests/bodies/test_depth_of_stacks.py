"""Depth of stacks, of solids within compounds, and of users' own shapes: by moving, and against single calls."""

from __future__ import annotations

from typing import Any

import fits
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from places import at
from scipy.spatial.transform import Rotation
from strategies import sampled

import gjk3d as gk

Array = NDArray[np.float64]
TORUS = fits.ring(1.0, 0.4, 12, 6)
BLOCK = gk.Mesh(*gk.Box((1.0, 0.6, 0.8)).surface())
ARM = gk.Compound([(gk.Box((0.9, 0.2, 0.2)), None), (gk.Sphere(0.25), at(0.4, 0.1, 0.0))])
PAIR = gk.Compound([(TORUS, None), (BLOCK, at(1.2, 0.3, 0.1, rotation=Rotation.from_rotvec((0.3, 0.4, 0.5))))])
THINGS: dict[str, Any] = {
    "torus": TORUS, "block": BLOCK, "box": gk.Box((0.5, 0.6, 0.7)), "sphere": gk.Sphere(0.4),
    "cylinder": gk.Cylinder(0.3, 0.8), "arm": ARM, "two meshes": PAIR,
    "ground": gk.HeightField(0.1 * np.random.default_rng(3).normal(size=(6, 6)), 0.5, origin=(-1.25, -1.25)),
    "cubes": gk.VoxelGrid(np.ones((2, 2, 2), dtype=bool), 0.4),
}  # fmt: skip
SOLID = [TORUS, BLOCK, PAIR, THINGS["cubes"]]


def poses_of(rng: np.random.Generator, count: int, spread: float = 0.8) -> Array:
    return np.stack([at(*rng.uniform(-spread, spread, 3), rotation=Rotation.random(rng=rng)) for _ in range(count)])


def numbers(found: Any) -> list[Any]:
    return [
        np.asarray(x).tolist()
        for x in (found.lower, found.upper, found.distance, found.normal, found.point_a, found.point_b, found.status)
    ]


@pytest.mark.parametrize("second", THINGS)
@pytest.mark.parametrize("first", sampled([("torus",), ("two meshes",), ("ground",)], 3))
def test_a_stack_is_its_rows_however_it_is_cut(first: str, second: str) -> None:
    a, b = THINGS[first], THINGS[second]
    if first == second == "ground":
        return
    rng = np.random.default_rng(len(first) + 7 * len(second))
    ours, theirs = poses_of(rng, 24, 0.3), poses_of(rng, 24)
    whole, cut = gk.signed_distance(a, b, ours, theirs), gk.signed_distance(a, b, ours, theirs, workers=2)
    assert numbers(whole) == numbers(cut)
    for k in range(0, 24, 3):
        assert numbers(whole[k]) == numbers(gk.signed_distance(a, b, ours[k], theirs[k]))
    back = gk.signed_distance(b, a, theirs, ours)
    assert (whole.lower == back.lower).all()
    assert (whole.upper == back.upper).all()
    assert (whole.distance < 0.0).sum() > 3


@given(st.integers(0, 2**32 - 1))
def test_what_frees_two_frees_them_and_nothing_nearer_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = list(THINGS)
    a, b = THINGS[names[rng.integers(len(names) - 2)]], THINGS[names[rng.integers(len(names))]]
    pose = poses_of(rng, 1)[0]
    found = gk.signed_distance(a, b, None, pose)
    if not found.distance < 0.0:
        return
    assert found.lower <= found.distance <= found.upper <= 0.0
    free = pose.copy()
    free[:3, 3] += (found.depth * (1.0 + 1e-9) + 1e-9) * found.normal
    assert not gk.collide(a, b, None, free)
    for way in np.vstack([rng.normal(size=(12, 3)), found.normal]):
        near = pose.copy()
        near[:3, 3] -= 0.99 * found.upper * way / np.linalg.norm(way)
        assert gk.collide(a, b, None, near)


def test_solids_of_a_compound_hold_what_is_inside_of_any() -> None:
    """Also where they overlap, one is wound inwards, or one has faces that bound nothing."""
    inwards = gk.Mesh(BLOCK.vertices, BLOCK.faces[:, ::-1])
    spare = gk.Mesh(BLOCK.vertices, np.vstack([BLOCK.faces, BLOCK.faces[:2]]))
    rng = np.random.default_rng(11)
    turn = at(0.3, 0.1, 0.0, rotation=Rotation.from_rotvec((0.2, 0.1, 0.3)))
    for other in (BLOCK, inwards, spare):
        both = gk.Compound([(BLOCK, None), (other, turn)])
        for place in rng.uniform(-0.9, 0.9, (60, 3)):
            own = (np.linalg.inv(turn) @ np.append(place, 1.0))[:3]
            expected = bool((np.abs(place) < (0.5, 0.3, 0.4)).all() or (np.abs(own) < (0.5, 0.3, 0.4)).all())
            assert gk.collide(both, gk.Sphere(1e-6), None, at(*place)) == expected
            if expected:
                deep = gk.signed_distance(both, gk.Sphere(1e-6), None, at(*place))
                assert deep.status == gk.Status.OVERLAPPING
                assert deep.upper < 0.0


@pytest.mark.full
def test_depth_of_a_shape_given_by_a_function() -> None:
    """Kernels do not call such: the hulls' way out, and that of the deepest parts, are all that is tried."""
    ball = gk.Support(lambda d: 0.4 * d / np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2), (0.0, 0.0, 0.0), 0.4)
    for body in (TORUS, ARM):
        for place in ((1.0, 0.1, 0.1), (0.9, 0.0, 0.3)):
            own, twin = (gk.signed_distance(body, x, None, at(*place)) for x in (ball, gk.Sphere(0.4)))
            assert own.lower <= own.upper + 1e-9
            assert max(own.lower, twin.lower) <= min(own.upper, twin.upper) + 1e-6
