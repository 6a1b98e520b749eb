"""Curves of configurations: polynomials in Bernstein form, one row of numbers a control point; a line has two.

A curve of degree n is written by its control points c (n + 1, dof) over parameters 0 to 1: the sum of
C(n, i) (1 - t)^(n - i) t^i c_i. It lies within their hull, and so do its derivatives within that of n times their
differences, and of n (n - 1) times the differences of those: bounds of speed and acceleration that halving a curve
tightens (Farin 2002, sections 5 and 6).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d._kernels.decorators import entry, kernel
from gjk3d.poses import UNIT_ROUNDOFF as _U
from gjk3d.typing import Array, Array1, Array2, Ints


class Curves(NamedTuple):
    """Curves of one degree."""

    controls: Array  #: (n, points, dof)
    loose: Array  #: (n, dof), what their numbers may be wrong by

    def some(self, which: slice | Ints) -> Curves:
        """Return some of them."""
        return Curves(self.controls[which], self.loose[which])


def lines(first: Array, second: Array) -> Curves:
    """Return the straight lines from ``first`` to ``second``, (n, dof) each."""
    return Curves(np.stack([first, second], axis=1), np.zeros(first.shape))


@kernel
def on_curve(controls: Array, t: float, q: Array) -> None:
    """Write the configuration at t; both ends exact, of a line (1 - t) q0 + t q1.

    As Horner evaluates polynomials: 1 - t is multiplied in n times. Of each number it is wrong by less than
    (4 n + 3) u max |c|, of a line by 3 u (|q0| + |q1|).
    """
    n = controls.shape[0] - 1
    s = 1.0 - t
    for j in range(q.shape[0]):
        value, power = controls[0, j], 1.0
        for i in range(1, n):
            power *= t * ((n - i + 1) / i)
            value = value * s + power * controls[i, j]
        q[j] = value * s + power * t / n * controls[n, j]


@entry
def points_of_curve(controls: Array2, t: Array1, out: Array2) -> None:
    """Do as `on_curve` at many parameters, into (n, dof)."""
    for k in range(t.shape[0]):
        on_curve(controls, t[k], out[k])


def points_on(controls: Array, t: Array) -> Array:
    """Return the configurations at some parameters of a curve, (n, dof)."""
    out = np.empty((len(t), controls.shape[1]))
    points_of_curve(controls, t, out)
    return out


@kernel
def rates_on_curve(controls: Array, t: float, rates: Array) -> None:
    """Write how fast each number changes at t."""
    n = controls.shape[0] - 1
    s = 1.0 - t
    for j in range(rates.shape[0]):
        value, power = controls[1, j] - controls[0, j], 1.0
        for i in range(1, n):
            power *= t * ((n - i) / i)
            value = value * s + power * (controls[i + 1, j] - controls[i, j])
        rates[j] = n * value


@kernel
def bounds_on_curve(controls: Array, j: int) -> tuple[float, float, float]:
    """Return how fast number j changes at most, how fast that changes, and the sum of its sizes."""
    n = controls.shape[0] - 1
    rate, bend, size = 0.0, 0.0, abs(controls[0, j])
    for i in range(n):
        rate = max(rate, abs(controls[i + 1, j] - controls[i, j]))
        size += abs(controls[i + 1, j])
        if i > 0:
            bend = max(bend, abs((controls[i + 1, j] - controls[i, j]) - (controls[i, j] - controls[i - 1, j])))
    if n > 1:
        bend = n * (n - 1) * (bend + 4.0 * _U * size)
    return n * rate, bend, size
