"""Replay documents of meshes, compounds, grids, clouds and height fields: exact round trips and rejected input."""

from __future__ import annotations

import base64
import contextlib
import json
import pickle

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names

import gjk3d as gk
from gjk3d.replay import Sameness, run
from gjk3d.replay.shapes import Value, read_collider, write_collider
from tests.bodies.every_kind import KINDS
from tests.bodies.random_shapes import at
from tests.replay.test_replay import again, altered, setter

SHAPES = {"box": gk.Box((0.5, 0.6, 0.7)), "cone": gk.Cone(0.4, 0.8), "solid": KINDS["solid"]().body}


def through_json(body):
    return read_collider(Value(json.loads(json.dumps(write_collider(body), allow_nan=False)), "a"))


@given(
    name=st.sampled_from(sorted(KINDS)),
    seed=st.integers(0, 2**31),
    size=st.sampled_from([1.0, 1e-40, 1e40]),
)
def test_every_body_round_trips_bit_for_bit(name, seed, size):
    made = {"solid": lambda: KINDS[name](size), "ground": lambda: KINDS[name](seed)}
    body = made.get(name, lambda: KINDS[name](seed, size))().body
    restored = through_json(body)
    assert restored == body
    assert hash(restored) == hash(body)
    assert restored._order == body._order
    assert pickle.dumps(restored) == pickle.dumps(body)


@pytest.mark.parametrize("query", [gk.distance, gk.signed_distance])
@pytest.mark.parametrize("other", SHAPES)
@pytest.mark.parametrize("name", KINDS)
def test_replay_of_every_body_is_the_same(name, other, query, tmp_path):
    body = KINDS[name]().body
    for pair in ((body, SHAPES[other]), (SHAPES[other], body)):
        result = query(*pair, at(0.1, 0.2, 0.3), at(0.3, 0.4, 4.5))
        assert again(result, tmp_path).sameness is Sameness.SAME
        stack = query(*pair, None, np.stack([at(0.3, 0.4, 4.5), at(0.3, 0.4, 0.8)]), max_distance=3.0)
        assert again(stack, tmp_path).rows.tolist() == [0, 0]


def test_names_units_and_surfaces_are_written():
    solid = KINDS["solid"]().body
    mesh = gk.Mesh(solid.vertices, solid.faces, name="ell", unit="meters", solid=False)
    restored = through_json(mesh)
    assert (restored.name, restored.unit, restored.is_solid) == ("ell", "meters", False)
    assert through_json(gk.Mesh(solid.vertices, solid.faces, rounding=2.5e-4)).rounding == 2.5e-4
    assert restored == mesh
    assert not gk.collide(restored, gk.Sphere(0.1), None, naive.pose(translation=(0.5, 0.5, 0.5)))


def test_repeated_part_is_written_once():
    mesh = KINDS["solid"]().body
    compound = gk.Compound([(mesh, at(x, 0, 0)) for x in range(5)])
    written = write_collider(compound)
    assert (len(written["things"]), written["which"]) == (1, [0] * 5)
    assert through_json(compound) == compound


def test_composed_poses_round_trip_bit_for_bit():
    rng = np.random.default_rng(4)
    for _ in range(50):
        turn = naive.random_rotations(rng, 1)[0] + 1e-8 * rng.normal(size=(3, 3))
        inner = gk.Compound([(gk.Box((1, 2, 3)), naive.pose(turn, rng.normal(size=3)))])
        outer = gk.Compound([(inner, naive.pose(turn.T, rng.normal(size=3))), (gk.Sphere(1), None)])
        for compound in (inner, outer):
            assert through_json(compound) == compound


def test_document_written_by_hand_is_read():
    tetrahedron = {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "faces": [[0, 2, 1], [0, 1, 3]]}
    by_hand = {"shape": "Mesh", **tetrahedron}
    assert read_collider(Value(by_hand, "a")) == gk.Mesh(**tetrahedron)
    compound = {"shape": "Compound", "things": [by_hand], "which": [0], "poses": [np.eye(4).tolist()]}
    assert read_collider(Value(compound, "a")) == gk.Compound([(gk.Mesh(**tetrahedron), None)])
    ground = {"shape": "HeightField", "heights": [[0, 1], [2, 3], [4, 5]], "pitch": 1, "origin": [0, 0]}
    assert read_collider(Value(ground, "a")).heights.tolist() == ground["heights"]


def test_oversized_body_raises_on_write():
    cloud = gk.PointCloud(np.random.default_rng(0).normal(size=(600_000, 3)), 0.001)
    with pytest.raises(ValueError, match=r"\b18\.\d MiB, expected at most 16.*files"):
        gk.distance(cloud, gk.Point((9, 9, 9))).to_json()
    larger = gk.PointCloud(np.random.default_rng(0).normal(size=(800_000, 3)), 0.001)
    with pytest.raises(ValueError) as caught:
        gk.distance(larger, gk.Point((9, 9, 9))).to_json()
    assert_names(caught.value, "18.3 MiB", "array", "its file")


def test_user_class_raises_on_write():
    class Own(gk.PointCloud):
        __slots__ = ()

    with pytest.raises(gk.errors.UnsupportedPair) as caught:
        gk.distance(Own([(0, 0, 0)], 1.0), gk.Point((9, 9, 9))).to_json()
    assert_names(caught.value, "Own", "gjk3d.Mesh")


# inconsistent and malformed documents ------------------------------------------------------------------------------


@pytest.fixture
def separated_result():
    return gk.signed_distance(KINDS["cloud"]().body, gk.Box((1, 1, 1)), None, at(0, 0, 4))


def encoded(array, **changes):
    array = np.asarray(array)
    text = base64.b64encode(array.tobytes()).decode()
    return {"type": array.dtype.name, "length": list(array.shape), "base64": text} | changes


def bits(**changes):
    return {"type": "bits", "length": [2, 2, 2], "base64": "gA=="} | changes


def cloud(**points):
    return {"shape": "PointCloud", "points": encoded(np.zeros((2, 3)), **points), "radius": 1}


MESH = {"shape": "Mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faces": [[0, 1, 2]]}
GROUND = {"shape": "HeightField", "heights": [[0, 1], [2, 3]], "pitch": 1, "origin": [0, 0]}
EYE = np.eye(4).tolist()
COMPOUND = {"shape": "Compound", "things": [MESH], "which": [0], "poses": [EYE]}
BAD = [
    (cloud(base64="AAAA"), ("a.points.base64", "3 bytes", "48")),
    (cloud(base64="A?=="), ("a.points.base64", '"A?=="')),
    (cloud(base64=7), ("a.points.base64", "7")),
    (cloud(length=[2, 4]), ("a.points.length", "list of 2", "any, 3")),
    (cloud(length=[1 << 40, 3]), ("a.points.length[0]", "1099511627776")),
    (cloud(length=[1 << 24, 3]), ("a.points.base64", "48 bytes", "402653184")),
    (cloud(length=[-2, 3]), ("a.points.length[0]", "-2")),
    (cloud(type="object"), ("a.points.type", '"object"', "'float64'")),
    (cloud(more=1), ("a.points", "'more'")),
    ({**cloud(), "points": encoded(np.full((1, 3), np.nan))}, ("PointCloud:", "points[0]", "nan")),
    ({**cloud(), "points": encoded(np.zeros((0, 3)))}, ("PointCloud:", "points", "empty")),
    ({**cloud(), "radius": -1}, ("PointCloud:", "radius", "-1")),
    ({**cloud(), "radius": None}, ("a.radius", "null")),
    ({**MESH, "faces": [[0, 1, 3]]}, ("faces[0]", "[0, 1, 3]", "3 vertices")),
    ({**MESH, "faces": encoded(np.array([[0, 1, -1]], dtype=np.int32))}, ("faces[0]", "[0, 1, -1]")),
    ({**MESH, "faces": [[0, 1, 2.5]]}, ("a.faces[0][2]", "2.5")),
    ({**MESH, "faces": []}, ("a: faces", "empty")),
    ({**MESH, "vertices": None}, ("a.vertices", "null")),
    ({**MESH, "name": 3}, ("a.name", "3")),
    ({**MESH, "solid": "yes"}, ("a.solid", '"yes"', "true or false")),
    ({**MESH, "source": "/etc/passwd"}, ("'source'", "vertices")),
    ({**GROUND, "heights": [[0, 1]]}, ("HeightField:", "heights", "(1, 2)")),
    ({**GROUND, "heights": [[0, 1], [2]]}, ("a.heights[1]", "1 entries", "2")),
    ({**GROUND, "heights": 5}, ("a.heights", "5")),
    ({**GROUND, "origin": [0, 0, 0]}, ("a.origin", "3 entries", "2")),
    ({**COMPOUND, "which": [1]}, ("a.which[0]", "1", "0 to 0")),
    ({**COMPOUND, "which": []}, ("a.poses", "1 entries", "0")),
    ({**COMPOUND, "which": [], "poses": []}, ("Compound:", "parts", "empty")),
    ({**COMPOUND, "things": [GROUND]}, ("a.things[0].shape", '"HeightField"', "Mesh")),
    ({**COMPOUND, "things": [COMPOUND]}, ("a.things[0].shape", '"Compound"', "Mesh")),
    ({**COMPOUND, "poses": [(2 * np.eye(4)).tolist()]}, ("parts[0][1]", "last row")),
    ({**COMPOUND, "poses": [EYE] * 2}, ("a.poses", "2 entries", "1")),
    ({**COMPOUND, "residuals": [0.5]}, ("a.residuals", "list of 1")),
    ({**COMPOUND, "residuals": ["nan"]}, ("a.residuals[0]", '"nan"')),
    ({"shape": "VoxelGrid", "occupied": bits(), "pitch": 0, "origin": [0, 0, 0]}, ("VoxelGrid:", "pitch", "0")),
    (
        {"shape": "VoxelGrid", "occupied": bits(length=[1 << 13] * 3), "pitch": 1, "origin": [0, 0, 0]},
        ("a.occupied.length", "list of 3", "67108864"),
    ),
    (
        {"shape": "VoxelGrid", "occupied": bits(length=[8, 8, 8]), "pitch": 1, "origin": [0, 0, 0]},
        ("a.occupied.base64", "1 bytes", "64"),
    ),
    (
        {"shape": "VoxelGrid", "occupied": bits(base64="AA=="), "pitch": 1, "origin": [0, 0, 0]},
        ("VoxelGrid:", "8 cubes"),
    ),
    ({"shape": "VoxelGrid", "occupied": [[[1]]], "pitch": 1, "origin": [0, 0, 0]}, ("a.occupied", "list of 1")),
]


@pytest.mark.parametrize(("body", "fragments"), BAD, ids=lambda x: None)
def test_invalid_bodies_raise_one_line_errors(separated_result, tmp_path, body, fragments):
    file = altered(separated_result, tmp_path / "case.json", setter(("a",), body))
    with pytest.raises(gk.errors.ParseError) as error:
        run(file)
    message = str(error.value)
    assert_names(message, *fragments)
    assert message.startswith("case.json")
    assert "\n" not in message
    assert len(message) < 300


def test_unsupported_pair_of_bodies_raises(separated_result, tmp_path):
    def change(document):
        document["a"] = document["b"] = GROUND

    with pytest.raises(gk.errors.ParseError) as caught:
        run(altered(separated_result, tmp_path / "case.json", change))
    assert_names(caught.value, "case.json:", "two HeightFields", "bottom=z")


def test_replay_classifies_altered_results(separated_result, tmp_path):
    for change, sameness in (
        ({"upper": float(np.nextafter(separated_result.upper, 9))}, "AGREES"),
        ({"lower": 9.0, "distance": 9.0, "upper": 9.0}, "CONTRADICTS"),
    ):
        file = altered(
            separated_result, tmp_path / "case.json", lambda document, change=change: document["answer"].update(change)
        )
        assert run(file).sameness.name == sameness


@given(st.data())
def test_fuzzed_documents_run_or_raise_parse_error(tmp_path_factory, data):
    """A document with one value replaced by junk either runs or raises a ParseError."""
    body = data.draw(st.sampled_from([MESH, GROUND, COMPOUND, cloud()]))
    result = gk.distance(read_collider(Value(body, "a")), gk.Point((9, 9, 9)))
    document = json.loads(result.to_json())
    place: list[object] = ["a"]
    inner = document["a"]
    while isinstance(inner, dict | list) and inner and data.draw(st.booleans()):
        place.append(data.draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner)))))
        inner = inner[place[-1]]
    junk = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(), st.lists)
    setter(place, data.draw(junk))(document)
    file = tmp_path_factory.getbasetemp() / "junk.json"
    file.write_text(json.dumps(document))
    with contextlib.suppress(gk.errors.ParseError):  # the test of invalid bodies checks the message
        run(file)
