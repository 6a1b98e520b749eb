"""Building models: elements with their placements, storeys, colours and GlobalIds, and clashes between them."""

from __future__ import annotations

import importlib.util
import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest
from house import House, write_house
from ifcopenshell import api
from message_checks import assert_names

import gjk3d as gk

FLOOR = "House/Site/<b>Building</b>/Ground / floor"


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    path = tmp_path_factory.mktemp("building") / "house.ifc"
    return path, write_house(path)


@pytest.fixture(scope="module")
def building(house):
    return gk.clash.Assembly.load(house[0])


def by_guid(building, guid):
    return next(part for part in building.parts if part.guid == guid)


def test_elements_are_parts_below_their_storey(house, building):
    _, guids = house
    assert building.unit == "m"
    assert {part.guid for part in building.parts} == set(guids.values())  # neither the space nor the opening
    assert all(part.path[:4] == ("House", "Site", "<b>Building</b>", "Ground / floor") for part in building.parts)
    names = {key: by_guid(building, guid).name for key, guid in guids.items()}
    assert names["duct"] == f"{FLOOR}/Duct"
    assert {names["front"], names["side"]} == {f"{FLOOR}/Wall", f"{FLOOR}/Wall (2)"}
    assert by_guid(building, guids["side"]).path[-1] == "Wall"


def test_spaces_are_left_out_with_a_note(house, building):
    (note,) = building.notes
    assert_names(note, str(house[0]), "1 IfcSpace")
    assert note in gk.clash.check(building).notes


def test_placements_are_converted_to_metres(house, building):
    _, guids = house
    np.testing.assert_allclose(by_guid(building, guids["duct"]).bounds, [(2, -0.9, 2), (2.4, 1.1, 2.3)], atol=1e-12)
    turn, at = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]]), (3.0, 1.5)
    corners = np.array([(0, 0), (0.3, 0), (0, 0.3), (0.3, 0.3)]) @ turn.T + at
    bounds = by_guid(building, guids["two"]).bounds
    np.testing.assert_allclose(bounds[:, :2], [corners.min(axis=0), corners.max(axis=0)], atol=1e-12)


def test_mapped_elements_share_one_shape(house, building):
    first, second = (by_guid(building, house[1][name]) for name in ("one", "two"))
    assert first.shape is second.shape
    assert len({id(part.shape) for part in building.parts}) == len(building.parts) - 1


def test_only_colours_of_the_file_are_set(house, building):
    colours = {part.guid: part.colour for part in building.parts}
    assert colours.pop(house[1]["duct"]) == (0.8, 0.1, 0.2)
    assert set(colours.values()) == {None}


def test_opening_is_cut_out(house, building):
    wall = by_guid(building, house[1]["front"]).mesh
    assert wall.volume == pytest.approx(0.2 * (5 * 3 - 1 * 2.1), rel=1e-12)


def test_duct_clashes_with_wall_and_pipe_in_opening_does_not(house, building):
    guids = house[1]
    report = gk.clash.check(building)
    assert report.counts["hard"] == 1
    clash = report.clashes[0]
    named = {part.name: part.guid for part in report.parts}
    assert {named[clash.a], named[clash.b]} == {guids["duct"], guids["front"]}
    assert clash.overlap_volume == pytest.approx(0.4 * 0.2 * 0.3, rel=1e-9)


def test_pipe_inside_wall_next_to_opening_is_contained(tmp_path):
    house = House()
    wall = house.put(house.shaped(house.made("IfcWall", "wall"), (4000.0, 200.0, 3000.0)), (-2000.0, -100.0, 0.0))
    house.put(house.shaped(house.made("IfcPipeSegment", "pipe"), (100.0, 50.0, 500.0)), (1450.0, -25.0, 1000.0))
    hole = house.put(
        house.shaped(house.made("IfcOpeningElement", "hole"), (400.0, 400.0, 400.0)), (-1200.0, -200.0, 1950.0)
    )
    api.run("feature.add_feature", house.file, feature=hole, element=wall)
    house.file.write(str(tmp_path / "wall.ifc"))
    assembly = gk.clash.Assembly.load(tmp_path / "wall.ifc")
    mesh = by_guid(assembly, wall.GlobalId).mesh
    assert (mesh.open_edges, mesh.volume) == (0, pytest.approx(2.368, rel=1e-12))
    assert [clash.kind for clash in gk.clash.check(assembly).clashes] == ["contained"]


def selected(path):
    with zipfile.ZipFile(path) as archive:
        views = [name for name in archive.namelist() if name.endswith("/viewpoint.bcfv")]
        return [
            [component.get("IfcGuid") for component in ElementTree.fromstring(archive.read(n)).iter("Component")]
            for n in views
        ]


def test_global_ids_survive_a_bcf_round_trip(house, building, tmp_path):
    report = gk.clash.check(building)
    clash = report.clashes[0]
    report.triage = gk.clash.Triage().marked(clash, state="approved", by="ann")
    gk.clash.formats.to_bcf(report, tmp_path / "out.bcf")
    assert [set(pair) for pair in selected(tmp_path / "out.bcf")] == [{house[1]["duct"], house[1]["front"]}]

    # another program gave the topic a new GUID and dropped the description, so its elements identify the finding
    topic = gk.clash.formats.bcf.guid(clash.id)
    with zipfile.ZipFile(tmp_path / "out.bcf") as old, zipfile.ZipFile(tmp_path / "back.bcf", "w") as new:
        for name in old.namelist():
            text = old.read(name).decode().replace(topic, "11111111-2222-3333-4444-555555555555")
            new.writestr(name.replace(topic, "other"), text.replace(f"id: {clash.id}", ""))
    report.triage = None
    read = gk.clash.formats.read_bcf(tmp_path / "back.bcf", report)
    assert read.notes == ()
    assert read.triage.issue(clash).state.value == "approved"


def test_findings_keep_ids_when_elements_are_renamed(house, building, tmp_path):
    text = house[0].read_text()
    assert "'Duct'" in text
    (tmp_path / "house.ifc").write_text(text.replace("'Duct'", "'Supply air 7'"))
    again = gk.clash.check(gk.clash.Assembly.load(tmp_path / "house.ifc"), baseline=gk.clash.check(building))
    assert again.clashes[0].status == "active"
    assert {again.clashes[0].a, again.clashes[0].b} == {f"{FLOOR}/Supply air 7", f"{FLOOR}/Wall"}
    # the same file twice: a part and its copy have the same GlobalId, and yet every finding has its own id
    twice = gk.clash.check(gk.clash.Assembly.load([house[0], tmp_path / "house.ifc"]))
    assert len({clash.id for clash in twice.clashes}) == len(twice.clashes) >= 4


def test_patterns_select_branches(building):
    report = gk.clash.check(building, a="House/*/Ground / floor/Duct", b=f"{FLOOR}/W*")
    assert (report.pairs_total, report.counts["hard"]) == (2, 1)
    rule = gk.clash.Rule("*/Ground / floor/*", "Wall", "sleeves come later")
    assert {clash.status for clash in gk.clash.check(building, ignore=[rule]).clashes} == {"ignored"}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text[: len(text) // 2], "truncated"),
        (lambda text: "solid\n" + text[400:], "ISO-10303-21;"),
        (lambda text: text.replace("'IFC4'", "'IFC9'", 1), "IFC9"),
        (lambda text: text.replace("IFCRECTANGLEPROFILEDEF(.AREA.,$,#", "IFCRECTANGLEPROFILEDEF(.AREA.,$,#9", 1), "#9"),
        (lambda text: text.partition("DATA;")[0] + "DATA;\nENDSEC;\nEND-ISO-10303-21;\n", "contains no elements"),
    ],
)
def test_damaged_files_raise_with_cause_and_remedy(house, tmp_path, damage, said):
    path = tmp_path / "bad.ifc"
    path.write_text(damage(house[0].read_text()))
    with pytest.raises(gk.errors.ParseError) as caught:
        gk.clash.Assembly.load(path)
    assert_names(caught.value, str(path), said, "export")


def test_unconvertible_geometry_is_noted_with_its_element(tmp_path):
    house = House()
    f = house.file
    house.put(house.shaped(house.made("IfcWall", "wall"), (4000.0, 200.0, 3000.0)), (0.0, 0.0, 0.0))
    corners = [f.create_entity("IfcCartesianPoint", at) for at in ((0.0, 0.0), (1.0, 0.0), (0.0, 0.0))]
    profile = f.create_entity("IfcArbitraryClosedProfileDef", "AREA", None, f.create_entity("IfcPolyline", corners))
    place = f.create_entity("IfcAxis2Placement3D", f.create_entity("IfcCartesianPoint", (0.0, 0.0, 0.0)))
    axis = f.create_entity("IfcAxis1Placement", f.create_entity("IfcCartesianPoint", (0.0, 0.0, 0.0)))
    broken = f.create_entity("IfcRevolvedAreaSolid", profile, place, axis, 1.0)
    bodies = [broken, house.box(100.0, 100.0, 100.0).Items[0]]
    shape = f.create_entity("IfcShapeRepresentation", house.body, "Body", "SolidModel", bodies)
    elbow = house.made("IfcPipeFitting", "Elbow")
    api.run("geometry.assign_representation", f, product=elbow, representation=shape)
    house.put(elbow, (0.0, 0.0, 5000.0))
    f.write(str(tmp_path / "a.ifc"))
    assembly = gk.clash.Assembly.load(tmp_path / "a.ifc")
    (note,) = [note for note in assembly.notes if "Failed to convert" in note]
    assert_names(note, "a.ifc", "IfcPipeFitting 'Elbow'", elbow.GlobalId, f"Failed to convert #{broken.id()}=Ifc")
    assert len(set(assembly.notes)) == len(assembly.notes)


def test_large_building_with_unit_gets_no_size_note(tmp_path):
    house = House()
    house.put(house.shaped(house.made("IfcWall", "wall"), (4e6, 200.0, 3000.0)), (0.0, 0.0, 0.0))
    house.file.write(str(tmp_path / "a.ifc"))
    assembly = gk.clash.Assembly.load(tmp_path / "a.ifc")
    assert (np.ptp(assembly.parts[0].bounds, axis=0)[0], assembly.notes) == (pytest.approx(4000.0), ())


def test_missing_ifcopenshell_raises_with_pip_command(house, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ifcopenshell" else find(name))
    with pytest.raises(ImportError, match=r'pip install "gjk3d\[ifc\]"'):
        gk.clash.Assembly.load(house[0])


def test_report_contains_path_colour_and_guid(house, building, tmp_path):
    report = gk.clash.check(building)
    row = next(part for part in report.to_dict()["parts"] if part["guid"] == house[1]["duct"])
    assert row["path"] == ["House", "Site", "<b>Building</b>", "Ground / floor", "Duct"]
    assert row["colour"] == [0.8, 0.1, 0.2]
    report.to_json(tmp_path / "report.json")
    from gjk3d.clash.report.baseline import read_baseline

    assert read_baseline(tmp_path / "report.json").parts == report.parts
