"""Bounding volumes round shapes, rounded outward: one or a stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gjk3d.convex.checks import no_shape
from gjk3d.errors import ShapeError
from gjk3d.geometry.graph import cell_directions
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.poses import matrices, pose_rows
from gjk3d.query.volumes import AABB, OBB, BoundingSphere
from gjk3d.shapes import layout
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.box import Box
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.measure import minimal_ball
from gjk3d.shapes.sphere import Sphere
from gjk3d.typing import Array, PoseLike

_GRID = 32  #: of the directions that a ball is fitted by


def bounding_sphere(shape: Shape | Sequence[Shape], pose: PoseLike | None = None) -> BoundingSphere:
    """Return a ball round the shape: the least one for primitives and hulls, nearly so for composed shapes.

    Parameters
    ----------
    shape : Shape or list of n shapes
    pose : (4, 4) float or (n, 4, 4) float, optional
        Where the shape is; a stack gives a stack, and n shapes take n poses or none.

    Returns
    -------
    BoundingSphere

    Raises
    ------
    UnboundedShapeError
        Of a half-space.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.bounding_sphere(gk.Box((2, 2, 1)))
    BoundingSphere(center=[0., 0., 0.], radius=1.5)
    """
    volume: BoundingSphere = _each(shape, pose, "bounding_sphere", _ball)
    return volume


def aabb(shape: Shape | Sequence[Shape], pose: PoseLike | None = None) -> AABB:
    """Return the box along the world's axes round the shape at a pose; see `bounding_sphere` for the arguments.

    It is fitted to the shape at that pose, so it is smaller than a box that was turned along.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.aabb(gk.Box((2, 4, 6)))
    AABB(low=[-1., -2., -3.], high=[1., 2., 3.])
    """
    volume: AABB = _each(shape, pose, "aabb", _along_axes)
    return volume


def obb(shape: Shape | Sequence[Shape], pose: PoseLike | None = None) -> OBB:
    """Return an oriented box round the shape; see `bounding_sphere` for the arguments.

    For primitives their own box. For hulls no larger than any that lies flush with one of its faces, or than the best
    of many with a side parallel to two of its edges, see `gjk3d.shapes.measure.oriented_box`; for composed shapes the
    best of a few. The true smallest may be a little smaller.

    Examples
    --------
    >>> import gjk3d as gk
    >>> corners = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
    >>> gk.obb(gk.Tetrahedron(corners)).extents.round(6).tolist()
    [2.0, 2.0, 2.0]
    """
    volume: OBB = _each(shape, pose, "obb", _oriented)
    return volume


def _each(shape: Any, pose: Any, name: str, fit: Callable[[Shape, Any], Any]) -> Any:
    """Fit one shape at one pose or many, or many shapes at one each."""
    if isinstance(shape, (list, tuple)):
        if not shape:
            raise ShapeError(f"{name}: the list of shapes is empty, expected at least one")
        at = pose_rows(pose)[0]
        if len(at) not in (1, len(shape)):
            raise ShapeError(f"{name}: {len(at)} poses for {len(shape)} shapes, expected none, one, or one each")
        where = [None if pose is None else at[k % len(at)][None] for k in range(len(shape))]
        fits = [_checked(one, f"shape[{k}]", fit, where[k]) for k, one in enumerate(shape)]
        return type(fits[0])(*(np.concatenate(column) for column in zip(*(f._stacked() for f in fits), strict=True)))
    if pose is None:
        return _checked(shape, "shape", fit, None)[0]
    at, stacked = pose_rows(pose)
    volumes = _checked(shape, "shape", fit, at)
    return volumes if stacked else volumes[0]


def _checked(shape: Any, name: str, fit: Callable[[Shape, Any], Any], at: Array | None) -> Any:
    if not isinstance(shape, Shape):
        raise no_shape(name, shape)
    if isinstance(shape, Halfspace):
        shape._ball()  # raises
    return fit(shape, at)


def _reach(shape: Shape) -> tuple[float, float]:
    """Return how far the shape reaches from the origin, and how far the kernels' core may be off."""
    floats = shape._packed[1]
    center = floats[layout.CENTER : layout.CENTER + 3]
    reach = float(np.linalg.norm(center)) + float(floats[layout.RHO] + floats[layout.RADIUS])
    return reach, float(floats[layout.SLACK]) + 32.0 * _U * reach


def _ball(shape: Shape, at: Array | None) -> BoundingSphere:
    center, radius = shape._ball()
    if type(shape)._ball is Shape._ball:
        center, radius = _round(shape, center, radius)
    if not isinstance(shape, Sphere):
        radius = radius * (1.0 + 8.0 * _U) + 8.0 * _U * float(np.linalg.norm(center))
        radius += 0.0 if isinstance(shape, Polytope) else float(shape._packed[1][layout.SLACK])
    ball = BoundingSphere(center[None], [radius])
    return ball if at is None else ball[np.zeros(len(at), dtype=np.int64)]._placed(at)


def _round(shape: Shape, center: Array, radius: float) -> tuple[Array, float]:
    """Return a smaller ball, from support points along directions that are nowhere farther apart than an angle.

    The farthest point x is seen from the centre c along (x - c) / |x - c|; one of the directions is within the angle
    of it, and there the shape is at least |x - c| cos(angle) high.
    """
    directions = cell_directions(_GRID)
    directions = directions / np.linalg.norm(directions, axis=1)[:, None]
    cosine = 1.0 / np.sqrt(1.0 + 2.0 / _GRID**2)  # from the middle of a cell to its corner; least on a face's middle
    points = shape.support(directions)
    middle = minimal_ball(points)[0]
    high = float((np.einsum("ij,ij->i", points, directions) - directions @ middle).max())
    fuzz = _reach(shape)[1]
    found = (high + fuzz + 8.0 * _U * float(np.linalg.norm(middle))) / cosine * (1.0 + 8.0 * _U)
    return (middle, found) if found < radius else (center, radius)


def _along_axes(shape: Shape, at: Array | None) -> AABB:
    if at is None and isinstance(shape, Polytope):
        return AABB(shape.vertices.min(axis=0)[None], shape.vertices.max(axis=0)[None])
    if at is None and isinstance(shape, Sphere):
        return AABB(np.full((1, 3), -shape.radius), np.full((1, 3), shape.radius))
    at = pose_rows(None)[0] if at is None else at
    # row i of R is the world's axis i in the shape's frame
    axes = at[:, :9].reshape(-1, 3)
    high = np.einsum("ij,ij->i", shape.support(axes), axes).reshape(-1, 3)
    low = np.einsum("ij,ij->i", shape.support(-axes), axes).reshape(-1, 3)
    shift = at[:, 9:12]
    fuzz = _reach(shape)[1] + 4.0 * _U * np.abs(shift)
    return AABB(low + shift - fuzz, high + shift + fuzz)


def _oriented(shape: Shape, at: Array | None) -> OBB:
    pose, extents = shape._box()
    if not isinstance(shape, (Box, Sphere)):
        row = pose_rows(pose)[0]
        axes = row[0, :9].reshape(3, 3)
        high = np.einsum("ij,ji->i", shape.support(axes.T), axes)
        low = np.einsum("ij,ji->i", shape.support(-axes.T), axes)
        reach, fuzz = _reach(shape)
        pose = matrices(row)[0]
        pose[:3, 3] = axes @ (0.5 * (high + low))
        extents = high - low + 2.0 * (fuzz + (16.0 * _U + 2.0 * row[0, 12]) * reach)
    box = OBB(pose[None], extents[None])
    return box if at is None else box[np.zeros(len(at), dtype=np.int64)]._placed(at)
