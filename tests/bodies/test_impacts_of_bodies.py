"""`time_of_impact` and `shapecast` of bodies, compared with each pair of parts, with samples and with plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names
from numpy.typing import NDArray
from strategies import sampled

import gjk3d as gk
import gjk3d.bodies.impact as impact_of_bodies
from gjk3d.errors import ShapeError, UnsupportedPair
from tests.bodies import every_kind
from tests.bodies.every_kind import CUBE, KINDS, Known
from tests.bodies.random_shapes import anywhere, at

Array = NDArray[np.float64]
BALL, BOX = Known(gk.Sphere(0.4), [np.zeros((1, 3))], 0.4), Known(gk.Box((1, 0.5, 0.8)), [CUBE * (1, 0.5, 0.8)])
OBJECTS = {"ball": BALL, "box": BOX, **{name: make() for name, make in KINDS.items()}}
PAIRS = [
    (a, b) for a in OBJECTS for b in OBJECTS if (a, b) != ("ground", "ground") and not {a, b} <= {"ball", "box"}
]  # fmt: skip


def shapes_of(known: Known) -> list[Any]:
    hulls = [gk.ConvexHull(points) for points in known.parts]
    return [hull.inflated(known.radius) for hull in hulls] if known.radius > 0.0 else hulls


def first_of_parts(a: Known, b: Known, motion_a: Any, motion_b: Any, clearance: float = 0.0) -> tuple[float, float]:
    """Return the bracket of the first contact of any two parts, each queried as a convex shape."""
    low, high = 1.0, np.inf
    for s in shapes_of(a):
        for t in shapes_of(b):
            impact = gk.time_of_impact(s, t, motion_a, motion_b, clearance=clearance)
            low = min(low, impact.free_until)
            high = min(high, float(impact.time[1]))
    return low, high


def random_motion(rng: np.random.Generator, turning: bool, ground: bool) -> gk.Motion:
    """Return a motion from about 3 away past the origin; it starts above the ground if there is one."""
    start = anywhere(rng, 0.3)
    away = rng.normal(size=3)
    away *= 3.0 / np.linalg.norm(away)
    away[2] = abs(away[2]) if ground else away[2]
    start[:3, 3] += away
    turn = rng.normal(size=3) * 1.5 if turning else np.zeros(3)
    return gk.Motion(start, -1.6 * away + 0.3 * rng.normal(size=3), turn, center=start[:3, 3] + 0.2)


@pytest.mark.parametrize("turning", [False, True])
@pytest.mark.parametrize(("one", "other"), sampled(PAIRS, 3))
def test_impact_is_the_first_of_all_parts(one: str, other: str, turning: bool) -> None:
    a, b = OBJECTS[one], OBJECTS[other]
    rng = np.random.default_rng(len(one) + 10 * len(other) + turning)
    statuses = []
    for k in range(2):
        moves_b = k % 2 == 0 if one != "ground" else True
        motion = random_motion(rng, turning, "ground" in (one, other))
        still = np.eye(4) if "ground" in (one, other) else anywhere(rng, 0.2)
        if other == "ground":
            moves_b = False
        ways = (still, motion) if moves_b else (motion, still)
        impact = gk.time_of_impact(a.body, b.body, *ways)
        back = gk.time_of_impact(b.body, a.body, *ways[::-1])
        assert (impact.status, impact.free_until) == (back.status, back.free_until)
        assert (impact.time == back.time).all()
        low, high = first_of_parts(a, b, *ways)
        assert impact.free_until <= high + 1e-12
        assert low <= impact.time[1] + 1e-12
        statuses.append(impact.status)
        if impact.status == gk.ImpactStatus.FREE:
            assert low == 1.0
            continue
        if impact.status == gk.ImpactStatus.OVERLAPPING:
            assert low == 0.0
            continue
        assert impact.status == gk.ImpactStatus.HIT
        assert impact.free_until == pytest.approx(low, abs=1e-9)
        assert impact.time[1] - impact.time[0] <= 1e-7
        assert abs(impact.closest.lower) <= 1e-8
        check_by_samples(a, b, ways, impact)
    assert len(statuses) == 2


def check_by_samples(a: Known, b: Known, ways: Any, impact: Any) -> None:
    """Check that the bodies do not collide before the impact and do at the end of the bracket, to rounding."""
    poses = [way.at(t) if isinstance(way, gk.Motion) else way for way in ways for t in (float(impact.time[1]),)]
    assert gk.collide(a.body, b.body, *poses, margin=1e-9)
    for t in np.linspace(0.0, impact.free_until, 9)[:-1]:
        poses = [way.at(float(t)) if isinstance(way, gk.Motion) else way for way in ways]
        assert not gk.collide(a.body, b.body, *poses)


# --- reference implementation in plain numpy: triangles that only translate ------------------------------------------


def dot(u: Array, v: Array) -> Array:
    return np.einsum("...i,...i->...", u, v)


def first_corner_hit(corners: Array, way: Array, triangles: Array) -> float:
    """Return when the first of moving corners, (n, 3), hits one of the triangles, (m, 3, 3)."""
    o, u, v = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    n = np.cross(u, v)
    with np.errstate(all="ignore"):
        t = dot(n, o - corners[:, None]) / (n @ way)
        p = corners[:, None] + t[..., None] * way - o
        x, y = dot(np.cross(p, v), n) / dot(n, n), dot(np.cross(u, p), n) / dot(n, n)
        hits = (t >= 0.0) & (x >= 0.0) & (y >= 0.0) & (x + y <= 1.0)
    return float(np.where(hits, t, np.inf).min())


def first_edge_hit(p: Array, q: Array, way: Array) -> float:
    """Return when the first of moving edges, (n, 2, 3), hits one of the other edges."""
    u, v = (p[:, 1] - p[:, 0])[:, None], (q[:, 1] - q[:, 0])[None]
    n = np.cross(u, v)
    offset = q[None, :, 0] - p[:, None, 0]
    with np.errstate(all="ignore"):
        t = dot(n, offset) / (n @ way)
        # p0 + t way + x u = q0 + y v
        gap = offset - t[..., None] * way
        x, y = dot(np.cross(gap, v), n) / dot(n, n), dot(np.cross(gap, u), n) / dot(n, n)
        hits = (t >= 0.0) & (x >= 0.0) & (x <= 1.0) & (y >= 0.0) & (y <= 1.0)
    return float(np.where(hits, t, np.inf).min())


def edges_of(triangles: Array) -> Array:
    return np.concatenate([triangles[:, [i, j]] for i, j in ((0, 1), (1, 2), (2, 0))])


def first_touch(moving: Array, standing: Array, way: Array) -> float:
    """Return when translating triangles first touch the standing ones, (n, 3, 3) each."""
    return min(
        first_corner_hit(moving.reshape(-1, 3), way, standing), first_corner_hit(standing.reshape(-1, 3), -way, moving),
        first_edge_hit(edges_of(moving), edges_of(standing), way),
    )  # fmt: skip


def triangles_at(known: Known, pose: Array) -> Array:
    corners = known.body.vertices[known.body.faces]
    placed: Array = corners @ pose[:3, :3].T + pose[:3, 3]
    return placed


@given(
    seed=st.integers(0, 2**32 - 1), kinds=st.tuples(*[st.sampled_from(["mesh", "solid"])] * 2),
    scale=st.sampled_from([1.0, 1e-9, 1e9, 1e-40]), far=st.sampled_from([0.0, 0.0, 1e4]),
)  # fmt: skip
def test_translating_triangles_match_plain_numpy(seed: int, kinds: tuple[str, str], scale: float, far: float) -> None:
    rng = np.random.default_rng(seed)
    a, b = (every_kind.closed(scale) if kind == "solid" else every_kind.mesh(seed, scale) for kind in kinds)
    pose_a, pose_b = anywhere(rng, 0.5), anywhere(rng, 0.5)
    away = rng.normal(size=3)
    pose_a[:3, 3] += 4.0 * away / np.linalg.norm(away) + far
    pose_b[:3, 3] += far
    pose_a[:3, 3] *= scale
    pose_b[:3, 3] *= scale
    way = scale * (-6.0 * away / np.linalg.norm(away) + 0.5 * rng.normal(size=3))
    wanted = first_touch(triangles_at(a, pose_a) / scale, triangles_at(b, pose_b) / scale, way / scale)
    impact = gk.shapecast(a.body, b.body, way, pose_a, pose_b)
    assert not gk.collide(a.body, b.body, pose_a, pose_b) or impact.free_until == 0.0
    if impact.free_until == 0.0:
        return
    slack = 1e-9 * (1.0 + far)
    if impact.status == gk.ImpactStatus.FREE:
        assert wanted > 1.0 - slack
    else:
        assert impact.status == gk.ImpactStatus.HIT
        assert impact.time[0] - slack <= wanted <= impact.time[1] + slack


@given(
    seed=st.integers(0, 2**32 - 1), names=st.tuples(*[st.sampled_from(["solid", "compound", "voxels"])] * 2),
    turns=st.sampled_from([0.0, 0.5, 6.0, 25.0]), far=st.sampled_from([0.0, 30.0]),
    clearance=st.sampled_from([0.0, 0.1]),
)  # fmt: skip
def test_impact_of_two_moving_and_turning_bodies(
    seed: int, names: tuple[str, str], turns: float, far: float, clearance: float
) -> None:
    rng = np.random.default_rng(seed)
    a, b = (OBJECTS[name] for name in names)
    motions = []
    for side in (-1.0, 1.0):
        start = anywhere(rng, 1.0)
        start[0, 3] += side * 4.0
        turn = rng.normal(size=3) * turns / 3.0
        center = start[:3, 3] + far * rng.normal(size=3) * (turns < 1.0)
        motions.append(gk.Motion(start, (-6.0 * side * rng.random(), *rng.normal(size=2)), turn, center=center))
    impact = gk.time_of_impact(a.body, b.body, *motions, clearance=clearance)
    low, high = first_of_parts(a, b, *motions, clearance=clearance)
    assert impact.free_until <= high + 1e-12
    assert low <= impact.time[1] + 1e-12
    assert impact.status != gk.ImpactStatus.UNRESOLVED
    for t in np.linspace(0.0, impact.free_until, 12)[:-1]:
        poses = [motion.at(float(t)) for motion in motions]
        assert gk.distance(a.body, b.body, *poses).upper > clearance


# --- special cases ---------------------------------------------------------------------------------------------------


def test_shape_inside_a_closed_mesh_overlaps_from_the_start() -> None:
    room = every_kind.closed(10.0, -2.0).body
    marble = gk.Sphere(0.5)
    inside = gk.time_of_impact(room, marble, None, gk.Motion(at(3, 3, 3), (40, 0, 0)))
    assert inside.status == gk.ImpactStatus.OVERLAPPING
    assert inside.time.tolist() == [0.0, 0.0]
    shell = gk.Mesh(room.vertices, room.faces, solid=False)
    wall = gk.time_of_impact(shell, marble, None, gk.Motion(at(3, 3, 3), (40, 0, 0)))
    assert wall.status == gk.ImpactStatus.HIT
    assert wall.time == pytest.approx((18.0 - 3.0 - 0.5) / 40.0)
    assert wall.normal.tolist() == pytest.approx([-1.0, 0.0, 0.0])


def test_fast_bullet_hits_a_thin_wall() -> None:
    wall = gk.Mesh([(0, -1, -1), (0, 1, -1), (0, 1, 1), (0, -1, 1)], [(0, 1, 2), (0, 2, 3)])
    for bullet in (gk.Sphere(1e-3), gk.Point(), every_kind.cloud(0, 1e-3).body, every_kind.closed(1e-3).body):
        hit = gk.shapecast(bullet, wall, (1e6, 10, 0), at(-5e5, 0, 0))
        assert hit.status == gk.ImpactStatus.FREE  # it passes 5 above the middle, beyond the wall's edge
        hit = gk.shapecast(bullet, wall, (1e6, 1, 0), at(-5e5, 0, 0))
        assert hit.status == gk.ImpactStatus.HIT
        assert hit.time == pytest.approx(0.5, abs=1e-8)


def test_rod_through_a_ring() -> None:
    """A rod passes through the middle of a ring, and hits the ring if it is too thick."""
    t = np.linspace(0, 2 * np.pi, 33)[:-1]
    posts = [(gk.Sphere(0.2), at(np.cos(x), np.sin(x), 0)) for x in t]
    ring = gk.Compound(posts)
    for radius, free in ((0.79, True), (0.81, False)):
        rod = gk.Capsule(radius, 0.1)
        impact = gk.shapecast(rod, ring, (0, 0, 10), at(0, 0, -5))
        assert (impact.status == gk.ImpactStatus.FREE) == free
        assert gk.shapecast(rod, ring.hull(), (0, 0, 10), at(0, 0, -5)).status == gk.ImpactStatus.HIT


def test_turn_in_place_and_many_turns() -> None:
    blade = gk.Compound([(gk.Box((2, 0.1, 0.1)), at(1, 0, 0))])
    post = gk.PointCloud([(0, 1.5, 0)], 0.2)
    impact = gk.time_of_impact(blade, post, gk.Motion(None, angular=(0, 0, np.pi)))
    # the blade's side, 0.05 ahead of its middle line, is tangent to the ball
    first = (np.pi / 2 - np.arcsin((0.2 + 0.05) / 1.5)) / np.pi
    assert impact.time == pytest.approx(first, rel=1e-9)
    over = gk.PointCloud([(0, 1.5, 0.3)], 0.2)
    assert gk.time_of_impact(blade, over, gk.Motion(None, angular=(0, 0, 40.0))).status == gk.ImpactStatus.FREE


def prism_corners(sides: int, radius: float, half: float) -> Array:
    """Return the corners of a prism along z: the lower ones, then the upper ones."""
    t = 2.0 * np.pi * np.arange(sides) / sides
    flat = np.column_stack([radius * np.cos(t), radius * np.sin(t)])
    return np.concatenate([np.column_stack([flat, np.full(sides, z)]) for z in (-half, half)])


def make_bush(sides: int) -> gk.Mesh:
    """Return a prism with a hole along its axis; the walls of the hole are 1 from the axis."""
    corners = np.concatenate([prism_corners(sides, 1.0 / np.cos(np.pi / sides), 0.4), prism_corners(sides, 2.0, 0.4)])
    faces = []
    for i in range(sides):
        j = (i + 1) % sides
        (a, b), (c, d), (e, f), (g, h) = ((i + k * sides, j + k * sides) for k in range(4))
        faces += [(a, b, c), (b, d, c), (e, g, f), (f, g, h), (a, e, f), (a, f, b), (c, h, g), (c, d, h)]
    return gk.Mesh(corners, faces)


@pytest.mark.full
def test_pin_turns_freely_in_its_bush() -> None:
    """Sides that pass each other again and again are proven free for every turn."""
    bush, spin = make_bush(64), gk.Motion(None, angular=(0, 0, 60.0))
    assert bush.is_watertight
    impact = gk.time_of_impact(bush, gk.ConvexHull(prism_corners(48, 1.0 - 1e-4, 1.0)), None, spin)
    assert impact.status == gk.ImpactStatus.FREE
    # corners of a pin that is too wide start 15/16 degrees from the middles of walls
    wide = gk.time_of_impact(bush, gk.ConvexHull(prism_corners(48, 1.0 + 1e-4, 1.0)), None, spin)
    first = (np.pi / 192.0 - np.arccos(1.0 / (1.0 + 1e-4))) / 60.0
    assert wide.status == gk.ImpactStatus.HIT
    assert wide.time == pytest.approx(first, abs=1e-9)


@pytest.mark.parametrize("far", [1e6, 1e8])
def test_far_center_without_rotation_has_no_effect(far: float) -> None:
    """A translation does not depend on the center, nor on the rounding of a center that is far away."""
    for body in (BOX.body, every_kind.closed().body):
        plain = gk.Motion(at(-5, 0.2, 0.1), (10, 0, 0))
        about = gk.Motion(at(-5, 0.2, 0.1), (10, 0, 0), center=(far, -far, far / 3))
        assert (about.at([0.0, 0.3, 1.0]) == plain.at([0.0, 0.3, 1.0])).all()
        first, second = (gk.time_of_impact(body, gk.Sphere(0.4), motion) for motion in (plain, about))
        assert first.status == second.status == gk.ImpactStatus.HIT
        assert first.time.tolist() == second.time.tolist()


def test_clearance_and_planes_and_grounds() -> None:
    solid = every_kind.closed()
    impact = gk.shapecast(gk.Sphere(0.5), solid.body, (10, 0, 0), at(-5, 0.5, 0.5), clearance=0.25)
    assert impact.time == pytest.approx(0.425)
    for name in ("mesh", "solid", "compound", "voxels", "cloud"):
        known = OBJECTS[name]
        low = float((known.points[:, 2] - known.radius).min())
        floor = gk.Halfspace((0, 0, 1), 0)
        fall = gk.time_of_impact(known.body, floor, gk.Motion(at(0, 0, 5 - low), (0, 0, -20)))
        assert fall.time == pytest.approx(0.25, rel=1e-12)
        back = gk.time_of_impact(floor, known.body, None, gk.Motion(at(0, 0, 5 - low), (0, 0, -20), (0, 0, 1)))
        assert back.time == pytest.approx(0.25, rel=1e-12)
        near = gk.time_of_impact(known.body, floor, gk.Motion(at(0, 0, 5 - low), (0, 0, -20)), clearance=1.0)
        assert near.time == pytest.approx(0.2, rel=1e-12)
    ground = OBJECTS["ground"].body
    deep = gk.time_of_impact(ground, gk.Sphere(0.1), None, gk.Motion(at(0, 0, -50), (0, 0, 100)))
    assert deep.status in (gk.ImpactStatus.HIT, gk.ImpactStatus.OVERLAPPING)
    assert deep.time[1] == 0.0
    # from the side, far below the top
    side = gk.time_of_impact(ground, gk.Sphere(0.1), None, gk.Motion(at(-9, 0, -50), (20, 0, 0)))
    assert side.time == pytest.approx((9 - 1 - 0.1) / 20, rel=1e-9)


def test_stack_equals_single_impacts() -> None:
    solid, cloud = every_kind.closed().body, every_kind.cloud().body
    ways = np.array([(-6.0, 0, 0), (6.0, 0, 0), (-6, 0.5, 0.2)])
    many = gk.shapecast(cloud, solid, ways, at(5, 0.5, 0.5))
    for k, way in enumerate(ways):
        single = gk.shapecast(cloud, solid, way, at(5, 0.5, 0.5))
        assert many.status[k] == single.status
        assert many.free_until[k] == single.free_until
        assert many.time[k].tolist() == single.time.tolist()
    assert many.status.tolist() == [1, 0, 1]
    assert many[0].closest.distance == pytest.approx(0.0, abs=1e-8)
    assert many.shape_a is cloud


def test_touching_at_the_start_and_at_the_end() -> None:
    solid = every_kind.closed().body
    cube = gk.Box((1, 1, 1))
    leaves = gk.time_of_impact(solid, cube, None, gk.Motion(at(2.5, 0.5, 0.5), (1, 0, 0)))
    assert (leaves.status, leaves.time.tolist()) == (gk.ImpactStatus.HIT, [0.0, 0.0])
    arrives = gk.time_of_impact(solid, cube, None, gk.Motion(at(3.5, 0.5, 0.5), (-1, 0, 0)))
    assert arrives.status == gk.ImpactStatus.HIT
    assert arrives.time == pytest.approx(1.0, abs=1e-12)
    stops = gk.time_of_impact(solid, cube, None, gk.Motion(at(3.5, 0.5, 0.5), (-1 + 1e-9, 0, 0)))
    assert stops.status == gk.ImpactStatus.FREE
    assert gk.time_of_impact(solid, cube, None, at(3.5, 0.5, 0.5)).status == gk.ImpactStatus.FREE


def ring() -> gk.Mesh:
    """Return a closed torus of 256 triangles around z."""
    u, v = (2.0 * np.pi * np.arange(n) / n for n in (16, 8))
    away, up = 0.45 + 0.1 * np.cos(v), 0.1 * np.sin(v)
    corners = [(r * np.cos(s), r * np.sin(s), z) for s in u for r, z in zip(away, up, strict=True)]
    faces = []
    for i in range(16):
        for j in range(8):
            a, b, c, d = (x % 16 * 8 + y % 8 for x, y in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
            faces += [(a, b, c), (a, c, d)]
    return gk.Mesh(corners, faces)


@pytest.mark.parametrize("turns", [0.3, 1.0, 10.0, 100.0])
def test_linked_rings_turn_freely_unless_they_tilt(turns: float) -> None:
    torus = ring()
    across = np.array([[1, 0, 0, 0.45], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])
    for axis, center in (((0, 1, 0), across[:3, 3]), ((0, 0, 1), (0, 0, 0))):
        way = gk.Motion(across, angular=2.0 * np.pi * turns * np.array(axis), center=center)
        assert gk.time_of_impact(torus, torus, None, way).status == gk.ImpactStatus.FREE
    tilting = gk.Motion(across, angular=(0.0, 0.0, 2.0 * np.pi * turns), center=across[:3, 3])
    hit = gk.time_of_impact(torus, torus, None, tilting)
    assert hit.status == gk.ImpactStatus.HIT
    assert hit.time[1] - hit.time[0] <= 1e-7
    assert gk.collide(torus, torus, None, tilting.at(float(hit.time[1])), margin=1e-9)
    for t in np.linspace(0.0, hit.free_until, 17)[:-1]:
        assert not gk.collide(torus, torus, None, tilting.at(float(t)))


def drawer(count: int) -> gk.Mesh:
    """Return an open sheet of count by count cells with grooves along x, from -5 to 5."""
    x, y = np.meshgrid(*[np.linspace(-5.0, 5.0, count + 1)] * 2, indexing="ij")
    corners = np.column_stack([x.ravel(), y.ravel(), 0.5 * np.sin(0.075 * count * y.ravel())])
    k = np.arange(count * (count + 1)).reshape(count, count + 1)[:, :-1].ravel()
    up, right = k + count + 1, k + 1
    return gk.Mesh(corners, np.concatenate([np.column_stack([k, up, up + 1]), np.column_stack([k, up + 1, right])]))


@pytest.mark.full
def test_drawer_sliding_in_its_grooves_is_proven_free() -> None:
    """Each triangle glides past many others, so the proof needs more than 2^20 steps."""
    sheet = drawer(80)
    impact = gk.shapecast(sheet, sheet, (10, 0, 0), at(0, 0, 0.01))
    assert impact.status == gk.ImpactStatus.FREE
    assert impact.iterations > 2**20


@pytest.mark.full
@pytest.mark.parametrize("gap", [1e-2, 1e-4])
@pytest.mark.parametrize(("size", "far"), [(1.0, 0.0), (1e-6, 0.0), (1e6, 0.0), (1.0, 1e3)])
def test_result_keeps_what_was_proven_when_steps_run_out(
    gap: float, size: float, far: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = drawer(20).scaled(size)
    wall = gk.Mesh(size * np.array([(7.5, -9, -9), (7.5, 9, -9), (7.5, 0, 9)]), [(0, 1, 2)])  # hit after a quarter
    obstacles, poses = gk.Compound([(sheet, None), (wall, None)]), (at(far, 0, size * gap), at(far, 0, 0))
    way = (size * 10.0, 0.0, 0.0)
    full = gk.shapecast(sheet, obstacles, way, *poses)
    assert full.status == gk.ImpactStatus.HIT
    assert full.time == pytest.approx(0.25, abs=1e-9)
    proven = {}
    for most in (2**8, 2**14, 2**15, 2**16, 2**20):
        for steps in (2**8, 2**11, 2**14):
            monkeypatch.setattr(impact_of_bodies, "_STEPS", steps)
            monkeypatch.setattr(impact_of_bodies, "_MOST_STEPS", most)
            some = gk.shapecast(sheet, obstacles, way, *poses)
            assert some.free_until <= full.time[1]
            assert some.time[1] >= full.time[0]
            proven[most, steps] = some.free_until
    assert proven[2**8, 2**8] == 0.0
    assert 0.0 < max(proven[2**15, 2**11], proven[2**16, 2**11]) < 0.24
    assert min(proven[2**20, steps] for steps in (2**8, 2**11, 2**14)) == pytest.approx(0.25, abs=1e-9)


def test_unsupported_pairs_and_negative_clearance_raise() -> None:
    solid, ground = every_kind.closed().body, OBJECTS["ground"].body
    with pytest.raises(UnsupportedPair, match="two HeightFields"):
        gk.time_of_impact(ground, ground)
    with pytest.raises(UnsupportedPair) as caught:
        gk.time_of_impact(ground, gk.Halfspace((0, 0, 1), 0))
    assert_names(caught.value, "gjk3d.Box", "bottom=z")
    with pytest.raises(UnsupportedPair) as caught:
        gk.time_of_impact(gk.Halfspace((0, 0, 1), -9), solid, gk.Motion(None, angular=(0, 0, 1)))
    assert_names(caught.value, "Halfspace", "large Box")
    with pytest.raises(UnsupportedPair, match=r"\bb\b.*\bstr\b"):
        gk.time_of_impact(solid, "box")
    with pytest.raises(ShapeError) as caught:
        gk.time_of_impact(solid, solid, clearance=-1)
    assert_names(caught.value, "clearance", "-1")


@given(
    seed=st.integers(0, 2**32 - 1), name=st.sampled_from([*every_kind.BOUNDED, "box"]),
    turns=st.sampled_from([1.5, 10.0, 40.0]), far=st.sampled_from([1.0, 3.0]),
)  # fmt: skip
def test_turning_ground(seed: int, name: str, turns: float, far: float) -> None:
    """The columns are long, so walls of the turning ground are far from the other body in most places."""
    rng = np.random.default_rng(seed)
    ground = OBJECTS["ground"].body
    shape = gk.Box((0.5, 0.6, 0.7)) if name == "box" else OBJECTS[name].body
    start = anywhere(rng, 0.3)
    start[2, 3] += 3.0
    away = 2.0 * rng.normal(size=3), turns * rng.normal(size=3)
    turning = gk.Motion(anywhere(rng, 0.3), *away, center=far * rng.normal(size=3))
    falling = gk.Motion(start, rng.normal(size=3))
    impact = gk.time_of_impact(ground, shape, turning, falling)
    assert impact.status != gk.ImpactStatus.UNRESOLVED
    if impact.status == gk.ImpactStatus.HIT:
        assert impact.time[1] - impact.time[0] <= 1e-7
        check_by_samples(Known(ground, []), Known(shape, []), (turning, falling), impact)
    for t in impact.free_until * np.linspace(0.0, 1.0, 30)[: -1 if impact.free_until > 0.0 else 0]:
        assert not gk.collide(ground, shape, turning.at(float(t)), falling.at(float(t)))


@pytest.mark.parametrize(("name", "seed"), [("solid", 1), ("solid", 29), ("cloud", 20), ("cloud", 29), ("voxels", 26)])
def test_wide_turning_ground_is_resolved_in_few_steps(name: str, seed: int) -> None:
    """Boxes as deep as the ground once used up a million steps without a result."""
    ground = gk.HeightField(0.5 * np.random.default_rng(0).random((40, 40)), 0.25, (-5.0, -5.0))
    rng = np.random.default_rng(seed)
    start = anywhere(rng, 0.3)
    start[2, 3] += 3.0
    place, *way = anywhere(rng, 0.3), 2.0 * rng.normal(size=3), 10.0 * rng.normal(size=3)
    motion = gk.Motion(place, *way, center=3.0 * rng.normal(size=3))
    impact = gk.time_of_impact(ground, OBJECTS[name].body, motion, gk.Motion(start, rng.normal(size=3)))
    assert impact.status != gk.ImpactStatus.UNRESOLVED
    assert impact.iterations < 50_000


@given(
    seed=st.integers(0, 2**32 - 1), length=st.sampled_from([1.0, 30.0, 1e3, 1e5]), both=st.booleans(),
    turns=st.sampled_from([0.3, 3.0, 30.0]), clearance=st.sampled_from([0.0, 0.1]),
)  # fmt: skip
def test_long_turning_shapes(seed: int, length: float, both: bool, turns: float, clearance: float) -> None:
    """Only the geometry near the contact decides the length of the steps."""
    rng = np.random.default_rng(seed)
    slab, ball = gk.Box((1.0, 0.5, length)), gk.Box((0.2, 0.3, 0.1)).inflated(0.05)
    shape = gk.Box((0.2, 0.3, length)) if both else ball
    start = anywhere(rng, 0.3)
    start[:3, 3] += 3.0 * random_direction(rng)
    first = gk.Motion(anywhere(rng, 0.1), rng.normal(size=3), turns * rng.normal(size=3), center=rng.normal(size=3))
    second = gk.Motion(start, rng.normal(size=3), turns * rng.normal(size=3), center=start[:3, 3] + rng.normal(size=3))
    for a, b, ways in ((slab, shape, (first, second)), (shape, slab, (second, first))):
        impact = gk.time_of_impact(a, b, *ways, clearance=clearance)
        assert both or impact.status != gk.ImpactStatus.UNRESOLVED  # two such long edges may stay unresolved
        for t in impact.free_until * np.linspace(0.0, 1.0, 40)[: -1 if impact.free_until > 0.0 else 0]:
            assert gk.distance(a, b, *(way.at(float(t)) for way in ways)).upper > clearance
        if impact.status == gk.ImpactStatus.HIT:
            poses = [way.at(float(impact.time[1])) for way in ways]
            assert gk.distance(a, b, *poses).lower <= clearance + 1e-12 * length


def random_direction(rng: Any) -> Array:
    """Return a random unit vector."""
    way: Array = rng.normal(size=3)
    return way / np.linalg.norm(way)
