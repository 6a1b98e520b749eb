"""The fast depth of bodies: its bounds compared with exact depths of boxes, the tight depth and moved bodies."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

import gjk3d as gk
from gjk3d.bodies.depth import fast
from gjk3d.bodies.depth.partings import bottom_along, shifted
from gjk3d.bodies.parts import parts_of
from gjk3d.bodies.tree_collision import APART, DOUBT, MEET, TreeScratch, new_tree_scratch, two_at
from gjk3d.poses import pose_rows
from tests.bodies.every_kind import KINDS
from tests.bodies.random_shapes import Array, anywhere, at
from tests.bodies.test_touching_normals import an_l

Boxes = np.ndarray[Any, np.dtype[np.int64]]  #: (k, 2, 3), the least and the greatest corners


# an exact reference implementation for axis-aligned boxes -------------------------------------------------------------


def squared_depth(a: Boxes, b: Boxes) -> int:
    """Return the squared depth of two unions of axis-aligned boxes, in integers.

    Two boxes still overlap after a translation if it is inside a box, their Minkowski difference. The union of these
    boxes consists of cells of the grid of their sides, so the shortest free translation is a side or 0 on each axis.
    """
    low = (a[:, None, 0] - b[None, :, 1]).reshape(-1, 3)
    high = (a[:, None, 1] - b[None, :, 0]).reshape(-1, 3)
    sides = [np.unique(np.concatenate([[0], low[:, c], high[:, c]])) for c in range(3)]
    places = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 3)
    blocked = ((places[:, None] > low) & (places[:, None] < high)).all(axis=2).any(axis=1)
    return int((places[~blocked] ** 2).sum(axis=1).min())


def surface_of(boxes: Boxes, scale: float) -> gk.Mesh:
    vertices, faces = gk.Box((1, 1, 1)).surface()
    corners = [boxes[k, 0] + (vertices + 0.5) * (boxes[k, 1] - boxes[k, 0]) for k in range(len(boxes))]
    shifted = [faces + k * len(vertices) for k in range(len(boxes))]
    return gk.Mesh(np.concatenate(corners) * scale, np.concatenate(shifted))


def compound_of(boxes: Boxes, scale: float) -> gk.Compound:
    sizes, middles = (boxes[:, 1] - boxes[:, 0]) * scale, 0.5 * (boxes[:, 0] + boxes[:, 1]) * scale
    return gk.Compound([(gk.Box(size), at(*middle)) for size, middle in zip(sizes, middles, strict=True)])


def some_boxes(rng: np.random.Generator, count: int, reach: int) -> Boxes:
    """Return boxes with even corners that overlap in a chain, so that they are one body."""
    boxes = [np.zeros((2, 3), dtype=np.int64)]
    for _ in range(count):
        middle = rng.integers(boxes[-1][0], boxes[-1][1] + 1)
        sizes = rng.integers(1, reach, 3)
        boxes.append(2 * np.stack([middle // 2 - sizes, middle // 2 + sizes]))
    return np.array(boxes[1:])


MAKERS: dict[str, Callable[[Boxes, float], Any]] = {"mesh": surface_of, "compound": compound_of}


@pytest.mark.parametrize("kinds", [("mesh", "mesh"), ("mesh", "compound"), ("compound", "compound")], ids="-".join)
@given(st.integers(0, 2**32 - 1), st.integers(-30, 30))
def test_bounds_contain_exact_depths_of_boxes_at_every_scale(kinds: tuple[str, str], seed: int, exponent: int) -> None:
    """The comparison is exact, so the bounds must include all rounding."""
    rng, scale = np.random.default_rng(seed), 2.0**exponent
    a, b = some_boxes(rng, int(rng.integers(1, 5)), 200), some_boxes(rng, int(rng.integers(1, 4)), 80)
    shift = 2 * rng.integers(-150, 150, 3)
    square = squared_depth(a, b + shift)
    result = gk.signed_distance(
        MAKERS[kinds[0]](a, scale), MAKERS[kinds[1]](b, scale), None, at(*(shift * scale)), depth="fast"
    )
    least, most = max(Fraction(0), -Fraction(result.upper)) / Fraction(scale), -Fraction(result.lower) / Fraction(scale)
    if square > 0:
        assert least**2 <= square <= most**2
        assert result.lower <= result.distance <= result.upper
    else:
        assert result.upper >= 0.0


def test_exact_reference_gives_known_depths() -> None:
    slab, post, pin = (np.array([[low, high]]) for low, high in (((-9, -9, -1), (9, 9, 1)), ((-1, -1, -9), (1, 1, 9)),
                                                                 ((-2, -2, 0), (2, 2, 4))))  # fmt: skip
    assert squared_depth(slab, pin) == 1
    assert squared_depth(np.concatenate([slab, post]), pin) == 1 + 9  # 1 up, and 3 sideways past the post
    assert squared_depth(slab, pin + (0, 0, 1)) == 0


# meshes of any shape --------------------------------------------------------------------------------------------------


def torus(sections: int = 16) -> gk.Mesh:
    model = trimesh.creation.torus(1.0, 0.3, major_sections=2 * sections, minor_sections=sections)
    return gk.Mesh(model.vertices, model.faces)


def opened(mesh: gk.Mesh) -> gk.Mesh:
    return gk.Mesh(mesh.vertices, mesh.faces[::2])


TORUS = torus()
HOSTS: dict[str, Any] = {
    "torus": TORUS,
    "small ring": torus(5),
    "open": opened(TORUS),
    "flat": gk.Mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)]),
    "shelf": surface_of(np.array([[(-60, -20, z), (60, 20, z + 4)] for z in (-60, -20, 20, 60)]), 0.015625),
    "compound": compound_of(some_boxes(np.random.default_rng(4), 5, 60), 0.01),
    "voxels": TORUS.voxelized(0.15),
    "cloud": gk.PointCloud(TORUS.vertices[::3], 0.1),
    "ground": KINDS["ground"]().body,
    "bottom": gk.HeightField(KINDS["ground"]().body.heights, 0.5, (-1.0, -1.0), bottom=-0.5),
    "shell": gk.Shell(opened(TORUS), 0.05),
}
GUESTS: dict[str, Any] = {
    "ball": gk.Sphere(0.2),
    "capsule": gk.Capsule(0.1, 0.5),
    "hull": gk.ConvexHull(np.random.default_rng(2).normal(size=(16, 3)) * 0.2),
    "triangle": gk.Triangle([(0.0, 0.0, 0.0), (0.5, 0.1, 0.0), (0.1, 0.4, 0.2)]),
    "point": gk.Point((0.1, 0.0, 0.0)),
    "mesh": gk.Mesh(TORUS.vertices * 0.3, TORUS.faces),
    "compound": gk.Compound([(gk.Box((0.5, 0.1, 0.1)), None), (gk.Sphere(0.12), at(0.25, 0.0, 0.0))]),
}


def overlapping(a: Any, b: Any, rng: np.random.Generator, count: int) -> Array:
    poses = np.stack([anywhere(rng, 1.1) for _ in range(600)])
    return poses[gk.collide(a, b, None, poses)][:count]


def moved(poses: Array, by: Array) -> Array:
    out = poses.copy()
    out[..., :3, 3] += by
    return out


@pytest.mark.parametrize("guest", GUESTS)
@pytest.mark.parametrize("host", HOSTS)
def test_bounds_match_the_tight_depth_and_translation_separates(host: str, guest: str) -> None:
    a, b, rng = HOSTS[host], GUESTS[guest], np.random.default_rng(len(host) + 31 * len(guest))
    poses = overlapping(a, b, rng, 12)
    result, tight = gk.signed_distance(a, b, None, poses, depth="fast"), gk.signed_distance(a, b, None, poses)
    assert (result.lower <= result.distance).all()
    assert (result.distance <= result.upper).all()
    size = float(np.ptp(b.bounds)) + 4.0
    assert (result.lower <= tight.upper + 1e-14 * size).all()
    assert (tight.lower <= result.upper + 1e-14 * size).all()
    assert np.allclose(np.linalg.norm(result.normal, axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert np.allclose(result.point_b - result.point_a, result.distance[:, None] * result.normal, rtol=0, atol=1e-12)
    assert not gk.collide(a, b, None, moved(poses, result.separation_vector)).any()
    # no translation that is shorter than the lower bound separates them
    for way in rng.normal(size=(8, 3)):
        shift = -0.99 * result.upper[:, None] * way / np.linalg.norm(way)
        assert gk.collide(a, b, None, moved(poses, shift)).all()
    width = result.upper - result.lower
    assert (width[result.tight] <= 1e-8).all()
    assert set(result.status.tolist()) <= {gk.Status.OVERLAPPING, gk.Status.TOUCHING}


def test_fast_depth_is_close_to_the_tight_depth() -> None:
    """The median is within two percent of the tight depth, and no depth exceeds that of the hulls."""
    ratios = []
    for host in ("torus", "shelf", "voxels", "cloud", "bottom"):
        for guest in ("ball", "capsule", "hull"):
            a, b = HOSTS[host], GUESTS[guest]
            poses = overlapping(a, b, np.random.default_rng(7), 24)
            depth = gk.signed_distance(a, b, None, poses, depth="fast").depth
            ratios.append(depth / gk.signed_distance(a, b, None, poses).depth)
            hulls = gk.signed_distance(a.hull(), b, None, poses).depth
            assert (depth <= hulls * (1.0 + 1e-9) + 1e-12).all()
    assert np.median(np.concatenate(ratios)) < 1.02


@pytest.mark.parametrize("guest", ["capsule", "mesh", "compound"])
@pytest.mark.parametrize("host", ["torus", "voxels", "ground"])
def test_swapped_stacked_and_prepared_calls_give_the_same_bits(host: str, guest: str) -> None:
    a, b = HOSTS[host], GUESTS[guest]
    poses = np.concatenate([overlapping(a, b, np.random.default_rng(3), 5), at(0.0, 0.0, 5.0)[None]])
    stack = gk.signed_distance(a, b, None, poses, depth="fast")
    back = gk.signed_distance(b, a, poses, None, depth="fast")
    threads = gk.signed_distance(a, b, None, np.repeat(poses, 64, axis=0), depth="fast", workers=2)
    pairs = gk.Pairs([a, b]).signed_distance(
        [(0, 1)] * len(poses), np.stack([np.broadcast_to(np.eye(4), poses.shape), poses], axis=1), depth="fast"
    )
    pair = gk.Pair(a, b)
    for k, pose in enumerate(poses):
        single = gk.signed_distance(a, b, None, pose, depth="fast")
        for result in (
            stack[k],
            threads[64 * k],
            threads[64 * k + 63],
            pairs[k],
            pair.signed_distance(None, pose, depth="fast"),
        ):
            assert (result.distance, result.lower, result.upper) == (single.distance, single.lower, single.upper)
            assert (result.status, result.tight) == (single.status, single.tight)
            assert np.array_equal(result.normal, single.normal)
            assert np.array_equal(result.point_a, single.point_a)
        assert (back[k].distance, back[k].lower, back[k].upper) == (single.distance, single.lower, single.upper)
        assert np.array_equal(back[k].normal, -single.normal)
        assert np.array_equal(back[k].point_a, single.point_b)
    assert stack.distance[-1] == gk.signed_distance(a, b, None, poses[-1]).distance > 0.0


def test_swapped_equal_meshes_give_mirrored_results() -> None:
    """The same mesh is used twice, so the poses decide which one comes first in the kernels."""
    poses = overlapping(TORUS, TORUS, np.random.default_rng(5), 6)
    result = gk.signed_distance(TORUS, TORUS, None, poses, depth="fast")
    back = gk.signed_distance(TORUS, TORUS, poses, None, depth="fast")
    assert np.array_equal(result.distance, back.distance)
    assert np.array_equal(result.normal, -back.normal)


def test_depth_modes_agree_for_convex_shapes_and_half_spaces() -> None:
    box, ball, pose = gk.Box((1, 1, 1)), gk.Sphere(0.5), at(0.6, 0.1, 0.2)
    for a, b in ((box, ball), (TORUS, gk.Halfspace((0, 0, 1), 0.1)), (box, gk.Halfspace((0, 0, 1), 0.1))):
        results = [gk.signed_distance(a, b, None, pose, depth=depth) for depth in ("auto", "tight", "fast")]
        assert len({(x.distance, x.lower, x.upper, tuple(x.normal)) for x in results}) == 1
    shapes = gk.Pairs([box, ball, TORUS])
    poses = np.stack([np.broadcast_to(np.eye(4), (2, 4, 4)), np.broadcast_to(pose, (2, 4, 4))], axis=1)
    mixed = shapes.signed_distance([(0, 1), (2, 1)], poses, depth="fast")
    assert mixed[0].distance == gk.signed_distance(box, ball, None, pose).distance
    assert mixed[1].distance == gk.signed_distance(TORUS, ball, None, pose, depth="fast").distance
    with pytest.raises(gk.errors.ShapeError, match="expected 'auto', 'epa', 'facets', 'tight' or 'fast'"):
        gk.signed_distance(box, ball, depth="quick")  # type: ignore[call-overload]


def test_prepared_pairs_do_not_keep_bodies_alive() -> None:
    gone = []
    for _ in range(20):
        mesh = gk.Mesh(*gk.Box((1, 1, 1)).surface())
        assert gk.signed_distance(mesh, gk.Sphere(0.1), depth="fast").distance < 0.0
        gone.append(weakref.ref(mesh))
    del mesh
    gc.collect()
    assert not any(reference() is not None for reference in gone)


# special poses --------------------------------------------------------------------------------------------------------


def test_touching_bodies_have_status_touching() -> None:
    table = surface_of(np.array([[(-8, -8, -1), (8, 8, 0)], [(-1, -1, -8), (1, 1, -1)]]), 0.125)
    for guest in (gk.Box((1, 1, 1)), gk.Mesh(*gk.Box((1, 1, 1)).surface()), gk.Sphere(0.5)):
        for height, status in ((0.5, gk.Status.TOUCHING), (0.45, gk.Status.OVERLAPPING), (0.55, gk.Status.SEPARATED)):
            result = gk.signed_distance(table, guest, None, at(0.25, 0.25, height), depth="fast")
            assert result.status == status
            assert result.distance == pytest.approx(height - 0.5, abs=1e-12)
            assert result.lower <= height - 0.5 + 1e-15 <= result.upper + 2e-15
            assert result.normal == pytest.approx((0, 0, 1), abs=1e-9)
            assert result.tight


@pytest.mark.parametrize("guest", [gk.Sphere(0.05), gk.Capsule(0.03, 0.1), gk.Mesh(*gk.Box((0.1, 0.1, 0.1)).surface())])
def test_contained_shape_has_a_depth(guest: Any) -> None:
    """No surfaces intersect: B is in the tube of the torus."""
    result = gk.signed_distance(TORUS, guest, None, at(1.0, 0.02, 0.05), depth="fast")
    tight = gk.signed_distance(TORUS, guest, None, at(1.0, 0.02, 0.05))
    assert result.status == gk.Status.OVERLAPPING
    assert 0.2 < -result.upper <= tight.depth * (1.0 + 1e-9)
    assert tight.depth <= result.depth * (1.0 + 1e-9) < 1.5 * tight.depth
    outer = gk.signed_distance(guest, TORUS, None, at(-1.0, 0.02, 0.05), depth="fast")
    assert outer.status == gk.Status.OVERLAPPING


@pytest.mark.parametrize("seed", range(60))
def test_points_are_on_the_surfaces_or_their_middle_is_common(seed: int) -> None:
    """The inner ball of the box can reach into the mesh although its centre is outside."""
    rng, mesh = np.random.default_rng(seed), an_l()
    box, centre = gk.Box(rng.uniform(0.6, 2.4, 3)), rng.uniform(-0.6, 5.0, 3)
    result = gk.signed_distance(mesh, box, None, at(*centre), depth="fast")
    if result.status != gk.Status.OVERLAPPING:
        return
    middle = 0.5 * (result.point_a + result.point_b)
    points = np.stack([result.point_a, middle])
    on_a, depth_in_a = mesh.signed_distances(points).distance
    on_b, depth_in_b = box.signed_distances(np.stack([result.point_b, middle]) - centre).distance
    assert max(abs(on_a), abs(on_b)) < 1e-9 or max(depth_in_a, depth_in_b) < 1e-9


def test_translation_separates_far_from_the_origin() -> None:
    """The proven gap after the translation covers the rounding at a distance of a million sizes."""
    away = np.array([1e6, -2e6, 3e6])
    far = gk.Mesh(TORUS.vertices + away, TORUS.faces)
    for guest in ("ball", "capsule", "hull", "mesh"):
        poses = moved(overlapping(TORUS, GUESTS[guest], np.random.default_rng(9), 30), away)
        result = gk.signed_distance(far, GUESTS[guest], None, poses, depth="fast")
        assert not gk.collide(far, GUESTS[guest], None, moved(poses, result.separation_vector)).any()


@pytest.mark.full
@given(st.integers(0, 2**32 - 1), st.floats(-9.0, 9.0))
def test_laws_at_every_scale(seed: int, decade: float) -> None:
    rng, scale = np.random.default_rng(seed), 10.0**decade
    a = gk.Mesh(TORUS.vertices * scale, TORUS.faces)
    b = (
        gk.ConvexHull(rng.normal(size=(10, 3)) * 0.2 * scale),
        gk.Capsule(0.1 * scale, 0.4 * scale),
        gk.Mesh(TORUS.vertices * 0.3 * scale, TORUS.faces),
    )[rng.integers(3)]
    pose = anywhere(rng, 0.9)
    pose[:3, 3] *= scale
    result, tight = gk.signed_distance(a, b, None, pose, depth="fast"), gk.signed_distance(a, b, None, pose)
    assert result.lower <= result.distance <= result.upper
    assert result.lower <= tight.upper + 1e-13 * scale
    assert tight.lower <= result.upper + 1e-13 * scale
    assert (result.distance > 0.0) == (tight.distance > 0.0)
    assert not gk.collide(a, b, None, moved(pose, result.separation_vector * (1.0 + 1e-12)))


def test_verify_accepts_fast_depths_and_refuses_wrong_ones() -> None:
    """`gjk3d.verify` proves both bounds in rational arithmetic: by a translation, and by two parts or a deep point."""
    rng = np.random.default_rng(12)
    for host, guest in product(("shelf", "compound", "small ring"), ("ball", "capsule", "hull", "compound")):
        a, b = HOSTS[host], GUESTS[guest]
        pose = overlapping(a, b, rng, 1)[0]
        result = gk.signed_distance(a, b, None, pose, depth="fast")
        verdict = gk.verify(result, a, b, None, pose)
        assert verdict, (host, guest, verdict)
        longer = gk.signed_distance(a, b, None, pose, depth="fast")
        longer.lower = longer.distance = 0.5 * longer.upper
        assert not gk.verify(longer, a, b, None, pose)


def posed(a: Any, b: Any, pose: Array) -> tuple[fast.Posed, TreeScratch]:
    """Return two bodies prepared for the kernels, and scratch memory."""
    w, first, second = new_tree_scratch(), fast.fast_body(parts_of(a)), fast.fast_body(parts_of(b))
    x = two_at(first.parts, second.parts, pose_rows(np.eye(4))[0][0], pose_rows(pose)[0][0])
    return fast._posed(first, second, isinstance(a, gk.Mesh) and isinstance(b, gk.Mesh), x, False, w), w


@pytest.mark.parametrize("guest", ["capsule", "mesh"])
def test_query_stops_when_its_work_is_used_up(guest: str) -> None:
    s, w = posed(TORUS, GUESTS[guest], at(1.2, 0.1, 0.1))
    pairs = np.zeros((4, 2), dtype=np.int64)
    for work in (1, 3, 10):
        count, left = fast.list_overlaps(s, s.x, s.planes, 0, work, w, pairs)
        assert count == left == 0
    count, left = fast.list_overlaps(s, s.x, s.planes, 0, 10_000, w, pairs)
    assert count == 4
    assert left > 0
    w.last[0] = -1
    assert fast.query(s, (0.0, 0.0, 3.0), 0, 10_000, w)[0] == APART
    assert fast.query(s, (0.0, 0.0, 0.01), 0, 2, w) == (DOUBT, 0)


@pytest.mark.parametrize("guest", ["mesh", "hull"])
def test_query_requires_a_gap_of_several_roundings(guest: str) -> None:
    """A gap that suffices for a collision query is too small, as the caller moves B and rounds again."""
    slab = surface_of(np.array([[(-4, -4, -1), (4, 4, 0)]]), 1.0)
    box = gk.Mesh(*gk.Box((1, 1, 1)).surface()) if guest == "mesh" else gk.Box((1, 1, 1))
    for errors, code in ((4.0, MEET), (12.0, APART)):
        s, w = posed(slab, box, at(0.0, 0.0, 0.5))
        assert fast.query(s, (0.0, 0.0, errors * s.x.error), 0, 10_000, w)[0] == code


def test_search_planes_separate_boxes_only_beyond_rounding() -> None:
    slab = surface_of(np.array([[(-4, -4, -1), (4, 4, 0)]]), 1.0)
    for guest in (gk.Box((1, 1, 1)), gk.Mesh(*gk.Box((1, 1, 1)).surface())):
        for errors, parted in ((4.0, False), (12.0, True)):
            s, w = posed(slab, guest, at(0.0, 0.0, 0.5))
            x, planes = shifted(s.x, (0.0, 0.0, errors * s.x.error)), s.planes
            fast.set_plane(planes[0], (0.0, 0.0, 1.0), 0.0)
            planes[0, fast.END] = bottom_along(x, 0, (0.0, 0.0, 1.0), w)
            single = fast.is_single(x.b)
            assert fast._are_parted(x, 0, 0, 8.0 * x.error, single, planes, 1) == parted


def test_lower_bound_includes_a_margin_for_rounding() -> None:
    """The bound of a ball about a point of a cube, and of two parts, is less than the exact depth."""
    cube = surface_of(np.array([[(-4, -4, -4), (4, 4, 4)]]), 0.1)
    s, w = posed(cube, gk.Sphere(0.1), at(0.0, 0.0, 0.25))
    low, n, height = fast._probe(s.x, s.x.a, (0.0, 0.0, 0.25), 0.1, w)
    side = float(cube.bounds[1, 2])
    assert 0.0 < Fraction(side) - Fraction(0.25) + Fraction(0.1) - Fraction(low) < Fraction(16.0 * s.x.error)
    assert n == pytest.approx((0, 0, 1), abs=1e-12)
    assert height == pytest.approx(side, abs=1e-15)
    outside = fast._probe(s.x, s.x.a, (0.0, 0.0, side + 0.05), 0.1, w)
    assert outside[0] == pytest.approx(0.05, abs=1e-12)
    assert outside[1] == pytest.approx((0, 0, 1), abs=1e-12)
    box = gk.Compound([(gk.Box((1, 1, 1)), None), (gk.Box((1, 1, 1)), at(3.0, 0.0, 0.0))])
    s, w = posed(box, gk.Box((1, 1, 1)), at(0.0, 0.0, 0.9))
    _, most, least = fast.pair_depth(s.x, 0, 0, w)
    assert Fraction(least) < 1 - Fraction(0.9) <= Fraction(most)


@pytest.mark.parametrize("far", [(0.0, 0.0, 0.0), (3.0, -2.0, 1.0), (0.0, 6.0, 0.0)])
@pytest.mark.parametrize("kind", ["triangle", "segment", "tetrahedron", "hull", "rounded"])
def test_bounds_hold_for_shapes_away_from_their_origin(kind: str, far: tuple[float, float, float]) -> None:
    """The centre of such a shape may be the origin of its frame, which is outside of the shape."""
    rng = np.random.default_rng(7)
    corners = rng.uniform(-1, 1, (6, 3)) + far
    guest: Any = {
        "triangle": lambda: gk.Triangle(corners[:3]),
        "segment": lambda: gk.Segment(*corners[:2]),
        "tetrahedron": lambda: gk.Tetrahedron(corners[:4]),
        "hull": lambda: gk.ConvexHull(corners),
        "rounded": lambda: gk.ConvexHull(corners).inflated(0.25),
    }[kind]()
    (v, f, *_), (w, *_) = gk.Box((10, 10, 10)).surface(), gk.Box((2, 2, 2)).surface()
    boxes = gk.Mesh(np.vstack([v, w + (20, 0, 0)]), np.vstack([f, f + len(v)]))
    poses = np.tile(np.eye(4), (60, 1, 1))
    poses[:, :3, 3] = rng.uniform(-7, 7, (60, 3)) - far
    poses[::3, 0, 3] += 20.0
    for a, b, pa, pb in ((boxes, guest, None, poses), (guest, boxes, poses, None)):
        quick = gk.signed_distance(a, b, pa, pb, depth="fast")
        tight = gk.signed_distance(a, b, pa, pb)
        assert (quick.lower <= tight.upper).all()
        assert (tight.lower <= quick.upper).all()
    tetrahedron = gk.Tetrahedron([(6, 0, -1), (4, 1, -1.0), (4, 0, 1), (4, -1, -1)])
    assert gk.signed_distance(boxes, tetrahedron, depth="fast").upper >= -1.0 - 1e-11
