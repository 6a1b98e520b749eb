"""The gearbox of data/ against what is known to be true of it."""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.clash import Assembly, check, page

DATA = Path(__file__).parents[2] / "data"
TRUTH = json.loads((DATA / "gearbox.truth.json").read_text(encoding="utf-8"))
PATHS = {name: part["path"] for name, part in TRUTH["parts"].items()}
SLACK = TRUTH["slack"]


@pytest.fixture(scope="module")
def assembly():
    return Assembly.load(DATA / "gearbox.glb")


@pytest.fixture(scope="module")
def report(assembly):
    return check(assembly)


def pair(truth):
    return frozenset((PATHS[truth["a"]], PATHS[truth["b"]]))


def test_every_pair_is_what_it_is(report):
    expected = {pair(truth): truth["kind"] for truth in TRUTH["pairs"] if truth["kind"] != "clear"}
    assert {frozenset((clash.a, clash.b)): clash.kind for clash in report.clashes} == expected
    assert report.counts == {"hard": 6, "contained": 1, "duplicate": 1, "unchecked": 0, "touch": 36, "clearance": 0}
    assert (report.pairs_total, report.pairs_tested, report.complete) == (861, 861, True)


def test_distances_and_volumes_are_true(report):
    rows = {frozenset((clash.a, clash.b)): clash for clash in report.clashes}
    deep = [truth for truth in TRUTH["pairs"] if truth["kind"] not in ("clear", "touch")]
    assert len(deep) == 8
    for truth in deep:
        clash, (low, high) = rows[pair(truth)], truth["solid"]["distance"]
        if clash.distance_kind == "exact":
            assert low - clash.error_bound - SLACK <= clash.distance <= high + clash.error_bound + SLACK
        else:
            assert clash.distance_kind == "bound"
            assert clash.distance <= high + SLACK  # it is never less deep than it says
        assert clash.overlap_volume == pytest.approx(truth["solid"]["volume"], rel=1e-4)
        assert clash.depth == -clash.distance


def test_faces_on_one_plane_are_no_overlap(report):
    """The bolt overlaps the hole of its washer by a ring, and its head lies on the washer."""
    clash = next(
        clash for clash in report.clashes if {Path(clash.a).name, Path(clash.b).name} == {"bolt_4", "washer_4"}
    )
    low, high = clash.overlap_box
    assert np.subtract(high, low) == pytest.approx([7.2e-3, 1.6e-3, 7.2e-3], abs=1e-7)
    index = report.clashes.index(clash)
    vertices = next(corners for k, corners, _, _ in page._volumes(report, index + 1) if k == index)
    np.testing.assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], clash.overlap_box, atol=1e-9)


def test_moving_b_by_the_mtv_frees_it(assembly, report):
    meshes = {part.name: part.mesh for part in assembly.parts}
    movable = [clash for clash in report.clashes if clash.mtv is not None]
    assert len(movable) >= 6
    for clash in movable:
        moved = gk.Mesh(meshes[clash.b].vertices + clash.mtv, meshes[clash.b].faces)
        again = check(Assembly.of({clash.a: meshes[clash.a], clash.b: moved}), tolerance=report.tolerance)
        assert [found.kind for found in again.clashes] in (["touch"], []), clash


def test_a_clearance_finds_the_close_pairs(assembly):
    report = check(assembly, clearance=0.0008)
    close = {frozenset((c.a, c.b)): c.distance for c in report.clashes if c.kind == "clearance"}
    known = {pair(truth): truth["solid"]["distance"] for truth in TRUTH["pairs"] if truth["kind"] == "clear"}
    assert close.keys() <= known.keys()
    for key, bounds in known.items():
        if bounds is None:
            continue
        low, high = bounds
        if high < 0.0008 - SLACK:
            assert low - SLACK <= close[key] <= high + SLACK
        if low > 0.0008 + SLACK:
            assert key not in close
    assert len(close) > 10


def test_order_of_parts_and_workers_change_nothing_but_times(assembly, report):
    parts = list(assembly.parts)
    random.Random(3).shuffle(parts)
    other = check(replace(assembly, parts=tuple(parts)), workers=3)
    first, second = report.to_dict(), other.to_dict()
    assert first.pop("elapsed") != second.pop("elapsed")
    assert first == second


def test_selections_choose_pairs_and_swapped_ones_the_same(assembly, report):
    chosen = check(assembly, a="bolt_4", b="*", tolerance=report.tolerance)
    assert (chosen.pairs_total, chosen.pairs_tested) == (41, 41)
    assert {clash.id for clash in chosen.clashes} == {
        clash.id for clash in report.clashes if "bolt_4" in {clash.a.rpartition("/")[2], clash.b.rpartition("/")[2]}
    }
    swapped = check(assembly, a="*", b="bolt_4", tolerance=report.tolerance)
    assert [clash.id for clash in swapped.clashes] == [clash.id for clash in chosen.clashes]
    lid = check(assembly, a="*/group_lid/*", b="*/group_lid/*")
    assert lid.pairs_total == 11 * 10 // 2


def test_one_wrong_bolt_is_one_group(report):
    groups = {name: members for name, members in report.groups.items() if members[0].kind == "hard"}
    assert len(groups[PATHS["bolt_4"]]) == 4
    assert all(PATHS["bolt_4"] in (clash.a, clash.b) for clash in groups[PATHS["bolt_4"]])
    assert [clash.severity for clash in report.clashes] == list(range(1, 45))


def test_penetration_is_how_far_the_wrong_bolt_cuts_into_its_holes(report):
    """Bolts of 7.2 mm in holes of 6.6, 6.4 and 6.2 mm: what the depth cannot say, which is their length."""
    cuts = {frozenset((clash.a, clash.b)): clash for clash in report.clashes if clash.kind == "hard"}
    for other, cut in (("cover", 0.3e-3), ("housing", 0.3e-3), ("washer_4", 0.4e-3), ("nut_4", 0.5e-3)):
        clash = cuts[frozenset((PATHS["bolt_4"], PATHS[other]))]
        assert clash.penetration == pytest.approx(cut, rel=0.02)
        assert clash.penetration <= clash.depth
    assert all(clash.penetration is None for clash in report.clashes if clash.kind == "touch")
    lost = next(clash for clash in report.clashes if clash.kind == "contained")
    assert 0.0 < lost.penetration <= lost.depth
