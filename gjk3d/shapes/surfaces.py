"""Closed triangle meshes of the shapes, wound outward, with every vertex on the true surface."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gjk3d.errors import ShapeError
from gjk3d.geometry.hulls import build_hull
from gjk3d.typing import Array, Ints


class Surface(NamedTuple):
    """A triangle mesh in plain arrays.

    Attributes
    ----------
    vertices : (n, 3) float
        Points in the frame and the unit of the shape or body.
    faces : (m, 3) int
        Triangles as indices of vertices, counter-clockwise seen from outside.
    """

    vertices: Array
    faces: Ints


FINEST = 4096  #: segments of a full turn, at most, to limit memory


def sphere(radius: float, resolution: int = 32) -> Surface:
    """Return the mesh of a sphere about the origin.

    Parameters
    ----------
    radius : float
        Radius.
    resolution : int
        Segments of a full turn.
    """
    return ellipsoid((radius, radius, radius), resolution)


def ellipsoid(radii: ArrayLike, resolution: int = 32) -> Surface:
    """Return the mesh of an ellipsoid about the origin, by circles of latitude."""
    vertices, faces = _revolve(_half_circle(resolution), resolution)
    return Surface(vertices * np.asarray(radii, dtype=np.float64), faces)


def capsule(radius: float, height: float, resolution: int = 32) -> Surface:
    """Return the mesh of a capsule along z with its cap centres ``height`` apart."""
    _check(resolution)
    profile = _half_circle(resolution if resolution % 4 == 0 else resolution + 4 - resolution % 4) * radius
    if height > 0.0:
        middle = len(profile) // 2  # a point of the equator, which becomes two
        profile = np.concatenate([profile[: middle + 1], profile[middle:]])
        profile[: middle + 1, 1] -= height / 2
        profile[middle + 1 :, 1] += height / 2
    return _revolve(profile, resolution)


def cylinder(radius: float, height: float, resolution: int = 32) -> Surface:
    """Return the mesh of a cylinder along z, centred at the origin."""
    z = height / 2
    rims = [[radius, -z], [radius, z]] if height > 0.0 else [[radius, 0.0]]
    return _revolve(np.array([[0.0, -z], *rims, [0.0, z]]), resolution)


def cone(radius: float, height: float, resolution: int = 32) -> Surface:
    """Return the mesh of a cone along z, with its base at ``-height / 2`` and its apex at ``height / 2``."""
    z = height / 2
    return _revolve(np.array([[0.0, -z], [radius, -z], [0.0, z]]), resolution)


def box(extents: ArrayLike) -> Surface:
    """Return the mesh of a box about the origin: 8 vertices, 12 triangles."""
    half = 0.5 * np.asarray(extents, dtype=np.float64)
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return Surface(corners * half, _split(quads))


def from_support(support: Callable[[Array], Array], resolution: int = 32) -> Surface:
    """Return the mesh of any bounded convex shape: the hull of its support points.

    The first directions are the vertices of a sphere of this resolution. The normals of the resulting faces are the
    next directions, as long as the new support points are farther outside than the error of the sphere's faces. A flat
    shape gives its polygon on both sides. A segment or a point gives vertices and an empty array of faces.

    Parameters
    ----------
    support : callable
        A function of (n, 3) directions that returns the (n, 3) farthest points along them.
    resolution : int
        Segments of a full turn.
    """
    directions = np.concatenate([np.eye(3), -np.eye(3), sphere(1.0, resolution).vertices])
    points = np.ascontiguousarray(support(directions), dtype=np.float64)
    hull = build_hull(points)
    chord = 0.5 * (1.0 - np.cos(np.pi / resolution))
    for _ in range(6):
        triangles = hull.vertices[hull.faces]
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        lengths = np.linalg.norm(normals, axis=1)
        flat = ~(lengths > 0.0)
        normals[~flat] /= lengths[~flat, None]
        normals[flat] = (0.0, 0.0, 1.0)
        if not len(normals):
            break
        extremes = np.asarray(support(normals), dtype=np.float64)
        excess = np.einsum("ij,ij->i", extremes - triangles[:, 0], normals)
        farther = excess > chord * float(np.ptp(hull.vertices, axis=0).max())
        if not farther.any():
            break
        hull = build_hull(np.concatenate([hull.vertices, extremes[farther]]))
    return Surface(hull.vertices, hull.faces)


def _half_circle(resolution: int) -> Array:
    """Return points (rho, z) of a unit half circle from the south pole to the north pole, mirrored bit for bit."""
    _check(resolution)
    count = max(2, (resolution + 1) // 2)
    angle = np.pi * (np.arange(count + 1) / count - 0.5)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points[[0, -1], 0] = 0.0
    return np.asarray(0.5 * (points + points[::-1] * (1.0, -1.0)))


def _check(resolution: int) -> None:
    if not isinstance(resolution, Integral):
        raise ShapeError(f"resolution is {resolution!r}, expected a whole number of segments for a full turn")
    if resolution < 3:
        raise ShapeError(f"resolution is {resolution}, expected at least 3 segments for a full turn")
    if resolution > FINEST:
        raise ShapeError(
            f"resolution is {resolution}, expected at most {FINEST} segments for a full turn, or 16 million "
            "triangles of a sphere"
        )


def _revolve(profile: Array, resolution: int) -> Surface:
    """Return the surface of revolution of a profile (rho, z) whose first and last points are on the z axis."""
    _check(resolution)
    turn = 2.0 * np.pi * np.arange(resolution) / resolution
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    inner = profile[1:-1]
    rings = np.empty((len(inner), resolution, 3))
    rings[:, :, :2] = inner[:, None, :1] * circle
    rings[:, :, 2] = inner[:, None, 1]
    poles = [(0.0, 0.0, profile[0, 1]), (0.0, 0.0, profile[-1, 1])]
    vertices = np.concatenate([rings.reshape(-1, 3), poles])
    south = len(vertices) - 2
    column = np.arange(resolution)
    next_column = (column + 1) % resolution
    last = (len(inner) - 1) * resolution
    faces = [
        np.stack([np.full(resolution, south), next_column, column], axis=1),
        np.stack([np.full(resolution, south + 1), last + column, last + next_column], axis=1),
    ]
    for start in range(0, last, resolution):
        up = start + resolution
        faces.append(_split(np.stack([start + column, start + next_column, up + next_column, up + column], axis=1)))
    return Surface(vertices, np.concatenate(faces).astype(np.int64))


def _split(quads: Ints) -> Ints:
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int64)
