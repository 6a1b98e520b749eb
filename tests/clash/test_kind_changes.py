"""A pair whose kind changed keeps its finding, which is new only if the kind is worse."""

import numpy as np
import pytest
from reports import cube

import gjk3d as gk
from gjk3d.clash import Triage
from gjk3d.clash.detection.clashes import KINDS
from gjk3d.clash.formats import read_bcf, to_bcf
from gjk3d.clash.triage import is_worse

PLACES = {"hard": 1.5, "touch": 2.0, "clearance": 2.25}


def run(kind, **more):
    parts = {"a": cube(), "b": cube((PLACES[kind], 0, 0))}
    report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), 0.5, 1e-3, **more)
    assert [clash.kind for clash in report.clashes if clash.is_open or clash.status == "ignored"] == [kind]
    return report


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        ("hard", "clearance", "active"), ("hard", "touch", "active"), ("clearance", "touch", "active"),
        ("clearance", "hard", "new"), ("touch", "clearance", "new"), ("touch", "hard", "new"),
    ],
)  # fmt: skip
def test_changed_kind_keeps_the_id_of_the_baseline(before, after, status):
    old = run(before)
    new = run(after, baseline=old)
    assert new.clashes[0].id == old.clashes[0].id
    assert new.clashes[0].status == status
    assert new.clashes[0].note == f"the kind was {before}"
    assert new.statuses["resolved"] == 0
    assert new.failures((after,), only_new=True) == (status == "new")
    back = run(before, baseline=new)  # also when the baseline has the id of the previous kind
    assert back.clashes[0].id == old.clashes[0].id
    assert back.clashes[0].note == f"the kind was {after}"


def test_decisions_follow_the_pair():
    old = run("hard").clashes[0]
    approved = Triage().marked(old, state="approved", by="ann", unit="mm")
    assert run("clearance", triage=approved).clashes[0].status == "ignored"
    resolved = Triage().marked(old, state="resolved", by="ann", unit="mm")
    report = run("clearance", triage=resolved)
    assert report.clashes[0].status == "active"  # the clash was repaired, and a smaller problem remains
    assert report.triage.issues[old.id].state.value == "active"
    near = run("clearance").clashes[0]
    worse = run("hard", triage=Triage().marked(near, state="approved", by="ann", unit="mm"))
    assert (worse.clashes[0].id, worse.clashes[0].status) == (near.id, "new")


def test_finding_of_equal_kind_is_preferred():
    hard, near = run("hard").clashes[0], run("clearance").clashes[0]
    triage = Triage().marked(hard, state="active", by="ann").marked(near, state="reviewed", by="ann")
    assert run("clearance", triage=triage, baseline=run("hard")).clashes[0].id == near.id


def test_bcf_topic_belongs_to_the_pair(tmp_path):
    before, after = run("hard"), run("clearance")
    before.triage = Triage().commented(before.clashes[0], "moved by 1 mm", by="ann")
    to_bcf(before, tmp_path / "old.bcf")
    read = read_bcf(tmp_path / "old.bcf", after)
    assert [item.text for item in read.triage.issue(after.clashes[0]).comments] == ["moved by 1 mm"]
    assert read.notes == ()


def test_kinds_are_ordered_except_unknown_ones():
    kinds = np.array([[is_worse(a, b) for b in KINDS] for a in KINDS])
    assert (kinds == np.triu(np.ones((6, 6), dtype=bool), 1)).all()
    assert not is_worse("hard", "of a later version")
