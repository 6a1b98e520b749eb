"""A moved part that explains several findings is reported as their cause."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports import cube, finding

import gjk3d as gk
from gjk3d.clash.detection.findings import causes, moves
from tests.clash import messages


def rack(shelf=0.0, unit="mm"):
    """Return six posts under a shelf that touches none of them unless shifted down, and two overlapping blocks."""
    plate = gk.Box((30, 30, 1)).surface()
    meshes = {f"post {k}": cube((4 * (k % 3), 6 * (k // 3), 0)) for k in range(6)}
    meshes["shelf"] = gk.Mesh(plate.vertices + (4, 3, 2 + shelf), plate.faces)
    meshes |= {"block 1": cube((0, 0, 50)), "block 2": cube((1, 0, 50))}
    return gk.clash.Assembly.of(meshes, unit)


def test_moved_part_is_cause_of_its_findings():
    before = gk.clash.check(rack())
    assert [cause.part for cause in before.causes] == []
    after = gk.clash.check(rack(-1.0), baseline=before)
    (cause,) = after.causes
    assert (cause.part, len(cause.ids), cause.moved) == ("shelf", 6, pytest.approx((0.0, 0.0, -1.0)))
    assert any("shelf" in note and "(0, 0, -1) mm" in note and "6 of 7 findings" in note for note in after.notes)
    # a baseline in another unit gives the same cause
    meshes = {part.name: gk.Mesh(part.mesh.vertices / 1000, part.mesh.faces) for part in rack().parts}
    metres = gk.clash.Assembly.of(meshes, "m")
    again = gk.clash.check(rack(-1.0), baseline=gk.clash.check(metres))
    assert again.causes[0].moved == pytest.approx((0.0, 0.0, -1.0))
    # without a baseline the part with most findings is reported
    report = gk.clash.check(rack(-1.0))
    assert messages.LOOK_FIRST.format("shelf", 6, 7) in report.notes


def test_part_that_grew_did_not_move():
    before = gk.clash.check(rack())
    parts = {part.name: part.mesh for part in rack().parts}
    parts["post 1"] = cube((4, 0, 0), 2.5)
    after = gk.clash.check(gk.clash.Assembly.of(parts, "mm"))
    assert moves(before.parts, after.parts, 1e-6) == {}


def test_move_is_not_cause_of_earlier_findings():
    old = [finding("hard", "bolt", str(k), status="active") for k in range(5)]
    (cause,) = causes(old, {"0": (1.0, 0.0, 0.0)})
    assert (cause.part, cause.moved) == ("bolt", None)


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1]), max_size=40))
def test_causes_are_disjoint_and_exhaustive(pairs):
    clashes = [finding("hard", str(a), str(b)) for a, b in pairs]
    result = causes(clashes)
    ids = [ident for cause in result for ident in cause.ids]
    assert len(ids) == len(set(ids))
    by_id = {clash.id: clash for clash in clashes}
    assert all(cause.part in (by_id[ident].a, by_id[ident].b) for cause in result for ident in cause.ids)
    assert all(len(cause.ids) >= 3 for cause in result)
    rest = [clash for clash in clashes if clash.id not in ids]
    for name in map(str, range(10)):
        assert sum(name in (clash.a, clash.b) for clash in rest) < 3
