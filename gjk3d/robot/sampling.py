"""Allowed pairs from samples: pairs that collide in all samples, pairs that collide in none, and proofs for the latter.

The reach of a shape is its greatest distance from the axis of a joint. If a joint turns, the distance between a shape
above and a shape below the joint changes by at most the angle times the smaller reach of the two shapes (Schwarzer,
Saha, Latombe 2005). A box of configurations is free if the distance of the two shapes at its middle is greater than
this change over its half widths. Boxes are halved until each is free.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi

import numpy as np
from scipy.spatial.transform import Rotation

from gjk3d.errors import RobotError
from gjk3d.robot import queries
from gjk3d.robot.cell import Base, Cell, build
from gjk3d.robot.cell_kernels import FAR
from gjk3d.robot.kinematics import FLOATING, LENGTHS, SLIDING, TURNING
from gjk3d.robot.model import Robot, no_shapes
from gjk3d.robot.motion_bounds import motion_bounds
from gjk3d.robot.srdf import AllowedPairs
from gjk3d.robot.trajectories import angle_columns
from gjk3d.typing import Array, Bools, Ints, Row
from gjk3d.wording import above, count

_AT_ONCE = 256  #: greatest number of configurations in memory at once
FREE, HIT, OPEN = range(3)  #: results of a proof: the pair is proven apart, it touches, or no result
_SHARE = 0.3  #: share of the samples in the whole work, for the progress
_ROUNDING = 1e4  #: distance that must remain between two links in a proof, as a multiple of the error of poses


def allow_by_sampling(
    robot: Robot,
    samples: int = 10_000,
    *,
    seed: int = 0,
    prove: int = 2000,
    default: Row | None = None,
    lower: Row | None = None,
    upper: Row | None = None,
    progress: Callable[[float], object] | None = None,
) -> AllowedPairs:
    """Return the pairs of links that need no check, with reasons. The robot is not changed.

    A pair gets the reason "adjacent" if its links share a joint (see `Robot.adjacent`), "default" if it collides at the
    configuration ``default``, "always" if it collides in all samples, and "never" if it collides in no sample. With
    95 % confidence, a pair with the reason "never" collides in less than a share of ``1 - 0.05 ** (1 / samples)`` of
    all configurations (about ``3 / samples``). A pair with the reason "always" is free in less than the same share.
    The attribute ``evidence`` of the result states this share. Samples are not a proof, so for each pair without a
    collision a proof is then tried, with more configurations. If the pair collides at one of them, it stays checked.
    The attribute ``proven`` of the result lists the pairs that cannot touch within the limits.

    Pairs of ``robot.allowed``, such as those of an SRDF, are kept, except pairs with the reasons "always" and "never".
    These are dropped if the samples do not confirm them. With ``default``, a pair with the reason "default" loses
    this reason if it does not collide at ``default``.

    Parameters
    ----------
    robot : Robot
        A robot with collision shapes.
    samples : int
        Number of configurations, drawn uniformly within the limits. Angles without limits are drawn from -pi to pi, and
        rotations of floating joints without limits from all rotations.
    seed : int
        The same seed gives the same samples.
    prove : int
        Greatest number of configurations for the proof of one pair. With 0 no proofs are tried. A proof succeeds for
        distant pairs with few joints between them.
    default : (dof,) float, optional
        A configuration that is free in reality. The shapes of a pair that collides at this configuration are faulty, so
        the pair is allowed everywhere. Without ``default``, pairs that collide in only some samples stay checked.
    lower, upper : (dof,) float, optional
        Limits that replace the limits of the robot. They are required if a prismatic, planar or floating joint between
        links with shapes can translate without limits.
    progress : callable, optional
        Called from time to time with the completed share, from 0 to 1.

    Returns
    -------
    AllowedPairs
        The allowed pairs. Assign the result to ``robot.allowed`` to use it.

    Raises
    ------
    RobotError
        The robot does not have collision shapes, ``samples`` is less than 1, ``default`` is not a configuration,
        or limits are missing, too far apart, or crossed.

    Examples
    --------
    >>> import gjk3d as gk
    >>> robot = gk.robot.Robot.example()
    >>> robot.allowed = gk.robot.allow_by_sampling(robot, 500)
    >>> robot.allowed.counts(), robot.allowed.proven
    ({'adjacent': 2, 'never': 1}, [('post', 'hand')])
    """
    if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 1:
        raise RobotError(f"samples is {samples!r}, expected an integer of at least 1")
    if not robot.geometries:
        raise no_shapes(robot)
    allowed = AllowedPairs(robot.links, robot.adjacent())
    renewed = ("always", "never") if default is None else ("always", "never", "default")
    for pair in robot.allowed:
        if pair.reason not in renewed:
            allowed.allow(*pair)
    allowed.unknown = list(robot.allowed.unknown)
    pairs = robot.all_pairs()
    pairs = np.array(
        [p for p in pairs.tolist() if (robot.links[p[0]], robot.links[p[1]]) not in allowed], dtype=np.int64
    ).reshape(-1, 2)
    low, high = _limits(robot, pairs, lower, upper)
    if default is not None:
        at_rest = LinkPairs(robot, pairs).touch(robot.configurations(default, "default")[0][:1])[0]
        for a, b in pairs[at_rest].tolist():
            allowed.allow(robot.links[a], robot.links[b], "default")
        pairs = pairs[~at_rest]

    link_pairs, rng = LinkPairs(robot, pairs), np.random.default_rng(seed)
    collided, free = np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool)
    for start in range(0, samples, _AT_ONCE):
        if progress is not None:
            progress(_SHARE * start / samples)
        # A pair with a collision in one sample and no collision in another stays checked, so it needs no more samples.
        open_ = np.flatnonzero(~(collided & free))
        q = draw(robot, rng, min(_AT_ONCE, samples - start), low, high)
        hits = link_pairs.touch(q, open_)
        collided[open_] |= hits.any(axis=0)
        free[open_] |= ~hits.all(axis=0)
    proofs = Proofs(robot, low, high, pairs[~collided])
    for k, ((a, b), hit, miss) in enumerate(zip(pairs.tolist(), collided.tolist(), free.tolist(), strict=True)):
        if progress is not None:
            progress(_SHARE + (1.0 - _SHARE) * k / len(pairs))
        if hit and miss:
            continue
        names = robot.links[a], robot.links[b]
        verdict = OPEN if hit or prove < 1 else proofs.verdict((a, b), prove)
        if verdict == HIT:  # a configuration of the proof collides, although no sample does
            continue
        allowed.allow(*names, "always" if hit else "never")
        if verdict == FREE:
            allowed.proven.append(names)
    if progress is not None:
        progress(1.0)
    share = 1.0 - 0.05 ** (1.0 / samples)
    allowed.evidence = (
        f"{samples} configurations drawn uniformly within the limits (seed {seed}). Pairs with the reason always "
        "collide in all of them, pairs with the reason never in none. For each such pair the opposite occurs, with "
        f"95 % confidence, in less than {above(share, 2)} of all configurations. Proven apart within the limits: "
        f"{count(len(allowed.proven), 'pair')} with the reason never"
        + (". Pairs with the reason default collide at the given free configuration" if default is not None else "")
    )
    return allowed


def _limits(robot: Robot, pairs: Ints, lower: Row | None, upper: Row | None) -> tuple[Array, Array]:
    """Return finite limits (low, high) of each joint value, (dof,) each.

    They are ``lower`` and ``upper``, or else the limits of the robot, or -pi and pi for angles without limits. Other
    infinite limits belong to joints that move no pair, and become 0.
    """
    low, high = (
        (limit if bound is None else robot.configurations(bound, name)[0][0]).copy()
        for limit, bound, name in ((robot.lower, lower, "lower"), (robot.upper, upper, "upper"))
    )
    limit_turns(robot, low, high)
    for k, kind in enumerate(robot._chain.kind.tolist()):
        column = int(robot._chain.source[k])
        # a translation without limits matters only if it moves two links with shapes relative to each other
        slides = [c for c in range(column, column + LENGTHS[kind]) if not (low[c] > -inf and high[c] < inf)]
        for a, b in pairs.tolist() if slides else ():
            if _below(robot, a, k) != _below(robot, b, k):
                joint = robot.joints[k]
                raise RobotError(
                    f"joint {joint.name if joint else ''!r} between links {robot.links[a]!r} and {robot.links[b]!r} "
                    "translates without limits, expected limits. Pass lower= and upper="
                )
    low[~np.isfinite(low)] = high[~np.isfinite(high)] = 0.0
    with np.errstate(over="ignore"):
        wide = np.flatnonzero(~np.isfinite(high - low))
    if len(wide):
        c = int(wide[0])
        raise RobotError(f"lower[{c}] is {low[c]:g} and upper[{c}] is {high[c]:g}, expected a finite range")
    if (low > high).any():
        c = int(np.argmax(low > high))
        raise RobotError(f"lower[{c}] is {low[c]:g}, expected at most upper[{c}] = {high[c]:g}")
    return low, high


def limit_turns(robot: Robot, low: Array, high: Array) -> None:
    """Replace infinite limits of angles in ``low`` and ``high``.

    An angle without limits gets -pi and pi. If only one limit is infinite, it is set a full turn from the other limit.
    """
    for c in angle_columns(robot).tolist():
        if low[c] == -inf and high[c] == inf:
            low[c], high[c] = -pi, pi
        elif low[c] == -inf:
            low[c] = high[c] - 2.0 * pi
        elif high[c] == inf:
            high[c] = low[c] + 2.0 * pi


def _below(robot: Robot, link: int, joint: int) -> bool:
    """Return whether a link is the child link of a joint, or a descendant of this child.

    ``link`` is the index of the link. ``joint`` is the index of the child link.
    """
    while link >= 0:
        if link == joint:
            return True
        link = int(robot._chain.parent[link])
    return False


def draw(robot: Robot, rng: np.random.Generator, count: int, low: Array, high: Array) -> Array:
    """Return ``count`` configurations drawn uniformly within limits. Rotations without limits are uniform."""
    # Rotation vectors drawn uniformly in a cube are not uniform rotations, so these columns are drawn again.
    q = rng.uniform(low, high, (count, robot.dof))
    for k in np.flatnonzero(robot._chain.kind == FLOATING).tolist():
        c = int(robot._chain.source[k]) + 3
        if (low[c : c + 3] == -pi).all() and (high[c : c + 3] == pi).all():
            q[:, c : c + 3] = Rotation.random(count, rng=rng).as_rotvec()
    return q


class LinkPairs:
    """Collision queries for pairs of links (n, 2), which may be allowed pairs."""

    __slots__ = ("_cell", "_count", "_links")

    def __init__(self, robot: Robot, pairs: Ints) -> None:
        pairs = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
        self._cell, self._count = build(Base(robot, pairs)), len(pairs)
        number = {pair: k for k, pair in enumerate(map(tuple, pairs.tolist()))}
        of = np.sort(self._cell.layout.link[self._cell.slots], axis=1)
        #: index of the pair of links for each pair of shapes
        self._links = np.array([number[tuple(pair)] for pair in of.tolist()], dtype=np.int64)

    def touch(self, q: Array, selected: Ints | slice = slice(None)) -> Bools:
        """Return whether each selected pair touches at each configuration of q (n, dof), as (n, selected pairs)."""
        links = self._links
        answer, wanted = np.zeros((len(q), self._count), dtype=bool), np.zeros(self._count, dtype=bool)
        wanted[selected] = True
        shapes = np.flatnonzero(wanted[links])
        touching = queries.collide(self._cell, q, shapes)
        for column, pair in enumerate(links[shapes].tolist()):
            answer[:, pair] |= touching[:, column]
        return answer[:, selected]


class Proofs:
    """Proofs that pairs of links (n, 2) do not touch within limits. Hulls replace the shapes of links."""

    __slots__ = ("_bounds", "_cell", "_high", "_low", "_robot", "_slots")

    def __init__(self, robot: Robot, low: Array, high: Array, pairs: Ints) -> None:
        self._robot, self._low, self._high = robot, low, high
        self._cell = build(Base(robot, np.sort(pairs.reshape(-1, 2), axis=1), hulls=True))
        self._slots = np.sort(self._cell.layout.link[self._cell.slots], axis=1)
        self._bounds = change_of_distances(self._cell, low, high)

    def verdict(self, pair: tuple[int, int], most: int) -> int:
        """Return FREE if two links are proven apart, HIT if they touch at a configuration, or OPEN if neither is known.

        At most ``most`` configurations are tested.
        """
        kept = (self._slots == sorted(pair)).all(axis=1)
        weights, slack = self._bounds[0][kept], self._bounds[1]
        if np.isnan(weights).any():
            return OPEN
        cell = self._cell.of_pairs(kept)
        columns = np.flatnonzero(weights.max(axis=0, initial=0.0))
        weights = weights[:, columns]
        rest = 0.5 * (self._low + self._high)
        middle, half = rest[None, columns], 0.5 * (self._high - self._low)[None, columns]
        tested = 0
        while len(middle):
            tested += len(middle)
            if tested > most:
                return OPEN
            q = np.tile(rest, (len(middle), 1))
            q[:, columns] = middle
            changes = half @ weights.T + slack
            # a pair that is `FAR` is proven farther apart than the greatest change of its distance
            out, which, _ = queries.every(cell, q, changes.max(axis=0))
            lower = np.where(which == FAR, inf, out[..., 1])
            touching = (lower <= 0.0).any(axis=1)
            if touching.any():
                return HIT if LinkPairs(self._robot, np.array([pair])).touch(q[touching]).any() else OPEN
            left = (lower <= changes).any(axis=1)
            middle, half = middle[left], half[left]
            # each box is halved along the joint value that changes the distance most
            widest = np.argmax(half * weights.max(axis=0, initial=0.0), axis=1) if len(half) else []
            rows = np.arange(len(half))
            half[rows, widest] *= 0.5
            step = np.zeros_like(half)
            step[rows, widest] = half[rows, widest]
            middle, half = np.concatenate([middle - step, middle + step]), np.concatenate([half, half])
        return FREE


def change_of_distances(cell: Cell, low: Array, high: Array) -> tuple[Array, float]:
    """Return bounds of the change of each pair's distance per unit of each joint value, (pairs, dof).

    The bounds of a pair are NaN if a joint between its links is planar or floating. The second result is a distance
    to add to each change, because poses have rounding errors.
    """
    chain = cell.robot._chain
    bounds = motion_bounds(cell, np.stack([low, high])[None])
    joints = bounds.arms.steps
    of = np.repeat(np.arange(len(cell.slots)), np.diff(bounds.arms.begins))
    weights = np.zeros((len(cell.slots), cell.robot.dof))
    arms = np.where(np.isin(chain.kind[joints], (TURNING, SLIDING)), bounds.arms.arms.min(axis=0), np.nan)
    np.add.at(weights, (of, chain.source[joints]), np.abs(chain.multiplier[joints]) * arms)
    return weights, _ROUNDING * bounds.slack
