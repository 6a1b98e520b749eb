"""Bounding volumes of shapes, rounded outward: one volume or a stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from gjk3d.convex.batch import NO_POSE
from gjk3d.engine.dispatch import Collider, find_single, kind_of
from gjk3d.errors import ShapeError
from gjk3d.geometry.points import cell_directions
from gjk3d.poses import IDENTITY, WIDTH, is_plain, matrices, pose_rows
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.query.volumes import AABB, OBB, BoundingSphere, boxes_along_axes
from gjk3d.shapes import layout
from gjk3d.shapes.base import Kind, Polytope, Shape
from gjk3d.shapes.curved import Sphere
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.measure import minimal_ball
from gjk3d.shapes.polytopes import Box
from gjk3d.typing import Array, PoseLike
from gjk3d.wording import count

_ROW, _SHAPES = (1, WIDTH), Kind.SHAPES
_GRID = 32  #: cells per edge of the cube of directions that fit a ball


def bounding_sphere(shape: Collider | Sequence[Collider], pose: PoseLike | None = None) -> BoundingSphere:
    """Return the smallest bounding sphere in the world. For composed shapes a slightly smaller sphere may exist.

    Parameters
    ----------
    shape : Shape, Mesh or the like, or a list of n of them
        For a non-convex body the sphere contains its convex hull.
    pose : (4, 4) float or (n, 4, 4) float, optional
        World from local; None is the identity. A stack of poses gives a stack of spheres. A list of n shapes takes n
        poses, one pose or none.

    Returns
    -------
    BoundingSphere

    Raises
    ------
    UnboundedShapeError
        For a half-space, a plane, and a height field without a bottom.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.bounding_sphere(gk.Box((2, 2, 1)))
    BoundingSphere(center=[0., 0., 0.], radius=1.5)
    """
    volume: BoundingSphere = _fit_all(shape, pose, _BALL)
    return volume


def aabb(shape: Collider | Sequence[Collider], pose: PoseLike | None = None) -> AABB:
    """Return the axis-aligned bounding box of the shape in the world; see `bounding_sphere` for the arguments.

    The box is fitted to the shape at its pose. It is often smaller than the bounding box of a rotated local box.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.aabb(gk.Box((2, 4, 6)))
    AABB(low=[-1., -2., -3.], high=[1., 2., 3.])
    """
    volume: AABB = _fit_all(shape, pose, _ALONG_AXES)
    return volume


def obb(shape: Collider | Sequence[Collider], pose: PoseLike | None = None) -> OBB:
    """Return an oriented bounding box in the world; see `bounding_sphere` for the arguments.

    Primitives have their own box. The box of a hull is the smallest of two sets: all boxes that are flush with a face,
    and many boxes with a side parallel to two edges, see `gjk3d.shapes.measure.oriented_box`. The box of a composed
    shape is the smallest of a few boxes. The true smallest box may be a little smaller.

    Examples
    --------
    >>> import gjk3d as gk
    >>> corners = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
    >>> gk.obb(gk.Tetrahedron(corners)).extents.round(6).tolist()
    [2.0, 2.0, 2.0]
    """
    volume: OBB = _fit_all(shape, pose, _ORIENTED)
    return volume


def _fit_all(shape: Any, pose: Any, fit: _Fit) -> Any:
    kind = kind_of(shape)
    if kind or not isinstance(shape, (list, tuple)):
        convex = shape if kind & _SHAPES else _convex(shape, "shape")
        if pose is None:
            return fit.local(convex)
        if is_plain(pose):  # the kernel checks the matrix; `pose_rows` raises the error if it is not a pose
            volume = fit.moved(convex, pose, np.empty(_ROW), True)
            if volume is not None:
                return volume
        at, stacked = pose_rows(pose)
        return fit.moved(convex, NO_POSE, at, not stacked)
    if not shape:
        raise ShapeError(f"{fit.name}: the list of shapes is empty, expected at least one shape")
    at = pose_rows(pose)[0]
    if len(at) not in (1, len(shape)):
        counts = f"{count(len(at), 'pose')} for {count(len(shape), 'shape')}"
        raise ShapeError(f"{fit.name}: {counts}, expected one pose, or one pose for each shape")
    fits = []
    for k, item in enumerate(shape):
        convex = _convex(item, f"shape[{k}]")
        where = at[k % len(at)][None]
        fits.append((fit.local(convex) if pose is None else fit.moved(convex, NO_POSE, where, True))._stacked())
    return fit.kind(*(np.concatenate(column) for column in zip(*fits, strict=True)))


def _convex(x: Any, name: str) -> Any:
    """Return ``x`` if it is convex, otherwise a convex shape that contains the body ``x``."""
    hull_of = find_single("hull", x, name)
    return x if hull_of is None else hull_of(x)


def _reach(shape: Shape) -> tuple[float, float]:
    """Return bounds of the distance of the shape's points from its origin, and of the rounding error of its core."""
    floats = shape._packed[1]
    center = floats[layout.CENTER : layout.CENTER + 3]
    reach = float(np.linalg.norm(center)) + float(floats[layout.RHO] + floats[layout.RADIUS])
    return reach, float(floats[layout.SLACK]) + 32.0 * _U * reach


def _ball(shape: Shape) -> BoundingSphere:
    center, radius = shape._ball()
    if type(shape)._ball is Shape._ball:
        center, radius = _fitted_ball(shape, center, radius)
    if not isinstance(shape, Sphere):
        radius = radius * (1.0 + 8.0 * _U) + 8.0 * _U * float(np.linalg.norm(center))
        radius += 0.0 if isinstance(shape, Polytope) else float(shape._packed[1][layout.SLACK])
    return BoundingSphere(center, radius)


def _fitted_ball(shape: Shape, center: Array, radius: float) -> tuple[Array, float]:
    """Return the centre and radius of a ball fitted to support points, or the given ball if that is smaller.

    The directions of the support points go through the middles of the cells of a grid on a cube. Let x be the point of
    the shape that is farthest from the centre c. The angle between x - c and the nearest of these directions is at most
    the angle between the middle and a corner of a cell. Along this direction the
    height of the shape above c is at least |x - c| cos(angle). The greatest height, divided by the cosine, bounds
    |x - c|.
    """
    directions = cell_directions(_GRID)
    directions = directions / np.linalg.norm(directions, axis=1)[:, None]
    cosine = 1.0 / np.sqrt(1.0 + 2.0 / _GRID**2)  # from the middle of a cell to its corner; least on a face's middle
    points = shape.support(directions)
    middle = minimal_ball(points)[0]
    height = float((np.einsum("ij,ij->i", points, directions) - directions @ middle).max())
    fuzz = _reach(shape)[1]
    # each term covers the rounding of its operands, so the ball contains even a farthest point at a corner of a cell
    fitted = (height + fuzz + 8.0 * _U * float(np.linalg.norm(middle))) / cosine * (1.0 + 8.0 * _U)
    return (middle, fitted) if fitted < radius else (center, radius)


def _along_axes(shape: Shape) -> AABB:
    if isinstance(shape, Polytope):
        return AABB(shape.vertices.min(axis=0), shape.vertices.max(axis=0))
    if isinstance(shape, Sphere):
        return AABB(np.full(3, -shape.radius), np.full(3, shape.radius))
    box: AABB = _moved_along_axes(shape, NO_POSE, IDENTITY, True)
    return box


def _moved_along_axes(shape: Shape, matrix: Array, rows: Array, single: bool) -> Any:
    """Return the axis-aligned box of a shape at a pose ``matrix``, or its boxes at pose ``rows``.

    Returns None if the matrix is not a pose. ``single`` selects one box instead of a stack.
    """
    packed = shape._cache.get("packed")
    if packed is None:
        if shape._kind & Kind.PLANES:
            raise cast("Halfspace", shape)._unbounded("an axis-aligned box")
        packed = shape._packed
    out = np.empty((len(rows), 6))
    wrong = boxes_along_axes(packed[0], packed[1], matrix, rows, out)
    if wrong == 0 and single:
        return AABB._of(out)
    return None if wrong > 0 else AABB(out[:, :3], out[:, 3:])[0 if single else slice(None)]


def _oriented(shape: Shape) -> OBB:
    pose, extents = shape._box()
    if not isinstance(shape, (Box, Sphere)):
        row = pose_rows(pose)[0]
        axes = row[0, :9].reshape(3, 3)
        high = np.einsum("ij,ji->i", shape.support(axes.T), axes)
        low = np.einsum("ij,ji->i", shape.support(-axes.T), axes)
        reach, fuzz = _reach(shape)
        pose = matrices(row)[0]
        pose[:3, 3] = axes @ (0.5 * (high + low))
        # `fuzz` covers the support points, the rest covers the heights, the middle and axes that are not orthonormal
        extents = high - low + 2.0 * (fuzz + (16.0 * _U + 2.0 * row[0, 12]) * reach)
    return OBB(pose, extents)


class _Fit(NamedTuple):
    """Functions that fit a volume to a shape, in the shape's frame and at poses.

    ``fit_at`` accepts one pose as a matrix or many poses as rows. It returns None for a matrix that is not a pose.
    Without ``fit_at`` the volume is fitted in the shape's frame and then moved to the poses.
    """

    name: str
    kind: Any
    fit: Callable[[Shape], Any]
    fit_at: Callable[[Shape, Array, Array, bool], Any] | None = None

    def local(self, shape: Shape) -> Any:
        return shape._cached(self.name, lambda: self.fit(shape))

    def moved(self, shape: Shape, matrix: Array, rows: Array, single: bool) -> Any:
        """Return the volume in the world, at a pose ``matrix`` or at pose rows; None if the matrix is not a pose."""
        fit_at = self.fit_at
        return fit_at(shape, matrix, rows, single) if fit_at else self.local(shape)._moved(matrix, rows, single)


_BALL = _Fit("bounding_sphere", BoundingSphere, _ball)
_ALONG_AXES = _Fit("aabb", AABB, _along_axes, _moved_along_axes)
_ORIENTED = _Fit("obb", OBB, _oriented)
