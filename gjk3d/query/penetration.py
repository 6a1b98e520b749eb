"""The greatest depth of one surface inside another body: `penetration` and its result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d.convex.checks import is_finite
from gjk3d.engine.dispatch import Collider, find_single
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.query.batch import prepare_query
from gjk3d.query.distance import signed_distance
from gjk3d.results import compared
from gjk3d.typing import Array, OnePose
from gjk3d.wording import format_bounds, format_vector

_FINEST = 1e-4


@compared()
class Penetration(NamedTuple):
    """Result of `penetration`.

    Attributes
    ----------
    depth : float
        Depth of the deepest known point, in the caller's unit; 0 if no point is inside.
    lower, upper : float
        Proven bounds: no point of either surface is deeper than ``upper``, and one point is at least ``lower`` deep.
    normal : (3,) float or None
        Unit vector in world axes, from A to B as in `Distance`. If B moves along ``normal``, the deepest point leaves
        the other body by the shortest translation. None if no point is inside.
    point_a, point_b : (3,) float or None
        The deepest point of one surface, and the nearest point of the other surface, in world axes. ``point_b - point_a
        == -depth * normal``.

    Notes
    -----
    If the bodies are proven to be separated, ``upper`` is 0.

    Overlapping components of one mesh, or overlapping parts of one compound, are one set of points. Their surface
    inside another component does not count. This needs manifold3d. Without it the bounds are wider: ``upper`` is the
    depth that `signed_distance` proves.

    Examples
    --------
    >>> import gjk3d as gk
    >>> result = gk.penetration(gk.Box((2, 2, 2)), gk.Point((0.75, 0, 0)))
    >>> result
    Penetration: 0.25 along (1, 0, 0)
    >>> result.lower <= 0.25 <= result.upper, result.point_a.tolist(), result.point_b.tolist()
    (True, [1.0, 0.0, 0.0], [0.75, 0.0, 0.0])
    """

    depth: float
    lower: float
    upper: float
    normal: Array | None
    point_a: Array | None
    point_b: Array | None

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a Penetration is ambiguous. Use gjk3d.collide or .depth")

    def __repr__(self) -> str:
        if self.normal is None:
            return f"Penetration: none, at most {self.upper:.3g}" if self.upper else "Penetration: none"
        return f"Penetration: {format_bounds(self.lower, self.upper, 9)} along {format_vector(self.normal, 4)}"


def penetration(
    a: Collider, b: Collider, pose_a: OnePose = None, pose_b: OnePose = None, *, tol: float = 1e-2
) -> Penetration:
    """Return the greatest depth of one surface inside the other body.

    Take all points of either surface that are inside the other body. The penetration is their greatest distance from
    the surface of that body. A bolt that cuts 0.1 into the wall of its hole has a penetration of 0.1, however far it
    must move to be free. The length of the minimum translation, ``signed_distance(a, b).depth``, is a different
    quantity and is never less than the penetration.

    Parameters
    ----------
    a, b : Shape or Mesh
        At least one of them closed. Parts of a `Compound` that touch or overlap are united, see `Penetration`.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        World from local; None is the identity.
    tol : float
        Sufficient width of the bounds relative to the depth, at least 1e-4. The search ends after 164 / tol points of
        each surface. Then the bounds may be wider, but they are valid.

    Returns
    -------
    Penetration
        ``lower <= true value <= upper``. A curved shape is replaced by an inscribed polytope of 64 segments per turn.
        The bounds hold for the shape itself. They are wider by the distance between the shape and the polytope.

    Raises
    ------
    UnsupportedPair
        For half-spaces, point clouds, shells and height fields without a bottom, which lack a closed surface, for
        shapes without a surface, and if neither body is closed.
    PoseError, ShapeError
        For invalid input, including stacks of poses.

    Notes
    -----
    The lower bound comes from points that are inside. The upper bound comes from branch and bound over the triangles.
    The depth of a point inside is at most its distance from any one face of the other body, and that distance is
    greatest at a corner of the triangle. The depth is also at most the length of any separating translation. Triangles
    are split along the faces that they cross and halfway between their two nearest faces. For a press fit, a few pieces
    then suffice.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 0.75
    >>> gk.penetration(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose).depth
    0.25
    """
    from gjk3d.bodies.depth.penetration import deepest  # loaded at the first call

    collide, rows = prepare_query("collide", a, b, pose_a, pose_b)
    if rows.stacked:
        raise ShapeError(
            "penetration takes one pair of poses, but a stack is given. Pass single poses, for example pose_a[0]"
        )
    if not is_finite(tol) or not _FINEST <= tol <= 1.0:
        raise ShapeError(
            f"tol is {tol!r:.80}, expected a width of the bounds relative to the depth, from {_FINEST} to 1"
        )
    surfaces = find_single("surfaces", a)(a), find_single("surfaces", b)(b)
    if not any(skin.mesh.is_solid for side in surfaces for skin in side):
        raise UnsupportedPair("penetration: neither body is closed, so no point is inside. Use signed_distance")
    if not collide(a, b, rows, 0.0)[0]:  # proven apart
        return Penetration(0.0, 0.0, 0.0, None, None, None)
    deepest_point = deepest(a, b, surfaces, rows.a[0], rows.b[0], float(tol))
    if not deepest_point.decided:  # a separating translation moves every point out
        deepest_point = deepest_point._replace(upper=-float(signed_distance(a, b, pose_a, pose_b).lower))
    lower = max(0.0, deepest_point.lower - deepest_point.slack)
    if deepest_point.points is None:
        return Penetration(0.0, 0.0, deepest_point.upper, None, None, None)
    point_a, point_b = deepest_point.points
    between = point_a - point_b
    depth = float(np.linalg.norm(between))
    normal = between / depth if depth > 0.0 else np.array([1.0, 0.0, 0.0])
    return Penetration(depth, min(lower, depth), max(deepest_point.upper, depth), normal, point_a, point_b)
