"""How far the surfaces of two shapes lie inside each other: where an overlap is worst."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d.convex.checks import is_finite
from gjk3d.errors import ShapeError
from gjk3d.query.batch import prepare_query
from gjk3d.query.dispatch import Collider
from gjk3d.query.distance import signed_distance
from gjk3d.typing import Array, OnePose
from gjk3d.wording import told

_FINEST = 1e-4


class Penetration(NamedTuple):
    """Answer of `penetration`.

    Attributes
    ----------
    depth : float
        How far the deepest point known lies inside, in the caller's unit; 0 where none does.
    lower, upper : float
        Bounds that hold: no point of either surface lies deeper inside than ``upper``, and one lies ``lower`` deep.
    normal : (3,) float or None
        Unit vector in world axes along which B takes that point, or what holds it, out by the nearest way; from A to B
        as in `Distance`. None where no point lies inside.
    point_a, point_b : (3,) float or None
        Where that is, in world axes: a point of one surface, inside the other, and the nearest point of the other's;
        ``point_b - point_a == -depth * normal``.

    Notes
    -----
    Of two that are proven apart ``upper`` is 0.

    Bodies of one mesh, or parts of one compound, that overlap are one set of points: what lies inside another of them
    is no surface. Where manifold3d is missing that is not decided. Then the bounds are wider: ``upper`` is the depth
    that `signed_distance` proves.

    Examples
    --------
    >>> import gjk3d as gk
    >>> found = gk.penetration(gk.Box((2, 2, 2)), gk.Point((0.75, 0, 0)))
    >>> found
    Penetration: 0.25 along (1, 0, 0)
    >>> found.lower <= 0.25 <= found.upper, found.point_a.tolist(), found.point_b.tolist()
    (True, [1.0, 0.0, 0.0], [0.75, 0.0, 0.0])
    """

    depth: float
    lower: float
    upper: float
    normal: Array | None
    point_a: Array | None
    point_b: Array | None

    def __bool__(self) -> bool:
        raise TypeError("a Penetration is neither true nor false: ask gjk3d.collide, or look at .depth")

    def __repr__(self) -> str:
        if self.normal is None:
            return f"Penetration: none, at most {self.upper:.3g}" if self.upper else "Penetration: none"
        x, y, z = self.normal + 0.0
        return f"Penetration: {told(self.lower, self.upper, 9)} along ({x:.4g}, {y:.4g}, {z:.4g})"


def penetration(
    a: Collider, b: Collider, pose_a: OnePose = None, pose_b: OnePose = None, *, tol: float = 1e-2
) -> Penetration:
    """Return how far one surface lies inside the other at most: how much material is in the way, where it is worst.

    It is the greatest distance of a point of either surface, inside the other, from the other's surface. A bolt that
    cuts 0.1 into the wall of its hole has 0.1 here, whether or not a small move frees it: how far B must move to be
    free is another question, answered by ``signed_distance(a, b).depth``, and never less.

    Parameters
    ----------
    a, b : Shape or Mesh
        At least one closed. Of a `Compound` all parts count one by one, so a seam between two counts as surface.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.
    tol : float
        Width of the bounds that is enough, relative to the depth, 1e-4 at least. The search ends after 164 / tol points
        of each surface: where that is not enough the bounds are wider, and hold.

    Returns
    -------
    Penetration
        ``lower <= true value <= upper``. A curved shape is taken as a polytope of 64 segments a turn within it; the
        bounds are those of the shape itself, and wider by what lies between the two.

    Raises
    ------
    UnsupportedPair
        For half-spaces, point clouds, shells and height fields without a bottom, which have no closed surface, for
        shapes that have no surface, and where neither is closed.
    PoseError, ShapeError
        Naming what is wrong with the input; stacks of poses are.

    Notes
    -----
    From below: points that lie inside. From above, by branch and bound over the triangles: what lies inside is no
    deeper than it is far from any one face of the other, and that is greatest at a corner; and no deeper than a
    translation is long that frees the two. Triangles are cut along the faces that they cross and halfway between the
    two faces nearest to them, so that a few pieces tell all of a press fit.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 0.75
    >>> gk.penetration(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose).depth
    0.25
    """
    from gjk3d.bodies.depth.penetration import deepest, surfaces_of  # bodies are loaded when they are asked about

    handlers, rows = prepare_query(a, b, pose_a, pose_b)
    if rows.stacked:
        raise ShapeError("penetration is of one pair of poses: pass single ones")
    if not is_finite(tol) or not _FINEST <= tol <= 1.0:
        raise ShapeError(f"tol is {tol!r:.80}: give a width from {_FINEST} to 1, relative to the depth")
    surfaces = surfaces_of(a, b)
    if not handlers.collide(a, b, rows, 0.0)[0]:  # proven apart
        return Penetration(0.0, 0.0, 0.0, None, None, None)
    deepest_point = deepest(a, b, surfaces, rows.a[0], rows.b[0], float(tol))
    if not deepest_point.decided:  # what frees the two takes every point out
        deepest_point = deepest_point._replace(upper=-float(signed_distance(a, b, pose_a, pose_b).lower))
    lower = max(0.0, deepest_point.known - deepest_point.slack)
    if deepest_point.points is None:
        return Penetration(0.0, 0.0, deepest_point.upper, None, None, None)
    point_a, point_b = deepest_point.points
    between = point_a - point_b
    depth = float(np.linalg.norm(between))
    normal = between / depth if depth > 0.0 else np.array([1.0, 0.0, 0.0])
    return Penetration(depth, min(lower, depth), max(deepest_point.upper, depth), normal, point_a, point_b)
