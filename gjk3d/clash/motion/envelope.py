"""The space that a moving body sweeps, as a solid that contains all of its motion: its hull, or united hulls of slices.

A slice is that of a convex piece of the body, so a gap that the body goes around stays free. The union takes nearly
all of the time, and more where slices overlap: a place that is passed again is swept once.

A body is cut into convex pieces along the planes of its faces. A dent has an edge at which two faces meet that see
each other, a reflex edge; the plane of either face cuts the dent off (Chazelle 1984, "Convex partitions of polyhedra:
a lower bound and worst-case optimal algorithm").
"""

from __future__ import annotations

import heapq
import itertools
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.pieces import available, solid
from gjk3d.clash.detection.assembly import Assembly, check_assembly
from gjk3d.clash.detection.parts import AssemblyPart
from gjk3d.clash.detection.rules import matcher
from gjk3d.clash.motion.files import movement_of
from gjk3d.clash.motion.movement import Movement
from gjk3d.clash.motion.track import Track, measured, motion_of, pauses, solved
from gjk3d.errors import ParseError, ShapeError
from gjk3d.narrow.motion import REFERENCE, TURN, WAY
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array
from gjk3d.wording import count

_BEND = 5e-4  #: of the size of a part: how far its points may bend off straight lines in a step
_STEPS = 4096  #: of one steady motion; on longer ones they bend farther off
_COINCIDENT = 1e-7  #: of the reach at first: places no farther apart are one
_ROUNDING = 1e-6  #: of the reach of the whole: unions of manifold3d are rounded
_PIECES = 64  #: of a part
_HULLS = 1024  #: of a part: on a way of many steps it has fewer pieces, and then slices of several steps each
_CUBE = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=np.float64)


class Slice(NamedTuple):
    """Points whose hull, grown by so much, holds a part from one time to another."""

    points: Array
    grown: float

    @property
    def corners(self) -> Array:
        """Points whose hull is that, grown."""
        return (self.points[:, None] + self.grown * _CUBE).reshape(-1, 3)


def swept(
    assembly: Assembly,
    motion: Movement | str | os.PathLike[str],
    body: str,
    form: Literal["slices", "hull"] = "slices",
) -> Assembly:
    """Return the parts that stand still, and with them the space that a moving body needs, as one more part.

    The body's part of the result holds every place that its parts pass at any time. In slices, parts are cut into
    convex pieces, so a headed bolt that goes along its axis needs no room beside its shank. Dents are filled of what
    is not closed, of what would take more than 64 pieces (fewer on ways of many poses), and of the hull. Between two
    poses the hull of a piece at both is grown by how far any point can bend off the straight line between them, by
    what the track may be wrong by, and by rounding; the notes say how much that is. Poses are so near each other that
    the bend is a two-thousandth of the part's size, on ways that take no more than 4096 for that. What is passed again
    is swept once. Other parts that move are left out. Check the result as any assembly; `gjk3d.clash.formats.to_glb`
    saves the report of that, the space with it.

    Parameters
    ----------
    assembly : Assembly
        The parts.
    motion : Movement or path
        How they move.
    body : str
        The pattern of what is swept, as the motion names it.
    form : {"slices", "hull"}
        The union of the slices of all pieces, which needs manifold3d, or the hull of it all.

    Raises
    ------
    ParseError
        Nothing that moves has that pattern.
    ShapeError
        The form is another, or manifold3d is missing.

    Notes
    -----
    The bend is that of `gjk3d.Swept`: a body that turns by w on its way lies within |w|^2 rho / 8 of straight lines,
    rho from its axis. A part of more than 1024 slices has them coarser, each the hull of several steps.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {"arm": gk.Mesh(*cube[:2]), "post": gk.Mesh(cube.vertices + (3, 0, 0), cube.faces)}
    >>> slide = gk.clash.Movement({"arm": gk.Motion.translation(None, (2.5, 0, 0))})
    >>> space = gk.clash.swept(gk.clash.Assembly.of(parts, "mm"), slide, "arm", "hull")
    >>> [part.name for part in space.parts]
    ['arm, swept', 'post']
    >>> round(gk.clash.check(space).clashes[0].depth, 5)
    0.5
    """
    check_assembly(assembly, "swept")
    if form not in ("slices", "hull"):
        raise ShapeError(f"swept: form is {form!r}, expected 'slices' or 'hull'")
    if form == "slices" and not available():
        raise ShapeError('swept: slices are united by manifold3d: pip install "gjk3d[clash]", or ask for the hull')
    movement = movement_of(motion, assembly.unit)
    meshes = {part.name: part.mesh for part in assembly.parts if part.mesh is not None}
    boxes = {name: mesh.bounds for name, mesh in meshes.items()}
    tracks = movement.place([part.name for part in assembly.parts], boxes, assembly.unit)
    if body not in movement.bodies:
        raise ParseError(f"swept: nothing that moves is called {body!r}; there are {', '.join(movement.bodies)}")
    fits = matcher(body)
    members = [name for name in meshes if fits(name)]
    most = 1 if form == "hull" else _PIECES
    cut = {name: _pieces(meshes[name], tracks[name], most) for name in members}
    slices = [piece for name in members for piece in _slices(cut[name], tracks[name], _size(meshes[name]))]
    if not slices:
        raise ParseError(f"swept: no part of {body!r} could be loaded")
    vertices, faces = _hull(slices) if form == "hull" else _united(slices)
    grown = max(piece.grown for piece in slices)
    name = f"{body}, swept"
    facets = max(part.facets for part in assembly.parts if part.name in members)
    part = AssemblyPart(name, "", Mesh._of(vertices, faces, name=name, unit=assembly.unit), facets=facets)
    still = [part for part in assembly.parts if part.name not in tracks]
    size = float(np.linalg.norm(np.ptp([mesh.bounds for mesh in meshes.values()], axis=(0, 1))))
    moving = {name: tracks[name] for name in members}
    notes = [
        *movement.notes,
        f"{name}: the hulls of {count(len(slices), 'slice')} of {count(sum(map(len, cut.values())), 'piece')}"
        f" hold all of the motion, grown by {grown:.3g} at most",
        *measured(solved(moving, size), size, assembly.unit),
        *pauses(moving, movement.times, movement.unit),
    ]
    return replace(
        assembly, parts=tuple(sorted([*still, part], key=lambda part: part.name)), notes=(*assembly.notes, *notes)
    )


def _size(mesh: Mesh) -> float:
    return float(np.linalg.norm(np.ptp(mesh.bounds, axis=0)))


def _pieces(mesh: Mesh, track: Track, most: int) -> list[Array]:
    """Return corners of at most so many convex pieces that hold a mesh, or of its hull where it cannot be cut."""
    points = mesh.hull().points
    if most > 1:
        most = min(most, _HULLS // len(_steps(points, track, _BEND * _size(mesh))))
    body = solid(mesh) if most > 1 and not len(mesh._mended.hanging) else None
    return [points] if body is None else convex_pieces(body, most)


def _slices(pieces: list[Array], track: Track, size: float) -> Iterator[Slice]:
    """Yield slices of the pieces of a part of a size, about as many as may be: where more, of several steps each."""
    for points in pieces:
        steps = _steps(points, track, _BEND * size)
        few = -(-len(steps) * len(pieces) // _HULLS)
        for k in range(0, len(steps), few):
            places, grown = zip(*steps[k : k + few], strict=True)
            yield Slice(np.concatenate(places), max(grown))


def _steps(points: Array, track: Track, bend: float) -> list[Slice]:
    """Return all of the way in steps, on each of which points bend off straight lines by no more, if these are few.

    One that has the ends of an earlier one lies in that, grown as the ends are apart.
    """
    middle = points.mean(axis=0)
    rho = np.array([float(np.linalg.norm(points - middle, axis=1).max())])
    first = track.pose(track.times[0])
    resolution = _COINCIDENT * float(np.abs(points @ first[:3, :3].T + first[:3, 3]).max())
    slices: dict[frozenset[bytes], Slice] = {}
    for row in track.rows:
        motion, share = motion_of(row), _share_of_turn(row)
        bend_of_all = share * share * float(motion._bend(middle[None], rho)[0]) / 8.0
        parts = min(_STEPS, max(1, int(np.ceil(np.sqrt(bend_of_all / bend)))))
        poses = motion.at(np.linspace(0.0, share, parts + 1))
        places = np.einsum("kij,pj->kpi", poses[:, :3, :3], points) + poses[:, None, :3, 3]
        grown = bend_of_all / parts**2 + track.slack + resolution + _ROUNDING * float(np.abs(places).max())
        keys = [place.tobytes() for place in np.round(places / resolution) + 0.0]
        for k in range(parts):
            ends = frozenset(keys[k : k + 2])
            if ends not in slices or slices[ends].grown < grown:
                slices[ends] = Slice(places[k : k + 2].reshape(-1, 3), grown)
    return list(slices.values())


def _share_of_turn(row: Array) -> float:
    """Return in what share of a motion every place of it is passed: about an axis that stands still, in a full turn."""
    turn = float(np.linalg.norm(row[TURN:REFERENCE]))
    return min(1.0, 2.0 * np.pi / turn) if turn > 0.0 and not row[WAY:TURN].any() else 1.0


def _hull(slices: list[Slice]) -> tuple[Array, Any]:
    points = ConvexHull(np.concatenate([piece.points for piece in slices])).points
    surface = ConvexHull(Slice(points, max(piece.grown for piece in slices)).corners).surface()
    return surface.vertices, surface.faces


def _united(slices: list[Slice]) -> tuple[Array, Any]:
    import manifold3d

    # manifold3d 3.5 leaves corners of a hull out where many points are on one plane
    hulls = [ConvexHull(piece.corners).surface() for piece in slices]
    solids = [manifold3d.Manifold(manifold3d.Mesh64(np.array(v), np.array(f, dtype=np.uint64))) for v, f in hulls]
    surface = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add).to_mesh64()
    return np.array(surface.vert_properties[:, :3], dtype=np.float64), np.array(surface.tri_verts, dtype=np.int64)


_DENT = 1e-4  #: of the volume of the whole: what is filled of a piece without being cut
_FLAT = 1e-6  #: of the size: farther in front of a face's plane the next face rises from it
_BEFORE = 1e-2 * _FLAT  #: of the size: so far in front it is cut, for the part in front would keep the face itself


def convex_pieces(solid: Any, most: int) -> list[Array]:
    """Return corners of pieces, (k, 3) each, whose hulls together hold a solid of manifold3d.

    The worst dents are cut first, until there are about as many pieces as may be: what is left of dents is filled.
    """
    least = _DENT * solid.hull().volume()
    convex: list[Any] = []
    todo: list[tuple[float, int, Any]] = []
    numbers = itertools.count()  # so that of equal dents no solids are compared

    def add(piece: Any) -> None:
        dent = piece.hull().volume() - piece.volume()
        if dent > least:
            heapq.heappush(todo, (-dent, next(numbers), piece))
        else:
            convex.append(piece)

    for component in solid.decompose():
        add(component)
    while todo and len(todo) + len(convex) < most:
        _, _, piece = heapq.heappop(todo)
        halves = _cut(piece)
        if len(halves) > 1:
            for half in halves:
                add(half)
        else:
            convex.append(piece)
    return [np.array(piece.to_mesh64().vert_properties[:, :3]) for piece in [*convex, *(item[2] for item in todo)]]


def _cut(piece: Any) -> list[Any]:
    """Return what a piece becomes by its best cut; itself alone where none parts it."""
    plane = _plane(piece)
    if plane is None:
        return [piece]
    return [
        component for half in piece.split_by_plane(*plane) for component in half.decompose() if not component.is_empty()
    ]


def _plane(piece: Any) -> tuple[Array, float] | None:
    """Return the plane of faces, normal and offset, that has the longest reflex edges in all; None without one."""
    raw = piece.to_mesh64()
    points, faces = np.array(raw.vert_properties[:, :3]), np.array(raw.tri_verts, dtype=np.int64)
    size = float(np.ptp(points, axis=0).max())
    normals = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    lengths = np.linalg.norm(normals, axis=1)
    normals /= np.maximum(lengths, 1e-300)[:, None]
    offsets = np.einsum("ij,ij->i", normals, points[faces[:, 0]])
    # each edge from both of its faces: a closed solid has it once in either direction
    begin, end, third = faces.ravel(), np.roll(faces, -1, axis=1).ravel(), np.roll(faces, -2, axis=1).ravel()
    edges, twins = np.argsort(begin * len(points) + end), np.argsort(end * len(points) + begin)
    face = edges // 3
    rises = np.einsum("ij,ij->i", normals[face], points[third[twins]]) - offsets[face]
    reflex = (rises > _FLAT * size) & (lengths[face] > _FLAT * size * size)
    if not reflex.any():
        return None
    face, edge = face[reflex], edges[reflex]
    planes = np.column_stack([normals[face], offsets[face] / size])
    _, first, which = np.unique(np.round(planes, 6), axis=0, return_index=True, return_inverse=True)
    long = np.bincount(which.ravel(), weights=np.linalg.norm(points[end[edge]] - points[begin[edge]], axis=1))
    best = face[first[int(np.argmax(long))]]
    return normals[best], float(offsets[best]) + _BEFORE * size
