"""Stacks of pairs drawn from a seed. Stack k of a seed is the same in every run, independent of other stacks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from laws import Pair
from naive import Spec
from strategies import PAIRS, is_polytope, random_spec

from . import difficult_pairs
from .closed import Truth

#: least and greatest number of poses of a stack
ROWS = 100, 500


@dataclass
class Stack:
    """One pair of shapes under many poses."""

    seed: int
    number: int
    name: str  #: the class of the stack in the results
    pair: Pair
    truth: Truth | None  #: bounds of the signed distance of each row, where a closed form is cheap
    rng: np.random.Generator  #: for the random numbers of the laws

    def __len__(self) -> int:
        return len(self.pair.poses_a)


def _random(rng: np.random.Generator, number: int, count: int) -> tuple[str, Pair]:
    """Return the next pair of kinds of shapes, with half of the poses in overlap."""
    a, b = (random_spec(rng, name) for name in PAIRS[number % len(PAIRS)])
    return f"random, {material(a, b)}", Pair.random(rng, a, b, count)


def material(a: Spec, b: Spec) -> str:
    """Return the kind of pair that determines the promised width."""
    return "polytopes" if is_polytope(a) and is_polytope(b) else "curved"


def draw(seed: int, number: int, only: str | None = None) -> Stack:
    """Return stack ``number`` of the seed. Random stacks alternate with adversarial ones of each class in turn.

    With ``only``, all stacks are of that class.
    """
    rng = np.random.default_rng([seed, number])
    count = int(rng.integers(ROWS[0], ROWS[1] + 1))
    half = number // 2
    if only is not None:  # more rows reduce the share of the fixed cost of a stack
        return Stack(seed, number, only, *difficult_pairs.CLASSES[only](rng, 10 * count), rng)
    if number % 2 == 0:
        name, pair = _random(rng, half, count)
        return Stack(seed, number, name, pair, None, rng)
    name = difficult_pairs.NAMES[half % len(difficult_pairs.NAMES)]
    pair, truth = difficult_pairs.CLASSES[name](rng, count)
    return Stack(seed, number, name, pair, truth, rng)


def kinds() -> int:
    """Return the number of stacks that contain each pair of kinds of shape and each class once."""
    return 2 * max(len(PAIRS), len(difficult_pairs.NAMES))
