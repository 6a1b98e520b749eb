"""Bodies in rational numbers: their parts as exact convex sets, built from the original data of a body.

Coordinates of the kernels are not used. A mesh is its original faces, and a grid is the boxes of its cubes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.compound import Compound, PointCloud, Shell
from gjk3d.bodies.grids import HeightField, VoxelGrid, rim_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.topology import body_numbers
from gjk3d.errors import UnsupportedPair
from gjk3d.exact.arithmetic import FractionVec, cross, dot, float_below, fractions, negative, stretched, sub
from gjk3d.exact.convex_sets import Body as ConvexSet
from gjk3d.exact.convex_sets import Placement, Side, at_point, body_of, hulls_of, of_points, place, place_all
from gjk3d.exact.convex_sets import placement as placed_at
from gjk3d.exact.cuts import ClosedSurface, Union, WorldBody, is_closed, on_scale
from gjk3d.exact.judge import Verdict
from gjk3d.exact.unions import judge_beside, judge_unions
from gjk3d.poses import IDENTITY
from gjk3d.shapes.base import Kind, Shape
from gjk3d.typing import Array
from gjk3d.wording import kind_of

_DENTED = Fraction(1, 10**6)  #: greatest relative difference in size between a nearly convex mesh and its hull
_MOST_COMPARED = 2_000_000  #: greatest number of corners times vertices for a test of convexity
_IDENTITY = placed_at(IDENTITY[0])


class _RationalBody(NamedTuple):
    """A body in rational numbers, in its own frame."""

    parts: list[ConvexSet]
    pieces: list[FractionVec]  #: a point of each connected piece
    solids: list[ConvexSet]  #: closed surfaces, each as one set with three vertices per face
    hulls: list[ConvexSet]  #: a convex set inside each nearly convex solid that fills nearly all of the solid
    size: float  #: greatest coordinate
    doubts: list[str]  #: reasons why the body may differ from the original


def whole_of(name: str, x: Body | Shape, row: Array) -> WorldBody:
    """Return an object in rational numbers at a pose row.

    Raises
    ------
    UnsupportedPair
        The object is unbounded, or its class is not supported.
    """
    return _placed_whole(name, _rational_body(name, x), row)


def judge_pair(a: Any, b: Any, rows: list[Array], result: Any, flaws: list[str]) -> Verdict:
    """Return the verdict on a result for two objects other than half-spaces."""
    return judge_unions(result, *wholes_of(result, (a, b), rows), flaws)


def judge_on_plane(a: Any, b: Any, rows: list[Array], result: Any, flaws: list[str]) -> Verdict:
    """Return the verdict on a result for a body and a half-space or plane, in either order."""
    body, plane = (0, 1) if b._kind & Kind.PLANES else (1, 0)
    whole = whole_of("ab"[body], (a, b)[body], rows[body])
    return judge_beside(result, whole, (a, b)[plane], placed_at(rows[plane]), flaws)


def wholes_of(result: Any, things: tuple[Any, Any], rows: list[Array]) -> tuple[WorldBody, WorldBody]:
    """Return the two objects of a result in rational numbers, see `whole_of`. Half-spaces are not supported.

    An unbounded height field is cut off at a bottom. The bottom is so low that the other object is above it before and
    after the separating translation. Distance and depth are then equal to those of the whole field.
    """
    endless = [x._kind == Kind.ENDLESS for x in things]
    bodies = [None if none else _rational_body(name, x) for name, x, none in zip("ab", things, endless, strict=True)]
    # a finite column that reaches below everything gives the same distance and depth as an unbounded one
    for k, partner in enumerate(reversed(bodies)):
        if bodies[k] is None and partner is not None:
            far = float(np.linalg.norm(rows[0][9:12] - rows[1][9:12])) + partner.size + abs(float(result.lower))
            bodies[k] = _of_heights(things[k], float(-4.0 * far - 2.0 * np.abs(things[k].heights).max()))
    body_a, body_b = bodies
    assert body_a is not None
    assert body_b is not None
    return _placed_whole("a", body_a, rows[0]), _placed_whole("b", body_b, rows[1])


def _rational_body(name: str, x: Body | Shape) -> _RationalBody:
    if x._kind == Kind.ENDLESS:
        raise UnsupportedPair(
            f"{name} is a HeightField that is unbounded below. Give it a bottom, HeightField(..., bottom=z)"
        )
    make = _of_shape if x._kind & Kind.BOUNDED else _BUILDERS.get(type(x))
    if make is None:
        raise UnsupportedPair(
            f"{name} is {kind_of(x)}, which cannot be verified against a non-convex body. Use a large gjk3d.Box, or a "
            "gjk3d.Mesh of the surface"
        )
    return x._cached("rational", partial(cast("Callable[[Any], _RationalBody]", make), x))


def _placed_whole(name: str, body: _RationalBody, row: Array) -> WorldBody:
    at = placed_at(row)
    side = Side(name, at_point((Fraction(0),) * 3), at)
    return WorldBody(
        name,
        Union(place_all(body.parts, at)),
        [side.placed(p) for p in body.pieces],
        [_solid(solid, at) for solid in body.solids],
        [place(hull, at) for hull in body.hulls],
        body.size,
        side.placed((Fraction(0),) * 3),
        body.doubts,
    )


def _solid(faces: ConvexSet, at: Placement) -> ClosedSurface:
    surface = place(faces, at)
    points = surface.terms[0].sets[0]
    return ClosedSurface([(points[k], points[k + 1], points[k + 2]) for k in range(0, len(points), 3)], surface.scale)


# --- kinds of bodies --------------------------------------------------------------------------------------------------


def _point_in(part: ConvexSet) -> FractionVec:
    points = [points[0] for points in part.terms[0].sets]
    x, y, z = (Fraction(sum(p[k] for p in points), part.scale) for k in range(3))
    return x, y, z


def _of_shape(x: Shape) -> _RationalBody:
    core = body_of(x)
    if core is None:
        unknown = f"the exact form of a {type(x).__name__} is not known"
        return _RationalBody([at_point((Fraction(0),) * 3)], [], [], [], 0.0, [unknown])
    return _RationalBody([core], [_point_in(core)], [], [], float(np.abs(x.bounds).max()), [])


def _of_mesh(x: Mesh) -> _RationalBody:
    corners = x.vertices[x.faces]
    first = np.unique(body_numbers(x._places, x.faces), return_index=True)[1]
    pieces = [fractions(corners[k, 0]) for k in first]
    solids, doubts = _solids_of(x)
    hulls = [hull for solid in solids for hull in _hulls_in(solid, x)]
    parts = hulls_of([fractions(p) for p in x.vertices], x.faces.tolist())
    return _RationalBody(parts, pieces, solids, hulls, float(np.abs(corners).max()), doubts)


def _solids_of(x: Mesh) -> tuple[list[ConvexSet], list[str]]:
    """Return the closed surface of a solid mesh as a list of at most one item, and a list of doubts about it."""
    if not x.is_solid:
        return [], []
    skin = x.skin
    numbers: dict[bytes, int] = {}
    number = [numbers.setdefault(v.tobytes(), len(numbers)) for v in skin.vertices]
    faces = [(number[i], number[j], number[k]) for i, j, k in skin.faces.tolist()]
    some = [len({i, j, k}) == 3 for i, j, k in faces]
    if not is_closed([face for face, proper in zip(faces, some, strict=True) if proper]):
        return [], ["a mesh is closed, but its edges are not paired"]
    return [of_points(skin.vertices[skin.faces[np.array(some)]].reshape(-1, 3))], []


def _hulls_in(solid: ConvexSet, x: Mesh) -> list[ConvexSet]:
    """Return the shrunk hull of a nearly convex closed surface as a list of one item, otherwise an empty list.

    The hull is shrunk about its centre until no face of the surface cuts it. The surface encloses the centre and does
    not intersect the interior of the shrunk hull, so the surface encloses the shrunk hull.
    """
    points = solid.terms[0].sets[0]
    vertices = sorted(set(points))
    if len(points) * len(vertices) > _MOST_COMPARED:
        return []
    middle, scale = fractions(np.asarray(x.hull().vertices).mean(axis=0)), solid.scale
    (center,), common = on_scale([middle], scale)
    up, share = common // scale, Fraction(1)
    local = [sub(stretched(p, up), center) for p in vertices]
    for k in range(0, len(points), 3):
        a, b, c = (sub(stretched(p, up), center) for p in points[k : k + 3])
        n = cross(sub(b, a), sub(c, a))
        if dot(n, a) < 0:
            n = negative(n)
        if any(n):
            share = min(share, Fraction(dot(n, a), max(max(dot(n, p) for p in local), 1)))
    shrunk = Fraction(float_below(share))
    if shrunk < 1 - _DENTED or not _solid(solid, _IDENTITY).holds(middle):
        return []
    return [of_points([[m + shrunk * Fraction(c, common) for m, c in zip(middle, p, strict=True)] for p in local])]


def _of_compound(x: Compound) -> _RationalBody:
    total = _RationalBody([], [], [], [], 0.0, [])
    size = 0.0
    for thing, row in x._parts:
        make: Any = _of_mesh if thing._kind == Kind.MESH else _of_shape
        part_body = make(thing)
        at = placed_at(row)
        side = Side("a", at_point((Fraction(0),) * 3), at)
        total.parts.extend(place(part, at) for part in part_body.parts)
        total.pieces.extend(side.placed(p) for p in part_body.pieces)
        total.solids.extend(place(solid, at) for solid in part_body.solids)
        total.hulls.extend(place(hull, at) for hull in part_body.hulls)
        total.doubts.extend(part_body.doubts)
        size = max(size, 2.0 * part_body.size + float(np.abs(row[9:12]).max()))
    return total._replace(size=size)


def _of_cloud(x: PointCloud) -> _RationalBody:
    radius = Fraction(x.radius)
    parts = [at_point(fractions(p))._replace(radius_low=radius, radius_high=radius) for p in x.points]
    size = float(np.abs(x.points).max()) + x.radius
    return _RationalBody(parts, [fractions(p) for p in x.points], [], [], size, [])


def _of_voxels(x: VoxelGrid) -> _RationalBody:
    origin, pitch = fractions(x.origin), Fraction(x.pitch)
    boxes = x._merged_cells()
    parts = [of_points(_corners(origin, pitch, box)) for box in boxes.tolist()]
    size = float(np.abs(x.origin).max()) + x.pitch * max(x.occupied.shape)
    covered = np.zeros(x.occupied.shape, dtype=bool)
    for i, j, k, a, b, c in boxes.tolist():
        covered[i:a, j:b, k:c] = True
    doubts = [] if np.array_equal(covered, x.occupied) else ["the boxes do not cover the cubes exactly"]
    return _RationalBody(parts, [_point_in(part) for part in parts], [], [], size, doubts)


def _corners(origin: FractionVec, pitch: Fraction, box: list[int]) -> Iterator[FractionVec]:
    for ends in product((0, 3), repeat=3):
        x, y, z = (o + pitch * box[axis + end] for axis, (o, end) in enumerate(zip(origin, ends, strict=True)))
        yield x, y, z


def _of_shell(x: Shell) -> _RationalBody:
    mesh_body, radius = _of_mesh(x.mesh), Fraction(x.thickness) / 2
    parts = [part._replace(radius_low=radius, radius_high=radius) for part in mesh_body.parts]
    return mesh_body._replace(parts=parts, size=mesh_body.size + x.thickness)


def _of_heights(x: HeightField, bottom: float | None = None) -> _RationalBody:
    """Return the columns of a height field down to a bottom, by default that of the field.

    The closed surface around the columns is included only for the default bottom.
    """
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
        return _RationalBody(parts, [top[0]], [], [], size, [])
    low = [(top[k][0], top[k][1], floor) for k in rim_of(nx, ny).tolist()]
    middle = (top[0][0] + top[-1][0]) / 2, (top[0][1] + top[-1][1]) / 2, floor
    skin = of_points([([*top, *low, middle])[k] for k in surface.ravel().tolist()])
    return _RationalBody(parts, [top[0]], [skin], [], size, [])


_BUILDERS: dict[type, Callable[[Any], _RationalBody]] = {
    Mesh: _of_mesh,
    Compound: _of_compound,
    PointCloud: _of_cloud,
    VoxelGrid: _of_voxels,
    HeightField: _of_heights,
    Shell: _of_shell,
}
