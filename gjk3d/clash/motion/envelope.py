"""Solids that contain the swept volume of a moving body: its hull, or a union of the hulls of slices.

The motion is divided into short steps. A slice contains the swept volume of a convex piece of the body in one step, so
a gap between pieces can remain free. Computing the union of the slices takes most of the computing time. Steps between
equal poses share one slice.

A body is cut into convex pieces along the planes of its faces. A dent has a reflex edge, and the plane of a face
at this edge cuts the dent (Chazelle 1984, "Convex partitions of polyhedra: a lower bound and worst-case optimal
algorithm").
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
from gjk3d.bodies.solids import arrays_of, available, solid
from gjk3d.clash.detection.assembly import Assembly, check_assembly
from gjk3d.clash.detection.findings import matcher
from gjk3d.clash.detection.parts import AssemblyPart
from gjk3d.clash.motion.files import movement_of
from gjk3d.clash.motion.movement import Movement, Track, measured, motion_of, pauses, solved
from gjk3d.errors import ParseError, ShapeError
from gjk3d.narrow.toi import REFERENCE, TURN, WAY
from gjk3d.shapes.polytopes import ConvexHull
from gjk3d.typing import Array
from gjk3d.wording import count, expected_names

_BEND = 5e-4  #: the largest deviation of a point from a straight line in a step, relative to the size of the part
_STEPS = 4096  #: the largest number of steps of a steady motion
_COINCIDENT = 1e-7  #: points within this distance, relative to the largest coordinate, count as equal
_ROUNDING = 1e-6  #: the rounding error of unions of manifold3d relative to the largest coordinate
_PIECES = 64  #: the largest number of convex pieces of a part
_HULLS = 1024  #: the largest number of slices of a part
_CUBE = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=np.float64)


class Slice(NamedTuple):
    """Points (k, 3) whose hull, grown by the length ``grown``, contains a piece of a part between two times."""

    points: Array
    grown: float

    @property
    def corners(self) -> Array:
        """Points (8 k, 3) whose hull contains the grown hull."""
        return (self.points[:, None] + self.grown * _CUBE).reshape(-1, 3)


def swept(
    assembly: Assembly,
    motion: Movement | str | os.PathLike[str],
    body: str,
    form: Literal["slices", "hull"] = "slices",
) -> Assembly:
    """Return the static parts, with the swept volume of a moving body as an additional part.

    The swept volume contains the body in all its poses. Parts are cut into convex pieces, so a headed bolt that moves
    along its axis needs no space around its shank. Dents are filled in parts that are not closed, in parts with more
    than 64 pieces (fewer for tracks with many poses), and if ``form`` is "hull". A slice is the hull of a
    piece at two successive poses. It is grown by the largest deviation of a point from a straight line between the
    poses, by the error of the track, and by rounding. A note states this length. The deviation is at most a
    two-thousandth of the size of the part, if the motion needs no more than 4096 steps. Other moving parts are left
    out. The result can be checked like any assembly, and `gjk3d.clash.formats.to_glb` saves it with its findings.

    Parameters
    ----------
    assembly : Assembly
        The parts.
    motion : Movement or path
        The motion of the parts.
    body : str
        The pattern of the names of the parts of the body, exactly as in the motion.
    form : {"slices", "hull"}
        "slices" is the union of the slices of all pieces, which needs manifold3d. "hull" is the hull of all slices.

    Raises
    ------
    ParseError
        If no moving body has this pattern.
    ShapeError
        If the form is unknown, or manifold3d is missing.

    Notes
    -----
    The deviation is that of `gjk3d.Swept`. If a body rotates by w in a step, a point at the distance rho from the axis
    is within |w|^2 rho / 8 of a straight line. A part with more than 1024 slices has coarser slices of several steps.

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
        raise ShapeError(
            "swept: manifold3d, which computes the union of the slices, is missing."
            " Run pip install \"gjk3d[clash]\", or use form='hull'."
        )
    movement = movement_of(motion, assembly.unit)
    meshes = {part.name: part.mesh for part in assembly.parts if part.mesh is not None}
    boxes = {name: mesh.bounds for name, mesh in meshes.items()}
    tracks = movement.place([part.name for part in assembly.parts], boxes, assembly.unit)
    if body not in movement.bodies:
        raise ParseError(f"swept: {body!r} is not a moving body, {expected_names(body, movement.bodies)}")
    fits = matcher(body)
    members = [name for name in meshes if fits(name)]
    most = 1 if form == "hull" else _PIECES
    cut = {name: _pieces(meshes[name], tracks[name], most) for name in members}
    slices = [piece for name in members for piece in _slices(cut[name], tracks[name], _size(meshes[name]))]
    if not slices:
        raise ParseError(
            f"swept: no part of {body!r} could be loaded, expected at least one. See the notes of the assembly."
        )
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
        f" are grown by {grown:.3g} at most and contain the whole motion",
        *measured(solved(moving, size), size, assembly.unit),
        *pauses(moving, movement.times, movement.unit),
    ]
    return replace(
        assembly, parts=tuple(sorted([*still, part], key=lambda part: part.name)), notes=(*assembly.notes, *notes)
    )


def _size(mesh: Mesh) -> float:
    return float(np.linalg.norm(np.ptp(mesh.bounds, axis=0)))


def _pieces(mesh: Mesh, track: Track, most: int) -> list[Array]:
    """Return the vertices of convex pieces that together contain a mesh. A mesh that cannot be cut is one piece."""
    points = mesh.hull().points
    if most > 1:
        most = min(most, _HULLS // len(_steps(points, track, _BEND * _size(mesh))))
    body = solid(mesh) if most > 1 and not len(mesh._mended.hanging) else None
    return [points] if body is None else convex_pieces(body, most)


def _slices(pieces: list[Array], track: Track, size: float) -> Iterator[Slice]:
    """Yield the slices of the pieces of a part of size ``size``.

    A part with more than `_HULLS` slices has slices of several steps.
    """
    for points in pieces:
        steps = _steps(points, track, _BEND * size)
        few = -(-len(steps) * len(pieces) // _HULLS)
        for k in range(0, len(steps), few):
            places, grown = zip(*steps[k : k + few], strict=True)
            yield Slice(np.concatenate(places), max(grown))


def _steps(points: Array, track: Track, bend: float) -> list[Slice]:
    """Return the slices of a piece with the vertices ``points`` on a track, one for each step.

    The deviation in a step is at most ``bend``, unless a steady motion needs more than `_STEPS` steps. A step with the
    poses of an earlier step is left out.
    """
    middle = points.mean(axis=0)
    rho = np.array([float(np.linalg.norm(points - middle, axis=1).max())])
    first = track.pose(track.times[0])
    resolution = _COINCIDENT * float(np.abs(points @ first[:3, :3].T + first[:3, 3]).max())
    slices: dict[frozenset[bytes], Slice] = {}
    for row in track.rows:
        motion, turn = motion_of(row), float(np.linalg.norm(row[TURN:REFERENCE]))
        # the share of a motion that contains all its poses is less than 1 for a rotation of several turns
        share = min(1.0, 2.0 * np.pi / turn) if turn > 0.0 and not row[WAY:TURN].any() else 1.0
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


def _hull(slices: list[Slice]) -> tuple[Array, Any]:
    points = ConvexHull(np.concatenate([piece.points for piece in slices])).points
    surface = ConvexHull(Slice(points, max(piece.grown for piece in slices)).corners).surface()
    return surface.vertices, surface.faces


def _united(slices: list[Slice]) -> tuple[Array, Any]:
    import manifold3d

    # the hulls of manifold3d 3.5 lack vertices if many points are on one plane
    hulls = [ConvexHull(piece.corners).surface() for piece in slices]
    solids = [manifold3d.Manifold(manifold3d.Mesh64(np.array(v), np.array(f, dtype=np.uint64))) for v, f in hulls]
    return arrays_of(manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add))


_DENT = 1e-4  #: dents up to this share of the volume of the hull are filled
_FLAT = 1e-6  #: an edge is reflex if its second face rises above the plane of its first face by this share of the size
_BEFORE = 1e-2 * _FLAT  #: the cut is this share of the size above the plane, so the piece above it lacks the face


def convex_pieces(solid: Any, most: int) -> list[Array]:
    """Return the vertices, (k, 3), of pieces whose hulls together contain a solid of manifold3d.

    The worst dents are cut first, until the number of pieces is about ``most``. The remaining dents are filled.
    """
    least = _DENT * solid.hull().volume()
    convex: list[Any] = []
    todo: list[tuple[float, int, Any]] = []
    numbers = itertools.count()  # avoids the comparison of solids for equal dents

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
    return [arrays_of(piece)[0] for piece in [*convex, *(item[2] for item in todo)]]


def _cut(piece: Any) -> list[Any]:
    plane = _plane(piece)
    if plane is None:
        return [piece]
    return [
        component for half in piece.split_by_plane(*plane) for component in half.decompose() if not component.is_empty()
    ]


def _plane(piece: Any) -> tuple[Array, float] | None:
    """Return the normal and offset of the face plane whose reflex edges are longest in total.

    The result is None for a piece without reflex edges.
    """
    points, faces = arrays_of(piece)
    size = float(np.ptp(points, axis=0).max())
    normals = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    lengths = np.linalg.norm(normals, axis=1)
    normals /= np.maximum(lengths, 1e-300)[:, None]
    offsets = np.einsum("ij,ij->i", normals, points[faces[:, 0]])
    # a closed solid has each edge once in each direction, from the two faces of the edge
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
