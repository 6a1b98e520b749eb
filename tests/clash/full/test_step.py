"""STEP files: their unit, and the error of triangles on curved faces."""

import numpy as np
import pytest
from message_checks import assert_names

from gjk3d.clash import Assembly, Movement, check
from gjk3d.cli.app import main
from gjk3d.cli.triage import read_whole
from gjk3d.errors import ParseError
from gjk3d.files.step_ifc import unit_of
from tests.model_files import CORNERS, QUADS, glb, step, write_zip

PLATES = [("low", CORNERS * 40, QUADS), ("high", CORNERS * 40 + (0, 0, 40.3), QUADS)]
#: A block from 0 to 10; the balls are at its side x = 10.
BLOCK = [("block", CORNERS * 10, QUADS)]


@pytest.fixture
def save(tmp_path):
    def write(name, data):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


def ball(gap):
    """Return a ball at this gap from the block; its triangles are 0.005 inside the sphere on that side."""
    return [("ball", 5, (15 + gap, 5, 5))]


@pytest.mark.parametrize(("written", "unit"), [(".MILLI.", "mm"), (".CENTI.", "cm"), ("$", "m"), ("INCH", "in")])
def test_assembly_has_the_unit_of_its_step_file(save, written, unit):
    assembly = Assembly.load(save("a.step", step(PLATES, unit=written)))
    assert assembly.unit == assembly.inputs[0].unit == unit
    assert np.ptp(assembly.parts[0].bounds, axis=0) == pytest.approx([40] * 3)
    assert check(assembly, 0.5).counts["clearance"] == 1
    assert check(assembly, 0.2).counts["clearance"] == 0


def test_step_in_unknown_unit_is_read_in_metres(save):
    assembly = Assembly.load(save("a.step", step(PLATES, unit="furlong")))
    assert assembly.unit == "m"
    assert np.ptp(assembly.parts[0].bounds, axis=0) == pytest.approx([40 * 25.4e-3] * 3)


def test_zip_of_step_files_has_their_common_unit(tmp_path):
    write_zip(tmp_path / "a.zip", {"one.step": step(PLATES)})
    assert Assembly.load(tmp_path / "a.zip").unit == "mm"
    write_zip(tmp_path / "b.zip", {"one.step": step(PLATES), "two.step": step(PLATES, unit="INCH")})
    assert Assembly.load(tmp_path / "b.zip").unit == "m"


def test_unit_of_most_contexts_is_used():
    units = b"#1=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));\n#2=LENGTH_MEASURE_WITH_UNIT(1.,#1);\n"
    units += b"#3 = ( CONVERSION_BASED_UNIT('INCH',#2)\n  LENGTH_UNIT() NAMED_UNIT(#9) );\n"
    inch, millimetre = (b"#%d=(GLOBAL_UNIT_ASSIGNED_CONTEXT((#8,#%d)));\n" % (20 + k, k) for k in (3, 1))
    assert unit_of(units + millimetre + 2 * inch) == unit_of(units + inch) == "in"
    assert unit_of(units + millimetre + inch) == "mm"
    assert unit_of(b"#1=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));") is None
    assert unit_of(b"LENGTH_UNIT" * 10_000 + b"#" * 10_000 + b"GLOBAL_UNIT_ASSIGNED_CONTEXT((#" * 10_000) is None


def test_ball_within_facet_error_touches(save):
    for gap in (-0.004, 0.004):
        report = check(Assembly.load(save("a.step", step(BLOCK, balls=ball(gap)))))
        (clash,) = report.clashes
        assert (clash.kind, clash.tolerance) == ("touch", pytest.approx(0.025))
        assert report.tolerance == clash.tolerance
        assert abs(clash.distance - gap) < 0.02
        assert clash.error_bound >= 0.05
        assert_names(report.notes[0], "triangles", "0.025 mm")
    strict = check(Assembly.load(save("a.step", step(BLOCK, balls=ball(-0.004)))), tolerance=0.001)
    assert strict.tolerance == 0.001  # a tolerance of the user is not enlarged


def test_ball_deeper_than_facet_error_is_hard_clash(save):
    (clash,) = check(Assembly.load(save("a.step", step(BLOCK, balls=ball(-0.1))))).clashes
    assert clash.kind == "hard"
    assert clash.penetration <= 0.1
    assert abs(clash.depth - 0.1) <= clash.error_bound


def test_flat_parts_have_no_facet_error(save):
    parts = [("low", CORNERS * 40, QUADS), ("high", CORNERS * 40 + (0, 0, 39.985), QUADS)]
    assembly = Assembly.load(save("a.step", step(parts)))
    assert {part.facets for part in assembly.parts} == {0.0}
    report = check(assembly)
    assert report.counts["hard"] == 1
    assert report.clashes[0].depth == pytest.approx(0.015, abs=1e-5)
    assert report.notes == ()


def test_moving_ball_is_free_only_beyond_facet_error(save):
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


def test_facet_error_in_a_glb_is_ignored(save):
    tree = glb([{"name": "cube", "mesh": 0}], meshes=[
        {"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}], "extras": {"facets": 1e9}}
    ])  # fmt: skip
    assert Assembly.load(save("a.glb", tree)).parts[0].facets == 0.0


def test_curves_and_points_are_not_parts(save):
    parts = [("low", CORNERS * 40, QUADS), ("high", CORNERS * 40 + (0, 0, 40.3), QUADS)]
    file = save("a.step", step(parts, datums=["axis", "points", "low"]))
    report = check(Assembly.load(file))
    assert [part.name for part in report.parts] == ["high", "low"]
    assert report.unchecked == ()
    assert_names(report.notes[0], "a.step", "low, axis, points", "only curves")
    assert main(["clash", str(file), "-q"]) == 0
    frame = [("low", " ", (0, 0, 0)), ("axis", " ", (0, 0, 0)), ("high", " ", (0, 0, 0))]
    nested = Assembly.load(save("b.step", step(parts, [("frame", frame)], datums=["axis", "low"])))
    assert [part.name for part in nested.parts] == ["frame/high", "frame/low"]
    with pytest.raises(ParseError) as error:
        Assembly.load(save("c.step", step([], datums=["axis", "points"])))
    assert_names(error.value, "c.step", "0 triangles")


def test_solids_of_one_product_become_parts_on_request(save, tmp_path, capsys):
    boxes = [CORNERS * 10, CORNERS * 10 + (10, 0, 0), CORNERS * 10 + (5, 5, 5)]
    solids = [*(("frame", box, QUADS) for box in boxes), ("lid", CORNERS * 10 + (50, 0, 0), QUADS)]
    text = step(solids, [("top", [("frame", "f", (0, 0, 0)), ("frame", "g", (0, 0, 99)), ("lid", "lid", (0, 0, 0))])])
    file = save("a.step", text)
    merged = Assembly.load(file)
    assert [part.name for part in merged.parts] == ["top/f", "top/g", "top/lid"]
    assert_names(merged.notes[0], "a.step", "top/f (3), top/g (3)", "--bodies", "bodies=True")
    separate = Assembly.load(file, bodies=True)
    assert [part.name for part in separate.parts] == [
        *(f"top/{name}/{k}" for name in "fg" for k in (1, 2, 3)),
        "top/lid",
    ]
    assert separate.parts[0].path == ("top", "f", "1")
    assert separate.parts[0].shape is separate.parts[3].shape
    assert separate.notes == ()
    kinds = {(clash.a, clash.b): clash.kind for clash in check(separate).clashes}
    pairs = {(f"top/{name}/{a}", f"top/{name}/{b}") for name in "fg" for a, b in ((1, 3), (2, 3))}
    assert {pair for pair, kind in kinds.items() if kind == "hard"} == pairs
    assert {pair for pair, kind in kinds.items() if kind == "touch"} == {
        (f"top/{name}/1", f"top/{name}/2") for name in "fg"
    }
    out = tmp_path / "out.json"
    assert main(["clash", str(file), "-o", str(out)]) == 0
    assert_names(capsys.readouterr().err, "top/f (3)", "--bodies")
    assert main(["clash", str(file), "--bodies", "-o", str(out)]) == 1
    assert "top/f (3)" not in capsys.readouterr().err
    assert len(read_whole(out).assembly.parts) == 7
