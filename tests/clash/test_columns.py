"""Findings and parts stored in columns behave as the sequences of objects that they represent."""

import copy
import pickle
import re
from collections import Counter
from dataclasses import fields
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports import finding, three_cubes

import gjk3d as gk
from gjk3d.clash.detection.clashes import KINDS, STATUSES, Clash, Clashes, clash_id
from gjk3d.clash.detection.findings import causes, ranked
from gjk3d.clash.detection.parts import order
from gjk3d.clash.report import PartRow, PartRows, Report
from tests.clash import messages

NUMBER = st.none() | st.integers(-3, 3).map(float) | st.floats(allow_nan=False, width=32)
VECTOR = st.none() | st.tuples(*[st.floats(-9, 9)] * 3)
NAME = st.sampled_from(["bolt 2", "bolt 10", "Bolt 2", "nut", "", "\ud800", "plate/1"])
SPAN = st.tuples(*[st.floats(0, 1)] * 4)
NUMBERS = ("distance", "depth", "overlap_volume", "error_bound", "tolerance", "convex_gap", "penetration", "time")
VECTORS = ("mtv", "normal", "point_a", "point_b", "point")
CLASH = st.builds(
    Clash,
    id=st.text("0123456789abcdef", min_size=1, max_size=4),
    kind=st.sampled_from(KINDS),
    severity=st.integers(0, 9),
    status=st.sampled_from(STATUSES),
    a=NAME,
    b=NAME,
    a_file=st.text(max_size=2),
    b_file=st.text(max_size=2),
    overlap_box=st.none() | st.tuples(*[st.tuples(*[st.floats(-9, 9)] * 3)] * 2),
    intervals=st.lists(SPAN, max_size=2).map(tuple),
    least=st.none() | st.tuples(st.floats(0, 1), st.floats(1, 2)),
    group=st.sampled_from(["", "x"]),
    note=st.text(max_size=3),
    **dict.fromkeys(NUMBERS, NUMBER),
    **dict.fromkeys(VECTORS, VECTOR),
)
CLASHES = st.lists(CLASH, max_size=40)


def rank(clash):
    """Return the sort key of a single finding."""
    distance = inf if clash.distance is None else clash.distance
    inside = distance if clash.penetration is None else -clash.penetration
    place = 0 if clash.is_open else STATUSES.index(clash.status)
    return place, KINDS.index(clash.kind), inside, distance, order(clash.a), order(clash.b)


def cover(clashes):
    """Return the greedy cover: repeatedly the part with most of the remaining findings, and their ids."""
    remaining = [clash for clash in clashes if clash.is_open and clash.kind not in ("touch", "unchecked") and clash.b]
    result = []
    while remaining:
        counts = Counter(name for clash in remaining for name in {clash.a, clash.b})
        part = min(counts, key=lambda name: (-counts[name], order(name)))
        if counts[part] < 3:
            break
        result.append((part, [clash.id for clash in remaining if part in (clash.a, clash.b)]))
        remaining = [clash for clash in remaining if part not in (clash.a, clash.b)]
    return result


@given(CLASHES, CLASHES)
def test_columns_equal_their_findings(some, others):
    columns = Clashes.of(some)
    assert list(columns) == some
    assert columns == tuple(some)
    assert [columns[k] for k in range(len(some))] == some
    assert columns[1:7:2] == tuple(some[1:7:2])
    assert list(columns.joined(others)) == some + others
    assert list(columns.joined(Clashes.of(others)).joined(some)) == some + others + some
    assert columns.ids() == [clash.id for clash in some]
    for clash in columns:
        assert type(clash.a) is type(clash.note) is str
        assert all(type(getattr(clash, name)) in (float, type(None)) for name in NUMBERS)
    assert columns.counts() == Counter((clash.status, clash.kind) for clash in some)
    assert columns.is_open.tolist() == [clash.is_open for clash in some]


@given(CLASHES)
def test_order_equals_sorting_by_key(some):
    wanted = sorted(some, key=rank)
    assert [some[k] for k in Clashes.of(some).worst_first()] == wanted
    assert [clash.id for clash in ranked(some, [""] * len(some))] == [clash.id for clash in wanted]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(KINDS)), max_size=40))
def test_causes_equal_greedy_cover(pairs):
    some = [finding(kind, f"{a}", f"{b}", id=f"{k}") for k, (a, b, kind) in enumerate(pairs) if a < b]
    result = [(cause.part, list(cause.ids)) for cause in causes(some)]
    assert result == sorted(cover(some), key=lambda each: (-len(each[1]), order(each[0])))


def test_columns_behave_as_tuples():
    report = three_cubes()
    for rows in (report.clashes, report.parts):
        plain = tuple(rows)
        assert len(rows) == len(plain) > 1
        assert rows == plain
        assert plain == rows
        assert rows != plain[1:]
        assert rows != list(plain)
        assert hash(rows) == hash(plain)
        assert all(repr(row) in repr(rows) for row in plain)
        assert rows[-1] == plain[-1]
        assert rows[:1] == plain[:1]
        assert rows + plain == plain + rows == plain + plain
        assert plain[1] in rows
        assert rows.index(plain[1]) == 1
        assert list(reversed(rows)) == list(reversed(plain))
        assert pickle.loads(pickle.dumps(rows)) == copy.deepcopy(rows) == plain
        with pytest.raises(IndexError):
            rows[len(plain)]
    with pytest.raises(TypeError):
        report.clashes[0] = report.clashes[1]


def test_repr_shows_first_and_last_rows():
    assert repr(Clash("1", "unchecked", 1, "new", "a", "b", "", "")) == messages.CLASH.format(1, "unchecked", "a", "b")
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface()[:2])
    row = {f"p{k:02}": gk.Mesh(cube.vertices + (0.9 * k, 0, 0), cube.faces) for k in range(20)}
    assembly = gk.clash.Assembly.of(row, "mm")
    lines = repr(gk.clash.check(assembly).clashes).splitlines()
    assert len(lines) == 9
    assert lines[4] == " ... 11 more ..."
    assert re.fullmatch(r"\(<Clash \w{16}: hard, 'p0\d'.*'p0\d'.* depth 0\.1\d* \(.*\)>", lines[0])
    assert repr(assembly).splitlines()[:3] == [messages.ASSEMBLY.format(20, "mm"), " 'p00'", " 'p01'"]
    assert len(repr(assembly).splitlines()) == 10
    assert repr(gk.clash.Assembly(())) == "<Assembly: 0 parts>"


def test_part_rows_keep_their_values():
    box = ((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    rows = (
        PartRow("a", "f", 3, True, False, box, "", ("f", "a"), (0.0, 0.5, 1.0), "guid"),
        PartRow("b", "f", 0, reason="broken"),
    )
    assert PartRows.of(rows) == rows
    report = Report(parts=rows)
    assert report.unchecked == rows[1:]
    assert report.reading == (None, 1.0)
    assert {type(x) for row in report.parts if row.bounds for corner in row.bounds for x in corner} == {float}


def test_check_creates_findings_only_on_access(monkeypatch):
    from gjk3d.clash.detection import clashes

    made = []
    monkeypatch.setattr(clashes, "Clash", lambda *values: made.append(values) or Clash(*values))
    cube = gk.Box((1, 1, 1)).surface()
    parts = {f"{k}": gk.Mesh(cube.vertices + 0.75 * k, cube.faces) for k in range(50)}
    report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"))
    assert (report.counts["hard"], report.total, made) == (49, 49, [])
    last = report.clashes[-1]
    assert len(made) == 1
    assert last == list(report.clashes)[-1]
    assert last.id == clash_id("hard", last.a, last.b)


def test_every_field_has_a_column():
    columns = Clashes.of([finding("hard", "a", "b")]).columns
    assert set(columns) == {item.name for item in fields(Clash)}
    assert all(isinstance(values, np.ndarray) and len(values) == 1 for values in columns.values())
