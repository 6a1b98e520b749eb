import re
from itertools import combinations, pairwise

import numpy as np
import pytest
from example_results import overlapping, pose, separated
from message_checks import assert_names
from PIL import Image

import gjk3d as gk
from gjk3d import viz
from gjk3d.errors import FileError, UnsupportedPair
from gjk3d.viz.explanation import lessons
from gjk3d.viz.explanation.narration import Names
from gjk3d.viz.explanation.stage import Curve, limits
from tests.viz import messages

A = np.array([(4, 11), (4, 5), (9, 9)])
B = np.array([(5, 7), (7, 3), (10, 2), (12, 7)])
ABOVE = {"view": (0.15, -0.55, 1.0), "up": (0.0, 1.0, 0.0)}


def prism(polygon, half_height=2.0):
    return gk.ConvexHull([(x, y, z) for x, y in polygon for z in (half_height, -half_height)])


def text_distance():
    """Return worked example 2 of the 2D text: nearest edge (1, 3) (-4, -1), distance 11 / sqrt(41)."""
    return gk.signed_distance(prism(A), prism(B + (3, -1)), trace=True)


def text_overlap():
    """Return worked example 1: the shapes overlap. The text does not contain the depth, 6 / sqrt(41)."""
    return gk.signed_distance(prism(A), prism(B), depth="epa", trace=True)


def box_in_box():
    """Return a pair for which EPA starts with GJK's tetrahedron."""
    return gk.signed_distance(
        gk.Box((2, 1.4, 1.2)), gk.Box((1, 1, 1)), None, pose(0.7, 0.3, 0.2, (0.4, 0.3, 0.5)), depth="epa", trace=True
    )


CASES = {"distance": text_distance, "overlap": text_overlap, "boxes": box_in_box}


def gjk_steps(explanation):
    return [step for step in explanation.steps if step.phase == "GJK"]


def epa_steps(explanation):
    return [step for step in explanation.steps if step.phase == "EPA"]


# --- the steps are those of the trace --------------------------------------------------------------------------------


def test_worked_distance_is_explained_as_in_the_text():
    steps = gk.viz.explain(text_distance()).steps
    assert [step.phase for step in steps] == ["start", "GJK", "GJK", "GJK", "answer"]
    named = {}
    for step in steps:
        if step.point is not None:
            named.setdefault(step.point_name, step.point[:2])
    # the points of the text, in the same order
    np.testing.assert_allclose([named[f"w{k}"] for k in (1, 2, 3)], [(1, 3), (-11, -1), (-4, -1)], atol=1e-12)
    assert steps[2].dropped == ("w2",)
    assert_names(steps[2].sentence, "edge w1 w3", "w2")
    assert_names(steps[3].sentence, "w1 again", "edge w1 w3")
    np.testing.assert_allclose(steps[3].nearest[:2], (-44 / 41, 55 / 41), atol=1e-12)
    np.testing.assert_allclose(steps[3].witness_a[:2], (284 / 41, 301 / 41), atol=1e-12)
    np.testing.assert_allclose(steps[3].witness_b[:2], (8, 6), atol=1e-12)
    assert steps[-1].title.endswith(" 1.71791")
    assert "1.71791138 apart" in steps[-1].sentence


@pytest.mark.parametrize("name", CASES)
def test_step_numbers_equal_the_trace(name):
    result = CASES[name]()
    explanation = gk.viz.explain(result)
    gjk, epa = gjk_steps(explanation), epa_steps(explanation)
    assert (len(gjk), len(epa)) == (len(result.trace.gjk), len(result.trace.epa))
    for step, record in zip(gjk, result.trace.gjk, strict=True):  # A has no pose, so its frame is the world frame
        np.testing.assert_array_equal(step.simplex, record.simplex)
        np.testing.assert_array_equal(step.direction, record.direction)
        np.testing.assert_array_equal(step.point, record.support_a - record.support_b)
        assert step.lower == record.lower
        assert step.upper <= record.upper
        distances = [float(x) for x in re.findall(messages.NEAREST_IS, step.sentence)]
        np.testing.assert_allclose(distances, [np.linalg.norm(step.nearest)], rtol=1e-3)
    for step, record in zip(epa, result.trace.epa, strict=True):
        np.testing.assert_array_equal(step.vertices, record.vertices)
        for field in ("faces", "closest", "removed", "horizon"):
            np.testing.assert_array_equal(getattr(step, field), getattr(record, field))
        assert (step.lower, step.upper) == (record.lower, min(record.upper, gjk[-1].upper))


def test_dropped_points_leave_the_simplex():
    rng = np.random.default_rng(8)
    hull, cone, dropped, met = gk.ConvexHull(rng.normal(size=(12, 3))), gk.Cone(0.8, 1.5), 0, 0
    for _ in range(25):
        turned = pose(*rng.normal(size=3) * 1.6, rng.normal(size=3))
        result = gk.signed_distance(hull, cone, None, turned, trace=True)
        met += result.depth > 0
        for step, after in pairwise(gjk_steps(gk.viz.explain(result))):
            if messages.FOLDED in after.sentence:  # one step stands for several
                continue
            assert set(after.names) == (set(step.names) | {step.point_name}) - set(step.dropped)
            drops = re.findall(r"drops (.*?)\.", step.sentence)
            assert (re.findall(r"w\d+", drops[0]) if drops else []) == list(step.dropped)
            region = re.findall(messages.KEPT, step.sentence)
            assert region[0].split() == list(after.names)
            dropped += len(step.dropped)
    assert dropped > 20
    assert 5 < met < 20


def test_final_simplex_is_never_dropped():
    rng, count = np.random.default_rng(1), 0
    for _ in range(40):
        place = pose(*(rng.normal(size=3) * 1.6), rng.normal(size=3))
        result = gk.signed_distance(gk.Capsule(0.3, 1), gk.Cone(0.8, 1.5), None, place, trace=True)
        explained = gk.viz.explain(result)
        last = gjk_steps(explained)[-1]
        if result.trace.gjk_end not in ("converged", "no progress"):
            continue
        count += 1
        assert last.dropped == ()
        assert explained.steps[-1].names == last.names
    assert count > 20


@pytest.mark.parametrize("name", ["overlap", "boxes"])
def test_epa_steps_have_numbers_of_the_polytope(name):
    steps = epa_steps(gk.viz.explain(CASES[name]()))
    count = 0
    for step, after in pairwise(steps):
        corners = step.vertices[step.closest]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal /= np.linalg.norm(normal)
        away = float(normal @ corners[0])
        beyond = float(normal @ step.point) - away
        match = re.search(messages.REACHES, step.sentence)
        assert match[1] == step.point_name
        assert float(match[2]) == pytest.approx(beyond, rel=1e-3)
        count += away > 1e-6
        if away > 1e-6:
            nearest = re.search(messages.NEAREST_FACE, step.sentence)
            assert nearest[1].split() == [step.names[i] for i in step.closest]
            assert float(nearest[2]) == pytest.approx(away, rel=1e-3)
        faces, later = (set(map(tuple, s.faces.tolist())) for s in (step, after))
        gone = re.search(messages.REPLACED_FACES, step.sentence)
        assert len(faces - later) == int(gone[2] or 1)
        assert len(later - faces) == int(gone[3]) == len(step.horizon)
    assert count >= 2
    assert re.search(messages.LAST_FACE, steps[-1].sentence)


def test_epa_explains_its_start():
    assert_names(epa_steps(gk.viz.explain(box_in_box()))[0].sentence, "EPA", "GJK's tetrahedron")
    sentence = epa_steps(gk.viz.explain(text_overlap()))[0].sentence
    assert_names(sentence, "EPA", "triangle w1 w2 w3", "volume")


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_monotone_and_contain_the_distance(name):
    explanation = gk.viz.explain(CASES[name]())
    steps = explanation.steps[1:]
    assert all(a.lower <= b.lower + 1e-12 for a, b in pairwise(steps))
    assert all(a.upper >= b.upper - 1e-12 for a, b in pairwise(steps))
    true = explanation.result.distance
    assert all(step.lower - 1e-12 <= true <= step.upper + 1e-12 for step in steps)
    assert steps[-1].upper - steps[-1].lower < 1e-11


def test_moved_pair_has_the_same_steps():
    move = pose(3.0, -2.0, 5.0, (0.3, -0.8, 1.1))
    hull, cone = gk.ConvexHull(np.random.default_rng(4).normal(size=(12, 3))), gk.Cone(0.8, 1.5)
    for place in (pose(0.4, 0.9, 0.3, (1, 2, 3)), pose(2.4, 1.9, 0.3, (1, 2, 3))):
        still = gk.viz.explain(gk.signed_distance(hull, cone, None, place, depth="epa", trace=True))
        moved = gk.viz.explain(gk.signed_distance(hull, cone, move, move @ place, depth="epa", trace=True))
        assert still.steps[3].sentence == moved.steps[3].sentence
        for a, b in zip(still.steps[:5], moved.steps[:5], strict=True):
            assert (a.names, a.dropped) == (b.names, b.dropped)
            np.testing.assert_allclose(b.direction, move[:3, :3] @ a.direction, atol=1e-6)
            np.testing.assert_allclose(b.point, move[:3, :3] @ a.point, atol=1e-6)
            np.testing.assert_allclose(b.support_b, move[:3, :3] @ a.support_b + move[:3, 3], atol=1e-6)
            if b.nearest is not None:
                np.testing.assert_allclose(b.witness_a - b.witness_b, b.nearest, atol=1e-9)


def test_similar_final_steps_are_merged():
    result = gk.signed_distance(
        gk.Ellipsoid((1, 0.7, 0.5)), gk.Capsule(0.3, 1), None, pose(2.4, 0.5, 0.3, (0.4, 0.6, 0.2)), trace=True
    )
    steps = gk.viz.explain(result).steps
    folded = len(result.trace.gjk) - len(gjk_steps(gk.viz.explain(result)))
    assert folded >= 5
    for step in steps:  # also before the merged steps
        assert set(step.after) <= {*step.names, step.point_name}
    assert re.findall(r"\d+", steps[-2].title) == [str(len(result.trace.gjk) - folded), str(len(result.trace.gjk))]
    assert_names(steps[-2].sentence, f"{folded + 1} steps", messages.FOLDED)
    assert [step.number for step in steps] == list(range(len(steps)))
    assert steps[-2].lower == result.trace.gjk[-1].lower - 0.3


# --- without a trace, and unsupported explanations -------------------------------------------------------------------


def test_result_without_trace_is_computed_again():
    plain = gk.signed_distance(prism(A), prism(B + (3, -1)))
    assert plain.trace is None
    assert str(gk.viz.explain(plain)) == str(gk.viz.explain(text_distance()))
    stack = gk.signed_distance(
        gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, np.stack([pose(0.6, 0.2, 0.1), pose(3, 0, 0)])
    )
    assert epa_steps(gk.viz.explain(stack[0]))
    assert not epa_steps(gk.viz.explain(stack[1]))
    facets = gk.signed_distance(prism(A), prism(B), depth="facets")
    assert epa_steps(gk.viz.explain(facets))[-1].upper == pytest.approx(-6 / np.sqrt(41))


@pytest.mark.parametrize("trace", [True, False])
def test_closed_form_is_explained_by_epa_in_few_steps(trace):
    can, round_ = gk.Cylinder(0.8, 2.0), gk.Ellipsoid((0.3, 0.5, 0.8))
    assert overlapping().depth > 0.3
    tied = gk.signed_distance(can, can, None, pose(0.0, 0.0, 0.1), trace=trace)
    for result in (overlapping(), tied, gk.signed_distance(round_, round_, trace=trace)):
        steps = epa_steps(gk.viz.explain(result))
        assert 0 < len(steps) < 300
        assert steps[-1].lower - 1e-9 <= result.distance <= steps[-1].upper + 1e-9


def test_points_within_tolerance_share_a_name():
    points = np.random.default_rng(6).normal(size=(400, 3)).round(1)
    names = Names(1e-9)
    called = {}
    for point in points + np.random.default_rng(7).uniform(-4e-10, 4e-10, points.shape):
        called.setdefault(tuple(point.round(1)), set()).add(names(point))
    assert all(len(labels) == 1 for labels in called.values())
    assert len({name for labels in called.values() for name in labels}) == len(called) < 400


def test_radii_are_subtracted_in_the_last_step():
    result = separated()
    explanation = gk.viz.explain(result)
    assert_names(explanation.steps[-1].sentence, "subtracted", "sphere B's radius 0.8")
    step = gjk_steps(explanation)[-1]
    assert np.linalg.norm(step.nearest) - 0.8 == pytest.approx(result.distance)
    assert step.upper == pytest.approx(result.distance)


def test_radii_of_overlapping_shapes_are_explained():
    steps = gk.viz.explain(gk.signed_distance(gk.Capsule(0.3, 1), gk.Capsule(0.2, 1), None, pose(0.4, 0.0, 0.1))).steps
    assert_names(steps[-1].sentence, "apart by 0.4", "subtracted", "capsule A's radius 0.3", "capsule B's radius 0.2")
    steps = gk.viz.explain(gk.signed_distance(gk.Box((2, 2, 2)), gk.Sphere(0.5), None, pose(0.7, 0.0, 0.1))).steps
    assert_names(steps[-1].sentence, " 0.3", "added", "sphere B's radius 0.5")


def test_lengths_have_the_given_unit():
    explained = gk.viz.explain(text_distance(), unit="mm")
    for step in explained.steps[1:]:
        numbers = re.findall(r"(?<![w\d.])\d+\.\d+(?! mm)(?![\d.])", step.sentence + step.bounds)
        assert [n for n in numbers if f"{n} to" not in step.bounds] == []
    assert explained.steps[-1].title.endswith(" 1.71791 mm")


def test_rounding_errors_are_named_as_rounding():
    rng, count = np.random.default_rng(5), 0
    cone, capsule = gk.Cone(0.8, 1.5), gk.Capsule(0.3, 1)
    places = [pose(*rng.normal(size=3) * 1.6, rng.normal(size=3)) for _ in range(20)]
    touching = [gk.signed_distance(prism(A), prism(B + move), trace=True) for move in ((1.5, 0), (4, 2))]
    for result in [gk.signed_distance(capsule, cone, None, place, trace=True) for place in places] + touching:
        for step in gk.viz.explain(result).steps:
            message = f"{step.title}. {step.sentence} {step.bounds}"
            assert not re.search(r"e-1[2-9]|only 0|-0(?![.\d])", message)
            count += f"({messages.ROUNDING})" in message
    assert count > 10
    tiny = gk.viz.explain(gk.signed_distance(gk.Point((0, 0, 0)), gk.Point((1, 0, 0)), None, pose(-1 + 2**-50, 0, 0)))
    assert "8.88" in tiny.steps[-1].sentence  # proven, so not a rounding error
    assert messages.ROUNDING not in str(tiny)


def test_distance_bounds_are_not_negative():
    steps = gk.viz.explain(gk.distance(gk.Box((2, 2, 2)), gk.Sphere(0.5), None, pose(1.2, 0.1, 0), trace=True)).steps[
        1:
    ]
    assert all(step.lower >= 0.0 and step.upper >= 0.0 for step in steps)
    assert "Use signed_distance" in steps[-1].sentence


@pytest.mark.parametrize("move", [(1.5, 0), (4, 2)])
def test_touching_pair_is_reported_as_touching(move):
    steps = gk.viz.explain(gk.signed_distance(prism(A), prism(B + move), trace=True)).steps
    assert "touch" in steps[-2].sentence
    assert steps[-1].title == "Result: touching"


def test_unsupported_explanations_raise():
    box = gk.Box((1, 1, 1))
    with pytest.raises(TypeError, match=r"\b2\b.*result\[0\]"):
        gk.viz.explain(gk.signed_distance(box, box, None, np.stack([pose(3, 0, 0)] * 2)))
    with pytest.raises(TypeError, match=r"float.*signed_distance"):
        gk.viz.explain(1.0)
    with pytest.raises(UnsupportedPair, match=r"\bB\b.*Halfspace.*viz\.show"):
        gk.viz.explain(gk.signed_distance(box, gk.Halfspace((0, 0, 1), -2)))
    mesh = gk.Mesh(*box.surface())
    with pytest.raises(UnsupportedPair, match=r"\bA\b.*Mesh.*hull\(\)"):
        gk.viz.explain(gk.distance(mesh, box, None, pose(3, 0, 0)))
    explanation = gk.viz.explain(text_distance())
    with pytest.raises(FileError, match=r"nowhere/x\.gif.*nowhere"):
        explanation.save("nowhere/x.gif")
    with pytest.raises(ValueError, match=r"'\.mp4'.*\.gif"):
        explanation.save("x.mp4")


# --- pictures --------------------------------------------------------------------------------------------------------


def hued(pixels, color, within=10):
    """Return the mask of the vivid pixels whose hue is close to that of a colour."""
    want = np.asarray(Image.new("RGB", (1, 1), color).convert("HSV")).astype(int)[0, 0, 0]
    hsv = np.asarray(Image.fromarray(pixels).convert("HSV")).astype(int)
    away = np.abs(hsv[..., 0] - want)
    return (hsv[..., 1] > 90) & (np.minimum(away, 256 - away) < within)


@pytest.mark.full
def test_animation_has_one_frame_per_step(tmp_path):
    explanation = gk.viz.explain(text_overlap(), **ABOVE)
    path = explanation.save(tmp_path / "overlap.gif")
    with Image.open(path) as film:
        assert film.n_frames == len(explanation.steps)
        frames, times = [], []
        for index in range(film.n_frames):
            film.seek(index)
            frames.append(np.asarray(film.convert("RGB")))
            times.append(film.info["duration"] / 1000)
    assert frames[0].shape[1] == 1000
    words = [len(step.sentence.split()) for step in explanation.steps]
    assert 19 < sum(times) <= 20  # the animation has a limit; the page leaves more time to read
    needs = [1.5 + count / 4 for count in words]
    needs[-1] += 2
    np.testing.assert_allclose(np.divide(times, sum(times)), np.divide(needs, sum(needs)), atol=2e-3)
    slow = explanation.save(tmp_path / "slow.gif", most=3, seconds=9)
    with Image.open(slow) as film:
        assert film.info["duration"] == 9000  # an explicit duration may be longer
    assert path.stat().st_size < 1_500_000
    for frame, step in zip(frames, explanation.steps, strict=True):
        left, right = frame[:390, :490], frame[:390, 510:]
        assert hued(left, "#E69F00").mean() > 0.02
        assert hued(left, "#009E73").mean() > 0.02
        assert (hued(right, "#D55E00", 6).sum() > 80) == (step.phase != "answer")  # the new point
        assert (hued(right, "#F0E442", 12).sum() > 300) == bool(len(step.faces))  # the closest face


@pytest.mark.full
def test_picture_has_one_panel_per_step_in_two_columns(tmp_path):
    explanation = gk.viz.explain(text_distance(), **ABOVE)
    image = np.asarray(Image.open(explanation.save(tmp_path / "distance.png")).convert("RGB")).astype(int)
    assert image.shape[1] == 1000
    for column in (image[:, :4], image[:, -8:]):  # margins stay white
        assert column.min() > 240
    few = np.asarray(Image.open(explanation.save(tmp_path / "few.png", most=2)).convert("RGB"))
    assert hued(image[-260:, :490].astype(np.uint8), "#E69F00").sum() == 0  # 5 panels: the legend is next to the last
    assert hued(few[-260:, 500:], "#E69F00").sum() > 100
    for picture, many in ((image.astype(np.uint8), 5), (few, 2)):
        # below each row of panels
        lines = np.flatnonzero((np.ptp(picture[:, 20:480], axis=(1, 2)) < 20) & (picture[:, 250, 0] < 230))
        assert len(lines) == -(-many // 2)
        for k in range(many):
            low, high = [0, *lines][k // 2], lines[k // 2]
            assert hued(picture[low:high, 500 * (k % 2) : 500 * (k % 2) + 490], "#E69F00").mean() > 0.005
        for k in range(2 * len(lines)):  # no cell is empty, or black at its end
            cell = picture[[0, *lines][k // 2] + 4 : lines[k // 2], 500 * (k % 2) : 500 * (k % 2) + 490]
            assert hued(cell, "#E69F00").sum() > 100
            assert cell[-3:].min() > 200
    assert image.shape[0] < 1500


@pytest.mark.full
def test_labels_are_near_points_and_do_not_overlap():
    from gjk3d.viz.explanation.stage import Stage

    explained = gk.viz.explain(text_overlap(), **ABOVE)
    stage = Stage(explained.steps, explained._scene, (1334, 800))
    stage.shoot(3)
    renderer = stage.plotter.renderers[1]
    boxes = []
    for name, actor in renderer.actors.items():
        if name.startswith("gjk3d label"):
            place = actor.GetPositionCoordinate()
            low = np.array(place.GetComputedViewportValue(renderer))
            point = np.array(place.GetReferenceCoordinate().GetComputedViewportValue(renderer))
            size = np.zeros(2)
            actor.GetSize(renderer, size)
            boxes.append((actor.GetInput(), low, low + size))
            assert np.linalg.norm(np.maximum(0, np.maximum(low - point, point - low - size))) < 40
            assert (low >= 0).all()
            assert (low + size <= renderer.GetSize()).all()
    stage.plotter.close()
    assert {text for text, _, _ in boxes} >= {"origin", "w1", "w4", "w5", "w6"}
    for (text_a, low, high), (text_b, bottom, top) in combinations(boxes, 2):
        assert (high <= bottom).any() or (top <= low).any(), (text_a, text_b)


@pytest.mark.full
def test_equal_bounds_draw_one_line_and_distinct_ticks():
    explained = viz.explain(gk.signed_distance(gk.Sphere(1), gk.Sphere(1), None, pose(2.9, 0.4, 0.3)))
    low, high = limits(explained.steps)
    bounds = [v for step in explained.steps for v in (step.lower, step.upper) if np.isfinite(v)]
    assert np.ptp(bounds) < 1e-12
    assert high - low > 0.5  # more than the rounding error of a number
    assert low < min(bounds) <= max(bounds) < high
    near = [step._replace(lower=1.0, upper=1.0 + 2e-5 * k) for k, step in enumerate(explained.steps)]
    tiny = [step._replace(lower=1e-9, upper=1e-9 * (1.0 + k)) for k, step in enumerate(explained.steps)]
    for steps in (explained.steps, near, tiny):
        plotter = viz.plotter(size=(500, 260), off_screen=True)
        curve = Curve(plotter, steps)
        curve.show(0)
        plotter.screenshot(None, return_img=True)
        axis = curve.chart.y_axis
        assert len(set(axis.tick_labels)) == len(axis.tick_labels) >= 2, axis.tick_labels
        plotter.close()
    same = viz.explain(gk.signed_distance(gk.Sphere(1), gk.Sphere(1), None, pose(2, 0, 0)))  # they touch
    assert limits(same.steps)[1] > 0.05


@pytest.mark.full
def test_animation_uses_one_window(monkeypatch, tmp_path):
    from gjk3d.viz.explanation import stage

    stages, make = [], stage.Stage
    monkeypatch.setattr(stage, "Stage", lambda *given: stages.append(make(*given)) or stages[-1])
    viz.explain(separated()).save(tmp_path / "steps.gif")
    assert len(stages) == 1


def test_unknown_lesson_topic_raises(tmp_path):
    with pytest.raises(ValueError, match=r"topic 'set' is unknown.*sat"):
        gk.viz.lesson(tmp_path / "set.html", "set")
    assert not (tmp_path / "set.html").exists()


def test_lesson_polytopes_have_normals_and_edges():
    for name, shape in lessons.polytopes().items():
        data = lessons.polytope_data(shape)
        points, normals, edges = (np.array(data[field]) for field in ("points", "normals", "edges"))
        heights = points @ normals.T
        on_face = heights >= heights.max(axis=0) - 1e-12
        assert (on_face.sum(axis=0) >= 3).all(), name
        ends = points[np.array(data["ends"])]
        np.testing.assert_allclose(np.cross(ends[:, 1] - ends[:, 0], edges[:, 0]), 0.0, atol=1e-12)
        assert len(points) - len(edges) + len(normals) == 2  # Euler
