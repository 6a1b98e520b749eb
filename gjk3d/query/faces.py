"""Queries on the faces of meshes: intersecting faces, the intersection curve, and the nearest faces."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from gjk3d.bodies.body_pair import BodyPair, MeshPair
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.part_tree import in_order
from gjk3d.bodies.parts import Triangles
from gjk3d.errors import ShapeError
from gjk3d.geometry.polygon import connected
from gjk3d.poses import moved, relative
from gjk3d.query.pair import prepare_query
from gjk3d.typing import Array, Ints, OnePose


def polylines(segments: Array, tolerance: float) -> list[Array]:
    """Return polylines (k, 3), longest first, made of the segments (n, 2, 3) whose ends coincide within the tolerance.

    A closed polyline ends at its first point. At a point where three or more segments meet, all their polylines end.
    """
    if not len(segments):
        return []
    place, points = _places(segments.reshape(-1, 3), tolerance)
    ends = place.reshape(-1, 2)
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    segments_at: dict[int, list[int]] = {}
    for k, (i, j) in enumerate(ends.tolist()):
        segments_at.setdefault(i, []).append(k)
        segments_at.setdefault(j, []).append(k)
    used = np.zeros(len(ends), dtype=bool)
    lines = []
    # lines with ends first; the remaining segments form rings
    for start in [*(i for i in segments_at if len(segments_at[i]) != 2), *segments_at]:
        for k in segments_at[start]:
            if not used[k]:
                lines.append(points[_follow(start, k, ends, segments_at, used)])
    return sorted(lines, key=lambda line: -float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()))


def _follow(start: int, k: int, ends: Ints, segments_at: dict[int, list[int]], used: Array) -> list[int]:
    """Return the points of a polyline that starts with segment k, up to a junction, an end, or the first point."""
    line = [start]
    while True:
        used[k] = True
        i, j = ends[k].tolist()
        line.append(j if line[-1] == i else i)
        if line[-1] == start or len(segments_at[line[-1]]) != 2:
            return line
        k = next(n for n in segments_at[line[-1]] if n != k)


def _places(points: Array, tolerance: float) -> tuple[Ints, Array]:
    """Return the cluster of each point, and a point of each cluster."""
    from scipy.spatial import cKDTree

    near = cKDTree(points).query_pairs(tolerance, output_type="ndarray")
    place = connected(near[:, 0], near[:, 1], len(points))
    _, first = np.unique(place, return_index=True)
    return place, points[first]


def meeting_faces(a: Any, b: Any, pose_a: OnePose = None, pose_b: OnePose = None) -> Ints:
    """Return the pairs of faces of two meshes that touch or cross, or the faces of a mesh that a shape touches.

    Parameters
    ----------
    a, b : Mesh or Shape
        At least one of them a mesh.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.

    Returns
    -------
    (k, 2) int
        Rows of a face of A and a face of B, in ascending order. The index is 0 for a shape that is not a mesh.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        For invalid input: no mesh among the two, an invalid pose, a stack of poses, or meshes in two units.

    Notes
    -----
    Pairs that may touch within rounding are included, so no touching pair is missed. Degenerate faces count as segments
    or points.

    Examples
    --------
    >>> import gjk3d as gk
    >>> flat = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1, 2)])
    >>> upright = gk.Mesh([(0.5, 0.5, -1), (0.5, 0.5, 1), (0.5, 3, 0)], [(0, 1, 2)])
    >>> gk.meeting_faces(flat, upright).tolist()
    [[0, 0]]
    """
    pair, swapped, _ = _ordered_pair(a, b, pose_a, pose_b)
    faces = _faces_of(pair, pair.meeting(), 0)[:, :: -1 if swapped else 1]
    return faces[np.lexsort((faces[:, 1], faces[:, 0]))]


@overload
def intersection_curve(
    a: Mesh, b: Mesh, pose_a: OnePose = None, pose_b: OnePose = None, *, join: Literal[False] = False
) -> Array: ...
@overload
def intersection_curve(
    a: Mesh, b: Mesh, pose_a: OnePose = None, pose_b: OnePose = None, *, join: bool
) -> Array | list[Array]: ...
def intersection_curve(
    a: Mesh, b: Mesh, pose_a: OnePose = None, pose_b: OnePose = None, *, join: bool = False
) -> Array | list[Array]:
    """Return the intersection of the surfaces of two meshes as segments.

    Parameters
    ----------
    a, b : Mesh
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.
    join : bool
        Return polylines instead.

    Returns
    -------
    (k, 2, 3) float, or list of (n, 3) float
        The two ends of each segment, in world axes. Coplanar faces do not give a segment. With ``join`` the longest
        polyline is first, and a closed polyline ends at its first point.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        As `meeting_faces`, and if one of the arguments is not a mesh.

    Examples
    --------
    >>> import gjk3d as gk
    >>> flat = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1, 2)])
    >>> upright = gk.Mesh([(0.5, 0.5, -1), (0.5, 0.5, 1), (0.5, 3, 0)], [(0, 1, 2)])
    >>> gk.intersection_curve(flat, upright).tolist()
    [[[0.5, 1.5, 0.0], [0.5, 0.5, 0.0]]]
    """
    pair, _, row = _ordered_pair(a, b, pose_a, pose_b, "curve")
    placed = moved(row, pair.cut())
    if not join:
        return placed
    # both faces of an edge compute its intersection with a face, with different rounding
    return polylines(placed, 1e4 * pair.error)


def nearest_faces(a: Any, b: Any, pose_a: OnePose = None, pose_b: OnePose = None) -> tuple[int, int]:
    """Return the faces with the nearest points of two meshes, or a pair of intersecting faces if there is one.

    Parameters
    ----------
    a, b : Mesh or Shape
        At least one of them a mesh.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.

    Returns
    -------
    (int, int)
        A face of A and a face of B. The index is -1 for a shape that is not a mesh.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        As `meeting_faces`.

    Examples
    --------
    >>> import gjk3d as gk
    >>> strip = gk.Mesh([(0, 0, 0), (2, 0, 0), (0, 1, 0), (2, 1, 0)], [(0, 1, 2), (1, 3, 2)])
    >>> gk.nearest_faces(strip, gk.Sphere(0.5), None, [(1, 0, 0, 3), (0, 1, 0, 1), (0, 0, 1, 0), (0, 0, 0, 1)])
    (1, -1)
    """
    pair, swapped, _ = _ordered_pair(a, b, pose_a, pose_b)
    touching = pair.meeting(0.0, 64) if isinstance(pair, MeshPair) else pair.meeting()
    parts = touching[:1] if len(touching) else np.array([pair.nearest().parts])
    i, j = _faces_of(pair, parts, -1)[0].tolist()
    return (j, i) if swapped else (i, j)


def _ordered_pair(a: Any, b: Any, pose_a: Any, pose_b: Any, query: str = "faces") -> tuple[Any, bool, Array]:
    """Return the pair in the order of the kernels, whether it is swapped, and the pose row of its first shape."""
    pair_of, rows = prepare_query(query, a, b, pose_a, pose_b)
    if rows.stacked:
        raise ShapeError(
            "the poses are a stack, but this query takes one pair of poses. Pass single poses, for example pose_a[0]"
        )
    swapped = not in_order(a, b, rows.a[0], rows.b[0])
    if swapped:
        a, b, rows = b, a, rows.swapped()
    return pair_of(a, b, relative(rows.a[0], rows.b[0])), swapped, rows.a[0]


def _faces_of(pair: BodyPair, parts: Ints, shape_index: int) -> Ints:
    """Return the faces of pairs of parts, (k, 2), with ``shape_index`` for a shape that is not a mesh."""
    faces = [
        side.tree.order[parts[:, k]]
        if isinstance(side, Triangles)
        else np.full(len(parts), shape_index, dtype=np.int64)
        for k, side in enumerate((pair.a, pair.b))
    ]
    return np.column_stack(faces)
