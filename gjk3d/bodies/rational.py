"""What bodies are in rational numbers: their parts as the exact judge takes them, made of what a body is given by.

No places that the kernels use are taken: a mesh is its faces as they were given, a grid boxes of its cubes, counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from math import inf
from typing import Any, NamedTuple, cast

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.cloud import PointCloud
from gjk3d.bodies.compound import Compound
from gjk3d.bodies.heights import HeightField, rim_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.shell import Shell
from gjk3d.bodies.surface import TriangleSurface
from gjk3d.bodies.topology import body_numbers
from gjk3d.bodies.voxels import VoxelGrid
from gjk3d.errors import UnsupportedPair
from gjk3d.exact.arithmetic import FractionVec, cross, dot, float_below, fractions, negative, stretched, sub
from gjk3d.exact.convex_sets import Body as ConvexSet
from gjk3d.exact.convex_sets import Placement, Side, at_point, body_of, hulls_of, of_points, place, place_all
from gjk3d.exact.convex_sets import placement as placed_at
from gjk3d.exact.cuts import ClosedSurface, Union, WorldBody, is_closed, on_scale
from gjk3d.poses import IDENTITY
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array
from gjk3d.wording import kind_of

_DENTED = Fraction(1, 10**6)  #: part of its size by which a nearly convex mesh is smaller than its hull, at most
_MOST_COMPARED = 2_000_000  #: corners times vertices that are compared to see whether a mesh is convex
_STANDING = placed_at(IDENTITY[0])


class _Own(NamedTuple):
    """A body in its own frame."""

    parts: list[ConvexSet]
    pieces: list[FractionVec]
    solids: list[ConvexSet]  #: three vertices a face, in one set
    hulls: list[ConvexSet]  #: convex sets that lie in them, nearly all of each
    size: float
    doubts: list[str]


def whole_of(name: str, x: Body | Shape, row: Array) -> WorldBody:
    """Return what can be asked about, at a pose row.

    Raises
    ------
    UnsupportedPair
        For what goes on without end, and for classes of the user.
    """
    return _whole(name, _own_of(name, x), row)


def wholes_of(result: Any, things: tuple[Any, Any], rows: list[Array]) -> tuple[WorldBody, WorldBody]:
    """Return two that an answer is about, none of them a half-space; see `whole_of`.

    Of what goes down without end it is so much that nothing of the other is below it, also after the depth is undone:
    of such things it is as far, and as deep in them, as in all of it.
    """
    endless = [isinstance(x, HeightField) and x.bottom == -inf for x in things]
    own = [None if none else _own_of(name, x) for name, x, none in zip("ab", things, endless, strict=True)]
    if all(endless):
        raise UnsupportedPair("two HeightFields: both go down without end; give one of them a bottom, or take a Mesh")
    for k, other in enumerate(reversed(own)):
        if own[k] is None and other is not None:
            far = float(np.linalg.norm(rows[0][9:12] - rows[1][9:12])) + other.size + abs(float(result.lower))
            own[k] = _of_heights(things[k], float(-4.0 * far - 2.0 * np.abs(things[k].heights).max()))
    one, two = own
    assert one is not None
    assert two is not None
    return _whole("a", one, rows[0]), _whole("b", two, rows[1])


def _own_of(name: str, x: Body | Shape) -> _Own:
    if isinstance(x, HeightField) and x.bottom == -inf:
        raise UnsupportedPair(
            f"{name} is a HeightField that goes down without end: give it a bottom, HeightField(..., bottom=z)"
        )
    make = _OWN.get(type(x)) if isinstance(x, Body) else None if isinstance(x, Halfspace) else _of_shape
    if make is None:
        raise UnsupportedPair(
            f"{name} is {kind_of(x)} beside what is not convex, which is not judged: make it a large "
            "gjk3d.Box, or a gjk3d.Mesh of its surface"
        )
    found: _Own = x._cached("rational", partial(cast("Callable[[Any], _Own]", make), x))
    return found


def _whole(name: str, found: _Own, row: Array) -> WorldBody:
    at = placed_at(row)
    side = Side(name, at_point((Fraction(0),) * 3), at)
    return WorldBody(
        name,
        Union(place_all(found.parts, at)),
        [side.placed(p) for p in found.pieces],
        [_solid(solid, at) for solid in found.solids],
        [place(hull, at) for hull in found.hulls],
        found.size,
        side.placed((Fraction(0),) * 3),
        found.doubts,
    )


def _solid(faces: ConvexSet, at: Placement) -> ClosedSurface:
    there = place(faces, at)
    points = there.terms[0].sets[0]
    return ClosedSurface([(points[k], points[k + 1], points[k + 2]) for k in range(0, len(points), 3)], there.scale)


# --- of each kind -----------------------------------------------------------------------------------------------------


def _point_in(part: ConvexSet) -> FractionVec:
    points = [points[0] for points in part.terms[0].sets]
    x, y, z = (Fraction(sum(p[k] for p in points), part.scale) for k in range(3))
    return x, y, z


def _of_shape(x: Shape) -> _Own:
    core = body_of(x)
    if core is None:
        unknown = f"a {type(x).__name__} is not given by numbers that the judge knows"
        return _Own([at_point((Fraction(0),) * 3)], [], [], [], 0.0, [unknown])
    return _Own([core], [_point_in(core)], [], [], float(np.abs(x.bounds).max()), [])


def _of_mesh(x: Mesh) -> _Own:
    corners = x.vertices[x.faces]
    first = np.unique(body_numbers(x._places, x.faces), return_index=True)[1]
    pieces = [fractions(corners[k, 0]) for k in first]
    solids, doubts = _solids_of(x)
    hulls = [hull for solid in solids for hull in _hulls_in(solid, x)]
    parts = hulls_of([fractions(p) for p in x.vertices], x.faces.tolist())
    return _Own(parts, pieces, solids, hulls, float(np.abs(corners).max()), doubts)


def _solids_of(x: TriangleSurface) -> tuple[list[ConvexSet], list[str]]:
    """Return the closed surface of a mesh whose inside counts, if it has one."""
    if not x.is_solid:
        return [], []
    skin = x.skin
    numbers: dict[bytes, int] = {}
    number = [numbers.setdefault(v.tobytes(), len(numbers)) for v in skin.vertices]
    faces = [(number[i], number[j], number[k]) for i, j, k in skin.faces.tolist()]
    some = [len({i, j, k}) == 3 for i, j, k in faces]
    if not is_closed([face for face, whole in zip(faces, some, strict=True) if whole]):
        return [], ["a mesh counts as closed, and its edges do not pair"]
    return [of_points(skin.vertices[skin.faces[np.array(some)]].reshape(-1, 3))], []


def _hulls_in(solid: ConvexSet, x: TriangleSurface) -> list[ConvexSet]:
    """Return the hull of a closed surface that is nearly convex, shrunk about its middle until no face cuts it.

    The surface goes round the middle and does not meet the interior of that, so it goes round all of it.
    """
    points = solid.terms[0].sets[0]
    vertices = sorted(set(points))
    if len(points) * len(vertices) > _MOST_COMPARED:
        return []
    middle, scale = fractions(np.asarray(x.hull().vertices).mean(axis=0)), solid.scale
    (center,), common = on_scale([middle], scale)
    up, share = common // scale, Fraction(1)
    own = [sub(stretched(p, up), center) for p in vertices]
    for k in range(0, len(points), 3):
        a, b, c = (sub(stretched(p, up), center) for p in points[k : k + 3])
        n = cross(sub(b, a), sub(c, a))
        if dot(n, a) < 0:
            n = negative(n)
        if any(n):
            share = min(share, Fraction(dot(n, a), max(max(dot(n, p) for p in own), 1)))
    shrunk = Fraction(float_below(share))
    if shrunk < 1 - _DENTED or not _solid(solid, _STANDING).holds(middle):
        return []
    return [of_points([[m + shrunk * Fraction(c, common) for m, c in zip(middle, p, strict=True)] for p in own])]


def _of_compound(x: Compound) -> _Own:
    whole = _Own([], [], [], [], 0.0, [])
    size = 0.0
    for thing, row in x._parts:
        own = _of_mesh(thing) if isinstance(thing, Mesh) else _of_shape(thing)
        at = placed_at(row)
        side = Side("a", at_point((Fraction(0),) * 3), at)
        whole.parts.extend(place(part, at) for part in own.parts)
        whole.pieces.extend(side.placed(p) for p in own.pieces)
        whole.solids.extend(place(solid, at) for solid in own.solids)
        whole.hulls.extend(place(hull, at) for hull in own.hulls)
        whole.doubts.extend(own.doubts)
        size = max(size, 2.0 * own.size + float(np.abs(row[9:12]).max()))
    return whole._replace(size=size)


def _of_cloud(x: PointCloud) -> _Own:
    radius = Fraction(x.radius)
    parts = [at_point(fractions(p))._replace(radius_low=radius, radius_high=radius) for p in x.points]
    size = float(np.abs(x.points).max()) + x.radius
    return _Own(parts, [fractions(p) for p in x.points], [], [], size, [])


def _of_voxels(x: VoxelGrid) -> _Own:
    origin, pitch = fractions(x.origin), Fraction(x.pitch)
    boxes = x._merged_cells()
    parts = [of_points(_corners(origin, pitch, box)) for box in boxes.tolist()]
    size = float(np.abs(x.origin).max()) + x.pitch * max(x.occupied.shape)
    covered = np.zeros(x.occupied.shape, dtype=bool)
    for i, j, k, a, b, c in boxes.tolist():
        covered[i:a, j:b, k:c] = True
    doubts = [] if np.array_equal(covered, x.occupied) else ["the boxes of cubes are not the cubes"]
    return _Own(parts, [_point_in(part) for part in parts], [], [], size, doubts)


def _corners(origin: FractionVec, pitch: Fraction, box: list[int]) -> Iterator[FractionVec]:
    for ends in product((0, 3), repeat=3):
        x, y, z = (o + pitch * box[axis + end] for axis, (o, end) in enumerate(zip(origin, ends, strict=True)))
        yield x, y, z


def _of_shell(x: Shell) -> _Own:
    own, radius = _of_mesh(x.mesh), Fraction(x.thickness) / 2
    parts = [part._replace(radius_low=radius, radius_high=radius) for part in own.parts]
    return own._replace(parts=parts, size=own.size + x.thickness)


def _of_heights(x: HeightField, bottom: float | None = None) -> _Own:
    """Return the columns down to a bottom, its own where none is given, and what goes round it."""
    (left, front), (dx, dy) = (tuple(map(Fraction, v.tolist())) for v in (x.origin, x._steps))
    nx, ny = x.heights.shape
    floor = Fraction(x.bottom if bottom is None else bottom)
    top = [
        (left + dx * i, front + dy * j, Fraction(z))
        for i, row in enumerate(x.heights.tolist())
        for j, z in enumerate(row)
    ]
    surface = x.surface().faces
    columns = surface[: 2 * (nx - 1) * (ny - 1)]
    parts = hulls_of([*top, *((u, v, floor) for u, v, _ in top)], np.hstack([columns, columns + len(top)]).tolist())
    size = max(float(np.abs(x.surface().vertices).max()), float(abs(floor)))
    if bottom is not None:
        return _Own(parts, [top[0]], [], [], size, [])
    low = [(top[k][0], top[k][1], floor) for k in rim_of(nx, ny).tolist()]
    middle = (top[0][0] + top[-1][0]) / 2, (top[0][1] + top[-1][1]) / 2, floor
    skin = of_points([([*top, *low, middle])[k] for k in surface.ravel().tolist()])
    return _Own(parts, [top[0]], [skin], [], size, [])


_OWN: dict[type, Callable[[Any], _Own]] = {
    Mesh: _of_mesh,
    Compound: _of_compound,
    PointCloud: _of_cloud,
    VoxelGrid: _of_voxels,
    HeightField: _of_heights,
    Shell: _of_shell,
}
