"""The base class of competitors: a library that computes the queries of a scene in its fastest fair way."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from naive import Array

from .scenes import Scene

#: number of prepared objects that a peer loops over; more would only cause cache misses
PREBUILT = 4096

#: measured without Python, so it is not an anchor of queries from Python
KERNEL = "coal's C++ alone"

Loop = Callable[[int], Any]


class Competitor(ABC):
    """A library on a scene. The constructor prepares the objects, before the measurement starts."""

    name: ClassVar[str]
    module: ClassVar[str]  #: module that must be importable
    settings: ClassVar[tuple[str, ...]] = ("one", "stack", "pairs", "path")

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @property
    def most(self) -> int:
        """Return the number of prepared queries."""
        return min(PREBUILT, len(self.scene))

    def clock(self) -> float:
        """Return the CPU time in seconds."""
        return time.process_time()

    @abstractmethod
    def loop(self, question: str) -> Loop | None:
        """Return a function that runs the first n queries and returns the results, or None if it has no such query."""

    def values(self, question: str, answers: Any) -> Array:
        """Return the results of a loop as booleans or as signed distances."""
        return np.asarray(answers)

    def points(self, count: int) -> tuple[Array, Array] | None:
        """Return nearest points of the first queries, (n, 3) each and NaN if missing, or None if there are none."""
        return None
