"""`verify` for results of non-convex bodies: true results are proven part by part, and false results are not."""

from __future__ import annotations

import copy
from fractions import Fraction

import naive
import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.exact import cuts
from gjk3d.exact.arithmetic import fractions, in_integers
from gjk3d.exact.convex_sets import body_of, of_points, place_all, translation
from gjk3d.exact.cuts import ClosedSurface, Union, find_cut, find_pair, flaws_of_cut, is_closed
from gjk3d.exact.cuts import _top as highest_of
from tests.bodies.every_kind import BOUNDED
from tests.bodies.random_shapes import at
from tests.exact.messages import FLAWS, REASONS

OTHERS = {
    "box": gk.Box((0.5, 0.6, 0.7)),
    "sphere": gk.Sphere(0.4),
    "cone": gk.Cone(0.4, 0.8),
    **{name: make().body for name, make in BOUNDED.items()},
}
PLACES = {"far": at(0.3, 0.4, 4.5), "near": at(0.3, 0.4, 0.8), "aside": at(1.5, 1.6, 0.3)}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", BOUNDED)
def test_results_of_every_pair_of_kinds_are_proven(name, other, place):
    body, shape, pose = BOUNDED[name](1).body if name != "solid" else BOUNDED[name]().body, OTHERS[other], PLACES[place]
    for query in (gk.distance, gk.signed_distance):
        result = query(body, shape, at(0.1, 0.2, 0.3), pose)
        verdict = gk.verify(result, body, shape, at(0.1, 0.2, 0.3), pose)
        assert not verdict.refuted
        assert verdict.proven, verdict
        assert verdict.lower <= result.lower or result.lower == 0.0
        assert verdict.upper <= result.upper
        swapped = query(shape, body, pose, at(0.1, 0.2, 0.3))
        assert gk.verify(swapped, shape, body, pose, at(0.1, 0.2, 0.3)).proven


@given(
    name=st.sampled_from(sorted(set(BOUNDED) - {"solid"})),
    other=st.sampled_from(sorted(OTHERS)),
    seed=st.integers(0, 2**31),
    size=st.sampled_from([1.0, 1e-9, 1e9]),
    far=st.sampled_from([0.0, 1e6]),
)
def test_true_results_are_not_refuted(name, other, seed, size, far):
    rng = np.random.default_rng(seed)
    body = BOUNDED[name](seed, size).body
    body_b = (
        OTHERS[other].scaled(size)
        if not isinstance(OTHERS[other], gk.Compound | gk.VoxelGrid | gk.PointCloud)
        else body
    )
    poses = [naive.pose(naive.random_rotations(rng, 1)[0], size * (rng.normal(size=3) + far)) for _ in range(2)]
    result = gk.distance(body, body_b, *poses)
    verdict = gk.verify(result, body, body_b, *poses)
    assert not verdict.refuted, verdict


def changed(result, **fields):
    copied = copy.copy(result)
    for name, value in fields.items():
        setattr(copied, name, value)
    return copied


@pytest.fixture
def separated():
    return gk.signed_distance(OTHERS["compound"], OTHERS["solid"], None, PLACES["far"])


def test_wrong_bounds_are_refuted(separated):
    def judged(**fields):
        result = changed(separated, **fields)
        return gk.verify(result, OTHERS["compound"], OTHERS["solid"], None, PLACES["far"])

    d, n = separated.distance, separated.normal
    assert judged().proven
    more = {"distance": d + 1e-6, "lower": d + 1e-6, "upper": d + 1e-6, "point_b": separated.point_b + 1e-6 * n}
    less = {"distance": d - 1e-6, "lower": d - 1e-6, "upper": d - 1e-6, "point_b": separated.point_b - 1e-6 * n}
    for wrong in (more, less):
        assert judged(**wrong).refuted
    assert judged(lower=0.0, status=gk.Status.TOUCHING).refuted
    assert judged(normal=-n).refuted
    assert judged(normal=2.0 * n).refuted
    assert not judged(point_a=separated.point_a + 0.5, point_b=separated.point_b + 0.5).proven
    assert judged(upper=np.nan).refuted
    verdict = gk.verify(separated, OTHERS["cloud"], OTHERS["solid"], None, PLACES["far"])
    assert verdict.refuted
    assert REASONS["shape"] in verdict.reasons[0]
    assert not gk.verify(separated, OTHERS["compound"], OTHERS["solid"], None, at(0.3, 0.4, 4.4)).proven


@pytest.mark.parametrize("query", [gk.distance, gk.signed_distance])
def test_false_overlaps_and_false_separations_are_refuted(query):
    body, ball = OTHERS["compound"], OTHERS["sphere"]
    deep, far = (query(body, ball, None, pose) for pose in (at(0, 0, 0), at(0, 0, 5)))
    assert gk.verify(deep, body, ball, None, at(0, 0, 0)).proven
    assert gk.verify(deep, body, ball, None, at(0, 0, 5)).refuted
    assert gk.verify(far, body, ball, None, at(0, 0, 0)).refuted


@pytest.mark.parametrize("bottom", [-np.inf, -2.0])
@pytest.mark.parametrize("normal", [(1, 0, 0), (0, -1, 0), (0, 0, -1), (0.28, 0, 0.96)])
def test_false_normals_of_touching_bodies_are_refuted(bottom, normal):
    ground, crate = gk.HeightField(np.zeros((12, 12)), 1.0, bottom=bottom), gk.Box((1, 1, 1))
    pose = at(4.5, 4.0, 0.5)
    touch = gk.signed_distance(ground, crate, None, pose)
    for point in (touch.point_a, np.array([4.0, 3.75, 0.0])):
        valid = changed(touch, point_a=point, point_b=point + touch.distance * touch.normal)
        assert gk.verify(valid, ground, crate, None, pose).proven
        invalid = changed(valid, normal=np.array(normal), point_b=point + touch.distance * np.array(normal))
        assert gk.verify(invalid, ground, crate, None, pose).refuted


def test_wrong_depths_are_not_proven():
    box = gk.Box((1, 1, 1))
    boxes = gk.Compound([(box, None), (box, at(2, 0, 0))])
    result = gk.signed_distance(boxes, box, None, at(0, 0, 0.75))
    assert result.tight
    assert gk.verify(result, boxes, box, None, at(0, 0, 0.75)).proven
    for by in (-1e-3, 1e-3):
        new = {name: getattr(result, name) + by for name in ("distance", "lower", "upper")}
        wrong = changed(result, **new, point_b=result.point_b + by * result.normal)
        verdict = gk.verify(wrong, boxes, box, None, at(0, 0, 0.75))
        assert not verdict.proven
        assert verdict.refuted == (by > 0)


def nested(outer, inner):
    """Return the mesh of a cube with edge ``outer`` that has a cubic cavity with edge ``inner``."""
    cube = gk.Box((1, 1, 1)).surface()
    corners = np.concatenate([outer * cube.vertices, inner * cube.vertices])
    return gk.Mesh(corners, np.concatenate([cube.faces, cube.faces[:, ::-1] + len(cube.vertices)]))


def test_shape_inside_a_solid_mesh_is_not_separated():
    ball, shell = gk.Sphere(0.2), nested(4.0, 2.0)
    solid = gk.Mesh(shell.vertices, shell.faces[:12])
    outside = gk.distance(shell, ball)
    assert outside.distance == pytest.approx(0.8)
    assert gk.verify(outside, shell, ball).proven
    # the distance from the surface is right, but the ball is inside the solid
    assert not gk.verify(changed(outside, shape_a=solid), solid, ball).proven
    inside = gk.distance(solid, ball)
    assert inside.status is gk.Status.OVERLAPPING
    assert gk.verify(inside, solid, ball).proven
    deep = gk.signed_distance(solid, ball)
    assert gk.verify(deep, solid, ball).proven
    surface = gk.Mesh(solid.vertices, solid.faces, solid=False)
    assert gk.verify(gk.distance(surface, ball), surface, ball).proven


@pytest.mark.parametrize("other", ["sphere", "cone", "box"])
def test_depths_of_convex_meshes_are_proven(other):
    rng = np.random.default_rng(3)
    for shape in (gk.Box((1, 2, 1)), gk.Sphere(0.7), gk.Cylinder(0.5, 1.5)):
        made = shape.surface(12)
        mesh = gk.Mesh(made.vertices, made.faces).placed(
            naive.pose(naive.random_rotations(rng, 1)[0], rng.normal(size=3))
        )
        pose = naive.pose(translation=mesh.bounds.mean(axis=0) + (0.3, 0.1, 0.2))
        result = gk.signed_distance(mesh, OTHERS[other], None, pose)
        assert result.status is gk.Status.OVERLAPPING
        verdict = gk.verify(result, mesh, OTHERS[other], None, pose)
        assert verdict.proven, verdict
        deeper = changed(result, upper=result.upper - 1e-6, distance=result.lower)
        assert not gk.verify(deeper, mesh, OTHERS[other], None, pose).proven


def test_small_shapes_in_the_hole_of_a_torus_are_proven():
    torus = gk.from_implicit(
        lambda x, y, z: (x * x + y * y + z * z + 0.6) ** 2 - 2.56 * (x * x + y * y), [(-1.3,) * 3, (1.3,) * 3], 0.1
    )
    for shape in (gk.Sphere(0.2), gk.Box((0.2, 0.2, 0.2)), gk.Cylinder(0.1, 1.0)):
        result = gk.distance(torus, shape)
        assert result.status is gk.Status.SEPARATED
        assert gk.verify(result, torus, shape).proven


def test_unsupported_arguments_raise_or_are_unprovable():
    ground, solid = gk.HeightField(np.zeros((3, 3)), 1.0), OTHERS["solid"]
    with pytest.raises(gk.errors.UnsupportedPair) as caught:
        gk.verify(gk.distance(solid, gk.Sphere(1)), ground, ground)
    assert_names(caught.value, "HeightFields", "bottom", "Mesh")
    with pytest.raises(gk.errors.UnsupportedPair) as caught:
        gk.verify(gk.distance(solid, gk.Halfspace((0, 0, 1), -5.0)), ground, gk.Halfspace((0, 0, 1), -5.0))
    assert_names(caught.value, "HeightField", "HeightField(..., bottom=z)")
    stack = np.stack([np.eye(4)] * 2)
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.verify(gk.distance(solid, solid), solid, solid, None, stack)
    assert_names(caught.value, "pose_b", "stack of 2")
    with pytest.raises(TypeError) as caught:
        gk.verify(gk.distance(solid, solid, None, stack), solid, solid)
    assert_names(caught.value, "verify: result is a stack", "verify(result[i]")
    user_defined = gk.Support(lambda d: 0.1 * np.sign(d), (0, 0, 0), 0.2)
    verdict = gk.verify(gk.distance(solid, user_defined, None, at(9, 9, 9)), solid, user_defined, None, at(9, 9, 9))
    assert not verdict.proven
    assert not verdict.refuted
    assert REASONS["unknown form"] in verdict.reasons[0]


# certificates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", BOUNDED)
def test_certificates_of_bodies_are_proofs_and_survive_replay(name, place, tmp_path):
    body, pose = BOUNDED[name]().body, PLACES[place]
    for kind_b in ("cone", "solid", "compound"):
        for query in (gk.distance, gk.signed_distance):
            body_b = OTHERS[kind_b]
            result = query(body, body_b, None, pose, certificate=True)
            plain = query(body, body_b, None, pose)
            assert (result.lower, result.upper, result.status) == (plain.lower, plain.upper, plain.status)
            assert gk.verify(result, body, body_b, None, pose).proven
            result.to_json(tmp_path / "case.json")
            replayed = gk.replay.run(tmp_path / "case.json")
            assert replayed.sameness is gk.replay.Sameness.SAME
            for certificate in (replayed.case.answer.certificate, replayed.now.certificate):
                for array, expected in zip(certificate, result.certificate, strict=True):
                    np.testing.assert_array_equal(array, expected)


def test_forged_certificates_of_parts_are_refuted():
    body, ball, pose = OTHERS["compound"], OTHERS["sphere"], at(0.6, 0.3, 1.9)
    for query, pose_b in ((gk.distance, pose), (gk.signed_distance, pose), (gk.signed_distance, at(0, 0, 0))):
        result = query(body, ball, None, pose_b, certificate=True)
        valid = result.certificate
        assert len(valid.parts) == 2
        assert not valid.normals.flags.writeable
        forged = [
            valid._replace(normals=-valid.normals),
            valid._replace(ranges=valid.ranges[1:], normals=valid.normals[1:]),
            valid._replace(parts=np.array([7, 0])),
            valid._replace(parts=np.array([0, -1])),
            valid._replace(parts=np.array([0.0, 0.0])),
            valid._replace(parts=np.array([[0, 0]])),
            valid._replace(order_a=valid.order_a[::-1][:1]),
        ]
        if result.lower > 0.0:
            forged += [valid._replace(parts=np.array([k, 0])) for k in range(5) if k != valid.parts[0]]
        for certificate in forged:
            verdict = gk.verify(changed(result, certificate=certificate), body, ball, None, pose_b)
            assert verdict.refuted, certificate
            assert REASONS["certificate"] in verdict.reasons[0]
    convex = gk.distance(gk.Sphere(1), ball, None, at(0, 0, 9), certificate=True).certificate
    verdict = gk.verify(changed(result, certificate=convex), body, ball, None, pose_b)
    (reason,) = verdict.reasons
    assert_names(reason, REASONS["certificate"], "a Certificate")


def test_unsupported_certificate_options_raise():
    solid, box = OTHERS["solid"], OTHERS["box"]
    with pytest.raises(gk.errors.ShapeError) as caught:
        gk.distance(solid, box, None, np.stack([np.eye(4)] * 2), certificate=True)
    assert_names(caught.value, "certificate=True", "one pair")
    with pytest.raises(gk.errors.UnsupportedPair, match="trace"):
        gk.distance(solid, box, certificate=True, trace=True)


# grounds, shells, half-spaces and planes ------------------------------------------------------------------------------


def grounds():
    rng = np.random.default_rng(5)
    heights = 0.5 * rng.random((4, 3))
    shell = BOUNDED["mesh"](3).body
    return {
        "endless": gk.HeightField(heights, (0.7, 0.4), (-1.0, -0.5)),
        "bottomed": gk.HeightField(heights, 0.6, (-1.0, -0.5), bottom=-0.4),
        "shell": gk.Shell(gk.Mesh(shell.vertices, shell.faces, solid=False), 0.2),
        "closed shell": gk.Shell(OTHERS["solid"], 0.2),
    }


def farther(result, by):
    return changed(result, lower=result.lower + by, distance=result.distance + by, upper=result.upper + by)


@pytest.mark.parametrize("kind", grounds())
def test_results_of_grounds_and_shells_are_verified(kind, tmp_path):
    ground, rng = grounds()[kind], np.random.default_rng(8)
    proven = []
    for k in range(12):
        body_b = OTHERS[("cone", "compound", "solid", "box")[k % 4]]
        pose = at(*rng.uniform(-0.5, 0.5, 2), 2.6 - 0.3 * k, rotation=Rotation.random(rng=rng))
        for query in (gk.distance, gk.signed_distance):
            result = query(ground, body_b, None, pose, certificate=True)
            verdict = gk.verify(result, ground, body_b, None, pose)
            assert not verdict.refuted, verdict
            proven.append(verdict.proven)
            moved = changed(
                result, distance=result.distance + 0.01, lower=result.lower + 0.01, upper=result.upper + 0.01
            )
            if result.status == gk.Status.SEPARATED:
                assert not gk.verify(moved, ground, body_b, None, pose).proven
        result.to_json(tmp_path / "case.json")
        assert gk.replay.run(tmp_path / "case.json").sameness is gk.replay.Sameness.SAME
    assert np.mean(proven) > 0.9


@pytest.mark.parametrize("half", [gk.Halfspace((0.1, 0.2, 1.0), 0.3), gk.Plane((0.1, 0.2, 1.0), 0.3)])
@pytest.mark.parametrize("name", [*BOUNDED, "bottomed", "shell"])
def test_results_with_half_spaces_and_planes_are_verified(name, half, tmp_path):
    body, rng = BOUNDED[name]().body if name in BOUNDED else grounds()[name], np.random.default_rng(2)
    seen = set()
    for z in (-4.0, -1.0, -0.4, 0.1, 0.7, 3.0):
        pose_of_half, pose = at(*rng.normal(size=3), rotation=Rotation.random(rng=rng)), at(0.1, 0.2, z)
        pose = pose_of_half @ pose
        for args in ((half, body, pose_of_half, pose), (body, half, pose, pose_of_half)):
            for query in (gk.distance, gk.signed_distance):
                result = query(*args, certificate=True)
                seen.add(result.status)
                assert gk.verify(result, *args).proven, gk.verify(result, *args)
                assert gk.verify(query(*args), *args).proven
                for wrong in (
                    changed(
                        result, lower=result.lower + 1e-6, distance=result.distance + 1e-6, upper=result.upper + 1e-6
                    ),
                    changed(result, normal=-result.normal),
                    changed(result, point_a=result.point_a + 1e-6, point_b=result.point_b + 1e-6),
                ):
                    is_wrong = query is gk.signed_distance or result.distance > 0.0
                    assert gk.verify(wrong, *args).refuted or not is_wrong
        result.to_json(tmp_path / "case.json")
        assert gk.replay.run(tmp_path / "case.json").sameness is gk.replay.Sameness.SAME
    assert {gk.Status.SEPARATED, gk.Status.OVERLAPPING} <= seen


# cuts ---------------------------------------------------------------------------------------------------------------


def balls(points):
    return Union([of_points([p]) for p in points])


def test_cuts_prove_lower_bounds_of_point_distances():
    rng = np.random.default_rng(0)
    for shift in (0.0, 1.0, 3.0):
        a, b = rng.normal(size=(60, 3)), rng.normal(size=(70, 3)) + (shift, 0, 0)
        exact = min(sum((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(p, q, strict=True)) for p in a for q in b)
        lower_bound = Fraction(float(exact) ** 0.5 * (1 - 1e-9))
        union_a, union_b = balls(a), balls(b)
        cut = find_cut(union_a, union_b, lower_bound, np.array([1.0, 0, 0]))
        assert flaws_of_cut(cut, union_a, union_b, lower_bound) == []
        assert len(cut.ranges) < 60 * 70
        assert flaws_of_cut(cut, union_a, union_b, lower_bound * Fraction(1001, 1000)) != []
        assert find_pair(union_a, union_b, lower_bound * Fraction(1001, 1000), np.array([1.0, 0, 0]))
        assert find_pair(union_a, union_b, lower_bound, np.array([1.0, 0, 0])) is None


def test_forged_cuts_prove_nothing():
    rng = np.random.default_rng(1)
    union_a, union_b = balls(rng.normal(size=(20, 3))), balls(rng.normal(size=(20, 3)))
    lower_bound = Fraction(1, 1000)
    cut = find_cut(union_a, union_b, lower_bound, np.array([1.0, 0, 0]))
    assert flaws_of_cut(cut, union_a, union_b, lower_bound) == []
    for k in range(len(cut.ranges)):
        left = cut._replace(ranges=np.delete(cut.ranges, k, axis=0), normals=np.delete(cut.normals, k, axis=0))
        assert flaws_of_cut(left, union_a, union_b, lower_bound) == [FLAWS["a pair left out"]]
    count = len(cut.normals)
    bad = [
        (("order_a", "20"), cut._replace(order_a=np.zeros(20, dtype=int))),
        (("order_b", "20"), cut._replace(order_b=cut.order_b[1:])),
        (("a missing part",), cut._replace(ranges=cut.ranges + 1)),
        (("a normal",), cut._replace(normals=0 * cut.normals)),
        ((f"{count} pairs", f"({count - 1}, 3)"), cut._replace(normals=cut.normals[1:])),
        (("plane", "parts of a"), cut._replace(normals=-cut.normals)),
    ]
    for fragments, forged in bad:
        assert_names(flaws_of_cut(forged, union_a, union_b, lower_bound)[0], *fragments)
    assert flaws_of_cut(cut._replace(normals=np.full_like(cut.normals, np.nan)), union_a, union_b, lower_bound)


def test_closed_surface_contains_interior_points():
    cube = gk.Box((2, 2, 2)).surface()
    corners = [tuple(tuple(int(c) for c in cube.vertices[k]) for k in face) for face in cube.faces]
    solid = ClosedSurface(corners, 2)  # the second argument divides the coordinates
    points = [
        (0, 0, 0),
        (Fraction(1, 3), 0, 0),
        (Fraction(1, 2), 0, 0),
        (Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)),
    ]
    assert [solid.holds(p) for p in points] == [True, True, None, None]
    assert solid.holds((1, 0, 0)) is False
    assert is_closed(cube.faces.tolist())
    assert not is_closed(cube.faces[1:].tolist())
    assert not is_closed([])


def random_union(rng, scale, off):
    """Return a union of tetrahedra, rounded tetrahedra and cones. Each tetrahedron occurs twice.

    The translation is rational, so some coordinates are not floats.
    """
    corners = [rng.normal(size=(4, 3)) for _ in range(6)]
    flat = [of_points(scale * c + off) for c in (*corners, *corners)]
    rounded = [part._replace(radius_low=Fraction(1, 3), radius_high=Fraction(1, 3)) for part in flat[:2]]
    curved = [body_of(gk.Cone(scale * rng.random(), scale)) for _ in range(3)]
    return Union(place_all([*flat, *rounded, *curved], translation((Fraction(1, 7), Fraction(2), Fraction(-1, 3)))))


@pytest.mark.parametrize("off", [0.0, 1e6, -1e12])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6, 1e-45])
def test_top_of_union_equals_maximum_over_parts(scale, off):
    rng = np.random.default_rng(3)
    union = random_union(rng, scale, off)
    directions = [
        *rng.normal(size=(8, 3)),
        np.array([0.0, 0.0, 1.0]),
        np.array([1e-310, 5e-324, 0.0]),
        np.full(3, 1e300),
    ]
    for n in directions:
        for which in (np.arange(len(union.parts)), np.array([7, 1, 13]), np.array([6, 0]), np.array([15])):
            direction, _ = in_integers(fractions(n))
            top = max(highest_of(union.parts[k], direction) for k in which)
            radius = max(union.parts[k].radius_high for k in which)
            assert union.top(which, n) == (top, radius)


@pytest.fixture
def ground_and_torus():
    torus = trimesh.creation.torus(1.0, 0.3, major_sections=16, minor_sections=8)
    heights = 0.3 * np.random.default_rng(0).random((20, 20))
    return gk.HeightField(heights, 0.2, (-2.0, -2.0), bottom=-1.0), gk.Mesh(torus.vertices, torus.faces)


def count_calls(monkeypatch, name):
    """Return a list that gets an item at each call of a function of `cuts`."""
    calls, original = [], getattr(cuts, name)
    monkeypatch.setattr(cuts, name, lambda *args: calls.append(name) or original(*args))
    return calls


def test_few_support_values_are_computed_exactly(ground_and_torus, monkeypatch):
    pose = at(0.1, 0.2, 1.0, rotation=Rotation.from_rotvec((0.3, 0.2, 0.1)))
    result = gk.signed_distance(*ground_and_torus, None, pose, certificate=True)
    calls = count_calls(monkeypatch, "_top")
    assert gk.verify(result, *ground_and_torus, None, pose).proven
    assert 0 < len(calls) < 16 * len(result.certificate.ranges)  # a corner belongs to six parts of 978


def test_inseparable_parts_end_the_search_for_a_cut(ground_and_torus, monkeypatch):
    pose = at(0.1, 0.2, 0.1)
    result = gk.signed_distance(*ground_and_torus, None, pose)
    wrong = changed(result, lower=0.5, distance=0.5, upper=0.5, status=gk.Status.SEPARATED)
    calls = count_calls(monkeypatch, "_plane")
    assert gk.verify(wrong, *ground_and_torus, None, pose).refuted
    assert len(calls) < 200


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e6])
def test_depths_in_ground_with_a_bottom_are_proven(size):
    """The columns of the ground contain the point, so the proof must use the surface of the ground."""
    heights = size * (2.0 + 0.3 * np.random.default_rng(0).random((12, 12)))
    ground = gk.HeightField(heights, 0.2 * size, (-1.1 * size, -1.1 * size), bottom=0.0)
    torus = trimesh.creation.torus(0.3, 0.1, major_sections=12, minor_sections=6)
    drops = np.random.default_rng(1).uniform(-0.2, 0.2, (20, 3))
    for body in (gk.Mesh(size * torus.vertices, torus.faces), gk.PointCloud(size * drops, 0.03 * size)):
        pose = at(0.1 * size, 0.2 * size, 1.0 * size)
        result = gk.signed_distance(ground, body, None, pose)
        assert result.upper < -0.5 * size
        assert gk.verify(result, ground, body, None, pose).proven
        n = result.normal
        wrong = changed(result, upper=1.5 * result.upper, lower=1.5 * result.lower, distance=1.5 * result.distance)
        wrong = changed(wrong, point_b=wrong.point_a + wrong.distance * n)
        assert not gk.verify(wrong, ground, body, None, pose).proven
