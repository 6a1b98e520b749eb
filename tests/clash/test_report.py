"""A report as data: counts, ids, groups, and its JSON document."""

import json
import pickle
from math import inf

import gjk3d as gk
from gjk3d.clash.detection.clashes import KINDS, Clash, clash_id
from gjk3d.clash.detection.findings import ranked
from gjk3d.clash.report import PartRow, Report
from tests.clash import messages


def clash(kind: str, a: str, b: str, status: str = "new", **values) -> Clash:
    return Clash(clash_id(kind, a, b), kind, 1, status, a, b, "f.glb", "f.glb", **values)


def test_module_is_an_attribute():
    assert gk.clash.Report is Report


def test_ids_depend_on_kind_and_names_but_not_on_order():
    assert clash_id("hard", "a", "b") == clash_id("hard", "b", "a")
    assert len({clash_id(kind, a, b) for kind in KINDS for a, b in (("a", "b"), ("a", "c"), ("ab", ""))}) == 18


def test_counts_include_only_open_findings():
    report = Report((clash("hard", "a", "b"), clash("hard", "a", "c", "ignored"), clash("touch", "a", "d", "resolved")))
    assert report.counts == {"hard": 1} | {kind: 0 for kind in KINDS if kind != "hard"}
    assert report.statuses == {"new": 1, "active": 0, "resolved": 1, "ignored": 1}
    assert repr(report) == messages.REPORT.format(0, 0, "1 hard")
    assert repr(Report(pairs_tested=1)) == messages.REPORT_OF_A_PAIR.format(0)


def test_findings_rank_by_penetration_before_depth():
    """A bolt pressed into its hole has a large depth and yet a smaller penetration than an overlapping corner."""
    pressed = clash("hard", "bolt", "plate", distance=-16.0, depth=16.0, penetration=0.027)
    corner = clash("hard", "lid", "box", distance=-2.0, depth=2.0, penetration=1.5)
    opened = clash("hard", "sheet", "box", distance=-3.0, depth=3.0)  # an open sheet has no inside, so no penetration
    near, nearer = clash("clearance", "a", "b", distance=0.5), clash("clearance", "a", "c", distance=0.25)
    ranks = ranked([near, pressed, nearer, corner, opened], [""] * 5)
    assert [row.id for row in ranks] == [row.id for row in (opened, corner, pressed, nearer, near)]
    assert [row.severity for row in ranks] == [1, 2, 3, 4, 5]


def test_groups_keep_the_order_of_the_report():
    rows = (
        clash("hard", "a", "b", group="y"),
        clash("touch", "a", "c", group="x"),
        clash("touch", "b", "c", group="y"),
    )
    groups = Report(rows).groups
    assert list(groups) == ["y", "x"]
    assert groups["y"] == (rows[0], rows[2])


def test_json_has_no_nan_and_is_read_back(tmp_path):
    row = clash("hard", "<script>", "=cmd()", distance=-0.5, normal=(0.0, 0.0, 1.0), error_bound=inf)
    report = Report((row,), (PartRow("p", "f.stl", 0, reason="broken"),), "mm")
    text = report.to_json(tmp_path / "r.json")
    document = json.loads(text)
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == document
    assert document["clashes"][0]["error_bound"] is None
    back = Clash.from_dict(document["clashes"][0] | {"of_a_later_version": 1})
    assert back == clash("hard", "<script>", "=cmd()", distance=-0.5, normal=(0.0, 0.0, 1.0))
    assert [part.reason for part in report.unchecked] == ["broken"]


def test_report_pickles():
    report = Report((clash("hard", "a", "b"),))
    assert pickle.loads(pickle.dumps(report)) == report
