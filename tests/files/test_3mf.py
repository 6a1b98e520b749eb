"""3MF: what is built, however it is nested, and what is refused."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from model_files import CORNERS, TRIANGLES
from words import assert_names

import gjk3d as gk
from gjk3d.errors import ParseError
from gjk3d.files import threemf

SPACE = "http://schemas.microsoft.com/3dmanufacturing"
CUBE = "".join(f'<vertex x="{x}" y="{y}" z="{z}"/>' for x, y, z in CORNERS.tolist())
CUBE = f"<mesh><vertices>{CUBE}</vertices><triangles>" + "".join(
    f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in TRIANGLES.tolist()
)
CUBE += "</triangles></mesh>"


def at(x=0, y=0, z=0):
    return f'transform="1 0 0 0 1 0 0 0 1 {x} {y} {z}"'


def thing(ident, name, *components):
    """Return an object of (ident, attributes), or the unit cube."""
    inside = "".join(f'<component objectid="{each}" {more}/>' for each, more in components)
    inside = f"<components>{inside}</components>" if components else CUBE
    return f'<object id="{ident}" name="{name}">{inside}</object>'


def model(objects, items="", *, root="", before=""):
    spaces = f'xmlns="{SPACE}/core/2015/02" xmlns:p="{SPACE}/production/2015/06" xmlns:b="{SPACE}/beamlattice/2017/02"'
    return f"{before}<model {spaces} {root}><resources>{objects}</resources><build>{items}</build></model>"


@pytest.fixture
def write(tmp_path):
    def written(text, **others):
        path = tmp_path / "a.3mf"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("3D/3dmodel.model", text)
            for name, data in others.items():
                archive.writestr(f"3D/{name}.model", data)
        return path

    return written


def test_objects_of_objects_of_objects_are_all_there_at_their_places(write):
    shelf = thing(2, "shelf", *((1, at(x=2 * k)) for k in range(10)))
    rack = thing(3, "rack", *((2, at(y=2 * k)) for k in range(5)))
    # a quarter turn about z, as rows of what x, y and z become
    turned = 'transform="0 1 0 -1 0 0 0 0 1 0 0 100"'
    path = write(model(thing(1, "bolt") + shelf + rack, f'<item objectid="3"/><item objectid="3" {turned}/>'))
    parts = gk.clash.Assembly.load(path).parts
    assert len(parts) == len({part.name for part in parts}) == 100
    assert parts[0].path == ("rack", "shelf", "bolt")
    assert len({part.path[:2] for part in parts}) == 10
    assert len({id(part.shape) for part in parts}) == 1
    wanted = {(2 * i, 2 * j, 0) for i in range(10) for j in range(5)}
    wanted |= {(-2 * j - 1, 2 * i, 100) for i in range(10) for j in range(5)}
    assert {tuple(part.bounds[0].round(9)) for part in parts} == wanted
    mesh = gk.load(path)
    assert len(mesh.parts) == 100
    assert mesh.volume == pytest.approx(100.0)


def test_a_part_number_goes_before_the_name_and_an_object_of_nothing_is_told(write):
    empty = '<object id="2" name="hollow"/>'
    items = '<item objectid="1" partnumber="A-7"/><item objectid="1"/><item objectid="2"/>'
    parts = {part.name: part for part in gk.clash.Assembly.load(write(model(thing(1, "bolt") + empty, items))).parts}
    assert set(parts) == {"A-7", "bolt", "hollow"}
    assert parts["hollow"].shape is None
    assert "components" in parts["hollow"].reason


def test_a_model_may_be_divided_over_several_files(write):
    pieces = model(thing(1, "lid") + thing(2, "box"))
    path = 'p:path="/3D/pieces.model"'
    whole = model(
        thing(9, "both", (1, path), (2, f"{path} {at(x=5)}")), f'<item objectid="9"/><item objectid="2" {path}/>'
    )
    parts = gk.clash.Assembly.load(write(whole, pieces=pieces)).parts
    assert [part.path for part in parts] == [("both", "box"), ("both", "lid"), ("box_1",)]
    assert [part.bounds[0].tolist() for part in parts] == [[5, 0, 0], [0, 0, 0], [0, 0, 0]]
    with pytest.raises(ParseError, match=r"'3D/pieces\.model'"):
        gk.load(write(whole))
    inches = model(thing(1, "lid") + thing(2, "box"), root='unit="inch"')
    with pytest.raises(ParseError) as caught:
        gk.load(write(whole, pieces=inches))
    assert_names(caught.value, "3D/pieces.model", "inch", "3D/3dmodel.model", "millimeter")


@pytest.mark.parametrize("unit", threemf.UNITS)
def test_the_units_of_3mf_are_read(write, unit):
    assert gk.load(write(model(thing(1, "a"), '<item objectid="1"/>', root=f'unit="{unit}"'))).unit == unit


def tower(levels, each=10):
    """Return objects that each place the one before so many times, the last of them at the top."""
    return thing(0, "a") + "".join(thing(k + 1, "a", *[(k, "")] * each) for k in range(levels))


REFUSED = {
    "unit": (model(thing(1, "a"), root='unit="furlong"'), "is in the unit 'furlong', expected one of micron, mill"),
    "no unit": (model(thing(1, "a"), root='unit=""'), "is in the unit ''"),
    "doctype": (model(thing(1, "a"), before='<!DOCTYPE model [<!ENTITY a "b">]>'), "has a DOCTYPE, .* Remove it"),
    "extension": (model("", root='requiredextensions="p b"'), "requires the extension .*beamlattice.*Export without"),
    "lost": (model(thing(1, "a", (7, ""))), "places the object '7', which 3D/3dmodel.model does not contain"),
    "loop": (model(thing(1, "a", (2, "")) + thing(2, "b", (1, ""))), "which is a component of itself"),
    "bomb": (model(tower(10)), "places 11111111111 objects, expected at most 5000 in a file"),
    "deep": (model(tower(150, 1)), "nests its components more than 100 levels deep"),
    "corner": (model(thing(1, "a").replace('y="1.0"', 'y="high"', 1)), "vertex 2 .*has the y 'high', expected three"),
    "triangle": (model(thing(1, "a").replace('v2="1"', "", 1)), "triangle 0 .*lacks v2, expected three"),
    "place": (
        model(thing(1, "a", (1, 'transform="1 0 0"'))),
        "places the object '1' with .*'1 0 0', expected 12 numbers",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_rightly_is_refused(write, name):
    text, message = REFUSED[name]
    top = {"bomb": 10, "deep": 150}.get(name, 1)
    path = write(text.replace("<build></build>", f'<build><item objectid="{top}"/></build>'))
    with pytest.raises(ParseError, match=message) as caught:
        gk.load(path)
    assert str(caught.value).startswith(str(path))


def test_what_a_matrix_mirrors_is_not_turned_inside_out(write):
    mirror = 'transform="-1 0 0 0 1 0 0 0 1 0 0 0"'
    path = write(
        model(thing(1, "a") + thing(2, "b", (1, mirror)), f'<item objectid="2" {mirror}/><item objectid="2"/>')
    )
    mesh = gk.load(path)
    assert mesh.volume == pytest.approx(2.0)
    np.testing.assert_array_equal(mesh.bounds, [[-1, 0, 0], [1, 1, 1]])
