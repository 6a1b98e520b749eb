"""What people decided about findings: kept, merged, taken up by the next run, and read from files of anybody."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
import trimesh
from damaged_decisions import damaged
from hypothesis import given
from hypothesis import strategies as st
from reports import EVIL, cube, finding, three_cubes
from words import assert_names

import gjk3d as gk
from gjk3d.clash import Triage, read_triage
from gjk3d.clash.triage import MAX_BYTES, STATES, Comment, Issue, Mark, View, parse_triage, taken_up, time_of
from gjk3d.errors import FileError, ParseError
from tests.clash import sentences

TIMES = st.sampled_from([f"2026-05-0{day}T08:00:00.{ms:03d}Z" for day in range(1, 4) for ms in (0, 1)])
WHO = st.sampled_from(["", "ann", "bob", EVIL])
POINTS = st.tuples(*[st.integers(-3, 3).map(float)] * 3)
MARKS = st.builds(Mark, TIMES, WHO, st.sampled_from(STATES), st.none() | st.just(-0.5), st.sampled_from(["", "mm"]))
COMMENTS = st.builds(Comment, TIMES, WHO, st.sampled_from(["", "why?", "so", "\u202e"]), st.sampled_from("123"))
VIEWS = st.builds(View, TIMES, WHO, st.just("v"), st.sampled_from("12"), POINTS, POINTS, POINTS)


@st.composite
def triages(draw):
    """Return copies that may have the same findings, comments and times in them."""
    issues = {}
    for name in draw(st.sets(st.sampled_from("xyz"))):
        lists = [
            tuple(sorted(draw(st.lists(kind, max_size=3, unique_by=lambda item: item.id))))
            for kind in (COMMENTS, VIEWS)
        ]
        marks = [draw(st.none() | MARKS) for _ in range(2)]
        issues[name] = Issue(name, "hard", "a", name, *marks, *lists)
    return Triage(issues)


@given(st.lists(triages(), min_size=1, max_size=3))
def test_copies_become_one_in_any_order_and_as_often_as_wanted(copies):
    whole = copies[0].merged(*copies[1:])
    for order in permutations(copies):
        assert order[0].merged(*order[1:], *order).to_dict() == whole.to_dict()
    for copy in copies:  # by a twin: of every finding the latest of all marks, and every comment
        for key, issue in copy.issues.items():
            ours = whole.issues[key]
            assert {item.id for item in issue.comments} <= {item.id for item in ours.comments}
            assert issue.state is None or issue.state.at <= ours.state.at


@pytest.mark.parametrize(
    "seen",
    [
        {"distance": -0.5},
        {"distance": 0.0},
        {"penetration": 0.5},
        {"unit": "mm"},
        {"intervals": ((0.0, 0.0, 1.0, 1.0),)},
    ],
    ids=str,
)
def test_equal_marks_that_record_different_measures_merge_alike_in_both_orders(seen):
    plain = Mark("2026-05-01T08:00:00.000Z", "ann", "approved")
    a, b = (Triage({"x": Issue("x", "hard", "a", "b", mark)}) for mark in (plain, replace(plain, **seen)))
    assert a.merged(b).to_dict() == b.merged(a).to_dict() == b.to_dict()


@given(triages())
def test_a_file_says_what_was_written(copy):
    text = json.dumps(copy.to_dict()).encode()
    assert parse_triage(text, "here").to_dict() == copy.to_dict()


def pressed(depth=0.5, gone=False):
    """A pin that is so deep in a plate, a lug that is 0.5 deep in it, and a part that is free; in mm."""
    places = {"plate": (0, 0, 0), "pin": (2 - depth, 0, 0), "lug": (-1.5, 0, 0), "far": (0, 0, 9)}
    meshes = {name: cube(place) for name, place in places.items()}
    if gone:
        meshes["lug"] = cube((-5, 0, 0))
    return gk.clash.Assembly.of(meshes, "mm")


def by_pair(report):
    return {(clash.a, clash.b): clash for clash in report.clashes}


PIN, LUG = ("pin", "plate"), ("lug", "plate")


def test_a_later_run_takes_up_what_was_decided():
    first = gk.clash.check(pressed())
    found = by_pair(first)
    assert [found[key].status for key in (PIN, LUG)] == ["new", "new"]
    triage = Triage().marked(found[PIN], state="approved", by="ann", unit="mm")
    triage = triage.marked(found[LUG], state="reviewed", by="bob", assignee="cy")
    again = by_pair(second := gk.clash.check(pressed(), triage=triage))
    assert (again[PIN].status, again[PIN].note) == ("ignored", sentences.APPROVED)
    assert again[LUG].status == "active"
    assert second.failures(("hard",), only_new=True) == 0
    assert {clash.id for clash in second.clashes if clash.status == "new"} == set()


def test_a_gap_that_was_approved_and_is_smaller_is_told_as_nearer():
    cube = gk.Box((1, 1, 1)).surface()
    apart = [
        gk.clash.Assembly.of({"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + 1 + gap, cube.faces)}, "mm")
        for gap in (0.5, 0.4)
    ]
    (wide,) = gk.clash.check(apart[0], 1.0).clashes
    triage = Triage().marked(wide, state="approved", by="ann", unit="mm")
    (near,) = gk.clash.check(apart[1], 1.0, triage=triage).clashes
    assert near.status == "new"
    assert sentences.NEARER in near.note


def test_what_was_approved_is_not_when_it_is_deeper():
    triage = Triage().marked(by_pair(gk.clash.check(pressed()))[PIN], state="approved", by="ann", unit="mm")
    deeper = by_pair(gk.clash.check(pressed(0.7), triage=triage))[PIN]
    assert deeper.status == "new"
    assert_names(deeper.note, f"{sentences.APPROVED} at depth 0.5 mm", sentences.DEEPER)
    assert by_pair(gk.clash.check(pressed(0.3), triage=triage))[PIN].status == "ignored"
    inches = gk.clash.Assembly.of({part.name: part.mesh for part in pressed(0.7).parts}, "in")
    assert by_pair(gk.clash.check(inches, triage=triage))[PIN].status == "new"  # 0.7 in are deeper than 0.5 mm


def press_fit(radius):
    """A pin in a hole of 10, that goes out along its axis: by 40, however thick it is."""
    plate = trimesh.creation.annulus(10.0, 40.0, 20.0, sections=48)
    pin = trimesh.creation.cylinder(radius, 60.0, sections=48)
    parts = {"plate": gk.Mesh(plate.vertices, plate.faces), "pin": gk.Mesh(pin.vertices, pin.faces)}
    return gk.clash.Assembly.of(parts, "mm")


def test_what_was_approved_is_not_when_it_is_pressed_in_harder():
    first = gk.clash.check(press_fit(10.1)).clashes[0]
    triage = Triage().marked(first, state="approved", by="ann", unit="mm")
    assert triage.issue(first).state.penetration == first.penetration == pytest.approx(0.1, abs=1e-3)
    again = gk.clash.check(press_fit(10.1), triage=parse_triage(json.dumps(triage.to_dict()).encode(), "again"))
    assert [clash.status for clash in again.clashes] == ["ignored"]
    (harder,) = gk.clash.check(press_fit(12.0), triage=triage).clashes
    assert (harder.id, harder.status) == (first.id, "new")
    assert harder.distance == pytest.approx(first.distance, rel=0.02)
    assert_names(harder.note, "0.0997859 mm", sentences.DEEPER)
    old = replace(triage.issue(first).state, penetration=None)  # as files had it before
    issues = {first.id: replace(triage.issue(first), state=old)}
    assert [clash.status for clash in gk.clash.check(press_fit(12.0), triage=Triage(issues)).clashes] == ["ignored"]


def test_an_approval_holds_only_against_a_depth_that_can_be_compared():
    pin = by_pair(gk.clash.check(pressed()))[PIN]
    bare = Triage().marked(pin, state="approved", by="ann")
    again = by_pair(gk.clash.check(pressed(), triage=bare))[PIN]
    assert again.status == "new"
    assert_names(again.note, f"{sentences.APPROVED} at depth 0.5,", " mm")
    issue = bare.issue(pin)
    any_depth = Triage({pin.id: replace(issue, state=replace(issue.state, distance=None))})
    again = by_pair(gk.clash.check(pressed(0.9), triage=any_depth))[PIN]
    assert (again.status, again.note) == ("ignored", sentences.APPROVED_AT_ANY_DEPTH)


def test_what_an_earlier_report_has_approved_is_not_new_beside_it(tmp_path):
    found = by_pair(gk.clash.check(pressed()))
    triage = Triage().marked(found[PIN], state="approved", by="ann", unit="mm")
    before = gk.clash.check(pressed(), triage=triage)
    assert by_pair(before)[PIN].status == "ignored"
    before.to_json(tmp_path / "before.json")
    for baseline in (before, tmp_path / "before.json"):
        again = gk.clash.check(pressed(), baseline=baseline)
        assert {key: clash.status for key, clash in by_pair(again).items()} == {PIN: "active", LUG: "active"}
    both = by_pair(gk.clash.check(pressed(), baseline=before, triage=triage))
    assert [both[key].status for key in (PIN, LUG)] == ["ignored", "active"]
    # an approval that does not hold is told all the same
    assert by_pair(gk.clash.check(pressed(0.7), baseline=before, triage=triage))[PIN].status == "new"


def test_resolved_that_is_there_again_is_new_and_what_is_gone_is_resolved():
    found = by_pair(gk.clash.check(pressed()))
    triage = Triage().marked(found[PIN], state="resolved", by="ann").marked(found[LUG], state="active", by="bob")
    again = by_pair(gk.clash.check(pressed(gone=True), triage=triage))
    assert (again[PIN].status, again[PIN].note) == ("new", sentences.THERE_AGAIN)
    assert again[LUG].status == "resolved"
    # a pair that is not looked at is not resolved
    assert LUG not in by_pair(gk.clash.check(pressed(gone=True), a="pin", triage=triage))
    # what the baseline tells of is told once
    baseline = gk.clash.check(pressed())
    twice = gk.clash.check(pressed(gone=True), triage=triage, baseline=baseline).clashes
    assert sum((clash.a, clash.b) == LUG for clash in twice) == 1


def test_that_a_finding_marked_as_resolved_is_gone_is_said_once():
    clash = by_pair(gk.clash.check(pressed()))[LUG]
    told = Triage().marked(clash, state="resolved", by="Ada", unit="mm")
    once = gk.clash.check(pressed(gone=True), triage=told)
    assert [item.status for item in once.clashes if item.id == clash.id] == ["resolved"]
    again = gk.clash.check(pressed(gone=True), triage=once.triage)
    assert clash.id not in [item.id for item in again.clashes]
    back = gk.clash.check(pressed(), triage=once.triage)
    assert by_pair(back)[LUG].status == "new"


def test_the_last_state_holds_and_an_unknown_one_is_refused():
    clash = three_cubes().clashes[0]
    late = Triage().marked(clash, state="active", by="ann", at="2026-05-04T09:00:00.000Z")
    assert late.marked(clash, state="new", by="bob", at="2026-05-04T08:00:00.000Z").issue(clash).state.value == "active"
    with pytest.raises(ParseError, match=r"'done'.*'new', 'active', 'reviewed'"):
        late.marked(clash, state="done", by="bob")


def test_times_are_those_of_one_zone():
    assert (
        time_of("2026-05-04T10:00:00+02:00", "x") == time_of("2026-05-04T08:00:00", "x") == "2026-05-04T08:00:00.000Z"
    )
    for bad in ("yesterday", "2026-13-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "2026-05-04", ""):
        with pytest.raises(ParseError, match=rf"\bx\b.*{re.escape(repr(bad))}.*2026-05-04T03:02:01"):
            time_of(bad, "x")


def test_a_time_that_is_to_come_does_not_hold_against_all_that_is_decided_until_then():
    clock = datetime.now(UTC)
    assert time_of((clock + timedelta(hours=14)).isoformat(), "x")  # a clock that is set to another zone
    with pytest.raises(ParseError, match=r"\bx\b.*'.*'.*clock"):
        time_of((clock + timedelta(hours=25)).isoformat(), "x")


@pytest.mark.parametrize(("text", "named"), list(damaged()))
def test_damaged_files_are_refused_in_words(tmp_path, text, named):
    path = tmp_path / "week.triage.json"
    path.write_text(text)
    with pytest.raises(ParseError, match=named):
        read_triage(path)


def test_files_that_are_not_there_or_too_large(tmp_path):
    with pytest.raises(FileError, match=r"none\.triage\.json.*gjk3d clash --html"):
        read_triage(tmp_path / "none.triage.json")
    with (tmp_path / "vast").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ParseError, match="64 MB"):
        read_triage(tmp_path / "vast")


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    triage = Triage().commented(three_cubes().clashes[0], EVIL, by="ann")
    path = triage.write(tmp_path / "week.triage.json")
    assert read_triage(path) == triage
    bad = Triage({"x": Issue("x", "hard", "a", "b", Mark("", "", "new", float("nan")))})
    with pytest.raises(ValueError, match="JSON compliant"):
        bad.write(path)
    assert read_triage(path) == triage
    assert [item.name for item in tmp_path.iterdir()] == ["week.triage.json"]


def test_ids_alone_tie_findings_to_decisions():
    clash = finding("hard", "a", "b")
    assert taken_up(Triage().marked(clash, by="x", assignee="y"), clash, None) == clash
