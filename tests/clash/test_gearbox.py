"""The gearbox of data/, compared with its known distances, volumes and kinds of clashes."""

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


def test_kinds_of_all_pairs_are_correct(report):
    expected = {pair(truth): truth["kind"] for truth in TRUTH["pairs"] if truth["kind"] != "clear"}
    assert {frozenset((clash.a, clash.b)): clash.kind for clash in report.clashes} == expected
    assert report.counts == {"hard": 6, "contained": 1, "duplicate": 1, "unchecked": 0, "touch": 36, "clearance": 0}
    assert (report.pairs_total, report.pairs_tested, report.complete) == (861, 861, True)


def test_distances_and_volumes_are_correct(report):
    rows = {frozenset((clash.a, clash.b)): clash for clash in report.clashes}
    deep = [truth for truth in TRUTH["pairs"] if truth["kind"] not in ("clear", "touch")]
    assert len(deep) == 8
    for truth in deep:
        clash, (low, high) = rows[pair(truth)], truth["solid"]["distance"]
        if clash.distance_kind == "exact":
            assert low - clash.error_bound - SLACK <= clash.distance <= high + clash.error_bound + SLACK
        else:
            assert clash.distance_kind == "bound"
            assert clash.distance <= high + SLACK  # the depth is an upper bound
        assert clash.overlap_volume == pytest.approx(truth["solid"]["volume"], rel=1e-4)
        assert clash.depth == -clash.distance


def test_coplanar_faces_do_not_enlarge_the_overlap(report):
    """The bolt overlaps the hole of its washer in a ring, and its head lies on the washer."""
    clash = next(
        clash for clash in report.clashes if {Path(clash.a).name, Path(clash.b).name} == {"bolt_4", "washer_4"}
    )
    low, high = clash.overlap_box
    assert np.subtract(high, low) == pytest.approx([7.2e-3, 1.6e-3, 7.2e-3], abs=1e-7)
    index = report.clashes.index(clash)
    vertices = next(corners for k, corners, _, _ in page._volumes(report, index + 1) if k == index)
    np.testing.assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], clash.overlap_box, atol=1e-9)


def test_separating_translation_frees_b(assembly, report):
    meshes = {part.name: part.mesh for part in assembly.parts}
    movable = [clash for clash in report.clashes if clash.mtv is not None]
    assert len(movable) >= 6
    for clash in movable:
        moved = gk.Mesh(meshes[clash.b].vertices + clash.mtv, meshes[clash.b].faces)
        again = check(Assembly.of({clash.a: meshes[clash.a], clash.b: moved}), tolerance=report.tolerance)
        assert [row.kind for row in again.clashes] in (["touch"], []), clash


def test_clearance_reports_close_pairs(assembly):
    report = check(assembly, clearance=0.0008)
    close = {frozenset((c.a, c.b)): c.distance for c in report.clashes if c.kind == "clearance"}
    expected = {pair(truth): truth["solid"]["distance"] for truth in TRUTH["pairs"] if truth["kind"] == "clear"}
    assert close.keys() <= expected.keys()
    for key, bounds in expected.items():
        if bounds is None:
            continue
        low, high = bounds
        if high < 0.0008 - SLACK:
            assert low - SLACK <= close[key] <= high + SLACK
        if low > 0.0008 + SLACK:
            assert key not in close
    assert len(close) > 10


def test_order_of_parts_and_workers_change_only_times(assembly, report):
    parts = list(assembly.parts)
    random.Random(3).shuffle(parts)
    shuffled = check(replace(assembly, parts=tuple(parts)), workers=3)
    first, second = report.to_dict(), shuffled.to_dict()
    assert first.pop("elapsed") != second.pop("elapsed")
    assert first == second


def test_selections_choose_pairs_in_either_order(assembly, report):
    chosen = check(assembly, a="bolt_4", b="*", tolerance=report.tolerance)
    assert (chosen.pairs_total, chosen.pairs_tested) == (41, 41)
    assert {clash.id for clash in chosen.clashes} == {
        clash.id for clash in report.clashes if "bolt_4" in {clash.a.rpartition("/")[2], clash.b.rpartition("/")[2]}
    }
    swapped = check(assembly, a="*", b="bolt_4", tolerance=report.tolerance)
    assert [clash.id for clash in swapped.clashes] == [clash.id for clash in chosen.clashes]
    lid = check(assembly, a="*/group_lid/*", b="*/group_lid/*")
    assert lid.pairs_total == 11 * 10 // 2


def test_wrong_bolt_forms_one_group(report):
    groups = {name: members for name, members in report.groups.items() if members[0].kind == "hard"}
    assert len(groups[PATHS["bolt_4"]]) == 4
    assert all(PATHS["bolt_4"] in (clash.a, clash.b) for clash in groups[PATHS["bolt_4"]])
    assert [clash.severity for clash in report.clashes] == list(range(1, 45))


def test_penetration_is_radial_cut_of_wrong_bolt(report):
    """Bolts of 7.2 mm are in holes of 6.6, 6.4 and 6.2 mm; the depth, along the bolt, is larger than the radial cut."""
    cuts = {frozenset((clash.a, clash.b)): clash for clash in report.clashes if clash.kind == "hard"}
    for name, cut in (("cover", 0.3e-3), ("housing", 0.3e-3), ("washer_4", 0.4e-3), ("nut_4", 0.5e-3)):
        clash = cuts[frozenset((PATHS["bolt_4"], PATHS[name]))]
        assert clash.penetration == pytest.approx(cut, rel=0.02)
        assert clash.penetration <= clash.depth
    assert all(clash.penetration is None for clash in report.clashes if clash.kind == "touch")
    lost = next(clash for clash in report.clashes if clash.kind == "contained")
    assert 0.0 < lost.penetration <= lost.depth
