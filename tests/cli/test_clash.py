"""``gjk3d clash``: output formats, exit codes and messages."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import trimesh
from message_checks import assert_names
from model_files import CORNERS, QUADS, step
from strategies import sampled

from gjk3d.clash import formats
from gjk3d.clash.detection.decider import Decider
from tests.cli import messages

GEARBOX = Path(__file__).parents[2] / "data" / "gearbox.glb"


@pytest.fixture
def boxes(box):
    """Return three boxes of side 2: the first two overlap by 0.5, the third has a gap of 0.25 to the second."""
    return box("one.stl"), box("two.stl", (1.5, 0, 0)), box("three.stl", (3.75, 0, 0))


def document(result):
    """Return the JSON output of a command after validation with the schema."""
    jsonschema.validate(json.loads(result.out), formats.json_schema())
    return json.loads(result.out)


def test_gearbox_table(run):
    result = run("clash", GEARBOX, "--top", 3)
    assert result.code == 1
    assert result.err == ""
    lines = result.out.splitlines()
    assert lines[0] == messages.CLASH_COUNTS.format(42, 861, 6, 1, 1, 36)
    assert lines[1] == messages.CLASH_LIMITS.format("0 mm", "9.5e-05 mm")
    assert " ".join(lines[3].split()) == messages.CLASH_COLUMNS
    assert len(lines) == 4 + 3 + 1
    assert lines[-1] == messages.MORE_ROWS.format(41, 44)


def test_motion_report_prints_times_of_clashes(run, tmp_path):
    folder = GEARBOX.parent / "engine"
    page = tmp_path / "engine.html"
    wanted = "--a", "crank_*", "--b", "sensor", "--html", page
    result = run("clash", folder / "engine.glb", "--motion", folder / "engine.toml", *wanted)
    assert result.code == 1
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert lines[3].endswith(messages.WHEN)
    assert lines[4].split()[:7] == ["1", "hard", "crank_plug", "sensor", "≥", "0.4", "0.4"]
    assert " " + messages.DEEPEST.format("37 deg", 33.9067, "40.0933 deg") in lines[4]
    assert '"motion":{"begin":0.0,"end":360.0' in page.read_text(encoding="utf-8")


def test_invalid_motion_is_rejected(run, boxes, tmp_path):
    file = tmp_path / "motion.toml"
    file.write_text('[[part]]\nparts = "drawer"\nlinear = [1, 0, 0]\n')
    result = run("clash", *boxes, "--motion", file)
    assert (result.code, result.out) == (2, "")
    assert_names(result.err, "'drawer'", "3 parts")


def test_json_is_one_valid_document(run, boxes):
    result = run("clash", *boxes, "--clearance", "0.5", "-f", "json")
    assert result.code == 1
    assert result.err == messages.NO_UNIT
    report = document(result)
    assert [(row["kind"], row["a"], row["b"], row["distance"]) for row in report["clashes"]] == [
        ("hard", "one", "two", -0.5),
        ("clearance", "three", "two", 0.25),
    ]
    assert report["complete"] is True


def test_lengths_accept_units(run, boxes):
    result = run("clash", *boxes, "--unit", "mm", "--clearance", "0.05cm", "--tolerance", "0.6mm", "-f", "json", "-q")
    report = document(result)
    assert (result.code, result.err) == (0, "")
    assert (report["unit"], report["clearance"], report["tolerance"]) == ("mm", 0.5, 0.6)
    assert [row["kind"] for row in report["clashes"]] == ["touch", "touch"]


def test_length_without_unit_prints_a_note(run):
    result = run(
        "clash", GEARBOX, "--clearance", "0.0005", "--tolerance", "1e-6", "--a", "*/nut_1", "--fail-on", "none"
    )
    assert_names(result.err, "note: --clearance 0.0005 and --tolerance 1e-6", f"{messages.READ_IN} m,", "0.5mm")
    result = run("clash", GEARBOX, "--clearance", "0.5mm", "--tolerance", "0", "--a", "*/nut_1", "--fail-on", "none")
    assert messages.READ_IN not in result.err


@pytest.mark.parametrize(("level", "code"), [("hard", 0), ("clearance", 1), ("touch", 1), ("none", 0)])
def test_exit_codes_follow_fail_on(run, boxes, level, code):
    assert run("clash", boxes[1], boxes[2], "--clearance", 0.5, "--fail-on", level).code == code


def test_touch_fails_only_on_request(run, box):
    files = box("a.stl"), box("b.stl", (2, 0, 0))
    assert run("clash", *files).code == 0
    assert run("clash", *files, "--fail-on", "touch").code == 1


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "md", "xml", "glb"])
def test_output_suffix_selects_format(run, boxes, tmp_path, ending):
    path = tmp_path / f"report.{ending}"
    result = run("clash", *boxes, "-o", path, "--unit", "mm")
    assert (result.code, result.out, result.err) == (1, "", f"result: 3 parts, 3 pairs tested: 1 hard\nwrote: {path}\n")
    data = path.read_bytes()
    if ending == "json":
        assert json.loads(data)["counts"]["hard"] == 1
    elif ending == "jsonl":
        assert [json.loads(line)["record"] for line in data.splitlines()] == ["clash", "report"]
    elif ending == "csv":
        assert len(list(csv.DictReader(io.StringIO(data.decode())))) == 1
    elif ending == "xml":
        assert b'<testsuite name="gjk3d clash" tests="1" failures="1"' in data
    elif ending == "md":
        assert data.startswith(b"### Clash check: **1 hard**")
    else:
        assert len(trimesh.load_scene(path).geometry) == 4


@pytest.mark.parametrize("name", ["out.txt", "out", "rows.json"])
def test_format_option_overrides_suffix(run, boxes, tmp_path, name):
    assert run("clash", *boxes, "-o", tmp_path / name, "-f", "csv").code == 1
    assert (tmp_path / name).read_text().startswith("id,kind,")


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="this system has no /dev/null")
def test_output_to_a_device_requires_a_format(run, boxes):
    assert run("clash", *boxes, "-o", "/dev/null", "-f", "json").code == 1
    result = run("clash", *boxes, "-o", "/dev/null")
    assert result.code == 2
    assert_names(result.err, ".glb", "-f")


def test_broken_file_is_counted_only_if_selected(run, boxes, tmp_path):
    (tmp_path / "broken.stl").write_bytes(b"junk")
    for names, count in ((("--a", "two"), 1), (("--a", "one", "--b", "three"), 0)):
        result = run("clash", tmp_path, "-f", "json", "--unit", "mm", *names)
        assert document(result)["counts"]["unchecked"] == count
        assert result.code == count


def test_page_is_written_in_addition_to_json(run, boxes, tmp_path):
    path = tmp_path / "report.html"
    result = run("clash", *boxes, "--unit", "mm", "--html", path, "-f", "json")
    assert result.err == f"wrote: {path}\n"
    assert document(result)["counts"]["hard"] == 1
    assert path.read_bytes().startswith(b"<!DOCTYPE html>")


def test_bcf_file_is_written_in_addition_to_output(run, boxes, tmp_path):
    path = tmp_path / "report.bcfzip"
    result = run("clash", *boxes, "--unit", "mm", "--bcf", path, "--clearance", 0.5, "-f", "jsonl")
    assert (result.code, result.err) == (1, f"wrote: {path}\n")
    assert len(result.out.splitlines()) == 3
    with zipfile.ZipFile(path) as archive:
        assert sum(name.endswith("markup.bcf") for name in archive.namelist()) == 2
        views = [name for name in archive.namelist() if name.endswith(".bcfv")]
        assert not any(b"ClippingPlane" in archive.read(name) for name in views)
    run("clash", *boxes, "--unit", "mm", "--bcf", path, "--clearance", 0.5, "--section", "-q")
    with zipfile.ZipFile(path) as archive:
        assert all(b"ClippingPlane" in archive.read(name) for name in views)
    refused = run("clash", *boxes, "--section")
    assert refused.code == 2
    assert_names(refused.err, "--section", "--bcf")
    refused = run("clash", *boxes, "--up", "z")
    assert refused.code == 2
    assert_names(refused.err, "--up", "--html", "--bcf")
    assert run("clash", *boxes, "--bcf", tmp_path / "report.zip").code == 2


def test_unchecked_part_is_a_finding(run, box, tmp_path):
    box("a.stl"), box("b.stl", (9, 0, 0))
    (tmp_path / "broken.stl").write_bytes(b"junk")
    result = run("clash", tmp_path, "--unit", "mm", "-f", "json")
    assert result.code == 1
    row = document(result)["clashes"][0]
    assert (row["kind"], row["method"], row["distance_kind"]) == ("unchecked", "", "approximate")
    assert run("clash", tmp_path).out.splitlines()[-1].split() == ["1", "unchecked", "broken"]
    assert_names(result.err, "broken", "4 bytes", "STL")
    assert len(result.err.splitlines()) == 1
    rules = tmp_path / "rules.toml"
    rules.write_text('[[ignore]]\na = "broken"\nb = "*"\nreason = "known to be lost"\n')
    result = run("clash", tmp_path, "--unit", "mm", "-f", "json", "--ignore", rules)
    assert result.code == 0
    assert document(result)["clashes"][0]["status"] == "ignored"


def test_baseline_marks_new_and_resolved_clashes(run, box, tmp_path):
    first = [box("a.stl"), box("b.stl", (1.5, 0, 0)), box("c.stl", (9, 0, 0)), box("d.stl", (10.5, 0, 0))]
    before = tmp_path / "before.json"
    assert run("clash", *first, "-o", before).code == 1
    box("b.stl", (4, 0, 0)), box("e.stl", (9, 1.5, 0))
    report = document(run("clash", *first, tmp_path / "e.stl", "--baseline", before, "-f", "json"))
    statuses = {(row["a"], row["b"]): row["status"] for row in report["clashes"]}
    assert statuses == {("a", "b"): "resolved", ("c", "d"): "active", ("c", "e"): "new", ("d", "e"): "new"}


@pytest.fixture
def grown(run, box, tmp_path):
    """Return files with and without a new overlap, an earlier report, and the rules that ignored its touch."""
    files = [box("a.stl"), box("b.stl", (1.5, 0, 0)), box("c.stl", (9, 0, 0)), box("d.stl", (11, 0, 0))]
    rules = tmp_path / "rules.toml"
    rules.write_text('[[ignore]]\na = "c"\nb = "d"\nreason = "glued"\n')
    before = tmp_path / "before.json"
    assert run("clash", *files, "-o", before, "--ignore", rules).code == 1
    return {"same": files, "more": [*files, box("e.stl", (0, 1.5, 0))]}, before, rules


def test_new_findings_come_first_and_are_counted(run, grown, tmp_path):
    files, before, rules = grown
    shown = run("clash", *files["more"], "--baseline", before, "--ignore", rules, "--top", "1")
    assert "in comparison with the baseline and the rules: 2 new, 1 active, 1 ignored" in shown.out
    rows = [line.split() for line in shown.out.splitlines() if " hard " in line]
    assert [(row[2], row[3:5]) for row in rows] == [("new", ["a", "e"]), ("new", ["b", "e"])]
    markdown = tmp_path / "report.md"
    done = run("clash", *files["more"], "--baseline", before, "--top", "1", "-o", markdown)
    assert markdown.read_text().count("| new |") == 2
    assert "... and 2 more. `--top 4` lists them." in markdown.read_text()
    assert "result: 5 parts" in done.err  # with -o, stdout is empty


def test_baseline_limits_are_printed_in_unit_of_report(run, assembly, tmp_path):
    before = tmp_path / "before.json"
    run("clash", assembly, "--clearance", "0.5mm", "-o", before)
    assert "clearance 0.5 mm, and this report with 0.3 mm" in (
        run("clash", assembly, "--clearance", "0.3mm", "--baseline", before).err
    )


def test_clashes_of_the_baseline_do_not_fail(run, grown):
    files, before, _ = grown
    assert run("clash", *files["same"], "--baseline", before).code == 0
    assert run("clash", *files["more"], "--baseline", before).code == 1
    assert run("clash", *files["same"], "--baseline", before, "--no-only-new").code == 1
    assert run("clash", *files["same"], "--only-new").code == 1  # without a baseline, every finding is new


@pytest.mark.parametrize("level", sampled([("hard",), ("clearance",), ("none",), ("touch",)], 2))
@pytest.mark.parametrize("gate", [[], ["--only-new"], ["--no-only-new"]])
@pytest.mark.parametrize("baseline", [True, False])
@pytest.mark.parametrize("which", ["same", "more"])
@pytest.mark.parametrize("ignoring", [True, False])
def test_junit_failures_match_exit_code(run, grown, level, gate, baseline, which, ignoring):
    files, before, rules = grown
    options = [*gate, *(["--baseline", before] if baseline else []), *(["--ignore", rules] if ignoring else [])]
    result = run("clash", *files[which], "--fail-on", level, *options, "-f", "junit")
    suite = ElementTree.fromstring(result.out)
    failures = len(suite.findall("testcase/failure"))
    assert int(suite.get("failures")) == failures
    assert result.code == int(failures > 0)
    only_new = gate == ["--only-new"] or (baseline and not gate)
    old, new = 1, 2 if which == "more" else 0
    if level == "touch" and not ignoring:
        old += 1  # the touch is in the baseline, although a rule ignored it in that run
    assert failures == (0 if level == "none" else new if only_new and baseline else old + new)
    lines = run("clash", *files[which], "--fail-on", level, *options, "-f", "jsonl")
    assert lines.code == result.code


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        ((), ("assembly", "folder")),
        (("",), ("argument 2", "empty")),
        (("nowhere.glb",), ("nowhere.glb",)),
        (("{one}",), ("one part",)),
        (("{one}", "{two}", "--a", "tow"), ("a='tow'", "2 parts", "'two'?")),
        (("{one}", "{two}", "--a", "one", "--b", "one"), ("--a 'one'", "--b 'one'")),
        (("{one}", "{two}", "--clearance", "-1mm"), ("--clearance '-1mm'",)),
        (("{one}", "{two}", "--clearance", "1mm"), ("--unit",)),
        (("{one}", "{two}", "--tolerance", "wide"), ("--tolerance 'wide'",)),
        (("{one}", "{two}", "--tolerance", "2 barn"), ("'barn'",)),
        (("{one}", "{two}", "-f", "glb"), ("-f glb", "-o")),
        (("{one}", "{two}", "-o", "{one}"), (".json", ".jsonl", ".csv", ".md", ".xml", ".glb")),
        (("{one}", "{two}", "-o", "/nowhere/r.json"), ("/nowhere", "folder")),
        (("{one}", "{two}", "--ignore", "no.toml"), ("no.toml", "rules")),
        (
            ("{one}", "{two}", "--baseline", "no.json"),
            ("no.json", "gjk3d clash MODELS -f json -o no.json"),
        ),
        (("{one}", "{two}", "--baseline", "{one}"), ("one.stl", "JSON")),
        (("{one}", "{two}", "--ignore", "{one}"), ("one.stl", "TOML")),
        (("{one}", "{two}", "-j", "0"), ("workers", " 0")),
        (("{one}", "{two}", "--top", "0"), ("--top 0",)),
        (("{one}", "{two}", "--fail-on", "all"), ("--fail-on", "all")),
    ],
)
def test_bad_usage_is_rejected_with_a_hint(run, boxes, argv, named):
    words = [word.format(one=boxes[0], two=boxes[1]) for word in argv]
    result = run("clash", *words)
    assert (result.code, result.out) == (2, "")
    assert_names(" ".join(result.err.replace("│", " ").split()), *named)


@pytest.mark.full
def test_single_part_of_several_bodies_requires_bodies_option(run, tmp_path):
    path = tmp_path / "pair.step"
    path.write_bytes(step([("pair", CORNERS, QUADS), ("pair", CORNERS + 3, QUADS)]))
    result = run("clash", path)
    assert result.code == 2
    assert_names(result.err, "pair (2)", "--bodies")
    assert run("clash", path, "--bodies").code == 0


def test_mixed_files_with_and_without_unit_are_rejected(run, box, assembly):
    result = run("clash", assembly, box("a.stl", (9, 9, 9)))
    assert result.code == 2
    assert re.search(r"a\.stl.* m\b.*--unit", result.err)
    result = run("clash", assembly, box("a.stl", (9, 9, 9)), "--unit", "mm", "-f", "json")
    # box a is 2 mm wide and inside the plate, which is 2 m wide
    assert [(row["kind"], row["a"], row["b"]) for row in document(result)["clashes"]] == [
        ("contained", "a", "assembly/plate")
    ]


def test_control_characters_in_names_are_escaped(run, box, tmp_path):
    names = "\x1b[31mred.stl", "[bold]b.stl"
    files = [box(name, (0.1 * k, 0, 0)) for k, name in enumerate(names)]
    result = run("clash", *files)
    assert result.code == 1
    assert "\x1b" not in result.out + result.err
    assert "\\x1b[31mred" in result.out
    assert "[bold]b" in result.out


def test_ctrl_c_keeps_findings(run, monkeypatch):
    decide, calls = Decider.decide, []

    def stopping(self, a, b, *others):
        calls.append(1)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return decide(self, a, b, *others)

    monkeypatch.setattr(Decider, "decide", stopping)
    result = run("clash", GEARBOX, "-f", "json")
    assert result.code == 130
    report = document(result)
    assert report["complete"] is False
    assert 0 < len(report["clashes"]) < 44
    assert report["pairs_tested"] < report["pairs_total"] == 861
    assert result.err == messages.CLASH_INTERRUPTED.format(report["pairs_tested"], 861)


def test_ctrl_c_waits_until_files_are_written(run, boxes, tmp_path, monkeypatch):
    write_csv = formats.to_csv

    def stopping(report):
        signal.raise_signal(signal.SIGINT)
        return write_csv(report)

    monkeypatch.setattr(formats, "to_csv", stopping)
    path = tmp_path / "r.csv"
    result = run("clash", *boxes, "-o", path, "--html", tmp_path / "r.html", "--unit", "mm")
    assert result.code == 130
    assert result.err.endswith(messages.CLASH_INTERRUPTED.format(3, 3))
    assert len(path.read_text().splitlines()) == 2
    assert (tmp_path / "r.html").read_text(encoding="utf-8").endswith("</html>\n")


def test_interrupted_jsonl_has_no_report_record(run, boxes, tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"

    def fails(self, report):
        raise KeyboardInterrupt

    monkeypatch.setattr(formats.LineWriter, "close", fails)
    assert run("clash", *boxes, "-o", path, "--unit", "mm").code == 130
    assert [json.loads(line)["record"] for line in path.read_text().splitlines()] == ["clash"]


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of POSIX")
def test_progress_bar_is_shown_on_stderr_terminal_only(tmp_path):
    import pty

    command = [sys.executable, "-m", "gjk3d", "clash", str(GEARBOX), "-f", "json"]
    for quiet in (False, True):
        leader, follower = pty.openpty()
        result = tmp_path / "report.json"
        with result.open("wb") as out, subprocess.Popen([*command, *["-q"] * quiet], stdout=out, stderr=follower):
            os.close(follower)
            shown = b""
            while piece := _read(leader):
                shown += piece
        os.close(leader)
        assert json.loads(result.read_bytes())["counts"]["hard"] == 6
        assert (b"pairs" in shown) is not quiet


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # the follower end is closed
        return b""


def test_only_new_without_baseline_prints_a_note(run, box):
    result = run("clash", box("a.stl"), box("b.stl", (1.5, 0, 0)), "--only-new")
    assert result.code == 1
    assert_names(result.err, "--only-new", "--baseline", "--triage")


@pytest.mark.full
def test_tree_is_printed_in_the_terminal(run, tmp_path):
    steel = [("box", CORNERS * 40, QUADS), ("pin", CORNERS * 5, QUADS)]
    instances = [("box", "NAUO1", (0, 0, 0)), ("pin", "NAUO2", (38, 0, 0)), ("pin", "NAUO3", (90, 0, 0))]
    (tmp_path / "a.step").write_bytes(step(steel, [("top\x1b[31m", instances)]))
    result = run("clash", tmp_path / "a.step", "--tree", "--fail-on", "none")
    assert result.code == 0
    tree = result.out[result.out.index("\ntop") + 1 :].splitlines()
    assert tree[0].endswith("(3 parts): 1 hard")
    assert "\x1b" not in tree[0]
    assert tree[1:] == ["  box: 1 hard", "  pin: 1 hard", "  pin_1"]
    refused = run("clash", tmp_path / "a.step", "--tree", "-f", "json")
    assert refused.code == 2
    assert "--tree" in refused.err
