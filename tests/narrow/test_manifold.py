"""Contact patches: laws of the contact points, and comparisons with a brute-force reference and closed forms."""

from __future__ import annotations

import itertools

import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from strategies import CHOSEN_PAIRS, SHAPES, build

import gjk3d as gk
from gjk3d.narrow.cores import Feature
from gjk3d.narrow.manifold import skin


def ngon(count, low=-0.5, high=0.5):
    return np.array([(np.cos(t), np.sin(t), z) for t in 2 * np.pi * np.arange(count) / count for z in (low, high)])


SQUARE = np.array([(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)])
BESIDE = naive.pose(np.eye(3), (0.2, 0.3, 0.1))

#: shapes with faces and edges parallel to the axes, so that quarter turns align them with each other
FLAT = {
    "box": ("box", (1.0, 1.5, 0.75)),
    "rounded box": ("inflated", ("box", (1.0, 0.5, 0.75)), 0.25),
    "cylinder": ("cylinder", 0.6, 1.25),
    "rounded cylinder": ("inflated", ("cylinder", 0.6, 1.25), 0.2),
    "cone": ("cone", 0.7, 1.5),
    "rounded cone": ("inflated", ("cone", 0.7, 1.5), 0.1),
    "capsule": ("capsule", 0.4, 1.25),
    "prism": ("hull", ngon(7)),
    "rounded prism": ("inflated", ("hull", ngon(6)), 0.1),
    "square": ("hull", SQUARE),
    "rounded square": ("inflated", ("hull", SQUARE), 0.2),
    "triangle": ("triangle", np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])),
    "tetrahedron": ("tetrahedron", np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])),
    "segment": ("segment", (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)),
    "placed cylinder": ("placed", ("cylinder", 0.6, 1.25), BESIDE),
    "squashed cylinder": ("scaled", ("cylinder", 0.6, 1.25), (1.0, 0.5, 1.0)),
    "squashed capsule": ("scaled", ("capsule", 0.4, 1.25), (1.0, 0.5, 1.0)),
    "half-space": ("halfspace", (0.0, 0.0, 1.0), 0.1),
}
FLAT_PAIRS = [p for p in itertools.combinations_with_replacement(FLAT, 2) if p != ("half-space", "half-space")]
#: Minkowski sums, whose surface is only sampled by support points
SAMPLED = ("squashed capsule",)


def resting(rng, a, b, lean):
    """Return poses of two shapes that nearly touch, with parallel axes but for a rotation of about ``lean``."""
    pose_a, pose_b = np.eye(4), np.eye(4)
    pose_a[:3, :3] = Rotation.from_euler("xyz", rng.integers(0, 4, 3) * 90, degrees=True).as_matrix()
    pose_b[:3, :3] = Rotation.from_euler("xyz", rng.integers(0, 4, 3) * 90, degrees=True).as_matrix()
    pose_b[:3, :3] = pose_b[:3, :3] @ Rotation.from_rotvec(rng.normal(size=3) * lean).as_matrix()
    axis = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1])
    if "halfspace" in (a[0], b[0]):
        axis = pose_a[:3, 2] if a[0] == "halfspace" else -pose_b[:3, 2]
    pose_b[:3, 3] = np.cross(axis, rng.normal(size=3) * 0.2)
    gap = float(gk.signed_distance(build(a), build(b), pose_a, pose_b).distance)
    if "halfspace" not in (a[0], b[0]):
        gap = float(naive.gap(naive.body(a, pose_a), naive.body(b, pose_b), axis)[0])
    pose_b[:3, 3] -= axis * (gap - rng.choice([0.0, 0.02, -0.02, 1e-10]))
    return pose_a, pose_b


def size_of(shape):
    """Return an upper bound of the distance of the shape's points from its origin; of a half-space, its offset."""
    if isinstance(shape, gk.Halfspace):
        return abs(shape.offset)
    return float(np.abs(shape.bounds).max()) * np.sqrt(3)


def on_surface(shape, pose, points, error):
    """Assert that points in world coordinates lie on the surface of the shape, within an error."""
    local = np.tile(np.eye(4), (len(points), 1, 1))
    local[:, :3, 3] = (points - pose[:3, 3]) @ pose[:3, :3]
    off = gk.signed_distance(shape, gk.Point(), None, local)
    assert np.all(off.lower <= error)
    assert np.all(off.upper >= -error)


def laws(a, b, pose_a, pose_b, within, most, loose=0.0):
    """Check the laws that every contact satisfies; return the contact."""
    touch = gk.contact(a, b, pose_a, pose_b, within=within, max_points=most)
    plain = gk.signed_distance(a, b, pose_a, pose_b)
    size = size_of(a) + size_of(b) + float(np.linalg.norm(pose_a[:3, 3] - pose_b[:3, 3]))
    error = 2e-12 * size + 1e-15 * max(np.abs(pose_a).max(), np.abs(pose_b).max()) + 2 * (plain.upper - plain.lower)
    error += loose * size
    if touch.count == 0:
        assert touch.lower > within
        assert plain.upper > within
        return touch
    assert plain.lower <= within + error
    assert touch.count == len(touch.points) <= (most or touch.count)
    assert np.array_equal(touch.normal, plain.normal)
    assert touch.distance == plain.distance
    assert np.allclose(touch.points_b - touch.points_a, touch.gaps[:, None] * touch.normal, rtol=0, atol=error)
    on_surface(a, pose_a, touch.points_a, error)
    on_surface(b, pose_b, touch.points_b, error)
    assert abs(touch.gaps.min() - touch.distance) <= error
    assert touch.gaps.max() <= max(within, touch.distance) + error + 1e-9 * size
    swapped = gk.contact(b, a, pose_b, pose_a, within=within, max_points=most)
    if np.allclose(swapped.normal, -touch.normal):  # on ties the two normals may differ
        assert np.array_equal(swapped.points_a, touch.points_b)
        assert np.array_equal(swapped.points_b, touch.points_a)
        assert np.array_equal(swapped.gaps, touch.gaps)
    return touch


@pytest.mark.parametrize(("name_a", "name_b"), CHOSEN_PAIRS)
def test_chosen_pairs_satisfy_the_laws(name_a, name_b, rng):
    a, b = SHAPES[name_a], SHAPES[name_b]
    for pose_a, pose_b in zip(*strategies.random_poses(rng, a, b, 6), strict=True):
        laws(build(a), build(b), pose_a, pose_b, rng.choice([0.0, 0.1]), rng.choice([None, 1, 2, 3, 4]), 1e-9)


@pytest.mark.parametrize(
    "leans", [(0.0, 1e-4), pytest.param((0.0, 0.0, 1e-8, 1e-2, 0.05), marks=pytest.mark.full)], ids=["two", "five"]
)
@pytest.mark.parametrize(("name_a", "name_b"), FLAT_PAIRS)
def test_resting_shapes_satisfy_the_laws(name_a, name_b, leans, rng):
    a, b = FLAT[name_a], FLAT[name_b]
    loose = 1e-9 if name_a in SAMPLED or name_b in SAMPLED else 0.0
    for lean in leans:
        for within in (0.0, 0.1):
            pose_a, pose_b = resting(rng, a, b, lean)
            laws(build(a), build(b), pose_a, pose_b, within, rng.choice([None, 2, 4]), loose)


@given(strategies.pairs(), st.sampled_from([0.0, 1e-6, 0.1]), st.sampled_from([None, 1, 2, 3, 4]))
def test_any_pair_satisfies_the_laws(case, within, most):
    a, pose_a, b, pose_b = case
    laws(build(a), build(b), pose_a, pose_b, within, most, 1e-9)


# brute-force reference: intersect every two of the lines that bound the patch ---------------------------------------


def supporting_face(points, n):
    """Return corners and normal of the face within 5 degrees of n that has the support point along n, or None."""
    walls = ConvexHull(points).equations
    walls = walls[np.unique(np.round(walls, 9), axis=0, return_index=True)[1]]
    top = (points @ n).max()
    best = None
    for wall in walls[np.argsort(-(walls[:, :3] @ n))]:
        corners = points[np.abs(points @ wall[:3] + wall[3]) < 1e-7]
        if wall[:3] @ n > np.cos(np.radians(5)) and (corners @ n).max() > top - 1e-9:
            best = corners, wall[:3]
            break
    return best


def reference_patch(points_a, points_b, n, limit):
    """Return the corners of the patch from half-planes, and their plane's axes; None without two supporting faces."""
    face_a, face_b = supporting_face(points_a, n), supporting_face(points_b, -n)
    if face_a is None or face_b is None:
        return None
    frame = np.linalg.svd(n[None])[2][1:]
    lines = []  # (a, b, c): a x + b y <= c
    for corners, _ in (face_a, face_b):
        flat = ConvexHull(corners @ frame.T)
        lines += [(*e[:2], -e[2]) for e in flat.equations]
    # the height of a face's plane at (x, y) follows from (corner - x) . normal = 0
    slopes, starts = [], []
    for corners, normal in (face_a, face_b):
        slopes.append(-(frame @ normal) / (n @ normal))
        starts.append(corners[0] @ normal / (n @ normal))
    slope, start = slopes[1] - slopes[0], starts[1] - starts[0]
    if np.linalg.norm(slope) > 1e-12:
        length = np.linalg.norm(slope)
        lines.append((*(slope / length), (limit - start) / length))
    lines = np.array(lines)
    spots = []
    for i, j in itertools.combinations(range(len(lines)), 2):
        pair = lines[[i, j], :2]
        if abs(np.linalg.det(pair)) > 1e-9:
            spot = np.linalg.solve(pair, lines[[i, j], 2])
            if np.all(lines[:, :2] @ spot <= lines[:, 2] + 1e-9):
                spots.append(spot)
    return np.array(spots).reshape(-1, 2), frame


def area(spots):
    return ConvexHull(spots).volume if len(spots) > 2 else 0.0


def random_prism(rng):
    """Return the corners of a random right prism or frustum over a convex polygon."""
    count = int(rng.integers(3, 9))
    angles = np.sort(rng.uniform(0, 2 * np.pi, count))
    ring = np.c_[np.cos(angles), np.sin(angles)] * rng.uniform(0.4, 1.2, 2)
    top = ring * rng.choice([1.0, 0.8])
    return np.r_[np.c_[ring, np.full(count, -0.5)], np.c_[top, np.full(count, 0.5)]]


@pytest.mark.parametrize("lean", [0.0, 1e-3, 0.02])
def test_patches_equal_the_brute_force_reference(lean):
    rng = np.random.default_rng(round(1e4 * lean))
    compared, corners = 0, 0
    for _ in range(150):
        cloud_a, cloud_b = random_prism(rng), random_prism(rng)
        world = Rotation.random(random_state=rng).as_matrix()
        pose_a, pose_b = naive.pose(world, (1, 2, 3)), np.eye(4)
        turned = Rotation.from_rotvec((0, 0, rng.uniform(0, 6))) * Rotation.from_rotvec(rng.normal(size=3) * lean)
        pose_b[:3, :3] = world @ turned.as_matrix()
        pose_b[:3, 3] = world @ (*rng.normal(size=2) * 0.4, rng.uniform(0.9, 1.05)) + (1, 2, 3)
        a, b = gk.ConvexHull(cloud_a), gk.ConvexHull(cloud_b)
        within = float(rng.choice([0.0, 0.06]))
        touch = gk.contact(a, b, pose_a, pose_b, within=within, max_points=None)
        if touch.count == 0:
            continue
        placed = [c @ p[:3, :3].T + p[:3, 3] for c, p in ((cloud_a, pose_a), (cloud_b, pose_b))]
        expected = reference_patch(*placed, touch.normal, max(within, touch.distance))
        if expected is None or len(expected[0]) < 3 or area(expected[0]) < 1e-6:
            continue
        spots, frame = expected
        seen = touch.points_a @ frame.T
        rim = spots[ConvexHull(spots).vertices]
        distances = np.linalg.norm(seen[:, None] - rim[None], axis=2)
        assert distances.min(axis=1).max() < 1e-9  # every corner is expected
        assert distances.min(axis=0).max() < 1e-9  # no expected corner is missing
        assert area(seen) == pytest.approx(area(spots), abs=1e-9)
        for face in supporting_face(placed[0], touch.normal)[0], supporting_face(placed[1], -touch.normal)[0]:
            assert area(seen) <= area(face @ frame.T) + 1e-9
        compared += 1
        corners += touch.count
    assert compared > 60
    assert corners > 4 * compared


def test_corners_are_ordered_around_the_patch():
    """All corners of a patch turn to the same side about the normal."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        a, b = gk.ConvexHull(random_prism(rng)), gk.ConvexHull(random_prism(rng))
        pose = naive.pose(Rotation.from_rotvec((0, 0, rng.uniform(0, 6))).as_matrix(), (0.2, 0.1, 1))
        touch = gk.contact(a, b, None, pose, max_points=None)
        sides = np.roll(touch.points, -1, axis=0) - touch.points
        turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ touch.normal
        assert np.all(turns > 0) or np.all(turns < 0)


# closed forms -------------------------------------------------------------------------------------------------------

TABLE = gk.Box((4, 4, 1))
LYING = Rotation.from_rotvec((0, np.pi / 2, 0)).as_matrix()


def sorted_rows(points):
    return np.array(sorted(map(tuple, np.round(points, 9) + 0.0)))


def test_lying_capsule_and_cylinder_touch_along_a_line():
    for shape, height in ((gk.Capsule(0.25, 1), 0.75), (gk.Cylinder(0.25, 1), 0.75)):
        touch = gk.contact(TABLE, shape, None, naive.pose(LYING, (0.2, 0.1, height)))
        assert np.allclose(sorted_rows(touch.points), [(-0.3, 0.1, 0.5), (0.7, 0.1, 0.5)])
    cut = gk.contact(TABLE, gk.Capsule(0.25, 1), None, naive.pose(LYING, (1.8, 0.1, 0.75)))
    assert np.allclose(sorted_rows(cut.points), [(1.3, 0.1, 0.5), (2.0, 0.1, 0.5)])


def test_contact_points_of_tilted_capsule_lie_on_its_side():
    turn = Rotation.from_rotvec((0, np.pi / 2 - 0.03, 0)).as_matrix()
    touch = gk.contact(TABLE, gk.Capsule(0.25, 1), None, naive.pose(turn, (0, 0, 0.8)), within=0.2)
    assert touch.count == 2
    # below the lower end of the axis lies the end's ball, below the upper end the side, which is as steep as the axis
    low, high = 0.8 - 0.5 * np.sin(0.03) - 0.25, 0.8 + 0.5 * np.sin(0.03) - 0.25 / np.cos(0.03)
    assert np.allclose(sorted(touch.points_b[:, 2]), [low, high], atol=1e-12)


@pytest.mark.parametrize("aside", [1.0, 0.1, 1e-3])
def test_skin_of_short_edge_is_hit_along_tilted_directions(aside):
    edge = np.array([(0.0, 0.0, 0.0), (0.02, 0.0, 0.0)])
    for at in (0.0, 0.001, 0.01, 0.02):
        way = np.array([1.0, aside, 0.0]) / np.hypot(1.0, aside)
        far = skin(Feature(2, (0.0, 0.0, 0.0), 0.0), edge, (at, 0.0, 0.0), tuple(way), 0.25)
        point = np.array([at, 0.0, 0.0]) + far * way
        assert np.linalg.norm(point - (np.clip(point[0], 0.0, 0.02), 0.0, 0.0)) == pytest.approx(0.25, rel=1e-9)


@pytest.mark.parametrize("shape", [gk.Cylinder(0.5, 1), gk.Cone(0.5, 1), gk.Cylinder(0.4, 0.8).inflated(0.1)])
def test_contact_points_of_round_base_lie_on_its_rim(shape):
    radius = 0.4 if isinstance(shape, gk.Rounded) else 0.5
    for most, count in ((4, 4), (None, 32)):
        touch = gk.contact(TABLE, shape, None, naive.pose(np.eye(3), (0.2, 0.1, 1)), max_points=most)
        assert touch.count == count
        assert np.allclose(np.hypot(*(touch.points[:, :2] - (0.2, 0.1)).T), radius)
    four = gk.contact(TABLE, shape, None, naive.pose(np.eye(3), (0.2, 0.1, 1))).points
    sides = np.linalg.norm(np.roll(four, -1, axis=0) - four, axis=1)
    assert np.allclose(sides, radius * np.sqrt(2))
    half = gk.contact(TABLE, shape, None, naive.pose(np.eye(3), (2, 0, 1)), max_points=None)
    assert half.points[:, 0].max() <= 2 + 1e-12
    assert area(half.points[:, :2]) == pytest.approx(np.pi * radius**2 / 2, rel=0.01)


def test_balls_and_crossing_edges_touch_in_one_point():
    for shape in (gk.Sphere(0.5), gk.Ellipsoid((0.3, 0.4, 0.5))):
        touch = gk.contact(TABLE, shape, None, naive.pose(np.eye(3), (0.2, 0.1, 1)), max_points=None)
        assert touch.count == 1
        assert np.allclose(touch.points, [(0.2, 0.1, 0.5)])
    roof = Rotation.from_rotvec((np.pi / 4, 0, 0)).as_matrix()
    across = Rotation.from_rotvec((0, np.pi / 4, 0)).as_matrix()
    cube = gk.Box((1, 1, 1))
    crossed = gk.contact(cube, cube, naive.pose(roof), naive.pose(across, (0.2, 0.1, 1.4)))
    assert crossed.count == 1
    assert np.allclose(crossed.points[0, :2], (0.2, 0.0), atol=0.1)
    along = gk.contact(cube, cube, naive.pose(roof), naive.pose(roof, (0.4, 0.0, np.sqrt(2))))
    assert np.allclose(sorted_rows(along.points), [(-0.1, 0, np.sqrt(0.5)), (0.5, 0, np.sqrt(0.5))])


def test_patch_of_scaled_rounded_box_is_its_face():
    squashed = gk.Box((1, 1, 1)).inflated(0.5).scaled((1, 1, 0.5))
    touch = gk.contact(TABLE, squashed, None, naive.pose(np.eye(3), (0, 0, 1)))
    assert touch.count == 4
    assert np.allclose(np.abs(touch.points), 0.5, atol=1e-7)
    assert area(touch.points[:, :2]) == pytest.approx(1, abs=1e-6)


# small motion -------------------------------------------------------------------------------------------------------


def outside(points, patch):
    """Return the greatest distance of points from a patch, both projected to the xy plane."""
    patch = patch[:, :2]
    if len(patch) == 2:
        along = patch[1] - patch[0]
        t = np.clip((points[:, :2] - patch[0]) @ along / (along @ along), 0, 1)
        return np.linalg.norm(points[:, :2] - patch[0] - t[:, None] * along, axis=1).max()
    walls = ConvexHull(patch).equations
    return max(0.0, (points[:, :2] @ walls[:, :2].T + walls[:, 2]).max())


def nudged(rng, pose):
    """Return the pose translated and rotated by about 1e-7."""
    turn = Rotation.from_rotvec(rng.normal(size=3) * 1e-7).as_matrix()
    return naive.pose(turn @ pose[:3, :3], pose[:3, 3] + rng.normal(size=3) * 1e-7)


@pytest.mark.parametrize("lowest", range(12))
def test_reduced_patch_contains_the_lowest_corner(lowest):
    """The other three still cover much of the area 3 of the prism's base, whichever corner is lowest."""
    angle = np.pi * lowest / 6
    pose = naive.pose(Rotation.from_rotvec((-1e-3 * np.sin(angle), 1e-3 * np.cos(angle), 0)).as_matrix(), (0, 0, 1.01))
    touch = gk.contact(TABLE, gk.ConvexHull(ngon(12)), None, pose, within=0.1)
    assert touch.count == 4
    assert touch.gaps.min() == pytest.approx(touch.distance, abs=1e-14)
    assert area(touch.points_b[:, :2]) > 1.2


def test_four_corners_are_stable_under_small_motion():
    rng = np.random.default_rng(11)
    brick = gk.Box((1, 0.8, 0.6))
    for _ in range(40):
        spot = (*rng.uniform(-1.3, 1.3, 2), 0.8 - rng.uniform(0, 0.01))
        pose = naive.pose(Rotation.from_rotvec((0, 0, rng.uniform(0, 6))).as_matrix(), spot)
        first = gk.contact(TABLE, brick, None, pose, within=1e-3)
        assert first.count == 4
        for _ in range(5):
            again = gk.contact(TABLE, brick, None, nudged(rng, pose), within=1e-3)
            distances = np.linalg.norm(again.points[:, None] - first.points[None], axis=2)
            assert distances.min(axis=0).max() < 1e-5
            assert distances.min(axis=1).max() < 1e-5


@pytest.mark.parametrize("name", ["box", "prism", "cylinder", "cone", "rounded box", "rounded cylinder", "capsule"])
def test_patches_are_stable_under_small_motion(name):
    rng = np.random.default_rng(12)
    shape = build(FLAT[name])
    # a rim is approximated by a polygon, to which the deepest point of the rim may be added
    reach = 1e-5 if name not in ("cylinder", "cone", "rounded cylinder") else 0.006
    stand = np.eye(3) if name != "capsule" else LYING
    for _ in range(30):
        pose = naive.pose(stand, (*rng.uniform(-2, 2, 2), 0.5 + float(shape.support(-stand[2]) @ -stand[2]) - 0.01))
        first = gk.contact(TABLE, shape, None, pose, within=1e-3, max_points=None)
        again = gk.contact(TABLE, shape, None, nudged(rng, pose), within=1e-3, max_points=None)
        assert outside(first.points, again.points) < reach
        assert outside(again.points, first.points) < reach
        four = gk.contact(TABLE, shape, None, pose, within=1e-3)
        assert four.count == (2 if name == "capsule" else 4)
        assert area(four.points[:, :2]) >= 0.5 * area(first.points[:, :2])  # the four points cover most of the patch


def test_patch_of_tilted_cylinder_contains_its_lowest_rim_point():
    """The lowest point is inserted between two of the 32 regular corners, in order around the rim."""
    turn = Rotation.from_euler("zy", [0.08, 0.02]).as_matrix()
    pose = naive.pose(turn, (0, 0, 1.0))
    touch = gk.contact(TABLE, gk.Cylinder(0.5, 1), None, pose, within=0.1, max_points=None)
    assert touch.count == 33
    sides = np.roll(touch.points_b, -1, axis=0) - touch.points_b
    turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ touch.normal
    assert np.all(turns > 0) or np.all(turns < 0)
    deepest = touch.points_b[np.argmin(touch.gaps)]
    assert np.allclose(deepest, touch.result.point_b, atol=1e-6)


@pytest.mark.parametrize("width", [1e-3, 1e-9, 1e-10, 1e-11, 3e-12])
def test_no_contact_point_lies_beyond_the_tip_of_a_needle(width):
    """A line along a needle is near both its edges, also when they are extended far beyond the tip."""
    needle = gk.Triangle([(-1, -width / 2, 0), (-1, width / 2, 0), (1, 0, 0)])
    for aside in (0, 1e-13, 1e-12):
        line = gk.Segment((0, aside, 0.1), (3, -aside, 0.1))
        touch = gk.contact(needle, line, within=1.0)
        assert max(gk.distance(needle, gk.Point(p)).upper for p in touch.points_a) < 1e-11
        assert max(gk.distance(line, gk.Point(p)).upper for p in touch.points_b) < 1e-11
