"""A small house as an IFC file by ifcopenshell: two walls, one with an opening, a duct, a pipe and two columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ifcopenshell.api as api
import numpy as np


class House:
    """A building model to which boxes are added; lengths are in its own unit, millimetres."""

    def __init__(self) -> None:
        self.file: Any = api.run("project.create_file", version="IFC4")
        project = self.made("IfcProject", "House")
        api.run("unit.assign_unit", self.file, length={"is_metric": True, "raw": "MILLIMETERS"})
        model = api.run("context.add_context", self.file, context_type="Model")
        self.body = api.run(
            "context.add_context",
            self.file,
            context_type="Model",
            context_identifier="Body",
            target_view="MODEL_VIEW",
            parent=model,
        )
        site, building = self.made("IfcSite", "Site"), self.made("IfcBuilding", "<b>Building</b>")
        self.storey = self.made("IfcBuildingStorey", "Ground / floor")
        for part, parent in ((site, project), (building, site), (self.storey, building)):
            api.run("aggregate.assign_object", self.file, products=[part], relating_object=parent)

    def made(self, kind: str, name: str) -> Any:
        return api.run("root.create_entity", self.file, ifc_class=kind, name=name)

    def box(self, x: float, y: float, z: float) -> Any:
        """Return the representation of a box with one corner at the origin."""
        f = self.file
        middle = f.create_entity("IfcAxis2Placement2D", f.create_entity("IfcCartesianPoint", (x / 2, y / 2)))
        profile = f.create_entity("IfcRectangleProfileDef", "AREA", None, middle, x, y)
        place = f.create_entity("IfcAxis2Placement3D", f.create_entity("IfcCartesianPoint", (0.0, 0.0, 0.0)))
        up = f.create_entity("IfcDirection", (0.0, 0.0, 1.0))
        solid = f.create_entity("IfcExtrudedAreaSolid", profile, place, up, z)
        return f.create_entity("IfcShapeRepresentation", self.body, "Body", "SweptSolid", [solid])

    def shaped(self, element: Any, size: tuple[float, float, float]) -> Any:
        api.run("geometry.assign_representation", self.file, product=element, representation=self.box(*size))
        return element

    def put(self, element: Any, at: tuple[float, float, float], turn: float = 0.0) -> Any:
        """Place an element on the storey, rotated about the vertical."""
        matrix = np.eye(4)
        matrix[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        matrix[:3, 3] = at
        api.run("geometry.edit_object_placement", self.file, product=element, matrix=matrix, is_si=False)
        api.run("spatial.assign_container", self.file, products=[element], relating_structure=self.storey)
        return element

    def paint(self, element: Any, red: float, green: float, blue: float) -> None:
        style = api.run("style.add_style", self.file, name="paint")
        colour = {"Name": None, "Red": red, "Green": green, "Blue": blue}
        attributes = {"SurfaceColour": colour, "Transparency": 0.0}
        api.run(
            "style.add_surface_style",
            self.file,
            style=style,
            ifc_class="IfcSurfaceStyleShading",
            attributes=attributes,
        )
        shape = element.Representation.Representations[0]
        api.run("style.assign_representation_styles", self.file, shape_representation=shape, styles=[style])


def write_house(path: Path) -> dict[str, str]:
    """Write the house; return the GlobalIds of its elements by their keys in the tests."""
    house = House()
    front = house.put(house.shaped(house.made("IfcWall", "Wall"), (5000.0, 200.0, 3000.0)), (0.0, 0.0, 0.0))
    side = house.put(house.shaped(house.made("IfcWall", "Wall"), (200.0, 4000.0, 3000.0)), (0.0, 500.0, 0.0))
    duct = house.put(house.shaped(house.made("IfcDuctSegment", "Duct"), (400.0, 2000.0, 300.0)), (2000.0, -900.0, 2e3))
    house.paint(duct, 0.8, 0.1, 0.2)
    kind = house.shaped(house.made("IfcColumnType", "C1"), (300.0, 300.0, 3000.0))
    columns = []
    for k in range(2):  # both columns are mapped to the shape of their type
        column = house.put(house.made("IfcColumn", f"Column {k}"), (1000.0 + 2000.0 * k, 1500.0, 0.0), 0.3 * k)
        api.run("type.assign_type", house.file, related_objects=[column], relating_type=kind)
        columns.append(column)
    hole = house.put(
        house.shaped(house.made("IfcOpeningElement", "hole"), (1000.0, 600.0, 2100.0)), (3500.0, -2e2, 0.0)
    )
    api.run("feature.add_feature", house.file, feature=hole, element=front)
    # the pipe passes through the opening and clashes only if the opening was not cut out
    pipe = house.put(house.shaped(house.made("IfcPipeSegment", "Pipe"), (100.0, 2000.0, 100.0)), (3900.0, -900.0, 1e3))
    room = house.shaped(house.made("IfcSpace", "Room"), (4000.0, 3000.0, 2800.0))
    api.run("aggregate.assign_object", house.file, products=[room], relating_object=house.storey)
    house.file.write(str(path))
    elements = {"front": front, "side": side, "duct": duct, "pipe": pipe, "one": columns[0], "two": columns[1]}
    return {name: element.GlobalId for name, element in elements.items()}
