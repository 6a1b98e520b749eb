"""The judge of answers about bodies: it proves what is true, part by part, and believes no other."""

from __future__ import annotations

import copy
from fractions import Fraction

import naive
import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from words import assert_names

import gjk3d as gk
from gjk3d.exact import cuts
from gjk3d.exact.arithmetic import fractions, in_integers
from gjk3d.exact.convex_sets import body_of, of_points, place_all, translation
from gjk3d.exact.cuts import ClosedSurface, Union, find_cut, find_pair, flaws_of_cut, is_closed
from gjk3d.exact.cuts import _top as highest_of
from tests.bodies.every_kind import BOUNDED
from tests.bodies.places import at
from tests.exact.sentences import FLAWS, REASONS

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
def test_answers_about_every_two_kinds_are_proven(name, other, place):
    body, thing, pose = BOUNDED[name](1).body if name != "solid" else BOUNDED[name]().body, OTHERS[other], PLACES[place]
    for query in (gk.distance, gk.signed_distance):
        result = query(body, thing, at(0.1, 0.2, 0.3), pose)
        verdict = gk.verify(result, body, thing, at(0.1, 0.2, 0.3), pose)
        assert not verdict.refuted
        assert verdict.proven, verdict
        assert verdict.lower <= result.lower or result.lower == 0.0
        assert verdict.upper <= result.upper
        back = query(thing, body, pose, at(0.1, 0.2, 0.3))
        assert gk.verify(back, thing, body, pose, at(0.1, 0.2, 0.3)).proven


@given(
    name=st.sampled_from(sorted(set(BOUNDED) - {"solid"})),
    other=st.sampled_from(sorted(OTHERS)),
    seed=st.integers(0, 2**31),
    size=st.sampled_from([1.0, 1e-9, 1e9]),
    far=st.sampled_from([0.0, 1e6]),
)
def test_no_answer_is_refuted(name, other, seed, size, far):
    rng = np.random.default_rng(seed)
    body = BOUNDED[name](seed, size).body
    thing = (
        OTHERS[other].scaled(size)
        if not isinstance(OTHERS[other], gk.Compound | gk.VoxelGrid | gk.PointCloud)
        else body
    )
    poses = [naive.pose(naive.random_rotations(rng, 1)[0], size * (rng.normal(size=3) + far)) for _ in range(2)]
    result = gk.distance(body, thing, *poses)
    verdict = gk.verify(result, body, thing, *poses)
    assert not verdict.refuted, verdict


def changed(result, **fields):
    other = copy.copy(result)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


@pytest.fixture
def apart():
    return gk.signed_distance(OTHERS["compound"], OTHERS["solid"], None, PLACES["far"])


def test_wrong_bounds_are_refuted(apart):
    def judged(**fields):
        result = changed(apart, **fields)
        return gk.verify(result, OTHERS["compound"], OTHERS["solid"], None, PLACES["far"])

    d, n = apart.distance, apart.normal
    assert judged().proven
    more = {"distance": d + 1e-6, "lower": d + 1e-6, "upper": d + 1e-6, "point_b": apart.point_b + 1e-6 * n}
    less = {"distance": d - 1e-6, "lower": d - 1e-6, "upper": d - 1e-6, "point_b": apart.point_b - 1e-6 * n}
    for lie in (more, less):
        assert judged(**lie).refuted
    assert judged(lower=0.0, status=gk.Status.TOUCHING).refuted
    assert judged(normal=-n).refuted
    assert judged(normal=2.0 * n).refuted
    assert not judged(point_a=apart.point_a + 0.5, point_b=apart.point_b + 0.5).proven
    assert judged(upper=np.nan).refuted
    other = gk.verify(apart, OTHERS["cloud"], OTHERS["solid"], None, PLACES["far"])
    assert other.refuted
    assert REASONS["shape"] in other.reasons[0]
    assert not gk.verify(apart, OTHERS["compound"], OTHERS["solid"], None, at(0.3, 0.4, 4.4)).proven


@pytest.mark.parametrize("query", [gk.distance, gk.signed_distance])
def test_an_overlap_that_is_none_is_refuted_and_one_that_is_denied(query):
    body, ball = OTHERS["compound"], OTHERS["sphere"]
    deep, far = (query(body, ball, None, pose) for pose in (at(0, 0, 0), at(0, 0, 5)))
    assert gk.verify(deep, body, ball, None, at(0, 0, 0)).proven
    assert gk.verify(deep, body, ball, None, at(0, 0, 5)).refuted
    assert gk.verify(far, body, ball, None, at(0, 0, 0)).refuted


@pytest.mark.parametrize("bottom", [-np.inf, -2.0])
@pytest.mark.parametrize("normal", [(1, 0, 0), (0, -1, 0), (0, 0, -1), (0.28, 0, 0.96)])
def test_the_normal_of_a_touch_that_leads_along_or_into_a_body_is_refuted(bottom, normal):
    ground, crate = gk.HeightField(np.zeros((12, 12)), 1.0, bottom=bottom), gk.Box((1, 1, 1))
    there = at(4.5, 4.0, 0.5)
    touch = gk.signed_distance(ground, crate, None, there)
    for point in (touch.point_a, np.array([4.0, 3.75, 0.0])):
        told = changed(touch, point_a=point, point_b=point + touch.distance * touch.normal)
        assert gk.verify(told, ground, crate, None, there).proven
        lie = changed(told, normal=np.array(normal), point_b=point + touch.distance * np.array(normal))
        assert gk.verify(lie, ground, crate, None, there).refuted


def test_depths_that_are_too_shallow_or_too_deep_are_not_proven():
    box = gk.Box((1, 1, 1))
    both = gk.Compound([(box, None), (box, at(2, 0, 0))])
    result = gk.signed_distance(both, box, None, at(0, 0, 0.75))
    assert result.tight
    assert gk.verify(result, both, box, None, at(0, 0, 0.75)).proven
    for by in (-1e-3, 1e-3):
        new = {name: getattr(result, name) + by for name in ("distance", "lower", "upper")}
        lie = changed(result, **new, point_b=result.point_b + by * result.normal)
        verdict = gk.verify(lie, both, box, None, at(0, 0, 0.75))
        assert not verdict.proven
        assert verdict.refuted == (by > 0)


def nested(outer, inner):
    """A cube of one size with a hollow cube of another in it."""
    cube = gk.Box((1, 1, 1)).surface()
    corners = np.concatenate([outer * cube.vertices, inner * cube.vertices])
    return gk.Mesh(corners, np.concatenate([cube.faces, cube.faces[:, ::-1] + len(cube.vertices)]))


def test_what_a_closed_surface_holds_is_not_apart():
    ball, shell = gk.Sphere(0.2), nested(4.0, 2.0)
    solid = gk.Mesh(shell.vertices, shell.faces[:12])
    hollow = gk.distance(shell, ball)
    assert hollow.distance == pytest.approx(0.8)
    assert gk.verify(hollow, shell, ball).proven
    assert not gk.verify(changed(hollow, shape_a=solid), solid, ball).proven  # the surface is so far, and it is within
    within = gk.distance(solid, ball)
    assert within.status is gk.Status.OVERLAPPING
    assert gk.verify(within, solid, ball).proven
    deep = gk.signed_distance(solid, ball)
    assert gk.verify(deep, solid, ball).proven
    open_one = gk.Mesh(solid.vertices, solid.faces, solid=False)
    assert gk.verify(gk.distance(open_one, ball), open_one, ball).proven


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


def test_small_things_in_a_large_mesh_are_proven():
    torus = gk.from_implicit(
        lambda x, y, z: (x * x + y * y + z * z + 0.6) ** 2 - 2.56 * (x * x + y * y), [(-1.3,) * 3, (1.3,) * 3], 0.1
    )
    for thing in (gk.Sphere(0.2), gk.Box((0.2, 0.2, 0.2)), gk.Cylinder(0.1, 1.0)):
        result = gk.distance(torus, thing)
        assert result.status is gk.Status.SEPARATED
        assert gk.verify(result, torus, thing).proven


def test_what_is_not_judged_says_so():
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
    own = gk.Support(lambda d: 0.1 * np.sign(d), (0, 0, 0), 0.2)
    verdict = gk.verify(gk.distance(solid, own, None, at(9, 9, 9)), solid, own, None, at(9, 9, 9))
    assert not verdict.proven
    assert not verdict.refuted
    assert REASONS["unknown form"] in verdict.reasons[0]


# certificates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", BOUNDED)
def test_certificates_are_proofs_that_come_back(name, place, tmp_path):
    body, pose = BOUNDED[name]().body, PLACES[place]
    for other in ("cone", "solid", "compound"):
        for query in (gk.distance, gk.signed_distance):
            thing = OTHERS[other]
            result = query(body, thing, None, pose, certificate=True)
            plain = query(body, thing, None, pose)
            assert (result.lower, result.upper, result.status) == (plain.lower, plain.upper, plain.status)
            assert gk.verify(result, body, thing, None, pose).proven
            result.to_json(tmp_path / "case.json")
            found = gk.replay.run(tmp_path / "case.json")
            assert found.sameness is gk.replay.Sameness.SAME
            for certificate in (found.case.answer.certificate, found.now.certificate):
                for one, two in zip(certificate, result.certificate, strict=True):
                    np.testing.assert_array_equal(one, two)


def test_forged_certificates_of_parts_are_refused():
    body, ball, pose = OTHERS["compound"], OTHERS["sphere"], at(0.6, 0.3, 1.9)
    for query, there in ((gk.distance, pose), (gk.signed_distance, pose), (gk.signed_distance, at(0, 0, 0))):
        result = query(body, ball, None, there, certificate=True)
        held = result.certificate
        assert len(held.parts) == 2
        assert not held.normals.flags.writeable
        forged = [
            held._replace(normals=-held.normals),
            held._replace(ranges=held.ranges[1:], normals=held.normals[1:]),
            held._replace(parts=np.array([7, 0])),
            held._replace(parts=np.array([0, -1])),
            held._replace(parts=np.array([0.0, 0.0])),
            held._replace(parts=np.array([[0, 0]])),
            held._replace(order_a=held.order_a[::-1][:1]),
        ]
        if result.lower > 0.0:
            forged += [held._replace(parts=np.array([k, 0])) for k in range(5) if k != held.parts[0]]
        for certificate in forged:
            verdict = gk.verify(changed(result, certificate=certificate), body, ball, None, there)
            assert verdict.refuted, certificate
            assert REASONS["certificate"] in verdict.reasons[0]
    convex = gk.distance(gk.Sphere(1), ball, None, at(0, 0, 9), certificate=True).certificate
    verdict = gk.verify(changed(result, certificate=convex), body, ball, None, there)
    (reason,) = verdict.reasons
    assert_names(reason, REASONS["certificate"], "a Certificate")


def test_certificates_that_cannot_be_kept_are_refused():
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
def test_grounds_and_shells_are_judged(kind, tmp_path):
    ground, rng = grounds()[kind], np.random.default_rng(8)
    proven = []
    for k in range(12):
        other = OTHERS[("cone", "compound", "solid", "box")[k % 4]]
        pose = at(*rng.uniform(-0.5, 0.5, 2), 2.6 - 0.3 * k, rotation=Rotation.random(rng=rng))
        for query in (gk.distance, gk.signed_distance):
            result = query(ground, other, None, pose, certificate=True)
            verdict = gk.verify(result, ground, other, None, pose)
            assert not verdict.refuted, verdict
            proven.append(verdict.proven)
            moved = changed(
                result, distance=result.distance + 0.01, lower=result.lower + 0.01, upper=result.upper + 0.01
            )
            if result.status == gk.Status.SEPARATED:
                assert not gk.verify(moved, ground, other, None, pose).proven
        result.to_json(tmp_path / "case.json")
        assert gk.replay.run(tmp_path / "case.json").sameness is gk.replay.Sameness.SAME
    assert np.mean(proven) > 0.9


@pytest.mark.parametrize("half", [gk.Halfspace((0.1, 0.2, 1.0), 0.3), gk.Plane((0.1, 0.2, 1.0), 0.3)])
@pytest.mark.parametrize("name", [*BOUNDED, "bottomed", "shell"])
def test_what_is_beside_a_half_space_or_a_plane_is_judged(name, half, tmp_path):
    body, rng = BOUNDED[name]().body if name in BOUNDED else grounds()[name], np.random.default_rng(2)
    seen = set()
    for z in (-4.0, -1.0, -0.4, 0.1, 0.7, 3.0):
        place, there = at(*rng.normal(size=3), rotation=Rotation.random(rng=rng)), at(0.1, 0.2, z)
        there = place @ there
        for args in ((half, body, place, there), (body, half, there, place)):
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
                    told = query is gk.signed_distance or result.distance > 0.0
                    assert gk.verify(wrong, *args).refuted or not told
        result.to_json(tmp_path / "case.json")
        assert gk.replay.run(tmp_path / "case.json").sameness is gk.replay.Sameness.SAME
    assert {gk.Status.SEPARATED, gk.Status.OVERLAPPING} <= seen


# cuts ---------------------------------------------------------------------------------------------------------------


def balls(points):
    return Union([of_points([p]) for p in points])


def test_cuts_prove_how_far_points_are_apart():
    rng = np.random.default_rng(0)
    for shift in (0.0, 1.0, 3.0):
        a, b = rng.normal(size=(60, 3)), rng.normal(size=(70, 3)) + (shift, 0, 0)
        exact = min(sum((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(p, q, strict=True)) for p in a for q in b)
        least = Fraction(float(exact) ** 0.5 * (1 - 1e-9))
        one, two = balls(a), balls(b)
        cut = find_cut(one, two, least, np.array([1.0, 0, 0]))
        assert flaws_of_cut(cut, one, two, least) == []
        assert len(cut.ranges) < 60 * 70
        assert flaws_of_cut(cut, one, two, least * Fraction(1001, 1000)) != []
        assert find_pair(one, two, least * Fraction(1001, 1000), np.array([1.0, 0, 0]))
        assert find_pair(one, two, least, np.array([1.0, 0, 0])) is None


def test_forged_cuts_prove_nothing():
    rng = np.random.default_rng(1)
    one, two = balls(rng.normal(size=(20, 3))), balls(rng.normal(size=(20, 3)))
    least = Fraction(1, 1000)
    cut = find_cut(one, two, least, np.array([1.0, 0, 0]))
    assert flaws_of_cut(cut, one, two, least) == []
    for k in range(len(cut.ranges)):
        left = cut._replace(ranges=np.delete(cut.ranges, k, axis=0), normals=np.delete(cut.normals, k, axis=0))
        assert flaws_of_cut(left, one, two, least) == [FLAWS["a pair left out"]]
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
        assert_names(flaws_of_cut(forged, one, two, least)[0], *fragments)
    assert flaws_of_cut(cut._replace(normals=np.full_like(cut.normals, np.nan)), one, two, least)


def test_winding_numbers_say_what_is_within():
    cube = gk.Box((2, 2, 2)).surface()
    corners = [tuple(tuple(int(c) for c in cube.vertices[k]) for k in face) for face in cube.faces]
    solid = ClosedSurface(corners, 2)  # half as large
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
    """Tetrahedra, some twice, balls, and cones, whose points are not all floats."""
    corners = [rng.normal(size=(4, 3)) for _ in range(6)]
    flat = [of_points(scale * c + off) for c in (*corners, *corners)]
    round_ones = [part._replace(radius_low=Fraction(1, 3), radius_high=Fraction(1, 3)) for part in flat[:2]]
    curved = [body_of(gk.Cone(scale * rng.random(), scale)) for _ in range(3)]
    return Union(place_all([*flat, *round_ones, *curved], translation((Fraction(1, 7), Fraction(2), Fraction(-1, 3)))))


@pytest.mark.parametrize("off", [0.0, 1e6, -1e12])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6, 1e-45])
def test_the_highest_of_many_parts_is_that_of_all_asked_one_by_one(scale, off):
    rng = np.random.default_rng(3)
    union = random_union(rng, scale, off)
    ways = [*rng.normal(size=(8, 3)), np.array([0.0, 0.0, 1.0]), np.array([1e-310, 5e-324, 0.0]), np.full(3, 1e300)]
    for n in ways:
        for which in (np.arange(len(union.parts)), np.array([7, 1, 13]), np.array([6, 0]), np.array([15])):
            whole, _ = in_integers(fractions(n))
            top = max(highest_of(union.parts[k], whole) for k in which)
            radius = max(union.parts[k].radius_high for k in which)
            assert union.top(which, n) == (top, radius)


@pytest.fixture
def ground_and_torus():
    torus = trimesh.creation.torus(1.0, 0.3, major_sections=16, minor_sections=8)
    heights = 0.3 * np.random.default_rng(0).random((20, 20))
    return gk.HeightField(heights, 0.2, (-2.0, -2.0), bottom=-1.0), gk.Mesh(torus.vertices, torus.faces)


def counted(monkeypatch, name):
    """Count how often the judge of cuts does something."""
    asked, own = [], getattr(cuts, name)
    monkeypatch.setattr(cuts, name, lambda *args: asked.append(name) or own(*args))
    return asked


def test_few_parts_are_asked_in_rational_numbers(ground_and_torus, monkeypatch):
    pose = at(0.1, 0.2, 1.0, rotation=Rotation.from_rotvec((0.3, 0.2, 0.1)))
    result = gk.signed_distance(*ground_and_torus, None, pose, certificate=True)
    asked = counted(monkeypatch, "_top")
    assert gk.verify(result, *ground_and_torus, None, pose).proven
    assert 0 < len(asked) < 16 * len(result.certificate.ranges)  # a corner is that of six parts; there are 978


def test_two_parts_that_no_plane_parts_end_the_search_for_a_cut(ground_and_torus, monkeypatch):
    pose = at(0.1, 0.2, 0.1)
    result = gk.signed_distance(*ground_and_torus, None, pose)
    lie = changed(result, lower=0.5, distance=0.5, upper=0.5, status=gk.Status.SEPARATED)
    looked = counted(monkeypatch, "_plane")
    assert gk.verify(lie, *ground_and_torus, None, pose).refuted
    assert len(looked) < 200


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e6])
def test_a_point_deep_in_ground_with_a_bottom_is_proven_by_its_surface(size):
    """Its columns hold the point, so no ball about that is apart from them."""
    heights = size * (2.0 + 0.3 * np.random.default_rng(0).random((12, 12)))
    ground = gk.HeightField(heights, 0.2 * size, (-1.1 * size, -1.1 * size), bottom=0.0)
    torus = trimesh.creation.torus(0.3, 0.1, major_sections=12, minor_sections=6)
    drops = np.random.default_rng(1).uniform(-0.2, 0.2, (20, 3))
    for thing in (gk.Mesh(size * torus.vertices, torus.faces), gk.PointCloud(size * drops, 0.03 * size)):
        pose = at(0.1 * size, 0.2 * size, 1.0 * size)
        result = gk.signed_distance(ground, thing, None, pose)
        assert result.upper < -0.5 * size
        assert gk.verify(result, ground, thing, None, pose).proven
        n = result.normal
        lie = changed(result, upper=1.5 * result.upper, lower=1.5 * result.lower, distance=1.5 * result.distance)
        lie = changed(lie, point_b=lie.point_a + lie.distance * n)
        assert not gk.verify(lie, ground, thing, None, pose).proven
