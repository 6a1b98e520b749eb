"""`collide`, `distance`, `signed_distance` and `separating_axis` of two shapes; what they all go through is `ask`."""

from __future__ import annotations

from math import inf
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gjk3d._kernels.calls import install as builtins
from gjk3d.convex.checks import check_polytopes, depth_mode
from gjk3d.convex.rows import NO_POSE, Rows
from gjk3d.errors import UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.narrow.sat import axis_many
from gjk3d.poses import STANDING, is_plain
from gjk3d.query import single
from gjk3d.query.ask import ask_collide, ask_distance, question
from gjk3d.query.dispatch import Collider
from gjk3d.query.pair import Depth, ask_prepared, collide_prepared, prepared, prepared_for_builtins
from gjk3d.query.plan import Prepared, desk
from gjk3d.results import Axis, AxisKind, Distance, Status
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.typing import Array, Device, Ints, Pose, PoseLike, UnclearPose

_GAP, _ONE = 5, (1, 5)  #: floats of an answer of `gjk3d.narrow.sat.axis_many`
_KINDS, _STATUSES = tuple(AxisKind), tuple(Status)


@overload
def collide(
    a: Collider,
    b: Collider,
    pose_a: UnclearPose,
    pose_b: PoseLike | None = None,
    *,
    margin: float = 0.0,
    workers: int = 1,
    device: Device = "cpu",
) -> Any: ...
@overload
def collide(
    a: Collider,
    b: Collider,
    pose_a: PoseLike | None,
    pose_b: UnclearPose,
    *,
    margin: float = 0.0,
    workers: int = 1,
    device: Device = "cpu",
) -> Any: ...
@overload
def collide(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, margin: float = 0.0,
    workers: int = 1,
    device: Device = "cpu",
) -> bool: ...  # fmt: skip
@overload
def collide(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *, margin: float = 0.0,
    workers: int = 1,
    device: Device = "cpu",
) -> NDArray[np.bool_]: ...  # fmt: skip
@builtins.function(single.shapes_collide, single.collide_words)
def collide(
    a: Collider,
    b: Collider,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    margin: float = 0.0,
    workers: int = 1,
    device: Device = "cpu",
) -> Any:
    """Tell whether two shapes touch or overlap, or come within a margin.

    Parameters
    ----------
    a, b : Shape or Mesh
        Two half-spaces or planes are refused: they overlap without end.
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        World from local; None is the identity. A stack on either side, or stacks of one length on both, asks n pairs
        at once.
    margin : float
        In the caller's unit. Positive: also True where they are closer than this. Negative: overlap shallower than
        this is let pass.
    workers : int
        Threads for a stack; the answers are the same bits for any number.
    device : {"cpu", "cuda"}
        "cuda" asks a stack of two convex shapes on NVIDIA's graphics card, by the extra ``gpu``; what it cannot tell is
        asked again on the processor, so that booleans are the same.

    Returns
    -------
    bool or (n,) bool
        False exactly where ``signed distance > margin`` is proven; so touching is True, and so is one inside the other.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        Naming what is wrong with the input; valid input never raises.
    DeviceUnavailableError
        Where ``device`` is not there; what is missing, and what brings it.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 1.5
    >>> gk.collide(gk.Box((1, 1, 1)), gk.Sphere(1), None, pose)
    True
    """
    if device != "cpu":
        return ask_collide(a, b, pose_a, pose_b, margin, workers, device)
    return collide_prepared(prepared_for_builtins(a, b), a, b, pose_a, pose_b, margin, workers)


@overload
def distance(
    a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, max_distance: float = inf,
    tol: float | None = None, trace: bool = False, certificate: bool = False, workers: int = 1,
    device: Device = "cpu",
) -> Distance[Any]: ...  # fmt: skip
@overload
def distance(
    a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose, *, max_distance: float = inf,
    tol: float | None = None, trace: bool = False, certificate: bool = False, workers: int = 1,
    device: Device = "cpu",
) -> Distance[Any]: ...  # fmt: skip
@overload
def distance(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, max_distance: float = inf,
    tol: float | None = None, trace: bool = False, certificate: bool = False, workers: int = 1,
    device: Device = "cpu",
) -> Distance[float]: ...  # fmt: skip
@overload
def distance(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *,
    max_distance: float = inf, tol: float | None = None, trace: bool = False, certificate: bool = False,
    workers: int = 1,
    device: Device = "cpu",
) -> Distance[Array]: ...  # fmt: skip
@builtins.function(single.shapes_distance, single.distance_words(narrow.UNSIGNED))
def distance(
    a: Collider,
    b: Collider,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    max_distance: float = inf,
    tol: float | None = None,
    trace: bool = False,
    certificate: bool = False,
    workers: int = 1,
    device: Device = "cpu",
) -> Distance[Any]:
    """Return how far apart two shapes are, with the nearest points; 0 and one common point where they overlap.

    Never runs EPA on shapes that overlap, so it is the cheaper question where depth does not matter.

    Parameters
    ----------
    a, b : Shape
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.
    max_distance : float
        Stop once the distance provably exceeds this; the status is then BEYOND, the bounds hold, the points are not
        the nearest.
    tol : float, optional
        Width of the interval that is enough, relative to the pair's size: how far both reach from their origins, or
        from their middles where these are far from there, and the distance between. None is the promised width.
    trace : bool
        Keep every step in ``result.trace``; for one pair.
    certificate : bool
        Keep what proves the bounds in ``result.certificate``; for one pair. The answer has the same bits without. Of
        what is not convex it is found in up to seconds; of a HeightField it is that of what the other one can reach.
    workers : int
        Threads for a stack; the answers are the same bits for any number.
    device : {"cpu", "cuda"}
        As in `collide`; bounds hold on either.

    Returns
    -------
    Distance
        ``lower <= max(0, true signed distance) <= upper``.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        Naming what is wrong with the input; valid input never raises.
    DeviceUnavailableError
        Where ``device`` is not there; what is missing, and what brings it.

    References
    ----------
    Gilbert, Johnson, Keerthi: A fast procedure for computing the distance between complex objects, 1988.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[2, 3] = 4
    >>> gk.distance(gk.Sphere(1), gk.Box((2, 2, 2)), None, pose).distance
    2.0
    """
    if device != "cpu":
        return ask_distance(
            narrow.UNSIGNED, a, b, pose_a, pose_b, max_distance, tol, trace, workers, certificate, device
        )
    by = prepared_for_builtins(a, b)
    mode = narrow.UNSIGNED
    return ask_prepared(by, a, b, mode, pose_a, pose_b, max_distance, tol, trace, workers, certificate)


@overload
def signed_distance(
    a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None, *, depth: Depth = "auto",
    max_distance: float = inf, tol: float | None = None, trace: bool = False, certificate: bool = False,
    workers: int = 1,
    device: Device = "cpu",
) -> Distance[Any]: ...  # fmt: skip
@overload
def signed_distance(
    a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose, *, depth: Depth = "auto",
    max_distance: float = inf, tol: float | None = None, trace: bool = False, certificate: bool = False,
    workers: int = 1,
    device: Device = "cpu",
) -> Distance[Any]: ...  # fmt: skip
@overload
def signed_distance(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None, *, depth: Depth = "auto",
    max_distance: float = inf, tol: float | None = None, trace: bool = False, certificate: bool = False,
    workers: int = 1,
    device: Device = "cpu",
) -> Distance[float]: ...  # fmt: skip
@overload
def signed_distance(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None, *,
    depth: Depth = "auto", max_distance: float = inf, tol: float | None = None, trace: bool = False,
    certificate: bool = False, workers: int = 1,
    device: Device = "cpu",
) -> Distance[Array]: ...  # fmt: skip
@builtins.function(single.shapes_signed_distance, single.distance_words(narrow.SIGNED))
def signed_distance(
    a: Collider,
    b: Collider,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    depth: Depth = "auto",
    max_distance: float = inf,
    tol: float | None = None,
    trace: bool = False,
    certificate: bool = False,
    workers: int = 1,
    device: Device = "cpu",
) -> Distance[Any]:
    """Return how far apart two shapes are, or how deep they overlap, with the points and the direction that part them.

    Parameters
    ----------
    a, b : Shape
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.
    depth : {"auto", "epa", "facets"}
        What measures overlap. "epa" runs EPA on every pair, apart or not. "facets" tries every facet of the Minkowski
        difference, which is the separating axis test in 3D: polytopes only, flat or rounded ones too.
    max_distance, tol, trace, certificate, workers, device
        As in `distance`; a trace always runs EPA where the cores overlap.

    Returns
    -------
    Distance
        Negative where they overlap: the least translation that parts them is ``separation_vector``. Two flat shapes
        in one plane have depth 0, since a shift across the plane parts them. Of what is not convex the depth is
        enclosed; how far one surface lies inside the other is another question, see `penetration`. The depth of a ball
        or point whose centre is in a closed mesh is its distance from the surface plus its radius, unless the way
        there ends in other material.

    Raises
    ------
    PoseError, ShapeError, UnsupportedPair
        Naming what is wrong with the input; valid input never raises.
    DeviceUnavailableError
        Where ``device`` is not there; what is missing, and what brings it.

    References
    ----------
    van den Bergen: Collision Detection in Interactive 3D Environments, 2003, ch. 4.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 0.75
    >>> result = gk.signed_distance(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose)
    >>> result.distance, result.normal.tolist()
    (-0.25, [1.0, 0.0, 0.0])
    """
    mode = depth_mode(depth)
    if device != "cpu":
        return ask_distance(mode, a, b, pose_a, pose_b, max_distance, tol, trace, workers, certificate, device)
    by = prepared_for_builtins(a, b)
    return ask_prepared(by, a, b, mode, pose_a, pose_b, max_distance, tol, trace, workers, certificate)


@overload
def separating_axis(a: Collider, b: Collider, pose_a: UnclearPose, pose_b: PoseLike | None = None) -> Axis[Any]: ...
@overload
def separating_axis(a: Collider, b: Collider, pose_a: PoseLike | None, pose_b: UnclearPose) -> Axis[Any]: ...
@overload
def separating_axis(
    a: Collider, b: Collider, pose_a: Pose | None = None, pose_b: Pose | None = None
) -> Axis[float]: ...
@overload
def separating_axis(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None
) -> Axis[Array]: ...
def separating_axis(
    a: Collider, b: Collider, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None
) -> Axis[Any]:
    """Return the best axis of the separating axis test, and which face or pair of edges it comes from.

    Tries the normal of every face of both, and the cross product of every pair of edges that makes a facet of the
    Minkowski difference. The gap along the axis is positive exactly where the two are apart; it is then a lower bound
    of their distance, and the distance itself where a face or two edges are nearest. In overlap its negative is the
    exact depth, and the axis the direction of the least translation that parts them.

    Parameters
    ----------
    a, b : Shape, Mesh or the like
        Polytopes, flat ones too; not rounded ones, whose nearest features need not be flat. Of what is not convex the
        axis parts the hulls, and the features are those of the hulls.
    pose_a, pose_b : (4, 4) float, (n, 4, 4) float, RigidTransform or None
        As in `collide`.

    Raises
    ------
    UnsupportedPair
        For curved and rounded shapes and half-spaces; and for what is not convex, where no plane parts the two.
    PoseError, ShapeError
        Naming what is wrong with the input.

    References
    ----------
    Gottschalk, Lin, Manocha: OBBTree, 1996; Gregorius: The separating axis test between convex polyhedra, GDC 2013.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> pose = np.eye(4); pose[0, 3] = 0.75
    >>> gk.separating_axis(gk.Box((1, 1, 1)), gk.Box((1, 1, 1)), None, pose)
    Axis: overlapping, gap -0.25 along (1, 0, 0), a face of A
    """
    if (pose_a is None or is_plain(pose_a)) and (pose_b is None or is_plain(pose_b)):
        ma, mb = STANDING if pose_a is None else pose_a, STANDING if pose_b is None else pose_b
        at_once = _best_axis(a, b, ma, mb)
        if at_once is not None:
            return at_once
    _, rows = question(a, b, pose_a, pose_b)
    if isinstance(a, Halfspace) or isinstance(b, Halfspace):
        name = type(a if isinstance(a, Halfspace) else b).__name__
        raise UnsupportedPair(f"separating_axis takes polytopes: the axis of a {name} is its normal")
    if isinstance(a, Shape) and isinstance(b, Shape):
        check_polytopes(a, b, "separating_axis", False)
        out, kinds = _axes(a, b, rows)
    else:
        from gjk3d.bodies.hulls import sharp_hulls  # loaded where there is a mesh or the like

        first, second, error = sharp_hulls(a, b)
        check_polytopes(first, second, "separating_axis", False)
        out, kinds = _axes(first, second, rows)
        out[:, 4] += error
        _check_parted(out, a, b)
    if rows.stacked:
        return Axis(out[:, :3], out[:, 3], out[:, 4], kinds[:, 0], kinds[:, 1])
    return _axis(out, kinds)


def _axes(a: Shape, b: Shape, rows: Rows) -> tuple[Array, Ints]:
    """Return the best axes of sharp polytopes, and of which kind they are."""
    both = prepared(a, b)
    ints, floats, row = both.arena
    row = row.copy()
    row[0, 4], row[0, 8], row[0, 9] = len(rows.a) > 1, len(rows.a), len(rows.b) > 1
    out, kinds = np.empty((rows.total, _GAP)), np.empty((rows.total, 2), dtype=np.int64)
    maps = _gauss_maps(a, b, both)
    assert maps is not None
    turned = desk().room("turned", maps[4])
    poses = rows.behind_each_other()
    axis_many(ints, floats, row, NO_POSE, NO_POSE, poses, *maps[:4], turned, 0, rows.total, out, kinds)
    return out, kinds


def _check_parted(out: Array, a: Collider, b: Collider) -> None:
    """Raise unless the hulls of what is not convex are apart: an axis says nothing else of it."""
    met = np.flatnonzero(~(out[:, 3] > out[:, 4]))
    if len(met):
        where = f"in question {met[0]} of {len(out)} " if len(out) > 1 else ""
        raise UnsupportedPair(
            f"separating_axis: {where}no plane parts a, a {type(a).__name__}, from b, a {type(b).__name__}, since their"
            f" hulls touch or overlap (gap {out[met[0], 3]:.6g}): use distance or signed_distance, which look at parts"
        )


def _best_axis(a: Any, b: Any, pose_a: Array, pose_b: Array) -> Axis[float] | None:
    """Answer two plain matrices of sharp polytopes; None where it takes the long way."""
    both = prepared(a, b)
    if both.words is None:
        return None
    maps = _gauss_maps(a, b, both)
    if maps is None:
        return None
    ints, floats, row = both.arena
    out, here = np.empty(_ONE), desk()
    turned = here.room("turned", maps[4])
    if axis_many(ints, floats, row, pose_a, pose_b, here.poses, *maps[:4], turned, 0, 1, out, here.flags) < 0:
        return None
    return _axis(out, here.flags)


def _axis(out: Array, kinds: Ints) -> Axis[float]:
    """Return the answer of one pair."""
    return Axis(out[0, :3], out.item(3), out.item(4), _KINDS[kinds.item(0)], _STATUSES[kinds.item(1)])


def _gauss_maps(a: Any, b: Any, both: Prepared) -> tuple[Array, Array, Array, Array, tuple[int, int]] | None:
    """Return the normals and edges of A and of B, and what room those of one take; None where one has none."""
    kept = both.others
    if "axes" not in kept:
        sharp = all(s._packed[0][layout.POLYTOPE] and s._packed[1][layout.RADIUS] == 0.0 for s in (a, b))
        if not sharp:
            return None
        maps = *a._gauss_map(), *b._gauss_map()
        kept["axes"] = *maps, (max(len(maps[1]), len(maps[3])), 9)
    found: tuple[Array, Array, Array, Array, tuple[int, int]] = kept["axes"]
    return found
