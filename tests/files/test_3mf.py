"""3MF files: nested components, models in several files, units, and rejected files."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from message_checks import assert_names
from model_files import CORNERS, TRIANGLES

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


def element(ident, name, *components):
    """Return an object with components, each an identifier and further attributes, or the unit cube without any."""
    inside = "".join(f'<component objectid="{child}" {more}/>' for child, more in components)
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


def test_nested_components_become_parts_at_their_poses(write):
    shelf = element(2, "shelf", *((1, at(x=2 * k)) for k in range(10)))
    rack = element(3, "rack", *((2, at(y=2 * k)) for k in range(5)))
    # a quarter turn about z; the rows are the images of the axes x, y and z
    turned = 'transform="0 1 0 -1 0 0 0 0 1 0 0 100"'
    path = write(model(element(1, "bolt") + shelf + rack, f'<item objectid="3"/><item objectid="3" {turned}/>'))
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


def test_part_number_names_part_and_empty_object_is_reported(write):
    empty = '<object id="2" name="hollow"/>'
    items = '<item objectid="1" partnumber="A-7"/><item objectid="1"/><item objectid="2"/>'
    parts = {part.name: part for part in gk.clash.Assembly.load(write(model(element(1, "bolt") + empty, items))).parts}
    assert set(parts) == {"A-7", "bolt", "hollow"}
    assert parts["hollow"].shape is None
    assert "components" in parts["hollow"].reason


def test_model_in_several_files_loads(write):
    pieces = model(element(1, "lid") + element(2, "box"))
    path = 'p:path="/3D/pieces.model"'
    root = model(
        element(9, "both", (1, path), (2, f"{path} {at(x=5)}")), f'<item objectid="9"/><item objectid="2" {path}/>'
    )
    parts = gk.clash.Assembly.load(write(root, pieces=pieces)).parts
    assert [part.path for part in parts] == [("both", "box"), ("both", "lid"), ("box_1",)]
    assert [part.bounds[0].tolist() for part in parts] == [[5, 0, 0], [0, 0, 0], [0, 0, 0]]
    with pytest.raises(ParseError, match=r"'3D/pieces\.model'"):
        gk.load(write(root))
    inches = model(element(1, "lid") + element(2, "box"), root='unit="inch"')
    with pytest.raises(ParseError) as caught:
        gk.load(write(root, pieces=inches))
    assert_names(caught.value, "3D/pieces.model", "inch", "3D/3dmodel.model", "millimeter")


@pytest.mark.parametrize("unit", threemf.UNITS)
def test_unit_is_read(write, unit):
    assert gk.load(write(model(element(1, "a"), '<item objectid="1"/>', root=f'unit="{unit}"'))).unit == unit


def tower(levels, copies=10):
    """Return a chain of objects. Each contains ``copies`` instances of its predecessor; the last is the root."""
    return element(0, "a") + "".join(element(k + 1, "a", *[(k, "")] * copies) for k in range(levels))


REFUSED = {
    "unit": (model(element(1, "a"), root='unit="furlong"'), "is in the unit 'furlong', expected one of micron, mill"),
    "no unit": (model(element(1, "a"), root='unit=""'), "is in the unit ''"),
    "doctype": (model(element(1, "a"), before='<!DOCTYPE model [<!ENTITY a "b">]>'), "has a DOCTYPE, .* Remove it"),
    "extension": (model("", root='requiredextensions="p b"'), "requires the extension .*beamlattice.*Export without"),
    "lost": (model(element(1, "a", (7, ""))), "places the object '7', which 3D/3dmodel.model does not contain"),
    "loop": (model(element(1, "a", (2, "")) + element(2, "b", (1, ""))), "which is a component of itself"),
    "bomb": (model(tower(10)), "places 11111111111 objects, expected at most 5000 in a file"),
    "deep": (model(tower(150, 1)), "nests its components more than 100 levels deep"),
    "corner": (model(element(1, "a").replace('y="1.0"', 'y="high"', 1)), "vertex 2 .*has the y 'high', expected three"),
    "triangle": (model(element(1, "a").replace('v2="1"', "", 1)), "triangle 0 .*lacks v2, expected three"),
    "place": (
        model(element(1, "a", (1, 'transform="1 0 0"'))),
        "places the object '1' with .*'1 0 0', expected 12 numbers",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_models_raise(write, name):
    text, message = REFUSED[name]
    top = {"bomb": 10, "deep": 150}.get(name, 1)
    path = write(text.replace("<build></build>", f'<build><item objectid="{top}"/></build>'))
    with pytest.raises(ParseError, match=message) as caught:
        gk.load(path)
    assert str(caught.value).startswith(str(path))


def test_mirrored_part_is_not_inside_out(write):
    mirror = 'transform="-1 0 0 0 1 0 0 0 1 0 0 0"'
    path = write(
        model(element(1, "a") + element(2, "b", (1, mirror)), f'<item objectid="2" {mirror}/><item objectid="2"/>')
    )
    mesh = gk.load(path)
    assert mesh.volume == pytest.approx(2.0)
    np.testing.assert_array_equal(mesh.bounds, [[-1, 0, 0], [1, 1, 1]])
