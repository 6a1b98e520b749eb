"""Every pair within a distance, with how it changes with q: what optimisers and controllers take."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gjk3d.errors import RobotError
from gjk3d.narrow.solve import FLOATS
from gjk3d.robot import queries
from gjk3d.robot.cell import Cell
from gjk3d.robot.results import near
from gjk3d.typing import Array, Ints


class RobotDistances(NamedTuple):
    """Answer of `Checker.distances`: a row for each pair within the distance, of n configurations m rows in all.

    Rows stand in the order of the configurations, and of the pairs within each. Points move as fixed to their links.

    Attributes
    ----------
    starts : (n + 1,) int
        Configuration k has the rows from ``starts[k]`` to ``starts[k + 1]``.
    configuration : (m,) int
        Of each row.
    pair : (m,) int
        Of each row, a place in ``pairs``.
    pairs : tuple of (str, str)
        Names of all pairs that are checked, an obstacle second, in an order that holds until objects are added or
        removed. A pair is of two collision geometries: the names of two links may stand there several times.
    distance : (m,) float
        Signed; negative is overlap.
    lower, upper : (m,) float
        Bounds of it that hold for the poses as computed.
    normal : (m, 3) float
        Unit vector from the first of the pair to the second, in world axes.
    point_a, point_b : (m, 3) float
        The nearest points, in world axes.
    gradient : (m, dof) float
        How the distance changes with q.
    jacobian_a, jacobian_b : (m, 3, dof) float or None
        How the points move with q, in world axes, if asked for: ``gradient`` is
        ``normal @ (jacobian_b - jacobian_a)``.
    within : float
        How far was looked.

    Examples
    --------
    >>> import gjk3d as gk, numpy as np
    >>> wall = np.eye(4); wall[0, 3] = 1.75
    >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
    >>> found = checker.distances([0.5, 0.0], within=0.8)
    >>> [(*found.pairs[p], round(d, 3)) for p, d in zip(found.pair, found.distance.tolist())]
    [('beam', 'wall', 0.798), ('hand', 'wall', 0.36)]
    >>> found.gradient.round(3).tolist()
    [[0.436, 0.0], [0.675, 0.196]]
    """

    starts: Ints
    configuration: Ints
    pair: Ints
    pairs: tuple[tuple[str, str], ...]
    distance: Array
    lower: Array
    upper: Array
    normal: Array
    point_a: Array
    point_b: Array
    gradient: Array
    jacobian_a: Array | None
    jacobian_b: Array | None
    within: float

    def penalty(self, margin: ArrayLike) -> tuple[Array, Array]:
        """Return the soft cost of what comes closer than a margin, for optimisers: all that is lacking, squared.

        Parameters
        ----------
        margin : float or (pairs,) float
            At most as far as was looked for; one number, or one for each of ``pairs``.

        Returns
        -------
        cost : (n,) float
            Of each configuration the sum of ``max(0, margin - distance) ** 2``.
        gradient : (n, dof) float
            How it changes with q.

        Raises
        ------
        RobotError
            The margins are no such numbers, or one is farther than was looked.

        Examples
        --------
        >>> import gjk3d as gk, numpy as np
        >>> from scipy.optimize import minimize
        >>> wall = np.eye(4); wall[0, 3] = 1.5
        >>> checker = gk.robot.Checker(gk.robot.Robot.example(), {"wall": (gk.Box((0.1, 2, 2)), wall)})
        >>> def cost(q):  # near [0.1, 0], and a tenth away from all
        ...     value, slope = checker.distances(q, within=0.1).penalty(0.1)
        ...     return 100 * value[0] + (q - [0.1, 0]) @ (q - [0.1, 0]), 100 * slope[0] + 2 * (q - [0.1, 0])
        >>> found = minimize(cost, [0.1, 0.0], jac=True)
        >>> checker.free([0.1, 0.0]), checker.free(found.x)
        (False, True)
        """
        try:
            margins = np.broadcast_to(np.asarray(margin, dtype=np.float64), len(self.pairs))
        except (TypeError, ValueError):
            margins = np.full(1, np.nan)
        if np.asarray(margin).dtype == bool or not np.isfinite(margins).all():
            raise RobotError(
                f"margin is {margin!r:.80}, expected a finite number, or one for each of the {len(self.pairs)} pairs"
            )
        # what lies between the two is in no row: the cost would jump where a pair comes near
        if margins.size and margins.max() > self.within:
            raise RobotError(
                f"margin is {margins.max():g}, farther than was looked: ask distances(q, within={margins.max():g})"
            )
        count = len(self.starts) - 1
        lacking = np.maximum(margins[self.pair] - self.distance, 0.0)
        slope = np.zeros((count, self.gradient.shape[1]))
        np.add.at(slope, self.configuration, -2.0 * lacking[:, None] * self.gradient)
        cost: Array = np.bincount(self.configuration, lacking**2, count).astype(np.float64)
        return cost, slope

    def __repr__(self) -> str:
        return (
            f"<RobotDistances of {len(self.starts) - 1} configurations: {len(self.pair)} rows, {len(self.pairs)} pairs>"
        )


def distances(cell: Cell, rows: Array, within: Any, *, jacobians: bool) -> RobotDistances:
    """Answer `Checker.distances`."""
    if isinstance(within, bool) or not isinstance(within, Real) or within != within:
        raise RobotError(f"within is {within!r:.80}, expected a number")
    most = np.full(len(cell.slots), float(within) if within < 1e50 else 1e50)
    none = np.zeros(0, dtype=np.int64)
    of, pair, answers = map(
        np.concatenate, zip((none, none, np.zeros((0, FLOATS))), *near(cell, rows, most), strict=True)
    )
    if len(cell.general.pairs):
        order = np.lexsort((pair, of))
        of, pair, answers = of[order], pair[order], answers[order]
    gradient, moved = queries.gradients(cell, rows, of, answers, pair, every=jacobians)
    distance, lower, upper = np.ascontiguousarray(answers[:, :3].T)
    normal, point_a, point_b = (np.ascontiguousarray(answers[:, k : k + 3]) for k in (3, 6, 9))
    jacobian_a, jacobian_b = (moved[:, 0], moved[:, 1]) if jacobians else (None, None)
    return RobotDistances(
        np.searchsorted(of, np.arange(len(rows) + 1)), of, pair, cell.names.every(), distance, lower, upper, normal,
        point_a, point_b, gradient, jacobian_a, jacobian_b, float(within),
    )  # fmt: skip
