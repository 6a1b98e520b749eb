"""The collision geometry of a robot as shapes. Primitives stay as they are. Meshes become hulls or triangles."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import spatial

from gjk3d.bodies.mesh import Mesh
from gjk3d.errors import Gjk3dError, ParseError, ShapeError
from gjk3d.robot import files, urdf
from gjk3d.shapes.base import Shape
from gjk3d.shapes.curved import Capsule, Cylinder, Ellipsoid, Sphere
from gjk3d.shapes.polytopes import Box, ConvexHull
from gjk3d.typing import Array

#: representations of a mesh
MESH_MODES = ("bodies", "hull", "parts", "mesh")
_CONVEX = 0.99  #: a body that fills this share of the volume of its hull is not cut into parts
_PRIMITIVES: dict[str, Callable[..., Shape]] = {
    "box": lambda *edges: Box(edges),
    "sphere": Sphere,
    "cylinder": Cylinder,
    "capsule": Capsule,
    "ellipsoid": lambda *radii: Ellipsoid(radii),
}


class Body(NamedTuple):
    """One shape that is fixed to a link: an item of `Robot.bodies`.

    Attributes
    ----------
    link : int
        Number of the link.
    pose : (4, 4) float
        Pose of the shape in the frame of the link.
    shape : Shape or Mesh
        The shape in its local frame.
    geometry : int
        Index in `Robot.geometries` of the geometry that the body belongs to.

    Examples
    --------
    >>> import gjk3d as gk
    >>> body = gk.robot.Robot.example().bodies[1]
    >>> body.link, body.pose[:3, 3].tolist(), body.shape
    (1, [0.5, 0.0, 0.0], Box(extents=[1.0, 0.1, 0.1]))
    """

    link: int
    pose: Array
    shape: Shape | Mesh
    geometry: int


class Geometry(NamedTuple):
    """One collision geometry of the URDF, and its bodies: an item of `Robot.geometries`.

    Attributes
    ----------
    link : int
        Number of the link.
    pose : (4, 4) float
        Pose of all bodies of the geometry in the frame of the link.
    hull : Shape
        A convex shape that contains all these bodies.
    first, last : int
        The bodies are ``robot.bodies[first:last]``.
    way : str
        How the bodies represent the geometry: "exact", "bodies", "hull", "parts" or "mesh", see `Robot.from_urdf`.
    source : Path or None
        The file of a mesh.
    error : float or None
        Greatest distance of the mesh from its parts in metres, see `gjk3d.Mesh.decompose`. None for other ``way``.

    Examples
    --------
    >>> import gjk3d as gk
    >>> geometry = gk.robot.Robot.example().geometries[0]
    >>> geometry.way, geometry.hull
    ('exact', Cylinder(height=0.2, radius=0.1))
    """

    link: int
    pose: Array
    hull: Shape
    first: int
    last: int
    way: str
    source: Path | None
    error: float | None


_MeshShapes = tuple[Shape, list[Shape | Mesh], float | None]  # the hull, the shapes, and their error


def make_bodies(
    description: urdf.Description,
    order: Sequence[str],
    package_dirs: Sequence[str | os.PathLike[str]],
    mode: str,
) -> tuple[tuple[Body, ...], tuple[Geometry, ...]]:
    """Return the bodies and geometries of all links. ``order`` lists the names of the links by number."""
    if mode not in MESH_MODES:
        raise ShapeError(f"geometry={mode!r}, expected one of {', '.join(map(repr, MESH_MODES))}")
    bodies: list[Body] = []
    geometries: list[Geometry] = []
    loaded: dict[tuple[Path, tuple[float, ...]], _MeshShapes] = {}
    links = {link.name: link for link in description.links}
    # a mesh that several links use at one scale, such as fingers, is read and split only once
    for number, name in enumerate(order):
        for geometry in links[name].geometries:
            file = None
            if geometry.mesh is not None:
                hull, shapes, error = of_mesh(Mesh(*geometry.mesh), geometry, mode)
            elif geometry.kind == "mesh":
                file = files.find(geometry.filename, description.file, package_dirs, geometry.where)
                if (file, geometry.scale) not in loaded:
                    loaded[file, geometry.scale] = of_mesh(file, geometry, mode)
                hull, shapes, error = loaded[file, geometry.scale]
            else:
                hull, error = _primitive(geometry), None
                shapes = [hull]
            first = len(bodies)
            pose = geometry.origin.copy()
            pose.setflags(write=False)
            bodies += [Body(number, pose, shape, len(geometries)) for shape in shapes]
            used = mode if geometry.kind == "mesh" else "exact"
            geometries.append(Geometry(number, pose, hull, first, len(bodies), used, file, error))
    return tuple(bodies), tuple(geometries)


def _primitive(geometry: urdf.Geometry) -> Shape:
    try:
        return _PRIMITIVES[geometry.kind](*geometry.sizes)
    except ShapeError as reason:
        raise ParseError(f"{geometry.where}: {reason}") from None


def of_mesh(file: Path | Mesh, geometry: urdf.Geometry, mode: str) -> _MeshShapes:
    """Return the convex hull of a mesh or mesh file, its shapes in a mode, and the error of convex parts, else None."""
    from gjk3d.files.load import load  # loaded only for a robot with meshes

    try:
        mesh = file if isinstance(file, Mesh) else load(file, unit="meters")  # a unit that the file states is ignored
        if geometry.scale != (1.0, 1.0, 1.0):
            mesh = mesh._mapped(np.diag(geometry.scale), unit=None, source=mesh.source)
        hull = mesh.hull()
        if mode == "mesh":
            return hull, [mesh], None
        if mode == "hull" or mesh.is_convex:
            return hull, [hull], 0.0 if mode == "parts" else None
        if mode == "parts":
            return _parts(mesh)
        parts = [body.hull() for body in mesh.bodies()]
    except Gjk3dError as reason:
        raise type(reason)(f"{geometry.where}: {reason}") from None
    return hull, [hull] if len(parts) == 1 else list(_outer(parts)), None


def _parts(mesh: Mesh) -> _MeshShapes:
    """Return the hull of a mesh, the convex parts of its connected bodies, and the greatest error of the parts.

    Open or nearly convex bodies become their hulls.
    """
    hulls: list[ConvexHull] = []
    error = 0.0
    for body in mesh.bodies():
        if body.is_watertight and body.convexity < _CONVEX:
            cut: Any = body.decompose()
            hulls += [
                ConvexHull(np.asarray(shape.vertices) @ pose[:3, :3].T + pose[:3, 3]) for shape, pose in cut.parts
            ]
            error = max(error, float(cut.geometry_error))
        else:
            hulls.append(body.hull())
    hulls = _outer(hulls)
    # parts may reach slightly outside the mesh, and the hull must contain them, since it is tested first
    hull = ConvexHull(np.concatenate([np.asarray(part.vertices) for part in hulls]))
    return hull, list(hulls), error


def _outer(hulls: list[ConvexHull]) -> list[ConvexHull]:
    """Return the hulls that are not inside another hull. The union of the returned hulls is that of all hulls."""
    planes: list[tuple[Array, Array]] = []  # of the hulls that stay, the largest first
    outer: list[int] = []
    for k in sorted(range(len(hulls)), key=lambda k: -float(hulls[k].volume)):
        corners = np.asarray(hulls[k].vertices)
        if any(np.all(normals @ corners.T + offsets[:, None] <= 0.0) for normals, offsets in planes):
            continue
        outer.append(k)
        if hulls[k].volume > 0.0:
            try:
                equations = spatial.ConvexHull(corners).equations
            except spatial.QhullError:
                continue  # a flat hull contains no other one
            planes.append((equations[:, :3], equations[:, 3]))
    return [hulls[k] for k in sorted(outer)]
