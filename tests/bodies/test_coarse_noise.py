"""Bounds of the kernels for bodies with a coarse noise: they remain true if positions are off by the noise."""

from __future__ import annotations

from fractions import Fraction
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest

import gjk3d as gk
from gjk3d._kernels.vectors import LANES, boxes_on_ray
from gjk3d.bodies import facets, impact, mesh_rays, planes, touching_bodies, tree_collision, tree_distance, triangles
from gjk3d.bodies.body_pair import MeshPair
from gjk3d.bodies.bvh import tree_of, wide_tree_of
from gjk3d.bodies.depth import depth, fast, inside, partings, points, pushes
from gjk3d.bodies.distance import pair_of
from gjk3d.bodies.parts import complete, parts_of
from gjk3d.narrow.solve import BEYOND, FLOATS, INTS
from gjk3d.narrow.toi import CENTER, MOTION, PART_WORK, WAY
from gjk3d.poses import IDENTITY, ROUNDING, WIDTH, pose_rows, relative
from gjk3d.shapes import layout
from tests.bodies.random_shapes import Array, at

NOISE = 2.0**-6
CUBE = np.array([(x, y, z) for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))], dtype=float)
SIDES = [(0, 2, 1), (0, 3, 2), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7)]
TOP = [(4, 5, 6), (4, 6, 7)]
SOLID = gk.Mesh(CUBE, SIDES + TOP)
ORIGIN = parts_of(gk.Point()).given
#: the same cube with a shallow dent in its top, so it is not convex
DENTED = gk.Mesh(np.vstack([CUBE, [(0.0, 0.0, 0.75)]]), [*SIDES, (4, 5, 8), (5, 6, 8), (6, 7, 8), (7, 4, 8)])


def flat(points: Any) -> gk.Mesh:
    return gk.Mesh(np.array(points, dtype=float), [(0, 1, 2)], solid=False)


def row(*move: float) -> Array:
    return pose_rows(at(*move))[0][0]


def moved(*move: float) -> tuple[float, ...]:
    return tuple(row(*move)[:12].tolist())


def pair_at(a: Any, b: Any, move: tuple[float, float, float], error: float) -> tree_collision.PosedPair:
    first, second = parts_of(a).given, parts_of(b).given
    return tree_collision.two_at(first, second, IDENTITY[0], row(*move))._replace(error=error)


def test_separating_plane_proves_only_smaller_gaps() -> None:
    corners, planes = SOLID.vertices[SOLID.faces].reshape(-1, 9)[:1], np.zeros((1, FLOATS))
    planes[0, :3], planes[0, fast.END] = (0.0, 0.0, -1.0), 2.0
    assert [fast._is_behind(corners, 0, planes, 1, gap) for gap in (0.5, 1.0, 1.5)] == [True, False, False]


# depths of inner surfaces -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", [SOLID, DENTED])
@pytest.mark.parametrize("budget", [1, 2, 8, 200])
@pytest.mark.parametrize("size", [0.02, 0.2])
def test_depth_of_inner_surface_includes_the_noise(host: gk.Mesh, budget: int, size: float) -> None:
    """All points of the guest are 0.25 above the bottom."""
    guest = flat([(size, 0.0, -0.75), (-size, size, -0.75), (-size, -size, -0.75)])
    result = inside.inner(host, guest, IDENTITY[0], NOISE, 1e-3, budget, 0.0)
    assert result.upper >= 0.25 + 2.0 * NOISE


@pytest.mark.parametrize("host", [SOLID, DENTED])
@pytest.mark.parametrize("way", [(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)])
def test_surface_outside_within_the_noise_may_be_inside(host: gk.Mesh, way: tuple[float, ...]) -> None:
    """The tip of a triangle is just outside a side of the host."""
    up, aside = np.array(way), np.roll(way, 1)
    tip = (1.0 + 0.5 * NOISE) * up + (0.125, 0.125, 0.125) * (1.0 - abs(up))
    guest = flat([tip, tip + 0.3 * up + 0.1 * aside, tip + 0.3 * up - 0.1 * aside])
    assert inside.inner(host, guest, IDENTITY[0], NOISE, 1e-3, 200, 0.0).upper >= 0.5 * NOISE
    assert inside.inner(host, guest, IDENTITY[0], 0.25 * NOISE, 1e-3, 200, 0.0).upper <= 1e-12


def test_box_near_a_surface_may_be_inside() -> None:
    """The noise applies to the centre of the box and to the surface."""
    rows, half = np.zeros((inside.ROWS + 1, inside.COLUMNS)), 0.125
    rows[0, inside.NOISE] = NOISE
    none = np.zeros((1, 3), dtype=np.int64), np.zeros((0, 4))
    host = inside.Host(inside.closed_of(DENTED), *none, inside.traversal_scratch(), rows)
    for gap, outside in ((1.5, False), (2.5, True)):
        middle = 1.0 + sqrt(3.0) * half + gap * NOISE
        box = np.array([[middle, 0.0, 0.0, half, half, half, *np.eye(3).ravel()]])
        assert (inside._of_box(moved(0.0, 0.0, 0.0), box, 0, host) == -1.0) == outside


def test_triangle_plane_near_a_box_corner_may_touch_the_box() -> None:
    boxes = np.array([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, *np.eye(3).ravel()]])
    for gap, misses in ((0.5, False), (2.0, True)):
        far = 3.0 + 12.0 * gap * NOISE
        t = ((far, 0.0, 0.0), (0.0, far, 0.0), (0.0, 0.0, far))
        assert inside._misses_box(t, (1.0, 1.0, 1.0), boxes, 0, NOISE) == misses


def test_points_within_the_tolerance_of_a_box_are_in_it() -> None:
    boxes = np.array([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, *np.eye(3).ravel()]])
    for k in range(3):
        for height in (1.5, -1.5):
            p = [0.0, 0.0, 0.0]
            p[k] = height
            assert inside.in_box(tuple(p), boxes, 0.625)
            assert not inside.in_box(tuple(p), boxes, 0.375)


def test_depth_by_points_is_reduced_by_the_noise() -> None:
    """B is 0.75 deep in A, which limits the sum of the radii of two balls about a point, one inside each mesh."""
    a, b = (parts_of(mesh) for mesh in (SOLID, gk.Mesh(0.25 * CUBE, SIDES + TOP)))
    surfaces = points.surface_of(a), points.surface_of(b)
    ways = np.empty((points.FOUND_ROWS, points.COLUMNS))
    room = points.point_scratch(64)
    m = moved(0.5, 0.0, 0.0)
    count = points.look_at_points(m, NOISE, 64, *surfaces, room, ways)
    assert count > 0
    assert 0.5 < ways[0, 0] <= 0.75 - NOISE
    ways[0, 0] = 0.745
    points.look_closer(m, NOISE, 64.0, inf, *surfaces, room, ways, count)
    assert ways[0, 0] == 0.745  # a better bound from before is kept
    ways[0, 0] = 0.0
    points.grow_balls(m, NOISE, *surfaces, room, ways, count)
    assert 0.0 < ways[0, 0] <= 0.75 - NOISE


def test_noisy_distance_does_not_prove_that_a_point_is_inside() -> None:
    """The balls about an outside and an inside point touch, and the distance of the points is rounded down."""
    skin, work = inside.closed_of(DENTED), points.point_scratch(0)
    p, distance = (1.5, 0.25, 0.125), 1.0 - NOISE
    assert points._ball_in(p, skin, NOISE, distance, 0.5, work)[0] == -0.5
    rows = np.zeros((inside.ROWS + 1, inside.COLUMNS))
    rows[0, inside.NOISE] = NOISE
    host = inside.Host(skin, np.zeros((1, 3), dtype=np.int64), np.zeros((0, 4)), work.traversal, rows)
    assert inside._depth_at(p, host, distance, 0.5)[0] == -0.5


# rays ---------------------------------------------------------------------------------------------------------------


def test_ray_within_the_noise_of_a_box_may_hit_it() -> None:
    tree, entries = wide_tree_of(SOLID), np.empty(LANES, dtype=np.float32)
    for way in ((1.0, 0.0, 0.0), (sqrt(0.5), sqrt(0.5), 0.0)):
        for far in (3.0, 1e9):  # the noise of a ray grows with the coordinates of its origin
            noise = mesh_rays.ray_on((-far * way[0], -far * way[1], 1.0), way, tree).noise
            for beyond, hit in ((0.5 * noise, True), (1e-5 + 16.0 * noise, False)):
                for height in (1.0 + beyond, -1.0 - beyond):
                    ray = mesh_rays.ray_on((-far * way[0], -far * way[1], height), way, tree)
                    bits = boxes_on_ray(tree.boxes, 0, ray.slabs, 3e38, entries) if ray.begin >= 0.0 else 0
                    assert (bits != 0) == hit


def test_ray_nearly_parallel_to_a_side_may_hit_the_box() -> None:
    tree, entries = wide_tree_of(SOLID), np.empty(LANES, dtype=np.float32)
    slope, far = -(2.0**-41), 2.0**12
    start = (-far, 0.0, 1.0 - 0.5 * slope * far)
    assert start[2] + slope * far < 1.0
    ray = mesh_rays.ray_on(start, (1.0, 0.0, slope), tree)
    assert boxes_on_ray(tree.boxes, 0, ray.slabs, 3e38, entries) != 0


# translations past triangles and boxes --------------------------------------------------------------------------------

UP = (0.0, 0.0, 1.0)


def lifted(t: Array, height: float) -> triangles.Triangle:
    a, b, c = (tuple((corner + (0.0, 0.0, height)).tolist()) for corner in t)
    return a, b, c


FACE = np.array([(-1.0, -1.0, 0.0), (3.0, -1.0, 0.0), (-1.0, 3.0, 0.0)])
TIP = np.array([(0.0, 0.0, 0.0), (0.25, 0.0, 1.0), (0.0, 0.25, 1.0)])
#: the height is 0 at (0, 0), and -2 at the lowest corner
SLOPE = np.array([(-1.0, -1.0, -2.0), (2.0, -1.0, 1.0), (-1.0, 2.0, 1.0)])


def way_up(noise: float) -> partings.Sweep:
    none = tree_of(SOLID).arrays
    return partings.Sweep(none, none, moved(0.0, 0.0, 0.0), UP, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), noise)


@pytest.mark.parametrize("face", [FACE, SLOPE])
def test_triangle_blocks_until_past_another_by_the_noise(face: Array) -> None:
    """B starts below the face of A, and moves up until its tip is above the face."""
    wall = np.zeros(3)
    lean = 1.0 if face is FACE else sqrt(1.0 / 3.0)
    s, t = lifted(face, 0.0), lifted(TIP, -2.0)
    for time in (2.0, 2.0 + 0.5 * NOISE):
        past, low = partings.pass_triangle(way_up(NOISE), s, t, time, wall)
        assert past >= 2.0 + NOISE + 2.0 * NOISE / lean
        assert low == partings.NEVER
    assert partings.pass_triangle(way_up(NOISE), s, t, 2.0 + 2.0 * NOISE, wall)[0] == 2.0 + 2.0 * NOISE


@pytest.mark.parametrize("face", [FACE, SLOPE])
def test_triangle_within_the_noise_of_another_may_block(face: Array) -> None:
    """B comes from below with its uppermost corner first."""
    wall, s = np.zeros(3), lifted(face, 0.0)
    t = lifted(TIP * (1.0, 1.0, -1.0), -2.0)  # mirrored, so that the corner at (0, 0) is the uppermost
    low = partings.pass_triangle(way_up(NOISE), s, t, 0.0, wall)[1]
    assert low <= 2.0 - NOISE
    begins = partings.pass_triangle(way_up(NOISE), s, t, 2.0 - 0.5 * NOISE, wall)
    assert begins[0] > 2.0 + NOISE


def test_boxes_within_the_noise_may_collide() -> None:
    tree = tree_of(SOLID).arrays
    for noise in (0.0, NOISE):
        way = partings.Sweep(
            tree, tree, moved(-5.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), noise
        )
        low, high = partings._box_span(way, 0, 0)
        assert low == pytest.approx(3.0 - noise, abs=1e-12)
        assert high == pytest.approx(7.0 + noise, abs=1e-12)


# translations by faces ------------------------------------------------------------------------------------------------


def test_triangle_within_the_error_of_a_column_is_behind_its_face() -> None:
    room = np.zeros((2, pushes.CORNERS, 3))
    face = ((0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (0.0, 4.0, 0.0))
    for gap, behind in ((0.5 * NOISE, True), (2.0 * NOISE, False)):
        triangle = ((1.0, -gap, -0.5), (2.0, -gap, -0.5), (1.5, -gap - 1.0, -0.5))
        deep, _ = pushes.depth_behind(face, triangle, UP, NOISE, room)
        assert deep == (0.5 if behind else inf)


def test_depth_behind_a_face_counts_to_the_error_past_its_column() -> None:
    room = np.zeros((2, pushes.CORNERS, 3))
    face = ((0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (0.0, 4.0, 0.0))
    triangle = ((1.0, 1.0, -1.0), (2.0, 1.0, -1.0), (1.5, -1.0, -3.0))
    deep, _ = pushes.depth_behind(face, triangle, UP, NOISE, room)
    assert deep == pytest.approx(2.0 + NOISE, abs=1e-12)


def pair_contacts(out: Array, outward: Array) -> pushes.PairContacts:
    """Return contacts of the first triangles of two meshes, of which only A is closed."""
    count = len(out)
    return pushes.PairContacts(
        np.zeros((count, 2), dtype=np.int64), out, np.zeros((0, 3)), outward, np.zeros((1, 3)), bool(outward.any()),
        False, False, np.zeros((0, 4)), np.zeros((2, pushes.CORNERS, 3)), np.zeros((count, pushes.NOTED)),
        np.zeros(count, dtype=np.int64),
    )  # fmt: skip


def test_pair_deeper_than_the_body_within_the_error_is_chosen() -> None:
    x, w = pair_at(SOLID, SOLID, (1.5, 0.25, 0.125), NOISE), tree_collision.tree_scratch()
    for more, chosen in ((2.0, 2), (6.0, 1)):
        out = np.zeros((2, FLOATS))
        out[:, 0] = -0.5, -0.5 - more * NOISE
        assert pushes.push_out(x, True, pair_contacts(out, np.zeros((1, 3))), 0, 2, 0.5, ORIGIN, w) == chosen


def test_face_pushes_a_triangle_within_the_error_of_it() -> None:
    face = flat([(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (0.0, 4.0, 0.0)])
    for gap, behind in ((2.0, 0.5), (6.0, inf)):
        triangle = flat([(1.0, -gap * NOISE, -0.5), (2.0, -gap * NOISE, -0.5), (1.5, -gap * NOISE - 1.0, -0.5)])
        f = pair_contacts(np.zeros((1, FLOATS)), np.array([UP]))
        x = pair_at(face, triangle, (0.0, 0.0, 0.0), NOISE)
        pushes._note_pushes(x, True, f, 0, 1, ORIGIN, tree_collision.tree_scratch())
        assert f.noted[0, pushes.BEST] == behind


# distances ------------------------------------------------------------------------------------------------------------


CLOUD = gk.PointCloud(CUBE, 0.0)


@pytest.mark.parametrize("body", [SOLID, CLOUD])
def test_distance_near_the_margin_is_in_doubt(body: Any) -> None:
    close = 2.0**-6
    x, w = pair_at(body, body, (3.0, 0.0, 0.0), close * ROUNDING / tree_collision.CLOSE), tree_collision.tree_scratch()
    for margin, verdicts in (
        (1.0 - 2.0 * close, [tree_collision.APART]),
        (1.0 - 0.5 * close, [tree_collision.DOUBT]),
        (1.0 + 0.5 * close, [tree_collision.DOUBT]),
        (1.0 + 2.0 * close, [tree_collision.MEET]),
    ):
        w.last[0] = -1
        assert tree_collision.surfaces_meet(x, margin, w) in verdicts


@pytest.mark.parametrize("body", [SOLID, CLOUD])
def test_surfaces_within_the_error_are_not_proven_separated(body: Any) -> None:
    w = tree_collision.tree_scratch()
    for gap, verdict in ((0.5, tree_collision.MEET), (2.0, tree_collision.APART)):
        w.last[0] = -1
        assert (
            tree_collision.surfaces_meet(pair_at(body, body, (2.0 + gap * NOISE, 0.0, 0.0), NOISE), 0.0, w) == verdict
        )


def test_box_is_beyond_a_shape_only_past_the_error() -> None:
    """The plane x = 1 touches the box and the plane x = 2 touches the shape, so the axis itself is exact."""
    x, w = pair_at(SOLID, gk.ConvexHull(CUBE), (3.0, 0.0, 0.0), NOISE), tree_collision.tree_scratch()
    assert tree_collision.start_axes(x, w) == 0
    for gap, beyond in ((0.5, False), (2.0, True)):
        assert tree_collision.is_beyond(x, 0, 1.0 - gap * NOISE, w) == beyond


def test_plane_bound_of_an_excluded_triangle_allows_for_the_error() -> None:
    """The plane x = 1 touches the triangle. The hull begins at x = 2, or nearer by the error."""
    x, w = pair_at(SOLID, gk.ConvexHull(CUBE), (3.0, 0.0, 0.0), NOISE), tree_collision.tree_scratch()
    corners = parts_of(SOLID).given.places.reshape(-1, 3, 3)
    p = int(np.flatnonzero((corners[:, :, 0] == 1.0).all(axis=1))[0])
    best = tree_distance.NearestParts(0.5, inf, p, 0, False, False, (1.0, 0.0, 0.0), 2.0)
    assert tree_distance._solve_pair(x, p, 0, -inf, inf, best, w).lowest == 1.0 - NOISE


@pytest.mark.parametrize("body", [SOLID, CLOUD, gk.PointCloud(CUBE * 0.75, 0.25)])
def test_distance_bounds_of_bodies_allow_for_the_error(body: Any) -> None:
    x, w = pair_at(body, body, (3.0, 0.0, 0.0), NOISE), tree_collision.tree_scratch()
    out, flags = np.zeros((1, FLOATS)), np.zeros((1, INTS), dtype=np.int64)
    result = tree_distance.nearest(x, inf, 0.0, 1.0, -1, w)
    tree_distance.report_gap(x, result, inf, inf, w, out, flags, 0)
    assert 0.5 < out[0, 1] <= 1.0 - NOISE
    assert 1.0 + NOISE <= out[0, 2] < 1.5


def test_distance_possibly_within_the_limit_is_reported() -> None:
    x, w = pair_at(CLOUD, CLOUD, (3.0, 0.0, 0.0), NOISE), tree_collision.tree_scratch()
    out, flags = np.zeros((1, FLOATS)), np.zeros((1, INTS), dtype=np.int64)
    result = tree_distance.nearest(x, inf, 0.0, 1.0, -1, w)
    for gap, beyond in ((0.5, False), (2.0, True)):
        tree_distance.report_gap(x, result, 1.0 - gap * NOISE, 0.875, w, out, flags, 0)
        assert (flags[0, 0] == BEYOND) == beyond


def test_tight_interval_allows_for_part_width_and_error() -> None:
    x, w = pair_at(CLOUD, CLOUD, (3.0, 0.0, 0.0), 2.0**-20), tree_collision.tree_scratch()
    out, flags = np.zeros((1, FLOATS)), np.zeros((1, INTS), dtype=np.int64)
    result, parts = tree_distance.nearest(x, inf, 0.0, 1.0, -1, w), tree_distance.TIGHT_POLYTOPE / ROUNDING
    for more, tight in ((1.0, True), (3.0, False)):
        tree_distance.report_gap(
            x, result._replace(upper=result.lowest + (parts + more) * x.error), inf, inf, w, out, flags, 0
        )
        assert bool(flags[0, 2]) == tight


def test_plane_bounds_along_the_normal_allow_for_the_error() -> None:
    x, w = pair_at(CLOUD, gk.Sphere(0.5), (3.0, 0.0, 0.0), NOISE), tree_collision.tree_scratch()
    way, nearest = (1.0, 0.0, 0.0), inf
    for part in range(len(CUBE)):
        c = tree_collision.parts_at(x, part, 0, w)._replace(error=NOISE)
        nearest = min(nearest, tree_distance.bound_along(c, way))
        assert 2.25 < tree_distance._begins(x, c, way) <= 2.5 - NOISE
    assert 1.25 < nearest <= 1.5 - NOISE


def test_ball_depth_bounds_allow_for_the_error() -> None:
    """The depth is 1: the radius plus a distance of 0.75 inside, or the radius minus a distance of 0.5 outside."""
    noise = NOISE / 8.0
    for radius, z in ((0.25, 0.25), (1.5, 1.5)):
        x, w = pair_at(SOLID, gk.Sphere(radius), (0.0, 0.0, z), noise), tree_collision.tree_scratch()
        result = touching_bodies.ball_in(x, complete(parts_of(SOLID)).skin, w)
        assert 0.9 < result.least <= 1.0 - noise
        assert 1.0 + noise <= result.most < 1.1
        assert result.known == 1.0


def test_triangle_and_ball_bounds_allow_for_the_error() -> None:
    """The triangle is in the plane x = 0, and the ball begins at x = 2.5."""
    face = flat([(0.0, -1.0, -1.0), (0.0, 1.0, -1.0), (0.0, 0.0, 1.0)])
    x, w = pair_at(face, gk.Sphere(0.5), (3.0, 0.0, 0.0), NOISE), tree_collision.tree_scratch()
    r = tree_distance.round_in(x, w)
    nothing = tree_distance.NearestParts(inf, inf, -1, -1, False, False, (0.0, 0.0, 0.0), -inf)
    result = tree_distance._solve_round(x, 0, 0, inf, nothing, r, w)
    assert 2.25 < result.begins <= 2.5 - NOISE
    again = tree_distance._solve_round(x, 0, 0, inf, result._replace(upper=1.0, lowest=inf), r, w)
    assert 2.25 < again.lowest <= 2.5 - NOISE


def test_reach_of_intersecting_faces_is_reduced_by_the_error() -> None:
    pair = MeshPair.of(SOLID, SOLID, relative(IDENTITY[0], row(1.5, 0.25, 0.125)))
    exact = pair.through()
    assert exact > 0.0
    pair.error = 0.25 * exact
    assert pair.through() <= 0.75 * exact + 1e-12


def test_parts_within_the_error_collide() -> None:
    pair = pair_of(CLOUD, CLOUD, relative(IDENTITY[0], row(3.0, 0.0, 0.0)))
    pair.error = NOISE
    some = np.array([[p, q] for p in range(8) for q in range(8)])
    assert not pair.hits(some, 1.0 - 2.0 * NOISE).any()
    assert pair.hits(some, 1.0 - 0.5 * NOISE).sum() == 4


@pytest.mark.parametrize("plane", [gk.Plane((0.0, 0.0, 1.0)), gk.Halfspace((0.0, 0.0, 1.0))])
@pytest.mark.parametrize("height", [2.0, 1.0 + 0.5 * NOISE])
def test_body_within_the_error_of_a_plane_collides(plane: Any, height: float, monkeypatch: pytest.MonkeyPatch) -> None:
    standing_in = planes.standing_in
    monkeypatch.setattr(planes, "standing_in", lambda *a, **k: standing_in(*a, **k)._replace(error=NOISE))
    for body in (SOLID, CLOUD):
        for margin in (height - 1.0 - 0.5 * NOISE, height - 1.0 - 2.0 * NOISE):
            assert gk.collide(plane, body, None, at(0.0, 0.0, height), margin=margin) == (margin > height - 1.0 - NOISE)


def test_height_field_boxes_contain_their_triangles_exactly() -> None:
    field = gk.HeightField(np.zeros((24, 24)), (0.1, 0.3), origin=(0.7, -1.1))
    parts = parts_of(field)
    for low, high in parts.boxes(np.arange(parts.count)).reshape(-1, 2, 3).tolist():
        for k, step in enumerate((0.1, 0.3)):
            start = float(field.origin[k])
            first, last = (round((x - start) / step) for x in (low[k], high[k]))
            assert last == first + 1
            assert Fraction(low[k]) <= Fraction(start) + first * Fraction(step)
            assert Fraction(high[k]) >= Fraction(start) + last * Fraction(step)


# depths ---------------------------------------------------------------------------------------------------------------


def enclosed(a: Any, b: Any, move: tuple[float, float, float]) -> Array:
    """Return the final state of the depth search for bodies that a translation of 4 along x separates."""
    x, r, (of_a, of_b) = pair_at(a, b, move, NOISE), depth.search_scratch(), (parts_of(a), parts_of(b))
    surfaces, normals = map(points.surface_of, (of_a, of_b)), map(points.outward_normals, (of_a, of_b))
    sides = partings.Sides(isinstance(a, gk.Mesh), *surfaces, *normals, r.part_pairs, tree_collision.tree_scratch(), r)
    state = np.zeros(depth.STATE)
    state[depth.MOST], state[depth.NORMAL] = 4.0, 1.0
    depth.enclose_depth(x, x, sides, sides, depth.Search(state, x, facets.solid_in(depth._NO_SOLIDS, 0)))
    return state


@pytest.mark.parametrize("body", [SOLID, gk.PointCloud([(0.0, 0.0, 0.0)], 1.0)])
def test_depth_bounds_of_bodies_allow_for_the_error(body: Any) -> None:
    state = enclosed(body, body, (1.5, 0.0, 0.0))
    assert 0.0 < state[depth.LEAST] <= 0.5 - NOISE
    assert 0.5 + NOISE <= state[depth.MOST] < 1.0


def test_depth_bound_of_the_deepest_pair_allows_for_the_error() -> None:
    """The deepest ball is the middle one of three in a row, so the translation of its pair is not free."""
    row_of_balls = gk.PointCloud([(0.0, 0.0, -1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)], 1.0)
    state = enclosed(row_of_balls, gk.PointCloud([(0.0, 0.0, 0.0)], 1.0), (0.0, 0.0, 0.25))
    assert 0.0 < state[depth.LEAST] <= 1.75 - NOISE


def test_search_ends_if_bounds_are_as_close_as_the_error() -> None:
    state = np.zeros(depth.STATE)
    for more, ends in ((15.0, True), (17.0, False)):
        state[depth.LEAST], state[depth.MOST] = 1.0, 1.0 + more * NOISE
        assert depth._within(0.0, NOISE, state) == ends


def test_translation_past_the_hulls_allows_for_the_error() -> None:
    w, hull = tree_collision.tree_scratch(), gk.ConvexHull(CUBE)
    x = pair_at(SOLID, SOLID, (1.5, 0.0, 0.0), NOISE)
    outer = pushes.Outer(*pair_at(hull, hull, (1.5, 0.0, 0.0), NOISE)[:2], True, False, inf)
    for near in (inf, 0.0):
        assert 0.5 + 4.0 * NOISE <= pushes._past_hulls(x, outer, (1.0, 0.0, 0.0), near, w) < 0.5 + 5.0 * NOISE
        assert pushes._past_hulls(x._replace(error=0.0), outer, (1.0, 0.0, 0.0), near, w) > 0.5


# motions --------------------------------------------------------------------------------------------------------------


def course(body: Any, error: float, speed: float = -2.0) -> impact.Course:
    """Return the course of a body at the origin and a copy that moves from (3, 0, 0) along the x axis."""
    moves = np.zeros((2, MOTION))
    moves[:, :9] = np.eye(3).ravel()
    moves[1, CENTER], moves[1, WAY] = 3.0, speed
    tree = parts_of(body).given
    boxes = impact.BoxScratch(impact._BOX, np.zeros((2, impact._BOX_FLOATS)), np.zeros(PART_WORK))
    return impact.Course(tree, tree, moves, 0.0, error, 4.0 * error, 100, 1000, boxes, tree_collision.tree_scratch())


def test_boxes_are_free_until_within_the_error() -> None:
    c = course(SOLID, NOISE)
    free, _ = impact._boxes_free(c, impact._passing(c, 0.0, 1.0), 0, 0)
    assert free <= 0.5 - 2.0 * NOISE
    assert impact._boxes_free(c, impact._passing(c, 0.4999, 1.0), 0, 0)[0] == 0.4999
    c = course(gk.Mesh(2.0**-10 * CUBE, SIDES + TOP), NOISE, -4.0)
    free, _ = impact._boxes_free(c, impact._passing(c, 0.0, 1.0), 0, 0)
    assert 0.5 < free <= 0.75 - 2.0**-11 - NOISE


def test_reach_of_a_moving_box_contains_its_corners() -> None:
    rng = np.random.default_rng(6)
    c, floats, place = course(SOLID, NOISE), np.zeros(impact._BOX_FLOATS), np.zeros(WIDTH)
    for _ in range(40):
        tree = c.a._replace(boxes=np.concatenate([np.zeros(3), rng.uniform(size=3), np.eye(3).ravel()])[None])
        impact._box_of(c, tree, 0, floats, place)
        assert Fraction(floats[layout.RHO]) ** 2 >= sum(Fraction(x) ** 2 for x in tree.boxes[0, 3:6].tolist())
