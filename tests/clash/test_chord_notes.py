"""Overlaps within the chord error of curved faces: a note reports that the parts may only touch."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from message_checks import assert_names
from model_files import write_3mf

import gjk3d as gk
from gjk3d.clash import Assembly, check

SAGITTA = 5.0 * (1.0 - np.cos(np.pi / 32))  #: chord error of a shaft of diameter 10 mm with 32 segments


def shaft_and_plate(deep):
    """Return a shaft along x that overlaps the plate below it by `deep` at one of its edges."""
    shaft = trimesh.creation.cylinder(5.0, 40.0, sections=32)
    shaft.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, (0, 1, 0)))
    plate = trimesh.creation.box((60.0, 60.0, 10.0), trimesh.transformations.translation_matrix((0, 0, -10.0 + deep)))
    return {"shaft": shaft, "plate": plate}


def written(folder, form, parts):
    if form == "3mf":
        write_3mf(folder / "a.3mf", [(name, mesh.vertices, mesh.faces) for name, mesh in parts.items()])
        return Assembly.load(folder / "a.3mf")
    for name, mesh in parts.items():
        mesh.export(folder / f"{name}.{form}")
    return Assembly.load([folder / f"{name}.{form}" for name in parts], unit="mm")


@pytest.mark.parametrize("form", ["3mf", "obj", "stl"])
def test_overlap_within_chord_error_gets_a_note(tmp_path, form):
    report = check(written(tmp_path, form, shaft_and_plate(0.5 * SAGITTA)))
    assert report.counts["hard"] == 1
    (note,) = [note for note in report.notes if "--tolerance" in note]
    assert_names(note, "plate and shaft", "1 overlap", "0.025 mm", "--tolerance 0.025mm")
    again = check(report.assembly, tolerance=0.025)
    assert (again.counts["hard"], again.counts["touch"], again.notes) == (0, 1, ())
    deep = check(written(tmp_path, form, shaft_and_plate(2.0 * SAGITTA)))
    assert (deep.counts["hard"], deep.notes) == (1, ())


def test_flat_parts_get_no_note(tmp_path):
    box = trimesh.creation.box((10.0, 10.0, 10.0))
    shifted = box.copy().apply_translation((9.999, 0.0, 0.0))
    report = check(written(tmp_path, "stl", {"a": box, "b": shifted}))
    assert (report.counts["hard"], report.notes) == (1, ())


def test_note_names_first_of_many_overlaps():
    parts = {}
    for k in range(5):
        for name, mesh in shaft_and_plate(0.5 * SAGITTA).items():
            parts[f"{name} {k}"] = gk.Mesh(mesh.vertices + (100.0 * k, 0, 0), mesh.faces)
    (note,) = check(Assembly.of(parts, "mm")).notes
    assert_names(note, "5 overlaps", "plate 0 and shaft 0", "and 2 more")


def test_shaft_in_bore_gets_a_note():
    """Shaft and bore have 32 segments, rotated by half a segment, so shaft edges are inside facets of the bore."""
    shaft, tube = (
        trimesh.creation.cylinder(5.0, 40.0, sections=32),
        trimesh.creation.annulus(5.0, 10.0, 30.0, sections=32),
    )
    tube.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 32, (0, 0, 1)))
    report = check(
        Assembly.of({name: gk.Mesh(x.vertices, x.faces) for name, x in (("shaft", shaft), ("tube", tube))}, "mm")
    )
    assert report.counts["hard"] == 1
    (note,) = report.notes
    assert_names(note, "shaft and tube", "--tolerance 0.073mm")
    assert check(report.assembly, tolerance=0.073).counts["touch"] == 1
