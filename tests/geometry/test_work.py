"""The work to build a hull and its table of directions grows about linearly with the number of points.

The work is counted, not timed. It is the numbers that numpy's functions touch, the numbers that the table's kernel
reads, and the calls in Python. Qhull's own work is not counted.
"""

from __future__ import annotations

import sys

import naive
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gjk3d.geometry import hull_facets, points
from gjk3d.geometry.hulls import build_hull
from gjk3d.geometry.points import direction_table

TURN = Rotation.from_rotvec([0.3, 0.5, -0.7]).as_matrix()


class Counted(np.ndarray):
    """An array that counts the numbers that operations on it touch."""

    touched = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        plain = [np.asarray(x) for x in inputs]
        into = {"out": tuple(np.asarray(x) for x in out)} if out else {}
        result = getattr(ufunc, method)(*plain, **into, **options)
        inner = plain[0].shape[-1] if ufunc is np.matmul else 1
        Counted.touched += max(inner * np.size(result), *map(np.size, plain))
        if out or result is None:
            return out[0] if out else None
        return tuple(map(counted, result)) if isinstance(result, tuple) else counted(result)

    def __array_function__(self, function, types, arguments, options):
        result = super().__array_function__(function, types, arguments, options)
        parts = result if isinstance(result, (tuple, list)) else [result]
        Counted.touched += sum(x.size for x in parts if isinstance(x, np.ndarray))
        return result


def counted(values):
    return np.asarray(values).view(Counted)


def work(points):
    """Return the work to build a hull and its table: the touched numbers, and each call as 100 numbers."""
    calls = 0

    def called(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    Counted.touched = 0
    sys.setprofile(called)
    try:
        direction_table(counted(build_hull(counted(points)).vertices))
    finally:
        sys.setprofile(None)
    return Counted.touched + 100 * calls


def ring(count):
    turn = 2 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(turn), np.sin(turn), np.zeros(count)])


def latitudes(rng, count):
    side = round(np.sqrt(count))
    polar = np.linspace(0.1, np.pi - 0.1, side)
    return np.vstack([ring(side) * np.sin(t) + (0, 0, np.cos(t)) for t in polar])


def tin(rng, count):
    """Return points on a cylinder, most of them inside its caps."""
    rim, disc = ring(count // 8), naive.unit_vectors(rng, 3 * count // 8) * (1, 1, 0)
    return np.vstack([level + (0, 0, z) for level in (rim, disc) for z in (0, 1)])


SHAPES = {
    "sphere": naive.unit_vectors,
    "ball": lambda rng, n: naive.unit_vectors(rng, n) * rng.random((n, 1)) ** (1 / 3),
    "latitudes": latitudes,
    "prism": lambda rng, n: np.vstack([ring(n // 8), ring(n // 8) + (0, 0, 1)]),
    "turned prism": lambda rng, n: np.vstack([ring(n // 8), ring(n // 8) + (0, 0, 1)]) @ TURN.T,
    "cone": lambda rng, n: np.vstack([ring(n // 8), [[0, 0, 1]]]),
    "stack of rings": lambda rng, n: np.vstack([ring(n // 16) + (0, 0, z) for z in range(16)]),
    "tin": tin,
    "coin": lambda rng, n: tin(rng, n) * (1, 1, 1e-4) @ TURN.T,
    "cube": lambda rng, n: np.round(naive.unit_vectors(rng, n) * 99),
    "disc": lambda rng, n: naive.unit_vectors(rng, n) * (1, 1, 0),
    "plate": lambda rng, n: naive.unit_vectors(rng, n) * (1, 1, 1e-4),
}


@pytest.mark.parametrize("name", SHAPES)
def test_work_grows_about_linearly(name, monkeypatch, rng):
    monkeypatch.setattr(hull_facets, "PAIRS", 10_000)  # the limit of work on a coin, so low that few points reach it

    def quarter(columns, low, begins, members, *more):
        """Count the numbers that the kernel reads: the heights of each point along four corners, for each quarter."""
        Counted.touched += 16 * len(members)
        directions_quarter(columns, low, begins, members, *more)

    directions_quarter = points.quarter
    monkeypatch.setattr(points, "quarter", quarter)
    work(SHAPES[name](rng, 100))  # the first call imports modules
    few, many = work(SHAPES[name](rng, 2_000)), work(SHAPES[name](rng, 16_000))
    assert many < 20 * few, "8 is linear, 64 quadratic"
