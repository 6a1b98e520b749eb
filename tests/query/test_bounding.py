"""Bounding volumes contain their shapes, checked in higher precision, and are tight."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import naive
import numpy as np
import pytest
import strategies
from message_checks import assert_names
from strategies import SHAPES

import gjk3d as gk
from gjk3d.errors import PoseError, ShapeError, UnboundedShapeError, UnsupportedPair
from gjk3d.poses import pose_rows
from tests.hardening import oriented

LONG = np.longdouble
DIRECTIONS = np.vstack([np.eye(3), -np.eye(3), naive.unit_vectors(np.random.default_rng(11), 3000)]).astype(LONG)


def norm(d):
    return np.sqrt((d * d).sum(axis=-1))


def rotation(pose):
    """Return the rotation of a pose, its matrix after one polar step, in extended precision."""
    return pose_rows(pose)[0][0, :9].reshape(3, 3).astype(LONG)


def height(spec, d):
    """Return the support function of a shape along d in extended precision, from the definition of the shape."""
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
def test_volumes_contain_every_shape_tightly(name, pose, scale):
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
    # the edges are orthogonal only up to rounding, so the normals are the rows of the inverse
    normals = naive.inverse(box.pose[:3, :3].astype(LONG))
    middle = normals @ box.pose[:3, 3].astype(LONG)
    assert (height(placed, normals) - middle <= box.extents / 2).all()
    assert (height(placed, -normals) + middle <= box.extents / 2).all()
    slim = height(placed, normals) + height(placed, -normals)
    assert (box.extents - slim).max() <= 1e-13 * size

    ball = gk.bounding_sphere(shape, pose)
    d = DIRECTIONS / norm(DIRECTIONS)[:, None]
    reach = height(placed, d) - d @ ball.center.astype(LONG)
    assert (reach <= ball.radius + 8 * np.finfo(LONG).eps * size).all()  # the reference is rounded, too
    assert reach.max() >= 0.99 * ball.radius - 1e-13 * size


#: its vertices are stored relative to its centre
FAR_HULL = ("hull", naive.unit_vectors(np.random.default_rng(12), 12) + 1e3)


@pytest.mark.parametrize("name", ["segment", "triangle", "tetrahedron", "box", "hull", "flat hull", "far hull"])
def test_balls_and_boxes_contain_every_vertex_exactly(name):
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


def test_volumes_contain_a_sum_far_from_its_origin_exactly():
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
    """Cylinder whose stored core is declared to differ from the shape by up to 1/8."""

    __slots__ = ()

    def _slack(self):
        return 0.125


@pytest.mark.parametrize("fit", [gk.bounding_sphere, gk.aabb, gk.obb])
@pytest.mark.parametrize("pose", POSES[:3], ids=["none", "turned", "near"])
def test_volumes_grow_by_the_error_of_the_stored_core(fit, pose):
    plain, rough = fit(gk.Cylinder(0.5, 2), pose), fit(RoughCylinder(0.5, 2), pose)
    if fit is gk.bounding_sphere:
        assert rough.radius >= plain.radius + 0.125
    else:
        grown = rough.high - plain.high if fit is gk.aabb else 0.5 * (rough.extents - plain.extents)
        assert grown.min() > 0.125 - 1e-14


def test_volumes_of_simple_shapes_are_exact():
    assert gk.aabb(gk.Box((1, 2, 3))) == gk.AABB((-0.5, -1, -1.5), (0.5, 1, 1.5))
    assert gk.aabb(gk.Sphere(0.1)).high.tolist() == [0.1] * 3
    assert gk.bounding_sphere(gk.Sphere(0.1)) == gk.BoundingSphere((0, 0, 0), 0.1)
    assert gk.obb(gk.Box((0.1, 2, 3))) == gk.OBB(np.eye(4), (0.1, 2, 3))
    assert gk.aabb(gk.Point((0.1, 0.2, 0.3))).volume == 0.0


def test_stacks_equal_single_volumes(rng):
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
def test_ball_of_a_placed_shape_is_nearly_as_small(solid, rng):
    turned = solid.placed(naive.pose(naive.random_rotations(rng, 1)[0], (5.0, 1.0, 2.0)))
    assert gk.bounding_sphere(turned).radius <= gk.bounding_sphere(solid).radius * 1.002


def test_smallest_box_of_a_tetrahedron_is_not_aligned_with_a_face(rng):
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
    for turn in naive.random_rotations(rng, 5):
        assert gk.obb(gk.Tetrahedron(corners @ turn.T)).volume == pytest.approx(8.0, rel=1e-12)


def test_box_of_a_scaled_capsule_is_valid():
    shape = gk.Capsule(0.94, 0.6).scaled((0.6, 1.5, 1.4))
    assert oriented.fault(shape) == ""
    assert gk.obb(shape.inflated(0.1)).volume > gk.obb(shape).volume


@pytest.mark.parametrize("count", [15, pytest.param(200, marks=pytest.mark.full)])
def test_boxes_of_random_scaled_capsules_are_valid(count):
    assert oriented.faults(count, seed=count) == []


@pytest.mark.parametrize(
    ("fit", "what"),
    [(gk.aabb, "axis-aligned"), (gk.obb, "oriented"), (gk.bounding_sphere, "sphere")],
)
def test_unbounded_shape_raises_with_the_name_of_the_volume(fit, what):
    for pose in (None, np.eye(4)):
        with pytest.raises(UnboundedShapeError, match=rf"Plane\b.*\b{what}\b.*large Box"):
            fit(gk.Plane((0, 0, 1)), pose)


def test_invalid_input_raises():
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
def test_volume_is_independent_of_the_type_of_the_pose(name):
    shape = strategies.build(SHAPES[name])
    for pose in POSES[1:]:
        locked = pose.copy()
        locked.setflags(write=False)
        for fit in (gk.bounding_sphere, gk.aabb, gk.obb):
            expected, stack = fit(shape, pose), fit(shape, np.array([pose, np.eye(4)]))
            results = [fit(shape, equal_pose) for equal_pose in (locked, pose.tolist(), np.asfortranarray(pose))]
            results += [stack[0], fit(shape, pose[None])[0], fit([shape], pose)[0], fit(shape, pose)]
            for result in results:
                assert result == expected
                for field in expected._names:
                    x, y = (np.asarray(getattr(volume, field)) for volume in (expected, result))
                    assert x.tobytes() == y.tobytes()
                    assert x.shape == y.shape
            assert stack[1] == fit(shape, np.eye(4))


def test_invalid_pose_raises_for_single_volumes():
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


def test_lazily_read_volumes_are_immutable_values():
    pose = POSES[2]
    for fit in (gk.bounding_sphere, gk.aabb, gk.obb):
        for operation in (repr, hash, pickle.dumps, copy.copy):
            volume = fit(gk.Cone(1, 2), pose)
            assert operation(volume) is not None
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
def test_signs_of_zeros_equal_those_of_a_stack(volume):
    pose = np.eye(4)
    pose[:3, :3] = -np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]) @ np.diag([1.0, 1, -1])
    pose[:3, 3] = -0.0
    pose[0, 3] = 1.0
    for shape in (gk.Point(), gk.Sphere(1)):
        single, row = volume(shape, pose), volume(shape, pose[None])[0]
        for name in type(single)._names:
            assert np.asarray(getattr(single, name)).tobytes() == np.asarray(getattr(row, name)).tobytes()
