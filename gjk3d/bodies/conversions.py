"""Conversions: meshes to convex parts and voxels, functions to meshes, and meshes from and to trimesh and pyvista."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from math import floor, isnan
from threading import Lock
from typing import Any

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.bodies.compound import Compound
from gjk3d.bodies.grids import VoxelGrid
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_points import nearest_points
from gjk3d.bodies.mesh_rays import holds
from gjk3d.bodies.triangles import read
from gjk3d.errors import ShapeError
from gjk3d.geometry.points import farthest
from gjk3d.geometry.vec3 import Vec3, cross, dot, sub
from gjk3d.poses import ROUNDING
from gjk3d.shapes.base import number, rows
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array, Array2, Bits, Bits3, Bools, Ints, RowsLike

_FINEST, _COARSEST = 0.01, 1.0  #: limits of the threshold of coacd
_SAMPLES = 20_000  #: sample points on each surface, in addition to its vertices
_CACHE_SIZE = 64  #: greatest number of cached decompositions
_decompositions: dict[tuple[bytes, float], Compound] = {}
_lock = Lock()


def decompose(mesh: Mesh, threshold: float = 0.05) -> Compound:
    """Implement `Mesh.decompose`."""
    limit = number(threshold, "decompose: threshold")
    if not _FINEST <= limit <= _COARSEST:
        raise ShapeError(
            f"decompose: threshold is {limit:g}, expected {_FINEST} (fine, slow) to {_COARSEST:g} (coarse)"
        )
    digest = sha256(mesh.vertices.tobytes())
    digest.update(mesh.faces.tobytes())
    key = digest.digest(), limit
    with _lock:
        if key in _decompositions:
            return _decompositions[key]
    hulls = [ConvexHull(points) for points in _cut(mesh, limit)]
    parts = Compound([(hull, None) for hull in hulls])._parts
    compound = Compound._made(_geometry_error=geometry_error(mesh, hulls), _parts=parts)
    with _lock:
        while len(_decompositions) >= _CACHE_SIZE:
            del _decompositions[next(iter(_decompositions))]
        _decompositions[key] = compound
    return compound


def _cut(mesh: Mesh, threshold: float) -> list[Array]:
    """Return the vertices of each convex part from coacd, and of each mesh piece that does not bound the solid."""
    try:
        import coacd
    except ImportError:
        raise ImportError(
            "decompose needs coacd, which is not installed. Run pip install 'gjk3d[mesh]', or pip install coacd"
        ) from None
    coacd.set_log_level("error")
    closed = coacd.Mesh(mesh.vertices.copy(), mesh.skin.faces.astype(np.int32))
    parts: Any = coacd.run_coacd(closed, threshold=threshold)
    pieces = [np.asarray(vertices, dtype=np.float64) for vertices, _ in parts if len(vertices)]
    hanging = mesh.faces[mesh._mended.hanging]  # triangles that can be touched but do not bound the solid
    pieces += [piece._used for piece in (mesh._like(mesh.vertices, hanging).bodies() if len(hanging) else ())]
    if not pieces:
        raise ShapeError(f"decompose: coacd returned no parts of {mesh!r}, which may be flat. Use mesh.hull()")
    return pieces


def geometry_error(mesh: Mesh, hulls: list[ConvexHull]) -> float:
    """Return the greatest distance between a mesh and the union of hulls, at vertices and samples of both surfaces."""
    skin = Mesh(*Compound([(hull, None) for hull in hulls]).surface())
    out = _drawn(skin)
    # a point inside the union is not on its surface, and a point inside the mesh does not exceed the mesh
    out = out[~_within(hulls, out, -1e-9) & ~holds(mesh, out)]
    samples = _drawn(mesh)
    samples = samples[~_within(hulls, samples, 0.0)]
    far = [nearest_points(to, points)[0].max() for to, points in ((mesh, out), (skin, samples)) if len(points)]
    return float(max(far, default=0.0))


def _drawn(mesh: Mesh) -> Array:
    """Return points of a mesh's surface, (k, 3): its vertices, random points, and the middles of the triangles."""
    corners = mesh.vertices[mesh.faces]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = np.linalg.norm(np.cross(u, v), axis=1)
    used = mesh._used
    if not area.sum() > 0.0:
        return used
    rng = np.random.default_rng(0)
    k = rng.choice(len(area), _SAMPLES, p=area / area.sum())
    s, t = rng.uniform(size=(2, _SAMPLES, 1))
    s, t = np.where(s + t > 1.0, 1.0 - s, s), np.where(s + t > 1.0, 1.0 - t, t)
    return np.concatenate([used, corners[k, 0] + s * u[k] + t * v[k], corners.mean(axis=1)])


def _within(hulls: list[ConvexHull], points: Array, margin: float) -> Bools:
    """Return which points are in at least one hull: at most ``margin`` times its size above each of its face planes."""
    inside: Bools = np.zeros(len(points), dtype=bool)
    for hull in hulls:
        surface = hull.surface()
        v = surface.vertices[surface.faces]
        n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
        length = np.linalg.norm(n, axis=1)
        valid = length > 1e-14 * length.max(initial=0.0)
        if not valid.any():
            continue
        n = n[valid] / length[valid, None]
        low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
        close = np.flatnonzero(~inside & ((points >= low) & (points <= high)).all(axis=1))
        # heights over planes are products of points and planes with four numbers
        planes = np.column_stack([n, -np.einsum("ij,ij->i", n, v[valid, 0])])
        height = farthest(planes, np.column_stack([points[close], np.ones(len(close))]))[0]
        inside[close] = height <= margin * float(np.linalg.norm(high - low))
    return inside


_CUBES = 100_000_000  #: greatest number of cubes, which take five bytes each while they are filled


@kernel
def _spread(u: float, v: float, w: float, reach: float) -> bool:
    """Return whether all three numbers are above ``reach``, or all are below ``-reach``."""
    return min(u, v, w) > reach or max(u, v, w) < -reach


@kernel
def _parted(a: Vec3, b: Vec3, c: Vec3, h: float) -> bool:
    """Return whether an axis separates the triangle a, b, c from the cube about the origin with half edge h."""
    if _spread(a[0], b[0], c[0], h) or _spread(a[1], b[1], c[1], h) or _spread(a[2], b[2], c[2], h):
        return True
    for edge in (sub(b, a), sub(c, b), sub(a, c)):
        x, y, z = edge
        axis = (0.0, -z, y)  # cross product of an edge of the triangle and an edge of the cube
        if _spread(dot(a, axis), dot(b, axis), dot(c, axis), h * (abs(y) + abs(z))):
            return True
        axis = (z, 0.0, -x)
        if _spread(dot(a, axis), dot(b, axis), dot(c, axis), h * (abs(x) + abs(z))):
            return True
        axis = (-y, x, 0.0)
        if _spread(dot(a, axis), dot(b, axis), dot(c, axis), h * (abs(x) + abs(y))):
            return True
    n = cross(sub(b, a), sub(c, a))
    return abs(dot(n, a)) > h * (abs(n[0]) + abs(n[1]) + abs(n[2]))


@kernel
def _cell(x: float, pitch: float, count: int) -> int:
    return min(max(floor(x / pitch), 0), count - 1)


@entry
def touched(corners: Array2, pitch: float, more: float, cells: Bits3) -> None:
    """Mark in ``cells`` the cubes that triangles touch. The grid begins at the origin.

    ``corners`` has a row of nine coordinates for each triangle. ``more`` is the length by which the cubes are enlarged
    on each side for rounding.
    """
    half = 0.5 * pitch + more
    nx, ny, nz = cells.shape
    for m in range(corners.shape[0]):
        a, b, c = read(corners, m)
        x0, x1 = min(a[0], b[0], c[0]) - more, max(a[0], b[0], c[0]) + more
        y0, y1 = min(a[1], b[1], c[1]) - more, max(a[1], b[1], c[1]) + more
        z0, z1 = min(a[2], b[2], c[2]) - more, max(a[2], b[2], c[2]) + more
        for i in range(_cell(x0, pitch, nx), _cell(x1, pitch, nx) + 1):
            for j in range(_cell(y0, pitch, ny), _cell(y1, pitch, ny) + 1):
                for k in range(_cell(z0, pitch, nz), _cell(z1, pitch, nz) + 1):
                    if cells[i, j, k] == 0:
                        p = ((i + 0.5) * pitch, (j + 0.5) * pitch, (k + 0.5) * pitch)
                        if not _parted(sub(a, p), sub(b, p), sub(c, p), half):
                            cells[i, j, k] = 1


def voxelized(mesh: Mesh, pitch: float) -> VoxelGrid:
    """Implement `Mesh.voxelized`."""
    edge = number(pitch, "voxelized: pitch")
    low, high = mesh.bounds
    more = ROUNDING * float(np.abs(mesh.bounds).max())
    size = (high - low - more) / edge
    if not float(np.prod(np.maximum(np.ceil(size), 1.0))) <= _CUBES:
        least = float((np.prod(np.maximum(high - low, edge)) / _CUBES) ** (1 / 3))
        raise ShapeError(
            f"voxelized: a pitch of {edge:g} makes {np.prod(np.maximum(size, 1.0)):.3g} cubes of a mesh of "
            f"{' x '.join(f'{x:g}' for x in high - low)}, expected at most {_CUBES:g}. Use a pitch above {least:.3g}"
        )
    cells = np.zeros(np.maximum(np.ceil(size), 1.0).astype(np.int64), dtype=np.uint8)
    corners = np.ascontiguousarray((mesh.vertices[mesh.faces] - low).reshape(-1, 9))
    touched(corners, edge, more, cells)
    if mesh.is_solid:
        _fill(mesh, cells, edge, low)
    return VoxelGrid(cells, edge, low)


def _fill(mesh: Mesh, cells: Bits, pitch: float, low: Array) -> None:
    """Add the cubes inside a closed mesh to those of its surface in ``cells``; the grid begins at ``low``."""
    from scipy.ndimage import label

    pieces, count = label(cells == 0)
    if not count:
        return
    _, first = np.unique(pieces, return_index=True)
    first = first[1:] if cells.any() else first  # the first number marks the surface
    where = np.array(np.unravel_index(first, cells.shape)).T
    inside = np.concatenate([[False], holds(mesh, low + pitch * (where + 0.5))])
    cells[inside[pieces]] = 1


_PLACES = 50_000_000  #: greatest number of points at which the function is evaluated
_CLOSE = 1e-3  #: greatest distance of a vertex from the surface, in units of the pitch


def from_implicit(function: Callable[[float, float, float], float], bounds: RowsLike, pitch: float) -> Mesh:
    """Return a closed mesh of the surface on which a function is 0, by the level sets of manifold3d.

    Parameters
    ----------
    function : callable
        A function of x, y and z, negative inside and positive outside. Only its sign and its zeros matter.
    bounds : (2, 3) float
        Least and greatest corner of the search box. A surface that leaves the box is closed by the sides of the box.
        The edges there are chamfered by up to a pitch.
    pitch : float
        Approximate edge of the triangles. Thinner features may be missed. Vertices are within a thousandth of the pitch
        from the surface. Between its corners, a triangle also deviates from a curved surface by its chord error.

    Raises
    ------
    ShapeError
        The function cannot be called, is not negative at any sample point, or returns NaN. The bounds or the pitch
        are invalid, or there are too many sample points. Errors of the function are not caught.
    ImportError
        manifold3d is not installed: ``pip install 'gjk3d[mesh]'``.

    References
    ----------
    Doi, Koide: An efficient method of triangulating equi-valued surfaces by using tetrahedral cells, 1991.

    Examples
    --------
    The hull of a torus does not have its hole:

    >>> import gjk3d as gk
    >>> torus = gk.from_implicit(
    ...     lambda x, y, z: (x * x + y * y + z * z + 0.8**2 - 0.2**2) ** 2 - 4 * 0.8**2 * (x * x + y * y),
    ...     [(-1.1, -1.1, -0.25), (1.1, 1.1, 0.25)], 0.05)
    >>> torus.is_watertight, round(torus.volume, 2), gk.collide(torus, gk.Sphere(0.5))
    (True, 0.63, False)
    """
    if not callable(function):
        raise ShapeError(f"from_implicit: function is {function!r:.60}, expected a function of x, y, z")
    box = rows(bounds, "from_implicit: bounds")
    edge = number(pitch, "from_implicit: pitch")
    if len(box) != 2 or not (box[0] < box[1]).all():
        raise ShapeError(
            f"from_implicit: bounds is {box.tolist()!r:.120}, expected the least and the greatest corner of a box"
        )
    size = (box[1] - box[0]) / edge
    count = 2.0 * float(np.prod(size + 1.0))
    if not count <= _PLACES:
        least = edge * (count / _PLACES) ** (1.0 / 3.0)
        raise ShapeError(
            f"from_implicit: a pitch of {edge:g} makes {count:.3g} points in a box of "
            f"{' x '.join(f'{x:g}' for x in box[1] - box[0])}, expected at most {_PLACES:g}. "
            f"Use a pitch above {least:.3g}"
        )
    try:
        from manifold3d import Manifold
    except ImportError:
        raise ImportError(
            "from_implicit needs manifold3d, which is not installed. Run pip install 'gjk3d[mesh]', or pip install "
            "manifold3d"
        ) from None
    value_range = [np.inf, -np.inf]

    def inner(x: float, y: float, z: float) -> float:
        value = float(function(x, y, z))
        if isnan(value):
            raise ShapeError(
                f"from_implicit: the function is nan at ({x:g}, {y:g}, {z:g}), expected a number. Use bounds inside "
                "the domain of the function"
            )
        value_range[0], value_range[1] = min(value_range[0], value), max(value_range[1], value)
        return -value

    solid = Manifold.level_set(inner, box.ravel().tolist(), edge, 0.0, _CLOSE * edge)
    if solid.is_empty():
        raise ShapeError(
            f"from_implicit: the function is between {value_range[0]:.3g} and {value_range[1]:.3g} in the box, "
            "expected numbers below 0 inside. Check the sign of the function, or use a finer pitch for thin features"
        )
    parts = solid.to_mesh64()
    return Mesh(np.asarray(parts.vert_properties)[:, :3], np.asarray(parts.tri_verts).astype(np.int64))


def of_trimesh(kind: type[Mesh], mesh: Any) -> Mesh:
    """Implement `Mesh.from_trimesh`."""
    import trimesh

    if not isinstance(mesh, trimesh.Trimesh):
        cures = {
            trimesh.Scene: ". Pass scene.to_mesh(), or each mesh of scene.dump()",
            trimesh.PointCloud: ". Use gjk3d.PointCloud(cloud.vertices, radius) for points",
            object: ". Use gjk3d.Mesh(vertices, faces) for arrays",
        }
        cure = next(text for other, text in cures.items() if isinstance(mesh, other))
        raise ShapeError(f"from_trimesh: got a {_type(mesh)}, expected a trimesh.Trimesh{cure}")
    name = mesh.metadata.get("name")
    vertices, faces = np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)
    return kind(vertices, faces, name=name if isinstance(name, str) else None, unit=mesh.units)


def arrays_of(data: Any) -> tuple[Array, Ints]:
    """Return the vertices and triangles of a data set of pyvista, or of the surface of a volume."""
    import pyvista

    if isinstance(data, pyvista.MultiBlock):
        raise ShapeError(
            f"from_pyvista: got a MultiBlock of {len(data)} blocks, expected one. Pass each block, or data.combine()"
        )
    if not isinstance(data, pyvista.DataSet):
        raise ShapeError(
            f"from_pyvista: got a {_type(data)}, expected a pyvista.PolyData. Use gjk3d.Mesh(vertices, faces) for "
            "arrays"
        )
    if not isinstance(data, pyvista.PolyData):
        data = _skin(data)
    triangles = data.triangulate()
    faces = np.asarray(triangles.faces, dtype=np.int64).reshape(-1, 4)[:, 1:]
    if not len(faces):
        raise ShapeError(
            f"from_pyvista: the {type(data).__name__} has {data.n_points} points and no faces. "
            "Use gjk3d.PointCloud(data.points, radius) for points"
        )
    return np.asarray(triangles.points, dtype=np.float64), faces


def triangulated(vertices: Array, polygon: Ints) -> Ints | None:
    """Return the triangles of a polygon, convex or not, as vertex indices (k, 3); None if it crosses itself."""
    import pyvista

    count = len(polygon)
    face = pyvista.PolyData(vertices[polygon], faces=[count, *range(count)])
    cut = np.asarray(face.triangulate().faces, dtype=np.int64).reshape(-1, 4)[:, 1:]
    return polygon[cut] if len(cut) == count - 2 else None


def _skin(data: Any) -> Any:
    try:  # pyvista warns from 0.47 on if an algorithm is not named, and older versions do not accept a name
        return data.extract_surface(algorithm="dataset_surface")
    except TypeError:
        return data.extract_surface()


def _type(value: Any) -> str:
    return f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
