"""Meshes of other libraries: those of trimesh and pyvista, either way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.typing import Array, Ints

if TYPE_CHECKING:
    import pyvista
    import trimesh

    from gjk3d.bodies.mesh import Mesh


class Given(NamedTuple):
    """What a `Mesh` is made of."""

    vertices: Array
    faces: Ints
    name: str | None
    unit: str | None


def of_trimesh(mesh: Any) -> Given:
    """Answer `Mesh.from_trimesh`."""
    import trimesh

    if not isinstance(mesh, trimesh.Trimesh):
        cures = {
            trimesh.Scene: "; of a scene, pass scene.to_mesh(), or each of scene.dump()",
            trimesh.PointCloud: ": gjk3d.PointCloud(cloud.vertices, radius) takes points",
        }
        cure = next((text for kind, text in cures.items() if isinstance(mesh, kind)), "")
        raise ShapeError(f"from_trimesh: got a {_type(mesh)}, expected a trimesh.Trimesh{cure}")
    name = mesh.metadata.get("name")
    vertices, faces = np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)
    return Given(vertices, faces, name if isinstance(name, str) else None, mesh.units)


def to_trimesh(mesh: Mesh) -> trimesh.Trimesh:
    """Answer `Mesh.to_trimesh`."""
    import trimesh

    made = trimesh.Trimesh(mesh.vertices.copy(), mesh.faces.copy(), process=False)
    if mesh.name:
        made.metadata["name"] = mesh.name
    if mesh.unit:
        made.units = mesh.unit
    return made


def arrays_of(data: Any) -> tuple[Array, Ints]:
    """Return the vertices and the triangles of a data set of pyvista, of a volume those of its surface."""
    import pyvista

    if isinstance(data, pyvista.MultiBlock):
        raise ShapeError(
            f"from_pyvista: got a MultiBlock of {len(data)} blocks: pass each of them, or data.combine(), which is one"
        )
    if not isinstance(data, pyvista.DataSet):
        raise ShapeError(f"from_pyvista: got a {_type(data)}, expected a pyvista.PolyData")
    if not isinstance(data, pyvista.PolyData):
        data = _skin(data)
    triangles = data.triangulate()
    faces = np.asarray(triangles.faces, dtype=np.int64).reshape(-1, 4)[:, 1:]
    if not len(faces):
        raise ShapeError(
            f"from_pyvista: this {type(data).__name__} has {data.n_points} points and no face: "
            "gjk3d.PointCloud(data.points, radius) takes points"
        )
    return np.asarray(triangles.points, dtype=np.float64), faces


def triangulated(vertices: Array, polygon: Ints) -> Ints | None:
    """Return the triangles of a polygon, which need not be convex, as corners; None where it crosses itself."""
    import pyvista

    count = len(polygon)
    one = pyvista.PolyData(vertices[polygon], faces=[count, *range(count)])
    cut = np.asarray(one.triangulate().faces, dtype=np.int64).reshape(-1, 4)[:, 1:]
    return polygon[cut] if len(cut) == count - 2 else None


def _skin(data: Any) -> Any:
    try:  # pyvista from 0.47 on warns where no algorithm is named, older ones know the name of none
        return data.extract_surface(algorithm="dataset_surface")
    except TypeError:
        return data.extract_surface()


def to_pyvista(mesh: Mesh) -> pyvista.PolyData:
    """Answer `Mesh.to_pyvista`."""
    import pyvista

    return pyvista.PolyData.from_regular_faces(mesh.vertices.copy(), mesh.faces.copy())


def _type(value: Any) -> str:
    return f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
