"""Volumes hold their shapes, proven in numbers with more digits, and waste little."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import naive
import numpy as np
import pytest
import strategies
from strategies import SHAPES
from words import assert_names

import gjk3d as gk
from gjk3d.errors import PoseError, ShapeError, UnboundedShapeError, UnsupportedPair
from gjk3d.poses import pose_rows
from tests.hardening import oriented

LONG = np.longdouble
DIRECTIONS = np.vstack([np.eye(3), -np.eye(3), naive.unit_vectors(np.random.default_rng(11), 3000)]).astype(LONG)


def norm(d):
    return np.sqrt((d * d).sum(axis=-1))


def rotation(pose):
    """The rotation that a pose means: its matrix after one polar step."""
    return pose_rows(pose)[0][0, :9].reshape(3, 3).astype(LONG)


def height(spec, d):
    """max over the shape of d.x in 64 bits of mantissa, from the shape's definition."""
    kind, *n = spec
    if kind in ("point", "segment", "triangle", "tetrahedron", "hull"):
        points = np.vstack([np.reshape(x, (-1, 3)) for x in n]).astype(LONG)
        return (d @ points.T).max(axis=1)
    if kind == "sphere":
        return LONG(n[0]) * norm(d)
    if kind == "box":
        return np.abs(d) @ (np.asarray(n[0], LONG) / 2)
    if kind == "ellipsoid":
        return norm(d * np.asarray(n[0], LONG))
    if kind == "sum":
        return sum(height(part, d) for part in n)
    if kind == "union":
        return np.max([height(part, d) for part in n], axis=0)
    if kind == "inflated":
        return height(n[0], d) + LONG(n[1]) * norm(d)
    if kind == "sum":
        return height(n[0], d) + height(n[1], d)
    if kind == "union":
        return np.maximum(height(n[0], d), height(n[1], d))
    if kind == "scaled":
        return height(n[0], d * np.asarray(n[1], LONG))
    if kind == "placed":
        return height(n[0], d @ rotation(n[1])) + d @ np.asarray(n[1][:3, 3], LONG)
    r, h = LONG(n[0]), LONG(n[1]) / 2
    across, up = norm(d[:, :2]), d[:, 2]
    if kind == "capsule":
        return h * np.abs(up) + r * norm(d)
    if kind == "cylinder":
        return h * np.abs(up) + r * across
    assert kind == "cone"
    return np.maximum(h * up, r * across - h * up)


TURNS, PLACES = naive.random_rotations(np.random.default_rng(12), 4), np.random.default_rng(13).normal(size=(4, 3))
POSES = [None, *(naive.pose(TURNS[k], PLACES[k] * far) for k, far in enumerate((0, 1, 1e3, 1e6)))]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("pose", POSES, ids=["none", "turned", "near", "far", "very far"])
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_volumes_hold_every_shape(name, pose, scale):
    spec = strategies.rescaled(SHAPES[name], scale)
    if pose is not None:
        pose = naive.pose(pose[:3, :3], pose[:3, 3] * scale)
    shape = strategies.build(spec)
    placed = spec if pose is None else ("placed", spec, pose)
    size = LONG(shape._packed[1][4] + shape._packed[1][0]) + 4 * np.abs(shape._packed[1][1:4]).max()
    size += 0 if pose is None else np.abs(pose[:3, 3]).max()

    box = gk.aabb(shape, pose)
    high, low = height(placed, np.eye(3, dtype=LONG)), -height(placed, -np.eye(3, dtype=LONG))
    assert (high <= box.high).all()
    assert (low >= box.low).all()
    assert max((box.high - high).max(), (low - box.low).max()) <= 2e-14 * size

    box = gk.obb(shape, pose)
    normals = naive.inverse(box.pose[:3, :3].astype(LONG))  # the rows are the normals of a box with these edges
    middle = normals @ box.pose[:3, 3].astype(LONG)
    assert (height(placed, normals) - middle <= box.extents / 2).all()
    assert (height(placed, -normals) + middle <= box.extents / 2).all()
    slim = height(placed, normals) + height(placed, -normals)
    assert (box.extents - slim).max() <= 1e-13 * size

    ball = gk.bounding_sphere(shape, pose)
    d = DIRECTIONS / norm(DIRECTIONS)[:, None]
    reach = height(placed, d) - d @ ball.center.astype(LONG)
    assert (reach <= ball.radius + 8 * np.finfo(LONG).eps * size).all()  # the test rounds too
    assert reach.max() >= 0.99 * ball.radius - 1e-13 * size


FAR_HULL = ("hull", naive.unit_vectors(np.random.default_rng(12), 12) + 1e3)  #: stored about its own middle


@pytest.mark.parametrize("name", ["segment", "triangle", "tetrahedron", "box", "hull", "flat hull", "far hull"])
def test_balls_and_boxes_hold_every_vertex_in_rationals(name):
    shape = strategies.build({**SHAPES, "far hull": FAR_HULL}[name])
    for pose in POSES[1:]:
        turn = [[Fraction(float(x)) for x in row] for row in pose_rows(pose)[0][0, :9].reshape(3, 3)]
        shift = [Fraction(float(x)) for x in pose[:3, 3]]
        ball, box = gk.bounding_sphere(shape, pose), gk.aabb(shape, pose)
        for vertex in shape.vertices:
            local = [Fraction(float(x)) for x in vertex]
            point = [
                sum(a * b for a, b in zip(row, local, strict=True)) + t for row, t in zip(turn, shift, strict=True)
            ]
            square = sum((x - Fraction(float(c))) ** 2 for x, c in zip(point, ball.center, strict=True))
            assert square <= Fraction(ball.radius) ** 2
            assert all(float(a) <= x <= float(b) for a, x, b in zip(box.low, point, box.high, strict=True))


def test_volumes_hold_a_sum_far_from_the_origin_of_its_frame_in_rationals():
    rng = np.random.default_rng(13)
    for _ in range(20):
        far, ends = rng.normal(size=3) * 1e3, rng.normal(size=(2, 3))
        shape = gk.MinkowskiSum(gk.Point(far), gk.Segment(*ends))
        ball, box, slim = gk.bounding_sphere(shape), gk.aabb(shape), gk.obb(shape)
        points = naive.exact(ends) + naive.exact(far)
        assert all(v @ v <= Fraction(ball.radius) ** 2 for v in points - naive.exact(ball.center))
        assert (naive.exact(box.low) <= points).all()
        assert (points <= naive.exact(box.high)).all()
        axes, middle = naive.exact(slim.pose[:3, :3]), naive.exact(slim.pose[:3, 3])
        assert (2 * abs((points - middle) @ naive.inverse(axes).T) <= naive.exact(slim.extents)).all()


class RoughCylinder(gk.Cylinder):
    """A cylinder whose stored core may differ from it by 1/8."""

    __slots__ = ()

    def _slack(self):
        return 0.125


@pytest.mark.parametrize("fit", [gk.bounding_sphere, gk.aabb, gk.obb])
@pytest.mark.parametrize("pose", POSES[:3], ids=["none", "turned", "near"])
def test_volumes_grow_by_how_far_the_stored_core_may_differ_from_the_shape(fit, pose):
    plain, rough = fit(gk.Cylinder(0.5, 2), pose), fit(RoughCylinder(0.5, 2), pose)
    if fit is gk.bounding_sphere:
        assert rough.radius >= plain.radius + 0.125
    else:
        grown = rough.high - plain.high if fit is gk.aabb else 0.5 * (rough.extents - plain.extents)
        assert grown.min() > 0.125 - 1e-14


def test_what_is_exact_stays_exact():
    assert gk.aabb(gk.Box((1, 2, 3))) == gk.AABB((-0.5, -1, -1.5), (0.5, 1, 1.5))
    assert gk.aabb(gk.Sphere(0.1)).high.tolist() == [0.1] * 3
    assert gk.bounding_sphere(gk.Sphere(0.1)) == gk.BoundingSphere((0, 0, 0), 0.1)
    assert gk.obb(gk.Box((0.1, 2, 3))) == gk.OBB(np.eye(4), (0.1, 2, 3))
    assert gk.aabb(gk.Point((0.1, 0.2, 0.3))).volume == 0.0


def test_a_stack_of_poses_and_a_list_of_shapes_are_the_same_volumes(rng):
    shapes = [strategies.build(spec) for spec in SHAPES.values()]
    poses = np.tile(np.eye(4), (len(shapes), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = naive.random_rotations(rng, len(shapes)), rng.normal(size=(len(shapes), 3))
    for fit in (gk.bounding_sphere, gk.aabb, gk.obb):
        mixed, plain = fit(shapes, poses), fit(shapes)
        assert len(mixed) == len(plain) == len(shapes)
        for k, shape in enumerate(shapes):
            assert mixed[k] == fit(shape, poses[k])
            assert plain[k] == fit(shape)
        stack = fit(shapes[9], poses)
        assert all(stack[k] == fit(shapes[9], poses[k]) for k in range(len(poses)))
        assert len(fit(shapes[9], poses[:0])) == 0
        assert fit(shapes, poses[0])[3] == fit(shapes[3], poses[0])


@pytest.mark.parametrize("solid", [gk.Cylinder(0.4, 1), gk.Capsule(0.2, 1), gk.Cone(0.5, 2), gk.Ellipsoid((1, 2, 3))])
def test_balls_of_stretched_and_turned_solids_are_nearly_as_small(solid, rng):
    turned = solid.placed(naive.pose(naive.random_rotations(rng, 1)[0], (5.0, 1.0, 2.0)))
    assert gk.bounding_sphere(turned).radius <= gk.bounding_sphere(solid).radius * 1.002


def test_the_smallest_box_of_a_tetrahedron_is_flush_with_no_face(rng):
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
    for turn in naive.random_rotations(rng, 5):
        assert gk.obb(gk.Tetrahedron(corners @ turn.T)).volume == pytest.approx(8.0, rel=1e-12)


def test_the_box_of_a_scaled_capsule_has_axes_that_are_a_rotation():
    shape = gk.Capsule(0.94, 0.6).scaled((0.6, 1.5, 1.4))
    assert oriented.fault(shape) == ""
    assert gk.obb(shape.inflated(0.1)).volume > gk.obb(shape).volume


@pytest.mark.parametrize("count", [15, pytest.param(200, marks=pytest.mark.full)])
def test_boxes_of_scaled_capsules_have_no_fault(count):
    assert oriented.faults(count, seed=count) == []


@pytest.mark.parametrize(
    ("fit", "what"),
    [(gk.aabb, "axis-aligned"), (gk.obb, "oriented"), (gk.bounding_sphere, "sphere")],
)
def test_what_has_no_end_is_refused_by_the_name_of_what_was_asked(fit, what):
    for pose in (None, np.eye(4)):
        with pytest.raises(UnboundedShapeError, match=rf"Plane\b.*\b{what}\b.*large Box"):
            fit(gk.Plane((0, 0, 1)), pose)


def test_bad_input_is_named():
    for fit in (gk.bounding_sphere, gk.aabb, gk.obb):
        with pytest.raises(UnboundedShapeError, match="large Box"):
            fit(gk.Halfspace((0, 0, 1), 0))
        with pytest.raises(UnboundedShapeError, match="large Box"):
            fit([gk.Sphere(1), gk.Halfspace((0, 1, 1), 0)])
        with pytest.raises(UnboundedShapeError, match=r"HeightField.*gjk3d\.Mesh\(\*field\.surface\(\)\)"):
            fit(gk.HeightField(np.zeros((2, 2)), 1.0))
        with pytest.raises(UnsupportedPair, match=r"shape\[1\].*\bstr\b"):
            fit([gk.Sphere(1), "ball"])
        with pytest.raises(ShapeError, match=r"shapes\b.*\bempty\b"):
            fit([])
        with pytest.raises(ShapeError) as caught:
            fit([gk.Sphere(1), gk.Sphere(2)], np.tile(np.eye(4), (3, 1, 1)))
        assert_names(caught.value, "3 poses", "2 shapes")
        with pytest.raises(PoseError) as caught:
            fit(gk.Sphere(1), np.eye(3))
        assert_names(caught.value, "(3, 3)", "(n, 4, 4)")


@pytest.mark.parametrize("name", SHAPES)
def test_one_pose_in_any_clothes_and_in_a_stack_gives_the_same_bits(name):
    shape = strategies.build(SHAPES[name])
    for pose in POSES[1:]:
        locked = pose.copy()
        locked.setflags(write=False)
        for fit in (gk.bounding_sphere, gk.aabb, gk.obb):
            one, stack = fit(shape, pose), fit(shape, np.array([pose, np.eye(4)]))
            others = [fit(shape, other) for other in (locked, pose.tolist(), np.asfortranarray(pose))]
            others += [stack[0], fit(shape, pose[None])[0], fit([shape], pose)[0], fit(shape, pose)]
            for other in others:
                assert other == one
                for field in one._names:
                    mine, theirs = (np.asarray(getattr(volume, field)) for volume in (one, other))
                    assert mine.tobytes() == theirs.tobytes()
                    assert mine.shape == theirs.shape
            assert stack[1] == fit(shape, np.eye(4))


def test_a_pose_that_is_none_is_named_also_by_the_quick_way():
    far = np.eye(4)
    far[0, 3] = 1e51
    for bad, fragments in (
        (np.eye(4) * 2, ("last row", "[0.0, 0.0, 0.0, 2.0]")),
        (np.diag([2.0, 2, 2, 1]), ("(2, 2, 2)", "shape.scaled")),
        (np.diag([1.0, 1, -1, 1]), ("determinant -1", "shape.scaled((-1, 1, 1))")),
        (
            np.full((4, 4), np.nan),
            (
                "[0, 0]",
                "nan",
            ),
        ),
        (far, ("1e+51", "1e+50")),
    ):
        for fit in (gk.bounding_sphere, gk.aabb, gk.obb):
            for shape in (gk.Box((1, 2, 3)), gk.Cone(1, 2)):
                with pytest.raises(PoseError) as caught:
                    fit(shape, bad)
                assert_names(caught.value, *fragments)
    edge = np.eye(4)
    edge[0, 3] = 1e50
    with pytest.raises(ShapeError, match=r"AABB: high.* 1e\+50"):
        gk.aabb(gk.Box((1e50, 1, 1)), edge)


def test_volumes_read_late_are_values_like_others():
    pose = POSES[2]
    for fit in (gk.bounding_sphere, gk.aabb, gk.obb):
        for ask in (repr, hash, pickle.dumps, copy.copy):
            volume = fit(gk.Cone(1, 2), pose)
            assert ask(volume) is not None
            assert volume == fit(gk.Cone(1, 2), pose)
            assert pickle.loads(pickle.dumps(volume)) == volume
            first = getattr(volume, volume._names[0])
            assert first is getattr(volume, volume._names[0])
            with pytest.raises(ValueError, match="read-only"):
                first[0] = 1.0
            with pytest.raises(AttributeError, match="'radii'"):
                getattr(volume, "radii")  # noqa: B009
            with pytest.raises(AttributeError, match="immutable"):
                volume.center = 1
            assert volume.placed(pose)._names == volume._names
        assert fit(gk.Cone(1, 2)) == fit(gk.Cone(1, 2))


@pytest.mark.parametrize("volume", [gk.bounding_sphere, gk.aabb])
def test_one_has_the_zeros_of_a_stack(volume):
    pose = np.eye(4)
    pose[:3, :3] = -np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]) @ np.diag([1.0, 1, -1])
    pose[:3, 3] = -0.0
    pose[0, 3] = 1.0
    for shape in (gk.Point(), gk.Sphere(1)):
        one, stack = volume(shape, pose), volume(shape, pose[None])[0]
        for name in type(one)._names:
            assert np.asarray(getattr(one, name)).tobytes() == np.asarray(getattr(stack, name)).tobytes()
