"""Report files: valid, safe for any part names, and readable by other programs."""

import csv
import io
import json
import random
from typing import get_args
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
import trimesh
from message_checks import assert_names

import gjk3d as gk
from gjk3d.clash import Assembly, check, formats
from gjk3d.clash.formats import registry
from gjk3d.errors import ShapeError

REASON = "is empty | see `log`"
NAMES = (
    "<script>alert(1)</script>",
    "=cmd()|'/C calc'!A0",
    "a|b `c` *d*",
    "line\nbreak\t\x1b[31m",
    "ünïcode ☃",
    "-1+1",
)


def cube(shift=0.0, side=1.0):
    surface = gk.Box((side, side, side)).surface()
    return gk.Mesh(surface.vertices + np.array([shift, 0, 0]), surface.faces)


@pytest.fixture(scope="module")
def report():
    """Check overlapping, touching and close cubes in a row with hostile names, and a part that failed to load."""
    places = (0.0, 0.9, 1.9, 2.95, 4.2, 5.15)
    assembly = Assembly.of({name: cube(x) for name, x in zip(NAMES, places, strict=True)}, "mm")
    broken = gk.clash.AssemblyPart("broken", "<b>.stl", None, REASON)
    return check(gk.clash.Assembly((*assembly.parts, broken), "mm"), clearance=0.1)


def test_reports_match_the_schema(report):
    schema = formats.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert report.counts == {"hard": 2, "contained": 0, "duplicate": 0, "unchecked": 1, "touch": 1, "clearance": 1}
    for document in (report.to_json(), gk.clash.Report().to_json()):
        validator.validate(json.loads(document))
    for key in report.to_dict():
        broken = json.loads(report.to_json())
        del broken[key]
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(broken)


def test_every_format_has_an_ending_and_a_writer(report, tmp_path):
    names = get_args(registry.Format)
    assert set(registry.ENDINGS.values()) == set(names)
    contents = set()
    for ending, name in registry.ENDINGS.items():
        file, options = tmp_path / f"r.{ending}", {"top": 20, "fatal": ("hard",), "only_new": False}
        registry.write(report, name, file, **options)
        contents.add(file.read_bytes())
        if name not in registry.BINARY:
            stream = io.StringIO()
            registry.write(report, name, stream, **options)
            assert stream.getvalue().encode() == file.read_bytes()
    assert len(contents) == len(names)


def test_csv_has_one_row_per_finding_and_no_formulas(report, tmp_path):
    text = report.to_csv(tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text(encoding="utf-8") == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(report.clashes)
    for row, clash in zip(rows, report.clashes, strict=True):
        assert None not in row
        for key, cell in row.items():
            if not cell:
                continue
            try:
                float(cell)
            except ValueError:
                assert cell[0] not in "=+-@\t\r\n", (key, cell)
        if clash.distance is not None:
            assert float(row["distance"]) == clash.distance
            assert tuple(float(row[f"normal_{axis}"]) for axis in "xyz") == clash.normal
    assert sum(clash.distance is not None for clash in report.clashes) >= 2
    assert {"'" + NAMES[1], "'" + NAMES[5]} <= {row["a"] for row in rows} | {row["b"] for row in rows}


def test_markdown_escapes_names(report):
    text = formats.to_markdown(report)
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    table = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(table) == 1 + 5
    for line in table:
        assert line.replace("\\|", "").count("|") == 11
    assert f"- broken: {REASON}".replace("|", "\\|").replace("`", "\\`") in text
    assert "... and 3 more." in formats.to_markdown(report, top=2)


def test_json_lines_are_streamed_and_end_with_summary(report):
    stream = io.StringIO()
    writer = formats.LineWriter(stream)
    again = check(report.assembly, clearance=0.1, found=writer.clash)
    assert len(stream.getvalue().splitlines()) == len(again.clashes)
    writer.close(again)
    *lines, last = map(json.loads, stream.getvalue().splitlines())
    assert {line["id"] for line in lines} == {clash.id for clash in report.clashes}
    assert (last["record"], last["counts"], last["complete"]) == ("report", report.counts, True)
    finished = io.StringIO()
    formats.to_jsonl(report, finished)
    assert len(finished.getvalue().splitlines()) == len(lines) + 1


def test_glb_has_all_parts_and_one_mark_per_finding(report, tmp_path):
    formats.to_glb(report, tmp_path / "marked.glb")
    scene = trimesh.load_scene(tmp_path / "marked.glb", process=False)
    marks = [node for node in scene.graph.nodes_geometry if node.startswith("clash ")]
    assert len(scene.graph.nodes_geometry) == len(NAMES) + len(marks)
    assert len(marks) == 4
    hard = next(clash for clash in report.clashes if clash.kind == "hard")
    name = next(node for node in marks if node.startswith(f"clash {hard.severity} hard"))
    mesh = scene.geometry[scene.graph.get(name)[1]]
    np.testing.assert_allclose(mesh.bounds, np.array(hard.overlap_box) / 1000.0, atol=1e-9)  # mm to metres
    assert mesh.visual.material.baseColorFactor.tolist() == [0xD5, 0x5E, 0x00, 255]


def test_marks_in_a_glb_are_not_read_as_parts(report, tmp_path):
    formats.to_glb(report, tmp_path / "marked.glb")
    again = gk.clash.Assembly.load(tmp_path / "marked.glb")
    assert [part.name for part in again.parts] == [part.name for part in report.assembly.parts if part.mesh is not None]
    drawn = len([clash for clash in report.clashes if clash.is_open and clash.point is not None])
    assert_names(again.notes[-1], f"{drawn} marks", "gjk3d clash")
    before = {(clash.a, clash.b) for clash in report.clashes if clash.kind == "hard"}
    assert {(clash.a, clash.b) for clash in gk.clash.check(again).clashes if clash.kind == "hard"} == before


def test_glb_of_report_without_parts_raises(tmp_path):
    with pytest.raises(ShapeError, match="assembly"):
        formats.to_glb(gk.clash.Report(), tmp_path / "x.glb")


@pytest.mark.parametrize("fatal", [["hrad"], "hard"])
def test_junit_refuses_unknown_kinds(report, fatal):
    with pytest.raises(ShapeError, match=r"fatal is .*hard, contained"):
        formats.to_junit(report, fatal)


def test_junit_has_one_case_per_finding(report):
    suite = ElementTree.fromstring(formats.to_junit(report, ("hard", "unchecked")).encode())
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "3",
        "errors": "0",
        "skipped": "0",
    }
    named = " ".join(case.get("name") for case in suite)
    assert "<script>alert(1)</script>" in named
    assert "\x1b" not in named
    empty = ElementTree.fromstring(formats.to_junit(gk.clash.Report(complete=False)).encode())
    assert (empty.get("tests"), empty.get("errors")) == ("2", "1")


def test_order_of_parts_does_not_change_report(report):
    parts = list(report.assembly.parts)
    random.Random(5).shuffle(parts)
    again = check(gk.clash.Assembly(tuple(parts), "mm"), clearance=0.1)
    assert again.clashes == report.clashes
