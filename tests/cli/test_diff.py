"""``gjk3d diff``: comparison of two clash reports."""

import json
from xml.etree import ElementTree

import pytest
import trimesh
from message_checks import assert_names

from tests.cli import messages


@pytest.fixture
def reports(run, box, tmp_path):
    """Return two reports: a-b becomes separated, c-d becomes deeper, c-e is unchanged, and d-f is new."""
    places = {"a": (0, 0, 0), "b": (1.5, 0, 0), "c": (9, 0, 0), "d": (10.5, 0, 0), "e": (9, 1.5, 0), "f": (30, 0, 0)}
    paths = []
    for name, moved in (("old", {}), ("new", {"b": (4, 0, 0), "d": (10.25, 0, 0), "f": (11.5, -1, 0)})):
        files = [box(f"{part}.stl", moved.get(part, place)) for part, place in places.items()]
        paths.append(tmp_path / f"{name}.json")
        assert run("clash", *files, "--unit", "mm", "--tolerance", "1e-6", "-o", paths[-1]).code == 1
    return paths


def test_json_rows_classify_each_change(run, reports):
    result = run("diff", *reports, "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert document["counts"]["resolved"] == 1
    changes = {(row["a"], row["b"]): row["change"] for row in document["rows"]}
    assert changes[("a", "b")] == "resolved"
    assert changes[("c", "d")] == "changed"
    assert changes[("c", "e")] == "same"
    assert changes[("d", "f")] == "new"
    row = next(row for row in document["rows"] if (row["a"], row["b"]) == ("c", "d"))
    assert (row["old_distance"], row["new_distance"]) == (-0.5, -0.75)


def test_table_shows_changes_only(run, reports):
    result = run("diff", *reports)
    lines = result.out.splitlines()
    assert lines[0].endswith("1 resolved")
    assert " e " not in lines[3]
    assert run("diff", reports[0], reports[0]).code == 0
    assert run("diff", reports[0], reports[0]).out == messages.DIFF_COUNTS.format(0, 0, 0, 4, 0) + "\n"
    assert run("diff", *reports, "--top", 1).out.splitlines()[-1].startswith("... ")


def test_table_has_the_unit_of_the_clash_table(run, box, tmp_path):
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, place in zip(paths, (1.5, 1.25), strict=True):
        files = [box("a.stl"), box("b.stl", (place, 0, 0))]
        assert run("clash", *files, "--unit", "m", "--tolerance", "1e-6", "-o", path).code == 1
    result = run("diff", *paths)
    assert messages.DISTANCE_BEFORE.format("mm") in result.out
    assert result.out.splitlines()[-1].split()[-4:] == ["depth", "500", "depth", "750"]


def test_ignored_clash_is_neither_new_nor_resolved(run, reports, tmp_path):
    rules, quiet = tmp_path / "rules.toml", tmp_path / "quiet.json"
    rules.write_text('[[ignore]]\na = "c"\nb = "d"\nreason = "pressed in"\n')
    files = [tmp_path / f"{part}.stl" for part in "abcdef"]  # at the positions of the later report
    run("clash", *files, "--unit", "mm", "--tolerance", "1e-6", "--ignore", rules, "-o", quiet)
    for pair in ((reports[1], quiet), (quiet, reports[1])):
        result = run("diff", *pair)
        assert (result.code, result.out) == (0, messages.DIFF_COUNTS.format(0, 0, 0, 4, 0) + "\n")
    cases = ElementTree.fromstring(run("diff", reports[1], quiet, "--format", "junit").out).findall(".//testcase")
    assert len(cases) == len({case.get("name") for case in cases})


def test_different_limits_are_noted_and_bad_files_rejected(run, reports, box, tmp_path):
    wide = tmp_path / "wide.json"
    run("clash", box("a.stl"), box("b.stl", (1.5, 0, 0)), "--unit", "mm", "--tolerance", "1e-3", "-o", wide)
    result = run("diff", reports[0], wide)
    assert_names(result.err, "note: ", str(reports[0]), "tolerance 1e-06 mm", str(wide), "0.001 mm")
    result = run("diff", reports[0], tmp_path / "nowhere.json")
    assert (result.code, result.out) == (2, "")
    assert "nowhere.json" in result.err


def test_reports_are_compared_in_the_later_unit(run, box, tmp_path):
    documents = {}
    for unit, size in (("m", 1e-3), ("mm", 1.0)):
        files = [box("a.stl"), box("b.stl", (1.5, 0, 0)), box("c.stl", (0, 1.75, 0))]
        for file in files:
            trimesh.load(file).apply_scale(size).export(file)
        documents[unit] = tmp_path / f"{unit}.json"
        run("clash", *files, "--unit", unit, "-o", documents[unit])
    result = run("diff", documents["m"], documents["mm"], "--json")
    assert result.err == messages.CONVERTED.format(documents["m"], "mm")
    document = json.loads(result.out)
    assert document["counts"] == {"new": 0, "kind": 0, "changed": 0, "same": 3, "resolved": 0}
    for row in document["rows"]:
        assert row["old_distance"] == pytest.approx(row["new_distance"], rel=1e-6)
    unknown = tmp_path / "unknown.json"
    unknown.write_text(documents["mm"].read_text().replace('"unit": "mm"', '"unit": null'))
    result = run("diff", unknown, documents["mm"])
    assert (result.code, result.out) == (2, "")
    assert_names(result.err, str(unknown), str(documents["mm"]), "unit", " mm")


def test_junit_failures_are_the_new_clashes(run, reports, tmp_path):
    result = run("diff", *reports, "-f", "junit")
    suite = ElementTree.fromstring(result.out)
    new = json.loads(run("diff", *reports, "--json").out)["counts"]["new"]
    assert (result.code, int(suite.get("failures")), len(suite.findall("testcase/failure"))) == (1, new, new)
    assert new > 0
    assert int(suite.get("tests")) > new
    path = tmp_path / "diff.xml"
    result = run("diff", reports[0], reports[0], "-o", path)
    assert (result.code, result.out, result.err) == (0, "", f"wrote: {path}\n")
    assert ElementTree.parse(path).getroot().get("failures") == "0"
    path = tmp_path / "diff.json"
    assert run("diff", *reports, "-o", path).code == 1
    assert json.loads(path.read_text())["command"] == "diff"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["-o", "diff.txt"], ("diff.txt", ".json", ".xml")),
        (["-o", "diff.xml", "-f", "table"], ("-f", "terminal")),
        (["--json", "-f", "junit"], ("--json", "-f junit")),
    ],
)
def test_conflicting_output_formats_are_rejected(run, reports, monkeypatch, tmp_path, options, named):
    monkeypatch.chdir(tmp_path)
    result = run("diff", *reports, *options)
    assert (result.code, result.out) == (2, "")
    assert_names(result.err, *named)


def test_interrupted_report_prints_a_note(run, reports, tmp_path):
    part = tmp_path / "part.json"
    part.write_text(reports[1].read_text().replace('"complete": true', '"complete": false'))
    result = run("diff", reports[0], part)
    assert result.err == messages.STOPPED.format(part)


def test_clash_at_different_times_is_changed(run, box, tmp_path):
    """A clash whose times differ is reported as changed, although its depth is the same."""
    files = [box("a.stl"), box("b.stl", (6, 0, 0))]
    documents = []
    for seconds in (2, 2, 4):
        motion = tmp_path / "motion.toml"
        motion.write_text(f'unit = "s"\ntimes = [0, {seconds}]\n[[part]]\nparts = "a"\nlinear = [12, 0, 0]\n')
        documents.append(tmp_path / f"{len(documents)}.json")
        assert run("clash", *files, "--unit", "mm", "--motion", motion, "-o", documents[-1]).code == 1
    first, same, later = documents
    assert run("diff", first, same).out.splitlines() == [messages.DIFF_COUNTS.format(0, 0, 0, 1, 0)]
    result = run("diff", first, later)
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert (result.code, lines[0]) == (0, messages.DIFF_COUNTS.format(0, 0, 1, 0, 0))
    assert lines[2].endswith(messages.BEFORE_NOW)
    assert messages.IN_CLASH.format(0.666666, "1.33334 s") in lines[3]
    assert messages.IN_CLASH.format(1.33333, "2.66667 s") in lines[3]
    (row,) = json.loads(run("diff", first, later, "--json").out)["rows"]
    assert row["old_intervals"][0] == pytest.approx([2 / 3, 2 / 3, 4 / 3, 4 / 3], abs=1e-3)
    assert row["new_intervals"][0] == pytest.approx([4 / 3, 4 / 3, 8 / 3, 8 / 3], abs=1e-3)


@pytest.mark.parametrize(
    ("place", "change", "code"), [(2.25, "hard → clearance", 0), (1.25, "", 0), (2.0, "hard → touch", 0)]
)
def test_changed_kind_is_a_single_row(run, box, tmp_path, place, change, code):
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, x in zip(paths, (1.5, place), strict=True):
        files = [box("a.stl"), box("b.stl", (x, 0, 0))]
        run("clash", *files, "--unit", "mm", "--clearance", "0.5", "--tolerance", "1e-3", "-o", path)
    result = run("diff", *paths)
    assert result.code == code
    assert change in result.out
    document = json.loads(run("diff", *paths, "--json").out)
    assert document["counts"]["kind"] == bool(change)
    assert document["counts"]["new"] == document["counts"]["resolved"] == 0
    back = run("diff", *reversed(paths), "--json")
    assert back.code == bool(change)  # hard is worse than clearance and touch
    assert json.loads(back.out)["rows"][0]["old_kind"] == (change.split()[-1] if change else "hard")
