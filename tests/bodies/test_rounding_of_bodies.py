"""Results for bodies that are valid only if they include the rounding error, compared with exact values."""

from __future__ import annotations

from fractions import Fraction
from math import acos
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies import base, bvh, tree_distance, triangles
from gjk3d.bodies.body_pair import MeshPair
from gjk3d.bodies.bvh import traversal_stack
from gjk3d.bodies.depth.depth import MOST, NORMAL, STATE, outer_translations
from gjk3d.bodies.distance import pair_of
from gjk3d.poses import IDENTITY, WIDTH, pose_rows, relative
from gjk3d.shapes import layout
from tests.bodies import exact_triangles as exact
from tests.bodies.random_shapes import Array, anywhere, at

CUBE = np.array([(x, y, z) for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))], dtype=float)
SIDES = [(0, 2, 1), (0, 3, 2), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7)]
TOP = [(4, 5, 6), (4, 6, 7)]


def corners(*points: tuple[float, float, float]) -> triangles.Triangle:
    a, b, c = points
    return a, b, c


# triangles ----------------------------------------------------------------------------------------------------------

FLAT = corners((-4.0, -4.0, 0.0), (4.0, -4.0, 0.0), (0.0, 4.0, 0.0))


@pytest.mark.parametrize("gap", [2.0**-45, -(2.0**-45)])
def test_gap_below_the_noise_counts_as_contact(gap: float) -> None:
    """Each pair is separated only by the normal of one of the triangles or by two crossing edges."""
    side = 1.0 if gap > 0.0 else -1.0
    tip = corners((0.0, 0.0, gap), (0.5, 0.25, gap + side), (-0.5, 0.25, gap + side))
    ridge = corners((0.0, -1.0, gap), (0.0, 1.0, gap), (0.0, 0.0, gap + side))
    crest = corners((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, -side))
    for p, q in ((FLAT, tip), (tip, FLAT), (crest, ridge), (ridge, crest)):
        assert not exact.triangles_meet(p, q)
        assert not triangles.triangles_meet(p, q, 2.0**-49)
        assert triangles.triangles_meet(p, q, 2.0**-43)


def test_gap_proven_by_two_points_is_at_most_the_distance() -> None:
    """The vector between the points is tilted by up to a thousandth, so it is longer than the distance, which is 1."""
    size = 2.0**-10
    low = corners((0.0, 0.0, 0.0), (size, 0.0, 0.0), (0.0, size, 0.0))
    high = corners((0.0, 0.0, 1.0), (size, 0.0, 1.0), (0.0, size, 1.0))
    for k in range(9):
        way = (0.125 * k * size, 0.0, 1.0)
        square = way[0] ** 2 + 1.0
        assert 1.0 - 1e-5 < triangles.proven_square(way, square, low, high) <= 1.0


def test_rounded_distances_do_not_raise_the_proven_gap() -> None:
    """The first pair is the nearest; the second is nearer than the rounded distance of the first."""
    for seed in (2, 9, 15, 20, 22, 31):
        rng = np.random.default_rng(seed)
        face = rng.uniform(1, 2, (3, 3))
        up = np.cross(face[1] - face[0], face[2] - face[0])
        # sums by elements, as BLAS rounds differently on other processors, which would invalidate the seeds
        up /= np.sqrt((up * up).sum())
        tip = (rng.dirichlet([1, 1, 1])[:, None] * face).sum(axis=0) + 1e-12 * up
        needle = np.array([tip, tip + up + 0.3 * rng.normal(size=3), tip + up + 0.3 * rng.normal(size=3)])
        p, q, r = (exact.vec(corner) for corner in face)
        normal = exact.cross(exact.sub(q, p), exact.sub(r, p))
        true = exact.dot(normal, exact.sub(exact.vec(tip), p)) ** 2 / exact.dot(normal, normal)
        rounded = triangles.nearest_points(corners(*face.tolist()), corners(*needle.tolist()))[0]
        gap = float(np.sqrt(0.5 * (rounded + float(true))))
        assert true < Fraction(gap) ** 2 < Fraction(rounded)
        floor = np.array([(16.0, 0.0, 0.0), (17.0, 0.0, 0.0), (16.0, 1.0, 0.0)])
        above = np.array([(16.25, 0.25, gap), (16.25, 0.5, 1.0), (16.5, 0.25, 1.0)])
        faces = [(0, 1, 2), (3, 4, 5)]
        a, b = (gk.Mesh(np.concatenate(parts), faces, solid=False) for parts in ((face, floor), (needle, above)))
        trees = a._as_parts().tree.arrays, b._as_parts().tree.arrays
        pair, out = np.array([-1, -1]), np.empty(8)
        pose = (*IDENTITY[0, :12].tolist(),)
        assert tree_distance.nearest_triangles(pose, 1e150, *trees, traversal_stack(), np.empty(base.STACK), pair, out)
        assert out[1] == pytest.approx(gap, rel=1e-12)
        assert Fraction(out[0]) ** 2 <= true


# distances and booleans ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("less", [2.0**-42, 2.0**-41])
def test_lower_bound_covers_a_skipped_part(less: float) -> None:
    """The ball is compared first, as its box is nearest; the cube's corner is nearer by a few roundings."""
    turn = Rotation.from_euler("xy", [45, 30], degrees=True).as_matrix()
    height = 1.0 - less - (CUBE @ turn.T)[:, 2].min() / 2
    parts = [(gk.Sphere(0.5), at(*turn.T @ (-2.0, 0.0, 1.5))), (gk.Box((1, 1, 1)), at(*turn.T @ (2.0, 0.0, height)))]
    pose = at(0.0, 0.0, 0.0, rotation=Rotation.from_matrix(turn))
    result = gk.distance(gk.Compound(parts), gk.Box((8.0, 8.0, 2.0)), pose, at(0.0, 0.0, -1.0))
    assert result.lower <= 1.0 - less <= result.upper


@pytest.mark.parametrize("more", [2.0**-31, 2.0**-32, 2.0**-34])
def test_gap_slightly_wider_than_the_margin_does_not_collide(more: float) -> None:
    """The gap differs from the margin by less than the width of the bounds, so the boolean follows the distance."""
    body = gk.Compound([(gk.Box((1.0, 1.0, 1.0)), at(0.0, 0.0, 0.0)), (gk.Box((1.0, 1.0, 1.0)), at(3.0, 0.0, 0.0))])
    for shape in (gk.Box((1.0, 1.0, 1.0)), gk.Sphere(0.5), gk.Cylinder(0.5, 1.0)):
        assert not gk.collide(body, shape, None, at(0.0, 0.0, 1.25 + more), margin=0.25)
        assert gk.collide(body, shape, None, at(0.0, 0.0, 1.25 - more), margin=0.25)


def test_mesh_inside_a_closed_mesh_collides_at_any_poses() -> None:
    """The surfaces are separated: only a point of the inner mesh, in the frame of the outer one, decides."""
    shell, inner = gk.Mesh(CUBE + (5.0, 0.0, 0.0), SIDES + TOP), gk.Mesh(0.125 * CUBE, SIDES + TOP)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        place = anywhere(rng, 3.0)
        contained = place @ at(5.5, -0.25, 0.625, rotation=Rotation.random(rng=rng))
        beyond = place @ at(5.5, -0.25, 1.625, rotation=Rotation.random(rng=rng))
        assert not gk.collide(shell, inner, place, beyond)
        for a, b, pose_a, pose_b in ((shell, inner, place, contained), (inner, shell, contained, place)):
            assert gk.collide(a, b, pose_a, pose_b)
            common = gk.distance(a, b, pose_a, pose_b).point_a
            assert gk.distance(inner, gk.Point(common), contained).distance < 1e-12


# depth --------------------------------------------------------------------------------------------------------------


def test_proven_depth_excludes_a_dent_of_a_cube() -> None:
    """The translation for the tip of a cone in the dent is shorter, by the dent, than that for the cube's hull."""
    dent = 1e-8
    lid = [(4, 5, 8), (5, 6, 8), (6, 7, 8), (7, 4, 8)]
    cube = gk.Mesh(np.concatenate([CUBE, [(0.0, 0.0, 1.0 - dent)]]), SIDES + lid)
    tip = gk.ConvexHull([(0.0, 0.0, 0.0), (0.125, 0.0, 1.0), (-0.125, 0.125, 1.0), (-0.125, -0.125, 1.0)])
    depth = gk.signed_distance(cube, tip, None, at(0.0, 0.0, 0.875))
    assert depth.lower <= -0.125 + dent <= depth.upper
    assert depth.upper < -0.125 + 1e-6


# motions ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [2.0**-47 * k for k in (20, 24, 28, 32, 36)])
def test_contact_below_float_resolution_is_not_reported_as_free(gap: float) -> None:
    """A pole swings over a plate, closer than floats can resolve, and its tip enters the plate a moment later."""
    plate = gk.Mesh([(-3.0, -3.0, 0.0), (3.0, -3.0, 0.0), (0.0, 4.0, 0.0)], [(0, 1, 2)], solid=False)
    pole, arm = gk.Segment((0.0, 0.0, 0.0), (0.0, 0.0, 2.0)), 2.0**-10
    swing = gk.Motion(at(0.0, 0.0, gap), angular=(0.0, 1.0, 0.0), center=(0.0, 0.0, -arm))
    for a, b, motion_a, motion_b in ((plate, pole, None, swing), (pole, plate, swing, None)):
        impact = gk.time_of_impact(a, b, motion_a, motion_b)
        assert impact.status != gk.ImpactStatus.FREE
        assert impact.free_until <= acos(arm / (arm + gap))


# bodies whose parts are far from the origin of their frame -----------------------------------------------------------

FAR = 2.0**20


def exact_dot(a: Any, b: Any) -> Fraction:
    return sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction())


def exactly_placed(row: Array, point: Any) -> list[Fraction]:
    """Return the exact position of a point at a pose row."""
    lines = row[:9].reshape(3, 3).tolist()
    return [exact_dot(line, point) + Fraction(x) for line, x in zip(lines, row[9:12].tolist(), strict=True)]


def far_point(rng: np.random.Generator) -> tuple[Array, Array, list[Fraction]]:
    """Return a point far from its frame's origin, a pose that brings it near the world's, and its exact position."""
    local = FAR * rng.normal(size=3)
    pose = at(0.0, 0.0, 0.0, rotation=Rotation.random(rng=rng))
    pose[:3, 3] = -pose[:3, :3] @ local
    return local, pose, exactly_placed(pose_rows(pose)[0][0], local)


def exact_square(place: list[Fraction], point: Array) -> Fraction:
    return sum((p - Fraction(x)) ** 2 for p, x in zip(place, point.tolist(), strict=True))


def test_distance_of_a_far_part_has_exact_bounds() -> None:
    """A position near the world's origin is computed in the body's frame, where the spacing of floats is 2e-10."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        local, pose, place = far_point(rng)
        point = rng.normal(size=3) * 2.0**-8
        square, cloud, point_pose = exact_square(place, point), gk.PointCloud([local], 0.0), at(*point)
        rows = relative(pose_rows(pose)[0][0], pose_rows(point_pose)[0][0])
        pair = pair_of(cloud, gk.Point(), rows)
        most = float(np.nextafter(np.sqrt(float(square)), np.inf))
        assert square <= Fraction(most) ** 2
        for result in (
            gk.distance(cloud, gk.Point(), pose, point_pose),
            pair.nearest(),
            pair._nearest_of_lists(np.inf),
        ):
            assert Fraction(result.lower) ** 2 <= square <= Fraction(result.upper) ** 2
        for within in (
            gk.distance(cloud, gk.Point(), pose, point_pose, max_distance=most),
            pair._nearest_of_lists(most),
        ):
            assert Fraction(within.lower) ** 2 <= square


def test_far_balls_that_overlap_by_less_than_rounding_collide() -> None:
    overlaps = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        local, pose, place = far_point(rng)
        way = rng.normal(size=3)
        point = np.array([float(p) for p in place]) + way / np.linalg.norm(way)
        if exact_square(place, point) <= 1:
            overlaps += 1
            assert gk.collide(gk.PointCloud([local], 0.5), gk.Sphere(0.5), pose, at(*point))
    assert overlaps > 15


def test_height_of_a_far_part_over_a_half_space_has_exact_bounds() -> None:
    below = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        local, pose, place = far_point(rng)
        normal = rng.normal(size=3)
        ground, cloud = gk.Halfspace(normal), gk.PointCloud([local], 0.0)
        height = exact_dot(ground.normal.tolist(), place)
        for result in (gk.signed_distance(ground, cloud, None, pose), gk.signed_distance(cloud, ground, pose)):
            assert Fraction(result.lower) <= height <= Fraction(result.upper)
        if height <= 0:
            below += 1
            assert gk.collide(ground, cloud, None, pose)
    assert below > 15


@pytest.mark.parametrize(
    ("query", "height"), [(gk.signed_distance, 0.0), (gk.signed_distance, 2.0**-8), (gk.distance, 2.0**-8)]
)
def test_distance_of_a_far_part_from_a_plane_has_exact_bounds(query: Any, height: float) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        local, pose, _ = far_point(rng)
        plane, cloud = gk.Plane(rng.normal(size=3)), gk.PointCloud([local], 0.0)
        pose[:3, 3] += height * plane.normal
        distance = abs(exact_dot(plane.normal.tolist(), exactly_placed(pose_rows(pose)[0][0], local)))
        margin = float(np.nextafter(float(distance), np.inf))
        assert gk.collide(plane, cloud, None, pose, margin=margin)
        result = query(plane, cloud, None, pose)
        assert Fraction(result.lower) <= distance <= Fraction(result.upper)
        assert Fraction(query(plane, cloud, None, pose, max_distance=margin).lower) <= distance


@pytest.mark.parametrize("query", [gk.signed_distance, gk.distance])
def test_distance_from_a_far_part_of_a_plane_has_exact_bounds(query: Any) -> None:
    """The body is small and at its own origin; the plane's pose and the position on the plane are far."""
    cloud = gk.PointCloud([(0.0, 0.0, 0.0)], 0.0)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        plane, pose = gk.Plane(rng.normal(size=3), rng.normal()), anywhere(rng, FAR)
        row = pose_rows(pose)[0][0]
        turn = row[:9].reshape(3, 3)
        aside = plane.normal * (plane.offset + 2.0**-8) + FAR * np.cross(plane.normal, rng.normal(size=3))
        place = pose[:3, 3] + turn @ aside
        away = [Fraction(x) - Fraction(y) for x, y in zip(place.tolist(), pose[:3, 3].tolist(), strict=True)]
        upward = [exact_dot(line, plane.normal.tolist()) for line in turn.tolist()]
        distance = abs(exact_dot(upward, away) - Fraction(plane.offset))
        margin = float(np.nextafter(float(distance), np.inf))
        assert gk.collide(plane, cloud, pose, at(*place), margin=margin)
        result = query(plane, cloud, pose, at(*place))
        assert Fraction(result.lower) <= distance <= Fraction(result.upper)
        assert Fraction(query(plane, cloud, pose, at(*place), max_distance=margin).lower) <= distance


@pytest.mark.parametrize("kind", ["mesh", "cloud"])
def test_translation_past_hulls_or_boxes_separates_exactly(kind: str) -> None:
    """Its length includes the rounding of the far corners and of the pose."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        local, pose, _ = far_point(rng)
        far_mesh = gk.Mesh(local + CUBE, SIDES + TOP)
        body: Any = gk.Mesh(CUBE, SIDES + TOP) if kind == "mesh" else gk.PointCloud(CUBE, 0.0)
        first, second = body._as_parts(), far_mesh._as_parts()
        row = pose_rows(pose)[0]
        out = np.empty((1, STATE))
        hulls = outer_translations(first, second, row, out)
        assert hulls is not None
        normal = out[0, NORMAL : NORMAL + 3].tolist()
        top = max(exact_dot(normal, point) for point in CUBE.tolist())
        bottom = min(
            exact_dot(normal, exactly_placed(row[0], point)) for point in np.asarray(far_mesh.vertices).tolist()
        )
        assert top <= bottom + Fraction(out[0, MOST]) * exact_dot(normal, normal)


def far_tip(rng: np.random.Generator, height: float) -> tuple[gk.Mesh, Array, Fraction]:
    """Return a triangle, a pose that puts a corner at about a height over the xy plane, and the exact height."""
    local, pose, _ = far_point(rng)
    turn = pose[:3, :3]
    corners = np.array([local, local + turn.T @ (0.1, 0.2, 1.0), local + turn.T @ (-0.2, 0.1, 1.0)])
    pose[2, 3] += height
    place = exactly_placed(pose_rows(pose)[0][0], local)
    return gk.Mesh(corners, [(0, 1, 2)], solid=False), pose, place[2]


FLOOR = gk.Mesh(np.array(FLAT), [(0, 1, 2)], solid=False)


def test_distance_of_a_mesh_far_from_its_origin_has_exact_bounds() -> None:
    for seed in range(20):
        tip, pose, height = far_tip(np.random.default_rng(seed), 2.0**-8)
        m = relative(pose_rows(np.eye(4))[0][0], pose_rows(pose)[0][0])
        for result in (gk.distance(FLOOR, tip, None, pose), MeshPair.of(FLOOR, tip, m).gap()):
            assert Fraction(result.lower) <= height <= Fraction(result.upper)


def test_mesh_that_overlaps_by_less_than_rounding_collides() -> None:
    below = 0
    for seed in range(60):
        tip, pose, height = far_tip(np.random.default_rng(seed), 0.0)
        if height <= 0:
            below += 1
            assert gk.collide(FLOOR, tip, None, pose)
    assert below > 15


# boxes of trees ------------------------------------------------------------------------------------------------------


def exactly_within(box: Array, point: list[Fraction], rim: Fraction) -> bool:
    """Return whether a ball about a point is within a tree's box, grown by the rim of the tree."""
    for k in range(3):
        axis = box[6 + 3 * k : 9 + 3 * k].tolist()
        off = exact_dot(axis, point) - exact_dot(axis, box[:3].tolist())
        if abs(off) > Fraction(box[3 + k]) + rim:
            return False
    return True


def below_nodes(links: Any) -> list[list[int]]:
    """Return the indices of the parts below each node."""
    parts = [list(range(first, first + some)) for _, first, some in links.tolist()]
    for node in range(len(links) - 1, -1, -1):
        child = links[node, 0]
        if child >= 0:
            parts[node] = parts[child] + parts[child + 1]
    return parts


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_every_box_of_a_mesh_contains_its_corners_exactly(far: float) -> None:
    rng = np.random.default_rng(7)
    corners = far + rng.uniform(-1, 1, (20, 1, 3)) + 0.3 * rng.normal(size=(20, 3, 3))
    tree = gk.Mesh(corners.reshape(-1, 3), np.arange(60).reshape(-1, 3), solid=False)._as_parts().tree
    boxes, links, places = tree.arrays
    for node, below in enumerate(below_nodes(links)):
        for corner in places[below].reshape(-1, 3).tolist():
            assert exactly_within(boxes[node], [Fraction(x) for x in corner], Fraction())


def some_body(kind: str) -> Any:
    rng = np.random.default_rng(9)
    mesh = gk.Mesh(CUBE * rng.uniform(0.5, 1.5, 3) + rng.normal(size=3), SIDES + TOP)
    return {
        "mesh": lambda: mesh,
        "cloud": lambda: gk.PointCloud(rng.normal(size=(30, 3)), 0.1),
        "voxels": lambda: gk.VoxelGrid(rng.random((5, 4, 3)) < 0.5, 0.3, rng.uniform(0.5, 1.5, 3)),
        "plates": lambda: gk.Shell(mesh, 0.1),
        "ground": lambda: gk.HeightField(rng.uniform(-0.3, 0.7, (6, 5)), (0.3, 0.7), (-1.1, 0.2), bottom=-1.3),
        # sides of parts are near 0, where the origin and the local coordinates cancel
        "cloud across 0": lambda: gk.PointCloud(0.3 * rng.integers(-1, 2, (30, 3)), 0.3),
        "voxels across 0": lambda: gk.VoxelGrid(rng.random((60, 4, 3)) < 0.8, 0.3, -0.3 * np.array((57, 2, 1))),
        "long voxels at 0": lambda: gk.VoxelGrid(np.pad(np.ones((2, 2, 90)), ((1, 0),) * 3), 0.3, (-0.3, -0.3, -0.3)),
        "ground across 0": lambda: gk.HeightField(rng.random((9, 5)), (0.3, 0.7), (-0.3 * 7, -0.7 * 3), bottom=0.0),
    }[kind]()


@pytest.mark.parametrize(
    "kind",
    ["cloud", "voxels", "plates", "ground", "cloud across 0", "voxels across 0", "long voxels at 0", "ground across 0"],
)
def test_every_box_of_a_body_contains_its_parts_exactly(kind: str) -> None:
    """Local corners and the middle of a part are rounded, so their exact sums differ from the given corners."""
    parts = some_body(kind)._as_parts()
    boxes, links, rim = parts.given.boxes, parts.given.links, Fraction(parts.given.rim)
    every = np.arange(parts.count)
    rows, spans = base.packed_parts(parts.given, every).rows, parts.boxes(every)
    nodes: list[list[int]] = [[] for _ in every]
    for node, below in enumerate(below_nodes(links)):
        for k in below:
            nodes[k].append(node)
    for k in every.tolist():
        shape, middle = parts.shape(k), [Fraction(x) for x in rows[k, 9:12].tolist()]
        radius = Fraction(getattr(shape, "radius", 0.0))
        corners = np.asarray(getattr(getattr(shape, "core", shape), "vertices", np.zeros((1, 3))))
        for corner in corners.tolist():
            point = [Fraction(x) + m for x, m in zip(corner, middle, strict=True)]
            assert all(exactly_within(boxes[node], point, rim - radius) for node in nodes[k])
            for axis in range(3):
                assert Fraction(spans[k, axis]) <= point[axis] - radius
                assert point[axis] + radius <= Fraction(spans[k, 3 + axis])


def test_axis_aligned_box_contains_its_spans_exactly() -> None:
    """The middle and the half widths are rounded, and the box is farther from the origin than it is wide."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        low = 1e6 * rng.normal(size=(3, 3))
        spans = np.hstack([low, low + rng.uniform(1e-3, 1.0, (3, 3))])
        box = bvh.straight(spans, np.array([(-1, 0, 3)]))[0]
        for k in range(3):
            for x in spans[:, k].tolist() + spans[:, 3 + k].tolist():
                assert abs(Fraction(x) - Fraction(box[k])) <= Fraction(box[3 + k])


@pytest.mark.parametrize("kind", ["mesh", "cloud", "voxels", "plates", "ground"])
def test_every_box_at_a_pose_contains_its_part_exactly(kind: str) -> None:
    parts = some_body(kind)._as_parts()
    every = np.arange(parts.count)
    row = pose_rows(at(FAR, -FAR / 3, 5.0, rotation=Rotation.from_rotvec((0.3, -0.4, 0.5))))[0][0]
    rows, spans = base.packed_parts(parts.given, every).rows, parts.boxes_at(every, row)
    for k in every.tolist():
        shape, middle = parts.shape(k), [Fraction(x) for x in rows[k, 9:12].tolist()]
        radius = Fraction(getattr(shape, "radius", 0.0))
        corners = np.asarray(getattr(getattr(shape, "core", shape), "vertices", np.zeros((1, 3))))
        for corner in corners.tolist():
            place = exactly_placed(row, [Fraction(x) + m for x, m in zip(corner, middle, strict=True)])
            for axis in range(3):
                assert Fraction(spans[k, axis]) <= place[axis] - radius
                assert place[axis] + radius <= Fraction(spans[k, 3 + axis])


@pytest.mark.parametrize("kind", ["mesh", "ground"])
def test_radius_of_an_unpacked_part_covers_its_corners_exactly(kind: str) -> None:
    parts = some_body(kind)._as_parts()
    floats, row = np.zeros(base.WIDEST), np.zeros(WIDTH)
    for k in range(parts.count):
        core = base.part_at(parts.given, k, floats, row)
        count = int(core.ints[layout.VERTICES])
        corners = core.floats[layout.FLOAT_HEAD : layout.FLOAT_HEAD + 3 * count].reshape(3, count).T
        squares = [sum(Fraction(x) ** 2 for x in corner) for corner in corners.tolist()]
        assert max(squares) <= Fraction(core.floats[layout.RHO]) ** 2
