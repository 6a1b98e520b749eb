"""Interleaved measurement: every round runs every competitor, so that all are subject to the same noise."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Timing:
    """Microseconds of a query, by round."""

    count: int  #: queries of a repetition
    by_round: dict[int, float] = field(default_factory=dict)

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Return the lower quartile, the median and the upper quartile."""
        low, middle, high = np.percentile(list(self.by_round.values()), (25, 50, 75))
        return float(low), float(middle), float(high)

    @property
    def median(self) -> float:
        """Return the median microseconds of a query."""
        return self.quartiles[1]


@dataclass(frozen=True)
class Plan:
    """The length of a measurement."""

    rounds: int = 15
    seconds: float = 0.01  #: length of a repetition of a Python loop
    batch_seconds: float = 0.1  #: length of a repetition of one call for many queries
    most_seconds: float = 1.5  #: limit of all repetitions of a competitor; slow ones run in fewer rounds


QUICK = Plan(rounds=3, seconds=0.002, batch_seconds=0.005, most_seconds=0.1)


def ratio(slow: Timing, fast: Timing) -> tuple[float, float, float]:
    """Return the quartiles of the ratios of two timings, taken within the rounds."""
    common = [slow.by_round[r] / fast.by_round[r] for r in slow.by_round if r in fast.by_round]
    low, middle, high = np.percentile(common, (25, 50, 75))
    return float(low), float(middle), float(high)


@dataclass(frozen=True)
class Task:
    """A loop to be timed."""

    run: Callable[[int], Any]  #: runs the first n queries
    block: int  #: n is a multiple of this
    most: int  #: upper limit of n
    seconds: float  #: intended length of a repetition
    clock: Callable[[], float] = time.process_time

    def seconds_of(self, count: int) -> float:
        """Return the time of a repetition of this many queries."""
        start = self.clock()
        self.run(count)
        return self.clock() - start


def measure(tasks: dict[str, Task], plan: Plan) -> dict[str, Timing]:
    """Time each task in interleaved rounds. Slow tasks run in every second or third round, and always in the first."""
    timings: dict[str, Timing] = {}
    every: dict[str, int] = {}
    for name, task in tasks.items():
        task.run(task.block)  # compiles, fills caches
        per_query = max(task.seconds_of(task.block), 1e-6) / task.block
        if per_query * task.block < task.seconds:  # one block is too short for an estimate
            several = min(16 * task.block, task.most)
            per_query = max(task.seconds_of(several), 1e-6) / several
        count = min(max(int(task.seconds / per_query) // task.block, 1) * task.block, task.most)
        timings[name] = Timing(count)
        rounds = min(max(int(plan.most_seconds / (per_query * count)), 3), plan.rounds)
        every[name] = max(round(plan.rounds / rounds), 1)
    names = list(tasks)
    gc.collect()
    gc.disable()
    try:
        for r in range(plan.rounds):
            shift = r % len(names)
            for name in names[shift:] + names[:shift]:
                if r % every[name] == 0:
                    timing = timings[name]
                    timing.by_round[r] = 1e6 * tasks[name].seconds_of(timing.count) / timing.count
    finally:
        gc.enable()
    return timings
