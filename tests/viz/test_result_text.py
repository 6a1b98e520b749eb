"""Text of results of every kind: numbers in ``repr``, pictures and reports contain the proven intervals."""

import re
from fractions import Fraction
from math import inf
from pathlib import Path

import numpy as np
import pytest
import trimesh
from example_results import SHAPES, pose
from hypothesis import given
from hypothesis import strategies as st
from message_checks import read

import gjk3d as gk
from gjk3d.clash.report import wording
from gjk3d.query.wording import proof, verdict
from gjk3d.viz import page
from gjk3d.viz.kinds import drawing_of, robots
from tests.viz import messages

ARM = Path(__file__).parents[2] / "data" / "arm"
BOUNDED = [shape for name, shape in SHAPES.items() if name != "halfspace"]


def assert_contains(words, lower, upper, digits, least=-inf):
    """Assert that the interval in a text contains the given interval."""
    low, high = read(words, digits, least)
    assert low <= exactly(lower) <= exactly(upper) <= high, words


def assert_contains_signed(words, lower, upper, digits):
    """Check the text of a signed distance: a depth, a distance, or both."""
    assert not re.search(r"[ ≤≥]-[\d.]", words), words
    deep, _, far = words.rpartition(" or ")
    if deep:
        assert exactly(-lower) <= read(deep, digits, 0)[1]
        assert exactly(upper) <= read(far, digits, 0)[1]
    elif words.startswith("depth"):
        assert_contains(words, max(-upper, 0.0), -lower, digits, 0)
    else:
        assert_contains(words, lower, upper, digits)


def exactly(value):
    return Fraction(float(value)) if np.isfinite(value) else float(value)


def value_of(result):
    """Return the value in a repr, before the direction."""
    return repr(result).partition(" along ")[0].partition(", ")[2]


def check(result):
    assert_contains(value_of(result), result.lower, result.upper, 9)
    assert_contains_signed(proof(result).removeprefix("proven: "), result.lower, result.upper, 6)
    words = verdict(result)
    if words.startswith("apart by"):
        assert_contains(words, result.lower, result.upper, 6)
    elif words.startswith("overlapping by"):
        assert_contains(words, max(-result.upper, 0.0), -result.lower, 6, 0)


def places(count, reach, seed=0):
    rng = np.random.default_rng(seed)
    return [pose(*rng.normal(size=3) * reach, rng.normal(size=3)) for _ in range(count)]


@pytest.mark.parametrize("tol", [None, 1e-2])
@pytest.mark.parametrize("query", [gk.distance, gk.signed_distance])
def test_text_of_distances_contains_bounds(query, tol):
    rng = np.random.default_rng(7)
    seen = set()
    for place in places(60, 0.8, 3):
        a, b = (BOUNDED[k] for k in rng.integers(len(BOUNDED), size=2))
        result = query(a, b, None, place, tol=tol)
        seen.add(result.status)
        check(result)
    assert {gk.Status.SEPARATED, gk.Status.OVERLAPPING} <= seen


def test_text_of_mesh_depth_contains_bounds():
    ring = trimesh.creation.torus(1, 0.3)
    ring, bar = gk.Mesh(ring.vertices, ring.faces), gk.Mesh(*gk.Box((0.5, 0.5, 3)).surface())
    results = [gk.signed_distance(ring, bar, None, place) for place in places(12, 0.7, 4)]
    for result in results:
        check(result)
    assert any(" to " in verdict(result) for result in results)


def test_text_of_separating_axis_contains_gap():
    boxes = [gk.Box((1, 0.7, 0.5)), SHAPES["hull"]]
    for place in places(20, 0.8, 5):
        axis = gk.separating_axis(*boxes, None, place)
        assert_contains(value_of(axis).removeprefix("gap "), axis.gap - axis.error, axis.gap + axis.error, 9)
        assert Fraction(float(axis.bounds[0])) <= Fraction(float(axis.gap)) - Fraction(float(axis.error))
        assert Fraction(float(axis.bounds[1])) >= Fraction(float(axis.gap)) + Fraction(float(axis.error))


def test_text_of_missing_contact_contains_bounds():
    for place in places(10, 2.0, 6):
        touch = gk.contact(gk.Box((1, 1, 1)), gk.Sphere(0.3), None, place)
        if not touch.count:
            assert_contains(
                drawing_of(touch).words[0].removeprefix(f"{messages.NO_POINTS}: "), touch.lower, touch.upper, 6
            )
        check(touch.result)


#: Poses near each other, at any size.
PLACES = st.builds(
    lambda way, turn: pose(*way, turn),
    *(st.tuples(*[st.floats(-reach, reach, allow_subnormal=False)] * 3) for reach in (1.5, 3.0)),
)


@pytest.mark.full
@given(a=st.sampled_from(BOUNDED), b=st.sampled_from(BOUNDED), place=PLACES, scale=st.sampled_from([1e-6, 1.0, 1e5]),
       tol=st.sampled_from([None, 1e-2]))  # fmt: skip
def test_text_of_any_pair_contains_proven_bounds(a, b, place, scale, tol):
    """Captions, labels and page tables are checked for distances, contacts and impacts."""
    a, b, place = a.scaled(scale), b.scaled(scale), pose(*place[:3, 3] * scale, (0, 0, 0)) @ turned(place)
    for result in (gk.distance(a, b, None, place, tol=tol), gk.signed_distance(a, b, None, place, tol=tol)):
        check(result)
        drawing = drawing_of(result)
        for label in drawing.labels:
            assert_contains(label.text, max(-result.upper, 0.0), -result.lower, 3, 0)
        rows = dict(page._rows(result, None))
        if "Depth" in rows:
            lower, upper = max(-result.upper, 0.0), -result.lower
            assert_contains(rows["Depth"], lower, upper, 9, 0)
        else:
            lower, upper = result.lower, result.upper
            words = rows["Signed distance" if lower < 0.0 else "Distance"]
            assert_contains(words.partition(",")[0].partition(":")[0], lower, upper, 9)
        assert lower == -inf or Fraction(rows[messages.LOWER]) <= Fraction(float(lower))
        assert upper == inf or Fraction(rows[messages.UPPER]) >= Fraction(float(upper))
        if messages.TO_PART in rows and np.isfinite(result.lower):
            long = rows[messages.TO_PART].rpartition("), length ")[2]
            assert read(long, 9)[1] >= exactly(-result.lower), (long, result.lower)
    touch = gk.contact(a, b, None, place)
    words = drawing_of(touch).words[0]
    if touch.count and "gap " in words:
        assert_contains(words.partition("gap ")[2], touch.lower, touch.upper, 4)
    way = gk.Motion(place, -2.0 * place[:3, 3])
    hit = gk.time_of_impact(a, b, None, way)
    if hit.status == gk.ImpactStatus.HIT:
        for line, digits in zip(drawing_of(hit).words, (6, 10), strict=True):
            assert_contains(line, *hit.time, digits)


def turned(place):
    """Return a pose without its translation."""
    out = place.copy()
    out[:3, 3] = 0.0
    return out


def test_text_of_impact_contains_its_time():
    seen = set()
    for k, place in enumerate(places(30, 3.0, 8)):
        motion = gk.Motion(place, -2.0 * place[:3, 3], (0.5, 1.0 + 0.1 * k, 0.2))
        hit = gk.time_of_impact(gk.Box((0.6, 0.4, 0.4)), SHAPES["cylinder"], None, motion)
        seen.add(hit.status)
        words = repr(hit).partition(", along")[0]
        if hit.status == gk.ImpactStatus.HIT:
            assert_contains(words, *hit.time, 9)
            first, second = drawing_of(hit).words
            assert_contains(first, *hit.time, 6)
            assert_contains(second, *hit.time, 10)
        else:
            assert Fraction(words.rpartition(" ")[2]) <= Fraction(float(hit.free_until))
    assert gk.ImpactStatus.HIT in seen


def test_text_of_robot_states_contains_bounds():
    robot = gk.robot.Robot.from_urdf(ARM / "arm.urdf", ARM / "arm.srdf")
    checker = gk.robot.Checker(robot, {"ball": (gk.Sphere(0.2), pose(0.4, 0.1, 0.5))})
    rng = np.random.default_rng(9)
    free = 0
    for q in rng.uniform(np.maximum(robot.lower, -3), np.minimum(robot.upper, 3), size=(30, robot.dof)):
        state = robots.state_of(checker, q)
        words = robots.words_for(state)
        free += not state.pairs
        if state.pairs:
            for met in checker.collisions(q):
                if met.upper < 0.0:
                    assert_contains(repr(met).rpartition("depth ")[2][:-1], -met.upper, -met.lower, 6, 0)
                else:
                    assert_contains(repr(met).rpartition("distance ")[2][:-1], met.lower, met.upper, 6)
            assert_contains(words.rpartition("depth ")[2], max(-state.upper, 0.0), -state.lower, 4, 0)
        else:
            near = checker.clearance(q)
            assert_contains(words.rpartition(", ")[2], near.lower, near.upper, 4)
    assert 0 < free < 30


def test_text_of_clashes_contains_bounds():
    ring = trimesh.creation.torus(1, 0.3)
    parts = {"ring": gk.Mesh(ring.vertices, ring.faces)}
    surface = gk.Box((0.4, 0.5, 1.2)).surface()
    for k, place in enumerate(places(10, 1.0, 10)):
        parts[f"bar {k}"] = gk.Mesh(surface.vertices @ place[:3, :3].T + place[:3, 3], surface.faces)
    report = gk.clash.check(gk.clash.Assembly.of(parts), clearance=0.3)
    bounded = [clash for clash in report.clashes if wording.bounds(clash)]
    assert {clash.distance_kind for clash in bounded} >= {"exact", "bound"}
    for clash in bounded:
        lower, upper = wording.bounds(clash)
        if clash.depth:
            assert_contains(wording.depth(clash), max(-upper, 0.0), -lower, 6, 0)
            assert (wording.measure(clash), wording.gap(clash)) == (f"depth {wording.depth(clash)}", "")
        else:
            assert_contains(wording.gap(clash), max(lower, 0.0), upper, 6, 0)
            assert wording.measure(clash) == f"gap {wording.gap(clash)}"
        if clash.distance_kind == "bound":
            assert Fraction(wording.translation_length(clash)) >= Fraction(clash.depth)
    picture = drawing_of(report, clash=bounded[0].id)
    assert wording.depth(bounded[0], error=wording.noise(bounded[0], report)) in picture.words[0]


@pytest.mark.parametrize(
    ("tolerance", "depths"), [(None, ["0.24999", "0.25"]), (0.01, ["0.24999", "0.25"]), (0.0, ["0.24999", "0.24999"])]
)
def test_digits_below_file_rounding_are_not_printed(tolerance, depths):
    box = gk.Box((1, 1, 1)).surface()
    places = {"a": 0.0, "b": 0.75001, "far a": 100.0, "far b": 100.75001, "c": 3.0}
    meshes = {name: gk.Mesh(box.vertices + (x, 0, 0), box.faces) for name, x in places.items()}
    report = gk.clash.check(gk.clash.Assembly.of(meshes, "m"), tolerance=tolerance)
    clashes = sorted(report.clashes, key=lambda clash: clash.a)
    assert [wording.depth(row, error=wording.noise(row, report)) for row in clashes] == depths


def test_unproven_depth_is_printed_as_about():
    clash = gk.clash.Clash("1", "hard", 1, "new", "a", "b", "", "", distance=-0.5, depth=0.5)
    assert (wording.gap(clash, unit="mm"), wording.depth(clash, unit="mm")) == ("", "about 0.5 mm")
    assert wording.bounds(clash) is None
    touch = gk.clash.Clash("1", "touch", 1, "new", "a", "b", "", "", distance=-0.5, depth=0.5)
    assert wording.depth(touch, unit="mm") == "≥ 0.5 mm"  # the depth of a touch is a lower bound
    assert wording.measure(gk.clash.Clash("1", "unchecked", 1, "new", "a", "b", "", "")) == ""


def test_mesh_contact_caption_names_the_depth():
    ring = gk.Mesh(trimesh.creation.torus(1, 0.3))
    touch = gk.contact(ring, ring, None, pose(0.5, 0, 0))
    words = drawing_of(touch).words[0]
    assert "gap" not in words
    assert_contains(words.partition("depth ")[2], -touch.upper, -touch.lower, 4, 0)
    boxes = gk.contact(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose(0.9, 0, 0))
    assert "least gap -0.1" in drawing_of(boxes).words[0]
