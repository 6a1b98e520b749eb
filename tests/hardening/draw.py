"""Stacks of pairs drawn from a seed: stack k of a seed is the same in every run, whatever else is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from laws import Pair
from naive import Spec
from strategies import PAIRS, is_polytope, random_spec

from . import adversaries
from .closed import Truth

#: poses of a stack, drawn between these
ROWS = 100, 500


@dataclass
class Stack:
    """One pair of shapes under many poses."""

    seed: int
    number: int
    name: str  #: the class that it is counted under
    pair: Pair
    truth: Truth | None  #: bounds of the signed distance of each row, where a closed form is cheap
    rng: np.random.Generator  #: for what the laws draw themselves

    def __len__(self) -> int:
        return len(self.pair.poses_a)


def _random(rng: np.random.Generator, number: int, count: int) -> tuple[str, Pair]:
    """Shapes of every two kinds in turn, half of the poses in overlap."""
    a, b = (random_spec(rng, name) for name in PAIRS[number % len(PAIRS)])
    return f"random, {material(a, b)}", Pair.random(rng, a, b, count)


def material(a: Spec, b: Spec) -> str:
    """What widths are promised for."""
    return "polytopes" if is_polytope(a) and is_polytope(b) else "curved"


def draw(seed: int, number: int, only: str | None = None) -> Stack:
    """Stack ``number`` of the seed: every second one is random, the others are adversarial, class after class.

    Or each of the one class that is named.
    """
    rng = np.random.default_rng([seed, number])
    count = int(rng.integers(ROWS[0], ROWS[1] + 1))
    half = number // 2
    if only is not None:  # of one class many rows: what is the same for a stack is paid seldom
        return Stack(seed, number, only, *adversaries.CLASSES[only](rng, 10 * count), rng)
    if number % 2 == 0:
        name, pair = _random(rng, half, count)
        return Stack(seed, number, name, pair, None, rng)
    name = adversaries.NAMES[half % len(adversaries.NAMES)]
    pair, truth = adversaries.CLASSES[name](rng, count)
    return Stack(seed, number, name, pair, truth, rng)


def kinds() -> int:
    """Stacks until every two kinds of shape and every class have come once."""
    return 2 * max(len(PAIRS), len(adversaries.NAMES))
