"""STEP files: the unit they are drawn in, and how near triangles are to curved faces."""

import numpy as np
import pytest
from words import assert_names

from gjk3d.bodies.step_unit import unit_of
from gjk3d.clash import Assembly, Movement, check
from tests.model_files import CORNERS, QUADS, glb, step, write_zip

PLATES = [("low", CORNERS * 40, QUADS), ("high", CORNERS * 40 + (0, 0, 40.3), QUADS)]
#: A block from 0 to 10, and a ball at its side x = 10.
BLOCK = [("block", CORNERS * 10, QUADS)]


@pytest.fixture
def save(tmp_path):
    def write(name, data):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


def ball(gap):
    """Return a ball so far from the block; its triangles are 0.005 inside of it on that side."""
    return [("ball", 5, (15 + gap, 5, 5))]


@pytest.mark.parametrize(("written", "unit"), [(".MILLI.", "mm"), (".CENTI.", "cm"), ("$", "m"), ("INCH", "in")])
def test_an_assembly_is_in_the_unit_that_its_step_was_drawn_in(save, written, unit):
    assembly = Assembly.load(save("a.step", step(PLATES, unit=written)))
    assert assembly.unit == assembly.inputs[0].unit == unit
    assert np.ptp(assembly.parts[0].bounds, axis=0) == pytest.approx([40] * 3)
    assert check(assembly, 0.5).counts["clearance"] == 1
    assert check(assembly, 0.2).counts["clearance"] == 0


def test_a_step_in_an_unknown_unit_comes_in_metres(save):
    assembly = Assembly.load(save("a.step", step(PLATES, unit="furlong")))
    assert assembly.unit == "m"
    assert np.ptp(assembly.parts[0].bounds, axis=0) == pytest.approx([40 * 25.4e-3] * 3)


def test_a_zip_of_step_is_in_its_unit(tmp_path):
    write_zip(tmp_path / "a.zip", {"one.step": step(PLATES)})
    assert Assembly.load(tmp_path / "a.zip").unit == "mm"
    write_zip(tmp_path / "b.zip", {"one.step": step(PLATES), "two.step": step(PLATES, unit="INCH")})
    assert Assembly.load(tmp_path / "b.zip").unit == "m"


def test_the_unit_is_that_of_most_contexts_and_never_one_that_another_is_based_on():
    units = b"#1=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));\n#2=LENGTH_MEASURE_WITH_UNIT(1.,#1);\n"
    units += b"#3 = ( CONVERSION_BASED_UNIT('INCH',#2)\n  LENGTH_UNIT() NAMED_UNIT(#9) );\n"
    inch, millimetre = (b"#%d=(GLOBAL_UNIT_ASSIGNED_CONTEXT((#8,#%d)));\n" % (20 + k, k) for k in (3, 1))
    assert unit_of(units + millimetre + 2 * inch) == unit_of(units + inch) == "in"
    assert unit_of(units + millimetre + inch) == "mm"
    assert unit_of(b"#1=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));") is None
    assert unit_of(b"LENGTH_UNIT" * 10_000 + b"#" * 10_000 + b"GLOBAL_UNIT_ASSIGNED_CONTEXT((#" * 10_000) is None


def test_a_ball_within_the_error_of_its_facets_is_no_plain_no_clash(save):
    for gap in (-0.004, 0.004):
        report = check(Assembly.load(save("a.step", step(BLOCK, balls=ball(gap)))))
        (found,) = report.clashes
        assert (found.kind, found.tolerance) == ("touch", pytest.approx(0.025))
        assert report.tolerance == found.tolerance
        assert abs(found.distance - gap) < 0.02
        assert found.error_bound >= 0.05
        assert_names(report.notes[0], "triangles", "0.025 mm")
    told = check(Assembly.load(save("a.step", step(BLOCK, balls=ball(-0.004)))), tolerance=0.001)
    assert told.tolerance == 0.001  # who says one has it


def test_a_ball_deeper_than_the_error_of_its_facets_clashes_and_its_bounds_hold(save):
    (found,) = check(Assembly.load(save("a.step", step(BLOCK, balls=ball(-0.1))))).clashes
    assert found.kind == "hard"
    assert found.penetration <= 0.1
    assert abs(found.depth - 0.1) <= found.error_bound


def test_flat_parts_of_a_step_have_no_error(save):
    parts = [("low", CORNERS * 40, QUADS), ("high", CORNERS * 40 + (0, 0, 39.985), QUADS)]
    assembly = Assembly.load(save("a.step", step(parts)))
    assert {part.facets for part in assembly.parts} == {0.0}
    report = check(assembly)
    assert report.counts["hard"] == 1
    assert report.clashes[0].depth == pytest.approx(0.015, abs=1e-5)
    assert report.notes == ()


def test_a_moving_ball_is_free_only_beyond_the_error_of_its_facets(save):
    assembly = Assembly.load(save("a.step", step(BLOCK, balls=ball(1.0))))
    poses = np.tile(np.eye(4), (2, 1, 1))
    least = {}
    for way in (0.9, 0.99, 1.1):
        poses[1, 0, 3] = -way
        report = check(assembly, clearance=0.2, motion=Movement({"ball": poses}))
        (pair,) = report.motion.pairs
        least[way] = pair.least, [clash.kind for clash in report.clashes]
    assert least[0.9][1] == ["clearance"]
    assert 0.05 < least[0.9][0][0] <= 0.1 <= least[0.9][0][1] < 0.15
    (low, high), kinds = least[0.99]
    assert (low, kinds) == (0.0, ["touch"])
    assert 0.01 <= high < 0.05
    assert least[1.1] == ((0.0, 0.0), ["hard"])


def test_a_glb_that_says_what_a_step_reader_says_is_not_believed(save):
    tree = glb([{"name": "cube", "mesh": 0}], meshes=[
        {"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}], "extras": {"facets": 1e9}}
    ])  # fmt: skip
    assert Assembly.load(save("a.glb", tree)).parts[0].facets == 0.0
