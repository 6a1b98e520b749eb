"""A question and its answer as a document: it comes back bit for bit, is asked again, and lies in it are found."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given
from strategies import CHOSEN_PAIRS, SHAPES, build, clouds, pairs, random_poses, sampled
from words import assert_names

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
    return read_shape(Value(json.loads(json.dumps(write_shape(shape), allow_nan=False)), "a"))


def assert_same_shape(one, other):
    assert type(one) is type(other)
    assert one == other
    if not isinstance(one, gk.Halfspace):
        for mine, theirs in zip(one._packed, other._packed, strict=True):
            np.testing.assert_array_equal(mine, theirs)


# shapes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_every_kind_of_shape_comes_back_bit_for_bit(name):
    shape = build(SHAPES[name])
    assert_same_shape(shape, through_json(shape))
    for other in (
        shape.inflated(0.1),
        shape.scaled((0.3, 1 / 3, 7.0)),
        shape.placed(naive.pose(translation=(0.1,) * 3)),
    ):
        assert_same_shape(other, through_json(other))


def test_every_class_of_shapes_is_covered():
    from gjk3d.shapes.table import SHAPES as CLASSES

    seen = {type(build(spec)) for spec in SHAPES.values()} | {gk.Halfspace, gk.Plane}
    assert seen == set(CLASSES)


def test_half_spaces_come_back_bit_for_bit():
    rng = np.random.default_rng(1)
    divided_again = 0
    for _ in range(200):
        plane = gk.Halfspace(rng.normal(size=3), rng.normal())
        assert_same_shape(plane, through_json(plane))
        divided_again += gk.Halfspace(plane.normal, plane.offset) != plane
    assert divided_again > 0  # so the class itself would not have done it


@given(clouds())
def test_hulls_of_nasty_points_come_back_bit_for_bit(points):
    shape = gk.ConvexHull(points)
    assert_same_shape(shape, through_json(shape))
    again = through_json(shape)
    for mine, theirs in zip(shape._gauss_map(), again._gauss_map(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert again.volume == pytest.approx(shape.volume, rel=1e-6, abs=1e-9 * np.ptp(points, axis=0).max() ** 3)


def test_hulls_that_their_vertices_do_not_tell_come_back_bit_for_bit():
    rng = np.random.default_rng(0)
    kept = 0
    for count in (50, 300, 1000):
        points = rng.normal(size=(count, 3))
        shape = gk.ConvexHull(points * (1, 1, 10.0 ** -rng.integers(0, 9)))
        kept += "faces" in write_shape(shape)
        again = through_json(shape)
        assert_same_shape(shape, again)
        np.testing.assert_array_equal(shape.faces, again.faces)
        assert pickle.loads(pickle.dumps(again)) == shape
    assert kept > 0


def test_a_shape_of_an_own_class_is_not_written():
    class Strange(Shape):
        __slots__ = ()

    with pytest.raises(gk.errors.UnsupportedPair, match="Strange"):
        write_shape(Strange())


# answers ------------------------------------------------------------------------------------------------------------


def again(result, folder):
    """What the document of an answer says when it is read and asked again."""
    file = folder / "case.json"
    text = result.to_json(file)
    assert file.read_text() == text == to_json(result)
    found = run(file)
    case = found.case
    for name in ("distance", "lower", "upper", "normal", "point_a", "point_b", "status", "tight", "iterations"):
        np.testing.assert_array_equal(getattr(case.answer, name), getattr(result, name))
    assert (case.a, case.b) == (result.shape_a, result.shape_b)
    assert case.answer.trace is None
    assert to_json(case.answer) == text
    for pose, asked in ((case.pose_a, result.pose_a), (case.pose_b, result.pose_b)):
        assert pose is None if asked is None else np.array_equal(pose, asked)
    return found


@pytest.mark.parametrize(("query", "options"), MODES)
def test_chosen_pairs_are_the_same_again(query, options, tmp_path):
    rng = np.random.default_rng(3)
    overlapping = []
    for one, other in CHOSEN_PAIRS:
        a, b = SHAPES[one], SHAPES[other]
        poses = random_poses(rng, a, b, 3)
        result = query(build(a), build(b), *poses, **options)
        found = again(result, tmp_path)
        assert found.rows.tolist() == [Sameness.SAME] * 3
        assert found.case.query == query.__name__
        assert again(result[1], tmp_path).sameness is Sameness.SAME  # a row of a stack is the answer of one pair
        overlapping += (result.status == gk.Status.OVERLAPPING).tolist()
    assert 0.3 < np.mean(overlapping) < 0.7


@given(pairs())
def test_any_pair_is_the_same_again(tmp_path_factory, pair):
    a, pose_a, b, pose_b = pair
    folder = tmp_path_factory.getbasetemp()
    for query in (gk.distance, gk.signed_distance):
        assert again(query(build(a), build(b), pose_a, pose_b), folder).sameness is Sameness.SAME


@pytest.mark.full
@pytest.mark.parametrize("name", sampled(((name,) for name in SHAPES), 3))
def test_facets_traces_and_half_spaces_are_the_same_again(name, tmp_path):
    shape, plane = build(SHAPES[name]), gk.Halfspace((1, 2, 3), 0.25)
    assert again(gk.signed_distance(plane, shape), tmp_path).sameness is Sameness.SAME
    assert again(gk.distance(shape, plane, None, np.tile(np.eye(4), (2, 1, 1))), tmp_path).sameness is Sameness.SAME
    cone = build(SHAPES["cone"])
    for pair in ((shape, cone), (cone, shape)):  # a trace keeps the order asked, and so other bits
        found = again(gk.signed_distance(*pair, trace=True), tmp_path)
        assert found.sameness is Sameness.SAME
        assert found.now.trace is not None
    if shape._packed[0][3]:
        found = again(gk.signed_distance(shape, build(SHAPES["hull"]), depth="facets"), tmp_path)
        assert found.sameness is Sameness.SAME
        assert found.case.arguments["depth"] == "facets"


@pytest.mark.parametrize("file", GOLDEN, ids=lambda f: f.stem)
def test_golden_cases_are_the_same_again(file, tmp_path):
    """The shapes of a golden case are written as those of a document are, their numbers in hex."""
    case = json.loads(file.read_text())
    a, b = (
        golden.shape(case[side]) if case[side]["shape"] == "Mesh" else read_shape(Value(case[side], side))
        for side in "ab"
    )
    poses = [None if case[k] is None else Value(case[k], k).array(4, 4) for k in ("pose_a", "pose_b")]
    result = getattr(gk, case["query"])(a, b, *poses)
    assert result.status is gk.Status[case["expected"]["status"]]
    assert again(result, tmp_path).sameness is Sameness.SAME


def test_empty_stacks_and_kept_answers(tmp_path):
    box = gk.Box((1, 1, 1))
    empty = gk.distance(box, box, None, np.empty((0, 4, 4)))
    assert again(empty, tmp_path).rows.tolist() == []
    result = pickle.loads(pickle.dumps(gk.distance(box, box, None, naive.pose(translation=(3, 0, 0)))))
    assert again(result, tmp_path).sameness is Sameness.SAME
    stack = gk.distance(box, box, None, np.tile(np.eye(4), (5, 1, 1)))
    assert again(stack[np.array([0, 3])], tmp_path).rows.tolist() == [0, 0]


def test_answers_of_prepared_pairs(tmp_path):
    box, ball = gk.Box((1, 1, 1)), gk.Sphere(0.3)
    pose = naive.pose(translation=(1.5, 0.2, 0.1))
    result = gk.Pair(box, ball, warm=False).signed_distance(None, pose, tol=1e-2)
    assert again(result, tmp_path).sameness is Sameness.SAME
    many = gk.Pairs([box, ball]).signed_distance([(0, 1), (1, 0)], np.array([np.eye(4), pose]))
    with pytest.raises(TypeError, match=r"result\[i\]\.to_json\(\)"):
        many.to_json()
    for row in (many[1], many[1:][0]):
        found = again(row, tmp_path)
        assert found.sameness is Sameness.SAME
        assert found.case.a == ball


@pytest.mark.parametrize("name", SHAPES)
def test_certificates_come_back_and_are_kept_again(name, tmp_path):
    rng = np.random.default_rng(7)
    a, b = SHAPES[name], SHAPES["rounded cone"]
    for poses in zip(*random_poses(rng, a, b, 3), strict=True):
        result = gk.signed_distance(build(a), build(b), *poses, certificate=True)
        found = again(result, tmp_path)
        assert found.sameness is Sameness.SAME
        for certificate in (found.case.answer.certificate, found.now.certificate):
            for one, other in zip(certificate, result.certificate, strict=True):
                np.testing.assert_array_equal(one, other)
    plane = gk.distance(gk.Halfspace((0, 0, 1)), build(a), certificate=True)
    assert again(plane, tmp_path).now.certificate.kind == "plane"


def test_the_document_says_what_it_was_made_by():
    document = json.loads(gk.distance(gk.Sphere(1), gk.Point((3, 0, 0)), max_distance=np.float32(5), tol=0).to_json())
    assert document["versions"]["gjk3d"] == gk.__version__
    assert set(document["versions"]) == {"gjk3d", "numpy", "llvmlite", "python", "platform"}
    assert document["arguments"] == {"max_distance": 5.0, "tol": 0.0}
    assert document["answer"]["status"] == "separated"


@pytest.mark.full
def test_a_document_too_large_to_be_read_is_not_written():
    box = gk.Box((1, 1, 1))
    poses = np.tile(np.eye(4), (100000, 1, 1))
    result = gk.distance(box, box, None, poses)
    with pytest.raises(ValueError) as caught:
        result.to_json()
    assert_names(caught.value, "17.2 MiB", "result[i].to_json()")


# lies ---------------------------------------------------------------------------------------------------------------


def altered(result, path, change):
    document = json.loads(result.to_json())
    change(document)
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def apart():
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
def test_another_answer_is_told_from_the_same(apart, tmp_path, change, sameness):
    found = run(altered(apart, tmp_path / "case.json", lambda document: change(document["answer"])))
    assert found.sameness.name == sameness
    assert sameness.lower() in repr(found)


def test_each_row_of_a_stack_is_compared(tmp_path):
    box = gk.Box((1, 1, 1))
    poses = np.tile(np.eye(4), (4, 1, 1))
    poses[:, 0, 3] = (0.5, 1, 1.5, 3)
    result = gk.signed_distance(box, box, poses)
    file = altered(result, tmp_path / "case.json", lambda document: document["answer"]["upper"].__setitem__(2, 0.25))
    assert run(file).rows.tolist() == [0, 0, 2, 0]


def test_an_answer_that_should_not_be_is_written_too(apart, tmp_path):
    assert apart.lower > 0.0  # the row of an answer is unpacked when it is first looked at
    apart.upper, apart.normal = np.inf, np.array([np.nan, 0.0, -0.0])
    found = run(altered(apart, tmp_path / "case.json", lambda document: None))
    assert found.case.answer.upper == np.inf
    assert np.isnan(found.case.answer.normal[0])
    assert found.sameness is Sameness.AGREES


# files that make no sense -------------------------------------------------------------------------------------------


def setter(path, value):
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
def test_bad_documents_are_refused_in_one_line(apart, tmp_path, path, value, fragments):
    file = altered(apart, tmp_path / "case.json", setter(path, value))
    with pytest.raises(gk.errors.ParseError) as error:
        run(file)
    said = str(error.value)
    assert_names(said, *fragments)
    assert said.startswith("case.json")
    assert "\n" not in said
    assert len(said) < 300


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
def test_junk_is_refused_in_one_line(tmp_path, content, fragments):
    file = tmp_path / "case.json"
    file.write_bytes(content)
    with pytest.raises(gk.errors.ParseError) as error:
        read(file)
    assert_names(error.value, *fragments)
    assert "\n" not in str(error.value)


def test_a_number_beyond_floats_is_refused(apart, tmp_path):
    file = tmp_path / "case.json"
    file.write_text(apart.to_json().replace('"radius": 0.3', '"radius": 1e999'))
    with pytest.raises(gk.errors.ParseError) as caught:
        read(file)
    assert_names(caught.value, "b.radius", "Infinity")


def test_a_huge_file_costs_no_time_and_no_memory(tmp_path):
    file = tmp_path / "case.json"
    with file.open("wb") as stream:
        stream.truncate(4 << 30)  # sparse
    with pytest.raises(gk.errors.ParseError, match="16 MiB"):
        read(file)


def test_no_file_and_a_folder_are_told(tmp_path):
    with pytest.raises(gk.errors.FileError, match=r"case\.json"):
        read(tmp_path / "case.json")
    with pytest.raises(gk.errors.FileError, match=r"\bfolder\b"):
        read(tmp_path)


def test_poses_of_another_number_than_answers_are_refused(tmp_path):
    box = gk.Box((1, 1, 1))
    one, stack = gk.distance(box, box), gk.distance(box, box, None, np.tile(np.eye(4), (3, 1, 1)))
    for result, poses, fragments in (
        (one, [np.eye(4).tolist()] * 2, ("one pair", "stack of 2")),
        (stack, [np.eye(4).tolist()] * 2, ("stack of 3", "stack of 2")),
        (stack, None, ("stack of 3", "one pair")),
    ):
        file = altered(result, tmp_path / "case.json", setter(("pose_b",), poses))
        with pytest.raises(gk.errors.ParseError) as caught:
            run(file)
        assert_names(caught.value, *fragments)


def test_two_half_spaces_are_refused(apart, tmp_path):
    def change(document):
        document["a"] = document["b"] = {"shape": "Halfspace", "normal": [0, 0, 1], "offset": 0}

    with pytest.raises(gk.errors.ParseError) as caught:
        run(altered(apart, tmp_path / "case.json", change))
    assert_names(caught.value, "case.json:", "Halfspace", "large Box")


def test_hulls_with_made_up_faces_do_no_harm(tmp_path):
    """A surface that is closed and no hull's: a wrong answer is seen as one, and nothing breaks."""
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

        found = run(altered(result, tmp_path / "case.json", change))
        assert found.sameness in Sameness
