"""Decisions about findings: stored, merged, applied in the next run, and read from files of any source."""

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
from message_checks import assert_names
from reports import EVIL, cube, finding, three_cubes

import gjk3d as gk
from gjk3d.clash import Triage, read_triage
from gjk3d.clash.triage import MAX_BYTES, STATES, Comment, Issue, Mark, View, parse_triage, taken_up, time_of
from gjk3d.errors import FileError, ParseError
from tests.clash import messages

TIMES = st.sampled_from([f"2026-05-0{day}T08:00:00.{ms:03d}Z" for day in range(1, 4) for ms in (0, 1)])
WHO = st.sampled_from(["", "ann", "bob", EVIL])
POINTS = st.tuples(*[st.integers(-3, 3).map(float)] * 3)
MARKS = st.builds(Mark, TIMES, WHO, st.sampled_from(STATES), st.none() | st.just(-0.5), st.sampled_from(["", "mm"]))
COMMENTS = st.builds(Comment, TIMES, WHO, st.sampled_from(["", "why?", "so", "\u202e"]), st.sampled_from("123"))
VIEWS = st.builds(View, TIMES, WHO, st.just("v"), st.sampled_from("12"), POINTS, POINTS, POINTS)


@st.composite
def triages(draw):
    """Return triages that may share findings, comments and times."""
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
def test_merge_is_commutative_and_idempotent(copies):
    merged = copies[0].merged(*copies[1:])
    for order in permutations(copies):
        assert order[0].merged(*order[1:], *order).to_dict() == merged.to_dict()
    for copy in copies:  # naive merge: the latest mark and all comments of each finding
        for key, issue in copy.issues.items():
            ours = merged.issues[key]
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
def test_equal_marks_with_other_measures_merge_in_any_order(seen):
    plain = Mark("2026-05-01T08:00:00.000Z", "ann", "approved")
    a, b = (Triage({"x": Issue("x", "hard", "a", "b", mark)}) for mark in (plain, replace(plain, **seen)))
    assert a.merged(b).to_dict() == b.merged(a).to_dict() == b.to_dict()


@given(triages())
def test_triage_is_read_back(copy):
    text = json.dumps(copy.to_dict()).encode()
    assert parse_triage(text, "here").to_dict() == copy.to_dict()


def pressed(depth=0.5, gone=False):
    """Return a plate, a pin at a given depth in it, a lug at depth 0.5 unless gone, and a separated part; in mm."""
    places = {"plate": (0, 0, 0), "pin": (2 - depth, 0, 0), "lug": (-1.5, 0, 0), "far": (0, 0, 9)}
    meshes = {name: cube(place) for name, place in places.items()}
    if gone:
        meshes["lug"] = cube((-5, 0, 0))
    return gk.clash.Assembly.of(meshes, "mm")


def by_pair(report):
    return {(clash.a, clash.b): clash for clash in report.clashes}


PIN, LUG = ("pin", "plate"), ("lug", "plate")


def test_later_run_applies_decisions():
    first = gk.clash.check(pressed())
    by_key = by_pair(first)
    assert [by_key[key].status for key in (PIN, LUG)] == ["new", "new"]
    triage = Triage().marked(by_key[PIN], state="approved", by="ann", unit="mm")
    triage = triage.marked(by_key[LUG], state="reviewed", by="bob", assignee="cy")
    again = by_pair(second := gk.clash.check(pressed(), triage=triage))
    assert (again[PIN].status, again[PIN].note) == ("ignored", messages.APPROVED)
    assert again[LUG].status == "active"
    assert second.failures(("hard",), only_new=True) == 0
    assert {clash.id for clash in second.clashes if clash.status == "new"} == set()


def test_approved_gap_that_shrinks_is_new():
    cube = gk.Box((1, 1, 1)).surface()
    assemblies = [
        gk.clash.Assembly.of({"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + 1 + gap, cube.faces)}, "mm")
        for gap in (0.5, 0.4)
    ]
    (wide,) = gk.clash.check(assemblies[0], 1.0).clashes
    triage = Triage().marked(wide, state="approved", by="ann", unit="mm")
    (near,) = gk.clash.check(assemblies[1], 1.0, triage=triage).clashes
    assert near.status == "new"
    assert messages.NEARER in near.note


def test_approved_clash_that_deepens_is_new():
    triage = Triage().marked(by_pair(gk.clash.check(pressed()))[PIN], state="approved", by="ann", unit="mm")
    deeper = by_pair(gk.clash.check(pressed(0.7), triage=triage))[PIN]
    assert deeper.status == "new"
    assert_names(deeper.note, f"{messages.APPROVED} at depth 0.5 mm", messages.DEEPER)
    assert by_pair(gk.clash.check(pressed(0.3), triage=triage))[PIN].status == "ignored"
    inches = gk.clash.Assembly.of({part.name: part.mesh for part in pressed(0.7).parts}, "in")
    assert by_pair(gk.clash.check(inches, triage=triage))[PIN].status == "new"  # 0.7 in is deeper than 0.5 mm


def press_fit(radius):
    """Return a pin in a hole of radius 10; its separating translation is 40 along the axis for any pin radius."""
    plate = trimesh.creation.annulus(10.0, 40.0, 20.0, sections=48)
    pin = trimesh.creation.cylinder(radius, 60.0, sections=48)
    parts = {"plate": gk.Mesh(plate.vertices, plate.faces), "pin": gk.Mesh(pin.vertices, pin.faces)}
    return gk.clash.Assembly.of(parts, "mm")


def test_approved_clash_with_larger_penetration_is_new():
    first = gk.clash.check(press_fit(10.1)).clashes[0]
    triage = Triage().marked(first, state="approved", by="ann", unit="mm")
    assert triage.issue(first).state.penetration == first.penetration == pytest.approx(0.1, abs=1e-3)
    again = gk.clash.check(press_fit(10.1), triage=parse_triage(json.dumps(triage.to_dict()).encode(), "again"))
    assert [clash.status for clash in again.clashes] == ["ignored"]
    (harder,) = gk.clash.check(press_fit(12.0), triage=triage).clashes
    assert (harder.id, harder.status) == (first.id, "new")
    assert harder.distance == pytest.approx(first.distance, rel=0.02)
    assert_names(harder.note, "0.0997859 mm", messages.DEEPER)
    old = replace(triage.issue(first).state, penetration=None)  # files of earlier versions have no penetration
    issues = {first.id: replace(triage.issue(first), state=old)}
    assert [clash.status for clash in gk.clash.check(press_fit(12.0), triage=Triage(issues)).clashes] == ["ignored"]


def test_approval_needs_a_comparable_depth():
    pin = by_pair(gk.clash.check(pressed()))[PIN]
    bare = Triage().marked(pin, state="approved", by="ann")
    again = by_pair(gk.clash.check(pressed(), triage=bare))[PIN]
    assert again.status == "new"
    assert_names(again.note, f"{messages.APPROVED} at depth 0.5,", " mm")
    issue = bare.issue(pin)
    any_depth = Triage({pin.id: replace(issue, state=replace(issue.state, distance=None))})
    again = by_pair(gk.clash.check(pressed(0.9), triage=any_depth))[PIN]
    assert (again.status, again.note) == ("ignored", messages.APPROVED_AT_ANY_DEPTH)


def test_finding_approved_in_baseline_is_not_new(tmp_path):
    by_key = by_pair(gk.clash.check(pressed()))
    triage = Triage().marked(by_key[PIN], state="approved", by="ann", unit="mm")
    before = gk.clash.check(pressed(), triage=triage)
    assert by_pair(before)[PIN].status == "ignored"
    before.to_json(tmp_path / "before.json")
    for baseline in (before, tmp_path / "before.json"):
        again = gk.clash.check(pressed(), baseline=baseline)
        assert {key: clash.status for key, clash in by_pair(again).items()} == {PIN: "active", LUG: "active"}
    again_by_key = by_pair(gk.clash.check(pressed(), baseline=before, triage=triage))
    assert [again_by_key[key].status for key in (PIN, LUG)] == ["ignored", "active"]
    # an approval that no longer applies is reported despite the baseline
    assert by_pair(gk.clash.check(pressed(0.7), baseline=before, triage=triage))[PIN].status == "new"


def test_resolved_finding_that_returns_is_new():
    by_key = by_pair(gk.clash.check(pressed()))
    triage = Triage().marked(by_key[PIN], state="resolved", by="ann").marked(by_key[LUG], state="active", by="bob")
    again = by_pair(gk.clash.check(pressed(gone=True), triage=triage))
    assert (again[PIN].status, again[PIN].note) == ("new", messages.THERE_AGAIN)
    assert again[LUG].status == "resolved"
    # a pair that was not checked is not resolved
    assert LUG not in by_pair(gk.clash.check(pressed(gone=True), a="pin", triage=triage))
    # a finding in triage and baseline is reported once
    baseline = gk.clash.check(pressed())
    twice = gk.clash.check(pressed(gone=True), triage=triage, baseline=baseline).clashes
    assert sum((clash.a, clash.b) == LUG for clash in twice) == 1


def test_resolved_finding_is_reported_once():
    clash = by_pair(gk.clash.check(pressed()))[LUG]
    triage = Triage().marked(clash, state="resolved", by="Ada", unit="mm")
    once = gk.clash.check(pressed(gone=True), triage=triage)
    assert [item.status for item in once.clashes if item.id == clash.id] == ["resolved"]
    again = gk.clash.check(pressed(gone=True), triage=once.triage)
    assert clash.id not in [item.id for item in again.clashes]
    back = gk.clash.check(pressed(), triage=once.triage)
    assert by_pair(back)[LUG].status == "new"


def test_latest_state_applies_and_unknown_states_raise():
    clash = three_cubes().clashes[0]
    late = Triage().marked(clash, state="active", by="ann", at="2026-05-04T09:00:00.000Z")
    assert late.marked(clash, state="new", by="bob", at="2026-05-04T08:00:00.000Z").issue(clash).state.value == "active"
    with pytest.raises(ParseError, match=r"'done'.*'new', 'active', 'reviewed'"):
        late.marked(clash, state="done", by="bob")


def test_times_are_converted_to_utc():
    assert (
        time_of("2026-05-04T10:00:00+02:00", "x") == time_of("2026-05-04T08:00:00", "x") == "2026-05-04T08:00:00.000Z"
    )
    for bad in ("yesterday", "2026-13-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "2026-05-04", ""):
        with pytest.raises(ParseError, match=rf"\bx\b.*{re.escape(repr(bad))}.*2026-05-04T03:02:01"):
            time_of(bad, "x")


def test_times_more_than_a_day_ahead_raise():
    clock = datetime.now(UTC)
    assert time_of((clock + timedelta(hours=14)).isoformat(), "x")  # the clock may be set to another time zone
    with pytest.raises(ParseError, match=r"\bx\b.*'.*'.*clock"):
        time_of((clock + timedelta(hours=25)).isoformat(), "x")


@pytest.mark.parametrize(("text", "named"), list(damaged()))
def test_damaged_files_raise_with_cause(tmp_path, text, named):
    path = tmp_path / "week.triage.json"
    path.write_text(text)
    with pytest.raises(ParseError, match=named):
        read_triage(path)


def test_missing_or_too_large_files_raise(tmp_path):
    with pytest.raises(FileError, match=r"none\.triage\.json.*gjk3d clash --html"):
        read_triage(tmp_path / "none.triage.json")
    with (tmp_path / "vast").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ParseError, match="64 MB"):
        read_triage(tmp_path / "vast")


def test_failed_write_keeps_the_old_file(tmp_path):
    triage = Triage().commented(three_cubes().clashes[0], EVIL, by="ann")
    path = triage.write(tmp_path / "week.triage.json")
    assert read_triage(path) == triage
    bad = Triage({"x": Issue("x", "hard", "a", "b", Mark("", "", "new", float("nan")))})
    with pytest.raises(ValueError, match="JSON compliant"):
        bad.write(path)
    assert read_triage(path) == triage
    assert [item.name for item in tmp_path.iterdir()] == ["week.triage.json"]


def test_assignment_without_state_changes_no_finding():
    clash = finding("hard", "a", "b")
    assert taken_up(Triage().marked(clash, by="x", assignee="y"), clash, None) == clash
