"""Kinds of clashes, on parts whose correct result is obvious."""

import fcl
import numpy as np
import pytest
import pyvista
import trimesh
from message_checks import assert_names
from pyvista import examples

import gjk3d as gk
from gjk3d.clash import Assembly, AssemblyPart, Rule, check
from gjk3d.clash.detection.decider import Decider
from gjk3d.errors import ParseError, ShapeError
from tests.clash import messages


def block(extents=(1, 1, 1), at=(0, 0, 0)):
    surface = gk.Box(extents).surface()
    return gk.Mesh(surface.vertices + np.array(at, dtype=float), surface.faces)


def of(mesh, at=(0, 0, 0)):
    return gk.Mesh(np.asarray(mesh.vertices) + np.array(at, dtype=float), np.asarray(mesh.faces))


def without_lid(mesh):
    """Return a mesh without its upward faces."""
    n = np.cross(*(mesh.vertices[mesh.faces[:, k]] - mesh.vertices[mesh.faces[:, 0]] for k in (1, 2)))
    return gk.Mesh(mesh.vertices, mesh.faces[n[:, 2] <= 0.0])


def ell(at=(0, 0, 0)):
    """Return three unit cubes in an L with its corner at the origin, a non-convex part."""
    outline = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], float)
    low, high = np.c_[outline, np.zeros(6)], np.c_[outline, np.ones(6)]
    cap = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    sides = [(i, (i + 1) % 6, (i + 1) % 6 + 6) for i in range(6)] + [(i, (i + 1) % 6 + 6, i + 6) for i in range(6)]
    return gk.Mesh(np.r_[low, high] + np.array(at, float), np.r_[cap[:, ::-1], cap + 6, sides])


def only(a, b, **options):
    """Check two parts; return the only finding or None. Also check that swapped names give the mirrored result."""
    clashes = check(Assembly.of({"a": a, "b": b}), **options).clashes
    swapped = check(Assembly.of({"a": b, "b": a}), **options).clashes
    assert [clash.kind for clash in clashes] == [clash.kind for clash in swapped]
    assert len(clashes) <= 1
    if clashes and clashes[0].distance_kind == "exact":
        assert clashes[0].distance == pytest.approx(swapped[0].distance, abs=1e-12)
    return clashes[0] if clashes else None


def consistent(clash):
    """Check that the normal is a unit vector and agrees with witness points, distance and separating translation."""
    if clash.normal is not None:
        assert np.linalg.norm(clash.normal) == pytest.approx(1.0, abs=1e-12)
        if clash.point_a is not None:
            way = np.subtract(clash.point_b, clash.point_a)
            np.testing.assert_allclose(way, clash.distance * np.array(clash.normal), atol=1e-9)
    if clash.mtv is not None:
        np.testing.assert_allclose(clash.mtv, clash.depth * np.array(clash.normal), atol=1e-12)


@pytest.mark.parametrize("make", [block, lambda at=(0, 0, 0): ell(at)])
def test_touching_parts_touch(make):
    side = 1 if make is block else 2
    clash = only(make(), make(at=(side, 0, 0)))
    assert (clash.kind, clash.distance, clash.depth, clash.mtv) == ("touch", 0.0, 0.0, None)
    consistent(clash)


def test_tolerance_separates_touch_from_clash():
    for shift, kind in ((1 - 1e-3, "hard"), (1 - 1e-7, "touch"), (1 + 1e-7, "touch"), (1 + 1e-3, None)):
        clash = only(block(), block(at=(shift, 0, 0)))
        assert (clash.kind if clash else None) == kind
        clash = only(ell(), block(at=(1.5 + shift, 0.5, 0.5)))
        assert (clash.kind if clash else None) == kind
        clash = only(block(), block(at=(shift, 0, 0)), tolerance=0.01)
        assert clash.kind == "touch"


@pytest.mark.parametrize("shift", [0.0, 2e7])
@pytest.mark.parametrize("far", [1e9, -1e9])
def test_distant_part_changes_no_result(far, shift):
    parts = {str(k): block(at=(shift + (1 - 1e-5) * k, 0, 0)) for k in range(4)}
    near = check(Assembly.of(parts))
    assert near.counts["hard"] == 3
    report = check(Assembly.of(parts | {"lost": block(at=(far, 0, 0))}))
    assert [(clash.kind, clash.a, clash.b) for clash in report.clashes] == [
        (clash.kind, clash.a, clash.b) for clash in near.clashes
    ]
    assert report.tolerance == pytest.approx(near.tolerance, rel=0.5)
    assert report.pairs_close == near.pairs_close
    assert report.notes == ()


def test_distant_parts_touch_within_float32_rounding():
    near = {f"near {k}": block(at=(3 * k, 0, 0)) for k in range(4)}
    far = {name: block(at=(1e5 + shift, 0, 0)) for name, shift in (("far a", 0), ("far b", 0.99))}
    report = check(Assembly.of(near | far))
    assert [(clash.kind, clash.tolerance) for clash in report.clashes] == [("touch", pytest.approx(0.1, rel=1e-3))]
    assert report.tolerance == report.clashes[0].tolerance
    (note,) = report.notes
    assert_names(note, "tolerance", " 1 ", " 0.1 ", "far a", "far b")
    assert check(Assembly.of(near | far), tolerance=1e-6).counts["hard"] == 1


def test_aligned_overlapping_walls_clash():
    """Two walls in one line overlap by 50 mm; every side of one is coplanar with a side of the other."""
    clash = only(block((5, 0.2, 3)), block((5, 0.2, 3), at=(4.95, 0, 0)))
    assert (clash.kind, clash.distance_kind) == ("hard", "exact")
    assert clash.depth == pytest.approx(0.05, abs=1e-12)
    assert clash.overlap_volume == pytest.approx(0.05 * 0.2 * 3, rel=1e-9)
    np.testing.assert_allclose(clash.overlap_box, [[2.45, -0.1, -1.5], [2.5, 0.1, 1.5]], atol=1e-12)
    consistent(clash)


def test_aligned_overlapping_non_convex_parts_clash():
    clash = only(ell(), ell(at=(1.95, 0, 0)))
    assert (clash.kind, clash.method, clash.distance_kind) == ("hard", "boolean", "exact")
    assert clash.overlap_volume == pytest.approx(0.05, rel=1e-9)
    assert clash.depth - clash.error_bound <= 0.05 + 1e-9
    assert clash.depth >= 0.05 - 1e-9
    consistent(clash)


def test_duct_through_wall_separates_lengthwise():
    clash = only(block((0.4, 0.4, 2)), gk.Mesh(block((5, 0.2, 3)).vertices[:, [0, 2, 1]], block().faces[:, ::-1]))
    assert (clash.kind, clash.method, clash.distance_kind) == ("hard", "epa", "exact")
    assert clash.depth == pytest.approx(1.1, abs=1e-12)
    low, high = clash.overlap_box
    np.testing.assert_allclose(np.subtract(high, low), [0.4, 0.4, 0.2], atol=1e-12)
    consistent(clash)


@pytest.mark.parametrize("outer", [block((4, 4, 4)), of(trimesh.creation.icosphere(subdivisions=3, radius=2.2))])
def test_part_inside_another_is_contained(outer):
    clash = only(outer, block((1, 1, 1), at=(0.2, 0, 0)))
    assert clash.kind == "contained"
    assert messages.INSIDE.format("B", "A") in clash.note
    assert clash.depth > 1.5
    assert clash.overlap_volume == pytest.approx(1.0, rel=1e-9)
    consistent(clash)


def test_part_in_notch_is_free_although_hulls_overlap():
    assert only(ell(), block((0.5, 0.5, 0.5), at=(1.5, 1.5, 0.5))) is None
    clash = only(ell(), block((0.5, 0.5, 0.5), at=(1.5, 1.5, 0.5)), clearance=0.3)
    assert (clash.kind, clash.distance_kind, clash.method) == ("clearance", "exact", "triangles")
    assert clash.distance == pytest.approx(0.25, abs=1e-12)
    assert clash.convex_gap > 0.25
    consistent(clash)


def test_gap_below_clearance_is_reported():
    for gap, kind in ((0.2, "clearance"), (0.3, None), (0.0, "touch")):
        clash = only(block(), block(at=(1 + gap, 0, 0)), clearance=0.3 - 1e-9)
        assert (clash.kind if clash else None) == kind


@pytest.mark.parametrize("a", [block(at=(1.5, 0.5, 0.5)), ell()], ids=["convex", "not convex"])
def test_gap_equal_to_clearance_is_free(a):
    b = block(at=(3.0, 0.5, 0.5))  # 0.5 from either part, in exactly representable numbers
    assert only(a, b, clearance=0.5) is None
    assert only(a, b, clearance=np.nextafter(0.5, 1.0), tolerance=0.0).kind == "clearance"
    assert only(a, b, clearance=0.75, tolerance=0.25) is None
    assert only(a, b, clearance=np.nextafter(0.75, 1.0), tolerance=0.25).kind == "clearance"


def test_equal_parts_are_duplicates_in_any_face_order():
    for make in (block, ell):
        assert only(make(), make()).kind == "duplicate"
    turned = gk.Mesh(block().vertices, np.roll(block().faces[::-1], 1, axis=1))
    assert only(block(), turned).kind == "duplicate"
    assert only(block(), block((1, 1, 1 + 1e-3))).kind == "hard"


def prism(outline):
    """Return a prism of height 1 over four points, the last of which is the tip of a dent; faces point outwards."""
    sides = [face for i, j in ((0, 1), (1, 2), (2, 3), (3, 0)) for face in ((i, j, j + 4), (i, j + 4, i + 4))]
    caps = [(4, 5, 7), (5, 6, 7), (0, 3, 1), (1, 3, 2)]
    return gk.Mesh([(x, y, z) for z in (0.0, 1.0) for x, y in outline], sides + caps)


def test_equal_vertices_with_other_faces_are_not_duplicates():
    """Two dented prisms on the same eight vertices differ in the place and depth of the dent."""
    right, top, tip = (4.0, 0.0), (0.0, 4.0), (1.0, 2.0)
    a, b = prism([(0.0, 0.0), right, top, tip]), prism([right, top, (0.0, 0.0), tip])
    assert (a.volume, b.volume) == pytest.approx((6.0, 4.0))
    clash = only(a, b)
    assert clash.kind == "hard"
    assert clash.overlap_volume == pytest.approx(2.0)
    assert only(a, prism([(0.0, 0.0), right, top, tip])).kind == "duplicate"


def test_equal_solids_with_other_triangles_are_duplicates():
    for make in (block, ell):
        fine = of(trimesh.Trimesh(make().vertices, make().faces).subdivide())
        clash = only(make(), fine)
        assert (clash.kind, clash.note.split(";")[0]) == ("duplicate", messages.OTHER_TRIANGLES)
        moved = gk.Mesh(fine.vertices + (1e-3, 0, 0), fine.faces)
        assert only(make(), moved).kind == "hard"
    # all vertices lie on the surface of the other part, and only one part has a bore
    ring = trimesh.creation.annulus(1.0, 2.0, 2.0, sections=24)
    full = trimesh.creation.cylinder(2.0, 2.0, sections=24)
    assert only(of(full), of(ring)).kind == "hard"


def test_solid_sharing_its_whole_surface_overlaps():
    """Every surface point of the overlap lies on the surfaces of both parts, and yet the parts overlap."""
    far = block(at=(5, 0, 0))
    pair = gk.Mesh(np.concatenate([ell().vertices, far.vertices]), np.concatenate([ell().faces, far.faces + 12]))
    fine = of(trimesh.Trimesh(ell().vertices, ell().faces).subdivide())
    for part in (ell(), fine):
        clash = only(pair, part)
        assert clash.kind in ("hard", "contained")
        assert clash.overlap_volume == pytest.approx(3)
        assert clash.depth - clash.error_bound > 0.1


def test_pin_in_hole_of_equal_size_touches():
    """The facets of pin and hole coincide: nothing overlaps, although the separating translation is long."""
    pin = trimesh.creation.cylinder(1.0, 4.0, sections=24)
    ring = trimesh.creation.annulus(1.0, 2.0, 2.0, sections=24)
    clash = only(of(pin), of(ring))
    assert clash.kind == "touch"
    assert clash.depth <= 1e-6
    thick = trimesh.creation.cylinder(1.01, 4.0, sections=24)
    clash = only(of(thick), of(ring))
    assert (clash.kind, clash.distance_kind) == ("hard", "bound")
    assert clash.depth - clash.error_bound == pytest.approx(0.01, rel=0.1)
    assert clash.note == ""  # both bounds are fields of the finding and need no note
    assert clash.overlap_volume == pytest.approx(12 * np.sin(np.pi / 12) * (1.01**2 - 1) * 2, rel=1e-9)


def test_bolt_in_nut_has_the_gap_of_fcl():
    plain = pyvista.read(examples.nutfile)
    nut = gk.Mesh(plain.points, plain.faces.reshape(-1, 4)[:, 1:])
    axis, radius = _bore(nut)
    bolt = trimesh.creation.cylinder(0.95 * radius, 3 * np.ptp(nut.bounds[:, axis]), sections=48)
    turn = np.eye(3)[[[2, 0, 1], [0, 2, 1], [0, 1, 2]][axis]]
    bolt = gk.Mesh(
        bolt.vertices @ turn + nut.bounds.mean(axis=0), bolt.faces if np.linalg.det(turn) > 0 else bolt.faces[:, ::-1]
    )
    assert gk.collide(nut.hull(), bolt.hull())
    gap = _fcl_distance(nut, bolt)
    assert gap > 0.01 * radius
    assert only(nut, bolt) is None
    clash = only(nut, bolt, clearance=2 * gap)
    assert (clash.kind, clash.distance_kind) == ("clearance", "exact")
    assert clash.distance == pytest.approx(gap, rel=1e-6)
    consistent(clash)


def _bore(nut):
    """Return the axis of the nut and the radius of its bore, from the vertices closest to the axis."""
    axis = int(np.argmin(np.ptp(nut.bounds, axis=0)))
    away = np.delete(nut.vertices - nut.bounds.mean(axis=0), axis, axis=1)
    return axis, float(np.linalg.norm(away, axis=1).min())


def _fcl_distance(a, b):
    objects = []
    for mesh in (a, b):
        model = fcl.BVHModel()
        model.beginModel(len(mesh.vertices), len(mesh.faces))
        model.addSubModel(np.asarray(mesh.vertices), np.asarray(mesh.faces))
        model.endModel()
        objects.append(fcl.CollisionObject(model))
    return fcl.distance(*objects, fcl.DistanceRequest(), fcl.DistanceResult())


def test_open_parts_are_decided_by_their_surfaces():
    tray = without_lid(block((2, 2, 2)))
    clash = only(tray, block(at=(1, 0, 0)))
    assert clash.kind == "hard"
    assert clash.overlap_volume is None
    clash = only(tray, block(at=(1.5, 0, 0)))
    assert clash.kind == "touch"
    clash = only(tray, block((0.5, 0.5, 0.5)), clearance=1.0)
    assert (clash.kind, clash.distance) == ("clearance", pytest.approx(0.75))
    assert "not closed" in clash.note
    sheets = without_lid(block((2, 2, 2))), without_lid(block((2, 2, 2), at=(1, 1, 0.5)))
    clash = only(*sheets)
    assert (clash.kind, clash.distance, clash.distance_kind) == ("hard", None, "approximate")


def test_part_with_one_piece_inside_another_is_hard_clash():
    inner, outer = block((1, 1, 1)), block((1, 1, 1), at=(9, 0, 0))
    pair = gk.Mesh(np.r_[inner.vertices, outer.vertices], np.r_[inner.faces, outer.faces + 8])
    clash = only(block((4, 4, 4)), pair)
    assert clash.kind == "hard"
    assert messages.BODY_INSIDE.format("B", "A") in clash.note


def test_inside_out_part_is_the_same_solid():
    turned = gk.Mesh(ell().vertices, ell().faces[:, ::-1])
    clash, expected = only(turned, block(at=(0.2, 0.2, 0.2))), only(ell(), block(at=(0.2, 0.2, 0.2)))
    assert clash.kind == expected.kind == "hard"
    assert clash.overlap_volume == pytest.approx(expected.overlap_volume, rel=1e-12)


def test_overlaps_without_manifold3d_have_no_volume(monkeypatch):
    monkeypatch.setattr("gjk3d.bodies.solids.available", lambda: False)
    clash = only(ell(), ell(at=(1.95, 0, 0)))
    assert (clash.kind, clash.overlap_volume) == ("hard", None)
    assert 'pip install "gjk3d[mesh]"' in check(Assembly.of({"a": ell(), "b": block()})).notes[0]
    assert only(ell(), ell(at=(2, 0, 0))).kind == "touch"


def test_failed_decision_is_reported_as_unchecked(monkeypatch):
    cause = "no luck"

    def fails(self, *pair):
        raise ArithmeticError(cause)

    monkeypatch.setattr(Decider, "decide", fails)
    clash = check(Assembly.of({"a": block(), "b": block()})).clashes[0]
    assert (clash.kind, clash.note, clash.distance) == ("unchecked", f"ArithmeticError: {cause}", None)


def test_callbacks_receive_findings_and_progress():
    seen, steps = [], []
    parts = {str(k): block(at=(0.9 * k, 0, 0)) for k in range(5)}
    report = check(Assembly.of(parts), found=seen.append, progress=lambda *row: steps.append(row))
    assert sorted(clash.id for clash in seen) == sorted(clash.id for clash in report.clashes)
    assert steps[0][0] == "boxes"
    assert steps[-1] == ("pairs", 4, 4, 4)


def test_rules_ignore_findings_and_unused_rules_are_noted():
    parts = Assembly.of({"group/bolt 1": block(), "group/nut 1": block(at=(0.5, 0, 0)), "lid": block(at=(1.2, 0, 0))})
    reason = "threads are drawn solid"
    rules = [Rule("nut *", "bolt *", reason), Rule("lid", "x*", "gone")]
    report = check(parts, ignore=rules)
    assert [(clash.status, clash.a, clash.b) for clash in report.clashes] == [
        ("new", "group/nut 1", "lid"),
        ("ignored", "group/bolt 1", "group/nut 1"),
    ]
    assert report.clashes[1].note.endswith(f"ignored: {reason}")
    (note,) = report.notes
    assert_names(note, "'lid'", "'x*'")
    assert check(parts, ignore=[Rule("nut *", "bolt *", "why", ("touch",))]).counts["hard"] == 2


def test_first_matching_rule_is_applied():
    rules = [Rule("a", "b", "welded"), Rule("?", "?", "small"), Rule("b", "a", "glued")]
    report = check(Assembly.of({"a": block(), "b": block(at=(0.5, 0, 0))}), ignore=rules)
    assert [clash.note for clash in report.clashes] == ["ignored: welded"]
    assert report.notes == tuple(
        f"the rule to ignore {rule.a!r} with {rule.b!r} matches no finding" for rule in rules[1:]
    )


@pytest.mark.parametrize(("away", "groups"), [(0.9, 1), (1.1, 2)])
def test_grouping_distance_is_diagonal_of_larger_part(away, groups):
    """A large and a small part clash with a plate; the diagonal of the large part is the distance for grouping."""
    place = away * np.sqrt(3 * 2.0**2)
    parts = {"plate": block((20, 20, 1)), "large": block((2, 2, 2), at=(0, 0, 1)), "small": block(at=(place, 0, 0.5))}
    report = check(Assembly.of(parts))
    assert [clash.kind for clash in report.clashes] == ["hard", "hard"]
    points = [clash.point for clash in report.clashes]
    assert np.linalg.norm(np.subtract(*points)) == pytest.approx(place, abs=0.05)
    assert len(report.groups) == groups


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ignore = 3", r"rules\.toml.*\[\[ignore\]\]"),
        ("[[ignored]]\na='x'", r"'ignored'.*\[\[ignore\]\]"),
        ("[[ignore]]\na='x'\nb='y'", "rule 1.*reason = "),
        ("[[ignore]]\na='x'\nb='y'\nreason=' '", "rule 1.*'x'.*'y'.*reason"),
        (
            "[[ignore]]\na='x'\nb='y'\nreason='z'\nkind='touch'",
            "rule 1.*'kind'.*'a', 'b', 'reason', 'kinds'.*Did you mean 'kinds'",
        ),
        ("[[ignore]]\na='x'\nb='y'\nreason='z'\nkinds=['hit']", "rule 1.*'hit'.*'hard', 'contained'"),
        ("[[ignore]]\na='x'\nb='y'\nreason='z'\nkinds='hard'", r'rule 1.*kinds.*\["touch"\]'),
        ("a = ", r"rules\.toml.*TOML"),
    ],
)
def test_invalid_rules_raise(tmp_path, text, message):
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(ParseError, match=message):
        gk.clash.read_rules(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", r"old\.json.*gjk3d clash.*-f json"),
        ('{"command": "clash", "schema_version": 99}', r"version 99\b.*\b1\b"),
        ('{"command": "clash", "schema_version": "1"}', r'version "1".*\b1\b'),
        ('{"command": "clash", "schema_version": true}', r"version true\b.*\b1\b"),
        ('{"command": "clash"}', r"version null\b.*\b1\b"),
        ('{"command": "clash", "schema_version": 1}', "lacks the clashes"),
        ('{"command": "clash", "schema_version": 1, "clashes": []}', "lacks the clearance"),
        ('{"command": "clash", "schema_version": 1, "clashes": [], "clearance": 0}', "lacks the tolerance"),
        ('{"command": "clash", "schema_version": 1, "clearance": 0, "tolerance": 0, "clashes": [{"a": 1}]}', "clash 1"),
    ],
)
def test_invalid_baselines_raise(tmp_path, text, message):
    path = tmp_path / "old.json"
    path.write_text(text)
    with pytest.raises(ParseError, match=message):
        check(Assembly.of({"a": block()}), baseline=path)


def test_unchecked_baseline_finding_is_not_resolved():
    parts = {"a": block(), "b": block(at=(0.5, 0, 0)), "c": block(at=(9, 0, 0)), "d": block(at=(9.5, 0, 0))}
    before = check(Assembly.of(parts))
    after = check(Assembly.of(parts | {"b": block(at=(5, 0, 0))}), baseline=before, a="a")
    statuses = {(clash.a, clash.b): clash.status for clash in after.clashes}
    assert statuses == {("a", "b"): "resolved", ("c", "d"): "active"}
    assert messages.NOT_CHECKED_NOW in next(clash.note for clash in after.clashes if clash.a == "c")
    assert any("1 finding" in note and "baseline" in note for note in after.notes)  # tables show no notes of findings
    wider = check(Assembly.of(parts), baseline=before, clearance=0.1)
    (note,) = wider.notes
    assert_names(note, "baseline", "clearance 0,", "0.1")


def test_baseline_in_another_unit_is_converted():
    metres = {"a": block(), "b": block(at=(0.75, 0, 0)), "c": block(at=(9, 0, 0)), "d": block(at=(9.5, 0, 0))}
    before = check(Assembly.of(metres, "m"), clearance=0.125)
    millimetres = {name: gk.Mesh(mesh.vertices * 1000, mesh.faces) for name, mesh in metres.items() if name != "b"}
    after = check(Assembly.of(millimetres, "mm"), baseline=before, clearance=125)
    gone = next(clash for clash in after.clashes if clash.status == "resolved")
    assert (gone.distance, gone.mtv, gone.overlap_volume) == (-250, (250, 0, 0), pytest.approx(0.25e9))
    assert gone.normal == (1, 0, 0)
    assert_names(after.notes[0], "baseline", " m to", " mm")
    assert all("clearance" not in note for note in after.notes)
    with pytest.raises(ParseError, match=r"baseline.* m\b.*--unit mm"):
        check(Assembly.of(metres), baseline=before)


def test_limits_are_noted_with_few_digits_and_unit():
    parts = {"a": block(), "b": block(at=(0.5, 0, 0))}
    before = check(Assembly.of(parts, "mm"), tolerance=1e-5 / 3)
    after = check(Assembly.of(parts, "mm"), baseline=before)
    (note,) = after.notes
    assert_names(note, "baseline", "tolerance 3.333333e-06 mm", " 7.5e-07 mm")


def test_different_default_tolerances_are_not_noted(tmp_path):
    parts = {"a": block(), "b": block(at=(0.5, 0, 0))}
    before = check(Assembly.of(parts, "mm"))
    before.to_json(tmp_path / "before.json")
    for baseline in (before, tmp_path / "before.json"):
        after = check(Assembly.of(parts | {"c": block(at=(0, 7, 0))}, "mm"), baseline=baseline)
        assert after.tolerance != before.tolerance
        assert after.notes == ()


def test_invalid_options_raise():
    parts = Assembly.of({"a": block(), "b": block()})
    for options, message in (
        ({"clearance": -1.0}, r"clearance.*-1\.0"),
        ({"tolerance": float("nan")}, "tolerance.*nan"),
        ({"workers": 0}, r"workers.*\b0\b"),
    ):
        with pytest.raises(ShapeError, match=message):
            check(parts, **options)
    with pytest.raises(ParseError, match=r"a='A\*'.* 2 parts"):
        check(parts, a="A*")
    with pytest.raises(ShapeError, match=r"parts.*'a'"):
        check(Assembly((AssemblyPart("a", "", block()), AssemblyPart("a", "", block()))))


def test_empty_assembly_gives_empty_report():
    report = check(Assembly(()))
    assert (report.pairs_total, report.clashes, report.complete) == (0, (), True)


def test_nearly_closed_part_is_noted():
    """Parts inside an open shell are not detected, and a note reports the open shell."""
    ball = trimesh.creation.icosphere(subdivisions=2)
    shell = gk.Mesh(ball.vertices, ball.faces[1:], name="shell")
    inside = trimesh.creation.box((0.2, 0.2, 0.2))
    report = check(Assembly.of({"shell": shell, "inside": gk.Mesh(inside.vertices, inside.faces, name="inside")}))
    assert not report.clashes
    assert any("shell" in note and "3 open edges" in note and "319 triangles" in note for note in report.notes)


def test_open_parts_are_noted_by_name():
    sheet, ball = gk.Mesh(*gk.Box((2, 2, 2)).surface()[:2]), gk.Sphere(0.5).surface()
    sheet = gk.Mesh(sheet.vertices, sheet.faces[4:])
    inside = gk.Mesh(ball.vertices, ball.faces)
    report = check(Assembly.of({"tray": sheet, "copy": sheet, "inside": inside, "on purpose": _on_purpose(sheet)}))
    assert "copy, tray: not closed: parts inside it are not detected" in report.notes
    assert not any("on purpose" in note for note in report.notes)
    many = {f"{k:02}": gk.Mesh(sheet.vertices + (9.0 * k, 0, 0), sheet.faces) for k in range(40)}
    (note,) = check(Assembly.of(many)).notes  # also for parts far from each other
    assert_names(note, "00, 01, ", "29 and 10 more: not closed")


def _on_purpose(mesh):
    return gk.Mesh(mesh.vertices, mesh.faces, solid=False)


def test_sheet_of_closed_part_clashes():
    """A sheet encloses no volume, so the clash is measured by how far the sheet extends through the other part."""
    box, block = gk.Box((2, 2, 2)).surface(), gk.Box((1, 1, 1)).surface()
    sheet = [(5.0, -2.0, 0.1), (7.0, -2.0, 0.1), (5.0, 3.0, 0.1)]
    part = gk.Mesh(np.vstack([box.vertices, sheet]), np.vstack([box.faces, [(8, 9, 10)]]))
    blocks = {name: gk.Mesh(block.vertices + at, block.faces) for name, at in (("cut", (5.5, 0, 0)), ("in", (0, 0, 0)))}
    report = check(Assembly.of({"part": part, **blocks}))
    assert {(clash.kind, clash.a, clash.b) for clash in report.clashes} == {
        ("hard", "cut", "part"),
        ("contained", "in", "part"),
    }
    assert_names(report.notes, "part: 1 triangle is a piece with open edges")


def test_touch_that_overlaps_has_no_error_bound():
    """A peg that is a little too thick for a through hole is deep: only along the hole does it leave the ring."""
    ring = trimesh.boolean.difference([trimesh.creation.box((6, 6, 4)), trimesh.creation.box((2, 2, 9))])
    assembly = Assembly.of(
        {"ring": gk.Mesh.from_trimesh(ring), "peg": gk.Mesh(*gk.Box((2.1, 2.1, 10)).surface()[:2])}, "mm"
    )
    hard, touch = (check(assembly, tolerance=tolerance).clashes[0] for tolerance in (0.065, 0.08))
    assert hard.kind == "hard"
    assert hard.depth - hard.error_bound <= 4.05 <= hard.depth + 1e-9
    assert (touch.kind, touch.distance_kind, touch.error_bound) == ("touch", "approximate", None)


@pytest.mark.parametrize(
    ("options", "fragments"),
    [
        ({"a": 3}, ("a is 3", "'bolt_*'")),
        ({"b": ["x"]}, ("b is ['x']", "'bolt_*'")),
        ({"ignore": 3}, ("ignore has 3", "Rule")),
        ({"ignore": ["x"]}, ("ignore has 'x'", "Rule")),
        ({"keep": 1.5}, ("keep is 1.5", "0 or more")),
    ],
)
def test_arguments_of_a_wrong_type_raise(options, fragments):
    with pytest.raises(ShapeError) as caught:
        check(Assembly.of({"block": block()}, "mm"), **options)
    assert_names(caught.value, *fragments)
