"""`verify`: is an answer true? Shown in rational arithmetic, of convex shapes and of what is not convex."""

from __future__ import annotations

from typing import Any

from gjk3d.exact import Verdict
from gjk3d.exact import verify as verify_convex
from gjk3d.exact.convex_sets import placement
from gjk3d.exact.judge import one_row
from gjk3d.query.dispatch import Collider, is_collider
from gjk3d.results import Distance
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace


def verify(result: Distance, a: Collider, b: Collider, pose_a: Any = None, pose_b: Any = None) -> Verdict:
    """Judge one answer of `distance` or `signed_distance` in rational arithmetic, sharing no code with the solver.

    Shapes and poses are the fractions that their floats are; a pose is its matrix after the polar step, rounded to
    float64. The judge proves the bounds by the certificate that the answer carries, or else by normals and points that
    it finds itself, and holds the sign law, the normal, the points, the status and the claim of tightness against them.

    Parameters
    ----------
    result : Distance
        Of one pair; of a stack take a row, ``result[i]``.
    a, b : Shape, Mesh or the like
        What was asked about: not two half-spaces or planes.
    pose_a, pose_b : (4, 4) float, RigidTransform or None
        Where they were.

    Returns
    -------
    Verdict
        True where every claim is proven. A false claim is refuted; where the judge can do neither, as for a shape
        that it does not know, the reasons say what is unprovable.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        Where a pose is not one rigid transform, or the two are not judged.

    Notes
    -----
    The bounds and what the status says of them are proven as they stand, with no tolerance. The rest is a float each
    and proven to a tolerance, where the size is that of the pair, as in the bound law, and the promise 1e-9 of it for
    curved shapes and 1e-12 for others:

    - the normal's length is 1 to 1e-12, and ``point_b - point_a`` is ``distance * normal`` to 1e-12 of the size;
    - an interval called tight is at most two promises wide, as sizes may be measured in more than one way;
    - each witness point is outside its shape by no more than two promises, or than the width where that is more;
    - along the normal the shapes are as far apart as the distance to two promises, or to the width where that is more
      and the answer is called tight, or to a hundred widths where it is not. A half-space has one normal, and the
      answer's is that to 2e-12 radians.

    Added is what floats can hold: a few last bits of the coordinates. These are what an answer may miss at most; how
    far its points and its normal were proven, which is mostly a thousand times better, is in the verdict's
    ``witness_error`` and ``normal_error``.

    Of what is not convex the bounds are proven part by part; beside a half-space or a plane, by what all parts cover
    along its normal. Apart: groups of parts with planes between them, as wide
    apart as ``lower``, and winding numbers, that no piece of the one is within a closed surface of the other; the
    witness points are in a part each. Overlapping: two parts that are so deep in each other, or a point so deep in a
    closed surface, and a translation as long as the depth after which the two are apart. The normal of a touch is
    refuted where the way along it from a witness point leads along or into that body. Another normal proves nothing
    there but the sign law, and the witness points of a depth are not on surfaces. It takes from milliseconds to
    seconds, as many parts are near each other.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 3
    >>> box, ball = gk.Box((1, 1, 1)), gk.Sphere(1)
    >>> answer = gk.signed_distance(box, ball, None, pose)
    >>> bool(gk.verify(answer, box, ball, None, pose)), bool(gk.verify(answer, box, gk.Sphere(2), None, pose))
    (True, False)
    >>> table = gk.Compound([(gk.Box((4, 4, 1)), None), (box, pose)])
    >>> there = 2 * pose - np.eye(4)
    >>> gk.verify(gk.distance(table, ball, None, there), table, ball, None, there).proven
    True
    """
    judged = is_collider(a) and is_collider(b) and isinstance(result, Distance)
    if not judged or (isinstance(a, Shape) and isinstance(b, Shape)):
        return verify_convex(result, a, b, pose_a, pose_b)  # type: ignore[arg-type]
    from gjk3d.bodies.rational import whole_of, wholes_of  # loaded where there is a mesh or the like
    from gjk3d.exact.unions import judge_beside, judge_unions

    rows = one_row(result, pose_a, pose_b)
    flaws = []
    for name, x in (("a", a), ("b", b)):
        other = getattr(result, f"shape_{name}", x)
        if other != x:
            flaws.append(f"the answer is about another shape: {name} is {x!r}, there it was {other!r}")
    if isinstance(a, Halfspace):
        return judge_beside(result, whole_of("b", b, rows[1]), a, placement(rows[0]), flaws)
    if isinstance(b, Halfspace):
        return judge_beside(result, whole_of("a", a, rows[0]), b, placement(rows[1]), flaws)
    return judge_unions(result, *wholes_of(result, (a, b), rows), flaws)
