"""How deep two things overlap, one a mesh, between bounds that hold.

No way is known to compute the depth of two meshes in acceptable time, so it is enclosed. From above: every translation
after which the two are apart, tried and found free, is as deep as they can be; that of their hulls always is. From
below: a point of one that lies inside the other must leave the ball that reaches from it to the other's surface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from gjk3d.bodies import surfaces
from gjk3d.bodies.mesh import Mesh
from gjk3d.convex.solve import signed
from gjk3d.shapes.base import Shape
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.shapes.simplices import Point
from gjk3d.typing import Array, Ints

_SAMPLES = 256  #: vertices that are looked at for the bound from below
_LOOKED_AT = 4096  #: pairs of meeting faces that directions and a common point are taken from
_WAYS = 12  #: directions tried for the bound from above
_HALVINGS = 10


class Depth(NamedTuple):
    """At least and at most how deep; moving b by ``most`` along ``normal``, in a's frame, frees it."""

    least: float
    most: float
    normal: Array
    place: Array  #: a point where they overlap, in a's frame


def depth(a: Mesh, b: Mesh | Shape, m: Array) -> Depth:
    """Return bounds of the depth of two that meet."""
    error = surfaces.noise(a, b, m)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = m[:9].reshape(3, 3), m[9:]
    outer: Shape = b.hull() if isinstance(b, Mesh) else b
    hulls = signed(a.hull(), outer, pose)[0]
    most, normal = max(-float(hulls[1]), 0.0) + error, hulls[3:6].copy()
    slack = a.convex_slack + (b.convex_slack if isinstance(b, Mesh) else 0.0) + 2.0 * error
    least, place = _innermost(a, b, m, error)
    if slack < 1e-6 * most:  # both convex, as they mostly are: the hulls' depth is theirs
        least = max(least, -float(hulls[2]) - slack)
    else:
        most, normal = shortest(partial(_free, a, b, m), _ways(a, b, m, normal), most, normal, error)
    if place is None:
        place = 0.5 * (hulls[6:9] + hulls[9:12])
        if isinstance(b, Mesh) and len(segments := surfaces.cut(a, b, m, _LOOKED_AT)):
            place = segments.mean(axis=(0, 1))
    return Depth(min(least, most), most, normal, place)


def _free(a: Mesh, b: Mesh | Shape, m: Array, shift: Array) -> bool:
    moved = m.copy()
    moved[9:] += shift
    return not surfaces.meet(a, b, moved) and surfaces.one_in_other(a, b, moved) == 0


def shortest(
    free: Callable[[Array], bool], ways: Iterable[Array], most: float, normal: Array, error: float
) -> tuple[float, Array]:
    """Try shorter and shorter translations along unit vectors; return the shortest that was found free."""
    for way in ways:
        low, high = 0.0, most
        # a touch needs next to nothing
        for t in (4.0 * error, 1e-6 * most, 1e-3 * most):
            if t < high and free(t * way):
                high = t
                break
            low = min(t, high)
        for _ in range(_HALVINGS):
            if high - low <= 1e-3 * high:
                break
            t = 0.5 * (low + high)
            if free(t * way):
                high = t
            elif high == most and t > 0.9 * most:
                break
            else:
                low = t
        if high < most:
            most, normal = high, way
    return most + error, normal


def _ways(a: Mesh, b: Mesh | Shape, m: Array, normal: Array) -> Iterator[Array]:
    """Return directions to move b along: that of the hulls, and those that the faces that meet look to."""
    candidates = [normal]
    faces = surfaces.meeting_faces(a, b, m, _LOOKED_AT)
    if len(faces):
        some = faces[np.unique(np.linspace(0, len(faces) - 1, 16).astype(int))]
        out_a = _normals(a, some[:, 0])
        mean = _normals(a, faces[:, 0]).mean(axis=0)
        if isinstance(b, Mesh):
            turn = m[:9].reshape(3, 3)
            out_b = _normals(b, some[:, 1]) @ turn.T
            mean = mean - _normals(b, faces[:, 1]).mean(axis=0) @ turn.T
            candidates += [mean, *np.stack([out_a, -out_b], axis=1).reshape(-1, 3)]
        else:
            candidates += [mean, *out_a]
    yield from distinct(candidates, _WAYS)


def distinct(candidates: Iterable[Array], count: int) -> Iterator[Array]:
    """Yield at most so many of the directions as unit vectors, without zeros and what is almost another one."""
    tried: list[Array] = []
    for way in candidates:
        length = float(np.linalg.norm(way))
        if length > 1e-9 and all(float(way @ other) < 0.99 * length for other in tried):
            tried.append(way / length)
            yield tried[-1]
        if len(tried) >= count:
            return


def _normals(mesh: Mesh, faces: Ints) -> Array:
    v = mesh.vertices[mesh.wound[faces]]
    n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
    length = np.linalg.norm(n, axis=1, keepdims=True)
    units: Array = np.divide(n, length, out=np.zeros_like(n), where=length > 0.0)
    return units


def _innermost(a: Mesh, b: Mesh | Shape, m: Array, error: float) -> tuple[float, Array | None]:
    """Return how deep the deepest of some points of one lies in the other, and that point."""
    turn, shift = m[:9].reshape(3, 3), m[9:]
    best: tuple[float, Array | None] = (0.0, None)
    if isinstance(b, Mesh):
        own_b = _drawn(b.vertices[np.unique(b.faces)])
        if b.is_solid:
            best = _deepest(b, (_drawn(a.vertices[np.unique(a.faces)]) - shift) @ turn, error)
            if best[1] is not None:
                best = best[0], turn @ best[1] + shift
    else:
        own_b = b.support(_directions())
        points = _drawn(a.vertices[np.unique(a.faces)])
        poses = np.tile(np.eye(4), (len(points), 1, 1))
        poses[:, :3, 3] = (points - shift) @ turn
        upper = signed(b, Point((0.0, 0.0, 0.0)), poses)[:, 2]
        k = int(np.argmin(upper))
        if upper[k] < -error:
            best = float(-upper[k]) - error, points[k]
    if a.is_solid:
        other = _deepest(a, own_b @ turn.T + shift, error)
        if other[0] > best[0]:
            best = other
    return best


def _deepest(mesh: Mesh, points: Array, error: float) -> tuple[float, Array | None]:
    low, high = mesh.bounds
    points = np.ascontiguousarray(points[((points >= low) & (points <= high)).all(axis=1)])
    points = np.ascontiguousarray(points[surfaces.holds(mesh, points)])
    if not len(points):
        return 0.0, None
    far = surfaces.from_points(mesh, points)[0]
    k = int(np.argmax(far))
    return max(0.0, float(far[k]) - error), points[k]


def _drawn(points: Array) -> Array:
    """Return at most so many of the points, spread over them all."""
    if len(points) <= _SAMPLES:
        return points
    some: Array = points[np.linspace(0, len(points) - 1, _SAMPLES).astype(int)]
    return some


def _directions() -> Array:
    grid = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)])
    return grid.astype(np.float64)


def hull_of(x: Mesh | Shape) -> Shape:
    """Return what is convex about it."""
    hull: ConvexHull | Shape = x.hull() if isinstance(x, Mesh) else x
    return hull
