"""Times of clashes of moving parts: in all formats, in approvals, and in later runs."""

import json
import zipfile

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.clash import Triage
from gjk3d.clash.formats import to_bcf, to_junit, to_markdown
from gjk3d.clash.report.baseline import read_baseline
from gjk3d.clash.report.wording import when
from gjk3d.clash.triage import parse_triage
from tests.clash import messages


def box(size, at):
    vertices, faces = gk.Box(size).surface()
    return gk.Mesh(vertices + np.asarray(at, dtype=float), faces)


def slide(seconds=2.0, way=8.0, more=()):
    """Check a slider through a post, 0.05 above the floor, and a plug at constant depth in the floor; in mm."""
    parts = {
        "floor": box((20, 20, 1), (0, 0, -1)),
        "slider": box((1, 1, 1), (0, 0, 0.05)),
        "post": box((1, 1, 4), (5, 0, 0)),
        "plug": box((1, 1, 1), (-5, 0, -0.7)),
        "pin": box((1, 1, 1), (0, 5, 0.04)),
    }
    ways = {"slider": (way, 0, 0), "plug": (0, 2, 0), "pin": (0, 0, 1)}
    motions = {name: gk.Motion.translation(None, vector) for name, vector in ways.items()}
    movement = gk.clash.Movement(motions, times=(0.0, seconds), unit="s")
    return gk.clash.check(gk.clash.Assembly.of(parts, "mm"), 0.2, motion=movement, **dict(more))


def by_pair(report):
    return {(clash.a, clash.b): clash for clash in report.clashes}


POST, PLUG, FLOOR = ("post", "slider"), ("floor", "plug"), ("floor", "slider")


@pytest.fixture(scope="module")
def sliding():
    return slide()


def test_clash_interval_is_within_proven_free_times(sliding):
    (after, begin, end, before), text = by_pair(sliding)[POST].intervals[0], when(by_pair(sliding)[POST], sliding)
    assert after <= 1.0 <= begin < end <= 1.5 <= before  # the closed form is 1 to 1.5 s
    assert begin - after > 1e-6
    first, last = map(float, text.partition(messages.IN_CLASH)[2].removesuffix(" s").split(" to "))
    assert first <= after <= before <= last
    assert (first, last) == pytest.approx((1.0, 1.5), abs=1e-4)


def test_constant_findings_have_no_time(sliding, tmp_path):
    texts = {pair: when(clash, sliding) for pair, clash in by_pair(sliding).items()}
    assert texts[FLOOR] == messages.NEAR_THROUGHOUT.format(0.04995, "0.05 mm")
    assert texts[PLUG] == messages.CLASH_THROUGHOUT
    assert texts["floor", "post"] == "always"  # neither part moves
    assert texts["floor", "pin"].startswith(messages.NEAREST.format("0 s"))
    sliding.to_json(tmp_path / "slide.json")
    to_bcf(sliding, tmp_path / "slide.bcf")
    with zipfile.ZipFile(tmp_path / "slide.bcf") as archive:
        topics = "".join(archive.read(name).decode() for name in archive.namelist() if name.endswith("markup.bcf"))
    read = read_baseline(tmp_path / "slide.json")
    for text in texts.values():
        assert text in to_markdown(sliding)
        assert text in to_junit(sliding)
        assert f"in motion: {text}" in topics
    assert {pair: when(clash, read) for pair, clash in by_pair(read).items()} == texts


@pytest.mark.parametrize(
    ("later", "status"),
    [
        ({}, "ignored"),
        ({"seconds": 2.02}, "ignored"),  # clashing from 1.01 to 1.515 s, a shift of less than a tenth of 0.5 s
        ({"way": 4.5}, "new"),  # clashing from 1.78 s on
        ({"seconds": 4.0}, "new"),  # clashing from 2 to 3 s
        ({"seconds": 1.0}, "new"),  # clashing from 0.5 to 0.75 s, which is earlier than approved
        ({"seconds": 2.4}, "new"),  # clashing from 1.2 to 1.8 s
    ],
)
def test_approval_applies_to_its_clash_times(sliding, later, status):
    triage = Triage().marked(by_pair(sliding)[POST], state="approved", by="ann", unit="mm")
    triage = parse_triage(json.dumps(triage.to_dict()).encode(), "again")
    clash = by_pair(slide(**later, more={"triage": triage}))[POST]
    assert clash.status == status
    assert clash.note.endswith({"ignored": messages.APPROVED, "new": messages.OTHER_TIMES}[status])


def test_approval_at_rest_applies_in_motion_but_not_vice_versa(sliding):
    resting = gk.clash.check(sliding.assembly)
    plug = by_pair(resting)[PLUG]
    assert plug.id == by_pair(sliding)[PLUG].id
    triage = Triage().marked(plug, state="approved", by="ann", unit="mm")
    assert by_pair(slide(more={"triage": triage}))[PLUG].status == "ignored"
    triage = Triage().marked(by_pair(sliding)[PLUG], state="approved", by="ann", unit="mm")
    assert by_pair(gk.clash.check(sliding.assembly, triage=triage))[PLUG].status == "new"
    # a gap has no clash times
    triage = Triage().marked(by_pair(sliding)[FLOOR], state="approved", by="ann", unit="mm")
    assert by_pair(slide(4.0, more={"triage": triage}))[FLOOR].status == "ignored"
