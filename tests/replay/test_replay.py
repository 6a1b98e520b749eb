"""Replay documents: queries and results are read back bit for bit, run again, and altered results are detected."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given
from message_checks import assert_names
from strategies import CHOSEN_PAIRS, SHAPES, build, clouds, pairs, random_poses, sampled

import gjk3d as gk
from gjk3d.replay import Sameness, read, run, to_json
from gjk3d.replay.shapes import Value, read_shape, write_shape
from gjk3d.shapes.base import Shape
from tests import test_golden as golden

GOLDEN = sorted((Path(__file__).parents[2] / "data" / "golden").glob("*.json"))
MODES = [
    (gk.signed_distance, {}),
    (gk.signed_distance, {"depth": "epa"}),
    (gk.distance, {}),
    (gk.distance, {"max_distance": 0.125}),
    (gk.signed_distance, {"tol": 1e-3}),
]


def through_json(shape):
    """Return the shape that is read back from the JSON of a shape."""
    return read_shape(Value(json.loads(json.dumps(write_shape(shape), allow_nan=False)), "a"))


def assert_same_shape(a, b):
    assert type(a) is type(b)
    assert a == b
    if not isinstance(a, gk.Halfspace):
        for array_a, array_b in zip(a._packed, b._packed, strict=True):
            np.testing.assert_array_equal(array_a, array_b)


# shapes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_every_kind_of_shape_round_trips(name):
    shape = build(SHAPES[name])
    assert_same_shape(shape, through_json(shape))
    for variant in (
        shape.inflated(0.1),
        shape.scaled((0.3, 1 / 3, 7.0)),
        shape.placed(naive.pose(translation=(0.1,) * 3)),
    ):
        assert_same_shape(variant, through_json(variant))


def test_every_shape_class_is_covered():
    from gjk3d.shapes.table import SHAPES as CLASSES

    seen = {type(build(spec)) for spec in SHAPES.values()} | {gk.Halfspace, gk.Plane}
    assert seen == set(CLASSES)


def test_half_spaces_round_trip():
    rng = np.random.default_rng(1)
    normalized_again = 0
    for _ in range(200):
        plane = gk.Halfspace(rng.normal(size=3), rng.normal())
        assert_same_shape(plane, through_json(plane))
        normalized_again += gk.Halfspace(plane.normal, plane.offset) != plane
    assert normalized_again > 0  # the constructor would normalize the stored normal again


@given(clouds())
def test_hulls_of_degenerate_points_round_trip(points):
    shape = gk.ConvexHull(points)
    assert_same_shape(shape, through_json(shape))
    again = through_json(shape)
    for mine, theirs in zip(shape._gauss_map(), again._gauss_map(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert again.volume == pytest.approx(shape.volume, rel=1e-6, abs=1e-9 * np.ptp(points, axis=0).max() ** 3)


def test_hulls_with_stored_faces_round_trip():
    rng = np.random.default_rng(0)
    stored = 0
    for count in (50, 300, 1000):
        points = rng.normal(size=(count, 3))
        shape = gk.ConvexHull(points * (1, 1, 10.0 ** -rng.integers(0, 9)))
        stored += "faces" in write_shape(shape)
        again = through_json(shape)
        assert_same_shape(shape, again)
        np.testing.assert_array_equal(shape.faces, again.faces)
        assert pickle.loads(pickle.dumps(again)) == shape
    assert stored > 0


def test_shape_of_custom_class_raises():
    class Strange(Shape):
        __slots__ = ()

    with pytest.raises(gk.errors.UnsupportedPair, match="Strange"):
        write_shape(Strange())


# results ------------------------------------------------------------------------------------------------------------


def again(result, folder):
    """Write the document of a result, check its contents and return its rerun."""
    file = folder / "case.json"
    text = result.to_json(file)
    assert file.read_text() == text == to_json(result)
    rerun = run(file)
    case = rerun.case
    for name in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight", "iterations"):
        np.testing.assert_array_equal(getattr(case.answer, name), getattr(result, name))
    assert (case.a, case.b) == (result.shape_a, result.shape_b)
    assert case.answer.trace is None
    assert to_json(case.answer) == text
    for pose, expected in ((case.pose_a, result.pose_a), (case.pose_b, result.pose_b)):
        assert pose is None if expected is None else np.array_equal(pose, expected)
    return rerun


@pytest.mark.parametrize(("query", "options"), MODES)
def test_chosen_pairs_replay_the_same(query, options, tmp_path):
    rng = np.random.default_rng(3)
    overlapping = []
    for name_a, name_b in CHOSEN_PAIRS:
        a, b = SHAPES[name_a], SHAPES[name_b]
        poses = random_poses(rng, a, b, 3)
        result = query(build(a), build(b), *poses, **options)
        rerun = again(result, tmp_path)
        assert rerun.rows.tolist() == [Sameness.SAME] * 3
        assert rerun.case.query == query.__name__
        assert again(result[1], tmp_path).sameness is Sameness.SAME  # a row of a stack is a single result
        overlapping += (result.status == gk.Status.OVERLAPPING).tolist()
    assert 0.3 < np.mean(overlapping) < 0.7


@given(pairs())
def test_any_pair_replays_the_same(tmp_path_factory, pair):
    a, pose_a, b, pose_b = pair
    folder = tmp_path_factory.getbasetemp()
    for query in (gk.distance, gk.signed_distance):
        assert again(query(build(a), build(b), pose_a, pose_b), folder).sameness is Sameness.SAME


@pytest.mark.full
@pytest.mark.parametrize("name", sampled(((name,) for name in SHAPES), 3))
def test_facets_traces_and_half_spaces_replay_the_same(name, tmp_path):
    shape, plane = build(SHAPES[name]), gk.Halfspace((1, 2, 3), 0.25)
    assert again(gk.signed_distance(plane, shape), tmp_path).sameness is Sameness.SAME
    assert again(gk.distance(shape, plane, None, np.tile(np.eye(4), (2, 1, 1))), tmp_path).sameness is Sameness.SAME
    cone = build(SHAPES["cone"])
    for pair in ((shape, cone), (cone, shape)):  # traced queries do not reorder the shapes, which changes bits
        rerun = again(gk.signed_distance(*pair, trace=True), tmp_path)
        assert rerun.sameness is Sameness.SAME
        assert rerun.now.trace is not None
    if shape._packed[0][3]:
        rerun = again(gk.signed_distance(shape, build(SHAPES["hull"]), depth="facets"), tmp_path)
        assert rerun.sameness is Sameness.SAME
        assert rerun.case.arguments["depth"] == "facets"


@pytest.mark.parametrize("file", GOLDEN, ids=lambda f: f.stem)
def test_golden_cases_replay_the_same(file, tmp_path):
    """Golden cases store shapes in the format of documents, with hexadecimal numbers."""
    case = json.loads(file.read_text())
    a, b = (
        golden.shape(case[side]) if case[side]["shape"] == "Mesh" else read_shape(Value(case[side], side))
        for side in "ab"
    )
    poses = [None if case[k] is None else Value(case[k], k).array(4, 4) for k in ("pose_a", "pose_b")]
    result = getattr(gk, case["query"])(a, b, *poses)
    assert result.status is gk.Status[case["expected"]["status"]]
    assert again(result, tmp_path).sameness is Sameness.SAME


def test_empty_stacks_and_pickled_results_replay_the_same(tmp_path):
    box = gk.Box((1, 1, 1))
    empty = gk.distance(box, box, None, np.empty((0, 4, 4)))
    assert again(empty, tmp_path).rows.tolist() == []
    result = pickle.loads(pickle.dumps(gk.distance(box, box, None, naive.pose(translation=(3, 0, 0)))))
    assert again(result, tmp_path).sameness is Sameness.SAME
    stack = gk.distance(box, box, None, np.tile(np.eye(4), (5, 1, 1)))
    assert again(stack[np.array([0, 3])], tmp_path).rows.tolist() == [0, 0]


def test_results_of_prepared_pairs_replay_the_same(tmp_path):
    box, ball = gk.Box((1, 1, 1)), gk.Sphere(0.3)
    pose = naive.pose(translation=(1.5, 0.2, 0.1))
    result = gk.Pair(box, ball, warm=False).signed_distance(None, pose, tol=1e-2)
    assert again(result, tmp_path).sameness is Sameness.SAME
    many = gk.Pairs([box, ball]).signed_distance([(0, 1), (1, 0)], np.array([np.eye(4), pose]))
    with pytest.raises(TypeError, match=r"result\[i\]\.to_json\(\)"):
        many.to_json()
    for row in (many[1], many[1:][0]):
        rerun = again(row, tmp_path)
        assert rerun.sameness is Sameness.SAME
        assert rerun.case.a == ball


@pytest.mark.parametrize("name", SHAPES)
def test_certificates_round_trip_and_replay(name, tmp_path):
    rng = np.random.default_rng(7)
    a, b = SHAPES[name], SHAPES["rounded cone"]
    for poses in zip(*random_poses(rng, a, b, 3), strict=True):
        result = gk.signed_distance(build(a), build(b), *poses, certificate=True)
        rerun = again(result, tmp_path)
        assert rerun.sameness is Sameness.SAME
        for certificate in (rerun.case.answer.certificate, rerun.now.certificate):
            for array, expected in zip(certificate, result.certificate, strict=True):
                np.testing.assert_array_equal(array, expected)
    plane = gk.distance(gk.Halfspace((0, 0, 1)), build(a), certificate=True)
    assert again(plane, tmp_path).now.certificate.kind == "plane"


def test_document_contains_versions_and_arguments():
    document = json.loads(gk.distance(gk.Sphere(1), gk.Point((3, 0, 0)), max_distance=np.float32(5), tol=0).to_json())
    assert document["versions"]["gjk3d"] == gk.__version__
    assert set(document["versions"]) == {"gjk3d", "numpy", "llvmlite", "python", "platform"}
    assert document["arguments"] == {"max_distance": 5.0, "tol": 0.0}
    assert document["answer"]["status"] == "separated"


@pytest.mark.full
def test_too_large_document_is_not_written():
    box = gk.Box((1, 1, 1))
    poses = np.tile(np.eye(4), (100000, 1, 1))
    result = gk.distance(box, box, None, poses)
    with pytest.raises(ValueError) as caught:
        result.to_json()
    assert_names(caught.value, "17.2 MiB", "result[i].to_json()")


# altered results ----------------------------------------------------------------------------------------------------


def altered(result, path, change):
    """Write the changed document of a result to a path and return the path."""
    document = json.loads(result.to_json())
    change(document)
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def separated_result():
    pose = naive.pose(translation=(2, 0.1, 0.2))
    return gk.signed_distance(gk.Box((1, 1, 1)), gk.Sphere(0.3), None, pose, certificate=True)


@pytest.mark.parametrize(
    ("change", "sameness"),
    [
        (lambda answer: answer.update(upper=np.nextafter(answer["upper"], 9)), "AGREES"),
        (lambda answer: answer["normal"].__setitem__(1, -0.0), "AGREES"),
        (lambda answer: answer.update(tight=False), "AGREES"),
        (lambda answer: answer.update(lower=0.5, distance=0.5, upper=0.5), "CONTRADICTS"),
        (lambda answer: answer.update(lower=9.0, distance=9.0, upper="inf"), "CONTRADICTS"),
        (lambda answer: answer.update(lower="nan", distance="nan", upper="nan"), "CONTRADICTS"),
        (lambda answer: answer.update(lower="-inf", upper="inf"), "AGREES"),
        (lambda answer: answer.update(iterations=99), "SAME"),
    ],
)
def test_altered_result_is_classified(separated_result, tmp_path, change, sameness):
    rerun = run(altered(separated_result, tmp_path / "case.json", lambda document: change(document["answer"])))
    assert rerun.sameness.name == sameness
    assert sameness.lower() in repr(rerun)


def test_each_row_of_a_stack_is_compared(tmp_path):
    box = gk.Box((1, 1, 1))
    poses = np.tile(np.eye(4), (4, 1, 1))
    poses[:, 0, 3] = (0.5, 1, 1.5, 3)
    result = gk.signed_distance(box, box, poses)
    file = altered(result, tmp_path / "case.json", lambda document: document["answer"]["upper"].__setitem__(2, 0.25))
    assert run(file).rows.tolist() == [0, 0, 2, 0]


def test_non_finite_result_is_written(separated_result, tmp_path):
    assert separated_result.lower > 0.0  # reading a field unpacks the row of the result
    separated_result.upper, separated_result.normal = np.inf, np.array([np.nan, 0.0, -0.0])
    rerun = run(altered(separated_result, tmp_path / "case.json", lambda document: None))
    assert rerun.case.answer.upper == np.inf
    assert np.isnan(rerun.case.answer.normal[0])
    assert rerun.sameness is Sameness.AGREES


# invalid documents --------------------------------------------------------------------------------------------------


def setter(path, value):
    """Return a function that sets or deletes (KeyError) the entry of a document at a path of keys."""

    def change(document):
        *way, last = path
        for step in way:
            document = document[step]
        if value is KeyError:
            del document[last]
        else:
            document[last] = value

    return change


HULL = {"shape": "ConvexHull", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}
TETRAHEDRON = {
    "dimension": 3,
    "defect": 0.0,
    "faces": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    "angles": [1.0] * 6,
}
PART = {"kind": "cone", "numbers": [1, 1], "matrix": np.eye(3).tolist(), "offset": [0, 0, 0]}


def composed(**changes):
    return {"shape": "Composed", "terms": [[PART | changes]], "radius": 0}


BAD = [
    (("format",), "mesh", ("format", '"mesh"', '"gjk3d-replay"')),
    (("format",), KeyError, ("case.json", "'format'")),
    (("schema_version",), 2, ("schema_version", "2", "1 to 1")),
    (("query",), "exit", ("query", '"exit"', "'distance'", "'signed_distance'")),
    (
        ("arguments",),
        [],
        (
            "arguments",
            "list of 0",
        ),
    ),
    (("arguments", "depth"), "deep", ("arguments.depth", '"deep"', "'auto'")),
    (("arguments", "tol"), -1, ("arguments.tol", "-1", "null")),
    (("arguments", "tol"), True, ("arguments.tol", "true")),
    (("arguments", "file"), "/etc/passwd", ("arguments", "'file'", "depth")),
    (("a",), None, (": a ", "null")),
    (("a", "shape"), "Tyre", ("a.shape", '"Tyre"', "Point")),
    (("a", "shape"), 7, ("a.shape", "7")),
    (("a", "shape"), "__class__", ("a.shape", '"__class__"', "Point")),
    (("a", "extents"), [1, 1], ("a.extents", "2 entries", "3")),
    (("a", "extents"), [1, 1, "x"], ("a.extents[2]", '"x"')),
    (("a", "extents"), [1, 1, "0xzz"], ("a.extents[2]", '"0xzz"')),
    (("a", "extents"), [1, 1, 0], ("Box:", "extents", "[1.0, 1.0, 0.0]")),
    (("a", "extents"), [1, 1, 1e60], ("Box:", "extents", "1e+60", "1e+50")),
    (("a", "extents"), [1, 1, 10**400], ("a.extents[2]", "64 bits")),
    (("a", "extents"), {"0": 1}, ("a.extents", "object of 1")),
    (("a",), {**HULL, "points": []}, ("ConvexHull:", "points", "empty")),
    (("a",), {**HULL, "points": [[0, 0]]}, ("a.points[0]", "2 entries", "3")),
    (("a",), {**HULL, **TETRAHEDRON, "faces": TETRAHEDRON["faces"][1:]}, ("a.faces", "list of 3", "closed")),
    (("a",), {**HULL, **TETRAHEDRON, "faces": [[0, 2, 4]]}, ("a.faces[0][2]", "4", "0 to 3")),
    (("a",), {**HULL, **TETRAHEDRON, "faces": [[0, 2]]}, ("a.faces[0]", "2 entries", "3")),
    (("a",), {**HULL, **TETRAHEDRON, "angles": []}, ("a.faces", "list of 4")),
    (("a",), {**HULL, **TETRAHEDRON, "dimension": 1}, ("a.faces", "list of 4")),
    (("a",), {**HULL, **TETRAHEDRON, "dimension": 4}, ("a.dimension", "4", "0 to 3")),
    (("a",), {**HULL, **TETRAHEDRON, "defect": -1}, ("a.defect", "-1", "1e+50")),
    (("a",), {**HULL, "faces": []}, ("'dimension'",)),
    (("a",), {"shape": "Rounded", "core": {"shape": "Halfspace"}, "radius": 1}, ("a.core.shape", '"Halfspace"')),
    (("a",), {"shape": "Rounded", "core": HULL, "radius": -1}, ("Rounded:", "radius", "-1")),
    (("a",), {"shape": "Composed", "terms": [], "radius": 0}, ("a.terms ", "list of 0")),
    (("a",), {"shape": "Composed", "terms": [[]], "radius": 0}, ("a.terms ", "list of 1")),
    (("a",), {"shape": "Composed", "terms": [[PART]], "radius": -1}, ("a.radius", "-1", "1e+50")),
    (("a",), composed(kind="tyre"), ("a.terms[0][0].kind", '"tyre"', "'point'")),
    (("a",), composed(numbers=[1]), ("a.terms[0][0].numbers", "list of 1", "cone")),
    (("a",), composed(numbers=[1, 0]), ("a.terms[0][0].numbers", "list of 2", "more than 0")),
    (("a",), composed(kind="hull", numbers=[]), ("a.terms[0][0].numbers", "list of 0", "hull")),
    (("a",), composed(offset=[0, 0, 1e99]), ("a.terms[0][0].offset", "list of 3", "1e+50")),
    (("a",), composed(matrix=np.zeros((3, 3)).tolist()), ("a.terms[0][0].matrix", "list of 3", "invertible")),
    (("b",), {"shape": "Halfspace", "normal": [0, 0, 0], "offset": 0}, ("Halfspace:", "normal", "[0, 0, 0]")),
    (("pose_b",), np.zeros((4, 4)).tolist(), ("pose_b", "last row", "[0.0, 0.0, 0.0, 0.0]")),
    (("pose_b",), [1, 2, 3], ("pose_b[0]", "1")),
    (("pose_b",), [[1, 2, 3]], ("pose_b", "1 entries", "4")),
    (("pose_b",), [np.eye(4).tolist()] * 2, ("certificate=True", "one pair")),
    (("pose_b",), "I", ("pose_b", '"I"')),
    (("answer", "status"), "fine", ("answer.status", '"fine"')),
    (("answer", "status"), ["separated"], ("answer.tight", "true", "a list")),
    (("answer", "tight"), 1, ("answer.tight", "1", "true", "false")),
    (("answer", "iterations"), 1.5, ("answer.iterations", "1.5")),
    (("answer", "distance"), "about 1", ("answer.distance", '"about 1"')),
    (("answer", "normal"), KeyError, ("answer", "'normal'")),
    (("certificate",), {}, ("certificate", "'kind'")),
    (("certificate", "kind"), "hope", ("certificate.kind", '"hope"')),
    (("certificate", "faces"), [[0, 1, 99]], ("certificate.faces[0][2]", "99")),
    (("certificate", "weights"), [None], ("certificate.weights[0]", "null")),
    (("certificate", "points_a"), [[1, 2]], ("certificate.points_a[0]", "2 entries", "3")),
    (("versions",), {"gjk3d": 1}, ("versions.gjk3d", "1")),
]


@pytest.mark.parametrize(("path", "value", "fragments"), BAD, ids=lambda x: None)
def test_invalid_document_raises_one_line_error(separated_result, tmp_path, path, value, fragments):
    file = altered(separated_result, tmp_path / "case.json", setter(path, value))
    with pytest.raises(gk.errors.ParseError) as error:
        run(file)
    message = str(error.value)
    assert_names(message, *fragments)
    assert message.startswith("case.json")
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        (b"", ("JSON", "line 1 column 1")),
        (b"\x00\xff\xfe", ("JSON", "'utf-8'", "0xff")),
        (b"{", ("JSON", "line 1 column 2")),
        (b"[1, 2]", ("case.json", "list of 2")),
        (b"null", ("case.json", "null")),
        (b'{"format": NaN}', ("JSON", "NaN")),
        (b'{"format": -Infinity}', ("JSON", "-Infinity")),
        (b'{"a": 1, "a": 2}', ("'a'", "twice")),
        (b"[" * 1_000_000, ("case.json", "nested")),
        (b'{"a":' * 500_000, ("case.json", "nested")),
        (b'{"format": ' + b"9" * 100_000 + b"}", ("JSON", "digits")),
        (b" " * (16 << 20) + b" ", ("case.json", "16 MiB")),
    ],
    ids=lambda x: None,
)
def test_invalid_json_raises_one_line_error(tmp_path, content, fragments):
    file = tmp_path / "case.json"
    file.write_bytes(content)
    with pytest.raises(gk.errors.ParseError) as error:
        read(file)
    assert_names(error.value, *fragments)
    assert "\n" not in str(error.value)


def test_number_beyond_floats_raises(separated_result, tmp_path):
    file = tmp_path / "case.json"
    file.write_text(separated_result.to_json().replace('"radius": 0.3', '"radius": 1e999'))
    with pytest.raises(gk.errors.ParseError) as caught:
        read(file)
    assert_names(caught.value, "b.radius", "Infinity")


def test_huge_file_is_not_read(tmp_path):
    file = tmp_path / "case.json"
    with file.open("wb") as stream:
        stream.truncate(4 << 30)  # sparse
    with pytest.raises(gk.errors.ParseError, match="16 MiB"):
        read(file)


def test_missing_file_and_folder_raise(tmp_path):
    with pytest.raises(gk.errors.FileError, match=r"case\.json"):
        read(tmp_path / "case.json")
    with pytest.raises(gk.errors.FileError, match=r"\bfolder\b"):
        read(tmp_path)


def test_mismatched_number_of_poses_raises(tmp_path):
    box = gk.Box((1, 1, 1))
    single, stack = gk.distance(box, box), gk.distance(box, box, None, np.tile(np.eye(4), (3, 1, 1)))
    for result, poses, fragments in (
        (single, [np.eye(4).tolist()] * 2, ("one pair", "stack of 2")),
        (stack, [np.eye(4).tolist()] * 2, ("stack of 3", "stack of 2")),
        (stack, None, ("stack of 3", "one pair")),
    ):
        file = altered(result, tmp_path / "case.json", setter(("pose_b",), poses))
        with pytest.raises(gk.errors.ParseError) as caught:
            run(file)
        assert_names(caught.value, *fragments)


def test_two_half_spaces_raise(separated_result, tmp_path):
    def change(document):
        document["a"] = document["b"] = {"shape": "Halfspace", "normal": [0, 0, 1], "offset": 0}

    with pytest.raises(gk.errors.ParseError) as caught:
        run(altered(separated_result, tmp_path / "case.json", change))
    assert_names(caught.value, "case.json:", "Halfspace", "large Box")


def test_wrong_hull_faces_do_not_crash(tmp_path):
    """A closed surface that is not the hull gives a comparison of results and no crash."""
    rng = np.random.default_rng(5)
    points = naive.unit_vectors(rng, 60)
    shape = gk.ConvexHull(points)
    result = gk.signed_distance(shape, gk.Box((1, 1, 1)), None, naive.pose(translation=(1.2, 0.1, 0.3)))
    hull = shape._hull()
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(len(shape.vertices))

        def change(document, shuffled=shuffled):
            document["a"] |= {"dimension": 3, "defect": 0.0, "angles": hull.angles.tolist()}
            document["a"]["faces"] = shuffled[shape.faces].tolist()

        rerun = run(altered(result, tmp_path / "case.json", change))
        assert rerun.sameness in Sameness
