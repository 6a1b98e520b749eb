"""`verify` checks a result in rational arithmetic: the result of one pair, or a sample of a result's rays or points.

The result of a ray makes two claims: the ray does not touch the shape before the hit, and the hit is on the shape. The
result of a point claims a distance from the surface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import numpy as np

from gjk3d.bodies.mesh import Mesh
from gjk3d.engine.dispatch import Collider, find, is_collider
from gjk3d.errors import ShapeError, UnsupportedPair
from gjk3d.exact import Verdict
from gjk3d.exact import verify as verify_convex
from gjk3d.exact.arithmetic import fractions
from gjk3d.exact.judge import one_row
from gjk3d.poses import UNIT_ROUNDOFF, matrices, pose_rows
from gjk3d.query.distance import PointDistances, distance, signed_distance
from gjk3d.query.raycast import RayHit, check_rays
from gjk3d.results import Distance, Status
from gjk3d.shapes.base import Kind, points_of
from gjk3d.shapes.polytopes import Point, Segment
from gjk3d.typing import Array
from gjk3d.wording import kind_of

_ROWS = 16  #: rows of a sample, at most
_SHARE = 1e-12  #: tolerance of a hit, relative to its distance and the size of the shape
_PROVEN = Verdict(True, False, (), -inf, inf)


def verify(
    result: Distance | RayHit[Any] | PointDistances, a: Collider, b: Any, pose_a: Any = None, pose_b: Any = None
) -> Verdict:
    """Return the verdict on a result for a pair, rays or points, from rational arithmetic without the solver.

    Floats of shapes and poses count as exact fractions. A pose counts as its matrix after one step of the polar
    decomposition (`gjk3d.poses`), rounded to float64.
    The bounds are proven by the certificate of the result, or by normals and points that this function computes. Then
    the normal, the points, the status and the claim of tightness are checked against the bounds, and the points against
    ``point_b - point_a == distance * normal``.

    Parameters
    ----------
    result : Distance, RayHit or PointDistances
        The result of one pair. For a stack of distances pass a row, ``result[i]``. At most 16 rows of rays and points
        are checked, evenly spread.
    a, b : Shape, Mesh or the like
        The shapes of the query, at most one of them a half-space or a plane. For rays b is ``(origins, directions)`` or
        ``(origins, directions, max_distance)``, and for points it is the points.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        The poses of the query. For rays and points pose_a is the pose of the shape, (4, 4) or (n, 4, 4).

    Returns
    -------
    Verdict
        True if every claim is proven. A false claim is refuted. Claims that can be neither proven nor refuted, for
        example about an unknown shape, are listed in the reasons.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        If a pose is not a single rigid transform, or the pair is not supported.

    Notes
    -----
    The bounds and the status are proven without a tolerance. The other fields are floats and are checked to the
    tolerances below. The promised width of the bounds is 1e-9 of the size of the pair for curved shapes, and 1e-12 for
    other shapes.

    - The normal has length 1 within 1e-12. ``point_b - point_a`` is ``distance * normal`` within 1e-12 of the size.
    - The bounds of a tight result differ by at most twice the promised width.
    - Each witness point is outside its shape by at most twice the promised width, or by the width of the bounds if that
      is larger.
    - The gap of the shapes along the normal is the distance, within twice the promised width. If the bounds are wider,
      the tolerance is their width for a tight result, and a hundred times their width for others. The normal next to a
      half-space is exact within 2e-12 radians.

    These limits include rounding. The proven errors are ``witness_error`` and ``normal_error`` of the verdict, which
    are mostly a thousand times smaller.

    The bounds of non-convex bodies are proven part by part:

    - Next to a half-space or a plane, the extent of all parts along its normal proves both bounds.
    - For separated bodies, planes between groups of parts prove ``lower``, and winding numbers prove that neither body
      is inside a closed surface of the other. Each witness point is in a part.
    - For overlapping bodies, one of three findings proves that the depth is at least d: two parts overlap by d, a point
      is d inside a closed surface, or a part overlaps a ball inside a closed surface by d. A translation that separates
      the bodies proves the upper bound of the depth. The witness points are not on surfaces.
    - For touching bodies, the normal is refuted if a short step from ``point_a`` along the normal ends in or near A, or
      a step from ``point_b`` against the normal ends in or near B. It is not refuted if the bodies touch on several
      sides.

    A ray is proven if its hit is on the shape, within 1e-12 of the size, and the ray does not touch the shape before. A
    ray that only grazes the shape cannot be proven. A point is proven if its bounds contain the distance from the
    surface, and if the winding number of a closed mesh agrees with ``inside``. Normals of rays are not checked.

    The time is milliseconds to seconds. It grows with the number of parts that are near each other. Rays and points at
    a mesh take about 30 ms per row and thousand triangles. Distances of ``sign="none"`` are not proven for points
    inside a closed mesh.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 3
    >>> box, ball = gk.Box((1, 1, 1)), gk.Sphere(1)
    >>> answer = gk.signed_distance(box, ball, None, pose)
    >>> bool(gk.verify(answer, box, ball, None, pose)), bool(gk.verify(answer, box, gk.Sphere(2), None, pose))
    (True, False)
    >>> table = gk.Compound([(gk.Box((4, 4, 1)), None), (box, pose)])
    >>> moved = 2 * pose - np.eye(4)
    >>> gk.verify(gk.distance(table, ball, None, moved), table, ball, None, moved).proven
    True
    >>> rays = np.array([(3, 0.1, 0.2), (0, 0.1, 5)]), np.array([(-1, 0, 0), (0, 0, -1)])
    >>> gk.verify(gk.raycast(box, *rays), box, rays).proven
    True
    """
    if isinstance(result, (PointDistances, RayHit)) and is_collider(a):
        return _verdict_on_rows(result, a, b, pose_a)
    judge = find("verify", a, b) if isinstance(result, Distance) and is_collider(a) and is_collider(b) else None
    if judge is None or not isinstance(result, Distance):
        return verify_convex(result, a, b, pose_a, pose_b)  # type: ignore[arg-type]
    rows = one_row(result, pose_a, pose_b)
    flaws = []
    for name, x in (("a", a), ("b", b)):
        answered = getattr(result, f"shape_{name}", x)
        if answered != x:
            flaws.append(f"the result is about another shape: {name} is {x!r}, but the query had {answered!r}")
    verdict: Verdict = judge(a, b, rows, result, flaws)
    return verdict


# --- samples ----------------------------------------------------------------------------------------------------------


def _verdict_on_rows(result: Any, shape: Any, asked: Any, pose: Any) -> Verdict:
    """Return the verdict on at most 16 rows of rays or points, evenly spread over the result."""
    if shape._kind & (Kind.PLANES | Kind.ENDLESS):
        cure = "Give it a bottom, HeightField(..., bottom=z)" if shape._kind == Kind.ENDLESS else "Use a large Box"
        raise UnsupportedPair(f"verify: rays and points take a bounded shape, not {kind_of(shape)}. {cure}")
    rows, stacked = pose_rows(pose, "pose_a")
    poses = matrices(rows) if stacked else matrices(rows)[:1]
    count = int(np.size(result.distance))
    reasons: list[str] = []
    refuted = False
    begin: Any = _points if isinstance(result, PointDistances) else _rays
    check = begin(result, shape, asked)
    for k in np.unique(np.linspace(0, count - 1, min(count, _ROWS)).astype(np.int64)).tolist():
        for what, verdict in check(k, poses[k if len(poses) > 1 else 0]):
            refuted = refuted or verdict.refuted
            reasons += [f"row {k}: {what}: {reason}" for reason in verdict.reasons]
    return Verdict(not reasons, refuted, tuple(reasons), -inf, inf)


def _refuted(reason: str) -> Verdict:
    return Verdict(False, True, (reason,), -inf, inf)


def _open(reason: str) -> Verdict:
    return Verdict(False, False, (f"unprovable: {reason}",), -inf, inf)


Claims = Iterator[tuple[str, Verdict]]


# --- points -----------------------------------------------------------------------------------------------------------


def _points(result: PointDistances, shape: Any, asked: Any) -> Callable[[int, Array], Claims]:
    points, _ = points_of(asked, "verify: points")
    if len(points) != len(result.distance):
        counts = f"the result has {len(result.distance)} rows and b has {len(points)} points"
        raise ShapeError(f"verify: {counts}, expected equal numbers")
    # the distance of a point outside is from all triangles, that of a point inside from those that bound the solid
    meshes = (shape, shape.skin if shape.is_solid else shape) if isinstance(shape, Mesh) else ()
    surfaces = [Mesh(mesh.vertices, mesh.faces, solid=False) for mesh in meshes] or [shape, shape]

    def check(k: int, pose: Array) -> Claims:
        at = np.eye(4)
        at[:3, 3] = points[k]
        surface = surfaces[int(result.inside[k])]
        if not np.isfinite(result.distance[k]):
            least = float(min(abs(result.lower[k]), abs(result.upper[k])))
            is_solid = result.inside[k] and not meshes
            claim = (signed_distance if is_solid else distance)(surface, Point(), pose, at)
            depth = -claim.upper if is_solid else claim.lower
            yield "the limit", _above(verify(claim, surface, Point(), pose, at), depth, least)
            return
        sign = -1.0 if meshes and result.inside[k] else 1.0
        claim = signed_distance(surface, Point(), pose, at)
        low, high = sorted((sign * float(result.lower[k]), sign * float(result.upper[k])))
        if claim.status in (Status.SEPARATED, Status.OVERLAPPING):
            claim.distance, claim.lower, claim.upper = sign * float(result.distance[k]), low, high
            claim.point_a, claim.normal = result.point[k], sign * result.normal[k]
            claim.point_b = points[k]
        yield "the distance", verify(claim, surface, Point(), pose, at)
        if meshes and shape.is_solid and claim.status == Status.SEPARATED:
            yield "the side", _side(shape, pose, points[k], bool(result.inside[k]), bool(result.inside.any()))

    return check


def _above(verdict: Verdict, proven: float, limit: float) -> Verdict:
    """Return ``verdict``, or a refuted verdict if ``verdict`` proves the distance ``proven``, which is below ``limit``.

    A result without a finite distance claims that the distance is at least ``limit``.
    """
    holds = not verdict.proven or proven >= limit
    return verdict if holds else _refuted(f"the proven distance {proven:.6g} is less than {limit:.6g}")


def _side(mesh: Mesh, pose: Array, point: Array, inside: bool, signed: bool) -> Verdict:
    from gjk3d.bodies.rational import whole_of  # loaded only for meshes

    whole = whole_of("a", mesh, pose_rows(pose, "pose_a")[0][0])
    holds = [solid.holds(fractions(point)) for solid in whole.surfaces]
    if None in holds or not holds or (not signed and any(holds)):  # the distances of sign="none" have no side
        return _open("the side of the surface")
    return _PROVEN if any(holds) == inside else _refuted(f"the winding number refutes inside={inside}")


# --- rays -------------------------------------------------------------------------------------------------------------


def _rays(result: RayHit[Any], shape: Any, asked: Any) -> Callable[[int, Array], Claims]:
    hits = {name: np.atleast_1d(getattr(result, name)) for name in ("hit", "inside", "distance")}
    origins, _, units, _ = check_rays(asked[0], asked[1], inf)
    origins, units = np.broadcast_arrays(origins, units)
    limits = np.broadcast_to(asked[2] if len(asked) > 2 else inf, len(hits["hit"]))
    if len(origins) != len(limits):
        counts = f"the result has {len(limits)} rows and b has {len(origins)} rays"
        raise ShapeError(f"verify: {counts}, expected equal numbers")
    low, high = np.asarray(shape.bounds)
    size = float(np.linalg.norm(high - low))

    def check(k: int, pose: Array) -> Claims:
        origin, unit, hit = origins[k], units[k], bool(hits["hit"][k])
        middle = pose[:3, :3] @ ((low + high) / 2) + pose[:3, 3]
        reach = float(np.linalg.norm(origin - middle)) + size
        # far from the origin, the rounding of the coordinates of the hit is larger
        farthest = float(max(np.abs(origin).max(), np.abs(middle).max()))
        tolerance = _SHARE * (size + reach) + 8.0 * UNIT_ROUNDOFF * farthest
        far = float(hits["distance"][k]) if hit else min(float(limits[k]), 2.0 * reach)
        end = origin + (far - 2.0 * tolerance) * unit
        if far <= 2.0 * tolerance:  # a ray from the surface, or from inside a solid, hits at its origin
            claim = signed_distance(shape, Point(origin), pose)
            yield "the origin", _below(verify(claim, shape, Point(origin), pose, None), claim.upper, tolerance)
            return
        if far > 4.0 * reach:
            yield "the hit", _refuted(f"the distance {far:.6g} is far behind the shape")
            return
        if hit:
            claim = distance(shape, Point(end), pose)
            yield "the hit", _below(verify(claim, shape, Point(end), pose, None), claim.upper, 4.0 * tolerance)
        before = Segment(origin, end)
        claim = distance(shape, before, pose)
        verdict = verify(claim, shape, before, pose, None)
        if not claim.lower > 0.0 and not verdict.refuted:
            deep = signed_distance(shape, before, pose).upper < -tolerance
            verdict = _refuted("the ray enters the shape earlier") if deep else _open("the ray grazes the shape")
        yield "the ray before the hit" if hit else "the miss", verdict

    return check


def _below(verdict: Verdict, proven: float, tolerance: float) -> Verdict:
    """Return ``verdict``, or a refuted verdict if ``verdict`` proves the distance ``proven`` above the tolerance."""
    holds = not verdict.proven or proven <= tolerance
    return verdict if holds else _refuted(f"the point is {proven:.6g} from the shape")
