"""The deepest pair of parts, translations past all pairs, and nearby points, compared with solving all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh
from random_shapes import anywhere, some_compound

import gjk3d as gk
from gjk3d.bodies.depth.depth import search_scratch
from gjk3d.bodies.depth.inside import SAMPLED, in_box
from gjk3d.bodies.depth.partings import (
    find_deepest,
    is_blocked,
    leave_behind,
    overlapping_first,
    shifted,
    solve_pair,
    solve_remaining,
)
from gjk3d.bodies.depth.points import surface_of, with_points_near
from gjk3d.bodies.facets import solid_in, solids_of, with_scratch
from gjk3d.bodies.parts import parts_of
from gjk3d.bodies.tree_collision import PosedPair, TreeScratch, list_parts, tree_scratch, two_at
from gjk3d.narrow.solve import FLOATS
from gjk3d.poses import IDENTITY, pose_rows

LOWER, UPPER = 1, 2  # columns of a result
WAY = (0.6, 0.0, 0.8)
NO_SOLID = solid_in(with_scratch(solids_of([])), 0)


def torus(seed: int) -> gk.Mesh:
    made = trimesh.creation.torus(0.5, 0.25, major_sections=8, minor_sections=6)
    return gk.Mesh(made.vertices + 0.02 * np.random.default_rng(seed).normal(size=made.vertices.shape), made.faces)


def overlapping_bodies(seed: int) -> tuple[PosedPair, TreeScratch, np.ndarray]:
    """Return a posed pair of bodies, scratch memory, and the pairs of parts whose boxes overlap."""
    rng = np.random.default_rng(seed)
    host: Any = torus(seed) if seed % 2 else some_compound(rng, 6, 0.3)
    guest, w = some_compound(rng, 3, 0.4), tree_scratch()
    while True:
        row = pose_rows(anywhere(rng, 0.4))[0][0]
        x = two_at(host._as_parts().given, guest._as_parts().given, IDENTITY[0], row)
        pairs = np.zeros((4096, 2), dtype=np.int64)
        count = list_parts(x, 0.0, False, w, pairs)
        if count > 8 and solve_all(x, pairs[:count], w)[:, UPPER].min() < -1e-3:
            return x, w, pairs[:count]


def solve_all(x: PosedPair, pairs: np.ndarray, w: TreeScratch) -> np.ndarray:
    rows = np.empty((len(pairs), FLOATS))
    for k in range(len(pairs)):
        solve_pair(x, pairs, k, w, rows[k])
    return rows


@pytest.mark.parametrize("seed", range(8))
def test_deepest_pair_and_bounds_match_solving_all_pairs(seed: int) -> None:
    x, w, pairs = overlapping_bodies(seed)
    every = {tuple(pair): row for pair, row in zip(pairs.tolist(), solve_all(x, pairs, w), strict=True)}
    depths = np.empty((len(pairs), FLOATS))
    best, count = find_deepest(x, pairs, len(pairs), WAY, w, depths)
    solved = depths[:count, LOWER] > -np.inf
    assert depths[best, UPPER] == min(row[UPPER] for row in every.values())
    assert solved[best]
    left = {tuple(pair) for pair in pairs[:count].tolist()}
    assert left >= {pair for pair, row in every.items() if row[UPPER] < -1e-12}
    for pair, row in zip(pairs[:count].tolist(), depths, strict=False):
        assert row[UPPER] <= every[tuple(pair)][UPPER] + 1e-12
    count = solve_remaining(x, pairs, count, NO_SOLID, w, depths)
    assert {tuple(p) for p in pairs[:count].tolist()} == {p for p, row in every.items() if row[UPPER] <= x.error}
    for pair, row in zip(pairs[:count].tolist(), depths, strict=False):
        assert (row == every[tuple(pair)]).all()


@pytest.mark.parametrize(
    "shape", [gk.Box((0.5, 0.3, 0.4)), gk.ConvexHull(np.random.default_rng(3).normal(size=(20, 3)))]
)
def test_facets_match_epa_for_polytopes(shape: Any) -> None:
    parts, host, w = parts_of(shape), torus(1), tree_scratch()
    x = two_at(
        host._as_parts().given,
        parts.given,
        IDENTITY[0],
        pose_rows(anywhere(np.random.default_rng(1), 0.2))[0][0],
    )
    pairs = np.zeros((4096, 2), dtype=np.int64)
    count, results = list_parts(x, 0.0, False, w, pairs), []
    for solid in (NO_SOLID, solid_in(with_scratch(solids_of([parts])), 0)):
        some, depths = pairs.copy(), np.full((count, FLOATS), -np.inf)
        remaining = solve_remaining(x, some, count, solid, w, depths)
        results.append((some[:remaining].tolist(), depths[:remaining]))
    assert results[0][0] == results[1][0]
    assert len(results[0][0]) > 10
    np.testing.assert_allclose(results[1][1][:, 0], results[0][1][:, 0], atol=1e-12)
    assert (results[1][1] != results[0][1]).any(axis=1).mean() > 0.9


@pytest.mark.parametrize("seed", range(8))
def test_leave_behind_ends_the_overlap(seed: int) -> None:
    x, w, pairs = overlapping_bodies(seed)
    scratch, wall = search_scratch(), np.zeros(3)
    far = leave_behind(x, pairs, len(pairs), WAY, np.inf, w, scratch, wall)
    deepest = max(-row[UPPER] for row in solve_all(x, pairs, w))
    assert far >= deepest - 1e-12  # no separating translation is shorter than the depth of a pair
    assert np.linalg.norm(wall) == pytest.approx(1.0)
    moved = shifted(x, tuple((far + 1e-9) * np.array(WAY)))
    # grazing planes give only a part of the translation, so it is repeated for the remaining pairs
    for _ in range(20):
        more = leave_behind(moved, pairs, len(pairs), WAY, np.inf, w, scratch, wall)
        if more == 0.0:
            break
        moved = shifted(moved, tuple((more + 1e-9) * np.array(WAY)))
    assert solve_all(moved, pairs, w)[:, UPPER].min() > -1e-12


def test_leave_behind_is_zero_without_overlap() -> None:
    x, w, pairs = overlapping_bodies(1)
    far = shifted(x, (50.0, 0.0, 0.0))
    assert leave_behind(far, pairs, len(pairs), (1.0, 0.0, 0.0), np.inf, w, search_scratch(), np.zeros(3)) == 0.0


@pytest.mark.full
@pytest.mark.parametrize("seed", range(5))  # other seeds have more pairs and take up to half a minute
def test_blocked_direction_overlaps_along_the_whole_translation(seed: int) -> None:
    x, w, pairs = overlapping_bodies(seed)
    rng, depths, spans = np.random.default_rng(seed), np.empty((len(pairs), FLOATS)), np.empty((len(pairs), 2))
    _, count = find_deepest(x, pairs, len(pairs), WAY, w, depths)
    count = overlapping_first(pairs, solve_remaining(x, pairs, count, NO_SOLID, w, depths), x.error, depths)
    assert count > 0
    before = solve_all(x, pairs[:count], w)
    assert (before[:, UPPER] < 0.0).all()
    results = set()
    for way in rng.normal(size=(8, 3)):
        way /= np.linalg.norm(way)
        for most in (0.02, 0.1, 0.4, 2.0):
            moved = shifted(x, tuple(most * way))
            blocked = is_blocked(moved, pairs, count, tuple(way), w, spans)
            results.add(blocked)
            every = [solve_all(shifted(x, tuple(t * way)), pairs[:count], w) for t in np.linspace(0.0, most, 5)]
            overlap = np.array([rows[:, 0] for rows in every]) < 0.0
            assert overlap.all(axis=0).any() or not blocked
            assert blocked or most > 0.1 or not overlap[-1].all()
    assert results == {False, True}


@pytest.mark.parametrize("seed", range(6))
def test_nearby_points_include_all_that_can_enter_the_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, most = torus(seed)._as_parts(), torus(seed + 50).scaled(0.4)._as_parts(), 0.1
    x = two_at(a.given, b.given, IDENTITY[0], pose_rows(anywhere(rng, 0.6))[0][0])
    given_a, given_b = surface_of(a), surface_of(b)
    near_a, near_b = with_points_near(x.m, most, given_a, given_b, np.empty((2 * SAMPLED, 3)))
    turn, place = np.array(x.m[:9]).reshape(3, 3), np.array(x.m[9:])
    for _ in range(20):
        shift = rng.normal(size=3)
        position = place + most * rng.random() * shift / np.linalg.norm(shift)
        for seeds, near, boxes, moved in (
            (given_b.seeds, near_b.seeds, given_a.skin.tree.boxes, given_b.seeds @ turn.T + position),
            (given_a.seeds, near_a.seeds, given_b.skin.tree.boxes, (given_a.seeds - position) @ turn),
        ):
            inside = np.array([in_box(tuple(p), boxes, 0.0) for p in moved])
            near_points = {tuple(p) for p in near.tolist()}
            assert {tuple(p) for p in seeds[inside].tolist()} <= near_points
    same = with_points_near(x.m, np.inf, given_a, given_b, np.empty((2 * SAMPLED, 3)))
    assert same[0] is given_a
    assert same[1] is given_b
