"""Which pairs of links need no check, found by trying: always in collision, or never seen so."""

from __future__ import annotations

from math import inf, pi

import numpy as np
from scipy.spatial.transform import Rotation

from gjk3d.errors import RobotError
from gjk3d.robot.allowed import AllowedPairs
from gjk3d.robot.kinematics import FLOATING, PLANAR, SLIDING, TURNING
from gjk3d.robot.model import Robot
from gjk3d.robot.proving import FREE, HIT, OPEN, Prover
from gjk3d.robot.touching import Touching
from gjk3d.typing import Array, Ints, Row
from gjk3d.wording import above

_AT_ONCE = 256  #: configurations; memory grows with it


def allow_by_sampling(
    robot: Robot,
    samples: int = 10_000,
    *,
    seed: int = 0,
    prove: int = 2000,
    default: Row | None = None,
    lower: Row | None = None,
    upper: Row | None = None,
) -> AllowedPairs:
    """Find pairs of links that need no check, and say why; nothing is changed in the robot.

    A pair is "adjacent" as without an SRDF; "default" where it is in collision at a configuration that you know to be
    free, ``default``; "always" or "never" where it was in collision in all, or in none, of the samples. Of a pair that
    is called always or never it holds with 95 % confidence that the other happens in less than a share of
    ``1 - 0.05 ** (1 / samples)`` of all configurations (about ``3 / samples``), which is no proof that it does not
    happen: `evidence` of what is returned says so. For pairs that were never seen in collision a proof is then tried,
    with more configurations at places that matter: ``proven`` of what is returned has the pairs that cannot touch
    within the limits, whatever the others do. Pairs that
    are allowed already keep their reason if it is of another kind.

    Parameters
    ----------
    robot : Robot
    samples : int
        Configurations, drawn evenly within the limits; turns without limits from -pi to pi, turns of floating joints
        from all rotations.
    seed : int
    prove : int
        Configurations that may be looked at for the proof of one pair; 0 to try none. Pairs with few joints between
        them, and some way apart, can be proven.
    default : (dof,) float, optional
        A configuration that is known to be free: what seems to collide there is a fault of the shapes, and is allowed
        everywhere else too. By default none is known, and pairs that only sometimes collide stay checked.
    lower, upper : (dof,) float, optional
        Limits to draw within, in place of the robot's; needed for sliding joints that have none, where links on both
        sides have shapes.

    Returns
    -------
    AllowedPairs
        To be set as ``robot.allowed``.

    Examples
    --------
    >>> import gjk3d as gk
    >>> robot = gk.robot.Robot.from_urdf("arm.urdf")  # doctest: +SKIP
    >>> robot.allowed = gk.robot.allow_by_sampling(robot, 20_000)  # doctest: +SKIP
    >>> robot.allowed.counts()  # doctest: +SKIP
    {'adjacent': 6, 'always': 2, 'never': 5}
    """
    if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 1:
        raise RobotError(f"samples is {samples!r}, expected a whole number of at least 1")
    allowed = AllowedPairs(robot.links, robot.adjacent())
    for pair in robot.allowed:
        if pair.reason not in ("default", "always", "never"):
            allowed.allow(*pair)
    allowed.unknown = list(robot.allowed.unknown)
    pairs = robot.all_pairs()
    pairs = np.array(
        [p for p in pairs.tolist() if (robot.links[p[0]], robot.links[p[1]]) not in allowed], dtype=np.int64
    ).reshape(-1, 2)
    low, high = _limits(robot, pairs, lower, upper)
    touching = Touching(robot)

    if default is not None:
        at_rest = touching.hits(pairs, robot.configurations(default, "default")[0][:1])[0]
        for a, b in pairs[at_rest].tolist():
            allowed.allow(robot.links[a], robot.links[b], "default")
        pairs = pairs[~at_rest]

    rng = np.random.default_rng(seed)
    seen, free = np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool)
    for start in range(0, samples, _AT_ONCE):
        # a pair that was seen in both ways is checked, whatever follows
        open_ = np.flatnonzero(~(seen & free))
        q = _draw(robot, rng, min(_AT_ONCE, samples - start), low, high)
        hits = touching.hits(pairs[open_], q)
        seen[open_] |= hits.any(axis=0)
        free[open_] |= ~hits.all(axis=0)
    prover = Prover(robot, low, high, touching)
    for (a, b), hit, miss in zip(pairs.tolist(), seen.tolist(), free.tolist(), strict=True):
        if hit and miss:
            continue
        names = robot.links[a], robot.links[b]
        verdict = OPEN if hit or prove < 1 else prover.ask(a, b, prove)
        if verdict == HIT:  # the proof found what the samples missed
            continue
        allowed.allow(*names, "always" if hit else "never")
        if verdict == FREE:
            allowed.proven.append(names)
    share = 1.0 - 0.05 ** (1.0 / samples)
    allowed.evidence = (
        f"{samples} configurations drawn evenly within the limits (seed {seed}): pairs called always were in collision "
        f"in each of them, pairs called never in none; for each such pair the opposite is true, with 95 % confidence, "
        f"in less than {above(share, 2)} of all configurations. {len(allowed.proven)} of the pairs called never are "
        "proven: they cannot touch within the limits"
        + (". Pairs called default collide where the robot was said to be free" if default is not None else "")
    )
    return allowed


def _limits(robot: Robot, pairs: Ints, lower: Row | None, upper: Row | None) -> tuple[Array, Array]:
    """Return finite limits: those given, else the robot's, else half a turn; 0 where nothing depends on it."""
    low, high = (
        (own if given is None else robot.configurations(given, name)[0][0]).copy()
        for own, given, name in ((robot.lower, lower, "lower"), (robot.upper, upper, "upper"))
    )
    for k, kind in enumerate(robot.chain.kind.tolist()):
        column = int(robot.chain.source[k])
        for c in _numbers(kind, column, turns=True):
            if low[c] == -inf and high[c] == inf:
                low[c], high[c] = -pi, pi
            elif low[c] == -inf:
                low[c] = high[c] - 2.0 * pi
            elif high[c] == inf:
                high[c] = low[c] + 2.0 * pi
        slides = [c for c in _numbers(kind, column, turns=False) if not (low[c] > -inf and high[c] < inf)]
        for a, b in pairs.tolist() if slides else ():
            if _below(robot, a, k) != _below(robot, b, k):
                joint = robot.joints[k]
                raise RobotError(
                    f"joint {joint.name if joint else ''!r} slides without limits between links {robot.links[a]!r} "
                    f"and {robot.links[b]!r}: pass lower= and upper= to draw within"
                )
    low[~np.isfinite(low)] = high[~np.isfinite(high)] = 0.0
    with np.errstate(over="ignore"):
        wide = np.flatnonzero(~np.isfinite(high - low))
    if len(wide):
        c = int(wide[0])
        raise RobotError(f"lower[{c}] is {low[c]:g} and upper[{c}] {high[c]:g}: too far apart to draw between")
    if (low > high).any():
        c = int(np.argmax(low > high))
        raise RobotError(f"lower[{c}] is {low[c]:g}, more than upper[{c}] = {high[c]:g}")
    return low, high


def _numbers(kind: int, column: int, *, turns: bool) -> list[int]:
    """Return the columns of a joint that are angles, or those that are lengths."""
    angles = {TURNING: [0], PLANAR: [2], FLOATING: [3, 4, 5]}
    lengths = {SLIDING: [0], PLANAR: [0, 1], FLOATING: [0, 1, 2]}
    return [column + k for k in (angles if turns else lengths).get(kind, [])]


def _below(robot: Robot, link: int, joint: int) -> bool:
    """Tell whether a link hangs on the joint above another one."""
    while link >= 0:
        if link == joint:
            return True
        link = int(robot.chain.parent[link])
    return False


def _draw(robot: Robot, rng: np.random.Generator, count: int, low: Array, high: Array) -> Array:
    q = rng.uniform(low, high, (count, robot.dof))
    for k in np.flatnonzero(robot.chain.kind == FLOATING).tolist():
        c = int(robot.chain.source[k]) + 3
        if (low[c : c + 3] == -pi).all() and (high[c : c + 3] == pi).all():
            q[:, c : c + 3] = Rotation.random(count, rng=rng).as_rotvec()
    return q
