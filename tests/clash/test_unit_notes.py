"""Lengths that are probably in another unit are noted."""

import pytest
from message_checks import assert_names

import gjk3d as gk
from gjk3d.clash import Assembly, Movement, check, read_motion
from gjk3d.errors import ParseError

CUBE = gk.Box((0.04, 0.04, 0.04)).surface()
PINS = [gk.Mesh(0.1 * CUBE.vertices + (x, 0, 0), CUBE.faces) for x in (0.0221, 0.1)]
PARTS = Assembly.of({"block": gk.Mesh(*CUBE[:2]), "pin": PINS[0], "far pin": PINS[1]}, "m")


def test_clearance_and_tolerance_beyond_part_size_are_noted():
    assert check(PARTS, 0.05, 0.005).notes == ()
    (note,) = check(PARTS, 0.5).notes
    assert_names(note, "clearance 500 mm", "block", "69.3 mm", "0.5mm")
    (note,) = check(PARTS, tolerance=0.01).notes
    assert_names(note, "tolerance 10 mm", "far pin", "6.93 mm")
    plain = Assembly.of({part.name: gk.Mesh(part.mesh.vertices, part.mesh.faces) for part in PARTS.parts})
    (note,) = check(plain, 0.5).notes
    assert_names(note, "clearance 0.5 ", "state no unit", "unit=", "--unit")


def test_large_tolerance_is_noted_with_unit_and_option():
    far = gk.Mesh(0.1 * CUBE.vertices + (5000, 0, 0), CUBE.faces)
    parts = {**{part.name: part.mesh for part in PARTS.parts}, "p": far, "q": far}
    (message,) = (note for note in check(Assembly.of(parts, "m")).notes if "tolerance of" in note)
    assert_names(message, " mm for ", "--tolerance", "tolerance=")


@pytest.mark.parametrize(("out", "doubted"), [(0.05, False), (50.0, True)])
def test_motion_far_beyond_assembly_is_noted(out, doubted):
    notes = check(PARTS, motion=Movement({"pin": gk.Motion.translation(None, (0, 0, out))})).notes
    assert len(notes) == doubted
    if doubted:
        assert_names(notes[0], "pin", "50000 mm", "134 mm")


def test_distant_axis_of_a_full_turn_is_noted(tmp_path):
    file = tmp_path / "turn.toml"
    joint = '[[joint]]\nname = "j"\nkind = "revolute"\nchild = "pin"\npoint = [0, 20, 0]\ndrive = [0, 360]\n'
    file.write_text(joint)
    taken, far = check(PARTS, motion=file).notes
    assert_names(taken, str(file), " m,", "length = ")
    assert_names(far, "pin", "40000 mm")
    file.write_text(f'length = "mm"\n{joint}')
    assert check(PARTS, motion=file).notes == ()


def test_motion_file_with_lengths_but_no_unit_is_noted(tmp_path):
    file = tmp_path / "a.toml"
    for text, noted in (
        ('[[part]]\nparts = "pin"\nangular = [0, 0, 90]\n', False),
        ('[[part]]\nparts = "pin"\nlinear = [0, 0, 0.1]\n', True),
        ('[[joint]]\nname = "j"\nkind = "revolute"\nchild = "pin"\ndrive = [0, 360]\n', False),
        ('[[joint]]\nname = "j"\nkind = "prismatic"\nchild = "pin"\ndrive = [0, 1]\n', True),
    ):
        file.write_text(text)
        assert len(read_motion(file, "m").notes) == noted
        assert read_motion(file).notes == ()


def test_empty_motion_file_raises_with_remedy(tmp_path):
    (tmp_path / "a.toml").write_text("")
    with pytest.raises(ParseError, match=r"a\.toml.*\[\[part\]\].*\[\[joint\]\]"):
        read_motion(tmp_path / "a.toml")
